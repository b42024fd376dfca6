//! The report of a robustness sweep: which configurations break, at what cost, and why.

mod charts;
mod tables;

use crate::document::{Block, Document, Header, KeyFigure, Part, Reach};
use crate::render;
use crate::survival::plots::{self, Kind};
use faultlens_analysis::Verdict;
use faultlens_analysis::format::{NONE, count, counted, number, percent};
use faultlens_analysis::sweep::{Durations, Findings, OfConfiguration, Standing};

/// What the report shows. Names in it come from outside; every format escapes them.
#[derive(Debug, Clone)]
pub struct SweepPage<'a> {
    /// What the page is about, such as the sweep's name.
    pub title: String,
    /// The findings of its analysis.
    pub findings: &'a Findings,
    /// Where it comes from: name and value.
    pub provenance: Vec<(String, String)>,
}

/// The sweep as one page that loads nothing.
pub fn sweep(of: &SweepPage<'_>) -> String {
    render::html::page(&document(of), None)
}

/// The sweep as Markdown: conclusions, warnings, survival models and counts.
pub fn sweep_markdown(of: &SweepPage<'_>) -> String {
    render::markdown::render(&document(of))
}

fn document(of: &SweepPage<'_>) -> Document {
    let findings = of.findings;
    let header = Header {
        kind: "Robustness sweep",
        title: of.title.clone(),
        verdict: verdict(findings),
        lead: lead(findings),
        findings: findings.conclusions.iter().map(|one| one.text.clone()).collect(),
        interval: "95% intervals".into(),
        figures: figures(findings),
        ..Header::default()
    };
    Document::new(
        header,
        findings.cautions.clone(),
        sections(findings),
        method(findings),
        of.provenance.clone(),
    )
}

const ACCURACY: &str = "One point per configuration, the shape shows where they crowd; the dot is \
                        the share over all answers together, with its 95% interval.";

const COSTS: &str = "TRASH: seconds of training per sample over expected seconds of attack, on a \
                     logarithmic axis. Right of the line at 1, attacking is cheaper than training. \
                     One point per configuration; the dot is the median, its line spans half of \
                     them.";

const CONFIGURATIONS: &str = "By the survival model, and by each configuration's own samples alone. \
                              † Some samples resisted until the budget ended.";

const COUNTS: &str = "Adversarial accuracy is over samples that were answered; rejections are \
                      counted apart. Failure rates are wrong classifications per processor second \
                      of prediction and of attack.";

/// The sections that have something to show.
fn sections(of: &Findings) -> Vec<Part> {
    let mut parts = Vec::new();
    let accuracies = charts::accuracies(of);
    if !accuracies.is_empty() {
        let block = Block::all(vec![Block::note(ACCURACY), Block::Charts(accuracies)]);
        parts.push(Part::new("accuracies", "Accuracy", block));
    }
    let clocks: Vec<Block> =
        [&of.seconds, &of.queries].into_iter().filter_map(tables::models).collect();
    if !clocks.is_empty() {
        let part = Part::new("models", "Survival models", Block::all(clocks));
        parts.push(part.reaching(Reach::Comment));
    }
    let unit = of.seconds.clock.unit();
    for (kind, plots) in [
        (Kind::Calibration, charts::calibration(&of.seconds)),
        (Kind::Qq, charts::quantiles(&of.seconds)),
    ] {
        parts.extend(plots::part(kind, &plots, unit));
    }
    let effects = charts::effects(&of.seconds);
    if !effects.is_empty() {
        let mut blocks = vec![Block::note(effects_note(&of.seconds)), Block::Charts(effects)];
        blocks.extend([&of.seconds, &of.queries].into_iter().filter_map(tables::coefficients));
        parts.push(Part::new("effects", "Effects on survival", Block::all(blocks)));
    }
    let costs = charts::costs(of);
    if !costs.is_empty() {
        let block = Block::all(vec![Block::note(COSTS), Block::Charts(costs)]);
        parts.push(Part::new("costs", "Attack cost compared with training", block));
    }
    let configurations = tables::configurations(of);
    if !configurations.is_empty() {
        let mut blocks = vec![Block::note(CONFIGURATIONS)];
        blocks.extend(configurations);
        parts.push(Part::new("configurations", "Configurations", Block::all(blocks)));
    }
    if !of.groups.is_empty() {
        let mut blocks = vec![Block::note(COUNTS)];
        blocks.extend(of.groups.iter().map(tables::counts));
        let part = Part::new("groups", "Counts", Block::all(blocks));
        parts.push(part.reaching(Reach::Comment));
    }
    parts
}

/// What a standing comes to as a verdict, and its word.
fn standing(of: Standing) -> (Verdict, &'static str) {
    match of {
        Standing::Broken => (Verdict::NotMet, "broken"),
        Standing::NotBroken => (Verdict::Met, "not broken"),
        Standing::Inconclusive => (Verdict::Inconclusive, "inconclusive"),
    }
}

fn verdict(of: &Findings) -> Option<(Verdict, String)> {
    let known = of.standings.known();
    if known == 0 {
        return None;
    }
    let broken = of.standings.broken;
    let verdict = if broken > 0 {
        Verdict::NotMet
    } else if of.standings.not_broken == known {
        Verdict::Met
    } else {
        Verdict::Inconclusive
    };
    let number = if broken == 0 { "none".to_owned() } else { count(broken) };
    Some((verdict, format!("{number} of {} broken", counted(known, "configuration"))))
}

