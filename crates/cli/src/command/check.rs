//! `faultlens check`: is what a run found good enough?

use crate::exit;
use faultlens::analysis::words::{kept, measured, preserved};
use faultlens::analysis::{Verdict, summarise};
use faultlens::report::{junit, plain};
use serde_json::json;

use crate::args::CheckArgs;
use crate::command::write;
use crate::console::{Console, Tint};

/// Tells every verdict; the exit status is that of the worst.
pub(crate) fn run(args: &CheckArgs, console: &mut Console) -> anyhow::Result<u8> {
    let summary = summarise(&args.run, &[])?;
    let status = status(summary.verdict);
    console.decide(status);
    if let Some(path) = &args.junit {
        write(path, junit(&summary))?;
    }
    if args.json {
        console.json(&json!({
            "verdict": summary.verdict,
            "complete": summary.progress.complete,
            "requirements": summary.requirements,
            "preserved": summary.preserved,
            "pinned": summary.pinned,
        }))?;
    } else {
        for checked in &summary.requirements {
            let verdict = tinted(console, checked.verdict);
            let measured = measured(checked);
            console.line(format_args!("{verdict}  {}: {measured}", plain(&checked.requirement)))?;
            console.line(format_args!("{:14}{}", "", plain(&checked.why)))?;
        }
        for one in &summary.preserved {
            let verdict = tinted(console, one.verdict);
            let what = plain(&preserved(one));
            let kept = kept(one);
            console.line(format_args!("{verdict}  {what}: {kept}"))?;
            console.line(format_args!("{:14}{}", "", plain(&one.why)))?;
        }
        for pin in &summary.pinned {
            let verdict = tinted(console, pin.verdict);
            console.line(format_args!(
                "{verdict}  pinned {}: {}",
                plain(&pin.name),
                pin.outcome
            ))?;
            console.line(format_args!("{:14}{}", "", plain(&pin.why)))?;
        }
    }
    for warning in &summary.warnings {
        console.note(format_args!("note: {}", plain(warning)))?;
    }
    if !summary.progress.complete {
        console.note("note: the run is not complete; verdicts speak of the trials so far")?;
    }
    if summary.verdict.is_none() {
        console
            .note("nothing is required: the campaign has no requirements and no pinned trials")?;
    }
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
