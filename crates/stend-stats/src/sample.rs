//! Location and spread of one sample.

/// Consistency factor that makes the MAD estimate the standard deviation of normal data,
/// 1/Φ⁻¹(3/4). Source: Hampel, *J. Amer. Statist. Assoc.* 69 (1974).
pub(crate) const MAD_TO_SIGMA: f64 = 1.4826;

/// A sorted copy, or `None` where the sample is empty or holds a NaN or an infinity.
pub(crate) fn finite_sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.is_empty() || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Some(sorted)
}

/// Median of an already sorted, non-empty, finite slice.
pub(crate) fn sorted_median(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2])
}

/// Quantile of an already sorted, non-empty, finite slice; `p` within 0..=1.
pub(crate) fn sorted_quantile(sorted: &[f64], p: f64) -> f64 {
    let position = p * (sorted.len() - 1) as f64;
    let below = position.floor();
    let index = (below as usize).min(sorted.len() - 1);
    let next = (index + 1).min(sorted.len() - 1);
    let weight = position - below;
    // Weighted sum, not low + weight * (high - low): the difference may overflow.
    if weight == 0.0 || sorted[index] == sorted[next] {
        sorted[index]
    } else {
        (sorted[index] * (1.0 - weight) + sorted[next] * weight).clamp(sorted[index], sorted[next])
    }
}

/// Median: the middle value, or the mean of the two middle values.
///
/// * Unit: that of the values.
/// * Assumes: nothing of the distribution; an order is enough.
/// * Refuses: `None` for an empty or non-finite sample.
/// * Source: [`quantile`] at ½, as R and NumPy have it.
///
/// ```
/// assert_eq!(stend_stats::median(&[3.0, 1.0, 2.0, 10.0]), Some(2.5));
/// assert_eq!(stend_stats::median(&[1.0, f64::NAN]), None);
/// ```
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    finite_sorted(values).map(|sorted| sorted_median(&sorted))
}

/// Sample quantile at `p` (0 to 1): linear interpolation between the order statistics around
/// position `p·(n − 1)`.
///
/// * Unit: that of the values.
/// * Assumes: nothing of the distribution.
/// * Refuses: `None` for an empty or non-finite sample or `p` outside 0..=1.
/// * Source: definition 7 of Hyndman and Fan, *The American Statistician* 50 (1996), the default of R and NumPy.
///
/// ```
/// assert_eq!(stend_stats::quantile(&[1.0, 2.0, 3.0, 4.0], 0.25), Some(1.75));
/// ```
#[must_use]
pub fn quantile(values: &[f64], p: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&p) {
        return None;
    }
    finite_sorted(values).map(|sorted| sorted_quantile(&sorted, p))
}

/// Median absolute deviation: median of |xᵢ − median(x)|, *without* the factor 1.4826. Half of the values lie within it of the median.
///
/// * Unit: that of the values.
/// * Assumes: nothing of the distribution.
/// * Refuses: `None` for an empty or non-finite sample, or where a deviation overflows.
/// * Source: Hampel, *J. Amer. Statist. Assoc.* 69 (1974).
///
/// ```
/// assert_eq!(stend_stats::median_absolute_deviation(&[1.0, 2.0, 3.0, 4.0, 100.0]), Some(1.0));
/// ```
#[must_use]
pub fn median_absolute_deviation(values: &[f64]) -> Option<f64> {
    let centre = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|v| (v - centre).abs()).collect();
    median(&deviations)
}

/// Robust coefficient of variation, 1.4826 · MAD / |median|.
///
/// Equals σ/μ for normal data and ignores up to half of the sample as outliers. It is 0 where
/// more than half of the values are equal.
///
/// * Unit: a fraction; 0.02 is 2 %.
/// * Assumes: values on a scale with a true zero; that it means σ/μ, normal data.
/// * Refuses: `None` for an empty or non-finite sample, a median of zero, or overflow.
/// * Source: the factor 1/Φ⁻¹(3/4): Hampel, *J. Amer. Statist. Assoc.* 69 (1974).
///
/// ```
/// let cv = stend_stats::coefficient_of_variation(&[98.0, 99.0, 100.0, 101.0, 102.0]).unwrap();
/// assert!((cv - 0.014826).abs() < 1e-12);
/// ```
#[must_use]
pub fn coefficient_of_variation(values: &[f64]) -> Option<f64> {
    let centre = median(values)?.abs();
    if centre == 0.0 {
        return None;
    }
    let ratio = MAD_TO_SIGMA * (median_absolute_deviation(values)? / centre);
    ratio.is_finite().then_some(ratio)
}

/// Arithmetic mean, Σxᵢ/n, with compensated summation. For sums that cannot be summarised by a median (bytes a round);
/// repeats are reported by [`median`].
///
/// * Unit: that of the values.
/// * Assumes: a sum of the values means something.
/// * Refuses: `None` for an empty or non-finite sample.
/// * Source: the compensation: Neumaier, *Zeitschrift für Angewandte Mathematik und Mechanik* 54 (1974).
///
/// ```
/// assert_eq!(stend_stats::mean(&[1.0, 1e100, 1.0, -1e100]), Some(0.5));
/// ```
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let n = values.len() as f64;
    let sum = compensated_sum(values.iter().copied()) / n;
    if sum.is_finite() {
        return Some(sum);
    }
    let sum = compensated_sum(values.iter().map(|v| v / n));
    sum.is_finite().then_some(sum)
}

fn compensated_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0_f64);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}
