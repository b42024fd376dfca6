//! The page of a contact sheet: what faults make of one image.

use crate::ReportError;
use crate::image::base64;
use askama::Template;

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

#[derive(Template)]
#[template(path = "sheet.html")]
struct Page<'a> {
    style: &'static str,
    sheet: &'a Sheet,
}

impl Page<'_> {
    fn uri(&self, jpeg: &[u8]) -> String {
        format!("data:image/jpeg;base64,{}", base64(jpeg))
    }
}

/// The sheet as one self-contained page.
pub fn sheet(sheet: &Sheet) -> Result<String, ReportError> {
    let style = include_str!("../templates/sheet.css");
    Ok(Page { style, sheet }.render()?)
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
        let page = sheet(&Sheet { title, original: vec![0], rows: vec![row] }).unwrap();
        assert!(!page.contains("<script>") && page.contains("default-src 'none'"));
        assert!(page.contains("data:image/jpeg;base64,AQID") && page.contains("severity 1"));
    }
}
