//! The sites that one trial hit inside a model, one row each.

use faultlens::campaign::SiteHit;
use faultlens::record::Brief;
use serde_json::{Value, json};

use crate::command::run::site;
use crate::console::Console;
use crate::text::{Align, grouped, table};

/// How many rows a terminal shows.
const MAX_ROWS: usize = 20;

/// How many sites JSON lists: a whole tensor may have been hit.
const MAX_LISTED: usize = 1000;

/// The first sites as JSON.
pub(super) fn list(sites: &[SiteHit], max: Option<usize>) -> Value {
    let mut listed = Vec::new();
    for hit in sites.iter().take(max.unwrap_or(MAX_LISTED)) {
        let mut one = site(&hit.site);
        one["reached"] = json!(hit.reached);
        listed.push(one);
    }
    Value::Array(listed)
}

/// Shows the first sites, and says how many more there are.
pub(super) fn show(
    console: &mut Console,
    sites: &[SiteHit],
    max: Option<usize>,
) -> anyhow::Result<()> {
    let count = grouped(sites.len() as u64);
    console.line(format_args!("{count} elements hit in this one inference:"))?;
    let header = ["layer", "operator", "value", "element", "bit", "before", "after"];
    let mut rows = vec![header.map(str::to_owned)];
    let shown = &sites[..sites.len().min(max.unwrap_or(MAX_ROWS))];
    rows.extend(shown.iter().map(row));
    let left = Align::Left;
    let right = Align::Right;
    for line in table([right, left, left, right, right, right, right], &rows) {
        console.line(format_args!("  {line}"))?;
    }
    let more = sites.len() - shown.len();
    if more > 0 {
        let more = grouped(more as u64);
        console.line(format_args!("  and {more} more; --max-sites N shows N of them"))?;
    }
    if sites.iter().any(|hit| !hit.reached) {
        console.line("  not reached: an operator failed before the run came to it")?;
    }
    Ok(())
}

fn row(hit: &SiteHit) -> [String; 7] {
    let site = &hit.site;
    let place = &site.place;
    let [before, after] = if hit.reached {
        [site.before, site.after].map(|number| Brief(number).to_string())
    } else {
        ["not reached".to_owned(), String::new()]
    };
    [
        place.layer.to_string(),
        format!("{} ({})", place.operator, place.kind),
        place.value.clone(),
        site.element.to_string(),
        site.bit.map_or_else(|| "-".to_owned(), |bit| bit.to_string()),
        before,
        after,
    ]
}
