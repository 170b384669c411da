//! Job files of the user's own, taken as they are.
//!
//! The text is kept in the scenario, so that the run holds what was measured and `resume` needs no file. What stend sets (threads, logs)
//! it gives to fio as defaults on the command line, which the file's own options override.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use stend_model::quantity::parse_duration;
use stend_model::suite::Scenario;
use stend_model::target::{Target, Transport};
use stend_model::wire::quote;
use thiserror::Error;

use super::job::{self, Job, JobError, file_name};
use super::logs::kinds;
use super::set::{self, SetError};
use crate::parameters::{ParameterError, Parameters};
use crate::{LunAddress, Place};

/// Why a job file cannot be used.
#[derive(Debug, Error)]
pub enum FileError {
    /// A parameter is wrong.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// An option was set to what it cannot be.
    #[error(transparent)]
    Set(#[from] SetError),
    /// Its LUNs cannot lie there, or have no such size.
    #[error(transparent)]
    Job(#[from] JobError),
    /// A line is wrong.
    #[error("{what}: {}", quote(.text))]
    Line {
        /// What is wrong with it.
        #[source]
        what: LineError,
        /// As it stands there.
        text: String,
    },
    /// It names a LUN that there cannot be.
    #[error(transparent)]
    NoSuchLun(#[from] NoSuchLun),
    /// The target's LUNs have no paths.
    #[error("a job file names LUNs by their paths, and behind {0} they have none; set transport = \"local\"")]
    NoPaths(Transport),
    /// A LUN has no path.
    #[error("a job file names LUNs by their paths, and the target's are at {0}")]
    NoPath(String),
    /// It would load something else than the target.
    #[error("the job file names no LUN, so it would load something else; write filename=${{LUN1}}")]
    NamesNoLun,
    /// It names a LUN that the target does not have.
    #[error("the job file names ${{LUN{named}}}, and the target has LUNs up to ${{LUN{there}}}")]
    BeyondTarget {
        /// The last one that it names.
        named: u32,
        /// The target's last one.
        there: u32,
    },
}

/// The number of a LUN that there cannot be.
#[derive(Debug, Error)]
#[error("there is no ${{LUN{0}}}; LUNs are ${{LUN1}} to ${{LUN{MOST_LUNS}}}")]
pub struct NoSuchLun(u32);

/// The parameter that holds a job file's text.
pub(super) const TEXT: &str = "job";

/// Variables `${LUN1}` to this one become the paths of LUNs.
const MOST_LUNS: u32 = 256;

/// A job file, or the phase of it that a scenario is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JobFile {
    pub(super) text: String,
    /// The sections that are run; empty for all.
    pub(super) sections: Vec<String>,
    /// LUNs that it names.
    pub(super) luns: u32,
    /// The sections that write, and then read back themselves what they wrote.
    pub(super) reading_back: Vec<String>,
    /// How long sections run at most that do not say it.
    runtime: Option<String>,
    /// What the sections do that do not move data.
    does: BTreeMap<String, Does>,
    /// The engines of the sections that are run.
    engines: BTreeSet<String>,
    /// Whether fio must refuse to write.
    pub(super) readonly: bool,
    /// Length of the logs' windows in milliseconds.
    pub(super) log_average_ms: u32,
    /// The same of the histograms.
    pub(super) histogram_window_ms: u32,
    /// Where the LUNs lie, and how large they are.
    files: Job,
}

impl JobFile {
    /// Reads and checks the parameters.
    pub(super) fn of(scenario: &Scenario) -> Result<Self, FileError> {
        let of_stend = [TEXT, "phase", "readonly", "directory", "size", "log_avg_msec"];
        let known: Vec<_> = of_stend.into_iter().map(str::to_owned).chain(set::NAMES.map(set::parameter)).collect();
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        let parameters = Parameters::of(&scenario.parameters, "a job file", &known)?;
        let set = set::of(&scenario.parameters)?;
        let text = &*set::applied(&set, parameters.text(TEXT, ""));
        let luns = luns(text)?;
        let mut files: BTreeMap<_, _> = ["directory", "size"]
            .iter()
            .filter_map(|name| Some(((*name).into(), parameters.given(name)?.into())))
            .collect();
        files.insert("luns".to_owned(), luns.max(1).to_string());
        let sections = sections(text)
            .map_err(|Wrong { line, what }| FileError::Line { what, text: line_of(text, line).to_owned() })?;
        let phases = phases(&sections);
        let phase = parameters.count("phase", "0", 0..=phases.len() as u32)?;
        let chosen = (phase as usize).checked_sub(1).map_or_else(Vec::new, |phase| phases[phase].clone());
        let log_average_ms = parameters.count("log_avg_msec", "1000", 10..=3_600_000)?;
        let runs = |section: &&Section| chosen.is_empty() || chosen.contains(&section.name);
        let engines = sections.iter().filter(runs).filter_map(|one| Some(one.engine()?.1.to_owned())).collect();
        let histogram_window_ms = histogram_window_ms(sections.iter().filter(runs), log_average_ms);
        Ok(Self {
            text: text.into(),
            histogram_window_ms,
            sections: chosen,
            luns,
            reading_back: sections.iter().filter(|one| one.reads_back()).map(|one| one.name.clone()).collect(),
            runtime: set.get(set::RUNTIME).cloned(),
            does: sections.iter().map(|one| (one.name.clone(), one.does())).collect(),
            engines,
            readonly: parameters.choice("readonly", "0", &["0", "1"])? == "1",
            log_average_ms,
            files: Job::read(&files)?,
        })
    }

    /// The LUNs that the file names.
    pub(super) fn files(&self, place: &Place) -> Result<Vec<String>, FileError> {
        if self.luns == 0 { Ok(Vec::new()) } else { Ok(self.files.files(place)?) }
    }

    /// Where the user wants the LUNs, if anywhere.
    pub(super) fn directory(&self) -> Option<&String> {
        self.files.directory.as_ref()
    }

    /// Whether it loads the LUNs of a target.
    pub(super) fn fits(&self, target: &Target) -> Result<(), FileError> {
        if target.behind_nbd() {
            return Err(FileError::NoPaths(target.transport));
        }
        match (self.luns, target.luns) {
            (0, _) => Err(FileError::NamesNoLun),
            (named, there) if named > there => Err(FileError::BeyondTarget { named, there }),
            _ => Ok(()),
        }
    }

    /// What a section does.
    pub(super) fn does(&self, section: &str) -> Does {
        self.does.get(section).copied().unwrap_or_default()
    }

    /// The engines that it names.
    pub(super) fn engines(self) -> BTreeSet<String> {
        self.engines
    }

    /// Bytes of each LUN.
    pub(super) fn size(&self) -> u64 {
        self.files.size
    }

    /// The run's own directory in the one that was given, if LUNs lie there.
    pub(super) fn own_directory(&self, place: &Place) -> Option<String> {
        self.files.own_directory(place).filter(|_| self.luns > 0)
    }

    /// What fio is told besides the file, before it.
    pub(super) fn options(&self, logs: &str) -> Result<Vec<String>, FileError> {
        let logs = file_name(logs)?;
        // fio's job processes leave its process group (setsid), so the guard could not kill them. Threads die with fio.
        let mut options: Vec<_> =
            ["--name=global", "--thread=1", "--per_job_logs=1", "--log_unix_epoch=1"].map(str::to_owned).into();
        options.push(format!("--log_avg_msec={}", self.log_average_ms));
        // In its logs fio counts names as if they were blocks of data.
        if !self.does.values().any(|does| *does == Does::Names) {
            let kinds = kinds(Some(self.histogram_window_ms), self.log_average_ms);
            options.extend(kinds.map(|kind| format!("--write_{kind}_log={logs}")));
        }
        options.push(format!("--log_hist_msec={}", self.histogram_window_ms));
        options.extend(self.runtime.iter().map(|runtime| format!("--runtime={runtime}")));
        options.extend(self.readonly.then(|| "--readonly".to_owned()));
        options.extend(self.sections.iter().map(|section| format!("--section={section}")));
        Ok(options)
    }
}

/// The paths of the LUNs: the target's, or those of the run's own files.
pub(super) fn paths(place: &Place, files: &[String]) -> Result<Vec<String>, FileError> {
    let one = |lun: &LunAddress| match lun {
        LunAddress::Path(path) => Ok(file_name(path)?),
        LunAddress::Nbd(uri) => Err(FileError::NoPath(uri.clone())),
    };
    if place.luns.is_empty() { Ok(files.to_vec()) } else { place.luns.iter().map(one).collect() }
}

/// The values of the variables that name LUNs.
pub(super) fn variables(paths: &[String]) -> BTreeMap<String, String> {
    (1..).zip(paths).map(|(number, path)| (format!("LUN{number}"), path.clone())).collect()
}

/// What the engine of a section does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Does {
    /// It moves data, and fio counts what.
    #[default]
    Data,
    /// It opens, deletes or asks for files.
    Names,
    /// It only takes processor time. What fio counts of it means nothing.
    Nothing,
    /// It starts a program.
    Program,
}

/// Whether an engine works on files that fio makes. Of an engine that is not known here it is supposed.
pub(super) fn engine_has_files(engine: &str) -> bool {
    const WITHOUT: &[&str] = &[
        "null",
        "cpuio",
        "exec",
        "net",
        "netsplice",
        "rdma",
        "nbd",
        "rbd",
        "rados",
        "gfapi",
        "gfapi_async",
        "http",
        "libhdfs",
        "libiscsi",
        "nfs",
        "dfs",
        "sg",
        "mtd",
        "io_uring_cmd",
        "dev-dax",
        "libzbc",
        "xnvme",
        "pmemblk",
        "librpma_apm_client",
        "librpma_apm_server",
        "librpma_gpspm_client",
        "librpma_gpspm_server",
        "cpp_null",
    ];
    !WITHOUT.contains(&engine)
}

/// A section other than `[global]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: String,
    /// Whether it waits for those before it to end.
    pub(super) waits: bool,
    /// Line, key and value of each option, those of `[global]` before it included.
    pub(super) options: Vec<(usize, String, String)>,
}

