//! The API, for programs: JSON in the shapes that `--json` of the commands has.

pub(crate) mod accounts;
pub(crate) mod files;
pub(crate) mod imports;
pub(crate) mod jobs;
pub(crate) mod journal;
pub(crate) mod nodes;
pub(crate) mod plan;
pub(crate) mod schedule;

use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stend_model::record::{JSON_VERSION, Summary};
use stend_model::run::HERE;
use stend_model::weight::Known;
use stend_store::Store;
use tokio_stream::Stream;

use crate::accounts::Who;
use crate::archive;
use crate::error::ServerError;
use crate::guard::now;
use crate::lab::{Lab, Machine};
use crate::live::{self, Seen, View};
use crate::openapi;
use crate::order::{MOST_MACHINES, is_label};
use crate::peers;
use crate::problem::Problem;
use crate::work;

/// No page of a list has more, whatever is asked for.
pub(crate) const LARGEST_PAGE: usize = 1000;
const USUAL_PAGE: usize = 100;

/// No key of an order is longer.
pub(crate) const LONGEST_KEY: usize = 200;

type Answer<T> = Result<T, Problem>;
pub(crate) type Served = State<Arc<Lab>>;

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
    let read: Suites = serde_json::from_slice(&json).map_err(|error| strange(&error))?;
    Ok(read.suites)
}

/// What is said of words of a command that are not what it says.
fn strange(error: &serde_json::Error) -> Problem {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
}

/// What `stend hosts --json` says.
#[derive(Serialize, Deserialize)]
struct Hosts {
    schema_version: u32,
    hosts: Vec<Known>,
}

/// What `stend hosts` lists, and the machines that other nodes have.
pub(crate) async fn machines(lab: Served) -> Answer<Response> {
    let listed = work::ask(&lab, ["hosts", "--json"].map(str::to_owned).into()).await?;
    if lab.fleet.is_none() {
        return Ok(json(listed));
    }
    let Hosts { mut hosts, .. } = serde_json::from_slice(&listed).map_err(|error| strange(&error))?;
    // This machine goes by its name in the fleet.
    hosts.iter_mut().filter(|known| known.name == HERE).for_each(|known| lab.here().clone_into(&mut known.name));
    let mut hosts: BTreeMap<String, Known> = hosts.into_iter().map(|known| (known.name.clone(), known)).collect();
    for Machine { name, labels } in lab.machines().await? {
        let known = hosts.entry(name.clone()).or_insert_with(|| Known { name, ..Known::default() });
        let pairs = labels.iter().filter_map(|label| label.split_once('='));
        known.labels.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }
    Ok(Json(Hosts { schema_version: JSON_VERSION, hosts: hosts.into_values().collect() }).into_response())
}

/// Refuses a machine that is not one of the lab's.
pub(crate) async fn known_machine(lab: &Arc<Lab>, name: &str) -> Answer<()> {
    let known = lab.machines().await?;
    if known.iter().any(|machine| machine.name == name) { Ok(()) } else { Err(no_machine(name, &known)) }
}

/// What is said of a name, or a label, that no machine has.
pub(crate) fn no_machine(wanted: &str, known: &[Machine]) -> Problem {
    let wanted = brief(wanted);
    if is_label(&wanted) {
        let labels: BTreeSet<String> = known.iter().flat_map(|machine| machine.labels.clone()).collect();
        let all = labels.into_iter().collect::<Vec<_>>().join(", ");
        let there = if all.is_empty() { "none has a label".to_owned() } else { format!("there are {all}") };
        return Problem::not_found(format!("machine: none has the label {wanted}; {there}"));
    }
    let names = known.iter().map(|machine| machine.name.as_str()).collect::<Vec<_>>().join(", ");
    Problem::not_found(format!("machine: there is no \"{wanted}\"; there are {names}"))
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

/// How long a run is followed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Until {
    until: Option<End>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum End {
    /// Until its job has ended, also by a failure or a stop. Otherwise that is awaited which may go on.
    Ended,
}

/// The repeats of a run as they are stored, behind that of `Last-Event-ID`.
pub(crate) async fn events(
    lab: Served,
    who: Extension<Who>,
    Path(run): Path<String>,
    Query(Until { until }): Query<Until>,
    headers: HeaderMap,
) -> Answer<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    let is_waited_for = lab.known().job_of_run(&run).is_some();
    let run = if is_waited_for { run } else { known_run(&lab, run).await? };
    let last = headers.get("last-event-id").map(|id| id.to_str().ok().and_then(|id| id.parse::<u32>().ok()));
    if last == Some(None) {
        return Err(Problem::new(StatusCode::BAD_REQUEST, "Last-Event-ID: it is the number of a repeat"));
    }
    let view = lab.streams.watch(&run).ok_or_else(|| {
        Problem::new(StatusCode::TOO_MANY_REQUESTS, "too many runs are watched at once; come back later")
    })?;
    let events = Events::new(Arc::clone(&lab), run, view, last.flatten(), until);
    Ok(while_signed_in(lab.0, who.0, events))
}

