//! fio's logs: averages over windows of `log_avg_msec`, and histograms over windows of `log_hist_msec`; a file for each job.

use std::collections::{BTreeMap, BTreeSet};

use stend_model::cause::Cause;
use stend_model::wire::quote;

use super::histogram::{self, Histogram};

/// Of the windows that no job's log says anything of, all gaps together, so many are filled in and no more. What a fuzzer finds in fewer it
/// finds a hundred times as fast.
const MOST_SILENT_WINDOWS: usize = if cfg!(fuzzing) { 100 } else { 10_000 };

/// One line: when a window ended in milliseconds of Unix time, the average in it, the direction, and the LUN if that is known.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Entry {
    ms: f64,
    value: f64,
    direction: u8,
    lun: Option<u32>,
    /// Which job's log it is of; `None` of a log of several jobs.
    job: Option<u32>,
}

/// A line of a log of histograms.
#[derive(Debug, Clone, PartialEq)]
struct Counted {
    /// When the window ended, in milliseconds of Unix time.
    ms: f64,
    direction: u8,
    lun: Option<u32>,
    job: Option<u32>,
    histogram: Histogram,
}

/// fio's directions, by their numbers in its logs.
const DIRECTIONS: [(u8, &str); 3] = [(0, "read"), (1, "write"), (2, "trim")];

/// The logs of one repeat.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Logs {
    /// Operations per second.
    iops: Vec<Entry>,
    /// KiB per second.
    bandwidth: Vec<Entry>,
    /// Nanoseconds, where histograms do not say it.
    latency: Vec<Entry>,
    /// Histograms of nanoseconds.
    histograms: Vec<Counted>,
    window_ms: f64,
    histogram_window_ms: f64,
    together_ms: Option<f64>,
    measured: Option<(u32, f64)>,
}

/// Values at one moment, by name.
pub(super) type Moment = (f64, BTreeMap<String, f64>);

/// Of each job, or line of a log of several: the sum of its lines in a window, and how many there are.
type OfJobs = BTreeMap<(bool, usize), (f64, u32)>;

/// How the jobs and their logs are laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// Jobs of each LUN, one after the other; `None` where it is not known which job works on which LUN.
    pub(super) jobs_of_a_lun: Option<u32>,
    /// LUNs. Of jobs beyond the last one the first belongs to the first LUN again.
    pub(super) luns: u32,
    /// Length of a window in milliseconds.
    pub(super) window_ms: u32,
    /// The same of the histograms.
    pub(super) histogram_window_ms: u32,
    /// How long every job works, in milliseconds, where all begin and end together: one that says nothing more before that stands still.
    pub(super) together_ms: Option<u32>,
    /// How many of the first jobs are measured, and how long the longest of them took until its last operation had ended, in milliseconds,
    /// as fio reports it; `None` where that is not known.
    pub(super) measured: Option<(u32, f64)>,
}

/// The logs that are asked of fio, as in `write_bw_log`. Bandwidth and operations it samples once a window. Of latencies it keeps histograms,
/// which it fills anyway; for a log of their means it computes at each operation, which took 0.1 to 0.2 µs of each. So those are asked for
/// only where there are no histograms as fine as the windows.
pub(super) fn kinds(histogram_window_ms: Option<u32>, window_ms: u32) -> impl Iterator<Item = &'static str> {
    let means = histogram_window_ms.is_none_or(|histogram_window| histogram_window > window_ms);
    ["bw", "iops"].into_iter().chain(histogram_window_ms.map(|_| "hist")).chain(means.then_some("lat"))
}

impl Layout {
    /// The LUN of a log by its name: `log_iops.7.log` is of the seventh job. A name without a number is of all jobs.
    fn lun(&self, name: &str) -> Option<u32> {
        Some(job(name)?.checked_sub(1)? / self.jobs_of_a_lun?.max(1) % self.luns.max(1))
    }
}

