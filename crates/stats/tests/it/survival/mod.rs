//! Survival models beside lifelines, beside closed forms, and on bad input.

mod behaviour;
mod brier;
mod calibration;
mod crossed;
mod data;
mod model;
mod r;
mod reference;
mod simulate;
