//! The API, for programs: JSON in the shapes that `--json` of the commands has.

pub(crate) mod accounts;
pub(crate) mod imports;
pub(crate) mod journal;
pub(crate) mod schedule;

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::header::{CONTENT_TYPE, LOCATION};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stend_model::record::{JSON_VERSION, Summary};
use stend_store::Store;
use tokio_stream::Stream;

use crate::accounts::{Role, Who};
use crate::api::accounts::{Body as Sent, read};
use crate::database::Database;
use crate::error::ServerError;
use crate::guard::now;
use crate::jobs::{Added, Batch, Job, MOST_MACHINES, Order};
use crate::journal::Kind;
use crate::lab::Lab;
use crate::live::{Seen, View};
use crate::openapi;
use crate::problem::Problem;
use crate::work;

/// No page of a list has more, whatever is asked for.
pub(crate) const LARGEST_PAGE: usize = 1000;
const USUAL_PAGE: usize = 100;

/// No key of an order is longer.
pub(crate) const LONGEST_KEY: usize = 200;

type Answer<T> = Result<T, Problem>;
type Served = State<Arc<Lab>>;

/// How many are wanted of a list.
fn page(limit: Option<usize>) -> Answer<usize> {
    let limit = limit.unwrap_or(USUAL_PAGE);
    if (1..=LARGEST_PAGE).contains(&limit) {
        return Ok(limit);
    }
    Err(Problem::new(StatusCode::BAD_REQUEST, format!("limit: it is 1 to {LARGEST_PAGE}")))
}

/// Cuts a list, of which one more was read than is wanted, to a page, and says where the next one begins.
fn cut<T, K>(list: &mut Vec<T>, limit: usize, key: impl FnOnce(&T) -> K) -> Option<K> {
    let is_more = list.len() > limit;
    list.truncate(limit);
    list.last().filter(|_| is_more).map(key)
}

/// Which runs.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WhichRuns {
    suite: Option<String>,
    machine: Option<String>,
    label: Option<String>,
    /// Only those that began before this one.
    before: Option<String>,
    limit: Option<usize>,
}

impl WhichRuns {
    /// The newest of all.
    pub(crate) fn newest(limit: usize) -> Self {
        Self { limit: Some(limit), ..Self::default() }
    }
}

/// Runs, newest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Runs {
    schema_version: u32,
    /// The runs, as `stend list --json` has them.
    pub(crate) runs: Vec<Summary>,
    /// What `before` is for the next page; none on the last one.
    pub(crate) next: Option<String>,
}

pub(crate) async fn runs(lab: Served, Query(which): Query<WhichRuns>) -> Answer<Json<Runs>> {
    newest_runs(&lab, which).await.map(Json)
}

pub(crate) async fn newest_runs(lab: &Arc<Lab>, which: WhichRuns) -> Answer<Runs> {
    let limit = page(which.limit)?;
    let all = blocking(lab, Lab::runs).await??;
    let end = match &which.before {
        None => all.len(),
        Some(before) => all.iter().position(|run| run.id == *before).ok_or_else(|| no_run(before))?,
    };
    let is_it = |wanted: &Option<String>, found: Option<&str>| wanted.as_deref().is_none_or(|it| found == Some(it));
    let matching = all[..end].iter().rev().filter(|run| {
        is_it(&which.suite, Some(&run.suite))
            && is_it(&which.machine, Some(&run.machine))
            && is_it(&which.label, run.label.as_deref())
    });
    let mut runs: Vec<_> = matching.take(limit + 1).cloned().collect();
    let next = cut(&mut runs, limit, |run| run.id.clone());
    Ok(Runs { schema_version: JSON_VERSION, runs, next })
}

/// A run in full, as `stend show --json` has it.
pub(crate) async fn run(lab: Served, Path(id): Path<String>) -> Answer<Response> {
    let id = known_run(&lab, id).await?;
    asked(&lab, ["show", &id, "--json"]).await
}

/// Which runs are compared.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Compared {
    /// Separated by commas; the first is the base.
    pub(crate) runs: String,
}

