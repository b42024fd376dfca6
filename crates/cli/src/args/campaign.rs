//! Campaigns and their runs, as users type them.

use std::path::PathBuf;

use clap::ValueEnum;
use faultlens::campaign::plan::Shard;

use super::at_least_one;

/// Write a commented campaign file for a model and a data set, to start from
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens init world:signs-deep world:signs
  faultlens init model.onnx photos/ -o campaign.yaml
  faultlens init --tensorfi conf.yaml model.onnx photos/")]
pub(crate) struct InitArgs {
    /// The model: an ONNX file, or world:NAME
    pub(crate) model: String,
    /// The cases: a data set, or world:signs or world:scenes
    pub(crate) data: String,
    /// The file to write; an existing file is not overwritten
    #[arg(short, long, value_name = "FILE.yaml", default_value = "campaign.yaml")]
    pub(crate) output: PathBuf,
    /// Write the campaign that this TensorFI 1 or 2 file describes
    #[arg(long, value_name = "CONF.yaml")]
    pub(crate) tensorfi: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) besides: TensorFiArgs,
}

/// What a TensorFI file does not say.
#[derive(Debug, clap::Args)]
pub(crate) struct TensorFiArgs {
    /// With --tensorfi, how images become the model's input, and what its output means: a YAML
    /// file with the parts `input`, `output` and `labels`, all optional
    #[arg(long, value_name = "FILE.yaml", requires = "tensorfi")]
    pub(crate) input: Option<PathBuf>,
    /// With --tensorfi, trials per case
    #[arg(long, value_name = "N", default_value_t = 100)]
    #[arg(requires = "tensorfi", value_parser = trials)]
    pub(crate) trials: u32,
    /// With --tensorfi, a random sample of this many cases, drawn from the seed
    #[arg(long, value_name = "N", requires = "tensorfi", value_parser = at_least_one)]
    pub(crate) sample: Option<usize>,
}

/// Turn experiments of mlaas-fi into campaign files
///
/// Every experiment in the file becomes a campaign of its own. API keys are not copied.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  faultlens convert exp.config.json --providers providers.config.json -o campaigns")]
pub(crate) struct ConvertArgs {
    /// mlaas-fi's file of experiments
    #[arg(value_name = "EXP.config.json")]
    pub(crate) experiments: PathBuf,
    /// mlaas-fi's file of providers, for regions and endpoints
    #[arg(long, value_name = "PROVIDERS.config.json")]
    pub(crate) providers: Option<PathBuf>,
    /// The folder to write into
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    pub(crate) output: PathBuf,
}

/// Show what a campaign would do: trials by fault, margins of error, shards
#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// The campaign file
    pub(crate) campaign: PathBuf,
    /// Split the plan into this many parts, and show the commands that run and merge them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) shards: Option<u32>,
    /// Print the plan as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Run a campaign: query the targets without and with faults, judge the answers, record them
///
/// Run the same command to resume an interrupted run. Trials whose image cannot be read now, or whose
/// service does not answer, stay open: the exit status is then 3, and the same command does them. The
/// same campaign and seed give the same records, whatever the number of threads, shards or restarts.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens run campaign.yaml
  faultlens run campaign.yaml --output runs/nightly --junit verdicts.xml
  faultlens run campaign.yaml --shard 2/8 --output shards/2
  faultlens run --tensorfi conf.yaml --model model.onnx --cases photos/")]
pub(crate) struct RunArgs {
    /// The campaign file
    #[arg(required_unless_present = "tensorfi", conflicts_with = "tensorfi")]
    pub(crate) campaign: Option<PathBuf>,
    /// Run what this TensorFI 1 or 2 file describes, instead of a campaign file
    #[arg(long, value_name = "CONF.yaml", requires = "model", requires = "cases")]
    pub(crate) tensorfi: Option<PathBuf>,
    /// With --tensorfi, the model: an ONNX file, or world:NAME
    #[arg(long, requires = "tensorfi")]
    pub(crate) model: Option<String>,
    /// With --tensorfi, the cases: a data set, or world:signs
    #[arg(long, value_name = "DATA", requires = "tensorfi")]
    pub(crate) cases: Option<String>,
    #[command(flatten)]
    pub(crate) besides: TensorFiArgs,
    /// The run directory, instead of the campaign's
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Run only this part of the plan, such as 2/8; `merge` combines the parts
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    pub(crate) shard: Option<Shard>,
    /// Number of threads; records do not depend on it [default: the campaign's, or all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
    /// Show how many calls to services the run would make and what they would cost; run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write every event as a line of JSON to this file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Write the verdicts as JUnit XML to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print the run's summary as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Merge the runs of shards into one run
#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// The run directories of the shards
    #[arg(required = true)]
    pub(crate) shards: Vec<PathBuf>,
    /// The run directory to create
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// Where shards have different results of one trial, keep that of the shard that is named
    /// first, instead of failing
    #[arg(long)]
    pub(crate) keep_first: bool,
    /// Print one JSON object: what was merged, and which trials are missing
    #[arg(long)]
    pub(crate) json: bool,
}

