//! A small HTTP server that does as it is told, badly where it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What the server does with a request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Answers: status, more headers, body.
    With(u16, &'static str, String),
    /// Closes the connection without a word.
    Drop,
    /// Promises a whole answer and sends half of it.
    Half(String),
    /// Says nothing for a while.
    Silence(Duration),
    /// Answers after a while.
    Late(Duration, String),
}

/// A request as it came.
#[derive(Clone)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

type Script = dyn Fn(usize, &Received) -> Reply + Send + Sync;

/// A server on a port of its own; it ends with the test's process.
pub(crate) struct Server {
    pub(crate) address: String,
    received: Arc<Mutex<Vec<Received>>>,
    most: Arc<AtomicUsize>,
}

impl Server {
    /// The script is told how many requests came before.
    pub(crate) fn start(
        script: impl Fn(usize, &Received) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let (script, inside): (Arc<Script>, _) = (Arc::new(script), Arc::new(AtomicUsize::new(0)));
        let most = Arc::new(AtomicUsize::new(0));
        let server = Self { address, received: Arc::clone(&received), most: Arc::clone(&most) };
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (script, received) = (Arc::clone(&script), Arc::clone(&received));
                let (inside, most) = (Arc::clone(&inside), Arc::clone(&most));
                thread::spawn(move || {
                    stream.set_nodelay(true).unwrap();
                    let mut reader = BufReader::new(stream);
                    while let Some(request) = read(&mut reader) {
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        let number = {
                            let mut received = received.lock().unwrap();
                            received.push(request.clone());
                            received.len() - 1
                        };
                        let reply = script(number, &request);
                        let open = answer(reader.get_mut(), reply);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        if !open {
                            break;
                        }
                    }
                });
            }
        });
        server
    }

    /// Everything that came.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// How many requests came.
    pub(crate) fn count(&self) -> u64 {
        self.received.lock().unwrap().len() as u64
    }

    /// How many requests were under way at once, at most.
    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Received> {
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = text.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Received { head, body })
}

/// Whether the connection stays open.
fn answer(stream: &mut TcpStream, reply: Reply) -> bool {
    let head = |status: u16, headers: &str, length: usize| {
        format!(
            "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nSet-Cookie: a=b\r\n{headers}Content-Length: {length}\r\n\r\n"
        )
    };
    let text = match reply {
        Reply::With(status, headers, body) => head(status, headers, body.len()) + &body,
        Reply::Late(wait, body) => {
            thread::sleep(wait);
            head(200, "", body.len()) + &body
        }
        Reply::Half(body) => {
            let text = head(200, "", body.len()) + &body[..body.len() / 2];
            let _ = stream.write_all(text.as_bytes());
            return false;
        }
        Reply::Drop => return false,
        Reply::Silence(wait) => {
            thread::sleep(wait);
            return false;
        }
    };
    stream.write_all(text.as_bytes()).is_ok()
}
