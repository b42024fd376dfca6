//! Image faults beside their references, attacks on networks with known results, and the
//! documentation beside the registries.

#![expect(clippy::unwrap_used, reason = "tests")]

mod attacks;
mod docs;
mod reference;
mod sizes;
