//! The queue: runs that were asked for.
//!
//! A job has the id of its run from the beginning. So whatever happens to the server, the store and the processes that there are say how far the job is,
//! and nothing is started twice.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stend_model::run::{HERE, fresh_run_id};

use crate::database::{Edit, Records, numbered};
use crate::error::ServerError;
use crate::fleet::NodeEntry;
use crate::journal;
use crate::lab::Machine;
use crate::order::{Batch, Order, is_label};

/// How far a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// It waits for its machine.
    Waiting,
    /// It is being measured.
    Running,
    /// It was told to stop, and has not ended yet.
    Stopping,
    /// All is measured.
    Finished,
    /// It ended before all was measured.
    Failed,
    /// Somebody stopped it.
    Stopped,
}

impl State {
    pub(crate) const ALL: [Self; 6] =
        [Self::Waiting, Self::Running, Self::Stopping, Self::Finished, Self::Failed, Self::Stopped];

    /// As it is stored.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Stopping => "stopping",
            Self::Finished => "finished",
            Self::Failed => "failed",
            Self::Stopped => "stopped",
        }
    }

    /// Whether a process may be at work for it.
    pub(crate) fn is_at_work(self) -> bool {
        matches!(self, Self::Running | Self::Stopping)
    }

    /// Whether it has not ended.
    pub(crate) fn is_open(self) -> bool {
        self == Self::Waiting || self.is_at_work()
    }
}

/// A run that was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Job {
    /// Its number.
    pub(crate) id: i64,
    /// What it was asked for with, once.
    #[serde(skip)]
    pub(crate) key: Option<String>,
    /// What is to be measured.
    pub(crate) order: Order,
    /// The id of its run, which is in the store once it has begun.
    pub(crate) run: String,
    /// The machine that was chosen for its order, if that names a label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) machine: Option<String>,
    /// How far it is.
    pub(crate) state: State,
    /// Why it failed: what the command said last.
    pub(crate) reason: Option<String>,
    /// Who asked for it; none if it was whoever started the server.
    pub(crate) user: Option<String>,
    /// The node of the fleet that measures it, or did last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) node: Option<String>,
    /// When it was asked for.
    pub(crate) asked_at: String,
    /// When it last began.
    pub(crate) began_at: Option<String>,
    /// When it ended.
    pub(crate) ended_at: Option<String>,
    /// If its order makes several runs: the run of the first of its jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) batch: Option<String>,
    /// The round that it is of then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) round: Option<u32>,
}

impl Job {
    /// What it is measured on: the machine, or the label of any that may be chosen still.
    pub(crate) fn machine(&self) -> &str {
        self.machine.as_deref().unwrap_or(&self.order.machine)
    }

    /// Where it is measured: the machine, and the state that it is in then.
    pub(crate) fn place(&self) -> String {
        let state = self.order.state.as_ref().map(|state| format!(" · {}", state.name));
        format!("{}{}", self.machine(), state.unwrap_or_default())
    }
}

/// An order as it is kept. Its jobs have numbers that follow one another.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Ordered {
    batch: Batch,
    key: Option<String>,
    user: Option<String>,
    asked_at: String,
    /// The runs of its jobs.
    runs: Vec<String>,
    /// The batch and the round of a job that an older version kept by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    round: Option<u32>,
}

impl Ordered {
    /// Gives this machine its name in a fleet.
    pub(crate) fn name_machine(&mut self, name: &str) {
        self.batch = self.batch.clone().named_by(name);
    }

    /// The numbers of its jobs.
    pub(crate) fn numbers(&self, first: i64) -> Range<i64> {
        first..first + self.runs.len() as i64
    }

    /// The SHA-256 of the files that it names.
    pub(crate) fn files(&self) -> impl Iterator<Item = String> {
        self.batch.orders().flat_map(|(_, order)| order.files.into_values())
    }

