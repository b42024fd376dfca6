//! Geometric faults move what an image shows; they report the motion, so that boxes and masks can
//! move along.

use crate::{Bounds, Case, Detection, Detections, Image, Mask, Object, Response, Segments};

/// In an expected answer, the class of pixels that show nothing of the old image, so that no class is
/// expected there. No target has so many classes.
pub const UNEXPECTED: u16 = u16::MAX;

/// The class of pixels that show nothing of the old image.
const NOTHING: u8 = 0;

/// Which point of the old image every pixel of the new one shows. Points are those of
/// [`Bounds`]: the upper left pixel has its centre at (0.5, 0.5).
#[derive(Debug, Clone, PartialEq)]
pub enum Motion {
    /// The old point is linear in the new one: `[a, b, c]` stands for `a·x + b·y + c`.
    Affine([[f64; 3]; 2]),
    /// The old point of every pixel, rows from the top.
    Field {
        /// Columns.
        width: usize,
        /// One for each pixel.
        points: Vec<[f32; 2]>,
    },
}

impl Motion {
    /// The point of the old image that a pixel of the new one shows at its centre; not a number
    /// for pixels that a field does not have.
    pub fn source(&self, x: usize, y: usize) -> [f64; 2] {
        match self {
            Self::Affine(rows) => {
                let x = x as f64 + 0.5;
                let y = y as f64 + 0.5;
                rows.map(|[a, b, c]| a * x + b * y + c)
            }
            Self::Field { width, points } => {
                let point = points.get(y * width + x).filter(|_| x < *width);
                point.map_or([f64::NAN; 2], |point| point.map(f64::from))
            }
        }
    }

    /// The object's pixels in the new image.
    #[must_use]
    pub fn mask(&self, old: &Mask) -> Mask {
        let bits = self.moved(old.bits(), old.width(), false);
        Mask::new(old.width(), bits).unwrap_or_else(|| old.clone())
    }

    /// The class of every pixel of the new image; `outside` for pixels that show nothing of the
    /// old one.
    pub fn segments(&self, old: &[u8], width: usize, outside: u8) -> Vec<u8> {
        self.moved(old, width, outside)
    }

