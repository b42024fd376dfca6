//! Which objects are worth keeping: the largest of each label.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::gather::Outline;

/// Leaves out this share of every label that has at least so many objects, the smallest first;
/// one stays. The order of those that stay is as it was.
pub(super) fn largest(outlines: Vec<Outline>, share: f64, least: usize) -> Vec<Outline> {
    let mut labels: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, outline) in outlines.iter().enumerate() {
        labels.entry(&outline.label).or_default().push(at);
    }
    let mut kept = vec![true; outlines.len()];
    for mut places in labels.into_values().filter(|places| places.len() >= least) {
        // The first of equal ones stays.
        places.sort_by_key(|&at| Reverse(outlines[at].stamp.pixels()));
        // What a computer makes of 0.9 × 70 may be a hair less than 63.
        let dropped = (places.len() as f64 * share + 1e-9).floor() as usize;
        let stay = (places.len() - dropped.min(places.len())).max(1);
        places[stay..].iter().for_each(|&at| kept[at] = false);
    }
    outlines.into_iter().zip(kept).filter_map(|(outline, kept)| kept.then_some(outline)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens::Mask;
    use faultlens::data::Stamp;

    #[test]
    fn the_largest_of_a_label_stay() {
        let outline = |label: &str, pixels: usize| {
            let stamp = Stamp::of(&Mask::new(pixels, vec![true; pixels]).unwrap()).unwrap();
            let (id, label) = (format!("{label}{pixels}"), label.to_owned());
            Outline { case: 0, id, label, stamp, score: None }
        };
        let outlines = || -> Vec<Outline> {
            let cars = (1..=20).map(|pixels| outline("car", pixels));
            let cats = [5, 1, 9, 7, 3].map(|pixels| outline("cat", pixels));
            let dogs = [2, 8, 8, 4, 6, 1].map(|pixels| outline("dog", pixels));
            cars.chain(cats).chain(dogs).collect()
        };
        for (share, least, wanted) in [
            (0.9, 6, "car19 car20 cat5 cat1 cat9 cat7 cat3 dog8"),
            (0.9, 5, "car19 car20 cat9 dog8"),
            (
                0.5,
                6,
                "car11 car12 car13 car14 car15 car16 car17 car18 car19 car20 \
                      cat5 cat1 cat9 cat7 cat3 dog8 dog8 dog6",
            ),
            (1.0, 1, "car20 cat9 dog8"),
        ] {
            let kept = largest(outlines(), share, least);
            let ids: Vec<String> = kept.into_iter().map(|outline| outline.id).collect();
            assert_eq!(ids.join(" "), wanted, "{share} {least}");
        }
        assert_eq!(largest(outlines(), 0.0, 1).len(), 31);
    }
}
