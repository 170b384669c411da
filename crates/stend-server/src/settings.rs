//! What the owner of the store wrote of the server: whom it tells of what, and what it judges by.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use serde::{Deserialize, Deserializer};
use stend_model::quantity::parse_share;
use stend_report::words::language::Language;

use crate::database::Database;
use crate::error::ServerError;
use crate::journal::{Category, Entry};
use crate::lab::Lab;
use crate::retention::{self, Retention};
use crate::rules;
use crate::tell::mail::Mail;
use crate::tell::trap::Trap;
use crate::tell::webhook::Webhook;
use crate::tell::{self, Destination, Way};

/// The file, in the store's directory.
pub(crate) const FILE: &str = "server.toml";

/// A destination that is down is not asked without a pause.
const SHORTEST_PAUSE: Duration = Duration::from_millis(10);

/// No file of settings is longer.
const LONGEST: u64 = 256 * 1024;

/// What is in the file; without one all is usual.
#[derive(Debug, Default)]
pub(crate) struct Settings {
    pub(crate) destinations: Vec<Destination>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) retry: Retry,
    pub(crate) retention: Option<Retention>,
}

/// How a finished run is judged.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    /// Runs of this suite.
    pub(crate) suite: String,
    /// How much worse a scenario may be, as `--fail-on` takes it.
    pub(crate) than: String,
    /// The run that it is compared with, as `stend compare` takes it.
    pub(crate) against: String,
}

impl Rule {
    /// What it is called where it cannot be followed.
    pub(crate) fn name(&self) -> String {
        format!("{} against {}", self.suite, self.against)
    }
}

/// Which entries somebody is told of.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    /// All where none is named.
    categories: Option<Vec<Category>>,
    only_grave: bool,
}

impl Wanted {
    pub(crate) fn has(&self, entry: &Entry) -> bool {
        let is_named = self.categories.as_ref().is_none_or(|categories| categories.contains(&entry.category));
        is_named && (entry.is_grave || !self.only_grave)
    }
}

/// When what was not told is tried again.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Retry {
    #[serde(deserialize_with = "duration")]
    first: Duration,
    #[serde(deserialize_with = "duration")]
    longest: Duration,
    /// After so long an entry is given up.
    #[serde(deserialize_with = "duration")]
    pub(crate) give_up: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            first: Duration::from_secs(5),
            longest: Duration::from_secs(3600),
            give_up: Duration::from_secs(24 * 3600),
        }
    }
}

impl Retry {
    /// How long to wait after so many tries that failed: each time twice as long, up to the longest.
    pub(crate) fn pause(&self, failures: u32) -> Duration {
        let times = 2_u32.checked_pow(failures.saturating_sub(1)).unwrap_or(u32::MAX);
        self.first.saturating_mul(times).min(self.longest)
    }
}

