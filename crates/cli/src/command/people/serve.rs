//! `faultlens people serve`: the page, until a signal comes.

use std::net::SocketAddr;

use crate::exit;
use faultlens::human_study::{Desk, Link, Server, Status};
use serde_json::json;

use crate::args::PeopleServeArgs;
use crate::command::people::status;
use crate::command::stop_on_signal;
use crate::console::Console;

pub(crate) fn run(args: &PeopleServeArgs, console: &mut Console) -> anyhow::Result<u8> {
    let mut desk = Desk::open(&args.study)?;
    let invite = desk.invite()?;
    let people = desk.links(args.people)?;
    let server = Server::bind(desk, SocketAddr::new(args.host, args.port))?;
    stop_on_signal(server.stopper())?;
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
        console.note("replace the address in the links by this machine's name or address")?;
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
