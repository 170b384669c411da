//! fio: block storage, as the articles on the Vostok storage system measured it.
//!
//! The job file comes from [`job`], or is the user's own ([`file`], [`suite`]); fio's report is read by [`json`] and [`output`], its logs by
//! [`logs`] and [`histogram`]; [`report`] makes the repeat of it.
//!
//! | what | where it comes from |
//! |---|---|
//! | `wall_ns` | fio's `runtime`, which leaves out layout and `ramp_time`; milliseconds are its resolution |
//! | `cpu_ns` | fio's user + system time of its jobs over that same time. What the guard saw would hold layout and ramp too |
//! | `work` | `bytes` and `operations`; mixed loads add `read_bytes`, `write_bytes`, `read_operations`, `write_operations` |
//! | `observed` | `latency_mean_ns` is from submission to completion (fio's `lat`); `latency_p50_ns`, `latency_p99_ns`, `latency_p999_ns`, `latency_max_ns` are of the completion alone (`clat`), for which fio keeps a histogram |
//! | `latencies` | fio's bins of `clat`, all jobs put together: `latency`, and of mixed loads also `read_latency` and so on |
//! | samples | `iops`, `bandwidth_bytes_per_s`: fio's own averages over `log_avg_msec`, summed over the jobs. `latency_mean_ns`, `latency_p50_ns`, `latency_p99_ns`, `latency_p999_ns`, `latency_max_ns`: of the completion, from the histograms of all jobs put together, those of job files too; the mean by direction, and where there are no histograms as fine as the windows from fio's own averages. Each also as `lun0.…` where there are several LUNs |
//!
//! `observed.span_ns` is from the beginning of the first job to the last completion of all: where a machine starts hundreds of jobs slowly it is
//! longer than `wall_ns`, which is the longest job's.
//!
//! The wire sends no rates; the samples are the exception, because fio's logs hold nothing else. They only draw curves:
//! every figure comes from work and time.
//!
//! The check is of counts: no error, no short or dropped operation, bytes = operations × block size. What was read is compared with what was
//! written only where `verify` asks for it.

mod clock;
mod file;
mod histogram;
mod job;
mod json;
mod logs;
mod lost;
mod mark;
mod needs;
mod output;
mod report;
mod set;
pub mod suite;
mod words;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Map, Value};
use stend_model::cause::Cause;
use stend_model::checked::Checked;
use stend_model::checked::Stood;
use stend_model::run::{Repeat, Run};
use stend_model::suite::Scenario;
use stend_model::target::Target;
use stend_model::wire::{Begin, End, Event, Sample, WIRE_VERSION};
use thiserror::Error;

use self::clock::Clock;
use self::file::{Does, FileError, JobFile};
use self::job::{Job, JobError, Length};
use self::logs::{Layout, Logs};
use self::output::Output;
use self::report::{Expected, Found};
pub(super) use self::words::has_engine;
use self::words::{ended_well, lasts, no_engine};
use super::parameters::not_taken;
use super::{
    Adapter, AdapterError, Block, File, Files, Finished, Invocation, Losses, Package, Place, Remains, Tool, mark_of,
};
use stend_stand::host::Command;

