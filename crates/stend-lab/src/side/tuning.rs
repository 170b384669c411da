//! Settings of the kernel that a side changes for its repeats, and that are put back.
//!
//! What is changed is noted on disk first, in the directory for runs' files: so it is put back after any crash, by whoever comes next.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use stend_model::side::Side;
use thiserror::Error;

use stend_stand::host::{Command, Host, HostError};
use stend_stand::ledger;

/// The name of the ledger in the directory for runs' files.
const LEDGER: &str = "tuning";
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// Why a setting is not what a side wants, or not what it was.
#[derive(Debug, Error)]
pub enum TuningError {
    /// A side wants what cannot be.
    #[error("side \"{side}\": {source}")]
    OfSide {
        /// What the side is called.
        side: String,
        /// Why it cannot be.
        source: Box<TuningError>,
    },
    /// The machine has no such sysctl.
    #[error("sysctl.{name}={value}: this machine has no sysctl \"{name}\"")]
    NoSysctl {
        /// Its name.
        name: String,
        /// What it was to be.
        value: String,
    },
    /// The machine has no such governor.
    #[error("governor={governor}: this machine has no such governor; it has {known}")]
    NoSuchGovernor {
        /// The one that is wanted.
        governor: String,
        /// Those that there are, as the kernel names them.
        known: String,
    },
    /// The machine has no governors.
    #[error("governor={0}: this machine has no governors: its kernel does not govern frequencies")]
    NoGovernors(String),
    /// The user may not change a setting.
    #[error("{setting} cannot be changed by this user; sysctl= and governor= take root")]
    Forbidden {
        /// The setting, in words.
        setting: String,
    },
    /// The kernel refuses a value.
    #[error("{setting} cannot be set to \"{value}\": {source}")]
    Refused {
        /// The setting, in words.
        setting: String,
        /// The value.
        value: String,
        /// What it says.
        source: HostError,
    },
    /// The kernel makes another value of it.
    #[error("{setting} cannot be set to \"{value}\": the kernel made it \"{taken}\"")]
    Altered {
        /// The setting, in words.
        setting: String,
        /// The value that is wanted.
        value: String,
        /// The one that is there.
        taken: String,
    },
    /// The kernel refuses what was there before.
    #[error("{setting} cannot be put back to \"{before}\": {source}")]
    NotPutBack {
        /// The setting, in words.
        setting: String,
        /// What was there.
        before: String,
        /// What the kernel says.
        source: HostError,
    },
    /// The machine cannot be asked, or the ledger cannot be used.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// One line of the ledger: what is about to be written where, and what stood there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Entry {
    file: String,
    before: String,
    set: String,
    boot_id: String,
}

/// The settings of both sides.
pub struct Tuning<'a> {
    host: &'a dyn Host,
    ledger: String,
    boot_id: String,
    /// What each file had before.
    before: BTreeMap<String, String>,
    /// What each side wants in it.
    wanted: Vec<BTreeMap<String, String>>,
    /// What is noted already.
    noted: BTreeSet<(String, String)>,
}

impl<'a> Tuning<'a> {
    /// Finds where the sides' settings are, and that they can be changed.
    ///
    /// # Errors
    /// The machine has no such setting, or does not let this user change it; one line that says which.
    pub fn new(host: &'a dyn Host, all_work: &str, sides: &[Side]) -> Result<Self, TuningError> {
        let mut wanted = Vec::new();
        for side in sides {
            let of_side = |why| TuningError::OfSide { side: side.label.clone(), source: Box::new(why) };
            wanted.push(files(host, side).map_err(of_side)?);
        }
        let mut before = BTreeMap::new();
        for file in wanted.iter().flat_map(|files: &BTreeMap<String, String>| files.keys()) {
            let now = host.read_text(file)?;
            before.insert(file.clone(), now.trim().to_owned());
            let writable = host.run(&Command::new(["sh", "-c", "[ -w \"$1\" ]", "sh", file]))?;
            if writable.exit != Some(0) {
                return Err(TuningError::Forbidden { setting: in_words(file) });
            }
        }
        let (boot_id, noted) = (boot_id(host), BTreeSet::new());
        Ok(Self { host, ledger: format!("{all_work}/{LEDGER}"), boot_id, before, wanted, noted })
    }

    /// What a side has of all that either sets, by the names that settings have in the machine's fingerprint.
    pub fn settings_of(&self, side: usize) -> BTreeMap<String, String> {
        let name =
            |file: &str| file.strip_prefix("/proc/sys/").map_or("governor".into(), |name| name.replace('/', "."));
        self.before
            .iter()
            .map(|(file, before)| (name(file), self.wanted[side].get(file).unwrap_or(before).clone()))
            .collect()
    }

    /// What each file that a side speaks of has, and what it is to have, in words.
    pub fn changes_of(&self, side: usize) -> Vec<String> {
        let change = |(file, value): (&String, &String)| match self.before.get(file) {
            Some(before) if !is_same(before, value) => format!("{}: {before} → {value}", in_words(file)),
            _ => format!("{}: {value}, as it is", in_words(file)),
        };
        self.wanted[side].iter().map(change).collect()
    }

