//! The answers as tables: `answers.csv` has those that count, `left-out.csv` the others with the
//! reason. Both follow from the journal alone, in its order, and can be made again at any time.

use crate::desk;
use crate::error::StudyError;
use crate::file;
use crate::journal::{Journal, TimedChoice};
use crate::ledger::{Entry, Ledger, LeftOut, name};
use crate::people;
use crate::stimulus::StimulusKind;
use crate::study::Study;
use std::path::Path;

/// The answers that count, as `faultlens tolerance` reads them.
pub(crate) const ANSWERS: &str = "answers.csv";
const LEFT_OUT: &str = "left-out.csv";
const COLUMNS: [&str; 8] =
    ["image", "fault", "truth", "answer", "visual_change", "kind", "participant", "millis"];

/// Makes the tables and the run again from the journal of a study that is not being served.
pub fn collect(dir: &Path) -> Result<(), StudyError> {
    let study = Study::open(dir)?;
    let _lock = desk::lock(dir)?;
    let ledger = desk::ledger(&Journal::read(dir)?, &study)?;
    all(&study, &ledger)
}

pub(crate) fn all(study: &Study, ledger: &Ledger) -> Result<(), StudyError> {
    tables(study, ledger)?;
    people::record(study, ledger)
}

pub(crate) fn tables(study: &Study, ledger: &Ledger) -> Result<(), StudyError> {
    let mut counted = Table::new(&COLUMNS);
    let more = ["shown_ms", "frame_ms", "why"];
    let columns: Vec<&str> = COLUMNS.into_iter().chain(more).collect();
    let mut left_out = Table::new(&columns);
    for entry in ledger.answers(study) {
        let row = row(study, &entry);
        match entry.left_out {
            None => counted.row(&row),
            Some(why) => left_out.row(&with_reason(row, entry.answer, why)),
        }
    }
    counted.write(&study.dir.join(ANSWERS))?;
    left_out.write(&study.dir.join(LEFT_OUT))
}

fn row(study: &Study, entry: &Entry<'_>) -> Vec<String> {
    let stimulus = &study.stimuli[entry.stimulus];
    let answer = entry.answer;
    let kind = if stimulus.kind == StimulusKind::Changed { "changed" } else { "original" };
    vec![
        stimulus.image.clone(),
        stimulus.fault.clone(),
        stimulus.truth.clone(),
        study.protocol.choices[answer.choice].clone(),
        stimulus.visual_change.to_string(),
        kind.to_owned(),
        name(entry.who),
        format!("{:.0}", answer.millis),
    ]
}

fn with_reason(mut row: Vec<String>, answer: &TimedChoice, why: LeftOut) -> Vec<String> {
    let times = [answer.shown_ms, answer.frame_ms].map(|ms| format!("{ms:.1}"));
    row.extend(times);
    row.push(why.name().to_owned());
    row
}

/// A table in the making.
struct Table(csv::Writer<Vec<u8>>, csv::Result<()>);

impl Table {
    fn new(columns: &[&str]) -> Self {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let begun = writer.write_record(columns);
        Self(writer, begun)
    }

    fn row(&mut self, cells: &[String]) {
        if self.1.is_ok() {
            self.1 = self.0.write_record(cells);
        }
    }

    fn write(self, path: &Path) -> Result<(), StudyError> {
        let Self(writer, written) = self;
        let bytes = written
            .and_then(|()| writer.into_inner().map_err(|error| error.into_error().into()))
            .map_err(|error| StudyError::damaged(error.to_string(), path))?;
        file::replace(path, &bytes)
    }
}
