//! Misbehaviour, accounts, queues and endings.

use crate::serving::*;
use faultlens_core::Seed;
use faultlens_serve::Ending;
use serde_json::{Value, json};
use std::io::Write as _;
use std::sync::mpsc;
use std::time::{Duration, Instant};

const PATH: &str = "/v1/images:annotate";

fn body() -> Vec<u8> {
    let image = json!({"content": base64(&png(&scene(0)))});
    let features = json!([{"type": "LABEL_DETECTION", "maxResults": 14}]);
    json!({"requests": [{"image": image, "features": features}]}).to_string().into_bytes()
}

fn misbehaving(format: &str, how: &str, seed: u64) -> Serving {
    Serving::with(CLASSIFIER, Default::default(), format, |options| {
        options.misbehaviour = how.parse().unwrap();
        options.seed = Seed::new(seed);
    })
}

#[test]
fn what_was_done_is_drawn_from_the_seed_and_accounted_for() {
    let how = "throttle=0.2,error=0.2,drop=0.15,truncate=0.1,nonsense=0.1";
    let body = body();
    let kinds = |seed| {
        let serving = misbehaving("google", how, seed);
        let kind = |_| {
            let reply = serving.post(PATH, "", &body);
            let read: Result<Value, _> = serde_json::from_slice(&reply.body);
            match (reply.status, reply.whole, read) {
                (429, true, Ok(_)) => {
                    assert_eq!(reply.header("retry-after"), "1");
                    Ending::Throttled
                }
                (500 | 503, true, Ok(_)) => Ending::Failed,
                (_, false, _) => Ending::Dropped,
                (200, true, Err(_)) => Ending::Truncated,
                (200, true, Ok(answer)) if answer["responses"].is_array() => Ending::Answered,
                (200, true, Ok(_)) => Ending::Nonsense,
                other => panic!("{other:?}"),
            }
        };
        let kinds: Vec<Ending> = (0..60).map(kind).collect();
        let account = serving.get("/faultlens/account").json();
        assert_eq!(account["account"]["calls"], 60);
        for &ending in Ending::ALL {
            let seen = kinds.iter().filter(|&&kind| kind == ending).count();
            assert_eq!(account["account"]["ended"][ending.name()], seen, "{ending:?} {account}");
        }
        kinds
    };
    let first = kinds(1);
    assert_eq!(first, kinds(1));
    assert_ne!(first, kinds(2));
    for ending in [Ending::Throttled, Ending::Failed, Ending::Dropped, Ending::Truncated] {
        assert!(first.contains(&ending), "{ending:?}");
    }
}

#[test]
fn every_format_throttles_and_fails_in_its_own_words() {
    for (format, throttled, key) in [
        ("azure", 429, "error"),
        ("google", 429, "error"),
        ("ibm", 429, "message"),
        ("kserve", 429, "error"),
        ("rekognition", 400, "__type"),
    ] {
        let reply = misbehaving(format, "throttle=1", 1).post("/", "", b"{}");
        assert_eq!(reply.status, throttled, "{format}");
        assert!(!reply.json()[key].is_null(), "{format} {}", reply.json());
        assert_eq!(reply.header("retry-after"), "1", "{format}");
        let reply = misbehaving(format, "error=1", 1).post("/", "", b"{}");
        assert!(reply.status >= 500 && !reply.json()[key].is_null(), "{format}");
    }
}

#[test]
fn after_a_drift_another_model_seems_to_answer() {
    let serving = misbehaving("google", "drift=2", 1);
    let answers: Vec<(String, Value)> = (0..4)
        .map(|_| serving.post(PATH, "", &body()))
        .map(|reply| (reply.header("x-faultlens-model-version").to_owned(), reply.json()))
        .collect();
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[2], answers[3]);
    assert_ne!(answers[1].0, answers[2].0);
    assert_ne!(answers[1].1, answers[2].1);
    let account = serving.get("/faultlens/account").json();
    assert_eq!(account["account"]["drifted"], 2);
}

