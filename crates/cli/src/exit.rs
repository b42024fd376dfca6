//! What the exit status means, for scripts and continuous integration.

/// Success; every requirement is met.
pub(crate) const OK: u8 = 0;
/// A requirement is not met.
pub(crate) const NOT_MET: u8 = 1;
/// Wrong usage or input; standard error has the reason.
pub(crate) const INPUT: u8 = 2;
/// The evidence does not suffice for a verdict, or a run has left trials open.
pub(crate) const INCONCLUSIVE: u8 = 3;
/// The user interrupted a run; run the same command to resume.
pub(crate) const INTERRUPTED: u8 = 130;
