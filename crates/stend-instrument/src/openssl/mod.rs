//! `openssl speed`: ciphers and digests of OpenSSL.
//!
//! It is started with `-mr`, so that it prints what it counted, and with `-elapsed`, so that it counts for a time on the wall. Every
//! process of it prints `+R:count:name:seconds` on standard error, also under `-multi`, where the rates on standard output are the only
//! other thing that there is. So work is always a count: operations × buffer.
//!
//! An engine or a provider comes from a configuration file of the repeat's own: `openssl speed` 3.0 looks for its algorithm before it loads
//! what `-engine` names.
//!
//! | what | where it comes from |
//! |---|---|
//! | `wall_ns` | the alarm's whole seconds; OpenSSL's own figure, which has a resolution of 10 ms, only where it is longer by more than that |
//! | `cpu_ns` | what the guard saw: the processes with their start, some milliseconds, and the known answer's. Without `-elapsed` it is the user time of the loop alone, by which OpenSSL then divides; not with `-multi` |
//! | `work` | `bytes` and `operations` (buffers), summed over the processes |
//!
//! The timed loop throws its results away. What can be checked is that this OpenSSL computes a published vector of the same
//! algorithm ([`known_answer`]); it is run before the loop. Where the command line cannot run the algorithm there is no
//! check, and the scenario has to say `verification = "none"`.

mod known_answer;
mod s_time;

use std::collections::BTreeMap;

use serde_json::Value;
use stend_model::cause::Cause;
use stend_model::checked::Checked;
use stend_model::suite::Scenario;
use stend_model::wire::{Check, Event, Report, quote};
use thiserror::Error;

use self::known_answer::KnownAnswer;
pub(super) use self::s_time::STime;
use super::finished::events;
use super::parameters::{ParameterError, Parameters, ended_well, last_words, not_taken};
use super::{Adapter, AdapterError, Finished, Invocation, Package, Place, Tool};

/// `openssl speed`, as an instrument.
pub(super) struct OpenSsl;

/// What is wrong with a scenario for `openssl speed`.
#[derive(Debug, Error)]
pub enum OpenSslError {
    /// A parameter is wrong by itself.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// Nothing says what is measured.
    #[error("parameter \"algorithm\" is missing; for example aes-256-gcm or sha256")]
    NoAlgorithm,
    /// The algorithm has no name that could be one.
    #[error("parameter \"algorithm\" is \"{0}\"; it must be a name such as aes-256-gcm or sha256")]
    AlgorithmName(String),
    /// An engine or a provider has no name that could be one.
    #[error("parameter \"{what}\" is \"{name}\"; it must be a name such as gost or legacy")]
    LoadedName {
        /// Which of the two.
        what: &'static str,
        /// What it is.
        name: String,
    },
    /// The buffer is empty or too long.
    #[error("parameter \"bytes\" is {0}; it must be 1 to 1GiB")]
    Bytes(u64),
    /// The time is none that openssl takes.
    #[error("parameter \"seconds\": openssl speed takes whole seconds, 1 to 3600")]
    Seconds,
}

/// One measurement of `openssl speed`.
#[derive(Debug, Clone, PartialEq)]
struct Job {
    algorithm: String,
    bytes: u64,
    seconds: u32,
    processes: u32,
    decrypt: bool,
    elapsed: bool,
    /// Names to load, by what they are: `engine`, `provider`.
    loaded: BTreeMap<&'static str, String>,
}

/// Resolution of OpenSSL's elapsed time: it comes from `times()`, in ticks of 1/100 s.
const TICK: f64 = 0.01;

/// The configuration file in the repeat's directory.
const CONFIGURATION: &str = "openssl.cnf";
/// What stands before the known answer on standard output.
const ANSWER: &str = "known-answer:";
/// What stands before the compiler's line there.
const BUILD: &str = "compiler:";

impl Job {
    fn of(scenario: &Scenario) -> Result<Self, OpenSslError> {
        let known = ["algorithm", "bytes", "seconds", "multi", "decrypt", "elapsed", "engine", "provider"];
        let parameters = Parameters::of(&scenario.parameters, "openssl", &known)?;
        let algorithm = parameters.given("algorithm").ok_or(OpenSslError::NoAlgorithm)?;
        let allowed = |c: char| c.is_ascii_alphanumeric() || "-_/".contains(c);
        let is_name = |text: &str| text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(allowed);
        if !is_name(algorithm) {
            return Err(OpenSslError::AlgorithmName(algorithm.into()));
        }
        let loaded =
            ["engine", "provider"].into_iter().filter_map(|what| Some((what, parameters.given(what)?.to_owned())));
        let loaded: BTreeMap<_, _> = loaded.collect();
        if let Some((what, name)) = loaded.iter().find(|(_, name)| !is_name(name) || name.contains('/')) {
            return Err(OpenSslError::LoadedName { what, name: name.clone() });
        }
        let (bytes, seconds) = (parameters.size("bytes", "16KiB")?, parameters.duration("seconds", "1s")?);
        if !(1..=1 << 30).contains(&bytes) {
            return Err(OpenSslError::Bytes(bytes));
        }
        if seconds.subsec_nanos() != 0 || !(1..=3600).contains(&seconds.as_secs()) {
            return Err(OpenSslError::Seconds);
        }
        Ok(Self {
            algorithm: algorithm.into(),
            bytes,
            seconds: seconds.as_secs() as u32,
            processes: parameters.count("multi", "1", 1..=1024)?,
            decrypt: parameters.choice("decrypt", "no", &["yes", "no"])? == "yes",
            elapsed: parameters.choice("elapsed", "yes", &["yes", "no"])? == "yes",
            loaded,
        })
    }

