//! Rates by two things at once: a cell for each pair, darker the higher its rate.

use super::{Caption, open, share};
use crate::escape::{shorten, xml};
use faultlens_analysis::format;
use faultlens_analysis::{HeatMap, Rate};
use std::fmt::Write as _;

const ROW: usize = 22;
/// As in charts of dots.
const LABEL_COLUMNS: [(&str, usize); 2] = [("label wide", 23), ("label narrow", 18)];
/// Bits with a label below; more would overlap on a phone.
const MOST_LABELS: usize = 8;
/// Steps of darkness that the style sheet knows.
pub(crate) const STEPS: usize = 6;
/// A cell with fewer trials is hatched: its rate says little.
pub(crate) const ENOUGH: u64 = 10;

/// The step of a rate: 0 for none, the rest in even parts up to the highest.
pub(crate) fn step(rate: f64, most: f64) -> usize {
    if rate <= 0.0 || most <= 0.0 {
        return 0;
    }
    ((rate / most * (STEPS - 1) as f64).ceil() as usize).clamp(1, STEPS - 1)
}

/// The highest rate of any cell with enough trials, or of any cell where none has.
pub(crate) fn highest(map: &HeatMap) -> f64 {
    let of = |least: u64| {
        let cells = map.rows.iter().flat_map(|row| &row.cells).filter(|cell| cell.n >= least);
        cells.filter_map(|cell| cell.value).fold(0.0, f64::max)
    };
    let sure = of(ENOUGH);
    if sure > 0.0 { sure } else { of(1) }
}

/// The map: layers down, bits across, the highest bit at the right.
pub(crate) fn heat(caption: &Caption<'_>, map: &HeatMap) -> String {
    let columns = map.bits.len() as f64;
    let most = highest(map);
    let bottom = map.rows.len() * ROW;
    let mut out = String::new();
    open(&mut out, caption, "heat", bottom + 44);
    for (down, row) in map.rows.iter().enumerate() {
        let y = down * ROW;
        let name = format::layer(row.layer, &row.name);
        for (class, columns) in LABEL_COLUMNS {
            let label = xml(&shorten(&name, columns));
            let _ = write!(
                out,
                "<text class=\"{class}\" x=\"-12\" y=\"{}\" text-anchor=\"end\">{label}</text>",
                y + ROW / 2 + 4
            );
        }
        for (across, (rate, bit)) in row.cells.iter().zip(&map.bits).enumerate() {
            let x = share(across as f64, columns);
            let width = share(1.0, columns);
            let place = format!("x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{ROW}\"");
            cell(&mut out, &format!("{name}, bit {bit}"), rate, &place, most);
        }
    }
    bits(&mut out, &map.bits, bottom);
    out.push_str("</svg>");
    out
}

/// A cell at some place, as dark as its rate against the highest.
fn cell(out: &mut String, what: &str, rate: &Rate, place: &str, most: f64) {
    let class = match rate.value {
        None => "c-none".to_owned(),
        Some(value) => format!("c{}", step(value, most)),
    };
    let _ = write!(
        out,
        "<g><title>{}: {}, {} of {}</title><rect class=\"{class}\" {place}/>",
        xml(what),
        format::rate(rate),
        format::count(rate.events),
        format::count(rate.n)
    );
    if rate.n > 0 && rate.n < ENOUGH {
        let _ = write!(out, "<rect class=\"c-few\" {place}/>");
    }
    out.push_str("</g>");
}

fn bits(out: &mut String, bits: &[u32], bottom: usize) {
    let every = bits.len().div_ceil(MOST_LABELS).max(1);
    // From the right, since the upper bits are what matters.
    for (at, bit) in bits.iter().enumerate().rev().step_by(every) {
        let _ = write!(
            out,
            "<text class=\"tick\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{bit}</text>",
            share(at as f64 + 0.5, bits.len() as f64),
            bottom + 17
        );
    }
    let _ = write!(
        out,
        "<text class=\"axis\" x=\"50%\" y=\"{}\" text-anchor=\"middle\">bit</text>",
        bottom + 37
    );
}

#[cfg(test)]
mod tests {
    use super::super::tests::values;
    use super::*;
    use faultlens_analysis::HeatRow;

    #[test]
    fn cells_stand_where_they_belong_and_say_how_sure_they_are() {
        let rate = |events: u64, n: u64| Rate {
            events,
            n,
            value: Some(events as f64 / n as f64),
            ..Rate::default()
        };
        let row = |layer, cells| HeatRow { layer, name: "a<b".into(), cells };
        let map = HeatMap {
            target: "t".into(),
            bits: vec![7, 30],
            rows: vec![
                row(1, vec![rate(0, 40), rate(20, 40)]),
                row(2, vec![Rate::default(), rate(2, 2)]),
            ],
        };
        assert_eq!(highest(&map), 0.5);
        let svg = heat(&Caption { id: "h", title: "t", about: "a" }, &map);
        // The highest sure rate is the darkest; beyond it lies a cell of two trials.
        assert_eq!(values(&svg, "c5", "x"), ["50.00%", "50.00%"]);
        assert_eq!(values(&svg, "c0", "x"), ["0.00%"]);
        assert_eq!(values(&svg, "c-none", "y"), ["22"]);
        assert_eq!(values(&svg, "c-few", "y"), ["22"]);
        assert!(svg.contains("1 a&lt;b, bit 30: 50.0% [0, 100], 20 of 40"), "{svg}");
        assert_eq!(
            [step(0.0, 0.5), step(0.001, 0.5), step(0.3, 0.5), step(0.5, 0.5)],
            [0, 1, 3, 5]
        );
    }
}
