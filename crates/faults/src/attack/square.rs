//! Squares of one colour at random places, kept where they help.

use super::ball::resize;
use super::search::cost;
use super::step::{EPSILON, LENGTH_OR_LARGEST, count, norm};
use super::{Attack, AttackSession, Halt, Needs, Norm};
use crate::doc::{about, described, when};
use faultlens_core::{Dose, Parameter, ParameterKind, Plugin, Setting, Stream, Unset};

const ITERATIONS: Parameter = Parameter {
    name: "iterations",
    about: "number of squares that are tried",
    kind: ParameterKind::Whole { min: 1, max: 10_000_000 },
    unset: Unset::Is(Setting::Number(5000.0)),
};

const P_INIT: Parameter = Parameter {
    name: "p_init",
    about: "fraction of the image that the first squares cover; later ones are smaller",
    kind: ParameterKind::Number { min: 1e-6, max: 1.0 },
    unset: Unset::Is(Setting::Number(0.8)),
};

described! {
    /// # What it does
    /// Changes squares at random positions and keeps a change that brings the answer closer to
    /// the goal (Andriushchenko et al. 2020). It starts with stripes; squares get smaller and
    /// smaller.
    /// # When to use it
    /// An attacker who can only query and gets scores; works where gradients are hidden or
    /// misleading.
    struct Square {
        epsilon: f64,
        norm: Norm,
        iterations: usize,
        share: f64,
    }
}

pub(super) const SQUARE: Plugin<dyn Attack> = Plugin {
    name: "square",
    about: about(Square::DOC),
    when: when(Square::DOC),
    parameters: &[EPSILON, LENGTH_OR_LARGEST, ITERATIONS, P_INIT],
    build: |settings| {
        Ok(Box::new(Square {
            epsilon: settings.number(EPSILON.name)?,
            norm: norm(settings)?,
            iterations: count(settings, ITERATIONS.name)?,
            share: settings.number(P_INIT.name)?,
        }))
    },
};

/// Where the search for one sample stands.
struct Canvas {
    sample: usize,
    /// What was kept so far, as differences from the image.
    moved: Vec<f32>,
    cost: f64,
}

impl Attack for Square {
    fn needs(&self) -> Needs {
        Needs::Scores
    }

    fn norm(&self) -> Norm {
        self.norm
    }

    fn dose(&self) -> Dose {
        Dose { axis: "epsilon", amount: self.epsilon }
    }

    fn max_queries(&self) -> Option<u64> {
        Some(self.iterations as u64)
    }

    fn search(&self, session: &mut AttackSession<'_>) -> Result<(), Halt> {
        let mut canvases = Vec::new();
        for sample in session.open()? {
            canvases.push(Canvas { sample, moved: Vec::new(), cost: f64::INFINITY });
        }
        for query in 0..self.iterations {
            canvases.retain(|c| !session.is_found(c.sample) && session.affords(c.sample) > 0);
            if canvases.is_empty() {
                break;
            }
            let side = self.side(query, session.shape());
            let tried: Vec<(usize, Vec<f32>)> = canvases
                .iter()
                .map(|canvas| (canvas.sample, self.proposed(session, canvas, side)))
                .collect();
            let points: Vec<(usize, &[f32])> =
                tried.iter().map(|(sample, point)| (*sample, point.as_slice())).collect();
            let replies = session.ask(&points)?;
            for ((canvas, (sample, point)), reply) in canvases.iter_mut().zip(&tried).zip(&replies)
            {
                let cost = cost(reply);
                if cost <= canvas.cost {
                    let pairs = point.iter().zip(session.start(*sample));
                    canvas.cost = cost;
                    canvas.moved = pairs.map(|(p, s)| p - s).collect();
                }
            }
        }
        Ok(())
    }
}

impl Square {
    /// The side of a query's square: the share of the image is halved at fixed parts of the way.
    fn side(&self, query: usize, [_, height, width]: [usize; 3]) -> usize {
        const HALVED_AFTER: [usize; 9] = [10, 50, 200, 500, 1000, 2000, 4000, 6000, 8000];
        let part = (query as f64 / self.iterations as f64 * 10_000.0) as usize;
        let halvings = HALVED_AFTER.iter().filter(|after| part > **after).count();
        let share = self.share / f64::from(1u32 << halvings);
        let side = (share * (height * width) as f64).sqrt().round() as usize;
        side.clamp(1, height.min(width).max(2) - 1)
    }

