//! From a table's columns to durations, events and covariates.

use std::collections::BTreeMap;

use anyhow::ensure;
use faultlens::analysis::format::counted;
use faultlens::report::plain;
use faultlens::stats::survival::Lifetimes;

use super::design::{Columns, Term};
use super::roles::Roles;
use super::table::Table;
use super::used::{Used, kept, sort};

/// A wider model would take too long to fit, and be too uncertain to use.
const MAX_COVARIATES: usize = 400;

/// What the models are fitted on.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) data: Lifetimes,
    /// The line of the file that each row starts on.
    pub(super) lines: Vec<u64>,
    /// The level of each row in the column of strata.
    pub(super) strata: Option<Vec<String>>,
    /// The levels of the column of strata, in sorted order, by which rows of Cox's model are numbered.
    pub(super) strata_levels: Vec<String>,
    /// The cluster of each row, by number.
    pub(super) clusters: Option<Vec<usize>>,
    /// How columns became covariates.
    pub(super) design: Vec<Term>,
    /// Rows of the table that are left out since a value is missing.
    pub(super) left_out: usize,
    /// Columns of levels, each with the level that the others are compared with.
    pub(super) bases: BTreeMap<String, String>,
    /// The covariates that each column became.
    pub(super) terms: BTreeMap<String, Vec<String>>,
    /// What the user should know about how the table was read.
    pub(super) notes: Vec<String>,
}

impl Rows {
    /// Takes the columns apart.
    pub(super) fn new(table: &Table, roles: &Roles, names: &[String]) -> anyhow::Result<Self> {
        let used = Used { table, names, kept: kept(table, roles) };
        let mut notes = used.missing(roles)?;
        if roles.unnamed > 0 {
            let columns = counted(roles.unnamed as u64, "column");
            notes.push(format!("{columns} without a name left out"));
        }
        let mut data = used.lifetimes(roles)?;
        let strata = roles.strata.map(|at| used.texts(at));
        let strata_levels = distinct(strata.as_deref().unwrap_or_default());
        if let Some(strata) = &strata {
            data = data.stratified(numbered(strata, &strata_levels))?;
        }
        let clusters = roles.cluster.map(|at| {
            let texts = used.texts(at);
            numbered(&texts, &distinct(&texts))
        });
        let mut found = Found { notes, ..Found::default() };
        for atoms in &roles.formula.terms {
            let term = Term::new(atoms, &used, &mut found.bases)?;
            for (name, values) in found.covariates(term, &used, roles.named)? {
                data = data.covariate(&name, values)?;
            }
            let few = data.covariates().len() <= MAX_COVARIATES;
            ensure!(few, "more than {MAX_COVARIATES} covariates; choose some with --covariates");
        }
        Ok(Self {
            data,
            lines: used.kept.iter().map(|&i| table.lines[i]).collect(),
            strata,
            strata_levels,
            clusters,
            design: found.design,
            left_out: table.lines.len() - used.kept.len(),
            bases: found.bases,
            terms: found.terms,
            notes: found.notes,
        })
    }

    /// The rows of each stratum, in sorted order.
    pub(super) fn groups(&self) -> anyhow::Result<Vec<(String, Lifetimes)>> {
        let mut rows: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (i, level) in self.strata.iter().flatten().enumerate() {
            rows.entry(level).or_default().push(i);
        }
        let group =
            |(level, rows): (&str, Vec<usize>)| Ok((level.to_owned(), self.data.select(&rows)?));
        rows.into_iter().map(group).collect()
    }
}

/// The different texts, numbers by size and everything else by letters.
fn distinct(texts: &[String]) -> Vec<String> {
    let mut levels: Vec<(u32, &str)> = texts.iter().map(|text| (0, text.as_str())).collect();
    levels.sort_by_key(|(_, text)| *text);
    levels.dedup();
    sort(&mut levels);
    levels.into_iter().map(|(_, text)| text.to_owned()).collect()
}

/// The place of each text among the levels.
fn numbered(texts: &[String], levels: &[String]) -> Vec<usize> {
    let places: BTreeMap<&String, usize> = levels.iter().zip(0..).collect();
    texts.iter().map(|text| places.get(text).copied().unwrap_or_default()).collect()
}

/// What is found out about columns as they become covariates; see [`Rows`].
#[derive(Default)]
struct Found {
    bases: BTreeMap<String, String>,
    terms: BTreeMap<String, Vec<String>>,
    design: Vec<Term>,
    notes: Vec<String>,
}

impl Found {
    /// The covariates of one term; none of one that never changes, unless the user named it.
    fn covariates(&mut self, term: Term, used: &Used<'_>, named: bool) -> anyhow::Result<Columns> {
        let columns = term.columns(used)?;
        if columns.is_empty()
            || columns.iter().any(|(_, values)| values.iter().all(|v| *v == values[0]))
        {
            let name = plain(&term.label);
            ensure!(
                !named,
                "{name} is the same in every row; take it out of --covariates or --formula"
            );
            self.notes.push(format!("{name} left out: it is the same in every row"));
            return Ok(Vec::new());
        }
        let terms = columns.iter().map(|(name, _)| name.clone()).collect();
        self.terms.insert(term.label.clone(), terms);
        self.design.push(term);
        Ok(columns)
    }
}