/// A comparison, as `stend compare --json` has it.
pub(crate) async fn compare(lab: Served, Query(compared): Query<Compared>) -> Answer<Response> {
    let names = names(&compared.runs)?;
    let mut words = vec!["compare", "--json", "--"];
    words.extend(&names);
    asked(&lab, words).await
}

/// The page of a report, of one run or of several compared.
pub(crate) async fn report_of(lab: &Arc<Lab>, compared: &Compared) -> Answer<Vec<u8>> {
    let mut command = vec!["report".to_owned(), "--output=-".into(), "--".into()];
    command.extend(names(&compared.runs)?.into_iter().map(str::to_owned));
    work::ask(lab, command).await
}

/// Refuses what a command would take for a file of the server's.
pub(crate) fn plain_run(name: &str) -> Result<&str, String> {
    if name.contains('/') {
        Err(format!("\"{}\" is neither a run nor a machine nor a reference", brief(name)))
    } else {
        Ok(name)
    }
}

/// Names that were given in one text. Nothing among them is an option.
pub(crate) fn names(text: &str) -> Answer<Vec<&str>> {
    let names: Vec<_> = text.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    for name in &names {
        plain_run(name).map_err(|said| Problem::new(StatusCode::BAD_REQUEST, said))?;
    }
    if !(1..=MOST_MACHINES).contains(&names.len()) {
        let said = format!("runs: name 1 to {MOST_MACHINES}, separated by commas");
        return Err(Problem::new(StatusCode::BAD_REQUEST, said));
    }
    Ok(names)
}

pub(crate) async fn suites(lab: Served) -> Answer<Response> {
    lab.suites().await.map(json)
}

/// A suite, as far as pages name it.
#[derive(Debug, Deserialize)]
pub(crate) struct Suite {
    pub(crate) name: String,
    title: String,
    titles: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
}

impl Suite {
    /// Its variables with their values, as the form takes them.
    pub(crate) fn variables(&self) -> String {
        let each = self.variables.iter().map(|(name, value)| format!("{name}={value}"));
        each.collect::<Vec<_>>().join(" ")
    }

    /// Its title in a language, by its code.
    pub(crate) fn title(&self, language: &str) -> &str {
        self.titles.get(language).unwrap_or(&self.title)
    }
}

/// The suites' names and titles.
pub(crate) async fn suite_names(lab: &Arc<Lab>) -> Answer<Vec<Suite>> {
    #[derive(Deserialize)]
    struct Suites {
        suites: Vec<Suite>,
    }
    let json = lab.suites().await?;
    let read: Suites = serde_json::from_slice(&json)
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok(read.suites)
}

pub(crate) async fn machines(lab: Served) -> Answer<Response> {
    asked(&lab, ["hosts", "--json"]).await
}

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
    let mut jobs = lab.with(move |database| database.newest(which.before, limit + 1)).await?;
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
    let job = known_job(&lab, id).await?;
    let run = job.run.clone();
    let log = blocking(&lab, move |lab| work::log(lab, &run)).await?;
    Ok(Json(JobInFull { schema_version: JSON_VERSION, job, log }))
}

/// Adds a job to the queue. `Idempotency-Key` makes a second order of the same key the first one.
pub(crate) async fn start(
    lab: Served,
    who: Extension<Who>,
    headers: HeaderMap,
    order: Sent<Order>,
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
}

/// The same for several machines or sessions: all of their jobs, or none.
pub(crate) async fn start_batch(
    lab: Served,
    who: Extension<Who>,
    headers: HeaderMap,
    batch: Sent<Batch>,
) -> Answer<(StatusCode, Json<Jobs>)> {
    let batch = read(batch)?;
    let (status, jobs) = queued(&lab, who.0, &headers, batch).await?;
    Ok((status, Json(Jobs { schema_version: JSON_VERSION, jobs })))
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
    match ordered(lab, batch, key, who.name).await? {
        Added::New(jobs) => Ok((StatusCode::CREATED, jobs)),
        Added::Again(jobs) => Ok((StatusCode::OK, jobs)),
        Added::KeyTaken => {
            let said = "Idempotency-Key: another order had this key; draw a new one for each order";
            Err(Problem::new(StatusCode::CONFLICT, said))
        }
    }
}

