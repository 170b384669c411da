//! The first page, the page of a run, and reports.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::Form;
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use stend_model::identity::digest_of;
use stend_model::record::Summary;
use stend_store::Store;

use super::order_form::OrderForm;
use super::{Reader, Served, page, to, trouble, walled_off};
use crate::accounts::{Role, fresh_secret};
use crate::api::jobs::{comparison, jobs_of, ordered, resumed, stopped};
use crate::api::plan::planned as plan_of;
use crate::api::{self, Suite, WhichRuns, blocking};
use crate::jobs::{Job, State as Stage};
use crate::lab::{Lab, Machine as Reachable};
use crate::live::planned;
use crate::order::Order;
use crate::problem::Problem;
use crate::work;

#[derive(Template)]
#[template(path = "home.html")]
struct Home {
    reader: Reader,
    machines: Vec<Machine>,
    /// What several of them have in common.
    labels: Vec<String>,
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
    /// What is compared: machines, or one in two states.
    places: Vec<String>,
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
        let places: Vec<_> = first_round.map(|job| job.place()).collect();
        let report = comparison(jobs, runs).map(|compared| format!("/report?runs={compared}"));
        let finished = jobs.iter().filter(|job| job.state == Finished).count();
        Self { places, state, finished, all: jobs.len(), report }
    }

    fn is_open(&self) -> bool {
        self.state.is_open()
    }
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

pub(crate) async fn home(lab: Served, reader: Reader) -> Response {
    let form = OrderForm { key: fresh_secret(), ..OrderForm::blank(lab.here()) };
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
    let (open, orders) = {
        let known = lab.known();
        let with_others = |job: &Job| (job.clone(), job.batch.as_deref().map(|batch| known.jobs_of_batch(batch)));
        (known.queue(), known.newest_orders(20).map(with_others).collect::<Vec<_>>())
    };
    let all = blocking(lab, Lab::runs).await??;
    let several = |jobs: Vec<Job>| Several::of(&jobs, &all);
    let orders = orders.into_iter().map(|(job, others)| Queued { job, several: others.map(several) }).collect();
    let runs = api::newest_runs(lab, WhichRuns::newest(20)).await?.runs;
    let progress = progress(lab, &open).await?;
    let all_machines = lab.machines().await?;
    let labels = shared_labels(&all_machines);
    let machine = |Reachable { name, .. }| {
        let of_it = || open.iter().filter(|job| job.machine() == name);
        let at_work = of_it().find(|job| job.state.is_at_work()).cloned();
        let waiting = of_it().filter(|job| job.state == Stage::Waiting).count();
        Machine { at_work, waiting, name }
    };
    let machines = all_machines.into_iter().map(machine).collect();
    let suites = api::suite_names(lab).await?;
    Ok(Home { reader, machines, labels, suites, orders, progress, runs, problem, form, plan })
}

/// The labels that several machines have: one of a single machine is that machine.
fn shared_labels(machines: &[Reachable]) -> Vec<String> {
    let mut counts = BTreeMap::<String, usize>::new();
    for label in machines.iter().flat_map(|machine| machine.labels.clone()) {
        *counts.entry(label).or_default() += 1;
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(label, _)| label).collect()
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
    let mut form = match OrderForm::of(fields) {
        Ok(form) => form,
        Err(error) => return trouble(reader, &Problem::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string())),
    };
    let done = started(&lab, &reader, &form).await;
    let (status, problem, plan) = match done {
        Ok(Started::Begun(to)) => return Redirect::to(to).into_response(),
        Ok(Started::Planned { plan, shown }) => {
            form.shown = shown.unwrap_or_default();
            (StatusCode::OK, None, Some(plan))
        }
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
    /// Nothing is begun yet. If it is not part of the program, a form with `shown` begins it.
    Planned { plan: String, shown: Option<String> },
}

