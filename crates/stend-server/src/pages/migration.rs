//! Virtual machines that go to another node of the fleet: `stend rig send` on the node that has one, `stend rig receive` on the other, which
//! fetches what the first prints.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader};
use std::process::{ChildStderr, ChildStdout, Command, Output, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Form, Json};
use serde::{Deserialize, Serialize};

use super::rigs::{Acting, Whose, all, of_node};
use super::{Reader, Served, to, trouble};
use crate::accounts::{Who, fresh_secret};
use crate::api::brief;
use crate::fleet::NodeEntry;
use crate::journal::Kind;
use crate::lab::Lab;
use crate::peers;
use crate::problem::Problem;
use crate::work;

/// What guests that leave are printed as, each by a word that only the node is told that is to fetch it.
#[derive(Default)]
pub(crate) struct Leaving(Mutex<BTreeMap<String, ChildStdout>>);

impl Leaving {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, ChildStdout>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct Destination {
    to: String,
}

/// Where a guest that arrives is fetched.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Arrival {
    from: String,
    word: String,
}

/// Sends a virtual machine to another node, where it goes on. If that fails it goes on here.
pub(crate) async fn migrate(
    lab: Served,
    reader: Reader,
    Query(whose): Query<Whose>,
    Path(name): Path<String>,
    Form(Destination { to: node }): Form<Destination>,
) -> Response {
    if let Err(problem) = whose.check(&lab) {
        return trouble(reader, &problem);
    }
    // It goes on if who asked goes away.
    let (of_lab, who, there) = (Arc::clone(&lab), reader.asker(), node.clone());
    let task = tokio::spawn(async move { migrated(&of_lab, who, name, &there).await });
    let done = task.await.unwrap_or_else(|panic| Err(unavailable(&panic)));
    to(reader, done.map(|()| format!("/rigs{}", of_node(Some(&node)))))
}

fn unavailable(error: &dyn std::fmt::Display) -> Problem {
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())
}

/// Another node of the fleet that has rigs.
fn other_node(lab: &Lab, name: &str) -> Result<NodeEntry, Problem> {
    let known = lab.known();
    let node = known.nodes.get(name).filter(|node| !node.is_agent() && name != lab.here());
    node.cloned().ok_or_else(|| {
        Problem::new(StatusCode::UNPROCESSABLE_ENTITY, format!("there is no other node \"{}\"", brief(name)))
    })
}

async fn migrated(lab: &Arc<Lab>, who: Who, name: String, to: &str) -> Result<(), Problem> {
    let node = other_node(lab, to)?;
    let acting = Arc::new(Acting::begin(lab, &name, "migrate"));
    let is_off = async || Ok::<_, Problem>(all(lab).await?.iter().any(|rig| rig.name == name && rig.is_off()));
    let was_off = is_off().await?;
    let (answer, sent) = {
        let _one = lab.doing.acquire().await.expect("nobody closes it");
        let words = ["rig".to_owned(), "send".into(), format!("--name={name}")];
        let (command, tells) = (lab.command(&words), Arc::clone(&acting));
        let (lab, who, name) = (Arc::clone(lab), who.clone(), name.clone());
        tokio::task::spawn_blocking(move || left(&lab, command, &node, &who, &name, move |line| tells.say(line)))
            .await
            .map_err(|panic| unavailable(&panic))?
            .map_err(|error| unavailable(&error))?
    };
    let here = |action: &str| vec!["rig".to_owned(), action.to_owned(), format!("--name={name}")];
    match answer {
        Ok(Ok(())) => {
            work::done(lab, here("down"), |_| {}).await?;
            Ok(lab.note(Kind::RigMigrated, who.name, name.clone(), to.to_owned()).await?)
        }
        Ok(Err(refused)) => {
            if !was_off && is_off().await? {
                let tells = Arc::clone(&acting);
                work::done(lab, here("start"), move |line| tells.say(line)).await?;
            }
            let why = work::fine(sent).err().map_or_else(String::new, |own| format!("; here: {}", own.detail()));
            Err(Problem::new(refused.status(), format!("node {to}: {}{why}", refused.detail())))
        }
        Err(error) if !was_off && is_off().await? => {
            let said = format!(
                "node {to} does not say whether {name} arrived ({error}); if it is not there, start it here: it was suspended, and goes on"
            );
            Err(Problem::new(StatusCode::BAD_GATEWAY, said))
        }
        Err(error) => Err(Problem::new(StatusCode::BAD_GATEWAY, format!("node {to} does not answer: {error}"))),
    }
}

