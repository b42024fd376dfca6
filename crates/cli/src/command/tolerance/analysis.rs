//! From answers to thresholds with intervals.

use std::thread;

use anyhow::{Context, bail};
use faultlens::Seed;
use faultlens::stats::Level;
use faultlens::stats::tolerance::{
    Evidence, FoundThreshold, Interval, Originals, Rule, ThresholdError,
};

use super::input::{Input, OfFault};
use super::names;
use crate::args::ToleranceArgs;
use crate::command;

/// How many pairs of parts the reuse check compares: a single pair would be left to chance.
const PAIRS: u64 = 20;

/// What was found, for all faults.
pub(super) struct Findings {
    pub(super) rule: Rule,
    pub(super) originals: Option<Accuracy>,
    /// Sorted by name.
    pub(super) faults: Vec<OfOne>,
    /// Faults without any threshold, and why.
    pub(super) left_out: Vec<(String, String)>,
    /// Cautions, in sentences.
    pub(super) notes: Vec<String>,
}

/// How often people are right on the originals.
#[derive(Debug, Clone, Copy)]
pub(super) struct Accuracy {
    pub(super) rate: f64,
    /// The answers behind it; `None` where it is given.
    pub(super) n: Option<u64>,
}

/// The thresholds of a fault, or why one is missing.
pub(super) struct OfOne {
    pub(super) fault: String,
    pub(super) correctness: Result<Measured, String>,
    pub(super) prediction: Result<Measured, String>,
}

impl Findings {
    /// How many answers there are on changed images.
    pub(super) fn answers(&self) -> u64 {
        self.faults.iter().map(OfOne::answers).sum()
    }
}

impl OfOne {
    /// How many answers there are on changed images.
    pub(super) fn answers(&self) -> u64 {
        let parts = [&self.correctness, &self.prediction].into_iter().flatten();
        parts.map(|of| of.evidence.bins().answers()).max().unwrap_or_default()
    }
}

/// One threshold.
pub(super) struct Measured {
    pub(super) evidence: Evidence,
    pub(super) found: FoundThreshold,
    pub(super) interval: Interval,
    /// Pairs of parts that tell the same story, of those with enough answers for it.
    pub(super) similar: u64,
    pub(super) pairs: u64,
}

/// Finds all thresholds.
pub(super) fn findings(args: &ToleranceArgs, input: &Input) -> anyhow::Result<Findings> {
    let rule = args.definition();
    let originals = Originals::new(input.originals.iter().copied());
    let tables = input.faults.values().any(|of| of.right.is_some());
    let accuracy = accuracy(args, &originals, tables)?;
    let study = Study { args, rule, originals: &originals, accuracy };
    let mut faults = Vec::new();
    let mut left_out = Vec::new();
    for (fault, of) in &input.faults {
        let one = study.fault(fault, of)?;
        match (&one.correctness, &one.prediction) {
            (Err(right), Err(same)) if right == same => left_out.push((one.fault, right.clone())),
            (Err(right), Err(same)) => {
                left_out.push((one.fault, format!("t_c: {right}; t_p: {same}")));
            }
            _ => faults.push(one),
        }
    }
    if faults.is_empty() {
        let (fault, why) = left_out.first().context("there are no answers on changed images")?;
        bail!("no threshold can be found; {}: {why}", names::displayed(fault));
    }
    let mut notes = input.notes.clone();
    notes.extend(study.notes(&faults, tables));
    Ok(Findings { rule, originals: accuracy, faults, left_out, notes })
}

/// What users give counts first, then what was answered, then what was published.
fn accuracy(
    args: &ToleranceArgs,
    originals: &Originals,
    tables: bool,
) -> anyhow::Result<Option<Accuracy>> {
    let given = |rate: f64| Some(Accuracy { rate, n: None });
    if let Some(rate) = args.originals_accuracy {
        return Ok(given(rate));
    }
    match (originals.counts(), args.definition().published_originals()) {
        ((right, n), _) if n > 0 => {
            Ok(Some(Accuracy { rate: right as f64 / n as f64, n: Some(n) }))
        }
        (_, Some(published)) if tables => Ok(given(published)),
        _ if tables => bail!(
            "a table does not say how often people are right on the originals; give \
             --originals-accuracy RATE (ImageNet's study has 0.970, CIFAR-10's 0.967)"
        ),
        _ => Ok(None),
    }
}

/// What all faults of a command share.
struct Study<'a> {
    args: &'a ToleranceArgs,
    rule: Rule,
    originals: &'a Originals,
    accuracy: Option<Accuracy>,
}

