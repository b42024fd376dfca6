//! How much one inference may ask for. A model of a stranger, or a fault in a shape, can ask for
//! all memory and all time with a file of a few bytes; every operator is measured before it runs,
//! foreign ones too, and refused by name.

mod growth;

use crate::error::OperandError;
use crate::value::Value;
pub(crate) use growth::{Call, Growth};
use std::sync::OnceLock;

/// The variable that raises the limit of memory, in GiB.
const VARIABLE: &str = "FAULTLENS_INFERENCE_GIB";
const GIB: u64 = 1 << 30;
/// Axes of one value: more than any model has, and few enough for loops over axes.
const MAX_RANK: usize = 64;
/// What honest models make of an input is in proportion to it: feature maps of all layers together
/// take some 100 times its bytes,
const PER_INPUT_BYTE: f64 = 256.0;
/// and weights that are stored in few bits become floats.
const PER_WEIGHT_BYTE: f64 = 16.0;
/// Elements of one value for each that is fed or stored: a map of 4,096 channels as large as the
/// input, or a picture from a vector and the weights that draw it.
const PER_ELEMENT: f64 = 4096.0;

/// The limits of one inference: elements, bytes and turns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Budget {
    /// Elements of one value; an axis of length zero counts as one, so that no product of lengths
    /// is ever larger.
    pub elements: u64,
    /// What a small input and few weights lower `elements` to: 4,096 for each element that is fed or
    /// stored, but no less than this. Otherwise a tiny file could ask for much time.
    pub min_elements: u64,
    /// Bytes of all values that are held at one time, with what an operator needs beside them.
    pub bytes: u64,
    /// What large inputs and weights can raise `bytes` to: 256 bytes for each byte that is fed, and
    /// 16 for each byte of weights.
    pub max_bytes: u64,
    /// Turns of all loops of one inference together.
    pub turns: u64,
}

impl Default for Budget {
    /// 2²⁴ up to 2²⁸ elements (1 GiB of floats), 1.5 GiB up to 8 GiB, 16,384 turns.
    fn default() -> Self {
        Self {
            elements: 1 << 28,
            min_elements: 1 << 24,
            bytes: 3 * GIB / 2,
            max_bytes: 8 * GIB,
            turns: 1 << 14,
        }
    }
}

impl Budget {
    /// The default, unless `FAULTLENS_INFERENCE_GIB` raises it.
    pub fn from_environment() -> Self {
        static ONCE: OnceLock<Budget> = OnceLock::new();
        *ONCE.get_or_init(|| {
            let asked = std::env::var(VARIABLE).ok().and_then(|text| text.trim().parse().ok());
            asked.map_or_else(Self::default, Self::of_gib)
        })
    }

    /// A budget of this much memory; never less than the default.
    pub fn of_gib(gib: f64) -> Self {
        let default = Self::default();
        // A saturating cast: more than there can be is as good as no limit.
        let bytes = (gib * GIB as f64) as u64;
        let elements = default.elements.max(bytes.min(1 << 40) / 4);
        if bytes <= default.bytes {
            return default;
        }
        Self {
            elements,
            // Whoever asks for more knows the model.
            min_elements: elements,
            bytes: default.bytes.max(bytes),
            max_bytes: default.max_bytes.max(bytes),
            ..default
        }
    }

    /// The meter of an inference that is fed so many bytes, by a model with so many bytes of
    /// weights.
    pub(crate) fn meter(&self, fed: u64, weights: u64) -> Meter {
        let given = (fed as f64 * PER_INPUT_BYTE).max(weights as f64 * PER_WEIGHT_BYTE);
        let bytes = given.clamp(self.bytes as f64, self.max_bytes as f64);
        let elements = PER_ELEMENT * (fed as f64 + weights as f64) / 4.0;
        let elements = elements.clamp(self.min_elements as f64, self.elements as f64);
        Meter { elements, bytes, turns: self.turns, held: fed as f64 }
    }
}

/// What one inference has left. Sizes are floats: they are estimates, and have no overflow.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Meter {
    elements: f64,
    bytes: f64,
    turns: u64,
    /// Bytes of the values that are held now.
    pub(crate) held: f64,
}

