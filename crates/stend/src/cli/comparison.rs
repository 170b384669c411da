//! What stands beside what: the runs and references that a person names, and the table of them, the same for every command that compares.

mod names;

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use stend_model::metric::Unit;
use stend_model::nearest;
use stend_model::reference::Reference;
use stend_model::suite::{Key, Keys, Layout};

use super::Global;
use super::completions;
use super::failure::Failure;
use super::output;
use crate::catalogue;
use names::{Named, Names};
use stend_compare::filter::Filter;
use stend_compare::pool::{Pool, pools};
use stend_compare::table::{Column, ColumnOrigin, Note, Only, Table};
use stend_compare::weighing::{facts, weigh};
use stend_compare::{are_comparable, compare_what};
use stend_model::record::Record;
use stend_report::{self, csv, shell_words};
use stend_stand::hosts::Hosts;
use stend_store::Store;

/// What narrows and turns a comparison.
#[derive(Debug, Args)]
pub(super) struct Options {
    /// The suite from which machines and ranges select runs [default: that of the runs named, else the newest that all machines have finished runs
    /// of]
    #[arg(long, value_name = "NAME", add = completions::measured_suites())]
    suite: Option<String>,
    /// The base, if not the first run
    #[arg(long, value_name = "RUN", add = completions::comparable())]
    baseline: Option<String>,
    /// The figures to compare, such as `scenario:"4k*" -metric:"latency p99"`; see below
    #[arg(long, value_name = "EXPRESSION", allow_hyphen_values = true)]
    filter: Option<String>,
    /// Compare only figures in this unit: B/s, ns, IOPS, cycles/B
    #[arg(long, value_name = "UNIT", value_parser = unit)]
    unit: Option<Unit>,
    /// Show only rows with this verdict. Hidden rows are still judged and counted
    #[arg(long, value_name = "VERDICT", hide_possible_values = false)]
    only: Option<Only>,
    /// Keys of the rows: scenario, metric, an axis of a matrix, or several, as in depth,jobs [default: from the base's suite, else scenario]
    #[arg(long, value_name = "KEY[,KEY]")]
    row: Option<Keys>,
    /// Keys of the columns: run, or as with --row [default: from the base's suite, else a default for the rows]
    #[arg(long, value_name = "KEY[,KEY]")]
    column: Option<Keys>,
    /// Show all metrics, not only each scenario's main one; CSV, JSON and pages always have all
    #[arg(long)]
    pub(super) all_metrics: bool,
    /// A TOML file with power, prices and weights of machines, for figures per watt, price and kilogram; files in stend/machines/ of the user's configuration
    /// directory are always read. `docs/reference/compare.md` describes the format
    #[arg(long, value_name = "FILE")]
    machines: Vec<PathBuf>,
}

/// What is compared: the runs, the base first, and the references that were named.
pub(super) struct Chosen {
    pub(super) runs: Vec<Pool>,
    /// One run alone stands beside all there are.
    pub(super) references: Vec<Reference>,
    /// As they were named.
    words: Vec<String>,
    /// The same by names that go on meaning these runs: ids in place of `last`, of machines and of the ends of ranges.
    lasting: Vec<String>,
    /// The base, if it was named, likewise.
    baseline: Option<String>,
}

impl Chosen {
    pub(super) fn records(&self) -> Vec<&Record> {
        self.runs.iter().map(|pool| &pool.record).collect()
    }
}

/// What `--filter` takes, for the end of a command's help.
pub(super) const FILTER_HELP: &str = "A filter is KEY:VALUE, where KEY is scenario, family, metric, unit or an axis of a matrix. In VALUE, \
* matches any characters and ? one; text in double quotes is literal. KEY:(A OR B) matches either. Terms are joined by AND (or a \
space) and OR, negated by a leading -, and grouped by ( ). The correction for multiple comparisons covers only the figures that the \
filter selects, so choose it before looking at verdicts.";

/// What a range is, for the end of a command's help.
pub(super) const RANGE_HELP: &str = "Runs of a range without a recorded difference form one column, as sessions of one run; a change of machine, builds or work starts \
a new column. A machine's name and a range select only runs that are not of two sides. So do last \
and last~1 if more than one thing is named.";

