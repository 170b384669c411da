//! Who may ask: a session's cookie or a token, from a page of this server, by a name that it goes by.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, ORIGIN, REFERRER_POLICY,
};
use axum::http::header::{RETRY_AFTER, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};

use crate::accounts::{Kind, LONGEST_NAME, Role, Secret, Who, digest, fresh_secret, is_password};
use crate::database::{Edit, USERS};
use crate::error::ServerError;
use crate::journal;
use crate::lab::Lab;
use crate::pages::{OfFleet, Reader};
use crate::peers::{self, Asker};
use crate::problem::Problem;
use crate::throttle::Throttle;
use crate::tls::Names;

/// A session ends so many seconds after it began.
const SESSION_SECONDS: i64 = 12 * 3600;

/// The name of the session's cookie.
const COOKIE_NAME: &str = "stend_session";

/// What the pages load: from this server alone, and no script that stands in a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// Refuses what comes by another name or from another site's page, and says what pages may do.
pub(crate) async fn same_site(State(names): State<Arc<Names>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    // A name that somebody else's server gave to this address would make its pages pages of this one.
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    if !names.has(host) {
        let said = format!("this server goes by {names}");
        return Problem::new(StatusCode::MISDIRECTED_REQUEST, said).into_response();
    }
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD);
    let from = headers.get(ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
    let is_own = from.is_none_or(|origin| origin.strip_prefix(names.scheme()).is_some_and(|from| from == host));
    let site = headers.get("sec-fetch-site").map(|site| site.to_str().unwrap_or_default());
    let is_same_site = site.is_none_or(|site| matches!(site, "same-origin" | "none"));
    if !is_safe && (!is_own || !is_same_site) {
        return Problem::new(StatusCode::FORBIDDEN, "asked by a page of another site").into_response();
    }
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    // A report has a policy of its own.
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    // With no-referrer browsers send the origin `null` with this site's own forms.
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Lets those pass who have signed in: a program with a token, a browser with a cookie.
pub(crate) async fn signed_in(State(lab): State<Arc<Lab>>, mut request: Request, next: Next) -> Response {
    let headers = request.headers();
    let (secret, kind) = match bearer(headers) {
        Some(token) => (Some(token.to_owned()), Kind::Token),
        None => (cookie(headers, COOKIE_NAME).map(str::to_owned), Kind::Session),
    };
    if let Some(secret) = secret {
        let who = match peers::asker(&lab, &secret, headers).filter(|_| kind == Kind::Token) {
            Some(Asker::Node(who)) => Some(who),
            Some(Asker::For(digest)) => lab.of_secret(digest, |known| known.of_digest(digest, now())).await,
            None => lab.of_secret(&digest(&secret), |known| known.who(&secret, kind, now())).await,
        };
        if let Some(who) = who {
            request.extensions_mut().insert(who);
            if lab.fleet.is_some() {
                request.extensions_mut().insert(OfFleet { cut_off: lab.cut_off() });
            }
            return next.run(request).await;
        }
    }
    let path = request.uri().path();
    let is_page = *request.method() == Method::GET && !path.starts_with("/api/") && path != "/metrics";
    if is_page {
        return Redirect::to("/sign-in").into_response();
    }
    Problem::new(StatusCode::UNAUTHORIZED, "sign in first, or send a token: Authorization: Bearer TOKEN")
        .into_response()
}

/// Lets those pass who have this role or a higher one.
pub(crate) async fn needs(State(least): State<Role>, request: Request, next: Next) -> Response {
    let who = request.extensions().get::<Who>().cloned();
    if who.as_ref().is_some_and(|who| who.role >= least) {
        return next.run(request).await;
    }
    let problem = lacks(least, who.as_ref());
    if request.uri().path().starts_with("/api/") {
        return problem.into_response();
    }
    crate::pages::trouble(Reader::of(request.headers(), who), &problem)
}

/// Says that somebody lacks a role.
pub(crate) fn lacks(least: Role, who: Option<&Who>) -> Problem {
    let is = who.map_or("nobody", |who| who.role.word());
    let said = format!("this needs the role {}, and you are signed in as {is}", least.word());
    Problem::new(StatusCode::FORBIDDEN, said)
}

/// Lets those pass who have signed in themselves: what a program does with a token must not outlive the token.
pub(crate) async fn in_person(request: Request, next: Next) -> Response {
    if request.extensions().get::<Who>().is_some_and(|who| who.by_token) {
        let said = "a token manages neither tokens nor passwords: sign in for that";
        return Problem::new(StatusCode::FORBIDDEN, said).into_response();
    }
    next.run(request).await
}

pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(COOKIE).into_iter().filter_map(|cookies| cookies.to_str().ok());
    let mut each = all.flat_map(|cookies| cookies.split(';'));
    each.find_map(|cookie| cookie.trim().split_once('=').filter(|(found, _)| *found == name).map(|(_, value)| value))
}

/// What somebody signs in with.
#[derive(Debug)]
pub(crate) enum Credentials {
    /// The one-time token, which is none afterwards.
    Once(String),
    /// A user's name and password.
    Password { name: String, password: String },
}

/// What became of it.
#[derive(Debug)]
pub(crate) enum SignIn {
    /// The cookie of a session.
    In(HeaderValue),
    Wrong,
    /// Too many tries; so many seconds until the next.
    TooOften(u64),
}

/// Who tries, and how often they did.
pub(crate) struct Tries {
    /// An address with a name: who guesses one password does not keep another user from signing in, nor this one from elsewhere.
    of_name: Throttle<(IpAddr, String)>,
    /// An address: who guesses names is slow as well, and the machine is not kept busy.
    of_address: Throttle<IpAddr>,
}

