//! One attempt at one repeat: start the instrument under the guard, read what it prints, and see what came of it.

mod remains;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use stend_model::cause::Cause;
use stend_model::conformance::{Test, Tests};
use stend_model::plain;
use stend_model::plan::fresh_seed;
use stend_model::run::{Origin, Series};
use stend_model::suite::{Instrument, Part, Scenario};
use stend_model::wire::{Begin, Event, Mark, Report, Usage, parse_line};
use stend_stats::SplitMix64;

use super::carried::with_parameters;
use super::faults::Faults;
use super::onlookers::Onlookers;
use super::{Refusal, SeriesBuilder};
use crate::rig::servers::{Standing, pinned};
use crate::rig::{self, Injector};
use crate::side::Setting;
use stend_instrument::{Adapter, Finished, Invocation, LunAddress, Place, adapter, how_it_ended, last_words, mark_of};
use stend_model::latency;
use stend_model::run::HERE;
use stend_stand::host::{Command, Happening, Host, HostError, Process};
use stend_stand::interrupt::Interrupt;

/// A repeat prints at most so many lines.
const MOST_LINES: usize = 100_000;
/// And so much, in bytes: they are held in memory until it ends.
const MOST_PRINTED: usize = 64 << 20;
/// It marks at most so many moments: they are kept in the repeat's document, which is read whole.
const MOST_MARKS: usize = 1000;
/// Of a repeat's output and error output at most so much is kept, in bytes.
const MOST_OUTPUT: usize = 256 << 10;
/// Of its last line, where lines before it are left out, in bytes.
const LONGEST_LAST: usize = 4 << 10;
/// Of a tool's own report so much is kept, in bytes.
const MOST_OWN_REPORT: usize = 32 << 20;
/// How the guard's own line begins.
const USAGE_EVENT: &str = "{\"event\":\"usage\"";
/// The guard ends a command whose time is up. If it has not done so this much later, the guard itself hangs.
pub(super) const GUARD_GRACE: Duration = Duration::from_secs(8);
/// How often it is looked whether the user wants to end a started instrument. What it prints is taken as it comes.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(250);
/// How often it is looked whether a fault is due.
const FAULT_INTERVAL: Duration = Duration::from_millis(50);

/// What came of an attempt.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    pub(super) begin: Option<Begin>,
    pub(super) report: Option<Report>,
    pub(super) marks: Vec<Mark>,
    pub(super) tests: Vec<Test>,
    pub(super) usage: Option<Usage>,
    /// It was ended because of what it printed.
    pub(super) stopped: bool,
    /// It failed in a way in which the next attempt would too.
    pub(super) lasting: bool,
    /// The report of a real tool as it came.
    pub(super) own_report: Option<String>,
    /// Nothing was heard of its end, over a link.
    pub(super) lost: bool,
    pub(super) command: Vec<String>,
    pub(super) output: String,
    pub(super) error_output: String,
    pub(super) series: Vec<Series>,
    /// Why it measured nothing, if it did not.
    pub(super) failure: Option<Cause>,
    /// Why it does not count, although it measured: of its faults.
    pub(super) causes: Vec<Cause>,
    /// What was seen of its faults.
    pub(super) observed: BTreeMap<String, f64>,
    /// Why the target is not whole any more, if a fault of it could not be mended.
    pub(super) broken: Option<Cause>,
    /// The CPU time that its server used from its start to its end, in ns, also outside what was measured; nothing where that is not known.
    pub(super) server_cpu_ns: Option<f64>,
}

/// What is done before a repeat, in messages.
const PREPARATION: &str = "--prepare";
/// No profiler.
const ALONE: &[String] = &[];

impl Attempt {
    /// Why the command did not end well. `name`: what it is called in messages.
    fn why_not(&self, name: &str) -> Option<Cause> {
        let usage = match (&self.failure, &self.usage) {
            (Some(cause), _) => return Some(cause.clone()),
            (None, Some(usage)) => usage,
            (None, None) => return Some(Cause::ToolEndUnknown { tool: name.into(), said: String::new() }),
        };
        how_it_ended(name, usage, || last_words(&self.error_output)).err()
    }

