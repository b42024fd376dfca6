//! From columns of a table to covariates, the same way for rows of a fit and rows to predict.

use std::collections::BTreeMap;

use anyhow::{bail, ensure};
use faultlens::report::plain;

use super::formula::{Atom, Map};
use super::table::Reading;
use super::used::Used;

/// How one column becomes numbers, as decided on the rows of the fit.
#[derive(Debug, Clone)]
enum Encoding {
    Number {
        column: String,
    },
    Mapped {
        column: String,
        label: String,
        map: Map,
    },
    /// A column of 0 and 1 for each level but the first.
    Levels {
        column: String,
        levels: Vec<String>,
    },
    /// Restricted cubic splines through these knots, which are straight lines beyond them.
    Spline {
        column: String,
        label: String,
        knots: Vec<f64>,
    },
}

/// A product of columns.
#[derive(Debug, Clone)]
pub(super) struct Term {
    /// How it is called.
    pub(super) label: String,
    parts: Vec<Encoding>,
}

/// Named numbers, one per row.
pub(super) type Columns = Vec<(String, Vec<f64>)>;

impl Term {
    /// Looks at the rows of a fit to decide on levels and knots.
    pub(super) fn new(
        atoms: &[Atom],
        used: &Used<'_>,
        bases: &mut BTreeMap<String, String>,
    ) -> anyhow::Result<Self> {
        let mut parts = Vec::new();
        for atom in atoms {
            parts.push(Encoding::new(atom, used)?);
        }
        for part in &parts {
            if let Encoding::Levels { column, levels } = part
                && let [base, _, ..] = &levels[..]
            {
                bases.insert(column.clone(), base.clone());
            }
        }
        let label = atoms.iter().map(Atom::label).collect::<Vec<_>>().join(":");
        Ok(Self { label, parts })
    }

    /// Whether a step of its column means a step of one covariate: no product, no spline.
    fn stands_alone(&self) -> bool {
        matches!(
            &self.parts[..],
            [Encoding::Number { .. } | Encoding::Mapped { .. } | Encoding::Levels { .. }]
        )
    }

    /// The columns of a table that it is made of, and how they are read.
    pub(super) fn readings(&self) -> impl Iterator<Item = (&str, Reading)> {
        self.parts.iter().map(|part| match part {
            Encoding::Levels { column, .. } => (column.as_str(), Reading::Levels),
            Encoding::Number { column }
            | Encoding::Mapped { column, .. }
            | Encoding::Spline { column, .. } => (column.as_str(), Reading::Number),
        })
    }

    /// The covariates of this term.
    pub(super) fn columns(&self, used: &Used<'_>) -> anyhow::Result<Columns> {
        let mut out: Option<Columns> = None;
        for part in &self.parts {
            let columns = part.columns(used)?;
            out = Some(match out {
                None => columns,
                Some(before) => products(&before, &columns),
            });
        }
        Ok(out.unwrap_or_default())
    }
}

/// The terms whose coefficients have a meaning of their own: those that stand alone, and whose columns
/// are in no other term.
pub(super) fn single(design: &[Term]) -> Vec<&Term> {
    let mut out = Vec::new();
    for term in design.iter().filter(|term| term.stands_alone()) {
        let own: Vec<&str> = term.readings().map(|(column, _)| column).collect();
        let mut others = design.iter().filter(|other| other.label != term.label);
        if !others.any(|other| other.readings().any(|(column, _)| own.contains(&column))) {
            out.push(term);
        }
    }
    out
}

/// Every product of a column of one side with a column of the other.
fn products(left: &Columns, right: &Columns) -> Columns {
    let mut out = Vec::with_capacity(left.len() * right.len());
    for (second, b) in right {
        for (first, a) in left {
            let values = a.iter().zip(b).map(|(a, b)| a * b).collect();
            out.push((format!("{first}:{second}"), values));
        }
    }
    out
}

impl Encoding {
    fn new(atom: &Atom, used: &Used<'_>) -> anyhow::Result<Self> {
        let column = atom.column().to_owned();
        let at = used.find(&column)?;
        Ok(match atom {
            Atom::Column(_) | Atom::Factor(_) => match used.levels(at)? {
                None => Self::Number { column },
                Some(levels) => {
                    let levels = levels.into_iter().map(|(_, text)| text.to_owned()).collect();
                    Self::Levels { column, levels }
                }
            },
            Atom::Mapped(_, map) => Self::Mapped { column, label: atom.label(), map: *map },
            Atom::Spline(_, freedom) => {
                let knots = knots(used.numbers(at)?, *freedom);
                ensure!(
                    knots.windows(2).all(|pair| pair[0] < pair[1]),
                    "{} has too few different values for {} of ns()",
                    plain(&column),
                    freedom
                );
                Self::Spline { column, label: atom.label(), knots }
            }
        })
    }

