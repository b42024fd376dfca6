//! A server on a free port, and a client that sends exactly the given bytes.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use faultlens_core::{Detection, Image, Response, Seed, Target};
use faultlens_data::{encode_jpeg, encode_png};
use faultlens_serve::{CallCounts, Format, Options, ServedModel, Server, Stopper};
use faultlens_targets::{OnnxTarget, PartialDescription};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

pub(crate) const CLASSIFIER: &str = "world:signs-shallow";
pub(crate) const DETECTOR: &str = "world:detector";

/// A server that runs until the test is over.
pub(crate) struct RunningServer {
    pub(crate) address: SocketAddr,
    pub(crate) counts: Arc<CallCounts>,
    stopper: Stopper,
    thread: Option<JoinHandle<()>>,
}

/// What was received before the connection ended or the response was complete.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    /// Whether the body has the announced length.
    pub(crate) whole: bool,
}

impl RunningServer {
    pub(crate) fn of(model: &str, format: &str) -> Self {
        Self::with(model, PartialDescription::default(), format, |_| {})
    }

    pub(crate) fn with(
        model: &str,
        given: PartialDescription,
        format: &str,
        change: impl FnOnce(&mut Options),
    ) -> Self {
        let served = ServedModel::open(Path::new(model), given).unwrap();
        let mut options = Options {
            format: Format::find(format).unwrap(),
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            threads: 2,
            keys: Vec::new(),
            misbehaviour: Default::default(),
            seed: Seed::new(7),
            log: None,
        };
        change(&mut options);
        let server = Server::bind(served, options).unwrap();
        let address = server.address().unwrap();
        let counts = server.counts();
        let stopper = server.stopper();
        let thread = Some(std::thread::spawn(move || server.run().unwrap()));
        Self { address, counts, stopper, thread }
    }

    /// Sends a request; headers are lines.
    pub(crate) fn send(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
        let mut stream = self.connect();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \
                {length}\r\n{headers}\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        // A server that has read enough may respond and close before all is sent.
        let _ = stream.write_all(body);
        read(stream)
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.send("GET", path, "", b"")
    }

    pub(crate) fn post(&self, path: &str, headers: &str, body: &[u8]) -> Reply {
        self.send("POST", path, headers, body)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    /// Waits until so many calls have begun.
    pub(crate) fn wait_for_calls(&self, calls: u64) {
        while self.counts.calls() < calls {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Stops the server and waits for its end.
    pub(crate) fn end(&mut self) {
        self.stopper.stop();
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Drop for RunningServer {
    fn drop(&mut self) {
        self.stopper.stop();
    }
}

/// Reads until the server closes.
pub(crate) fn read(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    // What was received before a reset counts.
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n");
    let (head, body) = match end {
        Some(at) => (String::from_utf8(bytes[..at].to_vec()).unwrap(), bytes[at + 4..].to_vec()),
        None => (String::new(), Vec::new()),
    };
    let status = head.split(' ').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    let mut reply = Reply { status, head, body, whole: false };
    reply.whole = reply.header("content-length").parse() == Ok(reply.body.len());
    reply
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> &str {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut found = lines.filter(|(key, _)| key.eq_ignore_ascii_case(name));
        found.next().map_or("", |(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {} {text}", self.head))
    }
}

/// A road scene of 128×128 pixels.
pub(crate) fn scene(number: u64) -> Image {
    faultlens_world::scene(Seed::new(1).child(faultlens_world::TEST), number).case.image
}

pub(crate) fn png(image: &Image) -> Vec<u8> {
    encode_png(image).unwrap()
}

pub(crate) fn jpeg(image: &Image) -> Vec<u8> {
    encode_jpeg(image, 95).unwrap()
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// An image of one colour.
pub(crate) fn grey(width: usize, height: usize) -> Image {
    Image::from_rgb(width, height, vec![128; width * height * 3]).unwrap()
}

/// The classifier's ranking without a service in between: names and probabilities, best first.
pub(crate) fn ranking(image: &Image) -> Vec<(String, f32)> {
    let output = serde_json::from_str(r#"{"kind": "logits", "softmax": true}"#).unwrap();
    let given = PartialDescription { output: Some(output), ..PartialDescription::default() };
    let target = OnnxTarget::open(Path::new(CLASSIFIER), given).unwrap();
    let Response::Scores(scores) = target.ask(image).unwrap() else { panic!("a classifier") };
    let ranking = scores.ranking();
    ranking.places().iter().map(|place| (place.label.clone(), place.score)).collect()
}

/// The detector's objects without a service in between.
pub(crate) fn objects(image: &Image) -> Vec<(String, Detection)> {
    let target = OnnxTarget::open(Path::new(DETECTOR), PartialDescription::default()).unwrap();
    let Response::Detections(all) = target.ask(image).unwrap() else { panic!("a detector") };
    all.found.iter().map(|&found| (all.name(found.class), found)).collect()
}

/// The first scene in which the detector finds several objects.
pub(crate) fn scene_with_objects() -> Image {
    (0..20).map(scene).find(|image| objects(image).len() >= 2).unwrap()
}

/// A file that one test uses.
pub(crate) fn file(name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The detector with its first class called `face`.
pub(crate) fn faces(format: &str) -> RunningServer {
    let labels = file(&format!("faces-{format}.txt"), "face\nsign\ntruck\n");
    let given = PartialDescription { labels: Some(labels), ..PartialDescription::default() };
    RunningServer::with(DETECTOR, given, format, |_| {})
}

/// A model that reads its picture's rows as letters: red is `r`, and a line of one colour is one
/// letter.
pub(crate) fn reader(format: &str) -> RunningServer {
    use faultlens_core::DType;
    use faultlens_engine::onnx::{ModelBuilder, encode};

    let mut model = ModelBuilder::new("rows");
    model.input("image", DType::F32, &["N".into(), 3.into(), 8.into(), 8.into()]);
    model.node("ReduceMean", &["image"], &["rows"]).attr_ints("axes", &[3]).attr_i("keepdims", 0);
    model.output("rows", DType::F32, &["N".into(), 3.into(), 8.into()]);
    let path = file(&format!("reader-{format}.onnx"), encode(&model.build()));
    let labels = file(&format!("reader-{format}.txt"), "r\ng\nb\n");
    let output = r#"{"kind": "text", "steps_axis": 2, "blank": 2}"#;
    let given = PartialDescription {
        input: Some(serde_json::from_str(r#"{"size": [8, 8]}"#).unwrap()),
        output: Some(serde_json::from_str(output).unwrap()),
        labels: Some(labels),
    };
    RunningServer::with(path.to_str().unwrap(), given, format, |_| {})
}

/// Red above green, on which [`reader`] reads `rg`.
pub(crate) fn red_and_green() -> Image {
    let half = 100 * 50;
    Image::from_rgb(100, 100, [[255, 0, 0].repeat(half), [0, 255, 0].repeat(half)].concat())
        .unwrap()
}
