//! Google Cloud Vision.

use super::*;
use serde_json::json;

fn task(task: &str) -> Connector {
    open(&format!(r#"{{"provider": "google", "task": "{task}"}}"#))
}

#[test]
fn asks_as_documented() {
    let request = request_for(&task("labels"), &image(9, 9)).unwrap();
    assert_eq!(request.path, "/v1/images:annotate");
    let one = json!({"image": {"content": "UElDVFVSRQ=="},
        "features": [{"type": "LABEL_DETECTION", "maxResults": 10}]});
    assert_eq!(body(&request), json!({ "requests": [one] }));
    for (name, feature) in [
        ("objects", "OBJECT_LOCALIZATION"),
        ("text", "TEXT_DETECTION"),
        ("faces", "FACE_DETECTION"),
        ("moderation", "SAFE_SEARCH_DETECTION"),
    ] {
        let request = request_for(&task(name), &image(9, 9)).unwrap();
        assert_eq!(body(&request)["requests"][0]["features"][0]["type"], feature);
    }
}

/// From the example of "Detect labels" in the Cloud Vision documentation, shortened.
#[test]
fn labels_keep_their_order() {
    let body = r#"{"responses": [{"labelAnnotations": [
        {"mid": "/m/01c8br", "description": "Street", "score": 0.87294734,
         "topicality": 0.87294734},
        {"mid": "/m/06pg22", "description": "Snapshot", "score": 0.8523099},
        {"mid": "/m/0dx1j", "description": "Town", "score": 0.8581104}]}]}"#;
    let wanted = [("Street", 0.872_947_34), ("Snapshot", 0.852_309_9), ("Town", 0.858_110_4)];
    assert_eq!(ranked(&prediction(&task("labels"), body, &image(9, 9))), wanted);
    let nothing = prediction(&task("labels"), r#"{"responses": [{}]}"#, &image(9, 9));
    assert!(ranked(&nothing).is_empty());
}

/// From the example of "Detect multiple objects" in the Cloud Vision documentation, shortened; the
/// second object touches the corner, so that its zeros are left out.
#[test]
fn objects_are_read_and_what_is_left_out_is_zero() {
    let body = r#"{"responses": [{"localizedObjectAnnotations": [
        {"mid": "/m/01bqk0", "name": "Bicycle wheel", "score": 0.89648587, "boundingPoly":
         {"normalizedVertices": [{"x": 0.32076266, "y": 0.78941387},
          {"x": 0.43812272, "y": 0.78941387}, {"x": 0.43812272, "y": 0.97331065},
          {"x": 0.32076266, "y": 0.97331065}]}},
        {"mid": "/m/0199g", "name": "Bicycle", "score": 0.9, "boundingPoly":
         {"normalizedVertices": [{}, {"x": 0.5}, {"x": 0.5, "y": 0.25}, {"y": 0.25}]}}]}]}"#;
    let objects = prediction(&task("objects"), body, &image(100, 200));
    let found = detections(&objects);
    assert_eq!(found[0], ("Bicycle".to_owned(), 0.9, [0.0, 0.0, 50.0, 50.0]));
    assert_eq!(found[1].0, "Bicycle wheel");
    assert_eq!(found[1].2, [32.076_266, 157.882_77, 43.812_27, 194.662_13]);
}

