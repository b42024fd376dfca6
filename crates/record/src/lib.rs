//! The records of trials, and the run directory that keeps them.
//!
//! 1. A [`Record`] is what remains of one trial: its outcome, the site of a model fault, its cost and
//!    typed [`Measures`].
//! 2. A [`Store`](store::Store) is a run directory: whatever was written to it stays, however the
//!    process ends. [`store::merge`] combines the runs of shards.
//! 3. [`store::export_csv`] and [`store::export_parquet`] write the records for other tools.
//!
//! ```no_run
//! use faultlens_core::Outcome;
//! use faultlens_record::store::{Store, StoreError};
//! use std::path::Path;
//!
//! let store = Store::read(Path::new("runs/signs"))?;
//! let faults = &store.manifest().faults;
//! store.for_each(|record| {
//!     if record.outcome == Outcome::Changed {
//!         println!("{}: {:?}", faults[record.fault as usize].label, record.answer);
//!     }
//!     Ok::<_, StoreError>(())
//! })?;
//! # Ok::<(), StoreError>(())
//! ```

mod account;
mod golden_scene;
mod measures;
mod record;
pub mod store;

pub use account::{ServiceAccount, Spending};
pub use golden_scene::{GoldenScene, KnownObject};
pub use measures::{
    AttackCost, AttackSuccess, BoundarySearch, ChangeCounts, ChangedBox, DetectionDiff, Field,
    FirstSuccess, FoundObject, LabelledBox, Measures, NamedValue, Relocation, SceneChange,
    SceneObject,
};
pub use record::{Brief, Cost, GoldenRecord, ModelValue, Record, Site, TrialId};
