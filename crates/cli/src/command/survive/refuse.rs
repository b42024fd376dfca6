//! Tables whose own columns say that a model of durations would mislead.

use anyhow::{bail, ensure};
use faultlens::report::plain;

use super::table::{Cell, Column, Table};

/// The column that says whether a row is a single shot at fixed strength.
const ONE_SHOT: &str = "one_shot";

/// The column that says what the times were measured on.
const MACHINE: &str = "machine";

/// The columns that are looked at, whatever else they are for.
pub(super) const TELLING: [&str; 2] = [ONE_SHOT, MACHINE];

/// Refuses single shots, whose time is no duration, and times of several machines.
pub(super) fn refuse(table: &Table, names: &[String], mixed_machines: bool) -> anyhow::Result<()> {
    let column = |wanted: &str| names.iter().position(|name| name == wanted);
    if let Some(at) = column(ONE_SHOT) {
        let column = &table.columns[at];
        let shots = column.cells.iter().filter(|cell| says_yes(column, **cell)).count();
        ensure!(
            shots == 0,
            "{shots} rows are single shots at fixed strength ({ONE_SHOT}): how long a shot takes \
             says nothing of how long an answer would have survived; leave these rows out"
        );
    }
    let Some(at) = column(MACHINE).filter(|_| !mixed_machines) else { return Ok(()) };
    if let [first, second, ..] = &table.columns[at].levels[..] {
        let first = plain(first);
        let second = plain(second);
        bail!(
            "times were measured on different machines ({first}, {second}, …) and do not go \
             together; fit each machine apart, or say --mixed-machines"
        );
    }
    Ok(())
}

fn says_yes(column: &Column, cell: Cell) -> bool {
    match cell {
        Cell::Missing => false,
        Cell::Number(number) => number != 0.0,
        Cell::Level(level) => {
            let text = column.levels[level as usize].to_ascii_lowercase();
            matches!(text.as_str(), "1" | "true" | "t" | "yes" | "y")
        }
    }
}
