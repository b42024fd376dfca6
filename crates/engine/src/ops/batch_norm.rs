//! `BatchNormalization` at inference: a factor and an offset per channel.

use super::elementwise::{Elementwise, Function};
use super::operands::{Answers, floats, one, required};
use super::{Attributes, Local, Op, Wants};
use crate::error::Misfit;
use crate::kernels::grid::{Floats, Order};
use crate::step::run_alone;
use crate::value::Value;

struct BatchNorm {
    epsilon: f32,
    /// Statistics folded into factors and offsets, once they are known.
    affine: Option<Elementwise>,
}

pub(super) fn parse(attributes: &Attributes<'_>) -> Result<Option<Box<dyn Op>>, Misfit> {
    if attributes.arity().1 > 1 || attributes.int("training_mode", 0) != 0 {
        return Err(Misfit::new("it computes statistics; export the model for inference"));
    }
    Ok(Some(Box::new(BatchNorm { epsilon: attributes.float("epsilon", 1e-5), affine: None })))
}

impl BatchNorm {
    fn affine(&self, operands: &[Option<&Value>]) -> Result<Elementwise, Misfit> {
        let mut lists = [[].as_slice(); 4];
        for (at, list) in lists.iter_mut().enumerate() {
            let wanted = || Misfit::new("it needs a scale, a bias, a mean and a variance");
            *list = &floats(operands, at + 1)?.ok_or_else(wanted)?.data;
        }
        let [scale, bias, mean, variance] = lists;
        let n = scale.len();
        if lists.iter().any(|list| list.len() != n) {
            return Err(Misfit::new("its scale, bias, mean and variance differ in length"));
        }
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

    fn bake(&self, constants: &[Option<&Value>]) -> Result<Option<Box<dyn Op>>, Misfit> {
        if constants.len() < 5 || constants[1..5].iter().any(Option::is_none) {
            return Ok(None);
        }
        let affine = Some(self.affine(constants)?);
        Ok(Some(Box::new(Self { epsilon: self.epsilon, affine })))
    }

    fn local<'a>(
        &'a self,
        operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, Misfit> {
        match &self.affine {
            Some(affine) => affine.local(&operands[..1]),
            None => Ok(None),
        }
    }

    /// Statistics that are not constant, or other than two axes per image.
    fn whole(&self, operands: &[Option<&Value>]) -> Answers {
        let Some(input) = required(operands, 0)?.floats() else { return Ok(None) };
        let misfit = || Misfit::new(format!("statistics do not fit {:?}", input.shape));
        let &[n, channels, ref plane @ ..] = input.shape.as_slice() else { return Err(misfit()) };
        let affine = match &self.affine {
            Some(affine) => affine.clone(),
            None => self.affine(operands)?,
        };
        let plain = input.in_order(Order::RowMajor);
        let image = Floats { shape: vec![n, channels, 1, plane.iter().product()], ..plain };
        let image = Value::Floats(image.in_order(Order::ChannelsLast));
        let Some(Value::Floats(answer)) = run_alone(&affine, &[Some(&image)])? else {
            return Err(misfit());
        };
        let answer = answer.in_order(Order::RowMajor);
        one(Value::Floats(Floats { shape: input.shape.clone(), ..answer }))
    }

    fn elementwise(&self) -> Option<&Elementwise> {
        self.affine.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::operands::rounded;
    use faultlens_core::DType;

    #[test]
    fn any_number_of_axes_has_the_same_bits() {
        let list = |data: [f32; 3]| rounded(vec![3], DType::F32, data.to_vec());
        let statistics =
            [[1.0, -2.0, 0.5], [0.1, 0.2, 0.3], [1.5, 0.0, -1.0], [2.0, 0.1, 1.0]].map(list);
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
