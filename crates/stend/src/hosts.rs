//! The machines that the user has named: `hosts.toml` beside the store, which a person may edit too.
//!
//! It has the form of any file of machines (`stend compare --machines`), with how each is reached. Changing it leaves alone what a person wrote
//! beside it, comments too.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::bounded;
use crate::host::{HERE, stand};
use stend_model::run::is_run_id;
use stend_model::weight::{Known, Machines};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, Value};

const FILE: &str = "hosts.toml";

/// What stands at the top of a new file.
const HEAD: &str = "# The machines of this desk: `stend hosts` lists and changes them, and so may you. docs/guide/hosts.md has the form.\n\n";

/// All that are named.
#[derive(Debug, Clone)]
pub(crate) struct Hosts {
    path: PathBuf,
    /// The file's text; empty if there is none.
    text: String,
    machines: Machines,
    /// What this machine calls itself.
    network_name: String,
}

/// Where a word of the command line leads.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Destination {
    /// The word: a name, or what ssh takes.
    pub(crate) word: String,
    /// What ssh takes, or `local`.
    pub(crate) address: String,
    /// What is known of the machine, if it has a name.
    pub(crate) known: Option<Known>,
}

impl Destination {
    /// Whether it is the machine that stend itself runs on.
    pub(crate) fn is_here(&self) -> bool {
        self.address == HERE
    }

    /// One that has no name.
    pub(crate) fn of_address(address: &str) -> Self {
        Self { word: address.to_owned(), address: address.to_owned(), known: None }
    }
}

impl fmt::Display for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word)
    }
}

impl Hosts {
    /// Reads the file in the store's directory. None is an empty one.
    ///
    /// # Errors
    /// It cannot be read, or is wrong; one line, with `file:line:column` where that can be said.
    pub(crate) fn read(store: &Path) -> Result<Self, String> {
        let path = store.join(FILE);
        let text = match bounded::text(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
        };
        let machines = parse(&text, &path)?;
        let network_name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Ok(Self { path, text, machines, network_name })
    }

    /// The file's path, whether or not it is there.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// What is known of all, in the file's order.
    pub(crate) fn all(&self) -> &[Known] {
        &self.machines.machine
    }

    pub(crate) fn into_machines(self) -> Machines {
        self.machines
    }

    /// What is known of the machine of this name. `local` is found under the name that the user gave it, if that is one.
    pub(crate) fn find(&self, name: &str) -> Option<&Known> {
        let of_here = |known: &&Known| known.name != HERE && known.destination.as_deref() == Some(HERE);
        let mut here = self.all().iter().filter(of_here);
        let renamed = || here.next().filter(|_| here.next().is_none());
        let renamed = (name == HERE).then(renamed).flatten();
        renamed.or_else(|| self.all().iter().find(|known| known.name == name))
    }

