//! `faultlens demo`: a small model, drawn pictures, and what flipped bits do to its answers.

mod bench;
mod drawing;
mod network;
mod show;
mod sweep;

use anyhow::anyhow;
use faultlens::engine::vision::{LabelFormat, Labels};
use faultlens::engine::{Graph, Model, ValueId};
use faultlens::{Image, exit};
use serde::Serialize;

use crate::args::DemoArgs;
use crate::command::score::{Place, places};
use crate::console::Console;
use bench::{Bench, Site, Story};
use drawing::Pattern;
use sweep::Count;

const SEED: u64 = 7;
/// Operator outputs are swept at every so many elements, so that the demonstration stays short.
const STEP: usize = 29;

/// Everything that the demonstration finds out; the JSON object is this struct.
#[derive(Serialize)]
struct Demonstration {
    parameters: usize,
    answers: Vec<Answer>,
    faults: Vec<Story>,
    sweep: Vec<Count>,
    cost: Cost,
}

#[derive(Serialize)]
struct Answer {
    drawn: &'static str,
    ranking: Vec<Place>,
}

/// Microseconds for one inference: plain, and with a fault in an operator's output or a weight.
#[derive(Serialize)]
struct Cost {
    plain_us: f64,
    output_fault_us: f64,
    weight_fault_us: f64,
}

/// Builds, draws, asks, disturbs, sweeps and shows.
pub(crate) fn run(args: &DemoArgs, console: &mut Console) -> anyhow::Result<u8> {
    let pictures: Vec<Image> =
        Pattern::ALL.iter().map(|pattern| pattern.draw(SEED)).collect::<Result<_, _>>()?;
    let demonstration = demonstrate(&pictures)?;
    if args.json {
        console.json(&demonstration)?;
    } else {
        show::show(&demonstration, &pictures, console)?;
    }
    Ok(exit::OK)
}

fn demonstrate(pictures: &[Image]) -> anyhow::Result<Demonstration> {
    let model = Model::from_proto(&network::model()?)?;
    let graph = model.graph();
    let (input, output) = (network::input(), network::output());
    let names = Pattern::ALL.map(Pattern::name).join("\n");
    let labels = Labels::parse(&names, LabelFormat::Text)?;
    let mut answers = Vec::new();
    for (pattern, picture) in Pattern::ALL.iter().zip(pictures) {
        let outputs = model.run(&[("image", input.tensor(std::slice::from_ref(picture))?)])?;
        let ranking = places(&output.ranking(&outputs[0], 0, &labels)?);
        answers.push(Answer { drawn: pattern.name(), ranking });
    }

    let feeds = [("image", input.tensor(&pictures[..1])?)];
    let bench = Bench::new(model.golden(&feeds)?, output, &labels)?;
    let faults = sites(graph)?.into_iter().map(|s| bench.story(s)).collect::<Result<_, _>>()?;
    let computed = [find(graph, "edges.conv")?, find(graph, "patterns.conv")?];
    let weights: Vec<ValueId> = graph.initializers().map(|(value, _)| value).collect();
    let (mut sweep, output_fault_us) = sweep::sweep(&bench, "operator outputs", &computed, STEP)?;
    let (of_weights, weight_fault_us) = sweep::sweep(&bench, "weights", &weights, 1)?;
    sweep.extend(of_weights);
    let plain_us = sweep::plain_us(&model, &feeds)?;
    let cost = Cost { plain_us, output_fault_us, weight_fault_us };
    let parameters = graph.initializers().map(|(_, weight)| weight.len()).sum();
    Ok(Demonstration { parameters, answers, faults, sweep, cost })
}

/// The three faults that are told in full: a harmless one, one in an operator's output, one in
/// a weight.
fn sites(graph: &Graph) -> anyhow::Result<[Site; 3]> {
    let any_step = 2 * 16 * 16;
    let middle = 8 * 16 + 8;
    Ok([
        Site { value: find(graph, "patterns.conv")?, element: any_step + middle, bit: 20 },
        Site { value: find(graph, "patterns.conv")?, element: any_step + middle, bit: 30 },
        Site { value: find(graph, "classes.weight")?, element: 8, bit: 26 },
    ])
}

fn find(graph: &Graph, name: &str) -> anyhow::Result<ValueId> {
    graph.find(name).ok_or_else(|| anyhow!("the demonstration's model has no value `{name}`"))
}
