//! A suite from job files of the user's own.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use stend_model::suite::Scenario;
use stend_model::wire::quote;
use thiserror::Error;

use super::file::{Does, LineError, MOST_PATHS, NoSuchLun, Section, TEXT, Wrong, line_of, luns, phases, sections};
use super::needs::CLOCK;
use super::set;
use super::words::first_error;
use crate::{literal, quoted};
use stend_stand::host::Command;

/// Why job files make no suite.
#[derive(Debug, Error)]
pub enum NamedError {
    /// A line is wrong.
    #[error("{path}:{line}: {what}: {}", quote(.text))]
    Line {
        /// The file.
        path: String,
        /// The line's number.
        line: usize,
        /// What is wrong with it.
        #[source]
        what: LineError,
        /// As it stands there.
        text: String,
    },
    /// It names a LUN that there cannot be.
    #[error("{path}: {source}")]
    NoSuchLun {
        /// The file.
        path: String,
        /// The LUN.
        source: NoSuchLun,
    },
    /// It starts nothing.
    #[error("{path}: it has no [section] with a job besides [global]")]
    NoSection {
        /// The file.
        path: String,
    },
    /// fio refuses it, and does not say for which line.
    #[error("{path}: fio does not take it: {said}")]
    NotTaken {
        /// The file.
        path: String,
        /// What fio said.
        said: String,
    },
    /// What is set is in no file.
    #[error("--set {name}={value}: no section says {name}=")]
    Unsaid {
        /// The option.
        name: String,
        /// What it is set to.
        value: String,
    },
}

/// A job file as the user named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The path, for messages.
    pub path: String,
    /// Its name without directory and `.fio`.
    pub stem: String,
    pub text: String,
    /// Whether it names a device, so that fio must refuse to write.
    pub readonly: bool,
}

impl Named {
    /// The paths that its sections may work on, with the lines that say so; `${…}` is as it stands there. A name may be in a directory that
    /// another line says.
    ///
    /// # Errors
    /// It is no job file; the line is quoted.
    pub fn paths(&self) -> Result<Vec<(usize, String)>, NamedError> {
        const NAMES: [&str; 6] =
            ["filename", "filename_format", "directory", "opendir", "replay_redirect", "write_iolog"];
        const LONGEST: usize = 4096;
        let mut found = Vec::new();
        let mut add = |line: usize, path: String| {
            // No longer path can be opened.
            if path.len() <= LONGEST {
                found.push((line, path));
            }
            if found.len() > MOST_PATHS {
                return Err(self.wrong(Wrong { line, what: LineError::TooManyPaths }));
            }
            Ok(())
        };
        for section in &self.sections()? {
            let options = |key: &'static str| section.options.iter().filter(move |option| option.1 == key);
            for (line, _, names) in NAMES.into_iter().flat_map(options) {
                for name in names.split(':') {
                    add(*line, name.to_owned())?;
                    for directory in options("directory").flat_map(|(.., paths)| paths.split(':')) {
                        add(*line, format!("{directory}/{name}"))?;
                    }
                }
            }
        }
        Ok(found)
    }

    /// The words of the commands that it has fio start, with the lines that say so.
    ///
    /// # Errors
    /// It is no job file; the line is quoted.
    pub fn words_of_commands(&self) -> Result<Vec<(usize, String)>, NamedError> {
        let word = |c: char| !(c.is_whitespace() || "'\"`;|&<>()=,".contains(c));
        let words = |(line, _, command): (usize, String, String)| {
            let words = command.split(|c| !word(c)).filter(|word| !word.is_empty());
            words.map(|word| (line, word.to_owned())).collect::<Vec<_>>()
        };
        Ok(self.commands()?.into_iter().flat_map(words).collect())
    }

    /// The commands that it has fio start: line, option, value.
    ///
    /// # Errors
    /// As above.
    pub fn commands(&self) -> Result<Vec<(usize, String, String)>, NamedError> {
        // The last two are of the engine that is a command.
        const COMMANDS: [&str; 4] = ["exec_prerun", "exec_postrun", "program", "arguments"];
        let sections = self.sections()?;
        let options = sections.iter().flat_map(|section| &section.options);
        Ok(options.filter(|(_, key, _)| COMMANDS.contains(&key.as_str())).cloned().collect())
    }