    /// The next image to ask about.
    fn proposed(&self, session: &mut AttackSession<'_>, canvas: &Canvas, side: usize) -> Vec<f32> {
        let shape = session.shape();
        let start = session.start(canvas.sample).to_vec();
        let stream = session.stream(canvas.sample);
        let moved = match (self.norm, canvas.moved.is_empty()) {
            (Norm::Infinity, true) => stripes(shape, self.epsilon as f32, stream),
            (Norm::Infinity, false) => {
                repainted(shape, &start, &canvas.moved, side, self.epsilon as f32, stream)
            }
            (_, true) => tiles(shape, self.epsilon, stream),
            (_, false) => gathered(shape, &canvas.moved, side, self.epsilon, stream),
        };
        let sum = start.iter().zip(moved).map(|(from, m)| (from + m).clamp(0.0, 1.0));
        let mut point: Vec<f32> = sum.collect();
        session.confine(canvas.sample, &mut point);
        point
    }
}

fn sign(stream: &mut Stream) -> f32 {
    if stream.chance(0.5) { 1.0 } else { -1.0 }
}

/// A window of an image.
#[derive(Clone, Copy)]
struct Window {
    top: usize,
    left: usize,
    side: usize,
}

impl Window {
    fn random([_, height, width]: [usize; 3], side: usize, stream: &mut Stream) -> Self {
        let side = side.min(height).min(width);
        let top = stream.below(height - side + 1);
        Self { top, left: stream.below(width - side + 1), side }
    }

    /// The places of its values in one channel.
    fn places(self, [_, height, width]: [usize; 3], channel: usize) -> impl Iterator<Item = usize> {
        let first = channel * height * width + self.top * width + self.left;
        (0..self.side).flat_map(move |row| (0..self.side).map(move |at| first + row * width + at))
    }
}

/// Every column of every channel up or down.
fn stripes([channels, height, width]: [usize; 3], epsilon: f32, stream: &mut Stream) -> Vec<f32> {
    let row: Vec<f32> = (0..channels * width).map(|_| epsilon * sign(stream)).collect();
    let mut moved = Vec::with_capacity(channels * height * width);
    for channel in row.chunks_exact(width.max(1)) {
        for _ in 0..height {
            moved.extend_from_slice(channel);
        }
    }
    moved
}

/// How often a square is drawn again that would change nothing.
const REDRAWS: usize = 20;

/// A square of one colour.
fn repainted(
    shape: [usize; 3],
    start: &[f32],
    moved: &[f32],
    side: usize,
    epsilon: f32,
    stream: &mut Stream,
) -> Vec<f32> {
    let mut next = moved.to_vec();
    for _ in 0..REDRAWS {
        let window = Window::random(shape, side, stream);
        let mut differs = false;
        for channel in 0..shape[0] {
            let colour = epsilon * sign(stream);
            for at in window.places(shape, channel) {
                let shown = (start[at] + colour).clamp(0.0, 1.0) - start[at];
                differs |= (shown - moved[at]).abs() > 1e-7;
                next[at] = colour;
            }
        }
        if differs {
            break;
        }
        next.copy_from_slice(moved);
    }
    next
}

/// Hills and hollows on a grid of five by five.
fn tiles(shape: [usize; 3], epsilon: f64, stream: &mut Stream) -> Vec<f32> {
    let [channels, height, width] = shape;
    let mut moved = vec![0.0; channels * height * width];
    let side = (height.min(width) / 5).max(1);
    for top in (0..height + 1 - side).step_by(side) {
        for left in (0..width + 1 - side).step_by(side) {
            let hills = hills(side, stream);
            for channel in 0..channels {
                let sign = sign(stream);
                let places = Window { top, left, side }.places(shape, channel);
                places.zip(&hills).for_each(|(at, hill)| moved[at] = sign * hill);
            }
        }
    }
    resize(&mut moved, epsilon);
    moved
}

