//! Tables of the page.

use faultlens_analysis::Rate;
use faultlens_analysis::format::{count, number, p_value};
use faultlens_sweep::analysis::{
    Cost, Durations, Effect, Findings, Group, Grouping, Measured, OfConfiguration, OfModel,
};

use super::ClockView;
use super::words::{measured, rate, ratio, standing};
use crate::escape::plain;
use crate::survival::{RowView, SurvivalRow, row};

/// Configurations at each end of the ranking.
const MOST: usize = 12;

/// The models on a clock beside each other; `None` where nothing was fitted.
pub(super) fn clock(of: &Durations) -> Option<ClockView> {
    if of.models.is_empty() {
        return None;
    }
    let about = match &of.split {
        Some(split) => format!(
            "Fitted on {} rows ({} changed), tested on {} others ({} changed).",
            count(split.train_rows),
            count(split.train_events),
            count(split.test_rows),
            count(split.test_events)
        ),
        None => format!("Fitted on all {} rows.", count(of.rows)),
    };
    let model = |one: &OfModel| RowView { chosen: one.chosen.then_some("used"), ..row(&line(one)) };
    Some(ClockView {
        heading: format!("In {}", of.clock.unit()),
        about,
        rows: of.models.iter().map(model).collect(),
    })
}

fn line(of: &OfModel) -> SurvivalRow {
    SurvivalRow {
        model: of.model.clone(),
        chosen: of.chosen,
        values: [
            of.aic,
            of.bic,
            of.concordance,
            of.test_concordance,
            of.ici,
            of.test_ici,
            of.e50,
            of.test_e50,
        ],
        error: of.error.clone(),
    }
}

/// A covariate of the chosen model.
pub(super) struct EffectRow {
    pub(super) name: String,
    pub(super) unit: String,
    /// Ratio, coefficient, standard error, p, adjusted p: shown, and sorted by.
    pub(super) cells: Vec<(String, String)>,
}

/// The covariates of the model on one clock.
pub(super) struct EffectTable {
    pub(super) heading: String,
    pub(super) rows: Vec<EffectRow>,
}

/// What the covariates do, on each clock.
pub(super) fn coefficients(of: &Findings) -> Vec<EffectTable> {
    let table = |of: &Durations| {
        let chosen = of.chosen.as_ref()?;
        Some(EffectTable {
            heading: format!("All coefficients of {}, in {}", chosen.model, of.clock.unit()),
            rows: effect_rows(&chosen.effects),
        })
    };
    [&of.seconds, &of.queries].into_iter().filter_map(table).collect()
}

fn effect_rows(effects: &[Effect]) -> Vec<EffectRow> {
    let one = |effect: &Effect| {
        let [value, low, high] = effect.ratio.map(|one| number(one, 3));
        let cell = |shown: String, sort: f64| (shown, sort.to_string());
        EffectRow {
            name: plain(&effect.covariate.name),
            unit: plain(&effect.covariate.unit),
            cells: vec![
                cell(format!("×{value} [{low}, {high}]"), effect.ratio[0]),
                cell(number(effect.estimate, 4), effect.estimate),
                cell(number(effect.se, 3), effect.se),
                cell(p_value(effect.p), effect.p),
                cell(p_value(effect.adjusted_p), effect.adjusted_p),
            ],
        }
    };
    effects.iter().map(one).collect()
}

/// Configurations and what they cost.
pub(super) struct CostTable {
    pub(super) heading: String,
    pub(super) rows: Vec<CostRow>,
}

/// One configuration.
pub(super) struct CostRow {
    pub(super) badge: (&'static str, &'static str, &'static str),
    pub(super) attack: String,
    pub(super) model: String,
    /// Answers changed, expected seconds, ratio, the same by the own samples.
    pub(super) cells: [(String, String); 4],
}

/// The configurations that cost least beside training and those that cost most; all of them where
/// they are few.
pub(super) fn costs(of: &Findings) -> Vec<CostTable> {
    let mut ranked: Vec<(&OfConfiguration, f64)> =
        of.configurations.iter().filter_map(|one| Some((one, ratio(one)?))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.index.cmp(&b.0.index)));
    let table = |heading: &str, rows: &[(&OfConfiguration, f64)]| CostTable {
        heading: heading.to_owned(),
        rows: rows.iter().filter_map(|(one, _)| cost_row(one)).collect(),
    };
    if ranked.is_empty() {
        return Vec::new();
    }
    if ranked.len() <= 2 * MOST {
        return vec![table("All configurations", &ranked)];
    }
    let last: Vec<(&OfConfiguration, f64)> = ranked.iter().rev().take(MOST).copied().collect();
    vec![table("Most broken", &ranked[..MOST]), table("Least broken", &last)]
}

fn cost_row(of: &OfConfiguration) -> Option<CostRow> {
    let costs = of.costs.as_ref()?;
    let used = costs.model.as_ref().or(costs.own.as_ref())?;
    let cell = |shown: String, sort: Option<f64>| {
        (shown, sort.map_or("Infinity".to_owned(), |value| value.to_string()))
    };
    let told = |cost: &Cost| match cost.beyond {
        true => format!("{} †", measured(&cost.ratio)),
        false => measured(&cost.ratio),
    };
    let own = costs.own.as_ref();
    Some(CostRow {
        badge: standing(used.standing),
        attack: plain(&of.attack_label),
        model: plain(&format!(
            "{} on {}, {} epochs, {}",
            of.architecture, of.data, of.epochs, of.defence_label
        )),
        cells: [
            cell(rate(&of.counts.changed), of.counts.changed.value),
            cell(measured(&used.seconds), used.seconds.value),
            cell(measured(&used.ratio), used.ratio.value),
            cell(own.map_or("–".to_owned(), told), own.and_then(|cost| cost.ratio.value)),
        ],
    })
}

/// Counts along an axis.
pub(super) struct GroupTable {
    pub(super) axis: &'static str,
    pub(super) rows: Vec<GroupRow>,
}

/// One level.
pub(super) struct GroupRow {
    pub(super) level: String,
    /// Configurations, samples, accuracies, changed, rejected, failure rates.
    pub(super) cells: Vec<(String, String)>,
}

/// Counts of each level.
pub(super) fn groups(of: &Findings) -> Vec<GroupTable> {
    let table = |grouping: &Grouping| GroupTable {
        axis: grouping.axis,
        rows: grouping.groups.iter().map(group_row).collect(),
    };
    of.groups.iter().map(table).collect()
}

fn group_row(of: &Group) -> GroupRow {
    let counts = &of.counts;
    let cell = |shown: String, sort: Option<f64>| {
        (shown, sort.map_or("Infinity".to_owned(), |value| value.to_string()))
    };
    let share = |of: &Rate| cell(rate(of), of.value);
    let failures = |of: &Option<Measured>| match of {
        None => cell("–".to_owned(), None),
        Some(found) => cell(measured(found), found.value),
    };
    GroupRow {
        level: plain(&of.level),
        cells: vec![
            cell(count(of.configurations), Some(of.configurations as f64)),
            cell(count(counts.rows), Some(counts.rows as f64)),
            share(&counts.benign),
            share(&counts.adversarial),
            share(&counts.changed),
            share(&counts.rejected),
            failures(&counts.benign_failures),
            failures(&counts.adversarial_failures),
        ],
    }
}