/// In the form of the example of "Detect text in images".
#[test]
fn the_first_text_is_the_whole() {
    let body = r#"{"responses": [{"textAnnotations": [
        {"locale": "en", "description": "WAITING?\nPLEASE\nTURN OFF\nYOUR\nENGINE\n",
         "boundingPoly": {"vertices": [{"x": 341, "y": 828}]}},
        {"description": "WAITING?"}], "fullTextAnnotation": {"text": "…", "pages": []}}]}"#;
    let wanted = "WAITING?\nPLEASE\nTURN OFF\nYOUR\nENGINE";
    assert_eq!(text(&prediction(&task("text"), body, &image(9, 9))), wanted);
    assert_eq!(text(&prediction(&task("text"), r#"{"responses": [{}]}"#, &image(9, 9))), "");
}

/// In the form of the example of "Detect faces": corners are pixels.
#[test]
fn faces_are_read() {
    let body = r#"{"responses": [{"faceAnnotations": [{"boundingPoly": {"vertices":
        [{"x": 10, "y": 20}, {"x": 40, "y": 20}, {"x": 40, "y": 60}, {"x": 10, "y": 60}]},
        "detectionConfidence": 0.93634903, "joyLikelihood": "VERY_LIKELY"}]}]}"#;
    let faces = prediction(&task("faces"), body, &image(100, 100));
    assert_eq!(detections(&faces), [("face".to_owned(), 0.936_349_03, [10.0, 20.0, 40.0, 60.0])]);
}

/// The example of "Detect explicit content (SafeSearch)".
const SAFE: &str = r#"{"responses": [{"safeSearchAnnotation": {"adult": "UNLIKELY",
    "spoof": "VERY_UNLIKELY", "medical": "VERY_UNLIKELY", "violence": "LIKELY",
    "racy": "POSSIBLE"}}]}"#;

#[test]
fn likelihoods_fall_in_two_groups() {
    let connector = task("moderation");
    assert_eq!(ranked(&prediction(&connector, SAFE, &image(9, 9))), [("violence: positive", 1.0)]);
    for (likelihood, group) in [
        ("UNKNOWN", "negative"),
        ("VERY_UNLIKELY", "negative"),
        ("UNLIKELY", "negative"),
        ("POSSIBLE", "positive"),
        ("VERY_LIKELY", "positive"),
    ] {
        let body = SAFE.replace(r#""LIKELY""#, &format!("{likelihood:?}"));
        let prediction = prediction(&connector, &body, &image(9, 9));
        assert_eq!(ranked(&prediction)[0].0, format!("violence: {group}"));
    }
    let of = r#"{"provider": "google", "task": "moderation", "labels": ["Adult", "racy"]}"#;
    let prediction = prediction(&open(of), SAFE, &image(9, 9));
    assert_eq!(ranked(&prediction), [("racy: positive", 1.0), ("adult: negative", 1.0)]);
    for body in [SAFE.replace(r#""LIKELY""#, "5"), SAFE.replace(r#""LIKELY""#, r#""MAYBE""#)] {
        assert!(matches!(error(&connector, 200, &body), WireError::Malformed(_)));
    }
    // Nothing is prediction about the image.
    let nothing = error(&connector, 200, r#"{"responses": [{}]}"#);
    assert!(matches!(nothing, WireError::Malformed(_)));
}

/// The error of one image, inside a response.
fn inside(code: i64) -> WireError {
    let status = json!({"code": code, "message": "Bad image data."});
    error(&task("labels"), 200, &json!({"responses": [{ "error": status }]}).to_string())
}

/// The error of a whole request.
fn outside(status: u16, name: &str, message: &str) -> WireError {
    let body = json!({"error": {"code": status, "message": message, "status": name}});
    error(&task("labels"), status, &body.to_string())
}

#[test]
fn errors_are_told_apart_also_inside_a_response() {
    assert!(matches!(inside(3), WireError::Rejected(why) if why.contains("Bad image data.")));
    assert_eq!(inside(8), WireError::Throttled(None));
    assert!(matches!(inside(13), WireError::Unavailable(_)));
    assert!(matches!(inside(14), WireError::Unavailable(_)));
    assert!(matches!(inside(7), WireError::Denied(_)));
    assert_eq!(outside(429, "RESOURCE_EXHAUSTED", "Quota"), WireError::Throttled(None));
    let key = outside(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.");
    assert!(matches!(key, WireError::Denied(_)));
    assert!(matches!(outside(401, "UNAUTHENTICATED", "expired"), WireError::Denied(_)));
    assert!(matches!(outside(400, "INVALID_ARGUMENT", "too large"), WireError::Rejected(_)));
    assert!(matches!(outside(503, "UNAVAILABLE", "later"), WireError::Unavailable(_)));
}