    /// What it was asked for with, once.
    pub(crate) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Its jobs as they are before any begins.
    fn jobs(&self, first: i64) -> impl Iterator<Item = Job> {
        let is_batch = self.runs.len() > 1;
        let job = move |((id, run), (round, order)): ((i64, &String), (u32, Order))| Job {
            id,
            key: self.key.clone().filter(|_| id == first),
            order,
            run: run.clone(),
            machine: None,
            state: State::Waiting,
            reason: None,
            user: self.user.clone(),
            node: None,
            asked_at: self.asked_at.clone(),
            began_at: None,
            ended_at: None,
            batch: if is_batch { self.runs.first().cloned() } else { self.of.clone() },
            round: if is_batch { Some(round) } else { self.round },
        };
        (first..).zip(&self.runs).zip(self.batch.orders()).map(job)
    }
}

/// How far a job is, as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Progress {
    state: State,
    reason: Option<String>,
    began_at: Option<String>,
    ended_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    node: Option<String>,
}

/// Which machines an order is measured on for its labels: one for all of its runs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Chosen(BTreeMap<String, Choice>);

/// The same for one label.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Choice {
    machine: Option<String>,
    /// Those that could not be used.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    passed_over: BTreeSet<String>,
}

impl Chosen {
    /// Gives this machine its name in a fleet.
    pub(crate) fn name_machine(&mut self, name: &str) {
        for choice in self.0.values_mut() {
            choice.machine.iter_mut().filter(|machine| *machine == HERE).for_each(|machine| name.clone_into(machine));
            if choice.passed_over.remove(HERE) {
                choice.passed_over.insert(name.to_owned());
            }
        }
    }
}

impl Progress {
    /// The same as it is kept of an agent, whose words are its own.
    pub(crate) fn of_agent(self) -> Self {
        let time = |text: String| text.parse::<Timestamp>().ok().map(|at| at.to_string());
        Self {
            reason: self.reason.map(|reason| journal::of_agent(&reason)),
            began_at: self.began_at.and_then(time),
            ended_at: self.ended_at.and_then(time),
            ..self
        }
    }

    /// The node that measures it, or did last.
    pub(crate) fn node(&self) -> Option<&str> {
        self.node.as_deref()
    }

    fn of(job: &Job) -> Self {
        let Job { state, reason, began_at, ended_at, node, .. } = job.clone();
        Self { state, reason, began_at, ended_at, node }
    }
}

impl Records {
    /// Makes the jobs of an order that was taken.
    pub(crate) fn take_order(&mut self, key: &str) {
        let (Some(ordered), Ok(first)) = (self.orders.get(key), key.parse()) else { return };
        let jobs: Vec<Job> = ordered.jobs(first).collect();
        for job in jobs {
            let id = job.id;
            self.of_run.insert(job.run.clone(), id);
            self.jobs.insert(id, job);
            self.take_progress(id);
        }
    }

    /// Takes away the jobs of an order that is no longer seen: an agent sees none that have ended.
    pub(crate) fn forget_order(&mut self, key: &str) {
        let (Some(ordered), Ok(first)) = (self.orders.get(key), key.parse()) else { return };
        for id in ordered.numbers(first) {
            let Some(job) = self.jobs.remove(&id) else { continue };
            self.of_run.remove(&job.run);
            self.open.remove(&id);
            self.open_on.entry(job.machine().to_owned()).or_default().remove(&id);
        }
    }

    /// Sets which machines were chosen for an order.
    pub(crate) fn take_chosen(&mut self, key: &str) {
        let (Some(ordered), Ok(first)) = (self.orders.get(key), key.parse()) else { return };
        ordered.numbers(first).for_each(|id| self.take_progress(id));
    }

    /// The number of the order of a job, and its jobs'.
    pub(crate) fn order_of(&self, job: i64) -> Option<(i64, Range<i64>)> {
        let (first, ordered) = self.orders.range(..=numbered(job)).next_back()?;
        let first = first.parse().ok()?;
        Some((first, ordered.numbers(first)))
    }

    /// What was chosen for the label that the order of a job names.
    fn choice(&self, job: &Job) -> Option<&Choice> {
        let (first, _) = self.order_of(job.id).filter(|_| is_label(&job.order.machine))?;
        self.chosen.get(&numbered(first))?.0.get(&job.order.machine)
    }

