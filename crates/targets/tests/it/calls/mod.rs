//! Calls over real sockets: what is sent, retried, cached and logged, and what is not.

mod budget;
mod cache;
mod kill;
mod number_wire;
mod retries;
mod secrets;
mod server;
mod tls;
