//! `faultlens objects`, as a user types it.

use crate::folder::{Folder, json};
use faultlens::data::{DataSet, Pool};
use serde_json::{Value, json as value};
use std::fs;

fn made(folder: &Folder, args: &str) -> Value {
    let run = folder.run(&format!("objects {args} --json"));
    assert_eq!(run.status, 0, "{}", run.stderr);
    json(&run.stdout).remove(0)
}

fn refused(folder: &Folder, args: &str, wanted: &str) {
    let run = folder.run(&format!("objects {args}"));
    assert_eq!(run.status, 2, "{}", run.stdout);
    assert!(run.stderr.contains(wanted), "{args}: {}", run.stderr);
}

/// Twenty scenes as COCO files.
fn scenes(folder: &Folder) {
    assert_eq!(folder.run("world export coco --signs 0 --scenes 20").status, 0);
}

#[test]
fn objects_are_cut_out_along_their_outlines() {
    let folder = Folder::new("objects_all");
    scenes(&folder);
    let told = made(&folder, "coco/scenes/train --out pool --keep-all --picture pool.png");
    let set = DataSet::open(folder.path("coco/scenes/train")).unwrap();
    let cases: Vec<_> = (0..set.len()).map(|at| set.case(at).unwrap()).collect();
    let pool = Pool::open(folder.path("pool")).unwrap();
    let known: usize = cases.iter().map(|case| case.objects.len()).sum();
    assert_eq!((pool.objects.len(), told["found"].as_u64()), (known, Some(known as u64)));
    assert_eq!(told["digest"], pool.digest());
    for (at, entry) in pool.objects.iter().enumerate() {
        let case = cases.iter().find(|case| case.name == entry.source).unwrap();
        let mut objects = case.objects.iter();
        let number: usize = entry.id.rsplit_once('-').unwrap().1.parse().unwrap();
        let object = objects.nth(number - 1).unwrap();
        assert_eq!(entry.label, set.classes[object.class]);
        let mask = object.mask.as_ref().unwrap();
        assert_eq!((entry.pixels, Some(entry.bounds)), (mask.area(), mask.bounds()));
        let cutout = pool.cutout(at).unwrap();
        assert_eq!(cutout.pixels(), mask.area());
        // The upper left pixel of the box, of whatever it shows.
        let (x, y) = (entry.bounds.left as usize, entry.bounds.top as usize);
        let start = (y * case.image.width() + x) * 3;
        assert_eq!(cutout.image.rgb()[..3], case.image.rgb()[start..start + 3]);
        assert_eq!(cutout.hash, faultlens::judge::average_hash(&cutout.image));
    }
    let picture = image::open(folder.path("pool.png")).unwrap();
    assert!(picture.width() > 1000 && picture.height() > 200);
}

#[test]
fn the_smallest_of_each_label_are_left_out() {
    let folder = Folder::new("objects_pruned");
    let all = made(&folder, "world:scenes:20 --out all --keep-all");
    let few = made(&folder, "world:scenes:20 --out few");
    let again = made(&folder, "world:scenes:20 --out again --threads 1");
    assert_eq!(few["digest"], again["digest"]);
    assert_ne!(few["digest"], all["digest"]);
    let sizes = |name: &str, label: &str| -> Vec<usize> {
        let pool = Pool::open(folder.path(name)).unwrap();
        let own = pool.objects.iter().filter(|entry| entry.label == label);
        own.map(|entry| entry.pixels).collect()
    };
    for label in few["labels"].as_array().unwrap() {
        let [found, kept] = ["found", "kept"].map(|key| label[key].as_u64().unwrap() as usize);
        let wanted = if found < 6 { found } else { (found - found * 9 / 10).max(1) };
        assert_eq!(kept, wanted, "{label}");
        let name = label["label"].as_str().unwrap();
        let (all, few) = (sizes("all", name), sizes("few", name));
        let larger = all.iter().filter(|size| *size > few.iter().min().unwrap()).count();
        assert!(larger < kept, "{label}");
    }
    let kept = Pool::open(folder.path("few")).unwrap();
    let least = kept.objects.iter().map(|entry| entry.pixels).min().unwrap() + 1;
    made(&folder, &format!("world:scenes:20 --out large --min-pixels {least}"));
    let pool = Pool::open(folder.path("large")).unwrap();
    assert!(pool.objects.iter().all(|entry| entry.pixels >= least), "{least}");
    assert!(pool.source.contains(&format!("{least} pixels")), "{}", pool.source);
    assert_ne!(pool.digest(), kept.digest());
    let half = made(&folder, "world:scenes:20 --out half --prune 0.5 --least 1");
    let ends = |told: &Value| told["objects"].as_u64().unwrap();
    assert!(ends(&few) < ends(&half) && ends(&half) < ends(&all));
}

#[test]
fn a_model_outlines_what_nobody_has() {
    let folder = Folder::new("objects_model");
    scenes(&folder);
    fs::remove_file(folder.path("coco/scenes/test/instances.json")).unwrap();
    let images = "coco/scenes/test/images";
    refused(&folder, &format!("{images} --out pool"), "(--model)");
    let told = made(&folder, &format!("{images} --out pool --model world:segmenter --keep-all"));
    let labels = told["labels"].to_string();
    assert!(labels.contains("vehicle") && !labels.contains("background"), "{labels}");
    let pool = Pool::open(folder.path("pool")).unwrap();
    assert!(pool.source.contains("world:segmenter"), "{}", pool.source);
    assert!(pool.cutout(0).is_ok());
    let run = folder.run(&format!("objects {images} --out said --model world:segmenter"));
    assert!(run.stdout.contains("label") && run.stderr.contains("segments"), "{}", run.stderr);
}

#[test]
fn bad_input_is_told() {
    let folder = Folder::new("objects_bad");
    scenes(&folder);
    fs::create_dir(folder.path("full")).unwrap();
    folder.text("full/note.txt", "");
    let test = "coco/scenes/test";
    refused(&folder, &format!("{test} --out full"), "the folder is not empty");
    refused(&folder, "nowhere --out pool", "nowhere");
    refused(&folder, &format!("{test} --out pool --model nowhere.onnx"), "nowhere.onnx");
    refused(&folder, &format!("{test} --out pool --model world:signs-deep"), "gives no outlines");
    refused(&folder, &format!("{test} --out pool --score 0.5"), "--model");
    refused(&folder, &format!("{test} --out pool --prune 2"), "from 0 to 1");
    refused(&folder, &format!("{test} --out pool --prune 0.5 --keep-all"), "--keep-all");
    refused(&folder, &format!("{test} --out pool --min-pixels 9999999"), "--min-pixels");
    refused(&folder, "world:signs:5 --out pool", "says nothing about objects");
    refused(&folder, "world:cars --out pool", "no cars");
    // Boxes alone, and crowds.
    let path = folder.path("coco/scenes/test/instances.json");
    let mut list: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for (at, object) in list["annotations"].as_array_mut().unwrap().iter_mut().enumerate() {
        if at == 0 {
            object["iscrowd"] = value!(1);
        } else {
            object.as_object_mut().unwrap().remove("segmentation");
        }
    }
    fs::write(&path, list.to_string()).unwrap();
    refused(&folder, &format!("{test} --out pool"), "no object has an outline");
    refused(&folder, &format!("{test} --out pool"), "1 are crowds");
    list["images"] = value!([]);
    list["annotations"] = value!([]);
    fs::write(&path, list.to_string()).unwrap();
    refused(&folder, &format!("{test} --out pool"), "holds no case");
    assert!(!folder.path("pool").exists());
}
