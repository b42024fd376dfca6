//! The sweep file: YAML text becomes checked types once, and nothing checks again.

mod defence;
mod model;

pub use defence::{DefencePoint, Means};
pub use model::{ModelPoint, Origin};

use faultlens_core::ParameterKind;
use faultlens_spec::file::{self, Diagnostic, Key, Node, Takes, check, parse};
use faultlens_spec::{ConfigError, FaultPoint};
use std::path::{Path, PathBuf};

/// The key that tells a sweep from a campaign.
const SWEEP: &str = "sweep";
/// What the first release called it.
const OLD_SWEEP: &str = "study";
/// How many samples are attacked where the file does not say it, as is usual.
const SAMPLES: usize = 100;

/// Which models are trained, defended and attacked: a sweep file, checked.
#[derive(Debug)]
pub struct Sweep {
    /// What reports call it.
    pub name: String,
    /// What all random numbers come from.
    pub seed: u64,
    /// How many threads work; one per core where it is not said.
    pub threads: Option<usize>,
    /// The folder for all that the sweep leaves, from the current directory.
    pub output: PathBuf,
    /// The folder in which trained models are kept, from the current directory; `models` in the
    /// output where it is not said.
    pub cache: Option<PathBuf>,
    /// The data sets: `world:KIND`, `world:KIND:COUNT` or paths.
    pub data: Vec<String>,
    /// Rows and columns that images are scaled to before anything else.
    pub size: Option<[usize; 2]>,
    /// How many cases are learned from; all that are not held out where it is not said.
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

const KEYS: &[Key] = &[
    optional("name", "what reports call the sweep; by default the file's name", Takes::Text),
    optional("seed", "what all random numbers come from; 1 by default", whole(0, i64::MAX)),
    optional("threads", "how many threads work; by default one per core", whole(1, 1024)),
    optional(
        "output",
        "the folder for all that the sweep leaves, from the current directory; by default runs/ \
         and the file's name",
        Takes::Text,
    ),
    optional(
        "cache",
        "the folder in which trained models are kept, from the current directory, so that sweeps \
         share them; by default models in the output",
        Takes::Text,
    ),
    required("data", "data sets, each split anew for each permutation", Takes::Texts),
    optional("size", "rows and columns that images are scaled to first", Takes::List),
    optional("train", "how many cases are learned from; by default four fifths", whole(1, 1 << 40)),
    optional("samples", "how many held-out cases are attacked; 100 by default", whole(1, 1 << 32)),
    optional("permutations", "how often the data are split anew; 1 by default", whole(1, 1000)),
    required("models", "what is trained, or was trained elsewhere", Takes::List),
    optional("defences", "what models are defended with; control is none", Takes::List),
    required("attacks", "what is done to samples, as a campaign's faults", Takes::Faults),
];

const FILE: &[Key] = &[required(SWEEP, "models, defences and attacks", Takes::Section(KEYS))];

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
    check("a sweep file", &tree, &Takes::Section(FILE))?;
    let node = tree.get(SWEEP).unwrap_or(&tree);
    let base = path.parent().unwrap_or(Path::new(""));
    let stem = path.file_stem().map_or("sweep".into(), |stem| stem.to_string_lossy());
    let words = |key: &str| node.get(key).and_then(Node::text).map(str::to_owned);
    let output = words("output").map_or_else(|| Path::new("runs").join(&*stem), PathBuf::from);
    let size = node.get("size").map(size).transpose()?;
    let [models, attacks] = ["models", "attacks"].map(|key| node.get(key).unwrap_or(node));
    let sweep = Sweep {
        name: words("name").unwrap_or_else(|| stem.to_string()),
        seed: number(node, "seed").unwrap_or(1),
        threads: number(node, "threads"),
        output,
        cache: words("cache").map(PathBuf::from),
        data: data(node, base)?,
        size,
        train: number(node, "train"),
        samples: number(node, "samples").unwrap_or(SAMPLES),
        permutations: number(node, "permutations").unwrap_or(1),
        models: model::read(models, base, size)?,
        defences: defence::read(node.get("defences"))?,
        attacks: file::faults(attacks)?,
        warnings,
    };
    if sweep.targets().next().is_none() {
        let what = "every model was trained elsewhere and every defence happens in training, so \
                    that nothing is left to attack; add the defence control";
        return Err(Diagnostic::new(models.at, what));
    }
    Ok(sweep)
}

fn number<T: TryFrom<i64>>(node: &Node, key: &str) -> Option<T> {
    node.get(key).and_then(Node::whole).and_then(|whole| T::try_from(whole).ok())
}

fn data(node: &Node, base: &Path) -> Result<Vec<String>, Diagnostic> {
    let Some(data) = node.get("data") else { return Ok(Vec::new()) };
    let all = if data.list().is_empty() { std::slice::from_ref(data) } else { data.list() };
    let mut names = Vec::new();
    for node in all {
        let name = file::data(node, base)?;
        if names.contains(&name) {
            return Err(Diagnostic::new(node.at, "this data set is there already"));
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

const fn whole(min: i64, max: i64) -> Takes {
    Takes::Plain(ParameterKind::Whole { min, max })
}

const fn required(name: &'static str, about: &'static str, takes: Takes) -> Key {
    Key { name, about, required: true, takes }
}

const fn optional(name: &'static str, about: &'static str, takes: Takes) -> Key {
    Key { name, about, required: false, takes }
}
