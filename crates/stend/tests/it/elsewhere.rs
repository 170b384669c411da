//! What came from elsewhere: exports, carried results, suites and files of other people. None of it is run unasked, none of it is believed
//! beyond what it can prove.

use std::path::Path;

use crate::common::histories::Template;
use crate::common::sshd::{Sshd, parse};
use crate::common::{Gate, Stand, open_directories};
use serde_json::{Value, json};

/// A program in a directory of its own that leaves `mark` when somebody starts it.
fn trap(stand: &Stand, name: &str, mark: &Path) -> String {
    let bin = stand.path().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    crate::common::executable(&bin.join(name), &format!("#!/bin/sh\necho \"$0 $*\" >>'{}'\n", mark.display()));
    bin.display().to_string()
}

#[test]
fn an_imported_run_is_shown_and_compared_and_never_run() {
    let author = Stand::new();
    let suite = author.suite("repeats = 3\nwarmup = 0", &[("one", "steady.sh 1")]);
    author.fine(&["run", &suite, "--no-progress"]);
    let template = Template::of(&author);

    let stand = Stand::new();
    let mark = stand.path().join("ran");
    let bin = trap(&stand, "compiler", &mark);
    trap(&stand, "ssh", &mark);
    let shell = json!(["sh", "-c", format!("touch '{}'", mark.display())]);
    let open = |run: &mut Value| (run["state"], run["finished_at"]) = (json!("open"), Value::Null);
    let import = |id: &str, change: &dyn Fn(&mut Value)| {
        template.import(&stand, id, "2099-01-01T00:00:00Z", |run, _| {
            open(run);
            // What an author may also claim.
            run["imported"] = json!(false);
            change(run);
        });
    };
    import("20990101-0000-0001", &|run| run["suite"]["scenarios"][0]["instrument"]["command"] = shell.clone());
    import("20990101-0000-0002", &|run| run["build"]["program"] = json!(format!("{bin}/compiler")));
    import("20990101-0000-0003", &|run| run["host"] = json!("other"));

    let resumed = |arguments: &[&str]| {
        let mut command = stand.command(arguments);
        let path = format!("{bin}:{}", std::env::var("PATH").unwrap());
        let ended = crate::common::ended(command.env("PATH", path));
        assert!(ended.status == Some(2) && ended.err.lines().count() == 1, "{arguments:?}: {}", ended.err);
        assert!(!mark.exists(), "{arguments:?}: {}", std::fs::read_to_string(&mark).unwrap());
        ended.err
    };
    assert!(resumed(&["resume"]).contains("no run that is not finished"));
    for id in ["20990101-0000-0001", "20990101-0000-0002", "20990101-0000-0003"] {
        assert!(resumed(&["resume", id]).contains("imported"));
        let shown = stand.json(&["show", id])["run"]["run"].clone();
        assert_eq!(shown["imported"], json!(true));
        let text = stand.fine(&["show", id]).out;
        assert!(text.contains("imported") && !text.contains("stend resume"), "{text}");
    }
    let compared = stand.fine(&["compare", "20990101-0000-0001", "20990101-0000-0002"]);
    assert!(!compared.out.contains("stend resume"), "{}", compared.out);
    // It stays so wherever it goes from here.
    let again = stand.path().join("again.stend");
    stand.fine(&["export", "20990101-0000-0001", "--output", again.to_str().unwrap()]);
    assert!(stand.fine(&["import", again.to_str().unwrap()]).err.contains("is here already"));
    let third = Stand::new();
    third.fine(&["import", again.to_str().unwrap()]);
    assert!(third.run(&["resume"]).err.contains("no run that is not finished"));
    assert!(!mark.exists());
}

