//! How good a model is on cases that it has not seen.

use crate::error::TrainError;
use crate::loss::{BOXES, CELLS, CLASSES, NUMBERS, PICTURE, PIXELS, Wanted, detections};
use crate::recipe::Recipe;
use crate::task::Task;
use crate::truth;
use faultlens_core::{Case, Detection, Object, Tensor, argmax};
use faultlens_data::DataSet;
use faultlens_engine::Model;
use faultlens_judge::{Confusion, accuracy, mean_average_precision};
use faultlens_stats::{Level, wilson};
use faultlens_vision::InputDescription;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Images that are asked at once.
const BATCH: usize = 16;
/// Detections below this are left out.
const LEAST: f32 = 0.05;
/// Classes that a pixel can have.
const MAX_SEGMENT_CLASSES: usize = 256;

/// One measured number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// What was measured: `accuracy`, `ap50`, `mean_iou`, `mean_absolute_error`,
    /// `psnr`.
    pub metric: String,
    /// The number.
    pub value: f64,
    /// Where a rate lies at a level of 95%, by Wilson; measures that are no rate have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// On how many images.
    pub n: usize,
}

/// Measures a model on all cases of a set, by the measure of the recipe's task. A case that does
/// not say what the task asks for, or an answer of another form, is an error: it would change the
/// number.
pub fn score(recipe: &Recipe, model: &Model, data: &DataSet) -> Result<Score, TrainError> {
    asked(recipe, model, data)?.score(data.len())
}

/// What a detector finds in every case of a set, and what stands there: for who measures more than
/// [`score`] does. Models of other tasks find nothing.
pub fn found(recipe: &Recipe, model: &Model, data: &DataSet) -> Result<Vec<Judged>, TrainError> {
    match asked(recipe, model, data)? {
        Measure::Detect { found } => Ok(found),
        _ => Ok(Vec::new()),
    }
}

/// Asks the model about all cases.
fn asked(recipe: &Recipe, model: &Model, data: &DataSet) -> Result<Measure, TrainError> {
    let mut measure = Measure::of(recipe.task);
    for start in (0..data.len()).step_by(BATCH) {
        measure.ask(recipe, model, data, start..(start + BATCH).min(data.len()))?;
    }
    Ok(measure)
}

/// Finds out, from the first case, whether a set can be measured on: before hours of training,
/// with the untrained model.
pub fn check_measurable(recipe: &Recipe, model: &Model, data: &DataSet) -> Result<(), TrainError> {
    if data.is_empty() {
        return Err(TrainError::Empty);
    }
    Measure::of(recipe.task).ask(recipe, model, data, 0..1)?;
    match recipe.task {
        Task::Detect => truth::some_objects(data),
        _ => Ok(()),
    }
}

/// What has been counted so far.
enum Measure {
    /// Answers and labels.
    Classify {
        pairs: Vec<(usize, usize)>,
    },
    Segment {
        confusion: Option<Confusion>,
    },
    Regress {
        distance: f64,
        count: usize,
    },
    Detect {
        found: Vec<(Vec<Detection>, Vec<Object>)>,
    },
    Reconstruct {
        squares: f64,
        count: usize,
    },
}

/// The detections in an image, and its ground truth.
pub type Judged = (Vec<Detection>, Vec<Object>);

/// One output of a batch, with its name.
type Output<'a> = (&'a str, &'a Tensor);

impl Measure {
    fn of(task: Task) -> Self {
        match task {
            Task::Classify => Self::Classify { pairs: Vec::new() },
            Task::Segment => Self::Segment { confusion: None },
            Task::Regress => Self::Regress { distance: 0.0, count: 0 },
            Task::Detect => Self::Detect { found: Vec::new() },
            Task::Reconstruct => Self::Reconstruct { squares: 0.0, count: 0 },
        }
    }

