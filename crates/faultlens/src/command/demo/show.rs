//! The demonstration, told in a terminal.

use faultlens::Image;

use super::bench::{Outcome, Story};
use super::sweep::{self, Count};
use super::{Answer, Cost, Demonstration, STEP, drawing};
use crate::command::score::Place;
use crate::console::{Console, Tint};
use crate::text::{self, Align, grouped};

/// Columns of a picture and of the gap behind it.
const CAPTION: usize = drawing::SIDE / 2 + drawing::GAP.len();

pub(super) fn show(
    demonstration: &Demonstration,
    pictures: &[Image],
    console: &mut Console,
) -> anyhow::Result<()> {
    let Demonstration { parameters, answers, faults, sweep, cost } = demonstration;
    console.line(format_args!(
        "A small convolutional network, built in code with {parameters} weights, \
         looks at four pictures:\n"
    ))?;
    for line in drawing::in_terminal(pictures).into_iter().chain(captions(answers)) {
        console.line(format!("  {line}").trim_end())?;
    }
    console.line("\nIt looks at the first one again while a bit is flipped inside it:")?;
    for fault in faults {
        tell(fault, console)?;
    }
    let trials: usize = sweep.iter().map(|count| count.trials).sum();
    console.line(format_args!(
        "\nEvery bit of every {STEP}th convolution output and of every weight, one at a time \
         ({} faults):\n",
        grouped(trials as u64)
    ))?;
    for line in counts(sweep) {
        console.line(format_args!("  {line}"))?;
    }
    Ok(console.line(costs(cost))?)
}

/// What the model says, under each picture.
fn captions(answers: &[Answer]) -> [String; 2] {
    let under = |text: &dyn Fn(&Place) -> String| {
        let caption = |answer: &Answer| answer.ranking.first().map(text).unwrap_or_default();
        answers.iter().map(|answer| format!("{:<CAPTION$}", caption(answer))).collect::<String>()
    };
    [under(&|place| place.label.clone()), under(&|place| percent(place.score.0))]
}

fn tell(fault: &Story, console: &mut Console) -> anyhow::Result<()> {
    let Story { operator, value, element, bit, before, after, outcome, golden, observed } = fault;
    let kind = sweep::kind(*bit);
    console.line(format_args!(
        "\n  bit {bit} ({kind}) of element {element} of {value}, at operator {operator}"
    ))?;
    let answer = |places: &[Place]| {
        let top = places.first().map(|place| (place.label.clone(), percent(place.score.0)));
        top.map(|(label, score)| format!("{label} {score}")).unwrap_or_default()
    };
    let (before, after) = (text::score(before.0), text::score(after.0));
    console.line(format_args!("    value   {before} → {after}"))?;
    let outcome = match outcome {
        Outcome::Masked => console.tinted(Tint::Good, "masked: the answer stays"),
        Outcome::Deviated => console.tinted(Tint::Bad, "deviated: wrong, and nothing shows it"),
        Outcome::Detected => console.tinted(Tint::Warning, "detected: the output is no number"),
    };
    console.line(format_args!("    answer  {} → {}", answer(golden), answer(observed)))?;
    Ok(console.line(format_args!("    {outcome}"))?)
}

fn counts(sweep: &[Count]) -> Vec<String> {
    let header = ["faults in", "bits", "trials", "masked", "deviated", "detected"];
    let mut rows = vec![header.map(str::to_owned)];
    for count in sweep {
        let share = |n: usize| match n {
            0 => "–".to_owned(),
            n => {
                let share = 100.0 * n as f64 / count.trials as f64;
                format!("{} ({share:.1}%)", grouped(n as u64))
            }
        };
        rows.push([
            count.sites.to_owned(),
            count.bits.to_owned(),
            grouped(count.trials as u64),
            share(count.masked),
            share(count.deviated),
            share(count.detected),
        ]);
    }
    let right = Align::Right;
    text::table([Align::Left, Align::Left, right, right, right, right], &rows)
}

fn costs(Cost { plain_us, output_fault_us, weight_fault_us }: &Cost) -> String {
    format!(
        "\nA plain inference takes {plain_us:.0} µs. With a fault in an operator output it takes \
         {output_fault_us:.0} µs ({:.2} of that),\nin a weight {weight_fault_us:.0} µs ({:.2}): \
         only what the fault can reach is computed again.",
        output_fault_us / plain_us,
        weight_fault_us / plain_us
    )
}

fn percent(probability: f32) -> String {
    if probability.is_nan() { "NaN".to_owned() } else { format!("{:.1}%", 100.0 * probability) }
}
