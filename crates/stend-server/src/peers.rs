//! Other nodes of the fleet, as this one asks them: for runs that they keep, and in place of whoever asked this one.

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Query, Request, State};
use axum::http::header::{
    ACCEPT, ACCEPT_LANGUAGE, AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, ETAG,
    IF_NONE_MATCH, LOCATION,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use stend_fleet::is_loopback;
use stend_model::identity::digest_of;
use tokio::sync::mpsc::channel;
use tokio_stream::wrappers::ReceiverStream;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, RequestBuilder, http};

use crate::accounts::{Role, Who};
use crate::archive;
use crate::connections;
use crate::error::ServerError;
use crate::fleet::NodeEntry;
use crate::guard;
use crate::jobs::Job;
use crate::lab::Lab;
use crate::pages::Reader;
use crate::pages::rigs::Whose;
use crate::parts;
use crate::problem::Problem;
use crate::work::LONGEST_COMMAND;

/// A node that does not answer within this time is away. What it then sends may take long: it may be what happens.
const PATIENCE: Duration = Duration::from_secs(10);

/// One that says nothing for so long has gone: a stream that has nothing to tell says that every 15 seconds.
pub(crate) const SILENCE: Duration = Duration::from_secs(60);

/// A virtual machine that is sent may be large, and so may its memory, which is written before it comes.
pub(crate) const LONGEST_TRANSFER: Duration = Duration::from_secs(6 * 3600);

/// No form that is passed on is longer.
const LONGEST_SENT: usize = 64 << 10;

/// No answer that is read as a whole is longer.
const LONGEST_ANSWER: u64 = 1 << 20;

/// A stream that ends at once, and says after how many milliseconds to ask again.
const ASK_AGAIN: &str = "retry: 2000\n\n";

/// What somebody signed in with, by its digest, where a node asks for somebody.
const FOR: HeaderName = HeaderName::from_static("stend-for");

/// What of a request is passed on, and of an answer.
const ASKED: [HeaderName; 4] = [ACCEPT, ACCEPT_LANGUAGE, IF_NONE_MATCH, HeaderName::from_static("last-event-id")];
const ANSWERED: [HeaderName; 5] = [CONTENT_TYPE, CONTENT_SECURITY_POLICY, CACHE_CONTROL, ETAG, LOCATION];

/// What a node is asked, without a query.
pub(crate) type Answer = http::Response<ureq::Body>;

/// Whether an address is one of this machine. Elsewhere it takes TLS.
pub(crate) fn is_here(url: &str) -> Result<bool, ServerError> {
    let uri: http::Uri = url.parse().map_err(|_| ServerError::Refused(format!("{url}: it is no address")))?;
    let is_here = uri.host().is_some_and(is_loopback);
    if !is_here && uri.scheme_str() != Some("https") {
        return Err(ServerError::Refused(format!("{url}: a secret is sent there, so it takes https")));
    }
    Ok(is_here)
}

/// What asks a node that shows this certificate, or one of the web's authorities. What is silent for so long has gone.
pub(crate) fn link(certificate: Option<&str>, silence: Duration) -> Result<Agent, ServerError> {
    let mut config = Agent::config_builder()
        .timeout_resolve(Some(PATIENCE))
        .timeout_connect(Some(PATIENCE))
        .timeout_recv_response(Some(PATIENCE))
        .timeout_per_read(Some(silence))
        .timeout_per_write(Some(silence))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .proxy(None);
    if let Some(pem) = certificate {
        let own = Certificate::from_pem(pem.as_bytes()).map_err(|error| ServerError::Refused(error.to_string()))?;
        let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&[own]));
        config = config.tls_config(tls.unversioned_rustls_crypto_provider(provider()).build());
    }
    Ok(config.build().new_agent())
}

pub(crate) fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// What asks a node, and what is shown there.
fn way(lab: &Lab, node: &NodeEntry) -> Result<(Agent, String), ServerError> {
    let refused = ServerError::Refused;
    let fleet = lab.fleet.as_ref().ok_or_else(|| refused("this is no node".into()))?;
    if is_here(&node.url)? && node.machine != crate::joined::machine_id() {
        return Err(refused(format!("{} is reached on its own machine only: give its server --listen", node.url)));
    }
    Ok((link(node.certificate.as_deref(), SILENCE)?, format!("Bearer {}", fleet.secret)))
}

