use super::error::SurvivalError;

/// One named column of numbers that may explain the durations.
#[derive(Debug, Clone, PartialEq)]
pub struct Covariate {
    /// The name under which its coefficient is shown.
    pub name: String,
    /// One finite number per row.
    pub values: Vec<f64>,
}

/// How long each row was observed and whether the event ended it: what every survival model is
/// fitted on. Checked here once, so no model checks again.
///
/// ```
/// use faultlens_stats::survival::Lifetimes;
///
/// let attacks = Lifetimes::new(vec![0.8, 2.0, 1.1], vec![true, false, true])?
///     .covariate("epsilon", vec![0.3, 0.01, 0.1])?;
/// assert_eq!(attacks.events(), 2);
/// # Ok::<(), faultlens_stats::survival::SurvivalError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Lifetimes {
    durations: Vec<f64>,
    observed: Vec<bool>,
    entries: Vec<f64>,
    weights: Vec<f64>,
    strata: Vec<usize>,
    covariates: Vec<Covariate>,
}

impl Lifetimes {
    /// Durations in any unit of time (or queries), and for each whether the event was observed;
    /// `false` is a row censored when its budget ended.
    ///
    /// # Errors
    /// No rows, different lengths, or a duration that is negative or not finite.
    pub fn new(durations: Vec<f64>, observed: Vec<bool>) -> Result<Self, SurvivalError> {
        let rows = durations.len();
        if rows == 0 {
            return Err(SurvivalError::Empty);
        }
        same_length("the event column", observed.len(), rows)?;
        for (i, &value) in durations.iter().enumerate() {
            if !(value.is_finite() && value >= 0.0) {
                return Err(SurvivalError::Duration { row: i + 1, value });
            }
        }
        let entries = vec![0.0; rows];
        let weights = vec![1.0; rows];
        let strata = vec![0; rows];
        Ok(Self { durations, observed, entries, weights, strata, covariates: Vec::new() })
    }

    /// When each row came under observation, for rows that would have been missed had they ended
    /// earlier.
    ///
    /// # Errors
    /// Another length, or an entry outside `0..duration`.
    pub fn late_entry(mut self, entries: Vec<f64>) -> Result<Self, SurvivalError> {
        same_length("the entry column", entries.len(), self.rows())?;
        for (i, (&entry, &duration)) in entries.iter().zip(&self.durations).enumerate() {
            if !(entry >= 0.0 && (entry < duration || entry == 0.0)) {
                return Err(SurvivalError::Entry { row: i + 1, entry, duration });
            }
        }
        self.entries = entries;
        Ok(self)
    }

    /// How many equal rows each row stands for.
    ///
    /// # Errors
    /// Another length, or a weight that is not a finite number above 0.
    pub fn weights(mut self, weights: Vec<f64>) -> Result<Self, SurvivalError> {
        same_length("the weight column", weights.len(), self.rows())?;
        for (i, &value) in weights.iter().enumerate() {
            if !(value.is_finite() && value > 0.0) {
                return Err(SurvivalError::Weight { row: i + 1, value });
            }
        }
        self.weights = weights;
        Ok(self)
    }

    /// The stratum of each row, by any number: Cox's model gives each its own baseline, and rows of
    /// different strata are never compared.
    ///
    /// # Errors
    /// Another length.
    pub fn stratified(mut self, strata: Vec<usize>) -> Result<Self, SurvivalError> {
        same_length("the column of strata", strata.len(), self.rows())?;
        self.strata = strata;
        Ok(self)
    }

    /// Adds a column that may explain the durations.
    ///
    /// # Errors
    /// Another length, a value that is not finite, or a name that is already there.
    pub fn covariate(mut self, name: &str, values: Vec<f64>) -> Result<Self, SurvivalError> {
        same_length(name, values.len(), self.rows())?;
        if let Some(i) = values.iter().position(|v| !v.is_finite()) {
            let covariate = name.to_owned();
            let value = values[i];
            return Err(SurvivalError::Value { covariate, row: i + 1, value });
        }
        if self.covariates.iter().any(|c| c.name == name) {
            return Err(SurvivalError::Duplicate(name.to_owned()));
        }
        self.covariates.push(Covariate { name: name.to_owned(), values });
        Ok(self)
    }

    /// These rows alone, such as the training part of a split.
    ///
    /// # Errors
    /// [`SurvivalError::Empty`] without rows.
    pub fn select(&self, rows: &[usize]) -> Result<Self, SurvivalError> {
        if rows.is_empty() {
            return Err(SurvivalError::Empty);
        }
        let of = |values: &[f64]| rows.iter().map(|&i| values[i]).collect::<Vec<f64>>();
        Ok(Self {
            durations: of(&self.durations),
            observed: rows.iter().map(|&i| self.observed[i]).collect(),
            entries: of(&self.entries),
            weights: of(&self.weights),
            strata: rows.iter().map(|&i| self.strata[i]).collect(),
            covariates: self
                .covariates
                .iter()
                .map(|c| Covariate { name: c.name.clone(), values: of(&c.values) })
                .collect(),
        })
    }

