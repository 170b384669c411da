//! Servers of a run: each in a directory of its own, on free ports of the loopback interface, in control groups of its own, started and waited
//! for, and stopped again by the run that ends or by `stend clean`.
//!
//! What there is of them is in a ledger, as with a target: in `servers/RUN` of the directory for runs' files. The ledger has only what taking
//! away needs. A server's processes are those whose working directory is its own or below it, whatever they call themselves.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use stend_model::cause::Cause;
use stend_model::server::{DIRECTORY, PROCESSORS, Server, plain_name};

use super::basics::Basic;
use super::control_group::{Counters, Groups, Hierarchies};
use super::ledger::{self, Entry};
use super::plan::Plan;
use super::shell::{plain, shell};
use super::thing::{Made, Thing, things};
use super::{Obstacle, Refusal, Up, boot_id, inside, listed, make, real_path, take_down_at, token};
use stend_stand::host::{Command, Host, HostError};

/// The directory of the servers, in the one for runs' files.
const SERVERS_DIRECTORY: &str = "servers";
/// Ports are looked for in this range, below those that the kernel gives to whoever asks for any.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
/// So often other ports are tried where somebody else was faster.
const TRIES: usize = 3;
/// What a server says whose port somebody has.
const TAKEN: &str = "ddress already in use";

things! {
    /// What a server is made of.
    pub(super) enum OfServer {
        Home(Home),
        ServerFile(Written),
        ServerStep(Step),
        Daemon(Daemon),
    }
    others {}
}

/// A directory whose contents are the server's, whatever they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Home {
    path: String,
}

/// A file in it. It goes with the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Written {
    path: String,
    #[serde(skip)]
    contents: String,
}

/// A command that prepares it. What it makes goes with the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    home: String,
    #[serde(skip)]
    words: Vec<String>,
}

/// The server itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Daemon {
    home: String,
    signal: String,
    cgroups: Vec<String>,
    #[serde(skip)]
    words: Vec<String>,
    #[serde(skip)]
    ports: Vec<u16>,
    #[serde(skip)]
    ready: Vec<String>,
}

impl OfServer {
    /// The path of what it makes and takes away, which lies in the directory of the ledger that names it.
    pub(super) fn path(&self) -> &str {
        match self {
            Self::Home(home) => &home.path,
            Self::ServerFile(file) => &file.path,
            Self::ServerStep(step) => &step.home,
            Self::Daemon(daemon) => &daemon.home,
        }
    }
}

const WRITE: &str = r#"mkdir -p "${1%/*}" && printf %s "$2" >"$1""#;
const STEP: &str = r#"
cd "$1" || exit
shift
said=$("$@" 2>&1 >/dev/null </dev/null) && exit
status=$?
echo "$1: ${said:-exit status $status}" >&2
exit "$status"
"#;
/// The server is in its control groups before it is what it is, so that nothing that it does is missed. It keeps a parent, because some end with
/// theirs.
const START: &str = r#"
home=$1 ports=$2 ready=$3
shift 3
cd "$home" || exit
ulimit -n "$(ulimit -H -n)" 2>/dev/null
setsid sh -c '
pid_file=$1
shift
while [ "$1" != -- ]; do
    echo $$ >"$1/cgroup.procs" || exit
    shift
done
shift
"$@" &
echo $! >"$pid_file"
wait
' stend-server "$home.pid" "$@" </dev/null >"$home.said" 2>&1 &
keeper=$!
runs() { grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$keeper/status" 2>/dev/null; }
listens() {
    for port in $ports; do
        at=$(printf ':%04X [0-9A-F]*:0000 0A' "$port")
        grep -qs "$at" /proc/net/tcp /proc/net/tcp6 || return
    done
}
is_ready() { [ -z "$ready" ] || eval "$ready" </dev/null >/dev/null 2>&1; }
tries=-200
until runs && listens && is_ready; do
    if ! runs; then
        said=$(grep -i -m 1 -E 'in use|emerg|fatal|error' "$home.said" || tail -n 1 "$home.said")
        echo "it ended at once: $said" >&2
        exit 1
    fi
    again "it is not ready: $(tail -n 1 "$home.said")"
done
"#;
/// Processes that are in the directory `$home`, or in the control groups that follow as arguments.
const INSIDE: &str = r#"
home=$1
inside() {
    QUOTING_STYLE=literal ls -l /proc/[0-9]*/cwd 2>/dev/null | while IFS= read -r line; do
        case $line in
        *" -> $home" | *" -> $home/"* | *" -> $home (deleted)")
            line=${line#*/proc/}
            echo "${line%%/*}"
            ;;
        esac
    done
    for group; do
        cat "$group/cgroup.procs" 2>/dev/null
    done
}
# Those that are there when the first one has ended are not waited for as long as that one is.
end_all() {
    while left=$(inside "$@") && [ -n "$left" ]; do
        if [ "$tries" -ge 50 ] || { [ "$tries" -ge "$grace" ] && ! kill -s 0 "${first:-none}" 2>/dev/null; }; then
            kill -s KILL $left 2>/dev/null
        fi
        again "it does not end: process" $left
    done
}
"#;
/// What is no child of the server's keeper is not told to end: its number may be somebody else's by now.
const STOP: &str = r#"
signal=$2
shift 2
read -r first 2>/dev/null <"$home.pid" || first=
keeper=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/${first:-none}/status" 2>/dev/null)
for process in $(inside "$@"); do
    case $process in
    "$first" | "$keeper") kill -s "$signal" "$first" 2>/dev/null && break ;;
    esac