/// Says whenever the queue, the schedule or the journal has changed, and with the first event that one listens.
pub(crate) async fn changes(lab: Served, who: Extension<Who>) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let changes = tokio_stream::wrappers::WatchStream::new(lab.changes());
    let changes =
        tokio_stream::StreamExt::map(changes, |count| Event::default().event("change").data(count.to_string()));
    while_signed_in(lab.0, who.0, changes)
}

/// Sends events until who asked may do no more what they might: signed out, removed, given another password or a lower role.
pub(crate) fn while_signed_in(
    lab: Arc<Lab>,
    who: Who,
    events: impl Stream<Item = Event> + Send + 'static,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let events = tokio_stream::StreamExt::map(Events::while_signed_in(lab, who, events), Ok);
    Sse::new(events).keep_alive(KeepAlive::new().interval(Duration::from_secs(15)))
}

/// What one viewer has not been told yet.
struct Events {
    receiver: tokio::sync::mpsc::Receiver<Event>,
}

impl Events {
    /// The same, until who asked may do less than then.
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
                if lab.known().still(&who, now()).is_none_or(|still| still.role < who.role) {
                    return;
                }
            }
        });
        Self { receiver }
    }

    /// A task tells the viewer each repeat behind `last` in its order, then how far the run is, and that again whenever it changes.
    fn new(lab: Arc<Lab>, run: String, mut view: View, mut last: Option<u32>, until: Option<End>) -> Self {
        // A viewer that does not read is waited for, and keeps nothing but its place.
        let (sender, receiver) = tokio::sync::mpsc::channel(16);
        tokio::spawn(async move {
            let mut told: Option<Arc<str>> = None;
            // What another node does with the run from now on is in that node's store, and who asks again is led there.
            let here = lab.here().to_owned();
            let node = lab.known().job_of_run(&run).and_then(|job| job.node.clone());
            let is_elsewhere = move |now: Option<&str>| now != node.as_deref() && now.is_some_and(|now| now != here);
            let mut elsewhere = std::pin::pin!(peers::handed_on(Arc::clone(&lab), run.clone(), is_elsewhere));
            let mut changes = lab.changes();
            changes.mark_changed();
            let mut state = None;
            loop {
                if changes.has_changed().unwrap_or(false) {
                    changes.mark_unchanged();
                    let now = lab.known().job_of_run(&run).map(|job| job.state);
                    if let Some(word) = now.filter(|_| now != state) {
                        state = now;
                        if sender.send(Event::default().event("job").data(word.word())).await.is_err() {
                            return;
                        }
                    }
                }
                let is_last = until == Some(End::Ended) && state.is_some_and(|state| !state.is_open());
                let Seen { repeats: mut new, progress, ended } = view.news(last);
                if is_last {
                    // The look-out may not have seen the last ones yet.
                    let (run, after) = (run.clone(), new.last().map(|(sequence, _)| *sequence).or(last));
                    let rest = blocking(&lab, move |lab| live::stored(&lab.store, &run, after)).await;
                    new.extend(rest.into_iter().flat_map(Result::unwrap_or_default));
                }
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
                if is_last || ended && !state.is_some_and(crate::jobs::State::is_at_work) {
                    // So that a browser does not ask again.
                    let _ = sender.send(Event::default().event("end").data("")).await;
                    return;
                }
                tokio::select! {
                    more = view.changed() => if !more { return },
                    changed = changes.changed() => if changed.is_err() { return } else { changes.mark_changed() },
                    () = &mut elsewhere => return,
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

pub(crate) fn json(printed: Vec<u8>) -> Response {
    ([(CONTENT_TYPE, "application/json")], Body::from(printed)).into_response()
}

/// The id that a run goes by, or has as a label.
pub(crate) async fn known_run(lab: &Arc<Lab>, wanted: String) -> Answer<String> {
    archive::arrive(lab, &[&wanted]).await;
    blocking(lab, move |lab| find_run(lab, &wanted)).await?
}

/// The same, on a thread that may wait for the disk.
pub(crate) fn find_run(lab: &Lab, wanted: &str) -> Answer<String> {
    let store = Store::open_to_read(&lab.store).map_err(ServerError::from)?;
    match store.resolve(wanted) {
        Ok(id) => Ok(id),
        Err(error) if error.is_of_a_name() => Err(no_run(wanted)),
        Err(error) => Err(ServerError::from(error).into()),
    }
}

fn no_run(wanted: &str) -> Problem {
    Problem::not_found(format!("no run is \"{}\"", brief(wanted)))
}

/// What somebody sent, as far as it is worth repeating.
pub(crate) fn brief(text: &str) -> String {
    text.chars().take(80).collect()
}
