use crate::clustered::Formula;
use crate::error::StatsError;
use crate::estimate::{Estimate, Level};
use crate::mean::student;
use crate::proportion::check;

/// A rate on the images that were shown: what chance decided is only which faults were drawn within
/// each image, not which images there are.
///
/// Trials of one image, target and fault are a stratum, and what strata differ by is no chance. So
/// the variance is that within strata, which is less than among all trials. A fault that draws
/// nothing has no chance in it at all: its rate is exact.
///
/// Trials come one by one, those of a stratum after each other. Where a stratum has a single trial,
/// nothing shows how its draws vary; such strata are put together in pairs (collapsed strata,
/// Cochran 1977, section 5A.12), which makes the variance too large rather than too small.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stratified {
    n: u64,
    events: u64,
    /// Trials that drew something.
    drawn: u64,
    open: Option<Stratum>,
    /// The outcome of a stratum with one trial that waits for another such.
    single: Option<bool>,
    closed: Variances,
}

/// Trials of one stratum.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stratum {
    key: u64,
    n: u64,
    events: u64,
}

/// The variances of the totals of strata, summed.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Variances {
    sum: f64,
    /// The squares over the degrees of freedom of each (Satterthwaite 1946).
    spread: f64,
}

impl Variances {
    /// Adds the variance of the total of so many trials of one stratum.
    fn add(&mut self, n: u64, events: u64) {
        let size = n as f64;
        let rate = events as f64 / size;
        let variance = size * size * rate * (1.0 - rate) / (size - 1.0);
        self.sum += variance;
        self.spread += variance * variance / (size - 1.0);
    }
}

impl Stratified {
    /// Counts one trial. The stratum is a number for its image, target and fault; `draws` says
    /// whether repeating the trial could end differently.
    pub fn add(&mut self, stratum: u64, draws: bool, event: bool) {
        self.n += 1;
        self.events += u64::from(event);
        if !draws {
            return;
        }
        self.drawn += 1;
        match &mut self.open {
            Some(open) if open.key == stratum => {
                open.n += 1;
                open.events += u64::from(event);
            }
            _ => {
                self.close();
                self.open = Some(Stratum { key: stratum, n: 1, events: u64::from(event) });
            }
        }
    }

    /// Counts all trials of another sample, too; strata of both are different ones.
    pub fn merge(&mut self, other: &Self) {
        let mut other = other.clone();
        other.close();
        self.close();
        self.n += other.n;
        self.events += other.events;
        self.drawn += other.drawn;
        self.closed.sum += other.closed.sum;
        self.closed.spread += other.closed.spread;
        if let Some(single) = other.single {
            self.pair(single);
        }
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        if open.n > 1 {
            self.closed.add(open.n, open.events);
        } else {
            self.pair(open.events > 0);
        }
    }

    fn pair(&mut self, event: bool) {
        match self.single.take() {
            None => self.single = Some(event),
            Some(waiting) => self.closed.add(2, u64::from(event) + u64::from(waiting)),
        }
    }

    /// Whether no trial drew anything, so that the rate is exact.
    #[must_use]
    pub fn is_exact(&self) -> bool {
        self.drawn == 0
    }

    /// The rate on these images, with the formula's interval for as many independent trials as vary
    /// as much; without draws both ends are the rate itself.
    ///
    /// # Errors
    /// More than 10¹⁰ trials.
    pub fn estimate(&self, formula: Formula, level: Level) -> Result<Estimate, StatsError> {
        let n = self.n;
        check(self.events, n)?;
        if n == 0 {
            return Ok(Estimate { value: None, low: 0.0, high: 1.0, n });
        }
        let rate = self.events as f64 / n as f64;
        if self.is_exact() {
            return Ok(Estimate { value: Some(rate), low: rate, high: rate, n });
        }
        let mut all = self.clone();
        all.close();
        let plain = rate * (1.0 - rate);
        let waiting = if all.single.is_some() { plain } else { 0.0 };
        let variance = (all.closed.sum + waiting) / (n as f64).powi(2);
        // Where every stratum was of one mind, the trials themselves say how far it may be chance.
        let worth = if variance <= plain * 1e-14 {
            n as f64
        } else {
            let freedom = (all.closed.sum.powi(2) / all.closed.spread).max(1.0);
            plain / variance * (level.z() / student(freedom, level)).powi(2)
        };
        let (low, high) = formula.ends(rate, worth, level);
        Ok(Estimate { value: Some(rate), low, high, n })
    }
}
