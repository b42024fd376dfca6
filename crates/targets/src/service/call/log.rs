//! The call log: every call, written down before it is sent and after it has ended.
//!
//! It is a write-ahead log. Since a line is written before each call, a killed run has made no call
//! that is not in the log; the line after the call reports its result. Both are added to the same
//! counts in memory, and a run that resumes starts from the counts in the file.

use super::super::error::ServiceError;
use super::super::sync::lock;
use super::budget::Budget;
use super::counts::{CallCounts, CallEvent};
use super::hash::RequestHash;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

/// A longer line is not from this program.
const MAX_LINE: u64 = 4096;

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct LogLine {
    /// Milliseconds since 1970.
    at: u64,
    /// Whose call it is: a log may be shared.
    target: String,
    /// The request, by the first digits of its hash.
    request: String,
    /// How often the request was sent before, by this process.
    attempt: u32,
    /// What happened; the first release called it `came`.
    #[serde(alias = "came")]
    event: CallEvent,
    /// The HTTP status, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    /// How long the call waited before it was sent, or how long it took.
    ms: u64,
    /// What the call may cost.
    cost: f64,
}

/// The log of one target: in memory from the start, on disk once it is attached to a file.
pub(in super::super) struct CallLog {
    target: String,
    budget: Budget,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    process: CallCounts,
    campaign: CallCounts,
    file: Option<(File, PathBuf)>,
}

impl CallLog {
    pub(in super::super) fn new(target: &str, budget: Budget) -> Self {
        Self { target: target.to_owned(), budget, state: Mutex::default() }
    }

    /// Adds up what a file says about this target's calls, and continues in that file.
    pub(in super::super) fn attach(&self, path: &Path) -> Result<(), ServiceError> {
        let failed = || ServiceError::io("cannot use the call log", path);
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(path).map_err(failed())?;
        if !file.metadata().map_err(failed())?.is_file() {
            let path = path.display();
            return Err(ServiceError::Setting(format!(
                "the call log must be a plain file: {path}"
            )));
        }
        let (campaign, ends_with_newline) = self.count(BufReader::new(&file)).map_err(failed())?;
        if !ends_with_newline {
            // A kill tore the last line; the next one must not be glued to it.
            file.write_all(b"\n").map_err(failed())?;
        }
        let mut state = lock(&self.state);
        state.campaign = campaign;
        state.file = Some((file, path.to_path_buf()));
        Ok(())
    }

    /// The counts of this target's lines, and whether the last line is complete. A line that
    /// cannot be read was torn by a kill, and is skipped.
    fn count(&self, mut lines: impl BufRead) -> std::io::Result<(CallCounts, bool)> {
        let mut counts = CallCounts::default();
        let mut is_complete = true;
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            if lines.by_ref().take(MAX_LINE).read_until(b'\n', &mut bytes)? == 0 {
                return Ok((counts, is_complete));
            }
            is_complete = bytes.ends_with(b"\n");
            if let Ok(line) = serde_json::from_slice::<LogLine>(&bytes)
                && is_complete
                && line.target == self.target
            {
                line.add_to(&mut counts);
            }
        }
    }

    /// Logs the start of a call, or returns why it must not be made: a spent budget, or a file that
    /// cannot be written. Threads come here one after the other, so that together they spend no
    /// more than the budget.
    pub(super) fn begin(
        &self,
        request: &RequestHash,
        attempt: u32,
        waited: Duration,
    ) -> Result<LoggedCall<'_>, String> {
        let call = LoggedCall { log: self, request: request.short(), attempt };
        let line = call.line(CallEvent::Asked, None, waited);
        let mut state = lock(&self.state);
        self.budget.check(&state.campaign)?;
        state.write(&line)?;
        Ok(call)
    }

    /// The counts of this process, and of the whole campaign.
    pub(in super::super) fn counts(&self) -> (CallCounts, CallCounts) {
        let state = lock(&self.state);
        (state.process, state.campaign)
    }
}

impl LogLine {
    fn add_to(&self, counts: &mut CallCounts) {
        counts.add(self.event, self.attempt > 0, Duration::from_millis(self.ms), self.cost);
    }
}

impl State {
    /// Writes a line with one system call, so that a kill tears one line at most.
    fn write(&mut self, line: &LogLine) -> Result<(), String> {
        if let Some((file, path)) = &mut self.file {
            let mut text = serde_json::to_vec(line).map_err(|error| error.to_string())?;
            text.push(b'\n');
            file.write_all(&text).map_err(|error| {
                let path = path.display();
                format!("cannot write the call log ({error}); make room and run again: {path}")
            })?;
        }
        line.add_to(&mut self.process);
        line.add_to(&mut self.campaign);
        Ok(())
    }
}

