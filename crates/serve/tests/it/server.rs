//! The server itself: its end, its queue, its log, and bytes that are no HTTP.

use crate::misbehaviour::{PATH, body, misbehaving};
use crate::running_server::*;
use faultlens_core::DType;
use faultlens_engine::onnx::{ModelBuilder, encode};
use faultlens_serve::Ending;
use faultlens_targets::PartialDescription;
use std::io::Write as _;
use std::sync::mpsc;

#[test]
fn calls_in_flight_are_answered_before_the_end() {
    let mut server = misbehaving("google", "latency=400ms", 1);
    let mut stream = server.connect();
    let body = body();
    let head = format!("POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body).unwrap();
    server.wait_for_calls(1);
    server.end();
    let reply = read(stream);
    assert!(reply.status == 200 && reply.whole, "{reply:?}");
    assert!(std::net::TcpStream::connect(server.address).is_err(), "the port is closed");
}

#[test]
fn calls_beyond_the_queue_are_answered_with_busy() {
    let mut model = ModelBuilder::new("slow");
    model.input("x", DType::F32, &["N".into(), 3.into(), 64.into(), 64.into()]);
    for layer in 0..200 {
        let from = if layer == 0 { "x".to_owned() } else { format!("y{layer}") };
        model.node("Softplus", &[&from], &[&format!("y{}", layer + 1)]);
    }
    model.node("ReduceMean", &["y200"], &["y"]).attr_ints("axes", &[2, 3]).attr_i("keepdims", 0);
    model.output("y", DType::F32, &["N".into(), 3.into()]);
    let path = file("slow.onnx", encode(&model.build()));
    let given = PartialDescription {
        input: Some(serde_json::from_str(r#"{"size": [64, 64]}"#).unwrap()),
        output: Some(serde_json::from_str(r#"{"kind": "probabilities"}"#).unwrap()),
        labels: None,
    };
    let server = RunningServer::with(path.to_str().unwrap(), given, "google", |options| {
        options.threads = 1;
        // All calls arrive while the first ones wait, and ask for the model at once.
        options.misbehaviour = "latency=1s".parse().unwrap();
    });
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let clients: Vec<_> =
            (0..150).map(|_| scope.spawn(|| server.post(PATH, "", &body()).status)).collect();
        clients.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let busy = statuses.iter().filter(|&&status| status == 503).count();
    assert!(statuses.iter().all(|status| [200, 503].contains(status)), "{statuses:?}");
    assert!(busy > 0, "65 places for 150 calls");
    assert_eq!(server.counts.ended(Ending::Busy), busy as u64);
}

#[test]
fn the_log_has_a_line_per_call_and_no_credentials() {
    let (log, lines) = mpsc::channel();
    let mut server = RunningServer::with(CLASSIFIER, Default::default(), "google", |options| {
        options.keys = vec!["sesame".to_owned()];
        options.log = Some(log);
    });
    server.post("/v1/images:annotate?key=sesame", "", &body());
    server.post(PATH, "Authorization: Bearer sesame-street\r\n", &body());
    server.end();
    let lines: Vec<String> = lines.iter().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(lines[0].starts_with("0 POST /v1/images:annotate 200 answered "), "{lines:?}");
    assert!(lines[1].starts_with("1 POST /v1/images:annotate 401 refused "), "{lines:?}");
    assert!(!lines.concat().contains("sesame"));
}

#[test]
fn rubbish_on_the_wire_does_no_harm() {
    let server = RunningServer::of(CLASSIFIER, "google");
    for rubbish in
        [&b"\x16\x03\x01\x02\0\x01\0"[..], b"GET\r\n\r\n", b"POST / HTTP/9.9\r\n\r\n", b""]
    {
        let mut stream = server.connect();
        stream.write_all(rubbish).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert!(read(stream).status != 200);
    }
    let mut half = server.connect();
    half.write_all(b"POST /v1/images:annotate HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{")
        .unwrap();
    drop(half);
    assert_eq!(server.post(PATH, "", &body()).status, 200);
}
