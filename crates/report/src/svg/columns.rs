//! Upright bars side by side: how a whole is shared out along a way.

use super::{Caption, level_line, open, rate_ticks, share, tick_label};
use crate::escape::xml;
use faultlens_analysis::format;
use std::fmt::Write as _;

const PLOT: usize = 130;
/// Tick steps upwards.
const STEPS: usize = 3;
/// The part of a bar's place that it fills.
const FILLED: f64 = 0.82;

/// One bar.
pub(crate) struct Column<'a> {
    /// What it counts, in words.
    pub(crate) label: &'a str,
    /// What stands below it; nothing where its neighbours say enough.
    pub(crate) below: &'a str,
    /// How many.
    pub(crate) count: u64,
}

/// The bars as shares of them all, on an axis that reaches `most` at least; `axis` says what lies
/// along the way.
pub(crate) fn columns(caption: &Caption<'_>, bars: &[Column<'_>], axis: &str, most: f64) -> String {
    let whole = bars.iter().map(|bar| bar.count).sum::<u64>().max(1) as f64;
    let ticks = rate_ticks(most, STEPS);
    let end = ticks.last().copied().unwrap_or(1.0);
    let mut out = String::new();
    open(&mut out, caption, "columns", PLOT + 42);
    for &tick in &ticks {
        level_line(&mut out, PLOT as f64 * (1.0 - tick / end), &tick_label(tick));
    }
    upright(&mut out, bars, whole, end);
    let _ = write!(
        out,
        "<text class=\"axis\" x=\"50%\" y=\"{}\" text-anchor=\"middle\">{}</text></svg>",
        PLOT + 38,
        xml(axis)
    );
    out
}

/// The bars with their labels; `whole` is what shares are of, `end` the share at the top.
fn upright(out: &mut String, bars: &[Column<'_>], whole: f64, end: f64) {
    let places = bars.len().max(1) as f64;
    for (at, bar) in bars.iter().enumerate() {
        let part = bar.count as f64 / whole;
        let height = PLOT as f64 * (part / end).clamp(0.0, 1.0);
        let middle = at as f64 + 0.5;
        let _ = write!(
            out,
            "<rect class=\"column\" x=\"{}\" y=\"{:.1}\" width=\"{}\" height=\"{height:.1}\">\
             <title>{}: {} ({}%)</title></rect>\
             <text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            share(middle - 0.5 * FILLED, places),
            PLOT as f64 - height,
            share(FILLED, places),
            xml(bar.label),
            format::count(bar.count),
            format::percent(part),
            share(middle, places),
            PLOT + 18,
            xml(bar.below)
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::values;
    use super::*;

    #[test]
    fn bars_are_as_high_as_their_shares() {
        let caption = Caption { id: "c", title: "t", about: "a" };
        let bar = |label, count| Column { label, below: "", count };
        let bars = [bar("<near>", 1), bar("far", 3), bar("none", 0), bar("there", 0)];
        let svg = columns(&caption, &bars, "way", 0.75);
        // The axis ends at 75%.
        assert_eq!(values(&svg, "column", "height"), ["43.3", "130.0", "0.0", "0.0"]);
        assert_eq!(values(&svg, "column", "width")[0], "20.50%");
        assert!(svg.contains("<title>&lt;near&gt;: 1 (25.0%)</title>"), "{svg}");
        let nothing = columns(&caption, &[bar("none", 0)], "way", 0.0);
        assert_eq!(values(&nothing, "column", "height"), ["0.0"]);
    }
}
