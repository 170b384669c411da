//! fio's report: what is needed of it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use stend_model::cause::Cause;
use stend_model::checked::Checked;
use stend_model::latency::LatencyCounts;
use stend_model::wire::quote;
use stend_stats::Latencies;

use super::json::{Parts, separate};
use super::{EXPECTED, RECEIVED, mark};
use crate::Finished;

/// What is needed of a report.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Output {
    /// fio's version: `fio-3.33`.
    pub(super) version: String,
    /// When the report was written, in milliseconds of Unix time; 0 if it does not say.
    pub(super) written_ms: f64,
    /// Groups of jobs.
    groups: Vec<Group>,
    /// Lines that are no JSON.
    messages: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Document {
    #[serde(rename = "fio version")]
    version: String,
    timestamp_ms: f64,
    jobs: Vec<Group>,
}

/// Jobs that fio reports together.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub(super) struct Group {
    /// The first job's name.
    pub(super) jobname: String,
    /// An `errno`, or 0.
    error: i64,
    /// Errors that fio went on after, with `continue_on_error`.
    total_err: f64,
    /// Sum of the jobs' run times, in milliseconds.
    pub(super) job_runtime: f64,
    /// CPU time in user mode, in percent of `job_runtime`.
    pub(super) usr_cpu: f64,
    /// CPU time in the kernel, in percent of `job_runtime`.
    pub(super) sys_cpu: f64,
    /// What was read.
    pub(super) read: Direction,
    /// What was written.
    pub(super) write: Direction,
    /// What was discarded.
    pub(super) trim: Direction,
}

/// One direction of the data.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
pub(super) struct Direction {
    /// Bytes moved.
    pub(super) io_bytes: f64,
    /// Operations completed.
    pub(super) total_ios: f64,
    /// Operations that moved fewer bytes than asked.
    pub(super) short_ios: f64,
    /// Operations that were dropped.
    pub(super) drop_ios: f64,
    /// Run time in milliseconds.
    pub(super) runtime: f64,
    /// Latency of the completion.
    clat_ns: Latency,
    /// Latency from submission to completion.
    lat_ns: Latency,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
struct Latency {
    max: f64,
    mean: Option<f64>,
    #[serde(rename = "N")]
    count: f64,
    /// By percentile, as text: `"99.000000"`.
    percentile: BTreeMap<String, f64>,
    /// Counts by nanoseconds, as text; only in json+.
    bins: BTreeMap<String, f64>,
}

/// What `errno` is after a verification that failed: `EILSEQ`.
const VERIFICATION_FAILED: i64 = 84;

impl Output {
    /// Reads a report. With `status-interval` fio writes several documents one after the other: the last one with jobs counts.
    pub(super) fn parse(text: &str) -> Result<Self, Cause> {
        let Parts { documents, messages } = separate(text)?;
        let Some(mut found) = documents.into_iter().rev().find(|document| document.get("jobs").is_some()) else {
            let said = messages.last().map(|line| quote(line)).unwrap_or_default();
            return Err(Cause::FioReportMissing { said });
        };
        without_nulls(&mut found);
        let document: Document =
            serde_json::from_value(found).map_err(|error| Cause::FioReportOther { error: error.to_string() })?;
        Ok(Self { version: document.version, written_ms: document.timestamp_ms, groups: document.jobs, messages })
    }

    /// Takes errors of the jobs for what was to come.
    pub(super) fn forgive(&mut self) {
        for group in &mut self.groups {
            (group.error, group.total_err) = (0, 0.0);
        }
    }

    /// The groups of jobs that the report has. The error is what a job failed of; a failed verification is no such error, because
    /// then the load was applied and its work is known to be wrong.
    pub(super) fn groups(&self) -> Result<&[Group], Cause> {
        let is_bad = |group: &&Group| group.error != 0 || group.total_err != 0.0;
        let failed = self.groups.iter().filter(is_bad).find(|group| group.error != VERIFICATION_FAILED);
        let Some(group) = failed else { return Ok(&self.groups) };
        let said = self.messages.iter().find(|line| line.contains("error=")).or(self.messages.first());
        let said = said.map(|line| quote(line)).unwrap_or_default();
        let (job, error, errors) = (group.jobname.clone(), group.error, group.total_err);
        Err(Cause::FioJobFailed { job, error, errors, said })
    }

    /// What a failed verification found, if one failed.
    pub(super) fn wrong_data(&self, finished: &Finished) -> Option<Vec<Checked>> {
        let group = self.groups.iter().find(|group| group.error == VERIFICATION_FAILED)?;
        let said = finished.stderr.lines().chain(self.messages.iter().map(String::as_str));
        let said = said.filter(|line| line.contains("verify") || line.contains("bad ")).map(str::trim).next();
        let wrong = Checked::DataWrong { job: group.jobname.clone(), said: said.map(quote).unwrap_or_default() };
        Some(std::iter::once(wrong).chain(what_stands(finished)).collect())
    }
}

/// What stands where something else was to stand, as far as fio kept it.
fn what_stands(finished: &Finished) -> Vec<Checked> {
    const SHOWN: usize = 2;
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let files: BTreeMap<_, _> = finished.files.iter().map(|(path, contents)| (name(path), contents)).collect();
    let told = files.iter().filter_map(|(name, found)| {
        let place = name.strip_prefix(RECEIVED)?;
        let (file, offset) = place.rsplit_once('.')?;
        let wanted = files.get(&format!("{EXPECTED}{place}"))?;
        let what = mark::what_stands(found, wanted);
        Some(Checked::Stands { file: file.to_owned(), offset: offset.parse().ok()?, what })
    });
    let mut told: Vec<_> = told.collect();
    let more = told.len().saturating_sub(SHOWN);
    told.truncate(SHOWN);
    told.extend((more > 0).then_some(Checked::MoreStand { places: more }));
    told
}

/// A value that is no number is as one that is not there.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(without_nulls);
        }
        Value::Array(list) => list.iter_mut().for_each(without_nulls),
        _ => {}
    }
}

