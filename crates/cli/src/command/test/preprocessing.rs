//! How images are fed: the guess, held against the usual other ways on clean images with labels.
//!
//! Wrong preprocessing is the commonest reason for a model that seems weak, and every rate that is
//! measured with it is about another model than the one that ships.

use std::path::Path;

use faultlens::analysis::{Summary, summarise};
use faultlens::targets::{OnnxTarget, OpenError, PartialDescription};
use faultlens::vision::{
    Align, Channels, ElementType, InputDescription, OutputKind, Resize, VisionError,
};

use super::Rehearsal;
use super::campaign_file::{self, Facts, TargetText};
use crate::console::Console;
use crate::describe::example_input;

const IMAGENET_MEAN: [f64; 3] = [0.485, 0.456, 0.406];
const IMAGENET_STD: [f64; 3] = [0.229, 0.224, 0.225];

/// How much better than the guess another way must be, so that chance does not decide.
const MARGIN: f64 = 0.05;

/// Below this share of right answers or average precision something is likely wrong.
const DOUBTFUL: f64 = 0.1;

/// One way to feed images.
struct Candidate {
    name: String,
    input: InputDescription,
}

/// Opens the model and settles how it is fed; `None` where the user interrupted the check.
pub(super) fn choose(
    model: &str,
    given: PartialDescription,
    facts: &Facts<'_>,
    console: &mut Console,
) -> anyhow::Result<Option<TargetText>> {
    let is_given = given.input.is_some();
    let labels = given.labels.clone();
    let (target, is_known) = open(Path::new(model), given)?;
    let description = target.description();
    for reason in &description.reasons {
        console.note(format_args!("  {reason}"))?;
    }
    let mut text = TargetText::model(model, description, labels.as_deref())?;
    let guessed = !is_known || (!is_given && description.guesses().next().is_some());
    let scored = match description.output.kind {
        OutputKind::Logits | OutputKind::Probabilities => facts.labelled,
        OutputKind::Detections => facts.objects,
        _ => false,
    };
    if !scored || !guessed {
        if !is_known {
            // Without labels nothing can tell which of the ways is right.
            open_as_given(Path::new(model))?;
        }
        return Ok(Some(text));
    }
    console.note("checking how images are fed, on clean images:")?;
    let mut best = Candidate { name: "guessed".to_owned(), input: description.input.clone() };
    let mut score = None;
    for others in [values, resizes] {
        let mut all = others(&best.input);
        all.insert(0, best);
        let Some(scores) = measure(&all, &text, facts, console)? else { return Ok(None) };
        for (candidate, score) in all.iter().zip(&scores) {
            console.note(format_args!("  {:<42} {score:.3}", candidate.name))?;
        }
        let chosen = chosen(&scores, is_known || score.is_some());
        score = scores.get(chosen).copied();
        best = all.swap_remove(chosen);
    }
    if score.is_some_and(|score| score < DOUBTFUL) {
        console.note(
            "warning: hardly any clean answer is right; check labels, --labels and --input",
        )?;
    }
    console.note(format_args!("  fed as: {}", best.name))?;
    text.set_input(&best.input)?;
    Ok(Some(text))
}

/// The model with a description; and whether its input is known or guessed, not merely tried.
fn open(path: &Path, given: PartialDescription) -> anyhow::Result<(OnnxTarget, bool)> {
    let error = match OnnxTarget::open(path, given.clone()) {
        Ok(target) => return Ok((target, true)),
        Err(error) => error,
    };
    if let OpenError::Vision(why) = &error
        && let VisionError::NotSafe { example, .. } = &**why
        && given.input.is_none()
    {
        let input = Some(example_input(example)?);
        return Ok((OnnxTarget::open(path, PartialDescription { input, ..given })?, false));
    }
    Err(error.into())
}

/// The error about what cannot be guessed, with the description to correct.
fn open_as_given(path: &Path) -> anyhow::Result<()> {
    OnnxTarget::open(path, PartialDescription::default())?;
    Ok(())
}

/// The first unless another is clearly better; where the first is no more than a try, the best.
fn chosen(scores: &[f64], first_is_known: bool) -> usize {
    let mut best = 0;
    for (at, score) in scores.iter().enumerate() {
        if *score > scores[best] {
            best = at;
        }
    }
    let first = scores.first().copied().unwrap_or_default();
    let is_clear = scores.get(best).is_some_and(|score| score - first > MARGIN);
    if first_is_known && !is_clear { 0 } else { best }
}

