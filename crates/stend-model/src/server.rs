//! Servers: programs that are started for a run, loaded by its scenarios, and stopped again, as a person describes each in TOML.
//!
//! A server has a directory of its own, ports of its own on the loopback interface, and settings that sides may change. `@name@` in its files and
//! commands, and in the parameters of the scenarios that load it, stands for a port, a setting, or the directory.
//! `docs/guide/servers.md` explains the keys.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::position::{line_and_column, offset_of_key, plain};

/// What the server's directory is called in texts.
pub const DIRECTORY: &str = "directory";
/// What the number of the server's processors is called in texts: the machine's, or its half of them.
pub const PROCESSORS: &str = "processors";
/// What the address is called in texts on which it listens and at which its load finds it.
pub const ADDRESS: &str = "address";
/// What the directory of the server's image is called in texts.
pub const IMAGE: &str = "image";
/// What runs the processors of a guest that lies on that image is called so in texts: `kvm` or `tcg`.
pub const ACCELERATOR: &str = "accelerator";
/// That address, unless the server stands on the host of the guest that loads it.
pub const LOOPBACK: &str = "127.0.0.1";
/// What a setting of a server is called by where other things have names too: `rig.sendfile`.
pub const OF_SERVERS: &str = "rig.";
/// Ports of one server.
const MOST_PORTS: usize = 16;
/// Bytes of one file: each is handed to a shell as an argument.
const LONGEST_FILE: usize = 64 << 10;
/// Files of one server.
const MOST_FILES: usize = 64;
/// With fewer processors online a server and its load share them.
pub const LEAST_APART: u32 = 4;
/// The signals that may be what ends it.
const SIGNALS: [&str; 4] = ["TERM", "INT", "QUIT", "HUP"];

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "A server of stend")]
pub struct Server {
    /// What it is, in a sentence.
    pub title: String,
    /// The program on the machine's PATH. Where there is none, the scenarios that load it are skipped.
    pub program: String,
    /// The Debian package that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The arguments that make it say its version.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub version: Vec<String>,
    /// Other programs that it takes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// Names of ports. Each is free at `@address@`, where the server must listen on it when it is ready.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// What may be set, each with its default.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Files in its directory, by their names there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// Commands that are run in its directory before it is started, one after another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prepare: Vec<Vec<String>>,
    /// The command that is the server. It stays in the foreground and in its directory. Without it there is only the prepared directory.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub start: Vec<String>,
    /// A command that ends with status 0 once the server is ready, where it is not enough that it listens on its ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ready: Vec<String>,
    /// The signal that ends it.
    #[serde(default = "term")]
    pub stop: String,
    /// Whether it is started anew where it ends with status 0 while it is loaded, so that a scenario can measure its start.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restarts: bool,
    /// Whether it and what loads it have processors of their own, a half each, where the machine has at least four.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub apart: bool,
    /// The user that it runs as where stend is root, by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// The image of the guests that it runs: the name of one of `images/`, or a TOML file beside the server. It is made first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
}

/// The server in a line: `nginx with a site of its own (gzip_level=6 sendfile=on)`.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.title)?;
        let given = self.settings.iter().filter(|(_, value)| !value.is_empty());
        let settings: Vec<_> = given.map(|(name, value)| format!("{name}={value}")).collect();
        if settings.is_empty() { Ok(()) } else { write!(f, " ({})", settings.join(" ")) }
    }
}

fn term() -> String {
    "TERM".into()
}

/// A server that cannot be used. The message is one line and says where.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}:{column}: {mistake}")]
pub struct ServerError {
    /// The file as the user knows it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub mistake: ServerMistake,
}

