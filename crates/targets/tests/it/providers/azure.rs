//! Azure AI Vision and Face.

use super::*;

fn task(task: &str, version: &str) -> Connector {
    open(&format!(r#"{{"provider": "azure", "task": "{task}"{version}}}"#))
}

const OLD: &str = r#", "version": "3.2""#;

#[test]
fn asks_as_documented() {
    for (name, version, path) in [
        (
            "labels",
            "",
            "/computervision/imageanalysis:analyze?api-version=2023-10-01&features=tags",
        ),
        ("text", "", "/computervision/imageanalysis:analyze?api-version=2023-10-01&features=read"),
        ("labels", OLD, "/vision/v3.2/analyze?visualFeatures=Tags"),
        ("moderation", "", "/vision/v3.2/analyze?visualFeatures=Adult"),
    ] {
        let request = request_for(&task(name, version), &image(51, 51)).unwrap();
        assert_eq!((request.path.as_str(), request.body.as_slice()), (path, &b"PICTURE"[..]));
    }
    let faces = request_for(&task("faces", ""), &image(51, 51)).unwrap();
    assert!(faces.path.starts_with("/face/v1.2/detect?detectionModel=detection_03&"));
    assert!(request_for(&task("labels", ""), &image(50, 99)).is_err());
    let version = open_error(r#"{"provider": "azure", "version": "5"}"#);
    assert!(version.contains("4.0 and 3.2"), "{version}");
    let version = open_error(r#"{"provider": "azure", "task": "text", "version": "3.2"}"#);
    assert!(version.contains("4.0 alone"), "{version}");
}

/// The example of "Object detection" in the documentation of version 3.2, shortened.
#[test]
fn objects_of_the_older_version_are_read() {
    let body = r#"{"objects": [
        {"rectangle": {"x": 730, "y": 66, "w": 135, "h": 85}, "object": "kitchen appliance",
         "confidence": 0.501},
        {"rectangle": {"x": 654, "y": 0, "w": 584, "h": 473}, "object": "person",
         "confidence": 0.855, "parent": {"object": "mammal", "confidence": 0.86}}],
        "requestId": "a7fde8fd-cc18-4f5f-99d3-897dcd07b308",
        "metadata": {"width": 1260, "height": 473, "format": "Jpeg"},
        "modelVersion": "2021-05-01"}"#;
    let objects = prediction(&task("objects", OLD), body, &image(1260, 473));
    assert_eq!(
        detections(&objects),
        [
            ("person".to_owned(), 0.855, [654.0, 0.0, 1238.0, 473.0]),
            ("kitchen appliance".to_owned(), 0.501, [730.0, 66.0, 865.0, 151.0]),
        ]
    );
    let answer = response(200, body.as_bytes());
    let read = task("objects", OLD).wire.read(&answer, &image(1260, 473)).unwrap();
    assert_eq!(read.version.as_deref(), Some("2021-05-01"));
}

/// From the example of "Image tagging" in the documentation of version 3.2, and the same tags in
/// the form of 4.0.
#[test]
fn tags_of_both_versions_are_read() {
    let tags = r#"[{"name": "grass", "confidence": 0.9960499405860901},
        {"name": "outdoor", "confidence": 0.9956876635551453}]"#;
    let wanted = [("grass", 0.996_049_94), ("outdoor", 0.995_687_66)];
    let old = format!(r#"{{"tags": {tags}, "requestId": "x"}}"#);
    assert_eq!(ranked(&prediction(&task("labels", OLD), &old, &image(60, 60))), wanted);
    let new = format!(r#"{{"tagsResult": {{"values": {tags}}}, "modelVersion": "2023-10-01"}}"#);
    assert_eq!(ranked(&prediction(&task("labels", ""), &new, &image(60, 60))), wanted);
    assert!(matches!(error(&task("labels", ""), 200, &old), WireError::Malformed(_)));
}

/// In the form of the example of "What is Image Analysis?", version 4.0.
#[test]
fn objects_and_text_of_the_newer_version_are_read() {
    let body = r#"{"modelVersion": "2023-10-01", "objectsResult": {"values": [
        {"boundingBox": {"x": 10, "y": 20, "w": 30, "h": 40},
         "tags": [{"name": "person", "confidence": 0.875}]}]},
        "readResult": {"blocks": [{"lines": [
          {"text": "9:35 AM", "boundingPolygon": [{"x": 131, "y": 130}], "words":
           [{"text": "9:35", "confidence": 0.993}, {"text": "AM", "confidence": 0.998}]},
          {"text": "E Conference room", "words": [{"text": "E", "confidence": 0.104}]}]}]}}"#;
    let objects = prediction(&task("objects", ""), body, &image(60, 60));
    assert_eq!(detections(&objects), [("person".to_owned(), 0.875, [10.0, 20.0, 40.0, 60.0])]);
    assert_eq!(
        text(&prediction(&task("text", ""), body, &image(60, 60))),
        "9:35 AM\nE Conference room"
    );
    let sure = task("text", r#", "min_confidence": 0.5"#);
    assert_eq!(text(&prediction(&sure, body, &image(60, 60))), "9:35 AM");
}

#[test]
fn faces_and_unsafe_content_are_read() {
    let faces = r#"[{"faceRectangle": {"width": 78, "height": 78, "left": 394, "top": 54}}]"#;
    let faces = prediction(&task("faces", ""), faces, &image(500, 200));
    assert_eq!(detections(&faces), [("face".to_owned(), 1.0, [394.0, 54.0, 472.0, 132.0])]);
    assert!(detections(&prediction(&task("faces", ""), "[]", &image(60, 60))).is_empty());
    let adult = r#"{"adult": {"isAdultContent": false, "isRacyContent": true,
        "isGoryContent": true, "adultScore": 0.1, "racyScore": 0.5, "goreScore": 0.75}}"#;
    let prediction = prediction(&task("moderation", ""), adult, &image(60, 60));
    assert_eq!(ranked(&prediction), [("gory", 0.75), ("racy", 0.5)]);
}

#[test]
fn errors_are_told_apart() {
    let connector = task("labels", "");
    let inner = r#"{"error": {"code": "InvalidRequest", "message": "Image size is too small.",
        "innererror": {"code": "InvalidImageSize", "message": "too small"}}}"#;
    assert!(
        matches!(error(&connector, 400, inner), WireError::Rejected(why) if why.contains("InvalidImageSize"))
    );
    let key = r#"{"error": {"code": "401", "message": "Access denied due to invalid key"}}"#;
    assert!(
        matches!(error(&connector, 401, key), WireError::Denied(why) if why.contains("invalid key"))
    );
    let mut busy = response(429, br#"{"error": {"code": "429", "message": "slow"}}"#);
    busy.headers.insert("retry-after".to_owned(), "26".to_owned());
    let busy = connector.wire.read(&busy, &image(60, 60)).unwrap_err();
    assert_eq!(busy, WireError::Throttled(Some(26)));
    let flat = r#"{"code": "FailedToProcess", "message": "Could not extract image features."}"#;
    assert!(matches!(error(&connector, 415, flat), WireError::Unavailable(_)));
    let feature = r#"{"error": {"code": "NotSupportedVisualFeature", "message": "no"}}"#;
    assert!(matches!(error(&connector, 400, feature), WireError::Denied(_)));
    assert!(
        matches!(error(&connector, 404, "{}"), WireError::Denied(why) if why.contains("check endpoint"))
    );
}
