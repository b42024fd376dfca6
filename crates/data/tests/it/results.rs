//! COCO's ground truth and detections without images.

use crate::scratch::Scratch;
use faultlens_data::{CocoDetection, CocoObject, CocoTruth};

const TRUTH: &str = r#"{
    "images": [{"id": 70, "file_name": "b.jpg"}, {"id": 3}, {"id": 12}],
    "categories": [{"id": 9, "name": "cat"}, {"id": 2, "name": "dog", "supercategory": "pet"}],
    "annotations": [
        {"id": 1, "image_id": 70, "category_id": 2, "bbox": [1.1, 2, 3, 4.25], "area": 9.5,
         "segmentation": [[1, 2, 3, 4, 5, 6]], "iscrowd": 0},
        {"image_id": 3, "category_id": 9, "bbox": [0, 0, 2, 3], "iscrowd": true, "ignore": 1}
    ]
}"#;

#[test]
fn numbers_keep_their_digits_and_stand_in_order() {
    let folder = Scratch::new();
    let truth = CocoTruth::read(&folder.write("gt.json", TRUTH)).unwrap();
    assert_eq!((truth.images(), &truth.classes[..]), (3, &["dog".to_owned(), "cat".into()][..]));
    let first = CocoObject {
        image: 2,
        class: 0,
        bbox: [1.1, 2.0, 3.0, 4.25],
        area: 9.5,
        crowd: false,
        ignored: false,
    };
    let second = CocoObject {
        image: 0,
        class: 1,
        bbox: [0.0, 0.0, 2.0, 3.0],
        area: 6.0,
        crowd: true,
        ignored: true,
    };
    assert_eq!(truth.objects, [first, second]);
    let found = folder.write(
        "dt.json",
        r#" [{"image_id":12,"category_id":9,"bbox":[0.123456789,-1,0,5],"score":0.987654321}]"#,
    );
    let wanted = CocoDetection {
        image: 1,
        class: 1,
        bbox: [0.123456789, -1.0, 0.0, 5.0],
        score: 0.987654321,
    };
    assert_eq!(truth.detections(&found).unwrap(), [wanted]);
    assert_eq!(truth.detections(&folder.write("dt.json", "[]")).unwrap(), []);
}

#[test]
fn wrong_ground_truths_are_told() {
    let folder = Scratch::new();
    let annotated = |annotation: &str| {
        format!(
            r#"{{"images":[{{"id":1}}],"categories":[{{"id":1,"name":"a"}}],"annotations":[{annotation}]}}"#
        )
    };
    let cases = [
        ("[]".to_owned(), "this is a list, as detections are"),
        ("{}".into(), "missing field `images`"),
        ("".into(), "no COCO ground truth that can be read (EOF"),
        (r#"{"images":[{"id":1},{"id":1}]}"#.into(), "image 1 is there twice"),
        (
            r#"{"images":[],"categories":[{"id":1,"name":"a"},{"id":2,"name":"a"}]}"#.into(),
            "two categories are called \"a\"",
        ),
        (
            r#"{"images":[],"categories":[{"id":1,"name":"a"},{"id":1,"name":"b"}]}"#.into(),
            "two categories have the same number",
        ),
        (
            annotated(r#"{"image_id":5,"category_id":1,"bbox":[0,0,1,1]}"#),
            "annotation 1 is of image 5, which the ground truth does not have",
        ),
        (
            annotated(r#"{"image_id":1,"category_id":8,"bbox":[0,0,1,1]}"#),
            "annotation 1 is of category 8",
        ),
        (annotated(r#"{"image_id":1,"category_id":1}"#), "missing field `bbox`"),
        (annotated(r#"{"image_id":1,"category_id":1,"bbox":[0,0,1]}"#), "invalid length 3"),
        (
            annotated(r#"{"image_id":1,"category_id":1,"bbox":[0,0,-2,1]}"#),
            "annotation 1 has a box of -2×1 pixels; bbox is left, top, width, height",
        ),
        (
            annotated(r#"{"image_id":1,"category_id":1,"bbox":[0,0,2,1],"area":-1}"#),
            "annotation 1 has an area of -1 pixels",
        ),
        (
            annotated(r#"{"image_id":1,"category_id":1,"bbox":[0,0,2,1],"iscrowd":"no"}"#),
            "expected 0 or 1",
        ),
    ];
    for (text, wanted) in cases {
        let error = CocoTruth::read(&folder.write("gt.json", &text)).unwrap_err().to_string();
        assert!(error.contains(wanted) && error.contains("gt.json"), "{text}: {error}");
    }
}

#[test]
fn wrong_detections_are_told() {
    let folder = Scratch::new();
    let truth = CocoTruth::read(&folder.write("gt.json", TRUTH)).unwrap();
    let cases = [
        (r#"{"annotations": []}"#, "detections are a list of {\"image_id\""),
        ("[1]", "invalid type: integer"),
        (r#"[{"image_id":3,"category_id":9,"bbox":[0,0,1,1]}]"#, "missing field `score`"),
        (
            r#"[{"image_id":4,"category_id":9,"bbox":[0,0,1,1],"score":1}]"#,
            "detection 1 is of image 4",
        ),
        (r#"[{"image_id":3,"category_id":1,"bbox":[0,0,1,1],"score":1}]"#, "is of category 1"),
        (r#"[{"image_id":3,"category_id":9,"bbox":[0,0,1,-1],"score":1}]"#, "has a box of 1×-1"),
        (r#"[{"image_id":3,"category_id":9,"bbox":[0,0,1,1],"score":NaN}]"#, "expected value"),
        (r#"[{"image_id":3,"category_id":9,"bbox":[0,0,1,1e999],"score":1}]"#, "out of range"),
        (
            r#"[{"image_id":"3","category_id":9,"bbox":[0,0,1,1],"score":1}]"#,
            "invalid type: string",
        ),
    ];
    for (text, wanted) in cases {
        let error = truth.detections(&folder.write("dt.json", text)).unwrap_err().to_string();
        assert!(error.contains(wanted) && error.contains("dt.json"), "{text}: {error}");
    }
    assert!(truth.detections(&folder.path().join("none.json")).is_err());
}
