//! The rigs of a node's machine: storage that is set up and taken down, and virtual machines.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use askama::Template;
use axum::Form;
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse as _;
use axum::response::{Redirect, Response};
use serde::Deserialize;

use super::{Reader, Served, page, to, trouble};
use crate::accounts::{Role, Who};
use crate::api::brief;
use crate::journal::Kind;
use crate::lab::Lab;
use crate::problem::Problem;
use crate::work;

#[derive(Template)]
#[template(path = "rigs.html")]
struct Rigs {
    reader: Reader,
    /// The node whose rigs these are, in a fleet.
    here: Option<String>,
    /// The nodes of the fleet that have rigs.
    nodes: Vec<String>,
    rigs: Vec<Rig>,
    /// What is being done with them, by their names.
    acts: Vec<(String, Act)>,
    form: RigForm,
    problem: Option<String>,
}

impl Rigs {
    /// What says in an address which node's rigs are meant.
    fn of_node(&self) -> String {
        of_node(self.here.as_ref())
    }

    /// The nodes that a virtual machine may go to.
    fn other_nodes(&self) -> impl Iterator<Item = &String> {
        self.nodes.iter().filter(|node| self.here.as_ref() != Some(node))
    }

    fn acts_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Act> {
        self.acts.iter().filter(move |(rig, _)| rig == name).map(|(_, act)| act)
    }

    /// What is being done with a rig of which there is nothing yet.
    fn new_acts(&self) -> impl Iterator<Item = &(String, Act)> {
        self.acts.iter().filter(|(name, _)| self.rigs.iter().all(|rig| rig.name != *name))
    }
}

/// What is being done with rigs now.
#[derive(Default)]
pub(crate) struct Acts(Mutex<BTreeMap<u64, (String, Act)>>);

impl Acts {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, (String, Act)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Something that is being done with a rig.
#[derive(Clone)]
struct Act {
    /// The message that says what.
    what: &'static str,
    began: Instant,
    /// What the command said last.
    said: String,
}

impl Act {
    /// For how long it has been done, in minutes and seconds.
    fn time(&self) -> String {
        let seconds = self.began.elapsed().as_secs();
        format!("{}:{:02}", seconds / 60, seconds % 60)
    }
}

/// It is being done as long as this is there.
pub(super) struct Acting {
    lab: Arc<Lab>,
    number: u64,
}

impl Acting {
    pub(super) fn begin(lab: &Arc<Lab>, rig: &str, what: &'static str) -> Self {
        let act = Act { what, began: Instant::now(), said: String::new() };
        let number = {
            let mut acts = lab.acts.lock();
            let number = acts.last_key_value().map_or(0, |(last, _)| last + 1);
            acts.insert(number, (rig.to_owned(), act));
            number
        };
        lab.changed();
        Self { lab: Arc::clone(lab), number }
    }

    pub(super) fn say(&self, line: &str) {
        if let Some((_, act)) = self.lab.acts.lock().get_mut(&self.number) {
            brief(line.trim_start_matches("stend: ")).clone_into(&mut act.said);
        }
    }
}

impl Drop for Acting {
    fn drop(&mut self) {
        self.lab.acts.lock().remove(&self.number);
        self.lab.changed();
    }
}

pub(super) fn of_node(node: Option<&String>) -> String {
    node.map_or_else(String::new, |node| format!("?node={node}"))
}

/// A rig, as `stend rig status` finds it.
#[derive(Debug, Deserialize)]
pub(super) struct Rig {
    pub(super) name: String,
    state: String,
    #[serde(default)]
    luns: Vec<String>,
    /// If it is a virtual machine that stands.
    pub(super) guest: Option<Guest>,
}

impl Rig {
    fn has_screen(&self) -> bool {
        self.guest.as_ref().is_some_and(|guest| guest.screen.is_some()) && !self.is_off()
    }

