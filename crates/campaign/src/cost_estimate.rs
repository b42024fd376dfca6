//! What a campaign asks of services before anything is asked: calls and money.

use crate::setup::OpenCampaign;
use faultlens_record::store::Store;
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// What one service is asked for, at most: answers that are on file are not asked for again.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostEstimate {
    /// The target's name in the campaign.
    pub target: String,
    /// Calls without repeats: undisturbed cases, trials and control questions.
    pub calls: u64,
    /// What a call costs, by the campaign or the list of prices.
    pub price: f64,
    /// What all calls cost.
    pub money: f64,
    /// The most calls that the campaign still allows.
    pub most_calls: Option<u64>,
    /// The most money that the campaign still allows.
    pub most_money: Option<f64>,
}

impl CostEstimate {
    /// Whether the budgets allow all calls.
    pub fn is_covered(&self) -> bool {
        self.most_calls.is_none_or(|most| self.calls <= most)
            && self.most_money.is_none_or(|most| self.money <= most)
    }
}

impl fmt::Display for CostEstimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "target {}: up to {} calls", self.target, self.calls)?;
        if self.price > 0.0 {
            write!(f, " at {}, {:.2} in all", self.price, self.money)?;
        }
        match (self.most_calls, self.most_money) {
            (None, None) => f.write_str("; no budget is set (limits.calls, limits.money)"),
            _ if self.is_covered() => f.write_str("; within the budget"),
            _ => f.write_str("; more than the budget, so that the run may stop before its end"),
        }
    }
}

impl OpenCampaign {
    /// By service, what is left to ask for; `dir` is the run directory, where there is one.
    pub fn cost_estimate(&self, dir: &Path) -> Vec<CostEstimate> {
        if self.targets.iter().all(|subject| subject.service().is_none()) {
            return Vec::new();
        }
        let recorded = recorded(self, dir);
        let targets = self.campaign.targets.iter().zip(&self.targets).enumerate();
        let cost_estimate =
            |(at, (spec, subject)): (usize, (&faultlens_spec::TargetSpec, &crate::OpenTarget))| {
                let service = subject.service()?;
                let faults = 0..self.campaign.faults.len();
                let each: u64 = faults.clone().map(|fault| self.plan.trials(at, fault)).sum();
                let asked = |fault: usize| {
                    let questions = self.campaign.faults[fault].disturbance.most_questions();
                    questions.saturating_mul(self.plan.trials(at, fault))
                };
                let questions = faults.map(asked).fold(0, u64::saturating_add);
                let all = each.saturating_mul(u64::from(self.plan.cases()));
                let left = all.saturating_sub(recorded.get(at).copied().unwrap_or(0));
                // Who is to tell what a change in a scene does is asked twice without one.
                let times = if self.changes_scenes() { 2 } else { 1 };
                let goldens = left.div_ceil(each.max(1)).saturating_mul(times);
                let control = if left > 0 { service.spec().limits.control as u64 } else { 0 };
                let share = left as f64 / each.max(1) as f64;
                let trials = (questions as f64 * share).round() as u64;
                let calls = trials.saturating_add(goldens).saturating_add(control);
                let limits = &service.spec().limits;
                let spent = service.call_stats().campaign;
                let price = service.price().unwrap_or(0.0);
                Some(CostEstimate {
                    target: spec.name.clone(),
                    calls,
                    price,
                    money: calls as f64 * price,
                    most_calls: limits.calls.map(|most| most.saturating_sub(spent.calls)),
                    most_money: limits.money.map(|most| (most - spent.money).max(0.0)),
                })
            };
        targets.filter_map(cost_estimate).collect()
    }
}

/// By target, trials that are on record already.
fn recorded(setup: &OpenCampaign, dir: &Path) -> Vec<u64> {
    let mut counts = vec![0; setup.targets.len()];
    if let Ok(store) = Store::read(dir) {
        // What cannot be read is asked for again.
        let _ = store.for_each::<faultlens_record::store::StoreError>(|record| {
            if let Some(count) = counts.get_mut(record.target as usize) {
                *count += 1;
            }
            Ok(())
        });
    }
    counts
}
