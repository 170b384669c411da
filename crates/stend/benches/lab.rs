//! The lab's own speeds, each measured on the real programs from outside:
//! what sampling costs, what lies between two repeats, how long `list`, `show` and `compare` take with much in the store, and how quickly the server answers. What reports take, `report.rs` measures.
//!
//! `make bench-lab` runs it. It prints medians with their range and the figure to keep below, and ends with status 1 if one is above.

use std::cell::Cell;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../tests/it/common/mod.rs"]
mod common;

use common::forge::{Forged, Mould, times};
use common::sshd::Sshd;

const SUITE_HEAD: &str = "title = \"for the bench\"\n[gates]\nforeign_cpu = \"off\"\nsteal = \"off\"\n";
const METRIC: &str = "metrics = [{ name = \"time\", value = \"wall\", unit = \"s\", better = \"lower\" }]\n";

fn main() {
    // `cargo test --benches` calls it too; it measures for minutes, so not then.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let probe = PathBuf::from(
        std::env::var_os("STEND_PROBE").expect("STEND_PROBE says where stend-probe is; `make bench-lab` sets it"),
    );
    let directory = tempfile::tempdir().unwrap();
    let lab = Lab { directory: directory.path().to_owned(), probe, above: Cell::new(0) };
    println!("{:<58} {:>10}   {:>22}   to be below", "what", "median", "range");
    // Of the words behind `--` each names a part; the last ones build on those before them.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let parts: [Part; 7] = [
        ("sampling", Lab::sampling),
        ("stands", Lab::eight_stands),
        ("between", Lab::between_repeats),
        ("list", Lab::list),
        ("compare", Lab::compare),
        ("show", Lab::show),
        ("serve", Lab::serve),
    ];
    for (name, measure) in parts {
        if wanted.is_empty() || wanted.iter().any(|word| word == name) {
            measure(&lab);
        }
    }
    let above = lab.above.get();
    if above > 0 {
        drop(directory);
        eprintln!("figures above what is promised: {above}");
        std::process::exit(1);
    }
}

/// A connection to the server that is kept.
struct Connection(BufReader<TcpStream>);

impl Connection {
    fn new(address: &str) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(BufReader::new(stream))
    }

    /// Sends a request, and gives the head and the size of its answer.
    fn ask(&mut self, request: &str) -> (String, usize) {
        self.0.get_mut().write_all(request.as_bytes()).unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert!(self.0.read_line(&mut head).unwrap() > 0, "{head}");
        }
        let size = head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; size.unwrap_or(0)];
        self.0.read_exact(&mut body).unwrap();
        (head, body.len())
    }
}

