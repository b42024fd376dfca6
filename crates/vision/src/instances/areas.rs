//! Connected areas of one class, where a model says a class for every pixel.

use faultlens_core::{Mask, Response, Segments, Tensor};
use std::sync::Arc;

use super::super::{
    OutputDescription, OutputKind, OutputReader, ShownImage, VisionError, guess_output,
};
use super::{Instance, MAX_INSTANCES, MAX_PIXELS};
use crate::INSTANCE_LAYOUTS;
use faultlens_engine::Graph;

/// Smaller areas are specks: a model is unsure at edges.
const LEAST_PIXELS: usize = 16;

/// Reads connected areas.
#[derive(Debug)]
pub(super) struct AreaReader(OutputReader);

impl AreaReader {
    pub(super) fn new(
        graph: &Graph,
        described: Option<&OutputDescription>,
    ) -> Result<Self, VisionError> {
        let output =
            described.cloned().or_else(|| guess_output(graph).ok().map(|guess| guess.description));
        let output = output.filter(|output| output.kind == OutputKind::Segments);
        let output = output.ok_or_else(|| {
            let names: Vec<&str> = INSTANCE_LAYOUTS.iter().map(|layout| layout.name).collect();
            VisionError::NoInstances { known: names.join(", ") }
        })?;
        OutputReader::new(&output, graph).map(Self)
    }

    /// The areas of the image, the largest first.
    pub(super) fn read(
        &self,
        outputs: &[Tensor],
        shown: ShownImage<'_>,
        names: &dyn Fn(usize) -> String,
    ) -> Result<Vec<Instance>, VisionError> {
        let Response::Segments(segments) =
            self.0.read(outputs, 0, shown, &|count: usize| -> Arc<[String]> {
                (0..count).map(names).collect()
            })?
        else {
            return Ok(Vec::new());
        };
        let width = shown.width;
        let height = shown.height;
        let classes = spread(&segments, width, height);
        let mut areas = connected(&classes, width);
        // Connected areas of one class are taken for things: models of this kind do not tell them
        // apart.
        areas.retain(|area| area.len() >= LEAST_PIXELS);
        // Equal sizes stay in the order of their first pixels.
        areas.sort_by_key(|area| std::cmp::Reverse(area.len()));
        areas.truncate(MAX_INSTANCES.min(MAX_PIXELS / classes.len().max(1)));
        Ok(areas
            .into_iter()
            .filter_map(|area| {
                let class = classes[*area.first()?]?;
                let mut bits = vec![false; classes.len()];
                area.iter().for_each(|&at| bits[at] = true);
                let mask = Mask::new(width, bits)?;
                Some(Instance { class: class.into(), score: None, bounds: mask.bounds()?, mask })
            })
            .collect())
    }
}

/// The class of every pixel of the image; none for background and for what the model did not see.
fn spread(segments: &Segments, width: usize, height: usize) -> Vec<Option<u16>> {
    (0..width * height)
        .map(|at| {
            // The middle of the pixel decides.
            let x = (at % width) as f32 + 0.5;
            let y = (at / width) as f32 + 0.5;
            segments.class_at(x, y).filter(|&class| !segments.is_background(class.into()))
        })
        .collect()
}

/// Pixels of one class that touch, also at corners; each area in the order in which it was walked.
fn connected(classes: &[Option<u16>], width: usize) -> Vec<Vec<usize>> {
    let mut seen = vec![false; classes.len()];
    let mut areas = Vec::new();
    for start in 0..classes.len() {
        if seen[start] || classes[start].is_none() {
            continue;
        }
        seen[start] = true;
        // Flood fill with the area itself as the queue: breadth-first, eight neighbours.
        let mut area = vec![start];
        let mut next = 0;
        while let Some(&at) = area.get(next) {
            next += 1;
            let x = at % width;
            let y = at / width;
            for row in y.saturating_sub(1)..=(y + 1).min(classes.len() / width - 1) {
                for column in x.saturating_sub(1)..=(x + 1).min(width - 1) {
                    let other = row * width + column;
                    if !seen[other] && classes[other] == classes[start] {
                        seen[other] = true;
                        area.push(other);
                    }
                }
            }
        }
        areas.push(area);
    }
    areas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_that_touch_are_one_area() {
        let picture = ["11.2.", "1..2.", ".1.22", "....."];
        let class = |c: char| c.to_digit(10).map(|class| class as u16);
        let classes: Vec<Option<u16>> =
            picture.iter().flat_map(|row| row.chars().map(class)).collect();
        let mut areas = connected(&classes, 5);
        areas.iter_mut().for_each(|area| area.sort_unstable());
        assert_eq!(areas, [vec![0, 1, 5, 11], vec![3, 8, 13, 14]]);
        assert!(connected(&[], 5).is_empty());
    }
}
