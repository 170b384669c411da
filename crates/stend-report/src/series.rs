//! Sample series made ready for drawing: slopes of counters, shares of CPU time, and fewer points with the same extremes.

use stend_model::run::Series;

/// A moment in seconds, and a value.
pub(super) type Point = (f64, f64);

/// Points that are joined by a line. Where something is missing, a new stretch begins.
pub(super) type Stretch = Vec<Point>;

/// The end of a counter's name.
const COUNTER: &str = "_total";

/// Whether a metric only grows, so that its slope is drawn.
pub(super) fn is_counter(metric: &str) -> bool {
    metric.ends_with(COUNTER)
}

/// A gauge's values; moments are seconds since `origin_ns`. What is no finite number breaks the line.
pub(super) fn values(series: &Series, origin_ns: i64) -> Vec<Stretch> {
    let mut stretches = vec![Stretch::new()];
    for (time, value) in series.times_ns.iter().zip(&series.values) {
        if value.is_finite() {
            last(&mut stretches).push((seconds(*time, origin_ns), *value));
        } else {
            break_line(&mut stretches);
        }
    }
    finished(stretches)
}

/// A counter's slope by the second, at the end of each interval between two samples. Where the counter falls it was reset:
/// by how much it had grown is not known, so the line is broken there and no slope is made up.
pub(super) fn slopes(series: &Series, origin_ns: i64) -> Vec<Stretch> {
    let mut stretches = vec![Stretch::new()];
    let mut before: Option<(i64, f64)> = None;
    for (&time, &value) in series.times_ns.iter().zip(&series.values) {
        if !value.is_finite() {
            before = None;
            break_line(&mut stretches);
            continue;
        }
        if let Some((time_before, value_before)) = before {
            if time <= time_before {
                continue;
            }
            let slope = (value - value_before) / seconds(time, time_before);
            if slope >= 0.0 && slope.is_finite() {
                last(&mut stretches).push((seconds(time, origin_ns), slope));
            } else {
                break_line(&mut stretches);
            }
        }
        before = Some((time, value));
    }
    finished(stretches)
}

/// What a counter of CPU time counts, and of which CPU: `user` of `cpu.user_ns_total` and of `cpu3.user_ns_total`.
pub(super) fn cpu_time(metric: &str) -> Option<(Cpu, &str)> {
    let (cpu, name) = cpu_metric(metric)?;
    let kind = name.strip_suffix("_ns_total")?;
    (!kind.contains('.')).then_some((cpu, kind))
}

/// Whether a metric is of all CPUs together or of one, and its name without that: `frequency_hz` of `cpu3.frequency_hz`.
pub(super) fn cpu_metric(metric: &str) -> Option<(Cpu, &str)> {
    let (number, name) = metric.strip_prefix("cpu")?.split_once('.')?;
    let cpu = if number.is_empty() { Cpu::All } else { Cpu::One(number.parse().ok()?) };
    Some((cpu, name))
}

/// A metric of one LUN, without which one it is: `iops` of `lun3.iops`.
pub(super) fn lun_metric(metric: &str) -> Option<&str> {
    let (number, name) = metric.strip_prefix("lun")?.split_once('.')?;
    number.parse::<u32>().ok().map(|_| name)
}

/// All CPUs together, or one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cpu {
    All,
    One(u32),
}

/// Of lines that are alike, at each moment the lowest, the mean and the highest. A machine has many CPUs, and a line for
/// each of them could not be read.
pub(super) fn envelope(lines: Vec<Vec<Stretch>>) -> Vec<(&'static str, Vec<Stretch>)> {
    let mut points: Vec<Point> = lines.into_iter().flatten().flatten().collect();
    points.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut envelope = ["lowest", "mean", "highest"].map(|name| (name, vec![Stretch::new()]));
    for moment in points.chunk_by(|a, b| a.0 == b.0) {
        let values = || moment.iter().map(|point| point.1);
        let mean = values().sum::<f64>() / moment.len() as f64;
        let figures = [values().fold(f64::INFINITY, f64::min), mean, values().fold(f64::NEG_INFINITY, f64::max)];
        for ((_, stretches), figure) in envelope.iter_mut().zip(figures) {
            last(stretches).push((moment[0].0, figure));
        }
    }
    envelope.into_iter().map(|(name, stretches)| (name, finished(stretches))).collect()
}

