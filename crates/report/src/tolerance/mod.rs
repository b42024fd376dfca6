//! The page of `faultlens tolerance`: thresholds, and the answers of people that they rest on.

mod chart;
pub mod words;

use askama::Template;
use faultlens_analysis::format::{count, percent};
use faultlens_stats::tolerance::{Bins, Ending, FoundThreshold, Interval};

use crate::ReportError;
use crate::escape::plain;
use crate::frame::{SCRIPT, STYLE, script_hash};
use crate::svg::Caption;
use chart::{Scale, chart};
use words::{edge, interval, threshold};

/// What the page shows. Texts come from outside; the page escapes them.
#[derive(Debug, Clone, Default)]
pub struct TolerancePage {
    /// What the page is about, such as the name of the study.
    pub title: String,
    /// What was found, in a sentence or two.
    pub lead: String,
    /// What to mind before trusting the numbers.
    pub warnings: Vec<String>,
    /// Key figures: name, value, note.
    pub figures: Vec<[String; 3]>,
    /// One per fault.
    pub faults: Vec<ToleranceOf>,
    /// How it was done.
    pub method: Vec<String>,
    /// Where it comes from: name and value.
    pub provenance: Vec<(String, String)>,
}

/// What people tolerate of one fault, or why that is not known.
#[derive(Debug, Clone)]
pub struct ToleranceOf {
    /// Its name.
    pub fault: String,
    /// Whether people are right (*t_c*).
    pub correctness: Result<ToleranceCurve, String>,
    /// Whether people answer as on the original (*t_p*).
    pub prediction: Result<ToleranceCurve, String>,
}

/// One threshold and its answers.
#[derive(Debug, Clone)]
pub struct ToleranceCurve {
    /// The threshold, and the curve that it was read from.
    pub found: FoundThreshold,
    /// How far it lies from round to round.
    pub interval: Interval,
    /// All answers, also those in bins that are too thin.
    pub answers: Bins,
    /// Pairs of parts of the answers that tell the same story, and all pairs.
    pub alike: (u64, u64),
}

#[derive(Template)]
#[template(path = "tolerance.html")]
struct Page<'a> {
    style: String,
    script: &'static str,
    script_hash: String,
    version: &'static str,
    of: &'a TolerancePage,
    title: String,
    faults: Vec<FaultView>,
}

/// A fault, ready to be shown.
struct FaultView {
    id: String,
    fault: String,
    cells: Vec<Cell>,
    charts: Vec<ChartView>,
}

/// What a cell of the overview shows, and what it is sorted by.
struct Cell {
    shown: String,
    sort: String,
}

/// One chart with its heading, or why there is none.
struct ChartView {
    heading: &'static str,
    svg: String,
    note: String,
}

const QUESTIONS: [(&str, &str, &str); 2] = [
    ("t_c", "Right answers", "right"),
    ("t_p", "Answers as on the original", "as on the original"),
];

/// The page, in one file that loads nothing.
///
/// # Errors
/// [`ReportError::Page`].
pub fn tolerance(of: &TolerancePage) -> Result<String, ReportError> {
    let curves = of.faults.iter().flat_map(|one| [&one.correctness, &one.prediction]).flatten();
    let scale = Scale::new(curves);
    let fault = |(i, one): (usize, &ToleranceOf)| FaultView {
        id: format!("fault-{i}"),
        fault: plain(&one.fault),
        cells: [&one.correctness, &one.prediction].into_iter().flat_map(cells).collect(),
        charts: charts(one, &format!("fault-{i}"), &scale),
    };
    let page = Page {
        style: format!("{STYLE}{}", include_str!("../../templates/tolerance.css")),
        script: SCRIPT,
        script_hash: script_hash(),
        version: env!("CARGO_PKG_VERSION"),
        of,
        title: plain(&of.title),
        faults: of.faults.iter().enumerate().map(fault).collect(),
    };
    Ok(page.render()?)
}

/// Threshold, interval, share of rounds without a drop and cautious value.
fn cells(of: &Result<ToleranceCurve, String>) -> Vec<Cell> {
    let Ok(of) = of else {
        // A browser sorts what is not there last.
        return (0..4).map(|_| Cell { shown: "–".into(), sort: "Infinity".into() }).collect();
    };
    let cell = |shown: String, value: f64| Cell { shown, sort: value.to_string() };
    let Interval { low, high, without_drop, .. } = of.interval;
    vec![
        cell(threshold(&of.found), of.found.value),
        cell(interval(&of.interval), high - low),
        cell(format!("{}%", percent(without_drop)), without_drop),
        cell(edge(of.found.cautious), of.found.cautious),
    ]
}