    /// What an instrument that prints the wire left under a guard elsewhere. `in_time`: the guard ended by itself.
    pub(super) fn carried(
        scenario: &Scenario,
        command: Vec<String>,
        output: &str,
        error_output: &str,
        in_time: bool,
    ) -> Self {
        let mut reading = Reading::default();
        let kept = shortened(error_output);
        // What loads a server is not carried.
        let mut attempt = Self { command, error_output: kept, server_cpu_ns: Some(0.0), ..Self::default() };
        let mut printed = Printed::of(scenario);
        for line in output.lines() {
            // It is over: there is nothing to stop any more.
            attempt.take_line(line, &mut printed, &mut |line| reading.line(line));
        }
        if !in_time {
            attempt.failure = Some(Cause::TimedOutAlive { limit: scenario.timeout });
        }
        attempt.note_the_end(scenario);
        reading.finish(scenario, attempt)
    }

    /// Takes a line of what the guard and its command print. `true`: it is not to be borne, and the command is to be stopped.
    fn take_line(
        &mut self,
        text: &str,
        printed: &mut Printed,
        take: &mut impl FnMut(&str) -> Result<(), Cause>,
    ) -> bool {
        // A command that ends without a newline has the guard's line glued to its last one.
        let (line, usage) = match text.find(USAGE_EVENT).map(|at| text.split_at(at)) {
            Some((line, usage)) => (line, usage_line(usage)),
            None => (text, None),
        };
        let line = if usage.is_some() { line } else { text };
        self.usage = usage.or(self.usage.take());
        printed.lines += 1;
        printed.bytes += line.len() + 1;
        if self.failure.is_some() || line.is_empty() {
            return false;
        }
        let taken = printed.is_bearable().and_then(|()| take(line));
        let Err(cause) = taken else { return false };
        self.failure = Some(cause);
        self.stopped = true;
        true
    }

    /// Keeps the tests among these events.
    fn take_tests(&mut self, events: impl Iterator<Item = Event>) {
        let mut tests = Tests::default();
        for event in events {
            if let Event::Test(test) = event
                && let Err(cause) = tests.add(test)
            {
                self.failure.get_or_insert(cause);
                break;
            }
        }
        self.tests = tests.take();
    }

    /// Notes what the host of the guest did meanwhile, and why the repeat does not count for that.
    pub(super) fn note_of_host(&mut self, shares: Vec<(String, f64)>, causes: Vec<Cause>) {
        if let Some(report) = &mut self.report {
            report.observed.extend(shares);
        }
        self.causes.extend(causes);
    }

    /// What the guard said of the command's end, or that it said nothing.
    fn note_the_end(&mut self, scenario: &Scenario) {
        if self.usage.as_ref().is_some_and(|usage| usage.timed_out) {
            self.failure = Some(Cause::TimedOut { limit: scenario.timeout });
        } else if self.usage.is_none() && self.failure.is_none() {
            self.failure = Some(if self.lost { Cause::LinkDropped } else { Cause::GuardDied });
        }
    }
}

/// How much a repeat has printed.
#[derive(Debug)]
struct Printed {
    lines: usize,
    most_lines: usize,
    bytes: usize,
}

impl Printed {
    /// Of a scenario's repeat. A test suite may talk; what it prints is one text, and only its length counts.
    fn of(scenario: &Scenario) -> Self {
        let most_lines = if scenario.instrument.runs_tests() { usize::MAX } else { MOST_LINES };
        Self { lines: 0, most_lines, bytes: 0 }
    }

    fn is_bearable(&self) -> Result<(), Cause> {
        if self.lines > self.most_lines {
            Err(Cause::TooManyLines { most: self.most_lines })
        } else if self.bytes > MOST_PRINTED {
            Err(Cause::TooMuchPrinted { most_mib: MOST_PRINTED >> 20 })
        } else {
            Ok(())
        }
    }
}

