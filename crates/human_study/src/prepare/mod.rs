//! The pictures of a study: originals, and versions with faults spread evenly over visual change.

mod choices;
mod fault;
mod spread;

pub use fault::fault;

use crate::error::StudyError;
use crate::journal::Journal;
use crate::protocol::Protocol;
use crate::stimulus::{self, Stimulus, StimulusKind};
use faultlens_core::{Case, Image, Seed};
use faultlens_data::{DataSet, encode_png};
use faultlens_judge::visual::Reference;
use faultlens_spec::Varied;
use rayon::prelude::*;
use sha2::{Digest as _, Sha256};
use spread::Reach;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// What a study is made of.
pub struct StudyRequest<'a> {
    /// Where pictures come from.
    pub set: &'a DataSet,
    /// How it is done.
    pub protocol: Protocol,
    /// Classes of the data set that a choice is made of, by choice.
    pub groups: BTreeMap<String, Vec<String>>,
    /// The faults, from weak to strong.
    pub faults: Vec<Varied>,
    /// How many pictures of the data set, half of them of either choice.
    pub images: usize,
}

/// Pictures of the data set by what they are for, each with the right choice.
struct Drawn {
    shown: Vec<(usize, usize)>,
    easy: Vec<(usize, usize)>,
}

/// Makes the study in a new directory; its pictures in the order of the index. The same data,
/// settings and seed make the same ones.
pub fn prepare(request: &StudyRequest<'_>, dir: &Path) -> Result<Vec<Stimulus>, StudyError> {
    if let Some(wrong) = request.protocol.wrong() {
        return Err(StudyError::Request(wrong));
    }
    let mut names = BTreeSet::new();
    if let Some(twice) = request.faults.iter().find(|varied| !names.insert(varied.name())) {
        return Err(StudyError::Request(format!("the fault {} is named twice", twice.name())));
    }
    let right = choices::right(&request.protocol.choices, &request.groups, &request.set.classes)?;
    let drawn = draw(request, &right)?;
    fresh(dir)?;
    let wanted = wanted(request, &drawn)?;
    let shown = drawn.shown.par_iter().zip(&wanted).enumerate();
    let versions = shown.map(|(at, (&one, wanted))| versions(request, dir, at, one, wanted));
    let mut stimuli = versions.collect::<Result<Vec<_>, _>>()?.concat();
    let easy = drawn.easy.par_iter().map(|&(index, choice)| {
        let case = request.set.case(index)?;
        keep(request, dir, &case, choice, Version::undisturbed(&case, StimulusKind::Easy))
    });
    stimuli.extend(easy.collect::<Result<Vec<_>, _>>()?);
    stimulus::write(dir, &stimuli)?;
    Journal::create(dir)?;
    // Last, since a directory with this file is a study.
    request.protocol.write(dir)?;
    Ok(stimuli)
}

fn fresh(dir: &Path) -> Result<(), StudyError> {
    let pictures = stimulus::folder(dir);
    fs::create_dir_all(dir).map_err(StudyError::io("make the directory", dir))?;
    let mut found = fs::read_dir(dir).map_err(StudyError::io("look into the directory", dir))?;
    if found.next().is_some() {
        return Err(StudyError::NotEmpty(dir.to_path_buf()));
    }
    fs::create_dir(&pictures).map_err(StudyError::io("make the directory", &pictures))
}

/// Half of the pictures from either choice; those for tests and checks beside them.
fn draw(request: &StudyRequest<'_>, right: &[Option<usize>]) -> Result<Drawn, StudyError> {
    let set = request.set;
    let protocol = &request.protocol;
    let mut sides = [const { Vec::new() }; 2];
    for index in 0..set.len() {
        if let Some(choice) = set.label(index).and_then(|label| *right.get(label)?) {
            sides[choice].push(index);
        }
    }
    let half = |count: usize, side: usize| (count + 1 - side) / 2;
    let mut drawn = Drawn { shown: Vec::new(), easy: Vec::new() };
    let seed = Seed::new(protocol.seed).child("draw");
    for (choice, mut side) in sides.into_iter().enumerate() {
        let shown = half(request.images, choice);
        let easy = half(protocol.easy(), choice);
        if side.len() < shown + easy {
            let name = &protocol.choices[choice];
            let has = side.len();
            return Err(StudyError::Request(format!(
                "the data set has {has} pictures of {name:?}, and {} are needed: {shown} to show \
                 and {easy} for the test and the checks; lower --images, or take more data",
                shown + easy
            )));
        }
        seed.at(choice as u64).stream().shuffle(&mut side);
        drawn.shown.extend(side[..shown].iter().map(|&index| (index, choice)));
        drawn.easy.extend(side[shown..shown + easy].iter().map(|&index| (index, choice)));
    }
    Ok(drawn)
}

