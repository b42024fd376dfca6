//! Boxes, by a decoder.

use faultlens_core::{
    Bounds, Detection, Detections, Tensor, did_you_mean, non_maximum_suppression,
};

use std::borrow::Cow;

use super::super::decode::{DECODERS, DecodeOptions, Decoded, Decoder, Head, Part, Units};
use super::super::output::output_called;
use super::super::{OutputDescription, Placement, VisionError};
use super::{Names, Output, ShownImage, all_finite, missing};

/// A broken model can find something everywhere; only so many of the surest are looked at.
const MAX_CANDIDATES: usize = 1000;

/// Reads boxes.
#[derive(Debug, Clone)]
pub(super) struct DetectionReader {
    decoder: &'static Decoder,
    /// What the decoder reads, by position and name.
    outputs: Vec<(usize, String)>,
    threshold: f32,
    overlap: f32,
    units: Units,
}

/// The settings that name outputs.
const KEYS: [&str; 4] = ["name", "scores", "boxes", "labels"];

impl DetectionReader {
    pub(super) fn new(described: &OutputDescription, names: &[&str]) -> Result<Self, VisionError> {
        let decoder = decoder(described.decoder.as_deref())?;
        let named = |key: &str| match key {
            "scores" => described.scores.as_deref(),
            "boxes" => described.boxes.as_deref(),
            "labels" => described.labels.as_deref(),
            _ => described.name.as_deref(),
        };
        let read = |key: &str| decoder.outputs.iter().any(|part| part.key == key);
        let unread = |key: &&str| !read(key) && named(key).is_some();
        if let Some(field) = KEYS.into_iter().find(unread) {
            let keys: Vec<&str> = decoder.outputs.iter().map(|part| part.key).collect();
            let takes = keys.join(" and ");
            return Err(VisionError::DecoderField { decoder: decoder.name, field, takes });
        }
        if described.units.is_some() && decoder.units.is_none() {
            return Err(VisionError::DecoderUnits { decoder: decoder.name });
        }
        let output = |part: &Part| {
            let at = match (named(part.key), part.key) {
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
            overlap: described.overlap.unwrap_or(decoder.overlap),
            units: described.units.or(decoder.units).unwrap_or(Units::Pixels),
        })
    }

    pub(super) fn read(
        &self,
        outputs: &[Tensor],
        index: usize,
        shown: ShownImage<'_>,
        names: Names<'_>,
    ) -> Result<Detections, VisionError> {
        let part = |(at, name): &'_ (usize, String)| {
            let tensor = outputs.get(*at).ok_or_else(|| missing(name))?;
            Ok((tensor, name.clone()))
        };
        let parts: Vec<(&Tensor, String)> =
            self.outputs.iter().map(part).collect::<Result<_, VisionError>>()?;
        let output = |at: usize| Output { tensor: parts[at].0, name: &parts[at].1, index };
        let heads: Vec<Head<'_>> = (0..parts.len())
            .map(|at| head(output(at), self.decoder.outputs[at]))
            .collect::<Result<_, _>>()?;
        let placement = shown.input.placement(shown.width, shown.height)?;
        let (size, min_score, units) = (shown.input.size, self.threshold, self.units);
        let found = (self.decoder.decode)(&heads, &DecodeOptions { size, min_score, units });
        let Decoded { objects: mut found, classes } =
            found.map_err(|misread| output(misread.output).refuse(misread.wanted))?;
        found.iter_mut().for_each(|object| object.bounds = in_image(object.bounds, placement));
        // Sizes that overflow are as telling as numbers that are none.
        let finite = heads.iter().all(|head| all_finite(&head.numbers))
            && found.iter().all(|object| object.bounds.area().is_finite());
        found.sort_by(Detection::surest_first);
        found.truncate(MAX_CANDIDATES);
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

/// The image's part of an output. Labels may be whole numbers; a list may be empty.
fn head(output: Output<'_>, part: Part) -> Result<Head<'_>, VisionError> {
    let refuse = || {
        output.refuse(match part.axes {
            1 => "a number per image and object is needed",
            2 => "a row of numbers per image and place is needed",
            _ => "numbers per image, row and column are needed",
        })
    };
    let shape = output.tensor.shape();
    let (images, axes) = match shape {
        own if part.alone && own.len() == part.axes => (1, own),
        [images, axes @ ..] if axes.len() == part.axes => (*images, axes),
        _ => return Err(refuse()),
    };
    if output.index >= images {
        return Err(refuse());
    }
    let each: usize = axes.iter().product();
    let range = output.index * each..(output.index + 1) * each;
    let whole = |range| -> Option<Cow<'_, [f32]>> {
        Some(output.classes(range)?.into_iter().map(|class| class as f32).collect())
    };
    let numbers = output.numbers(range.clone()).or_else(|| whole(range)).ok_or_else(refuse)?;
    Ok(Head { numbers, axes: axes.to_vec() })
}

/// A box of the model's input in pixels of the image.
pub(crate) fn in_image(b: Bounds, placement: Placement) -> Bounds {
    let point = |x: f32, y: f32| placement.to_image([x.into(), y.into()]).map(|at| at as f32);
    let ([left, top], [right, bottom]) = (point(b.left, b.top), point(b.right, b.bottom));
    Bounds { left, top, right, bottom }
}
