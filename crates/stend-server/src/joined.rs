//! Which fleet a store's server is a node of: `fleet.toml` beside the store, and how it comes to be there.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use stend_fleet::{
    Access, Address, Agreement as _, Change, Committed, Condition, Etcd, FOLLOWED, MOST_CHANGES, Member, is_anothers,
    is_taken,
};
use stend_model::identity::digest_of;
use stend_model::run::HERE;

use crate::database::{self, Database};
use crate::error::ServerError;
use crate::invitation::write_private;
use crate::journal::Kind;
use crate::order::is_plain_name;
use crate::settings::{Secret, own_file};

/// The file, in the store's directory.
const FILE: &str = "fleet.toml";

/// So long a node is not heard of before another may take its jobs.
const LEASE: Duration = Duration::from_secs(20);
const SHORTEST_LEASE: Duration = Duration::from_secs(1);
pub(crate) const LONGEST_LEASE: Duration = Duration::from_secs(600);

/// The key that says that there is a fleet.
const FOUNDED: &str = "fleet";

/// etcd takes 1.5 MiB in one request.
const MOST_BYTES: usize = 512 * 1024;

/// Older members lack what is asked of them.
const OLDEST_ETCD: [u64; 2] = [3, 4];

/// Whether a node is the first one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum First {
    /// It founds the fleet.
    Yes,
    /// There is a fleet.
    No,
    /// Whatever is so.
    Any,
}

/// What is said of a fleet while it is founded, and from then on.
#[derive(Debug, Serialize, Deserialize)]
struct Founded {
    node: String,
    home: String,
    is_whole: bool,
}

/// What tells this machine from others.
pub(crate) fn machine_id() -> String {
    let read = |path: &str| std::fs::read_to_string(path).ok().map(|id| id.trim().to_owned());
    let id = read("/etc/machine-id").filter(|id| !id.is_empty()).or_else(|| read("/proc/sys/kernel/random/boot_id"));
    digest_of(id.unwrap_or_default().as_bytes())
}

/// Where a node has its store: a word that tells it from others of its name.
pub(crate) fn home(store: &Path) -> String {
    let store = store.canonicalize().unwrap_or_else(|_| store.to_owned());
    format!("{} {}", machine_id(), store.display())
}

/// What a node is called that nobody gave a name.
pub(crate) fn own_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// What is said of the name of another node.
pub(crate) fn name_taken(node: &str) -> String {
    format!("another node is called {node}, and is there: give this one another name with --node")
}

fn check_members(members: &[Member]) -> Result<(), ServerError> {
    let mut first: Option<(&str, &str)> = None;
    for Member { address, health } in members {
        let Ok(health) = health else { continue };
        let mut parts = health.version.split('.').map(|part| part.parse().unwrap_or(0));
        let version = [parts.next().unwrap_or(0), parts.next().unwrap_or(0)];
        if version < OLDEST_ETCD {
            let [major, minor] = OLDEST_ETCD;
            let said = format!("{address} is etcd {}: a fleet takes {major}.{minor} or newer", health.version);
            return Err(ServerError::Refused(said));
        }
        let (one, cluster) = *first.get_or_insert((address, &health.cluster));
        if cluster != health.cluster {
            let said = format!(
                "{one} and {address} are of two clusters of etcd, {cluster} and {}: name the members of one",
                health.cluster
            );
            return Err(ServerError::Refused(said));
        }
    }
    Ok(())
}

/// Where a store's fleet is, and who the node is in it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Joined {
    /// Where the fleet keeps what it agrees on.
    pub(crate) address: String,
    /// What the node is called. So is its machine.
    pub(crate) node: String,
    /// Where other nodes reach it; otherwise where it listens.
    pub(crate) url: Option<String>,
    authority: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    user: Option<String>,
    password: Option<Secret>,
    /// So long a node is not heard of before another may take its jobs: the same for all.
    #[serde(default = "lease", deserialize_with = "crate::settings::duration")]
    pub(crate) lease: Duration,
    /// So many nodes keep the file of a run: the same for all. Otherwise each does.
    pub(crate) copies: Option<NonZeroUsize>,
}

fn lease() -> Duration {
    LEASE
}

