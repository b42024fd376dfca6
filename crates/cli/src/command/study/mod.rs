//! `faultlens study`: the experiment with people.

mod prepare;
mod serve;
mod status;

use crate::args::{StudyArgs, StudyCommand};
use crate::console::Console;

pub(crate) fn run(args: &StudyArgs, console: &mut Console) -> anyhow::Result<u8> {
    match &args.command {
        StudyCommand::Prepare(args) => prepare::run(args, console),
        StudyCommand::Serve(args) => serve::run(args, console),
        StudyCommand::Status(args) => status::run(args, console),
    }
}
