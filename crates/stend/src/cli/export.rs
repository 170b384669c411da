//! `stend export`: a run with all its samples as one file, as it is or as it may be published, or what fio itself reported of it.

use std::io::{BufWriter, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use stend_model::public::Publisher;
use stend_model::run::Series;

use super::Global;
use super::completions;
use super::failure::{Exit, Failure};
use stend_model::profile::{NotSeen, Observed, Profile, Stacks};
use stend_model::quantity::english_plural;
use stend_model::record::Record;
use stend_store::{Store, write_export};

#[derive(Debug, Args)]
pub(super) struct Arguments {
    /// The run
    #[arg(default_value = "last", add = completions::runs())]
    run: String,
    /// Omit everything that may identify the machine or its owner, and report what was omitted: names and addresses, most kernel parameters, boot
    /// ids, network interfaces, paths, serial numbers, output of instruments. Titles and names of suites and scenarios are kept
    #[arg(long)]
    public: bool,
    /// Write fio's own reports (json+) instead, unchanged: a directory with a file for each repeat
    #[arg(long, conflicts_with = "public")]
    fio: bool,
    /// The output file, or - for standard output [default: RUN.stend.gz; with --public RUN.public.stend.gz; with --fio the directory RUN.fio]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(super) fn run(global: &Global, arguments: &Arguments) -> Result<Exit, Failure> {
    let store = Store::open_to_read(&global.store_to_read()?)?;
    let id = store.resolve(&arguments.run)?;
    if arguments.fio {
        return fio_reports(&store, &id, arguments.output.as_deref());
    }
    let mut record = store.load_whole(&id)?;
    let mut series = store.series(&id)?;
    if arguments.public {
        (record, series) = published(&record, &series);
    }
    let kind = if arguments.public { ".public" } else { "" };
    let path = arguments.output.clone().unwrap_or_else(|| PathBuf::from(format!("{id}{kind}.stend.gz")));
    if path == Path::new("-") {
        if std::io::stdout().is_terminal() {
            return Err(Failure::usage("the file is compressed and no sight for a terminal; give -o FILE, or a pipe"));
        }
        write_export(&record, &series, BufWriter::new(std::io::stdout().lock()))?;
        return Ok(Exit::Fine);
    }
    if std::fs::metadata(&path).is_ok_and(|target| !target.is_file()) {
        let message = format!(
            "a file cannot be written to {}; name another place with -o, or - for standard output",
            path.display()
        );
        return Err(Failure::usage(message));
    }
    // Written beside its place and then moved there, so that a full disk leaves no half a file.
    let partial = path.with_extension(format!("partial-{}", std::process::id()));
    let write = || -> anyhow::Result<()> {
        let mut file = BufWriter::new(std::fs::File::create(&partial)?);
        write_export(&record, &series, &mut file)?;
        file.flush()?;
        file.get_ref().sync_all()?;
        std::fs::rename(&partial, &path)?;
        Ok(())
    };
    write()
        .inspect_err(|_| drop(std::fs::remove_file(&partial)))
        .with_context(|| format!("{} cannot be written", path.display()))?;
    talk!("{}", path.display());
    Ok(Exit::Fine)
}

/// A run as it may be published. What is left out of it is said.
fn published(record: &Record, series: &[(u32, Series)]) -> (Record, Vec<(u32, Series)>) {
    let Record { run, sessions, repeats, profiles, own_reports } = record;
    if run.machine.public {
        talk!("it is public already: it was exported so before it came here");
        return (record.clone(), series.to_vec());
    }
    let mut publisher = Publisher::of(run, sessions, series);
    let record = Record {
        run: publisher.run(run),
        sessions: sessions.iter().map(|session| publisher.session(session)).collect(),
        repeats: repeats.iter().map(|repeat| publisher.repeat(repeat)).collect(),
        profiles: profiles.iter().map(|profile| published_profile(&mut publisher, profile)).collect(),
        own_reports: Vec::new(),
    };
    publisher.leave_out("reports of fio's own", own_reports.len());
    let mut series: Vec<_> = series.iter().map(|(sequence, series)| (*sequence, publisher.series(series))).collect();
    // As the store has them: other names may have another order.
    series.sort_by(|(sequence, one), (other_sequence, other)| {
        (sequence, one.origin, &one.metric).cmp(&(other_sequence, other.origin, &other.metric))
    });
    talk!("left out: {}", publisher.left_out().join("; "));
    (record, series)
}

fn published_profile(publisher: &mut Publisher, profile: &Profile) -> Profile {
    let Profile { scenario, made_at, command, observed, lacks } = profile;
    let observed = match observed {
        Observed::Stacks(Stacks { event, hertz, measured_stretch, folded }) => Observed::Stacks(Stacks {
            event: event.clone(),
            hertz: *hertz,
            measured_stretch: *measured_stretch,
            folded: publisher.text(folded),
        }),
        Observed::SystemCalls { .. } | Observed::Nothing => observed.clone(),
    };
    let lack = |NotSeen { why, remedy }: &NotSeen| NotSeen {
        why: publisher.cause(why),
        remedy: remedy.as_ref().map(|remedy| publisher.text(remedy)),
    };
    Profile {
        scenario: scenario.clone(),
        made_at: *made_at,
        observed,
        lacks: lacks.iter().map(lack).collect(),
        command: publisher.words(command),
    }
}

/// Writes what fio reported of each repeat into a directory that was not there.
fn fio_reports(store: &Store, id: &str, wanted: Option<&Path>) -> Result<Exit, Failure> {
    if wanted == Some(Path::new("-")) {
        return Err(Failure::usage("fio's reports are several files; give the name of a directory with -o"));
    }
    let record = store.load_whole(id)?;
    if record.own_reports.is_empty() {
        return Err(Failure::usage(format!(
            "run {id} keeps no report of fio's: no scenario of it ran fio, or an older stend made it"
        )));
    }
    let directory = wanted.map_or_else(|| PathBuf::from(format!("{id}.fio")), Path::to_owned);
    let shown = directory.display();
    std::fs::create_dir(&directory).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::usage(format!("{shown} is there already; give another one with -o"))
        }
        _ => Failure::unusable(format!("{shown} cannot be made: {error}")),
    })?;
    for (sequence, text) in &record.own_reports {
        let repeat = record.repeats.iter().find(|repeat| repeat.sequence == *sequence);
        let scenario = repeat.and_then(|repeat| record.run.suite.scenarios.get(repeat.scenario));
        let name = file_name(*sequence, scenario.map_or("", |scenario| &scenario.name));
        std::fs::write(directory.join(name), text).with_context(|| format!("{shown} cannot be written"))?;
    }
    talk!("{shown}: {}", english_plural(record.own_reports.len(), "report", "reports"));
    Ok(Exit::Fine)
}

/// The name of a repeat's file: its place in the run, and its scenario's name as far as it makes one.
fn file_name(sequence: u32, scenario: &str) -> String {
    let plain: String = scenario.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(60).collect();
    format!("{sequence:04}-{}.json", plain.trim_matches('-'))
}
