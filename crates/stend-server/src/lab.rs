//! What all parts of the server share.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use axum::http::StatusCode;
use rustix::process::Pid;
use stend_fleet::{Changed, Reading};
use stend_model::record::Summary;
use stend_model::run::HERE;
use stend_model::weight::Known;
use stend_stand::hosts::Hosts;
use stend_store::Store;
use tokio::sync::{Semaphore, watch};

use crate::agent::Through;
use crate::database::{Database, Edit, Records};
use crate::error::ServerError;
use crate::fleet::{Fleet, Held};
use crate::guard::Tries;
use crate::journal::Kind;
use crate::live::Streams;
use crate::order::Order;
use crate::pages::migration::Leaving;
use crate::pages::rigs::Acts;
use crate::pages::samples::Sampled;
use crate::pages::screen::Screens;
use crate::problem::Problem;
use crate::work;

/// The runs, and the store's version at which they were read.
struct Listed {
    store: Store,
    version: i64,
    runs: Arc<Vec<Summary>>,
}

/// So many files may be sent at once.
pub(crate) const UPLOADS: usize = 4;

/// The thread that hashes.
fn hasher() -> std::sync::mpsc::Sender<Box<dyn FnOnce() + Send>> {
    let (sender, receiver) = std::sync::mpsc::channel::<Box<dyn FnOnce() + Send>>();
    std::thread::spawn(move || receiver.into_iter().for_each(|act| act()));
    sender
}

/// The labels of a machine, each as `NAME=VALUE`.
pub(crate) type Labels = BTreeSet<String>;

/// A machine that can be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Machine {
    pub(crate) name: String,
    pub(crate) labels: Labels,
}

impl Machine {
    /// Whether this is its name, or one of its labels.
    pub(crate) fn is_meant_by(&self, wanted: &str) -> bool {
        self.name == wanted || self.labels.contains(wanted)
    }
}

/// The lab that is served.
pub(crate) struct Lab {
    /// The store's directory.
    pub(crate) store: PathBuf,
    /// The program that measures.
    pub(crate) program: PathBuf,
    pub(crate) database: Database,
    /// This node among others, if there are others.
    pub(crate) fleet: Option<Arc<Fleet>>,
    /// Whether this node begins nothing more.
    pub(crate) is_draining: AtomicBool,
    /// What an agent asks nodes by.
    pub(crate) through: Option<Arc<Through>>,
    /// Counts changes.
    change: watch::Sender<u64>,
    /// Tells that the journal has grown.
    noted: watch::Sender<()>,
    runs: Mutex<Option<Listed>>,
    /// What this node has in its archive, once it has been looked through.
    pub(crate) archived: Mutex<Option<Held>>,
    /// The runs of agents that this node's store follows.
    pub(crate) followed: Mutex<BTreeSet<String>>,
    /// The processes that this server has started, by their runs.
    processes: Mutex<BTreeMap<String, Pid>>,
    /// The jobs that it sees to, by their numbers, and whether their processes were told to stop.
    attended: Mutex<BTreeMap<i64, bool>>,
    pub(crate) streams: Streams,
    pub(crate) screens: Arc<Screens>,
    pub(crate) acts: Acts,
    pub(crate) leaving: Leaving,
    /// What the program says of its suites, which stay the same.
    suites: OnceLock<Vec<u8>>,
    /// What was drawn last of a run's samples.
    pub(crate) sampled: Mutex<Option<Sampled>>,
    /// Whether browsers reach it by TLS alone.
    pub(crate) is_secure: bool,
    pub(crate) tries: Mutex<Tries>,
    /// A place for each command that only looks, and for each that does something: who looks much keeps nobody from starting a run.
    pub(crate) looking: Semaphore,
    pub(crate) doing: Semaphore,
    /// A place for each file that is being sent.
    pub(crate) uploads: Semaphore,
    /// Where passwords are hashed: in one thread, whose memory is used again.
    hasher: std::sync::mpsc::Sender<Box<dyn FnOnce() + Send>>,
    /// Held while a password is checked.
    pub(crate) one_sign_in: tokio::sync::Mutex<()>,
    /// Held while a secret is looked up that this node has not heard of.
    one_look_up: tokio::sync::Mutex<()>,
    /// Held while a file is imported.
    pub(crate) one_import: tokio::sync::Mutex<()>,
}

