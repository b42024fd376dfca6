//! Two things in one column, since every column costs a byte of every row.

use crate::{Site, TrialId};

/// How far elements count: the bit needs the rest.
const ELEMENTS: u64 = 1 << 56;

/// How many bits a value can have: more than any has, and with 1 added they fit into seven.
const BITS: u32 = 126;

/// Whether [`spot`] can hold a site.
pub(super) fn fits(site: &Site) -> bool {
    site.element < ELEMENTS && site.bit.is_none_or(|bit| bit < BITS)
}

/// Element and bit of a site that [`fits`].
pub(super) fn spot(site: &Site) -> i64 {
    ((site.element << 7) | site.bit.map_or(0, |bit| u64::from(bit) + 1)).cast_signed()
}

/// The element and the bit.
pub(super) fn unspot(spot: i64) -> (u64, Option<u32>) {
    let spot = spot.cast_unsigned();
    (spot >> 7, u32::try_from(spot & 127).ok().and_then(|bit| bit.checked_sub(1)))
}

/// The identity of a trial, and behind it the digest of its answer if it has one.
pub(super) fn ids(trial: TrialId, digest: Option<u64>) -> ([u8; 24], usize) {
    let mut ids = [0; 24];
    ids[..16].copy_from_slice(&trial.0);
    ids[16..].copy_from_slice(&digest.unwrap_or(0).to_be_bytes());
    (ids, if digest.is_some() { 24 } else { 16 })
}

/// The identity and the digest; `None` where there are neither.
pub(super) fn unids(ids: &[u8]) -> Option<(TrialId, Option<u64>)> {
    let (trial, digest) = ids.split_first_chunk::<16>()?;
    let digest = match digest {
        [] => None,
        digest => Some(u64::from_be_bytes(digest.try_into().ok()?)),
    };
    Some((TrialId(*trial), digest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelValue;
    use std::sync::Arc;

    #[test]
    fn what_fits_comes_back() {
        let place = ModelValue {
            value: String::new(),
            operator: String::new(),
            kind: String::new(),
            position: 0,
            layer: 0,
            layer_name: String::new(),
        };
        let place = Arc::new(place);
        for element in [0, 1, 70_000, ELEMENTS - 1, ELEMENTS, u64::MAX] {
            for bit in [None, Some(0), Some(31), Some(63), Some(125), Some(126), Some(u32::MAX)] {
                let place = Arc::clone(&place);
                let site = Site { place, element, bit, before: 0.0, after: 0.0 };
                assert_eq!(fits(&site), element < ELEMENTS && bit.is_none_or(|bit| bit < 126));
                if fits(&site) {
                    assert_eq!(unspot(spot(&site)), (element, bit));
                    // Negative ones would take eight bytes, and SQL would read them otherwise.
                    assert!(spot(&site) >= 0);
                }
            }
        }
    }

    #[test]
    fn a_digest_of_nought_is_told_from_none() {
        let trial = TrialId([7; 16]);
        for digest in [None, Some(0), Some(u64::MAX)] {
            let (bytes, length) = ids(trial, digest);
            assert_eq!(unids(&bytes[..length]), Some((trial, digest)));
        }
        assert_eq!((unids(&[0; 15]), unids(&[0; 17]), unids(&[0; 25])), (None, None, None));
    }
}
