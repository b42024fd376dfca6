//! Amazon Rekognition.

use crate::running_server::*;
use serde_json::{Value, json};

fn ask(server: &RunningServer, operation: &str, body: &Value) -> Reply {
    let headers = format!(
        "X-Amz-Target: RekognitionService.{operation}\r\nContent-Type: \
            application/x-amz-json-1.1\r\n"
    );
    server.post("/", &headers, body.to_string().as_bytes())
}

fn image(bytes: &[u8]) -> Value {
    json!({"Bytes": base64(bytes)})
}

#[test]
fn labels_come_back_bit_for_bit() {
    let server = RunningServer::of(CLASSIFIER, "rekognition");
    let shown = scene(0);
    let body = json!({"Image": image(&png(&shown)), "MinConfidence": 0, "MaxLabels": 12});
    let answer = ask(&server, "DetectLabels", &body).json();
    let mut got = Vec::new();
    for label in answer["Labels"].as_array().unwrap() {
        let confidence = label["Confidence"].as_f64().unwrap();
        got.push((label["Name"].as_str().unwrap().to_owned(), (confidence / 100.0) as f32));
    }
    assert_eq!(got, ranking(&shown)[..12]);
    assert_eq!(answer["LabelModelVersion"].as_str().unwrap().len(), 12);
    let sure = ranking(&shown).iter().filter(|label| label.1 >= 0.55).count();
    let answer = ask(&server, "DetectLabels", &json!({"Image": image(&png(&shown))})).json();
    assert_eq!(answer["Labels"].as_array().unwrap().len(), sure);
    let body = json!({"Image": image(&png(&shown)), "MinConfidence": 0});
    let answer = ask(&server, "DetectModerationLabels", &body).json();
    assert_eq!(answer["ModerationLabels"][0]["Name"], *ranking(&shown)[0].0);
    assert!(answer["ModerationModelVersion"].is_string());
    let answer = ask(&server, "RecognizeCelebrities", &body).json();
    assert_eq!(answer["CelebrityFaces"][0]["Name"], *ranking(&shown)[0].0);
}

#[test]
fn instances_carry_their_boxes_bit_for_bit() {
    let server = RunningServer::of(DETECTOR, "rekognition");
    let shown = scene_with_objects();
    let body = json!({"Image": image(&png(&shown)), "MinConfidence": 0});
    let answer = ask(&server, "DetectLabels", &body).json();
    let mut got = Vec::new();
    for label in answer["Labels"].as_array().unwrap() {
        for instance in label["Instances"].as_array().unwrap() {
            let side = |name: &str| instance["BoundingBox"][name].as_f64().unwrap();
            let width = shown.width() as f64;
            let height = shown.height() as f64;
            let sides = [
                side("Left") * width,
                side("Top") * height,
                (side("Left") + side("Width")) * width,
                (side("Top") + side("Height")) * height,
            ];
            let score = instance["Confidence"].as_f64().unwrap() / 100.0;
            let name = label["Name"].as_str().unwrap().to_owned();
            got.push((name, score as f32, sides.map(|side| side as f32)));
        }
    }
    let mut wanted: Vec<(String, f32, [f32; 4])> = objects(&shown)
        .into_iter()
        .map(|(name, o)| {
            (name, o.score, [o.bounds.left, o.bounds.top, o.bounds.right, o.bounds.bottom])
        })
        .collect();
    got.sort_by(|a, b| b.1.total_cmp(&a.1));
    wanted.sort_by(|a, b| b.1.total_cmp(&a.1));
    assert_eq!(got, wanted);
}

#[test]
fn texts_and_faces_are_told() {
    let shown = red_and_green();
    let answer = ask(&reader("rekognition"), "DetectText", &json!({"Image": image(&png(&shown))}));
    let texts = answer.json()["TextDetections"].clone();
    assert_eq!((&texts[0]["DetectedText"], &texts[0]["Type"]), (&json!("rg"), &json!("LINE")));
    assert_eq!((&texts[1]["Type"], &texts[1]["ParentId"]), (&json!("WORD"), &json!(0)));
    let shown = (0..40).map(scene).find(|i| objects(i).iter().any(|o| o.1.class == 0)).unwrap();
    let answer = ask(&faces("rekognition"), "DetectFaces", &json!({"Image": image(&png(&shown))}));
    let wanted = objects(&shown).iter().filter(|object| object.1.class == 0).count();
    assert_eq!(answer.json()["FaceDetails"].as_array().unwrap().len(), wanted);
}

