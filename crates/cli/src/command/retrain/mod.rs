//! `faultlens retrain`: whether a detector learns more from scenes in which it fails.

mod follow;

use std::path::Path;
use std::time::SystemTime;

use crate::exit;
use faultlens::record::store::timestamp;
use faultlens::report::retraining_prose::{cautions, conclusions, percent, points};
use faultlens::report::{RetrainingPage, retraining};
use faultlens::retrain::{
    Configuration, Findings, Metric, Origin, Plan, RetrainError, Retraining, Workers, findings,
    is_experiment, load, object, retrain,
};

use crate::args::RetrainArgs;
use crate::command::run::interruptible;
use crate::command::{threads, write};
use crate::console::Console;
use crate::text::{self, Align};
use follow::Follower;

/// The page, in the experiment's folder.
const PAGE: &str = "report.html";

/// Runs the rest of an experiment, and reports its findings.
pub(crate) fn run(args: &RetrainArgs, console: &mut Console) -> anyhow::Result<u8> {
    let mut known = None;
    if args.is_bare() && is_experiment(&args.out) {
        known = Some(load(&args.out)?);
    }
    let done = match known {
        Some(known) if known.is_complete() => known,
        known => {
            let plan = known.map_or_else(|| plan(args), |known| known.plan);
            let interrupted = interruptible()?;
            let workers = Workers { threads: threads(args.threads), interrupted };
            let mut follower = Follower::new(console);
            let done = retrain(&plan, &args.out, &workers, &mut |news| follower.take(news));
            if let Err(RetrainError::Stopped) = done {
                console
                    .aside("interrupted; results so far are kept, run the same command to resume");
                return Ok(exit::INTERRUPTED);
            }
            done?
        }
    };
    report(&done, args, console)?;
    Ok(exit::OK)
}

/// The experiment that is asked for.
fn plan(args: &RetrainArgs) -> Plan {
    let origin = match (&args.model, &args.data, &args.evaluate, Origin::world()) {
        (Some(model), Some(data), Some(evaluate), _) => Origin::Own {
            model: model.clone(),
            data: data.clone(),
            evaluate: evaluate.clone(),
            objects: args.objects.clone(),
        },
        (_, _, _, Origin::World { architecture, first_epochs, held_out }) => Origin::World {
            architecture: args.architecture.clone().unwrap_or(architecture),
            first_epochs: args.first_epochs.unwrap_or(first_epochs),
            held_out: args.held_out.unwrap_or(held_out),
        },
        (_, _, _, usual) => usual,
    };
    let usual = Plan::new(origin);
    Plan {
        seed: args.seed.unwrap_or(usual.seed),
        seeds: args.seeds.unwrap_or(usual.seeds),
        scenes: args.scenes.or(usual.scenes),
        epochs: args.epochs.unwrap_or(usual.epochs),
        every: args.every.unwrap_or(usual.every),
        batch: args.batch.unwrap_or(usual.batch),
        rate: args.rate.or(usual.rate),
        per_object: args.per_object.unwrap_or(usual.per_object),
        label_inserted: args.label_inserted,
        ..usual
    }
}

/// Writes the page, and shows the findings.
fn report(of: &Retraining, args: &RetrainArgs, console: &mut Console) -> anyhow::Result<()> {
    let path = args.out.join(PAGE);
    write(&path, page(of, &args.out))?;
    if args.json {
        return console.json(&object(of));
    }
    let known = findings(of);
    table(&known, console)?;
    for text in conclusions(&known) {
        console.line(format_args!("  • {text}"))?;
    }
    for caution in cautions(of) {
        console.note(format_args!("note: {caution}"))?;
    }
    Ok(console.line(format_args!("report: {}", path.display()))?)
}

fn page(of: &Retraining, folder: &Path) -> String {
    let provenance = vec![
        ("faultlens".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ("written".to_owned(), timestamp(SystemTime::now())),
    ];
    retraining(&RetrainingPage { retraining: of, folder, provenance })
}

fn table(of: &Findings, console: &mut Console) -> anyhow::Result<()> {
    let owned = |text: &str| text.to_owned();
    let names = Metric::ALL.map(|metric| metric.name().to_owned());
    let [ap, ap50, voc] = names;
    let mut rows = vec![[owned("mean over seeds, in percent"), ap, ap50, voc, owned("paper")]];
    let [ap, ap50, voc] = cells(of.first.iter().map(|(_, known)| percent(known)));
    rows.push([owned("0 the first model"), ap, ap50, voc, owned("")]);
    for (number, configuration) in (1..).zip(Configuration::ALL) {
        let mine = of.rows.iter().filter(|row| row.configuration == configuration);
        let [ap, ap50, voc] = cells(mine.map(|row| percent(&row.throughout)));
        let name = format!("{number} {}", configuration.about());
        rows.push([name, ap, ap50, voc, format!("{:.1}", configuration.paper())]);
    }
    for (name, less) in [("2 − 1", Configuration::Originals), ("2 − 3", Configuration::Unchecked)]
    {
        let mine = of.differences.iter().filter(|one| one.less == less);
        let [ap, ap50, voc] = cells(mine.map(|one| points(&one.known)));
        rows.push([name.to_owned(), ap, ap50, voc, owned("")]);
    }
    let align = [Align::Left, Align::Right, Align::Right, Align::Right, Align::Left];
    for line in text::table(align, &rows) {
        console.line(line)?;
    }
    Ok(())
}

/// As many cells as there are metrics.
fn cells(mut values: impl Iterator<Item = String>) -> [String; 3] {
    std::array::from_fn(|_| values.next().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Args, Command};
    use clap::Parser;

    fn asked(line: &str) -> Result<RetrainArgs, String> {
        let words = ["faultlens", "retrain"].into_iter().chain(line.split_whitespace());
        match Args::try_parse_from(words).map_err(|error| error.to_string())?.command {
            Command::Retrain(args) => Ok(args),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn help_tells_the_defaults_that_the_library_has() {
        let plan = plan(&asked("--out d").unwrap());
        assert_eq!(plan, Plan::new(Origin::world()));
        let help = asked("--help").unwrap_err();
        let Origin::World { architecture, first_epochs, held_out } = &plan.origin else { panic!() };
        for wanted in [
            format!("repetition of the whole experiment [default: {}]", plan.seeds),
            format!("added [default: {};", plan.scenes.unwrap()),
            format!("evaluate on [default: {held_out}]"),
            format!("[default: {architecture}]"),
            format!("Training epochs of the first models [default: {first_epochs}]"),
            format!("[default: {}]", plan.epochs),
            format!("Images per step [default: {}]", plan.batch),
            format!("finds [default: {}]", plan.per_object),
        ] {
            let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(help.contains(&wanted), "{wanted}: {help}");
        }
    }

    #[test]
    fn a_folder_alone_means_its_own_experiment() {
        for (line, bare) in [
            ("--out d", true),
            ("--out d --json --threads 2", true),
            ("--out d --seeds 5", false),
            ("--out d --label-inserted", false),
            ("--out d --rate 0.1", false),
            ("--out d --model m --data a --evaluate b", false),
        ] {
            assert_eq!(asked(line).unwrap().is_bare(), bare, "{line}");
        }
        assert!(asked("--out d --model m").unwrap_err().contains("--evaluate"));
        assert!(asked("--out d --data m").unwrap_err().contains("--model"));
    }
}
