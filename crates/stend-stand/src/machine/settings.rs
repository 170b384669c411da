//! Settings of the kernel that change speeds. Values that move by themselves have no place here: they would change the
//! software's id from one minute to the next.

use stend_model::cause::Cause;

use std::collections::BTreeMap;

use super::texts::{Texts, tallied};

/// Files whose one line is the setting.
const FILES: [(&str, &str); 10] = [
    ("smt", "sys/devices/system/cpu/smt/control"),
    ("processors_online", "sys/devices/system/cpu/online"),
    ("processors_isolated", "sys/devices/system/cpu/isolated"),
    ("processors_nohz_full", "sys/devices/system/cpu/nohz_full"),
    ("intel_pstate", "sys/devices/system/cpu/intel_pstate/status"),
    ("amd_pstate", "sys/devices/system/cpu/amd_pstate/status"),
    ("idle_driver", "sys/devices/system/cpu/cpuidle/current_driver"),
    ("idle_governor", "sys/devices/system/cpu/cpuidle/current_governor"),
    ("clocksource", "sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("page_size", "getconf PAGESIZE"),
];

/// Files that list what there is and mark what is chosen: `always [madvise] never`.
const CHOICES: [(&str, &str); 2] = [
    ("transparent_hugepage", "sys/kernel/mm/transparent_hugepage/enabled"),
    ("transparent_hugepage_defrag", "sys/kernel/mm/transparent_hugepage/defrag"),
];

/// Files that each processor has.
const OF_EACH_PROCESSOR: [(&str, &str); 3] = [
    ("governor", "scaling_governor"),
    ("frequency_driver", "scaling_driver"),
    ("energy_performance_preference", "energy_performance_preference"),
];

/// Settings whose absence is worth a word: what they would tell decides whether a measurement holds.
const EXPECTED: [&str; 6] =
    ["governor", "boost", "clocksource", "transparent_hugepage", "kernel.randomize_va_space", "vm.swappiness"];

/// The settings, and of those that matter most the ones that could not be read, with why.
pub(super) fn settings(texts: &Texts) -> (BTreeMap<String, String>, Vec<(String, Cause)>) {
    let mut settings = BTreeMap::new();
    let mut put = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            settings.insert(name.to_owned(), value);
        }
    };
    for (name, file) in FILES {
        put(name, texts.line(file).map(str::to_owned));
    }
    for (name, file) in CHOICES {
        put(name, texts.line(file).map(chosen));
    }
    for (name, file) in OF_EACH_PROCESSOR {
        put(name, texts.get(&of_each_processor(file)).and_then(summary));
    }
    put("cgroup_cpu_max", cpu_limit(texts));
    put("boost", boost(texts));
    put(
        "processors_allowed",
        texts.line("proc/self/status").and_then(|line| Some(line.split_once(':')?.1.trim().to_owned())),
    );
    for (name, value) in
        texts.below("proc/sys/").filter(|(name, value)| *name != "kernel/osrelease" && !value.is_empty())
    {
        put(&name.replace('/', "."), Some(value.to_owned()));
    }
    let firmware: Vec<_> = ["bios_vendor", "bios_version"]
        .iter()
        .filter_map(|name| texts.line(&format!("sys/class/dmi/id/{name}")))
        .collect();
    put("firmware", (!firmware.is_empty()).then(|| firmware.join(" ")));
    for disk in texts.get("disks").unwrap_or("").lines().map(str::trim) {
        let field = |name: &str| texts.line(&format!("sys/block/{disk}/queue/{name}")).map(str::to_owned);
        put(&format!("{disk}.scheduler"), field("scheduler").map(|text| chosen(&text)));
        for name in ["nr_requests", "write_cache", "read_ahead_kb"] {
            put(&format!("{disk}.{name}"), field(name));
        }
    }
    let missing = EXPECTED.iter().filter(|name| !settings.contains_key(**name));
    let missing = missing.map(|name| (format!("settings.{name}"), texts.why(&source_of(name)))).collect();
    (settings, missing)
}

fn of_each_processor(file: &str) -> String {
    format!("sys/devices/system/cpu/cpu[0-9]*/cpufreq/{file}")
}

fn source_of(setting: &str) -> String {
    let named = FILES.iter().chain(&CHOICES).find(|(name, _)| *name == setting).map(|(_, file)| (*file).to_owned());
    named.unwrap_or_else(|| match setting {
        "governor" => of_each_processor("scaling_governor"),
        "boost" => "sys/devices/system/cpu/cpufreq/boost".into(),
        _ => format!("proc/sys/{}", setting.replace('.', "/")),
    })
}

/// The word in brackets, or all of it if there are none.
pub fn chosen(text: &str) -> String {
    let inside = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(word, _)| word);
    inside.unwrap_or(text).trim().to_owned()
}

/// One value for all processors as it is, several with the number of each.
fn summary(tally: &str) -> Option<String> {
    let values = tallied(tally);
    match values.as_slice() {
        [] => None,
        [(_, value)] => Some((*value).to_owned()),
        _ => Some(values.iter().map(|(count, value)| format!("{value} ({count})")).collect::<Vec<_>>().join(", ")),
    }
}

/// Whether processors may go above their nominal frequency.
pub(super) fn boost(texts: &Texts) -> Option<String> {
    let word = |on: bool| if on { "on" } else { "off" }.to_owned();
    let directory = "sys/devices/system/cpu";
    let no_turbo = texts.line(&format!("{directory}/intel_pstate/no_turbo"));
    let boost = texts.line(&format!("{directory}/cpufreq/boost"));
    no_turbo.map(|text| word(text == "0")).or_else(|| boost.map(|text| word(text == "1")))
}

/// The tightest limit of processor time on any level of control groups, as `processors`: a quota divided by its period.
fn cpu_limit(texts: &Texts) -> Option<String> {
    let limits = texts.get("cpu.max")?.lines().filter_map(|line| {
        let (quota, period) = line.split_once(' ')?;
        let (quota, period): (f64, f64) = (quota.parse().ok()?, period.trim().parse().ok()?);
        (period > 0.0).then_some(quota / period)
    });
    limits.min_by(f64::total_cmp).map(|processors| format!("{processors:.2} processors"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Output;

    fn texts(text: &str) -> Texts {
        Texts::parse(&Output { exit: Some(0), stdout: text.into(), stderr: Vec::new() })
    }

    #[test]
    fn the_tightest_limit_counts() {
        let limit = |text: &str| settings(&texts(text)).0.get("cgroup_cpu_max").cloned();
        assert_eq!(limit("cpu.max:max 100000\ncpu.max:150000 100000\n").as_deref(), Some("1.50 processors"));
        assert_eq!(limit("cpu.max:max 100000\n"), None);
    }

    #[test]
    fn turbo_is_read_where_it_stands() {
        let boost = |text: &str| boost(&texts(text));
        assert_eq!(boost("sys/devices/system/cpu/intel_pstate/no_turbo:1").as_deref(), Some("off"));
        assert_eq!(boost("sys/devices/system/cpu/cpufreq/boost:1").as_deref(), Some("on"));
        assert_eq!(boost(""), None);
    }

    #[test]
    fn different_governors_are_counted() {
        let name = "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor";
        let (settings, missing) = settings(&texts(&format!("{name}:      4 performance\n{name}:      2 powersave\n")));
        assert_eq!(settings["governor"], "performance (4), powersave (2)");
        assert!(missing.iter().any(|(name, why)| name == "settings.boost" && matches!(why, Cause::Silent { .. })));
    }
}
