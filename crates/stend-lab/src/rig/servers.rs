//! Servers of a run: each in a directory of its own, on free ports of the loopback interface, in control groups of its own, started and waited
//! for, and stopped again by the run that ends or by `stend clean`.
//!
//! What there is of each is in a ledger, as with a target: in `servers/RUN.SERVER` of the directory for runs' files. The ledger has only what
//! taking away needs. A server's processes are those whose working directory is its own or below it, whatever they call themselves.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use stend_model::cause::Cause;
use stend_model::image::Image;
use stend_model::machine::ranges;
use stend_model::server::{ACCELERATOR, ADDRESS, DIRECTORY, IMAGE, PROCESSORS, Server, plain_name};

use super::basics::Basic;
use super::control_group::{Counters, Groups, Hierarchies};
use super::ledger::Begun;
use super::plan::Plan;
use super::shell::{AGAIN, plain, shell};
use super::thing::{Made, Thing, things};
use super::{Obstacle, Refusal, Up, image, inside, listed, make_whole, real_path, take_down_at, token, vm};
use stend_stand::host::{Command, Host, HostError, Local};

/// The directory of the servers, in the one for runs' files.
const SERVERS_DIRECTORY: &str = "servers";
/// Ports are looked for in this range, below those that the kernel gives to whoever asks for any.
const PORTS: std::ops::Range<u16> = 20_000..32_000;
/// Where the kernel tells of them.
const PROCESSORS_OF_MACHINE: &str = "/sys/devices/system/cpu";
/// No kernel has more.
const MOST_PROCESSORS: usize = 1 << 14;
/// So often other ports are tried where somebody else was faster.
const TRIES: usize = 3;
/// So often it is looked whether a server is ready, ten times a second at most.
const PATIENCE: u32 = 300;
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
    #[serde(skip)]
    user: Option<String>,
}

/// A file in it. It goes with the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Written {
    path: String,
    #[serde(skip)]
    contents: String,
    #[serde(skip)]
    under: Vec<String>,
}

/// A command that prepares it. What it makes goes with the directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Step {
    home: String,
    #[serde(skip)]
    words: Vec<String>,
    #[serde(skip)]
    under: Vec<String>,
}

/// The server itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Daemon {
    pub(super) home: String,
    pub(super) signal: String,
    pub(super) cgroups: Vec<String>,
    #[serde(skip)]
    pub(super) words: Vec<String>,
    #[serde(skip)]
    pub(super) ports: Vec<u16>,
    #[serde(skip)]
    pub(super) ready: Vec<String>,
    #[serde(skip)]
    pub(super) under: Vec<String>,
    #[serde(skip)]
    pub(super) restarts: bool,
    /// So often it is looked whether it is ready.
    #[serde(skip)]
    pub(super) patience: u32,
    /// The file in which is kept what it prints on [`ON_CONSOLE`]. Each time when there is more in it, counting begins anew.
    #[serde(skip)]
    pub(super) console: Option<&'static str>,
}

impl Home {
    pub(super) fn new(path: &str) -> Self {
        Self { path: path.to_owned(), user: None }
    }
}

impl Written {
    pub(super) fn new(path: String, contents: String) -> Self {
        Self { path, contents, under: Vec::new() }
    }
}

