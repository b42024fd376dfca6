//! `RoiAlign`: regions of a map of features, brought to one size by the mean of samples between
//! its pixels. Detectors that look at proposals twice need it.

use super::operands::{Answers, floats, one, required, rounded};
use super::{Attributes, Op};
use crate::error::OperandError;
use crate::kernels::grid::Floats;
use crate::value::Value;

/// Samples along a side of a region, at most: regions of that many pixels are larger than any map.
const MAX_SAMPLES: f32 = 4096.0;

struct RoiAlign {
    /// Rows and columns of each answer.
    size: [usize; 2],
    /// Samples along each side of a cell; as many as it has pixels where the model does not say.
    samples: Option<usize>,
    scale: f32,
    /// Whether pixels are squares around their places, so that all shifts by half of one.
    half_pixel: bool,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    let mode = attributes.string("mode", "avg");
    if mode != "avg" {
        return Err(OperandError::new(format!("mode {mode} is not computed; only avg is")));
    }
    let whole = |name: &str, default: i64| {
        usize::try_from(attributes.int(name, default))
            .map_err(|_| OperandError::new(format!("attribute {name} is negative")))
    };
    // Before version 16 there was no choice.
    let usual = if attributes.opset() < 16 { "output_half_pixel" } else { "half_pixel" };
    let half_pixel = match attributes.string("coordinate_transformation_mode", usual).as_str() {
        "half_pixel" => true,
        "output_half_pixel" => false,
        mode => {
            return Err(OperandError::new(format!(
                "coordinate_transformation_mode {mode} is unknown"
            )));
        }
    };
    let samples = Some(whole("sampling_ratio", 0)?).filter(|&samples| samples > 0);
    Ok(Some(Box::new(RoiAlign {
        size: [whole("output_height", 1)?, whole("output_width", 1)?],
        samples,
        scale: attributes.float("spatial_scale", 1.0),
        half_pixel,
    })))
}

impl Op for RoiAlign {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let (Some(map), Some(regions)) = (floats(operands, 0)?, floats(operands, 1)?) else {
            return Err(OperandError::new("it needs a map and regions"));
        };
        let images = required(operands, 2)?.integers();
        let images =
            images.ok_or_else(|| OperandError::new("images of regions must be integers"))?;
        let (&[count, channels, height, width], &[rois, 4]) =
            (map.shape.as_slice(), regions.shape.as_slice())
        else {
            let why = format!("map {:?} and regions {:?} do not fit", map.shape, regions.shape);
            return Err(OperandError::new(why));
        };
        if images.len() != rois {
            let why = format!("{} images are given for {rois} regions", images.len());
            return Err(OperandError::new(why));
        }
        let [rows, columns] = self.size;
        let shape = vec![rois, channels, rows, columns];
        let mut out = Vec::new();
        let (all, _) = regions.data.as_chunks::<4>();
        for (region, image) in all.iter().zip(&images) {
            let image = usize::try_from(*image).ok().filter(|&image| image < count);
            let image = image
                .ok_or_else(|| OperandError::new("a region is of an image that is not there"))?;
            let cells = self.cells(region, [height, width])?;
            let whole = planes(map, image, [channels, height * width]);
            for plane in whole {
                out.extend(cells.iter().map(|cell| cell.mean(plane)));
            }
        }
        one(rounded(shape, map.dtype, out))
    }
}

/// The channels of one image of a map.
fn planes(
    map: &Floats,
    image: usize,
    [channels, pixels]: [usize; 2],
) -> impl Iterator<Item = &[f32]> {
    (0..channels).map(move |channel| &map.data[(image * channels + channel) * pixels..][..pixels])
}

/// A cell of an answer: the pixels that it is the mean of, with their weights.
struct Cell {
    weights: Vec<(usize, f32)>,
    samples: f32,
}

impl Cell {
    fn mean(&self, plane: &[f32]) -> f32 {
        let sum: f32 = self.weights.iter().map(|&(at, weight)| weight * plane[at]).sum();
        sum / self.samples
    }
}

impl RoiAlign {
    /// All cells of a region, row by row.
    fn cells(&self, region: &[f32; 4], map: [usize; 2]) -> Result<Vec<Cell>, OperandError> {
        let shift = if self.half_pixel { 0.5 } else { 0.0 };
        let [left, top, right, bottom] = region.map(|side| side * self.scale - shift);
        // RoIAlign (He et al., 2017): each cell is the mean of bilinear samples, evenly spaced in
        // it.
        let axis = |low: f32, high: f32, cells: usize| {
            // Regions below a pixel counted as one until half pixels came.
            let length = if self.half_pixel { high - low } else { (high - low).max(1.0) };
            let step = length / cells as f32;
            let samples = match self.samples {
                Some(samples) => samples as f32,
                None => step.ceil(),
            };
            if !step.is_finite() || !low.is_finite() || samples * cells as f32 > MAX_SAMPLES {
                return Err(OperandError::new(format!("region {region:?} is none of a map")));
            }
            let samples = samples.max(0.0) as usize;
            let place = move |cell: usize, sample: usize| {
                low + cell as f32 * step + (sample as f32 + 0.5) * step / samples as f32
            };
            Ok((samples, place))
        };
        let [rows, columns] = self.size;
        let (down, y) = axis(top, bottom, rows)?;
        let (across, x) = axis(left, right, columns)?;
        let mut found = Vec::with_capacity(rows * columns);
        for row in 0..rows {
            for column in 0..columns {
                let mut weights = Vec::new();
                for at_y in 0..down {
                    for at_x in 0..across {
                        weigh(&mut weights, [y(row, at_y), x(column, at_x)], map);
                    }
                }
                found.push(Cell { weights, samples: (down * across).max(1) as f32 });
            }
        }
        Ok(found)
    }
}

/// The pixels on both sides of a place along an axis, and how far it lies from the first.
fn neighbours(at: f32, length: usize) -> (usize, usize, f32) {
    let at = at.max(0.0);
    let low = at as usize;
    if low + 1 < length { (low, low + 1, at - low as f32) } else { (length - 1, length - 1, 0.0) }
}

/// The four pixels around a place, by how near they are; none for a place outside of the map.
fn weigh(weights: &mut Vec<(usize, f32)>, [y, x]: [f32; 2], [height, width]: [usize; 2]) {
    // Up to a pixel outside of the map, its border still counts.
    let outside = y < -1.0 || y > height as f32 || x < -1.0 || x > width as f32;
    if outside || height == 0 || width == 0 {
        return;
    }
    let (above, below, down) = neighbours(y, height);
    let (before, behind, along) = neighbours(x, width);
    // Bilinear interpolation.
    for (row, column, weight) in [
        (above, before, (1.0 - down) * (1.0 - along)),
        (above, behind, (1.0 - down) * along),
        (below, before, down * (1.0 - along)),
        (below, behind, down * along),
    ] {
        weights.push((row * width + column, weight));
    }
}
