//! The console and the API: who gets in, what is started, and that nothing is lost or done twice when the server dies.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::common::sshd::Sshd;
use crate::common::{Gate, Stand, executable, in_own_mounts, probe, wait_until};

/// A server, and who has signed in.
pub(crate) struct Server<'a> {
    stand: &'a Stand,
    child: Child,
    pub(crate) address: String,
    pub(crate) token: String,
    pub(crate) cookie: String,
}

/// What it answered.
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    fn read(from: &mut impl std::io::Read) -> Self {
        let mut answer = String::new();
        from.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head: head.into(), body: body.into() }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

impl<'a> Server<'a> {
    /// One that nobody has signed in to.
    pub(crate) fn strange(stand: &'a Stand) -> Self {
        Self::listening(stand, &["--listen", "127.0.0.1:0"])
    }

    /// The same with these options.
    pub(crate) fn listening(stand: &'a Stand, options: &[&str]) -> Self {
        let mut command = stand.command(&[&["serve"], options].concat());
        let gated = stand.path().join("gated-probe");
        if gated.exists() {
            command.env("STEND_PROBE", gated);
        }
        Self::of_command(stand, &mut command)
    }

    /// The same by a command of one's own.
    pub(crate) fn of_command(stand: &'a Stand, command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let (address, at) = line.trim().split_once("://").unwrap().1.split_once('/').unwrap();
        let token = at.strip_prefix("sign-in?token=").unwrap_or_default();
        Self { stand, child, address: address.into(), token: token.into(), cookie: String::new() }
    }

    pub(crate) fn new(stand: &'a Stand) -> Self {
        Self::strange(stand).signed_in()
    }

    /// With its one-time token.
    pub(crate) fn signed_in(mut self) -> Self {
        let form = format!("token={}", self.token);
        let answer = self.ask("POST", "/sign-in", &["content-type: application/x-www-form-urlencoded"], &form);
        assert_eq!(answer.status, 303, "{}", answer.body);
        let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap();
        self.cookie = cookie.to_owned();
        self
    }

    /// As somebody who has a password.
    pub(crate) fn signed_in_as(mut self, name: &str, password: &str) -> Self {
        let form = format!("name={name}&password={password}");
        let answer = self.ask("POST", "/sign-in", &["content-type: application/x-www-form-urlencoded"], &form);
        assert_eq!(answer.status, 303, "{}", answer.body);
        self.cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        self
    }

    /// As whoever has signed in to another node.
    pub(crate) fn signed_in_with(mut self, other: &Self) -> Self {
        self.cookie.clone_from(&other.cookie);
        self
    }

