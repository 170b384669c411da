//! Instruments: what loads the machine under test and reports.
//!
//! `stend-probe` and programs of the user's print the wire themselves. A real tool prints something of its own; its
//! [`Adapter`] says how to start it and turns what it printed into the same events. An adapter touches no machine.

#![deny(clippy::print_stdout, clippy::print_stderr)]

mod compress;
mod conformance;
mod finished;
mod fio;
#[cfg(test)]
pub mod fixture;
mod hdparm;
mod http;
mod line;
mod openssl;
mod parameters;
mod time;
pub mod xml;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

pub use self::finished::Finished;
pub use self::fio::suite as fio_files;
pub use self::time::{Commands, CommandsError, suite_of as suite_of_commands};

use stend_model::cause::Cause;
use stend_model::checked::Checked;
use stend_model::checked::Stood;
use stend_model::run::{Repeat, Run};
use stend_model::suite::{Instrument, Scenario, Suite};
use stend_model::target::Target;
use stend_model::wire::Event;
use thiserror::Error;

pub use self::fio::FioError;
use self::openssl::OpenSslError;
use self::parameters::ParameterError;
pub use self::parameters::{how_it_ended, last_words};
use stend_stand::host::Command;
use stend_stand::machine::ToolQuery;

/// What stands between a real tool and the wire.
pub trait Adapter: Sync {
    /// The instrument's name in suites.
    fn name(&self) -> &'static str;

    /// The program that it needs; none where a shell is enough.
    fn tool(&self) -> Option<Tool>;

    /// Checks the scenario's parameters before anything is run. The error says which parameter, and what would be right.
    fn check(&self, scenario: &Scenario) -> Result<(), AdapterError>;

    /// What a repeat starts, in words: the tool, and commands that the suite's author has chosen.
    fn starts(&self, _: &Scenario) -> Vec<String> {
        vec![self.name().to_owned()]
    }

    /// The command by which the tool, called by this name or path, says what it can do for the scenario, if it is to be asked. `work`: the
    /// directory for runs' files.
    fn abilities(&self, _: &Scenario, _program: &str, _work: &str) -> Option<Vec<String>> {
        None
    }

    /// What the tool, which said so of its abilities, lacks for the scenario; as the reason why that is skipped.
    fn lacks(&self, _: &Scenario, _said: &str) -> Option<Cause> {
        None
    }

    /// A command that says which files the scenario works on, where the parameters alone do not; its answer is for [`Adapter::files`].
    fn question(&self, _: &Scenario, _: &Place) -> Result<Option<Command>, AdapterError> {
        Ok(None)
    }

    /// The files that a whole run of this scenario works on, by path.
    fn files(&self, _: &Scenario, _: &Place, _answer: &str) -> Result<BTreeMap<String, File>, AdapterError> {
        Ok(BTreeMap::new())
    }

    /// How to start the tool for one repeat.
    fn invocation(&self, scenario: &Scenario, place: &Place) -> Result<Invocation, Cause>;

    /// The job that the tool read in a repeat from a file that is gone with it, made anew from what the run keeps; nothing where the command
    /// alone says what was done.
    fn job(&self, _: &Run, _: &Scenario, _: &Repeat) -> Option<String> {
        None
    }

    /// How to read again what a load wrote to the LUNs whose files these are, after its pool has failed.
    fn reading_again(&self, _: &Scenario, _: &Place, _: &[String]) -> Result<Invocation, Cause> {
        Err(Cause::NotReadAgain { tool: self.name().into() })
    }

    /// What of the load is lost. `load`: the files that it left.
    fn losses(&self, _: &Scenario, _load: &Files, _: Remains<'_>) -> Result<Losses, Cause> {
        Err(Cause::NotReadAgain { tool: self.name().into() })
    }

    /// What stands in a block of which the load was lost. `found`: what was read there, empty if it cannot be read.
    fn what_stands(&self, _: &Place, block: Block, _found: &[u8]) -> Checked {
        Checked::Stands { file: format!("lun{}", block.lun), offset: block.offset, what: Stood::Unreadable }
    }

    /// Turns what the tool left into events: one `begin`, samples, one `repeat`, one `end`. The error is why the repeat has failed.
    fn translate(&self, scenario: &Scenario, finished: &Finished) -> Result<Vec<Event>, Cause>;

    /// Whether a tool that failed for this reason would fail in the same way if it were started again.
    fn lasts(&self, _: &Cause, _: &Finished) -> bool {
        false
    }

    /// The name of the result that is the tool's own report, which is kept as it came.
    fn own_report(&self) -> Option<&'static str> {
        None
    }
}

