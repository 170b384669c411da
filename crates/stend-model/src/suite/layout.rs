//! How a table of figures is laid out: what goes down, and what goes across.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Scenario;
use super::error::quoted;

/// What goes down and what goes across.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Layout {
    /// What there is a line for: `scenario` (the default), `metric`, an axis of a matrix, or several of them: `depth,jobs`.
    #[serde(default = "scenario")]
    pub row: Keys,
    /// What there is a column for: `run` (the default; only with `row = "scenario"` or `"scenario,metric"`), `metric`, `scenario`, an axis of
    /// a matrix, or several of them but for `run`.
    #[serde(default = "run")]
    pub column: Keys,
    /// The metrics that are shown unless all are asked for, in this order. Default: all where `metric` goes down or across, else each
    /// scenario's main one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<String>,
}

fn scenario() -> Keys {
    Key::Scenario.into()
}

fn run() -> Keys {
    Key::Run.into()
}

/// What figures are told apart by: one key, or several together, the first of which orders them first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys(Vec<Key>);

/// What figures are told apart by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Key {
    /// The scenario.
    Scenario,
    /// The metric.
    Metric,
    /// The run, or the published machine.
    Run,
    /// The value on an axis of a matrix.
    Axis(String),
}

/// A layout that makes no table.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// There is nothing before or behind a comma.
    #[error("{name} \"{keys}\": a key is missing; write one, or several as in depth,jobs")]
    KeyMissing {
        /// `row` or `column`.
        name: &'static str,
        /// What it has.
        keys: Keys,
    },
    /// A key goes twice in one direction.
    #[error("{name} \"{keys}\" has \"{key}\" twice")]
    Twice {
        /// `row` or `column`.
        name: &'static str,
        /// What it has.
        keys: Keys,
        /// What it has twice.
        key: Key,
    },
    /// A key goes both down and across.
    #[error("both row and column have \"{0}\"; they must differ")]
    Both(Key),
    /// Runs have columns that they cannot have.
    #[error(
        "runs can only be columns, alone, of a table with row \"scenario\" or \"scenario,metric\"; elsewhere each cell has \
         all runs"
    )]
    Runs,
    /// There is no such axis.
    #[error("there is no axis \"{axis}\"; there are: scenario, metric, run{}", behind_commas(.known))]
    NoAxis {
        /// What was asked for.
        axis: String,
        /// The axes that there are.
        known: Vec<String>,
    },
    /// No scenario has a place on all of these axes.
    #[error("no matrix has all of the axes {}", quoted(.0))]
    NoMatrix(Vec<String>),
    /// There is no such metric.
    #[error("no scenario has a metric \"{metric}\"; there are: {}", .known.join(", "))]
    NoMetric {
        /// What was asked for.
        metric: String,
        /// The metrics that there are.
        known: Vec<String>,
    },
}

impl Keys {
    /// One after the other.
    pub fn iter(&self) -> impl Iterator<Item = &Key> + Clone {
        self.0.iter()
    }

    /// Whether this key is one of them.
    pub fn contains(&self, key: &Key) -> bool {
        self.0.contains(key)
    }

    /// Whether there are axes only.
    pub fn are_axes(&self) -> bool {
        self.iter().all(|key| matches!(key, Key::Axis(_)))
    }

    /// Whether these lines may have a column for each run: those of scenarios, or of their metrics. Elsewhere each cell has all runs.
    pub fn take_runs(&self) -> bool {
        matches!(self.0[..], [Key::Scenario] | [Key::Scenario, Key::Metric])
    }

    fn check(&self, name: &'static str) -> Result<(), LayoutError> {
        if self.contains(&Key::Axis(String::new())) {
            return Err(LayoutError::KeyMissing { name, keys: self.clone() });
        }
        let twice = self.iter().enumerate().find(|(place, key)| self.0[..*place].contains(key));
        twice.map_or(Ok(()), |(_, key)| Err(LayoutError::Twice { name, keys: self.clone(), key: key.clone() }))
    }
}

impl From<Key> for Keys {
    fn from(key: Key) -> Self {
        Self(vec![key])
    }
}

impl Layout {
    /// Whether it is the table with a line for each scenario, or each of its metrics, and a column for each run.
    pub fn is_plain(&self) -> bool {
        self.column.contains(&Key::Run)
    }

    /// Whether metrics have lines or columns of their own.
    pub fn spreads_metrics(&self) -> bool {
        self.lays_out(&Key::Metric)
    }

    /// Whether this key goes down or across.
    pub fn lays_out(&self, key: &Key) -> bool {
        self.row.contains(key) || self.column.contains(key)
    }

    /// Checks that the two go together, and that these scenarios have such axes and metrics.
    ///
    /// # Errors
    /// What is wrong, and what would be right.
    pub fn check(&self, scenarios: &[&Scenario]) -> Result<(), LayoutError> {
        self.row.check("row")?;
        self.column.check("column")?;
        if let Some(both) = self.row.iter().find(|key| self.column.contains(key)) {
            return Err(LayoutError::Both(both.clone()));
        }
        let is_run = self.column == Key::Run.into();
        if self.row.contains(&Key::Run) || (self.is_plain() && !(is_run && self.row.take_runs())) {
            return Err(LayoutError::Runs);
        }
        let families = || scenarios.iter().filter_map(|scenario| scenario.family.as_ref());
        let axes: Vec<&String> = self
            .row
            .iter()
            .chain(self.column.iter())
            .filter_map(|key| if let Key::Axis(axis) = key { Some(axis) } else { None })
            .collect();
        for axis in &axes {
            if !families().any(|family| family.point.contains_key(*axis)) {
                let known = distinct(families().flat_map(|family| family.point.keys()));
                return Err(LayoutError::NoAxis { axis: (*axis).clone(), known });
            }
        }
        if axes.len() > 1 && !families().any(|family| axes.iter().all(|axis| family.point.contains_key(*axis))) {
            return Err(LayoutError::NoMatrix(axes.into_iter().cloned().collect()));
        }
        for metric in &self.metrics {
            if !scenarios.iter().any(|scenario| scenario.metric(metric).is_some()) {
                let metrics = scenarios.iter().flat_map(|scenario| scenario.metrics.iter().map(|metric| &metric.name));
                return Err(LayoutError::NoMetric { metric: metric.clone(), known: distinct(metrics) });
            }
        }
        Ok(())
    }
}

fn behind_commas(names: &[String]) -> String {
    names.iter().map(|name| format!(", {name}")).collect()
}

/// Each name once, in order.
fn distinct<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut seen: Vec<String> = Vec::new();
    for name in names {
        if !seen.contains(name) {
            seen.push(name.clone());
        }
    }
    seen
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scenario => "scenario",
            Self::Metric => "metric",
            Self::Run => "run",
            Self::Axis(name) => name,
        })
    }
}

impl FromStr for Key {
    type Err = std::convert::Infallible;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text {
            "scenario" => Self::Scenario,
            "metric" => Self::Metric,
            "run" => Self::Run,
            axis => Self::Axis(axis.into()),
        })
    }
}

impl fmt::Display for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.iter().map(Key::to_string).collect();
        f.write_str(&names.join(","))
    }
}

impl FromStr for Keys {
    type Err = std::convert::Infallible;
    /// Any text is read; [`Layout::check`] says what of it makes no sense.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self(text.split(',').map(|key| key.trim().parse()).collect::<Result<_, _>>()?))
    }
}

impl Serialize for Keys {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Keys {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Keys".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let description = "scenario, metric, run, the name of an axis, or several of them with commas between";
        schemars::json_schema!({ "type": "string", "description": description })
    }
}
