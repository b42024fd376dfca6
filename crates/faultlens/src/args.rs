//! The command line as users type it; what clap can check, it checks.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Finds where a machine-vision system breaks, how often, and whether that is good enough.
#[derive(Debug, Parser)]
#[command(version, after_help = AFTER)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER: &str = "\
Results go to standard output, everything else to standard error.
Exit status: 0 done, 1 a requirement is not met, 2 usage or input error, 3 inconclusive.

Start with:  faultlens demo";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Ask(AskArgs),
    Inspect(InspectArgs),
    Train(TrainArgs),
    World(WorldArgs),
    Demo(DemoArgs),
}

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
  faultlens train --list")]
pub(crate) struct TrainArgs {
    /// The network, with options behind a colon; --list shows all
    #[arg(required_unless_present = "list")]
    pub(crate) architecture: Option<String>,
    /// What to train on
    #[arg(long, value_name = "DATA", required_unless_present = "list")]
    pub(crate) data: Option<String>,
    /// What to measure on; without it, a part of --data that is held out (for the embedded world,
    /// new pictures)
    #[arg(long, value_name = "DATA")]
    pub(crate) test: Option<String>,
    /// The model to write; its card goes beside it as JSON
    #[arg(short, long, value_name = "FILE.onnx", required_unless_present = "list")]
    pub(crate) output: Option<PathBuf>,
    /// What the network learns to answer; by default what its architecture is made for
    #[arg(long, value_enum)]
    pub(crate) task: Option<TaskName>,
    /// How often it sees the whole set
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub(crate) epochs: usize,
    /// Images per step
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = at_least_one)]
    pub(crate) batch: usize,
    /// Learning rate, reached after a short warm-up
    #[arg(long, value_name = "RATE", default_value_t = 0.05, allow_negative_numbers = true)]
    pub(crate) rate: f64,
    /// How much of the last step goes into the next
    #[arg(long, default_value_t = 0.9, allow_negative_numbers = true)]
    pub(crate) momentum: f64,
    /// How strongly weights are pulled to zero
    #[arg(long, default_value_t = 5e-4, allow_negative_numbers = true)]
    pub(crate) decay: f64,
    /// How the learning rate falls
    #[arg(long, value_enum, default_value = "cosine")]
    pub(crate) schedule: ScheduleName,
    /// Variations of training images, applied in this order: flip, shift; only to classify
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) augment: Vec<String>,
    /// Where first weights, order and variations are drawn from
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// The size of the network's input; by default that of the first image
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = size)]
    pub(crate) size: Option<[usize; 2]>,
    /// Feed one grey channel instead of three colours
    #[arg(long)]
    pub(crate) grey: bool,
    /// The column of a CSV file that holds the labels
    #[arg(long, value_name = "NAME")]
    pub(crate) label_column: Option<String>,
    /// Train on this many cases only, drawn from the seed, as many of each class as possible
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) cases: Option<usize>,
    /// Leave images out that cannot be read, instead of stopping
    #[arg(long)]
    pub(crate) skip_unreadable: bool,
    /// How many threads compute; the weights do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
    /// Show every architecture and stop
    #[arg(long)]
    pub(crate) list: bool,
    /// The model card on standard output as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
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
    /// What stands where
    Detect,
}

/// How the learning rate falls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ScheduleName {
    /// Not at all
    Constant,
    /// To zero along half a cosine
    Cosine,
    /// To a tenth after half of the epochs, to a hundredth after three quarters
    Step,
}

/// Look at the embedded world, take it out as files, list the models trained on it
#[derive(Debug, clap::Args)]
pub(crate) struct WorldArgs {
    #[command(subcommand)]
    pub(crate) command: WorldCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorldCommand {
    /// Write the world as data sets: sign crops in class folders, scenes in COCO format
    #[command(after_help = "\
DIR/signs/train and DIR/signs/test hold a folder per class, DIR/scenes/train and DIR/scenes/test
hold images and instances.json. DIR must be new or empty.")]
    Export {
        /// Where to write
        dir: PathBuf,
        /// Sign crops for training, 0 or at least 70; a fifth as many more are for testing
        #[arg(long, value_name = "N", default_value_t = 1400)]
        signs: usize,
        /// Scenes for training, 0 or at least 5; a fifth as many more are for testing
        #[arg(long, value_name = "N", default_value_t = 500)]
        scenes: usize,
        /// Where the pictures are drawn from
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Draw sheets to look at: signs, scenes with boxes and masks, and the shipped models' answers
    Show {
        /// Where to write the PNG files
        dir: PathBuf,
        /// Where the pictures are drawn from
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// List the shipped models with their cards; `ask world:NAME` asks a classifier or the steering
    Models {
        /// One JSON object per model and line: its card
        #[arg(long)]
        json: bool,
    },
}

/// Ask an ONNX model what it sees in images
///
/// How images are fed is read from --input, or guessed where that is safe; either way it is
/// shown on standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens ask model.onnx cat.jpg
  faultlens ask model.onnx photos/*.png --input input.yaml --labels labels.txt --top 3
  faultlens ask model.onnx photos/*.png --json > answers.jsonl")]
pub(crate) struct AskArgs {
    /// The model, an ONNX file
    pub(crate) model: PathBuf,
    /// PNG, JPEG, WebP or BMP files
    #[arg(required = true)]
    pub(crate) images: Vec<PathBuf>,
    /// How images become the model's input, and what its output means: a YAML file with the
    /// parts `input`, `output` and `labels`, all optional
    #[arg(long, value_name = "FILE.yaml")]
    pub(crate) input: Option<PathBuf>,
    /// Names of the classes: one per line, a JSON list or index, or a CSV with index and label
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// How many classes to show, best first
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = at_least_one)]
    pub(crate) top: usize,
    /// How many threads compute; the answer does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
    /// One JSON object per image and line: {"image", "ranking": [{"index", "label", "score"}]}
    #[arg(long)]
    pub(crate) json: bool,
}

/// Show what is inside an ONNX model: operators, parameters, and where faults can be injected
///
/// Shapes are found by running the model once on a blank image.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens inspect model.onnx
  faultlens inspect model.onnx --size 480x640
  faultlens inspect model.onnx --json")]
pub(crate) struct InspectArgs {
    /// The model, an ONNX file
    pub(crate) model: PathBuf,
    /// The size of the blank image, for models that take any
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = size)]
    pub(crate) size: Option<[usize; 2]>,
    /// One JSON object with everything
    #[arg(long)]
    pub(crate) json: bool,
}

/// Watch faults change a small model's mind: no model, image or download needed
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// One JSON object with the numbers of the demonstration
    #[arg(long)]
    pub(crate) json: bool,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if n >= 1 => Ok(n),
        _ => Err("a whole number from 1 is needed".to_owned()),
    }
}

/// Reads `480x640`; height comes first, as in the input description.
fn size(text: &str) -> Result<[usize; 2], String> {
    let sides = text
        .split_once(['x', '×'])
        .and_then(|(height, width)| Some([at_least_one(height).ok()?, at_least_one(width).ok()?]));
    sides.ok_or_else(|| "HEIGHTxWIDTH is needed, such as 480x640".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn sizes_are_height_by_width() {
        assert_eq!(size("480x640"), Ok([480, 640]));
        for wrong in ["480", "0x5", "ax5", "5x"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