/// Where the guard writes its number while it runs something, in the directory for the run's files.
pub(super) fn pid_file(data: &str) -> String {
    format!("{data}/guard.pid")
}

/// Makes attempts on one host.
pub(super) struct Attempts<'a> {
    host: &'a dyn Host,
    probe: &'a str,
    place: Place,
    interrupt: &'a Interrupt,
    /// What tools say of their version, asked once each.
    versions: HashMap<String, String>,
    /// Tells attempts apart that have the same number.
    random: SplitMix64,
    /// Files for the whole run that were put there already.
    written: HashSet<String>,
    /// The last attempt removed the directory of a repeat. A run that was killed may have left one.
    work_is_gone: bool,
    /// Words that stand before the instrument's own: a profiler that starts it.
    under: Vec<String>,
    /// What the side at hand starts its instruments with.
    setting: Setting,
    /// What breaks and mends the run's target, where scenarios have faults.
    injector: Option<Injector<'a>>,
    /// The servers that stand, and why others do not.
    servers: BTreeMap<String, Result<Standing, Cause>>,
    /// Where the suite's own files are, if it has some.
    suite_directory: Option<String>,
    onlookers: Onlookers,
}

impl<'a> Attempts<'a> {
    pub(super) fn new(
        host: &'a dyn Host,
        probe: &'a str,
        place: Place,
        injector: Option<Injector<'a>>,
        interrupt: &'a Interrupt,
    ) -> Self {
        let (versions, written) = (HashMap::new(), HashSet::new());
        let (under, setting) = (Vec::new(), Setting::default());
        let random = SplitMix64::new(fresh_seed());
        Self {
            random,
            host,
            probe,
            place,
            interrupt,
            versions,
            written,
            work_is_gone: false,
            under,
            setting,
            injector,
            servers: BTreeMap::new(),
            suite_directory: None,
            onlookers: Onlookers::default(),
        }
    }

    /// From now on samples are shown to these.
    pub(super) fn show_to(&mut self, onlookers: &Onlookers) {
        self.onlookers = onlookers.clone();
    }

    /// From now on the suite's own files are here.
    pub(super) fn find_suite_in(&mut self, directory: String) {
        self.suite_directory = Some(directory);
    }

    /// From now on attempts are of this side.
    pub(super) fn turn_to(&mut self, setting: &Setting) {
        self.setting = setting.clone();
    }

    /// From now on attempts load these LUNs and servers.
    pub(super) fn load(
        &mut self,
        luns: Vec<LunAddress>,
        servers: BTreeMap<String, Result<Standing, Cause>>,
        injector: Option<Injector<'a>>,
    ) {
        (self.place.luns, self.servers, self.injector) = (luns, servers, injector);
    }

    /// One attempt at the repeat of this number; `None` if the user interrupted it.
    pub(super) fn make(&mut self, scenario: &Scenario, number: usize) -> anyhow::Result<Option<Attempt>> {
        self.place.mark = mark_of(&self.place.run, number, self.random.next_u64());
        let server = match scenario.server.as_ref().and_then(|name| self.servers.get_key_value(name)) {
            Some((name, Ok(standing))) => Some((name.clone(), standing.clone())),
            Some((_, Err(cause))) => {
                return Ok(Some(Attempt { failure: Some(cause.clone()), lasting: true, ..Attempt::default() }));
            }
            None => None,
        };
        let in_place = self.suite_directory.as_ref().map(|directory| scenario.in_directory(directory));
        let scenario = in_place.as_ref().unwrap_or(scenario);
        let of_server = server.as_ref().map(|(_, standing)| standing.values.clone());
        let mut placed = None;
        if of_server.is_some() || scenario.luns_named().next().is_some() {
            let mut values = of_server.unwrap_or_default();
            let luns = &self.place_of(scenario).luns;
            values.extend(luns.iter().enumerate().map(|(number, lun)| (format!("lun{number}"), lun.to_string())));
            placed = Some(scenario.placed(&values)?);
        }
        let mut made = self.make_as_it_is(placed.as_ref().unwrap_or(scenario))?;
        // Without its server the load fails in whatever way, or measures errors.
        if let (Some((name, standing)), Some(attempt)) = (&server, &mut made)
            && !attempt.lost
            && let Some(cause) = standing.ended(self.host, name)
        {
            attempt.failure = Some(cause);
        }
        if let Some(Attempt { report: Some(report), observed, .. }) = &mut made {
            report.observed.append(observed);
        }
        Ok(made)
    }

