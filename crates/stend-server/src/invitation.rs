//! One word that makes a machine a node or an agent of a fleet, once: a node prints it, and `stend fleet join` or `stend agent` there takes it.
//!
//! It says where the node is and by which certificate it is told from others, so nobody in between can answer in its place.

use std::fmt;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use stend_fleet::is_taken;
use stend_model::identity::digest_of;
use stend_model::plain;
use stend_model::run::HERE;
use ureq::http::Response;
use ureq::tls::TlsConfig;
use ureq::{Agent, Body, Error};

use crate::accounts::{Kind, Role, Secret, digest, fresh_secret};
use crate::api::{Served, blocking};
use crate::database::{Database, Edit, Records};
use crate::error::ServerError;
use crate::fleet::NodeEntry;
use crate::gate::Place;
use crate::guard::{bearer, now};
use crate::joined::{self, Handed, Joined, LONGEST_LEASE};
use crate::journal;
use crate::lab::Lab;
use crate::order::is_plain_name;
use crate::peers;
use crate::problem::Problem;

/// It is good for so many seconds.
const GOOD_FOR: i64 = 3600;

/// A node that is silent for so long does not answer.
const SILENCE: Duration = Duration::from_secs(10);

/// So much is repeated of what a node says.
const LONGEST_SAID: usize = 500;

/// No answer is longer.
const LONGEST: u64 = 1 << 20;

/// Where a node is, and what it takes once.
#[derive(Debug)]
pub(crate) struct Invitation {
    url: String,
    secret: String,
    /// The SHA-256 of the certificate that the node shows, where it made it itself.
    fingerprint: Option<String>,
}

/// What is given for an invitation.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "as", rename_all = "lowercase")]
pub(crate) enum Invited {
    /// A node: where the fleet agrees, and what is shown there.
    Node { fleet: Handed },
    /// An agent: what it is called, and what it shows nodes.
    Agent { name: String, secret: String, lease_ms: u64 },
}

/// Who takes an invitation.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Taker {
    /// What a node is to be called; empty for an agent, whose name is the invitation's.
    pub(crate) node: String,
    /// Where it has its store.
    pub(crate) home: String,
}

impl fmt::Display for Invitation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { url, secret, fingerprint } = self;
        // Behind this sign nothing is sent by a browser, if somebody takes it for a page.
        write!(formatter, "{url}#{secret}{}", fingerprint.as_deref().unwrap_or_default())
    }
}

impl FromStr for Invitation {
    type Err = ServerError;

    fn from_str(text: &str) -> Result<Self, ServerError> {
        let wrong = || {
            ServerError::Refused(
                "this is no invitation: `stend fleet invite` on a node prints one, https://NODE#…".into(),
            )
        };
        let (url, rest) = text.trim().split_once('#').ok_or_else(wrong)?;
        let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_hex(rest) || ![64, 128].contains(&rest.len()) {
            return Err(wrong());
        }
        peers::is_here(url)?;
        let (secret, fingerprint) = rest.split_at(64);
        let fingerprint = (!fingerprint.is_empty()).then(|| fingerprint.to_ascii_lowercase());
        Ok(Self { url: url.trim_end_matches('/').to_owned(), secret: secret.to_owned(), fingerprint })
    }
}

/// The SHA-256 of a certificate, as it is sent.
fn fingerprint(pem: &str) -> Option<String> {
    CertificateDer::from_pem_slice(pem.as_bytes()).ok().map(|certificate| digest_of(&certificate))
}

impl Invitation {
    /// Takes what it is for, and where the node is that gave it.
    pub(crate) fn take(&self, taker: &Taker) -> Result<(Invited, Place), ServerError> {
        let certificate = self.fingerprint.as_ref().map(|wanted| self.certificate(wanted)).transpose()?;
        let link = peers::link(certificate.as_deref(), SILENCE)?;
        let body = serde_json::to_vec(taker).expect("it can be written");
        let request = link.post(format!("{}/api/v1/join", self.url));
        let request = request.header("authorization", format!("Bearer {}", self.secret));
        // It may have to hear first whether another node of that name is there.
        let longest = LONGEST_LEASE + SILENCE;
        let request = request.config().timeout_recv_response(Some(longest)).timeout_per_read(Some(longest)).build();
        let invited = self.read(request.send(&body[..]))?;
        Ok((invited, Place { url: self.url.clone(), certificate }))
    }

    /// The certificate that the node shows: whoever sends it, it is the one if it has this SHA-256.
    fn certificate(&self, wanted: &str) -> Result<String, ServerError> {
        let tls = TlsConfig::builder().disable_verification(true).unversioned_rustls_crypto_provider(peers::provider());
        let config = Agent::config_builder()
            .tls_config(tls.build())
            .timeout_global(Some(SILENCE))
            .http_status_as_error(false)
            .max_redirects(0)
            .proxy(None);
        let pem: String =
            self.read(config.build().new_agent().get(format!("{}/api/v1/certificate", self.url)).call())?;
        if fingerprint(&pem).as_deref() == Some(wanted) {
            return Ok(pem);
        }
        Err(ServerError::Refused(format!("{} shows another certificate than the one that invited", self.url)))
    }

