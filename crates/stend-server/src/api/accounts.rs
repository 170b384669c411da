//! Users and tokens.

use axum::extract::rejection::JsonRejection;
use axum::extract::{ConnectInfo, Path, State};
use axum::http::StatusCode;
use axum::{Extension, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use stend_model::record::JSON_VERSION;

use super::{Answer, Served, blocking};
use crate::accounts::{self, Kind, Role, Secret, Token, User, Who, fresh_password, fresh_secret, hash};
use crate::database::{Database, Edit};
use crate::error::ServerError;
use crate::guard::{Tried, network, now, right_password};
use crate::journal;
use crate::lab::Lab;
use crate::problem::Problem;

/// No token lives longer, in days; one that is given no end lives so long.
pub(crate) const LONGEST_TOKEN: u32 = 366;

/// So many tokens a user may have.
const MOST_TOKENS: usize = 100;

/// A body, or what is wrong with it.
pub(super) type Body<T> = Result<Json<T>, JsonRejection>;

pub(super) fn read<T>(body: Body<T>) -> Answer<T> {
    body.map(|Json(read)| read).map_err(|refused| Problem::new(refused.status(), refused.body_text()))
}

/// Who has signed in.
pub(crate) async fn me(who: Extension<Who>) -> Json<Who> {
    Json(who.0)
}

/// The users.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Users {
    schema_version: u32,
    /// The users, by name.
    users: Vec<User>,
}

pub(crate) async fn users(lab: Served) -> Answer<Json<Users>> {
    Ok(Json(Users { schema_version: JSON_VERSION, users: lab.known().users() }))
}

/// A user to add.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewUser {
    /// The name: letters, digits, and - . or _.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"))]
    pub(crate) name: String,
    /// What they may do.
    pub(crate) role: Role,
}

/// A password that was made.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Password {
    /// The user.
    pub(crate) name: String,
    /// The password to sign in with the first time. It is shown this once.
    pub(crate) password: String,
}

pub(crate) async fn add_user(
    lab: Served,
    who: Extension<Who>,
    user: Body<NewUser>,
) -> Answer<(StatusCode, Json<Password>)> {
    Ok((StatusCode::CREATED, Json(added(&lab, who.0, read(user)?).await?)))
}

pub(crate) async fn added(lab: &Arc<Lab>, who: Who, user: NewUser) -> Answer<Password> {
    let NewUser { name, role } = user;
    Ok(blocking(lab, move |lab| add(&lab.database, who.name.as_deref(), &name, role)).await??)
}

/// Adds a user with a password that is made here.
pub(crate) fn add(database: &Database, who: Option<&str>, name: &str, role: Role) -> Result<Password, ServerError> {
    let password = fresh_password();
    let hashed = hash(&password)?;
    database.change(|edit| {
        edit.add_user(name, role, &hashed)?;
        edit.note_user(journal::Kind::UserAdded, who, name, role.word());
        Ok(())
    })?;
    Ok(Password { name: name.to_owned(), password })
}

/// What is changed of a user.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct UserChange {
    /// What they may do from now on.
    pub(crate) role: Role,
}

pub(crate) async fn change_user(
    lab: Served,
    who: Extension<Who>,
    Path(name): Path<String>,
    change: Body<UserChange>,
) -> Answer<StatusCode> {
    changed(&lab, who.0, name, read(change)?.role).await.map(|()| StatusCode::NO_CONTENT)
}

pub(crate) async fn changed(lab: &Arc<Lab>, who: Who, name: String, role: Role) -> Answer<()> {
    let set = move |lab: &Lab| {
        let is_more = lab.database.change(|edit| {
            edit.set_role(&name, role)?;
            edit.note_user(journal::Kind::RoleChanged, who.name.as_deref(), &name, role.word());
            Ok(role < Role::Operator && edit.stop_some(&name))
        })?;
        stop_rest(&lab.database, &name, is_more)
    };
    Ok(blocking(lab, set).await??)
}

