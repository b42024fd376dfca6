//! Google Cloud Vision.

use crate::running_server::*;
use serde_json::{Value, json};

const PATH: &str = "/v1/images:annotate";

fn request(image: &[u8], features: Value) -> Vec<u8> {
    let image = json!({"content": base64(image)});
    json!({"requests": [{"image": image, "features": features}]}).to_string().into_bytes()
}

fn first(reply: &Reply) -> Value {
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["responses"][0].clone()
}

#[test]
fn labels_come_back_bit_for_bit() {
    let server = RunningServer::of(CLASSIFIER, "google");
    for (kind, most) in [(json!("LABEL_DETECTION"), 14), (json!(4), 3)] {
        let image = scene(0);
        let body = request(&png(&image), json!([{"type": kind, "maxResults": most}]));
        let reply = server.post(PATH, "Content-Type: application/json\r\n", &body);
        let answer = first(&reply);
        let labels = answer["labelAnnotations"].as_array().unwrap();
        let mut got = Vec::new();
        for label in labels {
            let name = label["description"].as_str().unwrap().to_owned();
            got.push((name, label["score"].as_f64().unwrap() as f32));
        }
        assert_eq!(got, ranking(&image)[..most]);
        assert_eq!(reply.header("x-faultlens-model-version").len(), 12);
    }
}

#[test]
fn objects_come_back_bit_for_bit() {
    let server = RunningServer::of(DETECTOR, "google");
    let image = scene_with_objects();
    let body = request(
        &png(&image),
        json!([{"type": "OBJECT_LOCALIZATION", "maxResults": 99}, {"type": "LABEL_DETECTION"}]),
    );
    let answer = first(&server.post("/v1/projects/p/locations/l/images:annotate", "", &body));
    let got = answer["localizedObjectAnnotations"].as_array().unwrap();
    let wanted = objects(&image);
    assert_eq!(got.len(), wanted.len());
    for (object, (name, found)) in got.iter().zip(&wanted) {
        assert_eq!(object["name"], **name);
        assert_eq!(object["score"].as_f64().unwrap() as f32, found.score);
        let corner = |at: usize, axis: &str, side: usize| {
            let corners = &object["boundingPoly"]["normalizedVertices"];
            (corners[at][axis].as_f64().unwrap() * side as f64) as f32
        };
        let width = image.width();
        let height = image.height();
        let b = found.bounds;
        assert_eq!([corner(0, "x", width), corner(0, "y", height)], [b.left, b.top]);
        assert_eq!([corner(2, "x", width), corner(2, "y", height)], [b.right, b.bottom]);
    }
    let labels = answer["labelAnnotations"].as_array().unwrap();
    assert_eq!(labels[0]["description"], *wanted[0].0);
}

#[test]
fn texts_and_faces_are_reported() {
    let reading = reader("google");
    let body = request(&png(&red_and_green()), json!([{"type": "TEXT_DETECTION"}]));
    let answer = first(&reading.post(PATH, "", &body));
    assert_eq!(answer["textAnnotations"][0]["description"], "rg");
    assert_eq!(answer["fullTextAnnotation"]["text"], "rg");
    let image = (0..40).map(scene).find(|i| objects(i).iter().any(|o| o.1.class == 0)).unwrap();
    let body = request(&png(&image), json!([{"type": "FACE_DETECTION"}]));
    let answer = first(&faces("google").post(PATH, "", &body));
    let wanted = objects(&image).iter().filter(|object| object.1.class == 0).count();
    let found = answer["faceAnnotations"].as_array().unwrap();
    assert_eq!(found.len(), wanted.min(10));
    let surest = objects(&image).into_iter().find(|object| object.1.class == 0).unwrap().1;
    assert_eq!(found[0]["detectionConfidence"].as_f64().unwrap() as f32, surest.score);
    let left = found[0]["boundingPoly"]["vertices"][0]["x"].as_f64().unwrap();
    assert!((left - f64::from(surest.bounds.left)).abs() <= 0.5, "{left}");
}

#[test]
fn one_bad_image_does_not_spoil_the_others() {
    let server = RunningServer::of(CLASSIFIER, "google");
    let labels = json!([{"type": "LABEL_DETECTION"}]);
    let good = json!({"image": {"content": base64(&jpeg(&scene(0)))}, "features": labels});
    let bad = [
        (json!({"image": {"content": "AAAA"}, "features": labels}), "Bad image data"),
        (json!({"image": {"content": "*"}, "features": labels}), "Base64"),
        (json!({"image": {}, "features": labels}), "content"),
        (json!({"image": {"source": {"imageUri": "gs://a/b"}}, "features": labels}), "URL"),
        (json!({"image": good["image"], "features": []}), "features"),
        (
            json!({"image": good["image"], "features": [{"type": "TEXT_DETECTION"}]}),
            "TEXT_DETECTION",
        ),
        (json!({"image": good["image"], "features": [{"type": "SAFE_SEARCH_DETECTION"}]}), "SAFE"),
        (json!({"image": good["image"], "features": [{"type": "NO_SUCH"}]}), "NO_SUCH"),
    ];
    for (bad, wanted) in bad {
        let body = json!({"requests": [bad, good]}).to_string();
        let answer = server.post(PATH, "", body.as_bytes()).json();
        let error = &answer["responses"][0]["error"];
        assert_eq!(error["code"], 3, "{answer}");
        assert!(error["message"].as_str().unwrap().contains(wanted), "{error}");
        assert!(answer["responses"][1]["labelAnnotations"].is_array(), "{answer}");
    }
}

#[test]
fn bad_requests_get_a_status() {
    let server = RunningServer::of(CLASSIFIER, "google");
    let many = json!({"requests": vec![json!({}); 17]}).to_string();
    for (method, path, body, code, status) in [
        ("POST", PATH, "{", 400, "INVALID_ARGUMENT"),
        ("POST", PATH, "[1]", 400, "INVALID_ARGUMENT"),
        ("POST", PATH, many.as_str(), 400, "INVALID_ARGUMENT"),
        ("GET", PATH, "", 404, "NOT_FOUND"),
        ("POST", "/v1/images:annotated", "{}", 404, "NOT_FOUND"),
    ] {
        let reply = server.send(method, path, "", body.as_bytes());
        let error = &reply.json()["error"];
        assert_eq!((reply.status, &error["code"]), (code, &json!(code)), "{method} {path}");
        assert_eq!(error["status"], status);
    }
    let large = server.post(PATH, "", &vec![b' '; (10 << 20) + 1]);
    assert_eq!((large.status, large.json()["error"]["code"].clone()), (400, json!(400)));
}

#[test]
fn keys_and_tokens_are_checked() {
    let server = RunningServer::with(CLASSIFIER, Default::default(), "google", |options| {
        options.keys = vec!["open sesame".to_owned()];
    });
    let body = request(&png(&scene(0)), json!([{"type": "LABEL_DETECTION"}]));
    for (path, headers, status) in [
        (PATH, "", 403),
        ("/v1/images:annotate?key=wrong", "", 400),
        ("/v1/images:annotate?key=open%20sesame", "", 200),
        (PATH, "X-Goog-Api-Key: open sesame\r\n", 200),
        (PATH, "Authorization: Bearer open sesame\r\n", 200),
        (PATH, "Authorization: Bearer wrong\r\n", 401),
    ] {
        let reply = server.post(path, headers, &body);
        assert_eq!(reply.status, status, "{path} {headers}");
        assert!(!String::from_utf8_lossy(&reply.body).contains("sesame"));
    }
}
