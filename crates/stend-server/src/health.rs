//! How the server's machine is: its disks, by SMART, and its temperatures. The journal is told when that changes.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::database::Edit;
use crate::journal::Kind;
use crate::lab::Lab;
use crate::sensors::{self, Sensor, names};

/// How often is looked: each look wakes a processor and asks each disk.
pub(crate) const EVERY: Duration = Duration::from_secs(600);

/// How soon again, where a run was being measured.
const SOON: Duration = Duration::from_secs(60);

/// So much of what smartctl prints is read.
const LONGEST: u64 = 1024 * 1024;

/// So many changes are noted at once.
const NOTED: usize = 50;

/// What was hot is cool again so many degrees below its limit, so that it is not both by turns.
const BELOW: f64 = 5.0;

/// Where it is looked.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The file that whoever measures on this machine has locked.
    pub(crate) lock: PathBuf,
    pub(crate) sys: PathBuf,
    /// Where smartctl is looked for.
    pub(crate) path: String,
}

impl Places {
    /// Those of this machine.
    pub(crate) fn here() -> Self {
        let lock = std::env::var_os("STEND_LOCK").filter(|lock| !lock.is_empty());
        Self {
            lock: lock.map_or_else(|| "/tmp/stend.lock".into(), PathBuf::from),
            sys: "/sys".into(),
            // Programs for root are not on everybody's PATH.
            path: format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default()),
        }
    }
}

/// How something is.
#[derive(Debug, Clone, PartialEq)]
struct Found {
    about: String,
    detail: String,
    /// What is noted of it if the journal has something else.
    is: Kind,
    /// The other thing that may be in the journal.
    was: Kind,
}

/// Looks, for ever.
pub(crate) async fn watch(lab: Arc<Lab>, places: Places, every: Duration) {
    loop {
        let looked = {
            let places = places.clone();
            tokio::task::spawn_blocking(move || (!is_measured(&places.lock)).then(|| look(&places))).await
        };
        let Ok(Some(found)) = looked else {
            tokio::time::sleep(SOON.min(every)).await;
            continue;
        };
        // One that is not noted now is found again.
        for found in found.chunks(NOTED).map(<[Found]>::to_vec) {
            // Of several nodes each has such a thing.
            let node = lab.fleet.as_ref().map(|fleet| fleet.node.clone());
            let note = move |edit: &mut Edit| {
                edit.note_found(&found, node.as_deref());
                Ok(())
            };
            let _ = lab.change(note).await;
        }
        tokio::time::sleep(every).await;
    }
}

/// Whether a run is being measured on this machine, whoever started it. Its lock is not touched: a run that begins would find it taken.
pub(crate) fn is_measured(lock: &Path) -> bool {
    let Ok(file) = std::fs::metadata(lock) else { return false };
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    let ends = format!(":{}", file.ino());
    locks.lines().any(|line| line.split_whitespace().any(|word| word.ends_with(&ends)))
}

fn look(places: &Places) -> Vec<Found> {
    let mut found = disks(places);
    found.extend(hot_and_cool(&places.sys));
    found
}

impl Edit<'_, '_> {
    /// Notes what is otherwise than the journal has it. What it does not have is taken for well.
    fn note_found(&mut self, found: &[Found], node: Option<&str>) {
        for Found { about, detail, is, was } in found {
            let about = &node.map_or_else(|| about.clone(), |node| format!("{node}: {about}"));
            let last = self.known.last_of(about, *is, *was);
            if last.map_or(is.is_grave(), |last| last != *is) {
                self.note(*is, None, about, detail);
            }
        }
    }
}

/// The disks that tell of themselves. What smartctl says nothing of is left out: it is not there, or may not be used.
fn disks(places: &Places) -> Vec<Found> {
    let block = places.sys.join("block");
    // What has no device is made of other ones.
    let disks = names(&block).into_iter().filter(|name| block.join(name).join("device").exists());
    disks.filter_map(|name| disk(places, &name)).collect()
}

