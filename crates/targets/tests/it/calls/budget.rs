//! Budgets and call logs, which survive a kill and misbehaviour.

use super::number_wire::{image, limits, number_body, target};
use super::server::{Received, Reply, Server};
use faultlens_core::{Target, TargetError};
use faultlens_targets::service::{Limits, ServiceTarget};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Asks about so many images from four threads; how many were answered, and how many refused
/// since the target is closed.
fn run(target: &ServiceTarget, folder: &Path, cases: u8) -> (u64, u64) {
    target.attach(&folder.join("answers"), &folder.join("calls.jsonl")).unwrap();
    let answered = AtomicU64::new(0);
    let closed = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let answered = &answered;
            let closed = &closed;
            scope.spawn(move || {
                for number in (thread..cases).step_by(4) {
                    match target.ask(&image(number)) {
                        Ok(_) => answered.fetch_add(1, Ordering::SeqCst),
                        Err(TargetError::Closed(why)) => {
                            assert!(why.contains("run the same command to resume"), "{why}");
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
fn a_budget_holds_over_threads_retries_and_runs() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|number, _| match number % 5 {
        0 => Reply::With(429, "", String::new()),
        1 => Reply::With(503, "", String::new()),
        _ => Reply::With(200, "", number_body(1.0)),
    });
    let spent = target(&server, Limits { calls: Some(20), retries: 8, ..limits() });
    let (answered, closed) = run(&spent, folder.path(), 40);
    assert_eq!((server.count(), answered + closed), (20, 40));
    assert_eq!(answered, spent.call_stats().process.answered);
    // Again with the same budget: no call is made, and the cached answers are there.
    let again = target(&server, Limits { calls: Some(20), ..limits() });
    assert_eq!(run(&again, folder.path(), 40), (answered, closed));
    assert_eq!(server.count(), 20);
    // With money for ten more calls.
    let more = target(&server, Limits { money: Some(30.0 * 0.25), retries: 8, ..limits() });
    run(&more, folder.path(), 40);
    assert_eq!(server.count(), 30);
    let campaign = more.call_stats().campaign;
    assert_eq!((campaign.calls, campaign.money), (30, 7.5));
    let ended = campaign.answered + campaign.throttled + campaign.server_errors;
    assert_eq!((ended, campaign.unfinished), (30, 0));
}

/// The answer depends on the request alone, so that an answer to another request is noticed.
fn body_for(request: &Received) -> String {
    number_body(request.body.iter().map(|&byte| u32::from(byte)).sum::<u32>() as f32)
}

#[test]
fn every_call_to_a_misbehaving_service_is_logged() {
    let folder = tempfile::tempdir().unwrap();
    // 37 and 100 have no common divisor: of any 100 requests in a row, exactly 10 are throttled,
    // 5 meet an error and 3 lose their answer.
    let server = Server::start(|number, request| match number * 37 % 100 {
        0..10 => Reply::With(429, "", String::new()),
        10..15 => Reply::With(500, "", String::new()),
        15..17 => Reply::Drop,
        17..18 => Reply::Half(body_for(request)),
        _ => Reply::With(200, "", body_for(request)),
    });
    let first = target(&server, Limits { retries: 20, ..limits() });
    let (answered, _) = run(&first, folder.path(), 200);
    let counts = first.call_stats().process;
    assert_eq!(counts.calls, server.count());
    assert_eq!((counts.answered, counts.unfinished), (answered, 0));
    let has_all = counts.lost >= 6 && counts.throttled >= 20 && counts.server_errors >= 10;
    assert!(has_all, "{counts:?}");
    assert_eq!(answered + counts.lost, 200);
    let ended = counts.answered + counts.throttled + counts.server_errors + counts.lost;
    assert_eq!(ended, counts.calls);
    // The next run asks again for lost answers, and for nothing else.
    let second = target(&server, Limits { retries: 20, lost_retries: 9, ..limits() });
    assert_eq!(run(&second, folder.path(), 200).0, 200);
    assert_eq!(second.call_stats().cached, answered);
    let third = target(&server, limits());
    let before = server.count();
    assert_eq!(run(&third, folder.path(), 200).0, 200);
    assert_eq!(server.count(), before);
    let well_behaved = Server::start(|_, request| Reply::With(200, "", body_for(request)));
    let well_behaved = target(&well_behaved, limits());
    for number in 0..200 {
        assert_eq!(third.ask(&image(number)), well_behaved.ask(&image(number)), "{number}");
    }
}

#[test]
fn an_answer_that_cannot_be_cached_is_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let answers = folder.path().join("answers");
    let server = Server::start(|_, _| Reply::With(200, "", number_body(1.0)));
    let target = target(&server, limits());
    target.attach(&answers, &folder.path().join("l")).unwrap();
    std::fs::remove_dir(&answers).unwrap();
    std::fs::write(&answers, b"in the way").unwrap();
    for number in 0..3 {
        let answer = target.ask(&image(number));
        assert!(matches!(answer, Err(TargetError::Closed(_))), "{answer:?}");
    }
    assert!(server.count() <= 1);
}