#[test]
fn directories_that_others_can_write_are_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    let (work, store) = (stand.path().join("work"), stand.store());
    let open = |path: &Path| {
        std::fs::create_dir_all(path).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o1777)).unwrap();
    };
    // What somebody else left there: a program to be started, and a ledger with a file to be removed.
    open(&work);
    let mark = stand.path().join("ran");
    let probe = work.join("build-0123456789abcdef/build");
    std::fs::create_dir_all(&probe).unwrap();
    crate::common::executable(&probe.join("stend-probe"), &format!("#!/bin/sh\ntouch '{}'\n", mark.display()));
    let letter = stand.path().join("letter");
    std::fs::write(&letter, "dear").unwrap();
    let target = work.join("targets/old");
    std::fs::create_dir_all(&target).unwrap();
    let line = json!({ "event": "make", "thing": "sparse_file", "path": letter, "bytes": 1 });
    std::fs::write(target.join("ledger"), format!("\n{line}\n")).unwrap();
    let refused = |arguments: &[&str], says: &[&str]| {
        let ended = stand.run(arguments);
        assert_eq!((ended.status, ended.err.lines().count()), (Some(4), 1), "{arguments:?}: {}", ended.err);
        assert!(says.iter().all(|part| ended.err.contains(part)), "{arguments:?}: {}", ended.err);
        assert!(letter.exists() && !mark.exists(), "{arguments:?}");
    };
    for arguments in
        [&["run", &suite][..], &["clean"], &["check"], &["rig", "status"], &["rig", "down", "--name", "old"]]
    {
        refused(arguments, &[work.to_str().unwrap(), "can be written by others", "STEND_WORK"]);
    }
    // By itself it is still no ledger of this target.
    std::fs::set_permissions(&work, std::fs::Permissions::from_mode(0o700)).unwrap();
    refused(&["rig", "down", "--name", "old"], &["ledger", letter.to_str().unwrap()]);
    std::fs::remove_dir_all(&work).unwrap();

    open(&store);
    for arguments in [&["run", &suite][..], &["resume"], &["hosts", "add", "other", "example.net"]] {
        refused(arguments, &[store.to_str().unwrap(), "can be written by others", "STEND_STORE"]);
    }
    // Nor is anything started or reached that is written there of a machine, by a command that stores nothing.
    let compiler = stand.path().join("own-cc");
    crate::common::executable(&compiler, &format!("#!/bin/sh\ntouch '{}'\n", mark.display()));
    let machine = format!("[[machine]]\nname = \"desk\"\ndestination = \"local\"\ncc = \"{}\"\n", compiler.display());
    std::fs::write(store.join("hosts.toml"), machine).unwrap();
    for arguments in [
        &["run", &suite, "--dry-run"][..],
        &["run", &suite, "--dry-run", "--on", "desk"],
        &["check", "--on", "desk"],
        &["probe", "--on", "desk"],
        &["clean", "--on", "desk"],
    ] {
        refused(arguments, &[store.to_str().unwrap(), "can be written by others", "STEND_STORE"]);
    }
    assert!(stand.fine(&["hosts"]).out.contains("desk"), "it may be read");
    std::fs::remove_dir_all(&store).unwrap();
    stand.fine(&["run", &suite, "--quiet"]);
    // A report is written through a link.
    let page = stand.fine(&["report"]).out;
    std::fs::remove_file(page.trim()).unwrap();
    std::os::unix::fs::symlink(&letter, page.trim()).unwrap();
    std::fs::set_permissions(&store, std::fs::Permissions::from_mode(0o777)).unwrap();
    refused(&["report"], &[store.to_str().unwrap(), "can be written by others", "STEND_STORE"]);
    assert_eq!(std::fs::read_to_string(&letter).unwrap(), "dear");
    stand.fine(&["report", "-o", "own.html"]);
}

