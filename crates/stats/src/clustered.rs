use crate::bounded::upper_mean;
use crate::error::StatsError;
use crate::estimate::{Estimate, Level};
use crate::mean::student;
use crate::proportion::{check, exact_ends};
use std::collections::BTreeMap;

/// A rate over trials that come in clusters, such as the trials of one image: how sure one may be
/// of the rate among clusters that nobody has seen yet.
///
/// Trials of one image resemble each other, so a thousand of them say less about other images than
/// a thousand images would. An interval that counts trials as independent is then far too narrow;
/// here the clusters are the sample.
///
/// ```
/// use faultlens_stats::{Clustered, Level, clopper_pearson};
///
/// // Twenty images with fifty trials each: four images always fail, the others never do.
/// let mut trials = Clustered::default();
/// for image in 0..20 {
///     for _ in 0..50 {
///         trials.add(image, 1.0, image < 4)?;
///     }
/// }
/// let rate = trials.estimate(Level::default())?;
/// assert_eq!((rate.value, rate.n), (Some(0.2), 1000));
/// // Not much more is known than from twenty trials, four of which failed.
/// let twenty = clopper_pearson(4, 20, Level::default())?;
/// assert!((rate.low - twenty.low).abs() < 0.03 && (rate.high - twenty.high).abs() < 0.03);
/// # Ok::<(), faultlens_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clustered {
    clusters: BTreeMap<u64, Sums>,
}

/// The trials of one cluster.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sums {
    n: u64,
    weights: f64,
    /// The weights of the trials that were events.
    events: f64,
}

impl Sums {
    fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.weights += other.weights;
        self.events += other.events;
    }
}

impl Clustered {
    /// Counts one trial of a cluster. The weight is 1, or how often the trial occurs over how often
    /// it was drawn (importance sampling).
    ///
    /// # Errors
    /// A weight that is not above 0 and finite.
    pub fn add(&mut self, cluster: u64, weight: f64, event: bool) -> Result<(), StatsError> {
        if !(weight > 0.0 && weight.is_finite()) {
            return Err(StatsError::Weight(weight));
        }
        let events = if event { weight } else { 0.0 };
        let sums = Sums { n: 1, weights: weight, events };
        self.clusters.entry(cluster).or_default().merge(&sums);
        Ok(())
    }

    /// Counts all trials of another sample, too; clusters of the same number are the same cluster.
    pub fn merge(&mut self, other: &Self) {
        for (cluster, sums) in &other.clusters {
            self.clusters.entry(*cluster).or_default().merge(sums);
        }
    }

    /// How many trials there are.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.clusters.values().map(|sums| sums.n).sum()
    }

    /// How many clusters there are.
    #[must_use]
    pub fn clusters(&self) -> u64 {
        self.clusters.len() as u64
    }

    /// The rate: the weighted events among the weights.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let weights: f64 = self.clusters.values().map(|sums| sums.weights).sum();
        let events: f64 = self.clusters.values().map(|sums| sums.events).sum();
        (weights > 0.0).then(|| (events / weights).clamp(0.0, 1.0))
    }

    /// The rate among clusters like these, with the interval of Korn and Graubard (1998, Survey
    /// Methodology 24:193–201): that of Clopper and Pearson for as many independent trials as the
    /// clusters are worth. From a single cluster nothing follows for others.
    ///
    /// # Errors
    /// More than 10¹⁰ trials.
    pub fn estimate(&self, level: Level) -> Result<Estimate, StatsError> {
        let n = self.n();
        check(0, n)?;
        let Some(rate) = self.rate() else {
            return Ok(Estimate { value: None, low: 0.0, high: 1.0, n });
        };
        if self.clusters.len() < 2 {
            return Ok(Estimate { value: Some(rate), low: 0.0, high: 1.0, n });
        }
        let (low, high) = exact_ends(rate, self.effective(level), level);
        Ok(Estimate { value: Some(rate), low, high, n })
    }

    /// How many independent trials would say as much about new clusters; 0 without trials.
    #[must_use]
    pub fn effective(&self, level: Level) -> f64 {
        let Some(rate) = self.rate() else { return 0.0 };
        let clusters = self.clusters.len() as f64;
        effective(rate, self.n() as f64, clusters, variance(self.clusters.values(), rate), level)
    }

    /// A bound that the rate among clusters like these exceeds with a chance of at most half of
    /// what the level leaves, however unlike the clusters are: by Gaffke's method (2005), which
    /// adds one unseen cluster in which every trial is an event.
    ///
    /// [`estimate`](Self::estimate) is narrower and right for clusters that vary smoothly. Where a
    /// rare kind of cluster fails always and none of them is in the sample, no variance shows it,
    /// and the end of that interval may lie below the truth more often than its level says. A
    /// statement that a limit is kept needs this bound.
    ///
    /// # Errors
    /// More than 10¹⁰ trials.
    pub fn upper_bound(&self, level: Level) -> Result<f64, StatsError> {
        check(0, self.n())?;
        let clusters: Vec<(f64, f64)> =
            self.clusters.values().map(|sums| (sums.events, sums.weights)).collect();
        Ok(upper_mean(&clusters, level))
    }

    /// The counterpart of [`upper_bound`](Self::upper_bound) from below.
    ///
    /// # Errors
    /// More than 10¹⁰ trials.
    pub fn lower_bound(&self, level: Level) -> Result<f64, StatsError> {
        let mut reversed = self.clone();
        for sums in reversed.clusters.values_mut() {
            sums.events = sums.weights - sums.events;
        }
        Ok(1.0 - reversed.upper_bound(level)?)
    }
}

