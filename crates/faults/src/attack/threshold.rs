//! Every pixel a little.

use super::search::{GENERATIONS, POPULATION, SEARCH_CMA, Search, Space};
use super::{Attack, AttackSession, Halt, Needs, Norm};
use faultlens_core::{Dose, Parameter, ParameterKind, Plugin, Setting, Unset};

const THRESHOLD: Parameter = Parameter {
    name: "threshold",
    about: "how far every pixel may move, of 255 levels",
    kind: ParameterKind::Number { min: 0.01, max: 256.0 },
    unset: Unset::Is(Setting::Number(16.0)),
};

/// # What it does
/// Searches for small changes of all pixels at once that change the answer (Kotyan and Vargas
/// 2022).
/// # When to use it
/// Against targets that say how sure they are, where no pixel may stand out.
pub(super) const THRESHOLD_ATTACK: Plugin<dyn Attack> = Plugin {
    name: "threshold",
    about: "small changes of all pixels, searched for with a population of candidates",
    when: "somebody who can only ask, and must not let any pixel stand out",
    parameters: &[THRESHOLD, SEARCH_CMA, GENERATIONS, POPULATION],
    build: |settings| {
        let threshold = settings.number(THRESHOLD.name)?;
        Ok(Box::new(Threshold { threshold, search: Search::of(settings)? }))
    },
};

struct Threshold {
    /// Of 255 levels.
    threshold: f64,
    search: Search,
}

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

    fn search(&self, hunt: &mut AttackSession<'_>) -> Result<(), Halt> {
        let most = self.threshold / 255.0;
        for sample in hunt.open()? {
            let start: Vec<f64> = hunt.start(sample).iter().map(|v| f64::from(*v)).collect();
            let bounds = start.iter().map(|v| ((v - most).max(0.0), (v + most).min(1.0))).collect();
            let space = Space { bounds, start, width: most / 4.0 };
            let image = |_: &[f32], values: &[f64]| values.iter().map(|v| *v as f32).collect();
            self.search.run(hunt, sample, space, &image)?;
        }
        Ok(())
    }
}
