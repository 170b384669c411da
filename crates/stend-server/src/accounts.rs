//! Who may sign in, and what with: users with passwords, sessions of browsers, and tokens of programs.

use std::collections::BTreeMap;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stend_fleet::{Condition, FOLLOWED, Trouble};
use stend_model::identity::digest_of;

use crate::database::{Edit, Records, USERS};
use crate::error::ServerError;
use crate::jobs::{Job, State};

/// No password is shorter, and none longer.
pub(crate) const PASSWORD_LENGTHS: std::ops::RangeInclusive<usize> = 12..=256;

/// No name of a user or a token is longer.
pub(crate) const LONGEST_NAME: usize = 64;

/// What somebody may do: each role what the ones before it may, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// May see all but users, tokens of others and the journal.
    Viewer,
    /// May start, stop and schedule runs. A run may name any command.
    Operator,
    /// May add and remove users.
    Admin,
}

impl Role {
    /// All, from the least.
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Operator, Self::Admin];

    /// As it is stored and given.
    pub fn word(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Operator => "operator",
            Self::Admin => "admin",
        }
    }
}

/// A user.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct User {
    /// The name.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// When they were added.
    pub made_at: String,
}

/// A user as they are kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Account {
    pub(crate) role: Role,
    /// The hash of the password.
    pub(crate) password: String,
    made_at: String,
    /// How often the password was changed.
    #[serde(default)]
    changes: u64,
}

/// What is kept of a secret, by its digest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Kept {
    id: i64,
    kind: Kind,
    user: Option<String>,
    /// That of the user: somebody who later gets the name is another one.
    user_made_at: Option<String>,
    /// How often the user's password had been changed.
    #[serde(default)]
    changes: u64,
    role: Role,
    name: String,
    made_at: Option<String>,
    ends_at: Option<i64>,
}

/// What a secret is for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// Signs one browser in, once.
    Once,
    /// A browser's session.
    Session,
    /// A program's token.
    Token,
    /// Makes one server a node, once.
    InviteNode,
    /// Makes one machine an agent of this name, once.
    InviteAgent,
    /// What an agent shows.
    Agent,
}

impl Kind {
    /// Whether it is of a machine, and no user's.
    fn is_of_a_machine(self) -> bool {
        matches!(self, Self::InviteNode | Self::InviteAgent | Self::Agent)
    }
}

/// An agent that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Agent {
    pub(crate) name: String,
    /// The digest of what it shows.
    digest: String,
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Who {
    /// The user; none if it is whoever started the server.
    pub(crate) name: Option<String>,
    /// What they may do with what they signed in with.
    pub(crate) role: Role,
    /// The digest of what they signed in with.
    #[serde(skip)]
    pub(crate) secret: String,
    /// Whether that is a program's token.
    #[serde(skip)]
    pub(crate) by_token: bool,
}

/// A token, without what it opens.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Token {
    /// Its number.
    pub(crate) id: i64,
    /// Whose it is; none if it is of whoever started the server.
    pub(crate) user: Option<String>,
    /// What it is called.
    pub(crate) name: String,
    /// What it may do, and no more than its user may.
    pub(crate) role: Role,
    /// When it was made.
    pub(crate) made_at: Option<String>,
    /// The last second in which it opens anything; none if it does not end.
    pub(crate) ends_at: Option<String>,
}

/// A secret to keep.
#[derive(Debug)]
pub(crate) struct Secret<'a> {
    pub(crate) secret: &'a str,
    pub(crate) kind: Kind,
    pub(crate) user: Option<&'a str>,
    pub(crate) role: Role,
    pub(crate) name: &'a str,
    pub(crate) ends_at: Option<i64>,
}

/// A secret that nobody guesses: 256 bits.
pub(crate) fn fresh_secret() -> String {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A password to begin with: 100 bits, in letters that are not mistaken for one another.
pub(crate) fn fresh_password() -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut bytes = [0; 20];
    getrandom::fill(&mut bytes).expect("the system has random numbers");
    let letters: Vec<char> = bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect();
    letters.chunks(5).map(String::from_iter).collect::<Vec<_>>().join("-")
}

