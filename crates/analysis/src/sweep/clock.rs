//! The rows that have durations, and what they are measured in.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::observed::Images;
use super::rows::{Configuration, Row, Rows};
use super::{AnalysisError, Options, numbered};

/// What durations are measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Clock {
    /// Processor seconds.
    Seconds,
    /// Questions to the model.
    Queries,
}

impl Clock {
    /// How long a row lasted.
    pub(super) fn of(self, row: &Row) -> f64 {
        match self {
            Self::Seconds => row.seconds,
            Self::Queries => row.queries as f64,
        }
    }

    /// The unit, for people.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Seconds => "processor seconds",
            Self::Queries => "queries",
        }
    }
}

/// A level under which no answer changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unchanged {
    /// Of what: `attack`, `defence`, `data` or `machine`.
    pub axis: &'static str,
    /// The level.
    pub level: String,
}

impl Unchanged {
    /// Why its rows are in no model, in a sentence without a full stop.
    #[must_use]
    pub fn note(&self) -> String {
        format!(
            "no answer changed with {} {}; its rows are left out of the models, where its \
             coefficient would be infinite",
            self.axis, self.level
        )
    }
}

/// Rows of attacks that go on until the answer changes or their budget ends.
pub(super) struct Attacked<'a> {
    pub(super) configurations: &'a [Configuration],
    pub(super) rows: Vec<&'a Row>,
    /// The trained model of each configuration.
    pub(super) models: Vec<usize>,
    /// The images of the rows.
    pub(super) images: &'a Images<'a>,
    /// How many configurations have no durations.
    pub(super) one_shots: u64,
}

impl<'a> Attacked<'a> {
    pub(super) fn new(
        of: &'a Rows,
        images: &'a Images<'a>,
        options: &Options,
    ) -> Result<Self, AnalysisError> {
        let rows: Vec<&Row> = of
            .rows
            .iter()
            .filter(|row: &&Row| !of.configurations[row.configuration as usize].one_shot)
            .collect();
        if rows.is_empty() {
            return Err(AnalysisError::OneShot);
        }
        let mut machines: BTreeSet<&str> = BTreeSet::new();
        for row in &rows {
            machines.extend(of.configurations[row.configuration as usize].machines());
        }
        if machines.len() > 1 && !options.mixed_machines {
            let machines = machines.into_iter().map(str::to_owned).collect();
            return Err(AnalysisError::Machines { machines });
        }
        Ok(Self {
            configurations: &of.configurations,
            rows,
            images,
            models: numbered(&of.configurations).0,
            one_shots: of.configurations.iter().filter(|c| c.one_shot).count() as u64,
        })
    }

    /// Leaves out rows of levels under which no answer ever changed: their coefficient is infinite,
    /// and in that limit they say nothing about the others. What was left out is returned too.
    pub(super) fn with_events(&self) -> (Vec<&'a Row>, Vec<Unchanged>) {
        let mut rows = self.rows.clone();
        let mut left = Vec::new();
        loop {
            let mut levels: BTreeMap<(&str, &str), u64> = BTreeMap::new();
            for row in &rows {
                for level in self.levels(row) {
                    *levels.entry(level).or_default() += u64::from(row.changed);
                }
            }
            let barren = levels.iter().find(|(_, events)| **events == 0).map(|(level, _)| *level);
            let Some(level) = barren else { return (rows, left) };
            rows.retain(|row| !self.levels(row).contains(&level));
            left.push(Unchanged { axis: level.0, level: level.1.to_owned() });
        }
    }

    /// The levels of a row that get a covariate of their own.
    fn levels(&self, row: &Row) -> [(&'static str, &'a str); 4] {
        let of = &self.configurations[row.configuration as usize];
        [
            ("attack", of.attack.name.as_str()),
            ("defence", of.defence.name.as_str()),
            ("data", of.data.as_str()),
            ("machine", of.machine.as_str()),
        ]
    }
}
