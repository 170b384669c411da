//! fio's job file, from a scenario's parameters.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Map, Value};
use stend_model::quantity::{Span, format_size};
use stend_model::suite::Scenario;
use thiserror::Error;

use super::logs::kinds;
use super::lost::WRITES;
use super::mark;
use crate::parameters::{ParameterError, Parameters};
use crate::{LunAddress, Place};

/// Why there is no job file of these parameters.
#[derive(Debug, Error)]
pub enum JobError {
    /// A parameter is wrong by itself.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A block is not of whole sectors.
    #[error("parameter \"bs\" is {0} bytes; it must be a multiple of 512, as a disk's sectors are")]
    Block(u64),
    /// No block has room.
    #[error(
        "parameter \"size\" is {size} bytes in whole MiB; it must be at least 1MiB and hold a block of {block} bytes"
    )]
    Size {
        /// Bytes of each file.
        size: u64,
        /// Bytes of a block.
        block: u64,
    },
    /// Of this pattern nothing can be verified.
    #[error(
        "parameter \"verify\" is given and \"rw\" is \"{0}\"; what is verified is written first: write or randwrite"
    )]
    VerifiesNoWrite(String),
    /// So many jobs cannot be verified.
    #[error("parameter \"numjobs\" is {0}; with \"verify\" it must be 1, or jobs would overwrite each other's blocks")]
    VerifiesJobs(u32),
    /// So many loops cannot be verified.
    #[error("parameter \"loops\" is {0}; with \"verify\" it must be 1: only what was written last can be read back")]
    VerifiesLoops(u32),
    /// It has no name that could be an engine's.
    #[error("parameter \"ioengine\" is \"{0}\"; it must be the name of an engine, see fio --enghelp")]
    Engine(String),
    /// Files may not lie there.
    #[error("parameter \"directory\" is \"{0}\"; it must be an absolute path without .., and not below /dev")]
    Directory(String),
    /// A time is given to what takes as long as it takes.
    #[error("parameter \"{name}\" is given together with \"{other}\", which goes over the whole region; leave it out")]
    TimeOfLoops {
        /// The time.
        name: &'static str,
        /// What it does not go with.
        other: &'static str,
    },
    /// It is shorter than fio can measure.
    #[error("parameter \"runtime\" is {0}; fio counts in milliseconds, so it must be at least 100ms")]
    Runtime(Span),
    /// It is said how operations are started, and not how many.
    #[error("parameter \"rate_process\" is given without \"rate_iops\"; say at which rate")]
    NoRate,
    /// A rate of two directions.
    #[error(
        "parameter \"rate_iops\" is given and \"rw\" is \"{0}\"; fio limits each direction by itself, so it takes \
         one direction"
    )]
    RateOfBoth(String),
    /// A job would have no operation a second.
    #[error("parameter \"rate_iops\" is {rate}; each of the {jobs} jobs needs one operation a second at least")]
    Rate {
        /// Operations per second of all jobs.
        rate: u32,
        /// How many there are.
        jobs: u32,
    },
    /// The target has more LUNs, or fewer.
    #[error("parameter \"luns\" is {wanted}, and the target has {there}")]
    Luns {
        /// How many are to be loaded.
        wanted: u32,
        /// How many there are.
        there: usize,
    },
    /// The engine does not reach the target.
    #[error("parameter \"ioengine\" is \"{0}\", and the target speaks NBD: it must be nbd")]
    NoNbdEngine(String),
    /// fio would take a path for something else.
    #[error("fio cannot be given the path {path:?}: it holds {bad:?}")]
    Path {
        /// The path.
        path: String,
        /// What is wrong in it.
        bad: char,
    },
}