fn charts(of: &ToleranceOf, id: &str, scale: &Scale) -> Vec<ChartView> {
    let one = |((key, heading, hits), part): ((&str, &'static str, &str), _)| match part {
        Err(why) => ChartView { heading, svg: String::new(), note: format!("No {key}: {why}.") },
        Ok(curve) => {
            let title = format!("{heading}, {}", of.fault);
            let about = described(curve, key);
            let caption = Caption { id: &format!("{id}-{key}"), title: &title, about: &about };
            let svg = chart(&caption, curve, scale, key, hits);
            ChartView { heading, svg, note: noted(curve) }
        }
    };
    let parts = [of.correctness.as_ref(), of.prediction.as_ref()];
    QUESTIONS.into_iter().zip(parts).map(one).collect()
}

/// What can be seen in a chart, for those who do not see it.
fn described(of: &ToleranceCurve, key: &str) -> String {
    let found = &of.found;
    let ends = [found.bins.first(), found.bins.last()].map(|bin| {
        bin.map_or(String::new(), |one| {
            format!("{}% at {}", percent(one.fitted.clamp(0.0, 1.0)), edge(one.bin.upper()))
        })
    });
    format!(
        "The rate on the curve goes from {} to {}; {key} is {}, interval {} to {}.",
        ends[0],
        ends[1],
        threshold(found),
        edge(of.interval.low),
        edge(of.interval.high)
    )
}

fn noted(of: &ToleranceCurve) -> String {
    let FoundThreshold { reference, ending, .. } = &of.found;
    let from = match reference.counted {
        Some((n, _)) => format!("{}% of {} answers", percent(reference.rate), count(n)),
        None => format!("{}%, as given", percent(reference.rate)),
    };
    let ending = match ending {
        Ending::Drop => "",
        Ending::NoDrop => " No drop was found.",
        Ending::EndOfData => " This is no drop but the end of the data.",
    };
    let alike = match of.alike {
        (_, 0) => "too few answers for parts of them".to_owned(),
        (similar, pairs) => format!("{similar} of {pairs} pairs of parts are alike"),
    };
    let answers = count(of.answers.answers());
    format!("{answers} answers; compared with {from}; {alike}.{ending}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_stats::Level;
    use faultlens_stats::tolerance::{Bin, Evidence, Rule};

    /// Right up to 0.5, and then less and less; one bin is too thin.
    pub(super) fn curve() -> ToleranceCurve {
        let bin = |h: u8| Bin {
            hundredths: h,
            n: if h == 20 { 9 } else { 60 },
            hits: if h == 20 { 9 } else { 58 - u64::from(h.saturating_sub(50)) },
        };
        let answers = Bins::new((5..=90).map(bin)).unwrap();
        let evidence = Evidence::correctness_table(answers.clone(), 0.97).unwrap();
        let found = evidence.threshold(Rule::Default).unwrap();
        let drops: Vec<Option<f64>> = (0..40).map(|i| (i > 3).then_some(0.5)).collect();
        let interval = Interval::new(&drops, Level::default()).unwrap();
        ToleranceCurve { found, interval, answers, alike: (19, 20) }
    }

    fn page() -> TolerancePage {
        let one = |fault: &str, prediction| ToleranceOf {
            fault: fault.into(),
            correctness: Ok(curve()),
            prediction,
        };
        TolerancePage {
            title: "<script>alert(1)</script>".into(),
            lead: "a & b".into(),
            faults: vec![
                one("<b>frost</b>", Err("no <i>originals</i>".into())),
                one("fog", Ok(curve())),
            ],
            ..TolerancePage::default()
        }
    }

    #[test]
    fn names_are_shown_and_do_nothing() {
        let page = tolerance(&page()).unwrap();
        for forbidden in ["<script>alert", "<b>frost", "<i>originals", "http://", "https://"] {
            let found = page.replace("http://www.w3.org/2000/svg", "").contains(forbidden);
            assert!(!found, "{forbidden}");
        }
        assert!(page.contains("default-src 'none'"));
    }

    #[test]
    fn thresholds_gaps_and_their_reasons_are_told() {
        let page = tolerance(&page()).unwrap();
        let found = curve().found;
        for wanted in [
            format!(">{}<", edge(found.value)),
            "[0.50, 1]".into(),
            "10.0%".into(),
            "19 of 20 pairs of parts are alike".into(),
            "No t_p: no &#60;i&#62;originals&#60;/i&#62;.".into(),
            "–".into(),
        ] {
            assert!(page.contains(&wanted), "{wanted}");
        }
        let empty = tolerance(&TolerancePage::default()).unwrap();
        assert!(!empty.contains("id=\"thresholds\"") && !empty.contains("<svg"));
    }
}
