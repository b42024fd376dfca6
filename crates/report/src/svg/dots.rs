//! One row per group: a dot for the rate, a line for its interval.

use super::labels::telling;
use super::{Caption, LABEL_COLUMNS, fitted_label, open, rate_axis, rate_ticks, share, whiskers};
use crate::escape::xml;
use faultlens_analysis::Rate;
use faultlens_analysis::format;
use std::fmt::Write as _;

const ROW: usize = 24;

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
    let labels: Vec<&str> = rows.iter().map(|row| row.label).collect();
    let [wide, narrow] = LABEL_COLUMNS.map(|(_, columns)| telling(&labels, columns));
    let fitted = wide.into_iter().zip(narrow).map(|(wide, narrow)| [wide, narrow]);
    for (at, (row, fitted)) in rows.iter().zip(fitted).enumerate() {
        draw(&mut out, row, &fitted, at * ROW + ROW / 2 + 2, end);
    }
    out.push_str("</svg>");
    out
}

fn draw(out: &mut String, row: &Row<'_>, fitted: &[String; 2], y: usize, end: f64) {
    let rate = row.rate;
    let _ = write!(
        out,
        "<g><title>{}: {}, {} of {}</title>",
        xml(row.label),
        format::rate(rate),
        format::count(rate.events),
        format::count(rate.n)
    );
    fitted_label(out, fitted, y);
    match rate.value {
        None => {
            let _ = write!(out, "<text class=\"tick\" x=\"6\" y=\"{}\">no trials</text>", y + 4);
        }
        Some(value) => {
            let (low, high) = format::ends(rate);
            let low = share(low, end);
            let high = share(high, end);
            let at = share(value, end);
            whiskers(out, [&at, &low, &high], y);
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
            Rate { events: 10, n: 100, value: Some(0.1), low: 0.05, high: 0.2, ..Rate::default() },
            Rate::default(),
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