    /// The recorded traces that it replays on the files which they name themselves, with the lines that say so.
    ///
    /// # Errors
    /// It is no job file; the line is quoted.
    pub fn traces(&self) -> Result<Vec<(usize, String)>, NamedError> {
        let mut found = Vec::new();
        for section in &self.sections()? {
            if section.options.iter().any(|(_, key, value)| key == "replay_redirect" && !value.is_empty()) {
                continue;
            }
            let traces = section.options.iter().filter(|option| option.1 == "read_iolog");
            found.extend(traces.flat_map(|(line, _, names)| names.split(':').map(|name| (*line, name.to_owned()))));
        }
        Ok(found)
    }

    /// What has fio judge the file where it lies.
    ///
    /// # Errors
    /// A number that no LUN can have.
    pub fn judging(&self) -> Result<Command, NamedError> {
        let readonly = self.readonly.then_some("--readonly");
        let words = ["fio", CLOCK, "--parse-only"].into_iter().chain(readonly).chain([self.path.as_str()]);
        let environment = (1..=self.luns()?).map(|lun| (format!("LUN{lun}"), format!("lun{lun}"))).collect();
        Ok(Command { environment, ..Command::new(words) })
    }

    /// How many LUNs it names.
    ///
    /// # Errors
    /// A number that no LUN can have.
    fn luns(&self) -> Result<u32, NamedError> {
        luns(&self.text).map_err(|source| NamedError::NoSuchLun { path: self.path.clone(), source })
    }

    /// What fio said against it, in one line with the line of the file.
    pub fn complaint(&self, said: &str) -> NamedError {
        let lines: Vec<_> = said.lines().map(|line| line.trim().trim_start_matches("fio: ")).collect();
        let dropped = lines.iter().find_map(|line| line.strip_prefix("job ")?.strip_suffix(" dropped"));
        let writes = lines.iter().any(|line| line.contains("read-only mode"));
        if let Some((line, path)) = self
            .paths()
            .ok()
            .filter(|_| writes && self.readonly)
            .and_then(|paths| paths.into_iter().find(|(_, path)| path.contains("/dev/") || path.starts_with('$')))
        {
            return self.wrong(Wrong { line, what: LineError::WritesToDevice(path) });
        }
        // "Bad option <nonsense=7>", "failed parsing rw=sideways", "option <hello> outside of [] job section"
        let named = lines.iter().find_map(|line| {
            let inside = line.split_once('<').and_then(|(_, rest)| rest.rsplit_once('>')).map(|(inside, _)| inside);
            line.strip_prefix("failed parsing ").or(inside)
        });
        // What comes first is why; the line behind it may say what would be right.
        let first = first_error(said).unwrap_or_default();
        let behind = lines.iter().skip_while(|line| **line != first).nth(1).filter(|line| is_explanation(line));
        let said = match behind {
            Some(line) if !first.starts_with("failed parsing") => format!("{first}; {line}"),
            _ => first.to_owned(),
        };
        match named.and_then(|option| self.line_of(dropped, option)) {
            Some(line) => self.wrong(Wrong { line, what: LineError::NotTaken { said } }),
            None => NamedError::NotTaken { path: self.path.clone(), said },
        }
    }

    /// A message about a line of it.
    pub fn at(&self, line: usize, message: &str) -> String {
        format!("{}:{line}: {message}: {}", self.path, quote(line_of(&self.text, line)))
    }

    /// What is wrong with a line of it.
    fn wrong(&self, Wrong { line, what }: Wrong) -> NamedError {
        NamedError::Line { path: self.path.clone(), line, what, text: line_of(&self.text, line).to_owned() }
    }

    /// The line of an option, if possible in the section that fio named.
    fn line_of(&self, section: Option<&str>, option: &str) -> Option<usize> {
        let plain = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        let wanted = plain(option);
        let is_it = |(_, key, value): &&(usize, String, String)| {
            plain(&format!("{key}={value}")) == wanted || (value.is_empty() && plain(key) == wanted)
        };
        let sections = self.sections().ok()?;
        let here = sections.iter().filter(|one| section == Some(one.name.as_str()));
        let found = here.chain(&sections).flat_map(|section| &section.options).find(is_it);
        found.map(|(line, ..)| *line)
    }

