//! Tells people and programs what the journal says: by mail, webhooks and SNMP traps.
//!
//! Each destination follows the journal from a place of its own, which is kept in the server's file and set once something is told. So a restart loses
//! nothing, and what was told just before a crash is told again.

pub(crate) mod mail;
pub(crate) mod trap;
pub(crate) mod webhook;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use stend_model::plain;
use stend_report::words::language::Language;
use stend_report::words::{self, Given};

use crate::database::{Edit, Records};
use crate::error::ServerError;
use crate::fleet::until_duty;
use crate::guard::now;
use crate::journal::{Entry, Kind};
use crate::lab::Lab;
use crate::settings::{Retry, Wanted};

use mail::Mail;
use trap::Trap;
use webhook::Webhook;

/// What another process noted, as `stend users` does, is found within this time.
pub(crate) const LOOK: Duration = Duration::from_secs(60);

/// So many entries are looked at in one go, and at most so many are in one mail.
pub(crate) const BATCH: usize = 100;

/// So many bytes of a reason are noted.
const LONGEST_REASON: usize = 300;

/// Whoever is told.
#[derive(Debug)]
pub(crate) struct Destination {
    /// By this its place is kept.
    pub(crate) name: String,
    /// What the lab calls itself.
    pub(crate) lab: String,
    pub(crate) language: Language,
    pub(crate) wanted: Wanted,
    pub(crate) way: Way,
}

/// How.
#[derive(Debug)]
pub(crate) enum Way {
    Mail(Box<Mail>),
    Webhook(Webhook),
    Trap(Trap),
}

/// What became of a step.
enum Step {
    /// Go on.
    Done,
    /// There is nothing to tell.
    Nothing,
    /// It could not be told.
    Failed,
}

/// The place of one in the journal, and what became of what it was to be told.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The last entry that it was told of, or that is none of its.
    pub(crate) last: i64,
    /// Since when it cannot be told.
    pub(crate) since: Option<i64>,
    /// How many entries it was told of.
    pub(crate) delivered: u64,
    /// How many tries failed.
    pub(crate) failed: u64,
    /// How many entries were given up.
    pub(crate) given_up: u64,
}

/// An entry as a sentence.
pub(crate) fn sentence(entry: &Entry, language: Language) -> String {
    let nobody = || words::say("server-nobody", &[]).say(language).to_owned();
    let who = entry.who.clone().unwrap_or_else(nobody);
    let given =
        [("who", Given::Text(&who)), ("about", Given::Text(&entry.about)), ("detail", Given::Text(&entry.detail))];
    words::say(&format!("server-journal-{}", entry.kind.word()), &given).say(language).to_owned()
}

/// A text in one line without control characters, of at most so many bytes.
fn plain(text: &str, longest: usize) -> String {
    let mut text = plain::one_line(text).into_owned();
    if text.len() > longest {
        let end = longest - '…'.len_utf8();
        text.truncate((0..=end).rfind(|end| text.is_char_boundary(*end)).unwrap_or_default());
        text.push('…');
    }
    text
}

/// The parts of `host:port`.
fn host_and_port(text: &str) -> Option<(&str, u16)> {
    let (host, port) = text.rsplit_once(':')?;
    let is_host = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    let is_long = host.starts_with('[') && host.ends_with(']') && host.len() > 2;
    let is_fine = is_long || !host.is_empty() && host.chars().all(is_host);
    Some((host, port.parse().ok().filter(|port| is_fine && *port > 0)?))
}

impl Destination {
    /// How many entries are told at once.
    fn most(&self) -> usize {
        if matches!(self.way, Way::Mail(_)) { BATCH } else { 1 }
    }

    /// So long is waited for what else there is to tell.
    fn gather(&self) -> Duration {
        if let Way::Mail(mail) = &self.way { mail.gather } else { Duration::ZERO }
    }

    /// Whether it is told of an entry. That telling fails is not told, or two that fail would tell of each other for ever.
    fn wants(&self, entry: &Entry) -> bool {
        let is_its_own = entry.kind == Kind::TellingGivenUp && entry.about == self.name;
        entry.kind != Kind::TellingFailed && !is_its_own && self.wanted.has(entry)
    }

