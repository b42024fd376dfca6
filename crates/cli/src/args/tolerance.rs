//! Thresholds from human answers, as users type them.

use std::path::PathBuf;

use faultlens::stats::tolerance::{Rule, StatedDrop};

/// Estimate from people's answers how much visual change they tolerate
///
/// Reads single answers (one row each: image, fault, truth, answer, visual_change, kind), tables of
/// answers by visual change as Hu et al. published them, and study directories. For every fault it
/// finds the visual change up to which people are correct as often as on the original (t_c), and up
/// to which they answer as on the original (t_p).
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  faultlens tolerance answers.csv -o tolerance.html
  faultlens tolerance answers.csv --json > tolerance.json
  faultlens tolerance answers.csv --drop 10
  faultlens tolerance imagenet_c_p_*.csv imagenet_p_p_*.csv --rule published-imagenet
  faultlens tolerance counts.csv --fault frost --originals-accuracy 0.97")]
pub(crate) struct ToleranceArgs {
    /// CSV files of single answers or tables by visual change, or directories with an answers.csv
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Which significant drop counts, and from what; such a threshold moves with the number of
    /// answers
    #[arg(long, value_name = "RULE", value_enum, default_value_t = RuleName::Default)]
    pub(crate) rule: RuleName,
    /// Define the threshold by a stated drop instead: the visual change at which people lose so many
    /// points, such as 10; it does not depend on the number of answers
    #[arg(long, value_name = "POINTS", value_parser = stated_drop, conflicts_with = "rule")]
    pub(crate) drop: Option<StatedDrop>,
    /// How often people are right on the originals; needed for tables, which do not contain it, and
    /// assumed to be exact [default: counted from the answers; with a published rule and a table,
    /// the published rate]
    #[arg(long, value_name = "RATE", value_parser = rate)]
    pub(crate) originals_accuracy: Option<f64>,
    /// The fault of tables whose file name does not contain it
    #[arg(long, value_name = "NAME")]
    pub(crate) fault: Option<String>,
    /// All possible answers [default: every label that is the truth of an image]
    #[arg(long, value_name = "LABEL,…", value_delimiter = ',')]
    pub(crate) labels: Vec<String>,
    /// Bootstrap rounds for the intervals
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = rounds)]
    pub(crate) rounds: u64,
    /// The seed of the bootstrap
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of threads; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = super::at_least_one)]
    pub(crate) threads: Option<usize>,
    /// The name of the tolerance [default: the first file's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Write a page with the curves
    #[arg(short, long, value_name = "FILE.html")]
    pub(crate) output: Option<PathBuf>,
    /// Print one JSON object, which campaigns can name as a tolerance: {"rule", "faults": {NAME:
    /// {"t_c": {"value", "low", "high", …}, "t_p": …}}, …}
    #[arg(long)]
    pub(crate) json: bool,
}

impl ToleranceArgs {
    /// What defines a threshold.
    pub(crate) fn definition(&self) -> Rule {
        self.drop.map_or(self.rule.rule(), Rule::StatedDrop)
    }
}

/// What counts as a drop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum RuleName {
    /// Two bins in a row below the reference, whose own uncertainty counts
    Default,
    /// Reproduces the values published for ImageNet
    PublishedImagenet,
    /// Reproduces the values published for CIFAR-10
    PublishedCifar10,
}

impl RuleName {
    /// The rule itself.
    pub(crate) fn rule(self) -> Rule {
        match self {
            Self::Default => Rule::Default,
            Self::PublishedImagenet => Rule::PublishedImagenet,
            Self::PublishedCifar10 => Rule::PublishedCifar10,
        }
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(rate) if rate > 0.0 && rate <= 1.0 => Ok(rate),
        _ => Err("a rate above 0 and up to 1 is needed, such as 0.97".to_owned()),
    }
}

fn stated_drop(text: &str) -> Result<StatedDrop, String> {
    let points = text.parse::<f64>().ok();
    points
        .and_then(|points| StatedDrop::new(points / 100.0).ok())
        .ok_or_else(|| "points from 0.1 to 99.9 are needed, such as 10".to_owned())
}

/// At least one round is expected in each tail of a 95% interval.
fn rounds(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(rounds @ 40..=1_000_000) => Ok(rounds),
        _ => Err("40 to 1000000 rounds are needed for an interval".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn rules_are_called_as_in_the_library() {
        let names: Vec<String> = RuleName::value_variants()
            .iter()
            .filter_map(|name| Some(name.to_possible_value()?.get_name().to_owned()))
            .collect();
        assert_eq!(names, Rule::ALL.map(Rule::name));
        for (name, rule) in RuleName::value_variants().iter().zip(Rule::ALL) {
            assert_eq!(name.rule(), rule);
        }
    }
}
