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
                [0, 1].map(|axis| {
                    let half = f64::from(size[axis]) / 2.0;
                    stream.between(half, (sides[axis] as f64 - half).max(half)) as f32
                })
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
    let [across, down] = if is_wide {
        [0.0..outer[0], inner[1]..outer[1]]
    } else {
        [inner[0]..outer[0], 0.0..inner[1]]
    };
    let dx = signed(across, stream);
    let dy = signed(down, stream);
    [(x + dx) as f32, (y + dy) as f32]
}

/// A distance from a range, to either side.
fn signed(range: std::ops::Range<f64>, stream: &mut Stream) -> f64 {
    let away = stream.between(range.start, range.end);
    if stream.chance(0.5) { away } else { -away }
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
            let dx = (x - 120.0).abs();
            let dy = (y - 80.0).abs();
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
