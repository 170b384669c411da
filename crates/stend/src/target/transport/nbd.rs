//! nbdkit on a Unix socket, which exports the files and devices of a directory.

use serde::{Deserialize, Serialize};

use crate::host::Command;
use crate::target::shell::shell;
use crate::target::thing::Made;

/// nbdkit, a process for each controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::target) struct Nbdkit {
    pub(in crate::target) socket: String,
    pub(in crate::target) pid_file: String,
    pub(in crate::target) directory: String,
    pub(in crate::target) cgroups: Vec<String>,
}

/// The shell itself goes into the control groups and becomes the server.
const SERVER: &str = r#"
socket=$1 pid=$2 directory=$3
shift 3
for cgroup; do
    echo $$ >"$cgroup/cgroup.procs" || exit
done
exec nbdkit --unix "$socket" --pidfile "$pid" file dir="$directory"
"#;

/// The servers that listen on the socket `$1`, whose process id is in `$2`.
pub(in crate::target) const SERVERS: &str = r#"
socket=$1 pid_file=$2
servers() {
    for at in $(grep -lF -e "$socket" /proc/[0-9]*/cmdline 2>/dev/null); do
        case $(tr '\0' ' ' 2>/dev/null <"$at") in
        "nbdkit --unix $socket "*) at=${at#/proc/} && echo "${at%/cmdline}" ;;
        esac
    done
}
"#;
pub(in crate::target) const STOP_SERVER: &str = r#"
tries=0
signal=TERM
while pids=$(servers) && [ -n "$pids" ]; do
    kill -s "$signal" $pids 2>/dev/null
    tries=$((tries + 1))
    [ "$tries" -lt 50 ] || signal=KILL
    [ "$tries" -lt 100 ] || { echo "nbdkit does not end: process" $pids >&2; exit 1; }
    sleep 0.05
done
rm -f "$socket" "$pid_file"
"#;

impl Made for Nbdkit {
    fn making(&self, ledger: &str) -> Command {
        let arguments = [&self.socket, &self.pid_file, &self.directory].into_iter().chain(&self.cgroups);
        shell(ledger, SERVER, &arguments.map(String::as_str).collect::<Vec<_>>())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        Some(shell(ledger, &format!("{SERVERS}{STOP_SERVER}"), &[&self.socket, &self.pid_file]))
    }

    fn in_words(&self) -> String {
        format!("nbdkit on {}", self.socket)
    }
}
