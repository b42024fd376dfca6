//! Normalisations by a value's own mean and variance.
//!
//! Both are sums in double precision and in one order, so an image's answer does not depend on the
//! batch around it; they overflow where 32 bits do.

use super::operands::{Answers, floats, one, required, rounded};
use super::pixelwise::Pixelwise;
use super::places::{Fold, axis};
use super::{Attributes, Local, Op};
use crate::error::OperandError;
use crate::kernels::grid::{Floats, Order};
use crate::kernels::sum::sum;
use crate::value::Value;
use faultlens_core::DType;

/// How the elements of one group are spread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spread {
    pub(crate) mean: f32,
    variance: f32,
}

impl Spread {
    pub(crate) fn of(row: &[f32]) -> Self {
        let count = row.len() as f64;
        let mean = sum(row, |x| x) / count;
        // Two passes: the difference of two large sums would lose a small variance.
        let variance = sum(row, |x| (x - mean) * (x - mean)) / count;
        Self { mean: mean as f32, variance: variance as f32 }
    }

    pub(crate) fn inverse_deviation(&self, epsilon: f32) -> f32 {
        1.0 / (self.variance + epsilon).sqrt()
    }
}

/// A factor and an offset for each element or channel.
#[derive(Debug)]
struct Affine {
    scale: Vec<f32>,
    shift: Vec<f32>,
}

impl Affine {
    /// Operands 1 and 2, of which the second may be left out: one for all, or `count` of them.
    fn of(operands: &[Option<&Value>], count: usize) -> Result<Self, OperandError> {
        let list = |at: usize| -> Result<Option<Vec<f32>>, OperandError> {
            let Some(floats) = floats(operands, at)? else { return Ok(None) };
            match floats.data.as_slice() {
                [one] => Ok(Some(vec![*one; count])),
                all if all.len() == count => Ok(Some(all.to_vec())),
                all => {
                    let why = format!("operand {at} has {} elements for {count}", all.len());
                    Err(OperandError::new(why))
                }
            }
        };
        let scale = list(1)?.ok_or_else(|| OperandError::new("it needs a scale"))?;
        Ok(Self { scale, shift: list(2)?.unwrap_or(vec![0.0; count]) })
    }
}

/// `InstanceNormalization` and `GroupNormalization`: some channels of one image at a time.
struct Grouped {
    epsilon: f32,
    /// Groups of channels; `None` makes every channel one.
    groups: Option<usize>,
}

pub(super) fn parse_grouped(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    let groups = groups(attributes)?;
    Ok(Some(Box::new(Grouped { epsilon: attributes.float("epsilon", 1e-5), groups })))
}

/// Groups of channels; `None` makes every channel one.
pub(crate) fn groups(attributes: &Attributes<'_>) -> Result<Option<usize>, OperandError> {
    if attributes.op_type() != "GroupNormalization" {
        return Ok(None);
    }
    let groups = usize::try_from(attributes.int("num_groups", 0)).ok().filter(|&g| g > 0);
    groups.map(Some).ok_or_else(|| OperandError::new("attribute num_groups must be positive"))
}

impl Op for Grouped {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let Some(input) = required(operands, 0)?.floats() else { return Ok(None) };
        let &[_, channels, ref plane @ ..] = input.shape.as_slice() else {
            return Err(OperandError::new(format!("images are wanted, not {:?}", input.shape)));
        };
        let groups = self.groups.unwrap_or(channels);
        if groups == 0 || channels % groups != 0 {
            return Err(OperandError::new(format!(
                "{channels} channels do not split into {groups} groups"
            )));
        }
        // Before opset 21 there is one scale per group.
        let per_group = required(operands, 1)?.shape() == [groups];
        let affine = Affine::of(operands, if per_group { groups } else { channels })?;
        let each = channels / groups;
        let plane = plane.iter().product::<usize>();
        let mut data = input.data.clone();
        for (group, row) in data.chunks_exact_mut((each * plane).max(1)).enumerate() {
            let spread = Spread::of(row);
            let inverse = spread.inverse_deviation(self.epsilon);
            for (channel, pixels) in row.chunks_exact_mut(plane.max(1)).enumerate() {
                let group = group % groups;
                let at = if per_group { group } else { group * each + channel };
                let scale = affine.scale[at];
                let shift = affine.shift[at];
                pixels.iter_mut().for_each(|x| *x = (*x - spread.mean) * inverse * scale + shift);
            }
        }
        one(rounded(input.shape.clone(), input.dtype, data))
    }
}

/// `LayerNormalization`: all axes from one on.
struct Layer {
    axis: i64,
    epsilon: f32,
    /// Whether mean and deviation are answers too.
    statistics: bool,
}

