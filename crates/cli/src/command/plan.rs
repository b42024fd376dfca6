//! `faultlens plan`: what a campaign would do.

use std::path::Path;

use crate::exit;
use anyhow::ensure;
use faultlens::analysis::format::counted;
use faultlens::campaign::OpenCampaign;
use faultlens::campaign::plan::Shard;
use faultlens::spec::Campaign;
use faultlens::stats::sample_size;
use serde_json::json;

use crate::args::PlanArgs;
use crate::console::Console;
use crate::text::{Align, grouped, table};

/// Shows trials by fault and the half-width that a rate of one half would have.
pub(crate) fn run(args: &PlanArgs, console: &mut Console) -> anyhow::Result<u8> {
    let setup = OpenCampaign::open(Campaign::load(&args.campaign)?)?;
    setup.check_judge()?;
    ensure!(
        setup.campaign.stop.is_none() || args.shards.is_none(),
        "a campaign with a stop rule cannot be run in shards: no shard sees the trials of the others"
    );
    let rows = rows(&setup);
    let shards: Vec<String> = args.shards.iter().flat_map(|&of| commands(args, of)).collect();
    if args.json {
        let faults: Vec<_> = rows.iter().map(Row::json).collect();
        let sizes: Vec<u64> = args.shards.iter().flat_map(|&of| sizes(&setup, of)).collect();
        console.json(&json!({
            "name": setup.campaign.name,
            "trials": setup.plan.total(),
            "targets": setup.targets.len(),
            "cases": setup.plan.cases(),
            "faults": faults,
            "shards": sizes,
            "commands": shards,
        }))?;
        return Ok(exit::OK);
    }
    let targets = counted(setup.targets.len() as u64, "target");
    let cases = counted(u64::from(setup.plan.cases()), "case");
    let total = counted(setup.plan.total(), "trial");
    console.line(format_args!("{total}: {targets} × {cases} × faults"))?;
    let header = ["fault", "each case", "in all", "known to"].map(str::to_owned);
    let lines: Vec<[String; 4]> =
        std::iter::once(header).chain(rows.iter().map(Row::cells)).collect();
    let left = Align::Left;
    let right = Align::Right;
    for line in table([left, right, right, right], &lines) {
        console.line(format_args!("  {line}"))?;
    }
    if rows.iter().any(|row| row.at_most) {
        console.line("\n≤: at most, depending on how many objects a target finds; fewer trials widen the intervals")?;
    }
    let enough = u64::from(setup.plan.cases()) >= faultlens::stats::MIN_IMAGES;
    console.line(if enough {
        "\nknown to: the margin of error for new images, from trials that differ as much within images \
         as between them to images of which all trials end the same way"
    } else {
        "\nknown to: the margin of error for these images; fewer than 10 say nothing about others"
    })?;
    console.line(needed())?;
    for command in shards {
        console.line(command)?;
    }
    Ok(exit::OK)
}

/// One fault of the plan.
struct Row {
    label: String,
    each: u64,
    all: u64,
    /// Whether there may be fewer, where a target finds few objects.
    at_most: bool,
    /// Half the interval's width at a rate of one half, where it is widest, if all are judged and
    /// trials of one image are as unlike as those of different images.
    half_width: f64,
    /// The same if trials of one image all end the same way, so that images count alone; `None`
    /// where there are too few to say something about others.
    half_width_by_image: Option<f64>,
}

fn rows(setup: &OpenCampaign) -> Vec<Row> {
    let cases = u64::from(setup.plan.cases());
    let targets = || 0..setup.targets.len();
    let faults = setup.campaign.faults.iter().enumerate();
    faults
        .map(|(at, fault)| {
            // With one trial per place in a model, targets have different numbers of trials.
            let each = targets().map(|target| setup.plan.trials(target, at)).max().unwrap_or(0);
            let all = targets().map(|target| setup.plan.trials(target, at) * cases).sum();
            // For permanent faults the sample size is the number of faults, not of trials.
            let cases = if fault.disturbance.is_permanent() { cases.max(1) } else { 1 };
            let sample = all / cases;
            let widest = setup.campaign.intervals.estimate(sample / 2, sample);
            let half_width = widest.map_or(0.5, |estimate| estimate.half_width());
            let at_most = fault.disturbance.follows_objects();
            let images = u64::from(setup.plan.cases());
            let by_image = setup.campaign.intervals.estimate(images / 2, images);
            let by_image = by_image.map_or(0.5, |estimate| estimate.half_width());
            let enough = images >= faultlens::stats::MIN_IMAGES;
            let half_width_by_image = enough.then(|| by_image.max(half_width));
            let label = fault.label.clone();
            Row { label, each, all, at_most, half_width, half_width_by_image }
        })
        .collect()
}

impl Row {
    fn cells(&self) -> [String; 4] {
        let mut half = format!("±{:.1}", 100.0 * self.half_width);
        match self.half_width_by_image {
            Some(widest) if widest > self.half_width => {
                half += &format!(" to ±{:.1}%", 100.0 * widest);
            }
            _ => half += "%",
        }
        let each = grouped(self.each);
        let all = grouped(self.all);
        if self.at_most {
            // Fewer trials than planned leave a wider interval.
            [self.label.clone(), format!("≤ {each}"), format!("≤ {all}"), format!("≥ {half}")]
        } else {
            [self.label.clone(), each, all, half]
        }
    }

    fn json(&self) -> serde_json::Value {
        json!({
            "fault": self.label,
            "each_case": self.each,
            "trials": self.all,
            "at_most": self.at_most,
            "half_width": self.half_width,
            "half_width_by_image": self.half_width_by_image,
        })
    }
}

/// A population of faults so large that the finite-population correction vanishes.
const POPULATION: u64 = 1_000_000_000;

/// How many trials common margins of error need.
fn needed() -> String {
    let level = faultlens::stats::Level::default();
    let need =
        |margin: f64| sample_size(POPULATION, margin, 0.5, level).map_or("?".to_owned(), grouped);
    format!(
        "\nA rate within ±5% needs {} trials, within ±1% {} (Leveugle et al., 95%).",
        need(0.05),
        need(0.01)
    )
}

fn sizes(setup: &OpenCampaign, of: u32) -> Vec<u64> {
    (1..=of)
        .map(|part| setup.plan.units(Some(Shard { part, of })).map(|piece| piece.len()).sum())
        .collect()
}

fn commands(args: &PlanArgs, of: u32) -> Vec<String> {
    let campaign = args.campaign.display();
    let dir = |part: u32| format!("shards/{part}");
    let mut lines: Vec<String> = (1..=of)
        .map(|part| format!("faultlens run {campaign} --shard {part}/{of} --output {}", dir(part)))
        .collect();
    let dirs: Vec<String> = (1..=of).map(dir).collect();
    let name = Path::new(&args.campaign).file_stem().and_then(|stem| stem.to_str());
    let merged = format!("runs/{}", name.unwrap_or("merged"));
    lines.push(format!("faultlens merge {} --output {merged}", dirs.join(" ")));
    lines
}
