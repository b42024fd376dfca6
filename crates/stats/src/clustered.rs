use crate::bounded::upper_mean;
use crate::error::StatsError;
use crate::estimate::{Estimate, Level};
use crate::mean::student;
use crate::proportion::{check, exact_ends, score_ends};

/// A rate over trials that come in clusters, such as the trials of one image: how sure one may be
/// of the rate among clusters that nobody has seen yet.
///
/// Trials of one image resemble each other, so a thousand of them say less about other images than
/// a thousand images would. An interval that counts trials as independent is then far too narrow;
/// here the clusters are the sample.
///
/// ```
/// use faultlens_stats::{Clustered, Formula, Level, clopper_pearson};
///
/// // Twenty images with fifty trials each: four images always fail, the others never do.
/// let mut trials = Clustered::default();
/// for image in 0..20 {
///     for _ in 0..50 {
///         trials.add(image, 1.0, image < 4)?;
///     }
/// }
/// let rate = trials.estimate(Formula::ClopperPearson, Level::default())?;
/// assert_eq!((rate.value, rate.n), (Some(0.2), 1000));
/// // Not much more is known than from twenty trials, four of which failed.
/// let twenty = clopper_pearson(4, 20, Level::default())?;
/// assert!((rate.low - twenty.low).abs() < 0.03 && (rate.high - twenty.high).abs() < 0.03);
/// # Ok::<(), faultlens_stats::StatsError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clustered {
    /// Trials of one cluster mostly follow each other, so that one entry has many of them; a
    /// cluster may have several entries.
    runs: Vec<(u64, ClusterSums)>,
}

/// With fewer images than this nothing is said about other images: what few images have in common
/// cannot be told from what all have.
pub const MIN_IMAGES: u64 = 10;

/// The trials of one cluster.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ClusterSums {
    /// How many there are.
    pub n: u64,
    /// Their weights, summed.
    pub weights: f64,
    /// The weights of those that were events, summed.
    pub events: f64,
}

impl ClusterSums {
    fn one(weight: f64, event: bool) -> Self {
        Self { n: 1, weights: weight, events: if event { weight } else { 0.0 } }
    }

    fn merge(&mut self, other: &Self) {
        self.n += other.n;
        self.weights += other.weights;
        self.events += other.events;
    }
}

/// The formulas for an interval's ends, given a rate and what it is worth in independent trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formula {
    /// Wilson's score interval: close to its level on average.
    Wilson,
    /// Clopper and Pearson's, for clustered trials as Korn and Graubard (1998) use it: hardly ever
    /// below its level, and wider for that.
    ClopperPearson,
}

impl Formula {
    /// The ends of a rate that so many independent trials, or what is worth as many, say something
    /// about.
    pub(crate) fn ends(self, rate: f64, worth: f64, level: Level) -> (f64, f64) {
        let (low, high) = match self {
            Self::Wilson => score_ends(rate, worth, level),
            Self::ClopperPearson => exact_ends(rate, worth, level),
        };
        (
            if rate == 0.0 { 0.0 } else { low.max(0.0) },
            if rate == 1.0 { 1.0 } else { high.min(1.0) },
        )
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
        self.add_sums(cluster, &ClusterSums::one(weight, event));
        Ok(())
    }

    /// Counts one trial of a cluster that counts as one.
    pub fn count(&mut self, cluster: u64, event: bool) {
        self.add_sums(cluster, &ClusterSums::one(1.0, event));
    }

    fn add_sums(&mut self, cluster: u64, sums: &ClusterSums) {
        match self.runs.last_mut() {
            Some((last, own)) if *last == cluster => own.merge(sums),
            _ => self.runs.push((cluster, *sums)),
        }
    }

    /// Counts all trials of another sample, too; clusters of the same number are the same cluster.
    pub fn merge(&mut self, other: &Self) {
        for (cluster, sums) in &other.runs {
            self.add_sums(*cluster, sums);
        }
    }

    /// The trials that are not among others; these must all be among its own.
    #[must_use]
    pub fn without(&self, others: &Self) -> Self {
        let mut rest = Self::default();
        let others = others.clusters();
        for (cluster, mut sums) in self.clusters() {
            if let Ok(at) = others.binary_search_by_key(&cluster, |(other, _)| *other) {
                sums.n -= others[at].1.n;
                sums.weights -= others[at].1.weights;
                sums.events -= others[at].1.events;
            }
            if sums.n > 0 {
                rest.runs.push((cluster, sums));
            }
        }
        rest
    }

