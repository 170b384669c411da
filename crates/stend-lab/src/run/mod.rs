//! Making a run: one repeat after another, each judged and handed to the journal before the next one starts.
//!
//! This is the only step that touches the machine under test. It knows neither the database nor the terminal: what it
//! makes goes to a [`Journal`], what it does to an [`Observer`].

mod attempt;
pub mod carried;
mod clocks;
mod controllers;
mod counters;
mod energy;
mod faults;
mod files;
pub mod fitness;
pub mod gates;
mod hosting;
pub mod leaves;
mod onlookers;
pub mod others;
pub mod prepare;
mod profile;
mod progress;
mod rate;
mod sampler;
mod targets;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use jiff::Timestamp;
use stend_model::cause::Cause;
use stend_model::clocks::Clocks;
use stend_model::current::Current;
use stend_model::picture::Picture;
use stend_model::plan::{Plan, Progress, Step};
use stend_model::profile::NotSeen;
use stend_model::run::{Origin, Outcome, Repeat, Run, Series, Session};
use stend_model::suite::{Gate, Instrument, Scenario, Suite};
use stend_model::wire::Usage;

use crate::rig;
use crate::side::{self, Setting, Tuning};
use attempt::{Attempt, Attempts};
use fitness::Conditions;
use hosting::Hosting;
use onlookers::Onlookers;
use profile::Profiling;
pub use progress::{plan, progress};
use sampler::Sampler;
use stend_instrument::Place;
use stend_model::dips;
use stend_model::profile::Profile;
use stend_model::run::HERE;
use stend_stand::host::{Command, Host, lost_link};
use stend_stand::interrupt::Interrupt;
use targets::Rig;

/// Why there is no use in starting an instrument again. It says so by its exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// It was started in a way that it does not understand.
    Misused,
    /// This machine cannot do what is asked.
    NotHere,
}

impl Refusal {
    /// What an instrument that ended by itself means by its exit status. Tools behind adapters have meanings of their own, and what
    /// was ended, for its time or for what it printed (`stopped`), says nothing by it.
    fn of(instrument: &Instrument, usage: &Usage, stopped: bool) -> Option<Self> {
        let by_itself = !usage.timed_out && !stopped;
        match (instrument, usage.exit.filter(|_| by_itself)) {
            (Instrument::Adapter(_), _) => None,
            (_, Some(2)) => Some(Self::Misused),
            (_, Some(4)) => Some(Self::NotHere),
            _ => None,
        }
    }
}

/// Whether a repeat failed in a way that the next one would too, or does not count for what is so in every repeat: the suite does not fit what the
/// instrument reports.
pub fn refused_for_good(suite: &Suite, repeat: &Repeat) -> Option<Refusal> {
    let is_of_suite = |cause: &Cause| matches!(cause, Cause::WorkUnverified | Cause::MetricMissing { .. });
    if matches!(&repeat.outcome, Outcome::Invalid(causes) if causes.iter().any(is_of_suite)) {
        return Some(Refusal::Misused);
    }
    if !matches!(repeat.outcome, Outcome::Failed(_)) {
        return None;
    }
    if repeat.lasting {
        return Some(Refusal::NotHere);
    }
    let usage = repeat.usage.as_ref()?;
    Refusal::of(&suite.scenarios[repeat.scenario].instrument, usage, repeat.stopped)
}

/// Where a run's sessions and repeats go. When a call returns, what it was given is safe.
pub trait Journal {
    /// A session begins.
    fn session(&mut self, session: &Session) -> anyhow::Result<()>;
    /// A session ends, and more is known of it.
    fn session_ends(&mut self, session: &Session) -> anyhow::Result<()>;
    /// A repeat has ended, whatever came of it; with the report of a real tool as it came.
    fn repeat(&mut self, repeat: &Repeat, series: &[Series], own_report: Option<&str>) -> anyhow::Result<()>;
    /// The scenario at this place in the suite has been profiled.
    fn profile(&mut self, scenario: usize, profile: &Profile) -> anyhow::Result<()>;
}

