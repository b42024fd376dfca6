//! The rows of a table of which every value that is used is known, column by column.

use anyhow::{Context, bail, ensure};
use faultlens::analysis::format::count;
use faultlens::report::plain;
use faultlens::stats::survival::Lifetimes;

use super::roles::Roles;
use super::table::{Cell, Column, Table};

/// Rows of which every value that is used is known.
pub(super) fn kept(table: &Table, roles: &Roles) -> Vec<usize> {
    (0..table.lines.len())
        .filter(|i: &usize| {
            used_columns(roles).iter().all(|&at| table.columns[at].cells[*i] != Cell::Missing)
        })
        .collect()
}

fn used_columns(roles: &Roles) -> Vec<usize> {
    let others = [roles.event, roles.weights, roles.entry, roles.strata, roles.cluster];
    let others = others.into_iter().flatten();
    let first = std::iter::once(roles.duration).chain(others);
    first.chain(roles.covariates.iter().copied()).collect()
}

/// The rows that are kept.
pub(super) struct Used<'a> {
    pub(super) table: &'a Table,
    pub(super) names: &'a [String],
    pub(super) kept: Vec<usize>,
}

impl Used<'_> {
    /// The place of a column.
    pub(super) fn find(&self, name: &str) -> anyhow::Result<usize> {
        let at = self.names.iter().position(|known| known == name);
        at.with_context(|| format!("no column is called {}", plain(name)))
    }

    fn name(&self, at: usize) -> String {
        plain(&self.names[at])
    }

    fn column(&self, at: usize) -> &Column {
        &self.table.columns[at]
    }

    fn cells(&self, at: usize) -> impl Iterator<Item = Cell> + '_ {
        self.kept.iter().map(move |&i| self.column(at).cells[i])
    }

    pub(super) fn line(&self, row: usize) -> u64 {
        self.table.lines[self.kept[row]]
    }

    /// Counts missing values, so that no row is left out without a note.
    pub(super) fn missing(&self, roles: &Roles) -> anyhow::Result<Vec<String>> {
        let all = self.table.lines.len();
        let kept = self.kept.len();
        if all == kept {
            return Ok(Vec::new());
        }
        let by: Vec<String> = used_columns(roles)
            .into_iter()
            .filter_map(|at: usize| {
                let cells = self.column(at).cells.iter();
                let n = cells.filter(|cell| **cell == Cell::Missing).count();
                (n > 0).then(|| format!("{} {}", self.name(at), count(n as u64)))
            })
            .collect();
        let by = by.join(", ");
        ensure!(kept > 0, "every row has a missing value ({by}); leave columns out with --drop");
        let [left, all] = [all - kept, all].map(|n| count(n as u64));
        Ok(vec![format!("{left} of {all} rows left out for missing values ({by})")])
    }

    /// Durations, events, weights and entries, without covariates.
    pub(super) fn lifetimes(&self, roles: &Roles) -> anyhow::Result<Lifetimes> {
        let durations = self.numbers(roles.duration)?;
        if let Some(i) = durations.iter().position(|&d| d < 0.0) {
            let name = self.name(roles.duration);
            let value = durations[i];
            bail!("line {}: {name} is {value}, but a duration cannot be negative", self.line(i));
        }
        let observed = match roles.event {
            Some(event) => self.events(event)?,
            None => vec![true; durations.len()],
        };
        let mut data = Lifetimes::new(durations, observed)?;
        if let Some(weights) = roles.weights {
            data =
                data.weights(self.checked(weights, "a weight must be above 0", |w, _| w > 0.0)?)?;
        }
        if let Some(entry) = roles.entry {
            let ends = data.durations().to_vec();
            let rule = "an entry must lie between 0 and the end of its duration";
            data =
                data.late_entry(self.checked(entry, rule, |e: f64, i: usize| {
                    e == 0.0 || e > 0.0 && e < ends[i]
                })?)?;
        }
        Ok(data)
    }

    /// A column of finite numbers.
    pub(super) fn numbers(&self, at: usize) -> anyhow::Result<Vec<f64>> {
        self.checked(at, "a finite number is needed", |_, _| true)
    }

    /// The same under a rule on value and row.
    fn checked(
        &self,
        at: usize,
        rule: &str,
        holds: impl Fn(f64, usize) -> bool,
    ) -> anyhow::Result<Vec<f64>> {
        let mut out = Vec::with_capacity(self.kept.len());
        for (i, cell) in self.cells(at).enumerate() {
            let number = if let Cell::Number(number) = cell { number } else { f64::NAN };
            if !(number.is_finite() && holds(number, i)) {
                let name = self.name(at);
                bail!("line {}: {name} is {number}, but {rule}", self.line(i));
            }
            out.push(number);
        }
        Ok(out)
    }

    fn text(&self, at: usize, cell: Cell) -> String {
        match cell {
            Cell::Missing => String::new(),
            Cell::Number(number) => number.to_string(),
            Cell::Level(level) => self.column(at).levels[level as usize].clone(),
        }
    }

    pub(super) fn texts(&self, at: usize) -> Vec<String> {
        self.cells(at).map(|cell| self.text(at, cell)).collect()
    }

    fn events(&self, at: usize) -> anyhow::Result<Vec<bool>> {
        let mut out = Vec::with_capacity(self.kept.len());
        for (i, cell) in self.cells(at).enumerate() {
            let text = self.text(at, cell);
            let happened = event(&text).with_context(|| {
                let line = self.line(i);
                let name = self.name(at);
                let text = plain(&text);
                format!(
                    "line {line}: {name} is \"{text}\"; 1 or 0, true or false, yes or no is needed"
                )
            })?;
            out.push(happened);
        }
        Ok(out)
    }

    /// The levels of a column in sorted order; `None` for a column of numbers.
    pub(super) fn levels(&self, at: usize) -> anyhow::Result<Option<Vec<(u32, &str)>>> {
        let number = self.cells(at).position(|cell| matches!(cell, Cell::Number(_)));
        let level = self.cells(at).position(|cell| matches!(cell, Cell::Level(_)));
        let Some(first) = level else { return Ok(None) };
        if number.is_some() {
            let name = self.name(at);
            let line = self.line(first);
            let text = plain(&self.texts(at)[first]);
            bail!(
                "line {line}: {name} is \"{text}\", and a number elsewhere; mend it, leave it \
                 empty, or say --drop {name} or --levels {name}"
            );
        }
        let mut present: Vec<(u32, &str)> = Vec::new();
        for (place, text) in (0..).zip(&self.column(at).levels) {
            if self.cells(at).any(|cell| cell == Cell::Level(place)) {
                present.push((place, text));
            }
        }
        sort(&mut present);
        Ok(Some(present))
    }
}

