//! What a reader should know of a run besides its rates.

use super::attribute::Context;
use super::format;
use super::summary::{Fairness, Masking};
use super::tally::Precision;
use faultlens_record::Spending;
use faultlens_record::store::{Hand, Recorded};
use faultlens_spec::Campaign;

/// How rates over several targets and faults are made where a rule stopped each for itself.
const POOLED: &str = "A rate over several targets or faults counts only the repeats that all of \
                      them have, because the stop rule ends each by its own outcomes; groups are \
                      then not compared by tests on single trials";

/// How rates are made where trials count differently.
const CORRECTED: &str = "Some fault locations were sampled more often than others on purpose. \
                         Rates are corrected for it by inverse-probability weights \
                         (Horvitz-Thompson for whole faults, a ratio of sums for layers, \
                         operators and bits). Trials of about the same weight form strata with \
                         Wilson's interval each, and these combine to the interval of the rate, \
                         so that rarely sampled strata keep wide intervals. Counts are of trials \
                         as they ran, and groups are not tested against each other";

/// How rates are made where one fault is behind many trials.
const PERMANENT: &str = "Permanent faults are applied to every case. The faults are the sample, \
                         not their trials: intervals follow from how much the rates of single \
                         faults vary";

/// Which trials layers and operators have.
const MANY_PLACES: &str = "Trials that hit several locations at once (mode) are in no rate by \
                           layer, operator or bit, since the effect cannot be attributed to one \
                           of them";

/// How intervals of means are made.
const MEANS: &str = "Means of shares (naturalness, average precision, lost confidence) have \
                     Student's interval of their logit, means of counts that of their logarithm, \
                     so that none leaves its range; average precision over all cases has a \
                     percentile bootstrap interval over cases";

/// Why searches are apart.
const SEARCHES: &str = "Faults with sites: boundary search an element for all bits that change \
                        the prediction. A search is not the outcome of a single fault, so it is \
                        in no rate and in no requirement; see the critical bits";

/// That a target's gradients mislead.
pub(super) fn misled(one: &Masking) -> String {
    let Masking { target, norm, epsilon, cases, asking, following, p_value } = one;
    format!(
        "{target} masks its gradients: perturbations of at most {epsilon} (norm {norm}) change \
         {asking} of {cases} predictions under query-based attacks, but {following} under \
         gradient-based ones (p = {}). Gradient-based attacks underestimate how vulnerable it is.",
        format::p_value(*p_value)
    )
}

/// What to know before trusting the numbers.
pub(super) fn warnings(context: &Context, progress: &Recorded) -> Vec<String> {
    let mut warnings = Vec::new();
    if !progress.complete {
        warnings.push(
            "The run is not complete: run the same command to resume. Rates cover the trials so \
             far."
                .to_owned(),
        );
    }
    if let Some((part, of)) = context.manifest.shard {
        warnings.push(format!(
            "The run is shard {part} of {of}: it is complete once all shards are merged."
        ));
    }
    let unreadable: Vec<&str> =
        context.cases().filter_map(|case| case.error.as_deref()).take(3).collect();
    let all = context.cases().filter(|case| case.error.is_some()).count();
    if all > 0 {
        let more = if all > unreadable.len() { ", …" } else { "" };
        warnings.push(format!(
            "{all} of {} cases cannot be read: {}{more}",
            context.manifest.cases,
            unreadable.join("; ")
        ));
    }
    warnings.extend(unanswered(context));
    warnings
}

/// Targets that gave no undisturbed answer to some cases, with the first reason.
fn unanswered(context: &Context) -> impl Iterator<Item = String> {
    (0..).zip(&context.manifest.targets).filter_map(|(at, target)| {
        let own = context.goldens().filter(|golden| golden.target == at);
        let readable = |case: u32| context.case(case).is_some_and(|case| case.error.is_none());
        let failed = own.filter(|golden| golden.error.is_some() && readable(golden.case));
        let errors: Vec<&str> = failed.filter_map(|golden| golden.error.as_deref()).collect();
        let first = errors.first()?;
        Some(format!(
            "{} fails without a fault on {} of {}, so their trials are skipped: {first}",
            target.name,
            errors.len(),
            format::counted(context.manifest.cases, "case")
        ))
    })
}