/// What is there is named, whoever made it, and nothing of it is started.
#[test]
fn directories_that_others_can_write_are_not_used_behind_ssh_either() {
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
    let Some(sshd) = Sshd::new() else { return };
    let outer = sshd.stand.path().join("outer");
    let inner = outer.join("inner");
    let mark = sshd.stand.path().join("ran");
    let probe = inner.join("build-0123456789abcdef/build");
    std::fs::create_dir_all(&probe).unwrap();
    crate::common::executable(&probe.join("stend-probe"), &format!("#!/bin/sh\n: >'{}'\n", mark.display()));
    // A link to it is the user's own, and says nothing of where it leads.
    symlink(&inner, sshd.there()).unwrap();
    let suite = sshd.suite("0.02");
    let refused = |path: &Path, says: &str| {
        for arguments in
            [&["run", &*suite, "--on", "stand"][..], &["check", "--on", "stand"], &["clean", "--on", "stand"]]
        {
            sshd.refuses(arguments, 4, &["stand: ", &format!("{} ", path.display()), says, "STEND_WORK"]);
            assert!(!mark.exists(), "{arguments:?}");
        }
    };
    let owned_by = |path: &Path, owner: u32| chown(path, Some(owner), None).unwrap();
    let with_mode = |path: &Path, mode| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    owned_by(&inner, 65534);
    // Without `ls` a shell says that much.
    refused(&sshd.there(), "belongs to another user");
    sshd.has_all_programs();
    refused(&inner, "belongs to another user (number 65534)");
    owned_by(&inner, 0);
    owned_by(&outer, 65534);
    refused(&outer, "belongs to another user (number 65534)");
    owned_by(&outer, 0);
    for mode in [0o1777, 0o720] {
        with_mode(&inner, mode);
        refused(&inner, "can be written by others");
    }
    with_mode(&inner, 0o755);
    with_mode(&outer, 0o777);
    refused(&outer, "can be written by others");
    with_mode(&outer, 0o1777);
    sshd.fine(&["clean", "--on", "stand"]);
    assert!(!probe.exists(), "it is used, and emptied");
}

