//! Whatever a machine prints, nothing panics.

use proptest::prelude::*;
use stend_model::suite::Gates;

use crate::host::Output;
use crate::machine::judge::judge;
use crate::machine::texts::Texts;
use crate::machine::{Space, Use, read};
use stend_report::words;
use stend_report::words::language::Language;
use stend_report::words::machine::{five_lines, in_words};

/// Names that some parser asks for.
const NAMES: [&str; 43] = [
    "uname -m",
    "proc/cpuinfo",
    "proc/cpuinfo",
    "proc/cpuinfo",
    "proc/meminfo",
    "caches",
    "disks",
    "end",
    "sys/devices/system/cpu/cpu[0-9]*/topology/physical_package_id",
    "sys/devices/system/cpu/cpu[0-9]*/topology/thread_siblings_list",
    "sys/devices/system/cpu/present",
    "sys/devices/system/cpu/online",
    "sys/devices/system/node/online",
    "sys/block/sda/size",
    "sys/block/sda/device/model",
    "sys/block/sda/queue/scheduler",
    "sys/class/dmi/id/sys_vendor",
    "sys/class/dmi/id/product_name",
    "proc/device-tree/model",
    "proc/device-tree/cpus/cpu@0/compatible",
    "sys/devices/soc0/soc_id",
    "proc/sys/kernel/osrelease",
    "proc/version",
    "proc/cmdline",
    "etc/os-release",
    "ldd --version",
    "cc --version",
    "exists",
    "proc/1/cgroup",
    "proc/sysinfo",
    "proc/self/status",
    "cpu.max",
    "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor",
    "sys/devices/system/cpu/vulnerabilities/x",
    "before proc/stat",
    "after proc/stat",
    "after proc/vmstat",
    "before throttled",
    "after throttled",
    "proc/pressure/cpu",
    "proc/loadavg",
    "df",
    "sys/class/power_supply/x/type",
];

/// Values: arbitrary, or made of pieces that parsers look for.
fn value() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("sda"),
        Just("0-3"),
        Just("-"),
        Just("4294967295"),
        Just("18446744073709551615"),
        Just(" "),
        Just(":"),
        Just("="),
        Just("\""),
        Just("MemTotal"),
        Just("kB"),
        Just("processor"),
        Just("CPU implementer"),
        Just("0x41"),
        Just("0xffffffffffff"),
        Just("isa"),
        Just("rv64"),
        Just("_"),
        Just("cache0"),
        Just("level=3"),
        Just("size=16K"),
        Just("type="),
        Just("scope="),
        Just("["),
        Just("]"),
        Just("ldd ("),
        Just(") "),
        Just("cpu"),
        Just("some avg10=NaN"),
        Just("99999999999999999999"),
        Just("1 Data 9999999999999999G 0"),
        Just("ж"),
        Just("\u{0}"),
        Just("1"),
        Just("model name"),
        Just("\t"),
    ];
    prop_oneof![".{0,40}", proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())]
}

proptest! {
    #[test]
    fn nothing_panics(
        lines in proptest::collection::vec((0..NAMES.len(), value()), 0..60),
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        errors in ".{0,80}",
    ) {
        let mut stdout: Vec<u8> = lines.iter().flat_map(|(name, value)| format!("{}:{value}\n", NAMES[*name]).into_bytes()).collect();
        stdout.extend(bytes);
        let output = Output { exit: None, stdout, stderr: format!("gone: {errors}\nabsent: {errors}\n").into_bytes() };
        let machine = read(&output);
        let empty = read(&Output::default());
        prop_assert!(five_lines(&machine).iter().all(|line| line.chars().count() <= 110));
        for difference in empty.differences(&machine) {
            prop_assert!(!in_words(&difference).is_empty());
        }
        for finding in judge(&Texts::parse(&output), &[Space { purpose: Use::Work, directory: "/".into(), bytes: 1 }], &Gates::DEFAULT) {
            prop_assert!(!words::condition(&finding.condition, Language::English).in_a_line().is_empty());
        }
    }
}
