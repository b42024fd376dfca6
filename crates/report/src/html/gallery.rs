//! Answers that can be looked at, side by side: a row per case, a column per fault.

use super::examples::{class, frames};
use crate::escape::plain;
use crate::image::{Album, Room};
use faultlens_analysis::words as format;
use faultlens_analysis::{Gallery, GalleryRow, GalleryTrial};

/// One target's gallery.
pub(super) struct GalleryView {
    pub(super) target: String,
    /// Which trials are shown.
    pub(super) about: &'static str,
    /// What frames mean; empty where there are none.
    pub(super) frames: &'static [(&'static str, &'static str)],
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<RowView>,
}

/// One case.
pub(super) struct RowView {
    pub(super) case: String,
    pub(super) cells: Vec<Cell>,
}

/// Pictures of a trial, and what became of it.
pub(super) struct Cell {
    /// Drawings, or why they are not there, with what stands below.
    pub(super) images: Vec<(Result<String, &'static str>, Option<&'static str>)>,
    pub(super) outcome: Option<Ending>,
}

/// What became of a trial.
pub(super) struct Ending {
    /// The outcome's class in the style sheet.
    pub(super) class: &'static str,
    pub(super) outcome: String,
    /// What became of objects, or why there is no outcome.
    pub(super) why: Option<String>,
    pub(super) number: String,
}

const CHOSEN: &str = "The images on which most faults changed the answer. Of each fault a trial that \
                      changed it, the one that people notice least where that was told; else one \
                      that was judged.";
const FIRST: &str = "The first trial of each fault, on the first cases.";

/// The galleries, with pictures as long as the album has room.
pub(super) fn galleries(all: &[Gallery], album: &mut Album) -> Vec<GalleryView> {
    let mut gallery = |gallery: &Gallery| {
        let chosen = gallery.rows.iter().any(|row| !row.trials.is_empty());
        let fixed = ["image", "undisturbed"].map(str::to_owned).into_iter();
        let columns: Vec<String> = fixed.chain(telling(&gallery.columns)).collect();
        let rows = gallery.rows.iter().map(|one| row(one, &columns, album)).collect();
        GalleryView {
            target: plain(&gallery.target),
            about: if chosen { CHOSEN } else { FIRST },
            frames: frames(gallery.objects),
            columns,
            rows,
        }
    };
    all.iter().map(&mut gallery).collect()
}

/// What sets each fault apart from the others; there is little room above a picture.
fn telling(labels: &[String]) -> Vec<String> {
    let words = |label: &str| plain(label).split(' ').map(str::to_owned).collect::<Vec<_>>();
    let shared = |word: &String| labels.iter().all(|label| words(label).contains(word));
    let short = |label: &String| {
        let own: Vec<String> = words(label).into_iter().filter(|word| !shared(word)).collect();
        if own.is_empty() { plain(label) } else { own.join(" ") }
    };
    labels.iter().map(short).collect()
}

fn row(row: &GalleryRow, columns: &[String], album: &mut Album) -> RowView {
    let case = plain(&row.case);
    let paths = [&row.image, &row.golden].into_iter().chain(&row.cells);
    let trials = [None, None].into_iter().chain(row.trials.iter().map(Option::as_ref));
    // Runs that do not say which trials they show have none.
    let trials = trials.chain(std::iter::repeat(None));
    let mut show =
        |path: &str, what: &str| album.show(path, Room::Gallery, &format!("{case}: {what}"));
    let cell = |((column, path), trial): ((&String, &Option<String>), Option<&GalleryTrial>)| {
        let before = trial.and_then(|trial| trial.before.as_deref());
        let before = before.map(|path| show(path, &format!("undisturbed, beside {column}")));
        let after = match (path, trial) {
            (Some(path), _) => Some(show(path, column)),
            (None, Some(_)) => None,
            (None, None) => Some(Err(NONE)),
        };
        // What stands alone is said by its column.
        let captions =
            ["undisturbed", "with the fault"].map(|text| before.is_some().then_some(text));
        let both = before.into_iter().chain(after);
        let images = both.zip(captions).collect();
        Cell { images, outcome: trial.map(ending) }
    };
    let cells = columns.iter().zip(paths).zip(trials).map(cell).collect();
    RowView { case, cells }
}

/// What stands where a run has no picture.
const NONE: &str = "no picture";

fn ending(trial: &GalleryTrial) -> Ending {
    let changes: Vec<String> = trial
        .changes
        .iter()
        .map(|(kind, count)| format!("{} {kind}", format::count(*count)))
        .collect();
    let changes = (!changes.is_empty()).then(|| changes.join(", "));
    Ending {
        class: class(&trial.outcome),
        outcome: format::outcome(&plain(&trial.outcome)),
        why: trial.reason.clone().or(changes).as_deref().map(plain),
        number: format::count(trial.number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_say_what_sets_them_apart() {
        let short = |labels: &[&str]| {
            telling(&labels.iter().map(|&label| label.to_owned()).collect::<Vec<_>>())
        };
        let layers = ["bit_flip amount=9 layers=[1]", "bit_flip amount=9 layers=[2, 3]"];
        assert_eq!(short(&layers), ["layers=[1]", "layers=[2, 3]"]);
        assert_eq!(short(&["zero", "bit_flip bit=3"]), ["zero", "bit_flip bit=3"]);
        assert_eq!(short(&["zero share=9", "zero"]), ["share=9", "zero"]);
    }
}
