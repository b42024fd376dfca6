//! The server: from a connection to a response.

use crate::counts::{Call, CallCounts, Ending};
use crate::listening::{ListenError, Listening, Stopper, wait_for_stop};
use crate::message::{HttpRequest, HttpResponse};
use crate::misbehave::{Misbehaviour, Plan};
use crate::model::ServedModel;
use crate::wire::{Failure, Format};
use axum::Router;
use axum::body::{Body, HttpBody, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use axum::serve::ListenerExt as _;
use bytes::Bytes;
use faultlens_core::Seed;
use http_body::Frame;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// Calls that may wait for each thread; beyond, the server responds that it is busy.
const QUEUE_PER_THREAD: usize = 64;
/// How long a request may take to arrive.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// How long calls in flight have after the server was asked to stop.
const GRACE_PERIOD: Duration = Duration::from_secs(10);
/// The path at which the counts are reported.
const COUNTS_PATH: &str = "/faultlens/account";
/// The header with the model's version, also in formats that have no field for it.
const VERSION_HEADER: &str = "x-faultlens-model-version";

/// How a model is served.
pub struct Options {
    /// The wire format.
    pub format: &'static Format,
    /// Where to listen; port 0 is any free one.
    pub address: SocketAddr,
    /// How many calls are computed at once.
    pub threads: usize,
    /// Accepted keys: `ID:SECRET` for Rekognition, else the secret alone. Without any, every call
    /// is accepted.
    pub keys: Vec<String>,
    /// How it misbehaves.
    pub misbehaviour: Misbehaviour,
    /// The seed of the misbehaviour.
    pub seed: Seed,
    /// Receives a line per call, without credentials.
    pub log: Option<Sender<String>>,
}

/// Why a model cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port is taken, or not allowed.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// A key that is not usable.
    #[error("{0}")]
    Key(&'static str),
    /// The operating system refuses what a server needs.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
}

/// A server that has its port.
pub struct Server {
    listening: Listening,
    shared: Arc<Shared>,
}

struct Shared {
    served: ServedModel,
    format: &'static Format,
    keys: Vec<String>,
    misbehaviour: Misbehaviour,
    seed: Seed,
    counts: Arc<CallCounts>,
    places: Arc<Semaphore>,
    stopped: watch::Receiver<bool>,
    log: Option<Sender<String>>,
}

impl Server {
    /// Takes the port; nothing is answered yet.
    pub fn bind(served: ServedModel, options: Options) -> Result<Self, ServeError> {
        let Options { format, address, threads, keys, misbehaviour, seed, log } = options;
        if keys.iter().any(String::is_empty) {
            return Err(ServeError::Key("a key is empty; leave --key out to let everybody in"));
        }
        if format.name == "rekognition" && !keys.iter().all(|key| key.contains(':')) {
            return Err(ServeError::Key("Rekognition needs keys as ACCESS_KEY_ID:SECRET"));
        }
        let threads = threads.max(1);
        // One thread moves bytes; the others decode, ask and encode.
        let listening = Listening::bind(address, threads)?;
        let stopped = listening.stopped();
        let places = Arc::new(Semaphore::new(threads * (1 + QUEUE_PER_THREAD)));
        let counts = Arc::default();
        let shared =
            Shared { served, format, keys, misbehaviour, seed, counts, places, stopped, log };
        Ok(Self { listening, shared: Arc::new(shared) })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listening.address()
    }

    /// A handle that stops it.
    pub fn stopper(&self) -> Stopper {
        self.listening.stopper()
    }

    /// Counts of the calls so far, also while it runs.
    pub fn counts(&self) -> Arc<CallCounts> {
        Arc::clone(&self.shared.counts)
    }

    /// Answers until it is asked to stop.
    pub fn run(self) -> Result<(), ServeError> {
        let Self { listening, shared } = self;
        let mut stop_accepting = listening.stopped();
        let mut stop_waiting = listening.stopped();
        let served = listening.run(|listener| async move {
            // Without Nagle's algorithm: small responses must not wait for more of them.
            let listener = listener.tap_io(|stream| {
                // A slower connection is still a connection.
                let _ = stream.set_nodelay(true);
            });
            let router = Router::new().fallback(handle).with_state(shared);
            let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
                wait_for_stop(&mut stop_accepting).await;
            });
            let expired = async move {
                wait_for_stop(&mut stop_waiting).await;
                sleep(GRACE_PERIOD).await;
            };
            tokio::select! {
                ended = serving.into_future() => ended,
                () = expired => Ok(()),
            }
        });
        Ok(served?)
    }
}

