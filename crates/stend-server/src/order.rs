//! What is asked for: one run, or those of several machines, sessions or states.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stend_model::run::{HERE, label_of_session};

use crate::error::ServerError;

/// What is to be measured: words of `stend run`. It has a `suite`, `job_files`, or `timed` commands.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    /// A suite of the program, or one of `files`, whose name then ends in `.toml`.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) suite: Option<String>,
    /// fio's job files, in place of a suite, as `--fio` takes them: of `files`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) job_files: Vec<String>,
    /// Commands to time, in place of a suite.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timed: Option<Timed>,
    /// Files that were sent to `/files`: the name that each has in the run's directory, and its SHA-256.
    #[schemars(length(max = MOST_FILES))]
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) files: BTreeMap<String, String>,
    /// The machine: `local`, one that `stend hosts` lists, or as `NAME=VALUE` any that has this label.
    #[serde(default = "here")]
    pub(crate) machine: String,
    /// What the run is to be called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) label: Option<String>,
    /// How often each scenario is measured, in place of what the suite says.
    #[schemars(range(min = 1))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) repeats: Option<u32>,
    /// What sizes and durations are multiplied by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scale: Option<f64>,
    /// Variables of the suite, as `--set` takes them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) set: BTreeMap<String, String>,
    /// Only scenarios whose name contains one of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) only: Vec<String>,
    /// The seed of the order of repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seed: Option<u64>,
    /// How long all repeats together may take before invalid ones are no longer replaced: `5min`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) time_budget: Option<String>,
    /// Whether to profile each scenario afterwards, in one more repeat.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) profile: bool,
    /// Whether to measure even if the machine is unfit; the run keeps the reasons.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) even_if_unfit: bool,
    /// A rig that is set up on this machine, to be loaded, as `--target-name` takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
    /// The description of a rig that is set up, loaded and removed, as `--target` takes it: one of `files`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) target_file: Option<String>,
    /// Of two jobs of a machine the one with the higher priority is measured first: -10 to 10, usually 0.
    #[schemars(range(min = -10, max = 10))]
    #[serde(default, skip_serializing_if = "is_usual")]
    pub(crate) priority: i8,
    /// Two configurations to measure alternately, as `--ab` takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sides: Option<[String; 2]>,
    /// The state that the machine is brought into before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) state: Option<MachineState>,
}

/// Commands to time, as `stend run --command` does. They run in the directory that the server was started in.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Timed {
    /// Lines for the shell, each a scenario.
    #[schemars(length(min = 1))]
    pub(crate) commands: Vec<String>,
    /// A line for the shell to run before each repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prepare: Option<String>,
    /// Values that replace `{NAME}` in the commands, one after the other.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) parameters: BTreeMap<String, Vec<String>>,
    /// Whether a repeat counts whatever the exit status.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) ignore_failure: bool,
    /// Whether two commands are measured alternately and compared in pairs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) in_turns: bool,
}

/// A state of a machine, as `stend run --switch` has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MachineState {
    /// What it is called. The runs are labelled NAME-1, NAME-2 and so on.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,59}$"))]
    pub(crate) name: String,
    /// A line for the machine's shell that brings it there, may reboot it, and does nothing where it is there already.
    pub(crate) command: String,
}

impl MachineState {
    fn check(&self) -> Result<(), ServerError> {
        // As a label, which may begin with an underscore.
        let behind = self.name.strip_prefix('_').map(|rest| format!("x{rest}"));
        if !is_plain_name(behind.as_ref().unwrap_or(&self.name)) || self.name.len() > LONGEST_STATE {
            return Err(ServerError::Refused("state: its name is 1 to 60 letters, digits, and - . or _".into()));
        }
        if self.command.trim().is_empty() || self.command.contains('\0') {
            return Err(ServerError::Refused("state: give it a command; `true` changes nothing".into()));
        }
        Ok(())
    }
}

