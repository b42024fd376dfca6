//! Arrays as numpy writes them: a line of text that says what they are, then their values.

use crate::blob::Blob;
use crate::{DataError, limits};
use half::f16;
use std::path::Path;

const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// What one value of an array is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element {
    kind: NumberKind,
    bytes: usize,
    big_endian: bool,
}

/// Kinds of numbers that pixels and labels are stored as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NumberKind {
    Bool,
    Unsigned,
    Signed,
    Float,
}

impl Element {
    fn parse(descr: &str) -> Option<Self> {
        let (order, rest) = descr.split_at_checked(1)?;
        let (kind, size) = rest.split_at_checked(1)?;
        let bytes = size.parse().ok()?;
        let kind = match (kind, bytes) {
            ("b", 1) => NumberKind::Bool,
            ("u", 1 | 2 | 4 | 8) => NumberKind::Unsigned,
            ("i", 1 | 2 | 4 | 8) => NumberKind::Signed,
            ("f", 2 | 4 | 8) => NumberKind::Float,
            _ => return None,
        };
        matches!(order, "<" | ">" | "|" | "=").then_some(Self {
            kind,
            bytes,
            big_endian: order == ">",
        })
    }

    pub(crate) fn kind(self) -> NumberKind {
        self.kind
    }

    /// Bytes of one value.
    pub(crate) fn size(self) -> usize {
        self.bytes
    }

    /// Whether bytes are values as they are.
    pub(crate) fn is_byte(self) -> bool {
        self.kind == NumberKind::Unsigned && self.bytes == 1
    }

    fn bits(self, value: &[u8]) -> u64 {
        if self.big_endian { joined(value.iter()) } else { joined(value.iter().rev()) }
    }

    /// A whole number; `None` where it is too large for 64 bits with a sign.
    pub(crate) fn integer(self, value: &[u8]) -> Option<i64> {
        let bits = self.bits(value);
        let unused = 64 - 8 * self.bytes as u32;
        match self.kind {
            NumberKind::Signed => Some(((bits << unused) as i64) >> unused),
            _ => i64::try_from(bits).ok(),
        }
    }

    /// The number as a float, whatever its kind.
    pub(crate) fn float(self, value: &[u8]) -> f64 {
        let bits = self.bits(value);
        match (self.kind, self.bytes) {
            (NumberKind::Float, 2) => f16::from_bits(bits as u16).to_f64(),
            (NumberKind::Float, 4) => f32::from_bits(bits as u32).into(),
            (NumberKind::Float, _) => f64::from_bits(bits),
            _ => self.integer(value).map_or(bits as f64, |whole| whole as f64),
        }
    }
}

