//! Single answers of any number of files.

use std::collections::BTreeMap;

use anyhow::{Context, bail, ensure};
use csv::StringRecord;
use faultlens::analysis::format::counted;
use faultlens::did_you_mean;
use faultlens::report::plain;
use faultlens::stats::tolerance::{Changed, Original};

use super::columns::{AnswerColumns, Change};
use super::names;
use crate::command::csv_file::CsvFile;

/// The maximum number of labels; more of them are a wrong column.
const MAX_LABELS: usize = 10_000;

/// Answers while files are read.
pub(super) struct Answers {
    images: BTreeMap<String, u32>,
    labels: Labels,
    originals: Vec<Original>,
    changed: BTreeMap<String, Vec<Changed>>,
    /// Rows without an answer.
    unanswered: u64,
}

/// What all files hold together.
pub(super) struct Read {
    pub(super) originals: Vec<Original>,
    pub(super) changed: BTreeMap<String, Vec<Changed>>,
    pub(super) notes: Vec<String>,
}

/// Labels by number, and which of them can be answered.
struct Labels {
    numbers: BTreeMap<String, u32>,
    all: Vec<Label>,
    /// Whether the user listed the labels.
    given: bool,
}

struct Label {
    text: String,
    /// Whether it is the truth of an image, or one that the user named.
    known: bool,
    /// Where it was first answered.
    answered: Option<String>,
}

impl Answers {
    /// With the labels that the user names, if any.
    pub(super) fn new(labels: &[String]) -> Self {
        let mut all =
            Labels { numbers: BTreeMap::new(), all: Vec::new(), given: !labels.is_empty() };
        for label in labels {
            let number = all.number(label.trim());
            all.all[number as usize].known = true;
        }
        Self {
            images: BTreeMap::new(),
            labels: all,
            originals: Vec::new(),
            changed: BTreeMap::new(),
            unanswered: 0,
        }
    }

    /// Reads one file; `fault` names what its changed images met where no column does.
    pub(super) fn read(
        &mut self,
        mut file: CsvFile,
        columns: &AnswerColumns,
        fault: Option<&str>,
        path: &str,
    ) -> anyhow::Result<()> {
        ensure!(
            columns.fault.is_some() || fault.is_some(),
            "no column holds the fault (fault or transformation); give --fault NAME"
        );
        let mut row = StringRecord::new();
        let mut rows = 0;
        while let Some(line) = file.next(&mut row)? {
            rows += 1;
            let place = format!("{path}, line {line}");
            self.row(&row, columns, fault, &place).with_context(|| format!("line {line}"))?;
        }
        ensure!(rows > 0, "the table has a header but no rows");
        Ok(())
    }

    fn row(
        &mut self,
        row: &StringRecord,
        columns: &AnswerColumns,
        fault: Option<&str>,
        place: &str,
    ) -> anyhow::Result<()> {
        let text = |at: usize| row.get(at).unwrap_or_default();
        if text(columns.answer).is_empty() {
            self.unanswered += 1;
            return Ok(());
        }
        let image: Vec<&str> = columns.image.iter().map(|&at| text(at)).collect();
        ensure!(image.iter().all(|part| !part.is_empty()), "the image is not named");
        let next = u32::try_from(self.images.len()).context("there are too many images")?;
        let image = *self.images.entry(image.join("\u{1f}")).or_insert(next);
        let truth = columns.truth.map(text).filter(|truth| !truth.is_empty());
        let truth = truth.map(|truth| self.labels.truth(truth)).transpose()?;
        let answer = self.labels.answer(text(columns.answer), place)?;
        match text(columns.kind) {
            "original" => self.originals.push(Original { image, answer, truth }),
            "changed" | "transformed" => {
                let visual_change = visual_change(columns.change, &text)?;
                let name = columns.fault.map(text).filter(|name| !name.is_empty()).or(fault);
                let name = names::fault(name.context("the fault is not named")?);
                let rows = self.changed.entry(name).or_default();
                rows.push(Changed { image, visual_change, answer, truth });
            }
            other => bail!("the kind is \"{}\"; original or changed is needed", plain(other)),
        }
        Ok(())
    }