    fn make_as_it_is(&mut self, scenario: &Scenario) -> anyhow::Result<Option<Attempt>> {
        match &scenario.instrument {
            Instrument::Probe(subcommand) => {
                let probe = self.setting.probe.as_deref().unwrap_or(self.probe);
                self.speak_the_wire(scenario, with_parameters(vec![probe.to_owned(), subcommand.clone()], scenario))
            }
            Instrument::Command(words) => self.speak_the_wire(scenario, with_parameters(words.clone(), scenario)),
            Instrument::Adapter(name) => {
                let adapter = adapter(name).with_context(|| format!("there is no adapter \"{name}\""))?;
                self.translate(scenario, adapter)
            }
        }
    }

    /// One attempt under a profiler, whose words stand before the instrument's own.
    pub(super) fn make_under(
        &mut self,
        scenario: &Scenario,
        number: usize,
        words: Vec<String>,
    ) -> anyhow::Result<Option<Attempt>> {
        self.under = words;
        let made = self.make(scenario, number);
        self.under.clear();
        made
    }

    /// An instrument that prints the wire itself.
    fn speak_the_wire(&self, scenario: &Scenario, words: Vec<String>) -> anyhow::Result<Option<Attempt>> {
        let mut reading = Reading { onlookers: self.onlookers.clone(), ..Reading::default() };
        let command = self.guarded(&self.under, scenario, &words, None);
        let mut attempt = Attempt { command: words, ..Attempt::default() };
        let followed = self.follow(&command, scenario, &mut attempt, |line| reading.line(line))?;
        if !followed {
            return Ok(None);
        }
        Ok(Some(reading.finish(scenario, attempt)))
    }

    /// A real tool behind an adapter.
    fn translate(&mut self, scenario: &Scenario, adapter: &'static dyn Adapter) -> anyhow::Result<Option<Attempt>> {
        let version = self.version(adapter);
        let work = self.place.work.clone();
        if !self.work_is_gone {
            self.host.remove(&work)?;
        }
        self.work_is_gone = false;
        self.host.make_directory(&work)?;
        let made = self.translate_in(scenario, adapter, version);
        self.host.remove(&work)?;
        self.work_is_gone = true;
        made
    }