/// What is kept of a secret: it has too many bits to be found by trying.
pub(crate) fn digest(secret: &str) -> String {
    digest_of(secret.as_bytes())
}

/// What is kept of a password: argon2id, which makes each try cost 19 MiB and some 20 ms.
pub(crate) fn hash(password: &str) -> Result<String, ServerError> {
    Argon2::default()
        .hash_password(password.as_bytes())
        .map(|hash| hash.to_string())
        .map_err(|error| ServerError::Refused(format!("the password cannot be hashed: {error}")))
}

/// Whether it is this password. Without a hash as much is computed, and nothing is right.
pub(crate) fn is_password(password: &str, hash: Option<&str>) -> bool {
    // Of the word "nobody" and no salt that anybody has: what it costs is what counts.
    const NOBODY: &str =
        "$argon2id$v=19$m=19456,t=2,p=1$c3RlbmQgbm9ib2R5IGhlcmU$0000000000000000000000000000000000000000000";
    let is_right = PasswordHash::new(hash.unwrap_or(NOBODY))
        .is_ok_and(|parsed| Argon2::default().verify_password(password.as_bytes(), &parsed).is_ok());
    is_right && hash.is_some()
}

/// Refuses what is no name of a user.
pub(crate) fn check_name(name: &str) -> Result<(), ServerError> {
    let is_plain = |character: char| character.is_ascii_alphanumeric() || "-._".contains(character);
    let is_name = (1..=LONGEST_NAME).contains(&name.len())
        && name.chars().all(is_plain)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric());
    if is_name {
        Ok(())
    } else {
        Err(ServerError::Refused(format!(
            "name: it is 1 to {LONGEST_NAME} letters, digits, and - . or _, and begins with a letter or digit"
        )))
    }
}

/// Refuses a password that is easily found by trying, or a burden to hash.
pub(crate) fn check_password(password: &str) -> Result<(), ServerError> {
    if PASSWORD_LENGTHS.contains(&password.chars().count()) {
        return Ok(());
    }
    let (least, most) = (PASSWORD_LENGTHS.start(), PASSWORD_LENGTHS.end());
    Err(ServerError::Refused(format!("password: it has {least} to {most} characters")))
}

impl Kept {
    fn is_of_agent(&self, name: &str) -> bool {
        matches!(self.kind, Kind::Agent | Kind::InviteAgent) && self.name == name
    }

    /// Whether it opens anything: sessions end with the password, and all with the user. Without users there is whoever started the server.
    fn is_good(&self, known: &Records, now: i64) -> bool {
        let is_its = |user: &Account| {
            let is_same = Some(&user.made_at) == self.user_made_at.as_ref();
            is_same && (self.kind != Kind::Session || self.changes == user.changes)
        };
        self.ends_at.is_none_or(|end| end > now)
            && match &self.user {
                Some(name) => known.account(name).is_some_and(is_its),
                None => self.kind.is_of_a_machine() || known.accounts().next().is_none(),
            }
    }
}

impl Records {
    fn accounts(&self) -> impl Iterator<Item = (&String, &Account)> {
        self.users.get("").into_iter().flatten()
    }

    /// All users, by name.
    pub(crate) fn users(&self) -> Vec<User> {
        self.accounts().map(|(name, account)| user(name, account)).collect()
    }

    /// A user as they are kept.
    pub(crate) fn account(&self, name: &str) -> Option<&Account> {
        self.users.get("")?.get(name)
    }

    /// Nobody could add anybody any more.
    fn refuse_to_lose_the_last_admin(&self, name: &str, role: Role) -> Result<(), ServerError> {
        let is_admin = |(_, account): &(&String, &Account)| account.role == Role::Admin;
        let (own, others): (Vec<_>, Vec<_>) = self.accounts().filter(is_admin).partition(|(other, _)| *other == name);
        if !own.is_empty() && others.is_empty() && role != Role::Admin {
            return Err(ServerError::Refused(format!("{name} is the last admin: make another one first")));
        }
        Ok(())
    }

