//! The result for people, as tables.

use faultlens::analysis::format::{count, counted, number, p_value};
use faultlens::report::plain;
use faultlens::stats::survival::{
    Assessment, CalibrationInterval, Clock, Coefficient, Compared, Cox, Curve, Fitted, Lifetimes,
    Model, adjusted_p,
};
use faultlens::stats::{Estimate, Level, holm};

use super::analysis::{Expected, Findings, RunComparison};
use super::closer::{Brier, Closer};
use super::curves::Curves;
use super::predict::Predictions;
use super::rows::Rows;
use crate::console::{Console, Tint};
use crate::text::{Align, table};

/// Steps of a curve that are shown; the JSON object has all.
const STEPS: usize = 24;
const NONE: &str = "–";
const LEFT: Align = Align::Left;
const RIGHT: Align = Align::Right;

/// Shows a fit, behind the comparison that chose it.
pub(super) fn fit(found: &Findings, rows: &Rows, console: &mut Console) -> anyhow::Result<()> {
    if let Some(comparison) = &found.comparison {
        compared(comparison, found.time, console)?;
    }
    let fit = &found.worth.fit;
    let data = &found.split.train;
    console.line(format_args!("{}: {}", fit.name(), sizes(data)))?;
    let coefficients = fit.coefficients(Level::default());
    let se = if found.clusters.is_some() { "robust se" } else { "se" };
    let header = ["parameter", "covariate", "estimate", se, "z", "p", "p, Holm", "95% interval"];
    let mut lines = vec![header.map(str::to_owned)];
    for (line, adjusted) in coefficients.iter().zip(adjusted_p(&coefficients)) {
        lines.push(coefficient(line, adjusted));
    }
    for line in table([LEFT, LEFT, RIGHT, RIGHT, RIGHT, RIGHT, RIGHT, LEFT], &lines) {
        console.line(line)?;
    }
    for (column, level) in &rows.bases {
        let column = plain(column);
        let level = plain(level);
        console.line(format_args!("Levels of {column} are compared with {level}."))?;
    }
    console.line(meaning(fit))?;
    measures(found, console)
}

/// How many rows and events there are, and how many they stand for.
fn sizes(data: &Lifetimes) -> String {
    let rows = counted(data.rows() as u64, "row");
    let events = counted(data.events() as u64, "event");
    if !data.is_weighted() {
        return format!("{rows}, {events}");
    }
    let total = number(data.total_weight(), 6);
    format!("{rows}, {events} (by weight {total} and {})", number(data.event_weight(), 6))
}

fn coefficient(of: &Coefficient, adjusted: Option<f64>) -> [String; 8] {
    [
        of.parameter.clone(),
        of.covariate.clone(),
        number(of.estimate, 4),
        number(of.se, 3),
        format!("{:.2}", of.z),
        p_value(of.p),
        adjusted.map_or(NONE.to_owned(), p_value),
        format!("[{}, {}]", number(of.low, 4), number(of.high, 4)),
    ]
}

fn meaning(fit: &Fitted) -> String {
    match fit {
        Fitted::Cox(_) => "exp(estimate) multiplies the risk: above 0 is earlier.".to_owned(),
        Fitted::Parametric(fit) => {
            let first = fit.family().parameters().first().copied().unwrap_or_default();
            format!("exp(estimate) of {first} multiplies the duration: above 0 is later.")
        }
    }
}

fn measures(found: &Findings, console: &mut Console) -> anyhow::Result<()> {
    let fit = &found.worth.fit;
    let partial = if matches!(fit, Fitted::Cox(_)) { "partial " } else { "" };
    console.line(format_args!(
        "\n{partial}log-likelihood {:.3}, AIC {:.2}, BIC {:.2}",
        fit.log_likelihood(),
        fit.aic(),
        fit.bic()
    ))?;
    if let Some(clusters) = found.clusters {
        let clusters = count(clusters as u64);
        console.line(format_args!("errors are robust, by {clusters} clusters"))?;
    }
    for line in assessed(&found.worth.train, &found.closer, found.time) {
        console.line(line)?;
    }
    if let (Some(test), Some(data)) = (&found.worth.test, &found.split.test) {
        console.line(format_args!("on test rows ({}):", sizes(data)))?;
        for line in found.closer_test.iter().flat_map(|closer| assessed(test, closer, found.time)) {
            console.line(format_args!("  {line}"))?;
        }
    }
    if let Some(Expected { median, mean }) = &found.expected {
        let mean = mean.as_ref().map_or(String::new(), |mean| format!(", mean {}", lasting(mean)));
        console.line(format_args!("at mean covariates: median {}{mean}", lasting(median)))?;
    }
    match fit {
        Fitted::Cox(cox) => proportional(cox, console),
        Fitted::Parametric(_) => Ok(()),
    }
}

