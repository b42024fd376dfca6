//! Where inserted objects go.

use super::{View, centre};
use faultlens_core::{Bounds, Stream};

/// How often a place is drawn that turns out to be taken.
pub(super) const TRIES: usize = 20;

/// How a place is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placing {
    /// Close to a thing that the target finds.
    Guided,
    /// Anywhere in the image.
    Random,
}

impl Placing {
    /// A centre for an object of this size; it may turn out to be taken.
    pub(super) fn draw(
        self,
        view: &View<'_>,
        beside: &Bounds,
        size: [f32; 2],
        stream: &mut Stream,
    ) -> [f32; 2] {
        match self {
            Self::Guided => ring(beside, size, stream),
            Self::Random => {
                let sides = [view.image.width(), view.image.height()];
                let mut within = |side: usize, size: f32| {
                    let half = f64::from(size) / 2.0;
                    stream.between(half, (side as f64 - half).max(half)) as f32
                };
                [within(sides[0], size[0]), within(sides[1], size[1])]
            }
        }
    }
}

/// A point of the frame around a box in which an object of this size can be centred without
/// touching the box, and no further away than half of its own size again; every point is as likely.
fn ring(beside: &Bounds, [width, height]: [f32; 2], stream: &mut Stream) -> [f32; 2] {
    let [x, y] = centre(beside).map(f64::from);
    let sides = [beside.right - beside.left, beside.bottom - beside.top].map(f64::from);
    let own = [f64::from(width), f64::from(height)];
    let inner = [0, 1].map(|i| (sides[i] + own[i]) / 2.0);
    let outer = [0, 1].map(|i| (sides[i] + 2.0 * own[i]) / 2.0);
    // Above and below over the whole width, left and right between them.
    let wide = outer[0] * (outer[1] - inner[1]);
    let high = (outer[0] - inner[0]) * inner[1];
    let share = wide / (wide + high);
    let is_wide = stream.chance(share);
    let mut signed = |low: f64, high: f64| {
        let away = stream.between(low, high);
        if stream.chance(0.5) { away } else { -away }
    };
    let [dx, dy] = match is_wide {
        true => [signed(0.0, outer[0]), signed(inner[1], outer[1])],
        false => [signed(inner[0], outer[0]), signed(0.0, inner[1])],
    };
    [(x + dx) as f32, (y + dy) as f32]
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    #[test]
    fn the_ring_is_filled_evenly_and_never_touches_the_box() {
        let beside = Bounds { left: 100.0, top: 50.0, right: 140.0, bottom: 110.0 };
        let size = [20.0, 10.0];
        let mut stream = Seed::new(3).stream();
        let draws: Vec<[f32; 2]> = (0..20_000).map(|_| ring(&beside, size, &mut stream)).collect();
        for [x, y] in &draws {
            let (dx, dy) = ((x - 120.0).abs(), (y - 80.0).abs());
            assert!(dx <= 40.0 && dy <= 40.0, "{x} {y}");
            assert!(dx >= 30.0 || dy >= 35.0, "{x} {y} touches");
        }
        // The frame has 4·40·40 − 4·30·35 = 2200 square pixels; its left upper corner piece
        // beyond both inner sides 10·5.
        let corner = draws.iter().filter(|[x, y]| *x < 90.0 && *y < 45.0).count();
        let share = corner as f64 / draws.len() as f64;
        assert!((share - 50.0 / 2200.0).abs() < 0.004, "{share}");
        let left = draws.iter().filter(|[x, _]| *x < 120.0).count() as f64 / draws.len() as f64;
        assert!((left - 0.5).abs() < 0.02, "{left}");
    }
}
