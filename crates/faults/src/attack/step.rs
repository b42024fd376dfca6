//! What attacks share: parameters, and the steps that raise a loss.

use super::Norm;
use faultlens_core::{Parameter, ParameterKind, Setting, SettingError, Settings, Unset};

/// How far an image may be moved.
pub(super) const EPSILON: Parameter = Parameter {
    name: "epsilon",
    about: "largest change of the image, by the norm; pixel values go from 0 to 1",
    kind: ParameterKind::Number { min: 1e-6, max: 1e6 },
    unset: Unset::Is(Setting::Number(0.03)),
};

/// How far is measured.
pub(super) const NORM: Parameter = Parameter {
    name: "norm",
    about: "how a change is measured: the largest difference of a pixel (inf), the Euclidean length (2), or the sum of differences (1)",
    kind: ParameterKind::Choice(Norm::WORDS),
    unset: Unset::Is(Setting::Word(std::borrow::Cow::Borrowed("inf"))),
};

/// The norms of attacks that cannot measure by the sum.
pub(super) const LENGTH_OR_LARGEST: Parameter = length_or_largest("inf");

/// The same for attacks that usually go by the length.
pub(super) const LENGTH_OR_LARGEST_TWO: Parameter = length_or_largest("2");

const fn length_or_largest(unset: &'static str) -> Parameter {
    Parameter {
        name: "norm",
        about: "how a change is measured: the largest difference of a pixel (inf), or the Euclidean length (2)",
        kind: ParameterKind::Choice(&["inf", "2"]),
        unset: Unset::Is(Setting::Word(std::borrow::Cow::Borrowed(unset))),
    }
}

/// How many steps are taken.
pub(super) const ITERATIONS: Parameter = Parameter {
    name: "iterations",
    about: "number of steps",
    kind: ParameterKind::Whole { min: 1, max: 100_000 },
    unset: Unset::Is(Setting::Number(10.0)),
};

/// How often the search begins.
pub(super) const RESTARTS: Parameter = Parameter {
    name: "restarts",
    about: "number of starts; from the second on at random points",
    kind: ParameterKind::Whole { min: 1, max: 1000 },
    unset: Unset::Is(Setting::Number(1.0)),
};

/// Where the search begins.
pub(super) const fn random_start(unset: &'static str) -> Parameter {
    Parameter {
        name: "random_start",
        about: "whether the search begins at a random point near the image instead of the image",
        kind: ParameterKind::Choice(&["no", "yes"]),
        unset: Unset::Is(Setting::Word(std::borrow::Cow::Borrowed(unset))),
    }
}

/// A whole number of settings, which the registry has checked to be one.
pub(super) fn count(settings: &Settings, name: &str) -> Result<usize, SettingError> {
    Ok(settings.number(name)? as usize)
}

/// The norm of an attack.
pub(super) fn norm(settings: &Settings) -> Result<Norm, SettingError> {
    let word = settings.word(NORM.name)?;
    Norm::named(word).ok_or_else(|| SettingError(format!("{word} is no norm")))
}

/// The step of length one by the norm along which a slope rises fastest; none where it is flat.
pub(super) fn ascent(norm: Norm, slope: &[f32]) -> Vec<f32> {
    let flat = slope.iter().all(|value| *value == 0.0);
    let lost = slope.iter().any(|value| !value.is_finite());
    if flat || lost {
        return vec![0.0; slope.len()];
    }
    match norm {
        Norm::Infinity => slope.iter().map(|value| sign(*value)).collect(),
        Norm::Two => {
            let length = slope.iter().map(|v| f64::from(*v).powi(2)).sum::<f64>().sqrt();
            slope.iter().map(|value| (f64::from(*value) / length) as f32).collect()
        }
        Norm::Zero | Norm::One => {
            let largest = faultlens_core::argmax(slope.iter().map(|value| value.abs()));
            let mut step = vec![0.0; slope.len()];
            if let Some(at) = largest {
                step[at] = sign(slope[at]);
            }
            step
        }
    }
}

/// The same where values that are at the end of their range already do not take part, so that
/// none of the step is lost on them.
pub(super) fn ascent_within(norm: Norm, slope: &[f32], point: &[f32]) -> Vec<f32> {
    let mut free = slope.to_vec();
    for (slope, value) in free.iter_mut().zip(point) {
        if (*slope > 0.0 && *value >= 1.0) || (*slope < 0.0 && *value <= 0.0) {
            *slope = 0.0;
        }
    }
    ascent(norm, &free)
}

/// Weights of logits: zero but for these classes.
pub(super) fn basis(classes: usize, weights: &[(usize, f32)]) -> Vec<f32> {
    let mut all = vec![0.0; classes];
    for &(class, weight) in weights {
        if let Some(value) = all.get_mut(class) {
            *value += weight;
        }
    }
    all
}

fn sign(value: f32) -> f32 {
    if value == 0.0 { 0.0 } else { value.signum() }
}