    /// The configuration that loads what it takes; nothing where the system's own will do.
    fn configuration(&self) -> Option<String> {
        let mut sections = String::new();
        let mut heads = String::new();
        for (what, name) in &self.loaded {
            heads += &format!("{what}s = {what}s\n");
            sections += &match *what {
                "engine" => {
                    format!("[engines]\n{name} = engine\n[engine]\nengine_id = {name}\ndefault_algorithms = ALL\n")
                }
                // With one of its own choice, OpenSSL does not load the default one by itself.
                _ => format!("[providers]\ndefault = provider\n{name} = provider\n[provider]\nactivate = 1\n"),
            };
        }
        (!heads.is_empty()).then(|| format!("openssl_conf = stend\n[stend]\n{heads}{sections}"))
    }

    /// A script that prints the compiler and the known answer, and then becomes `openssl speed`.
    fn script(&self) -> String {
        let mut script = "openssl version -f\n".to_owned();
        if let Some(known) = KnownAnswer::of(&self.algorithm) {
            script += &format!("printf '{ANSWER}'; {} | od -An -v -tx1 | tr -d ' \\n'; echo\n", known.command);
        }
        let elapsed = if self.elapsed { " -elapsed" } else { "" };
        let multi = if self.processes > 1 { format!(" -multi {}", self.processes) } else { String::new() };
        let decrypt = if self.decrypt { " -decrypt" } else { "" };
        script += &format!(
            "exec openssl speed{elapsed} -mr -seconds {} -bytes {}{multi}{decrypt} -evp {}\n",
            self.seconds, self.bytes, self.algorithm
        );
        script
    }

    fn in_force(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let word = |yes| Value::from(if yes { "yes" } else { "no" });
        let parameters = [
            ("algorithm", Value::from(self.algorithm.as_str())),
            ("bytes", self.bytes.into()),
            ("seconds", self.seconds.into()),
            ("multi", self.processes.into()),
            ("decrypt", word(self.decrypt)),
            ("elapsed", word(self.elapsed)),
        ];
        parameters.into_iter().chain(self.loaded.iter().map(|(what, name)| (*what, name.as_str().into())))
    }
}

