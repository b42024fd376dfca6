//! Checksums of PNG files.

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Makes the checksum of every chunk fit what it holds.
pub(super) fn correct_checksums(file: &mut [u8]) {
    if !file.starts_with(SIGNATURE) {
        return;
    }
    let mut at = SIGNATURE.len();
    while let Some(&[a, b, c, d]) = file.get(at..at + 4) {
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        let end = at + 8 + length;
        let Some(checked) = file.get(at + 4..end) else { return };
        let checksum = crc32(checked).to_be_bytes();
        let Some(place) = file.get_mut(end..end + 4) else { return };
        place.copy_from_slice(&checksum);
        at = end + 4;
    }
}

/// The CRC of ISO 3309, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for &byte in bytes {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_published_checksum() {
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
    }
}
