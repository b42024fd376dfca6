//! What covariates do in a fit: its coefficients, with p-values adjusted by Holm's method.

use std::collections::BTreeSet;

use crate::format::{number, percent};
use faultlens_stats::holm;
use faultlens_stats::survival::{Coefficient, Fit, INTERCEPT, student_level, student_p};
use serde::Serialize;

use super::choose::{Clusters, Refit};
use super::covariates::{Covariate, Design, Kind};
use super::level;
use super::rows::Row;

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
    /// By which factor durations change, or the hazard in a model of hazards, with the ends of its
    /// interval.
    pub ratio: [f64; 3],
    /// Why nothing is stated about it, in a clause: too few different values, or models, or a
    /// covariate that others explain. It is in the model all the same.
    pub withheld: Option<String>,
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

/// A trend over fewer different values cannot be told from what those few have in common.
const VALUES: u64 = 5;
/// Beyond this variance inflation a covariate cannot be told from the others.
const INFLATION: f64 = 5.0;
/// With fewer degrees of freedom no interval is worth showing.
const FREEDOM: f64 = 2.0;

/// What each covariate does, adjusted for looking at all that are stated.
pub(super) fn effects(
    of: &Refit,
    design: &Design,
    clusters: &Clusters,
    rows: &[&Row],
) -> Vec<Effect> {
    let first = of.fit.family().parameters()[0];
    let lines = of.fit.coefficients(level()).into_iter();
    let lines = lines.filter(|line| line.parameter == first && line.covariate != INTERCEPT);
    stated(lines, design, clusters, rows, &of.alone)
}

/// Coefficients as effects, with Student's intervals and with what forbids a statement.
pub(super) fn stated(
    lines: impl Iterator<Item = Coefficient>,
    design: &Design,
    clusters: &Clusters,
    rows: &[&Row],
    alone: &BTreeSet<String>,
) -> Vec<Effect> {
    let mut between = BTreeSet::new();
    for (covariate, values) in design.covariates.iter().zip(&design.values) {
        let column: Vec<f64> = rows.iter().map(|row| values[row.configuration as usize]).collect();
        if clusters.count[0] > 1 && clusters.between_models(&column) {
            between.insert(covariate.name.as_str());
        }
    }
    let mut out = Vec::new();
    for line in lines {
        let Some(covariate) = design.find(&line.covariate) else { continue };
        let freedom = if between.contains(covariate.name.as_str()) {
            clusters.freedom_between_models(between.len())
        } else {
            clusters.freedom()
        };
        let withheld = withheld(covariate, freedom, alone.contains(&covariate.name));
        let p = student_p(line.z, freedom);
        let reach = student_level(freedom, level()).z() * line.se;
        let low = line.estimate - reach;
        let high = line.estimate + reach;
        out.push(Effect {
            covariate: covariate.clone(),
            estimate: line.estimate,
            se: line.se,
            low,
            high,
            p,
            adjusted_p: p,
            ratio: [line.estimate, low, high].map(f64::exp),
            withheld,
        });
    }
    adjust(&mut out);
    out
}

/// Why nothing is stated about a covariate, in a clause.
fn withheld(of: &Covariate, freedom: f64, alone: bool) -> Option<String> {
    if of.kind == Kind::Number && of.values < VALUES {
        return Some(format!(
            "it has {} different values, and a trend needs at least {VALUES}",
            of.values
        ));
    }
    if of.inflation >= INFLATION {
        return Some(format!(
            "the other covariates explain {}% of its variance (variance inflation {}; it must stay \
             below {INFLATION})",
            percent(1.0 - 1.0 / of.inflation),
            number(of.inflation, 3)
        ));
    }
    if alone {
        return Some("a single trained model has it, and may differ by chance".to_owned());
    }
    (freedom < FREEDOM).then(|| "too few trained models, or images, differ in it".to_owned())
}

/// Adjusts p-values for as many looks as there are statements.
pub(super) fn adjust(effects: &mut [Effect]) {
    // Without a standard error there is no p-value, and still it was looked for one.
    let stated = |effect: &&mut Effect| effect.withheld.is_none();
    let mut stated: Vec<&mut Effect> = effects.iter_mut().filter(stated).collect();
    let raw: Vec<f64> =
        stated.iter().map(|effect| if effect.p.is_nan() { 1.0 } else { effect.p }).collect();
    let Ok(adjusted) = holm(&raw) else { return };
    for (effect, p) in stated.iter_mut().zip(adjusted).filter(|(effect, _)| !effect.p.is_nan()) {
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

    /// Holm by hand: the least of three times 3, the next times 2.
    #[test]
    fn a_look_without_a_p_value_counts_and_stays_without() {
        let effect = |p: f64| Effect {
            covariate: Covariate {
                name: String::new(),
                kind: Kind::Number,
                unit: String::new(),
                step: 1.0,
                values: 9,
                inflation: 1.0,
            },
            estimate: 0.0,
            se: 1.0,
            low: 0.0,
            high: 0.0,
            p,
            adjusted_p: p,
            ratio: [1.0; 3],
            withheld: None,
        };
        let mut all = [0.02, f64::NAN, 0.01].map(effect);
        adjust(&mut all);
        let adjusted = all.map(|effect| effect.adjusted_p);
        assert!((adjusted[0] - 0.04).abs() < 1e-12 && (adjusted[2] - 0.03).abs() < 1e-12);
        assert!(adjusted[1].is_nan());
    }

    #[test]
    fn a_statement_needs_values_models_and_something_of_its_own() {
        let of = |values: u64, inflation: f64| Covariate {
            name: "layers".to_owned(),
            kind: Kind::Number,
            unit: String::new(),
            step: 1.0,
            values,
            inflation,
        };
        assert_eq!(withheld(&of(5, 4.9), 2.0, false), None);
        let why = |values: u64, inflation: f64| withheld(&of(values, inflation), 9.0, false);
        assert!(why(3, 1.0).unwrap().starts_with("it has 3 different values"));
        let shared = why(9, 62.5).unwrap();
        assert!(
            shared.starts_with("the other covariates explain 98.4% of its variance"),
            "{shared}"
        );
        assert!(withheld(&of(9, 1.0), 9.0, true).unwrap().starts_with("a single trained model"));
        assert!(withheld(&of(9, 1.0), 1.0, false).unwrap().starts_with("too few"));
        let level = Covariate { kind: Kind::Defence, ..of(2, 1.0) };
        assert_eq!(withheld(&level, 9.0, false), None);
    }
}
