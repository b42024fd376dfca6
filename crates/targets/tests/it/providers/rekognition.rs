//! Amazon Rekognition.

use super::*;
use serde_json::json;

fn task(task: &str) -> Connector {
    open(&format!(r#"{{"provider": "rekognition", "task": "{task}"}}"#))
}

/// From the example of DetectLabels in the Amazon Rekognition developer guide ("Detecting labels
/// in an image"), shortened.
const LABELS: &str = r#"{"Labels": [
    {"Name": "Vehicle", "Confidence": 99.15271759033203, "Instances": [], "Parents":
        [{"Name": "Transportation"}]},
    {"Name": "Car", "Confidence": 98.96831512451172, "Instances": [
        {"BoundingBox": {"Width": 0.10616336017847061, "Height": 0.18528179824352264,
            "Left": 0.0037978808395564556, "Top": 0.5039216876029968},
         "Confidence": 99.15271759033203},
        {"BoundingBox": {"Width": 0.2429988533258438, "Height": 0.21577216684818268,
            "Left": 0.7309805154800415, "Top": 0.5251884460449219},
         "Confidence": 99.1286392211914}],
     "Parents": [{"Name": "Vehicle"}, {"Name": "Transportation"}]},
    {"Name": "Human", "Confidence": 98.7123412, "Instances": [], "Parents": []}],
    "OrientationCorrection": "ROTATE_0", "LabelModelVersion": "3.0"}"#;

#[test]
fn asks_as_documented() {
    let request = request_for(&task("labels"), &image(80, 80)).unwrap();
    assert_eq!((request.method, request.path.as_str()), ("POST", "/"));
    assert_eq!(
        request.headers,
        [
            header("content-type", "application/x-amz-json-1.1"),
            header("x-amz-target", "RekognitionService.DetectLabels")
        ]
    );
    assert_eq!(body(&request), json!({"Image": {"Bytes": "UElDVFVSRQ=="}, "MaxLabels": 10}));
    let of = r#"{"provider": "rekognition", "task": "moderation", "min_confidence": 0.25}"#;
    let request = request_for(&open(of), &image(80, 80)).unwrap();
    assert_eq!(body(&request)["MinConfidence"], 25.0);
    assert_eq!(request.headers[1].1, "RekognitionService.DetectModerationLabels");
}

#[test]
fn labels_and_objects_are_read() {
    let image = image(1000, 500);
    let labels = prediction(&task("labels"), LABELS, &image);
    assert_eq!(ranked(&labels)[1], ("Car", 0.989_683_15));
    assert_eq!(ranked(&labels).len(), 3);
    let objects = prediction(&task("objects"), LABELS, &image);
    let found = detections(&objects);
    let names: Vec<&str> = found.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["Car", "Car"]);
    let (_, score, [left, top, right, bottom]) = found[0];
    assert_eq!(score, 0.991_527_2);
    let wanted = [3.797_88, 251.960_84, 109.961_24, 344.601_74];
    for (side, wanted) in [left, top, right, bottom].iter().zip(wanted) {
        assert!((side - wanted).abs() < 1e-3, "{side} {wanted}");
    }
    let read = task("labels").wire.read(&response(200, LABELS.as_bytes()), &image).unwrap();
    assert_eq!(read.version.as_deref(), Some("3.0"));
}

/// The example of DetectLabels in Amazon's own description of the service, as botocore ships it.
#[test]
fn labels_out_of_order_are_put_in_order() {
    let body = r#"{"Labels": [{"Confidence": 99.25072479248047, "Name": "People"},
        {"Confidence": 99.25074005126953, "Name": "Person"}]}"#;
    let prediction = prediction(&task("labels"), body, &image(80, 80));
    assert_eq!(ranked(&prediction), [("Person", 0.992_507_4), ("People", 0.992_507_2)]);
}

#[test]
fn only_labels_that_count_are_kept() {
    let of = r#"{"provider": "rekognition", "labels": [" CAR", "human"], "max_labels": 1, "min_confidence": 0.5}"#;
    let connector = open(of);
    assert_eq!(ranked(&prediction(&connector, LABELS, &image(80, 80))), [("Car", 0.989_683_15)]);
    // Labels that do not count must not use up the places.
    assert_eq!(body(&request_for(&connector, &image(80, 80)).unwrap())["MaxLabels"], 1000);
}

