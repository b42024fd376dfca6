//! What can go wrong in the engine, in words that say where and what to do.

use crate::onnx::OnnxError;
use thiserror::Error;

/// An error of the engine. Every message names the operator or value concerned.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The file could not be read as ONNX.
    #[error(transparent)]
    Onnx(#[from] OnnxError),
    /// The graph contradicts itself: a cycle, a value made twice, a value nobody makes.
    #[error("the graph is broken: {0}")]
    Graph(String),
    /// Nobody here can compute this operator.
    #[error("operator {operator} ({op_type}) cannot run: {why}")]
    Unsupported {
        /// The operator's name.
        operator: String,
        /// Its type, with the domain where that is not ONNX's own.
        op_type: String,
        /// What is missing, and what to do.
        why: String,
    },
    /// The operator is known, but its operands or attributes do not fit.
    #[error("operator {operator} ({op_type}): {why}")]
    Operator {
        /// The operator's name.
        operator: String,
        /// Its type.
        op_type: String,
        /// What does not fit.
        why: String,
    },
    /// An input of the model was fed wrongly.
    #[error("input {input}: {why}")]
    Feed {
        /// The input's name.
        input: String,
        /// What is wrong, and what is expected.
        why: String,
    },
    /// That many threads cannot be had.
    #[error("{threads} threads cannot share the work: {why}")]
    Threads {
        /// How many were asked for.
        threads: usize,
        /// What stands in the way.
        why: String,
    },
    /// A gradient that cannot be had.
    #[error("no gradient of {value}: {why}")]
    Gradient {
        /// The value's name.
        value: String,
        /// What is wrong.
        why: String,
    },
    /// A change names something that the golden run does not have.
    #[error("cannot change {value}: {why}")]
    Change {
        /// The value's name.
        value: String,
        /// What is wrong.
        why: String,
    },
}

/// What a kernel says when operands do not fit; the executor adds the operator's name.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
#[error("{0}")]
pub(crate) struct OperandError(pub(crate) String);

impl OperandError {
    pub(crate) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}
