//! Runs on machines that no lab reaches: the plan that goes there, and the run that its result is.
//!
//! There `stend-probe run` starts the commands, under the same guard and beside the same sampler. It judges nothing: what came of a repeat,
//! and whether it counts, is found here from what it printed, as if it had come over a link.

use std::collections::{BTreeMap, HashSet};
use std::io::BufRead;

use jiff::Timestamp;
use stend_model::carried::{CarriedPlan, CarriedStep, Load, PLAN_VERSION, Question, RESULT_VERSION, ResultLine};
use stend_model::cause::Cause;
use stend_model::cause::Why;
use stend_model::machine::{Difference, Machine};
use stend_model::plan::{MOST_FAILURES_IN_A_ROW, Step};
use stend_model::run::{Build, Origin, Repeat, Run, RunState, Series, Session, Skipped, is_run_id};
use stend_model::suite::{Instrument, Scenario, Suite};
use thiserror::Error;

use super::attempt::Attempt;
use super::fitness::{self, Conditions};
use super::{SeriesBuilder, Which, plan, prepare, repeat_of};
use stend_model::record::Record;
use stend_stand::bounded::Lines;
use stend_stand::host::{Command, Output};
use stend_stand::machine::{self, Unanswered};

/// The questions that make the fingerprint.
const COLLECTION: &str = "collection";
/// What `stend-probe` itself is asked.
const OFFERS: &str = "offers";
/// The question of how fit the machine is.
const CONDITIONS: &str = "conditions";

