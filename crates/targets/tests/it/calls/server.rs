//! A small HTTP server that follows a script, and misbehaves where the script says so.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Instant;

/// What the server does with a request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Responds: status, more headers, body.
    With(u16, &'static str, String),
    /// Closes the connection without a response.
    Drop,
    /// Promises a whole response and sends half of it.
    Half(String),
    /// Never responds, and keeps the connection open.
    Silence,
}

/// A request as it was received.
#[derive(Clone)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
    pub(crate) at: Instant,
}

/// A server on a port of its own; it ends with the test's process.
pub(crate) struct Server {
    pub(crate) address: String,
    shared: Arc<Shared>,
}

/// The answer to a request, by its number and content.
type Script = Box<dyn Fn(usize, &Received) -> Reply + Send + Sync>;

struct Shared {
    script: Script,
    received: Mutex<Vec<Received>>,
    in_flight: AtomicUsize,
    max_in_flight: AtomicUsize,
}

impl Server {
    /// The script gets the number of requests that were received before, and may block.
    pub(crate) fn start(
        script: impl Fn(usize, &Received) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            script: Box::new(script),
            received: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            max_in_flight: AtomicUsize::new(0),
        });
        let for_threads = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&for_threads);
                thread::spawn(move || shared.serve(stream));
            }
        });
        Self { address, shared }
    }

    /// Every request so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap().clone()
    }

    /// How many requests were received.
    pub(crate) fn count(&self) -> u64 {
        self.shared.received.lock().unwrap().len() as u64
    }

    /// How many requests were in flight at once, at most.
    pub(crate) fn max_in_flight(&self) -> usize {
        self.shared.max_in_flight.load(Ordering::SeqCst)
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream) {
        stream.set_nodelay(true).unwrap();
        let mut reader = BufReader::new(stream);
        while let Some(request) = read(&mut reader) {
            let count = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
            self.max_in_flight.fetch_max(count, Ordering::SeqCst);
            let number = {
                let mut received = self.received.lock().unwrap();
                received.push(request.clone());
                received.len() - 1
            };
            let reply = (self.script)(number, &request);
            // Before the response is sent: once the client has it, it may send the next request.
            self.in_flight.fetch_sub(1, Ordering::SeqCst);
            if !respond(reader.get_mut(), reply) {
                break;
            }
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Received> {
    let mut head = String::new();
    let mut length = 0;
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
    Some(Received { head, body, at: Instant::now() })
}

fn head(status: u16, headers: &str, length: usize) -> String {
    format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nSet-Cookie: a=b\r\n\
         {headers}Content-Length: {length}\r\n\r\n"
    )
}

/// Sends a reply; whether the connection stays open.
fn respond(stream: &mut TcpStream, reply: Reply) -> bool {
    match reply {
        Reply::With(status, headers, body) => {
            let text = head(status, headers, body.len()) + &body;
            stream.write_all(text.as_bytes()).is_ok()
        }
        Reply::Half(body) => {
            let text = head(200, "", body.len()) + &body[..body.len() / 2];
            let _ = stream.write_all(text.as_bytes());
            false
        }
        Reply::Drop => false,
        Reply::Silence => loop {
            thread::park();
        },
    }
}