/// Checks an order by a dry run of its command, and adds it to the queue.
pub(crate) async fn ordered(lab: &Arc<Lab>, batch: Batch, key: Option<String>, user: Option<String>) -> Answer<Added> {
    planned(lab, &batch).await?;
    let add = move |database: &Database| {
        database.at_once(|| {
            // The role may have been lost since it was asked for, so it is looked at where nothing comes between.
            if let Some(name) = &user
                && database.user(name)?.is_none_or(|user| user.role < Role::Operator)
            {
                return Err(ServerError::Refused(format!("{name} may no longer start runs")));
            }
            let added = database.add(&batch, key.as_deref(), user.as_deref())?;
            if let Added::New(jobs) = &added {
                for job in jobs {
                    database.note(Kind::RunQueued, user.as_deref(), &job.run, &job.order.suite)?;
                }
            }
            Ok(added)
        })
    };
    let added = lab.with(add).await?;
    lab.changed();
    Ok(added)
}

/// What a dry run says of an order.
pub(crate) async fn planned(lab: &Arc<Lab>, batch: &Batch) -> Answer<String> {
    refuse_words(&batch.order)?;
    batch.check()?;
    for machine in &batch.machines {
        known_machine(lab, machine).await.map_err(|problem| problem.unprocessable())?;
    }
    let mut words = batch.words();
    words.push("--dry-run".into());
    let plan = work::done(lab, words).await?;
    Ok(String::from_utf8_lossy(&plan.stdout).into_owned())
}

/// Refuses a machine that is not one of the lab's.
pub(crate) async fn known_machine(lab: &Arc<Lab>, name: &str) -> Answer<()> {
    let known = lab.machines().await?;
    if known.iter().any(|machine| machine == name) {
        return Ok(());
    }
    Err(Problem::not_found(format!("machine: there is no \"{}\"; there are {}", brief(name), known.join(", "))))
}

/// A suite is one of the program's: a path would be a file of whoever runs the server. A side is no option.
fn refuse_words(order: &Order) -> Answer<()> {
    let unfit = |what: &str| Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, what));
    let is_plain = |character: char| character.is_ascii_alphanumeric() || character == '-' || character == '_';
    if !order.suite.starts_with(|first: char| first.is_ascii_alphanumeric()) || !order.suite.chars().all(is_plain) {
        return unfit("suite: name one of the program's suites");
    }
    if !(-10..=10).contains(&order.priority) {
        return unfit("priority: it is -10 to 10");
    }
    if order.sides.iter().flatten().any(|side| side.starts_with('-')) {
        return unfit("sides: a side is a list of settings KEY=VALUE, and begins with no hyphen");
    }
    Ok(())
}

/// What a dry run says, and what is wrong with an order.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Plan {
    schema_version: u32,
    /// What would be done, in lines.
    plan: String,
}

/// Says what an order would do, and queues nothing.
pub(crate) async fn plan(lab: Served, order: Sent<Order>) -> Answer<Json<Plan>> {
    let batch = read(order)?.into();
    Ok(Json(Plan { schema_version: JSON_VERSION, plan: planned(&lab, &batch).await? }))
}

/// Stops a job: one that waits at once, one that is measured after the repeat that is being made.
pub(crate) async fn stop(lab: Served, who: Extension<Who>, Path(id): Path<i64>) -> Answer<Json<Job>> {
    stopped(&lab, id, who.0.name).await.map(Json)
}

pub(crate) async fn stopped(lab: &Arc<Lab>, id: i64, user: Option<String>) -> Answer<Job> {
    use crate::jobs::State::{Running, Stopped, Stopping, Waiting};
    let job = known_job(lab, id).await?;
    let run = job.run.clone();
    let set = move |database: &Database| {
        database.at_once(|| {
            let is_at_work = !database.set(id, &[Waiting], Stopped, None)?;
            if !is_at_work || database.set(id, &[Running], Stopping, None)? {
                database.note(Kind::RunStopped, user.as_deref(), &run, &job.order.suite)?;
            }
            Ok(is_at_work)
        })
    };
    if lab.with(set).await? {
        // One that has ended has no process.
        blocking(lab, move |lab| work::stop(lab, &job.run)).await?;
    }
    lab.changed();
    known_job(lab, id).await
}

