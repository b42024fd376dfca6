//! Predictions that can be looked at, side by side: a row per case, a column per fault.

use super::Input;
use super::examples::{frames, outcome_class};
use crate::document::{Block, Gallery, GalleryCell, GalleryRow, Picture, Pictures, TrialOutcome};
use faultlens_analysis::GalleryTrial;
use faultlens_analysis::format;

const CHOSEN: &str = "The images on which the most faults changed the prediction. Of each fault a \
                      trial that changed it, the least visible one where visual change was \
                      measured; otherwise one that was judged.";
const FIRST: &str = "The first trial of each fault, on the first cases.";

pub(super) fn build(input: &Input<'_>) -> Option<Block> {
    let galleries = &input.summary.galleries;
    let groups: Vec<Block> = galleries.iter().map(group).collect();
    (!groups.is_empty()).then_some(Block::all(groups))
}

fn group(gallery: &faultlens_analysis::Gallery) -> Block {
    let chosen = gallery.rows.iter().any(|row| !row.trials.is_empty());
    let mut columns = vec!["image".to_owned(), "clean".to_owned()];
    columns.extend(distinguishing(&gallery.columns));
    let mut blocks = vec![Block::note(if chosen { CHOSEN } else { FIRST })];
    if gallery.objects {
        blocks.push(Block::Legend(frames()));
    }
    let rows = gallery.rows.iter().map(|one| row(one, &columns)).collect();
    blocks.push(Block::Pictures(Pictures::Gallery(Gallery {
        caption: format!("Predictions of {} under each fault", gallery.target),
        columns,
        rows,
    })));
    Block::titled(&gallery.target, blocks)
}

/// What sets each fault apart from the others; there is little room above a picture.
fn distinguishing(labels: &[String]) -> Vec<String> {
    let mut short = Vec::new();
    for label in labels {
        let own: Vec<&str> = label
            .split(' ')
            .filter(|word| !labels.iter().all(|other| other.split(' ').any(|own| own == *word)))
            .collect();
        short.push(if own.is_empty() { label.clone() } else { own.join(" ") });
    }
    short
}

fn row(row: &faultlens_analysis::GalleryRow, columns: &[String]) -> GalleryRow {
    let paths = [&row.image, &row.golden].into_iter().chain(&row.cells);
    let trials = [None, None].into_iter().chain(row.trials.iter().map(Option::as_ref));
    // Older runs do not say which trials they show.
    let trials = trials.chain(std::iter::repeat(None));
    let mut cells = Vec::new();
    for ((column, path), trial) in columns.iter().zip(paths).zip(trials) {
        cells.push(cell(&row.case, column, path.as_ref(), trial));
    }
    GalleryRow { name: row.case.clone(), cells }
}

fn cell(
    case: &str,
    column: &str,
    path: Option<&String>,
    trial: Option<&GalleryTrial>,
) -> GalleryCell {
    let before = trial.and_then(|trial| trial.before.clone());
    // A picture that stands alone is explained by its column.
    let paired = before.is_some();
    let mut pictures = Vec::new();
    if let Some(path) = before {
        pictures.push(Picture {
            source: Ok(path),
            alt: format!("{case}: clean, beside {column}"),
            caption: Some("clean"),
        });
    }
    if path.is_some() || trial.is_none() {
        pictures.push(Picture {
            source: path.cloned().ok_or("no picture"),
            alt: format!("{case}: {column}"),
            caption: paired.then_some("with the fault"),
        });
    }
    GalleryCell { pictures, outcome: trial.map(outcome) }
}

fn outcome(trial: &GalleryTrial) -> TrialOutcome {
    let changes: Vec<String> = trial
        .changes
        .iter()
        .map(|(kind, count)| format!("{} {kind}", format::count(*count)))
        .collect();
    let changes = (!changes.is_empty()).then(|| changes.join(", "));
    TrialOutcome {
        class: outcome_class(&trial.outcome),
        name: format::outcome(&trial.outcome),
        why: trial.reason.clone().or(changes),
        number: format::count(trial.number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_say_what_sets_them_apart() {
        let short = |labels: &[&str]| {
            distinguishing(&labels.iter().map(|&label| label.to_owned()).collect::<Vec<_>>())
        };
        let layers = ["bit_flip amount=9 layers=[1]", "bit_flip amount=9 layers=[2, 3]"];
        assert_eq!(short(&layers), ["layers=[1]", "layers=[2, 3]"]);
        assert_eq!(short(&["zero", "bit_flip bit=3"]), ["zero", "bit_flip bit=3"]);
        assert_eq!(short(&["zero share=9", "zero"]), ["share=9", "zero"]);
    }
}
