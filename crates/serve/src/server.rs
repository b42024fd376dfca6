//! The server: from a connection to an answer.

use crate::account::{Account, Call, Ending};
use crate::exchange::{Answer, Asked};
use crate::misbehave::{Misbehaviour, Plan};
use crate::model::Served;
use crate::wire::{Format, Trouble};
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
use std::net::{SocketAddr, TcpListener};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, watch};
use tokio::time::{sleep, timeout};

/// Calls that wait for each thread, beyond which the server says that it is busy.
const QUEUE: usize = 64;
/// How long a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(60);
/// How long calls in flight have after the server is told to stop.
const GRACE: Duration = Duration::from_secs(10);
/// Where the account is told.
const ACCOUNT: &str = "/faultlens/account";
/// Every answer says which model gave it, in formats that have no field for it too.
const VERSION: &str = "x-faultlens-model-version";

/// How a model is served.
pub struct Options {
    /// The wire format.
    pub format: &'static Format,
    /// Where to listen; port 0 is any free one.
    pub address: SocketAddr,
    /// How many calls are computed at once.
    pub threads: usize,
    /// Who is let in: `ID:SECRET` for Rekognition, else the secret alone. Nobody is asked where
    /// there are none.
    pub keys: Vec<String>,
    /// What it does wrong.
    pub misbehaviour: Misbehaviour,
    /// What misbehaviour is drawn from.
    pub seed: Seed,
    /// Who is told of every call, in a line without credentials.
    pub log: Option<Sender<String>>,
}

/// Why a model cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The port is taken, or not allowed.
    #[error("cannot listen on {address}: {source}; choose another --port, or 0 for any free one")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// A key that cannot be one.
    #[error("{0}")]
    Key(&'static str),
    /// The system does not give what a server needs.
    #[error("cannot serve: {0}")]
    System(#[from] io::Error),
}

/// A server that has its port.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
    runtime: Runtime,
    stop: watch::Sender<bool>,
}

/// Ends a server from any thread: calls in flight are answered, new ones are not taken.
#[derive(Debug, Clone)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// Tells the server to stop.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

struct Shared {
    served: Served,
    format: &'static Format,
    keys: Vec<String>,
    misbehaviour: Misbehaviour,
    seed: Seed,
    account: Arc<Account>,
    places: Arc<Semaphore>,
    stopped: watch::Receiver<bool>,
    log: Option<Sender<String>>,
}

impl Server {
    /// Takes the port; nothing is answered yet.
    pub fn bind(served: Served, options: Options) -> Result<Self, ServeError> {
        let Options { format, address, threads, keys, misbehaviour, seed, log } = options;
        if keys.iter().any(String::is_empty) {
            return Err(ServeError::Key("a key is empty; leave --key out to let everybody in"));
        }
        if format.name == "rekognition" && !keys.iter().all(|key| key.contains(':')) {
            return Err(ServeError::Key("Rekognition needs keys as ACCESS_KEY_ID:SECRET"));
        }
        let refused = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(refused)?;
        listener.set_nonblocking(true)?;
        let threads = threads.max(1);
        // One thread moves bytes; the others decode, ask and encode.
        let runtime =
            Builder::new_current_thread().enable_all().max_blocking_threads(threads).build()?;
        let (stop, stopped) = watch::channel(false);
        let places = Arc::new(Semaphore::new(threads * (1 + QUEUE)));
        let account = Arc::default();
        let shared =
            Shared { served, format, keys, misbehaviour, seed, account, places, stopped, log };
        Ok(Self { listener, shared: Arc::new(shared), runtime, stop })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// What ends it.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone())
    }

    /// What was done so far, also while it runs.
    pub fn account(&self) -> Arc<Account> {
        Arc::clone(&self.shared.account)
    }

    /// Answers until it is told to stop.
    pub fn run(self) -> Result<(), ServeError> {
        let Self { listener, shared, runtime, stop } = self;
        let mut told = stop.subscribe();
        let mut over = stop.subscribe();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            // Small answers must not wait for more of them.
            let listener = listener.tap_io(|stream| match stream.set_nodelay(true) {
                Ok(()) | Err(_) => {}
            });
            let router = Router::new().fallback(handle).with_state(shared);
            let serving = axum::serve(listener, router).with_graceful_shutdown(async move {
                wait(&mut told).await;
            });
            let expired = async move {
                wait(&mut over).await;
                sleep(GRACE).await;
            };
            tokio::select! {
                ended = serving.into_future() => Ok(ended?),
                () = expired => Ok(()),
            }
        })
    }
}

/// Until the server is to stop, or is gone.
async fn wait(stopped: &mut watch::Receiver<bool>) {
    match stopped.wait_for(|&stopped| stopped).await {
        Ok(_) | Err(_) => {}
    }
}

