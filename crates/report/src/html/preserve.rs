//! Whether answers stay as they should under changes that people tolerate.

use super::rates::{Cell, number, sample};
use super::view::{Badge, badge};
use crate::escape::plain;
use crate::svg::{At, Axis, Caption, STYLES, Scale, Shape, Trace, Xy, xy};
use faultlens_analysis::words as format;
use faultlens_analysis::{ChangeBin, Preserved, WorstClass};
use std::collections::BTreeSet;

/// The line style of people; targets have those before it.
const PEOPLE: usize = STYLES - 2;

/// One requirement, over all faults and targets.
pub(super) struct PreserveView {
    pub(super) requirement: String,
    /// What is required, in a sentence.
    pub(super) about: String,
    pub(super) rows: Vec<PreserveRow>,
    pub(super) faults: Vec<FaultView>,
    /// Whether there are several targets, so that places mean something.
    pub(super) ranked: bool,
    /// Whether answers have a truth, so that they can be ranked by accuracy.
    pub(super) correctness: bool,
}

/// One fault and target.
pub(super) struct PreserveRow {
    pub(super) badge: Badge,
    pub(super) fault: String,
    pub(super) target: String,
    pub(super) tolerated: Cell,
    pub(super) versions: Cell,
    pub(super) required: Cell,
    pub(super) reached: Cell,
    pub(super) distance: Cell,
    pub(super) ranks: (String, String),
    pub(super) hmri: Cell,
    pub(super) mrsi: Cell,
}

/// One fault: scores along visual change, and how many versions lie where.
pub(super) struct FaultView {
    pub(super) fault: String,
    pub(super) scores: String,
    pub(super) histogram: String,
    pub(super) legend: Vec<(String, String)>,
    pub(super) lines: Vec<String>,
}

/// By requirement.
pub(super) fn preserve(all: &[Preserved]) -> Vec<PreserveView> {
    let requirements: BTreeSet<(&str, &str)> =
        all.iter().map(|one| (one.requirement.as_str(), one.what.as_str())).collect();
    (0..)
        .zip(requirements)
        .map(|(at, (requirement, what))| {
            let own =
                all.iter().filter(|one| (&*one.requirement, &*one.what) == (requirement, what));
            view(at, &own.collect::<Vec<_>>())
        })
        .collect()
}

fn view(at: usize, own: &[&Preserved]) -> PreserveView {
    let targets: BTreeSet<&str> = own.iter().map(|one| one.target.as_str()).collect();
    let faults: BTreeSet<&str> = own.iter().map(|one| one.fault.as_str()).collect();
    let first = own.first();
    let correctness = first.is_some_and(|one| one.what == "correctness");
    PreserveView {
        requirement: first.map(|one| plain(&one.requirement)).unwrap_or_default(),
        about: first.map(|one| about(one)).unwrap_or_default(),
        rows: own.iter().map(|one| row(one)).collect(),
        faults: (0..)
            .zip(faults)
            .map(|(place, fault)| {
                let own: Vec<&Preserved> =
                    own.iter().copied().filter(|one| one.fault == fault).collect();
                fault_view(&format!("preserve-{at}-{place}"), fault, &own)
            })
            .collect(),
        ranked: targets.len() > 1,
        correctness,
    }
}

fn about(one: &Preserved) -> String {
    let held = match one.what.as_str() {
        "correctness" => "the score of changed images is held against that of their originals",
        _ => {
            "the share of answers that stay is held against that of the least changed images \
             (the lowest 5% of visual change)"
        }
    };
    format!(
        "Within what people tolerate, {held}: {} batches of {} images, each with one changed \
         version. The distance is what is required less what is reached, in percentage points, \
         with one-sided {} bounds by batches and by images; met where it is at most {}. What \
         people tolerate: {}",
        format::count(one.batches.number),
        one.batches.size,
        format::limit(1.0 - one.alpha),
        match one.margin {
            0.0 => "0".to_owned(),
            margin => format::number(100.0 * margin, 3),
        },
        plain(&one.source)
    )
}

fn share(value: Option<f64>) -> Cell {
    number(value.map_or(format::NONE.into(), |share| format!("{}%", format::percent(share))), value)
}

fn row(one: &Preserved) -> PreserveRow {
    let place = |place: Option<u64>| place.map_or(format::NONE.to_owned(), |n| n.to_string());
    let ranks = one.ranks.as_ref();
    PreserveRow {
        badge: badge(one.verdict),
        fault: plain(&one.fault),
        target: plain(&one.target),
        tolerated: number(tolerated(one), Some(one.tolerated)),
        versions: number(format::count(one.versions), Some(one.versions as f64)),
        required: share(one.required.map(|required| required.mean)),
        reached: share(one.reached.map(|reached| reached.mean)),
        distance: number(
            one.distance.map_or(format::NONE.into(), |distance| format::distance(&distance)),
            one.distance.map(|distance| distance.value),
        ),
        ranks: (
            place(ranks.map(|ranks| ranks.distance)),
            place(ranks.and_then(|ranks| ranks.accuracy)),
        ),
        hmri: share(one.diagnosis.hmri),
        mrsi: share(one.diagnosis.mrsi),
    }
}

