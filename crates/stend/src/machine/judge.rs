//! Judges what would disturb a measurement, from texts alone.

use serde::Serialize;
use stend_model::suite::{Gate, Gates};

use super::cpuinfo::CpuInfo;
use super::memory::entry;
use super::settings::{boost, chosen};
use super::texts::{Texts, tallied};
use super::topology::count;
use super::virtualization::{UNKNOWN_HYPERVISOR, virtualization};
use crate::language::english_plural;

/// The kernel counts a processor's time in ticks of 10 ms and looks at each processor once a tick, so that a sum over all of them may be
/// wrong by two ticks a processor between two readings. No gate closes for less than that.
pub(crate) const TICKS_OF_DOUBT: f64 = 2.0;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// What: `governor`, `free memory`.
    pub(crate) what: &'static str,
    /// How good it is.
    pub(crate) state: State,
    /// What was found, with its unit; why nothing was, if nothing was.
    pub(crate) value: String,
    /// What to do about it, or what it means; empty if nothing.
    pub(crate) advice: String,
    /// Whether it stays as it is until somebody changes it, so that waiting is no use.
    #[serde(skip)]
    pub(crate) lasting: bool,
    /// Whether nobody may insist: a file system would be filled to its end.
    #[serde(skip)]
    pub(crate) never: bool,
}

impl Finding {
    /// The finding in one line: what, its value, and what to do about it.
    pub(crate) fn in_a_line(&self) -> String {
        let advice = if self.advice.is_empty() { String::new() } else { format!("; {}", self.advice) };
        format!("{}: {}{advice}", self.what, self.value)
    }
}

/// A directory on the machine that will be written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Space {
    /// What for.
    pub(crate) purpose: Use,
    /// Its absolute path; it need not be there yet.
    pub(crate) directory: String,
    /// How much is known to be written there, in bytes.
    pub(crate) bytes: u64,
}

/// What a directory is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    /// The results are kept there.
    Results,
    /// The load has its files there.
    Work,
    /// The sections of a job file have theirs there.
    JobFile,
}

/// How good a finding is for measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// It disturbs nothing, or is merely a fact.
    Fine,
    /// Results will be less steady, or say less.
    Warning,
    /// Gates would refuse the repeats, or what they write would not fit.
    Unfit,
}

fn finding(what: &'static str, state: State, value: impl Into<String>, advice: &str) -> Finding {
    Finding { what, state, value: value.into(), advice: advice.to_owned(), lasting: false, never: false }
}

/// The worse of two limits that a value passes. A value that is no number passes none.
fn graded(value: f64, warning: f64, unfit: f64) -> State {
    if value > unfit {
        State::Unfit
    } else if value > warning {
        State::Warning
    } else {
        State::Fine
    }
}

fn unless_fine(state: State, advice: &str) -> &str {
    if state == State::Fine { "" } else { advice }
}

/// What a gate that closes at once for this value makes of it; less than that is only worth a warning.
fn gated(gate: Option<Gate>, value: f64) -> State {
    if gate.and_then(|gate| gate.closed_by(value)).is_some() { State::Unfit } else { State::Warning }
}

/// All findings, in the order in which people read them: what runs beside, memory and disk, frequency and heat, the rest.
/// What the gates would refuse in a repeat makes the machine unfit.
pub(super) fn judge(texts: &Texts, spaces: &[Space], gates: &Gates) -> Vec<Finding> {
    let mut findings = vec![load(texts)];
    findings.extend(processor_time(texts, gates));
    findings.extend(pressures(texts));
    findings.extend([swap(texts, gates), free_memory(texts)]);
    findings.extend(free_space(texts, spaces));
    findings.push(governor(texts));
    findings.extend(frequency_limit(texts));
    findings.extend([turbo(texts), throttling(texts, gates), sensors(texts)]);
    findings.extend(power(texts));
    findings.extend(allowed_processors(texts));
    findings.extend([clocksource(texts), hypervisor(texts), huge_pages(texts), address_randomization(texts)]);
    findings
}

