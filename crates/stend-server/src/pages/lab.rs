//! The first page, the page of a run, and reports.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use askama::Template;
use axum::Form;
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use serde::Deserialize;
use serde::de::value::{Error as BadField, MapDeserializer};
use stend_model::record::Summary;
use stend_model::run::HERE;
use stend_store::Store;

use super::{Reader, Served, page, to, trouble, walled_off};
use crate::accounts::{Role, fresh_secret};
use crate::api::{self, Suite, WhichRuns, blocking};
use crate::database::Database;
use crate::error::ServerError;
use crate::jobs::{Batch, Job, Order, State as Stage};
use crate::lab::Lab;
use crate::live::planned;
use crate::problem::Problem;
use crate::work;

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    reader: Reader,
    machines: Vec<Machine>,
    suites: Vec<Suite>,
    orders: Vec<Queued>,
    /// How many repeats of each run that is at work are made, and how many it takes if all are valid.
    progress: BTreeMap<String, (usize, usize)>,
    runs: Vec<Summary>,
    /// What a form was refused for, and what it held.
    problem: Option<String>,
    form: OrderForm,
    /// What would be done, if that was asked for.
    plan: Option<String>,
}

/// A machine, what is measured on it, and how many jobs wait for it.
struct Machine {
    name: String,
    at_work: Option<Job>,
    waiting: usize,
}

/// An order in the queue: by its only job, or the first of several.
struct Queued {
    job: Job,
    several: Option<Several>,
}

/// How far the jobs of one order are.
struct Several {
    machines: Vec<String>,
    /// That of the job that matters most.
    state: Stage,
    finished: usize,
    all: usize,
    /// The report that compares the machines, a column of sessions each; once all runs are finished.
    report: Option<String>,
}

impl Several {
    /// Of all the jobs of an order, and all runs of the store, oldest first.
    fn of(jobs: &[Job], runs: &[Summary]) -> Self {
        use Stage::{Failed, Finished, Running, Stopped, Stopping, Waiting};
        let is_in = |state: &Stage| jobs.iter().any(|job| job.state == *state);
        let state = [Running, Stopping, Waiting, Failed, Stopped].into_iter().find(is_in).unwrap_or(Finished);
        let first_round = jobs.iter().take_while(|job| job.round == jobs[0].round);
        let machines: Vec<_> = first_round.map(|job| job.order.machine.clone()).collect();
        let report = (state == Finished).then(|| comparison(&machines, jobs, runs)).flatten();
        let finished = jobs.iter().filter(|job| job.state == Finished).count();
        Self { machines, state, finished, all: jobs.len(), report }
    }

    fn is_open(&self) -> bool {
        self.state == Stage::Waiting || self.state.is_at_work()
    }
}

/// Where these machines are compared; none if a run has been removed.
fn comparison(machines: &[String], jobs: &[Job], runs: &[Summary]) -> Option<String> {
    let machine_of: HashMap<&str, &str> =
        jobs.iter().map(|job| (job.run.as_str(), job.order.machine.as_str())).collect();
    // A range goes from the run that began first, which after a stop and a resumption is not the one that was queued first.
    let mut ends: HashMap<&str, [&str; 2]> = HashMap::new();
    let mut count = 0;
    for run in runs {
        if let Some(machine) = machine_of.get(run.id.as_str()) {
            count += 1;
            ends.entry(machine).or_insert([&run.id; 2])[1] = &run.id;
        }
    }
    let range = |machine: &String| {
        let [first, last] = ends.get(machine.as_str())?;
        Some(if first == last { (*first).to_owned() } else { format!("{first}..{last}") })
    };
    let ranges: Vec<_> = machines.iter().filter_map(range).collect();
    (count == jobs.len()).then(|| format!("/report?runs={}", ranges.join(",")))
}

#[derive(Template)]
#[template(path = "batch.html")]
struct OneBatch {
    reader: Reader,
    suite: String,
    jobs: Vec<Job>,
    several: Several,
    /// As on the first page.
    progress: BTreeMap<String, (usize, usize)>,
}

