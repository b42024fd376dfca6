//! `faultlens inspect`: what is inside a model, and where can faults be injected?

mod blank;
mod survey;

use crate::exit;
use faultlens::vision::shape_text;
use serde::Serialize;

use crate::args::InspectArgs;
use crate::console::Console;
use crate::describe::yaml;
use crate::text::{self, Align, grouped, rounded};
use faultlens::targets::load_model;
use survey::{Extent, GuessRow, Survey, Value};

/// Shows the model; one that loads but does not run is shown with what its file declares.
pub(crate) fn run(args: &InspectArgs, console: &mut Console) -> anyhow::Result<u8> {
    let model = load_model(&args.model)?;
    let survey = Survey::new(&model, &args.model, args.size);
    if let Some(why) = &survey.not_run {
        console.note(format_args!("note: shapes are as declared, the model was not run: {why}"))?;
    }
    if args.json {
        console.json(&survey)?;
    } else {
        show(&survey, console)?;
    }
    Ok(exit::OK)
}

fn show(survey: &Survey, console: &mut Console) -> anyhow::Result<()> {
    console
        .line(format_args!("{}  (graph {}, opset {})", survey.model, survey.graph, survey.opset))?;
    section(console, "inputs", &edges(&survey.inputs))?;
    section(console, "outputs", &edges(&survey.outputs))?;
    section(console, "operators", &operators(survey))?;
    section(console, "size", &size(survey))?;
    section(console, "where faults can be injected", &sites(survey))?;
    section(console, "guessed preprocessing", &guess("input", &survey.input_guess)?)?;
    section(console, "guessed output", &guess("output", &survey.output_guess)?)?;
    Ok(())
}

fn section(console: &mut Console, title: &str, lines: &[String]) -> anyhow::Result<()> {
    console.line(format_args!("\n{title}"))?;
    for line in lines {
        console.line(format_args!("  {line}"))?;
    }
    Ok(())
}

fn edges(values: &[Value]) -> Vec<String> {
    let rows: Vec<[String; 2]> =
        values.iter().map(|v| [v.name.clone(), type_and_shape(v)]).collect();
    text::table([Align::Left; 2], &rows)
}

fn type_and_shape(value: &Value) -> String {
    let shape = value.shape.as_ref().map_or_else(|| "?".to_owned(), |shape| shape_text(&shape.0));
    format!("{} {shape}", value.dtype.unwrap_or("?"))
}

fn operators(survey: &Survey) -> Vec<String> {
    let header = ["name", "type", "output", "parameters", "MACs"].map(str::to_owned);
    let count = |n: u64| if n == 0 { String::new() } else { grouped(n) };
    let rows = survey.operators.iter().map(|row| {
        let first = row.outputs.first().map(type_and_shape).unwrap_or_default();
        let more = row.outputs.len().saturating_sub(1);
        let output = if more == 0 { first } else { format!("{first} and {more} more") };
        let macs = row.macs.map_or_else(|| "?".to_owned(), count);
        [row.name.clone(), row.r#type.clone(), output, count(row.parameters), macs]
    });
    let rows: Vec<[String; 5]> = std::iter::once(header).chain(rows).collect();
    let right = Align::Right;
    text::table([Align::Left, Align::Left, Align::Left, right, right], &rows)
}

fn size(survey: &Survey) -> Vec<String> {
    let types: Vec<String> =
        survey.operator_types.iter().map(|t| format!("{} {}", t.count, t.r#type)).collect();
    let macs = match survey.macs {
        Some(macs) => [rounded(macs), format!("{} for one image", grouped(macs))],
        None => ["?".to_owned(), "the model was not run".to_owned()],
    };
    let row = |name: &str, [value, more]: [String; 2]| [name.to_owned(), value, more];
    text::table(
        [Align::Left, Align::Right, Align::Left],
        &[
            row("operators", [survey.operators.len().to_string(), types.join(", ")]),
            row("layers", [survey.layers.to_string(), "with weights of their own".to_owned()]),
            row("parameters", [rounded(survey.parameters), grouped(survey.parameters)]),
            row("MACs", macs),
        ],
    )
}

fn sites(survey: &Survey) -> Vec<String> {
    let sites = &survey.sites;
    let control = "left out unless control_values: include";
    let rows = [
        ("operator outputs", sites.operator_outputs.as_ref(), ""),
        ("weights", Some(&sites.weights), ""),
        ("control values", sites.control_values.as_ref(), control),
    ];
    let rows = rows.map(|(name, extent, note)| {
        let [tensors, elements, bits] = match extent {
            Some(Extent { tensors, elements, bits }) => [
                format!("{} tensors", grouped(*tensors)),
                format!("{} elements", grouped(*elements)),
                format!("{} bits", grouped(*bits)),
            ],
            None => ["?", "?", "?"].map(str::to_owned),
        };
        [name.to_owned(), tensors, elements, bits, note.to_owned()]
    });
    let right = Align::Right;
    text::table([Align::Left, right, right, right, Align::Left], &rows)
}

fn guess<T: Serialize>(part: &str, guess: &GuessRow<T>) -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    if let Some(description) = &guess.description {
        lines.push(format!("{part}:"));
        lines.extend(yaml(description)?.lines().map(|line| format!("  {line}")));
        lines.extend(guess.reasons.iter().map(|reason| format!("# guessed {reason}")));
    }
    lines.extend(guess.error.iter().flat_map(|error| error.lines()).map(str::to_owned));
    Ok(lines)
}