#[test]
fn latency_delays_and_a_stall_never_answers() {
    let slow = misbehaving("google", "latency=150ms", 1);
    let begun = Instant::now();
    assert_eq!(slow.post(PATH, "", &body()).status, 200);
    assert!(begun.elapsed() >= Duration::from_millis(150));

    let mut stalled = misbehaving("google", "stall=1", 1);
    let mut stream = stalled.connect();
    stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n").unwrap();
    assert_eq!(read(stream).status, 0, "nothing comes");
    stalled.end();
    assert_eq!(stalled.account.ended(Ending::Stalled), 1);
}

#[test]
fn what_is_in_flight_is_answered_before_the_end() {
    let mut serving = misbehaving("google", "latency=400ms", 1);
    let mut stream = serving.connect();
    let body = body();
    let head = format!("POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    serving.end();
    let reply = read(stream);
    assert!(reply.status == 200 && reply.whole, "{reply:?}");
    assert!(std::net::TcpStream::connect(serving.address).is_err(), "nobody listens any more");
}

#[test]
fn more_than_the_queue_holds_is_told_to_come_back() {
    let mut model = faultlens_engine::onnx::ModelBuilder::new("slow");
    model.input("x", faultlens_core::DType::F32, &["N".into(), 3.into(), 64.into(), 64.into()]);
    for layer in 0..200 {
        let from = if layer == 0 { "x".to_owned() } else { format!("y{layer}") };
        model.node("Softplus", &[&from], &[&format!("y{}", layer + 1)]);
    }
    model.node("ReduceMean", &["y200"], &["y"]).attr_ints("axes", &[2, 3]).attr_i("keepdims", 0);
    model.output("y", faultlens_core::DType::F32, &["N".into(), 3.into()]);
    let path = file("slow.onnx", faultlens_engine::onnx::encode(&model.build()));
    let written = faultlens_targets::PartialDescription {
        input: Some(serde_json::from_str(r#"{"size": [64, 64]}"#).unwrap()),
        output: Some(serde_json::from_str(r#"{"kind": "probabilities"}"#).unwrap()),
        labels: None,
    };
    let serving = Serving::with(path.to_str().unwrap(), written, "google", |options| {
        options.threads = 1;
    });
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let ask = || serving.post(PATH, "", &body()).status;
        let asking: Vec<_> = (0..150).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let busy = statuses.iter().filter(|&&status| status == 503).count();
    assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
    assert!(busy > 0, "65 places for 150 calls");
    assert_eq!(serving.account.ended(Ending::Busy), busy as u64);
}

#[test]
fn the_log_has_a_line_per_call_and_no_credentials() {
    let (log, lines) = mpsc::channel();
    let mut serving = Serving::with(CLASSIFIER, Default::default(), "google", |options| {
        options.keys = vec!["sesame".to_owned()];
        options.log = Some(log);
    });
    serving.post("/v1/images:annotate?key=sesame", "", &body());
    serving.post(PATH, "Authorization: Bearer sesame-street\r\n", &body());
    serving.end();
    let lines: Vec<String> = lines.iter().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("0 POST /v1/images:annotate 200 answered "), "{lines:?}");
    assert!(lines[1].starts_with("1 POST /v1/images:annotate 401 refused "), "{lines:?}");
    assert!(!lines.concat().contains("sesame"));
}

#[test]
fn rubbish_on_the_wire_harms_nobody() {
    let serving = Serving::of(CLASSIFIER, "google");
    for rubbish in
        [&b"\x16\x03\x01\x02\0\x01\0"[..], b"GET\r\n\r\n", b"POST / HTTP/9.9\r\n\r\n", b""]
    {
        let mut stream = serving.connect();
        stream.write_all(rubbish).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(read(stream).status != 200);
    }
    let mut half = serving.connect();
    half.write_all(b"POST /v1/images:annotate HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{")
        .unwrap();
    drop(half);
    assert_eq!(serving.post(PATH, "", &body()).status, 200);
}
