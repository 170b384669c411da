//! A scenario's faults, each when its time has come, while the load runs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use stend_model::suite::{Action, Fault, Part, Scenario};
use stend_model::wire::{Event, Mark, MarkKind, parse_line};

use crate::host::{Command, Happening, Host, Process};
use crate::target::Injector;

/// Starting to rebuild a pool fails while what the load has written, and is not on the disks yet, holds space in it.
const MOST_TRIES: u32 = 10;
/// So long a pool has between two tries to write that out.
const BETWEEN_TRIES: Duration = Duration::from_secs(1);
/// A pool that is not rebuilt so long after the load has ended never will be.
const LONGEST_REBUILDING: Duration = Duration::from_secs(3600);

/// The faults of one repeat.
pub(super) struct Faults<'a> {
    host: &'a dyn Host,
    probe: &'a str,
    injector: &'a Injector<'a>,
    started: Instant,
    /// What is still to be done, in the order of time.
    due: VecDeque<Fault>,
    rebuilding: Vec<Rebuilding>,
    /// What has happened, and when.
    pub(super) marks: Vec<Mark>,
    /// What was seen of it: `disk3_write_io_errs`.
    pub(super) observed: BTreeMap<String, f64>,
    /// Why the repeat does not count, although it was measured.
    pub(super) reasons: Vec<String>,
    /// Why the target is not whole any more.
    pub(super) broken: Option<String>,
}

struct Rebuilding {
    disk: u32,
    state: State,
    words: String,
    tries: u32,
}

enum State {
    Running(Box<dyn Process>),
    /// It is tried again then.
    Waiting(Instant),
}

impl<'a> Faults<'a> {
    /// The faults of a scenario whose load starts now.
    pub(super) fn begin(scenario: &Scenario, host: &'a dyn Host, probe: &'a str, injector: &'a Injector<'a>) -> Self {
        Self {
            host,
            probe,
            injector,
            started: Instant::now(),
            due: scenario.faults.iter().copied().collect(),
            rebuilding: Vec::new(),
            marks: Vec::new(),
            observed: BTreeMap::new(),
            reasons: Vec::new(),
            broken: None,
        }
    }

    /// Does what is due, and looks how what goes on by itself is getting on.
    pub(super) fn go_on(&mut self) {
        while self.broken.is_none()
            && let Some(fault) = self.due.front().copied().filter(|fault| self.is_time(fault))
        {
            self.due.pop_front();
            self.inject(&fault);
        }
        let mut index = 0;
        while index < self.rebuilding.len() {
            let process = match &mut self.rebuilding[index].state {
                State::Running(process) => process,
                State::Waiting(until) => {
                    if Instant::now() >= *until {
                        let rebuilding = self.rebuilding.remove(index);
                        self.rebuild_again(rebuilding);
                    }
                    index += 1;
                    continue;
                }
            };
            match process.next(Duration::ZERO) {
                Some(Happening::Line(_)) => {}
                Some(Happening::ErrorLine(line)) => {
                    let line = String::from_utf8_lossy(&line);
                    if !line.trim().is_empty() {
                        self.rebuilding[index].words = line.trim().to_owned();
                    }
                }
                Some(Happening::Ended(exit)) => {
                    let rebuilding = self.rebuilding.remove(index);
                    self.rebuilt(rebuilding, exit);
                }
                None => index += 1,
            }
        }
    }

    /// A pool that is being rebuilt does not survive the next disk: that waits.
    fn is_time(&self, fault: &Fault) -> bool {
        let waits = matches!(fault.part, Part::Disk(_)) && !self.rebuilding.is_empty();
        self.started.elapsed() >= fault.at.0 && !waits
    }

    /// The load has ended: mends what is still broken, and waits for it. `interrupted` says whether the user wants to end.
    pub(super) fn finish(&mut self, interrupted: &dyn Fn() -> bool) {
        for fault in &self.due {
            self.reasons.push(format!(
                "the load ended before \"{fault}\" at {}; let it run longer, or let that happen earlier",
                fault.at
            ));
        }
        // Of each part the first thing that is left to do says whether it is broken now.
        let mut seen = BTreeSet::new();
        for fault in std::mem::take(&mut self.due) {
            if seen.insert(fault.part) && fault.action.mends() && self.broken.is_none() {
                self.inject(&fault);
            }
        }
        let deadline = Instant::now() + LONGEST_REBUILDING;
        while !self.rebuilding.is_empty() && !interrupted() {
            self.go_on();
            std::thread::sleep(Duration::from_millis(20));
            if Instant::now() > deadline {
                self.broken = Some(format!("disk {} was not rebuilt within an hour", self.rebuilding[0].disk));
                return;
            }
        }
    }

