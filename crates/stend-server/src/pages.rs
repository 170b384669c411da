//! The pages, for people.

use std::sync::Arc;

use askama::Template;
use axum::Form;
use axum::extract::{Path, Query, Request, State};
use axum::http::header::{ACCEPT_LANGUAGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse, Redirect, Response};
use serde::Deserialize;
use stend_model::record::Summary;
use stend_model::run::HERE;
use stend_report::words;
use stend_report::words::language::Language;

use crate::api::{self, WhichRuns, blocking};
use crate::guard;
use crate::jobs::{Job, Order, State as Stage};
use crate::lab::Lab;
use crate::problem::Problem;
use crate::work;

type Served = State<Arc<Lab>>;

/// A reader's language, and what is said in it.
#[derive(Clone, Copy)]
struct Words(Language);

impl Words {
    /// As the reader chose, else as the browser asks.
    fn of(headers: &HeaderMap) -> Self {
        let chosen = guard::cookie(headers, "stend_language");
        let asked = headers.get(ACCEPT_LANGUAGE).and_then(|languages| languages.to_str().ok()).unwrap_or_default();
        let codes = chosen.into_iter().chain(asked.split(',').map(|code| code.trim().get(..2).unwrap_or_default()));
        let known = |code: &str| Language::ALL.iter().copied().find(|language| language.code() == code);
        Self(codes.into_iter().find_map(known).unwrap_or(Language::English))
    }

    fn say(self, name: &str) -> String {
        words::say(&format!("server-{name}"), &[]).say(self.0).to_owned()
    }

    /// Where its texts stand among those of all languages.
    fn place(self) -> usize {
        self.0 as usize
    }

    fn code(self) -> &'static str {
        self.0.code()
    }

    /// The other languages, each by its code and in its own words.
    fn others(self) -> impl Iterator<Item = (&'static str, String)> {
        let others = Language::ALL.iter().copied().filter(move |language| *language != self.0);
        others.map(|language| (language.code(), Self(language).say("language")))
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
#[template(path = "home.html")]
struct Home {
    words: Words,
    machines: Vec<Machine>,
    suites: Vec<(String, String)>,
    jobs: Vec<Job>,
    runs: Vec<Summary>,
    /// What a form was refused for, and what it held.
    problem: Option<String>,
    form: OrderForm,
    token: Option<String>,
}

/// A machine, what is measured on it, and how many jobs wait for it.
struct Machine {
    name: String,
    at_work: Option<Job>,
    waiting: usize,
}

#[derive(Template)]
#[template(path = "run.html")]
struct OneRun {
    words: Words,
    run: String,
    title: String,
    job: Option<Job>,
    log: String,
    has_begun: bool,
}

#[derive(Template)]
#[template(path = "sign_in.html")]
struct SignIn {
    words: Words,
    token: String,
    is_wrong: bool,
}

#[derive(Template)]
#[template(path = "problem.html")]
struct Trouble {
    words: Words,
    problem: String,
}

/// The fields of the form that starts a run, as a browser sends them.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct OrderForm {
    suite: String,
    machine: String,
    #[serde(default)]
    label: String,
    #[serde(default)]
    repeats: String,
    #[serde(default)]
    scale: String,
    #[serde(default)]
    a: String,
    #[serde(default)]
    b: String,
    /// Variables of the suite: NAME=VALUE, separated by spaces.
    #[serde(default)]
    set: String,
    #[serde(default)]
    even_if_unfit: String,
    /// Drawn with the form, so that a form that is sent twice starts one run.
    #[serde(default)]
    key: String,
}

impl OrderForm {
    fn blank() -> Self {
        Self { suite: "quick".into(), machine: HERE.into(), ..Self::default() }
    }

