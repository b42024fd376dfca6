//! `faultlens ask`: what does the model see in these images?

use std::path::Path;

use faultlens::data::read_image;
use faultlens::engine::vision::OutputKind;
use faultlens::report::plain;
use faultlens::targets::OnnxTarget;
use faultlens::{Response, Target, exit};
use serde::Serialize;

use crate::args::AskArgs;
use crate::command::score::{Place, Score, places};
use crate::command::threads;
use crate::console::{Console, told};
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
            let (why, path) = (told(error), path.display().to_string());
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
}

fn answer(target: &OnnxTarget, path: &Path, top: usize) -> anyhow::Result<Answer> {
    Ok(match target.ask(&read_image(path)?)? {
        Response::Values(values) => Answer::Values(values.into_iter().map(Score).collect()),
        Response::Scores(scores) => Answer::Ranking(places(&scores.ranking().truncated(top))),
    })
}

/// Bars make sense for scores that share a scale from 0 to 1.
fn shows_bars(target: &OnnxTarget) -> bool {
    let output = &target.description().output;
    output.softmax || output.kind == OutputKind::Probabilities
}

fn show(console: &mut Console, image: &str, answer: &Answer, bars: bool) -> anyhow::Result<()> {
    console.line(plain(image))?;
    let rows: Vec<[String; 4]> = match answer {
        Answer::Ranking(places) => {
            let bar = |score: f32| "█".repeat((score * 20.0).round().clamp(0.0, 20.0) as usize);
            let row = |(i, p): (usize, &Place)| {
                let bar = if bars { bar(p.score.0) } else { String::new() };
                [format!("  {}", i + 1), p.label.clone(), text::score(p.score.0), bar]
            };
            places.iter().enumerate().map(row).collect()
        }
        Answer::Values(values) => {
            let row = |(i, v): (usize, &Score)| {
                [format!("  {i}"), "value".to_owned(), text::score(v.0), String::new()]
            };
            values.iter().enumerate().map(row).collect()
        }
    };
    for line in text::table([Align::Right, Align::Left, Align::Right, Align::Left], &rows) {
        console.line(line)?;
    }
    Ok(())
}

/// One line of JSON: the image, and its answer or why there is none.
#[derive(Serialize)]
struct Line {
    image: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ranking: Option<Vec<Place>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<Score>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl Line {
    fn new(image: String, answer: anyhow::Result<Answer>) -> Self {
        let (mut ranking, mut values, mut error) = (None, None, None);
        match answer {
            Ok(Answer::Ranking(places)) => ranking = Some(places),
            Ok(Answer::Values(scores)) => values = Some(scores),
            Err(why) => error = Some(told(&why)),
        }
        Self { image, ranking, values, error }
    }
}
