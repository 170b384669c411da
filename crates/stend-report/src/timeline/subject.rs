//! What is drawn in each row, from the series of one repeat.

use std::collections::{BTreeMap, BTreeSet};

use stend_model::metric::Unit;
use stend_model::run::{Origin, Series};

use super::RATE;
use crate::chart;
use crate::phrase::Phrase;
use crate::scale::Scale;
use crate::series::{self, Point, Stretch, lun_metric};
use crate::texts::TEXTS;
use crate::words::{self, Given};

/// Lines beyond so many could not be told apart.
const MOST_LINES: usize = 5;

/// The kernel counts CPU time of processes in ticks of 10 ms: over a shorter time their shares would be noise.
const SHARE_WINDOW_NS: i64 = 500_000_000;

/// What is drawn in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    Operations,
    OperationsOfLuns,
    Bytes,
    Latency,
    Shares,
    Machine,
    Memory,
    Queue,
    Busy,
}

impl Subject {
    pub(super) const ALL: [Self; 9] = [
        Self::Operations,
        Self::OperationsOfLuns,
        Self::Bytes,
        Self::Latency,
        Self::Shares,
        Self::Machine,
        Self::Memory,
        Self::Queue,
        Self::Busy,
    ];

    pub(super) fn title(self) -> Phrase {
        match self {
            Self::Operations => TEXTS.timeline_iops.clone(),
            Self::OperationsOfLuns => TEXTS.timeline_luns.clone(),
            Self::Bytes => TEXTS.timeline_bytes.clone(),
            Self::Latency => TEXTS.timeline_latency.clone(),
            Self::Shares => TEXTS.timeline_shares.clone(),
            Self::Machine => TEXTS.cpu.clone(),
            Self::Memory => TEXTS.timeline_memory.clone(),
            Self::Queue => TEXTS.timeline_queue.clone(),
            Self::Busy => TEXTS.timeline_busy.clone(),
        }
    }

    /// `has_rate`: the operations are not those of storage.
    pub(super) fn scale(self, has_rate: bool) -> Scale {
        match self {
            Self::Operations if has_rate => Scale::Unit(Unit::OperationsPerSecond),
            Self::Operations | Self::OperationsOfLuns => Scale::Unit(Unit::Iops),
            Self::Bytes => Scale::Unit(Unit::BytesPerSecond),
            Self::Latency => Scale::Unit(Unit::Nanoseconds),
            Self::Shares | Self::Machine | Self::Busy => Scale::Unit(Unit::Percent),
            Self::Memory => Scale::Unit(Unit::Bytes),
            Self::Queue => Scale::Count,
        }
    }

    /// Whether equal distances are equal ratios: the longest latency is a thousand times the usual one, and the machine's memory the load's.
    pub(super) fn logarithmic(self) -> bool {
        matches!(self, Self::Latency | Self::Memory)
    }

    /// The lines of one repeat, from below.
    pub(super) fn lines(self, repeat: &Repeat) -> Vec<(Phrase, Vec<Stretch>)> {
        match self {
            Self::Operations if repeat.has_rate() => repeat.by_direction(RATE),
            Self::Operations => repeat.by_direction("iops"),
            Self::OperationsOfLuns => {
                let luns = repeat.of(Origin::Instrument, |name| lun_metric(name).is_some_and(|rest| rest == "iops"));
                let lines = luns.iter().map(|series| repeat.gauge(series)).collect();
                series::envelope(lines).into_iter().map(|(name, line)| (of_envelope(name), line)).collect()
            }
            Self::Bytes => repeat.by_direction("bandwidth_bytes_per_s"),
            Self::Latency => {
                let means = repeat.by_direction("latency_mean_ns");
                let percentile = |(name, label): (&str, Phrase)| {
                    Some((label, repeat.gauge(repeat.named(Origin::Instrument, name)?)))
                };
                let percentiles = [
                    ("latency_p50_ns", "p50".into()),
                    ("latency_p99_ns", "p99".into()),
                    ("latency_p999_ns", "p99.9".into()),
                    ("latency_max_ns", TEXTS.highest.clone()),
                ];
                let mean = |(label, line): (Phrase, Vec<Stretch>)| {
                    (if label == TEXTS.together { TEXTS.mean.clone() } else { label }, line)
                };
                percentiles.into_iter().filter_map(percentile).chain(means.into_iter().map(mean)).collect()
            }
            Self::Shares => repeat.shares(),
            Self::Machine => {
                let counters = repeat.of(Origin::Machine, |name| name.starts_with("cpu."));
                let lines = series::cpu_shares(&counters, repeat.threads, repeat.origin_ns);
                let happened = |line: &Vec<Stretch>| line.iter().flatten().any(|point| point.1 != 0.0);
                lines
                    .into_iter()
                    .filter(|(name, line)| *name != "busy" && happened(line))
                    .map(|(name, line)| (chart::line_name(name), line))
                    .collect()
            }
            Self::Memory => repeat.memory(),
            Self::Queue => repeat.disks("queue_ns_total", 1e-9),
            Self::Busy => repeat.disks("busy_ns_total", 1e-7),
        }
    }
}

