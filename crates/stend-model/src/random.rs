//! A small reproducible random number generator for orders, not for secrets.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
///
/// A stored seed gives the same order in every version of `stend`, which a library's generator does not promise.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// A generator that starts at `seed`; any seed is good.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A generator that starts where nobody chose: at the clock and the process, mixed.
    pub fn fresh() -> Self {
        let nanoseconds = jiff::Timestamp::now().as_nanosecond() as u64;
        Self(nanoseconds ^ u64::from(std::process::id()).rotate_left(48))
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number in `0..bound`, without bias that could matter (Lemire's multiplication; the bias is below `bound`/2⁶⁴).
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }

    /// Puts `items` into a random order (Fisher and Yates; Knuth, TAOCP 2, 3.4.2, algorithm P).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_outputs_for_seed_1234567() {
        // The first outputs that the algorithm's authors' reference program gives for this seed.
        let mut random = SplitMix64::new(1_234_567);
        let got: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(got, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn a_shuffle_keeps_every_item_and_can_be_repeated() {
        let shuffled = |seed| {
            let mut items: Vec<u32> = (0..50).collect();
            SplitMix64::new(seed).shuffle(&mut items);
            items
        };
        let first = shuffled(7);
        assert_eq!(first, shuffled(7));
        assert_ne!(first, shuffled(8));
        let mut sorted = first;
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<_>>());
    }
}
