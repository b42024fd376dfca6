//! How far a study is.

use crate::desk;
use crate::error::StudyError;
use crate::journal::Journal;
use crate::ledger::Ledger;
use crate::stimulus::StimulusKind;
use crate::study::Study;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// How far a study is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// The two choices.
    pub choices: [String; 2],
    /// How many people are wanted for each picture.
    pub wanted: u32,
    /// Who takes part.
    pub people: People,
    /// Answers that count.
    pub answers: u64,
    /// Answers that do not, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// By fault and `original`, how far its pictures are.
    pub pictures: BTreeMap<String, Pictures>,
    /// How many more people it takes at least if each sees all that they can.
    pub people_needed: u64,
}

/// How many people came how far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct People {
    /// Have a link.
    pub joined: u64,
    /// Wanted to take part.
    pub consented: u64,
    /// Passed the test.
    pub qualified: u64,
    /// Missed too many checks.
    pub careless: u64,
}

/// How far some pictures are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Pictures {
    /// How many there are.
    pub all: u64,
    /// How many have all answers that are wanted.
    pub done: u64,
    /// Answers that count.
    pub answers: u64,
}

impl Status {
    /// Reads how far a study is, also while it is served.
    pub fn read(dir: &Path) -> Result<Self, StudyError> {
        let study = Study::open(dir)?;
        let ledger = desk::ledger(&Journal::read(dir)?, &study)?;
        Ok(Self::of(&study, &ledger))
    }

    fn of(study: &Study, ledger: &Ledger) -> Self {
        let counts = ledger.counts(study);
        let mut left_out = BTreeMap::new();
        for why in ledger.answers(study).filter_map(|entry| entry.left_out) {
            *left_out.entry(why.name()).or_default() += 1;
        }
        let mut pictures: BTreeMap<String, Pictures> = BTreeMap::new();
        for at in study.wanted() {
            let stimulus = &study.stimuli[at];
            let original = stimulus.kind == StimulusKind::Original;
            let group = if original { "original" } else { &stimulus.fault };
            let group = pictures.entry(group.to_owned()).or_default();
            group.all += 1;
            group.done += u64::from(counts[at] >= study.protocol.answers);
            group.answers += u64::from(counts[at]);
        }
        Self {
            choices: study.protocol.choices.clone(),
            wanted: study.protocol.answers,
            people: people(study, ledger),
            answers: counts.iter().map(|&count| u64::from(count)).sum(),
            left_out,
            pictures,
            people_needed: people_needed(study, &counts),
        }
    }
}

fn people(study: &Study, ledger: &Ledger) -> People {
    let mut people = People::default();
    for one in &ledger.participants {
        people.joined += 1;
        people.consented += u64::from(one.consented);
        people.qualified += u64::from(one.is_qualified(study));
        people.careless += u64::from(one.is_careless(study));
    }
    people
}

/// Nobody sees two versions of a picture, so the picture that lacks the most answers over all its
/// versions decides how many people it takes.
fn people_needed(study: &Study, counts: &[u32]) -> u64 {
    let mut missing: BTreeMap<&str, u64> = BTreeMap::new();
    for at in study.wanted() {
        let lacks = study.protocol.answers.saturating_sub(counts[at]);
        *missing.entry(&study.stimuli[at].image).or_default() += u64::from(lacks);
    }
    missing.into_values().max().unwrap_or(0)
}
