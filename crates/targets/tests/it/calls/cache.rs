//! Answers are cached, so that none is paid for twice; limits hold over all threads.

use super::number_wire::{MaybeKey, connector, image, limits, number_body, spec, target};
use super::server::{Reply, Server};
use faultlens_core::{Image, Response, Target, TargetError};
use faultlens_targets::service::{Codec, Limits, ServiceLabels, ServiceSpec, ServiceTarget};
use std::path::Path;
use std::sync::Barrier;
use std::time::{Duration, Instant};

fn value(target: &ServiceTarget, number: u8) -> f32 {
    let Response::Values(values) = target.ask(&image(number)).unwrap() else { panic!("a number") };
    values[0]
}

/// A server that answers with the number of the request.
fn counting_server() -> Server {
    Server::start(|number, _| Reply::With(200, "", number_body(number as f32)))
}

#[test]
fn an_answer_is_paid_for_once_and_found_by_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("answers");
    let log = folder.path().join("calls.jsonl");
    let server = counting_server();
    let first = target(&server, limits());
    first.attach(&cache, &log).unwrap();
    let asked: Vec<f32> = [1, 2, 1, 3, 2].map(|number| value(&first, number)).to_vec();
    assert_eq!(asked, [0.0, 1.0, 0.0, 2.0, 1.0]);
    let second = target(&server, limits());
    second.attach(&cache, &log).unwrap();
    assert_eq!([3, 2, 1].map(|number| value(&second, number)), [2.0, 1.0, 0.0]);
    assert_eq!(server.count(), 3);
    let stats = second.call_stats();
    assert_eq!((stats.cached, stats.process.calls, stats.campaign.calls), (3, 0, 3));
    assert_eq!(stats.campaign.money, 0.75);
    assert_eq!(first.call_stats().campaign.answered, 3);
    assert_eq!(second.versions().into_iter().collect::<Vec<_>>(), ["1"]);
    let request = &server.received()[0];
    assert!(request.head.starts_with("POST /ask HTTP/1.1\r\n"), "{}", request.head);
    assert!(request.body.starts_with(b"\x89PNG"));
}

#[test]
fn without_a_folder_nothing_is_cached() {
    let server = counting_server();
    let target = target(&server, limits());
    assert_eq!([value(&target, 1), value(&target, 1)], [0.0, 1.0]);
    assert_eq!(target.ask_again(&image(1)), Ok(None));
    assert_eq!(target.call_stats().process.calls, 2);
}

#[test]
fn a_rejected_image_is_cached_too() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, _| Reply::With(400, "", "too\nsmall".to_owned()));
    let target = target(&server, limits());
    target.attach(&folder.path().join("a"), &folder.path().join("l")).unwrap();
    for _ in 0..2 {
        assert_eq!(target.ask(&image(1)), Err(TargetError::Rejected("too small".to_owned())));
    }
    assert_eq!((server.count(), target.call_stats().process.refused), (1, 1));
}

#[test]
fn a_request_in_flight_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let server = counting_server();
    let target = target(&server, limits());
    target.attach(&folder.path().join("a"), &folder.path().join("l")).unwrap();
    let start = Barrier::new(6);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                start.wait();
                assert_eq!(value(&target, 7), 0.0);
            });
        }
    });
    assert_eq!((server.count(), target.call_stats().cached), (1, 5));
}

#[test]
fn a_service_that_has_changed_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let answers = ["5, \"version\": \"1\"", "5, \"version\": \"2\"", "6", "7"];
    let server = Server::start(move |number, _| {
        Reply::With(200, "", format!("{{\"value\": {}}}", answers[number]))
    });
    let target = target(&server, limits());
    target.attach(&folder.path().join("a"), &folder.path().join("l")).unwrap();
    assert_eq!(value(&target, 1), 5.0);
    assert_eq!(target.ask_again(&image(1)), Ok(Some(true)));
    assert_eq!(target.ask_again(&image(1)), Ok(Some(false)));
    assert_eq!(value(&target, 1), 5.0, "the cached answer stays");
    assert_eq!(target.versions().len(), 2);
    assert_eq!(server.count(), 3);
}

/// Asks about eight images from eight threads.
fn ask_at_once(target: &ServiceTarget) {
    std::thread::scope(|scope| {
        for number in 0..8 {
            scope.spawn(move || value(target, number));
        }
    });
}