#[derive(Template)]
#[template(path = "run.html")]
struct OneRun {
    reader: Reader,
    run: String,
    title: String,
    job: Option<Job>,
    log: String,
    has_begun: bool,
}

/// The fields of the form that starts a run, as a browser sends them.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct OrderForm {
    suite: String,
    /// Those that are ticked: a field each.
    #[serde(skip)]
    machines: Vec<String>,
    #[serde(default)]
    sessions: String,
    #[serde(default)]
    label: String,
    #[serde(default)]
    repeats: String,
    #[serde(default)]
    scale: String,
    #[serde(default)]
    a: String,
    #[serde(default)]
    b: String,
    /// Variables of the suite: NAME=VALUE, separated by spaces.
    #[serde(default)]
    set: String,
    #[serde(default)]
    even_if_unfit: String,
    #[serde(default)]
    target: String,
    #[serde(default)]
    priority: String,
    /// When to start it again and again; now and once where it is empty.
    #[serde(default)]
    cron: String,
    /// Whether it is only to be said what would be done.
    #[serde(default)]
    preview: String,
    /// Drawn with the form, so that a form that is sent twice starts one run.
    #[serde(default)]
    key: String,
}

impl OrderForm {
    fn blank() -> Self {
        Self { suite: "quick".into(), machines: vec![HERE.into()], ..Self::default() }
    }

    fn of(fields: Vec<(String, String)>) -> Result<Self, BadField> {
        let (machines, others): (Vec<_>, Vec<_>) = fields.into_iter().partition(|(name, _)| name == "machine");
        let form = Self::deserialize(MapDeserializer::new(others.into_iter()))?;
        Ok(Self { machines: machines.into_iter().map(|(_, machine)| machine).collect(), ..form })
    }

    /// The order, or the field that is filled in wrongly, with what stands in it.
    fn batch(&self) -> Result<Batch, (&'static str, String)> {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let repeats = given(&self.repeats).map(|text| text.parse().map_err(|_| ("repeats", text)));
        let sessions = given(&self.sessions).map(|text| text.parse().map_err(|_| ("sessions", text)));
        let scale = given(&self.scale).map(|text| text.parse().map_err(|_| ("scale", text)));
        let priority = given(&self.priority).map(|text| text.parse().map_err(|_| ("priority", text)));
        let variable = |text: &str| match text.split_once('=') {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => Err(("variables", text.to_owned())),
        };
        let sides = [self.a.trim().to_owned(), self.b.trim().to_owned()];
        let order = Order {
            suite: self.suite.clone(),
            machine: HERE.into(),
            label: given(&self.label),
            repeats: repeats.transpose()?,
            scale: scale.transpose()?,
            set: self.set.split_whitespace().map(variable).collect::<Result<_, _>>()?,
            target: given(&self.target),
            even_if_unfit: !self.even_if_unfit.is_empty(),
            priority: priority.transpose()?.unwrap_or_default(),
            sides: (sides != [const { String::new() }; 2]).then_some(sides),
        };
        Ok(Batch { order, machines: self.machines.clone(), sessions: sessions.transpose()?.unwrap_or(1) })
    }
}

pub(crate) async fn home(lab: Served, reader: Reader) -> Response {
    let form = OrderForm { key: fresh_secret(), ..OrderForm::blank() };
    let home = gathered(&lab, reader.clone(), form, None, None).await;
    page(reader, home)
}

