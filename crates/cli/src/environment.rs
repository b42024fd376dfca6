//! Variables of the environment that the command knows, checked before anything runs.

use anyhow::{Context, bail};
use faultlens::engine::ISA_NAMES;

/// The variable that asks for lesser instructions of the processor.
const ISA: &str = "FAULTLENS_ISA";

/// Refuses values that would be ignored in silence.
pub(crate) fn check() -> anyhow::Result<()> {
    let Some(asked) = std::env::var_os(ISA) else { return Ok(()) };
    let names = ISA_NAMES.join(", ");
    let asked = asked.to_str().with_context(|| format!("{ISA} takes one of {names}"))?;
    if !asked.is_empty() && !ISA_NAMES.contains(&asked) {
        bail!("{ISA} is {asked:?}; it takes one of {names}");
    }
    Ok(())
}
