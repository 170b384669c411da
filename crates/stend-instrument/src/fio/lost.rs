//! What is lost of a load whose pool has failed: what fio wrote, and whether that was acknowledged and flushed, by its log of operations; and
//! what it finds when all is read again.
//!
//! The load has one operation in flight. So each operation in the log but the last was acknowledged, and a flush is of all writes before it.

use std::collections::{BTreeMap, BTreeSet};

use stend_model::cause::Cause;
use stend_model::checked::Checked;
use stend_model::suite::{Action, Scenario};

use super::job::Job;
use super::output::Output;
use crate::{Block, Files, Losses, Remains};

/// How the logs of operations are called, with the LUN's name behind.
pub(super) const WRITES: &str = "writes.";
/// The job that reads all again, what fio says of it, and its report.
pub(super) const JOB_FILE: &str = "again.fio";
pub(super) const SAID: &str = "again.said";
pub(super) const REPORT: &str = "again.json";
pub(super) const SCRIPT: &str = r#"exec fio --eta=never --output-format=json --output="$3" "$1" 2>"$2""#;
/// So many LUNs are named, with what they have lost.
const SHOWN: usize = 4;

/// The blocks of a LUN that were written, by their offsets.
#[derive(Debug, Default, PartialEq)]
struct Written {
    acknowledged: BTreeSet<u64>,
    flushed: BTreeSet<u64>,
}

impl Written {
    fn of(log: &str) -> Self {
        let mut written = Self::default();
        let operations: Vec<_> = log.lines().filter_map(operation).collect();
        for operation in &operations[..operations.len().saturating_sub(1)] {
            match operation {
                Operation::Write(offset) => _ = written.acknowledged.insert(*offset),
                Operation::Flush => written.flushed.clone_from(&written.acknowledged),
            }
        }
        written
    }
}

enum Operation {
    Write(u64),
    Flush,
}

/// A line such as `162 /dev/loop4 write 4046848 16384`; older versions write no time.
fn operation(line: &str) -> Option<Operation> {
    let fields: Vec<_> = line.split_whitespace().collect();
    let at = (1..=2).find(|at| ["write", "sync", "datasync"].contains(fields.get(*at).unwrap_or(&"")))?;
    match fields[at] {
        "write" => Some(Operation::Write(fields.get(at + 1)?.parse().ok()?)),
        _ => Some(Operation::Flush),
    }
}

/// Blocks of a LUN, by their offsets.
#[derive(Debug, Clone, Default, PartialEq)]
struct Wrong {
    /// Those that fio could not read.
    unreadable: BTreeSet<u64>,
    /// Those in which something else stands than was written.
    other: BTreeSet<u64>,
}

/// What fio says of blocks, for each of these files.
fn wrong_blocks(said: &str, luns: &[String]) -> Vec<Wrong> {
    let mut wrong = vec![Wrong::default(); luns.len()];
    for line in said.lines() {
        let Some((_, rest)) = line.split_once(" file ") else { continue };
        let of = |path: &String| rest.strip_prefix(path.as_str()).filter(|rest| rest.starts_with([' ', ':']));
        let Some((lun, rest)) = luns.iter().enumerate().find_map(|(lun, path)| Some((lun, of(path)?))) else {
            continue;
        };
        let digits = rest.split_once("offset").map(|(_, rest)| rest.trim_start_matches([' ', '=']));
        let digits = digits.and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        let of_lun = &mut wrong[lun];
        let blocks = if line.contains("io_u error") { &mut of_lun.unreadable } else { &mut of_lun.other };
        blocks.extend(digits.and_then(|digits| digits.parse::<u64>().ok()));
    }
    wrong
}

/// Checks that fio tried to read each block, and named each that it could not read.
fn all_named(job: &Job, report: &str, wrong: &[Wrong]) -> Result<(), Cause> {
    let mut output = Output::parse(report)?;
    output.forgive();
    let groups = output.groups()?;
    for (group, wrong) in groups.iter().zip(wrong) {
        let named = group.read.io_bytes + (wrong.unreadable.len() as u64 * job.block) as f64;
        let tried = group.read.total_ios * job.block as f64;
        if tried != job.region as f64 || named != tried {
            let (job, wanted) = (group.jobname.clone(), job.region as f64);
            return Err(Cause::FioBytesRead { job, tried, wanted, accounted: named });
        }
    }
    all_luns(groups.len(), wrong.len())
}

/// Checks that no LUN was left out.
fn all_luns(count: usize, wanted: usize) -> Result<(), Cause> {
    if count == wanted { Ok(()) } else { Err(Cause::FioLunsRead { count, wanted }) }
}