/// The label of a run is its state's name and a number.
const LONGEST_STATE: usize = 60;

/// So many files an order has.
const MOST_FILES: usize = 16;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_usual(priority: &i8) -> bool {
    *priority == 0
}

fn here() -> String {
    HERE.into()
}

impl Order {
    /// What is measured, in a word or a line.
    pub(crate) fn work(&self) -> String {
        match (&self.suite, &self.timed) {
            (Some(suite), _) => suite.clone(),
            (None, Some(timed)) => timed.commands.join("; ").chars().take(LONGEST_WORK).collect(),
            (None, None) => self.job_files.join(", "),
        }
    }

    /// Whether it runs what is not part of the program. A side may name any command.
    pub(crate) fn is_own(&self) -> bool {
        !self.files.is_empty() || self.timed.is_some() || self.state.is_some() || self.sides.is_some()
    }

    /// All of it, to be read.
    pub(crate) fn in_full(&self) -> String {
        serde_json::to_string_pretty(self).expect("an order can be written")
    }

    /// The words of the command, in a directory where the files are, on the node whose machine is called `here`. A value stands in one word with its option, and a suite is a plain word, so none is
    /// taken for an option. (Behind `--` it would be a command to time.)
    pub(crate) fn words(&self, here: &str) -> Vec<String> {
        let mut words = vec!["run".to_owned()];
        words.extend(self.suite.clone());
        let names = self.machine.split(',').map(|machine| if machine == here { HERE } else { machine });
        words.push(format!("--on={}", names.collect::<Vec<_>>().join(",")));
        words.extend(self.job_files.iter().map(|file| format!("--fio={file}")));
        words.extend(self.label.iter().map(|label| format!("--label={label}")));
        words.extend(self.repeats.iter().map(|repeats| format!("--repeats={repeats}")));
        words.extend(self.scale.iter().map(|scale| format!("--scale={scale}")));
        words.extend(self.set.iter().map(|(name, value)| format!("--set={name}={value}")));
        words.extend(self.only.iter().map(|text| format!("--only={text}")));
        words.extend(self.seed.iter().map(|seed| format!("--seed={seed}")));
        words.extend(self.time_budget.iter().map(|time| format!("--time-budget={time}")));
        words.extend(self.profile.then(|| "--profile".to_owned()));
        words.extend(self.target.iter().map(|target| format!("--target-name={target}")));
        words.extend(self.target_file.iter().map(|file| format!("--target={file}")));
        if let Some(timed) = &self.timed {
            words.extend(timed.commands.iter().map(|command| format!("--command={command}")));
            words.extend(timed.prepare.iter().map(|command| format!("--prepare={command}")));
            let parameters = timed.parameters.iter();
            words.extend(parameters.map(|(name, values)| format!("--parameter={name}={}", values.join(","))));
            words.extend(timed.ignore_failure.then(|| "--ignore-failure".to_owned()));
            words.extend(timed.in_turns.then(|| "--ab".to_owned()));
        }
        words.extend(self.words_before());
        if let Some([a, b]) = &self.sides {
            words.extend(["--ab".to_owned(), a.clone(), b.clone()]);
        }
        words
    }

    /// The words of the command that goes on with its run.
    pub(crate) fn words_to_resume(&self, run: &str) -> Vec<String> {
        [vec!["resume".to_owned(), run.to_owned()], self.words_before()].concat()
    }

