//! Things that can be drawn anywhere: on a scene of this world or on an image from elsewhere.

use super::{Canvas, Coverage, Path, Rgb, Shade, Transform};
use faultlens_core::Mask;

/// What a layer belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The thing itself: counts for its mask.
    Object,
    /// What holds it, such as a pole: hides what is behind, but is not the thing.
    Support,
}

/// One area of one colour.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Its outline.
    pub path: Path,
    /// Its colour in full light.
    pub colour: Rgb,
    /// How much it shines by itself, 0 to 1.
    pub glow: f32,
    /// What it belongs to.
    pub part: Part,
}

/// A drawing of one thing, layers from the back to the front.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sprite {
    /// The layers, the last on top.
    pub layers: Vec<Layer>,
}

impl Sprite {
    /// Adds a layer of the thing itself.
    pub fn layer(mut self, path: Path, colour: Rgb) -> Self {
        self.layers.push(Layer { path, colour, glow: 0.0, part: Part::Object });
        self
    }

    /// Adds a layer that shines.
    pub fn lamp(mut self, path: Path, colour: Rgb, glow: f32) -> Self {
        self.layers.push(Layer { path, colour, glow, part: Part::Object });
        self
    }

    /// Adds a layer of what holds the thing.
    pub fn support(mut self, path: Path, colour: Rgb) -> Self {
        self.layers.push(Layer { path, colour, glow: 0.0, part: Part::Support });
        self
    }

    /// All layers moved alike.
    pub fn moved(&self, place: &Transform) -> Self {
        Self {
            layers: self
                .layers
                .iter()
                .map(|l: &Layer| Layer { path: l.path.moved(place), ..l.clone() })
                .collect(),
        }
    }

    /// The box around the thing itself: left, top, right, bottom.
    pub fn extent(&self) -> Option<[f32; 4]> {
        let object = self.layers.iter().filter(|l| l.part == Part::Object);
        object.filter_map(|l| l.path.extent()).reduce(|a: [f32; 4], b: [f32; 4]| {
            [a[0].min(b[0]), a[1].min(b[1]), a[2].max(b[2]), a[3].max(b[3])]
        })
    }

    /// Which pixels of a canvas it would take.
    pub fn stamp(&self, width: usize, height: usize) -> Stamp {
        let mut stamp = Stamp::new(width, height);
        for layer in &self.layers {
            stamp.add(&Coverage::of(&layer.path, width, height), layer.part);
        }
        stamp
    }

    /// Draws it and says which pixels it took.
    pub fn draw(&self, canvas: &mut Canvas, shade: &Shade) -> Stamp {
        let mut stamp = Stamp::new(canvas.width(), canvas.height());
        for layer in &self.layers {
            let coverage = Coverage::of(&layer.path, canvas.width(), canvas.height());
            canvas.fill(&coverage, shade.lit(layer.colour, layer.glow));
            stamp.add(&coverage, layer.part);
        }
        stamp
    }
}

/// The pixels that a sprite takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Stamp {
    width: usize,
    object: Vec<f32>,
    solid: Vec<f32>,
}

impl Stamp {
    fn new(width: usize, height: usize) -> Self {
        Self { width, object: vec![0.0; width * height], solid: vec![0.0; width * height] }
    }

    fn add(&mut self, coverage: &Coverage, part: Part) {
        for (x, y, covered) in coverage.pixels() {
            let at = y * self.width + x;
            self.solid[at] = self.solid[at].max(covered);
            let object = &mut self.object[at];
            *object = match part {
                Part::Object => object.max(covered),
                Part::Support => object.min(1.0 - covered),
            };
        }
    }

    /// Per pixel, whether it shows the thing more than anything else.
    pub fn object(&self) -> Vec<bool> {
        self.object.iter().map(|&part| part >= 0.5).collect()
    }

    /// Per pixel, whether what is behind is hidden, by the thing or by what holds it.
    pub fn solid(&self) -> Vec<bool> {
        self.solid.iter().map(|&part| part >= 0.5).collect()
    }

    /// The thing's pixels as a mask; `None` for a canvas without columns.
    pub fn mask(&self) -> Option<Mask> {
        Mask::new(self.width, self.object())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sprite_draws_itself_and_says_where() {
        let sprite = Sprite::default()
            .support(Path::rect(3.0, 4.0, 4.0, 9.0), [0.5; 3])
            .layer(Path::rect(1.0, 1.0, 6.0, 5.0), [1.0; 3]);
        let mut canvas = Canvas::new(10, 10);
        let stamp = sprite.draw(&mut canvas, &Shade::PLAIN);
        let mask = stamp.mask().unwrap();
        assert_eq!(mask.area(), 20);
        assert_eq!(stamp.solid().iter().filter(|&&s| s).count(), 24);
        assert_eq!(
            (canvas.at(3, 8), canvas.at(3, 4), canvas.at(8, 8)),
            ([0.5; 3], [1.0; 3], [0.0; 3])
        );
        assert_eq!(stamp, sprite.stamp(10, 10));
    }
}
