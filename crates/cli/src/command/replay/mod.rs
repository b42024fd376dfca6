//! `faultlens replay`: one recorded trial, run again.

mod objects;
mod sites;

use std::fs;

use crate::exit;
use anyhow::Context;
use faultlens::campaign::replay::{Replayed, Rerun};
use faultlens::data::write_png;
use faultlens::report::plain;
use serde_json::json;

use crate::args::ReplayArgs;
use crate::command::run::record;
use crate::console::{Console, Tint};
use crate::text::{self, Align, table};

/// Runs a trial again; the exit status says whether it is the same bit for bit.
pub(crate) fn run(args: &ReplayArgs, console: &mut Console) -> anyhow::Result<u8> {
    let replayed = Rerun::open(&args.run)?.replay(&args.trial)?;
    if let Some(dir) = &args.save {
        fs::create_dir_all(dir)
            .with_context(|| format!("cannot create the folder {}", dir.display()))?;
        write_png(&replayed.before, dir.join("before.png"))?;
        if let Some(after) = &replayed.after {
            write_png(after, dir.join("after.png"))?;
        }
    }
    if args.json {
        console.json(&json!({
            "identical": replayed.is_identical(),
            "target": replayed.target,
            "case": replayed.case,
            "fault": replayed.fault,
            "golden": replayed.golden,
            "observed": replayed.observed,
            "objects": replayed.comparison.as_ref().map(objects::list),
            "site_count": replayed.sites.len(),
            "sites": sites::list(&replayed.sites, args.max_sites),
            "recorded": record(&replayed.recorded),
            "now": record(&replayed.now),
        }))?;
    } else {
        show(console, &replayed, args.max_sites)?;
    }
    Ok(if replayed.is_identical() { exit::OK } else { exit::NOT_MET })
}

fn show(
    console: &mut Console,
    replayed: &Replayed,
    max_sites: Option<usize>,
) -> anyhow::Result<()> {
    let now = &replayed.now;
    console.line(format_args!("trial {}  {}", now.number, now.trial))?;
    let Replayed { target, case, fault, .. } = replayed;
    console.line(plain(&format!("{fault} on {case}, asked of {target}")))?;
    match (&now.site, replayed.sites.len()) {
        (Some(_), 2..) => sites::show(console, &replayed.sites, max_sites)?,
        (Some(site), _) => console.line(plain(&site.to_string()))?,
        (None, _) if now.measures.hits == Some(0) => {
            console.line("no element hit: the rate spared every operator")?;
        }
        (None, _) => {}
    }
    console.line("")?;
    match &replayed.comparison {
        Some(detection_diff) => objects::show(console, replayed, detection_diff)?,
        None => places(console, replayed)?,
    }
    let outcome = now.outcome.kind();
    let proof = if replayed.is_identical() {
        console.tinted(Tint::Good, "the same as recorded, bit for bit")
    } else {
        console.tinted(Tint::Bad, "NOT as recorded")
    };
    console.line(format_args!("\n{outcome}: {proof}"))?;
    objects::otherwise(console, replayed)
}

/// The best places of both answers.
fn places(console: &mut Console, replayed: &Replayed) -> anyhow::Result<()> {
    let place = |place: Option<&(String, Option<f64>)>| match place {
        Some((label, score)) => [
            label.clone(),
            score.map_or("not finite".to_owned(), |score| text::score(score as f32)),
        ],
        None => [String::new(), String::new()],
    };
    let mut rows = vec![["golden", "", "observed", ""].map(str::to_owned)];
    for at in 0..replayed.golden.len().max(replayed.observed.len()) {
        let [a, b] = place(replayed.golden.get(at));
        let [c, d] = place(replayed.observed.get(at));
        rows.push([a, b, c, d]);
    }
    for line in table([Align::Left, Align::Right, Align::Left, Align::Right], &rows) {
        console.line(format_args!("  {line}"))?;
    }
    Ok(())
}