    /// All answers, when every file has been read.
    pub(super) fn finish(self) -> anyhow::Result<Read> {
        self.labels.check()?;
        let mut notes = Vec::new();
        if self.unanswered > 0 {
            notes.push(format!("{} without an answer left out", counted(self.unanswered, "row")));
        }
        if let Some(only) = self.labels.only() {
            notes.push(format!(
                "every answer is \"{}\": answers that never differ show no drop",
                plain(only)
            ));
        }
        Ok(Read { originals: self.originals, changed: self.changed, notes })
    }
}

impl Labels {
    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.numbers.insert(text.to_owned(), number);
        self.all.push(Label { text: text.to_owned(), known: false, answered: None });
        number
    }

    fn truth(&mut self, text: &str) -> anyhow::Result<u32> {
        let number = self.number(text);
        let label = &mut self.all[number as usize];
        if self.given && !label.known {
            bail!("the truth is \"{}\", which is not one of --labels", plain(text));
        }
        label.known = true;
        self.limited(number)
    }

    fn answer(&mut self, text: &str, place: &str) -> anyhow::Result<u32> {
        let number = self.number(text);
        self.all[number as usize].answered.get_or_insert_with(|| place.to_owned());
        self.limited(number)
    }

    fn limited(&self, number: u32) -> anyhow::Result<u32> {
        ensure!(
            self.all.len() <= MAX_LABELS,
            "there are more than {MAX_LABELS} different labels; are the columns mixed up?"
        );
        Ok(number)
    }

    /// Whether everything that was answered is a label. Without any truth, anything is.
    fn check(&self) -> anyhow::Result<()> {
        let known = || self.all.iter().filter(|label| label.known).map(|label| label.text.as_str());
        if known().next().is_none() {
            return Ok(());
        }
        let strange = self.all.iter().filter(|label| !label.known);
        let Some((label, place)) =
            strange.filter_map(|label| Some((label, label.answered.as_ref()?))).next()
        else {
            return Ok(());
        };
        let hint = match did_you_mean(&label.text, known()) {
            Some(close) => format!("did you mean \"{}\"? If it is right,", plain(close)),
            None => "if it is right,".to_owned(),
        };
        let source = if self.given { "not one of --labels" } else { "not the truth of any image" };
        bail!(
            "{place}: the answer is \"{}\", which is {source}; {hint} name all labels with --labels",
            plain(&label.text)
        )
    }

    /// The label that all answers are, where there is just one though another could be.
    fn only(&self) -> Option<&str> {
        let mut answered = self.all.iter().filter(|label| label.answered.is_some());
        let first = answered.next()?;
        answered.next().is_none().then_some(first.text.as_str())
    }
}

/// The visual change of a row, by either column.
fn visual_change<'a>(change: Change, text: &impl Fn(usize) -> &'a str) -> anyhow::Result<f64> {
    let (at, name) = match change {
        Change::Visual(at) => (at, "the visual change"),
        Change::Vif(at) => (at, "VIF"),
    };
    let number: Option<f64> = text(at).parse().ok().filter(|number: &f64| number.is_finite());
    let (number, range) = match change {
        // Above 1 the image has gained contrast, which people do not mind.
        Change::Vif(_) => (number.filter(|vif| *vif >= 0.0).map(|vif| (1.0 - vif).max(0.0)), "0"),
        Change::Visual(_) => (number.filter(|change| (0.0..=1.0).contains(change)), "0 to 1"),
    };
    number.with_context(|| {
        format!("{name} is \"{}\", but a number from {range} is needed", plain(text(at)))
    })
}

#[cfg(test)]
mod tests {
    use super::super::columns::Columns;
    use super::*;

