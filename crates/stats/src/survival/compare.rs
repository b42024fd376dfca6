use super::data::Lifetimes;
use super::error::SurvivalError;
use super::model::{Assessment, Fitted, Horizon, Model};
use super::parametric::{Fit, Options};
use crate::estimate::Level;

/// One model of a comparison.
pub struct Compared {
    /// Which.
    pub model: Model,
    /// What it is worth, or why it has no fit.
    pub outcome: Result<Worth, SurvivalError>,
}

impl Compared {
    /// The line of the table: AIC, BIC, then concordance, ICI and E50, each on training and on
    /// test rows. `None` where there is none, as the criteria of Cox's partial likelihood, which
    /// stand beside no other's.
    #[must_use]
    pub fn measures(&self) -> [Option<f64>; 8] {
        let Ok(worth) = &self.outcome else { return [None; 8] };
        let (aic, bic) = match self.model {
            Model::Parametric(_) => (Some(worth.fit.aic()), Some(worth.fit.bic())),
            Model::Cox(_) => (None, None),
        };
        let [concordance, ici, e50] = measures_on(&worth.train);
        let [test_concordance, test_ici, test_e50] =
            worth.test.as_ref().map_or([None; 3], measures_on);
        [aic, bic, concordance, test_concordance, ici, test_ici, e50, test_e50]
    }
}

/// Concordance, ICI and E50.
fn measures_on(rows: &Assessment) -> [Option<f64>; 3] {
    let calibration = rows.calibration.as_ref().ok();
    [
        rows.concordance.as_ref().ok().copied(),
        calibration.map(|calibration| calibration.ici),
        calibration.map(|calibration| calibration.e50),
    ]
}

/// A fit with its worth on the rows it was made from and on rows it has not seen.
pub struct Worth {
    /// The fit, of the training rows.
    pub fit: Fitted,
    /// On the training rows.
    pub train: Assessment,
    /// On the others, if there are any.
    pub test: Option<Assessment>,
}

/// Fits each model to the training rows and assesses it there and on the test rows, with chances
/// looked at by a horizon: the table by which Meyers et al. (2023) choose a model.
#[must_use]
pub fn compare(
    models: &[Model],
    train: &Lifetimes,
    test: Option<&Lifetimes>,
    options: &Options,
    horizon: Horizon,
) -> Vec<Compared> {
    models
        .iter()
        .map(|model| Compared {
            model: *model,
            outcome: model.fit(train, options).map(|fit| Worth {
                train: fit.assess(train, horizon),
                test: test.map(|rows| fit.assess(rows, horizon)),
                fit,
            }),
        })
        .collect()
}

/// Which model to use, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Recommendation {
    /// Its place among those compared.
    pub index: usize,
    /// Why this one, in a sentence without a full stop.
    pub reason: String,
    /// What to mind all the same, each in a sentence without a full stop.
    pub cautions: Vec<String>,
}

/// Models whose criterion is so close are equally supported by the data (Burnham and Anderson 2002).
const EQUAL: f64 = 2.0;
/// A mean error of predicted chances beyond which they should not be quoted.
const OFF: f64 = 0.05;
/// A difference in concordance that is worth a remark.
const RANKS_BETTER: f64 = 0.02;

/// A model that takes part in the choice.
struct Candidate {
    index: usize,
    name: &'static str,
    aic: f64,
    coefficients: usize,
    ici: Option<f64>,
}

/// Recommends a model: the lowest AIC among parametric models; among those within 2 of it the one
/// with the fewest coefficients, then with the smallest ICI on test rows. Cox's model has another
/// likelihood, and is recommended only where no other has a fit. `None` where none has.
#[must_use]
pub fn recommend(compared: &[Compared]) -> Option<Recommendation> {
    recommend_parametric(compared, |_| true).or_else(|| only_cox(compared))
}

/// The same among parametric models with fits that will do, such as those with a finite mean.
#[must_use]
pub fn recommend_parametric(
    compared: &[Compared],
    will_do: impl Fn(&Fit) -> bool,
) -> Option<Recommendation> {
    let mut all: Vec<Candidate> = compared
        .iter()
        .enumerate()
        .filter_map(|(index, one)| {
            let worth = one.outcome.as_ref().ok()?;
            let Fitted::Parametric(fit) = &worth.fit else { return None };
            will_do(fit).then(|| candidate(index, worth))
        })
        .collect();
    all.sort_by(|a, b| a.aic.total_cmp(&b.aic));
    let lowest = all.first()?;
    let equal: Vec<&Candidate> = all.iter().filter(|c| c.aic <= lowest.aic + EQUAL).collect();
    let chosen = equal.iter().min_by(|a, b| {
        let a_ici = a.ici.unwrap_or(f64::INFINITY);
        let b_ici = b.ici.unwrap_or(f64::INFINITY);
        a.coefficients.cmp(&b.coefficients).then(a_ici.total_cmp(&b_ici))
    })?;
    let reason = reason(chosen, &equal, all.get(equal.len()));
    Some(Recommendation { index: chosen.index, reason, cautions: cautions(chosen, compared) })
}

