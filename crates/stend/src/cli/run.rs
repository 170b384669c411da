//! `stend run`: measure this machine, or others, with a suite.

mod bench;
mod dry;
mod finish;
mod guest;
mod measure;
mod named;
mod switching;
mod timing;
pub(super) mod together;

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use stend_model::quantity::parse_duration;
use stend_model::run::{Run, RunState, fresh_run_id, is_run_id};
use stend_model::side::Side;
use stend_model::suite::{Changes, Suite};
use stend_model::target::{Target, TargetOfRun};

use super::Global;
use super::changing::Changing;
use super::completions;
use super::failure::{Exit, Failure};
use super::label;
use super::on::{self, Building, OnSeveral};
use super::output::{self, Shown};
use super::rig::TargetFlags;
use crate::catalogue;
pub(super) use bench::{Bench, Settled};
use dry::Compared;
pub(super) use finish::{fell_short, print_concluded};
use guest::Guest;
pub(super) use measure::measure;
pub(super) use named::FOREIGN;
use named::Foreign;
use stend_lab::rig;
use stend_lab::run::{Ending, prepare};
use stend_lab::side;
use stend_model::record::Record;
use stend_model::run::HERE;
use stend_report::words;
use stend_report::words::language::Language;
use stend_stand::host::{Host, Local, stand};
use stend_stand::hosts::{Destination, Hosts};
use stend_stand::interrupt::Interrupt;
use stend_stats::Design;
use stend_store::Store;
pub(super) use switching::State;
use timing::Timing;
use together::Job;

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// A suite's name, or the path of a TOML file [default: quick]
    #[arg(add = completions::suites())]
    suite: Option<String>,
    /// Run an unmodified fio job file instead of a suite; may be given several times. ${LUN1}, ${LUN2} … in it are files that stend lays out (--set
    /// lun_size=1GiB, --set directory=/mnt/array), or the LUNs of the target. --set runtime=10s, ramp_time, size=1GiB, io_size, filesize and loops
    /// override its sections
    #[arg(long, value_name = "FILE", conflicts_with = "suite")]
    fio: Vec<PathBuf>,
    #[command(flatten)]
    changing: Changing,
    /// Replace invalid repeats only until all repeats together have taken this long: 5min [default: the suite's]
    #[arg(long, value_name = "TIME", value_parser = waiting_time)]
    time_budget: Option<Duration>,
    /// Measure two configurations alternately and compare them in pairs; `repeats` is then the number of pairs. A side is a list of settings
    /// separated by `;`, or empty for the unmodified machine: name=, env.NAME=, prefix=, sysctl.NAME=, governor=, set.PARAMETER=, backend=,
    /// target.KEY=, rig.SETTING=, tool.NAME=, cc=, cflags= (docs/guide/ab.md). Without sides, the two are two --command
    #[arg(long, num_args = 0..=2, value_names = ["SIDE", "SIDE"], conflicts_with = "profile")]
    ab: Option<Vec<String>>,
    /// Measure so many times, a run each time. With --on A,B each round measures both machines, and from five rounds on they are compared in turns,
    /// round by round
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100), conflicts_with_all = ["ab", "profile"])]
    sessions: Option<u32>,
    /// Measure two states of the machine in sessions that take turns, for what cannot stand side by side: kernels, firmware, packages. Give it twice:
    /// a name, and a shell command that brings the machine into that state, may reboot it, and does nothing where the machine is in it already.
    /// --sessions says how many of each [default: 5]. After a reboot of this machine the same command goes on (docs/guide/ab.md)
    #[arg(long, value_name = "NAME=COMMAND", value_parser = State::parse, conflicts_with_all = ["ab", "profile", "label"])]
    switch: Vec<State>,
    /// Give the run a label, to be used in place of its id
    #[arg(long, value_name = "NAME", conflicts_with = "sessions")]
    label: Option<String>,
    /// The run's id, where whoever starts it has to know it before
    #[arg(long, value_name = "ID", hide = true, value_parser = wanted_id, conflicts_with_all = ["sessions", "switch"])]
    id: Option<String>,
    /// The state that the machine is brought into before, where each session is a command of its own
    #[arg(long, value_name = "NAME=COMMAND", value_parser = State::parse, hide = true, conflicts_with_all = ["sessions", "switch"])]
    state: Option<State>,
    /// Afterwards profile each scenario in one more repeat, with perf, or with strace if perf is not available
    #[arg(long)]
    profile: bool,
    /// Print what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    // Before those with a heading of their own, which what comes after them would stand under.
    #[command(flatten)]
    options: Options,
    #[command(flatten)]
    shown: Shown,
    #[command(flatten)]
    timing: Timing,
    #[command(flatten)]
    on: OnSeveral,
    #[command(flatten)]
    building: Building,
    #[command(flatten)]
    target: TargetFlags,
    /// Load a target set up by `stend rig up --name NAME`, and keep it
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "Target: storage that is set up, loaded, and removed (docs/guide/storage.md)"
    )]
    target_name: Option<String>,
}

