//! The server: from a connection to the desk.

use crate::collect;
use crate::connections::{self, Limits};
use crate::desk::{Desk, Refusal};
use crate::error::StudyError;
use crate::pace::Pace;
use crate::pages::{self, Reply};
use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::response::Response;
use faultlens_serve::{Listening, Stopper};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// Threads that read pictures and write the journal.
const DISK_THREADS: usize = 4;
/// The page sends numbers only.
const MAX_BYTES: usize = 4096;
/// How long a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);
/// Requests of one person: a batch asks for its pictures at once, and a trial for little.
const PERSON: (f64, f64) = (20.0, 400.0);
/// People who join by the invitation.
const JOINING: (f64, f64) = (0.5, 30.0);
/// Requests by links that are not known, of all strangers together.
const STRANGERS: (f64, f64) = (10.0, 100.0);

/// A server that has its port.
pub struct Server {
    listening: Listening,
    shared: Arc<Shared>,
}

struct Shared {
    desk: Mutex<Desk>,
    paces: Mutex<Paces>,
}

struct Paces {
    joining: Pace,
    strangers: Pace,
    /// By participant, so that nobody slows down others.
    people: BTreeMap<usize, Pace>,
}

impl Server {
    /// Takes the port; nothing is answered yet.
    pub fn bind(desk: Desk, address: SocketAddr) -> Result<Self, StudyError> {
        let listening = Listening::bind(address, DISK_THREADS)?;
        let now = Instant::now();
        let paces = Mutex::new(Paces {
            joining: Pace::new(JOINING.0, JOINING.1, now),
            strangers: Pace::new(STRANGERS.0, STRANGERS.1, now),
            people: BTreeMap::new(),
        });
        let shared = Arc::new(Shared { desk: Mutex::new(desk), paces });
        Ok(Self { listening, shared })
    }

    /// Where it listens.
    pub fn address(&self) -> Result<SocketAddr, StudyError> {
        Ok(self.listening.address()?)
    }

    /// A handle that stops it.
    pub fn stopper(&self) -> Stopper {
        self.listening.stopper()
    }

    /// Serves until it is asked to stop; the answers are collected then.
    pub fn run(self) -> Result<(), StudyError> {
        let Self { listening, shared } = self;
        let router = Router::new().fallback(handle).with_state(Arc::clone(&shared));
        let stopped = listening.stopped();
        listening
            .run(|listener| connections::serve(listener, router, Limits::default(), stopped))?;
        let desk = held(&shared.desk);
        collect::all(desk.study(), desk.ledger())
    }
}

/// Locks. The data is consistent whenever nobody holds the lock, so a panic elsewhere does no harm.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn handle(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = match timeout(ARRIVAL, to_bytes(body, MAX_BYTES)).await {
        Ok(Ok(body)) => body,
        Ok(Err(_)) => return pages::plain(413, "The request is too large.").into(),
        Err(_) => return pages::plain(408, "The request took too long to arrive.").into(),
    };
    // Disks are waited for: not on the thread that moves bytes.
    let answered =
        tokio::task::spawn_blocking(move || shared.answer(&parts.method, parts.uri.path(), &body));
    answered
        .await
        .unwrap_or_else(|_| pages::plain(500, "Something went wrong on the server."))
        .into()
}

impl Shared {
    fn answer(&self, method: &Method, path: &str, body: &[u8]) -> Reply {
        let path = path.strip_prefix('/').unwrap_or(path);
        let parts: Vec<&str> = path.split('/').collect();
        if let (&Method::GET, Some(file)) = (method, pages::file(path)) {
            return file;
        }
        match parts[..] {
            ["join", invite] => self.join(method, invite),
            ["p", token, ref what @ ..] => {
                let who = held(&self.desk).who(token);
                match who {
                    Ok(who) if self.is_in_pace(who) => self.person(method, token, what, body),
                    Err(refusal) if held(&self.paces).strangers.admits(Instant::now()) => {
                        refused(&refusal)
                    }
                    Ok(_) | Err(_) => pages::plain(429, "Too many requests; wait a moment."),
                }
            }
            _ => pages::plain(404, "There is nothing here. Use the link that you were given."),
        }
    }

    fn is_in_pace(&self, who: usize) -> bool {
        let now = Instant::now();
        let mut paces = held(&self.paces);
        let pace = paces.people.entry(who);
        pace.or_insert_with(|| Pace::new(PERSON.0, PERSON.1, now)).admits(now)
    }

    /// The invitation. A GET request changes nothing, so that link previews do not add
    /// participants.
    fn join(&self, method: &Method, invite: &str) -> Reply {
        if !held(&self.desk).is_invite(invite) {
            return refused(&Refusal::Unknown);
        }
        if method != Method::POST {
            return pages::invitation();
        }
        if !held(&self.paces).joining.admits(Instant::now()) {
            return pages::plain(429, "Many people are joining right now; try again in a minute.");
        }
        match held(&self.desk).join() {
            Ok(token) => pages::seen_elsewhere(&format!("/p/{token}")),
            Err(error) => refused(&error.into()),
        }
    }

    fn person(&self, method: &Method, token: &str, what: &[&str], body: &[u8]) -> Reply {
        let mut desk = held(&self.desk);
        match (method, what) {
            (&Method::GET, []) => pages::page(),
            (&Method::GET, ["step"]) => json_reply(desk.step(token)),
            (&Method::POST, ["on"]) => {
                let gone_on = desk.go_on(token);
                // Between batches there is time to bring the tables up to date; what fails here
                // is tried again, and reported when the server ends.
                let _ = collect::tables(desk.study(), desk.ledger());
                json_reply(gone_on)
            }
            (&Method::POST, ["begin"]) => {
                json_reply(read(body).and_then(|begin| desk.begin(token, begin)))
            }
            (&Method::POST, ["answer"]) => {
                json_reply(read(body).and_then(|answer| desk.answer(token, answer)))
            }
            (&Method::GET, ["picture", file]) => {
                let path = desk.picture(token, file);
                drop(desk);
                match path.map(std::fs::read) {
                    Ok(Ok(bytes)) => pages::png(bytes),
                    Ok(Err(_)) => pages::plain(500, "The picture cannot be read."),
                    Err(refusal) => refused(&refusal),
                }
            }
            _ => pages::plain(404, "There is nothing here."),
        }
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|_| Refusal::Nonsense("this is not what the page sends"))
}

fn json_reply(result: Result<impl Serialize, Refusal>) -> Reply {
    match result {
        Ok(value) => pages::json(&value),
        Err(refusal) => refused(&refusal),
    }
}

fn refused(refusal: &Refusal) -> Reply {
    match refusal {
        Refusal::Unknown => {
            pages::plain(403, "This link is not valid. Ask whoever sent it to you for a new one.")
        }
        Refusal::Late => pages::plain(409, "This does not fit what came before."),
        Refusal::Nonsense(what) => pages::plain(400, what),
        Refusal::Study(_) => pages::plain(500, "The answer cannot be saved right now."),
    }
}
