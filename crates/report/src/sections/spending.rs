//! Where time and money went.

use super::Input;
use crate::document::{Block, Cell, Column, Row, Table};
use faultlens_analysis::format;
use faultlens_record::{ServiceAccount, Spending};

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let spent = input.summary.spending.as_ref()?;
    let mut blocks = vec![Block::List(times(spent))];
    if !spent.services.is_empty() {
        blocks.push(Block::Table(services(&spent.services)));
    }
    Some(Block::all(blocks))
}

fn times(spent: &Spending) -> Vec<String> {
    let harness = (spent.threads - spent.faults - spent.target).max(0.0);
    let [faults, target, harness] = [spent.faults, spent.target, harness].map(|seconds| {
        let share = if spent.threads > 0.0 { seconds / spent.threads } else { 0.0 };
        format!("{} ({}%)", format::duration(seconds), format::percent(share))
    });
    vec![
        format!("Wall-clock time: {}.", format::duration(spent.wall)),
        format!(
            "Time of all threads: fault injection {faults}, inference {target}, other {harness}."
        ),
    ]
}

fn services(services: &[ServiceAccount]) -> Table {
    let mut columns = vec![Column::name("service")];
    if let Some(first) = services.first() {
        columns.extend(first.account.counts().into_iter().map(|(name, _)| Column::number(name)));
    }
    columns.push(Column::number("cost"));
    columns.push(Column::text("model versions"));
    columns.push(Column::text("control queries"));
    Table {
        caption: "Calls to services".into(),
        columns,
        rows: services.iter().map(service).collect(),
        ..Table::default()
    }
}

fn service(one: &ServiceAccount) -> Row {
    let versions: Vec<&str> = one.versions.iter().map(String::as_str).collect();
    let mut cells = vec![Cell::text(&one.target)];
    cells.extend(one.account.counts().into_iter().map(|(_, count)| Cell::count(count)));
    cells.push(Cell::text(format::number(one.account.campaign.money, 4)));
    cells.push(Cell::text(if versions.is_empty() {
        format::NONE.to_owned()
    } else {
        versions.join(", ")
    }));
    cells.push(Cell::text(match one.control {
        0 => "none".to_owned(),
        asked => format!("{} of {asked} changed", one.drifted),
    }));
    cells.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_split_without_a_rest() {
        let spent =
            Spending { wall: 10.0, threads: 20.0, faults: 5.0, target: 13.0, services: vec![] };
        let lines = times(&spent);
        for part in ["(25.0%)", "(65.0%)", "(10.0%)"] {
            assert!(lines[1].contains(part), "{lines:?}");
        }
    }
}
