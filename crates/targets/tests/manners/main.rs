//! A service over real sockets: what is asked, repeated, filed, accounted for, and what is not.

#![expect(clippy::unwrap_used, reason = "tests")]

mod account;
mod answers;
mod kill;
mod server;
mod tls;
mod trouble;
mod trust;
mod wire;
