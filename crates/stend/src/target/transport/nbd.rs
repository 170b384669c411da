//! nbdkit on a Unix socket, which exports the files and devices of a directory.

use serde::{Deserialize, Serialize};

use crate::host::Command;
use crate::target::shell::{SERVERS, shell};
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

/// Those that listen on the socket `$1`, whose process id is in `$2`.
pub(in crate::target) const OWN: &str = r#"
socket=$1 pid_file=$2
word=$socket begins="nbdkit --unix $socket "
"#;
pub(in crate::target) const STOP_SERVER: &str = r#"
end_servers
rm -f "$socket" "$pid_file"
"#;

impl Made for Nbdkit {
    fn making(&self, ledger: &str) -> Command {
        let arguments = [&self.socket, &self.pid_file, &self.directory].into_iter().chain(&self.cgroups);
        shell(ledger, SERVER, &arguments.map(String::as_str).collect::<Vec<_>>())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        Some(shell(ledger, &format!("{SERVERS}{OWN}{STOP_SERVER}"), &[&self.socket, &self.pid_file]))
    }

    fn in_words(&self) -> String {
        format!("nbdkit on {}", self.socket)
    }
}
