//! An outage is no evidence: trials that cannot be done now stay open, and the next run does them.

use crate::campaigns::records;
use faultlens_campaign::run::{
    Ending, Event, OpenCause, OpenTrials, RunOptions, Sink, SinkError, run_open,
};
use faultlens_campaign::{CampaignBuilder, OpenCampaign};
use faultlens_core::{
    Case, Image, ImageFault, Outcome, OutcomeKind, Reason, Response, Stream, Target, TargetError,
};
use faultlens_data::{DataError, DataSet, Source};
use faultlens_record::Record;
use faultlens_record::store::Store;
use faultlens_spec::{Population, Stop};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Cases of the campaigns here; that of `BROKEN` can never be read.
const CASES: usize = 12;
const BROKEN: usize = 3;

/// Images on a disk that is there for so many more reads.
struct Disk {
    reads: AtomicUsize,
}

impl Source for Disk {
    fn len(&self) -> usize {
        CASES
    }

    fn label(&self, _index: usize) -> Option<usize> {
        None
    }

    fn case(&self, index: usize) -> Result<Case, DataError> {
        let path = PathBuf::from(format!("disk/{index}.png"));
        if !counts_down(&self.reads) {
            let source = io::Error::from(io::ErrorKind::NotFound);
            return Err(DataError::Io { doing: "open the image", source, path });
        }
        if index == BROKEN {
            return Err(DataError::Image { reason: "the file is damaged".to_owned(), path });
        }
        Ok(Case::new(format!("{index}.png"), Image::from_rgb(1, 1, vec![index as u8; 3]).unwrap()))
    }
}

/// Answers so many more questions.
struct Busy {
    answers: AtomicUsize,
}

impl Target for Busy {
    fn ask(&self, image: &Image) -> Result<Response, TargetError> {
        if !counts_down(&self.answers) {
            return Err(TargetError::Unavailable("HTTP 503".to_owned()));
        }
        Ok(Response::Values(image.rgb().iter().map(|&byte| f32::from(byte / 16)).collect()))
    }
}

fn counts_down(left: &AtomicUsize) -> bool {
    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok()
}

/// Adds up to 63 to every pixel.
struct Brighter;

impl ImageFault for Brighter {
    fn change(&self, image: &Image, stream: &mut Stream) -> Image {
        let more = (stream.next_u32() % 64) as u8;
        image.map_pixels(|pixel| pixel.map(|channel| channel.saturating_add(more)))
    }
}

fn open(reads: usize, answers: [usize; 2], stop: bool) -> OpenCampaign {
    let [first, second] = answers.map(|answers| Busy { answers: AtomicUsize::new(answers) });
    let mut open = CampaignBuilder::new("outage")
        .target("first", first)
        .target("second", second)
        .trials(7)
        .fault("brighter", Brighter)
        .cases(DataSet::new(Vec::new(), Disk { reads: AtomicUsize::new(reads) }))
        .oracle("same_values")
        .open()
        .unwrap();
    if stop {
        let population = Population::TheseImages;
        open.campaign.stop = Some(Stop { half_width: 0.2, at_most: 7, population });
    }
    open
}

#[derive(Default)]
struct Left(Vec<OpenTrials>);

impl Sink for Left {
    fn take(&mut self, event: &Event<'_>) -> Result<(), SinkError> {
        if let Event::LeftOpen(trials) = event {
            self.0.push((*trials).clone());
        }
        Ok(())
    }
}

fn run(open: &OpenCampaign, dir: &Path, threads: usize) -> (Ending, Vec<OpenTrials>) {
    let mut left = Left::default();
    let options =
        RunOptions { output: Some(dir.to_path_buf()), shard: None, threads: Some(threads) };
    let sinks: &mut [&mut dyn Sink] = &mut [&mut left];
    let ending = run_open(open, &options, sinks, &AtomicBool::new(false)).unwrap();
    (ending, left.0)
}

const NEVER: usize = usize::MAX;

fn whole(dir: &Path, stop: bool) -> Vec<Record> {
    let run = run(&open(NEVER, [NEVER; 2], stop), dir, 1);
    assert!(run.0.is_finished() && run.1.is_empty());
    records(dir)
}

fn assert_same(got: &[Record], wanted: &[Record]) {
    assert_eq!(got.len(), wanted.len());
    for (got, wanted) in got.iter().zip(wanted) {
        assert!(got.is_same(wanted), "{got:?}\n{wanted:?}");
    }
}

