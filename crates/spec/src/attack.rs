//! Attacks as a campaign file describes them: the settings that every attack takes.

use faultlens_core::{
    Dose, Parameter, ParameterKind, Plugin, Response, Setting, SettingError, Settings, Stream,
    Unset, class_called,
};
use faultlens_faults::Attack;
use std::borrow::Cow;

const TOWARDS: &str = "towards";
const QUERIES: &str = "queries";
const AVERAGING: &str = "averaging";
const KNOWS_DEFENCES: &str = "knows_defences";
const WITHIN: &str = "within";

/// What can be set of every attack, beside its own parameters.
pub const ATTACK_SETTINGS: &[Parameter] = &[
    Parameter {
        name: TOWARDS,
        about: "the class that the answer should become, by its name in a list of one, or second, \
                least_likely or random for a class that follows from the undisturbed answer; any \
                other class by default",
        kind: ParameterKind::Names,
        unset: Unset::Absent,
    },
    Parameter {
        name: QUERIES,
        about: "the most questions of a trial, gradients among them",
        kind: ParameterKind::Whole { min: 2, max: 100_000_000 },
        unset: Unset::Is(Setting::Number(100_000.0)),
    },
    Parameter {
        name: AVERAGING,
        about: "asks each question so often and puts the answers together: for defences that draw \
                random numbers",
        kind: ParameterKind::Whole { min: 1, max: 1000 },
        unset: Unset::Is(Setting::Number(1.0)),
    },
    Parameter {
        name: KNOWS_DEFENCES,
        about: "whether gradients are those behind the target's defences (a defence without a \
                gradient is stepped over), or those of the bare model",
        kind: ParameterKind::Choice(&["yes", "no"]),
        unset: Unset::Is(Setting::Word(Cow::Borrowed("yes"))),
    },
    Parameter {
        name: WITHIN,
        about: "only changes count whose visual change is at most this: what people do not notice",
        kind: ParameterKind::Number { min: 0.0, max: 1.0 },
        unset: Unset::Absent,
    },
];

/// An attack with all that a campaign says about it.
pub struct AttackSpec {
    /// The attack itself.
    pub attack: Box<dyn Attack>,
    /// The class that the answer should become; any other class where there is none.
    pub towards: Option<Towards>,
    /// The most queries of a trial, gradients included.
    pub queries: u64,
    /// How many answers are averaged for each query.
    pub averaging: u64,
    /// Whether gradients are taken behind the target's defences.
    pub knows_defences: bool,
    /// The largest visual change that counts.
    pub within: Option<f64>,
}

/// The class that an answer should become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Towards {
    /// The second best class.
    Second,
    /// The class with the lowest score.
    LeastLikely,
    /// A class drawn for each trial.
    Random,
    /// The class of this name.
    Class(String),
}

impl AttackSpec {
    /// Builds the attack from its settings.
    pub fn build(plugin: &Plugin<dyn Attack>, settings: &Settings) -> Result<Self, SettingError> {
        let towards = match settings.names(TOWARDS) {
            [] => None,
            [name] => Some(Towards::named(name)),
            _ => return Err(SettingError(format!("{TOWARDS} takes one class"))),
        };
        Ok(Self {
            attack: (plugin.build)(settings)?,
            towards,
            queries: settings.number(QUERIES)? as u64,
            averaging: settings.number(AVERAGING)? as u64,
            knows_defences: settings.word(KNOWS_DEFENCES)? == "yes",
            within: settings.number_if_set(WITHIN),
        })
    }

    /// Whether trials of a case differ.
    pub fn draws(&self) -> bool {
        self.attack.draws() || self.towards == Some(Towards::Random)
    }

    /// How much of it a target meets: by the attack's own measure, and in questions.
    pub fn doses(&self) -> Vec<Dose> {
        vec![self.attack.dose(), Dose { axis: QUERIES, amount: self.queries as f64 }]
    }

    /// The most questions of a trial, the first and the last ones included.
    pub fn most_questions(&self) -> u64 {
        let own = self.attack.max_queries().map(|own| own.saturating_mul(self.averaging));
        let ends = 1 + self.averaging;
        own.map_or(self.queries, |own| own.min(self.queries)).saturating_add(ends)
    }
}

impl Towards {
    fn named(name: &str) -> Self {
        match name {
            "second" => Self::Second,
            "least_likely" => Self::LeastLikely,
            "random" => Self::Random,
            name => Self::Class(name.to_owned()),
        }
    }

    /// The class that it means after this answer; `None` where the answer has no such class.
    pub fn class(&self, answer: &Response, stream: &mut Stream) -> Option<usize> {
        match answer {
            Response::Scores(scores) => {
                let ranking = scores.ranking();
                let places = ranking.places();
                let place = match self {
                    Self::Second => 1,
                    Self::LeastLikely => places.len().checked_sub(1)?.max(1),
                    Self::Random => 1 + stream.below(places.len().checked_sub(1)?.max(1)),
                    Self::Class(name) => {
                        return (0..places.len()).find(|class| is_called(scores, *class, name));
                    }
                };
                places.get(place).map(|place| place.index)
            }
            Response::Ranking(ranking) => match self {
                Self::Class(name) => Some(class_called(name)),
                Self::Second => ranking.places().get(1).map(|place| place.index),
                Self::LeastLikely | Self::Random => None,
            },
            _ => None,
        }
    }
}

fn is_called(scores: &faultlens_core::Scores, class: usize, name: &str) -> bool {
    scores.name(class).eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Names, Scores, Seed};

    #[test]
    fn classes_follow_from_the_answer() {
        let answer =
            Response::Scores(Scores { scores: vec![0.1, 0.7, 0.0, 0.2], names: Names::Letters });
        let class = |name: &str| Towards::named(name).class(&answer, &mut Seed::new(1).stream());
        assert_eq!(class("second"), Some(3));
        assert_eq!(class("least_likely"), Some(2));
        for seed in 0..40 {
            let drawn = Towards::Random.class(&answer, &mut Seed::new(seed).stream());
            assert!(drawn.is_some_and(|class| class != 1), "{drawn:?}");
        }
        assert_eq!(class("nothing like it"), None);
    }
}
