//! Latencies of operations as distributions: what instruments counted, read, checked and put together.

use std::collections::BTreeSet;

use stend_model::latency::LatencyCounts;
use stend_model::run::Repeat;
use stend_model::wire::Report;
use stend_stats::{Latencies, NotAHistogram};
use thiserror::Error;

/// Why latencies cannot be read, in one line.
#[derive(Debug, PartialEq, Error)]
pub(crate) enum LatencyError {
    /// The text of a histogram is none.
    #[error(transparent)]
    Histogram(#[from] NotAHistogram),
    /// There are more than can be counted.
    #[error("it counts more than 2⁶⁴ − 1 latencies")]
    TooMany,
    /// Those of a report under one name.
    #[error("the latencies \"{name}\" cannot be read: {source}")]
    OfReport {
        /// The name.
        name: String,
        /// Why not.
        source: Box<LatencyError>,
    },
    /// Those of a repeat under one name.
    #[error("the latencies \"{name}\" of repeat {sequence} cannot be read: {source}")]
    OfRepeat {
        /// The name.
        name: String,
        /// The repeat.
        sequence: u32,
        /// Why not.
        source: Box<LatencyError>,
    },
}

/// What an instrument counted, as a histogram.
///
/// # Errors
/// It cannot be read.
pub(crate) fn read(counts: &LatencyCounts) -> Result<Latencies, LatencyError> {
    match counts {
        LatencyCounts::Histogram(text) => Ok(Latencies::from_text(text)?),
        LatencyCounts::Pairs(pairs) => {
            let mut latencies = Latencies::default();
            let fits = pairs.iter().all(|(ns, count)| latencies.record(*ns, *count));
            if fits { Ok(latencies) } else { Err(LatencyError::TooMany) }
        }
    }
}

/// Whether all latencies of a report can be read.
///
/// # Errors
/// Which cannot, and why.
pub(crate) fn check(report: &Report) -> Result<(), LatencyError> {
    let of_report = |name: &String, why| LatencyError::OfReport { name: name.clone(), source: Box::new(why) };
    let broken = |(name, counts)| read(counts).err().map(|why| of_report(name, why));
    report.latencies.iter().find_map(broken).map_or(Ok(()), Err)
}

/// The names under which some of these repeats have latencies, in order.
pub(crate) fn names<'a>(repeats: impl IntoIterator<Item = &'a Repeat>) -> BTreeSet<&'a str> {
    let reports = repeats.into_iter().filter_map(|repeat| repeat.report.as_ref());
    reports.flat_map(|report| report.latencies.keys().map(String::as_str)).collect()
}

/// The latencies of several repeats under one name, put together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Merged {
    pub(crate) latencies: Latencies,
    /// How many repeats they are of.
    pub(crate) repeats: usize,
}

/// Puts together what the repeats that count have under this name; `None` if none of them has latencies.
///
/// # Errors
/// Those of a repeat cannot be read.
pub(crate) fn merged<'a>(
    repeats: impl IntoIterator<Item = &'a Repeat>,
    name: &str,
) -> Result<Option<Merged>, LatencyError> {
    let mut all = Vec::new();
    for repeat in repeats.into_iter().filter(|repeat| repeat.counts()) {
        let Some(counts) = repeat.report.as_ref().and_then(|report| report.latencies.get(name)) else { continue };
        let sequence = repeat.sequence;
        let of_repeat = |why| LatencyError::OfRepeat { name: name.into(), sequence, source: Box::new(why) };
        all.push(read(counts).map_err(of_repeat)?);
    }
    let merged = Merged { latencies: Latencies::merged(&all), repeats: all.len() };
    Ok((merged.latencies.count() > 0).then_some(merged))
}
