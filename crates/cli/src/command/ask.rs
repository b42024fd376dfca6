//! `faultlens ask`: what does the model see in these images?

use std::path::Path;

use crate::exit;
use faultlens::data::read_image;
use faultlens::report::plain;
use faultlens::targets::OnnxTarget;
use faultlens::vision::OutputKind;
use faultlens::{Detection, Detections, Picture, Response, Segments, Target};
use serde::Serialize;

use crate::args::AskArgs;
use crate::command::numbers::{Place, Score, places};
use crate::command::threads;
use crate::console::{Console, error_text};
use crate::describe::{self, written};
use crate::text::{self, Align};

/// Answers every image that can be answered; one that cannot is reported and does not stop the
/// others.
pub(crate) fn run(args: &AskArgs, console: &mut Console) -> anyhow::Result<u8> {
    let written = written(args.input.as_deref(), args.labels.as_deref())?;
    let target = OnnxTarget::open(&args.model, written)?.with_threads(threads(args.threads))?;
    describe::show(target.description(), console)?;
    let mut status = exit::OK;
    for path in &args.images {
        let answer = answer(&target, path, args.top);
        if let Err(error) = &answer {
            status = exit::INPUT;
            let why = error_text(error);
            let path = path.display().to_string();
            let place = if why.contains(&path) { String::new() } else { format!(": {path}") };
            console.note(format_args!("error: {why}{place}"))?;
        }
        let image = path.display().to_string();
        match (args.json, answer) {
            (true, answer) => console.json(&Line::new(image, answer))?,
            (false, Ok(answer)) => show(console, &image, &answer, shows_bars(&target))?,
            (false, Err(_)) => {}
        }
    }
    Ok(status)
}

/// What the model says about one image.
enum Answer {
    Ranking(Vec<Place>),
    Values(Vec<Score>),
    Objects(Vec<Found>, bool),
    Segments(Areas, bool),
    Picture(Made, bool),
    Text(String, bool),
}

/// One object that was found.
#[derive(Serialize)]
struct Found {
    index: usize,
    label: String,
    score: Score,
    /// Left, top, right and bottom in pixels of the image.
    r#box: [Score; 4],
}

/// The classes of pixels.
#[derive(Serialize)]
struct Areas {
    width: usize,
    height: usize,
    shares: Vec<Share>,
}

/// Which part of the pixels a class has.
#[derive(Serialize)]
struct Share {
    index: usize,
    label: String,
    share: f64,
}

/// An image that the model made.
#[derive(Serialize)]
struct Made {
    width: usize,
    height: usize,
    channels: usize,
    /// From 0, black, to 1, white.
    mean: f64,
}

fn answer(target: &OnnxTarget, path: &Path, top: usize) -> anyhow::Result<Answer> {
    let response = target.ask(&read_image(path)?)?;
    let finite = response.is_finite();
    Ok(match response {
        Response::Values(values) => Answer::Values(values.into_iter().map(Score).collect()),
        Response::Scores(scores) => Answer::Ranking(places(&scores.ranking().truncated(top))),
        Response::Ranking(ranking) => Answer::Ranking(places(&ranking.truncated(top))),
        Response::Detections(detections) => Answer::Objects(objects(&detections), finite),
        Response::Segments(segments) => Answer::Segments(areas(&segments, top), finite),
        Response::Picture(picture) => Answer::Picture(made(&picture), finite),
        Response::Text(text) => Answer::Text(text.text(), finite),
    })
}

fn objects(detections: &Detections) -> Vec<Found> {
    detections
        .found
        .iter()
        .map(|found: &Detection| {
            let b = found.bounds;
            Found {
                index: found.class,
                label: detections.name(found.class),
                score: Score(found.score),
                r#box: [b.left, b.top, b.right, b.bottom].map(Score),
            }
        })
        .collect()
}

fn areas(segments: &Segments, top: usize) -> Areas {
    let shares = segments.shares().into_iter().take(top);
    let Segments { width, height, .. } = *segments;
    Areas {
        width,
        height,
        shares: shares
            .map(|(index, share)| Share { index, label: segments.name(index), share })
            .collect(),
    }
}

fn made(picture: &Picture) -> Made {
    let Picture { width, height, channels, .. } = *picture;
    let sum: f64 = picture.values.iter().map(|&value| f64::from(value)).sum();
    Made { width, height, channels, mean: sum / picture.values.len().max(1) as f64 }
}

