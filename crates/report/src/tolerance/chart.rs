//! The answers of people over visual change: rates, the curve through them, where it drops, and
//! how many answers there are.

use std::fmt::Write as _;

use faultlens_analysis::format::{p_value, percent};
use faultlens_stats::Level;
use faultlens_stats::tolerance::{Ending, FittedBin, MORE_THAN};

use super::ToleranceCurve;
use super::format::edge;
use crate::escape::xml;
use crate::svg::{Caption, level_line, open, share, tick_label, upright_line};

const PLOT: f64 = 230.0;
/// The histogram below it.
const GAP: f64 = 10.0;
const BARS: f64 = 46.0;
/// Where the histogram stands.
const FLOOR: f64 = PLOT + GAP + BARS;
/// The radius of the largest dot.
const LARGEST: f64 = 7.0;
/// To the right of this, a label would leave the chart.
const TURN: f64 = 0.6;

/// The axis of rates that all charts of a page share, so that they can be compared.
pub(super) struct Scale {
    /// The lowest rate, in tenths.
    lowest: u32,
}

impl Scale {
    pub(super) fn new<'a>(curves: impl Iterator<Item = &'a ToleranceCurve>) -> Self {
        let bins = curves.flat_map(|curve| &curve.found.bins);
        let lowest = bins.fold(0.9, |low: f64, one| low.min(one.bin.rate()).min(one.fitted));
        Self { lowest: (lowest.max(0.0) * 10.0).floor() as u32 }
    }

    /// How far down a rate stands.
    fn down(&self, rate: f64) -> f64 {
        let lowest = f64::from(self.lowest) / 10.0;
        PLOT * ((1.0 - rate) / (1.0 - lowest)).clamp(0.0, 1.0)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let every = if self.lowest >= 5 { 1 } else { 2 };
        (self.lowest..=10).rev().step_by(every).map(|tenths| f64::from(tenths) / 10.0)
    }
}

/// The chart; `key` names the threshold and `hits` what is counted.
pub(super) fn chart(
    caption: &Caption<'_>,
    of: &ToleranceCurve,
    scale: &Scale,
    key: &str,
    hits: &str,
) -> String {
    let mut out = String::new();
    open(&mut out, caption, "people", (FLOOR + 46.0) as usize);
    spread(&mut out, of);
    grid(&mut out, scale);
    bars(&mut out, of);
    dots(&mut out, of, scale, hits);
    curve(&mut out, of, scale);
    threshold(&mut out, of, key);
    out.push_str("</svg>");
    out
}

fn spread(out: &mut String, of: &ToleranceCurve) {
    let low = of.interval.low;
    let high = of.interval.high;
    let _ = write!(
        out,
        "<rect class=\"spread\" x=\"{}\" width=\"{}\" y=\"0\" height=\"{FLOOR}\"/>",
        share(low, 1.0),
        share((high - low).max(0.002), 1.0)
    );
}

fn grid(out: &mut String, scale: &Scale) {
    for tick in scale.ticks() {
        level_line(out, scale.down(tick), &tick_label(tick));
    }
    for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
        upright_line(out, "grid", &share(tick, 1.0), FLOOR as usize, &tick.to_string());
    }
    let _ = write!(
        out,
        "<line class=\"base\" x1=\"0\" x2=\"100%\" y1=\"{FLOOR}\" y2=\"{FLOOR}\"/>\
         <text class=\"axis\" x=\"50%\" y=\"{}\" text-anchor=\"middle\">visual change Δv</text>\
         <text class=\"axis\" x=\"-46\" y=\"-12\">share of answers</text>\
         <text class=\"tick\" x=\"-8\" y=\"{}\" text-anchor=\"end\">n</text>",
        FLOOR + 38.0,
        FLOOR
    );
}

/// The answers of the largest bin. They are no common scale: one study has a bin of a thousand
/// and another of thirty.
fn most_answers(of: &ToleranceCurve) -> f64 {
    of.answers.all().iter().map(|bin| bin.n).max().unwrap_or(1) as f64
}

/// How many answers there are at each visual change.
fn bars(out: &mut String, of: &ToleranceCurve) {
    let most = most_answers(of);
    for bin in of.answers.all() {
        let height = (BARS * bin.n as f64 / most).max(0.5);
        let thin = if bin.n > MORE_THAN { "" } else { " thin-bin" };
        let _ = write!(
            out,
            "<rect class=\"bar{thin}\" x=\"{}\" width=\"0.85%\" y=\"{:.1}\" height=\"{height:.1}\"/>",
            share(bin.lower(), 1.0),
            FLOOR - height
        );
    }
}

