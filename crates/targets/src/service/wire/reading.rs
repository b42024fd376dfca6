//! What the answers of services have in common: names, scores, boxes and texts, none of them
//! taken on trust.

use super::super::{Service, ServiceError, ServiceSpec};
use super::{Picture, Problem, problem};
use faultlens_core::{
    Bounds, Detection, Detections, Image, Names, Ranking, Response, TargetError, Text,
    class_called, did_you_mean,
};
use serde::de::DeserializeOwned;

/// More entries than any service answers.
pub(super) const MOST_ENTRIES: usize = 10_000;

/// The longest name of a label, and the longest text, in characters.
const MOST_NAME: usize = 1_000;
const MOST_TEXT: usize = 1_000_000;

/// The largest side of a box, in sides of the image: parts may stick out, by so much.
const MOST_SIDES: f64 = 100.0;

/// What faces are called, which services do not name.
pub(super) const FACE: &str = "face";

/// A broken answer, in words.
pub(super) fn broken<T>(why: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Broken(why.into()))
}

/// The JSON of a body.
pub(super) fn json<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).or_else(|error| {
        let what = problem::of_body(body);
        broken(format!("the answer cannot be read, {error}; it begins with {what:?}"))
    })
}

/// The labels that count, how many and how sure.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    considered: Vec<String>,
    pub(super) most: usize,
    pub(super) least: f64,
}

impl Wanted {
    /// As the spec has it; `usual` are the labels that count where it names none.
    pub(super) fn new(spec: &ServiceSpec, usual: &[&str]) -> Self {
        let names = |names: &mut dyn Iterator<Item = &str>| names.map(folded).collect();
        let considered = match spec.considered.is_empty() {
            true => names(&mut usual.iter().copied()),
            false => names(&mut spec.considered.iter().map(String::as_str)),
        };
        Self { considered, most: spec.most, least: spec.least }
    }

    /// The same where the service knows no other labels than these: a misspelt one would count
    /// for nothing, in silence.
    pub(super) fn among(
        spec: &ServiceSpec,
        known: &[&str],
        usual: &[&str],
    ) -> Result<Self, ServiceError> {
        let is_known = |name: &&String| known.contains(&folded(name).as_str());
        match spec.considered.iter().find(|name| !is_known(name)) {
            None => Ok(Self::new(spec, usual)),
            Some(name) => {
                let all = || format!("it has {}", known.join(", "));
                let near = did_you_mean(name, known.iter().copied());
                let hint = near.map_or_else(all, |near| format!("did you mean {near:?}?"));
                let why = format!("{} has no label {name:?} of this task; {hint}", spec.of);
                Err(ServiceError::Setting(why))
            }
        }
    }

    /// Whether some labels do not count.
    pub(super) fn is_choosy(&self) -> bool {
        !self.considered.is_empty()
    }

    /// Whether a label counts.
    pub(super) fn counts(&self, name: &str) -> bool {
        self.considered.is_empty() || self.considered.contains(&folded(name))
    }

    /// Whether an answer is sure enough.
    pub(super) fn suffices(&self, score: f32) -> bool {
        score >= self.least as f32
    }

    /// The labels that count, best first: services that promise no order are put in one.
    pub(super) fn ranking(&self, mut labels: Vec<(String, f32)>) -> Response {
        best_first(&mut labels);
        self.ranking_in_order(labels)
    }

    /// The labels that count, in the service's own order.
    pub(super) fn ranking_in_order(&self, mut labels: Vec<(String, f32)>) -> Response {
        labels.retain(|(name, _)| self.counts(name));
        self.chosen_in_order(labels)
    }

    /// Labels of which it is known that they count, best first.
    pub(super) fn chosen(&self, mut labels: Vec<(String, f32)>) -> Response {
        best_first(&mut labels);
        self.chosen_in_order(labels)
    }

    fn chosen_in_order(&self, labels: Vec<(String, f32)>) -> Response {
        let labels = labels.into_iter().filter(|(_, score)| self.suffices(*score));
        Response::Ranking(Ranking::of_names(labels.take(self.most)))
    }

    /// The objects that count, surest first.
    pub(super) fn detections(&self, objects: Vec<(String, f32, Bounds)>) -> Response {
        let wanted =
            |(name, score, _): &&(String, f32, Bounds)| self.counts(name) && self.suffices(*score);
        let objects: Vec<&(String, f32, Bounds)> = objects.iter().filter(wanted).collect();
        let names = Names::reported(objects.iter().map(|(name, ..)| name.as_str()));
        let found = |&(name, score, bounds): &&(String, f32, Bounds)| Detection {
            class: class_called(name),
            score: *score,
            bounds: *bounds,
        };
        let mut found: Vec<Detection> = objects.iter().map(found).collect();
        found.sort_by(Detection::surest_first);
        Response::Detections(Detections { found, names, finite: true })
    }
}

/// Equal scores keep the service's order.
fn best_first(labels: &mut [(String, f32)]) {
    labels.sort_by(|(_, a), (_, b)| b.total_cmp(a));
}

fn folded(name: &str) -> String {
    name.trim().to_lowercase()
}

/// A list that is no longer than lists are.
pub(super) fn bounded<T>(list: Vec<T>) -> Result<Vec<T>, Problem> {
    match list.len() > MOST_ENTRIES {
        true => broken(format!("{} entries, where {MOST_ENTRIES} are the most", list.len())),
        false => Ok(list),
    }
}