    fn translate_in(
        &mut self,
        scenario: &Scenario,
        adapter: &dyn Adapter,
        version: String,
    ) -> anyhow::Result<Option<Attempt>> {
        let invocation = adapter.invocation(scenario, &self.place_of(scenario));
        let Invocation { files, leaves, before, words, after, environment, results } = match invocation {
            Ok(invocation) => invocation,
            Err(cause) => return Ok(Some(Attempt { failure: Some(cause), ..Attempt::default() })),
        };
        if let Err(error) = self.put(&files, &leaves) {
            let failure = Some(Cause::FilesUnwritten { said: error.to_string() });
            return Ok(Some(Attempt { failure, ..Attempt::default() }));
        }
        if !before.is_empty() {
            let mut prepared = Attempt::default();
            let command = self.guarded(ALONE, scenario, &before, Some(&self.place.work));
            if !self.follow(&command, scenario, &mut prepared, |_| Ok(()))? {
                return Ok(None);
            }
            if let Some(cause) = prepared.why_not(PREPARATION) {
                return Ok(Some(Attempt { failure: Some(cause), command: before, ..prepared }));
            }
        }
        let mut command = self.guarded(&self.under, scenario, &words, Some(&self.place.work));
        command.environment.extend(environment);
        let mut attempt = Attempt { command: words, ..Attempt::default() };
        let Some(stdout) = self.printed(&command, scenario, &mut attempt)? else { return Ok(None) };
        let mut said_after = String::new();
        if !after.is_empty() && attempt.why_not(adapter.name()).is_none() {
            let command = self.guarded(ALONE, scenario, &after, Some(&self.place.work));
            let mut checking = Attempt::default();
            let Some(said) = self.printed(&command, scenario, &mut checking)? else { return Ok(None) };
            (said_after, attempt.failure) = (said, checking.why_not(adapter.name()));
        }
        let finished_files = self.host.read_matching(&results)?;
        attempt.output = shortened(&stdout);
        let own_report = adapter.own_report().and_then(|name| {
            let is_it = |path: &str| path.rsplit('/').next() == Some(name);
            finished_files.iter().find(|(path, _)| is_it(path)).map(|(_, contents)| contents)
        });
        let kept = own_report.filter(|contents| contents.len() <= MOST_OWN_REPORT);
        attempt.own_report = kept.map(|contents| String::from_utf8_lossy(contents).into_owned());
        let left_out = own_report.filter(|_| kept.is_none()).map(Vec::len);
        let Some(usage) = attempt.usage.clone() else { return Ok(Some(attempt)) };
        // A tool may also end with an error because its work was wrong: the adapter knows.
        let started_ns = usage.t_ns.unwrap_or(0);
        let stderr = attempt.error_output.clone();
        let (after, files) = (said_after, finished_files);
        let finished = Finished { stdout, stderr, after, files, usage, started_ns, version };
        let translated = adapter.translate(scenario, &finished);
        if attempt.failure.is_some() {
            // What tests told before the suite hung is a result too.
            attempt.take_tests(translated.into_iter().flatten());
            return Ok(Some(attempt));
        }
        match translated {
            Err(cause) => {
                attempt.lasting = adapter.lasts(&cause, &finished);
                attempt.failure = Some(cause);
            }
            Ok(mut events) => {
                let mut series = SeriesBuilder::default();
                attempt.take_tests(events.extract_if(.., |event| matches!(event, Event::Test(_))));
                for event in events {
                    match event {
                        Event::Begin(begin) => attempt.begin = Some(begin),
                        Event::Repeat(report) => attempt.report = Some(report),
                        Event::Sample(sample) => series.add(&sample),
                        Event::Mark(mark) => attempt.marks.push(mark),
                        Event::Test(_) | Event::End(_) | Event::Usage(_) => {}
                    }
                }
                attempt.series = series.take(Origin::Instrument);
            }
        }
        if scenario.ends_its_pool() && !self.read_again(scenario, adapter, &finished.files, &mut attempt)? {
            return Ok(None);
        }
        if let (Some(bytes), Some(begin)) = (left_out, &mut attempt.begin) {
            let (has, most) = (bytes.div_ceil(1 << 20), MOST_OWN_REPORT >> 20);
            begin.missing.insert("report".into(), Cause::OwnReportTooLarge { mib: has, most_mib: most }.into());
        }
        Ok(Some(attempt))
    }

    /// Puts an invocation's files there, and notes what the tool is going to leave elsewhere.
    fn put(&mut self, files: &BTreeMap<String, Cow<'static, [u8]>>, leaves: &[String]) -> Result<(), HostError> {
        for (path, contents) in files {
            let for_the_run = path.starts_with(&self.place.data);
            if for_the_run && self.written.contains(path) {
                continue;
            }
            self.host.write(path, contents)?;
            if for_the_run {
                self.written.insert(path.clone());
            }
        }
        let Some((run, _)) = self.place.work.rsplit_once('/').filter(|_| !leaves.is_empty()) else { return Ok(()) };
        super::leaves::note(self.host, run, leaves)
    }

