//! `faultlens retrain` as users type it.

use std::path::PathBuf;

use super::at_least_one;

/// Find out whether a detector learns more from scenes in which it fails
///
/// For each seed, a first model is shown its training scenes with one object more, and three models
/// go on from it for the same number of steps: with the originals alone, with scenes in which it
/// failed, and with changed scenes that nobody looked at. What is done is kept: the same command
/// goes on where it was stopped, and with --out alone the experiment of that folder goes on, or its
/// page is made again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without --model, first models are trained on scenes of the embedded world. A model of your own is a
detector that faultlens train made, with its card beside it; detectors of other trainers learn from
what faultlens findings writes.

Examples:
  faultlens retrain --out retraining
  faultlens retrain --out small --seeds 2 --scenes 40 --epochs 3
  faultlens retrain --out own --model m0.onnx --data train/ --evaluate val/")]
pub(crate) struct RetrainArgs {
    /// The experiment's folder: new, empty, or one to go on with
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// A detector that faultlens train made, instead of first models of the embedded world
    #[arg(long, value_name = "FILE.onnx", requires_all = ["data", "evaluate"])]
    pub(crate) model: Option<PathBuf>,
    /// The COCO set that the model was trained on
    #[arg(long, value_name = "COCO", requires = "model")]
    pub(crate) data: Option<PathBuf>,
    /// The COCO set to measure on, of which the model has seen nothing
    #[arg(long, value_name = "COCO", requires = "model")]
    pub(crate) evaluate: Option<PathBuf>,
    /// Where inserted objects come from, a pool or a COCO set [default: the training scenes]
    #[arg(long, value_name = "DIR", requires = "model")]
    pub(crate) objects: Option<PathBuf>,
    /// How many times the whole experiment is done [default: 5] [at most: 1000]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) seeds: Option<usize>,
    /// The first seed [default: 1]
    #[arg(long, value_name = "SEED")]
    pub(crate) seed: Option<u64>,
    /// How many original scenes there are, and how many are added [default: 100; all with --data] [2 to
    /// 100000]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) scenes: Option<usize>,
    /// How many held-out scenes of the embedded world are measured on [default: 200]
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with = "model")]
    pub(crate) held_out: Option<usize>,
    /// The network of the first models [default: detector:12,24x2,48x3]
    #[arg(long, value_name = "ORDER", conflicts_with = "model")]
    pub(crate) architecture: Option<String>,
    /// For how many epochs first models are trained [default: 15]
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with = "model")]
    pub(crate) first_epochs: Option<usize>,
    /// For how many epochs models go on, of twice as many images as there are scenes [default: 5]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) epochs: Option<usize>,
    /// After how many epochs models are measured each time [default: 1]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) every: Option<usize>,
    /// Images per step [default: 16]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) batch: Option<usize>,
    /// Learning rate [default: 0.02; that of its card with --model]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) rate: Option<f64>,
    /// How many scenes are made for each object that the first model finds [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) per_object: Option<u32>,
    /// Label inserted objects too, not only what the background shows
    #[arg(long)]
    pub(crate) label_inserted: bool,
    /// How many threads compute; no number depends on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
    /// What was measured, and what it means, on standard output as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

impl RetrainArgs {
    /// Whether nothing is said of the experiment, so that the folder's own is meant.
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