    /// Sets how far a job is. What is known of it may come before the job itself.
    pub(crate) fn take_progress(&mut self, id: i64) {
        let chosen = self.jobs.get(&id).and_then(|job| self.choice(job)?.machine.clone());
        let Some(job) = self.jobs.get_mut(&id) else { return };
        let before = job.machine().to_owned();
        job.machine = chosen;
        if let Some(Progress { state, reason, began_at, ended_at, node }) = self.progress.get(&numbered(id)).cloned() {
            (job.state, job.reason, job.began_at, job.ended_at, job.node) = (state, reason, began_at, ended_at, node);
        }
        if before != job.machine() {
            self.open_on.entry(before).or_default().remove(&id);
        }
        let on = self.open_on.entry(job.machine().to_owned()).or_default();
        if job.state.is_open() {
            self.open.insert(id);
            on.insert(id);
        } else {
            self.open.remove(&id);
            on.remove(&id);
        }
    }

    /// What became of an order that had this key.
    pub(crate) fn added(&self, batch: &Batch, key: Option<&str>) -> Option<Added> {
        let (first, ordered) =
            self.orders.iter().find(|(_, ordered)| key.is_some() && ordered.key.as_deref() == key)?;
        let first: i64 = first.parse().ok()?;
        let there: Vec<Job> = self.jobs.range(ordered.numbers(first)).map(|(_, job)| job.clone()).collect();
        let is_it = there.iter().map(|job| job.order.clone()).eq(batch.orders().map(|(_, order)| order));
        Some(if is_it { Added::Again(there) } else { Added::KeyTaken })
    }

    /// Refuses a name that a run is to get which has not begun, or several together as those of a state.
    fn check_unclaimed(&self, name: &str) -> Result<(), ServerError> {
        let is_it = |job: &&Job| {
            let state = job.order.state.as_ref().map(|state| state.name.as_str());
            job.order.label.as_deref() == Some(name) || state == Some(name)
        };
        let claimed = self.open_ones().find(is_it);
        claimed
            .map_or(Ok(()), |job| Err(ServerError::Refused(format!("label: run {} is to be called {name}", job.run))))
    }

    /// The newest orders, newest first: each by its first job.
    pub(crate) fn newest_orders(&self, limit: usize) -> impl Iterator<Item = &Job> {
        let is_first = |job: &&Job| job.batch.as_ref().is_none_or(|batch| *batch == job.run);
        self.jobs.values().rev().filter(is_first).take(limit)
    }

    /// The jobs of one order, in their order; none if there is no such batch.
    pub(crate) fn jobs_of_batch(&self, batch: &str) -> Vec<Job> {
        let is_of_it = |job: &&Job| job.batch.as_deref() == Some(batch);
        let Some(first) = self.of_run.get(batch) else { return Vec::new() };
        self.jobs.range(first..).map(|(_, job)| job).filter(is_of_it).cloned().collect()
    }

    /// The newest jobs, newest first, from before this one.
    pub(crate) fn newest(&self, before: Option<i64>, limit: usize) -> Vec<Job> {
        self.jobs.range(..before.unwrap_or(i64::MAX)).rev().take(limit).map(|(_, job)| job.clone()).collect()
    }

    /// All that are not ended, by their numbers.
    pub(crate) fn open_ones(&self) -> impl Iterator<Item = &Job> {
        self.open.iter().filter_map(|id| self.jobs.get(id))
    }

    /// The same, in the order in which they are measured.
    pub(crate) fn queue(&self) -> Vec<Job> {
        let mut jobs: Vec<Job> = self.open_ones().cloned().collect();
        jobs.sort_by_key(|job| std::cmp::Reverse(job.order.priority));
        jobs
    }

    /// Whether a job may be measured on a machine.
    pub(crate) fn may_be_on(&self, job: &Job, machine: &Machine) -> bool {
        machine.is_meant_by(job.machine()) && !self.is_passed_over(job, machine)
    }

    fn is_passed_over(&self, job: &Job, machine: &Machine) -> bool {
        self.choice(job).is_some_and(|choice| choice.passed_over.contains(&machine.name))
    }

    /// One by its number.
    pub(crate) fn job(&self, id: i64) -> Option<&Job> {
        self.jobs.get(&id)
    }

    /// Whether a job is measured by an agent, or was last.
    pub(crate) fn is_of_agent(&self, job: &Job) -> bool {
        job.node.as_ref().and_then(|node| self.nodes.get(node)).is_some_and(NodeEntry::is_agent)
    }

