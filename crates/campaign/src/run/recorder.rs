//! The one place where a run's records are written; sinks hear of them afterwards.

use super::batch::Batch;
use super::examples::Candidates;
use super::rounds::Rounds;
use crate::event::{Event, Sink};
use crate::run_error::RunError;
use faultlens_record::Record;
use faultlens_record::store::{
    CaseRecord, Done, ExampleRecord, PictureRecord, PinRecord, ShownRecord, Store, StoreError,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Records that are written in one transaction, at most.
const COMMIT_RECORDS: usize = 8192;
/// The time that a record may wait to be written.
const COMMIT_AFTER: Duration = Duration::from_millis(100);

/// Writes what threads hand over, then reports it to the sinks.
pub(super) struct Recorder<'a, 's> {
    store: Store,
    sinks: &'a mut [&'s mut dyn Sink],
    done: Arc<Done>,
    recorded: u64,
    /// Cases, and digests of answers by target and case, as first seen.
    cases: BTreeMap<u32, CaseRecord>,
    goldens: BTreeMap<(u32, u32), Option<u64>>,
    /// Cases that cannot be read and were warned about.
    warned: BTreeSet<u32>,
    /// The counts of each round, where the campaign has a stop rule.
    rounds: Option<Rounds>,
    candidates: Candidates,
}

impl<'a, 's> Recorder<'a, 's> {
    pub(super) fn new(
        store: Store,
        sinks: &'a mut [&'s mut dyn Sink],
        mut rounds: Option<Rounds>,
        candidates: Candidates,
    ) -> Result<Self, StoreError> {
        let mut cases = BTreeMap::new();
        for case in store.cases()? {
            if let Some(rounds) = &mut rounds {
                rounds.add_case(&case);
            }
            cases.insert(case.case, case);
        }
        let goldens = store.goldens()?.into_iter();
        let goldens = goldens.map(|golden| ((golden.target, golden.case), golden.digest)).collect();
        let done = Arc::new(store.done()?);
        let recorded = done.count();
        let warned = BTreeSet::new();
        Ok(Self { store, sinks, done, recorded, cases, goldens, warned, rounds, candidates })
    }

    /// Takes note of what is on record already, for the stop rule and for examples.
    pub(super) fn look_back(&mut self) -> Result<(), StoreError> {
        if self.recorded == 0 {
            return Ok(());
        }
        let Self { store, rounds, candidates, .. } = self;
        store.for_each::<StoreError>(|record| {
            note(rounds, candidates, &record);
            Ok(())
        })
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// What was on record before this run.
    pub(super) fn done(&self) -> Arc<Done> {
        Arc::clone(&self.done)
    }

    pub(super) fn recorded(&self) -> u64 {
        self.recorded
    }

    pub(super) fn emit(&mut self, event: &Event<'_>) -> Result<(), RunError> {
        self.sinks.iter_mut().try_for_each(|sink| Ok(sink.take(event)?))
    }

    /// The counts of each round, where the campaign has a stop rule.
    pub(super) fn rounds(&mut self) -> Option<&mut Rounds> {
        self.rounds.as_mut()
    }

    /// Trials worth looking at.
    pub(super) fn candidates(&self) -> &Candidates {
        &self.candidates
    }

    pub(super) fn put_pins(&mut self, pins: &[PinRecord]) -> Result<(), StoreError> {
        self.store.put_pins(pins)
    }

    /// Notes that nothing is left to do.
    pub(super) fn finish(
        &mut self,
        examples: &[ExampleRecord],
        (pictures, shown): &(Vec<PictureRecord>, Vec<ShownRecord>),
        stopped_early: bool,
    ) -> Result<(), StoreError> {
        self.store.put_examples(examples)?;
        self.store.put_pictures(pictures, shown)?;
        self.store.mark_complete(stopped_early)
    }

    /// Writes until the last thread has nothing more to hand over.
    pub(super) fn take_all(&mut self, receive: Receiver<Batch>) -> Result<(), RunError> {
        let mut pending = Batch::default();
        let mut last = Instant::now();
        loop {
            let wait = COMMIT_AFTER.saturating_sub(last.elapsed());
            match receive.recv_timeout(wait) {
                Ok(batch) => pending.append(batch),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.commit(&mut pending),
            }
            if pending.records.len() >= COMMIT_RECORDS || last.elapsed() >= COMMIT_AFTER {
                self.commit(&mut pending)?;
                last = Instant::now();
            }
        }
    }

    fn commit(&mut self, pending: &mut Batch) -> Result<(), RunError> {
        let mut batch = std::mem::take(pending);
        // SQLite appends rows fastest in the order of their keys.
        batch.records.sort_unstable_by_key(|record| record.number);
        self.check(&batch)?;
        self.store.write(&batch.view())?;
        for case in &batch.cases {
            if let Some(rounds) = &mut self.rounds {
                rounds.add_case(case);
            }
            // Every target meets the case again; one warning is enough.
            if let Some(error) = &case.error
                && self.warned.insert(case.case)
            {
                let text = format!("{} is left skipped: {error}", case.name);
                self.emit(&Event::Warning(&text))?;
            }
        }
        if !batch.records.is_empty() {
            self.emit(&Event::Recorded(&batch.records))?;
        }
        for record in &batch.records {
            note(&mut self.rounds, &mut self.candidates, record);
        }
        Ok(())
    }

    /// Refuses cases and answers that are not those of the run's beginning: records of two
    /// different things would have the same name.
    fn check(&mut self, batch: &Batch) -> Result<(), RunError> {
        for case in &batch.cases {
            if self.cases.entry(case.case).or_insert_with(|| case.clone()) != case {
                return Err(RunError::Changed {
                    what: format!("case {} (its name, image, label or groups)", case.name),
                    hint: "put the data back, or start a new run with another output",
                });
            }
        }
        for golden in &batch.goldens {
            let at = (golden.target, golden.case);
            let known = self.goldens.entry(at).or_insert(golden.digest);
            // A target that gave no answer before may give one now.
            *known = known.or(golden.digest);
            if golden.digest.is_some() && *known != golden.digest {
                return Err(RunError::Changed {
                    what: format!("the answer of target {} to case {}", at.0, at.1),
                    hint: "the same version of faultlens must finish a run that began it",
                });
            }
        }
        Ok(())
    }
}

fn note(rounds: &mut Option<Rounds>, candidates: &mut Candidates, record: &Record) {
    if let Some(rounds) = rounds {
        rounds.count(record);
    }
    candidates.add(record);
}
