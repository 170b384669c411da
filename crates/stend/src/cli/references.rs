//! `stend references`: the published machines, or the figures of one source.

use std::fmt::Write as _;

use clap::Args;
use stend_model::metric::Unit;
use stend_model::reference::Reference;

use super::completions;
use super::failure::{Exit, Failure};
use super::output::{self, Json};
use crate::catalogue;
use stend_model::nearest;
use stend_model::quantity::english_plural;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A reference's name
    #[arg(add = completions::references())]
    reference: Option<String>,
    #[command(flatten)]
    json: Json,
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let mut references = catalogue::references();
    if let Some(wanted) = &arguments.reference {
        let names: Vec<_> = references.iter().map(|reference| reference.name.clone()).collect();
        references.retain(|reference| reference.name == *wanted);
        if references.is_empty() {
            let hint = nearest::hint(wanted, names.iter().map(String::as_str));
            return Err(Failure::usage(format!(
                "there is no reference \"{wanted}\"{hint}; there are {}",
                names.join(", ")
            )));
        }
    }
    if arguments.json.json {
        output::print_json("references", &references)?;
        return Ok(Exit::Fine);
    }
    let text: String = if arguments.reference.is_some() {
        references.iter().map(in_full).collect()
    } else {
        references.iter().map(in_short).collect()
    };
    output::print(&text)?;
    Ok(Exit::Fine)
}

fn in_short(reference: &Reference) -> String {
    let machines: Vec<_> = reference.machine.iter().map(|machine| machine.name.as_str()).collect();
    format!(
        "{}\n    {}, {}\n    {} · {}\n",
        reference.name,
        reference.title,
        reference.source,
        english_plural(reference.figure.len(), "figure", "figures"),
        // Their names have commas of their own.
        machines.join("; ")
    )
}

fn in_full(reference: &Reference) -> String {
    let mut text = in_short(reference);
    let _ = writeln!(text, "    {}", reference.method);
    for machine in &reference.machine {
        let _ = writeln!(text, "\n{}: {}", machine.name, machine.description);
        for figure in reference.figure.iter().filter(|figure| figure.machine == machine.id) {
            let value = figure.value.zip(figure.unit).map(|(value, unit): (f64, Unit)| unit.show(value));
            let value = value.or_else(|| figure.words.clone()).unwrap_or_default();
            let note = figure.note.as_deref().map(|note| format!(" ({note})")).unwrap_or_default();
            let _ = writeln!(text, "    {}, {}: {value}{note}", figure.measures, figure.metric);
        }
    }
    text
}
