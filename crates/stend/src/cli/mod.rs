//! The command line: one command a file. Data go to standard output, talk to standard error.

mod agent;
mod backup;
mod beat;
mod changing;
mod check;
mod clean;
mod compare;
mod comparison;
mod completions;
mod convert;
mod doctor;
mod export;
mod failure;
mod fleet;
mod history;
mod hosts;
mod import;
mod label;
mod list;
mod man;
mod on;
mod output;
mod pack;
mod probe;
mod profile;
mod progress;
mod references;
mod remote;
mod report;
mod resume;
mod rig;
mod rm;
mod run;
#[cfg(test)]
mod schema;
mod serve;
mod show;
mod suites;
mod users;

use std::error::Error;
use std::io::IsTerminal as _;
use std::num::{ParseFloatError, ParseIntError};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};

use failure::{Exit, Failure};
use stend_stand::interrupt::Interrupt;

/// Measures how fast a machine is at server work, keeps every sample, and reports better, worse, same or unresolved.
#[derive(Debug, Parser)]
#[command(name = "stend", version, max_term_width = 100, after_help = AFTER_HELP)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str =
    "Exit status: 0 success · 1 a threshold was crossed (compare --fail-on) · 2 usage or configuration
error · 3 measured, but repeats are invalid or missing · 4 the machine, a tool or the store cannot
be used · 130 interrupted, can be resumed";

/// Options of every command.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub(crate) struct Global {
    /// Directory of stored runs [default: $STEND_STORE, $XDG_DATA_HOME/stend or ~/.local/share/stend]
    #[arg(long, global = true, value_name = "DIRECTORY")]
    store: Option<PathBuf>,
    /// Use the lab that `stend serve` serves at this address, for run, list, show, compare and report; STEND_TOKEN holds the token
    /// (docs/guide/server.md)
    #[arg(long, global = true, value_name = "URL", env = "STEND_SERVER", hide_env_values = true)]
    server: Option<String>,
    /// End when this file has not changed for most of a lease
    #[arg(long, global = true, hide = true, value_name = "MILLISECONDS:FILE", value_parser = beat::Beat::parse)]
    beat: Option<beat::Beat>,
    /// When to use colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_possible_values = false)]
    color: ColorChoice,
    /// Print only errors and warnings
    #[arg(short, long, global = true)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ColorChoice {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure this machine with a suite
    Run(Box<run::Arguments>),
    /// Resume a run that was interrupted or killed
    Resume(resume::Arguments),
    /// List the runs
    List(list::Arguments),
    /// Give a run a label, to be used in place of its id
    Label(label::Arguments),
    /// Remove runs for ever
    Rm(rm::Arguments),
    /// Show one run: machine, figures, invalid repeats
    Show(show::Arguments),
    /// Show the profile of a run made with --profile
    Profile(profile::Arguments),
    /// Compare runs with one another, or a run with published machines
    Compare(compare::Arguments),
    /// Show one metric over all runs of a machine, with its change points
    History(history::Arguments),
    /// Write a report of runs: an HTML page, a table, or drawings as files
    Report(report::Arguments),
    /// Write a run with all its samples to one file
    Export(export::Arguments),
    /// Import exported runs, results of machines without a network connection, and what hyperfine and Go measured
    Import(import::Arguments),
    /// Copy the store, with the server's queue and users, to a directory, while it is in use
    Backup(backup::Arguments),
    /// Pack a suite for a machine without a network connection: plan and sources in one file
    #[command(mut_arg("set", |it| it.help("Set a variable of the suite")))]
    Pack(pack::Arguments),
    /// Manage names, prices and power of machines
    Hosts(hosts::Arguments),
    /// Show the fingerprint of a machine
    Probe(probe::Arguments),
    /// Check whether a machine is fit to measure now
    Check(check::Arguments),
    /// List missing tools, and how to install them
    Doctor(doctor::Arguments),
    /// List the suites, or show the scenarios of one
    Suites(suites::Arguments),
    /// List the published machines, or show the figures of one source
    References(references::Arguments),
    /// Serve a web console and an API on this machine: a queue of runs, each repeat as it comes, reports
    Serve(serve::Arguments),
    /// Share queue, journal and archive among the servers of several machines
    Fleet(fleet::Arguments),
    /// Measure what a fleet orders for this machine, which reaches a node of it and is reached by none
    Agent(agent::Arguments),
    /// List, add and remove the users of the server
    Users(users::Arguments),
    /// Set up storage or a virtual machine, remove it, or show its status
    Rig(rig::Arguments),
    /// List disks of VMware and Hyper-V in a directory, or convert them to qcow2 and compare the result
    Convert(convert::Arguments),
    /// Remove what interrupted runs and rigs left on a machine, and what was built there
    Clean(clean::Arguments),
    /// Print completions for a shell
    Completions(completions::Arguments),
    /// Print the manual page, or write one per command to a directory
    Man(man::Arguments),
}