/// Goes on with a job that was stopped or has failed.
pub(crate) async fn resume(lab: Served, who: Extension<Who>, Path(id): Path<i64>) -> Answer<Json<Job>> {
    resumed(&lab, id, who.0.name).await.map(Json)
}

pub(crate) async fn resumed(lab: &Arc<Lab>, id: i64, user: Option<String>) -> Answer<Job> {
    use crate::jobs::State::{Failed, Stopped, Waiting};
    let job = known_job(lab, id).await?;
    let set = move |database: &Database| {
        database.at_once(|| {
            let has_set = database.set(id, &[Stopped, Failed], Waiting, None)?;
            if has_set {
                database.note(Kind::RunResumed, user.as_deref(), &job.run, &job.order.suite)?;
            }
            Ok(has_set)
        })
    };
    if !lab.with(set).await? {
        return Err(Problem::new(StatusCode::CONFLICT, format!("job {id} is neither stopped nor failed")));
    }
    lab.changed();
    known_job(lab, id).await
}

/// The API's description.
pub(crate) async fn openapi() -> Json<serde_json::Value> {
    Json(openapi::document())
}

/// The schemas of what commands print, to which it refers.
pub(crate) async fn output_schema() -> Response {
    let text = include_str!("../../../docs/reference/output.schema.json");
    ([(CONTENT_TYPE, "application/schema+json")], text).into_response()
}

/// The repeats of a run as they are stored, behind that of `Last-Event-ID`.
pub(crate) async fn events(
    lab: Served,
    who: Extension<Who>,
    Path(run): Path<String>,
    headers: HeaderMap,
) -> Answer<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    let is_waited_for = {
        let run = run.clone();
        lab.with(move |database| database.job_of_run(&run)).await?.is_some()
    };
    let run = if is_waited_for { run } else { known_run(&lab, run).await? };
    let last = headers.get("last-event-id").map(|id| id.to_str().ok().and_then(|id| id.parse::<u32>().ok()));
    if last == Some(None) {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "Last-Event-ID: it is the number of a repeat"));
    }
    let view = lab.streams.watch(&run).ok_or_else(|| {
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "too many runs are watched at once; come back later")
    })?;
    let events = Events::new(Arc::clone(&lab), run, view, last.flatten());
    let events = tokio_stream::StreamExt::map(Events::while_signed_in(lab.0, who.0, events), Ok);
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))))
}

/// Says whenever the queue, the schedule or the journal has changed, and with the first event that one listens.
pub(crate) async fn changes(lab: Served, who: Extension<Who>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let changes = tokio_stream::wrappers::WatchStream::new(lab.changes());
    let changes =
        tokio_stream::StreamExt::map(changes, |count| Event::default().event("change").data(count.to_string()));
    let events = tokio_stream::StreamExt::map(Events::while_signed_in(lab.0, who.0, changes), Ok);
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}

/// What one viewer has not been told yet.
struct Events {
    receiver: tokio::sync::mpsc::Receiver<Event>,
}

impl Events {
    /// The same, until who asked may ask no more: signed out, removed, or given another password.
    fn while_signed_in(lab: Arc<Lab>, who: Who, events: impl Stream<Item = Event> + Send + 'static) -> Self {
        let (sender, receiver) = tokio::sync::mpsc::channel(1);
        tokio::spawn(async move {
            let mut events = std::pin::pin!(events);
            let mut changes = lab.changes();
            // What ends by itself is no change.
            let mut looks = tokio::time::interval(Duration::from_secs(15));
            loop {
                tokio::select! {
                    event = tokio_stream::StreamExt::next(&mut events) => {
                        let Some(event) = event else { return };
                        if sender.send(event).await.is_err() {
                            return;
                        }
                        continue;
                    }
                    changed = changes.changed() => if changed.is_err() { return },
                    _ = looks.tick() => {}
                    () = sender.closed() => return,
                }
                let who = who.clone();
                if !matches!(lab.with(move |database| database.still(&who, now())).await, Ok(Some(_))) {
                    return;
                }
            }
        });
        Self { receiver }
    }