/// Whether hazards are proportional, and which covariates say otherwise.
fn proportional(cox: &Cox, console: &mut Console) -> anyhow::Result<()> {
    let p = cox.global_proportionality(Clock::default()).p;
    let tests = cox.proportionality(Clock::default());
    let raw: Vec<f64> = tests.iter().map(|(_, test)| test.p).collect();
    let mut drifting = Vec::new();
    for ((name, _), adjusted) in tests.iter().zip(holm(&raw)?) {
        if adjusted < 0.05 {
            drifting.push(format!("{} (p {})", plain(name), p_value(adjusted)));
        }
    }
    let text = if p < 0.05 || !drifting.is_empty() {
        console.tinted(Tint::Warning, "effects change over time")
    } else {
        console.tinted(Tint::Good, "no evidence against it")
    };
    console.line(format_args!("proportional hazards: p {}, {text}", p_value(p)))?;
    if !drifting.is_empty() {
        let drifting = drifting.join(", ");
        console.line(format_args!("  by covariate, Holm-adjusted: {drifting}"))?;
    }
    Ok(())
}

/// A median with its interval, as far as they were reached.
fn until(of: &Estimate) -> String {
    let Some(value) = of.value else { return "not reached".to_owned() };
    let end = |end: f64| if end.is_finite() { number(end, 4) } else { "not reached".to_owned() };
    format!("{} [{}, {}]", number(value, 4), end(of.low), end(of.high))
}

/// Shows what was predicted.
pub(super) fn predictions(
    of: &Predictions,
    time: f64,
    console: &mut Console,
) -> anyhow::Result<()> {
    let survival = format!("S({})", number(time, 4));
    let header = ["line", &survival, "95% interval", "median, 95% interval", "mean, 95% interval"];
    let mut lines = vec![header.map(str::to_owned)];
    for row in of.rows.iter().take(STEPS) {
        let Estimate { value, low, high, .. } = row.survival;
        lines.push([
            row.line.to_string(),
            value.map_or(NONE.to_owned(), |value| format!("{value:.4}")),
            format!("[{low:.4}, {high:.4}]"),
            until(&row.median),
            row.mean.as_ref().map_or(NONE.to_owned(), lasting),
        ]);
    }
    console.line("\nPredicted rows:")?;
    for line in table([RIGHT, RIGHT, LEFT, LEFT, LEFT], &lines) {
        console.line(line)?;
    }
    if of.rows.len() > STEPS {
        let all = count(of.rows.len() as u64);
        console.line(format_args!("{STEPS} of {all} rows; --json has all"))?;
    }
    Ok(())
}

fn lasting(of: &Estimate) -> String {
    match of.value.filter(|value| value.is_finite()) {
        Some(value) => {
            format!("{} [{}, {}]", number(value, 4), number(of.low, 4), number(of.high, 4))
        }
        None => "infinite".to_owned(),
    }
}

fn assessed(of: &Assessment, closer: &Closer, time: f64) -> Vec<String> {
    let concordance = value(&of.concordance, |c| *c);
    let uno = value(&of.uno, |c| *c);
    let [ici, e50] = errors(of);
    let interval = match &closer.interval {
        Some(Ok(CalibrationInterval { ici: (low, high), .. })) => format!(" [{low:.4}, {high:.4}]"),
        _ => String::new(),
    };
    let time = number(time, 4);
    let lifelines = value(&of.lifelines, |c| c.ici);
    let mut out = vec![
        format!("concordance {concordance}, Uno's {uno}"),
        format!(
            "chances by {time}: ICI {ici}{interval}, E50 {e50}; ICI (lifelines' definition) \
             {lifelines}"
        ),
    ];
    if let Ok(Brier { at_time, null, integrated, horizon }) = &closer.brier {
        let horizon = number(*horizon, 4);
        out.push(format!(
            "Brier score by {time}: {at_time:.4} ({null:.4} without covariates); integrated up to \
             {horizon}: {integrated:.4}"
        ));
    }
    out
}

fn errors(of: &Assessment) -> [String; 2] {
    [value(&of.calibration, |c| c.ici), value(&of.calibration, |c| c.e50)]
}

fn value<T, E>(of: &Result<T, E>, pick: fn(&T) -> f64) -> String {
    of.as_ref().map_or(NONE.to_owned(), |of| format!("{:.4}", pick(of)))
}

