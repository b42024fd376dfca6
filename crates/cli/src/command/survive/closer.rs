//! A closer look at the fit that is shown: what takes longer than a comparison of all models may.

use faultlens::Seed;
use faultlens::stats::Level;
use faultlens::stats::survival::{
    CalibrationInterval, Fitted, Lifetimes, SurvivalError, brier_horizon, brier_score,
    calibration_interval, integrated_brier_score, kaplan_meier, thinned,
};

use crate::args::{SmoothingName, SurviveArgs};

/// What is computed of the shown fit only, since it takes longer.
pub(super) struct Closer {
    /// The interval of the calibration, where it was asked for.
    pub(super) interval: Option<Result<CalibrationInterval, SurvivalError>>,
    pub(super) brier: Result<Brier, SurvivalError>,
}

/// Brier scores of a fit, and of a curve that knows no covariates.
pub(super) struct Brier {
    pub(super) at_time: f64,
    pub(super) null: f64,
    pub(super) integrated: f64,
    pub(super) horizon: f64,
}

/// Rows of which scores are integrated; more change no digit that is shown.
const SCORED: usize = 20_000;

impl Brier {
    fn new(fit: &Fitted, data: &Lifetimes, time: f64) -> Result<Self, SurvivalError> {
        let chances = fit.event_chances(data, time)?;
        let lasting = kaplan_meier(data, Level::default()).at(time).value.unwrap_or(1.0);
        let null = vec![1.0 - lasting; data.rows()];
        let some = data.select(&thinned(&(0..data.rows()).collect::<Vec<_>>(), SCORED))?;
        let horizon = brier_horizon(data);
        Ok(Self {
            at_time: brier_score(data, &chances, time)?,
            null: brier_score(data, &null, time)?,
            integrated: integrated_brier_score(&some, horizon, |time| {
                fit.event_chances(&some, time)
            })?,
            horizon,
        })
    }
}

impl Closer {
    /// Of a fit on some rows; `units` says which of them belong together.
    pub(super) fn new(
        args: &SurviveArgs,
        fit: &Fitted,
        data: &Lifetimes,
        units: &[usize],
        time: f64,
    ) -> Self {
        let mut stream = Seed::new(args.seed).child("calibration").stream();
        let flexible = args.resamples > 0 && args.smoothing == SmoothingName::Flexible;
        let interval = flexible.then(|| {
            let chances = fit.event_chances(data, time)?;
            let resamples = args.resamples;
            let level = Level::default();
            let draw = || stream.next_u64();
            calibration_interval(data, &chances, time, units, resamples, level, draw)
        });
        Self { interval, brier: Brier::new(fit, data, time) }
    }
}