/// Takes the change away from one window and gathers it in another.
fn gathered(
    shape: [usize; 3],
    moved: &[f32],
    side: usize,
    epsilon: f64,
    stream: &mut Stream,
) -> Vec<f32> {
    let odd = side.max(3) | 1;
    let into = Window::random(shape, odd, stream);
    let from = Window::random(shape, odd, stream);
    let hills = hills(into.side, stream);
    let unused =
        epsilon * epsilon - moved.iter().map(|m| f64::from(*m) * f64::from(*m)).sum::<f64>();
    let share = unused.max(0.0) / shape[0].max(1) as f64;
    let mut next = moved.to_vec();
    for channel in 0..shape[0] {
        let sign = sign(stream);
        let inside: f64 =
            into.places(shape, channel).map(|at| f64::from(moved[at]) * f64::from(moved[at])).sum();
        let mut taken = 0.0;
        for at in from.places(shape, channel).chain(into.places(shape, channel)) {
            let taken_away = f64::from(std::mem::take(&mut next[at]));
            taken += taken_away * taken_away;
        }
        let scale = 1.0 / (1e-10 + inside.sqrt() as f32);
        let mut hill: Vec<f32> = into
            .places(shape, channel)
            .zip(&hills)
            .map(|(at, hill)| sign * hill + moved[at] * scale)
            .collect();
        if hill.iter().all(|value| value.abs() < 1e-6) {
            // In windows of few pixels, old and new can cancel each other.
            hill = hills.iter().map(|hill| sign * hill).collect();
        }
        resize(&mut hill, (share + taken).sqrt());
        into.places(shape, channel).zip(hill).for_each(|(at, value)| next[at] = value);
    }
    resize(&mut next, epsilon);
    next
}

/// A hill in one half of a square and a hollow in the other, of length one together.
fn hills(side: usize, stream: &mut Stream) -> Vec<f32> {
    let half = side / 2;
    let mut hills = hill(half, side);
    hills.extend(hill(side - half, side).into_iter().map(|value| -value));
    resize(&mut hills, 1.0);
    if stream.chance(0.5) {
        return hills;
    }
    (0..side * side).map(|at| hills[at % side * side + at / side]).collect()
}

/// A hill of length one that falls off from the middle in steps.
fn hill(height: usize, width: usize) -> Vec<f32> {
    let mut hill = vec![0.0; height * width];
    let middle_row = height / 2;
    let middle_column = width / 2;
    for row in 0..height {
        for column in 0..width {
            let away = row.abs_diff(middle_row).max(column.abs_diff(middle_column));
            let furthest = middle_row.max(middle_column);
            let steps = away..=furthest;
            hill[row * width + column] =
                steps.map(|step| 1.0 / ((step + 1) * (step + 1)) as f32).sum();
        }
    }
    resize(&mut hill, 1.0);
    hill
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    fn length(moved: &[f32]) -> f64 {
        moved.iter().map(|m| f64::from(*m).powi(2)).sum::<f64>().sqrt()
    }

    #[test]
    fn squares_shrink_as_in_the_paper() {
        let attack = Square { epsilon: 0.1, norm: Norm::Infinity, iterations: 10_000, share: 0.8 };
        let shape = [3, 100, 100];
        let sides = [0, 11, 51, 201, 9999].map(|query| attack.side(query, shape));
        assert_eq!(sides, [89, 63, 45, 32, 4]);
        assert_eq!(attack.side(0, [1, 1, 1]), 1);
    }

    #[test]
    fn changes_have_the_size_that_is_left_to_them() {
        let mut stream = Seed::new(1).stream();
        for shape in [[1, 1, 1], [3, 2, 2], [3, 16, 16], [1, 7, 20]] {
            let values: usize = shape.iter().product();
            let moved = tiles(shape, 0.5, &mut stream);
            assert!((length(&moved) - 0.5).abs() < 1e-5, "{shape:?}: {}", length(&moved));
            let next = gathered(shape, &moved, 3, 0.5, &mut stream);
            assert!((length(&next) - 0.5).abs() < 1e-5, "{shape:?}: {}", length(&next));
            let striped = stripes(shape, 0.1, &mut stream);
            assert!(striped.len() == values && striped.iter().all(|m| m.abs() == 0.1));
            let start = vec![0.5; values];
            let again = repainted(shape, &start, &striped, 1, 0.1, &mut stream);
            let changed = again.iter().zip(&striped).filter(|(a, b)| a != b).count();
            assert!((1..=shape[0]).contains(&changed), "{shape:?}: {changed}");
        }
    }

    /// By the authors' own code.
    #[test]
    fn hills_fall_off_in_steps() {
        let hill = hill(3, 3);
        let low = 0.25f32;
        let high = 1.25f32;
        let length = (8.0 * low * low + high * high).sqrt();
        assert!((hill[4] - high / length).abs() < 1e-6 && (hill[0] - low / length).abs() < 1e-6);
    }
}
