//! The agreement of several nodes: etcd, 3.4 or newer, by the JSON that it speaks over HTTP.

use std::collections::BTreeSet;
use std::fmt::{Debug, Formatter};
use std::io::{BufRead as _, BufReader, Read};
use std::net::IpAddr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _};
use serde_json::{Value, json};
use ureq::http::{StatusCode, Uri};
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};
use ureq::typestate::WithBody;
use ureq::{Agent, Error, RequestBuilder};

use crate::agreement::{
    Agreement, Change, Committed, Condition, Entry, Health, Listing, Member, News, Revision, Told, Trouble, Watch,
};
use crate::alone::end;
use crate::rotation::Rotation;

/// A member that does not answer within this time is left for the next one.
const PATIENCE: Duration = Duration::from_secs(5);
/// A watch of which nothing is heard for so long is asked for anew.
const SILENCE: Duration = Duration::from_secs(60);
/// So many entries are read at once: of the longest values no more fit into an answer.
const PAGE: usize = 64;
/// No answer is longer.
const LONGEST: u64 = 64 << 20;

/// The members of a cluster, of which one is asked at a time.
pub struct Etcd {
    link: Arc<Link>,
    /// Their addresses, with the scheme.
    members: Rotation,
    /// Before each key: several fleets may share a cluster.
    root: String,
}

/// How members are asked.
struct Link {
    agent: Agent,
    user: Option<(String, String)>,
    /// What etcd gave for the password. It ends with the member's process, or when it has not been used for a while.
    token: Mutex<Option<String>>,
    cluster: Mutex<Cluster>,
}

/// Which cluster the members are of.
#[derive(Default)]
struct Cluster {
    /// Its number, as the first member that answered says it.
    id: Option<String>,
    /// Those that are known to be of it, and have answered since.
    members: BTreeSet<String>,
}

impl Cluster {
    /// Takes a member that says so, or says that it is of another one.
    fn take(&mut self, member: &str, cluster: &str) -> Result<(), String> {
        let own = self.id.get_or_insert_with(|| cluster.to_owned());
        if own != cluster {
            self.members.remove(member);
            return Err(format!("it is of another cluster than the others: {cluster}, not {own}"));
        }
        self.members.insert(member.to_owned());
        Ok(())
    }
}

impl Debug for Etcd {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        // Without what nobody else may know.
        write!(formatter, "{}", self.members.all().join(","))
    }
}

/// How members are told from others, and this node from other clients.
#[derive(Clone, Default)]
pub struct Access {
    /// The authorities that vouch for the members, as PEM. Without them nothing is encrypted.
    pub authority: Option<Vec<u8>>,
    /// What this node shows: its certificate and key, as PEM.
    pub certificate: Option<(Vec<u8>, Vec<u8>)>,
    /// etcd's user and password.
    pub user: Option<(String, String)>,
}

/// Whether what is sent to a host does not leave this machine.
pub fn is_loopback(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']).parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Where a cluster is: `etcd://HOST:PORT,HOST:PORT/ROOT`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    members: Vec<String>,
    root: String,
}

impl Address {
    /// Reads an address. Port 2379 and the root `stend` are the usual ones.
    ///
    /// # Errors
    /// It is none; the message says what would be one.
    pub fn parse(text: &str) -> Result<Self, Trouble> {
        let wrong = || Trouble::Refused(format!("{text}: it is etcd://HOST:PORT,HOST:PORT"));
        let rest = text.strip_prefix("etcd://").ok_or_else(wrong)?;
        let (hosts, root) = rest.split_once('/').unwrap_or((rest, ""));
        let root = if root.is_empty() { "stend" } else { root };
        if !root.chars().all(|character| character.is_ascii_alphanumeric() || "-_.".contains(character)) {
            return Err(wrong());
        }
        let member = |host: &str| {
            let uri: Uri = format!("http://{host}").parse().ok()?;
            let is_plain = uri.path() == "/" && uri.query().is_none() && !host.contains(['@', '#', '?']);
            let name = uri.host().filter(|name| is_plain && !name.is_empty())?;
            let port = match host.strip_prefix(name)? {
                "" => 2379,
                port => port.strip_prefix(':')?.parse::<u16>().ok()?,
            };
            Some(format!("{name}:{port}"))
        };
        let members = hosts.split(',').map(|host| member(host).ok_or_else(wrong)).collect::<Result<_, _>>()?;
        Ok(Self { members, root: root.into() })
    }
}

