//! Image faults whose strength is drawn for every trial, so that the visual change lies in a wanted
//! range.

use super::image::shown;
use super::{Disturb, Facts, SeedScope, Trial};
use crate::observation::Observation;
use faultlens_core::Reason;
use faultlens_record::store::FaultOn;
use faultlens_record::{Measures, NamedValue};
use faultlens_spec::{Drawn, Varied};

impl Disturb for Varied {
    fn facts(&self) -> Facts<'_> {
        Facts::new(FaultOn::Image, SeedScope::Case)
    }

    fn run(&self, trial: &mut Trial<'_>) -> Observation {
        let golden = trial.golden;
        let drawn = self.draw(&golden.case.image, golden.reference(), &mut trial.stream);
        let Some(drawn) = drawn else { return Observation::skipped(Reason::StrengthNotFound) };
        let Drawn { fault, seed, image, visual_change, strengths, tried, fits } = drawn;
        let mut measures = Measures::default();
        for (name, value) in strengths {
            measures.strengths.push(NamedValue { name: name.into(), value });
        }
        // Records list strengths by name, whatever the order in which a fault draws them.
        measures.strengths.sort_by(|a, b| a.name.cmp(&b.name));
        if tried > 1 {
            measures.draws = Some(tried);
        }
        let shown = shown(trial, fault.as_ref(), seed, image, visual_change);
        // An image outside the wanted range is no evidence, so the target is not asked about it.
        let observation = if fits {
            Observation::answered(trial.ask(&shown.image).map(Some))
        } else if visual_change.is_some() {
            Observation::skipped(Reason::StrengthNotFound)
        } else {
            Observation::skipped(Reason::VisualChangeUnknown)
        };
        Observation { shown: Some(Box::new(shown)), measures, ..observation }
    }
}
