//! Conversions of disks to qcow2 by `qemu-img`, one at a time: checked, written beside its final name, compared with what it was made of, adapted by
//! `virt-v2v` if that is asked for, and only then renamed.
//!
//! What there is of one is in a ledger, as with a target: in `conversions/TOKEN` of the directory for runs' files. So a conversion is there whole or not
//! at all, and `stend clean` removes what a killed one left.

use serde::{Deserialize, Serialize};
use serde_json::json;
use stend_stand::host::{Command, Host, HostError};

use super::ability::{Need, lack};
use super::basics::Basic;
use super::ledger::Begun;
use super::plan::Plan;
use super::servers::{Home, OfServer, Written};
use super::shell::shell;
use super::thing::{Made, Thing, things};
use super::vm::has_kvm;
use super::{Obstacle, Refusal, TOKEN_DIGITS, Up, inside, listed, make_whole, real_path, take_down_at, token};
use crate::convert::{Disk, Source};

/// The directory of the conversions, in the one for runs' files.
const DIRECTORY: &str = "conversions";
/// One that has read and written nothing for so many seconds is given up.
const PATIENCE: u32 = 600;
const NEED: Need =
    Need { programs: &[("qemu-img", "qemu-utils"), ("unshare", "util-linux"), ("flock", "util-linux")], kernel: &[] };
/// What booting takes.
const NEED_OF_BOOT: Need = Need { programs: &[("qemu-system-x86_64", "qemu-system-x86")], kernel: &[] };
/// What adapting takes.
const NEED_OF_ADAPTING: Need = Need { programs: &[("virt-v2v-in-place", "virt-v2v")], kernel: &[] };
/// There if nothing is on the disk that can be adapted.
const NO_SYSTEM: &str = "no-system";
/// Where it is written how far it is.
const PROGRESS: &str = "progress";

/// An image while it is made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Converted {
    /// Where it lies until it is whole.
    temporary: String,
    #[serde(skip)]
    image: String,
    #[serde(skip)]
    home: String,
    #[serde(skip)]
    words: Vec<String>,
}

/// The guest on it, with what it takes to run under QEMU.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Adapted {
    #[serde(skip)]
    by_kvm: bool,
    #[serde(skip)]
    temporary: String,
    #[serde(skip)]
    image: String,
    #[serde(skip)]
    home: String,
}

/// The name of one that is whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Named {
    #[serde(skip)]
    temporary: String,
    #[serde(skip)]
    image: String,
}

/// A guest that boots from the image, and is ended when it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Booted {
    #[serde(skip)]
    image: String,
    #[serde(skip)]
    home: String,
}

things! {
    /// What a conversion is made of.
    pub(super) enum OfConversion {
        Converted(Converted),
        Adapted(Adapted),
        Named(Named),
        Booted(Booted),
    }
    others {}
}

/// What is to be made of a disk.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The disk.
    pub disk: &'a Disk,
    /// The path of its image, which is not there yet.
    pub image: &'a str,
    /// Whether the guest on it gets what it takes to run under QEMU.
    pub adapts: bool,
    /// Whether a guest is to boot from that.
    pub boots: bool,
}

/// What was made of a disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The same as the disk.
    Same,
    /// Its guest was adapted.
    Adapted,
    /// The same as the disk, because nothing that can be adapted was found on it.
    NoSystem,
}

/// How far a conversion is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// What is done now.
    pub stage: Stage,
    /// How much of that is done, below 1.
    pub share: f64,
}

/// What is done, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The disk is checked, and how much room it takes.
    Checking,
    /// The image is written.
    Converting,
    /// The image is compared with the disk.
    Comparing,
    /// The guest on it gets what it takes to run under QEMU.
    Adapting,
    /// A guest boots from it.
    Booting,
}

impl Stage {
    const ALL: [(&str, Self); 5] = [
        ("checking", Self::Checking),
        ("converting", Self::Converting),
        ("comparing", Self::Comparing),
        ("adapting", Self::Adapting),
        ("booting", Self::Booting),
    ];

