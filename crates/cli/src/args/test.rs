//! `faultlens test`, as users type it.

use std::path::PathBuf;

/// Test a model or a service on a data set: one command, no file
///
/// Recognises the task and how images are fed, checks the guess on clean images where labels are
/// known, measures how long trials take, and runs as broad a campaign as the time allows. Ends with
/// a verdict and a report, and leaves the campaign file to edit. The same command resumes it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens test world:signs-deep world:signs --minutes 1
  faultlens test model.onnx photos/
  faultlens test detector.onnx coco/instances.json --minutes 20
  faultlens test rekognition:labels photos/ --endpoint http://127.0.0.1:8080 --calls 300

Exit status: 0 all requirements met, 1 one is not met, 3 inconclusive.")]
pub(crate) struct TestArgs {
    /// The model: an ONNX file, or world:NAME; or a service: PROVIDER or PROVIDER:TASK
    #[arg(value_name = "MODEL|SERVICE")]
    pub(crate) target: String,
    /// A data set, a folder of photos, or world:signs or world:scenes
    pub(crate) data: String,
    /// About how long to take; what is tested is planned to fit
    #[arg(long, value_name = "N", default_value_t = 5.0, value_parser = minutes)]
    pub(crate) minutes: f64,
    /// The campaign file to write [default: test-NAME.yaml]
    #[arg(short, long, value_name = "FILE.yaml")]
    pub(crate) output: Option<PathBuf>,
    /// How images become the model's input, and what its output means: a YAML file with the parts
    /// `input`, `output` and `labels`, all optional
    #[arg(long, value_name = "FILE.yaml")]
    pub(crate) input: Option<PathBuf>,
    /// Names of the classes: a file, or coco or coco-91
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// The address of a service [default: the provider's own]
    #[arg(long, value_name = "URL")]
    pub(crate) endpoint: Option<String>,
    /// The most calls to a service
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u64).range(50..=1_000_000))]
    pub(crate) calls: u64,
    /// Print the run's summary as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

fn minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(minutes) if (0.1..=10_000.0).contains(&minutes) => Ok(minutes),
        _ => Err("a number of minutes from 0.1 to 10000 is needed".to_owned()),
    }
}