/// Who is told what is going on.
pub trait Observer {
    /// The target, told in a line, is made now.
    fn making_target(&mut self, target: &str);
    /// The server of this title is set up now. `makes_image`: the image of its guests is made first, which takes minutes.
    fn making_server(&mut self, title: &str, makes_image: bool);
    /// A repeat starts.
    fn starting(&mut self, step: Step, done: usize, left: Left);
    /// A repeat has been made and stored.
    fn finished(&mut self, repeat: &Repeat, done: usize, left: Left);
    /// A scenario is profiled now, the first, second … of so many.
    fn profiling(&mut self, scenario: &str, number: usize, of: usize);
    /// Something that the user should know.
    fn warn(&mut self, warning: &Warning);
}

/// What a user should know of a run that goes on.
#[derive(Debug, Clone, PartialEq)]
pub enum Warning {
    /// What the machine or its target has to say, in one line.
    Said(String),
    /// The machine's clocks cannot be compared with those here, and why.
    ClocksApart(String),
    /// The sampler ended, why, and is started again.
    SamplerEnded(String),
    /// A scenario gets no profile, because its faults would break the target once more.
    FaultsUnprofiled {
        /// Which.
        scenario: String,
    },
    /// A profile lacks something: of this scenario, or of all.
    ProfileLacks {
        /// Which.
        scenario: Option<String>,
        /// What it lacks.
        lack: NotSeen,
    },
    /// System calls are counted instead of samples.
    CallsInstead,
    /// There are no profiles; because of the target, if that is said.
    NoProfiles(Option<String>),
    /// What a scenario's profile needs is not prepared again, because of this.
    NotPrepared {
        /// What was to prepare it.
        scenario: String,
        /// Why not.
        cause: Cause,
    },
}

/// A fault's scenario left a target that is not whole any more, so the run ends.
#[derive(Debug, thiserror::Error)]
#[error("scenario \"{scenario}\": the target is not whole any more, so the run ends here")]
pub struct NotWhole {
    /// Which.
    pub scenario: String,
    /// What went wrong.
    pub cause: Cause,
}

/// What is still to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Left {
    /// Repeats, at least.
    pub repeats: usize,
    /// About how long they take, if that can be said already.
    pub time: Option<Duration>,
}

/// How a run came to its end for now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Every scenario has its repeats, or has been given up.
    Complete,
    /// The user interrupted it.
    Interrupted,
}

/// What making a run needs.
pub struct Making<'a> {
    /// The machine under test.
    pub host: &'a dyn Host,
    /// The path of `stend-probe` there.
    pub probe: &'a str,
    /// The directory for the run's files there. It is removed at the end.
    pub work: &'a str,
    /// The run.
    pub run: &'a Run,
    /// The repeats that there are already, from sessions before.
    pub repeats: Vec<Repeat>,
    /// The scenarios that have a profile already.
    pub profiled: BTreeSet<String>,
    /// This session's number.
    pub session: u32,
    /// What the instruments of each of the run's sides are started with.
    pub settings: Vec<Setting>,
    /// How fit the machine is as the session begins.
    pub conditions: Conditions,
    /// Told by Ctrl-C.
    pub interrupt: &'a Interrupt,
}

/// Makes what is missing of a run. Returns how it ended, with all repeats that there are then. The run's files are removed, however
/// it ended.
pub fn make(
    making: Making,
    journal: &mut dyn Journal,
    observer: &mut dyn Observer,
) -> anyhow::Result<(Ending, Vec<Repeat>)> {
    let (host, work, run) = (making.host, making.work, making.run);
    // Targets lie beside the runs' own directories.
    let (all_work, _) = work.rsplit_once('/').context("the run's directory is no absolute path")?;
    let hosting = Hosting::of(host)?;
    hosting.as_ref().map_or(Ok(()), Hosting::check_image)?;
    let mut rig = Rig::new(host, making.probe, all_work, run, making.interrupt, hosting);
    let plan = plan(&run.suite, &run.sides, run.seed, &run.skipped);
    let first = plan.next(&progress(run, &making.repeats, making.session), false);
    let scenario = first.map(|step| &run.suite.scenarios[step.scenario]);
    let made = match rig.turn_to(first.and_then(|step| step.side), scenario, observer) {
        Ok(_) => make_repeats(making, &mut rig, &plan, journal, observer),
        Err(rig::Refusal::Interrupted) => Ok((Ending::Interrupted, making.repeats)),
        Err(refusal) => Err(refusal.into()),
    };
    // Over a link that has gone nothing can be put in order, and to say so of each thing would hide why.
    let is_cut_off = made.as_ref().is_err_and(|error| lost_link(error).is_some());
    let mut warn = |message: &str| {
        if !is_cut_off {
            observer.warn(&Warning::Said(message.to_owned()));
        }
    };
    let on = if host.name() == HERE { String::new() } else { format!(" --on {}", host.name()) };
    match side::restore(host, all_work) {
        Ok(restored) => restored.left.iter().for_each(|line| warn(line)),
        Err(error) => warn(&format!("{error}; `stend clean{on}` tries again")),
    }
    if run.target.as_ref().is_some_and(|target| target.name.is_none())
        && let Err(error) = rig::take_down(host, all_work, &run.id)
    {
        warn(&format!("the target cannot be taken down: {error}"));
    }
    if let Err(error) = rig.stop_servers() {
        warn(&format!("the servers cannot be stopped: {error}"));
    }
    if let Err(error) = leaves::remove(host, work) {
        warn(&format!("the run's files cannot be removed ({error}); `stend clean{on}` tries again"));
    }
    let made = made?;
    // What was measured on another image than the run says is kept, and told of.
    rig.hosting.as_ref().map_or(Ok(()), Hosting::check_image)?;
    Ok(made)
}

