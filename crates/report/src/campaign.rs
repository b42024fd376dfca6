//! The report of a campaign in every format, from one document.

use crate::checks::checks;
use crate::document::{Document, Header, KeyFigure};
use crate::prose::method::{about_population, intervals};
use crate::prose::{family_name, findings};
use crate::render;
use crate::render::terminal::Terminal;
use crate::sections::{Input, parts};
use faultlens_analysis::format;
use faultlens_analysis::{Family, Progress, Rate, Summary, Tally, Verdict};
use faultlens_spec::Population;
use std::path::Path;

const OUTDATED: &str = "The protections below were evaluated on other trials than the run has now; \
                        run faultlens protect again.";

/// The run as one self-contained page. `dir` is the run directory: example images come from it,
/// and the page's `replay` commands name it as it is given here.
///
/// An image that is missing, hostile or too large is left out with a note, so that a damaged run
/// still has its page. The page's own policy allows nothing from elsewhere and no script but its
/// own.
pub fn html(summary: &Summary, dir: &Path) -> String {
    let mut warnings = Vec::new();
    let protections = faultlens_analysis::protection::read(dir).unwrap_or_else(|error| {
        warnings.push(error.to_string());
        None
    });
    let recorded = summary.progress.recorded;
    if protections.as_ref().is_some_and(|advice| advice.recorded != recorded) {
        warnings.push(OUTDATED.to_owned());
    }
    let interval = intervals(summary);
    let document = document(&Input { summary, dir, interval, protections, warnings });
    render::html::page(&document, Some(dir))
}

/// The run as Markdown: verdict, findings, and the first rows of the tables that suit a comment on
/// a pull request.
pub fn markdown(summary: &Summary) -> String {
    render::markdown::render(&document(&without_directory(summary)))
}

/// The run in at most 40 lines: findings, outcomes, requirements, and the groups with the highest
/// rates, intervals drawn. Nothing from outside reaches the terminal as a command to it.
pub fn terminal(summary: &Summary, options: Terminal) -> String {
    render::terminal::render(&document(&without_directory(summary)), options)
}

fn without_directory(summary: &Summary) -> Input<'_> {
    Input {
        summary,
        dir: Path::new(""),
        interval: intervals(summary),
        protections: None,
        warnings: Vec::new(),
    }
}

fn document(input: &Input<'_>) -> Document {
    let summary = input.summary;
    let header = Header {
        kind: "Campaign report",
        title: summary.name.clone(),
        verdict: summary.checks.verdict.map(|verdict| (verdict, verdict_of(summary, verdict))),
        lead: String::new(),
        findings: findings(summary),
        headline: headline(summary),
        interval: format!(
            "{}, based on {}",
            input.interval,
            format::counted(summary.method.images, "image")
        ),
        population: about_population(summary),
        source: "from the run directory alone",
        figures: figures(summary),
        checks: checks(summary),
    };
    Document { header, parts: parts(input) }
}

fn headline(summary: &Summary) -> String {
    let tally = &summary.overall;
    let trials = format::counted(tally.trials(), "trial");
    let changed = match &summary.families[..] {
        _ if tally.rate.value.is_none() => "none judged".to_owned(),
        [] | [_] => format!("{} changed", format::rate(&tally.rate)),
        // What disturbs different things is in no rate together.
        several => {
            let each = several
                .iter()
                .map(|one| format!("{} {}", short_name(one.family), format::rate(&one.tally.rate)));
            format!("changed: {}", each.collect::<Vec<_>>().join(", "))
        }
    };
    if tally.spare == 0 {
        return format!("{trials}, {changed}");
    }
    format!("{trials}, {changed} ({} not needed)", format::count(tally.spare))
}

/// The interval on these images, beside that for new ones.
fn beside(rate: &Rate) -> String {
    match rate.these_images {
        Some([low, high]) if rate.population == Population::NewImages && low < high => {
            format!(
                "; {} to {}% on these images with other draws",
                format::percent(low),
                format::percent(high)
            )
        }
        Some(_) if rate.population == Population::NewImages => "; exact on these images".into(),
        _ => String::new(),
    }
}

/// A family in one word, so that several fit into a line.
fn short_name(family: Family) -> &'static str {
    match family {
        Family::InsideModel => "model",
        Family::Images => "images",
        Family::Attacks => "attacks",
        Family::Scenes => "scenes",
    }
}

