//! `stend run`: measure this machine with a suite.

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use stend_model::machine::Machine;
use stend_model::quantity::parse_duration;
use stend_model::random::SplitMix64;
use stend_model::run::{Build, Repeat, Run, RunState, Series, Session, Skipped};
use stend_model::side::{AS_IT_IS, Side};
use stend_model::suite::{Order, Suite};
use stend_model::target::Target;

use super::Global;
use super::changing::Changing;
use super::failure::{Exit, Failure};
use super::noise;
use super::on::{Building, On, Reached};
use super::output::{self, Json};
use super::target::TargetFlags;
use crate::compare::sides::views;
use crate::host::stand::Compiler;
use crate::host::{HERE, Host, Local, Lock};
use crate::language::english_plural;
use crate::profile::Profile;
use crate::run::fitness::{self, Conditions};
use crate::run::gates::percent;
use crate::run::interrupt::Interrupt;
use crate::run::progress::{Progress, Waiting};
use crate::run::{Ending, Journal, Making, Refusal, make, plan, prepare, refused_for_good, spent, standings};
use crate::side::{self, Setting, Tuning};
use crate::steady::never_steady;
use crate::store::{MeasuringLock, Record, Store};
use crate::{catalogue, machine, target};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A suite's name, or the path of a TOML file
    #[arg(default_value = "quick")]
    suite: String,
    /// Run an fio job file as it is, instead of a suite; may be given several times. ${LUN1}, ${LUN2} … in it become files that stend
    /// lays out (--set lun_size=1GiB, --set directory=/mnt/array), or the LUNs of the target
    #[arg(long, value_name = "FILE", conflicts_with = "suite")]
    fio: Vec<PathBuf>,
    #[command(flatten)]
    changing: Changing,
    /// Make repeats that do not count again only until all together took so long: 5min [default: what the suite says]
    #[arg(long, value_name = "TIME", value_parser = waiting_time)]
    time_budget: Option<Duration>,
    /// Measure two configurations in turns and compare them as pairs; `repeats` is then the number of pairs. A side is settings joined by `;`, or
    /// nothing for the machine as it is: name=, env.NAME=, prefix=, sysctl.NAME=, governor=, set.PARAMETER=, backend=, tool.NAME=, cc=, cflags=
    /// (docs/ab.md)
    #[arg(long, num_args = 2, value_names = ["SIDE", "SIDE"], conflicts_with = "profile")]
    ab: Vec<String>,
    /// Afterwards start each scenario once more under perf, or where there is none under strace, to see where its time goes
    #[arg(long)]
    profile: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    on: On,
    #[command(flatten)]
    building: Building,
    #[command(flatten)]
    target: TargetFlags,
    /// Load a target that `stend target up --name NAME` made, and leave it standing
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "The target: storage that is set up, loaded, and taken down (docs/storage.md)"
    )]
    target_name: Option<String>,
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    json: Json,
}

/// How long an unfit machine is waited for unless the user says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

/// Options of the commands that measure.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Options {
    /// How long to wait for a machine that is not fit to measure: 60s, 5min, 0 [default: 60s, or 0 with --even-if-unfit]
    #[arg(long, value_name = "TIME", value_parser = waiting_time)]
    wait: Option<Duration>,
    /// Measure although the machine is not fit; the run keeps what was wrong with it
    #[arg(long)]
    even_if_unfit: bool,
    /// A line for each repeat instead of a progress bar
    #[arg(long, env = "STEND_NO_PROGRESS", value_parser = clap::builder::FalseyValueParser::new(), num_args = 0, default_missing_value = "true")]
    no_progress: bool,
    /// Show all metrics in the table, not only each scenario's main one
    #[arg(long)]
    all_metrics: bool,
}

impl Options {
    /// Whether one line is redrawn instead of a line printed for each repeat.
    fn bar(&self, global: &Global) -> bool {
        std::io::stderr().is_terminal() && !self.no_progress && !global.quiet
    }
}

fn waiting_time(text: &str) -> Result<Duration, String> {
    const LONGEST: Duration = Duration::from_secs(7 * 86_400);
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    if time <= LONGEST { Ok(time) } else { Err("it may be 7d at most".into()) }
}

