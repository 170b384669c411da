//! What came from elsewhere: exports, carried results, suites and files of other people. None of it is run unasked, none of it is believed
//! beyond what it can prove.

use std::path::Path;

use crate::common::Stand;
use crate::common::histories::Template;
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
        [&["run", &suite][..], &["clean"], &["check"], &["target", "status"], &["target", "down", "--name", "old"]]
    {
        refused(arguments, &[work.to_str().unwrap(), "can be written by others", "STEND_WORK"]);
    }
    // By itself it is still no ledger of this target.
    std::fs::set_permissions(&work, std::fs::Permissions::from_mode(0o700)).unwrap();
    refused(&["target", "down", "--name", "old"], &["ledger", letter.to_str().unwrap()]);
    std::fs::remove_dir_all(&work).unwrap();

    open(&store);
    for arguments in [&["run", &suite][..], &["resume"], &["hosts", "add", "other", "example.net"]] {
        refused(arguments, &[store.to_str().unwrap(), "can be written by others", "STEND_STORE"]);
    }
    // What stend makes is the user's alone.
    std::fs::remove_dir_all(&store).unwrap();
    stand.fine(&["run", &suite, "--quiet"]);
    for made in [&store, &work] {
        let mode = std::fs::metadata(made).map(|found| found.permissions().mode() & 0o777);
        assert_eq!(mode.unwrap(), 0o700, "{}", made.display());
    }
}
