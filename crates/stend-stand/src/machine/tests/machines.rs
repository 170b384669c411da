//! Fingerprints of the machines in `tests/fixtures/machines`; the README beside each says where it comes from.

use stend_model::cause::Cause;
use stend_model::machine::{Cache, Machine};

use super::fixture::{FixtureHost, Unreachable};
use crate::machine::{ToolQuery, collect};
use stend_report::words::language::Language;
use stend_report::words::machine::{five_lines, five_lines_in, in_words};

fn machine(name: &str) -> Machine {
    collect(&FixtureHost::named(name), &[])
}

fn cache(level: u32, kind: &str, kib: u64, count: u32) -> Cache {
    Cache { level, kind: kind.into(), bytes: kib << 10, count }
}

const ALL: [&str; 7] =
    ["x86-guest", "x86-server", "arm-cortex-a9", "arm-neoverse-n1", "riscv-u74", "elbrus-e8c2", "loongson-3a5000"];

#[test]
fn an_x86_guest() {
    let Machine { name, hardware, software, missing, raw, .. } = machine("x86-guest");
    assert_eq!(name, "testbed");
    assert_eq!((hardware.sockets, hardware.cores, hardware.threads, hardware.numa_nodes), (1, 2, 2, 1));
    assert_eq!(hardware.vendor.as_deref(), Some("Intel"));
    assert_eq!(hardware.revision["model"], "207");
    assert_eq!(hardware.memory_bytes, 47 << 29);
    assert_eq!(
        hardware.caches,
        [
            cache(1, "data", 48, 2),
            cache(1, "instruction", 32, 2),
            cache(2, "unified", 2048, 2),
            cache(3, "unified", 266_240, 1)
        ]
    );
    assert!(hardware.features.iter().any(|feature| feature == "avx512f"));
    assert!(!hardware.features.iter().any(|feature| feature == "hypervisor"));
    assert_eq!(hardware.disks.len(), 1, "neither loop nor zram is a disk");
    assert_eq!(software.command_line, "mitigations=auto,no_guest_host,no_guest_guest console=ttyS0 quiet psi=1");
    assert_eq!(software.virtualization.as_deref(), Some("KVM (clock source kvm-clock)"));
    assert_eq!(software.libc.as_deref(), Some("glibc 2.36 (Debian GLIBC 2.36-9+deb12u14)"));
    assert_eq!(software.mitigations["retbleed"], "Vulnerable");
    assert_eq!(software.settings["vda.scheduler"], "mq-deadline");
    assert_eq!(software.settings["transparent_hugepage"], "madvise");
    assert_eq!(software.microcode.as_deref(), Some("0x1"));
    assert!(matches!(missing["settings.governor"], Cause::NotThere { .. }), "{missing:?}");
    let kept: String = raw.values().flat_map(|text| text.chars()).collect();
    for secret in ["testbed", "01234567-89ab", "192.0.2", "secret"] {
        assert!(!kept.contains(secret), "{secret} is kept");
    }
}