    /// Whether it is a virtual machine that may be started.
    pub(super) fn is_off(&self) -> bool {
        self.state == "off"
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Guest {
    /// What `--on` takes.
    address: String,
    /// Where its screen is, if it has one.
    pub(super) screen: Option<String>,
    #[serde(default)]
    snapshots: Vec<Snapshot>,
}

/// What a virtual machine can go back to.
#[derive(Debug, Deserialize)]
struct Snapshot {
    name: String,
    taken: String,
    /// 0 of one that was off.
    memory_bytes: u64,
}

#[derive(Debug, Deserialize)]
struct All {
    rigs: Vec<Rig>,
}

/// What is to be set up.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RigForm {
    name: String,
    kind: String,
    luns: String,
    lun_size: String,
    disks: String,
}

impl RigForm {
    /// The words of the command: each value in one word with its option, so that none is taken for another one.
    fn words(&self) -> Vec<String> {
        let fields = [
            ("name", &self.name),
            ("kind", &self.kind),
            ("luns", &self.luns),
            ("lun-size", &self.lun_size),
            ("disks", &self.disks),
        ];
        let given = fields.into_iter().filter(|(_, value)| !value.trim().is_empty());
        let mut words = vec!["rig".to_owned(), "up".into()];
        words.extend(given.map(|(name, value)| format!("--{name}={}", value.trim())));
        words
    }
}

/// Whose rigs are meant, in a fleet.
#[derive(Debug, Deserialize)]
pub(crate) struct Whose {
    pub(crate) node: Option<String>,
}

impl Whose {
    /// Refuses what is meant for a node that is not there: what is for another one has been passed on.
    pub(super) fn check(&self, lab: &Lab) -> Result<(), Problem> {
        let other = self.node.iter().find(|node| *node != lab.here());
        other.map_or(Ok(()), |node| Err(Problem::not_found(format!("there is no node \"{}\"", brief(node)))))
    }
}

pub(crate) async fn rigs(lab: Served, reader: Reader, Query(whose): Query<Whose>) -> Response {
    if let Err(problem) = whose.check(&lab) {
        return trouble(reader, &problem);
    }
    let rigs = gathered(&lab, reader.clone(), RigForm::default(), None).await;
    page(reader, rigs)
}

async fn gathered(lab: &Arc<Lab>, reader: Reader, form: RigForm, problem: Option<String>) -> Result<Rigs, Problem> {
    let rigs = all(lab).await?;
    let known = lab.known();
    let nodes = known.nodes.iter().filter(|(_, node)| !node.is_agent()).map(|(name, _)| name.to_owned()).collect();
    let here = lab.fleet.as_ref().map(|fleet| fleet.node.clone());
    let acts = lab.acts.lock().values().cloned().collect();
    Ok(Rigs { acts, reader, here, nodes, rigs, form, problem })
}

/// The rigs of this node's machine.
pub(super) async fn all(lab: &Arc<Lab>) -> Result<Vec<Rig>, Problem> {
    let printed = work::ask(lab, ["rig", "status", "--json"].map(str::to_owned).into()).await?;
    let all: All = serde_json::from_slice(&printed)
        .map_err(|error| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))?;
    Ok(all.rigs)
}

/// What a virtual machine shows on its screen now.
pub(crate) async fn screen(lab: Served, Query(whose): Query<Whose>, Path(name): Path<String>) -> Response {
    let words = ["rig", "screen", "/dev/stdout"].map(str::to_owned).into_iter().chain([format!("--name={name}")]);
    let asked = async {
        whose.check(&lab)?;
        work::ask(&lab, words.collect()).await
    };
    match asked.await {
        Ok(picture) => ([(CONTENT_TYPE, "image/png")], picture).into_response(),
        Err(problem) => problem.into_response(),
    }
}

/// Where the rigs of this node are shown, also by other nodes.
fn place(lab: &Lab) -> String {
    format!("/rigs{}", of_node(lab.fleet.as_ref().map(|fleet| &fleet.node)))
}

/// Sets a rig up, and waits for it. Block devices are not offered: they are overwritten.
pub(crate) async fn up(lab: Served, reader: Reader, Query(whose): Query<Whose>, Form(form): Form<RigForm>) -> Response {
    if let Err(problem) = whose.check(&lab) {
        return trouble(reader, &problem);
    }
    let is_offered = matches!(form.kind.as_str(), "file" | "pool");
    let name = Some(form.name.trim()).filter(|name| !name.is_empty()).unwrap_or("rig").to_owned();
    let done = if is_offered {
        done(&lab, reader.asker(), form.words(), "set-up", (Kind::RigUp, name, form.kind.clone())).await
    } else {
        Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "kind: it is file or pool"))
    };
    match done {
        Ok(()) => Redirect::to(&place(&lab)).into_response(),
        Err(problem) => {
            let said = Some(problem.detail().to_owned());
            let rigs = gathered(&lab, reader.clone(), form, said).await;
            let mut page = page(reader, rigs);
            *page.status_mut() = problem.status();
            page
        }
    }
}

