//! Making a run's repeats: what lies between the command line, the machine and the store.

use jiff::Timestamp;
use stend_model::run::{Repeat, Series, Session};

use super::Options;
use super::bench::{Bench, Settled};
use crate::cli::Global;
use crate::cli::failure::Failure;
use crate::cli::progress::Progress;
use stend_lab::run::{Ending, Journal, Making, make};
use stend_model::profile::Profile;
use stend_model::quantity::english_plural;
use stend_model::record::Record;
use stend_stand::host::{LINK_DROPPED, lost_link};
use stend_store::Store;

/// Makes what is missing of a run, and says how it ended.
pub(in crate::cli) fn measure(
    global: &Global,
    bench: Bench,
    store: &mut Store,
    record: Record,
    settled: Settled,
    options: Options,
) -> Result<Ending, Failure> {
    // From now on what is under way is ended in its own way, and what was made is taken away.
    bench.host.heed_interrupt(false);
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
            let kept = store.load(&run.id).map_or(0, |record| record.repeats.len());
            return Err(stopped(error, &bench.machine, kept).that_stopped_a_run());
        }
    };
    // Closed before the lock is released: whoever takes it next must find the run as it is.
    store.close_run(&run.id, Timestamp::now(), ending == Ending::Complete)?;
    drop(bench);
    if ending == Ending::Interrupted {
        talk!("interrupted; {} kept", english_plural(repeats.len(), "repeat is", "repeats are"));
    }
    Ok(ending)
}

/// Why a run stopped of which so many repeats are kept. Of a link that dropped all is said in one line: which, and what it cost.
fn stopped(error: anyhow::Error, machine: &str, kept: usize) -> Failure {
    match lost_link(&error) {
        Some(reason) => {
            let way_back =
                if reason == LINK_DROPPED { String::new() } else { format!(" and does not come back ({reason})") };
            let kept = english_plural(kept, "repeat is", "repeats are");
            Failure::unusable(format!(
                "{machine}: the link dropped{way_back}; the repeat in flight is lost, {kept} kept"
            ))
        }
        None => error.into(),
    }
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

    fn repeat(&mut self, repeat: &Repeat, series: &[Series], own_report: Option<&str>) -> anyhow::Result<()> {
        Ok(self.store.add_repeat(self.run, repeat, series, own_report)?)
    }

    fn profile(&mut self, scenario: usize, profile: &Profile) -> anyhow::Result<()> {
        Ok(self.store.add_profile(self.run, scenario, profile)?)
    }
}
