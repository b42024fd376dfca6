//! The object detector of IBM's Model Asset eXchange.

use crate::running_server::*;
use serde_json::json;

const FORM: &str = "Content-Type: multipart/form-data; boundary=q\r\n";

fn form(field: &str, bytes: &[u8]) -> Vec<u8> {
    let mut form = format!(
        "--q\r\nContent-Disposition: form-data; name=\"{field}\"; \
        filename=\"a.png\"\r\nContent-Type: image/png\r\n\r\n"
    )
    .into_bytes();
    form.extend(bytes);
    form.extend(b"\r\n--q--\r\n");
    form
}

#[test]
fn predictions_come_back_bit_for_bit() {
    let server = RunningServer::of(DETECTOR, "ibm");
    let image = scene_with_objects();
    for (path, threshold) in [("/model/predict?threshold=0", 0.0), ("/model/predict", 0.7)] {
        let answer = server.post(path, FORM, &form("image", &png(&image))).json();
        assert_eq!(answer["status"], "ok");
        let got = answer["predictions"].as_array().unwrap();
        let mut wanted = objects(&image);
        wanted.retain(|object| f64::from(object.1.score) >= threshold);
        assert_eq!(got.len(), wanted.len());
        for (prediction, (name, found)) in got.iter().zip(&wanted) {
            assert_eq!(prediction["label"], **name);
            assert_eq!(prediction["label_id"], found.class.to_string());
            assert_eq!(prediction["probability"].as_f64().unwrap() as f32, found.score);
            let b = found.bounds;
            assert_eq!(
                [0, 1, 2, 3]
                    .map(|at: usize| (prediction["detection_box"][at].as_f64().unwrap() * 128.0)
                        as f32),
                [b.top, b.left, b.bottom, b.right]
            );
        }
    }
    assert_eq!(server.get("/model/metadata").json()["name"], "detector");
}

#[test]
fn errors_are_told() {
    let server = RunningServer::of(DETECTOR, "ibm");
    let good = form("image", &png(&scene(0)));
    for (method, path, headers, body, status) in [
        ("POST", "/model/predict", FORM, form("picture", &png(&scene(0))), 400),
        ("POST", "/model/predict", FORM, form("image", b"no image"), 400),
        ("POST", "/model/predict", FORM, good[..good.len() / 2].to_vec(), 400),
        ("POST", "/model/predict", "", good.clone(), 400),
        ("POST", "/model/predict?threshold=high", FORM, good.clone(), 400),
        ("GET", "/model/predict", "", Vec::new(), 405),
        ("POST", "/model/predictions", FORM, good.clone(), 404),
    ] {
        let reply = server.send(method, path, headers, &body);
        assert_eq!((reply.status, &reply.json()["status"]), (status, &json!("error")), "{path}");
    }
    let classifier = RunningServer::of(CLASSIFIER, "ibm");
    let reply = classifier.post("/model/predict", FORM, &good);
    assert_eq!(reply.status, 400);
}
