//! Any command, timed as a whole: `stend run -- make -j4`.
//!
//! | what | where it comes from |
//! |---|---|
//! | `wall_ns`, `cpu_ns` | what the guard saw of the command, from its start to its end, with all children that it waited for; the shell that starts it is in it, about a millisecond |
//! | `work` | `runs`: 1 |
//! | `observed` | `user_cpu_ns`, `system_cpu_ns`, `max_rss_bytes` (the largest of one process), `exit_status` |
//!
//! What the command prints is thrown away, and it reads nothing. It must exit with status 0, unless any status will do. What it did is not
//! looked at, so nothing is verified.

use std::fmt::Write as _;

use stend_model::cause::Cause;
use stend_model::suite::Scenario;
use stend_model::wire::{Event, Report};
use thiserror::Error;

use super::finished::{events, named};
use super::line::{self, Line};
use super::parameters::{ParameterError, Parameters, ended_well, last_words, not_taken};
use super::{Adapter, AdapterError, Finished, Invocation, Place, Tool, literal, quoted};

/// Any command, as an instrument.
pub(super) struct Time;

/// What is to be timed.
struct Job<'a> {
    line: Line<'a>,
    /// Whether any exit status will do.
    any_exit: bool,
}

impl<'a> Job<'a> {
    fn of(scenario: &'a Scenario) -> Result<Self, ParameterError> {
        let known = [&line::PARAMETERS[..], &["exit"]].concat();
        let parameters = Parameters::of(&scenario.parameters, "time", &known)?;
        let line = Line::of(&parameters)?;
        Ok(Self { line, any_exit: parameters.choice("exit", "0", &["0", "any"])? == "any" })
    }

    fn words(&self, line: &str) -> Vec<String> {
        self.line.in_shell(r#"cd -- "$1" && exec sh -c "$2" </dev/null >/dev/null"#, line)
    }
}

impl Adapter for Time {
    fn name(&self) -> &'static str {
        "time"
    }

    fn tool(&self) -> Option<Tool> {
        None
    }

    fn starts(&self, scenario: &Scenario) -> Vec<String> {
        line::starts(scenario)
    }

    fn check(&self, scenario: &Scenario) -> Result<(), AdapterError> {
        Job::of(scenario)?;
        Ok(())
    }

    fn invocation(&self, scenario: &Scenario, _: &Place) -> Result<Invocation, Cause> {
        let job = Job::of(scenario).map_err(not_taken)?;
        Ok(Invocation {
            words: job.words(job.line.command),
            before: job.line.prepare.map(|line| job.words(line)).unwrap_or_default(),
            ..Invocation::default()
        })
    }

    fn translate(&self, scenario: &Scenario, finished: &Finished) -> Result<Vec<Event>, Cause> {
        let job = Job::of(scenario).map_err(not_taken)?;
        let usage = &finished.usage;
        if !(job.any_exit && usage.exit.is_some()) {
            // The shell is replaced by a command that is given in words; nobody typed that.
            let command = job.line.command;
            ended_well(command.strip_prefix("exec ").unwrap_or(command), finished, last_words)?;
        }
        let observed = [
            ("user_cpu_ns", usage.user_ns as f64),
            ("system_cpu_ns", usage.system_ns as f64),
            ("max_rss_bytes", usage.max_rss_bytes as f64),
            ("exit_status", f64::from(usage.exit.unwrap_or(0))),
        ];
        let report = Report { observed: named(observed), ..finished.report(usage.wall_ns, [("runs", 1.0)]) };
        Ok(events(finished.begin("time", None, job.line.in_force()), report))
    }

    fn lasts(&self, _: &Cause, finished: &Finished) -> bool {
        line::lasts(finished)
    }
}

/// Commands to be timed.
#[derive(Debug, Clone, Default)]
pub struct Commands {
    /// Each with what it is called.
    pub lines: Vec<(String, String)>,
    /// What is done before each time.
    pub prepare: Option<String>,
    /// Where.
    pub directory: Option<String>,
    /// Names that stand in braces in the commands, with their values.
    pub parameters: Vec<(String, Vec<String>)>,
    /// Whether any exit status will do.
    pub any_exit: bool,
    /// Whether all of them are the two sides of one scenario.
    pub as_sides: bool,
}

/// What is wrong with commands.
#[derive(Debug, Error)]
pub enum CommandsError {
    /// Nothing has the name of a parameter.
    #[error("--parameter {0}=…: no command has {{{0}}}")]
    Unused(String),
    /// Only some have it.
    #[error("--parameter {name}=…: the command `{command}` has no {{{name}}}; all must have it")]
    NotInAll {
        /// The parameter.
        name: String,
        /// The command.
        command: String,
    },
    /// A command is given twice.
    #[error("the command `{0}` is given twice")]
    Twice(String),
    /// A command says nothing.
    #[error("a command is empty")]
    Empty,
}

