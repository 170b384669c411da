//! Whole disks.

use stend_model::cause::Cause;
use stend_model::machine::Disk;

use super::texts::Texts;

/// Disks that are part of the machine, and those that are not, with why.
pub(super) fn disks(texts: &Texts) -> (Vec<Disk>, Vec<(String, Cause)>) {
    let mut disks = Vec::new();
    let mut left_out = Vec::new();
    for name in texts.get("disks").unwrap_or("").lines().map(str::trim) {
        let field = |file: &str| texts.line(&format!("sys/block/{name}/{file}"));
        // Paths of a multipath NVMe disk are hidden; boot areas are a part of the eMMC beside them.
        if field("hidden") == Some("1") || (name.starts_with("mmcblk") && name.contains("boot")) {
            continue;
        }
        // The kernel counts in sectors of 512 bytes, whatever the disk's own are. 0 is a drive without a medium.
        let sectors = field("size").and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        let Some(bytes) = sectors.checked_mul(512).filter(|&bytes| bytes > 0) else { continue };
        if field("removable") == Some("1") {
            left_out.push((name.to_owned(), Cause::Removable));
            continue;
        }
        let rotational = field("queue/rotational") == Some("1");
        disks.push(Disk { name: name.to_owned(), model: model(&field), bytes, rotational, firmware: firmware(&field) });
    }
    (disks, left_out)
}

fn model<'a>(field: &impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    let model = field("device/model").or_else(|| field("device/name"))?;
    // "ATA" is what SATA disks have for a vendor, and virtio has a PCI number there.
    let vendor = field("device/vendor").filter(|vendor| *vendor != "ATA" && !vendor.starts_with("0x"));
    Some(vendor.map_or_else(|| model.to_owned(), |vendor| format!("{vendor} {model}")))
}

fn firmware<'a>(field: &impl Fn(&str) -> Option<&'a str>) -> Option<String> {
    field("device/firmware_rev").or_else(|| field("device/rev")).map(str::to_owned)
}
