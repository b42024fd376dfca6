//! Survival models beside lifelines, beside closed forms, and on bad input.
#![expect(clippy::unwrap_used, reason = "tests")]

mod behaviour;
mod data;
mod reference;
mod simulate;
mod speed;
