//! Asking a server: bounded, without redirects, and with the token for nobody else.

use std::io::ErrorKind;
use std::net::IpAddr;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use stend_model::plain;
use ureq::http::{HeaderValue, Response, Uri};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, Error};

use crate::cli::failure::Failure;

/// No answer is longer.
const LONGEST_ANSWER: u64 = 256 << 20;
/// How long a server may think about a comparison, or about whether a run can be made, and how long an answer may take to come.
const LONGEST_WAIT: Duration = Duration::from_secs(600);
/// What is silent so long is gone: events come with a sign of life every 15 seconds.
const LONGEST_SILENCE: Duration = Duration::from_secs(60);
const TO_CONNECT: Duration = Duration::from_secs(10);

/// A server, and what is sent with each request.
#[derive(Clone)]
pub(super) struct Link {
    agent: Agent,
    url: String,
    bearer: HeaderValue,
}

/// Why there is no answer.
pub(super) enum Lost {
    /// No connection was made, so the server knows nothing of it.
    Unreached(Failure),
    /// The connection was lost, perhaps behind the request.
    Cut(Failure),
    /// There is one, and it is no.
    Refused(Failure),
}

impl From<Lost> for Failure {
    fn from(lost: Lost) -> Self {
        let (Lost::Unreached(failure) | Lost::Cut(failure) | Lost::Refused(failure)) = lost;
        failure
    }
}