impl Lab {
    pub(crate) fn new(
        store: PathBuf,
        program: PathBuf,
        database: Database,
        fleet: Option<Fleet>,
        is_secure: bool,
    ) -> Self {
        let (change, noted) = (watch::channel(0).0, watch::channel(()).0);
        let (of_change, of_noted) = (change.clone(), noted.clone());
        database.0.follow(move |changed| {
            let is_noted = match changed {
                Changed::Keys(keys) if keys.is_empty() => return,
                Changed::Keys(keys) => keys.iter().any(|key| key.starts_with("journal/")),
                Changed::All => true,
            };
            if is_noted {
                of_noted.send_replace(());
            }
            of_change.send_modify(|count| *count += 1);
        });
        Self {
            streams: Streams::new(store.clone()),
            screens: Arc::default(),
            acts: Acts::default(),
            leaving: Leaving::default(),
            store,
            program,
            database,
            fleet: fleet.map(Arc::new),
            is_draining: AtomicBool::new(false),
            through: None,
            change,
            noted,
            runs: Mutex::default(),
            archived: Mutex::default(),
            followed: Mutex::default(),
            processes: Mutex::default(),
            attended: Mutex::default(),
            suites: OnceLock::new(),
            sampled: Mutex::default(),
            is_secure,
            tries: Mutex::new(Tries::new()),
            looking: Semaphore::new(work::LOOKING),
            doing: Semaphore::new(work::DOING),
            uploads: Semaphore::new(UPLOADS),
            hasher: hasher(),
            one_sign_in: tokio::sync::Mutex::default(),
            one_look_up: tokio::sync::Mutex::default(),
            one_import: tokio::sync::Mutex::default(),
        }
    }

    /// Why this node does not hear of the fleet, if it does not.
    pub(crate) fn cut_off(&self) -> Option<String> {
        let fleet = self.fleet.as_ref()?;
        let trouble = self.database.0.trouble().map(|(trouble, _)| trouble.to_string());
        let silent = || format!("nothing was heard for {} s", fleet.silence().as_secs());
        trouble.or_else(|| fleet.is_fenced().then(silent))
    }

    /// What the machine of this node is called, and the node.
    pub(crate) fn here(&self) -> &str {
        self.fleet.as_ref().map_or(HERE, |fleet| &fleet.node)
    }