/// What is wrong with a scenario for fio.
#[derive(Debug, Error)]
pub enum FioError {
    /// The parameters of a load of stend's own.
    #[error(transparent)]
    Job(#[from] JobError),
    /// A job file of the user's own.
    #[error(transparent)]
    File(#[from] FileError),
}

/// fio, as an instrument.
pub(super) struct Fio;

const JOB_FILE: &str = "job.fio";
const REPORT_FILE: &str = "report.json";
const LOG_PREFIX: &str = "log";
/// What was read where something else was expected: this, the file's name and the offset.
const RECEIVED: &str = "received.";
const EXPECTED: &str = "expected.";

/// Lays out the files that are not there yet, and starts fio in the directory that is given. A file gets its name only when all of it has
/// been written: one that was given up half-way would be read later as holes, at the speed of memory.
const SCRIPT: &str = r#"
report=$1 directory=$2 size=$3 files=$4
shift 4
while [ "$files" -gt 0 ]; do
    if [ ! -e "$1" ]; then
        fio --name=layout --filename="$1.part" --rw=write --bs=1M --size="$size" --ioengine=psync --refill_buffers=1 \
            --end_fsync=1 --thread=1 --eta=never >/dev/null || { status=$?; rm -f "$1.part"; exit "$status"; }
        mv "$1.part" "$1" || exit
    fi
    files=$((files - 1))
    shift
done
cd "$directory" || exit
fio --eta=never --output-format=json+ --output="$report" "$@"
status=$?
# What fio read where it should have read something else, and what that is; its own names begin with those of files.
for kind in received expected; do
    for dump in *."$kind"; do
        [ ! -f "$dump" ] || mv "$dump" "$kind.${dump%.*}"
    done
done
[ "$status" -le 128 ] || kill -"$((status - 128))" $$
exit "$status"
"#;

/// What a scenario asks of fio.
enum Load {
    /// A load that its parameters describe.
    Own(Job),
    /// A job file of the user's own.
    File(JobFile),
}

impl Load {
    fn of(scenario: &Scenario) -> Result<Self, FioError> {
        Ok(if scenario.parameters.contains_key(file::TEXT) {
            Self::File(JobFile::of(scenario)?)
        } else {
            Self::Own(Job::of(scenario)?)
        })
    }

    fn files(&self, place: &Place) -> Result<Vec<String>, FioError> {
        Ok(match self {
            Self::Own(job) => job.files(place)?,
            Self::File(file) => file.files(place)?,
        })
    }

    /// Where the user wants the LUNs, if anywhere.
    fn directory(&self) -> Option<&String> {
        match self {
            Self::Own(job) => job.directory.as_ref(),
            Self::File(file) => file.directory(),
        }
    }

    fn size(&self) -> u64 {
        match self {
            Self::Own(job) => job.size,
            Self::File(file) => file.size(),
        }
    }

    fn layout(&self) -> Layout {
        match self {
            Self::Own(job) => Layout {
                jobs_of_a_lun: Some(job.jobs),
                luns: job.luns,
                window_ms: job.log_average_ms,
                histogram_window_ms: job.histogram_window_ms().unwrap_or(job.log_average_ms),
                together_ms: match job.length {
                    Length::Time(time) => u32::try_from(time.as_millis()).ok(),
                    Length::Loops(_) => None,
                },
                measured: None,
            },
            Self::File(file) => Layout {
                jobs_of_a_lun: None,
                luns: file.luns,
                window_ms: file.log_average_ms,
                histogram_window_ms: file.histogram_window_ms,
                together_ms: None,
                measured: None,
            },
        }
    }
}

impl Adapter for Fio {
    fn name(&self) -> &'static str {
        "fio"
    }

    fn tool(&self) -> Option<Tool> {
        // Before 3.0 fio reported microseconds under other names.
        Some(Tool {
            program: "fio",
            package: Package::Debian("fio"),
            version_arguments: &["--version"],
            least: Some((3, 0)),
        })
    }

    fn starts(&self, scenario: &Scenario) -> Vec<String> {
        let of_file = suite::job_file_of(scenario).and_then(|file| file.commands().ok()).unwrap_or_default();
        let of_file = of_file.into_iter().map(|(_, key, value)| format!("{key}={value}"));
        [self.name().to_owned()].into_iter().chain(of_file).collect()
    }

    fn check(&self, scenario: &Scenario) -> Result<(), AdapterError> {
        Load::of(scenario)?;
        Ok(())
    }

    fn abilities(&self, _: &Scenario, program: &str, _work: &str) -> Option<Vec<String>> {
        Some([program, "--enghelp"].map(str::to_owned).into())
    }

    fn lacks(&self, scenario: &Scenario, said: &str) -> Option<Cause> {
        let engines = match Load::of(scenario).ok()? {
            Load::Own(job) => BTreeSet::from([job.engine]),
            Load::File(file) => file.engines(),
        };
        engines.into_iter().find_map(|engine| no_engine(&engine, said))
    }

    fn question(&self, scenario: &Scenario, place: &Place) -> Result<Option<Command>, AdapterError> {
        match Load::of(scenario)? {
            Load::Own(_) => Ok(None),
            Load::File(file) => {
                let files = file.files(place).map_err(FioError::from)?;
                let paths = file::paths(place, &files).map_err(FioError::from)?;
                Ok(Some(needs::question(&file.text, file.readonly, file::variables(&paths))))
            }
        }
    }

    fn files(&self, scenario: &Scenario, place: &Place, answer: &str) -> Result<BTreeMap<String, File>, AdapterError> {
        let load = Load::of(scenario)?;
        let own = load.files(place)?;
        let mut files = match &load {
            Load::Own(_) => BTreeMap::new(),
            Load::File(file) => needs::files(answer, &file.sections, &place.data),
        };
        // Only the last directory of the path is made: one that is missing before it is a mistake in typing.
        let directory = load.directory().map(|directory| needs::parent(directory).to_owned());
        let by = load.directory().map(|directory| format!("directory={directory}")).unwrap_or_default();
        for path in own {
            let file = files.entry(path).or_default();
            let bytes = file.bytes.max(load.size());
            *file = File { bytes, by: by.clone(), directory: directory.clone(), ..File::default() };
        }
        Ok(files)
    }

    fn invocation(&self, scenario: &Scenario, place: &Place) -> Result<Invocation, Cause> {
        invocation(scenario, place).map_err(not_taken)
    }

    fn reading_again(&self, scenario: &Scenario, place: &Place, luns: &[String]) -> Result<Invocation, Cause> {
        let job = Job::of(scenario).map_err(not_taken)?;
        let [text, said, report] =
            [lost::JOB_FILE, lost::SAID, lost::REPORT].map(|name| format!("{}/{name}", place.work));
        Ok(Invocation {
            words: ["sh", "-c", lost::SCRIPT, "stend-fio", &text, &said, &report].map(str::to_owned).into(),
            files: BTreeMap::from([(text, Cow::Owned(job.reading_again(&place.mark, luns).into_bytes()))]),
            results: vec![said, report],
            ..Invocation::default()
        })
    }

    fn losses(&self, scenario: &Scenario, load: &Files, remains: Remains<'_>) -> Result<Losses, Cause> {
        lost::losses(scenario, &Job::of(scenario).map_err(not_taken)?, load, remains)
    }

    fn what_stands(&self, place: &Place, block: Block, found: &[u8]) -> Checked {
        let Block { lun, offset, bytes } = block;
        let what = match found {
            [] => Stood::Unreadable,
            found => mark::what_stands(found, &mark::block(&place.mark, lun, offset, bytes as usize)),
        };
        Checked::Stands { file: format!("lun{lun}"), offset, what }
    }

    fn job(&self, run: &Run, scenario: &Scenario, repeat: &Repeat) -> Option<String> {
        let directory = repeat.command.last()?.strip_suffix(JOB_FILE)?.strip_suffix('/')?.rsplit_once('/')?.0;
        let mut scenario = Cow::Borrowed(scenario);
        // The rate that is a share of another scenario's is known only to the repeat.
        let rate = repeat.begin.as_ref().and_then(|begin| begin.parameters.get(job::RATE)).and_then(Value::as_u64);
        if let Some(rate) = rate.filter(|_| !scenario.parameters.contains_key(job::RATE)) {
            scenario.to_mut().parameters.insert(job::RATE.into(), rate.to_string());
        }
        match Load::of(&scenario).ok()? {
            Load::Own(job) if scenario.rate.is_some() && job.rate.is_none() => None,
            Load::Own(job) if run.target.is_some() => {
                Some(job.text_of_lost_luns(&mark_of(&run.id, repeat.sequence as usize, 0), LOG_PREFIX))
            }
            // The run that made the repeat; `run` may be several that are taken together.
            Load::Own(job) => {
                let run = directory.rsplit('/').next()?;
                let mark = mark_of(run, repeat.sequence as usize, 0);
                job.text(&Place { mark, ..Place::of(run, directory) }, LOG_PREFIX).ok()
            }
            Load::File(file) => Some(file.text),
        }
    }

    fn own_report(&self) -> Option<&'static str> {
        Some(REPORT_FILE)
    }

