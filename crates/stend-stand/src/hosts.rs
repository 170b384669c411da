//! The machines that the user has named: `hosts.toml` beside the store, which a person may edit too.
//!
//! It has the form of any file of machines (`stend compare --machines`), with how each is reached. Changing it leaves alone what a person wrote
//! beside it, comments too.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::bounded;
use crate::host::stand;
use stend_model::run::HERE;
use stend_model::run::is_run_id;
use stend_model::weight::{Known, Machines, MachinesError};
use thiserror::Error;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, TomlError, Value};

const FILE: &str = "hosts.toml";

/// What stands at the top of a new file.
const HEAD: &str = "# The machines of this desk: `stend hosts` lists and changes them, and so may you. docs/guide/hosts.md has the form.\n\n";

/// A name has at most so many characters.
const LONGEST_NAME: usize = 64;

/// What the list of machines cannot be used for, or at all. The message says where, and what would be right.
#[derive(Debug, Error)]
pub enum HostsError {
    /// The file cannot be read.
    #[error("{path} cannot be read: {source}", path = .path.display())]
    NotRead {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is none of machines.
    #[error(transparent)]
    Machines(#[from] MachinesError),
    /// It says something of a machine that cannot be.
    #[error(
        "{file}{place}: machine \"{name}\": {source}",
        place = .line.map(|line| format!(":{line}:1")).unwrap_or_default()
    )]
    Machine {
        /// The file as the user knows it.
        file: String,
        /// The line of the name, from 1, if it can be told.
        line: Option<usize>,
        /// The machine's name.
        name: String,
        /// What is wrong.
        source: KnownError,
    },
    /// A word is none that ssh may take.
    #[error(transparent)]
    Word(#[from] KnownError),
    /// A machine has a name alone.
    #[error(
        "nothing says how \"{word}\" is reached ({path}); `stend hosts set {word} DESTINATION` does",
        path = .path.display()
    )]
    NotReached {
        /// Its name.
        word: String,
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be changed, because it is no TOML.
    #[error("{path}: {source}", path = .path.display())]
    NoDocument {
        /// The file.
        path: PathBuf,
        /// What the parser said.
        source: TomlError,
    },
    /// The file cannot be changed, because its machines are written another way.
    #[error("{path}: write each machine under a line [[machine]], so that it can be changed", path = .0.display())]
    NoTables(PathBuf),
    /// A machine cannot be written as TOML.
    #[error(transparent)]
    NotWritten(#[from] toml::ser::Error),
    /// A machine that was written as TOML cannot be read again.
    #[error(transparent)]
    NotReadAgain(#[from] TomlError),
}

/// What cannot be of a machine: its name, or how it is reached or built for.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum KnownError {
    /// A name is no word, or too long.
    #[error("\"{0}\" is no name; write 1 to {LONGEST_NAME} letters, digits and - _ . (one at a time)")]
    NoName(String),
    /// A name looks like a flag or a hidden file.
    #[error("\"{0}\" is no name; begin it with a letter or a digit")]
    NameBeginsWrong(String),
    /// A name means a run.
    #[error("\"{0}\" is how a run is named; give the machine another name")]
    NameOfRun(String),
    /// Two machines have one name.
    #[error("this name is there already; give each machine one of its own")]
    NameTaken,
    /// The name of this machine is given to another one.
    #[error("\"{HERE}\" is this machine; give the other one another name")]
    NameOfHere,
    /// A destination is none.
    #[error("\"{0}\" is no destination for ssh; write user@host, a name of ~/.ssh/config, or {HERE}")]
    NoDestination(String),
    /// A compiler cannot be called so.
    #[error("cc: {said}")]
    Compiler {
        /// What is said where compilers are called.
        said: String,
    },
}

/// All that are named.
#[derive(Debug, Clone)]
pub struct Hosts {
    path: PathBuf,
    /// The file's text; empty if there is none.
    text: String,
    machines: Machines,
    /// What this machine calls itself.
    network_name: String,
}

/// The address of a guest on this machine begins so, and the name of its rig follows.
pub const GUEST: &str = "vm:";

/// Where a word of the command line leads.
#[derive(Debug, Clone, PartialEq)]
pub struct Destination {
    /// The word: a name, or what ssh takes.
    pub word: String,
    /// What ssh takes, or `local`.
    pub address: String,
    /// What is known of the machine, if it has a name.
    pub known: Option<Known>,
}

impl Destination {
    /// Whether it is the machine that stend itself runs on.
    pub fn is_here(&self) -> bool {
        self.address == HERE
    }

    /// Whether it is that machine, or a guest on it: what is measured there disturbs all of them.
    pub fn is_on_this_machine(&self) -> bool {
        self.is_here() || self.address.starts_with(GUEST)
    }

    /// One that has no name.
    pub fn of_address(address: &str) -> Self {
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
    pub fn read(store: &Path) -> Result<Self, HostsError> {
        let path = store.join(FILE);
        let text = match bounded::text(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(source) => return Err(HostsError::NotRead { path, source }),
        };
        let machines = parse(&text, &path)?;
        let network_name = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Ok(Self { path, text, machines, network_name })
    }

    /// The file's path, whether or not it is there.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What is known of all, in the file's order.
    pub fn all(&self) -> &[Known] {
        &self.machines.machine
    }

    pub fn into_machines(self) -> Machines {
        self.machines
    }

    /// What is known of the machine of this name. `local` is found under the name that the user gave it, if that is one.
    pub fn find(&self, name: &str) -> Option<&Known> {
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
    pub fn check(&self, text: &str) -> Result<(), HostsError> {
        parse(text, &self.path).map(drop)
    }

    /// Whether a run, of a machine that was called so and reached so, is of the machine of this name: it was called so, or reached by the
    /// destination that has this name now. What was measured here is found by each name of this machine: `local`, what the user calls it, and
    /// what it calls itself.
    pub fn is_of(&self, (machine, host): (&str, &str), name: &str) -> bool {
        machine == name
            || match self.destination_of(name) {
                // It is another machine at each desk, and runs may come from there.
                Some(HERE) => host == HERE && self.destination_of(machine) == Some(HERE),
                destination => destination == Some(host),
            }
    }

    /// Whether two runs, of machines that were called so and reached so, are of one machine, by whichever of its names.
    pub fn is_one(&self, one: (&str, &str), other: (&str, &str)) -> bool {
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
    pub fn lead(&self, word: &str) -> Result<Destination, HostsError> {
        let known = self.find(word);
        let Some(known) = known else {
            check_destination(word)?;
            return Ok(Destination::of_address(word));
        };
        let address = known.destination.clone().or_else(|| (known.name == HERE).then(|| HERE.to_owned()));
        let not_reached = || HostsError::NotReached { word: word.to_owned(), path: self.path.clone() };
        let address = address.ok_or_else(not_reached)?;
        Ok(Destination { word: word.to_owned(), address, known: Some(known.clone()) })
    }

    /// The file's text where a machine stands in the place of the one of this name, or is added if there is none.
    pub fn with(&self, known: &Known, in_place_of: &str) -> Result<String, HostsError> {
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
    pub fn without(&self, name: &str) -> Result<String, HostsError> {
        let mut document = self.document()?;
        self.tables(&mut document)?.retain(|table| name_of(table) != Some(name));
        Ok(document.to_string())
    }

    fn document(&self) -> Result<DocumentMut, HostsError> {
        self.text.parse().map_err(|source| HostsError::NoDocument { path: self.path.clone(), source })
    }

    fn tables<'d>(&self, document: &'d mut DocumentMut) -> Result<&'d mut ArrayOfTables, HostsError> {
        let tables = document.entry("machine").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        tables.as_array_of_tables_mut().ok_or_else(|| HostsError::NoTables(self.path.clone()))
    }
}

fn name_of(table: &Table) -> Option<&str> {
    table.get("name").and_then(Item::as_str)
}

/// A machine as a table of the file, what belongs together in one line.
fn table_of(known: &Known) -> Result<Table, HostsError> {
    let document: DocumentMut = toml::to_string(known)?.parse()?;
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

fn parse(text: &str, path: &Path) -> Result<Machines, HostsError> {
    let file = path.display().to_string();
    let machines = Machines::parse(text, &file)?;
    for (number, known) in machines.machine.iter().enumerate() {
        let wrong = |source| {
            // The line is that of the name, which stands there as often as it is told of.
            let line = text.lines().enumerate().filter(|(_, line)| line.trim_start().starts_with("name")).nth(number);
            let line = line.map(|(line, _)| line + 1);
            HostsError::Machine { file: file.clone(), line, name: known.name.clone(), source }
        };
        check_name(&known.name).map_err(wrong)?;
        if machines.machine[..number].iter().any(|before| before.name == known.name) {
            return Err(wrong(KnownError::NameTaken));
        }
        if let Some(cc) = &known.cc {
            stand::check_name(cc).map_err(|why| wrong(KnownError::Compiler { said: why.to_string() }))?;
        }
        if let Some(destination) = &known.destination {
            check_destination(destination).map_err(wrong)?;
            check_here(&known.name, destination).map_err(wrong)?;
        }
    }
    Ok(machines)
}

/// Whether a machine may be called so.
///
/// # Errors
/// Why not, and what is right.
pub fn check_name(name: &str) -> Result<(), KnownError> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_run = is_run_id(name) || name == "last" || name.starts_with("last~");
    if name.is_empty() || name.chars().count() > LONGEST_NAME || !name.chars().all(is_word) || name.contains("..") {
        return Err(KnownError::NoName(name.to_owned()));
    }
    if name.starts_with(['-', '.']) {
        return Err(KnownError::NameBeginsWrong(name.to_owned()));
    }
    if is_run {
        return Err(KnownError::NameOfRun(name.to_owned()));
    }
    Ok(())
}

/// Whether a machine of this name may be reached so.
///
/// # Errors
/// It is this machine's name, and another destination.
pub fn check_here(name: &str, destination: &str) -> Result<(), KnownError> {
    if name == HERE && destination != HERE {
        return Err(KnownError::NameOfHere);
    }
    Ok(())
}

/// Whether ssh may take it.
///
/// # Errors
/// Why not, and what is right.
pub fn check_destination(destination: &str) -> Result<(), KnownError> {
    let bad = destination.is_empty() || destination.starts_with('-') || destination.contains([' ', ',', '\n', '\t']);
    if bad {
        return Err(KnownError::NoDestination(destination.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts(text: &str) -> Result<Hosts, String> {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(FILE), text).unwrap();
        let shortened = |error: HostsError| error.to_string().replace(&format!("{}/", directory.path().display()), "");
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
        assert!(old.lead("b").unwrap_err().to_string().contains("hosts set b DESTINATION"));
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
