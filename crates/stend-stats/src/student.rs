//! Student's distribution.

use statrs::function::beta::{beta_reg, inv_beta_reg};

/// The probability of more than `t`, with `freedom` > 0 degrees of freedom: ½·I(ν/(ν + t²); ν/2, ½) for t ≥ 0 (Abramowitz and Stegun 26.7.1).
pub(crate) fn survival(t: f64, freedom: f64) -> f64 {
    // Beyond that the square overflows, and the tail is 0 to any precision.
    let square = t.abs().min(1e150).powi(2);
    let tail = beta_reg(freedom / 2.0, 0.5, freedom / (freedom + square)) / 2.0;
    if t < 0.0 { 1.0 - tail } else { tail }
}

/// The t that is exceeded with probability `tail`, 0 < `tail` ≤ ½: t² = ν(1 − x)/x where I(x; ν/2, ½) = 2·tail.
pub(crate) fn quantile(tail: f64, freedom: f64) -> f64 {
    let share = inv_beta_reg(freedom / 2.0, 0.5, 2.0 * tail);
    (freedom * (1.0 - share) / share).sqrt()
}

#[cfg(test)]
mod tests {
    use super::{quantile, survival};

    /// SciPy: t.isf(tail, freedom).
    const TAILS: [(f64, f64, f64); 6] = [
        (0.025, 1.0, 12.706_204_736_174_696),
        (0.025, 1.5, 6.016_663_104_427_933),
        (0.025, 10.0, 2.228_138_851_986_275_3),
        (0.025, 38.0, 2.024_394_163_911_97),
        (0.025, 5000.0, 1.960_438_551_706_507_5),
        (0.005, 3.3, 5.344_306_069_721_079),
    ];

    #[test]
    fn tails_are_those_of_scipy() {
        for (tail, freedom, t) in TAILS {
            let found = quantile(tail, freedom);
            assert!((found / t - 1.0).abs() < 1e-9, "t({tail}, {freedom}) = {found}");
            let found = survival(t, freedom);
            assert!((found / tail - 1.0).abs() < 1e-9, "P(T > {t}, {freedom}) = {found}");
            assert!((survival(-t, freedom) + found - 1.0).abs() < 1e-12);
        }
        assert_eq!(survival(0.0, 7.0), 0.5);
        assert_eq!(survival(f64::INFINITY, 9.0), 0.0);
    }
}
