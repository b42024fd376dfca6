//! `faultlens train` as users type it.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use faultlens::train::{DEFAULT_OPTIMISER, OPTIMISERS};

use super::{at_least_one, size};

/// Train a network on a data set, and write it with its model card
///
/// The same arguments give the same weights, bit for bit, on any number of threads.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Data: a folder with a folder per class, a COCO JSON file or folder, a CSV of file and label, MNIST
idx files, CIFAR-10 or CIFAR-100 binary batches, an npz file; or world:signs and world:scenes, the
embedded world (with a number of pictures: world:scenes:3000).

Examples:
  faultlens train convnet:16,32,64 --data world:signs -o signs.onnx
  faultlens train lenet --data mnist/ --grey --epochs 5 -o lenet.onnx
  faultlens train resnet20 --data cifar-10-batches-bin --augment flip,shift -o resnet20.onnx
  faultlens train mlp:64x3 --data mnist/ --grey --optimiser adam --epochs 2 -o mlp.onnx
  faultlens train autoencoder --data world:signs --optimiser adam -o autoencoder.onnx
  faultlens train --list")]
pub(crate) struct TrainArgs {
    /// The network, with options behind a colon; --list shows all
    #[arg(required_unless_present = "list")]
    pub(crate) architecture: Option<String>,
    /// The data set to train on
    #[arg(long, value_name = "DATA", required_unless_present = "list")]
    pub(crate) data: Option<String>,
    /// The data set to evaluate on [default: a held-out part of --data; for the embedded world, new
    /// pictures]
    #[arg(long, value_name = "DATA")]
    pub(crate) test: Option<String>,
    /// The model file to write; the model card goes beside it as JSON
    #[arg(short, long, value_name = "FILE.onnx", required_unless_present = "list")]
    pub(crate) output: Option<PathBuf>,
    /// The task of the network [default: that of its architecture]
    #[arg(long, value_enum)]
    pub(crate) task: Option<TaskName>,
    /// Number of passes over the data set
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub(crate) epochs: usize,
    /// Images per step
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = at_least_one)]
    pub(crate) batch: usize,
    /// The optimiser
    #[arg(long, value_name = "NAME", default_value = DEFAULT_OPTIMISER, value_parser = optimisers())]
    pub(crate) optimiser: String,
    /// Learning rate, reached after a short warm-up [default: 0.05 for sgd, 0.001 for others]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) rate: Option<f64>,
    /// Momentum; for adam, beta 1 [default: 0.9; 0 for rmsprop]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) momentum: Option<f64>,
    /// Weight decay [default: 0.0005 for sgd, 0 for others]
    #[arg(long, allow_negative_numbers = true)]
    pub(crate) decay: Option<f64>,
    /// The learning rate schedule
    #[arg(long, value_enum, default_value = "cosine")]
    pub(crate) schedule: ScheduleName,
    /// Augmentations of training images, applied in this order: flip, shift; only for
    /// classification and reconstruction
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) augment: Vec<String>,
    /// Add Gaussian noise of this standard deviation, with pixels from 0 to 1, to some samples
    #[arg(long, value_name = "SIGMA", allow_negative_numbers = true)]
    pub(crate) noise: Option<f64>,
    /// The share of samples that get noise, drawn anew in every epoch
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, requires = "noise")]
    #[arg(allow_negative_numbers = true)]
    pub(crate) noise_share: f64,
    /// Adversarial training: attack part of each batch before learning from it, changing pixel
    /// values (from 0 to 1) by up to this much; only for classification
    #[arg(long, value_name = "EPSILON", allow_negative_numbers = true)]
    pub(crate) adversarial: Option<f64>,
    /// Gradient steps of the attack; 1 is the fast gradient sign method
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one)]
    #[arg(requires = "adversarial")]
    pub(crate) adversarial_steps: usize,
    /// The share of samples that are attacked
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, requires = "adversarial")]
    #[arg(allow_negative_numbers = true)]
    pub(crate) adversarial_share: f64,
    /// The seed of initial weights, order and augmentations
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// The size of the network's input [default: that of the first image]
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = size)]
    pub(crate) size: Option<[usize; 2]>,
    /// Feed one grey channel instead of three colours
    #[arg(long)]
    pub(crate) grey: bool,
    /// The column of a CSV file that holds the labels
    #[arg(long, value_name = "NAME")]
    pub(crate) label_column: Option<String>,
    /// Train on a random sample of this many cases, balanced over classes as far as possible
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) cases: Option<usize>,
    /// Leave out images that cannot be read, instead of stopping
    #[arg(long)]
    pub(crate) skip_unreadable: bool,
    /// Number of threads; the weights do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
    /// Show every architecture and stop
    #[arg(long)]
    pub(crate) list: bool,
    /// Print the model card as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// The registry's names, so that help and completions know them.
fn optimisers() -> PossibleValuesParser {
    OPTIMISERS
        .iter()
        .map(|o| PossibleValue::new(o.name()).help(o.about()))
        .collect::<Vec<_>>()
        .into()
}

/// What a network learns to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum TaskName {
    /// The class of an image
    Classify,
    /// The class of every pixel
    Segment,
    /// Numbers, such as a steering angle
    Regress,
    /// The objects in an image, with their boxes
    Detect,
    /// The picture itself
    Reconstruct,
}

/// How the learning rate falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ScheduleName {
    /// It does not change
    Constant,
    /// To zero along half a cosine
    Cosine,
    /// To a tenth after half of the epochs, to a hundredth after three quarters
    Step,
}
