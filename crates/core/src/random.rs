//! Random numbers that depend on a seed and on nothing else: not on threads, order or restarts.
//!
//! A [`Seed`] has children by name and by number, so that every trial, image and weight has a
//! stream of its own. The numbers come from Philox 4×32-10, a counter run through a keyed mixer.

/// Where a stream of random numbers starts.
///
/// ```
/// # use faultlens_core::Seed;
/// let seed = Seed::new(7).child("weights");
/// assert_eq!(seed.at(3).stream().next_u64(), seed.at(3).stream().next_u64());
/// assert_ne!(seed.at(3).stream().next_u64(), seed.at(4).stream().next_u64());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed(u64);

impl Seed {
    /// The seed that a user gives.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The seed of a named part.
    pub fn child(self, name: &str) -> Self {
        // FNV-1a: spreads names; the mixer below makes the result look random.
        let hash = name
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        self.derived(hash, 1)
    }

    /// The seed of a numbered part.
    pub fn at(self, index: u64) -> Self {
        self.derived(index, 2)
    }

    fn derived(self, what: u64, kind: u32) -> Self {
        let [a, b, ..] = philox([low(what), high(what), kind, 0], [low(self.0), high(self.0)]);
        Self(u64::from(a) | u64::from(b) << 32)
    }

    /// The random numbers of this seed, from the first.
    pub fn stream(self) -> Stream {
        Stream { key: [low(self.0), high(self.0)], block: 0, words: [0; 4], used: 4 }
    }

    /// One block of the stream, wherever it stands: four numbers that can be had in any order.
    pub fn block(self, index: u64) -> [u32; 4] {
        philox([low(index), high(index), 0, 0], [low(self.0), high(self.0)])
    }
}

/// Random numbers, one behind the other.
#[derive(Debug, Clone)]
pub struct Stream {
    key: [u32; 2],
    block: u64,
    words: [u32; 4],
    used: usize,
}

impl Stream {
    /// 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        if self.used == 4 {
            self.words = philox([low(self.block), high(self.block), 0, 0], self.key);
            self.block += 1;
            self.used = 0;
        }
        self.used += 1;
        self.words[self.used - 1]
    }

    /// The numbers that [`Self::next_u32`] would give one by one, many times faster: a noisy image
    /// needs as many as it has pixels.
    #[inline(always)]
    pub fn fill_u32(&mut self, words: &mut [u32]) {
        let left = (4 - self.used).min(words.len());
        let (begun, words) = words.split_at_mut(left);
        begun.copy_from_slice(&self.words[self.used..self.used + left]);
        self.used += left;
        let (groups, words) = words.as_chunks_mut::<{ 4 * LANES }>();
        for group in groups {
            philox_lanes(self.block, self.key, group);
            self.block += LANES as u64;
        }
        for word in words {
            *word = self.next_u32();
        }
    }

    /// 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        u64::from(self.next_u32()) | u64::from(self.next_u32()) << 32
    }

    /// A number from 0 up to but without 1.
    pub fn uniform(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number from `low` up to but without `high`.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// A whole number below `n`, all equally likely; 0 where `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        // Lemire's method: the few values that would favour some numbers are drawn again.
        let threshold = if n == 0 { 0 } else { n.wrapping_neg() % n };
        loop {
            let product = u128::from(self.next_u64()) * u128::from(n);
            if product as u64 >= threshold {
                return (product >> 64) as usize;
            }
        }
    }

    /// True with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// A number from the normal distribution of mean 0 and deviation 1.
    pub fn gaussian(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.uniform()));
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// One of the items; `None` where there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// Puts the items into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

fn low(x: u64) -> u32 {
    x as u32
}

fn high(x: u64) -> u32 {
    (x >> 32) as u32
}

