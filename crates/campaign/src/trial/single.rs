//! Single trials, for replays, pins and examples.

use super::{Trial, TrialSeed, disturb};
use crate::golden_case::GoldenCase;
use crate::observation::Observation;
use faultlens_spec::FaultPoint;

/// Runs a single trial.
pub(crate) fn run_one(fault: &FaultPoint, golden: &GoldenCase<'_>, seed: TrialSeed) -> Observation {
    let mut trial = Trial::new(golden, fault.name, seed);
    let observation = disturb(fault).run(&mut trial);
    trial.finish(observation)
}