    /// What a machine is called by commands that run here.
    pub(crate) fn name_here<'a>(&self, machine: &'a str) -> &'a str {
        if machine == self.here() { HERE } else { machine }
    }

    /// The jobs that this server sees to, by their numbers, and whether their processes were told to stop.
    pub(crate) fn attended(&self) -> MutexGuard<'_, BTreeMap<i64, bool>> {
        self.attended.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn followed(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn processes(&self) -> MutexGuard<'_, BTreeMap<String, Pid>> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is kept beside the store, as it is now. Nothing changes while this is held, so it is held for a moment.
    pub(crate) fn known(&self) -> Reading<'_, Records> {
        self.database.known()
    }

    /// Makes changes to it, all or none, on a thread that may wait. They are drawn up again where others come before.
    pub(crate) async fn change<T: Send + 'static>(
        self: &Arc<Self>,
        draw_up: impl Fn(&mut Edit) -> Result<T, ServerError> + Send + 'static,
    ) -> Result<T, ServerError> {
        let lab = Arc::clone(self);
        let done = tokio::task::spawn_blocking(move || lab.database.change(draw_up)).await;
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }

    /// Waits until what a key has by now is known here, where there is an answer.
    pub(crate) async fn refresh(self: &Arc<Self>, key: String) {
        let lab = Arc::clone(self);
        let _ = tokio::task::spawn_blocking(move || lab.database.0.refresh(&key)).await;
    }

    /// Who has a secret of this digest, also where a command or another node has given it out so recently that this node has not heard of it.
    pub(crate) async fn of_secret<T>(
        self: &Arc<Self>,
        digest: &str,
        known: impl Fn(&Records) -> Option<T>,
    ) -> Option<T> {
        let who = known(&self.known());
        if who.is_some() || self.fleet.is_none() || self.cut_off().is_some() {
            return who;
        }
        // One at a time: anybody may send any number of wrong ones.
        let _one = self.one_look_up.lock().await;
        self.refresh(format!("secret/{digest}")).await;
        known(&self.known())
    }

    /// Adds an entry to the journal.
    pub(crate) async fn note(
        self: &Arc<Self>,
        kind: Kind,
        who: Option<String>,
        about: String,
        detail: String,
    ) -> Result<(), ServerError> {
        let note = move |edit: &mut Edit| {
            edit.note(kind, who.as_deref(), &about, &detail);
            Ok(())
        };
        self.change(note).await
    }

    /// The texts of an order's files.
    pub(crate) fn files_of(&self, order: &Order) -> Result<BTreeMap<String, String>, ServerError> {
        self.database.files_of(order)
    }

    /// Does what hashes a password.
    pub(crate) async fn hash<T: Send + 'static>(&self, act: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, done) = tokio::sync::oneshot::channel();
        let act = move || drop(sender.send(act()));
        self.hasher.send(Box::new(act)).expect("the thread waits as long as there is a lab");
        done.await.expect("hashing does not panic")
    }

    /// All runs, oldest first; read again only if the store has changed.
    pub(crate) fn runs(&self) -> Result<Arc<Vec<Summary>>, ServerError> {
        let mut kept = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(listed) = &mut *kept {
            let now = listed.store.version()?;
            if now != listed.version {
                (listed.version, listed.runs) = (now, Arc::new(listed.store.list()?));
            }
            return Ok(Arc::clone(&listed.runs));
        }
        // With the lock held: whoever comes meanwhile finds what this one reads.
        let store = Store::open_to_read(&self.store)?;
        let version = store.version()?;
        let runs = Arc::new(store.list()?);
        // A store that is not there yet is no store to keep open.
        if store.is_there() {
            *kept = Some(Listed { store, version, runs: Arc::clone(&runs) });
        }
        Ok(runs)
    }

    /// The machines that this server reaches: its own first, and those that `stend hosts` lists. An agent has its own alone, without labels.
    pub(crate) fn reached(&self) -> Result<Vec<Machine>, ServerError> {
        if self.through.is_some() {
            return Ok(vec![self.own_machine(Labels::new())]);
        }
        let hosts = Hosts::read(&self.store).map_err(|error| ServerError::Refused(error.to_string()))?;
        let labels = |known: &Known| known.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let own = hosts.find(HERE).or_else(|| hosts.find(self.here()));
        let mut machines = vec![self.own_machine(own.map(labels).unwrap_or_default())];
        let others = hosts.all().iter().filter(|host| host.name != HERE && host.name != self.here());
        machines.extend(others.map(|host| {
            // For a label one is not taken that nothing says how to reach, nor this one by another name.
            let is_reached = host.destination.as_ref().is_some_and(|destination| destination != HERE);
            let labels = if is_reached { labels(host) } else { Labels::new() };
            Machine { name: host.name.clone(), labels }
        }));
        Ok(machines)
    }

    /// The machines that this server reaches now: its own alone while the file of hosts cannot be read.
    pub(crate) fn reached_now(&self) -> Vec<Machine> {
        self.reached().unwrap_or_else(|_| vec![self.own_machine(Labels::new())])
    }

    fn own_machine(&self, labels: Labels) -> Machine {
        Machine { name: self.here().to_owned(), labels }
    }

    /// The machines that can be measured: those that this server reaches, and those that other nodes do.
    pub(crate) async fn machines(self: &Arc<Self>) -> Result<Vec<Machine>, Problem> {
        let lab = Arc::clone(self);
        let read = tokio::task::spawn_blocking(move || lab.reached()).await;
        let unreadable = |said: String| Problem::new(StatusCode::SERVICE_UNAVAILABLE, said);
        let read = read.map_err(|panic| unreadable(panic.to_string()))?;
        let mut machines = read.map_err(|error| unreadable(error.to_string()))?;
        let known = self.known();
        for machine in known.nodes.iter().flat_map(|(_, node)| node.machines()) {
            match machines.iter_mut().find(|one| one.name == machine.name) {
                Some(one) => one.labels.extend(machine.labels),
                None => machines.push(machine),
            }
        }
        Ok(machines)
    }

    /// The suites, as `stend suites --json` has them.
    pub(crate) async fn suites(self: &Arc<Self>) -> Result<Vec<u8>, Problem> {
        if let Some(suites) = self.suites.get() {
            return Ok(suites.clone());
        }
        let suites = work::ask(self, vec!["suites".into(), "--json".into()]).await?;
        Ok(self.suites.get_or_init(|| suites).clone())
    }

    pub(crate) fn logs(&self) -> PathBuf {
        self.store.join("server-logs")
    }

    pub(crate) fn command(&self, words: &[String]) -> Command {
        let mut command = work::command(&self.program, &self.store);
        command.args(words);
        command
    }

    /// The text of a file that was sent.
    pub(crate) fn file(&self, digest: &str) -> Result<Option<String>, ServerError> {
        self.database.file(digest)
    }

    /// Tells whoever waits that something has changed that is not kept.
    pub(crate) fn changed(&self) {
        self.change.send_modify(|count| *count += 1);
    }

    pub(crate) fn noted(&self) -> watch::Receiver<()> {
        self.noted.subscribe()
    }

    pub(crate) fn changes(&self) -> watch::Receiver<u64> {
        self.change.subscribe()
    }
}