fn threads(texts: &Texts) -> u32 {
    texts.line("sys/devices/system/cpu/online").map_or(0, count).max(1)
}

fn load(texts: &Texts) -> Finding {
    let what = "load average";
    let Some(load) = texts.line("proc/loadavg").and_then(|line| line.split(' ').next()?.parse::<f64>().ok()) else {
        return finding(what, State::Fine, texts.why("proc/loadavg"), "");
    };
    let threads = threads(texts);
    // Only a warning: it may be what ended a second ago. What runs now shows in the processor's time.
    let state = graded(load / f64::from(threads), 0.25, f64::INFINITY);
    let value = format!("{load:.2} over the last minute, on {threads} hardware threads");
    finding(what, state, value, unless_fine(state, "wait until it is quiet, or end what runs beside"))
}

/// The fields of the line `cpu` in `/proc/stat`, in ticks: user, nice, system, idle, iowait, irq, softirq, steal. Time of
/// guests, which follows, is in user's already.
fn ticks(texts: &Texts, when: &str) -> Option<[u64; 8]> {
    let line = texts.line(&format!("{when} proc/stat"))?;
    let mut fields = line.split_whitespace().skip(1).map(|field| field.parse::<u64>().ok());
    let mut ticks = [0; 8];
    for (place, tick) in ticks.iter_mut().enumerate() {
        // Old kernels have no steal.
        *tick = match fields.next() {
            Some(value) => value?,
            None if place >= 7 => 0,
            None => return None,
        };
    }
    Some(ticks)
}

fn processor_time(texts: &Texts, gates: &Gates) -> Vec<Finding> {
    let (Some(before), Some(after)) = (ticks(texts, "before"), ticks(texts, "after")) else {
        return vec![finding(
            "foreign load",
            State::Warning,
            texts.why("before proc/stat"),
            "whether the machine is idle cannot be told",
        )];
    };
    // idle and iowait can go backwards by a tick.
    let passed = |place: usize| after[place].saturating_sub(before[place]) as f64;
    let total: f64 = (0..8).map(passed).sum();
    if total <= 0.0 {
        return vec![finding(
            "foreign load",
            State::Warning,
            "no processor time passed",
            "/proc/stat does not count here",
        )];
    }
    let busy = [0, 1, 2, 5, 6].into_iter().map(passed).sum::<f64>();
    let steal = passed(7);
    let doubt = TICKS_OF_DOUBT * f64::from(threads(texts));
    // One tick is 1 % of half a second on two processors: a single one proves nothing.
    let state_of = |ticks: f64, warning: f64, gate: Option<Gate>| match ticks / total {
        share if ticks >= doubt && gated(gate, share) == State::Unfit => State::Unfit,
        share if ticks >= 2.0 => graded(share, warning, f64::INFINITY),
        _ => State::Fine,
    };
    let of = |what, ticks: f64, warning, gate: Option<Gate>, advice: &str| {
        let state = state_of(ticks, warning, gate);
        let limit = match gate {
            Some(Gate::Limit(limit)) => format!(": above {} % all repeats are invalid", (limit * 1e3).round() / 10.0),
            _ => String::new(),
        };
        let value = format!("{:.1} % of the processors' time", ticks / total * 100.0);
        finding(what, state, value, unless_fine(state, &format!("{advice}{limit}")))
    };
    vec![
        of("foreign load", busy, 0.01, gates.foreign_cpu, "end what runs beside"),
        of("steal", steal, 0.0, gates.steal, "the host gives this virtual machine's time to others"),
    ]
}