    /// Sets what a side wants, and what it does not speak of as it was. Nothing is written where it is so already.
    ///
    /// # Errors
    /// The kernel does not take a value; one line that says which.
    pub fn apply(&mut self, side: usize) -> Result<(), TuningError> {
        for (file, before) in &self.before {
            let value = self.wanted[side].get(file).unwrap_or(before);
            let now = || self.host.read_text(file);
            if is_same(&now()?, value) {
                continue;
            }
            if value != before && self.noted.insert((file.clone(), value.clone())) {
                let entry = Entry {
                    file: file.clone(),
                    before: before.clone(),
                    set: value.clone(),
                    boot_id: self.boot_id.clone(),
                };
                ledger::note(self.host, &self.ledger, &entry)?;
            }
            let refused = |source| TuningError::Refused { setting: in_words(file), value: value.clone(), source };
            self.host.write(file, value.as_bytes()).map_err(refused)?;
            let taken = now()?;
            if !is_same(&taken, value) {
                let taken = taken.trim().to_owned();
                return Err(TuningError::Altered { setting: in_words(file), value: value.clone(), taken });
            }
        }
        Ok(())
    }

    /// Sets what each side wants once, and puts all back: so it is known before anything is measured that the kernel takes the values.
    ///
    /// # Errors
    /// It does not take one, or cannot be put back; one line that says which.
    pub fn try_out(&mut self, all_work: &str) -> Result<(), TuningError> {
        let tried = (0..self.wanted.len()).try_for_each(|side| self.apply(side));
        self.noted.clear();
        let restored = restore(self.host, all_work).map(|_| ());
        tried.and(restored)
    }
}

/// What became of the settings that were noted, in words.
#[derive(Debug, Default, PartialEq)]
pub struct Restored {
    /// What was put back.
    pub put_back: Vec<String>,
    /// What was not, because somebody else has changed it since.
    pub left: Vec<String>,
}

/// Puts back what is noted in the ledger, and removes it.
///
/// # Errors
/// Something cannot be put back; the ledger stays.
pub fn restore(host: &dyn Host, all_work: &str) -> Result<Restored, TuningError> {
    let path = format!("{all_work}/{LEDGER}");
    let Some(entries) = ledger::read::<Entry>(host, &path)? else {
        return Ok(Restored::default());
    };
    let boot_id = boot_id(host);
    let mut files: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    // A start of the system puts all of it back by itself.
    for entry in entries {
        if entry.boot_id == boot_id && is_tunable(&entry.file) {
            files.entry(entry.file).or_insert((entry.before, Vec::new())).1.push(entry.set);
        }
    }
    let mut restored = Restored::default();
    for (file, (before, set)) in files {
        let Ok(now) = host.read_text(&file) else {
            restored.left.push(format!("left {}, which is no longer there", in_words(&file)));
            continue;
        };
        if is_same(&now, &before) {
            continue;
        }
        if set.iter().any(|set| is_same(&now, set)) {
            host.write(&file, before.as_bytes()).map_err(|source| {
                let (setting, before) = (in_words(&file), before.clone());
                TuningError::NotPutBack { setting, before, source }
            })?;
            restored.put_back.push(format!("put back {} to \"{before}\"", in_words(&file)));
        } else {
            restored.left.push(format!("left {} at \"{}\", which somebody else set", in_words(&file), now.trim()));
        }
    }
    host.remove(&path)?;
    Ok(restored)
}

/// Adds a line to the ledger. When this returns, it is on disk.
/// The files of a side's settings, with what is to stand there.
fn files(host: &dyn Host, side: &Side) -> Result<BTreeMap<String, String>, TuningError> {
    let mut files = BTreeMap::new();
    for (name, value) in &side.sysctls {
        // As sysctl reads it: the first of the two separators is the one of directories.
        let dots_first = name.chars().find(|character| matches!(character, '.' | '/')) == Some('.');
        let swap = |character| match character {
            '.' => '/',
            '/' => '.',
            other => other,
        };
        let path = if dots_first { name.chars().map(swap).collect() } else { name.clone() };
        let file = format!("/proc/sys/{path}");
        host.read_text(&file).map_err(|_| TuningError::NoSysctl { name: name.clone(), value: value.clone() })?;
        files.insert(file, value.clone());
    }
    if let Some(governor) = &side.governor {
        let processors = host.list(PROCESSORS).unwrap_or_default();
        let directories =
            processors.iter().filter(|name| is_processor(name)).map(|name| format!("{PROCESSORS}/{name}/cpufreq"));
        for directory in directories {
            let Ok(known) = host.read_text(&format!("{directory}/scaling_available_governors")) else { continue };
            if !known.split_whitespace().any(|known| known == governor) {
                let (governor, known) = (governor.clone(), known.trim().to_owned());
                return Err(TuningError::NoSuchGovernor { governor, known });
            }
            files.insert(format!("{directory}/scaling_governor"), governor.clone());
        }
        if !files.keys().any(|file| file.starts_with(PROCESSORS)) {
            return Err(TuningError::NoGovernors(governor.clone()));
        }
    }
    Ok(files)
}

fn is_processor(name: &str) -> bool {
    name.strip_prefix("cpu")
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A ledger is a text that anybody could have written: only what a side can change is put back.
fn is_tunable(file: &str) -> bool {
    let governor = file.starts_with(PROCESSORS) && file.ends_with("/cpufreq/scaling_governor");
    (file.starts_with("/proc/sys/") || governor) && !file.contains("/../")
}

/// A file of a setting, in words.
fn in_words(file: &str) -> String {
    match file.strip_prefix("/proc/sys/") {
        Some(name) => format!("sysctl {}", name.replace('/', ".")),
        None => file.to_owned(),
    }
}

/// Whether two texts are the same value: kernels separate several numbers by tabs, and people by spaces.
fn is_same(one: &str, other: &str) -> bool {
    one.split_whitespace().eq(other.split_whitespace())
}

fn boot_id(host: &dyn Host) -> String {
    host.read_text("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
