//! What the user sees while a run is made: a bar on a terminal, a line a repeat elsewhere.

use std::time::{Duration, Instant};

use stend_model::condition::Condition;
use stend_model::plan::{Phase, Step};
use stend_model::run::{Outcome, Repeat, Run};
use stend_model::side::Side;
use stend_model::suite::Suite;
use stend_report::words;
use stend_report::words::language::Language;

use crate::voice::Line;
use stend_lab::run::{Left, Observer, Warning};

/// Tells the user on standard error.
pub(crate) struct Progress<'a> {
    suite: &'a Suite,
    sides: &'a [Side],
    bar: Option<Line>,
    quiet: bool,
}

impl<'a> Progress<'a> {
    /// With `bar`, one line that is redrawn; else a line a repeat, or with `quiet` only what went wrong.
    pub(crate) fn new(run: &'a Run, bar: bool, quiet: bool) -> Self {
        let bar = bar.then(|| Line::new("{pos:>4}/{len} {bar:30} {msg}"));
        Self { suite: &run.suite, sides: &run.sides, bar, quiet }
    }

    /// A scenario, and the side if there is one: `4k random read (one core)`.
    fn name(&self, scenario: usize, side: Option<usize>) -> String {
        let side = side.map(|side| format!(" ({})", self.sides[side].label)).unwrap_or_default();
        format!("{}{side}", self.suite.scenarios[scenario].name)
    }

    /// Something is made before repeats can go on.
    fn making(&self, doing: &str, what: &str) {
        match &self.bar {
            Some(bar) => bar.show(&format!("{doing} · {what}")),
            None if self.quiet => {}
            None => self.say(&format!("{doing}: {what}")),
        }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.say(line),
            None => talk!("{line}"),
        }
    }
}

impl Observer for Progress<'_> {
    fn starting(&mut self, step: Step, done: usize, left: Left) {
        if let Some(bar) = &self.bar {
            bar.count(done, done + left.repeats.max(1));
            let time = left.time.map(|time| format!("{} left · ", in_words(time))).unwrap_or_default();
            bar.show(&format!("{time}{}", self.name(step.scenario, step.side)));
        }
    }

    fn finished(&mut self, repeat: &Repeat, done: usize, left: Left) {
        let scenario = &self.suite.scenarios[repeat.scenario];
        let name = self.name(repeat.scenario, repeat.side);
        let warmup = if repeat.phase == Phase::Warmup { " (warm-up)" } else { "" };
        let place = format!("[{done}/{}]", done + left.repeats);
        match &repeat.outcome {
            Outcome::Valid if self.bar.is_some() || self.quiet => {}
            Outcome::Valid => {
                let main = scenario.metrics.first();
                let value = main.and_then(|metric| repeat.value(metric).map(|value| metric.unit.show(value)));
                self.say(&format!("{place} {name}{warmup}: {}", value.unwrap_or_default()));
            }
            Outcome::Invalid(_) if warmup.is_empty() => {
                self.say(&format!(
                    "{place} {name}: does not count: {}",
                    words::outcome(&repeat.outcome, Language::English)
                ));
            }
            Outcome::Invalid(_) if self.bar.is_some() || self.quiet => {}
            Outcome::Invalid(_) => self.say(&format!(
                "{place} {name}{warmup}: disturbed: {}",
                words::outcome(&repeat.outcome, Language::English)
            )),
            Outcome::Failed(cause) => {
                self.say(&format!("{place} {name}{warmup}: failed: {}", words::cause(cause, Language::English)));
            }
        }
    }

    fn making_target(&mut self, target: &str) {
        self.making("making the target", target);
    }

    fn making_server(&mut self, title: &str, makes_image: bool) {
        if makes_image {
            self.making("making the image of its guests first, which takes minutes", title);
        } else {
            self.making("starting", title);
        }
    }

    fn profiling(&mut self, scenario: &str, number: usize, of: usize) {
        match &self.bar {
            Some(bar) => {
                bar.count(number - 1, of);
                bar.show(&format!("profile · {scenario}"));
            }
            None if self.quiet => {}
            None => self.say(&format!("profile [{number}/{of}] {scenario}")),
        }
    }

    fn warn(&mut self, warning: &Warning) {
        self.say(&format!("warning: {}", warned(warning)));
    }
}

/// A warning in words.
fn warned(warning: &Warning) -> String {
    match warning {
        Warning::Said(message) => message.clone(),
        Warning::ClocksApart(why) => format!("the machine's clocks cannot be compared with this one's: {why}"),
        Warning::SamplerEnded(why) => format!("the sampler ended ({why}); it is started again"),
        Warning::FaultsUnprofiled { scenario } => {
            format!("profile: {scenario} has faults and gets none: they would break the target once more")
        }
        Warning::ProfileLacks { scenario: None, lack } => format!("profile: {}", words::lack_of_profile(lack)),
        Warning::ProfileLacks { scenario: Some(scenario), lack } => {
            format!("profile of {scenario}: {}", words::lack_of_profile(lack))
        }
        Warning::CallsInstead => "profile: system calls and their times are counted instead".into(),
        Warning::NoProfiles(None) => "profile: there is none".into(),
        Warning::NoProfiles(Some(why)) => format!("profile: there is none: {why}"),
        Warning::NotPrepared { scenario, cause } => {
            format!("profile: {scenario} is not prepared again: {}", words::cause(cause, Language::English))
        }
    }
}

/// What the user sees while a machine is waited for.
pub(crate) struct Waiting {
    bar: Option<Line>,
    quiet: bool,
    said: Option<Instant>,
}

impl Waiting {
    /// How long it is silent between two lines.
    const SILENCE: Duration = Duration::from_secs(10);

    /// With `bar`, one line that is redrawn; else a line now and then, or none with `quiet`.
    pub(crate) fn new(bar: bool, quiet: bool) -> Self {
        let bar = bar.then(|| Line::of_words(""));
        Self { bar, quiet, said: None }
    }

    /// Says what is waited for, and how long at most.
    pub(crate) fn tell(&mut self, unfit: &[Condition], left: Duration) {
        let line = format!(
            "waiting {} at most for the machine to be fit: {}",
            in_words(left),
            words::conditions(unfit).english()
        );
        if let Some(bar) = &self.bar {
            bar.show(&line);
        } else if !self.quiet && self.said.is_none_or(|said| said.elapsed() >= Self::SILENCE) {
            talk!("{line}");
            self.said = Some(Instant::now());
        }
    }
}

/// A length of time as a person says it: `40 s`, `3 min`, `2 h 10 min`.
pub(crate) fn in_words(time: Duration) -> String {
    match time.as_secs() {
        seconds if seconds < 90 => format!("{} s", seconds.max(1)),
        seconds if seconds < 5400 => format!("{} min", (seconds + 30) / 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}
