use crate::error::StatsError;
use crate::estimate::Level;

/// How many faults to draw from a population of `population` possible ones so that a rate is known
/// to ± `half_width`: the sample size of statistical fault injection by Leveugle, Calvez, Maistri
/// and Vanhauwaert (DATE 2009), n = N / (1 + e²(N−1) / (t²·p(1−p))), rounded up.
///
/// `expected` is the rate guessed beforehand; 0.5 is the safe choice, as no other rate needs more.
/// The formula rests on the normal approximation and on sampling without replacement: for rates
/// near 0 or 1 plan with it, but report [`crate::clopper_pearson`]. A size fixed here allows one
/// look at the end; who wants to look earlier uses [`crate::StopRule`].
///
/// # Errors
/// A half-width outside 0 to 0.5, or an expected rate that is not strictly between 0 and 1.
pub fn sample_size(
    population: u64,
    half_width: f64,
    expected: f64,
    level: Level,
) -> Result<u64, StatsError> {
    if !(half_width > 0.0 && half_width < 0.5) {
        return Err(StatsError::HalfWidth(half_width));
    }
    if !(expected > 0.0 && expected < 1.0) {
        return Err(StatsError::Probability(expected));
    }
    if population == 0 {
        return Ok(0);
    }
    let all = population as f64;
    let variance = level.z() * level.z() * expected * (1.0 - expected);
    let n = all / (1.0 + half_width * half_width * (all - 1.0) / variance);
    Ok((n.ceil() as u64).min(population))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Krejcie and Morgan (1970) tabulate the same formula (95%, ±5%, p = 0.5), rounded to the
    /// nearest; ours is rounded up, so it is theirs or one more.
    #[test]
    fn krejcie_and_morgan_1970() {
        for (population, table) in [
            (10, 10),
            (50, 44),
            (100, 80),
            (220, 140),
            (230, 144),
            (240, 148),
            (250, 152),
            (500, 217),
            (1200, 291),
            (1500, 306),
            (2800, 338),
            (9000, 368),
        ] {
            let ours = sample_size(population, 0.05, 0.5, Level::default()).unwrap();
            assert!(ours == table || ours == table + 1, "{population}: {ours}");
        }
    }

    /// The smallest sample whose standard error, drawn without replacement, is small enough.
    #[test]
    fn meets_the_half_width_with_none_to_spare() {
        let z = Level::default().z();
        for population in 2..500_u64 {
            let all = population as f64;
            let reached = |n: u64| {
                let n = n as f64;
                z * (0.25 / n * (all - n) / (all - 1.0)).sqrt()
            };
            let n = sample_size(population, 0.05, 0.5, Level::default()).unwrap();
            assert!(reached(n) <= 0.05, "{population}: {n}");
            assert!(n == 1 || reached(n - 1) > 0.05, "{population}: {n}");
        }
    }

    #[test]
    fn never_more_than_there_are() {
        for population in [0, 1, 2, 1000] {
            let n = sample_size(population, 1e-6, 0.5, Level::default()).unwrap();
            assert_eq!(n, population);
        }
    }

    #[test]
    fn unusable_questions_are_errors() {
        for half_width in [0.0, -0.1, 0.5, f64::NAN] {
            assert!(sample_size(10, half_width, 0.5, Level::default()).is_err());
        }
        for expected in [0.0, 1.0, f64::NAN] {
            assert!(sample_size(10, 0.05, expected, Level::default()).is_err());
        }
    }
}
