//! `stend fleet`: several servers that share one queue, one journal and one archive.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::Value;
use stend_server::{First, fleet_status, invite, join_fleet, leave_fleet, revoke_agent, update_fleet};

use super::Global;
use super::failure::{Exit, Failure};
use super::output;
use super::serve::failure;

#[derive(Debug, Args)]
#[command(after_help = "docs/guide/fleet.md leads from one machine to three nodes")]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Found a fleet in etcd; it begins with the users, queue, schedule and journal of this store's server
    Init(Where),
    /// Make this store's server a node of a fleet
    Join(Where),
    /// Print an invitation, good once and for an hour: `stend fleet join` takes it on another machine, or `stend agent`
    Invite {
        /// Invite an agent of this name instead of a node: a machine that reaches this node, and that no node reaches
        #[arg(long, value_name = "NAME")]
        agent: Option<String>,
    },
    /// Revoke an agent: no node answers it any more, and its run fails
    Revoke {
        /// The agent's name
        agent: String,
    },
    /// Bring this version of stend to all nodes and agents, one after the other: each ends what it measures first, and others have its work meanwhile
    Update,
    /// Take this store's server out of its fleet; runs stay in this store and in the fleet
    Leave,
    /// Say what is wrong with the fleet, and what helps
    Doctor,
    /// List the nodes and the members of etcd
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
struct Where {
    /// The members of etcd, etcd://HOST:PORT,HOST:PORT; or, to join, what `stend fleet invite` printed on a node
    address: String,
    /// What this machine is called in the fleet [default: its host name]
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let store = global.store_directory()?;
    stend_store::make_directory(&store)?;
    let join = |place: &Where, first| join_fleet(&store, &place.address, place.node.as_deref(), first).map_err(failure);
    let said = match &arguments.action {
        Action::Init(place) => format!("{} is the first node; `stend serve` starts it", join(place, First::Yes)?),
        Action::Join(place) => format!("{} is a node now; `stend serve` starts it", join(place, First::No)?),
        Action::Invite { agent } => {
            output::print(&format!("{}\n", invite(&store, agent.as_deref()).map_err(failure)?))?;
            return Ok(Exit::Fine);
        }
        Action::Revoke { agent } => {
            revoke_agent(&store, agent).map_err(failure)?;
            format!("agent {agent} is revoked")
        }
        Action::Update => return update(global, &store),
        Action::Leave => format!("{} is no node any more", leave_fleet(&store).map_err(failure)?),
        Action::Doctor => {
            let status = status(global, &store)?;
            let wrong = wrong_with(&serde_json::from_str(&status).map_err(Failure::unusable)?);
            wrong.iter().for_each(|line| talk!("✗ {line}"));
            if wrong.is_empty() && !global.quiet {
                talk!("the fleet is well");
            }
            return Ok(if wrong.is_empty() { Exit::Fine } else { Exit::Crossed });
        }
        Action::Status { json } => {
            let status = status(global, &store)?;
            if *json {
                output::print(&format!("{status}\n"))?;
            } else {
                let status: Value = serde_json::from_str(&status).map_err(Failure::unusable)?;
                output::print(&in_lines(&status))?;
            }
            return Ok(Exit::Fine);
        }
    };
    if !global.quiet {
        talk!("{said}");
    }
    Ok(Exit::Fine)
}

/// How the fleet is. Each node that is there is heard once meanwhile.
fn status(global: &Global, store: &Path) -> Result<String, Failure> {
    let listening = |time: Duration| {
        if !global.quiet {
            talk!("listening for the nodes, {} s at most …", time.as_secs_f64());
        }
    };
    fleet_status(store, listening).map_err(failure)
}

