//! The latencies of a scenario's operations: of all runs that counted them, under each name.

use anyhow::{Context as _, Result};
use stend_model::run::Repeat;

use crate::latency::{merged, names};
use crate::report::latency::{LatencyView, OfRun, latency_view};

/// The repeats of a scenario in one run.
pub(super) struct RepeatsOfRun<'a> {
    /// The run's id.
    pub(super) run: &'a str,
    /// What it is called over its column.
    pub(super) title: String,
    pub(super) repeats: Vec<&'a Repeat>,
}

/// The drawings of each name that some run has.
///
/// # Errors
/// What some repeat counted cannot be read.
pub(super) fn latencies(runs: &[RepeatsOfRun], anchor: usize) -> Result<Vec<LatencyView>> {
    let mut views = Vec::new();
    for (place, name) in names(runs.iter().flat_map(|run| run.repeats.iter().copied())).into_iter().enumerate() {
        let mut of_runs = Vec::new();
        for run in runs {
            let found = merged(run.repeats.iter().copied(), name).map_err(anyhow::Error::msg);
            let found = found.with_context(|| format!("run {} is damaged", run.run))?;
            of_runs.extend(found.map(|merged| OfRun { title: run.title.clone(), merged }));
        }
        views.extend(latency_view(name, &of_runs, format!("l{anchor}-{place}")));
    }
    Ok(views)
}
