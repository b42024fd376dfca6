//! Answers, and that none is paid for twice.

use crate::server::{Reply, Server};
use crate::wire::{Who, connector, image, manners, said, spec, target};
use faultlens_core::{Image, Response, Target, TargetError};
use faultlens_targets::service::{Codec, Manners, ServiceSpec, ServiceTarget};
use std::sync::Barrier;
use std::time::{Duration, Instant};

fn value(target: &ServiceTarget, number: u8) -> f32 {
    let Response::Values(values) = target.ask(&image(number)).unwrap() else { panic!("a number") };
    values[0]
}

#[test]
fn an_answer_is_paid_for_once_and_found_by_the_next_run() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, ledger) = (folder.path().join("answers"), folder.path().join("calls.jsonl"));
    let server = Server::start(|number, _| Reply::With(200, "", said(number as f32)));
    let first = target(&server, manners());
    first.attach(&cache, &ledger).unwrap();
    let asked: Vec<f32> = [1, 2, 1, 3, 2].map(|number| value(&first, number)).to_vec();
    assert_eq!(asked, [0.0, 1.0, 0.0, 2.0, 1.0]);
    let second = target(&server, manners());
    second.attach(&cache, &ledger).unwrap();
    assert_eq!([3, 2, 1].map(|number| value(&second, number)), [2.0, 1.0, 0.0]);
    assert_eq!(server.count(), 3);
    let account = second.account();
    assert_eq!((account.cached, account.process.calls, account.campaign.calls), (3, 0, 3));
    assert_eq!(account.campaign.money, 0.75);
    assert_eq!(first.account().campaign.answered, 3);
    assert_eq!(second.versions().into_iter().collect::<Vec<_>>(), ["1"]);
    let request = &server.received()[0];
    assert!(request.head.starts_with("POST /ask HTTP/1.1\r\n"), "{}", request.head);
    assert!(request.body.starts_with(b"\x89PNG"));
}

#[test]
fn without_a_folder_nothing_is_filed() {
    let server = Server::start(|number, _| Reply::With(200, "", said(number as f32)));
    let target = target(&server, manners());
    assert_eq!([value(&target, 1), value(&target, 1)], [0.0, 1.0]);
    assert_eq!(target.ask_again(&image(1)), Ok(None));
    assert_eq!(target.account().process.calls, 2);
}

#[test]
fn a_refused_image_is_filed_too() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, _| Reply::With(400, "", "too\nsmall".to_owned()));
    let target = target(&server, manners());
    target.attach(&folder.path().join("a"), &folder.path().join("l")).unwrap();
    for _ in 0..2 {
        assert_eq!(target.ask(&image(1)), Err(TargetError::Rejected("too small".to_owned())));
    }
    assert_eq!((server.count(), target.account().process.refused), (1, 1));
}

#[test]
fn the_same_question_under_way_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let wait = Duration::from_millis(100);
    let server = Server::start(move |number, _| Reply::Late(wait, said(number as f32)));
    let target = target(&server, manners());
    target.attach(&folder.path().join("a"), &folder.path().join("l")).unwrap();
    let start = Barrier::new(6);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                start.wait();
                assert_eq!(value(&target, 7), 0.0);
            });
        }
    });
    assert_eq!((server.count(), target.account().cached), (1, 5));
}

#[test]
fn a_service_that_has_changed_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let answers = ["5, \"version\": \"1\"", "5, \"version\": \"2\"", "6", "7"];
    let server = Server::start(move |number, _| {
        Reply::With(200, "", format!("{{\"value\": {}}}", answers[number]))
    });
    let target = target(&server, manners());
    target.attach(&folder.path().join("a"), &folder.path().join("l")).unwrap();
    assert_eq!(value(&target, 1), 5.0);
    assert_eq!(target.ask_again(&image(1)), Ok(Some(true)));
    assert_eq!(target.ask_again(&image(1)), Ok(Some(false)));
    assert_eq!(value(&target, 1), 5.0, "the filed answer stays");
    assert_eq!(target.versions().len(), 2);
    assert_eq!(server.count(), 3);
}

#[test]
fn places_and_pace_hold_over_all_threads() {
    let wait = Duration::from_millis(60);
    let server = Server::start(move |_, _| Reply::Late(wait, said(0.0)));
    let most = target(&server, Manners { concurrency: 2, ..manners() });
    let paced = target(&server, Manners { concurrency: 8, rate: Some(50.0), ..manners() });
    let all = |target: &ServiceTarget| {
        std::thread::scope(|scope| {
            for number in 0..8 {
                scope.spawn(move || value(target, number));
            }
        });
    };
    all(&most);
    assert_eq!(server.most(), 2);
    let started = Instant::now();
    all(&paced);
    assert!(started.elapsed() >= Duration::from_millis(7 * 20 + 60), "{:?}", started.elapsed());
    assert!(paced.account().process.seconds_waited > 0.0);
}

#[test]
fn the_key_says_what_decides_answers_and_nothing_else() {
    let key = |change: &dyn Fn(&mut ServiceSpec)| {
        let mut spec = spec(manners());
        change(&mut spec);
        ServiceTarget::new(&spec, connector("http://127.0.0.1:1", Who(true))).unwrap().key()
    };
    let plain = key(&|_| ());
    assert_eq!(plain.len(), 64);
    assert_eq!(plain, key(&|spec| spec.manners.rate = Some(3.0)));
    assert_eq!(plain, key(&|spec| spec.profile = Some("work".to_owned())));
    for other in [
        key(&|spec| spec.codec = Codec::Jpeg(90)),
        key(&|spec| spec.considered = vec!["cat".to_owned()]),
        key(&|spec| spec.most = 3),
        key(&|spec| spec.model = Some("m".to_owned())),
    ] {
        assert_ne!(plain, other);
    }
    let elsewhere = connector("http://127.0.0.1:2", Who(true));
    assert_ne!(plain, ServiceTarget::new(&spec(manners()), elsewhere).unwrap().key());
}

#[test]
#[expect(clippy::print_stderr, reason = "the figures are what it is for")]
fn what_an_ask_costs_beside_the_service_itself() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(|_, _| Reply::With(200, "", said(0.0)));
    let target = target(&server, manners());
    target.attach(&folder.path().join("a"), &folder.path().join("l")).unwrap();
    // As large as models see them, and as hard to pack as photos are.
    let photo = |number: u32| {
        let noise = |at: u32| (at.wrapping_mul(2_654_435_761) >> 24) as u8 / 4;
        let rgb = (0..224 * 224 * 3).map(|at| noise(at + number) + (at / 3000) as u8).collect();
        Image::from_rgb(224, 224, rgb).unwrap()
    };
    let images: Vec<Image> = (0..100).map(photo).collect();
    let time = |what: &str| {
        let started = Instant::now();
        images.iter().for_each(|image| assert!(target.ask(image).is_ok()));
        eprintln!("{what}: {:?} an ask", started.elapsed() / 100);
    };
    let started = Instant::now();
    images.iter().for_each(|image| assert!(faultlens_data::encode_png(image).is_some()));
    eprintln!("encoded: {:?} an image", started.elapsed() / 100);
    time("over loopback");
    time("filed");
    assert_eq!(server.count(), 100);
}
