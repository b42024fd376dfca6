//! Campaigns: what is disturbed, asked and judged; run, recorded and analysed.
//!
//! 1. [`Campaign::load`] reads a campaign file into checked types.
//! 2. [`Campaign::run`] runs what is not yet on record; [`run::Event`]s tell how it goes.
//! 3. The [`store::Store`] of a run directory holds every record.
//! 4. [`analysis::summarise`] says what they mean; [`analysis::compare`] sets two runs side by side.
//! 5. A [`replay::Rerun`] repeats single trials bit for bit, and pins them.
//! 6. [`protect::protect`] runs the same trials against protections, and says what each is worth.

pub mod analysis;
mod annotate;
mod attack;
mod boundary;
pub mod cases;
mod changes;
pub mod config;
mod cost_estimate;
pub mod detection_diff;
mod fingerprint;
mod inject;
mod inventory;
pub mod pin;
pub mod plan;
mod preserve;
pub mod protect;
mod record;
pub mod replay;
pub mod run;
pub mod scene;
mod score;
mod setup;
mod show;
mod standing;
pub mod store;
mod subject;
mod varied;

pub use attack::{ATTACK_SETTINGS, AttackSpec};
pub use config::Campaign;
pub use cost_estimate::CostEstimate;
pub use fingerprint::fingerprint;
pub use inject::case_key;
pub use preserve::PreserveError;
pub use record::{GoldenRecord, Place, Record, Site, TrialId};
pub use setup::{OpenCampaign, OpenCampaignError};
pub use subject::{OpenTarget, WhiteBox};
pub use varied::{Drawn, Varied};
