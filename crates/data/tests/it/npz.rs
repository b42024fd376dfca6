//! Files that numpy wrote; `fixtures/make_fixtures.py` made them.

use faultlens_data::{DataSet, Options};
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The n-th value of a fixture's array.
fn value(n: usize) -> u8 {
    (n * 7 % 251) as u8
}

#[test]
fn stored_grey_images_with_wide_labels() {
    let set = DataSet::open(fixture("stored.npz")).unwrap();
    assert_eq!(
        (set.len(), set.classes.as_slice()),
        (5, ["0", "1", "2", "3"].map(String::from).as_slice())
    );
    let labels: Vec<_> = (0..5).filter_map(|index| set.label(index)).collect();
    assert_eq!(labels, [0, 3, 1, 2, 3]);
    let case = set.case(3).unwrap();
    assert_eq!((case.name.as_str(), case.label), ("stored-000003", Some(2)));
    assert_eq!((case.image.width(), case.image.height()), (4, 6));
    let wanted: Vec<u8> = (0..24).flat_map(|at| [value(3 * 24 + at); 3]).collect();
    assert_eq!(case.image.rgb(), wanted);
}

#[test]
fn packed_parts_with_channels_first() {
    let set = DataSet::open(fixture("parts.npz")).unwrap();
    assert_eq!((set.len(), set.classes.len()), (6, 5));
    let all: Vec<(String, Option<usize>)> = (0..6)
        .map(|index| (set.case(index).unwrap().strata["part"].clone(), set.label(index)))
        .collect();
    let wanted = [("test", 3), ("test", 3), ("train", 1), ("train", 0), ("train", 4), ("train", 2)];
    assert_eq!(all, wanted.map(|(part, label)| (part.to_owned(), Some(label))));
    let train = Options { part: Some("train".into()), ..Options::default() };
    let train = DataSet::open_with(fixture("parts.npz"), &train).unwrap();
    let case = train.case(1).unwrap();
    let wanted: Vec<u8> =
        (0..30).flat_map(|at| [0, 1, 2].map(|c| value(90 + c * 30 + at))).collect();
    assert_eq!((train.len(), case.image.rgb()), (4, wanted.as_slice()));
    let other = Options { part: Some("val".into()), ..Options::default() };
    let error = DataSet::open_with(fixture("parts.npz"), &other).unwrap_err().to_string();
    assert!(error.contains("no part \"val\", only \"test\", \"train\""), "{error}");
}

#[test]
fn floats_are_scaled_and_float_labels_are_values() {
    let set = DataSet::open(fixture("floats.npz")).unwrap();
    let case = set.case(1).unwrap();
    let wanted: Vec<u8> = (60..120).map(value).collect();
    assert_eq!(case.image.rgb(), wanted);
    assert_eq!((case.label, case.values, set.classes.len()), (None, vec![-1.25], 0));
}

#[test]
fn what_is_not_read_is_refused() {
    for (name, wanted) in [("objects.npz", "holds objects"), ("fortran.npz", "ascontiguousarray")] {
        let error = DataSet::open(fixture(name)).unwrap_err().to_string();
        assert!(error.contains(wanted) && error.ends_with(name), "{error}");
    }
}
