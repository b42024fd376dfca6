//! The process in which inputs run: it tells the number of each before it starts, and panics after.

use anyhow::Result;
use faultlens_core::Seed;
use faultlens_fuzz::{FuzzTarget, corpus};
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::{Mutex, PoisonError};

/// Changes of one input at most.
const MAX_CHANGES: usize = 6;

/// What the last panic said, and where.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// The input of a number: the corpus as it is, then changes of it.
pub(crate) fn input(target: &FuzzTarget, corpus: &[&[u8]], seed: u64, number: u64) -> Vec<u8> {
    if let Some(own) = usize::try_from(number).ok().and_then(|at| corpus.get(at)) {
        return own.to_vec();
    }
    let mut stream = Seed::new(seed).child(target.name).at(number).stream();
    let mut input = stream.pick(corpus).map(|own| own.to_vec()).unwrap_or_default();
    // Mostly one or two: more of them mostly make rubbish that is refused at once.
    for _ in 0..MAX_CHANGES {
        (target.mutate)(&mut input, corpus, &mut stream);
        if stream.chance(0.6) {
            break;
        }
    }
    input
}

/// Runs a target; what it panicked with, if it did.
pub(crate) fn panics(target: &FuzzTarget, bytes: &[u8]) -> Option<String> {
    let done = catch_unwind(AssertUnwindSafe(|| (target.run)(bytes)));
    done.is_err().then(|| LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

/// Keeps what panics say, instead of printing it.
pub(crate) fn keep_panics() {
    set_hook(Box::new(|about| {
        let place = about.location().map(|place| place.to_string()).unwrap_or_default();
        let said = about.payload_as_str().unwrap_or("no reason").replace('\n', " ");
        let mut last = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        *last = format!("{place}: {said}");
    }));
}

/// Runs the inputs `from`, `from + step` and so on, below `until`.
pub(crate) fn work(target: &FuzzTarget, seed: u64, from: u64, step: u64, until: u64) -> Result<()> {
    keep_panics();
    let corpus = corpus::read(target);
    let corpus: Vec<&[u8]> = corpus.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    let mut out = std::io::stdout().lock();
    let mut number = from;
    while number < until {
        let bytes = input(target, &corpus, seed, number);
        writeln!(out, "i {number}")?;
        out.flush()?;
        if let Some(said) = panics(target, &bytes) {
            writeln!(out, "p {number} {said}")?;
            out.flush()?;
        }
        number = number.saturating_add(step);
    }
    Ok(())
}
