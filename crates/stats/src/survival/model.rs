use super::calibration::{Calibration, Smoothing, calibration};
use super::coefficient::Coefficient;
use super::concordance::{concordance, uno_concordance};
use super::cox::{Cox, cox};
use super::data::Lifetimes;
use super::error::SurvivalError;
use super::families::FAMILIES;
use super::family::Family;
use super::parametric::{Fit, Options, fit};
use super::partial::Ties;
use crate::estimate::Level;

const COX: &str = "cox";

/// A model that can be asked for by name: a parametric one, or Cox's. For whoever compares models
/// and must treat all alike.
#[derive(Clone, Copy)]
pub enum Model {
    /// One of [`FAMILIES`], or the caller's own.
    Parametric(&'static dyn Family),
    /// Cox's, with its treatment of ties.
    Cox(Ties),
}

impl Model {
    /// Every model, from the simplest to the most flexible, Cox's last.
    #[must_use]
    pub fn all(ties: Ties) -> Vec<Self> {
        FAMILIES.iter().map(|f| Self::Parametric(*f)).chain([Self::Cox(ties)]).collect()
    }

    /// The model of this name.
    ///
    /// # Errors
    /// [`SurvivalError::Unknown`] with the names there are.
    pub fn named(name: &str, ties: Ties) -> Result<Self, SurvivalError> {
        let all = Self::all(ties);
        all.iter().copied().find(|model| model.name() == name).ok_or_else(|| {
            SurvivalError::Unknown {
                name: name.to_owned(),
                known: all.iter().map(|model| model.name().to_owned()).collect(),
            }
        })
    }

    /// The name to ask for it by.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Parametric(family) => family.name(),
            Self::Cox(_) => COX,
        }
    }

    /// Fits it.
    ///
    /// # Errors
    /// As [`fit`] and [`cox`]; Cox's model has no ancillary parameters.
    pub fn fit(&self, data: &Lifetimes, options: &Options) -> Result<Fitted, SurvivalError> {
        match self {
            Self::Parametric(family) => Ok(Fitted::Parametric(fit(*family, data, options)?)),
            Self::Cox(ties) => match options.ancillary.keys().next() {
                Some(name) => Err(SurvivalError::NoParameter { model: COX, name: name.clone() }),
                None => Ok(Fitted::Cox(Box::new(cox(data, *ties, options.penalty)?))),
            },
        }
    }
}

/// By when chances are compared with the data, and how.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Horizon {
    /// The time.
    pub time: f64,
    /// How what was observed is smoothed.
    pub smoothing: Smoothing,
}

/// A fit of any [`Model`].
#[derive(Clone)]
pub enum Fitted {
    /// Of a parametric one.
    Parametric(Fit),
    /// Of Cox's.
    Cox(Box<Cox>),
}

/// How well a fit tells rows apart and how far its chances are off, on rows of its own or others.
/// Each may be impossible where the other is not: a few rows have no pair, or no spline.
#[derive(Debug, Clone)]
pub struct Assessment {
    /// Harrell's concordance.
    pub concordance: Result<f64, SurvivalError>,
    /// Uno's concordance, which does not depend on when rows were censored.
    pub uno: Result<f64, SurvivalError>,
    /// The calibration at the time asked for.
    pub calibration: Result<Calibration, SurvivalError>,
    /// The calibration by lifelines' definition.
    pub lifelines: Result<Calibration, SurvivalError>,
}

