//! What is watched of a target while it is loaded: its controllers, its disks, and its LUNs.

use super::shell::Disk;
use super::thing::Thing;
use super::{Up, read};
use stend_stand::host::Host;

/// What the sampler is to watch besides the machine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Watched {
    /// What a control group's metrics begin with, and one of its directories.
    pub groups: Vec<(String, String)>,
    /// What the sum of some disks begins with, and the kernel's name of one of them.
    pub disks: Vec<(String, String)>,
}

/// What the metrics of a controller begin with.
pub fn controller(number: usize) -> String {
    format!("controller{number}")
}

/// What is there to be watched of a target that stands.
pub fn watched(host: &dyn Host, work: &str, name: &str, up: &Up) -> Watched {
    let mut watched = Watched::default();
    for (number, one) in up.controllers.iter().enumerate() {
        watched.groups.extend(one.counters.groups().into_iter().map(|path| (controller(number), path)));
    }
    let things = read(host, work, name).ok().flatten().unwrap_or_default().things;
    let loops = loops(host);
    let device = |disk: &Disk| match disk {
        Disk::File(path) => loops.iter().find(|(_, file)| file == path).map(|(device, _)| device.clone()),
        Disk::Device(path) => block_device(host, path),
    };
    let of_pool = things.iter().flat_map(Thing::pools_disks).filter_map(device);
    watched.disks.extend(of_pool.map(|disk| ("pool".into(), disk)));
    let luns = up.luns.iter().filter_map(|lun| block_device(host, lun));
    watched.disks.extend(luns.map(|disk| ("luns".into(), disk)));
    watched
}

/// The kernel's names of the loop devices, and the files behind them.
fn loops(host: &dyn Host) -> Vec<(String, String)> {
    let names = host.list("/sys/block").unwrap_or_default().into_iter().filter(|name| name.starts_with("loop"));
    let file = |name: String| {
        let file = host.read_text(&format!("/sys/block/{name}/loop/backing_file")).ok()?;
        Some((name, file.trim_end_matches('\n').to_owned()))
    };
    names.filter_map(file).collect()
}

/// The kernel's name of the block device at a path; nothing for what is none.
fn block_device(host: &dyn Host, path: &str) -> Option<String> {
    // The LUNs of some managers and transports are links to devices.
    let real = super::real_path(host, path).ok()?;
    real.strip_prefix("/dev/").map(str::to_owned)
}