/// Parses the command line, does what it says, and gives the exit status.
pub(crate) fn main() -> ExitCode {
    completions::answer();
    let matches = definition().try_get_matches().unwrap_or_else(|error| refuse(&error));
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| refuse(&error.format(&mut definition())));
    let done = match cli.global.server() {
        Some(server) => remote::dispatch(&cli.global, server, &matches),
        None => dispatch(&cli),
    };
    match done {
        Ok(exit) => exit.into(),
        Err(failure) => {
            // A reader that has seen enough is no failure: `stend list | head`.
            if !failure.is_closed_pipe() {
                talk!("stend: {failure}");
            }
            // Whatever it was that failed then.
            if Interrupt::heard() { Exit::Interrupted.into() } else { failure.exit().into() }
        }
    }
}

/// Says what is wrong with the command line in one line, as all that is refused is said; help and version are printed as they are.
fn refuse(error: &clap::Error) -> ! {
    if !error.use_stderr() || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        error.exit();
    }
    let mut text = error.render().to_string();
    if let Some((reason, wanted)) = error.source().and_then(|reason| Some((reason, wanted(reason)?))) {
        text = text.replace(&reason.to_string(), wanted);
    }
    let said = text.lines().take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more information"));
    let elsewhere = elsewhere(error);
    // That it may be a value behind `--` is no advice here: nothing that a command takes begins with a hyphen.
    let is_no_advice = |line: &str| line.starts_with("tip: to pass") || elsewhere.is_some() && line.starts_with("tip:");
    let words: Vec<&str> = said.map(str::trim).filter(|line| !line.is_empty() && !is_no_advice(line)).collect();
    let words = words.join(" ").replace(" tip:", "; tip:");
    let elsewhere = elsewhere.map(|words| format!("; {words}")).unwrap_or_default();
    talk!("stend: {}{elsewhere}; --help tells more", words.trim_start_matches("error: "));
    std::process::exit(Exit::Usage as i32);
}