fn tolerated(one: &Preserved) -> String {
    let interval = one.tolerated_interval.map(|(low, high)| format!(" [{low:.2}, {high:.2}]"));
    format!("≤ {:.2}{}", one.tolerated, interval.unwrap_or_default())
}

fn middle(bin: &ChangeBin) -> f64 {
    0.5 * (bin.from + bin.to)
}

fn fault_view(id: &str, fault: &str, own: &[&Preserved]) -> FaultView {
    let scores: Vec<Vec<At>> = own
        .iter()
        .map(|one| {
            let at = |bin: &ChangeBin| {
                let interval = Some((bin.score.low, bin.score.high));
                Some(At { x: middle(bin), y: bin.score.value?, interval })
            };
            one.diagnosis.curve.iter().filter_map(at).collect()
        })
        .collect();
    let curve = own.first().map(|one| one.diagnosis.curve.as_slice()).unwrap_or_default();
    let people =
        curve.iter().filter_map(|bin| Some(At { x: middle(bin), y: bin.people?, interval: None }));
    let people: Vec<At> = people.collect();
    let mut traces: Vec<Trace<'_>> = (0..)
        .zip(own.iter().zip(&scores))
        .map(|(style, (one, points))| Trace {
            name: &one.target,
            shape: Shape::Line,
            points,
            style: style % PEOPLE,
        })
        .collect();
    if !people.is_empty() {
        let (name, shape) = ("people", Shape::Line);
        traces.push(Trace { name, shape, points: &people, style: PEOPLE });
    }
    let tolerated = own.first().map(|one| one.tolerated);
    let chart = |id: &str, title: &str, traces: &[Trace<'_>], y: Axis<'_>| {
        let x = Axis { name: "visual change", scale: Scale::Numbers, most: 1.0 };
        let about = "People tolerate what lies left of the broken line.";
        let caption = Caption { id, title, about };
        xy(&caption, &Xy { traces, x, y, diagonal: false, limit: tolerated })
    };
    let name = format!("Scores along visual change: {fault}");
    let y = Axis { name: "score", scale: Scale::Shares, most: 1.0 };
    let scores = chart(&format!("{id}-s"), &name, &traces, y);
    let (bars, most) = histogram(curve);
    let y = Axis { name: "versions", scale: Scale::Numbers, most };
    let versions = [Trace { name: "versions", shape: Shape::Steps, points: &bars, style: 0 }];
    let name = format!("Versions by visual change: {fault}");
    FaultView {
        fault: plain(fault),
        scores,
        histogram: chart(&format!("{id}-h"), &name, &versions, y),
        legend: traces.iter().map(|trace| (sample(trace.style), plain(trace.name))).collect(),
        lines: own.iter().flat_map(|one| diagnosis(one, own.len() > 1)).collect(),
    }
}

/// Steps as high as there are versions.
fn histogram(curve: &[ChangeBin]) -> (Vec<At>, f64) {
    let at = |x: f64, n: u64| At { x, y: n as f64, interval: None };
    let steps = curve.iter().map(|bin| at(bin.from, bin.n));
    let end = curve.last().map(|bin| at(bin.to, 0));
    let most = curve.iter().map(|bin| bin.n).max().unwrap_or(1);
    (steps.chain(end).collect(), most as f64)
}

/// What stands out, in sentences.
fn diagnosis(one: &Preserved, several: bool) -> Vec<String> {
    let who = if several { format!("{}: ", plain(&one.target)) } else { String::new() };
    let mut lines = vec![format!("{who}{}, {}.", one.verdict.text(), plain(&one.why))];
    if let Some(from) = one.diagnosis.below_people_from {
        lines.push(format!("{who}below people from a visual change of {from:.2} on."));
    }
    if !one.diagnosis.worst.is_empty() {
        let class = |worst: &WorstClass| {
            let percent = |share: f64| format!("{}%", format::percent(share));
            let before = worst.before.map(|before| format!("{} → ", percent(before)));
            let before = before.unwrap_or_default();
            format!("{} ({before}{})", plain(&worst.class), percent(worst.after))
        };
        let classes: Vec<String> = one.diagnosis.worst.iter().map(class).collect();
        lines.push(format!("{who}the classes that lose most: {}.", classes.join(", ")));
    }
    if one.images_outside > 0 {
        lines.push(format!(
            "{who}{} left out, since people tolerate none of their versions.",
            format::counted(one.images_outside, "image")
        ));
    }
    if one.out_of_reach > 0 {
        lines.push(format!(
            "{who}no strength was found for {}.",
            format::counted(one.out_of_reach, "trial")
        ));
    }
    lines
}
