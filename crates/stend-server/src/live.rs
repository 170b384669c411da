//! A run as it is measured: the repeats that its process has put into the store, in their order.
//!
//! The store is the log of events: the number of an event is the number of its repeat. So a viewer who was away goes on behind the last repeat that it saw,
//! and all viewers of a run cost one look at the store.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use serde::Serialize;
use stend_model::plan::{Phase, Plan};
use stend_model::run::{Outcome, Repeat, Run, RunState};
use stend_report::numbers::in_language;
use stend_report::phrase::Phrase;
use stend_report::words;
use stend_store::Store;
use tokio::sync::watch;

use crate::error::ServerError;

/// How often a run that somebody watches is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// So many runs are watched at once: each takes a thread.
const MOST_WATCHED: usize = 200;

/// What viewers of a run are told.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// Each repeat, with its number, as it is sent.
    pub(crate) repeats: Vec<(u32, Arc<str>)>,
    /// How far the run is, as it is sent; nothing if it has not begun.
    pub(crate) progress: Option<Arc<str>>,
    /// Whether nothing comes any more.
    pub(crate) ended: bool,
}

/// How far a run is.
#[derive(Debug, PartialEq, Serialize)]
struct Progress {
    state: RunState,
    repeats: usize,
    valid: usize,
    /// How many repeats it takes if all are valid.
    planned: usize,
}

/// A repeat as viewers get it.
#[derive(Serialize)]
struct Told<'a> {
    sequence: u32,
    scenario: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    side: Option<&'a str>,
    phase: Phase,
    number: u32,
    outcome: &'static str,
    /// Why it does not count: in each language, or once where all say the same.
    why: Phrase,
    /// Its main figure with its unit.
    value: Phrase,
}

/// The runs that are watched.
pub(crate) struct Streams {
    store: PathBuf,
    watched: Mutex<BTreeMap<String, Weak<watch::Sender<Seen>>>>,
}

/// A viewer's end of a stream. The look-out ends with the last of them.
pub(crate) struct View {
    seen: watch::Receiver<Seen>,
    _alive: Arc<watch::Sender<Seen>>,
}

impl View {
    /// The repeats behind this one, how far the run is, and whether nothing comes any more.
    pub(crate) fn news(&mut self, after: Option<u32>) -> Seen {
        let seen = self.seen.borrow_and_update();
        let from = seen.repeats.partition_point(|(sequence, _)| after.is_some_and(|after| *sequence <= after));
        Seen { repeats: seen.repeats[from..].to_vec(), progress: seen.progress.clone(), ended: seen.ended }
    }

    /// Waits for more; whether more can come.
    pub(crate) async fn changed(&mut self) -> bool {
        self.seen.changed().await.is_ok()
    }
}

impl Streams {
    pub(crate) fn new(store: PathBuf) -> Self {
        Self { store, watched: Mutex::default() }
    }

    /// Watches a run, as one of all who do; nothing if too many runs are watched.
    pub(crate) fn watch(&self, run: &str) -> Option<View> {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|_, sender| sender.strong_count() > 0);
        if let Some(sender) = watched.get(run).and_then(Weak::upgrade) {
            return Some(View { seen: sender.subscribe(), _alive: sender });
        }
        if watched.len() >= MOST_WATCHED {
            return None;
        }
        let sender = Arc::new(watch::channel(Seen::default()).0);
        watched.insert(run.to_owned(), Arc::downgrade(&sender));
        let (store, run, weak) = (self.store.clone(), run.to_owned(), Arc::downgrade(&sender));
        std::thread::spawn(move || look_out(&store, &run, &weak));
        Some(View { seen: sender.subscribe(), _alive: sender })
    }
}

