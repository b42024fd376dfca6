//! Random weights.

/// SplitMix64: the same weights on every machine.
pub(super) struct Random(pub(super) u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Nearly normal numbers: each the sum of four uniform ones, whose variance is 4/12.
    pub(super) fn normal(&mut self, count: usize, mean: f32, deviation: f32) -> Vec<f32> {
        let scale = deviation * 3f32.sqrt() / 65536.0;
        let one = |bits: u64| {
            let sum: u64 = (0..4).map(|part| (bits >> (16 * part)) & 0xffff).sum();
            mean + (sum as f32 - 2.0 * 65535.0) * scale
        };
        (0..count).map(|_| one(self.next())).collect()
    }
}