fn unit(text: &str) -> Result<Unit, String> {
    let known = || Unit::ALL.map(Unit::symbol);
    text.parse().map_err(|_| {
        format!("unknown unit \"{text}\"{}; known are {}", nearest::hint(text, known()), known().join(", "))
    })
}

impl Options {
    /// What the words mean.
    pub(super) fn choose(&self, global: &Global, store: &Store, words: &[String]) -> Result<Chosen, Failure> {
        // What cannot be read is said before anything is looked up.
        self.filter()?;
        let all_references = catalogue::references();
        let hosts = Hosts::read(&global.store_directory()?).map_err(Failure::usage)?;
        let names = Names::new(store, &all_references, hosts, self.suite.as_deref(), words)?;
        let (mut runs, mut references, mut lasting) = (Vec::new(), Vec::new(), Vec::new());
        for word in words {
            match names.find(word)? {
                Named::Reference(reference) => {
                    lasting.push(reference.name.clone());
                    references.push(reference);
                }
                Named::Run(id) => {
                    runs.extend(output::load(store, &id)?.into_iter().map(Pool::from));
                    lasting.push(id);
                }
                Named::Range(ids) => {
                    // Between its first session and its last there are those of others.
                    lasting.push(if word.contains("..") { ends(&ids) } else { word.clone() });
                    let records: Result<Vec<Record>, _> = ids.iter().map(|id| store.load(id)).collect();
                    runs.extend(pools(records?));
                }
            }
        }
        names.check_suite(self.suite.as_deref(), words.iter().chain(&self.baseline))?;
        words.iter().for_each(|word| names.say_what_last_is(word));
        if runs.is_empty() {
            return Err(Failure::usage(
                "references cannot be compared with one another, nor shown alone: they are single numbers without samples; name a run first",
            ));
        }
        let mut base = None;
        if let Some(baseline) = &self.baseline {
            if all_references.iter().any(|reference| reference.name == *baseline) {
                return Err(Failure::usage(format!(
                    "the reference \"{baseline}\" cannot be the base: it has no samples; name a run with --baseline"
                )));
            }
            let id = names.find_run(baseline)?;
            let is_it =
                |pool: &Pool| pool.runs.contains(&id) || pool.record.run.id == id || pool.record.run.stored_id() == id;
            let Some(place) = runs.iter().position(is_it) else {
                let ids: Vec<_> = runs.iter().map(|pool| pool.record.run.id.as_str()).collect();
                return Err(Failure::usage(format!(
                    "--baseline \"{baseline}\" is not among what is compared: {}",
                    ids.join(", ")
                )));
            };
            runs[..=place].rotate_right(1);
            base = Some(id);
        }
        if runs.len() == 1 && references.is_empty() {
            references = all_references;
        }
        let records: Vec<&Record> = runs.iter().map(|pool| &pool.record).collect();
        if let Some(refusal) = refused_as_twice(&records) {
            return Err(Failure::usage(refusal));
        }
        Ok(Chosen { runs, references, words: words.to_vec(), lasting, baseline: base })
    }

    /// The command that writes the report of these again, whatever is measured meanwhile: with the options that change what a page shows.
    pub(super) fn report_command(&self, chosen: &Chosen) -> String {
        let mut words: Vec<String> = ["stend", "report"].map(str::to_owned).into();
        words.extend(chosen.lasting.iter().cloned());
        let mut option = |name: &str, value: Option<String>| {
            words.extend(value.into_iter().flat_map(|value| [name.to_owned(), value]));
        };
        option("--baseline", chosen.baseline.clone());
        option("--filter", self.filter.clone());
        option("--unit", self.unit.map(|unit| unit.to_string()));
        let only = self.only.as_ref().and_then(ValueEnum::to_possible_value);
        option("--only", only.map(|value| value.get_name().to_owned()));
        for file in &self.machines {
            option("--machines", Some(file.display().to_string()));
        }
        shell_words(&words)
    }

    /// Whether another layout was asked for than the suite's.
    pub(super) fn is_laid_out(&self) -> bool {
        self.row.is_some() || self.column.is_some()
    }

