//! What a target turned out to be: asked of the kernel and of the controllers when it stands, so that a run keeps what was loaded and not
//! only what was asked for.

use std::collections::BTreeMap;

use super::thing::Thing;
use super::watched::Watched;
use super::{Up, read};
use stend_stand::host::{Command, Host};
use stend_stand::machine::chosen;

/// Prints `NAME=VALUE`. The pool's mount and its file system's UUID, each of which may be empty; then a prefix and a kernel's name for each
/// disk, up to `--`; then the files with the controllers' process ids.
const SCRIPT: &str = r#"
mount=$1 uuid=$2
shift 2
while read -r _ _ _ _ place options rest; do
    [ "$place" != "$mount" ] || echo "mount_options=$options,${rest##* }"
done </proc/self/mountinfo
for at in "/sys/fs/btrfs/$uuid"/allocation/data/*/; do
    at=${at%/}
    [ ! -d "$at" ] || echo "profile=${at##*/}"
done
while [ "$1" != -- ]; do
    device=/sys/class/block/$2
    queue=$device/queue
    [ -d "$queue" ] || queue=$device/../queue
    for setting in scheduler nr_requests read_ahead_kb write_cache max_sectors_kb nomerges rq_affinity logical_block_size rotational; do
        { read -r value <"$queue/$setting"; } 2>/dev/null && echo "$1$setting=$value"
    done
    { read -r value <"$device/loop/dio"; } 2>/dev/null && echo "$1direct_io=$value"
    shift 2
done
shift
for file; do
    { read -r pid <"$file"; } 2>/dev/null || continue
    while read -r name value; do
        [ "$name" != Cpus_allowed_list: ] || echo "processors=$value"
    done <"/proc/$pid/status"
    echo "command=$(tr '\0' ' ' <"/proc/$pid/cmdline")"
done
"#;

/// What there is to be found of a target that stands. What the machine does not say is not there.
pub fn found(host: &dyn Host, work: &str, name: &str, up: &Up, watched: &Watched) -> BTreeMap<String, String> {
    let things = read(host, work, name).ok().flatten().unwrap_or_default().things;
    let mount = things.iter().find_map(|thing| match thing {
        Thing::Mount(mounted) => Some(mounted.path.as_str()),
        _ => None,
    });
    let uuid = things.iter().find_map(|thing| match thing {
        Thing::Btrfs(made) => Some(made.uuid.as_str()),
        _ => None,
    });
    let has_pool = watched.disks.iter().any(|(kind, _)| kind == "pool");
    let disks = watched.disks.iter().flat_map(|(kind, disk)| {
        // Without a pool the LUNs are the disks.
        [if has_pool && kind == "luns" { "luns." } else { "" }, disk.as_str()]
    });
    let pid_files = up.controllers.iter().map(|controller| controller.pid_file.as_str());
    let words = ["sh", "-c", SCRIPT, "sh", mount.unwrap_or_default(), uuid.unwrap_or_default()];
    let words = words.into_iter().chain(disks).chain(["--"]).chain(pid_files);
    host.run(&Command::new(words)).map(|output| of_text(&output.text())).unwrap_or_default()
}

fn of_text(text: &str) -> BTreeMap<String, String> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in text.lines().filter_map(|line| line.split_once('=')) {
        let mut put = |name: &str, value: String| all.entry(name.to_owned()).or_default().push(value);
        match name {
            "mount_options" => put(name, mount_options(value)),
            "profile" => put("layout", layout(value)),
            "command" => of_command(value).into_iter().for_each(|(name, value)| put(name, value)),
            _ if name.ends_with("scheduler") => put(name, chosen(value)),
            _ => put(name, value.trim().to_owned()),
        }
    }
    all.into_iter().map(|(name, values)| (name, together(&values))).collect()
}

/// One value of several disks or controllers as it is; different ones in their order.
fn together(values: &[String]) -> String {
    if values.windows(2).all(|pair| pair[0] == pair[1]) { values[0].clone() } else { values.join(" ") }
}

/// Those of the mount and those of the file system, each once, without what names the disks and the place.
fn mount_options(text: &str) -> String {
    let mut options: Vec<&str> = Vec::new();
    for option in text.split(',') {
        let names_place = ["device=", "subvol=", "subvolid="].iter().any(|name| option.starts_with(name));
        if !names_place && !options.contains(&option) {
            options.push(option);
        }
    }
    options.join(",")
}

/// btrfs's name of a profile as the key `layout` has it.
fn layout(profile: &str) -> String {
    match profile {
        "raid0" => "stripe",
        "raid1" => "mirror",
        other => other,
    }
    .to_owned()
}

/// What an nbdkit was started with: its threads, its filters and their parameters, which follow the plugin's.
fn of_command(line: &str) -> Vec<(&'static str, String)> {
    let mut words = line.split_whitespace();
    if words.next() != Some("nbdkit") {
        return Vec::new();
    }
    let (mut filters, mut found) = (Vec::new(), Vec::new());
    for word in words.clone() {
        match word.split_once('=') {
            Some(("--threads", threads)) => found.push(("threads", threads.to_owned())),
            Some(("--filter", filter)) => filters.push(filter),
            _ => {}
        }
    }
    filters.extend(words.skip_while(|word| !word.starts_with("dir=")).skip(1));
    if !filters.is_empty() {
        found.push(("filters", filters.join(",")));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_script_prints_is_read_by_keys() {
        let text = "mount_options=rw,nosuid,nodev,noatime,rw,ssd,space_cache=v2,subvolid=5,subvol=/\nprofile=raid1\n\
                    scheduler=none [mq-deadline] kyber \nscheduler=[none] kyber\nnr_requests=128\nnr_requests=128\n\
                    luns.scheduler=[none]\nprocessors=0\nprocessors=1\n\
                    command=nbdkit --unix /w/c0.sock --pidfile /w/c0.pid --threads=4 --filter=delay --filter=fua file dir=/w/x rdelay=1ms \n\
                    command=tgtd --control-port 0 \nnonsense\n";
        let found = of_text(text);
        let of = |name: &str| found.get(name).map(String::as_str);
        assert_eq!(of("mount_options"), Some("rw,nosuid,nodev,noatime,ssd,space_cache=v2"));
        assert_eq!(
            (of("layout"), of("scheduler"), of("nr_requests")),
            (Some("mirror"), Some("mq-deadline none"), Some("128"))
        );
        assert_eq!((of("luns.scheduler"), of("processors")), (Some("none"), Some("0 1")));
        assert_eq!((of("threads"), of("filters")), (Some("4"), Some("delay,fua,rdelay=1ms")));
        assert_eq!(found.len(), 8);
    }
}
