//! Sides: two configurations of one machine that one run measures in turns, so that they can be compared as pairs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::cause::Cause;
use crate::machine::Tool;
use crate::plan::Phase;
use crate::run::{Build, Outcome, Repeat, Run};
use crate::server::{Server, plain_name};
use crate::suite::Scenario;
use crate::target::{TargetError, TargetOfRun, TargetText};

/// What a side without a setting is called.
pub const AS_IT_IS: &str = "as it is";

/// A label of more characters than this does not go over a column.
const LONGEST_LABEL: usize = 60;

/// The settings that there are, for messages.
const KEYS: &str = "name=, env.NAME=, prefix=, sysctl.NAME=, governor=, set.PARAMETER=, backend=, target.KEY=, rig.SETTING=, tool.NAME=, cc=, cflags=";

/// One configuration: how it differs from the machine as it is, and from the suite as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Side {
    /// What it is called.
    pub label: String,
    /// Variables of the instrument's environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub environment: BTreeMap<String, String>,
    /// Words that stand before the instrument's own: `taskset -c 0`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prefix: Vec<String>,
    /// Settings of the kernel by their names below `/proc/sys`, as `sysctl` has them: `vm.swappiness`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sysctls: BTreeMap<String, String>,
    /// The frequency governor of all processors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub governor: Option<String>,
    /// Parameters of the scenarios.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<String, String>,
    /// Keys of the target's description.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub target: BTreeMap<String, String>,
    /// Settings of the suite's servers, by their names; `SERVER.SETTING` where several servers have one of the same name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub servers: BTreeMap<String, String>,
    /// Programs by the name that they are called by, each with the path of the one that is meant.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, String>,
    /// The compiler that builds the native instruments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// The flags that it builds them with, after those that they are always built with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler_flags: Option<String>,
    /// What was found of all this on the machine when the run began.
    #[serde(default, skip_serializing_if = "Found::is_empty")]
    pub found: Found,
}

/// What a side's settings turned out to be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// The compiler, as the machine's fingerprint has it: the first two lines of `--version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler: Option<String>,
    /// What identifies the build: sources, compiler and flags.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// The build itself; runs of old versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub built: Option<Build>,
    /// What the settings of the kernel that either side sets are on this one, by the names that they have in the machine's fingerprint.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Each tool that is another one than on the PATH.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, Tool>,
    /// The target as this side has it, where a side sets something of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetOfRun>,
}

impl Found {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A text that is no side. The message is one line and says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SideError {
    /// There is no `=` in a setting.
    #[error("\"{0}\" is no setting of a side: write KEY=VALUE, with the keys {KEYS}")]
    NoSetting(String),
    /// There is no such key.
    #[error("there is no setting \"{0}\" of a side; there are {KEYS}")]
    NoKey(String),
    /// A key stands there twice.
    #[error("\"{0}\" is set twice on one side; set it once")]
    Twice(String),
    /// A key ends with its dot.
    #[error("\"{0}\" does not say of what after the dot")]
    OfNothing(String),
    /// A key is set to nothing.
    #[error("\"{0}\" has no value after the =")]
    NoValue(String),
    /// A tool is named by its path.
    #[error("\"{0}\": tool.NAME takes the name that the tool is called by, as in tool.fio=/opt/fio/bin/fio")]
    ToolByPath(String),
    /// A setting of the kernel has no such name.
    #[error("\"{0}\" is no name of a sysctl; it is written as sysctl writes it: sysctl.vm.swappiness=10")]
    NoSysctl(String),
    /// The target does not take a setting.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The name has a line break, or something like it.
    #[error("the name {0:?} of a side is not one line of text")]
    NotOneLine(String),
    /// The name is too long.
    #[error(
        "\"{0}\" is too long to stand over a column; give the side a name of {LONGEST_LABEL} characters at most: name=…"
    )]
    TooLong(String),
}

impl FromStr for Side {
    type Err = SideError;

    /// Reads settings as a person writes them: `name=one core; prefix=taskset -c 0; env.LANG=C`. A `;` in a value is written `\;`. No setting at
    /// all is the machine as it is.
    fn from_str(text: &str) -> Result<Self, SideError> {
        let mut side = Self::default();
        let mut said = Vec::new();
        for setting in settings(text) {
            side.set(&setting)?;
            if setting.split_once('=').is_some_and(|(key, _)| key.trim() != "name") {
                said.push(setting);
            }
        }
        if side.label.is_empty() {
            side.label = if said.is_empty() { AS_IT_IS.into() } else { said.join("; ") };
        }
        if side.label.chars().any(char::is_control) {
            return Err(SideError::NotOneLine(side.label));
        }
        if side.label.chars().count() > LONGEST_LABEL {
            return Err(SideError::TooLong(side.label));
        }
        Ok(side)
    }
}