#[test]
fn an_x86_server() {
    let host = FixtureHost::named("x86-server");
    let tool = |program: &str| ToolQuery { program: program.into(), version_arguments: vec!["--version".into()] };
    let Machine { hardware, software, missing, .. } = collect(&host, &[tool("none-such"), tool("fio"), tool("cat")]);
    assert_eq!(hardware.processor, "AMD EPYC 7313 16-Core Processor");
    assert_eq!((hardware.sockets, hardware.cores, hardware.threads, hardware.numa_nodes), (2, 4, 8, 2));
    assert_eq!(hardware.caches.last(), Some(&cache(3, "unified", 32 << 10, 2)));
    assert_eq!(hardware.board.as_deref(), Some("Supermicro AS -1024US-TRT (board Supermicro H12DSU-iN)"));
    let disks: Vec<_> =
        hardware.disks.iter().map(|disk| (disk.name.as_str(), disk.model.as_deref(), disk.rotational)).collect();
    let samsung = Some("SAMSUNG MZQL2960HCJR-00A07");
    assert_eq!(
        disks,
        [("nvme0n1", samsung, false), ("nvme1n1", samsung, false), ("sda", Some("ST8000NM000A-2KE1"), true)]
    );
    assert_eq!(hardware.disks[0].firmware.as_deref(), Some("GDC5602Q"));
    assert_eq!(missing["disks.sdb"], Cause::Removable);
    assert_eq!(software.command_line, "ro mitigations=off isolcpus=2-3");
    assert_eq!(
        software.compiler.as_deref(),
        Some("Ubuntu clang version 14.0.0-1ubuntu1.1\nTarget: x86_64-pc-linux-gnu")
    );
    assert_eq!(software.virtualization, None);
    assert_eq!(software.settings["boost"], "on");
    assert_eq!(software.settings["governor"], "schedutil");
    assert_eq!(software.settings["cgroup_cpu_max"], "3.00 processors");
    assert_eq!(software.settings["firmware"], "American Megatrends Inc. 2.4");
    assert_eq!(software.tools["fio"].version, "fio-3.28");
    assert!(software.tools["fio"].path.ends_with("/bin/fio"));
    assert_eq!(software.tools["fio"].sha256.as_ref().map(String::len), Some(64));
    assert!(software.tools.contains_key("cat"));
    assert_eq!(missing["tools.none-such"], Cause::ToolMissing { tool: "none-such".into() });
}

#[test]
fn a_32_bit_arm_board() {
    let Machine { hardware, software, missing, raw, .. } = machine("arm-cortex-a9");
    assert_eq!(hardware.processor, "ARM Cortex-A9");
    assert_eq!(hardware.revision["revision"], "r2p10");
    assert_eq!(hardware.revision["chip"], "i.MX6Q");
    assert_eq!((hardware.sockets, hardware.cores, hardware.threads, hardware.numa_nodes), (1, 4, 4, 1));
    assert!(hardware.features.iter().any(|feature| feature == "neon"));
    assert_eq!(hardware.board.as_deref(), Some("Freescale i.MX6 Quad SABRE Smart Device Board"));
    assert_eq!(hardware.memory_bytes, 2 << 30);
    assert_eq!(hardware.disks.len(), 1, "a boot area is no disk");
    assert_eq!(software.libc.as_deref(), Some("musl 1.1.24"));
    assert_eq!(software.settings["governor"], "interactive (1), performance (3)");
    assert_eq!(software.command_line, "console=ttymxc0,115200 rootwait rw");
    let tools = ["cc", "lcc", "gcc", "clang"].map(str::to_owned).into();
    assert_eq!(missing["compiler"], Cause::NoneOnPath { tools });
    assert!(
        missing.contains_key("mitigations") && missing.contains_key("caches") && missing.contains_key("numa_nodes")
    );
    assert!(!raw["/proc/cpuinfo"].contains("0a1b2c3d"), "the serial number is kept");
}

#[test]
fn an_arm_server() {
    let Machine { hardware, software, .. } = machine("arm-neoverse-n1");
    assert_eq!(hardware.processor, "ARM Neoverse-N1");
    assert_eq!(hardware.vendor.as_deref(), Some("ARM"));
    assert_eq!(hardware.revision["revision"], "r3p1");
    assert_eq!(hardware.board.as_deref(), Some("GIGABYTE R152-P30-00"));
    assert_eq!(hardware.memory_bytes, 251 << 29);
    assert_eq!(software.settings["page_size"], "65536");
    assert_eq!(software.virtualization, None);
    assert_eq!(software.compiler.as_deref(), Some("cc (Debian 12.2.0-14) 12.2.0"));
}

