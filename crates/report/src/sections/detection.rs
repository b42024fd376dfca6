//! How well objects are detected under image faults.

use super::Input;
use crate::document::{Block, Cell, Column, Row, Table};
use faultlens_analysis::format;
use faultlens_analysis::{DetectionPoint, DetectionQuality};
use std::collections::{BTreeMap, BTreeSet};

const ABOUT: &str = "How well objects are detected comes before how many answers changed: one \
                     object more or less changes the answer to an image with many objects, and \
                     average precision says what that is worth. Against the ground truth of the data set, over all cases together, down to \
                     the lowest score that the target reports; benchmarks use lower scores, too, \
                     and have a higher AP. AP: COCO's average precision, over IoU thresholds from \
                     0.5 to 0.95; AP50: at 0.5. Intervals are bootstrap intervals over cases. \
                     Errors are TIDE's, as counts: Bkg on background, Both wrong class and \
                     location, Cls wrong class, Dupe duplicate, Loc wrong location, Miss missed. \
                     Faults that move image content are left out.";

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let all = &input.summary.images.detection;
    if all.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::note(ABOUT)];
    blocks.extend(all.iter().map(group));
    Some(Block::all(blocks))
}

fn group(one: &DetectionQuality) -> Block {
    let mut blocks = vec![Block::List(lines(one))];
    blocks.extend(by_severity(one).map(Block::Table));
    blocks.push(Block::Table(errors(one)));
    Block::titled(&one.target, blocks)
}

/// Average precision, a row for each fault with severities and a column for each severity; `None`
/// where no fault has any.
fn by_severity(one: &DetectionQuality) -> Option<Table> {
    let mut cells: BTreeMap<&str, BTreeMap<u64, &DetectionPoint>> = BTreeMap::new();
    for point in &one.points {
        if let Some(graded) = &point.graded {
            // Severities are positive, so that their bits have their order.
            cells.entry(&graded.fault).or_default().insert(graded.severity.to_bits(), point);
        }
    }
    let severities: BTreeSet<u64> = cells.values().flat_map(|row| row.keys().copied()).collect();
    if severities.is_empty() {
        return None;
    }
    let mut columns = vec![Column::name("fault"), Column::number("clean")];
    for &severity in &severities {
        let severity = format::number(f64::from_bits(severity), 3);
        columns.push(Column::number(format!("severity {severity}")));
    }
    let rows = cells.into_iter().map(|(fault, points)| {
        let mut row = vec![Cell::text(fault), ap(&one.clean)];
        for severity in &severities {
            row.push(points.get(severity).map_or_else(|| Cell::number("", None), |own| ap(own)));
        }
        row.into()
    });
    Some(Table {
        caption: format!("Average precision of {} by fault and severity", one.target),
        columns,
        rows: rows.collect(),
        sortable: true,
        ..Table::default()
    })
}

fn ap(point: &DetectionPoint) -> Cell {
    Cell::number(format::mean(&point.ap), point.ap.value)
}

fn errors(one: &DetectionQuality) -> Table {
    let kinds: Vec<&String> = one.clean.errors.keys().collect();
    let mut columns = vec![Column::name("fault"), Column::number("AP"), Column::number("AP50")];
    columns.extend(kinds.iter().map(|kind| Column::number(*kind)));
    let points = std::iter::once(&one.clean).chain(&one.points);
    Table {
        caption: format!("Average precision and errors of {} by fault", one.target),
        columns,
        rows: points.map(|point| row(point, &kinds)).collect(),
        sortable: true,
        ..Table::default()
    }
}

fn lines(one: &DetectionQuality) -> Vec<String> {
    let mut lines = vec![format!(
        "Without faults, over {} with ground truth: AP {}.",
        format::counted(one.cases, "case"),
        format::mean(&one.clean.ap)
    )];
    if let Some(mean) = &one.mean_ap {
        lines.push(format!(
            "Under faults, averaged over severities and then over faults (mPC): AP {}.",
            format::mean(mean)
        ));
    }
    if let Some(kept) = &one.kept {
        lines.push(format!("Share of the clean AP that remains (rPC): {}.", format::mean(kept)));
    }
    lines
}

fn row(point: &DetectionPoint, kinds: &[&String]) -> Row {
    let ap50 = point.ap50.map_or_else(|| format::NONE.into(), |value| format::number(value, 3));
    let mut cells = vec![
        Cell::text(point.fault.as_deref().unwrap_or("clean")),
        ap(point),
        Cell::number(ap50, point.ap50),
    ];
    for kind in kinds {
        cells.push(Cell::count(point.errors.get(*kind).copied().unwrap_or(0)));
    }
    cells.into()
}