/// The name of a snapshot that is to be taken, or of a clone that is to be made.
#[derive(Debug, Deserialize)]
pub(crate) struct Named {
    name: String,
}

pub(crate) async fn down(lab: Served, reader: Reader, whose: Query<Whose>, name: Path<String>) -> Response {
    changed(lab, reader, whose, name, "take-down", Kind::RigDown, &["down"]).await
}

/// Starts a virtual machine that is off, and waits until it is reached.
pub(crate) async fn start(lab: Served, reader: Reader, whose: Query<Whose>, name: Path<String>) -> Response {
    changed(lab, reader, whose, name, "start-guest", Kind::RigStarted, &["start"]).await
}

/// Shuts a virtual machine down, and waits for that.
pub(crate) async fn stop(lab: Served, reader: Reader, whose: Query<Whose>, name: Path<String>) -> Response {
    changed(lab, reader, whose, name, "stop-guest", Kind::RigStopped, &["stop"]).await
}

/// Takes a snapshot of a virtual machine.
pub(crate) async fn keep(
    lab: Served,
    reader: Reader,
    whose: Query<Whose>,
    name: Path<String>,
    Form(Named { name: snapshot }): Form<Named>,
) -> Response {
    changed(lab, reader, whose, name, "take-snapshot", Kind::RigSnapshot, &["snapshot", snapshot.trim()]).await
}

/// Brings a virtual machine back to a snapshot.
pub(crate) async fn revert(
    lab: Served,
    reader: Reader,
    whose: Query<Whose>,
    Path((name, snapshot)): Path<(String, String)>,
) -> Response {
    changed(lab, reader, whose, Path(name), "revert", Kind::RigReverted, &["revert", &snapshot]).await
}

/// Removes a snapshot of a virtual machine.
pub(crate) async fn forget(
    lab: Served,
    reader: Reader,
    whose: Query<Whose>,
    Path((name, snapshot)): Path<(String, String)>,
) -> Response {
    let words = ["snapshot", &snapshot, "--remove"];
    changed(lab, reader, whose, Path(name), "remove", Kind::RigSnapshotRemoved, &words).await
}

/// Sets up a clone of a virtual machine that is off.
pub(crate) async fn copy(
    lab: Served,
    reader: Reader,
    whose: Query<Whose>,
    name: Path<String>,
    Form(Named { name: new }): Form<Named>,
) -> Response {
    changed(lab, reader, whose, name, "clone", Kind::RigCloned, &["clone", new.trim()]).await
}

/// Does with a rig what a command does: its name, what it is given, if something, and options.
async fn changed(
    lab: Served,
    reader: Reader,
    Query(whose): Query<Whose>,
    Path(name): Path<String>,
    what: &'static str,
    kind: Kind,
    command: &[&str],
) -> Response {
    if let Err(problem) = whose.check(&lab) {
        return trouble(reader, &problem);
    }
    let given = command.get(1).map(|given| (*given).to_owned());
    let mut words = vec!["rig".to_owned(), command[0].to_owned(), format!("--name={name}")];
    words.extend(command.iter().skip(2).map(|option| (*option).to_owned()));
    // What somebody typed is no option.
    words.extend(given.iter().flat_map(|given| ["--".to_owned(), given.clone()]));
    let done = done(&lab, reader.asker(), words, what, (kind, name, given.unwrap_or_default())).await;
    to(reader, done.map(|()| place(&lab)))
}

/// It goes on, and is noted, if who asked goes away.
async fn done(
    lab: &Arc<Lab>,
    who: Who,
    words: Vec<String>,
    what: &'static str,
    (kind, name, detail): (Kind, String, String),
) -> Result<(), Problem> {
    let lab = Arc::clone(lab);
    let task = tokio::spawn(async move {
        let acting = Acting::begin(&lab, &name, what);
        work::done(&lab, words, move |line| acting.say(line)).await?;
        Ok(lab.note(kind, who.name, name, detail).await?)
    });
    task.await.map_err(|panic| Problem::new(StatusCode::SERVICE_UNAVAILABLE, panic.to_string()))?
}
