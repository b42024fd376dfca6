//! Charts as inline SVG.
//!
//! Widths are shares of whatever room the page gives, heights and text are in pixels: a chart
//! fills a desktop's column and a phone alike, and its text stays the same size. Colours and
//! strokes are the page's style sheet's. Labels stand left of the drawing, in a margin that the
//! style sheet keeps free.

mod bar;
mod columns;
mod dots;
mod factors;
mod heat;
mod labels;
mod lines;
mod violin;
mod xy;

pub(crate) use bar::{Segment, against_limit, score, stack};
pub(crate) use columns::{Column, columns};
pub(crate) use dots::{Row, dots};
pub(crate) use factors::{Factor, factors};
pub(crate) use heat::{ENOUGH, STEPS, heat, highest, step};
pub(crate) use lines::{Lines, STYLES, Series, highest_rate, line_sample, lines};
pub(crate) use violin::{Along, Violin, violins};
pub use xy::{At, Shape};
pub(crate) use xy::{Axis, Scale, Trace, Xy, xy};

use crate::escape::{shorten, xml};
use std::fmt::Write as _;

/// As much of a label as fits left of the drawing on a desktop and on a phone: the style sheet's
/// margins are made for it, and show the one that fits.
const LABEL_COLUMNS: [(&str, usize); 2] = [("label wide", 23), ("label narrow", 18)];

/// A row's label, left of the drawing.
fn row_label(out: &mut String, label: &str, y: usize) {
    let fitted = LABEL_COLUMNS.map(|(_, columns)| shorten(label, columns));
    fitted_label(out, &fitted, y);
}

/// A row's label, fitted for each of the columns.
fn fitted_label(out: &mut String, fitted: &[String; 2], y: usize) {
    for ((class, _), label) in LABEL_COLUMNS.iter().zip(fitted) {
        let label = xml(label);
        let _ = write!(
            out,
            "<text class=\"{class}\" x=\"-12\" y=\"{}\" text-anchor=\"end\">{label}</text>",
            y + 4
        );
    }
}

/// A dot with the line of its interval; each is already a share of the width.
fn whiskers(out: &mut String, [at, low, high]: [&str; 3], y: usize) {
    let top = y - 4;
    let foot = y + 4;
    let _ = write!(
        out,
        "<line class=\"whisker\" x1=\"{low}\" x2=\"{high}\" y1=\"{y}\" y2=\"{y}\"/>\
         <line class=\"whisker\" x1=\"{low}\" x2=\"{low}\" y1=\"{top}\" y2=\"{foot}\"/>\
         <line class=\"whisker\" x1=\"{high}\" x2=\"{high}\" y1=\"{top}\" y2=\"{foot}\"/>\
         <circle class=\"dot\" cx=\"{at}\" cy=\"{y}\" r=\"4.5\"/>"
    );
}

/// The description of a chart for those who do not see it.
pub(crate) struct Caption<'a> {
    /// Unique in the page.
    pub(crate) id: &'a str,
    /// What is drawn.
    pub(crate) title: &'a str,
    /// What can be seen in it.
    pub(crate) about: &'a str,
}

/// Round numbers from 0 to at least `most`, at most `steps` steps; the last is the axis's end.
pub(crate) fn ticks(most: f64, steps: usize) -> Vec<f64> {
    let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
    let rough = most / steps.max(1) as f64;
    let size = 10f64.powf(rough.log10().floor());
    // A little tolerance, so that 0.3 is not more than 3 times 0.1.
    let enough = |factor: &f64| factor * size * steps.max(1) as f64 >= most * (1.0 - 1e-9);
    let factor = [1.0, 2.0, 2.5, 5.0].into_iter().find(enough).unwrap_or(10.0);
    let step = factor * size;
    let last = (most / step - 1e-9).ceil() as usize;
    (0..=last).map(|at| at as f64 * step).collect()
}

/// The ticks of an axis of rates: as [`ticks`], never beyond 100%.
pub(crate) fn rate_ticks(most: f64, steps: usize) -> Vec<f64> {
    let mut ticks = ticks(most.min(1.0), steps);
    if let Some(last) = ticks.last_mut() {
        *last = last.min(1.0);
    }
    ticks
}

