//! Campaigns: what is disturbed, asked and judged; run, recorded and analysed.
//!
//! 1. [`Campaign::load`] reads a campaign file into checked types.
//! 2. [`Campaign::run`] runs what is not yet on record; [`run::Event`]s tell how it goes.
//! 3. The [`store::Store`] of a run directory holds every record.
//! 4. [`analysis::summarise`] says what they mean; [`analysis::compare`] sets two runs side by side.
//! 5. A [`replay::Rerun`] repeats single trials bit for bit, and pins them.
//! 6. [`protect::protect`] runs the same trials against protections, and says what each is worth.

mod annotate;
mod attack;
mod boundary;
pub mod cases;
mod changes;
mod cost_estimate;
pub mod detection_diff;
mod fingerprint;
pub mod inject;
pub mod pin;
pub mod plan;
mod preserve;
pub mod replay;
pub mod run;
pub mod scene;
mod score;
mod setup;
mod show;
mod standing;
mod subject;

pub use cost_estimate::CostEstimate;
pub use fingerprint::fingerprint;
pub use inject::case_key;
pub use preserve::PreserveError;
pub use run::run_campaign;
pub use setup::{OpenCampaign, OpenCampaignError};
pub use subject::{OpenTarget, WhiteBox};
