//! The detector that `faultlens train` makes.

use super::{
    DecodeError, DecodeOptions, Decoded, Decoder, Head, Part, USUAL_OVERLAP, best, scores_and_boxes,
};
use faultlens_core::{Bounds, Detection};

/// Scores (N, cells, classes), boxes (N, cells, 4) as left, top, right and bottom in pixels.
pub(super) const WORLD: Decoder = Decoder {
    name: "world",
    about: "the shipped detector and those that faultlens trains: a score for each cell and class, \
            and the box in pixels of the model's input",
    outputs: &[Part::new("scores", 2), Part::new("boxes", 2)],
    threshold: 0.3,
    overlap: USUAL_OVERLAP,
    units: None,
    classes: Some((2, 0)),
    decode,
};

fn decode(heads: &[Head<'_>], options: &DecodeOptions) -> Result<Decoded, DecodeError> {
    let [scores, boxes] = scores_and_boxes(heads)?;
    let classes = scores.columns();
    let objects = find_peaks(&scores.numbers, &boxes.numbers, classes, options.min_score);
    Ok(Decoded { objects, classes })
}

/// The detections of one image from a model's `scores` and `boxes`: at most one class per cell,
/// with at least this score. Boxes are in pixels of the model's input; several cells may have
/// found the same object.
pub fn find_peaks(scores: &[f32], boxes: &[f32], classes: usize, min_score: f32) -> Vec<Detection> {
    if classes == 0 {
        return Vec::new();
    }
    let cells = scores.chunks_exact(classes).zip(boxes.chunks_exact(4));
    let found = cells.filter_map(|(scores, bounds)| {
        // One object per cell: the cell around an object's centre is trained to answer for it.
        let (class, score) = best(scores, min_score)?;
        let &[left, top, right, bottom] = bounds else { return None };
        Some(Detection { class, score, bounds: Bounds { left, top, right, bottom } })
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{head, options};
    use super::*;

    #[test]
    fn a_cell_finds_its_best_class() {
        let scores = head(&[[0.1, 0.9], [0.2, 0.1], [f32::NAN, 0.4], [0.5, 0.5]]);
        let boxes = head(&[[1.0, 2.0, 3.0, 4.0], [0.0; 4], [5.0; 4], [6.0, 6.0, 9.0, 9.0]]);
        let found = decode(&[scores, boxes], &options([8, 8], 0.3)).unwrap();
        let each: Vec<_> =
            found.objects.iter().map(|o| (o.class, o.score, o.bounds.left)).collect();
        assert_eq!(each, [(1, 0.9, 1.0), (1, 0.4, 5.0), (0, 0.5, 6.0)]);
        assert_eq!(found.classes, 2);
        let short = decode(&[head(&[[0.1; 2]; 3]), head(&[[0.0; 4]; 2])], &options([8, 8], 0.3));
        assert_eq!(short.unwrap_err().wanted, "(images, 3, 4) is needed for boxes");
    }
}
