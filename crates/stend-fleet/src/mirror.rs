//! What is agreed on, as one node has it in its memory: it follows the changes of all, and makes its own on the condition that it has missed none.

use std::collections::BTreeMap;
use std::ops::RangeBounds;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, TryLockError, Weak};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::agreement::{
    Agreement, Change, Committed, Condition, Entry, MOST_CHANGES, News, Revision, Told, Trouble, Watch,
};
use crate::claims::fresh_word;

/// Only what is below this is in the memory of each node.
pub const FOLLOWED: &str = "lab/";

/// So long the news of an own change may take. They come later then, and nothing is lost.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long one look for news takes at most.
const LOOK: Duration = Duration::from_secs(1);

/// How soon after a failure the agreement is asked again.
const PAUSE: Duration = Duration::from_millis(500);

/// So long a change is tried whose conditions others break, and with pauses of chance, which grow.
const LONGEST_CHANGE: Duration = Duration::from_secs(30);
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// So often a change is made again whose answer was lost.
const LOST: usize = 3;

/// Entries of a node's memory, in types of its own.
pub trait Known: Default + Send + Sync + 'static {
    /// Takes the entry that a key has now, or that it has none. The key is one behind [`FOLLOWED`].
    fn set(&mut self, key: &str, entry: Option<&Entry>);

    /// The revision of what was last taken under a key.
    fn revision(&self, key: &str) -> Option<Revision>;
}

/// The entries of one kind, by the rest of their keys.
#[derive(Debug)]
pub struct Table<T>(BTreeMap<String, Row<T>>);

#[derive(Debug)]
struct Row<T> {
    revision: Revision,
    /// Nothing if a newer version wrote it.
    value: Option<T>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: DeserializeOwned> Table<T> {
    /// Takes an entry, or that there is none.
    pub fn set(&mut self, key: &str, entry: Option<&Entry>) {
        match entry {
            Some(entry) => {
                let row = Row { revision: entry.revision, value: serde_json::from_str(&entry.value).ok() };
                self.0.insert(key.to_owned(), row);
            }
            None => drop(self.0.remove(key)),
        }
    }
}

impl<T> Table<T> {
    /// The revision of an entry.
    pub fn revision(&self, key: &str) -> Option<Revision> {
        self.0.get(key).map(|row| row.revision)
    }

    /// An entry.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.0.get(key)?.value.as_ref()
    }

    /// All, by their keys.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &T)> {
        self.range::<str>(..)
    }

    /// Those whose keys are in a range.
    pub fn range<R: ?Sized + Ord>(&self, range: impl RangeBounds<R>) -> impl DoubleEndedIterator<Item = (&str, &T)>
    where
        String: std::borrow::Borrow<R>,
    {
        self.0.range(range).filter_map(|(key, row)| Some((key.as_str(), row.value.as_ref()?)))
    }

    /// The last key.
    pub fn last_key(&self) -> Option<&str> {
        self.0.keys().next_back().map(String::as_str)
    }
}

/// The memory of a node, and how it comes by it.
pub struct Mirror<K> {
    agreement: Arc<dyn Agreement>,
    /// Which of all that make changes this is.
    name: String,
    known: RwLock<(K, Revision)>,
    watch: Mutex<Option<Box<dyn Watch>>>,
    seen: Mutex<Seen>,
    rings: Condvar,
    /// Held while a change is made.
    changing: Mutex<()>,
}

/// What is otherwise than before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changed {
    /// The entries of these keys, or of none.
    Keys(Vec<String>),
    /// All may be.
    All,
}

#[derive(Debug)]
struct Seen {
    revision: Revision,
    /// Why no news come, and since when.
    trouble: Option<(Trouble, Instant)>,
}

/// Changes, on the condition that what they change is as it is known.
pub struct Draft<'a, K> {
    /// What is known.
    pub known: &'a K,
    conditions: BTreeMap<String, Option<Revision>>,
    changes: BTreeMap<String, Option<String>>,
    beside: Vec<Change>,
    required: Vec<Condition>,
}