    /// Where a scenario finds its LUNs: one whose controllers are killed reaches them by fronts, which wait for those to come back.
    fn place_of(&self, scenario: &Scenario) -> Cow<'_, Place> {
        if !scenario.faults.iter().any(|fault| matches!(fault.part, Part::Controller(_))) {
            return Cow::Borrowed(&self.place);
        }
        let by_front = |lun: &LunAddress| match lun {
            LunAddress::Nbd(uri) => LunAddress::Nbd(rig::by_front(uri)),
            other => other.clone(),
        };
        Cow::Owned(Place { luns: self.place.luns.iter().map(by_front).collect(), ..self.place.clone() })
    }

    fn version(&mut self, adapter: &dyn Adapter) -> String {
        let Some(tool) = adapter.tool() else { return String::new() };
        let program = self.setting.program(&tool).to_owned();
        let ask = || super::prepare::version_of(self.host, &program, tool);
        self.versions.entry(program.clone()).or_insert_with(ask).clone()
    }

    /// The command that starts these words under a guard; `under`: a profiler's words.
    fn guarded(&self, under: &[String], scenario: &Scenario, words: &[String], directory: Option<&str>) -> Command {
        let seconds = scenario.timeout.0.as_secs_f64();
        let (timeout, pid_file) = (format!("{seconds}s"), pid_file(&self.place.data));
        let guard = [self.probe, "guard", "--timeout", &timeout, "--pid-file", &pid_file, "--"].map(str::to_owned);
        let server = scenario.server.as_ref().and_then(|name| self.servers.get(name)?.as_ref().ok());
        let pinned = server.and_then(|server| server.of_load.as_deref()).into_iter().flat_map(pinned);
        let words = under.iter().chain(&self.setting.prefix).chain(words);
        let mut command = Command::new(guard.into_iter().chain(pinned).chain(words.cloned()));
        command.environment.clone_from(&self.setting.environment);
        command.directory = directory.map(str::to_owned);
        command.timeout = scenario.timeout.0;
        command
    }

    /// What the command prints until it ends. `None` if the user interrupted it.
    fn printed(&self, command: &Command, scenario: &Scenario, attempt: &mut Attempt) -> anyhow::Result<Option<String>> {
        let mut printed = String::new();
        let followed = self.follow(command, scenario, attempt, |line| {
            printed.push_str(line);
            printed.push('\n');
            Ok(())
        })?;
        Ok(followed.then_some(printed))
    }

    /// Starts the command and hands over its lines until it ends. `false` if the user interrupted it.
    fn follow(
        &self,
        command: &Command,
        scenario: &Scenario,
        attempt: &mut Attempt,
        mut take: impl FnMut(&str) -> Result<(), Cause>,
    ) -> anyhow::Result<bool> {
        let mut process = match self.host.start(command) {
            Ok(process) => process,
            Err(error) => anyhow::bail!("the guard cannot be started: {error}"),
        };
        let deadline = Instant::now() + scenario.timeout.0 + GUARD_GRACE;
        let mut faults = match &self.injector {
            Some(injector) if !scenario.faults.is_empty() => {
                Some(Faults::of(scenario, self.host, self.probe, injector))
            }
            _ => None,
        };
        let mut printed = Printed::of(scenario);
        loop {
            if let Some(faults) = &mut faults {
                faults.go_on();
            }
            match process.next(if faults.is_some() { FAULT_INTERVAL } else { INTERRUPT_INTERVAL }) {
                Some(Happening::Line(bytes)) => {
                    let text = String::from_utf8_lossy(&bytes);
                    if let Some(faults) = &mut faults {
                        faults.hear(&text);
                    }
                    if attempt.take_line(&text, &mut printed, &mut take) {
                        process.stop();
                    }
                }
                Some(Happening::ErrorLine(bytes)) => keep(&mut attempt.error_output, &String::from_utf8_lossy(&bytes)),
                Some(Happening::Ended(exit)) => {
                    attempt.lost = exit.is_none() && self.host.name() != HERE;
                    break;
                }
                None => {}
            }
            if self.interrupt.requested() {
                end(process);
                return Ok(false);
            }
            if Instant::now() > deadline {
                process.kill();
                attempt.failure = Some(Cause::TimedOutAlive { limit: scenario.timeout });
                break;
            }
        }
        if let Some(mut faults) = faults {
            faults.finish(&|| self.interrupt.requested());
            if self.interrupt.requested() {
                return Ok(false);
            }
            let Faults { marks, observed, causes, broken, .. } = faults;
            attempt.marks.extend(marks);
            (attempt.observed, attempt.causes, attempt.broken) = (observed, causes, broken);
        }
        attempt.note_the_end(scenario);
        Ok(true)
    }
}