    pub(crate) fn send(&self, method: &str, path: &str, headers: &[&str], body: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut text = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\ncontent-length: {}\r\n", body.len());
        if !headers.iter().any(|line| line.starts_with("host:")) {
            let _ = write!(text, "host: {}\r\n", self.address);
        }
        if !self.cookie.is_empty() {
            let _ = write!(text, "cookie: {}\r\n", self.cookie);
        }
        headers.iter().for_each(|line| text += &format!("{line}\r\n"));
        stream.write_all(format!("{text}\r\n{body}").as_bytes()).unwrap();
        BufReader::new(stream)
    }

    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        Answer::read(&mut self.send(method, path, headers, body))
    }

    /// The same, until its fleet answers it: on a busy machine a member may take longer than it is waited for.
    pub(crate) fn ask_fleet(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Answer {
        let mut answer = None;
        wait_until("the fleet answers", || {
            let got = self.ask(method, path, headers, body);
            answer = (got.status != 503).then_some(got);
            answer.is_some()
        });
        answer.expect("it was waited for")
    }

    /// Sends a file.
    pub(crate) fn send_bytes(&self, path: &str, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let (address, cookie, length) = (&self.address, &self.cookie, bytes.len());
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncookie: {cookie}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(&[head.as_bytes(), bytes].concat()).unwrap();
        Answer::read(&mut stream)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    pub(crate) fn order(&self, order: &Value, more: &[&str]) -> Answer {
        let headers = [&["content-type: application/json"], more].concat();
        self.ask("POST", "/api/v1/jobs", &headers, &order.to_string())
    }

    /// An order for several machines or sessions.
    pub(crate) fn batch(&self, batch: &Value, more: &[&str]) -> Answer {
        let headers = [&["content-type: application/json"], more].concat();
        self.ask("POST", "/api/v1/batches", &headers, &batch.to_string())
    }

    /// The link to a report of a range on a page.
    fn report_of_ranges(&self, page: &str) -> Option<String> {
        let page = self.get(page).body;
        let at = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
        at.filter(|link| link.starts_with("/report?runs=") && link.contains("..")).map(str::to_owned).next()
    }

    pub(crate) fn job(&self, id: &Value) -> Value {
        self.get(&format!("/api/v1/jobs/{id}")).json()["job"].clone()
    }

    pub(crate) fn until(&self, id: &Value, state: &str) -> Value {
        wait_until(&format!("job {id} is {state}"), || {
            let job = self.job(id);
            assert!(job["state"] == state || job["state"] != "failed", "{job:#}");
            job["state"] == state
        });
        self.job(id)
    }

    /// The numbers of the repeats that a viewer gets until there are so many.
    fn watch(&self, run: &Value, after: Option<u64>, count: usize) -> Vec<u64> {
        let after = after.map(|last| format!("last-event-id: {last}"));
        let headers: Vec<&str> = after.iter().map(String::as_str).collect();
        let path = format!("/api/v1/runs/{}/events", run.as_str().unwrap());
        let lines = self.send("GET", &path, &headers, "").lines().map_while(Result::ok);
        let ids = lines.filter_map(|line| line.strip_prefix("id: ").map(|id| id.parse().unwrap()));
        ids.take(count).collect()
    }

    /// Sends it a signal, if it is there.
    pub(crate) fn signal(&self, signal: Signal) {
        let _ = kill_process(Pid::from_child(&self.child), signal);
    }

    pub(crate) fn kill(mut self, signal: Signal) -> &'a Stand {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.child.wait().unwrap();
        self.stand
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A short suite of the program's own.
pub(crate) fn short() -> Value {
    json!({
        "suite": "summit", "only": ["magma"], "repeats": 1, "scale": 0.001, "set": { "seconds": "0.001" },
        "even_if_unfit": true,
    })
}

/// The same for a machine.
pub(crate) fn short_on(machine: &str) -> Value {
    let mut order = short();
    order["machine"] = json!(machine);
    order
}

/// The instruments of runs that servers start come to a gate, which lets so many through.
pub(crate) fn gate(stand: &Stand, free: u32) -> Gate {
    let gate = Gate::new();
    let path = gate.path().display();
    executable(
        &stand.path().join("gated-probe"),
        &format!(
            "#!/bin/sh\ncase \"$1 $*\" in 'cipher '*--mode*)\n{} || {{ : >'{path}/waits'; until [ -e '{path}/open' ]; do sleep 0.05; done; }} ;; esac\n\
             exec '{}' \"$@\"\n",
            gate.lets_through(free),
            probe().display()
        ),
    );
    gate
}

#[test]
fn nobody_gets_in_without_a_token_or_by_another_name_or_site() {
    let stand = Stand::new();
    let mut server = Server::strange(&stand);
    let form = "content-type: application/x-www-form-urlencoded";
    for path in [
        "/api/v1/runs",
        "/api/v1/jobs",
        "/api/v1/jobs/1",
        "/api/v1/runs/x/events",
        "/api/v1/suites",
        "/api/v1/machines",
        "/api/v1/journal",
        "/api/v1/users",
    ] {
        assert_eq!(server.get(path).status, 401, "{path}");
    }
    for path in ["/", "/runs/x", "/report?runs=last"] {
        assert_eq!(server.get(path).header("location"), Some("/sign-in"), "{path}");
    }
    assert_eq!(server.order(&short(), &[]).status, 401);
    for wrong in ["", "token=", "token=1234", "token=%00"] {
        assert!([403, 422].contains(&server.ask("POST", "/sign-in", &[form], wrong).status), "{wrong}");
    }
    // The right one signs in once.
    let right = format!("token={}", server.token);
    let answer = server.ask("POST", "/sign-in", &[form], &right);
    let cookie = answer.header("set-cookie").unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert_eq!(server.ask("POST", "/sign-in", &[form], &right).status, 403);
    server.cookie = cookie.split(';').next().unwrap().to_owned();
    assert_eq!(server.get("/api/v1/runs").status, 200);
    // By a name that somebody else gave to this address, or from a page of theirs.
    assert_eq!(server.ask("GET", "/", &["host: example.org"], "").status, 421);
    for page in ["origin: http://example.org", "sec-fetch-site: cross-site", "origin: null"] {
        let answer =
            server.ask("POST", "/api/v1/jobs", &["content-type: application/json", page], &short().to_string());
        assert_eq!(answer.status, 403, "{page}");
    }
    assert_eq!(server.get("/api/v1/jobs").json()["jobs"], json!([]));
    let policy = server.get("/");
    assert!(policy.header("content-security-policy").unwrap().contains("default-src 'none'"));
    // A program's token does what the cookie does, and the cookie ends.
    let token = server.ask("POST", "/api/v1/tokens", &[], "").json()["token"].as_str().unwrap().to_owned();
    assert_eq!(server.ask("POST", "/sign-out", &[], "").status, 303);
    assert_eq!(server.get("/api/v1/runs").status, 401);
    let bearer = format!("authorization: Bearer {token}");
    assert_eq!(server.ask("GET", "/api/v1/runs", &[&bearer], "").status, 200);
    assert_eq!(server.ask("GET", "/api/v1/runs", &["authorization: Bearer no"], "").status, 401);
    // What is kept of secrets opens nothing.
    let kept = std::fs::read(stand.store().join("server.db")).unwrap();
    let is_there = |secret: &str| kept.windows(secret.len()).any(|part| part == secret.as_bytes());
    assert!(!is_there(&token) && !is_there(&server.token));
}

#[test]
fn what_makes_no_sense_is_refused_in_a_line_and_starts_nothing() {
    let stand = Stand::new();
    let server = Server::new(&stand);
    for name in ["own.toml", "own"] {
        std::fs::copy(stand.suite("repeats = 1", &[("one", "steady.sh 1")]), stand.path().join(name)).unwrap();
    }
    let marker = stand.path().join("marker");
    let touch = format!("touch {}", marker.display());
    for order in [
        json!({ "suite": "quik" }),
        json!({ "suite": "own.toml" }),
        json!({ "suite": "own" }),
        json!({ "suite": "../own" }),
        json!({ "suite": "--store=/" }),
        json!({ "suite": "-- touch" }),
        json!({ "suite": touch }),
        json!({ "suite": "" }),
        json!({ "suite": "summit", "label": "last" }),
        json!({ "suite": "summit", "machine": "elsewhere" }),
        json!({ "suite": "summit", "machine": "local,local" }),
        json!({ "suite": "summit", "repeats": 0 }),
        json!({ "suite": "summit", "repeats": -1 }),
        json!({ "suite": "summit", "scale": 7 }),
        json!({ "suite": "summit", "set": { "no": "1" } }),
        json!({ "suite": "summit", "target": "nosuch" }),
        json!({ "suite": "summit", "target": "--quiet" }),
        json!({ "suite": "summit", "sides": ["", "--dry-run"] }),
        json!({ "suite": "summit", "sides": ["", "no=1"] }),
        json!({ "suite": "summit", "sides": ["one"] }),
        json!({ "suite": "summit", "command": "true" }),
        json!([]),
        json!("summit"),
    ] {
        let answer = server.order(&order, &[]);
        assert!((400..500).contains(&answer.status), "{order}: {} {}", answer.status, answer.body);
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{order}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(!detail.is_empty() && detail.lines().count() == 1, "{order}: {detail}");
    }
    assert!(!marker.exists());
    let long = format!("{{\"suite\":\"{}\"}}", "a".repeat(100_000));
    let answer = server.ask("POST", "/api/v1/jobs", &["content-type: application/json"], &long);
    assert_eq!((answer.status, answer.json()["status"].as_u64()), (413, Some(413)));
    for path in [
        "/api/v1/runs/none",
        "/api/v1/runs/none/events",
        "/api/v1/jobs/7",
        "/api/v1/runs?limit=0",
        "/api/v1/runs?before=none",
        "/api/v1/runs?colour=red",
        "/api/v1/compare?runs=",
        "/api/v1/compare?runs=none,--help",
        "/api/v1/compare?runs=/etc/shadow",
        "/api/v1/compare?runs=a%00b",
        "/api/v1/runs/a%00b",
        "/api/v1/commands/compare?what=/etc/shadow",
        "/api/v1/commands/list?store=/",
        "/api/v1/none",
    ] {
        let answer = server.get(path);
        assert!((400..500).contains(&answer.status), "{path}: {} {}", answer.status, answer.body);
        assert_eq!(answer.header("content-type"), Some("application/problem+json"), "{path}");
    }
    assert_eq!(server.get("/none").status, 404);
    for page in ["/history?scenario=a%00b", "/report?runs=a%00b", "/references/a%00b"] {
        assert_eq!(server.get(page).status, 422, "{page}");
    }
    assert_eq!(server.get("/api/v1/jobs").json()["jobs"], json!([]));
}

#[test]
fn a_run_is_ordered_once_watched_without_a_gap_and_found_in_the_store() {
    let stand = Stand::new();
    let gate = gate(&stand, 3);
    let server = Server::new(&stand);
    let key = ["idempotency-key: one"];
    let made = server.order(&short(), &key);
    assert_eq!(made.status, 201, "{}", made.body);
    let (job, run) = (made.json()["id"].clone(), made.json()["run"].clone());
    let again = server.order(&short(), &key);
    assert_eq!((again.status, &again.json()["run"]), (200, &run));
    assert_eq!(server.order(&json!({ "suite": "quick" }), &key).status, 409);
    // Another run of the machine waits for this one.
    let second = server.order(&short(), &[]).json()["id"].clone();
    assert_eq!(server.watch(&run, None, 2), [0, 1]);
    assert_eq!(server.watch(&run, Some(0), 2), [1, 2]);
    gate.wait_until_reached();
    assert_eq!((&server.job(&job)["state"], &server.job(&second)["state"]), (&json!("running"), &json!("waiting")));
    let page = server.get("/").body;
    assert!(page.contains(&format!("/runs/{}", run.as_str().unwrap())), "{page}");
    let waiting = server.job(&second)["run"].as_str().unwrap().to_owned();
    assert_eq!(server.get(&format!("/runs/{waiting}")).status, 200);
    assert_eq!(server.ask("POST", &format!("/api/v1/jobs/{second}/stop"), &[], "").json()["state"], "stopped");
    gate.open();
    server.until(&job, "finished");
    // What viewers were told is what is stored.
    let shown = stand.json(&["show", run.as_str().unwrap()])["run"].clone();
    let stored: Vec<u64> =
        shown["repeats"].as_array().unwrap().iter().map(|one| one["sequence"].as_u64().unwrap()).collect();
    assert_eq!(server.watch(&run, None, usize::MAX), stored);
    assert_eq!(server.watch(&run, Some(stored.len() as u64 - 3), usize::MAX), stored[stored.len() - 2..]);
    // A run is watched by whatever it goes by.
    assert_eq!(server.watch(&json!("last"), None, usize::MAX), stored);
    // The API's documents are those of the commands.
    assert_eq!(server.get(&format!("/api/v1/runs/{}", run.as_str().unwrap())).json()["run"], shown);
    assert_eq!(server.get("/api/v1/runs").json()["runs"], stand.json(&["list"])["runs"]);
    let report = server.get(&format!("/report?runs={}", run.as_str().unwrap()));
    assert!(report.body.contains("<table") && report.header("content-security-policy").unwrap().starts_with("sandbox"));
}

#[test]
fn a_run_outlives_its_server_and_the_next_one_has_it() {
    let stand = Stand::new();
    let gate = gate(&stand, 2);
    let server = Server::new(&stand);
    let made = server.order(&short(), &[]).json();
    let (job, run) = (made["id"].clone(), made["run"].clone());
    let waiting = server.order(&short(), &[]).json()["id"].clone();
    gate.wait_until_reached();
    server.kill(Signal::KILL);
    let server = Server::new(&stand);
    assert_eq!(server.job(&job)["state"], "running");
    assert_eq!(server.job(&waiting)["state"], "waiting");
    // Stopped by a server that has not started it, and gone on with by the next.
    assert_eq!(server.ask("POST", &format!("/api/v1/jobs/{job}/stop"), &[], "").json()["state"], "stopping");
    server.until(&job, "stopped");
    assert_eq!(server.ask("POST", &format!("/api/v1/jobs/{waiting}/stop"), &[], "").status, 200);
    gate.open();
    server.until(&waiting, "stopped");
    server.kill(Signal::TERM);
    let server = Server::new(&stand);
    assert_eq!(server.ask("POST", &format!("/api/v1/jobs/{job}/resume"), &[], "").status, 200);
    server.until(&job, "finished");
    let shown = stand.json(&["show", run.as_str().unwrap()])["run"].clone();
    assert_eq!(shown["sessions"].as_array().unwrap().len(), 2, "it was resumed");
    assert_eq!(shown["run"]["state"], "finished");
    assert_eq!(server.ask("POST", &format!("/api/v1/jobs/{job}/resume"), &[], "").status, 409);
}

/// The run's process dies with the server, as when the machine's power fails.
#[test]
fn a_run_that_died_with_its_server_is_resumed_by_the_next_one() {
    let stand = Stand::new();
    let gate = gate(&stand, 2);
    let server = Server::new(&stand);
    let made = server.order(&short(), &[]).json();
    let (job, run) = (made["id"].clone(), made["run"].as_str().unwrap().to_owned());
    gate.wait_until_reached();
    let measures = |pid: &Pid| {
        let words = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid())).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(&format!("--id={run}\0"))
    };
    let all = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| Pid::from_raw(entry.ok()?.file_name().to_str()?.parse().ok()?));
    let found: Vec<_> = all.filter(measures).collect();
    assert_eq!(found.len(), 1);
    server.kill(Signal::KILL);
    kill_process(found[0], Signal::KILL).unwrap();
    wait_until("it is gone", || !measures(&found[0]));
    gate.open();
    let server = Server::new(&stand);
    server.until(&job, "finished");
    let shown = stand.json(&["show", &run])["run"].clone();
    assert_eq!(shown["sessions"].as_array().unwrap().len(), 2);
    let sequences: Vec<u64> =
        shown["repeats"].as_array().unwrap().iter().map(|one| one["sequence"].as_u64().unwrap()).collect();
    assert!(sequences.iter().copied().eq(0..sequences.len() as u64), "{sequences:?}");
}