/// What a number must be, where the parser's own words are only for programmers.
fn wanted(reason: &(dyn Error + 'static)) -> Option<&'static str> {
    if reason.is::<ParseIntError>() {
        return Some("it must be a whole number");
    }
    reason.is::<ParseFloatError>().then_some("it must be a number, such as 0.5")
}

/// Which commands take an option that this one does not; nothing where so many do that it is no advice.
fn elsewhere(error: &clap::Error) -> Option<String> {
    const SHOWN: usize = 5;
    let Some(ContextValue::String(flag)) =
        error.get(ContextKind::InvalidArg).filter(|_| error.kind() == ErrorKind::UnknownArgument)
    else {
        return None;
    };
    let takes_it = |argument: &clap::Arg| {
        let long = argument.get_long().is_some_and(|long| flag.strip_prefix("--") == Some(long));
        let short = argument.get_short().is_some_and(|short| flag.strip_prefix('-') == Some(&short.to_string()[..]));
        (long || short) && !argument.is_hide_set()
    };
    let commands = definition();
    let mut names: Vec<String> = Vec::new();
    for command in commands.get_subcommands() {
        let of_it =
            command.get_subcommands().map(|inner| (format!("{} {}", command.get_name(), inner.get_name()), inner));
        let all = [(command.get_name().to_owned(), command)].into_iter().chain(of_it);
        names.extend(
            all.filter(|(_, one)| one.get_arguments().any(takes_it)).map(|(name, _)| format!("`stend {name}`")),
        );
    }
    let verb = if names.len() == 1 { "takes" } else { "take" };
    (1..=SHOWN).contains(&names.len()).then(|| format!("{} {verb} it", names.join(", ")))
}

fn dispatch(cli: &Cli) -> Result<Exit, Failure> {
    let global = &cli.global;
    if let Some(beat) = &global.beat {
        beat.follow();
    }
    match &cli.command {
        Command::Run(arguments) => run::run(global, arguments),
        Command::Resume(arguments) => resume::run(global, arguments),
        Command::List(arguments) => list::run(global, arguments),
        Command::Label(arguments) => label::run(global, arguments),
        Command::Rm(arguments) => rm::run(global, arguments),
        Command::Show(arguments) => show::run(global, arguments),
        Command::Profile(arguments) => profile::run(global, arguments),
        Command::Compare(arguments) => compare::run(global, arguments),
        Command::History(arguments) => history::run(global, arguments),
        Command::Report(arguments) => report::run(global, arguments),
        Command::Export(arguments) => export::run(global, arguments),
        Command::Import(arguments) => import::run(global, arguments),
        Command::Pack(arguments) => pack::run(arguments),
        Command::Hosts(arguments) => hosts::run(global, arguments),
        Command::Probe(arguments) => probe::run(global, arguments),
        Command::Check(arguments) => check::run(global, arguments),
        Command::Doctor(arguments) => doctor::run(global, arguments),
        Command::Suites(arguments) => suites::run(global, arguments),
        Command::References(arguments) => references::run(arguments),
        Command::Serve(arguments) => serve::run(global, arguments),
        Command::Fleet(arguments) => fleet::run(global, arguments),
        Command::Agent(arguments) => agent::run(global, arguments),
        Command::Backup(arguments) => backup::run(global, arguments),
        Command::Users(arguments) => users::run(global, arguments),
        Command::Rig(arguments) => rig::run(global, arguments),
        Command::Convert(arguments) => convert::run(global, arguments),
        Command::Clean(arguments) => clean::run(global, arguments),
        Command::Completions(arguments) => completions::run(arguments),
        Command::Man(arguments) => man::run(arguments),
    }
}

/// The command's definition, for completions and manual pages.
fn definition() -> clap::Command {
    Cli::command()
}

impl Global {
    /// The server whose lab is used, if not the store here.
    fn server(&self) -> Option<&str> {
        self.server.as_deref().filter(|server| !server.is_empty())
    }

    /// The directory of the store, as an absolute path.
    fn store_directory(&self) -> Result<PathBuf, Failure> {
        let home = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let directory = self
            .store
            .clone()
            .or_else(|| std::env::var_os("STEND_STORE").filter(|store| !store.is_empty()).map(PathBuf::from))
            .or_else(|| home("XDG_DATA_HOME").map(|path| path.join("stend")))
            .or_else(|| home("HOME").map(|path| path.join(".local/share/stend")))
            .ok_or_else(|| {
                Failure::usage("neither HOME nor XDG_DATA_HOME is set; say where runs are kept with --store")
            })?;
        std::path::absolute(&directory)
            .map_err(|error| Failure::usage(format!("--store \"{}\" is no directory: {error}", directory.display())))
    }

    /// The same to read from: one that was named to this command and is not there was mistyped.
    fn store_to_read(&self) -> Result<PathBuf, Failure> {
        let directory = self.store_directory()?;
        if self.store.is_some() && !directory.exists() {
            return Err(Failure::usage(format!(
                "--store {}: there is no such directory; `stend run` makes a store where there is none",
                directory.display()
            )));
        }
        Ok(directory)
    }

    /// Whether standard output is to be coloured.
    fn colour(&self) -> bool {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => !no_color && !dumb && std::io::stdout().is_terminal(),
        }
    }
}
