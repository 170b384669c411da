//! `stend hosts`: machines by their names, how each is reached, and what no instrument can know of them.

use std::process::{Command as Program, Stdio};

use clap::{Args, Subcommand};
use jiff::Zoned;
use schemars::JsonSchema;
use serde::Serialize;
use stend_model::record::Summary;
use stend_model::run::HERE;
use stend_model::weight::{Known, Power, Price, Weight};

use super::Global;
use super::changing::assigned;
use super::completions;
use super::failure::{Exit, Failure};
use super::list::state_of;
use super::output::{self, Format, Shown};
use crate::catalogue;
use stend_report::doc::{Doc, Frame, Role, Table, Value, words};
use stend_stand::hosts::{Hosts, check_destination, check_here, check_name};
use stend_stand::lock::FileLock;
use stend_store::{self, Store};

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    #[command(flatten)]
    shown: Shown,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Name a machine, for --on, compare, history and report
    #[command(after_help = ADD_EXAMPLES)]
    Add {
        /// The name: 1 to 64 letters, digits, and - . or _
        name: String,
        /// An ssh destination (user@host, or a name of ~/.ssh/config), or `local` for this machine
        destination: String,
        #[command(flatten)]
        facts: Facts,
    },
    /// Change the facts about a machine; an empty value removes a fact
    #[command(after_help = SET_EXAMPLES)]
    Set {
        /// The name
        #[arg(add = completions::hosts())]
        name: String,
        /// The new destination [default: unchanged]
        destination: Option<String>,
        #[command(flatten)]
        facts: Facts,
    },
    /// Show the facts about a machine, and its newest runs
    Show {
        /// The name
        #[arg(add = completions::hosts())]
        name: String,
        #[command(flatten)]
        shown: Shown,
    },
    /// Remove a name; the machine's runs keep it
    Remove {
        /// The name
        #[arg(add = completions::hosts())]
        name: String,
    },
}

const ADD_EXAMPLES: &str = "Examples:
  stend hosts add xeon bench@xeon.lan
  stend hosts add elbrus root@e8c.lan --cc lcc --price '1200 EUR' --watts 65 --place 'the cellar' --label rack=3
  stend hosts add desk local --watts 30
  stend run --on elbrus,xeon && stend compare elbrus xeon

The file hosts.toml in the store's directory has this data and may be edited by hand (docs/guide/hosts.md).";

const SET_EXAMPLES: &str = "Examples:
  stend hosts set elbrus root@e16c.lan              # new destination
  stend hosts set elbrus --watts 80 --label rack=   # change one fact, remove another
  stend hosts set elbrus --price ''                 # price unknown";

/// `NAME=VALUE` of a label.
fn label(text: &str) -> Result<(String, String), String> {
    assigned(text, "rack=3")
}

/// What no instrument can know.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Facts stored with each later run")]
struct Facts {
    /// Your own note, as in rack=3; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = label)]
    labels: Vec<(String, String)>,
    /// Price of the whole machine: an amount and a currency, "1200 EUR"; comparisons then include figures per price
    #[arg(long, value_name = "PRICE", allow_hyphen_values = true)]
    price: Option<String>,
    /// Power draw of the whole machine under load, in watts; comparisons then include figures per watt
    #[arg(long, value_name = "WATTS", allow_hyphen_values = true)]
    watts: Option<String>,
    /// Weight of the whole machine, in kilograms; comparisons then include figures per kilogram
    #[arg(long, value_name = "KILOGRAMS", allow_hyphen_values = true)]
    kilograms: Option<String>,
    /// Source of price, watts and kilograms, as in "invoice of May" [default: a note that they were given here, with the date]
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
    /// Its location, as in "the cellar"
    #[arg(long, value_name = "TEXT")]
    place: Option<String>,
    /// The C compiler that builds stend-probe there, as in lcc or /opt/lcc/bin/lcc [default: cc]
    #[arg(long, value_name = "PROGRAM")]
    cc: Option<String>,
    /// Compiler flags in addition to -std=c11 -O2, as in "-march=native"
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    cflags: Option<String>,
}

