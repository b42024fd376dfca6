//! What the own samples of each configuration say about the seconds of an attack.

use std::collections::BTreeMap;

use faultlens_core::Seed;
use faultlens_stats::survival::{BySample, Lifetimes, SampleRows, by_sample};

use super::rows::{Configuration, Row, Rows};
use super::{AnalysisError, level};

/// Resamples of images behind every interval by bootstrap.
pub(super) const RESAMPLES: usize = 999;
/// Fewer images than this say nothing about new ones.
pub(super) const IMAGES: u64 = 10;

/// The attacks on the samples of one configuration.
pub(super) struct Observed {
    /// The mean seconds and the price of a changed answer, for new images.
    pub(super) found: BySample,
    /// The latest time: the mean is that up to it.
    pub(super) latest: f64,
    /// Whether every answer changed, so that the mean is the observed one.
    pub(super) complete: bool,
    /// The rows, to count images differently.
    pub(super) rows: SampleRows,
}

/// The images that were attacked. One recurs under its name, whatever the model, the attack or the
/// shuffle of its data set.
pub(super) struct Images<'a> {
    configurations: &'a [Configuration],
    known: BTreeMap<(&'a str, &'a str), usize>,
}

impl<'a> Images<'a> {
    pub(super) fn new(rows: &'a Rows) -> Self {
        let mut known = BTreeMap::new();
        for row in &rows.rows {
            let data = rows.configurations[row.configuration as usize].data.as_str();
            let next = known.len();
            known.entry((data, row.sample.as_str())).or_insert(next);
        }
        Self { configurations: &rows.configurations, known }
    }

    /// The number of a row's image.
    pub(super) fn of(&self, row: &Row) -> usize {
        let data = self.configurations[row.configuration as usize].data.as_str();
        self.known.get(&(data, row.sample.as_str())).copied().unwrap_or_default()
    }
}

/// Of each configuration; `None` where its attack has no duration.
pub(super) fn observed(
    rows: &Rows,
    images: &Images<'_>,
    seed: u64,
) -> Result<Vec<Option<Observed>>, AnalysisError> {
    let mut own: Vec<Vec<(&Row, usize)>> = vec![Vec::new(); rows.configurations.len()];
    for row in &rows.rows {
        own[row.configuration as usize].push((row, images.of(row)));
    }
    let seed = Seed::new(seed).child("images");
    let mut out = Vec::with_capacity(own.len());
    for (i, (of, rows)) in rows.configurations.iter().zip(&own).enumerate() {
        let latest = rows.iter().map(|(row, _)| row.seconds).fold(0.0, f64::max);
        if of.one_shot || latest <= 0.0 {
            out.push(None);
            continue;
        }
        let durations = rows.iter().map(|(row, _)| row.seconds).collect();
        let changed = rows.iter().map(|(row, _)| row.changed).collect();
        let data = Lifetimes::new(durations, changed)?;
        let images: Vec<usize> = rows.iter().map(|(_, image)| *image).collect();
        let mut draw = seed.at(i as u64).stream();
        let found = by_sample(&data, &images, latest, RESAMPLES, level(), || draw.next_u64())?;
        out.push(Some(Observed {
            found,
            latest,
            complete: data.events() == data.rows(),
            rows: SampleRows::new(&data, &images, latest)?,
        }));
    }
    Ok(out)
}