#[test]
fn images_that_are_gone_leave_their_trials_open_and_broken_ones_are_skipped() {
    let temp = tempfile::tempdir().unwrap();
    for stop in [false, true] {
        let wanted = whole(&temp.path().join(format!("whole-{stop}")), stop);
        for (threads, reads) in [(1, 2), (1, 6), (3, 9), (2, 17)] {
            let dir = temp.path().join(format!("{stop}-{threads}-{reads}"));
            let (ending, left) = run(&open(reads, [NEVER; 2], stop), &dir, threads);
            assert_eq!(ending, Ending::Incomplete, "{stop} {reads}");
            assert!(!Store::read(&dir).unwrap().progress().unwrap().complete);
            let [left] = &left[..] else { panic!("{left:?}") };
            assert_eq!(left.cause, OpenCause::Images);
            assert!(left.error.contains("disk/"), "{left:?}");
            let before = records(&dir);
            if !stop {
                assert_eq!(before.len() as u64 + left.trials, wanted.len() as u64);
            }
            let (ending, left) = run(&open(NEVER, [NEVER; 2], stop), &dir, threads);
            assert!(ending.is_finished() && left.is_empty(), "{ending:?} {left:?}");
            assert_same(&records(&dir), &wanted);
        }
        // The broken file stays broken, and is said to be so.
        let skipped = |record: &&Record| record.outcome.kind() == OutcomeKind::Skipped;
        let all: Vec<&Record> = wanted.iter().filter(skipped).collect();
        assert!(!all.is_empty());
        for record in all {
            assert_eq!(record.case, BROKEN as u32);
            assert_eq!(record.outcome, Outcome::Skipped(Reason::CaseUnreadable));
        }
    }
}

#[test]
fn a_target_without_answers_leaves_its_trials_open_and_no_others() {
    let temp = tempfile::tempdir().unwrap();
    for stop in [false, true] {
        let wanted = whole(&temp.path().join(format!("whole-{stop}")), stop);
        for (threads, answers) in [(1, 0), (1, 1), (1, 20), (3, 33)] {
            let dir = temp.path().join(format!("{stop}-{threads}-{answers}"));
            let (ending, left) = run(&open(NEVER, [NEVER, answers], stop), &dir, threads);
            assert_eq!(ending, Ending::Incomplete, "{stop} {answers}");
            let [left] = &left[..] else { panic!("{left:?}") };
            let cause = OpenCause::Target { name: "second".to_owned(), stopped: false };
            assert_eq!((&left.cause, &*left.error), (&cause, "HTTP 503"));
            let before = records(&dir);
            assert!(before.iter().all(|record| {
                record.outcome.kind() != OutcomeKind::Skipped || record.case == BROKEN as u32
            }));
            let (ending, _) = run(&open(NEVER, [NEVER; 2], stop), &dir, threads);
            assert!(ending.is_finished());
            assert_same(&records(&dir), &wanted);
        }
    }
}

/// Counts what it is asked.
struct Counts(Arc<AtomicUsize>);

impl Target for Counts {
    fn ask(&self, image: &Image) -> Result<Response, TargetError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(Response::Values(image.rgb().iter().map(|&byte| f32::from(byte / 16)).collect()))
    }
}

#[test]
fn a_finished_run_asks_nothing_again() {
    let temp = tempfile::tempdir().unwrap();
    let asked = Arc::new(AtomicUsize::new(0));
    let counting = || {
        let cases = DataSet::new(Vec::new(), Disk { reads: AtomicUsize::new(NEVER) });
        let campaign = CampaignBuilder::new("counted").target("first", Counts(Arc::clone(&asked)));
        campaign.trials(7).fault("brighter", Brighter).cases(cases).oracle("same_values")
    };
    let dir = temp.path().join("run");
    assert_eq!(run(&counting().open().unwrap(), &dir, 2).0, Ending::Complete);
    let examples = Store::read(&dir).unwrap().examples().unwrap();
    assert!(!examples.is_empty());
    let again = counting().open().unwrap();
    let before = asked.load(Ordering::Relaxed);
    assert_eq!(run(&again, &dir, 2).0, Ending::Complete);
    // Whether the judge can judge the answers is tried out on one of them.
    assert!(asked.load(Ordering::Relaxed) <= before + 1);
    assert_eq!(Store::read(&dir).unwrap().examples().unwrap(), examples);
    // Another number of examples is something to do.
    let mut more = counting().open().unwrap();
    more.campaign.examples = 1;
    more.campaign.text.push_str("examples: 1");
    assert_eq!(run(&more, &dir, 2).0, Ending::Complete);
    assert!(asked.load(Ordering::Relaxed) > before + 4);
}
