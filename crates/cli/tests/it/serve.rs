//! `faultlens serve` as a user types it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::folder::{Folder, json};

fn start(args: &str) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_faultlens"))
        .args(args.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    (child, line)
}

fn get(address: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
#[cfg(unix)]
fn it_answers_until_it_is_told_to_stop() {
    let (child, line) =
        start("serve world:signs-shallow --as kserve --port 0 --json --log --key sesame");
    let told = &json(&line)[0];
    assert_eq!((&told["format"], &told["model"]), (&"kserve".into(), &"signs-shallow".into()));
    let address = told["address"].as_str().unwrap().strip_prefix("http://127.0.0.1:").unwrap();
    let address = format!("127.0.0.1:{address}");
    assert!(get(&address, "/v2/health/live").starts_with("HTTP/1.1 401 "));
    let account = get(&address, "/faultlens/account");
    assert!(account.contains("\"refused\":1"), "{account}");
    let signal = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(signal.success());
    let output = child.wait_with_output().unwrap();
    let notes = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{notes}");
    assert!(notes.contains("0 GET /v2/health/live 401 refused"), "{notes}");
    assert!(notes.contains("1 calls: 1 refused") && !notes.contains("sesame"), "{notes}");
}

#[test]
fn what_cannot_be_served_is_told() {
    let folder = Folder::new("serve_wrong");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    folder.text("m.onnx", "no model");
    for (args, wanted) in [
        ("world:signs-shallow", "--as"),
        ("world:signs-shallow --as gogle", "did you mean \"google\"?"),
        ("world:sings-shallow --as google", "did you mean signs-shallow?"),
        ("none.onnx --as google", "none.onnx"),
        ("m.onnx --as google", "m.onnx"),
        ("world:signs-shallow --as google --misbehave throtle=1", "did you mean `throttle`?"),
        ("world:signs-shallow --as google --misbehave drop=0.9,error=0.2", "more than 1"),
        ("world:signs-shallow --as google --host here", "--host"),
        ("world:signs-shallow --as google --threads 0", "from 1"),
        ("world:signs-shallow --as rekognition --key secret", "ACCESS_KEY_ID:SECRET"),
        ("world:signs-shallow --as google --key=", "a key is empty"),
        (&format!("world:signs-shallow --as google --port {port}"), "cannot listen on"),
    ] {
        let run = folder.run(&format!("serve {args}"));
        assert_eq!(run.status, 2, "{args}: {}", run.stderr);
        assert!(run.stderr.contains(wanted), "{args}: {}", run.stderr);
    }
}
