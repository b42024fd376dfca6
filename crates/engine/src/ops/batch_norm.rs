//! `BatchNormalization`: a factor and an offset per channel, from stored statistics or from those
//! of the batch.

use super::operands::{Answers, floats, one, required, rounded};
use super::{Attributes, Local, Op, Wants};
use crate::buffers::Buffers;
use crate::error::OperandError;
use crate::kernels::channels::{mapped, moments};
use crate::kernels::grid::{Floats, Order};
use crate::kernels::share::threads_here;
use crate::op::{Elementwise, Function};
use crate::step::{round, run_alone};
use crate::value::Value;

struct BatchNorm {
    epsilon: f32,
    /// Statistics folded into factors and offsets, once they are known.
    affine: Option<Elementwise>,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, OperandError> {
    let epsilon = attributes.float("epsilon", 1e-5);
    if attributes.arity().1 > 1 || attributes.int("training_mode", 0) != 0 {
        return Err(OperandError::new("it computes statistics; export the model for inference"));
    }
    Ok(Some(Box::new(BatchNorm { epsilon, affine: None })))
}

/// The operator's name in the project's own domain while a model learns: a file that asks for
/// statistics of the batch would answer an image differently in other company.
pub(crate) const TRAINING: &str = "TrainingBatchNormalization";

pub(super) fn parse_training(
    attributes: &Attributes<'_>,
) -> Result<Option<Box<dyn Op>>, OperandError> {
    let epsilon = f64::from(attributes.float("epsilon", 1e-5));
    let momentum = f64::from(attributes.float("momentum", 0.9));
    Ok(Some(Box::new(Training { epsilon, momentum })))
}

/// Scale, bias, mean and variance.
fn statistics<'a>(operands: &[Option<&'a Value>]) -> Result<[&'a [f32]; 4], OperandError> {
    let mut lists = [[].as_slice(); 4];
    for (at, list) in lists.iter_mut().enumerate() {
        *list = &floats(operands, at + 1)?
            .ok_or_else(|| OperandError::new("it needs a scale, a bias, a mean and a variance"))?
            .data;
    }
    if lists.iter().any(|list| list.len() != lists[0].len()) {
        return Err(OperandError::new("its scale, bias, mean and variance differ in length"));
    }
    Ok(lists)
}

impl BatchNorm {
    fn affine(&self, operands: &[Option<&Value>]) -> Result<Elementwise, OperandError> {
        let [scale, bias, mean, variance] = statistics(operands)?;
        let n = scale.len();
        let factor: Vec<f32> =
            (0..n).map(|i| scale[i] / (variance[i] + self.epsilon).sqrt()).collect();
        let offset: Vec<f32> = (0..n).map(|i| (-mean[i]).mul_add(factor[i], bias[i])).collect();
        let function = Function::Affine { factor: factor.into(), offset: offset.into() };
        Ok(Elementwise { function })
    }
}

impl Op for BatchNorm {
    fn wants(&self, operand: usize) -> Wants {
        if operand == 0 { Wants::ChannelsLast } else { Wants::RowMajor }
    }

    fn prepack(&self, constants: &[Option<&Value>]) -> Result<Option<Box<dyn Op>>, OperandError> {
        if constants.len() < 5 || constants[1..5].iter().any(Option::is_none) {
            return Ok(None);
        }
        let affine = Some(self.affine(constants)?);
        Ok(Some(Box::new(Self { epsilon: self.epsilon, affine })))
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        match &self.affine {
            Some(affine) => affine.local(&operands[..1]),
            None => Ok(None),
        }
    }

    /// Statistics that are not constant, or other than two axes per image.
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let Some(input) = required(operands, 0)?.floats() else { return Ok(None) };
        let operand_error =
            || OperandError::new(format!("statistics do not fit {:?}", input.shape));
        let &[n, channels, ref plane @ ..] = input.shape.as_slice() else {
            return Err(operand_error());
        };
        let affine = match &self.affine {
            Some(affine) => affine.clone(),
            None => self.affine(operands)?,
        };
        let plain = input.in_order(Order::RowMajor);
        let image = Floats { shape: vec![n, channels, 1, plane.iter().product()], ..plain };
        let image = Value::Floats(image.in_order(Order::ChannelsLast));
        let Some(Value::Floats(answer)) = run_alone(&affine, &[Some(&image)])? else {
            return Err(operand_error());
        };
        let answer = answer.in_order(Order::RowMajor);
        one(Value::Floats(Floats { shape: input.shape.clone(), ..answer }))
    }

    fn elementwise(&self) -> Option<&Elementwise> {
        self.affine.as_ref()
    }
}

