//! The page of the nodes of a fleet.

use askama::Template;
use axum::response::Response;
use stend_report::numbers::in_language;
use stend_report::words::machine::binary;

use super::{Reader, Served, page};
use crate::accounts::Role;
use crate::api::nodes::{self, MemberNow, NodeNow};
use crate::fleet::Figures;

#[derive(Template)]
#[template(path = "nodes.html")]
struct Nodes {
    reader: Reader,
    here: Option<String>,
    nodes: Vec<NodeNow>,
    members: Vec<MemberNow>,
}

impl Nodes {
    /// The load of a node, beside the processors that it has.
    fn load(&self, figures: &Figures) -> String {
        // An agent may say anything.
        in_language(&format!("{:.2} / {}", figures.load.clamp(0.0, 1e6), figures.processors), self.reader.language)
    }

    /// A number of bytes as people read it.
    fn size(&self, bytes: &u64) -> String {
        binary(*bytes, self.reader.language)
    }
}

pub(crate) async fn nodes(lab: Served, reader: Reader) -> Response {
    let found = nodes::gathered(&lab).await;
    let nodes = found.map(|mut found| {
        // Of many nodes those are looked for that are silent.
        found.nodes.sort_by_key(|node| node.is_heard != Some(false));
        Nodes { reader: reader.clone(), here: found.here, nodes: found.nodes, members: found.members }
    });
    page(reader, nodes)
}
