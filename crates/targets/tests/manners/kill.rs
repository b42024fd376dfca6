//! A process that asks is killed in the middle; the next one pays for no answer again.

use crate::server::{Received, Reply, Server};
use crate::wire::{Who, connector, image, manners, said, spec};
use faultlens_core::Target;
use faultlens_targets::service::ServiceTarget;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const THREADS: u8 = 4;
const CASES: u8 = 120;

fn run(endpoint: &str, folder: &Path) -> ServiceTarget {
    let target = ServiceTarget::new(&spec(manners()), connector(endpoint, Who(false))).unwrap();
    target.attach(&folder.join("answers"), &folder.join("calls.jsonl")).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let target = &target;
            scope.spawn(move || {
                for number in (thread..CASES).step_by(usize::from(THREADS)) {
                    target.ask(&image(number)).unwrap();
                }
            });
        }
    });
    target
}

/// Does nothing unless the other test starts it as a process of its own.
#[test]
fn a_process_to_be_killed() {
    let (endpoint, folder) = (std::env::var("KILL_ENDPOINT"), std::env::var("KILL_FOLDER"));
    if let (Ok(endpoint), Ok(folder)) = (endpoint, folder) {
        run(&endpoint, &PathBuf::from(folder));
    }
}

#[test]
fn a_kill_pays_for_no_filed_answer_again_and_loses_no_call() {
    let folder = tempfile::tempdir().unwrap();
    let wait = Duration::from_millis(4);
    let server = Server::start(move |_, _| Reply::Late(wait, said(1.0)));
    let mut kills = 0;
    for calls in [20, 50, 90] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::a_process_to_be_killed"])
            .env("KILL_ENDPOINT", &server.address)
            .env("KILL_FOLDER", folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while server.count() < calls && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        kills += u64::from(!child.wait().unwrap().success());
    }
    assert_eq!(kills, 3, "each was killed in the middle");
    let account = run(&server.address, folder.path()).account();
    let mut asked: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    for Received { body, .. } in server.received() {
        *asked.entry(body).or_default() += 1;
    }
    assert_eq!(asked.len(), usize::from(CASES));
    let twice = asked.values().map(|times| times - 1).sum::<u64>();
    assert!(twice <= kills * u64::from(THREADS), "only what was under way: {twice}");
    // A line that was written just before the kill may stand for a call that was never sent.
    let more = account.campaign.calls - server.count();
    assert!(more <= kills * u64::from(THREADS), "{account:?} {}", server.count());
    assert!(account.campaign.unfinished <= kills * u64::from(THREADS), "{account:?}");
    assert_eq!(account.cached + account.process.calls, u64::from(CASES));
}
