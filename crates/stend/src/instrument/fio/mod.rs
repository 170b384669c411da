//! fio: block storage, as the articles on the Vostok storage system measured it.
//!
//! The job file comes from [`job`], fio's report is read by [`output`], its logs by [`logs`].
//!
//! | what | where it comes from |
//! |---|---|
//! | `wall_ns` | fio's `runtime`, which leaves out layout and `ramp_time`; milliseconds are its resolution |
//! | `cpu_ns` | fio's user + system time of its jobs over that same time. What the guard saw would hold layout and ramp too |
//! | `work` | `bytes` and `operations`; mixed loads add `read_bytes`, `write_bytes`, `read_operations`, `write_operations` |
//! | `observed` | `latency_mean_ns` is from submission to completion (fio's `lat`); `latency_p50_ns`, `latency_p99_ns`, `latency_p999_ns`, `latency_max_ns` are of the completion alone (`clat`), for which fio keeps a histogram |
//! | samples | `iops`, `bandwidth_bytes_per_s`, `latency_mean_ns`: fio's own averages over `log_avg_msec`, summed over the jobs (latency: the mean over the jobs) |
//!
//! The wire sends no rates; the samples are the exception, because fio's logs hold nothing else. They only draw curves:
//! every figure comes from work and time.
//!
//! The check is of counts: no error, no short or dropped operation, bytes = operations × block size. What was read is not
//! compared with what was written.

mod job;
mod logs;
mod output;

use std::collections::BTreeMap;

use serde_json::Map;
use stend_model::suite::Scenario;
use stend_model::wire::{Begin, Check, End, Event, Report, Sample, Usage, WIRE_VERSION};

use self::job::Job;
use self::logs::{Clock, Logs};
use self::output::{Direction, Group, Output};
use super::parameters::{ended_well, last_words};
use super::{Adapter, Finished, Invocation, Place, Tool};

/// fio, as an instrument.
pub(super) struct Fio;

const JOB_FILE: &str = "job.fio";
const REPORT_FILE: &str = "report.json";
const LOG_PREFIX: &str = "log";

/// Lays out the files that are not there yet, and becomes fio. A file gets its name only when all of it has been written:
/// one that was given up half-way would be read later as holes, at the speed of memory.
const SCRIPT: &str = r#"
size=$1 report=$2 job=$3
shift 3
for file; do
    if [ ! -e "$file" ]; then
        fio --name=layout --filename="$file.part" --rw=write --bs=1M --size="$size" --ioengine=psync --refill_buffers=1 \
            --end_fsync=1 --thread=1 --eta=never >/dev/null || { status=$?; rm -f "$file.part"; exit "$status"; }
        mv "$file.part" "$file" || exit
    fi
done
exec fio --eta=never --output-format=json+ --output="$report" "$job"
"#;

impl Adapter for Fio {
    fn name(&self) -> &'static str {
        "fio"
    }

    fn tool(&self) -> Tool {
        // Before 3.0 fio reported microseconds under other names.
        Tool { program: "fio", package: "fio", version_arguments: &["--version"], least: Some((3, 0)) }
    }

    fn check(&self, scenario: &Scenario) -> Result<(), String> {
        Job::of(scenario).map(drop)
    }

    fn files(&self, scenario: &Scenario, place: &Place) -> Result<BTreeMap<String, u64>, String> {
        let job = Job::of(scenario)?;
        Ok(job.files(place)?.into_iter().map(|path| (path, job.size)).collect())
    }

    fn invocation(&self, scenario: &Scenario, place: &Place) -> Result<Invocation, String> {
        let job = Job::of(scenario)?;
        let in_work = |name: &str| format!("{}/{name}", place.work);
        let text = job.text(place, LOG_PREFIX)?;
        Ok(Invocation {
            files: BTreeMap::from([(in_work(JOB_FILE), text.into_bytes().into())]),
            words: ["sh", "-c", SCRIPT, "stend-fio", &job.size.to_string(), &in_work(REPORT_FILE), &in_work(JOB_FILE)]
                .map(str::to_owned)
                .into_iter()
                .chain(job.files(place)?)
                .collect(),
            environment: BTreeMap::new(),
            leaves: job.own_directory(place).into_iter().collect(),
            results: [REPORT_FILE, "log_iops.*", "log_bw.*", "log_lat.*"].map(in_work).into(),
        })
    }

    fn translate(&self, scenario: &Scenario, finished: &Finished) -> Result<Vec<Event>, String> {
        let job = Job::of(scenario)?;
        let text = file(finished, REPORT_FILE).unwrap_or_else(|| finished.stdout.clone());
        let output = Output::parse(&text).map_err(|error| match ended_well("fio", finished) {
            // A fio that failed says so on standard error, and its report is then empty or cut off.
            Err(failure) => failure,
            Ok(()) => error,
        })?;
        let group = output.group()?;
        ended_well("fio", finished)?;
        let logs =
            ["iops", "bw", "lat"].map(|kind| file(finished, &format!("{LOG_PREFIX}_{kind}.log")).unwrap_or_default());
        let logs = Logs::parse(&logs[0], &logs[1], &logs[2], job.log_average_ms)?;
        let clock = Clock::new(&finished.usage, finished.started_ns, output.written_ms);
        let report = report(&job, group, &logs, &clock, finished)?;

        let mut events = vec![Event::Begin(begin(&job, &output, &logs, finished))];
        events.extend(logs.windows().into_iter().map(|(ms, values)| {
            Event::Sample(Sample { t_ns: clock.monotonic_ns(ms), metric: None, value: None, values })
        }));
        events.push(Event::Repeat(report));
        events.push(Event::End(End { repeats: 1 }));
        Ok(events)
    }
}

