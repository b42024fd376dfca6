//! Which objects are worth keeping: the largest of each label.

use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The share of a label's objects that is left out, unless another number is given.
pub const PRUNED: f64 = 0.9;

/// Labels of fewer objects keep them all, unless another number is given.
pub const MIN_OBJECTS: usize = 6;

/// Leaves out this share of every label that has at least so many objects, the smallest first;
/// one stays. The order of those that stay is as it was. `of` gives an object's label and its number
/// of pixels: small objects are often fragments.
pub fn largest_objects<T>(
    objects: Vec<T>,
    share: f64,
    min_objects: usize,
    of: impl Fn(&T) -> (&str, usize),
) -> Vec<T> {
    let mut labels: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, object) in objects.iter().enumerate() {
        labels.entry(of(object).0).or_default().push(at);
    }
    let mut kept = vec![true; objects.len()];
    for mut places in labels.into_values().filter(|places| places.len() >= min_objects) {
        // The first of equal ones stays.
        places.sort_by_key(|&at| Reverse(of(&objects[at]).1));
        // In floating point 0.9 × 70 may be a hair less than 63.
        let dropped = (places.len() as f64 * share + 1e-9).floor() as usize;
        let stay = (places.len() - dropped.min(places.len())).max(1);
        places[stay..].iter().for_each(|&at| kept[at] = false);
    }
    objects.into_iter().zip(kept).filter_map(|(object, kept)| kept.then_some(object)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_a_label_stay() {
        let objects = || -> Vec<(&str, usize)> {
            let cars = (1..=20).map(|pixels| ("car", pixels));
            let cats = [5, 1, 9, 7, 3].map(|pixels| ("cat", pixels));
            let dogs = [2, 8, 8, 4, 6, 1].map(|pixels| ("dog", pixels));
            cars.chain(cats).chain(dogs).collect()
        };
        for (share, min_objects, wanted) in [
            (PRUNED, MIN_OBJECTS, "car19 car20 cat5 cat1 cat9 cat7 cat3 dog8"),
            (0.9, 5, "car19 car20 cat9 dog8"),
            (
                0.5,
                6,
                "car11 car12 car13 car14 car15 car16 car17 car18 car19 car20 \
                      cat5 cat1 cat9 cat7 cat3 dog8 dog8 dog6",
            ),
            (1.0, 1, "car20 cat9 dog8"),
        ] {
            let kept = largest_objects(objects(), share, min_objects, |object| *object);
            let names: Vec<String> =
                kept.into_iter().map(|(label, pixels)| format!("{label}{pixels}")).collect();
            assert_eq!(names.join(" "), wanted, "{share} {min_objects}");
        }
        assert_eq!(largest_objects(objects(), 0.0, 1, |object| *object).len(), 31);
    }
}
