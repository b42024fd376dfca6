//! `faultlens study` as a user types it.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::folder::{Folder, json};
use serde_json::{Value, json};

/// A study of the embedded world's signs.
fn prepared(folder: &Folder) -> Value {
    let run = folder.run(
        "people prepare world:signs:400 -o study --fault contrast --choices stop,other --images 18 \
         --answers 2 --json",
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    json(&run.stdout).remove(0)
}

fn serve(folder: &Folder) -> (Child, Value) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_faultlens"))
        .args(["study", "serve", "study", "--port", "0", "--people", "1", "--json"])
        .current_dir(folder.path("."))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, json(&line).remove(0))
}

/// Asks the page's questions.
struct Page {
    address: String,
    path: String,
}

impl Page {
    fn of(told: &Value) -> Self {
        let link = told["people"][0].as_str().unwrap().strip_prefix("http://").unwrap();
        let (address, path) = link.split_once('/').unwrap();
        Self { address: address.to_owned(), path: format!("/{path}") }
    }

    fn ask(&self, method: &str, what: &str, body: &str) -> Value {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (path, length) = (&self.path, body.len());
        write!(
            stream,
            "{method} {path}{what} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: \
             {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    /// Answers one picture; what the server said is what was acknowledged.
    fn answer(&self, trial: u64) {
        self.ask("POST", "/begin", &json!({"batch": 0, "trial": trial}).to_string());
        let said = json!({"choice": 0, "millis": 400, "shown_ms": 200, "frame_ms": 16.7});
        let answer = json!({"batch": 0, "trial": trial, "said": said});
        self.ask("POST", "/answer", &answer.to_string());
    }
}

#[test]
fn a_killed_server_has_lost_nothing_that_it_acknowledged() {
    let folder = Folder::new("study_killed");
    let told = prepared(&folder);
    assert_eq!((&told["pictures"], &told["easy"]), (&json!(36), &json!(22)));
    let tenths = told["faults"]["contrast"]["tenths"].as_array().unwrap();
    assert_eq!(tenths.iter().filter_map(Value::as_u64).sum::<u64>(), 18);
    for round in 0..4 {
        let (mut child, told) = serve(&folder);
        let page = Page::of(&told);
        let step = match round {
            0 => page.ask("POST", "/on", "{}"),
            _ => page.ask("GET", "/step", ""),
        };
        let first = step["next"]["first"].as_u64().unwrap();
        assert_eq!(first, 2 * round);
        page.answer(first);
        page.answer(first + 1);
        // No time to tidy up.
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let run = folder.run("people status study --json");
    assert_eq!(run.status, 0, "{}", run.stderr);
    let status = &json(&run.stdout)[0];
    assert_eq!(status["left_out"]["qualification"], 8);
    assert_eq!(status["people"]["consented"], 1);
    let left_out = fs::read_to_string(folder.path("study/left-out.csv")).unwrap();
    assert_eq!(left_out.lines().count(), 9);
    let report = folder.run("report study/run --format text");
    assert_eq!(report.status, 0, "{}", report.stderr);
}

#[test]
#[cfg(unix)]
fn it_serves_until_it_is_told_to_stop() {
    let folder = Folder::new("study_stopped");
    prepared(&folder);
    let (child, told) = serve(&folder);
    assert!(told["address"].as_str().unwrap().starts_with("http://127.0.0.1:"));
    assert!(told["invitation"].as_str().unwrap().contains("/join/"));
    let beside = folder.run("people status study");
    assert_eq!(beside.status, 0, "{}", beside.stderr);
    assert!(beside.stdout.contains("1 joined") && beside.stderr.contains("being served"));
    let second = folder.run("people serve study --port 0");
    assert_eq!(second.status, 2);
    assert!(second.stderr.contains("another process"), "{}", second.stderr);
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signal.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let (mut child, again) = serve(&folder);
    assert_eq!(Page::of(&told).path, Page::of(&again).path);
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_study_that_was_changed_after_people_began_is_not_served() {
    let folder = Folder::new("study_changed");
    prepared(&folder);
    let (mut child, told) = serve(&folder);
    Page::of(&told).ask("POST", "/on", "{}");
    child.kill().unwrap();
    child.wait().unwrap();
    let file = folder.path("study/study.json");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replace("\"answers\": 2", "\"answers\": 3")).unwrap();
    for command in ["serve study --port 0", "status study"] {
        let run = folder.run(&format!("study {command}"));
        assert_eq!(run.status, 2, "{command}: {}", run.stderr);
        assert!(run.stderr.contains("study.json was changed after"), "{}", run.stderr);
    }
    fs::write(&file, text).unwrap();
    assert_eq!(folder.run("people status study").status, 0);
}

#[test]
fn what_is_wrong_is_told() {
    let folder = Folder::new("study_wrong");
    prepared(&folder);
    fs::create_dir(folder.path("empty")).unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let made = "prepare world:signs:400 -o made --fault contrast";
    for (args, wanted) in [
        (format!("{made} --images 4"), "--choices"),
        (format!("{made} --choices stop"), "two choices"),
        (format!("{made} --choices stop,stop"), "must differ"),
        (format!("{made} --choices red,blue"), "--group red="),
        (format!("{made} --choices red,other --group red=stp"), "did you mean \"stop\"?"),
        (format!("{made} --choices stop,other --images 4000"), "lower --images"),
        (format!("{made} --choices stop,other --answers 0"), "from 1"),
        ("prepare world:signs -o made --choices stop,other".to_owned(), "--fault"),
        (
            "prepare world:signs -o made --choices stop,other --fault contrst".to_owned(),
            "did you mean \"contrast\"?",
        ),
        (
            "prepare world:signs -o made --choices stop,other --fault black".to_owned(),
            "black has no strengths",
        ),
        (
            "prepare world:signs -o made --choices stop,other --fault frost,frost".to_owned(),
            "named twice",
        ),
        ("prepare none -o made --fault contrast --choices a,b".to_owned(), "none"),
        (
            "prepare world:signs:400 -o study --fault contrast --choices stop,other --images 4"
                .to_owned(),
            "new or empty",
        ),
        ("serve empty".to_owned(), "this is not a study"),
        ("status empty".to_owned(), "this is not a study"),
        ("serve none".to_owned(), "this is not a study"),
        (format!("serve study --port {port}"), "cannot listen on"),
    ] {
        let run = folder.run(&format!("study {args}"));
        assert_eq!(run.status, 2, "{args}: {}", run.stderr);
        assert!(run.stderr.contains(wanted), "{args}: {}", run.stderr);
        assert!(!folder.path("made").exists(), "{args}");
    }
    fs::remove_dir_all(folder.path("study/pictures")).unwrap();
    let run = folder.run("people serve study --port 0");
    assert_eq!(run.status, 2);
    assert!(run.stderr.contains("58 of the study's 58 pictures are missing"), "{}", run.stderr);
}
