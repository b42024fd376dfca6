//! What an analysis hands over; `sweep.json` is this.

use serde::Serialize;

use super::clean::Clean;
use super::cost::{Basis, Costs, Standing};
use super::counts::{Counts, Grouping};
use super::durations::Durations;
use super::masking::Masked;
use super::questions::Questions;
use super::rows::Configuration;
use super::trash::Trash;

/// Everything that the analysis of a sweep found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// What was studied.
    pub about: About,
    /// How many configurations are broken.
    pub standings: Standings,
    /// The clean accuracy beside those verdicts.
    pub clean: Option<Clean>,
    /// The training over the attack seconds, of the configuration in the middle.
    pub trash: Option<Trash>,
    /// What it comes to, in words.
    pub conclusions: Vec<Conclusion>,
    /// What to mind before trusting the numbers.
    pub cautions: Vec<String>,
    /// Counts, pooled by attack, defence, architecture and data.
    pub groups: Vec<Grouping>,
    /// What a builder of models asks.
    pub questions: Questions,
    /// Survival in processor seconds.
    pub seconds: Durations,
    /// Survival in questions to the model.
    pub queries: Durations,
    /// Models whose gradients mislead white-box attacks.
    pub masking: Vec<Masked>,
    /// How many pairs of a defended model and a limit of changes were looked at for that.
    pub masking_looks: u64,
    /// Every configuration, in the order of the sweep.
    pub configurations: Vec<OfConfiguration>,
}

/// What was studied, in numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct About {
    /// Models with a defence under an attack.
    pub configurations: u64,
    /// Attacked samples.
    pub rows: u64,
    /// Trained models.
    pub models: u64,
    /// Different samples.
    pub samples: u64,
    /// Different attacks, whatever their strength.
    pub attacks: u64,
    /// Different defences, the control among them.
    pub defences: u64,
    /// Different architectures.
    pub architectures: u64,
    /// Different data sets.
    pub data: u64,
    /// What times were measured on.
    pub machines: Vec<String>,
    /// Trials that ended before anything was measured, which have no row.
    pub lost: u64,
}

/// A sentence, and what it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conclusion {
    /// A word by which it can be found: `broken`, `covariates`, `depth`, `defences`, `unchanged`,
    /// `training`, `masking`.
    pub about: &'static str,
    /// The sentence.
    pub text: String,
}

/// How many configurations have which standing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Standings {
    /// Attacking is cheaper than training.
    pub broken: u64,
    /// Attacking is dearer.
    pub not_broken: u64,
    /// The interval holds 1, or too few images stand behind it.
    pub inconclusive: u64,
    /// Those of them with too few images.
    pub few_images: u64,
    /// Verdicts that the model of all configurations decided, where own samples left it open.
    pub pooled: u64,
    /// Neither costs nor durations are known.
    pub unknown: u64,
}

impl Standings {
    /// Counts the standings of configurations.
    pub fn of(configurations: &[OfConfiguration]) -> Self {
        let mut out = Self::default();
        for one in configurations {
            let basis = one.costs.as_ref().and_then(|costs| costs.verdict).map(|one| one.basis);
            out.few_images += u64::from(basis == Some(Basis::FewImages));
            out.pooled += u64::from(basis == Some(Basis::Pooled));
            *match one.costs.as_ref().and_then(Costs::standing) {
                Some(Standing::Broken) => &mut out.broken,
                Some(Standing::NotBroken) => &mut out.not_broken,
                Some(Standing::Inconclusive) => &mut out.inconclusive,
                None => &mut out.unknown,
            } += 1;
        }
        out
    }

    /// All whose standing was asked for and answered, inconclusive or not.
    #[must_use]
    pub fn known(&self) -> u64 {
        self.broken + self.not_broken + self.inconclusive
    }
}

/// One configuration: what it is, what was counted, what it costs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfConfiguration {
    /// Its place in the sweep, from 0.
    pub index: u64,
    /// The data set.
    pub data: String,
    /// Which of its shuffles.
    pub permutation: u32,
    /// The network.
    pub architecture: String,
    /// Its layers with weights.
    pub layers: u32,
    /// Its passes over the training set.
    pub epochs: u32,
    /// How fast it learned.
    pub learning_rate: f64,
    /// The defence's name.
    pub defence: String,
    /// The defence with its settings.
    pub defence_label: String,
    /// The attack's name.
    pub attack: String,
    /// The attack with its settings.
    pub attack_label: String,
    /// Whether the attack has no duration: a single shot, or a search that begins anywhere.
    pub one_shot: bool,
    /// Processor seconds of training for each sample.
    pub training_seconds: f64,
    /// Processor seconds of a plain answer.
    pub prediction_seconds: f64,
    /// What was counted.
    pub counts: Counts,
    /// What it costs; `None` where the training time is not known.
    pub costs: Option<Costs>,
}

impl OfConfiguration {
    pub(super) fn new(
        index: usize,
        of: &Configuration,
        counts: Counts,
        costs: Option<Costs>,
    ) -> Self {
        Self {
            index: index as u64,
            data: of.data.clone(),
            permutation: of.permutation,
            architecture: of.architecture.clone(),
            layers: of.layers,
            epochs: of.epochs,
            learning_rate: of.learning_rate,
            defence: of.defence.name.clone(),
            defence_label: of.defence.label.clone(),
            attack: of.attack.name.clone(),
            attack_label: of.attack.label.clone(),
            one_shot: of.one_shot,
            training_seconds: of.training_seconds,
            prediction_seconds: of.prediction_seconds,
            counts,
            costs,
        }
    }
}
