//! fio's histogram logs: for each window and job, how many operations took how long.
//!
//! Percentiles of a window come from the histograms of all jobs in it, put together. Percentiles themselves are never averaged.

use std::collections::BTreeMap;

use stend_model::cause::Cause;
use stend_model::wire::quote;

/// Buckets of fio's histograms: 29 groups of 64. In each group the buckets are twice as wide as in the one before.
const BUCKETS: usize = 29 * GROUP;
const GROUP: usize = 1 << GROUP_BITS;
const GROUP_BITS: u32 = 6;

/// Counts of operations by their latency.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Histogram {
    counts: BTreeMap<usize, u64>,
}

impl Histogram {
    /// Adds what another one counted.
    pub(super) fn add(&mut self, other: &Self) {
        for (bucket, count) in &other.counts {
            let sum = self.counts.entry(*bucket).or_default();
            *sum = sum.saturating_add(*count);
        }
    }

    /// The latency in nanoseconds that this share of the operations did not exceed: the middle of the bucket, as fio's own report has it.
    /// It is within 0.8 % of the truth. `None` for an empty histogram.
    pub(super) fn quantile(&self, share: f64) -> Option<f64> {
        let wanted = self.operations() * share;
        let mut below = 0.0;
        let reached = self.counts.iter().find(|(_, count)| {
            below += **count as f64;
            below >= wanted
        });
        reached.map(|(bucket, _)| middle(*bucket))
    }

    /// The mean in nanoseconds, of the buckets' middles: within 0.8 % of the truth. `None` for an empty histogram.
    pub(super) fn mean(&self) -> Option<f64> {
        let operations = self.operations();
        let sum: f64 = self.counts.iter().map(|(bucket, count)| middle(*bucket) * *count as f64).sum();
        (operations > 0.0).then(|| sum / operations)
    }

    /// What a log says may be more than 64 bits hold.
    pub(super) fn operations(&self) -> f64 {
        self.counts.values().map(|count| *count as f64).sum()
    }

    /// The figures that are shown of a window, by the ends of their names.
    pub(super) fn figures(&self) -> impl Iterator<Item = (&'static str, f64)> {
        [("latency_p50_ns", 0.5), ("latency_p99_ns", 0.99), ("latency_p999_ns", 0.999), ("latency_max_ns", 1.0)]
            .into_iter()
            .filter_map(|(name, share)| Some((name, self.quantile(share)?)))
    }
}

/// The middle of a bucket, in nanoseconds.
fn middle(bucket: usize) -> f64 {
    if bucket < 2 * GROUP {
        return bucket as f64;
    }
    let width = (1_u64 << (bucket / GROUP - 1)) as f64;
    (width * GROUP as f64 + ((bucket % GROUP) as f64 + 0.5) * width).floor()
}

/// Reads a log: `time in ms, direction, block size, counts…`. Returns each line's time with its direction and its histogram.
pub(super) fn parse(text: &str) -> Result<Vec<(f64, u8, Histogram)>, Cause> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let unknown = |line| Cause::ToolLine { output: "fio's clat_hist log".into(), said: quote(line) };
    lines.map(|line| entry(line).ok_or_else(|| unknown(line))).collect()
}

fn entry(line: &str) -> Option<(f64, u8, Histogram)> {
    let mut fields = line.trim_end_matches([',', ' ']).split(',').map(str::trim);
    let ms = fields.next()?.parse::<u64>().ok()? as f64;
    let (direction, _block_size) = (fields.next()?.parse::<u8>().ok()?, fields.next()?);
    let mut counts = BTreeMap::new();
    let mut buckets = 0;
    for (bucket, field) in fields.enumerate() {
        let count = field.parse::<u64>().ok()?;
        if count > 0 {
            counts.insert(bucket, count);
        }
        buckets = bucket + 1;
    }
    (buckets == BUCKETS).then_some((ms, direction, Histogram { counts }))
}
