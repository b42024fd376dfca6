//! One trial: a fault is put in, the target is asked, and what it did is observed.
//!
//! [`Disturb`] is implemented once for every kind of fault, each in its own file. [`disturb`] is the
//! only place that asks which kind a fault is; all that differs between kinds is a method of the
//! trait.

pub(crate) mod attack;
mod boundary;
mod image;
mod model;
mod probe;
pub(crate) mod scene;
mod varied;

pub use model::{STACK, strike};
pub(crate) use probe::PROBED_CASES;
pub use probe::Probe;

use crate::golden_case::GoldenCase;
use crate::observation::Observation;
use crate::target::OpenTarget;
use faultlens_core::{Image, Response, Seed, Stream, TargetError};
use faultlens_faults::{Injection, SceneFault};
use faultlens_record::store::FaultOn;
use faultlens_spec::{Disturbance, FaultPoint};
use std::time::{Duration, Instant};

/// A kind of fault: how its trials are seeded, checked and run.
///
/// # Contract
/// [`run`](Self::run) depends on the golden case and on the seed alone, so that a trial repeats bit
/// for bit on any thread and in any order.
pub trait Disturb: Send + Sync {
    /// What the fault disturbs, as manifests say it.
    fn disturbs(&self) -> FaultOn;

    /// What the random numbers of a trial depend on.
    fn seed_scope(&self) -> SeedScope;

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

    /// The most queries of a trial.
    fn max_queries(&self) -> u64 {
        1
    }

    /// Whether it puts objects into scenes.
    fn needs_objects(&self) -> bool {
        false
    }

    /// Whether a service must answer the undisturbed case the same way twice.
    fn needs_stable_golden(&self) -> bool {
        false
    }

    /// Whether a trial depends on its repeat, and not on its seed alone.
    fn depends_on_repeat(&self) -> bool {
        false
    }

    /// Why no changed image of the case's size can be shown of its trials; `None` where one can.
    fn shows_no_image(&self) -> Option<&'static str> {
        None
    }

    /// The fault inside a model, where it is one.
    fn injection(&self) -> Option<&Injection> {
        None
    }

    /// The fault in the scene, where it is one.
    fn scene_fault(&self) -> Option<&dyn SceneFault> {
        None
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

/// Runs a single trial.
pub(crate) fn run_one(fault: &FaultPoint, golden: &GoldenCase<'_>, seed: TrialSeed) -> Observation {
    let mut trial = Trial::new(golden, fault.name, seed);
    let observation = disturb(fault).run(&mut trial);
    trial.finish(observation)
}

/// What the random numbers of a trial depend on, beside the fault, its repeat and the campaign's
/// seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeedScope {
    /// The case alone, so that all targets are shown the same images.
    Case,
    /// The target and the case.
    TargetAndCase,
    /// The target alone: a permanent fault is the same in every case.
    Target,
    /// Nothing is drawn: the repeat says which site of an exhaustive plan it is.
    Repeat,
}

/// Which trial of a target, case and fault it is.
#[derive(Debug, Clone, Copy)]
pub struct TrialSeed {
    /// What its random numbers start from.
    pub seed: u64,
    /// How many trials came before it.
    pub repeat: u32,
}

/// Why a fault cannot be tried on a target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The target is of the wrong kind.
    #[error("{0}")]
    Target(String),
    /// The fault asks for an operator or a value that the model does not have.
    #[error("nothing of kind or name {wanted:?}; {hint}")]
    Selection {
        /// What was asked for.
        wanted: String,
        /// What there is.
        hint: String,
    },
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
    target: faultlens_core::Trial<'a>,
    /// Queries that were not made through [`ask`](Self::ask).
    counted: u32,
    started: Instant,
    /// The time that passed until the target was asked first.
    disturbed: Option<Duration>,
}

impl<'a> Trial<'a> {
    /// A trial that has not asked yet.
    pub(crate) fn new(golden: &'a GoldenCase<'a>, fault: &'static str, seed: TrialSeed) -> Self {
        Self {
            golden,
            fault,
            seed,
            target: faultlens_core::Trial::new(golden.target, Seed::new(seed.seed).stream()),
            counted: 0,
            started: Instant::now(),
            disturbed: None,
        }
    }

    /// The random numbers of this trial.
    pub fn stream(&mut self) -> &mut Stream {
        self.target.stream()
    }

    /// Asks the target, which counts as a query.
    pub fn ask(&mut self, image: &Image) -> Result<Response, TargetError> {
        self.start_asking();
        self.target.ask(image)
    }

    /// From now on time is the target's: what passed before was spent on the disturbance.
    pub(crate) fn start_asking(&mut self) {
        let elapsed = self.started.elapsed();
        self.disturbed.get_or_insert(elapsed);
    }

    /// Adds queries that a search made on its own.
    pub(crate) fn count_queries(&mut self, queries: u64) {
        let queries = u32::try_from(queries).unwrap_or(u32::MAX);
        self.counted = self.counted.saturating_add(queries);
    }

    /// Fills in what the trial itself knows: queries and time.
    pub(crate) fn finish(&self, observation: Observation) -> Observation {
        let elapsed = self.started.elapsed();
        if let Some(disturbed) = self.disturbed {
            self.golden.context.clock.add(disturbed, elapsed - disturbed);
        }
        Observation {
            queries: self.target.queries().saturating_add(self.counted),
            micros: micros(elapsed),
            ..observation
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
