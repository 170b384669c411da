//! `stend --server`: it says and does what the command does on the server's machine, and what a server sends has no other effect here.

use std::collections::BTreeSet;
use std::io::{Read, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use rustix::process::{Signal, kill_process};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::{Value, json};

use crate::common::runs::{A, B, Runs};
use crate::common::{Ended, Stand, ended, interrupt, running, wait_until};
use crate::serve::{Server, gate};

/// A person at another machine, whose store is empty.
pub(crate) struct Client {
    pub(crate) stand: Stand,
    url: String,
    token: String,
}

impl Client {
    pub(crate) fn of(server: &Server) -> Self {
        let token = server.ask("POST", "/api/v1/tokens", &[], "").json()["token"].as_str().unwrap().to_owned();
        Self { stand: Stand::new(), url: format!("http://{}", server.address), token }
    }

    /// One who comes to something that is no server.
    fn at(address: &str) -> Self {
        Self { stand: Stand::new(), url: format!("http://{address}"), token: "0123456789abcdef".into() }
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.stand.command(&["--server", &self.url]);
        command.args(arguments).env("STEND_TOKEN", &self.token);
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ended {
        let ended = ended(&mut self.command(arguments));
        assert!(!ended.out.contains(&self.token) && !ended.err.contains(&self.token), "{ended:?}");
        ended
    }

    /// Starts a run on the server.
    pub(crate) fn start(&self, more: &[&str]) -> Child {
        let mut command = self.command(&[&["run"], SHORT, more].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Refused, or given up, in one line that says all this.
    pub(crate) fn fails(&self, arguments: &[&str], status: i32, parts: &[&str]) {
        let ended = self.run(arguments);
        assert_eq!(ended.status, Some(status), "{arguments:?}\n{ended:?}");
        assert_eq!((ended.out.as_str(), ended.err.lines().count()), ("", 1), "{arguments:?}\n{ended:?}");
        for part in parts {
            assert!(ended.err.contains(part), "{arguments:?}: `{part}` is not in:\n{}", ended.err);
        }
    }
}

/// A short suite of the program's own.
const SHORT: &[&str] = &["summit", "--repeats", "1", "--scale", "0.001", "--set", "seconds=0.001", "--even-if-unfit"];

pub(crate) fn wait(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { status: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// The numbers of the repeats that were told, in their order.
fn told(err: &str) -> Vec<usize> {
    err.lines().filter_map(|line| line.strip_prefix('[')?.split(']').next()?.parse().ok()).collect()
}

/// How many repeats of a run are stored, and the status with which it must end: each scenario, on each side, has a valid repeat, or not.
fn stored(stand: &Stand, run: &str) -> (usize, i32) {
    let shown = stand.json(&["show", run])["run"].clone();
    let repeats = shown["repeats"].as_array().unwrap();
    let is_valid = |repeat: &&Value| repeat["phase"] == "measured" && repeat["outcome"] == "valid";
    let place = |repeat: &Value| (repeat["scenario"].as_u64(), repeat["side"].as_u64());
    let valid: BTreeSet<_> = repeats.iter().filter(is_valid).map(place).collect();
    let scenarios = shown["run"]["suite"]["scenarios"].as_array().unwrap().len();
    let sides = shown["run"]["sides"].as_array().map_or(1, |sides| sides.len().max(1));
    (repeats.len(), if valid.len() == scenarios * sides { 0 } else { 3 })
}

fn only_run(server: &Server) -> String {
    let jobs = server.get("/api/v1/jobs").json()["jobs"].as_array().unwrap().clone();
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    jobs[0]["run"].as_str().unwrap().to_owned()
}

#[test]
fn what_a_command_prints_here_it_prints_of_a_server() {
    let runs = Runs::new();
    runs.add(&[runs.run(A, &[("copy", 1.0), ("fill", 3.0)]), runs.run(B, &[("copy", 0.5), ("fill", 3.0)])]);
    runs.stand.fine(&["label", A, "base"]);
    let server = Server::new(&runs.stand);
    let client = Client::of(&server);
    let program = runs.stand.command(&[]).get_program().to_str().unwrap().to_owned();
    let mut statuses = Vec::new();
    for words in [
        "list",
        "list --limit 1",
        "list --suite test --label base",
        "list --suite tset",
        "list --label none --json",
        "list --json",
        "list --format csv",
        "list --format md",
        "list --color always",
        "list --quiet",
        "show",
        "show base --repeats",
        "show last~1 --json",
        "show none",
        "show last --format json --json",
        "show last --format csv --json",
        "compare base last",
        "compare base last --json",
        "compare base last --format csv --all-metrics",
        "compare base last --color always",
        "compare base last --why copy",
        "compare base last --why copi",
        "compare base last --filter -scenario:copy",
        "compare base last --filter scenario:none",
        "compare base last --only better --row metric",
        "compare base last --baseline last --unit B/s",
        "compare base last --fail-on hollow-different",
        "compare base last --fail-on hollow-worse",
        "compare base last --fail-on worse",
        "compare last --quiet",
        "compare base base",
        "compare base nobody",
        "report base last --output - --format md",
        "report base last --output - --format json",
        "report base nobody --output -",
    ] {
        let words: Vec<_> = words.split(' ').collect();
        let here = ended(runs.stand.command(&words).env("COLUMNS", "80"));
        let there = ended(client.command(&words).env("COLUMNS", "80"));
        let err = here.err.replace(&program, "stend");
        assert_eq!((there.status, &there.out, &there.err), (here.status, &here.out, &err), "{words:?}");
        statuses.push(here.status);
    }
    assert!([Some(0), Some(1), Some(2)].iter().all(|status| statuses.contains(status)), "{statuses:?}");
    // A page has the moment at which it was made.
    for to in ["page.html", "-"] {
        let here = runs.stand.fine(&["report", A, B, "-o", to]);
        let there = client.run(&["report", A, B, "-o", to]);
        assert_eq!(there.status, Some(0), "{}", there.err);
        let page = |stand: &Stand, out: String| {
            if to == "-" { out } else { std::fs::read_to_string(stand.path().join(to)).unwrap() }
        };
        let (out, own) = (there.out.clone(), here.out.clone());
        let (there, here) = (page(&client.stand, there.out), page(&runs.stand, here.out));
        let no_digits = |text: &str| text.chars().filter(|character| !character.is_ascii_digit()).collect::<String>();
        assert!(here.contains("<table") && no_digits(&there) == no_digits(&here));
        assert!(to == "-" || out == own, "{out}");
    }
    assert!(!client.stand.store().exists());
}

#[test]
fn what_a_server_does_not_do_is_refused_in_a_line_that_names_it() {
    // Nobody listens there, and nobody is asked.
    let client = Client::at("127.0.0.1:9");
    let refused = |words: &str, part: &str| client.fails(&words.split(' ').collect::<Vec<_>>(), 2, &[part]);
    for command in [
        "resume x",
        "label x y",
        "rm x",
        "history copy",
        "export x",
        "import x",
        "pack quick",
        "hosts",
        "probe",
        "check",
        "doctor",
    ] {
        refused(command, &format!("`stend {}` acts on this machine alone", command.split(' ').next().unwrap()));
    }
    for command in ["suites", "references", "serve", "profile x", "clean", "completions bash", "man", "rig status"] {
        refused(command, &format!("`stend {}` acts on this machine alone", command.split(' ').next().unwrap()));
    }
    for (words, part) in [
        ("run quick --wait 1s", "--wait"),
        ("run quick --all-metrics", "--all-metrics"),
        ("run quick --dry-run", "--dry-run"),
        ("run quick --cc gcc", "--cc"),
        ("run quick --luns 2", "--luns"),
        ("run quick --target none.toml", "none.toml"),
        ("run --fio none.fio", "none.fio"),
        ("run none.toml", "none.toml"),
        ("run quick --ab name=a", "--ab"),
        ("compare a b --machines file", "--machines"),
        ("report a --output x --open", "--open"),
        ("report a --output x --language ru", "--language"),
        ("report a --output x --machines file", "--machines"),
        ("report a --output x --format svg", "--format svg"),
        ("report a", "-o FILE"),
        ("list --store x", "--store"),
    ] {
        refused(words, part);
    }
    let wrong = |url: &str, part: &str| {
        let ended = ended(client.stand.command(&["list", "--server", url]).env("STEND_TOKEN", &client.token));
        assert_eq!((ended.status, ended.err.lines().count()), (Some(2), 1), "{url}: {}", ended.err);
        assert!(ended.err.contains(part) && !ended.err.contains("secret"), "{url}: {}", ended.err);
    };
    // The token would be readable on the way.
    for url in ["http://192.0.2.1:7836", "http://lab.example", "http://[2001:db8::1]:7836", "http://127.0.0.1.example"]
    {
        wrong(url, "use https");
    }
    for url in ["lab.example", "ftp://127.0.0.1", "/tmp", "http://", "http://a b"] {
        wrong(url, "--server: ");
    }
    wrong("https://me:secret@lab.example", "password");
    let said = |name: &str, value: &str, part: &str| {
        let ended = ended(client.command(&["list"]).env(name, value));
        assert_eq!((ended.status, ended.err.lines().count()), (Some(2), 1), "{}", ended.err);
        assert!(ended.err.contains(part), "{}", ended.err);
    };
    said("STEND_TOKEN", "", "STEND_TOKEN is not set");
    said("STEND_TOKEN", "a\nb", "STEND_TOKEN is no token");
    said("STEND_SERVER_CA", "none.pem", "STEND_SERVER_CA: none.pem");
    std::fs::write(client.stand.path().join("no.pem"), "none").unwrap();
    said("STEND_SERVER_CA", "no.pem", "no certificate");
    // By the environment it is the same, and an empty one is none.
    let mut command = client.stand.command(&["hosts"]);
    assert_eq!(ended(command.env("STEND_SERVER", &client.url)).status, Some(2));
    assert_eq!(ended(command.env("STEND_SERVER", "")).status, Some(0));
}

#[test]
fn nothing_that_is_sent_becomes_another_word_of_the_command() {
    let runs = Runs::new();
    runs.add(&[runs.run(A, &[("copy", 1.0)]), runs.run(B, &[("copy", 0.5)])]);
    let server = Server::new(&runs.stand);
    std::fs::write(runs.stand.path().join("machines.toml"), "secret").unwrap();
    let file = runs.stand.path().join("written");
    let path = file.to_str().unwrap();
    for query in [
        "list?store=/".to_owned(),
        "list?what=x".into(),
        "list?limit=1&server=http://127.0.0.1".into(),
        "list?json=maybe".into(),
        "list?columns=-1".into(),
        "list?suite=a%00b".into(),
        "compare?what=last&machines=machines.toml".into(),
        "show?what=last&what=--store=/".into(),
        "compare?what=last&what=/etc/shadow".into(),
        format!("report?what=last&output={path}"),
        format!("report?what=last&open=true&-o={path}"),
    ] {
        let answer = server.get(&format!("/api/v1/commands/{query}"));
        assert_eq!(answer.status, 400, "{query}: {}", answer.body);
        assert!(answer.json()["detail"].as_str().is_some_and(|detail| !detail.is_empty()));
    }
    for name in ["rm?what=last", "serve", "export?what=last", "label?what=last&what=x", "..%2Fruns", "list%20"] {
        assert_eq!(server.get(&format!("/api/v1/commands/{name}")).status, 404, "{name}");
    }
    for query in [
        "compare?what=last&what=--machines=machines.toml".to_owned(),
        "compare?what=--help".into(),
        "compare?what=last&filter=--machines=machines.toml".into(),
        "compare?what=last&what=last~1&fail-on=--help".into(),
        "show?what=--".into(),
        "report?what=last&what=--output=written".into(),
        format!("report?what=last&format=svg&filter=--output={path}"),
        "list?color=--help".into(),
        "list?limit=--help".into(),
    ] {
        let answer = server.get(&format!("/api/v1/commands/{query}")).json();
        assert_eq!((&answer["status"], &answer["out"]), (&json!(2), &json!("")), "{query}: {answer}");
        assert!(!answer["err"].as_str().unwrap().contains("secret"), "{query}: {answer}");
    }
    assert!(!file.exists());
    assert_eq!(runs.stand.json(&["list"])["runs"].as_array().unwrap().len(), 2);
    let client = Client { token: "0123456789abcdef".into(), ..Client::of(&server) };
    client.fails(&["list"], 2, &["does not know the token"]);
    client.fails(&[&["run"], SHORT].concat(), 2, &["does not know the token"]);
    assert_eq!(server.get("/api/v1/jobs").json()["jobs"], json!([]));
}

#[test]
fn a_run_on_a_server_is_followed_to_its_end() {
    let stand = Stand::new();
    let server = Server::new(&stand);
    let client = Client::of(&server);
    let ended = wait(client.start(&["--label", "nightly"]));
    let run = only_run(&server);
    let (repeats, status) = stored(&stand, "nightly");
    assert_eq!(ended.status, Some(status), "{}", ended.err);
    assert_eq!(told(&ended.err), (1..=repeats).collect::<Vec<_>>(), "{}", ended.err);
    assert!(ended.err.contains(&format!("{}/runs/{run}", client.url)), "{}", ended.err);
    assert!(ended.err.contains(&format!("--server {} show {run}", client.url)), "{}", ended.err);
    // The table that the run's own end has.
    assert_eq!(ended.out, stand.run(&["show", "nightly", "--concluded"]).out);
    assert!(ended.out.contains("throughput") || ended.out.lines().count() > 5, "{}", ended.out);
    // What is refused is refused in the command's own words, and nothing is queued.
    let order = |words: &str, part: &str| client.fails(&words.split(' ').collect::<Vec<_>>(), 2, &[part]);
    order("run quik", "quik");
    order("run ./own.toml", "own.toml");
    order("run summit --label nightly", "nightly");
    order("run summit --on elsewhere", "elsewhere");
    order("run summit --set no=1", "no");
    assert_eq!(only_run(&server), run);
    let json: Value = serde_json::from_str(&wait(client.start(&["--json", "--quiet"])).out).unwrap();
    assert!(json["table"]["rows"].is_array());
}

#[test]
fn two_sides_and_repeats_that_fail_end_as_they_do_here() {
    let stand = Stand::new();
    // The second side's program fails.
    let server = Server::new(&stand);
    let client = Client::of(&server);
    let ended = wait(client.start(&["--ab", "name=as it is", "name=none; prefix=false"]));
    let run = only_run(&server);
    let (repeats, status) = stored(&stand, &run);
    assert_eq!((ended.status, status), (Some(3), 3), "{}", ended.err);
    assert_eq!(told(&ended.err), (1..=repeats).collect::<Vec<_>>(), "{}", ended.err);
    assert!(ended.err.contains("(none)") && ended.err.contains(": failed: "), "{}", ended.err);
    assert!(ended.err.contains("fewer valid repeats than requested"), "{}", ended.err);
}

#[test]
fn a_run_that_dies_on_the_server_is_a_failure_with_its_reason() {
    let stand = Stand::new();
    let gate = gate(&stand, 3);
    let server = Server::new(&stand);
    let client = Client::of(&server);
    let child = client.start(&[]);
    gate.wait_until_reached();
    let program = stand.command(&[]).get_program().to_str().unwrap().to_owned();
    let run = only_run(&server);
    let is_it = |pid: &rustix::process::Pid| {
        let words = std::fs::read(format!("/proc/{}/cmdline", pid.as_raw_pid())).unwrap_or_default();
        String::from_utf8_lossy(&words).contains(&format!("--id={run}\0"))
    };
    let measuring: Vec<_> = running(&[&program]).into_iter().filter(is_it).collect();
    assert_eq!(measuring.len(), 1);
    kill_process(measuring[0], Signal::KILL).unwrap();
    gate.open();
    let ended = wait(child);
    assert_eq!(ended.status, Some(4), "{}", ended.err);
    assert_eq!(told(&ended.err), [1, 2, 3], "{}", ended.err);
    let last = ended.err.lines().last().unwrap();
    assert!(last.contains(&run) && last.contains("Resume on"), "{last}");
}

#[test]
fn ctrl_c_stops_the_run_on_the_server() {
    let stand = Stand::new();
    let gate = gate(&stand, 2);
    let server = Server::new(&stand);
    let client = Client::of(&server);
    let measured = client.start(&[]);
    gate.wait_until_reached();
    let run = only_run(&server);
    // Another one waits for the machine.
    let waiting = client.start(&[]);
    wait_until("two jobs", || server.get("/api/v1/jobs").json()["jobs"].as_array().unwrap().len() == 2);
    interrupt(&waiting);
    let ended = wait(waiting);
    assert_eq!((ended.status, told(&ended.err)), (Some(130), vec![]), "{}", ended.err);
    server.until(&json!(2), "stopped");
    assert_eq!(server.job(&json!(1))["state"], "running");
    interrupt(&measured);
    let ended = wait(measured);
    assert_eq!((ended.status, told(&ended.err)), (Some(130), vec![1, 2]), "{}", ended.err);
    assert_eq!(server.job(&json!(1))["state"], "stopped");
    let last = ended.err.lines().last().unwrap();
    assert!(last.contains(&format!("Resume on {}/runs/{run}", client.url)), "{last}");
}

/// Passes connections on to the server that is named. Of the first ones only so many bytes of the answer come back.
fn lossy(server: &Arc<Mutex<String>>, bytes: &'static [usize]) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, server) = (listener.local_addr().unwrap().to_string(), Arc::clone(server));
    let cut = Arc::new(AtomicUsize::new(0));
    let (own, counted) = (address.clone(), Arc::clone(&cut));
    std::thread::spawn(move || {
        for (place, client) in listener.incoming().map_while(Result::ok).enumerate() {
            let server = server.lock().unwrap().clone();
            let (own, counted) = (own.clone(), Arc::clone(&counted));
            std::thread::spawn(move || {
                let Ok(to) = TcpStream::connect(&server) else { return };
                let (mut from_client, mut to_server) = (client.try_clone().unwrap(), to.try_clone().unwrap());
                std::thread::spawn(move || {
                    let mut part = [0; 65536];
                    while let Ok(count @ 1..) = from_client.read(&mut part) {
                        // The server goes by its own name alone.
                        let text = String::from_utf8_lossy(&part[..count]).replace(&own, &server);
                        if to_server.write_all(text.as_bytes()).is_err() {
                            return;
                        }
                    }
                    let _ = to_server.shutdown(Shutdown::Both);
                });
                let left = bytes.get(place).copied();
                let passed = std::io::copy(&mut (&to).take(left.map_or(u64::MAX, |left| left as u64)), &mut &client);
                if left.is_some_and(|left| passed.is_ok_and(|passed| passed == left as u64)) {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
                let _ = (client.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
            });
        }
    });
    (address, cut)
}

#[test]
fn a_connection_that_is_lost_leaves_no_gap_and_starts_nothing_twice() {
    let stand = Stand::new();
    let server = Server::new(&stand);
    // The answer to the order is lost as a whole, in its head and in its body, and comes with the fourth; then the events are cut, in all places.
    const CUTS: &[usize] = &[0, 40, 500, 1500, 1, 300, 610, 777, 900, 1023, 1100, 1200, 1333, 1500, 1700, 2000];
    let (address, cut) = lossy(&Arc::new(Mutex::new(server.address.clone())), CUTS);
    let client = Client { url: format!("http://{address}"), ..Client::of(&server) };
    let ended = wait(client.start(&[]));
    let run = only_run(&server);
    let (repeats, status) = stored(&stand, &run);
    assert_eq!(ended.status, Some(status), "{}", ended.err);
    assert_eq!(told(&ended.err), (1..=repeats).collect::<Vec<_>>(), "{}", ended.err);
    assert!(cut.load(Ordering::Relaxed) >= 6, "{} connections were cut", cut.load(Ordering::Relaxed));
    assert_eq!(stand.json(&["list"])["runs"].as_array().unwrap().len(), 1);
}

#[test]
fn a_server_that_is_started_anew_is_followed_further() {
    let stand = Stand::new();
    let gate = gate(&stand, 3);
    let server = Server::new(&stand);
    let named = Arc::new(Mutex::new(server.address.clone()));
    let (address, _) = lossy(&named, &[]);
    let client = Client { url: format!("http://{address}"), ..Client::of(&server) };
    let child = client.start(&[]);
    gate.wait_until_reached();
    let run = only_run(&server);
    server.kill(Signal::KILL);
    let server = Server::new(&stand);
    named.lock().unwrap().clone_from(&server.address);
    gate.open();
    let ended = wait(child);
    let (repeats, status) = stored(&stand, &run);
    assert_eq!(ended.status, Some(status), "{}", ended.err);
    assert_eq!(told(&ended.err), (1..=repeats).collect::<Vec<_>>(), "{}", ended.err);
    assert_eq!(only_run(&server), run);
}

/// What a client sends first.
fn request(client: &mut impl Read) -> String {
    let (mut part, mut asked) = ([0; 65536], Vec::<u8>::new());
    while !asked.windows(4).any(|four| four == b"\r\n\r\n") {
        match client.read(&mut part) {
            Ok(count @ 1..) => asked.extend(&part[..count]),
            _ => break,
        }
    }
    String::from_utf8_lossy(&asked).into_owned()
}

/// Something that answers each connection so, and then closes it.
fn answering(answer: impl Fn(&mut TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut client in listener.incoming().map_while(Result::ok) {
            let mut part = [0; 65536];
            request(&mut client);
            answer(&mut client);
            // What it has sent since would make a reset of the end.
            let _ = client.shutdown(Shutdown::Write);
            while let Ok(1..) = client.read(&mut part) {}
        }
    });
    address
}

fn answers(text: impl Into<String>) -> Client {
    let text = text.into();
    Client::at(&answering(move |client| drop(client.write_all(text.as_bytes()))))
}

fn with_body(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

#[test]
fn what_is_no_server_is_given_up_in_a_line() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let commands = [vec!["list"], [&["run"], SHORT].concat()];
    for command in commands.iter().map(|command| &command[..]) {
        Client::at(&closed).fails(command, 4, &[&closed]);
        answers("garbage\r\n\r\n").fails(command, 4, &["http://127.0.0.1:"]);
        answers("SSH-2.0-OpenSSH_9.2\r\n").fails(command, 4, &["http://127.0.0.1:"]);
        answers(with_body("200 OK", "no JSON")).fails(command, 4, &["something else"]);
        answers(with_body("200 OK", "{}")).fails(command, 4, &["something else"]);
        answers(with_body("200 OK", "[[[[[[")).fails(command, 4, &["something else"]);
        answers(with_body("500 Oops", "<html>")).fails(command, 4, &["status 500"]);
        answers(with_body("503 Busy", r#"{"detail":"the disk is full"}"#)).fails(command, 4, &["the disk is full"]);
        // What would be another host's is not asked.
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        other.set_nonblocking(true).unwrap();
        let to = format!("http://{}/", other.local_addr().unwrap());
        for status in ["301 Moved", "302 Found", "307 Temporary", "308 Permanent"] {
            let head = format!("HTTP/1.1 {status}\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n");
            answers(head).fails(command, 2, &["redirects to", &to]);
        }
        assert_eq!(other.accept().map(drop).map_err(|error| error.kind()), Err(std::io::ErrorKind::WouldBlock));
    }
}

#[test]
fn of_an_answer_without_end_so_much_is_read_and_no_more() {
    let endless = |head: &'static str, part: &'static [u8]| {
        Client::at(&answering(move |client| {
            let part = part.repeat(65536 / part.len());
            let _ = client.write_all(head.as_bytes());
            while client.write_all(&part).is_ok() {}
        }))
    };
    endless("HTTP/1.1 200 OK\r\n\r\n", b" ").fails(&["list"], 4, &["more than 256 MiB"]);
    endless("HTTP/1.1 200 OK\r\n", b"x: y\r\n").fails(&["list"], 4, &["http://127.0.0.1:"]);
    // Of what is wrong the first words tell enough.
    endless("HTTP/1.1 500 Oops\r\n\r\n", b"{\"detail\":\"").fails(&["list"], 4, &["status 500"]);
}

#[test]
fn what_a_server_sends_does_nothing_to_a_terminal() {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{202e}\u{9b}31m";
    let printed = json!({ "status": 0, "out": format!("table {evil}\n"), "err": format!("said {evil}\n") });
    let client = answers(with_body("200 OK", &printed.to_string()));
    let is_plain = |text: &str| !text.chars().any(|c| c.is_control() && c != '\n' || c == '\u{202e}');
    let ended = client.run(&["list"]);
    assert_eq!(ended.status, Some(0));
    assert!(is_plain(&ended.out) && is_plain(&ended.err), "{ended:?}");
    assert!(ended.out.contains("table ") && ended.err.contains("said "), "{ended:?}");
    let refused = json!({ "detail": format!("first {evil}\nsecond") }).to_string();
    for status in ["422 No", "503 No"] {
        let client = answers(with_body(status, &refused));
        for command in [&["list"][..], &[&["run"], SHORT].concat()] {
            let ended = client.run(command);
            assert!(is_plain(&ended.err) && ended.err.lines().count() == 1, "{ended:?}");
            assert!(ended.err.contains("first ") && ended.err.contains("second"), "{ended:?}");
        }
    }
    // Of a run: its id is one, and what is told of repeats stands in one line each.
    let job = |run: &str| {
        with_body(
            "201 Created",
            &json!({ "id": 7, "run": run, "order": { "machine": "local" }, "reason": null }).to_string(),
        )
    };
    for run in ["x; reboot", "", &format!("20261121-0555-3f9a{evil}"), "../../jobs"] {
        answers(job(run)).fails(&[&["run"], SHORT].concat(), 4, &["something else"]);
    }
    let repeat = json!({ "sequence": 0, "scenario": format!("name {evil}\n[9] forged"), "phase": "measured", "number": 1,
        "outcome": "failed", "why": [format!("why {evil}\n[8] forged"), ""], "value": "" });
    let events = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nevent: job\ndata: running{evil}\n\n\
         event: job\ndata: finished\n\nevent: repeat\nid: 0\ndata: {repeat}\n\nevent: repeat\nid: 0\ndata: {repeat}\n\nevent: end\ndata: \n\n"
    );
    let asked = AtomicUsize::new(0);
    let all = [job("20261121-0555-3f9a"), events, with_body("200 OK", &printed.to_string())];
    let client = Client::at(&answering(move |client| {
        drop(client.write_all(all[asked.fetch_add(1, Ordering::Relaxed).min(2)].as_bytes()));
    }));
    let ended = client.run(&[&["run"], SHORT].concat());
    assert_eq!((ended.status, told(&ended.err)), (Some(0), vec![1]), "{ended:?}");
    assert!(is_plain(&ended.out) && is_plain(&ended.err) && ended.err.contains(": failed: why "), "{ended:?}");
}

/// A server behind TLS whose certificate is for this address: its URL, the certificate's file, and what it was asked.
fn behind_tls(stand: &Stand, name: &str) -> (String, PathBuf, Arc<Mutex<Vec<String>>>) {
    let (certificate, key) = (stand.path().join(format!("{name}.pem")), stand.path().join(format!("{name}.key")));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
        .args(["-subj", "/CN=lab", "-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-addext", &format!("subjectAltName={name}"), "-out", certificate.to_str().unwrap()])
        .args(["-keyout", key.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let chain = vec![CertificateDer::from_pem_file(&certificate).unwrap()];
    let key = PrivateKeyDer::from_pem_file(key).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let (config, heard) = (Arc::new(config), Arc::clone(&asked));
    std::thread::spawn(move || {
        for client in listener.incoming().map_while(Result::ok) {
            let connection = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut client = rustls::StreamOwned::new(connection, client);
            let head = request(&mut client);
            if !head.is_empty() {
                heard.lock().unwrap().push(head);
            }
            let body = with_body("200 OK", r#"{"status":3,"out":"a table\n","err":""}"#);
            let _ = client.write_all(body.as_bytes());
            client.conn.send_close_notify();
            let _ = client.flush();
        }
    });
    (url, certificate, asked)
}

#[test]
fn only_a_certificate_that_is_trusted_and_of_this_name_gets_the_token() {
    if !stend_testing::have("openssl") {
        return;
    }
    let stand = Stand::new();
    let (url, own, asked) = behind_tls(&stand, "IP:127.0.0.1");
    let (_, other, _) = behind_tls(&stand, "DNS:lab.example");
    let (misnamed, its_own, asked_too) = behind_tls(&stand, "IP:127.0.0.2");
    let client = Client { stand, url, token: "0123456789abcdef".into() };
    client.fails(&["list"], 4, &["certificate"]);
    client.fails(&[&["run"], SHORT].concat(), 4, &["certificate"]);
    let with = |url: &str, file: &Path| {
        let mut command = client.stand.command(&["list", "--server", url]);
        ended(command.env("STEND_TOKEN", &client.token).env("STEND_SERVER_CA", file))
    };
    let distrusted = [with(&client.url, &other), with(&misnamed, &its_own)];
    for ended in &distrusted {
        assert_eq!((ended.status, ended.err.lines().count()), (Some(4), 1), "{ended:?}");
        assert!(ended.err.contains("certificate"), "{ended:?}");
    }
    assert!(asked.lock().unwrap().is_empty() && asked_too.lock().unwrap().is_empty());
    let ended = with(&client.url, &own);
    assert_eq!((ended.status, ended.out.as_str(), ended.err.as_str()), (Some(3), "a table\n", ""));
    let asked = asked.lock().unwrap();
    assert!(asked[0].to_lowercase().contains("authorization: bearer 0123456789abcdef"), "{asked:?}");
}
