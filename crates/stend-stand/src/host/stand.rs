//! Building `stend-probe` from the sources in this program, by a compiler of the machine that it is for: of one that ssh reaches, and of this
//! one where a compiler is asked for.
//!
//! A build lies in a directory of its own, named after what it was made of: sources, compiler and flags. So another one is made only where
//! one of these changed. It ends, and what was begun is removed, when the lab or the link does.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use stend_model::identity::digest_of;
use stend_model::quantity::{QuantityError, Span, parse_duration};
use stend_model::run::Build;
use stend_model::run::HERE;
use thiserror::Error;

use super::{Command, Happening, Host, HostError, Local, Output, Process, REMOVE, WATCHED};
use crate::machine::compiler_of;

/// The sources: path, contents; in the order of their paths.
const SOURCES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/probe_sources.rs"));

/// Finished builds are called so, and a number.
const BUILD: &str = "build-";
/// Builds that are being made, or were given up.
const BUILDING: &str = "building-";
/// The program in a build's directory.
const PROBE: &str = "build/stend-probe";
/// What of it holds locks while the rest is built.
const LOCKER: &str = "build/stend-lock";
/// Links to it, beside it, that stand in for small programs that a machine may lack.
const STAND_INS: &str = "stand-ins";
/// What every build is told first.
const USUAL_FLAGS: &str = "-std=c11 -O2";

/// How long a build may take unless this variable says otherwise: a slow board takes minutes.
const LIMIT_VARIABLE: &str = "STEND_BUILD_TIME";
const LONGEST_BUILD: Duration = Duration::from_secs(3600);
/// How long a compiler may take to say its version.
const LONGEST_ANSWER: Duration = Duration::from_secs(60);
/// How long what was told to end is waited for.
const GRACE: Duration = Duration::from_secs(20);
/// So many lines of a compiler's complaints are kept, and of all that it prints so many bytes.
const MOST_LINES: usize = 1000;
const MOST_BYTES: u64 = 1 << 20;
/// So many files are compiled at once at most.
const MOST_AT_WORK: usize = 1000;

/// How often a build looks whether the user wants to end.
const INTERRUPT_INTERVAL: Duration = Duration::from_millis(200);

/// How a compiler is named.
const RIGHT: &str = "name a compiler as it is called on the PATH, or by its whole path";

/// Locks a machine, by the program there whose path it is given.
pub type LockBy<'a> = dyn FnMut(&str) -> Result<(), NotLocked> + 'a;

/// Why it is not locked, as whoever locks says it.
pub type NotLocked = Box<dyn std::error::Error + Send + Sync>;

/// Why `stend-probe` is not built.
#[derive(Debug, Error)]
pub enum BuildError {
    /// The compiler's name is empty.
    #[error("no compiler is named; {RIGHT}, as in gcc")]
    Unnamed,
    /// The compiler's name begins with a flag.
    #[error("\"{0}\" is no program; {RIGHT}, and flags behind it")]
    Flag(String),
    /// The compiler's path is relative, and it is started in another directory.
    #[error("{0}: {RIGHT}")]
    Relative(String),
    /// The machine has no such compiler.
    #[error("there is no compiler {program} {place}; install one, or name another: --cc, or cc= of a side")]
    NoCompiler {
        /// How it is called.
        program: String,
        /// `here` or `there`.
        place: &'static str,
    },
    /// The compiler does not end when it is asked for its version.
    #[error("{program} --version did not end within {} s and was killed", LONGEST_ANSWER.as_secs())]
    Hangs {
        /// How it is called.
        program: String,
    },
    /// The compiler does not say its version.
    #[error("{program} is no compiler that says its version{}", behind_colon(.said.as_ref()))]
    NoVersion {
        /// How it is called.
        program: String,
        /// What it says instead.
        said: Option<String>,
    },
    /// The time that a build may take is no time.
    #[error("{LIMIT_VARIABLE}: {0}")]
    BadLimit(#[source] QuantityError),
    /// The build failed.
    #[error("{}{}", step_or_all(.step.as_ref(), .compiler), behind_colon(.said.as_ref()))]
    Failed {
        /// What was to build it.
        compiler: String,
        /// What the script says has failed.
        step: Option<String>,
        /// What the compiler says.
        said: Option<String>,
    },
    /// The build takes too long.
    #[error(
        "{compiler} did not end within {limit} and was killed; it was compiling {} \
         ({LIMIT_VARIABLE} gives it more time)",
        .at_work.join(", ")
    )]
    TooSlow {
        /// What was to build it.
        compiler: String,
        /// How long it may take.
        limit: Span,
        /// Some of the files that were being compiled.
        at_work: Vec<String>,
    },
    /// What holds locks takes too long to build.
    #[error(
        "{compiler} did not build what holds locks within {limit} and was killed ({LIMIT_VARIABLE} gives it more time)"
    )]
    LockerTooSlow {
        /// What was to build it.
        compiler: String,
        /// How long it may take.
        limit: Span,
    },
    /// The build failed, and what was begun cannot be removed.
    #[error("{source}; what was begun is left ({error}), remove it by hand")]
    Left {
        /// Why it failed.
        source: Box<BuildError>,
        /// Why it is left.
        error: HostError,
    },
    /// The machine cannot be locked by what was built.
    #[error(transparent)]
    NotLocked(#[from] NotLocked),
    /// The machine cannot be asked, or the user interrupted it.
    #[error(transparent)]
    Host(#[from] HostError),
}

/// What somebody says, as the rest of a message.
fn behind_colon(said: Option<&String>) -> String {
    said.map(|said| format!(": {said}")).unwrap_or_default()
}

/// What has failed of a build; all of it if nothing says.
fn step_or_all(step: Option<&String>, compiler: &str) -> String {
    step.cloned().unwrap_or_else(|| format!("{compiler} does not build stend-probe"))
}

/// Which compiler builds, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiler {
    /// The program, with words of its own if it has some: `cc`, `lcc`, a path, `ccache gcc`.
    pub program: String,
    /// What it is told beside `-std=c11 -O2`.
    pub flags: String,
}

