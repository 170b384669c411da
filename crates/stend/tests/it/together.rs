//! Several machines measured side by side from one desk, each a run of its own: a real sshd on loopback for each.

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};

use crate::common::sshd::{Sshd, parse};
use crate::common::{Ended, Gate, interrupt, wait_until};
use serde_json::Value;

/// Two machines that one desk reaches, `stand` and `twin`, both with a build.
fn two() -> Option<(Sshd, Sshd)> {
    let (desk, twin) = (Sshd::new()?, Sshd::new()?);
    desk.with_build();
    twin.with_build();
    desk.knows(&twin, "twin");
    Some((desk, twin))
}

fn start(desk: &Sshd, arguments: &[&str]) -> Child {
    desk.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn end_of(child: Child) -> Ended {
    let output = child.wait_with_output().unwrap();
    Ended {
        status: output.status.code(),
        out: String::from_utf8_lossy(&output.stdout).into_owned(),
        err: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// How many repeats each run has, by the machine that it is of.
fn repeats(desk: &Sshd, host: &str) -> u64 {
    let listed = desk.run(&["list", "--json"]);
    let runs = if listed.status == Some(0) { parse(&listed.out)["runs"].clone() } else { Value::Null };
    let of_host = |run: &&Value| run["host"] == host;
    let run = runs.as_array().into_iter().flatten().rfind(of_host).cloned().unwrap_or_default();
    run["valid"].as_u64().unwrap_or(0)
}

/// Whether it has a child.
fn has_started_something(child: &Child) -> bool {
    Command::new("pgrep").args(["-P", &child.id().to_string()]).output().unwrap().status.success()
}

/// Whether a compiler is at work there.
fn is_building(sshd: &Sshd) -> bool {
    sshd.builds().iter().any(|name| sshd.there().join(name).join("build/build_info.h").exists())
}

#[test]
fn a_machine_that_dies_costs_only_its_own_run() {
    let Some((desk, twin)) = two() else { return };
    let gates = [desk.gate(1), twin.gate(1)];
    let suite = desk.gated_suite();
    let run = start(&desk, &["run", &suite, "--on", "stand,twin", "--even-if-unfit", "--no-progress"]);
    gates.iter().for_each(Gate::wait_until_reached);
    twin.link.cut();
    gates[0].open();
    let ended = end_of(run);
    assert_eq!(ended.status, Some(4), "{}", ended.err);
    assert!(ended.err.lines().any(|line| line.starts_with("stand: [6/6] one: ")), "{}", ended.err);
    let lost = ended.err.lines().rfind(|line| line.starts_with("twin: ")).unwrap_or_default();
    assert!(lost.contains("go on with: ") && lost.contains(" resume 2"), "{}", ended.err);
    assert!(ended.out.contains("MB/s"), "the table of what came through\n{}", ended.out);
    assert_eq!(repeats(&desk, "stand"), 6);
    wait_until("nothing runs there any more", || twin.running().is_empty());
    twin.link.mend();
    gates[1].open();
    let id = lost.rsplit(' ').next().unwrap();
    desk.fine(&["resume", id, "--even-if-unfit", "--no-progress"]);
    assert_eq!(repeats(&desk, "twin"), 6);
    for host in ["stand", "twin"] {
        desk.fine(&["clean", "--on", host]);
    }
    assert!(!desk.there().exists() && !twin.there().exists());
}

#[test]
fn what_one_machine_lacks_is_said_of_it_and_the_other_is_measured() {
    let Some((desk, twin)) = two() else { return };
    fs::remove_file(twin.stand.path().join("programs/cc")).unwrap();
    let suite = desk.suite("0.05");
    let dry = desk.run(&["run", &suite, "--on", "twin,stand", "--dry-run"]);
    assert_eq!(dry.status, Some(4), "{}", dry.err);
    assert!(dry.err.lines().count() == 1 && dry.err.contains("on twin: "), "{}", dry.err);
    assert!(dry.out.contains("on stand:\n") && dry.out.contains(" in all"), "{}", dry.out);
    let run = ["run", &suite, "--on", "stand,twin", "--even-if-unfit", "--no-progress"];
    let ended = desk.run(&run);
    assert_eq!(ended.status, Some(4), "{}", ended.err);
    let last = ended.err.lines().rfind(|line| line.starts_with("twin: ")).unwrap_or_default();
    assert!(last.contains("there is no compiler cc there"), "{}", ended.err);
    // What a user can type: all that was given, for this machine.
    let again = format!(" run {suite} --on=twin --even-if-unfit --no-progress");
    assert!(last.contains("try again with: ") && last.ends_with(&again), "{last}");
    let machines = parse(&desk.run(&[&run[..], &["--json"]].concat()).out);
    assert_eq!([&machines["hosts"][0]["exit"], &machines["hosts"][1]["exit"]], [0, 4]);
    assert_eq!(machines["hosts"][1]["run"], Value::Null);
    assert_eq!(machines["table"]["columns"].as_array().unwrap()[0]["origin"]["id"], machines["hosts"][0]["run"]);
    desk.refuses(&["run", &suite, "--on", "stand,stand"], 2, &["\"stand\" twice"]);
    // What would be of no use is not advised: `doctor` looks at this machine.
    let lacking = desk.run(&["run", "quick", "--only", "gzip", "--on", "stand", "--even-if-unfit"]);
    assert_eq!(lacking.status, Some(4), "{}", lacking.err);
    assert!(lacking.err.contains("can be measured on stand; the reasons are listed above"), "{}", lacking.err);
    assert!(!lacking.err.contains("doctor"), "{}", lacking.err);
}

#[test]
fn all_that_come_through_stand_in_one_table() {
    let Some((desk, _twin)) = two() else { return };
    let suite = desk.suite("0.05");
    let run = ["run", &suite, "--on", "stand,twin,local", "--even-if-unfit", "--no-progress", "--json"];
    let mut command = desk.command(&run);
    let ended = crate::common::ended(command.env("STEND_PROBE", crate::common::probe()));
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let made = parse(&ended.out);
    let hosts: Vec<_> = made["hosts"].as_array().unwrap().iter().map(|host| host["host"].clone()).collect();
    assert_eq!(hosts, ["stand", "twin", "local"]);
    let columns = made["table"]["columns"].as_array().unwrap();
    let ids: Vec<_> = columns.iter().map(|column| &column["origin"]["id"]).collect();
    assert_eq!(ids, made["hosts"].as_array().unwrap().iter().map(|host| &host["run"]).collect::<Vec<_>>());
}

/// Two machines whose keys want two passphrases, on one terminal.
#[test]
fn what_ssh_asks_for_several_machines_it_asks_one_after_another() {
    let Some((desk, twin)) = two() else { return };
    let keys = [(&desk, "first"), (&twin, "second")].map(|(sshd, word)| {
        let key = sshd.stand.path().join("user");
        let status = Command::new("ssh-keygen").args(["-q", "-p", "-P", "", "-N", word, "-f"]).arg(&key).status();
        assert!(status.unwrap().success());
        (format!("Enter passphrase for key '{}':", key.display()), word)
    });
    let suite = desk.suite("0.05");
    let stend = desk.command(&["run", &suite, "--on", "stand,twin", "--even-if-unfit", "--no-progress"]);
    let words = std::iter::once(stend.get_program()).chain(stend.get_args());
    let line: Vec<_> = words.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
    let mut terminal = Command::new("script");
    terminal.args(["-q", "-e", "-c", &line.join(" "), "/dev/null"]).current_dir(desk.stand.path());
    for (name, value) in stend.get_envs() {
        match value {
            Some(value) => terminal.env(name, value),
            None => terminal.env_remove(name),
        };
    }
    terminal.env_remove("SSH_AUTH_SOCK").env_remove("SSH_ASKPASS").env("SHELL", "/bin/sh");
    let mut terminal = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut typed, mut shown) = (terminal.stdin.take().unwrap(), terminal.stdout.take().unwrap());
    let (mut said, mut answered) = (String::new(), 0);
    let mut some = [0; 4096];
    while let Ok(count @ 1..) = shown.read(&mut some) {
        said += &String::from_utf8_lossy(&some[..count]);
        let asked: usize = keys.iter().map(|(question, _)| said.matches(question.as_str()).count()).sum();
        assert!(asked <= answered + 1, "one after another: {said}");
        if asked > answered {
            let last = keys.iter().max_by_key(|(question, _)| said.rfind(question.as_str()).map(|at| at + 1)).unwrap();
            typed.write_all(format!("{}\n", last.1).as_bytes()).unwrap();
            answered = asked;
        }
    }
    assert_eq!((terminal.wait().unwrap().code(), answered), (Some(0), 2), "{said}");
    assert!(said.contains("stand: ssh asks") && said.contains("twin: ssh asks"), "{said}");
}

#[test]
fn ctrl_c_ends_all_and_both_can_be_gone_on_with() {
    let Some((desk, twin)) = two() else { return };
    let gates = [desk.gate(1), twin.gate(1)];
    let suite = desk.gated_suite();
    let run = start(&desk, &["run", &suite, "--on", "stand,twin", "--even-if-unfit", "--no-progress"]);
    gates.iter().for_each(Gate::wait_until_reached);
    interrupt(&run);
    let ended = end_of(run);
    assert_eq!(ended.status, Some(130), "{}", ended.err);
    let ids: Vec<_> = ["stand: ", "twin: "]
        .into_iter()
        .map(|name| {
            let said = |line: &&str| line.starts_with(name) && line.contains(" resume ");
            ended.err.lines().rfind(said).unwrap_or_else(|| panic!("{}", ended.err)).rsplit(' ').next().unwrap()
        })
        .collect();
    wait_until("nothing runs there", || desk.running().is_empty() && twin.running().is_empty());
    let left = |sshd: &Sshd| {
        fs::read_dir(sshd.there())
            .unwrap()
            .filter(|entry| {
                let name = entry.as_ref().unwrap().file_name().to_string_lossy().into_owned();
                !name.starts_with("build-") && name != "in-use.lock"
            })
            .count()
    };
    assert_eq!([left(&desk), left(&twin)], [0, 0], "no files of the runs are left there");
    gates.iter().for_each(Gate::open);
    let gone_on = desk.fine(&[&["resume"], &ids[..], &["--even-if-unfit", "--no-progress"]].concat());
    assert!(gone_on.out.contains("MB/s"));
    assert_eq!([repeats(&desk, "stand"), repeats(&desk, "twin")], [6, 6]);
    let ended = desk.run(&[&["resume"], &ids[..]].concat());
    assert_eq!((ended.status, ended.err.trim().lines().count()), (Some(2), 1), "{}", ended.err);
    assert!(ended.err.contains("is finished; there is nothing to go on with"), "{}", ended.err);
}

#[test]
fn ctrl_c_while_nothing_answers_or_is_built_is_heeded_and_leaves_nothing() {
    let Some((desk, twin)) = two() else { return };
    let suite = desk.suite("0.05");
    // A server that is stopped takes connections and says nothing.
    twin.signal("-STOP");
    for command in [
        &["run", &suite, "--on", "twin", "--even-if-unfit"][..],
        &["run", &suite, "--on", "twin,other-name", "--even-if-unfit"],
        &["probe", "--on", "twin"],
    ] {
        let child = start(&desk, command);
        wait_until("ssh connects", || has_started_something(&child));
        interrupt(&child);
        let ended = end_of(child);
        assert_eq!(ended.status, Some(130), "{command:?}: {}", ended.err);
        assert!(ended.err.contains("interrupted"), "{}", ended.err);
    }
    twin.signal("-CONT");
    // A compiler that takes its time.
    desk.fine(&["clean", "--on", "stand"]);
    let slow = desk.stand.path().join("programs/slow-cc");
    let compiler = "#!/bin/sh\ncase \" $* \" in *\" -c \"*) sleep 1 ;; esac\nexec cc \"$@\"\n";
    fs::write(&slow, compiler).unwrap();
    fs::set_permissions(&slow, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let child = start(&desk, &["run", &suite, "--on", "stand", "--even-if-unfit", "--cc", "slow-cc"]);
    wait_until("it is being built", || is_building(&desk));
    interrupt(&child);
    let ended = end_of(child);
    assert_eq!(ended.status, Some(130), "{}", ended.err);
    wait_until("nothing is built there any more", || desk.running().is_empty());
    assert!(desk.builds().is_empty(), "{:?}", desk.builds());
    // The same where the lab is killed: the build there notices.
    let mut child = start(&desk, &["run", &suite, "--on", "stand", "--even-if-unfit", "--cc", "slow-cc"]);
    wait_until("it is being built", || is_building(&desk));
    child.kill().unwrap();
    child.wait().unwrap();
    desk.link.cut();
    wait_until("what was begun there is removed", || desk.running().is_empty() && desk.builds().is_empty());
}

#[test]
fn machines_measured_in_sessions_are_compared_in_turns() {
    let Some((desk, _twin)) = two() else { return };
    let suite = desk.suite("0.01");
    let run = ["run", &*suite, "--on", "stand,twin", "--sessions", "5", "-r", "1", "--even-if-unfit", "--json"];
    let ended = desk.run(&run);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let table = parse(&ended.out)["table"].clone();
    assert_eq!(table["columns"].as_array().unwrap().len(), 2, "{table:#}");
    assert_eq!(table["columns"][1]["grade"], "sessions_in_turns");
    let against = &table["rows"][0]["cells"][1]["against_base"];
    assert_eq!((&against["counted"], &against["own_count"]), (&"sessions".into(), &5.into()), "{against:#}");
    let runs = parse(&desk.fine(&["list", "--json"]).out)["runs"].clone();
    assert_eq!(runs.as_array().unwrap().len(), 10);
    // The ranges that it names give the same columns again.
    let again = ended.err.lines().rfind(|line| line.contains(" compare ")).unwrap().to_owned();
    let ranges: Vec<&str> = again.split(" compare ").nth(1).unwrap().split(' ').collect();
    let compared = parse(&desk.fine(&[&["compare", "--json"], &ranges[..]].concat()).out)["table"].clone();
    assert_eq!(compared["columns"][1]["grade"], "sessions_in_turns");
    desk.refuses(&["run", &suite, "--sessions", "2", "--ab", "", "env.A=1"], 2, &["--sessions", "--ab"]);
}
