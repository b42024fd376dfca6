//! From the section `cases` of a campaign file to the images that are shown.

use super::campaign::{CaseSpec, Sample};
use super::error::Diagnostic;
use super::takes::known;
use super::tree::{Node, text_of, whole_of};
use faultlens_data::{Format, Sampling};
use faultlens_world::{MAX_PICTURES, PREFIX};
use std::path::Path;

/// The sets of pictures that the embedded world draws.
const WORLD_KINDS: [&str; 2] = ["signs", "scenes"];

/// The images to show, from the section `cases`.
pub(super) fn cases(node: &Node, base: &Path) -> Result<CaseSpec, Diagnostic> {
    let format = node.get("format").map(|format| {
        Format::named(format.text().unwrap_or_default())
            .map_err(|error| Diagnostic::new(format.at, error.to_string()))
    });
    let sample = node.get("sample").map(|sample| Sample {
        count: whole_of(sample, "count").unwrap_or(usize::MAX),
        how: match sample.get("how").and_then(Node::text) {
            Some("balanced") => Sampling::Balanced,
            _ => Sampling::Random,
        },
    });
    Ok(CaseSpec {
        data: data(node, base)?,
        format: format.transpose()?,
        part: text_of(node, "part"),
        label_column: text_of(node, "label_column"),
        sample,
    })
}

/// The name of a data set, from the section `cases` or as a text alone.
pub(super) fn data(cases: &Node, base: &Path) -> Result<String, Diagnostic> {
    let data = cases.get("data").unwrap_or(cases);
    let written = path_or_world(data, base)?;
    for key in ["format", "label_column"] {
        if let Some(node) = cases.get(key).filter(|_| written.starts_with(PREFIX)) {
            let what = format!("the embedded world is no file and has no {key}; leave it out");
            return Err(Diagnostic::new(node.at, what));
        }
    }
    Ok(written)
}

/// A path from the campaign file's folder, or pictures of the embedded world.
pub(super) fn path_or_world(data: &Node, base: &Path) -> Result<String, Diagnostic> {
    let text = data.text().unwrap_or_default();
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
