//! Masks that cover a given share of an image.

/// Values are compared in so many steps.
const STEPS: usize = 4096;

/// How much every point is covered, from 0 to 1: those with the highest values, so many that they
/// make up the share, and fading out over `soft` below them. Values run from 0 to 1.
pub(crate) fn covered(values: &[f32], share: f64, soft: f32) -> Vec<f32> {
    let mut counts = vec![0usize; STEPS];
    for value in values {
        counts[((value * STEPS as f32) as usize).min(STEPS - 1)] += 1;
    }
    let wanted = share * values.len() as f64;
    let mut above = 0;
    let mut step = STEPS;
    while step > 0 && ((above + counts[step - 1]) as f64) <= wanted {
        step -= 1;
        above += counts[step];
    }
    let min = step as f32 / STEPS as f32;
    values
        .iter()
        .map(|value| {
            // Smoothstep, so that no rim shows.
            let part = ((value - min) / soft.max(1e-6) + 1.0).clamp(0.0, 1.0);
            part * part * (3.0 - 2.0 * part)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_values_make_up_the_share() {
        let values: Vec<f32> = (0..1000).map(|at| (at * 617 % 1000) as f32 / 1000.0).collect();
        for share in [0.0, 0.1, 0.5, 1.0] {
            let covered = covered(&values, share, 0.0);
            let count = covered.iter().filter(|&&cover| cover >= 1.0).count();
            assert!((count as f64 - 1000.0 * share).abs() <= 2.0, "{count} of {share}");
        }
    }
}
