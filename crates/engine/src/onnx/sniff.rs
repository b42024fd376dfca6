//! Recognises what people often have under a model's name when it is not a model.

use super::error::OnnxError;

struct FileSignature {
    starts_with: &'static [u8],
    what: &'static str,
    advice: &'static str,
}

const fn kind(
    starts_with: &'static [u8],
    what: &'static str,
    advice: &'static str,
) -> FileSignature {
    FileSignature { starts_with, what, advice }
}

const EXPORT: &str = "export the model to ONNX first";
const FETCH: &str = "fetch the model itself";

const KINDS: &[FileSignature] = &[
    kind(b"version https://git-lfs", "a git-LFS pointer", "run `git lfs pull` beside it"),
    kind(b"\x89PNG", "a PNG image", "name the model's file, not an image"),
    kind(b"\xff\xd8\xff", "a JPEG image", "name the model's file, not an image"),
    kind(b"PK\x03\x04", "a ZIP archive (a PyTorch or Keras model?)", EXPORT),
    kind(b"\x89HDF", "an HDF5 file (a Keras model?)", EXPORT),
    kind(b"\x1f\x8b", "a gzip archive", "unpack it first"),
    kind(b"\x80\x02", "a Python pickle (a PyTorch model?)", EXPORT),
    kind(b"<", "an HTML or XML page", FETCH),
];

/// How many bytes from the file's start text is looked for in.
const HEAD: usize = 512;

/// What bytes that are no model are instead, as far as their start tells.
pub(super) fn looks_like(bytes: &[u8]) -> Option<OnnxError> {
    let start = bytes.trim_ascii_start();
    if let Some(kind) = KINDS.iter().find(|kind| start.starts_with(kind.starts_with)) {
        return Some(OnnxError::LooksLike { what: kind.what, advice: kind.advice });
    }
    if bytes.get(4..8) == Some(b"TFL3") {
        return Some(OnnxError::LooksLike { what: "a TensorFlow Lite model", advice: EXPORT });
    }
    let head = &bytes[..bytes.len().min(HEAD)];
    let is_text =
        !head.is_empty() && head.iter().all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace());
    is_text.then_some(OnnxError::LooksLike { what: "a text file", advice: FETCH })
}