impl Default for Compiler {
    fn default() -> Self {
        Self { program: "cc".into(), flags: String::new() }
    }
}

impl Compiler {
    /// Flags behind the program's words are flags: they are told and compared as such.
    pub fn new(program: &str, flags: &str) -> Self {
        let words: Vec<_> = program.split_whitespace().collect();
        let at = words.iter().position(|word| word.starts_with('-')).unwrap_or(words.len());
        let flags = words[at..].iter().copied().chain(Some(flags).filter(|flags| !flags.is_empty()));
        Self { program: words[..at].join(" "), flags: flags.collect::<Vec<_>>().join(" ") }
    }
}

/// A build.
#[derive(Debug, Clone)]
pub struct Built {
    /// The path of the program.
    pub probe: String,
    /// What it was made of, as a run keeps it.
    pub build: Build,
    /// The same in a number.
    pub identity: String,
}

/// `stend-probe` on a machine, below `work`. It is built if it is not there; before that `lock`, if it is given, is told the path of a program
/// there by which the machine can be locked.
///
/// # Errors
/// There is no such compiler, it fails, or what it built does not run there; or the machine cannot be locked. One line.
pub fn build(
    host: &dyn Host,
    work: &str,
    compiler: &Compiler,
    tell: &mut dyn FnMut(&str),
    lock: Option<&mut LockBy>,
) -> Result<Built, BuildError> {
    let version = version(host, compiler)?;
    let sources = sources();
    let identity = identity(&version, compiler, &sources);
    let directory = format!("{work}/{BUILD}{}", &identity[..16]);
    let build = Build {
        program: Some(compiler.program.clone()),
        asked_flags: compiler.flags.clone(),
        compiler: version.clone(),
        flags: flags(compiler),
        sources: Some(sources.clone()),
    };
    let built = Built { probe: format!("{directory}/{PROBE}"), build, identity };
    if runs(host, &built.probe) {
        return Ok(built);
    }
    let there = if host.name() == HERE { "" } else { " there" };
    let by = version.lines().next().unwrap_or(&compiler.program);
    tell(&format!("building stend-probe{there} with {by}, {}", built.build.flags));
    let building = format!("{work}/{BUILDING}{:016x}", jiff::Timestamp::now().as_nanosecond() as u64);
    let _keeper = keeper(host, &building)?;
    host.put_tree(&building, &files().collect::<Vec<_>>()).inspect_err(|_| {
        let _ = host.remove(&building);
    })?;
    let locked = lock.map_or(Ok(()), |lock| Ok(lock(&build_locker(host, &building, compiler)?)?));
    if let Err(why) = locked {
        host.heed_interrupt(false);
        return Err(cleared(host, &building, why));
    }
    let mut words = vec!["sh", "-c", include_str!("build.sh"), "sh", &building, &directory];
    words.extend(compiler.flags.split_whitespace());
    let mut command = Command::new(words);
    command.environment.extend([("CC".into(), compiler.program.clone()), ("SOURCES".into(), sources)]);
    let limit = longest_build()?;
    let mut at_work = BTreeSet::new();
    let ended = watched(host, &building, command, limit, &mut |line| {
        match line.split_once(' ') {
            Some(("compiling", source)) if at_work.len() < MOST_AT_WORK => at_work.insert(source.to_owned()),
            Some(("compiled", source)) => at_work.remove(source),
            _ => false,
        };
    });
    match ended {
        Ok(Some(output)) if output.exit == Some(0) => Ok(built),
        Ok(Some(output)) => Err(cleared(host, &building, complaint(&output, &compiler.program))),
        Ok(None) => {
            let at_work = at_work.into_iter().take(3).collect();
            let why = BuildError::TooSlow { compiler: compiler.program.clone(), limit: Span(limit), at_work };
            Err(cleared(host, &building, why))
        }
        Err(error) => {
            // Also where the user interrupted it.
            host.heed_interrupt(false);
            let _ = host.remove(&building);
            Err(error.into())
        }
    }
}