pub(super) fn parse_layer(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    Ok(Some(Box::new(Layer {
        axis: attributes.int("axis", -1),
        epsilon: attributes.float("epsilon", 1e-5),
        statistics: attributes.arity().1 > 1,
    })))
}

impl Layer {
    fn row(&self, affine: &Affine, row: &[f32], out: &mut [f32]) -> (f32, f32) {
        let spread = Spread::of(row);
        let inverse = spread.inverse_deviation(self.epsilon);
        let affine = affine.scale.iter().zip(&affine.shift);
        for ((y, &x), (scale, shift)) in out.iter_mut().zip(row).zip(affine) {
            *y = (x - spread.mean) * inverse * scale + shift;
        }
        (spread.mean, inverse)
    }
}

impl Op for Layer {
    /// Rows along the last axis: each on its own.
    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        let Some(input) = required(operands, 0)?.floats() else { return Ok(None) };
        let rank = input.shape.len();
        let at = axis(self.axis, rank)?;
        if self.statistics || at + 1 != rank {
            return Ok(None);
        }
        let affine = Affine::of(operands, input.shape[at])?;
        let function = move |row: &[f32], out: &mut [f32]| {
            self.row(&affine, row, out);
        };
        Ok(Some(Box::new(Pixelwise::new(input.shape.clone(), Order::RowMajor, function))))
    }

    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let Some(input) = required(operands, 0)?.floats() else { return Ok(None) };
        let at = axis(self.axis, input.shape.len())?;
        let length: usize = input.shape[at..].iter().product();
        let affine = Affine::of(operands, length)?;
        let mut data = vec![0.0; input.data.len()];
        let rows = input.data.chunks_exact(length.max(1));
        let outs = data.chunks_exact_mut(length.max(1));
        let (means, deviations): (Vec<f32>, Vec<f32>) =
            rows.zip(outs).map(|(row, out)| self.row(&affine, row, out)).unzip();
        let mut shape = input.shape.clone();
        shape[at..].fill(1);
        let answer = rounded(input.shape.clone(), input.dtype, data);
        let [means, deviations] =
            [means, deviations].map(|data| Some(rounded(shape.clone(), DType::F32, data)));
        Ok(Some(vec![Some(answer), means, deviations]))
    }
}

/// `MeanVarianceNormalization`: over any axes, without scale and shift.
struct MeanVariance {
    axes: Vec<i64>,
}

pub(super) fn parse_mean_variance(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    let axes = attributes.ints("axes").unwrap_or(&[0, 2, 3]).to_vec();
    Ok(Some(Box::new(MeanVariance { axes })))
}

impl Op for MeanVariance {
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let Some(input) = required(operands, 0)?.floats() else { return Ok(None) };
        let Floats { shape, dtype, data, .. } = input;
        let rows = Fold::new(shape, &self.axes)?;
        let mut spreads = Vec::with_capacity(rows.starts.len());
        rows.rows(data, |row| spreads.push(Spread::of(row)));
        let mut answers = vec![0.0; data.len()];
        for (start, spread) in rows.starts.iter().zip(spreads) {
            // ONNX defines this operator with the constant outside of the root.
            let deviation = spread.variance.sqrt() + 1e-9;
            for step in &rows.steps {
                answers[start + step] = (data[start + step] - spread.mean) / deviation;
            }
        }
        one(rounded(shape.clone(), *dtype, answers))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spread_of_a_far_away_row_is_exact() {
        let row: Vec<f32> = (0..1000).map(|i| 1e6 + (i % 2) as f32).collect();
        let spread = Spread::of(&row);
        assert_eq!((spread.mean, spread.variance), (1_000_000.5, 0.25));
    }

    #[test]
    fn an_image_does_not_depend_on_its_batch() {
        let image: Vec<f32> = (0..60).map(|i| (i as f32 * 0.37).sin()).collect();
        let norm = Grouped { epsilon: 1e-5, groups: Some(2) };
        let floats = |shape: Vec<usize>, data: Vec<f32>| rounded(shape, DType::F32, data);
        let list = floats(vec![4], vec![1.0, 2.0, 3.0, 4.0]);
        let run = |input: Value| {
            let answers = norm.whole(&[Some(&input), Some(&list), Some(&list)]).unwrap().unwrap();
            answers[0].as_ref().unwrap().floats().unwrap().data.clone()
        };
        let alone = run(floats(vec![1, 4, 15], image.clone()));
        let both: Vec<f32> = image.iter().map(|x| x * 100.0).chain(image.clone()).collect();
        assert_eq!(run(floats(vec![2, 4, 15], both))[60..], alone);
    }
}
