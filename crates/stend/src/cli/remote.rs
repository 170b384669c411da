//! `stend --server URL`: `run`, `list`, `show`, `compare` and `report` on the lab of a `stend serve`.
//!
//! The server runs the commands that only look, and this one prints what they printed. So there is no second table, and every option means the same.

mod follow;
mod link;
mod order;

use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches};
use stend_server::Printed;

use super::failure::{Exit, Failure};
use super::{Global, definition, output};
use link::Link;

/// A command's options and values as they were given, each with its name in the API.
type Given = Vec<(String, String)>;

/// Does on the server what the command line says.
pub(super) fn dispatch(global: &Global, server: &str, matches: &ArgMatches) -> Result<Exit, Failure> {
    let (command, matches) = matches.subcommand().expect("a command is required");
    if !matches!(command, "run" | "list" | "show" | "compare" | "report") {
        return Err(Failure::usage(format!(
            "--server: `stend {command}` acts on this machine alone; run, list, show, compare and report act on a server (unset STEND_SERVER, if that is set)"
        )));
    }
    if global.store.is_some() {
        return Err(Failure::usage("--store and --server name two labs; leave out one of the two"));
    }
    let mut given = given(command, matches)?;
    if command == "run" {
        return follow::run(global, &Link::new(server)?, matches, &given);
    }
    let to = if command == "report" { Some(place(&mut given)?) } else { None };
    let link = Link::new(server)?;
    let Some(to) = to else { return look(global, &link, command, given) };
    let printed = ask(global, &link, command, given)?;
    if printed.status != Exit::Fine as u8 {
        return Ok(exit(printed.status));
    }
    if to == "-" {
        output::print_data(&printed.out)?;
        return Ok(Exit::Fine);
    }
    let to = Path::new(&to);
    // Behind the page itself its place would be one line of rubbish.
    let is_printed = output::is_standard_output(to);
    output::write(to, printed.out.as_bytes())?;
    if !is_printed {
        output::print(&format!("{}\n", to.display()))?;
    }
    Ok(Exit::Fine)
}

/// What was given to a command. What a server does not take is refused by its name.
fn given(command: &str, matches: &ArgMatches) -> Result<Given, Failure> {
    let definition = definition();
    let definition = definition.find_subcommand(command).expect("it was found in this one");
    let mut given = Given::new();
    for argument in definition.get_arguments() {
        let id = argument.get_id().as_str();
        if !matches!(matches.value_source(id), Some(ValueSource::CommandLine | ValueSource::EnvVariable)) {
            continue;
        }
        let name = argument.get_long().unwrap_or(if id == "words" { id } else { "what" });
        let is_taken = match command {
            "run" => order::takes(name),
            _ => stend_server::takes(command, name) || (command, name) == ("report", "output"),
        };
        if !is_taken {
            let shown = if name == "words" { "a command to time".to_owned() } else { format!("--{name}") };
            return Err(Failure::usage(format!("{shown}: `stend {command}` does not take it with --server")));
        }
        if matches!(argument.get_action(), ArgAction::SetTrue) {
            given.push((name.to_owned(), "true".into()));
            continue;
        }
        for value in matches.get_raw(id).into_iter().flatten() {
            let value = value.to_str().ok_or_else(|| Failure::usage(format!("--{name}: it is no UTF-8 text")))?;
            given.push((name.to_owned(), value.to_owned()));
        }
    }
    Ok(given)
}

/// Where a report goes. The store's own place for it is on the server, which gives no file here a name.
fn place(given: &mut Given) -> Result<String, Failure> {
    if given.iter().any(|(name, value)| name == "format" && value == "svg") {
        return Err(Failure::usage(
            "--format svg: `stend report` does not take it with --server: drawings are many files",
        ));
    }
    let output = given.iter().position(|(name, _)| name == "output");
    let output = output.map(|place| given.remove(place).1);
    output.ok_or_else(|| {
        Failure::usage("report: with --server say where to write it: -o FILE, or -o - for standard output")
    })
}

/// Prints what a command prints on the server, and ends as it does.
fn look(global: &Global, link: &Link, command: &str, given: Given) -> Result<Exit, Failure> {
    let is_table = given.iter().all(|(name, value)| !matches!(name.as_str(), "format" | "json") || value == "table");
    let printed = ask(global, link, command, given)?;
    if is_table {
        output::print_styled(&printed.out)?
    } else {
        output::print_data(&printed.out)?
    }
    Ok(exit(printed.status))
}

/// Has a command run on the server, and says what it said.
fn ask(global: &Global, link: &Link, command: &str, mut given: Given) -> Result<Printed, Failure> {
    given.push(("columns".into(), output::width().to_string()));
    if global.colour() && stend_server::takes(command, "color") {
        given.push(("color".into(), "always".into()));
    }
    if global.quiet {
        given.push(("quiet".into(), "true".into()));
    }
    let printed: Printed = link.insist(|link| link.get(&format!("/commands/{command}"), &given))?;
    printed.err.lines().for_each(|line| talk!("{line}"));
    Ok(printed)
}

/// The exit status of a command on the server.
fn exit(status: u8) -> Exit {
    let all = [Exit::Fine, Exit::Crossed, Exit::Usage, Exit::Unsteady, Exit::Interrupted];
    all.into_iter().find(|exit| *exit as u8 == status).unwrap_or(Exit::Unusable)
}