impl Etcd {
    /// The cluster at an address. Nobody is asked yet.
    ///
    /// # Errors
    /// A certificate or key cannot be read, or a password would be sent in the clear to another machine.
    pub fn new(address: Address, access: Access) -> Result<Self, Trouble> {
        let Address { members, root } = address;
        let Access { authority, certificate, user } = access;
        let unread = |what: &str| Trouble::Refused(format!("{what}: it is no PEM"));
        let is_here = |member: &String| member.rsplit_once(':').is_some_and(|(host, _)| is_loopback(host));
        if authority.is_none() && (user.is_some() || certificate.is_some()) && !members.iter().all(is_here) {
            let said =
                "a user or a certificate of etcd takes its authority too: without TLS anybody on the way reads it";
            return Err(Trouble::Refused(said.into()));
        }
        let scheme = if authority.is_some() { "https" } else { "http" };
        let members = members.iter().map(|member| format!("{scheme}://{member}")).collect();
        let mut tls = TlsConfig::builder();
        if let Some(pem) = authority {
            let mut roots = Vec::new();
            for item in parse_pem(&pem) {
                if let PemItem::Certificate(certificate) = item.map_err(|_| unread("the authority of etcd"))? {
                    roots.push(certificate);
                }
            }
            if roots.is_empty() {
                return Err(unread("the authority of etcd"));
            }
            tls = tls.root_certs(RootCerts::new_with_certs(&roots));
        }
        if let Some((certificate, key)) = certificate {
            let certificate = Certificate::from_pem(&certificate).map_err(|_| unread("the certificate for etcd"))?;
            let key = PrivateKey::from_pem(&key).map_err(|_| unread("the key for etcd"))?;
            tls = tls.client_cert(Some(ClientCert::new_with_certs(&[certificate], key)));
        }
        let config = Agent::config_builder()
            .tls_config(tls.build())
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .proxy(None)
            .timeout_resolve(Some(PATIENCE))
            .timeout_connect(Some(PATIENCE))
            .timeout_per_write(Some(PATIENCE))
            .build();
        let link = Link { agent: config.new_agent(), user, token: Mutex::default(), cluster: Mutex::default() };
        Ok(Self { link: Arc::new(link), members: Rotation::new(members), root: format!("{root}/") })
    }

    fn key(&self, key: &str) -> String {
        coded(&format!("{}{key}", self.root))
    }

    fn ask<T: DeserializeOwned>(&self, path: &str, body: &Value, may_repeat: bool) -> Result<T, Trouble> {
        let text = body.to_string();
        self.members.ask(may_repeat, |member| self.link.ask_of_cluster(member, path, &text))
    }
}

impl Link {
    /// Asks a member that is of the same cluster as the others.
    fn ask_of_cluster<T: DeserializeOwned>(&self, member: &str, path: &str, text: &str) -> Result<T, Trouble> {
        self.check(member)?;
        let answer = self.ask(member, path, text);
        if matches!(answer, Err(Trouble::Unreached(_) | Trouble::Unknown(_))) {
            self.forget(member);
        }
        answer
    }

    /// Makes sure that a member is of the same cluster as the others, before it is asked for anything: a change that is
    /// made in another one stays there.
    fn check(&self, member: &str) -> Result<(), Trouble> {
        if self.cluster().members.contains(member) {
            return Ok(());
        }
        // Whatever became of this question, what is wanted was not asked for.
        let status = self.status(member).map_err(|trouble| match trouble {
            Trouble::Unknown(said) => Trouble::Unreached(said),
            known => known,
        })?;
        let strange = |said| Trouble::Unreached(format!("{member}: {said}"));
        self.cluster().take(member, &status.header.cluster_id).map_err(strange)
    }

    fn status(&self, member: &str) -> Result<Status, Trouble> {
        self.ask(member, "/v3/maintenance/status", "{}")
    }

    /// How a member is.
    fn health(&self, member: &str) -> Result<Health, Trouble> {
        let mut health = Health::from(self.status(member)?);
        let taken = self.cluster().take(member, &health.cluster);
        health.errors.extend(taken.err());
        Ok(health)
    }