fn make_repeats<'a>(
    making: Making<'a>,
    rig: &mut Rig<'a>,
    plan: &Plan,
    journal: &mut dyn Journal,
    observer: &mut dyn Observer,
) -> anyhow::Result<(Ending, Vec<Repeat>)> {
    let Making { host, probe, work, run, mut repeats, profiled, mut settings, session, conditions, interrupt } = making;
    let suite = &run.suite;
    let place = Place { luns: rig.addresses(), ..Place::of(&run.id, work) };
    let data = place.data.clone();
    host.make_directory(&data).context("the directory for the run's files cannot be made")?;
    let pid_file = attempt::pid_file(&data);
    for (side, setting) in settings.iter_mut().enumerate() {
        setting.link_tools(host, &format!("{data}/side-{side}"))?;
    }
    let onlookers = Onlookers::default();
    let start_sampler =
        |rig: &Rig| Sampler::start(host, probe, suite.sample_hertz, &rig.watched(), &pid_file, &onlookers);
    let mut sampler = start_sampler(rig)?;
    let boot_id = host.read_text("/proc/sys/kernel/random/boot_id").ok().map(|id| id.trim().to_owned());
    let compare_clocks = |observer: &mut dyn Observer| {
        let compared = clocks::compare(host, probe);
        compared.unwrap_or_else(|reason| {
            observer.warn(&Warning::ClocksApart(reason.to_string()));
            None
        })
    };
    let mut of_session = Session {
        number: session,
        started_at: Timestamp::now(),
        boot_id,
        conditions: conditions.unfit,
        noted: conditions.noted,
        missing_sensors: sampler.missing(),
        clocks: compare_clocks(observer).map(|before| Clocks { before, after: None }),
        screen: None,
    };
    journal.session(&of_session)?;
    let mut attempts = Attempts::new(host, probe, place, rig.injector()?, interrupt);
    attempts.show_to(&onlookers);
    attempts.load(rig.addresses(), rig.servers(), rig.injector()?);
    if !suite.files.is_empty() {
        let directory = format!("{work}/suite");
        let files: Vec<_> = suite.files.iter().map(|(path, text)| (path.as_str(), text.as_bytes())).collect();
        host.put_tree(&directory, &files).context("the suite's files cannot be written")?;
        attempts.find_suite_in(directory);
    }
    let mut tuning = Tuning::new(host, rig.all_work, &run.sides).map_err(anyhow::Error::msg)?;
    let mut pace = Pace::default();

    let mut ending = loop {
        let progress = progress(run, &repeats, session);
        let Some(step) = plan.next(&progress, suite.out_of_time(spent(&repeats))) else { break Ending::Complete };
        if interrupt.requested() {
            break Ending::Interrupted;
        }
        let left = |pace: &Pace, progress: &[Progress]| {
            let steps = plan.remaining(progress);
            Left { repeats: steps.len(), time: pace.estimate(suite, &steps) }
        };
        observer.starting(step, repeats.len(), left(&pace, &progress));
        let began = Instant::now();
        let scenario = &suite.scenarios[step.scenario];
        match rig.turn_to(step.side, Some(scenario), observer) {
            Ok(false) => {}
            Ok(true) => {
                attempts.load(rig.addresses(), rig.servers(), rig.injector()?);
                sampler = start_sampler(rig)?;
            }
            Err(rig::Refusal::Interrupted) => break Ending::Interrupted,
            Err(refusal) => return Err(refusal.into()),
        }
        let started_at = Timestamp::now();
        let sequence = u32::try_from(repeats.len()).context("too many repeats")?;
        let Step { scenario: place, number, side, phase } = step;
        onlookers.begin(&Current { sequence, scenario: place, number, side, phase, started_at });
        if let Some(side) = step.side {
            attempts.turn_to(&settings[side]);
            tuning.apply(side).map_err(anyhow::Error::msg)?;
        }
        let own = step.side.map_or(Cow::Borrowed(scenario), |side| run.sides[side].applied(scenario));
        let host_before = rig.done_by_host();
        let made = match rate::applied(suite, &own, step.side, &repeats) {
            Ok(scenario) => attempts.make(&scenario, repeats.len())?,
            Err(cause) => Some(Attempt { failure: Some(cause), ..Attempt::default() }),
        };
        let Some(mut attempt) = made else { break Ending::Interrupted };
        if attempt.lost {
            // Where there is no way back, that is all there is to say. It is never stored then: nothing was heard of it.
            host.run(&Command::new(["sh", "-c", ":"]))?;
        }
        let (series, sampler_died) = sampler.drain(attempt.usage.as_ref());
        if let Some(reason) = sampler_died {
            // With the link it ends too, and the repeat has said so.
            if !attempt.lost {
                observer.warn(&Warning::SamplerEnded(reason.to_string()));
            }
            sampler = start_sampler(rig)?;
        }
        if let (Some(before), Some(after)) = (host_before, rig.done_by_host()) {
            let (shares, causes) = after.judged(&before, scenario);
            attempt.note_of_host(shares, causes);
        }
        controllers::count(&mut attempt, rig.controllers(), &series);
        let server = scenario.server.as_deref();
        let runs = |name: &&str| {
            !rig.is_of_host(name) && suite.servers.get(*name).is_some_and(|server| !server.start.is_empty())
        };
        attempt.server_cpu_ns = match server.filter(runs) {
            Some(server) => controllers::count_server(&mut attempt, server, &series),
            None => Some(0.0),
        };
        if let (Some(Cause::ServerEnded { .. }), Some(server)) = (&attempt.failure, server) {
            rig.server_has_ended(server);
        }
        let broken = attempt.broken.clone();
        let own_report = attempt.own_report.take();
        let (repeat, series) =
            repeat_of(run, attempt, series, Which { sequence, session, step, started_at, target: rig.found() });
        journal.repeat(&repeat, &series, own_report.as_deref())?;
        onlookers.end();
        repeats.push(repeat);
        if scenario.ends_its_pool() {
            rig.has_ended();
        }
        if let Some(cause) = broken {
            anyhow::bail!(NotWhole { scenario: scenario.name.clone(), cause });
        }
        pace.note(step.scenario, began.elapsed());
        let progress = self::progress(run, &repeats, session);
        observer.finished(&repeats[repeats.len() - 1], repeats.len(), left(&pace, &progress));
    };
    if run.profile && ending == Ending::Complete {
        // Nothing is measured any more, and the sampler would only be in the way.
        drop(sampler);
        let (directory, attempts) = (&data, &mut attempts);
        let profiling =
            Profiling { host, directory, run, repeats: &repeats, session, done: &profiled, attempts, rig, interrupt };
        ending = profiling.make(journal, observer)?;
    }
    if let Some(clocks) = &mut of_session.clocks {
        clocks.after = compare_clocks(observer);
    }
    of_session.screen = rig.hosting.as_ref().and_then(|hosting| match hosting.picture() {
        Ok(picture) => Picture::png(picture),
        Err(error) => {
            observer.warn(&Warning::Said(error.to_string()));
            None
        }
    });
    if of_session.clocks.is_some() || of_session.screen.is_some() {
        journal.session_ends(&of_session)?;
    }
    Ok((ending, repeats))
}