    /// How many rows there are.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.durations.len()
    }

    /// How many rows ended with the event.
    #[must_use]
    pub fn events(&self) -> usize {
        self.observed.iter().filter(|&&e| e).count()
    }

    /// How many rows there are when each counts as often as its weight says.
    #[must_use]
    pub fn total_weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// How many rows ended with the event when each counts as often as its weight says.
    #[must_use]
    pub fn event_weight(&self) -> f64 {
        self.weights.iter().zip(&self.observed).filter(|(_, e)| **e).map(|(w, _)| w).sum()
    }

    /// Whether some row counts more or less than once.
    #[must_use]
    pub fn is_weighted(&self) -> bool {
        self.weights.iter().any(|&w| w != 1.0)
    }

    /// How long each row was observed.
    #[must_use]
    pub fn durations(&self) -> &[f64] {
        &self.durations
    }

    /// Whether each row ended with the event.
    #[must_use]
    pub fn observed(&self) -> &[bool] {
        &self.observed
    }

    /// When each row came under observation.
    #[must_use]
    pub fn entries(&self) -> &[f64] {
        &self.entries
    }

    /// How many equal rows each row stands for.
    #[must_use]
    pub fn row_weights(&self) -> &[f64] {
        &self.weights
    }

    /// The stratum of each row; all the same where none were set.
    #[must_use]
    pub fn strata(&self) -> &[usize] {
        &self.strata
    }

    /// The columns, in the order in which they were added.
    #[must_use]
    pub fn covariates(&self) -> &[Covariate] {
        &self.covariates
    }

    /// The covariates of one row, in the order of [`Lifetimes::covariates`].
    #[must_use]
    pub fn row(&self, index: usize) -> Vec<f64> {
        self.covariates.iter().map(|c| c.values[index]).collect()
    }

    /// The median duration among events: the default time of a calibration.
    ///
    /// # Errors
    /// [`SurvivalError::NoEvents`].
    pub fn median_event_time(&self) -> Result<f64, SurvivalError> {
        let mut times = Vec::new();
        for (i, &time) in self.durations.iter().enumerate() {
            if self.observed[i] {
                times.push((time, self.weights[i]));
            }
        }
        weighted_quantiles(times, [0.5]).map(|[median]| median).ok_or(SurvivalError::NoEvents)
    }

    /// The columns of these names, in their order.
    pub(crate) fn columns(&self, names: &[String]) -> Result<Vec<&[f64]>, SurvivalError> {
        names
            .iter()
            .map(|name| {
                let found = self.covariates.iter().find(|c| c.name == *name);
                found.map(|c| c.values.as_slice()).ok_or_else(|| SurvivalError::Unknown {
                    name: name.clone(),
                    known: self.covariates.iter().map(|c| c.name.clone()).collect(),
                })
            })
            .collect()
    }

    pub(crate) fn event_times(&self) -> impl Iterator<Item = f64> {
        self.durations.iter().zip(&self.observed).filter(|(_, e)| **e).map(|(t, _)| *t)
    }

    /// The different strata, ascending.
    pub(crate) fn strata_levels(&self) -> Vec<usize> {
        let mut levels = self.strata.clone();
        levels.sort_unstable();
        levels.dedup();
        levels
    }

    pub(crate) fn enters_late(&self) -> bool {
        self.entries.iter().any(|&e| e > 0.0)
    }

    /// The rows from the longest to the shortest duration, stratum by stratum, the last one first:
    /// in reverse both ascend.
    pub(crate) fn longest_first(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.rows()).collect();
        order.sort_by(|&a, &b| {
            let by_time = self.durations[b].total_cmp(&self.durations[a]);
            self.strata[b].cmp(&self.strata[a]).then(by_time)
        });
        order
    }
}

/// Quantiles of values with weights, as if each value stood there as often as its weight says: with
/// equal weights R's type 7, linear between order statistics. `None` without values.
pub(crate) fn weighted_quantiles<const N: usize>(
    mut values: Vec<(f64, f64)>,
    shares: [f64; N],
) -> Option<[f64; N]> {
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut until = Vec::with_capacity(values.len());
    let mut total = 0.0;
    for (_, weight) in &values {
        total += weight;
        until.push(total);
    }
    let last = values.len().checked_sub(1)?;
    let mut out = [0.0; N];
    for (quantile, share) in out.iter_mut().zip(shares) {
        let position = share * (total - 1.0).max(0.0);
        let below = position.floor();
        let at = |rank: f64| values[until.partition_point(|&sum| sum <= rank).min(last)].0;
        *quantile = at(below) + (at(below + 1.0) - at(below)) * (position - below);
    }
    Some(out)
}

fn same_length(column: &str, found: usize, rows: usize) -> Result<(), SurvivalError> {
    if found == rows {
        return Ok(());
    }
    Err(SurvivalError::Length { column: column.to_owned(), found, rows })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::quantile;

    #[test]
    fn quantiles_of_weights_are_those_of_copies() {
        let values = vec![(3.0, 2.0), (1.0, 1.0), (7.0, 3.0), (4.0, 1.0)];
        let copies = [1.0, 3.0, 3.0, 4.0, 7.0, 7.0, 7.0];
        for share in [0.0, 0.1, 0.37, 0.5, 0.9, 1.0] {
            let [got] = weighted_quantiles(values.clone(), [share]).unwrap();
            assert!((got - quantile(&copies, share)).abs() < 1e-12, "{share} {got}");
        }
        assert_eq!(weighted_quantiles(Vec::new(), [0.5]), None);
    }
}
