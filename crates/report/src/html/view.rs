//! What the page's template shows: texts and drawings, ready made.

use super::attacks::{AttackView, StandingView, attack, standings};
use super::detection::{DetectionView, detection};
use super::examples::{Card, cards, frames};
use super::fairness::{FairnessView, fairness};
use super::gallery::{GalleryView, galleries};
use super::preserve::{PreserveView, preserve};
use super::protection::{ProtectionView, protection};
use super::rates::{CurvesView, GroupingView, curves, grouping};
use super::robustness::{RobustnessView, robustness};
use super::scenes::{ScenesView, scenes};
use super::sections::{
    self, BeyondView, ClassesView, CriticalView, HeatView, RankingView, TraitView,
};
use super::side_by_side::{KView, MovedView, SideView, k_curves, moved, side_by_side};
use super::spending::{BenefitView, SpendingView, benefit, spending};
use super::{SCRIPT, STYLE, script_hash};
use crate::escape::plain;
use crate::image::Album;
use crate::svg::{Caption, Segment, against_limit, stack};
use faultlens_analysis::words as format;
use faultlens_analysis::{Checked, Progress, Summary, Tally, TargetSummary, Verdict};
use std::path::Path;

/// The page. Its texts are cleaned here and escaped by the template; only drawings, which escape
/// for themselves, and the page's own style and script go in as they are.
#[derive(askama::Template)]
#[template(path = "report.html")]
pub(super) struct Page {
    style: &'static str,
    /// Every picture of the page, for the drawings that show it.
    pictures: String,
    /// Whether the run directory has better ones.
    lesser: bool,
    script: &'static str,
    script_hash: String,
    version: &'static str,
    name: String,
    verdict: Option<Badge>,
    lead: Option<String>,
    findings: Vec<String>,
    figures: Vec<Figure>,
    targets: Vec<TargetView>,
    warnings: Vec<String>,
    requirements: Vec<RequirementView>,
    preserve: Vec<PreserveView>,
    outcomes: Option<OutcomesView>,
    /// What the intervals are, in words.
    interval: String,
    /// How sure intervals are, such as `95%`.
    confidence: String,
    groupings: Vec<GroupingView>,
    curves: Option<CurvesView>,
    weighted: bool,
    heat_maps: Vec<HeatView>,
    rankings: Vec<RankingView>,
    critical: Vec<CriticalView>,
    classes: Option<ClassesView>,
    traits: Vec<TraitView>,
    beyond: Option<BeyondView>,
    robustness: Vec<RobustnessView>,
    advice: Vec<String>,
    side_by_side: Option<SideView>,
    k_curves: Vec<KView>,
    moved: Vec<MovedView>,
    fairness: Vec<FairnessView>,
    benefits: Vec<BenefitView>,
    attacks: Vec<AttackView>,
    detection: Vec<DetectionView>,
    standings: Vec<StandingView>,
    scenes: Option<ScenesView>,
    spending: Option<SpendingView>,
    examples: Vec<Card>,
    /// What frames in the examples' images mean; empty where there are none.
    frames: &'static [(&'static str, &'static str)],
    galleries: Vec<GalleryView>,
    protection: Option<ProtectionView>,
    pinned: Vec<PinnedView>,
    method: Vec<String>,
    provenance: Vec<(String, String)>,
}

/// A verdict with a sign and a word, so that colour is never all there is.
pub(super) struct Badge {
    pub(super) class: &'static str,
    pub(super) sign: &'static str,
    pub(super) text: &'static str,
}

/// A number that the reader should see first.
struct Figure {
    name: &'static str,
    value: String,
    note: String,
}

struct TargetView {
    name: String,
    model: String,
    accuracy: String,
    trials: String,
    rate: String,
}

struct RequirementView {
    requirement: String,
    why: String,
    badge: Badge,
    rate: String,
    of: String,
    limit: String,
    chart: String,
}

struct OutcomesView {
    chart: String,
    wider: bool,
    rows: Vec<OutcomeRow>,
    reasons: Vec<(String, String)>,
}

struct OutcomeRow {
    class: &'static str,
    name: &'static str,
    meaning: &'static str,
    count: String,
    share: String,
}

struct PinnedView {
    name: String,
    what: String,
    outcome: String,
    badge: Badge,
    why: String,
}

const OUTDATED: &str = "The protections below were evaluated on other trials than there are now: \
                        run faultlens protect again.";

fn all_plain(texts: &[String]) -> Vec<String> {
    texts.iter().map(|text| plain(text)).collect()
}

