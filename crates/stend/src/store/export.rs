//! A run as one file: gzip over JSON lines, the last of which holds the SHA-256 of those before it.
//!
//! `zcat` and any JSON reader can read it. The same run always gives the same bytes, so an export that was imported and
//! exported again can be compared with `cmp`.

use std::io::{BufReader, Read, Write};

use flate2::bufread::GzDecoder;
use flate2::{Compression, GzBuilder};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use stend_model::identity::hexadecimal;
use stend_model::plan::SIDES;
use stend_model::run::{Repeat, Run, Series, Session, is_run_id};

use super::{Record, StoreError};
use crate::bounded::Lines;
use crate::language::english_plural;
use crate::latency;
use crate::profile::{Observed, Profile};

/// The version of the format.
const EXPORT_VERSION: u32 = 2;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Export {
        version: u32,
        run: Box<Run>,
    },
    Session(Session),
    Repeat(Box<Repeat>),
    Series {
        sequence: u32,
        series: Series,
    },
    Profile(Box<Profile>),
    /// The report of a real tool as it came.
    Report {
        sequence: u32,
        text: String,
    },
    End {
        sha256: String,
    },
}

/// Writes a run with its series, which must be in order.
pub(crate) fn write_export(record: &Record, series: &[(u32, Series)], to: impl Write) -> std::io::Result<()> {
    // No time and no file name in the header: they would make two exports of one run differ.
    let mut gzip = GzBuilder::new().operating_system(255).write(to, Compression::default());
    let mut digest = Sha256::new();
    let mut write = |line: &Line| -> std::io::Result<()> {
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        digest.update(&text);
        gzip.write_all(&text)
    };
    // Whether it was imported is for its reader to say, and no part of the run.
    let run = Box::new(Run { imported: None, ..record.run.clone() });
    write(&Line::Export { version: EXPORT_VERSION, run })?;
    for session in &record.sessions {
        write(&Line::Session(session.clone()))?;
    }
    let mut rest = series.iter().peekable();
    for repeat in &record.repeats {
        write(&Line::Repeat(Box::new(repeat.clone())))?;
        while let Some((sequence, series)) = rest.next_if(|(sequence, _)| *sequence <= repeat.sequence) {
            write(&Line::Series { sequence: *sequence, series: series.clone() })?;
        }
    }
    for profile in &record.profiles {
        write(&Line::Profile(Box::new(profile.clone())))?;
    }
    for (sequence, text) in &record.own_reports {
        write(&Line::Report { sequence: *sequence, text: text.clone() })?;
    }
    let sha256 = hexadecimal(&digest.finalize());
    let end = serde_json::to_vec(&Line::End { sha256 })?;
    gzip.write_all(&end)?;
    gzip.write_all(b"\n")?;
    gzip.finish()?.flush()
}

/// Reads what [`write_export`] wrote. `name` is the file's name for messages.
pub(crate) fn read_export(from: impl Read, name: &str) -> Result<(Record, Vec<(u32, Series)>), StoreError> {
    let bad = |reason: String| StoreError::BadExport(format!("{name} is no run exported by stend: {reason}"));
    let cut_off = |whole: usize| {
        let lines = english_plural(whole, "whole line", "whole lines");
        StoreError::BadExport(format!(
            "{name} is cut off: it ends after {lines}; copy it again, or export the run again"
        ))
    };
    let mut lines = Lines::of(BufReader::new(GzDecoder::new(BufReader::new(from))));
    let mut text = Vec::new();
    let mut digest = Sha256::new();
    let mut record: Option<Record> = None;
    let mut all_series = Vec::new();
    for number in 1.. {
        match lines.next(&mut text) {
            Ok(false) if record.is_some() => return Err(cut_off(number - 1)),
            Ok(false) => return Err(bad("it is empty".into())),
            Ok(true) => {}
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Err(cut_off(number - 1)),
            Err(error) => return Err(bad(format!("line {number}: {error}"))),
        }
        let line: Line = serde_json::from_slice(&text).map_err(|error| bad(format!("line {number}: {error}")))?;
        match (line, &mut record) {
            (Line::Export { version, .. }, None) if version != EXPORT_VERSION => {
                return Err(bad(format!("its format is {version}; this stend knows {EXPORT_VERSION}")));
            }
            (Line::Export { mut run, .. }, None) => {
                run.imported = Some(true);
                record = Some(Record::empty(*run));
            }
            (Line::Session(session), Some(record)) => record.sessions.push(session),
            (Line::Repeat(repeat), Some(record)) => record.repeats.push(*repeat),
            (Line::Series { sequence, series }, Some(_)) => all_series.push((sequence, series)),
            (Line::Profile(profile), Some(record)) => record.profiles.push(*profile),
            (Line::Report { sequence, text }, Some(record)) => record.own_reports.push((sequence, text)),
            (Line::End { sha256 }, Some(_)) => {
                if sha256 != hexadecimal(&digest.finalize()) {
                    return Err(bad("its checksum does not agree with its contents; it is damaged".into()));
                }
                let record = record.expect("this arm has a record");
                check(&record, &all_series).map_err(bad)?;
                return Ok((record, all_series));
            }
            _ => return Err(bad(format!("line {number} is out of place"))),
        }
        digest.update(&text);
    }
    unreachable!("the loop ends at the last line")
}

