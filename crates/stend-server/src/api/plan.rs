//! What an order would do, as a dry run of its command says.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use stend_model::nearest::hint;
use stend_model::record::JSON_VERSION;

use super::accounts::{Body, read};
use super::{Answer, Served, blocking, brief, no_machine, suite_names};
use crate::accounts::Who;
use crate::fleet::NodeEntry;
use crate::lab::{Lab, Machine};
use crate::order::{Batch, Order, is_label};
use crate::peers;
use crate::problem::Problem;
use crate::work;

/// With a label, so many machines that have it are tried.
const TRIED: usize = 3;

/// What would be done: an order of one run, or of several.
#[derive(Debug, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Asked {
    One(Order),
    Several(Batch),
}

impl<'de> Deserialize<'de> for Asked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let asked = Value::deserialize(deserializer)?;
        let is_several = asked.get("machines").is_some();
        // So that what is wrong is said of the one that is meant.
        let read = if is_several {
            Batch::deserialize(asked).map(Self::Several)
        } else {
            Order::deserialize(asked).map(Self::One)
        };
        read.map_err(D::Error::custom)
    }
}

/// What a dry run says, and what is wrong with an order.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Plan {
    schema_version: u32,
    /// What would be done, in lines.
    plan: String,
}

/// Says what an order would do, and queues nothing.
pub(crate) async fn plan(
    lab: Served,
    who: Extension<Who>,
    headers: HeaderMap,
    asked: Body<Asked>,
) -> Answer<Json<Plan>> {
    let batch = match read(asked)? {
        Asked::One(order) => order.into(),
        Asked::Several(batch) => batch,
    };
    let who = Some(&who.0).filter(|_| !peers::is_passed_on(&headers));
    Ok(Json(Plan { schema_version: JSON_VERSION, plan: planned(&lab, &batch.named_by(lab.here()), who).await? }))
}

/// What a dry run says of an order. A machine that this node does not reach is left to one that does, if somebody asks in whose place that can be
/// asked; otherwise, or if none answers, this node says what it would do itself.
pub(crate) async fn planned(lab: &Arc<Lab>, batch: &Batch, who: Option<&Who>) -> Answer<String> {
    batch.check()?;
    known_suite(lab, &batch.order).await?;
    let (reached, known) = (blocking(lab, Lab::reached).await??, lab.machines().await?);
    let (mut tried, mut refused) = (BTreeSet::new(), None);
    loop {
        let (before, mut machines) = (tried.len(), Vec::new());
        for wanted in &batch.machines {
            let meant = || reached.iter().chain(&known).filter(|machine| machine.is_meant_by(wanted));
            let machine = meant().find(|machine| !tried.contains(&machine.name)).or_else(|| meant().next());
            let machine = machine.ok_or_else(|| no_machine(wanted, &known).unprocessable())?;
            if is_label(wanted) {
                tried.insert(machine.name.clone());
            }
            machines.push(machine.name.clone());
        }
        if let Some(problem) = refused.take_if(|_| tried.len() == before || before >= TRIED) {
            return Err(problem);
        }
        match planned_on(lab, &Batch { machines, ..batch.clone() }, &reached, who).await {
            // Another machine with the label may be there.
            Err(problem) if problem.status() == StatusCode::SERVICE_UNAVAILABLE && !tried.is_empty() => {
                refused = Some(problem);
            }
            planned => return planned,
        }
    }
}

