//! Orders and the jobs that they make.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::{Path, Query};
use axum::http::header::LOCATION;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stend_model::record::{JSON_VERSION, Summary};
use stend_store::Store;

use super::accounts::{Body, read};
use super::plan::planned;
use super::{Answer, LONGEST_KEY, Served, blocking, brief, cut, page};
use crate::accounts::Who;
use crate::archive;
use crate::database::Edit;
use crate::error::ServerError;
use crate::jobs::{Added, Job, State};
use crate::journal::Kind;
use crate::lab::Lab;
use crate::order::{Batch, Order};
use crate::problem::Problem;
use crate::work;

/// Jobs, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JobList {
    schema_version: u32,
    /// The jobs.
    jobs: Vec<Job>,
    /// What `before` is for the next page; none on the last one.
    next: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhichJobs {
    before: Option<i64>,
    limit: Option<usize>,
}

pub(crate) async fn jobs(lab: Served, Query(which): Query<WhichJobs>) -> Answer<Json<JobList>> {
    let limit = page(which.limit)?;
    let mut jobs = lab.known().newest(which.before, limit + 1);
    let next = cut(&mut jobs, limit, |job| job.id);
    Ok(Json(JobList { schema_version: JSON_VERSION, jobs, next }))
}

/// A job with what its command said.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct JobInFull {
    schema_version: u32,
    /// The job.
    job: Job,
    /// The end of what its command said, 64 KiB at most.
    log: String,
}

pub(crate) async fn job(lab: Served, Path(id): Path<i64>) -> Answer<Json<JobInFull>> {
    let job = known_job(&lab, id)?;
    let run = job.run.clone();
    let log = blocking(&lab, move |lab| work::log(lab, &run)).await?;
    Ok(Json(JobInFull { schema_version: JSON_VERSION, job, log }))
}

/// Adds a job to the queue. `Idempotency-Key` makes a second order of the same key the first one.
pub(crate) async fn start(
    lab: Served,
    who: Extension<Who>,
    headers: HeaderMap,
    order: Body<Order>,
) -> Answer<Response> {
    let order = read(order)?;
    let (status, mut jobs) = queued(&lab, who.0, &headers, order.into()).await?;
    let job = jobs.swap_remove(0);
    let location = HeaderValue::from_str(&format!("/api/v1/jobs/{}", job.id)).expect("it is plain text");
    Ok((status, [(LOCATION, location)], Json(job)).into_response())
}

/// The jobs of an order.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Jobs {
    schema_version: u32,
    /// The jobs, round by round.
    jobs: Vec<Job>,
    /// Once all have finished: what `compare` and `report` take to compare the machines or states, a column of sessions each.
    compared: Option<String>,
}

/// The jobs of an order by its batch, which is the run of the first.
pub(crate) async fn batch(lab: Served, Path(batch): Path<String>) -> Answer<Json<Jobs>> {
    let jobs = jobs_of(&lab, &batch)?;
    archive::arrive(&lab, &jobs.iter().map(|job| job.run.as_str()).collect::<Vec<_>>()).await;
    let runs = blocking(&lab, Lab::runs).await??;
    let compared = comparison(&jobs, &runs);
    Ok(Json(Jobs { schema_version: JSON_VERSION, jobs, compared }))
}

/// The jobs of an order, of which there is one at least.
pub(crate) fn jobs_of(lab: &Lab, batch: &str) -> Answer<Vec<Job>> {
    let jobs = lab.known().jobs_of_batch(batch);
    if jobs.is_empty() { Err(Problem::not_found(format!("no order is \"{}\"", brief(batch)))) } else { Ok(jobs) }
}

/// What compares the machines or states of an order, of all runs of the store, oldest first; nothing if it is not finished, or a run has been removed.
pub(crate) fn comparison(jobs: &[Job], runs: &[Summary]) -> Option<String> {
    if jobs.iter().any(|job| job.state != State::Finished) {
        return None;
    }
    let first_round = || jobs.iter().take_while(|job| job.round == jobs[0].round);
    let states: Vec<_> = first_round().filter_map(|job| Some(job.order.state.as_ref()?.name.as_str())).collect();
    if jobs[0].order.label.is_some() && !states.is_empty() {
        // By their labels: the runs of the two states alternate, so no range holds those of one.
        let labels: HashMap<&str, Option<&str>> =
            runs.iter().map(|run| (run.id.as_str(), run.label.as_deref())).collect();
        let has_its_own = |job: &Job| labels.get(job.run.as_str()) == Some(&job.order.label.as_deref());
        return jobs.iter().all(has_its_own).then(|| states.join(","));
    }
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
    let range = |job: &Job| {
        let [first, last] = ends.get(job.order.machine.as_str())?;
        Some(if first == last { (*first).to_owned() } else { format!("{first}..{last}") })
    };
    let ranges: Vec<_> = first_round().filter_map(range).collect();
    (count == jobs.len()).then(|| ranges.join(","))
}