/// A text that nobody is shown, nor what stands in its place.
#[derive(Clone)]
pub(crate) struct Secret(pub(crate) String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("…")
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The error of another type would quote what is there.
        match toml::Value::deserialize(deserializer)? {
            toml::Value::String(text) if !text.is_empty() => Ok(Self(text)),
            _ => Err(serde::de::Error::custom("a text in quotes is wanted, and not an empty one")),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: Option<String>,
    #[serde(default)]
    retry: Retry,
    mail: Option<MailTable>,
    #[serde(default)]
    webhook: Vec<WebhookTable>,
    #[serde(default)]
    trap: Vec<TrapTable>,
    #[serde(default)]
    rule: Vec<Rule>,
    retention: Option<Retention>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MailTable {
    pub(crate) server: String,
    pub(crate) from: String,
    pub(crate) to: Vec<String>,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<Secret>,
    #[serde(default)]
    pub(crate) tls: MailTls,
    pub(crate) authority: Option<PathBuf>,
    #[serde(default = "gather", deserialize_with = "duration")]
    pub(crate) gather: Duration,
    categories: Option<Vec<Category>>,
    #[serde(default)]
    only_grave: bool,
    #[serde(default)]
    language: Code,
}

/// How a mail server is spoken to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MailTls {
    #[default]
    Starttls,
    Tls,
    None,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WebhookTable {
    name: Option<String>,
    pub(crate) url: Secret,
    pub(crate) secret: Option<Secret>,
    pub(crate) authority: Option<PathBuf>,
    categories: Option<Vec<Category>>,
    #[serde(default)]
    only_grave: bool,
    #[serde(default)]
    language: Code,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrapTable {
    name: Option<String>,
    pub(crate) to: String,
    pub(crate) community: Secret,
    categories: Option<Vec<Category>>,
    #[serde(default)]
    only_grave: bool,
    #[serde(default)]
    language: Code,
}

#[derive(Debug, Clone, Copy, Default, Deserialize)]
enum Code {
    #[default]
    #[serde(rename = "en")]
    English,
    #[serde(rename = "ru")]
    Russian,
}

impl From<Code> for Language {
    fn from(code: Code) -> Self {
        match code {
            Code::English => Self::English,
            Code::Russian => Self::Russian,
        }
    }
}

fn gather() -> Duration {
    Duration::from_secs(10)
}

pub(crate) fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    let wrong = || serde::de::Error::custom(format!("{text:?} is no duration; write 30s, 10m or 24h"));
    let duration: SignedDuration = text.parse().map_err(|_| wrong())?;
    Duration::try_from(duration).map_err(|_| wrong())
}

/// The text of a file that its owner writes, if there is one, and whether nobody else reads it.
pub(crate) fn own_file(path: &Path) -> Result<Option<(String, bool)>, String> {
    // Not one that keeps whoever opens it waiting.
    let no_wait = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = match OpenOptions::new().read(true).custom_flags(no_wait).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let found = file.metadata().map_err(|error| error.to_string())?;
    let own = rustix::process::geteuid().as_raw();
    if !found.is_file() {
        return Err("it is not a regular file".into());
    }
    if found.uid() != own {
        return Err(format!("it belongs to user number {}; it must be yours: chown {own}", found.uid()));
    }
    if found.mode() & 0o022 != 0 {
        return Err("others may write to it; take that from them: chmod go-w".into());
    }
    let mut text = String::new();
    file.take(LONGEST + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > LONGEST {
        return Err(format!("it is longer than {LONGEST} bytes"));
    }
    Ok(Some((text, found.mode() & 0o077 == 0)))
}

impl Settings {
    /// Reads the file of a store, if there is one.
    pub(crate) fn read(store: &Path) -> Result<Self, ServerError> {
        let path = store.join(FILE);
        let refused = |why: String| ServerError::Refused(format!("{}: {why}", path.display()));
        let Some((text, is_private)) = own_file(&path).map_err(refused)? else { return Ok(Self::default()) };
        let file: File = toml::from_str(&text).map_err(|error| refused(in_a_line(&error, &text)))?;
        if file.has_secrets() && !is_private {
            return Err(refused("it holds secrets, and others may read it; take that from them: chmod 600".into()));
        }
        file.check().map_err(refused)
    }
}

impl Settings {
    /// Makes the places in the journal from which it is followed.
    pub(crate) fn make_places(&self, database: &Database, is_alone: bool) -> Result<(), ServerError> {
        let rules = (!self.rules.is_empty()).then_some(rules::NAME);
        let names: Vec<_> = self.destinations.iter().map(|to| to.name.as_str()).chain(rules).collect();
        database.change(|edit| {
            edit.make_places(&names, is_alone);
            Ok(())
        })
    }

    /// Starts what follows the journal.
    pub(crate) fn start(self, lab: &Arc<Lab>) {
        if let Some(retention) = self.retention {
            tokio::spawn(retention::keep(Arc::clone(lab), retention));
        }
        for destination in self.destinations {
            tokio::spawn(tell::follow(Arc::clone(lab), destination, self.retry.clone()));
        }
        if !self.rules.is_empty() {
            tokio::spawn(rules::judge_all(Arc::clone(lab), self.rules, self.retry));
        }
    }
}

/// What is wrong with the text, with the line and the table, and nothing of what stands there.
pub(crate) fn in_a_line(error: &toml::de::Error, text: &str) -> String {
    let said = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return said };
    let table = before.lines().rev().find_map(|line| {
        let line = line.trim();
        let name = line.trim_start_matches('[').split(']').next()?;
        line.starts_with('[').then(|| name.to_owned())
    });
    let place = format!("line {}", before.matches('\n').count() + 1);
    table.map_or_else(|| format!("{place}: {said}"), |table| format!("{place}, {table}: {said}"))
}

impl File {
    fn has_secrets(&self) -> bool {
        let of_mail = self.mail.as_ref().is_some_and(|mail| mail.password.is_some());
        // Whoever knows the address of a webhook can often post there.
        of_mail || !self.webhook.is_empty() || !self.trap.is_empty()
    }

    fn check(self) -> Result<Settings, String> {
        let lab = self.name.unwrap_or_else(|| {
            rustix::system::uname().nodename().to_string_lossy().replace(|c: char| !is_plain(c), "-")
        });
        if lab.is_empty() || lab.len() > 63 || !lab.chars().all(is_plain) {
            return Err("name: 1 to 63 letters, digits, hyphens, dots and underscores are a lab's name".into());
        }
        let mut destinations = Vec::new();
        let mut add = |name: String, language: Code, categories: Option<Vec<Category>>, only_grave, way| {
            destinations.push(Destination {
                name,
                lab: lab.clone(),
                language: language.into(),
                wanted: Wanted { categories, only_grave },
                way,
            });
        };
        if let Some(mut mail) = self.mail {
            let (categories, only_grave, language) = (mail.categories.take(), mail.only_grave, mail.language);
            let way = Mail::new(mail, &lab).map_err(|why| format!("mail: {why}"))?;
            add("mail".into(), language, categories, only_grave, Way::Mail(Box::new(way)));
        }
        for mut webhook in self.webhook {
            let (categories, only_grave, language) = (webhook.categories.take(), webhook.only_grave, webhook.language);
            let name = webhook.name.take();
            let way = Webhook::new(&webhook).map_err(|why| format!("webhook: {why}"))?;
            let name = name.unwrap_or_else(|| format!("webhook {}", way.host()));
            add(name, language, categories, only_grave, Way::Webhook(way));
        }
        for mut trap in self.trap {
            let (categories, only_grave, language) = (trap.categories.take(), trap.only_grave, trap.language);
            let name = trap.name.take().unwrap_or_else(|| format!("trap {}", trap.to));
            let way = Trap::new(trap).map_err(|why| format!("trap: {why}"))?;
            add(name, language, categories, only_grave, Way::Trap(way));
        }
        let mut names = BTreeSet::new();
        for Destination { name, wanted, .. } in &destinations {
            if name.trim().is_empty() || name.len() > 100 || name.chars().any(char::is_control) {
                return Err("name: 1 to 100 bytes without control characters are a destination's name".into());
            }
            if !names.insert(name) {
                return Err(format!("there are two destinations called \"{name}\": give each a name of its own"));
            }
            if wanted.categories.as_ref().is_some_and(Vec::is_empty) {
                return Err(format!("{name}: categories: name one, or leave it out to be told of all"));
            }
        }
        self.retention.as_ref().map_or(Ok(()), Retention::check)?;
        if self.retry.first < SHORTEST_PAUSE {
            return Err("retry: first: it is 10ms or longer".into());
        }
        for rule in &self.rule {
            let share = parse_share(&rule.than).map_err(|error| format!("rule: than: {error}"))?;
            if !(0.0..10.0).contains(&share) || !rule.than.contains('%') {
                return Err("rule: than: it is a share in percent, as in \"5 %\"".into());
            }
            if rule.suite.trim().is_empty() || rule.against.trim().is_empty() {
                return Err("rule: suite and against: each is a name".into());
            }
        }
        Ok(Settings { destinations, rules: self.rule, retry: self.retry, retention: self.retention })
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_')
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn read(text: &str, mode: u32) -> Result<Settings, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        Settings::read(directory.path()).map_err(|error| error.to_string())
    }

    const MAIL: &str = "[mail]\nserver = \"localhost:25\"\nfrom = \"lab@example.org\"\nto = [\"a@example.org\"]\n";

    #[test]
    fn what_is_wrong_is_a_line_with_the_key_and_without_the_secret() {
        let hook = "[[webhook]]\nurl = \"https://example.org/hunter2\"\n";
        let trap = "[[trap]]\nto = \"localhost:162\"\ncommunity = \"hunter2\"\n";
        for (text, parts) in [
            ("colour = 1", &["line 1", "colour", "webhook"][..]),
            (&format!("{MAIL}subject = \"x\""), &["line 5, mail", "subject", "from"]),
            (&format!("{MAIL}tls = \"ssl\""), &["ssl", "starttls"]),
            (&format!("{MAIL}categories = [\"run\"]"), &["run", "verdicts"]),
            (&format!("{MAIL}categories = []"), &["categories"]),
            ("[retention]", &["retention", "older_than"]),
            ("[retention]\nolder_than = \"long\"", &["retention: older_than", "long"]),
            ("[retention]\nto_size = \"many\"", &["retention: to_size", "many"]),
            ("[retention]\nkeep = 1", &["line 2, retention", "keep"]),
            (&format!("{MAIL}language = \"de\""), &["de", "en", "ru"]),
            (&format!("{MAIL}gather = \"soon\""), &["soon", "30s"]),
            (&format!("{MAIL}password = 271828"), &["line 5, mail", "text in quotes"]),
            (&format!("{MAIL}password = \"hunter2\""), &["mail", "user"]),
            (
                &format!("{MAIL}user = \"u\"\npassword = \"hunter2\"\ntls = \"none\"")
                    .replace("localhost", "example.org"),
                &["tls"],
            ),
            (&MAIL.replace(":25", ""), &["server", "host:port"]),
            (&MAIL.replace("lab@", ""), &["from"]),
            (&MAIL.replace("[\"a@example.org\"]", "[]"), &["to"]),
            (&MAIL.replace("a@example.org", "a@example.org\\nBcc: b@example.org"), &["to"]),
            (&format!("{MAIL}authority = \"nowhere.pem\""), &["authority", "nowhere.pem"]),
            (&hook.replace("https", "ftp"), &["url", "https://"]),
            (&hook.replace("https://", ""), &["url", "https://"]),
            (&format!("{hook}{hook}"), &["webhook example.org", "name"]),
            (&format!("{hook}secret = 271828"), &["text in quotes"]),
            (&format!("{hook}secret = \"\""), &["text in quotes"]),
            (&trap.replace(":162", ""), &["to", "host:port"]),
            ("[[rule]]\nsuite = \"quick\"\nthan = \"5\"\nagainst = \"release\"", &["than", "5 %"]),
            ("[[rule]]\nsuite = \"quick\"\nthan = \"much\"\nagainst = \"release\"", &["than", "much"]),
            ("[[rule]]\nsuite = \"quick\"\nthan = \"5 %\"", &["against"]),
            ("[retry]\nfirst = \"1\"", &["30s"]),
            ("[retry]\nfirst = \"0s\"", &["first", "10ms"]),
            ("name = \"a b\"", &["name"]),
            ("[mail", &["line 1"]),
        ] {
            let said = read(text, 0o600).map(drop).expect_err(text);
            assert!(said.lines().count() == 1 && said.contains(FILE), "{text}\n{said}");
            assert!(parts.iter().all(|part| said.contains(part)), "{text}\n{said}");
            assert!(!said.contains("hunter2") && !said.contains("271828"), "{text}\n{said}");
        }
    }

    #[test]
    fn others_may_neither_write_the_file_nor_read_secrets_in_it() {
        for (mode, text, part) in [
            (0o644, MAIL, None),
            (0o664, MAIL, Some("chmod go-w")),
            (0o602, MAIL, Some("chmod go-w")),
            (0o644, "[[webhook]]\nurl = \"http://localhost/\"\n", Some("chmod 600")),
            (0o640, "[[trap]]\nto = \"localhost:162\"\ncommunity = \"public\"\n", Some("chmod 600")),
            (0o604, &format!("{MAIL}user = \"u\"\npassword = \"p\"\n"), Some("chmod 600")),
            (0o600, &format!("{MAIL}user = \"u\"\npassword = \"p\"\n"), None),
        ] {
            let said = read(text, mode).err();
            assert_eq!(said.is_some(), part.is_some(), "{mode:o} {text} {said:?}");
            assert!(said.unwrap_or_default().contains(part.unwrap_or_default()), "{mode:o} {text}");
        }
        let directory = tempfile::tempdir().unwrap();
        assert!(Settings::read(directory.path()).unwrap().destinations.is_empty());
        std::fs::create_dir(directory.path().join(FILE)).unwrap();
        assert!(Settings::read(directory.path()).unwrap_err().to_string().contains("regular file"));
        // A password stays out of what is printed of the settings.
        let settings = read(&format!("{MAIL}user = \"u\"\npassword = \"hunter2\"\n"), 0o600).unwrap();
        assert!(!format!("{settings:?}").contains("hunter2"));
    }

    #[test]
    fn pauses_grow_to_the_longest_one() {
        let seconds: Vec<_> = [1, 2, 3, 10, 11, 40, u32::MAX].map(|n| Retry::default().pause(n).as_secs()).to_vec();
        assert_eq!(seconds, [5, 10, 20, 2560, 3600, 3600, 3600]);
    }
}