#[test]
fn what_cannot_be_served_is_said_in_a_line() {
    let stand = Stand::new();
    let server = Server::strange(&stand);
    let other = Stand::new();
    let refused = |stand: &Stand, address: &str, status: i32, part: &str| {
        let ended = stand.run(&["serve", "--listen", address]);
        assert_eq!(ended.status, Some(status), "{}", ended.err);
        assert!(ended.err.lines().count() == 1 && ended.err.contains(part), "{}", ended.err);
    };
    refused(&other, &server.address, 4, "cannot be listened on");
    refused(&stand, "127.0.0.1:0", 4, "another `stend serve` has this store");
    refused(&other, "nowhere", 2, "--listen");
}

#[test]
fn a_job_waits_while_somebody_measures_its_machine_by_hand() {
    let stand = Stand::new();
    let gate = gate(&stand, 0);
    let words = ["run", "summit", "--repeats=1", "--scale=0.001", "--set=seconds=0.001", "--even-if-unfit"];
    let mut by_hand = stand.command(&words);
    let mut by_hand =
        by_hand.env("STEND_PROBE", stand.path().join("gated-probe")).stdout(Stdio::null()).spawn().unwrap();
    gate.wait_until_reached();
    let server = Server::new(&stand);
    let first = server.order(&short(), &[]).json()["id"].clone();
    let says_so = |id: &Value| {
        let job = server.get(&format!("/api/v1/jobs/{id}")).json();
        job["log"].as_str().unwrap().contains("the machine is being measured")
    };
    wait_until("it says so", || says_so(&first));
    // One that waits so is stopped like any other.
    server.ask("POST", &format!("/api/v1/jobs/{first}/stop"), &[], "");
    server.until(&first, "stopped");
    let second = server.order(&short(), &[]).json()["id"].clone();
    wait_until("it says so", || says_so(&second));
    gate.open();
    assert!(by_hand.wait().unwrap().code().is_some_and(|code| [0, 3].contains(&code)));
    server.until(&second, "finished");
    assert_eq!(stand.json(&["list"])["runs"].as_array().unwrap().len(), 2);
}

