//! What a target answers.

mod detections;
mod drawing;
mod names;
mod picture;
mod ranking;
mod segments;
mod suppression;
mod text;

pub use detections::{Detection, Detections};
pub use drawing::framed;
pub use names::{Names, class_called};
pub use picture::Picture;
pub use ranking::{Ranked, Ranking, Scores, argmax};
pub use segments::Segments;
pub use suppression::non_maximum_suppression;
pub use text::Text;

use crate::Image;

/// What a target answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Response {
    /// A score for every class.
    Scores(Scores),
    /// The classes that the target reports, best first, where it does not report all of them.
    Ranking(Ranking),
    /// Measured quantities, such as an angle.
    Values(Vec<f32>),
    /// Objects, each with its class and where it is.
    Detections(Detections),
    /// A class for every pixel.
    Segments(Segments),
    /// An image that the target makes.
    Picture(Picture),
    /// What the target reads: classes in their order.
    Text(Text),
}

impl Response {
    /// The numbers of the answer; `None` for answers that are not plain numbers, such as objects.
    pub fn numbers(&self) -> Option<&[f32]> {
        match self {
            Self::Scores(scores) => Some(&scores.scores),
            Self::Values(values) => Some(values),
            Self::Picture(picture) => Some(&picture.values),
            Self::Ranking(_) | Self::Detections(_) | Self::Segments(_) | Self::Text(_) => None,
        }
    }

    /// Whether every number is finite: those of the answer, and those that it was decoded from.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Scores(scores) => scores.scores.iter().all(|score| score.is_finite()),
            Self::Ranking(ranking) => ranking.places().iter().all(|place| place.score.is_finite()),
            Self::Values(values) => values.iter().all(|value| value.is_finite()),
            Self::Detections(detections) => detections.finite,
            Self::Segments(segments) => segments.finite,
            Self::Picture(picture) => picture.finite,
            Self::Text(text) => text.finite,
        }
    }

    /// A one-line summary and its number: the top class and its score, the first value, the objects
    /// and the highest score, the largest area and its share, a picture's size, the text.
    pub fn headline(&self) -> (String, Option<f32>) {
        match self {
            Self::Scores(scores) => match scores.top() {
                Some(top) => (scores.name(top), scores.scores.get(top).copied()),
                None => (String::new(), None),
            },
            Self::Ranking(ranking) => match ranking.top() {
                Some(top) => (top.label.clone(), Some(top.score)),
                None => ("nothing".to_owned(), None),
            },
            Self::Values(values) => {
                let text = values.first().map(|value| format!("{value:.4}"));
                (text.unwrap_or_default(), values.first().copied())
            }
            Self::Detections(detections) => detections.headline(),
            Self::Segments(segments) => segments.headline(),
            Self::Picture(picture) => {
                (format!("{}×{} picture", picture.width, picture.height), None)
            }
            Self::Text(text) => (text.text(), None),
        }
    }

    /// A number that tells whether two answers have the same bits; every NaN counts as the same.
    pub fn digest(&self) -> u64 {
        match self {
            Self::Scores(scores) => hash(scores.scores.iter().map(bits)),
            Self::Ranking(ranking) => hash(
                ranking.places().iter().flat_map(|place| [place.index as u64, bits(&place.score)]),
            ),
            Self::Values(values) => hash(values.iter().map(bits)),
            Self::Detections(detections) => {
                let objects = detections.found.iter().flat_map(|found| {
                    let b = &found.bounds;
                    let numbers = [found.score, b.left, b.top, b.right, b.bottom];
                    [found.class as u64].into_iter().chain(numbers.map(|number| bits(&number)))
                });
                hash([detections.finite.into()].into_iter().chain(objects))
            }
            Self::Segments(segments) => {
                let size = [segments.width, segments.height].map(|side| side as u64);
                let classes = segments.classes.iter().map(|&class| class.into());
                hash([segments.finite.into()].into_iter().chain(size).chain(classes))
            }
            Self::Picture(picture) => {
                let size = [picture.width, picture.height, picture.channels];
                let values = picture.values.iter().map(bits);
                let size = size.map(|side| side as u64);
                hash([picture.finite.into()].into_iter().chain(size).chain(values))
            }
            Self::Text(text) => {
                let classes = text.classes.iter().map(|&class| class as u64);
                hash([text.finite.into()].into_iter().chain(classes))
            }
        }
    }

    /// The answer as a picture: boxes or tinted areas on the image that was shown, or the generated
    /// picture. `None` for answers that are better put in words.
    pub fn drawn(&self, on: &Image) -> Option<Image> {
        match self {
            Self::Detections(detections) => Some(drawing::boxes(on, &detections.found)),
            Self::Segments(segments) => drawing::areas(on, segments),
            Self::Picture(picture) => picture.image(),
            Self::Scores(_) | Self::Ranking(_) | Self::Values(_) | Self::Text(_) => None,
        }
    }
}

