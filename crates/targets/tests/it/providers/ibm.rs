//! The IBM MAX object detector.

use super::*;

/// The example of the project's README.
const EXAMPLE: &str = r#"{"status": "ok", "predictions": [
    {"label_id": "1", "label": "person", "probability": 0.944034993648529, "detection_box":
     [0.1242099404335022, 0.12507188320159912, 0.8423267006874084, 0.5974075794219971]},
    {"label_id": "18", "label": "dog", "probability": 0.8645511865615845, "detection_box":
     [0.10447660088539124, 0.17799153923988342, 0.8422801494598389, 0.732001781463623]}]}"#;

#[test]
fn asks_with_a_form() {
    let request =
        request_for(&open(r#"{"provider": "ibm", "min_confidence": 0.5}"#), &image(9, 9)).unwrap();
    assert_eq!(request.path, "/model/predict?threshold=0.5");
    let (_, boundary) = request.headers[0].1.split_once("multipart/form-data; boundary=").unwrap();
    let form = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"image\"; filename=\"image.png\"\
         \r\nContent-Type: image/png\r\n\r\nPICTURE\r\n--{boundary}--\r\n"
    );
    assert_eq!(String::from_utf8(request.body).unwrap(), form);
}

#[test]
fn boxes_are_read() {
    let connector = open(r#"{"provider": "ibm"}"#);
    let found = detections(&prediction(&connector, EXAMPLE, &image(1000, 100)));
    assert_eq!((found[0].0.as_str(), found[0].1), ("person", 0.944_035));
    assert_eq!(found[0].2, [125.071_884, 12.420_994, 597.407_6, 84.232_67]);
    assert_eq!(found[1].0, "dog");
    let bad = error(&connector, 200, r#"{"status": "error", "predictions": []}"#);
    assert!(matches!(bad, WireError::Malformed(_)));
    let bad = error(&connector, 400, r#"{"status": "error", "message": "Invalid file type"}"#);
    assert!(matches!(bad, WireError::Rejected(why) if why.contains("Invalid file type")));
}
