//! What narrows and turns a comparison, the same wherever runs stand beside one another.

use std::collections::BTreeSet;

use clap::Args;
use stend_model::metric::Unit;
use stend_model::reference::Reference;

use super::failure::Failure;
use super::output;
use crate::compare::are_comparable;
use crate::compare::filter::Filter;
use crate::compare::table::{Only, Table};
use crate::nearest;
use crate::store::{Record, Store};

#[derive(Debug, Args)]
pub(super) struct Shape {
    /// Which of what is compared is the base, if not the first
    #[arg(long, value_name = "RUN")]
    pub(super) baseline: Option<String>,
    /// Which figures are compared, such as `scenario:"4k*" -metric:"latency p99"`; see below
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    pub(super) filter: Option<String>,
    /// Compare only figures in this unit: B/s, ns, IOPS, cycles/B
    #[arg(long, value_name = "UNIT", value_parser = unit)]
    pub(super) unit: Option<Unit>,
    /// Show only rows with such a verdict. All are judged all the same, and counted
    #[arg(long, value_name = "VERDICT", hide_possible_values = false)]
    pub(super) only: Option<Only>,
}

/// What `--filter` takes, for the end of a command's help.
pub(super) const FILTER_HELP: &str = "A filter is KEY:VALUE, where KEY is scenario, family, metric, unit or an axis of a matrix. In VALUE, \
* stands for any characters and ? for one; what is in double quotes stands for itself. KEY:(A OR B) takes either. Such parts are \
joined by AND (or a space) and OR, turned round by - before them, and grouped by ( ). The correction for many comparisons is over \
what the filter takes, so choose it before looking at verdicts.";

fn unit(text: &str) -> Result<Unit, String> {
    let known = || Unit::ALL.map(Unit::symbol);
    text.parse().map_err(|_| {
        format!("unknown unit \"{text}\"{}; known are {}", nearest::hint(text, known()), known().join(", "))
    })
}

impl Shape {
    /// What is compared.
    pub(super) fn filter(&self) -> Result<Filter, Failure> {
        let filter = match &self.filter {
            Some(text) => Filter::parse(text).map_err(|error| Failure::usage(error.to_string()))?,
            None => Filter::default(),
        };
        Ok(self.unit.into_iter().fold(filter, Filter::and_unit))
    }

    /// The comparison of these, the base first; which rows are shown of it is not said yet.
    pub(super) fn table(
        &self,
        store: &Store,
        records: &[&Record],
        references: &[Reference],
        filter: &Filter,
    ) -> Result<Table, Failure> {
        if self.only.is_some() && records.len() < 2 {
            return Err(Failure::usage("--only takes two runs or more: one alone has no verdicts"));
        }
        if records.len() > 1
            && let Some(refusal) = refused_as_emulated(records)
        {
            return Err(Failure::usage(refusal));
        }
        filter.check(&records[0].run.suite.scenarios).map_err(|error| Failure::usage(error.to_string()))?;
        if records.len() > 1 && !has_common_scenario(records) {
            return Err(Failure::usage("these runs have no scenario in common; there is nothing to compare"));
        }
        let table = output::beside_one_another(store, records, references, filter)?;
        if table.rows.is_empty() && (self.filter.is_some() || self.unit.is_some()) {
            return Err(Failure::usage(nothing_taken(filter, records[0])));
        }
        Ok(table)
    }
}

/// Why nothing can be compared, where a run would stand beside itself. A range that begins with a run has more sessions than the run.
pub(super) fn refused_as_twice(records: &[&Record]) -> Option<String> {
    let mut seen = BTreeSet::new();
    let twice = records.iter().find(|record| !seen.insert((&record.run.id, record.sessions.len())))?;
    Some(format!("run {} is named twice; compare it with another one, or show it alone", twice.run.id))
}

/// Whether any of the others has a scenario of the base's.
fn has_common_scenario(records: &[&Record]) -> bool {
    let names = |record: &Record| -> BTreeSet<String> {
        record.run.suite.scenarios.iter().map(|scenario| scenario.name.clone()).collect()
    };
    let base = names(records[0]);
    records[1..].iter().any(|record| !base.is_disjoint(&names(record)))
}

/// What there would be, where a filter takes nothing.
fn nothing_taken(filter: &Filter, base: &Record) -> String {
    const SHOWN: usize = 5;
    let scenarios = &base.run.suite.scenarios;
    let listed = |names: BTreeSet<String>| {
        let more = names.len().saturating_sub(SHOWN);
        let shown = names.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
        if more > 0 { format!("{shown} and {more} more") } else { shown }
    };
    let metrics = || scenarios.iter().flat_map(|scenario| &scenario.metrics);
    format!(
        "the filter `{filter}` takes no figure of {}; scenarios: {}; metrics: {}; units: {}",
        base.run.id,
        listed(scenarios.iter().map(|scenario| format!("\"{}\"", scenario.name)).collect()),
        listed(metrics().map(|metric| format!("\"{}\"", metric.name)).collect()),
        listed(metrics().map(|metric| metric.unit.to_string()).collect())
    )
}

/// Why nothing can be compared, where no pair of the base and another run, or of one run and the publications, is left without an emulator.
pub(super) fn refused_as_emulated(records: &[&Record]) -> Option<String> {
    let base = records[0];
    let others = &records[1..];
    let left = if others.is_empty() {
        base.emulator().is_none()
    } else {
        others.iter().any(|other| are_comparable(base, other))
    };
    if left {
        return None;
    }
    let emulated = records.iter().find_map(|record| Some((record.run.id.as_str(), record.emulator()?)));
    let (id, emulator) = emulated?;
    let advice = if base.emulator().is_some() && others.iter().filter(|other| other.emulator().is_none()).count() > 1 {
        "; --baseline names a base that a processor made".to_owned()
    } else {
        format!("; `{} show {id}` shows it", output::program())
    };
    Some(format!(
        "emulated: not compared: run {id} was emulated by {emulator}: conformance only, its times tell of no machine{advice}"
    ))
}