/// The variance of a rate from cluster to cluster, by linearisation: a ratio of two totals varies
/// as the total of what each cluster has above the rate.
fn variance<'a>(clusters: impl ExactSizeIterator<Item = &'a Sums>, rate: f64) -> f64 {
    let count = clusters.len() as f64;
    let mut weights = 0.0;
    let mut squares = 0.0;
    for sums in clusters {
        weights += sums.weights;
        squares += (sums.events - rate * sums.weights).powi(2);
    }
    count / (count - 1.0) * squares / (weights * weights)
}

/// How many independent trials vary as much as a rate with this variance: the trials over the design
/// effect (Kish 1965), never more than there are, and fewer where few clusters say what the variance
/// is (Korn and Graubard's factor of Student's quantiles). A rate of 0 or 1 does not vary: then
/// every cluster counts once.
fn effective(rate: f64, n: f64, clusters: f64, variance: f64, level: Level) -> f64 {
    let plain = rate * (1.0 - rate);
    if plain == 0.0 || clusters < 2.0 {
        return clusters;
    }
    // Differences of sums are noise below this: the clusters are all alike.
    let alike = variance <= plain * 1e-14;
    let worth = if alike { n } else { (plain / variance).min(n) };
    worth * (student(n - 1.0, level) / student(clusters - 1.0, level)).powi(2)
}

/// A rate over trials that share two things at once, such as an image and a permanent fault: each
/// image meets each fault, and both are a sample.
///
/// The variance is that by the first, plus that by the second, less that by both together, which was
/// counted twice (Cameron, Gelbach and Miller 2011, J. Bus. Econ. Stat. 29:238–249). Whatever it
/// says, the trials are never worth more than the fewer of the two: with twenty faults drawn, one
/// that nobody drew may break everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Crossed {
    first: Clustered,
    second: Clustered,
    both: BTreeMap<(u64, u64), Sums>,
}

impl Crossed {
    /// Counts one trial.
    ///
    /// # Errors
    /// A weight that is not above 0 and finite.
    pub fn add(
        &mut self,
        first: u64,
        second: u64,
        weight: f64,
        event: bool,
    ) -> Result<(), StatsError> {
        self.first.add(first, weight, event)?;
        self.second.add(second, weight, event)?;
        let events = if event { weight } else { 0.0 };
        let sums = Sums { n: 1, weights: weight, events };
        self.both.entry((first, second)).or_default().merge(&sums);
        Ok(())
    }

    /// The rate among images and faults like these, with Korn and Graubard's interval.
    ///
    /// # Errors
    /// More than 10¹⁰ trials.
    pub fn estimate(&self, level: Level) -> Result<Estimate, StatsError> {
        let n = self.first.n();
        check(0, n)?;
        let Some(rate) = self.first.rate() else {
            return Ok(Estimate { value: None, low: 0.0, high: 1.0, n });
        };
        let fewest = self.first.clusters().min(self.second.clusters()) as f64;
        if fewest < 2.0 {
            return Ok(Estimate { value: Some(rate), low: 0.0, high: 1.0, n });
        }
        let by_first = variance(self.first.clusters.values(), rate);
        let by_second = variance(self.second.clusters.values(), rate);
        let by_both = variance(self.both.values(), rate);
        // The difference may fall below what either shows alone, and even below 0.
        let variance = (by_first + by_second - by_both).max(by_first).max(by_second);
        let worth = effective(rate, n as f64, fewest, variance, level).min(fewest);
        let (low, high) = exact_ends(rate, worth, level);
        Ok(Estimate { value: Some(rate), low, high, n })
    }
}
