//! A node that reaches no etcd and that nobody reaches: it dials out to a node of the fleet, by which it sees the jobs of its own machine.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stend_fleet::{
    Agreement, Change, Committed, Condition, Entry, FOLLOWED, Listing, Mirror, News, Revision, Rotation, Told, Trouble,
    Watch,
};
use stend_model::identity::digest_of;
use tokio::signal::unix::{SignalKind, signal};
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body, Error};

use crate::database::{Database, Records};
use crate::error::ServerError;
use crate::fleet::{self, Fleet, NodeEntry};
use crate::gate::{AGENT, ALIVE, Asked, Done, Myself, NotDone, Place, View};
use crate::invitation::{self, Invitation, Invited, Taker};
use crate::joined;
use crate::journal::Kind;
use crate::lab::Lab;
use crate::peers::{self, Wanted};
use crate::settings::own_file;
use crate::work;

/// Where an agent keeps what it shows and where nodes are, in its store's directory.
const FILE: &str = "agent.json";

/// No answer is longer.
const LONGEST: u64 = 256 << 20;

/// A node that is silent for so long is left for the next one.
const SILENCE: Duration = ALIVE.saturating_mul(3);

/// How soon nodes are asked again where none answers.
const RETRIED: Duration = Duration::from_secs(2);

/// How often is looked whether the agent is one still.
const LOOK: Duration = Duration::from_millis(500);

/// What an agent keeps of its fleet.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kept {
    name: String,
    secret: String,
    lease_ms: u64,
    nodes: Vec<Place>,
    /// The SHA-256 of the invitation: a command that is begun again still has it among its words.
    invitation: String,
}

impl Kept {
    fn read(store: &Path) -> Result<Option<Self>, ServerError> {
        let path = store.join(FILE);
        let refused = |why: String| ServerError::Refused(format!("{}: {why}", path.display()));
        let Some((text, is_private)) = own_file(&path).map_err(refused)? else { return Ok(None) };
        if !is_private {
            return Err(refused("it holds a secret, and others may read it; take that from them: chmod 600".into()));
        }
        serde_json::from_str(&text).map(Some).map_err(|error| refused(error.to_string()))
    }

    fn write(&self, store: &Path) -> Result<(), ServerError> {
        let text = serde_json::to_string_pretty(self).expect("it can be written");
        invitation::write_private(&store.join(FILE), &text).map_err(ServerError::system(FILE))
    }
}

/// What an agent is started with.
#[derive(Debug)]
pub struct Started {
    /// The store's directory, which is there.
    pub store: PathBuf,
    /// The program that measures.
    pub program: PathBuf,
    /// What makes this machine an agent; one that is needs none.
    pub invitation: Option<String>,
}

