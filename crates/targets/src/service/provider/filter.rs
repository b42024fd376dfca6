//! Which of a service's labels and objects count.

use super::super::error::ServiceError;
use super::super::spec::{ServiceLabels, ServiceSpec};
use faultlens_core::{
    Bounds, Detection, Detections, Names, Ranking, Response, class_called, did_you_mean,
};

/// The labels that count, how many of them, and the least confidence.
#[derive(Debug, Clone)]
pub(super) struct LabelFilter {
    /// In lower case; empty where all labels count.
    only: Vec<String>,
    pub(super) max_labels: usize,
    pub(super) min_confidence: f64,
}

impl LabelFilter {
    /// As the spec has it; `usual` are the labels that count where it names none.
    pub(super) fn new(spec: &ServiceSpec, usual: &[&str]) -> Result<Self, ServiceError> {
        let only = match &spec.labels {
            ServiceLabels::Default => usual.iter().map(|name| folded(name)).collect(),
            ServiceLabels::Only(names) => names.iter().map(|name| folded(name)).collect(),
            ServiceLabels::ClassNames(path) => {
                return Err(ServiceError::Setting(format!(
                    "{} answers with names, so that labels must be a list of those that count, \
                     not a file: {}",
                    spec.provider,
                    path.display()
                )));
            }
        };
        Ok(Self { only, max_labels: spec.max_labels, min_confidence: spec.min_confidence })
    }

    /// The same where the service has no other labels than `known`: a misspelt one would silently
    /// match nothing.
    pub(super) fn among(
        spec: &ServiceSpec,
        known: &[&str],
        usual: &[&str],
    ) -> Result<Self, ServiceError> {
        if let ServiceLabels::Only(names) = &spec.labels {
            for name in names {
                if !known.contains(&folded(name).as_str()) {
                    let hint = match did_you_mean(name, known.iter().copied()) {
                        Some(near) => format!("did you mean {near:?}?"),
                        None => format!("it has {}", known.join(", ")),
                    };
                    return Err(ServiceError::Setting(format!(
                        "{} has no label {name:?} for this task; {hint}",
                        spec.provider
                    )));
                }
            }
        }
        Self::new(spec, usual)
    }

    /// Whether some labels do not count.
    pub(super) fn is_restricted(&self) -> bool {
        !self.only.is_empty()
    }

    /// Whether a label counts.
    pub(super) fn accepts(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.contains(&folded(name))
    }

    /// Whether a score is high enough.
    pub(super) fn is_confident(&self, score: f32) -> bool {
        score >= self.min_confidence as f32
    }

    /// A ranking of the labels that count, best first: not all services sort them.
    pub(super) fn ranking(&self, mut labels: Vec<(String, f32)>) -> Response {
        best_first(&mut labels);
        self.ranking_in_order(labels)
    }

    /// A ranking of the labels that count, in the service's own order.
    pub(super) fn ranking_in_order(&self, mut labels: Vec<(String, f32)>) -> Response {
        labels.retain(|(name, _)| self.accepts(name));
        self.cut(labels)
    }

    /// A ranking of labels that were found to count before, best first.
    pub(super) fn ranking_of_accepted(&self, mut labels: Vec<(String, f32)>) -> Response {
        best_first(&mut labels);
        self.cut(labels)
    }

    fn cut(&self, labels: Vec<(String, f32)>) -> Response {
        let labels = labels.into_iter().filter(|(_, score)| self.is_confident(*score));
        Response::Ranking(Ranking::of_names(labels.take(self.max_labels)))
    }

    /// The objects that count, highest score first.
    pub(super) fn detections(&self, mut objects: Vec<(String, f32, Bounds)>) -> Response {
        objects.retain(|(name, score, _)| self.accepts(name) && self.is_confident(*score));
        let names = Names::reported(objects.iter().map(|(name, ..)| name.as_str()));
        let mut found: Vec<Detection> = Vec::with_capacity(objects.len());
        for (name, score, bounds) in &objects {
            found.push(Detection { class: class_called(name), score: *score, bounds: *bounds });
        }
        found.sort_by(Detection::by_descending_score);
        // A service that is asked for everything has a limit of its own, which it does not tell.
        let min_score = (self.min_confidence > 0.0).then_some(self.min_confidence as f32);
        Response::Detections(Detections { found, names, finite: true, min_score })
    }
}

/// Equal scores keep the service's order, since the sort is stable.
fn best_first(labels: &mut [(String, f32)]) {
    labels.sort_by(|(_, a), (_, b)| b.total_cmp(a));
}

fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}
