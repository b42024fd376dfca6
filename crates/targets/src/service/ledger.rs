//! Every call, written down before it is made and after it has ended.
//!
//! A line before a call means that a killed run has paid for no call that is not in the ledger;
//! the line after it says what came. Both are added to the same sums in memory.

use super::budget::Budget;
use super::error::ServiceError;
use super::hash::RequestHash;
use super::pace::lock;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

/// A longer line is none of ours.
const LONGEST_LINE: u64 = 4096;

/// What a line tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Came {
    /// A call is about to be made.
    Asked,
    /// An answer that was understood.
    Answered,
    /// The service does not take the image.
    Refused,
    /// Too many calls.
    Throttled,
    /// A problem of the service's own.
    ServerError,
    /// No answer, or nothing that can be understood.
    Lost,
    /// No answer in time.
    TimedOut,
    /// The service is not open to these credentials.
    Denied,
    /// The service never saw the call, so that it is taken back.
    Unreached,
}

/// A line of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Line {
    /// Milliseconds since 1970.
    at: u64,
    /// Whose call it is: a ledger may be shared.
    target: String,
    /// The question, by the first digits of its hash.
    request: String,
    /// How often it was asked before, in this run of it.
    attempt: u32,
    came: Came,
    /// The HTTP status, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// How long was waited before the call, or how long it took.
    ms: u64,
    /// What the call may cost.
    cost: f64,
}

/// Calls, what came of them, and what they took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Calls that reached the service, or may have.
    pub calls: u64,
    /// Calls of them that repeated another one.
    pub repeats: u64,
    /// Calls that were answered.
    pub answered: u64,
    /// Calls whose image the service does not take.
    pub refused: u64,
    /// Calls that came too fast.
    pub throttled: u64,
    /// Calls that met a problem of the service's own.
    pub server_errors: u64,
    /// Calls whose answer got lost or cannot be understood.
    pub lost: u64,
    /// Calls that were not answered in time.
    pub timed_out: u64,
    /// Calls that the credentials did not open the service to.
    pub denied: u64,
    /// Calls whose end nobody has seen: under way, or killed.
    pub unfinished: u64,
    /// Tries that never reached the service; they are no calls and cost nothing.
    pub unreached: u64,
    /// Seconds that were waited before calls: for the pace, for a place, for a repeat.
    pub seconds_waited: f64,
    /// Seconds between calls and their answers.
    pub seconds_asking: f64,
    /// What the calls cost at most: the price of each that reached the service, since who pays
    /// for one that was throttled or got lost is the provider's to say.
    pub money: f64,
}

impl Tally {
    fn add(&mut self, line: &Line) {
        let seconds = line.ms as f64 / 1000.0;
        if line.came == Came::Asked {
            self.calls += 1;
            self.repeats += u64::from(line.attempt > 0);
            self.unfinished += 1;
            self.seconds_waited += seconds;
            self.money += line.cost;
            return;
        }
        self.unfinished = self.unfinished.saturating_sub(1);
        self.seconds_asking += seconds;
        let ended = match line.came {
            Came::Asked | Came::Answered => &mut self.answered,
            Came::Refused => &mut self.refused,
            Came::Throttled => &mut self.throttled,
            Came::ServerError => &mut self.server_errors,
            Came::Lost => &mut self.lost,
            Came::TimedOut => &mut self.timed_out,
            Came::Denied => &mut self.denied,
            Came::Unreached => &mut self.unreached,
        };
        *ended += 1;
        if line.came == Came::Unreached {
            self.calls = self.calls.saturating_sub(1);
            self.repeats = self.repeats.saturating_sub(u64::from(line.attempt > 0));
            self.money = (self.money - line.cost).max(0.0);
        }
    }
}

/// One target's ledger: in memory from the start, on disk once it is attached to a file.
pub(super) struct Ledger {
    target: String,
    budget: Budget,
    books: Mutex<Books>,
}

#[derive(Default)]
struct Books {
    process: Tally,
    campaign: Tally,
    file: Option<(File, PathBuf)>,
}

impl Ledger {
    pub(super) fn new(target: &str, budget: Budget) -> Self {
        Self { target: target.to_owned(), budget, books: Mutex::default() }
    }

    /// Takes up what a file says of this target, and goes on there.
    pub(super) fn attach(&self, path: &Path) -> Result<(), ServiceError> {
        let failed = || ServiceError::io("cannot use the ledger", path);
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(path).map_err(failed())?;
        if !file.metadata().map_err(failed())?.is_file() {
            let path = path.display();
            return Err(ServiceError::Setting(format!("the ledger must be a plain file: {path}")));
        }
        let (campaign, whole) = self.sum(BufReader::new(&file)).map_err(failed())?;
        if !whole {
            // A kill tore the last line; the next one must not be glued to it.
            file.write_all(b"\n").map_err(failed())?;
        }
        let mut books = lock(&self.books);
        books.campaign = campaign;
        books.file = Some((file, path.to_path_buf()));
        Ok(())
    }

