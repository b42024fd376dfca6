//! What a builder of models asks: whether depth, defences and more training help.

use std::collections::{BTreeMap, BTreeSet};

use faultlens_stats::survival::{Fit, SurvivalError};
use serde::Serialize;

use super::choose::{lifetimes, refit};
use super::clock::Attacked;
use super::covariates::{ACCURACY, Design, EPOCHS, FOLLOWING, Kind, LAYERS, PREDICTION, TRAINING};
use super::durations::{Analysed, Fitted};
use super::effects::{Effect, adjust, effects};
use super::measured::Measured;
use super::{AnalysisError, level};

/// Answers in processor seconds, by the chosen model.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Questions {
    /// Whether depth helps beyond the time that it takes to answer.
    pub depth: Option<Depth>,
    /// What each defence does against the control, over all its strengths and with all that
    /// follows from it; adjusted for as many looks as there are defences.
    pub defences: Vec<Effect>,
    /// What one more epoch buys.
    pub epoch: Option<NextUnit>,
    /// What one more layer buys.
    pub layer: Option<NextUnit>,
    /// Why an answer is missing, each in a sentence without a full stop.
    pub missing: Vec<String>,
}

/// The effect of layers, before and after the time of a plain answer is known. Neither fit knows what
/// else follows from depth: accuracy and the time of training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Depth {
    /// In a fit that does not know the time of a plain answer.
    pub without: Effect,
    /// In a fit that does; `None` where that time follows from the layers.
    pub with: Option<Effect>,
    /// What the time of a plain answer does there.
    pub prediction: Option<Effect>,
}

/// One more unit of training.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NextUnit {
    /// By which factor the expected seconds until an answer changes grow, with its interval.
    pub ratio: [f64; 3],
    /// How many seconds that is for the configuration in the middle.
    pub gain: Measured,
    /// The seconds of training for each sample that it costs.
    pub cost: f64,
}

/// Asks the model that the seconds have chosen.
pub(super) fn questions(
    of: &Attacked<'_>,
    seconds: &Analysed<'_>,
) -> Result<Questions, AnalysisError> {
    let mut out = Questions::default();
    let Some(fitted) = &seconds.fitted else { return Ok(out) };
    match depth(of, fitted) {
        Ok(depth) => out.depth = Some(depth),
        Err(why) => out.missing.push(format!("whether depth helps is not known: {why}")),
    }
    match again(of, fitted, &FOLLOWING) {
        Ok(again) => chosen(&mut out, of, fitted, &again),
        Err(why) => out.missing.push(format!("what a builder's choices do is not known: {why}")),
    }
    Ok(out)
}

/// A fit without some covariates, and what it says of the others.
struct Again {
    fit: Fit,
    design: Design,
    effects: Vec<Effect>,
}

/// The same family on the same rows, without some covariates.
fn again(of: &Attacked<'_>, fitted: &Fitted<'_>, without: &[&str]) -> Result<Again, String> {
    let design = Design::new(of.configurations, &fitted.rows, without);
    let text = |why: SurvivalError| why.to_string();
    let data = lifetimes(&fitted.rows, fitted.clock, &design).map_err(text)?;
    let refit = refit(fitted.fit.family(), &data, &fitted.clusters).map_err(text)?;
    let effects = effects(&refit, &design, &fitted.clusters, &fitted.rows);
    Ok(Again { fit: refit.fit, design, effects })
}

fn depth(of: &Attacked<'_>, fitted: &Fitted<'_>) -> Result<Depth, String> {
    let find = |effects: &[Effect], name: &str| {
        effects.iter().find(|effect| effect.covariate.name == name).cloned()
    };
    let alone = again(of, fitted, &[ACCURACY, TRAINING, PREDICTION])?;
    let without = find(&alone.effects, LAYERS).ok_or_else(|| {
        let left = alone.design.left_out.iter().find(|one| one.name == LAYERS);
        left.map_or("it is not in the model".to_owned(), |one| one.why.clone())
    })?;
    let both = again(of, fitted, &[ACCURACY, TRAINING])?;
    let prediction = find(&both.effects, PREDICTION);
    let with = find(&both.effects, LAYERS).filter(|_| prediction.is_some());
    Ok(Depth { without, with, prediction })
}