impl Adapter for OpenSsl {
    fn name(&self) -> &'static str {
        "openssl"
    }

    fn tool(&self) -> Option<Tool> {
        // 1.1.1 brought -seconds and -bytes.
        Some(Tool {
            program: "openssl",
            package: Package::Debian("openssl"),
            version_arguments: &["version"],
            least: Some((1, 1)),
        })
    }

    fn check(&self, scenario: &Scenario) -> Result<(), AdapterError> {
        Job::of(scenario)?;
        Ok(())
    }

    /// The known answer of what an engine or a provider brings.
    fn abilities(&self, scenario: &Scenario, program: &str, _work: &str) -> Option<Vec<String>> {
        let job = Job::of(scenario).ok()?;
        let (configuration, known) = (job.configuration()?, KnownAnswer::of(&job.algorithm)?);
        let script = format!(
            "openssl() {{ command \"$program\" \"$@\"; }}\nprogram=$1\nexec 3<<'END'\n{configuration}END\nOPENSSL_CONF=/dev/fd/3\n\
             export OPENSSL_CONF\n{{ {} | od -An -v -tx1; }} 2>&1\n",
            known.command
        );
        Some(["sh", "-c", &script, "stend-openssl", program].map(str::to_owned).into())
    }

    fn lacks(&self, scenario: &Scenario, said: &str) -> Option<Cause> {
        let is_bytes = |line: &str| !line.is_empty() && line.chars().all(|c| c.is_ascii_hexdigit() || c == ' ');
        if said.lines().any(is_bytes) {
            return None;
        }
        let algorithm = Job::of(scenario).ok()?.algorithm;
        let said = said.lines().find(|line| !line.trim().is_empty()).map(quote).unwrap_or_default();
        Some(Cause::AlgorithmMissing { algorithm, said })
    }

    fn invocation(&self, scenario: &Scenario, place: &Place) -> Result<Invocation, Cause> {
        let job = Job::of(scenario).map_err(not_taken)?;
        let path = format!("{}/{CONFIGURATION}", place.work);
        let files: BTreeMap<_, _> =
            job.configuration().map(|text| (path.clone(), text.into_bytes().into())).into_iter().collect();
        Ok(Invocation {
            words: ["sh", "-c", &job.script()].map(str::to_owned).into(),
            environment: files.keys().map(|path| ("OPENSSL_CONF".to_owned(), path.clone())).collect(),
            files,
            ..Invocation::default()
        })
    }

    fn translate(&self, scenario: &Scenario, finished: &Finished) -> Result<Vec<Event>, Cause> {
        let job = Job::of(scenario).map_err(not_taken)?;
        ended_well("openssl", finished, last_words)?;
        let counts = counts(&finished.stderr)?;
        let said = || last_words(&finished.stderr);
        let wanted = job.processes as usize;
        if counts.len() != wanted {
            return Err(Cause::OpensslProcesses { count: counts.len(), wanted, said: said() });
        }
        let operations: f64 = counts.iter().map(|(operations, _)| operations).sum();
        let longest = counts.iter().map(|(_, seconds)| *seconds).fold(0.0, f64::max);
        let nominal = f64::from(job.seconds);
        // Of user time there may be as little as the machine gave.
        let least = if job.elapsed { nominal - 2.0 * TICK } else { TICK };
        if operations == 0.0 || longest < least {
            return Err(Cause::OpensslCount { operations, seconds: longest, wanted: nominal, said: said() });
        }
        let seconds = if longest > nominal + TICK { longest } else { nominal };
        let cpu_ns = finished.usage.cpu_ns();
        let counted: f64 = counts.iter().map(|(_, seconds)| seconds * 1e9).sum();
        // With -multi OpenSSL 3.0 counts for a time on the wall all the same, which may be more than the processes had of the processors.
        let cpu_ns = if job.elapsed { cpu_ns } else { cpu_ns.min(counted.round() as u64) };
        let (check, evidence) = verdict(&job, &finished.stdout);
        let wall_ns = (seconds * 1e9) as u64;
        let end_ns = finished.started_ns.saturating_add_unsigned(finished.usage.wall_ns);
        let work = [("bytes", operations * job.bytes as f64), ("operations", operations)];
        let report = Report {
            // The loop is the last thing that the command does.
            t_ns: Some(end_ns.saturating_sub_unsigned(wall_ns).max(finished.started_ns)),
            cpu_ns: Some(cpu_ns),
            check,
            evidence: Some(vec![evidence].into()),
            ..finished.report(wall_ns, work)
        };
        let mut begin = finished.begin("openssl", Some("openssl"), job.in_force());
        let compiler = finished.stdout.lines().find_map(|line| line.strip_prefix(BUILD));
        begin.build.extend(compiler.map(|compiler| ("compiler".to_owned(), compiler.trim().to_owned())));
        Ok(events(begin, report))
    }
}

/// Operations and seconds of each process.
fn counts(stderr: &str) -> Result<Vec<(f64, f64)>, Cause> {
    let count = |line: &str| {
        let mut fields = line.strip_prefix("+R:")?.split(':');
        let operations = fields.next()?.parse::<u64>().ok()? as f64;
        let seconds = fields.next_back()?.trim().parse::<f64>().ok()?;
        (seconds.is_finite() && (0.0..1e6).contains(&seconds)).then_some((operations, seconds))
    };
    let lines = stderr.lines().map(str::trim).filter(|line| line.contains("+R:"));
    let unknown = |line| Cause::ToolLine { output: "openssl speed".into(), said: quote(line) };
    lines.map(|line| count(line).ok_or_else(|| unknown(line))).collect()
}

fn verdict(job: &Job, stdout: &str) -> (Check, Checked) {
    let Some(known) = KnownAnswer::of(&job.algorithm) else {
        return (Check::None, Checked::NoKnownAnswer { algorithm: job.algorithm.clone() });
    };
    let answer = stdout.lines().find_map(|line| line.strip_prefix(ANSWER)).map_or("", str::trim);
    let vector = known.vector.to_owned();
    if answer == known.answer {
        (Check::Passed, Checked::AnswerRight { vector })
    } else if answer.is_empty() && known.optional {
        (Check::None, Checked::AnswerImpossible { vector })
    } else {
        let right = known.answer.to_owned();
        (Check::Failed, Checked::AnswerWrong { vector, right, computed: quote(answer) })
    }
}

#[cfg(test)]
mod tests;
