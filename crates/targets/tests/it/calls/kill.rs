//! A process that asks is killed in the middle; the next one pays for no answer again.

use super::number_wire::{MaybeKey, connector, image, limits, number_body, spec};
use super::server::{Received, Reply, Server};
use faultlens_core::Target;
use faultlens_targets::service::ServiceTarget;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

const THREADS: u8 = 4;
const CASES: u8 = 120;

fn run(endpoint: &str, folder: &Path) -> ServiceTarget {
    let connector = connector(endpoint, MaybeKey(false));
    let target = ServiceTarget::new(&spec(limits()), connector).unwrap();
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
    let endpoint = std::env::var("KILL_ENDPOINT");
    let folder = std::env::var("KILL_FOLDER");
    if let (Ok(endpoint), Ok(folder)) = (endpoint, folder) {
        run(&endpoint, &PathBuf::from(folder));
    }
}

/// How many requests are answered; those beyond wait until it is raised.
#[derive(Default)]
struct Allowance {
    requests: Mutex<usize>,
    raised: Condvar,
}

impl Allowance {
    fn raise(&self, requests: usize) {
        *self.requests.lock().unwrap() = requests;
        self.raised.notify_all();
    }

    fn wait_for(&self, number: usize) {
        let requests = self.requests.lock().unwrap();
        drop(self.raised.wait_while(requests, |requests| number >= *requests).unwrap());
    }
}

#[test]
fn a_kill_pays_for_no_cached_answer_again_and_hides_no_call() {
    let folder = tempfile::tempdir().unwrap();
    let allowance = Arc::new(Allowance::default());
    let for_server = Arc::clone(&allowance);
    let server = Server::start(move |number, _| {
        for_server.wait_for(number);
        Reply::With(200, "", number_body(1.0))
    });
    let kills = [20, 50, 90];
    for requests in kills {
        // The child cannot get past this request, so that it is always killed in the middle.
        allowance.raise(requests);
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "calls::kill::a_process_to_be_killed"])
            .env("KILL_ENDPOINT", &server.address)
            .env("KILL_FOLDER", folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        while server.count() <= requests as u64 {
            assert!(child.try_wait().unwrap().is_none(), "the child ended by itself");
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
    }
    allowance.raise(usize::MAX);
    let stats = run(&server.address, folder.path()).call_stats();
    let mut asked: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    for Received { body, .. } in server.received() {
        *asked.entry(body).or_default() += 1;
    }
    assert_eq!(asked.len(), usize::from(CASES));
    let in_flight = kills.len() as u64 * u64::from(THREADS);
    let twice = asked.values().map(|times| times - 1).sum::<u64>();
    assert!(twice <= in_flight, "only what was in flight: {twice}");
    // A line that was written just before the kill may stand for a call that was never sent.
    let unsent = stats.campaign.calls - server.count();
    assert!(unsent <= in_flight, "{stats:?} {}", server.count());
    assert!(stats.campaign.unfinished <= in_flight, "{stats:?}");
    assert_eq!(stats.cached + stats.process.calls, u64::from(CASES));
}
