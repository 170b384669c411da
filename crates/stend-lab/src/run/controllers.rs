//! What a target's controllers, or a server, used in exactly the stretch that was measured.
//!
//! Their control groups are read by the sampler; run-up and layout are left out ([`super::counters`]).

use stend_model::cause::Cause;
use stend_model::run::Series;
use stend_model::wire::Report;

use super::attempt::Attempt;
use super::counters::growth;
use super::targets::server_group;
use crate::rig::watched::controller;

/// Adds to what was observed: `controllers_cpu_ns`, `controller0_cpu_ns`, …, and `controllers_memory_bytes`, which is the most that they
/// had together. What cannot be known is left out, and then the sum too, and it is said why. `series` may reach beyond the stretch, and should.
pub(super) fn count(attempt: &mut Attempt, controllers: usize, series: &[Series]) {
    let Attempt { report: Some(report), begin, .. } = attempt else { return };
    let lacking = match report.t_ns {
        None => Some(Cause::BeginUnknown),
        Some(began) => count_from(report, began, controllers, series),
    };
    if let (Some(why), Some(begin), true) = (lacking, begin, controllers > 0) {
        begin.missing.insert("controllers_cpu_ns".into(), why.into());
    }
}

/// Adds what the server used that the scenario loads: `server_cpu_ns`, and `server_memory_bytes`, which is the most that it had. Returns the CPU time
/// that it used while the command ran, also outside the stretch.
pub(super) fn count_server(attempt: &mut Attempt, server: &str, series: &[Series]) -> Option<f64> {
    let Attempt { report: Some(report), begin, usage, .. } = attempt else { return None };
    let group = server_group(server);
    let of = |metric: &str| series.iter().find(|series| series.metric == format!("{group}.{metric}"));
    let used = match (report.t_ns, of("cpu_ns_total")) {
        (None, _) => Err(Cause::BeginUnknown),
        (_, None) => Err(Cause::CpuTimeUnread { of: group.clone() }),
        (Some(began), Some(series)) => {
            let used = growth(series, began, end_of(report, began)).map(f64::round);
            used.ok_or_else(|| Cause::NotReadAround { metric: group.clone() })
        }
    };
    match (used, begin) {
        (Ok(used), _) => drop(report.observed.insert("server_cpu_ns".into(), used)),
        (Err(why), Some(begin)) => drop(begin.missing.insert("server_cpu_ns".into(), why.into())),
        (Err(_), None) => {}
    }
    if let (Some(began), Some(memory)) = (report.t_ns, of("memory_bytes"))
        && let Some(most) = most_together(&[memory], began, end_of(report, began))
    {
        report.observed.insert("server_memory_bytes".into(), most);
    }
    let usage = usage.as_ref()?;
    let started = usage.t_ns?;
    growth(of("cpu_ns_total")?, started, started.saturating_add_unsigned(usage.wall_ns))
}

/// When the measured stretch ended. Many jobs together may take longer than any of them.
fn end_of(report: &Report, began: i64) -> i64 {
    let span = report.observed.get("span_ns").map_or(report.wall_ns, |span| (*span as u64).max(report.wall_ns));
    began.saturating_add_unsigned(span)
}

/// Why there is no sum of processor time, if there is none.
fn count_from(report: &mut Report, began: i64, controllers: usize, series: &[Series]) -> Option<Cause> {
    let ended = end_of(report, began);
    let of = |number: usize, metric: &str| {
        let name = format!("{}.{metric}", controller(number));
        series.iter().find(|series| series.metric == name)
    };
    let (mut sum, mut lacking) = (0.0, None);
    for number in 0..controllers {
        match of(number, "cpu_ns_total").map(|series| growth(series, began, ended).map(f64::round)) {
            Some(Some(used)) => {
                sum += used;
                report.observed.insert(format!("{}_cpu_ns", controller(number)), used);
            }
            Some(None) => {
                lacking = Some(Cause::NotReadAround { metric: controller(number) });
            }
            None => lacking = Some(Cause::CpuTimeUnread { of: controller(number) }),
        }
    }
    if lacking.is_none() && controllers > 0 {
        report.observed.insert("controllers_cpu_ns".into(), sum);
    }
    let memory: Option<Vec<_>> = (0..controllers).map(|number| of(number, "memory_bytes")).collect();
    report.observed.extend(
        most_together(&memory.unwrap_or_default(), began, ended)
            .map(|most| ("controllers_memory_bytes".to_owned(), most)),
    );
    lacking
}

