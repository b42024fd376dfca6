//! `faultlens export`: records as a table.

use crate::exit;
use anyhow::bail;
use faultlens::record::store::{Store, export_csv_file, export_parquet};

use crate::args::{ExportArgs, ExportFormat};
use crate::console::Console;

/// Writes every record as a row.
pub(crate) fn run(args: &ExportArgs, console: &mut Console) -> anyhow::Result<u8> {
    let path = &args.output;
    let ending = path.extension().and_then(|ending| ending.to_str());
    let format = match (args.format, ending) {
        (Some(format), _) => format,
        (None, Some("csv")) => ExportFormat::Csv,
        (None, Some("parquet")) => ExportFormat::Parquet,
        _ => bail!(
            "the format is unclear from the name; give --format csv or --format parquet: {}",
            path.display()
        ),
    };
    let store = Store::read(&args.run)?;
    match format {
        ExportFormat::Csv => export_csv_file(&store, path)?,
        ExportFormat::Parquet => export_parquet(&store, path)?,
    }
    console.note(format_args!("wrote {}", path.display()))?;
    Ok(exit::OK)
}