/// What one repeat has.
pub(super) struct Repeat<'a> {
    pub(super) series: BTreeMap<(Origin, &'a str), &'a Series>,
    pub(super) threads: u32,
    pub(super) origin_ns: i64,
}

impl<'a> Repeat<'a> {
    pub(super) fn has_rate(&self) -> bool {
        self.named(Origin::Instrument, RATE).is_some()
    }

    fn named(&self, origin: Origin, name: &str) -> Option<&'a Series> {
        self.series.get(&(origin, name)).copied()
    }

    fn of(&self, origin: Origin, wanted: impl Fn(&str) -> bool) -> Vec<&'a Series> {
        let of_origin = self.series.iter().filter(|((whose, name), _)| *whose == origin && wanted(name));
        of_origin.map(|(_, series)| *series).collect()
    }

    fn gauge(&self, series: &Series) -> Vec<Stretch> {
        series::values(series, self.origin_ns)
    }

    /// A metric of all LUNs together, or in a mixed load of reads and of writes.
    fn by_direction(&self, metric: &str) -> Vec<(Phrase, Vec<Stretch>)> {
        let directions =
            [("", &TEXTS.together), ("read_", &TEXTS.reads), ("write_", &TEXTS.writes), ("trim_", &TEXTS.trims)];
        let line = |(prefix, label): (&str, &Phrase)| {
            let series = self.named(Origin::Instrument, &format!("{prefix}{metric}"))?;
            Some((label.clone(), self.gauge(series)))
        };
        directions.into_iter().filter_map(line).collect()
    }

    /// The controllers' numbers.
    fn controllers(&self) -> Vec<u32> {
        let number = |(_, name): &(Origin, &str)| name.strip_prefix("controller")?.split_once('.')?.0.parse().ok();
        let numbers: BTreeSet<u32> = self.series.keys().filter_map(number).collect();
        numbers.into_iter().collect()
    }

    /// The servers that were loaded, each with what its metrics begin with.
    fn servers(&self) -> Vec<(Phrase, &str)> {
        let prefix =
            |(_, name): &(Origin, &'a str)| Some(name.split_once('.')?.0).filter(|name| name.starts_with(SERVER));
        let prefixes: BTreeSet<&str> = self.series.keys().filter_map(prefix).collect();
        let called = |prefix: &str| words::say("server-loaded", &[("server", Given::Text(&prefix[SERVER.len()..]))]);
        prefixes.into_iter().map(|prefix| (called(prefix), prefix)).collect()
    }

    /// Who used the machine's CPU time, in percent of all of it, one on the other: the load, each controller and server, the rest, what the
    /// hypervisor took.
    pub(super) fn shares(&self) -> Vec<(Phrase, Vec<Stretch>)> {
        let machine = |name: &str| self.named(Origin::Machine, name);
        let counted = |names: &[String]| -> Vec<&Series> { names.iter().filter_map(|name| machine(name)).collect() };
        let all: Vec<_> = ["user", "nice", "system", "irq", "softirq", "iowait", "idle", "steal"]
            .map(|kind| format!("cpu.{kind}_ns_total"))
            .into();
        let busy = counted(&all[..5]);
        let mut parts =
            vec![(TEXTS.load.clone(), counted(&["loader.user_ns_total".into(), "loader.system_ns_total".into()]))];
        let (controllers, servers) = (self.controllers(), self.servers());
        if controllers.len() + servers.len() <= MOST_LINES - 3 {
            let one = |number: u32| (controller(number), counted(&[format!("controller{number}.cpu_ns_total")]));
            parts.extend(controllers.into_iter().map(one));
        } else if !controllers.is_empty() {
            let names: Vec<_> = controllers.iter().map(|number| format!("controller{number}.cpu_ns_total")).collect();
            parts.push((TEXTS.controllers.clone(), counted(&names)));
        }
        let server = |(name, prefix)| (name, counted(&[format!("{prefix}.cpu_ns_total")]));
        parts.extend(servers.into_iter().map(server).take(MOST_LINES - 2 - parts.len()));
        parts.retain(|(_, series)| !series.is_empty());
        if busy.is_empty() || parts.is_empty() {
            return Vec::new();
        }
        let others = parts.len();
        let steal = counted(&all[7..]);
        let moments = windows(busy.iter().chain(parts.iter().flat_map(|(_, series)| series)).copied());
        let mut lines: Vec<Vec<Point>> = vec![Vec::new(); others + 2];
        for pair in moments.windows(2) {
            let growth = |series: &[&Series]| -> f64 { series.iter().map(|one| growth(one, pair[0], pair[1])).sum() };
            let whole = (pair[1] - pair[0]) as f64 * f64::from(self.threads.max(1));
            let mut below = 0.0;
            let known: Vec<_> = parts.iter().map(|(_, series)| growth(series)).collect();
            let rest = (growth(&busy) - known.iter().sum::<f64>()).max(0.0);
            for (line, part) in lines.iter_mut().zip(known.into_iter().chain([rest, growth(&steal)])) {
                below += part;
                line.push(((pair[1] - self.origin_ns) as f64 * 1e-9, (100.0 * below / whole).min(100.0)));
            }
        }
        // One share alone is drawn over the time that it is of: as a point it would be an area without a width.
        if let [began, _] = moments[..] {
            let began = (began - self.origin_ns).max(0) as f64 * 1e-9;
            lines.iter_mut().for_each(|line| line.insert(0, (began, line[0].1)));
        }
        if steal.iter().all(|series| series.values.first() == series.values.last()) {
            lines.pop();
        }
        let names = parts.into_iter().map(|(name, _)| name).chain([TEXTS.others.clone(), TEXTS.steal.clone()]);
        names.zip(lines).filter(|(_, line)| !line.is_empty()).map(|(name, line)| (name, vec![line])).collect()
    }

    fn memory(&self) -> Vec<(Phrase, Vec<Stretch>)> {
        let machine = |name: &str| self.named(Origin::Machine, name);
        let mut lines: Vec<_> =
            machine("loader.memory_bytes").map(|series| (TEXTS.load.clone(), self.gauge(series))).into_iter().collect();
        for number in self.controllers().into_iter().take(MOST_LINES - 2) {
            let series = machine(&format!("controller{number}.memory_bytes"));
            lines.extend(series.map(|series| (controller(number), self.gauge(series))));
        }
        for (name, prefix) in self.servers().into_iter().take(MOST_LINES - 1 - lines.len()) {
            let series = machine(&format!("{prefix}.memory_bytes"));
            lines.extend(series.map(|series| (name, self.gauge(series))));
        }
        if let (Some(total), Some(available)) = (machine("memory.total_bytes"), machine("memory.available_bytes"))
            && let Some(total) = total.values.last()
        {
            let used =
                Series { values: available.values.iter().map(|free| total - free).collect(), ..available.clone() };
            lines.push((TEXTS.machine_used.clone(), self.gauge(&used)));
        }
        lines
    }

    /// A counter's slope of the disks: of the pool and of the LUNs together, or, where the target tells of neither, of each disk that worked
    /// and is none upon others.
    fn disks(&self, counter: &str, factor: f64) -> Vec<(Phrase, Vec<Stretch>)> {
        let slope = |series: &Series| {
            let mut stretches = series::slopes(series, self.origin_ns);
            stretches.iter_mut().flatten().for_each(|point| point.1 *= factor);
            stretches
        };
        let set = |(name, label): (&str, &Phrase)| {
            Some((label.clone(), slope(self.named(Origin::Machine, &format!("{name}.{counter}"))?)))
        };
        let sets: Vec<_> =
            [("pool", &TEXTS.pool_disks), ("luns", &TEXTS.lun_devices)].into_iter().filter_map(set).collect();
        if !sets.is_empty() {
            return sets;
        }
        let own = |name: &str| {
            let disk = name.strip_prefix("disk.").and_then(|name| name.strip_suffix(counter));
            disk.is_some_and(|disk| !["loop", "dm-", "md", "zram"].iter().any(|upon| disk.starts_with(upon)))
        };
        let worked = |series: &&Series| series.values.first() != series.values.last();
        let disks = self.of(Origin::Machine, own).into_iter().filter(worked).take(MOST_LINES);
        let line = |series: &Series| {
            let name = series.metric.trim_start_matches("disk.").trim_end_matches(counter).trim_end_matches('.');
            (name.into(), slope(series))
        };
        disks.map(line).collect()
    }
}

