//! The `faultlens` command.

mod args;
mod command;
mod console;
mod describe;
mod text;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use command::{ask, demo, inspect, train, world};
use console::Console;

fn main() -> ExitCode {
    let args = Args::parse();
    let mut console = Console::standard();
    let result = match &args.command {
        Command::Ask(args) => ask::run(args, &mut console),
        Command::Inspect(args) => inspect::run(args, &mut console),
        Command::Train(args) => train::run(args, &mut console),
        Command::World(args) => world::run(args, &mut console),
        Command::Demo(args) => demo::run(args, &mut console),
    };
    ExitCode::from(console.finish(result))
}
