//! An object that disturbs an answer moves on, as far as it still does.

use super::{Scene, centre};

/// Steps beyond this are not taken, however long the way is.
pub(super) const MAX_STEPS: u32 = 16;

/// An object's way from where it disturbed an answer to a destination, halved again and again as
/// delta debugging does: first all the way, then back to the middle where the answer is as it
/// should be or the place is taken, else onwards; until places are too close to each other.
#[derive(Debug, Clone)]
pub struct Relocation {
    from: [f32; 2],
    to: [f32; 2],
    /// Places closer than this are the same.
    close: f32,
    /// Shares of the way: the furthest that still disturbs, and the nearest beyond that does not.
    done: f64,
    too_far: Option<f64>,
    steps: u32,
}

impl Relocation {
    /// The way of a scene's object to a destination; `None` where it stands there already, or
    /// nothing was put into the scene.
    pub fn new(scene: &Scene, to: [f32; 2]) -> Option<Self> {
        scene.inserted.as_ref()?;
        let b = &scene.touched.bounds;
        let close = length([b.right - b.left, b.bottom - b.top]) / 6.0;
        let way = Self { from: centre(b), to, close, done: 0.0, too_far: None, steps: 0 };
        (way.length() >= close).then_some(way)
    }

    fn length(&self) -> f32 {
        length([self.to[0] - self.from[0], self.to[1] - self.from[1]])
    }

    /// Where to try next: a share of the way, and the place; `None` at the end.
    pub fn next(&self) -> Option<(f64, [f32; 2])> {
        let share = match self.too_far {
            None if self.done >= 1.0 => return None,
            None => 1.0,
            Some(far) => f64::midpoint(self.done, far),
        };
        let length = f64::from(self.length());
        let close = f64::from(self.close);
        let apart = (share - self.done) * length;
        let left = (1.0 - share) * length;
        let ends = share < 1.0 && (apart < close || left < close);
        if ends || self.steps >= MAX_STEPS {
            return None;
        }
        let place = [0, 1].map(|axis| {
            let from = f64::from(self.from[axis]);
            let to = f64::from(self.to[axis]);
            (from + share * (to - from)) as f32
        });
        Some((share, place))
    }

    /// Says whether the answer is disturbed at the place that was tried; a place that is taken
    /// counts as no.
    pub fn tell(&mut self, share: f64, disturbs: bool) {
        self.steps += 1;
        if disturbs {
            self.done = share;
        } else {
            self.too_far = Some(share);
        }
    }

    /// The part of the way that the object came.
    pub fn share(&self) -> f64 {
        self.done
    }
}

/// By a square root, which is the same everywhere.
fn length([x, y]: [f32; 2]) -> f32 {
    (x * x + y * y).sqrt()
}