impl Logs {
    /// Reads the logs, which are files by their names; those of other names are left alone.
    pub(super) fn parse<'a>(files: impl Iterator<Item = (&'a str, &'a str)>, layout: &Layout) -> Result<Self, Cause> {
        let mut logs = Self {
            iops: Vec::new(),
            bandwidth: Vec::new(),
            latency: Vec::new(),
            histograms: Vec::new(),
            window_ms: f64::from(layout.window_ms.max(1)),
            histogram_window_ms: f64::from(layout.histogram_window_ms.max(1)),
            together_ms: layout.together_ms.map(f64::from),
            measured: layout.measured,
        };
        for (name, text) in files {
            let (lun, job) = (layout.lun(name), job(name));
            let kind = name.split_once('_').and_then(|(_, rest)| rest.split_once('.')).map(|(kind, _)| kind);
            match kind {
                Some("iops") => logs.iops.extend(parse(text, "iops", lun, job)?),
                Some("bw") => logs.bandwidth.extend(parse(text, "bw", lun, job)?),
                Some("clat") => logs.latency.extend(parse(text, "clat", lun, job)?),
                Some("clat_hist") => {
                    let of_lun = |(ms, direction, histogram)| Counted { ms, direction, lun, job, histogram };
                    logs.histograms.extend(histogram::parse(text)?.into_iter().map(of_lun));
                }
                _ => {}
            }
        }
        Ok(logs)
    }

    /// How long a window is, in milliseconds.
    pub(super) fn window_ms(&self) -> f64 {
        self.window_ms
    }

    /// When the load began that is measured, in milliseconds of Unix time.
    ///
    /// A job's lines come at whole windows from its beginning, the first when an operation has ended: of many operations in flight that may be
    /// the fourth window or the tenth. Which one it is the last line of all says, which is written when the last operations end.
    pub(super) fn began_ms(&self) -> Option<f64> {
        /// fio may report a millisecond or two less than there were.
        const SHORT_MS: f64 = 2.0;
        let (first, last) = self.measured_ms()?;
        let windows = self.measured.map_or(1.0, |(_, wall_ms)| (first - last + wall_ms + SHORT_MS) / self.window_ms);
        Some(first - windows.floor().max(1.0) * self.window_ms)
    }

    /// When the last operation that is measured had ended. Where a machine starts many jobs slowly, they begin one after the other, and all
    /// together take longer than any of them.
    pub(super) fn ended_ms(&self) -> Option<f64> {
        let (_, last) = self.measured_ms()?;
        let (_, wall_ms) = self.measured?;
        Some(last.max(self.began_ms()? + wall_ms))
    }

    /// The first and the last line of the jobs that are measured.
    fn measured_ms(&self) -> Option<(f64, f64)> {
        let is_measured = |job: Option<u32>| self.measured.zip(job).is_none_or(|((jobs, _), job)| job <= jobs);
        let rates = self.iops.iter().filter(|entry| is_measured(entry.job)).map(|entry| entry.ms);
        let first = rates.clone().reduce(f64::min)?;
        let counts = self.histograms.iter().filter(|line| is_measured(line.job)).map(|line| line.ms);
        Some((first, rates.chain(counts).reduce(f64::max)?))
    }

    /// When the first line was written, and the last one.
    pub(super) fn logged_ms(&self) -> Option<(f64, f64)> {
        Some((self.first_ms()?, self.iops.iter().map(|entry| entry.ms).reduce(f64::max)?))
    }

    fn first_ms(&self) -> Option<f64> {
        self.iops.iter().map(|entry| entry.ms).reduce(f64::min)
    }

    /// Each window's end, in milliseconds of Unix time, with its values, for all LUNs together, and where there are several and they are
    /// known for each by itself, as `lun0.iops`.
    pub(super) fn windows(&self) -> Vec<Moment> {
        let Some(first) = self.first_ms() else { return Vec::new() };
        let luns = std::iter::once(None).chain(self.luns().into_iter().map(Some));
        let mut moments: Vec<_> =
            luns.flat_map(|lun| [self.averages(lun, first), self.latencies(lun)]).flatten().collect();
        moments.sort_by(|a, b| a.0.total_cmp(&b.0));
        // One sample a moment.
        let mut together: Vec<Moment> = Vec::new();
        for (ms, values) in moments {
            match together.last_mut().filter(|last| last.0 == ms) {
                Some(last) => last.1.extend(values),
                None => together.push((ms, values)),
            }
        }
        together
    }

    /// The LUNs that are told apart; none where there is only one.
    fn luns(&self) -> Vec<u32> {
        let mut luns: Vec<_> = self.iops.iter().filter_map(|entry| entry.lun).collect();
        luns.sort_unstable();
        luns.dedup();
        if luns.len() < 2 { Vec::new() } else { luns }
    }

    /// The names of what is of one direction begin so, by the direction's number.
    fn prefixes(&self, lun: Option<u32>) -> impl Iterator<Item = (u8, String)> {
        let mixed = [0, 1].iter().all(|direction| self.iops.iter().any(|entry| entry.direction == *direction));
        let prefix = move |word| if mixed { format!("{}{word}_", of_lun(lun)) } else { of_lun(lun) };
        DIRECTIONS.into_iter().map(move |(direction, word)| (direction, prefix(word)))
    }

    /// Rates are summed over the jobs; the latency is the mean over the jobs, each counted once, because the log does not say how many
    /// operations are behind an average. Where jobs do not begin and end together, windows before a job's first line and after its
    /// last one are left out: their sum would be a dip that never was.
    fn averages(&self, lun: Option<u32>, first: f64) -> Vec<Moment> {
        let mut windows: BTreeMap<i64, BTreeMap<String, f64>> = BTreeMap::new();
        for (direction, prefix) in self.prefixes(lun) {
            let sums = |entries: &[Entry]| self.sums(entries, direction, lun, first);
            let (mut iops, mut bandwidth, latency) = (sums(&self.iops), sums(&self.bandwidth), sums(&self.latency));
            let ended_in = |job, window| self.iops_of(job, direction, window, first);
            self.add_silence(&mut iops, &self.iops, direction, lun, first, ended_in);
            self.add_silence(&mut bandwidth, &self.bandwidth, direction, lun, first, |_, _| None);
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

    /// By window: the sum of the jobs' values and how many jobs there are. The jobs' stamps differ by a few milliseconds and drift, so two
    /// lines of a job may fall into one window: they are one job's, and their mean is what it did.
    fn sums(&self, entries: &[Entry], direction: u8, lun: Option<u32>, first: f64) -> BTreeMap<i64, (f64, u32)> {
        let mut windows: BTreeMap<i64, OfJobs> = BTreeMap::new();
        let belongs = |entry: &&Entry| entry.direction == direction && (lun.is_none() || entry.lun == lun);
        for (line, entry) in entries.iter().filter(belongs).enumerate() {
            // In a log of several jobs nobody knows which two lines are the same job's.
            let job = entry.job.map_or((false, line), |job| (true, job as usize));
            let of_job = windows.entry(self.window(entry.ms, first)).or_default().entry(job).or_insert((0.0, 0));
            *of_job = (of_job.0 + entry.value, of_job.1 + 1);
        }
        let together = |of_jobs: OfJobs| {
            let jobs = u32::try_from(of_jobs.len()).unwrap_or(u32::MAX);
            (of_jobs.into_values().map(|(sum, lines)| sum / f64::from(lines)).sum(), jobs)
        };
        windows.into_iter().map(|(window, of_jobs)| (window, together(of_jobs))).collect()
    }

    /// fio writes no line for a window in which nothing of a job ended. Between two lines of a job such windows are of nothing done, and
    /// not windows that it did not complete: what stands still is the dip that is looked for. So are those between the beginning and its
    /// first line, and between its last line and the end, where all jobs begin and end together. fio also writes none when it was late itself;
    /// then no job has a line there, some operation did end meanwhile, and the next line is the mean of all of it, which is then the mean of each.
    /// Where no line follows, that is `ended_in` the window by its job; where it is not known, the window is left out.
    fn add_silence(
        &self,
        sums: &mut BTreeMap<i64, (f64, u32)>,
        entries: &[Entry],
        direction: u8,
        lun: Option<u32>,
        first: f64,
        ended_in: impl Fn(u32, i64) -> Option<f64>,
    ) {
        let mut of_jobs: BTreeMap<u32, Vec<(f64, Option<f64>)>> = BTreeMap::new();
        let belongs = |entry: &&Entry| entry.direction == direction && (lun.is_none() || entry.lun == lun);
        for entry in entries.iter().filter(belongs) {
            if let Some(job) = entry.job {
                of_jobs.entry(job).or_default().push((entry.ms, Some(entry.value)));
            }
        }
        let windows = |stamps: &mut dyn Iterator<Item = f64>| -> BTreeSet<i64> {
            stamps.map(|ms| self.window(ms, first)).collect()
        };
        let counted = windows(&mut entries.iter().map(|entry| entry.ms));
        let last_counted = counted.last().map_or(0, |last| last.saturating_add(1));
        // Lines of both are written when an operation ends.
        let of_means = self.latency.iter().map(|entry| entry.ms);
        let ended = windows(&mut of_means.chain(self.histograms.iter().map(|line| line.ms)));
        let began = self.together_ms.and(self.began_ms());
        // The last window may be cut short.
        let end = began.zip(self.together_ms).map(|(began, together)| began + together + 0.5 * self.window_ms);
        let mut room = MOST_SILENT_WINDOWS;
        for (job, mut lines) in of_jobs {
            lines.extend(began.map(|began| (began, None)));
            lines.sort_by(|one, other| one.0.total_cmp(&other.0));
            let last = lines.last().map(|last| last.0);
            lines.extend(end.filter(|end| last.is_some_and(|last| last < *end)).map(|end| (end, None)));
            for pair in lines.windows(2) {
                let [(before, earlier), (after, mean)] = [pair[0], pair[1]];
                // Stamps drift, so a window may be stepped over; the next line is its mean too, or the one before the end.
                let is_next = after - before < 1.5 * self.window_ms;
                let silent = self.window(before, first).saturating_add(1)..self.window(after, first);
                for window in silent.take(MOST_SILENT_WINDOWS) {
                    let nothing_ended = !is_next && (counted.contains(&window) || !ended.contains(&window));
                    let at_the_end = || match earlier.filter(|_| is_next) {
                        _ if window >= last_counted => ended_in(job, window),
                        mean => mean.or(Some(0.0)),
                    };
                    if let Some(value) = if nothing_ended { Some(0.0) } else { mean.or_else(at_the_end) } {
                        if !sums.contains_key(&window) {
                            if room == 0 {
                                break;
                            }
                            room -= 1;
                        }
                        let sum = sums.entry(window).or_insert((0.0, 0));
                        *sum = (sum.0 + value, sum.1 + 1);
                    }
                }
            }
        }
    }

    /// Operations per second of a job in a window, from its histograms; `None` where they are not as fine as the windows.
    fn iops_of(&self, job: u32, direction: u8, window: i64, first: f64) -> Option<f64> {
        let belongs = |line: &&Counted| {
            (line.job, line.direction) == (Some(job), direction) && self.window(line.ms, first) == window
        };
        let ended: f64 = self.histograms.iter().filter(belongs).map(|line| line.histogram.operations()).sum();
        (self.histogram_window_ms <= self.window_ms && !self.histograms.is_empty())
            .then(|| ended * 1000.0 / self.window_ms)
    }

    /// The window in which a line was written.
    fn window(&self, ms: f64, first: f64) -> i64 {
        ((ms - first) / self.window_ms).round() as i64
    }

    /// Percentiles of each window, both directions together, and the mean of each direction where no log of means has it, from the
    /// histograms of all jobs.
    fn latencies(&self, lun: Option<u32>) -> Vec<Moment> {
        let Some(first) = self.histograms.iter().map(|line| line.ms).reduce(f64::min) else { return Vec::new() };
        let mut windows: BTreeMap<i64, BTreeMap<u8, Histogram>> = BTreeMap::new();
        for line in self.histograms.iter().filter(|line| lun.is_none() || line.lun == lun) {
            let window = ((line.ms - first) / self.histogram_window_ms).round() as i64;
            windows.entry(window).or_default().entry(line.direction).or_default().add(&line.histogram);
        }
        let moment = |(window, by_direction): (i64, BTreeMap<u8, Histogram>)| {
            let mut together = Histogram::default();
            by_direction.values().for_each(|histogram| together.add(histogram));
            let mut values: BTreeMap<_, _> =
                together.figures().map(|(name, value)| (format!("{}{name}", of_lun(lun)), value)).collect();
            if self.latency.is_empty() {
                let mean = |(direction, prefix): (u8, String)| {
                    Some((format!("{prefix}latency_mean_ns"), by_direction.get(&direction)?.mean()?))
                };
                values.extend(self.prefixes(lun).filter_map(mean));
            }
            (window as f64 * self.histogram_window_ms + first, values)
        };
        windows.into_iter().map(moment).filter(|(_, values): &Moment| !values.is_empty()).collect()
    }
}

/// The number of the job whose log has this name.
fn job(name: &str) -> Option<u32> {
    name.strip_suffix(".log")?.rsplit_once('.')?.1.parse().ok()
}

fn of_lun(lun: Option<u32>) -> String {
    lun.map(|lun| format!("lun{lun}.")).unwrap_or_default()
}

/// `time, value, direction, block size, offset`, and newer versions add more.
fn parse(text: &str, name: &str, lun: Option<u32>, job: Option<u32>) -> Result<Vec<Entry>, Cause> {
    let entry = |line: &str| {
        let mut fields = line.split(',').map(str::trim);
        let (ms, value, direction) = (fields.next()?, fields.next()?, fields.next()?);
        let (ms, value) = (ms.parse::<u64>().ok()? as f64, value.parse::<u64>().ok()? as f64);
        Some(Entry { ms, value, direction: direction.parse().ok()?, lun, job })
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let unknown = |line| Cause::ToolLine { output: format!("fio's {name} log"), said: quote(line) };
    lines.map(|line| entry(line).ok_or_else(|| unknown(line))).collect()
}