    /// The number of the first job of the next order.
    fn next_job(&self) -> i64 {
        self.jobs.keys().next_back().map_or(1, |last| last + 1)
    }

    /// The key that the next order has.
    pub(crate) fn next_order(&self) -> String {
        order_key(self.next_job())
    }

    /// One by its run.
    pub(crate) fn job_of_run(&self, run: &str) -> Option<&Job> {
        self.jobs.get(self.of_run.get(run)?)
    }
}

fn order_key(first: i64) -> String {
    format!("order/{}", numbered(first))
}

impl Edit<'_, '_> {
    /// Adds an order, which is done at once or not at all. One with a key that another one had is that one: who asks twice, because an answer was lost,
    /// asks once.
    pub(crate) fn add(&mut self, batch: &Batch, key: Option<&str>, user: Option<&str>) -> Result<Added, ServerError> {
        if let Some(added) = self.known.added(batch, key) {
            return Ok(added);
        }
        let now = Timestamp::now();
        let mut runs: Vec<String> = Vec::new();
        for (_, order) in batch.orders() {
            for name in order.label.iter().chain(order.state.iter().map(|state| &state.name)) {
                self.known.check_unclaimed(name)?;
            }
            // Many are drawn in one minute, so some are drawn twice.
            let mut run = fresh_run_id(now);
            while self.known.job_of_run(&run).is_some() || runs.contains(&run) {
                run = fresh_run_id(now);
            }
            runs.push(run);
        }
        let first = self.known.next_job();
        let (key, user, asked_at) = (key.map(str::to_owned), user.map(str::to_owned), now.to_string());
        let ordered = Ordered { batch: batch.clone(), key, user, asked_at, runs, of: None, round: None };
        self.put(&order_key(first), &ordered);
        Ok(Added::New(ordered.jobs(first).collect()))
    }

    /// Sets a job from one of these states to another; whether it was in one of them.
    pub(crate) fn set(&mut self, id: i64, from: &[State], to: State, reason: Option<&str>) -> bool {
        let Some(job) = self.known.job(id).filter(|job| from.contains(&job.state)) else { return false };
        let now = Timestamp::now().to_string();
        let progress = Progress {
            state: to,
            reason: reason.map(str::to_owned),
            ended_at: (!to.is_open()).then_some(now),
            ..Progress::of(job)
        };
        self.put_progress(id, &progress);
        true
    }

    /// Begins a job that waits, on a machine, on a node of a fleet if there is one; whether it waits.
    pub(crate) fn begin(&mut self, id: i64, machine: &str, node: Option<&str>) -> bool {
        let Some(job) = self.known.job(id).filter(|job| job.state == State::Waiting) else { return false };
        if is_label(&job.order.machine) {
            self.choose(job, |choice| choice.machine = Some(machine.to_owned()));
        }
        let began_at = Some(Timestamp::now().to_string());
        let node = node.map(str::to_owned);
        let (state, reason) = (State::Running, None);
        self.put_progress(id, &Progress { state, reason, began_at, node, ..Progress::of(job) });
        true
    }

    /// Has a job wait for another machine with the label of its order, because this one could not be used. It does not if no other has it, or another
    /// run of the order has begun here.
    pub(crate) fn pass_over(&mut self, id: i64, machine: &str, all: &[Machine], why: Option<&str>) -> bool {
        let Some(job) = self.known.job(id).filter(|job| is_label(&job.order.machine)) else { return false };
        let (_, numbers) = self.known.order_of(id).expect("it is of an order");
        let has_begun = |it: &Job| it.id != id && it.order.machine == job.order.machine && it.began_at.is_some();
        let is_left = |it: &Machine| {
            it.name != machine && it.is_meant_by(&job.order.machine) && !self.known.is_passed_over(job, it)
        };
        let is_fixed = self.known.jobs.range(numbers).any(|(_, it)| has_begun(it));
        if is_fixed || !all.iter().any(is_left) || job.state != State::Running {
            return false;
        }
        let (reason, began_at, node) = (why.map(str::to_owned), None, None);
        self.put_progress(id, &Progress { state: State::Waiting, reason, began_at, node, ..Progress::of(job) });
        self.choose(job, |choice| {
            choice.machine = None;
            choice.passed_over.insert(machine.to_owned());
        });
        true
    }

