//! The page of a contact sheet: what faults make of one image.

use crate::document::{Block, Document, Header, InlinePicture, Part, Pictures};
use crate::render;
use faultlens_analysis::format::counted;

/// A contact sheet.
#[derive(Debug, Clone)]
pub struct Sheet {
    /// What the page is called. From outside; the page escapes it.
    pub title: String,
    /// The image without a fault, as a JPEG file.
    pub original: Vec<u8>,
    /// A row per fault.
    pub rows: Vec<SheetRow>,
}

/// One fault.
#[derive(Debug, Clone)]
pub struct SheetRow {
    /// Its name.
    pub name: String,
    /// What it does, in a sentence without a full stop.
    pub about: String,
    /// When it happens.
    pub when: String,
    /// What it makes of the image.
    pub cells: Vec<SheetCell>,
}

/// The image under a fault.
#[derive(Debug, Clone)]
pub struct SheetCell {
    /// What stands below it, such as `severity 3`.
    pub caption: String,
    /// The picture, as a JPEG file.
    pub jpeg: Vec<u8>,
}

/// The sheet as one self-contained page.
pub fn sheet(sheet: &Sheet) -> String {
    let number = counted(sheet.rows.len() as u64, "fault");
    let header = Header {
        kind: "Preview",
        title: format!("Faults on {}", sheet.title),
        lead: format!("{number}, from hardly visible (severity 1) to severe (5)."),
        ..Header::default()
    };
    let original = InlinePicture {
        jpeg: sheet.original.clone(),
        alt: "The image without a fault".into(),
        caption: "without a fault".into(),
    };
    let block = Block::Pictures(Pictures::Strip(vec![original]));
    let mut parts = vec![Part::new("original", "Original", block)];
    parts.extend(sheet.rows.iter().map(part));
    let document = Document::new(header, Vec::new(), parts, Vec::new(), Vec::new());
    render::html::page(&document, None)
}

fn part(row: &SheetRow) -> Part {
    let mut pictures = Vec::new();
    for cell in &row.cells {
        pictures.push(InlinePicture {
            jpeg: cell.jpeg.clone(),
            alt: format!("{}, {}", row.name, cell.caption),
            caption: cell.caption.clone(),
        });
    }
    let about = Block::note(format!("{}; {}", row.about, row.when));
    let block = Block::all(vec![about, Block::Pictures(Pictures::Strip(pictures))]);
    Part::new(&row.name, &row.name, block)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_and_do_nothing() {
        let cell = SheetCell { caption: "severity 1".into(), jpeg: vec![1, 2, 3] };
        let row = SheetRow {
            name: "fog".into(),
            about: "lays fog".into(),
            when: "in autumn".into(),
            cells: vec![cell],
        };
        let title = "<script>alert(1)</script>.png".to_owned();
        let page = sheet(&Sheet { title, original: vec![0], rows: vec![row] });
        assert!(!page.contains("<script>alert") && page.contains("default-src 'none'"));
        assert!(page.contains("data:image/jpeg;base64,AQID") && page.contains("severity 1"));
    }
}
