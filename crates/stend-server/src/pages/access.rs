//! Signing in, and the page of users and tokens.

use std::net::SocketAddr;
use std::sync::Arc;

use askama::Template;
use axum::Form;
use axum::extract::{ConnectInfo, Path, Query};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Redirect, Response};
use serde::Deserialize;
use stend_report::words::{self, Given};

use super::{Reader, Served, page, to, trouble};
use crate::accounts::{Role, Token, User};
use crate::api::accounts::{self, NewToken, NewUser, OwnPassword, Password, UserChange};
use crate::guard::{self, Credentials, SignIn};
use crate::lab::Lab;
use crate::problem::Problem;

#[derive(Template)]
#[template(path = "door.html")]
struct Door {
    reader: Reader,
    /// Whether one signs in by name and password.
    has_users: bool,
    token: String,
    name: String,
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "access.html")]
struct Access {
    reader: Reader,
    tokens: Vec<Token>,
    users: Vec<User>,
    roles: Vec<Role>,
    made: Option<Made>,
    problem: Option<String>,
}

/// What is shown this once.
enum Made {
    Token(String),
    Password {
        name: String,
        password: String,
    },
    /// One's own password, which needs no showing.
    Changed,
}

impl From<Password> for Made {
    fn from(made: Password) -> Self {
        Self::Password { name: made.name, password: made.password }
    }
}

pub(crate) async fn access(lab: Served, reader: Reader) -> Response {
    shown(&lab, reader, Ok(None)).await
}

/// The page, with what was made or what went wrong.
async fn shown(lab: &Arc<Lab>, reader: Reader, done: Result<Option<Made>, Problem>) -> Response {
    let (status, made, problem) = match done {
        Ok(made) => (StatusCode::OK, made, None),
        Err(problem) => (problem.status(), None, Some(problem.detail().to_owned())),
    };
    let gather = async {
        let who = reader.asker();
        let users = if who.role == Role::Admin { lab.known().users() } else { Vec::new() };
        let roles = Role::ALL.into_iter().filter(|role| *role <= who.role).collect();
        let tokens = accounts::tokens_for(lab, &who);
        Ok(Access { reader: reader.clone(), tokens, users, roles, made, problem })
    };
    let gathered = gather.await;
    let mut page = page(reader, gathered);
    if page.status() == StatusCode::OK {
        *page.status_mut() = status;
    }
    page
}

pub(crate) async fn make_token(lab: Served, reader: Reader, Form(asked): Form<NewToken>) -> Response {
    let made = accounts::token_made(&lab, reader.asker(), asked).await;
    shown(&lab, reader, made.map(|made| Some(Made::Token(made.token)))).await
}

pub(crate) async fn end_token(lab: Served, reader: Reader, Path(id): Path<i64>) -> Response {
    let done = accounts::token_ended(&lab, reader.asker(), id).await;
    to(reader, done.map(|()| "/access".into()))
}

pub(crate) async fn own_password(
    lab: Served,
    reader: Reader,
    from: ConnectInfo<SocketAddr>,
    Form(change): Form<OwnPassword>,
) -> Response {
    let done = accounts::password_changed(&lab, reader.asker(), guard::network(from.0.ip()), change).await;
    shown(&lab, reader, done.map(|()| Some(Made::Changed))).await
}

pub(crate) async fn add_user(lab: Served, reader: Reader, Form(user): Form<NewUser>) -> Response {
    let made = accounts::added(&lab, reader.asker(), user).await;
    shown(&lab, reader, made.map(|made| Some(made.into()))).await
}

pub(crate) async fn reset_password(lab: Served, reader: Reader, Path(name): Path<String>) -> Response {
    let made = accounts::reset(&lab, reader.asker(), name).await;
    shown(&lab, reader, made.map(|made| Some(made.into()))).await
}

pub(crate) async fn change_user(
    lab: Served,
    reader: Reader,
    Path(name): Path<String>,
    Form(change): Form<UserChange>,
) -> Response {
    let done = accounts::changed(&lab, reader.asker(), name, change.role).await;
    shown(&lab, reader, done.map(|()| None)).await
}

pub(crate) async fn remove_user(lab: Served, reader: Reader, Path(name): Path<String>) -> Response {
    let done = accounts::removed(&lab, reader.asker(), name).await;
    shown(&lab, reader, done.map(|()| None)).await
}

/// What the address of the sign-in page, or its form, may hold.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Signing {
    token: String,
    name: String,
    password: String,
}

pub(crate) async fn sign_in(lab: Served, reader: Reader, Query(signing): Query<Signing>) -> Response {
    door(&lab, reader, signing.token, String::new(), None)
}

fn door(lab: &Lab, reader: Reader, token: String, name: String, problem: Option<String>) -> Response {
    let has_users = !lab.known().users().is_empty();
    page(reader.clone(), Ok(Door { reader, has_users, token, name, problem }))
}

pub(crate) async fn signing_in(
    lab: Served,
    from: ConnectInfo<SocketAddr>,
    reader: Reader,
    Form(signing): Form<Signing>,
) -> Response {
    let Signing { token, name, password } = signing;
    let is_token = !token.is_empty() || name.is_empty();
    let given =
        if is_token { Credentials::Once(token) } else { Credentials::Password { name: name.clone(), password } };
    match guard::sign_in(&lab, from, given).await {
        Ok(SignIn::In(cookie)) => ([(SET_COOKIE, cookie)], Redirect::to("/")).into_response(),
        Ok(SignIn::Wrong) => {
            let said = reader.say(if is_token { "wrong-token" } else { "wrong-password" });
            let mut page = door(&lab, reader, String::new(), name, Some(said));
            *page.status_mut() = StatusCode::FORBIDDEN;
            page
        }
        Ok(SignIn::TooOften(seconds)) => {
            let count = Given::Count(usize::try_from(seconds).unwrap_or(usize::MAX));
            let said = words::say("server-too-often", &[("seconds", count)]).say(reader.language).to_owned();
            guard::later(door(&lab, reader, String::new(), name, Some(said)), seconds)
        }
        Err(error) => trouble(reader, &error.into()),
    }
}

pub(crate) async fn sign_out(lab: Served, reader: Reader, headers: HeaderMap) -> Response {
    match guard::sign_out(&lab, &headers).await {
        Ok(cookie) => ([(SET_COOKIE, cookie)], Redirect::to("/sign-in")).into_response(),
        Err(error) => trouble(reader, &error.into()),
    }
}