#[test]
fn a_risc_v_board() {
    let Machine { hardware, software, missing, .. } = machine("riscv-u74");
    assert_eq!(hardware.processor, "sifive,u74-mc");
    assert_eq!(hardware.vendor.as_deref(), Some("SiFive"));
    assert_eq!(hardware.revision["mimpid"], "0x4210427");
    assert_eq!((hardware.sockets, hardware.cores, hardware.threads), (0, 4, 4), "its kernel does not know of packages");
    assert!(missing.contains_key("sockets"));
    assert!(hardware.features.iter().any(|feature| feature == "rv64imafdc"));
    assert!(hardware.features.iter().any(|feature| feature == "zbb"));
    assert_eq!(hardware.caches.last(), Some(&cache(2, "unified", 2048, 1)));
    assert_eq!(software.libc.as_deref(), Some("musl 1.2.4"));
    assert_eq!(software.settings["governor"], "ondemand");
}

#[test]
fn an_elbrus_server() {
    let machine = machine("elbrus-e8c2");
    let Machine { hardware, software, missing, .. } = &machine;
    assert_eq!(hardware.architecture, "e2k");
    assert_eq!(hardware.processor, "Elbrus E8C2");
    assert_eq!(hardware.vendor.as_deref(), Some("MCST"));
    assert_eq!((hardware.sockets, hardware.cores, hardware.threads), (1, 8, 8));
    assert_eq!(
        hardware.caches,
        [
            cache(1, "data", 64, 8),
            cache(1, "instruction", 128, 8),
            cache(2, "unified", 512, 8),
            cache(3, "unified", 16384, 1)
        ]
    );
    assert_eq!(software.compiler.as_deref(), Some("lcc:1.27.14:Jan-31-2024:e2k-v6-linux\ngcc (GCC) 9.3.0 compatible"));
    assert_eq!(software.libc.as_deref(), Some("glibc 2.29"));
    assert_eq!(software.virtualization, None);
    assert!(missing.contains_key("mitigations"));
    let lines = five_lines(&machine);
    assert_eq!(lines[0], "Elbrus E8C2 · e2k · 1 socket · 8 cores · 8 threads · L3 16 MiB");
    assert_eq!(lines[1], "62.8 GiB RAM · SSD 240GB 240.1 GB");
    assert_eq!(lines[2], "Linux 5.4.0-1.19-e8c2");
    assert_eq!(lines[3], "lcc:1.27.14:Jan-31-2024:e2k-v6-linux; gcc (GCC) 9.3.0 compatible · glibc 2.29");
    assert!(lines[4].starts_with("OS Elbrus 7.1 · hardware "), "{}", lines[4]);
    let lines = five_lines_in(&machine, Language::Russian);
    assert_eq!(lines[0], "Elbrus E8C2 · e2k · 1 сокет · 8 ядер · 8 потоков · L3 16\u{a0}МиБ");
    assert_eq!(lines[1], "62,8\u{a0}ГиБ ОЗУ · SSD 240GB 240,1\u{a0}ГБ");
    assert!(lines[4].starts_with("OS Elbrus 7.1 · аппаратура "), "{}", lines[4]);
}

#[test]
fn a_loongson_of_which_only_the_processor_shows() {
    let Machine { hardware, software, missing, .. } = machine("loongson-3a5000");
    assert_eq!(hardware.processor, "Loongson-3A5000");
    assert_eq!(hardware.vendor.as_deref(), Some("Loongson"));
    assert_eq!((hardware.sockets, hardware.cores, hardware.threads), (1, 4, 4));
    assert!(hardware.features.iter().any(|feature| feature == "lasx"));
    for what in ["caches", "disks", "board", "libc", "compiler", "mitigations", "settings.clocksource"] {
        assert!(missing.contains_key(what), "{what} is not said to be missing");
    }
    assert_eq!(software.system, "AOSC OS");
}

