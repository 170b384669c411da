//! Judgements on the same machines.

use stend_model::condition::Condition;
use stend_model::suite::{Gate, Gates};

use super::fixture::{FixtureHost, Unreachable};
use crate::host::{Host as _, Output};
use crate::machine::check::busiest;
use crate::machine::judge::Finding;
use crate::machine::judge::judge;
use crate::machine::texts::Texts;
use crate::machine::{Space, State, Use, check, command};
use stend_report::words;
use stend_report::words::language::Language;

/// What was looked at: the tag of the condition, or of what could not be looked at.
fn tag(finding: &Finding) -> String {
    let value = serde_json::to_value(&finding.condition).unwrap();
    let tag = if value["condition"] == "unread" { &value["of"] } else { &value["condition"] };
    tag.as_str().unwrap().to_owned()
}

fn of<'a>(findings: &'a [Finding], what: &str) -> &'a Finding {
    findings.iter().find(|finding| tag(finding) == what).unwrap_or_else(|| panic!("no finding on {what}"))
}

fn found<'a>(findings: &'a [Finding], what: &str) -> &'a Condition {
    &of(findings, what).condition
}

fn results(directory: &str) -> Space {
    Space { purpose: Use::Results, directory: directory.into(), bytes: 0 }
}

fn judged(text: &str) -> Vec<Finding> {
    judged_by(text, &Gates::DEFAULT)
}

fn judged_by(text: &str, gates: &Gates) -> Vec<Finding> {
    judge(&Texts::parse(&Output { exit: Some(0), stdout: text.into(), stderr: Vec::new() }), &[results("/data")], gates)
}

#[test]
fn a_server_with_everything_wrong() {
    let findings = check(&FixtureHost::named("x86-server"), &[results("/not/there/yet")], &Gates::DEFAULT);
    let warned: Vec<_> = findings.iter().filter(|finding| finding.state == State::Warning).map(tag).collect();
    // Its /proc/stat stands still, which no machine's does.
    assert_eq!(
        warned,
        ["load", "foreign_load", "pressure", "governor", "frequency_limit", "throttling", "processors", "clock_source"]
    );
    for finding in findings.iter().filter(|finding| finding.state != State::Fine) {
        assert!(!words::condition(&finding.condition, Language::English).advice.is_empty(), "{finding:?}");
    }
    for (what, wanted) in [
        ("governor", Condition::Governor { governors: vec!["schedutil".into()] }),
        ("frequency_limit", Condition::FrequencyLimit { allowed_hz: 3e9, possible_hz: 3_729_492_000.0 }),
        ("throttling", Condition::Throttling { times: 3, just_now: false }),
        ("processors", Condition::Processors { allowed: 6, online: 8 }),
        ("temperature_sensors", Condition::TemperatureSensors { names: vec!["acpitz".into(), "k10temp".into()] }),
        ("turbo", Condition::Turbo { setting: "on".into() }),
        ("huge_pages", Condition::HugePages { setting: "always".into() }),
        ("address_randomization", Condition::AddressRandomization { setting: "full".into() }),
    ] {
        assert_eq!(*found(&findings, what), wanted);
    }
    let Condition::ResultsSpace { available: 1.., mount } = found(&findings, "results_space") else {
        panic!("{findings:?}");
    };
    assert_eq!(mount, "/");
}

#[test]
fn the_checks_own_work_lies_outside_of_what_it_judges() {
    let text = FixtureHost::named("x86-server").run(&command(crate::machine::check::SCRIPT, &[])).unwrap().text();
    let names: Vec<_> = text.lines().filter_map(|line| Some(line.split_once(':')?.0)).collect();
    let at =
        |name: &str| names.iter().position(|other| *other == name).unwrap_or_else(|| panic!("no {name} in {text}"));
    let (before, after) = (at("before proc/stat"), at("after proc/stat"));
    assert_eq!(after, before + 1);
    for (kind, name) in [("", "proc/vmstat"), ("tally ", "throttled")] {
        let [first, last] = ["before", "after"].map(|when| at(&format!("{kind}{when} {name}")));
        assert!(first < before && after < last, "{name}");
    }
    let stat = text.lines().find_map(|line| line.strip_prefix("before proc/stat:")).unwrap();
    assert!(stat.starts_with("cpu  "), "{stat}");
}

#[test]
fn every_machine_can_be_judged() {
    for name in ["x86-guest", "arm-cortex-a9", "elbrus-e8c2", "loongson-3a5000"] {
        let findings = check(&FixtureHost::named(name), &[results("/")], &Gates::DEFAULT);
        for language in [Language::English, Language::Russian] {
            let empty = |finding: &Finding| words::condition(&finding.condition, language).value.is_empty();
            assert!(!findings.iter().any(empty), "{name}: {findings:?}");
        }
        let unfit = |finding: &Finding| finding.state == State::Unfit && !tag(finding).ends_with("space");
        assert!(!findings.iter().any(unfit), "{name}: {findings:?}");
    }
    let out_of_reach = check(&Unreachable, &[results("/")], &Gates::DEFAULT);
    assert_eq!(of(&out_of_reach, "machine").state, State::Unfit);
}