/// What fio is to do. Sizes are bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Job {
    /// In which directory the files lie, in one of the run's own; the place's `data` if not given.
    pub(super) directory: Option<String>,
    /// fio's `rw`.
    pub(super) pattern: String,
    /// Share of reads in a mixed load, in percent.
    pub(super) read_percent: u32,
    /// Bytes of an operation.
    pub(super) block: u64,
    /// Jobs on each LUN.
    pub(super) jobs: u32,
    /// Operations that each job keeps in flight.
    pub(super) depth: u32,
    /// Files, each of which stands for a LUN.
    pub(super) luns: u32,
    /// Bytes of each file, whole MiB.
    pub(super) size: u64,
    /// Bytes of each file, from its start, that are read or written.
    pub(super) region: u64,
    /// How long is measured.
    pub(super) length: Length,
    /// How long the load runs before that.
    pub(super) ramp: Duration,
    /// Whether each block is written with a mark of its own and read back by it.
    pub(super) verify: bool,
    /// Whether that is done later, by [`reading_again`](Self::reading_again), when its pool has failed.
    pub(super) read_later: bool,
    /// After how many writes each job flushes what it wrote, if it does.
    pub(super) flush: Option<u32>,
    /// Operations per second of all jobs together, if the load is open: they are started when their time has come, whether those
    /// before have ended or not.
    pub(super) rate: Option<Rate>,
    /// fio's `ioengine`.
    pub(super) engine: String,
    /// Whether the page cache is gone around (`O_DIRECT`). tmpfs takes the flag and ignores it, or refuses it on old kernels.
    pub(super) direct: bool,
    /// Whether each write carries new random bytes; otherwise fio changes only a few in each block.
    pub(super) refill: bool,
    /// Length of the windows that fio's logs are averaged over, in milliseconds.
    pub(super) log_average_ms: u32,
}

/// How long a job works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Length {
    /// For a time, from the start again at the end of the region.
    Time(Duration),
    /// So many times over the whole region, each block once.
    Loops(u32),
}

/// At which rate operations are started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rate {
    /// Operations per second that each job starts.
    pub(super) of_a_job: u32,
    /// fio's `rate_process`: `poisson`, as of many independent users, or `linear`, at even distances.
    pub(super) process: String,
}

const KNOWN: [&str; 20] = [
    "directory",
    "rw",
    "rwmixread",
    "bs",
    "numjobs",
    "iodepth",
    "luns",
    "size",
    "percent_of_size",
    "runtime",
    "ramp_time",
    "ioengine",
    "direct",
    "refill_buffers",
    "log_avg_msec",
    "loops",
    "verify",
    FLUSH,
    RATE,
    "rate_process",
];
/// After so many writes the job flushes.
const FLUSH: &str = "fsync";
/// What is read back is compared with. A checksum would also be right of what an earlier repeat wrote.
const MARKS: &str = "marks";
const PATTERNS: [&str; 6] = ["read", "write", "randread", "randwrite", "rw", "randrw"];

/// The engine that does nothing.
pub(super) const NULL_ENGINE: &str = "null";
/// What the jobs that read back are called.
const READ_BACK: &str = "readback";
/// Histograms of one repeat, of all jobs together: 120 MB of fio's memory.
const MOST_HISTOGRAMS: u128 = 8192;

/// Length of the windows of histograms, in milliseconds, for jobs that run so long, all their times together. fio keeps each histogram in
/// memory, 15 KB of it, until it ends; so the windows are as long as is needed for no more than [`MOST_HISTOGRAMS`].
pub(super) fn histogram_window_ms(jobs_ms: u128, directions: u128, log_average_ms: u32) -> u32 {
    let shortest = jobs_ms * directions / MOST_HISTOGRAMS;
    log_average_ms.max(u32::try_from(shortest).unwrap_or(u32::MAX))
}

/// The parameter, and fio's option, that limits the rate.
pub(super) const RATE: &str = "rate_iops";

const MEBIBYTE: u64 = 1 << 20;

/// The same numbers in every run: what is compared must not depend on luck.
const SEED: u32 = 20_210_617;

impl Job {
    /// Reads and checks the parameters.
    pub(super) fn of(scenario: &Scenario) -> Result<Self, JobError> {
        let read_later = scenario.ends_its_pool();
        if scenario.rate.is_none() || scenario.parameters.contains_key(RATE) {
            return Ok(Self { read_later, ..Self::read(&scenario.parameters)? });
        }
        // The rate is known only when the scenario that it is a share of has been measured. All else can be checked before.
        let mut values = scenario.parameters.clone();
        values.insert(RATE.into(), u32::MAX.to_string());
        Ok(Self { rate: None, read_later, ..Self::read(&values)? })
    }

