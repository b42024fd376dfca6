//! The top class must stay.

use crate::{rank_of, top_class};
use faultlens_core::{
    Comparison, Oracle, Outcome, Parameter, ParameterKind, Plugin, Reason, Response, Setting, Unset,
};

/// # What it does
/// Unchanged where golden's top class is still among the top `k`.
/// # When to use it
/// Classifiers; with `k` = 1 a change is what fault-injection papers call silent data corruption.
pub(super) const SAME_TOP: Plugin<dyn Oracle> = Plugin {
    name: "same_top",
    about: "the top class of the undisturbed answer must stay among the top k",
    when: "classifiers; with k = 1 a change is what papers call silent data corruption (SDC)",
    parameters: &[K],
    build: |settings| Ok(Box::new(SameTop { k: settings.number(K.name)? as usize })),
};

const K: Parameter = Parameter {
    name: "k",
    about: "how many of the top classes count; must be fewer than the model has",
    kind: ParameterKind::Whole { min: 1, max: 1000 },
    unset: Unset::Is(Setting::Number(1.0)),
};

struct SameTop {
    k: usize,
}

impl Oracle for SameTop {
    fn judge(&self, comparison: &Comparison<'_>) -> Outcome {
        match (comparison.golden, comparison.observed) {
            (Response::Scores(golden), Response::Scores(_)) => {
                // With k classes or fewer every class is always among the top k: the oracle could
                // never say "changed", so it must not say "unchanged" either.
                if self.k >= golden.scores.len() {
                    return Outcome::Skipped(Reason::UnsupportedAnswer);
                }
            }
            (Response::Ranking(golden), _) if golden.top().is_none() => {
                return Outcome::Skipped(Reason::GoldenEmpty);
            }
            (Response::Ranking(_), Response::Ranking(_)) => {}
            _ => return Outcome::Skipped(Reason::UnsupportedAnswer),
        }
        let Some(class) = top_class(comparison.golden) else {
            return Outcome::Skipped(Reason::UnsupportedAnswer);
        };
        match rank_of(comparison.observed, class) {
            Some(rank) if rank <= self.k => Outcome::Unchanged,
            _ => Outcome::Changed,
        }
    }
}
