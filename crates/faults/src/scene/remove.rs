//! One thing less in the scene.

use super::fill::filled;
use super::{SAME, Scene, SceneFault, Touched, View, meets};
use faultlens_core::{Bounds, Detection, Mask, Plugin, Reason, Stream};

/// # What it does
/// Takes something out that the target finds and that touches nothing else, and fills its place
/// smoothly from around it: its own pixels where they are known, else its whole box. Every trial of
/// a case takes another thing, the surest first.
/// # When it happens
/// A car leaves the scene; the others are still there.
pub(super) const REMOVE_OBJECT: Plugin<dyn SceneFault> = Plugin {
    name: "remove_object",
    about: "takes an object out of the scene and fills its place from around it; what the target \
            finds of the others must stay",
    when: "a car leaves the scene, a person walks out of it",
    parameters: &[],
    build: |_| Ok(Box::new(Remove)),
};

/// Pixels around a thing that go with it: its shadow's edge, and what blurs into it.
const RIM: i64 = 3;

struct Remove;

impl SceneFault for Remove {
    fn change(&self, view: &View<'_>, _stream: &mut Stream) -> Result<Scene, Reason> {
        if view.found.is_empty() {
            return Err(Reason::GoldenEmpty);
        }
        let alone = |one: &usize| {
            let others = view.found.iter().enumerate().filter(|(at, _)| at != one);
            let bounds = wider(&view.found[*one].bounds);
            others.into_iter().all(|(_, other)| !meets(&bounds, &other.bounds))
        };
        let free: Vec<usize> = (0..view.found.len()).filter(alone).collect();
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

    fn most_questions(&self) -> u64 {
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
    let (width, height) = (view.image.width() as i64, view.image.height() as i64);
    let known = view.masks.iter().map(|(own, mask)| (own.iou(bounds), mask));
    let best = known.max_by(|(a, _), (b, _)| a.total_cmp(b)).filter(|(iou, _)| *iou >= SAME);
    let fits = |mask: &&Mask| (mask.width() as i64, mask.height() as i64) == (width, height);
    let wide = wider(bounds);
    let cut = |at: f32, most: i64| (at as i64).clamp(0, most);
    let (left, right) = (cut(wide.left, width), cut(wide.right.ceil(), width));
    let (top, bottom) = (cut(wide.top, height), cut(wide.bottom.ceil(), height));
    let mut hole = vec![false; (width * height) as usize];
    let mut mark = |x: i64, y: i64, rim: i64| {
        for y in (y - rim).max(top)..(y + rim + 1).min(bottom) {
            for x in (x - rim).max(left)..(x + rim + 1).min(right) {
                hole[(y * width + x) as usize] = true;
            }
        }
    };
    match best.map(|(_, mask)| *mask).filter(fits) {
        Some(mask) => {
            for at in (0..mask.bits().len()).filter(|&at| mask.bits()[at]) {
                mark(at as i64 % width, at as i64 / width, RIM);
            }
        }
        None => {
            for y in top..bottom {
                for x in left..right {
                    mark(x, y, 0);
                }
            }
        }
    }
    hole
}
