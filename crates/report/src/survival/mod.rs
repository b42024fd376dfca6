//! The page of `faultlens survive`: coefficients, curves, and whether to believe them.

pub(crate) mod models;
pub(crate) mod plots;

use crate::document::{
    Block, Cell, Chart, Column, Document, Header, KeyFigure, Part, Plot, Row, Table,
};
use crate::render;
use crate::svg::{Caption, Factor, factors};
use faultlens_analysis::format::{NONE, number, p_value};
use faultlens_stats::survival::{Coefficient, adjusted_p};
use plots::Kind;

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

/// The page, in one file that loads nothing.
pub fn survival(of: &Survival) -> String {
    let header = Header {
        kind: "Survival analysis",
        title: of.title.clone(),
        lead: of.lead.clone(),
        figures: of.figures.iter().map(KeyFigure::from).collect(),
        ..Header::default()
    };
    let mut parts = Vec::new();
    if let Some(comparison) = &of.comparison {
        let table = models::table(&comparison.rows, "recommended");
        let block = Block::all(vec![Block::note(&comparison.about), Block::Table(table)]);
        parts.push(Part::new("models", "Models side by side", block));
    }
    if let Some(effects) = of.effects.as_ref().filter(|effects| !effects.rows.is_empty()) {
        parts.push(effects_part(effects));
    }
    let kinds =
        [(Kind::Curves, &of.curves), (Kind::Calibration, &of.calibration), (Kind::Qq, &of.qq)];
    // Where each section has a single chart, they fit beside each other.
    let single = kinds.iter().all(|(_, plots)| plots.len() < 2);
    for (kind, plots) in kinds {
        if let Some(part) = plots::part(kind, plots, &of.duration) {
            parts.push(Part { shares_row: single, ..part });
        }
    }
    if !of.coefficients.is_empty() {
        let block = Block::Table(coefficients(&of.coefficients));
        parts.push(Part::new("coefficients", "Coefficients", block));
    }
    let document =
        Document::new(header, of.warnings.clone(), parts, of.method.clone(), of.provenance.clone());
    render::html::page(&document, None)
}

fn effects_part(effects: &Effects) -> Part {
    let mut rows = Vec::new();
    for Effect { label, value, low, high } in &effects.rows {
        rows.push(Factor { label, value: *value, low: *low, high: *high });
    }
    let about = format!("A dot for each factor on the {}, with its interval", effects.what);
    let caption = Caption { id: "effects-c", title: "Effects of covariates", about: &about };
    let chart = Chart {
        svg: factors(&caption, &rows),
        plot: Plot::Dots,
        caption: Some(format!(
            "Factor on the {}, with its 95% interval; ×1 is no effect.",
            effects.what
        )),
        ..Chart::default()
    };
    let block = Block::all(vec![Block::note(&effects.step), Block::Chart(chart)]);
    Part::new("effects", format!("Effects on the {}", effects.what), block)
}

fn coefficients(all: &[Coefficient]) -> Table {
    Table {
        caption: "Coefficients with standard errors and intervals".into(),
        columns: vec![
            Column::text("Parameter"),
            Column::name("Covariate"),
            Column::number("Estimate"),
            Column::number("Standard error"),
            Column::number("z"),
            Column::number("p"),
            Column::number("p, Holm-adjusted"),
            Column::number("95% interval"),
        ],
        rows: all.iter().zip(adjusted_p(all)).map(|(one, p)| coefficient(one, p)).collect(),
        ..Table::default()
    }
}

fn coefficient(one: &Coefficient, adjusted: Option<f64>) -> Row {
    let interval = format!("[{}, {}]", number(one.low, 4), number(one.high, 4));
    vec![
        Cell::text(&one.parameter),
        Cell::text(&one.covariate),
        Cell::number(number(one.estimate, 4), Some(one.estimate)),
        Cell::number(number(one.se, 3), Some(one.se)),
        Cell::number(format!("{:.2}", one.z), Some(one.z)),
        Cell::number(p_value(one.p), Some(one.p)),
        Cell::number(adjusted.map_or(NONE.to_owned(), p_value), adjusted),
        Cell::text(interval),
    ]
    .into()
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
        let page = survival(&page());
        for forbidden in ["<script>alert", "<b>weibull", "<i>data", "<rows>", "http://", "https://"]
        {
            let found = page.replace("http://www.w3.org/2000/svg", "").contains(forbidden);
            assert!(!found, "{forbidden}");
        }
        assert!(page.contains("default-src 'none'") && page.contains("12.3"));
    }

    #[test]
    fn what_is_not_there_has_no_section() {
        let page = survival(&page());
        assert!(page.contains("id=\"curves\"") && page.contains("id=\"qq\""));
        assert!(!page.contains("id=\"calibration\""));
        let empty = survival(&Survival::default());
        for section in ["curves", "qq", "models", "effects", "coefficients"] {
            assert!(!empty.contains(&format!("id=\"{section}\"")), "{section}");
        }
    }
}
