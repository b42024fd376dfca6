//! The best class must stay.

use faultlens_core::{
    Exhibit, Oracle, Outcome, Parameter, ParameterKind, Plugin, Reason, Response, Setting, Unset,
};

/// # What it does
/// Masked where golden's best class is still among the best `k`.
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
    kind: ParameterKind::Whole { least: 1, most: 1000 },
    unset: Unset::Is(Setting::Number(1.0)),
};

struct SameTop {
    k: usize,
}

impl Oracle for SameTop {
    fn judge(&self, exhibit: &Exhibit<'_>) -> Outcome {
        let (Response::Scores(golden), Response::Scores(observed)) =
            (exhibit.golden, exhibit.observed)
        else {
            return Outcome::Unjudged(Reason::Unsuited);
        };
        // Among all classes every class is always; who cannot object does not judge.
        if self.k >= golden.scores.len() {
            return Outcome::Unjudged(Reason::Unsuited);
        }
        match golden.top() {
            Some(top) if observed.has_among_top(top, self.k) => Outcome::Masked,
            Some(_) => Outcome::Deviated,
            None => Outcome::Unjudged(Reason::Unsuited),
        }
    }
}
