//! Building the native instruments with a side's compiler and flags. What was built once is kept, by what it was built of.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use stend_model::identity::{identity_of, short};

use crate::host::{Command, Host, Local};
use crate::machine::compiler_of;

/// The variable that says where the sources lie.
const SOURCES: &str = "STEND_NATIVE";
/// A slow processor takes minutes.
const PATIENCE: Duration = Duration::from_secs(30 * 60);
/// The directory for builds in the one for runs' files, and how the name of one ends that is not done.
const DIRECTORY: &str = "builds";
const UNFINISHED: &str = ".part";
/// Of what a compiler complains of, so many lines are quoted.
const MOST_LINES: usize = 4;

/// A build.
#[derive(Debug)]
pub(super) struct Built {
    /// The first two lines that the compiler says of itself.
    pub(super) compiler: String,
    /// What it was made of.
    pub(super) identity: String,
    /// The path of the program.
    pub(super) probe: String,
}

/// What makes two builds the same.
#[derive(Serialize)]
struct Ingredients<'a> {
    compiler: &'a str,
    version: &'a str,
    flags: Option<&'a str>,
    /// The digests of all files that something is built from.
    sources: &'a str,
}

/// Builds `stend-probe`, unless it was built of the same before.
///
/// # Errors
/// There are no sources, or the compiler does not build them; one line that says why.
pub(super) fn build(
    host: &dyn Host,
    all_work: &str,
    compiler: Option<&str>,
    flags: Option<&str>,
) -> Result<Built, String> {
    let compiler = compiler.unwrap_or("cc");
    if host.name() != Local.name() {
        return Err(format!(
            "cc= and cflags= build on this machine alone, and {} is another one; run stend there",
            host.name()
        ));
    }
    let sources = sources()?;
    let version = version(host, compiler)?;
    let digests = digests(host, &sources)?;
    let identity = identity_of(&Ingredients { compiler, version: &version, flags, sources: &digests });
    let directory = format!("{all_work}/{DIRECTORY}/{}", short(&identity));
    let probe = format!("{directory}/stend-probe");
    if host.find_program(&probe).is_none() {
        make(host, &sources, compiler, flags, &directory)?;
    }
    Ok(Built { compiler: compiler_of(&version).unwrap_or_default(), identity, probe })
}

/// Removes builds that were not finished.
///
/// # Errors
/// What the system says.
pub(crate) fn remove_unfinished(host: &dyn Host, all_work: &str) -> Result<(), crate::host::HostError> {
    let directory = format!("{all_work}/{DIRECTORY}");
    let names = host.list(&directory).unwrap_or_default();
    names
        .iter()
        .filter(|name| name.ends_with(UNFINISHED))
        .try_for_each(|name| host.remove(&format!("{directory}/{name}")))
}

/// The folder `native/` of the project that this program was built in, or where the user says that it is.
fn sources() -> Result<String, String> {
    let has_sources = |path: &PathBuf| path.join("Makefile").is_file() && path.join("probe/src/main.c").is_file();
    if let Some(given) = std::env::var_os(SOURCES).map(PathBuf::from) {
        let given = std::path::absolute(&given).unwrap_or(given);
        let lacks =
            format!("{SOURCES} is {}, and there are no sources of the native instruments there", given.display());
        return if has_sources(&given) { Ok(given.to_string_lossy().into_owned()) } else { Err(lacks) };
    }
    let program = std::env::current_exe().ok().and_then(|path| path.canonicalize().ok()).unwrap_or_default();
    let beside = program.ancestors().skip(1).map(|directory| directory.join("native")).find(has_sources);
    beside.map(|path| path.to_string_lossy().into_owned()).ok_or_else(|| {
        format!("cc= and cflags= build the native instruments, and this stend was installed without their sources; set {SOURCES} to the project's folder native")
    })
}

/// All that the compiler says of its version.
fn version(host: &dyn Host, compiler: &str) -> Result<String, String> {
    let words = compiler.split_whitespace().chain(["--version"]);
    let output = host.run(&Command::new(words)).map_err(|error| format!("cc={compiler}: {error}"))?;
    match output.exit {
        Some(0) => Ok(output.text()),
        _ => Err(format!("cc={compiler}: it is no compiler that says its version{}", quoted(&output.stderr))),
    }
}

fn digests(host: &dyn Host, sources: &str) -> Result<String, String> {
    const SCRIPT: &str =
        "cd \"$1\" && find . -path './build*' -prune -o -type f \\( -name '*.[ch]' -o -name Makefile \\) -print0 |
        LC_ALL=C sort -z | xargs -0 sha256sum";
    let output = host.run(&Command::new(["sh", "-c", SCRIPT, "sh", sources])).map_err(|error| error.to_string())?;
    let text = output.text();
    if output.exit == Some(0) && text.contains("Makefile") {
        Ok(text)
    } else {
        Err(format!("the sources in {sources} cannot be read{}", quoted(&output.stderr)))
    }
}

/// Builds into a directory that gets its name only when all is well: a killed build passes for none.
fn make(host: &dyn Host, sources: &str, compiler: &str, flags: Option<&str>, directory: &str) -> Result<(), String> {
    let part = format!("{directory}{UNFINISHED}");
    if part.contains(char::is_whitespace) {
        return Err(format!(
            "make cannot build in {directory}, whose path has spaces; set STEND_WORK to another directory"
        ));
    }
    let failed = |reason: String| format!("cc={compiler} does not build the native instruments{reason}");
    let prepared = host.remove(&part).and_then(|()| host.make_directory(&part));
    prepared.map_err(|error| failed(format!(": {error}")))?;
    let (processors, program) =
        (std::thread::available_parallelism().map_or(1, usize::from), format!("{part}/stend-probe"));
    let mut words = vec!["make".to_owned(), "-s".into(), format!("-j{processors}"), "-C".into(), sources.into()];
    words.extend([format!("CC={compiler}"), format!("CFLAGS={}", flags.unwrap_or_default()), format!("BUILD={part}")]);
    words.push(program.clone());
    let mut command = Command::new(words);
    command.timeout = PATIENCE;
    // What make hands down to makes would be another one's: stend may have been started by `make run`.
    command.environment = ["MAKEFLAGS", "MFLAGS", "MAKELEVEL"].map(|name| (name.to_owned(), String::new())).into();
    let output = host.run(&command).map_err(|error| failed(format!(": {error}")))?;
    if output.exit != Some(0) {
        return Err(failed(quoted(&output.stderr)));
    }
    let runs =
        host.run(&Command::new([program.as_str(), "--version"])).map_err(|error| failed(format!(": {error}")))?;
    if runs.exit != Some(0) {
        return Err(failed(format!(" so that they run here{}", quoted(&runs.stderr))));
    }
    let install = "mkdir -p \"$2\" && mv -f \"$1/stend-probe\" \"$2/stend-probe\" && rm -rf \"$1\"";
    let installed = host.run(&Command::new(["sh", "-c", install, "sh", &part, directory]));
    match installed {
        Ok(output) if output.exit == Some(0) => Ok(()),
        Ok(output) => Err(failed(quoted(&output.stderr))),
        Err(error) => Err(failed(format!(": {error}"))),
    }
}

/// The last lines that say something, in one: `: … | …`. Empty if there are none.
fn quoted(complaint: &[u8]) -> String {
    let text = String::from_utf8_lossy(complaint);
    let lines: Vec<_> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(MOST_LINES)..];
    if last.is_empty() { String::new() } else { format!(": {}", last.join(" | ")) }
}