fn usage_line(line: &str) -> Option<Usage> {
    match parse_line(line) {
        Ok(Some(Event::Usage(usage))) => Some(usage),
        _ => None,
    }
}

fn end(mut process: Box<dyn Process>) {
    process.stop();
    let deadline = Instant::now() + GUARD_GRACE;
    while Instant::now() < deadline {
        if let Some(Happening::Ended(_)) = process.next(INTERRUPT_INTERVAL) {
            return;
        }
    }
    process.kill();
}

/// Why a command that ended has failed, from how it ended.
fn ended_badly(usage: Option<&Usage>, error_output: &str) -> Option<Cause> {
    let usage = usage?;
    let said = plain::last_line(error_output).to_owned();
    match (usage.exit, usage.signal) {
        (Some(0), _) => None,
        (Some(status), _) => Some(Cause::Exited { status, said }),
        (None, Some(signal)) => Some(Cause::Killed { signal, said }),
        (None, None) => Some(Cause::EndUnknown { said }),
    }
}

/// What stands where lines are left out.
const LEFT_OUT: &str = "[shortened by stend]\n";

/// Adds a line to what is kept. Of too many the last one is kept behind the first ones, since it mostly says how things ended.
fn keep(kept: &mut String, line: &str) {
    // Most outputs are short, and nothing is looked for in them.
    let left_out = if kept.len() > MOST_OUTPUT { kept.rfind(LEFT_OUT) } else { None };
    let Some(at) = left_out else {
        if kept.len() + line.len() < MOST_OUTPUT {
            kept.push_str(line);
            kept.push('\n');
        } else {
            // It is longer than what is kept of any by this alone.
            let room = MOST_OUTPUT.saturating_sub(kept.len());
            kept.push_str(beginning(line, room));
            kept.push('\n');
            kept.push_str(LEFT_OUT);
        }
        return;
    };
    kept.truncate(at + LEFT_OUT.len());
    kept.push_str(beginning(line, LONGEST_LAST));
    kept.push('\n');
}

