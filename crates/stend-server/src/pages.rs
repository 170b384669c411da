//! The pages, for people.

pub(crate) mod access;
pub(crate) mod journal;
pub(crate) mod lab;
pub(crate) mod machine;
pub(crate) mod migration;
pub(crate) mod nodes;
mod order_form;
pub(crate) mod results;
pub(crate) mod rigs;
pub(crate) mod samples;
pub(crate) mod schedule;
pub(crate) mod screen;

use std::convert::Infallible;
use std::sync::Arc;

use askama::Template;
use axum::extract::{FromRequestParts, State};
use axum::http::header::{ACCEPT_LANGUAGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{Html, IntoResponse, Redirect, Response};
use stend_report::words;
use stend_report::words::language::Language;

use crate::accounts::{Role, Who};
use crate::guard;
use crate::journal::Entry;
use crate::lab::Lab;
use crate::problem::Problem;
use crate::tell;

type Served = State<Arc<Lab>>;

/// Who reads a page, and in which language.
#[derive(Clone)]
pub(crate) struct Reader {
    language: Language,
    /// Nobody has signed in before the sign-in page.
    who: Option<Who>,
    /// Whether there are other nodes.
    is_of_fleet: bool,
    /// Why this node does not hear of them, if it does not.
    cut_off: Option<String>,
}

/// What a page says of the fleet, whatever it is about.
#[derive(Debug, Clone)]
pub(crate) struct OfFleet {
    pub(crate) cut_off: Option<String>,
}

impl<S: Sync> FromRequestParts<S> for Reader {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let mut reader = Self::of(&parts.headers, parts.extensions.get::<Who>().cloned());
        if let Some(OfFleet { cut_off }) = parts.extensions.get::<OfFleet>() {
            (reader.is_of_fleet, reader.cut_off) = (true, cut_off.clone());
        }
        Ok(reader)
    }
}

impl Reader {
    /// As the reader chose, else as the browser asks.
    pub(crate) fn of(headers: &HeaderMap, who: Option<Who>) -> Self {
        let chosen = guard::cookie(headers, "stend_language");
        let asked = headers.get(ACCEPT_LANGUAGE).and_then(|languages| languages.to_str().ok()).unwrap_or_default();
        let codes = chosen.into_iter().chain(asked.split(',').map(|code| code.trim().get(..2).unwrap_or_default()));
        let known = |code: &str| Language::ALL.iter().copied().find(|language| language.code() == code);
        let language = codes.into_iter().find_map(known).unwrap_or(Language::English);
        Self { language, who, is_of_fleet: false, cut_off: None }
    }

    /// Whether they may do what this role may.
    fn may(&self, role: Role) -> bool {
        self.who.as_ref().is_some_and(|who| who.role >= role)
    }

    /// Who asked for a page that only those get who have signed in.
    fn asker(&self) -> Who {
        self.who.clone().unwrap_or(Who { name: None, role: Role::Viewer, secret: String::new(), by_token: false })
    }

    fn say(&self, name: &str) -> String {
        words::say(&format!("server-{name}"), &[]).say(self.language).to_owned()
    }

    /// An entry of the journal as a sentence.
    fn entry(&self, entry: &Entry) -> String {
        crate::tell::sentence(entry, self.language)
    }

    /// How far a rig is; in the command's word where there is none of ours.
    fn rig(&self, state: &str) -> String {
        match state {
            "up" | "off" | "left" | "half-made" | "before-boot" => self.say(&format!("rig-{state}")),
            other => other.to_owned(),
        }
    }

    /// A time by this machine's clock.
    #[expect(clippy::unused_self, reason = "it is called in templates")]
    fn time(&self, time: &str) -> String {
        tell::local(time)
    }

    /// Where its texts stand among those of all languages.
    fn place(&self) -> usize {
        self.language as usize
    }

    fn code(&self) -> &'static str {
        self.language.code()
    }

    /// The other languages, each by its code and in its own words.
    fn others(&self) -> impl Iterator<Item = (&'static str, String)> {
        let own = self.language;
        let others = Language::ALL.iter().copied().filter(move |language| *language != own);
        others.map(|language| (language.code(), words::say("server-language", &[]).say(language).to_owned()))
    }
}

/// A page, or why there is none.
struct Page<T>(T);

impl<T: Template> IntoResponse for Page<T> {
    fn into_response(self) -> Response {
        match self.0.render() {
            Ok(text) => Html(text).into_response(),
            Err(error) => Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
        }
    }
}

#[derive(Template)]
#[template(path = "problem.html")]
struct Trouble {
    reader: Reader,
    problem: String,
}

/// A page that says what went wrong.
pub(crate) fn trouble(reader: Reader, problem: &Problem) -> Response {
    (problem.status(), Page(Trouble { reader, problem: problem.detail().to_owned() })).into_response()
}

/// A page, or the one that says why there is none.
fn page<T: Template>(reader: Reader, page: Result<T, Problem>) -> Response {
    match page {
        Ok(page) => Page(page).into_response(),
        Err(problem) => trouble(reader, &problem),
    }
}

/// A page that a command made. Its scripts are its own, and it holds text of others: it gets no part of this site.
fn walled_off(reader: Reader, page: Result<Vec<u8>, Problem>) -> Response {
    match page {
        Ok(page) => {
            let policy = HeaderValue::from_static("sandbox allow-scripts allow-popups; frame-ancestors 'none'");
            ([(CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response()
        }
        Err(problem) => trouble(reader, &problem),
    }
}

/// Leads to another page, or says what went wrong.
fn to(reader: Reader, done: Result<String, Problem>) -> Response {
    match done {
        Ok(page) => Redirect::to(&page).into_response(),
        Err(problem) => trouble(reader, &problem),
    }
}

pub(crate) async fn nothing(reader: Reader, uri: Uri) -> Response {
    if uri.path().starts_with("/api/") {
        return Problem::not_found("there is nothing of this name").into_response();
    }
    let said = reader.say("nothing-there");
    trouble(reader, &Problem::not_found(said))
}

/// What a layer refused in plain text (a body that is too long, a method that is not taken) is told like all else.
pub(crate) async fn in_problem_details(response: Response) -> Response {
    let is_plain = response
        .headers()
        .get(CONTENT_TYPE)
        .is_none_or(|kind| kind.to_str().is_ok_and(|kind| kind.starts_with("text/plain")));
    let status = response.status();
    if is_plain && (status.is_client_error() || status.is_server_error()) {
        let (parts, body) = response.into_parts();
        let said = axum::body::to_bytes(body, 4096).await.unwrap_or_default();
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        let said = if said.is_empty() { status.canonical_reason().unwrap_or_default().to_owned() } else { said };
        let mut told = Problem::new(status, said).into_response();
        for (name, value) in &parts.headers {
            told.headers_mut().entry(name).or_insert_with(|| value.clone());
        }
        return told;
    }
    response
}

pub(crate) async fn style() -> Response {
    file("text/css; charset=utf-8", include_str!("../static/style.css"))
}

pub(crate) async fn script() -> Response {
    file("text/javascript; charset=utf-8", include_str!("../static/live.js"))
}

fn file(kind: &'static str, text: &'static str) -> Response {
    ([(CONTENT_TYPE, kind), (axum::http::header::CACHE_CONTROL, "no-cache")], text).into_response()
}
