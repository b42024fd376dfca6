//! What to know before trusting the numbers.

use super::scenes::unstable_target;
use faultlens_analysis::format::{counted, p_value};
use faultlens_analysis::{Masking, Summary, Warning};

/// The warnings of a run.
pub fn warnings(summary: &Summary) -> Vec<String> {
    summary.warnings.iter().map(sentence).collect()
}

fn sentence(warning: &Warning) -> String {
    match warning {
        Warning::Incomplete => "The run is not complete: run the same command to resume. Rates \
                                cover the trials so far."
            .to_owned(),
        Warning::WithoutChecksums => "An older version of faultlens wrote this run, without \
                                      checksums: damage to its files may go unnoticed."
            .to_owned(),
        Warning::Shard { part, of } => {
            format!("The run is shard {part} of {of}: it is complete once all shards are merged.")
        }
        Warning::UnreadableCases { unreadable, of, errors } => {
            let more = if *unreadable > errors.len() as u64 { ", …" } else { "" };
            format!("{unreadable} of {of} cases cannot be read: {}{more}", errors.join("; "))
        }
        Warning::FailsWithoutFault { target, failed, of, error } => format!(
            "{target} fails without a fault on {failed} of {}, so their trials are skipped: {error}",
            counted(*of, "case")
        ),
        Warning::ServiceChanged { target, changed, queried } => format!(
            "{target} changed during the run: {changed} of {} that were queried again got another \
             prediction; rates mix both versions",
            counted(*queried, "case")
        ),
        Warning::FairnessWithoutLabels => {
            "Fairness cannot be measured: no case has a label, and no positive class is named"
                .to_owned()
        }
        Warning::UnknownPrivilegedGroup(name) => format!("Fairness: no group is called {name}"),
        Warning::NoPositivePrediction(class) => {
            format!("Fairness cannot be measured: no clean prediction is {class}")
        }
        Warning::MaskedGradients(masking) => masked_gradients(masking),
        Warning::UnstableTarget { target, cases } => unstable_target(target, *cases),
    }
}

fn masked_gradients(one: &Masking) -> String {
    let Masking { target, norm, epsilon, cases, asking, following, p_value: p } = one;
    format!(
        "{target} masks its gradients: perturbations of at most {epsilon} (norm {norm}) change \
         {asking} of {cases} predictions under query-based attacks, but {following} under \
         gradient-based ones (p = {}). Gradient-based attacks underestimate how vulnerable it is.",
        p_value(*p)
    )
}
