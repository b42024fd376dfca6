//! Campaigns as users run them from the command line, each time in a fresh folder.

#![expect(clippy::unwrap_used, reason = "tests")]

mod events;
#[path = "../folder/mod.rs"]
mod folder;
mod images;
mod resume;
mod shards;
mod shelves;
mod small;
mod user;
mod verdicts;
mod wrong;
