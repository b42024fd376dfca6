//! The result for people, as tables.

use faultlens::analysis::format::{count, counted, number, p_value};
use faultlens::report::plain;
use faultlens::stats::survival::{Assessment, Clock, Coefficient, Compared, Curve, Fitted, Model};
use faultlens::stats::{Estimate, Level};

use super::analysis::{Expected, Findings, RunComparison};
use super::curves::Curves;
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
    console.line(format_args!("{}: {}", fit.name(), sizes(data.rows(), data.events())))?;
    let coefficients = fit.coefficients(Level::default());
    let header = ["parameter", "covariate", "estimate", "se", "z", "p", "95% interval"];
    let mut lines = vec![header.map(str::to_owned)];
    lines.extend(coefficients.iter().map(coefficient));
    for line in table([LEFT, LEFT, RIGHT, RIGHT, RIGHT, RIGHT, LEFT], &lines) {
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

fn sizes(rows: usize, events: usize) -> String {
    format!("{}, {}", counted(rows as u64, "row"), counted(events as u64, "event"))
}

fn coefficient(of: &Coefficient) -> [String; 7] {
    [
        of.parameter.clone(),
        of.covariate.clone(),
        number(of.estimate, 4),
        number(of.se, 3),
        format!("{:.2}", of.z),
        p_value(of.p),
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
    console.line(assessed(&found.worth.train, found.time))?;
    if let (Some(test), Some(data)) = (&found.worth.test, &found.split.test) {
        let sizes = sizes(data.rows(), data.events());
        console.line(format_args!("on test rows ({sizes}): {}", assessed(test, found.time)))?;
    }
    if let Some(Expected { median, mean }) = &found.expected {
        let [median, mean] = [median, mean].map(lasting);
        console.line(format_args!("at mean covariates: median {median}, mean {mean}"))?;
    }
    if let Fitted::Cox(cox) = fit {
        let p = cox.global_proportionality(Clock::default()).p;
        let text = if p < 0.05 {
            console.tinted(Tint::Warning, "the risks of levels drift apart over time")
        } else {
            console.tinted(Tint::Good, "no evidence against it")
        };
        console.line(format_args!("proportional hazards: p {}, {text}", p_value(p)))?;
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

fn assessed(of: &Assessment, time: f64) -> String {
    let concordance = value(&of.concordance, |c| *c);
    let [ici, e50] = errors(of);
    let time = number(time, 4);
    format!("concordance {concordance}; chances by {time}: ICI {ici}, E50 {e50}")
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
    let sizes = sizes(train.rows(), train.events());
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
        return one("Kaplan-Meier", data.rows(), data.events(), &of.all, console);
    }
    for (level, data, curve) in &of.groups {
        one(&plain(level), data.rows(), data.events(), curve, console)?;
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

fn one(
    name: &str,
    rows: usize,
    events: usize,
    curve: &Curve,
    console: &mut Console,
) -> anyhow::Result<()> {
    let median = curve.median().map_or("not reached".to_owned(), |median| number(median, 4));
    console.line(format_args!("{name}: {}, median {median}", sizes(rows, events)))?;
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