/// Philox 4×32 with ten rounds (Salmon et al., SC'11).
fn philox(mut counter: [u32; 4], mut key: [u32; 2]) -> [u32; 4] {
    for _ in 0..10 {
        let a = u64::from(counter[0]) * 0xd251_1f53;
        let b = u64::from(counter[2]) * 0xcd9e_8d57;
        counter = [high(b) ^ counter[1] ^ key[0], low(b), high(a) ^ counter[3] ^ key[1], low(a)];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    counter
}

/// Enough blocks for the compiler to make a loop over vectors of them.
const LANES: usize = 32;

/// The blocks from a number on, the same as [`philox`] gives one by one.
#[inline(always)]
fn philox_lanes(block: u64, key: [u32; 2], words: &mut [u32; 4 * LANES]) {
    // Words in the lower halves of 64 bits: that is where vector units multiply.
    const WORD: u64 = 0xffff_ffff;
    let keys: [[u64; 2]; 10] = std::array::from_fn(|round| {
        let steps = [0x9e37_79b9_u32, 0xbb67_ae85].map(|step| step.wrapping_mul(round as u32));
        [key[0].wrapping_add(steps[0]), key[1].wrapping_add(steps[1])].map(u64::from)
    });
    let mut counters = [[0; LANES]; 4];
    for lane in 0..LANES {
        let block = block.wrapping_add(lane as u64);
        let mut c0 = block & WORD;
        let mut c1 = block >> 32;
        let mut c2 = 0;
        let mut c3 = 0;
        for [k0, k1] in keys {
            let a = (c0 & WORD) * 0xd251_1f53;
            let b = (c2 & WORD) * 0xcd9e_8d57;
            [c0, c1, c2, c3] = [(b >> 32) ^ c1 ^ k0, b, (a >> 32) ^ c3 ^ k1, a];
        }
        for (counter, word) in counters.iter_mut().zip([c0, c1, c2, c3]) {
            counter[lane] = low(word);
        }
    }
    let [c0, c1, c2, c3] = &counters;
    for (lane, block) in words.as_chunks_mut::<4>().0.iter_mut().enumerate() {
        *block = [c0[lane], c1[lane], c2[lane], c3[lane]];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers of Random123, the authors' own library.
    #[test]
    fn philox_answers_as_its_authors_do() {
        let cases = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([!0; 4], [!0; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (counter, key, wanted) in cases {
            assert_eq!(philox(counter, key), wanted);
        }
    }

    #[test]
    fn many_numbers_at_once_are_the_same_numbers() {
        for taken in 0..6 {
            for wanted in [0, 1, 3, 4, 127, 128, 129, 300] {
                let mut one = Seed::new(9).stream();
                let mut many = Seed::new(9).stream();
                // A carry into the upper half of the counter.
                (one.block, many.block) = (0xffff_fffb, 0xffff_fffb);
                for _ in 0..taken {
                    assert_eq!(one.next_u32(), many.next_u32());
                }
                let mut words = vec![0; wanted];
                many.fill_u32(&mut words);
                assert!(words.iter().all(|&word| word == one.next_u32()), "{taken}, {wanted}");
                assert_eq!(one.next_u64(), many.next_u64(), "{taken}, {wanted}");
            }
        }
    }

    #[test]
    fn numbers_are_spread_as_they_should_be() {
        let mut stream = Seed::new(1).stream();
        let n = 100_000;
        let mut counts = [0usize; 7];
        let mut sum = 0.0;
        let mut squares = 0.0;
        for _ in 0..n {
            counts[stream.below(7)] += 1;
            let x = stream.gaussian();
            sum += x;
            squares += x * x;
        }
        // Five standard deviations of each statistic.
        assert!(counts.iter().all(|&c| (c as f64 - n as f64 / 7.0).abs() < 5.0 * 111.0));
        assert!((sum / n as f64).abs() < 5.0 / (n as f64).sqrt());
        assert!((squares / n as f64 - 1.0).abs() < 5.0 * (2.0 / n as f64).sqrt());
        assert_eq!((stream.below(0), stream.below(1)), (0, 0));
    }

    #[test]
    fn parts_have_streams_of_their_own() {
        let seed = Seed::new(5);
        let parts = [seed, seed.child("a"), seed.child("b"), seed.at(0), seed.at(1), Seed::new(6)];
        for (i, a) in parts.iter().enumerate() {
            for b in &parts[i + 1..] {
                assert_ne!(a.stream().next_u64(), b.stream().next_u64());
            }
        }
        let mut order: Vec<usize> = (0..50).collect();
        seed.stream().shuffle(&mut order);
        assert_ne!(order, (0..50).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..50).collect::<Vec<_>>());
        assert_eq!(seed.block(0)[0], seed.stream().next_u32());
    }
}