done
grace=10
end_all "$@"
rm -f "$home.pid" "$home.said"
"#;
/// What `prepare` started and left running is in the directory too.
const REMOVE_HOME: &str = r#"
shift
first= grace=0
end_all
rm -rf "$home"
"#;

impl Made for Home {
    fn making(&self, ledger: &str) -> Command {
        plain(ledger, &["mkdir", "-m700", &self.path])
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        Some(shell(ledger, &format!("{INSIDE}{REMOVE_HOME}"), &[&self.path]))
    }

    fn in_words(&self) -> String {
        format!("the server's directory {}", self.path)
    }
}

impl Made for Written {
    fn making(&self, ledger: &str) -> Command {
        shell(ledger, WRITE, &[&self.path, &self.contents])
    }

    fn taking_away(&self, _: &str) -> Option<Command> {
        None
    }

    fn in_words(&self) -> String {
        format!("the file {}", self.path)
    }
}

impl Made for Step {
    fn making(&self, ledger: &str) -> Command {
        let words: Vec<_> = [self.home.as_str()].into_iter().chain(self.words.iter().map(String::as_str)).collect();
        shell(ledger, STEP, &words)
    }

    fn taking_away(&self, _: &str) -> Option<Command> {
        None
    }

    fn in_words(&self) -> String {
        format!("what {} prepares in {}", self.words.first().map_or("it", String::as_str), self.home)
    }
}

impl Made for Daemon {
    fn making(&self, ledger: &str) -> Command {
        let ports: Vec<_> = self.ports.iter().map(ToString::to_string).collect();
        let (ports, ready) = (ports.join(" "), quoted(&self.ready));
        let first = [self.home.as_str(), &ports, &ready].into_iter();
        let words = first.chain(self.cgroups.iter().map(String::as_str)).chain(["--"]);
        let words: Vec<_> = words.chain(self.words.iter().map(String::as_str)).collect();
        shell(ledger, START, &words)
    }

    fn taking_away(&self, ledger: &str) -> Option<Command> {
        let words = [&self.home, &self.signal].into_iter().chain(&self.cgroups).map(String::as_str);
        Some(shell(ledger, &format!("{INSIDE}{STOP}"), &words.collect::<Vec<_>>()))
    }

    fn in_words(&self) -> String {
        let name = self.home.rsplit('/').next().unwrap_or_default();
        format!("server {name}")
    }
}

/// Words as a shell takes them.
fn quoted(words: &[String]) -> String {
    words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect::<Vec<_>>().join(" ")
}

/// A server that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// What `@name@` stands for.
    pub values: BTreeMap<String, String>,
    /// Where it is counted what it uses.
    pub counters: Counters,
    home: String,
}

impl Standing {
    /// The control groups that count what it uses.
    pub fn groups(&self) -> impl Iterator<Item = String> {
        self.counters.groups().into_iter()
    }

    /// Why it does not serve any more, if it does not.
    pub fn ended(&self, host: &dyn Host, name: &str) -> Option<Cause> {
        let process = host.read_text(&format!("{}.pid", self.home)).unwrap_or_default();
        let status = host.read_text(&format!("/proc/{}/status", process.trim())).unwrap_or_default();
        let state = status.lines().find_map(|line| line.strip_prefix("State:")).unwrap_or_default();
        if !["", "Z", "X"].contains(&state.trim_start().get(..1).unwrap_or_default()) {
            return None;
        }
        let said = host.read_text(&format!("{}.said", self.home)).unwrap_or_default();
        Some(Cause::ServerEnded { server: plain_name(name).to_owned(), said: stend_instrument::last_words(&said) })
    }
}

/// Starts these servers for a run, or none of them. What a killed stend left of the run's is taken away first.
///
/// # Errors
/// One does not start, or the user interrupted it.
pub fn raise(
    host: &dyn Host,
    probe: &str,
    work: &str,
    run: &str,
    servers: &BTreeMap<String, Server>,
    interrupted: &dyn Fn() -> bool,
) -> Result<BTreeMap<String, Standing>, Refusal> {
    let mut tries = 0;
    loop {
        tries += 1;
        match raise_once(host, probe, work, run, servers, interrupted) {
            Err(refusal) if tries < TRIES && refusal.to_string().contains(TAKEN) => {}
            made => return made,
        }
    }
}

