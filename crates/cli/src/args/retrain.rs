//! `faultlens retrain` as users type it.

use std::path::PathBuf;

use super::at_least_one;

/// Measure whether a detector learns more from scenes in which it fails
///
/// For each seed, a first model is tested on its training scenes with one inserted object, and
/// three models continue from it for the same number of steps: with the originals alone, with
/// scenes in which it failed, and with changed scenes that were not tested. Results are kept: run
/// the same command to resume. With --out alone, the experiment in that folder is resumed, or its
/// report is written again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --model, first models are trained on scenes of the embedded world. A model of your own is a
detector trained by faultlens train, with its model card beside it; other detectors can be trained
on the data set that faultlens findings writes.

Examples:
  faultlens retrain --out retraining
  faultlens retrain --out small --seeds 2 --scenes 40 --epochs 3
  faultlens retrain --out own --model m0.onnx --data train/ --evaluate val/")]
pub(crate) struct RetrainArgs {
    /// The experiment's folder: new, empty, or one to resume
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// A detector trained by faultlens train, instead of first models of the embedded world
    #[arg(long, value_name = "FILE.onnx", requires_all = ["data", "evaluate"])]
    pub(crate) model: Option<PathBuf>,
    /// The COCO set that the model was trained on
    #[arg(long, value_name = "COCO", requires = "model")]
    pub(crate) data: Option<PathBuf>,
    /// The COCO set to evaluate on, which the model has not seen
    #[arg(long, value_name = "COCO", requires = "model")]
    pub(crate) evaluate: Option<PathBuf>,
    /// Where inserted objects come from, a pool or a COCO set [default: the training scenes]
    #[arg(long, value_name = "DIR", requires = "model")]
    pub(crate) objects: Option<PathBuf>,
    /// How many seeds, each a repetition of the whole experiment [default: 5] [at most: 1000]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) seeds: Option<usize>,
    /// The first seed [default: 1]
    #[arg(long, value_name = "SEED")]
    pub(crate) seed: Option<u64>,
    /// The number of original scenes, and of scenes that are added [default: 100; all with --data]
    /// [2 to 100000]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) scenes: Option<usize>,
    /// How many held-out scenes of the embedded world to evaluate on [default: 200]
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with = "model")]
    pub(crate) held_out: Option<usize>,
    /// The architecture of the first models [default: detector:12,24x2,48x3]
    #[arg(long, value_name = "ORDER", conflicts_with = "model")]
    pub(crate) architecture: Option<String>,
    /// Training epochs of the first models [default: 15]
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with = "model")]
    pub(crate) first_epochs: Option<usize>,
    /// Epochs of retraining, each with twice as many images as there are scenes [default: 5]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) epochs: Option<usize>,
    /// Evaluate after every N epochs [default: 1]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) every: Option<usize>,
    /// Images per step [default: 16]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) batch: Option<usize>,
    /// Learning rate [default: 0.02; with --model, that of its card]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) rate: Option<f64>,
    /// How many scenes to generate for each object that the first model finds [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) per_object: Option<u32>,
    /// Also label inserted objects, not only those of the background
    #[arg(long)]
    pub(crate) label_inserted: bool,
    /// Number of threads; results do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
    /// Print measurements and findings as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl RetrainArgs {
    /// Whether no option describes an experiment, so that the one in the folder is meant.
    pub(crate) fn is_bare(&self) -> bool {
        let counts = [
            self.seeds,
            self.scenes,
            self.held_out,
            self.first_epochs,
            self.epochs,
            self.every,
            self.batch,
        ];
        self.model.is_none()
            && counts.iter().all(Option::is_none)
            && self.seed.is_none()
            && self.architecture.is_none()
            && self.rate.is_none()
            && self.per_object.is_none()
            && !self.label_inserted
    }
}