    /// Whether a text may take the place of the file's.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn check(&self, text: &str) -> Result<(), String> {
        parse(text, &self.path).map(drop)
    }

    /// Whether a run, of a machine that was called so and reached so, is of the machine of this name: it was called so, or reached by the
    /// destination that has this name now. What was measured here is found by each name of this machine: `local`, what the user calls it, and
    /// what it calls itself.
    pub(crate) fn is_of(&self, (machine, host): (&str, &str), name: &str) -> bool {
        machine == name
            || match self.destination_of(name) {
                // It is another machine at each desk, and runs may come from there.
                Some(HERE) => host == HERE && self.destination_of(machine) == Some(HERE),
                destination => destination == Some(host),
            }
    }

    /// Whether two runs, of machines that were called so and reached so, are of one machine, by whichever of its names.
    pub(crate) fn is_one(&self, one: (&str, &str), other: (&str, &str)) -> bool {
        one.0 == other.0 || self.is_of(one, other.0) && self.is_of(other, one.0)
    }

    /// What the user says of the name goes before what this machine calls itself.
    fn destination_of<'s>(&'s self, name: &'s str) -> Option<&'s str> {
        let known = if name == HERE { None } else { self.find(name) };
        match known {
            Some(known) => known.destination.as_deref(),
            None => [HERE, self.network_name.as_str()].contains(&name).then_some(HERE),
        }
    }

    /// Where a word leads: to the machine of that name, else to what ssh makes of it.
    ///
    /// # Errors
    /// The machine has a name and nothing that says how it is reached.
    pub(crate) fn lead(&self, word: &str) -> Result<Destination, String> {
        let known = self.find(word);
        let Some(known) = known else {
            check_destination(word)?;
            return Ok(Destination::of_address(word));
        };
        let address = known.destination.clone().or_else(|| (known.name == HERE).then(|| HERE.to_owned()));
        let address = address.ok_or_else(|| {
            format!(
                "nothing says how \"{word}\" is reached ({}); `stend hosts set {word} DESTINATION` does",
                self.path.display()
            )
        })?;
        Ok(Destination { word: word.to_owned(), address, known: Some(known.clone()) })
    }

    /// The file's text where a machine stands in the place of the one of this name, or is added if there is none.
    pub(crate) fn with(&self, known: &Known, in_place_of: &str) -> Result<String, String> {
        let mut document = self.document()?;
        let tables = self.tables(&mut document)?;
        let fields = table_of(known)?;
        let place = tables.iter().position(|table| name_of(table) == Some(in_place_of));
        match place.and_then(|place| tables.get_mut(place)) {
            Some(table) => {
                let gone: Vec<String> =
                    table.iter().map(|(key, _)| key.to_owned()).filter(|key| !fields.contains_key(key)).collect();
                for key in gone {
                    table.remove(&key);
                }
                for (key, item) in &fields {
                    // What stays as it was keeps its comments.
                    let same = table.get(key).is_some_and(|old| plain(old) == plain(item));
                    if !same {
                        table.insert(key, item.clone());
                    }
                }
            }
            None => tables.push(fields),
        }
        Ok(if self.text.is_empty() { format!("{HEAD}{document}") } else { document.to_string() })
    }

    /// The file's text without a machine.
    pub(crate) fn without(&self, name: &str) -> Result<String, String> {
        let mut document = self.document()?;
        self.tables(&mut document)?.retain(|table| name_of(table) != Some(name));
        Ok(document.to_string())
    }

    fn document(&self) -> Result<DocumentMut, String> {
        self.text.parse().map_err(|error| format!("{}: {error}", self.path.display()))
    }

    fn tables<'d>(&self, document: &'d mut DocumentMut) -> Result<&'d mut ArrayOfTables, String> {
        let tables = document.entry("machine").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        tables.as_array_of_tables_mut().ok_or_else(|| {
            format!("{}: write each machine under a line [[machine]], so that it can be changed", self.path.display())
        })
    }
}

fn name_of(table: &Table) -> Option<&str> {
    table.get("name").and_then(Item::as_str)
}

/// A machine as a table of the file, what belongs together in one line.
fn table_of(known: &Known) -> Result<Table, String> {
    let text = toml::to_string(known).map_err(|error| error.to_string())?;
    let document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    let mut table = Table::new();
    for (key, item) in document.as_table() {
        let value = match item.clone().into_value() {
            Ok(Value::InlineTable(mut inline)) => {
                inline.fmt();
                Value::InlineTable(inline)
            }
            Ok(value) => value,
            Err(_) => continue,
        };
        table.insert(key, Item::Value(value));
    }
    table.fmt();
    Ok(table)
}

/// A value without how it is written.
fn plain(item: &Item) -> Option<String> {
    let mut value = item.clone().into_value().ok()?;
    match &mut value {
        Value::InlineTable(inline) => inline.fmt(),
        value => value.decor_mut().clear(),
    }
    value.decor_mut().clear();
    Some(value.to_string())
}

fn parse(text: &str, path: &Path) -> Result<Machines, String> {
    let file = path.display().to_string();
    let machines = Machines::parse(text, &file)?;
    for (number, known) in machines.machine.iter().enumerate() {
        let wrong = |why: &str| {
            // The line is that of the name, which stands there as often as it is told of.
            let line = text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("name")).nth(number);
            let place = line.map_or(String::new(), |(line, _)| format!(":{}:1", line + 1));
            format!("{file}{place}: machine \"{}\": {why}", known.name)
        };
        check_name(&known.name).map_err(|why| wrong(&why))?;
        if machines.machine[..number].iter().any(|before| before.name == known.name) {
            return Err(wrong("this name is there already; give each machine one of its own"));
        }
        if let Some(cc) = &known.cc {
            stand::check_name(cc).map_err(|why| wrong(&format!("cc: {why}")))?;
        }
        if let Some(destination) = &known.destination {
            check_destination(destination).map_err(|why| wrong(&why))?;
            check_here(&known.name, destination).map_err(|why| wrong(&why))?;
        }
    }
    Ok(machines)
}