/// Fills in what follows from a builder's choices alone.
fn chosen(out: &mut Questions, of: &Attacked<'_>, fitted: &Fitted<'_>, again: &Again) {
    let all = &again.effects;
    let (defences, withheld): (Vec<&Effect>, Vec<&Effect>) = all
        .iter()
        .filter(|effect| effect.covariate.kind == Kind::Defence)
        .partition(|effect| effect.withheld.is_none());
    out.defences = defences.into_iter().cloned().collect();
    out.defences.iter_mut().for_each(|effect| effect.adjusted_p = effect.p);
    adjust(&mut out.defences);
    for name in [EPOCHS, LAYERS] {
        if let Some(why) = withheld_of(all, name) {
            let name = name.trim_end_matches('s');
            out.missing.push(format!("what one more {name} buys is not stated: {why}"));
        }
    }
    for effect in withheld {
        let why = effect.withheld.as_deref().unwrap_or_default();
        let name = &effect.covariate.name;
        out.missing.push(format!("nothing is stated about {name}: {why}"));
    }
    let Some(middle) = middle(fitted, &again.fit, &again.design, all) else {
        out.missing.push("what training buys is not known: the model has no finite mean".into());
        return;
    };
    let models = models(of, fitted);
    let mut epochs = Vec::new();
    for model in models.iter().filter(|model| model.epochs > 0.0) {
        epochs.push(model.seconds / model.epochs);
    }
    let unit = |name: &str, cost: Option<f64>| {
        let found = all.iter().find(|effect| effect.covariate.name == name);
        let effect = found.filter(|effect| effect.withheld.is_none())?;
        Some(next(effect, middle, fitted.rows.len() as u64, cost?))
    };
    out.epoch = unit(EPOCHS, mean(&epochs));
    out.layer = unit(LAYERS, slope(&models));
}

/// Why nothing is stated about a covariate that is in the model.
fn withheld_of<'a>(effects: &'a [Effect], name: &str) -> Option<&'a str> {
    effects.iter().find(|effect| effect.covariate.name == name)?.withheld.as_deref()
}

/// One step of a number in its own unit. What the configuration in the middle is expected to last
/// is taken as known: its error is small beside that of the effect.
fn next(effect: &Effect, middle: f64, rows: u64, cost: f64) -> NextUnit {
    let step = effect.covariate.step;
    let ratio = [effect.estimate, effect.low, effect.high].map(|b| (b / step).exp());
    let [value, low, high] = ratio.map(|ratio| middle * (ratio - 1.0));
    let gain = Measured { value: Some(value), low, high: Some(high), n: rows };
    NextUnit { ratio, gain, cost }
}

/// The expected seconds of the configuration in the middle; `None` where the distribution has no
/// mean.
fn middle(fitted: &Fitted<'_>, fit: &Fit, design: &Design, effects: &[Effect]) -> Option<f64> {
    let base = fit.predict(&vec![0.0; design.covariates.len()], level()).ok()?.mean();
    let base = base.value.filter(|value| value.is_finite())?;
    let configurations: BTreeSet<u32> = fitted.rows.iter().map(|row| row.configuration).collect();
    // Covariates move the location alone, so that means differ by a factor.
    let mut shifts = Vec::new();
    for configuration in configurations {
        let row = design.row(configuration as usize);
        shifts.push(row.iter().zip(effects).map(|(x, effect)| x * effect.estimate).sum::<f64>());
    }
    shifts.sort_by(f64::total_cmp);
    shifts.get(shifts.len() / 2).map(|shift| base * shift.exp())
}

/// A trained model: what it took.
struct Trained {
    epochs: f64,
    layers: f64,
    seconds: f64,
}

/// Each trained model of the rows once.
fn models(of: &Attacked<'_>, fitted: &Fitted<'_>) -> Vec<Trained> {
    let mut seen = BTreeMap::new();
    for row in &fitted.rows {
        let c = &of.configurations[row.configuration as usize];
        seen.entry(of.models[row.configuration as usize]).or_insert(Trained {
            epochs: f64::from(c.epochs),
            layers: f64::from(c.layers),
            seconds: c.training_seconds,
        });
    }
    seen.into_values().filter(|model| model.seconds > 0.0).collect()
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// How many more seconds of training a layer takes, for as many epochs as models have on average:
/// the least squares line of the seconds of an epoch over layers.
fn slope(models: &[Trained]) -> Option<f64> {
    let trained: Vec<&Trained> = models.iter().filter(|m| m.epochs > 0.0).collect();
    let layers: Vec<f64> = trained.iter().map(|m| m.layers).collect();
    let each: Vec<f64> = trained.iter().map(|m| m.seconds / m.epochs).collect();
    let epochs: Vec<f64> = trained.iter().map(|m| m.epochs).collect();
    let x = mean(&layers)?;
    let y = mean(&each)?;
    let spread: f64 = layers.iter().map(|l| (l - x) * (l - x)).sum();
    let shared: f64 = layers.iter().zip(&each).map(|(l, e)| (l - x) * (e - y)).sum();
    (spread > 0.0).then_some(shared / spread * mean(&epochs)?)
}
