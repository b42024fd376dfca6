//! Boxes, by a decoder.

use faultlens_core::{
    Bounds, Detection, Detections, Tensor, did_you_mean, non_maximum_suppression,
};

use super::super::decode::{DECODERS, Decoder, Found, Head};
use super::super::output::output_called;
use super::super::{OutputDescription, Placement, VisionError};
use super::{Names, Output, Shown, all_finite, missing};

/// Boxes of one class that overlap by more are one object.
const OVERLAP: f32 = 0.45;

/// A broken model can find something everywhere; only so many of the surest are looked at.
const MOST_CANDIDATES: usize = 1000;

/// Reads boxes.
#[derive(Debug, Clone)]
pub(super) struct DetectionReader {
    decoder: &'static Decoder,
    /// What the decoder reads, by position and name.
    outputs: Vec<(usize, String)>,
    threshold: f32,
    overlap: f32,
}

impl DetectionReader {
    pub(super) fn new(described: &OutputDescription, names: &[&str]) -> Result<Self, VisionError> {
        let decoder = decoder(described.decoder.as_deref())?;
        let named = |key: &str| match key {
            "scores" => described.scores.as_deref(),
            "boxes" => described.boxes.as_deref(),
            _ => described.name.as_deref(),
        };
        let unread = |key: &&str| !decoder.outputs.contains(key) && named(key).is_some();
        if let Some(field) = ["name", "scores", "boxes"].into_iter().find(unread) {
            let takes = decoder.outputs.join(" and ");
            return Err(VisionError::DecoderField { decoder: decoder.name, field, takes });
        }
        let output = |key: &&'static str| {
            let at = match (named(key), *key) {
                (None, "name") => 0,
                (name, key) => output_called(names, name.unwrap_or(key))?,
            };
            let name = names.get(at).copied().unwrap_or("(none)");
            Ok((at, name.to_owned()))
        };
        Ok(Self {
            decoder,
            outputs: decoder.outputs.iter().map(output).collect::<Result<_, VisionError>>()?,
            threshold: described.threshold.unwrap_or(decoder.threshold),
            overlap: described.overlap.unwrap_or(OVERLAP),
        })
    }

    pub(super) fn read(
        &self,
        outputs: &[Tensor],
        index: usize,
        shown: Shown<'_>,
        names: Names<'_>,
    ) -> Result<Detections, VisionError> {
        let part = |(at, name): &'_ (usize, String)| {
            let tensor = outputs.get(*at).ok_or_else(|| missing(name))?;
            Ok((tensor, name.clone()))
        };
        let parts: Vec<(&Tensor, String)> =
            self.outputs.iter().map(part).collect::<Result<_, VisionError>>()?;
        let output = |at: usize| Output { tensor: parts[at].0, name: &parts[at].1, index };
        let heads: Vec<Head<'_>> =
            (0..parts.len()).map(|at| head(output(at))).collect::<Result<_, _>>()?;
        let placement = shown.input.placement(shown.width, shown.height)?;
        let found = (self.decoder.decode)(&heads, shown.input.size, self.threshold);
        let Found { objects: mut found, classes } =
            found.map_err(|misread| output(misread.output).refuse(misread.wanted))?;
        found.iter_mut().for_each(|object| object.bounds = in_image(object.bounds, placement));
        // Sizes that overflow are as telling as numbers that are none.
        let finite = heads.iter().all(|head| all_finite(&head.numbers))
            && found.iter().all(|object| object.bounds.area().is_finite());
        found.sort_by(Detection::surest_first);
        found.truncate(MOST_CANDIDATES);
        non_maximum_suppression(&mut found, self.overlap);
        Ok(Detections { found, names: names(classes).into(), finite })
    }
}

fn decoder(name: Option<&str>) -> Result<&'static Decoder, VisionError> {
    let known = || DECODERS.iter().map(|decoder| decoder.name);
    let all = known().collect::<Vec<_>>().join(", ");
    let name = name.ok_or_else(|| VisionError::NoDecoder { known: all.clone() })?;
    DECODERS.iter().find(|decoder| decoder.name == name).ok_or_else(|| {
        let meant = did_you_mean(name, known()).map(str::to_owned);
        VisionError::UnknownDecoder { name: name.to_owned(), known: all, meant }
    })
}

fn head(output: Output<'_>) -> Result<Head<'_>, VisionError> {
    let refuse = || output.refuse("a row of numbers per image and place is needed");
    let ([rows, columns], range) = output.axes::<2>().ok_or_else(refuse)?;
    let numbers = output.numbers(range).ok_or_else(refuse)?;
    Ok(Head { numbers, rows, columns })
}

/// A box of the model's input in pixels of the image.
fn in_image(b: Bounds, placement: Placement) -> Bounds {
    let point = |x: f32, y: f32| placement.to_image([x.into(), y.into()]).map(|at| at as f32);
    let ([left, top], [right, bottom]) = (point(b.left, b.top), point(b.right, b.bottom));
    Bounds { left, top, right, bottom }
}