/// The paper's table: criteria, and each measure on training and test rows.
fn compared(of: &RunComparison, time: f64, console: &mut Console) -> anyhow::Result<()> {
    let train = &of.split.train;
    let test = &of.split.test;
    let held = test.as_ref().map_or("no test rows".to_owned(), |test| {
        format!("{} test rows ({} events)", count(test.rows() as u64), count(test.events() as u64))
    });
    let sizes = sizes(train);
    console.line(format_args!("training {sizes}; {held}; chances by {}", number(time, 4)))?;
    let header = ["model", "AIC", "BIC", "concordance", "test", "ICI", "test", "E50", "test"];
    let mut lines = vec![header.map(str::to_owned)];
    lines.extend(of.models.iter().map(of_model));
    for line in table([LEFT, RIGHT, RIGHT, RIGHT, RIGHT, RIGHT, RIGHT, RIGHT, RIGHT], &lines) {
        console.line(line)?;
    }
    let chosen = &of.recommended;
    let name = console.tinted(Tint::Good, of.models[chosen.index].model.name());
    console.line(format_args!("\nRecommended: {name}; {}.", chosen.reason))?;
    for caution in &chosen.cautions {
        let caution = console.tinted(Tint::Warning, caution);
        console.line(format_args!("Mind: {caution}."))?;
    }
    console.line("\nThe recommended model on all rows:")?;
    Ok(())
}

fn of_model(one: &Compared) -> [String; 9] {
    let name = one.model.name().to_owned();
    let Ok(worth) = &one.outcome else {
        let none = || NONE.to_owned();
        return [name, none(), none(), none(), none(), none(), none(), none(), none()];
    };
    let full = matches!(one.model, Model::Parametric(_));
    let criterion = |value: f64| if full { format!("{value:.1}") } else { NONE.to_owned() };
    let concordance = |of: &Assessment| value(&of.concordance, |c| *c);
    let [ici, e50] = errors(&worth.train);
    let [test_ici, test_e50] = worth.test.as_ref().map_or([NONE; 2].map(str::to_owned), errors);
    let test = worth.test.as_ref().map_or(NONE.to_owned(), concordance);
    let aic = criterion(worth.fit.aic());
    let bic = criterion(worth.fit.bic());
    [name, aic, bic, concordance(&worth.train), test, ici, test_ici, e50, test_e50]
}

/// Shows curves.
pub(super) fn curves(of: &Curves, rows: &Rows, console: &mut Console) -> anyhow::Result<()> {
    let data = &rows.data;
    if of.groups.is_empty() {
        return one("Kaplan-Meier", data, &of.all, console);
    }
    for (level, data, curve) in &of.groups {
        one(&plain(level), data, curve, console)?;
        console.line("")?;
    }
    console.line(match of.log_rank {
        Some(test) => format!(
            "log-rank: chi-squared {}, {}, p {}",
            number(test.statistic, 4),
            counted(test.freedom as u64, "degree") + " of freedom",
            p_value(test.p)
        ),
        None => "log-rank: too few events in different groups to tell".to_owned(),
    })?;
    Ok(())
}

fn one(name: &str, data: &Lifetimes, curve: &Curve, console: &mut Console) -> anyhow::Result<()> {
    let median = curve.median_interval();
    console.line(format_args!("{name}: {}, median {}", sizes(data), until(&median)))?;
    let header = ["time", "at risk", "events", "survival", "95% interval"];
    let mut lines = vec![header.map(str::to_owned)];
    let every = curve.steps.len().div_ceil(STEPS).max(1);
    // Counted from the end, so that the last step is shown.
    let last = curve.steps.len().wrapping_sub(1) % every;
    for step in curve.steps.iter().skip(last).step_by(every) {
        let Estimate { value, low, high, .. } = step.estimate;
        let survival = value.map_or(NONE.to_owned(), |value| format!("{value:.4}"));
        let interval = format!("[{low:.4}, {high:.4}]");
        let [at_risk, events] = [step.at_risk, step.events].map(|n| number(n, 6));
        lines.push([number(step.time, 5), at_risk, events, survival, interval]);
    }
    for line in table([RIGHT, RIGHT, RIGHT, RIGHT, LEFT], &lines) {
        console.line(line)?;
    }
    if every > 1 {
        let all = count(curve.steps.len() as u64);
        let shown = lines.len() - 1;
        console.line(format_args!("{shown} of {all} steps; --json has all"))?;
    }
    Ok(())
}
