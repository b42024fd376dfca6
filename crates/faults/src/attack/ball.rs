//! Points near a start: back into a ball, out to its border, anywhere inside.

use super::noise::{bells, uniforms};
use super::{AttackSession, Norm};
use faultlens_core::Stream;

/// Brings a point back to within `epsilon` of its start, to the closest such point.
pub(super) fn project(norm: Norm, epsilon: f64, start: &[f32], point: &mut [f32]) {
    match norm {
        Norm::Infinity => {
            let max = epsilon as f32;
            for (value, from) in point.iter_mut().zip(start) {
                *value = from + (*value - from).clamp(-max, max);
            }
        }
        Norm::Two => {
            let distance = norm.distance(point, start);
            if distance > epsilon {
                shrink(start, point, |moved| moved * epsilon / distance);
            }
        }
        Norm::Zero | Norm::One => {
            if norm.distance(point, start) > epsilon {
                let sizes = start.iter().zip(&*point).map(|(a, b)| f64::from((b - a).abs()));
                let excess = simplex_excess(sizes.collect(), epsilon);
                shrink(start, point, |moved| moved.signum() * (moved.abs() - excess).max(0.0));
            }
        }
    }
}

fn shrink(start: &[f32], point: &mut [f32], rule: impl Fn(f64) -> f64) {
    for (value, from) in point.iter_mut().zip(start) {
        *value = from + rule(f64::from(*value - from)) as f32;
    }
}

/// What all sizes lose, down to zero, so that they sum to `total` (Duchi et al. 2008): the closest
/// point of the ball loses the same everywhere.
fn simplex_excess(mut sizes: Vec<f64>, total: f64) -> f64 {
    sizes.sort_unstable_by(|a, b| b.total_cmp(a));
    let mut sum = 0.0;
    let mut excess = 0.0;
    for (at, size) in sizes.iter().enumerate() {
        sum += size;
        let shared = (sum - total) / (at + 1) as f64;
        if *size <= shared {
            break;
        }
        excess = shared;
    }
    excess
}

/// A point of the ball around a start, inside the range of pixels.
pub(super) fn anywhere(norm: Norm, epsilon: f64, start: &[f32], stream: &mut Stream) -> Vec<f32> {
    let values = start.len();
    let mut moved = vec![0.0f32; values];
    match norm {
        Norm::Infinity => {
            uniforms(stream, &mut moved);
            moved.iter_mut().for_each(|m| *m *= epsilon as f32);
        }
        Norm::Two => {
            bells(stream, &mut moved);
            let radius = epsilon * libm::pow(stream.uniform(), 1.0 / values.max(1) as f64);
            resize(&mut moved, radius);
        }
        Norm::Zero | Norm::One => {
            // Gaps between ordered uniform numbers: all ways to share out epsilon are as likely.
            let mut cuts: Vec<f64> = (0..values).map(|_| stream.uniform()).collect();
            cuts.sort_unstable_by(f64::total_cmp);
            let mut before = 0.0;
            for (m, cut) in moved.iter_mut().zip(cuts) {
                let sign = if stream.chance(0.5) { 1.0 } else { -1.0 };
                *m = (sign * epsilon * (cut - before)) as f32;
                before = cut;
            }
        }
    }
    start.iter().zip(moved).map(|(from, m)| (from + m).clamp(0.0, 1.0)).collect()
}

/// Gives a move a length; one of no length stays.
pub(super) fn resize(moved: &mut [f32], length: f64) {
    let now = moved.iter().map(|m| f64::from(*m).powi(2)).sum::<f64>().sqrt();
    if now > 0.0 && now.is_finite() {
        let factor = (length / now) as f32;
        moved.iter_mut().for_each(|m| *m *= factor);
    }
}

/// Where a search for a sample begins: at the image, or at a random point of its ball.
pub(super) fn beginning(
    norm: Norm,
    epsilon: f64,
    session: &mut AttackSession<'_>,
    sample: usize,
    random: bool,
) -> Vec<f32> {
    let start = session.start(sample).to_vec();
    if !random {
        return start;
    }
    let mut point = anywhere(norm, epsilon, &start, session.stream(sample));
    session.confine(sample, &mut point);
    point
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    const NORMS: [Norm; 3] = [Norm::One, Norm::Two, Norm::Infinity];

    /// No point of a fine grid inside the ball lies closer than the projection.
    #[test]
    fn projections_are_the_closest_points() {
        let mut stream = Seed::new(3).stream();
        for norm in NORMS {
            for _ in 0..20 {
                let start: Vec<f32> = (0..3).map(|_| stream.uniform() as f32).collect();
                let far: Vec<f32> = (0..3).map(|_| stream.between(-1.0, 2.0) as f32).collect();
                let epsilon = stream.between(0.05, 0.6);
                let mut near = far.clone();
                project(norm, epsilon, &start, &mut near);
                assert!(norm.distance(&near, &start) <= epsilon + 1e-6);
                let reached = Norm::Two.distance(&near, &far);
                let steps = |k: i32| f64::from(k) * epsilon / 12.0;
                for cell in 0..25i32.pow(3) {
                    let moved = [cell % 25, cell / 25 % 25, cell / 625].map(|k| steps(k - 12));
                    let other: Vec<f32> =
                        start.iter().zip(moved).map(|(s, m)| s + m as f32).collect();
                    if norm.distance(&other, &start) <= epsilon {
                        assert!(Norm::Two.distance(&other, &far) >= reached - 1e-5, "{norm:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn points_inside_stay_and_random_ones_are_inside() {
        let mut stream = Seed::new(4).stream();
        let start = vec![0.5f32; 40];
        for norm in NORMS {
            let inside = anywhere(norm, 0.3, &start, &mut stream);
            assert!(norm.distance(&inside, &start) <= 0.3 + 1e-6, "{norm:?}");
            assert!(norm.distance(&inside, &start) > 0.2, "{norm:?}");
            let mut same = inside.clone();
            project(norm, 0.31, &start, &mut same);
            assert!(same.iter().zip(&inside).all(|(a, b)| (a - b).abs() < 1e-6));
        }
    }

    #[test]
    fn moves_without_a_length_stay() {
        let mut still = vec![0.0f32; 3];
        resize(&mut still, 1.0);
        assert_eq!(still, [0.0; 3]);
        let mut lost = vec![f32::NAN];
        resize(&mut lost, 1.0);
        assert!(lost[0].is_nan());
    }
}