/// What CPU time went to, in percent of the whole machine. `counters` are the machine's `cpu.…_ns_total` of one repeat,
/// or those of one CPU, which is then the whole.
///
/// The whole is the growth of all counters together where `idle` is among them; otherwise it is time × `threads`.
/// Time of guests is part of `user` already and left out. Returned are `busy` and its parts as far as they are known.
pub(super) fn cpu_shares(counters: &[&Series], threads: u32, origin_ns: i64) -> Vec<(&'static str, Vec<Stretch>)> {
    let counters: Vec<_> = counters
        .iter()
        .filter_map(|series| cpu_time(&series.metric).map(|(_, kind)| (kind, *series)))
        .filter(|(kind, _)| !kind.starts_with("guest"))
        .collect();
    let Some((_, first)) = counters.first() else { return Vec::new() };
    let has_idle = counters.iter().any(|(kind, _)| *kind == "idle");
    let mut places = vec![0; counters.len()];
    let mut before: Option<(i64, Vec<f64>)> = None;
    let mut lines: Vec<_> = CPU_LINES.map(|(name, _)| (name, vec![Stretch::new()])).into();
    for &time in &first.times_ns {
        // Counters of one sample carry the same moment; a moment that one of them lacks is passed over.
        let now: Option<Vec<f64>> = counters
            .iter()
            .zip(&mut places)
            .map(|((_, series), place)| {
                while series.times_ns.get(*place).is_some_and(|other| *other < time) {
                    *place += 1;
                }
                let here = series.times_ns.get(*place) == Some(&time);
                series.values.get(*place).copied().filter(|value| here && value.is_finite())
            })
            .collect();
        let Some(now) = now else { continue };
        if let Some((time_before, values_before)) = &before
            && time > *time_before
        {
            let growth: Vec<_> = now.iter().zip(values_before).map(|(now, before)| now - before).collect();
            let whole: f64 =
                if has_idle { growth.iter().sum() } else { (time - time_before) as f64 * f64::from(threads.max(1)) };
            let reset = growth.iter().any(|growth| *growth < 0.0) || whole <= 0.0;
            for ((_, stretches), (_, belongs)) in lines.iter_mut().zip(CPU_LINES) {
                if reset {
                    break_line(stretches);
                } else {
                    let parts = counters.iter().zip(&growth).filter(|((kind, _), _)| belongs(kind));
                    let share = 100.0 * parts.map(|(_, growth)| growth).sum::<f64>() / whole;
                    last(stretches).push((seconds(time, origin_ns), share));
                }
            }
        }
        before = Some((time, now));
    }
    let lines = lines.into_iter().map(|(name, stretches)| (name, finished(stretches)));
    let known = |name: &str| {
        CPU_LINES.iter().any(|(line, belongs)| *line == name && counters.iter().any(|(kind, _)| belongs(kind)))
    };
    lines.filter(|(name, _)| known(name)).collect()
}

/// Whether CPU time of a kind belongs to a line.
type Belongs = fn(&str) -> bool;

/// The lines of the CPU chart, and what belongs to each.
const CPU_LINES: [(&str, Belongs); 5] = [
    ("busy", |kind| !matches!(kind, "idle" | "iowait")),
    ("user", |kind| matches!(kind, "user" | "nice")),
    ("system", |kind| matches!(kind, "system" | "irq" | "softirq")),
    ("iowait", |kind| kind == "iowait"),
    ("steal", |kind| kind == "steal"),
];

