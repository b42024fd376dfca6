//! YOLO labels, compared with the COCO file that globox made them from (`fixtures/make_yolo.py`).

use crate::scratch::Scratch;
use faultlens_core::Case;
use faultlens_data::{DataSet, Format, Options};
use std::path::{Path, PathBuf};

const PNG: &[u8] = include_bytes!("../fixtures/coco/0.png");

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/yolo")
}

#[test]
fn boxes_are_those_of_the_coco_file() {
    let yolo = DataSet::open_as(fixture(), Format::named("yolo").unwrap()).unwrap();
    let coco = DataSet::open(fixture().join("coco.json")).unwrap();
    assert_eq!((yolo.len(), &yolo.classes), (3, &coco.classes));
    let mut compared = 0;
    for index in 0..3 {
        let ours = yolo.case(index).unwrap();
        let wanted = coco.case(index).unwrap();
        assert_eq!((&ours.name, &ours.image), (&wanted.name, &wanted.image));
        assert_eq!(ours.objects.len(), wanted.objects.len());
        for (a, b) in ours.objects.iter().zip(&wanted.objects) {
            assert_eq!(a.class, b.class);
            for (x, y) in a.bounds.sides().into_iter().zip(b.bounds.sides()) {
                assert!((x - y).abs() < 1e-4, "{a:?} {b:?}");
            }
            compared += 1;
        }
    }
    assert!(compared >= 5, "{compared}");
}

/// The case of a set with one image of 40×30 pixels and these labels.
fn labelled(labels: &str) -> Result<Case, String> {
    let scratch = Scratch::new();
    scratch.write("images/val/a.png", PNG);
    scratch.write("labels/val/a.txt", labels);
    let yaml = scratch.write("data.yaml", "path: ../../etc\nnames:\n  0: cat\n  1: dog\n");
    let set = DataSet::open(&yaml).map_err(|error| error.to_string())?;
    assert_eq!(set.classes, ["cat", "dog"]);
    set.case(0).map_err(|error| error.to_string())
}

#[test]
fn polygons_have_boxes_and_masks() {
    let case = labelled("1 0.25 0.2 0.5 0.2 0.5 0.4 0.25 0.4\n\n").unwrap();
    assert_eq!((case.name.as_str(), case.strata["part"].as_str()), ("val/a.png", "val"));
    let object = &case.objects[0];
    assert_eq!((object.class, object.bounds.sides()), (1, [10.0, 6.0, 20.0, 12.0]));
    assert_eq!(object.mask.as_ref().unwrap().area(), 60);
    assert!(labelled("").unwrap().objects.is_empty());
}

#[test]
fn broken_lines_are_refused() {
    let cases = [
        ("0 .5 .5 .1 .1\n2 .5 .5 .1 .1", "line 2 is of class 2; classes go from 0 to 1"),
        ("-1 .5 .5 .1 .1", "no class"),
        ("0 .5 .5 .1", "has 3 numbers"),
        ("0 .5 .5 .1 .1 .9", "has 5 numbers"),
        ("0 .5 x .1 .1", "no number"),
        ("0 .5 NaN .1 .1", "not from 0 to 1"),
        ("0 .5 inf .1 .1", "not from 0 to 1"),
        ("0 20 15 4 4", "divide by the image's size"),
    ];
    for (labels, wanted) in cases {
        let error = labelled(labels).unwrap_err();
        assert!(error.contains(wanted) && error.ends_with("a.txt"), "{error}");
    }
}

#[test]
fn parts_and_images_without_labels() {
    let scratch = Scratch::new();
    for name in ["train/images/a.png", "valid/images/a.png", "valid/images/b.png"] {
        scratch.write(name, PNG);
    }
    scratch.write("train/labels/a.txt", "3 0.5 0.5 1 1\n");
    scratch.write("valid/labels/a.txt", "0 0.5 0.5 1 1\n");
    let all = DataSet::open(scratch.path()).unwrap();
    assert_eq!((all.len(), all.classes.len()), (3, 4));
    let part = Options { part: Some("val".into()), ..Options::default() };
    let set = DataSet::open_with(scratch.path(), &part).unwrap();
    assert_eq!((set.len(), set.case(1).unwrap().objects.len()), (2, 0));
}
