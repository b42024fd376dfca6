//! Means over faults and severities with intervals for new images: images are drawn again with
//! replacement, each with all its trials, and the means computed anew.

use super::severity_or_drawn;
use crate::context::Context;
use crate::estimate::{Mean, mean_of_known};
use crate::sample::Sample;
use faultlens_core::Seed;
use faultlens_stats::{Bootstrap, Level, MIN_IMAGES, StatsError};
use std::collections::BTreeMap;

/// The least and the largest number of resamples.
const RESAMPLES: std::ops::RangeInclusive<usize> = 400..=2000;

/// How many sums all resamples together may take, before there are fewer of them.
const MAX_SUMS: usize = 200_000_000;

/// Where a number stands in a row of error rates: a target's fault point, or its clean predictions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Column(usize);

/// Wrong predictions of every image, and what is computed of them again and again.
pub(super) struct Means {
    /// By image, for each column wrong predictions and all.
    counts: Vec<Vec<[f64; 2]>>,
    /// By target, its clean predictions.
    clean: BTreeMap<u32, Column>,
    /// By target and fault but for the severity, the points by severity.
    faults: BTreeMap<u32, BTreeMap<String, Vec<(f64, Column)>>>,
    level: Level,
    seed: Seed,
    /// The error rates of every resample, once they were asked for; the first is of all images.
    rows: Vec<Row>,
}

/// The error rate of each column; `None` where no image has a trial of it.
type Row = Vec<Option<f64>>;

impl Means {
    pub(super) fn new(
        context: &Context,
        cells: &BTreeMap<(u32, u32), Sample>,
        level: Level,
    ) -> Result<Self, StatsError> {
        let mut columns = 0;
        let mut by_image: BTreeMap<u64, BTreeMap<usize, [f64; 2]>> = BTreeMap::new();
        let mut faults: BTreeMap<u32, BTreeMap<String, Vec<(f64, Column)>>> = BTreeMap::new();
        for ((target, fault), sample) in cells {
            let Some(fault) = context.manifest.faults.get(*fault as usize) else { continue };
            let (severity, label) = severity_or_drawn(fault);
            let points = faults.entry(*target).or_default().entry(label).or_default();
            points.push((severity, Column(columns)));
            for (image, sums) in sample.images().clusters() {
                by_image.entry(image).or_default().insert(columns, [sums.events, sums.weights]);
            }
            columns += 1;
        }
        let mut clean = BTreeMap::new();
        for target in faults.keys() {
            for golden in context.goldens().filter(|golden| golden.target == *target) {
                let Some(correct) = golden.correct else { continue };
                let image = by_image.entry(context.image(golden.case)).or_default();
                let counts = image.entry(columns).or_default();
                counts[0] += f64::from(u8::from(!correct));
                counts[1] += 1.0;
            }
            clean.insert(*target, Column(columns));
            columns += 1;
        }
        let mut counts = Vec::new();
        for image in by_image.into_values() {
            let mut row = vec![[0.0, 0.0]; columns];
            for (column, own) in image {
                row[column] = own;
            }
            counts.push(row);
        }
        let seed = Seed::new(context.manifest.seed).child("resampled images");
        Ok(Self { counts, clean, faults, level, seed, rows: Vec::new() })
    }

    /// The share of right predictions under faults (mPC).
    pub(super) fn accuracy(&mut self, target: u32) -> Result<Option<Mean>, StatsError> {
        let Some(own) = self.faults.get(&target).cloned() else { return Ok(None) };
        self.mean(|row| accuracy(row, &own))
    }

    /// That relative to the share of right clean predictions (rPC).
    pub(super) fn kept(&mut self, target: u32) -> Result<Option<Mean>, StatsError> {
        let Some(own) = self.faults.get(&target).cloned() else { return Ok(None) };
        let Some(clean) = self.clean.get(&target).copied() else { return Ok(None) };
        self.mean(|row| {
            let right = 1.0 - row[clean.0]?;
            Some(accuracy(row, &own)? / (right > 0.0).then_some(right)?)
        })
    }

    /// The mean of the errors relative to the reference's (mCE).
    pub(super) fn relative(
        &mut self,
        target: u32,
        reference: u32,
    ) -> Result<Option<Mean>, StatsError> {
        let own = self.faults.get(&target).cloned().unwrap_or_default();
        let reference = self.faults.get(&reference).cloned().unwrap_or_default();
        self.mean(|row| {
            let by_fault = own.iter().map(|(fault, points)| {
                let theirs = reference.get(fault)?;
                let same = points.iter().map(|(a, _)| a).eq(theirs.iter().map(|(b, _)| b));
                let theirs = error(row, theirs).filter(|error| same && *error > 0.0)?;
                Some(error(row, points)? / theirs)
            });
            mean_of_known(by_fault)
        })
    }

    /// A number that follows from error rates, with its interval; the number alone where there are
    /// too few images to say something about others.
    fn mean(&mut self, of: impl Fn(&Row) -> Option<f64>) -> Result<Option<Mean>, StatsError> {
        self.resample()?;
        let Some(value) = self.rows.first().and_then(&of) else { return Ok(None) };
        let n = self.counts.len();
        if (n as u64) < MIN_IMAGES {
            return Ok(Some(Mean { value: Some(value), low: value, high: value, n: n as u64 }));
        }
        let bootstrap = Bootstrap::new(self.rows.len() - 1, self.level)?;
        let mut rows = self.rows.iter();
        // The rows were drawn before: the bootstrap only orders what is computed of them. A resample
        // without the trials that the number needs counts as the number itself.
        let estimate =
            bootstrap.percentile(n, || 0, |_| rows.next().and_then(&of).unwrap_or(value))?;
        Ok(Some(estimate.into()))
    }

    /// Draws images with replacement and keeps the error rates of each draw.
    fn resample(&mut self) -> Result<(), StatsError> {
        if !self.rows.is_empty() || self.counts.is_empty() {
            return Ok(());
        }
        let images = self.counts.len();
        let columns = self.counts[0].len();
        let least = (10.0 / self.level.alpha()).ceil() as usize;
        let affordable = MAX_SUMS / (images * columns).max(1);
        let resamples = affordable.clamp(*RESAMPLES.start(), *RESAMPLES.end()).max(least);
        self.rows.push(rates(columns, self.counts.iter()));
        let mut stream = self.seed.stream();
        for _ in 0..resamples {
            let drawn: Vec<usize> = (0..images).map(|_| stream.below(images)).collect();
            self.rows.push(rates(columns, drawn.iter().map(|&image| &self.counts[image])));
        }
        Ok(())
    }
}

/// The error rate of each column over some images.
fn rates<'a>(columns: usize, images: impl Iterator<Item = &'a Vec<[f64; 2]>>) -> Row {
    let mut sums = vec![[0.0, 0.0]; columns];
    for image in images {
        for (sum, own) in sums.iter_mut().zip(image) {
            sum[0] += own[0];
            sum[1] += own[1];
        }
    }
    sums.into_iter().map(|[wrong, n]| (n > 0.0).then(|| wrong / n)).collect()
}

/// The mean error over the severities of a fault.
fn error(row: &Row, points: &[(f64, Column)]) -> Option<f64> {
    mean_of_known(points.iter().map(|(_, column)| row[column.0]))
}

/// The share of right predictions, each fault counting the same.
fn accuracy(row: &Row, faults: &BTreeMap<String, Vec<(f64, Column)>>) -> Option<f64> {
    mean_of_known(faults.values().map(|points| Some(1.0 - error(row, points)?)))
}
