//! `faultlens promote`: a found failure becomes a regression case.

use crate::exit;
use faultlens::campaign::pin;
use faultlens::campaign::replay::Rerun;

use crate::args::PromoteArgs;
use crate::console::Console;

/// Pins a trial.
pub(crate) fn run(args: &PromoteArgs, console: &mut Console) -> anyhow::Result<u8> {
    let pin = Rerun::open(&args.run)?.pin(&args.trial, args.name.as_deref())?;
    let path = args.to.display();
    let added = pin::add(&args.to, &pin)?;
    if args.json {
        console.json(&pin)?;
    }
    if added {
        console.note(format_args!("pinned in {path}: {}", pin.name))?;
        console.note("campaigns that name this file under `pinned:` replay it first")?;
    } else {
        console.note(format_args!("it is already pinned in {path}"))?;
    }
    Ok(exit::OK)
}