/// A call whose start is in the log.
pub(super) struct LoggedCall<'a> {
    log: &'a CallLog,
    request: String,
    attempt: u32,
}

impl LoggedCall<'_> {
    /// Logs how the call ended.
    pub(super) fn end(
        self,
        event: CallEvent,
        status: Option<u16>,
        took: Duration,
    ) -> Result<(), String> {
        lock(&self.log.state).write(&self.line(event, status, took))
    }

    fn line(&self, event: CallEvent, status: Option<u16>, time: Duration) -> LogLine {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        LogLine {
            at: milliseconds(now),
            target: self.log.target.clone(),
            request: self.request.clone(),
            attempt: self.attempt,
            event,
            status,
            ms: milliseconds(time),
            cost: self.log.budget.price(),
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::super::spec::Limits;
    use super::*;

    fn log(target: &str, calls: u64) -> CallLog {
        let limits = Limits { calls: Some(calls), ..Limits::default() };
        CallLog::new(target, Budget::new(&limits, 0.5))
    }

    fn request() -> RequestHash {
        RequestHash::of_path("/")
    }

    #[test]
    fn a_log_continues_after_a_kill_and_keeps_targets_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let waited = Duration::from_millis(1500);
        let first = log("one", 9);
        first.attach(&path).unwrap();
        let events = [CallEvent::Throttled, CallEvent::Unreached, CallEvent::Answered];
        for (attempt, event) in events.into_iter().enumerate() {
            let call = first.begin(&request(), attempt as u32, waited).unwrap();
            call.end(event, Some(200), Duration::from_millis(250)).unwrap();
        }
        // Killed while a call was in flight, and while a line was written.
        drop(first.begin(&request(), 0, waited).unwrap());
        let mut file = OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"at\":17,\"targ").unwrap();
        let second = log("one", 3);
        second.attach(&path).unwrap();
        let (process, campaign) = second.counts();
        assert_eq!(process, CallCounts::default());
        assert_eq!(campaign, first.counts().1);
        let wanted = CallCounts {
            calls: 3,
            repeats: 1,
            answered: 1,
            throttled: 1,
            unreached: 1,
            unfinished: 1,
            seconds_waited: 6.0,
            seconds_asking: 0.75,
            money: 1.5,
            ..CallCounts::default()
        };
        assert_eq!(campaign, wanted);
        assert!(second.begin(&request(), 0, waited).err().unwrap().contains("3 calls"));
        let other = log("two", 3);
        other.attach(&path).unwrap();
        assert_eq!(other.counts().1, CallCounts::default());
        other.begin(&request(), 0, waited).unwrap().end(CallEvent::Lost, None, waited).unwrap();
        let third = log("two", 3);
        third.attach(&path).unwrap();
        assert_eq!(third.counts().1.lost, 1, "the torn line is not glued to the next");
    }

    #[test]
    fn lines_of_the_first_release_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let line = r#"{"at":1,"target":"one","request":"ab","attempt":0,"came":"asked","ms":0,"cost":0.5}"#;
        std::fs::write(&path, format!("{line}\n")).unwrap();
        let log = log("one", 9);
        log.attach(&path).unwrap();
        assert_eq!(log.counts().1.calls, 1);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_call_that_cannot_be_logged_is_not_made() {
        let full = Path::new("/dev/full");
        let log = log("one", 9);
        let error = log.attach(full).unwrap_err().to_string();
        assert!(error.starts_with("the call log must be a plain file"), "{error}");
        let file = OpenOptions::new().append(true).open(full).unwrap();
        lock(&log.state).file = Some((file, full.to_path_buf()));
        let why = log.begin(&request(), 0, Duration::ZERO).err().unwrap();
        assert!(why.contains("No space left") && why.contains("make room"), "{why}");
        assert_eq!(log.counts().0, CallCounts::default());
    }

    #[test]
    fn threads_together_spend_no_more_than_the_budget() {
        let log = log("one", 25);
        let made = std::sync::atomic::AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    while let Ok(call) = log.begin(&request(), 0, Duration::ZERO) {
                        made.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        call.end(CallEvent::Answered, None, Duration::ZERO).unwrap();
                    }
                });
            }
        });
        assert_eq!((made.into_inner(), log.counts().0.answered), (25, 25));
    }
}