/// Where a fleet agrees and what is shown there, as it is handed to a new node.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Handed {
    address: String,
    lease_ms: u64,
    #[serde(default)]
    copies: Option<NonZeroUsize>,
    authority: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
    user: Option<String>,
    password: Option<String>,
}

impl Joined {
    /// Reads the file of a store, if there is one.
    pub(crate) fn read(store: &Path) -> Result<Option<Self>, ServerError> {
        let path = store.join(FILE);
        let refused = |why: String| ServerError::Refused(format!("{}: {why}", path.display()));
        let Some((text, is_private)) = own_file(&path).map_err(refused)? else { return Ok(None) };
        let joined: Self = toml::from_str(&text).map_err(|error| refused(crate::settings::in_a_line(&error, &text)))?;
        if joined.password.is_some() && !is_private {
            return Err(refused("it holds a password, and others may read it; take that from them: chmod 600".into()));
        }
        joined.check().map_err(refused)?;
        Ok(Some(joined))
    }

    fn check(&self) -> Result<(), String> {
        if !(SHORTEST_LEASE..=LONGEST_LEASE).contains(&self.lease) {
            return Err("lease: it is 1s to 10m".into());
        }
        if !is_plain_name(&self.node) || self.node == HERE {
            return Err("node: it is 1 to 64 letters, digits, and - . or _, and not \"local\"".into());
        }
        let is_https = |url: &String| url.starts_with("https://");
        if !self.url.iter().all(is_https) {
            return Err("url: it begins with https://, because nodes send each other a secret".into());
        }
        if self.certificate.is_some() != self.key.is_some() || self.user.is_some() != self.password.is_some() {
            return Err("give certificate and key, or user and password, together".into());
        }
        Address::parse(&self.address).map(drop).map_err(|error| format!("address: {error}"))
    }

    /// The same, of a fleet that there is: the first node founds it.
    pub(crate) fn read_whole(store: &Path) -> Result<Option<Self>, ServerError> {
        let joined = Self::read(store)?;
        joined.as_ref().map_or(Ok(()), |joined| joined.found(store, First::Any))?;
        Ok(joined)
    }

    /// Makes a store a node of the fleet at an address, unless it is one already. The first node gives the fleet what its own server has had so far.
    pub(crate) fn join(store: &Path, address: &str, node: Option<&str>, first: First) -> Result<Self, ServerError> {
        if let Some(joined) = Self::read(store)? {
            let is_other = joined.address != address || node.is_some_and(|node| node != joined.node);
            if is_other {
                return Err(joined.is_another());
            }
            joined.found(store, first)?;
            return Ok(joined);
        }
        let joined = Self {
            address: address.to_owned(),
            node: node.map_or_else(own_name, str::to_owned),
            url: None,
            authority: None,
            certificate: None,
            key: None,
            user: None,
            password: None,
            lease: LEASE,
            copies: None,
        };
        joined.check().map_err(|why| ServerError::Refused(format!("--fleet: {why}")))?;
        joined.found(store, first)?;
        joined.check_name(store)?;
        let text = format!("address = {:?}\nnode = {:?}\n", joined.address, joined.node);
        joined.note(store, Kind::NodeJoined)?;
        write_private(&store.join(FILE), &text).map_err(ServerError::system(FILE))?;
        Ok(joined)
    }

    /// Refuses a store that is a node's.
    pub(crate) fn check_free(store: &Path) -> Result<(), ServerError> {
        Self::read(store)?.map_or(Ok(()), |joined| Err(joined.is_another()))
    }

    fn is_another(&self) -> ServerError {
        ServerError::Refused(format!(
            "this store is node {} of the fleet at {}: `stend fleet leave` comes before another",
            self.node, self.address
        ))
    }

    /// Refuses the name of another node that is there.
    fn check_name(&self, store: &Path) -> Result<(), ServerError> {
        if is_taken(&self.etcd(store)?, &self.node, &home(store), self.lease)? {
            return Err(ServerError::Refused(name_taken(&self.node)));
        }
        Ok(())
    }

