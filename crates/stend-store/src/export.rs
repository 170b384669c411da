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
use stend_model::record::Record;
use stend_model::run::{Repeat, Run, Series, Session, is_run_id};
use thiserror::Error;

use super::StoreError;
use stend_model::latency::{self, LatencyError};
use stend_model::profile::{Observed, Profile};
use stend_stand::bounded::Lines;

/// The version of the format.
const EXPORT_VERSION: u32 = 2;

/// What is wrong with a file that is no run that stend exported.
#[derive(Debug, Error)]
pub enum ExportError {
    /// Nothing is in it.
    #[error("it is empty")]
    Empty,
    /// A line cannot be read.
    #[error("line {number}: {source}")]
    NotRead {
        /// Which line, from 1.
        number: usize,
        /// What the system or the unpacker said.
        source: std::io::Error,
    },
    /// A line is none of a run.
    #[error("line {number}: {source}")]
    NoLine {
        /// Which line, from 1.
        number: usize,
        /// What the parser said.
        source: serde_json::Error,
    },
    /// A line stands where it has no place.
    #[error("line {0} is out of place")]
    OutOfPlace(usize),
    /// It has the format of another version.
    #[error("its format is {0}; this stend knows {EXPORT_VERSION}")]
    Format(u32),
    /// It is not what was written.
    #[error("its checksum does not agree with its contents; it is damaged")]
    Checksum,
    /// The run cannot be called so.
    #[error("\"{0}\" is no id of a run")]
    NoId(String),
    /// A repeat is of a scenario that there is not.
    #[error("repeat {repeat} is of scenario {scenario}, and there are {scenarios}")]
    StrayRepeat {
        /// The repeat.
        repeat: u32,
        /// The number of its scenario.
        scenario: usize,
        /// How many there are.
        scenarios: usize,
    },
    /// It has another number of sides than a run can have.
    #[error("it has {0} sides, and a run has {SIDES} or none")]
    Sides(usize),
    /// A repeat is of a side that there is not.
    #[error("repeat {0} is of no side that there is")]
    NoSide(u32),
    /// Its repeats are not in order.
    #[error("its repeats are not in order")]
    Repeats,
    /// What a repeat counted cannot be read.
    #[error("repeat {repeat}: {source}")]
    Latencies {
        /// The repeat.
        repeat: u32,
        /// Why not.
        source: LatencyError,
    },
    /// A profile is of a scenario that there is not.
    #[error("there is a profile of \"{0}\", and no such scenario")]
    StrayProfile(String),
    /// A profile has nothing in it.
    #[error("the profile of \"{0}\" has no stacks")]
    EmptyProfile(String),
    /// Its profiles are not in order.
    #[error("its profiles are not in order")]
    Profiles,
    /// Reports of tools are of no repeat, or not in order.
    #[error("its tools' reports are not of its repeats")]
    Reports,
    /// A series is of no repeat, or has a time without a value.
    #[error("the series {metric} of repeat {repeat} is not whole")]
    Series {
        /// What it is of.
        metric: String,
        /// Of which repeat.
        repeat: u32,
    },
}

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
pub fn write_export(record: &Record, series: &[(u32, Series)], to: impl Write) -> std::io::Result<()> {
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
pub fn read_export(from: impl Read, name: &str) -> Result<(Record, Vec<(u32, Series)>), StoreError> {
    let bad = |why: ExportError| StoreError::BadExport { file: name.to_owned(), why };
    let cut_off = |whole: usize| StoreError::CutOff { file: name.to_owned(), lines: whole };
    let mut lines = Lines::of(BufReader::new(GzDecoder::new(BufReader::new(from))));
    let mut text = Vec::new();
    let mut digest = Sha256::new();
    let mut record: Option<Record> = None;
    let mut all_series = Vec::new();
    for number in 1.. {
        match lines.next(&mut text) {
            Ok(false) if record.is_some() => return Err(cut_off(number - 1)),
            Ok(false) => return Err(bad(ExportError::Empty)),
            Ok(true) => {}
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Err(cut_off(number - 1)),
            Err(source) => return Err(bad(ExportError::NotRead { number, source })),
        }
        let line: Line = serde_json::from_slice(&text).map_err(|source| bad(ExportError::NoLine { number, source }))?;
        match (line, &mut record) {
            (Line::Export { version, .. }, None) if version != EXPORT_VERSION => {
                return Err(bad(ExportError::Format(version)));
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
                    return Err(bad(ExportError::Checksum));
                }
                let record = record.expect("this arm has a record");
                check(&record, &all_series).map_err(bad)?;
                return Ok((record, all_series));
            }
            _ => return Err(bad(ExportError::OutOfPlace(number))),
        }
        digest.update(&text);
    }
    unreachable!("the loop ends at the last line")
}

/// What holds for every run that stend made; a file may come from anywhere.
fn check(record: &Record, series: &[(u32, Series)]) -> Result<(), ExportError> {
    if !is_run_id(&record.run.id) {
        return Err(ExportError::NoId(record.run.id.clone()));
    }
    let scenarios = record.run.suite.scenarios.len();
    if let Some(repeat) = record.repeats.iter().find(|repeat| repeat.scenario >= scenarios) {
        return Err(ExportError::StrayRepeat { repeat: repeat.sequence, scenario: repeat.scenario, scenarios });
    }
    let sides = record.run.sides.len();
    if sides != 0 && sides != SIDES {
        return Err(ExportError::Sides(sides));
    }
    let is_of_side =
        |repeat: &&Repeat| repeat.side.is_some_and(|side| side < sides) || (repeat.side.is_none() && sides == 0);
    if let Some(repeat) = record.repeats.iter().find(|repeat| !is_of_side(repeat)) {
        return Err(ExportError::NoSide(repeat.sequence));
    }
    if !record.repeats.is_sorted_by(|one, next| one.sequence < next.sequence) {
        return Err(ExportError::Repeats);
    }
    for repeat in &record.repeats {
        let checked = repeat.report.as_ref().map_or(Ok(()), latency::check);
        checked.map_err(|source| ExportError::Latencies { repeat: repeat.sequence, source })?;
    }
    let place =
        |profile: &Profile| record.run.suite.scenarios.iter().position(|scenario| scenario.name == profile.scenario);
    if let Some(profile) = record.profiles.iter().find(|profile| place(profile).is_none()) {
        return Err(ExportError::StrayProfile(profile.scenario.clone()));
    }
    let empty = |profile: &&Profile| match &profile.observed {
        Observed::Stacks(stacks) => stacks.summary().samples == 0,
        Observed::SystemCalls { .. } | Observed::Nothing => false,
    };
    if let Some(profile) = record.profiles.iter().find(empty) {
        return Err(ExportError::EmptyProfile(profile.scenario.clone()));
    }
    if !record.profiles.is_sorted_by(|one, next| place(one) < place(next)) {
        return Err(ExportError::Profiles);
    }
    let reports = record.own_reports.iter();
    let is_of_repeat = |sequence: u32| record.repeats.iter().any(|repeat| repeat.sequence == sequence);
    if !record.own_reports.is_sorted_by(|one, next| one.0 < next.0)
        || !reports.clone().all(|(sequence, _)| is_of_repeat(*sequence))
    {
        return Err(ExportError::Reports);
    }
    let last = record.repeats.last().map(|repeat| repeat.sequence);
    match series
        .iter()
        .find(|(sequence, series)| Some(*sequence) > last || series.times_ns.len() != series.values.len())
    {
        Some((repeat, series)) => Err(ExportError::Series { metric: series.metric.clone(), repeat: *repeat }),
        None => Ok(()),
    }
}