    /// As it is written.
    pub fn word(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

/// qemu-img has no network where the kernel lets it have none, and what memory it may take is bounded. Its words are told without the description of
/// the disk, which nobody typed.
const CONVERT: &str = r#"
home=$1 temporary=$2 image=$3 source=$4 made=$5 patience=$6
shift 6
cd "$home" || exit
while [ "$1" != -- ]; do
    ln -s "$2" "$1" || exit
    shift 2
done
shift
ulimit -c 0
ulimit -v 4194304
alone=
unshare --net true 2>/dev/null && alone="unshare --net"
[ -n "$alone" ] || ! unshare --map-root-user --net true 2>/dev/null || alone="unshare --map-root-user --net"
seconds() { cut -d. -f1 /proc/uptime; }
# Ends a process that has neither read nor written for long.
watch() {
    since=$(seconds)
    while now=$(grep '^[rw]char' "/proc/$1/io" 2>/dev/null) && [ -n "$now" ]; do
        [ "$now" = "${before-}" ] || before=$now since=$(seconds)
        if [ $(($(seconds) - since)) -ge "$patience" ]; then
            echo "it has read and written nothing for $patience s" >said
            kill -s KILL "$1"
        fi
        sleep 1
    done
}
give_up() {
    words=$(tr '\r' '\n' <said | sed "s/'json:.*}'\(: \)\{0,1\}//g" | grep -v '^ *$' | tail -n 1)
    echo "${words:-$(tr '\r' '\n' <progress | grep -v '^ *\((.*\)\{0,1\}$' | tail -n 1)}" >&2
    exit 1
}
run() {
    echo "$1" >>progress
    shift
    $alone qemu-img "$@" >>progress 2>said &
    child=$!
    watch "$child" >/dev/null 2>&1 &
    watcher=$!
    status=0
    wait "$child" || status=$?
    kill "$watcher"
    [ "$status" -le 128 ] || [ -s said ] || echo "qemu-img was ended by signal $((status - 128))" >said
    return "$status"
}
for disk; do
    run checking check -q "json:$disk"
    # Space that is lost in it is no harm, and some kinds cannot be checked.
    case $? in 0 | 3 | 63) ;; *) give_up ;; esac
done
run checking measure -O qcow2 "json:$source" || give_up
needed=$(sed -n 's/^required size: //p' progress)
free=$(df -B1 --output=avail "${image%/*}" | tail -n 1)
if [ "$needed" -gt "$free" ]; then
    echo "it takes $((needed >> 20)) MiB, and ${image%/*} has $((free >> 20)) MiB free" >&2
    exit 1
fi
run converting convert -p -O qcow2 "json:$source" "$temporary" || give_up
run comparing compare -p "json:$source" "json:$made" || give_up
"#;
/// virt-v2v looks at the guest's file systems in a virtual machine of its own, for which it packs what it takes. All that it leaves is in the directory.
const ADAPT: &str = r#"
home=$1 temporary=$2 backend=$3
cd "$home" && mkdir pack && echo adapting >>progress || exit
alone=
unshare --net true 2>/dev/null && alone="unshare --net"
TMPDIR=$home/pack LIBGUESTFS_TMPDIR=$home/pack LIBGUESTFS_CACHEDIR=$home/pack LIBGUESTFS_BACKEND=direct LIBGUESTFS_BACKEND_SETTINGS=$backend \
    $alone virt-v2v-in-place -i disk -if qcow2 "$temporary" >said 2>&1 </dev/null && exit
if grep -q 'inspection could not detect' said; then
    : >no-system
    exit
fi
words=$(grep -m 1 'error: ' said | sed 's/.*error: //')
echo "virt-v2v: ${words:-$(tail -n 1 said)}" >&2
exit 1
"#;
const NAME: &str = r#"
temporary=$1 image=$2
sync "$temporary" || exit
mv -n -T "$temporary" "$image" || exit
[ ! -e "$temporary" ] || { echo "$image is there already" >&2; exit 1; }
sync "${image%/*}"
"#;

