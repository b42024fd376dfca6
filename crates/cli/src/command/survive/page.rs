//! The result as a page.

use faultlens::analysis::format::{count, counted, number, p_value};
use faultlens::report::{Effect, Effects, Survival, SurvivalRow, SurvivalTable, survival};
use faultlens::stats::Level;
use faultlens::stats::survival::{
    CalibrationInterval, Compared, Covariate, Curve, Fitted, Lifetimes, Worth, kaplan_meier,
};

use super::analysis::{Findings, RunComparison, Split};
use super::curves::Curves;
use super::design::single;
use super::plots;
use super::rows::Rows;
use crate::args::{SmoothingName, SurviveArgs};

/// The page of a fit.
pub(super) fn of_fit(args: &SurviveArgs, rows: &Rows, found: &Findings) -> anyhow::Result<String> {
    let curve = kaplan_meier(&rows.data, Level::default());
    let shown: Vec<(&Worth, &Split)> = match &found.comparison {
        Some(all) => all
            .models
            .iter()
            .filter_map(|one| Some((one.outcome.as_ref().ok()?, &all.split)))
            .collect(),
        None => vec![(&found.worth, &found.split)],
    };
    let fit = &found.worth.fit;
    let page = Survival {
        lead: format!("{} {}", status(&rows.data, &curve, args), advice(found)),
        warnings: warnings(rows, found),
        figures: figures(rows, found, &curve),
        comparison: found.comparison.as_ref().map(table),
        effects: Some(effects(fit, &found.split.train, rows)),
        coefficients: fit.coefficients(Level::default()),
        curves: shown.iter().map(|(w, s)| plots::curve(w, s)).collect::<anyhow::Result<_>>()?,
        calibration: shown.iter().map(|(worth, _)| plots::calibration(worth)).collect(),
        qq: shown.iter().map(|(worth, split)| plots::qq(worth, split)).collect(),
        method: method(args, rows, found),
        ..begun(args, rows)
    };
    Ok(survival(&page))
}

/// The page of curves.
pub(super) fn of_curves(
    args: &SurviveArgs,
    rows: &Rows,
    curves: &Curves,
) -> anyhow::Result<String> {
    let plot = match &args.strata {
        None => plots::strata(&args.duration, &[("all rows", &curves.all)]),
        Some(column) => {
            let all: Vec<(&str, &Curve)> =
                curves.groups.iter().map(|(level, _, curve)| (level.as_str(), curve)).collect();
            plots::strata(column, &all)
        }
    };
    let differ = curves.log_rank.map_or(String::new(), |test| {
        format!(" Log-rank test between strata: p {}.", p_value(test.p))
    });
    let page = Survival {
        lead: format!("{}{differ}", status(&rows.data, &curves.all, args)),
        warnings: rows.notes.clone(),
        curves: vec![plot],
        method: vec!["Curves by Kaplan and Meier, with log-log intervals.".to_owned()],
        ..begun(args, rows)
    };
    Ok(survival(&page))
}

/// What every page has.
fn begun(args: &SurviveArgs, rows: &Rows) -> Survival {
    let title = args.data.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let event = args.event.clone().unwrap_or("every row".to_owned());
    Survival {
        title,
        duration: args.duration.clone(),
        provenance: vec![
            ("Table".to_owned(), args.data.display().to_string()),
            ("Duration".to_owned(), args.duration.clone()),
            ("Event".to_owned(), event),
            ("Rows used".to_owned(), count(rows.data.rows() as u64)),
            ("Rows left out".to_owned(), count(rows.left_out as u64)),
        ],
        ..Survival::default()
    }
}

fn status(data: &Lifetimes, curve: &Curve, args: &SurviveArgs) -> String {
    let rows = count(data.rows() as u64);
    let events = count(data.events() as u64);
    match curve.median() {
        Some(median) => format!(
            "Half of {rows} rows have had the event by {} ({}); it was seen in {events}.",
            number(median, 4),
            args.duration
        ),
        None => format!(
            "{events} of {rows} rows had the event; more than half were still without it when the \
             observation ended."
        ),
    }
}

fn advice(found: &Findings) -> String {
    let name = found.worth.fit.name();
    match &found.comparison {
        Some(all) => format!("Recommended model: {name}; {}.", all.recommended.reason),
        None => format!("The model is {name}."),
    }
}

fn warnings(rows: &Rows, found: &Findings) -> Vec<String> {
    let mut out = rows.notes.clone();
    for one in found.comparison.iter().flat_map(|all| &all.models) {
        out.extend(
            one.outcome.as_ref().err().map(|why| format!("{} has no fit: {why}", one.model.name())),
        );
    }
    out.extend(found.comparison.iter().flat_map(|all| all.recommended.cautions.clone()));
    out
}

fn figures(rows: &Rows, found: &Findings, curve: &Curve) -> Vec<[String; 3]> {
    let data = &rows.data;
    let events = counted(data.events() as u64, "event");
    let median = curve.median().map_or("not reached".to_owned(), |median| number(median, 4));
    let of_median = curve.median_interval();
    let until = |end: f64| if end.is_finite() { number(end, 4) } else { "not reached".to_owned() };
    let about_median = match of_median.value {
        Some(_) => format!(
            "by Kaplan and Meier; 95% interval {} to {}",
            until(of_median.low),
            until(of_median.high)
        ),
        None => "by Kaplan and Meier".to_owned(),
    };
    let own = &found.worth.train;
    let ici = own.calibration.as_ref().ok().map(|c| c.ici);
    let interval = match &found.closer.interval {
        Some(Ok(CalibrationInterval { ici: (low, high), .. })) => {
            format!("; 95% interval {low:.3} to {high:.3}")
        }
        _ => String::new(),
    };
    let chosen = if found.comparison.is_some() { "recommended" } else { "as asked for" };
    let figure = |name: &str, value: String, note: String| [name.to_owned(), value, note];
    vec![
        figure("Model", found.worth.fit.name().to_owned(), chosen.to_owned()),
        figure("Rows", count(data.rows() as u64), events),
        figure("Median", median, about_median),
        figure(
            "Concordance",
            three_decimals(own.concordance.as_ref().ok().copied()),
            "of pairs are ranked correctly; 0.5 is chance".to_owned(),
        ),
        figure(
            "ICI",
            three_decimals(ici),
            format!("mean error of the chances at time {}{interval}", number(found.time, 4)),
        ),
    ]
}

