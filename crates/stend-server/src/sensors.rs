//! The temperatures of the server's machine, as Linux has them in /sys.

use std::path::Path;

/// A temperature of a chip, in /sys/class/hwmon.
pub(crate) struct Sensor {
    /// The chip's directory: `hwmon0`. Another boot may give it another number.
    pub(crate) chip: String,
    /// The chip's name: `coretemp`.
    pub(crate) name: Option<String>,
    /// The device that the chip is of: `coretemp.0`.
    pub(crate) device: Option<String>,
    /// `temp1`.
    pub(crate) input: String,
    pub(crate) label: Option<String>,
    pub(crate) celsius: f64,
    /// From where on it is too hot, if the chip says so.
    pub(crate) limit: Option<f64>,
}

/// A thermal zone, in /sys/class/thermal.
pub(crate) struct Zone {
    pub(crate) zone: String,
    pub(crate) kind: Option<String>,
    pub(crate) celsius: f64,
}

/// The temperatures of all chips.
pub(crate) fn temperatures(sys: &Path) -> Vec<Sensor> {
    let hwmon = sys.join("class/hwmon");
    let of_chip = |chip: String| {
        let directory = hwmon.join(&chip);
        let device = std::fs::read_link(directory.join("device")).ok();
        let device = device.and_then(|device| Some(device.file_name()?.to_str()?.to_owned()));
        let name = text(&directory.join("name"));
        let inputs = names(&directory).into_iter().filter_map(|file| Some(file.strip_suffix("_input")?.to_owned()));
        let sensor = |input: String| {
            let of_it = |part: &str| directory.join(format!("{input}_{part}"));
            let limit = celsius(&of_it("crit")).or_else(|| celsius(&of_it("max")));
            Some(Sensor {
                chip: chip.clone(),
                name: name.clone(),
                device: device.clone(),
                label: text(&of_it("label")),
                celsius: celsius(&of_it("input"))?,
                // Some have a limit of 0, which is none.
                limit: limit.filter(|limit| *limit > 0.0),
                input,
            })
        };
        inputs.filter(|input| input.starts_with("temp")).filter_map(sensor).collect::<Vec<_>>()
    };
    names(&hwmon).into_iter().flat_map(of_chip).collect()
}

pub(crate) fn zones(sys: &Path) -> Vec<Zone> {
    let thermal = sys.join("class/thermal");
    let zone = |zone: String| {
        let directory = thermal.join(&zone);
        Some(Zone { zone, kind: text(&directory.join("type")), celsius: celsius(&directory.join("temp"))? })
    };
    names(&thermal).into_iter().filter(|zone| zone.starts_with("thermal_zone")).filter_map(zone).collect()
}

fn celsius(file: &Path) -> Option<f64> {
    text(file)?.parse::<f64>().ok().map(|millidegrees| millidegrees / 1000.0)
}

/// What lies in a directory, in order; nothing where it cannot be read.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// What stands in a file, without what is around it; nothing where nothing does.
fn text(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}