/// What is wrong with a scenario for its adapter.
#[derive(Debug, Error)]
pub enum AdapterError {
    /// fio's.
    #[error(transparent)]
    Fio(#[from] FioError),
    /// openssl's.
    #[error(transparent)]
    OpenSsl(#[from] OpenSslError),
    /// A compressor's, or that of a command.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// There is no adapter of this name.
    #[error("there is no adapter \"{0}\"")]
    Unknown(String),
}

/// A file that a tool works on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct File {
    /// How long it will be, if the tool makes it or makes it longer.
    pub bytes: u64,
    /// Who works on it: `section [a]`.
    pub by: String,
    /// Whether something that is there already would be lost.
    pub writes: Writes,
    /// The directory that it is to lie in and that the tool does not make.
    pub directory: Option<String>,
    /// Whether the tool cannot make it, because it is not told how long it is to be.
    pub must_exist: bool,
}

impl File {
    /// One more works on it.
    pub fn add(&mut self, other: &Self) {
        let bytes = self.bytes.max(other.bytes);
        // One that writes to it is told of first.
        if other.writes > self.writes {
            *self = other.clone();
        }
        self.bytes = bytes;
    }

    /// Whether something would be lost of what is there and so long.
    pub fn overwrites(&self, there: u64) -> bool {
        match self.writes {
            Writes::ItsOwn => false,
            Writes::WhereLonger => self.bytes > there,
            Writes::Always => true,
        }
    }
}

/// What a tool does to a file that is there already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Writes {
    /// It has a name that only the tool gives.
    #[default]
    ItsOwn,
    /// The user named it, and it is only read, unless it is too short: then all of it is written.
    WhereLonger,
    /// The user named it, and it is written to.
    Always,
}

/// A program that an adapter needs on the machine under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tool {
    /// The program's name on the PATH.
    pub program: &'static str,
    /// What has it.
    pub package: Package,
    /// The arguments that make it say its version.
    pub version_arguments: &'static [&'static str],
    /// The oldest version that will do.
    pub least: Option<(u32, u32)>,
}

/// What a program comes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Package {
    /// A package of Debian's.
    Debian(&'static str),
    /// A crate, which cargo builds.
    Crate(&'static str),
}

/// An open load is one if at least this share of the rate was reached: with less, operations waited for each other.
const LEAST_OF_RATE: f64 = 0.9;

impl Tool {
    /// The program's name.
    pub fn name(&self) -> String {
        self.program.to_owned()
    }
}

/// Directories on the machine under test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The run's id, for the names of files elsewhere.
    pub run: String,
    /// What no other start of an instrument has, by which what it wrote is told from all else: `RUN NUMBER RANDOM`.
    pub mark: String,
    /// For files that serve the whole run, such as those that fio reads and writes. Removed when the run ends.
    pub data: String,
    /// For the files of one repeat. Empty before it, removed after it.
    pub work: String,
    /// The LUNs of the run's target, which are loaded instead of files of the instrument's own. Empty where the run has no target.
    pub luns: Vec<LunAddress>,
}

/// Where a LUN is, for the instrument that loads it. It holds as many bytes as the scenario's parameter `size` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LunAddress {
    /// A block device or a file, by its path on the machine under test.
    Path(String),
    /// An export of a server that speaks NBD, by its URI.
    Nbd(String),
}

impl fmt::Display for LunAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Path(text) | Self::Nbd(text)) = self;
        f.write_str(text)
    }
}

impl Place {
    /// The place of a run whose directory is this.
    pub fn of(run: &str, directory: &str) -> Self {
        Self {
            run: run.into(),
            mark: mark_of(run, 0, 0),
            data: format!("{directory}/data"),
            work: format!("{directory}/repeat"),
            luns: Vec::new(),
        }
    }
}

/// The mark of a start of a run's instruments, for the repeat of this number. `random`: a repeat may be started more than once.
pub fn mark_of(run: &str, number: usize, random: u64) -> String {
    format!("{run} {number} {random:016x}")
}

/// How to start a tool for one repeat.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Invocation {
    /// Files to put there first, by path. One in the place's `data` is put there once a session.
    pub files: BTreeMap<String, Cow<'static, [u8]>>,
    /// Directories outside the place that the tool makes, whose last name is `stend-` and the run's id. They are removed when the run
    /// ends, or by `stend clean`.
    pub leaves: Vec<String>,
    /// What is to be done first, under a guard too: a program and its arguments; nothing if empty.
    pub before: Vec<String>,
    /// The program and its arguments. It is started under `stend-probe guard`, in the place's `work` directory.
    pub words: Vec<String>,
    /// What is to be done after it, if it ended well, also under a guard: what this prints is for the check alone. Nothing if empty.
    pub after: Vec<String>,
    /// Variables to set.
    pub environment: BTreeMap<String, String>,
    /// Files to read afterwards, by path; a final `*` stands for any rest of a name. Those that do not exist are left out.
    pub results: Vec<String>,
}

/// Files by their paths, as a tool left them.
pub type Files = BTreeMap<String, Vec<u8>>;

