//! One row per group: how its values spread, and where they lie on the whole.

use super::{Caption, open, rate_axis, rate_ticks, row_label, share, upright_line, whiskers};
use crate::escape::xml;
use std::fmt::Write as _;

const ROW: usize = 44;
/// Half the height of the widest place of a violin.
const HALF: f64 = 17.0;
/// Places at which a density is drawn.
const PLACES: usize = 80;
/// Fewer values than this are shown as they are.
const ENOUGH: usize = 5;
/// Values that are drawn beside the density; more would only blacken it.
const MOST_DOTS: usize = 150;
/// Decades that get a label.
const MOST_TICKS: i32 = 7;
/// Up to so many decades have thirds.
const FEW: i32 = 3;

/// One row.
pub(crate) struct Violin<'a> {
    pub(crate) label: &'a str,
    pub(crate) values: &'a [f64],
    /// Where they lie on the whole, with an interval.
    pub(crate) centre: [f64; 3],
    /// The centre in words.
    pub(crate) text: &'a str,
}

/// What values are along the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Along {
    /// Shares from 0 to 1.
    Shares,
    /// Numbers above 0 on a logarithmic axis, with a line at 1.
    Ratios,
}

/// Where values stand along the width, from 0 to 1.
#[derive(Clone, Copy)]
struct Place {
    along: Along,
    low: f64,
    high: f64,
}

impl Place {
    fn new(along: Along, rows: &[Violin<'_>]) -> Self {
        if along == Along::Shares {
            return Self { along, low: 0.0, high: 1.0 };
        }
        let values = rows.iter().flat_map(|row| row.values.iter().chain(&row.centre));
        let logs = values.filter(|v| v.is_finite() && **v > 0.0).map(|v| v.log10());
        let (low, high) = logs.fold((-0.5, 0.5), |(l, h): (f64, f64), v| (l.min(v), h.max(v)));
        Self { along, low: low - 0.05 * (high - low), high: high + 0.05 * (high - low) }
    }

    fn at(&self, value: f64) -> f64 {
        let value = match self.along {
            Along::Shares => value,
            Along::Ratios => value.max(f64::MIN_POSITIVE).log10(),
        };
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

/// The rows in the order given.
pub(crate) fn violins(caption: &Caption<'_>, rows: &[Violin<'_>], along: Along) -> String {
    let place = Place::new(along, rows);
    let bottom = rows.len() * ROW + 4;
    let mut out = String::new();
    open(&mut out, caption, "dots violins", bottom + 26);
    match along {
        Along::Shares => rate_axis(&mut out, &rate_ticks(1.0, 4), bottom),
        Along::Ratios => decades(&mut out, &place, bottom),
    }
    for (i, row) in rows.iter().enumerate() {
        draw(&mut out, row, i * ROW + ROW / 2 + 2, &place);
    }
    out.push_str("</svg>");
    out
}

/// Decades, and thirds of them where there are few.
fn decades(out: &mut String, place: &Place, bottom: usize) {
    let first = place.low.floor() as i32;
    let last = place.high.ceil() as i32;
    let every = ((last - first) / MOST_TICKS + 1).max(1);
    let whole = (first..=last).filter(|decade| decade % every == 0).map(|d| 10f64.powi(d));
    let thirds = (first..=last).filter(|_| last - first <= FEW).map(|d| 3.0 * 10f64.powi(d));
    for tick in whole.chain(thirds) {
        if !(place.low..=place.high).contains(&tick.log10()) {
            continue;
        }
        let class = if tick == 1.0 { "bound" } else { "grid" };
        let x = share(place.at(tick), 1.0);
        let label = match tick {
            1e-3..=1e4 => faultlens_analysis::format::number(tick, 1),
            _ => format!("1e{}", tick.log10().round()),
        };
        upright_line(out, class, &x, bottom, &label);
    }
}

fn draw(out: &mut String, row: &Violin<'_>, y: usize, place: &Place) {
    let _ = write!(out, "<g><title>{}: {}</title>", xml(row.label), xml(row.text));
    row_label(out, row.label, y);
    let mut at: Vec<f64> =
        row.values.iter().filter(|v| v.is_finite()).map(|v| place.at(*v)).collect();
    at.sort_by(f64::total_cmp);
    if at.len() >= ENOUGH && at[0] < at[at.len() - 1] {
        body(out, &at, y);
    }
    let every = at.len().div_ceil(MOST_DOTS).max(1);
    for value in at.iter().step_by(every) {
        let x = share(*value, 1.0);
        let _ = write!(out, "<circle class=\"one\" cx=\"{x}\" cy=\"{y}\" r=\"1.5\"/>");
    }
    if row.centre.iter().all(|end| end.is_finite()) {
        let [centre, low, high] = row.centre.map(|end| share(place.at(end), 1.0));
        whiskers(out, [&centre, &low, &high], y);
    }
    out.push_str("</g>");
}

/// The density of sorted places, mirrored; it ends where the values do.
fn body(out: &mut String, at: &[f64], y: usize) {
    let first = at[0];
    let last = at[at.len() - 1];
    let places: Vec<f64> =
        (0..=PLACES).map(|i| first + (last - first) * i as f64 / PLACES as f64).collect();
    let heights = density(at, &places);
    let most = heights.iter().copied().fold(0.0, f64::max);
    let point = |(x, height): (&f64, &f64), side: f64| {
        format!("{:.2},{:.2}", 100.0 * x, HALF * (1.0 + side * height / most))
    };
    let both = || places.iter().zip(&heights);
    let upper: Vec<String> = both().map(|pair| point(pair, -1.0)).collect();
    let lower: Vec<String> = both().rev().map(|pair| point(pair, 1.0)).collect();
    let height = 2.0 * HALF;
    // Paths know no shares of the width, so this one stands in a box of its own that is stretched.
    let _ = write!(
        out,
        "<svg y=\"{}\" width=\"100%\" height=\"{height}\" viewBox=\"0 0 100 {height}\" \
         preserveAspectRatio=\"none\"><path class=\"violin\" d=\"M{} L{} Z\"/></svg>",
        y as f64 - HALF,
        upper.join(" L"),
        lower.join(" L")
    );
}

/// A Gaussian kernel as wide as Silverman's rule says, and never narrower than a hundredth.
fn density(at: &[f64], places: &[f64]) -> Vec<f64> {
    let n = at.len() as f64;
    let mean = at.iter().sum::<f64>() / n;
    let spread = (at.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0)).sqrt();
    let width = (0.9 * spread * n.powf(-0.2)).max(0.01);
    let mut heights = Vec::new();
    for place in places {
        heights.push(at.iter().map(|x| (-0.5 * ((place - x) / width).powi(2)).exp()).sum());
    }
    heights
}

#[cfg(test)]
mod tests {
    use super::super::tests::values;
    use super::*;