/// An operating system has begun when it has switched on the paging of the processor, which no firmware and hardly a boot loader does. That is the first
/// bit of the register CR0. GRUB waits for ever where there is no display. Nothing is written to the image.
const BOOT: &str = r#"
home=$1 image=$2 patience=$3
cd "$home" && mkfifo ask && : >firmware >answers && echo booting >>progress && exec 8<>ask || exit
alone=
unshare --net true 2>/dev/null && alone="unshare --net"
seconds() { cut -d. -f1 /proc/uptime; }
give_up() {
    kill -s KILL "$guest" 2>/dev/null
    echo "$1" >&2
    exit 1
}
began=$(seconds)
TMPDIR=$home $alone qemu-system-x86_64 -nodefaults -no-user-config -no-reboot -display none \
    -sandbox on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny \
    -machine q35 -accel tcg -m 1024 -device VGA -snapshot -drive "id=disk,format=qcow2,if=none,file=$(printf %s "$image" | sed 's/,/,,/g')" \
    -device ide-hd,drive=disk -chardev file,id=firmware,path=firmware -device isa-debugcon,iobase=0x402,chardev=firmware \
    -monitor stdio <ask >answers 2>said 8<&- &
guest=$!
until grep -aq 'CR0=[89a-f]' answers; do
    kill -s 0 "$guest" 2>/dev/null || give_up "$(tail -n 1 said)"
    ! grep -aq 'No bootable device' firmware || give_up "its firmware finds nothing to boot"
    [ $(($(seconds) - began)) -lt "$patience" ] || give_up "no operating system has begun in $patience s"
    echo info registers >&8
    sleep 1
done
echo quit >&8
wait "$guest"
"#;

impl Made for Booted {
    fn making(&self, ledger: &str) -> Command {
        shell(ledger, BOOT, &[&self.home, &self.image, &PATIENCE.to_string()])
    }

    fn taking_away(&self, _: &str) -> Option<Command> {
        None
    }

    fn in_words(&self) -> String {
        format!("a guest that boots from {}", self.image)
    }
}

impl Made for Adapted {
    fn making(&self, ledger: &str) -> Command {
        // libguestfs takes KVM where there is one, also one that runs no guest.
        let backend = if self.by_kvm { "" } else { "force_tcg" };
        shell(ledger, ADAPT, &[&self.home, &self.temporary, backend])
    }

    fn taking_away(&self, _: &str) -> Option<Command> {
        None
    }

    fn in_words(&self) -> String {
        format!("an adapted guest in the image {}", self.image)
    }
}

impl Made for Named {
    fn making(&self, ledger: &str) -> Command {
        shell(ledger, NAME, &[&self.temporary, &self.image])
    }

    fn taking_away(&self, _: &str) -> Option<Command> {
        None
    }

    fn in_words(&self) -> String {
        format!("the image {}", self.image)
    }
}

