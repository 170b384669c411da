//! The nodes of a fleet.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;
use stend_fleet::{Heard, Member};
use stend_model::record::JSON_VERSION;

use super::{Answer, Served, blocking};
use crate::database::Records;
use crate::fleet::{Figures, NodeEntry};
use crate::lab::Lab;

/// A fleet, as a node sees it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Nodes {
    schema_version: u32,
    /// The node that was asked; none if the server is of no fleet.
    pub(crate) here: Option<String>,
    /// Why the node does not hear of the fleet, if it does not: what it shows may be old then.
    pub(crate) cut_off: Option<String>,
    /// The nodes, by their names.
    pub(crate) nodes: Vec<NodeNow>,
    /// The members of etcd that keep what the fleet agrees on.
    pub(crate) members: Vec<MemberNow>,
}

/// A node.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct NodeNow {
    pub(crate) name: String,
    /// Where it is reached; empty for an agent.
    pub(crate) url: String,
    /// The node that an agent asks; none for a node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) through: Option<String>,
    pub(crate) version: String,
    /// When its server began.
    pub(crate) began_at: String,
    /// Whether it has been heard of within a lease; none if the node that was asked cannot tell.
    pub(crate) is_heard: Option<bool>,
    /// What it last said of itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) figures: Option<Figures>,
    /// The SHA-256 of the program that it is.
    pub(crate) program: Option<String>,
    /// Whether it begins nothing more, because another version takes its place.
    pub(crate) is_draining: bool,
    /// The machines that it reaches, its own first.
    pub(crate) machines: Vec<String>,
    /// The runs that it is at work for.
    pub(crate) runs: Vec<String>,
}

/// A member of etcd.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct MemberNow {
    pub(crate) address: String,
    /// None if it does not answer.
    pub(crate) version: Option<String>,
    /// So many bytes its database has on the disk.
    pub(crate) bytes: Option<u64>,
    /// Whether the others follow it.
    pub(crate) is_leader: bool,
    /// What is wrong with it.
    pub(crate) problems: Vec<String>,
}

pub(crate) async fn nodes(lab: Served) -> Answer<Json<Nodes>> {
    gathered(&lab).await.map(Json)
}

pub(crate) async fn gathered(lab: &Arc<Lab>) -> Answer<Nodes> {
    blocking(lab, |lab| {
        let Some(fleet) = &lab.fleet else {
            return Nodes {
                schema_version: JSON_VERSION,
                here: None,
                cut_off: None,
                nodes: Vec::new(),
                members: Vec::new(),
            };
        };
        // One that is cut off is not kept waiting for what does not come.
        let heard = if fleet.is_fenced() { BTreeMap::new() } else { fleet.heard(lab).unwrap_or_default() };
        let is_there = |silence| fleet.is_there(silence);
        let members = lab.database.0.agreement().members();
        Nodes::of(&lab.known(), members, &fleet.node, lab.cut_off(), (&heard, &is_there))
    })
    .await
}

impl Nodes {
    /// What is known of a fleet, and was heard of its nodes, of which those are there that have been silent for so short.
    pub(crate) fn of(
        known: &Records,
        members: Vec<Member>,
        here: &str,
        cut_off: Option<String>,
        (heard, is_there): (&BTreeMap<String, Heard>, &dyn Fn(Duration) -> bool),
    ) -> Self {
        let node = |(name, node): (&str, &NodeEntry)| {
            let own = known.claims.all().filter(|(_, claim)| claim.node == name);
            let runs = own.filter_map(|(job, _)| Some(known.job(job.parse().ok()?)?.run.clone())).collect();
            NodeNow {
                name: name.to_owned(),
                url: node.url.clone(),
                through: node.through.clone(),
                version: node.version.clone(),
                began_at: node.began_at.clone(),
                is_heard: heard.get(name).map(|heard| is_there(heard.silence)),
                figures: heard.get(name).and_then(|heard| serde_json::from_str(heard.says.as_ref()?).ok()),
                program: node.program.clone(),
                is_draining: node.is_draining,
                machines: node.machines.clone(),
                runs,
            }
        };
        let member = |Member { address, health }: Member| {
            let problems = match &health {
                Ok(health) => health.errors.clone(),
                Err(trouble) => vec![trouble.to_string()],
            };
            let health = health.ok();
            MemberNow {
                address,
                version: health.as_ref().map(|health| health.version.clone()),
                bytes: health.as_ref().map(|health| health.size),
                is_leader: health.is_some_and(|health| health.is_leader),
                problems,
            }
        };
        Self {
            schema_version: JSON_VERSION,
            here: Some(here.to_owned()),
            cut_off,
            nodes: known.nodes.iter().map(node).collect(),
            members: members.into_iter().map(member).collect(),
        }
    }
}
