//! Detectors in the form of Ultra-Light-Fast-Generic-Face-Detector, an SSD.

use super::{
    DecodeError, DecodeOptions, Decoded, Decoder, Head, Part, USUAL_OVERLAP, best, scores_and_boxes,
};
use faultlens_core::{Bounds, Detection};

/// Scores (N, places, 1 + classes) with background in front, boxes (N, places, 4) from 0 to 1.
pub(super) const ULTRAFACE: Decoder = Decoder {
    name: "ultraface",
    about: "Ultra-Light face detectors and other SSDs: probabilities with background in front, \
            which is no class, and boxes as parts of the model's input",
    outputs: &[Part::new("scores", 2), Part::new("boxes", 2)],
    threshold: 0.7,
    overlap: USUAL_OVERLAP,
    units: None,
    classes: Some((2, 1)),
    decode,
};

fn decode(heads: &[Head<'_>], options: &DecodeOptions) -> Result<Decoded, DecodeError> {
    let [height, width] = options.size;
    let [scores, boxes] = scores_and_boxes(heads)?;
    if scores.columns() < 2 {
        let wanted = "(images, places, 1 + classes) is needed for scores".to_owned();
        return Err(DecodeError { output: 0, wanted });
    }
    let objects = scores
        .places()
        .zip(boxes.places())
        .filter_map(|(scores, sides)| {
            // Scores are a softmax over background and classes.
            let (class, score) = best(&scores[1..], options.min_score)?;
            let &[left, top, right, bottom] = sides else { return None };
            // Sides are parts of the input.
            let x = width as f32;
            let y = height as f32;
            let bounds =
                Bounds { left: left * x, top: top * y, right: right * x, bottom: bottom * y };
            Some(Detection { class, score, bounds })
        })
        .collect();
    Ok(Decoded { objects, classes: scores.columns() - 1 })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{head, options};
    use super::*;

    #[test]
    fn boxes_are_parts_of_the_input_and_background_is_no_class() {
        let scores = head(&[[0.95, 0.05], [0.2, 0.8]]);
        let boxes = head(&[[0.0, 0.0, 1.0, 1.0], [0.25, 0.5, 0.75, 1.0]]);
        let found = decode(&[scores, boxes], &options([240, 320], 0.7)).unwrap();
        let bounds = Bounds { left: 80.0, top: 120.0, right: 240.0, bottom: 240.0 };
        let objects = vec![Detection { class: 0, score: 0.8, bounds }];
        assert_eq!(found, Decoded { objects, classes: 1 });
    }
}