impl Facts {
    /// Whether none is given. A source alone says nothing.
    fn is_empty(&self) -> bool {
        let Self { labels, price, watts, kilograms, source: _, place, cc, cflags } = self;
        labels.is_empty() && [price, watts, kilograms, place, cc, cflags].into_iter().all(Option::is_none)
    }
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    match &arguments.action {
        None => list(global, arguments.shown)?,
        Some(Action::Show { name, shown }) => show(global, name, *shown)?,
        Some(Action::Add { name, destination, facts }) => add(global, name, destination, facts)?,
        Some(Action::Set { name, destination, facts }) => set(global, name, destination.as_deref(), facts)?,
        Some(Action::Remove { name }) => change(global, |hosts| {
            let known = known(hosts, name)?;
            if !hosts.all().iter().any(|one| one.name == *name) {
                let what = match known.name == *name {
                    true => "nothing is kept of it".into(),
                    false => format!("its other name is {0}: `stend hosts remove {0}`", known.name),
                };
                return Err(Failure::usage(format!("{name} is this machine always, and {what}")));
            }
            hosts.without(name).map_err(Failure::usage)
        })?,
    }
    Ok(Exit::Fine)
}

fn read(global: &Global) -> Result<Hosts, Failure> {
    Hosts::read(&global.store_directory()?).map_err(Failure::usage)
}

/// What is known of the machine of this name. This one has a name always.
fn known(hosts: &Hosts, name: &str) -> Result<Known, Failure> {
    let here = || Known { name: HERE.into(), destination: Some(HERE.into()), ..Known::default() };
    hosts.find(name).cloned().or_else(|| (name == HERE).then(here)).ok_or_else(|| {
        let names: Vec<_> = hosts.all().iter().map(|known| known.name.as_str()).collect();
        let there =
            if names.is_empty() { "no machine has one yet".into() } else { format!("there is {}", names.join(", ")) };
        Failure::usage(format!(
            "no machine is named \"{name}\"; {there} (`stend hosts add NAME DESTINATION` gives one)"
        ))
    })
}

/// Writes the file anew, while nobody else does, if what would stand there is right.
fn change(global: &Global, make: impl FnOnce(&Hosts) -> Result<String, Failure>) -> Result<(), Failure> {
    let store = global.store_directory()?;
    stend_store::make_directory(&store)?;
    // Held for a moment only. Where it cannot be had, the file can still be written.
    let _lock = FileLock::take(&store.join("hosts.lock"));
    let hosts = read(global)?;
    let text = make(&hosts)?;
    hosts.check(&text).map_err(Failure::usage)?;
    output::write(hosts.path(), text.as_bytes())
}

/// Whether a machine other than this one may be called so.
pub(super) fn check_free(name: &str) -> Result<(), String> {
    check_name(name).map_err(|why| why.to_string())?;
    if catalogue::references().iter().any(|reference| reference.name == name) {
        return Err(format!("\"{name}\" is a reference (`stend references`); give the machine another name"));
    }
    if name == HERE {
        return Err(format!("\"{HERE}\" is this machine; give the other one another name"));
    }
    Ok(())
}

fn add(global: &Global, name: &str, destination: &str, facts: &Facts) -> Result<(), Failure> {
    if (name, destination) != (HERE, HERE) {
        check_free(name).map_err(Failure::usage)?;
    }
    let mut notes = Vec::new();
    change(global, |hosts| {
        if hosts.find(name).is_some() {
            return Err(Failure::usage(format!(
                "there is a machine \"{name}\" already; `stend hosts set {name}` changes it"
            )));
        }
        // What was told of this machine before it had another name.
        let of_here = hosts.find(HERE).filter(|known| destination == HERE && known.name == HERE);
        if of_here.is_some() {
            notes.push(format!("what is known of {HERE} is kept under {name} from now on, which is the same machine"));
        }
        let in_place_of = of_here.map_or(name, |known| known.name.as_str());
        let known = Known { name: name.into(), ..of_here.cloned().unwrap_or_default() };
        hosts.with(&with_facts(known, Some(destination), facts)?, in_place_of).map_err(Failure::usage)
    })?;
    if !global.quiet {
        notes.extend(also(global, name, destination)?);
        for note in notes {
            talk!("note: {note}");
        }
    }
    Ok(())
}

fn set(global: &Global, name: &str, destination: Option<&str>, facts: &Facts) -> Result<(), Failure> {
    check_here(name, destination.unwrap_or(HERE)).map_err(Failure::usage)?;
    change(global, |hosts| {
        let old = known(hosts, name)?;
        if destination.is_none() && facts.is_empty() {
            return Err(Failure::usage(format!(
                "nothing to set of {name}: give its DESTINATION, --label, --price, --watts, --kilograms, --place, --cc or --cflags; `stend hosts show {name}` tells what is known"
            )));
        }
        let in_place_of = old.name.clone();
        hosts.with(&with_facts(old, destination, facts)?, &in_place_of).map_err(Failure::usage)
    })
}

