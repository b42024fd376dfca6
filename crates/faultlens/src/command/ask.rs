//! `faultlens ask`: what does the model see in these images?

use std::path::Path;

use anyhow::ensure;
use faultlens::data::read_image;
use faultlens::engine::Model;
use faultlens::engine::vision::{ImageInput, OutputKind};
use faultlens::exit;
use serde::Serialize;

use crate::args::AskArgs;
use crate::command::score::{Place, Score, places};
use crate::command::{load, threads};
use crate::console::{Console, told};
use crate::describe::Description;
use crate::text::{self, Align};

/// The largest fixed batch that is filled up with one image.
const MAX_BATCH: usize = 256;

/// Answers every image that can be answered; one that cannot is reported and does not stop the
/// others.
pub(crate) fn run(args: &AskArgs, console: &mut Console) -> anyhow::Result<u8> {
    let asker = Asker::new(args)?;
    asker.description.show(console)?;
    let mut status = exit::OK;
    for path in &args.images {
        let answer = asker.ask(path, args.top);
        if let Err(error) = &answer {
            status = exit::INPUT;
            let (why, path) = (told(error), path.display().to_string());
            let place = if why.contains(&path) { String::new() } else { format!(": {path}") };
            console.note(format_args!("error: {why}{place}"))?;
        }
        let image = path.display().to_string();
        match (args.json, answer) {
            (true, answer) => console.json(&Line::new(image, answer))?,
            (false, Ok(answer)) => show(console, &image, &answer, asker.shows_bars())?,
            (false, Err(_)) => {}
        }
    }
    Ok(status)
}

/// A model with all that is needed to ask it.
struct Asker {
    model: Model,
    description: Description,
    input: ImageInput,
    output: usize,
}

/// What the model says about one image.
enum Answer {
    Ranking(Vec<Place>),
    Values(Vec<Score>),
}

impl Asker {
    fn new(args: &AskArgs) -> anyhow::Result<Self> {
        let model = load(&args.model)?.with_threads(threads(args.threads))?;
        let graph = model.graph();
        let description =
            Description::resolve(graph, args.input.as_deref(), args.labels.as_deref())?;
        let (input, output) = (ImageInput::of(graph)?, description.output.position(graph)?);
        Ok(Self { model, description, input, output })
    }

    fn ask(&self, path: &Path, top: usize) -> anyhow::Result<Answer> {
        let image = read_image(path)?;
        // A model that fixes its batch gets the same image in every place of it.
        let batch = self.input.batch().unwrap_or(1);
        ensure!(batch <= MAX_BATCH, "the model takes {batch} images at once, too many to try");
        let batch = vec![image; batch];
        let tensor = self.description.input.tensor(&batch)?;
        let outputs = self.model.run(&[(self.input.name.as_str(), tensor)])?;
        let (described, output) = (&self.description.output, &outputs[self.output]);
        Ok(if described.kind == OutputKind::Values {
            Answer::Values(described.scores(output, 0)?.into_iter().map(Score).collect())
        } else {
            let ranking = described.ranking(output, 0, &self.description.labels)?.truncated(top);
            Answer::Ranking(places(&ranking))
        })
    }

    /// Bars make sense for scores that share a scale from 0 to 1.
    fn shows_bars(&self) -> bool {
        let output = &self.description.output;
        output.softmax || output.kind == OutputKind::Probabilities
    }
}

fn show(console: &mut Console, image: &str, answer: &Answer, bars: bool) -> anyhow::Result<()> {
    console.line(image)?;
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
