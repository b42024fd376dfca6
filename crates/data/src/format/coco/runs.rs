//! Masks as runs of pixels outside and inside in turn, column by column from the left.

use super::json::{Counts, Runs};
use faultlens_core::Mask;

/// The mask; an error says what is wrong with the runs. Its size is to be known as sound: it is
/// allocated.
pub(super) fn decode(runs: &Runs) -> Result<Mask, String> {
    let [height, width] = runs.size;
    let unpacked;
    let counts = match &runs.counts {
        Counts::Plain(counts) => counts,
        Counts::Packed(text) => {
            unpacked = unpack(text)?;
            &unpacked
        }
    };
    let wanted = height.saturating_mul(width) as u64;
    let sum = counts.iter().try_fold(0u64, |sum, &count| sum.checked_add(count));
    if sum != Some(wanted) {
        return Err(format!("a mask's runs do not add up to {width}×{height} pixels"));
    }
    let mut bits = vec![false; wanted as usize];
    let mut at = 0;
    for (turn, &count) in counts.iter().enumerate() {
        for column_major in at..at + count as usize {
            // Only runs inside are visited: an image can be large and its mask small.
            if turn % 2 == 0 {
                break;
            }
            bits[column_major % height * width + column_major / height] = true;
        }
        at += count as usize;
    }
    Mask::new(width, bits).ok_or_else(|| "a mask has no pixels".into())
}

/// The runs of a mask, packed into text.
pub(crate) fn encode(mask: &Mask) -> String {
    let width = mask.width();
    let height = mask.height();
    let mut counts = vec![0u64];
    let mut inside = false;
    for x in 0..width {
        for y in 0..height {
            if mask.bits()[y * width + x] != inside {
                inside = !inside;
                counts.push(0);
            }
            if let Some(last) = counts.last_mut() {
                *last += 1;
            }
        }
    }
    pack(&counts)
}

/// COCO's compressed run lengths (a variant of LEB128): from the fourth on the difference to the one before last, in groups of five
/// bits from the lowest, each with a bit that says whether another follows, from character `0` on.
fn unpack(text: &str) -> Result<Vec<u64>, String> {
    let wrong = || "a mask's packed counts are damaged".to_owned();
    let mut counts: Vec<u64> = Vec::new();
    let mut bytes = text.bytes();
    while let Some(first) = bytes.next() {
        let mut value = 0i64;
        let mut shift = 0u32;
        let mut byte = first;
        loop {
            let group = byte.checked_sub(48).filter(|&group| group < 64).ok_or_else(wrong)?;
            value |= i64::from(group & 0x1f).checked_shl(shift).ok_or_else(wrong)?;
            shift += 5;
            if group & 0x20 == 0 {
                // The sign bit of the last group is extended.
                if group & 0x10 != 0 {
                    value |= (-1i64).checked_shl(shift).unwrap_or(0);
                }
                break;
            }
            byte = bytes.next().ok_or_else(wrong)?;
        }
        if counts.len() > 2 {
            let before = i64::try_from(counts[counts.len() - 2]).map_err(|_| wrong())?;
            value = value.checked_add(before).ok_or_else(wrong)?;
        }
        counts.push(u64::try_from(value).map_err(|_| wrong())?);
    }
    Ok(counts)
}

fn pack(counts: &[u64]) -> String {
    let mut text = String::new();
    for (at, &count) in counts.iter().enumerate() {
        let mut value = count as i64;
        if at > 2 {
            value -= counts[at - 2] as i64;
        }
        loop {
            let group = (value & 0x1f) as u8;
            value >>= 5;
            let more = if group & 0x10 != 0 { value != -1 } else { value != 0 };
            text.push(char::from(group + 48 + if more { 0x20 } else { 0 }));
            if !more {
                break;
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(size: [usize; 2], counts: &[u64]) -> Result<Mask, String> {
        decode(&Runs { size, counts: Counts::Plain(counts.to_vec()) })
    }

    #[test]
    fn runs_go_down_the_columns() {
        // Two rows, three columns: the lower left pixel and the middle column.
        let mask = plain([2, 3], &[1, 3, 2]).unwrap();
        assert_eq!(mask.bits(), [false, true, false, true, true, false]);
        let counts = Counts::Packed(encode(&mask));
        assert_eq!(decode(&Runs { size: [2, 3], counts }).unwrap(), mask);
    }

    #[test]
    fn counts_survive_packing() {
        let counts = [0, 1, 15, 16, 31, 32, 5, 1_000_000, 3, 1 << 40, 0, 7];
        assert_eq!(unpack(&pack(&counts)).unwrap(), counts);
    }

    #[test]
    fn runs_that_lie_are_refused() {
        for counts in [&[1u64, 2][..], &[7], &[], &[u64::MAX, 7], &[3, u64::MAX]] {
            assert!(plain([2, 3], counts).is_err(), "{counts:?}");
        }
        assert!(plain([0, 0], &[]).is_err());
        assert!(plain([usize::MAX, 2], &[4]).is_err());
        for text in ["P", "!!", "ooooooooooooooooo", "~", "@0", "00@0000", "ü"] {
            let runs = Runs { size: [2, 3], counts: Counts::Packed(text.into()) };
            assert!(decode(&runs).is_err(), "{text}");
        }
    }
}