impl Side {
    fn set(&mut self, setting: &str) -> Result<(), SideError> {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(SideError::NoSetting(setting.into()));
        };
        let (key, value) = (key.trim(), value.trim());
        let twice = || SideError::Twice(key.into());
        let once = |field: &mut Option<String>| match field.replace(value.to_owned()) {
            None => Ok(()),
            Some(_) => Err(twice()),
        };
        let add = |map: &mut BTreeMap<String, String>, name: &str| match map.insert(name.to_owned(), value.to_owned()) {
            _ if name.is_empty() => Err(SideError::OfNothing(setting.into())),
            None => Ok(()),
            Some(_) => Err(twice()),
        };
        let may_be_empty =
            ["env.", "set.", "target.", "rig."].iter().any(|kind| key.starts_with(kind)) || key == "cflags";
        if value.is_empty() && !may_be_empty {
            return Err(SideError::NoValue(setting.into()));
        }
        match key.split_once('.') {
            Some(("env", name)) => add(&mut self.environment, name),
            Some(("set", name)) => add(&mut self.parameters, name),
            Some(("tool", name)) if name.contains('/') => Err(SideError::ToolByPath(setting.into())),
            Some(("tool", name)) => add(&mut self.tools, name),
            Some(("target", name)) => {
                add(&mut self.target, name)?;
                Ok(TargetText::of_settings(&self.target).map(drop)?)
            }
            Some(("rig", name)) => add(&mut self.servers, name),
            Some(("sysctl", name)) if !is_sysctl(name) => Err(SideError::NoSysctl(name.into())),
            Some(("sysctl", name)) => add(&mut self.sysctls, name),
            None if key == "name" && !self.label.is_empty() => Err(twice()),
            None if key == "name" => {
                value.clone_into(&mut self.label);
                Ok(())
            }
            None if key == "prefix" && !self.prefix.is_empty() => Err(twice()),
            None if key == "prefix" => {
                self.prefix = value.split_whitespace().map(str::to_owned).collect();
                Ok(())
            }
            None if key == "governor" => once(&mut self.governor),
            None if key == "backend" => add(&mut self.parameters, key),
            None if key == "cc" => once(&mut self.compiler),
            None if key == "cflags" => once(&mut self.compiler_flags),
            _ => Err(SideError::NoKey(key.into())),
        }
    }

    /// Its settings, each as a person would write it. The name is none of them.
    pub fn settings(&self) -> Vec<String> {
        let named = |kind: &'static str, map: &'_ BTreeMap<String, String>| {
            map.iter().map(|(name, value)| format!("{kind}.{name}={value}")).collect::<Vec<_>>()
        };
        let one =
            |key: &str, value: &Option<String>| value.iter().map(|value| format!("{key}={value}")).collect::<Vec<_>>();
        [
            one("cc", &self.compiler),
            one("cflags", &self.compiler_flags),
            named("env", &self.environment),
            one("governor", &self.governor),
            one("prefix", &Some(self.prefix.join(" ")).filter(|words| !words.is_empty())),
            named("rig", &self.servers),
            named("set", &self.parameters),
            named("sysctl", &self.sysctls),
            named("target", &self.target),
            named("tool", &self.tools),
        ]
        .concat()
    }

    /// Its name, and its settings where they are not the name.
    pub fn in_full(&self) -> String {
        let settings = self.settings();
        // Of a command that is called by itself the setting says nothing more.
        let is_its_value =
            settings.len() == 1 && settings[0].split_once('=').is_some_and(|(_, value)| value == self.label);
        let settings = if settings.is_empty() { AS_IT_IS.to_owned() } else { settings.join("; ") };
        if is_its_value || settings == self.label { self.label.clone() } else { format!("{}: {settings}", self.label) }
    }

    /// Whether the native instruments are built for it.
    pub fn is_built(&self) -> bool {
        self.compiler.is_some() || self.compiler_flags.is_some()
    }

    /// The scenario with the side's parameters.
    pub fn applied<'a>(&self, scenario: &'a Scenario) -> Cow<'a, Scenario> {
        if self.parameters.is_empty() {
            return Cow::Borrowed(scenario);
        }
        let mut scenario = scenario.clone();
        scenario.parameters.extend(self.parameters.clone());
        Cow::Owned(scenario)
    }
}