/// Looks at the store until nobody watches any more, or nothing more can come.
fn look_out(directory: &Path, run: &str, viewers: &Weak<watch::Sender<Seen>>) {
    let mut looker = None;
    while let Some(sender) = viewers.upgrade() {
        // A store that cannot be read now may be read later.
        if let Ok(Some(news)) = look(directory, run, &mut looker) {
            let ended = news.ended;
            sender.send_modify(|seen| {
                seen.repeats.extend(news.repeats);
                (seen.progress, seen.ended) = (news.progress, ended);
            });
            if ended {
                return;
            }
        }
        drop(sender);
        std::thread::sleep(LOOK);
    }
}

/// The repeats of a run that are stored behind this one, as they are sent; none of one that has not begun.
pub(crate) fn stored(directory: &Path, run: &str, after: Option<u32>) -> Result<Vec<(u32, Arc<str>)>, ServerError> {
    let store = Store::open_to_read(directory)?;
    if !store.has_run(run)? {
        return Ok(Vec::new());
    }
    let (of, new) = (store.run(run)?, store.repeats_after(run, after)?);
    Ok(new.iter().map(|repeat| (repeat.sequence, told(&of, repeat))).collect())
}

/// What is remembered between two looks.
struct Looker {
    store: Store,
    version: i64,
    run: Run,
    last: Option<u32>,
    valid: usize,
    repeats: usize,
    planned: usize,
}

/// What is new since the last look; nothing if nothing is.
fn look(directory: &Path, run: &str, looker: &mut Option<Looker>) -> Result<Option<Seen>, ServerError> {
    let is_first = looker.is_none();
    if is_first {
        let store = Store::open_to_read(directory)?;
        if !store.has_run(run)? {
            return Ok(None);
        }
        let (version, run) = (store.version()?, store.run(run)?);
        let planned = planned(&run);
        *looker = Some(Looker { store, version, run, last: None, valid: 0, repeats: 0, planned });
    }
    let Some(looker) = looker else { return Ok(None) };
    let version = looker.store.version()?;
    if version == looker.version && !is_first {
        return Ok(None);
    }
    // Its state first: what was stored before it was finished is found behind that.
    let state = looker.store.run(run)?.state;
    let new = looker.store.repeats_after(run, looker.last)?;
    looker.version = version;
    looker.last = new.last().map(|repeat| repeat.sequence).or(looker.last);
    looker.repeats += new.len();
    looker.valid += new.iter().filter(|repeat| repeat.outcome == Outcome::Valid).count();
    let progress = Progress { state, repeats: looker.repeats, valid: looker.valid, planned: looker.planned };
    let repeats = new.iter().map(|repeat| (repeat.sequence, told(&looker.run, repeat))).collect();
    Ok(Some(Seen { repeats, progress: Some(json(&progress)), ended: state == RunState::Finished }))
}

/// How many repeats a run takes if all are valid.
pub(crate) fn planned(run: &Run) -> usize {
    let is_skipped = |place: usize| {
        let name = &run.suite.scenarios[place].name;
        run.skipped.iter().any(|skipped| skipped.scenario == *name)
    };
    let plan = if run.sides.is_empty() { Plan::new } else { Plan::in_pairs };
    plan(&run.suite, run.seed, is_skipped).steps().len()
}

fn told(run: &Run, repeat: &Repeat) -> Arc<str> {
    let scenario = run.suite.scenarios.get(repeat.scenario);
    let figure = scenario.and_then(|scenario| {
        let metric = scenario.metrics.first()?;
        Some(metric.unit.show(repeat.value(metric)?))
    });
    json(&Told {
        sequence: repeat.sequence,
        scenario: scenario.map_or("", |scenario| &scenario.name),
        side: repeat.side.and_then(|side| run.sides.get(side)).map(|side| side.label.as_str()),
        phase: repeat.phase,
        number: repeat.number,
        outcome: repeat.outcome.word(),
        why: words::causes(repeat.outcome.causes()),
        value: Phrase::of(|language| in_language(figure.as_deref().unwrap_or_default(), language)),
    })
}

fn json(value: &impl Serialize) -> Arc<str> {
    serde_json::to_string(value).expect("it can be written").into()
}