/// What holds for every run that stend made; a file may come from anywhere.
fn check(record: &Record, series: &[(u32, Series)]) -> Result<(), String> {
    if !is_run_id(&record.run.id) {
        return Err(format!("\"{}\" is no id of a run", record.run.id));
    }
    let scenarios = record.run.suite.scenarios.len();
    if let Some(repeat) = record.repeats.iter().find(|repeat| repeat.scenario >= scenarios) {
        return Err(format!(
            "repeat {} is of scenario {}, and there are {scenarios}",
            repeat.sequence, repeat.scenario
        ));
    }
    let sides = record.run.sides.len();
    if sides != 0 && sides != SIDES {
        return Err(format!("it has {sides} sides, and a run has {SIDES} or none"));
    }
    let is_of_side =
        |repeat: &&Repeat| repeat.side.is_some_and(|side| side < sides) || (repeat.side.is_none() && sides == 0);
    if let Some(repeat) = record.repeats.iter().find(|repeat| !is_of_side(repeat)) {
        return Err(format!("repeat {} is of no side that there is", repeat.sequence));
    }
    if !record.repeats.is_sorted_by(|one, next| one.sequence < next.sequence) {
        return Err("its repeats are not in order".into());
    }
    for repeat in &record.repeats {
        let checked = repeat.report.as_ref().map_or(Ok(()), latency::check);
        checked.map_err(|why| format!("repeat {}: {why}", repeat.sequence))?;
    }
    let place =
        |profile: &Profile| record.run.suite.scenarios.iter().position(|scenario| scenario.name == profile.scenario);
    if let Some(profile) = record.profiles.iter().find(|profile| place(profile).is_none()) {
        return Err(format!("there is a profile of \"{}\", and no such scenario", profile.scenario));
    }
    let empty = |profile: &&Profile| match &profile.observed {
        Observed::Stacks(stacks) => stacks.summary().samples == 0,
        Observed::SystemCalls { .. } | Observed::Nothing => false,
    };
    if let Some(profile) = record.profiles.iter().find(empty) {
        return Err(format!("the profile of \"{}\" has no stacks", profile.scenario));
    }
    if !record.profiles.is_sorted_by(|one, next| place(one) < place(next)) {
        return Err("its profiles are not in order".into());
    }
    let reports = record.own_reports.iter();
    let is_of_repeat = |sequence: u32| record.repeats.iter().any(|repeat| repeat.sequence == sequence);
    if !record.own_reports.is_sorted_by(|one, next| one.0 < next.0)
        || !reports.clone().all(|(sequence, _)| is_of_repeat(*sequence))
    {
        return Err("its tools' reports are not of its repeats".into());
    }
    let last = record.repeats.last().map(|repeat| repeat.sequence);
    match series
        .iter()
        .find(|(sequence, series)| Some(*sequence) > last || series.times_ns.len() != series.values.len())
    {
        Some((sequence, series)) => Err(format!("the series {} of repeat {sequence} is not whole", series.metric)),
        None => Ok(()),
    }
}