pub(crate) async fn reset_password(
    lab: Served,
    who: Extension<Who>,
    Path(name): Path<String>,
) -> Answer<Json<Password>> {
    reset(&lab, who.0, name).await.map(Json)
}

pub(crate) async fn reset(lab: &Arc<Lab>, who: Who, name: String) -> Answer<Password> {
    Ok(blocking(lab, move |lab| renew(&lab.database, who.name.as_deref(), &name)).await??)
}

/// Gives a user a password that is made here, and ends their sessions.
pub(crate) fn renew(database: &Database, who: Option<&str>, name: &str) -> Result<Password, ServerError> {
    let password = fresh_password();
    let hashed = hash(&password)?;
    database.change(|edit| {
        edit.set_password(name, &hashed)?;
        edit.note(journal::Kind::PasswordChanged, who, name, "");
        Ok(())
    })?;
    Ok(Password { name: name.to_owned(), password })
}

pub(crate) async fn remove_user(lab: Served, who: Extension<Who>, Path(name): Path<String>) -> Answer<StatusCode> {
    removed(&lab, who.0, name).await.map(|()| StatusCode::NO_CONTENT)
}

pub(crate) async fn removed(lab: &Arc<Lab>, who: Who, name: String) -> Answer<()> {
    Ok(blocking(lab, move |lab| remove(&lab.database, who.name.as_deref(), &name)).await??)
}

/// Removes a user, with all that they signed in with.
pub(crate) fn remove(database: &Database, who: Option<&str>, name: &str) -> Result<(), ServerError> {
    let is_more = database.change(|edit| {
        edit.remove_user(name)?;
        edit.note_user(journal::Kind::UserRemoved, who, name, "");
        Ok(edit.stop_some(name))
    })?;
    stop_rest(database, name, is_more)
}

/// Stops what is left of what somebody asked for who may start nothing any more.
pub(super) fn stop_rest(database: &Database, name: &str, mut is_more: bool) -> Result<(), ServerError> {
    while is_more {
        is_more = database.change(|edit| Ok(edit.stop_some(name)))?;
    }
    Ok(())
}

/// A password in place of one's own.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OwnPassword {
    /// The one that is used now.
    pub(crate) old: String,
    /// The new one, 12 to 256 characters.
    pub(crate) new: String,
}

pub(crate) async fn own_password(
    lab: Served,
    who: Extension<Who>,
    from: ConnectInfo<SocketAddr>,
    change: Body<OwnPassword>,
) -> Answer<StatusCode> {
    password_changed(&lab, who.0, network(from.0.ip()), read(change)?).await.map(|()| StatusCode::NO_CONTENT)
}

pub(crate) async fn password_changed(lab: &Arc<Lab>, who: Who, from: IpAddr, change: OwnPassword) -> Answer<()> {
    let refused = |said: &str| Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, said));
    let Some(name) = who.name else {
        return refused("you are signed in without a user: add one, and sign in as that one");
    };
    accounts::check_password(&change.new)?;
    // Whoever has found an open browser guesses as slowly as anybody.
    let hash_before = match right_password(lab, from, name.clone(), change.old).await? {
        Tried::Right { hash, .. } => hash,
        Tried::Wrong => return refused("old: this is not your password"),
        Tried::TooOften(wait) => {
            let said = format!("too many wrong passwords: try again in {} s", wait.as_secs() + 1);
            return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, said));
        }
    };
    let hashed = lab.hash(move || hash(&change.new)).await?;
    let set = move |edit: &mut Edit| {
        let is_same = edit.known.account(&name).is_some_and(|user| user.password == hash_before);
        if is_same {
            edit.set_password(&name, &hashed)?;
            edit.note(journal::Kind::PasswordChanged, Some(&name), &name, "");
        }
        Ok(is_same)
    };
    if lab.change(set).await? { Ok(()) } else { refused("old: your password was changed meanwhile") }
}

