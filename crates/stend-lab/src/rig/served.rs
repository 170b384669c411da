//! A disk's file by way of a process: nbdkit, which the file system FUSE shows as a file again (nbdfuse), on which the loop device lies. So a
//! disk can be slow for a while, or have a cache that forgets: what is written stays with nbdkit until it is flushed, and is gone when that is
//! killed. It costs each of the disk's operations two ways through a process, also before and after; so only the disks whose suite needs it
//! are made so.

use serde::{Deserialize, Serialize};

use super::plan::Planning;
use super::shell::{SERVERS, shell};
use super::thing::{Made, Thing};
use stend_stand::host::Command;

/// That file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Served {
    /// The disk's own file.
    file: String,
    /// The directory in which it is shown as `disk`.
    mount: String,
    /// Whether it keeps what is written to itself until that is flushed.
    forgets: bool,
}

/// The file on which the loop device of a disk lies: the disk's own file, or where the suite needs that, what a process makes of it.
pub(super) fn plan(planning: &mut Planning<'_>, number: u32, file: String) -> String {
    let needs = planning.ground.needs;
    if !needs.slow.contains(&number) && !needs.forgetful {
        return file;
    }
    let served = Served { file, mount: planning.directory(&format!("disk{number}")), forgets: needs.forgetful };
    let shown = served.shown();
    planning.things.push(Thing::Served(served));
    shown
}

/// nbdfuse ends when it is told to, and nbdkit with it.
const OWN: &str = r#"
file=$1 mount=$2 cache=
[ "$3" = false ] || cache='--filter=cache '
rate=$mount.rate said=$mount.said
of_nbdfuse="nbdfuse $mount/disk "
of_nbdkit="nbdkit -s --exit-with-parent --filter=rate ${cache}file $file "
is_mounted() { grep -qF " $mount fuse " /proc/self/mounts; }
"#;
const SERVE: &str = r#"
export TMPDIR="${file%/*}"
setsid nbdfuse "$mount/disk" --command nbdkit -s --exit-with-parent --filter=rate $cache file "$file" "rate-file=$rate" \
    ${cache:+cache=writeback} \
    </dev/null >/dev/null 2>"$said" &
until is_mounted; do again "nbdfuse shows no file: $(tail -n 1 "$said")"; done
"#;
const STOP_SERVING: &str = r#"
word=$mount/disk begins=$of_nbdfuse
end_servers
word=$file begins=$of_nbdkit
end_servers
while is_mounted; do
    said_last=$(umount "$mount" 2>&1) && continue
    again "$said_last"
done
rm -f "$rate" "$rate.new" "$said"
"#;
/// nbdkit reads the file anew when it is another one. 0 is no limit.
const LIMIT: &str = r#"
echo "$4" >"$rate.new" && mv "$rate.new" "$rate"
"#;

/// Those that serve first, so that nothing is flushed by one that loses its client. They die one after another, so all are stopped before:
/// otherwise a mirror would say that what only its later half has got is flushed, and show what the earlier one holds.
const POWER_OFF: &str = r#"
servers_of_all=
while [ "$#" -gt 0 ]; do
    own "$1" "$2" "$3"
    shift 3
    word=$file begins=$of_nbdkit
    of_disk=$(servers)
    [ -n "$of_disk" ] || { echo "nobody serves $file" >&2; exit 1; }
    servers_of_all="$servers_of_all $of_disk"
done
kill -s STOP $servers_of_all
for server in $servers_of_all; do
    # A thread that writes out to a slow disk stands only when it has.
    tries=0 most=1000
    while grep -h '^State:' "/proc/$server/task/"*/status 2>/dev/null | grep -qv '[TtXZ] ('; do
        again "nbdkit does not stop: process $server"
    done
done
kill -s KILL $servers_of_all
"#;

/// The command that ends all of these, and with them what they keep.
pub(super) fn cutting_power(ledger: &str, all: &[&Served]) -> Command {
    let script = format!("{SERVERS}own() {{\n{OWN}\n}}\n{POWER_OFF}");
    shell(ledger, &script, &all.iter().flat_map(|served| served.arguments()).collect::<Vec<_>>())
}

impl Served {
    fn arguments(&self) -> [&str; 3] {
        [&self.file, &self.mount, if self.forgets { "true" } else { "false" }]
    }

    /// Where it is shown.
    pub(super) fn shown(&self) -> String {
        format!("{}/disk", self.mount)
    }

    /// The command that limits how many bits a second it reads, and writes; 0 is no limit.
    pub(super) fn limiting(&self, ledger: &str, bits: u64) -> Command {
        shell(ledger, &format!("{OWN}{LIMIT}"), &[&self.arguments()[..], &[&bits.to_string()]].concat())
    }
}

impl Made for Served {
    fn making(&self, ledger: &str) -> Command {
        shell(ledger, &format!("{OWN}{SERVE}"), &self.arguments())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        Some(shell(ledger, &format!("{SERVERS}{OWN}{STOP_SERVING}"), &self.arguments()))
    }

    fn in_words(&self) -> String {
        format!("the file that nbdfuse shows at {}", self.shown())
    }
}
