//! fio's logs: averages over windows of `log_avg_msec`, all jobs in one file.

use std::collections::BTreeMap;

use stend_model::wire::{Usage, quote};

/// One line: when a window ended in milliseconds of Unix time, the average in it, and the direction.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    ms: f64,
    value: f64,
    direction: u8,
}

/// The three logs that are asked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Logs {
    /// Operations per second.
    iops: Vec<Entry>,
    /// KiB per second.
    bandwidth: Vec<Entry>,
    /// Nanoseconds.
    latency: Vec<Entry>,
    /// Length of a window in milliseconds.
    window_ms: f64,
}

impl Logs {
    /// Reads the logs; an empty text is a log that fio did not write.
    pub(super) fn parse(iops: &str, bandwidth: &str, latency: &str, window_ms: u32) -> Result<Self, String> {
        Ok(Self {
            iops: parse(iops, "iops")?,
            bandwidth: parse(bandwidth, "bw")?,
            latency: parse(latency, "lat")?,
            window_ms: f64::from(window_ms.max(1)),
        })
    }

    /// When the first window began, in milliseconds of Unix time.
    pub(super) fn began_ms(&self) -> Option<f64> {
        self.first_ms().map(|ms| ms - self.window_ms)
    }

    fn first_ms(&self) -> Option<f64> {
        self.iops.iter().map(|entry| entry.ms).reduce(f64::min)
    }

    /// Each window's end, in milliseconds of Unix time, with its values. Rates are summed over the jobs; the latency is the
    /// mean over the jobs, each counted once, because the log does not say how many operations are behind an average.
    /// Windows that some jobs did not complete are left out: their sum would be a dip that never was.
    pub(super) fn windows(&self) -> Vec<(f64, BTreeMap<String, f64>)> {
        let Some(first) = self.first_ms() else { return Vec::new() };
        let mut windows: BTreeMap<i64, BTreeMap<String, f64>> = BTreeMap::new();
        let mixed = [0, 1].iter().all(|direction| self.iops.iter().any(|entry| entry.direction == *direction));
        for (direction, word) in [(0, "read"), (1, "write")] {
            let prefix = if mixed { format!("{word}_") } else { String::new() };
            let iops = self.sums(&self.iops, direction, first);
            let bandwidth = self.sums(&self.bandwidth, direction, first);
            let latency = self.sums(&self.latency, direction, first);
            let jobs = iops.values().map(|sum| sum.1).max().unwrap_or(0);
            for (&window, &(sum, _)) in iops.iter().filter(|(_, sum)| sum.1 == jobs) {
                let values = windows.entry(window).or_default();
                values.insert(format!("{prefix}iops"), sum);
                if let Some((sum, _)) = bandwidth.get(&window).filter(|sum| sum.1 == jobs) {
                    values.insert(format!("{prefix}bandwidth_bytes_per_s"), sum * 1024.0);
                }
                if let Some((sum, count)) = latency.get(&window) {
                    values.insert(format!("{prefix}latency_mean_ns"), sum / f64::from(*count));
                }
            }
        }
        windows.into_iter().map(|(window, values)| (window as f64 * self.window_ms + first, values)).collect()
    }

    /// By window: the sum of the values and how many there are. The jobs' stamps differ by a few milliseconds.
    fn sums(&self, entries: &[Entry], direction: u8, first: f64) -> BTreeMap<i64, (f64, u32)> {
        let mut sums = BTreeMap::new();
        for entry in entries.iter().filter(|entry| entry.direction == direction) {
            let window = ((entry.ms - first) / self.window_ms).round() as i64;
            let sum = sums.entry(window).or_insert((0.0, 0));
            *sum = (sum.0 + entry.value, sum.1 + 1);
        }
        sums
    }
}

/// `time, value, direction, block size, offset`, and newer versions add more.
fn parse(text: &str, name: &str) -> Result<Vec<Entry>, String> {
    let entry = |line: &str| {
        let mut fields = line.split(',').map(str::trim);
        let (ms, value, direction) = (fields.next()?, fields.next()?, fields.next()?);
        let (ms, value) = (ms.parse::<u64>().ok()? as f64, value.parse::<u64>().ok()? as f64);
        Some(Entry { ms, value, direction: direction.parse().ok()? })
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| entry(line).ok_or_else(|| format!("fio's {name} log has the line {}", quote(line)))).collect()
}

/// Puts Unix times of fio's logs on the machine's monotonic clock. fio writes its report as the last thing that it does, so
/// the report's Unix time and the command's end are the same moment, to a few milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Clock {
    started_ns: i64,
    end_ns: i64,
    written_ms: f64,
}

impl Clock {
    /// `written_ms` is when the report was written, in milliseconds of Unix time; 0 if unknown.
    pub(super) fn new(usage: &Usage, started_ns: i64, written_ms: f64) -> Self {
        Self { started_ns, end_ns: started_ns.saturating_add_unsigned(usage.wall_ns), written_ms }
    }

    /// The command's end.
    pub(super) fn end_ns(&self) -> i64 {
        self.end_ns
    }

    /// A Unix time in milliseconds as nanoseconds of the monotonic clock, never outside the command's time.
    pub(super) fn monotonic_ns(&self, ms: f64) -> i64 {
        let before_end = ((self.written_ms - ms) * 1e6) as i64;
        self.end_ns.saturating_sub(before_end).clamp(self.started_ns, self.end_ns)
    }
}
