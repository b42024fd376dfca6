//! Connections: how many there are at once, and how long each may take. Without limits a few slow
//! ones, kept open on purpose, would keep everybody else out.

use axum::Router;
use faultlens_serve::wait_for_stop;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{sleep, timeout};

/// How long it takes until connections are taken again after the system refused one.
const RECOVERY: Duration = Duration::from_millis(200);

/// How much connections may take.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// How many there are at once; others wait until one ends.
    pub(crate) connections: u32,
    /// How long the head of a request may take, and how long a connection may be idle before it.
    pub(crate) head: Duration,
    /// How long one lives in all; a browser makes another then.
    pub(crate) life: Duration,
    /// How long requests in flight have when a connection, or the server, is to end.
    pub(crate) grace: Duration,
}

impl Default for Limits {
    /// Browsers make up to six connections, and files that are open are limited too: room for
    /// eighty people who load pictures at the same moment.
    fn default() -> Self {
        Self {
            connections: 512,
            head: Duration::from_secs(20),
            life: Duration::from_secs(15 * 60),
            grace: Duration::from_secs(5),
        }
    }
}

/// Serves until it is asked to stop.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    mut stopped: watch::Receiver<bool>,
) -> io::Result<()> {
    let places = Arc::new(Semaphore::new(limits.connections as usize));
    loop {
        let (stream, place) = tokio::select! {
            () = wait_for_stop(&mut stopped) => break,
            taken = take(&listener, &places) => taken?,
        };
        let connection = connection(stream, router.clone(), limits, stopped.clone());
        tokio::spawn(async move {
            connection.await;
            drop(place);
        });
    }
    drop(listener);
    // All places are free when the last connection has ended.
    let _ = timeout(limits.grace, places.acquire_many(limits.connections)).await;
    Ok(())
}

/// The next connection, as soon as there is a place for it.
async fn take(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> io::Result<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(places).acquire_owned().await.map_err(io::Error::other)?;
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return Ok((stream, place)),
            // The peer has hung up, or too many files are open: both are temporary.
            Err(_) => sleep(RECOVERY).await,
        }
    }
}

async fn connection(
    stream: TcpStream,
    router: Router,
    limits: Limits,
    mut stopped: watch::Receiver<bool>,
) {
    // Small answers must not wait for more of them.
    let _ = stream.set_nodelay(true);
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.head);
    let serving = http.serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut serving = pin!(serving);
    tokio::select! {
        // Whoever breaks it off hears nothing of it anyway.
        Ok(()) | Err(_) = serving.as_mut() => return,
        () = wait_for_stop(&mut stopped) => {}
        () = sleep(limits.life) => {}
    }
    serving.as_mut().graceful_shutdown();
    let _ = timeout(limits.grace, serving).await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use std::io::{ErrorKind, Read as _, Write as _};
    use std::net::{SocketAddr, TcpStream};
    use std::thread::JoinHandle;
    use std::time::Instant;

    const LONG: Duration = Duration::from_secs(60);
    const SHORT: Duration = Duration::from_millis(200);
    const WIDE: Limits = Limits { connections: 9, head: LONG, life: LONG, grace: SHORT };

    struct Served(SocketAddr, watch::Sender<bool>, Option<JoinHandle<io::Result<()>>>);

    impl Served {
        fn with(limits: Limits) -> Self {
            let (stop, stopped) = watch::channel(false);
            let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
            listener.set_nonblocking(true).unwrap();
            let address = listener.local_addr().unwrap();
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            let serving = move || {
                runtime.block_on(async move {
                    let router = Router::new().route("/", get(|| async { "here" }));
                    serve(TcpListener::from_std(listener)?, router, limits, stopped).await
                })
            };
            Self(address, stop, Some(std::thread::spawn(serving)))
        }

        fn connect(&self) -> TcpStream {
            let stream = TcpStream::connect(self.0).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            stream
        }
    }

    impl Drop for Served {
        fn drop(&mut self) {
            self.1.send_replace(true);
            self.2.take().unwrap().join().unwrap().unwrap();
        }
    }

    /// What comes until the other side hangs up.
    fn rest(mut stream: TcpStream) -> String {
        let mut text = String::new();
        match stream.read_to_string(&mut text) {
            Ok(_) => text,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::ConnectionReset);
                text
            }
        }
    }

    fn ask(stream: &mut TcpStream) {
        stream.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    }

    #[test]
    fn who_sends_a_head_slowly_or_none_is_hung_up_on() {
        let served = Served::with(Limits { head: SHORT, ..WIDE });
        for begun in ["", "GET / HTTP/1.1\r\nHos"] {
            let mut stream = served.connect();
            stream.write_all(begun.as_bytes()).unwrap();
            assert!(!rest(stream).contains("here"));
        }
        let mut stream = served.connect();
        ask(&mut stream);
        assert!(rest(stream).ends_with("here"));
    }

    #[test]
    fn connections_end_in_the_end() {
        let served = Served::with(Limits { life: SHORT, ..WIDE });
        for begun in ["", "GET / HTTP/1.1\r\nHos"] {
            let mut stream = served.connect();
            stream.write_all(begun.as_bytes()).unwrap();
            assert!(!rest(stream).contains("here"));
        }
    }

    #[test]
    fn more_than_there_are_places_wait_for_one() {
        let served = Served::with(Limits { connections: 2, ..WIDE });
        let mut kept: Vec<TcpStream> = (0..2).map(|_| served.connect()).collect();
        let mut first = [0; 12];
        for stream in &mut kept {
            ask(stream);
            stream.read_exact(&mut first).unwrap();
            assert_eq!(&first, b"HTTP/1.1 200");
        }
        let mut third = served.connect();
        ask(&mut third);
        third.set_read_timeout(Some(SHORT)).unwrap();
        assert!(third.read_exact(&mut first).is_err());
        kept.pop();
        third.set_read_timeout(Some(LONG)).unwrap();
        third.read_exact(&mut first).unwrap();
        assert_eq!(&first, b"HTTP/1.1 200");
    }

    #[test]
    fn the_end_does_not_wait_for_those_who_send_nothing() {
        let served = Served::with(WIDE);
        let mut stream = served.connect();
        stream.write_all(b"GET / HTTP/1.1\r\nHos").unwrap();
        let start = Instant::now();
        drop(served);
        assert!(start.elapsed() < LONG / 2);
    }
}
