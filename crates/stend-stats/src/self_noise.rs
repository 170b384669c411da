//! What a machine differs from itself while nothing changes: the noise of an A/A comparison.

use crate::aa_floor;
use crate::random::SplitMix64;
use crate::sample::sorted_median;

/// Up to this many pairs all ways to deal them are counted.
const EXACT_DEALS: usize = 12;

/// Ways that are drawn where there are more pairs.
const DRAWN_DEALS: usize = 4096;

/// Pairs that a noise floor takes at least, so that each half has the repeats of a side.
pub const LEAST_PAIRS: usize = crate::MIN_REPEATS;

/// The ratios of medians of a run against itself: neighbouring repeats of a session, the first with the second, the third with the
/// fourth and so on, are dealt to two halves, one each, in every way (A B B A is one of them); beyond twelve pairs in 4096 ways drawn
/// from `seed`.
///
/// Each deal is an interleaved A/A comparison that might as well have been made: since nothing changed, the names of the halves mean
/// nothing. A slow drift hits both halves alike and is not in it; see [`half_drift`](crate::half_drift). Of two deals that only
/// exchange the halves one is given. An odd repeat at the end of a session is left out.
///
/// * Unit: none.
/// * Assumes: repeats in the order in which they were made; neighbours are exchangeable.
/// * Refuses: `None` with fewer than six pairs, or a value that is not positive and finite.
/// * Source: Kohavi and others, *Trustworthy Online Controlled Experiments* (2020), ch. 19, for A/A; Fisher, *The Design of Experiments* (1935),
///   §21, for the deals.
///
/// ```
/// let session = [10.0, 11.0, 10.0, 11.0, 10.0, 11.0, 10.0, 11.0, 10.0, 11.0, 10.0, 11.0];
/// let ratios = stend_stats::self_ratios([&session[..]], 1).unwrap();
/// assert_eq!(ratios.len(), 32); // 2⁶ deals, the halves of half of them exchanged
/// assert!(ratios.contains(&1.0) && ratios.iter().all(|ratio| (1.0 / 1.1..=1.1).contains(ratio)));
/// ```
#[must_use]
pub fn self_ratios<'a>(sessions: impl IntoIterator<Item = &'a [f64]>, seed: u64) -> Option<Vec<f64>> {
    let pairs: Vec<&[f64]> = sessions.into_iter().flat_map(|session| session.chunks_exact(2)).collect();
    let positive = |value: &f64| value.is_finite() && *value > 0.0;
    if pairs.len() < LEAST_PAIRS || !pairs.iter().copied().flatten().all(positive) {
        return None;
    }
    let mut halves = [vec![0.0; pairs.len()], vec![0.0; pairs.len()]];
    let mut ratio = |turned: &mut dyn FnMut(usize) -> bool| {
        for (place, pair) in pairs.iter().enumerate() {
            let first = usize::from(turned(place));
            halves[first][place] = pair[0];
            halves[1 - first][place] = pair[1];
        }
        for half in &mut halves {
            half.sort_unstable_by(f64::total_cmp);
        }
        sorted_median(&halves[0]) / sorted_median(&halves[1])
    };
    let ratios: Vec<f64> = if pairs.len() <= EXACT_DEALS {
        // The last pair is never turned: to turn them all exchanges the halves.
        (0..1_u32 << (pairs.len() - 1)).map(|deal| ratio(&mut |place| deal >> place & 1 == 1)).collect()
    } else {
        let mut random = SplitMix64::new(seed);
        (0..DRAWN_DEALS).map(|_| ratio(&mut |_| random.next_u64() >> 63 == 1)).collect()
    };
    ratios.iter().all(positive).then_some(ratios)
}

/// The noise floor of a run against itself: [`aa_floor`] of its [`self_ratios`]. 19 of 20 of these comparisons of the same with
/// the same, with half of the repeats a side, lie within it.
///
/// For normal repeats with coefficient of variation c it is on average 0.90·c with ten pairs and 0.68·c with twenty (simulated). Fresh
/// repeats spread a little more, since a deal cannot change what the two halves are together: 1.03·c and 0.75·c.
///
/// * Unit: a fraction.
/// * Assumes: what [`self_ratios`] does.
/// * Refuses: `None` as [`self_ratios`].
/// * Source: as [`self_ratios`].
///
/// ```
/// let calm: Vec<f64> = (0..20).map(|i| 100.0 + 0.1 * f64::from(i * 7 % 5)).collect();
/// assert!(stend_stats::self_noise([&calm[..]], 1).unwrap() < 0.003);
/// ```
#[must_use]
pub fn self_noise<'a>(sessions: impl IntoIterator<Item = &'a [f64]>, seed: u64) -> Option<f64> {
    aa_floor(&self_ratios(sessions, seed)?)
}