/// In the form of the example of DetectText in the developer guide ("Detecting text in an image").
#[test]
fn lines_are_read_in_their_order() {
    let body = r#"{"TextDetections": [
        {"Confidence": 90.54900360107422, "DetectedText": "IT'S", "Id": 0, "Type": "LINE"},
        {"Confidence": 59.411651611328125, "DetectedText": "I", "Id": 1, "Type": "LINE"},
        {"Confidence": 92.76634979248047, "DetectedText": "MONDAY", "Id": 2, "Type": "LINE"},
        {"Confidence": 90.54900360107422, "DetectedText": "IT'S", "Id": 5, "ParentId": 0,
         "Type": "WORD"}], "TextModelVersion": "3.0"}"#;
    assert_eq!(text(&prediction(&task("text"), body, &image(80, 80))), "IT'S\nI\nMONDAY");
    let sure = open(r#"{"provider": "rekognition", "task": "text", "min_confidence": 0.9}"#);
    assert_eq!(text(&prediction(&sure, body, &image(80, 80))), "IT'S\nMONDAY");
    let nothing = prediction(&task("text"), r#"{"TextDetections": []}"#, &image(80, 80));
    assert_eq!(text(&nothing), "");
}

/// The example of DetectFaces in Amazon's own description of the service, shortened.
#[test]
fn faces_are_read() {
    let body = r#"{"FaceDetails": [{"BoundingBox": {"Height": 0.18000000715255737,
        "Left": 0.5555555820465088, "Top": 0.33666667342185974, "Width": 0.23999999463558197},
        "Confidence": 100, "Quality": {"Brightness": 37.6, "Sharpness": 80}}],
        "OrientationCorrection": "ROTATE_0"}"#;
    let faces = prediction(&task("faces"), body, &image(100, 100));
    let (name, score, sides) = detections(&faces)[0].clone();
    assert_eq!((name.as_str(), score), ("face", 1.0));
    for (side, wanted) in sides.iter().zip([55.555_56, 33.666_668, 79.555_56, 51.666_67]) {
        assert!((side - wanted).abs() < 1e-4, "{side} {wanted}");
    }
}

/// In the form of the example of DetectModerationLabels in the developer guide.
#[test]
fn what_stands_under_violence_counts() {
    let body = r#"{"ModerationLabels": [
        {"Confidence": 99.5, "Name": "Weapon Violence", "ParentName": "Graphic Violence",
         "TaxonomyLevel": 3},
        {"Confidence": 99.75, "Name": "Violence", "ParentName": "", "TaxonomyLevel": 1},
        {"Confidence": 80.0, "Name": "Alcohol", "ParentName": "", "TaxonomyLevel": 1}],
        "ModerationModelVersion": "7.0"}"#;
    let wanted = [("Violence", 0.9975), ("Weapon Violence", 0.995)];
    assert_eq!(ranked(&prediction(&task("moderation"), body, &image(80, 80))), wanted);
    let of = r#"{"provider": "rekognition", "task": "moderation", "labels": ["alcohol"]}"#;
    assert_eq!(ranked(&prediction(&open(of), body, &image(80, 80))), [("Alcohol", 0.8)]);
}

/// In the form of the example of RecognizeCelebrities in the developer guide.
#[test]
fn celebrities_are_ranked_by_how_well_they_match() {
    let body = r#"{"CelebrityFaces": [
        {"Name": "Jeff Bezos", "Id": "1SK7cR8M", "Urls": [], "MatchConfidence": 81.0,
         "Face": {"Confidence": 99.9}},
        {"Name": "Werner Vogels", "Id": "2", "MatchConfidence": 98.0}],
        "UnrecognizedFaces": []}"#;
    let prediction = prediction(&task("celebrities"), body, &image(80, 80));
    assert_eq!(ranked(&prediction), [("Werner Vogels", 0.98), ("Jeff Bezos", 0.81)]);
}

fn aws_error(status: u16, kind: &str, message: &str) -> WireError {
    let body = json!({"__type": kind, "message": message}).to_string();
    error(&task("labels"), status, &body)
}

#[test]
fn errors_are_told_apart() {
    for kind in
        ["ThrottlingException", "com.amazonaws.rekognition#ProvisionedThroughputExceededException"]
    {
        assert_eq!(aws_error(400, kind, "Rate exceeded"), WireError::Throttled(None));
    }
    assert!(matches!(aws_error(500, "InternalServerError", ""), WireError::Unavailable(_)));
    for kind in
        ["InvalidImageFormatException", "ImageTooLargeException", "InvalidParameterException"]
    {
        assert!(
            matches!(aws_error(400, kind, "no"), WireError::Rejected(why) if why.contains(kind))
        );
    }
    for (kind, message, wanted) in [
        ("AccessDeniedException", "User: x is not authorized", "not authorized"),
        ("UnrecognizedClientException", "The security token is invalid", "token is invalid"),
        ("ExpiredTokenException", "expired", "has expired: get a new one"),
        ("InvalidSignatureException", "Signature expired: 20150830T", "clock"),
        ("InvalidSignatureException", "does not match", "check AWS_SECRET_ACCESS_KEY"),
    ] {
        let error = aws_error(400, kind, message);
        assert!(matches!(&error, WireError::Denied(why) if why.contains(wanted)), "{error:?}");
    }
    let echo = aws_error(403, "AccessDeniedException", "no\nx-amz-security-token:T0KEN");
    assert!(!format!("{echo:?}").contains("T0KEN"));
    let page = error(&task("labels"), 502, "<html><body>Bad gateway");
    assert!(matches!(page, WireError::Unavailable(why) if why.contains("web page")));
}

#[test]
fn small_and_large_images_are_refused_before_any_call() {
    let connector = task("labels");
    let small = request_for(&connector, &image(80, 79)).unwrap_err();
    assert!(matches!(&small, TargetError::Rejected(why) if why.contains("80×79")), "{small}");
    let bytes = vec![0; (5 << 20) + 1];
    let picture = EncodedImage { bytes: &bytes, media_type: "image/png", image: &image(80, 80) };
    let large = connector.wire.request(&picture).unwrap_err();
    assert!(matches!(&large, TargetError::Rejected(why) if why.contains("jpeg")), "{large}");
}