    fn moved<T: Copy>(&self, old: &[T], width: usize, outside: T) -> Vec<T> {
        let height = old.len().checked_div(width).unwrap_or(0);
        let mut new = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                // The nearest old pixel: classes cannot be interpolated.
                let [from_x, from_y] = self.source(x, y).map(f64::floor);
                let inside = from_x >= 0.0
                    && from_y >= 0.0
                    && from_x < width as f64
                    && from_y < height as f64;
                let value =
                    if inside { old[from_y as usize * width + from_x as usize] } else { outside };
                new.push(value);
            }
        }
        new
    }

    /// The box around where the box's content went, as far as the new image shows it; `None` when
    /// nothing is left.
    pub fn bounds(&self, old: &Bounds, width: usize, height: usize) -> Option<Bounds> {
        let mut low = [f64::INFINITY; 2];
        let mut high = [f64::NEG_INFINITY; 2];
        let mut include = |point: [f64; 2]| {
            for i in 0..2 {
                low[i] = low[i].min(point[i]);
                high[i] = high[i].max(point[i]);
            }
        };
        match self {
            Self::Affine(rows) => {
                for x in [old.left, old.right] {
                    for y in [old.top, old.bottom] {
                        include(target(rows, f64::from(x), f64::from(y))?);
                    }
                }
            }
            Self::Field { .. } => {
                let columns = f64::from(old.left)..f64::from(old.right);
                let rows = f64::from(old.top)..f64::from(old.bottom);
                for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
                    let [from_x, from_y] = self.source(x, y);
                    if columns.contains(&from_x) && rows.contains(&from_y) {
                        include([x as f64, y as f64]);
                        include([x as f64 + 1.0, y as f64 + 1.0]);
                    }
                }
            }
        }
        let size = [width as f64, height as f64];
        let [left, top] = low.map(|at| at.max(0.0));
        let right = high[0].min(size[0]);
        let bottom = high[1].min(size[1]);
        let left_over = left < right && top < bottom;
        let [left, top, right, bottom] = [left, top, right, bottom].map(|at| at as f32);
        left_over.then_some(Bounds { left, top, right, bottom })
    }

    /// What a target that answered this to the old image should answer to the new one: boxes and
    /// areas move along, everything else stays.
    #[must_use]
    pub fn response(&self, old: &Response, width: usize, height: usize) -> Response {
        match old {
            Response::Detections(detections) => {
                let found = detections
                    .found
                    .iter()
                    .filter_map(|one| {
                        let bounds = self.bounds(&one.bounds, width, height)?;
                        Some(Detection { bounds, ..*one })
                    })
                    .collect();
                Response::Detections(Detections { found, ..detections.clone() })
            }
            Response::Segments(segments) => {
                Response::Segments(self.areas(segments, width as f32, height as f32))
            }
            other => other.clone(),
        }
    }

    fn areas(&self, old: &Segments, width: f32, height: f32) -> Segments {
        let all = (0..old.height).flat_map(|y| (0..old.width).map(move |x| (x, y)));
        Segments {
            classes: all
                .enumerate()
                .map(|(at, (x, y))| {
                    let x = centre(x, old.width, old.covers.left, old.covers.right);
                    let y = centre(y, old.height, old.covers.top, old.covers.bottom);
                    // A border around the image shows nothing of it, and stays as it is.
                    if !(0.0..width).contains(&x) || !(0.0..height).contains(&y) {
                        return old.classes.get(at).copied().unwrap_or(UNEXPECTED);
                    }
                    let [x, y] = self.source(x as usize, y as usize).map(|at| at as f32);
                    old.class_at(x, y).unwrap_or(UNEXPECTED)
                })
                .collect(),
            ..old.clone()
        }
    }

    /// The case with the new image and all that is known of it moved along. Objects of which
    /// nothing is left are dropped; those with a mask get the box around what is left of it.
    #[must_use]
    pub fn case(&self, old: &Case, image: Image) -> Case {
        let width = image.width();
        let height = image.height();
        Case {
            objects: old
                .objects
                .iter()
                .filter_map(|object| {
                    let mask = object.mask.as_ref().map(|mask| self.mask(mask));
                    let bounds = match &mask {
                        Some(mask) => mask.bounds(),
                        None => self.bounds(&object.bounds, width, height),
                    };
                    bounds.map(|bounds| Object { bounds, mask, ..object.clone() })
                })
                .collect(),
            segments: self.segments(&old.segments, width, NOTHING),
            image,
            ..old.clone()
        }
    }
}

/// The coordinate of the centre of cell `at` of `count` between `from` and `to`.
fn centre(at: usize, count: usize, from: f32, to: f32) -> f32 {
    from + (to - from) * (at as f32 + 0.5) / count as f32
}

