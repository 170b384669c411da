//! Profiling: after all repeats, one more start of each scenario's instrument under a profiler. It counts for nothing, and what goes
//! wrong with it costs nothing but itself.

use std::collections::BTreeSet;
use std::time::Duration;

use jiff::Timestamp;
use stend_model::cause::Cause;
use stend_model::plan::Phase;
use stend_model::run::{Outcome, Repeat, Run};
use stend_model::wire::{Check, Report};

use super::Warning;
use super::attempt::{Attempt, Attempts};
use super::targets::Rig;
use super::{Ending, Journal, Observer, rate};
use crate::profile::perf::{self, Perf};
use crate::profile::strace;
use crate::rig::Refusal;
use stend_model::profile::{NotSeen, Observed, Profile};
use stend_stand::host::{Host, HostError};
use stend_stand::interrupt::Interrupt;

/// What profiling needs.
pub(super) struct Profiling<'a, 'b> {
    pub(super) host: &'a dyn Host,
    /// A directory for the profiler's files that is removed with the run's.
    pub(super) directory: &'a str,
    pub(super) run: &'a Run,
    pub(super) repeats: &'a [Repeat],
    /// This session's number: what was prepared in another one is gone.
    pub(super) session: u32,
    /// The scenarios that have a profile already.
    pub(super) done: &'a BTreeSet<String>,
    pub(super) attempts: &'a mut Attempts<'b>,
    /// Nothing of it stands where the last repeat's fault was the end of it, or this session made no repeat.
    pub(super) rig: &'a mut Rig<'b>,
    pub(super) interrupt: &'a Interrupt,
}

/// What there is to profile with, the best first.
enum Profiler {
    Perf(Perf),
    Strace,
    None,
}

impl Profiling<'_, '_> {
    /// Profiles what has none yet and could be measured.
    pub(super) fn make(mut self, journal: &mut dyn Journal, observer: &mut dyn Observer) -> anyhow::Result<Ending> {
        for scenario in self.run.suite.scenarios.iter().filter(|scenario| !scenario.faults.is_empty()) {
            observer.warn(&Warning::FaultsUnprofiled { scenario: scenario.name.clone() });
        }
        let wanted = self.wanted();
        if wanted.is_empty() {
            return Ok(Ending::Complete);
        }
        let (profiler, lacks) = self.profiler();
        for lack in &lacks {
            observer.warn(&Warning::ProfileLacks { scenario: None, lack: lack.clone() });
        }
        match profiler {
            Profiler::Perf(_) => {}
            Profiler::Strace => observer.warn(&Warning::CallsInstead),
            Profiler::None => observer.warn(&Warning::NoProfiles(None)),
        }
        let prepares = !matches!(profiler, Profiler::None);
        let mut prepared = self.prepared();
        for (number, &place) in wanted.iter().enumerate() {
            if self.interrupt.requested() {
                return Ok(Ending::Interrupted);
            }
            let scenario = &self.run.suite.scenarios[place];
            match if prepares { self.rig.turn_to(None, Some(scenario), observer) } else { Ok(false) } {
                Ok(false) => {}
                Ok(true) => {
                    self.attempts.load(self.rig.addresses(), self.rig.servers(), None);
                    prepared.clear();
                }
                Err(Refusal::Interrupted) => return Ok(Ending::Interrupted),
                Err(refusal) => {
                    observer.warn(&Warning::NoProfiles(Some(refusal.to_string())));
                    return Ok(Ending::Complete);
                }
            }
            if prepares && self.prepare(place, &mut prepared, observer)? == Ending::Interrupted {
                return Ok(Ending::Interrupted);
            }
            let name = &self.run.suite.scenarios[place].name;
            observer.profiling(name, number + 1, wanted.len());
            let Some(mut profile) = self.of(place, &profiler)? else { return Ok(Ending::Interrupted) };
            for lack in &profile.lacks {
                observer.warn(&Warning::ProfileLacks { scenario: Some(name.clone()), lack: lack.clone() });
            }
            profile.lacks.splice(0..0, lacks.iter().cloned());
            journal.profile(place, &profile)?;
        }
        Ok(Ending::Complete)
    }

    /// Places of the scenarios to profile: those with a repeat that measured something, and without faults.
    fn wanted(&self) -> Vec<usize> {
        let scenarios = self.run.suite.scenarios.iter().enumerate();
        let works = |place: usize| {
            let measured = |repeat: &Repeat| !matches!(repeat.outcome, Outcome::Failed(_));
            self.repeats.iter().any(|repeat| repeat.scenario == place && measured(repeat))
        };
        scenarios
            .filter(|(_, scenario)| !scenario.is_precondition() && scenario.faults.is_empty())
            .filter(|(_, scenario)| !self.done.contains(&scenario.name))
            .filter(|(place, _)| works(*place))
            .map(|(place, _)| place)
            .collect()
    }