#[test]
fn what_is_made_is_for_the_user_alone() {
    let (stand, gate) = (Stand::new(), Gate::new());
    let (work, store, place) = (stand.path().join("work"), stand.store(), stand.path().join("place"));
    std::fs::create_dir(&place).unwrap();
    let name = crate::common::pools::own_name("alone");
    let target =
        ["rig", "up", "--name", &name, "--kind", "file", "--luns", "1", "--lun-size", "1MiB", "--fill", "false"];
    stand.fine(&[&target[..], &["--where", place.to_str().unwrap()]].concat());
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", &gate.after(0))]);
    let mut run = stand.command(&["run", &suite, "--quiet"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    gate.wait_until_reached();
    let made = std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().path()).next().unwrap();
    assert_eq!(open_directories(&[&work, &store, &made]), "");
    gate.open();
    assert!(run.wait().unwrap().success());
    stand.fine(&["report", "--format", "svg"]);
    assert_eq!(open_directories(&[&work, &store]), "");
    stand.fine(&["rig", "down", "--name", &name]);
}

#[test]
fn what_is_made_behind_ssh_is_for_the_user_alone() {
    let Some(sshd) = Sshd::new() else { return };
    sshd.put_program("cc", &crate::common::sshd::quick_compiler("quick 1", ""));
    let (gate, suite) = (sshd.gate(0), sshd.gated_suite());
    let sockets = sshd.stand.path().join("sockets");
    std::fs::create_dir(&sockets).unwrap();
    let mut run = sshd.command(&["run", &suite, "--on", "stand", "--even-if-unfit", "--quiet"]);
    let run =
        run.env("XDG_RUNTIME_DIR", &sockets).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
    let run = run.spawn().unwrap();
    gate.wait_until_reached();
    let made = std::fs::read_dir(&sockets).unwrap().map(|entry| entry.unwrap().path()).next().unwrap();
    assert_eq!(open_directories(&[&sshd.there(), &made]), "");
    gate.open();
    let ended = run.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

/// What no terminal may get of other people: a colour, a title, an answer that it would type, and words read backwards.
pub(crate) const HOSTILE: &str = "\u{1b}[31mred\u{1b}]0;title\u{7}\u{9b}6n\u{202e}txet\u{2066}\r";

pub(crate) fn harmless(text: &str) -> bool {
    !text.chars().any(|c| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{2066}' | '\u{1b}'))
}

#[test]
fn text_of_others_does_nothing_to_a_terminal() {
    let stand = Stand::new();
    let path = stand.suite("repeats = 2\nwarmup = 0", &[("one", "steady.sh 1"), ("two", "loud.sh")]);
    crate::common::executable(
        &stand.path().join("loud.sh"),
        &format!("#!/bin/sh\nprintf '%s\\n' '{HOSTILE}' >&2; exit 1\n"),
    );
    let text = std::fs::read_to_string(&path).unwrap();
    let quoted: String = HOSTILE.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let loud = crate::common::instruments().join("loud.sh");
    let text = text
        .replace("instruments written in sh", &quoted)
        .replace("name = \"one\"", &format!("name = \"one {quoted}\""));
    std::fs::write(&path, text.replace(loud.to_str().unwrap(), stand.path().join("loud.sh").to_str().unwrap()))
        .unwrap();
    let said = |arguments: &[&str]| {
        let ended = stand.run(arguments);
        for text in [&ended.out, &ended.err] {
            assert!(harmless(text), "{arguments:?}: {text:?}");
        }
        ended.out + &ended.err
    };
    assert!(said(&["suites", &path]).contains("txet"));
    assert!(said(&["run", &path, "--dry-run"]).contains("txet"));
    let progress = stand.on_a_terminal(&["run", &path, "--only", "one", "--even-if-unfit"]);
    assert!(said(&["run", &path, "--no-progress"]).contains("txet"), "of what failed");
    // What is coloured, and what is drawn again and again, has sequences of stend's own.
    for drawn in [stand.run(&["show", "--color", "always"]).out, progress] {
        assert!(drawn.contains("\u{1b}[") && drawn.contains("txet"), "{drawn:?}");
        assert!(
            !["\u{1b}[31m", "\u{1b}]", "\u{9b}", "\u{202e}"].iter().any(|of_it| drawn.contains(of_it)),
            "{drawn:?}"
        );
    }
    let exported = stand.path().join("run.stend");
    stand.run(&["export", "last", "--output", exported.to_str().unwrap()]);
    let other = Stand::new();
    other.fine(&["import", exported.to_str().unwrap()]);
    for arguments in [&["show", "--repeats"][..], &["list"], &["compare", "last"], &["history", "one"]] {
        let ended = other.run(arguments);
        assert!(harmless(&ended.out) && harmless(&ended.err), "{arguments:?}: {:?}", ended.out + &ended.err);
    }
    // Whoever asks for data gets what there is, if it is not a terminal that gets it.
    let data = other.json(&["show"]);
    assert!(data["run"]["run"]["suite"]["title"].as_str().unwrap().contains('\u{202e}'));
    for arguments in
        [&["show", "--json"][..], &["compare", "last", "--format", "csv"], &["report", "-o", "-", "--format", "csv"]]
    {
        let (there, shown) = (other.run(arguments).out, other.on_a_terminal(arguments));
        assert!(there.contains('\u{202e}') && shown.contains("txet"), "{arguments:?}: {shown}");
        // A terminal is given a carriage return before each end of a line.
        assert!(harmless(&shown.replace("\r\n", "\n")), "{arguments:?}: {shown:?}");
    }
}

#[test]
fn a_small_file_that_unpacks_to_a_large_one_is_read_so_far_and_no_further() {
    use std::io::Write as _;
    let stand = Stand::new();
    let file = stand.path().join("bomb.stend");
    let mut gzip = flate2::write::GzEncoder::new(std::fs::File::create(&file).unwrap(), flate2::Compression::fast());
    gzip.write_all(b"{\"export\":{\"version\":1,\"run\":{\"title\":\"").unwrap();
    let part = [b'a'; 1 << 20];
    (0..300).for_each(|_| gzip.write_all(&part).unwrap());
    gzip.finish().unwrap();
    assert!(file.metadata().unwrap().len() < 4 << 20);
    let ended = stand.run(&["import", file.to_str().unwrap()]);
    assert_eq!((ended.status, ended.err.lines().count()), (Some(2), 1), "{}", ended.err);
    assert!(ended.err.contains("bomb.stend") && ended.err.contains("more than 268435456"), "{}", ended.err);
    // A carried result is not packed, but a file with holes costs nobody anything.
    let carried = stand.path().join("carried.jsonl");
    std::fs::write(&carried, "{\"event\":\"plan\",\"run\":\"").unwrap();
    std::fs::File::options().append(true).open(&carried).unwrap().set_len(300 << 20).unwrap();
    let ended = stand.run(&["import", carried.to_str().unwrap()]);
    assert_eq!((ended.status, ended.err.lines().count()), (Some(2), 1), "{}", ended.err);
    assert!(ended.err.contains("carried.jsonl") && ended.err.contains("more than 268435456"), "{}", ended.err);
}

/// A run as root, or by `su` or `sudo` without a home of one's own.
#[test]
fn the_home_of_another_user_is_not_used() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: only root can make a home for another user");
    }
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    let home = stand.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::os::unix::fs::chown(&home, Some(65_534), Some(65_534)).unwrap();
    for kept in [".cache/stend", ".local/share/stend"] {
        std::fs::create_dir_all(home.join(kept)).unwrap();
        for arguments in [&["run", &suite][..], &["clean"]] {
            let mut command = stand.command(arguments);
            for name in ["STEND_WORK", "XDG_CACHE_HOME", "STEND_STORE", "XDG_DATA_HOME"] {
                command.env_remove(name);
            }
            let ended = crate::common::ended(command.env("HOME", &home));
            assert_eq!((ended.status, ended.err.lines().count()), (Some(4), 1), "{arguments:?}: {}", ended.err);
            let owner = format!("{} belongs to another user", home.display());
            assert!(ended.err.contains(&owner), "{arguments:?}: {}", ended.err);
        }
    }
}

#[test]
fn a_stand_that_prints_without_end_is_heard_so_long_and_no_longer() {
    let Some(mut sshd) = Sshd::new() else { return };
    sshd.with_build();
    sshd.reconfigure("ForceCommand /usr/bin/yes what a login shell may print");
    sshd.refuses(&["check", "--on", "stand"], 4, &["stand", "more than 128 MiB"]);
    // So much that what is only asked is still answered, and too much before something that is followed.
    let noise = "ForceCommand /usr/bin/yes hello | /usr/bin/head -c 3000000; eval \"$SSH_ORIGINAL_COMMAND\"";
    sshd.reconfigure(noise);
    let suite = sshd.suite("0.02");
    sshd.refuses(&["run", &suite, "--on", "stand"], 4, &["login shell", "more than 1024 KiB"]);
}

/// Each line would be waited for anew.
#[test]
fn a_login_shell_that_goes_on_slowly_does_not_hold_up_the_end_of_a_repeat() {
    let Some(mut sshd) = Sshd::new() else { return };
    sshd.with_build();
    sshd.reconfigure(
        "ForceCommand case \"$SSH_ORIGINAL_COMMAND\" in *magma*) while echo hello; do /bin/sleep 0.1; done ;; esac; \
         eval \"$SSH_ORIGINAL_COMMAND\"",
    );
    let suite = sshd.suite("0.02");
    let text = std::fs::read_to_string(&suite).unwrap().replace("6h", "1s").replace("repeats = 6", "repeats = 1");
    std::fs::write(&suite, text).unwrap();
    let ended = sshd.run(&["run", &suite, "--on", "stand", "--even-if-unfit", "--no-progress"]);
    assert_eq!(ended.status, Some(3), "{}", ended.err);
    let shown = parse(&sshd.fine(&["show", "--json"]).out);
    // Nothing there can be told to end what never began.
    let cause = &shown["run"]["repeats"][0]["outcome"]["failed"]["cause"];
    assert_eq!(cause, "timed_out_alive", "{shown:#}");
}

#[test]
fn a_destination_that_ssh_or_a_shell_would_take_for_more_is_refused() {
    let stand = Stand::new();
    let mark = stand.path().join("ran");
    let path = format!("{}:{}", trap(&stand, "ssh", &mark), std::env::var("PATH").unwrap());
    let touch = format!("touch {}", mark.display());
    for destination in ["-oProxyCommand=ran".to_owned(), format!("a;{touch}"), format!("$({touch})")] {
        let on = format!("--on={destination}");
        let of_host = ["hosts", "add", "--", "other", &*destination];
        let of_name = ["hosts", "add", "--", &*destination, "example.net"];
        for arguments in [&["check", &*on][..], &["run", "quick", &on], &of_host, &of_name] {
            let ended = crate::common::ended(stand.command(arguments).env("PATH", &path));
            assert!(ended.status == Some(2) && ended.err.lines().count() == 1, "{arguments:?}: {}", ended.err);
            assert!(!mark.exists(), "{arguments:?}");
        }
    }
}

#[test]
fn what_is_not_stends_own_is_named_with_its_commands_before_root_runs_it() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("skipped: this is about root");
    }
    let stand = Stand::new();
    let mark = stand.path().join("ran");
    let script = stand.path().join("stranger.sh");
    crate::common::executable(&script, &format!("#!/bin/sh\ntouch '{}'\nexit 1\n", mark.display()));
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "stranger.sh --all")]);
    let text = std::fs::read_to_string(&suite).unwrap();
    let there = crate::common::instruments().join("stranger.sh");
    std::fs::write(&suite, text.replace(there.to_str().unwrap(), script.to_str().unwrap())).unwrap();
    let said = stand.run(&["run", &suite, "--no-progress"]).err;
    let (named, failed) = (said.find("stranger.sh --all").unwrap(), said.find("failed").unwrap());
    assert!(named < failed && said.contains("as root") && said.contains(&suite), "{said}");
    assert!(mark.exists());
    // A job file's commands are fio's to start.
    let jobs = stand.path().join("strange.fio");
    std::fs::write(&jobs, "[one]\nioengine=null\nrw=read\nsize=1m\nexec_prerun=true from a stranger\n").unwrap();
    let said = stand.run(&["run", "--fio", jobs.to_str().unwrap(), "-r", "1", "--no-progress", "--even-if-unfit"]).err;
    assert!(said.contains("strange.fio") && said.contains("exec_prerun=true from a stranger"), "{said}");
    // A target in a file has no commands but what it has made, by nbdkit and mkfs for example.
    let target = stand.path().join("strange.toml");
    std::fs::write(&target, "kind = \"file\"\nluns = 1\nlun_size = \"1MiB\"\n").unwrap();
    let path =
        crate::common::path_with(&stand, "fio", "case $* in *--name=fill*) echo no such luck >&2; exit 1 ;; esac");
    let mut run = stand.command(&[
        "run",
        "vostok-2021",
        "--scale",
        "0.0005",
        "--target",
        "strange.toml",
        "--even-if-unfit",
        "--no-progress",
    ]);
    let said = crate::common::ended(run.env("PATH", path)).err;
    let line = said.lines().find(|line| line.contains("as root")).unwrap_or_else(|| panic!("{said}"));
    assert!(
        ["not part of stend", "strange.toml", "files (", "1 LUN of 1MiB"].iter().all(|part| line.contains(part)),
        "{line}"
    );
    assert!(said.find(line).unwrap() < said.find("no such luck").unwrap(), "before anything of it is made: {said}");
    assert_eq!(said.matches("as root").count(), 1, "the suite is stend's own: {said}");
    // Its own suites are not announced, and nothing is to whoever wants to hear only what goes wrong.
    for arguments in [
        &[
            "run",
            "quick",
            "--only",
            "magma, sequential",
            "--scale",
            "0.001",
            "-r",
            "1",
            "--even-if-unfit",
            "--no-progress",
        ][..],
        &["run", &suite, "--quiet"],
    ] {
        let said = stand.run(arguments).err;
        assert!(!said.contains("as root"), "{arguments:?}: {said}");
    }
}
