//! Image faults whose strength is drawn for every trial, so that the visual change lies in a wanted
//! range.

use super::image::shown;
use super::{Disturb, SeedScope, Trial};
use crate::observation::Observation;
use faultlens_core::Reason;
use faultlens_record::keys::TRIED;
use faultlens_record::store::FaultOn;
use faultlens_spec::{Drawn, Varied};
use std::collections::BTreeMap;

impl Disturb for Varied {
    fn disturbs(&self) -> FaultOn {
        FaultOn::Image
    }

    fn seed_scope(&self) -> SeedScope {
        SeedScope::Case
    }

    fn run(&self, trial: &mut Trial<'_>) -> Observation {
        let golden = trial.golden;
        let drawn = self.draw(&golden.case.image, golden.reference(), trial.stream());
        let Some(drawn) = drawn else { return Observation::skipped(Reason::StrengthNotFound) };
        let Drawn { fault, seed, image, visual_change, strengths, tried, fits } = drawn;
        let mut extra = BTreeMap::new();
        for (name, strength) in strengths {
            extra.insert(name.to_owned(), strength.to_string());
        }
        if tried > 1 {
            extra.insert(TRIED.to_owned(), tried.to_string());
        }
        let shown = shown(trial, fault.as_ref(), seed, image, visual_change);
        // An image outside the wanted range would say nothing, so nobody is asked about it.
        let observation = if fits {
            Observation::answered(trial.ask(&shown.image).map(Some))
        } else if visual_change.is_some() {
            Observation::skipped(Reason::StrengthNotFound)
        } else {
            Observation::skipped(Reason::VisualChangeUnknown)
        };
        Observation { shown: Some(Box::new(shown)), extra, ..observation }
    }
}