impl Made for Converted {
    fn making(&self, ledger: &str) -> Command {
        let words = [&self.home, &self.temporary, &self.image].into_iter().chain(&self.words).map(String::as_str);
        shell(ledger, CONVERT, &words.collect::<Vec<_>>())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        Some(shell(ledger, r#"rm -f "$1""#, &[&self.temporary]))
    }

    fn in_words(&self) -> String {
        format!("the image {}", self.image)
    }
}

/// Converts a disk, adapts its guest and boots from its image if that is asked for. How far it is is told again and again.
///
/// # Errors
/// It cannot be converted or is not the same afterwards, there is no room for it, or the user interrupted it. Then nothing is left of it. Or it does not
/// boot.
pub fn convert(
    host: &dyn Host,
    probe: &str,
    work: &str,
    wanted: Wanted,
    tell: &dyn Fn(Progress),
    interrupted: &dyn Fn() -> bool,
) -> Result<Outcome, Refusal> {
    let Wanted { disk, adapts, boots, .. } = wanted;
    let needs = [Some(NEED), adapts.then_some(NEED_OF_ADAPTING), boots.then_some(NEED_OF_BOOT)];
    if let Some(missing) = needs.iter().flatten().find_map(|need| lack(host, need)) {
        return Err(Obstacle::NoConversion { missing }.into());
    }
    let token = token();
    let base = format!("{work}/{DIRECTORY}/{token}");
    host.make_directory(&base)?;
    let base = real_path(host, &base)?;
    let inside = inside(&base, &token);
    let home = format!("{inside}/disk");
    let progress = format!("{home}/{PROGRESS}");
    let look = || {
        if let Some(progress) = host.read_text(&progress).ok().as_deref().and_then(read_progress) {
            tell(progress);
        }
        interrupted()
    };
    let by_kvm = adapts && has_kvm(host);
    let plan = plan(disk.source(&home), &inside, &home, &token, wanted, by_kvm);
    make_whole(host, probe, &base, Begun::default(), plan, &look)?;
    let outcome = match adapts {
        false => Outcome::Same,
        true if host.read_text(&format!("{home}/{NO_SYSTEM}")).is_ok() => Outcome::NoSystem,
        true => Outcome::Adapted,
    };
    take_down_at(host, &base)?;
    Ok(outcome)
}

/// The things of a conversion, in the order in which they are made.
fn plan(source: Source, inside: &str, home: &str, token: &str, wanted: Wanted, by_kvm: bool) -> Plan {
    let Wanted { image, adapts, boots, .. } = wanted;
    let of_server = Thing::Server;
    let mut things =
        vec![Thing::Basic(Basic::Directory { path: inside.to_owned() }), of_server(OfServer::Home(Home::new(home)))];
    let Source { texts, links, node, checked } = source;
    let file =
        |(name, text): (String, String)| of_server(OfServer::ServerFile(Written::new(format!("{home}/{name}"), text)));
    things.extend(texts.into_iter().map(file));
    let directory = image.rsplit_once('/').map_or("", |(directory, _)| directory);
    let temporary = format!("{directory}/stend-{token}-part");
    let made = json!({ "driver": "qcow2", "file": { "driver": "file", "filename": temporary } });
    let first = [node.to_string(), made.to_string(), PATIENCE.to_string()].into_iter();
    let links = links.into_iter().flat_map(|(name, to)| [name, to]);
    let checked = checked.iter().map(ToString::to_string);
    let words = first.chain(links).chain(["--".to_owned()]).chain(checked).collect();
    let (image, home) = (image.to_owned(), home.to_owned());
    let adapted = Adapted { by_kvm, temporary: temporary.clone(), image: image.clone(), home: home.clone() };
    let named = Named { temporary: temporary.clone(), image: image.clone() };
    let booted = Booted { image: image.clone(), home: home.clone() };
    let converted = [OfConversion::Converted(Converted { temporary, image, home, words })].into_iter();
    let adapted = adapts.then_some(OfConversion::Adapted(adapted));
    let booted = boots.then_some(OfConversion::Booted(booted));
    things.extend(converted.chain(adapted).chain([OfConversion::Named(named)]).chain(booted).map(Thing::Conversion));
    Plan { things, up: Up::default(), behind_loops: false }
}

/// What the file says that qemu-img writes its progress to: a line a stage, and behind it percentages.
fn read_progress(text: &str) -> Option<Progress> {
    let mut words = text.split(['\n', '\r']).map(str::trim).rev();
    let mut share = None;
    words.find_map(|word| {
        let percent = || word.strip_prefix('(')?.split('/').next()?.parse::<f64>().ok();
        share = share.or_else(percent);
        let (_, stage) = Stage::ALL.into_iter().find(|(name, _)| *name == word)?;
        Some(Progress { stage, share: share.unwrap_or(0.0) / 100.0 })
    })
}

/// Removes what killed conversions left. How many there were.
///
/// # Errors
/// Something cannot be taken away, or the conversions cannot be listed.
pub fn clean(host: &dyn Host, work: &str) -> Result<usize, Refusal> {
    let mut removed = 0;
    for name in names(host, work)? {
        removed += usize::from(take_down_at(host, &format!("{work}/{DIRECTORY}/{name}"))?);
    }
    Ok(removed)
}

fn names(host: &dyn Host, work: &str) -> Result<Vec<String>, HostError> {
    let mut names = listed(host, &format!("{work}/{DIRECTORY}"))?.unwrap_or_default();
    names.retain(|name| name.len() == TOKEN_DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit()));
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_it_is_stands_behind_the_stage() {
        let share = |text: &str| read_progress(text).map(|progress| (progress.stage.word(), progress.share));
        assert_eq!(share(""), None);
        assert_eq!(share("checking\nchecking\nrequired size: 9\n"), Some(("checking", 0.0)));
        let converts = "checking\nrequired size: 9\nconverting\n    (0.00/100%)\r    (12.50/100%)\r";
        assert_eq!(share(converts), Some(("converting", 0.125)));
        assert_eq!(share(&format!("{converts}    (100.00/100%)\r\ncomparing\n")), Some(("comparing", 0.0)));
    }
}
