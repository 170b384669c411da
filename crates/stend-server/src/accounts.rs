//! Who may sign in, and what with: users with passwords, sessions of browsers, and tokens of programs.

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher as _, PasswordVerifier as _};
use jiff::Timestamp;
use rusqlite::{OptionalExtension as _, Row, params};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::database::Database;
use crate::error::ServerError;

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

    fn of_word(word: &str) -> Self {
        // What is not understood may do least.
        Self::ALL.into_iter().find(|role| role.word() == word).unwrap_or(Self::Viewer)
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

/// What a secret is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    /// Signs one browser in, once.
    Once,
    /// A browser's session.
    Session,
    /// A program's token.
    Token,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Once => "once",
            Self::Session => "session",
            Self::Token => "token",
        }
    }
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct Who {
    /// The user; none if it is whoever started the server.
    pub(crate) name: Option<String>,
    /// What they may do with what they signed in with.
    pub(crate) role: Role,
    /// The number of what they signed in with.
    #[serde(skip)]
    pub(crate) secret: i64,
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
fn digest(secret: &str) -> Vec<u8> {
    Sha256::digest(secret.as_bytes()).to_vec()
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

impl Database {
    /// All users, by name.
    pub(crate) fn users(&self) -> Result<Vec<User>, ServerError> {
        let read = || -> rusqlite::Result<Vec<User>> {
            let mut query = self.connection.prepare_cached("SELECT name, role, made_at FROM user ORDER BY name")?;
            query.query_map([], user)?.collect()
        };
        read().map_err(|source| self.explain(source))
    }

    pub(crate) fn user(&self, name: &str) -> Result<Option<User>, ServerError> {
        self.connection
            .query_row("SELECT name, role, made_at FROM user WHERE name = ?1", [name], user)
            .optional()
            .map_err(|source| self.explain(source))
    }

    /// The hash of a user's password.
    pub(crate) fn password(&self, name: &str) -> Result<Option<String>, ServerError> {
        self.connection
            .query_row("SELECT password FROM user WHERE name = ?1", [name], |row| row.get(0))
            .optional()
            .map_err(|source| self.explain(source))
    }

    /// Adds a user, whose password has this hash.
    pub(crate) fn add_user(&self, name: &str, role: Role, password: &str) -> Result<(), ServerError> {
        check_name(name)?;
        // Where there are users nobody gets in without being one.
        if role != Role::Admin && !self.users()?.iter().any(|user| user.role == Role::Admin) {
            return Err(ServerError::Refused("role: the first user is an admin, who adds the others".into()));
        }
        let added = self.change(
            "INSERT INTO user (name, role, password, made_at) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (name) DO NOTHING",
            params![name, role.word(), password, Timestamp::now().to_string()],
        )?;
        if !added {
            return Err(ServerError::Refused(format!("there is a user {name} already")));
        }
        // From the first user on, nobody gets in without being one.
        self.change("DELETE FROM secret WHERE user IS NULL", params![]).map(drop)
    }

    /// Gives a user another password, and ends their sessions: whoever has the old one is out.
    pub(crate) fn set_password(&self, name: &str, password: &str) -> Result<(), ServerError> {
        if !self.change("UPDATE user SET password = ?2 WHERE name = ?1", params![name, password])? {
            return Err(no_user(name));
        }
        self.change("DELETE FROM secret WHERE user = ?1 AND kind = 'session'", params![name]).map(drop)
    }

    /// Gives a user another role.
    pub(crate) fn set_role(&self, name: &str, role: Role) -> Result<(), ServerError> {
        self.refuse_to_lose_the_last_admin(name, role)?;
        if role < Role::Operator {
            self.stop_waiting(name)?;
        }
        let is_there = self.change("UPDATE user SET role = ?2 WHERE name = ?1", params![name, role.word()])?;
        if is_there { Ok(()) } else { Err(no_user(name)) }
    }

    /// Removes a user with their sessions and tokens.
    pub(crate) fn remove_user(&self, name: &str) -> Result<(), ServerError> {
        self.refuse_to_lose_the_last_admin(name, Role::Viewer)?;
        self.stop_waiting(name)?;
        let is_there = self.change("DELETE FROM user WHERE name = ?1", params![name])?;
        if is_there { Ok(()) } else { Err(no_user(name)) }
    }

    /// What somebody asked for who may start nothing any more is not begun.
    fn stop_waiting(&self, name: &str) -> Result<(), ServerError> {
        let why = format!("{name} may no longer start runs");
        let stop = "UPDATE job SET state = 'stopped', reason = ?2 WHERE user = ?1 AND state = 'waiting'";
        self.change(stop, params![name, why]).map(drop)
    }

    /// Nobody could add anybody any more.
    fn refuse_to_lose_the_last_admin(&self, name: &str, role: Role) -> Result<(), ServerError> {
        let users = self.users()?;
        let is_admin = users.iter().any(|user| user.name == name && user.role == Role::Admin);
        let is_other = users.iter().any(|user| user.name != name && user.role == Role::Admin);
        if is_admin && !is_other && role != Role::Admin {
            return Err(ServerError::Refused(format!("{name} is the last admin: make another one first")));
        }
        Ok(())
    }

    /// Keeps what is to be known of a secret.
    pub(crate) fn keep_secret(&self, secret: &Secret) -> Result<(), ServerError> {
        let made_at = Timestamp::now().to_string();
        self.change(
            "INSERT INTO secret (digest, kind, user, role, name, made_at, ends_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            params![
                digest(secret.secret),
                secret.kind.word(),
                secret.user,
                secret.role.word(),
                secret.name,
                made_at,
                secret.ends_at
            ],
        )
        .map(drop)
    }

    /// Whose secret it is, if it is one of this kind and has not ended. It opens no more than its user may do now.
    pub(crate) fn who(&self, secret: &str, kind: Kind, now: i64) -> Result<Option<Who>, ServerError> {
        self.who_by(
            "digest = ?1 AND kind = ?2 AND (ends_at IS NULL OR ends_at > ?3)",
            params![digest(secret), kind.word(), now],
        )
    }

    /// Whether what somebody signed in with is still good, and for what.
    pub(crate) fn still(&self, who: &Who, now: i64) -> Result<Option<Who>, ServerError> {
        self.who_by("id = ?1 AND (ends_at IS NULL OR ends_at > ?2)", params![who.secret, now])
    }

    fn who_by(&self, condition: &str, given: impl rusqlite::Params) -> Result<Option<Who>, ServerError> {
        let query = format!(
            "SELECT id, kind, secret.user, secret.role, user.role FROM secret \
             LEFT JOIN user ON user.name = secret.user WHERE {condition}"
        );
        let who = |row: &Row| {
            let own = Role::of_word(row.get_ref(3)?.as_str()?);
            let of_user = row.get_ref(4)?.as_str_or_null()?.map_or(own, Role::of_word);
            let by_token = row.get_ref(1)?.as_str()? == Kind::Token.word();
            Ok(Who { name: row.get(2)?, role: own.min(of_user), secret: row.get(0)?, by_token })
        };
        self.connection.query_row(&query, given, who).optional().map_err(|source| self.explain(source))
    }

    /// Forgets a secret; whether it was there.
    pub(crate) fn forget_secret(&self, secret: &str, kind: Kind) -> Result<bool, ServerError> {
        self.change("DELETE FROM secret WHERE digest = ?1 AND kind = ?2", params![digest(secret), kind.word()])
    }

    /// Forgets the one-time tokens of servers before this one, and whatever has ended.
    pub(crate) fn forget_old(&self, now: i64) -> Result<(), ServerError> {
        self.change("DELETE FROM secret WHERE kind = 'once'", params![])?;
        self.forget_ended(now)
    }

    /// Forgets what has ended.
    pub(crate) fn forget_ended(&self, now: i64) -> Result<(), ServerError> {
        self.change("DELETE FROM secret WHERE ends_at <= ?1", params![now]).map(drop)
    }

    /// The tokens of a user, or all of them.
    pub(crate) fn tokens(&self, of: Option<&Who>) -> Result<Vec<Token>, ServerError> {
        let read = || -> rusqlite::Result<Vec<Token>> {
            let mut query = self.connection.prepare_cached(
                "SELECT id, user, name, role, made_at, ends_at FROM secret WHERE kind = 'token' ORDER BY id",
            )?;
            query.query_map([], token)?.collect()
        };
        let mut tokens = read().map_err(|source| self.explain(source))?;
        tokens.retain(|token| of.is_none_or(|who| token.user == who.name));
        Ok(tokens)
    }

    /// How many tokens a user has.
    pub(crate) fn count_tokens(&self, user: Option<&str>) -> Result<i64, ServerError> {
        let count = "SELECT count(*) FROM secret WHERE kind = 'token' AND user IS ?1";
        self.connection.query_row(count, [user], |row| row.get(0)).map_err(|source| self.explain(source))
    }

    /// Ends a token.
    pub(crate) fn end_token(&self, id: i64) -> Result<bool, ServerError> {
        self.change("DELETE FROM secret WHERE id = ?1 AND kind = 'token'", params![id])
    }

    /// Whether a statement changed anything.
    pub(crate) fn change(&self, statement: &str, given: impl rusqlite::Params) -> Result<bool, ServerError> {
        self.connection.execute(statement, given).map(|changed| changed > 0).map_err(|source| self.explain(source))
    }
}

fn no_user(name: &str) -> ServerError {
    ServerError::Missing(format!("there is no user \"{}\"", name.chars().take(LONGEST_NAME).collect::<String>()))
}

fn user(row: &Row) -> rusqlite::Result<User> {
    Ok(User {
        name: row.get("name")?,
        role: Role::of_word(row.get_ref("role")?.as_str()?),
        made_at: row.get("made_at")?,
    })
}

fn token(row: &Row) -> rusqlite::Result<Token> {
    let ends_at: Option<i64> = row.get("ends_at")?;
    Ok(Token {
        id: row.get("id")?,
        user: row.get("user")?,
        name: row.get("name")?,
        role: Role::of_word(row.get_ref("role")?.as_str()?),
        made_at: row.get("made_at")?,
        ends_at: ends_at.and_then(|second| Timestamp::from_second(second).ok()).map(|end| end.to_string()),
    })
}
