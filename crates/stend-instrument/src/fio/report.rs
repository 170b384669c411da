//! From fio's groups of jobs to the repeat: work, time, latencies, and whether the work was right.

use std::collections::BTreeMap;

use serde_json::Map;
use stend_model::cause::Cause;
use stend_model::checked::Checked;
use stend_model::wire::{Check, Report, Usage};

use super::clock::Clock;
use super::file::{Does, JobFile};
use super::job::{Job, Length};
use super::logs::Logs;
use super::output::{self, Direction, Group, Output};
use super::words::first_words;
use crate::{Finished, LEAST_OF_RATE};

/// What is known beforehand of the work that is to be done.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected<'a> {
    /// `None` for a job file of the user's own, of which little is known.
    pub(super) job: Option<&'a Job>,
    /// Of a job file: what its sections do.
    pub(super) sections: Option<&'a JobFile>,
    /// Whether something breaks meanwhile. Then the load waits for it, and an open one is not open for so long.
    pub(super) breaks: bool,
}

/// What the report is made from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found<'a> {
    pub(super) output: &'a Output,
    pub(super) logs: &'a Logs,
    pub(super) clock: &'a Clock,
    pub(super) finished: &'a Finished,
}

impl Expected<'_> {
    /// The repeat.
    ///
    /// # Errors
    /// fio did nothing, or its report has groups of jobs that nobody asked for.
    pub(super) fn report(&self, found: &Found) -> Result<Report, Cause> {
        let Found { output, logs, clock, finished } = *found;
        let wrong = output.wrong_data(finished);
        let (measured, read_back) = self.parts(output.groups()?)?;
        let directions = directions(&measured);
        let milliseconds = longest_ms(&measured);
        if milliseconds < 1.0 {
            // fio can end so with status 0 and error 0.
            let idle = || Cause::FioIdle { said: first_words(&finished.stderr) };
            return Err(wrong.map_or_else(idle, |wrong| Cause::WorkWrong { evidence: wrong.into() }));
        }
        let mut work = BTreeMap::new();
        for (name, direction) in &directions {
            for (what, amount) in [("bytes", direction.io_bytes), ("operations", direction.total_ios)] {
                // Some engines move no data.
                if amount == 0.0 {
                    continue;
                }
                *work.entry(what.to_owned()).or_insert(0.0) += amount;
                if directions.len() > 1 {
                    work.insert(format!("{name}_{what}"), amount);
                }
            }
        }
        let mut observed = output::latencies(&directions.iter().map(|(_, direction)| direction).collect::<Vec<_>>());
        let cpu_ns = cpu_ns(&measured, &finished.usage);
        // Of a job file the time of reading back is in the jobs' CPU time.
        let reading_back = read_back.as_ref().filter(|_| self.job.is_none()).map_or(0.0, |read| read.runtime);
        observed.extend(
            loader_share(cpu_ns, milliseconds + reading_back, &finished.usage)
                .map(|share| ("loader_cpu_share".into(), share)),
        );
        let mut verdict = self.verdict(&directions, milliseconds, read_back.is_some());
        if let Some(read) = read_back {
            let written: f64 = directions.iter().map(|(_, direction)| direction.io_bytes).sum();
            observed.insert("verified_bytes".into(), read.io_bytes);
            observed.insert("verify_ns".into(), read.runtime * 1e6);
            if wrong.is_none() {
                // How much a job file is to read back, nobody knows.
                let right = self.job.is_none() || read.io_bytes == written;
                verdict.note(right, Checked::ReadBack { bytes: read.io_bytes, written });
            }
        }
        if let Some(wrong) = wrong {
            verdict.evidence.splice(0..0, wrong);
            verdict.passed = false;
        }
        let no_amount = |figure: f64| !figure.is_finite() || figure < 0.0;
        if let Some((name, figure)) = work.iter().chain(&observed).find(|(_, figure)| no_amount(**figure)) {
            return Err(Cause::FioFigure { name: name.clone(), figure: figure.to_string() });
        }
        let wall_ns = (milliseconds * 1e6) as u64;
        // What others used meanwhile is to be of the same operations.
        if let Some(span) = logs.began_ms().zip(logs.ended_ms()).map(|(began, ended)| (ended - began) * 1e6) {
            observed.insert("span_ns".into(), span);
        }
        // A load that had the time for windows and wrote none: fio was kept waiting, and may have ended long after it.
        let has_lost_windows =
            milliseconds >= 2.0 * logs.window_ms() && directions.iter().any(|(_, it)| it.io_bytes > 0.0);
        let by_the_end = || (!has_lost_windows).then(|| clock.end_ns().saturating_sub_unsigned(wall_ns));
        let t_ns = logs.began_ms().map(|ms| clock.monotonic_ns(ms)).or_else(by_the_end);
        Ok(Report {
            n: 0,
            t_ns,
            wall_ns,
            cpu_ns: Some(cpu_ns),
            work,
            observed,
            latencies: output::histograms(&directions),
            check: if verdict.passed { Check::Passed } else { Check::Failed },
            evidence: Some(verdict.evidence.into()),
            screens: BTreeMap::new(),
            unknown: Map::new(),
        })
    }

    /// The groups whose figures count, and what was read back after them.
    fn parts(&self, groups: &[Group]) -> Result<(Vec<Group>, Option<Direction>), Cause> {
        match (self.job, groups) {
            (Some(job), [written, read_back]) if job.reads_back() => {
                Ok((vec![written.clone()], Some(read_back.read.clone())))
            }
            (Some(job), [_]) if !job.reads_back() => Ok((groups.to_vec(), None)),
            (Some(job), groups) => {
                let wanted = if job.reads_back() { 2 } else { 1 };
                Err(Cause::FioGroups { count: groups.len(), wanted })
            }
            (None, groups) => {
                let mut measured = groups.to_vec();
                let does = |group: &Group| self.sections.map(|file| file.does(&group.jobname)).unwrap_or_default();
                measured.retain(|group| does(group) != Does::Nothing);
                for group in measured.iter_mut().filter(|group| does(group) == Does::Names) {
                    [&mut group.read, &mut group.write, &mut group.trim].into_iter().for_each(Direction::count_names);
                }
                let reads_back = |group: &&mut Group| {
                    self.sections.is_some_and(|file| file.reading_back.contains(&group.jobname))
                        && group.write.total_ios >= 1.0
                        && group.read.total_ios >= 1.0
                };
                let read: Vec<_> =
                    measured.iter_mut().filter(reads_back).map(|group| std::mem::take(&mut group.read)).collect();
                let read_back = (!read.is_empty()).then(|| Direction::together(read.iter()));
                Ok((measured, read_back))
            }
        }
    }

    /// Whether the counts agree, and which were compared.
    fn verdict(&self, directions: &[(&str, Direction)], milliseconds: f64, read_back: bool) -> Verdict {
        let mut verdict = Verdict { passed: true, evidence: Vec::new() };
        for (name, direction) in directions {
            let whole = direction.short_ios == 0.0 && direction.drop_ios == 0.0;
            let counts = |block| Checked::FioCounts {
                direction: (*name).to_owned(),
                operations: direction.total_ios,
                bytes: direction.io_bytes,
                block,
                short: direction.short_ios,
                dropped: direction.drop_ios,
            };
            let Some(job) = self.job else {
                verdict.note(whole, counts(None));
                continue;
            };
            // With a ramp, operations that were submitted in it and completed after it are in one count and not in the other.
            let in_flight = if job.ramp.is_zero() { 0.0 } else { f64::from(job.depth) * f64::from(job.processes()) };
            let agree = (direction.io_bytes / job.block as f64 - direction.total_ios).abs() <= in_flight;
            verdict.note(agree && whole || job.read_later, counts(Some(job.block)));
            verdict.evidence.extend((in_flight > 0.0).then_some(Checked::RampSpanned { operations: in_flight }));
        }
        let operations: f64 = directions.iter().map(|(_, direction)| direction.total_ios).sum();
        // One whose pool fails for good does as much as it can until then, and what that was worth is found out when it is read again.
        if self.job.is_some_and(|job| job.read_later) {
            return verdict;
        }
        if let Some(job) = self.job {
            verdict.length(job, directions, milliseconds);
            verdict.rate(job, operations / milliseconds * 1e3, self.breaks);
        }
        if !read_back {
            verdict.evidence.push(Checked::CountsOnly);
        }
        verdict
    }
}