impl<'a, K: Known> Draft<'a, K> {
    fn new(known: &'a K) -> Self {
        let (conditions, changes) = (BTreeMap::new(), BTreeMap::new());
        Self { known, conditions, changes, beside: Vec::new(), required: Vec::new() }
    }

    /// Makes the change only if this entry is as it is known. The key is one behind [`FOLLOWED`], as that of all changes.
    pub fn rely_on(&mut self, key: &str) {
        self.conditions.insert(key.to_owned(), self.known.revision(key));
    }

    /// Sets an entry.
    pub fn put(&mut self, key: &str, value: &impl Serialize) {
        self.rely_on(key);
        self.changes.insert(key.to_owned(), Some(serde_json::to_string(value).expect("it can be written")));
    }

    /// Removes an entry.
    pub fn remove(&mut self, key: &str) {
        self.rely_on(key);
        self.changes.insert(key.to_owned(), None);
    }

    /// Makes a change to what is in no memory, together with the others, which say on what condition. The key is a whole one.
    pub fn beside(&mut self, change: Change) {
        self.beside.push(change);
    }

    /// Makes the change only if this is so of what is in no memory. The key is a whole one.
    pub fn require(&mut self, condition: Condition) {
        self.required.push(condition);
    }

    /// Whether this draft sets the entry of a key.
    pub fn puts(&self, key: &str) -> bool {
        self.changes.get(key).is_some_and(Option::is_some)
    }

    fn conditions(&self) -> Vec<Condition> {
        let condition = |(key, revision): (&String, &Option<Revision>)| {
            let key = format!("{FOLLOWED}{key}");
            revision.map_or_else(|| Condition::Absent(key.clone()), |it| Condition::Unchanged(key.clone(), it))
        };
        self.conditions.iter().map(condition).chain(self.required.iter().cloned()).collect()
    }

    fn changes(&self) -> Vec<Change> {
        let change = |(key, value): (&String, &Option<String>)| {
            let key = format!("{FOLLOWED}{key}");
            value.clone().map_or_else(|| Change::Remove(key.clone()), |value| Change::Put(key.clone(), value))
        };
        self.changes.iter().map(change).chain(self.beside.iter().cloned()).collect()
    }
}