/// How long an unfit machine is waited for unless the user says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);

/// Options of the commands that measure.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Options {
    /// How long to wait for an unfit machine: 60s, 5min, 0 [default: 60s, or 0 with --even-if-unfit]
    #[arg(long, value_name = "TIME", value_parser = waiting_time)]
    wait: Option<Duration>,
    /// Measure even if the machine is unfit; the run records the reasons
    #[arg(long)]
    even_if_unfit: bool,
    /// Print a line for each repeat instead of a progress bar
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

fn wanted_id(text: &str) -> Result<String, String> {
    if is_run_id(text) { Ok(text.into()) } else { Err("an id is such as 20261127-0412-3f9a".into()) }
}

fn waiting_time(text: &str) -> Result<Duration, String> {
    const LONGEST: Duration = Duration::from_secs(7 * 86_400);
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    if time <= LONGEST { Ok(time) } else { Err("it may be 7d at most".into()) }
}

impl Arguments {
    /// The suite, if one was named.
    pub(super) fn suite(&self) -> Option<&str> {
        self.suite.as_deref()
    }

    /// Whether a suite's guest is measured too: not where the user says which machines, or what of this one.
    fn may_have_guest(&self) -> bool {
        let is_plain = self.ab.is_none() && self.id.is_none() && self.label.is_none() && self.state.is_none();
        is_plain && self.switch.is_empty() && !self.profile && self.on.is_empty()
    }

    /// How what is measured on so many machines will be compared.
    fn compared(&self, machines: usize) -> Compared {
        let takes_turns = !self.switch.is_empty() || self.may_have_guest() && machines > 1;
        let sessions = self.sessions.or(takes_turns.then_some(switching::SESSIONS));
        let design = match sessions {
            _ if self.ab.is_some() => Design::InTurns,
            Some(_) if machines > 1 || !self.switch.is_empty() => Design::SessionsInTurns,
            _ => Design::OneAfterTheOther,
        };
        Compared { design, sessions }
    }
}

/// What is to be measured, on whichever machine.
#[derive(Clone)]
struct Wanted {
    suite: Suite,
    /// The same as it is measured in a guest, if it says anything of guests.
    in_guest: Option<Suite>,
    sides: Vec<Side>,
    /// The target, or that of each side where a side sets something of it.
    targets: Vec<Target>,
    foreign: Foreign,
}

