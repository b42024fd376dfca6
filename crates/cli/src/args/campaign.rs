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
    /// The file to write; one that is there is not replaced
    #[arg(short, long, value_name = "FILE.yaml", default_value = "campaign.yaml")]
    pub(crate) output: PathBuf,
    /// Write the campaign that does what this TensorFI 1 or 2 file asks for
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
    /// With --tensorfi, only so many of the cases, drawn from the seed
    #[arg(long, value_name = "N", requires = "tensorfi", value_parser = at_least_one)]
    pub(crate) sample: Option<usize>,
}

/// Turn experiments of mlaas-fi into campaign files
///
/// Every experiment of the file becomes a campaign of its own. Keys of providers are not copied.
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

/// Show what a campaign would do: trials by fault, how sure the rates would be, shards
#[derive(Debug, clap::Args)]
pub(crate) struct PlanArgs {
    /// The campaign file
    pub(crate) campaign: PathBuf,
    /// Split the plan into this many parts, and show the commands that run and merge them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) shards: Option<u32>,
    /// One JSON object with the plan
    #[arg(long)]
    pub(crate) json: bool,
}

/// Run a campaign: ask undisturbed, disturb, ask again, judge, record
///
/// The same command goes on where a run was interrupted, whatever ended it. The same campaign and
/// seed give the same records, whatever the threads, shards or restarts.
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
    /// Do what this TensorFI 1 or 2 file asks for, instead of a campaign file
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
    /// Only this part of the plan, such as 2/8; `merge` puts the parts together
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    pub(crate) shard: Option<Shard>,
    /// How many threads work; records do not depend on it [default: the campaign's, or all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) threads: Option<usize>,
    /// Tell how many calls to services the run would take and what they cost, and ask nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Write every event as a line of JSON into this file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) events: Option<PathBuf>,
    /// Write the verdicts as JUnit XML into this file
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// The run's summary on standard output as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Put the runs of shards together
#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// The run directories of the shards
    #[arg(required = true)]
    pub(crate) shards: Vec<PathBuf>,
    /// The run directory to make
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// One JSON object: what was merged, and which trials are missing
    #[arg(long)]
    pub(crate) json: bool,
}

/// Tell what a run found, from its directory alone
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
    /// The run directory, or that of a study
    pub(crate) run: PathBuf,
    /// Rates by this attribute, instead of those that tell something; can be repeated
    #[arg(long, value_name = "ATTRIBUTE")]
    pub(crate) by: Vec<String>,
    /// What to make
    #[arg(long, value_enum)]
    pub(crate) format: Option<ReportFormat>,
    /// Where to write it, instead of standard output (or DIR/report.html)
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Of a study: take times of different machines into one fit, with a covariate for each
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

/// Say whether a run meets the campaign's requirements
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exit status: 0 all met, 1 one is not met, 3 the evidence does not suffice (or nothing is required).")]
pub(crate) struct CheckArgs {
    /// The run directory
    pub(crate) run: PathBuf,
    /// Write the verdicts as JUnit XML into this file as well
    #[arg(long, value_name = "FILE")]
    pub(crate) junit: Option<PathBuf>,
    /// One JSON object: {"verdict", "requirements", "pinned"}
    #[arg(long)]
    pub(crate) json: bool,
}

/// Set two runs side by side, or an image and what became of it
///
/// Of runs: how far their rates lie apart, and whether that can be chance. Of images: how much
/// one changed for a human eye.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens compare last-week this-week
  faultlens compare photo.png photo-foggy.png --json")]
pub(crate) struct CompareArgs {
    /// The run directory to compare with, or the original image
    pub(crate) first: PathBuf,
    /// The run directory that is compared, or the changed image
    pub(crate) second: PathBuf,
    /// One JSON object with every number
    #[arg(long)]
    pub(crate) json: bool,
}

/// Run one recorded trial again: proves that it repeats bit for bit, and shows both answers
///
/// Of detectors every object is shown beside what it was: same, missed, spurious, relabelled or
/// misplaced; own is what was found of an inserted object, which does not count.
/// The exit status is 0 where it repeats, 1 where it does not.
#[derive(Debug, clap::Args)]
pub(crate) struct ReplayArgs {
    /// The run directory
    pub(crate) run: PathBuf,
    /// The trial: its number, or the beginning of its identity
    pub(crate) trial: String,
    /// Write the images before and after the fault into this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) save: Option<PathBuf>,
    /// One JSON object with everything
    #[arg(long)]
    pub(crate) json: bool,
}

/// Pin a trial as a regression case: runs of campaigns that name the file replay it first
///
/// A trial that was not judged says nothing and is refused. A trial that puts objects into scenes
/// needs the same pool of objects wherever it is replayed.
#[derive(Debug, clap::Args)]
pub(crate) struct PromoteArgs {
    /// The run directory
    pub(crate) run: PathBuf,
    /// The trial: its number, or the beginning of its identity
    pub(crate) trial: String,
    /// The file of pinned trials to add to
    #[arg(long, value_name = "FILE.yaml", default_value = "pinned.yaml")]
    pub(crate) to: PathBuf,
    /// What to call it
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// The pin as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Write the changed images of a run on detectors as a data set to look at and to train with
///
/// The scenes and faulty images whose answer changed are made again, bit for bit, and asked about
/// again: images/ and instances.json are a COCO set with the labels of the backgrounds, drawn/ shows
/// both answers side by side, findings.json says what was put where, what the target found and what
/// changed. An object that moved on is there twice: where it was placed, and as far as it disturbs.
/// Services answer from the files of the run, and within their budgets where they have none.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens findings runs/scenes --out found
  faultlens findings runs/scenes --out found --fault insert_object
  faultlens findings runs/scenes --out found --count 200 --label-inserted")]
pub(crate) struct FindingsArgs {
    /// The run directory
    pub(crate) run: PathBuf,
    /// The folder to write, new or empty
    #[arg(short, long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Images that changed no answer too
    #[arg(long)]
    pub(crate) all: bool,
    /// Only trials of this fault; several times for several faults
    #[arg(long, value_name = "NAME")]
    pub(crate) fault: Vec<String>,
    /// Only so many trials, drawn from the seed
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) count: Option<usize>,
    /// What the draw starts from
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Label inserted objects too, not only what the background shows
    #[arg(long)]
    pub(crate) label_inserted: bool,
}

/// Write the records of a run as a table, one row per trial
#[derive(Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The run directory
    pub(crate) run: PathBuf,
    /// The file to write; its ending decides the format unless --format does
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

/// List what can be named: faults, oracles, guards, presets, data formats, networks, models
#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Only this category
    #[arg(value_enum)]
    pub(crate) category: Option<Category>,
    /// One JSON object per entry and line
    #[arg(long)]
    pub(crate) json: bool,
}

/// What `list` can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Category {
    /// What can be injected
    Faults,
    /// Who can judge
    Oracles,
    /// What can wrap an oracle
    Guards,
    /// What can stand before a target
    Defences,
    /// Services that can be asked
    Services,
    /// Lists of faults by name
    Presets,
    /// What data sets are read
    Formats,
    /// What trials can be grouped by
    Attributes,
    /// Networks that can be trained
    Architectures,
    /// Models of the embedded world
    Models,
    /// What people tolerate of faults
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
    /// The folder to write them into; without it, the main page goes to standard output
    pub(crate) dir: Option<PathBuf>,
}

/// What the campaign file takes for trials.
fn trials(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(n) if (1..=1_000_000).contains(&n) => Ok(n),
        _ => Err("a whole number from 1 to 1000000 is needed".to_owned()),
    }
}
