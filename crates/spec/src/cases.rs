//! From the section `cases` of a campaign file to the images that are shown.

use super::campaign::{CaseSpec, Sample};
use super::error::Diagnostic;
use super::location::At;
use super::values::Text;
use super::words::known;
use super::written::{CasesSection, How};
use faultlens_data::{Format, Sampling};
use faultlens_world::{MAX_PICTURES, PREFIX};
use std::path::Path;

/// The sets of pictures that the embedded world draws.
const WORLD_KINDS: [&str; 2] = ["signs", "scenes"];

/// The images to show, from the section `cases`.
pub(super) fn cases(section: CasesSection, base: &Path) -> Result<CaseSpec, Diagnostic> {
    let data = path_or_world(&section.data, base)?;
    if data.starts_with(PREFIX) {
        let format = section.format.as_ref().map(|format| ("format", format.at));
        let column = section.label_column.as_ref().map(|column| ("label_column", column.at));
        if let Some((key, at)) = format.or(column) {
            let what = format!("the embedded world is no file and has no {key}; leave it out");
            return Err(Diagnostic::new(at, what));
        }
    }
    let format = match section.format {
        Some(At { at, value }) => Some(
            Format::named(&value.name).map_err(|error| Diagnostic::new(at, error.to_string()))?,
        ),
        None => None,
    };
    let sample = section.sample.map(|sample| Sample {
        count: sample.count.get().unwrap_or(usize::MAX),
        how: match sample.how {
            How::Random => Sampling::Random,
            How::Balanced => Sampling::Balanced,
        },
    });
    Ok(CaseSpec {
        data,
        format,
        part: section.part.map(|Text(part)| part),
        label_column: section.label_column.map(|column| column.value.0),
        sample,
    })
}

/// A path from the campaign file's folder, or pictures of the embedded world.
pub(super) fn path_or_world(data: &At<Text>, base: &Path) -> Result<String, Diagnostic> {
    let Text(text) = &data.value;
    let Some(world) = text.strip_prefix(PREFIX) else {
        return Ok(base.join(text).to_string_lossy().into_owned());
    };
    let (kind, count) = world.split_once(':').map_or((world, None), |(k, n)| (k, Some(n)));
    known("set of the embedded world", kind, WORLD_KINDS.to_vec())
        .map_err(|message| Diagnostic::new(data.at, message))?;
    if let Some(count) =
        count.filter(|count| !count.parse().is_ok_and(|n: usize| (1..=MAX_PICTURES).contains(&n)))
    {
        let what = format!(
            "world:{kind} takes a number of pictures from 1 to {MAX_PICTURES}, such as \
             world:{kind}:200, not {count:?}"
        );
        return Err(Diagnostic::new(data.at, what));
    }
    Ok(text.to_owned())
}
