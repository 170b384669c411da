//! Latencies as counts: histograms are merged, percentiles never averaged.

use std::fmt;
use std::io::Read;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::read::ZlibDecoder;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2DeflateSerializer};

/// Values that must lie beyond a percentile before it is told.
pub const LEAST_IN_TAIL: f64 = 10.0;

/// The least difference that a histogram tells apart, ns. Up to 2048 times as much each latency has a count of its own.
const LEAST_NS: u64 = 1;
/// The greatest latency that is recorded, ns: one minute.
const MOST_NS: u64 = 60_000_000_000;
/// Decimal digits kept of each latency.
const DIGITS: u8 = 3;

/// The 97.5 % quantile of the normal distribution.
const NORMAL_97_5: f64 = 1.959_963_984_540_054;

/// How a compressed histogram begins, before its length.
const COOKIE: [u8; 4] = [0x1c, 0x84, 0x93, 0x14];
/// The bytes of a histogram's head: cookie, length of the counts, and what the counts are of.
const HEAD: usize = 40;
/// A histogram may have so many bytes when it is no longer compressed. The counts of one of these take less than a tenth.
const MOST_BYTES: u64 = 4 << 20;

/// Counts of latencies, 1 ns to 60 s, each kept to three significant digits (0.1 %). An HdrHistogram.
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
}

impl Default for Latencies {
    fn default() -> Self {
        let counts =
            Histogram::new_with_bounds(LEAST_NS, MOST_NS, DIGITS).expect("constant bounds that the crate allows");
        Self { counts }
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

/// A text that is no histogram of latencies; why, in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotAHistogram(String);

impl fmt::Display for NotAHistogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it is no compressed HdrHistogram: {}", self.0)
    }
}

impl std::error::Error for NotAHistogram {}

impl Latencies {
    /// Counts `count` latencies of `ns` nanoseconds. Beyond 60 s they are counted as 60 s, and in [`Latencies::beyond_range`].
    ///
    /// * Unit: ns.
    /// * Assumes: nothing of the distribution.
    /// * Refuses: false where more than 2⁶⁴ − 1 would have been counted; then nothing is.
    /// * Source: as [`Latencies`].
    #[must_use]
    pub fn record(&mut self, ns: u64, count: u64) -> bool {
        if self.counts.len().checked_add(count).is_none() {
            return false;
        }
        self.counts.saturating_record_n(ns.min(MOST_NS), count);
        true
    }

