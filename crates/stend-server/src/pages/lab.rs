//! The first page, the page of a run, and reports.

use std::collections::BTreeMap;
use std::sync::Arc;

use askama::Template;
use axum::Form;
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use serde::Deserialize;
use stend_model::record::Summary;
use stend_model::run::HERE;
use stend_store::Store;

use super::{Reader, Served, page, to, walled_off};
use crate::accounts::{Role, fresh_secret};
use crate::api::{self, Suite, WhichRuns, blocking};
use crate::database::Database;
use crate::jobs::{Job, Order, State as Stage};
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
    jobs: Vec<Job>,
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
    machine: String,
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
        Self { suite: "quick".into(), machine: HERE.into(), ..Self::default() }
    }

    /// The order, or the field that is filled in wrongly, with what stands in it.
    fn order(&self) -> Result<Order, (&'static str, String)> {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let repeats = given(&self.repeats).map(|text| text.parse().map_err(|_| ("repeats", text)));
        let scale = given(&self.scale).map(|text| text.parse().map_err(|_| ("scale", text)));
        let priority = given(&self.priority).map(|text| text.parse().map_err(|_| ("priority", text)));
        let variable = |text: &str| match text.split_once('=') {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => Err(("variables", text.to_owned())),
        };
        let sides = [self.a.trim().to_owned(), self.b.trim().to_owned()];
        Ok(Order {
            suite: self.suite.clone(),
            machine: self.machine.clone(),
            label: given(&self.label),
            repeats: repeats.transpose()?,
            scale: scale.transpose()?,
            set: self.set.split_whitespace().map(variable).collect::<Result<_, _>>()?,
            target: given(&self.target),
            even_if_unfit: !self.even_if_unfit.is_empty(),
            priority: priority.transpose()?.unwrap_or_default(),
            sides: (sides != [const { String::new() }; 2]).then_some(sides),
        })
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
    let jobs = lab.with(|database| database.newest(None, 20)).await?;
    let runs = api::newest_runs(lab, WhichRuns::newest(20)).await?.runs;
    let at_work = open.iter().filter(|job| job.state.is_at_work()).map(|job| job.run.clone()).collect();
    let progress = blocking(lab, move |lab| progress(lab, at_work)).await?;
    let machine = |name: String| {
        let of_it = || open.iter().filter(|job| job.order.machine == name);
        let at_work = of_it().find(|job| job.state.is_at_work()).cloned();
        let waiting = of_it().filter(|job| job.state == Stage::Waiting).count();
        Machine { at_work, waiting, name }
    };
    let machines = lab.machines().await?.into_iter().map(machine).collect();
    let suites = api::suite_names(lab).await?;
    Ok(Home { reader, machines, suites, jobs, progress, runs, problem, form, plan })
}

/// How far these runs are; of one that has not begun, or cannot be read, nothing.
fn progress(lab: &Lab, runs: Vec<String>) -> BTreeMap<String, (usize, usize)> {
    let Ok(store) = Store::open_to_read(&lab.store) else { return BTreeMap::new() };
    let of_it = |run: String| {
        let planned = planned(&store.run(&run).ok()?);
        let made = store.count_repeats(&run).ok()?;
        Some((run, (made, planned.max(made))))
    };
    runs.into_iter().filter_map(of_it).collect()
}

pub(crate) async fn start(lab: Served, reader: Reader, Form(form): Form<OrderForm>) -> Response {
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
    let order = form.order().map_err(|(field, text)| {
        let text: String = text.chars().take(40).collect();
        let said = format!("{}: {} \"{text}\"", reader.say(field), reader.say("makes-no-sense"));
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, said)
    })?;
    if !form.preview.is_empty() {
        return api::planned(lab, &order).await.map(Started::Planned);
    }
    let cron = form.cron.trim();
    if !cron.is_empty() {
        api::schedule::added(lab, reader.asker(), cron.to_owned(), order).await?;
        return Ok(Started::Begun("/schedule"));
    }
    let key = Some(form.key.clone()).filter(|key| !key.is_empty() && key.len() <= api::LONGEST_KEY);
    api::ordered(lab, order, key, reader.asker().name).await?;
    Ok(Started::Begun("/"))
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
