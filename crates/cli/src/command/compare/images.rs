//! An image and a changed version of it: how much of the change people notice.

use crate::exit;
use faultlens::data::read_image;
use faultlens::judge::visual::{FULL_LEVELS, Reference, VisualChange, VisualError, vif_p, vsnr};
use serde_json::{Value, json};

use crate::args::CompareArgs;
use crate::console::Console;
use crate::text::{Align, table};

/// Shows how much the second image differs visually from the first one.
pub(super) fn run(args: &CompareArgs, console: &mut Console) -> anyhow::Result<u8> {
    let original = read_image(&args.first)?;
    let changed = read_image(&args.second)?;
    let change = Reference::new(&original).and_then(|original| original.visual_change(&changed));
    let mut notes = Vec::new();
    let change = defined(change, &mut notes)?;
    let vif_p = defined(vif_p(&original, &changed), &mut notes)?;
    let vsnr = defined(vsnr(&original, &changed), &mut notes)?;
    if let Some(VisualChange { levels, .. }) = change.filter(|change| change.levels < FULL_LEVELS) {
        notes.push(format!(
            "the images are small: VIF has {levels} of {FULL_LEVELS} levels, so that it cannot be \
             compared with that of larger images"
        ));
    }
    if args.json {
        console.json(&json!({
            "vif": change.map(|change| change.vif),
            "vif_p": vif_p,
            "vsnr_db": vsnr.map(decibels),
            "delta_v": change.map(|change| change.delta_v),
            "levels": change.map_or(0, |change| change.levels),
            "width": original.width(),
            "height": original.height(),
            "notes": notes,
        }))?;
        return Ok(exit::OK);
    }
    for note in &notes {
        console.note(format_args!("note: {note}"))?;
    }
    let share = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.4}"));
    let rows = [
        ["visual change", &share(change.map(|change| change.delta_v)), "0 nothing, 1 everything"],
        ["VIF", &share(change.map(|change| change.vif)), "what is left, by wavelets"],
        ["VIF-P", &share(vif_p), "what is left, by pixels"],
        ["VSNR", &vsnr.map_or("–".to_owned(), |value| format!("{value:.2} dB")), "inf: unseen"],
    ];
    for line in
        table([Align::Left, Align::Right, Align::Left], &rows.map(|row| row.map(str::to_owned)))
    {
        console.line(line)?;
    }
    Ok(exit::OK)
}

/// Measures that are undefined are left out with a note; images of different sizes are an error.
fn defined<T>(
    value: Result<T, VisualError>,
    notes: &mut Vec<String>,
) -> Result<Option<T>, VisualError> {
    match value {
        Ok(value) => Ok(Some(value)),
        Err(error @ VisualError::Sizes { .. }) => Err(error),
        Err(error) => {
            notes.push(error.to_string());
            Ok(None)
        }
    }
}

/// JSON has no infinity.
fn decibels(value: f64) -> Value {
    if value.is_infinite() { json!("inf") } else { json!(value) }
}