/// The same for several machines, sessions or states: all of their jobs, or none.
pub(crate) async fn start_batch(
    lab: Served,
    who: Extension<Who>,
    headers: HeaderMap,
    batch: Body<Batch>,
) -> Answer<(StatusCode, Json<Jobs>)> {
    let batch = read(batch)?;
    let (status, jobs) = queued(&lab, who.0, &headers, batch).await?;
    Ok((status, Json(Jobs { schema_version: JSON_VERSION, jobs, compared: None })))
}

async fn queued(lab: &Arc<Lab>, who: Who, headers: &HeaderMap, batch: Batch) -> Answer<(StatusCode, Vec<Job>)> {
    let key = headers.get("idempotency-key").map(|key| key.to_str().map(str::to_owned));
    let key =
        key.transpose().map_err(|_| Problem::new(StatusCode::BAD_REQUEST, "Idempotency-Key: it is plain text"))?;
    if key.as_ref().is_some_and(|key| key.is_empty() || key.len() > LONGEST_KEY) {
        return Err(Problem::new(
            StatusCode::BAD_REQUEST,
            format!("Idempotency-Key: it is 1 to {LONGEST_KEY} characters"),
        ));
    }
    match ordered(lab, batch, key, who.name.clone(), Some(&who)).await? {
        Added::New(jobs) => Ok((StatusCode::CREATED, jobs)),
        Added::Again(jobs) => Ok((StatusCode::OK, jobs)),
        Added::KeyTaken => {
            let said = "Idempotency-Key: another order had this key; draw a new one for each order";
            Err(Problem::new(StatusCode::CONFLICT, said))
        }
    }
}

/// Checks an order by a dry run of its command, and adds it to the queue. It is that user's, whether or not they ask for it now.
pub(crate) async fn ordered(
    lab: &Arc<Lab>,
    batch: Batch,
    key: Option<String>,
    user: Option<String>,
    who: Option<&Who>,
) -> Answer<Added> {
    batch.check()?;
    let batch = batch.named_by(lab.here());
    // One that is there already is not looked at again: its own label would be taken.
    if let Some(added) = lab.known().added(&batch, key.as_deref()) {
        return Ok(added);
    }
    planned(lab, &batch, who).await?;
    let directory = lab.store.clone();
    let add = move |edit: &mut Edit| {
        // The role may have been lost since it was asked for, so it is looked at where nothing comes between.
        edit.rely_on_operator(user.as_deref())?;
        edit.name_files(&batch.order)?;
        let added = edit.add(&batch, key.as_deref(), user.as_deref())?;
        if let Added::New(jobs) = &added {
            let store = Store::open_to_read(&directory)?;
            for job in jobs {
                let free = job.order.label.as_ref().map_or(Ok(()), |label| store.check_free(label, &job.run));
                free.map_err(|error| ServerError::Refused(error.to_string()))?;
            }
            let times = if jobs.len() > 1 { format!(" × {}", jobs.len()) } else { String::new() };
            let work = format!("{}{times}", jobs[0].order.work());
            edit.note(Kind::RunQueued, user.as_deref(), &jobs[0].run, &work);
        }
        Ok(added)
    };
    Ok(lab.change(add).await?)
}

/// Stops a job: one that waits at once, one that is measured after the repeat that is being made.
pub(crate) async fn stop(lab: Served, who: Extension<Who>, Path(id): Path<i64>) -> Answer<Json<Job>> {
    stopped(&lab, id, who.0.name).await.map(Json)
}

pub(crate) async fn stopped(lab: &Arc<Lab>, id: i64, user: Option<String>) -> Answer<Job> {
    use crate::jobs::State::{Running, Stopped, Stopping, Waiting};
    let job = known_job(lab, id)?;
    let set = move |edit: &mut Edit| {
        let is_at_work = !edit.set(id, &[Waiting], Stopped, None);
        if !is_at_work || edit.set(id, &[Running], Stopping, None) {
            edit.note(Kind::RunStopped, user.as_deref(), &job.run, &job.order.work());
        }
        Ok(())
    };
    lab.change(set).await?;
    known_job(lab, id)
}

/// Goes on with a job that was stopped or has failed.
pub(crate) async fn resume(lab: Served, who: Extension<Who>, Path(id): Path<i64>) -> Answer<Json<Job>> {
    resumed(&lab, id, who.0.name).await.map(Json)
}

pub(crate) async fn resumed(lab: &Arc<Lab>, id: i64, user: Option<String>) -> Answer<Job> {
    use crate::jobs::State::{Failed, Stopped, Waiting};
    let job = known_job(lab, id)?;
    let set = move |edit: &mut Edit| {
        let has_set = edit.set(id, &[Stopped, Failed], Waiting, None);
        if has_set {
            edit.note(Kind::RunResumed, user.as_deref(), &job.run, &job.order.work());
        }
        Ok(has_set)
    };
    if !lab.change(set).await? {
        return Err(Problem::new(StatusCode::CONFLICT, format!("job {id} is neither stopped nor failed")));
    }
    known_job(lab, id)
}

pub(crate) fn known_job(lab: &Lab, id: i64) -> Answer<Job> {
    lab.known().job(id).cloned().ok_or_else(|| Problem::not_found(format!("there is no job {id}")))
}
