//! Words of a target's description that are handed to programs: each is one of those that are known to be harmless, because with some
//! others nbdkit and mount start commands, or read and write files of somebody else's.

use super::error::Mistake;
use super::text::Complaint;

/// More of them are a mistake.
pub(super) const MOST_WORDS: usize = 16;
/// The longest value of one.
pub(super) const LONGEST_VALUE: usize = 32;
/// The largest number of a processor that Linux can be built for.
pub(super) const LAST_PROCESSOR: u32 = 8191;

/// nbdkit's filters that leave the data as they are and touch nothing but the controller, each with the parameters that it takes.
pub(super) const FILTERS: [(&str, &[&str]); 12] = [
    ("blocksize", &["minblock", "maxdata", "maxlen"]),
    ("blocksize-policy", &["blocksize-minimum", "blocksize-preferred", "blocksize-maximum", "blocksize-error-policy"]),
    ("cacheextents", &[]),
    (
        "delay",
        &[
            "rdelay",
            "wdelay",
            "zdelay",
            "tdelay",
            "edelay",
            "cdelay",
            "delay-read",
            "delay-write",
            "delay-zero",
            "delay-trim",
            "delay-extents",
            "delay-cache",
            "delay-fast-zero",
        ],
    ),
    ("fua", &["fuamode"]),
    ("multi-conn", &["multi-conn-mode", "multi-conn-track-dirty"]),
    ("nocache", &["cachemode"]),
    ("noextents", &[]),
    ("noparallel", &["serialize"]),
    ("nozero", &["zeromode", "fastzeromode"]),
    ("rate", &["rate", "connection-rate", "burstiness"]),
    ("readahead", &[]),
];

/// btrfs's mount options of btrfs(5) and those of mount(8) for times, without those that mount something else than the whole pool, or for
/// reading only.
pub(super) const MOUNT_OPTIONS: [&str; 35] = [
    "acl",
    "autodefrag",
    "barrier",
    "commit",
    "compress",
    "compress-force",
    "datacow",
    "datasum",
    "diratime",
    "discard",
    "flushoncommit",
    "lazytime",
    "max_inline",
    "metadata_ratio",
    "noacl",
    "noatime",
    "noautodefrag",
    "nobarrier",
    "nodatacow",
    "nodatasum",
    "nodiratime",
    "nodiscard",
    "noflushoncommit",
    "nolazytime",
    "nospace_cache",
    "nossd",
    "nossd_spread",
    "notreelog",
    "relatime",
    "space_cache",
    "ssd",
    "ssd_spread",
    "strictatime",
    "thread_pool",
    "treelog",
];

fn bounded(key: &'static str, words: &[String]) -> Result<(), Complaint> {
    if words.len() > MOST_WORDS {
        return Err((key, Mistake::Words(words.len())));
    }
    Ok(())
}

fn is_value(value: &str, also: &str) -> bool {
    (1..=LONGEST_VALUE).contains(&value.len())
        && value
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || "_.-".contains(character) || also.contains(character))
}

/// Checks nbdkit's filters and their parameters: `["delay", "rdelay=1ms"]`.
pub(super) fn filters(words: &[String]) -> Result<(), Complaint> {
    bounded("filters", words)?;
    let known = |word: &str| FILTERS.iter().find(|(name, _)| *name == word);
    let mut parameters: Vec<&'static str> = Vec::new();
    for (place, word) in words.iter().enumerate() {
        if words[..place].contains(word) {
            return Err(("filters", Mistake::Twice(word.clone())));
        }
        if !word.contains('=') {
            let Some((_, own)) = known(word) else {
                return Err(("filters", Mistake::NoFilter(word.clone())));
            };
            parameters.extend(*own);
        }
    }
    for (name, value) in words.iter().filter_map(|word| word.split_once('=')) {
        if !parameters.contains(&name) {
            return Err(("filters", Mistake::NoParameter { name: name.into(), known: parameters }));
        }
        if !is_value(value, "%+") {
            let (name, value) = (name.to_owned(), value.to_owned());
            return Err(("filters", Mistake::Value { name, value, also: "_.-%+" }));
        }
    }
    Ok(())
}

/// Checks mount options of a btrfs: `["compress=zstd:3", "ssd"]`.
pub(super) fn mount_options(words: &[String]) -> Result<(), Complaint> {
    bounded("mount_options", words)?;
    for word in words {
        let (name, value) = word.split_once('=').map_or((word.as_str(), None), |(name, value)| (name, Some(value)));
        if !MOUNT_OPTIONS.contains(&name) {
            return Err(("mount_options", Mistake::NoMountOption(name.into())));
        }
        if let Some(value) = value.filter(|value| !is_value(value, ":")) {
            let (name, value) = (name.to_owned(), value.to_owned());
            return Err(("mount_options", Mistake::Value { name, value, also: "_.-:" }));
        }
    }
    Ok(())
}

/// Checks the name of a scheduler of the kernel's.
pub(super) fn scheduler(name: &str) -> Result<(), Complaint> {
    let plain =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || "-_".contains(character);
    if (1..=LONGEST_VALUE).contains(&name.len()) && name.chars().all(plain) {
        return Ok(());
    }
    Err(("scheduler", Mistake::NoScheduler(name.into())))
}

/// Checks lists of processors, one for all controllers or one for each: `0-3,8 4-7`.
pub(super) fn processors(text: &str, controllers: u32) -> Result<(), Complaint> {
    let lists: Vec<_> = text.split(' ').filter(|list| !list.is_empty()).collect();
    if let Some(bad) = lists.iter().find(|list| ranges(list).is_none()) {
        return Err(("processors", Mistake::NoProcessors((*bad).to_owned())));
    }
    if lists.len() != 1 && lists.len() != controllers as usize {
        return Err(("processors", Mistake::Processors { lists: lists.len(), controllers }));
    }
    Ok(())
}

/// The ranges of a list of processors as the kernel writes it: `0-3,8`.
pub fn ranges(list: &str) -> Option<Vec<std::ops::RangeInclusive<u32>>> {
    let number = |text: &str| {
        let digits = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|number| digits && *number <= LAST_PROCESSOR)
    };
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        (first <= last).then_some(first..=last)
    };
    list.split(',').map(range).collect()
}
