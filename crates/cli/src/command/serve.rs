//! `faultlens serve`: a model behind a service's wire format.

use std::net::SocketAddr;
use std::sync::mpsc;

use crate::exit;
use anyhow::anyhow;
use faultlens::Seed;
use faultlens::serve::{Ending, Options, ServedModel, Server};
use serde_json::json;

use crate::args::ServeArgs;
use crate::command::{stop_on_signal, threads};
use crate::console::Console;
use crate::describe::{self, written};

/// Serves until a signal comes; calls in flight are answered then.
pub(crate) fn run(args: &ServeArgs, console: &mut Console) -> anyhow::Result<u8> {
    let written = written(args.input.as_deref(), args.labels.as_deref())?;
    let served = ServedModel::open(&args.model, written)?;
    describe::show(served.target().description(), console)?;
    let model = served.name().to_owned();
    let version = served.version().to_owned();
    let (log, lines) = mpsc::channel();
    let server = Server::bind(
        served,
        Options {
            format: args.format,
            address: SocketAddr::new(args.host, args.port),
            threads: threads(args.threads),
            keys: args.key.clone(),
            misbehaviour: args.misbehave.clone().unwrap_or_default(),
            seed: Seed::new(args.seed),
            log: args.log.then_some(log),
        },
    )?;
    stop_on_signal(server.stopper())?;
    let address = server.address()?;
    let account = server.counts();
    let format = args.format.name;
    if !args.host.is_loopback() {
        console.note(
            "warning: other machines can reach this address; keys and images travel unencrypted",
        )?;
    }
    if args.json {
        let address = format!("http://{address}");
        console.json(
            &json!({"address": address, "format": format, "model": model, "version": version}),
        )?;
    } else {
        console.line(format_args!("{model} as {format} on http://{address}"))?;
    }
    console.flush()?;
    let serving = std::thread::spawn(move || server.run());
    for line in lines {
        console.aside(line);
    }
    serving.join().map_err(|_| anyhow!("the server thread panicked"))??;
    let endings: Vec<String> = Ending::ALL
        .iter()
        .filter(|ending: &&Ending| account.ended(**ending) > 0)
        .map(|ending: &Ending| format!("{} {}", account.ended(*ending), ending.name()))
        .collect();
    console.aside(format_args!("{} calls: {}", account.calls(), endings.join(", ")));
    if args.json {
        console.json(&json!({"calls": account.calls()}))?;
    }
    Ok(exit::OK)
}
