//! Descriptions of targets: what they become, and what is said of those that make no sense.

use stend_model::quantity::Size;
use stend_model::target::{Disks, Layout, Manager, Storage, Target, TargetText, Transport, Where};

const MEBIBYTE: u64 = 1 << 20;

fn read(text: &str) -> Result<Target, String> {
    TargetText::target_of_file(text, "t.toml", &TargetText::default()).map_err(|error| error.to_string())
}

fn flags(text: &str) -> TargetText {
    TargetText::parse(text, "flags").unwrap()
}

#[test]
fn nothing_said_is_files_in_the_directory_for_runs() {
    let target = read("").unwrap();
    assert_eq!(target.storage, Storage::File { r#where: Where::Work });
    assert_eq!((target.luns, target.lun_size), (8, Some(Size(64 * MEBIBYTE))));
    assert_eq!((target.transport, target.controllers, target.fill), (Transport::Local, 0, true));
    assert_eq!(target.files(), Some((512 * MEBIBYTE, &Where::Work)));
    assert!(target.devices().is_empty());
}

#[test]
fn the_kind_follows_from_the_other_keys() {
    let pool = read("layout = \"mirror\"").unwrap();
    let Storage::Pool { disks: Disks::Files { count, size, .. }, layout: Layout::Mirror, manager: None } = pool.storage
    else {
        panic!("{pool:?}")
    };
    assert_eq!((count, size), (12, Size(256 * MEBIBYTE)));
    // 60 % of half of 3 GiB, shared by 8 LUNs, in whole MiB.
    assert_eq!(pool.lun_size, Some(Size(115 * MEBIBYTE)));
    let devices = read("devices = [\"/dev/sdb\", \"/dev/sdc\"]").unwrap();
    assert_eq!((devices.luns, devices.lun_size), (2, None));
    assert_eq!(devices.devices(), ["/dev/sdb", "/dev/sdc"]);
    assert_eq!(devices.files(), None);
    let of_devices =
        read("kind = \"pool\"\nlayout = \"stripe\"\nlun_size = \"1GiB\"\ndevices = [\"/dev/sdb\", \"/dev/sdc\"]");
    let of_devices = of_devices.unwrap();
    assert_eq!(of_devices.lun_size, Some(Size(1024 * MEBIBYTE)));
    assert_eq!(of_devices.devices().len(), 2);
}

#[test]
fn neighbouring_luns_go_to_different_controllers() {
    let target = read("disks = 4\ntransport = \"nbd\"").unwrap();
    assert_eq!(target.controllers, 2);
    let share = |controller: u32| (0..8).filter(|&lun| target.controller_of(lun) == controller).collect::<Vec<_>>();
    assert_eq!((share(0), share(1)), (vec![0, 2, 4, 6], vec![1, 3, 5, 7]));
    assert_eq!(read("transport = \"nbd\"\nluns = 1").unwrap().controllers, 1);
}

#[test]
fn flags_stand_over_the_file() {
    let file = "kind = \"pool\"\ndisks = 12\nlayout = \"raid10\"\nlun_size = \"16MiB\"\n";
    let target = TargetText::target_of_file(file, "t.toml", &flags("disks = 4\nlayout = \"stripe\"")).unwrap();
    assert_eq!(target.to_string(), "4 disks of 256MiB (the directory for runs' files), stripe, 8 LUNs of 16MiB, local");
    let exported = "transport = \"nbd\"\ncontrollers = 3\n";
    let local = TargetText::target_of_file(exported, "t.toml", &flags("transport = \"local\"")).unwrap();
    assert_eq!((local.transport, local.controllers), (Transport::Local, 0));
    // Who said it is told: the flag, or the file with its line.
    let error = TargetText::target_of_file(file, "t.toml", &flags("disks = 3")).unwrap_err().to_string();
    assert_eq!(error, "--disks: raid10 of 3 disks cannot be made; it takes 4 to 64");
    let error = TargetText::target_of_file(file, "t.toml", &flags("luns = 256")).unwrap_err().to_string();
    assert!(error.starts_with("t.toml:4:1: 256 LUNs of 16MiB are 4.00 GiB"), "{error}");
    let error = flags("luns = 0").target().unwrap_err().to_string();
    assert_eq!(error, "--luns: it is 0; it may be 1 to 256");
}

#[test]
fn a_mistake_is_told_with_its_place_and_what_would_be_right() {
    for (text, place, part) in [
        ("disks = 12\nshape = \"raid10\"", "2:1", "unknown field `shape`, expected one of `kind`"),
        ("disks = 12\n  layout = \"raid6\"", "2:12", "it may be stripe, mirror, raid10"),
        ("disk_size = \"1 parsec\"", "1:13", "64KiB"),
        ("disks = -1", "1:9", "-1"),
        ("disk_size = \"64MiB\"", "1:1", "at least 128MiB"),
        ("layout = \"raid10\"\ndisks = 3", "2:1", "it takes 4 to 64"),
        ("disks = 4\nlun_size = \"64MiB\"\nluns = 9", "2:1", "holds less than 0.50 GiB"),
        ("luns = 0", "1:1", "1 to 256"),
        ("lun_size = 1000", "1:1", "less than 1MiB"),
        ("lun_size = \"1.5MiB\"", "1:1", "write 1MiB or 2MiB"),
        ("disk_size = \"1GB\"", "1:1", "write 953MiB or 954MiB"),
        ("kind = \"file\"\nlayout = \"raid10\"", "2:1", "set kind = \"pool\""),
        ("kind = \"device\"\n", "1:1", "needs \"devices\""),
        ("kind = \"device\"\ndevices = [\"/dev/sdb\"]\nluns = 2", "3:1", "each device is a LUN"),
        ("devices = [\"sdb\"]", "1:1", "begins with /dev/"),
        ("devices = [\"/dev/sdb\", \"/dev/sdb\"]", "1:1", "twice"),
        ("devices = []", "1:1", "1 to 64"),
        ("kind = \"pool\"\ndevices = [\"/dev/sdb\", \"/dev/sdc\"]\nlayout = \"stripe\"", "1:1", "needs \"lun_size\""),
        ("devices = [\"/dev/sdb\"]\ntransport = \"nbd\"", "2:1", "only files and pools"),
        ("manager = \"raid\"", "1:11", "it may be btrfs, md, lvm, zfs"),
        ("manager = \"md\"\nlayout = \"mirror\"\ndisks = 4", "3:1", "a mirror by md"),
        ("manager = \"lvm\"\ndisks = 5", "2:1", "made of pairs"),
        ("kind = \"file\"\nmanager = \"md\"", "2:1", "set kind = \"pool\""),
        ("manager = \"zfs\"\ntransport = \"nfs\"", "2:1", "set manager = \"btrfs\""),
        ("transport = \"nfs\"\ncontrollers = 2", "2:1", "no process exports anything"),
        ("controllers = 2", "1:1", "set transport = \"nbd\""),
        ("transport = \"nbd\"\nluns = 2\ncontrollers = 3", "3:1", "1 to 2"),
        ("where = \"here\"", "1:1", "neither an absolute path nor \"tmpfs\""),
        ("where = \"/a b\"", "1:1", "' '"),
        ("where = \"/srv/../etc\"", "1:1", "\"..\""),
        ("where = \"/srv", "1:14", "string"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.starts_with(&format!("t.toml:{place}: ")) && error.contains(part), "{text}\n{error}");
        assert!(!error.contains('\n'), "one line: {error}");
    }
}

#[test]
fn a_target_is_stored_and_read_back() {
    for text in [
        "",
        "where = \"tmpfs\"\nluns = 1",
        "devices = [\"/dev/sdb\"]",
        "kind = \"pool\"\nwhere = \"/srv\"\ntransport = \"nbd\"\nfill = false",
        "manager = \"lvm\"\ntransport = \"nvme-tcp\"",
        "transport = \"iscsi\"",
        "kind = \"pool\"\ndevices = [\"/dev/sdb\", \"/dev/sdc\"]\nlayout = \"mirror\"\nlun_size = \"1GiB\"",
    ] {
        let target = Target { destructive: vec!["S1".into()], ..read(text).unwrap() };
        let json = serde_json::to_string(&target).unwrap();
        assert_eq!(serde_json::from_str::<Target>(&json).unwrap(), target, "{json}");
    }
}

#[test]
fn a_pool_that_was_stored_before_there_was_a_choice_is_of_btrfs() {
    let json = serde_json::to_string(&read("disks = 4\nmanager = \"btrfs\"").unwrap()).unwrap();
    let before = json.replace(",\"manager\":\"btrfs\"", "");
    assert_ne!(before, json);
    assert_eq!(serde_json::from_str::<Target>(&before).unwrap().manager(), Some(Manager::Btrfs));
    let open = read("disks = 4").unwrap();
    let stored = serde_json::to_string(&open).unwrap();
    assert_eq!(serde_json::from_str::<Target>(&stored).unwrap(), open, "what was left open stays so");
}

fn setting(key: &str, value: &str) -> Result<TargetText, String> {
    let settings = [(key.to_owned(), value.to_owned())].into_iter().collect();
    TargetText::of_settings(&settings).map_err(|error| error.to_string())
}

#[test]
fn words_for_nbdkit_mount_and_the_kernel_are_known_ones() {
    const NBD: &str = "disks = 4\ntransport = \"nbd\"\n";
    let fine = read(&format!(
        "{NBD}threads = 4\nfilters = [\"delay\", \"noparallel\", \"rdelay=1ms\"]\nscheduler = \"mq-deadline\"\n\
         mount_options = [\"compress=zstd:3\", \"nossd\", \"commit=5\"]\nprocessors = \"0-1,3 2\""
    ));
    let fine = fine.unwrap();
    assert_eq!((fine.processors_of(0), fine.processors_of(1)), (Some("0-1,3"), Some("2")));
    let told = fine.to_string();
    assert!(told.ends_with(
        ", threads 4, filters delay,noparallel,rdelay=1ms, processors 0-1,3 2, scheduler mq-deadline, mount options compress=zstd:3,nossd,commit=5"
    ), "{told}");
    assert_eq!(read(&format!("{NBD}processors = \"1\"")).unwrap().processors_of(1), Some("1"));
    for (key, value, part) in [
        ("threads", "0", "it may be 1 to 256"),
        ("threads", "257", "it may be 1 to 256"),
        ("filters", "[\"log\", \"logfile=x\"]", "there is no filter \"log\" here; there are blocksize"),
        ("filters", "[\"exitwhen\"]", "no filter"),
        ("filters", "[\"../../evil\"]", "no filter"),
        (
            "filters",
            "[\"delay\", \"logscript=reboot\"]",
            "\"logscript\" is no parameter of a filter that stands there; these filters take rdelay",
        ),
        ("filters", "[\"rdelay=1\"]", "none of these filters takes a parameter"),
        ("filters", "[\"delay\", \"dir=etc\"]", "\"dir\" is no parameter"),
        ("filters", "[\"delay\", \"rdelay=/etc/passwd\"]", "a value has 1 to 32 letters"),
        ("filters", "[\"delay\", \"rdelay=$(id)\"]", "a value has"),
        ("filters", "[\"delay\", \"delay\"]", "twice"),
        ("filters", "[\"-t\"]", "no filter"),
        ("mount_options", "[\"ro\"]", "there is no mount option \"ro\" here; there are acl"),
        ("mount_options", "[\"subvol=x\"]", "no mount option \"subvol\""),
        ("mount_options", "[\"device=/dev/sda\"]", "no mount option \"device\""),
        ("mount_options", "[\"suid\"]", "no mount option"),
        ("mount_options", "[\"ssd,suid\"]", "no mount option \"ssd,suid\""),
        ("mount_options", "[\"commit=5,suid\"]", "a value has"),
        ("mount_options", "[\"compress=\"]", "a value has"),
        ("scheduler", "\"\"", "no name of a scheduler; such are none, mq-deadline"),
        ("scheduler", "\"../x\"", "no name of a scheduler"),
        ("processors", "\"\"", "there are 0 lists of processors for 2 controllers"),
        ("processors", "\"0 1 2\"", "3 lists of processors for 2 controllers"),
        ("processors", "\"3-1\"", "\"3-1\" is no list of processors such as 0-3,8"),
        ("processors", "\"0-99999\"", "no list of processors"),
    ] {
        let error = read(&format!("{NBD}{key} = {value}")).unwrap_err();
        assert!(error.starts_with("t.toml:3:1: ") && error.contains(part), "{key} = {value}: {error}");
    }
    for (text, part) in [
        ("threads = 4", "they are nbdkit's, and the transport is \"local\""),
        ("transport = \"iscsi\"\nfilters = []", "set transport = \"nbd\""),
        ("processors = \"0\"", "with the transport \"local\" there are none"),
        ("scheduler = \"none\"", "files have no disks of their own"),
        ("mount_options = [\"ssd\"]", "only pools are mounted"),
        ("disks = 4\nmanager = \"md\"\nmount_options = [\"ssd\"]", "a pool by md is not mounted"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
    }
    // Another transport by a flag makes what is nbdkit's mean nothing, and is no mistake.
    let file = format!("{NBD}threads = 4\nfilters = [\"fua\"]\nprocessors = \"0\"");
    let local = TargetText::target_of_file(&file, "t.toml", &flags("transport = \"local\"")).unwrap();
    assert_eq!((local.threads, local.filters.len(), local.processors), (None, 0, None));
}

#[test]
fn keys_of_a_side_are_read_as_what_the_key_takes() {
    assert_eq!(setting("threads", "4").unwrap(), flags("threads = 4"));
    assert_eq!(setting("disk_size", "128MiB").unwrap(), flags("disk_size = \"128MiB\""));
    assert_eq!(setting("fill", "false").unwrap(), flags("fill = false"));
    assert_eq!(setting("processors", "0").unwrap(), flags("processors = \"0\""));
    assert_eq!(setting("filters", "delay, rdelay=1ms").unwrap(), flags("filters = [\"delay\", \"rdelay=1ms\"]"));
    assert_eq!(setting("filters", "").unwrap(), flags("filters = []"));
    assert_eq!(setting("layout", "mirror").unwrap(), flags("layout = \"mirror\""));
    for (key, value, part) in [
        ("layout", "", "target.layout=: it has no value after the ="),
        ("layout", "raid6", "target.layout=raid6: \"raid6\" is not known here; it may be stripe"),
        ("threads", "many", "target.threads=many: invalid type: string \"many\""),
        ("threads", "null", "target.threads=null: invalid type"),
        ("raid", "10", "target.raid=10: unknown field `raid`, expected one of `kind`"),
    ] {
        let error = setting(key, value).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}
