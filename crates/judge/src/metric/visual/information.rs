//! Bits, summed up over many small channels.

/// Numbers that are multiplied side by side.
pub(super) const LANES: usize = 4;
/// What is taken out of a product before it grows too large.
const EXPONENT: f64 = 256.0;
const LARGE: f64 = f64::from_bits((1023 + 256) << 52);
const SMALL: f64 = f64::from_bits((1023 - 256) << 52);

/// A sum of logarithms, kept as the logarithm of a product: a multiplication costs a tenth of a
/// logarithm, and rounds less.
#[derive(Debug, Clone)]
pub(super) struct Information {
    products: [f64; LANES],
    bits: f64,
}

impl Default for Information {
    fn default() -> Self {
        Self { products: [1.0; LANES], bits: 0.0 }
    }
}

impl Information {
    /// Adds `log2(1 + ratio · scale)` for every ratio and scale. None of them is negative, and
    /// the product over the scales of a ratio stays far below 2⁵⁰⁰.
    pub(super) fn add(&mut self, scales: &[f64], ratios: &[f64]) {
        let (groups, rest) = ratios.as_chunks::<LANES>();
        let mut last = [0.0; LANES];
        last[..rest.len()].copy_from_slice(rest);
        for group in groups.iter().chain([&last]) {
            let mut products = [1.0; LANES];
            for scale in scales {
                for (product, ratio) in products.iter_mut().zip(group) {
                    *product *= 1.0 + ratio * scale;
                }
            }
            for (all, product) in self.products.iter_mut().zip(products) {
                *all *= product;
            }
            self.settle();
        }
    }

    fn settle(&mut self) {
        if self.products.iter().all(|&product| product < LARGE) {
            return;
        }
        for product in &mut self.products {
            // A block's own share can be large as well.
            for _ in 0..3 {
                if *product >= LARGE {
                    *product *= SMALL;
                    self.bits += EXPONENT;
                }
            }
        }
    }

    /// The sum.
    pub(super) fn bits(&self) -> f64 {
        self.bits + self.products.iter().map(|&product| libm::log2(product)).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_sum_of_logarithms() {
        let scales: [f64; 9] = std::array::from_fn(|at| 10f64.powi(at as i32 - 2));
        let ratios: Vec<f64> = (0..1001).map(|at| f64::from(at * at % 977) * 0.37).collect();
        let mut information = Information::default();
        information.add(&scales, &ratios[..500]);
        information.add(&scales, &ratios[500..]);
        let all = ratios.iter().flat_map(|ratio| scales.map(|scale| (1.0 + ratio * scale).log2()));
        let sum: f64 = all.sum();
        assert!((information.bits() / sum - 1.0).abs() < 1e-12, "{} {sum}", information.bits());
    }
}
