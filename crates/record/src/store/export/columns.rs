//! The columns of an export. One list serves every format.

use crate::store::{CaseRecord, Manifest, ManifestFault, ManifestTarget, Store, StoreError};
use crate::{GoldenRecord, Record};
use faultlens_core::Outcome;
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// What the cells of a column hold, where they are not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellKind {
    Text,
    Whole,
    Single,
    Real,
    Flag,
}

/// One value of one record.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell<'a> {
    Empty,
    Text(Cow<'a, str>),
    Whole(i64),
    Single(f32),
    Real(f64),
    Flag(bool),
}

/// One column.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) kind: CellKind,
    source: Source,
}

/// A record with what it points to.
struct Line<'a> {
    record: &'a Record,
    target: Option<&'a ManifestTarget>,
    case: Option<&'a CaseRecord>,
    fault: Option<&'a ManifestFault>,
    golden: Option<&'a GoldenRecord>,
}

/// Reads a cell from a line.
type ReadCell = for<'a> fn(&Line<'a>) -> Cell<'a>;

enum Source {
    Line(ReadCell),
    Stratum(String),
    Setting(String),
}

/// The columns before the strata.
const CASE: &[(&str, CellKind, ReadCell)] = &[
    ("number", CellKind::Whole, |line| whole(line.record.number)),
    ("trial", CellKind::Text, |line| owned(line.record.trial)),
    ("target", CellKind::Text, |line| match line.target {
        Some(target) => text(&target.name),
        None => owned(line.record.target),
    }),
    ("case", CellKind::Text, |line| match line.case {
        Some(case) => text(&case.name),
        None => owned(line.record.case),
    }),
    ("label", CellKind::Text, |line| {
        or_empty(line.case.and_then(|case| case.label.as_deref()), text)
    }),
];

/// The columns between the strata and the settings.
const FAULT: &[(&str, CellKind, ReadCell)] = &[
    ("fault", CellKind::Text, |line| match line.fault {
        Some(fault) => text(&fault.name),
        None => owned(line.record.fault),
    }),
    ("fault_label", CellKind::Text, |line| or_empty(line.fault, |fault| text(&fault.label))),
];

/// The columns after the settings.
const REST: &[(&str, CellKind, ReadCell)] = &[
    ("dose_axis", CellKind::Text, |line| {
        or_empty(line.fault.and_then(|fault| fault.axis.as_deref()), text)
    }),
    ("dose", CellKind::Real, |line| {
        or_empty(line.fault.and_then(|fault| fault.amount), Cell::Real)
    }),
    ("repeat", CellKind::Whole, |line| Cell::Whole(line.record.repeat.into())),
    ("outcome", CellKind::Text, |line| text(line.record.outcome.kind().name())),
    ("reason", CellKind::Text, |line| match &line.record.outcome {
        Outcome::Skipped(reason) => text(reason.code()),
        _ => Cell::Empty,
    }),
    ("operator", CellKind::Text, |line| at_site(line, |site| text(&site.place.operator))),
    ("kind", CellKind::Text, |line| at_site(line, |site| text(&site.place.kind))),
    ("value", CellKind::Text, |line| at_site(line, |site| text(&site.place.value))),
    ("position", CellKind::Whole, |line| {
        at_site(line, |site| Cell::Whole(site.place.position.into()))
    }),
    ("layer", CellKind::Whole, |line| at_site(line, |site| Cell::Whole(site.place.layer.into()))),
    ("layer_name", CellKind::Text, |line| at_site(line, |site| text(&site.place.layer_name))),
    ("element", CellKind::Whole, |line| at_site(line, |site| whole(site.element))),
    ("bit", CellKind::Whole, |line| {
        at_site(line, |site| or_empty(site.bit, |bit| Cell::Whole(bit.into())))
    }),
    ("before", CellKind::Real, |line| at_site(line, |site| Cell::Real(site.before))),
    ("after", CellKind::Real, |line| at_site(line, |site| Cell::Real(site.after))),
    ("golden", CellKind::Text, |line| {
        or_empty(line.golden.and_then(|golden| golden.answer.as_deref()), text)
    }),
    ("golden_score", CellKind::Single, |line| {
        or_empty(line.golden.and_then(|golden| golden.score), Cell::Single)
    }),
    ("golden_correct", CellKind::Flag, |line| {
        or_empty(line.golden.and_then(|golden| golden.correct), Cell::Flag)
    }),
    ("answer", CellKind::Text, |line| or_empty(line.record.answer.as_deref(), text)),
    ("score", CellKind::Single, |line| or_empty(line.record.score, Cell::Single)),
    ("queries", CellKind::Whole, |line| Cell::Whole(line.record.cost.queries.into())),
    ("digest", CellKind::Text, |line| {
        or_empty(line.record.digest, |digest| owned(format_args!("{digest:016x}")))
    }),
    ("micros", CellKind::Whole, |line| whole(line.record.cost.micros)),
    // Measures under their names, and what plug-ins recorded: one object of texts, since every
    // campaign has others.
    ("extra", CellKind::Text, |line| {
        let fields = line.record.fields();
        if fields.is_empty() { Cell::Empty } else { json(&fields) }
    }),
    // Every changed object with its labels, full scores and boxes; `extra` has a summary of them.
    ("detections", CellKind::Text, |line| or_empty(line.record.measures.detections.as_ref(), json)),
];

