//! fio's report: JSON, in which fio also writes messages for people.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use stend_model::wire::quote;

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
    jobname: String,
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
    mean: f64,
    #[serde(rename = "N")]
    count: f64,
    /// By percentile, as text: `"99.000000"`.
    percentile: BTreeMap<String, f64>,
    /// Counts by nanoseconds, as text; only in json+.
    bins: BTreeMap<String, f64>,
}

impl Output {
    /// Reads a report. With `status-interval` fio writes several documents one after the other: the last one with jobs counts.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let is_message = |line: &str| line.starts_with("fio: ") || line.starts_with("fio-");
        let mut messages: Vec<String> = text.lines().filter(|line| is_message(line)).map(str::to_owned).collect();
        let json: Vec<&str> = text.lines().filter(|line| !is_message(line)).collect();
        let start = json.iter().position(|line| line.starts_with('{')).unwrap_or(json.len());
        messages.extend(json[..start].iter().filter(|line| !line.trim().is_empty()).map(|line| (*line).to_owned()));
        let json = json[start..].join("\n");

        let mut found = None;
        for document in serde_json::Deserializer::from_str(&json).into_iter::<Value>() {
            // A truncated document fails the repeat also where complete ones come before it: those are interim reports.
            let document = document.map_err(|error| {
                let line = json.lines().nth(error.line().saturating_sub(1)).unwrap_or_default();
                format!(
                    "fio's report is no complete JSON ({error}){}",
                    if line.is_empty() { String::new() } else { format!(": {}", quote(line)) }
                )
            })?;
            if document.get("jobs").is_some() {
                found = Some(document);
            }
        }
        let Some(found) = found else {
            let said = messages.last().map_or_else(String::new, |line| format!(": {}", quote(line)));
            return Err(format!("fio wrote no report{said}"));
        };
        let document: Document =
            serde_json::from_value(found).map_err(|error| format!("fio's report is not as expected: {error}"))?;
        Ok(Self { version: document.version, written_ms: document.timestamp_ms, groups: document.jobs, messages })
    }

    /// The one group that the adapter's job files make. The error is what a job failed of.
    pub(super) fn group(&self) -> Result<&Group, String> {
        let failed = self.groups.iter().find(|group| group.error != 0 || group.total_err != 0.0);
        match (failed, self.groups.as_slice()) {
            (Some(group), _) => {
                let said = self.messages.iter().rev().find(|line| line.contains("error=")).or(self.messages.last());
                let said = said.map_or_else(String::new, |line| format!(": {}", quote(line)));
                let errors =
                    if group.total_err > 0.0 { format!(", {} errors", group.total_err) } else { String::new() };
                Err(format!("fio's job \"{}\" failed with error {}{errors}{said}", group.jobname, group.error))
            }
            (None, [group]) => Ok(group),
            (None, groups) => Err(format!("fio's report has {} groups of jobs instead of one", groups.len())),
        }
    }
}

/// The latencies of one direction, or of both together, in nanoseconds. What fio did not report is left out.
pub(super) fn latencies(directions: &[&Direction]) -> BTreeMap<String, f64> {
    let mut observed = BTreeMap::new();
    let total: f64 = directions.iter().map(|direction| direction.lat_ns.count).sum();
    if total > 0.0 {
        let sum: f64 = directions.iter().map(|direction| direction.lat_ns.mean * direction.lat_ns.count).sum();
        observed.insert("latency_mean_ns".into(), sum / total);
        let max = directions.iter().map(|direction| direction.clat_ns.max).fold(0.0, f64::max);
        observed.insert("latency_max_ns".into(), max);
    }
    for (name, percent) in [("latency_p50_ns", 50.0), ("latency_p99_ns", 99.0), ("latency_p999_ns", 99.9)] {
        let value = match directions {
            [direction] => direction.clat_ns.percentile.get(&format!("{percent:.6}")).copied(),
            _ => percentile_of_bins(directions, percent),
        };
        observed.extend(value.map(|value| (name.to_owned(), value)));
    }
    observed
}

/// A percentile of several histograms together: percentiles themselves cannot be put together.
fn percentile_of_bins(directions: &[&Direction], percent: f64) -> Option<f64> {
    let mut bins: Vec<(f64, f64)> = directions
        .iter()
        .flat_map(|direction| &direction.clat_ns.bins)
        .filter_map(|(nanoseconds, count)| Some((nanoseconds.parse::<f64>().ok()?, *count)))
        .collect();
    bins.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted = bins.iter().map(|bin| bin.1).sum::<f64>() * percent / 100.0;
    let mut below = 0.0;
    let reached = bins.into_iter().find(|(_, count)| {
        below += count;
        below >= wanted
    });
    reached.map(|(nanoseconds, _)| nanoseconds)
}
