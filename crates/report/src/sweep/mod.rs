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

const CONFIGURATIONS: &str = "Seconds, TRASH and verdicts are those of each configuration's own \
                              samples: the mean where every answer changed, otherwise (†) the mean \
                              up to the latest time, with a lower end for an attacker who then takes \
                              another sample. Intervals are for new images. \
                              Pooled: the own samples left it open, and the survival model of all \
                              configurations, which agrees with them, decided. The last column says \
                              how many times the observed seconds that model expects.";

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
    let coefficients: Vec<Block> =
        [&of.seconds, &of.queries].into_iter().filter_map(tables::coefficients).collect();
    if !coefficients.is_empty() {
        let mut blocks = vec![Block::note(effects_note(&of.seconds))];
        let effects = charts::effects(&of.seconds);
        if !effects.is_empty() {
            blocks.push(Block::Charts(effects));
        }
        blocks.extend(coefficients);
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
    let mut text = format!("{number} of {} broken", counted(known, "configuration"));
    let mut verdict = verdict;
    if let Some(clean) = of.clean {
        text.push_str(&format!(", at {}% clean accuracy", percent(clean.median)));
        // What is mostly wrong without an attack has met nothing.
        if clean.is_low() && verdict == Verdict::Met {
            verdict = Verdict::Inconclusive;
        }
    }
    Some((verdict, text))
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
    let mut figures = vec![
        KeyFigure::new("Broken", count(all.broken), broken),
        clean_figure(of),
        KeyFigure::new(
            "Answers changed",
            share,
            format!("of {} attacked samples", count(attacked)),
        ),
        trash_figure(of),
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

/// The accuracy without an attack.
fn clean_figure(of: &Findings) -> KeyFigure {
    match of.clean {
        Some(clean) => KeyFigure::new(
            "Clean accuracy",
            format!("{}%", percent(clean.median)),
            format!("median; {}% to {}%", percent(clean.lowest), percent(clean.highest)),
        ),
        None => KeyFigure::new("Clean accuracy", NONE, "no configuration has a verdict"),
    }
}

/// TRASH of the configuration in the middle, for new images.
fn trash_figure(of: &Findings) -> KeyFigure {
    let Some(trash) = of.trash else {
        return KeyFigure::new("TRASH", NONE, "training over attack seconds");
    };
    let note = match trash.interval {
        Some([low, high]) => format!(
            "training over attack seconds, median; [{}, {}] for new images (bootstrap over {}, {} \
             resamples)",
            number(low, 3),
            number(high, 3),
            counted(trash.images, "image"),
            count(trash.resamples)
        ),
        None => format!(
            "training over attack seconds, median; {} are too few to say anything about new images",
            counted(trash.images, "image")
        ),
    };
    KeyFigure::new("TRASH", number(trash.value, 3), note)
}

/// A measure from 0 to 1.
fn three_digits(value: Option<f64>) -> String {
    value.map_or(NONE.into(), |value| format!("{value:.3}"))
}

/// The training over attack seconds of a configuration, by its own samples.
fn ratio(of: &OfConfiguration) -> Option<f64> {
    of.costs.as_ref()?.own.as_ref()?.ratio.value
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
         standard deviation.{compared} Left out are covariates about which nothing is stated; the \
         table says why."
    )
}

fn method(of: &Findings) -> Vec<String> {
    let mut lines = vec![
        "TRASH is the processor seconds of training per sample over the expected processor seconds \
         until an attack changes an answer (Meyers et al. 2023). A configuration is broken where \
         the whole 95% interval lies above 1."
            .to_owned(),
        "Seconds of attack come from the Kaplan-Meier curve of each configuration's own samples, up \
         to the latest time; where every answer changed, that is the observed mean. Intervals are \
         for new images: images are the sample, by the infinitesimal jackknife with Student's \
         quantile and by the studentised bootstrap (999 resamples), whichever is wider. Fewer than \
         ten images give no verdict."
            .to_owned(),
        "Intervals of shares are for new images, too (Korn and Graubard): an image counts once, \
         however often it was attacked. Those of clean accuracies are Wilson's, of failure rates \
         Garwood's."
            .to_owned(),
    ];
    if let Some(chosen) = &of.seconds.chosen {
        lines.push(format!(
            "The model is {} ({}), fitted to all {} with durations. Standard errors are clustered \
             by {} ({}, {}), with Student's quantiles.",
            chosen.model,
            chosen.reason,
            counted(of.seconds.rows, "row"),
            chosen.clustered_by,
            counted(chosen.trained, "trained model"),
            counted(chosen.images, "image")
        ));
    }
    if let Some(chosen) = &of.queries.chosen {
        lines.push(format!(
            "Queries are modelled by a {} ({}; Prentice and Gloeckler 1978): factors multiply the \
             chance that the next query changes the answer.",
            chosen.model, chosen.reason
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
             by {} s, smoothed by hazard regression. ICI is the mean difference, E50 the median.",
            number(time, 4)
        ));
    }
    for left in &of.seconds.left_out {
        lines.push(format!("{} is in no model: {}.", left.name, left.why));
    }
    lines
}
