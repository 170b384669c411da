//! What an order would do, as a dry run of its command says.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stend_model::nearest::hint;
use stend_model::record::JSON_VERSION;

use super::accounts::{Body, read};
use super::{Answer, Served, blocking, brief, no_machine, suite_names};
use crate::accounts::Who;
use crate::fleet::NodeEntry;
use crate::lab::{Lab, Machine};
use crate::order::{Batch, Order};
use crate::peers;
use crate::problem::Problem;
use crate::work;

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
    order: Body<Order>,
) -> Answer<Json<Plan>> {
    let batch = Batch::from(read(order)?).named_by(lab.here());
    let who = Some(&who.0).filter(|_| !peers::is_passed_on(&headers));
    Ok(Json(Plan { schema_version: JSON_VERSION, plan: planned(&lab, &batch, who).await? }))
}

/// What a dry run says of an order. A machine that this node does not reach is left to one that does, if somebody asks in whose place that can be
/// asked; otherwise, or if none answers, this node says what it would do itself.
pub(crate) async fn planned(lab: &Arc<Lab>, batch: &Batch, who: Option<&Who>) -> Answer<String> {
    batch.check()?;
    known_suite(lab, &batch.order).await?;
    let (reached, known) = (blocking(lab, Lab::reached).await??, lab.machines().await?);
    let (mut own, mut plans) = (BTreeSet::new(), String::new());
    for wanted in &batch.machines {
        let meant = |machines: &[Machine]| {
            machines.iter().find(|machine| machine.is_meant_by(wanted)).map(|it| it.name.clone())
        };
        if let Some(machine) = meant(&reached) {
            own.insert(machine);
            continue;
        }
        let machine = meant(&known).ok_or_else(|| no_machine(wanted, &known).unprocessable())?;
        let plan = match who {
            Some(who) => elsewhere(lab, Order { machine, ..batch.order.clone() }, who).await?,
            None => None,
        };
        match plan {
            Some(plan) => plans += &plan,
            None => drop(own.insert(lab.here().to_owned())),
        }
    }
    if own.is_empty() {
        return Ok(plans);
    }
    let mut words = Batch { machines: own.into_iter().collect(), ..batch.clone() }.words(lab.here());
    words.push("--dry-run".into());
    let order = batch.order.clone();
    let texts = blocking(lab, move |lab| lab.files_of(&order)).await??;
    let plan = work::done_with(lab, words, texts).await?;
    Ok(String::from_utf8_lossy(&plan.stdout).into_owned() + &plans)
}

/// What a node says that reaches the machine of an order; nothing if none answers.
async fn elsewhere(lab: &Arc<Lab>, order: Order, who: &Who) -> Answer<Option<String>> {
    let reaches = |node: &NodeEntry| !node.is_agent() && node.machines.contains(&order.machine);
    let nodes: Vec<NodeEntry> = lab.known().nodes.iter().map(|(_, node)| node.clone()).filter(reaches).collect();
    let who = who.clone();
    blocking(lab, move |lab| {
        for node in nodes {
            match peers::send(lab, &node, "/api/v1/plan", &who, &order) {
                Ok(Ok(Plan { plan, .. })) => return Ok(Some(plan)),
                Ok(Err(problem)) => return Err(problem),
                Err(_) => {}
            }
        }
        Ok(None)
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