fn lead(of: &Findings) -> String {
    let about = &of.about;
    let mut text = format!(
        "{} with {} under {}: {} attacked.",
        counted(about.models, "trained model"),
        counted(about.defences, "defence"),
        counted(about.attacks, "attack"),
        counted(about.rows, "sample")
    );
    let known = of.standings.known();
    if known > 0 {
        let share = percent(of.standings.broken as f64 / known as f64);
        text.push_str(&format!(
            " In {share}% of the configurations an attack costs less than training did."
        ));
    }
    text
}

fn figures(of: &Findings) -> Vec<KeyFigure> {
    let all = of.standings;
    let inconclusive = count(all.inconclusive);
    let broken =
        format!("of {}; {inconclusive} inconclusive", counted(all.known(), "configuration"));
    let mut changed = 0;
    let mut attacked = 0;
    for one in &of.configurations {
        changed += one.counts.changed.events;
        attacked += one.counts.changed.n;
    }
    let share = if attacked > 0 {
        format!("{}%", percent(changed as f64 / attacked as f64))
    } else {
        NONE.into()
    };
    let mut ratios: Vec<f64> = of.configurations.iter().filter_map(ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let median = ratios.get(ratios.len() / 2).map_or(NONE.into(), |&ratio| number(ratio, 3));
    let mut figures = vec![
        KeyFigure::new("Broken", count(all.broken), broken),
        KeyFigure::new(
            "Answers changed",
            share,
            format!("of {} attacked samples", count(attacked)),
        ),
        KeyFigure::new("TRASH", median, "training over attack seconds, median"),
    ];
    if let Some(model) = of.seconds.models.iter().find(|model| model.chosen) {
        figures.push(KeyFigure::new("Model", &model.model, "of the seconds until a change"));
        let (concordance, ici, rows) = match model.test_concordance {
            Some(_) => (model.test_concordance, model.test_ici, "test rows"),
            None => (model.concordance, model.ici, "the rows of the fit"),
        };
        let note = format!("on {rows}; ICI {}", three_digits(ici));
        figures.push(KeyFigure::new("Concordance", three_digits(concordance), note));
    }
    figures
}

/// A measure from 0 to 1.
fn three_digits(value: Option<f64>) -> String {
    value.map_or(NONE.into(), |value| format!("{value:.3}"))
}

/// The training over attack seconds of a configuration: by the model, or by its own samples.
fn ratio(of: &OfConfiguration) -> Option<f64> {
    let costs = of.costs.as_ref()?;
    costs.model.as_ref().or(costs.own.as_ref())?.ratio.value
}

/// What levels are compared with, and what one step is.
fn effects_note(of: &Durations) -> String {
    let bases: Vec<String> =
        of.bases.iter().map(|(axis, base)| format!("{axis} with {base}")).collect();
    let compared =
        if bases.is_empty() { String::new() } else { format!(" Compared: {}.", bases.join(", ")) };
    format!(
        "By which factor the seconds until a change grow or shrink; ×1 is no effect. A step of a \
         strength goes from its lowest to its highest value, a step of any other number is one \
         standard deviation.{compared}"
    )
}

fn method(of: &Findings) -> Vec<String> {
    let mut lines = vec![
        "TRASH is the processor seconds of training per sample over the expected processor seconds \
         until an attack changes an answer (Meyers et al. 2023). A configuration is broken where \
         the whole 95% interval lies above 1."
            .to_owned(),
        "Intervals are Wilson's for shares, Garwood's for failure rates, and by the delta method \
         for expected seconds. By own samples they come from the Kaplan-Meier curve up to the \
         latest time; where samples resisted, the lower end counts what an attacker spends on them \
         before taking another."
            .to_owned(),
        "Intervals of pooled shares treat every answer as independent, although samples recur \
         across configurations: they speak of the samples that were shown."
            .to_owned(),
    ];
    if let Some(chosen) = &of.seconds.chosen {
        lines.push(format!(
            "The model is {} ({}), fitted to all {} with durations. Standard errors treat {} as \
             independent, one per {}: samples of the same model resemble each other.",
            chosen.model,
            chosen.reason,
            counted(of.seconds.rows, "row"),
            counted(chosen.clusters, "cluster"),
            chosen.clustered_by
        ));
    }
    if let Some(split) = &of.seconds.split {
        lines.push(format!(
            "A share of each configuration's samples was drawn to test the models: {} of {} rows. \
             They are other samples of configurations that the fit has seen, not other \
             configurations.",
            count(split.test_rows),
            count(split.test_rows + split.train_rows)
        ));
    }
    if let Some(time) = of.seconds.time {
        lines.push(format!(
            "Calibration after Austin, Harrell and van Klaveren (2020): probabilities of a change \
             by {} s. ICI is the mean difference, E50 the median.",
            number(time, 4)
        ));
    }
    for left in &of.seconds.left_out {
        lines.push(format!("{} is in no model: {}.", left.name, left.why));
    }
    lines
}
