//! Campaigns on the embedded world and on toy models: run, replayed, pinned and attacked.

#![expect(clippy::unwrap_used, reason = "tests")]

mod architecture;
mod attacks;
mod campaigns;
mod outage;
mod run;
mod scenes;