    /// Tells of entries, at least one.
    fn send(&self, entries: &[Entry], up: Duration) -> Result<(), String> {
        let sentence = |entry: &Entry| plain::one_line(&sentence(entry, self.language)).into_owned();
        let (first, last) = (&entries[0], &entries[entries.len() - 1]);
        let sent = match &self.way {
            Way::Webhook(webhook) => webhook.send(&self.lab, &sentence(first), first),
            Way::Trap(trap) => trap.send(&self.lab, &sentence(first), first, up),
            Way::Mail(mail) => {
                let grave = entries.iter().find(|entry| entry.is_grave);
                let subject = match (grave.unwrap_or(first), entries.len() - 1) {
                    (one, 0) => format!("[{}] {}", self.lab, sentence(one)),
                    (one, others) => format!("[{}] {} (+{others})", self.lab, sentence(one)),
                };
                let lines = entries.iter().map(|entry| {
                    let mark = if entry.is_grave { "✗ " } else { "" };
                    format!("{}  {mark}{}\n", local(&entry.at), sentence(entry))
                });
                mail.send(&format!("{}-{}-{}", self.lab, first.id, last.id), &subject, lines.collect())
            }
        };
        sent.map_err(|why| plain(&self.without_secrets(why), LONGEST_REASON))
    }

    /// What a server answered may quote what it was sent.
    fn without_secrets(&self, mut text: String) -> String {
        let secrets = match &self.way {
            Way::Mail(mail) => vec![mail.password.as_ref()],
            Way::Webhook(webhook) => vec![Some(&webhook.url), webhook.secret.as_ref()],
            Way::Trap(trap) => vec![Some(&trap.community)],
        };
        for secret in secrets.into_iter().flatten() {
            text = text.replace(&secret.0, "…");
        }
        text
    }
}

/// A time by this machine's clock.
pub(crate) fn local(time: &str) -> String {
    let zoned = time.parse::<jiff::Timestamp>().map(|time| time.to_zoned(jiff::tz::TimeZone::system()));
    zoned.map_or_else(|_| time.to_owned(), |time| time.strftime("%Y-%m-%d %H:%M:%S").to_string())
}

/// Tells one of all that it wants, for ever.
pub(crate) async fn follow(lab: Arc<Lab>, destination: Destination, retry: Retry) {
    let destination = Arc::new(destination);
    let began = Instant::now();
    let mut noted = lab.noted();
    let mut failures = 0;
    loop {
        until_duty(&lab, &format!("tell {}", destination.name)).await;
        noted.mark_unchanged();
        match step(&lab, &destination, &retry, failures, began).await {
            Ok(Step::Done) => failures = 0,
            Ok(Step::Nothing) => {
                let _ = tokio::time::timeout(LOOK, noted.changed()).await;
            }
            // The server's own file cannot be read or written: later it may.
            Ok(Step::Failed) | Err(_) => {
                failures += 1;
                tokio::time::sleep(retry.pause(failures)).await;
            }
        }
    }
}

async fn step(
    lab: &Arc<Lab>,
    destination: &Arc<Destination>,
    retry: &Retry,
    failures: u32,
    began: Instant,
) -> Result<Step, ServerError> {
    let name = destination.name.clone();
    let read = || lab.known().untold(&name);
    let mut entries = read()?;
    let Some(last) = entries.last().map(|entry| entry.id) else { return Ok(Step::Nothing) };
    if !entries.iter().any(|entry| destination.wants(entry)) {
        let name = name.clone();
        lab.change(move |edit| edit.is_told(&name, last, 0)).await?;
        return Ok(Step::Done);
    }
    if failures == 0 && !destination.gather().is_zero() {
        tokio::time::sleep(destination.gather()).await;
        entries = read()?;
    }
    let wanted: Vec<_> =
        entries.iter().filter(|entry| destination.wants(entry)).take(destination.most()).cloned().collect();
    let Some(last) = wanted.last().map(|entry| entry.id) else { return Ok(Step::Done) };
    let count = wanted.len();
    let sent = {
        let destination = Arc::clone(destination);
        tokio::task::spawn_blocking(move || destination.send(&wanted, began.elapsed())).await
    };
    match sent.unwrap_or_else(|panic| Err(panic.to_string())) {
        Ok(()) => {
            lab.change(move |edit| edit.is_told(&name, last, count)).await?;
            Ok(Step::Done)
        }
        Err(why) => {
            let (destination, give_up) = (Arc::clone(destination), retry.give_up);
            lab.change(move |edit| edit.is_not_told(&destination, &why, give_up)).await?;
            Ok(Step::Failed)
        }
    }
}