    /// Makes the change only as long as no other machine is chosen for a job.
    pub(crate) fn rely_on_choice(&mut self, job: &Job) {
        if let Some((first, _)) = self.known.order_of(job.id).filter(|_| is_label(&job.order.machine)) {
            self.rely_on(&format!("chosen/{}", numbered(first)));
        }
    }

    fn choose(&mut self, job: &Job, change: impl FnOnce(&mut Choice)) {
        let Some((first, _)) = self.known.order_of(job.id) else { return };
        let mut chosen = self.known.chosen.get(&numbered(first)).cloned().unwrap_or_default();
        change(chosen.0.entry(job.order.machine.clone()).or_default());
        self.put(&format!("chosen/{}", numbered(first)), &chosen);
    }

    /// Gives a job that is at work to another node.
    pub(crate) fn give(&mut self, id: i64, node: &str) {
        if let Some(job) = self.known.job(id) {
            self.put_progress(id, &Progress { node: Some(node.to_owned()), ..Progress::of(job) });
        }
    }

    fn put_progress(&mut self, id: i64, progress: &Progress) {
        self.put(&format!("job/{}", numbered(id)), progress);
    }
}

/// What became of an order.
#[derive(Debug, PartialEq)]
pub(crate) enum Added {
    /// These are its jobs now.
    New(Vec<Job>),
    /// These were its jobs before, by the same key.
    Again(Vec<Job>),
    /// Another order had that key.
    KeyTaken,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::database;

    fn machine(name: &str) -> Machine {
        Machine { name: name.into(), labels: ["cpu=epyc".to_owned()].into() }
    }

    #[test]
    fn all_runs_of_an_order_are_of_the_machine_that_the_first_to_begin_was_given() {
        let (_store, database) = database();
        let order = Order { suite: Some("quick".into()), ..Order::default() };
        let batch = Batch { order, machines: vec!["cpu=epyc".into()], sessions: Some(3), switch: None };
        database.change(|edit| edit.add(&batch, None, None)).unwrap();
        let may_be_on = |id: i64| {
            let known = database.known();
            let job = known.job(id).unwrap();
            ["a", "b"].map(|name| known.may_be_on(job, &machine(name)))
        };
        let set = |id: i64, from: State, to: State| {
            assert!(database.change(|edit| Ok(edit.set(id, &[from], to, None))).unwrap());
        };
        // The first one is stopped before it begins, and goes on when another one has begun.
        set(1, State::Waiting, State::Stopped);
        assert_eq!(may_be_on(2), [true, true]);
        assert!(database.change(|edit| Ok(edit.begin(2, "b", None))).unwrap());
        set(1, State::Stopped, State::Waiting);
        assert_eq!([1, 2, 3].map(may_be_on), [[false, true]; 3]);
        assert_eq!(database.known().open_on["b"].len(), 3);
        // That it cannot be used is no reason to choose another one for the rest.
        let both = ["a", "b"].map(machine);
        assert!(database.change(|edit| Ok(edit.begin(1, "b", None))).unwrap());
        assert!(!database.change(|edit| Ok(edit.pass_over(1, "b", &both, None))).unwrap());
    }

    #[test]
    fn a_machine_that_cannot_be_used_is_passed_over_as_long_as_another_has_the_label() {
        let (_store, database) = database();
        let order = Order { suite: Some("quick".into()), machine: "cpu=epyc".into(), ..Order::default() };
        database.change(|edit| edit.add(&order.clone().into(), None, None)).unwrap();
        let both = ["a", "b"].map(machine);
        let is_passed_over = |name: &str| {
            assert!(database.change(|edit| Ok(edit.begin(1, name, None))).unwrap());
            database.change(|edit| Ok(edit.pass_over(1, name, &both, Some("away")))).unwrap()
        };
        assert!(is_passed_over("a"));
        let known = database.known();
        let job = known.job(1).unwrap();
        assert_eq!((job.state, job.machine(), job.reason.as_deref()), (State::Waiting, "cpu=epyc", Some("away")));
        assert_eq!(both.each_ref().map(|machine| known.may_be_on(job, machine)), [false, true]);
        drop(known);
        assert!(!is_passed_over("b"), "none is left");
    }
}
