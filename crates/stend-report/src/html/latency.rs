//! The latencies of a scenario's operations: of all runs that counted them, under each name.

use anyhow::{Context as _, Result};
use stend_model::metric::Metric;
use stend_model::run::Repeat;
use stend_model::suite::Scenario;

use super::RunData;
use crate::latency::{LatencyView, OfRun, latency_view};
use stend_model::latency::{merged, names};

/// The repeats of a scenario in one run.
pub(super) struct RepeatsOfRun<'a> {
    pub(super) data: &'a RunData<'a>,
    /// The scenario as that run has it.
    pub(super) scenario: &'a Scenario,
    /// What it is called over its column.
    pub(super) title: String,
    pub(super) repeats: Vec<&'a Repeat>,
}

/// The latencies of one name, and whose they are.
pub(super) struct NamedLatencies {
    pub(super) view: LatencyView,
    /// The names of the metrics that are taken of them, as JSON: a click on a figure of theirs leads here.
    pub(super) metrics: String,
}

/// The drawings of each name that some run has.
///
/// # Errors
/// What some repeat counted cannot be read.
pub(super) fn latencies(runs: &[RepeatsOfRun], metrics: &[Metric], anchor: usize) -> Result<Vec<NamedLatencies>> {
    let mut views = Vec::new();
    for (place, name) in names(runs.iter().flat_map(|run| run.repeats.iter().copied())).into_iter().enumerate() {
        let mut of_runs = Vec::new();
        for run in runs {
            let found = merged(run.repeats.iter().copied(), name).map_err(anyhow::Error::msg);
            let found = found.with_context(|| format!("run {} is damaged", run.data.run.id))?;
            of_runs.extend(found.map(|merged| OfRun { title: run.title.clone(), merged }));
        }
        let Some(view) = latency_view(name, &of_runs, format!("l{anchor}-{place}")) else { continue };
        let is_of_it =
            |metric: &&Metric| metric.value.to_string().strip_prefix(name).is_some_and(|rest| rest.starts_with('_'));
        let of_it: Vec<&str> = metrics.iter().filter(is_of_it).map(|metric| metric.name.as_str()).collect();
        views.push(NamedLatencies { view, metrics: serde_json::to_string(&of_it)? });
    }
    Ok(views)
}
