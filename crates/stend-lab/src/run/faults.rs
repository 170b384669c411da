//! A scenario's faults, each when its time has come, while the load runs.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

use stend_model::cause::Cause;
use stend_model::quantity::Span;
use stend_model::suite::{Action, Fault, Instrument, Part, Scenario};
use stend_model::wire::{Deed, Event, Label, Mark, MarkKind, parse_line};

use crate::rig::Injector;
use stend_stand::host::{Command, Happening, Host, Process};

/// Starting to rebuild a pool fails while what the load has written, and is not on the disks yet, holds space in it.
const MOST_TRIES: u32 = 10;
/// So long a pool has between two tries to write that out.
const BETWEEN_TRIES: Duration = Duration::from_secs(1);
/// How `btrfs scrub` ends where it found errors that it could not mend.
const SOME_NOT_MENDED: i32 = 3;
/// Of what a mending prints so much is kept, in bytes.
const MOST_TEXT: usize = 64 << 10;
/// A pool that is not mended so long after the load has ended never will be.
const LONGEST_REBUILDING: Duration = Duration::from_secs(3600);

/// The faults of one repeat.
pub(super) struct Faults<'a> {
    host: &'a dyn Host,
    probe: &'a str,
    injector: &'a Injector<'a>,
    /// When the load began, if it has.
    started: Option<Instant>,
    /// What is still to be done, in the order of time.
    due: VecDeque<Fault>,
    mending: Vec<Mending>,
    /// What has happened, and when.
    pub(super) marks: Vec<Mark>,
    /// What was seen of it: `disk3_write_io_errs`.
    pub(super) observed: BTreeMap<String, f64>,
    /// Why the repeat does not count, although it was measured.
    pub(super) causes: Vec<Cause>,
    /// Why the target is not whole any more.
    pub(super) broken: Option<Cause>,
}

/// A pool that mends itself: it is rebuilt onto a disk, or a disk of it is scrubbed.
struct Mending {
    disk: u32,
    action: Action,
    state: State,
    /// The last line of what went wrong.
    words: String,
    /// What it printed.
    text: String,
    tries: u32,
}

enum State {
    Running(Box<dyn Process>),
    /// It is tried again then.
    Waiting(Instant),
}

impl<'a> Faults<'a> {
    /// The faults of a scenario whose load is started now. A tool begins with its start; what prints the wire says when it begins.
    pub(super) fn of(scenario: &Scenario, host: &'a dyn Host, probe: &'a str, injector: &'a Injector<'a>) -> Self {
        Self {
            host,
            probe,
            injector,
            started: matches!(scenario.instrument, Instrument::Adapter(_)).then(Instant::now),
            due: scenario.faults.iter().copied().collect(),
            mending: Vec::new(),
            marks: Vec::new(),
            observed: BTreeMap::new(),
            causes: Vec::new(),
            broken: None,
        }
    }