    fn read(labels: &[&str], text: &str) -> anyhow::Result<Read> {
        let labels: Vec<String> = labels.iter().map(|&label| label.to_owned()).collect();
        let mut answers = Answers::new(&labels);
        let file = CsvFile::new(text.as_bytes().to_vec())?;
        let Columns::Answers(columns) = Columns::new(&file.names)? else { panic!() };
        answers.read(file, &columns, None, "a.csv")?;
        answers.finish()
    }

    const PUBLISHED: &str = "\
kind,set,batch,index,transformation,ground_truth,human_label,IQA
transformed,frost,4,80,frost,not car,car,0.75
transformed,frost,4,80,RGB,car,car,1.2
original,frost,5,80,original,car,car,1
original,frost,4,80,original,not car,not car,1
";

    #[test]
    fn an_image_is_batch_and_index_together() {
        let read = read(&[], PUBLISHED).unwrap();
        let faults: Vec<&String> = read.changed.keys().collect();
        assert_eq!(faults, ["frost", "rgb_shift"]);
        let frost = read.changed["frost"][0];
        assert_eq!((frost.visual_change, read.changed["rgb_shift"][0].visual_change), (0.25, 0.0));
        assert_eq!(frost.image, read.originals[1].image);
        assert_ne!(frost.image, read.originals[0].image);
        assert_ne!(Some(frost.answer), frost.truth);
    }

    #[test]
    fn answers_that_are_no_label_are_refused() {
        let typo = PUBLISHED.replacen("car,car,1\n", "car,carr,1\n", 1);
        let error = read(&[], &typo).err().unwrap().to_string();
        let wanted = "a.csv, line 4: the answer is \"carr\", which is not the truth of any image; did you \
                      mean \"car\"?";
        assert!(error.contains(wanted), "{error}");
        assert!(read(&["car", "not car", "carr"], &typo).is_ok());
        let error = format!("{:#}", read(&["car"], PUBLISHED).err().unwrap());
        assert!(error.contains("line 2: the truth is \"not car\", which is not one of --labels"));
        // Without any known truth, any answer is accepted.
        let untold = "image,kind,fault,answer,visual_change\n1,changed,frost,zebra,0.5\n";
        assert_eq!(read(&[], untold).unwrap().changed["frost"][0].truth, None);
    }

    #[test]
    fn rows_without_an_answer_are_counted_and_odd_ones_refused() {
        let holes = PUBLISHED.replacen("car,car,0.75", "car,,0.75", 1);
        let read_holes = read(&[], &holes).unwrap();
        assert_eq!(read_holes.notes, ["1 row without an answer left out"]);
        assert!(!read_holes.changed.contains_key("frost"));
        let equal = PUBLISHED.replace("not car\u{2c}", "car,").replace(",not car,1\n", ",car,1\n");
        assert!(read(&[], &equal).unwrap().notes[0].contains("every answer is \"car\""));
        for (from, to, wanted) in [
            ("0.75", "-0.1", "line 2: VIF is \"-0.1\", but a number from 0 is needed"),
            ("0.75", "NaN", "VIF is \"NaN\""),
            ("0.75", "", "VIF is \"\""),
            ("transformed,", "blurred,", "the kind is \"blurred\"; original or changed"),
            ("4,80", ",80", "the image is not named"),
            ("80,frost", "80,", "the fault is not named"),
        ] {
            let error = format!("{:#}", read(&[], &PUBLISHED.replacen(from, to, 1)).err().unwrap());
            assert!(error.contains(wanted), "{to}: {error}");
        }
        let own = "image,kind,fault,answer,visual_change\n1,changed,frost,zebra,1.5\n";
        let error = format!("{:#}", read(&[], own).err().unwrap());
        assert!(
            error.contains("the visual change is \"1.5\", but a number from 0 to 1"),
            "{error}"
        );
    }
}