/// The suite that times them, as text.
///
/// # Errors
/// What is wrong with them, and what would be right.
pub fn suite_of(commands: &Commands) -> Result<String, CommandsError> {
    for (place, (name, line)) in commands.lines.iter().enumerate() {
        if line.trim().is_empty() {
            return Err(CommandsError::Empty);
        }
        if commands.lines[..place].iter().any(|(_, other)| other == line) {
            return Err(CommandsError::Twice(name.clone()));
        }
    }
    for (name, _) in &commands.parameters {
        let has = |line: &str| line.contains(&format!("{{{name}}}"));
        if !commands.lines.iter().any(|(_, line)| has(line)) {
            return Err(CommandsError::Unused(name.clone()));
        }
        if let Some((_, line)) = commands.lines.iter().find(|(_, line)| !has(line)) {
            return Err(CommandsError::NotInAll { name: name.clone(), command: line.clone() });
        }
    }
    // All braces are the command's own, but for those of parameters.
    let text = |line: &str| {
        let names = commands.parameters.iter();
        let filled = names
            .fold(literal(line), |text, (name, _)| text.replace(&format!("{{{{{name}}}}}"), &format!("{{{name}}}")));
        quoted(&filled)
    };
    // As for job files of others: what a desktop does besides is not nothing.
    let mut suite = String::from(
        "name = \"commands\"\ntitle = \"Time of commands\"\ntitles = { ru = \"Время команд\" }\nrepeats = 10\nwarmup = 1\n\
         timeout = \"7d\"\ngates = { foreign_cpu = \"20%\" }\n",
    );
    let lines = if commands.as_sides { &commands.lines[..1] } else { &commands.lines };
    for (name, line) in lines {
        let name = if commands.as_sides { quoted(&literal(&programs(commands))) } else { text(name) };
        let mut parameters = vec![format!("command = {}", text(line))];
        parameters.extend(commands.prepare.iter().map(|line| format!("prepare = {}", text(line))));
        parameters.extend(commands.directory.iter().map(|path| format!("directory = {}", quoted(&literal(path)))));
        parameters.extend(commands.any_exit.then(|| "exit = \"any\"".to_owned()));
        let _ = write!(
            suite,
            "[[scenario]]\nname = {name}\ninstrument = \"time\"\nverification = \"none\"\nparameters = {{ {} }}\nmetrics = [{METRICS}]\n",
            parameters.join(", ")
        );
        let axis = |(name, values): &(String, Vec<String>)| {
            let values: Vec<_> = values.iter().map(|value| quoted(value)).collect();
            format!("{} = [{}]", quoted(name), values.join(", "))
        };
        let matrix: Vec<_> = commands.parameters.iter().map(axis).collect();
        if !matrix.is_empty() {
            let _ = writeln!(suite, "matrix = {{ {} }}", matrix.join(", "));
        }
    }
    Ok(suite)
}

/// The programs that two commands begin with, once if they are one.
fn programs(commands: &Commands) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (_, line) in &commands.lines {
        let word = line.split_whitespace().next().unwrap_or_default().trim_end_matches(';');
        let name = word.rsplit('/').find(|part| !part.is_empty()).unwrap_or(word);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(", ")
}

const METRICS: &str = r#"
    { name = "time", value = "wall", unit = "s", better = "lower" },
    { name = "CPU time", value = "cpu", unit = "CPU-s", better = "lower" },
    { name = "memory", value = "max_rss_bytes", unit = "B", better = "lower" },
"#;

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use stend_model::suite::{Changes, Suite};

    fn commands(lines: &[&str]) -> Commands {
        Commands {
            lines: lines.iter().map(|line| ((*line).to_owned(), (*line).to_owned())).collect(),
            ..Commands::default()
        }
    }

    fn suite(commands: &Commands) -> Suite {
        let text = suite_of(commands).unwrap();
        Suite::parse_checked(&text, "commands", Path::new("/"), &Changes::default(), &crate::check_parameters)
            .unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    #[test]
    fn a_command_is_kept_as_it_was_typed() {
        for line in [
            "make -j4",
            "awk '{ print $1 }' <x | sort",
            "echo \"{a}\" \\ \u{1b}",
            "if true; then echo 'it''s'; fi # {{x}}",
        ] {
            let suite = suite(&commands(&[line]));
            let [scenario] = &suite.scenarios[..] else { panic!("one: {line}") };
            assert_eq!((scenario.name.as_str(), scenario.parameters["command"].as_str()), (line, line));
        }
    }

    #[test]
    fn two_sides_are_one_scenario_called_by_their_programs() {
        for (lines, name) in [
            (["gzip -6 -c x", "/usr/bin/gzip -9 -c x"], "gzip"),
            (["./a {n}", "zstd"], "a, zstd"),
            (["true; true", "{ exit 0; }"], "true, {"),
        ] {
            let suite = suite(&Commands { as_sides: true, ..commands(&lines) });
            let [scenario] = &suite.scenarios[..] else { panic!("one: {lines:?}") };
            assert_eq!(scenario.name, name);
        }
    }

    #[test]
    fn names_in_braces_take_each_value() {
        let wanted = Commands {
            parameters: vec![("jobs".into(), vec!["1".into(), "2".into()]), ("x".into(), vec!["{a}".into()])],
            prepare: Some("make clean JOBS={jobs}".into()),
            ..commands(&["make -j{jobs} X={x} Y={y}"])
        };
        let suite = suite(&wanted);
        let of =
            |name: &str| -> Vec<&str> { suite.scenarios.iter().map(|one| one.parameters[name].as_str()).collect() };
        assert_eq!(of("command"), ["make -j1 X={a} Y={y}", "make -j2 X={a} Y={y}"]);
        assert_eq!(of("prepare"), ["make clean JOBS=1", "make clean JOBS=2"]);
        let error = |commands: Commands| suite_of(&commands).unwrap_err().to_string();
        assert!(
            error(Commands { parameters: vec![("n".into(), vec!["1".into()])], ..commands(&["true"]) })
                .contains("no command has {n}")
        );
        assert!(
            error(commands(&["true", "true"])).contains("given twice") && error(commands(&[" "])).contains("empty")
        );
    }
}