/// The largest sum of these series, which were read at the same moments, in a stretch.
fn most_together(series: &[&Series], began: i64, ended: i64) -> Option<f64> {
    let first = series.first()?;
    let within = first.times_ns.iter().enumerate().filter(|(_, time)| (began..=ended).contains(*time));
    let sum = |(place, time): (usize, &i64)| {
        let one =
            |series: &&Series| series.values.get(place).filter(|_| series.times_ns.get(place) == Some(time)).copied();
        series.iter().map(one).sum::<Option<f64>>()
    };
    within.filter_map(sum).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use stend_model::run::Origin;

    use super::*;

    const SECOND: i64 = 1_000_000_000;

    /// A counter that stands still, grows by `share` seconds each second from 10 s to 40 s, and stands still again; read each 100 ms.
    fn worked(metric: &str, share: f64, from: i64, to: i64) -> Series {
        let times_ns: Vec<_> = (from * 10..=to * 10).map(|tick| tick * SECOND / 10 + 31_000_000).collect();
        let used = |time: &i64| 7e9 + share * (*time as f64 - 10e9).clamp(0.0, 30e9);
        let values = times_ns.iter().map(used).collect();
        Series { metric: metric.into(), origin: Origin::Machine, times_ns, values }
    }

    fn report(began: i64, wall_ns: u64) -> Report {
        let report = stend_testing::repeat(0, 0, 0, 1.0).report.unwrap();
        Report { t_ns: Some(began), wall_ns, ..report }
    }

    fn count_in(report: &mut Report, controllers: usize, series: &[Series]) {
        let began = report.t_ns.unwrap();
        let lacking = count_from(report, began, controllers, series);
        assert_eq!(lacking.is_none(), report.observed.contains_key("controllers_cpu_ns"), "{lacking:?}");
    }

    #[test]
    fn only_the_measured_stretch_is_counted() {
        let series = [worked("controller0.cpu_ns_total", 0.5, 0, 60), worked("controller1.cpu_ns_total", 0.25, 0, 60)];
        // The run-up of ten seconds is not.
        let mut measured = report(15 * SECOND + 7, 20 * SECOND as u64);
        count_in(&mut measured, 2, &series);
        let observed = |name: &str| measured.observed[name];
        assert!((observed("controller0_cpu_ns") - 10e9).abs() < 10.0, "{:?}", measured.observed);
        assert!((observed("controller1_cpu_ns") - 5e9).abs() < 10.0);
        assert_eq!(observed("controllers_cpu_ns"), observed("controller0_cpu_ns") + observed("controller1_cpu_ns"));
        assert!(!measured.observed.contains_key("controllers_memory_bytes"));
        // Where the load begins and ends with the stretch, the ends are wrong by less than what is used between two readings.
        let mut whole = report(10 * SECOND, 30 * SECOND as u64);
        count_in(&mut whole, 2, &series);
        assert!((whole.observed["controller0_cpu_ns"] - 15e9).abs() <= 0.5 * 0.1e9, "{:?}", whole.observed);
    }

    #[test]
    fn readings_that_begin_in_the_stretch_are_followed_back_by_one_interval() {
        let observed = |from, to| {
            let mut report = report(20 * SECOND, 10 * SECOND as u64);
            count_in(&mut report, 1, &[worked("controller0.cpu_ns_total", 0.5, from, to)]);
            report.observed.get("controllers_cpu_ns").copied()
        };
        assert!((observed(20, 30).unwrap() - 5e9).abs() < 10.0);
        assert_eq!((observed(21, 30), observed(20, 29)), (None, None), "a second of it nobody has seen");
    }

    #[test]
    fn what_is_not_known_is_left_out() {
        let mut alone = report(20 * SECOND, 10 * SECOND as u64);
        count_in(&mut alone, 2, &[worked("controller0.cpu_ns_total", 0.5, 0, 60)]);
        assert!(
            alone.observed.contains_key("controller0_cpu_ns") && !alone.observed.contains_key("controllers_cpu_ns")
        );
        let mut reset = worked("controller0.cpu_ns_total", 0.5, 0, 60);
        reset.values.iter_mut().skip(250).for_each(|value| *value = 0.0);
        for series in [
            vec![],
            vec![reset],
            vec![Series { times_ns: vec![0], values: vec![1.0], ..worked("controller0.cpu_ns_total", 1.0, 0, 1) }],
        ] {
            let mut without = report(20 * SECOND, 10 * SECOND as u64);
            count_in(&mut without, 1, &series);
            assert!(!without.observed.keys().any(|name| name.contains("controller")), "{:?}", without.observed);
        }
    }

    #[test]
    fn memory_is_the_most_that_all_had_at_one_moment() {
        let gauge = |name: &str, values: [f64; 4]| Series {
            metric: format!("{name}.memory_bytes"),
            origin: Origin::Machine,
            times_ns: vec![19 * SECOND, 20 * SECOND, 21 * SECOND, 22 * SECOND],
            values: values.into(),
        };
        let mut report = report(20 * SECOND, 10 * SECOND as u64);
        count_in(
            &mut report,
            2,
            &[gauge("controller0", [99.0, 1.0, 5.0, 2.0]), gauge("controller1", [99.0, 9.0, 1.0, 3.0])],
        );
        assert_eq!(report.observed["controllers_memory_bytes"], 10.0);
    }
}