/// The first page, with a form, what it was refused for, and what it would do.
async fn gathered(
    lab: &Arc<Lab>,
    reader: Reader,
    form: OrderForm,
    problem: Option<String>,
    plan: Option<String>,
) -> Result<Home, Problem> {
    let open = lab.with(Database::open_ones).await?;
    let orders = lab.with(|database| {
        let with_others = |job: Job| {
            let others = job.batch.as_deref().map(|batch| database.jobs_of_batch(batch)).transpose()?;
            Ok((job, others))
        };
        database.newest_orders(20)?.into_iter().map(with_others).collect::<Result<Vec<_>, ServerError>>()
    });
    let orders = orders.await?;
    let all = blocking(lab, Lab::runs).await??;
    let several = |jobs: Vec<Job>| Several::of(&jobs, &all);
    let orders = orders.into_iter().map(|(job, others)| Queued { job, several: others.map(several) }).collect();
    let runs = api::newest_runs(lab, WhichRuns::newest(20)).await?.runs;
    let progress = progress(lab, &open).await?;
    let machine = |name: String| {
        let of_it = || open.iter().filter(|job| job.order.machine == name);
        let at_work = of_it().find(|job| job.state.is_at_work()).cloned();
        let waiting = of_it().filter(|job| job.state == Stage::Waiting).count();
        Machine { at_work, waiting, name }
    };
    let machines = lab.machines().await?.into_iter().map(machine).collect();
    let suites = api::suite_names(lab).await?;
    Ok(Home { reader, machines, suites, orders, progress, runs, problem, form, plan })
}

/// How far those are that are at work; of one that has not begun, or cannot be read, nothing.
async fn progress(lab: &Arc<Lab>, jobs: &[Job]) -> Result<BTreeMap<String, (usize, usize)>, Problem> {
    let runs: Vec<_> = jobs.iter().filter(|job| job.state.is_at_work()).map(|job| job.run.clone()).collect();
    let read = move |lab: &Lab| {
        let Ok(store) = Store::open_to_read(&lab.store) else { return BTreeMap::new() };
        let of_it = |run: String| {
            let planned = planned(&store.run(&run).ok()?);
            let made = store.count_repeats(&run).ok()?;
            Some((run, (made, planned.max(made))))
        };
        runs.into_iter().filter_map(of_it).collect()
    };
    blocking(lab, read).await
}

pub(crate) async fn start(lab: Served, reader: Reader, Form(fields): Form<Vec<(String, String)>>) -> Response {
    let form = match OrderForm::of(fields) {
        Ok(form) => form,
        Err(error) => return trouble(reader, &Problem::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())),
    };
    let done = started(&lab, &reader, &form).await;
    let (status, problem, plan) = match done {
        Ok(Started::Begun(to)) => return Redirect::to(to).into_response(),
        Ok(Started::Planned(plan)) => (StatusCode::OK, None, Some(plan)),
        Err(problem) => (problem.status(), Some(problem.detail().to_owned()), None),
    };
    let home = gathered(&lab, reader.clone(), form, problem, plan).await;
    let mut page = page(reader, home);
    *page.status_mut() = status;
    page
}

/// What became of the form.
enum Started {
    /// It is done; where to see it.
    Begun(&'static str),
    /// It was only asked what would be done.
    Planned(String),
}

async fn started(lab: &Arc<Lab>, reader: &Reader, form: &OrderForm) -> Result<Started, Problem> {
    let batch = form.batch().map_err(|(field, text)| {
        let text: String = text.chars().take(40).collect();
        let said = format!("{}: {} \"{text}\"", reader.say(field), reader.say("makes-no-sense"));
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, said)
    })?;
    if !form.preview.is_empty() {
        return api::planned(lab, &batch).await.map(Started::Planned);
    }
    let cron = form.cron.trim();
    if !cron.is_empty() {
        let [machine] = &batch.machines[..] else { return Err(one_run_a_time(reader)) };
        if batch.sessions != 1 {
            return Err(one_run_a_time(reader));
        }
        let order = Order { machine: machine.clone(), ..batch.order };
        api::schedule::added(lab, reader.asker(), cron.to_owned(), order).await?;
        return Ok(Started::Begun("/schedule"));
    }
    let key = Some(form.key.clone()).filter(|key| !key.is_empty() && key.len() <= api::LONGEST_KEY);
    api::ordered(lab, batch, key, reader.asker().name).await?;
    Ok(Started::Begun("/"))
}

