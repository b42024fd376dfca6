//! The `faultlens` command.

mod args;
mod command;
mod console;
mod describe;
mod environment;
mod exit;
mod signals;
mod text;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command};
use command::{
    ask, check, compare, convert, demo, export, fault, findings, init, inspect, list, man, merge,
    objects, people, plan, preview, promote, protect, replay, report, retrain, run, score, serve,
    survive, test, tolerance, train, verify, world,
};
use console::Console;

fn main() -> ExitCode {
    let args = Args::parse();
    let mut console = Console::standard();
    if let Err(error) = environment::check() {
        return ExitCode::from(console.finish(Err(error)));
    }
    let result = match &args.command {
        Command::Demo(args) => demo::run(args, &mut console),
        Command::Test(args) => test::run(args, &mut console),
        Command::Init(args) => init::run(args, &mut console),
        Command::Convert(args) => convert::run(args, &mut console),
        Command::Plan(args) => plan::run(args, &mut console),
        Command::Run(args) => run::run(args, &mut console),
        Command::Merge(args) => merge::run(args, &mut console),
        Command::Report(args) => report::run(args, &mut console),
        Command::Check(args) => check::run(args, &mut console),
        Command::Verify(args) => verify::run(args, &mut console),
        Command::Compare(args) => compare::run(args, &mut console),
        Command::Replay(args) => replay::run(args, &mut console),
        Command::Promote(args) => promote::run(args, &mut console),
        Command::Protect(args) => protect::run(args, &mut console),
        Command::Findings(args) => findings::run(args, &mut console),
        Command::Export(args) => export::run(args, &mut console),
        Command::List(args) => list::run(args, &mut console),
        Command::Fault(args) => fault::run(args, &mut console),
        Command::Preview(args) => preview::run(args, &mut console),
        Command::Objects(args) => objects::run(args, &mut console),
        Command::Ask(args) => ask::run(args, &mut console),
        Command::Inspect(args) => inspect::run(args, &mut console),
        Command::Score(args) => score::run(args, &mut console),
        Command::Serve(args) => serve::run(args, &mut console),
        Command::People(args) => people::run(args, &mut console),
        Command::Survive(args) => survive::run(args, &mut console),
        Command::Tolerance(args) => tolerance::run(args, &mut console),
        Command::Train(args) => train::run(args, &mut console),
        Command::Retrain(args) => retrain::run(args, &mut console),
        Command::World(args) => world::run(args, &mut console),
        Command::Schema => init::schema(&mut console),
        Command::Completions(args) => man::completions(args, &mut console),
        Command::Man(args) => man::run(args, &mut console),
    };
    ExitCode::from(console.finish(result))
}
