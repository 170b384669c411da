//! Runs of one machine taken together: the sessions of a stretch of its history as those of one run.
//!
//! Runs are taken together where nothing that is known of them differs: hardware, software, the version of `stend`, the work, its places
//! and files, the target, and the builds of the instruments. Where any of it changed, another column begins, and how the two differ is said
//! as for any two runs.

use std::collections::BTreeMap;

use stend_model::run::{Run, Session, session_of_label};

use super::differing::found;
use super::notes::{builds_of, differing_builds};
use super::table::Note;
use stend_model::record::Record;
use stend_model::run::HERE;

/// One or several runs as one.
#[derive(Debug, Clone)]
pub struct Pool {
    /// The run, or all runs' sessions and repeats under the id `FIRST..LAST`.
    pub record: Record,
    /// The ids of the runs that it is made of, in the order of time.
    pub runs: Vec<String>,
    /// The sequence number here of what has the number 0 in each of these runs.
    pub first_sequences: Vec<u32>,
}

impl Pool {
    /// What a reader should know: which runs were taken together.
    pub fn note(&self) -> Option<Note> {
        (self.runs.len() > 1).then(|| Note::Pooled { run: self.record.run.id.clone(), runs: self.runs.clone() })
    }
}

impl From<Record> for Pool {
    fn from(record: Record) -> Self {
        Self { runs: vec![record.run.id.clone()], first_sequences: vec![0], record }
    }
}

/// Takes those runs together that do not differ. Runs are given, and pools returned, in the order of time.
pub fn pools(records: Vec<Record>) -> Vec<Pool> {
    let mut groups: Vec<Vec<Record>> = Vec::new();
    for record in records {
        match groups.iter_mut().find(|group| are_alike(&group[0], &record)) {
            Some(group) => group.push(record),
            None => groups.push(vec![record]),
        }
    }
    groups.into_iter().map(joined).collect()
}

fn are_alike(one: &Record, other: &Record) -> bool {
    let (run, other_run) = (&one.run, &other.run);
    let scenarios = || run.suite.scenarios.iter().zip(&other_run.suite.scenarios);
    is_one_machine(run, other_run)
        && run.machine.hardware_id() == other_run.machine.hardware_id()
        && run.machine.software_id() == other_run.machine.software_id()
        && run.stend_version == other_run.stend_version
        && run.target == other_run.target
        && found(one) == found(other)
        && run.suite.name == other_run.suite.name
        && run.suite.scale == other_run.suite.scale
        && run.suite.scenarios.len() == other_run.suite.scenarios.len()
        && scenarios().all(|(a, b)| {
            a.name == b.name && a.work() == b.work() && a.where_done() == b.where_done() && a.files == b.files
        })
        && same_builds(one, other)
}

/// Whether it has one name, or was measured from itself both times: then it may have been given another name meanwhile.
fn is_one_machine(one: &Run, other: &Run) -> bool {
    let measured_from_itself = [one, other].iter().all(|run| run.host == HERE);
    one.machine.name == other.machine.name || measured_from_itself && one.machine.own_name() == other.machine.own_name()
}

/// What only one of the two measured was not built otherwise.
fn same_builds(one: &Record, other: &Record) -> bool {
    let (one, other) = (builds_of(one), builds_of(other));
    one.iter().all(|(program, builds)| {
        other.get(program).is_none_or(|others| {
            builds.len() == others.len() && builds.iter().zip(others).all(|(a, b)| differing_builds(a, b).is_empty())
        })
    })
}

/// Sessions and repeats get numbers of their own, in the order of time.
fn joined(records: Vec<Record>) -> Pool {
    let runs: Vec<String> = records.iter().map(|record| record.run.id.clone()).collect();
    let label = common_name(&records);
    let mut records = records.into_iter();
    let mut whole = records.next().expect("a pool holds a run");
    let mut first_sequences = vec![0];
    for record in records {
        let sessions = whole.sessions.iter().map(|session| session.number + 1).max().unwrap_or(0);
        let sequence = whole.repeats.last().map_or(0, |repeat| repeat.sequence + 1);
        first_sequences.push(sequence);
        let numbers = next_numbers(&whole);
        let moved = |session: Session| Session { number: session.number + sessions, ..session };
        whole.sessions.extend(record.sessions.into_iter().map(moved));
        whole.repeats.extend(record.repeats.into_iter().map(|mut repeat| {
            repeat.session += sessions;
            repeat.sequence += sequence;
            repeat.number += numbers.get(&repeat.scenario).copied().unwrap_or(0);
            repeat
        }));
        for (scenario, other) in whole.run.suite.scenarios.iter_mut().zip(&record.run.suite.scenarios) {
            scenario.repeats += other.repeats;
        }
        // What one of the runs measured is there.
        whole.run.skipped.retain(|skipped| record.run.skipped.iter().any(|other| other.scenario == skipped.scenario));
        whole.run.finished_at = record.run.finished_at;
        whole.run.label.clone_from(&label);
    }
    if let [first, .., last] = &runs[..] {
        whole.run.id = format!("{first}..{last}");
        whole.profiles.clear();
    }
    Pool { record: whole, runs, first_sequences }
}

