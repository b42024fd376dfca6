//! Sweeps from end to end.

#![expect(clippy::unwrap_used, reason = "tests")]

mod end_to_end;