impl Arguments {
    pub(super) fn json(&self) -> Json {
        self.json
    }
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    make_run(global, arguments, false)
}

/// Measures the same twice over: see [`crate::noise`].
pub(super) fn measure_noise(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    make_run(global, arguments, true)
}

/// A suite with room for two halves of each scenario, neighbours of which are made one soon after the other. None ends early.
fn twice_over(suite: &mut Suite) {
    for scenario in suite.scenarios.iter_mut() {
        scenario.repeats *= 2;
        scenario.precision = None;
    }
    if suite.order == Order::Shuffled {
        suite.order = Order::Interleaved;
    }
}

fn make_run(global: &Global, arguments: &Arguments, noise: bool) -> Result<Exit, Failure> {
    let changes = arguments.changing.changes(arguments.time_budget);
    // Job files lie here, and so does the fio that judges them.
    let suite = if arguments.fio.is_empty() {
        catalogue::suite(&arguments.suite, &changes)
    } else {
        catalogue::suite_of_job_files(&Local, &arguments.fio, &changes)
    };
    let mut suite = suite.map_err(Failure::usage)?;
    if noise {
        twice_over(&mut suite);
    }
    let mut sides = side::parse(&arguments.ab).map_err(Failure::usage)?;
    side::check_suite(&suite, &sides).map_err(Failure::usage)?;
    let target = arguments.target.target().map_err(|error| Failure::usage(error.to_string()))?;
    if let (Some(name), Some(_)) = (&arguments.target_name, &target) {
        return Err(Failure::usage(format!(
            "--target-name {name}: it is described already, by what made it; leave out the other flags of a target"
        )));
    }
    if arguments.dry_run {
        let host = arguments.on.host()?;
        let host = &*host;
        let settled = match &arguments.target_name {
            Some(name) => {
                let work = prepare::work_directory(host).map_err(Failure::unusable)?;
                Some(target::standing(host, &work, name)?.0.target)
            }
            None => target.map(|target| target::settle(host, target)).transpose()?,
        };
        if let Some(target) = &settled {
            target::check_faults(&suite, Some(target))?;
            target::fit(host, &mut suite, target)?;
            output::print(&format!("target: {target}\n"))?;
        }
        return dry_run(host, suite, sides, &arguments.building.compiler());
    }
    if let (Some(name), true) = (&arguments.target_name, target::Needs::of(&suite).is_anything()) {
        return Err(Failure::usage(format!(
            "--target-name {name}: suite \"{}\" breaks its target, and what that takes is made with a target of the run's own; describe one with --target",
            suite.name
        )));
    }
    target::check_faults(&suite, target.as_ref())?;
    let directory = global.store_directory()?;
    let mut store = Store::open(&directory)?;
    let bench = Bench::prepare(&directory, arguments.on.name(), &arguments.building)?;
    let settings = bench.settings(&mut sides)?;
    let skipped = prepare::skipped(&*bench.host, &suite, &sides);
    for skipped in &skipped {
        let remedy = skipped.remedy.as_deref().map(|remedy| format!("; to have it: {remedy}")).unwrap_or_default();
        talk!("skipped: {}: {}{remedy}", skipped.scenario, skipped.reason);
    }
    if skipped.len() == suite.scenarios.len() {
        return Err(Failure::unusable(format!(
            "no scenario of the suite can be measured here; `{} doctor` tells what is missing",
            output::program()
        )));
    }
    // All of this before the run is made: one that cannot be measured should not be left behind.
    // The run's id is not known yet; it will be as long as this one, and paths must not get too long by it.
    let name = run_id(Timestamp::now());
    let needs = target::Needs::of(&suite);
    needs.check_probe(&*bench.host, &bench.probe)?;
    let target = match (&arguments.target_name, target) {
        (Some(name), _) => Some(target::standing(&*bench.host, &bench.work, name)?.0),
        (None, wanted) => {
            wanted.map(|wanted| target::check(&*bench.host, &bench.work, &name, wanted, &needs)).transpose()?
        }
    };
    if let Some(wanted) = &target {
        // Once more, since what makes the pool may have been chosen only now.
        target::check_faults(&suite, Some(&wanted.target))?;
        target::fit(&*bench.host, &mut suite, &wanted.target)?;
    }
    let wanted = target.as_ref().map(|target| &target.target);
    let Some(conditions) = bench.fitness(global, "new", &suite, &skipped, wanted, arguments.options)? else {
        return Ok(interrupted_early());
    };
    let machine = bench.fingerprint()?;
    if let Some(emulator) = &machine.software.emulator {
        if noise || !sides.is_empty() {
            let what = if noise { "a machine's noise" } else { "--ab" };
            return Err(Failure::usage(format!(
                "emulated: not compared: {what} is about speeds, and stend-probe is emulated by {emulator} here, which tells none"
            )));
        }
        talk!(
            "warning: stend-probe is emulated by {emulator} here: conformance only; figures of this run are compared with nothing"
        );
    }
    if bench.interrupt.requested() {
        return Ok(interrupted_early());
    }
    let seed = suite.seed.unwrap_or_else(fresh_seed);
    let started_at = Timestamp::now();
    let run = Run {
        id: run_id(started_at),
        stend_version: env!("CARGO_PKG_VERSION").into(),
        host: bench.host.name().into(),
        started_at,
        finished_at: None,
        state: RunState::Open,
        seed,
        machine,
        suite,
        skipped,
        profile: arguments.profile,
        noise,
        target,
        sides,
        carried: false,
        build: Some(bench.build.clone()),
    };
    store.add_run(&run)?;
    let record = Record { run, sessions: Vec::new(), repeats: Vec::new(), profiles: Vec::new() };
    measure(global, bench, &mut store, record, Settled { settings, conditions }, arguments.options, arguments.json)
}