/// Report on a run, from its directory alone
///
/// Without --format, writes DIR/report.html and shows a summary.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Attributes for --by: answer, bit, case, fault, golden, kind, label, layer, operator, outcome,
point, target, value, the dose's axis (such as severity), and every stratum of the cases.

Examples:
  faultlens report runs/signs
  faultlens report runs/signs --by operator --by light
  faultlens report runs/signs --format markdown > comment.md")]
pub(crate) struct ReportArgs {
    /// The run directory, or the directory of a sweep
    pub(crate) run: PathBuf,
    /// Group rates by this attribute, instead of those chosen automatically; can be repeated
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) by: Vec<String>,
    /// The format of the report
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReportFormat>,
    /// Where to write it, instead of standard output (or DIR/report.html); `-` is standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// For sweeps: fit times of different machines together, with a covariate for each machine
    #[arg(long)]
    pub(crate) mixed_machines: bool,
}

/// What a report can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// One page for a browser, with everything in it
    Html,
    /// A comment for a pull request
    Markdown,
    /// One object with every number
    Json,
    /// Verdicts for continuous integration
    Junit,
    /// A summary for the terminal
    Text,
}

/// Check whether a run meets the campaign's requirements
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit status: 0 all met, 1 one is not met, 3 inconclusive (or there are no requirements).")]
pub(crate) struct CheckArgs {
    /// The run directory
    pub(crate) run: PathBuf,
    /// Also write the verdicts as JUnit XML to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// Print one JSON object: {"verdict", "requirements", "pinned"}
    #[arg(long)]
    pub(crate) json: bool,
}

/// Check that a run directory is what was written: files, checksums, numbers against the plan
///
/// Also replays some trials, which must be the same bit for bit.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit status: 0 everything fits, 1 something is damaged or does not repeat.

Examples:
  faultlens verify runs/signs
  faultlens verify runs/signs --replay 20
  faultlens verify runs/signs --repair && faultlens run signs.yaml")]
pub(crate) struct VerifyArgs {
    /// The run directory
    pub(crate) run: PathBuf,
    /// How many trials to replay; 0 for none [default: 3, where models and images are still there
    /// and no service would be asked]
    #[arg(long, value_name = "N")]
    pub(crate) replay: Option<usize>,
    /// First drop what is damaged, so that the campaign's `faultlens run` does it again
    #[arg(long)]
    pub(crate) repair: bool,
    /// Print one JSON object: what was checked, what is wrong, and what was replayed
    #[arg(long)]
    pub(crate) json: bool,
}

/// Compare runs with a baseline, or an image with a changed version of it
///
/// For runs: the differences between their rates, and whether chance can explain them; with
/// --output as a page too, with verdicts and requirements side by side. For images: how much of the
/// change people notice.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens compare last-week this-week
  faultlens compare v1 v2 v3 -o compare.html
  faultlens compare photo.png photo-foggy.png --json")]
pub(crate) struct CompareArgs {
    /// The baseline run directory, or the original image
    pub(crate) first: PathBuf,
    /// The run directory to compare with it, or the changed image
    pub(crate) second: PathBuf,
    /// More run directories to compare with the baseline
    pub(crate) more: Vec<PathBuf>,
    /// Also write the comparison of runs as a page (.html) or as Markdown (.md)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// One JSON object with every number
    #[arg(long)]
    pub(crate) json: bool,
}

