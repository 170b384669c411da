//! What agents ask a node: to see the jobs of their own machine, and to change what is about those.
//!
//! An agent is a node that reaches no etcd. It has its memory, claims and beats as any node, and a node stands between it and what the fleet agrees on:
//! that node shows it what is about its machine, and refuses whatever else it would change. A change of a job is made on the condition that the agent's
//! claim is unchanged, so what an agent may do and what a node may do that has lost its claim are one question.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use stend_fleet::{Change, Claim, Committed, Condition, Entry, FOLLOWED, Known as _, Revision, Trouble};

use crate::accounts::{Agent, digest};
use crate::api::{Served, blocking};
use crate::archive::{self, Archived};
use crate::connections;
use crate::database::{Records, numbered};
use crate::fleet::NodeEntry;
use crate::guard::{bearer, now};
use crate::jobs::{self, Job, Progress};
use crate::journal::{Kind as Noting, Noted};
use crate::lab::Lab;
use crate::peers;
use crate::problem::Problem;
use crate::update::{UPDATE, Update};

/// How often an agent is told that there is nothing new: one that hears nothing asks another node.
pub(crate) const ALIVE: Duration = Duration::from_secs(5);

/// The entry that says which agent it is, and by which node it is heard. It is in no agreement.
pub(crate) const AGENT: &str = "agent";

/// Where an agent puts an entry of the journal: it does not see the numbers.
pub(crate) const NEW_ENTRY: &str = "lab/journal/new/";

/// No changes of an agent are longer: one may be a piece of a run.
const LONGEST_CHANGES: usize = 1 << 20;

/// Nor is an entry that is no part of a run.
const LONGEST_ENTRY: usize = 64 << 10;

/// What an agent is told of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Myself {
    pub(crate) name: String,
    /// The node that is asked.
    pub(crate) node: String,
    /// Where agents find a node, by their names.
    pub(crate) nodes: BTreeMap<String, Place>,
}

/// Where a node is found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) url: String,
    /// The certificate that it shows, if it made it itself.
    pub(crate) certificate: Option<String>,
}

/// All that an agent sees, as it is at a revision. An agent passes over what is older than what it has, so nothing at revision 0 says nothing new.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct View {
    pub(crate) revision: Revision,
    pub(crate) entries: Vec<Entry>,
}

/// Changes as they are sent. A key without a revision is to be absent, and one without a value is to be removed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) conditions: Vec<(String, Option<Revision>)>,
    pub(crate) changes: Vec<(String, Option<String>)>,
}

/// What became of them.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    /// The revision at which they were made; none if a condition does not hold.
    pub(crate) revision: Option<Revision>,
    /// What the agent sees afterwards; nothing at revision 0 where it follows nothing that was changed. The version before reads no answer without it.
    pub(crate) view: View,
}

/// Why a node could not ask.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NotDone {
    pub(crate) detail: String,
    /// Whether it may be done all the same.
    pub(crate) is_open: bool,
}

/// Lets agents pass.
pub(crate) async fn agents(State(lab): State<Arc<Lab>>, mut request: Request, next: Next) -> Response {
    if let Some(why) = lab.cut_off() {
        let said = format!("this node does not hear of the fleet: {why}");
        return answered::<()>(Ok(Err(Trouble::Unreached(said))));
    }
    let agent = match bearer(request.headers()) {
        Some(secret) => lab.of_secret(&digest(secret), |known| known.agent(secret, now())).await,
        None => None,
    };
    match agent {
        Some(agent) if lab.fleet.is_some() => {
            request.extensions_mut().insert(agent);
            next.run(request).await
        }
        _ => Problem::new(StatusCode::UNAUTHORIZED, "this is no agent of the fleet, or no longer").into_response(),
    }
}

/// The jobs of a machine that have not ended, and those that belong to the same orders: by the first of each order.
fn orders_of(known: &Records, machine: &str) -> BTreeMap<i64, Vec<i64>> {
    let open = known.open_on.get(machine).into_iter().flatten();
    let of_order = |id: &i64| known.order_of(*id).map(|(first, numbers)| (first, numbers.collect()));
    open.filter_map(of_order).collect()
}

