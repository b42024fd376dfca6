//! The experiment with people that tolerances are estimated from: a picture for 200 ms, a noise
//! mask, a choice between two.
//!
//! 1. [`prepare`] makes the pictures of a study: originals, and versions with faults spread over
//!    visual change.
//! 2. A [`Desk`] lets people in, deals pictures so that nobody sees two versions of one, and takes
//!    answers; a [`Server`] puts it behind a page.
//! 3. Every answer is a line of the journal on disk before the page hears of it. All else follows
//!    from the journal: [`Status`], and what [`collect`] makes: tables, and a run directory in
//!    which people are a target like any other.
//!
//! ```no_run
//! use faultlens_human_study::{Desk, Server};
//! use std::path::Path;
//!
//! // `faultlens people prepare` has made the study.
//! let desk = Desk::open(Path::new("study"))?;
//! let server = Server::bind(desk, "127.0.0.1:8080".parse()?)?;
//! println!("http://{}", server.address()?);
//! server.run()?; // until its `stopper` is used
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod collect;
mod connections;
mod deal;
mod desk;
mod error;
mod file;
mod journal;
mod ledger;
mod pace;
mod pages;
mod people;
mod prepare;
mod protocol;
mod server;
mod status;
mod step;
mod stimulus;
mod study;

pub use collect::collect;
pub use desk::{Desk, Link, Refusal};
pub use error::StudyError;
pub use faultlens_serve::Stopper;
pub use journal::{Purpose, TimedChoice};
pub use people::RUN;
pub use prepare::{StudyRequest, fault, prepare};
pub use protocol::Protocol;
pub use server::Server;
pub use status::{People, Pictures, Status};
pub use step::{Answer, Begin, Next, Recorded, Step};
pub use stimulus::{Stimulus, StimulusKind};
pub use study::Study;
