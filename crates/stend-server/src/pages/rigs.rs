//! The rigs of a node's machine: storage that is set up and taken down, and virtual machines.

use std::sync::Arc;

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
    form: RigForm,
    problem: Option<String>,
}

impl Rigs {
    /// What says in an address which node's rigs are meant.
    fn of_node(&self) -> String {
        of_node(self.here.as_ref())
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
    fn is_off(&self) -> bool {
        self.state == "off"
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Guest {
    /// What `--on` takes.
    address: String,
    /// Where its screen is, if it has one.
    pub(super) screen: Option<String>,
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
    Ok(Rigs { reader, here, nodes, rigs, form, problem })
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
        done(&lab, reader.asker(), form.words(), (Kind::RigUp, name, form.kind.clone())).await
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

pub(crate) async fn down(lab: Served, reader: Reader, whose: Query<Whose>, name: Path<String>) -> Response {
    changed(lab, reader, whose, name, "down", Kind::RigDown).await
}

/// Starts a virtual machine that is off, and waits until it is reached.
pub(crate) async fn start(lab: Served, reader: Reader, whose: Query<Whose>, name: Path<String>) -> Response {
    changed(lab, reader, whose, name, "start", Kind::RigStarted).await
}

/// Shuts a virtual machine down, and waits for that.
pub(crate) async fn stop(lab: Served, reader: Reader, whose: Query<Whose>, name: Path<String>) -> Response {
    changed(lab, reader, whose, name, "stop", Kind::RigStopped).await
}

/// Does with a rig what a command of this name does.
async fn changed(
    lab: Served,
    reader: Reader,
    Query(whose): Query<Whose>,
    Path(name): Path<String>,
    what: &str,
    kind: Kind,
) -> Response {
    if let Err(problem) = whose.check(&lab) {
        return trouble(reader, &problem);
    }
    let words = vec!["rig".to_owned(), what.into(), format!("--name={name}")];
    let done = done(&lab, reader.asker(), words, (kind, name, String::new())).await;
    to(reader, done.map(|()| place(&lab)))
}

async fn done(
    lab: &Arc<Lab>,
    who: Who,
    words: Vec<String>,
    (kind, name, detail): (Kind, String, String),
) -> Result<(), Problem> {
    work::done(lab, words).await?;
    Ok(lab.note(kind, who.name, name, detail).await?)
}