/// Says that the user interrupted a command before there was anything to keep.
pub(super) fn interrupted_early() -> Exit {
    talk!("interrupted before anything was measured");
    Exit::Interrupted
}

/// The machine under test, and what has to be settled there before anything is measured.
pub(super) struct Bench {
    pub(super) host: Box<dyn Host>,
    /// The path of `stend-probe`.
    pub(super) probe: String,
    /// What that was built of.
    pub(super) build: Build,
    /// The compiler of sides that are built and name none.
    compiler: Compiler,
    /// The store's directory.
    store: PathBuf,
    /// The directory for runs' files.
    pub(super) work: String,
    interrupt: Interrupt,
    /// Held as long as this is: the store's, and that of the directory for runs' files, which other stores may share.
    _locks: (MeasuringLock, Box<dyn Lock>),
}

impl Bench {
    /// Listens to Ctrl-C, sees to it that nobody else measures with this store or work directory, and finds what every run needs.
    pub(super) fn prepare(store: &Path, host: &str, building: &Building) -> Result<Self, Failure> {
        let store_lock = MeasuringLock::take(store)?;
        let interrupt = Interrupt::listen()?;
        let Reached { host, probe, build, work } = building.reach(host)?;
        let work_lock = prepare::lock(&*host, &work).map_err(Failure::unusable)?;
        // Before the machine is looked at: what a killed run had changed is no setting of the machine.
        let side::Restored { put_back, left } = side::restore(&*host, &work).map_err(Failure::unusable)?;
        for line in put_back.iter().chain(&left) {
            talk!("{line}: a run that was killed had changed it");
        }
        let compiler = building.compiler();
        Ok(Self {
            host,
            probe,
            build,
            compiler,
            store: store.to_owned(),
            work,
            interrupt,
            _locks: (store_lock, work_lock),
        })
    }

    /// The machine's fingerprint, with the compiler that built for it.
    pub(super) fn fingerprint(&self) -> Result<Machine, Failure> {
        let mut machine = prepare::fingerprint(&*self.host, Some(&self.probe)).map_err(Failure::unusable)?;
        self.build.note(&mut machine);
        Ok(machine)
    }

