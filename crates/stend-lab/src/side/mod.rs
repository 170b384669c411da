//! The two sides of a run: what they take on the machine under test, checked before anything is measured.

mod tuning;

use std::collections::{BTreeMap, BTreeSet};

use stend_model::cause::Cause;
use stend_model::run::Skipped;
use stend_model::server::plain_name;
use stend_model::side::{Side, settings_named};
use stend_model::suite::{Instrument, Suite};
use thiserror::Error;

use stend_instrument::{ADAPTERS, AdapterError, Tool, check_parameters};
use stend_stand::host::stand::{self, BuildError, Compiler};
use stend_stand::host::{Command, Host, HostError};
use stend_stand::machine::{ToolQuery, tools};

pub use tuning::{Restored, Tuning, restore};

use self::tuning::TuningError;

/// Why sides cannot be measured.
#[derive(Debug, Error)]
pub enum SideError {
    /// The words for a side are not understood.
    #[error("--ab: {said}")]
    Unclear {
        /// Why not.
        said: String,
    },
    /// Both sides have the same settings and no names.
    #[error(
        "--ab: both sides are called \"{0}\"; set something else on one of them, or to measure the same \
         twice give one a name: name=…"
    )]
    Same(String),
    /// Both sides have the same name.
    #[error("--ab: both sides are called \"{0}\"; give one another name")]
    SameName(String),
    /// No scenario has a parameter that a side sets.
    #[error(
        "--ab: set.{name}={value}: no scenario of suite \"{suite}\" has a parameter \"{name}\"; there are: {}",
        if .known.is_empty() { "none".into() } else { .known.join(", ") }
    )]
    NoParameter {
        /// The parameter.
        name: String,
        /// What it was to be.
        value: String,
        /// The suite.
        suite: String,
        /// All parameters of its scenarios.
        known: Vec<String>,
    },
    /// No server has a setting that a side sets.
    #[error(
        "--ab: rig.{key}: no server of the suite has a setting \"{key}\"; there are: {}",
        if .known.is_empty() { "none".into() } else { .known.join(", ") }
    )]
    NoServerSetting {
        /// The setting.
        key: String,
        /// All that there are.
        known: Vec<String>,
    },
    /// Several servers have it.
    #[error("--ab: rig.{key}: several servers have this setting ({}); name one: rig.{}.{key}", .servers.join(", "), .servers[0])]
    SettingOfSeveral {
        /// The setting.
        key: String,
        /// The servers.
        servers: Vec<String>,
    },
    /// A scenario does not take a value that a side sets.
    #[error("--ab: side \"{side}\", scenario \"{scenario}\": {error}")]
    BadParameter {
        /// What the side is called.
        side: String,
        /// The scenario.
        scenario: String,
        /// What its instrument says.
        error: Box<AdapterError>,
    },
    /// A side takes what there is not.
    #[error("side \"{side}\": {source}")]
    OfSide {
        /// What the side is called.
        side: String,
        /// What is missing.
        source: Box<SideError>,
    },
    /// The program before the instruments is not there.
    #[error("prefix={prefix}: {program} is not on the machine's PATH")]
    NoPrefix {
        /// All words before the instruments.
        prefix: String,
        /// The first of them.
        program: String,
    },
    /// A tool is not there.
    #[error("tool.{name}={path}: that is no program")]
    NoTool {
        /// How it is called.
        name: String,
        /// Where it was to be.
        path: String,
    },
    /// `stend-probe` is not built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A setting of the kernel will not do.
    #[error(transparent)]
    Tuning(#[from] TuningError),
    /// The machine cannot be asked.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl SideError {
    /// The same of one side.
    fn of(side: &Side, error: impl Into<Self>) -> Self {
        Self::OfSide { side: side.label.clone(), source: Box::new(error.into()) }
    }
}

/// What a side's instruments are started with.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// The `stend-probe` that was built for it.
    pub probe: Option<String>,
    /// Variables to set.
    pub environment: BTreeMap<String, String>,
    /// Words that stand before the instrument's own.
    pub prefix: Vec<String>,
    /// The tools that are other ones than on the PATH, by the names that they are called by.
    pub tools: BTreeMap<String, String>,
}

impl Setting {
    /// How a tool is called.
    pub fn program(&self, tool: &Tool) -> &str {
        self.tools.get(tool.program).map_or(tool.program, String::as_str)
    }

    /// Makes a directory in which each tool has its name, and puts it before all others on the PATH. So it is found by scripts and shells too.
    ///
    /// # Errors
    /// The machine does not do it.
    pub fn link_tools(&mut self, host: &dyn Host, directory: &str) -> anyhow::Result<()> {
        if self.tools.is_empty() {
            return Ok(());
        }
        host.make_directory(directory)?;
        for (name, path) in &self.tools {
            let linked = host.run(&Command::new(["ln", "-sfn", path, &format!("{directory}/{name}")]))?;
            anyhow::ensure!(
                linked.exit == Some(0),
                "{directory}/{name}: {}",
                String::from_utf8_lossy(&linked.stderr).trim()
            );
        }
        let usual = host.run(&Command::new(["sh", "-c", "printf %s \"$PATH\""]))?.text();
        let usual = self.environment.get("PATH").map_or(usual.trim_end_matches('\n'), String::as_str);
        let path = format!("{directory}:{usual}");
        self.environment.insert("PATH".into(), path);
        Ok(())
    }
}