#[test]
fn errors_are_amazons() {
    let server = RunningServer::of(CLASSIFIER, "rekognition");
    let good = image(&png(&scene(0)));
    let mut large = png(&grey(100, 100));
    large.resize((5 << 20) + 1, 0);
    let mut bitmap = b"BM".to_vec();
    bitmap.resize(100, 0);
    for (operation, body, wanted) in [
        ("DetectLabels", json!({"Image": image(b"no image")}), "InvalidImageFormatException"),
        ("DetectLabels", json!({"Image": image(&bitmap)}), "InvalidImageFormatException"),
        ("DetectLabels", json!({"Image": image(&large)}), "ImageTooLargeException"),
        (
            "DetectLabels",
            json!({"Image": image(&png(&grey(79, 200)))}),
            "InvalidParameterException",
        ),
        ("DetectLabels", json!({"Image": {}}), "InvalidParameterException"),
        ("DetectLabels", json!({"Image": {"S3Object": {}}}), "InvalidS3ObjectException"),
        ("DetectLabels", json!({"Image": {"Bytes": "*"}}), "SerializationException"),
        ("DetectLabels", json!({}), "InvalidParameterException"),
        ("DetectLabels", json!({"Image": good, "MinConfidence": 101}), "InvalidParameterException"),
        ("DetectLabels", json!({"Image": good, "MaxLabels": -1}), "InvalidParameterException"),
        ("DetectText", json!({"Image": good}), "InvalidParameterException"),
        ("DetectFaces", json!({"Image": good}), "InvalidParameterException"),
        ("DetectCats", json!({"Image": good}), "UnknownOperationException"),
    ] {
        let reply = ask(&server, operation, &body);
        assert_eq!(reply.status, 400, "{operation} {wanted}");
        assert_eq!(reply.json()["__type"], wanted, "{}", reply.json());
        assert_eq!(reply.header("x-amzn-errortype"), wanted);
    }
    let target = "X-Amz-Target: RekognitionService.DetectLabels\r\n";
    let broken = server.post("/", target, b"{\"Image\":");
    assert_eq!(broken.json()["__type"], "SerializationException");
    assert_eq!(server.get("/").status, 404);
    assert_eq!(server.post("/other", target, b"{}").status, 404);
    let flood = server.post("/", target, &vec![b' '; (8 << 20) + 1]);
    assert_eq!(flood.json()["__type"], "ImageTooLargeException");
}

#[test]
fn signatures_are_checked() {
    let server = RunningServer::with(CLASSIFIER, Default::default(), "rekognition", |options| {
        options.keys = vec!["AKID:secret".to_owned()];
    });
    let claim = |id: &str, date: &str| {
        format!(
            "X-Amz-Date: {date}T000000Z\r\nAuthorization: AWS4-HMAC-SHA256 \
                Credential={id}/{date}/eu-west-1/rekognition/aws4_request, \
                SignedHeaders=host;x-amz-date, Signature=00\r\n"
        )
    };
    for (headers, wanted) in [
        (String::new(), "MissingAuthenticationTokenException"),
        ("Authorization: Bearer x\r\n".to_owned(), "IncompleteSignatureException"),
        (claim("OTHER", "20200101"), "UnrecognizedClientException"),
        (claim("AKID", "20200101"), "InvalidSignatureException"),
        (claim("AKID", "21000101"), "InvalidSignatureException"),
    ] {
        let reply = server.post("/", &headers, b"{}");
        assert_eq!((reply.status, &reply.json()["__type"]), (400, &json!(wanted)), "{headers}");
        assert!(!String::from_utf8_lossy(&reply.body).contains("secret"));
    }
    let late = server.post("/", &claim("AKID", "20200101"), b"{}").json();
    assert!(late["message"].as_str().unwrap().starts_with("Signature expired: 20200101T000000Z"));
}
