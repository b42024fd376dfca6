//! The page of `faultlens survive`: coefficients, curves, and whether to believe them.

pub(crate) mod plots;

use crate::ReportError;
use crate::escape::plain;
use crate::frame::{SCRIPT, STYLE, script_hash};
use crate::svg::{Caption, Factor, factors};
use askama::Template;
use faultlens_analysis::format::{number, p_value};
use faultlens_stats::survival::Coefficient;
use plots::{Kind, PlotsView};

pub use crate::svg::{At as SurvivalPoint, Shape as SurvivalShape};

/// What the page shows. Texts come from outside; the page escapes them.
#[derive(Debug, Clone, Default)]
pub struct Survival {
    /// What the page is about, such as the table's name.
    pub title: String,
    /// What was found, in a sentence or two.
    pub lead: String,
    /// What to mind before trusting the numbers.
    pub warnings: Vec<String>,
    /// Key figures: name, value, note.
    pub figures: Vec<[String; 3]>,
    /// All models beside each other, where they were compared.
    pub comparison: Option<SurvivalTable>,
    /// By which factors covariates act.
    pub effects: Option<Effects>,
    /// The table of coefficients.
    pub coefficients: Vec<Coefficient>,
    /// Survival over time: models beside Kaplan-Meier.
    pub curves: Vec<SurvivalPlot>,
    /// What durations are measured in, as the table calls it.
    pub duration: String,
    /// Predicted against observed chances.
    pub calibration: Vec<SurvivalPlot>,
    /// Residuals against what the model expects.
    pub qq: Vec<SurvivalPlot>,
    /// How it was done.
    pub method: Vec<String>,
    /// Where it comes from: name and value.
    pub provenance: Vec<(String, String)>,
}

/// Models beside each other.
#[derive(Debug, Clone)]
pub struct SurvivalTable {
    /// A row per model.
    pub rows: Vec<SurvivalRow>,
    /// Which rows are training and test, in a sentence.
    pub about: String,
}

/// One model of a comparison.
#[derive(Debug, Clone)]
pub struct SurvivalRow {
    /// Its name.
    pub model: String,
    /// Whether it is the one recommended.
    pub chosen: bool,
    /// AIC, BIC, then concordance, ICI and E50, each on training and test rows; `None` where
    /// there is none.
    pub values: [Option<f64>; 8],
    /// Why it has no fit.
    pub error: Option<String>,
}

/// By which factors covariates act on durations or risks.
#[derive(Debug, Clone)]
pub struct Effects {
    /// What is multiplied, such as `duration`.
    pub what: String,
    /// What one step of a covariate is, in a sentence.
    pub step: String,
    /// A row per covariate.
    pub rows: Vec<Effect>,
}

/// One covariate.
#[derive(Debug, Clone)]
pub struct Effect {
    /// Its name.
    pub label: String,
    /// The factor.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

/// One chart of several that are compared.
#[derive(Debug, Clone)]
pub struct SurvivalPlot {
    /// What stands above it, such as the model's name.
    pub name: String,
    /// What is drawn.
    pub series: Vec<SurvivalSeries>,
    /// Why something is missing from it.
    pub missing: Option<String>,
}

/// One line or cloud of points.
#[derive(Debug, Clone)]
pub struct SurvivalSeries {
    /// What it is; the same name has the same colour in all charts of a section.
    pub name: String,
    /// How points are joined.
    pub shape: SurvivalShape,
    /// The points.
    pub points: Vec<SurvivalPoint>,
}

#[derive(Template)]
#[template(path = "survival.html")]
struct Page<'a> {
    style: String,
    script: &'static str,
    script_hash: String,
    version: &'static str,
    of: &'a Survival,
    title: String,
    /// With its drawing.
    effects: Option<(String, &'a Effects)>,
    coefficients: Vec<[String; 7]>,
    rows: Vec<RowView>,
    plots: Vec<PlotsView>,
}

impl Page<'_> {
    /// Whether there is one chart of each kind.
    fn fits_side_by_side(&self) -> bool {
        self.plots.len() > 1 && self.plots.iter().all(|section| section.charts.len() == 1)
    }
}

/// A row of the comparison, ready to be shown.
pub(crate) struct RowView {
    pub(crate) model: String,
    /// What is said of the one that is used.
    pub(crate) chosen: Option<&'static str>,
    /// What is shown, and what it is sorted by.
    pub(crate) cells: Vec<(String, String)>,
    pub(crate) error: Option<String>,
}

