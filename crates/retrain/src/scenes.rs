//! Changed scenes of a campaign become sets to learn from.

use crate::file::replace_folder;
use crate::{RetrainError, ScenesUsed};
use faultlens_campaign::replay::Rerun;
use faultlens_campaign::run::RunError;
use faultlens_campaign::scene::Finding;
use faultlens_core::{Bounds, Case, Image, Object, OutcomeKind, Seed};
use faultlens_data::{CocoWriter, DataError, DataSet, Source};
use faultlens_record::Record;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// How many failing scenes a page shows of a seed.
const SHOWN: usize = 4;

/// The folders of the two sets, in that of the seed.
pub(crate) const FAILING: &str = "failing";
pub(crate) const UNCHECKED: &str = "unchecked";

/// Draws and writes sets of changed scenes.
pub(crate) struct Drawing<'a> {
    /// The seed's folder.
    pub(crate) folder: &'a Path,
    pub(crate) seed: u64,
    /// How many scenes a set should have.
    pub(crate) wanted: usize,
    pub(crate) label_inserted: bool,
}

/// A scene that can be drawn: a record, and whether its object has moved on.
type Candidate = (u64, bool);

impl Drawing<'_> {
    /// Both sets, from the records of a run.
    pub(crate) fn draw(&self, run: &Path) -> Result<ScenesUsed, RetrainError> {
        let rerun = Rerun::open(run).map_err(RetrainError::run(self.seed))?;
        let judged = rerun.scenes(true).map_err(RetrainError::run(self.seed))?;
        let failing: Vec<Record> = judged
            .iter()
            .filter(|record: &&Record| record.outcome.kind() == OutcomeKind::Changed)
            .cloned()
            .collect();
        let different = candidates(&failing, true);
        if judged.is_empty() {
            return Err(RetrainError::NoneChanged { seed: self.seed });
        }
        if different.is_empty() {
            return Err(RetrainError::NoneFailing { seed: self.seed, judged: judged.len() as u64 });
        }
        let drawn = self.drawn(&different, FAILING);
        let files = self.write(&rerun, &failing, &drawn, FAILING)?;
        let unchecked = self.drawn(&candidates(&judged, false), UNCHECKED);
        let unchecked_used = self.write(&rerun, &judged, &unchecked, UNCHECKED)?.len();
        let numbers: BTreeSet<u64> = failing.iter().map(|record| record.number).collect();
        Ok(ScenesUsed {
            judged: judged.len() as u64,
            failing: failing.len() as u64,
            different: different.len(),
            failing_used: files.len(),
            unchecked_used,
            unchecked_failing: unchecked
                .iter()
                .filter(|(number, _): &&Candidate| numbers.contains(number))
                .count(),
            shown: self.shown(&files),
        })
    }

    /// As many candidates as are wanted, in their order; all where there are fewer.
    fn drawn(&self, candidates: &[Candidate], what: &str) -> Vec<Candidate> {
        let mut drawn = candidates.to_vec();
        Seed::new(self.seed).child("scenes").child(what).stream().shuffle(&mut drawn);
        drawn.truncate(self.wanted);
        drawn.sort_unstable();
        drawn
    }

    /// Makes scenes again and writes them as a COCO set; gives the names of the files.
    fn write(
        &self,
        rerun: &Rerun,
        records: &[Record],
        drawn: &[Candidate],
        what: &str,
    ) -> Result<Vec<String>, RetrainError> {
        let by_number: BTreeMap<u64, &Record> = records.iter().map(|r| (r.number, r)).collect();
        let mut wanted: Vec<Record> = drawn
            .iter()
            .filter_map(|(number, _)| by_number.get(number).copied().cloned())
            .collect();
        wanted.dedup_by_key(|record| record.number);
        let drawn: BTreeSet<Candidate> = drawn.iter().copied().collect();
        replace_folder(&self.folder.join(what), |part| {
            let mut writer = CocoWriter::new(part)?;
            let mut files = Vec::new();
            rerun
                .findings::<Trouble>(&wanted, &mut |record, finding| {
                    for (moved, at, image) in places(&finding) {
                        if drawn.contains(&(record.number, moved)) {
                            let case =
                                self.case(record, &finding, moved, at, image, rerun.classes());
                            files.push(writer.add(&case, rerun.classes())?);
                        }
                    }
                    Ok(())
                })
                .map_err(|trouble| trouble.into_error(self.seed))?;
            writer.finish(rerun.classes())?;
            Ok(files)
        })
    }

    /// A changed scene with the labels of its background.
    fn case(
        &self,
        record: &Record,
        finding: &Finding,
        moved: bool,
        at: Bounds,
        image: &Image,
        classes: &[String],
    ) -> Case {
        let background = &finding.case;
        let mut objects = background.objects.clone();
        let label = &finding.touched.label;
        let class = classes.iter().position(|name| name.eq_ignore_ascii_case(label));
        if let Some(class) = class.filter(|_| self.label_inserted) {
            objects.push(Object { class, bounds: at, mask: None, crowd: false });
        }
        let stem = Path::new(&background.name).file_stem().unwrap_or_default().to_string_lossy();
        let moved = if moved { "-moved" } else { "" };
        Case { objects, ..Case::new(format!("{stem}-{}{moved}", record.number), image.clone()) }
    }

    /// A few files, evenly spread.
    fn shown(&self, files: &[String]) -> Vec<String> {
        let every = files.len().div_ceil(SHOWN).max(1);
        let folder = self.folder.file_name().unwrap_or_default().to_string_lossy();
        files
            .iter()
            .step_by(every)
            .map(|file: &String| format!("{folder}/{FAILING}/images/{file}"))
            .collect()
    }
}

