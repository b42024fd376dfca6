//! The same over HTTP.

use crate::made::{at, index, study, tokens};
use faultlens_human_study::{Desk, Server, Status, Stopper, StudyError};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;

struct Serving {
    address: SocketAddr,
    stopper: Stopper,
    thread: Option<JoinHandle<Result<(), StudyError>>>,
    token: String,
    invite: String,
}

struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn json(&self) -> Value {
        assert_eq!(self.status, 200, "{}", String::from_utf8_lossy(&self.body));
        serde_json::from_slice(&self.body).unwrap()
    }

    fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }
}

impl Serving {
    fn of(dir: &TempDir) -> Self {
        let mut desk = Desk::open(&at(dir)).unwrap();
        let (token, invite) = (tokens(&mut desk, 1).remove(0), desk.invite().unwrap());
        let server = Server::bind(desk, SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let (address, stopper) = (server.address().unwrap(), server.stopper());
        let thread = Some(std::thread::spawn(move || server.run()));
        Self { address, stopper, thread, token, invite }
    }

    fn send(&self, method: &str, path: &str, body: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nUser-Agent: \
             Curious/1.0\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        // A server that has heard enough may answer and close before all is sent.
        let _ = stream.write_all(body);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap().to_lowercase();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Reply { status, head, body: bytes[end + 4..].to_vec() }
    }

    fn get(&self, path: &str) -> Reply {
        self.send("GET", path, b"")
    }

    /// What the page asks for.
    fn mine(&self, what: &str) -> String {
        format!("/p/{}{what}", self.token)
    }

    fn post(&self, what: &str, body: &Value) -> Reply {
        self.send("POST", &self.mine(what), body.to_string().as_bytes())
    }

    fn end(mut self) {
        self.stopper.stop();
        self.thread.take().unwrap().join().unwrap().unwrap();
    }
}

#[test]
fn a_picture_is_asked_for_shown_and_answered() {
    let dir = study(18);
    let serving = Serving::of(&dir);
    let page = serving.get(&serving.mine(""));
    assert!(page.status == 200 && page.text().contains("/page.js"));
    assert!(page.head.contains("content-security-policy: default-src 'none'"));
    assert!(page.head.contains("referrer-policy: no-referrer"));
    for file in ["/icon.svg", "/study.css", "/page.js", "/stage.js", "/wire.js"] {
        assert_eq!(serving.get(file).status, 200, "{file}");
    }
    assert_eq!(serving.get(&serving.mine("/step")).json()["next"]["phase"], "welcome");
    let step = serving.post("/on", &json!({})).json();
    assert_eq!(
        (&step["next"]["phase"], &step["next"]["purpose"]),
        (&json!("trials"), &json!("qualification"))
    );
    let files: Vec<String> = serde_json::from_value(step["next"]["pictures"].clone()).unwrap();
    let picture = serving.get(&serving.mine(&format!("/picture/{}", files[0])));
    assert!(picture.status == 200 && picture.body.starts_with(b"\x89PNG"));
    assert!(picture.head.contains("cache-control: no-store"));
    let trial = json!({"batch": 0, "trial": 0});
    // The first reply got lost on the way, and the page asks again.
    assert_eq!(serving.post("/begin", &trial).status, 200);
    assert_eq!(serving.post("/begin", &trial).status, 200);
    let said = json!({"choice": 1, "millis": 500.5, "shown_ms": 200.0, "frame_ms": 16.7});
    let answer = json!({"batch": 0, "trial": 0, "said": said});
    let truth = index(&at(&dir))[&files[0]].truth.clone();
    assert_eq!(serving.post("/answer", &answer).json(), json!({"truth": truth}));
    assert_eq!(serving.post("/begin", &trial).status, 409);
    assert_eq!(serving.get(&serving.mine(&format!("/picture/{}", files[0]))).status, 409);
    serving.end();
    assert_eq!(Status::read(&at(&dir)).unwrap().left_out["qualification"], 1);
    assert!(at(&dir).join("answers.csv").is_file() && at(&dir).join("run/manifest.json").is_file());
}

#[test]
fn nothing_that_is_sent_before_an_answer_tells_the_truth() {
    let dir = study(18);
    let serving = Serving::of(&dir);
    let step = serving.post("/on", &json!({})).text();
    let index = index(&at(&dir));
    for stimulus in index.values() {
        assert!(!step.contains(&stimulus.image), "{step}");
    }
    // The choices are named once, as such.
    assert_eq!(step.matches("disc").count(), 2, "{step}");
    let kinds = ["truth", "easy", "original", "contrast", "visual_change"];
    assert!(kinds.iter().all(|word| !step.contains(word)), "{step}");
}

#[test]
fn strangers_and_nonsense_are_sent_away() {
    let dir = study(18);
    let serving = Serving::of(&dir);
    for (path, status) in [
        ("/", 404),
        ("/p/0123456789abcdef0123456789abcdef", 403),
        ("/p/0123456789abcdef0123456789abcdef/step", 403),
        ("/p/", 403),
        ("/join/guess", 403),
        ("/journal.jsonl", 404),
        ("/../study.json", 404),
        ("/p/%2e%2e/step", 403),
    ] {
        let reply = serving.get(path);
        assert_eq!(reply.status, status, "{path}");
        assert!(reply.head.contains("text/html"), "{path}");
    }
    for body in ["", "{", "[]", "{\"batch\": -1, \"trial\": 0}", "{\"batch\": 0}"] {
        assert_eq!(serving.send("POST", &serving.mine("/begin"), body.as_bytes()).status, 400);
    }
    let guesses = (0..200).filter(|guess| serving.get(&format!("/p/{guess}")).status == 429);
    assert!(guesses.count() > 50);
    let large = vec![b' '; 5000];
    assert_eq!(serving.send("POST", &serving.mine("/answer"), &large).status, 413);
    assert_eq!(serving.get(&serving.mine("/picture/..%2f..%2fstudy.json")).status, 409);
    assert_eq!(serving.send("DELETE", &serving.mine("/step"), b"").status, 404);
    // Nothing of who asked is kept.
    serving.end();
    let journal = std::fs::read_to_string(at(&dir).join("journal.jsonl")).unwrap();
    assert!(!journal.contains("Curious") && !journal.contains("127.0.0.1"), "{journal}");
}

#[test]
fn an_invitation_lets_in_whoever_accepts_it_and_not_who_only_looks() {
    let dir = study(18);
    let serving = Serving::of(&dir);
    let path = format!("/join/{}", serving.invite);
    assert_eq!((serving.get(&path).status, serving.get(&path).status), (200, 200));
    let joined = serving.send("POST", &path, b"");
    assert_eq!(joined.status, 303);
    let link = joined.head.split("location: ").nth(1).unwrap().split("\r\n").next().unwrap();
    assert_eq!(serving.get(&format!("{link}/step")).json()["next"]["phase"], "welcome");
    assert_eq!(Status::read(&at(&dir)).unwrap().people.joined, 2);
    // A link that got around does not fill the disk.
    let joined = (0..40).filter(|_| serving.send("POST", &path, b"").status == 303).count();
    assert!((25..=35).contains(&joined), "{joined}");
    assert_eq!(serving.send("POST", &path, b"").status, 429);
    let greedy = (0..600).filter(|_| serving.get(&serving.mine("/step")).status == 429).count();
    assert!(greedy > 50, "{greedy}");
    assert_eq!(serving.get(&format!("{link}/step")).status, 200);
}

#[test]
fn a_port_in_use_is_told() {
    let dir = study(18);
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let desk = Desk::open(&at(&dir)).unwrap();
    let error = Server::bind(desk, taken.local_addr().unwrap()).err().unwrap().to_string();
    assert!(error.contains("cannot listen on") && error.contains("--port"), "{error}");
}
