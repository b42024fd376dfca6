//! A part of a sweep: one split of one data set, which becomes one campaign.

use crate::{Sweep, SweepError};
use faultlens_campaign::cases::world_cases;
use faultlens_core::{Case, Image, Seed, TensorData};
use faultlens_data::{DataSet, Sampling};
use faultlens_vision::{Channels, ElementType, InputDescription, Layout};
use faultlens_world as world;
use std::collections::BTreeSet;
use std::path::Path;

/// Pictures of the embedded world, where the user gives no number.
const SIGNS: usize = 7000;
const SCENES: usize = 2000;
/// The share of a set that may be learned from.
const TO_TRAIN: f64 = 0.8;

/// One split of one data set.
pub struct Part<'s> {
    /// The sweep that it belongs to.
    pub sweep: &'s Sweep,
    /// What its campaign is called.
    pub name: String,
    /// The data set, as the sweep names it.
    pub data: String,
    /// Which of the splits, from 1.
    pub permutation: u32,
    /// What models learn from.
    pub train: DataSet,
    /// What is attacked; nothing of it was learned from.
    pub samples: DataSet,
}

impl Sweep {
    /// The parts of the sweep, in the order in which they run.
    pub fn parts(&self) -> Result<Vec<Part<'_>>, SweepError> {
        let mut parts = Vec::new();
        let mut names = BTreeSet::new();
        for data in &self.data {
            let name = short(data, &mut names);
            let set = open(data)?;
            if set.classes.is_empty() {
                return Err(SweepError::Unlabelled { data: data.clone() });
            }
            for permutation in 1..=self.permutations {
                let (train, samples) = self.split(&set, data, permutation)?;
                let name = format!("{name}-{permutation}");
                let data = data.clone();
                parts.push(Part { sweep: self, name, data, permutation, train, samples });
            }
        }
        Ok(parts)
    }

    /// What is learned from and what is attacked, without a common case.
    fn split(
        &self,
        set: &DataSet,
        data: &str,
        permutation: u32,
    ) -> Result<(DataSet, DataSet), SweepError> {
        let seed = Seed::new(self.seed).child("permutation").at(permutation.into());
        let (train, held_out) = set.split(TO_TRAIN, seed);
        let wanted = self.train.unwrap_or(train.len());
        if train.is_empty() || wanted > train.len() {
            let data = data.to_owned();
            let there = train.len();
            return Err(SweepError::FewToTrain { data, there, wanted: wanted.max(1) });
        }
        let train = train.subset(&train.sample(wanted, Sampling::Balanced, seed.child("train")));
        let drawn = held_out.sample(self.samples, Sampling::Balanced, seed.child("samples"));
        balanced(&held_out, self.samples, data)?;
        let samples = held_out.subset(&drawn);
        match self.size {
            Some(size) => Ok((scaled(&train, size)?, scaled(&samples, size)?)),
            None => Ok((train, samples)),
        }
    }
}

/// Refuses a set in which some class has fewer cases than its share of the samples.
fn balanced(held_out: &DataSet, wanted: usize, data: &str) -> Result<(), SweepError> {
    let mut counts = vec![0; held_out.classes.len()];
    for label in (0..held_out.len()).filter_map(|index| held_out.label(index)) {
        if let Some(count) = counts.get_mut(label) {
            *count += 1;
        }
    }
    let share = wanted / counts.len().max(1);
    let rarest = counts.iter().enumerate().min_by_key(|(_, count)| **count);
    match rarest {
        Some((class, &there)) if (there < share || held_out.len() < wanted) => {
            Err(SweepError::FewSamples {
                data: data.to_owned(),
                class: held_out.classes[class].clone(),
                there,
                wanted,
            })
        }
        _ => Ok(()),
    }
}

fn open(data: &str) -> Result<DataSet, SweepError> {
    match data.strip_prefix(world::PREFIX) {
        Some(asked) => {
            Ok(world_cases(asked, world::TRAIN, [SIGNS, SCENES], &world::SCENE_CLASSES)?)
        }
        None => Ok(DataSet::open(data)?),
    }
}

/// All cases of a set at another size, read once.
fn scaled(set: &DataSet, size: [usize; 2]) -> Result<DataSet, SweepError> {
    let mut bytes = InputDescription::plain(size, Channels::Rgb, ElementType::Uint8);
    bytes.layout = Layout::Nhwc;
    let cases = (0..set.len()).map(|index| {
        let case = set.case(index)?;
        let tensor = bytes.tensor(std::slice::from_ref(&case.image))?;
        let pixels = match tensor.into_parts().1 {
            TensorData::U8(pixels) => pixels,
            _ => Vec::new(),
        };
        let image = Image::from_rgb(size[1], size[0], pixels)?;
        Ok(Case { label: case.label, ..Case::new(case.name, image) })
    });
    let cases: Vec<Case> = cases.collect::<Result<_, SweepError>>()?;
    Ok(DataSet::new(set.classes.clone(), cases))
}

/// A name for files, unlike those before.
fn short(data: &str, names: &mut BTreeSet<String>) -> String {
    let plain = data.strip_prefix(world::PREFIX).unwrap_or(data);
    let plain = plain.split(':').next().unwrap_or_default();
    let stem = Path::new(plain).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let stem: String = stem
        .unwrap_or_default()
        .chars()
        .take(40)
        .map(|c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' })
        .collect();
    let stem = if stem.is_empty() { "data".to_owned() } else { stem };
    let mut name = stem.clone();
    for number in 2.. {
        if names.insert(name.clone()) {
            break;
        }
        name = format!("{stem}_{number}");
    }
    name
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