fn with<T>(request: RequestBuilder<T>, headers: &HeaderMap) -> RequestBuilder<T> {
    headers.iter().fold(request, |request, (name, value)| request.header(name, value))
}

/// Asks a node as this one.
pub(crate) fn ask(lab: &Lab, node: &NodeEntry, path: &str, headers: &HeaderMap) -> Result<Answer, ServerError> {
    let (link, bearer) = way(lab, node)?;
    let request = link.get(format!("{}{path}", node.url)).header(AUTHORIZATION, bearer);
    with(request, headers).call().map_err(|error| ServerError::Refused(format!("{}: {error}", node.url)))
}

/// The same in somebody's place, where what comes may be long silent.
pub(crate) fn fetched(lab: &Lab, node: &NodeEntry, path: &str, who: &Who) -> Result<Answer, ServerError> {
    let (link, bearer) = way(lab, node)?;
    let request = with(link.get(format!("{}{path}", node.url)).header(AUTHORIZATION, bearer), &in_place_of(who));
    let request = request.config().timeout_per_read(Some(LONGEST_TRANSFER)).build();
    request.call().map_err(|error| ServerError::Refused(format!("{}: {error}", node.url)))
}

/// What says in whose place a node asks.
fn in_place_of(who: &Who) -> HeaderMap {
    who.secret.parse().ok().map(|secret| (FOR, secret)).into_iter().collect()
}

/// Whether a node has a file.
pub(crate) fn has(lab: &Lab, node: &str, path: &str) -> bool {
    let Some(node) = lab.known().nodes.get(node).cloned() else { return false };
    let asked = way(lab, &node)
        .map(|(link, bearer)| link.head(format!("{}{path}", node.url)).header(AUTHORIZATION, bearer).call());
    asked.is_ok_and(|answer| answer.is_ok_and(|answer| answer.status().is_success()))
}

/// Sends a node something as this one, and waits so long for an answer.
fn post(
    lab: &Lab,
    node: &NodeEntry,
    path: &str,
    headers: &HeaderMap,
    body: &[u8],
    wait: Duration,
) -> Result<Answer, ServerError> {
    let (link, bearer) = way(lab, node)?;
    let request = link.post(format!("{}{path}", node.url)).header(AUTHORIZATION, bearer);
    let request =
        with(request, headers).config().timeout_recv_response(Some(wait)).timeout_per_read(Some(wait)).build();
    request.send(body).map_err(|error| ServerError::Refused(format!("{}: {error}", node.url)))
}

/// Asks a node in somebody's place for what it has to work out, and gives its answer, or what it refuses that for.
pub(crate) fn send<T: DeserializeOwned>(
    lab: &Lab,
    node: &NodeEntry,
    path: &str,
    who: &Who,
    body: &impl Serialize,
    wait: Duration,
) -> Result<Result<T, Problem>, ServerError> {
    let failed = |error: &dyn std::fmt::Display| ServerError::Refused(format!("{}: {error}", node.url));
    let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
    headers.extend(in_place_of(who));
    let body = serde_json::to_vec(body).expect("it can be written");
    let mut answer = post(lab, node, path, &headers, &body, wait)?;
    let status = answer.status();
    let said = answer.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec().map_err(|error| failed(&error))?;
    if status.is_success() {
        return serde_json::from_slice(&said).map(Ok).map_err(|error| failed(&error));
    }
    let said: serde_json::Value = serde_json::from_slice(&said).map_err(|error| failed(&error))?;
    match said["detail"].as_str() {
        Some(detail) => Ok(Err(Problem::new(status, detail))),
        None => Err(failed(&status)),
    }
}

/// Whether another node asks in somebody's place.
pub(crate) fn is_passed_on(headers: &HeaderMap) -> bool {
    headers.contains_key(&FOR)
}

/// A file that nodes have.
pub(crate) struct Wanted<'a> {
    /// Where each node has it.
    pub(crate) path: String,
    pub(crate) sha256: &'a str,
    /// Its length in bytes.
    pub(crate) size: u64,
    /// The node that is asked first.
    pub(crate) first: &'a str,
}