    /// A member that was away may come back with the data of another cluster.
    fn forget(&self, member: &str) {
        self.cluster().members.remove(member);
    }

    fn cluster(&self) -> MutexGuard<'_, Cluster> {
        self.cluster.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks a member, as the user where there is one.
    fn ask<T: DeserializeOwned>(&self, member: &str, path: &str, text: &str) -> Result<T, Trouble> {
        match self.ask_once(member, path, text) {
            Err(Trouble::Refused(said)) if self.user.is_some() && is_of_token(&said) => {
                self.sign_in(member)?;
                self.ask_once(member, path, text)
            }
            answer => answer,
        }
    }

    fn sign_in(&self, member: &str) -> Result<(), Trouble> {
        #[derive(Deserialize)]
        struct Answer {
            token: String,
        }
        let Some((name, password)) = &self.user else { return Ok(()) };
        *self.token() = None;
        let body = json!({ "name": name, "password": password }).to_string();
        let answer: Answer = self.ask_once(member, "/v3/auth/authenticate", &body)?;
        *self.token() = Some(answer.token);
        Ok(())
    }

    fn token(&self) -> MutexGuard<'_, Option<String>> {
        self.token.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn post(&self, member: &str, path: &str) -> RequestBuilder<WithBody> {
        let request = self.agent.post(format!("{member}{path}")).header("content-type", "application/json");
        match &*self.token() {
            Some(token) => request.header("authorization", token),
            None => request,
        }
    }

    /// What a member says it is, whatever its version.
    fn version(&self, member: &str) -> Option<String> {
        #[derive(Deserialize)]
        struct Answer {
            etcdserver: String,
        }
        let request = self.agent.get(format!("{member}/version")).config();
        let request = request.timeout_recv_response(Some(PATIENCE)).timeout_recv_body(Some(PATIENCE)).build();
        let body = request.call().ok()?.body_mut().with_config().limit(LONGEST).read_to_vec().ok()?;
        serde_json::from_slice::<Answer>(&body).ok().map(|answer| answer.etcdserver)
    }

    fn ask_once<T: DeserializeOwned>(&self, member: &str, path: &str, text: &str) -> Result<T, Trouble> {
        let request = self.post(member, path).config();
        let request = request.timeout_recv_response(Some(PATIENCE)).timeout_recv_body(Some(PATIENCE)).build();
        let mut response = request.send(text.as_bytes()).map_err(|error| Trouble::of_request(member, &error))?;
        let status = response.status();
        let body = response.body_mut().with_config().limit(LONGEST).read_to_vec();
        let body = body.map_err(|error| Trouble::Unknown(format!("{member}: {error}")))?;
        if status.is_success() {
            let strange = |error| Trouble::Refused(format!("{member} answers something else than etcd does: {error}"));
            return serde_json::from_slice(&body).map_err(strange);
        }
        #[derive(Deserialize)]
        struct Said {
            #[serde(default)]
            error: String,
        }
        let said = serde_json::from_slice::<Said>(&body).map_or_else(|_| status.to_string(), |said| said.error);
        // Older ones have the same below another path.
        let said = match status {
            StatusCode::NOT_FOUND => self.version(member).map_or(said, |version| {
                format!("it is etcd {version}, and takes no requests to {path}; 3.4 or newer is needed")
            }),
            _ => said,
        };
        let said = format!("{member}: {said}");
        // Without a leader, or while one is chosen, what was asked for may still be done.
        Err(if status.is_server_error() { Trouble::Unknown(said) } else { Trouble::Refused(said) })
    }
}

impl Trouble {
    /// Why there is no answer to a request: whether anything was sent.
    pub fn of_request(to: &str, error: &Error) -> Self {
        let said = format!("{to}: {error}");
        match error {
            Error::HostNotFound | Error::ConnectionFailed => Self::Unreached(said),
            Error::Io(io) if io.kind() == std::io::ErrorKind::ConnectionRefused => Self::Unreached(said),
            Error::Timeout(ureq::Timeout::Resolve | ureq::Timeout::Connect) => Self::Unreached(said),
            _ => Self::Unknown(said),
        }
    }
}

/// Whether a request was refused because nobody is signed in, or no longer is.
fn is_of_token(said: &str) -> bool {
    ["invalid auth token", "user name is empty", "auth token is not"].iter().any(|part| said.contains(part))
}

