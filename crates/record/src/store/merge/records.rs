//! The records of several runs, in the order of their numbers.

use crate::Record;
use crate::store::scan::Read;
use crate::store::{Batch, Store, StoreError};
use std::collections::VecDeque;

/// Records that are read from a shard, and written to the run, at a time.
const PAGE: u32 = 8192;

/// Writes the records of all shards in the order of their numbers, which keeps the database small;
/// those of `earlier` are in the run already. How many were found in a further shard, and which
/// differ from what is kept.
pub(super) fn merge(
    earlier: Option<&Store>,
    shards: &[Store],
    run: &mut Store,
    keep_first: bool,
) -> Result<(u64, Vec<u64>), StoreError> {
    let readers = earlier.iter().map(|run| Reader::new(run, false));
    let mut readers: Vec<Reader<'_>> =
        readers.chain(shards.iter().map(|shard| Reader::new(shard, true))).collect();
    let mut duplicates = 0;
    let mut differing = Vec::new();
    let mut batch: Vec<Record> = Vec::new();
    let mut in_a_shard = false;
    let mut kept_from = 0;
    while let Some((record, at)) = next(&mut readers)? {
        let from_shard = readers[at].is_shard;
        if let Some(last) = batch.last()
            && last.number == record.number
        {
            duplicates += u64::from(in_a_shard);
            in_a_shard = true;
            if !last.is_same(&record) && !keep_first {
                let first = readers[kept_from].run.dir.clone();
                let second = readers[at].run.dir.clone();
                return Err(StoreError::Contradiction { number: record.number, first, second });
            }
            if !last.is_same(&record) && differing.last() != Some(&record.number) {
                differing.push(record.number);
            }
            continue;
        }
        // Only before a new number, so that duplicates always meet in one batch.
        if batch.len() >= PAGE as usize {
            run.write(&Batch { records: &batch, ..Batch::default() })?;
            batch.clear();
        }
        in_a_shard = from_shard;
        kept_from = at;
        batch.push(record);
    }
    run.write(&Batch { records: &batch, ..Batch::default() })?;
    Ok((duplicates, differing))
}

/// The record with the lowest number, and the place of the first reader that has it.
fn next(readers: &mut [Reader<'_>]) -> Result<Option<(Record, usize)>, StoreError> {
    let mut lowest: Option<(usize, u64)> = None;
    for (at, reader) in readers.iter_mut().enumerate() {
        if let Some(number) = reader.next_number()?
            && lowest.is_none_or(|(_, lowest)| number < lowest)
        {
            lowest = Some((at, number));
        }
    }
    let Some((at, _)) = lowest else { return Ok(None) };
    let reader = &mut readers[at];
    Ok(reader.page.pop_front().map(|record| (record, at)))
}

/// Reads a run from its first record to its last.
struct Reader<'a> {
    run: &'a Store,
    is_shard: bool,
    page: VecDeque<Record>,
    next: Option<u64>,
    read: Read,
}

impl<'a> Reader<'a> {
    fn new(run: &'a Store, is_shard: bool) -> Self {
        Self { run, is_shard, page: VecDeque::new(), next: Some(0), read: Read::default() }
    }

    /// The number of the record that is due.
    fn next_number(&mut self) -> Result<Option<u64>, StoreError> {
        if self.page.is_empty()
            && let Some(next) = self.next
        {
            self.page = self.run.page(next, PAGE, &mut self.read)?.into();
            self.next = self.page.back().map(|last| last.number + 1);
            // Nobody writes to a shard while it is merged; what is read of it must be all of it.
            if self.next.is_none() && self.is_shard {
                self.run.expect_all(&self.read)?;
            }
        }
        Ok(self.page.front().map(|record| record.number))
    }
}