impl Wanted {
    /// Says once, before the first of several sessions, which difference they will show.
    fn say_sight(&self, global: &Global, compared: Compared) {
        if !global.quiet {
            talk!("{}", dry::sight(&self.suite, &[], compared));
        }
    }
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let changes = arguments.changing.changes(arguments.time_budget);
    // Job files lie here, and so does the fio that judges them.
    let timed = arguments.timing.commands(arguments.ab.as_deref())?;
    let named = arguments.suite().unwrap_or(catalogue::USUAL);
    let suite = if let Some(commands) = &timed {
        catalogue::suite_of_commands(commands, &changes)
    } else if arguments.fio.is_empty() {
        catalogue::suite(named, &changes)
    } else {
        catalogue::suite_of_job_files(&Local, &arguments.fio, &changes)
    };
    let suite = suite.map_err(Failure::usage)?;
    let in_guest = suite.guest.is_some().then(|| catalogue::suite(named, &Changes { in_guest: true, ..changes }));
    let in_guest = in_guest.transpose().map_err(Failure::usage)?;
    let sides = match (arguments.ab.as_deref(), &timed) {
        (None, _) => Vec::new(),
        (Some([]), Some(commands)) => timing::sides(commands)?,
        (Some(sides), _) => {
            let both = sides.len() == 2;
            let sides = both.then(|| side::parse(sides).map_err(Failure::usage));
            sides.unwrap_or_else(|| Err(Failure::usage("--ab takes two sides, or two --command")))?
        }
    };
    side::check_suite(&suite, &sides).map_err(Failure::usage)?;
    let targets = targets(arguments, &sides)?;
    if let (Some(name), Some(_)) = (&arguments.target_name, targets.first()) {
        return Err(Failure::usage(format!(
            "--target-name {name}: this target is already set up with its own description; leave out the other flags of a target"
        )));
    }
    let foreign = Foreign::of(arguments.suite(), &arguments.fio, &suite, arguments.target.file().zip(targets.first()));
    let guest = suite.guest.clone().filter(|_| arguments.may_have_guest());
    let guest = guest.map(|vm| Guest::of(named, vm)).transpose()?;
    let wanted = Wanted { suite, in_guest, sides, targets, foreign };
    let mut destinations = arguments.on.destinations(global)?;
    destinations.extend(guest.as_ref().map(Guest::destination));
    if let (Some(name), true) =
        (&arguments.target_name, wanted.suite.scenarios.iter().any(|scenario| !scenario.faults.is_empty()))
    {
        return Err(Failure::usage(format!(
            "--target-name {name}: suite \"{}\" breaks its target, and what that takes is made with a target of the run's own; describe one with --target",
            wanted.suite.name
        )));
    }
    check_named(&wanted.suite, &wanted.targets)?;
    if !arguments.switch.is_empty() {
        switching::check(global, arguments, &wanted, &destinations)?;
    }
    if let Some(name) = &arguments.label {
        if destinations.len() > 1 {
            return Err(Failure::usage(format!(
                "--label {name}: a label is of one run, and --on names several machines"
            )));
        }
        let directory = global.store_directory()?;
        let store = Store::open_to_read(&directory)?;
        label::check(&store, &Hosts::read(&directory).map_err(Failure::usage)?, name)?;
        store.check_free(name, "")?;
    }
    if arguments.dry_run {
        if let Some(guest) = &guest {
            destinations.pop();
            output::print(&format!("guest: {}, set up here and measured in turns with this machine\n", guest.vm))?;
            let machines = destinations.len() + 1;
            return dry_run(global, arguments, &destinations[0], &wanted, machines).map(|()| Exit::Fine);
        }
        return dry_runs(global, arguments, &destinations, &wanted);
    }
    // Before several threads want to make it.
    let directory = global.store_directory()?;
    let store = Store::open(&directory)?;
    if let Some(id) = &arguments.id {
        if destinations.len() > 1 {
            return Err(Failure::usage(format!("--id {id}: an id is of one run, and --on names several machines")));
        }
        if store.has_run(id)? {
            return Err(Failure::usage(format!("--id {id}: there is a run with this id")));
        }
    }
    drop(store);
    if !arguments.switch.is_empty() {
        return switching::run(global, arguments, &wanted, &destinations[0]);
    }
    let label = arguments.label.as_deref();
    let job = |destination| Job {
        name: Destination::to_string(destination),
        run: None,
        is_on_this_machine: destination.is_on_this_machine(),
        again: on::again(&destination.word),
        make: Box::new(|interrupt, begun| {
            let called = Called { label, state: arguments.state.as_ref() };
            measure_on(global, arguments, &wanted, destination, called, interrupt, begun)
        }),
    };
    let jobs = || destinations.iter().map(job).collect();
    let compared = arguments.compared(destinations.len());
    let measure = || match compared.sessions {
        Some(rounds) => {
            wanted.say_sight(global, compared);
            together::rounds(global, rounds, jobs, arguments.options, arguments.shown)
        }
        None => together::run(global, jobs(), arguments.options, arguments.shown),
    };
    match guest {
        Some(guest) => guest.stand_for(global, measure),
        None => measure(),
    }
}

