//! YOLOX (Ge et al., 2021), as its exporter writes it: without the decoding in the model.

use super::{
    DecodeError, DecodeOptions, Decoded, Decoder, Head, Part, USUAL_OVERLAP, around, best,
};
use faultlens_core::Detection;

/// (N, cells, 5 + classes): centre, size, whether there is an object, which.
pub(super) const YOLOX: Decoder = Decoder {
    name: "yolox",
    about: "the raw head of YOLOX: for each cell of three grids the centre in cells, the logarithm \
            of the size in cells, and the probabilities of an object and of every class",
    outputs: &[Part::new("name", 2)],
    threshold: 0.3,
    overlap: USUAL_OVERLAP,
    units: None,
    classes: Some((2, FIXED)),
    decode,
};

/// Pixels of the model's input along a cell, by grid.
const STRIDES: [usize; 3] = [8, 16, 32];

/// Centre, size and object, in front of the classes.
const FIXED: usize = 5;

/// How many cells an input of this size has; `None` where they are more than can be counted.
pub(crate) fn cells([height, width]: [usize; 2]) -> Option<usize> {
    let mut cells = 0usize;
    for stride in STRIDES {
        cells = cells.checked_add((height / stride).checked_mul(width / stride)?)?;
    }
    Some(cells)
}

fn decode(heads: &[Head<'_>], options: &DecodeOptions) -> Result<Decoded, DecodeError> {
    let size = options.size;
    let count = cells(size).unwrap_or(usize::MAX);
    let head = match heads {
        [head] if head.rows() == count && head.columns() > FIXED => head,
        _ => {
            let [height, width] = size;
            let wanted = format!(
                "(images, {count}, 5 + classes) is needed for an input of {height}×{width}"
            );
            return Err(DecodeError { output: 0, wanted });
        }
    };
    // All cells of the finest grid, then of the next: the order of the rows.
    let cells = STRIDES.iter().flat_map(|&stride| grid(size, stride));
    let mut scores = Vec::new();
    let objects = head
        .places()
        .zip(cells)
        .filter_map(|(place, (stride, corner))| {
            let (fixed, classes) = place.split_at(FIXED);
            let &[x, y, width, height, sure] = fixed else { return None };
            scores.clear();
            // A score is that of an object times that of its class.
            scores.extend(classes.iter().map(|class| class * sure));
            let (class, score) = best(&scores, options.min_score)?;
            // The centre counts from the cell's corner in cells, sides are logarithms of cells.
            let centre = [(x + corner[0]) * stride, (y + corner[1]) * stride];
            let bounds = around(centre, [width, height].map(|log| libm::expf(log) * stride));
            Some(Detection { class, score, bounds })
        })
        .collect();
    Ok(Decoded { objects, classes: head.columns() - FIXED })
}

/// The cells of a grid, row by row: pixels along a cell, and which it is.
fn grid([height, width]: [usize; 2], stride: usize) -> impl Iterator<Item = (f32, [f32; 2])> {
    let rows = height / stride;
    let columns = width / stride;
    let places = (0..rows).flat_map(move |y| (0..columns).map(move |x| [x as f32, y as f32]));
    places.map(move |place| (stride as f32, place))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, head, options};
    use super::*;

    #[test]
    fn cells_of_all_grids_are_placed_by_hand() {
        // 64 rows, 32 columns: 8×4 cells of 8 pixels, 4×2 of 16, 2×1 of 32.
        let mut rows = [[0.0f32; 7]; 32 + 8 + 2];
        let two = std::f32::consts::LN_2;
        // Row 2, column 1 of the first grid; row 3, column 0 of the second; the last cell.
        rows[9] = [0.5, 0.25, two, 0.0, 0.8, 0.1, 0.5];
        rows[32 + 6] = [0.0, 1.0, 0.0, two, 0.5, 0.9, 0.2];
        rows[32 + 8 + 1] = [0.5, 0.5, 0.0, 0.0, 1.0, 0.0, 1.0];
        // Sure of an object, of no class.
        rows[0] = [0.0, 0.0, 0.0, 0.0, 1.0, 0.2, 0.2];
        let found = decode(&[head(&rows)], &options([64, 32], 0.3)).unwrap();
        let wanted = [
            // Centre (1.5, 2.25) × 8, size 16×8.
            (1, 0.4, [4.0, 14.0, 20.0, 22.0]),
            // Centre (0, 4) × 16, size 16×32.
            (0, 0.45, [-8.0, 48.0, 8.0, 80.0]),
            // Centre (0.5, 1.5) × 32, size 32×32.
            (1, 1.0, [0.0, 32.0, 32.0, 64.0]),
        ];
        check(&found, &wanted);
        assert_eq!(found.classes, 2);
    }

    #[test]
    fn another_number_of_cells_is_refused() {
        let error = decode(&[head(&[[0.0; 85]; 7])], &options([416, 416], 0.3)).unwrap_err();
        let wanted = "(images, 3549, 5 + classes) is needed for an input of 416×416";
        assert_eq!(error.wanted, wanted);
    }
}