    /// Asks the model about some cases and counts what it says.
    fn ask(
        &mut self,
        recipe: &Recipe,
        model: &Model,
        data: &DataSet,
        members: Range<usize>,
    ) -> Result<(), TrainError> {
        let cases: Vec<Case> = members.map(|at| data.case(at)).collect::<Result<_, _>>()?;
        let images: Vec<_> = cases.iter().map(|case| case.image.clone()).collect();
        let graph = model.graph();
        let input = graph.inputs().first().map(|&id| graph.value_name(id)).unwrap_or_default();
        let outputs = model.run(&[(input, recipe.input.tensor(&images)?)])?;
        let names = graph.outputs().iter().map(|&id| graph.value_name(id));
        let outputs: Vec<Output<'_>> = names.zip(&outputs).collect();
        self.add(&cases, &outputs, &recipe.input)
    }

    fn add(
        &mut self,
        cases: &[Case],
        outputs: &[Output<'_>],
        input: &InputDescription,
    ) -> Result<(), TrainError> {
        match self {
            Self::Classify { pairs } => pairs.extend(classified(cases, outputs)?),
            Self::Segment { confusion } => segmented(confusion, cases, outputs)?,
            Self::Regress { distance, count } => {
                let (more, numbers) = regressed(cases, outputs)?;
                *distance += more;
                *count += numbers;
            }
            Self::Detect { found } => found.extend(detected(cases, outputs, input.size)?),
            Self::Reconstruct { squares, count } => {
                let (more, pixels) = reconstructed(cases, outputs, input)?;
                *squares += more;
                *count += pixels;
            }
        }
        Ok(())
    }

    fn score(self, n: usize) -> Result<Score, TrainError> {
        let is_rate = matches!(self, Self::Classify { .. });
        let (metric, value) = match self {
            Self::Classify { pairs } => ("accuracy", accuracy(pairs)),
            Self::Segment { confusion } => ("mean_iou", confusion.and_then(|c| c.mean_iou())),
            Self::Regress { distance, count } => {
                ("mean_absolute_error", (count > 0).then(|| distance / count as f64))
            }
            Self::Detect { found } => ("ap50", mean_average_precision(&found, 0.5)),
            Self::Reconstruct { squares, count } => {
                ("psnr", (count > 0).then(|| -10.0 * libm::log10(squares / count as f64)))
            }
        };
        let why = "the cases have nothing to measure it by";
        let value =
            value.ok_or(TrainError::Unmeasured { metric, value: "undefined".into(), why })?;
        if !value.is_finite() {
            let why = "the model answers what is no number, or the cases hold such values";
            return Err(TrainError::Unmeasured { metric, value: value.to_string(), why });
        }
        let interval = if is_rate { interval(value, n) } else { None };
        Ok(Score { metric: metric.to_owned(), value, interval, n })
    }
}

/// The interval of a share of `n` images.
fn interval(share: f64, n: usize) -> Option<[f64; 2]> {
    let n = n as u64;
    let events = (share * n as f64).round() as u64;
    wilson(events, n, Level::default()).ok().map(|estimate| [estimate.low, estimate.high])
}

/// An output, by its position, in the form that the task needs.
fn floats<'a, const N: usize>(
    outputs: &[Output<'a>],
    at: usize,
    wanted: Wanted,
) -> Result<(&'a [f32], [usize; N]), TrainError> {
    let &(name, tensor) = outputs.get(at).ok_or_else(|| TrainError::Answer {
        task: wanted.task.name(),
        value: format!("of output {} (there are {})", at + 1, outputs.len()),
        shape: Vec::new(),
        why: wanted.why.to_owned(),
    })?;
    wanted.floats(tensor, name)
}

fn classified(cases: &[Case], outputs: &[Output<'_>]) -> Result<Vec<(usize, usize)>, TrainError> {
    let wanted = Wanted { task: Task::Classify, images: cases.len(), why: CLASSES };
    let (scores, [_, classes]) = floats::<2>(outputs, 0, wanted)?;
    let mut pairs = Vec::new();
    for (case, row) in cases.iter().zip(scores.chunks_exact(classes)) {
        let label = truth::label(case, classes)?;
        if let Some(best) = argmax(row.iter().copied()) {
            pairs.push((best, label));
        }
    }
    Ok(pairs)
}

fn segmented(
    confusion: &mut Option<Confusion>,
    cases: &[Case],
    outputs: &[Output<'_>],
) -> Result<(), TrainError> {
    let wanted = Wanted { task: Task::Segment, images: cases.len(), why: PIXELS };
    let (_, shape) = floats::<4>(outputs, 0, wanted)?;
    let [_, classes, height, width] = shape;
    let (value, scores) = outputs[0];
    let refuse = |why: String| {
        let task = Task::Segment.name();
        let value = value.to_owned();
        TrainError::Answer { task, value, shape: shape.to_vec(), why }
    };
    let confusion = confusion.get_or_insert_with(|| Confusion::new(classes));
    for (at, case) in cases.iter().enumerate() {
        let known = truth::segments(case, height * width, classes)?;
        let found = segments(scores, at);
        let found = found
            .ok_or_else(|| refuse(format!("at most {MAX_SEGMENT_CLASSES} classes are known")))?;
        confusion.add(&found, known).map_err(|error| refuse(error.to_string()))?;
    }
    Ok(())
}

/// The sum of all distances from the right numbers, and how many these are.
fn regressed(cases: &[Case], outputs: &[Output<'_>]) -> Result<(f64, usize), TrainError> {
    let wanted = Wanted { task: Task::Regress, images: cases.len(), why: NUMBERS };
    let (found, [_, count]) = floats::<2>(outputs, 0, wanted)?;
    let mut distance = 0.0;
    for (case, row) in cases.iter().zip(found.chunks_exact(count)) {
        let pairs = row.iter().zip(truth::values(case, count)?);
        distance += pairs.map(|(a, b)| f64::from((a - b).abs())).sum::<f64>();
    }
    Ok((distance, found.len()))
}

/// The sum of all squared distances from the pictures that were shown, and how many these are.
fn reconstructed(
    cases: &[Case],
    outputs: &[Output<'_>],
    input: &InputDescription,
) -> Result<(f64, usize), TrainError> {
    let wanted = Wanted { task: Task::Reconstruct, images: cases.len(), why: PICTURE };
    let (found, shape) = floats::<4>(outputs, 0, wanted)?;
    let shown = truth::pictures(cases, input)?;
    let shown = wanted.same_shape(&shown, shape, outputs[0].0)?;
    Ok((
        found
            .iter()
            .zip(shown)
            .map(|(a, b): (&f32, &f32)| f64::from(a - b) * f64::from(a - b))
            .sum(),
        found.len(),
    ))
}

fn detected(
    cases: &[Case],
    outputs: &[Output<'_>],
    size: [usize; 2],
) -> Result<Vec<Judged>, TrainError> {
    let task = Task::Detect;
    let images = cases.len();
    let (_, shape) = floats::<3>(outputs, 0, Wanted { task, images, why: CELLS })?;
    let (_, boxes) = floats::<3>(outputs, 1, Wanted { task, images, why: BOXES })?;
    let [_, _, classes] = shape;
    let found = detections(outputs[0].1, outputs[1].1, LEAST);
    let found = found.ok_or_else(|| TrainError::Answer {
        task: task.name(),
        value: outputs[1].0.to_owned(),
        shape: boxes.to_vec(),
        why: format!("{BOXES}, for {} cells", shape[1]),
    })?;
    let mut pairs = Vec::with_capacity(cases.len());
    for (case, mut found) in cases.iter().zip(found) {
        let known = truth::objects(case, classes)?.to_vec();
        // Boxes are in pixels of the model's input, objects in pixels of the image.
        for detection in &mut found {
            detection.bounds = truth::resized(detection.bounds, size, truth::size(case));
        }
        pairs.push((found, known));
    }
    Ok(pairs)
}

/// The best class of every pixel of one image, from scores by image, class, row and column;
/// `None` where they are not that, where there is no such image, or where there are more classes
/// than a byte can tell apart.
pub fn segments(scores: &Tensor, image: usize) -> Option<Vec<u8>> {
    let &[_, classes, height, width] = scores.shape() else { return None };
    if !(1..=MAX_SEGMENT_CLASSES).contains(&classes) {
        return None;
    }
    let plane = height * width;
    let each = classes * plane;
    let scores = scores.as_f32()?.get(image.checked_mul(each)?..)?.get(..each)?;
    (0..plane)
        .map(|pixel: usize| {
            let class = argmax((0..classes).map(|class| scores[class * plane + pixel]))?;
            u8::try_from(class).ok()
        })
        .collect()
}

#[cfg(test)]
mod tests;