/// Serves as the agent of this machine until it is told to end, by Ctrl-C or SIGTERM, or is no agent any more. `told` is given its name and the node
/// that it asks, or why no node answers yet, and the same again when that is another one.
///
/// # Errors
/// The invitation is none, no node answers, the store has another server, or somebody has revoked the agent.
pub fn serve_agent(started: Started, told: impl Fn(&str, Result<&str, &str>)) -> Result<(), ServerError> {
    let _lock = crate::only_server(&started.store)?;
    let store = started.store.canonicalize().map_err(ServerError::system("the store"))?;
    joined::Joined::check_free(&store)?;
    drop(stend_store::Store::open_to_read(&store)?);
    let kept = match (&started.invitation, Kept::read(&store)?) {
        (Some(invitation), Some(kept)) if kept.invitation == digest_of(invitation.as_bytes()) => kept,
        (Some(invitation), _) => invited(&store, invitation)?,
        (None, Some(kept)) => kept,
        (None, None) => {
            return Err(ServerError::Refused(
                "this machine is no agent yet: `stend fleet invite --agent NAME` on a node prints what to give here"
                    .into(),
            ));
        }
    };
    let (name, lease) = (kept.name.clone(), Duration::from_millis(kept.lease_ms));
    let through = Arc::new(Through::new(kept, &store));
    let agreement: Arc<dyn Agreement> = Arc::<Through>::clone(&through);
    let database = Database(Arc::new(opened(&agreement, &name, |why| told(&name, Err(why)))?));
    let fleet = Fleet::begin(&agreement, &name, lease, &joined::home(&store))?;
    let note = |kind, detail: &'static str| {
        database.change(|edit| {
            edit.note(kind, None, &name, detail);
            Ok(())
        })
    };
    note(Kind::ServerStarted, env!("CARGO_PKG_VERSION"))?;
    let runtime = crate::runtime()?;
    let mut lab = Lab::new(store, started.program, database.clone(), Some(fleet), false);
    lab.through = Some(Arc::clone(&through));
    let lab = Arc::new(lab);
    fleet::start(&lab, NodeEntry::here(String::new(), None));
    let mut asked = through.node();
    told(&name, Ok(&asked));
    let ended = runtime.block_on(async {
        let failed = ServerError::system("signals");
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt()).map_err(&failed)?, signal(SignalKind::terminate()).map_err(&failed)?);
        tokio::spawn(work::dispatch(Arc::clone(&lab)));
        let revoked = async {
            while !through.is_revoked.load(Ordering::SeqCst) {
                tokio::time::sleep(LOOK).await;
                let now = through.node();
                if now != asked {
                    told(&name, Ok(&now));
                    asked = now;
                }
            }
        };
        tokio::select! {
            () = revoked => {
                let runs: Vec<String> = lab.processes().keys().cloned().collect();
                runs.iter().for_each(|run| {
                    work::stop(&lab, run);
                });
                Err(ServerError::Refused(format!("{name} is no agent of the fleet any more: somebody has revoked it")))
            }
            _ = interrupt.recv() => Ok(()),
            _ = terminate.recv() => Ok(()),
        }
    });
    let noted = ended.and_then(|()| note(Kind::ServerEnded, ""));
    // Threads that wait for a run would hold the runtime until its end.
    runtime.shutdown_background();
    noted
}

/// What the fleet agrees on about an agent, as soon as a node answers.
fn opened(agreement: &Arc<dyn Agreement>, name: &str, waiting: impl Fn(&str)) -> Result<Mirror<Records>, ServerError> {
    let mut is_told = false;
    loop {
        match Mirror::open(Arc::clone(agreement), &format!("{name}/agent")) {
            Err(trouble @ (Trouble::Unreached(_) | Trouble::Unknown(_))) => {
                if !is_told {
                    waiting(&trouble.to_string());
                    is_told = true;
                }
                std::thread::sleep(RETRIED);
            }
            opened => return Ok(opened?),
        }
    }
}

/// Makes this machine an agent.
fn invited(store: &Path, text: &str) -> Result<Kept, ServerError> {
    let invitation: Invitation = text.parse()?;
    match invitation.take(&Taker::default())? {
        (Invited::Agent { name, secret, lease_ms }, node) => {
            let invitation = digest_of(text.as_bytes());
            let kept = Kept { name, secret, lease_ms, nodes: vec![node], invitation };
            kept.write(store)?;
            Ok(kept)
        }
        (Invited::Node { .. }, _) => {
            Err(ServerError::Refused("this invites a node: `stend fleet join` takes it, and it is used up now".into()))
        }
    }
}

/// What the fleet agrees on, as far as it is about one machine, by one of the nodes.
pub(crate) struct Through {
    store: PathBuf,
    /// Where nodes are asked.
    urls: Rotation,
    nodes: Mutex<Nodes>,
    /// Where the watch that there is takes what the agent sees after its own change.
    feed: Mutex<Option<Sender<Option<View>>>>,
    /// What was listed last: a watch goes on from there.
    listed: Mutex<Vec<Entry>>,
    /// The revision of the last own change, or the last listing.
    newest: AtomicI64,
    is_revoked: AtomicBool,
}

/// How they are asked.
struct Nodes {
    kept: Kept,
    /// What asks the one at this address.
    link: Option<(String, Agent)>,
    /// What the node is called that was asked last.
    node: String,
    /// The nodes that have said since the last answer that this is no agent.
    refused_by: BTreeSet<String>,
}