/// What is wrong with a server.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ServerMistake {
    /// TOML does not read it.
    #[error("{0}")]
    Toml(String),
    /// A name that texts cannot have.
    #[error("\"{0}\" is no name of a port or a setting: write a lower-case letter, then letters, digits and _")]
    Name(String),
    /// One name for two things.
    #[error(
        "\"{0}\" is the name of two things; ports and settings need a name each, and \"accelerator\", \"address\", \"directory\", \"image\", \"processors\", \"lun0\", \"lun1\" and so on are taken"
    )]
    Twice(String),
    /// Too many ports.
    #[error("a server has at most {MOST_PORTS} ports")]
    ManyPorts,
    /// Nothing to wait for.
    #[error("there is no port to listen on and no \"ready\", so nothing says when it is ready; give one of the two")]
    NeverReady,
    /// Nothing to wait for or to start again, because nothing is started.
    #[error(
        "without \"start\" there is only a directory, which \"{0}\" says nothing of; leave it out, or give the command that is the server"
    )]
    NothingStarts(&'static str),
    /// No command.
    #[error("\"{0}\" is empty; give the program and its arguments: [\"sh\", \"make-site.sh\"]")]
    NoCommand(&'static str),
    /// Not a user's name.
    #[error("\"{0}\" is no user's name; write one as in /etc/passwd: nobody")]
    User(String),
    /// A file that does not lie in its directory.
    #[error("\"{0}\" is no file in the server's directory; write a name, or names with / between, none of them \"..\"")]
    File(String),
    /// A file that is too long, or too many.
    #[error("a server has at most {MOST_FILES} files of {} KiB each; \"prepare\" can make larger ones", LONGEST_FILE >> 10)]
    MuchText,
    /// Not a signal that ends it.
    #[error("\"{0}\" is no signal to end a server with; there are {known}", known = SIGNALS.join(", "))]
    Signal(String),
    /// A program by its path.
    #[error("\"{0}\" is no program's name; write it without its directory")]
    Program(String),
    /// A text names something that there is not.
    #[error(transparent)]
    Place(#[from] UnknownPlace),
}

/// `@name@` in a text that stands for nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("@{name}@ stands for nothing; there are {}", .known.join(", "))]
pub struct UnknownPlace {
    /// The name.
    pub name: String,
    /// Those that there are.
    pub known: Vec<String>,
}

impl Server {
    /// Reads a server's text.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(text: &str, file: &str) -> Result<Self, ServerError> {
        let wrong = |offset: usize, mistake: ServerMistake| {
            let (line, column) = line_and_column(text, offset);
            ServerError { file: file.into(), line, column, mistake }
        };
        let server: Self = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            wrong(at, ServerMistake::Toml(plain(error.message())))
        })?;
        server.check().map_err(|(key, mistake)| wrong(offset_of_key(text, key), mistake))?;
        Ok(server)
    }

    fn check(&self) -> Result<(), (&'static str, ServerMistake)> {
        let is_program = |name: &str| !name.is_empty() && !name.contains('/') && !name.starts_with('-');
        for (key, program) in
            [("program", &self.program)].into_iter().chain(self.needs.iter().map(|need| ("needs", need)))
        {
            if !is_program(program) {
                return Err((key, ServerMistake::Program(program.clone())));
            }
        }
        if self.ports.len() > MOST_PORTS {
            return Err(("ports", ServerMistake::ManyPorts));
        }
        let mut names: BTreeSet<_> = self.of_stend().collect();
        let taken = |name: &str| lun_number(name).is_some();
        let named =
            self.ports.iter().map(|name| ("ports", name)).chain(self.settings.keys().map(|name| ("settings", name)));
        for (key, name) in named {
            if !is_name(name) {
                return Err((key, ServerMistake::Name(name.clone())));
            }
            if taken(name) || !names.insert(name) {
                return Err((key, ServerMistake::Twice(name.clone())));
            }
        }
        if self.prepare.iter().any(Vec::is_empty) {
            return Err(("prepare", ServerMistake::NoCommand("prepare")));
        }
        let of_process = [
            ("ports", !self.ports.is_empty()),
            ("ready", !self.ready.is_empty()),
            ("restarts", self.restarts),
            ("apart", self.apart),
        ];
        match of_process.into_iter().find(|(_, given)| *given) {
            Some((key, _)) if self.start.is_empty() => return Err((key, ServerMistake::NothingStarts(key))),
            None | Some(("restarts" | "apart", _)) if !self.start.is_empty() => {
                return Err(("start", ServerMistake::NeverReady));
            }
            _ => {}
        }
        if let Some(user) = self.user.as_ref().filter(|user| !is_user(user)) {
            return Err(("user", ServerMistake::User(user.clone())));
        }
        for name in self.files.keys() {
            let is_plain = |part: &str| !["", ".", ".."].contains(&part) && !part.chars().any(char::is_control);
            if !name.split('/').all(is_plain) {
                return Err(("files", ServerMistake::File(name.clone())));
            }
        }
        if self.files.len() > MOST_FILES || self.files.values().any(|text| text.len() > LONGEST_FILE) {
            return Err(("files", ServerMistake::MuchText));
        }
        if !SIGNALS.contains(&self.stop.as_str()) {
            return Err(("stop", ServerMistake::Signal(self.stop.clone())));
        }
        let names: BTreeMap<_, _> = names.into_iter().map(|name| (name.to_owned(), String::new())).collect();
        let check = |key: &'static str, text: &String| {
            filled(text, &names).map(drop).map_err(|unknown| (key, ServerMistake::from(unknown)))
        };
        self.check_settings().map_err(|unknown| ("settings", ServerMistake::from(unknown)))?;
        self.files.values().try_for_each(|text| check("files", text))?;
        self.prepare.iter().flatten().try_for_each(|text| check("prepare", text))?;
        self.start.iter().try_for_each(|text| check("start", text))?;
        self.ready.iter().try_for_each(|text| check("ready", text))
    }

    /// Calls these programs by their paths in place of their names.
    pub(crate) fn use_tools<'a>(&mut self, tools: impl Iterator<Item = (&'a String, &'a String)> + Clone) {
        let commands = self.prepare.iter_mut().chain([&mut self.start, &mut self.ready]);
        for first in commands.filter_map(|words| words.first_mut()) {
            if let Some((_, path)) = tools.clone().find(|(name, _)| *name == first) {
                first.clone_from(path);
            }
        }
    }

    /// Whether it and its load have processors of their own, on a machine with so many online.
    pub fn is_apart(&self, online: u32) -> bool {
        self.apart && online >= LEAST_APART
    }

    /// Checks its settings, which a side may have changed: they are made of what the machine has, and of nothing else.
    ///
    /// # Errors
    /// One names something else.
    pub fn check_settings(&self) -> Result<(), UnknownPlace> {
        let of_machine = BTreeMap::from([(PROCESSORS.to_owned(), String::new())]);
        self.settings.values().try_for_each(|text| filled(text, &of_machine).map(drop))
    }

    /// What `@name@` may stand for in the texts of its scenarios.
    pub fn names(&self) -> BTreeSet<&str> {
        let mut names: BTreeSet<&str> = self.of_stend().collect();
        names.extend(self.ports.iter().chain(self.settings.keys()).map(String::as_str));
        names
    }

    /// Of these names those that are neither ports nor settings.
    fn of_stend(&self) -> impl Iterator<Item = &'static str> + use<> {
        let of_image = self.image.as_ref().map(|_| [IMAGE, ACCELERATOR]);
        [ADDRESS, DIRECTORY, PROCESSORS].into_iter().chain(of_image.into_iter().flatten())
    }

    /// The server with these values in its texts: ports, its address and directory, the machine's processors. Its own settings are added.
    ///
    /// # Errors
    /// A text names something that there is not.
    pub fn placed(
        &self,
        mut values: BTreeMap<String, String>,
    ) -> Result<(Self, BTreeMap<String, String>), UnknownPlace> {
        for (name, text) in &self.settings {
            let value = filled(text, &values)?;
            values.insert(name.clone(), value);
        }
        let all = |words: &Vec<String>| words.iter().map(|word| filled(word, &values)).collect::<Result<Vec<_>, _>>();
        let files = self.files.iter().map(|(name, text)| Ok((name.clone(), filled(text, &values)?)));
        let server = Self {
            files: files.collect::<Result<_, UnknownPlace>>()?,
            prepare: self.prepare.iter().map(all).collect::<Result<_, _>>()?,
            start: all(&self.start)?,
            ready: all(&self.ready)?,
            ..self.clone()
        };
        Ok((server, values))
    }
}

