//! COCO files, compared with what pycocotools reads; `fixtures/make_fixtures.py` made them.

use crate::scratch::Scratch;
use faultlens_core::{Bounds, Mask};
use faultlens_data::DataSet;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/coco")
}

fn hex(mask: &Mask) -> String {
    let bytes = mask
        .bits()
        .chunks(8)
        .map(|eight| (0..8).fold(0, |byte, at| byte << 1 | u8::from(eight.get(at) == Some(&true))));
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

fn json(path: &Path) -> Value {
    std::fs::read(path)
        .ok()
        .and_then(|bytes| serde_json::from_slice(&bytes).ok())
        .unwrap_or_default()
}

#[test]
fn masks_and_boxes_are_those_of_pycocotools() {
    let set = DataSet::open(fixture()).unwrap();
    assert_eq!(set.classes, ["car", "cat", "sign"]);
    let description = json(&fixture().join("instances.json"));
    let expected = json(&fixture().join("expected.json"));
    let mut objects: Vec<_> =
        (0..set.len()).map(|i| set.case(i).unwrap().objects.into_iter()).collect();
    let annotations = description["annotations"].as_array().unwrap();
    assert_eq!(annotations.len(), 24);
    for annotation in annotations {
        let image = 500 - annotation["image_id"].as_u64().unwrap() as usize;
        let object = objects[image].next().unwrap();
        let wanted = &expected["masks"][annotation["id"].to_string()];
        let mask = object.mask.unwrap();
        assert_eq!(hex(&mask), wanted["bits"].as_str().unwrap(), "{annotation}");
        assert_eq!(Some(mask.area() as u64), wanted["area"].as_u64());
        let classes = [(3, 0), (17, 1), (90, 2)];
        assert!(classes.contains(&(annotation["category_id"].as_u64().unwrap(), object.class)));
        assert_eq!(object.crowd, annotation["iscrowd"] == 1);
        let side = |at: usize| annotation["bbox"][at].as_f64().unwrap();
        let right = (side(0) + side(2)) as f32;
        let bottom = (side(1) + side(3)) as f32;
        let wanted = Bounds { left: side(0) as f32, top: side(1) as f32, right, bottom };
        assert_eq!(object.bounds, wanted);
    }
}

/// A file with one image and the given annotation.
fn one(scratch: &Scratch, image: &Value, annotation: &Value) -> Result<usize, String> {
    let file = json!({
        "images": [image], "annotations": [annotation],
        "categories": [{"id": 7, "name": "cat"}],
    });
    let path = scratch.write("instances.json", file.to_string());
    let set = DataSet::open(&path).map_err(|error| error.to_string())?;
    set.case(0).map(|case| case.objects.len()).map_err(|error| error.to_string())
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let scratch = Scratch::new();
    scratch.write("images/0.png", std::fs::read(fixture().join("0.png")).unwrap());
    let image = json!({"id": 1, "file_name": "0.png", "width": 40, "height": 30});
    let good = json!({"image_id": 1, "category_id": 7, "bbox": [0, 0, 2, 2]});
    assert_eq!(one(&scratch, &image, &good), Ok(1));
    let images = [
        ("file_name", json!("../0.png"), "outside of the data set"),
        ("file_name", json!("/etc/passwd"), "outside of the data set"),
        ("file_name", json!("1.png"), "does not exist"),
        ("width", json!(41), "its description says 41×30"),
        ("width", json!(99_999_999_999u64), "not read"),
        ("height", json!(0), "not read"),
    ];
    for (key, value, wanted) in images {
        let mut image = image.clone();
        image[key] = value;
        let error = one(&scratch, &image, &good).unwrap_err();
        assert!(error.contains(wanted), "{error}");
    }
    let annotations = [
        ("image_id", json!(2), "which is not there"),
        ("category_id", json!(8), "which is not there"),
        ("bbox", json!([0, 0, -1, 2]), "ends before it starts"),
        ("bbox", json!([0, 0, 1]), "no COCO file that can be read"),
        ("bbox", json!(null), "neither a box nor a mask"),
        ("segmentation", json!([[1, 2, 3]]), "three points need six"),
        ("segmentation", json!({"size": [30, 40], "counts": [5]}), "do not add up"),
        ("segmentation", json!({"size": [9, 9], "counts": [81]}), "another size"),
        ("segmentation", json!({"size": [30, 40], "counts": "zzz"}), "damaged"),
        ("segmentation", json!("zzz"), "a list of polygons"),
    ];
    for (key, value, wanted) in annotations {
        let mut annotation = good.clone();
        annotation[key] = value;
        let error = one(&scratch, &image, &annotation).unwrap_err();
        assert!(error.contains(wanted), "{error}");
    }
}

#[test]
fn images_are_found_where_coco_keeps_them() {
    let picture = std::fs::read(fixture().join("0.png")).unwrap();
    let image = json!({"id": 1, "file_name": "0.png", "width": 40, "height": 30});
    for place in ["val2017/0.png", "images/0.png", "images/val2017/0.png", "annotations/0.png"] {
        let scratch = Scratch::new();
        scratch.write(place, &picture);
        let list = json!({"images": [image]}).to_string();
        scratch.write("annotations/instances_val2017.json", &list);
        let set = DataSet::open(scratch.path()).unwrap();
        assert_eq!((set.len(), set.case(0).unwrap().name.as_str()), (1, "0.png"), "{place}");
        scratch.write("annotations/instances_train2017.json", &list);
        let error = DataSet::open(scratch.path()).unwrap_err().to_string();
        assert!(error.contains("open one of instances_train2017.json, instances_val"), "{error}");
    }
}
