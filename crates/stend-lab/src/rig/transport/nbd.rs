//! nbdkit on a Unix socket, which exports the files and devices of a directory.

use serde::{Deserialize, Serialize};

use super::{Carrier, Known, Luns, PLAIN, controller_group, pid_file, process, uris};
use crate::rig::ability::Need;
use crate::rig::plan::Planning;
use crate::rig::shell::{SERVERS, shell};
use crate::rig::thing::Made;
use crate::rig::thing::Thing;
use crate::rig::{Up, faults};
use stend_stand::host::Command;

/// nbdkit, a process for each controller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::rig) struct Nbdkit {
    pub(in crate::rig) socket: String,
    pub(in crate::rig) pid_file: String,
    pub(in crate::rig) directory: String,
    pub(in crate::rig) cgroups: Vec<String>,
    #[serde(default)]
    pub(in crate::rig) threads: Option<u32>,
    /// Filters, the first one nearest to the load, and their parameters.
    #[serde(default)]
    pub(in crate::rig) filters: Vec<String>,
}

/// The shell itself goes into the control groups and becomes the server.
pub(super) const KNOWN: Known = Known { need: Need { programs: &[("nbdkit", "nbdkit")], kernel: &[] }, plan, ..PLAIN };

fn plan(planning: &mut Planning<'_>, luns: Luns) -> Up {
    let mut controllers = Vec::new();
    for (number, directory) in (0..).zip(luns.shares) {
        let (cgroups, counters) = controller_group(planning, number);
        let (socket, pid_file) = (crate::rig::socket(&planning.base, number), pid_file(planning, 'c', number));
        let front = planning.ground.needs.fronts.then(|| faults::front(&socket));
        planning.things.push(Thing::Transport(Carrier::Server(Nbdkit {
            socket,
            pid_file: pid_file.clone(),
            directory,
            cgroups,
            threads: planning.target.threads,
            filters: planning.target.filters.clone(),
        })));
        planning.things.extend(front);
        controllers.push(process(planning, number, pid_file, counters));
    }
    Up { luns: uris(planning), controllers, ..Up::default() }
}

const SERVER: &str = r#"
socket=$1 pid=$2
shift 2
while [ "$1" != -- ]; do
    echo $$ >"$1/cgroup.procs" || exit
    shift
done
shift
exec nbdkit --unix "$socket" --pidfile "$pid" "$@"
"#;

/// Those that listen on the socket `$1`, whose process id is in `$2`.
pub(in crate::rig) const OWN: &str = r#"
socket=$1 pid_file=$2
word=$socket begins="nbdkit --unix $socket "
"#;
pub(in crate::rig) const STOP_SERVER: &str = r#"
end_servers
rm -f "$socket" "$pid_file"
"#;

impl Made for Nbdkit {
    fn making(&self, ledger: &str) -> Command {
        let is_parameter = |word: &&String| word.contains('=');
        let threads = self.threads.map(|threads| format!("--threads={threads}"));
        let filters = self.filters.iter().filter(|word| !is_parameter(word)).map(|name| format!("--filter={name}"));
        let plugin = ["file".to_owned(), format!("dir={}", self.directory)];
        let parameters = self.filters.iter().filter(is_parameter).cloned();
        let words: Vec<_> = threads.into_iter().chain(filters).chain(plugin).chain(parameters).collect();
        let arguments = [&self.socket, &self.pid_file].into_iter().chain(&self.cgroups).map(String::as_str);
        let arguments = arguments.chain(["--"]).chain(words.iter().map(String::as_str));
        shell(ledger, SERVER, &arguments.collect::<Vec<_>>())
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        Some(shell(ledger, &format!("{SERVERS}{OWN}{STOP_SERVER}"), &[&self.socket, &self.pid_file]))
    }

    fn in_words(&self) -> String {
        format!("nbdkit on {}", self.socket)
    }
}
