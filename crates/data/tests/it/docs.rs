//! The table of formats in docs/data.md follows from the registry.

#[path = "../../../../tests/docs_block.rs"]
mod docs_block;

use faultlens_data::FORMATS;
use std::fmt::Write as _;

#[test]
fn the_documentation_lists_every_format() {
    let mut table = "| format | files | classes |\n|---|---|---|\n".to_owned();
    for format in FORMATS {
        writeln!(table, "| `{}` | {} | {} |", format.name, format.files, format.classes).unwrap();
    }
    docs_block::check("data.md", "formats", &table);
}
