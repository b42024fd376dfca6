//! Trials worth looking at, one by one.

use super::Input;
use super::glance::by_telling;
use crate::document::{Block, Card, Key, Line, Mark, Picture, Pictures};
use crate::escape::plain;
use crate::svg::score;
use faultlens_analysis::Example;
use faultlens_analysis::format;
use std::path::Path;

/// Examples that are shown; the others are folded.
const CHOSEN: usize = 10;

/// Changed objects that a card names.
const MOST_CHANGES: usize = 4;

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let examples = &input.summary.examples;
    if examples.is_empty() {
        return None;
    }
    let mut blocks = Vec::new();
    if examples.iter().any(|example| example.changes.is_some()) {
        blocks.push(Block::Legend(frames()));
    }
    let (chosen, others) = chosen(examples);
    let cards = |of: &[&Example]| of.iter().map(|example| card(example, input.dir)).collect();
    blocks.push(Block::Pictures(Pictures::Cards(cards(&chosen))));
    if !others.is_empty() {
        let title = format::counted(others.len() as u64, "more example");
        blocks.push(Block::folded(title, vec![Block::Pictures(Pictures::Cards(cards(&others)))]));
    }
    Some(Block::all(blocks))
}

/// The examples that say most, and the others: right before the fault, changed the least visibly,
/// and each of another fault and image as long as there are such.
fn chosen(examples: &[Example]) -> (Vec<&Example>, Vec<&Example>) {
    let mut sorted: Vec<&Example> = examples.iter().collect();
    sorted.sort_by(|a, b| by_telling(a, b));
    let mut chosen: Vec<&Example> = Vec::new();
    let mut others: Vec<&Example> = Vec::new();
    for one in sorted {
        let alike = |own: &&Example| own.fault == one.fault || own.case == one.case;
        let full = chosen.len() >= CHOSEN;
        if full || chosen.iter().any(alike) { others.push(one) } else { chosen.push(one) }
    }
    let more = CHOSEN.saturating_sub(chosen.len()).min(others.len());
    chosen.extend(others.drain(..more));
    (chosen, others)
}

/// What frames in images of detections mean.
pub(super) fn frames() -> Vec<Key> {
    let frames = [
        ("frame-same", "found as before"),
        ("frame-changed", "missed, spurious, relabelled or misplaced"),
        ("frame-touched", "inserted or removed"),
    ];
    frames
        .into_iter()
        .map(|(class, text)| Key { mark: Mark::Swatch(class.into()), text: text.into() })
        .collect()
}

fn card(example: &Example, dir: &Path) -> Card {
    let before = if example.after.is_some() { "clean" } else { "as shown" };
    let mut pictures = Vec::new();
    for (caption, path) in [(before, &example.before), ("with the fault", &example.after)] {
        if let Some(path) = path {
            pictures.push(Picture {
                source: Ok(path.clone()),
                alt: format!("The image {caption}"),
                caption: Some(caption),
            });
        }
    }
    let golden: Vec<(&str, Option<f64>)> =
        example.golden.iter().map(|(label, score)| (label.as_str(), Some(*score))).collect();
    let observed: Vec<(&str, Option<f64>)> =
        example.observed.iter().map(|(label, score)| (label.as_str(), *score)).collect();
    Card {
        title: example.fault.clone(),
        outcome: (format::outcome(&example.outcome), outcome_class(&example.outcome)),
        pictures,
        wide: example.changes.is_some(),
        facts: facts(example),
        predictions: vec![("Golden", lines(&golden)), ("Observed", lines(&observed))],
        command: format!("faultlens replay {} {}", quoted(dir), example.number),
    }
}

fn facts(example: &Example) -> Vec<(&'static str, Vec<String>)> {
    let mut facts = vec![
        ("Trial", vec![format::count(example.number)]),
        ("Target", vec![example.target.clone()]),
        ("Case", vec![example.case.clone()]),
    ];
    if let Some(truth) = &example.truth {
        facts.push(("True class", vec![truth.clone()]));
    }
    if let Some(change) = example.visual_change {
        facts.push(("Visual change", vec![format!("{change:.2}")]));
    }
    if let Some(changed) = &example.changes {
        facts.push(("Objects", changes(changed)));
    }
    if let Some(site) = &example.site {
        facts.push(("Location", vec![site.clone()]));
    }
    facts
}

/// The first changes; a card has no room for a crowd.
fn changes(text: &str) -> Vec<String> {
    let all: Vec<&str> = text.split("; ").collect();
    let mut shown: Vec<String> =
        all.iter().take(MOST_CHANGES).map(|change| (*change).to_owned()).collect();
    if all.len() > MOST_CHANGES {
        shown.push(format!("and {} more", all.len() - MOST_CHANGES));
    }
    shown
}

/// An outcome's class in the style sheet.
pub(super) fn outcome_class(outcome: &str) -> &'static str {
    match outcome {
        "unchanged" => "o-unchanged",
        "changed" => "o-changed",
        "detected" => "o-detected",
        "crashed" => "o-crashed",
        "timed_out" => "o-timed-out",
        _ => "o-skipped",
    }
}

/// Bars are for shares; scores beyond 0 to 1 stand as numbers alone.
fn lines(prediction: &[(&str, Option<f64>)]) -> Vec<Line> {
    let scores = prediction.iter().filter_map(|(_, score)| *score);
    let shares = scores.into_iter().all(|score| (0.0..=1.0).contains(&score));
    prediction
        .iter()
        .map(|(label, value)| Line {
            label: (*label).to_owned(),
            score: format::score(*value),
            bar: value.filter(|_| shares).map(score),
        })
        .collect()
}

/// The directory as a shell takes it.
fn quoted(dir: &Path) -> String {
    let text = plain(&dir.to_string_lossy());
    let harmless = text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c));
    if !text.is_empty() && harmless { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copied_command_runs_nothing_else() {
        let cases = [
            ("runs/a-1", "runs/a-1"),
            ("my runs", "'my runs'"),
            ("a;rm -rf ~", "'a;rm -rf ~'"),
            ("it's", "'it'\\''s'"),
            ("a\nb", "'a b'"),
            ("", "''"),
        ];
        for (dir, text) in cases {
            assert_eq!(quoted(Path::new(dir)), text);
        }
    }

    #[test]
    fn a_crowd_of_changes_is_cut() {
        assert_eq!(changes("missed car at 1 2 3 4"), ["missed car at 1 2 3 4"]);
        let many = changes("a; b; c; d; e; f");
        assert_eq!(many, ["a", "b", "c", "d", "and 2 more"]);
    }

    #[test]
    fn bars_only_for_shares() {
        let shares = lines(&[("a", Some(0.9)), ("b", None)]);
        assert!(shares[0].bar.as_ref().unwrap().contains("90.00%") && shares[1].bar.is_none());
        assert_eq!(shares[1].score, "no number");
        assert!(lines(&[("a", Some(12.0)), ("b", Some(0.5))]).iter().all(|a| a.bar.is_none()));
    }
}