/// Of each column of the axis of time, which is so many seconds wide, the first point, the last, the lowest and the highest, in the order of
/// time. A line through these looks, in columns as wide as a pixel, as if all points were drawn; so a peak of one sample among a million is
/// as high as it was.
///
/// This is M4: Jugel, Jerzak, Hackenbroich, Markl, "M4: A Visualization-Oriented Time Series Data Aggregation", VLDB 2014.
pub(super) fn reduce(points: &[Point], column: f64) -> Stretch {
    let mut kept = Stretch::new();
    for within in points.chunk_by(|a, b| (a.0 / column).floor() == (b.0 / column).floor()) {
        let by_value = |a: &(usize, &Point), b: &(usize, &Point)| a.1.1.total_cmp(&b.1.1);
        let lowest = within.iter().enumerate().min_by(by_value).map_or(0, |(place, _)| place);
        let highest = within.iter().enumerate().max_by(by_value).map_or(0, |(place, _)| place);
        let mut places = [0, lowest, highest, within.len() - 1];
        places.sort_unstable();
        let mut before = None;
        for place in places {
            if before != Some(place) {
                kept.push(within[place]);
            }
            before = Some(place);
        }
    }
    kept
}

fn seconds(time_ns: i64, origin_ns: i64) -> f64 {
    time_ns.saturating_sub(origin_ns) as f64 * 1e-9
}

fn last(stretches: &mut [Stretch]) -> &mut Stretch {
    stretches.last_mut().expect("there is one from the start")
}

fn break_line(stretches: &mut Vec<Stretch>) {
    if !last(stretches).is_empty() {
        stretches.push(Stretch::new());
    }
}

