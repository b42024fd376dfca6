//! The advice in sentences. They are part of what `protection.json` keeps.

use super::trials::Trials;
use super::{Evaluated, RANGES, TargetAdvice};
use faultlens_analysis::format::{capitalised, count, counted, percent, rate};
use faultlens_spec::Campaign;

/// Broken answers that advice needs to rest on: with fewer, which protection stops most of them is
/// mostly chance.
const ENOUGH_BROKEN: u64 = 10;
/// The share of the largest gain that a cheaper protection must reach to be named first.
const ENOUGH: f64 = 0.75;
/// The share of what a protection can stop that is worth naming the extent for.
const MOST: f64 = 0.9;

/// What to do, target by target.
pub(super) fn findings(targets: &[TargetAdvice]) -> Vec<String> {
    let mut findings = Vec::new();
    for target in targets {
        let start = match targets {
            [_] => String::new(),
            _ => format!("{}: ", target.name),
        };
        findings.extend(of_target(target).into_iter().map(|text| format!("{start}{text}")));
    }
    findings
}

fn of_target(target: &TargetAdvice) -> Vec<String> {
    if target.broken.events == 0 {
        let trials = counted(target.broken.n, "judged trial");
        return vec![format!("No answer broke in {trials}: there is nothing to protect from.")];
    }
    if target.broken.events < ENOUGH_BROKEN {
        return vec![format!(
            "Only {} of {} broke: too few to choose a protection by. Run more trials, or faults that \
             break more.",
            counted(target.broken.events, "answer"),
            counted(target.broken.n, "judged trial")
        )];
    }
    let mut findings: Vec<String> = best(target).into_iter().collect();
    for extents in target.protections.chunk_by(|a, b| a.protection == b.protection) {
        findings.extend(match extents {
            [one] if one.protection == RANGES => Some(clipping(one)),
            _ => selective(extents),
        });
    }
    findings
}

/// The cheapest of the protections, in any extent, that gain most of what any does.
fn best(target: &TargetAdvice) -> Option<String> {
    let gain = |one: &&Evaluated| one.gain.value.unwrap_or(0.0);
    let help = || target.protections.iter().filter(|one| one.gain.low > 0.0);
    let most = help().map(|one| gain(&one)).fold(0.0, f64::max);
    let near = help().filter(|one| gain(one) >= ENOUGH * most);
    let best = near.min_by(|a, b| a.cost.share.total_cmp(&b.cost.share))?;
    let label = &best.label;
    let named = named(best);
    let stops = stops(best);
    let broken = counted(target.broken.events, "broken answer");
    Some(format!("Best value: {label}{named}, which {stops}. This rests on {broken}."))
}

/// The least extent that stops most of what the greatest one does.
fn enough(extents: &[Evaluated]) -> Option<&Evaluated> {
    let stopped = |one: &Evaluated| one.stopped.value.unwrap_or(0.0);
    let all = stopped(extents.last()?);
    extents.iter().find(|one| stopped(one) >= MOST * all)
}

/// "stops 93.1% [91.0, 94.8] of the broken answers for 0.4% more work".
fn stops(one: &Evaluated) -> String {
    let how = if one.caught > 0 { "stops" } else { "repairs" };
    let cost = percent(one.cost.share);
    format!("{how} {} of the broken answers for {cost}% more work", rate(&one.stopped))
}

fn named(one: &Evaluated) -> String {
    match one.layers.first() {
        None => String::new(),
        Some(first) if one.layers.len() == 1 => format!(" ({first})"),
        Some(first) => format!(" ({first} first)"),
    }
}

fn clipping(one: &Evaluated) -> String {
    let worse = match one.worse {
        0 => String::new(),
        n => {
            let hidden = match one.hidden {
                0 => String::new(),
                k => format!(": {} of them detected before (not finite, or rejected)", count(k)),
            };
            format!(", and breaks {} that {} not broken{hidden}", counted(n, "answer"), was(n))
        }
    };
    let alarms = one.false_alarms.map_or(String::new(), |alarms| {
        let touched = rate(&alarms.touched);
        let changed = rate(&alarms.changed);
        format!(
            " Of undisturbed cases that its ranges do not come from, it touches {touched} and \
             changes the answer of {changed}."
        )
    });
    format!("{} to their usual range {}{worse}.{alarms}", capitalised(&one.label), stops(one))
}

fn was(n: u64) -> &'static str {
    if n == 1 { "was" } else { "were" }
}

