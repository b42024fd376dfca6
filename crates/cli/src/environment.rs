//! Variables of the environment that the command knows, checked before anything runs.

use anyhow::{Context, bail};
use faultlens::engine::ISA_NAMES;

/// The variable that asks for lesser instructions of the processor.
const ISA: &str = "FAULTLENS_ISA";

/// The variable that raises the memory of one inference.
const INFERENCE_GIB: &str = "FAULTLENS_INFERENCE_GIB";

/// Refuses values that would be ignored in silence.
pub(crate) fn check() -> anyhow::Result<()> {
    check_memory()?;
    let Some(asked) = std::env::var_os(ISA) else { return Ok(()) };
    let names = ISA_NAMES.join(", ");
    let asked = asked.to_str().with_context(|| format!("{ISA} takes one of {names}"))?;
    if !asked.is_empty() && !ISA_NAMES.contains(&asked) {
        bail!("{ISA} is {asked:?}; it takes one of {names}");
    }
    Ok(())
}

fn check_memory() -> anyhow::Result<()> {
    let Some(asked) = std::env::var_os(INFERENCE_GIB) else { return Ok(()) };
    let gib: Option<f64> = asked.to_str().and_then(|text| text.trim().parse().ok());
    if !asked.is_empty() && gib.is_none_or(|gib| gib.is_nan() || gib <= 0.0) {
        bail!("{INFERENCE_GIB} is {asked:?}; it takes a number of GiB above 0, such as 16");
    }
    Ok(())
}
