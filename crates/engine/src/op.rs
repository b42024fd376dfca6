//! What an operator is to those who run it: the whole of it, or any pixels of its output.

use crate::buffers::Buffers;
use crate::error::OperandError;
use crate::kernels::elementwise::{Binary, Unary};
use crate::kernels::grid::{Order, Region, Spot};
use crate::value::Value;
use std::ops::Range;
use std::sync::Arc;

/// An operator with its attributes parsed and its constant operands prepared.
pub(crate) trait Op: Send + Sync {
    /// The order in which it wants a float operand of rank 4.
    fn wants(&self, _operand: usize) -> Wants {
        Wants::RowMajor
    }

    /// The same operator with its constant operands prepared once (weights packed). Operands that
    /// are not constant are `None`.
    fn prepack(&self, _constants: &[Option<&Value>]) -> Result<Option<Box<dyn Op>>, OperandError> {
        Ok(None)
    }

    /// The same operator with single elements of its prepacked constants replaced, and the output
    /// channels that can differ; `None` where it must be prepacked from whole constants.
    fn repack(&self, _edits: &[Edit<'_>]) -> Option<Repacked> {
        None
    }

    /// The pixel-wise form for these operands, where there is one.
    fn local<'a>(
        &'a self,
        _operands: &[Option<&'a Value>],
    ) -> Result<Option<Box<dyn Local + 'a>>, OperandError> {
        Ok(None)
    }

    /// The same as [`Op::whole`], for operators that make large values again and again: into memory
    /// of earlier runs.
    fn whole_in(
        &self,
        operands: &[Option<&Value>],
        _buffers: &Buffers,
    ) -> Result<Option<Vec<Option<Value>>>, OperandError> {
        self.whole(operands)
    }

    /// All outputs from whole operands; `None` hands over to rten.
    fn whole(
        &self,
        _operands: &[Option<&Value>],
    ) -> Result<Option<Vec<Option<Value>>>, OperandError> {
        Ok(None)
    }

    /// The function of elements that the operator is, so that it can follow another in one pass.
    fn elementwise(&self) -> Option<&Elementwise> {
        None
    }
}

/// Replaced elements of one prepacked operand, counted as ONNX does.
pub(crate) struct Edit<'a> {
    pub(crate) operand: usize,
    pub(crate) elements: &'a [(usize, f32)],
}

/// An operator prepared for changed constants.
pub(crate) struct Repacked {
    pub(crate) op: Box<dyn Op>,
    /// Output channels outside of which nothing can differ while the data operand is golden.
    pub(crate) channels: Range<usize>,
}

/// The order in which an operator wants its float operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    /// Channels last if any operand is, as ONNX counts otherwise.
    Alike,
    /// Channels last, where the rank is 4.
    ChannelsLast,
    /// As ONNX counts.
    RowMajor,
}

/// An operator bound to its operands' shapes, that can compute any pixels of its output alone.
pub(crate) trait Local: Sync {
    /// The output's shape.
    fn shape(&self) -> &[usize];

    /// The output's order in memory: channels last, unless it is no plane.
    fn order(&self) -> Order {
        Order::ChannelsLast
    }

    /// Which operands are read pixel by pixel, in the order of a spot's sources: mostly the first
    /// alone.
    fn sources(&self) -> &[usize] {
        &[0]
    }

    /// The output pixels that a changed region of one source can reach.
    fn reach(&self, source: usize, region: Region) -> Region;

    /// Computes the spots' values in `channels`. An implementation writes no further than the
    /// channels of its shape, and checks what it reads: sources may be of any size.
    ///
    /// # Safety
    /// Every spot's `out` must be writable for all channels of the shape's grid, and no two spots
    /// may share one.
    #[expect(unsafe_code, reason = "spots are written through pointers; see kernels")]
    unsafe fn compute(&self, spots: &[Spot<'_>], channels: Range<usize>);

    /// Multiples at which channels may be shared out between threads, if at all.
    fn channel_step(&self) -> Option<usize> {
        None
    }
}

/// What is done to each element.
#[derive(Debug, Clone)]
pub(crate) enum Function {
    /// A function of the element.
    Unary(Unary),
    /// A function of the element and one of another operand.
    Binary(Binary),
    /// A factor and an offset per channel.
    Affine {
        /// Per channel.
        factor: Arc<[f32]>,
        /// Per channel.
        offset: Arc<[f32]>,
    },
}

/// An element-wise operator: a function, and which operands it reads.
#[derive(Debug, Clone)]
pub(crate) struct Elementwise {
    pub(crate) function: Function,
}
