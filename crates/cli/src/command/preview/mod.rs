//! `faultlens preview`: an image under faults, side by side.

mod picture;

use std::collections::BTreeMap;
use std::path::Path;

use crate::exit;
use anyhow::{Context, ensure};
use faultlens::analysis::format::counted;
use faultlens::data::{encode_jpeg, read_image, write_png};
use faultlens::faults::IMAGE_FAULTS;
use faultlens::report::{Sheet, SheetCell, SheetRow, sheet};
use faultlens::{Image, ImageFault, Plugin, Seed};
use serde_json::json;

use crate::args::PreviewArgs;
use crate::command::fault::built;
use crate::command::write;
use crate::console::Console;

const SEVERITY: &str = "severity";
/// Of pictures in the page: what it adds cannot be seen beside the faults.
const QUALITY: u8 = 92;

/// One fault and what it makes of the image.
struct Row {
    fault: &'static Plugin<dyn ImageFault>,
    /// With the severity, where the fault has one.
    pictures: Vec<(Option<u8>, Image)>,
}

/// Makes the sheet.
pub(crate) fn run(args: &PreviewArgs, console: &mut Console) -> anyhow::Result<u8> {
    let ending = args.output.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ensure!(["png", "html"].contains(&ending), "the sheet is a .png or an .html file");
    let faults = chosen(&args.fault)?;
    let image = picture::shrunk(&read_image(&args.image)?, args.size.into())?;
    let row = |fault| row(fault, &image, args);
    let rows = faults.into_iter().map(row).collect::<anyhow::Result<Vec<Row>>>()?;
    match ending {
        "png" => write_png(&picture::sheet(&image, &rows)?, &args.output)?,
        _ => write(&args.output, sheet(&page(&args.image, &image, &rows)?))?,
    }
    if args.json {
        let names: Vec<&str> = rows.iter().map(|row| row.fault.name).collect();
        console.json(&json!({"image": args.image, "output": args.output, "faults": names}))?;
    } else {
        let faults = counted(rows.len() as u64, "fault");
        console.line(format_args!("{faults}: {}", args.output.display()))?;
    }
    Ok(exit::OK)
}

/// The faults of these names; all where there are none.
fn chosen(names: &[String]) -> anyhow::Result<Vec<&'static Plugin<dyn ImageFault>>> {
    for name in names {
        // The error suggests the name that was probably meant.
        if !IMAGE_FAULTS.iter().any(|fault| fault.name == name) {
            built(name, &BTreeMap::new())?;
        }
    }
    Ok(IMAGE_FAULTS
        .iter()
        .filter(|fault: &&Plugin<_>| names.is_empty() || names.iter().any(|n| n == fault.name))
        .collect())
}

fn row(
    fault: &'static Plugin<dyn ImageFault>,
    image: &Image,
    args: &PreviewArgs,
) -> anyhow::Result<Row> {
    let graded = fault.parameters.iter().any(|parameter| parameter.name == SEVERITY);
    let severities: Vec<Option<u8>> = match (graded, &args.severity[..]) {
        (false, _) => vec![None],
        (true, []) => (1..=5).map(Some).collect(),
        (true, some) => some.iter().copied().map(Some).collect(),
    };
    let seed = Seed::new(args.seed);
    let pictures = severities
        .into_iter()
        .map(|severity: Option<u8>| {
            let settings = severity.map(|severity| (SEVERITY.to_owned(), json!(severity)));
            let (built, _) = built(fault.name, &settings.into_iter().collect())?;
            Ok((severity, built.change(image, &mut seed.child(fault.name).stream())))
        })
        .collect::<anyhow::Result<_>>()?;
    Ok(Row { fault, pictures })
}

fn page(path: &Path, image: &Image, rows: &[Row]) -> anyhow::Result<Sheet> {
    let jpeg = |image: &Image| encode_jpeg(image, QUALITY).context("the picture is too large");
    let title = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let rows = rows
        .iter()
        .map(|row: &Row| {
            Ok(SheetRow {
                name: row.fault.name.to_owned(),
                about: row.fault.about.to_owned(),
                when: row.fault.when.to_owned(),
                cells: row
                    .pictures
                    .iter()
                    .map(|(severity, image): &(Option<u8>, Image)| {
                        let caption = severity
                            .map_or("one strength only".to_owned(), |s| format!("severity {s}"));
                        Ok(SheetCell { caption, jpeg: jpeg(image)? })
                    })
                    .collect::<anyhow::Result<_>>()?,
            })
        })
        .collect::<anyhow::Result<_>>()?;
    Ok(Sheet { title, original: jpeg(image)?, rows })
}
