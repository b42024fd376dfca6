//! Which elements a fault of a computing unit takes together.

use faultlens_core::{Parameter, ParameterKind, Setting, SettingError, Settings, Unset};
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
    about: "how many neighbours a run has",
    kind: ParameterKind::Whole { least: 1, most: 1_000_000 },
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
        Ok(match settings.word(PATTERN.name)? {
            "run" => Self::Run(settings.number(LENGTH.name)? as usize),
            "row" => Self::Row,
            "column" => Self::Column,
            "channel" => Self::Channel,
            "kernel" => Self::Kernel,
            "tensor" => Self::Tensor,
            _ => Self::Element,
        })
    }

    /// The elements that are hit together with this one, rising. `elements` are those of one
    /// image where the value is computed, all of them where it is `stored`.
    pub(super) fn around(
        self,
        element: usize,
        shape: &[usize],
        elements: usize,
        stored: bool,
    ) -> Vec<usize> {
        // Elements of everything from an axis on; 1 beyond the last.
        let below = |axis: usize| shape.get(axis..).unwrap_or(&[]).iter().product::<usize>();
        let block = |size: usize| {
            let start = element / size.max(1) * size.max(1);
            (start..(start + size).min(elements)).collect()
        };
        let rank = shape.len();
        match self {
            Self::Element => vec![element],
            // A run that would leave the tensor ends with it.
            Self::Run(length) => {
                let start = element.min(elements.saturating_sub(length));
                (start..(start + length).min(elements)).collect()
            }
            Self::Row => block(below(rank.saturating_sub(1))),
            Self::Column if rank < 2 => vec![element],
            Self::Column => {
                let (width, plane) = (below(rank - 1), below(rank - 2));
                let start = element / plane * plane + element % width;
                (start..(start + plane).min(elements)).step_by(width.max(1)).collect()
            }
            Self::Channel => block(below(2)),
            Self::Kernel => block(below(if stored { 1 } else { 2 })),
            Self::Tensor => (0..elements).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_follow_the_shape() {
        // Two images or kernels, three channels, two rows, four columns: 48 elements.
        let shape = [2, 3, 2, 4];
        let around = |pattern: Pattern, element| pattern.around(element, &shape, 48, true);
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
        let made = Pattern::Kernel.around(10, &shape, 24, false);
        assert_eq!(made, (8..16).collect::<Vec<_>>());
        assert_eq!(Pattern::Tensor.around(1, &shape, 24, false).len(), 24);
    }

    #[test]
    fn short_shapes_have_patterns_too() {
        assert_eq!(Pattern::Column.around(2, &[5], 5, true), [2]);
        assert_eq!(Pattern::Row.around(2, &[5], 5, true), [0, 1, 2, 3, 4]);
        assert_eq!(Pattern::Row.around(0, &[], 1, true), [0]);
        assert_eq!(Pattern::Channel.around(4, &[2, 3], 6, false), [4]);
        assert_eq!(Pattern::Kernel.around(4, &[2, 3], 6, true), [3, 4, 5]);
        assert_eq!(Pattern::Run(16).around(1, &[4], 4, true), [0, 1, 2, 3]);
    }
}