/// The name of a server of a suite, `nginx`, also where it is called by its file: `mine.toml`.
pub fn plain_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or_default().trim_end_matches(".toml")
}

/// Whether a text may be a user's name.
fn is_user(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-'))
}

/// Whether a text may stand between two `@`.
fn is_name(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_lowercase())
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

/// What `@lun3@` means is LUN 3 of the run's target.
pub(crate) fn lun_number(name: &str) -> Option<u32> {
    name.strip_prefix("lun")?.parse().ok()
}

/// A stretch of a text with names.
enum Part<'a> {
    /// It stands for itself.
    Text(&'a str),
    /// It has a value: what stands between two `@`.
    Name(&'a str),
}

/// An `@` that no name follows with another `@` stands for itself.
fn parts(text: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let named = rest.strip_prefix('@').and_then(|behind| behind.split_once('@')).filter(|(name, _)| is_name(name));
        if let Some((name, after)) = named {
            rest = after;
            return Some(Part::Name(name));
        }
        let end = rest.char_indices().skip(1).find(|(_, sign)| *sign == '@').map_or(rest.len(), |(place, _)| place);
        let (before, after) = rest.split_at(end);
        rest = after;
        Some(Part::Text(before))
    })
}

/// The names in a text.
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    parts(text).filter_map(|part| match part {
        Part::Name(name) => Some(name),
        Part::Text(_) => None,
    })
}