impl Step {
    pub(super) fn new(home: &str, words: Vec<String>) -> Self {
        Self { home: home.to_owned(), words, under: Vec::new() }
    }
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

/// What stend makes above another user's directory that user may enter, and not list.
const HOME: &str = r#"
mkdir -m700 "$1" || exit
[ -n "$2" ] && [ "$(id -u)" -eq 0 ] || exit 0
above=${1%/*}
base=${above%/*}
chmod 711 "$above" "$base" "${base%/*}" && chown "$2:" "$1"
"#;
/// Runs the words as another user. Where the server's directory lies below one that is root's alone, that user may search and read such ones, which is
/// less than root may.
const AS_USER: &str = r#"
user=$1 home=$2
shift 2
[ "$(id -u)" -eq 0 ] || exec "$@"
as="--reuid $user --regid $(id -g "$user") --clear-groups" || exit
setpriv $as test -x "$home" 2>/dev/null || as="$as --inh-caps +dac_read_search --ambient-caps +dac_read_search"
exec setpriv $as "$@"
"#;
const WRITE: &str = r#"mkdir -p "${1%/*}" && printf %s "$2" >"$1""#;
/// The line of a file that says what went wrong.
const TELL: &str = r#"
tell() { grep -i -m 1 -E 'in use|emerg|fatal|error' "$1" || tail -n 1 "$1"; }
"#;
const STEP: &str = r#"
home=$1 name=$2
shift 2
cd "$home" || exit
"$@" >"$home.said" 2>&1 </dev/null && exit
status=$?
said=$(tell "$home.said")
echo "${said:-$name: exit status $status}" >&2
exit "$status"
"#;
/// The server is in its control groups before it is what it is, so that nothing that it does is missed. It keeps a parent, because some end with
/// theirs; that one's number is printed.
const START: &str = r#"
home=$1 restarts=$2 console=$3 most=$4
shift 4
cd "$home" || exit
ulimit -n "$(ulimit -H -n)" 2>/dev/null
setsid sh -c '
pid_file=$1 restarts=$2 console=$3 most=$4
shift 4
while [ "$1" != -- ]; do
    echo $$ >"$1/cgroup.procs" || exit
    shift
done
shift
if [ -n "$console" ]; then
    # By a name only for as long as it takes to open both ends; the first keeps the others from waiting.
    pipe=$console.pipe
    rm -f "$pipe" && mkfifo -m 600 "$pipe" && exec 5<>"$pipe" 4<"$pipe" 3>"$pipe" 5<&- && rm "$pipe" || exit
    while
        stdbuf -o0 head -c "$most" >"$console"
        [ "$(wc -c <"$console")" -ge "$most" ]
    do :; done <&4 3>&- 4<&- &
    exec 4<&-
fi
while
    "$@" &
    echo $! >"$pid_file"
    exec 3>&-
    wait $! && [ -n "$restarts" ] && [ -e "$pid_file" ]
do :; done
wait
' stend-server "$home.pid" "$restarts" "$console" "$most" "$@" </dev/null >>"$home.said" 2>&1 &
echo $!
"#;
/// Starts it, and waits until it is ready: without the lock, so that whoever takes it away need not wait as long, and ends this first.
const AWAIT: &str = r#"
home=$1 ports=$2 ready=$3 patience=$4 console=$5
shift 5
keeper=$("$@") && cd "$home" || exit
runs() { grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$keeper/status" 2>/dev/null; }
listens() {
    for port in $ports; do
        at=$(printf ':%04X [0-9A-F]*:0000 0A' "$port")
        grep -qs "$at" /proc/net/tcp /proc/net/tcp6 || return
    done
}
seconds() { cut -d. -f1 /proc/uptime; }
began=$(seconds)
export LONGEST_LOOK
# Half as long as was waited so far: what is slow to start is slow to answer too, and one question after another would keep it from that.
is_ready() {
    [ -n "$ready" ] || return 0
    LONGEST_LOOK=$((($(seconds) - began) / 2))
    [ "$LONGEST_LOOK" -ge 10 ] || LONGEST_LOOK=10
    eval "$ready" </dev/null >/dev/null 2>&1
}
most=$patience size=0 since=$began
until runs && listens && is_ready; do
    if ! runs; then
        said=$(tell "$home.said")
        # Of a guest whose kernel gives up QEMU says nothing.
        [ -n "$said" ] || said=$(grep -a -m 1 'Kernel panic' "$console" 2>/dev/null || tail -n 1 "$console" 2>/dev/null)
        echo "it ended at once: $said" >&2
        exit 1
    fi
    now=$(wc -c 2>/dev/null <"$console") || now=0
    [ "$now" = "$size" ] || size=$now tries=0 since=$(seconds)
    # A try to reach a guest may take seconds.
    [ -z "$console" ] || [ "$((($(seconds) - since) * 10))" -lt "$patience" ] || tries=$patience
    last=$(tail -n 1 "${console:-$home.said}")
    again "it is not ready: ${last:-it has said nothing}"
done
"#;
/// When a server has printed so many bytes, they are forgotten. Read are only the last words.
const MOST_PRINTED: &str = "16777216";
/// It writes behind what there is, so it goes on at the beginning.
const FORGET: &str = r#"[ "$(wc -c <"$1")" -le "$2" ] || : >"$1""#;
/// The file to which what has a console prints.
pub(super) const ON_CONSOLE: &str = "/dev/fd/3";
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
# Without it none is started anew.
rm -f "$home.pid"
keeper=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/${first:-none}/status" 2>/dev/null)
for process in $(inside "$@"); do
    case $process in
    "$first" | "$keeper") kill -s "$signal" "$first" 2>/dev/null && break ;;
    esac
done
grace=10
end_all "$@"
"#;
/// What `prepare` started and left running is in the directory too.
const REMOVE_HOME: &str = r#"
shift
first= grace=0
end_all
# Of an image that a user makes, files have other numbers of the user's.
rm -rf "$home" 2>/dev/null || unshare --map-root-user --map-auto rm -rf "$home" 2>/dev/null || :
rm -rf "$home" "$home.pid" "$home.said"
"#;

impl Made for Home {
    fn making(&self, ledger: &str) -> Command {
        shell(ledger, HOME, &[&self.path, self.user.as_deref().unwrap_or_default()])
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
        let write = ["sh", "-c", WRITE, "stend-server", &self.path, &self.contents];
        plain(ledger, &self.under.iter().map(String::as_str).chain(write).collect::<Vec<_>>())
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
        let name = self.words.first().map_or("", String::as_str);
        let words = [self.home.as_str(), name].into_iter();
        let words = words.chain(self.under.iter().chain(&self.words).map(String::as_str));
        shell(ledger, &format!("{TELL}{STEP}"), &words.collect::<Vec<_>>())
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
        let (restarts, patience) = (if self.restarts { "yes" } else { "" }, self.patience.to_string());
        let console = self.console.unwrap_or_default();
        let words = [&*self.home, restarts, console, MOST_PRINTED]
            .into_iter()
            .chain(self.cgroups.iter().map(String::as_str))
            .chain(["--"]);
        let words = words.chain(self.under.iter().chain(&self.words).map(String::as_str));
        let start = shell(ledger, START, &words.collect::<Vec<_>>()).words;
        let script = format!("{AGAIN}{TELL}{AWAIT}");
        let first = ["sh", "-c", &script, "stend-server", &self.home, &ports, &ready, &patience, console];
        Command::new(first.into_iter().chain(start.iter().map(String::as_str)))
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

/// A server as it is to stand.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// What it is.
    pub server: &'a Server,
    /// The image that it names.
    pub image: Option<&'a Image>,
    /// Where it listens.
    pub address: &'a str,
    /// The directory for runs' files.
    pub work: &'a str,
}

impl Wanted<'_> {
    /// Whether its image has to be made first, which takes minutes.
    pub fn makes_image(&self, host: &dyn Host) -> bool {
        let named = self.server.image.as_ref().zip(self.image);
        named.is_some_and(|(name, image)| !image::is_made(host, self.work, name, image))
    }
}

/// A server that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// What `@name@` stands for.
    pub values: BTreeMap<String, String>,
    /// Where it is counted what it uses.
    pub counters: Counters,
    /// The processors that its load has to itself, if they are kept apart.
    pub of_load: Option<String>,
    home: String,
    /// Whether it has a process.
    runs: bool,
    /// The image that its guests lie on, by the name under which it is kept.
    image: Option<String>,
    /// It stands on this machine, and what loads it is a guest here.
    pub of_host: bool,
}

impl Standing {
    /// The control groups that count what it uses.
    pub fn groups(&self) -> impl Iterator<Item = String> {
        self.counters.groups().into_iter()
    }

    /// Checks that its guests have left their image as it was.
    ///
    /// # Errors
    /// It was changed, or the machine cannot be asked.
    pub fn check_image(&self, host: &dyn Host, work: &str) -> Result<(), Refusal> {
        self.image.as_ref().map_or(Ok(()), |name| image::check(host, work, name))
    }

    /// Why it does not serve any more, if it does not. If it does, and has printed much, that is forgotten. `host` is measured.
    pub fn ended(&self, host: &dyn Host, name: &str) -> Option<Cause> {
        if !self.runs {
            return None;
        }
        let host = if self.of_host { &Local } else { host };
        let said = format!("{}.said", self.home);
        let process = host.read_text(&format!("{}.pid", self.home)).unwrap_or_default();
        let status = host.read_text(&format!("/proc/{}/status", process.trim())).unwrap_or_default();
        let state = status.lines().find_map(|line| line.strip_prefix("State:")).unwrap_or_default();
        if !["", "Z", "X"].contains(&state.trim_start().get(..1).unwrap_or_default()) {
            // What it cannot do anything about, the server's own figures will show.
            let _ = host.run(&Command::new(["sh", "-c", FORGET, "stend-server", &said, MOST_PRINTED]));
            return None;
        }
        let said = host.read_text(&said).unwrap_or_default();
        Some(Cause::ServerEnded { server: plain_name(name).to_owned(), said: stend_instrument::last_words(&said) })
    }
}

/// Sets a server up, or nothing of it. What a killed stend left of one in the same place is taken away first.
///
/// # Errors
/// It cannot be prepared or does not start, or the user interrupted it.
pub fn raise(
    host: &dyn Host,
    probe: &str,
    base: &str,
    wanted: Wanted<'_>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Standing, Refusal> {
    let mut tries = 0;
    loop {
        tries += 1;
        match raise_once(host, probe, base, wanted, interrupted) {
            Err(refusal) if tries < TRIES && refusal.to_string().contains(TAKEN) => {}
            made => return made,
        }
    }
}

fn raise_once(
    host: &dyn Host,
    probe: &str,
    base: &str,
    wanted: Wanted<'_>,
    interrupted: &dyn Fn() -> bool,
) -> Result<Standing, Refusal> {
    take_down_at(host, base)?;
    host.make_directory(base)?;
    let base = real_path(host, base)?;
    let (things, standing) = planned(host, &base, wanted)?;
    let plan = Plan { things, up: Up::default(), behind_loops: false };
    make_whole(host, probe, &base, Begun::default(), plan, interrupted).map(|_| standing)
}

/// The things of a server, in the order in which they are made, and what it is then.
fn planned(host: &dyn Host, base: &str, wanted: Wanted<'_>) -> Result<(Vec<Thing>, Standing), Refusal> {
    let Wanted { server, image, address, work } = wanted;
    let of_image = match server.image.as_ref().zip(image) {
        Some((name, image)) => {
            let (kept, accelerator) = vm::of_server(host, work, name, image)?;
            Some((image, kept, accelerator))
        }
        None => None,
    };
    let token = token();
    let inside = inside(base, &token);
    let of_run = base.rsplit('/').next().unwrap_or_default();
    let number_and_name = of_run.split_once('.').map_or(of_run, |(_, rest)| rest);
    let home = format!("{inside}/{}", number_and_name.split_once('-').map_or(of_run, |(_, name)| name));
    let ports = free_ports(host, &token, server.ports.len());
    let mut values: BTreeMap<_, _> = server.ports.iter().cloned().zip(ports.iter().map(ToString::to_string)).collect();
    values.extend([(DIRECTORY.into(), home.clone()), (ADDRESS.into(), address.into())]);
    let online = online(host);
    let halves = server.is_apart(online.len() as u32).then(|| halves(host, &online));
    let of_server = halves.as_ref().map_or(online.len(), |(of_server, _)| of_server.len());
    values.insert(PROCESSORS.into(), of_server.to_string());
    if let Some((_, kept, accelerator)) = &of_image {
        values.extend([(IMAGE.into(), kept.directory.clone()), (ACCELERATOR.into(), accelerator.to_string())]);
    }
    let (placed, values) = server.placed(values).map_err(Obstacle::from)?;
    let Server { files, prepare, start, ready, stop, restarts, user, .. } = placed;
    let as_user = |user: &String| ["sh", "-c", AS_USER, "stend-server", user, &home].map(str::to_owned).to_vec();
    let under: Vec<String> = user.as_ref().map(as_user).unwrap_or_default();
    let mut things = vec![
        Thing::Basic(Basic::Directory { path: inside.clone() }),
        Thing::Server(OfServer::Home(Home { path: home.clone(), user })),
    ];
    things.extend(of_image.iter().flat_map(|(image, kept, _)| image::things(image, kept, &home)));
    let image = of_image.map(|(_, kept, _)| kept.name);
    things.extend(files.into_iter().map(|(name, contents)| {
        let path = format!("{home}/{name}");
        Thing::Server(OfServer::ServerFile(Written { path, contents, under: under.clone() }))
    }));
    things.extend(
        prepare
            .into_iter()
            .map(|words| Thing::Server(OfServer::ServerStep(Step { home: home.clone(), words, under: under.clone() }))),
    );
    if start.is_empty() {
        let counters = Counters::default();
        return Ok((things, Standing { values, counters, of_load: None, home, runs: false, image, of_host: false }));
    }
    let (hierarchies, group) = (Hierarchies::of(host), format!("stend-{of_run}-{token}-server"));
    let (mut cgroups, counters) = hierarchies.group(&group);
    if server.image.is_some() {
        // What runs guests limits them.
        hierarchies.limiting(&group, &mut cgroups);
    }
    if !cgroups.is_empty() {
        things.push(Thing::Cgroups(Groups { paths: cgroups.clone(), confined: None }));
    }
    let (of_server, of_load) = halves.map(|(of_server, of_load)| (list(&of_server), list(&of_load))).unzip();
    let pinned = of_server.iter().flat_map(|processors| pinned(processors));
    let words = pinned.chain(start).collect();
    let (home_of_it, signal) = (home.clone(), stop);
    let daemon = Daemon {
        home: home_of_it,
        signal,
        words,
        ports,
        ready,
        cgroups,
        under,
        restarts,
        patience: PATIENCE,
        console: None,
    };
    things.push(Thing::Server(OfServer::Daemon(daemon)));
    Ok((things, Standing { values, counters, of_load, home, runs: true, image, of_host: false }))
}

/// The words that start what follows them on these processors only.
pub(crate) fn pinned(processors: &str) -> impl Iterator<Item = String> {
    ["taskset", "-c", processors].map(str::to_owned).into_iter()
}

/// The numbers of the processors that the machine has online.
fn online(host: &dyn Host) -> Vec<u32> {
    let online = host.read_text(&format!("{PROCESSORS_OF_MACHINE}/online")).unwrap_or_default();
    let online: Vec<u32> = ranges(&online).flatten().take(MOST_PROCESSORS).collect();
    if online.is_empty() { vec![0] } else { online }
}

/// How many processors the machine has online.
pub(crate) fn processors(host: &dyn Host) -> u32 {
    online(host).len() as u32
}

/// Of at least two processors the first half and the other. What shares a core stays together, where there are several cores.
fn halves(host: &dyn Host, online: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let first_of_core = |processor: &u32| {
        let path = format!("{PROCESSORS_OF_MACHINE}/cpu{processor}/topology/thread_siblings_list");
        ranges(&host.read_text(&path).unwrap_or_default()).next().map_or(*processor, |range| *range.start())
    };
    let mut cores: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for processor in online {
        cores.entry(first_of_core(processor)).or_default().push(*processor);
    }
    let parts: Vec<Vec<u32>> = match cores.len() {
        1 => online.iter().map(|processor| vec![*processor]).collect(),
        _ => cores.into_values().collect(),
    };
    let (of_server, of_load) = parts.split_at(parts.len() / 2);
    (of_server.concat(), of_load.concat())
}

/// Numbers of processors as `taskset` takes them.
fn list(processors: &[u32]) -> String {
    processors.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Ports of the loopback interface that nobody has now. Runs at the same time begin at others.
pub(super) fn free_ports(host: &dyn Host, token: &str, count: usize) -> Vec<u16> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| host.read_text(path).unwrap_or_default());
    let port = |line: &str| u16::from_str_radix(line.split_whitespace().nth(1)?.rsplit_once(':')?.1, 16).ok();
    let taken: BTreeSet<u16> = tables.iter().flat_map(|table| table.lines().skip(1).filter_map(port)).collect();
    let begin = u16::from_str_radix(&token[..4], 16).unwrap_or(0) % PORTS.len() as u16;
    let (below, above) = (PORTS.start..PORTS.start + begin, PORTS.start + begin..PORTS.end);
    above.chain(below).filter(|port| !taken.contains(port)).take(count).collect()
}

/// Where a run's server of this number and name has its ledger, and its directory below.
pub fn base(work: &str, run: &str, number: usize, name: &str) -> String {
    let plain = plain_name(name).chars().filter(|c| c.is_ascii_alphanumeric() || "-_".contains(*c));
    format!("{work}/{SERVERS_DIRECTORY}/{run}.{number}-{}", plain.collect::<String>())
}

/// Stops what the ledgers of a run's servers tell of, and removes it. Whether there was something.
///
/// # Errors
/// Something cannot be taken away.
pub fn take_down(host: &dyn Host, work: &str, run: &str) -> Result<bool, Refusal> {
    let mut there = false;
    for (_, name) in all(host, work)?.into_iter().filter(|(of, _)| of == run) {
        there |= take_down_at(host, &format!("{work}/{SERVERS_DIRECTORY}/{name}"))?;
    }
    Ok(there)
}

/// The runs that have servers, or had some that something may be left of.
///
/// # Errors
/// They cannot be listed.
pub fn names(host: &dyn Host, work: &str) -> Result<BTreeSet<String>, HostError> {
    Ok(all(host, work)?.into_iter().map(|(run, _)| run).collect())
}

/// The directories of servers, each behind its run.
fn all(host: &dyn Host, work: &str) -> Result<Vec<(String, String)>, HostError> {
    let names = listed(host, &format!("{work}/{SERVERS_DIRECTORY}"))?.unwrap_or_default();
    let of_run = |name: String| Some((name.split_once('.')?.0.to_owned(), name));
    Ok(names.into_iter().filter_map(of_run).filter(|(run, _)| stend_model::run::is_run_id(run)).collect())
}