impl Meter {
    /// Refuses an answer of too many elements, or one for which, with `beside` bytes more, there is
    /// no room.
    pub(crate) fn admit(&self, elements: f64, width: f64, beside: f64) -> Result<(), OperandError> {
        // An estimate that is not a number comes of numbers that no size has.
        if elements.is_nan() || elements > self.elements {
            return Err(OperandError::new(format!(
                "it would make {elements:.0} elements, and at most {:.0} are computed; {}",
                self.elements,
                advice()
            )));
        }
        let bytes = self.held + elements * width + beside;
        if bytes > self.bytes {
            return Err(OperandError::new(format!(
                "with it, the inference would take {:.1} GiB, and at most {:.1} are given to one; {}",
                bytes / GIB as f64,
                self.bytes / GIB as f64,
                advice()
            )));
        }
        Ok(())
    }

    /// Refuses a shape that no value may have, and answers how many elements it has.
    pub(crate) fn shape(&self, shape: &[usize]) -> Result<usize, OperandError> {
        if shape.len() > MAX_RANK {
            return Err(OperandError::new(format!(
                "its answer would have {} axes, and at most {MAX_RANK} are computed",
                shape.len()
            )));
        }
        let product: f64 = shape.iter().map(|&length| length.max(1) as f64).product();
        if product > self.elements {
            return Err(OperandError::new(format!(
                "its answer of shape {shape:?} would hold more than {:.0} elements; {}",
                self.elements,
                advice()
            )));
        }
        Ok(shape.iter().product())
    }

    /// Checks an answer that is there, and counts it as held.
    pub(crate) fn hold(&mut self, value: &Value) -> Result<(), OperandError> {
        self.shape(value.shape())?;
        self.held += bytes_of(value);
        Ok(())
    }

    /// No longer holds a value.
    pub(crate) fn release(&mut self, value: &Value) {
        self.held = (self.held - bytes_of(value)).max(0.0);
    }

    /// Takes one turn of a loop.
    pub(crate) fn turn(&mut self) -> Result<(), OperandError> {
        self.turns = self.turns.checked_sub(1).ok_or_else(|| {
            OperandError::new("it would turn more often than all loops of one inference may")
        })?;
        Ok(())
    }
}

fn advice() -> String {
    format!("if the model is meant to be that large, set {VARIABLE}")
}

/// Bytes that a value takes in memory.
pub(crate) fn bytes_of(value: &Value) -> f64 {
    match value {
        // Floats of any width lie in memory as `f32`.
        Value::Floats(floats) => floats.data.len() as f64 * 4.0,
        Value::Other(tensor) => tensor.len() as f64 * tensor.dtype().size() as f64,
        Value::Sequence(list) => growth::listed(list) * 4.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_follow_what_is_given_between_two_ends() {
        let budget = Budget::default();
        let limit = |fed: u64, weights: u64| budget.meter(fed, weights).bytes / GIB as f64;
        // 224×224 and 1280×1280 pixels, and a hostile size.
        assert_eq!(limit(602_112, 20 << 20), 1.5);
        assert!((4.6..4.8).contains(&limit(19_660_800, 0)));
        assert_eq!(limit(256 << 20, 0), 8.0);
        assert_eq!(limit(0, 400 << 20), 6.25);
        assert_eq!(Budget::of_gib(32.0).meter(0, 0).bytes, 32.0 * GIB as f64);
        assert_eq!(Budget::of_gib(0.1), budget);
        assert_eq!(Budget::of_gib(f64::INFINITY).bytes, u64::MAX);
    }

    #[test]
    fn what_is_too_large_is_refused() {
        assert!(Budget::default().meter(0, 0).admit(2e7, 4.0, 0.0).is_err());
        assert!(Budget::default().meter(602_112, 0).admit(2e7, 4.0, 0.0).is_ok());
        let mut meter = Budget::default().meter(602_112, 0);
        assert!(meter.admit(1e6, 4.0, 0.0).is_ok());
        for (elements, width, beside) in
            [(f64::NAN, 4.0, 0.0), (f64::INFINITY, 4.0, 0.0), (2e8, 16.0, 0.0), (1.0, 4.0, 2e9)]
        {
            let error = meter.admit(elements, width, beside).unwrap_err();
            assert!(error.0.contains(VARIABLE), "{error}");
        }
        assert_eq!(meter.shape(&[0, 3]).unwrap(), 0);
        // Nothing is in it, but lengths of such values overflow when they are multiplied.
        assert!(meter.shape(&[1 << 62, 0]).is_err());
        assert!(meter.shape(&[1; 65]).is_err());
        for _ in 0..1 << 14 {
            meter.turn().unwrap();
        }
        assert!(meter.turn().is_err());
    }
}