/// Numbers by size, everything else by letters.
pub(super) fn sort(levels: &mut [(u32, &str)]) {
    let numbers: Option<Vec<f64>> = levels.iter().map(|(_, text)| text.parse().ok()).collect();
    let value = |text: &str| text.parse().unwrap_or(f64::NAN);
    match numbers {
        Some(_) => levels.sort_by(|a, b| value(a.1).total_cmp(&value(b.1)).then(a.1.cmp(b.1))),
        None => levels.sort_by_key(|(_, text)| *text),
    }
}

fn event(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "t" | "yes" | "y" => Some(true),
        "0" | "false" | "f" | "no" | "n" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_sorted_as_people_sort_them() {
        let mut layers = [(0, "152"), (1, "18"), (2, "50")];
        sort(&mut layers);
        assert_eq!(layers.map(|(_, text)| text), ["18", "50", "152"]);
        let mut mixed = [(0, "b"), (1, "9"), (2, "10")];
        sort(&mut mixed);
        assert_eq!(mixed.map(|(_, text)| text), ["10", "9", "b"]);
    }

    #[test]
    fn events_are_yes_or_no() {
        for (text, wanted) in [
            ("1", Some(true)),
            ("FALSE", Some(false)),
            ("Yes", Some(true)),
            ("2", None),
            ("", None),
        ] {
            assert_eq!(event(text), wanted, "{text}");
        }
    }
}