/// The target that the flags describe, once for each side if a side sets something of it.
fn targets(arguments: &Arguments, sides: &[Side]) -> Result<Vec<Target>, Failure> {
    let of = |settings| arguments.target.target_with(settings).map_err(|error| Failure::usage(error.to_string()));
    if sides.iter().all(|side| side.target.is_empty()) {
        return Ok(of(&BTreeMap::new())?.into_iter().collect());
    }
    if let Some(name) = &arguments.target_name {
        return Err(Failure::usage(format!(
            "--target-name {name}: it is left standing as it is, so no side can set target.KEY; describe a target with --target instead"
        )));
    }
    let mut targets = Vec::new();
    for side in sides {
        targets.push(of(&side.target)?.ok_or_else(|| {
            Failure::usage(format!(
                "--ab: side \"{}\" has no target, and the other one has; describe one for both, as by --target targets/vostok-small.toml",
                side.label
            ))
        })?);
    }
    Ok(targets)
}

/// Checks that each of the targets has what the suite's faults name.
fn check_named(suite: &Suite, targets: &[Target]) -> Result<(), rig::Refusal> {
    if targets.is_empty() {
        return rig::check_named(suite, None);
    }
    targets.iter().try_for_each(|target| rig::check_named(suite, Some(target)))
}

/// Fits the suite to the target, or to those of both sides, which must make the same of it.
fn fit(host: &dyn Host, suite: &mut Suite, targets: &[Target]) -> Result<(), rig::Refusal> {
    // What makes a pool may have been chosen only now.
    check_named(suite, targets)?;
    let as_it_was = suite.clone();
    for (place, target) in targets.iter().enumerate() {
        let mut fitted = as_it_was.clone();
        rig::fit(host, &mut fitted, target)?;
        if place == 0 {
            *suite = fitted;
        } else {
            rig::check_same_work(suite, &fitted)?;
        }
    }
    Ok(())
}

/// Says what would be done on each machine. What one of several lacks is said, and the next one is asked all the same.
fn dry_runs(
    global: &Global,
    arguments: &Arguments,
    destinations: &[Destination],
    wanted: &Wanted,
) -> Result<Exit, Failure> {
    if let [destination] = destinations {
        return dry_run(global, arguments, destination, wanted, 1).map(|()| Exit::Fine);
    }
    let mut worst = Exit::Fine;
    for destination in destinations {
        output::print(&format!("on {destination}:\n"))?;
        match dry_run(global, arguments, destination, wanted, destinations.len()) {
            Ok(()) => {}
            Err(failure) if failure.is_closed_pipe() || Interrupt::heard() => return Err(failure),
            Err(failure) => {
                talk!("stend: on {destination}: {failure}");
                worst = worst.max(failure.exit());
            }
        }
    }
    Ok(worst)
}