    /// Sees in a line that the load prints whether it begins.
    pub(super) fn hear(&mut self, line: &str) {
        if self.started.is_none() && matches!(parse_line(line), Ok(Some(Event::Begin(_)))) {
            self.started = Some(Instant::now());
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
        while index < self.mending.len() {
            let process = match &mut self.mending[index].state {
                State::Running(process) => process,
                State::Waiting(until) => {
                    if Instant::now() >= *until {
                        let mending = self.mending.remove(index);
                        self.rebuild_again(mending);
                    }
                    index += 1;
                    continue;
                }
            };
            match process.next(Duration::ZERO) {
                Some(Happening::Line(line)) => {
                    let text = &mut self.mending[index].text;
                    if text.len() + line.len() < MOST_TEXT {
                        text.push_str(&String::from_utf8_lossy(&line));
                        text.push('\n');
                    }
                }
                Some(Happening::ErrorLine(line)) => {
                    let line = String::from_utf8_lossy(&line);
                    if !line.trim().is_empty() {
                        self.mending[index].words = line.trim().to_owned();
                    }
                }
                Some(Happening::Ended(exit)) => {
                    let mending = self.mending.remove(index);
                    match mending.action {
                        Action::Scrub => self.scrubbed(&mending, exit),
                        _ => self.rebuilt(mending, exit),
                    }
                }
                None => index += 1,
            }
        }
    }

    /// A pool that is being mended may not survive the next disk: that waits.
    fn is_time(&self, fault: &Fault) -> bool {
        let waits = matches!(fault.part, Part::Disk(_) | Part::Pool) && !self.mending.is_empty();
        self.started.is_some_and(|started| started.elapsed() >= fault.at.0) && !waits
    }

    /// The load has ended: mends what is still broken, and waits for it. `interrupted` says whether the user wants to end.
    pub(super) fn finish(&mut self, interrupted: &dyn Fn() -> bool) {
        for fault in &self.due {
            self.causes.push(Cause::FaultTooLate { fault: fault.deed(), at: fault.at });
        }
        // Of each part the first thing that is left to do says whether it is broken now.
        let mut seen = BTreeSet::new();
        for fault in std::mem::take(&mut self.due) {
            if seen.insert(fault.part) && fault.action.mends() && self.broken.is_none() {
                self.inject(&fault);
            }
        }
        let deadline = Instant::now() + LONGEST_REBUILDING;
        while !self.mending.is_empty() && !interrupted() {
            self.go_on();
            std::thread::sleep(Duration::from_millis(20));
            if Instant::now() > deadline {
                let (disk, limit) = (self.mending[0].disk, Span(LONGEST_REBUILDING));
                self.broken = Some(Cause::DiskNotMended { disk, limit });
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
            Err(error) => self.broken = Some(Cause::FaultFailed { fault: fault.deed(), said: error.to_string() }),
            Ok(None) => {
                let kind = if fault.action.mends() { MarkKind::Recovery } else { MarkKind::Fault };
                let t_ns = if fault.action.mends() { self.moment() } else { before };
                self.mark(t_ns, kind, fault.deed());
            }
            Ok(Some(process)) => {
                self.mark(before, MarkKind::Recovery, fault.deed());
                if let Part::Disk(disk) = fault.part {
                    let state = State::Running(process);
                    let (words, text) = (String::new(), String::new());
                    self.mending.push(Mending { disk, action: fault.action, state, words, text, tries: 1 });
                }
            }
        }
    }

    fn scrubbed(&mut self, ended: &Mending, exit: Option<i32>) {
        let disk = ended.disk;
        let text = &ended.text;
        let figures: BTreeMap<&str, f64> = text.lines().filter_map(scrub_figure).collect();
        if !matches!(exit, Some(0 | SOME_NOT_MENDED)) || figures.is_empty() {
            self.broken = Some(Cause::ScrubFailed { disk, said: ended.words.clone() });
            return;
        }
        let t_ns = self.moment();
        self.mark(t_ns, MarkKind::Recovery, Deed::ScrubEnds { disk });
        let lost = figures.get("uncorrectable_errors").copied().unwrap_or(0.0);
        if lost > 0.0 {
            self.causes.push(Cause::ScrubErrors { disk, errors: lost });
        }
        let named = figures.into_iter().map(|(name, count)| (format!("disk{disk}_scrub_{name}"), count));
        self.observed.extend(named);
    }

    fn rebuilt(&mut self, ended: Mending, exit: Option<i32>) {
        let Mending { disk, tries, .. } = ended;
        if exit == Some(0) {
            let t_ns = self.moment();
            self.mark(t_ns, MarkKind::Recovery, Deed::DiskRebuilt { disk });
            self.observed.insert(format!("disk{disk}_rebuild_attempts"), f64::from(tries));
            if let Err(error) = self.injector.renew(disk) {
                self.broken = Some(Cause::DiskNotRenewed { disk, said: error.to_string() });
            }
            return;
        }
        if tries < MOST_TRIES {
            let state = State::Waiting(Instant::now() + BETWEEN_TRIES);
            self.mending.push(Mending { state, ..ended });
            return;
        }
        self.broken = Some(if ended.words.contains("No space left") {
            Cause::RebuildFull { disk, tries }
        } else {
            Cause::RebuildFailed { disk, tries, said: ended.words }
        });
    }

    fn rebuild_again(&mut self, ended: Mending) {
        let disk = ended.disk;
        let fault = Fault { at: Span(Duration::ZERO), part: Part::Disk(disk), action: Action::Replace };
        match self.injector.inject(&fault) {
            Ok(Some(process)) => {
                let state = State::Running(process);
                self.mending.push(Mending { state, tries: ended.tries + 1, ..ended });
            }
            Ok(None) => {}
            Err(error) => {
                self.broken = Some(Cause::RebuildFailed { disk, tries: ended.tries, said: error.to_string() });
            }
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
            Err(error) => self.causes.push(Cause::ErrorsUnread { disk, said: error.to_string() }),
        }
    }

    fn mark(&mut self, t_ns: Option<i64>, kind: MarkKind, deed: Deed) {
        match t_ns {
            Some(t_ns) => self.marks.push(Mark { t_ns, kind, label: Label::Deed(deed) }),
            None => self.causes.push(Cause::MomentUnknown { fault: deed }),
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

/// A line of `btrfs scrub start -R` that counts errors: `csum_errors: 12`.
fn scrub_figure(line: &str) -> Option<(&str, f64)> {
    let (name, count) = line.trim().split_once(": ")?;
    let known = ["read_errors", "csum_errors", "verify_errors", "uncorrectable_errors", "corrected_errors"];
    known.contains(&name).then(|| Some((name, count.trim().parse().ok()?)))?
}