fn pressures(texts: &Texts) -> Vec<Finding> {
    let kinds = [
        ("pressure cpu", "proc/pressure/cpu", 5.0),
        ("pressure io", "proc/pressure/io", 5.0),
        ("pressure memory", "proc/pressure/memory", 1.0),
    ];
    let found = kinds.into_iter().filter_map(|(what, file, limit)| {
        let line = texts.get(file)?.lines().find_map(|line| line.trim().strip_prefix("some "))?;
        let percent: f64 = line.split_whitespace().find_map(|word| word.strip_prefix("avg10="))?.parse().ok()?;
        let state = graded(percent, limit, f64::INFINITY);
        let value = format!("{percent:.1} % of the last 10 s something waited");
        Some(finding(what, state, value, unless_fine(state, "wait until it is quiet, or end what runs beside")))
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        return vec![finding("pressure", State::Fine, texts.why("proc/pressure/cpu"), "")];
    }
    found
}

fn meminfo(texts: &Texts, name: &str) -> Option<u64> {
    entry(texts.get("proc/meminfo")?, name)
}

fn swap(texts: &Texts, gates: &Gates) -> Finding {
    let swapped = |when: &str| -> Option<u64> {
        let lines = texts.get(&format!("{when} proc/vmstat"))?.lines();
        Some(lines.filter_map(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).fold(0, u64::saturating_add))
    };
    let traffic = swapped("before").zip(swapped("after")).map_or(0, |(before, after)| after.saturating_sub(before));
    let total = meminfo(texts, "SwapTotal").unwrap_or(0);
    let used = total.saturating_sub(meminfo(texts, "SwapFree").unwrap_or(total));
    let value = if total == 0 { "none".to_owned() } else { format!("{} of {} MiB used", used >> 20, total >> 20) };
    let (state, advice) = match (traffic, used >> 20) {
        (1.., _) => (gated(gates.swapping, traffic as f64), "the machine swaps: free memory, or repeats are invalid"),
        (0, 0) => (State::Fine, ""),
        (0, _) => (State::Warning, "what lies in swap may come back during a repeat: swapoff -a && swapon -a"),
    };
    finding("swap", state, value, advice)
}

fn free_memory(texts: &Texts) -> Finding {
    let what = "free memory";
    // Kernels before 3.14 do not say what is available.
    let (Some(total), Some(available)) = (meminfo(texts, "MemTotal"), meminfo(texts, "MemAvailable")) else {
        return finding(what, State::Fine, "/proc/meminfo does not say", "");
    };
    // Only a warning: no gate looks at it, and if the machine swaps, one does.
    let state = graded(1.0 - available as f64 / total.max(1) as f64, 0.9, f64::INFINITY);
    let value = format!("{} of {} MiB available", available >> 20, total >> 20);
    finding(what, state, value, unless_fine(state, "free memory, or the machine will swap"))
}

/// What must be free beyond what is known to be written, in bytes.
const SPARE_SPACE: u64 = 100 << 20;
/// With less than this beyond it, there is a warning.
const AMPLE_SPACE: u64 = 1 << 30;

fn free_space(texts: &Texts, spaces: &[Space]) -> Vec<Finding> {
    // Bytes available and the mount point, of each directory.
    let volumes: Vec<_> = (0..spaces.len()).map(|number| volume(texts.get(&format!("df {number}"))?)).collect();
    let of = |(number, space): (usize, &Space)| {
        let (what, elsewhere) = match space.purpose {
            Use::Results => ("free space for results", "keep results elsewhere: --store"),
            Use::Work | Use::JobFile if space.bytes == 0 => {
                ("free space for the load", "set STEND_WORK to another directory")
            }
            Use::Work => (
                "free space for the load",
                "have the files elsewhere (STEND_WORK, or fio's \"directory\") or smaller (--scale, --only)",
            ),
            Use::JobFile => (
                "free space for the load",
                "have the files elsewhere (STEND_WORK, or directory= in the job file) or smaller (--set size=1GiB, of LUNs --set lun_size=1GiB)",
            ),
        };
        if let Some(place) = texts.line(&format!("unwritable {number}")) {
            let value = format!("{place} cannot be written");
            let advice = match space.purpose {
                Use::Results => elsewhere,
                Use::Work | Use::JobFile => "set STEND_WORK, or fio's \"directory\", to another directory",
            };
            return Finding { lasting: true, ..finding(what, State::Unfit, value, advice) };
        }
        let Some((available, mount)) = &volumes[number] else {
            let value = format!("df does not say how much there is in {}", space.directory);
            return finding(what, State::Warning, value, "how much may be written cannot be told");
        };
        // Directories on one file system share what is free there. How much that is may change from one look to the next.
        let here = |other: &Option<(u64, String)>| other.as_ref().is_some_and(|(_, other)| other == mount);
        let together = spaces.iter().zip(&volumes).filter(|(_, other)| here(other)).map(|(other, _)| other.bytes);
        let needed = if space.bytes == 0 { 0 } else { together.fold(0, u64::saturating_add) };
        let state = match available.saturating_sub(needed) {
            left if *available < needed || left < SPARE_SPACE => State::Unfit,
            left if left < AMPLE_SPACE => State::Warning,
            _ => State::Fine,
        };
        let mut value = format!("{} in {mount}", amount(*available));
        if needed > 0 {
            value = format!("{value}; the files in {} need {}", space.directory, amount(needed));
        }
        Finding {
            lasting: true,
            never: needed > *available,
            ..finding(what, state, value, unless_fine(state, &format!("make room, or {elsewhere}")))
        }
    };
    spaces.iter().enumerate().map(of).collect()
}

/// What `df -Pk` says of one directory: the bytes available, and where the file system is mounted.
fn volume(text: &str) -> Option<(u64, String)> {
    let fields: Vec<_> = text.lines().last()?.split_whitespace().collect();
    let kib: u64 = fields.get(3)?.parse().ok()?;
    Some((kib.saturating_mul(1024), fields.get(5..).filter(|words| !words.is_empty())?.join(" ")))
}

/// Bytes as people say them.
fn amount(bytes: u64) -> String {
    if bytes < 10 << 30 { format!("{} MiB", bytes >> 20) } else { format!("{} GiB", bytes >> 30) }
}

const CPU: &str = "sys/devices/system/cpu";

fn governor(texts: &Texts) -> Finding {
    let what = "governor";
    let name = format!("{CPU}/cpu[0-9]*/cpufreq/scaling_governor");
    let governors: Vec<_> =
        texts.get(&name).map(tallied).unwrap_or_default().into_iter().map(|(_, name)| name).collect();
    match governors.as_slice() {
        // A guest's frequency is its host's affair, and many boards have a fixed one.
        [] => finding(what, State::Fine, "not visible", "the frequency is not in this system's hands"),
        ["performance"] => finding(what, State::Fine, "performance", ""),
        some => {
            finding(what, State::Warning, some.join(", "), "set performance: cpupower frequency-set -g performance")
        }
    }
}

fn frequency_limit(texts: &Texts) -> Option<Finding> {
    let highest = |file: &str| {
        let name = format!("{CPU}/cpu[0-9]*/cpufreq/{file}");
        tallied(texts.get(&name)?).into_iter().filter_map(|(_, kilohertz)| kilohertz.parse::<u64>().ok()).max()
    };
    let (allowed, possible) = (highest("scaling_max_freq")?, highest("cpuinfo_max_freq")?);
    let limited = allowed < possible;
    let value = format!("up to {} of {} MHz allowed", allowed / 1000, possible / 1000);
    let state = if limited { State::Warning } else { State::Fine };
    Some(finding(
        "frequency limit",
        state,
        value,
        unless_fine(state, "somebody, or heat, has set a limit: cpupower frequency-info"),
    ))
}

fn turbo(texts: &Texts) -> Finding {
    match boost(texts).as_deref() {
        Some("on") => finding("turbo", State::Fine, "on", "short loads run faster than long ones"),
        Some(word) => finding("turbo", State::Fine, word, ""),
        None => finding("turbo", State::Fine, "not visible", ""),
    }
}

fn throttling(texts: &Texts, gates: &Gates) -> Finding {
    let what = "throttling";
    let events = |when: &str| -> Option<u64> {
        let counts = tallied(texts.get(&format!("{when} throttled"))?);
        let events =
            counts.into_iter().filter_map(|(times, text)| Some(u64::from(times).saturating_mul(text.parse().ok()?)));
        Some(events.fold(0, u64::saturating_add))
    };
    match (events("before"), events("after")) {
        (Some(before), Some(after)) if after > before => finding(
            what,
            gated(gates.throttling, (after - before) as f64),
            format!("{} just now", events_in_words(after - before)),
            "it is too hot: cool it, or repeats are invalid",
        ),
        (Some(_), Some(0)) => finding(what, State::Fine, "none since the start", ""),
        (Some(_), Some(after)) => finding(
            what,
            State::Warning,
            format!("{} since the start", events_in_words(after)),
            "it has been too hot before, and may be again under load",
        ),
        _ => finding(what, State::Fine, "no counters", "whether heat slows it down shows only in its frequency"),
    }
}

fn events_in_words(events: u64) -> String {
    english_plural(events as usize, "event", "events")
}

fn sensors(texts: &Texts) -> Finding {
    let names = ["sys/class/thermal/thermal_zone*/type", "sys/class/hwmon/hwmon*/name"];
    let found: Vec<_> = names
        .into_iter()
        .filter_map(|name| texts.get(name))
        .flat_map(tallied)
        .map(|(_, name)| name.to_owned())
        .collect();
    if found.is_empty() {
        return finding("temperature sensors", State::Fine, "none", "temperatures will be recorded as missing");
    }
    finding("temperature sensors", State::Fine, found.join(", "), "")
}

/// Only where there is a battery is there something to say.
fn power(texts: &Texts) -> Option<Finding> {
    let directory = "sys/class/power_supply/";
    let of_type = |wanted: &'static str| {
        texts
            .below(directory)
            .filter(move |(_, text)| *text == wanted)
            .filter_map(|(name, _)| name.strip_suffix("/type"))
    };
    of_type("Battery").next()?;
    let on_line = of_type("Mains").any(|name| texts.line(&format!("{directory}{name}/online")) == Some("1"));
    let (state, value) = if on_line { (State::Fine, "mains") } else { (State::Warning, "battery") };
    Some(finding("power", state, value, unless_fine(state, "plug it in: on its battery it may run slower")))
}