fn dry_run(
    global: &Global,
    arguments: &Arguments,
    destination: &Destination,
    wanted: &Wanted,
    machines: usize,
) -> Result<(), Failure> {
    let host = on::host(global, destination, &arguments.building)?;
    let host = &*host;
    let building = arguments.building.or_known(destination);
    let compiler = building.compiler();
    let version = building.builds(destination).then(|| stand::version(host, &compiler)).transpose();
    if let Some(version) = version.map_err(|reason| on::failed_on(destination, &reason))? {
        output::print(&format!("{}\n", stand::in_words(&version, &compiler)))?;
    }
    let mut suite = wanted.suite.clone();
    let settled: Vec<Target> = match &arguments.target_name {
        Some(name) => {
            let work = prepare::work_directory(host).map_err(Failure::unusable)?;
            vec![rig::standing(host, &work, name)?.0.target]
        }
        None => wanted.targets.iter().map(|target| rig::settle(host, target.clone())).collect::<Result<_, _>>()?,
    };
    if !settled.is_empty() {
        fit(host, &mut suite, &settled)?;
    }
    for (place, target) in settled.iter().enumerate() {
        let side = if settled.len() > 1 { format!(" of side {}", wanted.sides[place].label) } else { String::new() };
        output::print(&format!("target{side}: {target}\n"))?;
    }
    if !arguments.switch.is_empty() {
        output::print(&switching::in_words(arguments))?;
    }
    if let Some(state) = &arguments.state {
        output::print(&format!("after its command:\n{}", state.in_words()))?;
    }
    wanted.foreign.print()?;
    let compared = arguments.compared(machines);
    dry::print(host, suite, wanted.sides.clone(), &compiler, settled.first(), compared)
}

/// Leaves out what takes more processors than there are, and says so.
fn cut_to_processors(host: &dyn Host, suite: &mut Suite) {
    let (left_out, online) = prepare::cut_to_processors(host, suite);
    if left_out > 0 {
        talk!("left out: scenarios that take more processors than the {online} online: {left_out}");
    }
}

/// What tells one run from others of the same work on the same machine.
#[derive(Clone, Copy)]
struct Called<'a> {
    label: Option<&'a str>,
    /// The state that the machine is brought into before.
    state: Option<&'a State>,
}

