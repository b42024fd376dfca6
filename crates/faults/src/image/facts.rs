//! What is known of an image fault before it is built.

use super::level::SEVERITY;
use crate::doc;
use faultlens_core::{Hazard, Parameter};

/// What is known of an image fault before it is built.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// The name in campaign files.
    pub name: &'static str,
    /// What it does and when it happens, as two sections with headings.
    pub doc: &'static str,
    /// What goes wrong on the way from the scene to the image, so that users see which hazards a
    /// campaign covers; `None` for controls.
    pub hazard: Option<Hazard>,
    /// Whether it moves what an image shows, so that boxes and masks have to move along; then
    /// `ImageFault::motion` says how.
    pub moves: bool,
    /// What can be set.
    pub parameters: &'static [Parameter],
    /// How far it can be turned up on photographs; `None` where it has no strength.
    pub domain: Option<Domain>,
    /// The same for images of about 32 pixels a side, where it is another one.
    pub small_domain: Option<Domain>,
}

impl Facts {
    /// A fault without a hazard, settings or strength that leaves everything in its place: what a
    /// fault has to state only where it differs (`..Facts::DEFAULT`).
    pub const DEFAULT: Self = Self {
        name: "",
        doc: "",
        hazard: None,
        moves: false,
        parameters: &[],
        domain: None,
        small_domain: None,
    };

    /// What the fault does, in full.
    pub const fn what(&self) -> &'static str {
        doc::what(self.doc)
    }

    /// What the fault does, in one sentence without a full stop.
    pub const fn about(&self) -> &'static str {
        doc::about(self.doc)
    }

    /// When the fault happens, without the last full stop.
    pub const fn when(&self) -> &'static str {
        doc::when(self.doc)
    }

    /// Whether it has severities from 1 to 5.
    pub fn has_severity(&self) -> bool {
        self.parameters.iter().any(|parameter| parameter.name == SEVERITY.name)
    }

    /// How far it can be turned up; `None` where it has no strength. On `small` images, about 32
    /// pixels a side, the weak end of the range for photographs would already leave nothing.
    pub fn domain(&self, small: bool) -> Option<&Domain> {
        let own = if small { self.small_domain.as_ref() } else { None };
        own.or(self.domain.as_ref())
    }
}

/// The strengths of a fault, from weak to strong. Severities are five points of it; a search for
/// the strength at which an answer breaks needs all that lies between.
///
/// Ranges without a source of their own run from the untouched image, or near to it, to severity 5.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Domain {
    /// The numbers that change; together they set everything that a severity would.
    pub ranges: &'static [Range],
    /// Whether one position holds for all numbers; otherwise each has its own.
    pub together: bool,
}

impl Domain {
    /// Numbers that go from weak to strong together.
    pub const fn together(ranges: &'static [Range]) -> Self {
        Self { ranges, together: true }
    }

    /// Numbers that each go their own way.
    pub const fn apart(ranges: &'static [Range]) -> Self {
        Self { ranges, together: false }
    }
}

/// The range of one number of a fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// The number's name among the fault's parameters.
    pub parameter: &'static str,
    /// The weakest value, nearest to the untouched image.
    pub from: f64,
    /// The strongest value; below `from` where less is stronger.
    pub to: f64,
    /// Whether the fault ignores the fractional part, so that a recorded fraction would be one
    /// that no image has met.
    pub whole: bool,
}

impl Range {
    /// The range of a number.
    pub const fn new(parameter: &'static str, from: f64, to: f64) -> Self {
        Self { parameter, from, to, whole: false }
    }

    /// The range of a number whose fractional part the fault ignores.
    pub const fn whole(parameter: &'static str, from: f64, to: f64) -> Self {
        Self { parameter, from, to, whole: true }
    }

    /// The number at a position from 0 (weak) to 1 (strong).
    pub fn at(&self, position: f64) -> f64 {
        // Linear interpolation in the form that is exact at both ends.
        let exact = self.from * (1.0 - position) + self.to * position;
        if self.whole { exact.round() } else { exact }
    }
}