    /// Those that say under which conditions repeats are made.
    fn words_before(&self) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(self.even_if_unfit.then(|| "--even-if-unfit".to_owned()));
        words.extend(self.state.iter().map(|state| format!("--state={}={}", state.name, state.command)));
        words
    }

    /// Refuses what is no order, or has words that would mean something else.
    fn check(&self) -> Result<(), ServerError> {
        let refused = |said: &str| Err(ServerError::Refused(said.into()));
        let kinds = [self.suite.is_some(), !self.job_files.is_empty(), self.timed.is_some()];
        if kinds.into_iter().filter(|is_it| *is_it).count() != 1 {
            return refused("suite: name a suite, or give job_files or timed in its place");
        }
        if self.files.len() > MOST_FILES || !self.files.keys().all(|name| is_plain_name(name)) {
            return refused("files: give at most 16, each with a plain name such as mine.toml");
        }
        // A path would be a file of whoever runs the server.
        let is_there = |name: &String| self.files.contains_key(name);
        let is_own_suite = |name: &String| name.ends_with(".toml") && is_there(name);
        let is_of_program = |name: &String| is_name_of_suite(name) && !is_there(name);
        if self.suite.as_ref().is_some_and(|name| !is_of_program(name) && !is_own_suite(name)) {
            return refused("suite: name one of the program's suites, or one of files that ends in .toml");
        }
        if !self.job_files.iter().all(is_there) || !self.target_file.iter().all(is_there) {
            return refused("job_files, target_file: name some of files");
        }
        if self.timed.as_ref().is_some_and(|timed| timed.commands.is_empty() || !self.files.is_empty()) {
            return refused("timed: give commands, and no files");
        }
        let is_parameter = |(name, values): (&String, &Vec<String>)| {
            let is_value = |value: &String| !value.contains(',');
            !name.contains('=') && !values.is_empty() && values.iter().all(is_value)
        };
        if !self.timed.iter().flat_map(|timed| &timed.parameters).all(is_parameter) {
            return refused("timed: a parameter has a name without =, and values without commas, one at least");
        }
        self.state.iter().try_for_each(MachineState::check)?;
        if self.words(HERE).iter().any(|word| word.contains('\0')) {
            return refused("order: it is plain text");
        }
        if !(-10..=10).contains(&self.priority) {
            return refused("priority: it is -10 to 10");
        }
        if self.sides.iter().flatten().any(|side| side.starts_with('-')) {
            return refused("sides: a side is a list of settings KEY=VALUE, and begins with no hyphen");
        }
        Ok(())
    }
}

/// Of a long command so many characters are shown for a name.
const LONGEST_WORK: usize = 80;

/// Whether an order that says this means any machine that has a label. No name has the sign.
pub(crate) fn is_label(wanted: &str) -> bool {
    wanted.contains('=')
}

/// Whether it is one to give a file.
pub(crate) fn is_plain_name(name: &str) -> bool {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || ".-_".contains(character);
    name.starts_with(|first: char| first.is_ascii_alphanumeric()) && name.len() <= 64 && name.chars().all(is_plain)
}

fn is_name_of_suite(name: &str) -> bool {
    is_plain_name(name) && !name.contains('.')
}

/// An order for several machines, sessions or states: a job for each run. With one machine and one session it is a job like any other.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Batch {
    /// What is to be measured, without `machine`. If there are several runs, it has neither a `label` nor, with several sessions, `sides`.
    pub(crate) order: Order,
    /// The machines: `local`, those that `stend hosts` lists, or as `NAME=VALUE` any that has this label, the same one for all sessions.
    #[schemars(length(min = 1, max = MOST_MACHINES))]
    pub(crate) machines: Vec<String>,
    /// How many runs of each machine, or in each state, are made, round by round: usually 1, and 5 with `switch`.
    #[schemars(range(min = 1, max = MOST_SESSIONS))]
    #[serde(default)]
    pub(crate) sessions: Option<u32>,
    /// Two states of one machine that are measured in turns, as `--switch` does. Other orders that are measured in between find the machine in one of them.
    #[serde(default)]
    pub(crate) switch: Option<[MachineState; 2]>,
}

/// A report has no more columns.
pub(crate) const MOST_MACHINES: usize = 40;
/// As many as `stend run` takes.
pub(crate) const MOST_SESSIONS: u32 = 100;

/// As many of each state as `stend run --switch` makes: fewer give no verdict.
const SESSIONS_OF_STATES: u32 = 5;

