//! What the targets did, as people read it.

use crate::supervise::{Harm, Plan, supervise};
use anyhow::Result;
use faultlens_fuzz::FuzzTarget;
use std::collections::BTreeSet;
use std::io::Write as _;

/// Runs all targets one after the other and prints a line for each; whether none did harm.
pub(crate) fn run(targets: &[&FuzzTarget], plan: &Plan) -> Result<bool> {
    let mut out = std::io::stdout();
    let mut clean = true;
    writeln!(
        out,
        "{:<14} {:>9} {:>7} {:>6} {:>7} {:>8}",
        "target", "inputs", "panics", "hangs", "memory", "crashes"
    )?;
    for target in targets {
        let tally = supervise(target, plan)?;
        let count = |harm: Harm| tally.failures.iter().filter(|f| f.harm == harm).count();
        let [panics, hangs, memory, crashes] =
            [Harm::Panic, Harm::Hang, Harm::Memory, Harm::Crash].map(count);
        writeln!(
            out,
            "{:<14} {:>9} {panics:>7} {hangs:>6} {memory:>7} {crashes:>8}",
            target.name, tally.inputs
        )?;
        let mut told = BTreeSet::new();
        for failure in &tally.failures {
            clean = false;
            if told.insert(&failure.path) {
                let path = failure.path.display();
                writeln!(
                    out,
                    "  {:?}: {}\n    cargo run --release -p faultlens-fuzz -- replay {} {path}",
                    failure.harm, failure.said, target.name
                )?;
            }
        }
    }
    Ok(clean)
}