fn raise_once(
    host: &dyn Host,
    probe: &str,
    work: &str,
    run: &str,
    servers: &BTreeMap<String, Server>,
    interrupted: &dyn Fn() -> bool,
) -> Result<BTreeMap<String, Standing>, Refusal> {
    take_down(host, work, run)?;
    let base = base(work, run);
    host.make_directory(&base)?;
    let base = real_path(host, &base)?;
    let ledger = ledger::standing(&base);
    let (things, standing) = planned(host, &base, run, servers)?;
    let begin = Entry::Begin { target: None, boot_id: boot_id(host) };
    let plan = Plan { things, up: Up::default(), behind_loops: false };
    let made = stend_stand::ledger::note(host, &ledger, &begin)
        .map_err(Refusal::from)
        .and_then(|()| make(host, probe, &ledger, plan, interrupted));
    match made {
        Ok(_) => Ok(standing),
        Err(refusal) => Err(match take_down(host, work, run) {
            Ok(_) if interrupted() => Refusal::Interrupted,
            Ok(_) => refusal,
            Err(error) => Obstacle::Left { refusal: refusal.into(), error: error.into() }.into(),
        }),
    }
}

/// The things of all servers, in the order in which they are made, and what the servers are then.
fn planned(
    host: &dyn Host,
    base: &str,
    run: &str,
    servers: &BTreeMap<String, Server>,
) -> Result<(Vec<Thing>, BTreeMap<String, Standing>), Refusal> {
    let token = token();
    let inside = inside(base, &token);
    let hierarchies = Hierarchies::of(host);
    let mut things = vec![Thing::Basic(Basic::Directory { path: inside.clone() })];
    let mut standing = BTreeMap::new();
    let wanted = servers.values().map(|server| server.ports.len()).sum();
    let mut free = free_ports(host, &token, wanted).into_iter();
    for (number, (name, server)) in servers.iter().enumerate() {
        let plain: String =
            plain_name(name).chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c)).collect();
        let home = format!("{inside}/{number}-{plain}");
        let ports: Vec<u16> = server.ports.iter().zip(&mut free).map(|(_, port)| port).collect();
        let mut values: BTreeMap<_, _> =
            server.ports.iter().cloned().zip(ports.iter().map(ToString::to_string)).collect();
        values.insert(DIRECTORY.into(), home.clone());
        values.insert(PROCESSORS.into(), processors(host).to_string());
        let (placed, values) = server.placed(values).map_err(Obstacle::from)?;
        things.push(Thing::Server(OfServer::Home(Home { path: home.clone() })));
        let path = |name: &String| format!("{home}/{name}");
        let file = |(name, contents): (&String, &String)| {
            Thing::Server(OfServer::ServerFile(Written { path: path(name), contents: contents.clone() }))
        };
        things.extend(placed.files.iter().map(file));
        let step = |words: Vec<String>| Thing::Server(OfServer::ServerStep(Step { home: home.clone(), words }));
        things.extend(placed.prepare.into_iter().map(step));
        let (cgroups, counters) = hierarchies.group(&format!("stend-{run}-{token}-server{number}"));
        if !cgroups.is_empty() {
            things.push(Thing::Cgroups(Groups { paths: cgroups.clone(), confined: None }));
        }
        things.push(Thing::Server(OfServer::Daemon(Daemon {
            home: home.clone(),
            signal: placed.stop,
            words: placed.start,
            ports,
            ready: placed.ready,
            cgroups,
        })));
        standing.insert(name.clone(), Standing { values, counters, home });
    }
    Ok((things, standing))
}

/// How many processors the machine has online.
pub(crate) fn processors(host: &dyn Host) -> u32 {
    let online = host.read_text("/sys/devices/system/cpu/online").unwrap_or_default();
    let count = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(last.parse::<u32>().ok()?.checked_sub(first.parse().ok()?)? + 1)
    };
    online.trim().split(',').filter_map(count).sum::<u32>().max(1)
}

/// Ports of the loopback interface that nobody has now. Runs at the same time begin at others.
fn free_ports(host: &dyn Host, token: &str, count: usize) -> Vec<u16> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| host.read_text(path).unwrap_or_default());
    let port = |line: &str| u16::from_str_radix(line.split_whitespace().nth(1)?.rsplit_once(':')?.1, 16).ok();
    let taken: BTreeSet<u16> = tables.iter().flat_map(|table| table.lines().skip(1).filter_map(port)).collect();
    let begin = u16::from_str_radix(&token[..4], 16).unwrap_or(0) % PORTS.len() as u16;
    let (below, above) = (PORTS.start..PORTS.start + begin, PORTS.start + begin..PORTS.end);
    above.chain(below).filter(|port| !taken.contains(port)).take(count).collect()
}

/// Stops what the ledger of a run's servers tells of, and removes it. Whether there was something.
///
/// # Errors
/// Something cannot be taken away.
pub fn take_down(host: &dyn Host, work: &str, run: &str) -> Result<bool, Refusal> {
    take_down_at(host, &base(work, run))
}

/// The runs that have servers, or had some that something may be left of.
///
/// # Errors
/// They cannot be listed.
pub fn names(host: &dyn Host, work: &str) -> Result<Vec<String>, HostError> {
    let names = listed(host, &format!("{work}/{SERVERS_DIRECTORY}"))?.unwrap_or_default();
    Ok(names.into_iter().filter(|name| stend_model::run::is_run_id(name)).collect())
}

fn base(work: &str, run: &str) -> String {
    format!("{work}/{SERVERS_DIRECTORY}/{run}")
}