    /// Whose secret it is, if it is one of this kind and has not ended. It opens no more than its user may do now.
    pub(crate) fn who(&self, secret: &str, kind: Kind, now: i64) -> Option<Who> {
        let digest = digest(secret);
        let is_it = self.secrets.get(&digest).is_some_and(|kept| kept.kind == kind);
        self.of_digest(&digest, now).filter(|_| is_it)
    }

    /// Whether what somebody signed in with is still good, and for what.
    pub(crate) fn still(&self, who: &Who, now: i64) -> Option<Who> {
        self.of_digest(&who.secret, now)
    }

    /// The agent that has this secret, if there is one.
    pub(crate) fn agent(&self, secret: &str, now: i64) -> Option<Agent> {
        let digest = digest(secret);
        let name = self.of_a_machine(&digest, Kind::Agent, now)?.name.clone();
        Some(Agent { name, digest })
    }

    /// The condition that it still is one when a change is made.
    pub(crate) fn is_still(&self, agent: &Agent) -> Result<Condition, Trouble> {
        let revision = self.secrets.revision(&agent.digest);
        let revision = revision.ok_or_else(|| Trouble::Refused(format!("{} is no agent any more", agent.name)))?;
        Ok(Condition::Unchanged(format!("{FOLLOWED}secret/{}", agent.digest), revision))
    }

    /// Whether an agent has this name, or is invited to have it.
    pub(crate) fn has_agent(&self, name: &str) -> bool {
        self.secrets.iter().any(|(_, kept)| kept.is_of_agent(name))
    }

    /// Whether a secret is an invitation.
    pub(crate) fn is_invitation(&self, secret: &str, now: i64) -> bool {
        let digest = digest(secret);
        [Kind::InviteNode, Kind::InviteAgent].iter().any(|kind| self.of_a_machine(&digest, *kind, now).is_some())
    }

    /// Whether it still is one.
    pub(crate) fn is_agent(&self, agent: &Agent, now: i64) -> bool {
        self.of_a_machine(&agent.digest, Kind::Agent, now).is_some()
    }

    fn of_a_machine(&self, digest: &str, kind: Kind, now: i64) -> Option<&Kept> {
        self.secrets.get(digest).filter(|kept| kept.kind == kind && kept.is_good(self, now))
    }

    /// The same, by the digest of what somebody signed in with.
    pub(crate) fn of_digest(&self, digest: &str, now: i64) -> Option<Who> {
        let kept = self.secrets.get(digest).filter(|kept| !kept.kind.is_of_a_machine() && kept.is_good(self, now))?;
        let of_user = kept.user.as_ref().and_then(|name| self.account(name)).map_or(kept.role, |user| user.role);
        let (role, by_token) = (kept.role.min(of_user), kept.kind == Kind::Token);
        Some(Who { name: kept.user.clone(), role, secret: digest.to_owned(), by_token })
    }

    /// The tokens of a user, or all of them, the oldest first.
    pub(crate) fn tokens(&self, of: Option<&Who>, now: i64) -> Vec<Token> {
        let all = self.secrets.iter().map(|(_, kept)| kept).filter(|kept| kept.kind == Kind::Token);
        let mut tokens: Vec<Token> = all.filter(|kept| kept.is_good(self, now)).map(token).collect();
        tokens.retain(|token| of.is_none_or(|who| token.user == who.name));
        tokens.sort_by(|a, b| (&a.made_at, a.id).cmp(&(&b.made_at, b.id)));
        tokens
    }

    /// How many tokens a user has.
    pub(crate) fn count_tokens(&self, user: Option<&str>, now: i64) -> usize {
        self.tokens(None, now).iter().filter(|token| token.user.as_deref() == user).count()
    }
}