fn three_decimals(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.3}"))
}

fn table(of: &RunComparison) -> SurvivalTable {
    let train = &of.split.train;
    let about = match &of.split.test {
        Some(test) => format!(
            "Fitted on {} rows ({} events), tested on {} others ({} events). Cox's likelihood is a \
             partial one, comparable with no other.",
            count(train.rows() as u64),
            count(train.events() as u64),
            count(test.rows() as u64),
            count(test.events() as u64)
        ),
        None => format!("Fitted on all {} rows.", count(train.rows() as u64)),
    };
    SurvivalTable {
        rows: of
            .models
            .iter()
            .enumerate()
            .map(|(i, one): (usize, &Compared)| SurvivalRow {
                model: one.model.name().to_owned(),
                chosen: i == of.recommended.index,
                values: one.measures(),
                error: one.outcome.as_ref().err().map(ToString::to_string),
            })
            .collect(),
        about,
    }
}

/// The factors of one step of each covariate: present against absent, or a standard deviation,
/// so that covariates in different units can be compared. Products and splines have none.
fn effects(fit: &Fitted, data: &Lifetimes, rows: &Rows) -> Effects {
    let (what, first) = match fit {
        Fitted::Parametric(fit) => ("duration", fit.family().parameters()[0]),
        Fitted::Cox(_) => ("risk", "beta"),
    };
    let coefficients = fit.coefficients(Level::default());
    let mut own: Vec<&String> = Vec::new();
    for term in single(&rows.design) {
        own.extend(rows.terms.get(&term.label).into_iter().flatten());
    }
    Effects {
        what: what.to_owned(),
        step: "What a covariate does: for levels and columns of 0 and 1 the level against its \
               base, for other numbers one standard deviation more."
            .to_owned(),
        rows: coefficients
            .iter()
            .filter(|c: &&faultlens::stats::survival::Coefficient| {
                c.parameter == first && own.contains(&&c.covariate)
            })
            .map(|c: &faultlens::stats::survival::Coefficient| {
                let column = data.covariates().iter().find(|column| column.name == c.covariate);
                let step = column.map_or(1.0, step);
                let [value, low, high] = [c.estimate, c.low, c.high].map(|v| (v * step).exp());
                Effect { label: c.covariate.clone(), value, low, high }
            })
            .collect(),
    }
}

fn step(column: &Covariate) -> f64 {
    let values = &column.values;
    if values.iter().all(|v| *v == 0.0 || *v == 1.0) {
        return 1.0;
    }
    let n = values.len() as f64;
    let mean = values.iter().map(|v| v / n).sum::<f64>();
    (values.iter().map(|v| (v - mean) * (v - mean) / (n - 1.0)).sum::<f64>()).sqrt()
}

fn method(args: &SurviveArgs, rows: &Rows, found: &Findings) -> Vec<String> {
    let smoothed = match args.smoothing {
        SmoothingName::Flexible => {
            "by hazard regression (Kooperberg, Stone and Truong 1995), linear splines of the \
             prediction and of time as the data support"
        }
        SmoothingName::Spline => "with a spline of three knots (lifelines' definition)",
        SmoothingName::Straight => "with a line",
    };
    let mut out = vec![
        "Maximum likelihood with exact derivatives; intervals from the observed information."
            .to_owned(),
        format!(
            "Calibration after Austin, Harrell and van Klaveren (2020): chances of an event by {} \
             ({}), smoothed {smoothed}. ICI is the mean difference, E50 the median.",
            number(found.time, 4),
            args.duration
        ),
        "Quantiles are those of the Cox-Snell residuals, which are exponential if the model is right.".to_owned(),
    ];
    let split = found.comparison.as_ref().map_or(&found.split, |all| &all.split);
    if split.test.is_some() {
        out.push(format!("Test rows are drawn at random from seed {}.", args.seed));
    }
    if let Some(Ok(CalibrationInterval { resamples, .. })) = &found.closer.interval {
        out.push(format!(
            "The interval of the ICI is from {resamples} bootstrap resamples of rows or clusters; \
             predictions stay, the smoothing is done anew each time."
        ));
    }
    if let Some(clusters) = found.clusters {
        out.push(format!(
            "Standard errors are robust (sandwich), by {} clusters, without a correction for their \
             number.",
            count(clusters as u64)
        ));
    }
    if let (Fitted::Cox(_), [_, ..]) = (&found.worth.fit, &rows.strata_levels[..]) {
        out.push("Each stratum has its own baseline hazard; effects are shared.".to_owned());
    }
    if args.penalty > 0.0 {
        out.push(format!(
            "Coefficients are shrunk towards 0 by a ridge penalty of {}.",
            args.penalty
        ));
    }
    for (column, base) in &rows.bases {
        out.push(format!("Levels of {column} are compared with {base}."));
    }
    out
}