    fn lasts(&self, cause: &Cause, finished: &Finished) -> bool {
        lasts(cause, finished)
    }

    fn translate(&self, scenario: &Scenario, finished: &Finished) -> Result<Vec<Event>, Cause> {
        let load = Load::of(scenario).map_err(not_taken)?;
        let text = file(finished, REPORT_FILE).unwrap_or_else(|| finished.stdout.clone().into());
        let mut output = Output::parse(&text).map_err(|error| match ended_well(finished) {
            // A fio that failed says so on standard error, and its report is then empty or cut off.
            Err(failure) => failure,
            Ok(()) => error,
        })?;
        let fails = scenario.ends_its_pool();
        if fails {
            output.forgive();
        }
        let groups = output.groups()?;
        if !fails && output.wrong_data(finished).is_none() {
            ended_well(finished)?;
        }
        let mut layout = load.layout();
        if let (Load::Own(job), Some(group)) = (&load, groups.first()) {
            layout.measured = Some((job.processes(), report::longest_ms(std::slice::from_ref(group))));
        }
        // Logs have the jobs' numbers, and what fio counts of jobs that only take processor time means nothing.
        let idle: BTreeSet<_> = (1..)
            .zip(groups)
            .filter(|(_, group)| matches!(&load, Load::File(file) if file.does(&group.jobname) == Does::Nothing))
            .map(|(number, _): (u32, _)| number.to_string())
            .collect();
        let logs: Vec<_> = finished
            .files
            .iter()
            .filter_map(|(path, contents)| Some((path.rsplit('/').next()?, String::from_utf8_lossy(contents))))
            .filter(|(name, _)| {
                name.starts_with(LOG_PREFIX) && !idle.contains(name.split('.').nth(1).unwrap_or_default())
            })
            .collect();
        let logs = Logs::parse(logs.iter().map(|(name, text)| (*name, &**text)), &layout)?;
        let window_ms = f64::from(layout.window_ms);
        let clock = Clock::new(&finished.usage, finished.started_ns, output.written_ms, logs.logged_ms(), window_ms);
        let breaks = !scenario.faults.is_empty();
        let expected = match &load {
            Load::Own(job) => Expected { job: Some(job), sections: None, breaks },
            Load::File(file) => Expected { job: None, sections: Some(file), breaks },
        };
        let report = expected.report(&Found { output: &output, logs: &logs, clock: &clock, finished })?;

        let windows = logs.windows();
        let mut begin = begin(&load, &output, finished);
        if windows.is_empty() {
            let window = stend_model::quantity::Span(Duration::from_millis(layout.window_ms.into()));
            begin.missing.insert("series".into(), Cause::NoWindow { window }.into());
        }
        begin.missing.extend(clock.complaint().map(|cause| ("clock".to_owned(), cause.into())));
        let mut events = vec![Event::Begin(begin)];
        events.extend(windows.into_iter().map(|(ms, values)| {
            Event::Sample(Sample { t_ns: clock.monotonic_ns(ms), metric: None, value: None, values })
        }));
        events.push(Event::Repeat(report));
        events.push(Event::End(End { repeats: 1 }));
        Ok(events)
    }
}