impl Edit<'_, '_> {
    /// Adds a user, whose password has this hash.
    pub(crate) fn add_user(&mut self, name: &str, role: Role, password: &str) -> Result<(), ServerError> {
        check_name(name)?;
        // Where there are users nobody gets in without being one.
        if role != Role::Admin && !self.known.accounts().any(|(_, user)| user.role == Role::Admin) {
            return Err(ServerError::Refused("role: the first user is an admin, who adds the others".into()));
        }
        if self.known.account(name).is_some() {
            return Err(ServerError::Refused(format!("there is a user {name} already")));
        }
        let made_at = Timestamp::now().to_string();
        self.set_accounts(|all| {
            all.insert(name.to_owned(), Account { role, password: password.to_owned(), made_at, changes: 0 });
        });
        Ok(())
    }

    fn set_accounts(&mut self, change: impl FnOnce(&mut BTreeMap<String, Account>)) {
        let mut all = self.known.users.get("").cloned().unwrap_or_default();
        change(&mut all);
        self.put(USERS, &all);
    }

    /// Gives a user another password, and ends their sessions: whoever has the old one is out.
    pub(crate) fn set_password(&mut self, name: &str, password: &str) -> Result<(), ServerError> {
        let before = self.known.account(name).ok_or_else(|| no_user(name))?;
        let after = Account { password: password.to_owned(), changes: before.changes + 1, ..before.clone() };
        self.set_accounts(|all| drop(all.insert(name.to_owned(), after)));
        Ok(())
    }

    /// Gives a user another role.
    pub(crate) fn set_role(&mut self, name: &str, role: Role) -> Result<(), ServerError> {
        self.known.refuse_to_lose_the_last_admin(name, role)?;
        let after = Account { role, ..self.known.account(name).ok_or_else(|| no_user(name))?.clone() };
        self.set_accounts(|all| drop(all.insert(name.to_owned(), after)));
        Ok(())
    }

    /// Removes a user; what they signed in with opens nothing any more.
    pub(crate) fn remove_user(&mut self, name: &str) -> Result<(), ServerError> {
        self.known.refuse_to_lose_the_last_admin(name, Role::Viewer)?;
        self.known.account(name).ok_or_else(|| no_user(name))?;
        self.set_accounts(|all| drop(all.remove(name)));
        Ok(())
    }

    /// Makes a user what they were before, or removes one who was none. One who was removed comes back as another one: what they had signed in with stays
    /// ended.
    pub(crate) fn put_back_user(&mut self, name: &str, before: Option<&Account>) -> Result<(), ServerError> {
        let Some(before) = before else { return self.remove_user(name) };
        self.known.refuse_to_lose_the_last_admin(name, before.role)?;
        let made_at = self.known.account(name).map_or_else(|| Timestamp::now().to_string(), |now| now.made_at.clone());
        let account = Account { made_at, ..before.clone() };
        self.set_accounts(|all| drop(all.insert(name.to_owned(), account)));
        Ok(())
    }

    /// Makes the change only if this user may start runs; whoever started the server may.
    pub(crate) fn rely_on_operator(&mut self, name: Option<&str>) -> Result<(), ServerError> {
        self.rely_on(USERS);
        match name {
            Some(name) if self.known.account(name).is_none_or(|user| user.role < Role::Operator) => {
                Err(ServerError::Refused(no_operator(name)))
            }
            _ => Ok(()),
        }
    }

    /// Stops some of what waits that somebody asked for who may start nothing any more; whether there may be more.
    pub(crate) fn stop_some(&mut self, name: &str) -> bool {
        let is_it = |job: &&Job| job.state == State::Waiting && job.user.as_deref() == Some(name);
        let waiting: Vec<i64> = self.known.open_ones().filter(is_it).map(|job| job.id).take(STOPPED).collect();
        for id in &waiting {
            self.set(*id, &[State::Waiting], State::Stopped, Some(&no_operator(name)));
        }
        waiting.len() == STOPPED
    }