/// Says of each node when it is the new version.
fn update(global: &Global, store: &Path) -> Result<Exit, Failure> {
    let program =
        std::env::current_exe().map_err(|error| Failure::unusable(format!("stend does not find itself: {error}")))?;
    let (mut done, mut turn) = (BTreeSet::new(), None);
    let updated = update_fleet(store, &program, |now| {
        if global.quiet {
            return;
        }
        if let Some(node) = now.turn.as_ref().filter(|_| now.turn != turn) {
            talk!("{node}: takes the new version as soon as nothing is measured there");
        }
        turn.clone_from(&now.turn);
        for node in &now.done {
            if done.insert(node.clone()) {
                talk!("{node}: has the new version");
            }
        }
    });
    let updated = updated.map_err(failure)?;
    if let Some((node, why)) = &updated.failed {
        talk!("✗ {node}: {why}; no more nodes are updated");
        return Ok(Exit::Crossed);
    }
    if let Some(node) = &updated.turn {
        talk!("✗ {node}: is not back from its turn: start `stend serve` there; no more nodes are updated until then");
        return Ok(Exit::Crossed);
    }
    if !global.quiet && !updated.open.is_empty() {
        talk!("not heard of, and updated when they are back: {}", updated.open.join(", "));
    }
    if !global.quiet && !updated.later.is_empty() {
        talk!("not yet: {}; agents follow by themselves", updated.later.join(", "));
    }
    Ok(Exit::Fine)
}

/// A line for each thing that is wrong, with what helps.
fn wrong_with(status: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let (nodes, members) = (status["nodes"].as_array(), status["members"].as_array());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for member in members.into_iter().flatten() {
        let address = text(&member["address"]);
        for problem in member["problems"].as_array().into_iter().flatten() {
            let problem = text(problem);
            let helps = match &*problem {
                said if said.contains("NOSPACE") => {
                    "compact and defragment its database (etcdctl compact, defrag, alarm disarm), and set ETCD_AUTO_COMPACTION_RETENTION=1h"
                }
                said if said.contains("another cluster") => "name the members of one cluster in fleet.toml",
                said if said.contains("no leader") => "more than half of the members must run and reach each other",
                _ => "start it, or replace it (docs/guide/fleet.md)",
            };
            wrong.push(format!("member {address}: {problem}: {helps}"));
        }
    }
    let count = members.map_or(0, Vec::len);
    if count.is_multiple_of(2) || count == 1 {
        wrong.push(format!("the address names {count} of the members: three or five survive the loss of one or two"));
    }
    let versions: BTreeSet<String> = nodes.into_iter().flatten().map(|node| text(&node["version"])).collect();
    if versions.len() > 1 {
        let versions: Vec<String> = versions.into_iter().collect();
        wrong.push(format!(
            "nodes have the versions {}: `stend fleet update` by the newest brings all to it",
            versions.join(" and ")
        ));
    }
    for node in nodes.into_iter().flatten().filter(|node| node["is_heard"] != true) {
        let (what, command) = if node["through"].is_null() { ("node", "serve") } else { ("agent", "agent") };
        wrong.push(format!(
            "{what} {} is not heard of: start `stend {command}` there, or restart it",
            text(&node["name"])
        ));
    }
    wrong
}

/// A line for each node, and one for each member.
fn in_lines(status: &Value) -> String {
    let list = |value: &Value| {
        let words = value.as_array().into_iter().flatten().filter_map(Value::as_str);
        words.collect::<Vec<_>>().join(", ")
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut lines = String::new();
    for node in status["nodes"].as_array().into_iter().flatten() {
        let state = match (node["is_heard"] == true, node["is_draining"] == true) {
            (false, _) => "✗ not heard of",
            (true, true) => "being updated",
            (true, false) => "there",
        };
        let here = if node["name"] == status["here"] { " (this one)" } else { "" };
        let runs = list(&node["runs"]);
        let runs = if runs.is_empty() { String::new() } else { format!(", at work for {runs}") };
        let [name, url, version, through] = ["name", "url", "version", "through"].map(|field| text(&node[field]));
        lines += &if through.is_empty() {
            let machines = list(&node["machines"]);
            format!("node {name}{here}: {state}, {url}, version {version}, reaches {machines}{runs}\n")
        } else {
            format!("agent {name}: {state}, asks {through}, version {version}{runs}\n")
        };
    }
    for member in status["members"].as_array().into_iter().flatten() {
        let problems = list(&member["problems"]);
        let state = match (problems.is_empty(), member["is_leader"] == true) {
            (false, _) => format!("✗ {problems}"),
            (true, true) => format!("leads, version {}", text(&member["version"])),
            (true, false) => format!("follows, version {}", text(&member["version"])),
        };
        lines += &format!("member {}: {state}\n", text(&member["address"]));
    }
    lines
}