    /// How many latencies were counted: the sum over all buckets.
    ///
    /// * Unit: latencies.
    /// * Assumes: nothing.
    /// * Refuses: nothing.
    /// * Source: as [`Latencies`].
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.len()
    }

    /// How many of them took 60 s, to the bucket's resolution, or longer, and so may be longer than what is said of them.
    ///
    /// * Unit: latencies.
    /// * Assumes: nothing.
    /// * Refuses: nothing.
    /// * Source: as [`Latencies`].
    #[must_use]
    pub fn beyond_range(&self) -> u64 {
        self.counts.count_at(MOST_NS)
    }

    /// The buckets that are not empty, shortest latencies first: each with its least and its greatest latency, and how many it counts.
    ///
    /// * Unit: ns, ns, and latencies.
    /// * Assumes: nothing.
    /// * Refuses: nothing; an empty histogram has none.
    /// * Source: as [`Latencies`].
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        let bucket =
            |ns: u64, count: u64| (self.counts.lowest_equivalent(ns), self.counts.highest_equivalent(ns), count);
        self.counts.iter_recorded().map(move |step| bucket(step.value_iterated_to(), step.count_at_value()))
    }

    /// The histogram as text: HdrHistogram's own compressed form (version 2, zlib) in base 64, as its libraries write and read it.
    /// [`Latencies::from_text`] gives back the same, bit for bit.
    ///
    /// * Unit: base 64 with padding (RFC 4648, section 4), on one line.
    /// * Assumes: nothing.
    /// * Refuses: nothing.
    /// * Source: as [`Latencies`].
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut bytes = Vec::new();
        V2DeflateSerializer::new().serialize(&self.counts, &mut bytes).expect("writing to memory does not fail");
        BASE64.encode(bytes)
    }

    /// Reads such a text, whatever wrote it. A histogram with other bounds or digits is counted anew within these, each bucket at its least
    /// latency, as HdrHistogram's own libraries add one to another.
    ///
    /// * Unit: the text's values are taken for nanoseconds.
    /// * Assumes: nothing of who wrote it: lengths and checksum are held against what is there.
    /// * Refuses: what stands below.
    /// * Source: as [`Latencies`].
    ///
    /// # Errors
    /// The text is no base 64, is cut off or damaged, or is no histogram.
    pub fn from_text(text: &str) -> Result<Self, NotAHistogram> {
        let bad = |why: &str| NotAHistogram(why.to_owned());
        let bytes = BASE64.decode(text.trim()).map_err(|error| bad(&format!("no base 64 ({error})")))?;
        let (head, compressed) = bytes.split_at_checked(8).ok_or_else(|| bad("it is cut off"))?;
        if head[..4] != COOKIE {
            return Err(bad("it does not begin as one"));
        }
        if compressed.len() != u32::from_be_bytes([head[4], head[5], head[6], head[7]]) as usize {
            return Err(bad("it is cut off"));
        }
        // To the end, so that the checksum there is held against it, which reading the counts alone does not do.
        let mut plain = Vec::new();
        let inflated = ZlibDecoder::new(compressed).take(MOST_BYTES).read_to_end(&mut plain);
        inflated.map_err(|error| bad(&format!("it is damaged ({error})")))?;
        let counted = plain.get(4..8).map(|length| u32::from_be_bytes([length[0], length[1], length[2], length[3]]));
        if counted.is_none_or(|length| length as usize + HEAD != plain.len()) {
            return Err(bad("it is damaged"));
        }
        let read = Deserializer::new().deserialize::<u64, _>(&mut plain.as_slice());
        let counts = read.map_err(|error| bad(&format!("it is damaged ({error})")))?;
        // Its own need not be counted anew.
        if (counts.low(), counts.high(), counts.sigfig()) == (LEAST_NS, MOST_NS, DIGITS) {
            return Ok(Self { counts });
        }
        let mut latencies = Self::default();
        let all = counts
            .iter_recorded()
            .all(|step| latencies.record(counts.lowest_equivalent(step.value_iterated_to()), step.count_at_value()));
        if all { Ok(latencies) } else { Err(bad("it counts more than 2⁶⁴ − 1 latencies")) }
    }

    /// All counts of several histograms together; the order does not matter. None gives an empty one.
    ///
    /// This is how percentiles over seconds, workers or repeats are made. The mean of percentiles is no percentile: of a
    /// second with one slow request of a hundred and a second with none, p99 is neither's.
    ///
    /// * Unit: that of the histograms.
    /// * Assumes: nothing.
    /// * Refuses: nothing; a bucket that would count more than 2⁶⁴ − 1 latencies stays at that.
    /// * Source: as [`Latencies`].
    #[must_use]
    pub fn merged<'a>(several: impl IntoIterator<Item = &'a Self>) -> Self {
        several.into_iter().fold(Self::default(), |mut total, one| {
            total.counts += &one.counts;
            total
        })
    }

    /// The least and the greatest latency, to the bucket's resolution.
    ///
    /// * Unit: ns.
    /// * Assumes: nothing.
    /// * Refuses: `None` for an empty histogram.
    /// * Source: as [`Latencies`].
    #[must_use]
    pub fn range(&self) -> Option<(u64, u64)> {
        (self.count() > 0).then(|| (self.counts.min(), self.counts.max()))
    }

    /// The latency that `share` of all did not exceed (0.99 is p99), with its 95 % interval.
    ///
    /// The ⌈share·n⌉-th smallest. The interval has the ranks n·share ∓ 1.96·√(n·share·(1 − share)), outwards: order statistics, normal
    /// approximation of the binomial.
    ///
    /// * Unit: ns; `share` has none.
    /// * Assumes: independent latencies; those of one queue are not, so the interval is the least that the percentile may be off by.
    /// * Refuses: `None` for an empty histogram, a share outside 0 < share < 1, or fewer than [`LEAST_IN_TAIL`] latencies on either side:
    ///   p99.9 takes 10,000.
    /// * Source: David and Nagaraja, *Order Statistics*, 3rd ed., 7.1.
    #[must_use]
    pub fn percentile(&self, share: f64) -> Option<Percentile> {
        let n = self.count() as f64;
        // A count just at the limit is enough in spite of binary fractions: 10,000 · (1 − 0.999) is 9.999….
        if !(share > 0.0 && share < 1.0) || n * share.min(1.0 - share) < LEAST_IN_TAIL * (1.0 - 1e-9) {
            return None;
        }
        let spread = NORMAL_97_5 * (n * share * (1.0 - share)).sqrt();
        let at = |rank: f64| self.counts.value_at_quantile((rank / n).clamp(0.0, 1.0));
        let low = at((n * share - spread).floor().max(1.0));
        let high = at((n * share + spread).ceil().min(n));
        let ns = self.counts.value_at_quantile(share);
        Some(Percentile { ns, low: low.min(ns), high: high.max(ns) })
    }
}
