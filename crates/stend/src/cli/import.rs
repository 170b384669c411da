//! `stend import`: runs that were exported, here or elsewhere, and results of machines that no lab reaches.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use jiff::Timestamp;
use stend_model::run::{RunState, Series};

use super::failure::{Exit, Failure};
use super::hosts::check_free;
use super::{Global, label, output};
use stend_lab::run::carried;
use stend_lab::run::carried::CarriedError;
use stend_lab::run::carried::Damage;
use stend_lab::run::others::{self, Others};
use stend_model::quantity::english_plural;
use stend_model::record::Record;
use stend_report::words;
use stend_report::words::language::Language;
use stend_stand::hosts::Hosts;
use stend_store::{Carried, Store, read_export};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// Files written by `stend export`, `stend-probe run`, `hyperfine --export-json` or `go test -bench`
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Name of the machine for results that were not exported: a new name, or one of `stend hosts`; also renames it in a run imported earlier [default:
    /// its own host name]
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
}

/// How every gzip file begins.
const GZIP: [u8; 2] = [0x1f, 0x8b];

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    if let Some(host) = &arguments.host {
        check_free(host).map_err(|why| Failure::usage(format!("--host: {why}")))?;
    }
    // All files are read before the first run is added: a bad one among them leaves the store as it was.
    let mut read = Vec::new();
    for path in &arguments.files {
        read.push((path.display().to_string(), read_file(path, arguments.host.as_deref())?));
    }
    let directory = global.store_directory()?;
    for (name, (record, _)) in &read {
        stend_server::refuse_removed(&directory, &record.run.id)
            .map_err(|why| Failure::usage(format!("{name}: {why}")))?;
    }
    let mut store = Store::open(&directory)?;
    let hosts = Hosts::read(&directory).map_err(Failure::usage)?;
    for (name, (mut record, series)) in read {
        if record.run.carried {
            record.run.known = hosts.find(&record.run.machine.name).cloned();
        }
        let id = &record.run.id;
        if !record.run.carried {
            // A name of this user's must not come to mean a run of somebody else's.
            if let Some(label) = record.run.label.take_if(|label| label::check(&store, &hosts, label).is_err()) {
                talk!("{name}: without its label \"{label}\", which cannot be one here");
            }
            let word = if store.import(&record, &series).with_context(|| name.clone())? {
                "imported"
            } else {
                "is here already"
            };
            talk!("{name}: run {id} {word}");
            if let (Some(label), None) = (&record.run.label, store.label_of(id)?)
                && let Ok(other) = store.resolve(label)
            {
                talk!(
                    "{name}: without its label \"{label}\", which is that of run {other} here; give it another one: {} label {id} NAME",
                    output::program()
                );
            }
            continue;
        }
        match store.import_carried(&record, &series).with_context(|| name.clone())? {
            Carried::New => talk!("{name}: run {id} imported: {}", of_machine(&record)),
            Carried::Grown(added) => {
                let added = english_plural(added, "repeat", "repeats");
                talk!("{name}: run {id} was here already and got {added} more: {}", of_machine(&record));
            }
            Carried::Known => talk!("{name}: run {id} is here already"),
        }
        if arguments.host.is_some()
            && let Some(before) = store.call_carried(&record.run)?
        {
            talk!("{name}: the machine of run {id} is called {} now, and no longer {before}", record.run.host);
        }
        for skipped in &record.run.skipped {
            talk!("skipped: {}: {}", skipped.scenario, words::cause(&skipped.reason, Language::English));
        }
        if record.run.state == RunState::Open {
            talk!(
                "it was interrupted; if it is continued there (stend-probe run PLAN --continue RESULT), import the result again"
            );
        }
        if !global.quiet {
            talk!("show it: {} show {id}", output::program());
        }
    }
    Ok(Exit::Fine)
}

/// A carried run in a few words.
fn of_machine(record: &Record) -> String {
    let of_word = |word: &'static str| {
        let mut such = record.repeats.iter().filter(|repeat| repeat.outcome.word() == word);
        let reason = words::outcome(&such.next()?.outcome, Language::English);
        Some(format!("{} {word}, the first: {reason}", such.count() + 1))
    };
    let bad: Vec<_> = ["invalid", "failed"].into_iter().filter_map(of_word).collect();
    let bad = if bad.is_empty() { String::new() } else { format!(" ({})", bad.join("; ")) };
    let repeats = english_plural(record.repeats.len(), "repeat", "repeats");
    format!("suite {} on {}, {repeats}{bad}", record.run.suite.name, record.run.host)
}

fn read_file(path: &Path, host: Option<&str>) -> Result<(Record, Vec<(u32, Series)>), Failure> {
    let name = path.display().to_string();
    let unreadable = |error: anyhow::Error| Failure::usage(format!("{error:#}"));
    let file = File::open(path).with_context(|| format!("{name} cannot be read")).map_err(unreadable)?;
    let mut file = BufReader::new(file);
    let beginning = file.fill_buf().with_context(|| format!("{name} cannot be read")).map_err(unreadable)?;
    if let Some(kind) = others::Kind::of(&String::from_utf8_lossy(&beginning[..beginning.len().min(4096)])) {
        return read_others(kind, &mut file, path, host);
    }
    if beginning.starts_with(&GZIP) {
        if host.is_some() {
            let message = format!("{name} is a run that stend exported: it has its machine's name; leave out --host");
            return Err(Failure::usage(message));
        }
        return Ok(read_export(file, &name)?);
    }
    let carried = carried::read(file, &name, host).map_err(|error| unread(&error))?;
    if carried.cut_off {
        talk!("{name}: its last line was cut off, and is left out");
    }
    Ok((carried.record, carried.series))
}

/// What another program measured. It is called as its file is, where that is free.
fn read_others(
    kind: others::Kind,
    file: &mut impl Read,
    path: &Path,
    host: Option<&str>,
) -> Result<(Record, Vec<(u32, Series)>), Failure> {
    let name = path.display().to_string();
    let mut text = String::new();
    let read = file.take(others::MOST_BYTES + 1).read_to_string(&mut text);
    read.with_context(|| format!("{name} cannot be read")).map_err(|error| Failure::usage(format!("{error:#}")))?;
    if text.len() as u64 > others::MOST_BYTES {
        return Err(Failure::usage(format!("{name} is larger than {} MiB", others::MOST_BYTES >> 20)));
    }
    let made_at = std::fs::metadata(path).and_then(|about| about.modified()).ok();
    let made_at = made_at.and_then(|at| Timestamp::try_from(at).ok()).unwrap_or_else(Timestamp::now);
    let machine = host.unwrap_or("elsewhere");
    let Others { mut record, left_out } = others::read(kind, &text, &name, machine, made_at).map_err(Failure::usage)?;
    if !left_out.is_empty() {
        let units: Vec<_> = left_out.into_iter().collect();
        talk!("{name}: left out: {}", units.join(", "));
    }
    record.run.label = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    Ok((record, Vec::new()))
}

/// Why a result is not taken, with the facts behind it in words.
fn unread(error: &CarriedError) -> Failure {
    let (CarriedError::BadLine { source, .. } | CarriedError::NoRun { source, .. }) = error else {
        return Failure::usage(error);
    };
    match source {
        Damage::OtherMachine(differences) => {
            let differences: Vec<_> = differences.iter().map(words::machine::in_words).collect();
            Failure::usage(format!("{error}: {}", differences.join("; ")))
        }
        Damage::Nameless(cause) => Failure::usage(format!("{error}: {}", words::cause(cause, Language::English))),
        _ => Failure::usage(error),
    }
}