async fn handle(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    if request.uri().path() == COUNTS_PATH {
        let report = serde_json::json!({
            "account": shared.counts.snapshot(),
            "format": shared.format.name,
            "model": shared.served.name(),
        });
        return plain(HttpResponse::json(200, &report));
    }
    let begun = Instant::now();
    let mut call = Call::begin(&shared.counts);
    let mut plan = shared.misbehaviour.plan(shared.seed, call.number);
    if plan.drifted {
        shared.counts.note_drift();
    }
    let what = format!("{} {}", request.method(), request.uri().path());
    let (ending, answer) = shared.respond(request, &mut plan, &mut call).await;
    call.ending = ending;
    if let Some(log) = &shared.log {
        let status = answer.status;
        let spent = begun.elapsed().as_secs_f64() * 1e3;
        let line = format!("{} {what} {status} {} {spent:.1} ms", call.number, ending.name());
        // The reader may have gone; the call is answered all the same.
        let _ = log.send(line);
    }
    let version = shared.served.view(plan.drifted).version().to_owned();
    let answer = answer.with(VERSION_HEADER, version);
    match ending {
        Ending::Dropped => cut_off(answer, &mut plan),
        Ending::Truncated | Ending::Nonsense => plain(plan.spoil(answer)),
        _ => plain(answer),
    }
}

impl Shared {
    async fn respond(
        self: &Arc<Self>,
        request: Request,
        plan: &mut Plan,
        call: &mut Call,
    ) -> (Ending, HttpResponse) {
        let wire = self.format.wire;
        let http = match self.read(request).await {
            Ok(http) => http,
            Err(failure) => return (Ending::Refused, wire.failure(failure)),
        };
        if !plan.latency.is_zero() {
            sleep(plan.latency).await;
        }
        match plan.ending {
            Ending::Throttled => (Ending::Throttled, wire.failure(Failure::Throttled)),
            Ending::Failed => (Ending::Failed, wire.failure(Failure::Broken(plan.status()))),
            Ending::Stalled => {
                call.ending = Ending::Stalled;
                wait_for_stop(&mut self.stopped.clone()).await;
                (Ending::Stalled, wire.failure(Failure::Broken(503)))
            }
            ending => self.predict(http, plan.drifted, ending).await,
        }
    }

    async fn read(&self, request: Request) -> Result<HttpRequest, Failure> {
        let (parts, body) = request.into_parts();
        let max = self.format.wire.max_bytes();
        let announced = parts.headers.get(header::CONTENT_LENGTH);
        let announced = announced.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        let body = match timeout(REQUEST_TIMEOUT, to_bytes(body, max)).await {
            Ok(Ok(body)) => body,
            Ok(Err(_)) if announced.is_none_or(|length| length > max as u64) => {
                return Err(Failure::TooLarge);
            }
            Ok(Err(_)) | Err(_) => return Err(Failure::Incomplete),
        };
        Ok(HttpRequest {
            method: parts.method,
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            headers: parts.headers,
            body,
        })
    }

    /// The model's answer, computed on one of the threads. A full queue is answered as the provider
    /// answers when it is busy.
    async fn predict(
        self: &Arc<Self>,
        http: HttpRequest,
        drifted: bool,
        ending: Ending,
    ) -> (Ending, HttpResponse) {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return (Ending::Busy, self.format.wire.failure(Failure::Broken(503)));
        };
        let shared = Arc::clone(self);
        let computing = tokio::task::spawn_blocking(move || {
            let answer = shared.compute(&http, drifted);
            drop(place);
            answer
        });
        match computing.await {
            Ok(Ok(answer)) => (ending, answer),
            Ok(Err(answer)) if answer.status < 500 => (Ending::Refused, answer),
            Ok(Err(answer)) => (Ending::Failed, answer),
            Err(_) => (Ending::Failed, self.format.wire.failure(Failure::Broken(500))),
        }
    }

    fn compute(&self, http: &HttpRequest, drifted: bool) -> Result<HttpResponse, HttpResponse> {
        if !self.keys.is_empty() {
            self.format.wire.admit(http, &self.keys)?;
        }
        self.format.wire.answer(http, self.served.view(drifted))
    }
}

fn plain(mut answer: HttpResponse) -> Response {
    let body = std::mem::take(&mut answer.body);
    response(&answer, body.len(), Body::from(body))
}

/// Promises the whole response, sends a part of it and closes the connection.
fn cut_off(mut answer: HttpResponse, plan: &mut Plan) -> Response {
    let mut part = std::mem::take(&mut answer.body);
    let length = part.len();
    part.truncate(plan.cut(length));
    response(&answer, length, Body::new(CutOffBody(Some(part.into()))))
}

/// A body that ends with an error, which makes the server close the connection.
struct CutOffBody(Option<Bytes>);

impl HttpBody for CutOffBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let part = self.0.take().map(Frame::data);
        Poll::Ready(Some(part.ok_or_else(|| io::ErrorKind::ConnectionAborted.into())))
    }
}

fn response(answer: &HttpResponse, length: usize, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or_default();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    for (name, value) in &answer.headers {
        if let Ok(value) = HeaderValue::from_str(value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    response
}
