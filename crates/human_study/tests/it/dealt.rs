//! Who is shown what.

use crate::made::{Manner, at, index, move_on, play, study, tokens};
use faultlens_core::Seed;
use faultlens_human_study::{Desk, Next, Status, Stimulus, StimulusKind};
use std::collections::{BTreeMap, BTreeSet};

fn nobody_meets_a_picture_twice(shown: &[String], index: &BTreeMap<String, Stimulus>) {
    let study = shown.iter().filter(|file| index[*file].kind != StimulusKind::Easy);
    let images: Vec<&str> = study.map(|file| index[file].image.as_str()).collect();
    let distinct: BTreeSet<&str> = images.iter().copied().collect();
    assert_eq!(distinct.len(), images.len());
}

#[test]
fn every_version_is_seen_by_as_many_as_wanted_and_no_picture_twice_by_one() {
    let dir = study(40);
    let index = index(&at(&dir));
    let mut desk = Desk::open(&at(&dir)).unwrap();
    // Three versions of each picture, each for three people: nine people see everything.
    for _ in 0..9 {
        let token = desk.join().unwrap();
        let shown = play(&mut desk, &token, Manner::Right);
        nobody_meets_a_picture_twice(&shown, &index);
        let of_study = shown.iter().filter(|file| index[*file].kind != StimulusKind::Easy).count();
        assert_eq!(of_study, 40);
    }
    let status = Status::read(&at(&dir)).unwrap();
    assert_eq!((status.answers, status.people_needed), (9 * 40, 0));
    assert!(status.pictures.values().all(|group| (group.done, group.answers) == (40, 120)));
    let token = desk.join().unwrap();
    assert_eq!(desk.step(&token).unwrap().next, Next::End { passed: true });
}

#[test]
fn many_at_once_with_restarts_between_get_no_picture_twice_either() {
    let dir = study(30);
    let index = index(&at(&dir));
    let mut stream = Seed::new(11).stream();
    let mut desk = Desk::open(&at(&dir)).unwrap();
    let tokens = tokens(&mut desk, 12);
    let mut shown: BTreeMap<&String, Vec<String>> = BTreeMap::new();
    let mut playing: Vec<&String> = tokens.iter().collect();
    while let Some(&token) = stream.pick(&playing) {
        match move_on(&mut desk, token, Manner::Right, &index) {
            Some(file) => shown.entry(token).or_default().extend(file),
            None => playing.retain(|other| *other != token),
        }
        if stream.chance(0.005) {
            drop(desk);
            desk = Desk::open(&at(&dir)).unwrap();
        }
    }
    shown.values().for_each(|files| nobody_meets_a_picture_twice(files, &index));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in shown.values().flatten().filter(|file| index[*file].kind != StimulusKind::Easy) {
        *counts.entry(file).or_default() += 1;
    }
    assert_eq!(counts.len(), 90);
    // Who was in the middle of a batch at a restart keeps the pictures.
    assert!(counts.values().all(|&count| count == 3), "{counts:?}");
    assert_eq!(Status::read(&at(&dir)).unwrap().people_needed, 0);
}

#[test]
fn pictures_on_their_way_to_somebody_are_not_given_to_more_than_wanted() {
    let dir = study(18);
    let mut desk = Desk::open(&at(&dir)).unwrap();
    let index = index(&at(&dir));
    let tokens = tokens(&mut desk, 12);
    let mut given: BTreeMap<String, usize> = BTreeMap::new();
    for token in &tokens {
        // Up to the first batch of the study, of which nothing is answered.
        loop {
            match desk.step(token).unwrap().next {
                Next::Trials {
                    purpose: faultlens_human_study::Purpose::Study, pictures, ..
                } => {
                    pictures.into_iter().for_each(|file| *given.entry(file).or_default() += 1);
                    break;
                }
                Next::End { .. } => break,
                _ => assert!(move_on(&mut desk, token, Manner::Right, &index).is_some()),
            }
        }
    }
    let versions = given.iter().filter(|(file, _)| index[*file].kind != StimulusKind::Easy);
    assert!(versions.clone().all(|(_, &count)| count <= 3), "{given:?}");
    assert_eq!(versions.count(), 54);
}

#[test]
fn a_batch_has_twenty_pictures_two_of_which_are_checks() {
    let dir = study(40);
    let index = index(&at(&dir));
    let mut desk = Desk::open(&at(&dir)).unwrap();
    let token = desk.join().unwrap();
    let shown = play(&mut desk, &token, Manner::Right);
    let (test, study) = shown.split_at(8);
    assert!(test.iter().all(|file| index[file].kind == StimulusKind::Easy));
    let halves = test.iter().filter(|file| index[*file].truth == "disc").count();
    assert_eq!(halves, 4);
    let sizes: Vec<usize> = study.chunks(20).map(<[String]>::len).collect();
    assert_eq!(sizes, [20, 20, 6]);
    for batch in study.chunks(20) {
        assert_eq!(batch.iter().filter(|file| index[*file].kind == StimulusKind::Easy).count(), 2);
    }
    let easy: Vec<&String> =
        shown.iter().filter(|file| index[*file].kind == StimulusKind::Easy).collect();
    assert_eq!(easy.iter().collect::<BTreeSet<_>>().len(), easy.len());
}