impl Wanted<'_> {
    /// Keeps what was sent, if it is what is wanted: what is cut off or another file is not.
    pub(crate) fn keep(&self, answer: Answer, to: &Path) -> Result<(), ServerError> {
        let aside = to.with_extension("new");
        let write = || -> std::io::Result<bool> {
            let mut file = File::options().create(true).write(true).truncate(true).mode(0o600).open(&aside)?;
            std::io::copy(&mut answer.into_body().into_reader().take(self.size + 1), &mut file)?;
            file.sync_all()?;
            Ok(archive::digest(&aside)? == (self.sha256.to_owned(), self.size))
        };
        let kept = write().and_then(|is_it| if is_it { std::fs::rename(&aside, to).map(|()| true) } else { Ok(false) });
        if !matches!(kept, Ok(true)) {
            let _ = std::fs::remove_file(&aside);
        }
        if kept.map_err(ServerError::system("a file of another node"))? { Ok(()) } else { Err(self.missing()) }
    }

    fn missing(&self) -> ServerError {
        ServerError::Refused(format!("no node has {}", self.sha256))
    }
}

/// Takes a file from whoever has it.
pub(crate) fn fetch(lab: &Lab, wanted: &Wanted, to: &Path) -> Result<(), ServerError> {
    let nodes = {
        let known = lab.known();
        let others = known.nodes.iter().filter(|(name, node)| *name != lab.here() && !node.is_agent());
        let (mut first, others): (Vec<_>, Vec<_>) = others.partition(|(name, _)| *name == wanted.first);
        first.extend(others);
        first.into_iter().map(|(_, node)| node.clone()).collect::<Vec<_>>()
    };
    for node in nodes {
        let answer = ask(lab, &node, &wanted.path, &HeaderMap::new());
        let has_it = answer.is_ok_and(|answer| answer.status().is_success() && wanted.keep(answer, to).is_ok());
        if has_it {
            return Ok(());
        }
    }
    Err(wanted.missing())
}

/// Who sends a node's secret.
pub(crate) enum Asker<'a> {
    Node(Who),
    /// A node, for whoever has shown it the secret of this digest.
    For(&'a str),
}

/// Who asks, where a node's secret is sent.
pub(crate) fn asker<'a>(lab: &Lab, bearer: &str, headers: &'a HeaderMap) -> Option<Asker<'a>> {
    let fleet = lab.fleet.as_ref()?;
    // By their digests: how long it takes says nothing of the secret.
    if digest_of(bearer.as_bytes()) != digest_of(fleet.secret.as_bytes()) {
        return None;
    }
    Some(match headers.get(&FOR) {
        // Whoever was signed out meanwhile is so here too.
        Some(digest) => Asker::For(digest.to_str().ok()?),
        None => Asker::Node(Who { name: None, role: Role::Viewer, secret: String::new(), by_token: true }),
    })
}

