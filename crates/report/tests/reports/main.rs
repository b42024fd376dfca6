//! Every report, from one rich summary and one empty one.
#![expect(clippy::unwrap_used, reason = "tests")]

mod fixture;
mod page;
mod preserved;
mod scenes;
mod services;
mod texts;
