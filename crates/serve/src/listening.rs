//! A port, the runtime that serves it, and the handle that stops both.

use std::io;
use std::net::{SocketAddr, TcpListener};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

/// An address cannot be listened on: the port is taken, or not allowed.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {source}; choose another --port, or 0 for any free one")]
pub struct ListenError {
    /// The address.
    pub address: SocketAddr,
    /// What the system says.
    pub source: io::Error,
}

/// A port that is taken, on which nothing is answered yet.
pub struct Listening {
    listener: TcpListener,
    runtime: Runtime,
    stop: watch::Sender<bool>,
}

/// Stops a server from any thread: requests in flight are answered, new ones are not accepted.
#[derive(Debug, Clone)]
pub struct Stopper(watch::Sender<bool>);

impl Stopper {
    /// Asks the server to stop.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Listening {
    /// Takes the port; port 0 is any free one. One thread moves bytes, and up to `threads` others
    /// do what would block it.
    pub fn bind(address: SocketAddr, threads: usize) -> Result<Self, ListenError> {
        let failed = |source| ListenError { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let mut builder = Builder::new_current_thread();
        let runtime = builder.enable_all().max_blocking_threads(threads).build().map_err(failed)?;
        Ok(Self { listener, runtime, stop: watch::channel(false).0 })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// A handle that stops it.
    pub fn stopper(&self) -> Stopper {
        Stopper(self.stop.clone())
    }

    /// Turns true once it is to stop; for [`wait_for_stop`].
    pub fn stopped(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// Runs the future that serves the port, to its end.
    pub fn run<F: Future<Output = io::Result<()>>>(
        self,
        serve: impl FnOnce(tokio::net::TcpListener) -> F,
    ) -> io::Result<()> {
        self.runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(self.listener)?;
            serve(listener).await
        })
    }
}

/// Waits until a server is asked to stop, or is gone.
pub async fn wait_for_stop(stopped: &mut watch::Receiver<bool>) {
    let _ = stopped.wait_for(|&stopped| stopped).await;
}
