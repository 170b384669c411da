//! `stend agent`: the jobs of a fleet for a machine that nobody reaches.

use clap::Args;
use stend_server::{Started, serve_agent};

use super::Global;
use super::failure::{Exit, Failure};
use super::serve::failure;

#[derive(Debug, Args)]
#[command(after_help = "docs/guide/fleet.md describes agents")]
pub(super) struct Arguments {
    /// What `stend fleet invite --agent NAME` printed on a node; the first time only, since what it gives is kept beside the store
    invitation: Option<String>,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let store = global.store_directory()?;
    stend_store::make_directory(&store)?;
    let program =
        std::env::current_exe().map_err(|error| Failure::unusable(format!("stend does not find itself: {error}")))?;
    let quiet = global.quiet;
    let told = |name: &str, node: Result<&str, &str>| match node {
        _ if quiet => {}
        Ok(node) => {
            talk!("agent {name} asks node {node} for jobs; Ctrl-C ends it, and a run that is being measured goes on");
        }
        Err(why) => talk!("agent {name}: no node answers, trying again: {why}"),
    };
    serve_agent(Started { store, program, invitation: arguments.invitation.clone() }, told).map_err(failure)?;
    Ok(Exit::Fine)
}
