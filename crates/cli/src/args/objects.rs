//! Objects cut out of images, as users type it.

use std::path::PathBuf;

use faultlens::data::{MIN_OBJECTS, PRUNED};

use super::at_least_one;

/// Cut objects out of a data set's images, as a pool to insert into scenes
///
/// Outlines are those of a COCO data set (polygons or runs; crowds are left out), or those that a
/// model finds with --model. Of each label, the smallest objects are left out: they have few
/// pixels and cannot be recognised when they are enlarged.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens objects coco/annotations/instances_val2017.json --out pool --picture pool.png
  faultlens objects photos/ --model yolov8n-seg.onnx --score 0.5 --out pool
  faultlens objects world:scenes:40 --keep-all --out pool")]
pub(crate) struct ObjectsArgs {
    /// A data set, or world:scenes with a number of scenes, such as world:scenes:40
    pub(crate) data: String,
    /// The folder to write to; it must be new or empty
    #[arg(short, long, value_name = "POOL")]
    pub(crate) out: PathBuf,
    /// A model that outlines objects (YOLOv8-seg, YOLACT) or gives a class for every pixel
    #[arg(long, value_name = "MODEL.onnx")]
    pub(crate) model: Option<PathBuf>,
    /// How images become the model's input, as for `ask`
    #[arg(long, value_name = "FILE.yaml", requires = "model")]
    pub(crate) input: Option<PathBuf>,
    /// Names of the model's classes, as for `ask`
    #[arg(long, value_name = "FILE", requires = "model")]
    pub(crate) labels: Option<PathBuf>,
    /// The minimum score of the objects that the model finds
    #[arg(long, value_name = "S", default_value_t = 0.3, value_parser = share, requires = "model")]
    pub(crate) score: f64,
    /// The share of each label's objects that is left out, the smallest first
    #[arg(long, value_name = "SHARE", default_value_t = PRUNED, value_parser = share)]
    pub(crate) prune: f64,
    /// Labels with fewer objects than this keep all of them
    #[arg(long, alias = "least", value_name = "N", default_value_t = MIN_OBJECTS)]
    #[arg(value_parser = at_least_one)]
    pub(crate) min_objects: usize,
    /// Leave out objects with fewer pixels than this, whatever their label: they cannot be
    /// recognised when they are enlarged
    #[arg(long, alias = "least-pixels", value_name = "N", default_value_t = 0)]
    pub(crate) min_pixels: usize,
    /// Keep every object
    #[arg(long, conflicts_with_all = ["prune", "min_objects", "min_pixels"])]
    pub(crate) keep_all: bool,
    /// Also write a contact sheet of the pool
    #[arg(long, value_name = "FILE.png")]
    pub(crate) picture: Option<PathBuf>,
    /// The data set's format, if it is not recognised
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// Number of threads; the objects do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
    /// Print what was done as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("a number from 0 to 1 is needed".to_owned()),
    }
}
