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
        let keys: Vec<&str> = decoder.outputs.iter().map(|part| part.key).collect();
        let unread = KEYS.into_iter().find(|key| !keys.contains(key) && named(key).is_some());
        if let Some(field) = unread {
            let takes = keys.join(" and ");
            return Err(VisionError::DecoderField { decoder: decoder.name, field, takes });
        }
        if described.units.is_some() && decoder.units.is_none() {
            return Err(VisionError::DecoderUnits { decoder: decoder.name });
        }
        Ok(Self {
            decoder,
            outputs: decoder
                .outputs
                .iter()
                .map(|part| {
                    let at = match (named(part.key), part.key) {
                        (None, "name") => 0,
                        (name, key) => output_called(names, name.unwrap_or(key))?,
                    };
                    let name = names.get(at).copied().unwrap_or("(none)");
                    Ok((at, name.to_owned()))
                })
                .collect::<Result<_, VisionError>>()?,
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
        let parts: Vec<(&Tensor, String)> = self
            .outputs
            .iter()
            .map(|(at, name)| {
                let tensor = outputs.get(*at).ok_or_else(|| missing(name))?;
                Ok((tensor, name.clone()))
            })
            .collect::<Result<_, VisionError>>()?;
        let output = |at: usize| Output { tensor: parts[at].0, name: &parts[at].1, index };
        let heads: Vec<Head<'_>> = (0..parts.len())
            .map(|at| head(output(at), self.decoder.outputs[at]))
            .collect::<Result<_, _>>()?;
        let placement = shown.input.placement(shown.width, shown.height)?;
        let size = shown.input.size;
        let min_score = self.threshold;
        let units = self.units;
        let found = (self.decoder.decode)(&heads, &DecodeOptions { size, min_score, units });
        let Decoded { objects: mut found, classes } =
            found.map_err(|misread| output(misread.output).refuse(misread.wanted))?;
        found.iter_mut().for_each(|object| object.bounds = in_image(object.bounds, placement));
        // Sizes that overflow are as telling as numbers that are none.
        let finite = heads.iter().all(|head| all_finite(&head.numbers))
            && found.iter().all(|object| object.bounds.area().is_finite());
        // Greedy non-maximum suppression, over the surest candidates only: it is quadratic.
        found.sort_by(Detection::by_descending_score);
        found.truncate(MAX_CANDIDATES);
        non_maximum_suppression(&mut found, self.overlap);
        Ok(Detections { found, names: names(classes).into(), finite, min_score: Some(min_score) })
    }
}

fn decoder(name: Option<&str>) -> Result<&'static Decoder, VisionError> {
    let known: Vec<&str> = DECODERS.iter().map(|decoder| decoder.name).collect();
    let all = known.join(", ");
    let name = name.ok_or_else(|| VisionError::NoDecoder { known: all.clone() })?;
    DECODERS.iter().find(|decoder| decoder.name == name).ok_or_else(|| {
        let meant = did_you_mean(name, known.iter().copied()).map(str::to_owned);
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
    // Some exporters leave the axis of images out where the batch is one.
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
    let numbers = match output.numbers(range.clone()) {
        Some(numbers) => numbers,
        None => {
            let classes = output.classes(range).ok_or_else(refuse)?;
            classes.into_iter().map(|class| class as f32).collect::<Cow<'_, [f32]>>()
        }
    };
    Ok(Head { numbers, axes: axes.to_vec() })
}

/// A box of the model's input in pixels of the image.
pub(crate) fn in_image(b: Bounds, placement: Placement) -> Bounds {
    let [left, top] = placement.to_image([b.left.into(), b.top.into()]);
    let [right, bottom] = placement.to_image([b.right.into(), b.bottom.into()]);
    Bounds { left: left as f32, top: top as f32, right: right as f32, bottom: bottom as f32 }
}