impl Section {
    /// The value of an option that is a plain number.
    fn number(&self, key: &str) -> Option<u32> {
        self.options.iter().rev().find(|(_, name, _)| name == key)?.2.parse().ok()
    }

    /// How long it runs at most, if it says so in a way that is understood here too. A bare number is seconds.
    fn runtime(&self) -> Option<Duration> {
        let (.., value) = self.options.iter().rev().find(|(_, name, _)| name == "runtime")?;
        parse_duration(value).ok()
    }

    /// Whether it writes, and then reads back what it wrote. fio reports the one beside the other, although they come one after the other.
    fn reads_back(&self) -> bool {
        self.verifies().is_some() && matches!(self.pattern(), "write" | "randwrite")
    }

    /// The line by which it reads back what it wrote, if it reads other things while it writes.
    pub(super) fn mixes_with_reading_back(&self) -> Option<usize> {
        self.verifies().filter(|_| matches!(self.pattern(), "rw" | "readwrite" | "randrw"))
    }

    /// Its engine, if it says so, with the line.
    pub(super) fn engine(&self) -> Option<(usize, &str)> {
        self.last(&["ioengine"]).map(|(line, _, engine)| (*line, engine.as_str()))
    }

    pub(super) fn does(&self) -> Does {
        match self.engine().map(|(_, engine)| engine) {
            Some("filecreate" | "filestat" | "filedelete") => Does::Names,
            Some("cpuio") => Does::Nothing,
            Some("exec") => Does::Program,
            _ => Does::Data,
        }
    }

