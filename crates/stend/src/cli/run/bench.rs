//! The machine under test, made ready for a run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use stend_model::machine::Machine;
use stend_model::run::{Build, Skipped};
use stend_model::side::Side;
use stend_model::suite::Suite;

use super::{Options, PATIENCE, State};
use crate::cli::Global;
use crate::cli::failure::Failure;
use crate::cli::on::{Building, Reached};
use crate::cli::output;
use crate::cli::progress::Waiting;
use stend_lab::run::fitness::{self, Conditions, Refused};
use stend_lab::run::prepare::{self, Files};
use stend_lab::side::{self, Setting, Tuning};
use stend_model::run::HERE;
use stend_report::text::percent;
use stend_report::words;
use stend_report::words::language::Language;
use stend_stand::host::stand::Compiler;
use stend_stand::host::{Host, Local, Lock};
use stend_stand::hosts::Destination;
use stend_stand::interrupt::Interrupt;
use stend_stand::machine;
use stend_store::MeasuringLock;

/// The machine under test, and what has to be settled there before anything is measured.
pub(in crate::cli) struct Bench {
    pub(in crate::cli) host: Box<dyn Host>,
    /// The machine, as the user calls it.
    pub(super) machine: String,
    /// The path of `stend-probe`.
    pub(in crate::cli) probe: String,
    /// What that was built of.
    pub(in crate::cli) build: Build,
    /// The compiler of sides that are built and name none.
    compiler: Compiler,
    /// The store's directory.
    pub(super) store: PathBuf,
    /// The directory for runs' files.
    pub(in crate::cli) work: String,
    pub(super) interrupt: Interrupt,
    /// Held as long as this is: the store's for this machine, the machine's, which other users and labs share, and that of the directory for
    /// runs' files, which other stores may share.
    _locks: (MeasuringLock, Vec<Box<dyn Lock>>),
}

impl Bench {
    /// Sees to it that nobody else measures that machine or with its work directory, brings it into a state, and finds what every run needs.
    pub(in crate::cli) fn prepare(
        global: &Global,
        store: &Path,
        destination: &Destination,
        building: &Building,
        state: Option<&State>,
        interrupt: &Interrupt,
    ) -> Result<Self, Failure> {
        let store_lock = MeasuringLock::take(store, Some(&*destination.address).filter(|_| !destination.is_here()))?;
        state.map_or(Ok(()), |state| state.bring_to(global, building, destination, interrupt))?;
        let Reached { host, probe, build, compiler, work, mut locks } =
            building.reach(global, destination, interrupt)?;
        locks.push(prepare::lock(&*host, &work).map_err(Failure::unusable)?);
        // Before the machine is looked at: what a killed run had changed is no setting of the machine.
        let side::Restored { put_back, left } = side::restore(&*host, &work).map_err(Failure::unusable)?;
        for line in put_back.iter().chain(&left) {
            talk!("{line}: a run that was killed had changed it");
        }
        let (store, interrupt) = (store.to_owned(), interrupt.clone());
        Ok(Self {
            host,
            machine: destination.to_string(),
            probe,
            build,
            compiler,
            store,
            work,
            interrupt,
            _locks: (store_lock, locks),
        })
    }

    /// The machine's fingerprint, with what the suite takes and the compiler that built for it.
    pub(in crate::cli) fn fingerprint(&self, suite: &Suite) -> Result<Machine, Failure> {
        let suite = Some(suite);
        let mut machine = prepare::fingerprint(&*self.host, Some(&self.probe), suite).map_err(Failure::nameless)?;
        self.build.note(&mut machine);
        Ok(machine)
    }

    /// Sees to it that the machine has what the sides take, and that it can be set: what their instruments are started with. Notes in the sides
    /// what was found.
    pub(in crate::cli) fn settings(&self, global: &Global, sides: &mut [Side]) -> Result<Vec<Setting>, Failure> {
        let host = &*self.host;
        let mut tell = |words: &str| match host.name() {
            _ if global.quiet => {}
            HERE => talk!("{words}"),
            _ => talk!("{}: {words}", self.machine),
        };
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
    /// interrupted it.
    pub(in crate::cli) fn fitness(
        &self,
        global: &Global,
        files: &Files,
        suite: &Suite,
        skipped: &[Skipped],
        options: Options,
    ) -> Result<Option<Conditions>, Failure> {
        let gates = fitness::widest_gates(prepare::measured(suite, skipped));
        // Results are kept here, wherever they are measured.
        let store = (self.host.name() == Local.name()).then(|| self.store.to_string_lossy());
        let store = store.as_deref();
        let spaces = files.spaces(store, &self.work);
        let look = || machine::check(&*self.host, &spaces, &gates);
        let usual = if options.even_if_unfit { Duration::ZERO } else { PATIENCE };
        let patience = options.wait.unwrap_or(usual);
        let mut waiting = Waiting::new(options.bar(global), global.quiet);
        let found = fitness::wait(look, patience, &self.interrupt, |unfit, left| waiting.tell(unfit, left));
        drop(waiting);
        let Some(conditions) = found else { return Ok(None) };
        if !conditions.unfit.is_empty() && (conditions.never || !options.even_if_unfit) {
            let ways_out = match conditions {
                Conditions { never: true, .. } => "",
                Conditions { lasting: true, .. } => " (--even-if-unfit measures nevertheless)",
                _ => " (--wait TIME waits longer, --even-if-unfit measures nevertheless)",
            };
            let unfit = words::conditions(&conditions.unfit);
            let unfit = unfit.english();
            return Err(Failure::unusable(format!("the machine is not fit to measure: {unfit}{ways_out}")));
        }
        for condition in &conditions.unfit {
            let told = words::condition(condition, Language::English);
            talk!("warning: the machine is not fit to measure: {}", told.with_advice());
        }
        if !global.quiet && !conditions.noted.is_empty() {
            let on = if self.host.name() == HERE { String::new() } else { format!(" --on {}", self.machine) };
            let noted: Vec<_> =
                conditions.noted.iter().map(|one| words::condition(one, Language::English).in_a_line()).collect();
            talk!("noted: {} (`{} check{on}` says what to do)", noted.join("; "), output::program());
            if let Some(refused) = fitness::refused(&conditions.noted, prepare::measured(suite, skipped)) {
                let Refused { scenarios, of, limit } = refused;
                talk!(
                    "of {scenarios} of {of} scenarios no repeat will count while that is above {}; stop other programs, or wait",
                    percent(limit)
                );
            }
        }
        Ok(Some(conditions))
    }
}

/// What was settled of a session before it begins.
pub(in crate::cli) struct Settled {
    /// What the instruments of each side are started with.
    pub(in crate::cli) settings: Vec<Setting>,
    /// How fit the machine is.
    pub(in crate::cli) conditions: Conditions,
}