#[test]
fn the_concurrency_limit_holds_over_all_threads() {
    // Requests are answered in pairs: with fewer than two in flight, the test would not end.
    let pair = Barrier::new(2);
    let server = Server::start(move |_, _| {
        pair.wait();
        Reply::With(200, "", number_body(0.0))
    });
    ask_at_once(&target(&server, Limits { concurrency: 2, ..limits() }));
    assert_eq!((server.count(), server.max_in_flight()), (8, 2));
}

#[test]
fn the_rate_limit_holds_over_all_threads() {
    let server = counting_server();
    let target = target(&server, Limits { concurrency: 8, rate: Some(50.0), ..limits() });
    let started = Instant::now();
    ask_at_once(&target);
    // The first call starts at once, seven more 20 ms apart; sleeps are never too short.
    assert!(started.elapsed() >= Duration::from_millis(7 * 20), "{:?}", started.elapsed());
    assert!(target.call_stats().process.seconds_waited > 0.0);
}

fn key(change: impl Fn(&mut ServiceSpec)) -> String {
    let mut spec = spec(limits());
    change(&mut spec);
    let connector = connector("http://127.0.0.1:1", MaybeKey(true));
    ServiceTarget::new(&spec, connector).unwrap().key()
}

#[test]
fn the_key_hashes_what_decides_answers_and_nothing_else() {
    let plain = key(|_| ());
    assert_eq!(plain.len(), 64);
    assert_eq!(plain, key(|spec| spec.limits.rate = Some(3.0)));
    assert_eq!(plain, key(|spec| spec.profile = Some("work".to_owned())));
    for other in [
        key(|spec| spec.codec = Codec::Jpeg(90)),
        key(|spec| spec.labels = ServiceLabels::Only(vec!["cat".to_owned()])),
        key(|spec| spec.max_labels = 3),
        key(|spec| spec.model = Some("m".to_owned())),
    ] {
        assert_ne!(plain, other);
    }
    let elsewhere = connector("http://127.0.0.1:2", MaybeKey(true));
    assert_ne!(plain, ServiceTarget::new(&spec(limits()), elsewhere).unwrap().key());
}

/// Trials hash the key: these are the SHA-256 sums of the JSON that the first release hashed, so
/// that its runs can be resumed and its records compared.
#[test]
fn keys_are_those_of_the_first_release() {
    for (spec, wanted) in [
        (
            r#"{"provider": "google", "endpoint": "http://127.0.0.1:9"}"#,
            "5d2b3783b86d403be9105610edbb329e7d9b855603defc5887e26d227ce8d162",
        ),
        (
            r#"{"provider": "google", "task": "moderation", "endpoint": "http://127.0.0.1:9",
                "labels": ["Adult", "racy"], "max_labels": 3, "min_confidence": 0.25,
                "codec": {"jpeg": 90}, "limits": {"rate": 3.0}}"#,
            "63040e4724c36ab3d293a0316ce5a5236adc354459539ec9ab923880f880f2b4",
        ),
        (
            r#"{"provider": "http", "endpoint": "http://127.0.0.1:9",
                "template": {"label": "l", "score": "s", "answers": "r"}}"#,
            "03e068d5c958a4219a251a44647cb461b53dac94171ae8d74ce033d669b20680",
        ),
    ] {
        let spec: ServiceSpec = serde_json::from_str(spec).unwrap();
        let target = ServiceTarget::open(&spec, Path::new(".")).unwrap();
        assert_eq!(target.key(), wanted, "{spec:?}");
    }
}

/// An image as large as models see them, and as hard to compress as photos are.
fn photo(number: u32) -> Image {
    let mut rgb = Vec::new();
    for at in 0..224 * 224 * 3_u32 {
        let noise = ((at + number).wrapping_mul(2_654_435_761) >> 24) as u8 / 4;
        rgb.push(noise + (at / 3000) as u8);
    }
    Image::from_rgb(224, 224, rgb).unwrap()
}

#[test]
fn photos_are_sent_once() {
    let folder = tempfile::tempdir().unwrap();
    let server = counting_server();
    let target = target(&server, limits());
    target.attach(&folder.path().join("a"), &folder.path().join("l")).unwrap();
    let photos: Vec<Image> = (0..20).map(photo).collect();
    for _ in 0..2 {
        for photo in &photos {
            assert!(target.ask(photo).is_ok());
        }
    }
    assert_eq!((server.count(), target.call_stats().cached), (20, 20));
}
