//! The result as a page.

use faultlens::analysis::format::{count, counted, percent};
use faultlens::report::tolerance_format::{edge, interval, threshold};
use faultlens::report::{ToleranceCurve, ToleranceOf, TolerancePage, tolerance};
use faultlens::stats::tolerance::{MORE_THAN, Rule};

use super::analysis::{Findings, Measured, OfOne};
use super::{names, words};
use crate::args::ToleranceArgs;

/// The page of what was found.
pub(super) fn page(args: &ToleranceArgs, found: &Findings) -> anyhow::Result<String> {
    let left_out = found
        .left_out
        .iter()
        .map(|(fault, why)| format!("{} left out: {why}", names::displayed(fault)));
    let page = TolerancePage {
        title: words::title(args),
        lead: lead(found),
        warnings: found.notes.iter().cloned().chain(left_out).collect(),
        figures: figures(found),
        faults: found.faults.iter().map(one).collect(),
        meaning: words::meaning(found.rule),
        method: method(args, found.rule),
        provenance: provenance(args),
    };
    Ok(tolerance(&page))
}

fn one(of: &OfOne) -> ToleranceOf {
    let curve = |part: &Result<Measured, String>| match part {
        Err(why) => Err(why.clone()),
        Ok(of) => Ok(ToleranceCurve {
            found: of.found.clone(),
            interval: of.interval,
            answers: of.evidence.bins().clone(),
            alike: (of.similar, of.pairs),
        }),
    };
    ToleranceOf {
        fault: of.fault.clone(),
        correctness: curve(&of.correctness),
        prediction: curve(&of.prediction),
    }
}

/// The threshold of the only fault, or the range over all faults; `None` where none has one.
fn threshold_range(
    found: &Findings,
    pick: fn(&OfOne) -> &Result<Measured, String>,
) -> Option<String> {
    let all: Vec<&Measured> =
        found.faults.iter().filter_map(|one| pick(one).as_ref().ok()).collect();
    if let [only] = all[..] {
        return Some(format!("of {} {}", threshold(&only.found), interval(&only.interval)));
    }
    let low = all.iter().map(|of| of.found.value).reduce(f64::min)?;
    let high = all.iter().map(|of| of.found.value).reduce(f64::max)?;
    Some(format!("between {} and {}", edge(low), edge(high)))
}

/// Both thresholds of one fault, or the range over all.
fn lead(found: &Findings) -> String {
    let what = match &found.faults[..] {
        [one] => names::displayed(&one.fault),
        all => counted(all.len() as u64, "fault"),
    };
    let [right, same] = match found.rule.stated_drop() {
        Some(drop) => {
            let points = words::in_points(drop);
            [
                format!("lose fewer than {points} points of right answers"),
                format!("lose fewer than {points} points of answers as on the original"),
            ]
        }
        None => ["are correct as often as on the original", "answer as on the original"]
            .map(str::to_owned),
    };
    let parts = [
        (right, threshold_range(found, |one| &one.correctness)),
        (same, threshold_range(found, |one| &one.prediction)),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .filter_map(|(what, range)| Some(format!("{what} up to a visual change {}", range?)))
        .collect();
    format!("Under {what}, people {}.", parts.join(", and "))
}

fn figures(found: &Findings) -> Vec<[String; 3]> {
    let mut figures = vec![
        ["Faults".to_owned(), count(found.faults.len() as u64), "with a threshold".to_owned()],
        ["Answers".to_owned(), count(found.answers()), "on changed images".to_owned()],
    ];
    if let Some(originals) = found.originals {
        let note =
            originals.n.map_or("as given".to_owned(), |n| format!("of {} answers", count(n)));
        let rate = format!("{}%", percent(originals.rate));
        figures.push(["Right on the originals".to_owned(), rate, note]);
    }
    figures
}

fn method(args: &ToleranceArgs, rule: Rule) -> Vec<String> {
    let reference = match rule {
        Rule::Default => {
            "t_c: exact binomial test against the accuracy on the originals. t_p: Fisher's exact \
             test against the lowest bins that hold 5% of the answers. A drop is two bins in a row \
             at 5%; the threshold is the upper edge of the second, 1 without a drop."
        }
        Rule::PublishedImagenet => {
            "Exact binomial tests; t_p against the agreement in the lowest twentieth of the bins, \
             taken as known. A drop is two bins in a row at 5%; without one the edge of the last \
             but one bin."
        }
        Rule::PublishedCifar10 => {
            "Exact binomial tests; t_p against the agreement in the lower half of the answers, \
             taken as known. A drop is the first bin at 5%."
        }
        Rule::StatedDrop(_) => {
            "The curve, made to fall only (pool adjacent violators), comes down by the stated drop \
             from the accuracy on the originals (t_c), or from the agreement in the lowest bins that \
             hold 5% of the answers (t_p); 1 where it does not."
        }
    };
    vec![
        format!(
            "Answers in bins of one hundredth of visual change; those with more than {MORE_THAN} \
             are kept."
        ),
        "A cubic smoothing spline through their rates, weighted by answers, as R's smooth.spline, \
         its smoothness chosen by leaving bins out."
            .to_owned(),
        format!("Rule {}. {reference}", rule.name()),
        format!(
            "Intervals: {} rounds, in which images are drawn once more with all their answers (of \
             tables: hits in each bin); a round without a drop counts as 1. Seed {}.",
            count(args.rounds),
            args.seed
        ),
        "Parts are two random 60% of the answers of each bin; they are alike where their 83% bands \
         overlap in every bin."
            .to_owned(),
    ]
}

fn provenance(args: &ToleranceArgs) -> Vec<(String, String)> {
    let files = args.files.iter().map(|path| ("File".to_owned(), path.display().to_string()));
    let rule = args.definition();
    let drop = rule.stated_drop().map(|drop| format!(", {} points", words::in_points(drop)));
    let rule = ("Rule".to_owned(), rule.name().to_owned() + &drop.unwrap_or_default());
    files.chain([rule]).collect()
}
