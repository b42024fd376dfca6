//! One thing less in the scene.

use super::fill::filled;
use super::{SAME, Scene, SceneFault, Touched, View, meets};
use crate::doc::{about, described, when};
use faultlens_core::{Bounds, Detection, Plugin, Reason, Stream};

described! {
    /// # What it does
    /// Takes an object out of the scene and fills its place smoothly from its surroundings; what
    /// the target finds of the others must stay. The object touches nothing else; its own pixels
    /// are filled where they are known, else its whole box. Every trial of a case takes another
    /// object, the most confident one first.
    /// # When it happens
    /// A car leaves the scene, a person walks out of it.
    struct Remove;
}

pub(super) const REMOVE_OBJECT: Plugin<dyn SceneFault> = Plugin {
    name: "remove_object",
    about: about(Remove::DOC),
    when: when(Remove::DOC),
    parameters: &[],
    build: |_| Ok(Box::new(Remove)),
};

/// Pixels around a thing that go with it: its shadow's edge, and what blurs into it.
const RIM: i64 = 3;

impl SceneFault for Remove {
    fn change(&self, view: &View<'_>, _stream: &mut Stream) -> Result<Scene, Reason> {
        if view.found.is_empty() {
            return Err(Reason::GoldenEmpty);
        }
        let mut free: Vec<usize> = Vec::new();
        for (at, one) in view.found.iter().enumerate() {
            let bounds = wider(&one.bounds);
            let mut others = view.found.iter().enumerate().filter(|(other, _)| *other != at);
            if others.all(|(_, other)| !meets(&bounds, &other.bounds)) {
                free.push(at);
            }
        }
        let gone = match free.get(view.repeat as usize) {
            Some(gone) => *gone,
            None if free.is_empty() => return Err(Reason::NoRoom),
            None => return Err(Reason::TooFewObjects),
        };
        let Detection { class, bounds, .. } = view.found[gone];
        let hole = hole(view, &bounds);
        if hole.iter().all(|pixel| *pixel) || !hole.contains(&true) {
            return Err(Reason::NoRoom);
        }
        let mut stays = view.found.to_vec();
        stays.remove(gone);
        let label = view.names.name(class);
        Ok(Scene {
            image: filled(view.image, &hole),
            touched: Touched { class, label, bounds, object: None, beside: None },
            stays,
            inserted: None,
        })
    }

    fn needs_objects(&self) -> bool {
        false
    }

    fn max_queries(&self) -> u64 {
        1
    }
}

fn wider(b: &Bounds) -> Bounds {
    let rim = RIM as f32;
    Bounds { left: b.left - rim, top: b.top - rim, right: b.right + rim, bottom: b.bottom + rim }
}

/// The pixels that go, for each of the image: those of the thing that the box is of and those
/// around them, or the box; never more than the box and its rim, in which nothing else stands.
fn hole(view: &View<'_>, bounds: &Bounds) -> Vec<bool> {
    let width = view.image.width() as i64;
    let height = view.image.height() as i64;
    let known = view.masks.iter().map(|(own, mask)| (own.iou(bounds), mask));
    let best = known.max_by(|(a, _), (b, _)| a.total_cmp(b)).filter(|(iou, _)| *iou >= SAME);
    let mask = best
        .map(|(_, mask)| *mask)
        .filter(|mask| mask.width() == view.image.width() && mask.height() == view.image.height());
    let wide = wider(bounds);
    let left = (wide.left as i64).clamp(0, width);
    let right = (wide.right.ceil() as i64).clamp(0, width);
    let top = (wide.top as i64).clamp(0, height);
    let bottom = (wide.bottom.ceil() as i64).clamp(0, height);
    let mut hole = vec![false; (width * height) as usize];
    let Some(mask) = mask else {
        for y in top..bottom {
            hole[(y * width + left) as usize..(y * width + right) as usize].fill(true);
        }
        return hole;
    };
    // Dilation of the mask by the rim.
    for at in (0..mask.bits().len()).filter(|&at| mask.bits()[at]) {
        let x = at as i64 % width;
        let y = at as i64 / width;
        for y in (y - RIM).max(top)..(y + RIM + 1).min(bottom) {
            for x in (x - RIM).max(left)..(x + RIM + 1).min(right) {
                hole[(y * width + x) as usize] = true;
            }
        }
    }
    hole
}