    const CAPTION: Caption<'_> = Caption { id: "v", title: "t", about: "a" };

    #[test]
    fn values_stand_on_their_axis() {
        let row = |values| Violin { label: "a<b", values, centre: [0.5, 0.25, 0.75], text: "<x>" };
        let svg = violins(&CAPTION, &[row(&[0.25, 1.0])], Along::Shares);
        assert_eq!(values(&svg, "dot", "cx"), ["50.00%"]);
        assert_eq!(values(&svg, "one", "cx"), ["25.00%", "100.00%"]);
        // Too few for a density, and nothing from outside acts.
        assert!(values(&svg, "violin", "d").is_empty());
        assert!(svg.contains("a&lt;b: &lt;x&gt;"), "{svg}");
    }

    #[test]
    fn ratios_have_decades_and_a_line_at_one() {
        let values_of = [0.01, 0.1, 1.0, 10.0, 100.0];
        let row = Violin { label: "a", values: &values_of, centre: [1.0, 0.1, 10.0], text: "" };
        let svg = violins(&CAPTION, &[row], Along::Ratios);
        assert_eq!(values(&svg, "bound", "x1"), ["50.00%"]);
        assert_eq!(values(&svg, "dot", "cx"), ["50.00%"]);
        assert_eq!(values(&svg, "grid", "x1").len(), 4);
        assert_eq!(values(&svg, "violin", "d").len(), 1);
    }

    #[test]
    fn the_widest_place_is_where_most_values_are() {
        let at: Vec<f64> = (0..100).map(|i| if i < 80 { 0.3 } else { 0.8 }).collect();
        let heights = density(&at, &[0.3, 0.55, 0.8]);
        assert!(heights[0] > 3.0 * heights[2] && heights[2] > 3.0 * heights[1], "{heights:?}");
    }

    #[test]
    fn endless_and_missing_ends_draw_nothing_wrong() {
        let values_of = [0.0, f64::INFINITY, f64::NAN];
        let row = Violin { label: "a", values: &values_of, centre: [f64::NAN; 3], text: "" };
        let svg = violins(&CAPTION, &[row], Along::Ratios);
        assert!(
            values(&svg, "dot", "cx").is_empty() && !svg.contains("NaN") && !svg.contains("inf")
        );
    }
}
