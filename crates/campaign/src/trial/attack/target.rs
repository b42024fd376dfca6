//! A target as attacks see it: points of floats go in, and what comes back is how far the answer is
//! from the goal.

use crate::golden_case::GoldenCase;
use crate::target::OpenTarget;
use crate::white_box::WhiteBox;
use faultlens_core::{Comparison, Image, OutcomeKind, Response, Seed, TargetError};
use faultlens_faults::attack::{AttackTarget, Goal, Gradient, Question, Reply};
use faultlens_judge::{confidence, top_class};
use faultlens_spec::AttackSpec;
use std::ops::RangeInclusive;

/// The reply where the target rejects the input: as far from another answer as can be, so that the
/// search turns away from it.
const REFUSED: Reply = Reply { changed: false, resistance: Some(1.0), margin: Some(1e3) };

/// One target and case under attack.
pub(super) struct ActiveAttack<'s> {
    golden: &'s GoldenCase<'s>,
    space: Space<'s>,
    knows_defences: bool,
    /// The undisturbed answer, asked in the same way as the attack's queries.
    pub(super) answer: Response,
}

/// What the numbers of a point are.
#[derive(Clone, Copy)]
enum Space<'s> {
    /// The image at the model's size, finer than bytes.
    Model(&'s WhiteBox),
    /// The image itself, in bytes.
    Image { width: usize, height: usize },
}

impl<'s> ActiveAttack<'s> {
    /// Asks the target before the attack; returns the undisturbed point, too.
    pub(super) fn new(
        golden: &'s GoldenCase<'s>,
        spec: &AttackSpec,
    ) -> Result<(Self, Vec<f32>), TargetError> {
        let image = &golden.case.image;
        let (space, start) = match float_model(golden.target) {
            Some(white_box) => (Space::Model(white_box), white_box.target.point(image)?),
            None => {
                let space = Space::Image { width: image.width(), height: image.height() };
                (space, bytes_point(image))
            }
        };
        let mut active = Self {
            golden,
            space,
            knows_defences: spec.knows_defences,
            answer: golden.answer.clone(),
        };
        // Defences that clean work on the image itself elsewhere, and at the model's size here.
        let cleans = golden.target.defences().iter().any(|defence| defence.cleans());
        if active.feeds_floats() && (cleans || active.sizes_differ()) {
            active.answer = golden.target.after(active.bare(&[&start]).remove(0)?, image)?;
        }
        Ok((active, start))
    }

    fn feeds_floats(&self) -> bool {
        matches!(self.space, Space::Model(_))
    }

    /// Whether the golden answer has positions in an image of another size than that of points.
    fn sizes_differ(&self) -> bool {
        let image = &self.golden.case.image;
        let [_, height, width] = self.shape();
        matches!(self.answer, Response::Detections(_) | Response::Segments(_))
            && (width, height) != (image.width(), image.height())
    }

    /// A point as an image.
    pub(super) fn picture(&self, point: &[f32]) -> Result<Image, TargetError> {
        match self.space {
            Space::Model(white_box) => white_box.target.picture(point),
            Space::Image { width, height } => {
                // Points are planar, images are interleaved.
                let plane = width * height;
                let mut rgb = Vec::with_capacity(3 * plane);
                for at in 0..plane {
                    for channel in 0..3 {
                        let value = point[channel * plane + at];
                        rgb.push((value * 255.0).round_ties_even() as u8);
                    }
                }
                Image::from_rgb(width, height, rgb)
                    .map_err(|error| TargetError::Failed(error.to_string()))
            }
        }
    }

    /// A point as the target sees it: where it sees bytes, a change that rounding undoes is none.
    pub(super) fn rounded(&self, mut point: Vec<f32>) -> Vec<f32> {
        if !self.feeds_floats() {
            for value in &mut point {
                *value = (*value * 255.0).round_ties_even() / 255.0;
            }
        }
        point
    }

