//! Changed images as a COCO set with the labels of their backgrounds.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use faultlens::campaign::object_comparison::ObjectComparison;
use faultlens::campaign::replay::Rerun;
use faultlens::campaign::scene::ReplayedImage;
use faultlens::data::CocoWriter;
use faultlens::record::Record;
use faultlens::{Bounds, Case, Object};

use crate::args::FindingsArgs;

/// The overlap from which a labelled object is the one that went.
const SAME: f64 = 0.5;

pub(super) struct Set<'a> {
    writer: CocoWriter,
    classes: Vec<String>,
    /// Whether somebody has labelled objects in the backgrounds: one without objects shows none
    /// then.
    labelled: bool,
    /// Files by what they show: their background and their pixels.
    files: BTreeMap<(String, u64), String>,
    args: &'a FindingsArgs,
}

impl<'a> Set<'a> {
    /// Begins the set, with the numbers of the file that the cases come from.
    pub(super) fn new(rerun: &Rerun, args: &'a FindingsArgs) -> anyhow::Result<Self> {
        let writer = CocoWriter::new(&args.out)?;
        let writer = writer.numbered(rerun.class_numbers().unwrap_or_default());
        let classes = rerun.classes().to_vec();
        let labelled = rerun.has_objects();
        Ok(Self { writer, classes, labelled, files: BTreeMap::new(), args })
    }

    /// Writes what describes the images, and says how many there are.
    pub(super) fn finish(self) -> anyhow::Result<usize> {
        Ok(self.writer.finish(&self.classes)?)
    }

    /// The file of an image, which is written once.
    pub(super) fn file(
        &mut self,
        record: &Record,
        replayed: &ReplayedImage,
        detection_diff: &ObjectComparison,
        moved: bool,
    ) -> anyhow::Result<String> {
        let mut hash = DefaultHasher::new();
        detection_diff.image.rgb().hash(&mut hash);
        let shows = (replayed.case.name.clone(), hash.finish());
        if let Some(file) = self.files.get(&shows) {
            return Ok(file.clone());
        }
        let moved = if moved { " moved" } else { "" };
        let name = format!("{} {}{moved}", stem(&replayed.case.name), record.number);
        let objects = self.objects(replayed, detection_diff);
        let case = Case { objects, ..Case::new(name, detection_diff.image.clone()) };
        let file = self.writer.add(&case, &self.classes)?;
        self.files.insert(shows, file.clone());
        Ok(file)
    }

    /// The labels of a changed image: those of its background.
    fn objects(
        &mut self,
        replayed: &ReplayedImage,
        detection_diff: &ObjectComparison,
    ) -> Vec<Object> {
        let mut objects = replayed.objects.clone();
        if !self.labelled && objects.is_empty() {
            // Without labels, the target's own undisturbed answer stands in for them.
            for thing in detection_diff.expected.iter().filter(|thing| {
                thing.bounds.right > thing.bounds.left
                    && thing.bounds.bottom > thing.bounds.top
                    && thing.bounds.area().is_finite()
            }) {
                objects.push(self.object(&thing.label, thing.bounds));
            }
        }
        if let (Some(touched), Some(at)) = (&replayed.touched, &detection_diff.touched) {
            match &touched.object {
                Some(_) if self.args.label_inserted => {
                    objects.push(self.object(&touched.label, *at));
                }
                Some(_) => {}
                // A removed object cannot be found any more.
                None => objects.retain(|object| object.bounds.iou(at) < SAME),
            }
        }
        objects
    }

    /// An object of this label, whose class is made where there is none.
    fn object(&mut self, label: &str, bounds: Bounds) -> Object {
        let known = self.classes.iter().position(|name| name.eq_ignore_ascii_case(label));
        let class = known.unwrap_or_else(|| {
            self.classes.push(label.to_owned());
            self.classes.len() - 1
        });
        Object { class, bounds, mask: None, crowd: false }
    }
}

/// A case's name without the ending of its file.
fn stem(name: &str) -> &str {
    let ending = name.rsplit_once('.').filter(|(_, ending)| ending.len() <= 4);
    ending.map_or(name, |(stem, _)| stem)
}