/// What an agent sees: the orders of its machine that have not ended, how far they are, and who else reaches the machine.
fn seen_by(lab: &Lab, known: &Records, name: &str) -> Vec<Entry> {
    let mut told = Vec::new();
    let mut tell = |key: String, revision: Option<Revision>, value: Option<String>| {
        if let (Some(revision), Some(value)) = (revision, value) {
            told.push(Entry { key: format!("{FOLLOWED}{key}"), value, revision });
        }
    };
    fn text(value: Option<&impl Serialize>) -> Option<String> {
        value.map(|value| serde_json::to_string(value).expect("it can be written"))
    }
    for (first, jobs) in orders_of(known, name) {
        let key = numbered(first);
        tell(format!("order/{key}"), known.orders.revision(&key), text(known.orders.get(&key)));
        for job in jobs {
            let key = numbered(job);
            tell(format!("job/{key}"), known.progress.revision(&key), text(known.progress.get(&key)));
            let key = format!("claim/{job}");
            tell(key.clone(), known.claims.revision(&key), text(known.claims.of(&job.to_string())));
        }
    }
    let key = format!("machine/{name}");
    tell(key.clone(), known.claims.revision(&key), text(known.claims.on(name).as_ref()));
    let reaches = |(node, entry): &(&str, &NodeEntry)| *node == name || entry.machines.iter().any(|it| it == name);
    for (node, entry) in known.nodes.iter().filter(reaches) {
        tell(format!("node/{node}"), known.nodes.revision(node), text(Some(entry)));
    }
    // When this node is the new version, it has what an agent takes.
    let is_new =
        |update: &&Update| known.nodes.get(lab.here()).is_some_and(|node| node.program.as_deref() == update.wanted());
    tell(UPDATE.to_owned(), known.update.revision(""), text(known.update.get("").filter(is_new)));
    let place = |(node, entry): (&str, &NodeEntry)| {
        (node.to_owned(), Place { url: entry.url.clone(), certificate: entry.certificate.clone() })
    };
    // What listens on this machine alone is no node on another one.
    let machine = known.nodes.get(name).map(|entry| &entry.machine);
    let is_found = |(node, entry): &(&str, &NodeEntry)| {
        let is_elsewhere =
            || peers::is_here(&entry.url).is_ok_and(|is_here| !is_here || machine == Some(&entry.machine));
        !entry.is_agent() && (*node == lab.here() || is_elsewhere())
    };
    let nodes = known.nodes.iter().filter(is_found).map(place).collect();
    let myself = Myself { name: name.to_owned(), node: lab.here().to_owned(), nodes };
    tell(AGENT.to_owned(), Some(0), text(Some(&myself)));
    told
}

fn view(lab: &Lab, name: &str) -> View {
    let known = lab.known();
    View { revision: known.at(), entries: seen_by(lab, &known, name) }
}