/// A part of the bench by its name.
type Part = (&'static str, fn(&Lab));

struct Lab {
    directory: PathBuf,
    probe: PathBuf,
    /// How many figures were not below what they should be.
    above: Cell<u32>,
}

impl Lab {
    fn stend(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_stend"));
        command
            .args(arguments)
            .env("STEND_STORE", self.directory.join("store"))
            .env("STEND_WORK", self.directory.join("work"))
            .env("STEND_PROBE", &self.probe);
        command
    }

    fn suite(&self, name: &str, head: &str, script: &str) -> String {
        let path = self.directory.join(format!("{name}.toml"));
        let command = format!("command = [\"sh\", \"-c\", {}]\n", serde_json::to_string(script).unwrap());
        let text = format!("name = \"{name}\"\n{head}{SUITE_HEAD}[[scenario]]\nname = \"s\"\n{command}{METRIC}");
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// CPU time of the sampler and of the lab that reads it, as a share of one core.
    fn sampling(&self) {
        let seconds = 10.0;
        let mut shares = Vec::new();
        for _ in 0..5 {
            let mut sampler = Command::new(&self.probe);
            sampler.args(["sample", "--hertz", "10", "--seconds", &seconds.to_string()]);
            shares.push(self.cpu_of(&sampler) / seconds * 100.0);
        }
        self.report("the sampler at 10 Hz, % of one core", &shares, "%", 0.5);

        let shares = self.cpu_while_waiting(|suite| self.stend(&["run", suite, "--quiet", "--even-if-unfit"]), None);
        self.report("the sampler at 10 Hz with the lab reading it, % of one core", &shares, "%", 0.75);

        let Some(desk) = Sshd::new() else { return };
        desk.with_build();
        let on = |suite: &str| desk.command(&["run", suite, "--on", "stand", "--quiet", "--even-if-unfit"]);
        let shares = self.cpu_while_waiting(on, Some(desk.server.id()));
        self.report("the sampler at 10 Hz behind ssh, with its sshd, % of one core", &shares, "%", 0.75);
    }

    /// CPU time in the midst of a repeat whose instrument only waits, with ten samples of the machine a second: of `watched` and all below it, or of the
    /// lab with all that it has started; for four windows of ten seconds, as a share of one core. What starting, storing and reporting cost is not in it.
    fn cpu_while_waiting(&self, stend: impl Fn(&str) -> Command, watched: Option<u32>) -> Vec<f64> {
        const WINDOW: Duration = Duration::from_secs(10);
        let windows = 4;
        let began = self.directory.join("began");
        let wait = format!(
            "echo '{{{{\"event\":\"begin\",\"wire\":1,\"instrument\":\"wait\"}}}}'; : >{}; sleep {}; \
             echo '{{{{\"event\":\"repeat\",\"wall_ns\":1,\"work\":{{{{\"bytes\":1}}}},\"check\":\"passed\"}}}}'; echo '{{{{\"event\":\"end\"}}}}'",
            began.display(),
            10 * windows + 5
        );
        let suite = self.suite("wait", "repeats = 1\nwarmup = 0\nsample_hertz = 10\n", &wait);
        let _ = std::fs::remove_file(&began);
        let mut stend = stend(&suite).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let watched = watched.unwrap_or(stend.id());
        while !began.exists() {
            assert!(stend.try_wait().unwrap().is_none(), "it ended before it measured");
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_secs(1));
        let mut shares = Vec::new();
        for _ in 0..windows {
            let (since, before) = (Instant::now(), cpu_below(watched));
            std::thread::sleep(WINDOW);
            let spent = cpu_below(watched) - before;
            assert!(
                spent > 0.0,
                "this kernel does not tell what threads spend (CONFIG_SCHED_INFO, CONFIG_PROC_CHILDREN)"
            );
            shares.push(spent / since.elapsed().as_secs_f64() * 100.0);
        }
        assert!(stend.wait().unwrap().success());
        shares
    }

    /// CPU seconds of a command with all that it starts, to the microsecond: the guard counts them.
    fn cpu_of(&self, command: &Command) -> f64 {
        let mut guard = Command::new(&self.probe);
        guard.args(["guard", "--"]).arg(command.get_program()).args(command.get_args());
        guard.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let mut child = guard.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        assert!(output.status.success(), "{command:?}: {}", output.status);
        let printed = String::from_utf8_lossy(&output.stdout);
        let usage: Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
        (usage["user_ns"].as_f64().unwrap() + usage["system_ns"].as_f64().unwrap()) / 1e9
    }

    /// CPU time of the lab, its ssh clients with it, while eight machines are measured side by side: each a cheap repeat a second and ten samples a
    /// second. What connecting, finishing and reporting cost once is in the difference of two lengths no more.
    fn eight_stands(&self) {
        const STANDS: usize = 8;
        let Some(desk) = Sshd::new() else { return };
        desk.with_build();
        let others: Vec<Sshd> = (1..STANDS).filter_map(|_| Sshd::new()).collect();
        let names: Vec<String> = (1..STANDS).map(|number| format!("stand{number}")).collect();
        for (other, name) in others.iter().zip(&names) {
            other.with_build();
            desk.knows(other, name);
        }
        let on = format!("stand,{}", names.join(","));
        // Whoever loses its parent becomes this process's child, and is counted: ssh keeps a connection in the background.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid())).unwrap();
        let wait = "echo '{{\"event\":\"begin\",\"wire\":1,\"instrument\":\"wait\"}}'; sleep 1; \
            echo '{{\"event\":\"repeat\",\"wall_ns\":1,\"work\":{{\"bytes\":1}},\"check\":\"passed\"}}'; echo '{{\"event\":\"end\"}}'";
        let once = |repeats: u32| {
            let head = format!("repeats = {repeats}\nwarmup = 0\nsample_hertz = 10\n");
            let suite = self.suite("waits", &head, wait);
            let (began, before) = (Instant::now(), cpu_of("self", 13));
            let mut stend = desk.command(&["run", &suite, "--on", &on, "--even-if-unfit", "--quiet"]);
            let mut stend = stend.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // It has ended, and can still be asked.
            let ended = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
            let pid = rustix::process::Pid::from_child(&stend);
            rustix::process::waitid(rustix::process::WaitId::Pid(pid), ended).unwrap();
            let own = cpu_of(&stend.id().to_string(), 11);
            assert!(stend.wait().unwrap().success());
            while let Ok(Some(_)) = rustix::process::wait(rustix::process::WaitOptions::NOHANG) {}
            (began.elapsed().as_secs_f64(), cpu_of("self", 13) - before, own)
        };
        let (mut all, mut own, mut ssh) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..3 {
            let [short, long] = [once(2), once(22)];
            let share = |cpu: f64| cpu / (long.0 - short.0) * 100.0;
            all.push(share(long.1 - short.1));
            own.push(share(long.2 - short.2));
            ssh.push(share(long.1 - short.1 - (long.2 - short.2)));
        }
        self.report("the lab while eight machines are measured, % of one core", &all, "%", 5.0);
        self.report("  of which stend itself", &own, "%", f64::INFINITY);
        self.report("  of which ssh", &ssh, "%", f64::INFINITY);
    }

    /// From the end of one instrument to the start of the next: judged, stored durably, next one started.
    fn between_repeats(&self) {
        let script = "echo '{\"event\":\"begin\",\"wire\":1,\"instrument\":\"nothing\"}'; \
            echo '{\"event\":\"repeat\",\"wall_ns\":1,\"work\":{\"bytes\":1},\"check\":\"passed\"}'; echo '{\"event\":\"end\"}'";
        let suite = self.suite("nothing", "repeats = 200\nwarmup = 0\n", &script.replace("{", "{{").replace("}", "}}"));
        run(&mut self.stend(&["run", &suite, "--quiet"]));
        let shown: Value =
            serde_json::from_slice(&self.stend(&["show", "last", "--json"]).output().unwrap().stdout).unwrap();
        let spans: Vec<_> = shown["run"]["repeats"]
            .as_array()
            .unwrap()
            .iter()
            .map(|repeat| {
                let usage = &repeat["usage"];
                let start = usage["t_ns"].as_f64().unwrap();
                (start, start + usage["wall_ns"].as_f64().unwrap())
            })
            .collect();
        let gaps: Vec<_> = spans.windows(2).map(|pair| (pair[1].0 - pair[0].1) / 1e6).collect();
        self.report("between two repeats, ms", &gaps, "ms", 20.0);
    }

    /// What forged runs are made from: the newest of the store.
    fn mould(&self) -> Mould {
        let file = self.directory.join("run.gz");
        run(self.stend(&["export", "last", "-o", file.to_str().unwrap()]).stderr(Stdio::null()));
        Mould::of(&file)
    }

    fn import(&self, forged: impl Iterator<Item = Forged>) {
        let files: Vec<_> = forged
            .enumerate()
            .map(|(place, forged)| {
                let file = self.directory.join(format!("{place}.gz"));
                forged.write(&file);
                file
            })
            .collect();
        run(self.stend(&["import"]).args(&files).stderr(Stdio::null()));
    }

    fn list(&self) {
        self.fill(0..1000);
        self.report("list with 1,000 runs, ms", &self.times(&["list"]), "ms", 50.0);
        self.report("history of one scenario in 1,000 runs, ms", &self.times(&["history", "s"]), "ms", f64::INFINITY);
    }

    /// Puts runs into the store, each with its number in its id.
    fn fill(&self, runs: Range<usize>) {
        let mould = self.mould();
        let of = |number: usize| {
            let id = format!(
                "{:04}{:02}{:02}-{:02}00-{number:04x}",
                2000 + number / 8064,
                1 + number / 672 % 12,
                1 + number / 24 % 28,
                number % 24
            );
            mould.run(&id, &[("s", vec![10.0 + (number % 3) as f64])])
        };
        for first in runs.step_by(100) {
            self.import((first..first + 100).map(of));
        }
    }

    /// The server on one processor, with 10,000 runs. Requests are due 200 times a second, and what one takes is counted from when it was due.
    fn serve(&self) {
        const REQUESTS: u32 = 2000;
        self.fill(1000..11_000);
        let mut server = Command::new("taskset")
            .args(["-c", "0", env!("CARGO_BIN_EXE_stend"), "serve", "--quiet", "--listen", "127.0.0.1:0"])
            .env("STEND_STORE", self.directory.join("store"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (address, token) = line.trim().strip_prefix("http://").unwrap().split_once("/sign-in?token=").unwrap();
        let mut connection = Connection::new(address);
        let form = format!("token={token}");
        let (head, _) = connection.ask(&format!(
            "POST /sign-in HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
            form.len()
        ));
        let cookie = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")?.split(';').next()).unwrap();
        let get = |path: &str| format!("GET {path} HTTP/1.1\r\nhost: {address}\r\ncookie: {cookie}\r\n\r\n");
        let mut first_page = Vec::new();
        for _ in 0..20 {
            let start = Instant::now();
            let (head, size) = connection.ask(&get("/"));
            first_page.push(start.elapsed().as_secs_f64() * 1e3);
            assert!(head.starts_with("HTTP/1.1 200") && size < 200_000, "{size}: {head}");
        }
        self.report("first page with 10,000 runs, ms", &first_page, "ms", 100.0);
        for path in ["/api/v1/runs", "/api/v1/runs?limit=1000", "/api/v1/runs?suite=none"] {
            let request = get(path);
            connection.ask(&request);
            let start = Instant::now();
            let mut took: Vec<f64> = (0..REQUESTS)
                .map(|number| {
                    let due = start + Duration::from_millis(5) * number;
                    std::thread::sleep(due.saturating_duration_since(Instant::now()));
                    connection.ask(&request);
                    due.elapsed().as_secs_f64() * 1e3
                })
                .collect();
            took.sort_by(f64::total_cmp);
            let p99 = took[took.len() * 99 / 100];
            self.report(&format!("{path}, 10,000 runs, 200 a second, p99, ms"), &[p99], "ms", 50.0);
        }
        server.kill().unwrap();
        server.wait().unwrap();
    }

    fn show(&self) {
        const SERIES: usize = 50;
        let id = "20180101-0000-0001";
        let mut big = self.mould().run(id, &[("s", times(10.0, 0.02, 200))]);
        // A sampler's: a moment every tenth of a second, and counters that grow by what is never quite the same.
        let moments: Vec<u64> = (0..100).map(|tick| 1_000_000_000 + tick * 100_000_000).collect();
        let one = |repeat: usize, place: usize| {
            let grown = |tick: usize| tick as f64 * 1e6 + ((tick * 7919 + repeat * 31 + place) % 1009) as f64;
            let values: Vec<f64> = (0..moments.len()).map(grown).collect();
            json!({ "metric": format!("bench.{place}_total"), "origin": "machine", "times_ns": moments, "values": values })
        };
        let repeats = 0..big.repeats.len();
        big.series = repeats
            .flat_map(|repeat| (0..SERIES).map(move |place| (repeat, place)))
            .map(|(repeat, place)| (repeat, one(repeat, place)))
            .collect();
        let samples = big.series.len() * moments.len();
        assert!(samples >= 1_000_000);
        self.import(std::iter::once(big));
        self.report(&format!("show of a run with {samples} samples, ms"), &self.times(&["show", id]), "ms", 300.0);
    }

    /// Two runs of 50 scenarios with 20 repeats each. With one session a side what infinitely many draws would give is computed; with two,
    /// sessions and repeats are drawn 10,000 times for each side of each scenario.
    fn compare(&self) {
        let mould = self.mould();
        let names: Vec<String> = (0..50).map(|scenario| format!("scenario {scenario}")).collect();
        for (sessions, what) in [(1, "one session each"), (2, "two sessions each, 10,000 draws")] {
            let ids = [1, 2].map(|side| format!("20190101-000{sessions}-000{side}"));
            self.import(ids.iter().enumerate().map(|(side, id)| {
                let of = |(place, name): (usize, &'_ String)| {
                    let middle = 10.0 + place as f64 + side as f64 * (place % 5) as f64 / 10.0;
                    (name.clone(), times(middle, 0.02, 20))
                };
                let scenarios: Vec<(String, Vec<f64>)> = names.iter().enumerate().map(of).collect();
                let scenarios: Vec<_> = scenarios.iter().map(|(name, times)| (name.as_str(), times.clone())).collect();
                mould.run(id, &scenarios).in_sessions(sessions)
            }));
            let [a, b] = ids;
            self.report(
                &format!("compare, 50 × 20 repeats, {what}, ms"),
                &self.times(&["compare", &a, &b]),
                "ms",
                200.0,
            );
        }
    }

    fn report(&self, what: &str, values: &[f64], unit: &str, below: f64) {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let median = stend_stats::median(values).unwrap();
        let is_below = median <= below;
        self.above.set(self.above.get() + u32::from(!is_below));
        let mark = if is_below { "" } else { "  ABOVE" };
        let range = format!("{:.2} … {:.2} {unit}", sorted[0], sorted[sorted.len() - 1]);
        let bar = if below.is_finite() { format!("{below} {unit}") } else { String::new() };
        println!("{what:<58} {median:>7.2} {unit:<2}   {range:>22}   {bar}{mark}");
    }

    fn times(&self, arguments: &[&str]) -> Vec<f64> {
        let once = || {
            let start = Instant::now();
            run(self.stend(arguments).stdout(Stdio::null()));
            start.elapsed().as_secs_f64() * 1e3
        };
        once();
        (0..20).map(|_| once()).collect()
    }
}

/// CPU seconds of a process, user and system: from this field on behind its name. 11: its own. 13: of its children that have ended and were waited
/// for, and of theirs.
fn cpu_of(process: &str, field: usize) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    // After the name, which may hold anything.
    let fields: Vec<&str> = text.rsplit_once(')').unwrap().1.split_whitespace().collect();
    let ticks: u64 = fields[field].parse::<u64>().unwrap() + fields[field + 1].parse::<u64>().unwrap();
    // Linux tells them in hundredths of a second everywhere.
    ticks as f64 / 100.0
}

/// CPU seconds, to the nanosecond, of all threads of a process and of those below it that run now.
fn cpu_below(process: u32) -> f64 {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let of_task = |task: std::fs::DirEntry| {
        let read = |name: &str| std::fs::read_to_string(task.path().join(name)).unwrap_or_default();
        let spent: f64 = read("schedstat").split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0);
        let below: f64 =
            read("children").split_whitespace().filter_map(|child| child.parse().ok()).map(cpu_below).sum();
        spent / 1e9 + below
    };
    tasks.map(of_task).sum()
}

fn run(command: &mut Command) {
    let status = command.stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}