impl From<Order> for Batch {
    fn from(order: Order) -> Self {
        let machines = vec![order.machine.clone()];
        Self { order: Order { machine: here(), ..order }, machines, sessions: None, switch: None }
    }
}

impl Batch {
    /// The same, with `local` by its name in the fleet.
    pub(crate) fn named_by(mut self, here: &str) -> Self {
        for machine in self.machines.iter_mut().filter(|machine| *machine == HERE) {
            here.clone_into(machine);
        }
        self
    }

    /// How many rounds it has.
    fn sessions(&self) -> u32 {
        self.sessions.unwrap_or(if self.switch.is_some() { SESSIONS_OF_STATES } else { 1 })
    }

    /// How many runs it makes.
    pub(crate) fn runs(&self) -> usize {
        self.machines.len() * self.sessions() as usize * if self.switch.is_some() { 2 } else { 1 }
    }

    /// Whether it runs what is not part of the program.
    pub(crate) fn is_own(&self) -> bool {
        self.order.is_own() || self.switch.is_some()
    }

    /// Refuses what cannot be so many runs.
    pub(crate) fn check(&self) -> Result<(), ServerError> {
        self.order.check()?;
        let refused = |said: String| Err(ServerError::Refused(said));
        let distinct: BTreeSet<&String> = self.machines.iter().collect();
        if distinct.len() < self.machines.len() || !(1..=MOST_MACHINES).contains(&distinct.len()) {
            return refused(format!("machines: name 1 to {MOST_MACHINES}, each once"));
        }
        if self.order.machine != HERE {
            return refused("order: leave out its machine; machines names all".into());
        }
        if !(1..=MOST_SESSIONS).contains(&self.sessions()) {
            return refused(format!("sessions: it is 1 to {MOST_SESSIONS}"));
        }
        if self.order.label.is_some() && self.runs() > 1 {
            return refused(ONE_LABEL.into());
        }
        if self.order.sides.is_some() && self.runs() > self.machines.len() {
            return refused("sides: they take turns within one run, so there is one session".into());
        }
        self.switch.iter().flatten().try_for_each(MachineState::check)?;
        if self.switch.is_some() && (self.machines.len() > 1 || self.order.state.is_some()) {
            return refused("switch: it is for one machine, and names its states itself".into());
        }
        Ok(())
    }

    /// What its jobs are, each with its round: a round has a run of each machine, or in each state.
    pub(crate) fn orders(&self) -> impl Iterator<Item = (u32, Order)> {
        (1..=self.sessions()).flat_map(move |round| {
            let of_machine = move |machine: &String| Order { machine: machine.clone(), ..self.order.clone() };
            let in_state = move |order: Order| {
                let states = self.switch.iter().flatten();
                // Always in this order: two neighbouring sessions of one state would share a boot, and be one.
                let mut orders: Vec<_> = states
                    .map(|state| Order {
                        label: Some(label_of_session(&state.name, round)),
                        state: Some(state.clone()),
                        ..order.clone()
                    })
                    .collect();
                if orders.is_empty() {
                    orders.push(order);
                }
                orders.into_iter().map(move |order| (round, order))
            };
            self.machines.iter().map(of_machine).flat_map(in_state)
        })
    }

    /// The words of the command that would do all of it, on that node.
    pub(crate) fn words(&self, here: &str) -> Vec<String> {
        let mut words = Order { machine: self.machines.join(","), ..self.order.clone() }.words(here);
        let is_said = self.sessions() > 1 || self.switch.is_some();
        words.extend(is_said.then(|| format!("--sessions={}", self.sessions())));
        let states = self.switch.iter().flatten();
        words.extend(states.map(|state| format!("--switch={}={}", state.name, state.command)));
        words
    }
}

/// Why several runs get no label.
pub(crate) const ONE_LABEL: &str = "label: a label is one run's, and this makes many";