/// Run one recorded trial again: checks that it repeats bit for bit, and shows both answers
///
/// For detectors, every object is listed with its status: same, missed, spurious, relabelled or
/// misplaced; own marks detections of an inserted object, which do not count.
/// The exit status is 0 if the trial repeats, 1 if it does not.
#[derive(Debug, clap::Args)]
pub(crate) struct ReplayArgs {
    /// The run directory
    pub(crate) run: PathBuf,
    /// The trial: its number, or the first digits of its identity
    pub(crate) trial: String,
    /// Write the images before and after the fault to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// List at most so many of the sites that a fault inside the model hit [default: 20, with
    /// --json 1000]
    #[arg(long, value_name = "N")]
    pub(crate) max_sites: Option<usize>,
    /// One JSON object with everything
    #[arg(long)]
    pub(crate) json: bool,
}

/// Pin a trial as a regression test: campaigns that name the file replay it first
///
/// A trial that was skipped cannot be pinned. A trial that inserts objects into scenes needs the
/// same object pool wherever it is replayed.
#[derive(Debug, clap::Args)]
pub(crate) struct PromoteArgs {
    /// The run directory
    pub(crate) run: PathBuf,
    /// The trial: its number, or the first digits of its identity
    pub(crate) trial: String,
    /// The file of pinned trials to add to
    #[arg(long, value_name = "FILE.yaml", default_value = "pinned.yaml")]
    pub(crate) to: PathBuf,
    /// The name of the pin
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Print the pin as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Write the failing images of a run on detectors as a data set, for inspection and training
///
/// Scenes and images whose answer changed are generated again, bit for bit, and the target is
/// queried again: images/ and instances.json are a COCO data set with the labels of the
/// backgrounds, drawn/ shows both answers side by side, findings.json lists what was inserted
/// where, what the target found and what changed. An object that was moved appears twice: where it
/// was first placed, and at the last position where it still changes the answer. Services answer
/// from the run's cache, and within their budgets where an answer is not cached.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens findings runs/scenes --out found
  faultlens findings runs/scenes --out found --fault insert_object
  faultlens findings runs/scenes --out found --count 200 --label-inserted")]
pub(crate) struct FindingsArgs {
    /// The run directory
    pub(crate) run: PathBuf,
    /// The folder to write to; it must be new or empty
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Include images that did not change the answer
    #[arg(long)]
    pub(crate) all: bool,
    /// Only trials of this fault; can be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) fault: Vec<String>,
    /// A random sample of this many trials, drawn from the seed
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) count: Option<usize>,
    /// The seed of the sample
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Also label inserted objects, not only those of the background
    #[arg(long)]
    pub(crate) label_inserted: bool,
}

/// Write the records of a run as a table, one row per trial
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The run directory
    pub(crate) run: PathBuf,
    /// The file to write; its extension sets the format unless --format does
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// The format
    #[arg(long, value_enum)]
    pub(crate) format: Option<ExportFormat>,
}

/// What records can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// Comma-separated values
    Csv,
    /// Parquet, for data frames
    Parquet,
}

/// List everything that campaigns can name: faults, oracles, guards, presets, formats, models
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Only this category
    #[arg(value_enum)]
    pub(crate) category: Option<Category>,
    /// Print one JSON object per line and entry
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `list` can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Category {
    /// Faults that can be injected
    Faults,
    /// Oracles that judge answers
    Oracles,
    /// Guards that say which trials count
    Guards,
    /// Defences in front of a target
    Defences,
    /// Vision services that can be tested
    Services,
    /// Named lists of faults
    Presets,
    /// Data set formats
    Formats,
    /// Attributes to group trials by
    Attributes,
    /// Networks that can be trained
    Architectures,
    /// Models of the embedded world
    Models,
    /// Published human tolerances
    Tolerances,
}

/// Print completions for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:  faultlens completions bash > /etc/bash_completion.d/faultlens")]
pub(crate) struct ShellArgs {
    /// Which shell
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Write the manual pages
#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The folder to write to; without it, the main page goes to standard output
    pub(crate) dir: Option<PathBuf>,
}

/// What the campaign file takes for trials.
fn trials(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(n) if (1..=1_000_000).contains(&n) => Ok(n),
        _ => Err("a whole number from 1 to 1000000 is needed".to_owned()),
    }
}
