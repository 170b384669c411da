//! Judges what would disturb a measurement, from texts alone.

use schemars::JsonSchema;
use serde::Serialize;
use stend_model::cause::Cause;
use stend_model::condition::{Condition, Resource, Topic};
use stend_model::machine::count_listed;
use stend_model::suite::{Gate, Gates};

use super::cpuinfo::CpuInfo;
use super::memory::entry;
use super::settings::{boost, chosen};
use super::texts::{Texts, tallied};
use super::virtualization::{UNKNOWN_HYPERVISOR, virtualization};

/// The kernel counts a processor's time in ticks of 10 ms and looks at each processor once a tick, so that a sum over all of them may be
/// wrong by two ticks a processor between two readings. No gate closes for less than that.
pub const TICKS_OF_DOUBT: f64 = 2.0;

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Finding {
    /// What was found.
    #[serde(flatten)]
    pub condition: Condition,
    /// How good it is.
    pub state: State,
    /// Whether it stays as it is until somebody changes it, so that waiting is no use.
    #[serde(skip)]
    pub lasting: bool,
    /// Whether nobody may insist: a file system would be filled to its end.
    #[serde(skip)]
    pub never: bool,
}

impl Finding {
    /// One that waiting may change.
    pub fn of(state: State, condition: Condition) -> Self {
        Self { condition, state, lasting: false, never: false }
    }
}

/// A directory on the machine that will be written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// What for.
    pub purpose: Use,
    /// Its absolute path; it need not be there yet.
    pub directory: String,
    /// How much is known to be written there, in bytes.
    pub bytes: u64,
}

/// What a directory is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// The results are kept there.
    Results,
    /// The load has its files there.
    Work,
    /// The sections of a job file have theirs there.
    JobFile,
}

/// How good a finding is for measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It disturbs nothing, or is merely a fact.
    Fine,
    /// Results will be less steady, or say less.
    Warning,
    /// Gates would refuse the repeats, or what they write would not fit.
    Unfit,
}

fn unread(state: State, of: Topic, why: Cause) -> Finding {
    Finding::of(state, Condition::Unread { of, why })
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
    texts.line("sys/devices/system/cpu/online").map_or(0, count_listed).max(1)
}

fn load(texts: &Texts) -> Finding {
    let average = texts.line("proc/loadavg").and_then(|line| line.split(' ').next()?.parse::<f64>().ok());
    let Some(average) = average else { return unread(State::Fine, Topic::Load, texts.why("proc/loadavg")) };
    let threads = threads(texts);
    // Only a warning: it may be what ended a second ago. What runs now shows in the CPU time.
    let state = graded(average / f64::from(threads), 0.25, f64::INFINITY);
    Finding::of(state, Condition::Load { average, threads })
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
        return vec![unread(State::Warning, Topic::ForeignLoad, texts.why("before proc/stat"))];
    };
    // idle and iowait can go backwards by a tick.
    let passed = |place: usize| after[place].saturating_sub(before[place]) as f64;
    let total: f64 = (0..8).map(passed).sum();
    if total <= 0.0 {
        return vec![unread(State::Warning, Topic::ForeignLoad, Cause::Uncounted { source: "/proc/stat".into() })];
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
    let limit = |gate: Option<Gate>| match gate {
        Some(Gate::Limit(limit)) => Some(limit),
        Some(Gate::Off) | None => None,
    };
    let (of_others, of_host) = (gates.foreign_cpu, gates.steal);
    vec![
        Finding::of(
            state_of(busy, 0.01, of_others),
            Condition::ForeignLoad { share: busy / total, limit: limit(of_others), said: None },
        ),
        Finding::of(state_of(steal, 0.0, of_host), Condition::Steal { share: steal / total, limit: limit(of_host) }),
    ]
}