impl Fitted {
    /// The name of the model.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Parametric(fit) => fit.family().name(),
            Self::Cox(_) => COX,
        }
    }

    /// The table.
    #[must_use]
    pub fn coefficients(&self, level: Level) -> Vec<Coefficient> {
        match self {
            Self::Parametric(fit) => fit.coefficients(level),
            Self::Cox(cox) => cox.coefficients(level),
        }
    }

    /// The log-likelihood; of Cox's model the partial one, which is comparable with no other.
    #[must_use]
    pub fn log_likelihood(&self) -> f64 {
        match self {
            Self::Parametric(fit) => fit.log_likelihood(),
            Self::Cox(cox) => cox.log_likelihood(),
        }
    }

    /// Akaike's criterion, of the same likelihood.
    #[must_use]
    pub fn aic(&self) -> f64 {
        match self {
            Self::Parametric(fit) => fit.aic(),
            Self::Cox(cox) => cox.aic(),
        }
    }

    /// The Bayesian criterion, of the same likelihood.
    #[must_use]
    pub fn bic(&self) -> f64 {
        match self {
            Self::Parametric(fit) => fit.bic(),
            Self::Cox(cox) => cox.bic(),
        }
    }

    /// What concordance ranks rows by: larger for rows that should last longer.
    ///
    /// # Errors
    /// A covariate of the fit that the data do not have.
    pub fn scores(&self, data: &Lifetimes) -> Result<Vec<f64>, SurvivalError> {
        match self {
            Self::Parametric(fit) => fit.medians(data),
            Self::Cox(cox) => cox.scores(data),
        }
    }

    /// The chance that each row has its event by `time`.
    ///
    /// # Errors
    /// A covariate of the fit that the data do not have, or a time that is not above 0.
    pub fn event_chances(&self, data: &Lifetimes, time: f64) -> Result<Vec<f64>, SurvivalError> {
        match self {
            Self::Parametric(fit) => fit.event_chances(data, time),
            Self::Cox(cox) => cox.event_chances(data, time),
        }
    }

    /// Cox-Snell residuals, for a QQ plot.
    ///
    /// # Errors
    /// A covariate of the fit that the data do not have.
    pub fn residuals(&self, data: &Lifetimes) -> Result<Lifetimes, SurvivalError> {
        match self {
            Self::Parametric(fit) => fit.residuals(data),
            Self::Cox(cox) => cox.residuals(data),
        }
    }

    /// The survival curve of all rows together: the mean of their own, to stand beside
    /// Kaplan-Meier.
    ///
    /// # Errors
    /// As [`Fitted::event_chances`].
    pub fn mean_survival(
        &self,
        data: &Lifetimes,
        times: &[f64],
    ) -> Result<Vec<f64>, SurvivalError> {
        let weights = data.row_weights();
        let total: f64 = weights.iter().sum();
        times
            .iter()
            .map(|&time| {
                let chances = self.event_chances(data, time)?;
                let events: f64 = chances.iter().zip(weights).map(|(p, w)| p * w).sum();
                Ok(1.0 - events / total)
            })
            .collect()
    }

    /// How well it does on these rows, with its chances looked at by a horizon.
    #[must_use]
    pub fn assess(&self, data: &Lifetimes, horizon: Horizon) -> Assessment {
        let Horizon { time, smoothing } = horizon;
        let chances = self.event_chances(data, time);
        let scores = self.scores(data);
        let with = |smoothing: Smoothing| {
            chances.clone().and_then(|chances| calibration(data, &chances, time, smoothing))
        };
        let asked = with(smoothing);
        let lifelines = match smoothing {
            Smoothing::Spline => asked.clone(),
            _ => with(Smoothing::Spline),
        };
        Assessment {
            concordance: scores.clone().and_then(|scores| concordance(data, &scores)),
            uno: scores.and_then(|scores| uno_concordance(data, &scores, f64::INFINITY)),
            calibration: asked,
            lifelines,
        }
    }

    /// The same fit with robust standard errors; `data` are its rows, `clusters` says which of them
    /// belong together. See [`Fit::robust`] and [`Cox::clustered`].
    ///
    /// # Errors
    /// As there.
    pub fn robust(&self, data: &Lifetimes, clusters: &[usize]) -> Result<Self, SurvivalError> {
        match self {
            Self::Parametric(fit) => Ok(Self::Parametric(fit.robust(data, clusters)?)),
            Self::Cox(cox) => Ok(Self::Cox(Box::new(cox.clustered(clusters)?))),
        }
    }
}