struct Verdict {
    passed: bool,
    evidence: Vec<Checked>,
}

impl Verdict {
    fn note(&mut self, right: bool, checked: Checked) {
        self.passed &= right;
        self.evidence.push(checked);
    }

    /// Whether it worked as long as it was to.
    fn length(&mut self, job: &Job, directions: &[(&str, Direction)], milliseconds: f64) {
        match job.length {
            Length::Time(time) => {
                let wanted_ms = time.as_secs_f64() * 1e3;
                if milliseconds < 0.9 * wanted_ms {
                    self.note(false, Checked::TooShort { ms: milliseconds, wanted_ms });
                }
            }
            Length::Loops(loops) => {
                let wanted = job.region as f64 * f64::from(job.processes()) * f64::from(loops);
                let done: f64 = directions.iter().map(|(_, direction)| direction.io_bytes).sum();
                self.note(done == wanted, Checked::Loops { bytes: done, wanted, loops });
            }
        }
    }

    /// Whether an open load was open.
    fn rate(&mut self, job: &Job, reached: f64, breaks: bool) {
        let Some(rate) = &job.rate else { return };
        let asked = f64::from(rate.of_a_job) * f64::from(job.processes());
        let open = reached >= LEAST_OF_RATE * asked || breaks;
        self.note(open, Checked::Rate { reached: reached.round(), asked, open });
    }
}

/// What all groups together did, by direction; directions in which nothing was done are left out.
fn directions(groups: &[Group]) -> Vec<(&'static str, Direction)> {
    let together = |name, of: fn(&Group) -> &Direction| {
        let active = groups.iter().map(of).filter(|direction| direction.total_ios >= 1.0);
        (name, Direction::together(active))
    };
    let all = [
        together("read", |group| &group.read),
        together("write", |group| &group.write),
        together("trim", |group| &group.trim),
    ];
    all.into_iter().filter(|(_, direction)| direction.total_ios >= 1.0).collect()
}

/// How long the longest of the jobs worked, in milliseconds, which are fio's resolution.
pub(super) fn longest_ms(groups: &[Group]) -> f64 {
    directions(groups).iter().map(|(_, direction)| direction.runtime).fold(0.0, f64::max)
}

/// CPU time of the jobs while they were measured. fio gives it as a percentage of the sum of the jobs' run times.
fn cpu_ns(groups: &[Group], usage: &Usage) -> u64 {
    let of = |group: &Group| (group.usr_cpu + group.sys_cpu) / 100.0 * group.job_runtime * 1e6;
    let own: f64 = groups.iter().map(of).sum();
    if own > 0.0 { (own as u64).min(usage.cpu_ns()) } else { usage.cpu_ns() }
}

/// The share of the machine's CPU time that the jobs took while they were measured.
fn loader_share(cpu_ns: u64, milliseconds: f64, usage: &Usage) -> Option<f64> {
    let cpus = usage.machine.get("cpus").filter(|cpus| **cpus >= 1.0)?;
    Some(cpu_ns as f64 / (milliseconds * 1e6 * cpus))
}
