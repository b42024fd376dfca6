//! `faultlens man` and `faultlens completions`: made from the command line's own description.

use std::fs;

use crate::exit;
use anyhow::Context;
use clap::CommandFactory;

use crate::args::{Args, ManArgs, ShellArgs};
use crate::command::write;
use crate::console::Console;

/// Writes a manual page for every command.
pub(crate) fn run(args: &ManArgs, console: &mut Console) -> anyhow::Result<u8> {
    let mut command = Args::command();
    command.build();
    let Some(dir) = &args.dir else {
        console.bytes(&page(&command)?)?;
        return Ok(exit::OK);
    };
    fs::create_dir_all(dir)
        .with_context(|| format!("cannot create the folder {}", dir.display()))?;
    for command in std::iter::once(&command).chain(command.get_subcommands()) {
        let name = command.get_display_name().unwrap_or(command.get_name());
        write(&dir.join(format!("{name}.1")), page(command)?)?;
    }
    console.note(format_args!("manual pages are in {}", dir.display()))?;
    Ok(exit::OK)
}

fn page(command: &clap::Command) -> anyhow::Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    Ok(page)
}

/// Prints completions for a shell.
pub(crate) fn completions(args: &ShellArgs, console: &mut Console) -> anyhow::Result<u8> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "faultlens", &mut script);
    console.bytes(&script)?;
    Ok(exit::OK)
}
