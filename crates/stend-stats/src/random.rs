//! The generator behind every random draw.

/// SplitMix64: a 64-bit counter with step 0x9E3779B97F4A7C15 and an output mix.
///
/// Source: Steele, Lea, Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014.
/// Written here so that a seed means the same draws in every version and on every platform.
/// Period 2⁶⁴; good for resampling and shuffling, never for secrets.
///
/// ```
/// let mut random = stend_stats::SplitMix64::new(0);
/// assert_eq!(random.next_u64(), 0xE220_A839_7B1D_CDAF);
/// ```
#[derive(Debug, Clone)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator whose counter starts at `seed`.
    ///
    /// * Unit: none.
    /// * Assumes: nothing; any seed is fine.
    /// * Refuses: nothing.
    /// * Source: as [`SplitMix64`].
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 random bits.
    ///
    /// * Unit: none.
    /// * Assumes: nothing; after 2⁶⁴ draws they begin anew.
    /// * Refuses: nothing.
    /// * Source: as [`SplitMix64`].
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Uniform in 0..1: ⌊bits/2¹¹⌋·2⁻⁵³ of the next 64.
    ///
    /// * Unit: none.
    /// * Assumes: nothing.
    /// * Refuses: nothing.
    /// * Source: Vigna, the remarks on doubles at the generators xoshiro/xoroshiro, prng.di.unimi.it.
    #[inline]
    pub fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Hands `count` uniform indices in 0..`count` to `take`, two from each draw of 64 bits where that is enough: the inner loop
    /// of a bootstrap. Their bias is below `count`/2³².
    #[inline]
    pub(crate) fn indices(&mut self, count: usize, mut take: impl FnMut(usize)) {
        let Ok(bound) = u32::try_from(count) else {
            (0..count).for_each(|_| take(self.index(count)));
            return;
        };
        let scaled = |half: u64| ((half * u64::from(bound)) >> 32) as usize;
        for place in (0..count).step_by(2) {
            let bits = self.next_u64();
            take(scaled(bits >> 32));
            if place + 1 < count {
                take(scaled(bits & 0xFFFF_FFFF));
            }
        }
    }

    /// Uniform index in 0..`bound`: ⌊bits·bound/2⁶⁴⌋ of the next 64, whose bias is below `bound`/2⁶⁴.
    ///
    /// * Unit: that of `bound`.
    /// * Assumes: nothing.
    /// * Refuses: nothing; a bound of 0 gives 0.
    /// * Source: Lemire, *ACM Trans. Model. Comput. Simul.* 29 (2019), without its rejection.
    #[inline]
    pub fn index(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }
}
