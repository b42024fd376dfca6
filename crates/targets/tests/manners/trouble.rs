//! Services that misbehave: what is repeated, what is lost, what never looks like an answer.

use crate::server::{Reply, Server};
use crate::wire::{Who, connector, image, manners, said, spec, target};
use faultlens_core::{Response, Target, TargetError};
use faultlens_targets::service::{Manners, ServiceTarget};
use std::time::{Duration, Instant};

fn ok() -> Result<Response, TargetError> {
    Ok(Response::Values(vec![1.0]))
}

fn fails_at_first(times: usize, reply: Reply) -> Server {
    Server::start(move |number, _| match number < times {
        true => reply.clone(),
        false => Reply::With(200, "", said(1.0)),
    })
}

fn status(status: u16, headers: &'static str) -> Reply {
    Reply::With(status, headers, "{}".to_owned())
}

#[test]
fn throttling_and_problems_of_the_service_are_repeated() {
    let server = fails_at_first(2, status(429, ""));
    let throttled = target(&server, manners());
    assert_eq!(throttled.ask(&image(1)), ok());
    let tally = throttled.account().process;
    assert_eq!((tally.calls, tally.repeats, tally.throttled, tally.answered), (3, 2, 2, 1));
    let server = fails_at_first(3, status(503, ""));
    let broken = target(&server, manners());
    assert_eq!(broken.ask(&image(1)), ok());
    assert_eq!(broken.account().process.server_errors, 3);
    let server = fails_at_first(99, status(500, ""));
    let lost = target(&server, Manners { retries: 2, ..manners() });
    let Err(TargetError::Lost(why)) = lost.ask(&image(1)) else { panic!("nothing was heard") };
    assert!(why.starts_with("given up after 2 repeats: "), "{why}");
    assert_eq!(server.count(), 3);
}

#[test]
fn a_service_is_left_alone_as_long_as_it_asks() {
    for header in ["Retry-After: 1\r\n", "retry-after: Thu, 01 Jan 1970 00:00:00 GMT\r\n"] {
        let server = fails_at_first(1, status(429, header));
        let started = Instant::now();
        assert_eq!(target(&server, manners()).ask(&image(1)), ok());
        let waited = started.elapsed() >= Duration::from_secs(1);
        assert_eq!(waited, header.contains(": 1\r"), "{header} {:?}", started.elapsed());
    }
}

#[test]
fn an_answer_that_gets_lost_is_repeated_only_where_wished() {
    let whole = || said(1.0);
    for reply in [
        Reply::Drop,
        Reply::Half(whole()),
        Reply::With(200, "", "{\"value\": 1".to_owned()),
        Reply::With(200, "", "<html>".to_owned()),
        Reply::With(200, "", "{}".to_owned()),
        Reply::With(200, "Transfer-Encoding: chunked\r\n", "zz\r\n".to_owned()),
    ] {
        let server = fails_at_first(1, reply.clone());
        let once = target(&server, manners()).ask(&image(1));
        assert!(matches!(once, Err(TargetError::Lost(_))), "{once:?}");
        assert_eq!(server.count(), 1);
        let server = fails_at_first(1, reply);
        let patient = target(&server, Manners { lost_retries: 1, ..manners() });
        assert_eq!(patient.ask(&image(1)), ok());
        assert_eq!(patient.account().process.lost, 1);
    }
}

#[test]
fn a_server_that_never_answers_is_given_up() {
    let server = Server::start(|_, _| Reply::Silence(Duration::from_secs(9)));
    let target = target(&server, Manners { timeout: 0.3, ..manners() });
    let started = Instant::now();
    let answer = target.ask(&image(1));
    let Err(TargetError::TimedOut(why)) = answer else { panic!("{answer:?}") };
    assert!(why.ends_with("did not answer within 0.3 s"), "{why}");
    assert!(started.elapsed() < Duration::from_secs(6));
    assert_eq!((server.count(), target.account().process.timed_out), (1, 1));
}

#[test]
fn a_service_that_is_not_there_costs_nothing() {
    let endpoint = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let manners = Manners { retries: 1, calls: Some(1), ..manners() };
    let target = ServiceTarget::new(&spec(manners), connector(&endpoint, Who(false))).unwrap();
    for _ in 0..2 {
        let answer = target.ask(&image(1));
        let Err(TargetError::Closed(why)) = answer else { panic!("{answer:?}") };
        assert!(why.contains("cannot connect to 127.0.0.1:"), "{why}");
    }
    let tally = target.account().process;
    assert_eq!((tally.calls, tally.unreached, tally.money), (0, 4, 0.0));
}

#[test]
fn a_wrong_key_is_tried_once() {
    let server = Server::start(|_, _| status(403, ""));
    let target = target(&server, manners());
    for number in 0..3 {
        let answer = target.ask(&image(number));
        let Err(TargetError::Closed(why)) = answer else { panic!("{answer:?}") };
        assert!(why.contains("is not open to these credentials"), "{why}");
    }
    assert_eq!((server.count(), target.account().process.denied), (1, 1));
}

#[test]
fn a_wrong_clock_is_told() {
    let late = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    let server = Server::start(move |_, _| status(403, late));
    let Err(TargetError::Closed(why)) = target(&server, manners()).ask(&image(1)) else {
        panic!("the service is closed")
    };
    assert!(why.contains("this machine's clock is ") && why.contains(" s ahead of"), "{why}");
}

#[test]
fn a_huge_answer_is_not_read_to_its_end() {
    let server = Server::start(|_, _| Reply::With(200, "", "x".repeat(17 << 20)));
    let answer = target(&server, manners()).ask(&image(1));
    let Err(TargetError::Lost(why)) = answer else { panic!("{answer:?}") };
    assert!(why.ends_with("answers more than 16 MiB"), "{why}");
}
