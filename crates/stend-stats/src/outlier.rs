//! Outliers are marked and never dropped.

use crate::sample::{finite_sorted, sorted_quantile};

/// How far outside the quartiles a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    /// Within 1.5 interquartile ranges of the quartiles.
    None,
    /// More than 1.5 and at most 3 interquartile ranges outside.
    Mild,
    /// More than 3 interquartile ranges outside.
    Severe,
}

/// Tukey's marks, one for each value, in the order of the input: mild beyond
/// Q₁ − 1.5·IQR or Q₃ + 1.5·IQR, severe beyond 3·IQR; a value on a fence is inside.
///
/// Quartiles are those of [`quantile`](crate::quantile). Nothing is dropped: only a failed gate
/// makes a repeat invalid. With IQR = 0 every value unlike the quartiles is severe. Of normal data
/// about 0.7 % are marked, more in small samples.
///
/// * Unit: none; marks.
/// * Assumes: nothing; what a mark means depends on the distribution, and a long tail has many.
/// * Refuses: empty for an empty or non-finite sample, where no mark can be given.
/// * Source: Tukey, *Exploratory Data Analysis* (1977), 2D.
///
/// ```
/// use stend_stats::{Mark, tukey_marks};
/// let marks = tukey_marks(&[10.0, 11.0, 12.0, 13.0, 14.0, 40.0]);
/// assert_eq!(marks[5], Mark::Severe);
/// assert_eq!(marks[0], Mark::None);
/// ```
#[must_use]
pub fn tukey_marks(values: &[f64]) -> Vec<Mark> {
    let Some(sorted) = finite_sorted(values) else {
        return Vec::new();
    };
    let first = sorted_quantile(&sorted, 0.25);
    let third = sorted_quantile(&sorted, 0.75);
    let range = third - first; // may be infinite: then nothing is outside
    let outside = |value: f64, factor: f64| value < first - factor * range || value > third + factor * range;
    values
        .iter()
        .map(|&value| match (outside(value, 1.5), outside(value, 3.0)) {
            (_, true) => Mark::Severe,
            (true, false) => Mark::Mild,
            (false, false) => Mark::None,
        })
        .collect()
}
