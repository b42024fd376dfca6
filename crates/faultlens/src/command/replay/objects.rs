//! Two answers with objects, one thing a row.

use faultlens::campaign::replay::Replayed;
use faultlens::campaign::scene::said::{LABEL, OBJECT};
use faultlens::campaign::sighting::{Answered, CHANGES, Fate, Sighting, Thing};
use faultlens::report::plain;
use serde_json::{Value, json};

use crate::console::Console;
use crate::text::{Align, table};

/// A thing's row: what became of it, and how it was and is.
type Row<'a> = (&'static str, Option<&'a Thing>, Option<&'a Thing>);

/// What became of every thing, those that the fault itself took away and those that do not count
/// too.
fn rows<'a>(sighting: &'a Sighting, answer: &'a Answered) -> Vec<Row<'a>> {
    let pairs = answer.pairs.iter();
    let mut rows: Vec<Row<'a>> =
        pairs.map(|pair| (pair.fate.name(), pair.before.as_ref(), pair.after.as_ref())).collect();
    let gone = sighting
        .golden
        .iter()
        .enumerate()
        .filter(|(at, _)| !answer.pairs.iter().any(|pair| pair.golden == Some(*at)));
    rows.extend(gone.map(|(_, thing)| ("taken away", Some(thing), None)));
    rows.extend(answer.own.iter().map(|thing| ("own", None, Some(thing))));
    rows
}

/// The rows as JSON; nothing where there is no answer.
pub(super) fn list(sighting: &Sighting) -> Value {
    let thing = |thing: Option<&Thing>| {
        thing.map(|thing| {
            json!({"label": thing.label, "score": thing.score, "box": thing.bounds.sides()})
        })
    };
    let row = |(kind, before, after): Row<'_>| json!({"kind": kind, "before": thing(before), "after": thing(after)});
    match &sighting.answer {
        Ok(answer) => rows(sighting, answer).into_iter().map(row).collect(),
        Err(_) => Value::Null,
    }
}

/// Shows every thing of both answers, what came or went, and what changed.
pub(super) fn show(
    console: &mut Console,
    replayed: &Replayed,
    sighting: &Sighting,
) -> anyhow::Result<()> {
    let said = |name: &str| replayed.now.extra.get(name).map(String::as_str);
    if let (Some(label), Some(at)) = (said(LABEL), &sighting.touched) {
        let what = match said(OBJECT) {
            Some(object) => format!("inserted: {label} ({object}) at {at}"),
            None => format!("taken out: {label} at {at}"),
        };
        console.line(format_args!("  {}\n", plain(&what)))?;
    }
    let answer = match &sighting.answer {
        Ok(answer) => answer,
        Err(why) => return Ok(console.line(format_args!("  no answer: {}", plain(why)))?),
    };
    // Where a fault moves things, those of the changed image are set beside each other.
    let first = if sighting.expected == sighting.golden { "golden" } else { "expected" };
    let mut lines = vec![["", first, "", "", "observed", "", ""].map(str::to_owned)];
    for (kind, before, after) in rows(sighting, answer) {
        let [[a, b, c], [d, e, f]] = [before, after].map(cells);
        lines.push([kind.to_owned(), a, b, c, d, e, f]);
    }
    let (left, right) = (Align::Left, Align::Right);
    for line in table([left, left, right, left, left, right, left], &lines) {
        console.line(format_args!("  {line}"))?;
    }
    if !answer.own.is_empty() {
        console.line("\n  own: found of what came or went, does not count")?;
    }
    if let Some(changes) = said(CHANGES) {
        let same = answer.pairs.iter().filter(|pair| pair.fate == Fate::Same).count();
        console.line(format_args!("\n  {same} as before; {}", plain(changes)))?;
    }
    Ok(())
}

/// Where the answer is not the recorded one: what changed then.
pub(super) fn otherwise(console: &mut Console, replayed: &Replayed) -> anyhow::Result<()> {
    if replayed.is_identical() || replayed.sighting.is_none() {
        return Ok(());
    }
    let recorded = &replayed.recorded;
    let changes = recorded.extra.get(CHANGES).map_or("nothing changed", String::as_str);
    let outcome = recorded.outcome.kind();
    Ok(console.line(format_args!("recorded: {outcome}; {}", plain(changes)))?)
}

fn cells(thing: Option<&Thing>) -> [String; 3] {
    match thing {
        Some(thing) => {
            [thing.label.clone(), format!("{:.2}", thing.score), thing.bounds.to_string()]
        }
        None => [const { String::new() }; 3],
    }
}