fn disk(places: &Places, name: &str) -> Option<Found> {
    let mut command = Command::new("smartctl");
    // A disk that sleeps is left asleep.
    command.args(["--json", "-n", "standby", "-H", "-A"]).arg(format!("/dev/{name}")).env("PATH", &places.path);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let mut said = Vec::new();
    let read = child.stdout.take()?.take(LONGEST).read_to_end(&mut said);
    // Its status has a bit for each thing that it found, so it says nothing that its text does not.
    let _ = child.wait();
    read.ok()?;
    let said: Value = serde_json::from_slice(&said).ok()?;
    let is_passed = said["smart_status"]["passed"].as_bool()?;
    let mut why: Vec<String> = Vec::new();
    if !is_passed {
        why.push("SMART: FAILED".into());
    }
    let attributes = said["ata_smart_attributes"]["table"].as_array().into_iter().flatten();
    let failing = attributes.filter(|attribute| attribute["when_failed"] == "now");
    why.extend(failing.filter_map(|attribute| attribute["name"].as_str().map(str::to_owned)));
    let warning = said["nvme_smart_health_information_log"]["critical_warning"].as_u64().unwrap_or_default();
    if warning != 0 {
        why.push(format!("critical warning {warning:#04x}"));
    }
    // By its model and number: another boot may give it another name.
    let known = [&said["model_name"], &said["serial_number"]].into_iter().filter_map(Value::as_str);
    let known = known.collect::<Vec<_>>().join(" ");
    let about = if known.is_empty() { name.to_owned() } else { known };
    let (is, was) =
        if why.is_empty() { (Kind::DiskHealthy, Kind::DiskFailing) } else { (Kind::DiskFailing, Kind::DiskHealthy) };
    why.insert(0, format!("/dev/{name}"));
    Some(Found { about, detail: why.join(", "), is, was })
}

