//! Many tests at once.

/// Benjamini-Hochberg adjusted p-values (q-values), in the order of the input: q₍ᵢ₎ = min over j ≥ i of p₍ⱼ₎·m/j, at most 1.
///
/// Marking all with q < 0.05 keeps the expected share of false marks among the marks at or below 5 %. Empty input gives an empty result.
///
/// * Unit: probabilities, 0 … 1.
/// * Assumes: independent or positively dependent tests.
/// * Refuses: a value that is not a probability (NaN, below 0, above 1) counts as a test with p = 1: it is
///   never significant and makes the others no easier.
/// * Source: Benjamini and Hochberg, *J. R. Statist. Soc. B* 57 (1995) (R's `p.adjust(method = "BH")`).
///
/// ```
/// let q = stend_stats::benjamini_hochberg(&[0.01, 0.04, 0.03]);
/// for (q, expected) in q.iter().zip([0.03, 0.04, 0.04]) {
///     assert!((q - expected).abs() < 1e-15);
/// }
/// ```
#[must_use]
pub fn benjamini_hochberg(p_values: &[f64]) -> Vec<f64> {
    let clean = |p: f64| if (0.0..=1.0).contains(&p) { p } else { 1.0 };
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&i, &j| clean(p_values[i]).total_cmp(&clean(p_values[j])));
    let tests = p_values.len() as f64;
    let mut adjusted = vec![1.0; p_values.len()];
    let mut least = 1.0_f64;
    for (position, &index) in order.iter().enumerate().rev() {
        // p · (m / j), with the factor never below 1, so that q ≥ p holds to the last bit.
        least = least.min(clean(p_values[index]) * (tests / (position + 1) as f64));
        adjusted[index] = least;
    }
    adjusted
}
