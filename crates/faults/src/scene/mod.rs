//! Faults in the scene: something stands in the image that was not there, or is gone.
//!
//! What else stands there must be found as before (metamorphic testing of detectors; Wang and Su,
//! ASE'20). Which objects there are, the target itself says; where inserted ones come from, a
//! [`Supply`].

mod fill;
mod insert;
mod paste;
mod place;
mod relocate;
mod remove;

pub use relocate::Relocation;

use faultlens_core::{Bounds, Cutout, Detection, Image, Mask, Names, Plugin, Reason, Stream};

/// Every fault in the scene, in alphabetical order. Add yours here.
pub const SCENE_FAULTS: &[Plugin<dyn SceneFault>] = &[insert::INSERT_OBJECT, remove::REMOVE_OBJECT];

/// A deliberate, seeded change to what stands in an image.
pub trait SceneFault: Send + Sync {
    /// The changed scene; the same numbers drawn give the same one. An error says why there is
    /// none.
    fn change(&self, view: &View<'_>, stream: &mut Stream) -> Result<Scene, Reason>;

    /// Whether it takes objects from a [`Supply`].
    fn needs_objects(&self) -> bool;

    /// How often a trial asks, at most.
    fn max_queries(&self) -> u64;

    /// Where an object moves once it was found to disturb an answer; `None` where it stays.
    fn destination(&self, _view: &View<'_>) -> Option<[f32; 2]> {
        None
    }
}

/// A scene as the target sees it.
#[derive(Clone, Copy)]
pub struct View<'a> {
    /// How many trials of the case came before this one.
    pub repeat: u32,
    /// The undisturbed image.
    pub image: &'a Image,
    /// What the target finds in it.
    pub found: &'a [Detection],
    /// What it calls them.
    pub names: &'a Names,
    /// Where things stand in the image, and their pixels, as far as they are known.
    pub masks: &'a [(Bounds, &'a Mask)],
    /// Where inserted objects come from.
    pub supply: &'a dyn Supply,
}

impl View<'_> {
    /// The boxes of one class.
    fn boxes(&self, class: usize) -> Vec<Bounds> {
        let mine = self.found.iter().filter(|found| found.class == class);
        mine.map(|found| found.bounds).collect()
    }

    /// Whether a box meets nothing that the target finds, and lies in the image.
    fn is_free(&self, bounds: &Bounds) -> bool {
        bounds.left >= 0.0
            && bounds.top >= 0.0
            && bounds.right <= self.image.width() as f32
            && bounds.bottom <= self.image.height() as f32
            && self.found.iter().all(|found| !meets(bounds, &found.bounds))
    }
}

/// Where inserted objects come from.
pub trait Supply {
    /// An object of this label that fits into an image beside things that look like `likes`;
    /// `None` where there is none.
    fn object(&self, label: &str, likes: &[Bounds]) -> Option<Cutout>;
}

/// A changed scene.
#[derive(Debug, Clone)]
pub struct Scene {
    /// What it looks like.
    pub image: Image,
    /// What came or went.
    pub touched: Touched,
    /// What must still be found: all that was, but for what went.
    pub stays: Vec<Detection>,
    /// What came, to be put elsewhere.
    inserted: Option<Cutout>,
}

/// The one thing that came or went; what is found of it says nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Touched {
    /// Its class, as the target counts them.
    pub class: usize,
    /// Its label.
    pub label: String,
    /// Where it stands, or stood.
    pub bounds: Bounds,
    /// Which object of the supply it is; nothing where it was there before.
    pub object: Option<String>,
    /// Where the thing stands that it was put beside.
    pub beside: Option<Bounds>,
}

/// The overlap from which something found is the thing that came or went.
const SAME: f64 = 0.5;

/// The part of an inserted object that something found must cover to enclose it.
const ENCLOSED: f64 = 0.75;

impl Scene {
    /// Parts what was found into the answer to the thing that came or went, which says nothing of
    /// the rest, and the rest. The thing's own is what [`Touched::is`] has for it, and what encloses
    /// an object that came: a detector that draws its box too wide has still found the object and
    /// invented nothing.
    pub fn parted(&self, found: Vec<Detection>) -> (Vec<Detection>, Vec<Detection>) {
        let mut own = Vec::new();
        let mut rest = Vec::new();
        for one in &found {
            let encloses = self.inserted.is_some() && self.encloses(one, &found);
            if self.touched.is(one) || encloses {
                own.push(*one);
            } else {
                rest.push(*one);
            }
        }
        (own, rest)
    }

    /// Whether something found is of the object's class and covers most of it. A box around the
    /// object and a larger neighbour is the neighbour's, where nothing else found fits it better.
    fn encloses(&self, one: &Detection, found: &[Detection]) -> bool {
        let class = self.touched.class;
        let covered = self.touched.bounds.part_in(&one.bounds);
        if one.class != class || covered < ENCLOSED {
            return false;
        }
        let mut others = self.stays.iter().filter(|other| other.class == class);
        !others.any(|other| self.is_box_of(one, other, found))
    }

    /// Whether a box fits another object of the class at least as well as the inserted one, and no
    /// other box fits that object better.
    fn is_box_of(&self, one: &Detection, other: &Detection, found: &[Detection]) -> bool {
        let fit = one.bounds.iou(&other.bounds);
        let class = self.touched.class;
        let mut rivals = found.iter().filter(|one| one.class == class && !self.touched.is(one));
        fit >= one.bounds.iou(&self.touched.bounds)
            && rivals.all(|rival| rival.bounds.iou(&other.bounds) <= fit)
    }
}

impl Touched {
    /// Whether something found is the thing itself: of its class and overlapping it, or centred
    /// on it.
    pub fn is(&self, found: &Detection) -> bool {
        let [x, y] = centre(&found.bounds);
        let b = &self.bounds;
        let inside = b.left <= x && x <= b.right && b.top <= y && y <= b.bottom;
        inside || found.class == self.class && found.bounds.iou(b) >= SAME
    }
}

fn centre(b: &Bounds) -> [f32; 2] {
    [(b.left + b.right) / 2.0, (b.top + b.bottom) / 2.0]
}

/// The middle of all things found: the mean of their centres; `None` where there is none.
fn centroid(found: &[Detection]) -> Option<[f32; 2]> {
    let centres = found.iter().map(|found| centre(&found.bounds));
    let [x, y] = centres.fold([0.0f64; 2], |[x, y], [a, b]| [x + f64::from(a), y + f64::from(b)]);
    let n = found.len() as f64;
    (!found.is_empty()).then_some([(x / n) as f32, (y / n) as f32])
}

/// Whether two boxes share a part, however small.
fn meets(a: &Bounds, b: &Bounds) -> bool {
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
}

#[cfg(test)]
mod tests;
