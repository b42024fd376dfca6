//! Faults that are searched for: the smallest changes of an image that change an answer.
//!
//! An [`Attack`] moves points, images as floats between 0 and 1, and queries an [`AttackTarget`]
//! about them through an [`AttackSession`], which keeps account of the cost: queries, gradients,
//! time, and when an answer first changed.

mod auto_pgd;
mod ball;
mod cma;
mod deepfool;
mod evolution;
mod fgm;
mod generations;
mod hop_skip_jump;
mod loss;
mod noise;
mod norm;
mod pgd;
mod pixel;
mod random_noise;
mod search;
mod session;
mod square;
mod step;
mod target;
mod threshold;

pub use norm::Norm;
pub use session::{AttackCost, AttackSession, First, Found, Halt, Sample};
pub use target::{AttackTarget, Goal, Gradient, Question, Reply};

use faultlens_core::{Dose, Plugin};

/// A search for a change of an image that changes the answer.
pub trait Attack: Send + Sync {
    /// What it must learn from a target.
    fn needs(&self) -> Needs;

    /// How its changes are measured; the smallest one that changes the answer is kept.
    fn norm(&self) -> Norm;

    /// How much of it the target meets.
    fn dose(&self) -> Dose;

    /// Whether it is a single shot: how long that takes says nothing of how long an answer would
    /// have survived.
    fn is_one_shot(&self) -> bool {
        false
    }

    /// The largest number of queries that it makes, where that is known.
    fn max_queries(&self) -> Option<u64> {
        None
    }

    /// Whether it draws random numbers; where it does not, one trial per image is enough.
    fn draws(&self) -> bool {
        true
    }

    /// Searches for all samples of the session, until each is found or the attack's own limits are
    /// reached.
    fn search(&self, session: &mut AttackSession<'_>) -> Result<(), Halt>;
}

/// What an attack must learn from a target; what offers more will do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Whether the answer changed.
    Decisions,
    /// How sure the target is, too.
    Scores,
    /// How its scores depend on the pixels, too.
    Gradients,
}

/// Every attack, in alphabetical order. Add yours here.
pub const ATTACKS: &[Plugin<dyn Attack>] = &[
    auto_pgd::AUTO_PGD,
    deepfool::DEEPFOOL,
    fgm::FGM,
    hop_skip_jump::HOP_SKIP_JUMP,
    pgd::PGD,
    pixel::PIXEL,
    random_noise::RANDOM_NOISE,
    square::SQUARE,
    threshold::THRESHOLD_ATTACK,
];