fn finished(mut stretches: Vec<Stretch>) -> Vec<Stretch> {
    stretches.retain(|stretch| !stretch.is_empty());
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use stend_model::run::Origin;

    fn series(metric: &str, points: &[(i64, f64)]) -> Series {
        Series {
            metric: metric.into(),
            origin: Origin::Machine,
            times_ns: points.iter().map(|(time, _)| *time).collect(),
            values: points.iter().map(|(_, value)| *value).collect(),
        }
    }

    #[test]
    fn a_counters_slope_is_its_growth_by_the_second_and_breaks_at_a_reset() {
        let counter = series(
            "x_total",
            &[(0, 10.0), (500_000_000, 20.0), (1_500_000_000, 50.0), (2_000_000_000, 5.0), (3_000_000_000, 7.0)],
        );
        assert_eq!(slopes(&counter, 0), [vec![(0.5, 20.0), (1.5, 30.0)], vec![(3.0, 2.0)]]);
        let strange = series("x_total", &[(0, 1.0), (0, 5.0), (1_000_000_000, f64::NAN), (2_000_000_000, 6.0)]);
        assert_eq!(slopes(&strange, 0), Vec::<Stretch>::new());
    }

    #[test]
    fn what_is_no_number_breaks_a_gauge() {
        let gauge = series("x", &[(0, 1.0), (1, f64::NAN), (2, f64::INFINITY), (1_000_000_000, 3.0)]);
        assert_eq!(values(&gauge, 0), [vec![(0.0, 1.0)], vec![(1.0, 3.0)]]);
        assert!(values(&series("x", &[]), 0).is_empty() && slopes(&series("x_total", &[]), 0).is_empty());
    }

    #[test]
    fn cpu_time_is_a_share_of_the_whole_machine() {
        let second = 1_000_000_000;
        let user = series("cpu.user_ns_total", &[(0, 0.0), (second, 1e9), (2 * second, 3e9)]);
        let steal = series("cpu.steal_ns_total", &[(0, 0.0), (second, 1e9), (2 * second, 1e9)]);
        let idle = series("cpu.idle_ns_total", &[(0, 0.0), (second, 2e9), (2 * second, 4e9)]);
        let guest = series("cpu.guest_ns_total", &[(0, 0.0), (second, 1e9), (2 * second, 1e9)]);
        let lines = cpu_shares(&[&user, &steal, &idle, &guest], 4, 0);
        let line = |name| &lines.iter().find(|(line, _)| *line == name).unwrap().1;
        assert_eq!(line("busy"), &[vec![(1.0, 50.0), (2.0, 50.0)]]);
        assert_eq!(line("steal"), &[vec![(1.0, 25.0), (2.0, 0.0)]]);
        assert!(lines.iter().all(|(name, _)| *name != "iowait"), "what is not counted is not drawn");
        let without_idle = cpu_shares(&[&user], 4, 0);
        assert_eq!(without_idle[0], ("busy", vec![vec![(1.0, 25.0), (2.0, 50.0)]]));
        assert!(cpu_shares(&[], 4, 0).is_empty());
    }

    #[test]
    fn cpus_are_told_from_the_whole() {
        assert_eq!(cpu_time("cpu.user_ns_total"), Some((Cpu::All, "user")));
        assert_eq!(cpu_time("cpu12.idle_ns_total"), Some((Cpu::One(12), "idle")));
        assert_eq!(cpu_metric("cpu3.frequency_hz"), Some((Cpu::One(3), "frequency_hz")));
        assert_eq!(
            (cpu_time("cpu3.frequency_hz"), cpu_metric("cpufreq.x"), cpu_metric("memory.x")),
            (None, None, None)
        );
    }

    #[test]
    fn luns_are_told_from_the_whole() {
        assert_eq!(lun_metric("lun3.latency_p99_ns"), Some("latency_p99_ns"));
        assert_eq!((lun_metric("iops"), lun_metric("lung.x"), lun_metric("lun.x")), (None, None, None));
    }

    #[test]
    fn many_lines_become_three() {
        let lines = envelope(vec![vec![vec![(0.0, 1.0), (1.0, 5.0)]], vec![vec![(0.0, 3.0)], vec![(2.0, 4.0)]]]);
        assert_eq!(lines[0], ("lowest", vec![vec![(0.0, 1.0), (1.0, 5.0), (2.0, 4.0)]]));
        assert_eq!(lines[1], ("mean", vec![vec![(0.0, 2.0), (1.0, 5.0), (2.0, 4.0)]]));
        assert_eq!(lines[2], ("highest", vec![vec![(0.0, 3.0), (1.0, 5.0), (2.0, 4.0)]]));
        assert!(envelope(vec![]).iter().all(|(_, stretches)| stretches.is_empty()));
    }

    #[test]
    fn of_a_column_four_points_remain_and_of_a_few_points_all() {
        let column = [(0.0, 5.0), (0.1, 5.0), (0.2, 9.0), (0.3, 6.0), (0.4, 1.0), (0.5, 4.0), (0.9, 5.0)];
        assert_eq!(reduce(&column, 1.0), [(0.0, 5.0), (0.2, 9.0), (0.4, 1.0), (0.9, 5.0)]);
        assert_eq!(reduce(&column[..2], 1.0), column[..2]);
        assert_eq!(reduce(&column, 0.1), column, "as many columns as points");
        assert!(reduce(&[], 1.0).is_empty());
    }

    proptest! {
        #[test]
        fn no_peak_is_lost_in_any_column(steps in prop::collection::vec((0.0..3.0f64, -1e9..1e9f64), 0..3000), column in 0.5..100.0f64) {
            let mut moment = 0.0;
            let points: Vec<Point> = steps.iter().map(|(step, value)| { moment += step; (moment, *value) }).collect();
            let kept = reduce(&points, column);
            prop_assert!(kept.windows(2).all(|pair| pair[0].0 <= pair[1].0));
            prop_assert!(kept.iter().all(|point| points.contains(point)));
            // What the paper asks for, computed the long way: column by column.
            let of = |points: &[Point], number: f64| -> Vec<Point> {
                points.iter().copied().filter(|point| (point.0 / column).floor() == number).collect()
            };
            for number in 0..=(moment / column).floor() as u32 {
                let (all, kept) = (of(&points, f64::from(number)), of(&kept, f64::from(number)));
                prop_assert!(kept.len() <= 4);
                prop_assert_eq!((all.first(), all.last()), (kept.first(), kept.last()));
                let lowest = |points: &[Point]| points.iter().map(|p| p.1).fold(f64::INFINITY, f64::min);
                let highest = |points: &[Point]| points.iter().map(|p| p.1).fold(f64::NEG_INFINITY, f64::max);
                prop_assert_eq!((lowest(&all), highest(&all)), (lowest(&kept), highest(&kept)));
            }
        }

        #[test]
        fn slopes_are_finite_and_never_negative(points in prop::collection::vec((any::<i64>(), any::<f64>()), 0..50)) {
            let counter = series("x_total", &points);
            let slopes: Vec<Point> = slopes(&counter, 0).concat();
            prop_assert!(slopes.iter().all(|(time, slope)| time.is_finite() && slope.is_finite() && *slope >= 0.0));
        }
    }
}