/// Brings a `stend-probe` of this machine to another one, and gives its path there; nothing where it does not run there.
///
/// # Errors
/// It cannot be read here or written there.
pub fn bring(host: &dyn Host, work: &str, probe: &str) -> Result<Option<String>, HostError> {
    let contents = Local.read(probe)?;
    let directory = format!("{work}/{BUILD}{}", &digest_of(&contents)[..16]);
    let there = format!("{directory}/{PROBE}");
    if runs(host, &there) {
        return Ok(Some(there));
    }
    let building = format!("{work}/{BUILDING}{:016x}", jiff::Timestamp::now().as_nanosecond() as u64);
    let _keeper = keeper(host, &building)?;
    host.put_tree(&building, &[(PROBE, &contents)])?;
    let script = r#"
        chmod 755 "$1/$3" && "$1/$3" --version >/dev/null && "$1/$3" stand-in "$1/build/stand-ins" && rm -rf "$2" && mv "$1" "$2"
    "#;
    let output = host.run(&Command::new(["sh", "-c", script, "sh", &building, &directory, PROBE]))?;
    if output.exit == Some(0) {
        return Ok(Some(there));
    }
    host.remove(&building).map(|()| None)
}

/// Removes a directory there when this program ends or the link does, whether or not anything is at work in it just then. A build that is done
/// has another name.
fn keeper(host: &dyn Host, building: &str) -> Result<Box<dyn Process>, HostError> {
    // Twice: what unpacks files there notices the end of the link a moment later.
    const SCRIPT: &str = r#"
        while read -r _; do :; done
        cd / && exec >/dev/null 2>&1
        remove "$1"; sleep 1; remove "$1"
    "#;
    host.start(&Command::new(["sh", "-c", &format!("{REMOVE}{SCRIPT}"), "sh", building]))
}

/// Builds the little of the sources that holds locks: the rest takes long, and would disturb what another lab measures.
fn build_locker(host: &dyn Host, building: &str, compiler: &Compiler) -> Result<String, BuildError> {
    // Without the user's flags, and without optimisation: it only waits.
    let script = r#"
        cd "$1" || exit
        printf '%s\n' 'int command_lock(int, char **);' \
            'int main(int count, char **words) { return command_lock(count - 1, words + 1); }' >build/lock_main.c || exit
        $CC -std=c11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Iprobe/src -o build/stend-lock \
            build/lock_main.c probe/src/machine/lock.c probe/src/base/options.c probe/src/base/fail.c ||
            { echo "build.sh: $CC does not build what holds locks" >&2; exit 1; }
        [ -s build/stend-lock ] ||
            { echo "build.sh: $CC says that all is well, and did not write stend-lock; is it a C compiler?" >&2; exit 1; }
        ./build/stend-lock lock --help >/dev/null || { echo "build.sh: what $CC built does not run here" >&2; exit 1; }
    "#;
    let mut command = Command::new(["sh", "-c", script, "sh", building]);
    command.environment.insert("CC".into(), compiler.program.clone());
    let limit = longest_build()?;
    let output = watched(host, building, command, limit, &mut |_| {})?;
    let output =
        output.ok_or_else(|| BuildError::LockerTooSlow { compiler: compiler.program.clone(), limit: Span(limit) })?;
    if output.exit == Some(0) { Ok(format!("{building}/{LOCKER}")) } else { Err(complaint(&output, &compiler.program)) }
}

