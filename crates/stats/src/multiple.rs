use crate::error::StatsError;

/// Adjusted p-values by Holm (1979), in the order given: those at most α are significant, and the
/// chance of even one false alarm among all comparisons is at most α, however they depend on each
/// other. For claims that each have to stand alone.
///
/// # Errors
/// A p-value outside 0 to 1, or NaN.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    let order = ascending(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        let remaining = (order.len() - rank) as f64;
        largest = largest.max(p_values[index] * remaining).min(1.0);
        adjusted[index] = largest;
    }
    Ok(adjusted)
}

/// Adjusted p-values by Benjamini and Hochberg (1995), in the order given: of those at most α, a
/// share of α is expected to be false alarms, when the comparisons are independent or positively
/// dependent. For a screen over many layers or faults, where Holm would find little.
///
/// # Errors
/// A p-value outside 0 to 1, or NaN.
pub fn benjamini_hochberg(p_values: &[f64]) -> Result<Vec<f64>, StatsError> {
    let order = ascending(p_values)?;
    let count = order.len() as f64;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut smallest = 1.0_f64;
    for (rank, &index) in order.iter().enumerate().rev() {
        smallest = smallest.min(p_values[index] * count / (rank + 1) as f64);
        adjusted[index] = smallest;
    }
    Ok(adjusted)
}

/// The indices from the smallest p-value to the largest, ties in the order given.
fn ascending(p_values: &[f64]) -> Result<Vec<usize>, StatsError> {
    if let Some(&wrong) = p_values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(StatsError::Probability(wrong));
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_comparison_needs_no_adjustment() {
        for method in [holm, benjamini_hochberg] {
            assert_eq!(method(&[]).unwrap(), Vec::<f64>::new());
            assert_eq!(method(&[0.04]).unwrap(), [0.04]);
        }
    }

    #[test]
    fn what_is_no_probability_is_refused() {
        for wrong in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(holm(&[0.5, wrong]).is_err());
            assert!(benjamini_hochberg(&[wrong, 0.5]).is_err());
        }
    }
}
