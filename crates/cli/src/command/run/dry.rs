//! The calls to services that a run would make, before any is made.

use crate::exit;
use faultlens::campaign::OpenCampaign;
use faultlens::spec::Campaign;
use serde_json::json;
use std::path::Path;

use crate::console::Console;

/// Shows calls and cost; calls nothing.
pub(super) fn show(
    campaign: Campaign,
    dir: &Path,
    as_json: bool,
    console: &mut Console,
) -> anyhow::Result<u8> {
    let setup = OpenCampaign::open(campaign)?;
    setup.check_judge()?;
    let cost_estimate = setup.cost_estimate(dir);
    let calls: u64 = cost_estimate.iter().map(|service| service.calls).sum();
    let money: f64 = cost_estimate.iter().map(|service| service.money).sum();
    if as_json {
        console.json(&json!({
            "trials": setup.plan.total(),
            "calls": calls,
            "money": money,
            "services": cost_estimate,
        }))?;
        return Ok(exit::OK);
    }
    console.line(format_args!("{} trials", setup.plan.total()))?;
    for service in &cost_estimate {
        console.line(service)?;
    }
    match cost_estimate.len() {
        0 => console.line("no target is a service: no calls, no cost")?,
        _ => console.line(format_args!(
            "in all up to {calls} calls and {money:.2}; answers on file are not asked for again, \
             repeats of throttled calls come on top"
        ))?,
    }
    Ok(exit::OK)
}
