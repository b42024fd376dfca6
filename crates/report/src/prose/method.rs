//! How a run was made, one sentence each.

use faultlens_analysis::format::{counted, limit, number};
use faultlens_analysis::{DetectionRule, MadeBy, Provenance, Summary, TargetFile};
use faultlens_spec::{Method, Population};
use faultlens_stats::MIN_IMAGES;

/// How rates over several targets and faults are made where a rule stopped each for itself.
const POOLED: &str = "A rate over several targets or faults counts only the repeats that all of \
                      them have, because the stop rule ends each by its own outcomes; groups are \
                      compared image by image";

/// How rates are made where trials count differently.
const CORRECTED: &str = "Some fault locations were sampled more often than others on purpose. \
                         Rates are corrected for it by inverse-probability weights \
                         (Horvitz-Thompson for whole faults, a ratio of sums for layers, operators \
                         and bits). Intervals are no narrower than those of strata of about equal \
                         weight, each with Wilson's interval, combined (MOVER), so that rarely \
                         sampled strata keep wide intervals. Counts are of trials as they \
                         ran, and groups are not tested against each other";

/// How rates are made where one fault is behind many trials.
const PERMANENT: &str = "Permanent faults are applied to every case. Images and faults are both a \
                         sample: intervals are clustered two ways (Cameron, Gelbach and Miller), \
                         and never count more trials than there are faults";

/// Which trials layers and operators have.
const SEVERAL_LOCATIONS: &str = "Trials that hit several locations at once (mode) are left out of \
                                 rates by layer, operator or bit, since the effect cannot be \
                                 attributed to one of them";

/// How intervals of means are made.
const MEANS: &str = "Means of shares (naturalness, average precision, confidence) have Student's \
                     interval of their logit, means of counted objects and letters that of their \
                     logarithm, so that none leaves its range; average precision over all images \
                     has a percentile bootstrap interval over images";

/// Why searches are apart.
const SEARCHES: &str = "Faults with sites: boundary search an element for all bits that change the \
                        prediction. A search is not the outcome of a single fault, so it counts in \
                        no rate and no requirement; see the critical bits";

/// What the brackets of a run are: "95% intervals for new images".
pub(crate) fn intervals(summary: &Summary) -> String {
    let level = limit(summary.intervals.level.confidence());
    match population(summary) {
        Population::NewImages => format!("{level} intervals for new images"),
        Population::TheseImages => format!("{level} intervals for these images"),
    }
}

/// Which images the rates of a run speak of.
pub(crate) fn population(summary: &Summary) -> Population {
    if summary.method.images < MIN_IMAGES {
        Population::TheseImages
    } else {
        summary.intervals.population
    }
}

/// Which images the rates speak of, for readers who are no statisticians.
pub(crate) fn about_population(summary: &Summary) -> String {
    let images = counted(summary.method.images, "image");
    let level = limit(summary.intervals.level.confidence());
    if summary.method.images < MIN_IMAGES {
        return format!(
            "Brackets are {level} intervals for the {images} tested and no others: fewer than \
             {MIN_IMAGES} say nothing about new images."
        );
    }
    match summary.intervals.population {
        Population::NewImages => format!(
            "Brackets are {level} intervals for new images of the same kind. They take the {images} \
             tested for a random sample of those."
        ),
        Population::TheseImages => {
            format!("Brackets are {level} intervals for the {images} tested, not for new images.")
        }
    }
}

/// How intervals are made, by their real names.
fn formula(summary: &Summary) -> String {
    let method = match summary.intervals.method {
        Method::Wilson => "Wilson's interval",
        Method::ClopperPearson => "Clopper and Pearson's interval (as Korn and Graubard use it)",
    };
    match population(summary) {
        Population::NewImages => format!(
            "Trials on the same image resemble each other, so they count as fewer independent \
             trials; how many fewer follows from how much the rates of images differ. Where \
             nothing or everything changed, each image counts once. Groups of fewer than \
             {MIN_IMAGES} images have intervals for these images. (Technically: {method} with the \
             effective sample size of the design effect, linearised variance by image, Student's \
             quantile for as many images as make up the variance)"
        ),
        Population::TheseImages => format!(
            "Intervals: {method} for the random draws within each image (stratified); a fault that \
             draws nothing is exact"
        ),
    }
}

/// How verdicts are made.
const VERDICTS: &str = "Verdicts use a more cautious interval than the rest of this report \
                        (Gaffke's bound, one value for each image). It holds however much images \
                        differ, and allows for a rare kind of image that always fails and is not \
                        among those tested";

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
    sentences.push(about_population(summary).trim_end_matches('.').to_owned());
    sentences.push(formula(summary));
    if !method.requirements.is_empty() {
        sentences.push(VERDICTS.to_owned());
    }
    if method.means {
        sentences.push(MEANS.to_owned());
    }
    sentences.push("Skipped trials are left out of all rates".to_owned());
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
}
