//! `faultlens score` as users type it.

use std::path::PathBuf;

use super::at_least_one;

/// Score detections against the ground truth, as COCO, PASCAL VOC and TIDE do
///
/// Both files are COCO's; images are not needed. Average precision and recall are those of
/// pycocotools. What there is no object for is null, or –.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens score instances_val2017.json detections.json
  faultlens score truth.json found.json --json | jq .ap50")]
pub(crate) struct ScoreArgs {
    /// The ground truth: an object with images, annotations and categories
    #[arg(value_name = "GT.json")]
    pub(crate) truth: PathBuf,
    /// What was found: a list of {"image_id", "category_id", "bbox", "score"}
    #[arg(value_name = "DT.json")]
    pub(crate) detections: PathBuf,
    /// How many threads work; the numbers do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
    /// One JSON object with every number
    #[arg(long)]
    pub(crate) json: bool,
}
