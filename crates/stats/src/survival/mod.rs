//! Survival models: how long until an attack succeeds or a model fails, when some rows ended
//! before it happened.
//!
//! From rows to a verdict:
//!
//! 1. [`Lifetimes`]: durations, whether the event was seen, covariates; weights, late entries and
//!    strata,
//! 2. [`kaplan_meier`], [`nelson_aalen`], [`log_rank`]: curves and their comparison without a
//!    model,
//! 3. [`fit()`]: a parametric model of [`FAMILIES`], or [`cox()`]: only the effect of covariates,
//! 4. [`Fit::coefficients`], [`Fit::aic`], [`concordance()`], [`uno_concordance`], [`calibration()`],
//!    [`brier_score`], [`qq_points`], [`Cox::proportionality`]: whether to trust it,
//! 5. [`Fit::predict`]: survival, hazard, quantiles and means of a row, with intervals;
//!    [`Fit::clustered`] and [`Cox::clustered`] where rows come in clusters,
//! 6. [`Model`], [`compare()`], [`recommend`]: which of several to use,
//! 7. [`cost_ratio`], [`failure_rate`]: what an attack costs beside training.
//!
//! ```
//! use faultlens_stats::Level;
//! use faultlens_stats::survival::{Lifetimes, Options, cost_ratio, family, fit};
//!
//! let seconds = vec![0.8, 2.0, 1.1, 0.3, 2.0, 0.9, 1.7, 0.5];
//! let succeeded = vec![true, false, true, true, false, true, true, true];
//! let attacks = Lifetimes::new(seconds, succeeded)?
//!     .covariate("layers", vec![18.0, 50.0, 34.0, 18.0, 34.0, 50.0, 50.0, 34.0])?;
//! let weibull = fit(family("weibull")?, &attacks, &Options::default())?;
//! let expected = weibull.predict(&[34.0], Level::default())?.mean();
//! let cost = cost_ratio(30.0, &expected)?;
//! assert!(cost.low > 1.0); // broken: attacking is cheaper than training
//! # Ok::<(), faultlens_stats::survival::SurvivalError>(())
//! ```
//!
//! A new parametric model is one file in `families` with two formulas ([`Distribution`]) and a
//! line in [`FAMILIES`]; derivatives are exact, since the formulas are evaluated on [`Jet`]s.

mod brier;
mod by_sample;
mod calibration;
mod calibration_interval;
mod censoring;
mod clustered;
mod coefficient;
mod compare;
mod concordance;
mod cost;
mod cox;
mod cox_predict;
mod cox_robust;
mod crossed;
mod curve;
mod data;
mod discrete;
mod error;
mod families;
mod family;
mod gamma;
mod gamma_tail;
mod hazard_cells;
mod hazard_spline;
mod jet;
mod likelihood;
mod log_rank;
mod matrix;
mod model;
mod newton;
mod parametric;
mod partial;
mod predict;
mod standard;

pub use brier::{brier_horizon, brier_score, integrated_brier_score};
pub use by_sample::{BySample, SampleRows, by_sample};
pub use calibration::{Calibration, Smoothing, calibration};
pub use calibration_interval::{CalibrationInterval, calibration_interval};
pub use coefficient::{Coefficient, INTERCEPT, adjusted_p};
pub use compare::{Compared, Recommendation, Worth, compare, recommend, recommend_parametric};
pub use concordance::{concordance, uno_concordance};
pub use cost::{cost_ratio, failure_rate};
pub use cox::{Cox, cox};
pub use cox_predict::Clock;
pub use crossed::{CrossedErrors, student_level, student_p};
pub use curve::{Curve, Step, kaplan_meier, nelson_aalen, qq_points, thinned};
pub use data::{Covariate, Lifetimes};
pub use discrete::{Discrete, Period, discrete};
pub use error::SurvivalError;
pub use families::{
    Exponential, FAMILIES, GeneralisedGamma, LogLogistic, LogNormal, Weibull, family,
};
pub use family::{Distribution, Family, MAX_PARAMETERS, Nested, Part};
pub use jet::Jet;
pub use log_rank::{TestResult, log_rank};
pub use model::{Assessment, Fitted, Horizon, Model};
pub use parametric::{Fit, Options, fit};
pub use partial::Ties;
pub use predict::Prediction;