    /// Notes that it is a node from now on.
    fn note(&self, store: &Path, kind: Kind) -> Result<(), ServerError> {
        Database::open(store, Some(self), "join")?.change(|edit| {
            if edit.known.has_agent(&self.node) {
                let said = format!("{} is an agent: `stend fleet revoke` comes before a node of its name", self.node);
                return Err(ServerError::Refused(said));
            }
            edit.note(kind, None, &self.node, "");
            Ok(())
        })
    }

    /// What another node takes to join.
    pub(crate) fn hand(&self, store: &Path) -> Result<Handed, ServerError> {
        let read = |path: &PathBuf| {
            let path = store.join(path);
            std::fs::read_to_string(&path).map_err(|error| ServerError::Refused(format!("{}: {error}", path.display())))
        };
        Ok(Handed {
            address: self.address.clone(),
            lease_ms: self.lease.as_millis() as u64,
            copies: self.copies,
            authority: self.authority.as_ref().map(read).transpose()?,
            certificate: self.certificate.as_ref().map(read).transpose()?,
            key: self.key.as_ref().map(read).transpose()?,
            user: self.user.clone(),
            password: self.password.as_ref().map(|password| password.0.clone()),
        })
    }

    /// Makes a store a node of the fleet that was handed to it, or leaves it as it was.
    pub(crate) fn join_by(store: &Path, handed: &Handed, node: &str) -> Result<Self, ServerError> {
        let text = |text: &str| toml::Value::from(text);
        let mut lines =
            format!("address = {}\nnode = {}\nlease = \"{}ms\"\n", text(&handed.address), text(node), handed.lease_ms);
        lines += &handed.copies.map_or_else(String::new, |copies| format!("copies = {copies}\n"));
        let mut files = Vec::new();
        for (field, given) in
            [("authority", &handed.authority), ("certificate", &handed.certificate), ("key", &handed.key)]
        {
            if let Some(given) = given {
                lines += &format!("{field} = \"etcd-{field}.pem\"\n");
                files.push((store.join(format!("etcd-{field}.pem")), given.as_str()));
            }
        }
        for (field, given) in [("user", &handed.user), ("password", &handed.password)] {
            lines += &given.as_ref().map_or_else(String::new, |given| format!("{field} = {}\n", text(given)));
        }
        files.push((store.join(FILE), &lines));
        let joined = || {
            for (path, text) in &files {
                write_private(path, text).map_err(ServerError::system(FILE))?;
            }
            let joined = Self::read(store)?.expect("it was written");
            joined.found(store, First::No)?;
            joined.check_name(store)?;
            joined.note(store, Kind::NodeJoined)?;
            Ok(joined)
        };
        joined().inspect_err(|_| files.iter().for_each(|(path, _)| drop(std::fs::remove_file(path))))
    }