type Answered = Result<Result<(), Problem>, crate::error::ServerError>;

/// Begins to print a guest, and asks a node to fetch it. What the node answered, and how the printing ended.
fn left(
    lab: &Lab,
    mut command: Command,
    node: &NodeEntry,
    who: &Who,
    name: &str,
    tell: impl FnMut(&str) + Send + 'static,
) -> io::Result<(Answered, Output)> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let said = heard(child.stderr.take(), tell);
    let word = fresh_secret();
    lab.leaving.lock().extend(child.stdout.take().map(|printed| (word.clone(), printed)));
    let arrival = Arrival { from: lab.here().to_owned(), word: word.clone() };
    let answer = peers::send(lab, node, &format!("/rigs/{name}/arrivals"), who, &arrival, peers::LONGEST_TRANSFER);
    // If it was not fetched nobody reads it, and it ends.
    lab.leaving.lock().remove(&word);
    let status = child.wait()?;
    let stderr = said.join().unwrap_or_default();
    Ok((answer, Output { status, stdout: Vec::new(), stderr }))
}

/// Tells each line that a command says, and gives all of them when it has ended.
fn heard(from: Option<ChildStderr>, mut tell: impl FnMut(&str) + Send + 'static) -> std::thread::JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let (mut said, mut begin) = (Vec::new(), 0);
        let Some(mut lines) = from.map(BufReader::new) else { return said };
        while lines.read_until(b'\n', &mut said).is_ok_and(|length| length > 0) {
            tell(String::from_utf8_lossy(&said[begin..]).trim_end());
            begin = said.len();
        }
        said
    })
}

/// Gives the node that was told of it what a guest is printed as.
pub(crate) async fn leave(lab: Served, Path((_, word)): Path<(String, String)>) -> Response {
    let printed = lab.leaving.lock().remove(&word);
    match printed {
        Some(printed) => Response::new(peers::as_it_comes(printed, std::future::pending())),
        None => Problem::not_found("nothing of this word leaves").into_response(),
    }
}

/// Fetches a virtual machine from the node that has it, and sets it up here.
pub(crate) async fn arrive(
    lab: Served,
    Extension(who): Extension<Who>,
    Path(name): Path<String>,
    Json(Arrival { from, word }): Json<Arrival>,
) -> Result<Json<()>, Problem> {
    let node = other_node(&lab, &from)?;
    let is_word = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if !is_word {
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "there is no such word"));
    }
    let lab = Arc::clone(&lab);
    let task = tokio::spawn(async move {
        let acting = Acting::begin(&lab, &name, "migrate");
        let _one = lab.doing.acquire().await.expect("nobody closes it");
        let command = lab.command(&["rig".to_owned(), "receive".into(), format!("--name={name}")]);
        let of_lab = Arc::clone(&lab);
        let fetched = move || -> Result<Output, Problem> {
            let path = format!("/rigs/{name}/departures/{word}");
            let answer = peers::fetched(&of_lab, &node, &path, &who).map_err(|error| unavailable(&error))?;
            if !answer.status().is_success() {
                return Err(unavailable(&format!("node {from} does not send it: {}", answer.status())));
            }
            fed(command, &mut answer.into_body().into_reader(), move |line| acting.say(line))
                .map_err(|error| unavailable(&error))
        };
        tokio::task::spawn_blocking(fetched).await.map_err(|panic| unavailable(&panic))?
    });
    let output = task.await.map_err(|panic| unavailable(&panic))??;
    work::fine(output).map(|_| Json(()))
}

/// Runs a command that reads what comes, as long as it reads.
fn fed(mut command: Command, from: &mut dyn io::Read, tell: impl FnMut(&str) + Send + 'static) -> io::Result<Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let said = heard(child.stderr.take(), tell);
    let mut to = child.stdin.take().expect("it is piped");
    // Why it reads no more, or what was missing, it says itself.
    let _ = io::copy(from, &mut to);
    drop(to);
    let status = child.wait()?;
    let stderr = said.join().unwrap_or_default();
    Ok(Output { status, stdout: Vec::new(), stderr })
}