impl Records {
    pub(crate) fn place(&self, name: &str) -> Result<&Place, ServerError> {
        // Never from the beginning: nobody wants to be told of last year.
        self.places.get(name).ok_or_else(|| ServerError::Missing(format!("\"{name}\" has no place in the journal")))
    }

    /// The next entries behind the place of somebody.
    pub(crate) fn untold(&self, name: &str) -> Result<Vec<Entry>, ServerError> {
        Ok(self.entries_after(self.place(name)?.last, BATCH))
    }
}

impl Edit<'_, '_> {
    /// Makes places for those that have none, at the journal's end, and forgets those of others, which are no other node's where there is none.
    pub(crate) fn make_places(&mut self, names: &[&str], is_alone: bool) {
        let known = self.known;
        for (name, _) in known.places.iter().filter(|(name, _)| is_alone && !names.contains(name)) {
            self.remove(&key(name));
        }
        for name in names.iter().filter(|name| known.places.get(name).is_none()) {
            self.put(&key(name), &Place { last: known.last_entry(), ..Place::default() });
        }
    }

    /// It was told of so many entries, up to this one.
    pub(crate) fn is_told(&mut self, name: &str, last: i64, count: usize) -> Result<(), ServerError> {
        let before = self.known.place(name)?;
        let since = before.since.filter(|_| count == 0);
        // Another node may have been farther.
        let last = last.max(before.last);
        let place = Place { last, since, delivered: before.delivered + count as u64, ..before.clone() };
        self.put(&key(name), &place);
        Ok(())
    }

    /// A try failed: the first one is noted, and what could not be told for so long is given up.
    fn is_not_told(&mut self, destination: &Destination, why: &str, give_up: Duration) -> Result<(), ServerError> {
        let name = &destination.name;
        let before = self.known.place(name)?;
        if before.since.is_none() {
            self.note(Kind::TellingFailed, None, name, why);
        }
        let now = now();
        let since = before.since.unwrap_or(now);
        let mut place = Place { failed: before.failed + 1, since: Some(since), ..before.clone() };
        let give_up = i64::try_from(give_up.as_secs()).unwrap_or(i64::MAX);
        if now.saturating_sub(since) >= give_up {
            let at = |entry: &Entry| entry.at.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_second);
            let old = self.known.entries_after(before.last, BATCH);
            let old: Vec<_> = old.iter().take_while(|entry| now.saturating_sub(at(entry)) >= give_up).collect();
            let count = old.iter().filter(|entry| destination.wants(entry)).count();
            if let Some(last) = old.last().filter(|_| count > 0) {
                (place.last, place.given_up) = (last.id, place.given_up + count as u64);
                self.note(Kind::TellingGivenUp, None, name, &format!("{count}: {why}"));
            }
        }
        self.put(&key(name), &place);
        Ok(())
    }
}

fn key(name: &str) -> String {
    format!("told/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_lines_of_bounded_length() {
        for (text, longest, line) in [
            ("short", 5, "short"),
            ("longer", 5, "lo…"),
            ("длинно", 8, "дл…"),
            ("a\r\nBcc: b", 20, "a\u{fffd}\u{fffd}Bcc: b"),
        ] {
            let said = plain(text, longest);
            assert_eq!(said, line, "{text:?}");
        }
    }

    #[test]
    fn a_host_stands_with_its_port() {
        for (text, parts) in [
            ("smtp.example.org:587", Some(("smtp.example.org", 587))),
            ("[::1]:25", Some(("[::1]", 25))),
            ("127.0.0.1:1", Some(("127.0.0.1", 1))),
            ("::1:25", None),
            ("example.org", None),
            ("example.org:0", None),
            ("example.org:70000", None),
            (":25", None),
            ("[]:25", None),
            ("a b:25", None),
        ] {
            assert_eq!(host_and_port(text), parts, "{text}");
        }
    }
}