/// The plan of a suite for a machine that no lab reaches. What cannot be measured so is left out, and named in it.
pub fn pack(suite: Suite, seed: u64) -> CarriedPlan {
    let mut skipped = Vec::new();
    let mut commands: Vec<Load> = Vec::new();
    for scenario in &suite.scenarios {
        match load(scenario) {
            Ok(command) => commands.push(command),
            Err(reason) => skipped.push(Skipped { scenario: scenario.name.clone(), reason, remedy: None }),
        }
    }
    let of_step = |step: &Step| {
        let name = &suite.scenarios[step.scenario].name;
        let command = commands.iter().position(|command| command.scenario == *name)?;
        Some(CarriedStep { command, phase: step.phase, number: step.number })
    };
    let steps = plan(&suite, &[], seed, &skipped).steps().iter().filter_map(of_step).collect();
    let question = |name: &str, command: Command| Question {
        name: name.into(),
        directory: command.directory.unwrap_or_else(|| "/".into()),
        words: command.words,
        timeout_ns: nanoseconds(command.timeout),
    };
    let questions = std::iter::once(question(COLLECTION, machine::collection()))
        .chain([question(OFFERS, Command::new(["sh", "-c", r#"exec "$STEND_PROBE" info --seconds 1ms"#]))])
        // Last, so that none of the others is taken for what disturbs.
        .chain([question(CONDITIONS, machine::conditions_question())])
        .collect();
    CarriedPlan {
        plan: PLAN_VERSION,
        stend_version: env!("CARGO_PKG_VERSION").into(),
        sample_hertz: suite.sample_hertz,
        suite,
        seed,
        skipped,
        most_failures_in_a_row: MOST_FAILURES_IN_A_ROW,
        questions,
        commands,
        steps,
    }
}

/// The command that applies a scenario's load, or why there is none without a lab.
fn load(scenario: &Scenario) -> Result<Load, Cause> {
    if !scenario.faults.is_empty() {
        return Err(Cause::FaultsNeedLab);
    }
    if scenario.server.is_some() {
        return Err(Cause::ServerNeedsLab);
    }
    let (by_probe, words) = match &scenario.instrument {
        Instrument::Probe(subcommand) => (true, with_parameters(vec![subcommand.clone()], scenario)),
        Instrument::Command(words) => (false, with_parameters(words.clone(), scenario)),
        Instrument::Adapter(_) => return Err(Cause::ToolsNeedLab),
    };
    Ok(Load {
        scenario: scenario.name.clone(),
        by_probe,
        words,
        needs: scenario.needs.clone(),
        processors: scenario.processors,
        timeout_ns: nanoseconds(scenario.timeout.0),
    })
}

/// These words, and behind them the parameters of a scenario whose instrument speaks the wire.
pub(super) fn with_parameters(mut words: Vec<String>, scenario: &Scenario) -> Vec<String> {
    words.extend(scenario.parameters.iter().flat_map(|(name, value)| [format!("--{name}"), value.clone()]));
    words
}

fn nanoseconds(span: std::time::Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// Why a file is not read as a result.
#[derive(Debug, Error)]
pub enum CarriedError {
    /// The file cannot be read.
    #[error("{name}:{line}: {source}")]
    Unread {
        /// The file.
        name: String,
        /// How far it was read.
        line: usize,
        /// What the system says.
        source: std::io::Error,
    },
    /// There is nothing in it.
    #[error("{0} is empty")]
    Empty(String),
    /// It is a result that ends in its first line.
    #[error(
        "{0} is a result that was cut off in its first line, before anything was measured; make it, or carry it \
         here, again"
    )]
    CutOff(String),
    /// It is what a result is made of.
    #[error("{0} is a plan and no result; `stend-probe run {0} > result.jsonl` makes one of it")]
    Plan(String),
    /// It is something else.
    #[error(
        "{0} is no run that stend exported, no result of stend-probe run, and nothing that hyperfine --export-json or go test -bench wrote"
    )]
    Foreign(String),
    /// A line is not what stands in a result.
    #[error("{name}:{line}: it is no line of a result: {source}")]
    NoLine {
        /// The file.
        name: String,
        /// The line's number.
        line: usize,
        /// What is wrong with its JSON.
        source: serde_json::Error,
    },
    /// A line does not go with those before it.
    #[error("{name}:{line}: {source}")]
    BadLine {
        /// The file.
        name: String,
        /// The line's number.
        line: usize,
        /// Why not.
        source: Damage,
    },
    /// All of it together makes no run.
    #[error("{name}: {source}")]
    NoRun {
        /// The file.
        name: String,
        /// Why not.
        source: Damage,
    },
}

/// What is wrong with what a result says.
#[derive(Debug, Error)]
pub enum Damage {
    /// Its first line is not its plan.
    #[error("a result begins with its plan")]
    NoPlan,
    /// A part of it is of another format.
    #[error("its {what} is of format {found}; this stend knows {known}")]
    Format {
        /// Which part.
        what: &'static str,
        /// Its format.
        found: u32,
        /// The one that can be read.
        known: u32,
    },
    /// The run has another kind of name.
    #[error("\"{0}\" is no id of a run")]
    NoId(String),
    /// A command is for a scenario that is not in the suite.
    #[error("the plan has a command for \"{0}\", and no such scenario")]
    NoScenario(String),
    /// A step is with a command that there is not.
    #[error("the plan has a step with command {0}, and no such command")]
    NoCommandOfStep(usize),
    /// There is another plan.
    #[error("a result has one plan, in its first line")]
    SecondPlan,
    /// A command was skipped that there is not.
    #[error("there is no such command in the plan")]
    NoCommand,
    /// A session is not the next one.
    #[error("session {0} is out of its order")]
    SessionOrder(u32),
    /// A session was on another machine.
    #[error("the machine is no longer what it was")]
    OtherMachine(Vec<Difference>),
    /// The fingerprint is missing.
    #[error("the machine was not asked what it is")]
    NotAsked,
    /// The fingerprint cannot be taken.
    #[error("the machine does not say what it is")]
    Nameless(Cause),
    /// An attempt is of a step that there is not.
    #[error("there is no step {0} in the plan")]
    NoStep(usize),
    /// An attempt is of another session than the last.
    #[error("an attempt of session {0}, which is not the one that goes on")]
    OtherSession(u32),
    /// There are two attempts of one step.
    #[error("step {0} was made already")]
    StepTwice(usize),
    /// An attempt is of a scenario that there is not.
    #[error("its scenario is not in the suite")]
    NotInSuite,
    /// There are more repeats than can be counted.
    #[error("too many repeats")]
    TooMany,
    /// Nothing was measured.
    #[error("it ends before anything was measured; make it again")]
    Unmeasured,
    /// A moment is none.
    #[error(transparent)]
    Moment(#[from] jiff::Error),
}

/// A result as it was read.
pub struct Carried {
    /// The run.
    pub record: Record,
    /// Its series with their repeats' sequence numbers, in order.
    pub series: Vec<(u32, Series)>,
    /// The last line was cut off, and is left out.
    pub cut_off: bool,
}

/// Reads what `stend-probe run` wrote. `name` is the file's name for messages; `host` how the machine shall be called, its own name if not given.
///
/// # Errors
/// It is no result, or a damaged one: one line, with the line's number.
pub fn read(from: impl BufRead, name: &str, host: Option<&str>) -> Result<Carried, CarriedError> {
    let mut reading: Option<Reading> = None;
    let mut lines = Lines::of(from);
    let mut text = Vec::new();
    for number in 1_usize.. {
        let of_file = || name.to_owned();
        let unread = |source| CarriedError::Unread { name: of_file(), line: number, source };
        if !lines.next(&mut text).map_err(unread)? {
            break;
        }
        let line: ResultLine = match serde_json::from_slice(&text) {
            Ok(line) => line,
            // What was being written when the power went.
            Err(_) if text.last() != Some(&b'\n') && reading.is_some() => {
                return finish(reading, name, host, true);
            }
            Err(_) if number == 1 => return Err(foreign(&text, name)),
            Err(source) => return Err(CarriedError::NoLine { name: of_file(), line: number, source }),
        };
        let at = |source| CarriedError::BadLine { name: of_file(), line: number, source };
        match &mut reading {
            None => reading = Some(Reading::begin(line).map_err(at)?),
            Some(reading) => reading.take(line).map_err(at)?,
        }
    }
    finish(reading, name, host, false)
}

/// Why a file whose first line is not a result's is none.
fn foreign(first: &[u8], name: &str) -> CarriedError {
    let text = String::from_utf8_lossy(first);
    // What a result's first line begins with, and no line end behind it.
    if text.starts_with("{\"event\":\"plan\"") && !text.ends_with('\n') {
        return CarriedError::CutOff(name.to_owned());
    }
    if text.contains("\"plan\"") || text.trim_start().starts_with('{') && text.trim_end().ends_with('{') {
        return CarriedError::Plan(name.to_owned());
    }
    CarriedError::Foreign(name.to_owned())
}

fn finish(reading: Option<Reading>, name: &str, host: Option<&str>, cut_off: bool) -> Result<Carried, CarriedError> {
    let reading = reading.ok_or_else(|| CarriedError::Empty(name.to_owned()))?;
    let (record, series) =
        reading.finish(host).map_err(|source| CarriedError::NoRun { name: name.to_owned(), source })?;
    Ok(Carried { record, series, cut_off })
}

/// What has been read of a result.
struct Reading {
    plan: CarriedPlan,
    run: Run,
    sessions: Vec<Session>,
    recorded: Vec<(Repeat, Vec<Series>)>,
    made: HashSet<usize>,
    /// What translates the instructions of `stend-probe` there, if something does.
    emulator: Option<String>,
    /// What the machine said to this session's questions.
    answers: BTreeMap<String, Result<Output, Unanswered>>,
    complete: bool,
}

impl Reading {
    fn begin(line: ResultLine) -> Result<Self, Damage> {
        let ResultLine::Plan { result, run, realtime_ns, plan, mut build, .. } = line else {
            return Err(Damage::NoPlan);
        };
        let version = |what: &'static str, found: u32, known: u32| {
            (found == known).then_some(()).ok_or(Damage::Format { what, found, known })
        };
        version("result", result, RESULT_VERSION)?;
        version("plan", plan.plan, PLAN_VERSION)?;
        if !is_run_id(&run) {
            return Err(Damage::NoId(run));
        }
        let known = |load: &Load| plan.suite.scenarios.iter().any(|scenario| scenario.name == load.scenario);
        if let Some(load) = plan.commands.iter().find(|load| !known(load)) {
            return Err(Damage::NoScenario(load.scenario.clone()));
        }
        if let Some(step) = plan.steps.iter().find(|step| step.command >= plan.commands.len()) {
            return Err(Damage::NoCommandOfStep(step.command));
        }
        let run = Run {
            id: run,
            label: None,
            stend_version: plan.stend_version.clone(),
            host: String::new(),
            started_at: moment(realtime_ns)?,
            finished_at: None,
            state: RunState::Open,
            seed: plan.seed,
            suite: plan.suite.clone(),
            skipped: plan.skipped.clone(),
            profile: false,
            target: None,
            sides: Vec::new(),
            carried: true,
            imported: Some(true),
            build: Some(Build {
                program: None,
                asked_flags: String::new(),
                compiler: build.remove("compiler").unwrap_or_default(),
                flags: build.remove("flags").unwrap_or_default(),
                sources: build.remove("sources"),
            }),
            known: None,
            // Until the first session says what it is.
            machine: machine::from_answer(Err(Unanswered::Unasked)),
        };
        let (sessions, recorded, made) = Default::default();
        let emulator = build.remove("emulator");
        Ok(Self { plan: *plan, run, emulator, sessions, recorded, made, answers: BTreeMap::new(), complete: false })
    }

    fn take(&mut self, line: ResultLine) -> Result<(), Damage> {
        match line {
            ResultLine::Plan { .. } => return Err(Damage::SecondPlan),
            ResultLine::Answer { question, in_time, exit, output, error_output } => {
                let answer = if in_time {
                    Ok(Output { exit: Some(exit), stdout: output.into_bytes(), stderr: error_output.into_bytes() })
                } else {
                    Err(Unanswered::TooSlow)
                };
                self.answers.insert(question, answer);
            }
            ResultLine::Skipped { command, program, online } => {
                let load = self.plan.commands.get(command).ok_or(Damage::NoCommand)?;
                let reason = match (program, online) {
                    (Some(tool), _) => Cause::ToolMissing { tool },
                    (None, online) => {
                        Cause::ProcessorsMissing { needed: load.processors.unwrap_or(0), online: online.unwrap_or(0) }
                    }
                };
                let skipped = Skipped { scenario: load.scenario.clone(), reason, remedy: None };
                if !self.run.skipped.contains(&skipped) {
                    self.run.skipped.push(skipped);
                }
            }
            ResultLine::Session { session, realtime_ns, boot_id, sampler, .. } => {
                self.begin_session(session, realtime_ns, boot_id, sampler.map(|begin| begin.missing))?;
            }
            ResultLine::Attempt { .. } => self.attempt(line)?,
            ResultLine::Finished { realtime_ns, complete } => {
                self.run.finished_at = Some(moment(realtime_ns)?);
                self.complete = complete;
            }
        }
        Ok(())
    }

    fn begin_session(
        &mut self,
        number: u32,
        realtime_ns: i64,
        boot_id: Option<String>,
        missing: Option<BTreeMap<String, Why>>,
    ) -> Result<(), Damage> {
        if number as usize != self.sessions.len() {
            return Err(Damage::SessionOrder(number));
        }
        let Conditions { unfit, noted, .. } = self.conditions();
        let machine = self.machine()?;
        if self.sessions.is_empty() {
            self.run.machine = machine;
        } else {
            let differences = self.run.machine.differences(&machine);
            if !differences.is_empty() {
                return Err(Damage::OtherMachine(differences));
            }
        }
        self.complete = false;
        self.sessions.push(Session {
            number,
            started_at: moment(realtime_ns)?,
            boot_id,
            conditions: unfit,
            noted,
            missing_sensors: missing.unwrap_or_default(),
            clocks: None,
            screen: None,
        });
        Ok(())
    }

    /// How fit the machine was, if it was asked: by the gates of all that was measured, as over a link.
    fn conditions(&mut self) -> Conditions {
        let Some(Ok(answer)) = self.answers.remove(CONDITIONS) else { return Conditions::default() };
        let gates = fitness::widest_gates(prepare::measured(&self.run.suite, &self.run.skipped));
        Conditions::of(&machine::conditions_answered(&answer, &gates))
    }

    /// The fingerprint from what the machine answered.
    fn machine(&mut self) -> Result<Machine, Damage> {
        let mut answers = std::mem::take(&mut self.answers);
        let collected = answers.remove(COLLECTION).ok_or(Damage::NotAsked)?;
        let mut machine = machine::from_answer(collected);
        machine.software.emulator.clone_from(&self.emulator);
        let offered = answers.remove(OFFERS).and_then(Result::ok).and_then(|output| prepare::offered(&output));
        machine.offers = offered.unwrap_or_default();
        match machine.missing.remove("collection") {
            Some(cause) => Err(Damage::Nameless(cause)),
            None => Ok(machine),
        }
    }

    fn attempt(&mut self, line: ResultLine) -> Result<(), Damage> {
        let ResultLine::Attempt { step, session, realtime_ns, in_time, output, error_output, samples, .. } = line
        else {
            return Ok(());
        };
        let planned = self.plan.steps.get(step).ok_or(Damage::NoStep(step))?;
        if session as usize + 1 != self.sessions.len() {
            return Err(Damage::OtherSession(session));
        }
        if !self.made.insert(step) {
            return Err(Damage::StepTwice(step));
        }
        let load = &self.plan.commands[planned.command];
        let suite = &self.run.suite;
        let place = suite.scenarios.iter().position(|scenario| scenario.name == load.scenario);
        let place = place.ok_or(Damage::NotInSuite)?;
        let scenario = &suite.scenarios[place];
        let program = load.by_probe.then(|| "stend-probe".to_owned());
        let words = program.into_iter().chain(load.words.iter().cloned()).collect();
        let attempt = Attempt::carried(scenario, words, &output, &error_output, in_time);
        let mut series = SeriesBuilder::default();
        samples.iter().for_each(|sample| series.add(sample));
        let which = Which {
            sequence: u32::try_from(self.recorded.len()).map_err(|_| Damage::TooMany)?,
            session,
            step: Step { scenario: place, number: planned.number, side: None, phase: planned.phase },
            started_at: moment(realtime_ns)?,
            target: BTreeMap::new(),
        };
        self.recorded.push(repeat_of(&self.run, attempt, series.take(Origin::Machine), which));
        Ok(())
    }

    fn finish(self, host: Option<&str>) -> Result<(Record, Vec<(u32, Series)>), Damage> {
        let Self { mut run, sessions, recorded, complete, .. } = self;
        if sessions.is_empty() {
            return Err(Damage::Unmeasured);
        }
        run.host = host.unwrap_or(&run.machine.name).to_owned();
        if let Some(name) = host {
            run.machine.call(name);
        }
        // What was interrupted may still be gone on with over there.
        run.state = if complete { RunState::Finished } else { RunState::Open };
        let (repeats, series): (Vec<_>, Vec<_>) = recorded.into_iter().unzip();
        let of_sequence = |(sequence, all): (u32, Vec<_>)| all.into_iter().map(move |one| (sequence, one));
        let mut series: Vec<_> = (0..).zip(series).flat_map(of_sequence).collect();
        // As the store gives them back.
        series.sort_by(|(a, one), (b, other)| {
            (a, word(one.origin), &one.metric).cmp(&(b, word(other.origin), &other.metric))
        });
        Ok((Record { sessions, repeats, ..Record::empty(run) }, series))
    }
}

fn word(origin: Origin) -> &'static str {
    match origin {
        Origin::Instrument => "instrument",
        Origin::Machine => "machine",
    }
}

fn moment(realtime_ns: i64) -> Result<Timestamp, Damage> {
    Ok(Timestamp::from_nanosecond(i128::from(realtime_ns))?)
}
