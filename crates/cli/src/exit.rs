//! What the exit status means, for scripts and continuous integration.

/// All that was asked for was done; every requirement is met.
pub(crate) const OK: u8 = 0;
/// A requirement is not met.
pub(crate) const NOT_MET: u8 = 1;
/// The command, a file or an image is at fault; standard error says which and why.
pub(crate) const INPUT: u8 = 2;
/// The evidence does not suffice for a verdict.
pub(crate) const INCONCLUSIVE: u8 = 3;
/// The user interrupted a run; what was recorded is safe, run the same command to resume.
pub(crate) const INTERRUPTED: u8 = 130;
