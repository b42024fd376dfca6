//! One call to a service, whoever its provider is: paced, retried, kept within budgets, cached and
//! logged.

mod backoff;
mod breaker;
mod budget;
mod cache;
mod caller;
mod client;
mod counts;
mod hash;
mod in_flight;
mod log;
mod rate;
mod redact;

pub(super) use budget::Budget;
pub(super) use cache::Cache;
pub(super) use caller::{Caller, Query, Reply};
pub use counts::CallCounts;
pub(super) use hash::RequestHash;
pub(super) use in_flight::InFlight;
pub(super) use log::CallLog;
