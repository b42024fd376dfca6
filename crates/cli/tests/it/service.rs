//! A model behind a wire format, as a process of its own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::folder::json;
use serde_json::Value;

/// A served model; it ends with the test.
pub(crate) struct Service {
    child: Child,
    /// Where it listens, with `http://`.
    pub(crate) address: String,
}

impl Service {
    /// Starts `faultlens serve` with these arguments, on a free port.
    pub(crate) fn start(args: &str) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_faultlens"))
            .args(format!("serve {args} --port 0 --json").split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = json(&line)[0]["address"].as_str().unwrap().to_owned();
        Self { child, address }
    }

    /// How many calls it has had.
    pub(crate) fn calls(&self) -> u64 {
        let mut stream = TcpStream::connect(self.address.strip_prefix("http://").unwrap()).unwrap();
        let ask = "GET /faultlens/account HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        stream.write_all(ask.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        let account: Value = serde_json::from_str(body).unwrap();
        account["account"]["calls"].as_u64().unwrap()
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}
