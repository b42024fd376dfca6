//! `faultlens merge`: shards become one run.

use crate::exit;
use faultlens::record::store::{merge, merge_keeping_first};
use serde_json::json;

use crate::args::MergeArgs;
use crate::console::Console;
use crate::text::grouped;

/// Merges shards; lists the trials that no shard has.
pub(crate) fn run(args: &MergeArgs, console: &mut Console) -> anyhow::Result<u8> {
    let merged = if args.keep_first {
        merge_keeping_first(&args.shards, &args.output)?
    } else {
        merge(&args.shards, &args.output)?
    };
    let missing: u64 = merged.missing.iter().map(|(first, last)| last - first + 1).sum();
    if args.json {
        console.json(&json!({
            "run": args.output.display().to_string(),
            "records": merged.records,
            "duplicates": merged.duplicates,
            "differing": merged.differing,
            "missing": missing,
            "missing_ranges": merged.missing,
        }))?;
    } else {
        let records = grouped(merged.records);
        let twice = grouped(merged.duplicates);
        console.line(format_args!("{records} records, {twice} more than once"))?;
    }
    if let Some(first) = merged.differing.first() {
        console.note(format_args!(
            "warning: {} trials were recorded differently by two shards, such as {first}; the \
             target does not answer the same each time, or the shards ran on other versions",
            merged.differing.len()
        ))?;
    }
    if missing > 0 {
        let ranges = merged.missing.iter().take(8);
        let ranges: Vec<String> = ranges.map(|(first, last)| format!("{first}–{last}")).collect();
        let more = if merged.missing.len() > 8 { ", …" } else { "" };
        console.note(format_args!(
            "{} trials are missing: {}{more}; run the shards that lack them, and merge again",
            grouped(missing),
            ranges.join(", ")
        ))?;
        return Ok(exit::INCONCLUSIVE);
    }
    Ok(exit::OK)
}