fn allowed_processors(texts: &Texts) -> Option<Finding> {
    let allowed = texts.line("proc/self/status")?.split_once(':')?.1.trim();
    let (allowed, online) = (count(allowed), threads(texts));
    let state = if allowed < online { State::Warning } else { State::Fine };
    let value = format!("{allowed} of {online} hardware threads may be used");
    Some(finding("processors", state, value, unless_fine(state, "a container or an affinity keeps the rest away")))
}

fn clocksource(texts: &Texts) -> Finding {
    let name = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    let Some(clock) = texts.line(name) else {
        return finding("clock source", State::Fine, texts.why(name), "");
    };
    let slow = ["hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"].contains(&clock);
    let state = if slow { State::Warning } else { State::Fine };
    finding(
        "clock source",
        state,
        clock,
        unless_fine(state, "reading it is slow or coarse: see what the kernel's log says of the better one"),
    )
}

fn hypervisor(texts: &Texts) -> Finding {
    let info = CpuInfo::parse(texts.get("proc/cpuinfo").unwrap_or(""));
    match virtualization(texts, &info) {
        None => finding("virtualization", State::Fine, "no sign of any", ""),
        Some(name) if name.contains(UNKNOWN_HYPERVISOR) => {
            finding("virtualization", State::Warning, name, "what else runs on its host cannot be told")
        }
        Some(name) => finding("virtualization", State::Fine, name, "neighbours on its host can disturb"),
    }
}

fn huge_pages(texts: &Texts) -> Finding {
    let name = "sys/kernel/mm/transparent_hugepage/enabled";
    finding("transparent huge pages", State::Fine, texts.line(name).map_or_else(|| texts.why(name), chosen), "")
}

fn address_randomization(texts: &Texts) -> Finding {
    let name = "proc/sys/kernel/randomize_va_space";
    let value = match texts.line(name) {
        Some("0") => "off".to_owned(),
        Some("1") => "stack and libraries".to_owned(),
        Some("2") => "full".to_owned(),
        Some(other) => other.to_owned(),
        None => texts.why(name),
    };
    finding("address randomization", State::Fine, value, "")
}
