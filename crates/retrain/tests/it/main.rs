//! Small experiments, as users run them.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says so by panicking")]

mod experiment;