/// The rate of each bin, its area by the number of answers.
fn dots(out: &mut String, of: &ToleranceCurve, scale: &Scale, hits: &str) {
    let most = most_answers(of);
    for one in &of.found.bins {
        let FittedBin { bin, fitted, p, .. } = one;
        let radius = (LARGEST * (bin.n as f64 / most).sqrt()).max(1.5);
        let dropped = if one.has_dropped() { " dropped" } else { "" };
        let _ = write!(
            out,
            "<circle class=\"bin{dropped}\" cx=\"{}\" cy=\"{:.1}\" r=\"{radius:.1}\">\
             <title>{}: {} of {} {} ({}%), on the curve {}%, p {}</title></circle>",
            share(bin.upper(), 1.0),
            scale.down(bin.rate()),
            edge(bin.upper()),
            bin.hits,
            bin.n,
            xml(hits),
            percent(bin.rate()),
            percent(fitted.clamp(0.0, 1.0)),
            xml(&p_value(*p))
        );
    }
}

/// The curve with its band, and the line that it drops from.
fn curve(out: &mut String, of: &ToleranceCurve, scale: &Scale) {
    let z = Level::default().z();
    // The curve, moved by so many standard errors.
    let along = |errors: f64| -> Vec<String> {
        let bins = of.found.bins.iter();
        bins.map(|one| {
            let y = scale.down(one.fitted + errors * one.error);
            format!("{:.2},{y:.2}", one.bin.upper() * 100.0)
        })
        .collect()
    };
    // The band is one closed path: along its upper edge, and back along the lower one.
    let mut lower = along(-z);
    lower.reverse();
    for rate in [Some(of.found.reference.rate), of.found.stated].into_iter().flatten() {
        let y = scale.down(rate);
        let _ = write!(
            out,
            "<line class=\"reference\" x1=\"0\" x2=\"100%\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"
        );
    }
    let _ = write!(
        out,
        "<svg width=\"100%\" height=\"{PLOT}\" viewBox=\"0 0 100 {PLOT}\" \
         preserveAspectRatio=\"none\"><path class=\"band s1\" d=\"M{} L{} Z\"/>\
         <path class=\"line s1\" vector-effect=\"non-scaling-stroke\" d=\"M{}\"/></svg>",
        along(z).join(" L"),
        lower.join(" L"),
        along(0.0).join(" L")
    );
}

fn threshold(out: &mut String, of: &ToleranceCurve, key: &str) {
    let value = of.found.value;
    let x = share(value, 1.0);
    let (anchor, shift) = if value > TURN { ("end", -6) } else { ("start", 6) };
    let label = match of.found.ending {
        Ending::Drop => format!("{key} {}", edge(value)),
        Ending::NoDrop => format!("{key} 1: no drop"),
        Ending::EndOfData => format!("{key} {}: end of data", edge(value)),
    };
    let _ = write!(
        out,
        "<line class=\"threshold\" x1=\"{x}\" x2=\"{x}\" y1=\"0\" y2=\"{FLOOR}\"/>\
         <text class=\"label\" x=\"{x}\" dx=\"{shift}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
        PLOT - 8.0,
        xml(&label)
    );
}

#[cfg(test)]
mod tests {
    use super::super::tests::curve;
    use super::*;
    use crate::svg::tests::values;

    fn drawn() -> String {
        let curve = curve();
        let scale = Scale::new([&curve].into_iter());
        chart(&Caption { id: "c", title: "t", about: "a" }, &curve, &scale, "t_c", "<right>")
    }

    #[test]
    fn every_bin_has_a_bar_and_every_kept_one_a_dot() {
        let svg = drawn();
        let curve = curve();
        assert_eq!(values(&svg, "bar", "x").len(), 85);
        assert_eq!(values(&svg, "bar thin-bin", "x"), ["19.00%"]);
        let dropped = curve.found.bins.iter().filter(|one| one.p < 0.05).count();
        assert_eq!(values(&svg, "bin dropped", "cx").len(), dropped);
        assert_eq!(values(&svg, "bin", "cx").len(), 85 - dropped);
        assert_eq!(values(&svg, "bin", "r")[0], "7.0");
        assert!(svg.contains("&lt;right&gt;"));
    }

    #[test]
    fn the_threshold_stands_where_it_is() {
        let svg = drawn();
        let curve = curve();
        let at = format!("{:.2}%", curve.found.value * 100.0);
        assert_eq!(values(&svg, "threshold", "x1"), [at]);
        assert_eq!(values(&svg, "spread", "x"), ["50.00%"]);
        assert_eq!(values(&svg, "spread", "width"), ["50.00%"]);
        let reference = values(&svg, "reference", "y1");
        // From 30% to 100%: the lowest bin has 18 of 60.
        assert_eq!(reference, [format!("{:.1}", PLOT * 0.03 / 0.7)]);
    }
}
