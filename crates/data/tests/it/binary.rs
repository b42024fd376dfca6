//! idx and CIFAR files, written byte by byte as their authors document them.

use crate::scratch::Scratch;
use faultlens_data::{DataSet, Options};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;

/// `count` images of 3×2 pixels: image n is filled with n, its first pixel is 255.
fn idx_images(count: u8) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, 3, 0, 0, 0, count, 0, 0, 0, 2, 0, 0, 0, 3];
    for image in 0..count {
        bytes.extend([255, image, image, image, image, image]);
    }
    bytes
}

fn idx_labels(labels: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0, 0, 8, 1, 0, 0, 0, labels.len() as u8];
    bytes.extend(labels);
    bytes
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default()
}

fn part(path: &Path, part: &str) -> DataSet {
    let options = Options { part: Some(part.into()), ..Options::default() };
    DataSet::open_with(path, &options).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn idx_packed_and_plain() {
    let scratch = Scratch::new();
    scratch.write("train-images-idx3-ubyte", idx_images(3));
    scratch.write("train-labels-idx1-ubyte.gz", packed(&idx_labels(&[4, 0, 2])));
    scratch.write("t10k-images-idx3-ubyte.gz", packed(&idx_images(2)));
    scratch.write("t10k-labels-idx1-ubyte", idx_labels(&[1, 5]));
    let set = DataSet::open(scratch.path()).unwrap();
    assert_eq!((set.len(), set.classes.len()), (5, 6));
    let case = set.case(3).unwrap();
    assert_eq!((case.name.as_str(), case.label), ("train-000001", Some(0)));
    assert_eq!((case.image.width(), case.image.height()), (3, 2));
    assert_eq!(case.image.rgb()[..6], [255, 255, 255, 1, 1, 1]);
    assert_eq!((part(scratch.path(), "train").len(), part(scratch.path(), "test").len()), (3, 2));
    let one = DataSet::open(scratch.path().join("train-images-idx3-ubyte")).unwrap();
    assert_eq!((one.len(), one.label(2)), (3, Some(2)));
}

#[test]
fn idx_files_that_lie_are_refused() {
    let good = idx_images(2);
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    let cases = [
        (good[..20].to_vec(), "truncated: 28 bytes are needed, 20 are there"),
        (good[..7].to_vec(), "truncated"),
        (with(4, 0xff), "not read"),
        (with(8, 0xff), "truncated"),
        (with(7, 1), "its header says 22"),
        (with(2, 0x0d), "type 0x0d"),
        (with(3, 2), "no idx file"),
        (with(11, 0), "0 pixels are not read"),
        (vec![], "truncated"),
    ];
    for (bytes, wanted) in cases {
        let scratch = Scratch::new();
        scratch.write("a-labels-idx1-ubyte", idx_labels(&[0, 1]));
        scratch.write("a-images-idx3-ubyte", &bytes);
        let error = DataSet::open(scratch.path()).unwrap_err().to_string();
        assert!(error.contains(wanted) || bytes.len() == 28 && error.contains("header"), "{error}");
    }
    let scratch = Scratch::new();
    scratch.write("a-images-idx3-ubyte.gz", &packed(&good)[..20]);
    let error = DataSet::open(scratch.path()).unwrap_err().to_string();
    assert!(error.contains("gzip file is damaged or truncated"), "{error}");
    scratch.write("a-images-idx3-ubyte.gz", packed(&good));
    let error = DataSet::open(scratch.path()).unwrap_err().to_string();
    assert!(error.contains("labels are missing; add a-labels-idx1-ubyte"), "{error}");
    scratch.write("a-labels-idx1-ubyte", idx_labels(&[0]));
    let error = DataSet::open(scratch.path()).unwrap_err().to_string();
    assert!(error.contains("1 labels for 2 images"), "{error}");
}

/// One record: labels, then 1024 red, green and blue bytes; red rises, the others are constant.
fn record(labels: &[u8]) -> Vec<u8> {
    let red = (0..1024).map(|at| (at % 256) as u8);
    labels.iter().copied().chain(red).chain([20; 1024]).chain([30; 1024]).collect()
}

#[test]
fn cifar_10_and_100() {
    let scratch = Scratch::new();
    scratch.write("data_batch_1.bin", [record(&[3]), record(&[9])].concat());
    scratch.write("data_batch_2.bin", record(&[0]));
    scratch.write("test_batch.bin", record(&[5]));
    scratch.write("batches.meta.txt", "not needed");
    let set = DataSet::open(scratch.path()).unwrap();
    let labels: Vec<_> = (0..4).filter_map(|index| set.label(index)).collect();
    assert_eq!((labels.as_slice(), set.classes[3].as_str()), ([3, 9, 0, 5].as_slice(), "cat"));
    let case = set.case(1).unwrap();
    assert_eq!(
        (case.name.as_str(), case.strata["part"].as_str()),
        ("data_batch_1-000001", "train")
    );
    assert_eq!(case.image.rgb()[..6], [0, 20, 30, 1, 20, 30]);
    assert_eq!(part(scratch.path(), "test").len(), 1);
    assert_eq!(DataSet::open(scratch.path().join("data_batch_1.bin")).unwrap().len(), 2);

    let scratch = Scratch::new();
    scratch.write("train.bin", [record(&[1, 99]), record(&[19, 0])].concat());
    let coarse: Vec<String> = (0..20).map(|n| format!("group {n}\n")).collect();
    scratch.write("coarse_label_names.txt", coarse.concat());
    let set = DataSet::open(scratch.path()).unwrap();
    let case = set.case(1).unwrap();
    assert_eq!((set.label(0), case.label, set.classes.len()), (Some(99), Some(0), 100));
    assert_eq!(case.strata["coarse"], "group 19");
}

#[test]
fn cifar_files_that_lie_are_refused() {
    let cases = [
        ("data_batch_1.bin", record(&[3])[..3000].to_vec(), "truncated: 3073 bytes are needed"),
        (
            "data_batch_1.bin",
            record(&[10]),
            "label 10 of record 0 is no class; labels go from 0 to 9",
        ),
        ("train.bin", record(&[0, 100]), "label 100 of record 0"),
        ("data_batch_1.bin", vec![], "holds no case"),
    ];
    for (name, bytes, wanted) in cases {
        let scratch = Scratch::new();
        scratch.write(name, bytes);
        let error = DataSet::open(scratch.path()).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
}