/// A label's name.
pub(super) fn name(name: String) -> Result<String, Problem> {
    if name.trim().is_empty() {
        return broken("a label without a name");
    }
    match name.chars().nth(MOST_NAME).is_some() {
        true => broken(format!("a label of more than {MOST_NAME} letters")),
        false => Ok(name),
    }
}

/// A score from 0 to `whole` as one from 0 to 1; one that a server made of a score of 32 bits is
/// that score again.
pub(super) fn score(value: f64, whole: f64) -> Result<f32, Problem> {
    // Scores of 32 bits that were rounded on the way may lie a little beyond.
    let share = value / whole;
    match (-1e-6..=1.0 + 1e-6).contains(&share) {
        true => Ok(share.clamp(0.0, 1.0) as f32),
        false => broken(format!("a score of {value}, where 0 to {whole} is possible")),
    }
}

/// A box in pixels of the image, from left, top, right and bottom as shares of it.
pub(super) fn bounds(shares: [f64; 4], image: &Image) -> Result<Bounds, Problem> {
    let [left, top, right, bottom] = shares;
    let fits =
        shares.iter().all(|share| share.abs() <= MOST_SIDES) && left <= right && top <= bottom;
    if !fits {
        return broken(format!("a box with the sides {shares:?}"));
    }
    let (width, height) = (image.width() as f64, image.height() as f64);
    Ok(Bounds {
        left: (left * width) as f32,
        top: (top * height) as f32,
        right: (right * width) as f32,
        bottom: (bottom * height) as f32,
    })
}

/// A box in pixels of the image, from left, top, right and bottom in pixels.
pub(super) fn bounds_of_pixels(sides: [f64; 4], image: &Image) -> Result<Bounds, Problem> {
    let [left, top, right, bottom] = sides;
    let (width, height) = (image.width() as f64, image.height() as f64);
    bounds([left / width, top / height, right / width, bottom / height], image)?;
    let [left, top, right, bottom] = sides.map(|side| side as f32);
    Ok(Bounds { left, top, right, bottom })
}

/// A text, letter by letter.
pub(super) fn text(text: &str) -> Result<Response, Problem> {
    let classes: Vec<usize> = text.trim().chars().map(|letter| letter as usize).collect();
    match classes.len() > MOST_TEXT {
        true => broken(format!("a text of {} letters", classes.len())),
        false => Ok(Response::Text(Text { classes, names: Names::Letters, finite: true })),
    }
}

/// A text from its lines.
pub(super) fn lines(lines: &[String]) -> Result<Response, Problem> {
    text(&lines.join("\n"))
}

/// What a service takes at all.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) service: &'static str,
    pub(super) least_side: usize,
    pub(super) most_bytes: usize,
}

impl Limits {
    /// Those of a service as it is listed.
    pub(super) fn of(service: &Service) -> Self {
        let Service { name, least_side, most_bytes, .. } = *service;
        Self { service: name, least_side, most_bytes }
    }

    /// Refuses a picture that the service would not take, before it costs a call.
    pub(super) fn check(&self, picture: &Picture<'_>) -> Result<(), TargetError> {
        let (width, height) = (picture.image.width(), picture.image.height());
        let Self { service, least_side, most_bytes } = *self;
        if width.min(height) < least_side {
            return Err(TargetError::Rejected(format!(
                "{service} takes images of {least_side} pixels a side and more, not {width}×{height}"
            )));
        }
        let bytes = picture.bytes.len();
        if bytes > most_bytes {
            return Err(TargetError::Rejected(format!(
                "{service} takes files of up to {most_bytes} bytes, not {bytes}: \
                 set codec to jpeg, or shrink the images"
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_of_32_bits_comes_back() {
        for bits in (0..0x3f80_0000u32).step_by(9973) {
            let own = f32::from_bits(bits);
            assert_eq!(score(f64::from(own), 1.0).unwrap(), own);
            let written = (f64::from(own) * 100.0).to_string();
            assert_eq!(score(written.parse().unwrap(), 100.0).unwrap(), own, "{written}");
        }
        assert_eq!(score(100.00001, 100.0).unwrap(), 1.0);
        for odd in [-1.0, 101.0, f64::NAN, f64::INFINITY] {
            assert!(score(odd, 100.0).is_err());
        }
    }

    #[test]
    fn a_side_of_32_bits_comes_back() {
        let image = Image::from_rgb(641, 479, vec![0; 641 * 479 * 3]).unwrap();
        for step in 1..4000 {
            let (left, right) = (step as f32 * 0.037, step as f32 * 0.037 + 133.77);
            let share = |side: f32| f64::from(side) / 641.0;
            let (from, size) = (share(left), f64::from(right) / 641.0 - share(left));
            let bounds = bounds([from, 0.0, from + size, 1.0], &image).unwrap();
            assert_eq!((bounds.left, bounds.right, bounds.bottom), (left, right, 479.0));
        }
        for odd in [[0.5, 0.0, 0.2, 1.0], [f64::NAN; 4], [0.0, 0.0, 1e9, 1.0]] {
            assert!(bounds(odd, &image).is_err());
        }
    }
}
