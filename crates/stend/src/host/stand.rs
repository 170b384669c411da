//! What a machine that is reached over a link is given: `stend-probe`, built there by its own compiler.
//!
//! A build lies in a directory of its own, named after what it was made of: sources, compiler and flags. So another one is made only where
//! one of these changed.

use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::ssh::Ssh;
use super::{Command, Host as _, HostError, Output};

/// The sources: path below `native/`, contents.
const SOURCES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/native_sources.rs"));

/// Finished builds are called so, and a number.
const BUILD: &str = "build-";
/// Builds that are being made, or were given up.
const BUILDING: &str = "building-";
/// The program in a build's directory.
const PROBE: &str = "build/stend-probe";

/// A slow board takes minutes.
const LONGEST_BUILD: Duration = Duration::from_secs(3600);
/// So many lines of a compiler that fails are told.
const LINES_TOLD: usize = 3;

/// Which compiler builds, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Compiler {
    /// The program: `cc`, `lcc`, a path.
    pub(crate) program: String,
    /// What it is told beside `-std=c11 -O2`.
    pub(crate) flags: Vec<String>,
}

/// The path of `stend-probe` on this machine, below `work`. It is built if it is not there.
///
/// # Errors
/// There is no such compiler, it fails, or what it built does not run there; one line.
pub(crate) fn probe(ssh: &Ssh, work: &str, compiler: &Compiler, tell: &mut dyn FnMut(&str)) -> Result<String, String> {
    let words = |error: HostError| error.to_string();
    let version = version(ssh, compiler)?;
    let directory = format!("{work}/{BUILD}{}", digest(&version, compiler));
    let path = format!("{directory}/{PROBE}");
    if runs(ssh, &path).is_ok() {
        return Ok(path);
    }
    tell(&format!("building stend-probe there with {}", version.lines().next().unwrap_or(&compiler.program)));
    let building = format!("{work}/{BUILDING}{:016x}", jiff::Timestamp::now().as_nanosecond() as u64);
    let made = ssh.make_directory(&building).map_err(words).and_then(|()| build(ssh, &building, compiler));
    // Another stend may have been quicker: then its build is as good.
    let moved = made.and_then(|()| {
        let script = r#"rm -rf "$2" && mv "$1" "$2""#;
        ended_well(ssh.run(&Command::new(["sh", "-c", script, "sh", &building, &directory])).map_err(words)?)
    });
    if let Err(reason) = moved {
        let _ = ssh.remove(&building);
        return Err(reason);
    }
    runs(ssh, &path).map(|()| path).map_err(|reason| format!("what {} built does not run: {reason}", compiler.program))
}

/// Any `stend-probe` that was built there and runs.
pub(crate) fn built(ssh: &Ssh, work: &str) -> Option<String> {
    let names = ssh.list(work).ok()?;
    let paths = names.iter().filter(|name| name.starts_with(BUILD)).map(|name| format!("{work}/{name}/{PROBE}"));
    paths.into_iter().find(|path| runs(ssh, path).is_ok())
}

/// Whether this is a build in the directory for runs' files.
pub(crate) fn is_build(name: &str) -> bool {
    let number = name.strip_prefix(BUILD).or_else(|| name.strip_prefix(BUILDING));
    number.is_some_and(|number| number.len() == 16 && number.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn build(ssh: &Ssh, building: &str, compiler: &Compiler) -> Result<(), String> {
    ssh.unpack(building, &archive("", &[]).map_err(|error| error.to_string())?).map_err(|error| error.to_string())?;
    let mut command = Command::new(["sh", "./build.sh"].into_iter().chain(compiler.flags.iter().map(String::as_str)));
    command.directory = Some(building.into());
    command.environment.insert("CC".into(), compiler.program.clone());
    command.timeout = LONGEST_BUILD;
    ended_well(ssh.run(&command).map_err(|error| error.to_string())?)
}

/// Both version lines of the compiler: LCC says in the second one which gcc it is like.
fn version(ssh: &Ssh, compiler: &Compiler) -> Result<String, String> {
    let output = ssh.run(&Command::new([&compiler.program, "--version"])).map_err(|error| match error {
        HostError::Start { program, .. } => {
            format!("there is no compiler {program} there; install one, or say which with --cc")
        }
        error => error.to_string(),
    })?;
    Ok(output.text().lines().take(2).collect::<Vec<_>>().join("\n"))
}

fn digest(version: &str, compiler: &Compiler) -> String {
    let mut digest = Sha256::new();
    for (path, contents) in SOURCES {
        digest.update(format!("{path} {}\n", contents.len()));
        digest.update(contents);
    }
    digest.update(format!("{version}\n{}\n{}", compiler.program, compiler.flags.join(" ")));
    digest.finalize()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All sources, and an empty directory for what is built, as a tar archive below a directory (`""`, or one that ends in a slash), with
/// further files.
///
/// # Errors
/// A path is too long for tar.
pub(crate) fn archive(below: &str, more: &[(&str, &[u8])]) -> std::io::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(Vec::new());
    let header = |kind: tar::EntryType, mode: u32, size: usize| {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_size(size as u64);
        // Some time that no tar takes for a mistake.
        header.set_mtime(1_000_000_000);
        header
    };
    archive.append_data(
        &mut header(tar::EntryType::Directory, 0o755, 0),
        format!("{below}build/"),
        std::io::empty(),
    )?;
    for (path, contents) in SOURCES.iter().chain(more) {
        let mut header = header(tar::EntryType::Regular, 0o644, contents.len());
        archive.append_data(&mut header, format!("{below}{path}"), *contents)?;
    }
    archive.into_inner()
}

fn runs(ssh: &Ssh, path: &str) -> Result<(), String> {
    ended_well(ssh.run(&Command::new([path, "--version"])).map_err(|error| error.to_string())?)
}

fn ended_well(output: Output) -> Result<(), String> {
    if output.exit == Some(0) {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    // The compiler's first error says most, and the script's last line which file it was.
    let mut lines: Vec<_> = text.lines().filter(|line| line.contains("error") || line.contains("rror:")).collect();
    lines.truncate(LINES_TOLD);
    lines.extend(text.lines().last().filter(|last| !lines.contains(last)));
    Err(if lines.is_empty() { format!("status {:?}", output.exit) } else { lines.join("; ") })
}