/// Passes on what is asked of a run, a machine or a rig that another node has: what it is like now, that node alone can say.
pub(crate) async fn pass_on(State(lab): State<Arc<Lab>>, request: Request, next: Next) -> Response {
    hear_of(&lab, request.uri().path()).await;
    let Some(Elsewhere { job, nodes }) = other_node(&lab, &request) else { return next.run(request).await };
    if let Some(job) = job.clone().filter(|_| nodes.iter().all(|(_, node)| node.is_agent())) {
        // Nobody reaches it; what it has made of the run all nodes can have.
        parts::follow(&lab, job).await;
        return next.run(request).await;
    }
    let (head, body) = request.into_parts();
    // What this node has heard of a machine is better than nothing.
    let is_shown = head.method == Method::GET && head.uri.path().starts_with("/machines/");
    let who = head.extensions.get::<Who>().cloned();
    let mut headers = HeaderMap::new();
    for name in &ASKED {
        headers.extend(head.headers.get(name).map(|value| (name.clone(), value.clone())));
    }
    if let Some(language) = guard::cookie(&head.headers, "stend_language") {
        headers.extend(format!("stend_language={language}").parse().ok().map(|cookie| (COOKIE, cookie)));
    }
    headers.extend(who.as_ref().and_then(|who| Some((FOR, who.secret.parse().ok()?))));
    let path = head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    let is_page = !path.starts_with("/api/");
    let followed = job.filter(|_| head.uri.path().ends_with("/events"));
    let is_followed = followed.is_some();
    let reader = Reader::of(&head.headers, who);
    let sent = match head.method {
        Method::GET => None,
        _ => match connections::whole(body, LONGEST_SENT).await {
            Ok(body) => Some(body),
            Err(problem) => return problem.into_response(),
        },
    };
    if sent.is_some() {
        headers.extend(head.headers.get(CONTENT_TYPE).map(|kind| (CONTENT_TYPE, kind.clone())));
    }
    let names = nodes.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
    let asked = {
        let lab = Arc::clone(&lab);
        tokio::task::spawn_blocking(move || first_answer(&lab, nodes, &path, &headers, sent.as_deref())).await
    };
    match asked.unwrap_or_else(|panic| Err(ServerError::Refused(panic.to_string()))) {
        Ok((name, answer)) => {
            let until = async move {
                match followed {
                    Some(job) => handed_on(lab, job.run, move |node| node != Some(&name)).await,
                    None => std::future::pending::<()>().await,
                }
            };
            passed(answer, until)
        }
        // A browser gives a stream up for good that is refused. It asks again when one ends, and by then another node may have the run.
        Err(_) if is_followed => ([(CONTENT_TYPE, "text/event-stream")], ASK_AGAIN).into_response(),
        Err(_) if is_shown => next.run(Request::from_parts(head, Body::empty())).await,
        Err(why) => {
            let said = format!("node {names} has this, and does not answer: {why}");
            let problem = Problem::new(StatusCode::BAD_GATEWAY, said);
            if is_page { crate::pages::trouble(reader, &problem) } else { problem.into_response() }
        }
    }
}

/// What a path below the API's or the pages' root is about.
fn parts_of(path: &str) -> (Option<&str>, Option<&str>) {
    let mut parts = path.strip_prefix("/api/v1").unwrap_or(path).trim_start_matches('/').split('/');
    (parts.next(), parts.next())
}

/// Waits until this node has heard of a run or job that is asked for, where another node has taken the order just now.
async fn hear_of(lab: &Arc<Lab>, path: &str) {
    if lab.fleet.is_none() || lab.cut_off().is_some() {
        return;
    }
    let next_order = || {
        let known = lab.known();
        let is_known = match parts_of(path) {
            (Some("runs"), Some(run)) => known.job_of_run(run).is_some() || known.archive.get(run).is_some(),
            (Some("jobs"), Some(job)) => job.parse().is_ok_and(|job| known.job(job).is_some()),
            _ => true,
        };
        (!is_known).then(|| known.next_order())
    };
    let mut last = None;
    while let Some(next) = next_order().filter(|next| last.as_ref() != Some(next)) {
        lab.refresh(next.clone()).await;
        last = Some(next);
    }
}