/// A tick's label: percent with as many decimals as the step needs.
pub(crate) fn tick_label(tick: f64) -> String {
    if tick == 0.0 {
        "0".into()
    } else {
        format!("{}%", faultlens_analysis::format::number(tick * 100.0, 4))
    }
}

/// A share of the width, as SVG takes it.
pub(crate) fn share(part: f64, whole: f64) -> String {
    let share = part / whole;
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    format!("{:.2}%", share * 100.0)
}

/// Opens a chart that stands for an image with a name and a description.
pub(crate) fn open(out: &mut String, caption: &Caption<'_>, kind: &str, height: usize) {
    let id = xml(caption.id);
    let title = xml(caption.title);
    let about = xml(caption.about);
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{kind}\" role=\"img\" \
         aria-labelledby=\"{id}-t {id}-d\" width=\"100%\" height=\"{height}\">\
         <title id=\"{id}-t\">{title}</title><desc id=\"{id}-d\">{about}</desc>"
    );
}

/// Vertical lines with their labels below, for an axis of rates.
fn rate_axis(out: &mut String, ticks: &[f64], bottom: usize) {
    let end = ticks.last().copied().unwrap_or(1.0);
    for &tick in ticks {
        upright_line(out, "grid", &share(tick, end), bottom, &tick_label(tick));
    }
}

/// A line across the drawing with its label left of it, for a tick of the vertical axis.
pub(crate) fn level_line(out: &mut String, y: f64, label: &str) {
    let _ = write!(
        out,
        "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
         <text class=\"tick\" x=\"-8\" y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
        y + 4.0
    );
}

/// A line from top to bottom with its label below, for a tick of the horizontal axis. `x` is
/// already a share of the width.
pub(crate) fn upright_line(out: &mut String, class: &str, x: &str, bottom: usize, label: &str) {
    let _ = write!(
        out,
        "<line class=\"{class}\" x1=\"{x}\" x2=\"{x}\" y1=\"0\" y2=\"{bottom}\"/>\
         <text class=\"tick\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{label}</text>",
        bottom + 18
    );
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_reach_the_most() {
        let cases: [(f64, usize, &[f64]); 6] = [
            (1.0, 4, &[0.0, 0.25, 0.5, 0.75, 1.0]),
            (0.3, 3, &[0.0, 0.1, 0.2, 0.3]),
            (0.031, 4, &[0.0, 0.01, 0.02, 0.03, 0.04]),
            (7.0, 4, &[0.0, 2.0, 4.0, 6.0, 8.0]),
            (0.0, 4, &[0.0, 0.25, 0.5, 0.75, 1.0]),
            (f64::NAN, 1, &[0.0, 1.0]),
        ];
        for (most, steps, expected) in cases {
            let found = ticks(most, steps);
            assert_eq!(found.len(), expected.len(), "{most}: {found:?}");
            for (a, b) in found.iter().zip(expected) {
                assert!((a - b).abs() < 1e-12, "{most}: {found:?}");
            }
        }
    }

    #[test]
    fn ticks_hold_for_any_most() {
        for at in 1..4000 {
            let most = f64::from(at).powi(3) * 1e-9;
            let found = ticks(most, 5);
            let last = found[found.len() - 1];
            assert!(last >= most * (1.0 - 1e-9) && found.len() <= 6, "{most}: {found:?}");
            assert!(last < most * 2.6, "{most} leaves most of the axis empty: {found:?}");
        }
        assert_eq!(rate_ticks(0.97, 4).last(), Some(&1.0));
        assert_eq!(tick_label(0.025), "2.5%");
        assert_eq!(tick_label(0.3), "30%");
    }

    /// For the tests of charts: parses, and gives the values of an attribute of some class.
    pub(crate) fn values(svg: &str, class: &str, attribute: &str) -> Vec<String> {
        let document = roxmltree::Document::parse(svg).unwrap();
        let of_class = document.descendants().filter(|node| node.attribute("class") == Some(class));
        of_class.filter_map(|node| node.attribute(attribute).map(str::to_owned)).collect()
    }
}
