//! Sentences of the page.

use super::RetrainingPage;
use crate::escape::plain;
use faultlens_analysis::format::{count, counted, percent};
use faultlens_retrain::words::{cautions, points};
use faultlens_retrain::{Configuration, Findings, Metric, OfSeed, Origin, Plan, Retraining};

/// What every page has around its own sections.
pub(super) struct Frame {
    pub(super) lead: String,
    pub(super) figures: Vec<[String; 3]>,
    pub(super) warnings: Vec<String>,
    pub(super) method: Vec<String>,
    pub(super) provenance: Vec<(String, String)>,
}

impl Frame {
    pub(super) fn new(of: &RetrainingPage<'_>, known: &Findings) -> Self {
        let all = of.retraining;
        Self {
            lead: "Does a detector learn more from scenes in which it was found to fail? Three \
                   models go on from the same first one, for the same number of steps: with the \
                   originals alone, with failing scenes added, and with changed scenes that nobody \
                   looked at."
                .to_owned(),
            figures: figures(all, known),
            warnings: cautions(all),
            method: method(all),
            provenance: of.provenance.clone(),
        }
    }
}

fn figures(of: &Retraining, known: &Findings) -> Vec<[String; 3]> {
    let figure = |name: &str, value: String, note: String| [name.to_owned(), value, note];
    let difference = |less| {
        let mut all = known.differences.iter();
        let one = all.find(|one| one.less == less && one.metric == Metric::Ap);
        let told = one.map_or("–".to_owned(), |one| points(&one.known));
        // The interval is a note, so that the number stands in one line.
        let (value, interval) = told.split_once(' ').unwrap_or((&told, "without an interval"));
        [value.to_owned(), format!("points of COCO AP, {interval}")]
    };
    let (judged, failing) = of.seeds.iter().fold((0, 0), |(judged, failing), seed| {
        (judged + seed.used.judged, failing + seed.used.failing)
    });
    let share =
        if judged > 0 { percent(failing as f64 / judged as f64) + "%" } else { "–".into() };
    let [originals, originals_note] = difference(Configuration::Originals);
    let [unchecked, unchecked_note] = difference(Configuration::Unchecked);
    vec![
        figure("Failing − originals", originals, originals_note),
        figure("Failing − unchecked", unchecked, unchecked_note),
        figure("Scenes that fail", share, format!("of {} changed scenes", count(judged))),
        figure("Seeds", of.seeds.len().to_string(), "each the whole experiment once".to_owned()),
    ]
}

/// What the table says of a seed.
pub(super) fn seed(of: &OfSeed) -> [String; 7] {
    let used = &of.used;
    [
        of.seed.to_string(),
        count(of.scenes as u64),
        format!("{:.1}", 100.0 * of.first.ap),
        count(used.judged),
        count(used.failing),
        format!("{} of {}", count(used.failing_used as u64), count(used.different as u64)),
        format!("{} of {}", used.unchecked_failing, used.unchecked_used),
    ]
}

/// Where first models come from.
fn start(of: &Plan) -> String {
    match &of.origin {
        Origin::World { architecture, first_epochs, .. } => format!(
            "For each seed, {} is trained for {} on scenes of its own of the embedded world, and \
             stopped long before it has learned all that it could.",
            plain(architecture),
            counted(*first_epochs as u64, "epoch")
        ),
        Origin::Own { model, .. } => format!(
            "The first model is {}; seeds differ in what is drawn and in which order it is seen.",
            plain(&model.display().to_string())
        ),
    }
}

fn method(of: &Retraining) -> Vec<String> {
    let Plan { epochs, batch, per_object, label_inserted, .. } = of.plan;
    let labels = match label_inserted {
        true => {
            "Changed scenes have the labels of their backgrounds, and one of the inserted object."
        }
        false => {
            "Changed scenes have the labels of their backgrounds; the inserted object has none."
        }
    };
    vec![
        start(&of.plan),
        format!(
            "Objects cut out of the originals are put beside those that the first model finds, {} \
             for each. A scene fails where what the model finds of the rest changes: something is \
             lost, new, of another class, or overlaps its undisturbed box by less than half.",
            counted(per_object.into(), "scene")
        ),
        labels.to_owned(),
        "Failing scenes are drawn as they were placed and as far as their object moved, unchecked \
         ones only as they were placed; 2 − 3 compares both differences at once."
            .to_owned(),
        format!(
            "An epoch has twice as many images as there are originals in all configurations; the \
             first sees each original twice. {} of {} images a step, a constant learning rate, and \
             originals in the same places of the same order in all three.",
            counted(epochs as u64, "epoch"),
            batch
        ),
        format!(
            "Measured on {}. A number is the mean over all measurements of the retraining, as in \
             the paper; then the mean over the seeds with Student's 95% interval. Differences are \
             paired by seed. Each interval stands by itself: with several looked at, one may miss.",
            plain(&of.measured_on)
        ),
        "The paper's numbers are those of an SSD MobileNet on BDD100K, one run of each \
         configuration without intervals (Wang and Su, ASE'20, section 6.4): a remark, not a target."
            .to_owned(),
    ]
}
