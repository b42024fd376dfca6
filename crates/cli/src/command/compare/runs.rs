//! Two or more runs side by side.

use std::path::Path;

use crate::exit;
use anyhow::ensure;
use faultlens::analysis::format::{p_value, points, rate};
use faultlens::analysis::{Compared, RunComparison, compare, summarise};
use faultlens::report::prose::{comparison_test, comparison_warnings};
use faultlens::report::{
    ComparedRun, ComparisonPage, comparison, comparison_json, comparison_markdown, plain,
};
use serde_json::{Value, json};

use crate::args::CompareArgs;
use crate::command::{run_names, write};
use crate::console::Console;
use crate::text::{Align, table};

/// Shows the differences between the rates of the first run and those of every other.
pub(super) fn run(args: &CompareArgs, console: &mut Console) -> anyhow::Result<u8> {
    let ending = ending(args)?;
    let mut comparisons = Vec::new();
    for other in std::iter::once(&args.second).chain(&args.more) {
        comparisons.push(compare(&args.first, other)?);
    }
    let nothing = comparisons
        .iter()
        .flat_map(|one| &one.rows)
        .all(|row| row.first.n == 0 || row.second.n == 0);
    let status = if nothing { exit::INCONCLUSIVE } else { exit::OK };
    console.decide(status);
    if nothing {
        console.note("the runs have no fault point in common: there is nothing to compare")?;
    }
    if let (Some(output), Some(ending)) = (&args.output, ending) {
        write(output, page(args, &comparisons, ending)?)?;
    }
    if args.json {
        console.json(&object(&comparisons)?)?;
        return Ok(status);
    }
    for (at, comparison) in comparisons.iter().enumerate() {
        if at > 0 {
            console.line("")?;
        }
        show(comparison, console)?;
    }
    if let Some(output) = &args.output {
        console.line(format_args!("\ncomparison: {}", output.display()))?;
    }
    Ok(status)
}

/// The kind of page that the output's name asks for.
fn ending(args: &CompareArgs) -> anyhow::Result<Option<&str>> {
    let Some(output) = &args.output else { return Ok(None) };
    let ending = output.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ensure!(
        ["html", "md"].contains(&ending),
        "a comparison is an .html or an .md file: {}",
        output.display()
    );
    Ok(Some(ending))
}

fn page(args: &CompareArgs, comparisons: &[RunComparison], ending: &str) -> anyhow::Result<String> {
    let mut dirs: Vec<&Path> = vec![&args.first, &args.second];
    dirs.extend(args.more.iter().map(|dir| dir.as_path()));
    let mut runs = Vec::new();
    for (dir, name) in dirs.iter().zip(run_names(&dirs)) {
        runs.push(ComparedRun { name, summary: summarise(dir, &[])? });
    }
    let page = ComparisonPage { runs: &runs, comparisons };
    Ok(if ending == "md" { comparison_markdown(&page) } else { comparison(&page) })
}

/// Two runs are one object, as they always were; more are a list.
fn object(comparisons: &[RunComparison]) -> anyhow::Result<Value> {
    if let [only] = comparisons {
        return Ok(comparison_json(only)?);
    }
    let all: Result<Vec<Value>, _> = comparisons.iter().map(comparison_json).collect();
    Ok(json!({ "comparisons": all? }))
}

fn show(comparison: &RunComparison, console: &mut Console) -> anyhow::Result<()> {
    for warning in comparison_warnings(comparison) {
        console.note(format_args!("warning: {}", plain(&warning)))?;
    }
    let [first, second] = [&comparison.first, &comparison.second].map(|name| plain(name));
    let header = ["", &first, &second, "difference", "p", "pairs", "unpaired"];
    let mut rows = vec![header.map(str::to_owned)];
    rows.extend(comparison.rows.iter().map(row));
    let left = Align::Left;
    let right = Align::Right;
    for line in table([left, right, right, right, right, right, right], &rows) {
        console.line(line)?;
    }
    console.line(format_args!(
        "\nHow often the answer changed; the difference is the second minus the first.\n{}.",
        comparison_test(comparison.test)
    ))?;
    Ok(())
}

fn row(compared: &Compared) -> [String; 7] {
    let difference = compared.difference.map_or("–".to_owned(), |difference| {
        format!("{} [{}, {}]", points(difference), points(compared.low), points(compared.high))
    });
    let p = compared.p_value.map_or("–".to_owned(), p_value);
    let pairs = if compared.pairs == 0 { "–".to_owned() } else { compared.pairs.to_string() };
    let [first, second] = [&compared.first, &compared.second].map(rate);
    [plain(&compared.what), first, second, difference, p, pairs, compared.unpaired.to_string()]
}