impl Through {
    fn new(kept: Kept, store: &Path) -> Self {
        Self {
            store: store.to_owned(),
            urls: Rotation::new(urls(&kept.nodes)),
            nodes: Mutex::new(Nodes { kept, link: None, node: String::new(), refused_by: BTreeSet::new() }),
            feed: Mutex::default(),
            listed: Mutex::default(),
            newest: AtomicI64::new(0),
            is_revoked: AtomicBool::new(false),
        }
    }

    fn nodes(&self) -> MutexGuard<'_, Nodes> {
        locked(&self.nodes)
    }

    /// The node that is asked.
    fn node(&self) -> String {
        self.nodes().node.clone()
    }

    /// What asks a node, and what is shown there.
    fn link(&self, url: &str) -> Result<(Agent, String), Trouble> {
        let mut nodes = self.nodes();
        let bearer = format!("Bearer {}", nodes.kept.secret);
        if let Some((_, link)) = nodes.link.as_ref().filter(|(to, _)| to == url) {
            return Ok((link.clone(), bearer));
        }
        let place = nodes.kept.nodes.iter().find(|place| place.url == url);
        let place = place.ok_or_else(|| Trouble::Unreached(format!("{url}: no node is there any more")))?;
        let link = peers::is_here(url).and_then(|_| peers::link(place.certificate.as_deref(), SILENCE));
        let link = link.map_err(|error| Trouble::Unreached(error.to_string()))?;
        nodes.link = Some((url.to_owned(), link.clone()));
        Ok((link, bearer))
    }

    /// Asks one node after the other until one answers, each by a new connection if the last one failed.
    fn each<T>(
        &self,
        may_repeat: bool,
        ask: impl Fn(&Agent, &str, &str) -> Result<Response<Body>, Error>,
        take: impl Fn(&str, Response<Body>) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        self.urls.ask(may_repeat, |url| {
            let (link, bearer) = self.link(url)?;
            let answer = ask(&link, url, &bearer).map_err(|error| Trouble::of_request(url, &error));
            answer.and_then(|answer| take(url, answer)).inspect_err(|_| self.nodes().link = None)
        })
    }

    fn ask<T: DeserializeOwned>(
        &self,
        may_repeat: bool,
        ask: impl Fn(&Agent, &str, &str) -> Result<Response<Body>, Error>,
    ) -> Result<T, Trouble> {
        self.each(may_repeat, ask, |url, answer| self.read(url, answer))
    }

    /// A node says that this is no agent. One that has left the fleet, or is behind, may say so: it is none when all have.
    fn refused(&self, url: &str) -> Trouble {
        let mut nodes = self.nodes();
        nodes.refused_by.insert(url.to_owned());
        if !nodes.kept.nodes.iter().all(|place| nodes.refused_by.contains(&place.url)) {
            return Trouble::Unreached(format!("{url} does not have this agent"));
        }
        self.is_revoked.store(true, Ordering::SeqCst);
        Trouble::Refused("this is no agent of the fleet any more".into())
    }

    fn read<T: DeserializeOwned>(&self, url: &str, mut response: Response<Body>) -> Result<T, Trouble> {
        let status = response.status();
        let body = response.body_mut().with_config().limit(LONGEST).read_to_vec();
        let body = body.map_err(|error| Trouble::Unknown(format!("{url}: {error}")))?;
        if status.is_success() {
            self.nodes().refused_by.clear();
            let strange = |error| Trouble::Refused(format!("{url} answers something else than a node does: {error}"));
            return serde_json::from_slice(&body).map_err(strange);
        }
        if status == StatusCode::UNAUTHORIZED {
            return Err(self.refused(url));
        }
        let said = serde_json::from_slice::<NotDone>(&body);
        let (detail, is_open) = said.map_or((status.to_string(), true), |said| (said.detail, said.is_open));
        let said = format!("{url}: {detail}");
        Err(match (status.is_server_error(), is_open) {
            (false, _) => Trouble::Refused(said),
            (true, true) => Trouble::Unknown(said),
            (true, false) => Trouble::Unreached(said),
        })
    }

    /// What the agent sees at this moment, or some entries.
    fn view(&self, query: Option<(&str, &str)>) -> Result<View, Trouble> {
        self.ask(true, |link, url, bearer| {
            let mut request = link.get(format!("{url}/api/v1/agent/entries")).header("authorization", bearer);
            if let Some((name, value)) = query {
                request = request.query(name, value);
            }
            request.call()
        })
    }

    /// Sends a finished run for the archive, and gives the node that has it now.
    pub(crate) fn send(&self, file: &Path, sha256: &str) -> Result<String, ServerError> {
        Ok(self.ask(true, |link, url, bearer| {
            let request = link.post(format!("{url}/api/v1/agent/archive/{sha256}")).header("authorization", bearer);
            request.send(File::open(file)?)
        })?)
    }

    /// Takes a file that the node has which is asked.
    pub(crate) fn fetch(&self, wanted: &Wanted, to: &Path) -> Result<(), ServerError> {
        let answer = self.each(true, get(wanted.path.trim_start_matches("/api/v1/")), |url, answer| {
            let status = answer.status();
            let missing = || Trouble::Refused(format!("{url} has no {}: {status}", wanted.sha256));
            if status.is_success() { Ok(answer) } else { Err(missing()) }
        })?;
        wanted.keep(answer, to)
    }

    /// Takes over where nodes are from what they say, for the next start.
    fn learn(&self, view: &View) {
        let key = format!("{FOLLOWED}{AGENT}");
        let myself = view.entries.iter().find(|entry| entry.key == key);
        let Some(myself) = myself.and_then(|entry| serde_json::from_str::<Myself>(&entry.value).ok()) else { return };
        let mut nodes = self.nodes();
        nodes.node = myself.node;
        let places: Vec<Place> = myself.nodes.into_values().collect();
        if places.is_empty() || places == nodes.kept.nodes {
            return;
        }
        self.urls.set(urls(&places));
        // Perhaps with another certificate.
        nodes.link = None;
        nodes.kept.nodes = places;
        // What is not kept is learnt again.
        let _ = nodes.kept.write(&self.store);
    }
}