    /// Every cluster once, by its number.
    #[must_use]
    pub fn clusters(&self) -> Vec<(u64, ClusterSums)> {
        let mut sorted = self.runs.clone();
        // Stable, so that sums have one order however the runs lie.
        sorted.sort_by_key(|(cluster, _)| *cluster);
        let mut clusters: Vec<(u64, ClusterSums)> = Vec::new();
        for (cluster, sums) in sorted {
            match clusters.last_mut() {
                Some((last, own)) if *last == cluster => own.merge(&sums),
                _ => clusters.push((cluster, sums)),
            }
        }
        clusters
    }

    /// How many trials there are.
    #[must_use]
    pub fn n(&self) -> u64 {
        self.runs.iter().map(|(_, sums)| sums.n).sum()
    }

    /// How many clusters there are.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.clusters().len() as u64
    }

    /// Whether there is no trial.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The rate: the weighted events among the weights.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let weights: f64 = self.runs.iter().map(|(_, sums)| sums.weights).sum();
        let events: f64 = self.runs.iter().map(|(_, sums)| sums.events).sum();
        (weights > 0.0).then(|| (events / weights).clamp(0.0, 1.0))
    }

    /// The rate among clusters like these, with the formula's interval for as many independent
    /// trials as the clusters are worth. From a single cluster nothing follows for others.
    ///
    /// # Errors
    /// More than 10¹⁰ trials.
    pub fn estimate(&self, formula: Formula, level: Level) -> Result<Estimate, StatsError> {
        let n = self.n();
        check(0, n)?;
        let Some(rate) = self.rate() else {
            return Ok(Estimate { value: None, low: 0.0, high: 1.0, n });
        };
        let clusters = self.clusters();
        if clusters.len() < 2 {
            return Ok(Estimate { value: Some(rate), low: 0.0, high: 1.0, n });
        }
        let variance = variance(&clusters, rate);
        let telling = match formula {
            Formula::Wilson => telling(&clusters, rate),
            Formula::ClopperPearson => clusters.len() as f64,
        };
        let worth = worth(rate, n as f64, telling, clusters.len() as f64, variance, level);
        let (low, high) = formula.ends(rate, worth, level);
        Ok(Estimate { value: Some(rate), low, high, n })
    }

    /// The half-width that the interval would have if every cluster had any number of trials: what
    /// differs between clusters remains, and only more clusters narrow it. `None` where no cluster
    /// has two trials, which alone tell chance within clusters from differences between them.
    ///
    /// # Errors
    /// More than 10¹⁰ trials.
    pub fn half_width_of_any_trials(
        &self,
        formula: Formula,
        level: Level,
    ) -> Result<Option<f64>, StatsError> {
        let n = self.n();
        check(0, n)?;
        let clusters = self.clusters();
        let Some(rate) = self.rate().filter(|_| clusters.len() > 1) else { return Ok(None) };
        if clusters.iter().all(|(_, sums)| sums.n < 2) {
            return Ok(None);
        }
        let mut within = 0.0;
        let mut weights = 0.0;
        for (_, sums) in &clusters {
            weights += sums.weights;
            let own = sums.events / sums.weights;
            // The variance of a cluster's total, by its own trials.
            within += sums.weights.powi(2) * own * (1.0 - own) / (sums.n.max(2) - 1) as f64;
        }
        let between = (variance(&clusters, rate) - within / (weights * weights)).max(0.0);
        let plain = rate * (1.0 - rate);
        if plain > 0.0 && between <= plain * 1e-14 {
            return Ok(Some(0.0));
        }
        let telling = match formula {
            Formula::Wilson => telling(&clusters, rate),
            Formula::ClopperPearson => clusters.len() as f64,
        };
        let worth = worth(rate, f64::MAX, telling, clusters.len() as f64, between, level);
        let (low, high) = formula.ends(rate, worth, level);
        Ok(Some((high - low) / 2.0))
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
            self.clusters().iter().map(|(_, sums)| (sums.events, sums.weights)).collect();
        Ok(upper_mean(&clusters, level))
    }

    /// The counterpart of [`upper_bound`](Self::upper_bound) from below.
    ///
    /// # Errors
    /// More than 10¹⁰ trials.
    pub fn lower_bound(&self, level: Level) -> Result<f64, StatsError> {
        Ok(1.0 - self.reversed().upper_bound(level)?)
    }

    /// The trials that were events, alone.
    #[must_use]
    pub fn events(&self) -> Self {
        let mut events = Self::default();
        for (cluster, sums) in self.runs.iter().filter(|(_, sums)| sums.events > 0.0) {
            // Weights hardly differ within a cluster; their mean tells how many trials it were.
            let n = (sums.events / sums.weights * sums.n as f64).round().max(1.0) as u64;
            events.runs.push((*cluster, ClusterSums { n, weights: sums.events, ..*sums }));
        }
        events
    }

    /// The same trials, all of which were events, or none.
    #[must_use]
    pub fn all_as(&self, events: bool) -> Self {
        let mut same = self.clone();
        for (_, sums) in &mut same.runs {
            sums.events = if events { sums.weights } else { 0.0 };
        }
        same
    }

    /// The same trials, of which the events were none and the others were events.
    fn reversed(&self) -> Self {
        let mut reversed = self.clone();
        for (_, sums) in &mut reversed.runs {
            sums.events = sums.weights - sums.events;
        }
        reversed
    }
}

