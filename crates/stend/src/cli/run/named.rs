//! What of other people is about to be run, in words: the user may have it from anybody, and root may do anything.

use std::path::PathBuf;

use stend_model::suite::{Instrument, Suite};
use stend_model::target::Target;

use super::super::output;
use crate::catalogue;
use crate::cli::failure::Failure;
use stend_model::run::HERE;
use stend_report::shell_words;
use stend_stand::host::{Command, Host};

/// By what a plan marks what is not part of the program.
pub(in crate::cli) const FOREIGN: &str = "not part of stend";

/// So many commands are named.
const MOST_NAMED: usize = 20;

/// What a run is made of that is not part of the program.
#[derive(Debug, Clone, Default)]
pub(super) struct Foreign(Vec<String>);

impl Foreign {
    /// Of a suite as the user named it, or of fio's job files, and of a target in a file.
    pub(super) fn of(
        named: Option<&str>,
        job_files: &[PathBuf],
        suite: &Suite,
        target: Option<(&str, &Target)>,
    ) -> Self {
        let is_own = named.is_none_or(|name| catalogue::SUITES.iter().any(|(own, _)| *own == name));
        let files: Vec<_> = job_files.iter().map(|path| path.display().to_string()).collect();
        let mut lines = Vec::new();
        if !files.is_empty() {
            lines.push(format!("{} {}", files.join(", "), starts(suite, "")));
        } else if let Some(name) = named.filter(|_| !is_own) {
            lines.push(format!(
                "suite {name} {}",
                starts(suite, &format!("; `{} suites {name}` shows all", output::program()))
            ));
        }
        lines.extend(target.map(|(file, target)| format!("target {file} sets up: {target}")));
        Self(lines)
    }

    /// Says what it is, in a plan.
    pub(super) fn print(&self) -> Result<(), Failure> {
        self.0.iter().try_for_each(|line| output::print(&format!("{FOREIGN}: {line}\n")))
    }

    /// Says what it is, if it is to be run by root.
    pub(super) fn tell(&self, host: &dyn Host) {
        if self.0.is_empty() || !is_root(host) {
            return;
        }
        for line in &self.0 {
            talk!("as root, and {FOREIGN}: {line}");
        }
    }
}

/// What a suite starts, each once.
fn starts(suite: &Suite, all: &str) -> String {
    let of_servers = suite.servers.values().flat_map(|server| {
        server.prepare.iter().chain([&server.start, &server.ready]).filter(|words| !words.is_empty())
    });
    let mut commands: Vec<String> = of_servers.map(|words| shell_words(words)).collect();
    for scenario in &suite.scenarios {
        let started = match &scenario.instrument {
            Instrument::Command(words) => vec![shell_words(words)],
            _ => stend_instrument::starts(scenario),
        };
        for command in started {
            if !commands.contains(&command) {
                commands.push(command);
            }
        }
    }
    let more = commands.len().saturating_sub(MOST_NAMED);
    commands.truncate(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more{all}") } else { String::new() };
    format!("starts `{}`{more}", commands.join("`, `"))
}

/// Whether commands on a machine are root's; where it cannot be found out, they may be.
fn is_root(host: &dyn Host) -> bool {
    if host.name() == HERE {
        return rustix::process::geteuid().is_root();
    }
    let said = host.run(&Command::new(["id", "-u"])).ok().map(|output| output.text());
    said.and_then(|said| said.trim().parse::<u32>().ok()).is_none_or(|number| number == 0)
}