/// At most so many bytes of a text.
fn beginning(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

fn shortened(text: &str) -> String {
    let mut kept = String::new();
    text.lines().for_each(|line| keep(&mut kept, line));
    kept
}

/// What has been read of an instrument that speaks the wire.
#[derive(Default)]
struct Reading {
    begin: Option<Begin>,
    reports: Vec<Report>,
    marks: Vec<Mark>,
    tests: Tests,
    ended: bool,
    series: SeriesBuilder,
    onlookers: Onlookers,
    /// The lines other than samples and tests.
    kept: String,
}

impl Reading {
    fn line(&mut self, line: &str) -> Result<(), Cause> {
        let event = parse_line(line).map_err(|error| Cause::NoEvent { said: error.to_string() })?;
        match event {
            Some(Event::Sample(sample)) => {
                let first = sample.metrics().next().map_or("", |(metric, _)| metric);
                self.onlookers.sample(Origin::Instrument, sample.t_ns, first, line);
                self.series.add(&sample);
                return Ok(());
            }
            Some(Event::Begin(begin)) => {
                if self.begin.replace(begin).is_some() {
                    return Err(Cause::SecondBegin);
                }
            }
            Some(Event::Repeat(report)) => {
                latency::check(&report).map_err(|why| Cause::LatenciesWrong { said: why.to_string() })?;
                self.reports.push(report);
            }
            Some(Event::Mark(_)) if self.marks.len() == MOST_MARKS => {
                return Err(Cause::TooManyMarks { most: MOST_MARKS });
            }
            Some(Event::Mark(mark)) => self.marks.push(mark),
            Some(Event::Test(test)) => return self.tests.add(test),
            Some(Event::End(_)) => self.ended = true,
            Some(Event::Usage(_)) | None => {}
        }
        keep(&mut self.kept, line);
        Ok(())
    }

    /// What came of the attempt of which this was read.
    fn finish(self, scenario: &Scenario, mut attempt: Attempt) -> Attempt {
        let usage = attempt.usage.as_ref();
        let refusal = usage.and_then(|usage| Refusal::of(&scenario.instrument, usage, attempt.stopped));
        let misused = (refusal == Some(Refusal::Misused))
            .then(|| Cause::Misused { said: plain::last_line(&attempt.error_output).to_owned() });
        let complaint = || misused.or_else(|| self.complaint(usage, &attempt.error_output));
        attempt.failure = attempt.failure.take().or_else(complaint);
        let Self { begin, reports, marks, tests, mut series, kept, .. } = self;
        attempt.begin = begin;
        // Those of its faults are there already.
        attempt.marks.extend(marks);
        attempt.marks.sort_by_key(|mark| mark.t_ns);
        attempt.tests = tests.take();
        attempt.report = reports.into_iter().next();
        attempt.series = series.take(Origin::Instrument);
        attempt.output = kept;
        attempt
    }

    /// What is missing of a whole repeat, if something is.
    fn complaint(&self, usage: Option<&Usage>, error_output: &str) -> Option<Cause> {
        ended_badly(usage, error_output).or(match (&self.begin, self.reports.len(), self.ended) {
            (None, ..) => Some(Cause::NoBegin),
            (_, 0, _) => Some(Cause::NoRepeat),
            (_, count @ 2.., _) => Some(Cause::ManyRepeats { count }),
            (_, _, false) => Some(Cause::NoEnd),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instrument_that_prints_too_much_fails() {
        let scenario = stend_testing::suite().scenarios.remove(0);
        let failure = |output: &str| Attempt::carried(&scenario, Vec::new(), output, "", true).failure.unwrap();
        let sample = |more: usize| {
            format!("{{\"event\":\"sample\",\"t_ns\":1,\"values\":{{\"a\":1}},\"x\":\"{}\"}}\n", "x".repeat(more))
        };
        let line = sample(1_000_000);
        let failed = failure(&line.repeat(67));
        assert_eq!(failed, Cause::GuardDied, "it is borne, and fails for the guard that says nothing");
        assert_eq!(failure(&line.repeat(68)), Cause::TooMuchPrinted { most_mib: 64 });
        assert_eq!(failure(&sample(0).repeat(MOST_LINES + 1)), Cause::TooManyLines { most: MOST_LINES });
    }

    #[test]
    fn of_too_much_output_the_beginning_and_the_last_line_are_kept_and_it_says_so() {
        let text: String = (0..100_000).map(|number| format!("line {number}\n")).collect();
        let kept = shortened(&text);
        let (first, last) = kept.split_once(LEFT_OUT).unwrap();
        assert!(text.starts_with(first.trim_end()) && first.len() <= MOST_OUTPUT + 1, "{}", first.len());
        assert_eq!(last, "line 99999\n");
        let long = "ё".repeat(MOST_OUTPUT);
        let kept = shortened(&format!("{long}\n{long}"));
        assert!(kept.len() < MOST_OUTPUT + LEFT_OUT.len() + LONGEST_LAST + 3, "{}", kept.len());
        let short = &text[..8000];
        assert_eq!(shortened(short).trim_end(), short.trim_end());
    }
}