    /// The comparison, the base first. `all_rows` where every row is shown, be it a main metric's or not.
    pub(super) fn table(&self, global: &Global, chosen: &Chosen, all_rows: bool) -> Result<Table, Failure> {
        let records = chosen.records();
        let mut table = self.judged(&records, &chosen.references)?;
        table.notes.splice(0..0, chosen.runs.iter().filter_map(Pool::note));
        let lacking = lacking(&table, &chosen.references, &chosen.words);
        if !lacking.is_empty() {
            // A run alone and nothing beside it is no comparison.
            if table.columns.len() == 1 {
                return Err(Failure::usage(format!(
                    "{} has no figure that {} has here; there is nothing to compare",
                    lacking.join(", "),
                    records[0].run.id
                )));
            }
            table.notes.push(Note::NothingPublished { references: lacking });
        }
        if self.is_laid_out() {
            table.layout = Some(self.layout(records[0])?);
        }
        let files = catalogue::machines(&self.machines, &global.store_directory()?).map_err(Failure::usage)?;
        let weighings = weigh(&table, &facts(&table, &records, &chosen.references, &files));
        if let (Some(file), true) = (self.machines.first(), weighings.is_empty()) {
            let names: BTreeSet<&str> = records.iter().map(|record| record.run.machine.name.as_str()).collect();
            return Err(Failure::usage(format!(
                "{} has none of the machines that are compared: {}",
                file.display(),
                Vec::from_iter(names).join(", ")
            )));
        }
        table.weighings = weighings;
        if let Some(only) = self.only {
            table.show_only(only);
            let rows = if all_rows { table.rows.iter().collect() } else { table.in_layout(self.all_metrics) };
            let (of, shown) = (rows.len(), rows.iter().filter(|row| table.is_asked_for(row)).count());
            if of > 0 {
                table.notes.push(Note::OnlyRows { only, shown, of });
            }
        }
        Ok(table)
    }

    /// The table as CSV. A program gets the same form of every suite, unless another layout was asked for.
    pub(super) fn csv(&self, table: &Table) -> String {
        let is_plain = table.layout.as_ref().is_none_or(Layout::is_plain);
        if !self.is_laid_out() || is_plain {
            return csv::render(table);
        }
        // There is no place for a note in it.
        if let Some(words) = stend_report::without_place(table) {
            talk!("{words}");
        }
        csv::render_laid_out(table)
    }

    /// Which figures are compared.
    fn filter(&self) -> Result<Filter, Failure> {
        let filter = match &self.filter {
            Some(text) => Filter::parse(text).map_err(|error| Failure::usage(error.to_string()))?,
            None => Filter::default(),
        };
        Ok(self.unit.into_iter().fold(filter, Filter::and_unit))
    }

    fn judged(&self, records: &[&Record], references: &[Reference]) -> Result<Table, Failure> {
        if self.only.is_some() && records.len() < 2 {
            return Err(Failure::usage("--only takes two runs or more: one alone has no verdicts"));
        }
        if records.len() > 1
            && let Some(refusal) = refused_as_emulated(records)
        {
            return Err(Failure::usage(refusal));
        }
        let filter = &self.filter()?;
        filter.check(&records[0].run.suite.scenarios).map_err(|error| Failure::usage(error.to_string()))?;
        if records.len() > 1 && !has_common_scenario(records) {
            let of = |record: &&Record| format!("{} is of suite {}", record.run.id, record.run.suite.name);
            let suites = records.iter().map(of).collect::<Vec<_>>().join(", ");
            return Err(Failure::usage(format!(
                "these runs have no scenario in common, so there is nothing to compare: {suites}"
            )));
        }
        let table = compare_what(records, references, filter);
        if table.rows.is_empty() && (self.filter.is_some() || self.unit.is_some()) {
            return Err(Failure::usage(nothing_taken(filter, records[0])));
        }
        Ok(table)
    }

    /// The layout that was asked for. What was not named is as in the base's suite, where that goes with it.
    fn layout(&self, base: &Record) -> Result<Layout, Failure> {
        let own = base.run.suite.table.clone();
        let metrics = own.as_ref().map(|layout| layout.metrics.clone()).unwrap_or_default();
        let (row, column) = keys(self.row.as_ref(), self.column.as_ref(), own.as_ref());
        // Of a matrix each figure would be a section of its own.
        let mut layout = Layout { row, column, metrics: Vec::new() };
        if layout.spreads_metrics() {
            layout.metrics = metrics;
        }
        layout.check(&base.run.suite.scenarios.iter().collect::<Vec<_>>()).map_err(Failure::usage)?;
        Ok(layout)
    }
}

