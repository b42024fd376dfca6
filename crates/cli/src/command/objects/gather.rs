//! The outlines of a data set's objects, drawn by people or found by a model.

use std::collections::BTreeSet;

use anyhow::Context;
use faultlens::Mask;
use faultlens::data::{DataSet, Stamp};
use faultlens::targets::onnx::OutlineModel;

use crate::console::Console;

/// An object that may be kept. Its pixels are cut out later: most objects are not kept.
#[derive(Debug, Clone)]
pub(super) struct Outline {
    /// Its case, by place in the data set.
    pub(super) case: usize,
    pub(super) id: String,
    pub(super) label: String,
    pub(super) stamp: Stamp,
    pub(super) score: Option<f32>,
}

/// All outlines, and counts of objects without one.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// In the order of cases.
    pub(super) outlines: Vec<Outline>,
    /// Objects without a mask, or with an empty one.
    pub(super) without: usize,
    pub(super) crowds: usize,
    ids: BTreeSet<String>,
}

/// Outlines that the data set has.
pub(super) fn known(set: &DataSet, console: &mut Console) -> anyhow::Result<Gathered> {
    let mut gathered = Gathered::default();
    for case in 0..set.len() {
        console.progress(format_args!("reading image {} of {}", case + 1, set.len()));
        let read = set.case(case)?;
        for (number, object) in read.objects.iter().enumerate() {
            if object.crowd {
                gathered.crowds += 1;
                continue;
            }
            let label = set.classes.get(object.class).map(String::as_str).unwrap_or_default();
            gathered.add(case, &read.name, number, label, object.mask.as_ref(), None);
        }
    }
    console.progress("");
    Ok(gathered)
}

/// Outlines that a model finds.
pub(super) fn found(
    set: &DataSet,
    model: &OutlineModel,
    min_score: f32,
    console: &mut Console,
) -> anyhow::Result<Gathered> {
    let mut gathered = Gathered::default();
    for case in 0..set.len() {
        console.progress(format_args!("querying image {} of {}", case + 1, set.len()));
        let read = set.case(case)?;
        let instances =
            model.find(&read.image, min_score).with_context(|| format!("in {}", read.name))?;
        for (number, one) in instances.iter().enumerate() {
            let label = model.name(one.class);
            gathered.add(case, &read.name, number, &label, Some(&one.mask), one.score);
        }
    }
    console.progress("");
    Ok(gathered)
}

impl Gathered {
    fn add(
        &mut self,
        case: usize,
        name: &str,
        number: usize,
        label: &str,
        mask: Option<&Mask>,
        score: Option<f32>,
    ) {
        let Some(stamp) = mask.and_then(Stamp::of) else {
            self.without += 1;
            return;
        };
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let mut id = format!("{stem}-{}", number + 1);
        // Two images may differ in their endings alone.
        if !self.ids.insert(id.clone()) {
            id = format!("{name}-{}", number + 1);
            self.ids.insert(id.clone());
        }
        self.outlines.push(Outline { case, id, label: label.to_owned(), stamp, score });
    }

    /// Why there is nothing to cut out, and what to do.
    pub(super) fn nothing(&self, asked: bool) -> String {
        match (asked, self.without + self.crowds) {
            (true, _) => {
                "the model finds no object in these images; lower --score, or take another model"
                    .to_owned()
            }
            (false, 0) => {
                "the data set says nothing about objects; give a COCO data set with masks, or a \
                 model that outlines things (--model)"
                    .to_owned()
            }
            (false, _) => format!(
                "no object has an outline ({} have boxes only, {} are crowds); outline them with a \
                 model (--model)",
                self.without, self.crowds
            ),
        }
    }
}