#[test]
fn what_a_program_has_already_is_not_sent_again() {
    let stand = Stand::new();
    let server = Server::new(&stand);
    let first = server.get("/api/v1/jobs");
    let tag = first.header("etag").unwrap().to_owned();
    let again = |tag: &str| server.ask("GET", "/api/v1/jobs", &[&format!("if-none-match: {tag}")], "");
    assert!(again(&tag).status == 304 && again(&tag).body.is_empty());
    assert_eq!(again(&format!("\"other\", W/{tag}")).status, 304);
    assert_eq!(again("\"other\"").body, first.body);
    server.order(&short(), &[]);
    assert_eq!(again(&tag).status, 200);
}

#[test]
fn a_run_is_imported_by_sending_its_file() {
    let stand = Stand::new();
    let other = Stand::new();
    let words = ["run", "summit", "--repeats=1", "--scale=0.001", "--set=seconds=0.001", "--even-if-unfit"];
    assert!(other.run(&words).status.is_some_and(|status| [0, 3].contains(&status)));
    let file = other.path().join("run.gz");
    other.fine(&["export", "last", "-o", file.to_str().unwrap()]);
    let run = std::fs::read(&file).unwrap();
    let server = Server::new(&stand);
    let answer = server.send_bytes("/api/v1/imports", &run);
    assert_eq!(answer.status, 201, "{}", answer.body);
    let said = answer.json()["said"][0].as_str().unwrap().to_owned();
    assert!(said.starts_with("run ") && said.ends_with("imported"), "{said}");
    assert_eq!(stand.json(&["list"])["runs"][0]["id"], other.json(&["list"])["runs"][0]["id"]);
    for wrong in [&b""[..], b"{}", &run[..run.len() / 2]] {
        let answer = server.send_bytes("/api/v1/imports", wrong);
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(answer.status == 422 && !detail.contains("server-uploads"), "{}: {detail}", answer.status);
    }
    // hyperfine names no machine, so whoever sends it does.
    let timed = br#"{"results":[{"command":"true","times":[0.1,0.2,0.3,0.1,0.2],"exit_codes":[0,0,0,0,0]}]}"#;
    let answer = server.send_bytes("/api/v1/imports?host=--help", timed);
    assert_eq!(answer.status, 422, "{}", answer.body);
    let answer = server.send_bytes("/api/v1/imports?host=elsewhere", timed);
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert_eq!(stand.json(&["list"])["runs"].as_array().unwrap().len(), 2);
    assert_eq!(std::fs::read_dir(stand.store().join("server-uploads")).unwrap().count(), 0);
}