/// What these runs are called, where all are labelled as sessions of one name.
fn common_name(records: &[Record]) -> Option<String> {
    let name = |record: &Record| Some(session_of_label(record.run.label.as_deref()?)?.0.to_owned());
    let first = name(records.first()?)?;
    records.iter().all(|record| name(record).as_ref() == Some(&first)).then_some(first)
}

/// The numbers from which the repeats of each scenario can go on.
fn next_numbers(record: &Record) -> BTreeMap<usize, u32> {
    let mut next = BTreeMap::new();
    for repeat in &record.repeats {
        let number = next.entry(repeat.scenario).or_insert(0);
        *number = u32::max(*number, repeat.number + 1);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare;
    use crate::table::{Cell, ColumnOrigin};
    use stend_testing::record;

    fn of_boot(id: &str, boot: &str, level: f64) -> Record {
        let mut record = record(id, &[1.0, 1.01, 0.99, 1.0, 1.02, 0.98].map(|step| step * level));
        record.sessions[0].boot_id = Some(boot.into());
        record
    }

    #[test]
    fn runs_of_one_machine_become_sessions_of_one() {
        let pooled = pools(vec![of_boot("a", "1", 1.0), of_boot("b", "2", 1.0), of_boot("c", "2", 1.0)]);
        let [pool] = &pooled[..] else { panic!("{}", pooled.len()) };
        assert_eq!(pool.runs, ["a", "b", "c"]);
        assert_eq!(pool.note(), Some(Note::Pooled { run: "a..c".into(), runs: pool.runs.clone() }));
        assert!(pool.record.repeats.is_sorted_by(|one, next| one.sequence < next.sequence));
        let sessions: Vec<_> = pool.record.sessions.iter().map(|session| session.number).collect();
        assert_eq!(sessions, [0, 1, 2]);
        let metric = &pool.record.run.suite.scenarios[0].metrics[0];
        let values = crate::values_by_session(&pool.record, "alpha", metric);
        assert_eq!(values.iter().map(Vec::len).collect::<Vec<_>>(), [6, 6, 6]);
        let table = compare(&[&pool.record, &of_boot("d", "3", 1.0)], &[]);
        assert_eq!(table.columns[0].title, "testbed a..c");
        assert_eq!(table.columns[0].origin, ColumnOrigin::Run { id: "a..c".into(), sessions: 3, boots: 2 });
        assert!(matches!(&table.rows[0].cells[0], Cell::Measured(measured) if measured.valid == 18));
        assert_eq!(Pool::from(of_boot("a", "1", 1.0)).note(), None);
    }

    #[test]
    fn where_anything_differs_another_column_begins() {
        type Change = fn(&mut Record);
        let changes: [Change; 6] = [
            |record| record.run.machine.name = "its twin".into(),
            |record| record.run.machine.software.kernel = "6.1".into(),
            |record| record.run.machine.hardware.cores = 16,
            |record| record.run.stend_version = "0.2.0".into(),
            |record| record.run.suite.scale = 0.5,
            |record| {
                record.run.suite.scenarios[1].parameters.insert("size".into(), "8k".into());
            },
        ];
        for (place, change) in changes.into_iter().enumerate() {
            let mut other = of_boot("b", "2", 1.0);
            change(&mut other);
            let pooled = pools(vec![of_boot("a", "1", 1.0), other, of_boot("c", "3", 1.0)]);
            let runs: Vec<_> = pooled.iter().map(|pool| pool.runs.join(" ")).collect();
            assert_eq!(runs, ["a c", "b"], "change {place}");
        }
    }
}
