//! Generated parts of the documentation: the code is the source, and tests compare. A block stands
//! between `<!-- begin NAME -->` and `<!-- end NAME -->`; with `UPDATE_DOCS=1` in the environment a
//! test writes it instead.

use std::path::Path;

/// Compares a block of a page below `docs` with what it should hold.
pub(crate) fn check(page: &str, name: &str, wanted: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let begin = format!("<!-- begin {name} -->\n");
    let end = format!("<!-- end {name} -->");
    let (before, rest) = text.split_once(&begin).expect("the page has the block");
    let (block, after) = rest.split_once(&end).expect("the block ends");
    if block == wanted {
        return;
    }
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{begin}{wanted}{end}{after}")).unwrap();
    } else {
        panic!(
            "docs/{page} is out of date; run this test with UPDATE_DOCS=1. It should hold:\n{wanted}"
        );
    }
}