async fn handle(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    if request.uri().path() == ACCOUNT {
        let statement = serde_json::json!({
            "account": shared.account.statement(),
            "format": shared.format.name,
            "model": shared.served.name(),
        });
        return plain(Answer::json(200, &statement));
    }
    let begun = Instant::now();
    let mut call = Call::begin(&shared.account);
    let mut plan = shared.misbehaviour.plan(shared.seed, call.number);
    if plan.drifted {
        shared.account.note_drift();
    }
    let what = format!("{} {}", request.method(), request.uri().path());
    let (ending, answer) = shared.answered(request, &mut plan, &mut call).await;
    call.ending = ending;
    if let Some(log) = &shared.log {
        let (status, spent) = (answer.status, begun.elapsed().as_secs_f64() * 1e3);
        let line = format!("{} {what} {status} {} {spent:.1} ms", call.number, ending.name());
        // Without a reader there is nobody to tell.
        match log.send(line) {
            Ok(()) | Err(_) => {}
        }
    }
    let version = shared.served.view(plan.drifted).version().to_owned();
    let answer = answer.with(VERSION, version);
    match ending {
        Ending::Dropped => broken_off(answer, &mut plan),
        Ending::Truncated | Ending::Nonsense => plain(plan.spoil(answer)),
        _ => plain(answer),
    }
}

impl Shared {
    async fn answered(
        self: &Arc<Self>,
        request: Request,
        plan: &mut Plan,
        call: &mut Call,
    ) -> (Ending, Answer) {
        let trouble = |ending, trouble| (ending, self.format.wire.trouble(trouble));
        let asked = match self.read(request).await {
            Ok(asked) => asked,
            Err(what) => return trouble(Ending::Refused, what),
        };
        if !plan.latency.is_zero() {
            sleep(plan.latency).await;
        }
        match plan.deed {
            Ending::Throttled => trouble(Ending::Throttled, Trouble::Throttled),
            Ending::Failed => trouble(Ending::Failed, Trouble::Broken(plan.status())),
            Ending::Stalled => {
                call.ending = Ending::Stalled;
                wait(&mut self.stopped.clone()).await;
                trouble(Ending::Stalled, Trouble::Broken(503))
            }
            deed => self.computed(asked, plan.drifted, deed).await,
        }
    }

    async fn read(&self, request: Request) -> Result<Asked, Trouble> {
        let (parts, body) = request.into_parts();
        let most = self.format.wire.most_bytes();
        let announced = parts.headers.get(header::CONTENT_LENGTH);
        let announced = announced.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        let body = match timeout(ARRIVAL, to_bytes(body, most)).await {
            Ok(Ok(body)) => body,
            Ok(Err(_)) if announced.is_none_or(|length| length > most as u64) => {
                return Err(Trouble::TooLarge);
            }
            Ok(Err(_)) | Err(_) => return Err(Trouble::Incomplete),
        };
        Ok(Asked {
            method: parts.method,
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            headers: parts.headers,
            body,
        })
    }

    /// The model's answer, from one of the threads; a queue that is full is told like the
    /// provider's own.
    async fn computed(
        self: &Arc<Self>,
        asked: Asked,
        drifted: bool,
        deed: Ending,
    ) -> (Ending, Answer) {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else {
            return (Ending::Busy, self.format.wire.trouble(Trouble::Broken(503)));
        };
        let shared = Arc::clone(self);
        let computing = tokio::task::spawn_blocking(move || {
            let answer = shared.compute(&asked, drifted);
            drop(place);
            answer
        });
        match computing.await {
            Ok(Ok(answer)) => (deed, answer),
            Ok(Err(answer)) if answer.status < 500 => (Ending::Refused, answer),
            Ok(Err(answer)) => (Ending::Failed, answer),
            Err(_) => (Ending::Failed, self.format.wire.trouble(Trouble::Broken(500))),
        }
    }

    fn compute(&self, asked: &Asked, drifted: bool) -> Result<Answer, Answer> {
        if !self.keys.is_empty() {
            self.format.wire.admit(asked, &self.keys)?;
        }
        self.format.wire.answer(asked, self.served.view(drifted))
    }
}

fn plain(mut answer: Answer) -> Response {
    let body = std::mem::take(&mut answer.body);
    response(&answer, body.len(), Body::from(body))
}

/// Promises the whole answer, sends a part of it and hangs up.
fn broken_off(mut answer: Answer, plan: &mut Plan) -> Response {
    let mut part = std::mem::take(&mut answer.body);
    let length = part.len();
    part.truncate(plan.cut(length));
    response(&answer, length, Body::new(HangUp(Some(part.into()))))
}

/// A body that ends with an error, which makes the server close the connection.
struct HangUp(Option<Bytes>);

impl HttpBody for HangUp {
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

fn response(answer: &Answer, length: usize, body: Body) -> Response {
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
