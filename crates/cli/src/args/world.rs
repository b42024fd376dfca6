//! `faultlens world` as users type it.

use std::path::PathBuf;

use clap::Subcommand;

/// Show the embedded world, export it as data sets, list the models trained on it
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
        /// The folder to write to
        dir: PathBuf,
        /// Sign crops for training, 0 or at least 70; a fifth of that number is added for testing
        #[arg(long, value_name = "N", default_value_t = 1400)]
        signs: usize,
        /// Scenes for training, 0 or at least 5; a fifth of that number is added for testing
        #[arg(long, value_name = "N", default_value_t = 500)]
        scenes: usize,
        /// The seed of the pictures
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Draw contact sheets: signs, scenes with boxes and masks, and the embedded models' answers
    Show {
        /// The folder for the PNG files
        dir: PathBuf,
        /// The seed of the pictures
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// List the embedded models with their cards; `ask world:NAME` queries one
    Models {
        /// Print the model cards as one JSON object per line
        #[arg(long)]
        json: bool,
    },
}
