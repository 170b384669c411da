//! Who may ask: a session's cookie or a token, from a page of this server, by a name that it goes by.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, ORIGIN, REFERRER_POLICY,
};
use axum::http::header::{X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use sha2::{Digest as _, Sha256};

use crate::lab::Lab;
use crate::problem::Problem;

/// A session ends so many seconds after it began.
const SESSION_SECONDS: i64 = 12 * 3600;

/// The name of the session's cookie.
const COOKIE_NAME: &str = "stend_session";

/// What the pages load: from this server alone, and no script that stands in a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The kinds of secrets; each is kept by its digest.
pub(crate) const ONCE: &str = "once";
const SESSION: &str = "session";
const TOKEN: &str = "token";

/// A secret that nobody guesses: 256 bits.
pub(crate) fn fresh_secret() -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn digest(secret: &str) -> Vec<u8> {
    Sha256::digest(secret.as_bytes()).to_vec()
}

pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// Refuses what comes by another name or from another site's page, and says what pages may do.
pub(crate) async fn same_site(State(address): State<SocketAddr>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    // A name that somebody else's server gave to this address would make its pages pages of this one.
    let host = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let port = address.port();
    let own = [format!("localhost:{port}"), address.to_string()];
    if !own.iter().any(|name| name == host) {
        return Problem::new(StatusCode::MISDIRECTED_REQUEST, format!("this server goes by the name {address}"))
            .into_response();
    }
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD);
    let from = headers.get(ORIGIN).map(|origin| origin.to_str().unwrap_or_default());
    let is_own = from.is_none_or(|origin| own.iter().any(|name| origin == format!("http://{name}")));
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
pub(crate) async fn signed_in(State(lab): State<Arc<Lab>>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let (secret, kind) = match bearer(headers) {
        Some(token) => (Some(token.to_owned()), TOKEN),
        None => (cookie(headers, COOKIE_NAME).map(str::to_owned), SESSION),
    };
    if let Some(secret) = secret {
        let has = lab.with_jobs(move |jobs| jobs.has_secret(&digest(&secret), kind, now())).await;
        match has {
            Ok(true) => return next.run(request).await,
            Ok(false) => {}
            Err(error) => return Problem::of_server(&error).into_response(),
        }
    }
    if request.uri().path().starts_with("/api/") {
        let problem = Problem::new(StatusCode::UNAUTHORIZED, "sign in, or send a token: Authorization: Bearer TOKEN");
        return ([("www-authenticate", "Bearer")], problem).into_response();
    }
    Redirect::to("/sign-in").into_response()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(COOKIE).into_iter().filter_map(|cookies| cookies.to_str().ok());
    let mut each = all.flat_map(|cookies| cookies.split(';'));
    each.find_map(|cookie| cookie.trim().split_once('=').filter(|(found, _)| *found == name).map(|(_, value)| value))
}

/// Takes the one-time token, which is none afterwards, and gives the cookie of a session; nothing for any other token.
pub(crate) async fn sign_in(lab: &Arc<Lab>, token: String) -> Result<Option<HeaderValue>, crate::error::ServerError> {
    let session = fresh_secret();
    let of_session = digest(&session);
    let is_right = lab
        .with_jobs(move |jobs| {
            if !jobs.forget_secret(&digest(&token), ONCE)? {
                return Ok(false);
            }
            jobs.keep_secret(&of_session, SESSION, Some(now() + SESSION_SECONDS)).map(|()| true)
        })
        .await?;
    let cookie = format!("{COOKIE_NAME}={session}; Path=/; HttpOnly; SameSite=Strict; Max-Age={SESSION_SECONDS}");
    Ok(is_right.then(|| HeaderValue::from_str(&cookie).expect("it is plain text")))
}

/// Ends the session of a browser.
pub(crate) async fn sign_out(lab: &Arc<Lab>, headers: &HeaderMap) -> Result<HeaderValue, crate::error::ServerError> {
    if let Some(session) = cookie(headers, COOKIE_NAME).map(str::to_owned) {
        lab.with_jobs(move |jobs| jobs.forget_secret(&digest(&session), SESSION)).await?;
    }
    Ok(HeaderValue::from_static("stend_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"))
}

/// A token for programs. It is shown once.
pub(crate) async fn make_token(lab: &Arc<Lab>) -> Result<String, crate::error::ServerError> {
    let token = fresh_secret();
    let of_token = digest(&token);
    lab.with_jobs(move |jobs| jobs.keep_secret(&of_token, TOKEN, None)).await?;
    Ok(token)
}