#[test]
fn processor_time_of_others_counts_from_the_second_tick_on() {
    let after = |after: &str| {
        judged(&format!("before proc/stat:cpu  100 0 100 1000 0 0 0 0 0 0\nafter proc/stat:cpu  {after}\n"))
    };
    let states = |text: &str| {
        let findings = after(text);
        (of(&findings, "foreign_load").state, of(&findings, "steal").state)
    };
    assert_eq!(states("101 0 100 1099 0 0 0 0 0 0"), (State::Fine, State::Fine));
    assert_eq!(states("102 0 101 1097 0 0 0 0 0 0"), (State::Warning, State::Fine));
    assert_eq!(states("103 0 103 1094 0 0 0 0 0 0"), (State::Unfit, State::Fine));
    assert_eq!(states("100 0 100 1098 0 0 0 2 0 0"), (State::Fine, State::Unfit));
    assert_eq!(states("100 0 100 1998 0 0 0 2 0 0"), (State::Fine, State::Warning));
    // A kernel without steal, and a count that goes backwards.
    assert_eq!(states("100 0 100 1100 0 0 0"), (State::Fine, State::Fine));
    assert_eq!(states("100 0 100 1100 0 0 0 0"), (State::Fine, State::Fine));
    let Condition::ForeignLoad { share, limit, .. } = *found(&after("103 0 103 1094 0 0 0 0 0 0"), "foreign_load")
    else {
        panic!();
    };
    assert_eq!((share, limit), (0.06, Some(0.05)));
}

#[test]
fn the_programs_that_used_most_are_named_by_what_they_used_meanwhile() {
    let stat =
        |pid: u32, name: &str, user: u32| format!("{pid} ({name}) R 1 1 1 0 -1 0 0 0 0 0 {user} 10 0 0 20 0 1 0\n");
    // One has used much before; one has a name that looks like more fields; one came meanwhile, and one is gone.
    let before = [stat(1, "init", 9000), stat(7, "a) R 5 (b", 0), stat(8, "cc1", 5), stat(9, "gone", 70)].concat();
    let after = [stat(1, "init", 9001), stat(7, "a) R 5 (b", 30), stat(8, "cc1", 25), stat(10, "cc1", 20)].concat();
    assert_eq!(busiest(&format!("{before}\n{after}")).as_deref(), Some("cc1, a) R 5 (b"));
    assert_eq!(busiest("no such files"), None);
    assert_eq!(busiest(&format!("{before}\n{before}")), None);
}

#[test]
fn what_no_gate_refuses_does_not_make_unfit() {
    let text = "before proc/stat:cpu  100 0 100 1000 0 0 0 0 0 0\nafter proc/stat:cpu  106 0 106 1083 0 0 0 5 0 0\n\
        before proc/vmstat:pswpin 1\nafter proc/vmstat:pswpin 2\nbefore throttled:      1 5\nafter throttled:      1 6\n";
    let unfit = |gates: Gates| -> Vec<_> {
        let findings = judged_by(text, &gates);
        findings.iter().filter(|finding| finding.state == State::Unfit).map(tag).collect()
    };
    assert_eq!(unfit(Gates::DEFAULT), ["foreign_load", "steal", "swap", "throttling"]);
    assert_eq!(unfit(Gates { foreign_cpu: Some(Gate::Limit(0.2)), ..Gates::DEFAULT }), ["steal", "swap", "throttling"]);
    let off = Some(Gate::Off);
    let all_off = Gates { steal: off, foreign_cpu: off, swapping: off, throttling: off, frequency_fall: off };
    assert!(unfit(all_off).is_empty());
    let warned = judged_by(text, &all_off);
    assert_eq!(of(&warned, "swap").state, State::Warning);
    // Two ticks a processor may be nothing but how the kernel counts.
    let of_four = format!("sys/devices/system/cpu/online:0-3\n{}", text.replace("106 0 106 1083", "103 0 104 1088"));
    assert_eq!(of(&judged(&of_four), "foreign_load").state, State::Warning);
}

#[test]
fn swapping_makes_unfit_and_used_swap_warns() {
    let memory = "proc/meminfo:SwapTotal: 2048 kB\nproc/meminfo:SwapFree: 1024 kB\n";
    assert_eq!(of(&judged(memory), "swap").state, State::Warning);
    let traffic = "before proc/vmstat:pswpin 1\nafter proc/vmstat:pswpin 2\n";
    assert_eq!(of(&judged(&format!("{memory}{traffic}")), "swap").state, State::Unfit);
    assert_eq!(of(&judged(""), "swap").state, State::Fine);
}

