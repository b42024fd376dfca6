//! Two runs side by side.

use crate::exit;
use faultlens::analysis::format::{p_value, points, rate};
use faultlens::analysis::{Compared, compare};
use faultlens::report::prose::{comparison_test, comparison_warnings};
use faultlens::report::{comparison_json, plain};

use crate::args::CompareArgs;
use crate::console::Console;
use crate::text::{Align, table};

/// Shows the differences between the rates of two runs.
pub(super) fn run(args: &CompareArgs, console: &mut Console) -> anyhow::Result<u8> {
    let comparison = compare(&args.first, &args.second)?;
    let nothing = comparison.rows.iter().all(|row| row.first.n == 0 || row.second.n == 0);
    let status = if nothing { exit::INCONCLUSIVE } else { exit::OK };
    console.decide(status);
    if nothing {
        console.note("the runs have no fault point in common: there is nothing to compare")?;
    }
    if args.json {
        console.json(&comparison_json(&comparison)?)?;
        return Ok(status);
    }
    for warning in comparison_warnings(&comparison) {
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
    Ok(status)
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