    /// The same from the parameters alone.
    pub(super) fn read(values: &BTreeMap<String, String>) -> Result<Self, JobError> {
        let parameters = Parameters::of(values, "fio", &KNOWN)?;
        let block = parameters.size("bs", "4k")?;
        let size = parameters.size("size", "64MiB")? / MEBIBYTE * MEBIBYTE;
        if block < 512 || !block.is_multiple_of(512) {
            return Err(JobError::Block(block));
        }
        let region = (size as f64 * parameters.share("percent_of_size", "100%")?) as u64 / block * block;
        if region == 0 {
            return Err(JobError::Size { size, block });
        }
        let pattern = parameters.choice("rw", "randread", &PATTERNS)?;
        let verify =
            parameters.given("verify").map(|_| parameters.choice("verify", "", &[MARKS])).transpose()?.is_some();
        if verify && !pattern.ends_with("write") {
            return Err(JobError::VerifiesNoWrite(pattern.into()));
        }
        let jobs = parameters.count("numjobs", "1", 1..=1024)?;
        if verify && jobs > 1 {
            return Err(JobError::VerifiesJobs(jobs));
        }
        let luns = parameters.count("luns", "1", 1..=256)?;
        let (length, ramp) = length(&parameters, verify)?;
        let rate = rate(&parameters, pattern, jobs * luns)?;
        let engine = parameters.text("ioengine", "libaio");
        if engine.is_empty() || !engine.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)) {
            return Err(JobError::Engine(engine.into()));
        }
        let directory = parameters.given("directory").filter(|path| !path.is_empty()).map(str::to_owned);
        if let Some(directory) = directory.as_ref().filter(|directory| {
            !directory.starts_with('/')
                || directory.starts_with("/dev/")
                || directory.split('/').any(|name| name == "..")
        }) {
            return Err(JobError::Directory(directory.clone()));
        }
        directory.as_deref().map(file_name).transpose()?;
        Ok(Self {
            directory,
            pattern: pattern.into(),
            read_percent: parameters.count("rwmixread", "50", 0..=100)?,
            block,
            jobs,
            depth: parameters.count("iodepth", "1", 1..=65536)?,
            luns,
            size,
            region,
            length,
            ramp,
            verify,
            read_later: false,
            flush: parameters.given(FLUSH).map(|_| parameters.count(FLUSH, "", 1..=1_000_000)).transpose()?,
            rate,
            engine: engine.into(),
            direct: parameters.choice("direct", "1", &["0", "1"])? == "1",
            refill: parameters.choice("refill_buffers", "1", &["0", "1"])? == "1",
            log_average_ms: window_ms(parameters.count("log_avg_msec", "100", 10..=3_600_000)?, length),
        })
    }

    /// Whether it reads back itself what it wrote.
    pub(super) fn reads_back(&self) -> bool {
        self.verify && !self.read_later
    }

    /// Jobs of all LUNs together.
    pub(super) fn processes(&self) -> u32 {
        self.jobs * self.luns
    }

    /// The job file. The logs are called `logs_*.log` and lie where fio is started.
    pub(super) fn text(&self, place: &Place, logs: &str) -> Result<String, JobError> {
        let places: Vec<String> = match place.luns.is_empty() {
            true => self.files(place)?.into_iter().map(|path| format!("filename={path}")).collect(),
            false => self.of_target(&place.luns)?,
        };
        Ok(self.text_of(&places, &place.mark, logs))
    }

    /// The same for a target's LUNs that are no longer known: `${LUN1}` and so on stand for them, which fio takes from its environment.
    pub(super) fn text_of_lost_luns(&self, mark: &str, logs: &str) -> String {
        let option = if self.engine == "nbd" { "uri" } else { "filename" };
        let places: Vec<String> = (1..=self.luns).map(|number| format!("{option}=${{LUN{number}}}")).collect();
        self.text_of(&places, mark, logs)
    }

    /// With what the job file says of each LUN.
    fn text_of(&self, places: &[String], mark: &str, logs: &str) -> String {
        let truth = u32::from;
        let mut lines: Vec<String> = vec!["[global]".into()];
        let mut option = |name: &str, value: &str| lines.push(format!("{name}={value}"));
        option("ioengine", &self.engine);
        option("direct", &truth(self.direct).to_string());
        option("rw", &self.pattern);
        if matches!(self.pattern.as_str(), "rw" | "randrw") {
            option("rwmixread", &self.read_percent.to_string());
        }
        option("bs", &self.block.to_string());
        option("iodepth", &self.depth.to_string());
        option("numjobs", &self.jobs.to_string());
        option("filesize", &self.size.to_string());
        option("size", &self.region.to_string());
        // Writes go to what has been laid out before: otherwise the first repeats would measure how the file system
        // allocates, and the later ones something else.
        option("overwrite", "1");
        match self.length {
            Length::Time(time) => {
                option("time_based", "1");
                option("runtime", &format!("{}ms", time.as_millis()));
                // Without a map of what has been done a block may come twice and another never; with one, fio takes longer to choose.
                option("norandommap", "1");
            }
            Length::Loops(loops) => option("loops", &loops.to_string()),
        }
        if let Some(rate) = &self.rate {
            option(RATE, &rate.of_a_job.to_string());
            option("rate_process", &rate.process);
        }
        if self.verify {
            option("verify", "pattern");
            option("verify_fatal", "1");
            // What stands where something else was to stand, in files beside the report.
            option("verify_dump", "1");
        }
        if let Some(writes) = self.flush {
            option(FLUSH, &writes.to_string());
        }
        if !self.ramp.is_zero() {
            option("ramp_time", &format!("{}ms", self.ramp.as_millis()));
        }
        option("randrepeat", "1");
        option("randseed", &SEED.to_string());
        option("refill_buffers", &truth(self.refill).to_string());
        option("group_reporting", "1");
        // fio's job processes leave its process group (setsid), so the guard could not kill them. Threads die with fio.
        option("thread", "1");
        // A file for each job says which LUN a line is of.
        option("per_job_logs", "1");
        option("log_avg_msec", &self.log_average_ms.to_string());
        // The report says in Unix time when it was written; so the logs can be put on the machine's monotonic clock.
        option("log_unix_epoch", "1");
        let histogram_window_ms = self.histogram_window_ms();
        for kind in kinds(histogram_window_ms, self.log_average_ms) {
            option(&format!("write_{kind}_log"), logs);
        }
        if let Some(window) = histogram_window_ms {
            option("log_hist_msec", &window.to_string());
        }
        // What is verified is read back when all of it has been written, by jobs of its own: so both have figures of their own.
        let pattern = |lun| format!("verify_pattern={}\n", mark::pattern(mark, lun));
        for (lun, place) in places.iter().enumerate() {
            let writes =
                if self.verify { format!("rw={}\ndo_verify=0\n{}", self.pattern, pattern(lun)) } else { String::new() };
            let log = if self.read_later { format!("write_iolog={WRITES}lun{lun}\n") } else { String::new() };
            lines.push(format!("\n[lun{lun}]\n{writes}{log}{place}"));
        }
        for (lun, place) in places.iter().enumerate().filter(|_| self.reads_back()) {
            let after = if lun == 0 { "stonewall\n" } else { "" };
            lines.push(format!("\n[{READ_BACK}-lun{lun}]\n{after}rw=read\n{}{place}", pattern(lun)));
        }
        lines.join("\n") + "\n"
    }

    /// The job file that reads all of these LUNs' files, and goes on after what cannot be read or is not as it was written.
    pub(super) fn reading_again(&self, mark: &str, luns: &[String]) -> String {
        let mut text = format!(
            "[global]\nioengine=psync\ndirect={}\nrw=read\nbs={}\nfilesize={}\nsize={}\nthread=1\nverify=pattern\nverify_fatal=0\n\
             continue_on_error=all\nerror_dump=1\n",
            u32::from(self.direct),
            self.block,
            self.size,
            self.region
        );
        for (lun, path) in luns.iter().enumerate() {
            text += &format!("\n[lun{lun}]\nverify_pattern={}\nfilename={path}\n", mark::pattern(mark, lun));
        }
        text
    }

    /// Length of the windows of the histograms, in milliseconds, if there are any.
    pub(super) fn histogram_window_ms(&self) -> Option<u32> {
        let Length::Time(time) = self.length else { return None };
        let directions = if matches!(self.pattern.as_str(), "rw" | "randrw") { 2 } else { 1 };
        Some(histogram_window_ms(time.as_millis() * u128::from(self.processes()), directions, self.log_average_ms))
    }

    /// What the job file says of each LUN of a target.
    fn of_target(&self, luns: &[LunAddress]) -> Result<Vec<String>, JobError> {
        if luns.len() != self.luns as usize {
            return Err(JobError::Luns { wanted: self.luns, there: luns.len() });
        }
        let one = |lun: &LunAddress| match (lun, self.engine.as_str()) {
            (LunAddress::Path(path), _) => file_name(path).map(|path| format!("filename={path}")),
            (LunAddress::Nbd(uri), "nbd") => Ok(format!("uri={uri}")),
            // It opens nothing, and wants a name all the same.
            (LunAddress::Nbd(_), NULL_ENGINE) => Ok(format!("filename={NULL_ENGINE}")),
            (LunAddress::Nbd(_), engine) => Err(JobError::NoNbdEngine(engine.into())),
        };
        luns.iter().map(one).collect()
    }

    /// The LUNs' files, none where a target has LUNs. Scenarios with files of the same size use the same ones.
    pub(super) fn files(&self, place: &Place) -> Result<Vec<String>, JobError> {
        if !place.luns.is_empty() {
            return Ok(Vec::new());
        }
        let own = self.own_directory(place);
        let directory = own.as_deref().unwrap_or(&place.data);
        (0..self.luns).map(|lun| file_name(&format!("{directory}/stend-{}-lun{lun}", format_size(self.size)))).collect()
    }

    /// The run's own directory in the one that was given.
    pub(super) fn own_directory(&self, place: &Place) -> Option<String> {
        self.directory.as_ref().map(|directory| format!("{}/stend-{}", directory.trim_end_matches('/'), place.run))
    }

    /// The parameters in force, defaults included.
    pub(super) fn in_force(&self) -> Map<String, Value> {
        let mut map = Map::new();
        let mut put = |name: &str, value: Value| map.insert(name.into(), value);
        if let Some(directory) = &self.directory {
            put("directory", directory.as_str().into());
        }
        put("rw", self.pattern.as_str().into());
        if matches!(self.pattern.as_str(), "rw" | "randrw") {
            put("rwmixread", self.read_percent.into());
        }
        put("bs", self.block.into());
        put("numjobs", self.jobs.into());
        put("iodepth", self.depth.into());
        put("luns", self.luns.into());
        put("size", self.size.into());
        put("region", self.region.into());
        match self.length {
            Length::Time(time) => put("runtime", time.as_secs_f64().into()),
            Length::Loops(loops) => put("loops", loops.into()),
        };
        put("ramp_time", self.ramp.as_secs_f64().into());
        put("ioengine", self.engine.as_str().into());
        put("direct", u32::from(self.direct).into());
        put("refill_buffers", u32::from(self.refill).into());
        put("log_avg_msec", self.log_average_ms.into());
        if self.verify {
            put("verify", MARKS.into());
        }
        if let Some(writes) = self.flush {
            put(FLUSH, writes.into());
        }
        if let Some(rate) = &self.rate {
            put(RATE, (u64::from(rate.of_a_job) * u64::from(self.processes())).into());
            put("rate_process", rate.process.as_str().into());
        }
        map
    }
}