/// What an agent sees, again whenever that changes, until it is no agent any more.
pub(crate) async fn watch(lab: Served, agent: Extension<Agent>) -> Response {
    let (sender, receiver) = tokio::sync::mpsc::channel::<Result<Bytes, Infallible>>(4);
    let (lab, agent) = (lab.0, agent.0);
    tokio::spawn(async move {
        let mut changes = lab.changes();
        let (mut last, mut is_silent) = (None, false);
        while lab.known().is_agent(&agent, now()) {
            let view = view(&lab, &agent.name);
            let is_new = last.as_ref() != Some(&view.entries);
            let line = if is_new { serde_json::to_string(&view).expect("it can be written") } else { String::new() };
            if (is_new || is_silent) && sender.send(Ok(format!("{line}\n").into())).await.is_err() {
                return;
            }
            last = Some(view.entries);
            tokio::select! {
                changed = tokio::time::timeout(ALIVE, changes.changed()) => is_silent = changed.is_err(),
                () = sender.closed() => return,
            }
        }
    });
    let lines = tokio_stream::wrappers::ReceiverStream::new(receiver);
    ([(CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response()
}

/// A key, or what keys begin with.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Which {
    key: Option<String>,
    prefix: Option<String>,
}

/// What an agent sees at this moment, or entries that are in no memory.
pub(crate) async fn entries(lab: Served, agent: Extension<Agent>, Query(which): Query<Which>) -> Response {
    let read = blocking(&lab, move |lab| {
        let agreement = lab.database.0.agreement();
        let may = |key: &str| refused_unless(may_read(&lab.known(), &agent.name, key), key);
        match which {
            Which { key: None, prefix: None } => Ok(view(lab, &agent.name)),
            Which { key: Some(key), prefix: None } => {
                may(&key)?;
                let found = agreement.get(&key)?;
                Ok(View { revision: 0, entries: found.into_iter().collect() })
            }
            Which { key: None, prefix: Some(prefix) } => {
                refused_unless(may_list(&lab.known(), &agent.name, &prefix), &prefix)?;
                let listing = agreement.list(&prefix)?;
                Ok(View { revision: listing.revision, entries: listing.entries })
            }
            Which { .. } => Err(Trouble::Refused("give a key or a prefix".into())),
        }
    });
    answered(read.await)
}

/// Makes changes of an agent, if they are about its own machine.
pub(crate) async fn commit(lab: Served, agent: Extension<Agent>, body: Body) -> Response {
    let body = match connections::whole(body, LONGEST_CHANGES).await {
        Ok(body) => body,
        Err(problem) => return problem.into_response(),
    };
    let done = blocking(&lab, move |lab| {
        let strange = |error: serde_json::Error| Trouble::Refused(format!("no changes: {error}"));
        let Asked { conditions, changes } = serde_json::from_slice(&body).map_err(strange)?;
        let condition = |(key, revision): (String, Option<Revision>)| match revision {
            Some(revision) => Condition::Unchanged(key, revision),
            None => Condition::Absent(key),
        };
        let mut conditions: Vec<_> = conditions.into_iter().map(condition).collect();
        let change = |(key, value): (String, Option<String>)| match value {
            Some(value) => Change::Put(key, value),
            None => Change::Remove(key),
        };
        let mut changes: Vec<_> = changes.into_iter().map(change).collect();
        let missed = {
            let known = lab.known();
            check(&known, &agent.name, &conditions, &changes)?;
            fit(&known, &agent.name, &mut conditions, &mut changes)?;
            let missed = hold(&known, &conditions).then(|| known.at() + 1);
            // What this node knows may be old: whoever is revoked meanwhile changes nothing.
            conditions.push(known.is_still(&agent)?);
            missed
        };
        let is_followed = changes.iter().any(|change| key_of(change).starts_with(FOLLOWED));
        // What the agent is shown has what it changed, or what this node has missed. A beat changes nothing that it is shown.
        let (revision, news) = match lab.database.0.agreement().commit(&conditions, &changes)? {
            Committed::At(revision) if !is_followed => {
                return Ok(Done { revision: Some(revision), view: View::default() });
            }
            Committed::At(revision) => (Some(revision), Some(revision)),
            Committed::Refused => (None, missed),
        };
        news.iter().for_each(|news| lab.database.0.wait_for(*news));
        Ok(Done { revision, view: view(lab, &agent.name) })
    });
    answered(done.await)
}

/// A finished run of an agent, as a file for the archive.
pub(crate) async fn keep(
    lab: Served,
    agent: Extension<Agent>,
    Path(sha256): Path<String>,
    body: Body,
) -> Result<Response, Problem> {
    let is_at_work = lab.known().claims.on(&agent.name).is_some();
    if !is_at_work {
        return Err(Problem::new(StatusCode::FORBIDDEN, "this agent is at work for no run"));
    }
    archive::keep_sent(&lab, &sha256, body).await?;
    Ok(Json(lab.here().to_owned()).into_response())
}

fn answered<T: Serialize>(done: Result<Result<T, Trouble>, Problem>) -> Response {
    let (status, not_done) = match done {
        Ok(Ok(done)) => return Json(done).into_response(),
        Ok(Err(Trouble::Refused(detail))) => (StatusCode::FORBIDDEN, NotDone { detail, is_open: false }),
        Ok(Err(Trouble::Unreached(detail))) => (StatusCode::SERVICE_UNAVAILABLE, NotDone { detail, is_open: false }),
        Ok(Err(Trouble::Unknown(detail))) => (StatusCode::SERVICE_UNAVAILABLE, NotDone { detail, is_open: true }),
        Err(problem) => return problem.into_response(),
    };
    (status, Json(not_done)).into_response()
}

fn refused_unless(is_fine: bool, key: &str) -> Result<(), Trouble> {
    if is_fine { Ok(()) } else { Err(Trouble::Refused(format!("{}: it is not this agent's", crate::api::brief(key)))) }
}

fn key_of(change: &Change) -> &str {
    let (Change::Put(key, _) | Change::Remove(key)) = change;
    key
}

/// Whether those of the conditions that a node has in its memory hold by that, and there are some.
fn hold(known: &Records, conditions: &[Condition]) -> bool {
    let followed = |condition: &Condition| {
        let (key, revision) = match condition {
            Condition::Unchanged(key, revision) => (key, Some(*revision)),
            Condition::Absent(key) => (key, None),
        };
        Some(known.revision(key.strip_prefix(FOLLOWED)?) == revision)
    };
    let followed: Vec<bool> = conditions.iter().filter_map(followed).collect();
    !followed.is_empty() && followed.iter().all(|holds| *holds)
}

/// A job of a machine, by its number as it is written in keys.
fn job_of<'a>(known: &'a Records, machine: &str, number: &str) -> Option<&'a Job> {
    let job = known.job(number.parse().ok()?)?;
    (job.id.to_string() == number && job.machine() == machine).then_some(job)
}