    /// The answer to the point that a search ended at. Defences may draw a new answer for every
    /// query: of the draws that the search made, the first that reaches the goal is taken.
    pub(super) fn last(
        &self,
        point: &[f32],
        draws: RangeInclusive<u64>,
        goal: &Goal,
    ) -> Result<Response, TargetError> {
        let mut last = Err(TargetError::Failed("nothing was asked".to_owned()));
        for draw in draws {
            last = self.answers(&[point], &[draw]).remove(0);
            // A later draw must not stand in for one that the target did not answer.
            let is_open = last.as_ref().is_err_and(TargetError::leaves_open);
            if is_open || self.reply(&last, goal).is_ok_and(|reply| reply.changed) {
                break;
            }
        }
        last
    }

    /// The answers behind the defences; the draws distinguish queries of the same point.
    fn answers(&self, points: &[&[f32]], draws: &[u64]) -> Vec<Result<Response, TargetError>> {
        let bare = self.bare(points).into_iter();
        bare.zip(points.iter().zip(draws))
            .map(|(bare, (point, draw))| {
                self.golden.target.defended(bare?, seed_of(point).at(*draw))
            })
            .collect()
    }

    /// The answers of the target itself to what its defences show it.
    fn bare(&self, points: &[&[f32]]) -> Vec<Result<Response, TargetError>> {
        match self.space {
            Space::Model(white_box) => {
                let answers = self.cleaned(points).and_then(|cleaned| {
                    let cleaned: Vec<&[f32]> = cleaned.iter().map(Vec::as_slice).collect();
                    white_box.target.ask_points(&cleaned)
                });
                match answers {
                    Ok(answers) => answers.into_iter().map(Ok).collect(),
                    Err(error) => vec![Err(error); points.len()],
                }
            }
            Space::Image { .. } => {
                points.iter().map(|point| self.golden.target.bare(&self.picture(point)?)).collect()
            }
        }
    }

    /// The points as the defences show them to the model.
    fn cleaned(&self, points: &[&[f32]]) -> Result<Vec<Vec<f32>>, TargetError> {
        let mut cleaned: Vec<Vec<f32>> = points.iter().map(|point| point.to_vec()).collect();
        let Space::Model(white_box) = self.space else { return Ok(cleaned) };
        for point in &mut cleaned {
            for defence in self.golden.target.defences().iter().filter(|d| d.cleans()) {
                *point = match defence.clean_point(point) {
                    Some(clean) => clean,
                    None => {
                        let picture = white_box.target.picture(point)?;
                        white_box.target.point(&defence.clean(&picture))?
                    }
                };
            }
        }
        Ok(cleaned)
    }

    fn reply(
        &self,
        answer: &Result<Response, TargetError>,
        goal: &Goal,
    ) -> Result<Reply, TargetError> {
        let answer = match answer {
            Ok(answer) => answer,
            Err(TargetError::Rejected(_)) => return Ok(REFUSED),
            Err(error) => return Err(error.clone()),
        };
        let changed = match goal.towards {
            Some(class) => top_class(answer) == Some(class),
            None => self.is_changed(answer),
        };
        Ok(
            match goal.towards.or(goal.from).and_then(|class| confidence_and_margin(answer, class))
            {
                None => Reply { changed, resistance: None, margin: None },
                Some((confidence, margin)) if goal.towards.is_some() => {
                    Reply { changed, resistance: Some(1.0 - confidence), margin: Some(-margin) }
                }
                Some((confidence, margin)) => {
                    Reply { changed, resistance: Some(confidence), margin: Some(margin) }
                }
            },
        )
    }

    /// Whether the campaign's oracle takes the answer for another one.
    fn is_changed(&self, answer: &Response) -> bool {
        let comparison = Comparison { golden: &self.answer, ..self.golden.undisturbed(answer) };
        self.golden.context.judge.judge(&comparison).kind() == OutcomeKind::Changed
    }
}