    /// The order, or the field that is filled in wrongly, with what stands in it.
    fn order(&self) -> Result<Order, (&'static str, String)> {
        let given = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let repeats = given(&self.repeats).map(|text| text.parse().map_err(|_| ("repeats", text)));
        let scale = given(&self.scale).map(|text| text.parse().map_err(|_| ("scale", text)));
        let variable = |text: &str| match text.split_once('=') {
            Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
            None => Err(("variables", text.to_owned())),
        };
        let sides = [self.a.trim().to_owned(), self.b.trim().to_owned()];
        Ok(Order {
            suite: self.suite.clone(),
            machine: self.machine.clone(),
            label: given(&self.label),
            repeats: repeats.transpose()?,
            scale: scale.transpose()?,
            set: self.set.split_whitespace().map(variable).collect::<Result<_, _>>()?,
            even_if_unfit: !self.even_if_unfit.is_empty(),
            sides: (sides != [const { String::new() }; 2]).then_some(sides),
        })
    }
}

pub(crate) async fn home(lab: Served, headers: HeaderMap) -> Response {
    let form = OrderForm::blank();
    home_with(&lab, &headers, form, None, None).await
}

async fn home_with(
    lab: &Arc<Lab>,
    headers: &HeaderMap,
    form: OrderForm,
    problem: Option<String>,
    token: Option<String>,
) -> Response {
    let words = Words::of(headers);
    let form = OrderForm { key: guard::fresh_secret(), ..form };
    let gather = async {
        let open = lab.with_jobs(|jobs| jobs.open_ones()).await?;
        let jobs = lab.with_jobs(|jobs| jobs.newest(None, 20)).await?;
        let which = WhichRuns::newest(20);
        let runs = api::newest_runs(lab, which).await?.runs;
        let machine = |name: String| {
            let of_it = || open.iter().filter(|job| job.order.machine == name);
            let at_work = of_it().find(|job| job.state.is_at_work()).cloned();
            let waiting = of_it().filter(|job| job.state == Stage::Waiting).count();
            Machine { at_work, waiting, name }
        };
        let machines = lab.machines().await?.into_iter().map(machine).collect();
        let suites = api::suite_names(lab).await?;
        Ok::<_, Problem>(Home { words, machines, suites, jobs, runs, problem, form, token })
    };
    match gather.await {
        Ok(home) => Page(home).into_response(),
        Err(problem) => trouble(words, problem),
    }
}

pub(crate) async fn start(lab: Served, headers: HeaderMap, Form(form): Form<OrderForm>) -> Response {
    let key = Some(form.key.clone()).filter(|key| !key.is_empty() && key.len() <= api::LONGEST_KEY);
    let order = match form.order() {
        Ok(order) => order,
        Err((field, text)) => {
            let words = Words::of(&headers);
            let text: String = text.chars().take(40).collect();
            let said = format!("{}: {} \"{text}\"", words.say(field), words.say("makes-no-sense"));
            let mut page = home_with(&lab, &headers, form, Some(said), None).await;
            *page.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
            return page;
        }
    };
    match api::ordered(&lab, order, key).await {
        Ok(_) => Redirect::to("/").into_response(),
        Err(problem) => {
            let mut page = home_with(&lab, &headers, form, Some(problem.detail().to_owned()), None).await;
            *page.status_mut() = problem.status();
            page
        }
    }
}

pub(crate) async fn run(lab: Served, headers: HeaderMap, Path(id): Path<String>) -> Response {
    let words = Words::of(&headers);
    let gather = async {
        let wanted = id.clone();
        let job = lab.with_jobs(move |jobs| jobs.job_of_run(&wanted)).await?;
        // One that waits is in the queue alone.
        let id = match (&job, api::known_run(&lab, id).await) {
            (_, Ok(id)) => id,
            (Some(job), Err(_)) => job.run.clone(),
            (None, Err(problem)) => return Err(problem),
        };
        let wanted = id.clone();
        let log = blocking(&lab, move |lab| work::log(lab, &wanted)).await?;
        let runs = blocking(&lab, Lab::runs).await??;
        let known = runs.iter().find(|run| run.id == id);
        let suite = known.map(|run| run.suite.clone()).or_else(|| job.as_ref().map(|job| job.order.suite.clone()));
        let label = known.and_then(|run| run.label.clone()).or_else(|| job.as_ref()?.order.label.clone());
        let title = format!("{} · {}", label.unwrap_or_else(|| id.clone()), suite.unwrap_or_default());
        Ok(OneRun { words, has_begun: known.is_some(), run: id, title, job, log })
    };
    match gather.await {
        Ok(page) => Page(page).into_response(),
        Err(problem) => trouble(words, problem),
    }
}

