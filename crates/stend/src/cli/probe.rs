//! `stend probe`: the machine's fingerprint.

use clap::Args;

use super::Global;
use super::failure::{Exit, Failure};
use super::on::On;
use super::output::{self, Json};
use stend_lab::run::prepare;
use stend_report::words;
use stend_report::words::language::Language;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    on: On,
    #[command(flatten)]
    json: Json,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let (host, probe) = arguments.on.host_with_probe(global)?;
    let machine = prepare::fingerprint(&*host, probe.as_deref(), None).map_err(Failure::nameless)?;
    if arguments.json.json {
        output::print_json("machine", &machine)?;
        return Ok(Exit::Fine);
    }
    let mut text = words::machine::five_lines(&machine).join("\n");
    text.push('\n');
    for (what, why) in &machine.missing {
        text.push_str(&format!("not known: {what}: {}\n", words::cause(why, Language::English)));
    }
    output::print(&text)?;
    Ok(Exit::Fine)
}