    fn inject(&mut self, fault: &Fault) {
        // What a fault does shows after its mark; what mends shows before it, but for a rebuilding, which begins with it.
        let before = self.moment();
        if let (Part::Disk(disk), Action::Replace) = (fault.part, fault.action) {
            self.count_errors(disk);
        }
        match self.injector.inject(fault) {
            Err(reason) => self.broken = Some(format!("\"{fault}\" failed: {reason}")),
            Ok(None) => {
                let kind = if fault.action.mends() { MarkKind::Recovery } else { MarkKind::Fault };
                let t_ns = if fault.action.mends() { self.moment() } else { before };
                self.mark(t_ns, kind, fault.to_string());
            }
            Ok(Some(process)) => {
                self.mark(before, MarkKind::Recovery, fault.to_string());
                if let Part::Disk(disk) = fault.part {
                    let state = State::Running(process);
                    self.rebuilding.push(Rebuilding { disk, state, words: String::new(), tries: 1 });
                }
            }
        }
    }

    fn rebuilt(&mut self, ended: Rebuilding, exit: Option<i32>) {
        let Rebuilding { disk, words, tries, .. } = ended;
        if exit == Some(0) {
            let t_ns = self.moment();
            self.mark(t_ns, MarkKind::Recovery, format!("disk {disk} rebuilt"));
            self.observed.insert(format!("disk{disk}_rebuild_attempts"), f64::from(tries));
            if let Err(reason) = self.injector.renew(disk) {
                self.broken = Some(format!("the disk that was disk {disk} cannot be used again: {reason}"));
            }
            return;
        }
        if tries < MOST_TRIES {
            let state = State::Waiting(Instant::now() + BETWEEN_TRIES);
            self.rebuilding.push(Rebuilding { disk, state, words, tries });
            return;
        }
        let hint = if words.contains("No space left") {
            "; btrfs needs space that no LUN takes on each disk to rebuild: make the LUNs smaller"
        } else {
            ""
        };
        self.broken = Some(format!("disk {disk} cannot be rebuilt, tried {tries} times: {words}{hint}"));
    }

    fn rebuild_again(&mut self, ended: Rebuilding) {
        let Rebuilding { disk, words, tries, .. } = ended;
        let fault =
            Fault { at: stend_model::quantity::Span(Duration::ZERO), part: Part::Disk(disk), action: Action::Replace };
        match self.injector.inject(&fault) {
            Ok(Some(process)) => {
                let state = State::Running(process);
                self.rebuilding.push(Rebuilding { disk, state, words, tries: tries + 1 });
            }
            Ok(None) => {}
            Err(reason) => self.broken = Some(format!("disk {disk} cannot be rebuilt: {reason}")),
        }
    }

    fn count_errors(&mut self, disk: u32) {
        // Counters of its successor begin at 0, so they are read before it comes.
        match self.injector.errors(disk) {
            Ok(counts) => {
                for (name, count) in counts {
                    *self.observed.entry(format!("disk{disk}_{name}")).or_default() += count;
                }
            }
            Err(reason) => self.reasons.push(format!("nobody says how many errors disk {disk} had: {reason}")),
        }
    }

    fn mark(&mut self, t_ns: Option<i64>, kind: MarkKind, label: String) {
        match t_ns {
            Some(t_ns) => self.marks.push(Mark { t_ns, kind, label }),
            None => self.reasons.push(format!("nobody says when \"{label}\" was")),
        }
    }

    /// Now, by the machine's own `CLOCK_MONOTONIC`, which the guard of an empty command tells.
    fn moment(&self) -> Option<i64> {
        let output = self.host.run(&Command::new([self.probe, "guard", "--", "true"])).ok()?;
        output.text().lines().find_map(|line| match parse_line(line) {
            Ok(Some(Event::Usage(usage))) => usage.t_ns,
            _ => None,
        })
    }
}