fn text(text: &str) -> Cell<'_> {
    Cell::Text(text.into())
}

fn owned(thing: impl ToString) -> Cell<'static> {
    Cell::Text(thing.to_string().into())
}

/// A cell of JSON.
fn json(value: &impl Serialize) -> Cell<'static> {
    serde_json::to_string(value).map_or(Cell::Empty, |json| Cell::Text(json.into()))
}

/// Numbers beyond 63 bits do not occur: there are no plans, tensors and times of that size.
fn whole(number: u64) -> Cell<'static> {
    Cell::Whole(i64::try_from(number).unwrap_or(i64::MAX))
}

fn or_empty<'a, T>(thing: Option<T>, cell: impl FnOnce(T) -> Cell<'a>) -> Cell<'a> {
    thing.map_or(Cell::Empty, cell)
}

fn at_site<'a>(line: &Line<'a>, cell: impl FnOnce(&'a crate::Site) -> Cell<'a>) -> Cell<'a> {
    or_empty(line.record.site.as_ref(), cell)
}

impl Column {
    fn cell<'a>(&self, line: &Line<'a>) -> Cell<'a> {
        match &self.source {
            Source::Line(of) => of(line),
            Source::Stratum(name) => {
                or_empty(line.case.and_then(|case| case.strata.get(name)), |value| text(value))
            }
            Source::Setting(name) => match line.fault.and_then(|fault| fault.settings.get(name)) {
                None | Some(Value::Null) => Cell::Empty,
                Some(Value::Number(number)) if self.kind == CellKind::Real => {
                    or_empty(number.as_f64(), Cell::Real)
                }
                Some(Value::String(word)) => text(word),
                Some(other) => owned(other),
            },
        }
    }
}

/// A run, as rows.
pub(super) struct Sheet<'a> {
    store: &'a Store,
    pub(super) columns: Vec<Column>,
    cases: BTreeMap<u32, CaseRecord>,
    goldens: BTreeMap<(u32, u32), GoldenRecord>,
}

impl<'a> Sheet<'a> {
    pub(super) fn new(store: &'a Store) -> Result<Self, StoreError> {
        let cases: BTreeMap<_, _> =
            store.cases()?.into_iter().map(|case| (case.case, case)).collect();
        let goldens = store.goldens()?.into_iter();
        let goldens = goldens.map(|golden| ((golden.target, golden.case), golden)).collect();
        let columns = columns(store.manifest(), &cases);
        Ok(Self { store, columns, cases, goldens })
    }

    /// Calls for every record with its cells, in the order of the columns.
    pub(super) fn for_each(
        &self,
        mut row: impl FnMut(&mut dyn Iterator<Item = Cell<'_>>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let manifest = self.store.manifest();
        self.store.for_each(|record| {
            let line = Line {
                record: &record,
                target: manifest.targets.get(record.target as usize),
                case: self.cases.get(&record.case),
                fault: manifest.faults.get(record.fault as usize),
                golden: self.goldens.get(&(record.target, record.case)),
            };
            row(&mut self.columns.iter().map(|column| column.cell(&line)))
        })
    }
}

/// Columns that every run has.
fn fixed(list: &'static [(&str, CellKind, ReadCell)]) -> impl Iterator<Item = Column> {
    list.iter().map(|(name, kind, read)| Column {
        name: (*name).to_owned(),
        kind: *kind,
        source: Source::Line(*read),
    })
}

fn columns(manifest: &Manifest, cases: &BTreeMap<u32, CaseRecord>) -> Vec<Column> {
    let strata: BTreeSet<&String> = cases.values().flat_map(|case| case.strata.keys()).collect();
    let strata = strata.into_iter().map(|name| Column {
        name: format!("stratum.{name}"),
        kind: CellKind::Text,
        source: Source::Stratum(name.clone()),
    });
    let settings: BTreeSet<&String> =
        manifest.faults.iter().flat_map(|fault| fault.settings.keys()).collect();
    let settings = settings.into_iter().map(|name| Column {
        name: format!("setting.{name}"),
        kind: setting_kind(manifest, name),
        source: Source::Setting(name.clone()),
    });
    fixed(CASE).chain(strata).chain(fixed(FAULT)).chain(settings).chain(fixed(REST)).collect()
}

/// Numbers where every fault that has the setting has a number there.
fn setting_kind(manifest: &Manifest, name: &str) -> CellKind {
    let mut values = manifest.faults.iter().filter_map(|fault| fault.settings.get(name));
    let are_numbers = values.all(|value| value.is_number() || value.is_null());
    if are_numbers { CellKind::Real } else { CellKind::Text }
}
