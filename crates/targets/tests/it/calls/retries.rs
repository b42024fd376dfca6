//! Services that misbehave: what is retried, what is lost, and that neither looks like an answer.

use super::number_wire::{MaybeKey, connector, image, limits, number_body, spec, target};
use super::server::{Reply, Server};
use faultlens_core::{Response, Target, TargetError};
use faultlens_targets::service::{Limits, ServiceTarget};
use std::time::Duration;

fn ok() -> Result<Response, TargetError> {
    Ok(Response::Values(vec![1.0]))
}

/// A server that gives this reply to the first requests.
fn fails_at_first(times: usize, reply: Reply) -> Server {
    Server::start(move |number, _| {
        if number < times { reply.clone() } else { Reply::With(200, "", number_body(1.0)) }
    })
}

fn status(status: u16, headers: &'static str) -> Reply {
    Reply::With(status, headers, "{}".to_owned())
}

fn closed(answer: Result<Response, TargetError>) -> String {
    match answer {
        Err(TargetError::Closed(why)) => why,
        other => panic!("not closed: {other:?}"),
    }
}

#[test]
fn throttled_calls_and_server_errors_are_retried() {
    let server = fails_at_first(2, status(429, ""));
    let throttled = target(&server, limits());
    assert_eq!(throttled.ask(&image(1)), ok());
    let counts = throttled.call_stats().process;
    assert_eq!((counts.calls, counts.repeats, counts.throttled, counts.answered), (3, 2, 2, 1));
    let server = fails_at_first(3, status(503, ""));
    let broken = target(&server, limits());
    assert_eq!(broken.ask(&image(1)), ok());
    assert_eq!(broken.call_stats().process.server_errors, 3);
    let server = fails_at_first(99, status(500, ""));
    let lost = target(&server, Limits { retries: 2, ..limits() });
    let answer = lost.ask(&image(1));
    let Err(TargetError::Unavailable(why)) = answer else { panic!("{answer:?}") };
    assert!(why.starts_with("gave up after 2 retries: "), "{why}");
    assert_eq!(server.count(), 3);
}

/// Only lower bounds of time are checked here: a sleep is never too short, but may be any longer
/// on a busy machine. That dates in the past ask for no wait is a unit test of the backoff.
#[test]
fn retry_after_is_respected() {
    for (header, least) in [
        ("Retry-After: 1\r\n", Duration::from_secs(1)),
        ("retry-after: Thu, 01 Jan 1970 00:00:00 GMT\r\n", Duration::ZERO),
    ] {
        let server = fails_at_first(1, status(429, header));
        assert_eq!(target(&server, limits()).ask(&image(1)), ok());
        let received = server.received();
        assert_eq!(received.len(), 2, "{header}");
        let waited = received[1].at - received[0].at;
        assert!(waited >= least, "{header} {waited:?}");
    }
}

#[test]
fn a_lost_answer_is_retried_only_where_configured() {
    // A connection that fails may work later; what came back whole and is no answer is none.
    for (reply, may_pass) in [
        (Reply::Drop, true),
        (Reply::Half(number_body(1.0)), true),
        (Reply::With(200, "", "{\"value\": 1".to_owned()), false),
        (Reply::With(200, "", "<html>".to_owned()), false),
        (Reply::With(200, "", "{}".to_owned()), false),
        (Reply::With(200, "Transfer-Encoding: chunked\r\n", "zz\r\n".to_owned()), true),
    ] {
        let server = fails_at_first(1, reply.clone());
        let once = target(&server, limits()).ask(&image(1));
        match once {
            Err(TargetError::Unavailable(_)) => assert!(may_pass),
            Err(TargetError::Lost(_)) => assert!(!may_pass),
            other => panic!("{other:?}"),
        }
        assert_eq!(server.count(), 1);
        let server = fails_at_first(1, reply);
        let patient = target(&server, Limits { lost_retries: 1, ..limits() });
        assert_eq!(patient.ask(&image(1)), ok());
        assert_eq!(patient.call_stats().process.lost, 1);
    }
}

/// The server never responds and never closes the connection: without a timeout, this test would
/// not end.
#[test]
fn a_server_that_never_answers_is_given_up() {
    let server = Server::start(|_, _| Reply::Silence);
    let target = target(&server, Limits { timeout: 0.3, ..limits() });
    let answer = target.ask(&image(1));
    let Err(TargetError::Unavailable(why)) = answer else { panic!("{answer:?}") };
    assert!(why.ends_with("did not answer within 0.3 s"), "{why}");
    assert_eq!(target.call_stats().process.timed_out, 1);
}

#[test]
fn a_service_that_is_not_there_costs_nothing() {
    // A port below 1024 that no test and hardly anybody else listens on.
    let endpoint = "http://127.0.0.1:1";
    let limits = Limits { retries: 1, calls: Some(1), ..limits() };
    let target = ServiceTarget::new(&spec(limits), connector(endpoint, MaybeKey(false))).unwrap();
    for _ in 0..2 {
        let answer = target.ask(&image(1));
        let Err(TargetError::Unavailable(why)) = answer else { panic!("{answer:?}") };
        assert!(why.contains("cannot connect to 127.0.0.1:"), "{why}");
    }
    let counts = target.call_stats().process;
    assert_eq!((counts.calls, counts.unreached, counts.money), (0, 4, 0.0));
}

#[test]
fn a_wrong_key_is_tried_once() {
    let server = Server::start(|_, _| status(403, ""));
    let target = target(&server, limits());
    for number in 0..3 {
        let why = closed(target.ask(&image(number)));
        assert!(why.contains("does not accept these credentials"), "{why}");
    }
    assert_eq!((server.count(), target.call_stats().process.denied), (1, 1));
}

#[test]
fn a_wrong_clock_is_reported() {
    let late = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    let server = Server::start(move |_, _| status(403, late));
    let why = closed(target(&server, limits()).ask(&image(1)));
    assert!(why.contains("this machine's clock is ") && why.contains(" s ahead of"), "{why}");
}

#[test]
fn a_huge_answer_is_not_read_to_its_end() {
    let server = Server::start(|_, _| Reply::With(200, "", "x".repeat(17 << 20)));
    let answer = target(&server, limits()).ask(&image(1));
    let Err(TargetError::Lost(why)) = answer else { panic!("{answer:?}") };
    assert!(why.ends_with("answers more than 16 MiB"), "{why}");
}

/// Queries that get a reply, even an image that is refused, show that the service is there.
#[test]
fn a_service_that_is_down_is_not_asked_for_every_image() {
    let server = Server::start(|number, _| match number {
        0..4 | 6.. => status(503, ""),
        4 => status(400, ""),
        _ => Reply::With(200, "", number_body(1.0)),
    });
    let target = target(&server, Limits { retries: 1, give_up_after: 3, ..limits() });
    let unavailable = |number| match target.ask(&image(number)) {
        Err(TargetError::Unavailable(why)) => why,
        other => panic!("{number}: {other:?}"),
    };
    unavailable(0);
    unavailable(1);
    assert!(matches!(target.ask(&image(2)), Err(TargetError::Rejected(_))));
    assert_eq!(target.ask(&image(3)), ok());
    for number in 4..7 {
        assert!(!target.is_down());
        unavailable(number);
    }
    assert!(target.is_down());
    assert_eq!(server.count(), 6 + 3 * 2);
    // From now on nobody waits or calls; what led to it is still said.
    for number in 7..200 {
        assert!(unavailable(number).contains("gave up after 1 retries"));
    }
    assert_eq!(server.count(), 6 + 3 * 2);
}
