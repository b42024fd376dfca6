//! One row per group: a dot for the rate, a line for its interval.

use super::{Caption, open, rate_axis, rate_ticks, share};
use crate::escape::{shorten, xml};
use faultlens_campaign::analysis::Rate;
use faultlens_campaign::analysis::words as format;
use std::fmt::Write as _;

const ROW: usize = 24;
/// As much as fits left of the drawing on a desktop and on a phone: the style sheet's margins are
/// made for it, and show the one that fits.
const LABEL_COLUMNS: [(&str, usize); 2] = [("label wide", 23), ("label narrow", 18)];

/// One row.
pub(crate) struct Row<'a> {
    /// The group.
    pub(crate) label: &'a str,
    /// Its rate.
    pub(crate) rate: &'a Rate,
}

/// The rows in the order given, above an axis from 0. `reference` is a rate to compare with.
pub(crate) fn dots(caption: &Caption<'_>, rows: &[Row<'_>], reference: Option<f64>) -> String {
    let most = rows.iter().filter(|row| row.rate.n > 0).map(|row| format::ends(row.rate).1);
    let ticks = rate_ticks(most.fold(reference.unwrap_or(0.0), f64::max), 4);
    let end = ticks.last().copied().unwrap_or(1.0);
    let bottom = rows.len() * ROW + 4;
    let mut out = String::new();
    open(&mut out, caption, "dots", bottom + 26);
    rate_axis(&mut out, &ticks, bottom);
    if let Some(reference) = reference {
        let x = share(reference, end);
        let _ = write!(
            out,
            "<line class=\"reference\" x1=\"{x}\" x2=\"{x}\" y1=\"0\" y2=\"{bottom}\"/>"
        );
    }
    for (at, row) in rows.iter().enumerate() {
        draw(&mut out, row, at * ROW + ROW / 2 + 2, end);
    }
    out.push_str("</svg>");
    out
}

fn draw(out: &mut String, row: &Row<'_>, y: usize, end: f64) {
    let rate = row.rate;
    let _ = write!(
        out,
        "<g><title>{}: {}, {} of {}</title>",
        xml(row.label),
        format::rate(rate),
        format::count(rate.events),
        format::count(rate.n)
    );
    for (class, columns) in LABEL_COLUMNS {
        let label = xml(&shorten(row.label, columns));
        let _ = write!(
            out,
            "<text class=\"{class}\" x=\"-12\" y=\"{}\" text-anchor=\"end\">{label}</text>",
            y + 4
        );
    }
    match rate.value {
        None => {
            let _ = write!(out, "<text class=\"tick\" x=\"6\" y=\"{}\">no trials</text>", y + 4);
        }
        Some(value) => {
            let (low, high) = format::ends(rate);
            let (low, high, at) = (share(low, end), share(high, end), share(value, end));
            let (top, foot) = (y - 4, y + 4);
            let _ = write!(
                out,
                "<line class=\"whisker\" x1=\"{low}\" x2=\"{high}\" y1=\"{y}\" y2=\"{y}\"/>\
                 <line class=\"whisker\" x1=\"{low}\" x2=\"{low}\" y1=\"{top}\" y2=\"{foot}\"/>\
                 <line class=\"whisker\" x1=\"{high}\" x2=\"{high}\" y1=\"{top}\" y2=\"{foot}\"/>\
                 <circle class=\"dot\" cx=\"{at}\" cy=\"{y}\" r=\"4.5\"/>"
            );
        }
    }
    out.push_str("</g>");
}

#[cfg(test)]
mod tests {
    use super::super::tests::values;
    use super::*;

    #[test]
    fn dots_stand_where_the_rates_are() {
        let rates = [
            Rate { events: 10, n: 100, value: Some(0.1), low: 0.05, high: 0.2 },
            Rate { events: 0, n: 0, value: None, low: 0.0, high: 1.0 },
        ];
        let rows = [
            Row { label: "a<b & \"c\"", rate: &rates[0] },
            Row { label: "very long name of an operator", rate: &rates[1] },
        ];
        let caption = Caption { id: "x", title: "t", about: "</svg><script>" };
        let svg = dots(&caption, &rows, Some(0.04));
        // The axis ends at 20%, the upper end of the only interval.
        assert_eq!(values(&svg, "dot", "cx"), ["50.00%"]);
        assert_eq!(values(&svg, "whisker", "x1"), ["25.00%", "25.00%", "100.00%"]);
        assert_eq!(values(&svg, "reference", "x1"), ["20.00%"]);
        assert!(svg.contains("no trials") && !svg.contains("<script"));
        assert!(svg.contains(">very … an operator<"), "{svg}");
        assert!(svg.contains("<title>very long name of an operator: no trials"));
    }
}
