//! Records of trials, and the run directory that keeps them.

mod account;
pub mod inventory;
pub mod keys;
mod measures;
mod record;
pub mod said;
pub mod store;

pub use account::{ServiceAccount, Spending};
pub use measures::{
    AttackCost, AttackSuccess, BoundarySearch, ChangeCounts, ChangedBox, DetectionDiff, Field,
    FirstSuccess, FoundObject, LabelledBox, Measures, NamedValue, Relocation, SceneChange,
    SceneObject,
};
pub use record::{Cost, GoldenRecord, ModelValue, Record, Site, TrialId};
