//! What the machine's own sensors say that the measured stretch took of energy.
//!
//! Counters are taken over exactly that stretch ([`super::counters`]); what a sensor reads in watts is taken as its mean over it.

use std::collections::BTreeMap;

use stend_model::run::Series;
use stend_model::wire::{Report, Usage};

use super::counters::growth;

/// Adds to what was observed, in joules, each sensor by a name that metrics can have:
///
/// * `processor_energy_joules`, all packages that RAPL counts; what else it counts as `dram_energy_joules`, `core_…`, `psys_…`, summed over
///   packages, and in part contained in the first;
/// * of each sensor of hwmon `CHIP_LABEL_energy_joules`.
///
/// Where the instrument does not say when its measured part began, it is the whole command, as the guard saw it. What cannot be known is left
/// out.
pub(super) fn count(report: &mut Report, usage: Option<&Usage>, series: &[Series]) {
    let measured = report.t_ns.map(|began| (began, report.wall_ns));
    let Some((began, wall_ns)) = measured.or_else(|| Some((usage?.t_ns?, usage?.wall_ns))) else { return };
    let ended = began.saturating_add_unsigned(wall_ns);
    let mut sums: BTreeMap<String, Option<f64>> = BTreeMap::new();
    for one in series {
        let (name, joules) = if let Some(name) = inner(&one.metric, "energy.", "_joules_total") {
            (name, growth(one, began, ended))
        } else if let Some(name) = inner(&one.metric, "power.", "_watts") {
            (name, mean_within(one, began, ended).map(|watts| watts * wall_ns as f64 * 1e-9))
        } else {
            continue;
        };
        // Without one of its parts a sum is none.
        let sum = sums.entry(sensor(name)).or_insert(Some(0.0));
        *sum = sum.zip(joules).map(|(sum, joules)| sum + joules);
    }
    let known = sums.into_iter().filter_map(|(name, joules)| Some((format!("{name}_energy_joules"), joules?)));
    report.observed.extend(known.filter(|(_, joules)| *joules > 0.0));
}

fn inner<'a>(metric: &'a str, before: &str, behind: &str) -> Option<&'a str> {
    metric.strip_prefix(before)?.strip_suffix(behind)
}

/// What a sensor is summed under: `rapl.package-1` is the processor's, `rapl.package-1.dram` the memory's.
fn sensor(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let Some(zone) = name.strip_prefix("rapl.") else {
        let name: String = name.chars().map(plain).collect();
        // A metric's name begins with a letter.
        return if name.starts_with(|c: char| c.is_ascii_lowercase()) { name } else { format!("sensor_{name}") };
    };
    match zone.rsplit_once('.') {
        None if zone.starts_with("package") => "processor".into(),
        None => zone.chars().map(plain).collect(),
        Some((_, part)) => part.chars().map(plain).collect(),
    }
}

fn mean_within(series: &Series, began: i64, ended: i64) -> Option<f64> {
    let within = series.times_ns.iter().zip(&series.values).filter(|(time, _)| (began..=ended).contains(*time));
    let values: Vec<f64> = within.map(|(_, value)| *value).collect();
    stend_stats::mean(&values)
}

#[cfg(test)]
mod tests {
    use stend_model::run::Origin;

    use super::*;

    const SECOND: i64 = 1_000_000_000;

    /// Read each 100 ms for 20 s: so many watts, as a counter or as they are.
    fn drawn(metric: &str, watts: f64) -> Series {
        let times_ns: Vec<_> = (0..=200).map(|tick| tick * SECOND / 10).collect();
        let reading = |time: &i64| if metric.ends_with("_total") { 5.0 + watts * *time as f64 * 1e-9 } else { watts };
        let values = times_ns.iter().map(reading).collect();
        Series { metric: metric.into(), origin: Origin::Machine, times_ns, values }
    }

    fn observed(series: &[Series]) -> BTreeMap<String, f64> {
        let mut report = stend_testing::repeat(0, 0, 0, 1.0).report.unwrap();
        (report.t_ns, report.wall_ns) = (Some(5 * SECOND), 10 * SECOND as u64);
        report.observed.clear();
        count(&mut report, None, series);
        report.observed
    }

    #[test]
    fn packages_are_summed_and_everything_else_has_a_name_of_its_own() {
        let found = observed(&[
            drawn("energy.rapl.package-0_joules_total", 20.0),
            drawn("energy.rapl.package-1_joules_total", 30.0),
            drawn("energy.rapl.package-0.dram_joules_total", 3.0),
            drawn("energy.rapl.package-1.dram_joules_total", 4.0),
            drawn("energy.rapl.psys_joules_total", 90.0),
            drawn("power.ina226_Board-5V_watts", 7.0),
            drawn("load.1m", 7.0),
        ]);
        let rounded: Vec<_> = found.iter().map(|(name, joules)| (name.as_str(), joules.round())).collect();
        assert_eq!(
            rounded,
            [
                ("dram_energy_joules", 70.0),
                ("ina226_board_5v_energy_joules", 70.0),
                ("processor_energy_joules", 500.0),
                ("psys_energy_joules", 900.0),
            ]
        );
    }

    #[test]
    fn without_one_package_there_is_no_sum() {
        let mut short = drawn("energy.rapl.package-1_joules_total", 30.0);
        short.times_ns.truncate(30);
        short.values.truncate(30);
        let found = observed(&[drawn("energy.rapl.package-0_joules_total", 20.0), short]);
        assert!(found.is_empty(), "{found:?}");
    }
}
