//! Noise on what the target says.

use crate::doc::{about, described, when};
use faultlens_core::{
    Defence, Parameter, ParameterKind, Plugin, Response, Setting, Stream, TargetError, Unset,
};

described! {
    /// # What it does
    /// Adds Gaussian noise to the scores of the answer. Probabilities stay probabilities:
    /// negative ones become zero, and they are normalised again. Every query of an attack about
    /// the same image gets noise of its own.
    /// # When to use it
    /// Attackers who read scores; known as Gauss-out (Byun et al. 2022).
    struct GaussOut {
        sigma: f64,
    }
}

pub(super) const GAUSS_OUT: Plugin<dyn Defence> = Plugin {
    name: "gauss_out",
    about: about(GaussOut::DOC),
    when: when(GaussOut::DOC),
    parameters: &[SIGMA],
    build: |settings| Ok(Box::new(GaussOut { sigma: settings.number(SIGMA.name)? })),
};

const SIGMA: Parameter = Parameter {
    name: "sigma",
    about: "the standard deviation of the noise, in the unit of the scores",
    kind: ParameterKind::Number { min: 1e-6, max: 1e3 },
    unset: Unset::Is(Setting::Number(0.1)),
};

/// How often noise is drawn until some share is left.
const TRIES: usize = 100;

impl Defence for GaussOut {
    fn cleans(&self) -> bool {
        false
    }

    fn answer(&self, answer: Response, stream: &mut Stream) -> Result<Response, TargetError> {
        let Response::Scores(scores) = answer else { return Ok(answer) };
        let shares = scores.are_shares();
        for _ in 0..TRIES {
            let mut noisy = scores.clone();
            for score in &mut noisy.scores {
                *score += (self.sigma * stream.gaussian()) as f32;
            }
            if !shares {
                return Ok(Response::Scores(noisy));
            }
            noisy.scores.iter_mut().for_each(|score| *score = score.max(0.0));
            let sum: f32 = noisy.scores.iter().sum();
            if sum > 0.0 {
                noisy.scores.iter_mut().for_each(|score| *score /= sum);
                return Ok(Response::Scores(noisy));
            }
        }
        Ok(Response::Scores(scores))
    }

    fn suits(&self, answers: &str) -> bool {
        matches!(answers, "logits" | "probabilities" | "tensors")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Names, Scores, Seed};

    fn noisy(scores: Vec<f32>, sigma: f64, seed: u64) -> Vec<f32> {
        let answer = Response::Scores(Scores { scores, names: Names::Letters });
        let noisy = GaussOut { sigma }.answer(answer, &mut Seed::new(seed).stream()).unwrap();
        noisy.numbers().unwrap().to_vec()
    }

    #[test]
    fn logits_move_by_sigma_and_shares_stay_shares() {
        let moved: Vec<f64> = (0..4000)
            .flat_map(|seed| noisy(vec![3.0, -2.0], 0.5, seed))
            .zip([3.0, -2.0].into_iter().cycle())
            .map(|(score, was)| f64::from(score - was))
            .collect();
        let mean = moved.iter().sum::<f64>() / moved.len() as f64;
        let deviation =
            (moved.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / moved.len() as f64).sqrt();
        assert!(mean.abs() < 0.02 && (deviation - 0.5).abs() < 0.02, "{mean} {deviation}");
        for seed in 0..50 {
            let shares = noisy(vec![0.7, 0.2, 0.1], 0.3, seed);
            assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
            assert!((shares.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
        assert_eq!(noisy(vec![0.7, 0.3], 0.1, 5), noisy(vec![0.7, 0.3], 0.1, 5));
    }
}
