//! The result as one JSON object, which checks of models read as a tolerance.

use std::collections::BTreeMap;

use faultlens::stats::Level;
use faultlens::stats::tolerance::{Bin, Ending, FittedBin};
use serde::Serialize;

use super::analysis::{Findings, Measured};
use super::words;
use crate::args::ToleranceArgs;

/// What `--json` prints; docs/tolerance.md explains the fields.
#[derive(Serialize)]
pub(super) struct Object<'a> {
    name: String,
    source: String,
    rule: &'static str,
    /// The stated drop as a share; `null` for rules of significance.
    drop: Option<f64>,
    rounds: u64,
    seed: u64,
    originals: Option<Originals>,
    faults: BTreeMap<&'a str, OfOne<'a>>,
    left_out: BTreeMap<&'a str, &'a str>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Originals {
    accuracy: f64,
    /// `null` where the accuracy is given.
    n: Option<u64>,
}

#[derive(Serialize)]
struct OfOne<'a> {
    t_c: Option<Threshold>,
    t_p: Option<Threshold>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    missing: BTreeMap<&'static str, &'a str>,
}

#[derive(Serialize)]
struct Threshold {
    value: f64,
    low: f64,
    high: f64,
    cautious: f64,
    ending: &'static str,
    share_without_drop: f64,
    /// What the interval was made by redrawing.
    resampled: &'static str,
    answers: u64,
    /// Answers in bins that have too few.
    answers_left_out: u64,
    reference: Reference,
    reuse: Reuse,
    bins: Vec<OneBin>,
}

#[derive(Serialize)]
struct Reference {
    rate: f64,
    n: Option<u64>,
    as_known: bool,
}

#[derive(Serialize)]
struct Reuse {
    pairs: u64,
    similar: u64,
}

#[derive(Serialize)]
struct OneBin {
    visual_change: f64,
    n: u64,
    hits: u64,
    rate: f64,
    fitted: f64,
    low: f64,
    high: f64,
    p: f64,
}

impl<'a> Object<'a> {
    /// Of what was found.
    pub(super) fn new(args: &ToleranceArgs, found: &'a Findings) -> Self {
        let mut faults = BTreeMap::new();
        for one in &found.faults {
            let parts = [("t_c", &one.correctness), ("t_p", &one.prediction)];
            let missing = parts
                .into_iter()
                .filter_map(|(key, part)| Some((key, part.as_ref().err()?.as_str())));
            let [t_c, t_p] = parts.map(|(_, part)| part.as_ref().ok().map(Threshold::new));
            faults.insert(one.fault.as_str(), OfOne { t_c, t_p, missing: missing.collect() });
        }
        let left_out = found.left_out.iter().map(|(fault, why)| (fault.as_str(), why.as_str()));
        Self {
            name: words::title(args),
            source: words::source(args, found),
            rule: found.rule.name(),
            drop: found.rule.stated_drop(),
            rounds: args.rounds,
            seed: args.seed,
            originals: found.originals.map(|of| Originals { accuracy: of.rate, n: of.n }),
            faults,
            left_out: left_out.collect(),
            notes: &found.notes,
        }
    }
}

impl Threshold {
    fn new(of: &Measured) -> Self {
        let bins = of.evidence.bins();
        let kept: u64 = of.found.bins.iter().map(|one| one.bin.n).sum();
        Self {
            value: of.found.value,
            low: of.interval.low,
            high: of.interval.high,
            cautious: of.found.cautious,
            ending: match of.found.ending {
                Ending::Drop => "drop",
                Ending::NoDrop => "no_drop",
                Ending::EndOfData => "end_of_data",
            },
            share_without_drop: of.interval.without_drop,
            resampled: if of.evidence.has_images() { "images" } else { "bins" },
            answers: bins.answers(),
            answers_left_out: bins.answers() - kept,
            reference: Reference {
                rate: of.found.reference.rate,
                n: of.found.reference.counted.map(|(n, _)| n),
                as_known: of.found.reference.as_known,
            },
            reuse: Reuse { pairs: of.pairs, similar: of.similar },
            bins: of.found.bins.iter().map(OneBin::new).collect(),
        }
    }
}

impl OneBin {
    fn new(of: &FittedBin) -> Self {
        let FittedBin { bin, fitted, error, p } = *of;
        let Bin { n, hits, .. } = bin;
        let half = Level::default().z() * error;
        Self {
            visual_change: bin.upper(),
            n,
            hits,
            rate: bin.rate(),
            fitted,
            low: fitted - half,
            high: fitted + half,
            p,
        }
    }
}