fn invocation(scenario: &Scenario, place: &Place) -> Result<Invocation, FioError> {
    let load = Load::of(scenario)?;
    let in_work = |name: &str| format!("{}/{name}", place.work);
    let files = load.files(place)?;
    let (text, directory, leaves, options, environment) = match &load {
        Load::Own(job) => {
            (job.text(place, LOG_PREFIX)?, &place.work, job.own_directory(place), Vec::new(), BTreeMap::new())
        }
        // Files that it names without a directory are to outlive the repeat.
        Load::File(file) => {
            let options = file.options(&in_work(LOG_PREFIX))?;
            (
                file.text.clone(),
                &place.data,
                file.own_directory(place),
                options,
                file::variables(&file::paths(place, &files)?),
            )
        }
    };
    let count = files.len().to_string();
    let words = ["sh", "-c", SCRIPT, "stend-fio", &in_work(REPORT_FILE), directory, &load.size().to_string(), &count];
    Ok(Invocation {
        before: Vec::new(),
        after: Vec::new(),
        files: BTreeMap::from([(in_work(JOB_FILE), Cow::Owned(text.into_bytes()))]),
        words: words.map(str::to_owned).into_iter().chain(files).chain(options).chain([in_work(JOB_FILE)]).collect(),
        environment,
        leaves: leaves.into_iter().collect(),
        results: [
            REPORT_FILE,
            "log_iops.*",
            "log_bw.*",
            "log_clat.*",
            "log_clat_hist.*",
            &format!("{RECEIVED}*"),
            &format!("{EXPECTED}*"),
            &format!("{}*", lost::WRITES),
        ]
        .map(in_work)
        .into(),
    })
}

/// Fits a scenario to the LUNs of a target.
pub(super) fn fit_to_luns(scenario: &mut Scenario, target: &Target) -> Result<(), FioError> {
    let parameters = &mut scenario.parameters;
    if let Some(size) = target.lun_size {
        parameters.insert("size".into(), size.to_string());
    }
    if parameters.contains_key(file::TEXT) {
        return Ok(JobFile::of(scenario)?.fits(target)?);
    }
    parameters.insert("luns".into(), target.luns.to_string());
    // The null engine is what the others are held against, and reaches nothing.
    if target.behind_nbd() && parameters.get("ioengine").is_none_or(|engine| engine != job::NULL_ENGINE) {
        parameters.insert("ioengine".into(), "nbd".into());
    }
    Job::of(scenario)?;
    Ok(())
}

/// A result by its name, as text.
fn file<'a>(finished: &'a Finished, name: &str) -> Option<Cow<'a, str>> {
    let matches = |path: &str| path.rsplit('/').next() == Some(name);
    let (_, contents) = finished.files.iter().find(|(path, _)| matches(path))?;
    Some(String::from_utf8_lossy(contents))
}

fn begin(load: &Load, output: &Output, finished: &Finished) -> Begin {
    let version = if output.version.is_empty() { finished.version.trim() } else { output.version.as_str() };
    let parameters = match load {
        Load::Own(job) => job.in_force(),
        Load::File(file) => Map::from_iter([
            ("sections".to_owned(), file.sections.clone().into()),
            ("luns".to_owned(), file.luns.into()),
            ("size".to_owned(), file.size().into()),
        ]),
    };
    Begin {
        wire: WIRE_VERSION,
        instrument: "fio".into(),
        version: Some(version.trim_start_matches("fio-").into()),
        t_ns: Some(finished.started_ns),
        build: BTreeMap::from([("fio".into(), version.into())]),
        parameters,
        missing: BTreeMap::new(),
        unknown: Map::new(),
    }
}

#[cfg(test)]
mod tests;
