//! Trials worth looking at, as cards.

use crate::escape::plain;
use crate::image::{Album, Room};
use crate::svg::score;
use faultlens_analysis::Example;
use faultlens_analysis::words as format;
use std::path::Path;

/// What frames in images mean: a class of the style sheet, and the words.
const FRAMES: [(&str, &str); 3] = [
    ("frame-same", "found as before"),
    ("frame-changed", "missed, spurious, called otherwise or misplaced"),
    ("frame-touched", "came into the scene or left it"),
];

/// Changed objects that a card names.
const MOST_CHANGES: usize = 4;

/// A trial to look at.
pub(super) struct Card {
    pub(super) number: String,
    pub(super) target: String,
    pub(super) case: String,
    pub(super) truth: Option<String>,
    pub(super) fault: String,
    pub(super) site: Option<String>,
    /// How much people notice.
    pub(super) visual_change: Option<String>,
    /// What became of objects, one by one.
    pub(super) changes: Vec<String>,
    pub(super) outcome: String,
    /// The outcome's class in the style sheet.
    pub(super) class: &'static str,
    pub(super) images: Vec<ImageView>,
    /// Whether large images have the card's width, so that frames around small objects are seen.
    pub(super) wide: bool,
    pub(super) golden: Vec<Answer>,
    pub(super) observed: Vec<Answer>,
    pub(super) command: String,
}

/// An image, or why it is not there.
pub(super) struct ImageView {
    pub(super) caption: &'static str,
    /// The drawing.
    pub(super) image: Result<String, &'static str>,
}

/// A line of an answer.
pub(super) struct Answer {
    pub(super) label: String,
    pub(super) score: String,
    pub(super) bar: Option<String>,
}

/// What frames mean, where objects are drawn into images.
pub(super) fn frames(drawn: bool) -> &'static [(&'static str, &'static str)] {
    if drawn { &FRAMES } else { &[] }
}

/// The cards of the examples, with images as long as the album has room.
pub(super) fn cards(examples: &[Example], dir: &Path, album: &mut Album) -> Vec<Card> {
    examples.iter().map(|example| card(example, dir, album)).collect()
}

fn card(example: &Example, dir: &Path, album: &mut Album) -> Card {
    let golden: Vec<_> =
        example.golden.iter().map(|(label, score)| (label.as_str(), Some(*score))).collect();
    let observed: Vec<_> =
        example.observed.iter().map(|(label, score)| (label.as_str(), *score)).collect();
    let before = if example.after.is_some() { "undisturbed" } else { "as shown" };
    let images = [(before, &example.before), ("with the fault", &example.after)];
    let image = |(caption, path): (&'static str, &Option<String>)| {
        let name = format!("The image {caption}");
        Some(ImageView { caption, image: album.show(path.as_deref()?, Room::Card, &name) })
    };
    Card {
        number: format::count(example.number),
        target: plain(&example.target),
        case: plain(&example.case),
        truth: example.truth.as_deref().map(plain),
        fault: plain(&example.fault),
        site: example.site.as_deref().map(plain),
        visual_change: example.visual_change.map(|change| format!("{change:.2}")),
        changes: example.changes.as_deref().map(changes).unwrap_or_default(),
        outcome: format::outcome(&plain(&example.outcome)),
        class: class(&example.outcome),
        images: images.into_iter().filter_map(image).collect(),
        wide: example.changes.is_some(),
        golden: answers(&golden),
        observed: answers(&observed),
        command: format!("faultlens replay {} {}", quoted(dir), example.number),
    }
}

/// The first changes; a card has no room for a crowd.
fn changes(text: &str) -> Vec<String> {
    let all: Vec<&str> = text.split("; ").collect();
    let more = all.len().saturating_sub(MOST_CHANGES);
    let shown = all.iter().take(MOST_CHANGES).map(|change| plain(change));
    shown.chain((more > 0).then(|| format!("and {more} more"))).collect()
}

/// An outcome's class in the style sheet.
pub(super) fn class(outcome: &str) -> &'static str {
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
fn answers(answers: &[(&str, Option<f64>)]) -> Vec<Answer> {
    let share = |score: &f64| (0.0..=1.0).contains(score);
    let shares = answers.iter().filter_map(|(_, score)| score.as_ref()).all(share);
    let answer = |&(label, value): &(&str, Option<f64>)| Answer {
        label: plain(label),
        score: format::score(value),
        bar: value.filter(|_| shares).map(score),
    };
    answers.iter().map(answer).collect()
}

/// The directory as a shell takes it.
fn quoted(dir: &Path) -> String {
    let text = plain(&dir.to_string_lossy());
    let safe = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !text.is_empty() && text.chars().all(safe) {
        text
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
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
        let shares = answers(&[("a", Some(0.9)), ("b", None)]);
        assert!(shares[0].bar.as_ref().unwrap().contains("90.00%") && shares[1].bar.is_none());
        assert_eq!(shares[1].score, "no number");
        assert!(answers(&[("a", Some(12.0)), ("b", Some(0.5))]).iter().all(|a| a.bar.is_none()));
    }
}