#[test]
fn pages_show_machines_history_references_and_rigs() {
    let stand = Stand::new();
    let server = Server::new(&stand);
    let job = server.order(&short(), &[]).json()["id"].clone();
    server.until(&job, "finished");
    let run = server.job(&job)["run"].as_str().unwrap().to_owned();
    let page = |path: &str| {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer
    };
    let machine = page("/machines/local").body;
    assert!(machine.contains(&run) && machine.contains("<li>"), "{machine}");
    assert_eq!(server.get("/machines/elsewhere").status, 404);
    let checked = server.ask("POST", "/machines/local/check", &[], "").body;
    assert!(checked.contains("clock source"), "{checked}");
    let scenario = machine.split("<option>").nth(1).unwrap().split('<').next().unwrap();
    let history = page(&format!("/history?machine=local&scenario={}", scenario.replace(' ', "+").replace(',', "%2C")));
    assert!(
        history.body.contains("</html>") && history.header("content-security-policy").unwrap().starts_with("sandbox")
    );
    assert_eq!(server.get("/history?scenario=--help").status, 422);
    assert!(page("/references").body.contains("vostok-2020"));
    assert!(page("/references/vostok-2020").body.contains("<pre>"));
    assert_eq!(server.get("/references/--help").status, 422);
    assert!(page("/rigs").body.contains("name=\"kind\""));
    let form = "content-type: application/x-www-form-urlencoded";
    for wrong in ["kind=device", "kind=file&luns=many", "kind=file&name=--help", "kind=file&lun_size=1KiB;reboot"] {
        let answer = server.ask("POST", "/rigs", &[form], wrong);
        assert!(answer.status == 422 && answer.body.contains("role=\"alert\""), "{wrong}: {}", answer.status);
    }
    let up = server.ask("POST", "/rigs", &[form], "kind=file&name=r1&luns=2&lun_size=1MiB&disks=");
    assert_eq!(up.status, 303, "{}", up.body);
    assert!(page("/rigs").body.contains("/rigs/r1/down"));
    // What it is for: a run that loads it.
    let plan = json!({ "suite": "storage", "target": "r1", "even_if_unfit": true }).to_string();
    let plan = server.ask("POST", "/api/v1/plan", &["content-type: application/json"], &plan);
    assert!(plan.status == 200 && plan.json()["plan"].as_str().unwrap().contains("2 LUNs of 1MiB"), "{}", plan.body);
    assert_eq!(server.ask("POST", "/rigs/r1/down", &[form], "").status, 303);
    assert!(!page("/rigs").body.contains("/rigs/r1/down"));
    assert_eq!(server.ask("POST", "/rigs/r1/down", &[form], "").status, 422);
    let kinds = server.get("/api/v1/journal?category=machines").json()["entries"].clone();
    assert_eq!((&kinds[0]["kind"], &kinds[1]["kind"]), (&json!("rig-down"), &json!("rig-up")));
}

