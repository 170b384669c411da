//! Latencies as counts: histograms are merged, percentiles never averaged.

use hdrhistogram::Histogram;

use crate::normal;

/// Values that must lie beyond a percentile before it is told.
pub const LEAST_IN_TAIL: f64 = 10.0;

/// The least latency that a histogram tells apart, ns.
const LEAST_NS: u64 = 100;
/// The greatest latency that is recorded, ns: one minute.
const MOST_NS: u64 = 60_000_000_000;
/// Decimal digits kept of each latency.
const DIGITS: u8 = 3;

/// Counts of latencies, 100 ns to 60 s, each kept to three significant digits (0.1 %). An HdrHistogram.
///
/// Any number of histograms may be merged without loss: the merged one is bit for bit that of all latencies together.
/// Source: Tene, *HdrHistogram* (2012 ff.), by the crate `hdrhistogram`.
///
/// ```
/// use stend_stats::Latencies;
/// let second = |range: std::ops::Range<u64>| {
///     let mut latencies = Latencies::default();
///     range.for_each(|us| assert!(latencies.record(us * 1000, 1)));
///     latencies
/// };
/// let total = Latencies::merged([&second(1..501), &second(501..1001)]);
/// let median = total.percentile(0.5).unwrap();
/// assert!((median.ns as f64 - 500_000.0).abs() < 500.0);
/// assert_eq!(total.percentile(0.999), None); // one value in the tail says nothing
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Latencies {
    counts: Histogram<u64>,
    beyond: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        let counts =
            Histogram::new_with_bounds(LEAST_NS, MOST_NS, DIGITS).expect("constant bounds that the crate allows");
        Self { counts, beyond: 0 }
    }
}

/// A percentile with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percentile {
    /// The latency that this share of all did not exceed, ns; the upper end of its bucket.
    pub ns: u64,
    /// Lower end of the 95 % interval, ns.
    pub low: u64,
    /// Upper end of the 95 % interval, ns.
    pub high: u64,
}

impl Latencies {
    /// Counts `count` latencies of `ns` nanoseconds. Below 100 ns they fall into the least bucket. Beyond 60 s they are counted as 60 s, and in
    /// [`Latencies::beyond_range`]. False where more than 2⁶⁴ − 1 would have been counted; then nothing is.
    #[must_use]
    pub fn record(&mut self, ns: u64, count: u64) -> bool {
        if self.counts.len().checked_add(count).is_none() {
            return false;
        }
        self.counts.saturating_record_n(ns.min(MOST_NS), count);
        self.beyond += if ns > MOST_NS { count } else { 0 };
        true
    }

    /// How many latencies were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// How many of them were longer than 60 s, and so are longer than what is said of them.
    #[must_use]
    pub fn beyond_range(&self) -> u64 {
        self.beyond
    }

    /// All counts of several histograms together; the order does not matter. None gives an empty one.
    ///
    /// This is how percentiles over seconds, workers or repeats are made. The mean of percentiles is no percentile: of a
    /// second with one slow request of a hundred and a second with none, p99 is neither's.
    #[must_use]
    pub fn merged<'a>(several: impl IntoIterator<Item = &'a Self>) -> Self {
        several.into_iter().fold(Self::default(), |mut total, one| {
            total.counts += &one.counts;
            total.beyond += one.beyond;
            total
        })
    }

    /// The least and the greatest latency, ns, to the bucket's resolution; `None` for an empty histogram.
    #[must_use]
    pub fn range(&self) -> Option<(u64, u64)> {
        (self.count() > 0).then(|| (self.counts.min(), self.counts.max()))
    }

    /// The latency that `share` of all did not exceed (0.99 is p99), with its 95 % interval.
    ///
    /// The ⌈share·n⌉-th smallest. The interval has the ranks n·share ∓ 1.96·√(n·share·(1 − share)), outwards: order statistics, normal
    /// approximation of the binomial. It takes latencies for independent; those of one queue are not, so that it is the
    /// least that the percentile may be off by. `None` for an empty histogram, a share outside 0 < share < 1, or fewer than [`LEAST_IN_TAIL`]
    /// latencies on either side: p99.9 takes 10,000.
    /// Source: David and Nagaraja, *Order Statistics*, 3rd ed., 7.1.
    #[must_use]
    pub fn percentile(&self, share: f64) -> Option<Percentile> {
        let n = self.count() as f64;
        // A count just at the limit is enough in spite of binary fractions: 10,000 · (1 − 0.999) is 9.999….
        if !(share > 0.0 && share < 1.0) || n * share.min(1.0 - share) < LEAST_IN_TAIL * (1.0 - 1e-9) {
            return None;
        }
        let spread = -normal::inverse(0.025) * (n * share * (1.0 - share)).sqrt();
        let at = |rank: f64| self.counts.value_at_quantile((rank / n).clamp(0.0, 1.0));
        let low = at((n * share - spread).floor().max(1.0));
        let high = at((n * share + spread).ceil().min(n));
        let ns = self.counts.value_at_quantile(share);
        Some(Percentile { ns, low: low.min(ns), high: high.max(ns) })
    }
}