impl Page {
    /// What the summary says, with images from the album.
    pub(super) fn new(summary: &Summary, dir: &Path, album: &mut Album) -> Self {
        let mut findings = all_plain(&summary.findings).into_iter();
        let mut warnings = all_plain(&summary.warnings);
        let advice = faultlens_protect::read(dir).unwrap_or_else(|error| {
            warnings.push(plain(&error.to_string()));
            None
        });
        if advice.as_ref().is_some_and(|advice| advice.recorded != summary.progress.recorded) {
            warnings.push(OUTDATED.to_owned());
        }
        // Trials that failed find room before all others.
        let examples = cards(&summary.examples, dir, album);
        let classes = summary.classes.as_ref().map(|classes| sections::classes(classes, album));
        let galleries = galleries(&summary.galleries, album);
        let groupings = summary.groupings.iter().filter(|grouping| !grouping.rows.is_empty());
        Self {
            style: STYLE,
            pictures: album.images(),
            lesser: album.is_lesser(),
            script: SCRIPT,
            script_hash: script_hash(),
            version: env!("CARGO_PKG_VERSION"),
            name: plain(&summary.name),
            verdict: summary.verdict.map(badge),
            lead: findings.next(),
            findings: findings.collect(),
            figures: figures(&summary.overall, &summary.progress),
            targets: summary.targets.iter().map(|one| target(one, summary)).collect(),
            warnings,
            requirements: summary.requirements.iter().enumerate().map(requirement).collect(),
            preserve: preserve(&summary.preserved),
            outcomes: outcomes(&summary.overall),
            interval: plain(&summary.interval),
            confidence: format::limit(summary.confidence),
            groupings: groupings.enumerate().map(|(at, one)| grouping(at, one, summary)).collect(),
            curves: curves(&summary.curves),
            galleries,
            protection: advice.as_ref().map(protection),
            weighted: summary.weighted,
            heat_maps: sections::heat_maps(&summary.heat_maps),
            rankings: sections::rankings(summary),
            critical: sections::critical(&summary.critical),
            classes,
            traits: sections::traits(&summary.traits),
            beyond: sections::beyond(summary),
            robustness: summary.robustness.iter().map(robustness).collect(),
            advice: all_plain(&summary.advice),
            side_by_side: side_by_side(summary.side_by_side.as_ref()),
            k_curves: k_curves(&summary.k_curves),
            moved: summary.moved.iter().map(moved).collect(),
            fairness: (0..).zip(&summary.fairness).map(|(at, one)| fairness(at, one)).collect(),
            benefits: summary.benefits.iter().map(benefit).collect(),
            attacks: summary.attacks.iter().map(attack).collect(),
            standings: standings(&summary.attacks),
            scenes: scenes(summary),
            detection: summary.detection.iter().map(detection).collect(),
            spending: spending(summary.spending.as_ref()),
            frames: frames(summary.examples.iter().any(|example| example.changes.is_some())),
            examples,
            pinned: pinned(summary),
            method: all_plain(&summary.method),
            provenance: {
                let pairs = summary.provenance.iter();
                pairs.map(|(name, value)| (plain(name), plain(value))).collect()
            },
        }
    }
}

/// The badge of a verdict.
pub(super) fn badge(verdict: Verdict) -> Badge {
    let (class, sign) = match verdict {
        Verdict::Met => ("met", "✓"),
        Verdict::Inconclusive => ("inconclusive", "?"),
        Verdict::NotMet => ("not-met", "✕"),
    };
    Badge { class, sign, text: verdict.text() }
}

fn figures(tally: &Tally, progress: &Progress) -> Vec<Figure> {
    let judged = format!("of {} judged", format::count(tally.rate.n));
    let ends = match tally.rate.value {
        None => "nothing is judged yet".into(),
        Some(_) => {
            let (low, high) = format::ends(&tally.rate);
            let events = format::count(tally.changed);
            let ends = format!("{} to {}%", format::percent(low), format::percent(high));
            format!("{ends}; {events} {judged}")
        }
    };
    let plain_count = |name, number, note: &str| Figure {
        name,
        value: format::count(number),
        note: note.to_owned(),
    };
    let mut figures = vec![
        Figure { name: "Changed", value: format::value(&tally.rate), note: ends },
        plain_count("Trials", progress.recorded, &state(progress)),
        plain_count("Detected", tally.detected, &judged),
        plain_count("Crashed", tally.crashed, &judged),
    ];
    if tally.timed_out > 0 {
        figures.push(plain_count("Timed out", tally.timed_out, &judged));
    }
    figures.push(plain_count("Skipped", format::skipped(tally), "in no rate"));
    if tally.spare > 0 {
        figures.push(plain_count("Not needed", tally.spare, "too few objects for so many trials"));
    }
    figures
}