/// Two machines, which the first calls rack-1 and rack-2.
fn two_machines() -> Option<[Sshd; 2]> {
    let (one, other) = (Sshd::new()?, Sshd::new()?);
    for machine in [&one, &other] {
        machine.with_build();
    }
    one.knows(&other, "other");
    one.fine(&["hosts", "add", "rack-1", "stand"]);
    one.fine(&["hosts", "add", "rack-2", "other"]);
    Some([one, other])
}

#[test]
fn two_machines_are_measured_at_once_and_compared() {
    let Some([one, _other]) = two_machines() else { return };
    let server = Server::of_command(&one.stand, &mut one.command(&["serve", "--listen", "127.0.0.1:0"])).signed_in();
    let order = |machine: &str| {
        let mut order = short();
        (order["machine"], order["label"]) = (json!(machine), json!(format!("on-{machine}")));
        let made = server.order(&order, &[]);
        assert_eq!(made.status, 201, "{}", made.body);
        made.json()["id"].clone()
    };
    let jobs = ["rack-1", "rack-2"].map(order);
    jobs.iter().for_each(|job| drop(server.until(job, "finished")));
    let compared = server.get("/api/v1/compare?runs=on-rack-1,on-rack-2").json();
    let columns = compared["table"]["columns"].as_array().unwrap();
    let titles: Vec<_> = columns.iter().filter_map(|column| column["title"].as_str()).take(2).collect();
    assert_eq!(titles, ["rack-1 on-rack-1", "rack-2 on-rack-2"]);
    let page = server.get("/machines/rack-2").body;
    assert!(page.contains("on-rack-2") && !page.contains("on-rack-1"), "{page}");
    let report = server.get("/report?runs=on-rack-1,on-rack-2");
    assert!(report.status == 200 && report.body.contains("rack-1") && report.body.contains("rack-2"));
}