/// Whether a machine may be called so.
///
/// # Errors
/// Why not, and what is right.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    const LONGEST: usize = 64;
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_run = is_run_id(name) || name == "last" || name.starts_with("last~");
    if name.is_empty() || name.chars().count() > LONGEST || !name.chars().all(is_word) || name.contains("..") {
        return Err(format!("\"{name}\" is no name; write 1 to {LONGEST} letters, digits and - _ . (one at a time)"));
    }
    if name.starts_with(['-', '.']) {
        return Err(format!("\"{name}\" is no name; begin it with a letter or a digit"));
    }
    if is_run {
        return Err(format!("\"{name}\" is how a run is named; give the machine another name"));
    }
    Ok(())
}

/// Whether a machine of this name may be reached so.
///
/// # Errors
/// It is this machine's name, and another destination.
pub(crate) fn check_here(name: &str, destination: &str) -> Result<(), String> {
    if name == HERE && destination != HERE {
        return Err(format!("\"{HERE}\" is this machine; give the other one another name"));
    }
    Ok(())
}

/// Whether ssh may take it.
///
/// # Errors
/// Why not, and what is right.
pub(crate) fn check_destination(destination: &str) -> Result<(), String> {
    let bad = destination.is_empty() || destination.starts_with('-') || destination.contains([' ', ',', '\n', '\t']);
    if bad {
        return Err(format!(
            "\"{destination}\" is no destination for ssh; write user@host, a name of ~/.ssh/config, or {HERE}"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str) -> Result<Hosts, String> {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(FILE), text).unwrap();
        let shortened = |error: String| error.replace(&format!("{}/", directory.path().display()), "");
        Hosts::read(directory.path()).map_err(shortened)
    }

    #[test]
    fn what_a_person_wrote_stays() {
        let text = "# mine\n[[machine]]\nname = \"a\" # the first\ndestination = \"root@a\"\n\n# the second\n[[machine]]\nname = \"b\"\n";
        let old = hosts(text).unwrap();
        let mut b = old.find("b").unwrap().clone();
        b.destination = Some("local".into());
        b.labels = [("rack".to_owned(), "3".to_owned())].into();
        let changed = old.with(&b, "b").unwrap();
        assert_eq!(changed, format!("{text}destination = \"local\"\nlabels = {{ rack = \"3\" }}\n"));
        let new = hosts(&changed).unwrap();
        assert_eq!(new.find("b"), Some(&b));
        assert_eq!(new.lead("local").unwrap().known.as_ref(), Some(&b), "the one name of this machine");
        assert_eq!(new.with(&b, "b").unwrap(), changed);
        b.destination = None;
        b.labels.clear();
        assert_eq!(new.with(&b, "b").unwrap(), text);
        let without = old.without("b").unwrap();
        assert!(without.starts_with("# mine\n") && !without.contains("\"b\""), "{without}");
        assert!(old.lead("b").unwrap_err().contains("hosts set b DESTINATION"));
        assert_eq!(old.lead("c").unwrap(), Destination::of_address("c"));
    }

    #[test]
    fn a_mistake_is_named_with_its_place() {
        for (text, said) in [
            ("[[machine]]\nname = \"a\"\ndestnation = \"b\"\n", "hosts.toml:3:1: unknown field `destnation`"),
            (
                "[[machine]]\nname = \"a\"\n[[machine]]\nname = \"a\"\n",
                "hosts.toml:4:1: machine \"a\": this name is there",
            ),
            ("[[machine]]\nname = \"a b\"\n", "hosts.toml:2:1: machine \"a b\": \"a b\" is no name; write 1 to 64"),
            ("[[machine]]\nname = \"last~1\"\n", "is no name"),
            (
                "[[machine]]\nname = \"local\"\ndestination = \"root@a\"\n",
                "hosts.toml:2:1: machine \"local\": \"local\" is this machine; give the other one another name",
            ),
            ("[[machine]]\nname = \"20261121-0555-3f9a\"\n", "is how a run is named"),
            (
                "[[machine]]\nname = \"a\"\ndestination = \"-oProxyCommand=x\"\n",
                "is no destination for ssh; write user@host",
            ),
            (
                "[[machine]]\nname = \"a\"\nprice = { amount = 0, currency = \"EUR\", of = \"x\", source = \"y\" }\n",
                "hosts.toml:2:8: machine \"a\": a price of 0 EUR is none",
            ),
            ("[[machine]\n", "hosts.toml:1:"),
        ] {
            let error = hosts(text).unwrap_err();
            assert!(error.contains(said) && error.lines().count() == 1, "{text}: {error}");
        }
    }
}
