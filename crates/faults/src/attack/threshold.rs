//! Every pixel a little.

use super::generations::Space;
use super::search::{GENERATIONS, POPULATION, SEARCH_CMA, Search};
use super::{Attack, AttackSession, Halt, Needs, Norm};
use crate::doc::{about, described, when};
use faultlens_core::{Dose, Parameter, ParameterKind, Plugin, Setting, Unset};

const THRESHOLD: Parameter = Parameter {
    name: "threshold",
    about: "largest change of a pixel, in levels of 255",
    kind: ParameterKind::Number { min: 0.01, max: 256.0 },
    unset: Unset::Is(Setting::Number(16.0)),
};

described! {
    /// # What it does
    /// Searches for small changes of all pixels at once, with a population of candidates (Kotyan
    /// and Vargas 2022).
    /// # When to use it
    /// An attacker who can only query and gets scores, where no pixel may stand out.
    struct Threshold {
        /// Of 255 levels.
        threshold: f64,
        search: Search,
    }
}

pub(super) const THRESHOLD_ATTACK: Plugin<dyn Attack> = Plugin {
    name: "threshold",
    about: about(Threshold::DOC),
    when: when(Threshold::DOC),
    parameters: &[THRESHOLD, SEARCH_CMA, GENERATIONS, POPULATION],
    build: |settings| {
        let threshold = settings.number(THRESHOLD.name)?;
        Ok(Box::new(Threshold { threshold, search: Search::of(settings)? }))
    },
};

impl Attack for Threshold {
    fn needs(&self) -> Needs {
        Needs::Scores
    }

    fn norm(&self) -> Norm {
        Norm::Infinity
    }

    fn dose(&self) -> Dose {
        Dose { axis: "threshold", amount: self.threshold }
    }

    fn search(&self, session: &mut AttackSession<'_>) -> Result<(), Halt> {
        let max = self.threshold / 255.0;
        for sample in session.open()? {
            let start: Vec<f64> = session.start(sample).iter().map(|v| f64::from(*v)).collect();
            let bounds = start.iter().map(|v| ((v - max).max(0.0), (v + max).min(1.0))).collect();
            let space = Space { bounds, start, width: max / 4.0 };
            self.search.run(session, sample, space, &|_, values| {
                values.iter().map(|value| *value as f32).collect()
            })?;
        }
        Ok(())
    }
}