#[test]
fn machines_are_measured_round_by_round_and_compared_by_a_link() {
    let Some([one, _other]) = two_machines() else { return };
    let server = Server::of_command(&one.stand, &mut one.command(&["serve", "--listen", "127.0.0.1:0"])).signed_in();
    let batch = json!({ "order": short(), "machines": ["rack-1", "rack-2"], "sessions": 2 });
    // The plan is of each machine, with what so many sessions will show.
    let fields = "suite=summit&scale=0.001&even_if_unfit=yes&machine=rack-1&machine=rack-2&sessions=2&preview=yes";
    let plan = server.ask("POST", "/", &["content-type: application/x-www-form-urlencoded"], fields);
    assert!(plan.body.contains("on rack-1:") && plan.body.contains("on rack-2:"), "{}", plan.body);
    assert_eq!(plan.body.matches("2 sessions of a scenario give no solid mark").count(), 2, "{}", plan.body);
    let made = server.batch(&batch, &[]);
    assert_eq!(made.status, 201, "{}", made.body);
    let jobs = made.json()["jobs"].as_array().unwrap().clone();
    let places = jobs.iter().map(|job| (job["round"].as_u64().unwrap(), job["order"]["machine"].as_str().unwrap()));
    assert!(places.eq([(1, "rack-1"), (1, "rack-2"), (2, "rack-1"), (2, "rack-2")]), "{jobs:#?}");
    let ended: Vec<Value> = jobs.iter().map(|job| server.until(&job["id"], "finished")).collect();
    // The second round begins when both machines are through with the first.
    let time = |job: &Value, name: &str| job[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    for (first, second) in ended[..2].iter().flat_map(|first| ended[2..].iter().map(move |second| (first, second))) {
        assert!(time(first, "ended_at") <= time(second, "began_at"), "{ended:#?}");
    }
    let run = |at: usize| jobs[at]["run"].as_str().unwrap();
    let link = server.report_of_ranges("/").unwrap();
    assert_eq!(link, format!("/report?runs={}..{},{}..{}", run(0), run(2), run(1), run(3)));
    let report = server.get(&link);
    assert!(report.status == 200 && report.body.contains("rack-1") && report.body.contains("rack-2"));
    let compared = server.get(&link.replace("/report", "/api/v1/compare")).json();
    let columns = compared["table"]["columns"].as_array().unwrap().clone();
    assert_eq!(columns.iter().filter(|column| !column["title"].is_null()).count(), 2, "{columns:#?}");
}

#[test]
fn an_order_of_several_sessions_is_added_at_once_once_and_stopped_by_one_button() {
    let stand = Stand::new();
    let gate = gate(&stand, 0);
    let server = Server::new(&stand);
    let batch = json!({ "order": short(), "machines": ["local"], "sessions": 3 });
    let key = ["idempotency-key: several"];
    let made = server.batch(&batch, &key);
    assert_eq!(made.status, 201, "{}", made.body);
    let again = server.batch(&batch, &key);
    let runs = |answer: &Answer| {
        let jobs = answer.json()["jobs"].as_array().unwrap().clone();
        jobs.iter().map(|job| job["run"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((again.status, runs(&again)), (200, runs(&made)));
    let other = json!({ "order": short(), "machines": ["local"], "sessions": 2 });
    assert_eq!((server.batch(&other, &key).status, server.order(&short(), &key).status), (409, 409));
    assert_eq!(server.get("/api/v1/jobs").json()["jobs"].as_array().unwrap().len(), 3);
    let of = runs(&made)[0].clone();
    let ids: Vec<Value> = made.json()["jobs"].as_array().unwrap().iter().map(|job| job["id"].clone()).collect();
    gate.wait_until_reached();
    // One line of the queue, with a page of its own.
    let home = server.get("/").body;
    assert!(home.contains(&format!("/batches/{of}")) && !home.contains(&format!("/runs/{}", runs(&made)[1])), "{home}");
    let page = format!("/batches/{of}");
    assert!(runs(&made).iter().all(|run| server.get(&page).body.contains(&format!("/runs/{run}"))));
    assert!(server.get(&format!("/runs/{}", runs(&made)[2])).body.contains(&page));
    assert_eq!((server.report_of_ranges("/"), server.get("/batches/none").status), (None, 404));
    assert_eq!(server.ask("POST", &format!("{page}/stop"), &[], "").status, 303);
    server.until(&ids[1], "stopped");
    server.until(&ids[2], "stopped");
    gate.open();
    server.until(&ids[0], "stopped");
    assert_eq!(server.report_of_ranges(&page), None);
    // They are gone on with one by one, here the last one first: the range is from the run that began first.
    for id in [&ids[2], &ids[1], &ids[0]] {
        assert_eq!(server.ask("POST", &format!("/api/v1/jobs/{id}/resume"), &[], "").status, 200);
        server.until(id, "finished");
    }
    let link = server.report_of_ranges(&page).unwrap();
    assert_eq!(link, format!("/report?runs={}..{}", runs(&made)[0], runs(&made)[1]));
    assert_eq!((server.report_of_ranges("/"), server.get(&link).status), (Some(link.clone()), 200));
    let compared = server.get(&link.replace("/report", "/api/v1/compare")).body;
    assert!(runs(&made).iter().all(|run| compared.contains(run)), "{compared}");
    // A run that is removed is compared no more.
    stand.fine(&["rm", &runs(&made)[2]]);
    assert_eq!(server.report_of_ranges("/"), None);
}

#[test]
fn an_order_of_several_runs_that_makes_no_sense_is_refused_in_a_line_and_starts_nothing() {
    let stand = Stand::new();
    let server = Server::new(&stand);
    let with = |field: &str, value: Value| {
        let mut order = short();
        order[field] = value;
        order
    };
    for (batch, part) in [
        (json!({ "order": short(), "machines": [] }), "machines: name 1 to 40"),
        (json!({ "order": short(), "machines": ["local", "local"] }), "each once"),
        (json!({ "order": short(), "machines": ["local", "elsewhere"] }), "there is no \"elsewhere\""),
        (json!({ "order": short(), "machines": ["local,local"] }), "there is no"),
        (json!({ "order": with("machine", json!("rack")), "machines": ["local"] }), "machine"),
        (json!({ "order": short(), "machines": ["local"], "sessions": 0 }), "sessions: it is 1 to 100"),
        (json!({ "order": short(), "machines": ["local"], "sessions": 101 }), "sessions: it is 1 to 100"),
        (json!({ "order": short(), "machines": ["local"], "sessions": -1 }), "sessions"),
        (json!({ "order": with("label", json!("x")), "machines": ["local"], "sessions": 2 }), "label: "),
        (json!({ "order": with("sides", json!(["", ""])), "machines": ["local"], "sessions": 2 }), "sides: "),
        (json!({ "order": with("suite", json!("none")), "machines": ["local"], "sessions": 2 }), "none"),
        (json!({ "suite": "summit", "machines": ["local"] }), "suite"),
        (json!({ "order": short() }), "machines"),
    ] {
        let answer = server.batch(&batch, &[]);
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(answer.status == 422 && detail.contains(part), "{batch}: {} {detail}", answer.status);
        assert_eq!(detail.lines().count(), 1, "{detail}");
    }
    let form = "content-type: application/x-www-form-urlencoded";
    let fields = "suite=summit&scale=0.001&even_if_unfit=yes";
    for (more, part) in [
        ("", "machines: name 1 to 40"),
        ("&machine=local&machine=elsewhere", "elsewhere"),
        ("&machine=local&sessions=many", "Sessions"),
        ("&machine=local&sessions=2&label=x", "label: a label is one run"),
        ("&machine=local&sessions=2&cron=0+0+1+1+*", "one machine and one session"),
        ("&machine=local&sessions=2&sessions=3", "sessions"),
    ] {
        let answer = server.ask("POST", "/", &[form], &format!("{fields}{more}"));
        let alert = answer.body.split("role=\"alert\"").nth(1).and_then(|rest| rest.split(['>', '<']).nth(1));
        assert!(answer.status == 422 && alert.is_some_and(|alert| alert.contains(part)), "{more}: {alert:?}");
    }
    // What so many sessions will show is said before.
    let answer = server.ask("POST", "/", &[form], &format!("{fields}&machine=local&sessions=7&preview=yes"));
    assert!(answer.status == 200 && answer.body.contains("7 sessions of "), "{}", answer.body);
    assert_eq!(server.get("/api/v1/jobs").json()["jobs"], json!([]));
}

#[test]
fn a_store_of_a_newer_version_and_a_machine_that_is_away_are_said_in_a_line() {
    let stand = Stand::new();
    let words = ["run", "summit", "--repeats=1", "--scale=0.001", "--set=seconds=0.001", "--even-if-unfit"];
    assert!(stand.run(&words).status.is_some_and(|status| [0, 3].contains(&status)));
    // A port that nobody listens on.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    stand.fine(&["hosts", "add", "away", &format!("ssh://nobody@127.0.0.1:{closed}")]);
    let server = Server::new(&stand);
    let mut order = short();
    order["machine"] = json!("away");
    let answer = server.order(&order, &[]);
    assert!([422, 503].contains(&answer.status), "{}", answer.body);
    let said = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(said.contains(&format!("127.0.0.1:{closed}")) && said.lines().count() == 1, "{said}");
    let path = stand.store().join("stend.db");
    let set = |version: i64| {
        let file = rusqlite::Connection::open(&path).unwrap();
        file.pragma_update(None, "user_version", version).unwrap();
    };
    let version: i64 =
        rusqlite::Connection::open(&path).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    set(version + 1);
    let page = server.get("/");
    assert!(page.status == 503 && page.body.contains("role=\"alert\""), "{}", page.body);
    server.kill(Signal::TERM);
    let ended = stand.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(ended.status == Some(4) && ended.err.lines().count() == 1, "{}", ended.err);
    set(version);
    assert_eq!(Server::new(&stand).get("/").status, 200);
}

#[test]
fn on_a_full_disk_nothing_is_half_done_and_all_goes_on_when_there_is_room() {
    let stand = Stand::new();
    let script = r#"
        cd "$DIRECTORY" && mkdir small && mount -t tmpfs -o size=2m,mode=700 none small || exit 9
        "$STEND" --store "$DIRECTORY/small" serve --quiet --listen 127.0.0.1:0 >url & server=$!
        until grep -q token url; do kill -0 $server || exit 8; sleep 0.05; done
        url=$(cat url); base=${url%/sign-in*}
        ask() { curl -s -b jar -c jar -o answer -w '%{http_code} ' "$@"; }
        ask -d "token=${url##*=}" "$base/sign-in"
        add() { ask -H content-type:application/json -d '{"cron":"0 0 1 1 *","order":{"suite":"quick"}}' "$base/api/v1/schedule"; }
        dd if=/dev/zero of=small/filler bs=4k 2>/dev/null
        add; cat answer; echo
        rm small/filler
        add; ask "$base/api/v1/schedule"; cat answer
        kill $server; wait $server
    "#;
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    let (program, directory) = (stand.command(&[]).get_program().to_str().unwrap().to_owned(), text(stand.path()));
    let Some(ended) = in_own_mounts(script, &[("STEND", &program), ("DIRECTORY", &directory)]) else { return };
    let (full, after) = ended.out.split_once('\n').unwrap_or_else(|| panic!("{ended:?}"));
    assert!(full.starts_with("303 503 ") && full.contains("full"), "{full}");
    let lines = after.strip_prefix("201 200 ").unwrap_or_else(|| panic!("{after}"));
    let lines: Value = serde_json::from_str(lines).unwrap();
    assert_eq!(lines["lines"].as_array().unwrap().len(), 1, "{lines}");
}

/// KILLS in the environment says how often; `make test-all` has 100.
#[test]
fn killed_at_any_moment_no_run_is_lost_or_made_twice() {
    let stand = Stand::new();
    let kills = std::env::var("KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(3);
    let mut server = Server::new(&stand);
    let order = short().to_string();
    for kill in 0..kills {
        // Nobody waits for the answer. The moments lie between the order's arrival and the end of its run, and what is so at any of them is tested.
        let sent = server.send("POST", "/api/v1/jobs", &["content-type: application/json"], &order);
        std::thread::sleep(Duration::from_millis(1500 * kill / kills));
        server.kill(Signal::KILL);
        drop(sent);
        server = Server::new(&stand);
    }
    let last = server.order(&short(), &[]).json()["id"].clone();
    server.until(&last, "finished");
    let jobs = server.get("/api/v1/jobs?limit=1000").json()["jobs"].as_array().unwrap().clone();
    let mut ordered: Vec<_> = jobs.iter().map(|job| job["run"].as_str().unwrap().to_owned()).collect();
    let runs = stand.json(&["list"])["runs"].as_array().unwrap().clone();
    let mut made: Vec<_> = runs.iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect();
    ordered.sort();
    made.sort();
    assert_eq!(ordered, made, "each order is a run, and each run was ordered");
    for run in &made {
        let shown = stand.json(&["show", run])["run"].clone();
        assert_eq!(shown["run"]["state"], "finished", "{run}");
        assert_eq!(shown["sessions"].as_array().unwrap().len(), 1, "{run}: its own process went on");
    }
}
