//! Plane perspective: where a point of a drawing lands on the canvas.

use super::point::Point;

/// A projective map of the plane, rows of a 3×3 matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform([[f32; 3]; 3]);

impl Transform {
    /// Every point stays.
    pub const IDENTITY: Self = Self([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);

    /// This map, then a shift.
    pub fn shifted(self, x: f32, y: f32) -> Self {
        self.then([[1.0, 0.0, x], [0.0, 1.0, y], [0.0, 0.0, 1.0]])
    }

    /// This map, then sizes multiplied along both axes.
    pub fn scaled(self, x: f32, y: f32) -> Self {
        self.then([[x, 0.0, 0.0], [0.0, y, 0.0], [0.0, 0.0, 1.0]])
    }

    /// This map, then a turn about the origin, clockwise as seen, in radians.
    pub fn turned(self, angle: f32) -> Self {
        let s = libm::sinf(angle);
        let c = libm::cosf(angle);
        self.then([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    }

    /// This map, then rows slid against each other.
    pub fn sheared(self, x: f32) -> Self {
        self.then([[1.0, x, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    }

    /// This map, then a tilt away from the viewer: points with a larger `a·x + b·y` shrink.
    pub fn tilted(self, a: f32, b: f32) -> Self {
        self.then([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [a, b, 1.0]])
    }

    /// Where a point lands.
    pub fn apply(&self, p: Point) -> Point {
        let [x, y, w] = self.0.map(|row| row[0] * p[0] + row[1] * p[1] + row[2]);
        [x / w, y / w]
    }

    fn then(self, m: [[f32; 3]; 3]) -> Self {
        Self(m.map(|row| {
            std::array::from_fn(|c| {
                row[0] * self.0[0][c] + row[1] * self.0[1][c] + row[2] * self.0[2][c]
            })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_follow_each_other_in_the_order_written() {
        let quarter = std::f32::consts::FRAC_PI_2;
        let cases = [
            (Transform::IDENTITY.shifted(1.0, 2.0).scaled(2.0, 3.0), [4.0, 9.0]),
            (Transform::IDENTITY.scaled(2.0, 3.0).shifted(1.0, 2.0), [3.0, 5.0]),
            (Transform::IDENTITY.turned(quarter), [-1.0, 1.0]),
            (Transform::IDENTITY.sheared(0.5), [1.5, 1.0]),
            (Transform::IDENTITY.tilted(0.0, 1.0), [0.5, 0.5]),
        ];
        for (map, wanted) in cases {
            let got = map.apply([1.0, 1.0]);
            let near = (got[0] - wanted[0]).abs() + (got[1] - wanted[1]).abs() < 1e-5;
            assert!(near, "{got:?} is not {wanted:?}");
        }
    }
}