impl Study<'_> {
    fn fault(&self, fault: &str, of: &OfFault) -> anyhow::Result<OfOne> {
        let seed = Seed::new(self.args.seed).child(fault);
        Ok(OfOne {
            fault: fault.to_owned(),
            correctness: self.measured(self.correctness(of)?, seed.child("t_c"))?,
            prediction: self.measured(self.prediction(of)?, seed.child("t_p"))?,
        })
    }

    /// The evidence for whether people are right, or why there is none.
    fn correctness(&self, of: &OfFault) -> anyhow::Result<Result<Evidence, String>> {
        let evidence = match (&of.right, self.accuracy) {
            (Some(bins), Some(Accuracy { rate, .. })) => {
                Evidence::correctness_table(bins.clone(), rate)?
            }
            (None, _) if of.answers.is_empty() => {
                return Ok(Err("there is no table of right answers".to_owned()));
            }
            (None, Some(Accuracy { n: Some(_), .. })) => {
                Evidence::correctness(&of.answers, self.originals)?
            }
            (None, Some(Accuracy { rate, n: None })) => {
                Evidence::correctness_against(&of.answers, rate)?
            }
            (_, None) => {
                return Ok(Err("no answer on an original has a known truth; give \
                               --originals-accuracy RATE where it is known from elsewhere"
                    .to_owned()));
            }
        };
        let some = evidence.bins().answers() > 0;
        Ok(some.then_some(evidence).ok_or("no answer on it has a known truth".to_owned()))
    }

    /// The evidence for whether people answer as on the original, or why there is none.
    fn prediction(&self, of: &OfFault) -> anyhow::Result<Result<Evidence, String>> {
        if let Some(bins) = &of.same {
            return Ok(Ok(Evidence::prediction_table(bins.clone())));
        }
        if of.answers.is_empty() {
            return Ok(Err("there is no table of preserved answers".to_owned()));
        }
        let evidence = match Evidence::prediction(&of.answers, self.originals) {
            Err(ThresholdError::NoOriginals) => {
                return Ok(Err("there are no answers on the originals".to_owned()));
            }
            evidence => evidence?,
        };
        let some = evidence.bins().answers() > 0;
        let why = "there are no answers on the originals of its images";
        Ok(some.then_some(evidence).ok_or(why.to_owned()))
    }

    fn measured(
        &self,
        evidence: Result<Evidence, String>,
        seed: Seed,
    ) -> anyhow::Result<Result<Measured, String>> {
        let evidence = match evidence {
            Ok(evidence) => evidence,
            Err(why) => return Ok(Err(why)),
        };
        let found = match evidence.threshold(self.rule) {
            Ok(found) => found,
            Err(error @ ThresholdError::TooFewBins { .. }) => return Ok(Err(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        let threads = command::threads(self.args.threads);
        let drops = in_turns(self.args.rounds, threads, |round| {
            let mut stream = seed.child("rounds").at(round).stream();
            evidence.again(self.rule, &mut || stream.next_u64())
        });
        let drops = drops.into_iter().collect::<Result<Vec<_>, _>>()?;
        let interval = Interval::new(&drops, Level::default())?;
        let pairs = in_turns(PAIRS, threads, |pair| {
            let mut stream = seed.child("parts").at(pair).stream();
            evidence.reuse(&mut || stream.next_u64())
        });
        let pairs = pairs.into_iter().collect::<Result<Vec<_>, _>>()?;
        let similar = pairs.iter().flatten().filter(|pair| pair.similar()).count() as u64;
        let pairs = pairs.iter().flatten().count() as u64;
        Ok(Ok(Measured { evidence, found, interval, similar, pairs }))
    }

    /// Cautions before the numbers are trusted.
    fn notes(&self, faults: &[OfOne], tables: bool) -> Vec<String> {
        let mut notes = Vec::new();
        if faults
            .iter()
            .flat_map(|of| [&of.correctness, &of.prediction])
            .flatten()
            .any(|of| !of.evidence.has_images())
        {
            notes.push(
                "intervals from tables are too narrow: answers on one image agree, and a table \
                 does not say which those are"
                    .to_owned(),
            );
        }
        let Some(Accuracy { rate, n }) = self.accuracy else { return notes };
        if tables && n.is_none() && self.args.originals_accuracy.is_none() {
            notes.push(format!(
                "accuracy on the originals: {rate}, as published with {}; --originals-accuracy \
                 gives another",
                self.rule.name()
            ));
        }
        if rate >= 1.0 {
            notes.push(
                "everybody is right on the originals: any wrong answer on the curve is a drop"
                    .to_owned(),
            );
        }
        notes
    }
}

/// Computes a result for every number below `n`, distributed round-robin over threads; the results
/// are in order.
fn in_turns<T: Send>(n: u64, threads: usize, work: impl Fn(u64) -> T + Sync) -> Vec<T> {
    let work = &work;
    let threads = threads.max(1);
    let mut turns: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|first| {
                scope
                    .spawn(move || (first as u64..n).step_by(threads).map(work).collect::<Vec<T>>())
            })
            .collect();
        let joined = workers.into_iter().map(|worker| match worker.join() {
            Ok(done) => done.into_iter(),
            Err(panic) => std::panic::resume_unwind(panic),
        });
        joined.collect()
    });
    (0..n).filter_map(|number| turns[(number % threads as u64) as usize].next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_back_in_order() {
        for threads in [0, 1, 3, 80] {
            for n in [0, 1, 7, 50] {
                let squares = in_turns(n, threads, |i| i * i);
                assert_eq!(squares, (0..n).map(|i| i * i).collect::<Vec<_>>());
            }
        }
    }
}
