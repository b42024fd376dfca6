//! `faultlens people prepare`: the pictures of a study.

use std::collections::BTreeMap;

use crate::exit;
use faultlens::campaign::cases::Cases;
use faultlens::human_study::{Protocol, Stimulus, StimulusKind, StudyRequest, fault, prepare};
use faultlens::spec::CaseSpec;
use serde_json::json;

use crate::args::PeoplePrepareArgs;
use crate::console::Console;
use crate::text::{self, Align};

const TENTHS: usize = 10;

pub(crate) fn run(args: &PeoplePrepareArgs, console: &mut Console) -> anyhow::Result<u8> {
    let spec = CaseSpec {
        data: args.data.clone(),
        format: None,
        part: args.part.clone(),
        label_column: args.label_column.clone(),
        sample: None,
    };
    let set = Cases::open(&spec, args.seed)?.set;
    let faults = args.faults.iter().map(|name| fault(name));
    let faults = faults.collect::<Result<Vec<_>, _>>()?;
    let protocol = Protocol::new(args.choices.0.clone(), args.data.clone(), args.seed);
    let protocol = Protocol { answers: args.answers, ..protocol };
    let groups = args.groups.iter().map(|group| (group.0.clone(), group.1.clone())).collect();
    let asked = StudyRequest { set: &set, protocol, groups, faults, images: args.images };
    let stimuli = prepare(&asked, &args.output)?;
    if args.json {
        as_json(args, &stimuli, console)?
    } else {
        as_text(args, &stimuli, console)?
    }
    Ok(exit::OK)
}

/// How visual change is spread over the versions with one fault.
struct Spread {
    min: f64,
    max: f64,
    tenths: [usize; TENTHS],
}

fn spreads(stimuli: &[Stimulus]) -> BTreeMap<&str, Spread> {
    let mut spreads = BTreeMap::new();
    for stimulus in stimuli.iter().filter(|stimulus| stimulus.kind == StimulusKind::Changed) {
        let spread = spreads.entry(stimulus.fault.as_str()).or_insert_with(|| Spread {
            min: 1.0,
            max: 0.0,
            tenths: [0; TENTHS],
        });
        let change = stimulus.visual_change;
        spread.min = spread.min.min(change);
        spread.max = spread.max.max(change);
        spread.tenths[((change * TENTHS as f64) as usize).min(TENTHS - 1)] += 1;
    }
    spreads
}

fn count(stimuli: &[Stimulus], kind: StimulusKind) -> usize {
    stimuli.iter().filter(|stimulus| stimulus.kind == kind).count()
}

fn as_json(
    args: &PeoplePrepareArgs,
    stimuli: &[Stimulus],
    console: &mut Console,
) -> anyhow::Result<()> {
    let faults: BTreeMap<&str, _> = spreads(stimuli)
        .into_iter()
        .map(|(fault, spread)| {
            let Spread { min, max, tenths } = spread;
            (fault, json!({"min": min, "max": max, "tenths": tenths}))
        })
        .collect();
    let easy = count(stimuli, StimulusKind::Easy);
    console.json(&json!({
        "study": args.output, "pictures": stimuli.len() - easy, "easy": easy, "faults": faults,
    }))
}

fn as_text(
    args: &PeoplePrepareArgs,
    stimuli: &[Stimulus],
    console: &mut Console,
) -> anyhow::Result<()> {
    let originals = count(stimuli, StimulusKind::Original);
    let easy = count(stimuli, StimulusKind::Easy);
    let spreads = spreads(stimuli);
    console.line(format_args!(
        "{originals} originals and {} versions of them; {easy} more for the test and the checks",
        count(stimuli, StimulusKind::Changed)
    ))?;
    let mut rows =
        vec![["fault", "visual change", "in each tenth, from 0 to 1"].map(str::to_owned)];
    for (fault, Spread { min, max, tenths }) in &spreads {
        let tenths: Vec<String> = tenths.iter().map(|count| format!("{count:>3}")).collect();
        rows.push([(*fault).to_owned(), format!("{min:.2} to {max:.2}"), tenths.join(" ")]);
    }
    for line in text::table([Align::Left, Align::Left, Align::Left], &rows) {
        console.line(line)?;
    }
    let people = (spreads.len() + 1) * args.answers as usize;
    console.line(format_args!(
        "\nit takes at least {people} people, since nobody sees two versions of one picture"
    ))?;
    Ok(console.line(format_args!("serve it: faultlens people serve {}", args.output.display()))?)
}