fn is_of(known: &Records, machine: &str, job: &str) -> bool {
    job_of(known, machine, job).is_some()
}

/// Whether an agent may read all entries whose keys begin so.
fn may_list(known: &Records, name: &str, prefix: &str) -> bool {
    let mut parts = prefix.splitn(3, '/');
    let kind = parts.next().is_some_and(|kind| ["repeat", "piece"].contains(&kind));
    kind && parts.next().is_some_and(|job| is_of(known, name, job)) && parts.next().is_some()
}

/// Whether an agent may read an entry.
fn may_read(known: &Records, name: &str, key: &str) -> bool {
    let (first, rest) = key.split_once('/').unwrap_or((key, ""));
    let orders = || orders_of(known, name);
    let has_job = |id: &str| id.parse().is_ok_and(|id: i64| orders().values().flatten().any(|job| *job == id));
    match first {
        "beat" => rest == name,
        "word" => rest.strip_prefix(name) == Some("/agent"),
        "repeat" | "piece" => may_list(known, name, key),
        "began" | "log" => is_of(known, name, rest),
        "text" => orders().keys().any(|first| {
            known.orders.get(&numbered(*first)).is_some_and(|order| order.files().any(|digest| digest == rest))
        }),
        "lab" => match rest.split_once('/') {
            Some(("order", id)) => orders().keys().any(|first| numbered(*first) == id),
            Some(("job" | "claim", id)) => has_job(id),
            Some(("machine" | "node", it)) => it == name,
            Some(("archive", run)) => known.job_of_run(run).is_some_and(|job| job.machine() == name),
            _ => false,
        },
        _ => false,
    }
}

/// Refuses what an agent would change that is not its own.
fn check(known: &Records, name: &str, conditions: &[Condition], changes: &[Change]) -> Result<(), Trouble> {
    let is_conditional = |key: &str| {
        conditions.iter().any(|condition| match condition {
            Condition::Unchanged(it, _) | Condition::Absent(it) => it == key,
        })
    };
    // The claim that a node knows of may be old: then the condition does not hold.
    let holds = |job: &str| {
        let key = format!("claim/{job}");
        let is_own = known.claims.of(job).is_some_and(|claim| claim.node == name && claim.machine == name);
        let held = known.claims.revision(&key).filter(|_| is_own);
        held.is_some_and(|held| conditions.contains(&Condition::Unchanged(format!("{FOLLOWED}{key}"), held)))
    };
    let claims = |job: &str| {
        let key = format!("{FOLLOWED}claim/{job}");
        let machine = format!("{FOLLOWED}machine/{name}");
        let puts = |key: &str| changes.iter().any(|change| matches!(change, Change::Put(it, _) if it == key));
        // Of a machine that is free, so an agent has one claim.
        let is_free = [&key, &machine].iter().all(|key| conditions.contains(&Condition::Absent((*key).clone())));
        let is_open = job_of(known, name, job).is_some_and(|job| job.state.is_open());
        is_free && is_open && puts(&key) && puts(&machine)
    };
    let may_change = |change: &Change| {
        let key = key_of(change);
        let value = if let Change::Put(_, value) = change { Some(value.as_str()) } else { None };
        let (first, rest) = key.split_once('/').unwrap_or((key, ""));
        let job = rest.split('/').next().unwrap_or_default();
        let is_short = value.is_none_or(|value| value.len() <= LONGEST_ENTRY);
        // Of a run that has ended nobody needs its parts.
        let is_over = || job_of(known, name, job).is_some_and(|job| job.state == jobs::State::Finished);
        match (first, value) {
            ("beat", Some(_)) => rest == name && is_conditional(key) && is_short,
            ("word", Some(_)) => may_read(known, name, key) && is_short,
            ("repeat" | "piece", Some(_)) => may_list(known, name, key) && holds(job),
            ("began" | "log", Some(_)) => is_of(known, name, rest) && holds(job) && is_short,
            ("repeat" | "piece", None) => {
                may_list(known, name, key) && is_conditional(key) && (holds(job) || is_over())
            }
            ("began", None) => is_of(known, name, rest) && is_conditional(key) && (holds(job) || is_over()),
            ("lab", _) => {
                is_short && is_conditional(key) && may_change_followed(known, name, rest, value, &holds, &claims)
            }
            _ => false,
        }
    };
    for change in changes {
        let key = key_of(change);
        refused_unless(key.starts_with(NEW_ENTRY) || may_change(change), key)?;
    }
    let condition_key = |condition: &Condition| match condition {
        Condition::Unchanged(key, _) | Condition::Absent(key) => key.clone(),
    };
    for key in conditions.iter().map(condition_key) {
        refused_unless(may_read(known, name, &key), &key)?;
    }
    Ok(())
}