/// Statistics of the batch, and the stored ones moved towards them.
struct Training {
    epsilon: f64,
    momentum: f64,
}

impl Op for Training {
    fn wants(&self, operand: usize) -> Wants {
        if operand == 0 { Wants::ChannelsLast } else { Wants::RowMajor }
    }

    fn whole_in(&self, operands: &[Option<&Value>], buffers: &Buffers) -> Answers {
        let Some(input) = required(operands, 0)?.floats() else { return Ok(None) };
        let &[n, channels, ref plane @ ..] = input.shape.as_slice() else {
            return Err(OperandError::new(format!("no channels in {:?}", input.shape)));
        };
        let lists = statistics(operands)?;
        if lists[0].len() != channels {
            return Err(OperandError::new(format!("statistics do not fit {:?}", input.shape)));
        }
        if input.data.len() < 2 * channels.max(1) {
            return Err(OperandError::new(
                "one value per channel has no variance; take larger batches",
            ));
        }
        // Only images lie channels last; other ranks are one row of pixels.
        let shape = vec![n, channels, 1, plane.iter().product()];
        let copied = (plane.len() != 2)
            .then(|| Floats { shape, ..input.clone() }.in_order(Order::ChannelsLast));
        let (mut answer, moved) = self.normalise(copied.as_ref().unwrap_or(input), lists, buffers);
        if copied.is_some() {
            answer = Floats { shape: input.shape.clone(), ..answer.in_order(Order::RowMajor) };
        }
        round(&mut answer);
        let [mean, variance] = moved.map(|data| Some(rounded(vec![channels], input.dtype, data)));
        Ok(Some(vec![Some(Value::Floats(answer)), mean, variance]))
    }
}

impl Training {
    /// Rows of channels by their own statistics, and the stored ones moved towards those.
    fn normalise(
        &self,
        rows: &Floats,
        [scale, bias, stored_mean, stored_variance]: [&[f32]; 4],
        buffers: &Buffers,
    ) -> (Floats, [Vec<f32>; 2]) {
        let channels = scale.len();
        let threads = threads_here();
        let [mean, variance] = moments(&rows.data, channels, threads);
        // Normalisation, scale and bias come to one factor and one offset per channel.
        let mut factors = Vec::with_capacity(channels);
        let mut offsets = Vec::with_capacity(channels);
        for c in 0..channels {
            let factor = f64::from(scale[c]) / libm::sqrt(variance[c] + self.epsilon);
            factors.push(factor as f32);
            offsets.push((f64::from(bias[c]) - mean[c] * factor) as f32);
        }
        let mut data = buffers.of(rows.data.len());
        mapped(&rows.data, &mut data, [&factors, &offsets], threads);
        // Running statistics are an exponential moving average, as ONNX defines it.
        let statistics =
            [(stored_mean, &mean), (stored_variance, &variance)].map(|(stored, now)| {
                let pairs = stored.iter().zip(now);
                pairs
                    .map(|(&stored, now)| {
                        (f64::from(stored) * self.momentum + now * (1.0 - self.momentum)) as f32
                    })
                    .collect()
            });
        let shape = rows.shape.clone();
        let order = rows.order;
        let dtype = rows.dtype;
        (Floats { shape, order, dtype, data }, statistics)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::operands::rounded;
    use faultlens_core::DType;

    #[test]
    fn any_number_of_axes_has_the_same_bits() {
        let statistics = [[1.0, -2.0, 0.5], [0.1, 0.2, 0.3], [1.5, 0.0, -1.0], [2.0, 0.1, 1.0]]
            .map(|data| rounded(vec![3], DType::F32, data.to_vec()));
        let data: Vec<f32> = (0..24).map(|i| (i as f32 * 0.7).sin()).collect();
        let norm = BatchNorm { epsilon: 1e-5, affine: None };
        let run = |shape: &[usize]| {
            let input = rounded(shape.to_vec(), DType::F32, data.clone());
            let mut operands = vec![Some(&input)];
            operands.extend(statistics.iter().map(Some));
            let answers = norm.whole(&operands).unwrap().unwrap();
            answers[0].as_ref().unwrap().floats().unwrap().data.clone()
        };
        let wanted = run(&[2, 3, 4]);
        assert_eq!(run(&[2, 3, 2, 2]), wanted);
        assert_eq!(run(&[2, 3, 1, 2, 2]), wanted);
    }
}
