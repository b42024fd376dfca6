//! `faultlens protect`, as users type it.

use std::path::PathBuf;

use super::at_least_one;

/// Evaluate protections against faults inside a model, on the trials of a run
///
/// Injects the same faults again and measures for each protection how many failures it prevents,
/// its cost, and its effect on undisturbed runs. Writes DIR/protection.json. Without --ranges,
/// --duplicate and --checksum, all are evaluated, for any number of layers.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens protect runs/signs
  faultlens protect runs/signs --ranges --margin 10
  faultlens protect runs/signs --duplicate 3 --checksum 3")]
pub(crate) struct ProtectArgs {
    /// The run directory
    pub(crate) run: PathBuf,
    /// Clip activations to the ranges seen in undisturbed runs
    #[arg(long)]
    pub(crate) ranges: bool,
    /// Compute up to this many layers twice, those with the most failures first
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) duplicate: Option<usize>,
    /// Keep checksums of the weights of up to this many layers, those with the most failures first
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) checksum: Option<usize>,
    /// Widen ranges on either side by this share of their width, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.0, value_parser = margin)]
    pub(crate) margin: f64,
    /// Number of threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON object with every number, as in protection.json
    #[arg(long)]
    pub(crate) json: bool,
}

fn margin(text: &str) -> Result<f64, String> {
    match text.trim().trim_end_matches('%').trim_end().parse::<f64>() {
        Ok(percent) if (0.0..=1e6).contains(&percent) => Ok(percent),
        _ => Err("a share in percent is needed, from 0".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn margins_are_percents_from_zero() {
        assert_eq!([margin("10"), margin("2.5%")], [Ok(10.0), Ok(2.5)]);
        for wrong in ["-1", "NaN", "inf", "ten", ""] {
            assert!(margin(wrong).is_err(), "{wrong}");
        }
    }
}