/// What of the load is lost. `load`: the files that it left.
pub(super) fn losses(scenario: &Scenario, job: &Job, load: &Files, remains: Remains<'_>) -> Result<Losses, Cause> {
    let text = |files: &Files, name: &str| {
        let found = files.iter().find(|(path, _)| path.rsplit('/').next() == Some(name));
        found.map(|(_, contents)| String::from_utf8_lossy(contents).into_owned())
    };
    let needed =
        |files: &Files, name: &str| text(files, name).ok_or_else(|| Cause::FioFileMissing { file: name.to_owned() });
    let log = |lun: u32| needed(load, &format!("{WRITES}lun{lun}"));
    let written = (0..job.luns).map(|lun| Ok(Written::of(&log(lun)?))).collect::<Result<Vec<_>, Cause>>()?;
    let wrong: Vec<BTreeSet<u64>> = match remains {
        Remains::Luns(luns, files) => {
            all_luns(luns.len(), written.len())?;
            let wrong = wrong_blocks(&needed(files, SAID)?, luns);
            all_named(job, &needed(files, REPORT)?, &wrong)?;
            wrong.into_iter().map(|of_lun| &of_lun.unreadable | &of_lun.other).collect()
        }
        // All of it is gone.
        Remains::Nothing(_) => written.iter().map(|of_lun| of_lun.acknowledged.clone()).collect(),
    };
    let bytes = |blocks: usize| blocks as u64 * job.block;
    let all = |of: fn(&Written) -> &BTreeSet<u64>| bytes(written.iter().map(|of_lun| of(of_lun).len()).sum());
    let lost = |of: fn(&Written) -> &BTreeSet<u64>| -> Vec<BTreeSet<u64>> {
        written.iter().zip(&wrong).map(|(of_lun, wrong)| of(of_lun) & wrong).collect()
    };
    let count = |lost: &[BTreeSet<u64>]| bytes(lost.iter().map(BTreeSet::len).sum());
    let (of_acknowledged, of_flushed) = (lost(|of_lun| &of_lun.acknowledged), lost(|of_lun| &of_lun.flushed));
    let (acknowledged, flushed) = (all(|of_lun| &of_lun.acknowledged), all(|of_lun| &of_lun.flushed));
    let (lost, lost_flushed) = (count(&of_acknowledged), count(&of_flushed));
    let first = |(lun, lost): (usize, &BTreeSet<u64>)| Some(Block { lun, offset: *lost.first()?, bytes: job.block });
    let is_expected = scenario.faults.iter().any(|fault| fault.action == Action::Lose);
    let mut evidence = Vec::new();
    if is_expected && lost == 0 {
        evidence.push(Checked::NoneLost { acknowledged });
    } else if is_expected {
        let places = places(&of_acknowledged, job.block);
        evidence.push(Checked::LostAsExpected { bytes: lost, acknowledged, places });
    } else if lost_flushed > 0 {
        let places = places(&of_flushed, job.block);
        evidence.push(Checked::FlushedLost { bytes: lost_flushed, flushed, places });
    } else {
        evidence.push(Checked::FlushedThere { bytes: flushed });
        evidence.push(Checked::UnflushedLost { bytes: lost, unflushed: acknowledged - flushed });
    }
    if let Remains::Nothing(why) = remains {
        evidence.push(Checked::PoolUnmountable { said: why.to_owned() });
    }
    Ok(Losses {
        passed: is_expected || lost_flushed == 0,
        observed: BTreeMap::from([
            ("acknowledged_bytes".into(), acknowledged as f64),
            ("flushed_bytes".into(), flushed as f64),
            ("lost_bytes".into(), lost as f64),
            ("lost_flushed_bytes".into(), lost_flushed as f64),
        ]),
        evidence,
        looks: of_flushed.iter().enumerate().filter_map(first).filter(|_| !is_expected).take(SHOWN).collect(),
    })
}

/// Where something is lost.
fn places(lost: &[BTreeSet<u64>], block: u64) -> Vec<Checked> {
    let of = |(lun, blocks): (usize, &BTreeSet<u64>)| {
        let (first, last) = (blocks.first()?, blocks.last()?);
        Some(Checked::LostIn { lun, bytes: blocks.len() as u64 * block, first: *first, end: last + block })
    };
    let mut told: Vec<_> = lost.iter().enumerate().filter_map(of).collect();
    if told.len() > SHOWN {
        told.truncate(SHOWN);
        told.push(Checked::MoreLost);
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_next_shows_what_was_acknowledged() {
        let log = "fio version 3 iolog\n21 /dev/loop4 add\n158 /dev/loop4 open\n162 /dev/loop4 write 16384 4096\n\
                   190 /dev/loop4 write 0 4096\n195 /dev/loop4 sync 0 0\n201 /dev/loop4 write 8192 4096\n\
                   220 /dev/loop4 write 4096 4096\n230 /dev/loop4 close\n";
        let written = Written::of(log);
        assert_eq!(written.acknowledged, BTreeSet::from([0, 8192, 16384]), "the last one was in flight");
        assert_eq!(written.flushed, BTreeSet::from([0, 16384]));
        let unanswered = Written::of("1 f write 0 4096\n2 f sync 0 0\n");
        assert_eq!((unanswered.acknowledged.len(), unanswered.flushed.len()), (1, 0), "the flush was in flight");
        assert_eq!(Written::of("fio version 3 iolog\n"), Written::default());
    }

    #[test]
    fn wrong_and_unreadable_blocks_are_found_in_what_fio_says() {
        let luns = ["/p/lun1", "/p/lun10"].map(str::to_owned);
        let said = "fio: got pattern '00', wanted '73'. Bad bits 5\n\
                    pattern: verify failed at file /p/lun10 offset 81920, length 0 (requested block: offset=81920, length=16384, flags=8)\n\
                    fio: io_u error on file /p/lun1: Input/output error: read offset=98304, buflen=16384\n";
        let [one, ten] = &wrong_blocks(said, &luns)[..] else { panic!() };
        assert_eq!(*one, Wrong { unreadable: BTreeSet::from([98304]), other: BTreeSet::new() });
        assert_eq!(*ten, Wrong { unreadable: BTreeSet::new(), other: BTreeSet::from([81920]) });
    }
}