async fn started(lab: &Arc<Lab>, reader: &Reader, form: &OrderForm) -> Result<Started, Problem> {
    let (batch, texts) = form.batch().map_err(|(field, text)| {
        let text: String = text.chars().take(40).collect();
        let said = format!("{}: {} \"{text}\"", reader.say(field), reader.say("makes-no-sense"));
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, said)
    })?;
    for text in texts {
        lab.change(move |edit| edit.keep_file(&text)).await?;
    }
    let shown = digest_of(&serde_json::to_vec(&batch).expect("an order can be written"));
    // What is not part of the program is shown before it starts.
    if !form.preview.is_empty() || batch.is_own() && form.shown != shown {
        let plan = plan_of(lab, &batch, Some(&reader.asker())).await?;
        return Ok(Started::Planned { plan, shown: batch.is_own().then_some(shown) });
    }
    let cron = form.cron.trim();
    if !cron.is_empty() {
        let [machine] = &batch.machines[..] else { return Err(one_run_a_time(reader)) };
        if batch.runs() != 1 {
            return Err(one_run_a_time(reader));
        }
        let order = Order { machine: machine.clone(), ..batch.order };
        api::schedule::added(lab, reader.asker(), cron.to_owned(), order).await?;
        return Ok(Started::Begun("/schedule"));
    }
    let key = Some(form.key.clone()).filter(|key| !key.is_empty() && key.len() <= api::LONGEST_KEY);
    let who = reader.asker();
    ordered(lab, batch, key, who.name.clone(), Some(&who)).await?;
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
    let jobs = jobs_of(lab, &batch)?;
    let runs = blocking(lab, Lab::runs).await??;
    let progress = progress(lab, &jobs).await?;
    Ok(OneBatch { reader, suite: jobs[0].order.work(), several: Several::of(&jobs, &runs), jobs, progress })
}

/// Stops what is left of an order.
pub(crate) async fn stop_batch(lab: Served, reader: Reader, Path(batch): Path<String>) -> Response {
    let done = batch_stopped(&lab, batch, reader.asker().name).await;
    to(reader, done.map(|batch| format!("/batches/{batch}")))
}

async fn batch_stopped(lab: &Arc<Lab>, batch: String, user: Option<String>) -> Result<String, Problem> {
    let jobs = jobs_of(lab, &batch)?;
    // The last ones first, so that none begins because one before it has ended.
    for job in jobs.iter().rev().filter(|job| matches!(job.state, Stage::Waiting | Stage::Running)) {
        stopped(lab, job.id, user.clone()).await?;
    }
    Ok(jobs[0].run.clone())
}

pub(crate) async fn run(lab: Served, reader: Reader, Path(id): Path<String>) -> Response {
    let run = one_run(&lab, reader.clone(), id).await;
    page(reader, run)
}

async fn one_run(lab: &Arc<Lab>, reader: Reader, id: String) -> Result<OneRun, Problem> {
    let job = lab.known().job_of_run(&id).cloned();
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
    let suite = known.map(|run| run.suite.clone()).or_else(|| job.as_ref().map(|job| job.order.work()));
    let label = known.and_then(|run| run.label.clone()).or_else(|| job.as_ref()?.order.label.clone());
    let title = format!("{} · {}", label.unwrap_or_else(|| run.clone()), suite.unwrap_or_default());
    Ok(OneRun { reader, has_begun: known.is_some(), run, title, job, log })
}

/// The report's own page, of one run or of several compared.
pub(crate) async fn report(lab: Served, reader: Reader, Query(which): Query<api::Compared>) -> Response {
    walled_off(reader, api::report_of(&lab, &which).await)
}

pub(crate) async fn stop(lab: Served, reader: Reader, Path(job): Path<i64>) -> Response {
    let done = stopped(&lab, job, reader.asker().name).await;
    to(reader, done.map(|job| format!("/runs/{}", job.run)))
}

pub(crate) async fn resume(lab: Served, reader: Reader, Path(job): Path<i64>) -> Response {
    let done = resumed(&lab, job, reader.asker().name).await;
    to(reader, done.map(|job| format!("/runs/{}", job.run)))
}
