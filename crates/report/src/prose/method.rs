//! How a run was made, one sentence each.

use faultlens_analysis::format::{count, limit, number};
use faultlens_analysis::{DetectionRule, MadeBy, Provenance, Summary, TargetFile};
use faultlens_spec::{Intervals, Method};

/// How rates over several targets and faults are made where a rule stopped each for itself.
const POOLED: &str = "A rate over several targets or faults counts only the repeats that all of \
                      them have, because the stop rule ends each by its own outcomes; groups are \
                      then not compared by tests on single trials";

/// How rates are made where trials count differently.
const CORRECTED: &str = "Some fault locations were sampled more often than others on purpose. \
                         Rates are corrected for it by inverse-probability weights \
                         (Horvitz-Thompson for whole faults, a ratio of sums for layers, operators \
                         and bits). Trials of about the same weight form strata with Wilson's \
                         interval each, and these combine to the interval of the rate, so that \
                         rarely sampled strata keep wide intervals. Counts are of trials as they \
                         ran, and groups are not tested against each other";

/// How rates are made where one fault is behind many trials.
const PERMANENT: &str = "Permanent faults are applied to every case. The faults are the sample, \
                         not their trials: intervals follow from how much the rates of single \
                         faults vary";

/// Which trials layers and operators have.
const SEVERAL_LOCATIONS: &str = "Trials that hit several locations at once (mode) are in no rate \
                                 by layer, operator or bit, since the effect cannot be attributed \
                                 to one of them";

/// How intervals of means are made.
const MEANS: &str = "Means of shares (naturalness, average precision, lost confidence) have \
                     Student's interval of their logit, means of counts that of their logarithm, \
                     so that none leaves its range; average precision over all cases has a \
                     percentile bootstrap interval over cases";

/// Why searches are apart.
const SEARCHES: &str = "Faults with sites: boundary search an element for all bits that change the \
                        prediction. A search is not the outcome of a single fault, so it is in no \
                        rate and in no requirement; see the critical bits";

/// "Wilson 95% intervals".
pub(crate) fn intervals(intervals: &Intervals) -> String {
    let method = match intervals.method {
        Method::Wilson => "Wilson",
        Method::ClopperPearson => "Clopper-Pearson",
    };
    format!("{method} {} intervals", limit(intervals.level.confidence()))
}

/// What was done, one sentence each.
pub(crate) fn method(summary: &Summary) -> Vec<String> {
    let method = &summary.method;
    let mut sentences = vec![
        format!("Cases: {} from {}", method.cases, method.data),
        format!("Oracle: {}", method.oracle),
    ];
    sentences.extend(method.detections.as_ref().map(detection_rule));
    sentences.extend(method.guards.iter().map(|guard| format!("Guard: {guard}")));
    if let Some(stop) = &method.stop {
        sentences.push(format!("Stop rule: {stop}"));
    }
    if method.sequential {
        sentences.push(POOLED.to_owned());
    }
    sentences.push(format!("Intervals: {}", intervals(&summary.intervals)));
    if method.means {
        sentences.push(MEANS.to_owned());
    }
    sentences.push(if method.cases == 1 {
        "Intervals hold for this 1 case and the trials drawn for it, not for images in general"
            .to_owned()
    } else {
        format!(
            "Intervals hold for these {} cases and the trials drawn for them, not for images in \
             general",
            count(method.cases)
        )
    });
    sentences.push("Skipped trials are in no denominator".to_owned());
    for (applies, sentence) in [
        (summary.weighted, CORRECTED),
        (method.permanent, PERMANENT),
        (method.several_locations, SEVERAL_LOCATIONS),
        (method.searches, SEARCHES),
    ] {
        if applies {
            sentences.push(sentence.to_owned());
        }
    }
    let requirements = method.requirements.iter();
    sentences.extend(requirements.map(|requirement| format!("Requirement: {requirement}")));
    sentences
}

/// When an answer with objects counts as changed.
fn detection_rule(rule: &DetectionRule) -> String {
    let mut text = format!(
        "Detections count as changed where an object is lost or new: one without a partner of its \
         class in the other answer that overlaps it by an IoU of at least {}",
        number(rule.iou, 3)
    );
    if rule.score_band > 0.0 {
        text.push_str(&format!(
            ". An object that scores less than {} above the lowest score that the target reports \
             does not count, since it comes and goes with the smallest change",
            number(rule.score_band, 3)
        ));
    }
    let mut allowed = Vec::new();
    if rule.max_lost > 0.0 {
        allowed.push(format!("{} lost", number(rule.max_lost, 3)));
    }
    if rule.max_new > 0.0 {
        allowed.push(format!("{} new", number(rule.max_new, 3)));
    }
    if rule.max_share > 0.0 {
        allowed.push(format!("{} of the objects lost or new", limit(rule.max_share)));
    }
    if !allowed.is_empty() {
        text.push_str(&format!(". Allowed: {}", allowed.join(", ")));
    }
    text
}

/// Where and with what a run was made, as names and values.
pub(crate) fn provenance(provenance: &Provenance) -> Vec<(String, String)> {
    let mut facts = vec![
        ("Begun".to_owned(), provenance.begun.clone()),
        ("Seed".to_owned(), provenance.seed.to_string()),
        ("Campaign".to_owned(), provenance.campaign.clone()),
    ];
    // More than one where another version or machine went on with the run.
    for MadeBy { version, machine, from } in &provenance.made_by {
        let value = format!("Faultlens {version} on {machine}, from {from}");
        facts.push(("Made by".to_owned(), value));
    }
    for TargetFile { name, model, sha256 } in &provenance.targets {
        facts.push((format!("Target {name}"), format!("{model} (SHA-256 {sha256})")));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_stats::Level;

    #[test]
    fn the_rule_for_detections_names_what_it_allows() {
        let strict = DetectionRule {
            iou: 0.5,
            score_band: 0.0,
            max_lost: 0.0,
            max_new: 0.0,
            max_share: 0.0,
        };
        let text = detection_rule(&strict);
        assert!(text.ends_with("an IoU of at least 0.5"), "{text}");
        let text = detection_rule(&DetectionRule { score_band: 0.1, max_share: 0.2, ..strict });
        assert!(text.contains("scores less than 0.1 above the lowest score"), "{text}");
        assert!(text.ends_with("Allowed: 20% of the objects lost or new"), "{text}");
    }

    #[test]
    fn intervals_name_their_formula_and_level() {
        let named = |method, confidence| {
            intervals(&Intervals { method, level: Level::new(confidence).unwrap() })
        };
        assert_eq!(named(Method::Wilson, 0.95), "Wilson 95% intervals");
        assert_eq!(named(Method::ClopperPearson, 0.999), "Clopper-Pearson 99.9% intervals");
    }
}