    fn sections(&self) -> Result<Vec<Section>, NamedError> {
        sections(&self.text).map_err(|wrong| self.wrong(wrong))
    }
}

/// Whether a line says of an option what it may be.
fn is_explanation(line: &str) -> bool {
    ["failed parsing", "max value", "min value", "Did you mean"].iter().any(|words| line.contains(words))
}

/// The text of a suite with a scenario for each phase of each file.
///
/// # Errors
/// A file that cannot be used: path, line, and the line quoted.
pub fn suite_of(files: &[Named], set: &BTreeMap<String, String>) -> Result<String, NamedError> {
    let set: Vec<_> = set.iter().filter(|(name, _)| set::NAMES.contains(&name.as_str())).collect();
    let unsaid = |name: &str| name != set::RUNTIME && !files.iter().any(|file| set::is_said(&file.text, name));
    if let Some((name, value)) = set.iter().find(|(name, _)| unsaid(name)) {
        return Err(NamedError::Unsaid { name: (*name).clone(), value: (*value).clone() });
    }
    let stems: Vec<_> = files.iter().map(|file| file.stem.as_str()).collect();
    let mut text = format!(
        "name = {}\ntitle = {}\norder = \"grouped\"\n\
         # As fio itself: once, without a warm-up of stend's own. -r 10 repeats.\nrepeats = 1\nwarmup = 0\ntimeout = \"7d\"\n\
         # As in the suites of storage: the block layer's work is nobody's CPU time, and processors that wait lower their clock.\n\
         gates = {{ foreign_cpu = \"20%\", frequency_fall = \"off\" }}\n\
         [variables]\nlun_size = \"256MiB\"\ndirectory = \"\"\nlog_avg_msec = 1000\n{}",
        quoted(&stems.join("+")),
        quoted(&format!("The fio jobs of {}", stems.join(", "))),
        set::NAMES.map(|name| format!("{name} = \"\"\n")).concat()
    );
    let set: String = set.iter().map(|(name, _)| format!(", {} = \"{{{name}}}\"", set::parameter(name))).collect();
    for file in files {
        let sections = file.sections()?;
        if sections.is_empty() {
            return Err(NamedError::NoSection { path: file.path.clone() });
        }
        file.luns()?;
        let phases = phases(&sections);
        let wrong = one_after_another(&sections).or_else(|| begin_apart(&sections, &phases));
        let wrong = wrong.or_else(|| counted_together(&sections));
        if let Some(wrong) =
            wrong.or_else(|| sections.iter().find_map(endless)).or_else(|| uncounted(&sections, &phases))
        {
            return Err(file.wrong(wrong));
        }
        for (number, names) in (1..).zip(&phases) {
            let name = match &names[..] {
                [_, _, _, _, ..] => format!("phase {number}: {} + {} + {} more", names[0], names[1], names.len() - 2),
                names => names.join(" + "),
            };
            let name = if files.len() > 1 { format!("{}: {name}", file.stem) } else { name };
            let of_phase = || sections.iter().filter(|section| names.contains(&section.name));
            let on = |keys: &[&str]| of_phase().any(|section| section.is_on(keys).is_some());
            let moves_data = of_phase().any(|section| section.does() == Does::Data);
            // A file of one phase is run as it is.
            let phase = if phases.len() > 1 { number } else { 0 };
            let _ = write!(
                text,
                "[[scenario]]\nname = {}\ninstrument = \"fio\"\nparameters = {{ job = {}, phase = {phase}, readonly = {}, \
                 size = \"{{lun_size}}\", directory = \"{{directory}}\", log_avg_msec = \"{{log_avg_msec}}\"{set} }}\nmetrics = [\n{}]\n",
                quoted(&literal(&name)),
                quoted(&literal(&file.text)),
                u32::from(file.readonly),
                metrics(moves_data, !on(&["disable_lat", "gtod_reduce"]), !on(&["disable_clat", "gtod_reduce"]))
            );
        }
    }
    Ok(text)
}

