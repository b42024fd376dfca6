//! `faultlens compare`: runs side by side, or two images.

mod images;
mod runs;

use anyhow::{bail, ensure};

use crate::args::CompareArgs;
use crate::console::Console;

/// Compares what there is: folders are runs, files are images.
pub(crate) fn run(args: &CompareArgs, console: &mut Console) -> anyhow::Result<u8> {
    let first = &args.first;
    let second = &args.second;
    match [first, second].map(|path| (path.is_dir(), path.is_file())) {
        [(true, _), (_, true)] | [(_, true), (true, _)] => bail!(
            "a run directory cannot be compared with a file; give two runs or two images: {} and {}",
            first.display(),
            second.display()
        ),
        // A path that does not exist is reported by the comparison of runs.
        [(_, true), _] | [_, (_, true)] => {
            ensure!(
                args.more.is_empty() && args.output.is_none(),
                "two images are compared without --output; pages and more than two are for runs"
            );
            images::run(args, console)
        }
        _ => runs::run(args, console),
    }
}