/// The settings in a text: separated by `;`, where `\;` is a semicolon of a value.
fn settings(text: &str) -> Vec<String> {
    let mut settings = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let last = settings.last_mut().expect("there is one from the beginning");
        match character {
            '\\' if characters.next_if_eq(&';').is_some() => last.push(';'),
            ';' => settings.push(String::new()),
            other => last.push(other),
        }
    }
    settings.iter().map(|setting| setting.trim().to_owned()).filter(|setting| !setting.is_empty()).collect()
}

/// A name becomes a path below `/proc/sys`, and must not lead out of there.
fn is_sysctl(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && part.chars().all(|character| character.is_ascii_alphanumeric() || "_-:@".contains(character))
    };
    name.split(['.', '/']).all(is_part)
}

/// Two repeats that were made next to each other, one of each side, and both count.
#[derive(Debug, Clone, Copy)]
pub struct Pair<'a> {
    /// The repeat of each side, in the order of the run's sides.
    pub of_sides: [&'a Repeat; 2],
}

impl Pair<'_> {
    /// The side of which the repeat was made first.
    pub fn first(&self) -> usize {
        usize::from(self.of_sides[1].sequence < self.of_sides[0].sequence)
    }
}

/// The pairs of a scenario's measured repeats that count, by their numbers. A repeat that does not count takes its pair with it, and no other; so
/// does an interruption between the two.
pub fn pairs<'a>(repeats: &'a [Repeat], scenario: usize) -> Vec<Pair<'a>> {
    let mut halves: BTreeMap<u32, [Option<&'a Repeat>; 2]> = BTreeMap::new();
    for repeat in repeats.iter().filter(|repeat| repeat.scenario == scenario && repeat.counts()) {
        if let Some(side @ 0..=1) = repeat.side {
            halves.entry(repeat.number).or_default()[side] = Some(repeat);
        }
    }
    let whole = |halves: [Option<&'a Repeat>; 2]| match halves {
        [Some(a), Some(b)] => Some(Pair { of_sides: [a, b] }),
        _ => None,
    };
    let pairs = halves.into_values().filter_map(whole);
    pairs.filter(|Pair { of_sides: [a, b] }| a.session == b.session).collect()
}

impl Run {
    /// The run as it was on one of its sides: with its label behind the id, its parameters in the scenarios, and what it changes of the machine in
    /// the machine's fingerprint.
    ///
    /// # Panics
    /// If there is no such side.
    pub fn of_side(&self, side: usize) -> Self {
        let own = &self.sides[side];
        let mut run = Self { id: format!("{}:{}", self.id, own.label), sides: vec![own.clone()], ..self.clone() };
        for scenario in &mut run.suite.scenarios {
            if let Cow::Owned(changed) = own.applied(scenario) {
                *scenario = changed;
            }
        }
        if own.found.target.is_some() {
            run.target.clone_from(&own.found.target);
        }
        run.suite.servers = self.servers_of(Some(side));
        let software = &mut run.machine.software;
        software.settings.extend(own.found.settings.clone());
        software.tools.extend(own.found.tools.clone());
        if own.found.compiler.is_some() {
            software.compiler.clone_from(&own.found.compiler);
        }
        if let Some(built) = &own.found.built {
            built.note(&mut run.machine);
            run.build = Some(built.clone());
        }
        run
    }

    /// The target of a side's repeats.
    pub fn target_of(&self, side: Option<usize>) -> Option<&TargetOfRun> {
        let of_side = side.and_then(|side| self.sides.get(side)?.found.target.as_ref());
        of_side.or(self.target.as_ref())
    }

    /// The servers as one of the sides has them.
    pub fn servers_of(&self, side: Option<usize>) -> BTreeMap<String, Server> {
        let mut servers = self.suite.servers.clone();
        let settings = side.and_then(|side| self.sides.get(side)).map(|side| &side.servers);
        let tools = side.and_then(|side| self.sides.get(side)).map(|side| &side.tools);
        for server in servers.values_mut() {
            server.use_tools(tools.into_iter().flatten());
        }
        for (key, value) in settings.into_iter().flatten() {
            for (_, setting) in settings_named(&mut servers, key) {
                setting.clone_from(value);
            }
        }
        servers
    }

    /// Whether both are sides of one run.
    pub fn is_other_side_of(&self, other: &Self) -> bool {
        self.id != other.id && self.stored_id() == other.stored_id() && !self.sides.is_empty()
    }

    /// The id that the run has in the store, also of one side alone.
    pub fn stored_id(&self) -> &str {
        self.id.split_once(':').map_or(&self.id, |(id, _)| id)
    }
}