/// The job file of a scenario that has one.
pub fn job_file_of(scenario: &Scenario) -> Option<Named> {
    let text = scenario.parameters.get(TEXT)?.clone();
    let readonly = scenario.parameters.get("readonly").is_some_and(|readonly| readonly != "0");
    Some(Named { path: scenario.name.clone(), stem: String::new(), text, readonly })
}

/// What is wrong where of a section nobody could say how much it wrote or read in how much time: fio puts together what it read meanwhile
/// and what it reads back afterwards.
fn counted_together(sections: &[Section]) -> Option<Wrong> {
    let line = sections.iter().find_map(Section::mixes_with_reading_back)?;
    Some(Wrong { line, what: LineError::MixesWithReadingBack })
}

/// What is wrong with a section that may never end, or only when nothing is left of the file system.
fn endless(section: &Section) -> Option<Wrong> {
    if let Some((line, ..)) = section.last(&["io_submit_mode"]).filter(|(_, _, value)| value == "offload") {
        // With fio 3.33 each third job or so, whatever else is asked of it.
        return Some(Wrong { line: *line, what: LineError::Offload });
    }
    let line = section.is_on(&["fill_device", "fill_fs"])?;
    section.last(&["size", "filesize"]).is_none().then_some(Wrong { line, what: LineError::Endless })
}

/// What is wrong where fio counts nothing, or what cannot be told from the rest.
fn uncounted(sections: &[Section], phases: &[Vec<String>]) -> Option<Wrong> {
    let wrong = |line: usize, what: LineError| Some(Wrong { line, what });
    let line = |section: &Section| section.engine().map_or(1, |(line, _)| line);
    if let Some(section) = sections.iter().find(|section| section.does() == Does::Program) {
        return wrong(line(section), LineError::StartsProgram);
    }
    for names in phases {
        let of_phase = || sections.iter().filter(|section| names.contains(&section.name));
        let Some(first) = of_phase().find(|section| section.does() != Does::Data) else { continue };
        if of_phase().all(|section| section.does() == Does::Nothing) {
            return wrong(line(first), LineError::NothingToCount);
        }
        let differs = of_phase().any(|section| section.does() != first.does());
        if let Some(line) = of_phase().filter(|_| differs).find_map(|section| section.is_on(&["group_reporting"])) {
            return wrong(line, LineError::CountedTogether);
        }
        let of_names = of_phase().filter(|section| section.does() == Does::Names);
        let keys = ["disable_clat", "gtod_reduce"];
        if let Some(line) = of_names.filter_map(|section| section.is_on(&keys)).next() {
            return wrong(line, LineError::NotTimed);
        }
    }
    None
}

/// What is wrong where sections of one phase begin one after the other: what they did in their own times is no rate of them together.
fn begin_apart(sections: &[Section], phases: &[Vec<String>]) -> Option<Wrong> {
    let delay = |section: &Section| {
        let of_it = section.options.iter().rev().find(|(_, key, _)| key == "startdelay");
        of_it.map(|(line, _, value)| (*line, value.trim_end_matches('s').to_owned())).filter(|(_, value)| value != "0")
    };
    for names in phases {
        let of_phase: Vec<_> = sections.iter().filter(|section| names.contains(&section.name)).collect();
        let delays: Vec<_> = of_phase.iter().map(|section| delay(section)).collect();
        let alike =
            delays.windows(2).all(|pair| pair[0].as_ref().map(|one| &one.1) == pair[1].as_ref().map(|one| &one.1));
        // A range is another delay for each job.
        let drawn = delays.iter().flatten().find(|(_, value)| value.contains('-'));
        if let Some((line, _)) = drawn.or_else(|| delays.iter().flatten().next().filter(|_| !alike)) {
            return Some(Wrong { line: *line, what: LineError::BeginsApart });
        }
    }
    None
}

/// What is wrong where sections of one phase run one after another: how fast they were together nobody could say.
fn one_after_another(sections: &[Section]) -> Option<Wrong> {
    let option =
        |section: &Section, key: &str| section.options.iter().find(|option| option.1 == key).map(|option| option.0);
    if let Some(line) = sections.iter().find_map(|section| option(section, "wait_for")) {
        return Some(Wrong { line, what: LineError::WaitsFor });
    }
    let twin = (1..)
        .zip(&sections[1..])
        .find(|(place, section)| sections[..*place].iter().any(|one| one.name == section.name));
    let (_, twin) = twin?;
    let line = sections[1..]
        .iter()
        .filter(|section| section.waits)
        .find_map(|section| option(section, "stonewall").or_else(|| option(section, "wait_for_previous")))?;
    Some(Wrong { line, what: LineError::Twins(twin.name.clone()) })
}

