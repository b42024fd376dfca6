//! What a campaign will cost in calls and money, estimated before any service is asked.

use crate::open::OpenCampaign;
use crate::trial::disturb;
use faultlens_record::store::{Store, StoreError};
use faultlens_targets::ServiceTarget;
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
        if self.targets.iter().all(|target| target.service().is_none()) {
            return Vec::new();
        }
        let recorded = recorded(self, dir);
        let mut estimates = Vec::new();
        for (at, (spec, target)) in self.campaign.targets.iter().zip(&self.targets).enumerate() {
            if let Some(service) = target.service() {
                estimates.push(self.estimate(at, &spec.name, service, recorded[at]));
            }
        }
        estimates
    }

    fn estimate(
        &self,
        at: usize,
        name: &str,
        service: &ServiceTarget,
        recorded: u64,
    ) -> CostEstimate {
        // Trials and queries of one case.
        let mut trials = 0;
        let mut queries: u64 = 0;
        for (number, fault) in self.campaign.faults.iter().enumerate() {
            let of_fault = self.plan.trials(at, number);
            trials += of_fault;
            let most = disturb(fault).facts().max_queries.saturating_mul(of_fault);
            queries = queries.saturating_add(most);
        }
        let all = trials.saturating_mul(u64::from(self.plan.cases()));
        let left = all.saturating_sub(recorded);
        // Where scenes change, the undisturbed case is asked about twice.
        let times = if self.context.needs_stable_golden { 2 } else { 1 };
        let goldens = left.div_ceil(trials.max(1)).saturating_mul(times);
        let limits = &service.spec().limits;
        let control = if left > 0 { limits.control as u64 } else { 0 };
        let cases_left = left as f64 / trials.max(1) as f64;
        let queries = (queries as f64 * cases_left).round() as u64;
        let calls = queries.saturating_add(goldens).saturating_add(control);
        let spent = service.call_stats().campaign;
        let price = service.price().unwrap_or(0.0);
        CostEstimate {
            target: name.to_owned(),
            calls,
            price,
            money: calls as f64 * price,
            most_calls: limits.calls.map(|most| most.saturating_sub(spent.calls)),
            most_money: limits.money.map(|most| (most - spent.money).max(0.0)),
        }
    }
}

/// By target, trials that are on record already.
fn recorded(open: &OpenCampaign, dir: &Path) -> Vec<u64> {
    let mut counts = vec![0; open.targets.len()];
    if let Ok(store) = Store::read(dir) {
        // What cannot be read is asked for again.
        let _ = store.for_each::<StoreError>(|record| {
            if let Some(count) = counts.get_mut(record.target as usize) {
                *count += 1;
            }
            Ok(())
        });
    }
    counts
}