/// Measures one machine. What was begun is told as soon as it is in the store.
fn measure_on(
    global: &Global,
    arguments: &Arguments,
    wanted: &Wanted,
    destination: &Destination,
    Called { label, state }: Called,
    interrupt: &Interrupt,
    begun: &OnceLock<String>,
) -> Result<Ending, Failure> {
    let Wanted { mut suite, in_guest, mut sides, targets, foreign } = wanted.clone();
    if let Some(in_guest) = in_guest.filter(|_| destination.is_on_this_machine() && !destination.is_here()) {
        suite = in_guest;
    }
    let directory = global.store_directory()?;
    let mut store = Store::open(&directory)?;
    let bench = Bench::prepare(global, &directory, destination, &arguments.building, state, interrupt)?;
    let settings = bench.settings(global, &mut sides)?;
    cut_to_processors(&*bench.host, &mut suite);
    let skipped = prepare::skipped(&*bench.host, &suite, &sides, &bench.work);
    if let Some(reason) = prepare::common_reason(&suite, &skipped) {
        return Err(Failure::unusable(words::cause(reason, Language::English)));
    }
    for skipped in &skipped {
        let remedy = skipped.remedy.as_deref().map(|remedy| format!("; to have it: {remedy}")).unwrap_or_default();
        let reason = words::cause(&skipped.reason, Language::English);
        talk!("skipped: {}: {reason}{remedy}", skipped.scenario);
    }
    if skipped.len() == suite.scenarios.len() {
        let is_missing = skipped.iter().any(|skipped| skipped.remedy.is_some());
        return Err(Failure::unusable(if destination.is_here() && is_missing {
            format!(
                "no scenario of the suite can be measured here; `{} doctor` lists what is missing",
                output::program()
            )
        } else {
            let place = if destination.is_here() { "here".to_owned() } else { format!("on {destination}") };
            format!("no scenario of the suite can be measured {place}; the reasons are listed above")
        }));
    }
    // All of this before the run is made: one that cannot be measured should not be left behind.
    // The run's id is not known yet; it will be as long as this one, and paths must not get too long by it.
    let name = fresh_run_id(Timestamp::now());
    let needs = rig::Needs::of(&suite);
    needs.check_probe(&*bench.host, &bench.probe)?;
    let check = |wanted| rig::check(&*bench.host, &bench.work, &name, wanted, &needs);
    let checked: Vec<TargetOfRun> = match &arguments.target_name {
        Some(name) => vec![rig::standing(&*bench.host, &bench.work, name)?.0],
        None => targets.into_iter().map(check).collect::<Result<_, _>>()?,
    };
    if !checked.is_empty() {
        let settled: Vec<_> = checked.iter().map(|of_run| of_run.target.clone()).collect();
        fit(&*bench.host, &mut suite, &settled)?;
    }
    if checked.len() > 1 {
        for (side, of_side) in sides.iter_mut().zip(&checked) {
            side.found.target = Some(of_side.clone());
        }
    }
    let target = checked.into_iter().next();
    let wanted = target.as_ref().map(|target| &target.target);
    let measured = prepare::measured(&suite, &skipped);
    let files = prepare::files(&*bench.host, measured, &bench.work, prepare::NEW, wanted).map_err(Failure::usage)?;
    files.check().map_err(Failure::usage)?;
    let Some(conditions) = bench.fitness(global, &files, &suite, &skipped, arguments.options)? else {
        return Ok(Ending::Interrupted);
    };
    let mut machine = bench.fingerprint(&suite)?;
    // As the person calls it who measures it: several machines may have one name for themselves.
    match &destination.known {
        Some(known) if known.name != HERE => machine.call(&known.name),
        None if !destination.is_here() => machine.call(&destination.address),
        _ => {}
    }
    if let Some(emulator) = &machine.software.emulator {
        if !sides.is_empty() {
            return Err(Failure::usage(format!(
                "emulated: not compared: --ab is about speeds, and stend-probe is emulated by {emulator} here, which tells none"
            )));
        }
        talk!(
            "warning: stend-probe is emulated by {emulator} here: conformance only; figures of this run are compared with nothing"
        );
    }
    if interrupt.requested() {
        return Ok(Ending::Interrupted);
    }
    if !global.quiet {
        foreign.tell(&*bench.host);
        // Of sessions it is said once, before the first.
        let compared = arguments.compared(1);
        if compared.sessions.is_none() {
            talk!("{}", dry::sight(&suite, &skipped, compared));
        }
    }
    let seed = suite.seed.unwrap_or_else(fresh_seed);
    let started_at = Timestamp::now();
    let id = match &arguments.id {
        Some(id) => id.clone(),
        None => free_id(|| fresh_run_id(started_at), |id| store.has_run(id))?,
    };
    let run = Run {
        id,
        label: label.map(str::to_owned),
        stend_version: env!("CARGO_PKG_VERSION").into(),
        host: bench.host.name().into(),
        started_at,
        finished_at: None,
        state: RunState::Open,
        seed,
        machine,
        known: destination.known.clone(),
        suite,
        skipped,
        profile: arguments.profile,
        target,
        sides,
        carried: false,
        imported: Some(false),
        build: Some(bench.build.clone()),
    };
    store.add_run(&run)?;
    let _ = begun.set(run.id.clone());
    measure(global, bench, &mut store, Record::empty(run), Settled { settings, conditions }, arguments.options)
}

/// The first id that is not taken yet: of runs that last seconds there are so many in a minute that two come upon the same four digits.
fn free_id<E>(mut draw: impl FnMut() -> String, is_taken: impl Fn(&str) -> Result<bool, E>) -> Result<String, E> {
    loop {
        let id = draw();
        if !is_taken(&id)? {
            return Ok(id);
        }
    }
}

/// A number that nobody chose.
pub(super) fn fresh_seed() -> u64 {
    // 53 bits, so that it is the same number in any JSON reader.
    stend_model::plan::fresh_seed() >> 11
}

#[cfg(test)]
mod tests {
    use super::free_id;

    #[test]
    fn an_id_that_is_taken_is_drawn_again() {
        let mut drawn =
            ["20261121-0555-3f9a", "20261121-0555-3f9a", "20261121-0555-77c2"].map(String::from).into_iter();
        let free = free_id(|| drawn.next().unwrap(), |id| Ok::<_, ()>(id.ends_with("3f9a")));
        assert_eq!(free.as_deref(), Ok("20261121-0555-77c2"));
        assert_eq!(free_id(String::new, |_| Err("the store is gone")), Err("the store is gone"));
    }
}