/// What else the name means, and which is taken.
fn also(global: &Global, name: &str, destination: &str) -> Result<Vec<String>, Failure> {
    let mut notes = Vec::new();
    if catalogue::SUITES.iter().any(|(suite, _)| *suite == name) {
        notes.push(format!("{name} is a suite too: `stend run {name}` takes the suite, `--on {name}` the machine"));
    }
    let hosts = read(global)?;
    let is_twin = |other: &&Known| other.name != name && other.destination.as_deref() == Some(destination);
    let twins: Vec<_> = hosts.all().iter().filter(is_twin).map(|known| known.name.as_str()).collect();
    if !twins.is_empty() {
        let all = twins.join(" and ");
        notes.push(format!(
            "{destination} is named {all} already: these are names of one machine now, and its runs count for each (`stend hosts remove NAME` takes one away)"
        ));
    }
    let runs = Store::open_to_read(&global.store_directory()?)?.list()?;
    if let Some(run) = runs.iter().find(|run| run.id.starts_with(name)) {
        let has_run = runs.iter().any(|run| hosts.is_of((&run.machine, &run.host), name));
        let when = if has_run { "" } else { " once it has a run" };
        notes.push(format!(
            "{name} is the beginning of run {} too: `stend compare {name}` takes the machine{when}, `stend show {name}` the run",
            run.id
        ));
    }
    let named = runs.iter().filter(|run| run.machine == name).count();
    if named > 0 {
        notes.push(format!("{named} of the runs that there are have this name already, and count as its own"));
    }
    if name != destination
        && let Some(address) = ssh_host(name)
    {
        notes.push(format!("ssh has a host {name} too ({address}): `--on {name}` connects to {destination}"));
    }
    Ok(notes)
}

/// Where ssh would go by this name, if its configuration has it.
fn ssh_host(name: &str) -> Option<String> {
    // It takes a number for an address of its own making.
    if name.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut ssh = Program::new("ssh");
    let output = ssh.args(["-G", "--", name]).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let address = text.lines().find_map(|line| line.strip_prefix("hostname "))?;
    // It writes a name in small letters that leads nowhere else.
    (!address.eq_ignore_ascii_case(name)).then(|| address.to_owned())
}

fn with_facts(mut known: Known, destination: Option<&str>, facts: &Facts) -> Result<Known, Failure> {
    let text = |old: &mut Option<String>, new: &Option<String>| {
        if let Some(new) = new {
            *old = (!new.is_empty()).then(|| new.clone());
        }
    };
    if let Some(destination) = destination {
        check_destination(destination).map_err(Failure::usage)?;
        known.destination = Some(destination.into());
    }
    text(&mut known.place, &facts.place);
    text(&mut known.cc, &facts.cc);
    text(&mut known.cflags, &facts.cflags);
    for (label, value) in &facts.labels {
        if value.is_empty() {
            known.labels.remove(label);
        } else {
            known.labels.insert(label.clone(), value.clone());
        }
    }
    const WHOLE: &str = "the whole machine";
    let source = || Some(facts.source.clone().unwrap_or_else(|| format!("given on {}", Zoned::now().date())));
    if let Some(price) = &facts.price {
        known.price = match price.as_str() {
            "" => None,
            price => {
                let (amount, currency) = amount_and_currency(price).ok_or_else(|| {
                    Failure::usage(format!("--price \"{price}\": write an amount and a currency, as in \"1200 EUR\""))
                })?;
                Some(Price { amount, currency, of: WHOLE.into(), source: source() })
            }
        };
    }
    if let Some(watts) = &facts.watts {
        let loaded = above_nothing(watts, "W")
            .map_err(|()| Failure::usage(format!("--watts \"{watts}\": write watts above 0, as in 65")))?;
        known.power = loaded.map(|loaded| Power { loaded, idle: None, of: WHOLE.into(), source: source() });
    }
    if let Some(text) = &facts.kilograms {
        let kilograms = above_nothing(text, "kg")
            .map_err(|()| Failure::usage(format!("--kilograms \"{text}\": write kilograms above 0, as in 1.4")))?;
        known.weight = kilograms.map(|kilograms| Weight { kilograms, of: WHOLE.into(), source: source() });
    }
    Ok(known)
}

/// A number above 0, which may have its unit; nothing where the text is empty.
fn above_nothing(text: &str, unit: &str) -> Result<Option<f64>, ()> {
    if text.is_empty() {
        return Ok(None);
    }
    let number = text.strip_suffix(unit).unwrap_or(text).trim().parse().ok();
    number.filter(|number: &f64| number.is_finite() && *number > 0.0).map(Some).ok_or(())
}

