//! Bytes as hexadecimal digits.

use std::fmt::Write as _;

/// Two lower-case digits per byte, as SHA-256 sums are usually written.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string cannot fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