/// The tokens.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Tokens {
    schema_version: u32,
    /// One's own; an admin's list has everybody's.
    tokens: Vec<Token>,
}

pub(crate) async fn tokens(lab: Served, who: Extension<Who>) -> Answer<Json<Tokens>> {
    Ok(Json(Tokens { schema_version: JSON_VERSION, tokens: tokens_for(&lab, &who.0) }))
}

pub(crate) fn tokens_for(lab: &Lab, who: &Who) -> Vec<Token> {
    lab.known().tokens(Some(who).filter(|who| who.role < Role::Admin), now())
}

/// A token to make.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct NewToken {
    /// What it is called.
    #[schemars(length(max = 64))]
    pub(crate) name: String,
    /// What it may do; by default what its user may.
    pub(crate) role: Option<Role>,
    /// How many days it is valid, 1 to 366; by default the longest.
    #[schemars(range(min = 1, max = 366))]
    pub(crate) days: Option<u32>,
}

/// A token for programs.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MadeToken {
    /// What to send: `Authorization: Bearer TOKEN`. It is shown this once.
    pub(crate) token: String,
}

pub(crate) async fn make_token(
    lab: Served,
    who: Extension<Who>,
    body: axum::body::Bytes,
) -> Answer<(StatusCode, Json<MadeToken>)> {
    // All fields may be left out, and the body with them.
    let asked = if body.is_empty() { Ok(NewToken::default()) } else { serde_json::from_slice(&body) };
    let asked = asked.map_err(|error| Problem::new(StatusCode::UNPROCESSABLE_ENTITY, error.to_string()))?;
    Ok((StatusCode::CREATED, Json(token_made(&lab, who.0, asked).await?)))
}

pub(crate) async fn token_made(lab: &Arc<Lab>, who: Who, asked: NewToken) -> Answer<MadeToken> {
    let refused = |said: String| Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, said));
    let role = asked.role.unwrap_or(who.role);
    if role > who.role {
        return refused(format!("role: you are {}, and a token may do no more", who.role.word()));
    }
    let days = asked.days.unwrap_or(LONGEST_TOKEN);
    if !(1..=LONGEST_TOKEN).contains(&days) {
        return refused(format!("days: it is 1 to {LONGEST_TOKEN}"));
    }
    if asked.name.chars().count() > 64 || asked.name.chars().any(char::is_control) {
        return refused("name: it is at most 64 characters on one line".into());
    }
    let token = fresh_secret();
    let secret = token.clone();
    let keep = move |edit: &mut Edit| {
        if edit.known.count_tokens(who.name.as_deref(), now()) >= MOST_TOKENS {
            return Err(ServerError::Refused(format!("there are {MOST_TOKENS} tokens: end one first")));
        }
        edit.keep_secret(&Secret {
            secret: &secret,
            kind: Kind::Token,
            user: who.name.as_deref(),
            role,
            name: &asked.name,
            ends_at: Some(now() + i64::from(days) * 24 * 3600),
        });
        edit.note(journal::Kind::TokenMade, who.name.as_deref(), &asked.name, role.word());
        Ok(())
    };
    lab.change(keep).await?;
    Ok(MadeToken { token })
}

pub(crate) async fn end_token(State(lab): Served, who: Extension<Who>, Path(id): Path<i64>) -> Answer<StatusCode> {
    token_ended(&lab, who.0, id).await.map(|()| StatusCode::NO_CONTENT)
}

pub(crate) async fn token_ended(lab: &Arc<Lab>, who: Who, id: i64) -> Answer<()> {
    let Some(token) = tokens_for(lab, &who).into_iter().find(|token| token.id == id) else {
        return Err(Problem::not_found(format!("there is no token {id}")));
    };
    let end = move |edit: &mut Edit| {
        edit.end_token(id);
        let of = token.user.as_deref().unwrap_or_default();
        edit.note(journal::Kind::TokenEnded, who.name.as_deref(), &token.name, of);
        Ok(())
    };
    Ok(lab.change(end).await?)
}
