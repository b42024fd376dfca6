//! What a file may ask for. Each limit is far above the data sets that people publish.

/// Larger image files are refused before they are read.
pub(crate) const IMAGE_FILE_BYTES: u64 = 256 << 20;
/// Larger images are refused before any pixel is decoded.
pub(crate) const PIXELS: u64 = 100_000_000;
/// What decoding an image may allocate: [`PIXELS`] of 16-bit RGBA.
pub(crate) const DECODING_BYTES: u64 = PIXELS * 8;
/// COCO's own `instances_train2017.json` has 450 MB.
pub(crate) const JSON_BYTES: u64 = 1 << 30;
/// The labels of one image, and lists of names, of a YOLO set.
pub(crate) const YOLO_BYTES: u64 = 16 << 20;
/// Tables of labels.
pub(crate) const CSV_BYTES: u64 = 256 << 20;
/// Arrays in an npz file.
pub(crate) const ZIP_ENTRIES: usize = 4096;
/// The text in front of an npy array.
pub(crate) const NPY_HEADER_BYTES: usize = 64 << 10;
/// Arrays that must be unpacked and kept in memory.
pub(crate) const UNPACKED_BYTES: u64 = 2 << 30;
/// Classes of a set whose labels are numbers: a larger label is no class.
pub(crate) const CLASSES: usize = 1 << 16;
/// Cases of one file.
pub(crate) const CASES: usize = 1 << 28;
/// Pixels of all masks of one image together.
pub(crate) const MASK_PIXELS: usize = 1 << 30;
/// The description of a pool of objects, some 350 bytes for each of them.
pub(crate) const POOL_INDEX_BYTES: u64 = 512 << 20;
/// Objects of a pool; COCO's training images have 860,000.
pub(crate) const POOL_OBJECTS: usize = 1 << 20;
