//! Charts in one bar: shares of a whole, an interval against a limit, a score.

use super::{Caption, open, rate_ticks, share};
use crate::escape::xml;
use faultlens_analysis::Rate;
use faultlens_analysis::format;
use std::fmt::Write as _;

/// Narrower parts would not be seen.
const LEAST: f64 = 0.004;

/// A part of a whole.
pub(crate) struct Segment<'a> {
    /// What it is, in words.
    pub(crate) label: &'a str,
    /// Its class in the style sheet, which gives colour and pattern.
    pub(crate) class: &'a str,
    /// How many.
    pub(crate) count: u64,
}

/// The parts side by side, and whether one of them is drawn wider than it is.
pub(crate) fn stack(caption: &Caption<'_>, segments: &[Segment<'_>]) -> (String, bool) {
    let whole = segments.iter().map(|segment| segment.count).sum::<u64>() as f64;
    let shown = || segments.iter().filter(|segment| segment.count > 0);
    let wide = |segment: &Segment<'_>| (segment.count as f64 / whole).max(LEAST);
    let sum: f64 = shown().map(wide).sum();
    let mut out = String::new();
    open(&mut out, caption, "stack", 40);
    let mut from = 0.0;
    for segment in shown() {
        let width = wide(segment);
        let _ = write!(
            out,
            "<rect class=\"{}\" x=\"{}\" y=\"0\" width=\"{}\" height=\"40\">\
             <title>{}: {}</title></rect>",
            xml(segment.class),
            share(from, sum),
            share(width, sum),
            xml(segment.label),
            format::count(segment.count)
        );
        from += width;
    }
    out.push_str("</svg>");
    (out, shown().any(|segment| (segment.count as f64) < LEAST * whole))
}

/// An interval drawn against its limit, which stands there in these words.
pub(crate) fn against_limit(caption: &Caption<'_>, rate: &Rate, limit: f64, words: &str) -> String {
    let (low, high) = format::ends(rate);
    let high_shown = if rate.n > 0 { high } else { 0.0 };
    // A limit in other units may lie beyond any rate.
    let most = high_shown.max(limit) * 1.1;
    let ticks = if limit > 1.0 { super::ticks(most, 4) } else { rate_ticks(most, 4) };
    let end = ticks.last().copied().unwrap_or(1.0);
    let x = share(limit, end);
    let anchor = anchor(limit / end);
    let mut out = String::new();
    open(&mut out, caption, "limit", 46);
    let _ = write!(
        out,
        "<line class=\"base\" x1=\"0\" x2=\"100%\" y1=\"14\" y2=\"14\"/>\
         <line class=\"base\" x1=\"0\" x2=\"0\" y1=\"10\" y2=\"18\"/>\
         <line class=\"bound\" x1=\"{x}\" x2=\"{x}\" y1=\"2\" y2=\"27\"/>\
         <text class=\"tick\" x=\"{x}\" y=\"41\" text-anchor=\"{anchor}\">limit {}</text>",
        xml(words)
    );
    if let Some(value) = rate.value {
        let low = share(low, end);
        let high = share(high, end);
        let at = share(value, end);
        let _ = write!(
            out,
            "<line class=\"whisker\" x1=\"{low}\" x2=\"{high}\" y1=\"14\" y2=\"14\"/>\
             <line class=\"whisker\" x1=\"{low}\" x2=\"{low}\" y1=\"9\" y2=\"19\"/>\
             <line class=\"whisker\" x1=\"{high}\" x2=\"{high}\" y1=\"9\" y2=\"19\"/>\
             <circle class=\"dot\" cx=\"{at}\" cy=\"14\" r=\"5\"/>"
        );
    }
    out.push_str("</svg>");
    out
}

/// Which side of a label stands at its place, so that it stays inside the drawing.
fn anchor(place: f64) -> &'static str {
    match place {
        ..0.2 => "start",
        0.8.. => "end",
        _ => "middle",
    }
}

/// A bar for a score from 0 to 1. The number stands beside it, so it needs no name.
pub(crate) fn score(value: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"score\" aria-hidden=\"true\" \
         width=\"100%\" height=\"6\"><rect class=\"track\" width=\"100%\" height=\"6\" rx=\"3\"/>\
         <rect class=\"fill\" width=\"{}\" height=\"6\" rx=\"3\"/></svg>",
        share(value, 1.0)
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::values;
    use super::*;

    const CAPTION: Caption<'_> = Caption { id: "b", title: "t", about: "a" };

    #[test]
    fn parts_add_up_to_the_whole() {
        let part = |class, count| Segment { label: "x", class, count };
        let (svg, wider) = stack(&CAPTION, &[part("a", 3), part("b", 0), part("c", 1)]);
        assert_eq!((values(&svg, "a", "width"), wider), (vec!["75.00%".to_owned()], false));
        assert_eq!(values(&svg, "c", "x"), ["75.00%"]);
        assert!(values(&svg, "b", "width").is_empty());
        let (svg, wider) = stack(&CAPTION, &[part("a", 99_999), part("c", 1)]);
        assert!(wider && values(&svg, "c", "width") == ["0.40%"], "{svg}");
        assert!(!stack(&CAPTION, &[]).1);
    }

    #[test]
    fn the_limit_is_always_inside() {
        let rate =
            Rate { events: 5, n: 100, value: Some(0.05), low: 0.02, high: 0.11, ..Rate::default() };
        let svg = against_limit(&CAPTION, &rate, 0.1, "10%");
        // The axis ends at 15%.
        assert_eq!(values(&svg, "bound", "x1"), ["66.67%"]);
        assert_eq!(values(&svg, "dot", "cx"), ["33.33%"]);
        let nothing = Rate::default();
        let svg = against_limit(&CAPTION, &nothing, 0.0, "0%");
        assert_eq!(values(&svg, "bound", "x1"), ["0.00%"]);
        assert!(values(&svg, "dot", "cx").is_empty());
    }
}