    /// The sums of this target's lines, and whether the last one ends as it should. What cannot
    /// be read is a line that a kill tore.
    fn sum(&self, mut lines: impl BufRead) -> std::io::Result<(Tally, bool)> {
        let (mut sums, mut whole) = (Tally::default(), true);
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            if lines.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut bytes)? == 0 {
                return Ok((sums, whole));
            }
            whole = bytes.ends_with(b"\n");
            let line = serde_json::from_slice::<Line>(&bytes).ok();
            if let Some(line) = line.filter(|line| whole && line.target == self.target) {
                sums.add(&line);
            }
        }
    }

    /// Opens an attempt, or says why there must be none: a spent budget, a file that cannot be
    /// written. Threads ask one after the other, so that together they spend no more.
    pub(super) fn begin(
        &self,
        request: &RequestHash,
        attempt: u32,
        waited: Duration,
    ) -> Result<Entry<'_>, String> {
        let entry = Entry { ledger: self, request: request.short(), attempt };
        let line = entry.line(Came::Asked, None, waited);
        let mut books = lock(&self.books);
        self.budget.check(&books.campaign)?;
        books.write(&line)?;
        Ok(entry)
    }

    /// The sums of this process, and of the whole campaign.
    pub(super) fn sums(&self) -> (Tally, Tally) {
        let books = lock(&self.books);
        (books.process, books.campaign)
    }
}

impl Books {
    /// One write per line, so that a kill tears one line at most.
    fn write(&mut self, line: &Line) -> Result<(), String> {
        if let Some((file, path)) = &mut self.file {
            let wrong = |why: String| {
                let path = path.display();
                format!("cannot write the ledger ({why}); make room and run again: {path}")
            };
            let mut text = serde_json::to_vec(line).map_err(|error| wrong(error.to_string()))?;
            text.push(b'\n');
            file.write_all(&text).map_err(|error| wrong(error.to_string()))?;
        }
        self.process.add(line);
        self.campaign.add(line);
        Ok(())
    }
}

/// An attempt that is open.
pub(super) struct Entry<'a> {
    ledger: &'a Ledger,
    request: String,
    attempt: u32,
}

impl Entry<'_> {
    /// Writes down what came.
    pub(super) fn end(self, came: Came, status: Option<u16>, took: Duration) -> Result<(), String> {
        lock(&self.ledger.books).write(&self.line(came, status, took))
    }

    fn line(&self, came: Came, status: Option<u16>, time: Duration) -> Line {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Line {
            at: milliseconds(since),
            target: self.ledger.target.clone(),
            request: self.request.clone(),
            attempt: self.attempt,
            came,
            status,
            ms: milliseconds(time),
            cost: self.ledger.budget.price(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::spec::Manners;
    use crate::service::wire::Request;

    fn ledger(target: &str, calls: u64) -> Ledger {
        let manners = Manners { calls: Some(calls), ..Manners::default() };
        Ledger::new(target, Budget::new(&manners, 0.5))
    }

    fn question() -> RequestHash {
        let (headers, body) = (vec![], vec![]);
        RequestHash::of("", &Request { method: "POST", path: "/".to_owned(), headers, body })
    }

    #[test]
    fn a_ledger_goes_on_after_a_kill_and_knows_whose_calls_are_whose() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let (first, waited) = (ledger("one", 9), Duration::from_millis(1500));
        first.attach(&path).unwrap();
        for (attempt, came) in [Came::Throttled, Came::Unreached, Came::Answered].iter().enumerate()
        {
            let entry = first.begin(&question(), attempt as u32, waited).unwrap();
            entry.end(*came, Some(200), Duration::from_millis(250)).unwrap();
        }
        // Killed while a call was under way, and while a line was written.
        drop(first.begin(&question(), 0, waited).unwrap());
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"at\":17,\"targ").unwrap();
        let second = ledger("one", 3);
        second.attach(&path).unwrap();
        let (process, campaign) = second.sums();
        assert_eq!(process, Tally::default());
        assert_eq!(campaign, first.sums().1);
        let wanted = Tally {
            calls: 3,
            repeats: 1,
            answered: 1,
            throttled: 1,
            unreached: 1,
            unfinished: 1,
            seconds_waited: 6.0,
            seconds_asking: 0.75,
            money: 1.5,
            ..Tally::default()
        };
        assert_eq!(campaign, wanted);
        assert!(second.begin(&question(), 0, waited).err().unwrap().contains("3 calls"));
        let other = ledger("two", 3);
        other.attach(&path).unwrap();
        assert_eq!(other.sums().1, Tally::default());
        other.begin(&question(), 0, waited).unwrap().end(Came::Lost, None, waited).unwrap();
        let third = ledger("two", 3);
        third.attach(&path).unwrap();
        assert_eq!(third.sums().1.lost, 1, "the torn line is not glued to the next");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_cannot_be_written_down_is_not_asked() {
        let full = Path::new("/dev/full");
        let ledger = ledger("one", 9);
        let error = ledger.attach(full).unwrap_err().to_string();
        assert!(error.starts_with("the ledger must be a plain file"), "{error}");
        let file = OpenOptions::new().append(true).open(full).unwrap();
        lock(&ledger.books).file = Some((file, full.to_path_buf()));
        let why = ledger.begin(&question(), 0, Duration::ZERO).err().unwrap();
        assert!(why.contains("No space left") && why.contains("make room"), "{why}");
        assert_eq!(ledger.sums().0, Tally::default());
    }

    #[test]
    fn threads_together_spend_no_more_than_one() {
        let ledger = ledger("one", 25);
        let made = std::sync::atomic::AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    while let Ok(entry) = ledger.begin(&question(), 0, Duration::ZERO) {
                        made.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        entry.end(Came::Answered, None, Duration::ZERO).unwrap();
                    }
                });
            }
        });
        assert_eq!((made.into_inner(), ledger.sums().0.answered), (25, 25));
    }
}