fn one_run_a_time(reader: &Reader) -> Problem {
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, reader.say("one-run-a-time"))
}

pub(crate) async fn batch(lab: Served, reader: Reader, Path(batch): Path<String>) -> Response {
    let batch = one_batch(&lab, reader.clone(), batch).await;
    page(reader, batch)
}

async fn one_batch(lab: &Arc<Lab>, reader: Reader, batch: String) -> Result<OneBatch, Problem> {
    let jobs = jobs_of(lab, batch).await?;
    let runs = blocking(lab, Lab::runs).await??;
    let progress = progress(lab, &jobs).await?;
    Ok(OneBatch { reader, suite: jobs[0].order.suite.clone(), several: Several::of(&jobs, &runs), jobs, progress })
}

/// The jobs of an order, of which there is one at least.
async fn jobs_of(lab: &Arc<Lab>, batch: String) -> Result<Vec<Job>, Problem> {
    let said = format!("no order is \"{}\"", api::brief(&batch));
    let jobs = lab.with(move |database| database.jobs_of_batch(&batch)).await?;
    if jobs.is_empty() { Err(Problem::not_found(said)) } else { Ok(jobs) }
}

/// Stops what is left of an order.
pub(crate) async fn stop_batch(lab: Served, reader: Reader, Path(batch): Path<String>) -> Response {
    let done = batch_stopped(&lab, batch, reader.asker().name).await;
    to(reader, done.map(|batch| format!("/batches/{batch}")))
}

async fn batch_stopped(lab: &Arc<Lab>, batch: String, user: Option<String>) -> Result<String, Problem> {
    let jobs = jobs_of(lab, batch).await?;
    // The last ones first, so that none begins because one before it has ended.
    for job in jobs.iter().rev().filter(|job| matches!(job.state, Stage::Waiting | Stage::Running)) {
        api::stopped(lab, job.id, user.clone()).await?;
    }
    Ok(jobs[0].run.clone())
}

pub(crate) async fn run(lab: Served, reader: Reader, Path(id): Path<String>) -> Response {
    let run = one_run(&lab, reader.clone(), id).await;
    page(reader, run)
}

async fn one_run(lab: &Arc<Lab>, reader: Reader, id: String) -> Result<OneRun, Problem> {
    let wanted = id.clone();
    let job = lab.with(move |database| database.job_of_run(&wanted)).await?;
    // One that waits is in the queue alone.
    let run = match (&job, api::known_run(lab, id).await) {
        (_, Ok(id)) => id,
        (Some(job), Err(_)) => job.run.clone(),
        (None, Err(problem)) => return Err(problem),
    };
    let wanted = run.clone();
    let log = blocking(lab, move |lab| work::log(lab, &wanted)).await?;
    let runs = blocking(lab, Lab::runs).await??;
    let known = runs.iter().find(|summary| summary.id == run);
    let suite = known.map(|run| run.suite.clone()).or_else(|| job.as_ref().map(|job| job.order.suite.clone()));
    let label = known.and_then(|run| run.label.clone()).or_else(|| job.as_ref()?.order.label.clone());
    let title = format!("{} · {}", label.unwrap_or_else(|| run.clone()), suite.unwrap_or_default());
    Ok(OneRun { reader, has_begun: known.is_some(), run, title, job, log })
}

/// The report's own page, of one run or of several compared.
pub(crate) async fn report(lab: Served, reader: Reader, Query(which): Query<api::Compared>) -> Response {
    walled_off(reader, api::report_of(&lab, &which).await)
}

pub(crate) async fn stop(lab: Served, reader: Reader, Path(job): Path<i64>) -> Response {
    let done = api::stopped(&lab, job, reader.asker().name).await;
    to(reader, done.map(|job| format!("/runs/{}", job.run)))
}

pub(crate) async fn resume(lab: Served, reader: Reader, Path(job): Path<i64>) -> Response {
    let done = api::resumed(&lab, job, reader.asker().name).await;
    to(reader, done.map(|job| format!("/runs/{}", job.run)))
}
