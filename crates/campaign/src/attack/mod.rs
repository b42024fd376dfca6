//! Trials that search: an attack on one target and case.

mod check;
mod trial;
mod victim;

pub(crate) use check::{gradients_work, suits};
pub(crate) use faultlens_spec::AttackSpec;
