//! The sweep file: YAML text becomes checked types once, and nothing checks again.

mod defence;
mod model;

pub use defence::{DefencePoint, Means};
pub use model::{ModelPoint, Origin};

use faultlens_spec::file::{
    self, At, Diagnostic, Faults, ListOf, Node, NonEmpty, Text, Texts, Whole, parse,
};
use faultlens_spec::{ConfigError, FaultPoint};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The key that distinguishes a sweep from a campaign.
const SWEEP: &str = "sweep";
/// What the first release called it.
const OLD_SWEEP: &str = "study";
/// How many samples are attacked by default.
const SAMPLES: usize = 100;

/// Which models are trained, defended and attacked: a sweep file, checked.
#[derive(Debug)]
pub struct Sweep {
    /// What reports call it.
    pub name: String,
    /// What all random numbers come from.
    pub seed: u64,
    /// How many threads work; one per core by default.
    pub threads: Option<usize>,
    /// The folder for all that the sweep leaves, from the current directory.
    pub output: PathBuf,
    /// The folder in which trained models are kept, from the current directory; `models` in the
    /// output by default.
    pub cache: Option<PathBuf>,
    /// The data sets: `world:KIND`, `world:KIND:COUNT` or paths.
    pub data: Vec<String>,
    /// Rows and columns that images are scaled to before anything else.
    pub size: Option<[usize; 2]>,
    /// How many cases are learned from; by default all that are not held out.
    pub train: Option<usize>,
    /// How many cases that were not learned from are attacked.
    pub samples: usize,
    /// How often each data set is split anew.
    pub permutations: u32,
    /// The models; names are unique, and there is at least one.
    pub models: Vec<ModelPoint>,
    /// The defences; labels are unique, and there is at least one.
    pub defences: Vec<DefencePoint>,
    /// The attacks; no point twice, and there is at least one.
    pub attacks: Vec<FaultPoint>,
    /// What the author of the file should change, such as names of an earlier release.
    pub warnings: Vec<String>,
}

/// The file as it is written.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SweepFile {
    /// Models, defences and attacks.
    sweep: SweepSection,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SweepSection {
    /// What reports call the sweep; by default the file's name.
    name: Option<Text>,
    /// What all random numbers come from; 1 by default.
    seed: Option<Whole<0, { i64::MAX }>>,
    /// How many threads work; by default one per core.
    threads: Option<Whole<1, 1024>>,
    /// The folder for all that the sweep leaves, from the current directory; by default runs/ and
    /// the file's name.
    output: Option<Text>,
    /// The folder in which trained models are kept, from the current directory, so that sweeps
    /// share them; by default models in the output.
    cache: Option<Text>,
    /// Data sets, each split anew for each permutation.
    data: Texts,
    /// Rows and columns that images are scaled to first.
    size: Option<Node>,
    /// How many cases are learned from; by default four fifths.
    train: Option<Whole<1, { 1 << 40 }>>,
    /// How many held-out cases are attacked; 100 by default.
    samples: Option<Whole<1, { 1 << 32 }>>,
    /// How often the data are split anew; 1 by default.
    permutations: Option<Whole<1, 1000>>,
    /// What is trained, or was trained elsewhere.
    models: At<NonEmpty<Node>>,
    /// What models are defended with; control is none.
    defences: Option<NonEmpty<Node>>,
    /// What is done to samples, as a campaign's faults.
    attacks: ListOf<Faults>,
}

impl Sweep {
    /// Whether a text means a sweep and not a campaign. What cannot be read is no sweep.
    pub fn is_sweep(text: &str) -> bool {
        parse(text).is_ok_and(|tree| tree.get(SWEEP).or(tree.get(OLD_SWEEP)).is_some())
    }

    /// Reads and checks a sweep file.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        Self::parse(&file::text(path)?, path)
    }

    /// Checks the text of a sweep file; `path` is where it comes from, and what the paths of data
    /// and models start from.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        read(text, path).map_err(|slip| slip.within(text, path))
    }

    /// Where trained models are kept.
    pub fn cache(&self) -> PathBuf {
        self.cache.clone().unwrap_or_else(|| self.output.join("models"))
    }

    /// How many models, defences and attacks are put together, for one split of one data set.
    pub fn configurations(&self) -> usize {
        self.targets().count() * self.attacks.len()
    }

    /// By place in the lists, which model is defended how. What happens in training cannot happen
    /// to a model that was trained elsewhere.
    pub(crate) fn targets(&self) -> impl Iterator<Item = (usize, usize)> {
        let models = self.models.iter().enumerate();
        models.flat_map(move |(model, point)| {
            let elsewhere = matches!(point.origin, Origin::Elsewhere { .. });
            let defences = self.defences.iter().enumerate();
            let fitting = defences.filter(move |(_, defence)| !(elsewhere && defence.trains()));
            fitting.map(move |(defence, _)| (model, defence))
        })
    }
}

fn read(text: &str, path: &Path) -> Result<Sweep, Diagnostic> {
    let mut tree = parse(text)?;
    let mut warnings = Vec::new();
    file::rename_keys(&mut tree, &[(OLD_SWEEP, SWEEP)], &mut warnings);
    let SweepFile { sweep: section } = file::read("a sweep file", &tree, text)?;
    let base = path.parent().unwrap_or(Path::new(""));
    let stem = path.file_stem().map_or("sweep".into(), |stem| stem.to_string_lossy());
    let output = match section.output {
        Some(Text(output)) => PathBuf::from(output),
        None => Path::new("runs").join(&*stem),
    };
    let size = section.size.as_ref().map(size).transpose()?;
    let sweep = Sweep {
        name: section.name.map_or_else(|| stem.to_string(), |Text(name)| name),
        seed: section.seed.and_then(Whole::get).unwrap_or(1),
        threads: section.threads.and_then(Whole::get),
        output,
        cache: section.cache.map(|Text(cache)| PathBuf::from(cache)),
        data: data(section.data, base)?,
        size,
        train: section.train.and_then(Whole::get),
        samples: section.samples.and_then(Whole::get).unwrap_or(SAMPLES),
        permutations: section.permutations.and_then(Whole::get).unwrap_or(1),
        models: model::read(&section.models.value.0, base, size)?,
        defences: defence::read(section.defences.as_ref().map(|list| list.0.as_slice()))?,
        attacks: file::faults(&section.attacks)?,
        warnings,
    };
    if sweep.targets().next().is_none() {
        let what = "every model was trained elsewhere and every defence happens in training, so \
                    that nothing is left to attack; add the defence control";
        return Err(Diagnostic::new(section.models.at, what));
    }
    Ok(sweep)
}

fn data(texts: Texts, base: &Path) -> Result<Vec<String>, Diagnostic> {
    let mut names = Vec::new();
    for At { at, value } in texts.0 {
        let name = file::data(&At { at, value: Text(value) }, base)?;
        if names.contains(&name) {
            return Err(Diagnostic::new(at, "this data set is there already"));
        }
        names.push(name);
    }
    Ok(names)
}

fn size(node: &Node) -> Result<[usize; 2], Diagnostic> {
    let side = |node: &Node| node.whole().and_then(|side| usize::try_from(side).ok());
    match node.list() {
        [height, width] => match (side(height), side(width)) {
            (Some(height @ 1..=4096), Some(width @ 1..=4096)) => Ok([height, width]),
            _ => Err(Diagnostic::new(node.at, "size takes two whole numbers from 1 to 4096")),
        },
        _ => Err(Diagnostic::new(node.at, "size takes rows and columns, such as [32, 32]")),
    }
}
