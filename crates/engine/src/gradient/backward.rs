//! What a rule is given: an operator's operands and results, and its results' gradients.

use crate::buffers::Buffers;
use crate::error::OperandError;
use crate::kernels::elementwise::{pairs, triples};
use crate::kernels::grid::{Floats, Order};
use crate::ops::Attributes;
use crate::value::{Slot, Value};
use faultlens_core::DType;
use rayon::prelude::*;

/// Elements that one thread works on at a time.
pub(super) const CHUNK: usize = 1 << 14;

/// One operator on the way back.
pub(crate) struct Backward<'a> {
    pub(crate) attributes: Attributes<'a>,
    pub(crate) operands: Vec<Option<&'a Slot>>,
    pub(crate) results: Vec<Option<&'a Slot>>,
    /// The results' gradients; `None` where nothing depends on the result.
    pub(crate) incoming: Vec<Option<Floats>>,
    /// For each operand, whether anybody wants its gradient.
    pub(crate) wanted: Vec<bool>,
    pub(crate) threads: usize,
    pub(crate) buffers: &'a Buffers,
}

impl<'a> Backward<'a> {
    /// Whether anybody wants the gradient of an operand.
    pub(crate) fn wants(&self, operand: usize) -> bool {
        self.wanted.get(operand).copied().unwrap_or(false)
    }

    /// Gradients of all operands, of which only this one has any.
    pub(crate) fn only(&self, operand: usize, gradient: Floats) -> Vec<Option<Floats>> {
        let mut all: Vec<Option<Floats>> = self.operands.iter().map(|_| None).collect();
        all[operand] = Some(gradient);
        all
    }

    /// An operand that may have been left out, as it lies in memory.
    pub(crate) fn operand(&self, at: usize) -> Option<&'a Value> {
        self.operands.get(at).copied().flatten().map(|slot| &slot.value)
    }

    /// All operands, as the operator's own code reads them.
    pub(crate) fn values(&self) -> Vec<Option<&'a Value>> {
        (0..self.operands.len()).map(|at| self.operand(at)).collect()
    }

    /// A float operand in an order of the rule's choice.
    pub(crate) fn floats(&self, at: usize, order: Order) -> Result<&'a Floats, OperandError> {
        in_order(&self.operands, at, order)
            .ok_or_else(|| OperandError::new(format!("operand {at} must be floats for a gradient")))
    }

    /// A float result in an order of the rule's choice.
    pub(crate) fn result(&self, at: usize, order: Order) -> Result<&'a Floats, OperandError> {
        in_order(&self.results, at, order)
            .ok_or_else(|| OperandError::new(format!("result {at} must be floats for a gradient")))
    }

    /// The shape of an operand that is present.
    pub(crate) fn shape(&self, at: usize) -> Result<&'a [usize], OperandError> {
        self.operand(at)
            .map(Value::shape)
            .ok_or_else(|| OperandError::new(format!("operand {at} is missing")))
    }

    /// The order in which an operand lies, and so costs nothing to have.
    pub(crate) fn operand_order(&self, at: usize) -> Order {
        own_order(&self.operands, at)
    }

    /// The order in which a result lies, and so costs nothing to have.
    pub(crate) fn result_order(&self, at: usize) -> Order {
        own_order(&self.results, at)
    }

    /// Takes the gradient of a result, in the order in which it lies.
    pub(crate) fn gradient(&mut self, at: usize) -> Option<Floats> {
        self.incoming.get_mut(at)?.take()
    }

    /// Takes the gradient of the first result, in the order in which it lies. Rules only run where
    /// some result has one; an operator with several results asks for each.
    pub(crate) fn only_gradient(&mut self) -> Result<Floats, OperandError> {
        self.gradient(0).ok_or_else(|| OperandError::new("its result has no gradient"))
    }

    /// Takes the gradient of the first result, in an order of the rule's choice.
    pub(crate) fn gradient_in(&mut self, order: Order) -> Result<Floats, OperandError> {
        Ok(ordered(self.only_gradient()?, order))
    }

    /// Combines two rows into the first, shared out between the threads.
    pub(crate) fn pairs(
        &self,
        row: &mut [f32],
        other: &[f32],
        f: impl Fn(f32, f32) -> f32 + Copy + Sync,
    ) {
        if self.threads == 1 || row.len() <= CHUNK {
            return pairs(row, other, f);
        }
        let chunks = row.par_chunks_mut(CHUNK).zip(other.par_chunks(CHUNK));
        chunks.for_each(|(row, other)| pairs(row, other, f));
    }

    /// Combines three rows into the first, shared out between the threads.
    pub(crate) fn triples(
        &self,
        row: &mut [f32],
        [a, b]: [&[f32]; 2],
        f: impl Fn(f32, f32, f32) -> f32 + Copy + Sync,
    ) {
        if self.threads == 1 || row.len() <= CHUNK {
            return triples(row, a, b, f);
        }
        let chunks = row.par_chunks_mut(CHUNK).zip(a.par_chunks(CHUNK)).zip(b.par_chunks(CHUNK));
        chunks.for_each(|((row, a), b)| triples(row, a, b, f));
    }

    /// Works on each row of `length` elements, given its number, shared out between the threads.
    pub(crate) fn rows(
        &self,
        data: &mut [f32],
        length: usize,
        each: impl Fn(usize, &mut [f32]) + Sync,
    ) {
        let length = length.max(1);
        if self.threads == 1 || data.len() <= CHUNK {
            return data.chunks_exact_mut(length).enumerate().for_each(|(at, row)| each(at, row));
        }
        let rows = data.par_chunks_exact_mut(length).with_min_len(CHUNK.div_ceil(length));
        rows.enumerate().for_each(|(at, row)| each(at, row));
    }

    /// A copy in memory that the pass uses again.
    pub(crate) fn copy(&self, values: &[f32]) -> Vec<f32> {
        let mut copy = self.buffers.of(values.len());
        copy.copy_from_slice(values);
        copy
    }

    /// Memory for `length` values, with whatever it last held.
    pub(crate) fn buffer(&self, length: usize) -> Vec<f32> {
        self.buffers.of(length)
    }

    /// Memory for `length` zeros.
    pub(crate) fn zeros(&self, length: usize) -> Vec<f32> {
        let mut buffer = self.buffers.of(length);
        buffer.fill(0.0);
        buffer
    }

    /// Gives memory back that the rule no longer needs.
    pub(crate) fn recycle(&self, floats: Floats) {
        self.buffers.give(floats.data);
    }
}

/// A gradient: floats of 32 bits, whatever the model stores.
pub(crate) fn gradient(shape: &[usize], order: Order, data: Vec<f32>) -> Floats {
    Floats { shape: shape.to_vec(), order, dtype: DType::F32, data }
}

/// The same floats in another order, if their rank allows.
pub(crate) fn ordered(floats: Floats, order: Order) -> Floats {
    if floats.order == order || floats.shape.len() != 4 { floats } else { floats.in_order(order) }
}

fn own_order(slots: &[Option<&Slot>], at: usize) -> Order {
    let slot = slots.get(at).copied().flatten();
    slot.and_then(|slot| slot.value.floats()).map_or(Order::RowMajor, |floats| floats.order)
}

fn in_order<'a>(slots: &[Option<&'a Slot>], at: usize, order: Order) -> Option<&'a Floats> {
    let slot = slots.get(at).copied().flatten()?;
    let floats = slot.value.floats()?;
    // Lower ranks have one order only.
    if floats.shape.len() == 4 { slot.in_order(order).floats() } else { Some(floats) }
}
