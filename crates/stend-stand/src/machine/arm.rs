//! The names behind the numbers that ARM processors give themselves (MIDR: implementer and part).

/// Who made a core: the name of the implementer in a MIDR.
pub(super) fn implementer(number: u32) -> Option<&'static str> {
    Some(match number {
        0x41 => "ARM",
        0x42 => "Broadcom",
        0x43 => "Cavium",
        0x46 => "Fujitsu",
        0x48 => "HiSilicon",
        0x4e => "NVIDIA",
        0x50 => "APM",
        0x51 => "Qualcomm",
        0x53 => "Samsung",
        0x56 => "Marvell",
        0x61 => "Apple",
        0x6d => "Microsoft",
        0x70 => "Phytium",
        0xc0 => "Ampere",
        _ => return None,
    })
}

/// The name of a core by the implementer and the part of a MIDR.
pub(super) fn part(implementer: u32, part: u32) -> Option<&'static str> {
    match implementer {
        0x41 => designed_by_arm(part),
        _ => designed_by_others(implementer, part),
    }
}

fn designed_by_arm(part: u32) -> Option<&'static str> {
    Some(match part {
        0x926 => "ARM926EJ-S",
        0xb36 => "ARM1136",
        0xb76 => "ARM1176",
        0xb02 => "ARM11 MPCore",
        0xc05 => "Cortex-A5",
        0xc07 => "Cortex-A7",
        0xc08 => "Cortex-A8",
        0xc09 => "Cortex-A9",
        0xc0d => "Cortex-A12",
        0xc0e => "Cortex-A17",
        0xc0f => "Cortex-A15",
        0xd01 => "Cortex-A32",
        0xd02 => "Cortex-A34",
        0xd03 => "Cortex-A53",
        0xd04 => "Cortex-A35",
        0xd05 => "Cortex-A55",
        0xd06 => "Cortex-A65",
        0xd07 => "Cortex-A57",
        0xd08 => "Cortex-A72",
        0xd09 => "Cortex-A73",
        0xd0a => "Cortex-A75",
        0xd0b => "Cortex-A76",
        0xd0c => "Neoverse-N1",
        0xd0d => "Cortex-A77",
        0xd0e => "Cortex-A76AE",
        0xd40 => "Neoverse-V1",
        0xd41 => "Cortex-A78",
        0xd42 => "Cortex-A78AE",
        0xd43 => "Cortex-A65AE",
        0xd44 => "Cortex-X1",
        0xd46 => "Cortex-A510",
        0xd47 => "Cortex-A710",
        0xd48 => "Cortex-X2",
        0xd49 => "Neoverse-N2",
        0xd4a => "Neoverse-E1",
        0xd4b => "Cortex-A78C",
        0xd4c => "Cortex-X1C",
        0xd4d => "Cortex-A715",
        0xd4e => "Cortex-X3",
        0xd4f => "Neoverse-V2",
        0xd80 => "Cortex-A520",
        0xd81 => "Cortex-A720",
        0xd82 => "Cortex-X4",
        0xd84 => "Neoverse-V3",
        0xd85 => "Cortex-X925",
        0xd87 => "Cortex-A725",
        0xd8e => "Neoverse-N3",
        _ => return None,
    })
}

fn designed_by_others(implementer: u32, part: u32) -> Option<&'static str> {
    Some(match (implementer, part) {
        (0x42, 0x516) | (0x43, 0x0af) => "ThunderX2",
        (0x43, 0x0a1) => "ThunderX",
        (0x43, 0x0b8) => "ThunderX3",
        (0x46, 0x001) => "A64FX",
        (0x48, 0xd01) => "Kunpeng 920 (TSV110)",
        (0x4e, 0x004) => "Carmel",
        (0x50, 0x000) => "X-Gene",
        (0x51, 0xc00) => "Falkor",
        (0x51, 0x001) => "Oryon",
        (0x61, 0x022) => "M1 Icestorm",
        (0x61, 0x023) => "M1 Firestorm",
        (0x61, 0x024) => "M1 Pro Icestorm",
        (0x61, 0x025) => "M1 Pro Firestorm",
        (0x61, 0x028) => "M1 Max Icestorm",
        (0x61, 0x029) => "M1 Max Firestorm",
        (0x61, 0x032) => "M2 Blizzard",
        (0x61, 0x033) => "M2 Avalanche",
        (0x6d, 0xd49) => "Azure Cobalt 100",
        (0x70, 0x303) => "FTC310",
        (0x70, 0x660) => "FTC660",
        (0x70, 0x661) => "FTC661",
        (0x70, 0x662) => "FTC662",
        (0x70, 0x663) => "FTC663",
        (0x70, 0x664) => "FTC664",
        (0x70, 0x862) => "FTC862",
        (0xc0, 0xac3) => "Ampere-1",
        (0xc0, 0xac4) => "Ampere-1A",
        _ => return None,
    })
}