    /// A task tells the viewer each repeat behind `last` in its order, then how far the run is, and that again whenever it changes.
    fn new(lab: Arc<Lab>, run: String, mut view: View, mut last: Option<u32>) -> Self {
        // A viewer that does not read is waited for, and keeps nothing but its place.
        let (sender, receiver) = tokio::sync::mpsc::channel(16);
        tokio::spawn(async move {
            let mut told: Option<Arc<str>> = None;
            let mut changes = lab.changes();
            changes.mark_changed();
            let mut state = None;
            loop {
                if changes.has_changed().unwrap_or(false) {
                    changes.mark_unchanged();
                    let run = run.clone();
                    let job = lab.with(move |database| database.job_of_run(&run)).await.ok().flatten();
                    let now = job.map(|job| job.state);
                    if let Some(word) = now.filter(|_| now != state) {
                        state = now;
                        if sender.send(Event::default().event("job").data(word.word())).await.is_err() {
                            return;
                        }
                    }
                }
                let Seen { repeats: new, progress, ended } = view.news(last);
                for (sequence, text) in new {
                    last = Some(sequence);
                    let event = Event::default().event("repeat").id(sequence.to_string()).data(text);
                    if sender.send(event).await.is_err() {
                        return;
                    }
                }
                if let Some(text) = progress.filter(|text| told.as_ref() != Some(text)) {
                    told = Some(Arc::clone(&text));
                    if sender.send(Event::default().event("progress").data(text)).await.is_err() {
                        return;
                    }
                }
                if ended && !state.is_some_and(crate::jobs::State::is_at_work) {
                    // So that a browser does not ask again.
                    let _ = sender.send(Event::default().event("end").data("")).await;
                    return;
                }
                tokio::select! {
                    more = view.changed() => if !more { return },
                    changed = changes.changed() => if changed.is_err() { return } else { changes.mark_changed() },
                    () = sender.closed() => return,
                }
            }
        });
        Self { receiver }
    }
}

impl Stream for Events {
    type Item = Event;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Event>> {
        self.receiver.poll_recv(context)
    }
}

/// Does what waits for the disk or a process on a thread of its own.
pub(crate) async fn blocking<T: Send + 'static>(
    lab: &Arc<Lab>,
    act: impl FnOnce(&Lab) -> T + Send + 'static,
) -> Answer<T> {
    let lab = Arc::clone(lab);
    let done = tokio::task::spawn_blocking(move || act(&lab)).await;
    done.map_err(|panic| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, panic.to_string()))
}

/// The JSON of a command.
async fn asked<'a>(lab: &Arc<Lab>, words: impl IntoIterator<Item = &'a str>) -> Answer<Response> {
    let words: Vec<_> = words.into_iter().map(str::to_owned).collect();
    work::ask(lab, words).await.map(json)
}

fn json(printed: Vec<u8>) -> Response {
    ([(CONTENT_TYPE, "application/json")], Body::from(printed)).into_response()
}

/// The id that a run goes by, or has as a label.
pub(crate) async fn known_run(lab: &Arc<Lab>, wanted: String) -> Answer<String> {
    let found = blocking(lab, move |lab| {
        let store = Store::open_to_read(&lab.store).map_err(ServerError::from)?;
        match store.resolve(&wanted) {
            Ok(id) => Ok(id),
            Err(error) if error.is_of_a_name() => Err(no_run(&wanted)),
            Err(error) => Err(ServerError::from(error).into()),
        }
    });
    found.await?
}

fn no_run(wanted: &str) -> Problem {
    Problem::not_found(format!("no run is \"{}\"", brief(wanted)))
}

/// What somebody sent, as far as it is worth repeating.
pub(crate) fn brief(text: &str) -> String {
    text.chars().take(80).collect()
}

pub(crate) async fn known_job(lab: &Arc<Lab>, id: i64) -> Answer<Job> {
    lab.with(move |database| database.job(id)).await?.ok_or_else(|| Problem::not_found(format!("there is no job {id}")))
}