/// The same of machines that were chosen.
async fn planned_on(lab: &Arc<Lab>, batch: &Batch, reached: &[Machine], who: Option<&Who>) -> Answer<String> {
    let is_own = |name: &String| reached.iter().any(|machine| machine.name == *name);
    let (mut own, others): (BTreeSet<String>, BTreeSet<String>) = batch.machines.iter().cloned().partition(is_own);
    let mut plans = String::new();
    for (nodes, machines) in by_nodes(lab, &others) {
        let part = Batch { machines: machines.clone(), ..batch.clone() };
        let plan = match who {
            Some(who) => elsewhere(lab, nodes, part, who).await?,
            None => None,
        };
        if let Some(plan) = plan {
            plans += &plan;
            continue;
        }
        plans += &format!("{}: cannot be asked; this is what {} would do\n", machines.join(", "), lab.here());
        own.insert(lab.here().to_owned());
    }
    if own.is_empty() {
        return Ok(plans);
    }
    let mut words = Batch { machines: own.into_iter().collect(), ..batch.clone() }.words(lab.here());
    words.push("--dry-run".into());
    let order = batch.clone();
    let texts = blocking(lab, move |lab| lab.files_of(&order.order)).await??;
    let plan = work::done_with(lab, words, texts, |_| {}).await?;
    Ok(plans + &String::from_utf8_lossy(&plan.stdout))
}

/// Machines by the nodes that reach them, as far as these are heard of.
fn by_nodes(lab: &Lab, machines: &BTreeSet<String>) -> BTreeMap<Vec<String>, Vec<String>> {
    let known = lab.known();
    let mut by_nodes: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    for machine in machines {
        let reaches = |node: &NodeEntry| !node.is_agent() && node.machines.contains(machine);
        let nodes = known.nodes.iter().filter(|(_, node)| reaches(node)).map(|(name, _)| name.to_owned()).collect();
        by_nodes.entry(nodes).or_default().push(machine.clone());
    }
    by_nodes
}

/// What the first node says that answers; nothing if none does.
async fn elsewhere(lab: &Arc<Lab>, nodes: Vec<String>, batch: Batch, who: &Who) -> Answer<Option<String>> {
    let who = who.clone();
    blocking(lab, move |lab| {
        let heard = lab.fleet.as_ref().and_then(|fleet| Some((fleet, fleet.heard(lab).ok()?)));
        let is_there = |name: &String| {
            heard
                .as_ref()
                .is_some_and(|(fleet, heard)| heard.get(name).is_some_and(|node| fleet.is_there(node.silence)))
        };
        let own = lab.known().nodes.get(lab.here()).and_then(|node| node.program.clone());
        let is_same = |node: &NodeEntry| node.program == own;
        let is_one = batch.runs() == 1;
        let asked = match &batch.machines[..] {
            [machine] if is_one => serde_json::to_value(Order { machine: machine.clone(), ..batch.order.clone() }),
            _ => serde_json::to_value(&batch),
        };
        let asked = asked.expect("an order can be written");
        let mut refused = None;
        for node in nodes.iter().filter(|name| is_there(name)) {
            let Some(entry) = lab.known().nodes.get(node).cloned() else { continue };
            match peers::send(lab, &entry, "/api/v1/plan", &who, &asked, peers::SILENCE) {
                Ok(Ok(Plan { plan, .. })) => return Ok(Some(plan)),
                // What is wrong with an order is wrong on each node, but one of the version before may not read what is asked.
                Ok(Err(problem))
                    if problem.status() == StatusCode::UNPROCESSABLE_ENTITY && (is_one || is_same(&entry)) =>
                {
                    return Err(problem);
                }
                // It may not have heard of whoever asks, or not reach the machine at this moment.
                Ok(Err(problem)) => refused = Some(problem),
                Err(_) => {}
            }
        }
        refused.filter(|problem| problem.status() == StatusCode::SERVICE_UNAVAILABLE).map_or(Ok(None), Err)
    })
    .await?
}

/// Refuses a suite that is neither the program's nor among the files of the order: the program would look for a file.
async fn known_suite(lab: &Arc<Lab>, order: &Order) -> Answer<()> {
    let Some(wanted) = order.suite.as_ref().filter(|name| !order.files.contains_key(*name)) else { return Ok(()) };
    let suites = suite_names(lab).await?;
    let names = || suites.iter().map(|suite| suite.name.as_str());
    if names().any(|name| name == wanted) {
        return Ok(());
    }
    let (hint, all) = (hint(wanted, names()), names().collect::<Vec<_>>().join(", "));
    let said = format!("suite: there is no \"{}\"{hint}; there are {all}, or send a TOML file", brief(wanted));
    Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, said))
}
