//! `faultlens people`: the experiment with people.

mod prepare;
mod serve;
mod status;

use crate::args::{PeopleArgs, PeopleCommand};
use crate::console::Console;

pub(crate) fn run(args: &PeopleArgs, console: &mut Console) -> anyhow::Result<u8> {
    match &args.command {
        PeopleCommand::Prepare(args) => prepare::run(args, console),
        PeopleCommand::Serve(args) => serve::run(args, console),
        PeopleCommand::Status(args) => status::run(args, console),
    }
}
