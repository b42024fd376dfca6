//! Azure AI Vision and Face.

use crate::running_server::*;
use serde_json::{Value, json};

const FOUR: &str = "/computervision/imageanalysis:analyze?api-version=2023-10-01&features=";
const THREE: &str = "/vision/v3.2/analyze?visualFeatures=";
const BYTES: &str = "Content-Type: application/octet-stream\r\n";

fn tags(values: &Value) -> Vec<(String, f32)> {
    let mut tags = Vec::new();
    for tag in values.as_array().unwrap() {
        let name = tag["name"].as_str().unwrap().to_owned();
        tags.push((name, tag["confidence"].as_f64().unwrap() as f32));
    }
    tags
}

#[test]
fn tags_come_back_bit_for_bit() {
    let server = RunningServer::of(CLASSIFIER, "azure");
    let image = scene(0);
    let four = server.post(&format!("{FOUR}tags"), BYTES, &png(&image)).json();
    assert_eq!(tags(&four["tagsResult"]["values"]), ranking(&image));
    assert_eq!(four["metadata"], json!({"width": 128, "height": 128}));
    for path in [format!("{THREE}Tags"), "/vision/v3.2/tag".to_owned()] {
        let three = server.post(&path, BYTES, &png(&image)).json();
        assert_eq!(tags(&three["tags"]), ranking(&image));
        assert_eq!(three["modelVersion"], four["modelVersion"]);
    }
    let mut form = b"--q\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n".to_vec();
    form.extend(png(&image));
    form.extend(b"\r\n--q--\r\n");
    let headers = "Content-Type: multipart/form-data; boundary=q\r\n";
    let three = server.post("/vision/v3.2/tag", headers, &form).json();
    assert_eq!(tags(&three["tags"]), ranking(&image));
}

#[test]
fn objects_are_reported_in_whole_pixels() {
    let server = RunningServer::of(DETECTOR, "azure");
    let image = scene_with_objects();
    let four = server.post(&format!("{FOUR}objects,tags,people"), BYTES, &png(&image)).json();
    let three = server.post(&format!("{THREE}Objects"), BYTES, &png(&image)).json();
    let values = four["objectsResult"]["values"].as_array().unwrap();
    let wanted = objects(&image);
    assert_eq!(values.len(), wanted.len());
    for (at, (name, found)) in wanted.iter().enumerate() {
        let value = &values[at];
        let old = &three["objects"][at];
        assert_eq!(tags(&value["tags"]), [(name.clone(), found.score)]);
        assert_eq!((&old["object"], &old["rectangle"]), (&json!(name), &value["boundingBox"]));
        let side = |name: &str| value["boundingBox"][name].as_f64().unwrap() as f32;
        let b = found.bounds;
        assert_eq!([side("x"), side("y")], [b.left.round(), b.top.round()]);
        assert_eq!(side("x") + side("w"), b.right.round());
        assert_eq!(side("y") + side("h"), b.bottom.round());
    }
    assert_eq!(four["peopleResult"]["values"], json!([]));
}

#[test]
fn texts_and_faces_are_reported() {
    let answer = reader("azure").post(&format!("{FOUR}read"), BYTES, &png(&red_and_green()));
    assert_eq!(answer.json()["readResult"]["blocks"][0]["lines"][0]["text"], "rg");
    let shown = (0..40).map(scene).find(|i| objects(i).iter().any(|o| o.1.class == 0)).unwrap();
    let path = "/face/v1.2/detect?detectionModel=detection_03&returnFaceId=false";
    let answer = faces("azure").post(path, BYTES, &png(&shown)).json();
    let wanted: Vec<_> = objects(&shown).into_iter().filter(|o| o.1.class == 0).collect();
    assert_eq!(answer.as_array().unwrap().len(), wanted.len());
    let left = answer[0]["faceRectangle"]["left"].as_f64().unwrap() as f32;
    assert_eq!(left, wanted[0].1.bounds.left.round());
}

#[test]
fn errors_are_azures() {
    let server = RunningServer::of(CLASSIFIER, "azure");
    let good = png(&scene(0));
    let mut large = good.clone();
    large.resize((4 << 20) + 1, 0);
    let path = |start: &str, features: &str| format!("{start}{features}");
    for (path, headers, body, wanted) in [
        (path(FOUR, "tags"), BYTES, &b"no image"[..], "InvalidImageFormat"),
        (path(FOUR, "tags"), BYTES, &[], "InvalidImageFormat"),
        (path(FOUR, "tags"), BYTES, &png(&grey(49, 200)), "InvalidImageSize"),
        (path(THREE, "Tags"), BYTES, &large, "InvalidImageSize"),
        (path(FOUR, ""), BYTES, &good, "BadArgument"),
        (path(FOUR, "objects"), BYTES, &good, "NotSupportedVisualFeature"),
        (path(FOUR, "caption"), BYTES, &good, "NotSupportedVisualFeature"),
        (path(THREE, "Adult"), BYTES, &good, "NotSupportedVisualFeature"),
        ("/face/v1.2/detect".to_owned(), BYTES, &good, "NotSupportedVisualFeature"),
        (
            path(FOUR, "tags"),
            "Content-Type: application/json\r\n",
            b"{\"url\":\"http://a/b\"}",
            "InvalidImageUrl",
        ),
        (path(FOUR, "tags"), "Content-Type: application/json\r\n", b"{", "BadArgument"),
    ] {
        let reply = server.post(&path, headers, body);
        let error = &reply.json()["error"];
        assert_eq!((reply.status, &error["code"]), (400, &json!("InvalidRequest")), "{path}");
        assert_eq!(error["innererror"]["code"], wanted, "{error}");
    }
    assert_eq!(server.post("/vision/v1.0/analyze", BYTES, &good).json()["error"]["code"], "404");
    assert_eq!(server.get(&path(FOUR, "tags")).json()["error"]["code"], "405");
}

#[test]
fn keys_are_checked() {
    let server = RunningServer::with(CLASSIFIER, Default::default(), "azure", |options| {
        options.keys = vec!["first".to_owned(), "second".to_owned()];
    });
    for (key, status) in [("", 401), ("wrong", 401), ("first", 200), ("second", 200)] {
        let headers = format!("{BYTES}Ocp-Apim-Subscription-Key: {key}\r\n");
        let reply = server.post(&format!("{FOUR}tags"), &headers, &png(&scene(0)));
        assert_eq!(reply.status, status, "{key}");
    }
}