impl AttackTarget for ActiveAttack<'_> {
    fn shape(&self) -> [usize; 3] {
        match self.space {
            Space::Model(white_box) => white_box.target.point_shape(),
            Space::Image { width, height } => [3, height, width],
        }
    }

    fn ask(&self, questions: &[Question<'_>]) -> Result<Vec<Reply>, TargetError> {
        let points: Vec<&[f32]> = questions.iter().map(|question| question.point).collect();
        let draws: Vec<u64> = questions.iter().map(|question| question.draw).collect();
        let answers = self.answers(&points, &draws);
        answers.iter().zip(questions).map(|(answer, q)| self.reply(answer, q.goal)).collect()
    }

    fn gradients(
        &self,
        questions: &[Question<'_>],
        slope: &mut dyn FnMut(usize, &[f32]) -> Vec<f32>,
    ) -> Result<Vec<Gradient>, TargetError> {
        let Space::Model(white_box) = self.space else {
            return Err(TargetError::Failed("the target has no gradients".to_owned()));
        };
        let points: Vec<&[f32]> = questions.iter().map(|question| question.point).collect();
        // A defence without a gradient is passed straight through, as if its derivative were one
        // (BPDA; Athalye et al. 2018).
        let cleaned = self.cleaned(&points)?;
        let seen: Vec<&[f32]> = if self.knows_defences {
            cleaned.iter().map(Vec::as_slice).collect()
        } else {
            points.clone()
        };
        let slopes = white_box.target.gradients(&seen, slope)?;
        let bare: Vec<Response> = if self.knows_defences || cleaned == points {
            slopes.iter().map(|slope| slope.answer.clone()).collect()
        } else {
            self.bare(&points).into_iter().collect::<Result<_, _>>()?
        };
        let mut gradients = Vec::with_capacity(slopes.len());
        for ((slope, bare), question) in slopes.into_iter().zip(bare).zip(questions) {
            let seed = seed_of(question.point).at(question.draw);
            let answer = self.golden.target.defended(bare, seed);
            let reply = self.reply(&answer, question.goal)?;
            gradients.push(Gradient { reply, logits: slope.logits, slope: slope.gradient });
        }
        Ok(gradients)
    }
}

/// The model, where points finer than bytes can be fed.
pub(super) fn float_model(target: &OpenTarget) -> Option<&WhiteBox> {
    target.white_box().filter(|white_box| white_box.target.no_points_because().is_none())
}

/// An image as a point: planar, from 0 to 1.
fn bytes_point(image: &Image) -> Vec<f32> {
    let mut point = Vec::with_capacity(image.rgb().len());
    for channel in 0..3 {
        let plane = image.rgb().iter().skip(channel).step_by(3);
        point.extend(plane.map(|&byte| f32::from(byte) / 255.0));
    }
    point
}

/// What the random numbers of defences start from: a hash of the point, so that the same point gets
/// the same answer on any thread.
fn seed_of(point: &[f32]) -> Seed {
    let mut hash = point.len() as u64;
    for value in point {
        hash =
            (hash.rotate_left(23) ^ u64::from(value.to_bits())).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    Seed::new(hash)
}

/// The confidence in a class, and its margin over all other classes: the difference of logits, or of
/// logarithms where scores are probabilities, since those are logits up to a constant.
fn confidence_and_margin(answer: &Response, class: usize) -> Option<(f64, f64)> {
    match answer {
        Response::Scores(scores) => {
            let own = f64::from(*scores.shares().get(class)?);
            let score = f64::from(*scores.scores.get(class)?);
            let others = scores.scores.iter().enumerate().filter(|(at, _)| *at != class);
            let other =
                others.map(|(_, score)| f64::from(*score)).fold(f64::NEG_INFINITY, f64::max);
            let margin = if scores.are_shares() {
                libm::log(score.max(1e-30)) - libm::log(other.max(1e-30))
            } else {
                score - other
            };
            Some((own, margin))
        }
        Response::Ranking(ranking) => {
            let own = f64::from(confidence(answer, class).unwrap_or(0.0));
            let others = ranking.places().iter().filter(|place| place.index != class);
            let other = others.map(|place| f64::from(place.score)).fold(0.0, f64::max);
            Some((own, own - other))
        }
        _ => None,
    }
}
