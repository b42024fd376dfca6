//! Misbehaviour on purpose, and how it is counted.

use crate::running_server::*;
use faultlens_core::Seed;
use faultlens_serve::Ending;
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::{Duration, Instant};

pub(crate) const PATH: &str = "/v1/images:annotate";

pub(crate) fn body() -> Vec<u8> {
    let image = json!({"content": base64(&png(&scene(0)))});
    let features = json!([{"type": "LABEL_DETECTION", "maxResults": 14}]);
    json!({"requests": [{"image": image, "features": features}]}).to_string().into_bytes()
}

pub(crate) fn misbehaving(format: &str, how: &str, seed: u64) -> RunningServer {
    RunningServer::with(CLASSIFIER, Default::default(), format, |options| {
        options.misbehaviour = how.parse().unwrap();
        options.seed = Seed::new(seed);
    })
}

/// How a call ended, as far as the client can tell.
fn ending_of(reply: &Reply) -> Ending {
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
}

/// The endings of 60 calls to a misbehaving server, which must agree with its own counts.
fn endings(seed: u64) -> Vec<Ending> {
    let how = "throttle=0.2,error=0.2,drop=0.15,truncate=0.1,nonsense=0.1";
    let server = misbehaving("google", how, seed);
    let body = body();
    let endings: Vec<Ending> = (0..60).map(|_| ending_of(&server.post(PATH, "", &body))).collect();
    let account = server.get("/faultlens/account").json();
    assert_eq!(account["account"]["calls"], 60);
    for &ending in Ending::ALL {
        let seen = endings.iter().filter(|&&one| one == ending).count();
        assert_eq!(account["account"]["ended"][ending.name()], seen, "{ending:?} {account}");
    }
    endings
}

#[test]
fn misbehaviour_is_drawn_from_the_seed_and_counted() {
    let first = endings(1);
    assert_eq!(first, endings(1));
    assert_ne!(first, endings(2));
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
    let server = misbehaving("google", "drift=2", 1);
    let answers: Vec<(String, Value)> = (0..4)
        .map(|_| server.post(PATH, "", &body()))
        .map(|reply| (reply.header("x-faultlens-model-version").to_owned(), reply.json()))
        .collect();
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[2], answers[3]);
    assert_ne!(answers[1].0, answers[2].0);
    assert_ne!(answers[1].1, answers[2].1);
    let account = server.get("/faultlens/account").json();
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
    stalled.wait_for_calls(1);
    assert_eq!(read(stream).status, 0, "no response");
    stalled.end();
    assert_eq!(stalled.counts.ended(Ending::Stalled), 1);
}