/// The same of an entry that all nodes have in their memory.
fn may_change_followed(
    known: &Records,
    name: &str,
    key: &str,
    value: Option<&str>,
    holds: &dyn Fn(&str) -> bool,
    claims: &dyn Fn(&str) -> bool,
) -> bool {
    fn read<'a, T: Deserialize<'a>>(value: Option<&'a str>) -> Option<T> {
        serde_json::from_str(value?).ok()
    }
    let Some((kind, rest)) = key.split_once('/') else { return false };
    match kind {
        "node" if value.is_none() => rest == name,
        "node" => rest == name && read(value).is_some_and(|entry: NodeEntry| entry.is_of_agent(name)),
        "claim" if value.is_none() => holds(rest),
        "claim" => {
            let is_own = |claim: Claim| claim.node == name && claim.machine == name;
            is_of(known, name, rest) && claims(rest) && read(value).is_some_and(is_own)
        }
        "machine" if value.is_none() => rest == name && known.claims.on(name).is_some_and(holds),
        "machine" => rest == name && read(value).is_some_and(|job: String| is_of(known, name, &job) && claims(&job)),
        "job" => {
            let Ok(id) = rest.parse::<i64>() else { return false };
            let job = id.to_string();
            let is_own = |progress: Progress| progress.node() == Some(name);
            rest == numbered(id)
                && is_of(known, name, &job)
                && (holds(&job) || claims(&job))
                && read(value).is_some_and(is_own)
        }
        "archive" => {
            let job = known.job_of_run(rest).map(|job| job.id.to_string());
            let is_new = known.archive.revision(rest).is_none();
            is_new
                && job.is_some_and(|job| holds(&job))
                && read(value).is_some_and(|archived: Archived| archived.is_sound())
        }
        _ => false,
    }
}

/// Gives entries of the journal their numbers, says whose they are, and leaves of texts what is plain.
fn fit(known: &Records, name: &str, conditions: &mut Vec<Condition>, changes: &mut [Change]) -> Result<(), Trouble> {
    let mut id = known.last_entry();
    for change in changes.iter_mut() {
        let Change::Put(key, value) = change else { continue };
        if key.starts_with("lab/job/") {
            let progress = serde_json::from_str(value).ok().map(Progress::of_agent);
            *value = serde_json::to_string(&progress).expect("it can be written");
        }
        if !key.starts_with(NEW_ENTRY) {
            continue;
        }
        id += 1;
        let noted: Option<Noted> = serde_json::from_str(value).ok();
        let noted = noted.filter(|noted| OF_AGENTS.contains(&noted.kind)).map(|noted| noted.of_agent(name));
        refused_unless(noted.is_some(), key)?;
        *key = format!("{FOLLOWED}journal/{}", numbered(id));
        *value = serde_json::to_string(&noted).expect("it can be written");
        conditions.push(Condition::Absent(key.clone()));
    }
    Ok(())
}

/// What an agent may note.
const OF_AGENTS: [Noting; 6] = [
    Noting::ServerStarted,
    Noting::ServerEnded,
    Noting::RunBegan,
    Noting::RunFinished,
    Noting::RunFailed,
    Noting::UpdateFailed,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// For what a node knows to be broken, or has not in its memory, no news is waited for.
    #[test]
    fn conditions_hold_by_what_a_node_has_in_its_memory() {
        let (_store, database) = testing::database();
        database
            .change(|edit| {
                edit.put("count/line", &1);
                Ok(())
            })
            .unwrap();
        let known = database.known();
        let at = known.counts.revision("line").unwrap();
        let unchanged = |key: &str, revision| Condition::Unchanged(key.into(), revision);
        let absent = |key: &str| Condition::Absent(key.into());
        assert!(hold(&known, &[unchanged("lab/count/line", at), absent("lab/count/x"), unchanged("beat/x", 9)]));
        assert!(!hold(&known, &[unchanged("lab/count/line", at), unchanged("lab/count/x", at)]));
        assert!(!hold(&known, &[unchanged("lab/count/line", at + 1)]));
        assert!(!hold(&known, &[absent("lab/count/line")]));
        assert!(!hold(&known, &[unchanged("beat/x", 9)]));
    }
}
