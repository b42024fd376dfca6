//! A fingerprint of the content of a data set. Models and scenes that were made from a set are cached
//! under it.

use faultlens_core::{Case, Object};
use faultlens_data::{DataError, DataSet};
use sha2::{Digest, Sha256};

/// The first half of a SHA-256, in hexadecimal, over classes, pixels, labels and objects.
pub fn fingerprint(set: &DataSet) -> Result<String, DataError> {
    let mut hash = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    for class in &set.classes {
        part(class.as_bytes());
    }
    for index in 0..set.len() {
        let Case { image, label, objects, .. } = set.case(index)?;
        let label = label.map_or(0, |label| label + 1);
        let numbers = [image.width(), image.height(), label, objects.len()];
        part(&numbers.map(|number| (number as u64).to_le_bytes()).concat());
        part(image.rgb());
        for Object { class, bounds: b, crowd, mask } in &objects {
            part(&[*class as u64, u64::from(*crowd)].map(u64::to_le_bytes).concat());
            part(&[b.left, b.top, b.right, b.bottom].map(f32::to_le_bytes).concat());
            let bits = mask.iter().flat_map(|mask| mask.bits());
            part(&bits.map(|&bit| u8::from(bit)).collect::<Vec<u8>>());
        }
    }
    Ok(hash.finalize()[..16].iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::world_cases;
    use faultlens_world::{SCENE_CLASSES, TEST};

    #[test]
    fn other_pictures_labels_and_objects_are_other_sets() {
        let set = |asked: &str| world_cases(asked, TEST, [9, 9], &SCENE_CLASSES).unwrap();
        let print = |asked: &str| fingerprint(&set(asked)).unwrap();
        assert_eq!(print("scenes:3"), print("scenes:3"));
        assert_ne!(print("scenes:3"), print("scenes:2"));
        assert_ne!(print("scenes:3"), print("signs:3"));
        let unlike = |change: fn(&mut Case)| {
            let mut case = set("scenes:1").case(0).unwrap();
            change(&mut case);
            fingerprint(&DataSet::new(Vec::new(), vec![case])).unwrap()
        };
        let same = unlike(|_| {});
        assert_ne!(same, unlike(|case| case.objects[0].class += 1));
        assert_ne!(same, unlike(|case| case.objects[0].bounds.left += 1.0));
        assert_ne!(same, unlike(|case| case.label = Some(0)));
        assert_ne!(same, unlike(|case| case.objects.clear()));
    }
}