    /// The line by which it is told one of these, if it is not told that it is not so.
    pub(super) fn is_on(&self, keys: &[&str]) -> Option<usize> {
        self.last(keys).filter(|(_, _, value)| value != "0").map(|(line, ..)| *line)
    }

    fn pattern(&self) -> &str {
        self.last(&["rw", "readwrite"]).map_or("", |(_, _, value)| value.split(':').next().unwrap_or(value))
    }

    fn verifies(&self) -> Option<usize> {
        let not = self.last(&["do_verify"]).is_some_and(|(_, _, value)| value == "0");
        let verify = self.last(&["verify"]).filter(|(_, _, value)| !not && !["", "0"].contains(&value.as_str()));
        verify.map(|(line, ..)| *line)
    }

    /// Of options that mean the same the last one, which counts.
    pub(super) fn last(&self, keys: &[&str]) -> Option<&(usize, String, String)> {
        self.options.iter().rev().find(|(_, key, _)| keys.contains(&key.as_str()))
    }
}

/// Length of the windows of the histograms, in milliseconds. What the file says goes before what stend says. Else they are as long as
/// those of the other logs, or longer where fio would keep too many; jobs that do not say how long they run are taken to run for an hour.
fn histogram_window_ms<'a>(sections: impl Iterator<Item = &'a Section> + Clone, log_average_ms: u32) -> u32 {
    const AN_HOUR: Duration = Duration::from_secs(3600);
    if let Some(own) = sections.clone().filter_map(|section| section.number("log_hist_msec")).max() {
        return own.max(1);
    }
    let histograms_by_ms: u128 = sections
        .map(|section| {
            let jobs = u128::from(section.number("numjobs").unwrap_or(1));
            section.runtime().unwrap_or(AN_HOUR).as_millis() * jobs
        })
        .sum();
    job::histogram_window_ms(histograms_by_ms, 2, log_average_ms)
}