/// A range by its first run and its last.
fn ends(ids: &[String]) -> String {
    match ids {
        [] => String::new(),
        [only] => only.clone(),
        [first, .., last] => format!("{first}..{last}"),
    }
}

/// References that were named and have no figure in the table.
fn lacking(table: &Table, references: &[Reference], words: &[String]) -> Vec<String> {
    let is_there = |name: &str| {
        let is_it =
            |column: &Column| matches!(&column.origin, ColumnOrigin::Published { reference, .. } if reference == name);
        table.columns.iter().any(is_it)
    };
    let names = references.iter().map(|reference| &reference.name);
    names.filter(|name| words.contains(name) && !is_there(name)).cloned().collect()
}

/// What goes down and across, if only one of the two was named: the suite's other one, or what goes with it.
fn keys(row: Option<&Keys>, column: Option<&Keys>, own: Option<&Layout>) -> (Keys, Keys) {
    let goes = |row: &Keys, column: &Keys| {
        !row.iter().any(|key| column.contains(key)) && (!column.contains(&Key::Run) || row.take_runs())
    };
    let own_row = own.map_or(Key::Scenario.into(), |own| own.row.clone());
    let row = match (row, column) {
        (Some(row), _) => row.clone(),
        (None, Some(column)) if goes(&own_row, column) => own_row,
        (None, Some(column)) if column.contains(&Key::Scenario) => Key::Metric.into(),
        (None, _) => Key::Scenario.into(),
    };
    let own_column = own.map(|own| &own.column).filter(|column| goes(&row, column));
    let column = match column.or(own_column) {
        Some(column) => column.clone(),
        None if row.take_runs() => Key::Run.into(),
        None if row.contains(&Key::Metric) => Key::Scenario.into(),
        None => Key::Metric.into(),
    };
    (row, column)
}

/// Why nothing can be compared, where a run would stand beside itself. A range that begins with a run has more sessions than the run.
fn refused_as_twice(records: &[&Record]) -> Option<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_named_is_as_the_suite_says_where_that_goes_with_it() {
        let key = |word: &str| word.parse::<Keys>().expect("any word is a key");
        let of = |row: &str, column: &str, own: Option<&Layout>| {
            let (row, column) =
                (Some(key(row)).filter(|_| !row.is_empty()), Some(key(column)).filter(|_| !column.is_empty()));
            let (row, column) = keys(row.as_ref(), column.as_ref(), own);
            format!("{row} {column}")
        };
        let layout = |row: &str, column: &str| Layout { row: key(row), column: key(column), metrics: Vec::new() };
        for (row, column, plain, by_metric, matrix) in [
            ("scenario", "", "scenario run", "scenario metric", "scenario depth"),
            ("metric", "", "metric scenario", "metric scenario", "metric depth"),
            ("depth", "", "depth metric", "depth metric", "depth metric"),
            ("", "scenario", "metric scenario", "metric scenario", "jobs scenario"),
            ("", "metric", "scenario metric", "scenario metric", "jobs metric"),
            ("", "jobs", "scenario jobs", "scenario jobs", "scenario jobs"),
            ("", "run", "scenario run", "scenario run", "scenario run"),
            ("scenario,metric", "", "scenario,metric run", "scenario,metric run", "scenario,metric depth"),
            ("jobs,depth", "", "jobs,depth metric", "jobs,depth metric", "jobs,depth metric"),
            ("", "jobs,metric", "scenario jobs,metric", "scenario jobs,metric", "scenario jobs,metric"),
        ] {
            assert_eq!(of(row, column, None), plain);
            assert_eq!(of(row, column, Some(&layout("scenario", "run"))), plain);
            assert_eq!(of(row, column, Some(&layout("scenario", "metric"))), by_metric);
            assert_eq!(of(row, column, Some(&layout("jobs", "depth"))), matrix);
        }
    }
}
