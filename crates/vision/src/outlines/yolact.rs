//! YOLACT (Bolya et al., 2019), as its exports to ONNX have it.

use faultlens_core::{Bounds, Detection, Tensor, argmax};
use std::borrow::Cow;

use super::super::preprocessing;
use super::prototypes::Prototypes;
use super::{InstanceLayout, Outlines, first};
use faultlens_engine::{Dim, Graph};

/// Boxes, classes with background in front, coefficients, and masks to mix with the masks of a
/// pixel together. Where the boxes they are tried around are an output too, `priors`, boxes are
/// distances from them.
pub(super) const YOLACT: InstanceLayout = InstanceLayout {
    name: "yolact",
    about: "YOLACT: boxes (n, 4) as parts of the input or as distances from priors (n, 4), \
            probabilities (n, 1 + classes), coefficients (n, masks), and masks to mix (rows, columns, \
            masks)",
    classes: |graph| Parts::of_graph(graph).map(|parts| parts.classes),
    read,
    // What YOLACT's own suppression leaves.
    overlap: 0.5,
    preprocessing: &preprocessing::YOLACT,
};

/// How much of a prior's side a number of the output stands for.
const VARIANCES: [f32; 2] = [0.1, 0.2];

/// Which output is which.
#[derive(Debug, PartialEq)]
struct Parts {
    boxes: usize,
    priors: Option<usize>,
    scores: usize,
    weights: usize,
    masks: usize,
    classes: usize,
}

impl Parts {
    fn of_graph(graph: &Graph) -> Option<Self> {
        let mut shapes = Vec::new();
        for &value in graph.outputs() {
            let mut lengths = Vec::new();
            for dim in graph.declared_shape(value).unwrap_or(&[]) {
                lengths.push(match dim {
                    Dim::Fixed(length) => Some(*length),
                    Dim::Free(_) => None,
                });
            }
            shapes.push(lengths);
        }
        Self::of(&shapes)
    }

    /// By their shapes, with or without an axis of one image in front.
    fn of(shapes: &[Vec<Option<usize>>]) -> Option<Self> {
        let shapes: Vec<Vec<Option<usize>>> = shapes
            .iter()
            .map(|shape| match shape.as_slice() {
                [_, axes @ ..] if axes.len() == 3 => axes.to_vec(),
                [Some(1), axes @ ..] if axes.len() == 2 => axes.to_vec(),
                axes => axes.to_vec(),
            })
            .collect();
        // The prototypes are the only output with three axes; boxes and priors the only ones with
        // four columns.
        let masks = shapes.iter().position(|shape| shape.len() == 3)?;
        let mixed = shapes[masks][2]?;
        let columns = |at: usize| match shapes[at].as_slice() {
            [_, columns] => *columns,
            _ => None,
        };
        let tables = || (0..shapes.len()).filter(|&at| columns(at).is_some());
        let mut fours = tables().filter(|&at| columns(at) == Some(4));
        let boxes = fours.next()?;
        let priors = fours.next();
        let others: Vec<usize> = tables().filter(|&at| columns(at) != Some(4)).collect();
        let &[first, second] = others.as_slice() else { return None };
        // Classes stand before coefficients where they are as many.
        let (scores, weights) =
            if columns(second) == Some(mixed) { (first, second) } else { (second, first) };
        let classes = columns(scores)?.checked_sub(1).filter(|&classes| classes > 0)?;
        (columns(weights) == Some(mixed) && mixed > 0).then_some(Self {
            boxes,
            priors,
            scores,
            weights,
            masks,
            classes,
        })
    }
}

const WANTED: &str = "boxes (n, 4), scores (n, 1 + classes), coefficients (n, masks) and masks (rows, \
                      columns, masks) are needed";

fn read(outputs: &[Tensor]) -> Result<Outlines<'_>, String> {
    let wanted = || WANTED.to_owned();
    let shapes: Vec<Vec<Option<usize>>> =
        outputs.iter().map(|tensor| tensor.shape().iter().copied().map(Some).collect()).collect();
    let parts = Parts::of(&shapes).ok_or_else(wanted)?;
    let Table { numbers: scores, columns: known, rows: count } = Table::of(&outputs[parts.scores])?;
    let table = |at: usize| Table::of(&outputs[at]).ok().filter(|table| table.rows == count);
    let weights = table(parts.weights).ok_or_else(wanted)?;
    let boxes = table(parts.boxes).ok_or_else(wanted)?.numbers;
    let priors = parts.priors.map(|at| table(at).ok_or_else(wanted)).transpose()?;
    let mixed = weights.columns;
    let &[.., height, width, _] = outputs[parts.masks].shape() else { return Err(wanted()) };
    let area = height * width * mixed;
    let planes = first(&outputs[parts.masks], area);
    let object = move |at: usize| {
        let own = &scores[at * known..(at + 1) * known];
        // Column 0 is background.
        let class = argmax(own[1..].iter().copied())?;
        let sides = row_of_four(&boxes, at);
        let bounds = match &priors {
            Some(priors) => around_prior(sides, row_of_four(&priors.numbers, at)),
            None => {
                let [left, top, right, bottom] = sides;
                Bounds { left, top, right, bottom }
            }
        };
        Some(Detection { class, score: own[1 + class], bounds })
    };
    let weights = move |at: usize| weights.numbers[at * mixed..(at + 1) * mixed].to_vec();
    let numbers = planes.ok_or_else(wanted)?;
    let prototypes = Prototypes { numbers, count: mixed, height, width, together: true };
    let object = Box::new(object);
    let weights = Box::new(weights);
    Ok(Outlines { count, prototypes, object, weights, relative: true })
}

/// One row of a table of four columns.
fn row_of_four(numbers: &[f32], row: usize) -> [f32; 4] {
    [0, 1, 2, 3].map(|column| numbers[row * 4 + column])
}

/// The rows of an output's first image.
struct Table<'a> {
    numbers: Cow<'a, [f32]>,
    rows: usize,
    columns: usize,
}

impl<'a> Table<'a> {
    fn of(tensor: &'a Tensor) -> Result<Self, String> {
        let &[.., rows, columns] = tensor.shape() else { return Err(WANTED.to_owned()) };
        let numbers = first(tensor, rows * columns).ok_or(WANTED)?;
        Ok(Self { numbers, rows, columns })
    }
}

/// A box by its distance from a prior, which is a centre and a size.
fn around_prior(distance: [f32; 4], prior: [f32; 4]) -> Bounds {
    let centre = [0, 1].map(|i| prior[i] + distance[i] * VARIANCES[0] * prior[i + 2]);
    let size = [2, 3].map(|i| prior[i] * libm::expf(distance[i] * VARIANCES[1]));
    super::super::decode::around(centre, size)
}
