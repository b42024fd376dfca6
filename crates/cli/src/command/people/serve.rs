//! `faultlens people serve`: the page, until a signal comes.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::exit;
use anyhow::Context;
use faultlens::human_study::{Desk, Link, Server, Status};
use serde_json::json;

use crate::args::PeopleServeArgs;
use crate::command::people::status;
use crate::console::Console;

pub(crate) fn run(args: &PeopleServeArgs, console: &mut Console) -> anyhow::Result<u8> {
    let mut desk = Desk::open(&args.study)?;
    let invite = desk.invite()?;
    let people = desk.links(args.people)?;
    let server = Server::bind(desk, SocketAddr::new(args.host, args.port))?;
    listen_to_signals(&server)?;
    let address = format!("http://{}", server.address()?);
    let invitation = format!("{address}/join/{invite}");
    let links = people.iter().map(|link| format!("{address}/p/{}", link.token));
    let links: Vec<String> = links.collect();
    if !args.host.is_loopback() {
        console.note(
            "warning: other machines can reach this address, and links travel unencrypted; \
             anybody with the invitation can take part",
        )?;
    }
    if args.host.is_unspecified() {
        console.note("put this machine's name or address in place of the one in the links")?;
    }
    if args.json {
        console.json(&json!({"address": address, "invitation": invitation, "people": links}))?;
    } else {
        console.line(format_args!("invitation: {invitation}"))?;
        for (Link { participant, .. }, link) in people.iter().zip(&links) {
            console.line(format_args!("{participant}: {link}"))?;
        }
    }
    console.flush()?;
    server.run()?;
    let status = Status::read(&args.study)?;
    if args.json {
        console.json(&status)?
    } else {
        status::show(&status, console)?
    }
    Ok(exit::OK)
}

/// The first signal lets requests in flight be answered and collects the answers; the second does
/// not wait for that, and loses nothing either.
fn listen_to_signals(server: &Server) -> anyhow::Result<()> {
    static TOLD: AtomicBool = AtomicBool::new(false);
    let stopper = server.stopper();
    let told = move || {
        if TOLD.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(exit::INTERRUPTED));
        }
        stopper.stop();
    };
    ctrlc::set_handler(told).context("cannot listen to signals")
}
