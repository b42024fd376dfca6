//! `faultlens score` as users type it.

use std::path::PathBuf;

use super::at_least_one;

/// Score detections against the ground truth, as COCO, PASCAL VOC and TIDE do
///
/// Both files are in COCO's format; images are not needed. Average precision and recall are those
/// of pycocotools. Values that are undefined, for lack of objects, are null or –.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens score instances_val2017.json detections.json
  faultlens score truth.json found.json --json | jq .ap50")]
pub(crate) struct ScoreArgs {
    /// The ground truth: an object with images, annotations and categories
    #[arg(value_name = "GT.json")]
    pub(crate) truth: PathBuf,
    /// The detections: a list of {"image_id", "category_id", "bbox", "score"}
    #[arg(value_name = "DT.json")]
    pub(crate) detections: PathBuf,
    /// Number of threads; the numbers do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON object with every number
    #[arg(long)]
    pub(crate) json: bool,
}