/// The usual ranges of pixel values, in both orders of channels.
fn values(base: &InputDescription) -> Vec<Candidate> {
    let mut all = Vec::new();
    let count = base.channels.count();
    let ranges: &[(&str, f64, [f64; 3], [f64; 3])] = match base.dtype {
        ElementType::Uint8 | ElementType::Int8 => &[("bytes", 1.0, [0.0; 3], [1.0; 3])],
        ElementType::F32 | ElementType::F16 => &[
            ("0 to 1", 1.0 / 255.0, [0.0; 3], [1.0; 3]),
            ("ImageNet's mean and deviation", 1.0 / 255.0, IMAGENET_MEAN, IMAGENET_STD),
            ("-1 to 1", 1.0, [127.5; 3], [127.5; 3]),
            ("0 to 255", 1.0, [0.0; 3], [1.0; 3]),
        ],
    };
    let orders: &[(&str, Channels)] = match base.channels {
        Channels::Grey => &[("grey", Channels::Grey)],
        Channels::Rgb | Channels::Bgr => &[("RGB", Channels::Rgb), ("BGR", Channels::Bgr)],
    };
    for &(order, channels) in orders {
        for &(range, scale, mean, std) in ranges {
            let mut mean = mean[..count].to_vec();
            let mut std = std[..count].to_vec();
            if channels == Channels::Bgr {
                mean.reverse();
                std.reverse();
            }
            let input = InputDescription { channels, scale, mean, std, ..base.clone() };
            if input != *base {
                all.push(Candidate { name: format!("{order}, {range}"), input });
            }
        }
    }
    all
}

/// The usual ways to bring images to the model's size.
fn resizes(base: &InputDescription) -> Vec<Candidate> {
    let short = (base.size[0].max(base.size[1]) as f64 / Resize::SHARE).round() as usize;
    let ways = [
        ("stretched", Resize::Stretch),
        ("centre crop", Resize::CentreCrop { share: Resize::SHARE }),
        ("short side, then centre crop", Resize::ShortSide(short)),
        ("letterbox", Resize::Letterbox { pad: Resize::PAD, align: Align::Centre }),
        ("letterbox, top left", Resize::Letterbox { pad: Resize::PAD, align: Align::TopLeft }),
    ];
    let mut all = Vec::new();
    for (name, resize) in ways {
        if resize != base.resize && base.resize != Resize::None {
            all.push(Candidate {
                name: format!("the same, {name}"),
                input: InputDescription { resize, ..base.clone() },
            });
        }
    }
    all
}

/// Right answers, or average precision, of each way on the same clean images; `None` where the user
/// interrupted it.
fn measure(
    all: &[Candidate],
    target: &TargetText,
    facts: &Facts<'_>,
    console: &mut Console,
) -> anyhow::Result<Option<Vec<f64>>> {
    let inputs: Vec<&InputDescription> = all.iter().map(|candidate| &candidate.input).collect();
    let text = campaign_file::clean_check(facts, target, &inputs)?;
    let Some(rehearsal) = Rehearsal::run(&text, console)? else { return Ok(None) };
    let summary = summarise(&rehearsal.dir, &[])?;
    Ok(Some((0..all.len()).map(|at| score(&summary, at)).collect()))
}

/// What is not known counts as nothing right.
fn score(summary: &Summary, at: usize) -> f64 {
    let Some(target) = summary.targets.get(at) else { return 0.0 };
    let mut detections = summary.images.detection.iter();
    let ap = detections.find(|one| one.target == target.name).and_then(|one| one.clean.ap.value);
    let accuracy = target.accuracy.as_ref().and_then(|rate| rate.value);
    ap.or(accuracy).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guess_stays_unless_another_is_clearly_better() {
        assert_eq!(chosen(&[0.70, 0.72], true), 0);
        assert_eq!(chosen(&[0.70, 0.72], false), 1);
        assert_eq!(chosen(&[0.10, 0.92, 0.5], true), 1);
    }

    #[test]
    fn every_way_differs_from_the_base() {
        let base = InputDescription::plain([224, 224], Channels::Rgb, ElementType::F32);
        let all = values(&base);
        assert_eq!(all.len(), 7);
        let bgr = all.iter().find(|one| one.name == "BGR, ImageNet's mean and deviation").unwrap();
        assert_eq!(bgr.input.mean, [0.406, 0.456, 0.485]);
        assert!(resizes(&base).iter().all(|one| one.input != base));
        let grey = InputDescription::plain([28, 28], Channels::Grey, ElementType::F32);
        assert!(values(&grey).iter().all(|one| one.input.mean.len() == 1));
    }
}