/// Which of a run's repeats an attempt is.
struct Which {
    sequence: u32,
    session: u32,
    step: Step,
    started_at: Timestamp,
    /// What was found of the target that it loaded.
    target: BTreeMap<String, String>,
}

/// An attempt, judged, as a repeat with its series and its energy. `machine` is what the sampler saw around it.
fn repeat_of(run: &Run, mut attempt: Attempt, machine: Vec<Series>, which: Which) -> (Repeat, Vec<Series>) {
    let mut series = machine;
    if let Some(report) = &mut attempt.report {
        energy::count(report, attempt.usage.as_ref(), &series);
    }
    sampler::cut_to(&mut series, attempt.usage.as_ref());
    let Which { sequence, session, step, started_at, target } = which;
    let outcome = judge(&attempt, &as_judged(run, step), &series);
    let Attempt {
        begin,
        report,
        marks,
        tests,
        usage,
        stopped,
        lasting,
        command,
        output,
        error_output,
        series: own,
        ..
    } = attempt;
    series.extend(own);
    let mut repeat = Repeat {
        sequence,
        session,
        scenario: step.scenario,
        number: step.number,
        side: step.side,
        phase: step.phase,
        started_at,
        outcome,
        begin,
        report,
        marks,
        tests,
        usage,
        stopped,
        lasting,
        command,
        output,
        error_output,
        target,
    };
    dips::observe(&mut repeat, &series);
    (repeat, series)
}