/// The new point that shows an old one: the inverse of the affine map by Cramer's rule. `None` where
/// the map has no inverse.
fn target([[a, b, c], [d, e, f]]: &[[f64; 3]; 2], x: f64, y: f64) -> Option<[f64; 2]> {
    let determinant = a * e - b * d;
    let x = x - c;
    let y = y - f;
    let point = [(e * x - b * y) / determinant, (a * y - d * x) / determinant];
    point.iter().all(|at| at.is_finite()).then_some(point)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Everything two pixels to the right and one down.
    const SHIFT: Motion = Motion::Affine([[1.0, 0.0, -2.0], [0.0, 1.0, -1.0]]);

    /// A quarter turn clockwise of an image of 4×4 pixels.
    const TURN: Motion = Motion::Affine([[0.0, 1.0, 0.0], [-1.0, 0.0, 4.0]]);

    fn bounds(left: f32, top: f32, right: f32, bottom: f32) -> Bounds {
        Bounds { left, top, right, bottom }
    }

    /// The same motion, given pixel by pixel.
    fn field(motion: &Motion, width: usize, height: usize) -> Motion {
        Motion::Field {
            width,
            points: (0..width * height)
                .map(|at| motion.source(at % width, at / width).map(|from| from as f32))
                .collect(),
        }
    }

    #[test]
    fn boxes_go_where_their_content_goes() {
        let cases = [
            (&SHIFT, bounds(0.0, 0.0, 1.0, 2.0), Some(bounds(2.0, 1.0, 3.0, 3.0))),
            (&SHIFT, bounds(1.0, 0.0, 4.0, 4.0), Some(bounds(3.0, 1.0, 4.0, 4.0))),
            (&SHIFT, bounds(2.0, 0.0, 4.0, 2.0), None),
            (&TURN, bounds(0.0, 0.0, 2.0, 1.0), Some(bounds(3.0, 0.0, 4.0, 2.0))),
            (&Motion::Affine([[0.0; 3]; 2]), bounds(0.0, 0.0, 1.0, 1.0), None),
        ];
        for (motion, old, wanted) in cases {
            assert_eq!(motion.bounds(&old, 4, 4), wanted, "{motion:?} {old:?}");
            if wanted.is_some() {
                assert_eq!(field(motion, 4, 4).bounds(&old, 4, 4), wanted, "{motion:?} {old:?}");
            }
        }
    }

    #[test]
    fn answers_move_with_what_they_speak_of() {
        let names = crate::Names::reported(["a"]);
        let found = [0.0, 3.0].map(|left| Detection {
            class: 0,
            score: 0.5,
            bounds: bounds(left, 0.0, left + 1.0, 1.0),
        });
        let detections = Detections {
            found: found.to_vec(),
            names: names.clone(),
            finite: true,
            min_score: None,
        };
        let Response::Detections(moved) = SHIFT.response(&Response::Detections(detections), 4, 4)
        else {
            panic!("boxes stay boxes")
        };
        let boxes: Vec<Bounds> = moved.found.iter().map(|one| one.bounds).collect();
        assert_eq!(boxes, [bounds(2.0, 1.0, 3.0, 2.0)]);
        // Two rows of four that cover the image: each stands for two of its rows.
        let segments = Segments {
            width: 4,
            height: 2,
            classes: vec![1, 2, 3, 4, 5, 6, 7, 8],
            covers: bounds(0.0, 0.0, 4.0, 4.0),
            names,
            finite: true,
        };
        let Response::Segments(moved) = SHIFT.response(&Response::Segments(segments), 4, 4) else {
            panic!("areas stay areas")
        };
        assert_eq!(moved.classes, [UNEXPECTED, UNEXPECTED, 1, 2, UNEXPECTED, UNEXPECTED, 5, 6]);
        let values = Response::Values(vec![1.5]);
        assert_eq!(SHIFT.response(&values, 4, 4), values);
    }

    #[test]
    fn a_case_moves_with_its_image() {
        let image = Image::from_rgb(4, 4, vec![0; 48]).unwrap();
        let with = |left: f32, at: Option<usize>| Object {
            class: 1,
            bounds: bounds(left, 0.0, left + 1.0, 1.0),
            mask: at.and_then(|at| Mask::new(4, (0..16).map(|i| i == at).collect())),
            crowd: false,
        };
        let objects =
            vec![with(0.0, None), with(3.0, None), with(0.0, Some(5)), with(0.0, Some(2))];
        let segments = (0..16).map(|at| 10 + at).collect();
        let old = Case { objects, segments, label: Some(3), ..Case::new("a", image.clone()) };
        for motion in [SHIFT, field(&SHIFT, 4, 4)] {
            let new = motion.case(&old, image.clone());
            let boxes: Vec<Bounds> = new.objects.iter().map(|object| object.bounds).collect();
            assert_eq!(boxes, [bounds(2.0, 1.0, 3.0, 2.0), bounds(3.0, 2.0, 4.0, 3.0)]);
            assert_eq!(new.segments, [0, 0, 0, 0, 0, 0, 10, 11, 0, 0, 14, 15, 0, 0, 18, 19]);
            assert_eq!((new.label, new.name), (Some(3), "a".to_owned()));
        }
        assert_eq!(SHIFT.segments(&[1, 2, 3, 4], 2, 9), [9, 9, 9, 9]);
        assert!(SHIFT.segments(&[], 4, 9).is_empty());
    }
}