/// What is left of a pool that has failed.
#[derive(Debug, Clone, Copy)]
pub enum Remains<'a> {
    /// The LUNs' files, by their paths, and what reading them again left.
    Luns(&'a [String], &'a Files),
    /// No file system, and why.
    Nothing(&'a str),
}

/// What of a load is lost after its pool has failed.
#[derive(Debug, Clone, PartialEq)]
pub struct Losses {
    /// Whether no more is lost than may be.
    pub passed: bool,
    /// In figures.
    pub observed: BTreeMap<String, f64>,
    /// As facts.
    pub evidence: Vec<Checked>,
    /// Where it is worth looking what stands there: blocks that must not be lost, and are.
    pub looks: Vec<Block>,
}

/// A block of a LUN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// The LUN's number, from 0.
    pub lun: usize,
    /// Its offset in bytes, a multiple of its length.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Every adapter.
pub const ADAPTERS: [&dyn Adapter; 14] = [
    &fio::Fio,
    &openssl::OpenSsl,
    &openssl::STime,
    &compress::GZIP,
    &compress::PIGZ,
    &compress::ZSTD,
    &compress::BROTLI,
    &hdparm::Hdparm,
    &time::Time,
    &conformance::TestSuite,
    &http::WRK,
    &http::AB,
    &http::H2LOAD,
    &http::OHA,
];

/// The adapter of this name.
pub fn adapter(name: &str) -> Option<&'static dyn Adapter> {
    ADAPTERS.into_iter().find(|adapter| adapter.name() == name)
}

/// What a repeat of a scenario starts, in words.
pub fn starts(scenario: &Scenario) -> Vec<String> {
    match &scenario.instrument {
        Instrument::Adapter(name) => adapter(name).map(|adapter| adapter.starts(scenario)).unwrap_or_default(),
        other => vec![other.to_string()],
    }
}

/// The job that a repeat's command names, where its instrument reads one from a file; see [`Adapter::job`].
pub fn job(run: &Run, scenario: &Scenario, repeat: &Repeat) -> Option<String> {
    let Instrument::Adapter(name) = &scenario.instrument else { return None };
    adapter(name)?.job(run, scenario, repeat)
}

/// Checks the parameters of a scenario whose instrument is an adapter. The error says which parameter, and what would be right.
pub fn check_parameters(scenario: &Scenario) -> Result<(), AdapterError> {
    match &scenario.instrument {
        Instrument::Adapter(name) => match adapter(name) {
            Some(adapter) => adapter.check(scenario),
            None => Err(AdapterError::Unknown(name.clone())),
        },
        Instrument::Probe(_) | Instrument::Command(_) => Ok(()),
    }
}

/// Whether a fio that said so of its engines has this one.
pub fn has_engine(said: &str, engine: &str) -> bool {
    fio::has_engine(said, engine)
}

/// Fits a scenario that loads LUNs to those of a target: how many, how large, and how they are reached. The error says why it cannot load
/// them, and what would be right.
pub fn fit_to_luns(scenario: &mut Scenario, target: &Target) -> Result<(), FioError> {
    fio::fit_to_luns(scenario, target)
}

/// What the machine's fingerprint asks about the adapters' tools.
pub fn tool_queries() -> Vec<ToolQuery> {
    ADAPTERS.iter().filter_map(|adapter| adapter.tool()).map(query).collect()
}

/// Those that a suite's scenarios take.
pub fn tools_of(suite: &Suite) -> Vec<ToolQuery> {
    let is_used = |name: &str| {
        let instruments = suite.scenarios.iter().map(|scenario| &scenario.instrument);
        instruments.into_iter().any(|instrument| matches!(instrument, Instrument::Adapter(used) if used == name))
    };
    let used = ADAPTERS.iter().filter(|adapter| is_used(adapter.name()));
    used.filter_map(|adapter| adapter.tool()).map(query).collect()
}

fn query(tool: Tool) -> ToolQuery {
    ToolQuery {
        program: tool.program.into(),
        version_arguments: tool.version_arguments.iter().map(|&word| word.into()).collect(),
    }
}

/// A text of a suite in which no brace is a variable's.
pub fn literal(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// A text as TOML has it.
pub fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use stend_model::suite::{Changes, Suite};

    use super::ADAPTERS;

    /// A suite is read without any adapter at hand, so the model knows their names by itself.
    #[test]
    fn suites_know_every_adapter_and_no_other() {
        let text = "name = \"t\"\ntitle = \"t\"\n[[scenario]]\nname = \"s\"\ninstrument = \"none\"\n\
            metrics = [{ name = \"m\", value = \"wall\", unit = \"s\", better = \"lower\" }]\n";
        let error = Suite::parse(text, "t.toml", Path::new("/"), &Changes::default()).unwrap_err().to_string();
        let names = ADAPTERS.map(|adapter| format!("\"{}\"", adapter.name())).join(", ");
        assert!(error.contains(&format!("there are \"stend-probe SUBCOMMAND\", {names}, or")), "{error}");
    }
}