/// The page, in one file that loads nothing.
///
/// # Errors
/// [`ReportError::Page`].
pub fn survival(of: &Survival) -> Result<String, ReportError> {
    let plots =
        [(Kind::Curves, &of.curves), (Kind::Calibration, &of.calibration), (Kind::Qq, &of.qq)];
    let plots =
        plots.into_iter().filter_map(|(kind, of_kind)| PlotsView::new(kind, of_kind, &of.duration));
    let page = Page {
        style: format!("{STYLE}{}", include_str!("../../templates/survival.css")),
        script: SCRIPT,
        script_hash: script_hash(),
        version: env!("CARGO_PKG_VERSION"),
        of,
        title: plain(&of.title),
        effects: of.effects.as_ref().filter(|e| !e.rows.is_empty()).map(|e| (drawn(e), e)),
        coefficients: of.coefficients.iter().map(line).collect(),
        rows: of.comparison.iter().flat_map(|table| table.rows.iter().map(row)).collect(),
        plots: plots.collect(),
    };
    Ok(page.render()?)
}

fn drawn<'a>(effects: &'a Effects) -> String {
    let factor =
        |e: &'a Effect| Factor { label: &e.label, value: e.value, low: e.low, high: e.high };
    let rows: Vec<Factor<'a>> = effects.rows.iter().map(factor).collect();
    let about = format!("A dot for each factor on the {}, with its interval", effects.what);
    factors(&Caption { id: "effects-c", title: "Effects of covariates", about: &about }, &rows)
}

fn line(of: &Coefficient) -> [String; 7] {
    [
        of.parameter.clone(),
        plain(&of.covariate),
        number(of.estimate, 4),
        number(of.se, 3),
        format!("{:.2}", of.z),
        p_value(of.p),
        format!("[{}, {}]", number(of.low, 4), number(of.high, 4)),
    ]
}

/// A row of the comparison, with as many digits as say something.
pub(crate) fn row(of: &SurvivalRow) -> RowView {
    // Criteria in units, measures in shares. A browser sorts what is not there last.
    let cell = |(i, value): (usize, &Option<f64>)| match value {
        None => ("–".to_owned(), "Infinity".to_owned()),
        Some(value) if i < 2 => (format!("{value:.1}"), value.to_string()),
        Some(value) => (format!("{value:.3}"), value.to_string()),
    };
    RowView {
        model: of.model.clone(),
        chosen: of.chosen.then_some("recommended"),
        cells: of.values.iter().enumerate().map(cell).collect(),
        error: of.error.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> Survival {
        let point = |x: f64, y: f64| SurvivalPoint { x, y, interval: None };
        let series = |name: &str| SurvivalSeries {
            name: name.into(),
            shape: SurvivalShape::Line,
            points: vec![point(0.0, 1.0), point(2.0, 0.5)],
        };
        let plot = SurvivalPlot {
            name: "<b>weibull</b>".into(),
            series: vec![series("model"), series("<i>data</i>")],
            missing: Some("too few <rows>".into()),
        };
        let values = [Some(12.34), None, Some(0.5), None, None, None, None, None];
        let row = SurvivalRow { model: "cox".into(), chosen: true, values, error: None };
        Survival {
            title: "<script>alert(1)</script>.csv".into(),
            lead: "a & b".into(),
            comparison: Some(SurvivalTable { rows: vec![row], about: "80 rows".into() }),
            effects: Some(Effects {
                what: "duration".into(),
                step: "per step".into(),
                rows: vec![Effect { label: "x<y".into(), value: 2.0, low: 1.0, high: 4.0 }],
            }),
            curves: vec![plot.clone()],
            qq: vec![plot],
            ..Survival::default()
        }
    }

    #[test]
    fn names_are_shown_and_do_nothing() {
        let page = survival(&page()).unwrap();
        for forbidden in ["<script>alert", "<b>weibull", "<i>data", "<rows>", "http://", "https://"]
        {
            let found = page.replace("http://www.w3.org/2000/svg", "").contains(forbidden);
            assert!(!found, "{forbidden}");
        }
        assert!(page.contains("default-src 'none'") && page.contains("12.3"));
    }

    #[test]
    fn what_is_not_there_has_no_section() {
        let page = survival(&page()).unwrap();
        assert!(page.contains("id=\"curves\"") && page.contains("id=\"qq\""));
        assert!(!page.contains("id=\"calibration\""));
        let empty = survival(&Survival::default()).unwrap();
        for section in ["curves", "qq", "models", "effects", "coefficients"] {
            assert!(!empty.contains(&format!("id=\"{section}\"")), "{section}");
        }
    }
}
