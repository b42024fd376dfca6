//! What threads hand over to be recorded.

use faultlens_record::store::{self, CaseRecord};
use faultlens_record::{GoldenRecord, Record};

/// Records that a thread has finished; the store writes a borrowed view of them.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) records: Vec<Record>,
    pub(super) goldens: Vec<GoldenRecord>,
    pub(super) cases: Vec<CaseRecord>,
}

impl Batch {
    /// A batch of trials alone.
    pub(super) fn of_records(records: Vec<Record>) -> Self {
        Self { records, ..Self::default() }
    }

    pub(super) fn append(&mut self, other: Self) {
        self.records.extend(other.records);
        self.goldens.extend(other.goldens);
        self.cases.extend(other.cases);
    }

    pub(super) fn view(&self) -> store::Batch<'_> {
        store::Batch { records: &self.records, goldens: &self.goldens, cases: &self.cases }
    }
}