/// Asks for what a node has for agents.
fn get(path: &str) -> impl Fn(&Agent, &str, &str) -> Result<Response<Body>, Error> {
    move |link, url, bearer| link.get(format!("{url}/api/v1/agent/{path}")).header("authorization", bearer).call()
}

fn urls(places: &[Place]) -> Vec<String> {
    places.iter().map(|place| place.url.clone()).collect()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Agreement for Through {
    fn get(&self, key: &str) -> Result<Option<Entry>, Trouble> {
        Ok(self.view(Some(("key", key)))?.entries.pop())
    }

    fn list(&self, prefix: &str) -> Result<Listing, Trouble> {
        let is_all = prefix == FOLLOWED;
        let view = self.view((!is_all).then_some(("prefix", prefix)))?;
        if is_all {
            // One that is behind would say that the jobs of this agent are nobody's.
            if view.revision < self.newest.fetch_max(view.revision, Ordering::SeqCst) {
                let url = self.urls.now()?;
                self.urls.turn_from(&url);
                return Err(Trouble::Unreached(format!("{url} is behind")));
            }
            self.learn(&view);
            locked(&self.listed).clone_from(&view.entries);
        }
        Ok(Listing { revision: view.revision, entries: view.entries })
    }

    fn commit(&self, conditions: &[Condition], changes: &[Change]) -> Result<Committed, Trouble> {
        let condition = |condition: &Condition| match condition {
            Condition::Unchanged(key, revision) => (key.clone(), Some(*revision)),
            Condition::Absent(key) => (key.clone(), None),
        };
        let change = |change: &Change| match change {
            Change::Put(key, value) => (key.clone(), Some(value.clone())),
            Change::Remove(key) => (key.clone(), None),
        };
        let asked = Asked {
            conditions: conditions.iter().map(condition).collect(),
            changes: changes.iter().map(change).collect(),
        };
        let body = serde_json::to_vec(&asked).expect("it can be written");
        let done: Done = self.ask(false, |link, url, bearer| {
            let request = link.post(format!("{url}/api/v1/agent/changes")).header("authorization", bearer);
            request.send(&body[..])
        })?;
        // A node hears of what is followed, and of nothing else.
        if asked.changes.iter().any(|(key, _)| key.starts_with(FOLLOWED)) {
            self.newest.fetch_max(done.revision.unwrap_or_default(), Ordering::SeqCst);
        }
        self.learn(&done.view);
        if let Some(feed) = &*locked(&self.feed) {
            // Nobody may watch any more.
            let _ = feed.send(Some(done.view));
        }
        Ok(done.revision.map_or(Committed::Refused, Committed::At))
    }

    fn watch(&self, prefix: &str, behind: Revision) -> Result<Box<dyn Watch>, Trouble> {
        if prefix != FOLLOWED {
            return Err(Trouble::Refused("an agent follows what is about its machine alone".into()));
        }
        let (url, response) = self.each(true, get("view"), |url, response| match response.status() {
            status if status.is_success() => Ok((url.to_owned(), response)),
            StatusCode::UNAUTHORIZED => Err(self.refused(url)),
            status => Err(Trouble::Unreached(format!("{url}: {status}"))),
        })?;
        let (sender, views) = channel();
        *locked(&self.feed) = Some(sender.clone());
        // Lines as a thread reads them: the connection may be silent for long.
        std::thread::spawn(move || {
            let mut reader = BufReader::new(response.into_body().into_reader());
            loop {
                let mut line = Vec::new();
                let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line);
                if !read.is_ok_and(|length| length > 0) {
                    break;
                }
                // An empty one is a sign of life.
                let Ok(view) = serde_json::from_slice(&line) else { continue };
                if sender.send(Some(view)).is_err() {
                    return;
                }
            }
            let _ = sender.send(None);
        });
        let known = by_key(std::mem::take(&mut *locked(&self.listed)));
        Ok(Box::new(Watching { views, known, behind, url }))
    }
}

