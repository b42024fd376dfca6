//! Budgets, and books that survive a kill and misbehaviour.

use crate::server::{Reply, Server};
use crate::wire::{image, manners, said, target};
use faultlens_core::{Target, TargetError};
use faultlens_targets::service::{Manners, ServiceTarget};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

fn run(target: &ServiceTarget, folder: &Path, cases: u8) -> (u64, u64) {
    target.attach(&folder.join("answers"), &folder.join("calls.jsonl")).unwrap();
    let (answered, closed) = (AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (answered, closed) = (&answered, &closed);
            scope.spawn(move || {
                for number in (thread..cases).step_by(4) {
                    match target.ask(&image(number)) {
                        Ok(_) => answered.fetch_add(1, Ordering::SeqCst),
                        Err(TargetError::Closed(why)) => {
                            assert!(why.contains("run again to go on"), "{why}");
                            closed.fetch_add(1, Ordering::SeqCst)
                        }
                        Err(_) => 0,
                    };
                }
            });
        }
    });
    (answered.into_inner(), closed.into_inner())
}

#[test]
fn a_budget_holds_over_threads_repeats_and_runs() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|number, _| match number % 5 {
        0 => Reply::With(429, "", String::new()),
        1 => Reply::With(503, "", String::new()),
        _ => Reply::With(200, "", said(1.0)),
    });
    let spent = target(&server, Manners { calls: Some(20), retries: 8, ..manners() });
    let (answered, closed) = run(&spent, folder.path(), 40);
    assert_eq!((server.count(), answered + closed), (20, 40));
    assert_eq!(answered, spent.account().process.answered);
    // Again with the same budget: nothing is asked, what was answered is there.
    let again = target(&server, Manners { calls: Some(20), ..manners() });
    assert_eq!(run(&again, folder.path(), 40), (answered, closed));
    assert_eq!(server.count(), 20);
    // With money for ten more calls.
    let more = target(&server, Manners { money: Some(30.0 * 0.25), retries: 8, ..manners() });
    run(&more, folder.path(), 40);
    assert_eq!(server.count(), 30);
    let campaign = more.account().campaign;
    assert_eq!((campaign.calls, campaign.money), (30, 7.5));
    let ends = campaign.answered + campaign.throttled + campaign.server_errors;
    assert_eq!((ends, campaign.unfinished), (30, 0));
}

#[test]
fn every_call_of_a_bad_service_is_accounted_for() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|number, request| {
        // The answer depends on the question alone, so that a wrong one is found out.
        let value = request.body.iter().map(|&byte| u32::from(byte)).sum::<u32>() as f32;
        match number * 37 % 100 {
            0..10 => Reply::With(429, "", String::new()),
            10..15 => Reply::With(500, "", String::new()),
            15..17 => Reply::Drop,
            17..18 => Reply::Half(said(value)),
            _ => Reply::With(200, "", said(value)),
        }
    });
    let first = target(&server, Manners { retries: 20, ..manners() });
    let (answered, _) = run(&first, folder.path(), 200);
    let tally = first.account().process;
    assert_eq!(tally.calls, server.count());
    assert_eq!((tally.answered, tally.unfinished), (answered, 0));
    assert!(tally.lost >= 3 && tally.throttled >= 15 && tally.server_errors >= 5, "{tally:?}");
    assert_eq!(answered + tally.lost, 200);
    let calls = tally.answered + tally.throttled + tally.server_errors + tally.lost;
    assert_eq!(calls, tally.calls);
    // What got lost is asked again by the next run, and nothing else.
    let second = target(&server, Manners { retries: 20, lost_retries: 9, ..manners() });
    assert_eq!(run(&second, folder.path(), 200).0, 200);
    assert_eq!(second.account().cached, answered);
    let third = target(&server, manners());
    let before = server.count();
    assert_eq!(run(&third, folder.path(), 200).0, 200);
    assert_eq!(server.count(), before);
    let plain = Server::start(|_, request| {
        let value = request.body.iter().map(|&byte| u32::from(byte)).sum::<u32>() as f32;
        Reply::With(200, "", said(value))
    });
    let plain = target(&plain, manners());
    for number in 0..200 {
        assert_eq!(third.ask(&image(number)), plain.ask(&image(number)), "{number}");
    }
}

#[test]
fn an_answer_that_cannot_be_filed_is_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let answers = folder.path().join("answers");
    let server = Server::start(|_, _| Reply::With(200, "", said(1.0)));
    let target = target(&server, manners());
    target.attach(&answers, &folder.path().join("l")).unwrap();
    std::fs::remove_dir(&answers).unwrap();
    std::fs::write(&answers, b"in the way").unwrap();
    for number in 0..3 {
        let answer = target.ask(&image(number));
        assert!(matches!(answer, Err(TargetError::Closed(_))), "{answer:?}");
    }
    assert!(server.count() <= 1);
}
