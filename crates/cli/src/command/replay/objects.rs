//! Two answers with objects, one row per object.

use faultlens::campaign::object_comparison::{Answered, ObjectComparison, ObjectStatus};
use faultlens::campaign::replay::Replayed;
use faultlens::record::LabelledBox;
use faultlens::report::plain;
use serde_json::{Value, json};

use crate::console::Console;
use crate::text::{Align, table};

/// The row of an object: its status, and how it was and is.
type Row<'a> = (&'static str, Option<&'a LabelledBox>, Option<&'a LabelledBox>);

/// What became of every thing, those that the fault itself took away and those that do not count
/// too.
fn rows<'a>(detection_diff: &'a ObjectComparison, answer: &'a Answered) -> Vec<Row<'a>> {
    let pairs = answer.pairs.iter();
    let mut rows: Vec<Row<'a>> =
        pairs.map(|pair| (pair.status.name(), pair.before.as_ref(), pair.after.as_ref())).collect();
    let gone = detection_diff
        .golden
        .iter()
        .enumerate()
        .filter(|(at, _)| !answer.pairs.iter().any(|pair| pair.golden == Some(*at)));
    rows.extend(gone.map(|(_, thing)| ("taken away", Some(thing), None)));
    rows.extend(answer.own.iter().map(|thing| ("own", None, Some(thing))));
    rows
}

/// The rows as JSON; nothing where there is no answer.
pub(super) fn list(detection_diff: &ObjectComparison) -> Value {
    let thing = |thing: Option<&LabelledBox>| {
        thing.map(|thing| {
            json!({"label": thing.label, "score": thing.score, "box": thing.bounds.sides()})
        })
    };
    match &detection_diff.answer {
        Ok(answer) => rows(detection_diff, answer).into_iter().map(|(kind, before, after): Row<'_>| json!({"kind": kind, "before": thing(before), "after": thing(after)})).collect(),
        Err(_) => Value::Null,
    }
}

/// Shows every thing of both answers, what came or went, and what changed.
pub(super) fn show(
    console: &mut Console,
    replayed: &Replayed,
    detection_diff: &ObjectComparison,
) -> anyhow::Result<()> {
    let measures = &replayed.now.measures;
    let object = measures.scene.as_ref().and_then(|scene| scene.object.as_ref());
    if let (Some(object), Some(at)) = (object, &detection_diff.touched) {
        let label = &object.label;
        let what = match &object.id {
            Some(id) => format!("inserted: {label} ({id}) at {at}"),
            None => format!("taken out: {label} at {at}"),
        };
        console.line(format_args!("  {}\n", plain(&what)))?;
    }
    let answer = match &detection_diff.answer {
        Ok(answer) => answer,
        Err(why) => return Ok(console.line(format_args!("  no answer: {}", plain(why)))?),
    };
    // Where a fault moves things, those of the changed image are set beside each other.
    let first =
        if detection_diff.expected == detection_diff.golden { "golden" } else { "expected" };
    let mut lines = vec![["", first, "", "", "observed", "", ""].map(str::to_owned)];
    for (kind, before, after) in rows(detection_diff, answer) {
        let [[a, b, c], [d, e, f]] = [before, after].map(cells);
        lines.push([kind.to_owned(), a, b, c, d, e, f]);
    }
    let left = Align::Left;
    let right = Align::Right;
    for line in table([left, left, right, left, left, right, left], &lines) {
        console.line(format_args!("  {line}"))?;
    }
    if !answer.own.is_empty() {
        console.line("\n  own: detected as the inserted or removed object, not counted")?;
    }
    if let Some(changes) = measures.detections.as_ref().filter(|diff| !diff.is_empty()) {
        let same = answer.pairs.iter().filter(|pair| pair.status == ObjectStatus::Same).count();
        console.line(format_args!("\n  {same} as before; {}", plain(&changes.to_string())))?;
    }
    let counted = measures.oracle.as_ref().filter(|measure| measure.name == "changed");
    if let Some(counted) = counted
        && counted.value < lost_and_new(answer) as f64
    {
        let counted = counted.value;
        console.line(format_args!(
            "  {counted} lost or new counted; the others score just enough to be reported"
        ))?;
    }
    Ok(())
}

/// Objects of either answer without a partner: one that moved or has another label is lost there
/// and new here.
fn lost_and_new(answer: &Answered) -> usize {
    let mut count = 0;
    for pair in &answer.pairs {
        count += match pair.status {
            ObjectStatus::Same => 0,
            ObjectStatus::Missed | ObjectStatus::Spurious => 1,
            ObjectStatus::Relabelled | ObjectStatus::Misplaced => 2,
        };
    }
    count
}

/// Where the answer is not the recorded one: what changed then.
pub(super) fn otherwise(console: &mut Console, replayed: &Replayed) -> anyhow::Result<()> {
    if replayed.is_identical() || replayed.comparison.is_none() {
        return Ok(());
    }
    let recorded = &replayed.recorded;
    let changes = recorded.object_changes().unwrap_or_else(|| "nothing changed".to_owned());
    let outcome = recorded.outcome.kind();
    Ok(console.line(format_args!("recorded: {outcome}; {}", plain(&changes)))?)
}

fn cells(thing: Option<&LabelledBox>) -> [String; 3] {
    match thing {
        Some(thing) => {
            [thing.label.clone(), format!("{:.2}", thing.score), thing.bounds.to_string()]
        }
        None => [const { String::new() }; 3],
    }
}
