//! Cases: data sets from files and from the embedded world, and the sample of them that is shown.

use faultlens_core::{Case, Image, Seed};
use faultlens_data::{DataError, DataSet, Options};
use faultlens_record::store::CaseRecord;
use faultlens_spec::CaseSpec;
use faultlens_world::{self as world, MAX_PICTURES};
use std::collections::BTreeMap;
use std::path::Path;

/// The seed of the embedded world's pictures; seeds of campaigns and trainings are drawn apart
/// from it.
const WORLD_SEED: u64 = 1;
/// Held-out pictures of the embedded world, where the user gives no number.
const SIGNS: usize = 1400;
const SCENES: usize = 300;

/// Why cases cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// The data set cannot be opened.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The embedded world has no such pictures.
    #[error("{0}")]
    World(String),
}

/// The cases of a campaign: a data set, and which of it in which order.
pub struct Cases {
    /// All there are.
    pub set: DataSet,
    /// By case of the campaign, its place in the set.
    pub sample: Vec<usize>,
}

impl Cases {
    /// Opens the data and draws the sample.
    pub fn open(spec: &CaseSpec, seed: u64) -> Result<Self, CaseError> {
        let set = match spec.data.strip_prefix(world::PREFIX) {
            Some(asked) => {
                let part = spec.part.as_deref().unwrap_or(world::TEST);
                if ![world::TEST, world::TRAIN].contains(&part) {
                    let why = format!("the embedded world has the parts train and test, no {part}");
                    return Err(CaseError::World(why));
                }
                world_cases(asked, part, [SIGNS, SCENES], &world::SCENE_CLASSES)?
            }
            None => {
                let options = Options {
                    format: spec.format,
                    label_column: spec.label_column.clone(),
                    part: spec.part.clone(),
                    ..Options::default()
                };
                DataSet::open_with(Path::new(&spec.data), &options)?
            }
        };
        let sample = match &spec.sample {
            Some(sample) => set.sample(sample.count, sample.how, Seed::new(seed).child("cases")),
            None => (0..set.len()).collect(),
        };
        Ok(Self { set, sample })
    }

    /// The cases of the sample that can be read, in its order.
    pub(crate) fn readable(&self) -> impl Iterator<Item = Case> {
        self.sample.iter().filter_map(|&index| self.set.case(index).ok())
    }

    /// The record of a case that could be read; `number` is its position in the sample.
    pub fn record(&self, number: u32, case: &Case) -> CaseRecord {
        let label = case.label.and_then(|label| self.set.classes.get(label).cloned());
        CaseRecord {
            case: number,
            name: case.name.clone(),
            label,
            strata: case.strata.clone(),
            width: case.image.width() as u32,
            height: case.image.height() as u32,
            digest: Some(pixels_digest(&case.image)),
            error: None,
        }
    }

    /// The record of a case that cannot be read. Its name is unknown, so it is called by its
    /// position in the set.
    pub(crate) fn unreadable(&self, number: u32, index: usize, error: &str) -> CaseRecord {
        let label = self.set.label(index);
        CaseRecord {
            case: number,
            name: format!("case {index}"),
            label: label.and_then(|label| self.set.classes.get(label).cloned()),
            strata: BTreeMap::new(),
            width: 0,
            height: 0,
            digest: None,
            error: Some(error.to_owned()),
        }
    }
}

/// What distinguishes a case from others: its name and its pixels.
pub fn case_key(case: &Case) -> String {
    format!("{} {:016x}", case.name, pixels_digest(&case.image))
}

/// A hash of an image's size and pixels: rotate, xor and multiply by the 64-bit golden ratio, eight
/// bytes at a time. Part of every trial's identity, so it must never change.
pub(crate) fn pixels_digest(image: &Image) -> u64 {
    let mut hash = (image.width() as u64) << 32 | image.height() as u64;
    let (words, rest) = image.rgb().as_chunks::<8>();
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    for word in words.chain(rest.iter().map(|&byte| u64::from(byte))) {
        hash = (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    hash
}

/// Pictures of the embedded world: `signs`, `scenes`, or either with a number behind a colon, from
/// the child of its seed that `part` names; `unsaid` signs and scenes without a number.
pub fn world_cases(
    asked: &str,
    part: &str,
    unsaid: [usize; 2],
    scene_classes: &[&str],
) -> Result<DataSet, CaseError> {
    let (kind, count) = match asked.split_once(':') {
        None => (asked, None),
        Some((kind, count)) => match count.parse::<usize>() {
            Ok(count) if (1..=MAX_PICTURES).contains(&count) => (kind, Some(count)),
            _ => {
                return Err(CaseError::World(format!(
                    "world:{kind} gives from 1 to {MAX_PICTURES} pictures, not {count}"
                )));
            }
        },
    };
    let seed = Seed::new(WORLD_SEED).child(part);
    match kind {
        "signs" => {
            let signs = world::signs(seed, count.unwrap_or(unsaid[0]));
            let classes = world::SIGN_CLASSES.map(str::to_owned);
            Ok(DataSet::new(classes.into(), signs))
        }
        "scenes" => {
            let scenes = world::scenes(seed, count.unwrap_or(unsaid[1]));
            let cases: Vec<Case> = scenes.into_iter().map(|scene| scene.case).collect();
            let classes = scene_classes.iter().map(|&name| name.to_owned()).collect();
            Ok(DataSet::new(classes, cases))
        }
        other => {
            Err(CaseError::World(format!("the embedded world has signs and scenes, no {other}")))
        }
    }
}