/// The metrics of a phase, without those that fio was told not to measure.
fn metrics(moves_data: bool, mean: bool, percentiles: bool) -> String {
    let metric = |name: &str, value: &str, unit: &str, better: &str| {
        format!("{{ name = \"{name}\", value = \"{value}\", unit = \"{unit}\", better = \"{better}\" }},\n")
    };
    let mut text = metric("IOPS", "operations/wall", "IOPS", "higher");
    if moves_data {
        text += &metric("throughput", "bytes/wall", "B/s", "higher");
    }
    if mean && moves_data {
        text += &metric("latency mean", "latency_mean_ns", "ns", "lower");
    }
    if percentiles {
        text += &metric("latency p99", "latency_p99_ns", "ns", "lower");
        text += &metric("latency p99.9", "latency_p999_ns", "ns", "lower");
    }
    if moves_data {
        text += &metric("throughput per CPU-second", "bytes/cpu", "B/CPU-s", "higher");
    }
    text
}

/// Braces that are meant as such, in texts of a suite.
#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;
    use stend_model::suite::{Changes, Suite};

    use super::*;

    fn named(text: &str) -> Named {
        Named { path: "jobs.fio".into(), stem: "jobs".into(), text: text.into(), readonly: false }
    }

    fn read(files: &[Named]) -> Suite {
        let text = suite_of(files, &BTreeMap::new()).unwrap();
        let check = |scenario: &stend_model::suite::Scenario| crate::check_parameters(scenario);
        Suite::parse_checked(&text, "t", Path::new("."), &Changes::default(), &check)
            .unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    const JOBS: &str = "; {comment}\n[global]\nfilename=${LUN1}\nsize=1m\n\n[one]\nrw=randread\n[two]\nrw = randwrite\n\
        [three]\nstonewall\nrw=read\ngtod_reduce=1\n";

    #[test]
    fn what_a_job_file_of_few_bytes_makes_is_bounded() {
        let many = "a:".repeat(1000);
        let file = named(&format!("[a]\nrw=read\nfilename={many}\ndirectory={many}\n"));
        let message = file.paths().unwrap_err().to_string();
        assert!(message.starts_with("jobs.fio:3: ") && message.contains("20000 paths"), "{message}");
        let global = format!("[global]\n{}", "rw=read\n".repeat(1000));
        let sections: String = (0..1000).map(|number| format!("[{number}]\nsize=1m\n")).collect();
        let message = suite_of(&[named(&(global + &sections))], &BTreeMap::new()).unwrap_err().to_string();
        assert!(message.contains("more options than 20000"), "{message}");
    }

    #[test]
    fn a_stonewall_begins_a_scenario() {
        let suite = read(&[named(JOBS)]);
        let names: Vec<_> = suite.scenarios.iter().map(|scenario| scenario.name.as_str()).collect();
        assert_eq!(names, ["one + two", "three"]);
        assert!(suite.scenarios.iter().all(|scenario| scenario.parameters["job"] == JOBS), "as it is, braces too");
        let metrics =
            |place: usize| suite.scenarios[place].metrics.iter().map(|metric| metric.name.as_str()).collect::<Vec<_>>();
        assert!(metrics(0).contains(&"latency p99"));
        assert!(metrics(1).iter().all(|name| !name.contains("latency")), "fio is told not to measure it");
        let two = read(&[named(JOBS), Named { stem: "more".into(), ..named("[one]\nrw=read\nsize=1m\n") }]);
        assert_eq!(two.scenarios[2].name, "more: one");
        assert_eq!(two.scenarios[2].parameters["phase"], "0", "a file of one phase is run as it is");
        let twins = read(&[named("[a]\nrw=read\n[a]\nrw=write\n")]);
        assert_eq!(twins.scenarios.len(), 1, "fio could not be told which [a] is meant");
    }

    #[test]
    fn what_fio_refuses_is_quoted_with_its_line() {
        let file = named(JOBS);
        for (said, part) in [
            (
                "fio: failed parsing rw=randwrite\nfio: job two dropped\n",
                "jobs.fio:9: fio does not take this (failed parsing rw=randwrite): `rw = randwrite`",
            ),
            (
                "Bad option <stonewall>\nfio: job three dropped\n",
                "jobs.fio:11: fio does not take this (Bad option <stonewall>): `stonewall`",
            ),
            ("Bad option <elsewhere=7>\n", "jobs.fio: fio does not take it: Bad option <elsewhere=7>"),
            ("something new\nand more\n", "jobs.fio: fio does not take it: something new"),
        ] {
            assert_eq!(file.complaint(said).to_string(), part);
        }
        for (text, part) in [
            ("rw=read\n", "jobs.fio:1: an option stands before the first [section]: `rw=read`"),
            ("[a]\nrw=read\n[b\n", "jobs.fio:3: a section's name has no ] behind it: `[b`"),
            ("[a]\ninclude other.fio\n", "jobs.fio:2: a file that is included is no part"),
            ("[a]\ninclude\tother.fio\n", "jobs.fio:2: a file that is included is no part"),
            ("[a]\ninclude=other.fio\n", "jobs.fio:2: a file that is included is no part"),
            ("[a]\nioengine=external:/x.so\n", "jobs.fio:2: an engine that is a library of the file's own"),
            ("[a]\nrw=read\nioengine = /x.so\n", "jobs.fio:3: an engine that is a library of the file's own"),
            ("[a]\nio${X}engine=exec\n", "jobs.fio:2: the name of an option is made of a variable"),
            ("[a]\nrw=read\n[a]\nstonewall\nrw=write\n", "jobs.fio:4: two sections are called [a]"),
            ("[a]\nrw=read\n[b]\nwait_for=a\n", "jobs.fio:4: stend counts what runs together; use stonewall"),
            ("[a]\nrw=read\n[b]\nstartdelay=2\nrw=read\n", "jobs.fio:4: stend counts what runs together, and these"),
            ("[a]\nstartdelay=1-3\nrw=read\n", "jobs.fio:2: stend counts what runs together, and these"),
            ("[a]\nverify=crc32c\nrw=randrw\n", "jobs.fio:2: fio counts what it reads back as read meanwhile"),
            ("[global]\nrw=read\n", "jobs.fio: it has no [section] with a job"),
            ("[a]\nfilename=${LUN0}\n", "jobs.fio: there is no ${LUN0}; LUNs are ${LUN1} to ${LUN256}"),
        ] {
            let message = suite_of(&[named(text)], &BTreeMap::new()).unwrap_err().to_string();
            assert!(message.starts_with(part) && !message.contains('\n'), "{message}");
        }
    }

    #[test]
    fn what_begins_together_or_is_not_read_back_is_counted() {
        for text in [
            "[global]\nstartdelay=1s\n[a]\nrw=read\n[b]\nrw=read\nstartdelay=1\n",
            "[a]\nrw=read\n[b]\nstonewall\nstartdelay=2\nrw=read\n",
            "[a]\nrw=read\n[b]\nstartdelay=0\nrw=read\n",
            "[a]\nverify=crc32c\ndo_verify=0\nrw=randrw\n[b]\nstonewall\nverify=crc32c\nrw=read\n",
        ] {
            read(&[named(text)]);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_suite_or_a_complaint(text in "(\\[[a-z{}\"]{0,5}\\]\n|[a-z]{0,9}=?[a-z0-9${}\\[\\]\"\\\\]{0,9}\n|stonewall\n){0,12}", said in ".{0,60}") {
            let file = named(&text);
            let _ = file.complaint(&said);
            if let Ok(text) = suite_of(std::slice::from_ref(&file), &BTreeMap::new()) {
                let check = |scenario: &stend_model::suite::Scenario| crate::check_parameters(scenario);
                match Suite::parse_checked(&text, "t", Path::new("."), &Changes::default(), &check) {
                    Ok(suite) => prop_assert!(suite.scenarios.iter().all(|scenario| scenario.parameters["job"] == file.text)),
                    Err(error) => prop_assert!(error.to_string().contains("two scenarios are called"), "{error}"),
                }
            }
        }
    }
}
