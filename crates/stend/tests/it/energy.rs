//! Energy: from the counters of a made /sys through the real sampler and a run to metrics and the weighing.

use std::fmt::Write as _;

use crate::common::{NO_LIMITS, Stand, ended, executable, probe};

/// An instrument that makes the counter grow by 12 J in steps, and says how many bytes that was. At its start and its end it may hold up
/// the sampler, as a busy machine does.
const BURNING: &str = r#"set -eu
counter=$1
sampler=${2:+$(cat "$2")}
echo '{"event":"begin","wire":1,"instrument":"burning.sh","version":"1","parameters":{}}'
[ -z "$sampler" ] || kill -STOP "$sampler"
start=$(date +%s%N)
step=0
while [ $step -lt 12 ]; do
	[ -z "$sampler" ] || case $step in 2) kill -CONT "$sampler" ;; 11) kill -STOP "$sampler" ;; esac
	sleep 0.1
	echo $(($(cat "$counter") + 1000000)) >"$counter.new"
	# In place: a counter is never empty.
	cat "$counter.new" 1<>"$counter"
	step=$((step + 1))
done
end=$(date +%s%N)
[ -z "$sampler" ] || kill -CONT "$sampler"
echo '{"event":"repeat","wall_ns":'$((end - start))',"work":{"bytes":24000000,"operations":6},"check":"passed","evidence":"none"}'
echo '{"event":"end","repeats":1}'
"#;

/// A run whose sampler reads a made tree with a counter of RAPL, and may be held up at the start and the end of each repeat.
fn burned(held_up: bool) -> Stand {
    let stand = Stand::new();
    let zone = stand.path().join("root/sys/class/powercap/intel-rapl:0");
    std::fs::create_dir_all(&zone).unwrap();
    for (file, text) in [("name", "package-0\n"), ("energy_uj", "1000000\n"), ("max_energy_range_uj", "262143328850\n")]
    {
        std::fs::write(zone.join(file), text).unwrap();
    }
    let wrapper = stand.path().join("stend-probe");
    let (real, root, pid) = (probe(), stand.path().join("root"), stand.path().join("sampler"));
    let text = format!(
        "#!/bin/sh\nif [ \"${{1:-}}\" = sample ]; then\n\tshift\n\techo $$ >'{2}'\n\texec '{0}' sample --root '{1}' \"$@\"\nfi\nexec '{0}' \"$@\"\n",
        real.display(),
        root.display(),
        pid.display()
    );
    executable(&wrapper, &text);
    let script = stand.path().join("burning.sh");
    executable(&script, BURNING);
    let mut suite =
        format!("name = \"energy\"\ntitle = \"t\"\nsample_hertz = 10\nrepeats = 2\nwarmup = 0\n{NO_LIMITS}");
    let _ = write!(
        suite,
        "[[scenario]]\nname = \"burning\"\ncommand = [\"sh\", {:?}, {:?}, {:?}]\nmetrics = [\n\
         {{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" }},\n\
         {{ name = \"work for energy\", value = \"operations/processor_energy\", unit = \"op/J\", better = \"higher\", optional = true }},\n\
         {{ name = \"power\", value = \"processor_energy/wall\", unit = \"W\", better = \"lower\", optional = true }},\n]\n",
        script.display().to_string(),
        zone.join("energy_uj").display().to_string(),
        if held_up { pid.display().to_string() } else { String::new() }
    );
    let path = stand.path().join("energy.toml");
    std::fs::write(&path, suite).unwrap();
    let run =
        ended(stand.command(&["run", path.to_str().unwrap(), "--no-progress", "--quiet"]).env("STEND_PROBE", &wrapper));
    assert_eq!(run.status, Some(0), "{}\n{}", run.out, run.err);
    stand
}

/// The joules of each repeat. Twelve were counted; at each end less than a step may be missing, or be followed on.
fn joules_are_counted(stand: &Stand) {
    let shown = stand.json(&["show", "last"]);
    for repeat in shown["run"]["repeats"].as_array().unwrap() {
        let joules = repeat["report"]["observed"]["processor_energy_joules"].as_f64();
        let joules = joules.unwrap_or_else(|| panic!("{repeat}"));
        assert!((9.0..=14.5).contains(&joules), "{joules}");
    }
}

#[test]
fn a_sampler_that_is_held_up_knows_what_was_counted_meanwhile() {
    joules_are_counted(&burned(true));
}

#[test]
fn what_counters_say_becomes_series_metrics_and_a_weighing() {
    let stand = burned(false);
    joules_are_counted(&stand);
    let table = stand.json(&["compare", "last"])["table"].clone();
    let median = |metric: &str| {
        let row = table["rows"].as_array().unwrap().iter().find(|row| row["metric"] == metric).unwrap();
        row["cells"][0]["median"].as_f64().unwrap_or_else(|| panic!("{row}"))
    };
    assert!((6.0 / 14.5..=6.0 / 9.0).contains(&median("work for energy")), "{table}");
    let weighing = &table["weighings"][0];
    assert_eq!((weighing["by"]["kind"].as_str(), weighing["of"].as_str()), (Some("watt"), Some("processor, by RAPL")));
    let watts = weighing["sides"][0]["measured"]["burning"].as_f64().unwrap();
    assert!(watts > 0.0 && weighing["sides"][0]["source"] == "", "{weighing}");
    let value = weighing["rows"][0]["cells"][0]["value"].as_f64().unwrap();
    assert!((value * watts / median("throughput") - 1.0).abs() < 1e-9, "{weighing}");
    let out = stand.fine(&["compare", "last"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains("Per watt: processor, by RAPL") && out.contains("measured while 1 scenario ran"), "{out}");
}

#[test]
fn what_a_machine_lacks_is_recorded_as_missing() {
    let stand = Stand::new();
    let wrapper = stand.path().join("stend-probe");
    let text = format!(
        "#!/bin/sh\nif [ \"${{1:-}}\" = sample ]; then\n\tshift\n\texec '{0}' sample --root /nowhere \"$@\"\nfi\nexec '{0}' \"$@\"\n",
        probe().display()
    );
    executable(&wrapper, &text);
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    let sampled = std::fs::read_to_string(&suite).unwrap().replace("sample_hertz = 0", "sample_hertz = 10");
    std::fs::write(&suite, sampled).unwrap();
    let run = ended(stand.command(&["run", &suite, "--no-progress", "--quiet"]).env("STEND_PROBE", &wrapper));
    assert_eq!(run.status, Some(0), "{}\n{}", run.out, run.err);
    let shown = stand.json(&["show", "last"]);
    let why = &shown["run"]["sessions"][0]["missing_sensors"]["energy"];
    let sources = ["/sys/class/powercap", "/sys/class/hwmon"];
    assert_eq!(*why, serde_json::json!({ "cause": "silent", "sources": sources }));
    assert!(stand.json(&["compare", "last"])["table"]["weighings"].is_null());
}