/// A scenario with the gates that its repeats are judged by. What a pool and its controllers do is nobody's in the machine's counters,
/// and looks like foreign load. Before the run, when they are idle, it is judged as always.
fn as_judged(run: &Run, step: Step) -> Scenario {
    let mut scenario = run.suite.scenarios[step.scenario].clone();
    let beside = run.target_of(step.side).is_some_and(|of_run| of_run.target.works_beside_the_load());
    if beside && scenario.loads_luns() {
        scenario.gates.foreign_cpu = Some(Gate::Off);
    }
    scenario
}

fn judge(attempt: &Attempt, scenario: &Scenario, machine: &[Series]) -> Outcome {
    if let Some(cause) = &attempt.failure {
        return Outcome::Failed(cause.clone());
    }
    let Some(report) = &attempt.report else { return Outcome::Failed(Cause::NoRepeat) };
    let mut causes = gates::causes(scenario, report, attempt.usage.as_ref(), machine, attempt.server_cpu_ns);
    causes.extend(attempt.causes.iter().chain(&attempt.broken).cloned());
    if causes.is_empty() { Outcome::Valid } else { Outcome::Invalid(causes) }
}

/// How long the repeats that there are took.
pub fn spent(repeats: &[Repeat]) -> Duration {
    let wall_ns = repeats.iter().filter_map(|repeat| repeat.usage.as_ref()).map(|usage| usage.wall_ns).sum();
    Duration::from_nanos(wall_ns)
}

/// How long the repeats of each scenario took, to say how long the rest will take.
#[derive(Debug, Default)]
struct Pace {
    spent: HashMap<usize, (Duration, u32)>,
}

impl Pace {
    fn note(&mut self, scenario: usize, took: Duration) {
        let (spent, repeats) = self.spent.entry(scenario).or_default();
        *spent += took;
        *repeats += 1;
    }

    /// `None` as long as some scenario neither has been seen nor says what is to be expected.
    fn estimate(&self, suite: &Suite, steps: &[Step]) -> Option<Duration> {
        let of = |scenario: usize| match self.spent.get(&scenario) {
            Some((spent, repeats)) => Some(*spent / *repeats),
            None => suite.scenarios[scenario].expected.map(|span| span.0),
        };
        steps.iter().map(|step| of(step.scenario)).sum()
    }
}

/// Groups samples by metric into series.
#[derive(Debug, Default)]
struct SeriesBuilder {
    series: std::collections::BTreeMap<String, (Vec<i64>, Vec<f64>)>,
}

impl SeriesBuilder {
    fn add(&mut self, sample: &stend_model::wire::Sample) {
        self.add_all(sample.t_ns, sample.metrics());
    }

    fn add_all<'m>(&mut self, t_ns: i64, metrics: impl Iterator<Item = (&'m str, f64)>) {
        for (metric, value) in metrics {
            // Looked up by reference first: the name is new only once.
            let (times, values) = match self.series.get_mut(metric) {
                Some(series) => series,
                None => self.series.entry(metric.to_owned()).or_default(),
            };
            times.push(t_ns);
            values.push(value);
        }
    }

    fn take(&mut self, origin: Origin) -> Vec<Series> {
        std::mem::take(&mut self.series)
            .into_iter()
            .map(|(metric, (times_ns, values))| Series { metric, origin, times_ns, values })
            .collect()
    }
}
