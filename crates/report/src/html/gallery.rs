//! Answers that can be looked at, side by side: a row per case, a column per fault.

use crate::escape::plain;
use crate::image::{Album, Embedded};
use faultlens_campaign::analysis::{Gallery, GalleryRow};

/// One target's gallery.
pub(super) struct GalleryView {
    pub(super) target: String,
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<RowView>,
}

/// One case.
pub(super) struct RowView {
    pub(super) case: String,
    pub(super) cells: Vec<Cell>,
}

/// A picture with what it shows, or why it is not there.
pub(super) struct Cell {
    pub(super) about: String,
    pub(super) image: Result<Embedded, &'static str>,
}

/// The galleries, with pictures as long as the album has room.
pub(super) fn galleries(all: &[Gallery], album: &mut Album) -> Vec<GalleryView> {
    let mut gallery = |gallery: &Gallery| {
        let fixed = ["image", "undisturbed"].map(str::to_owned).into_iter();
        let columns: Vec<String> = fixed.chain(telling(&gallery.columns)).collect();
        let rows = gallery.rows.iter().map(|one| row(one, &columns, album)).collect();
        GalleryView { target: plain(&gallery.target), columns, rows }
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
    let cell = |(column, path): (&String, &Option<String>)| Cell {
        about: format!("{case}: {column}"),
        image: match path.as_deref() {
            Some(path) => album.take(path),
            None => Err("no picture"),
        },
    };
    let cells = columns.iter().zip(paths).map(cell).collect();
    RowView { case, cells }
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