    fn columns(&self, used: &Used<'_>) -> anyhow::Result<Columns> {
        match self {
            Self::Number { column } => {
                Ok(vec![(column.clone(), used.numbers(used.find(column)?)?)])
            }
            Self::Mapped { column, label, map } => {
                let at = used.find(column)?;
                let mut values = used.numbers(at)?;
                for (i, value) in values.iter_mut().enumerate() {
                    let mapped = map.of(*value);
                    if !mapped.is_finite() {
                        let line = used.line(i);
                        bail!("line {line}: {} is {value}, so {label} is none", plain(column));
                    }
                    *value = mapped;
                }
                Ok(vec![(label.clone(), values)])
            }
            Self::Levels { column, levels } => dummies(column, levels, used),
            Self::Spline { column, label, knots } => {
                Ok(spline(label, knots, &used.numbers(used.find(column)?)?))
            }
        }
    }
}

/// A column of 0 and 1 for each level but the first.
fn dummies(column: &str, levels: &[String], used: &Used<'_>) -> anyhow::Result<Columns> {
    let texts = used.texts(used.find(column)?);
    if let Some(i) = texts.iter().position(|text| !levels.contains(text)) {
        let name = plain(column);
        let text = plain(&texts[i]);
        bail!("line {}: {name} is \"{text}\", which no row of the fit has", used.line(i));
    }
    let mut out = Vec::new();
    for level in levels.iter().skip(1) {
        let values = texts.iter().map(|text| f64::from(u8::from(text == level))).collect();
        out.push((format!("{column}={level}"), values));
    }
    Ok(out)
}

/// The smallest and the largest value, and quantiles between them: as `ns` in R.
fn knots(mut values: Vec<f64>, freedom: usize) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    let mut out = Vec::with_capacity(freedom + 1);
    for i in 0..=freedom {
        let position = last as f64 * i as f64 / freedom as f64;
        let below = (position.floor() as usize).min(last);
        let above = (below + 1).min(last);
        out.push(values[below] + (values[above] - values[below]) * (position - below as f64));
    }
    out
}

/// Natural cubic splines as truncated powers (Durrleman and Simon 1989): the values themselves, then
/// a bend for each knot but the last two, in units of the range. They span what R's `ns` spans.
fn spline(label: &str, knots: &[f64], values: &[f64]) -> Columns {
    let n = knots.len();
    let first = knots[0];
    let last = knots[n - 1];
    let unit = last - first;
    let bend = |x: f64, knot: f64| ((x - knot) / unit).max(0.0).powi(3);
    let mut out = vec![(format!("{label}1"), values.to_vec())];
    for (i, &knot) in knots[..n - 2].iter().enumerate() {
        let before = knots[n - 2];
        let share = (last - knot) / (last - before);
        let column = values
            .iter()
            .map(|&x| bend(x, knot) - bend(x, before) * share + bend(x, last) * (share - 1.0))
            .collect();
        out.push((format!("{label}{}", i + 2), column));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spline_is_straight_beyond_its_knots_and_smooth_within() {
        let knots = knots((0..=100).map(f64::from).collect(), 3);
        assert_eq!(knots, [0.0, 100.0 / 3.0, 200.0 / 3.0, 100.0]);
        let beyond = spline("x", &knots, &[120.0, 130.0, 140.0, -20.0, -10.0]);
        assert_eq!(beyond.len(), 3);
        for (_, values) in &beyond[1..] {
            assert!((values[0] + values[2] - 2.0 * values[1]).abs() < 1e-12);
            assert_eq!(values[3..], [0.0, 0.0]);
        }
        // The second derivative has no jump at a knot.
        let h = 1e-3;
        let at = |x: f64| spline("x", &knots, &[x - h, x, x + h])[1].1.clone();
        let second = |x: f64| at(x)[0] + at(x)[2] - 2.0 * at(x)[1];
        assert!((second(knots[1] - 0.1) - second(knots[1] + 0.1)).abs() < 1e-11);
    }
}