/// `1200 EUR`, `1200EUR`, `EUR 1200`.
fn amount_and_currency(text: &str) -> Option<(f64, String)> {
    let is_digit = |c: char| c.is_ascii_digit() || c == '.';
    let number = text.trim().trim_matches(|c: char| !is_digit(c));
    let rest = text.trim().replacen(number, "", 1);
    let currency = rest.trim();
    let amount: f64 = number.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount > 0.0)?;
    let is_currency = !currency.is_empty() && currency.chars().all(|c| c.is_alphabetic() || "€$£¥₽".contains(c));
    is_currency.then(|| (amount, currency.to_owned()))
}

fn list(global: &Global, shown: Shown) -> Result<(), Failure> {
    let hosts = read(global)?;
    if hosts.all().is_empty() && !shown.is_json() {
        talk!("no machine has a name yet; `stend hosts add NAME DESTINATION` gives one");
        return Ok(());
    }
    shown.print(global, "hosts", &hosts.all(), || {
        let mut table = Table::new(&["name"], [words("destination"), words("known of it")], Frame::Bare);
        for known in hosts.all() {
            let reached = known.destination.as_deref().unwrap_or("-");
            table.row(known.name.as_str(), [Value::from(reached), facts_of(known).join(" · ").into()]);
        }
        Doc::of(table)
    })
}

/// What is known of a machine beside its name and how it is reached, in words.
pub(super) fn facts_of(known: &Known) -> Vec<String> {
    let labels = known.labels.iter().map(|(label, value)| format!("{label}={value}"));
    let price = known.price.iter().map(|price| format!("{} {} ({})", price.amount, price.currency, price.of));
    let power = known.power.iter().map(|power| format!("{} W ({})", power.loaded, power.of));
    let weight = known.weight.iter().map(|weight| format!("{} kg ({})", weight.kilograms, weight.of));
    let compiler = [("cc", &known.cc), ("cflags", &known.cflags)];
    let compiler =
        compiler.into_iter().filter_map(|(what, value)| value.as_ref().map(|value| format!("{what} {value}")));
    known.place.iter().cloned().chain(labels).chain(price).chain(power).chain(weight).chain(compiler).collect()
}

/// A machine, and its runs, the newest first.
#[derive(Serialize, JsonSchema)]
struct OneHost<'a> {
    host: &'a Known,
    runs: Vec<&'a Summary>,
}

fn show(global: &Global, name: &str, shown: Shown) -> Result<(), Failure> {
    let hosts = read(global)?;
    let known = known(&hosts, name)?;
    let runs = Store::open_to_read(&global.store_directory()?)?.list()?;
    let own = runs.iter().rev().filter(|run| hosts.is_of((&run.machine, &run.host), name)).collect();
    let one = OneHost { host: &known, runs: own };
    match shown.format()? {
        Format::Json => output::print_parts(&one),
        format => output::print_document(global, format, &document(&hosts, &one, name)),
    }
}

fn document(hosts: &Hosts, one: &OneHost, name: &str) -> Doc {
    const MOST_RUNS: usize = 5;
    let OneHost { host: known, runs } = one;
    let reached = known.destination.as_deref().unwrap_or("nothing says how it is reached");
    let mut doc = Doc::default();
    doc.heading(format!("{}: {reached}", known.name), "");
    let sources = [
        known.price.as_ref().map(|price| ("price", &price.source)),
        known.power.as_ref().map(|power| ("power", &power.source)),
        known.weight.as_ref().map(|weight| ("weight", &weight.source)),
    ];
    let source =
        |(what, source): (_, &Option<String>)| format!("source of its {what}: {}", source.as_deref().unwrap_or("-"));
    let none = format!("no run yet; `{} run --on {name}` makes one", output::program());
    let facts = facts_of(known).into_iter().chain(sources.into_iter().flatten().map(source));
    let facts = facts.chain(runs.is_empty().then_some(none));
    doc.say(Role::Detail, facts.chain([format!("({})", hosts.path().display())]));
    let mut table = Table::new(&["run"], [words("suite"), words("state")], Frame::Inset);
    for run in runs.iter().take(MOST_RUNS) {
        table.row(run.id.as_str(), [Value::from(run.suite.as_str()), state_of(run).into()]);
    }
    if !runs.is_empty() {
        doc.table(table);
    }
    doc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_as_people_write_them() {
        for (text, wanted) in [
            ("1200 EUR", Some((1200.0, "EUR"))),
            ("1200.50EUR", Some((1200.5, "EUR"))),
            ("$ 52", Some((52.0, "$"))),
            ("0 EUR", None),
            ("1200", None),
            ("EUR", None),
            ("12 0 EUR", None),
            ("-5 EUR", None),
        ] {
            assert_eq!(amount_and_currency(text), wanted.map(|(amount, of)| (amount, of.to_owned())), "{text}");
        }
    }
}