fn pressures(texts: &Texts) -> Vec<Finding> {
    let kinds = [
        (Resource::Cpu, "proc/pressure/cpu", 5.0),
        (Resource::Io, "proc/pressure/io", 5.0),
        (Resource::Memory, "proc/pressure/memory", 1.0),
    ];
    let found = kinds.into_iter().filter_map(|(resource, file, limit)| {
        let line = texts.get(file)?.lines().find_map(|line| line.trim().strip_prefix("some "))?;
        let percent: f64 = line.split_whitespace().find_map(|word| word.strip_prefix("avg10="))?.parse().ok()?;
        let state = graded(percent, limit, f64::INFINITY);
        Some(Finding::of(state, Condition::Pressure { resource, share: percent / 100.0 }))
    });
    let found: Vec<_> = found.collect();
    if found.is_empty() {
        return vec![unread(State::Fine, Topic::Pressure, texts.why("proc/pressure/cpu"))];
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
    let pages = swapped("before").zip(swapped("after")).map_or(0, |(before, after)| after.saturating_sub(before));
    let total = meminfo(texts, "SwapTotal").unwrap_or(0);
    let used = total.saturating_sub(meminfo(texts, "SwapFree").unwrap_or(total));
    let state = match (pages, used >> 20) {
        (1.., _) => gated(gates.swapping, pages as f64),
        (0, 0) => State::Fine,
        (0, _) => State::Warning,
    };
    Finding::of(state, Condition::Swap { used, total, pages })
}

fn free_memory(texts: &Texts) -> Finding {
    // Kernels before 3.14 do not say what is available.
    let (Some(total), Some(available)) = (meminfo(texts, "MemTotal"), meminfo(texts, "MemAvailable")) else {
        let why = Cause::Silent { sources: vec!["/proc/meminfo".into()] };
        return unread(State::Fine, Topic::FreeMemory, why);
    };
    // Only a warning: no gate looks at it, and if the machine swaps, one does.
    let state = graded(1.0 - available as f64 / total.max(1) as f64, 0.9, f64::INFINITY);
    Finding::of(state, Condition::FreeMemory { available, total })
}

/// What must be free beyond what is known to be written, in bytes.
const SPARE_SPACE: u64 = 100 << 20;
/// With less than this beyond it, there is a warning.
const AMPLE_SPACE: u64 = 1 << 30;

fn free_space(texts: &Texts, spaces: &[Space]) -> Vec<Finding> {
    // Bytes available and the mount point, of each directory.
    let volumes: Vec<_> = (0..spaces.len()).map(|number| volume(texts.get(&format!("df {number}"))?)).collect();
    let of = |(number, space): (usize, &Space)| {
        let of_results = space.purpose == Use::Results;
        if let Some(path) = texts.line(&format!("unwritable {number}")) {
            let path = path.to_owned();
            let condition =
                if of_results { Condition::ResultsUnwritable { path } } else { Condition::LoadUnwritable { path } };
            return Finding { lasting: true, ..Finding::of(State::Unfit, condition) };
        }
        let Some((available, mount)) = &volumes[number] else {
            let topic = if of_results { Topic::ResultsSpace } else { Topic::LoadSpace };
            let why = Cause::Silent { sources: vec![format!("df {}", space.directory)] };
            return unread(State::Warning, topic, why);
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
        let (available, mount) = (*available, mount.clone());
        let condition = match space.purpose {
            Use::Results => Condition::ResultsSpace { available, mount },
            Use::Work | Use::JobFile => Condition::LoadSpace {
                available,
                mount,
                directory: space.directory.clone(),
                needed,
                job_file: space.purpose == Use::JobFile,
            },
        };
        Finding { lasting: true, never: needed > available, ..Finding::of(state, condition) }
    };
    spaces.iter().enumerate().map(of).collect()
}

/// What `df -Pk` says of one directory: the bytes available, and where the file system is mounted.
fn volume(text: &str) -> Option<(u64, String)> {
    let fields: Vec<_> = text.lines().last()?.split_whitespace().collect();
    let kib: u64 = fields.get(3)?.parse().ok()?;
    Some((kib.saturating_mul(1024), fields.get(5..).filter(|words| !words.is_empty())?.join(" ")))
}

const CPU: &str = "sys/devices/system/cpu";

fn governor(texts: &Texts) -> Finding {
    let name = format!("{CPU}/cpu[0-9]*/cpufreq/scaling_governor");
    let found = texts.get(&name).map(tallied).unwrap_or_default();
    let governors: Vec<_> = found.into_iter().map(|(_, name)| name.to_owned()).collect();
    // A guest's frequency is its host's affair, and many boards have a fixed one.
    let fine = governors.iter().all(|name| name == "performance");
    Finding::of(if fine { State::Fine } else { State::Warning }, Condition::Governor { governors })
}

fn frequency_limit(texts: &Texts) -> Option<Finding> {
    let highest = |file: &str| {
        let name = format!("{CPU}/cpu[0-9]*/cpufreq/{file}");
        tallied(texts.get(&name)?).into_iter().filter_map(|(_, kilohertz)| kilohertz.parse::<u64>().ok()).max()
    };
    let (allowed, possible) = (highest("scaling_max_freq")?, highest("cpuinfo_max_freq")?);
    let state = if allowed < possible { State::Warning } else { State::Fine };
    let hertz = |kilohertz: u64| kilohertz as f64 * 1e3;
    Some(Finding::of(state, Condition::FrequencyLimit { allowed_hz: hertz(allowed), possible_hz: hertz(possible) }))
}

fn turbo(texts: &Texts) -> Finding {
    Finding::of(State::Fine, Condition::Turbo { setting: boost(texts).unwrap_or_default() })
}

fn throttling(texts: &Texts, gates: &Gates) -> Finding {
    let events = |when: &str| -> Option<u64> {
        let counts = tallied(texts.get(&format!("{when} throttled"))?);
        let events =
            counts.into_iter().filter_map(|(times, text)| Some(u64::from(times).saturating_mul(text.parse().ok()?)));
        Some(events.fold(0, u64::saturating_add))
    };
    match (events("before"), events("after")) {
        (Some(before), Some(after)) if after > before => {
            let times = after - before;
            Finding::of(gated(gates.throttling, times as f64), Condition::Throttling { times, just_now: true })
        }
        (Some(_), Some(times)) => Finding::of(
            if times == 0 { State::Fine } else { State::Warning },
            Condition::Throttling { times, just_now: false },
        ),
        _ => Finding::of(State::Fine, Condition::ThrottlingUncounted),
    }
}

fn sensors(texts: &Texts) -> Finding {
    let names = ["sys/class/thermal/thermal_zone*/type", "sys/class/hwmon/hwmon*/name"];
    let found = names.into_iter().filter_map(|name| texts.get(name)).flat_map(tallied);
    Finding::of(State::Fine, Condition::TemperatureSensors { names: found.map(|(_, name)| name.to_owned()).collect() })
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
    let state = if on_line { State::Fine } else { State::Warning };
    Some(Finding::of(state, Condition::Power { battery: !on_line }))
}

fn allowed_processors(texts: &Texts) -> Option<Finding> {
    let allowed = texts.line("proc/self/status")?.split_once(':')?.1.trim();
    let (allowed, online) = (count_listed(allowed), threads(texts));
    let state = if allowed < online { State::Warning } else { State::Fine };
    Some(Finding::of(state, Condition::Processors { allowed, online }))
}

fn clocksource(texts: &Texts) -> Finding {
    let name = "sys/devices/system/clocksource/clocksource0/current_clocksource";
    let Some(clock) = texts.line(name) else {
        return unread(State::Fine, Topic::ClockSource, texts.why(name));
    };
    let slow = ["hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"].contains(&clock);
    let state = if slow { State::Warning } else { State::Fine };
    Finding::of(state, Condition::ClockSource { name: clock.to_owned() })
}

fn hypervisor(texts: &Texts) -> Finding {
    let info = CpuInfo::parse(texts.get("proc/cpuinfo").unwrap_or(""));
    let by = virtualization(texts, &info).unwrap_or_default();
    let known = !by.contains(UNKNOWN_HYPERVISOR);
    Finding::of(if known { State::Fine } else { State::Warning }, Condition::Virtualization { by, known })
}

fn huge_pages(texts: &Texts) -> Finding {
    let name = "sys/kernel/mm/transparent_hugepage/enabled";
    match texts.line(name) {
        Some(text) => Finding::of(State::Fine, Condition::HugePages { setting: chosen(text) }),
        None => unread(State::Fine, Topic::HugePages, texts.why(name)),
    }
}

fn address_randomization(texts: &Texts) -> Finding {
    let name = "proc/sys/kernel/randomize_va_space";
    match texts.line(name) {
        Some(text) => {
            let setting = match text {
                "0" => "off",
                "1" => "partial",
                "2" => "full",
                other => other,
            };
            Finding::of(State::Fine, Condition::AddressRandomization { setting: setting.to_owned() })
        }
        None => unread(State::Fine, Topic::AddressRandomization, texts.why(name)),
    }
}
