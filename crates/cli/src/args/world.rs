//! `faultlens world` as users type it.

use std::path::PathBuf;

use clap::Subcommand;

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
