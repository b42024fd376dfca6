//! A target need not tolerate more than people do.

use crate::Tolerance;
use faultlens_core::{
    AppliedFault, Comparison, Guard, Parameter, ParameterKind, Plugin, Reason, SettingError,
    Settings, Unset,
};

/// # What it does
/// Skips the trials whose image is changed more than people tolerate. Trials that leave the image
/// unchanged are all judged.
/// # When to use it
/// Requirements after Hu et al. (2022): a target should cope with what people cope with, no more.
pub(super) const WITHIN_TOLERANCE: Plugin<dyn Guard> = Plugin {
    name: "within_tolerance",
    about: "judges only trials whose image is changed no more than people tolerate",
    when: "targets that should cope with what people cope with, and no more",
    parameters: &[
        Parameter {
            name: "at_most",
            about: "the largest visual change that is judged, whatever the fault",
            kind: ParameterKind::Number { min: 0.0, max: 1.0 },
            unset: Unset::Absent,
        },
        Parameter {
            name: "tolerance",
            about: "what people tolerate of each fault, by name; in place of at_most",
            kind: ParameterKind::Choice(&["cifar10-car", "imagenet-car"]),
            unset: Unset::Absent,
        },
        Parameter {
            name: "preserves",
            about: "which threshold of the tolerance holds: people are right as often as before \
                    (correctness), or give the same answer as before (prediction)",
            kind: ParameterKind::Choice(&["correctness", "prediction"]),
            unset: Unset::Absent,
        },
    ],
    build: |settings| Ok(Box::new(WithinTolerance::new(settings)?)),
};

enum WithinTolerance {
    AtMost(f64),
    Of { tolerance: Tolerance, correctness: bool },
}

impl WithinTolerance {
    fn new(settings: &Settings) -> Result<Self, SettingError> {
        let correctness = settings.word("preserves").ok().map(|word| word == "correctness");
        let named = settings.word("tolerance").ok().and_then(Tolerance::named);
        match (settings.number_if_set("at_most"), named, correctness) {
            (Some(at_most), None, None) => Ok(Self::AtMost(at_most)),
            (None, Some(tolerance), correctness) => {
                Ok(Self::Of { tolerance, correctness: correctness.unwrap_or(false) })
            }
            _ => Err(SettingError(
                "set at_most (a visual change), or tolerance and preserves".to_owned(),
            )),
        }
    }

    fn limit(&self, fault: &str) -> Option<f64> {
        match self {
            Self::AtMost(at_most) => Some(*at_most),
            Self::Of { tolerance, correctness } => {
                let threshold = tolerance.of(fault)?;
                let tolerated =
                    if *correctness { &threshold.correctness } else { &threshold.prediction };
                tolerated.as_ref().map(|tolerated| tolerated.at_most)
            }
        }
    }
}

impl Guard for WithinTolerance {
    fn needs_visual_change(&self) -> bool {
        true
    }

    fn skips_trial(&self, comparison: &Comparison<'_>) -> Option<Reason> {
        let AppliedFault { name, visual_change } = comparison.fault?;
        match (self.limit(name), visual_change) {
            (None, _) => Some(Reason::NoTolerance),
            (_, None) => Some(Reason::VisualChangeUnknown),
            (Some(limit), Some(change)) if change <= limit => None,
            _ => Some(Reason::OutsideTolerance),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Case, Image, Names, Response, Scores, Setting, Truth};

    fn guard(set: &[(&'static str, Setting)]) -> Result<WithinTolerance, SettingError> {
        let mut settings = Settings::default();
        set.iter().for_each(|(name, setting)| settings.set(name, setting.clone()));
        WithinTolerance::new(&settings)
    }

    fn skip_reason(guard: &WithinTolerance, fault: Option<AppliedFault<'_>>) -> Option<Reason> {
        let case = Case::new("a", Image::from_rgb(1, 1, vec![0; 3]).unwrap());
        let answer = Response::Scores(Scores { scores: vec![1.0], names: Names::Letters });
        guard.skips_trial(&Comparison {
            case: &case,
            truth: Truth::default(),
            golden: &answer,
            observed: &answer,
            fault,
        })
    }

    fn word(word: &'static str) -> Setting {
        Setting::Word(word.into())
    }

    fn frost(visual_change: Option<f64>) -> Option<AppliedFault<'static>> {
        Some(AppliedFault { name: "frost", visual_change })
    }

    #[test]
    fn what_people_tolerate_is_judged_and_nothing_else() {
        let correct = [("tolerance", word("imagenet-car")), ("preserves", word("correctness"))];
        let correct = guard(&correct).unwrap();
        let same = guard(&[("tolerance", word("imagenet-car"))]).unwrap();
        // The thresholds of frost in the paper's Table 1: .84 and .91.
        assert_eq!(skip_reason(&correct, frost(Some(0.84))), None);
        assert_eq!(skip_reason(&correct, frost(Some(0.85))), Some(Reason::OutsideTolerance));
        assert_eq!(skip_reason(&same, frost(Some(0.91))), None);
        assert_eq!(skip_reason(&same, frost(None)), Some(Reason::VisualChangeUnknown));
        let rain = AppliedFault { name: "rain", visual_change: Some(0.0) };
        assert_eq!(skip_reason(&same, Some(rain)), Some(Reason::NoTolerance));
        assert_eq!(skip_reason(&same, None), None);
        let plain = guard(&[("at_most", Setting::Number(0.5))]).unwrap();
        assert_eq!(skip_reason(&plain, Some(rain)), None);
        assert_eq!(skip_reason(&plain, frost(Some(0.51))), Some(Reason::OutsideTolerance));
    }

    #[test]
    fn one_limit_is_set_and_the_names_are_those_there_are() {
        assert!(guard(&[]).is_err());
        let both = [("at_most", Setting::Number(0.5)), ("tolerance", Setting::Word("x".into()))];
        assert!(guard(&both[..1]).is_ok());
        let named = [both[0].clone(), ("tolerance", Setting::Word("imagenet-car".into()))];
        assert!(guard(&named).is_err());
        let choice = WITHIN_TOLERANCE.parameters[1].kind;
        let ParameterKind::Choice(names) = choice else { panic!("{choice:?}") };
        assert!(names.iter().copied().eq(Tolerance::names()));
    }
}
