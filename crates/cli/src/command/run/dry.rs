//! What a run would ask of services, before anything is asked.

use crate::exit;
use faultlens::campaign::OpenCampaign;
use faultlens::spec::Campaign;
use serde_json::json;
use std::path::Path;

use crate::console::Console;

/// Tells calls and cost; asks nothing.
pub(super) fn tell(
    campaign: Campaign,
    dir: &Path,
    as_json: bool,
    console: &mut Console,
) -> anyhow::Result<u8> {
    let setup = OpenCampaign::open(campaign)?;
    setup.check_judge()?;
    let cost_estimate = setup.cost_estimate(dir);
    let (calls, money) = cost_estimate
        .iter()
        .fold((0, 0.0), |(calls, money), bill| (calls + bill.calls, money + bill.money));
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
    for bill in &cost_estimate {
        console.line(bill)?;
    }
    match cost_estimate.len() {
        0 => console.line("no target is a service: nothing to pay")?,
        _ => console.line(format_args!(
            "in all up to {calls} calls and {money:.2}; answers on file are not asked for again, \
             repeats of throttled calls come on top"
        ))?,
    }
    Ok(exit::OK)
}
