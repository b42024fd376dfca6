//! What is written is read again.

use crate::scratch::Scratch;
use faultlens_core::{Bounds, Case, Image, Mask, Object, Seed};
use faultlens_data::{CocoWriter, DataSet, write_class_folders, write_coco};

fn image(seed: u64, width: usize, height: usize) -> Image {
    let mut random = Seed::new(seed).stream();
    let rgb = (0..width * height * 3).map(|_| random.next_u32() as u8).collect();
    Image::from_rgb(width, height, rgb).unwrap_or_else(|error| panic!("{error}"))
}

fn classes() -> Vec<String> {
    ["bus stop", "Ampel", "überholt"].map(String::from).to_vec()
}

#[test]
fn class_folders() {
    let scratch = Scratch::new();
    let labels = [2, 0, 0, 1, 2];
    let cases: Vec<Case> = (0..5)
        .map(|n| Case {
            label: Some(labels[n]),
            ..Case::new(format!("sign {n}"), image(n as u64, 5, 4))
        })
        .collect();
    let folder = scratch.path().join("set");
    assert_eq!(write_class_folders(&folder, &classes(), cases.clone()).unwrap(), 5);
    let set = DataSet::open(&folder).unwrap();
    assert_eq!(
        (set.len(), set.classes.clone()),
        (5, vec!["Ampel".into(), "bus stop".into(), "überholt".into()])
    );
    for read in (0..5).map(|index| set.case(index).unwrap()) {
        let stem = read.name.split(['/', '.']).nth(1).unwrap();
        let case = cases.iter().find(|case| case.name.replace(' ', "_") == stem).unwrap();
        assert_eq!(read.image, case.image);
        assert_eq!(set.classes[read.label.unwrap()], classes()[case.label.unwrap()]);
    }
    let error = write_class_folders(&folder, &classes(), cases).unwrap_err().to_string();
    assert!(error.starts_with("the folder is not empty"), "{error}");
}

#[test]
fn what_class_folders_cannot_hold_is_refused() {
    let cases = [
        (vec!["a/b"], Some(0), "class \"a/b\" cannot be the name of a folder"),
        (vec![".."], Some(0), "cannot be the name of a folder"),
        (vec!["a", "A"], Some(0), "class \"A\" is there twice"),
        (vec!["a"], None, "case \"x\" has no label"),
        (vec!["a"], Some(1), "has the label 1, no class,"),
    ];
    for (classes, label, wanted) in cases {
        let scratch = Scratch::new();
        let classes: Vec<String> = classes.into_iter().map(String::from).collect();
        let case = Case { label, ..Case::new("x", image(0, 1, 1)) };
        let error = write_class_folders(scratch.path(), &classes, [case]).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}

fn object(random: &mut faultlens_core::Stream, width: usize, height: usize) -> Object {
    let mask = random.chance(0.7).then(|| {
        let density = random.uniform();
        Mask::new(width, (0..width * height).map(|_| random.chance(density)).collect()).unwrap()
    });
    let mut side = |most: usize| (random.uniform() * most as f64) as f32;
    let left = side(width);
    let top = side(height);
    let bounds = Bounds { left, top, right: left + side(width), bottom: top + side(height) };
    Object { class: random.below(3), bounds, mask, crowd: random.chance(0.3) }
}

#[test]
fn coco_keeps_boxes_and_masks_to_the_last_bit() {
    let scratch = Scratch::new();
    let mut random = Seed::new(4).stream();
    let mut cases = Vec::new();
    for n in 0..12 {
        let width = 1 + random.below(40);
        let height = 1 + random.below(40);
        let mut case = Case::new(format!("scene/{n}.jpg"), image(n, width, height));
        case.objects = (0..random.below(5)).map(|_| object(&mut random, width, height)).collect();
        cases.push(case);
    }
    assert_eq!(write_coco(scratch.path(), &classes(), cases.clone()).unwrap(), 12);
    let set = DataSet::open(scratch.path()).unwrap();
    assert_eq!(set.classes, classes());
    for (index, case) in cases.iter().enumerate() {
        let read = set.case(index).unwrap();
        assert_eq!(read.name, format!("{index}.png"));
        assert_eq!((&read.image, &read.objects), (&case.image, &case.objects));
    }
}

#[test]
fn categories_keep_their_numbers() {
    let scratch = Scratch::new();
    let object = |class| Object {
        class,
        bounds: Bounds { left: 0.0, top: 0.0, right: 1.0, bottom: 1.0 },
        mask: None,
        crowd: false,
    };
    let case = Case { objects: vec![object(2), object(0)], ..Case::new("x", image(0, 2, 2)) };
    let mut writer = CocoWriter::new(scratch.path()).unwrap().numbered(&[7, 90]);
    writer.add(&case, &classes()).unwrap();
    writer.finish(&classes()).unwrap();
    let set = DataSet::open(scratch.path()).unwrap();
    // The third has no number of its own, and comes behind the largest.
    assert_eq!(set.class_numbers(), Some(&[7, 90, 91][..]));
    assert_eq!((&set.classes, &set.case(0).unwrap().objects), (&classes(), &case.objects));
    let part = set.subset(&[0]);
    assert_eq!(part.class_numbers(), set.class_numbers());
    assert_eq!(DataSet::new(classes(), vec![case]).class_numbers(), None);
}

#[test]
fn what_coco_cannot_hold_is_refused() {
    let good = Object {
        class: 0,
        bounds: Bounds { left: 0.0, top: 0.0, right: 1.0, bottom: 1.0 },
        mask: None,
        crowd: false,
    };
    let cases = [
        (Object { class: 3, ..good.clone() }, "class that is not in the list"),
        (Object { mask: Mask::new(1, vec![true]), ..good.clone() }, "mask of another size"),
        (Object { bounds: Bounds { left: f32::NAN, ..good.bounds }, ..good.clone() }, "has a box"),
        (Object { bounds: Bounds { left: 2.0, ..good.bounds }, ..good.clone() }, "has a box"),
    ];
    for (object, wanted) in cases {
        let scratch = Scratch::new();
        let case = Case { objects: vec![object], ..Case::new("x", image(0, 2, 2)) };
        let error = write_coco(scratch.path(), &classes(), [case]).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}