/// How often predictions changed, with the ends of the interval.
fn changed(name: &str, tally: &Tally) -> KeyFigure {
    let judged = format!("of {} judged", format::count(tally.rate.n));
    let note = match tally.rate.value {
        None => "no trial judged yet".into(),
        Some(_) => {
            let (low, high) = format::ends(&tally.rate);
            let whose = match tally.rate.population {
                Population::NewImages => "for new images",
                Population::TheseImages => "on these images",
            };
            format!(
                "{} {judged}; {} to {}% {whose}{}",
                format::count(tally.changed),
                format::percent(low),
                format::percent(high),
                beside(&tally.rate)
            )
        }
    };
    KeyFigure::new(name, format::value(&tally.rate), note)
}

fn figures(summary: &Summary) -> Vec<KeyFigure> {
    let tally = &summary.overall;
    let progress = &summary.progress;
    let judged = format!("of {} judged", format::count(tally.rate.n));
    let mut figures = Vec::new();
    match &summary.families[..] {
        [] | [_] => figures.push(changed("Changed", tally)),
        several => {
            for one in several {
                let name = format!("Changed, {}", family_name(one.family).to_lowercase());
                figures.push(changed(&name, &one.tally));
            }
        }
    }
    figures.extend(quality(summary));
    figures.push(figure("Trials", progress.recorded, trials_note(summary)));
    for (name, count) in
        [("Detected", tally.detected), ("Crashed", tally.crashed), ("Timed out", tally.timed_out)]
    {
        if count > 0 {
            figures.push(figure(name, count, judged.clone()));
        }
    }
    if tally.skipped_trials() > 0 {
        figures.push(figure("Skipped", tally.skipped_trials(), "left out of all rates".into()));
    }
    if tally.spare > 0 {
        let note = "planned for more objects than there are".into();
        figures.push(figure("Not needed", tally.spare, note));
    }
    figures
}

/// Quality without faults and under image faults, of the targets that lose most.
fn quality(summary: &Summary) -> Vec<KeyFigure> {
    let mut found: Vec<(f64, KeyFigure)> = Vec::new();
    let name = |target: &str, what: &str| match summary.targets.len() {
        1 => what.to_owned(),
        _ => format!("{what}, {target}"),
    };
    for one in &summary.images.robustness {
        let Some((clean, mean)) = one.clean.value.zip(one.mean_accuracy.and_then(|m| m.value))
        else {
            continue;
        };
        let clean = 1.0 - clean;
        let value = format!("{}% → {}%", format::percent(clean), format::percent(mean));
        let note = "without faults, and the mean over image faults";
        found.push((clean - mean, KeyFigure::new(name(&one.target, "Accuracy"), value, note)));
    }
    for one in &summary.images.detection {
        let mean = one.mean_ap.and_then(|mean| mean.value);
        let Some((clean, mean)) = one.clean.ap.value.zip(mean) else { continue };
        let value = format!("{clean:.3} → {mean:.3}");
        let note = "without faults, and the mean over image faults";
        found.push((clean - mean, KeyFigure::new(name(&one.target, "AP"), value, note)));
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.into_iter().take(MOST_QUALITY).map(|(_, figure)| figure).collect()
}

/// Targets whose quality is a key figure.
const MOST_QUALITY: usize = 3;

fn figure(name: &str, count: u64, note: String) -> KeyFigure {
    KeyFigure::new(name, format::count(count), note)
}

/// How far the run is, and how many of its trials are searches.
fn trials_note(summary: &Summary) -> String {
    let progress = &summary.progress;
    let searches = progress.recorded.saturating_sub(summary.overall.trials());
    if summary.method.searches && searches > 0 {
        let searches = format::count(searches);
        return format!("{}; {searches} search for critical bits, in no rate", state(progress));
    }
    state(progress)
}

/// The verdict with what it is about: "all 3 requirements met".
fn verdict_of(summary: &Summary, verdict: Verdict) -> String {
    let checks = &summary.checks;
    let all = checks.requirements.iter().map(|one| one.verdict);
    let all: Vec<Verdict> = all
        .chain(checks.preserved.iter().map(|one| one.verdict))
        .chain(checks.pinned.iter().map(|one| one.verdict))
        .collect();
    let text = verdict.text();
    let such = all.iter().filter(|own| **own == verdict).count();
    match all.len() {
        0 | 1 => format!("requirement {text}"),
        n if such == n => format!("all {n} requirements {text}"),
        n => format!("{such} of {n} requirements {text}"),
    }
}

/// How far the run is, in words.
fn state(progress: &Progress) -> String {
    let planned = format::count(progress.planned);
    let time = format::duration(progress.seconds);
    if progress.stopped_early {
        format!("of {planned} planned; the stop rule was met; {time} of CPU time")
    } else if progress.complete {
        format!("complete; {time} of CPU time")
    } else {
        format!("of {planned} planned; not finished")
    }
}
