//! A target as attacks see it.

use super::AttackSpec;
use crate::inject::GoldenCase;
use crate::subject::{OpenTarget, WhiteBox};
use faultlens_core::{Comparison, Image, OutcomeKind, Response, Seed, TargetError};
use faultlens_faults::attack::{AttackTarget, Goal, Gradient, Question, Reply};
use faultlens_judge::{confidence, top_class};
use std::ops::RangeInclusive;

/// What a refusal is worth to who looks for the way to another answer: nothing is nearer to it.
const REFUSED: Reply = Reply { changed: false, resistance: Some(1.0), margin: Some(1e3) };

/// One target and case under attack.
pub(super) struct ActiveAttack<'s> {
    stage: &'s GoldenCase<'s>,
    space: Space<'s>,
    knows_defences: bool,
    /// What the target answers before the attack, as questions of the attack are answered.
    pub(super) answer: Response,
}

/// What a point is.
#[derive(Clone, Copy)]
enum Space<'s> {
    /// The image at the model's size, finer than bytes.
    Model(&'s WhiteBox),
    /// The image itself, in bytes.
    Image { width: usize, height: usize },
}

impl<'s> ActiveAttack<'s> {
    /// Asks the target before the attack; answers the undisturbed point, too.
    pub(super) fn new(
        stage: &'s GoldenCase<'s>,
        assault: &AttackSpec,
    ) -> Result<(Self, Vec<f32>), TargetError> {
        let image = &stage.case.image;
        let (space, start) = match fine(stage.subject) {
            Some(inside) => (Space::Model(inside), inside.target.point(image)?),
            None => {
                let (width, height) = (image.width(), image.height());
                (Space::Image { width, height }, bytes_point(image))
            }
        };
        let answer = stage.answer.clone();
        let mut own = Self { stage, space, knows_defences: assault.knows_defences, answer };
        // Defences that clean work on the image as it is elsewhere, and at the model's size here.
        let cleans = stage.subject.defences().iter().any(|defence| defence.cleans());
        if own.is_fine() && (cleans || own.places_differ()) {
            own.answer = stage.subject.after(own.bare(&[&start]).remove(0)?, image)?;
        }
        Ok((own, start))
    }

    fn is_fine(&self) -> bool {
        matches!(self.space, Space::Model(_))
    }

    /// Whether golden has places in an image of another size than that of points.
    fn places_differ(&self) -> bool {
        let image = &self.stage.case.image;
        let [_, height, width] = self.shape();
        matches!(self.answer, Response::Detections(_) | Response::Segments(_))
            && (width, height) != (image.width(), image.height())
    }

    /// What a point looks like.
    pub(super) fn picture(&self, point: &[f32]) -> Result<Image, TargetError> {
        match self.space {
            Space::Model(inside) => inside.target.picture(point),
            Space::Image { width, height } => {
                let plane = width * height;
                let byte = |at: usize| (point[at] * 255.0).round_ties_even() as u8;
                let rgb =
                    (0..plane).flat_map(|at| [0, 1, 2].map(|channel| byte(channel * plane + at)));
                Image::from_rgb(width, height, rgb.collect())
                    .map_err(|error| TargetError::Failed(error.to_string()))
            }
        }
    }

    /// A point as the target sees it: where it sees bytes, what rounding undoes is no change.
    pub(super) fn settled(&self, mut point: Vec<f32>) -> Vec<f32> {
        if !self.is_fine() {
            let byte = |value: &mut f32| *value = (*value * 255.0).round_ties_even() / 255.0;
            point.iter_mut().for_each(byte);
        }
        point
    }

    /// The answer to a point that a search ended at: one that has what the goal wants, where one
    /// of those that the search had has it.
    pub(super) fn last(
        &self,
        point: &[f32],
        draws: RangeInclusive<u64>,
        goal: &Goal,
    ) -> Result<Response, TargetError> {
        let mut last = Err(TargetError::Failed("nothing was asked".to_owned()));
        for draw in draws {
            last = self.answers(&[point], &[draw]).remove(0);
            if self.reply(&last, goal).is_ok_and(|reply| reply.changed) {
                break;
            }
        }
        last
    }

    /// The answers behind the defences; the numbers tell questions about the same point apart.
    fn answers(&self, points: &[&[f32]], draws: &[u64]) -> Vec<Result<Response, TargetError>> {
        let said = |((bare, point), draw): ((Result<Response, TargetError>, &&[f32]), &u64)| {
            self.stage.subject.said(bare?, seed_of(point).at(*draw))
        };
        self.bare(points).into_iter().zip(points).zip(draws).map(said).collect()
    }

