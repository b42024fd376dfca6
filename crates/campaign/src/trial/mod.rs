//! One trial: a fault is put in, the target is asked, and what it did is observed.
//!
//! [`Disturb`] is implemented once for every kind of fault, each in its own file. [`disturb`] is the
//! only place that asks which kind a fault is; all that differs between kinds is a method of the
//! trait.

pub(crate) mod attack;
mod boundary;
mod facts;
mod image;
mod model;
mod probe;
pub(crate) mod scene;
mod single;
mod varied;

pub use facts::{Facts, SeedScope, TrialSeed, Unfit};
pub(crate) use model::sites_hit;
pub use model::{STACK, strike};
pub(crate) use probe::PROBED_CASES;
pub use probe::Probe;
pub(crate) use single::run_one;

use crate::clock::micros;
use crate::golden_case::GoldenCase;
use crate::observation::Observation;
use crate::target::OpenTarget;
use faultlens_core::{Image, Response, Seed, Stream, Target as _, TargetError};
use faultlens_record::Cost;
use faultlens_spec::{Disturbance, FaultPoint};
use std::time::{Duration, Instant};

/// A kind of fault: how its trials are seeded, checked and run.
///
/// # Contract
/// [`run`](Self::run) depends on the golden case and on the seed alone, so that a trial repeats bit
/// for bit on any thread and in any order.
pub trait Disturb: Send + Sync {
    /// What planning and replaying need to know of the fault.
    fn facts(&self) -> Facts<'_>;

    /// Whether the fault can be tried on a target at all.
    fn check(&self, _target: &OpenTarget) -> Result<(), Unfit> {
        Ok(())
    }

    /// Tries the fault out on the first cases, so that one that cannot work is noticed before hours
    /// of work and not after. Returns how many trials each case has: `planned` unless the fault
    /// decides otherwise. The error says why it cannot work.
    fn trials(&self, planned: u32, _probe: &Probe<'_>) -> Result<u32, String> {
        Ok(planned)
    }

    /// Runs one trial.
    fn run(&self, trial: &mut Trial<'_>) -> Observation;

    /// Runs one trial for each seed and hands over each observation, in order. Faults that run
    /// faster together override it.
    fn run_batch(
        &self,
        golden: &GoldenCase<'_>,
        fault: &'static str,
        seeds: &[TrialSeed],
        each: &mut dyn FnMut(Observation),
    ) {
        for &seed in seeds {
            let mut trial = Trial::new(golden, fault, seed);
            let observation = self.run(&mut trial);
            each(trial.finish(observation));
        }
    }
}

/// The kind of a fault. Nothing else asks which one it is.
pub fn disturb(fault: &FaultPoint) -> &dyn Disturb {
    match &fault.disturbance {
        Disturbance::Image(fault) => fault,
        Disturbance::Varied(varied) => varied.as_ref(),
        Disturbance::Model(injection) => injection.as_ref(),
        Disturbance::Attack(attack) => attack.as_ref(),
        Disturbance::Scene(fault) => fault,
    }
}

/// One trial's access to its target: holds the golden case, draws the random numbers, counts the
/// queries and keeps the time.
pub struct Trial<'a> {
    /// The target and the case, asked undisturbed.
    pub golden: &'a GoldenCase<'a>,
    /// The name of the fault.
    pub fault: &'static str,
    /// Which trial it is.
    pub seed: TrialSeed,
    /// The random numbers of this trial.
    pub stream: Stream,
    queries: u32,
    started: Instant,
    /// The time that passed until the target was asked first.
    disturbed: Option<Duration>,
}

impl<'a> Trial<'a> {
    /// A trial that has not asked yet.
    pub(crate) fn new(golden: &'a GoldenCase<'a>, fault: &'static str, seed: TrialSeed) -> Self {
        let stream = Seed::new(seed.seed).stream();
        let started = Instant::now();
        Self { golden, fault, seed, stream, queries: 0, started, disturbed: None }
    }

    /// Asks the target, which counts as a query.
    pub fn ask(&mut self, image: &Image) -> Result<Response, TargetError> {
        self.start_asking();
        self.count_queries(1);
        self.golden.target.ask(image)
    }

    /// From now on time is the target's: what passed before was spent on the disturbance.
    pub(crate) fn start_asking(&mut self) {
        let elapsed = self.started.elapsed();
        self.disturbed.get_or_insert(elapsed);
    }

    /// Adds queries; searches make theirs without [`ask`](Self::ask).
    pub(crate) fn count_queries(&mut self, queries: u64) {
        let queries = u32::try_from(queries).unwrap_or(u32::MAX);
        self.queries = self.queries.saturating_add(queries);
    }

    /// Fills in what the trial itself knows: queries and time.
    pub(crate) fn finish(&self, observation: Observation) -> Observation {
        let elapsed = self.started.elapsed();
        if let Some(disturbed) = self.disturbed {
            self.golden.context.clock.add(disturbed, elapsed - disturbed);
        }
        let cost = Cost { queries: self.queries, micros: micros(elapsed) };
        Observation { cost, ..observation }
    }
}