/// The settings of servers that a side means by `SETTING` or `SERVER.SETTING`, each with its server's name. One, where the side can be used.
pub fn settings_named<'s>(servers: &'s mut BTreeMap<String, Server>, key: &str) -> Vec<(&'s str, &'s mut String)> {
    let means = |server: &str, setting: &str| {
        key == setting || key.rsplit_once('.').is_some_and(|named| named == (plain_name(server), setting))
    };
    let of = |(server, all): (&'s String, &'s mut Server)| {
        all.settings.iter_mut().map(move |(setting, value)| (server.as_str(), setting, value))
    };
    let all = servers.iter_mut().flat_map(of);
    all.filter(|(server, setting, _)| means(server, setting)).map(|(server, _, value)| (server, value)).collect()
}

/// The repeats of one side. Of those measured only the ones in whole pairs count.
pub fn repeats_of_side(run: &Run, repeats: &[Repeat], side: usize) -> Vec<Repeat> {
    let mut in_pairs = vec![false; repeats.len()];
    for scenario in 0..run.suite.scenarios.len() {
        for pair in pairs(repeats, scenario) {
            let sequence = pair.of_sides[side].sequence;
            if let Ok(place) = repeats.binary_search_by_key(&sequence, |repeat| repeat.sequence) {
                in_pairs[place] = true;
            }
        }
    }
    let of_side = repeats.iter().zip(in_pairs).filter(|(repeat, _)| repeat.side == Some(side));
    of_side
        .map(|(repeat, in_pair)| {
            let mut repeat = repeat.clone();
            if repeat.phase == Phase::Measured && repeat.outcome == Outcome::Valid && !in_pair {
                repeat.outcome = Outcome::Invalid(vec![Cause::PartnerMissing]);
            }
            repeat
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn side(text: &str) -> Result<Side, SideError> {
        text.parse()
    }

    #[test]
    fn settings_as_a_person_writes_them() {
        let one = side("name=one core; prefix=taskset  -c 0;env.LANG=C ; env.EMPTY=; sysctl.vm.swappiness=10").unwrap();
        assert_eq!(one.label, "one core");
        assert_eq!(side("name=sort -u x; set.command=sort -u x").unwrap().in_full(), "sort -u x");
        assert_eq!(one.prefix, ["taskset", "-c", "0"]);
        assert_eq!(one.environment, BTreeMap::from([("LANG".into(), "C".into()), ("EMPTY".into(), String::new())]));
        assert_eq!(one.sysctls["vm.swappiness"], "10");
        let other = side(
            "cc=clang; cflags=-O3 -flto;backend=avx2;set.size=1MiB;governor=performance;tool.fio=/opt/fio;name=fast",
        );
        let other = other.unwrap();
        assert_eq!(
            other.settings(),
            [
                "cc=clang",
                "cflags=-O3 -flto",
                "governor=performance",
                "set.backend=avx2",
                "set.size=1MiB",
                "tool.fio=/opt/fio"
            ]
        );
        assert_eq!(side("cc=gcc;env.A=1").unwrap().label, "cc=gcc; env.A=1");
        assert_eq!(side(r"env.A=x\;y;env.B=\z").unwrap().environment["A"], "x;y");
        assert_eq!(side("").unwrap().label, AS_IT_IS);
        assert_eq!(side(" ; ").unwrap(), side("").unwrap());
    }

    #[test]
    fn what_is_no_setting_is_said() {
        for (text, part) in [
            ("summit", "\"summit\" is no setting of a side: write KEY=VALUE"),
            ("colour=red", "no setting \"colour\""),
            ("colour.x=red", "no setting \"colour.x\""),
            ("env.=1", "after the dot"),
            ("prefix=", "no value"),
            ("name=", "no value"),
            ("cc=gcc;cc=clang", "\"cc\" is set twice"),
            ("backend=a;set.backend=b", "set twice"),
            ("prefix=nice;prefix=nice", "set twice"),
            ("name=a;name=b", "set twice"),
            ("sysctl...etc.passwd=1", "no name of a sysctl"),
            ("sysctl.vm/../../x=1", "no name of a sysctl"),
            ("tool.a/b=/x", "the name that the tool is called by"),
            ("target.layout=raid6", "target.layout=raid6: \"raid6\" is not known"),
            ("target.layout=mirror;target.layout=stripe", "set twice"),
            ("name=a\nb", "one line"),
            (&format!("env.A={}", "x".repeat(80)), "name=…"),
        ] {
            let error = side(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in ".{0,80}") {
            let _ = side(&text);
        }

        #[test]
        fn settings_read_back_are_the_same(value in "[a-z ;]{0,20}") {
            let text = format!("name=x;env.A={}", value.replace(';', r"\;"));
            prop_assert_eq!(side(&text).unwrap().settings(), [format!("env.A={}", value.trim())]);
        }
    }
}
