//! Watches the processes in which inputs run: one that dies or hangs is replaced, and the input is
//! kept.

use crate::{limit, worker};
use anyhow::{Context as _, Result};
use faultlens_fuzz::{FuzzTarget, corpus};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// What is to be done for each target.
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) from: u64,
    pub(crate) inputs: u64,
    pub(crate) jobs: u64,
    pub(crate) time: Duration,
    pub(crate) timeout: Duration,
    pub(crate) failures: PathBuf,
}

/// What an input did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Harm {
    Panic,
    Hang,
    Memory,
    Crash,
}

/// An input that did harm.
pub(crate) struct Failure {
    pub(crate) harm: Harm,
    pub(crate) said: String,
    pub(crate) path: PathBuf,
}

/// What became of one target's inputs.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) inputs: u64,
    pub(crate) failures: Vec<Failure>,
}

/// Runs a target's inputs in several processes until the time is over.
pub(crate) fn supervise(target: &FuzzTarget, plan: &Plan) -> Result<Tally> {
    let end = Instant::now() + plan.time;
    let mut all = Tally::default();
    thread::scope(|scope| -> Result<()> {
        let jobs: Vec<_> =
            (0..plan.jobs).map(|job| scope.spawn(move || watch(target, plan, job, end))).collect();
        for job in jobs {
            let tally = job.join().map_err(|_| anyhow::anyhow!("a watcher panicked"))??;
            all.inputs += tally.inputs;
            all.failures.extend(tally.failures);
        }
        Ok(())
    })?;
    Ok(all)
}

/// A process under way, and what it says.
struct Worker {
    child: Child,
    lines: Receiver<String>,
    errors: thread::JoinHandle<String>,
}

impl Worker {
    fn start(target: &FuzzTarget, plan: &Plan, from: u64) -> Result<Self> {
        let until = plan.from.saturating_add(plan.inputs);
        let numbers = [plan.seed, from, plan.jobs, until].map(|number| number.to_string());
        let mut child = Command::new(std::env::current_exe()?)
            .args(["worker", target.name])
            .args(numbers)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("cannot start a worker")?;
        let (send, lines) = channel();
        let out = child.stdout.take().context("a worker without an output")?;
        thread::spawn(move || {
            let mut lines = BufReader::new(out).lines().map_while(Result::ok);
            while lines.next().is_some_and(|line| send.send(line).is_ok()) {}
        });
        let mut err = child.stderr.take().context("a worker without errors")?;
        let errors = thread::spawn(move || {
            let mut text = Vec::new();
            let _ = err.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Ok(Self { child, lines, errors })
    }

    /// Ends the process unless it has `ended` by itself; whether all went well, and what it last
    /// complained of.
    fn end(mut self, ended: bool) -> (bool, String) {
        if !ended {
            let _ = self.child.kill();
        }
        let well = self.child.wait().is_ok_and(|status| status.success());
        (well, self.errors.join().unwrap_or_default())
    }
}

/// Keeps one process running, and replaces it when it ends.
fn watch(target: &FuzzTarget, plan: &Plan, job: u64, end: Instant) -> Result<Tally> {
    let mut tally = Tally::default();
    let mut next = plan.from + job;
    let until = plan.from.saturating_add(plan.inputs);
    while Instant::now() < end && next < until {
        let worker = Worker::start(target, plan, next)?;
        let mut running = None;
        let ended = loop {
            if Instant::now() >= end {
                break None;
            }
            match worker.lines.recv_timeout(plan.timeout) {
                Ok(line) => {
                    let mut parts = line.splitn(3, ' ');
                    let kind = parts.next().unwrap_or_default();
                    let number = parts.next().and_then(|number| number.parse().ok());
                    let number: u64 = number.context("a worker that does not count")?;
                    if kind == "p" {
                        let said = parts.next().unwrap_or_default();
                        note(&mut tally, target, plan, number, Harm::Panic, said)?;
                    } else {
                        tally.inputs += 1;
                        running = Some(number);
                        next = number.saturating_add(plan.jobs);
                    }
                }
                Err(RecvTimeoutError::Timeout) => break Some(Harm::Hang),
                Err(RecvTimeoutError::Disconnected) => break Some(Harm::Crash),
            }
        };
        let (well, said) = worker.end(ended == Some(Harm::Crash));
        if let (Some(harm), Some(number)) = (ended, running) {
            let harm = if said.contains(limit::OVER) { Harm::Memory } else { harm };
            // A worker that has done all its inputs ends by itself.
            if !well {
                note(&mut tally, target, plan, number, harm, said.trim())?;
            }
        } else if ended.is_some() {
            anyhow::bail!("a worker for {} did not start: {said}", target.name);
        }
    }
    Ok(tally)
}

/// Keeps an input that did harm, once for each thing that was said.
fn note(
    tally: &mut Tally,
    target: &FuzzTarget,
    plan: &Plan,
    number: u64,
    harm: Harm,
    said: &str,
) -> Result<()> {
    let known = tally.failures.iter().find(|known| known.harm == harm && known.said == said);
    let path = match known.filter(|_| harm == Harm::Panic) {
        Some(known) => known.path.clone(),
        None => {
            let corpus = corpus::read(target);
            let corpus: Vec<&[u8]> = corpus.iter().map(|(_, bytes)| bytes.as_slice()).collect();
            let bytes = worker::input(target, &corpus, plan.seed, number);
            fs::create_dir_all(&plan.failures)?;
            let path = plan.failures.join(format!("{}-{}-{number}", target.name, plan.seed));
            fs::write(&path, bytes).with_context(|| format!("{}", path.display()))?;
            path
        }
    };
    tally.failures.push(Failure { harm, said: said.to_owned(), path });
    Ok(())
}