    /// Sees to it that the machine has what the sides take, and that it can be set: what their instruments are started with. Notes in the sides
    /// what was found.
    pub(super) fn settings(&self, sides: &mut [Side]) -> Result<Vec<Setting>, Failure> {
        let host = &*self.host;
        let mut tell =
            |words: &str| if host.name() == HERE { talk!("{words}") } else { talk!("{}: {words}", host.name()) };
        let prepare = |side: &mut Side| side::prepare(host, &self.work, &self.compiler, side, &mut tell);
        let settings = sides.iter_mut().map(prepare).collect::<Result<_, _>>();
        let settings = settings.map_err(|reason| Failure::unusable(format!("--ab: {reason}")))?;
        let tuning = Tuning::new(&*self.host, &self.work, sides);
        let tried = tuning.and_then(|mut tuning| tuning.try_out(&self.work).map(|()| tuning));
        let tuning = tried.map_err(|reason| Failure::unusable(format!("--ab: {reason}")))?;
        for (place, side) in sides.iter_mut().enumerate() {
            side.found.settings = tuning.settings_of(place);
        }
        Ok(settings)
    }

    /// Waits for the machine to be fit for this suite, and refuses one that is not unless the user insists. `None` if the user
    /// interrupted it. `run` is the run's id, or any word for one that is still to be made.
    pub(super) fn fitness(
        &self,
        global: &Global,
        run: &str,
        suite: &Suite,
        skipped: &[Skipped],
        target: Option<&Target>,
        options: Options,
    ) -> Result<Option<Conditions>, Failure> {
        let gates = fitness::widest_gates(prepare::measured(suite, skipped));
        // Results are kept here, wherever they are measured.
        let store = (self.host.name() == Local.name()).then(|| self.store.to_string_lossy());
        let store = store.as_deref();
        let spaces = prepare::spaces(&*self.host, prepare::measured(suite, skipped), store, &self.work, run, target);
        let spaces = spaces.map_err(Failure::unusable)?;
        let look = || machine::check(&*self.host, &spaces, &gates);
        let usual = if options.even_if_unfit { Duration::ZERO } else { PATIENCE };
        let patience = options.wait.unwrap_or(usual);
        let mut waiting = Waiting::new(options.bar(global), global.quiet);
        let found = fitness::wait(look, patience, &self.interrupt, |unfit, left| waiting.tell(unfit, left));
        drop(waiting);
        let Some(conditions) = found else { return Ok(None) };
        if !conditions.unfit.is_empty() && !options.even_if_unfit {
            let wait = if conditions.lasting { "" } else { "--wait TIME waits longer, " };
            return Err(Failure::unusable(format!(
                "the machine is not fit to measure: {} ({wait}--even-if-unfit measures all the same)",
                conditions.unfit.join("; ")
            )));
        }
        for condition in &conditions.unfit {
            talk!("warning: the machine is not fit to measure: {condition}");
        }
        if !global.quiet && !conditions.noted.is_empty() {
            talk!("noted: {} (`{} check` says what to do)", conditions.noted.join("; "), output::program());
        }
        Ok(Some(conditions))
    }
}

/// What was settled of a session before it begins.
pub(super) struct Settled {
    /// What the instruments of each side are started with.
    pub(super) settings: Vec<Setting>,
    /// How fit the machine is.
    pub(super) conditions: Conditions,
}

/// Makes what is missing of a run, then prints its table and names its report.
pub(super) fn measure(
    global: &Global,
    bench: Bench,
    store: &mut Store,
    record: Record,
    settled: Settled,
    options: Options,
    json: Json,
) -> Result<Exit, Failure> {
    let run = record.run;
    if !global.quiet {
        talk!(
            "run {}: suite {}, {}, seed {}",
            run.id,
            run.suite.name,
            english_plural(run.suite.scenarios.len() - run.skipped.len(), "scenario", "scenarios"),
            run.seed
        );
    }
    let ending = {
        let mut progress = Progress::new(&run, options.bar(global), global.quiet);
        let mut journal = StoreJournal { store, run: &run.id };
        let making = Making {
            host: &*bench.host,
            probe: &bench.probe,
            work: &format!("{}/{}", bench.work, run.id),
            run: &run,
            repeats: record.repeats,
            profiled: record.profiles.into_iter().map(|profile| profile.scenario).collect(),
            settings: settled.settings,
            session: record.sessions.len() as u32,
            conditions: settled.conditions,
            interrupt: &bench.interrupt,
        };
        make(making, &mut journal, &mut progress)
    };
    let (ending, repeats) = match ending {
        Ok(made) => made,
        Err(error) => {
            talk!("stend: the run stopped; go on with: {} resume {}", output::program(), run.id);
            return Err(error.into());
        }
    };
    let directory = bench.store.clone();
    // Closed before the lock is released: whoever takes it next must find the run as it is.
    store.close_run(&run.id, Timestamp::now(), ending == Ending::Complete)?;
    drop(bench);
    if ending == Ending::Interrupted {
        let kept = english_plural(repeats.len(), "repeat is", "repeats are");
        talk!("interrupted; {kept} kept. Go on with: {} resume {}", output::program(), run.id);
        return Ok(Exit::Interrupted);
    }
    finish(global, store, &directory, &run.id, options, json)
}