/// The variance of a rate from cluster to cluster, by linearisation: a ratio of two totals varies
/// as the total of what each cluster has above the rate.
pub(crate) fn variance(clusters: &[(u64, ClusterSums)], rate: f64) -> f64 {
    let mut weights = 0.0;
    let mut squares = 0.0;
    for (_, sums) in clusters {
        weights += sums.weights;
        squares += (sums.events - rate * sums.weights).powi(2);
    }
    corrected(squares, clusters.len() as f64) / (weights * weights)
}

/// A sum of squares over so many clusters, with Bessel's correction.
pub(crate) fn corrected(squares: f64, clusters: f64) -> f64 {
    clusters / (clusters - 1.0) * squares
}

/// Fewer degrees of freedom make intervals ten times too wide where two or three images decide; with
/// these the coverage is 93% or more in simulation, but where a rare kind of image always fails.
const MIN_FREEDOM: f64 = 3.0;

/// How many independent trials vary as much as a rate with this variance: the trials over the design
/// effect (Kish 1965), never more than there are, and fewer where few clusters are `telling` of what
/// the variance is (Korn and Graubard's factor of Student's quantiles). A rate of 0 or 1 does not vary: then
/// every cluster counts once.
pub(crate) fn worth(
    rate: f64,
    n: f64,
    telling: f64,
    clusters: f64,
    variance: f64,
    level: Level,
) -> f64 {
    let plain = rate * (1.0 - rate);
    if plain == 0.0 || clusters < 2.0 {
        return clusters;
    }
    // Differences of sums are noise below this: the clusters are all alike.
    let alike = variance <= plain * 1e-14;
    let worth = if alike { n } else { (plain / variance).min(n) };
    let freedom = (telling - 1.0).max(MIN_FREEDOM);
    worth * (quantile(n - 1.0, level) / quantile(freedom, level)).powi(2)
}

/// How many clusters the variance rests on: where few of them make up most of it, such as the few
/// images that ever fail, it is known as badly as from so few (Satterthwaite 1946).
fn telling(clusters: &[(u64, ClusterSums)], rate: f64) -> f64 {
    // Single trials are independent, and the rate alone says how they vary.
    if clusters.iter().all(|(_, sums)| sums.n == 1) {
        return clusters.len() as f64;
    }
    let mut squares = 0.0;
    let mut fourths = 0.0;
    for (_, sums) in clusters {
        let square = (sums.events - rate * sums.weights).powi(2);
        squares += square;
        fourths += square * square;
    }
    if fourths > 0.0 { squares * squares / fourths } else { clusters.len() as f64 }
}

/// Student's quantile, which is the normal one from where they no longer differ.
fn quantile(freedom: f64, level: Level) -> f64 {
    if freedom > 1e7 { level.z() } else { student(freedom, level) }
}
