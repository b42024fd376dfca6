//! Campaigns: faults are injected, targets are asked, answers are judged and recorded.
//!
//! 1. [`OpenCampaign::open`] opens the targets and cases of a checked campaign file and makes the
//!    [`plan`]: every trial has a number.
//! 2. [`run_campaign`] runs what is not yet on record; [`run::Event`]s tell how it goes.
//! 3. A [`GoldenCase`] is one target and one case, asked undisturbed. Its trials are run by the
//!    [`Disturb`](trial::Disturb) of their fault, judged against it, and recorded.
//! 4. A [`replay::Rerun`] repeats single trials bit for bit, and pins them.
//!
//! [`OpenCampaign::builder`] puts a campaign together without a file, with targets, faults and oracles of
//! the program's own.

mod annotate;
mod builder;
pub mod cases;
mod check;
mod clock;
mod context;
mod cost_estimate;
mod event;
mod fingerprint;
mod golden_case;
mod golden_record;
mod measure;
pub mod object_comparison;
mod object_pool;
mod observation;
mod open;
mod open_error;
pub mod pin;
pub mod plan;
mod preserve;
mod record;
pub mod replay;
pub mod run;
mod run_error;
pub mod scene;
mod target;
pub mod trial;
mod white_box;

pub use builder::CampaignBuilder;
pub use cases::case_key;
pub use context::TrialContext;
pub use cost_estimate::CostEstimate;
pub use fingerprint::fingerprint;
pub use golden_case::{GoldenCase, SiteHit};
pub use observation::{Observation, ShownImage};
pub use open::OpenCampaign;
pub use open_error::OpenCampaignError;
pub use preserve::PreserveError;
pub use run::run_campaign;
pub use target::OpenTarget;
pub use white_box::WhiteBox;
