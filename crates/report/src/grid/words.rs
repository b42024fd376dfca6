//! Sentences of the page.

use crate::escape::plain;
use faultlens_analysis::Rate;
use faultlens_analysis::format::{count, counted, number, percent, value};
use faultlens_sweep::analysis::{Durations, Findings, Measured, OfConfiguration, Standing};

use super::GridPage;

/// What every page has around its own sections.
pub(super) struct Frame {
    pub(super) lead: String,
    pub(super) figures: Vec<[String; 3]>,
    pub(super) warnings: Vec<String>,
    pub(super) method: Vec<String>,
    pub(super) provenance: Vec<(String, String)>,
    /// The class, sign and words of the verdict.
    pub(super) verdict: Option<(&'static str, &'static str, String)>,
    pub(super) conclusions: Vec<String>,
}

impl Frame {
    pub(super) fn new(of: &GridPage<'_>) -> Self {
        let findings = of.findings;
        let shown = |text: &String| plain(text);
        Self {
            lead: lead(findings),
            figures: figures(findings),
            warnings: findings.cautions.iter().map(shown).collect(),
            method: method(findings),
            provenance: of.provenance.clone(),
            verdict: verdict(findings),
            conclusions: findings.conclusions.iter().map(|one| plain(&one.text)).collect(),
        }
    }
}

fn verdict(of: &Findings) -> Option<(&'static str, &'static str, String)> {
    let all = of.standings;
    let known = all.known();
    let (class, sign, number) = match (all.broken, all.not_broken) {
        _ if known == 0 => return None,
        (0, fine) if fine == known => ("met", "✓", "None".to_owned()),
        (0, _) => ("inconclusive", "?", "None".to_owned()),
        (broken, _) => ("not-met", "✗", count(broken)),
    };
    Some((class, sign, format!("{number} of {} broken", counted(known, "configuration"))))
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
    let all = of.standings;
    if all.known() > 0 {
        let share = percent(all.broken as f64 / all.known() as f64);
        text.push_str(&format!(
            " In {share}% of the configurations an attack costs less than training did."
        ));
    }
    text
}

fn figures(of: &Findings) -> Vec<[String; 3]> {
    let figure = |name: &str, value: String, note: String| [name.to_owned(), value, note];
    let all = of.standings;
    let mut out = vec![figure(
        "Broken",
        count(all.broken),
        format!(
            "of {}; {} inconclusive",
            counted(all.known(), "configuration"),
            be(all.inconclusive)
        ),
    )];
    let (mut changed, mut asked) = (0, 0);
    for one in &of.configurations {
        changed += one.counts.changed.events;
        asked += one.counts.changed.n;
    }
    let share = if asked > 0 { percent(changed as f64 / asked as f64) + "%" } else { "–".into() };
    out.push(figure("Answers changed", share, format!("of {} attacked samples", count(asked))));
    let ratio = middle(of.configurations.iter().filter_map(ratio).collect());
    let ratio = ratio.map_or("–".to_owned(), |ratio| number(ratio, 3));
    out.push(figure("TRASH", ratio, "training over attack seconds, in the middle".to_owned()));
    let chosen = of.seconds.models.iter().find(|model| model.chosen);
    if let Some(model) = chosen {
        let told =
            |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.3}"));
        out.push(figure("Model", model.model.clone(), "of the seconds until a change".to_owned()));
        let (concordance, ici, rows) = match model.test_concordance {
            Some(_) => (model.test_concordance, model.test_ici, "test rows"),
            None => (model.concordance, model.ici, "the rows of the fit"),
        };
        let about = format!("on {rows}; ICI {}", told(ici));
        out.push(figure("Concordance", told(concordance), about));
    }
    out
}

fn be(number: u64) -> String {
    format!("{} {}", count(number), if number == 1 { "is" } else { "are" })
}

/// The training over attack seconds of a configuration.
pub(super) fn ratio(of: &OfConfiguration) -> Option<f64> {
    let costs = of.costs.as_ref()?;
    costs.model.as_ref().or(costs.own.as_ref())?.ratio.value
}

/// The value in the middle.
pub(super) fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// `3.2 [2.9, 3.5]`; `∞` where nothing bounds it.
pub(super) fn measured(of: &Measured) -> String {
    let told = |value: Option<f64>| value.map_or("∞".to_owned(), |value| number(value, 3));
    format!("{} [{}, {}]", told(of.value), number(of.low, 3), told(of.high))
}

/// A rate where there are trials.
pub(super) fn rate(of: &Rate) -> String {
    match of.value {
        None => value(of),
        Some(_) => faultlens_analysis::format::rate(of),
    }
}

/// The class, sign and words of a standing.
pub(super) fn standing(of: Standing) -> (&'static str, &'static str, &'static str) {
    match of {
        Standing::Broken => ("not-met", "✗", "broken"),
        Standing::NotBroken => ("met", "✓", "not broken"),
        Standing::Inconclusive => ("inconclusive", "?", "inconclusive"),
    }
}

/// What levels are compared with, and what one step is.
pub(super) fn effects_about(of: &Durations) -> String {
    let bases: Vec<String> =
        of.bases.iter().map(|(what, base)| format!("{what} with {}", plain(base))).collect();
    let compared = match bases.is_empty() {
        true => String::new(),
        false => format!(" Compared are {}.", bases.join(", ")),
    };
    format!(
        "By which factor the seconds until a change grow or shrink; ×1 is no effect. Of strengths a \
         step goes from the least to the most, of other numbers it is a standard deviation.{compared}"
    )
}

fn method(of: &Findings) -> Vec<String> {
    let mut out = vec![
        "TRASH is the processor seconds of training for each sample over the expected processor \
         seconds until an attack changes an answer (Meyers et al. 2023). A configuration is broken \
         where the whole 95% interval lies above 1."
            .to_owned(),
        "Intervals of shares are Wilson's, of failure rates Garwood's, of expected seconds by the \
         delta method; by the own samples they come from Kaplan and Meier's curve up to the latest \
         time, and where samples resisted, the lower end counts what an attacker spends on them \
         before he takes another."
            .to_owned(),
        "Intervals of pooled shares take every answer as independent, although samples return from \
         configuration to configuration: they speak of the samples that were shown."
            .to_owned(),
    ];
    if let Some(chosen) = &of.seconds.chosen {
        out.push(format!(
            "The model is {} ({}), fitted to all {} with durations. Standard errors take {} as \
             independent, each {} one: samples that were asked of one model resemble each other.",
            chosen.model,
            chosen.reason,
            counted(of.seconds.rows, "row"),
            count(chosen.clusters),
            chosen.clustered_by
        ));
    }
    if let Some(split) = &of.seconds.split {
        out.push(format!(
            "Of each configuration's samples a share was drawn to test the models: {} of {} rows. \
             They are other samples of configurations that the fit has seen, not other \
             configurations.",
            count(split.test_rows),
            count(split.test_rows + split.train_rows)
        ));
    }
    if let Some(time) = of.seconds.time {
        out.push(format!(
            "Calibration after Austin, Harrell and van Klaveren (2020): chances of a change by {} \
             s. ICI is the mean difference, E50 the median.",
            number(time, 4)
        ));
    }
    for left in &of.seconds.left_out {
        out.push(format!("{} is in no model: {}.", plain(&left.name), plain(&left.why)));
    }
    out
}