impl Link {
    pub(super) fn new(url: &str) -> Result<Self, Failure> {
        let url = checked(url)?;
        let token = std::env::var("STEND_TOKEN").ok().filter(|token| !token.is_empty());
        let token = token.ok_or_else(|| {
            Failure::usage(format!(
                "STEND_TOKEN is not set: create a token on the page \"Users and tokens\" of {url}, and export it"
            ))
        })?;
        // What its text is, is nobody's business.
        let mut bearer = HeaderValue::from_str(&format!("Bearer {}", token.trim()))
            .map_err(|_| Failure::usage("STEND_TOKEN is no token: it has characters that no token has"))?;
        bearer.set_sensitive(true);
        let tls = TlsConfig::builder().root_certs(roots()?).build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            // One for plain HTTP would read the token.
            .proxy(None)
            .tls_config(tls)
            .user_agent(concat!("stend/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(TO_CONNECT))
            .timeout_connect(Some(TO_CONNECT))
            .timeout_per_write(Some(LONGEST_SILENCE))
            .timeout_recv_response(Some(LONGEST_WAIT))
            .build();
        Ok(Self { agent: config.new_agent(), url, bearer })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn get<T: DeserializeOwned>(&self, path: &str, query: &[(String, String)]) -> Result<T, Lost> {
        let mut request = self.agent.get(self.at(path)).header("authorization", &self.bearer);
        for (name, value) in query {
            request = request.query(name, value);
        }
        let request = request.config().timeout_recv_body(Some(LONGEST_WAIT)).build();
        self.read(request.call())
    }

    /// Sends something, which with the same key is the same.
    pub(super) fn post<T: DeserializeOwned>(&self, path: &str, sent: Option<(&Value, &str)>) -> Result<T, Lost> {
        let request = self.agent.post(self.at(path)).header("authorization", &self.bearer);
        let request = request.config().timeout_recv_body(Some(LONGEST_WAIT)).build();
        self.read(match sent {
            None => request.send_empty(),
            Some((value, key)) => {
                let request = request.header("content-type", "application/json");
                let request = if key.is_empty() { request } else { request.header("idempotency-key", key) };
                request.send(value.to_string().as_bytes())
            }
        })
    }

    /// Sends a text, which is kept once however often it comes.
    pub(super) fn send<T: DeserializeOwned>(&self, path: &str, kind: &str, text: &str) -> Result<T, Lost> {
        let request = self.agent.post(self.at(path)).header("authorization", &self.bearer);
        let request = request.config().timeout_recv_body(Some(LONGEST_WAIT)).build();
        self.read(request.header("content-type", kind).send(text.as_bytes()))
    }

    /// The events of a run behind this repeat, as they come.
    pub(super) fn events(&self, run: &str, after: Option<u32>) -> Result<impl std::io::Read + use<>, Lost> {
        let path = self.at(&format!("/runs/{run}/events?until=ended"));
        let mut request = self.agent.get(path).header("authorization", &self.bearer);
        if let Some(after) = after {
            request = request.header("last-event-id", after.to_string());
        }
        let request = request.config().timeout_per_read(Some(LONGEST_SILENCE)).build();
        let response = self.accepted(request.call())?;
        Ok(response.into_body().into_with_config().limit(LONGEST_ANSWER).reader())
    }

    /// Asks until there is an answer, if one was lost on its way. Where nobody answers at all that is said at once.
    pub(super) fn insist<T>(&self, ask: impl Fn(&Self) -> Result<T, Lost>) -> Result<T, Failure> {
        let mut was_cut = false;
        for pause in [100, 300, 1000, 3000, 5000].map(Duration::from_millis) {
            match ask(self) {
                Err(Lost::Cut(_)) => was_cut = true,
                Err(Lost::Unreached(_)) if was_cut => {}
                answer => return Ok(answer?),
            }
            std::thread::sleep(pause);
        }
        Ok(ask(self)?)
    }

    fn at(&self, path: &str) -> String {
        format!("{}/api/v1{path}", self.url)
    }

    fn read<T: DeserializeOwned>(&self, answer: Result<Response<Body>, Error>) -> Result<T, Lost> {
        let mut response = self.accepted(answer)?;
        let body = response.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec();
        let body = body.map_err(|error| self.lost(error))?;
        serde_json::from_slice(&body).map_err(|_| Lost::Refused(self.strange()))
    }

    /// An answer that is one.
    fn accepted(&self, answer: Result<Response<Body>, Error>) -> Result<Response<Body>, Lost> {
        #[derive(Deserialize)]
        struct Problem {
            detail: String,
        }
        const LONGEST_PROBLEM: u64 = 64 << 10;
        let mut response = answer.map_err(|error| self.lost(error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status.is_redirection() {
            let to = response.headers().get("location").and_then(|to| to.to_str().ok()).unwrap_or("nowhere");
            let said = format!("{} redirects to {}, which is not followed", self.url, brief(to));
            return Err(Lost::Refused(Failure::usage(said)));
        }
        let body = response.body_mut().with_config().limit(LONGEST_PROBLEM).read_to_vec().unwrap_or_default();
        let detail = serde_json::from_slice::<Problem>(&body).map(|problem| brief(&problem.detail));
        // What stands before the server says so while that is started anew; a `stend serve` has other words.
        if matches!(status.as_u16(), 502 | 504) {
            return Err(Lost::Cut(Failure::unusable(format!("{} is not reached by what answers for it", self.url))));
        }
        Err(Lost::Refused(match detail {
            _ if status.as_u16() == 401 => {
                Failure::usage(format!("{} does not know the token in STEND_TOKEN", self.url))
            }
            Ok(detail) if status.is_client_error() => Failure::usage(detail),
            Ok(detail) => Failure::unusable(format!("{}: {detail}", self.url)),
            Err(_) => {
                Failure::unusable(format!("{} answers with status {}, and does not say why", self.url, status.as_u16()))
            }
        }))
    }

    /// Why there is no answer, or none that can be read.
    fn lost(&self, error: Error) -> Lost {
        let said = if let Error::Io(of_system) = &error { of_system.to_string() } else { error.to_string() };
        let failure = Failure::unusable(format!("{}: {}", self.url, brief(&said)));
        match error {
            Error::HostNotFound
            | Error::ConnectionFailed
            | Error::Timeout(ureq::Timeout::Resolve | ureq::Timeout::Connect) => Lost::Unreached(failure),
            Error::Io(error) => match error.kind() {
                ErrorKind::ConnectionRefused | ErrorKind::HostUnreachable | ErrorKind::NetworkUnreachable => {
                    Lost::Unreached(failure)
                }
                // A certificate that is none, for instance.
                ErrorKind::InvalidData | ErrorKind::Other => Lost::Refused(failure),
                _ => Lost::Cut(failure),
            },
            Error::Timeout(_) | Error::BodyStalled => Lost::Cut(failure),
            Error::BodyExceedsLimit(_) => {
                Lost::Refused(Failure::unusable(format!("{} answers with more than 256 MiB", self.url)))
            }
            _ => Lost::Refused(failure),
        }
    }

    /// What is said of an answer that no server of this program gives.
    pub(super) fn strange(&self) -> Failure {
        Failure::unusable(format!("{} answers something else than a `stend serve` does", self.url))
    }
}

/// What a server said, as far as it is worth repeating, in one line.
pub(super) fn brief(text: &str) -> String {
    plain::one_line(text).chars().take(500).collect()
}

/// A URL whose server the token may be sent to, without a slash at its end.
fn checked(url: &str) -> Result<String, Failure> {
    let bad = |why: &str| {
        Failure::usage(format!("--server: {why}; it is such as http://127.0.0.1:7836 or https://lab.example"))
    };
    let uri: Uri = url.parse().map_err(|_| bad("this is no URL"))?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(bad("it begins with http:// or https://"));
    };
    // Not repeated: it may be a password.
    if authority.as_str().contains('@') || uri.query().is_some() {
        return Err(bad("a name, a password or a query is no part of it"));
    }
    let host = authority.host();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    let is_loopback = host == "localhost" || address.is_ok_and(|address| address.is_loopback());
    match scheme {
        "https" => {}
        "http" if is_loopback => {}
        "http" => {
            return Err(Failure::usage(format!(
                "--server {url}: the token would be readable on the way; use https, or forward the port: ssh -L {port}:127.0.0.1:{port} {host}",
                port = authority.port_u16().unwrap_or(7836)
            )));
        }
        _ => return Err(bad("it begins with http:// or https://")),
    }
    Ok(url.trim_end_matches('/').to_owned())
}

/// Whose certificates are trusted: the web's authorities, or those in the file that STEND_SERVER_CA names.
fn roots() -> Result<RootCerts, Failure> {
    let Some(file) = std::env::var_os("STEND_SERVER_CA").filter(|file| !file.is_empty()) else {
        return Ok(RootCerts::WebPki);
    };
    let bad = |why: String| Failure::usage(format!("STEND_SERVER_CA: {}: {why}", file.display()));
    let text = std::fs::read(&file).map_err(|error| bad(error.to_string()))?;
    let items: Vec<_> = parse_pem(&text).collect::<Result<_, _>>().map_err(|error| bad(error.to_string()))?;
    let certificates: Vec<_> = items
        .into_iter()
        .filter_map(|item| if let PemItem::Certificate(certificate) = item { Some(certificate) } else { None })
        .collect();
    if certificates.is_empty() {
        return Err(bad("there is no certificate in it; it is a PEM file".into()));
    }
    Ok(RootCerts::new_with_certs(&certificates))
}
