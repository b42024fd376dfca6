//! How well objects are detected under image faults.

use super::Input;
use crate::document::{Block, Cell, Column, Row, Table};
use faultlens_analysis::format;
use faultlens_analysis::{DetectionPoint, DetectionQuality};

const ABOUT: &str = "Against the ground truth of the data set, over all cases together, down to \
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
    let kinds: Vec<&String> = one.clean.errors.keys().collect();
    let mut columns = vec![Column::name("fault"), Column::number("AP"), Column::number("AP50")];
    columns.extend(kinds.iter().map(|kind| Column::number(*kind)));
    let points = std::iter::once(&one.clean).chain(&one.points);
    let table = Table {
        caption: format!("Average precision and errors of {} by fault", one.target),
        columns,
        rows: points.map(|point| row(point, &kinds)).collect(),
        sortable: true,
        ..Table::default()
    };
    Block::titled(&one.target, vec![Block::List(lines(one)), Block::Table(table)])
}

fn lines(one: &DetectionQuality) -> Vec<String> {
    let mut lines = vec![format!(
        "Clean, over {} with ground truth: AP {}.",
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
        Cell::number(format::mean(&point.ap), point.ap.value),
        Cell::number(ap50, point.ap50),
    ];
    for kind in kinds {
        cells.push(Cell::count(point.errors.get(*kind).copied().unwrap_or(0)));
    }
    cells.into()
}
