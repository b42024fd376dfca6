//! Labels that do not fit, without what tells them apart from their neighbours being lost.

use crate::escape::{columns, shorten};

/// Labels without the settings that all of the same name have in common, where they would not fit
/// otherwise: `fog severity=3 table=cifar10-c` beside `fog severity=5 table=cifar10-c` is
/// `fog severity=3`.
pub(super) fn telling(labels: &[&str], most: usize) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for label in labels {
        let whole = columns(label) <= most;
        told.push(if whole { (*label).to_owned() } else { without_common(label, labels) });
    }
    told.iter().map(|label| shorten(label, most)).collect()
}

/// The words of a label that not all labels of the same first word have.
fn without_common(label: &str, labels: &[&str]) -> String {
    let mut words = label.split(' ');
    let Some(name) = words.next() else { return label.to_owned() };
    let alike: Vec<&&str> =
        labels.iter().filter(|other| other.split(' ').next() == Some(name)).collect();
    if alike.len() < 2 {
        return label.to_owned();
    }
    let mut kept = vec![name];
    for word in words {
        if !alike.iter().all(|other| other.split(' ').any(|own| own == word)) {
            kept.push(word);
        }
    }
    kept.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_labels_apart_stays() {
        let labels = [
            "contrast severity=5 table=cifar10-c",
            "contrast severity=4 table=cifar10-c",
            "rotation severity=5",
            "a_single_long_name_of_a_fault severity=2",
        ];
        let told = telling(&labels, 23);
        assert_eq!(
            told[..3],
            ["contrast severity=5", "contrast severity=4", "rotation severity=5"]
        );
        assert!(columns(&told[3]) <= 23 && told[3].ends_with("severity=2"), "{told:?}");
    }
}
