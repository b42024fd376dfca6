//! What covariates do in a fit: its coefficients, with p-values adjusted by Holm's method.

use faultlens_stats::holm;
use faultlens_stats::survival::{Coefficient, Fit, INTERCEPT};
use serde::Serialize;

use super::covariates::{Covariate, Design};
use super::level;

/// What one step of a covariate does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// Which covariate.
    pub covariate: Covariate,
    /// Its coefficient, on the logarithm of the duration.
    pub estimate: f64,
    /// The standard error.
    pub se: f64,
    /// The lower end of the coefficient's interval.
    pub low: f64,
    /// The upper end of the coefficient's interval.
    pub high: f64,
    /// How often chance alone would give as much.
    pub p: f64,
    /// The same, adjusted by Holm for all effects of the fit.
    pub adjusted_p: f64,
    /// By which factor durations change, with the ends of its interval.
    pub ratio: [f64; 3],
}

/// A coefficient that is no effect of a covariate.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shape {
    /// The parameter of the distribution.
    pub parameter: String,
    /// Its intercept.
    pub estimate: f64,
    /// The standard error.
    pub se: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

/// What each covariate does, adjusted for looking at all of them.
pub(super) fn effects(fit: &Fit, design: &Design) -> Vec<Effect> {
    let first = fit.family().parameters()[0];
    let mut out = Vec::new();
    for line in fit.coefficients(level()) {
        let Some(covariate) = design.find(&line.covariate) else { continue };
        if line.parameter != first || line.covariate == INTERCEPT {
            continue;
        }
        out.push(Effect {
            covariate: covariate.clone(),
            estimate: line.estimate,
            se: line.se,
            low: line.low,
            high: line.high,
            p: line.p,
            adjusted_p: line.p,
            ratio: [line.estimate, line.low, line.high].map(f64::exp),
        });
    }
    adjust(&mut out);
    out
}

/// Adjusts p-values for as many looks as there are.
pub(super) fn adjust(effects: &mut [Effect]) {
    // Without a standard error there is no p-value, and still it was looked for one.
    let p = |effect: &Effect| if effect.p.is_nan() { 1.0 } else { effect.p };
    let raw: Vec<f64> = effects.iter().map(p).collect();
    let Ok(adjusted) = holm(&raw) else { return };
    for (effect, p) in effects.iter_mut().zip(adjusted).filter(|(effect, _)| !effect.p.is_nan()) {
        effect.adjusted_p = p;
    }
}

/// The coefficients that are no effects.
pub(super) fn shapes(fit: &Fit) -> Vec<Shape> {
    let lines = fit.coefficients(level()).into_iter().filter(|line| line.covariate == INTERCEPT);
    lines
        .map(|line: Coefficient| Shape {
            parameter: line.parameter,
            estimate: line.estimate,
            se: line.se,
            low: line.low,
            high: line.high,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::covariates::Kind;

    /// Holm by hand: the least of three times 3, the next times 2.
    #[test]
    fn a_look_without_a_p_value_counts_and_stays_without() {
        let effect = |p: f64| Effect {
            covariate: Covariate {
                name: String::new(),
                kind: Kind::Number,
                unit: String::new(),
                step: 1.0,
            },
            estimate: 0.0,
            se: 1.0,
            low: 0.0,
            high: 0.0,
            p,
            adjusted_p: p,
            ratio: [1.0; 3],
        };
        let mut all = [0.02, f64::NAN, 0.01].map(effect);
        adjust(&mut all);
        let adjusted = all.map(|effect| effect.adjusted_p);
        assert!((adjusted[0] - 0.04).abs() < 1e-12 && (adjusted[2] - 0.03).abs() < 1e-12);
        assert!(adjusted[1].is_nan());
    }
}