/// The report's own page, of one run or of several compared.
pub(crate) async fn report(lab: Served, headers: HeaderMap, Query(which): Query<api::Compared>) -> Response {
    let words = Words::of(&headers);
    let gather = async {
        let mut command = vec!["report".to_owned(), "--output=-".into(), "--".into()];
        command.extend(api::names(&which.runs)?.into_iter().map(str::to_owned));
        Ok::<_, Problem>(blocking(&lab, move |lab| work::ask(lab, &command)).await??)
    };
    match gather.await {
        // Its scripts are its own, and it holds text of others: it gets no part of this site.
        Ok(page) => {
            let policy = HeaderValue::from_static("sandbox allow-scripts allow-popups; frame-ancestors 'none'");
            ([(CONTENT_SECURITY_POLICY, policy)], Html(page)).into_response()
        }
        Err(problem) => trouble(words, problem),
    }
}

pub(crate) async fn stop(lab: Served, headers: HeaderMap, Path(job): Path<i64>) -> Response {
    back(&headers, api::stopped(&lab, job).await.map(|job| job.run))
}

pub(crate) async fn resume(lab: Served, headers: HeaderMap, Path(job): Path<i64>) -> Response {
    back(&headers, api::resumed(&lab, job).await.map(|job| job.run))
}

fn back(headers: &HeaderMap, done: Result<String, Problem>) -> Response {
    match done {
        Ok(run) => Redirect::to(&format!("/runs/{run}")).into_response(),
        Err(problem) => trouble(Words::of(headers), problem),
    }
}

pub(crate) async fn token(lab: Served, headers: HeaderMap) -> Response {
    match guard::make_token(&lab).await {
        Ok(token) => {
            let form = OrderForm::blank();
            home_with(&lab, &headers, form, None, Some(token)).await
        }
        Err(error) => trouble(Words::of(&headers), error.into()),
    }
}

/// What the address of the sign-in page may hold.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Signing {
    #[serde(default)]
    token: String,
}

pub(crate) async fn sign_in(headers: HeaderMap, Query(signing): Query<Signing>) -> Response {
    Page(SignIn { words: Words::of(&headers), token: signing.token, is_wrong: false }).into_response()
}

pub(crate) async fn signing_in(lab: Served, headers: HeaderMap, Form(signing): Form<Signing>) -> Response {
    match guard::sign_in(&lab, signing.token).await {
        Ok(Some(cookie)) => ([(SET_COOKIE, cookie)], Redirect::to("/")).into_response(),
        Ok(None) => {
            let page = SignIn { words: Words::of(&headers), token: String::new(), is_wrong: true };
            (StatusCode::FORBIDDEN, Page(page)).into_response()
        }
        Err(error) => trouble(Words::of(&headers), error.into()),
    }
}

pub(crate) async fn sign_out(lab: Served, headers: HeaderMap) -> Response {
    match guard::sign_out(&lab, &headers).await {
        Ok(cookie) => ([(SET_COOKIE, cookie)], Redirect::to("/sign-in")).into_response(),
        Err(error) => trouble(Words::of(&headers), error.into()),
    }
}

fn trouble(words: Words, problem: Problem) -> Response {
    let status = problem.status();
    (status, Page(Trouble { words, problem: problem.detail().to_owned() })).into_response()
}

pub(crate) async fn nothing(request: Request) -> Response {
    if request.uri().path().starts_with("/api/") {
        return Problem::not_found("there is nothing of this name").into_response();
    }
    trouble(Words::of(request.headers()), Problem::not_found(Words::of(request.headers()).say("nothing-there")))
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
