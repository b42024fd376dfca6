//! A small study, and people who answer as they are told to.

use faultlens_core::{Case, Image, Seed};
use faultlens_data::DataSet;
use faultlens_human_study::{
    Answer, Begin, Desk, Next, Protocol, Purpose, Refusal, Stimulus, Study, StudyRequest,
    TimedChoice, fault, prepare,
};
use faultlens_spec::Varied;
use std::collections::BTreeMap;
use std::path::Path;
use tempfile::TempDir;

pub(crate) const CHOICES: [&str; 2] = ["disc", "no disc"];

/// Pictures of discs and of bars.
pub(crate) fn set(count: usize) -> DataSet {
    let cases: Vec<Case> = (0..count).map(|at| picture(at, at % 3)).collect();
    DataSet::new(["disc", "bar", "cross"].map(str::to_owned).to_vec(), cases)
}

fn picture(at: usize, class: usize) -> Case {
    let side = 24;
    let mut stream = Seed::new(at as u64).stream();
    let mut rgb = Vec::new();
    for y in 0..side {
        for x in 0..side {
            let (dx, dy) = (x as f64 - 12.0, y as f64 - 12.0);
            let inside = match class {
                0 => dx * dx + dy * dy < 49.0,
                1 => dx.abs() < 4.0,
                _ => dx.abs() < 3.0 || dy.abs() < 3.0,
            };
            let level = if inside { 200.0 } else { 60.0 } + stream.between(-20.0, 20.0);
            rgb.extend([level as u8; 3]);
        }
    }
    let image = Image::from_rgb(side, side, rgb).unwrap();
    Case { label: Some(class), ..Case::new(format!("picture {at}"), image) }
}

pub(crate) fn protocol() -> Protocol {
    Protocol { answers: 3, ..Protocol::new(CHOICES.map(str::to_owned), "discs".to_owned(), 7) }
}

pub(crate) fn faults() -> Vec<Varied> {
    ["contrast", "gaussian_noise"].map(|name| fault(name).unwrap()).into()
}

/// A study of so many pictures, each in three versions.
pub(crate) fn study(images: usize) -> TempDir {
    study_by(images, protocol())
}

pub(crate) fn study_by(images: usize, protocol: Protocol) -> TempDir {
    let set = set(3 * images + 120);
    let (groups, faults) = (BTreeMap::new(), faults());
    let dir = tempfile::tempdir().unwrap();
    let asked = StudyRequest { set: &set, protocol, groups, faults, images };
    prepare(&asked, &dir.path().join("study")).unwrap();
    dir
}

/// Where a study is.
pub(crate) fn at(dir: &TempDir) -> std::path::PathBuf {
    dir.path().join("study")
}

/// Links that are handed out, by their secret parts.
pub(crate) fn tokens(desk: &mut Desk, people: usize) -> Vec<String> {
    desk.links(people).unwrap().into_iter().map(|link| link.token).collect()
}

/// How somebody answers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Manner {
    /// Always right.
    Right,
    /// Right in the test, then always wrong.
    Careless,
    /// Always wrong.
    Wrong,
    /// Right, but for pictures of which half is gone.
    Human,
    /// Right, on a screen that shows every picture for too long.
    Slow,
}

/// A picture shown for 200 ms on a screen of 60 Hz.
pub(crate) fn timed_choice(choice: usize) -> TimedChoice {
    TimedChoice { choice, millis: 612.4, shown_ms: 200.1, frame_ms: 16.7 }
}

/// What somebody says to a picture.
pub(crate) fn answer_of(manner: Manner, purpose: Purpose, shown: &Stimulus) -> TimedChoice {
    let truth = CHOICES.iter().position(|choice| *choice == shown.truth).unwrap();
    let wrong = match manner {
        Manner::Right | Manner::Slow => false,
        Manner::Careless => purpose == Purpose::Study,
        Manner::Human => shown.visual_change > 0.5,
        Manner::Wrong => true,
    };
    let choice = timed_choice(if wrong { 1 - truth } else { truth });
    if manner == Manner::Slow { TimedChoice { shown_ms: 250.0, ..choice } } else { choice }
}

/// Everything that is on a study's index, by file.
pub(crate) fn index(dir: &Path) -> BTreeMap<String, Stimulus> {
    let stimuli = Study::open(dir).unwrap().stimuli;
    stimuli.into_iter().map(|stimulus| (stimulus.file.clone(), stimulus)).collect()
}

/// One more picture, or one more click; `None` at the end. Tells which picture was shown.
pub(crate) fn move_on(
    desk: &mut Desk,
    token: &str,
    manner: Manner,
    index: &BTreeMap<String, Stimulus>,
) -> Option<Option<String>> {
    match desk.step(token).unwrap().next {
        Next::Welcome | Next::Pause { .. } => {
            desk.go_on(token).unwrap();
            Some(None)
        }
        Next::Trials { batch, purpose, first, pictures, .. } => {
            desk.begin(token, Begin { batch, trial: first }).unwrap();
            let answer = answer_of(manner, purpose, &index[&pictures[0]]);
            let recorded = desk.answer(token, Answer { batch, trial: first, answer }).unwrap();
            assert_eq!(recorded.truth.is_some(), purpose == Purpose::Qualification);
            Some(Some(pictures[0].clone()))
        }
        Next::End { .. } => None,
    }
}

/// Plays to the end; the pictures in the order they were shown in.
pub(crate) fn play(desk: &mut Desk, token: &str, manner: Manner) -> Vec<String> {
    let index = index(&desk.study().dir);
    let moves = std::iter::from_fn(|| move_on(desk, token, manner, &index));
    moves.flatten().collect()
}

/// Somebody in the first batch of the study.
pub(crate) fn in_the_study(desk: &mut Desk) -> (String, u32, Vec<String>) {
    let index = index(&desk.study().dir);
    let token = desk.join().unwrap();
    loop {
        match desk.step(&token).unwrap().next {
            Next::Trials { purpose: Purpose::Study, batch, pictures, .. } => {
                return (token, batch, pictures);
            }
            _ => assert!(move_on(desk, &token, Manner::Right, &index).is_some()),
        }
    }
}

pub(crate) fn is_late<T>(result: Result<T, Refusal>) -> bool {
    matches!(result, Err(Refusal::Late))
}
