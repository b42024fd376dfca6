//! Records of trials, and the run directory that keeps them.

mod account;
pub mod inventory;
pub mod keys;
mod record;
pub mod said;
pub mod store;

pub use account::{ServiceAccount, Spending};
pub use record::{GoldenRecord, Place, Record, Site, TrialId};
