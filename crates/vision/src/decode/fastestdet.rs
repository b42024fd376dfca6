//! FastestDet (dog-qiuqiu), as its exporter writes it: one grid, a channel for each number.

use super::{DecodeError, DecodeOptions, Decoded, Decoder, Head, Part, USUAL_OVERLAP, around};
use faultlens_core::{Detection, argmax};

/// (N, 5 + classes, rows, columns): whether there is an object, centre, size, which.
///
/// This is the output of `test.py --onnx` of dog-qiuqiu/FastestDet, whose `utils/tool.py` decodes as
/// it is done here.
pub(super) const FASTESTDET: Decoder = Decoder {
    name: "fastestdet",
    about: "the head of FastestDet: for each cell of one grid the probability of an object, the \
            centre in cells before tanh, the size before sigmoid, and the probability of every class",
    outputs: &[Part::new("name", 3)],
    // As its author tests; scores are higher than products of probabilities.
    threshold: 0.65,
    overlap: USUAL_OVERLAP,
    units: None,
    classes: Some((1, FIXED)),
    decode,
};

/// Object, centre and size, in front of the classes.
const FIXED: usize = 5;

/// How much the object and the class weigh in the logarithm of the score.
const WEIGHTS: [f32; 2] = [0.6, 0.4];

fn decode(heads: &[Head<'_>], options: &DecodeOptions) -> Result<Decoded, DecodeError> {
    let wanted = || DecodeError {
        output: 0,
        wanted: "(images, 5 + classes, rows, columns) is needed".into(),
    };
    let [head] = heads else { return Err(wanted()) };
    let &[channels, rows, columns] = head.axes.as_slice() else { return Err(wanted()) };
    if channels <= FIXED {
        return Err(wanted());
    }
    let [height, width] = options.size.map(|side| side as f32);
    let cells = rows * columns;
    Ok(Decoded {
        objects: (0..cells)
            .filter_map(|cell| {
                let at = |channel: usize| head.numbers[channel * cells + cell];
                let class = argmax((FIXED..channels).map(at))?;
                let [object, sure] = [at(0), at(FIXED + class)];
                // FastestDet's own weighting: object^0.6 · class^0.4.
                let score = libm::powf(object, WEIGHTS[0]) * libm::powf(sure, WEIGHTS[1]);
                let corner = [cell % columns, cell / columns].map(|place| place as f32);
                // The centre may leave its cell by up to one; the size is a part of the input.
                let x = (libm::tanhf(at(1)) + corner[0]) / columns as f32 * width;
                let y = (libm::tanhf(at(2)) + corner[1]) / rows as f32 * height;
                let bounds = around([x, y], [sigmoid(at(3)) * width, sigmoid(at(4)) * height]);
                (score >= options.min_score).then_some(Detection { class, score, bounds })
            })
            .collect(),
        classes: channels - FIXED,
    })
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + libm::expf(-x))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, options};
    use super::*;

    #[test]
    fn cells_of_the_grid_are_placed_by_hand() {
        // 2 classes, 2×4 cells of 16 pixels; the object is in row 1, column 2.
        let mut numbers = vec![0.0f32; 7 * 8];
        let cell = 6;
        let three = 3.0f32.ln();
        // tanh 0.5 ln 3 = 1/2; sigmoid ln 3 = 3/4, sigmoid 0 = 1/2; 0.25 = 0.5².
        for (channel, number) in
            [0.25, three / 2.0, 0.0, three, 0.0, 0.1, 0.5].into_iter().enumerate()
        {
            numbers[channel * 8 + cell] = number;
        }
        let head = || Head { numbers: numbers.clone().into(), axes: vec![7, 2, 4] };
        let found = decode(&[head()], &options([32, 64], 0.3)).unwrap();
        // Score 0.25^0.6 · 0.5^0.4 = 0.5^1.6; centre (2.5 / 4 · 64, 1 / 2 · 32), size 48×16.
        check(&found, &[(1, 0.329_877, [16.0, 8.0, 64.0, 24.0])]);
        assert_eq!(found.classes, 2);
        let few = Head { numbers: vec![0.0; 40].into(), axes: vec![5, 2, 4] };
        assert!(decode(&[few], &options([32, 64], 0.3)).is_err());
    }
}
