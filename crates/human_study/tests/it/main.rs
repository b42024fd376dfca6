//! The whole experiment without a browser: who is shown what, what is kept, what a server says.
#![expect(clippy::unwrap_used, reason = "tests")]

mod dealt;
mod http;
mod made;
mod prepared;
mod recorded;
mod sessions;
