//! Every report, from one rich summary and one empty one, and the page of a sweep.
#![expect(clippy::unwrap_used, reason = "tests")]

mod fixture;
#[path = "../../../analysis/tests/it/sweep/generated.rs"]
mod generated;
mod page;
mod preserved;
mod scenes;
mod services;
mod sweep_page;
mod texts;