/// Prints the table of a complete run and writes its report.
fn finish(
    global: &Global,
    store: &Store,
    directory: &Path,
    id: &str,
    options: Options,
    json: Json,
) -> Result<Exit, Failure> {
    let record = store.load(id)?;
    let views = views(record.clone());
    let table = output::table_of(&views);
    if record.run.noise {
        noise::print(global, store, &record, json)?;
    } else if json.json {
        output::print_json("table", &table)?;
    } else {
        output::print(&output::differences(&table))?;
        output::print_table(global, &views[0], &table, options.all_metrics)?;
    }
    let short = short_of_repeats(&record);
    let unsteady: Vec<_> = views.iter().flat_map(|view| never_steady(&view.run.suite, &view.repeats)).collect();
    let path = output::report_path(directory, &[&record], "html");
    let mut table = table;
    output::weigh_known(&mut table, &views.iter().collect::<Vec<_>>(), &catalogue::references())?;
    let path = output::write_report(store, &views, &table, &path)?;
    say_what_is_short(&short, &record);
    for (scenario, state) in &unsteady {
        let how = state.map(|state| format!(": range {}, slope {}", percent(state.range), percent(state.drift)));
        talk!("{scenario} never got steady, and was measured all the same{}", how.unwrap_or_default());
    }
    if !global.quiet {
        talk!("report: {}", path.display());
        let stend = output::program();
        if !record.profiles.is_empty() {
            talk!("where the time goes: {stend} profile {id}");
        }
        match store.finished_before(id)? {
            _ if record.run.noise => {}
            _ if !record.run.sides.is_empty() => talk!("compare the two sides: {stend} compare {id}"),
            Some(before) => talk!("compare with the run before it: {stend} compare {before} {id}"),
            None => talk!("after another run: {stend} compare {id} last"),
        }
        talk!("show all of this one: {stend} show {id}");
    }
    let misused =
        record.repeats.iter().any(|repeat| refused_for_good(&record.run.suite, repeat) == Some(Refusal::Misused));
    Ok(match (misused, short.is_empty() && unsteady.is_empty()) {
        (true, _) => Exit::Usage,
        (false, false) => Exit::Unsteady,
        (false, true) => Exit::Fine,
    })
}

/// Scenarios that have fewer valid repeats than they should, and why the last one failed.
fn short_of_repeats(record: &Record) -> Vec<String> {
    let suite = &record.run.suite;
    let session = record.sessions.last().map_or(0, |session| session.number);
    let standings = standings(&record.run, &record.repeats, session);
    let pairs = if record.run.sides.is_empty() { "" } else { " pairs" };
    let mut short = Vec::new();
    for (place, (scenario, standing)) in suite.scenarios.iter().zip(&standings).enumerate() {
        let skipped = record.run.skipped.iter().any(|skipped| skipped.scenario == scenario.name);
        let unprepared = scenario.is_precondition() && standing.failures_in_a_row > 0;
        if !skipped && (unprepared || !standing.settled && standing.valid < scenario.repeats) {
            let of_it = record.repeats.iter().rev().filter(|repeat| repeat.scenario == place);
            let reason = of_it.map(|repeat| repeat.outcome.reason()).find(|reason| !reason.is_empty());
            short.push(format!(
                "{}: {} of {}{pairs} ({})",
                scenario.name,
                standing.valid,
                scenario.repeats,
                reason.unwrap_or_default()
            ));
        }
    }
    short
}

