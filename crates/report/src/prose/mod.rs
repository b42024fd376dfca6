//! The sentences of a campaign's report: one file per concern, each from typed facts to English.
//!
//! The crate `analysis` decides what holds; what readers see is written here, for every format.

pub(crate) mod checks;
mod comparison;
pub(crate) mod detection;
mod findings;
pub(crate) mod groups;
pub(crate) mod measures;
pub(crate) mod method;
pub(crate) mod preserve;
mod recommendations;
pub(crate) mod scenes;
mod warnings;

pub use checks::{measured, pin_reason, requirement_reason};
pub use comparison::{comparison_test, comparison_warnings};
pub(crate) use findings::family_name;
pub use findings::findings;
pub use preserve::{
    batch_rule, preserved_name, preserved_reason, preserved_scores, tolerance_ends,
};
pub use recommendations::recommendations;
pub use warnings::warnings;
