//! One row per covariate: by which factor it acts, on a logarithmic axis around 1.

use super::{Caption, open, row_label, share, upright_line, whiskers};
use crate::escape::xml;
use faultlens_analysis::format;
use std::fmt::Write as _;

const ROW: usize = 24;
/// Intervals are cut here, so that one that knows nothing does not flatten the others.
const WIDEST: f64 = 1000.0;
/// Labels that fit on a phone.
const MOST_TICKS: usize = 7;
/// The share of the width that a label takes on a phone.
const CLOSEST: f64 = 0.11;

/// One row.
pub(crate) struct Factor<'a> {
    pub(crate) label: &'a str,
    pub(crate) value: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The logarithms at which the axis starts and ends.
struct Reach {
    low: f64,
    high: f64,
}

impl Reach {
    fn at(&self, factor: f64) -> String {
        let ln = factor.clamp(1.0 / WIDEST, WIDEST).ln();
        share(ln - self.low, self.high - self.low)
    }
}

/// The rows in the order given.
pub(crate) fn factors(caption: &Caption<'_>, rows: &[Factor<'_>]) -> String {
    let ends = rows.iter().flat_map(|row| [row.low, row.high]);
    let ends = ends.map(|end| end.clamp(1.0 / WIDEST, WIDEST));
    let (low, high) = ends.fold((0.8, 1.25), |(l, h): (f64, f64), e| (l.min(e), h.max(e)));
    let ticks = ticks(low, high);
    let reach = Reach { low: low.ln(), high: high.ln() };
    let bottom = rows.len() * ROW + 4;
    let mut out = String::new();
    open(&mut out, caption, "dots", bottom + 26);
    for tick in ticks {
        let class = if tick == 1.0 { "base" } else { "grid" };
        let label = format!("×{}", format::number(tick, 3));
        upright_line(&mut out, class, &reach.at(tick), bottom, &label);
    }
    for (i, row) in rows.iter().enumerate() {
        draw(&mut out, row, i * ROW + ROW / 2 + 2, &reach);
    }
    out.push_str("</svg>");
    out
}

/// Round factors between `low` and `high`, 1 among them.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let ladders: [&[f64]; 4] = [
        &[1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 7.0],
        &[1.0, 1.5, 2.0, 3.0, 5.0],
        &[1.0, 3.0],
        &[1.0],
    ];
    for ladder in ladders {
        let above: Vec<f64> = rungs(ladder, high);
        let mut below: Vec<f64> = rungs(ladder, 1.0 / low).iter().map(|f| 1.0 / f).collect();
        below.reverse();
        below.pop();
        let ticks = [below, above].concat();
        // Labels must not touch on a phone.
        let closest = CLOSEST * (high / low).ln();
        let are_apart = ticks.windows(2).all(|pair| (pair[1] / pair[0]).ln() >= closest);
        if ticks.len() <= MOST_TICKS && are_apart {
            return ticks;
        }
    }
    vec![1.0]
}

/// The ladder's rungs up to `end`, decade after decade.
fn rungs(ladder: &[f64], end: f64) -> Vec<f64> {
    let all = (0..=4).flat_map(|decade| ladder.iter().map(move |rung| rung * 10f64.powi(decade)));
    all.take_while(|rung| *rung <= end * (1.0 + 1e-9)).collect()
}

fn draw(out: &mut String, row: &Factor<'_>, y: usize, reach: &Reach) {
    let [value, low, high] = [row.value, row.low, row.high].map(|one| format::number(one, 3));
    let _ = write!(out, "<g><title>{}: ×{value} [{low}, {high}]</title>", xml(row.label));
    row_label(out, row.label, y);
    let [low, high, at] = [row.low, row.high, row.value].map(|value| reach.at(value));
    whiskers(out, [&at, &low, &high], y);
    out.push_str("</g>");
}

#[cfg(test)]
mod tests {
    use super::super::tests::values;
    use super::*;

    #[test]
    fn ticks_lie_inside_and_hold_one() {
        for (low, high) in [
            (0.8, 1.25),
            (0.5, 1.3),
            (0.05, 1.25),
            (0.8, 40.0),
            (0.001, 1000.0),
            (0.3, 4.0),
            (0.78, 2.4),
        ] {
            let got = ticks(low, high);
            let first = got[0];
            let last = got[got.len() - 1];
            assert!(first >= low * 0.999_999 && last <= high * 1.000_001, "{low} {high}: {got:?}");
            assert!(got.contains(&1.0), "{low} {high}: {got:?}");
            assert!((3..=MOST_TICKS).contains(&got.len()), "{low} {high}: {got:?}");
            let closest = got.windows(2).map(|pair| (pair[1] / pair[0]).ln()).fold(9.0, f64::min);
            assert!(closest >= CLOSEST * (high / low).ln(), "{low} {high}: {got:?}");
            assert!(got.is_sorted(), "{got:?}");
        }
    }

    #[test]
    fn factors_stand_on_a_logarithmic_axis() {
        let rows = [
            Factor { label: "a<b", value: 1.0, low: 0.5, high: 2.0 },
            Factor { label: "endless", value: 1e9, low: 0.0, high: f64::INFINITY },
        ];
        let caption = Caption { id: "f", title: "t", about: "a" };
        let svg = factors(&caption, &rows[..1]);
        assert_eq!(values(&svg, "dot", "cx"), ["50.00%"]);
        assert_eq!(values(&svg, "whisker", "x1"), ["0.00%", "0.00%", "100.00%"]);
        let svg = factors(&caption, &rows);
        assert_eq!(values(&svg, "dot", "cx"), ["50.00%", "100.00%"]);
    }
}
