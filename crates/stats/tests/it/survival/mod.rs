//! Survival models beside lifelines, beside closed forms, and on bad input.

mod behaviour;
mod crossed;
mod data;
mod model;
mod reference;
mod simulate;