/// What the metrics of a server's control groups begin with.
const SERVER: &str = "server-";

fn controller(number: u32) -> Phrase {
    words::say("controller", &[("number", Given::Count(number as usize))])
}

fn of_envelope(name: &str) -> Phrase {
    chart::line_name(name)
}

/// Moments at least a window apart, at which the counter that is read most seldom was read.
fn windows<'a>(counters: impl Iterator<Item = &'a Series>) -> Vec<i64> {
    let mut moments: Vec<i64> = Vec::new();
    let seldom = counters.min_by_key(|series| series.times_ns.len());
    for &time in seldom.map_or(&[][..], |series| &series.times_ns) {
        if moments.last().is_none_or(|last| time - last >= SHARE_WINDOW_NS) {
            moments.push(time);
        }
    }
    moments
}

/// How much a counter grew between two moments, as if it had grown evenly between two readings; nothing where it was reset.
fn growth(series: &Series, from: i64, to: i64) -> f64 {
    let (times, values) = (&series.times_ns, &series.values);
    let at = |moment: i64| {
        let after = times.partition_point(|time| *time < moment);
        match (after.checked_sub(1), times.get(after)) {
            (Some(before), Some(next)) => {
                let share = (moment - times[before]) as f64 / (next - times[before]) as f64;
                values[before] + share * (values[after] - values[before])
            }
            (None, _) => values.first().copied().unwrap_or(0.0),
            (Some(last), None) => values[last],
        }
    };
    let growth = at(to) - at(from);
    if growth.is_finite() { growth.max(0.0) } else { 0.0 }
}
