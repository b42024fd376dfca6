//! What remains: tables, and people as a target of a run.

use crate::made::{CHOICES, Manner, answer_of, at, in_the_study, index, play, study};
use faultlens_analysis::summarise;
use faultlens_human_study::{Answer, Begin, Desk, Purpose, RUN, Stimulus, StimulusKind, collect};
use faultlens_record::store::Store;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

fn rows(text: &str) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(text.as_bytes()).into_deserialize().collect::<Result<_, _>>().unwrap()
}

#[test]
fn answers_that_count_are_in_the_table_that_tolerance_reads() {
    let dir = study(36);
    let mut desk = Desk::open(&at(&dir)).unwrap();
    for _ in 0..2 {
        let token = desk.join().unwrap();
        play(&mut desk, &token, Manner::Right);
    }
    drop(desk);
    collect(&at(&dir)).unwrap();
    let text = fs::read_to_string(at(&dir).join("answers.csv")).unwrap();
    let head = "image,fault,truth,answer,visual_change,kind,participant,millis";
    assert_eq!(text.lines().next(), Some(head));
    let rows = rows(&text);
    assert_eq!(rows.len(), 72);
    let stimuli: Vec<Stimulus> = index(&at(&dir)).into_values().collect();
    for row in &rows {
        let of = |one: &&Stimulus| {
            one.image == row["image"] && one.fault == row["fault"] && one.kind != StimulusKind::Easy
        };
        let stimulus = stimuli.iter().find(of).unwrap();
        assert_eq!((&row["truth"], &row["answer"]), (&stimulus.truth, &stimulus.truth));
        assert_eq!(row["visual_change"].parse(), Ok(stimulus.visual_change));
        let kind = if row["fault"].is_empty() { "original" } else { "changed" };
        assert_eq!((row["kind"].as_str(), row["millis"].as_str()), (kind, "612"));
    }
    let of = |name: &str| rows.iter().filter(|row| row["participant"] == name).count();
    assert_eq!((of("p001"), of("p002")), (36, 36));
    // Nobody's link is in a table.
    let journal = fs::read_to_string(at(&dir).join("journal.jsonl")).unwrap();
    let token = journal.split("\"token\":\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(token.len() == 32 && !text.contains(token));
}

#[test]
fn people_are_a_target_like_any_other() {
    let dir = study(18);
    let mut desk = Desk::open(&at(&dir)).unwrap();
    for number in 0..9 {
        let token = desk.join().unwrap();
        let manner = if number == 4 { Manner::Slow } else { Manner::Human };
        play(&mut desk, &token, manner);
    }
    drop(desk);
    collect(&at(&dir)).unwrap();
    // Again over what is there.
    collect(&at(&dir)).unwrap();
    let answers = rows(&fs::read_to_string(at(&dir).join("answers.csv")).unwrap());
    let of = |kind: &'static str| answers.iter().filter(move |row| row["kind"] == kind);
    // Everybody is right about originals, so that golden is the truth where there is one.
    let golden: BTreeSet<&str> = of("original").map(|row| row["image"].as_str()).collect();
    let judged = || of("changed").filter(|row| golden.contains(row["image"].as_str()));
    let changed = judged().filter(|row| row["answer"] != row["truth"]).count() as u64;
    let summary = summarise(&at(&dir).join(RUN), &[]).unwrap();
    assert_eq!(summary.progress.recorded, of("changed").count() as u64);
    assert_eq!((summary.targets.len(), summary.targets[0].name.as_str()), (1, "people"));
    let rate = summary.overall.rate;
    assert!(changed > 0 && (rate.events, rate.n) == (changed, judged().count() as u64));
    assert!(!summary.progress.complete);
    // Doses are visual change, so that reports draw curves over it: low where half is still there.
    let curve = summary.curves.iter().find(|curve| curve.axis == "visual_change").unwrap();
    for (dose, rate) in &curve.points {
        assert_eq!(*dose > 0.5, rate.value > Some(0.0), "{curve:?}");
    }
    let store = Store::read(&at(&dir).join(RUN)).unwrap();
    assert!(store.goldens().unwrap().iter().all(|golden| golden.correct != Some(false)));
    assert_eq!(store.manifest().classes, CHOICES.map(str::to_owned));
}

#[test]
fn of_a_tie_what_was_said_first_is_golden() {
    let dir = study(18);
    let mut desk = Desk::open(&at(&dir)).unwrap();
    let index = index(&at(&dir));
    let (first, second) = (in_the_study(&mut desk), in_the_study(&mut desk));
    // The same pictures for both, since pictures that others have begun with are finished first.
    let mut answered = |(token, batch, pictures): &(String, u32, Vec<String>), manner| {
        for (trial, file) in (0..).zip(pictures) {
            desk.begin(token, Begin { batch: *batch, trial }).unwrap();
            let easy = index[file].kind == StimulusKind::Easy;
            let manner = if easy { Manner::Right } else { manner };
            let answer = answer_of(manner, Purpose::Study, &index[file]);
            desk.answer(token, Answer { batch: *batch, trial, answer }).unwrap();
        }
    };
    // Who joined last is the first to answer.
    answered(&second, Manner::Wrong);
    answered(&first, Manner::Right);
    drop(desk);
    collect(&at(&dir)).unwrap();
    let goldens = Store::read(&at(&dir).join(RUN)).unwrap().goldens().unwrap();
    let correct: Vec<bool> = goldens.iter().filter_map(|golden| golden.correct).collect();
    assert!(!correct.is_empty() && correct.iter().all(|correct| !correct), "{correct:?}");
    // `tolerance` takes the first of a tie in the table.
    let rows = rows(&fs::read_to_string(at(&dir).join("answers.csv")).unwrap());
    let people: Vec<&str> = rows.iter().map(|row| row["participant"].as_str()).collect();
    assert_eq!(people, [["p002"; 18], ["p001"; 18]].concat());
}
