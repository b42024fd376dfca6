//! Errors in the order for a network.

use thiserror::Error;

/// What can be wrong with the order for a network.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum ArchitectureError {
    /// No architecture has this name.
    #[error("no architecture is called {name:?}; {hint}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// A name that exists.
        hint: String,
    },
    /// The options behind the name cannot be read.
    #[error("{name} takes {wanted}, and {text:?} is not that; write it as in {example:?}")]
    Options {
        /// The architecture.
        name: &'static str,
        /// What it takes.
        wanted: String,
        /// What it was given.
        text: String,
        /// An order that is right.
        example: String,
    },
    /// A network without inputs or outputs.
    #[error("{name} was ordered with 0 {what}; ask for at least 1")]
    Empty {
        /// The architecture.
        name: &'static str,
        /// What there is none of.
        what: &'static str,
    },
    /// Nothing would be left of the image on its way through the layers.
    #[error(
        "images of {height}×{width} pixels are too small for {name}; \
         the smallest it takes are {smallest}×{smallest}"
    )]
    TooSmall {
        /// The architecture.
        name: &'static str,
        /// The image's height.
        height: usize,
        /// The image's width.
        width: usize,
        /// The shortest side that works.
        smallest: usize,
    },
    /// Halving would leave half pixels.
    #[error(
        "{name} takes images whose sides are multiples of {of}, and {height}×{width} are not; \
         resize or pad them"
    )]
    NotMultiple {
        /// The architecture.
        name: &'static str,
        /// The image's height.
        height: usize,
        /// The image's width.
        width: usize,
        /// What both sides must be multiples of.
        of: usize,
    },
}
