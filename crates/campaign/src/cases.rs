//! What is shown: data sets from files and from the embedded world, and the sample of them.

use faultlens_core::{Case, Seed};
use faultlens_data::{DataError, DataSet, Options};
use faultlens_spec::CaseSpec;
use faultlens_world::{self as world, MAX_PICTURES};
use std::path::Path;

/// The seed of the embedded world's pictures; seeds of campaigns and trainings are drawn apart
/// from it.
const WORLD_SEED: u64 = 1;
/// Held-out pictures of the embedded world, where the user gives no number.
const SIGNS: usize = 1400;
const SCENES: usize = 300;

/// Why cases cannot be had.
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
}

/// Pictures of the embedded world: `signs`, `scenes`, or either with a number behind a colon, from
/// the child of its seed that `part` names; `unsaid` signs and scenes without a number.
pub fn world_cases(
    asked: &str,
    part: &str,
    unsaid: [usize; 2],
    scene_classes: &[&str],
) -> Result<DataSet, CaseError> {
    let wrong = |why: String| Err(CaseError::World(why));
    let (kind, count) = match asked.split_once(':') {
        None => (asked, None),
        Some((kind, count)) => match count.parse::<usize>() {
            Ok(count) if (1..=MAX_PICTURES).contains(&count) => (kind, Some(count)),
            _ => {
                return wrong(format!(
                    "world:{kind} gives from 1 to {MAX_PICTURES} pictures, not {count}"
                ));
            }
        },
    };
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let seed = Seed::new(WORLD_SEED).child(part);
    match kind {
        "signs" => {
            let signs = world::signs(seed, count.unwrap_or(unsaid[0]));
            Ok(DataSet::new(owned(&world::SIGN_CLASSES), signs))
        }
        "scenes" => {
            let scenes = world::scenes(seed, count.unwrap_or(unsaid[1]));
            let cases: Vec<Case> = scenes.into_iter().map(|scene| scene.case).collect();
            Ok(DataSet::new(owned(scene_classes), cases))
        }
        other => wrong(format!("the embedded world has signs and scenes, no {other}")),
    }
}