/// Anything that was built there, runs, and holds locks.
pub fn locker(host: &dyn Host, work: &str) -> Option<String> {
    let names = host.list(work).ok()?;
    let builds = names.iter().filter(|name| is_build(name));
    let mut paths = builds.flat_map(|name| [PROBE, LOCKER].map(|program| format!("{work}/{name}/{program}")));
    paths.find(|path| {
        let help = host.run(&Command::new([path.as_str(), "lock", "--help"]));
        help.is_ok_and(|output| output.exit == Some(0) && output.text().contains("--shared"))
    })
}

/// Removes what a build left that failed, and adds why that cannot be done: some machines have neither rm nor a tar that removes.
fn cleared(host: &dyn Host, building: &str, why: BuildError) -> BuildError {
    match host.remove(building) {
        Ok(()) => why,
        Err(error) => BuildError::Left { source: Box::new(why), error },
    }
}

/// What a `stend-probe` that lies there says of its build.
pub fn build_of(host: &dyn Host, probe: &str) -> Build {
    let said = host.run(&Command::new([probe, "--version"])).unwrap_or_default().text();
    let line = |number: usize| said.lines().nth(number).unwrap_or_default();
    Build {
        program: None,
        asked_flags: String::new(),
        compiler: line(1).to_owned(),
        // Behind the architecture.
        flags: line(2).split_once(' ').map_or("", |words| words.1).to_owned(),
        sources: said.lines().find_map(|line| line.strip_prefix("sources ")).map(str::to_owned),
    }
}

/// Any `stend-probe` that was built there and runs.
pub fn built(host: &dyn Host, work: &str) -> Option<String> {
    let names = host.list(work).ok()?;
    let paths = names.iter().filter(|name| name.starts_with(BUILD)).map(|name| format!("{work}/{name}/{PROBE}"));
    paths.into_iter().find(|path| runs(host, path))
}

/// The directory of programs that stand in for those that the machine lacks, beside a `stend-probe`; what only holds locks has none.
pub(super) fn stand_ins(program: &str) -> Option<String> {
    if program.ends_with(LOCKER) {
        return None;
    }
    let directory = program.rsplit_once('/').map_or(".", |path| path.0);
    Some(format!("{directory}/{STAND_INS}"))
}

/// Whether this is a build in the directory for runs' files.
pub fn is_build(name: &str) -> bool {
    let number = name.strip_prefix(BUILD).or_else(|| name.strip_prefix(BUILDING));
    number.is_some_and(|number| number.len() == 16 && number.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn longest_build() -> Result<Duration, BuildError> {
    match std::env::var(LIMIT_VARIABLE) {
        Ok(text) => parse_duration(&text).map_err(BuildError::BadLimit),
        Err(_) => Ok(LONGEST_BUILD),
    }
}

/// All that a compiler is told, but for the files and what single files need.
pub fn flags(compiler: &Compiler) -> String {
    format!("{USUAL_FLAGS} {}", compiler.flags).trim_end().to_owned()
}

/// Whether a compiler can be called so: a program, with words of its own if it has some.
///
/// # Errors
/// Why not, and what is right.
pub fn check_name(program: &str) -> Result<(), BuildError> {
    match program.split_whitespace().next() {
        None => Err(BuildError::Unnamed),
        Some(word) if word.starts_with('-') => Err(BuildError::Flag(word.to_owned())),
        // It is started in another directory than this one.
        Some(word) if word.contains('/') && !word.starts_with('/') => Err(BuildError::Relative(program.to_owned())),
        Some(_) => Ok(()),
    }
}

/// By what `stend-probe` is built, in words: the compiler's version lines, and its flags.
pub fn in_words(version: &str, compiler: &Compiler) -> String {
    format!("stend-probe: built by {} with {}", version.replace('\n', "; "), flags(compiler))
}

/// Both version lines of the compiler: LCC says in the second one which gcc it is like.
///
/// # Errors
/// It is not there, or says nothing; one line.
pub fn version(host: &dyn Host, compiler: &Compiler) -> Result<String, BuildError> {
    let program = &compiler.program;
    let words: Vec<_> = program.split_whitespace().chain(["--version"]).collect();
    let place = if host.name() == HERE { "here" } else { "there" };
    check_name(program)?;
    if host.find_program(words[0]).is_none() {
        // Of a link that dropped meanwhile, that is what is said.
        host.run(&Command::new(["sh", "-c", ":"]))?;
        return Err(BuildError::NoCompiler { program: program.clone(), place });
    }
    let output = watched(host, "", Command::new(words), LONGEST_ANSWER, &mut |_| {});
    let output = output?.ok_or_else(|| BuildError::Hangs { program: program.clone() })?;
    let said = compiler_of(&output.text()).filter(|_| output.exit == Some(0));
    said.ok_or_else(|| BuildError::NoVersion { program: program.clone(), said: first_error(&output) })
}

/// Runs a command there that ends, with all that it started, when this program does or the link. `None` if it had to be ended because it took
/// too long. The directory is removed unless all goes well.
pub fn watched(
    host: &dyn Host,
    directory: &str,
    command: Command,
    limit: Duration,
    line: &mut dyn FnMut(&str),
) -> Result<Option<Output>, HostError> {
    let words = ["sh", "-c", WATCHED, "sh", directory].map(str::to_owned);
    let command = Command { words: words.into_iter().chain(command.words).collect(), ..command };
    let mut process = host.start(&command)?;
    let deadline = Instant::now() + limit;
    let mut output = Output::default();
    let mut lines = 0;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let happening = process
            .next(left.min(INTERRUPT_INTERVAL))
            .filter(|happening| !left.is_zero() || matches!(happening, Happening::Ended(_)));
        match happening {
            Some(Happening::Line(text)) => {
                line(&String::from_utf8_lossy(&text));
                Output::add(&mut output.stdout, &text, MOST_BYTES);
            }
            // The last line says what failed, the first ones why.
            Some(Happening::ErrorLine(text)) => {
                lines += 1;
                if lines <= MOST_LINES || text.starts_with(b"build.sh: ") {
                    Output::add(&mut output.stderr, &text, MOST_BYTES);
                }
            }
            Some(Happening::Ended(exit)) => {
                if exit.is_none() {
                    // A signal ended it, or the link dropped.
                    host.run(&Command::new(["sh", "-c", ":"]))?;
                }
                return Ok(Some(Output { exit, ..output }));
            }
            None if left.is_zero() || host.is_interrupted() => {
                process.stop();
                let deadline = Instant::now() + GRACE;
                while Instant::now() < deadline {
                    let happening = process.next(deadline.saturating_duration_since(Instant::now()));
                    if matches!(happening, Some(Happening::Ended(_))) {
                        break;
                    }
                }
                process.kill();
                return if host.is_interrupted() { Err(HostError::Interrupted) } else { Ok(None) };
            }
            None => {}
        }
    }
}

/// All that is built, and an empty file where it is built to: path below a directory, contents.
fn files() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    SOURCES.iter().copied().chain([("build/build_info.h", &b""[..])])
}