impl Tries {
    pub(crate) fn new() -> Self {
        Self {
            of_name: Throttle::new(5, Duration::from_secs(30)),
            of_address: Throttle::new(30, Duration::from_secs(3)),
        }
    }
}

/// An address as far as one customer of a provider has it: the first half of a long one.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(long) => {
            let [a, b, c, d, ..] = long.segments();
            std::net::Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        short @ IpAddr::V4(_) => short,
    }
}

/// Signs somebody in.
pub(crate) async fn sign_in(
    lab: &Arc<Lab>,
    from: ConnectInfo<SocketAddr>,
    credentials: Credentials,
) -> Result<SignIn, ServerError> {
    let from = network(from.0.ip());
    let (who, found) = match credentials {
        Credentials::Once(token) => {
            if !lab.change(move |edit| Ok(edit.forget_secret(&token, Kind::Once))).await? {
                return Ok(SignIn::Wrong);
            }
            (None, None)
        }
        Credentials::Password { name, password } => match right_password(lab, from, name, password).await? {
            Tried::Right { name, hash } => (Some(name), Some(hash)),
            Tried::Wrong => return Ok(SignIn::Wrong),
            Tried::TooOften(wait) => return Ok(SignIn::TooOften(wait.as_secs() + 1)),
        },
    };
    let session = fresh_secret();
    let of_session = session.clone();
    let keep = move |edit: &mut Edit| {
        let account = who.as_ref().and_then(|name| edit.known.account(name));
        // It may have been changed while it was looked at.
        let role = match account.filter(|account| Some(&account.password) == found.as_ref()) {
            Some(account) => account.role,
            None if who.is_none() => Role::Admin,
            None => return Ok(false),
        };
        edit.keep_secret(&Secret {
            secret: &of_session,
            kind: Kind::Session,
            user: who.as_deref(),
            role,
            name: "",
            ends_at: Some(now() + SESSION_SECONDS),
        });
        edit.note(journal::Kind::SignedIn, who.as_deref(), &from.to_string(), role.word());
        Ok(true)
    };
    if !lab.change(keep).await? {
        return Ok(SignIn::Wrong);
    }
    let secure = if lab.is_secure { "; Secure" } else { "" };
    let cookie =
        format!("{COOKIE_NAME}={session}; Path=/; HttpOnly; SameSite=Strict; Max-Age={SESSION_SECONDS}{secure}");
    Ok(SignIn::In(HeaderValue::from_str(&cookie).expect("it is plain text")))
}

/// What became of a password.
pub(crate) enum Tried {
    /// It is this user's, whose password has this hash.
    Right {
        name: String,
        hash: String,
    },
    Wrong,
    TooOften(Duration),
}

/// Looks at a password, unless too many were wrong.
pub(crate) async fn right_password(
    lab: &Arc<Lab>,
    from: IpAddr,
    name: String,
    password: String,
) -> Result<Tried, ServerError> {
    // One at a time: each takes memory and a processor, which may be what is measured.
    let _one = lab.one_sign_in.lock().await;
    let is_name = name.len() <= LONGEST_NAME;
    // What is no name is not remembered as one.
    let key = (from, if is_name { name.clone() } else { String::new() });
    if let Some(wait) = tries(&lab.tries).wait(&key) {
        return Ok(Tried::TooOften(wait));
    }
    let known = || lab.known().account(&name).map(|account| account.password.clone());
    let is_right = async |hash: &Option<String>| {
        let (password, hash) = (password.clone(), hash.clone());
        is_name && lab.hash(move || is_password(&password, hash.as_deref())).await
    };
    let mut hash = known();
    let mut right = is_right(&hash).await;
    if is_name && !right {
        // A command or another node may have set it just now.
        lab.refresh(USERS.to_owned()).await;
        let newest = known();
        if newest != hash {
            right = is_right(&newest).await;
            hash = newest;
        }
    }
    if let (true, Some(hash)) = (right, hash) {
        tries(&lab.tries).of_name.forgive(&key);
        return Ok(Tried::Right { name, hash });
    }
    tries(&lab.tries).count(key);
    let about = crate::api::brief(&name);
    let note = move |edit: &mut Edit| {
        edit.note_once(journal::Kind::SignInRefused, &about, &from.to_string());
        Ok(())
    };
    lab.change(note).await?;
    Ok(Tried::Wrong)
}

fn tries(tries: &Mutex<Tries>) -> std::sync::MutexGuard<'_, Tries> {
    tries.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tries {
    fn wait(&self, key: &(IpAddr, String)) -> Option<Duration> {
        let now = Instant::now();
        self.of_name.wait(key, now).max(self.of_address.wait(&key.0, now))
    }

    fn count(&mut self, key: (IpAddr, String)) {
        let now = Instant::now();
        self.of_address.count(key.0, now);
        self.of_name.count(key, now);
    }
}

/// Says when the next try may be.
pub(crate) fn later(mut response: Response, seconds: u64) -> Response {
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    response.headers_mut().insert(RETRY_AFTER, seconds.into());
    response
}

/// Ends the session of a browser.
pub(crate) async fn sign_out(lab: &Arc<Lab>, headers: &HeaderMap) -> Result<HeaderValue, ServerError> {
    if let Some(session) = cookie(headers, COOKIE_NAME).map(str::to_owned) {
        // Streams that are open end with it.
        lab.change(move |edit| Ok(edit.forget_secret(&session, Kind::Session))).await?;
    }
    Ok(HeaderValue::from_static("stend_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"))
}