/// The number with these bytes, the highest one first.
fn joined<'a>(bytes: impl Iterator<Item = &'a u8>) -> u64 {
    bytes.fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

/// An array whose values are read when they are needed.
pub(crate) struct Array {
    pub(crate) element: Element,
    pub(crate) shape: Vec<usize>,
    blob: Blob,
    start: u64,
}

impl Array {
    /// Reads the text in front of the values and compares the size that it claims with the bytes
    /// that are there.
    pub(crate) fn open(name: &str, blob: Blob) -> Result<Self, DataError> {
        let (header, start) = header(name, &blob)?;
        let damaged = || {
            DataError::malformed(format!("the header of array \"{name}\" is damaged"), blob.path())
        };
        let descr = field(&header, "descr").ok_or_else(damaged)?;
        let element = descr.strip_prefix('\'').and_then(|rest| rest.split('\'').next());
        let element = element.and_then(Element::parse).ok_or_else(|| {
            let descr: String = descr.chars().take(24).collect();
            let what = format!(
                "the array \"{name}\" holds objects or values that are not read ({descr}…); \
                 save numbers such as uint8, int64 or float32"
            );
            DataError::unsupported(what, blob.path())
        })?;
        let shape = field(&header, "shape").and_then(shape).ok_or_else(damaged)?;
        if field(&header, "fortran_order").ok_or_else(damaged)?.starts_with("True")
            && shape.len() > 1
        {
            let what = format!(
                "the array \"{name}\" is in Fortran order, which is not read; \
                 save numpy.ascontiguousarray of it"
            );
            return Err(DataError::unsupported(what, blob.path()));
        }
        let wanted = shape.iter().try_fold(element.bytes, |size, &n| size.checked_mul(n));
        let wanted = wanted.and_then(|size| start.checked_add(size as u64)).unwrap_or(u64::MAX);
        if wanted > blob.len() {
            return Err(DataError::truncated("array", wanted, blob.len(), blob.path()));
        }
        if wanted < blob.len() {
            return Err(damaged());
        }
        Ok(Self { element, shape, blob, start })
    }

    /// The file that holds it, for messages.
    pub(crate) fn path(&self) -> &Path {
        self.blob.path()
    }

    /// The values `from..from + count`, as bytes.
    pub(crate) fn read(&self, from: usize, count: usize) -> Result<Vec<u8>, DataError> {
        let size = self.element.bytes;
        let at = (from as u64).saturating_mul(size as u64).saturating_add(self.start);
        self.blob.read(at, count.saturating_mul(size))
    }

    /// Calls `each` with every value in turn, keeping only a part in memory.
    pub(crate) fn scan(
        &self,
        mut each: impl FnMut(&[u8]) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let size = self.element.bytes;
        self.blob.scan(self.start, size, |run| run.chunks_exact(size).try_for_each(&mut each))
    }
}

fn header(name: &str, blob: &Blob) -> Result<(String, u64), DataError> {
    let broken = || DataError::malformed(format!("\"{name}\" is no numpy array"), blob.path());
    let start = blob.read(0, blob.len().min(12) as usize)?;
    if start.len() < 12 || !start.starts_with(MAGIC) {
        return Err(broken());
    }
    let (at, len) = match start[6] {
        1 => (10, usize::from(u16::from_le_bytes([start[8], start[9]]))),
        2 | 3 => (12, u32::from_le_bytes([start[8], start[9], start[10], start[11]]) as usize),
        _ => return Err(broken()),
    };
    if len > limits::NPY_HEADER_BYTES {
        let found = format!("{len} bytes");
        let limit = limits::NPY_HEADER_BYTES as u64;
        return Err(DataError::too_large("array's header", found, limit, blob.path()));
    }
    let text = String::from_utf8_lossy(&blob.read(at, len)?).into_owned();
    Ok((text, at + len as u64))
}

/// What follows a key of the header, which is a Python dictionary.
fn field<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = header.split_once(&format!("'{key}'"))?;
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

fn shape(text: &str) -> Option<Vec<usize>> {
    let (inner, _) = text.strip_prefix('(')?.split_once(')')?;
    let sizes = inner.split(',').map(str::trim).filter(|size| !size.is_empty());
    sizes.map(|size| size.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn npy(header: &str, values: &[u8]) -> Result<Array, DataError> {
        let mut bytes = b"\x93NUMPY\x01\0".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values);
        Array::open("x", Blob::in_memory(Path::new("a.npz"), bytes))
    }

    #[test]
    fn values_of_every_kind() {
        let cases: [(&str, &[u8], f64); 9] = [
            ("|u1", &[200], 200.0),
            ("|b1", &[1], 1.0),
            ("|i1", &[0xfe], -2.0),
            ("<i8", &[0xfe, 255, 255, 255, 255, 255, 255, 255], -2.0),
            (">i2", &[1, 2], 258.0),
            ("<u4", &[2, 1, 0, 0], 258.0),
            ("<f4", &[0, 0, 0xc0, 0x3f], 1.5),
            (">f8", &[0x3f, 0xf8, 0, 0, 0, 0, 0, 0], 1.5),
            ("<f2", &[0, 0x3e], 1.5),
        ];
        for (descr, bytes, wanted) in cases {
            let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (1,), }}");
            let array = npy(&header, bytes).unwrap();
            assert_eq!(array.element.float(&array.read(0, 1).unwrap()), wanted, "{descr}");
        }
    }

    #[test]
    fn headers_that_lie_or_ask_too_much_are_refused() {
        let cases = [
            ("{'descr': '|u1', 'fortran_order': False, 'shape': (5,), }", "truncated"),
            ("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "damaged"),
            (
                "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999,99999999999), }",
                "truncated",
            ),
            ("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2), }", "Fortran"),
            ("{'descr': '|O', 'fortran_order': False, 'shape': (4,), }", "objects"),
            ("{'descr': '<U4', 'fortran_order': False, 'shape': (4,), }", "objects"),
            ("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }", "objects"),
            ("{'descr': '|u1', 'shape': (4,), }", "damaged"),
            ("", "damaged"),
        ];
        for (header, wanted) in cases {
            let error = npy(header, &[0; 4]).map(|_| ()).unwrap_err().to_string();
            assert!(error.contains(wanted), "{header}: {error}");
        }
    }
}
