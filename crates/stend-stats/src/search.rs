//! Selection among differences of two sorted lists, by bisection over the `f64` values.

/// Key whose integer order is the order of the values (IEEE 754 total order).
fn key(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

fn from_key(key: i64) -> f64 {
    f64::from_bits((key ^ (((key >> 63) as u64) >> 1) as i64) as u64)
}

/// The smallest `f64` in `low..=high` for which `reached` holds, `high` where it holds for none
/// below. `reached` must be monotone: once true, true for all that is greater.
/// At most 64 calls. Neither bound may be NaN.
pub(crate) fn smallest_where(low: f64, high: f64, reached: impl Fn(f64) -> bool) -> f64 {
    if reached(low) {
        return low;
    }
    let (mut below, mut at) = (key(low), key(high));
    while i128::from(at) - i128::from(below) > 1 {
        let middle = ((i128::from(at) + i128::from(below)) >> 1) as i64;
        if reached(from_key(middle)) {
            at = middle;
        } else {
            below = middle;
        }
    }
    from_key(at)
}