/// Where the object of a finding stands: as it was placed, and as far as it moved.
fn places(finding: &Finding) -> impl Iterator<Item = (bool, Bounds, &Image)> {
    let placed = (false, finding.touched.bounds, &finding.image);
    let moved = finding.furthest.as_ref().map(|(at, image)| (true, *at, image));
    [placed].into_iter().chain(moved)
}

/// The different scenes of records, each once; also those at the end of a way where that is wanted.
fn candidates(records: &[Record], moved: bool) -> Vec<Candidate> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for record in records {
        let Some(scene) = &record.measures.scene else { continue };
        let object = scene.object.as_ref();
        let id = object.and_then(|object| object.id.clone());
        let placed = object.map(|object| corner([object.bounds.left, object.bounds.top]));
        let way = scene.relocation.as_ref();
        let last = way.and_then(|way| way.places.last()).map(|place| corner(*place));
        for (moved, place) in [(false, placed), (true, last.filter(|_| moved))] {
            let Some(place) = place else { continue };
            if seen.insert((record.case, id.clone(), place)) {
                all.push((record.number, moved));
            }
        }
    }
    all
}

/// The upper left corner of a box in tenths of pixels: closer ones show the same scene.
fn corner(place: [f32; 2]) -> [i64; 2] {
    place.map(|side| (f64::from(side) * 10.0).round() as i64)
}

/// What goes wrong while scenes are made again.
enum Trouble {
    Run(Box<RunError>),
    Data(DataError),
}

impl Trouble {
    fn into_error(self, seed: u64) -> RetrainError {
        match self {
            Self::Run(source) => RetrainError::Run { seed, source },
            Self::Data(error) => error.into(),
        }
    }
}

impl From<RunError> for Trouble {
    fn from(error: RunError) -> Self {
        Self::Run(Box::new(error))
    }
}

impl From<DataError> for Trouble {
    fn from(error: DataError) -> Self {
        Self::Data(error)
    }
}

/// The originals, and as many cases again from another set: over and over where it has fewer.
pub(crate) fn joined(originals: &DataSet, added: &DataSet) -> DataSet {
    let again: Vec<usize> = (0..originals.len()).map(|at| at % added.len().max(1)).collect();
    let both = Both(originals.clone(), added.subset(&again));
    DataSet::new(originals.classes.clone(), both)
}

/// One set behind the other.
struct Both(DataSet, DataSet);

impl Both {
    fn find(&self, index: usize) -> (&DataSet, usize) {
        match index.checked_sub(self.0.len()) {
            None => (&self.0, index),
            Some(index) => (&self.1, index),
        }
    }
}

impl Source for Both {
    fn len(&self) -> usize {
        self.0.len() + self.1.len()
    }

    fn label(&self, index: usize) -> Option<usize> {
        let (set, at) = self.find(index);
        set.label(at)
    }

    fn has_objects(&self) -> bool {
        self.0.has_objects() || self.1.has_objects()
    }

    fn case(&self, index: usize) -> Result<Case, DataError> {
        let (set, at) = self.find(index);
        set.case(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Outcome;
    use faultlens_record::{Cost, Measures, Relocation, SceneChange, SceneObject, TrialId};

    fn record(number: u64, case: u32, scene: &SceneChange) -> Record {
        Record {
            number,
            trial: TrialId([0; 16]),
            target: 0,
            case,
            fault: 0,
            repeat: 0,
            outcome: Outcome::Changed,
            site: None,
            answer: None,
            score: None,
            cost: Cost { queries: 1, micros: 0 },
            digest: None,
            measures: Measures { scene: Some(scene.clone()), ..Measures::default() },
            extra: BTreeMap::new(),
        }
    }

    #[test]
    fn a_scene_counts_once_wherever_its_object_came_from() {
        let object_at = |left: f32, top: f32| SceneChange {
            object: Some(SceneObject {
                label: "car".to_owned(),
                id: Some("a".to_owned()),
                bounds: Bounds { left, top, right: left + 2.0, bottom: top + 2.0 },
                beside: None,
            }),
            ..SceneChange::default()
        };
        let placed = object_at(1.0, 2.0);
        let places = vec![[5.0, 6.0], [7.0, 8.0]];
        let relocation = Some(Relocation { share: 1.0, places, naturalness: None });
        let way = SceneChange { relocation, ..placed.clone() };
        let there = object_at(7.0, 8.0);
        let records = [
            record(0, 0, &placed),
            record(1, 0, &placed),
            record(2, 0, &way),
            record(3, 0, &there),
            record(4, 1, &way),
        ];
        let wanted = [(0, false), (2, true), (4, false), (4, true)];
        assert_eq!(candidates(&records, true), wanted);
        assert_eq!(candidates(&records, false), [(0, false), (3, false), (4, false)]);
    }

    #[test]
    fn too_few_scenes_are_used_again() {
        let set = |names: &[&str]| {
            let image = Image::from_rgb(1, 1, vec![0; 3]).unwrap();
            DataSet::new(
                vec!["car".into()],
                names
                    .iter()
                    .map(|name: &&str| Case::new(*name, image.clone()))
                    .collect::<Vec<Case>>(),
            )
        };
        let both = joined(&set(&["a", "b", "c"]), &set(&["x", "y"]));
        let names: Vec<String> = (0..6).map(|at| both.case(at).unwrap().name).collect();
        assert_eq!(names, ["a", "b", "c", "x", "y", "x"]);
        assert_eq!((both.len(), both.classes.len()), (6, 1));
    }
}
