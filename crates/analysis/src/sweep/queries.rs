//! Survival in queries, which are counted and not measured: a discrete hazard.

use std::collections::BTreeSet;

use faultlens_stats::survival::discrete;

use super::agreement::{Agreement, off_in_events};
use super::choose::{Clusters, lifetimes};
use super::clock::{Attacked, Clock};
use super::covariates::Design;
use super::durations::{Chosen, Durations, Scale, too_few};
use super::effects::stated;
use super::level;
use super::rows::Row;

/// More periods than this say no more about covariates.
const PERIODS: usize = 20;

/// What covariates do to the chance that the next query changes the answer.
pub(super) fn analyse(of: &Attacked<'_>) -> Durations {
    let (rows, unchanged) = of.with_events();
    let design = Design::new(of.configurations, &rows, &[]);
    let mut durations = Durations::new(Clock::Queries, &rows, unchanged, &design);
    match too_few(&rows, &design).map_or_else(|| fit(of, &rows, &design), Err) {
        Ok(chosen) => durations.chosen = Some(chosen),
        Err(why) => durations.missing = Some(why),
    }
    durations
}

fn fit(of: &Attacked<'_>, rows: &[&Row], design: &Design) -> Result<Chosen, String> {
    let data = lifetimes(rows, Clock::Queries, design).map_err(|why| why.to_string())?;
    let clusters = Clusters::new(of, rows);
    let plain = discrete(&data, PERIODS).map_err(|why| why.to_string())?;
    let mut alone = BTreeSet::new();
    let mut found = plain.clone();
    if clusters.by() != "row" {
        let crossed = plain.crossed(&data, clusters.columns()).map_err(|why| why.to_string())?;
        found = crossed.0;
        // Periods come first, then covariates.
        let single = crossed.1.single.iter().rev().take(design.covariates.len()).rev();
        let names = design.covariates.iter().map(|covariate| &covariate.name);
        for (name, _) in names.zip(single).filter(|(_, single)| **single) {
            alone.insert(name.clone());
        }
    }
    let expected = found.expected_events(&data).map_err(|why| why.to_string())?;
    let mut events = vec![[0.0; 2]; of.configurations.len()];
    for (row, expected) in rows.iter().zip(expected) {
        let own = &mut events[row.configuration as usize];
        own[0] += expected;
        own[1] += f64::from(row.changed);
    }
    let offs: Vec<_> = events.iter().map(|own| off_in_events(own[0], own[1])).collect();
    let lines = found.coefficients(level()).into_iter();
    Ok(Chosen {
        model: "discrete hazard".to_owned(),
        scale: Scale::Hazard,
        reason: format!(
            "queries are counted; complementary log-log over {} periods",
            found.periods().len()
        ),
        clustered_by: clusters.by(),
        trained: clusters.count[0] as u64,
        images: clusters.count[1] as u64,
        latest: data.durations().iter().copied().fold(0.0, f64::max),
        agreement: Agreement::of(&offs).map_err(|why| why.to_string())?,
        effects: stated(lines, design, &clusters, rows, &alone),
        shapes: Vec::new(),
    })
}