/// Services that have changed while they were asked.
pub(super) fn drifted(spending: Option<&Spending>) -> impl Iterator<Item = String> {
    let services = spending.map(|spent| spent.services.as_slice()).unwrap_or_default();
    services.iter().filter(|service| service.drifted > 0).map(|service| {
        format!(
            "{} changed during the run: {} of {} that were queried again got another prediction; \
             rates mix both versions",
            service.target,
            service.drifted,
            format::counted(service.control, "case")
        )
    })
}

/// Settings of fairness that fit nothing, so that what follows from them says nothing.
pub(super) fn unfair(campaign: &Campaign, told: &[Fairness]) -> Vec<String> {
    let Some(asked) = &campaign.fairness else { return Vec::new() };
    let mut warnings = Vec::new();
    if told.is_empty() {
        warnings.push(
            "Fairness cannot be measured: no case has a label, and no positive class is named"
                .to_owned(),
        );
    }
    let groups = || told.iter().flat_map(|one| &one.clean.groups);
    for name in &asked.privileged {
        if !told.is_empty() && !groups().any(|group| group.name.eq_ignore_ascii_case(name)) {
            warnings.push(format!("Fairness: no group is called {name}"));
        }
    }
    let never = groups().all(|group| group.found.is_none_or(|found| found.events == 0));
    if let Some(positive) = asked.positive.as_ref().filter(|_| !told.is_empty() && never) {
        warnings.push(format!("Fairness cannot be measured: no clean prediction is {positive}"));
    }
    warnings
}

/// What was done, one line each.
pub(super) fn method(
    context: &Context,
    campaign: &Campaign,
    precision: &Precision,
    weighted: bool,
) -> Vec<String> {
    let manifest = &context.manifest;
    let mut method = vec![
        format!("Cases: {} from {}", manifest.cases, manifest.data),
        format!("Oracle: {}", manifest.oracle),
    ];
    method.extend(manifest.guards.iter().map(|guard| format!("Guard: {guard}")));
    if let Some(stop) = &manifest.stop {
        method.push(format!("Stop rule: {stop}"));
    }
    if precision.sequential {
        method.push(POOLED.to_owned());
    }
    method.push(format!("Intervals: {precision}"));
    method.extend(context.has_means().then(|| MEANS.to_owned()));
    method.push(format!(
        "Intervals hold for {} and the trials drawn for {}, not for images in general",
        if manifest.cases == 1 {
            "this 1 case".to_owned()
        } else {
            format!("these {} cases", format::count(manifest.cases))
        },
        if manifest.cases == 1 { "it" } else { "them" }
    ));
    method.push("Skipped trials are in no denominator".to_owned());
    method.extend(weighted.then(|| CORRECTED.to_owned()));
    method.extend(context.has_permanent().then(|| PERMANENT.to_owned()));
    method.extend(context.has_many_places().then(|| MANY_PLACES.to_owned()));
    method.extend(context.has_searches().then(|| SEARCHES.to_owned()));
    let requirements = campaign.requirements.iter();
    method.extend(requirements.map(|requirement| format!("Requirement: {requirement}")));
    method.extend(campaign.preserve.iter().map(|one| format!("Requirement: {one}")));
    method
}

/// Where and with what the run was made.
pub(super) fn provenance(context: &Context, hands: &[Hand]) -> Vec<(String, String)> {
    let manifest = &context.manifest;
    let mut lines = vec![
        ("Begun".to_owned(), manifest.created.clone()),
        ("Seed".to_owned(), manifest.seed.to_string()),
        ("Campaign".to_owned(), manifest.fingerprint.clone()),
    ];
    // More than one where another version or machine went on with the run.
    lines.extend(hands.iter().map(|hand| {
        let Hand { faultlens, machine, from } = hand;
        ("Made by".to_owned(), format!("Faultlens {faultlens} on {machine}, from {from}"))
    }));
    for target in &manifest.targets {
        let line = format!("{} (SHA-256 {})", target.model, target.sha256);
        lines.push((format!("Target {}", target.name), line));
    }
    lines
}