/// One line a scenario; the first ones tell enough where a whole suite fell short.
fn say_what_is_short(short: &[String], record: &Record) {
    const MOST_LINES: usize = 8;
    if short.is_empty() {
        return;
    }
    let many = english_plural(short.len(), "scenario has", "scenarios have");
    talk!("{many} fewer repeats that count than they should:");
    for line in short.iter().take(MOST_LINES) {
        talk!("  {line}");
    }
    if short.len() > MOST_LINES {
        let more = short.len() - MOST_LINES;
        talk!("  and {more} more; `{} show` lists every repeat that does not count", output::program());
    }
    if let Some(budget) = record.run.suite.time_budget.filter(|_| record.run.suite.out_of_time(spent(&record.repeats)))
    {
        talk!("none was made again after {budget}, the run's time budget; `--time-budget` gives it more");
    }
}

fn dry_run(host: &dyn Host, suite: Suite, sides: Vec<Side>, usual: &Compiler) -> Result<Exit, Failure> {
    use std::fmt::Write as _;
    let skipped = prepare::skipped(host, &suite, &sides);
    let left_out = |name: &str| skipped.iter().find(|skipped| skipped.scenario == name);
    let plan = plan(&suite, &sides, suite.seed.unwrap_or(0), &skipped);
    let mut text = format!("{}: {}\n", suite.name, suite.title);
    let work = prepare::work_directory(host).map_err(Failure::unusable)?;
    let foreseen = side::foreseen(host, &work, usual, &sides);
    let foreseen = foreseen.map_err(|reason| Failure::unusable(format!("--ab: {reason}")))?;
    for (side, lines) in sides.iter().zip(foreseen) {
        let settings = side.settings();
        let _ = writeln!(
            text,
            "side {}: {}",
            side.label,
            if settings.is_empty() { AS_IT_IS.into() } else { settings.join("; ") }
        );
        for line in lines {
            let _ = writeln!(text, "      {line}");
        }
    }
    let repeats = if sides.is_empty() { ["repeat", "repeats"] } else { ["pair of repeats", "pairs of repeats"] };
    for scenario in &suite.scenarios {
        let in_a_line = |value: &str| value.lines().map(str::trim).collect::<Vec<_>>().join("; ");
        let parameters: Vec<_> =
            scenario.parameters.iter().map(|(name, value)| format!("{name}={}", in_a_line(value))).collect();
        let state =
            left_out(&scenario.name).map(|skipped| format!(" (skipped: {})", skipped.reason)).unwrap_or_default();
        let _ = writeln!(
            text,
            "  {}{state}\n      {} {} · {}",
            scenario.name,
            scenario.instrument,
            parameters.join(" "),
            english_plural(scenario.repeats as usize, repeats[0], repeats[1])
        );
    }
    let _ = writeln!(text, "{} in all, warm-ups included", english_plural(plan.len(), "repeat", "repeats"));
    output::print(&text)?;
    Ok(Exit::Fine)
}

/// Hands a run's parts to the store as they are made.
struct StoreJournal<'a> {
    store: &'a mut Store,
    run: &'a str,
}

impl Journal for StoreJournal<'_> {
    fn session(&mut self, session: &Session) -> anyhow::Result<()> {
        Ok(self.store.add_session(self.run, session)?)
    }

    fn session_ends(&mut self, session: &Session) -> anyhow::Result<()> {
        Ok(self.store.update_session(self.run, session)?)
    }

    fn repeat(&mut self, repeat: &Repeat, series: &[Series]) -> anyhow::Result<()> {
        Ok(self.store.add_repeat(self.run, repeat, series)?)
    }

    fn profile(&mut self, scenario: usize, profile: &Profile) -> anyhow::Result<()> {
        Ok(self.store.add_profile(self.run, scenario, profile)?)
    }
}

/// The minute in which the run began, and four digits that tell apart runs of the same minute.
fn run_id(at: Timestamp) -> String {
    format!("{}-{:04x}", at.strftime("%Y%m%d-%H%M"), fresh_seed() & 0xFFFF)
}

/// A number that nobody chose: the clock and the process, mixed.
pub(super) fn fresh_seed() -> u64 {
    let nanoseconds = Timestamp::now().as_nanosecond() as u64;
    // 53 bits, so that it is the same number in any JSON reader.
    SplitMix64::new(nanoseconds ^ u64::from(std::process::id()).rotate_left(48)).next_u64() >> 11
}
