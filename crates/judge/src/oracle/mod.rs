//! Who judges a trial: oracles, and guards that say when their judgement counts.

mod golden_correct;
mod same_top;
mod same_values;

use faultlens_core::{Exhibit, Guard, Oracle, Outcome, Plugin, Reason};

/// Every oracle, in alphabetical order. Add yours here.
pub const ORACLES: &[Plugin<dyn Oracle>] = &[same_top::SAME_TOP, same_values::SAME_VALUES];

/// Every guard, in alphabetical order. Add yours here.
pub const GUARDS: &[Plugin<dyn Guard>] = &[golden_correct::GOLDEN_CORRECT];

/// An oracle behind its guards.
pub struct Judge {
    oracle: Box<dyn Oracle>,
    guards: Vec<Box<dyn Guard>>,
}

impl Judge {
    /// A judge who asks the guards in this order, then the oracle.
    pub fn new(oracle: Box<dyn Oracle>, guards: Vec<Box<dyn Guard>>) -> Self {
        Self { oracle, guards }
    }

    /// Why no trial of this case says anything, whatever the fault; asked with golden as the
    /// observed answer.
    pub fn bars_case(&self, exhibit: &Exhibit<'_>) -> Option<Reason> {
        if !exhibit.golden.is_finite() {
            return Some(Reason::GoldenNotFinite);
        }
        self.guards.iter().find_map(|guard| guard.bars_case(exhibit))
    }

    /// What became of a trial of a case that is not barred. An answer that is not finite gives
    /// the fault away.
    pub fn judge(&self, exhibit: &Exhibit<'_>) -> Outcome {
        if !exhibit.observed.is_finite() {
            return Outcome::Detected;
        }
        self.oracle.judge(exhibit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Case, Image, Response, Scores, Setting, Settings};

    fn scores(scores: &[f32]) -> Response {
        Response::Scores(Scores { scores: scores.to_vec(), names: [].into() })
    }

    fn judged(judge: &Judge, truth: Option<usize>, golden: &Response, seen: &Response) -> Outcome {
        let case = Case::new("case", Image::from_rgb(1, 1, vec![0; 3]).unwrap());
        let exhibit = Exhibit { case: &case, truth, golden, observed: seen };
        let barred = judge.bars_case(&Exhibit { observed: golden, ..exhibit });
        barred.map_or_else(|| judge.judge(&exhibit), Outcome::Unjudged)
    }

    fn oracle(name: &str, setting: &'static str, number: f64) -> Box<dyn Oracle> {
        let mut settings = Settings::default();
        settings.set(setting, Setting::Number(number));
        let plugin = ORACLES.iter().find(|plugin| plugin.name == name).unwrap();
        (plugin.build)(&settings).unwrap()
    }

    #[test]
    fn registries_are_in_order() {
        assert!(ORACLES.is_sorted_by_key(|plugin| plugin.name));
        assert!(GUARDS.is_sorted_by_key(|plugin| plugin.name));
    }

    #[test]
    fn the_same_best_class_masks_a_fault() {
        let golden = scores(&[0.1, 0.7, 0.2]);
        let cases = [
            (1.0, scores(&[0.1, 0.5, 0.4]), Outcome::Masked),
            (1.0, scores(&[0.1, 0.4, 0.5]), Outcome::Deviated),
            (2.0, scores(&[0.1, 0.4, 0.5]), Outcome::Masked),
            (2.0, scores(&[0.5, 0.1, 0.4]), Outcome::Deviated),
            (1.0, scores(&[f32::NAN, 0.9, 0.0]), Outcome::Detected),
            (1.0, scores(&[f32::INFINITY, 0.9, 0.0]), Outcome::Detected),
            (1.0, Response::Values(vec![1.0]), Outcome::Unjudged(Reason::Unsuited)),
            (3.0, scores(&[0.5, 0.1, 0.4]), Outcome::Unjudged(Reason::Unsuited)),
        ];
        for (k, observed, wanted) in cases {
            let judge = Judge::new(oracle("same_top", "k", k), vec![]);
            assert_eq!(judged(&judge, None, &golden, &observed), wanted, "{observed:?}");
        }
    }

    #[test]
    fn values_may_differ_by_the_tolerance() {
        let golden = Response::Values(vec![1.0, -2.0]);
        let judge = Judge::new(oracle("same_values", "tolerance", 0.5), vec![]);
        for (observed, wanted) in [
            (vec![1.5, -2.0], Outcome::Masked),
            (vec![1.0, -2.6], Outcome::Deviated),
            (vec![1.0], Outcome::Deviated),
            (vec![f32::NEG_INFINITY, -2.0], Outcome::Detected),
        ] {
            let observed = Response::Values(observed);
            assert_eq!(judged(&judge, None, &golden, &observed), wanted, "{observed:?}");
        }
    }

    #[test]
    fn what_was_wrong_before_the_fault_is_not_judged() {
        let guard = || (GUARDS[0].build)(&Settings::default()).unwrap();
        let judge = Judge::new(oracle("same_top", "k", 1.0), vec![guard()]);
        let (golden, other) = (scores(&[0.9, 0.1]), scores(&[0.1, 0.9]));
        for (truth, wanted) in [
            (Some(0), Outcome::Deviated),
            (Some(1), Outcome::Unjudged(Reason::GoldenWrong)),
            (None, Outcome::Unjudged(Reason::NoLabel)),
        ] {
            assert_eq!(judged(&judge, truth, &golden, &other), wanted, "{truth:?}");
        }
        let broken = scores(&[f32::NAN, 0.0]);
        let wanted = Outcome::Unjudged(Reason::GoldenNotFinite);
        assert_eq!(judged(&judge, Some(0), &broken, &other), wanted);
    }
}