fn by_key(entries: Vec<Entry>) -> BTreeMap<String, Entry> {
    entries.into_iter().map(|entry| (entry.key.clone(), entry)).collect()
}

/// Finds out what is new in what an agent sees.
struct Watching {
    /// Nothing when no more of them come.
    views: Receiver<Option<View>>,
    known: BTreeMap<String, Entry>,
    behind: Revision,
    url: String,
}

impl Watch for Watching {
    fn next(&mut self, wait: Duration) -> Result<Told, Trouble> {
        let view = match self.views.recv_timeout(wait) {
            Ok(Some(view)) => view,
            Err(RecvTimeoutError::Timeout) => return Ok(Told { news: Vec::new(), revision: self.behind }),
            Ok(None) | Err(RecvTimeoutError::Disconnected) => {
                return Err(Trouble::Unreached(format!("{} is heard no more", self.url)));
            }
        };
        // What was seen after an own change comes before what was sent meanwhile.
        if view.revision < self.behind {
            return Ok(Told { news: Vec::new(), revision: self.behind });
        }
        self.behind = view.revision;
        let now = by_key(view.entries);
        let gone = self.known.keys().filter(|key| !now.contains_key(*key));
        let mut news: Vec<News> = gone.map(|key| News::Removed(key.clone(), self.behind)).collect();
        let is_new = |entry: &&Entry| self.known.get(&entry.key) != Some(entry);
        news.extend(now.values().filter(is_new).cloned().map(News::Put));
        self.known = now;
        Ok(Told { news, revision: self.behind })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_node_that_cannot_be_asked_is_left_for_the_next_one() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let good = format!("http://{}", listener.local_addr().unwrap());
        let view = View { revision: 7, entries: Vec::new() };
        let said = serde_json::to_string(&view).unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let asked = BufReader::new(stream.try_clone().unwrap()).lines();
            asked.map_while(Result::ok).find(String::is_empty);
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{said}", said.len()).unwrap();
        });
        let place = |url: &str| Place { url: url.to_owned(), certificate: None };
        // A secret is sent to no other machine without TLS.
        let nodes = vec![place("http://192.0.2.1:7836"), place(&good)];
        let kept = Kept { name: "gamma".into(), secret: "s".into(), lease_ms: 1, nodes, invitation: String::new() };
        let through = Through::new(kept, Path::new("/nowhere"));
        assert_eq!(through.view(None), Ok(view));
        assert_eq!(through.urls.now(), Ok(good));
    }
}