/// A text with values for its names.
///
/// # Errors
/// It names something that has no value.
pub fn filled(text: &str, values: &BTreeMap<String, String>) -> Result<String, UnknownPlace> {
    let unknown =
        |name: &str| UnknownPlace { name: name.into(), known: values.keys().map(|name| format!("@{name}@")).collect() };
    let value = |part| match part {
        Part::Text(text) => Ok(text),
        Part::Name(name) => values.get(name).map(String::as_str).ok_or_else(|| unknown(name)),
    };
    parts(text).map(value).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PLAIN: &str =
        "title = \"t\"\nprogram = \"httpd\"\nports = [\"http\"]\nstart = [\"httpd\", \"-p\", \"@http@\"]\n";

    fn values(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn texts_get_ports_settings_and_the_directory() {
        let text = format!(
            "{PLAIN}[settings]\nworkers = \"@processors@\"\n[files]\n\"a/b.conf\" = \"listen @http@; root @directory@; n @workers@; mail a@b.c @\"\n"
        );
        let server = Server::parse(&text, "t.toml").unwrap();
        let (placed, values) =
            server.placed(values(&[("http", "20001"), ("directory", "/w"), ("processors", "2")])).unwrap();
        assert_eq!(placed.files["a/b.conf"], "listen 20001; root /w; n 2; mail a@b.c @");
        assert_eq!((placed.start[2].as_str(), values["workers"].as_str()), ("20001", "2"));
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (more, line, said) in [
            ("colour = \"red\"\n", 5, "colour"),
            ("[files]\n\"../x\" = \"\"\n", 5, "\"../x\" is no file"),
            (
                "[files]\nx = \"@https@\"\n",
                5,
                "@https@ stands for nothing; there are @address@, @directory@, @http@, @processors@",
            ),
            ("stop = \"KILL\"\n", 5, "TERM, INT"),
            ("[settings]\nhttp = \"1\"\n", 5, "name of two things"),
            ("[settings]\nlun3 = \"1\"\n", 5, "\"lun3\" is the name of two things"),
            ("[settings]\nHttp = \"1\"\n", 5, "\"Http\" is no name"),
            ("[settings]\nx = \"@http@\"\n", 5, "@processors@"),
            ("prepare = [[]]\n", 5, "\"prepare\" is empty"),
            ("needs = [\"/bin/sh\"]\n", 5, "\"/bin/sh\" is no program's name"),
            ("user = \"-x\"\n", 5, "\"-x\" is no user's name"),
        ] {
            let said_now = Server::parse(&format!("{PLAIN}{more}"), "t.toml").unwrap_err().to_string();
            let place = format!("t.toml:{line}:");
            assert!(said_now.starts_with(&place) && said_now.contains(said), "{said_now}");
        }
        let nothing_to_wait_for = PLAIN.replace("ports = [\"http\"]\n", "").replace(", \"@http@\"", "");
        assert!(Server::parse(&nothing_to_wait_for, "t.toml").unwrap_err().to_string().contains("\"ready\""));
        let nothing_starts =
            PLAIN.replace("start", "prepare").replace("[\"httpd\", \"-p\", \"@http@\"]", "[[\"true\"]]");
        let said = Server::parse(&nothing_starts, "t.toml").unwrap_err().to_string();
        assert!(said.starts_with("t.toml:3:") && said.contains("\"ports\""), "{said}");
        assert!(Server::parse(&nothing_starts.replace("ports = [\"http\"]", ""), "t.toml").is_ok());
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,200}") {
            let _ = Server::parse(&text, "t.toml");
            let _ = filled(&text, &values(&[("a", "b")]));
        }

        #[test]
        fn text_without_names_is_left_alone(text in "[^@]{0,40}(@[A-Z ]{0,3})?") {
            prop_assert_eq!(filled(&text, &BTreeMap::new()), Ok(text));
        }
    }
}
