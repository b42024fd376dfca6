//! Files of strangers: whatever the bytes are, there is an answer or an error, never a panic.

use crate::scratch::Scratch;
use faultlens_data::DataSet;
use proptest::prelude::*;

const STORED: &[u8] = include_bytes!("../fixtures/stored.npz");
const PARTS: &[u8] = include_bytes!("../fixtures/parts.npz");
const FLOATS: &[u8] = include_bytes!("../fixtures/floats.npz");
const COCO: &[u8] = include_bytes!("../fixtures/coco/instances.json");
const PNG: &[u8] = include_bytes!("../fixtures/coco/0.png");

/// One change to a file.
#[derive(Debug, Clone)]
enum Change {
    Set(prop::sample::Index, u8),
    /// Numbers that tempt: all bits, the sign bit, zero.
    Fill(prop::sample::Index, u8, usize),
    Cut(prop::sample::Index),
    Insert(prop::sample::Index, Vec<u8>),
}

impl Change {
    fn make(&self, bytes: &mut Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        match self {
            Self::Set(at, byte) => *at.get_mut(bytes) = *byte,
            Self::Fill(at, byte, len) => {
                let at = at.index(bytes.len());
                let end = (at + len).min(bytes.len());
                bytes[at..end].fill(*byte);
            }
            Self::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Self::Insert(at, more) => {
                let at = at.index(bytes.len());
                bytes.splice(at..at, more.iter().copied());
            }
        }
    }
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    let tempting = prop::sample::select(vec![0, 1, 0x7f, 0x80, 0xff]);
    prop_oneof![
        4 => (at(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        3 => (at(), tempting, 1..9usize).prop_map(|(at, byte, len)| Change::Fill(at, byte, len)),
        1 => at().prop_map(Change::Cut),
        1 => (at(), prop::collection::vec(any::<u8>(), 1..9)).prop_map(|(at, more)| Change::Insert(at, more)),
    ]
}

/// A file's name and bytes.
type Named = (&'static str, Vec<u8>);

/// The format's main file with its name, and what must lie beside it.
fn files(kind: usize) -> (&'static str, Vec<u8>, Vec<Named>) {
    let labels = b"\0\0\x08\x01\0\0\0\x02\x01\x05".to_vec();
    let images = b"\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x02abcdefgh".to_vec();
    let table = b"file,label,light\n0.png,cat,night\n\"1.png\",dog,day\n".to_vec();
    let pictures = || ["0.png", "1.png", "2.png"].map(|name| (name, PNG.to_vec())).to_vec();
    match kind {
        0 => ("a.npz", STORED.to_vec(), vec![]),
        1 => ("a.npz", PARTS.to_vec(), vec![]),
        2 => ("a.npz", FLOATS.to_vec(), vec![]),
        3 => ("a-images-idx3-ubyte", images, vec![("a-labels-idx1-ubyte", labels)]),
        4 => ("a-labels-idx1-ubyte", labels, vec![("a-images-idx3-ubyte", images)]),
        5 => ("data_batch_1.bin", vec![7; 3073], vec![]),
        6 => ("train.bin", vec![7; 3074], vec![]),
        7 => ("instances.json", COCO.to_vec(), pictures()),
        8 => ("labels.csv", table, pictures()),
        _ => ("cat/0.png", PNG.to_vec(), vec![("dog/1.png", PNG.to_vec())]),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn changed_files_never_panic(kind in 0..10usize, changes in prop::collection::vec(change(), 1..6)) {
        let (name, mut bytes, others) = files(kind);
        changes.iter().for_each(|change| change.make(&mut bytes));
        let scratch = Scratch::new();
        others.iter().for_each(|(name, bytes)| drop(scratch.write(name, bytes)));
        let file = scratch.write(name, &bytes);
        let path = if name.ends_with("npz") { file.as_path() } else { scratch.path() };
        if let Ok(set) = DataSet::open(path) {
            for index in 0..set.len() {
                prop_assert!(set.label(index).is_none_or(|label| label < set.classes.len()));
                let _ = set.case(index);
            }
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_text_in_a_mask_or_header_is_answered(text in ".{0,40}", size in 0..2000u64) {
        let scratch = Scratch::new();
        scratch.write("0.png", PNG);
        let counts = serde_json::json!([text, [size, 3], [1200 - size.min(1200), size.min(1200)]]);
        for counts in counts.as_array().into_iter().flatten() {
            let list = serde_json::json!({
                "images": [{"id": 1, "file_name": "0.png", "width": 40, "height": 30}],
                "annotations": [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1],
                    "segmentation": {"size": [30, 40], "counts": counts}}],
                "categories": [{"id": 1, "name": text}],
            });
            scratch.write("instances.json", list.to_string());
            if let Ok(set) = DataSet::open(scratch.path()) {
                let _ = set.case(0);
            }
        }
    }
}

/// `stored.npz` with other bytes in its first array, and a checksum that agrees with them:
/// otherwise the checksum would catch every change before the parser behind it sees one.
fn sealed(change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut bytes = STORED.to_vec();
    let u16_at = |at: usize| usize::from(u16::from_le_bytes([STORED[at], STORED[at + 1]]));
    let directory = STORED.windows(4).position(|window| window == b"PK\x01\x02").unwrap();
    let start = 30 + u16_at(26) + u16_at(28);
    let array = start..start + u16_at(directory + 20);
    change(&mut bytes[array.clone()]);
    let mut crc = flate2::Crc::new();
    crc.update(&bytes[array]);
    bytes[directory + 16..directory + 20].copy_from_slice(&crc.sum().to_le_bytes());
    bytes
}

fn open_all(scratch: &Scratch, bytes: &[u8]) -> bool {
    let set = DataSet::open(scratch.write("a.npz", bytes));
    set.is_ok_and(|set| (0..set.len()).all(|index| set.case(index).is_ok()))
}

#[test]
fn every_byte_of_an_archive_or_header_can_lie() {
    let scratch = Scratch::new();
    assert!(open_all(&scratch, &sealed(|_| ())));
    let mut good = 0;
    let mut bad = 0;
    for at in 0..STORED.len() {
        let mut bytes = STORED.to_vec();
        bytes[at] = !bytes[at];
        open_all(&scratch, &bytes);
    }
    for byte in [0, b'9', b')', 0xff] {
        for at in 0..128 {
            let opened = open_all(&scratch, &sealed(|array| array[at] = byte));
            *if opened { &mut good } else { &mut bad } += 1;
        }
    }
    // Most of the header is padding; what is not is noticed.
    assert!(good > 100 && bad > 100, "{good} {bad}");
}