fn length(parameters: &Parameters, verified: bool) -> Result<(Length, Duration), JobError> {
    let loops = parameters.given("loops").map(|_| parameters.count("loops", "1", 1..=1_000_000)).transpose()?;
    if loops.is_some() || verified {
        for name in ["runtime", "ramp_time"] {
            if parameters.given(name).is_some() {
                let other = if loops.is_some() { "loops" } else { "verify" };
                return Err(JobError::TimeOfLoops { name, other });
            }
        }
        if let Some(loops) = loops.filter(|loops| verified && *loops > 1) {
            return Err(JobError::VerifiesLoops(loops));
        }
        return Ok((Length::Loops(loops.unwrap_or(1)), Duration::ZERO));
    }
    let (runtime, ramp) = (parameters.duration("runtime", "2s")?, parameters.duration("ramp_time", "0s")?);
    if runtime < Duration::from_millis(100) {
        return Err(JobError::Runtime(Span(runtime)));
    }
    Ok((Length::Time(runtime), ramp))
}

fn rate(parameters: &Parameters, pattern: &str, jobs: u32) -> Result<Option<Rate>, JobError> {
    let process = parameters.choice("rate_process", "poisson", &["poisson", "linear"])?;
    if parameters.given(RATE).is_none() {
        return match parameters.given("rate_process") {
            Some(_) => Err(JobError::NoRate),
            None => Ok(None),
        };
    }
    if matches!(pattern, "rw" | "randrw") {
        return Err(JobError::RateOfBoth(pattern.into()));
    }
    let wanted = parameters.count(RATE, "", 1..=u32::MAX)?;
    match wanted / jobs {
        0 => Err(JobError::Rate { rate: wanted, jobs }),
        of_a_job => Ok(Some(Rate { of_a_job, process: process.into() })),
    }
}

/// The length of a log's windows: what was asked for, or less, so that ten fit into a run that was scaled down.
fn window_ms(wanted: u32, length: Length) -> u32 {
    let Length::Time(time) = length else { return wanted };
    let tenth = u32::try_from(time.as_millis() / 10).unwrap_or(u32::MAX);
    wanted.min(tenth.max(10))
}

/// A path that fio's job files take as it is. fio splits names at colons, expands `$`, and hands backquotes to a shell.
pub(super) fn file_name(path: &str) -> Result<String, JobError> {
    match path.chars().find(|c| c.is_control() || ":$`\"'\\;#*?".contains(*c)) {
        Some(bad) => Err(JobError::Path { path: path.to_owned(), bad }),
        None => Ok(path.to_owned()),
    }
}