/// What the first node says that answers, of those that are heard of first.
fn first_answer(
    lab: &Lab,
    mut nodes: Vec<(String, NodeEntry)>,
    path: &str,
    headers: &HeaderMap,
    sent: Option<&[u8]>,
) -> Result<(String, Answer), ServerError> {
    if let Some((fleet, heard)) = lab.fleet.as_ref().and_then(|fleet| Some((fleet, fleet.heard(lab).ok()?))) {
        nodes.sort_by_key(|(name, _)| !heard.get(name).is_some_and(|node| fleet.is_there(node.silence)));
    }
    let mut last = ServerError::Refused("no node has it".into());
    for (name, node) in nodes {
        let asked = match sent {
            None => ask(lab, &node, path, headers),
            Some(body) => post(lab, &node, path, headers, body, LONGEST_COMMAND + PATIENCE),
        };
        match asked {
            Ok(answer) => return Ok((name, answer)),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Waits until a run's job is that of a node of which this is so.
pub(crate) async fn handed_on(lab: Arc<Lab>, run: String, is_it: impl Fn(Option<&str>) -> bool) {
    let mut changes = lab.changes();
    loop {
        changes.mark_unchanged();
        if lab.known().job_of_run(&run).is_some_and(|job| is_it(job.node.as_deref()))
            || changes.changed().await.is_err()
        {
            return;
        }
    }
}

/// What other nodes have.
struct Elsewhere {
    /// The job, if it is about a run.
    job: Option<Job>,
    /// The node, or each that reaches a machine.
    nodes: Vec<(String, NodeEntry)>,
}

/// The other node that has what a request is about: works for the run, or did and has not handed it on yet; reaches the machine; or is named for its
/// rigs. A node passes on nothing that was passed on to it.
fn other_node(lab: &Lab, request: &Request) -> Option<Elsewhere> {
    let fleet = lab.fleet.as_ref()?;
    let is_read = *request.method() == Method::GET;
    // Each other method is passed on as none: HEAD is safe wherever it comes from, and what it would be elsewhere is not.
    if is_passed_on(request.headers()) || !is_read && *request.method() != Method::POST {
        return None;
    }
    let (kind, which) = parts_of(request.uri().path());
    let known = lab.known();
    let job = match (kind?, which) {
        ("rigs", _) => {
            let name = Query::<Whose>::try_from_uri(request.uri()).ok()?.0.node.filter(|name| *name != fleet.node)?;
            let node = known.nodes.get(&name).filter(|node| !node.is_agent())?.clone();
            return Some(Elsewhere { job: None, nodes: vec![(name, node)] });
        }
        ("machines", Some(machine)) => {
            let reaches = |node: &NodeEntry| !node.is_agent() && node.machines.iter().any(|it| it == machine);
            let is_own = known.nodes.get(&fleet.node).is_some_and(reaches);
            let others = known.nodes.iter().filter(|(_, node)| !is_own && reaches(node));
            let nodes: Vec<_> = others.map(|(name, node)| (name.to_owned(), node.clone())).collect();
            return (!nodes.is_empty()).then_some(Elsewhere { job: None, nodes });
        }
        ("runs", Some(run)) if is_read => known.job_of_run(run)?,
        ("jobs", Some(job)) if is_read => known.job(job.parse().ok()?)?,
        _ => return None,
    };
    let name = job.node.clone().filter(|node| *node != fleet.node)?;
    let node = known.nodes.get(&name)?.clone();
    // A run that has ended is in each archive, sooner or later, or was removed; what its command said is where it was said.
    let archived = known.archive.get(&job.run).filter(|_| !job.state.is_open() && kind == Some("runs"));
    let is_here = archived.is_some_and(|archived| archived.removed.is_some() || archive::is_imported(lab, archived));
    (!is_here).then(|| Elsewhere { job: Some(job.clone()), nodes: vec![(name, node)] })
}

/// An answer as it comes, until something else has happened.
fn passed(answer: Answer, until: impl Future<Output = ()> + Send + 'static) -> Response {
    let (head, body) = answer.into_parts();
    let mut response = Response::new(as_it_comes(body.into_reader(), until));
    *response.status_mut() = head.status;
    for name in &ANSWERED {
        response.headers_mut().extend(head.headers.get(name).map(|value| (name.clone(), value.clone())));
    }
    response
}

/// What is read, part by part, until something else has happened.
pub(crate) fn as_it_comes(
    mut reader: impl std::io::Read + Send + 'static,
    until: impl Future<Output = ()> + Send + 'static,
) -> Body {
    // A part is kept until it is read, and the node waits meanwhile.
    let (sender, receiver) = channel::<std::io::Result<Bytes>>(4);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 16 * 1024];
        loop {
            let part = match reader.read(&mut buffer) {
                Ok(0) => return,
                Ok(length) => Ok(Bytes::copy_from_slice(&buffer[..length])),
                Err(error) => Err(error),
            };
            let is_last = part.is_err();
            if sender.blocking_send(part).is_err() || is_last {
                return;
            }
        }
    });
    let (to_asker, body) = channel(1);
    tokio::spawn(async move {
        let (mut receiver, mut until) = (receiver, std::pin::pin!(until));
        loop {
            let part = tokio::select! {
                part = receiver.recv() => part,
                () = &mut until => return,
                () = to_asker.closed() => return,
            };
            let Some(part) = part else { return };
            if to_asker.send(part).await.is_err() {
                return;
            }
        }
    });
    Body::from_stream(ReceiverStream::new(body))
}
