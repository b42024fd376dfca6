//! The page of `faultlens tolerance`: thresholds, and the answers of people that they rest on.

mod chart;
pub mod format;

use faultlens_analysis::format::{NONE, count, percent};
use faultlens_stats::tolerance::{Bins, Ending, FoundThreshold, Interval};

use crate::document::{
    Block, Cell, Chart, Column, Document, Group, Header, KeyFigure, Part, Plot, Row, Table,
};
use crate::render;
use crate::svg::Caption;
use chart::{Scale, chart};
use format::{edge, interval, threshold};

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
    /// What the thresholds mean, in a sentence.
    pub meaning: String,
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
    /// Pairs of parts of the answers whose bands overlap everywhere, and all pairs.
    pub alike: (u64, u64),
}

/// Each of the two thresholds: its symbol, what is drawn, and what the answers counted are.
const QUESTIONS: [(&str, &str, &str); 2] = [
    ("t_c", "Correct answers", "correct"),
    ("t_p", "Answers as on the original", "as on the original"),
];

const THRESHOLDS: &str = "1 means no drop; the cautious value lies below the first bin that dropped, \
                          or where the answers end.";

const CURVES: &str = "Each dot is a bin of one hundredth, its area the number of answers; it is \
                      filled where the curve lies below the dashed line by more than chance. The \
                      line is a smoothing spline with its 95% band; a second \
                      dashed line is where a stated drop lies. The shaded range is the \
                      interval of the threshold; bars below count the answers, pale ones in bins \
                      with too few.";

/// The page, in one file that loads nothing.
pub fn tolerance(of: &TolerancePage) -> String {
    let header = Header {
        kind: "Human tolerance",
        title: of.title.clone(),
        lead: of.lead.clone(),
        figures: of.figures.iter().map(KeyFigure::from).collect(),
        ..Header::default()
    };
    let mut parts = Vec::new();
    if !of.faults.is_empty() {
        let table = Block::Table(thresholds(&of.faults));
        let note = format!("{} {THRESHOLDS}", of.meaning);
        let blocks = vec![Block::note(note.trim_start()), table];
        parts.push(Part::new("thresholds", "Thresholds", Block::all(blocks)));
        parts.push(Part::new("curves", "Answers over visual change", curves(&of.faults)));
    }
    let document =
        Document::new(header, of.warnings.clone(), parts, of.method.clone(), of.provenance.clone());
    render::html::page(&document, None)
}

/// What links lead to: the curves of the fault at this place.
fn fault_id(at: usize) -> String {
    format!("fault-{at}")
}

fn thresholds(faults: &[ToleranceOf]) -> Table {
    let mut columns = vec![Column::name("Fault")];
    for (key, ..) in QUESTIONS {
        columns.push(Column::number(key));
        columns.push(Column::number("95% interval"));
        columns.push(Column::number("no drop"));
        columns.push(Column::number("cautious"));
    }
    let mut rows: Vec<Row> = Vec::new();
    for (at, one) in faults.iter().enumerate() {
        let mut cells = vec![Cell { link: Some(fault_id(at)), ..Cell::text(&one.fault) }];
        cells.extend(threshold_cells(&one.correctness));
        cells.extend(threshold_cells(&one.prediction));
        rows.push(cells.into());
    }
    Table {
        caption: "Thresholds of each fault with their intervals".into(),
        columns,
        rows,
        sortable: true,
        ..Table::default()
    }
}

/// Threshold, interval, share of rounds without a drop and cautious value.
fn threshold_cells(of: &Result<ToleranceCurve, String>) -> [Cell; 4] {
    let Ok(ToleranceCurve { found, interval: spread, .. }) = of else {
        return [(); 4].map(|()| Cell::number(NONE, None));
    };
    [
        Cell::number(threshold(found), Some(found.value)),
        Cell::number(interval(spread), Some(spread.high - spread.low)),
        Cell::percent(Some(spread.without_drop)),
        Cell::number(edge(found.cautious), Some(found.cautious)),
    ]
}

fn curves(faults: &[ToleranceOf]) -> Block {
    let known = faults.iter().flat_map(|one| [&one.correctness, &one.prediction]).flatten();
    let scale = Scale::new(known);
    let mut blocks = vec![Block::note(CURVES)];
    for (at, one) in faults.iter().enumerate() {
        let id = fault_id(at);
        let parts = [&one.correctness, &one.prediction];
        let mut charts = Vec::new();
        for ((key, title, hits), part) in QUESTIONS.into_iter().zip(parts) {
            let (svg, note) = match part {
                Err(why) => (String::new(), format!("No {key}: {why}.")),
                Ok(curve) => {
                    let id = format!("{id}-{key}");
                    let title = format!("{title}, {}", one.fault);
                    let caption = Caption { id: &id, title: &title, about: &described(curve, key) };
                    (chart(&caption, curve, &scale, key, hits), noted(curve))
                }
            };
            charts.push(Chart {
                svg,
                plot: Plot::Xy,
                title: Some(title.to_owned()),
                caption: Some(note),
                ..Chart::default()
            });
        }
        blocks.push(Block::Group(Group {
            id: Some(id),
            title: Some(one.fault.clone()),
            blocks: vec![Block::Charts(charts)],
            ..Group::default()
        }));
    }
    Block::all(blocks)
}

/// What can be seen in a chart, for those who do not see it.
fn described(of: &ToleranceCurve, key: &str) -> String {
    let found = &of.found;
    let [first, last] = [found.bins.first(), found.bins.last()].map(|bin| {
        bin.map_or(String::new(), |one| {
            format!("{}% at {}", percent(one.fitted.clamp(0.0, 1.0)), edge(one.bin.upper()))
        })
    });
    format!(
        "The rate on the curve goes from {first} to {last}; {key} is {}, interval {} to {}.",
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
        let page = tolerance(&page());
        for forbidden in ["<script>alert", "<b>frost", "<i>originals", "http://", "https://"] {
            let found = page.replace("http://www.w3.org/2000/svg", "").contains(forbidden);
            assert!(!found, "{forbidden}");
        }
        assert!(page.contains("default-src 'none'"));
    }

    #[test]
    fn thresholds_gaps_and_their_reasons_are_told() {
        let page = tolerance(&page());
        let found = curve().found;
        for wanted in [
            format!(">{}<", edge(found.value)),
            "[0.50, 1]".into(),
            "10.0%".into(),
            "19 of 20 pairs of parts are alike".into(),
            "No t_p: no &lt;i&gt;originals&lt;/i&gt;.".into(),
            "–".into(),
        ] {
            assert!(page.contains(&wanted), "{wanted}");
        }
        let empty = tolerance(&TolerancePage::default());
        assert!(!empty.contains("id=\"thresholds\"") && !empty.contains("class=\"people\""));
    }
}
