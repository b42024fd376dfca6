use super::curve::{Curve, kaplan_meier};
use super::data::Lifetimes;
use super::error::SurvivalError;
use crate::estimate::Level;

/// G(t), the chance not to be censored by a time: Kaplan and Meier's curve with censoring as the
/// event. What makes up for rows whose end was not seen.
pub(crate) struct Censoring {
    curve: Curve,
}

impl Censoring {
    /// # Errors
    /// Late entries: who would have been missed had they ended earlier cannot be weighed back in.
    pub(crate) fn new(data: &Lifetimes) -> Result<Self, SurvivalError> {
        if data.enters_late() {
            return Err(SurvivalError::LateEntries);
        }
        // An event at the time of a censoring came first, so it is not at risk of being censored
        // then. Half the gap to the next time keeps the order of everything else.
        let mut times = data.durations().to_vec();
        times.sort_by(f64::total_cmp);
        times.dedup();
        let mut durations = Vec::with_capacity(data.rows());
        for (&time, &event) in data.durations().iter().zip(data.observed()) {
            let place = times.partition_point(|&t| t < time);
            durations.push(if event { place as f64 } else { place as f64 + 0.5 });
        }
        let censored = data.observed().iter().map(|event| !event).collect();
        let ranks = Lifetimes::new(durations, censored)?.weights(data.row_weights().to_vec())?;
        let mut curve = kaplan_meier(&ranks, Level::default());
        for step in &mut curve.steps {
            step.time = times[step.time as usize];
        }
        Ok(Self { curve })
    }

    /// G(t−): the share that is not censored before `time`.
    pub(crate) fn free_before(&self, time: f64) -> f64 {
        let after = self.curve.steps.partition_point(|step| step.time < time);
        match after {
            0 => 1.0,
            after => self.curve.steps[after - 1].estimate.value.unwrap_or(0.0),
        }
    }

    /// G(t): the share that is not censored by `time`.
    pub(crate) fn free_at(&self, time: f64) -> f64 {
        self.curve.at(time).value.unwrap_or(0.0)
    }
}
