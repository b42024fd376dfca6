//! Faults on images without a campaign, as users type them.

use std::path::PathBuf;

use super::at_least_one;

/// Apply a fault to an image, or to all images of a folder
///
/// The same seed gives the same pixels, whatever the number of threads, the order or the machine.
/// Images are read as a viewer shows them: upright, in 8-bit RGB.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens fault cat.jpg --fault fog --severity 3 -o foggy.png
  faultlens fault cat.jpg --fault gaussian_noise --set deviation=0.15 --seed 7 -o noisy.png
  faultlens fault photos/ --fault motion_blur --severity 2 -o blurred/
Faults and their parameters:  faultlens list faults")]
pub(crate) struct FaultArgs {
    /// The image, or a folder of images
    pub(crate) image: PathBuf,
    /// The fault's name
    #[arg(long, value_name = "NAME")]
    pub(crate) fault: String,
    /// The severity, from 1 to 5
    #[arg(long, value_name = "N")]
    pub(crate) severity: Option<i64>,
    /// Set a parameter of the fault, such as deviation=0.15; can be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting)]
    pub(crate) set: Vec<(String, String)>,
    /// The seed of the random numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The file to write (.png, .jpg, .webp or .bmp), or the folder for a folder's images
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: PathBuf,
    /// The format of the images written to a folder
    #[arg(long = "as", value_name = "FORMAT", value_enum, default_value_t = Written::Same)]
    pub(crate) format: Written,
    /// The quality of JPEG files that are written
    #[arg(long, value_name = "Q", default_value_t = 95)]
    #[arg(value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(crate) quality: u8,
    /// Number of threads; the images do not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
    /// Print what was done as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// What images can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Written {
    /// As the image was, so that names stay; PNG where that cannot be written
    Same,
    /// Without loss
    Png,
    /// Small
    Jpg,
}

/// Show an image under faults: a contact sheet, a row per fault and a column per severity
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens preview cat.jpg
  faultlens preview cat.jpg -o sheet.png --fault fog --fault snow --fault rain")]
pub(crate) struct PreviewArgs {
    /// The image
    pub(crate) image: PathBuf,
    /// The sheet to write, a picture (.png) or a page (.html)
    #[arg(short, long, value_name = "FILE", default_value = "preview.html")]
    pub(crate) output: PathBuf,
    /// Only this fault; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) fault: Vec<String>,
    /// Only this severity; can be repeated
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) severity: Vec<u8>,
    /// The seed of the random numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// The longer side of each picture in pixels; larger images are scaled down
    #[arg(long, value_name = "PIXELS", default_value_t = 224)]
    #[arg(value_parser = clap::value_parser!(u16).range(16..=1024))]
    pub(crate) size: u16,
    /// Print one JSON object: {"image", "output", "faults"}
    #[arg(long)]
    pub(crate) json: bool,
}

fn setting(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("NAME=VALUE is needed, such as deviation=0.15".to_owned()),
    }
}
