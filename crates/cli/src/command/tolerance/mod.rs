//! `faultlens tolerance`: how much visual change people tolerate, from their answers.

mod analysis;
mod answers;
mod columns;
mod input;
mod names;
mod object;
mod page;
mod table;
mod words;

use crate::exit;
use anyhow::ensure;

use crate::args::ToleranceArgs;
use crate::command::write;
use crate::console::Console;
use input::Input;
use object::Object;

/// Reads answers, finds thresholds and shows them.
pub(crate) fn run(args: &ToleranceArgs, console: &mut Console) -> anyhow::Result<u8> {
    if let Some(page) = &args.output {
        let html = page.extension().is_some_and(|ending| ending == "html");
        ensure!(html, "the page is an .html file: -o FILE.html");
    }
    let input = Input::read(args)?;
    let found = analysis::findings(args, &input)?;
    for note in &found.notes {
        console.note(format_args!("note: {note}"))?;
    }
    for (fault, why) in &found.left_out {
        console.note(format_args!("note: {} left out: {why}", names::displayed(fault)))?;
    }
    if let Some(path) = &args.output {
        write(path, page::page(args, &found)?)?;
    }
    if args.json {
        console.json(&Object::new(args, &found))?;
    } else {
        words::show(&found, console)?;
    }
    Ok(exit::OK)
}