/// The temperatures that have a limit. Between the limit and a little less nothing is said.
fn hot_and_cool(sys: &Path) -> Vec<Found> {
    let found = |sensor: Sensor| {
        let (celsius, limit) = (sensor.celsius, sensor.limit?);
        let (is, was) = match celsius {
            hot if hot >= limit => (Kind::SensorHot, Kind::SensorCool),
            cool if cool < limit - BELOW => (Kind::SensorCool, Kind::SensorHot),
            _ => return None,
        };
        // By its device: another boot may give its chip another number.
        let parts = [sensor.name, sensor.device, Some(sensor.input), sensor.label];
        let about = parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        Some((about, (format!("{celsius:.1} °C ({limit:.1} °C)"), is, was)))
    };
    // Two that are called alike are one.
    let found: BTreeMap<_, _> = sensors::temperatures(sys).into_iter().filter_map(found).collect();
    found.into_iter().map(|(about, (detail, is, was))| Found { about, detail, is, was }).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::database::Database;

    struct Machine(tempfile::TempDir);

    impl Machine {
        fn write(&self, path: &str, text: &str) {
            let path = self.0.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            // Aside first: a program that is being written is not started.
            let aside = path.with_extension("new");
            std::fs::write(&aside, text).unwrap();
            std::fs::set_permissions(&aside, std::fs::Permissions::from_mode(0o755)).unwrap();
            std::fs::rename(&aside, &path).unwrap();
        }

        fn places(&self) -> Places {
            let path = self.0.path();
            Places {
                lock: path.join("lock"),
                sys: path.join("sys"),
                path: format!("{}:/usr/bin:/bin", path.join("programs").display()),
            }
        }

        /// What smartctl prints of each disk.
        fn smart(&self, disks: &[(&str, &str)]) {
            let cases: String = disks.iter().map(|(disk, said)| format!("/dev/{disk}) echo '{said}' ;;\n")).collect();
            let script = format!(
                "#!/bin/sh\n[ \"$*\" = \"--json -n standby -H -A $6\" ] || exit 1\ncase $6 in\n{cases}esac\nexit 8\n"
            );
            self.write("programs/smartctl", &script);
        }
    }

    /// The kinds, subjects and details that were noted.
    fn noted(database: &Database) -> Vec<String> {
        let entries = database.known().entries_after(0, 100);
        entries.into_iter().map(|entry| format!("{} {}: {}", entry.kind.word(), entry.about, entry.detail)).collect()
    }

    #[test]
    fn what_changes_is_noted_once_and_also_after_a_restart() {
        let machine = Machine(tempfile::tempdir().unwrap());
        let store = tempfile::tempdir().unwrap();
        for disk in ["sda", "nvme0n1", "vda"] {
            machine.write(&format!("sys/block/{disk}/device/model"), "x\n");
        }
        // It is made of others, and nobody asks smartctl about it.
        machine.write("sys/block/md0/size", "1\n");
        let fine = r#"{"model_name":"M","serial_number":"S","smart_status":{"passed":true},"ata_smart_attributes":{"table":[{"name":"Temp","when_failed":""}]}}"#;
        let wears = fine.replace(r#""Temp","when_failed":"""#, r#""Reallocated","when_failed":"now""#);
        let nvme = r#"{"model_name":"N","serial_number":"T","smart_status":{"passed":false},"nvme_smart_health_information_log":{"critical_warning":4}}"#;
        let unknown = r#"{"smartctl":{"exit_status":2}}"#;
        machine.write("sys/class/hwmon/hwmon0/name", "coretemp\n");
        machine.write("sys/class/hwmon/hwmon0/temp1_label", "Package\n");
        machine.write("sys/class/hwmon/hwmon0/temp1_crit", "100000\n");
        machine.write("sys/class/hwmon/hwmon0/temp2_input", "99000\n");
        machine.write("sys/class/hwmon/hwmon0/temp2_crit", "0\n");
        let all = [("sda", fine), ("nvme0n1", nvme), ("vda", unknown), ("md0", nvme)];
        let step = |celsius: u32, disks: &[(&str, &str)]| {
            machine.write("sys/class/hwmon/hwmon0/temp1_input", &format!("{celsius}000\n"));
            machine.smart(disks);
            // Each time another server.
            let database = Database::open(store.path(), None, "test").unwrap();
            let before = noted(&database).len();
            let found = look(&machine.places());
            let note = |edit: &mut Edit| {
                edit.note_found(&found, None);
                Ok(())
            };
            database.change(note).unwrap();
            noted(&database).split_off(before)
        };
        let failing = "disk-failing N T: /dev/nvme0n1, SMART: FAILED, critical warning 0x04";
        assert_eq!(step(50, &all), [failing]);
        assert!(step(97, &all).is_empty(), "it is not over its limit");
        assert_eq!(step(100, &all), ["sensor-hot coretemp temp1 Package: 100.0 °C (100.0 °C)"]);
        assert!(step(105, &all).is_empty() && step(96, &all).is_empty(), "it was hot and is not cool yet");
        let worse = [("sda", wears.as_str()), ("nvme0n1", nvme)];
        let cool = "sensor-cool coretemp temp1 Package: 94.0 °C (100.0 °C)";
        assert_eq!(step(94, &worse), ["disk-failing M S: /dev/sda, Reallocated", cool]);
        // Where smartctl says nothing, all stays as it is.
        assert!(step(94, &[]).is_empty());
        assert_eq!(step(94, &all), ["disk-healthy M S: /dev/sda"]);
    }

    #[test]
    fn nothing_is_there_where_there_is_no_tool_and_no_sensor() {
        let machine = Machine(tempfile::tempdir().unwrap());
        machine.write("sys/block/sda/device/model", "x\n");
        let places = Places { path: "/nowhere".into(), ..machine.places() };
        assert_eq!(look(&places), []);
    }

    #[test]
    fn a_run_that_is_measured_is_seen_by_its_lock() {
        let machine = Machine(tempfile::tempdir().unwrap());
        let places = machine.places();
        assert!(!is_measured(&places.lock));
        let lock = stend_stand::lock::FileLock::take(&places.lock).unwrap();
        assert!(is_measured(&places.lock));
        drop(lock);
        assert!(!is_measured(&places.lock));
        // What a crash left behind is no run.
        std::fs::write(&places.lock, "").unwrap();
        assert!(!is_measured(&places.lock));
    }
}
