//! Which objects are gone, and which are new.

use super::average_precision::{matched, of_class};
use faultlens_core::{Detection, Object};
use std::collections::BTreeSet;

/// How many of some objects are gone among others, and how many of the others are new.
///
/// One to one, as average precision matches: each of `observed`, surest first, is taken for the
/// object of its class that is still free and overlaps it most, by `iou` at least.
pub fn changed_objects(golden: &[Detection], observed: &[Detection], iou: f64) -> (usize, usize) {
    let all = golden.iter().chain(observed);
    let classes: BTreeSet<usize> = all.map(|found| found.class).collect();
    let same: usize = classes.into_iter().map(|class| same(golden, observed, class, iou)).sum();
    (golden.len() - same, observed.len() - same)
}

/// How many objects of a class are still there.
fn same(golden: &[Detection], observed: &[Detection], class: usize, iou: f64) -> usize {
    let object = |found: &Detection| {
        let &Detection { class, bounds, .. } = found;
        Object { class, bounds, mask: None, crowd: false }
    };
    let known: Vec<Object> = of_class(golden, class).iter().map(object).collect();
    let known: Vec<&Object> = known.iter().collect();
    let judged = matched(&of_class(observed, class), &known, iou);
    judged.iter().filter(|(_, found)| *found).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Bounds;

    fn found(class: usize, score: f32, left: f32) -> Detection {
        let bounds = Bounds { left, top: 0.0, right: left + 10.0, bottom: 10.0 };
        Detection { class, score, bounds }
    }

    #[test]
    fn every_object_is_found_again_once() {
        let golden = [found(0, 0.9, 0.0), found(0, 0.8, 4.0), found(1, 0.7, 50.0)];
        let cases = [
            ("nothing changed", golden.to_vec(), (0, 0)),
            ("other order and scores", vec![golden[2], golden[1], golden[0]], (0, 0)),
            ("one is lost", golden[1..].to_vec(), (1, 0)),
            ("one is new", [&golden[..], &[found(1, 0.1, 90.0)]].concat(), (0, 1)),
            ("another class", vec![golden[0], golden[1], found(2, 0.7, 50.0)], (1, 1)),
            ("moved by 3 of 10", vec![golden[0], golden[1], found(1, 0.7, 53.0)], (0, 0)),
            ("moved by 4 of 10", vec![golden[0], golden[1], found(1, 0.7, 54.0)], (1, 1)),
            ("one for two", vec![found(0, 0.9, 2.0), golden[2]], (1, 0)),
            ("two for one", vec![golden[0], golden[0], golden[1], golden[2]], (0, 1)),
            ("nothing left", vec![], (3, 0)),
        ];
        for (what, observed, wanted) in cases {
            assert_eq!(changed_objects(&golden, &observed, 0.5), wanted, "{what}");
        }
        assert_eq!(changed_objects(&[], &golden, 0.5), (0, 3));
    }

    #[test]
    fn objects_beyond_a_hundred_count_too() {
        let many: Vec<Detection> = (0..150).map(|at| found(0, 0.5, at as f32 * 20.0)).collect();
        assert_eq!(changed_objects(&many, &many[..120], 0.5), (30, 0));
    }
}