    fn read<T: DeserializeOwned>(&self, answer: Result<Response<Body>, Error>) -> Result<T, ServerError> {
        #[derive(Deserialize)]
        struct Said {
            detail: String,
        }
        let refused = |why: &dyn fmt::Display| ServerError::Refused(format!("{}: {why}", self.url));
        let mut response = answer.map_err(|error| refused(&error))?;
        let body = response.body_mut().with_config().limit(LONGEST).read_to_vec().map_err(|error| refused(&error))?;
        if response.status().is_success() {
            return serde_json::from_slice(&body).map_err(|error| refused(&error));
        }
        Err(match serde_json::from_slice::<Said>(&body) {
            Ok(said) => refused(&plain::one_line(&said.detail).chars().take(LONGEST_SAID).collect::<String>()),
            Err(_) => refused(&response.status()),
        })
    }
}

/// The certificate of this node, which whoever was invited compares with what they were told.
pub(crate) async fn certificate(lab: Served) -> Result<Json<String>, Problem> {
    let own = lab.known().nodes.get(lab.here()).and_then(|node| node.certificate.clone());
    own.map(Json).ok_or_else(|| Problem::not_found("this node has no certificate of its own"))
}

/// Gives what an invitation is for, once.
pub(crate) async fn join(
    State(lab): State<Arc<Lab>>,
    headers: HeaderMap,
    body: String,
) -> Result<Json<Invited>, Problem> {
    let used = || {
        Problem::new(
            StatusCode::UNAUTHORIZED,
            "this invitation was used, or is older than an hour: `stend fleet invite` prints another",
        )
    };
    let invitation = bearer(&headers).ok_or_else(used)?.to_owned();
    let Some(fleet) = lab.fleet.clone() else { return Err(used()) };
    let look = |known: &Records| known.is_invitation(&invitation, now()).then_some(());
    lab.of_secret(&digest(&invitation), look).await.ok_or_else(used)?;
    // Read before it is used up.
    let handed = Joined::read(&lab.store)?.map(|joined| joined.hand(&lab.store)).transpose()?.ok_or_else(used)?;
    let Taker { node, home } = serde_json::from_str(&body).unwrap_or_default();
    if !node.is_empty() {
        let (name, lease) = (node.clone(), fleet.lease());
        let look = move |lab: &Lab| is_taken(&**lab.database.0.agreement(), &name, &home, lease);
        let is_anothers = blocking(&lab, look).await?.map_err(ServerError::from)?;
        if is_anothers {
            let said = format!("{}; the invitation is good still", joined::name_taken(&node));
            return Err(Problem::new(StatusCode::CONFLICT, said));
        }
    }
    let (secret, lease_ms) = (fresh_secret(), fleet.lease().as_millis() as u64);
    let taken = lab.change(move |edit: &mut Edit| {
        if let Some(name) = edit.take_invitation(&invitation, Kind::InviteAgent, now()) {
            if edit.known.nodes.get(&name).is_some_and(|node| !node.is_agent()) {
                return Err(ServerError::Refused(format!("{name} is a node now: invite the agent by another name")));
            }
            // Whoever had the name before is out.
            edit.revoke_agent(&name);
            let (kind, role) = (Kind::Agent, Role::Viewer);
            edit.keep_secret(&Secret { secret: &secret, kind, user: None, role, name: &name, ends_at: None });
            edit.note(journal::Kind::AgentJoined, None, &name, "");
            return Ok(Some(Invited::Agent { name, secret: secret.clone(), lease_ms }));
        }
        let of_node = edit.take_invitation(&invitation, Kind::InviteNode, now());
        Ok(of_node.map(|_| Invited::Node { fleet: handed.clone() }))
    });
    taken.await?.map(Json).ok_or_else(used)
}

/// Makes an invitation to the fleet of a store: for a node, or for the agent of this name.
pub(crate) fn invite(store: &Path, agent: Option<&str>) -> Result<String, ServerError> {
    let joined = Joined::read(store)?.ok_or_else(crate::no_fleet)?;
    let database = Database::open(store, Some(&joined), "invite")?;
    let (secret, name) = (fresh_secret(), agent.unwrap_or_default());
    agent.map_or(Ok(()), |agent| check_name("--agent", agent))?;
    let kind = if agent.is_some() { Kind::InviteAgent } else { Kind::InviteNode };
    let node = database.change(|edit| {
        if edit.known.nodes.get(name).is_some_and(|node| !node.is_agent()) {
            return Err(ServerError::Refused(format!("{name} is a node: give the agent another name")));
        }
        let node = edit.known.nodes.get(&joined.node).cloned();
        let node = node.ok_or_else(|| {
            ServerError::Refused("nobody has reached this node yet: start `stend serve` first".into())
        })?;
        let ends_at = Some(now() + GOOD_FOR);
        edit.keep_secret(&Secret { secret: &secret, kind, user: None, role: Role::Viewer, name, ends_at });
        edit.note(journal::Kind::Invited, None, if agent.is_some() { name } else { "node" }, "");
        Ok(node)
    })?;
    let fingerprint = node.certificate.as_deref().and_then(fingerprint);
    Ok(Invitation { url: node.url, secret, fingerprint }.to_string())
}