/// How far the run is, in words.
fn state(progress: &Progress) -> String {
    let planned = format::count(progress.planned);
    let time = format::duration(progress.seconds);
    match (progress.complete, progress.stopped_early) {
        (_, true) => format!("of {planned} planned; the stop rule was met; {time} of one thread"),
        (true, false) => format!("complete; {time} of one thread"),
        (false, false) => format!("of {planned} planned; not finished"),
    }
}

fn target(target: &TargetSummary, summary: &Summary) -> TargetView {
    // Detectors are right by degrees.
    let found = summary.detection.iter().find(|one| one.target == target.name);
    let found = found.and_then(|one| format::precision(&one.clean));
    TargetView {
        name: plain(&target.name),
        model: plain(&target.model),
        accuracy: match &target.accuracy {
            Some(accuracy) => format::rate(accuracy),
            None => found.unwrap_or_else(|| "not known".into()),
        },
        trials: format::count(format::trials(&target.tally)),
        rate: format::rate(&target.tally.rate),
    }
}

fn requirement((at, checked): (usize, &Checked)) -> RequirementView {
    let (rate, limit) = (format::measured(checked), format::allowed(checked));
    let about = format!("Measured {rate}, limit {limit}: {}.", checked.verdict.text());
    let title = format!("Interval against limit: {}", checked.requirement);
    let caption = Caption { id: &format!("limit-{at}"), title: &title, about: &about };
    RequirementView {
        requirement: plain(&checked.requirement),
        why: plain(&checked.why),
        badge: badge(checked.verdict),
        rate,
        of: format!("{} of {}", format::count(checked.rate.events), format::count(checked.rate.n)),
        chart: against_limit(&caption, &checked.rate, checked.limit, &limit),
        limit,
    }
}

/// Class, name, meaning and number of each outcome, in the order of reports.
fn kinds(tally: &Tally) -> [(&'static str, &'static str, &'static str, u64); 6] {
    [
        ("o-unchanged", "unchanged", "the same answer", tally.unchanged),
        ("o-changed", "changed", "another answer, and nothing shows it", tally.changed),
        ("o-detected", "detected", "the answer gives the fault away", tally.detected),
        ("o-crashed", "crashed", "no answer", tally.crashed),
        ("o-timed-out", "timed out", "no answer in time", tally.timed_out),
        ("o-skipped", "skipped", "the trial says nothing", format::skipped(tally)),
    ]
}

fn outcomes(tally: &Tally) -> Option<OutcomesView> {
    let trials = format::trials(tally);
    if trials == 0 {
        return None;
    }
    let kinds = kinds(tally);
    let segment = |&(class, label, _, count): &(_, _, _, u64)| Segment { label, class, count };
    let counts = kinds.iter().filter(|kind| kind.3 > 0);
    let about: Vec<String> =
        counts.map(|kind| format!("{} {}", format::count(kind.3), kind.1)).collect();
    let about = about.join(", ") + ".";
    let caption = Caption { id: "outcomes-chart", title: "Outcomes of all trials", about: &about };
    let segments: Vec<_> = kinds.iter().map(segment).collect();
    let (chart, wider) = stack(&caption, &segments);
    let row = |(class, name, meaning, count): (_, _, _, u64)| OutcomeRow {
        class,
        name,
        meaning,
        count: format::count(count),
        share: format!("{}%", format::percent(count as f64 / trials as f64)),
    };
    let reasons = tally.skipped.iter().filter(|(_, count)| **count > 0);
    Some(OutcomesView {
        chart,
        wider,
        rows: kinds.into_iter().map(row).collect(),
        reasons: reasons.map(|(reason, count)| (plain(reason), format::count(*count))).collect(),
    })
}

fn pinned(summary: &Summary) -> Vec<PinnedView> {
    let view = |pin: &faultlens_analysis::Pinned| PinnedView {
        name: plain(&pin.name),
        what: plain(&pin.what),
        outcome: format::outcome(&plain(&pin.outcome)),
        badge: badge(pin.verdict),
        why: plain(&pin.why),
    };
    summary.pinned.iter().map(view).collect()
}