    /// The answers of the target alone to what its defences show it.
    fn bare(&self, points: &[&[f32]]) -> Vec<Result<Response, TargetError>> {
        match self.space {
            Space::Model(inside) => {
                let answers = self.cleaned(points).and_then(|cleaned| {
                    let cleaned: Vec<&[f32]> = cleaned.iter().map(Vec::as_slice).collect();
                    inside.target.ask_points(&cleaned)
                });
                match answers {
                    Ok(answers) => answers.into_iter().map(Ok).collect(),
                    Err(error) => vec![Err(error); points.len()],
                }
            }
            Space::Image { .. } => {
                let ask = |point: &&[f32]| {
                    let picture = self.picture(point)?;
                    self.stage.subject.bare(&picture)
                };
                points.iter().map(ask).collect()
            }
        }
    }

    /// The points as the defences show them to the model.
    fn cleaned(&self, points: &[&[f32]]) -> Result<Vec<Vec<f32>>, TargetError> {
        let Space::Model(inside) = self.space else {
            return Ok(points.iter().map(|point| point.to_vec()).collect());
        };
        let clean = |point: &&[f32]| {
            let mut point = point.to_vec();
            for defence in self.stage.subject.defences().iter().filter(|d| d.cleans()) {
                point = match defence.clean_point(&point) {
                    Some(clean) => clean,
                    None => {
                        let picture = inside.target.picture(&point)?;
                        inside.target.point(&defence.clean(&picture))?
                    }
                };
            }
            Ok(point)
        };
        points.iter().map(clean).collect()
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
            None => self.deviates(answer),
        };
        Ok(match goal.towards.or(goal.from).and_then(|class| standing(answer, class)) {
            None => Reply { changed, resistance: None, margin: None },
            Some((confidence, margin)) if goal.towards.is_some() => {
                Reply { changed, resistance: Some(1.0 - confidence), margin: Some(-margin) }
            }
            Some((confidence, margin)) => {
                Reply { changed, resistance: Some(confidence), margin: Some(margin) }
            }
        })
    }

    /// Whether the campaign's oracle takes the answer for another one.
    fn deviates(&self, answer: &Response) -> bool {
        let GoldenCase { setup, case, .. } = self.stage;
        let truth = self.stage.truth();
        let (golden, observed) = (&self.answer, answer);
        let comparison = Comparison { case, truth, golden, observed, fault: None };
        setup.judge.judge(&comparison).kind() == OutcomeKind::Changed
    }
}

impl AttackTarget for ActiveAttack<'_> {
    fn shape(&self) -> [usize; 3] {
        match self.space {
            Space::Model(inside) => inside.target.point_shape(),
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
        let Space::Model(inside) = self.space else {
            return Err(TargetError::Failed("the target has no gradients".to_owned()));
        };
        let points: Vec<&[f32]> = questions.iter().map(|question| question.point).collect();
        // A defence without a gradient is stepped over: its slope counts as one.
        let cleaned = self.cleaned(&points)?;
        let seen: Vec<&[f32]> = match self.knows_defences {
            true => cleaned.iter().map(Vec::as_slice).collect(),
            false => points.clone(),
        };
        let slopes = inside.target.gradients(&seen, slope)?;
        let answered: Vec<Response> = match self.knows_defences || cleaned == points {
            true => slopes.iter().map(|slope| slope.answer.clone()).collect(),
            false => self.bare(&points).into_iter().collect::<Result<_, _>>()?,
        };
        let told = slopes.into_iter().zip(answered).zip(questions);
        told.map(|((slope, bare), question)| {
            let seed = seed_of(question.point).at(question.draw);
            let answer = self.stage.subject.said(bare, seed);
            let reply = self.reply(&answer, question.goal)?;
            Ok(Gradient { reply, logits: slope.logits, slope: slope.gradient })
        })
        .collect()
    }
}

/// The model, where points finer than bytes can be fed.
pub(super) fn fine(subject: &OpenTarget) -> Option<&WhiteBox> {
    subject.inside().filter(|inside| inside.target.no_points_because().is_none())
}

fn bytes_point(image: &Image) -> Vec<f32> {
    let plane = |channel: usize| image.rgb().iter().skip(channel).step_by(3);
    (0..3).flat_map(plane).map(|&byte| f32::from(byte) / 255.0).collect()
}

/// What is drawn for an answer follows from the point.
fn seed_of(point: &[f32]) -> Seed {
    let hash = |hash: u64, value: &f32| {
        (hash.rotate_left(23) ^ u64::from(value.to_bits())).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    };
    Seed::new(point.iter().fold(point.len() as u64, hash))
}

/// How strongly an answer believes in a class, and by how much more than in any other one: in
/// logarithms where it shares its confidence out.
fn standing(answer: &Response, class: usize) -> Option<(f64, f64)> {
    match answer {
        Response::Scores(scores) => {
            let own = f64::from(*scores.shares().get(class)?);
            let score = f64::from(*scores.scores.get(class)?);
            let others = scores.scores.iter().enumerate().filter(|(at, _)| *at != class);
            let other =
                others.map(|(_, score)| f64::from(*score)).fold(f64::NEG_INFINITY, f64::max);
            let margin = match scores.are_shares() {
                true => libm::log(score.max(1e-30)) - libm::log(other.max(1e-30)),
                false => score - other,
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
