//! Survival models beside lifelines, beside closed forms, and on bad input.
#![expect(clippy::unwrap_used, reason = "tests")]

mod behaviour;
mod data;
mod model;
mod reference;
mod simulate;
