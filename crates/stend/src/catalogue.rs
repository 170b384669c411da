//! The suites and references that are part of the program, and those of the user.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use stend_model::identity::digest_of_stream;
use stend_model::reference::Reference;
use stend_model::server::{OF_SERVERS, Server, ServerError, UnknownPlace, plain_name};
use stend_model::side::settings_named;
use stend_model::suite::{Changes, Mistake, Suite, SuiteError};
use stend_model::weight::{Machines, MachinesError};
use thiserror::Error;

use stend_compare::weighing::MachineFiles;
use stend_stand::bounded;
use stend_stand::hosts::{Hosts, HostsError};

use stend_instrument::fio_files::{Named, NamedError, job_file_of, suite_of};
use stend_instrument::{Commands, CommandsError, check_parameters};
use stend_model::image::{Image, ImageError};
use stend_model::nearest;
use stend_report::words::language::Language;
use stend_stand::host::{Host, HostError};

// Name and text of each file in `suites/`, `servers/` and `references/`, in the order of their names; and suite, path and text of each file in a
// suite's own folder.
include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));

/// A suite, or a file of machines, that cannot be used. The message is one line and says where.
#[derive(Debug, Error)]
pub(crate) enum CatalogueError {
    /// There is no such suite.
    #[error(
        "there is no suite \"{0}\"{hint}; there are {names}, or give the path of a TOML file",
        hint = nearest::hint(.0, SUITES.iter().map(|(name, _)| *name)), names = SUITES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    )]
    NoSuite(String),
    /// A file cannot be read.
    #[error("{file} cannot be read: {source}")]
    NotRead {
        /// The file as the user knows it.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// A suite cannot be used.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// There is no such image.
    #[error(
        "there is no image \"{0}\"{hint}; there are {names}, or give the path of a TOML file",
        hint = nearest::hint(.0, IMAGES.iter().map(|(name, _)| *name)), names = IMAGES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    )]
    NoImage(String),
    /// An image cannot be used.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// A scenario names a server that there is not.
    #[error(
        "{file}: there is no server \"{server}\"{hint}; there are {names}, or give a TOML file beside the suite",
        hint = nearest::hint(.server, SERVERS.iter().map(|(name, _)| *name)),
        names = SERVERS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    )]
    NoServer {
        /// The suite's file as the user knows it.
        file: String,
        /// What stands there for a server.
        server: String,
    },
    /// Two servers are called alike.
    #[error("{file}: the servers \"{}\" and \"{}\" have one name; call one of the files otherwise", servers[0], servers[1])]
    SameServer {
        /// The suite's file as the user knows it.
        file: String,
        /// The two, as the suite names them.
        servers: [String; 2],
    },
    /// A scenario names something that its server has not.
    #[error("{file}: scenario \"{scenario}\": {source}")]
    ServerName {
        /// The suite's file as the user knows it.
        file: String,
        /// The scenario.
        scenario: String,
        /// What it names.
        source: UnknownPlace,
    },
    /// A server cannot be used.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// No server has a setting of this name, or several have.
    #[error(
        "--set rig.{key}: {} the suite has a setting \"{key}\"; there are: {}",
        if *.several { "more than one server of" } else { "no server of" },
        if .known.is_empty() { "none".into() } else { .known.join(", ") }
    )]
    Setting {
        /// What was to be set.
        key: String,
        /// Whether several have it.
        several: bool,
        /// All that there are.
        known: Vec<String>,
    },
    /// A setting of a server cannot have this value.
    #[error("--set rig.{key}: {source}")]
    SettingValue {
        /// What was to be set.
        key: String,
        /// What it names.
        source: UnknownPlace,
    },
    /// A suite has a title or a note in a language that the report has not.
    #[error(
        "{file}: {key}: \"{code}\" is no language of the report; there are {known}",
        known = Language::ALL.iter().map(|language| language.code()).collect::<Vec<_>>().join(", ")
    )]
    Title {
        /// The file as the user knows it.
        file: String,
        /// Of which of the two.
        key: &'static str,
        /// What stands there for a language.
        code: String,
    },
    /// Commands cannot be timed.
    #[error(transparent)]
    Command(#[from] CommandsError),
    /// The suite that commands make cannot be used. Its own lines are nobody's.
    #[error("the commands cannot be timed: {source}")]
    Commands {
        /// What is wrong.
        source: Box<Mistake>,
    },
    /// The suite that job files make cannot be used. Its own lines are nobody's.
    #[error("{files}: {source}")]
    JobFiles {
        /// The files as the user knows them.
        files: String,
        /// What is wrong.
        source: Box<Mistake>,
    },
    /// A job file is refused by fio, or by what reads such files.
    #[error(transparent)]
    JobFile(#[from] NamedError),
    /// A job file writes to a device behind fio.
    #[error("{}", .file.at(*.line, &.source.to_string()))]
    WritesBehind {
        /// The file.
        file: Box<Named>,
        /// The line, from 1.
        line: usize,
        /// By what.
        source: Behind,
    },
    /// fio cannot be asked.
    #[error(transparent)]
    NoAnswer(#[from] HostError),
    /// A file is none of machines.
    #[error(transparent)]
    Machines(#[from] MachinesError),
    /// The list of machines beside the store cannot be used.
    #[error(transparent)]
    Hosts(#[from] HostsError),
}

/// By what a job file may write to a device, other than by its own operations.
#[derive(Debug, PartialEq, Eq, Error)]
pub(crate) enum Behind {
    /// By a command.
    #[error("it starts a command with {0}, which is a device; stend cannot see what that does to it")]
    Command(String),
    /// By a trace that names a device.
    #[error("{trace} is a trace of {device}, which is a device; {REMEDY}", trace = .trace.display())]
    Trace {
        /// The file.
        trace: PathBuf,
        /// What it names.
        device: String,
    },
    /// By a trace of which that cannot be told.
    #[error("what {trace} names cannot be seen beforehand; {REMEDY}", trace = .0.display())]
    UnseenTrace(PathBuf),
}

/// What makes a trace harmless.
const REMEDY: &str = "say where it is to be replayed: replay_redirect=${LUN1}";

fn read(path: &Path, shown: &str) -> Result<String, CatalogueError> {
    bounded::text(path).map_err(|source| CatalogueError::NotRead { file: shown.to_owned(), source })
}

/// The suite that runs where none is named.
pub(crate) const USUAL: &str = "quick";

/// The suite that a person means: one of the program's, or a TOML file.
///
/// # Errors
/// There is no such suite, or it cannot be used.
pub(crate) fn suite(wanted: &str, changes: &Changes) -> Result<Suite, CatalogueError> {
    let parse = |text: &str, file: &str, directory: &Path| {
        Suite::parse_checked(text, file, directory, changes, &check_parameters)
    };
    if let Some((name, text)) = SUITES.iter().find(|(name, _)| *name == wanted) {
        let file = format!("suites/{name}.toml");
        let mut suite = parse(text, &file, Path::new("."))?;
        let of_it = SUITE_FILES.iter().filter(|(folder, ..)| text.contains(&format!("{{suite_directory}}/{folder}/")));
        suite.files = of_it.map(|(_, path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        note_files(&mut suite);
        with_servers(&mut suite, Path::new("."), &file)?;
        return Ok(suite);
    }
    let path = PathBuf::from(wanted);
    if path.extension().is_none() && !path.exists() {
        return Err(CatalogueError::NoSuite(wanted.to_owned()));
    }
    let text = read(&path, wanted)?;
    let directory = path.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned)).unwrap_or_default();
    let mut suite = parse(&text, wanted, &directory)?;
    let is_language = |code: &String| Language::ALL.iter().any(|language| language.code() == code);
    let titles = suite.titles.keys().map(|code| ("titles", code));
    let mut codes = titles.chain(suite.notes.keys().map(|code| ("notes", code)));
    if let Some((key, code)) = codes.find(|(_, code)| !is_language(code)) {
        return Err(CatalogueError::Title { file: wanted.to_owned(), key, code: code.clone() });
    }
    note_files(&mut suite);
    with_servers(&mut suite, &directory, wanted)?;
    Ok(suite)
}

/// The image that a person means: one of the program's, or a TOML file, whose path may begin in this directory.
///
/// # Errors
/// There is no such image, or it cannot be used.
pub(crate) fn image(wanted: &str, directory: &Path) -> Result<Image, CatalogueError> {
    if let Some((name, text)) = IMAGES.iter().find(|(name, _)| *name == wanted) {
        return Ok(Image::parse(text, &format!("images/{name}.toml"))?);
    }
    if !wanted.ends_with(".toml") {
        return Err(CatalogueError::NoImage(wanted.to_owned()));
    }
    Ok(Image::parse(&read(&directory.join(wanted), wanted)?, wanted)?)
}

/// Reads the servers that scenarios name: of the program, or beside the suite.
fn with_servers(suite: &mut Suite, directory: &Path, file: &str) -> Result<(), CatalogueError> {
    for scenario in &suite.scenarios {
        let Some(name) = &scenario.server else { continue };
        // Where its image is, if that is a file beside it.
        let mut beside = directory.to_owned();
        if !suite.servers.contains_key(name) {
            let server = match SERVERS.iter().find(|(own, _)| own == name) {
                Some((own, text)) => Server::parse(text, &format!("servers/{own}.toml"))?,
                None if name.ends_with(".toml") => {
                    let path = directory.join(name);
                    beside = path.parent().unwrap_or(directory).to_owned();
                    let shown = path.display().to_string();
                    Server::parse(&read(&path, &shown)?, &shown)?
                }
                None => return Err(CatalogueError::NoServer { file: file.to_owned(), server: name.clone() }),
            };
            if let Some(other) = suite.servers.keys().find(|other| plain_name(other) == plain_name(name)) {
                let (file, servers) = (file.to_owned(), [other.clone(), name.clone()]);
                return Err(CatalogueError::SameServer { file, servers });
            }
            if let Some(wanted) = &server.image {
                suite.images.insert(name.clone(), image(wanted, &beside)?);
            }
            suite.servers.insert(name.clone(), server);
        }
        let of_server = suite.servers[name].names().into_iter().map(str::to_owned);
        let of_target = scenario.luns_named().map(|number| format!("lun{number}"));
        let values = of_server.chain(of_target).map(|name| (name, String::new())).collect();
        scenario.placed(&values).map_err(|source| CatalogueError::ServerName {
            file: file.to_owned(),
            scenario: scenario.name.clone(),
            source,
        })?;
    }
    set_servers(suite)
}

/// Gives settings of servers the values that the user set.
fn set_servers(suite: &mut Suite) -> Result<(), CatalogueError> {
    for (name, value) in &suite.set {
        let Some(key) = name.strip_prefix(OF_SERVERS) else { continue };
        let mut named: Vec<_> = settings_named(&mut suite.servers, key);
        let several = named.len() > 1;
        let [(server, setting)] = &mut named[..] else {
            let of = |(server, all): (&String, &Server)| {
                all.settings.keys().map(|setting| format!("rig.{}.{setting}", plain_name(server))).collect::<Vec<_>>()
            };
            let known = suite.servers.iter().flat_map(of).collect();
            return Err(CatalogueError::Setting { key: key.to_owned(), several, known });
        };
        setting.clone_from(value);
        let server = server.to_owned();
        suite.servers[&server]
            .check_settings()
            .map_err(|source| CatalogueError::SettingValue { key: key.to_owned(), source })?;
    }
    Ok(())
}

/// A suite of the scenarios that are in fio's job files.
///
/// # Errors
/// A file cannot be read, or fio does not take it.
pub(crate) fn suite_of_job_files(
    host: &dyn Host,
    paths: &[PathBuf],
    changes: &Changes,
) -> Result<Suite, CatalogueError> {
    let files = paths.iter().map(|path| job_file(host, path)).collect::<Result<Vec<_>, _>>()?;
    let text = suite_of(&files, &changes.variables)?;
    let names = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    let parsed = Suite::parse_checked(&text, &names, Path::new("."), changes, &check_parameters);
    let mut suite = parsed.map_err(|error| match error {
        SuiteError::InFile { mistake, .. } => CatalogueError::JobFiles { files: names, source: mistake },
        error => error.into(),
    })?;
    set_servers(&mut suite)?;
    Ok(suite)
}

/// A suite that times commands.
///
/// # Errors
/// They cannot be timed as they are.
pub(crate) fn suite_of_commands(commands: &Commands, changes: &Changes) -> Result<Suite, CatalogueError> {
    let text = stend_instrument::suite_of_commands(commands)?;
    let parsed = Suite::parse_checked(&text, "the commands", Path::new("."), changes, &check_parameters);
    let mut suite = parsed.map_err(|error| match error {
        SuiteError::InFile { mistake, .. } => CatalogueError::Commands { source: mistake },
        error => error.into(),
    })?;
    set_servers(&mut suite)?;
    Ok(suite)
}

/// Reads a job file, and has fio itself judge it where it is.
fn job_file(host: &dyn Host, path: &Path) -> Result<Named, CatalogueError> {
    let shown = path.display().to_string();
    let text = read(path, &shown)?;
    let stem = path.file_stem().map_or_else(|| shown.clone(), |stem| stem.to_string_lossy().into_owned());
    let mut file = Named { path: shown.clone(), stem, text, readonly: false };
    file.readonly = file.paths()?.iter().any(|(_, path)| is_device(path));
    if let Some((line, source)) = written_behind(&file)? {
        return Err(CatalogueError::WritesBehind { file: Box::new(file), line, source });
    }
    if host.find_program("fio").is_none() {
        return Ok(file);
    }
    let output = host.run(&file.judging()?)?;
    let said = String::from_utf8_lossy(&output.stderr);
    // Without the engine fio does not know its options. Whether the machine under test has it is asked there.
    let cannot_judge = said.contains(" not loadable");
    if output.exit == Some(0) || cannot_judge { Ok(file) } else { Err(file.complaint(&said).into()) }
}

/// A device that a run's job files name now, and did not when they were let write: by a variable of the environment, or a link.
pub(crate) fn new_device(suite: &Suite) -> Option<String> {
    let files = suite.scenarios.iter().filter_map(job_file_of);
    let mut written = files.filter(|file| !file.readonly).flat_map(|file| file.paths().unwrap_or_default());
    written.find(|(_, path)| is_device(path)).map(|(_, path)| path)
}

/// What a job file writes to a device by other means than its own operations, which fio could be kept from: by a command, or a trace. The
/// line, and what is wrong with it.
fn written_behind(file: &Named) -> Result<Option<(usize, Behind)>, CatalogueError> {
    let device = file.words_of_commands()?.into_iter().find(|(_, word)| is_device(word));
    if let Some((line, word)) = device {
        return Ok(Some((line, Behind::Command(word))));
    }
    let wrong = |(line, path): (usize, String)| Some((line, what_a_trace_writes(Path::new(&path))?));
    Ok(file.traces()?.into_iter().find_map(wrong))
}

/// Why a trace that is there must not be replayed on what it names.
fn what_a_trace_writes(path: &Path) -> Option<Behind> {
    let found = std::fs::metadata(path).ok()?;
    let unseen = || Behind::UnseenTrace(path.to_owned());
    if !found.is_file() {
        return Some(unseen());
    }
    let mut lines = BufReader::new(File::open(path).ok()?).lines();
    // A trace of blktrace is no text, and names devices by their numbers.
    let Some(Ok(head)) = lines.next() else { return Some(unseen()) };
    if !head.starts_with("fio version ") {
        return Some(unseen());
    }
    for line in lines {
        let Ok(line) = line else { return Some(unseen()) };
        // Newer traces have the time before the name.
        let mut words = line.split_whitespace().skip_while(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        if let Some(name) = words.next().filter(|name| is_device(name)) {
            return Some(Behind::Trace { trace: path.to_owned(), device: name.to_owned() });
        }
    }
    None
}

/// Whether a job file's path is that of a device, or of something below `/dev` other than memory, nothing, and what keeps nothing. Variables other than
/// those of LUNs are the user's own.
fn is_device(path: &str) -> bool {
    let mut expanded = String::new();
    let mut rest = path;
    while let Some((before, (name, behind))) =
        rest.split_once("${").and_then(|(before, name)| Some((before, name.split_once('}')?)))
    {
        expanded = expanded + before + &std::env::var(name).unwrap_or_default();
        rest = behind;
    }
    expanded += rest;
    let block = std::fs::metadata(&expanded).is_ok_and(|found| found.file_type().is_block_device());
    // From where fio is started `..` leads to the root in the end.
    let mut names = Vec::new();
    let mut from_root = expanded.starts_with('/');
    for name in expanded.split('/').filter(|name| !["", "."].contains(name)) {
        if name == ".." {
            from_root |= names.pop().is_none();
        } else {
            names.push(name);
        }
    }
    let below = match names[..] {
        ["dev", "null" | "zero" | "full" | "random" | "urandom" | "stdin" | "stdout" | "stderr"]
        | ["dev", "shm", ..] => false,
        ["dev", ..] => from_root,
        _ => false,
    };
    block || below
}

/// Notes what is in the files beside the suite that the commands name, so that a comparison can tell when one was edited in between.
fn note_files(suite: &mut Suite) {
    let mut digests = BTreeMap::<String, Option<String>>::new();
    let own = &suite.files;
    for scenario in &mut suite.scenarios {
        for (path, name) in &scenario.places {
            let digest = digests.entry(path.clone()).or_insert_with(|| match own.get(path.trim_start_matches("./")) {
                Some(text) => digest_of_stream(text.as_bytes()).ok(),
                None if own.is_empty() => digest_of_file(Path::new(path)),
                None => None,
            });
            scenario.files.extend(digest.clone().map(|digest| (name.clone(), digest)));
        }
    }
}

/// What of the files that the commands name, as the suite says them, is no longer what it was when they were noted.
pub(crate) fn changed_files(suite: &Suite) -> BTreeSet<String> {
    if !suite.files.is_empty() {
        // They are a part of the run.
        return BTreeSet::new();
    }
    let noted = suite.scenarios.iter().flat_map(|scenario| {
        let of =
            |(path, name): (&String, &String)| Some((path.clone(), name.clone(), scenario.files.get(name)?.clone()));
        scenario.places.iter().filter_map(of)
    });
    // Each file once, however many scenarios name it.
    let noted: BTreeSet<_> = noted.collect();
    let changed =
        noted.into_iter().filter(|(path, _, digest)| digest_of_file(Path::new(path)).as_ref() != Some(digest));
    changed.map(|(_, name, _)| name).collect()
}

/// None of what is no file: to read a pipe would take from it.
fn digest_of_file(path: &Path) -> Option<String> {
    path.is_file().then(|| digest_of_stream(File::open(path).ok()?).ok()).flatten()
}

/// The references that are part of the program.
pub(crate) fn references() -> Vec<Reference> {
    let parse = |(name, text): &(&str, &str)| {
        Reference::parse(text, &format!("{name}.toml")).expect("the tests parse every reference")
    };
    REFERENCES.iter().map(parse).collect()
}

/// What is known of machines: by the files that were named; and by the list beside the store, then by those in `stend/machines/` of the user's
/// configuration (`$XDG_CONFIG_HOME`, else `~/.config`).
///
/// # Errors
/// A file cannot be read, or is none of machines.
pub(crate) fn machines(named: &[PathBuf], store: &Path) -> Result<MachineFiles, CatalogueError> {
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let configuration = absolute("XDG_CONFIG_HOME").or_else(|| absolute("HOME").map(|home| home.join(".config")));
    let directory = configuration.map(|directory| directory.join("stend/machines"));
    let entries = directory.and_then(|directory| std::fs::read_dir(directory).ok()).into_iter().flatten().flatten();
    let mut own: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    own.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    own.sort();
    let parse = |path: &PathBuf| {
        let file = path.display().to_string();
        Ok::<_, CatalogueError>(Machines::parse(&read(path, &file)?, &file)?)
    };
    let mut kept = vec![Hosts::read(store)?.into_machines()];
    kept.extend(own.iter().map(parse).collect::<Result<Vec<_>, _>>()?);
    Ok(MachineFiles { named: named.iter().map(parse).collect::<Result<_, _>>()?, kept })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_known_by_whatever_way_a_job_file_names_them() {
        let device_of = |text: &str| {
            let text = format!("[a]\n{text}\n");
            let file = Named { path: "t".into(), stem: "t".into(), text, readonly: false };
            file.paths().unwrap().iter().any(|(_, path)| is_device(path))
        };
        for text in [
            "filename=/dev/stend-disk",
            "filename=x:/dev/stend-disk",
            "filename=/tmp/../dev/stend-disk",
            "filename=../../../../../dev/stend-disk",
            "filename=//dev/./stend-disk",
            "filename=${STEND_NOTHING}/dev${STEND_NOTHING}/stend-disk",
            "directory=/dev\nfilename=stend-disk",
            "filename=stend-disk\ndirectory=/tmp:/dev",
            "filename_format=/dev/stend-disk",
            "opendir=/dev",
            "replay_redirect=/dev/stend-disk",
            "write_iolog=/dev/stend-disk",
        ] {
            assert!(device_of(text), "{text}");
        }
        for text in ["filename=${LUN1}", "filename=dev/x", "filename=/tmp/dev/x", "filename=/dev/shm/x", "rw=read"] {
            assert!(!device_of(text), "{text}");
        }
    }

    #[test]
    fn what_a_job_file_would_write_behind_fio_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let trace = |name: &str, text: &[u8]| {
            let path = directory.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let of_files = trace("files", b"fio version 2 iolog\n/tmp/x add\n/tmp/x write 0 4096\n");
        let of_device = trace("device", b"fio version 2 iolog\n/dev/stend-disk add\n/dev/stend-disk write 0 4096\n");
        let timed = trace("timed", b"fio version 3 iolog\n10 /dev/stend-disk add\n12 /dev/stend-disk write 0 4096\n");
        let binary = trace("binary", b"\x07\x81\x65\x65\xff\xfe");
        let told = |text: &str| {
            let text = format!("[a]\nrw=read\n{text}\n");
            let file = Named { path: "t.fio".into(), stem: "t".into(), text, readonly: false };
            written_behind(&file).unwrap().map(|(line, why)| file.at(line, &why.to_string()))
        };
        for text in [
            "exec_prerun=dd if=/dev/zero of=/dev/stend-disk".to_owned(),
            "exec_postrun=sh -c 'cat x>/dev/stend-disk'".into(),
            "ioengine=exec\nprogram=/usr/bin/shred\narguments=/dev/stend-disk".into(),
            format!("read_iolog={of_device}"),
            format!("read_iolog={of_files}:{timed}"),
            format!("read_iolog={binary}"),
        ] {
            let message = told(&text).unwrap_or_else(|| panic!("{text} is taken"));
            let named =
                message.contains("stend-disk, which is a device") || message.contains("replay_redirect=${LUN1}");
            assert!(message.starts_with("t.fio:") && named && message.lines().count() == 1, "{message}");
        }
        for text in [
            "exec_prerun=sync; echo 3 >/proc/sys/vm/drop_caches 2>/dev/null".to_owned(),
            format!("read_iolog={of_files}"),
            "read_iolog=of-an-earlier-section".into(),
            format!("read_iolog={of_device}\nreplay_redirect=${{LUN1}}"),
        ] {
            assert_eq!(told(&text), None, "{text}");
        }
    }

    #[test]
    fn what_became_a_device_is_no_file_any_more() {
        let names_a_device = |readonly: bool| {
            let text = "[a]\nrw=write\nfilename=/dev/stend-disk\n".to_owned();
            let text =
                suite_of(&[Named { path: "t".into(), stem: "t".into(), text, readonly }], &BTreeMap::new()).unwrap();
            let suite =
                Suite::parse_checked(&text, "t", Path::new("."), &Changes::default(), &check_parameters).unwrap();
            new_device(&suite)
        };
        assert_eq!(names_a_device(false).as_deref(), Some("/dev/stend-disk"));
        assert_eq!(names_a_device(true), None, "it was one before, and fio does not write to it");
    }

    #[test]
    fn every_suite_and_reference_can_be_used() {
        for (name, _) in SUITES {
            let suite = suite(name, &Changes::default()).unwrap();
            assert_eq!(suite.name, *name);
            assert_ne!(suite.title_in("ru"), suite.title, "{name}: the report is in Russian too");
        }
        assert!(references().iter().zip(REFERENCES).all(|(reference, (name, _))| reference.name == *name));
    }
}
