//! The best class must stay.

use crate::{rank_of, top_class};
use faultlens_core::{
    Comparison, Oracle, Outcome, Parameter, ParameterKind, Plugin, Reason, Response, Setting, Unset,
};

/// # What it does
/// Unchanged where golden's best class is still among the best `k`.
/// # When to use it
/// Classifiers; `k` of 1 is what fault-injection papers call silent data corruption.
pub(super) const SAME_TOP: Plugin<dyn Oracle> = Plugin {
    name: "same_top",
    about: "the best class of the undisturbed answer must stay among the best k",
    when: "classifiers; with k = 1, what fault-injection papers call silent data corruption",
    parameters: &[K],
    build: |settings| Ok(Box::new(SameTop { k: settings.number(K.name)? as usize })),
};

const K: Parameter = Parameter {
    name: "k",
    about: "how many of the best classes count; fewer than the model has",
    kind: ParameterKind::Whole { min: 1, max: 1000 },
    unset: Unset::Is(Setting::Number(1.0)),
};

struct SameTop {
    k: usize,
}

impl Oracle for SameTop {
    fn judge(&self, comparison: &Comparison<'_>) -> Outcome {
        let best = match (comparison.golden, comparison.observed) {
            // Among all classes every class is always; who cannot object does not judge.
            (Response::Scores(golden), Response::Scores(_)) if self.k >= golden.scores.len() => {
                None
            }
            (Response::Ranking(golden), _) if golden.top().is_none() => {
                return Outcome::Skipped(Reason::GoldenEmpty);
            }
            (Response::Scores(_), Response::Scores(_))
            | (Response::Ranking(_), Response::Ranking(_)) => top_class(comparison.golden),
            _ => None,
        };
        match best {
            Some(best) if rank_of(comparison.observed, best).is_some_and(|at| at <= self.k) => {
                Outcome::Unchanged
            }
            Some(_) => Outcome::Changed,
            None => Outcome::Skipped(Reason::UnsupportedAnswer),
        }
    }
}