    /// Keeps what is to be known of a secret. What is changed of its user meanwhile comes before it or after it.
    pub(crate) fn keep_secret(&mut self, secret: &Secret) {
        let digest = digest(secret.secret);
        let user = secret.user.and_then(|name| self.known.account(name));
        let kept = Kept {
            // As many bits as a number in JSON surely has.
            id: i64::from_str_radix(&digest[..13], 16).unwrap_or_default(),
            kind: secret.kind,
            user: secret.user.map(str::to_owned),
            user_made_at: user.map(|user| user.made_at.clone()),
            changes: user.map_or(0, |user| user.changes),
            role: secret.role,
            name: secret.name.to_owned(),
            made_at: Some(Timestamp::now().to_string()),
            ends_at: secret.ends_at,
        };
        self.rely_on(USERS);
        self.put(&format!("secret/{digest}"), &kept);
    }

    /// Forgets a secret; whether it was there.
    pub(crate) fn forget_secret(&mut self, secret: &str, kind: Kind) -> bool {
        let digest = digest(secret);
        let is_there = self.known.secrets.get(&digest).is_some_and(|kept| kept.kind == kind);
        if is_there {
            self.remove(&format!("secret/{digest}"));
        }
        is_there
    }

    /// Takes an invitation, and gives the name that it is for; nothing if it is none, or was taken before.
    pub(crate) fn take_invitation(&mut self, secret: &str, kind: Kind, now: i64) -> Option<String> {
        let name = self.known.of_a_machine(&digest(secret), kind, now)?.name.clone();
        self.forget_secret(secret, kind);
        Some(name)
    }

    /// Ends what an agent shows, and invitations of its name; whether there was one.
    pub(crate) fn revoke_agent(&mut self, name: &str) -> bool {
        let its = self.known.secrets.iter().filter(|(_, kept)| kept.is_of_agent(name));
        let keys: Vec<_> = its.map(|(digest, _)| format!("secret/{digest}")).collect();
        keys.iter().for_each(|key| self.remove(key));
        !keys.is_empty()
    }

    /// Forgets some of what opens nothing any more, and the one-time tokens of a node; whether there may be more.
    pub(crate) fn forget_some(&mut self, now: i64, once_of: Option<&str>) -> bool {
        let is_once = |kept: &Kept| kept.kind == Kind::Once && once_of == Some(&kept.name);
        let is_old = |kept: &Kept| !kept.is_good(self.known, now) || is_once(kept);
        let old = self.known.secrets.iter().filter(|(_, kept)| is_old(kept)).take(FORGOTTEN);
        let old: Vec<_> = old.map(|(digest, _)| format!("secret/{digest}")).collect();
        old.iter().for_each(|key| self.remove(key));
        old.len() == FORGOTTEN
    }

    /// Ends a token.
    pub(crate) fn end_token(&mut self, id: i64) {
        let is_it = |(_, kept): &(&str, &Kept)| kept.kind == Kind::Token && kept.id == id;
        if let Some(digest) = self.known.secrets.iter().find(is_it).map(|(digest, _)| digest.to_owned()) {
            self.remove(&format!("secret/{digest}"));
        }
    }
}

/// So many jobs are stopped at once.
const STOPPED: usize = 100;

/// So many secrets are forgotten at once.
const FORGOTTEN: usize = 100;

/// Why what somebody asked for is not done.
fn no_operator(name: &str) -> String {
    format!("{name} may no longer start runs")
}

fn no_user(name: &str) -> ServerError {
    ServerError::Missing(format!("there is no user \"{}\"", name.chars().take(LONGEST_NAME).collect::<String>()))
}

fn user(name: &str, account: &Account) -> User {
    User { name: name.to_owned(), role: account.role, made_at: account.made_at.clone() }
}

fn token(kept: &Kept) -> Token {
    Token {
        id: kept.id,
        user: kept.user.clone(),
        name: kept.name.clone(),
        role: kept.role,
        made_at: kept.made_at.clone(),
        ends_at: kept.ends_at.and_then(|second| Timestamp::from_second(second).ok()).map(|end| end.to_string()),
    }
}
