//! `stend run -- COMMAND`: any command, timed.

use clap::Args;
use stend_instrument::Commands;
use stend_lab::side;
use stend_model::side::Side;
use stend_report::shell_words;

use crate::cli::changing::assigned;
use crate::cli::failure::Failure;

/// Commands to time instead of a suite.
#[derive(Debug, Args)]
#[command(next_help_heading = "Timing commands")]
pub(super) struct Timing {
    /// Time a command, after `--`: `stend run -- make -j4`. What it prints is discarded; it must exit with status 0
    #[arg(last = true, value_name = "COMMAND", conflicts_with_all = ["suite", "fio", "command"])]
    words: Vec<String>,
    /// Time a shell command; may be given several times. With --ab, two commands are measured alternately and compared in pairs
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["suite", "fio"])]
    command: Vec<String>,
    /// A shell command to run before each repeat, such as `make clean`; it is not timed
    #[arg(long, value_name = "COMMAND")]
    prepare: Option<String>,
    /// Replace {NAME} in the commands by each of these values: jobs=1,2,4
    #[arg(long, value_name = "NAME=VALUE[,VALUE]", value_parser = parameter)]
    parameter: Vec<(String, Vec<String>)>,
    /// Count a repeat whatever the command's exit status
    #[arg(long)]
    ignore_failure: bool,
}

fn parameter(text: &str) -> Result<(String, Vec<String>), String> {
    let (name, values) = assigned(text, "jobs=1,2,4")?;
    Ok((name, values.split(',').map(str::to_owned).collect()))
}

impl Timing {
    /// The commands, if any are to be timed; `ab` are the sides of a comparison, if one is made.
    pub(super) fn commands(&self, ab: Option<&[String]>) -> Result<Option<Commands>, Failure> {
        let mut lines: Vec<_> = self.command.iter().map(|line| (line.clone(), line.clone())).collect();
        if !self.words.is_empty() {
            // The shell has nothing to do for words.
            let line = shell_words(&self.words);
            lines.push((line.clone(), format!("exec {line}")));
        }
        let as_sides = ab.is_some_and(<[_]>::is_empty);
        if lines.is_empty() {
            let other = [
                (self.prepare.is_some(), "--prepare"),
                (!self.parameter.is_empty(), "--parameter"),
                (self.ignore_failure, "--ignore-failure"),
                (as_sides, "--ab without sides"),
            ];
            return match other.into_iter().find(|(given, _)| *given) {
                Some((_, option)) => {
                    Err(Failure::usage(format!("{option} is for commands: give one with --command, or after --")))
                }
                None => Ok(None),
            };
        }
        if as_sides && lines.len() != 2 {
            return Err(Failure::usage("--ab without sides compares two commands: give --command twice"));
        }
        if as_sides && !self.parameter.is_empty() {
            return Err(Failure::usage(
                "--parameter does not go with --ab without sides; time the values as scenarios, or two --command",
            ));
        }
        let directory =
            std::env::current_dir().map_err(|error| Failure::usage(format!("the current directory: {error}")))?;
        Ok(Some(Commands {
            lines,
            prepare: self.prepare.clone(),
            directory: Some(directory.to_string_lossy().into_owned()),
            parameters: self.parameter.clone(),
            any_exit: self.ignore_failure,
            as_sides,
        }))
    }
}

/// Two commands as the sides of one scenario.
pub(super) fn sides(commands: &Commands) -> Result<Vec<Side>, Failure> {
    const LONGEST: usize = 60;
    let escaped = |text: &str| text.replace(';', "\\;");
    let mut settings = commands.lines.iter().enumerate().map(|(place, (name, line))| {
        let name = if name.chars().count() > LONGEST || name.contains('\n') {
            format!("command {}", place + 1)
        } else {
            name.clone()
        };
        format!("name={}; set.command={}", escaped(&name), escaped(line))
    });
    let both: Vec<String> = settings.by_ref().collect();
    side::parse(&both).map_err(Failure::usage)
}