impl Direction {
    /// What an engine did that opens, deletes or asks for files: as many operations as it measured. fio counts as if they moved data.
    pub(super) fn count_names(&mut self) {
        self.total_ios = self.clat_ns.count;
        self.io_bytes = 0.0;
    }

    /// What several groups did in one direction, as if they were one.
    pub(super) fn together<'a>(all: impl Iterator<Item = &'a Self>) -> Self {
        let mut sum = Self::default();
        for (place, one) in all.enumerate() {
            sum.io_bytes += one.io_bytes;
            sum.total_ios += one.total_ios;
            sum.short_ios += one.short_ios;
            sum.drop_ios += one.drop_ios;
            sum.runtime = sum.runtime.max(one.runtime);
            sum.clat_ns.add(&one.clat_ns, place == 0);
            sum.lat_ns.add(&one.lat_ns, place == 0);
        }
        sum
    }
}

impl Latency {
    fn add(&mut self, other: &Self, first: bool) {
        let (count, mean) = (self.count + other.count, |of: &Self| of.mean.unwrap_or(0.0) * of.count);
        let known = (self.count == 0.0 || self.mean.is_some()) && other.mean.is_some();
        if other.count > 0.0 {
            self.mean = known.then(|| (mean(self) + mean(other)) / count);
        }
        self.max = self.max.max(other.max);
        self.count = count;
        for (bin, count) in &other.bins {
            *self.bins.entry(bin.clone()).or_default() += count;
        }
        // Percentiles cannot be put together; the bins can.
        self.percentile = if first { other.percentile.clone() } else { BTreeMap::new() };
    }
}

/// The latencies of one direction, or of both together, in nanoseconds. What fio did not report is left out.
pub(super) fn latencies(directions: &[&Direction]) -> BTreeMap<String, f64> {
    let mut observed = BTreeMap::new();
    let total: f64 = directions.iter().map(|direction| direction.lat_ns.count).sum();
    let max = directions.iter().map(|direction| direction.clat_ns.max).fold(0.0, f64::max);
    if total > 0.0 {
        let counted = directions.iter().filter(|direction| direction.lat_ns.count > 0.0);
        let sums = counted.map(|direction| direction.lat_ns.mean.map(|mean| mean * direction.lat_ns.count));
        let mean = sums.sum::<Option<f64>>().map(|sum| sum / total);
        observed.extend(mean.map(|mean| ("latency_mean_ns".into(), mean)));
        observed.insert("latency_max_ns".into(), max);
    }
    for (name, percent) in [("latency_p50_ns", 50.0), ("latency_p99_ns", 99.0), ("latency_p999_ns", 99.9)] {
        let value = match directions {
            [direction] if !direction.clat_ns.percentile.is_empty() => {
                direction.clat_ns.percentile.get(&format!("{percent:.6}")).copied()
            }
            _ => percentile_of_bins(directions, percent),
        };
        observed.extend(value.map(|value| (name.to_owned(), value)));
    }
    observed
}

/// How many operations took how long to complete (`clat`, as the percentiles): of all directions together as `latency`, and of each where
/// there are several. Nothing where fio kept no histogram of some direction.
pub(super) fn histograms(directions: &[(&str, Direction)]) -> BTreeMap<String, LatencyCounts> {
    let each = directions.iter().map(|(name, direction)| (format!("{name}_latency"), counted(direction)));
    let each: Vec<_> = each.filter_map(|(name, counts)| Some((name, counts?))).collect();
    if each.len() != directions.len() {
        return BTreeMap::new();
    }
    let all = Latencies::merged(each.iter().map(|(_, counts)| counts));
    let of_each = each.iter().filter(|_| directions.len() > 1).map(|(name, counts)| (name.as_str(), counts));
    let named = of_each.chain([("latency", &all)]);
    named.map(|(name, counts)| (name.to_owned(), LatencyCounts::Histogram(counts.to_text()))).collect()
}

/// The bins of one direction; `None` if there are none.
fn counted(direction: &Direction) -> Option<Latencies> {
    let mut latencies = Latencies::default();
    let within = bins(direction).all(|(nanoseconds, count)| latencies.record(nanoseconds as u64, count as u64));
    (within && latencies.count() > 0).then_some(latencies)
}

/// Nanoseconds with their counts.
fn bins(direction: &Direction) -> impl Iterator<Item = (f64, f64)> {
    let bins = direction.clat_ns.bins.iter();
    bins.filter_map(|(nanoseconds, count)| Some((nanoseconds.parse().ok()?, *count)))
}

/// A percentile of several histograms together: percentiles themselves cannot be put together.
fn percentile_of_bins(directions: &[&Direction], percent: f64) -> Option<f64> {
    let mut bins: Vec<(f64, f64)> = directions.iter().copied().flat_map(bins).collect();
    bins.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = bins.iter().map(|bin| bin.1).sum::<f64>() * percent / 100.0;
    let mut below = 0.0;
    let reached = bins.into_iter().find(|(_, count)| {
        below += count;
        below >= wanted
    });
    reached.map(|(nanoseconds, _)| nanoseconds)
}