/// The sides that a person means.
///
/// # Errors
/// One is not understood, or they cannot be told apart; one line that says why.
pub fn parse(texts: &[String]) -> Result<Vec<Side>, SideError> {
    let sides = texts.iter().map(|text| text.parse::<Side>()).collect::<Result<Vec<_>, _>>();
    let mut sides = sides.map_err(|error| SideError::Unclear { said: error.to_string() })?;
    if let [a, b] = &sides[..]
        && a.label == b.label
    {
        let (label, is_same) = (a.label.clone(), a.settings() == b.settings());
        return Err(if is_same { SideError::Same(label) } else { SideError::SameName(label) });
    }
    for path in sides.iter_mut().flat_map(|side| side.tools.values_mut()) {
        // It is started in other directories than this one.
        if let Ok(absolute) = std::path::absolute(&*path) {
            *path = absolute.to_string_lossy().into_owned();
        }
    }
    Ok(sides)
}

/// Checks that the suite can be measured on both sides.
///
/// # Errors
/// No scenario has a parameter that a side sets, or one does not take the value; one line that says why.
pub fn check_suite(suite: &Suite, sides: &[Side]) -> Result<(), SideError> {
    for (name, value) in sides.iter().flat_map(|side| &side.parameters) {
        if !suite.scenarios.iter().any(|scenario| scenario.parameters.contains_key(name)) {
            let known: BTreeSet<_> = suite.scenarios.iter().flat_map(|scenario| scenario.parameters.keys()).collect();
            return Err(SideError::NoParameter {
                name: name.clone(),
                value: value.clone(),
                suite: suite.name.clone(),
                known: known.into_iter().cloned().collect(),
            });
        }
    }
    for key in sides.iter().flat_map(|side| side.servers.keys()) {
        let mut servers = suite.servers.clone();
        let named: Vec<_> =
            settings_named(&mut servers, key).into_iter().map(|(name, _)| plain_name(name).to_owned()).collect();
        let all = suite.servers.iter();
        let known = || {
            all.flat_map(|(name, server)| {
                server.settings.keys().map(move |setting| format!("{}.{setting}", plain_name(name)))
            })
            .collect()
        };
        match named.len() {
            1 => {}
            0 => return Err(SideError::NoServerSetting { key: key.clone(), known: known() }),
            _ => return Err(SideError::SettingOfSeveral { key: key.clone(), servers: named }),
        }
    }
    for side in sides {
        let mut servers = suite.servers.clone();
        let mut named = BTreeSet::new();
        for (key, value) in &side.servers {
            for (server, setting) in settings_named(&mut servers, key) {
                if !named.insert((server.to_owned(), key.rsplit('.').next().unwrap_or_default())) {
                    return Err(SideError::Unclear {
                        said: format!("rig.{key} sets what another rig. of this side sets too"),
                    });
                }
                setting.clone_from(value);
            }
        }
        servers
            .values()
            .try_for_each(stend_model::server::Server::check_settings)
            .map_err(|unknown| SideError::of(side, SideError::Unclear { said: format!("rig.: {unknown}") }))?;
    }
    for side in sides {
        for scenario in suite.scenarios.iter().filter(|scenario| lacks(scenario, side).is_none()) {
            check_parameters(&side.applied(scenario)).map_err(|error| SideError::BadParameter {
                side: side.label.clone(),
                scenario: scenario.name.clone(),
                error: error.into(),
            })?;
        }
    }
    Ok(())
}

/// The parameter of a side that a scenario does not have.
fn lacks<'a>(scenario: &stend_model::suite::Scenario, side: &'a Side) -> Option<&'a str> {
    side.parameters.keys().find(|name| !scenario.parameters.contains_key(*name)).map(String::as_str)
}

/// The scenarios that have nothing of what the sides differ in, with the reason.
pub fn skipped(suite: &Suite, sides: &[Side]) -> Vec<Skipped> {
    let [a, b] = sides else { return Vec::new() };
    // Whatever else they differ in may do something to any program.
    let without_builds = |side: &Side| Side { compiler: None, compiler_flags: None, ..named(side) };
    let only_builds = without_builds(a) == without_builds(b) && named(a) != named(b);
    let without_target = |side: &Side| Side { target: BTreeMap::new(), ..named(side) };
    let only_target = without_target(a) == without_target(b) && a.target != b.target;
    let mut skipped = Vec::new();
    for scenario in suite.scenarios.iter().filter(|scenario| !scenario.is_precondition()) {
        let lacking = sides.iter().find_map(|side| lacks(scenario, side));
        let reason = match lacking {
            Some(name) => Cause::ParameterLacking { parameter: name.to_owned() },
            None if only_builds && !matches!(scenario.instrument, Instrument::Probe(_)) => Cause::NotNative,
            None if only_target && !scenario.loads_luns() => Cause::NotOnTarget,
            None => continue,
        };
        skipped.push(Skipped { scenario: scenario.name.clone(), reason, remedy: None });
    }
    skipped
}