fn candidate(index: usize, worth: &Worth) -> Candidate {
    let assessed = worth.test.as_ref().unwrap_or(&worth.train);
    Candidate {
        index,
        name: worth.fit.name(),
        aic: worth.fit.aic(),
        coefficients: worth.fit.coefficients(Level::default()).len(),
        ici: assessed.calibration.as_ref().ok().map(|c| c.ici),
    }
}

fn only_cox(compared: &[Compared]) -> Option<Recommendation> {
    let index = compared.iter().position(|one| one.outcome.is_ok())?;
    let reason = "it is the only one with a fit".to_owned();
    Some(Recommendation { index, reason, cautions: Vec::new() })
}

/// Why the chosen one among those that the criterion cannot tell apart; `next` is the best of the
/// others.
fn reason(chosen: &Candidate, equal: &[&Candidate], next: Option<&Candidate>) -> String {
    let others: Vec<&&Candidate> = equal.iter().filter(|c| c.index != chosen.index).collect();
    let names: Vec<&str> = others.iter().map(|c| c.name).collect();
    if names.is_empty() {
        return match next {
            Some(next) => {
                let gap = next.aic - chosen.aic;
                format!("lowest AIC, {gap:.1} below {}", next.name)
            }
            None => "it is the only parametric model with a fit".to_owned(),
        };
    }
    let fewest = others.iter().all(|c| c.coefficients > chosen.coefficients);
    let why = match chosen.ici {
        _ if fewest => "has the fewest coefficients".to_owned(),
        Some(ici) => format!("has the predicted chances that are least off (ICI {ici:.3})"),
        None => "comes first".to_owned(),
    };
    let names = names.join(", ");
    format!("its AIC is within {EQUAL} of that of {names}, and it {why}")
}

/// Concordance on test rows, or on training rows where there are no others.
fn concordance(one: &Compared) -> Option<f64> {
    let worth = one.outcome.as_ref().ok()?;
    worth.test.as_ref().unwrap_or(&worth.train).concordance.as_ref().ok().copied()
}

fn cautions(chosen: &Candidate, compared: &[Compared]) -> Vec<String> {
    let mut out = Vec::new();
    if let Some(ici) = chosen.ici.filter(|ici| *ici > OFF) {
        out.push(format!("its predicted chances are off by {ici:.2} on average"));
    }
    let own = concordance(&compared[chosen.index]);
    for other in compared {
        if let (Some(own), Some(theirs)) = (own, concordance(other))
            && theirs > own + RANKS_BETTER
        {
            let name = other.model.name();
            out.push(format!("{name} ranks rows better: concordance {theirs:.3} against {own:.3}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survival::calibration::Smoothing;
    use crate::survival::partial::Ties;

    fn at(time: f64) -> Horizon {
        Horizon { time, smoothing: Smoothing::Spline }
    }

    /// Quantiles of a distribution of durations at two levels of a covariate.
    fn quantiles(of: impl Fn(f64) -> f64) -> Lifetimes {
        let mut times = Vec::new();
        let mut level = Vec::new();
        for i in 0..400 {
            let group = f64::from(i % 2);
            times.push(of((f64::from(i) + 0.5) / 400.0) * (0.5 * group).exp());
            level.push(group);
        }
        Lifetimes::new(times, vec![true; 400]).unwrap().covariate("x", level).unwrap()
    }

    fn chosen(data: &Lifetimes) -> (String, String) {
        let all = Model::all(Ties::Efron);
        let horizon = at(data.median_event_time().unwrap());
        let compared = compare(&all, data, Some(data), &Options::default(), horizon);
        let got = recommend(&compared).unwrap();
        (all[got.index].name().to_owned(), got.reason)
    }

    #[test]
    fn the_model_that_made_the_data_is_recommended() {
        // A shape far from 1, so that the exponential is no rival.
        let (name, reason) = chosen(&quantiles(|p| (-(1.0 - p).ln()).powf(1.0 / 3.0)));
        assert_eq!(name, "weibull");
        assert!(reason.contains("gengamma") && reason.contains("fewest"), "{reason}");
        let (name, reason) = chosen(&quantiles(|p| (p / (1.0 - p)).powf(0.3)));
        assert_eq!(name, "loglogistic");
        assert!(reason.starts_with("lowest AIC, "), "{reason}");
        let (name, _) = chosen(&quantiles(|p| -(1.0 - p).ln()));
        assert_eq!(name, "exponential");
    }

    #[test]
    fn models_without_a_fit_are_named_and_left_out() {
        // A duration of 0 is nothing to a parametric model.
        let times = vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        let data = Lifetimes::new(times, vec![true; 6]).unwrap();
        let data = data.covariate("x", vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0]).unwrap();
        let all = Model::all(Ties::Efron);
        let compared = compare(&all, &data, None, &Options::default(), at(2.0));
        let fitted: Vec<&str> =
            compared.iter().filter(|c| c.outcome.is_ok()).map(|c| c.model.name()).collect();
        assert_eq!(fitted, ["cox"]);
        assert_eq!(recommend(&compared).unwrap().index, all.len() - 1);
        assert_eq!(recommend(&compared[..2]), None);
    }
}