/// The first layer, and how many reach most of what can be reached.
fn selective(extents: &[Evaluated]) -> Option<String> {
    let first = extents.first()?;
    let last = extents.last()?;
    if last.stopped.events == 0 {
        return Some(format!("{} stops no broken answer.", capitalised(&last.label)));
    }
    let enough = enough(extents)?;
    let start = format!("{}{} {}", capitalised(&first.label), named(first), stops(first));
    if enough.layers.len() == first.layers.len() {
        return Some(format!("{start}; no other layer adds much."));
    }
    let n = enough.layers.len();
    let all = last.layers.len();
    Some(format!("{start}; {n} of {all} layers: {}.", stops(enough)))
}

/// What the reader should know before trusting the numbers.
pub(super) fn warnings(trials: &Trials, campaign: &Campaign, complete: bool) -> Vec<String> {
    let mut warnings = Vec::new();
    if trials.folds() == 1 {
        warnings.push(
            "There is one case only, so that protections are evaluated on what they are made from."
                .to_owned(),
        );
    }
    if campaign.stop.is_some() {
        warnings.push(
            "A stop rule decided the number of trials: faults count by how many they have, and \
             there are no p-values."
                .to_owned(),
        );
    }
    if campaign.faults.iter().any(|fault| fault.disturbance.is_permanent()) {
        warnings.push(
            "Some faults are permanent, and trials of one fault are not independent: intervals \
             count by image and by fault, and there are no p-values."
                .to_owned(),
        );
    }
    if !complete {
        warnings.push("The run is not complete: its rates may still change.".to_owned());
    }
    if !trials.left_out.is_empty() {
        let each = trials.left_out.iter().map(|(why, &n)| format!("{why} ({})", count(n)));
        warnings.push(format!("Trials left out: {}.", each.collect::<Vec<_>>().join(", ")));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cost, DUPLICATION, Gain};
    use faultlens_analysis::Rate;

    fn stopping(label: &str, layers: &[&str], events: u64, share: f64) -> Evaluated {
        let value = events as f64 / 100.0;
        let rate =
            Rate { events, n: 100, value: Some(value), low: value, high: value, ..Rate::default() };
        let layers: Vec<String> = layers.iter().map(|&name| name.to_owned()).collect();
        Evaluated {
            protection: if layers.is_empty() { RANGES } else { DUPLICATION }.to_owned(),
            label: label.to_owned(),
            caught: if layers.is_empty() { 0 } else { events },
            layers,
            after: rate,
            gain: Gain { value: Some(value), low: value, high: value, p_value: None },
            stopped: rate,
            repaired: 0,
            worse: 2,
            hidden: 1,
            needless: 0,
            cost: Cost { operations: 0.0, share, bytes: 0.0 },
            false_alarms: None,
            moves: Vec::new(),
        }
    }

    #[test]
    fn advice_names_what_is_worth_its_cost() {
        let twice = |layers: &[&str], events, share| {
            stopping(&format!("duplicating {}", layers.len()), layers, events, share)
        };
        let protections = vec![
            stopping("clipping activations", &[], 60, 0.01),
            twice(&["a"], 50, 0.3),
            twice(&["a", "b"], 74, 0.6),
            twice(&["a", "b", "c"], 80, 1.0),
        ];
        let broken = protections[0].stopped;
        let target = TargetAdvice {
            name: "t".to_owned(),
            macs: 1,
            weight_bytes: 1,
            broken,
            protections,
            ranking: Vec::new(),
            limits: Vec::new(),
        };
        assert_eq!(
            findings(std::slice::from_ref(&target)),
            [
                "Best value: duplicating 2 (a first), which stops 74.0% [74.0, \
                 74.0] of the broken answers for 60.0% more work. This rests on 60 broken answers.",
                "Clipping activations to their usual range repairs 60.0% [60.0, 60.0] of the \
                 broken answers for 1.0% more work, and breaks 2 answers that were not broken: 1 \
                 of them detected before (not finite, or rejected).",
                "Duplicating 1 (a) stops 50.0% [50.0, 50.0] of the broken answers for 30.0% more \
                 work; 2 of 3 layers: stops 74.0% [74.0, 74.0] of the broken answers for 60.0% \
                 more work.",
            ]
        );
        let few = TargetAdvice { broken: Rate { events: 9, ..broken }, ..target.clone() };
        let [held_back] = &findings(std::slice::from_ref(&few))[..] else { panic!() };
        assert!(held_back.starts_with("Only 9 answers of 100 judged trials broke"), "{held_back}");
        let whole = TargetAdvice { broken: Rate { events: 0, ..broken }, ..target };
        let nothing = "No answer broke in 100 judged trials: there is nothing to protect from.";
        assert_eq!(findings(std::slice::from_ref(&whole)), [nothing]);
    }
}
