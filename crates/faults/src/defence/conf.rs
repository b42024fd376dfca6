//! No answer where the target is not sure.

use crate::doc::{about, described, when};
use faultlens_core::{
    Defence, Parameter, ParameterKind, Plugin, Response, Setting, Stream, TargetError, Unset,
};

described! {
    /// # What it does
    /// Refuses to answer where the best class has less than a threshold of confidence; refusals
    /// count as detected.
    /// # When to use it
    /// Where no answer is better than a wrong one; known as high-confidence thresholding.
    struct Conf {
        threshold: f64,
    }
}

pub(super) const CONF: Plugin<dyn Defence> = Plugin {
    name: "conf",
    about: about(Conf::DOC),
    when: when(Conf::DOC),
    parameters: &[THRESHOLD],
    build: |settings| Ok(Box::new(Conf { threshold: settings.number(THRESHOLD.name)? })),
};

const THRESHOLD: Parameter = Parameter {
    name: "threshold",
    about: "the smallest confidence in the best class that is answered",
    kind: ParameterKind::Number { min: 0.0, max: 1.0 },
    unset: Unset::Is(Setting::Number(0.9)),
};

impl Defence for Conf {
    fn cleans(&self) -> bool {
        false
    }

    fn suits(&self, answers: &str) -> bool {
        matches!(answers, "logits" | "probabilities" | "tensors" | "labels")
    }

    fn answer(&self, answer: Response, _stream: &mut Stream) -> Result<Response, TargetError> {
        let sure = match &answer {
            Response::Scores(scores) => scores.shares().into_iter().fold(f32::NAN, f32::max),
            Response::Ranking(ranking) => ranking.top().map_or(0.0, |top| top.score),
            _ => return Ok(answer),
        };
        if f64::from(sure) >= self.threshold {
            return Ok(answer);
        }
        let Self { threshold } = self;
        Err(TargetError::Rejected(format!("not sure enough: {sure:.3} of {threshold}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Names, Ranking, Scores, Seed};

    #[test]
    fn only_sure_answers_pass() {
        let asked = |threshold: f64, answer: Response| {
            Conf { threshold }.answer(answer, &mut Seed::new(1).stream())
        };
        let scores = |scores: &[f32]| {
            Response::Scores(Scores { scores: scores.to_vec(), names: Names::Letters })
        };
        assert!(asked(0.9, scores(&[0.95, 0.05])).is_ok());
        assert!(asked(0.96, scores(&[0.95, 0.05])).is_err());
        // Logits: e² / (e² + 1) is 0.881.
        assert!(asked(0.88, scores(&[2.0, 0.0])).is_ok());
        assert!(asked(0.89, scores(&[2.0, 0.0])).is_err());
        assert!(asked(0.1, scores(&[f32::NAN, f32::NAN])).is_err());
        let named = |score| Response::Ranking(Ranking::of_names([("cat".to_owned(), score)]));
        assert!(asked(0.5, named(0.6)).is_ok() && asked(0.5, named(0.4)).is_err());
        assert!(asked(1.0, Response::Values(vec![0.1])).is_ok());
    }
}