/// Sleeps for a time of chance up to the longest, which grows.
fn pause(most: &mut Duration) {
    let mut byte = [0];
    getrandom::fill(&mut byte).expect("there are random numbers");
    std::thread::sleep(*most * u32::from(byte[0]) / 255);
    *most = (*most * 2).min(LONGEST_PAUSE);
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K: Known> Mirror<K> {
    /// Reads what is agreed on. The name is that of a node, and of no other that makes changes at the same time.
    ///
    /// # Errors
    /// There is no answer.
    pub fn open(agreement: Arc<dyn Agreement>, name: &str) -> Result<Self, Trouble> {
        let mirror = Self {
            agreement,
            name: name.to_owned(),
            known: RwLock::default(),
            watch: Mutex::new(None),
            seen: Mutex::new(Seen { revision: 0, trouble: None }),
            rings: Condvar::new(),
            changing: Mutex::new(()),
        };
        *locked(&mirror.watch) = Some(mirror.read_all()?);
        Ok(mirror)
    }

    /// The agreement itself.
    pub fn agreement(&self) -> &Arc<dyn Agreement> {
        &self.agreement
    }

    /// Follows the changes of all on a thread, as long as the mirror is there, and tells of the keys that have changed, or that all may have.
    pub fn follow(self: &Arc<Self>, told: impl Fn(Changed) + Send + 'static) {
        let mirror = Arc::downgrade(self);
        let mut was_lost = false;
        let mut follow = move || -> Option<()> {
            let mirror: Arc<Self> = Weak::upgrade(&mirror)?;
            let looked = mirror.look(&mut locked(&mirror.watch), LOOK);
            drop(mirror);
            let is_lost = looked.is_err();
            if !(is_lost && was_lost) {
                told(looked.unwrap_or(Changed::All));
            }
            was_lost = is_lost;
            if is_lost {
                std::thread::sleep(PAUSE);
            }
            Some(())
        };
        std::thread::spawn(move || while follow().is_some() {});
    }

    /// Takes what has changed by now, or within this time, where no thread follows it.
    ///
    /// # Errors
    /// There is no answer.
    pub fn catch_up(&self, wait: Duration) -> Result<Changed, Trouble> {
        self.look(&mut locked(&self.watch), wait)
    }

    /// Waits until what a key has by now is known, whoever set it. The key is one behind [`FOLLOWED`].
    ///
    /// # Errors
    /// There is no answer.
    pub fn refresh(&self, key: &str) -> Result<(), Trouble> {
        if let Some(entry) = self.agreement.get(&format!("{FOLLOWED}{key}"))? {
            self.wait_for(entry.revision);
        }
        Ok(())
    }

    /// What is known now. Where it is found out at once that there is more, that is waited for.
    pub fn known(&self) -> Reading<'_, K> {
        if let Some(newest) = self.agreement.newest()
            && newest > locked(&self.seen).revision
        {
            self.wait_for(newest);
        }
        Reading(self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why this may be old, and for how long it has been.
    pub fn trouble(&self) -> Option<(Trouble, Duration)> {
        locked(&self.seen).trouble.as_ref().map(|(trouble, since)| (trouble.clone(), since.elapsed()))
    }

    /// Makes changes to what is known, all or none. It is drawn up again as long as others come before.
    ///
    /// # Errors
    /// Whatever drawing it up fails with, or there is no answer.
    pub fn change<T, E: From<Trouble>>(&self, draw_up: impl Fn(&mut Draft<K>) -> Result<T, E>) -> Result<T, E> {
        // One at a time: so the word of the last one is there until the next.
        let _one = locked(&self.changing);
        let (until, mut most) = (Instant::now() + LONGEST_CHANGE, FIRST_PAUSE);
        while Instant::now() < until {
            let (done, conditions, required, mut changes, is_followed, revision) = {
                let reading = self.known();
                let mut draft = Draft::new(&*reading);
                let done = draw_up(&mut draft)?;
                let is_followed = !draft.changes.is_empty();
                (done, draft.conditions(), draft.required.clone(), draft.changes(), is_followed, reading.at())
            };
            if changes.is_empty() {
                return Ok(done);
            }
            if conditions.len().max(changes.len()) >= MOST_CHANGES {
                return Err(
                    Trouble::Refused(format!("no more than {} changes are made at once", MOST_CHANGES - 1)).into()
                );
            }
            if let Some((trouble, _)) = self.trouble() {
                return Err(trouble.into());
            }
            let word = fresh_word();
            changes.push(Change::Put(format!("word/{}", self.name), word.clone()));
            match self.commit(&conditions, &changes, &word)? {
                Committed::At(revision) => {
                    if is_followed {
                        self.wait_for(revision);
                    }
                    return Ok(done);
                }
                Committed::Refused => {
                    for condition in &required {
                        if !self.holds(condition)? {
                            return Err(Trouble::Refused("what was required is no longer so".into()).into());
                        }
                    }
                    self.wait_for(revision + 1);
                    if locked(&self.seen).revision <= revision {
                        // With the watch held: nobody adds old news to a new listing.
                        let mut watch = locked(&self.watch);
                        *watch = Some(self.read_all()?);
                    }
                    pause(&mut most);
                }
            }
        }
        Err(Trouble::Unreached("others change the same again and again".into()).into())
    }

    fn holds(&self, condition: &Condition) -> Result<bool, Trouble> {
        let revision = |key: &str| Ok(self.agreement.get(key)?.map(|entry| entry.revision));
        match condition {
            Condition::Unchanged(key, wanted) => revision(key).map(|found| found == Some(*wanted)),
            Condition::Absent(key) => revision(key).map(|found| found.is_none()),
        }
    }

    /// Makes changes that cannot be made twice, and finds out by a word what became of them where an answer is lost.
    fn commit(&self, conditions: &[Condition], changes: &[Change], word: &str) -> Result<Committed, Trouble> {
        let mut lost = None;
        for _ in 0..LOST {
            match (self.agreement.commit(conditions, changes), lost) {
                // Who is asked for an agent may refuse what has been done: its claim is gone.
                (Ok(Committed::Refused) | Err(Trouble::Refused(_)), Some(trouble)) => {
                    // Without an answer to this it is no better known.
                    let last = self.agreement.get(&format!("word/{}", self.name)).map_err(|_| trouble)?;
                    let mine = last.filter(|entry| entry.value == word);
                    return Ok(mine.map_or(Committed::Refused, |entry| Committed::At(entry.revision)));
                }
                (Ok(committed), _) => return Ok(committed),
                (Err(trouble @ Trouble::Unknown(_)), _) => lost = Some(trouble),
                (Err(trouble), lost) => return Err(lost.unwrap_or(trouble)),
            }
        }
        Err(lost.expect("there was a try"))
    }

    /// Waits until a change is known, but not for ever.
    pub fn wait_for(&self, revision: Revision) {
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if locked(&self.seen).revision >= revision || left.is_zero() {
                return;
            }
            // Whoever has the watch looks for all.
            match self.watch.try_lock() {
                Ok(mut watch) => drop(self.look(&mut watch, left.min(PAUSE))),
                Err(TryLockError::Poisoned(_)) => return,
                Err(TryLockError::WouldBlock) => {
                    let seen = locked(&self.seen);
                    let is_behind = |seen: &mut Seen| seen.revision < revision;
                    let waited = self.rings.wait_timeout_while(seen, left.min(PAUSE), is_behind);
                    drop(waited.unwrap_or_else(PoisonError::into_inner));
                }
            }
        }
    }

    /// Takes the next news. After a failure all is read anew.
    fn look(&self, watch: &mut Option<Box<dyn Watch>>, wait: Duration) -> Result<Changed, Trouble> {
        let looked = match watch {
            Some(watch) => watch.next(wait).map(Some),
            None => self.read_all().map(|new| {
                *watch = Some(new);
                None
            }),
        };
        let looked = looked.inspect_err(|trouble| {
            *watch = None;
            let mut seen = locked(&self.seen);
            let since = seen.trouble.as_ref().map_or_else(Instant::now, |(_, since)| *since);
            seen.trouble = Some((trouble.clone(), since));
        })?;
        let Some(Told { news, revision }) = looked else { return Ok(Changed::All) };
        let mut keys = Vec::new();
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if revision < known.1 {
            return Ok(Changed::Keys(keys));
        }
        for news in news {
            let (key, entry) = match news {
                News::Put(entry) => (entry.key.clone(), Some(entry)),
                News::Removed(key, _) => (key, None),
            };
            let key = key.strip_prefix(FOLLOWED).unwrap_or(&key);
            known.0.set(key, entry.as_ref());
            keys.push(key.to_owned());
        }
        known.1 = revision;
        drop(known);
        locked(&self.seen).revision = revision;
        self.rings.notify_all();
        Ok(Changed::Keys(keys))
    }

    /// Reads all, and gives the watch that goes on behind it.
    fn read_all(&self) -> Result<Box<dyn Watch>, Trouble> {
        let listing = self.agreement.list(FOLLOWED)?;
        let watch = self.agreement.watch(FOLLOWED, listing.revision)?;
        let mut known = K::default();
        for entry in &listing.entries {
            known.set(entry.key.strip_prefix(FOLLOWED).unwrap_or(&entry.key), Some(entry));
        }
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = (known, listing.revision);
        let mut seen = locked(&self.seen);
        (seen.revision, seen.trouble) = (listing.revision, None);
        drop(seen);
        self.rings.notify_all();
        Ok(watch)
    }
}

/// What is known, as long as it is looked at: nothing changes meanwhile.
pub struct Reading<'a, K>(RwLockReadGuard<'a, (K, Revision)>);

impl<K> Reading<'_, K> {
    /// At which revision it is so.
    pub fn at(&self) -> Revision {
        self.0.1
    }
}

impl<K> std::ops::Deref for Reading<'_, K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.0.0
    }
}