fn check_name(option: &str, name: &str) -> Result<(), ServerError> {
    if is_plain_name(name) && name != HERE {
        return Ok(());
    }
    let said = format!("{option}: it is 1 to 64 letters, digits, and - . or _, and not \"{HERE}\"");
    Err(ServerError::Refused(said))
}

/// Makes a store a node of the fleet that it is invited to.
pub(crate) fn join_by(store: &Path, invitation: &str, node: Option<&str>) -> Result<Joined, ServerError> {
    let invitation: Invitation = invitation.parse()?;
    Joined::check_free(store)?;
    let name = node.map_or_else(joined::own_name, str::to_owned);
    check_name("--node", &name)?;
    match invitation.take(&Taker { node: name.clone(), home: joined::home(store) })?.0 {
        Invited::Node { fleet } => Joined::join_by(store, &fleet, &name),
        Invited::Agent { .. } => {
            Err(ServerError::Refused("this invites an agent: `stend agent` takes it, and it is used up now".into()))
        }
    }
}

/// Ends an agent of the fleet of a store: from then on no node answers it.
pub(crate) fn revoke(store: &Path, agent: &str) -> Result<(), ServerError> {
    let joined = Joined::read(store)?.ok_or_else(crate::no_fleet)?;
    let database = Database::open(store, Some(&joined), "revoke")?;
    database.change(|edit| {
        if !edit.revoke_agent(agent) {
            return Err(ServerError::Missing(format!("the fleet has no agent {agent}")));
        }
        edit.note(journal::Kind::AgentRevoked, None, agent, "");
        if edit.known.nodes.get(agent).is_some_and(NodeEntry::is_agent) {
            edit.remove(&format!("node/{agent}"));
        }
        Ok(())
    })?;
    // It claims nothing more, so these are all.
    while database.change(|edit| Ok(edit.free_jobs_of(agent)))? {}
    Ok(())
}

/// Writes a file that nobody else reads, at once or not at all.
pub(crate) fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let aside = path.with_extension("new");
    let _ = std::fs::remove_file(&aside);
    let mut options = std::fs::OpenOptions::new();
    let mut file = options.create_new(true).write(true).mode(0o600).open(&aside)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    std::fs::rename(aside, path)
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn an_invitation_is_read_as_it_is_printed_and_nothing_else_is() {
        let (secret, fingerprint) = ("0123456789abcdef".repeat(4), "fedcba9876543210".repeat(4));
        for url in ["https://lab-1:7836", "https://10.0.0.1", "http://127.0.0.1:7836", "https://[fd00::1]:7836"] {
            for end in [String::new(), fingerprint.clone()] {
                let text = format!("{url}#{secret}{end}");
                assert_eq!(text.parse::<Invitation>().unwrap().to_string(), text);
            }
        }
        for text in [
            "",
            "#",
            &secret,
            &format!("http://lab-1:7836#{secret}"),
            &format!("https://lab-1:7836#{}", &secret[1..]),
            &format!("https://lab-1:7836#{secret}0"),
            &format!("https://lab-1:7836#{}", "g".repeat(64)),
            &format!("nothing#{secret}"),
        ] {
            assert!(text.parse::<Invitation>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_the_certificate_that_invited_is_taken() {
        let own = rcgen::generate_simple_self_signed(["node".to_owned()]).unwrap().cert.pem();
        let node = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", node.local_addr().unwrap());
        let body = serde_json::to_string(&own).unwrap();
        let answers = std::thread::spawn(move || {
            for asked in node.incoming().take(2) {
                let mut asked = asked.unwrap();
                let head = BufReader::new(&asked).lines().map_while(Result::ok);
                head.take_while(|line| !line.is_empty()).for_each(drop);
                write!(asked, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
                    .unwrap();
            }
        });
        let shown_to = |fingerprint: &str| {
            let invitation: Invitation = format!("{url}#{}{fingerprint}", "0".repeat(64)).parse().unwrap();
            invitation.certificate(fingerprint).map_err(|error| error.to_string())
        };
        let another = shown_to(&digest_of(b"another"));
        assert!(another.as_ref().is_err_and(|said| said.contains("another certificate")), "{another:?}");
        assert_eq!(shown_to(&fingerprint(&own).unwrap()), Ok(own));
        answers.join().unwrap();
    }
}
