//! The command line as users type it; what clap can check, it checks.

mod campaign;
mod image;
mod objects;
mod people;
mod protect;
mod retrain;
mod score;
mod serve;
mod survive;
mod test;
mod tolerance;
mod train;
mod world;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

pub(crate) use campaign::{
    Category, CheckArgs, CompareArgs, ConvertArgs, ExportArgs, ExportFormat, FindingsArgs,
    InitArgs, ListArgs, ManArgs, MergeArgs, PlanArgs, PromoteArgs, ReplayArgs, ReportArgs,
    ReportFormat, RunArgs, ShellArgs, TensorFiArgs, VerifyArgs,
};
pub(crate) use image::{FaultArgs, PreviewArgs, Written};
pub(crate) use objects::ObjectsArgs;
pub(crate) use people::{
    PeopleArgs, PeopleCommand, PeoplePrepareArgs, PeopleServeArgs, PeopleStatusArgs,
};
pub(crate) use protect::ProtectArgs;
pub(crate) use retrain::RetrainArgs;
pub(crate) use score::ScoreArgs;
pub(crate) use serve::ServeArgs;
pub(crate) use survive::{SmoothingName, SurviveArgs, TiesName};
pub(crate) use test::TestArgs;
pub(crate) use tolerance::ToleranceArgs;
pub(crate) use train::{ScheduleName, TaskName, TrainArgs};
pub(crate) use world::{WorldArgs, WorldCommand};

/// Finds where a machine-vision system breaks, how often, and whether that is good enough.
#[derive(Debug, Parser)]
#[command(name = "faultlens", version, after_help = AFTER)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const AFTER: &str = "\
Results go to standard output, everything else to standard error.
Exit status: 0 done, 1 a requirement is not met, 2 usage or input error, 3 inconclusive or
trials are left open, 130 interrupted (run the same command to resume).

Start with:  faultlens demo, then:  faultlens test MODEL DATA";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Test(TestArgs),
    Init(InitArgs),
    Convert(ConvertArgs),
    Plan(PlanArgs),
    Run(RunArgs),
    Merge(MergeArgs),
    Report(ReportArgs),
    Check(CheckArgs),
    Verify(VerifyArgs),
    Compare(CompareArgs),
    Replay(ReplayArgs),
    Promote(PromoteArgs),
    Protect(ProtectArgs),
    Findings(FindingsArgs),
    Export(ExportArgs),
    List(ListArgs),
    Fault(FaultArgs),
    Preview(PreviewArgs),
    Objects(ObjectsArgs),
    Ask(AskArgs),
    Inspect(InspectArgs),
    Score(ScoreArgs),
    Serve(ServeArgs),
    #[command(alias = "study")]
    People(PeopleArgs),
    Survive(SurviveArgs),
    Tolerance(ToleranceArgs),
    Train(TrainArgs),
    Retrain(RetrainArgs),
    World(WorldArgs),
    /// Print the JSON schema of the campaign file, for editors and checkers
    Schema,
    Completions(ShellArgs),
    Man(ManArgs),
}

/// Ask an ONNX model what it sees in images
///
/// The preprocessing is read from --input, or guessed where that is safe; either way it is shown on
/// standard error.
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
    /// Names of the classes: one per line, a JSON list or index, or a CSV with index and label; or
    /// coco or coco-91, which need no file
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Option<PathBuf>,
    /// How many classes to show, highest score first
    #[arg(long, value_name = "K", default_value_t = 5, value_parser = at_least_one)]
    pub(crate) top: usize,
    /// Number of threads; the answer does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
    /// Print one JSON object per line and image: {"image", "ranking": [{"index", "label",
    /// "score"}]}
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
    /// The size of the blank image, for models with a variable input size
    #[arg(long, value_name = "HEIGHTxWIDTH", value_parser = size)]
    pub(crate) size: Option<[usize; 2]>,
    /// Print everything as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Run a demonstration campaign on the embedded models and images
///
/// Needs no files and no downloads. Ends with a summary and the path of an HTML report.
#[derive(Debug, clap::Args)]
pub(crate) struct DemoArgs {
    /// The run directory to create
    #[arg(short, long, value_name = "DIR", default_value = "faultlens-demo")]
    pub(crate) output: PathBuf,
    /// Print the run's summary as one JSON object
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