/// The number of a line that is wrong, and what is wrong with it.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) line: usize,
    pub(super) what: LineError,
}

/// What is wrong with a line.
#[derive(Debug, Error)]
pub enum LineError {
    /// A section's name does not end.
    #[error("a section's name has no ] behind it")]
    NoEnd,
    /// It would take too much memory.
    #[error("with those of [global] for each section there are more options than 20000, or 16 MiB")]
    TooMuch,
    /// Another file is read there.
    #[error("a file that is included is no part of what is kept; put its text in this place")]
    Included,
    /// A variable hides which option it is.
    #[error("the name of an option is made of a variable, so nobody can see what it does; write it out")]
    MadeName,
    /// fio would run what the library has.
    #[error("an engine that is a library of the file's own is not loaded; name one of fio --enghelp")]
    Library,
    /// It is of no section.
    #[error("an option stands before the first [section]")]
    OfNoSection,
    /// It names more paths than can be looked at.
    #[error("with all its directories it names more than {MOST_PATHS} paths")]
    TooManyPaths,
    /// It writes to a device, and not as to a LUN.
    #[error("it writes to {0}, which is a device; name a LUN: filename=${{LUN1}}")]
    WritesToDevice(String),
    /// fio refuses it.
    #[error("fio does not take this ({said})")]
    NotTaken {
        /// What fio said.
        said: String,
    },
    /// How much was read meanwhile nobody could say.
    #[error(
        "fio counts what it reads back as read meanwhile; add do_verify=0, and read back in a section of its own \
         behind a stonewall"
    )]
    MixesWithReadingBack,
    /// fio may hang.
    #[error("fio may never end with it; leave it out, and each job submits its operations by itself")]
    Offload,
    /// It ends when nothing is left of the file system.
    #[error("it writes until the whole file system is full; say how much it is to write: size=")]
    Endless,
    /// It is a program.
    #[error(
        "fio counts nothing of a program that it starts, and stend could not end it; start it beside stend, or \
         by exec_prerun"
    )]
    StartsProgram,
    /// It neither reads nor writes.
    #[error(
        "it only takes processor time, and there is nothing to count; put it beside a section that reads or writes"
    )]
    NothingToCount,
    /// Two kinds of figures would be one.
    #[error(
        "fio would count together what moves data and what does not; leave group_reporting out, stend adds up by itself"
    )]
    CountedTogether,
    /// Nothing is counted without its time.
    #[error("the engine counts only what it takes the time of")]
    NotTimed,
    /// Sections of a phase begin one after the other.
    #[error(
        "stend counts what runs together, and these sections do not begin together; use stonewall, which \
         begins a phase of its own"
    )]
    BeginsApart,
    /// Sections of a phase run one after the other.
    #[error("stend counts what runs together; use stonewall, which begins a phase of its own")]
    WaitsFor,
    /// A phase has a section whose name another has too.
    #[error("two sections are called [{0}], so fio cannot be asked for one phase; give each a name of its own")]
    Twins(String),
}

/// So many paths of a file are looked at: a name may be in each directory, and both may be many.
pub(super) const MOST_PATHS: usize = 20_000;

/// A line by its number, as it stands there.
pub(super) fn line_of(text: &str, line: usize) -> &str {
    text.lines().nth(line - 1).unwrap_or_default().trim()
}