/// A picture with all that the index says of how it came about.
struct Version {
    image: Image,
    kind: StimulusKind,
    fault: String,
    settings: String,
    visual_change: f64,
}

impl Version {
    fn undisturbed(case: &Case, kind: StimulusKind) -> Self {
        let fault = String::new();
        let settings = String::new();
        Self { image: case.image.clone(), kind, fault, settings, visual_change: 0.0 }
    }
}

/// By picture and fault, how much it is to be changed.
fn wanted(request: &StudyRequest<'_>, drawn: &Drawn) -> Result<Vec<Vec<f64>>, StudyError> {
    let reaches = drawn.shown.par_iter().enumerate().map(|(at, &(index, _))| {
        let case = request.set.case(index)?;
        let original = original(&case)?;
        request
            .faults
            .iter()
            .map(|varied: &Varied| {
                let stream = &mut seed(request, varied).at(at as u64).stream();
                let reach = varied.reach(&case.image, &original, stream);
                let (min, max) = reach.ok_or_else(|| unseen(varied, &case))?;
                Ok(Reach { min, max })
            })
            .collect::<Result<Vec<_>, StudyError>>()
    });
    let reaches = reaches.collect::<Result<Vec<_>, _>>()?;
    let answers = request.protocol.answers as usize;
    let mut wanted = vec![Vec::new(); reaches.len()];
    for (number, varied) in request.faults.iter().enumerate() {
        let of: Vec<Reach> = reaches.iter().map(|reaches| reaches[number]).collect();
        let changes = spread::wanted(&of, answers, seed(request, varied).child("spread"));
        wanted.iter_mut().zip(changes).for_each(|(all, change)| all.push(change));
    }
    Ok(wanted)
}

/// What a fault is drawn from.
fn seed(request: &StudyRequest<'_>, varied: &Varied) -> Seed {
    Seed::new(request.protocol.seed).child("versions").child(varied.name())
}

/// What changes of a picture are measured against.
fn original(case: &Case) -> Result<Reference, StudyError> {
    Reference::new(&case.image)
        .map_err(|error| StudyError::Request(format!("{}: {error}", case.name)))
}

fn unseen(varied: &Varied, case: &Case) -> StudyError {
    let fault = varied.name();
    let case = &case.name;
    StudyError::Request(format!(
        "{case}: nobody can tell how much {fault} changes it; leave it out"
    ))
}

/// The original and one version per fault.
fn versions(
    request: &StudyRequest<'_>,
    dir: &Path,
    at: usize,
    (index, choice): (usize, usize),
    wanted: &[f64],
) -> Result<Vec<Stimulus>, StudyError> {
    let case = request.set.case(index)?;
    let undisturbed = Version::undisturbed(&case, StimulusKind::Original);
    let mut kept = vec![keep(request, dir, &case, choice, undisturbed)?];
    let original = original(&case)?;
    for (varied, &wanted) in request.faults.iter().zip(wanted) {
        let stream = &mut seed(request, varied).at(at as u64).stream();
        let drawn = varied.near(&case.image, &original, wanted, stream);
        let drawn = drawn.ok_or_else(|| unseen(varied, &case))?;
        let settings = drawn.strengths.iter().map(|(name, at)| format!("{name}={at}"));
        let version = Version {
            settings: settings.collect::<Vec<_>>().join(", "),
            visual_change: drawn.visual_change.ok_or_else(|| unseen(varied, &case))?,
            image: drawn.image,
            kind: StimulusKind::Changed,
            fault: varied.name().to_owned(),
        };
        kept.push(keep(request, dir, &case, choice, version)?);
    }
    Ok(kept)
}

/// Writes a picture under a hash for a name, which gives nothing away.
fn keep(
    request: &StudyRequest<'_>,
    dir: &Path,
    case: &Case,
    choice: usize,
    version: Version,
) -> Result<Stimulus, StudyError> {
    let png = encode_png(&version.image).ok_or_else(|| {
        StudyError::Request(format!("the picture {} cannot be written as PNG", case.name))
    })?;
    let mut hash = Sha256::new();
    hash.update(request.protocol.seed.to_le_bytes());
    for part in [case.name.as_bytes(), version.fault.as_bytes(), &png] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let hash = hash.finalize();
    let stimulus = Stimulus {
        file: hash[..12].iter().map(|byte| format!("{byte:02x}")).collect(),
        image: case.name.clone(),
        kind: version.kind,
        fault: version.fault,
        settings: version.settings,
        truth: request.protocol.choices[choice].clone(),
        visual_change: version.visual_change,
        width: version.image.width() as u32,
        height: version.image.height() as u32,
    };
    let path = stimulus.path(dir);
    faultlens_files::write_in_bulk(&path, &png)
        .map_err(StudyError::io("write a picture", &path))?;
    Ok(stimulus)
}