/// A result by its name, as text.
fn file(finished: &Finished, name: &str) -> Option<String> {
    let matches = |path: &str| path.rsplit('/').next() == Some(name);
    let (_, contents) = finished.files.iter().find(|(path, _)| matches(path))?;
    Some(String::from_utf8_lossy(contents).into_owned())
}

fn begin(job: &Job, output: &Output, logs: &Logs, finished: &Finished) -> Begin {
    let version = if output.version.is_empty() { finished.version.trim() } else { output.version.as_str() };
    let mut missing = BTreeMap::new();
    if logs.windows().is_empty() {
        missing.insert("series".into(), format!("no window of {} ms in fio's logs", job.log_average_ms));
    }
    Begin {
        wire: WIRE_VERSION,
        instrument: "fio".into(),
        version: Some(version.trim_start_matches("fio-").into()),
        t_ns: Some(finished.started_ns),
        build: BTreeMap::from([("fio".into(), version.into())]),
        parameters: job.in_force(),
        missing,
        unknown: Map::new(),
    }
}

fn report(job: &Job, group: &Group, logs: &Logs, clock: &Clock, finished: &Finished) -> Result<Report, String> {
    let directions = [("read", &group.read), ("write", &group.write)];
    let active: Vec<_> = directions.into_iter().filter(|(_, direction)| direction.total_ios >= 1.0).collect();
    let milliseconds = active.iter().map(|(_, direction)| direction.runtime).fold(0.0, f64::max);
    if milliseconds < 1.0 {
        // fio can end so with status 0 and error 0.
        return Err(format!("fio did no operation{}", last_words(&finished.stderr)));
    }
    let mut work = BTreeMap::new();
    for (name, direction) in &active {
        for (what, amount) in [("bytes", direction.io_bytes), ("operations", direction.total_ios)] {
            *work.entry(what.to_owned()).or_insert(0.0) += amount;
            if active.len() > 1 {
                work.insert(format!("{name}_{what}"), amount);
            }
        }
    }
    let (check, evidence) = verdict(job, &active, milliseconds);
    let wall_ns = (milliseconds * 1e6) as u64;
    let t_ns =
        logs.began_ms().map_or_else(|| clock.end_ns().saturating_sub_unsigned(wall_ns), |ms| clock.monotonic_ns(ms));
    Ok(Report {
        n: 0,
        t_ns: Some(t_ns),
        wall_ns,
        cpu_ns: Some(cpu_ns(group, &finished.usage)),
        work,
        observed: output::latencies(&active.iter().map(|(_, direction)| *direction).collect::<Vec<_>>()),
        check,
        evidence: Some(evidence),
        unknown: Map::new(),
    })
}

/// CPU time of the jobs while they were measured. fio gives it as a percentage of the sum of the jobs' run times.
fn cpu_ns(group: &Group, usage: &Usage) -> u64 {
    let own = (group.usr_cpu + group.sys_cpu) / 100.0 * group.job_runtime * 1e6;
    if own > 0.0 { (own as u64).min(usage.cpu_ns()) } else { usage.cpu_ns() }
}

/// Whether the counts agree, and which were compared.
fn verdict(job: &Job, active: &[(&str, &Direction)], milliseconds: f64) -> (Check, String) {
    // With a ramp, operations that were submitted in it and completed after it are in one count and not in the other.
    let in_flight = if job.ramp.is_zero() { 0.0 } else { f64::from(job.depth) * f64::from(job.processes()) };
    let mut passed = true;
    let mut evidence = Vec::new();
    for (name, direction) in active {
        let counted = direction.io_bytes / job.block as f64;
        let agree = (counted - direction.total_ios).abs() <= in_flight;
        let whole = direction.short_ios == 0.0 && direction.drop_ios == 0.0;
        passed &= agree && whole;
        evidence.push(format!(
            "{name}: {} operations of {} bytes, {} bytes counted{}, {} short, {} dropped",
            direction.total_ios,
            job.block,
            direction.io_bytes,
            if in_flight > 0.0 {
                format!(" (up to {in_flight} operations may have spanned the end of the ramp)")
            } else {
                String::new()
            },
            direction.short_ios,
            direction.drop_ios,
        ));
    }
    let wanted = job.runtime.as_secs_f64() * 1e3;
    if milliseconds < 0.9 * wanted {
        passed = false;
        evidence.push(format!("ran {milliseconds} ms of {wanted} ms"));
    }
    evidence.push("no error; counts only, the data are not compared".into());
    (if passed { Check::Passed } else { Check::Failed }, evidence.join("; "))
}

#[cfg(test)]
mod tests;
