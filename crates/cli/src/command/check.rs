//! `faultlens check`: is what a run found good enough?

use std::path::Path;

use crate::exit;
use faultlens::analysis::{Verdict, summarise};
use faultlens::report::{json, junit, plain, prose};

use crate::args::CheckArgs;
use crate::command::write;
use crate::console::{Console, Tint};

/// Shows every verdict; the exit status is that of the worst.
pub(crate) fn run(args: &CheckArgs, console: &mut Console) -> anyhow::Result<u8> {
    let summary = summarise(&args.run, &[])?;
    let status = status(summary.checks.verdict);
    console.decide(status);
    if let Some(path) = &args.junit {
        write(path, junit(&summary))?;
    }
    if args.json {
        let object = json(&summary)?;
        console.json(&serde_json::json!({
            "verdict": object["verdict"],
            "complete": summary.progress.complete,
            "requirements": object["requirements"],
            "preserved": object["preserved"],
            "pinned": object["pinned"],
        }))?;
    } else {
        for checked in &summary.checks.requirements {
            let verdict = tinted(console, checked.verdict);
            let measured = prose::measured(checked);
            console.line(format_args!("{verdict}  {}: {measured}", plain(&checked.requirement)))?;
            console.line(format_args!(
                "{:14}{}",
                "",
                plain(&prose::requirement_reason(checked))
            ))?;
        }
        for one in &summary.checks.preserved {
            let verdict = tinted(console, one.verdict);
            let what = plain(&prose::preserved_name(one));
            let scores = prose::preserved_scores(one);
            console.line(format_args!("{verdict}  {what}: {scores}"))?;
            console.line(format_args!("{:14}{}", "", plain(&prose::preserved_reason(one))))?;
            for beside in [prose::tolerance_ends(one), prose::batch_rule(one)].into_iter().flatten()
            {
                console.line(format_args!("{:14}{beside}", ""))?;
            }
        }
        for pin in &summary.checks.pinned {
            let verdict = tinted(console, pin.verdict);
            console.line(format_args!(
                "{verdict}  pinned {}: {}",
                plain(&pin.name),
                pin.outcome
            ))?;
            console.line(format_args!("{:14}{}", "", plain(&prose::pin_reason(pin))))?;
        }
    }
    for warning in prose::warnings(&summary) {
        console.note(format_args!("note: {}", plain(&warning)))?;
    }
    if !summary.progress.complete {
        console.note("note: the run is not complete; verdicts are about the trials so far")?;
    }
    if summary.checks.verdict.is_none() {
        console.note(
            "there is nothing to check: the campaign has no requirements and no pinned trials",
        )?;
    }
    Ok(status)
}

/// The exit status of a run's verdict, where the report has shown it already.
pub(crate) fn verdict(run: &Path, console: &mut Console) -> anyhow::Result<u8> {
    let status = status(summarise(run, &[])?.checks.verdict);
    console.decide(status);
    Ok(status)
}

fn status(verdict: Option<Verdict>) -> u8 {
    match verdict {
        Some(Verdict::Met) => exit::OK,
        Some(Verdict::NotMet) => exit::NOT_MET,
        Some(Verdict::Inconclusive) | None => exit::INCONCLUSIVE,
    }
}

fn tinted(console: &Console, verdict: Verdict) -> String {
    let tint = match verdict {
        Verdict::Met => Tint::Good,
        Verdict::Inconclusive => Tint::Warning,
        Verdict::NotMet => Tint::Bad,
    };
    console.tinted(tint, &format!("{:12}", verdict.text()))
}