#[test]
fn memory_and_space_run_out_by_degrees() {
    let memory = |available: u32| {
        judged(&format!("proc/meminfo:MemTotal: 100000 kB\nproc/meminfo:MemAvailable: {available} kB\n"))
    };
    let space = |kib: u32| {
        judged(&format!(
            "df 0:Filesystem 1024-blocks Used Available Capacity Mounted on\ndf 0:/dev/sda1 9 9 {kib} 9% /data\n"
        ))
    };
    let memory = [50_000, 9_000, 2_000].map(|available| of(&memory(available), "free_memory").state);
    let space = [2 << 20, 500 << 10, 50 << 10].map(|kib| of(&space(kib), "results_space").state);
    assert_eq!(memory, [State::Fine, State::Warning, State::Warning]);
    assert_eq!(space, [State::Fine, State::Warning, State::Unfit]);
}

#[test]
fn files_that_do_not_fit_make_unfit() {
    let df = |number: u32, gib: u64, mount: &str| format!("df {number}:/dev/sd 9 9 {} 9% {mount}\n", gib << 20);
    let work = |directory: &str, gib: u64| Space { purpose: Use::Work, directory: directory.into(), bytes: gib << 30 };
    let judged = |text: String, spaces: &[Space]| {
        judge(
            &Texts::parse(&Output { exit: Some(0), stdout: text.into(), stderr: Vec::new() }),
            spaces,
            &Gates::DEFAULT,
        )
    };
    let spaces = [results("/store"), work("/work", 40), work("/array/lun files", 4000)];
    let findings = judged(df(0, 50, "/") + &df(1, 50, "/") + &df(2, 3000, "/array"), &spaces);
    let of_space: Vec<_> = findings.iter().filter(|finding| tag(finding).ends_with("space")).collect();
    assert_eq!(
        of_space.iter().map(|finding| finding.state).collect::<Vec<_>>(),
        [State::Fine, State::Fine, State::Unfit]
    );
    let directory = "/array/lun files".to_owned();
    let (available, needed) = (3000 << 30, 4000 << 30);
    let wanted = Condition::LoadSpace { available, mount: "/array".into(), directory, needed, job_file: false };
    assert_eq!(of_space[2].condition, wanted);
    assert!(of_space[2].lasting && of_space[2].never);
    let told = words::condition(&wanted, Language::English);
    assert_eq!(
        told.in_a_line(),
        "free space for the load: 3000 GiB in /array; the files in /array/lun files need 4000 GiB"
    );
    // Two that fit one by one, on the same file system.
    let two = [work("/a", 30), work("/b", 30)];
    assert_eq!(of(&judged(df(0, 50, "/") + &df(1, 50, "/"), &two), "load_space").state, State::Unfit);
    assert_eq!(of(&judged(df(0, 50, "/") + &df(1, 50, "/b"), &two), "load_space").state, State::Fine);
    // Something was written there between two calls of df.
    assert_eq!(of(&judged(df(0, 50, "/") + &df(1, 49, "/"), &two), "load_space").state, State::Unfit);
}

#[test]
fn a_directory_that_cannot_be_made_makes_unfit() {
    // Nothing can be made below a file, by nobody.
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let work = Space { purpose: Use::Work, directory: format!("{file}/a/b"), bytes: 0 };
    let findings = check(&FixtureHost::named("x86-server"), &[results("/"), work], &Gates::DEFAULT);
    let found = of(&findings, "load_unwritable");
    assert_eq!((found.state, found.lasting), (State::Unfit, true));
    assert_eq!(found.condition, Condition::LoadUnwritable { path: file.into() });
    assert_eq!(of(&findings, "results_space").state, State::Fine);
}

#[test]
fn throttling_just_now_makes_unfit() {
    let findings = judged("before throttled:      2 5\nafter throttled:      1 5\nafter throttled:      1 6\n");
    assert_eq!(of(&findings, "throttling").state, State::Unfit);
    assert_eq!(*found(&findings, "throttling"), Condition::Throttling { times: 1, just_now: true });
}

#[test]
fn an_unknown_hypervisor_warns() {
    let guest = "proc/cpuinfo:processor : 0\nproc/cpuinfo:cpu family : 6\nproc/cpuinfo:flags : hypervisor\n";
    assert_eq!(of(&judged(guest), "virtualization").state, State::Warning);
    let named = format!("{guest}sys/class/dmi/id/product_name:KVM\n");
    assert_eq!(of(&judged(&named), "virtualization").state, State::Fine);
}

#[test]
fn a_battery_is_no_power_supply() {
    let battery = "sys/class/power_supply/BAT0/type:Battery\nsys/class/power_supply/AC/type:Mains\n";
    let with = |on: u8| judged(&format!("{battery}sys/class/power_supply/AC/online:{on}\n"));
    assert_eq!(of(&with(1), "power").state, State::Fine);
    assert_eq!(of(&with(0), "power").state, State::Warning);
    assert!(judged("").iter().all(|finding| tag(finding) != "power"));
}