/// A side without what it is called and what was found.
fn named(side: &Side) -> Side {
    Side { label: String::new(), found: Default::default(), ..side.clone() }
}

/// Sees to it that the machine has what a side takes, and builds what is to be built: what its instruments are started with. Notes what was found.
/// `usual` is the compiler of sides that name none.
///
/// # Errors
/// Something is missing; one line that says what.
pub fn prepare(
    host: &dyn Host,
    all_work: &str,
    usual: &Compiler,
    side: &mut Side,
    tell: &mut dyn FnMut(&str),
) -> Result<Setting, SideError> {
    let found = found_tools(host, side)?;
    let mut probe = None;
    if side.is_built() {
        let mut tell = |words: &str| tell(&format!("side \"{}\": {words}", side.label));
        let built = stand::build(host, all_work, &compiler_of(side, usual), &mut tell, None);
        let stand::Built { probe: path, build, identity } = built.map_err(|error| SideError::of(side, error))?;
        side.found.compiler = Some(build.compiler.clone());
        (side.found.build, side.found.built) = (Some(identity), Some(build));
        probe = Some(path);
    }
    side.found.tools = found;
    let (environment, prefix, tools) = (side.environment.clone(), side.prefix.clone(), side.tools.clone());
    Ok(Setting { probe, environment, prefix, tools })
}

/// What builds for a side, if it is built.
fn compiler_of(side: &Side, usual: &Compiler) -> Compiler {
    Compiler::new(
        side.compiler.as_ref().unwrap_or(&usual.program),
        side.compiler_flags.as_ref().unwrap_or(&usual.flags),
    )
}

/// Sees to it that a side's prefix and tools are there: what the tools say of themselves.
fn found_tools(host: &dyn Host, side: &Side) -> Result<BTreeMap<String, stend_model::machine::Tool>, SideError> {
    if let Some(program) = side.prefix.first()
        && host.find_program(program).is_none()
    {
        let (prefix, program) = (side.prefix.join(" "), program.clone());
        return Err(SideError::of(side, SideError::NoPrefix { prefix, program }));
    }
    let mut found = BTreeMap::new();
    for (name, path) in &side.tools {
        if host.find_program(path).is_none() {
            return Err(SideError::of(side, SideError::NoTool { name: name.clone(), path: path.clone() }));
        }
        // A tool that no adapter knows is asked as most are.
        let known = ADAPTERS.iter().filter_map(|adapter| adapter.tool()).find(|tool| tool.program == name);
        let arguments = known.map_or(&["--version"][..], |tool| tool.version_arguments);
        let version_arguments = arguments.iter().map(|&word| word.to_owned()).collect();
        let queries = [ToolQuery { program: path.clone(), version_arguments }];
        let tool = tools(host, &queries).map_err(|error| SideError::of(side, error))?.0.remove(path);
        found.extend(tool.map(|tool| (name.clone(), tool)));
    }
    Ok(found)
}

/// What preparing the sides would find and change, a few lines for each. Nothing is built or set for that.
///
/// # Errors
/// Something is missing; one line that says what.
pub fn foreseen(
    host: &dyn Host,
    all_work: &str,
    usual: &Compiler,
    sides: &[Side],
) -> Result<Vec<Vec<String>>, SideError> {
    let tuning = Tuning::new(host, all_work, sides)?;
    let of = |(place, side): (usize, &Side)| {
        let tools = found_tools(host, side)?;
        let mut lines: Vec<_> =
            tools.iter().map(|(name, tool)| format!("{name}: {}, {}", tool.path, tool.version)).collect();
        if side.is_built() {
            let compiler = compiler_of(side, usual);
            let version = stand::version(host, &compiler).map_err(|error| SideError::of(side, error))?;
            lines.push(stand::in_words(&version, &compiler));
        }
        lines.extend(tuning.changes_of(place));
        Ok(lines)
    };
    sides.iter().enumerate().map(of).collect()
}

/// The tools that an adapter needs, one for each side; without sides the one on the PATH.
pub fn programs<'a>(sides: &'a [Side], tool: &Tool) -> Vec<&'a str> {
    if sides.is_empty() {
        return vec![tool.program];
    }
    sides.iter().map(|side| side.tools.get(tool.program).map_or(tool.program, String::as_str)).collect()
}
