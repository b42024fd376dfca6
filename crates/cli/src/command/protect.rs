//! `faultlens protect`: protections, evaluated on the trials of a run.

use crate::exit;
use faultlens::analysis::format::{percent, rate};
use faultlens::protect::{
    ADVICE_FILE, Advice, CHECKSUMS, DUPLICATION, Evaluated, Options, RANGES, Ranked, TargetAdvice,
    protect,
};
use faultlens::report::plain;

use crate::args::ProtectArgs;
use crate::command::report;
use crate::console::Console;
use crate::text::{Align, grouped, rounded, table};

/// Extents of one protection that the table shows; the file has them all.
const EXTENTS: usize = 8;
/// Layers that the ranking shows.
const LAYERS: usize = 8;

/// Evaluates protections, writes the advice and shows it.
pub(crate) fn run(args: &ProtectArgs, console: &mut Console) -> anyhow::Result<u8> {
    let asked = [
        (RANGES, args.ranges.then_some(1)),
        (DUPLICATION, args.duplicate),
        (CHECKSUMS, args.checksum),
    ];
    let asked = asked.into_iter().filter_map(|(name, limit)| Some((name.to_owned(), limit?)));
    let options =
        Options { asked: asked.collect(), margin: args.margin / 100.0, threads: args.threads };
    let advice = protect(&args.run, &options)?;
    report::rewrite(&args.run)?;
    if args.json {
        console.json(&advice)?;
        return Ok(exit::OK);
    }
    show(&advice, console)?;
    console.note(format_args!("\nadvice: {}", args.run.join(ADVICE_FILE).display()))?;
    Ok(exit::OK)
}

fn show(advice: &Advice, console: &mut Console) -> anyhow::Result<()> {
    for finding in &advice.findings {
        console.line(plain(finding))?;
    }
    for target in &advice.targets {
        let TargetAdvice { name, macs, broken, .. } = target;
        console.line(format_args!(
            "\n{}: {} of {} answers broken, {}; {} MACs",
            plain(name),
            grouped(broken.events),
            grouped(broken.n),
            rate(broken),
            rounded(*macs)
        ))?;
        for line in protections(target).into_iter().chain(ranking(target)) {
            console.line(line)?;
        }
    }
    console.line(format_args!(
        "\nThe same {} trials with each protection; {}. What is made from cases, such as ranges and \
         the order\nof layers, is evaluated on other cases. Cost: operations added, in percent of \
         the model's multiply-accumulates.",
        grouped(advice.trials),
        advice.interval
    ))?;
    for warning in &advice.warnings {
        console.note(format_args!("warning: {}", plain(warning)))?;
    }
    Ok(())
}

fn protections(target: &TargetAdvice) -> Vec<String> {
    let header =
        ["", "still broken", "gain", "stopped", "worse", "needless", "cost", "false alarms"];
    let mut rows = vec![header.map(str::to_owned)];
    for extents in target.protections.chunk_by(|a, b| a.protection == b.protection) {
        let useful = useful(extents);
        rows.extend(shown(useful.len()).map(|at| row(&useful[at])));
    }
    if rows.len() == 1 {
        return vec!["  no protection prevents any failure of this run".to_owned()];
    }
    let right = Align::Right;
    let lines = table([Align::Left, right, right, right, right, right, right, right], &rows);
    lines.into_iter().map(|line| format!("  {line}")).collect()
}

/// The extents up to the first that stops all that the last one stops.
fn useful(extents: &[Evaluated]) -> &[Evaluated] {
    let all = extents.last().map_or(0, |last| last.stopped.events);
    let enough = extents.iter().position(|one| one.stopped.events == all);
    &extents[..enough.map_or(0, |at| at + 1)]
}

/// Which of so many extents are shown: the first ones, then ever fewer, and the last.
fn shown(all: usize) -> impl Iterator<Item = usize> {
    let early = all.min(EXTENTS / 2);
    let steps = EXTENTS - EXTENTS / 2;
    let later = (1..=steps).map(move |step| early + (all - early) * step / steps);
    let mut chosen: Vec<usize> = (1..=early).chain(later).filter(|&n| n > 0).collect();
    chosen.dedup();
    chosen.into_iter().map(|n| n - 1)
}

fn row(one: &Evaluated) -> [String; 8] {
    let points = |share: f64| format!("{:+.1}", 0.0 - 100.0 * share);
    let gain = one.gain.value.map_or("–".to_owned(), |gain| {
        format!("{} [{}, {}]", points(gain), points(one.gain.high), points(one.gain.low))
    });
    let alarms = match &one.false_alarms {
        Some(alarms) => rate(&alarms.changed),
        None if one.protection == RANGES => "not known".to_owned(),
        None => "none".to_owned(),
    };
    [
        one.label.clone(),
        rate(&one.after),
        gain,
        rate(&one.stopped),
        grouped(one.worse),
        grouped(one.needless),
        format!("{}%", percent(one.cost.share)),
        alarms,
    ]
}

/// The layers whose faults cause the most failures.
fn ranking(target: &TargetAdvice) -> Vec<String> {
    let header =
        ["", "layer", "share of broken", "computed", "stored", "breaks", "MACs", "weights"];
    let mut rows = vec![header.map(str::to_owned)];
    let of_all = |part: u64, all: u64| format!("{}%", percent(part as f64 / all.max(1) as f64));
    let broken = target.ranking.iter().filter(|layer| layer.share.events > 0);
    rows.extend(broken.take(LAYERS).map(|layer: &Ranked| {
        [
            layer.layer.to_string(),
            layer.name.clone(),
            rate(&layer.share),
            grouped(layer.computed),
            grouped(layer.stored),
            rate(&layer.rate),
            of_all(layer.macs, target.macs),
            of_all(layer.weight_bytes, target.weight_bytes),
        ]
    }));
    if rows.len() == 1 {
        return Vec::new();
    }
    let right = Align::Right;
    let lines = table([right, Align::Left, right, right, right, right, right, right], &rows);
    std::iter::once(String::new())
        .chain(lines.into_iter().map(|line| format!("  {line}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_curves_are_thinned_but_keep_their_ends() {
        let numbers = |all: usize| shown(all).collect::<Vec<_>>();
        assert!(numbers(0).is_empty());
        assert_eq!(numbers(1), [0]);
        assert_eq!(numbers(5), [0, 1, 2, 3, 4]);
        assert_eq!(numbers(54), [0, 1, 2, 3, 15, 28, 40, 53]);
    }
}