fn bits(number: &f32) -> u64 {
    u64::from(if number.is_nan() { f32::NAN.to_bits() } else { number.to_bits() })
}

/// FNV-1a with 64 bits, a word at a time: fast, and stable across platforms and versions.
fn hash(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(0xcbf2_9ce4_8422_2325, |hash, word| (hash ^ word).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bounds;

    fn listed(names: &[&str]) -> Names {
        Names::Listed(names.iter().map(|&name| name.to_owned()).collect())
    }

    fn found(class: usize, score: f32, left: f32) -> Detection {
        let bounds = Bounds { left, top: 0.0, right: left + 4.0, bottom: 4.0 };
        Detection { class, score, bounds }
    }

    fn detections(found: &[Detection], finite: bool) -> Response {
        let names = listed(&["stop", "car"]);
        Response::Detections(Detections { found: found.to_vec(), names, finite, min_score: None })
    }

    fn segments(width: usize, classes: &[u16]) -> Response {
        let names = listed(&["background", "road", "sign"]);
        let height = classes.len() / width;
        let covers = Bounds { left: 0.0, top: 0.0, right: 4.0, bottom: 4.0 };
        let classes = classes.to_vec();
        Response::Segments(Segments { width, height, classes, covers, names, finite: true })
    }

    fn picture(width: usize, values: &[f32]) -> Response {
        let height = values.len() / width;
        let values = values.to_vec();
        Response::Picture(Picture { width, height, channels: 1, values, finite: true })
    }

    fn text(classes: &[usize], names: &[&str]) -> Response {
        Response::Text(Text { classes: classes.to_vec(), names: listed(names), finite: true })
    }

    #[test]
    fn every_answer_has_a_headline() {
        let two = [found(1, 0.9, 0.0), found(0, 0.8, 9.0)];
        let three = [two[0], two[1], found(1, 0.3, 20.0)];
        for (response, wanted) in [
            (Response::Values(vec![0.25, 1.0]), ("0.2500", Some(0.25))),
            (detections(&[], true), ("no object", None)),
            (detections(&two[..1], true), ("1 object: car", Some(0.9))),
            (detections(&three, true), ("3 objects: stop, car, car", Some(0.9))),
            (segments(2, &[0, 1, 1, 2]), ("road 50.0%", Some(0.5))),
            (segments(2, &[0, 0, 0, 2]), ("sign 25.0%", Some(0.25))),
            (segments(2, &[0, 0]), ("background 100.0%", Some(1.0))),
            (picture(2, &[0.0; 6]), ("2×3 picture", None)),
            (text(&[1, 0, 1], &["b", "a"]), ("aba", None)),
            (text(&[1, 0], &["go", "stop"]), ("stop go", None)),
            (text(&[1, 12], &[]), ("1 12", None)),
        ] {
            let (text, number) = response.headline();
            assert_eq!((text.as_str(), number), wanted, "{response:?}");
        }
    }

    fn digest(values: &[f32]) -> u64 {
        Response::Values(values.to_vec()).digest()
    }

    #[test]
    fn the_digest_sees_every_bit_but_no_payload() {
        let other_nan = f32::from_bits(0x7fc0_0001);
        assert_eq!(digest(&[f32::NAN, 1.0]), digest(&[other_nan, 1.0]));
        let all = [&[][..], &[0.0], &[-0.0], &[0.0, 0.0], &[1.0, 2.0], &[2.0, 1.0]];
        for (at, a) in all.iter().enumerate() {
            for b in &all[at + 1..] {
                assert_ne!(digest(a), digest(b), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn the_digest_sees_objects_areas_pictures_and_texts() {
        let one = found(0, 0.5, 1.0);
        let all = [
            detections(&[], true),
            detections(&[], false),
            detections(&[one], true),
            detections(&[Detection { class: 1, ..one }], true),
            detections(&[found(0, 0.5, 1.5)], true),
            detections(&[found(0, 0.6, 1.0)], true),
            segments(2, &[0, 1, 0, 0]),
            segments(4, &[0, 1, 0, 0]),
            segments(2, &[0, 0, 1, 0]),
            picture(2, &[0.0, 0.5]),
            picture(1, &[0.0, 0.5]),
            text(&[1, 2], &[]),
            text(&[2, 1], &[]),
        ];
        for (at, a) in all.iter().enumerate() {
            assert_eq!(a.digest(), a.clone().digest());
            for b in &all[at + 1..] {
                assert_ne!(a.digest(), b.digest(), "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn an_answer_is_finite_where_all_that_it_was_read_from_is() {
        assert!(detections(&[], true).is_finite() && !detections(&[], false).is_finite());
        assert!(!Response::Values(vec![f32::NAN]).is_finite());
        assert!(picture(1, &[0.5]).is_finite() && segments(1, &[0]).is_finite());
    }
}
