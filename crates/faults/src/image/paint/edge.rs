//! What lies beyond the edge of an image, for filters that look there.

/// How an image goes on beyond its edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edge {
    /// The last pixel for ever: `aaa|abcd|ddd`.
    Repeat,
    /// Mirrored at the edge, the last pixel twice: `cba|abcd|dcb`.
    Reflect,
    /// Mirrored at the last pixel: `dcb|abcd|cba`.
    Mirror,
}

impl Edge {
    /// Which of `n` pixels stands at a place that may lie outside.
    pub(crate) fn index(self, at: isize, n: usize) -> usize {
        let n = n as isize;
        let folded = match self {
            Self::Repeat => at.clamp(0, n - 1),
            Self::Reflect => {
                let at = at.rem_euclid(2 * n);
                at.min(2 * n - 1 - at)
            }
            Self::Mirror => {
                let period = (2 * n - 2).max(1);
                let at = at.rem_euclid(period);
                at.min(period - at).min(n - 1)
            }
        };
        folded as usize
    }

    /// Fills the borders of a row whose inner part is there already.
    pub(crate) fn pad<T: Copy>(self, row: &mut [T], border: usize, channels: usize) {
        let n = row.len() / channels - 2 * border;
        for at in (0..border).chain(border + n..2 * border + n) {
            let from = border + self.index(at as isize - border as isize, n);
            row.copy_within(from * channels..(from + 1) * channels, at * channels);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_go_on_as_drawn() {
        let cases = [
            (Edge::Repeat, 4, "aaaaaabcdddddd"),
            (Edge::Reflect, 4, "dcbaabcddcba"),
            (Edge::Mirror, 4, "cdcbabcdcbab"),
            (Edge::Reflect, 1, "aaaaa"),
            (Edge::Mirror, 1, "aaaaa"),
            (Edge::Mirror, 2, "ababab"),
        ];
        for (edge, n, wanted) in cases {
            let border = (wanted.len() - n) / 2;
            let letter = |at| char::from(b'a' + edge.index(at as isize - border as isize, n) as u8);
            assert_eq!((0..wanted.len()).map(letter).collect::<String>(), wanted, "{edge:?}");
            let inner: Vec<u8> = (0..n as u8).map(|i| b'a' + i).collect();
            let mut row = vec![0; wanted.len()];
            row[border..border + n].copy_from_slice(&inner);
            edge.pad(&mut row, border, 1);
            assert_eq!(row, wanted.as_bytes(), "{edge:?}");
        }
    }
}