/// The sources as a tar archive below a directory (`""`, or one that ends in a slash), with further files.
///
/// # Errors
/// A path is too long for tar.
pub fn archive(below: &str, more: &[(&str, &[u8])]) -> std::io::Result<Vec<u8>> {
    let all: Vec<(&str, &[u8])> = files().collect();
    tar_of(below, all.into_iter().chain(more.iter().copied()))
}

/// Files as a tar archive, with this before each of their names.
pub(super) fn tar_of<'a>(below: &str, files: impl Iterator<Item = (&'a str, &'a [u8])>) -> std::io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, contents) in files {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(0o644);
        header.set_size(contents.len() as u64);
        // Some time that no tar takes for a mistake.
        header.set_mtime(1_000_000_000);
        archive.append_data(&mut header, format!("{below}{path}"), contents)?;
    }
    archive.into_inner()
}

/// What makes two builds the same.
fn identity(version: &str, compiler: &Compiler, sources: &str) -> String {
    digest_of(format!("{sources}\n{version}\n{}\n{}", compiler.program, compiler.flags).as_bytes())
}

/// The sources in a number, as `probe/Makefile` counts them too.
pub fn sources() -> String {
    let contents: Vec<u8> = SOURCES.iter().flat_map(|(_, contents)| *contents).copied().collect();
    digest_of(&contents)[..16].to_owned()
}

fn runs(host: &dyn Host, path: &str) -> bool {
    host.run(&Command::new([path, "--version"])).is_ok_and(|output| output.exit == Some(0))
}

/// What failed, and the compiler's first error, which says most.
fn complaint(output: &Output, compiler: &str) -> BuildError {
    let text = String::from_utf8_lossy(&output.stderr);
    let step = text.lines().rev().find_map(|line| line.strip_prefix("build.sh: ")).map(str::to_owned);
    BuildError::Failed { compiler: compiler.to_owned(), step, said: first_error(output) }
}

/// The first line that calls itself an error; a full disk before all others, since it makes errors of many kinds; else the first line.
fn first_error(output: &Output) -> Option<String> {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("build.sh: "));
    let full = lines().find(|line| line.contains("No space left"));
    let error = || lines().find(|line| line.to_lowercase().contains("error"));
    full.or_else(error).or_else(|| lines().next()).map(str::to_owned)
}