    /// Makes sure that there is a fleet, and that it is whole.
    fn found(&self, store: &Path, first: First) -> Result<(), ServerError> {
        let etcd = self.etcd(store)?;
        check_members(&etcd.members())?;
        let home = home(store);
        let refused = |said: String| Err(ServerError::Refused(said));
        let found = etcd.get(FOUNDED)?;
        let founded: Option<Founded> = found.as_ref().and_then(|entry| serde_json::from_str(&entry.value).ok());
        match (&found, founded) {
            (Some(_), None) => return refused(format!("the fleet at {} is of a newer stend", self.address)),
            (Some(_), Some(Founded { is_whole: true, .. })) => {
                return if first == First::Yes {
                    refused(format!("there is a fleet at {}: join it", self.address))
                } else {
                    Ok(())
                };
            }
            (Some(_), Some(founded)) if founded.home != home => {
                return refused(format!(
                    "node {} is founding the fleet at {}: join it when it is done",
                    founded.node, self.address
                ));
            }
            (None, _) if first == First::No => {
                return refused(format!("there is no fleet at {}: `stend fleet init` founds one", self.address));
            }
            // This node began, and was ended before it was done.
            _ => {}
        }
        let mut founded = Founded { node: self.node.clone(), home, is_whole: false };
        let put =
            |founded: &Founded| Change::Put(FOUNDED.into(), serde_json::to_string(founded).expect("it can be written"));
        let mut changes = database::to_move(store, &self.node)?;
        let mut there: Vec<String> = Vec::new();
        for prefix in [FOLLOWED, "text/"] {
            there.extend(etcd.list(prefix)?.entries.into_iter().map(|entry| entry.key));
        }
        let begun = match found {
            Some(entry) => Committed::At(entry.revision),
            None if !there.is_empty() => {
                return refused(format!("the etcd at {} has keys of another stend: give another root", self.address));
            }
            None => etcd.commit(&[Condition::Absent(FOUNDED.into())], &[put(&founded)])?,
        };
        let Committed::At(begun) = begun else {
            return refused(format!("another node is founding the fleet at {}: join it when it is done", self.address));
        };
        // What comes late, when it is whole, changes nothing.
        let is_begun = Condition::Unchanged(FOUNDED.into(), begun);
        let key = |change: &Change| match change {
            Change::Put(key, _) | Change::Remove(key) => key.clone(),
        };
        changes.retain(|change| !there.contains(&key(change)));
        let failed =
            || ServerError::Refused("somebody else has changed the fleet while it was founded; try again".into());
        while !changes.is_empty() {
            let (mut size, mut count) = (0, 0);
            for change in changes.iter().take(MOST_CHANGES - 1) {
                size += if let Change::Put(key, value) = change { key.len() + value.len() } else { 0 };
                if count > 0 && size > MOST_BYTES {
                    break;
                }
                count += 1;
            }
            let moved: Vec<Change> = changes.drain(..count).collect();
            let absent = moved.iter().map(|change| Condition::Absent(key(change)));
            let conditions: Vec<_> = std::iter::once(is_begun.clone()).chain(absent).collect();
            if etcd.commit(&conditions, &moved)? == Committed::Refused {
                return Err(failed());
            }
        }
        founded.is_whole = true;
        match etcd.commit(&[is_begun], &[put(&founded)])? {
            Committed::At(_) => Ok(()),
            Committed::Refused => Err(failed()),
        }
    }

    /// Takes a store out of its fleet. What it has measured stays in it, and in the fleet's archive what is there.
    pub(crate) fn leave(self, store: &Path) -> Result<(), ServerError> {
        let database = Database::open(store, Some(&self), "leave")?;
        let gone = || std::fs::remove_file(store.join(FILE)).map_err(ServerError::system(FILE));
        // The node that has the name is another one, and stays.
        if is_anothers(&**database.0.agreement(), &self.node, &home(store))? {
            return gone();
        }
        let key = format!("node/{}", self.node);
        database.change(|edit| {
            let own =
                edit.known.claims.all().find(|(job, claim)| claim.node == self.node && job.parse::<i64>().is_ok());
            if let Some((job, _)) = own {
                let run = job.parse().ok().and_then(|id| edit.known.job(id)).map(|job| job.run.clone());
                let said = format!("this node is at work for run {}: let it end, or stop it", run.unwrap_or_default());
                return Err(ServerError::Refused(said));
            }
            if edit.known.nodes.get(&self.node).is_some() {
                edit.remove(&key);
            }
            // No job is its own.
            edit.free_duties(&self.node);
            edit.note(Kind::NodeLeft, None, &self.node, "");
            Ok(())
        })?;
        database.0.agreement().commit(&[], &[Change::Remove(format!("beat/{}", self.node))])?;
        gone()
    }

    /// What the fleet agrees on. Paths are from the store's directory.
    pub(crate) fn etcd(&self, store: &Path) -> Result<Etcd, ServerError> {
        let read = |path: &PathBuf| {
            let path = store.join(path);
            std::fs::read(&path).map_err(|error| ServerError::Refused(format!("{}: {error}", path.display())))
        };
        let certificate = self.certificate.as_ref().zip(self.key.as_ref());
        let access = Access {
            authority: self.authority.as_ref().map(read).transpose()?,
            certificate: certificate
                .map(|(certificate, key)| Ok::<_, ServerError>((read(certificate)?, read(key)?)))
                .transpose()?,
            user: self.user.clone().zip(self.password.as_ref().map(|password| password.0.clone())),
        };
        Ok(Etcd::new(Address::parse(&self.address)?, access)?)
    }
}
