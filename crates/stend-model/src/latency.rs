//! Latencies of the operations of a repeat, counted, as an instrument sends them.

use std::fmt;

use schemars::JsonSchema;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

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