    /// Places of the scenarios that prepared something in this session.
    fn prepared(&self) -> BTreeSet<usize> {
        let of_session = |repeat: &&Repeat| repeat.session == self.session && repeat.phase == Phase::Warmup;
        let done = self.repeats.iter().filter(of_session);
        done.filter(|repeat| !matches!(repeat.outcome, Outcome::Failed(_))).map(|repeat| repeat.scenario).collect()
    }

    /// Prepares what stands before the scenario at this place, as far as this session has not. None of it is kept: the run has its repeats.
    fn prepare(
        &mut self,
        place: usize,
        prepared: &mut BTreeSet<usize>,
        observer: &mut dyn Observer,
    ) -> anyhow::Result<Ending> {
        let skipped = |name: &str| self.run.skipped.iter().any(|skipped| skipped.scenario == name);
        let before = self.run.suite.scenarios[..place].iter().enumerate();
        let lacking: Vec<_> = before
            .filter(|(place, one)| one.is_precondition() && !prepared.contains(place) && !skipped(&one.name))
            .collect();
        for (place, scenario) in lacking {
            // Tried once: what fails here fails for the profiles after it too.
            prepared.insert(place);
            for _ in 0..scenario.warmup {
                let Some(attempt) = self.attempts.make(scenario, self.repeats.len())? else {
                    return Ok(Ending::Interrupted);
                };
                if let Some(cause) = wrong_with(&attempt) {
                    observer.warn(&Warning::NotPrepared { scenario: scenario.name.clone(), cause });
                    break;
                }
            }
        }
        Ok(Ending::Complete)
    }

    fn profiler(&self) -> (Profiler, Vec<NotSeen>) {
        let no_perf = match Perf::find(self.host, self.directory) {
            Ok(perf) => return (Profiler::Perf(perf), Vec::new()),
            Err(lack) => lack,
        };
        match strace::find(self.host, self.directory) {
            Ok(()) => (Profiler::Strace, vec![no_perf]),
            Err(no_strace) => (Profiler::None, vec![no_perf, no_strace]),
        }
    }

    /// The profile of one scenario; `None` if the user interrupted it.
    fn of(&mut self, place: usize, profiler: &Profiler) -> anyhow::Result<Option<Profile>> {
        let scenario = &self.run.suite.scenarios[place];
        let mut profile = Profile {
            scenario: scenario.name.clone(),
            made_at: Timestamp::now(),
            command: Vec::new(),
            observed: Observed::Nothing,
            lacks: Vec::new(),
        };
        let file = format!("{}/profile", self.directory);
        let hertz = perf::hertz(self.usual_time(place));
        let words = match profiler {
            Profiler::Perf(perf) => perf.words(hertz, &file),
            Profiler::Strace => strace::words(&file),
            Profiler::None => return Ok(Some(profile)),
        };
        let made = match rate::applied(&self.run.suite, scenario, None, self.repeats) {
            Ok(scenario) => self.attempts.make_under(&scenario, self.repeats.len(), words)?,
            Err(cause) => Some(Attempt { failure: Some(cause), ..Attempt::default() }),
        };
        let Some(attempt) = made else { return Ok(None) };
        let observed = match (wrong_with(&attempt), profiler) {
            (Some(cause), _) => Err(cause),
            (None, Profiler::Perf(perf)) => {
                let stretch = attempt.report.as_ref().and_then(|report| Some((report.t_ns?, report.wall_ns)));
                perf.fold(self.host, &file, hertz, stretch).map(Observed::Stacks)
            }
            (None, _) => {
                let unread = |error: HostError| Cause::ToolBroken { tool: "strace".into(), said: error.to_string() };
                let table = self.host.read_text(&file).map_err(unread);
                table.and_then(|table| strace::parse(&table)).map(|calls| Observed::SystemCalls { calls })
            }
        };
        // What is left of it would go with the run's files; the next one writes it anew.
        let _ = self.host.remove(&file);
        profile.command = attempt.command;
        match observed {
            Ok(observed) => profile.observed = observed,
            Err(cause) => profile.lacks.push(NotSeen::new(cause, None)),
        }
        Ok(Some(profile))
    }

    /// How long a repeat of the scenario took, for a profiler that has to choose how often it looks.
    fn usual_time(&self, place: usize) -> Duration {
        let of_it = self.repeats.iter().filter(|repeat| repeat.scenario == place);
        let longest = of_it.filter_map(|repeat| repeat.report.as_ref()).map(|report| report.wall_ns).max();
        Duration::from_nanos(longest.unwrap_or(0))
    }
}

fn wrong_with(attempt: &Attempt) -> Option<Cause> {
    let wrong = attempt.report.as_ref().filter(|report| report.check == Check::Failed);
    let evidence = |report: &Report| report.evidence.clone().unwrap_or_default();
    attempt.failure.clone().or_else(|| wrong.map(|report| Cause::WorkWrong { evidence: evidence(report) }))
}
