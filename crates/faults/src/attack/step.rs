//! Losses and the steps that raise them, for attacks that follow gradients.

use super::{Goal, Norm};
use faultlens_core::{Parameter, ParameterKind, Setting, SettingError, Settings, Unset};

/// How far an image may be moved.
pub(super) const EPSILON: Parameter = Parameter {
    name: "epsilon",
    about: "how far the image may be moved, by the norm; pixels go from 0 to 1",
    kind: ParameterKind::Number { least: 1e-6, most: 1e6 },
    unset: Unset::Is(Setting::Number(0.03)),
};

/// How far is measured.
pub(super) const NORM: Parameter = Parameter {
    name: "norm",
    about: "how a change is measured: the largest of all pixels, their length, or their sum",
    kind: ParameterKind::Choice(Norm::WORDS),
    unset: Unset::Is(Setting::Word(std::borrow::Cow::Borrowed("inf"))),
};

/// The norm of an attack.
pub(super) fn norm(settings: &Settings) -> Result<Norm, SettingError> {
    let word = settings.word(NORM.name)?;
    Norm::named(word).ok_or_else(|| SettingError(format!("{word} is no norm")))
}

/// The slope of the loss that a goal wants to rise: away from the class of the undisturbed answer,
/// or towards the wanted one.
pub(super) fn cross_entropy(goal: &Goal, logits: &[f32]) -> Vec<f32> {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f32> = logits.iter().map(|logit| libm::expf(logit - top)).collect();
    let sum: f32 = powers.iter().sum();
    let class = goal.towards.or(goal.from);
    let sign = if goal.towards.is_some() { -1.0 } else { 1.0 };
    let slope = |(at, power): (usize, &f32)| {
        sign * (power / sum - if Some(at) == class { 1.0 } else { 0.0 })
    };
    powers.iter().enumerate().map(slope).collect()
}

/// The step of length one by the norm along which a slope rises fastest; none where it is flat.
pub(super) fn ascent(norm: Norm, slope: &[f32]) -> Vec<f32> {
    let flat = slope.iter().all(|value| *value == 0.0) || slope.iter().any(|value| value.is_nan());
    if flat {
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
            let step = |(at, value): (usize, &f32)| {
                if Some(at) == largest { sign(*value) } else { 0.0 }
            };
            slope.iter().enumerate().map(step).collect()
        }
    }
}

fn sign(value: f32) -> f32 {
    if value == 0.0 { 0.0 } else { value.signum() }
}