/// So many options a job file has at most, and so many bytes of them; those of `[global]` count for each section, since each has them.
const MOST_OPTIONS: usize = 20_000;
const MOST_OPTION_BYTES: usize = 16 << 20;

/// How much of that has been taken.
#[derive(Default)]
struct Taken {
    options: usize,
    bytes: usize,
}

impl Taken {
    /// Takes these, and says whether there is still room.
    fn add(&mut self, options: &[(usize, String, String)]) -> bool {
        self.options += options.len();
        self.bytes += options.iter().map(|(_, key, value)| key.len() + value.len()).sum::<usize>();
        self.options <= MOST_OPTIONS && self.bytes <= MOST_OPTION_BYTES
    }
}

/// The sections of a job file in their order. Only what stend has to know is looked at; whether the options make sense, fio says.
pub(super) fn sections(text: &str) -> Result<Vec<Section>, Wrong> {
    let mut global: Vec<(usize, String, String)> = Vec::new();
    let mut sections: Vec<Section> = Vec::new();
    let mut in_global = false;
    let mut taken = Taken::default();
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.trim();
        if content.is_empty() || content.starts_with([';', '#']) {
            continue;
        }
        let wrong = |what: LineError| Err(Wrong { line, what });
        if let Some(name) = content.strip_prefix('[') {
            let Some((name, _)) = name.rsplit_once(']') else {
                return wrong(LineError::NoEnd);
            };
            in_global = name.eq_ignore_ascii_case("global");
            if !in_global {
                if !taken.add(&global) {
                    return wrong(LineError::TooMuch);
                }
                sections.push(Section { name: name.into(), waits: false, options: global.clone() });
            }
            continue;
        }
        // fio takes whatever stands behind the word.
        if content.starts_with("include") {
            return wrong(LineError::Included);
        }
        // fio takes what stands behind these for a comment, in a value too.
        let content = content.split([';', '#']).next().unwrap_or(content);
        let (key, value) = content.split_once('=').unwrap_or((content, ""));
        let option = (line, key.trim().to_owned(), value.trim().to_owned());
        // fio fills variables in before it looks for the name.
        if option.1.contains('$') {
            return wrong(LineError::MadeName);
        }
        // fio loads such a library already when it parses the file, and runs what it has for that.
        if option.1 == "ioengine" && option.2.contains(['/', ':']) {
            return wrong(LineError::Library);
        }
        if !taken.add(std::slice::from_ref(&option)) {
            return wrong(LineError::TooMuch);
        }
        match sections.last_mut().filter(|_| !in_global) {
            Some(section) => section.options.push(option),
            None if in_global => global.push(option),
            None => return wrong(LineError::OfNoSection),
        }
    }
    for section in &mut sections {
        let last = section.options.iter().rev().find(|(_, key, _)| key == "stonewall" || key == "wait_for_previous");
        section.waits = last.is_some_and(|(_, _, value)| value != "0");
    }
    Ok(sections)
}

/// The names of the sections that run together, phase by phase: a `stonewall` begins a phase. Where two sections have one name, fio could
/// not be told which is meant, and the file is one phase.
pub(super) fn phases(sections: &[Section]) -> Vec<Vec<String>> {
    let names: BTreeSet<_> = sections.iter().map(|section| &section.name).collect();
    let mut phases: Vec<Vec<String>> = Vec::new();
    for section in sections {
        match phases.last_mut().filter(|_| !section.waits || names.len() < sections.len()) {
            Some(phase) => phase.push(section.name.clone()),
            None => phases.push(vec![section.name.clone()]),
        }
    }
    phases
}

/// How many LUNs a text names: the highest n of `${LUNn}`.
pub(super) fn luns(text: &str) -> Result<u32, NoSuchLun> {
    let numbers = text.split("${LUN").skip(1).filter_map(|rest| {
        let number = rest.split_once('}')?.0;
        number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse::<u32>().unwrap_or(u32::MAX))
    });
    let mut most = 0;
    for number in numbers {
        if !(1..=MOST_LUNS).contains(&number) {
            return Err(NoSuchLun(number));
        }
        most = most.max(number);
    }
    Ok(most)
}
