//! Latencies of the operations of a repeat, counted, as an instrument sends them; read, checked and put together.

use std::collections::BTreeSet;
use std::fmt;

use schemars::JsonSchema;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use stend_stats::{Latencies, NotAHistogram};
use thiserror::Error;

use crate::run::Repeat;
use crate::wire::Report;

/// How many operations took how long, kept as it came.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum LatencyCounts {
    /// Pairs `[nanoseconds, how many]`, in any order; the same time may come twice.
    Pairs(Vec<(u64, u64)>),
    /// A compressed HdrHistogram of nanoseconds (version 2) in base 64, as its libraries write it: `HISTFAAA…`.
    Histogram(String),
}

impl<'de> Deserialize<'de> for LatencyCounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = LatencyCounts;

            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("pairs [nanoseconds, how many], or a compressed HdrHistogram as text")
            }

            fn visit_str<E>(self, text: &str) -> Result<LatencyCounts, E> {
                Ok(LatencyCounts::Histogram(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<LatencyCounts, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = sequence.next_element()? {
                    pairs.push(pair);
                }
                Ok(LatencyCounts::Pairs(pairs))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// Why latencies cannot be read, in one line.
#[derive(Debug, PartialEq, Error)]
pub enum LatencyError {
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
pub fn read(counts: &LatencyCounts) -> Result<Latencies, LatencyError> {
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
pub fn check(report: &Report) -> Result<(), LatencyError> {
    let of_report = |name: &String, why| LatencyError::OfReport { name: name.clone(), source: Box::new(why) };
    let broken = |(name, counts)| read(counts).err().map(|why| of_report(name, why));
    report.latencies.iter().find_map(broken).map_or(Ok(()), Err)
}

/// The names under which some of these repeats have latencies, in order.
pub fn names<'a>(repeats: impl IntoIterator<Item = &'a Repeat>) -> BTreeSet<&'a str> {
    let reports = repeats.into_iter().filter_map(|repeat| repeat.report.as_ref());
    reports.flat_map(|report| report.latencies.keys().map(String::as_str)).collect()
}

/// The latencies of several repeats under one name, put together.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// All of them.
    pub latencies: Latencies,
    /// How many repeats they are of.
    pub repeats: usize,
}

/// Puts together what the repeats that count have under this name; `None` if none of them has latencies.
///
/// # Errors
/// Those of a repeat cannot be read.
pub fn merged<'a>(repeats: impl IntoIterator<Item = &'a Repeat>, name: &str) -> Result<Option<Merged>, LatencyError> {
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