/// Bars make sense for scores that share a scale from 0 to 1.
fn shows_bars(target: &OnnxTarget) -> bool {
    let output = &target.description().output;
    let shares = [OutputKind::Probabilities, OutputKind::Detections, OutputKind::Segments];
    output.softmax || shares.contains(&output.kind)
}

fn show(console: &mut Console, image: &str, answer: &Answer, bars: bool) -> anyhow::Result<()> {
    console.line(plain(image))?;
    let aligned = [Align::Right, Align::Left, Align::Right, Align::Left];
    for line in text::table(aligned, &rows(answer, bars)) {
        console.line(line)?;
    }
    match answer {
        Answer::Objects(found, _) if found.is_empty() => console.line("  no object")?,
        Answer::Picture(made, _) => {
            console.line(format_args!("  {}×{} picture", made.width, made.height))?;
        }
        Answer::Text(text, _) => console.line(format_args!("  {}", plain(text)))?,
        _ => {}
    }
    if !answer.is_finite() {
        console.line("  decoded from numbers that are not all finite")?;
    }
    Ok(())
}

/// Rank, name, number and what else there is to see.
fn rows(answer: &Answer, bars: bool) -> Vec<[String; 4]> {
    let bar = |share: f32| {
        let length = if bars { (share * 20.0).round().clamp(0.0, 20.0) as usize } else { 0 };
        "█".repeat(length)
    };
    let number = |at: usize| format!("  {}", at + 1);
    match answer {
        Answer::Ranking(places) => places
            .iter()
            .enumerate()
            .map(|(i, p): (usize, &Place)| {
                [number(i), p.label.clone(), text::score(p.score.0), bar(p.score.0)]
            })
            .collect(),
        Answer::Values(values) => values
            .iter()
            .enumerate()
            .map(|(i, v): (usize, &Score)| {
                [format!("  {i}"), "value".to_owned(), text::score(v.0), String::new()]
            })
            .collect(),
        Answer::Objects(found, _) => found
            .iter()
            .enumerate()
            .map(|(i, o): (usize, &Found)| {
                let [left, top, right, bottom] = o.r#box.each_ref().map(|side| side.0.round());
                let place = format!("{left},{top} to {right},{bottom}");
                [number(i), o.label.clone(), text::score(o.score.0), place]
            })
            .collect(),
        Answer::Segments(areas, _) => areas
            .shares
            .iter()
            .enumerate()
            .map(|(i, s): (usize, &Share)| {
                let part = format!("{:.1}%", s.share * 100.0);
                [number(i), s.label.clone(), part, bar(s.share as f32)]
            })
            .collect(),
        Answer::Picture(..) | Answer::Text(..) => Vec::new(),
    }
}

impl Answer {
    /// Whether all numbers that it was read from are; a number that is shown says so itself.
    fn is_finite(&self) -> bool {
        match self {
            Self::Ranking(_) | Self::Values(_) => true,
            Self::Objects(_, finite)
            | Self::Segments(_, finite)
            | Self::Picture(_, finite)
            | Self::Text(_, finite) => *finite,
        }
    }
}

/// One line of JSON: the image, and its answer or why there is none.
#[derive(Default, Serialize)]
struct Line {
    image: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ranking: Option<Vec<Place>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Score>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    objects: Option<Vec<Found>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    segments: Option<Areas>,
    #[serde(skip_serializing_if = "Option::is_none")]
    picture: Option<Made>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// With objects, segments, pictures and texts, whose numbers are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    finite: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Line {
    fn new(image: String, answer: anyhow::Result<Answer>) -> Self {
        let line = Self { image, ..Self::default() };
        match answer {
            Ok(Answer::Ranking(places)) => Self { ranking: Some(places), ..line },
            Ok(Answer::Values(scores)) => Self { values: Some(scores), ..line },
            Ok(Answer::Objects(found, finite)) => {
                Self { objects: Some(found), finite: Some(finite), ..line }
            }
            Ok(Answer::Segments(areas, finite)) => {
                Self { segments: Some(areas), finite: Some(finite), ..line }
            }
            Ok(Answer::Picture(made, finite)) => {
                Self { picture: Some(made), finite: Some(finite), ..line }
            }
            Ok(Answer::Text(text, finite)) => {
                Self { text: Some(text), finite: Some(finite), ..line }
            }
            Err(why) => Self { error: Some(error_text(&why)), ..line },
        }
    }
}