fn coded(text: &str) -> String {
    STANDARD.encode(text)
}

/// 64-bit numbers are texts in JSON, and 0 is left out.
fn number<'de, D: Deserializer<'de>>(from: D) -> Result<Revision, D::Error> {
    String::deserialize(from)?.parse().map_err(D::Error::custom)
}

#[derive(Deserialize)]
struct Header {
    #[serde(default, deserialize_with = "number")]
    revision: Revision,
    #[serde(default)]
    cluster_id: String,
    #[serde(default)]
    member_id: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Pair {
    key: String,
    value: String,
    #[serde(deserialize_with = "number")]
    mod_revision: Revision,
}

impl Pair {
    fn entry(self, root: &str) -> Result<Entry, Trouble> {
        let text = |coded: &str| {
            let strange = || Trouble::Refused("etcd has a text that stend did not write".into());
            String::from_utf8(STANDARD.decode(coded).map_err(|_| strange())?).map_err(|_| strange())
        };
        let key = text(&self.key)?;
        let key = key.strip_prefix(root).unwrap_or(&key).to_owned();
        Ok(Entry { key, value: text(&self.value)?, revision: self.mod_revision })
    }
}

#[derive(Deserialize)]
struct Range {
    header: Header,
    #[serde(default)]
    kvs: Vec<Pair>,
    #[serde(default)]
    more: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    header: Header,
    version: String,
    #[serde(default, deserialize_with = "number")]
    db_size: Revision,
    #[serde(default)]
    leader: String,
    #[serde(default)]
    errors: Vec<String>,
}

impl From<Status> for Health {
    fn from(status: Status) -> Self {
        let Status { header, version, db_size, leader, mut errors } = status;
        if leader.is_empty() || leader == "0" {
            errors.push("it has no leader".into());
        }
        let Header { cluster_id: cluster, member_id, .. } = header;
        Self { version, cluster, size: db_size.unsigned_abs(), is_leader: leader == member_id, errors }
    }
}

impl Agreement for Etcd {
    fn members(&self) -> Vec<Member> {
        let ask = |address: String| {
            let health = self.link.health(&address);
            Member { address, health }
        };
        self.members.all().into_iter().map(ask).collect()
    }

    fn get(&self, key: &str) -> Result<Option<Entry>, Trouble> {
        let range: Range = self.ask("/v3/kv/range", &json!({ "key": self.key(key) }), true)?;
        range.kvs.into_iter().next().map(|pair| pair.entry(&self.root)).transpose()
    }

    fn list(&self, prefix: &str) -> Result<Listing, Trouble> {
        let behind = end(&format!("{}{prefix}", self.root)).expect("the root has an end");
        let (mut from, mut revision, mut entries) = (self.key(prefix), 0, Vec::new());
        loop {
            let body = json!({
                "key": from, "range_end": coded(&behind), "limit": PAGE.to_string(), "revision": revision.to_string(),
            });
            let range: Range = self.ask("/v3/kv/range", &body, true)?;
            // Further pages are of the same revision, whatever has changed since.
            if revision == 0 {
                revision = range.header.revision;
            }
            for pair in range.kvs {
                entries.push(pair.entry(&self.root)?);
            }
            match entries.last() {
                // The next page begins behind the last key.
                Some(last) if range.more => from = self.key(&format!("{}\0", last.key)),
                _ => return Ok(Listing { entries, revision }),
            }
        }
    }

    fn commit(&self, conditions: &[Condition], changes: &[Change]) -> Result<Committed, Trouble> {
        let compare = |condition: &Condition| match condition {
            Condition::Unchanged(key, revision) => {
                json!({ "key": self.key(key), "target": "MOD", "result": "EQUAL", "mod_revision": revision.to_string() })
            }
            Condition::Absent(key) => {
                json!({ "key": self.key(key), "target": "VERSION", "result": "EQUAL", "version": "0" })
            }
        };
        let change = |change: &Change| match change {
            Change::Put(key, value) => json!({ "request_put": { "key": self.key(key), "value": coded(value) } }),
            Change::Remove(key) => json!({ "request_delete_range": { "key": self.key(key) } }),
        };
        #[derive(Deserialize)]
        struct Answer {
            header: Header,
            // Left out where it is false.
            #[serde(default)]
            succeeded: bool,
        }
        let compare: Vec<_> = conditions.iter().map(compare).collect();
        let success: Vec<_> = changes.iter().map(change).collect();
        let answer: Answer = self.ask("/v3/kv/txn", &json!({ "compare": compare, "success": success }), false)?;
        Ok(if answer.succeeded { Committed::At(answer.header.revision) } else { Committed::Refused })
    }