#[test]
fn two_fingerprints_in_a_row_are_equal() {
    for name in ALL {
        let host = FixtureHost::named(name);
        let first = collect(&host, &[]);
        // What moves from one minute to the next.
        let text = first.raw["/proc/cpuinfo"]
            .replace("2300.000", "3141.592")
            .replace("1550.0", "992.0")
            .replace("MHz\t\t\t: 2500", "MHz\t\t\t: 1200");
        let text = text
            .replace("bogomips\t: 4", "bogomips\t: 5")
            .replace("bogomips\t: 3100", "bogomips\t: 3099")
            .replace("BogoMIPS\t: ", "BogoMIPS\t: 1");
        assert_ne!(text, "");
        host.put("proc/cpuinfo", &text);
        host.put("proc/loadavg", "99.00 99.00 99.00 9/999 99999\n");
        host.put("proc/stat", "cpu 9 9 9 9 9 9 9 9 9 9\n");
        let second = collect(&host, &[]);
        assert_eq!(first.hardware_id(), second.hardware_id(), "{name}");
        assert_eq!(first.software_id(), second.software_id(), "{name}");
        assert_eq!(first.differences(&second), [], "{name}");
        assert_eq!(first.missing, second.missing, "{name}");
    }
}

#[test]
fn machines_have_ids_of_their_own_and_five_short_lines() {
    let machines: Vec<_> = ALL.iter().map(|name| machine(name)).collect();
    for (n, machine) in machines.iter().enumerate() {
        for other in &machines[n + 1..] {
            assert_ne!(machine.hardware_id(), other.hardware_id());
            assert_ne!(machine.software_id(), other.software_id());
            assert!(machine.differences(other).iter().all(|difference| !in_words(difference).contains('\n')));
        }
        let lines = five_lines(machine);
        assert!(lines.iter().all(|line| line.chars().count() <= 110), "{lines:?}");
        assert!(lines[4].contains(&machine.hardware_id()[..12]) && lines[4].contains(&machine.software_id()[..12]));
    }
}

#[test]
fn a_new_kernel_is_a_difference_of_the_software_alone() {
    let host = FixtureHost::named("x86-server");
    let before = collect(&host, &[]);
    host.put("proc/sys/kernel/osrelease", "6.8.0-31-generic\n");
    host.put("sys/devices/system/cpu/vulnerabilities/spectre_v2", "Mitigation: Retpolines\n");
    let after = collect(&host, &[]);
    assert_eq!(before.hardware_id(), after.hardware_id());
    assert_ne!(before.software_id(), after.software_id());
    let words: Vec<_> = before.differences(&after).iter().map(in_words).collect();
    assert_eq!(words, ["kernel 5.15.0-91-generic → 6.8.0-31-generic", "mitigation spectre_v2: off → on"]);
}

#[test]
fn a_tool_keeps_its_arguments_apart_from_those_of_the_next() {
    let host = FixtureHost::of("$ one -V a b\nversion 1\n$ two\n\nversion 2\n");
    let query = |program: &str, arguments: &[&str]| ToolQuery {
        program: program.into(),
        version_arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
    };
    let queries = [query("one", &["-V", "a b"]), query("absent", &["x", "y"]), query("one", &["-V", "a", "b"])];
    let machine = collect(&host, &queries[..2]);
    // The stub looks for what it prints by its arguments joined, so both spellings find it.
    assert_eq!(machine.software.tools["one"].version, "version 1");
    assert_eq!(machine.missing["tools.absent"], Cause::ToolMissing { tool: "absent".into() });
    assert_eq!(collect(&host, &queries[1..]).software.tools["one"].version, "version 1");
}

#[test]
fn of_a_machine_out_of_reach_everything_is_missing() {
    let machine = collect(&Unreachable, &[]);
    let said = "sh did not end within 1 s and was killed".to_owned();
    assert_eq!(machine.missing["collection"], Cause::Unasked { said });
    assert!(machine.hardware.processor.is_empty() && machine.missing.contains_key("processor"));
}
