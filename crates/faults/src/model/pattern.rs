//! Which elements a fault of a computing unit takes together.

use faultlens_core::{Parameter, ParameterKind, Setting, SettingError, Settings, Unset};
use faultlens_engine::Operator;
use std::borrow::Cow;

pub(super) const PATTERN: Parameter = Parameter {
    name: "pattern",
    about: "what is hit around each drawn element: only itself; a run of neighbours in memory; its \
            row, its column or its channel (a plane of an output, the taps of one input in a \
            kernel); the whole kernel that the weight belongs to, or all that one kernel makes; or \
            the whole tensor",
    kind: ParameterKind::Choice(&[
        "element", "run", "row", "column", "channel", "kernel", "tensor",
    ]),
    unset: Unset::Is(Setting::Word(Cow::Borrowed("element"))),
};

pub(super) const LENGTH: Parameter = Parameter {
    name: "length",
    about: "number of elements in a run",
    kind: ParameterKind::Whole { min: 1, max: 1_000_000 },
    unset: Unset::Is(Setting::Number(16.0)),
};

/// What is hit together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    Element,
    Run(usize),
    Row,
    Column,
    Channel,
    Kernel,
    Tensor,
}

impl Pattern {
    pub(super) fn set_in(settings: &Settings) -> Result<Self, SettingError> {
        let word = settings.word(PATTERN.name)?;
        let length = settings.number(LENGTH.name)?;
        if word != "run" && LENGTH.unset != Unset::Is(Setting::Number(length)) {
            return Err(SettingError("length needs pattern: run".to_owned()));
        }
        Ok(match word {
            "run" => Self::Run(length as usize),
            "row" => Self::Row,
            "column" => Self::Column,
            "channel" => Self::Channel,
            "kernel" => Self::Kernel,
            "tensor" => Self::Tensor,
            _ => Self::Element,
        })
    }

    /// The elements that are hit together with this one, rising. `elements` are those of one
    /// image where the value is computed, all of them where it is stored; `kernels` is the axis
    /// along which kernels lie, see [`kernel_axis`].
    pub(super) fn around(
        self,
        element: usize,
        shape: &[usize],
        elements: usize,
        kernels: usize,
    ) -> Vec<usize> {
        let rank = shape.len();
        match self {
            Self::Element => vec![element],
            // A run that would leave the tensor ends with it.
            Self::Run(length) => {
                let start = element.min(elements.saturating_sub(length));
                (start..(start + length).min(elements)).collect()
            }
            Self::Row => {
                let width = elements_from(shape, rank.saturating_sub(1));
                block(element, width, elements).collect()
            }
            Self::Column if rank < 2 => vec![element],
            Self::Column => {
                let width = elements_from(shape, rank - 1);
                let plane = elements_from(shape, rank - 2);
                let start = element / plane * plane + element % width;
                (start..(start + plane).min(elements)).step_by(width.max(1)).collect()
            }
            Self::Channel => block(element, elements_from(shape, 2), elements).collect(),
            Self::Kernel => {
                let all = elements_from(shape, kernels).max(1);
                let each = elements_from(shape, kernels + 1).max(1);
                let own = element % all / each;
                (0..elements).filter(|&other| other % all / each == own).collect()
            }
            Self::Tensor => (0..elements).collect(),
        }
    }
}

/// The number of elements of everything from an axis on; 1 beyond the last axis.
fn elements_from(shape: &[usize], axis: usize) -> usize {
    shape.get(axis..).unwrap_or(&[]).iter().product()
}

/// The elements of the block of a size that an element lies in.
fn block(element: usize, size: usize, elements: usize) -> std::ops::Range<usize> {
    let start = element / size.max(1) * size.max(1);
    start..(start + size).min(elements)
}

/// Along which axis of a value the kernels of its operator lie, one index for each: all that is
/// stored for one kernel, or all that one kernel makes.
pub(super) fn kernel_axis(operator: &Operator, stored: bool, rank: usize) -> usize {
    let mut attributes = operator.attributes.iter();
    let transposed = attributes.any(|attribute| attribute.name == "transB" && attribute.i != 0);
    let last = rank.saturating_sub(1);
    match operator.op_type.as_str() {
        "Gemm" | "QGemm" if stored && transposed => 0,
        kind if kind.contains("MatMul") || kind.contains("Gemm") => last,
        "ConvTranspose" => last.min(1),
        _ if stored => 0,
        _ => last.min(1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_follow_the_shape() {
        // Two images or kernels, three channels, two rows, four columns: 48 elements.
        let shape = [2, 3, 2, 4];
        let around = |pattern: Pattern, element| pattern.around(element, &shape, 48, 0);
        // Element 30 is image 1, channel 0, row 1, column 2.
        assert_eq!(around(Pattern::Element, 30), [30]);
        assert_eq!(around(Pattern::Row, 30), [28, 29, 30, 31]);
        assert_eq!(around(Pattern::Column, 30), [26, 30]);
        assert_eq!(around(Pattern::Channel, 30), (24..32).collect::<Vec<_>>());
        assert_eq!(around(Pattern::Kernel, 30), (24..48).collect::<Vec<_>>());
        assert_eq!(around(Pattern::Run(16), 30), (30..46).collect::<Vec<_>>());
        assert_eq!(around(Pattern::Run(16), 40), (32..48).collect::<Vec<_>>());
        assert_eq!(around(Pattern::Tensor, 3).len(), 48);
        // What one kernel makes is a channel; only the first image is hit.
        let made = Pattern::Kernel.around(10, &shape, 24, 1);
        assert_eq!(made, (8..16).collect::<Vec<_>>());
        assert_eq!(Pattern::Tensor.around(1, &shape, 24, 1).len(), 24);
    }

    #[test]
    fn short_shapes_have_patterns_too() {
        assert_eq!(Pattern::Column.around(2, &[5], 5, 0), [2]);
        assert_eq!(Pattern::Row.around(2, &[5], 5, 0), [0, 1, 2, 3, 4]);
        assert_eq!(Pattern::Row.around(0, &[], 1, 0), [0]);
        assert_eq!(Pattern::Channel.around(4, &[2, 3], 6, 1), [4]);
        assert_eq!(Pattern::Kernel.around(4, &[2, 3], 6, 0), [3, 4, 5]);
        // A matrix of three inputs and two outputs: the column is what one output is made with.
        assert_eq!(Pattern::Kernel.around(3, &[3, 2], 6, 1), [1, 3, 5]);
        assert_eq!(Pattern::Kernel.around(2, &[5], 5, 0), [2]);
        assert_eq!(Pattern::Kernel.around(0, &[], 1, 0), [0]);
        assert_eq!(Pattern::Run(16).around(1, &[4], 4, 0), [0, 1, 2, 3]);
    }
}