    fn watch(&self, prefix: &str, behind: Revision) -> Result<Box<dyn Watch>, Trouble> {
        let behind_all = end(&format!("{}{prefix}", self.root)).expect("the root has an end");
        let watching = Watching {
            link: Arc::clone(&self.link),
            members: self.members.clone(),
            root: self.root.clone(),
            from: self.key(prefix),
            end: coded(&behind_all),
            behind,
            lines: None,
        };
        Ok(Box::new(watching))
    }
}

struct Watching {
    link: Arc<Link>,
    members: Rotation,
    root: String,
    from: String,
    end: String,
    /// All changes up to this revision were told.
    behind: Revision,
    lines: Option<Receiver<Vec<u8>>>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(default)]
    result: Option<Response>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Response {
    canceled: bool,
    cancel_reason: String,
    events: Vec<Event>,
}

#[derive(Deserialize)]
struct Event {
    #[serde(default, rename = "type")]
    kind: String,
    kv: Pair,
}

impl Watching {
    /// Lines as a thread reads them: the connection may be silent for long.
    fn open(&self, member: &str) -> Result<Receiver<Vec<u8>>, Trouble> {
        self.link.check(member)?;
        // A member that has no leader for a while ends such a watch, and refuses a new one: it would be silent.
        let request = self.link.post(member, "/v3/watch").header("grpc-metadata-hasleader", "true").config();
        let request = request.timeout_recv_response(Some(PATIENCE)).timeout_per_read(Some(SILENCE)).build();
        let body = json!({ "create_request": {
            "key": self.from, "range_end": self.end, "start_revision": (self.behind + 1).to_string(),
        } });
        let response =
            request.send(body.to_string().as_bytes()).map_err(|error| Trouble::of_request(member, &error))?;
        if !response.status().is_success() {
            return Err(Trouble::Unreached(format!("{member}: {}", response.status())));
        }
        let mut reader = BufReader::new(response.into_body().into_reader());
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            loop {
                let mut line = Vec::new();
                let read = reader.by_ref().take(LONGEST).read_until(b'\n', &mut line);
                if !read.is_ok_and(|length| length > 0) || sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(receiver)
    }

    fn take(&mut self, line: &[u8]) -> Result<Vec<News>, Trouble> {
        let strange = |error| Trouble::Refused(format!("etcd tells something else than changes: {error}"));
        let response = serde_json::from_slice::<Line>(line).map_err(strange)?.result.unwrap_or_default();
        if response.canceled {
            let said = format!("the watch is too far behind; list again ({})", response.cancel_reason);
            return Err(Trouble::Refused(said));
        }
        let mut news = Vec::new();
        for event in response.events {
            let entry = event.kv.entry(&self.root)?;
            self.behind = self.behind.max(entry.revision);
            news.push(if event.kind == "DELETE" { News::Removed(entry.key, entry.revision) } else { News::Put(entry) });
        }
        Ok(news)
    }
}

impl Watch for Watching {
    fn next(&mut self, wait: Duration) -> Result<Told, Trouble> {
        let until = Instant::now() + wait;
        let mut news = Vec::new();
        loop {
            if !news.is_empty() {
                return Ok(Told { news, revision: self.behind });
            }
            let member = self.members.now()?;
            if self.lines.is_none() {
                self.lines = Some(self.open(&member).inspect_err(|_| self.members.turn_from(&member))?);
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.as_ref().map(|lines| lines.recv_timeout(left)) {
                Some(Ok(line)) => news = self.take(&line)?,
                Some(Err(RecvTimeoutError::Timeout)) => return Ok(Told { news, revision: self.behind }),
                // The member is away, or has been silent for long.
                Some(Err(RecvTimeoutError::Disconnected)) | None => {
                    self.lines = None;
                    self.link.forget(&member);
                    self.members.turn_from(&member);
                }
            }
        }
    }
}
