//! What each command gives, as a user meets it.

use crate::common::Stand;
use crate::common::runs::{A, B, C, Runs};
use serde_json::json;

fn measured() -> Stand {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 6\nwarmup = 1", &[("small", "steady.sh 1"), ("large", "steady.sh 4")]);
    stand.fine(&["run", &suite, "--no-progress"]);
    stand
}

#[test]
fn a_run_prints_its_table_and_names_its_report() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 6", &[("small", "steady.sh 1")]);
    let ended = stand.fine(&["run", &suite, "--no-progress"]);
    assert!(ended.out.contains("small") && ended.out.contains("B/s"), "{}", ended.out);
    assert!(!ended.out.contains('\x1b'), "no colour in a pipe");
    assert!(ended.err.contains(": suite test, 1 scenario, seed "), "{}", ended.err);
    assert_eq!(ended.err.lines().filter(|line| line.starts_with('[')).count(), 7, "a line a repeat: {}", ended.err);
    let report = ended.err.lines().find_map(|line| line.strip_prefix("report: ")).unwrap();
    let page = std::fs::read_to_string(report).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("small"));
    assert!(
        !page.contains("src=\"http") && !page.contains("href=\"http") && !page.contains("url(http"),
        "it needs no network"
    );
}

/// `make run` starts the program by its path, and a command that it tells must work from there.
#[test]
fn what_a_run_tells_to_type_can_be_typed() {
    let stand = measured();
    let suite = stand.path().join("suite.toml");
    let ended = stand.fine(&["run", suite.to_str().unwrap(), "--no-progress"]);
    let told = |start: &str| ended.err.lines().find_map(|line| line.strip_prefix(start)).unwrap().to_owned();
    let ids: Vec<_> = stand.json(&["list"])["runs"].as_array().unwrap().iter().map(|run| run["id"].clone()).collect();
    let both = format!(" compare {} {}", ids[0].as_str().unwrap(), ids[1].as_str().unwrap());
    assert!(told("compare with the run before it: ").ends_with(&both), "{}", ended.err);
    for (start, result) in [("compare with the run before it: ", "against"), ("show all of this one: ", "suite test")] {
        let mut command = std::process::Command::new("sh");
        let environment = stand.command(&[]);
        command.args(["-c", &told(start)]);
        command.envs(environment.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let typed = crate::common::ended(&mut command);
        assert_eq!(typed.status, Some(0), "{}", typed.err);
        assert!(typed.out.contains(result), "{}", typed.out);
    }
}

#[test]
fn what_is_told_to_type_names_the_store_that_was_named() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1", &[("small", "steady.sh 1")]);
    let store = stand.path().join("another store");
    for named in [&["--store", store.to_str().unwrap()][..], &[&format!("--store={}", store.display())]] {
        let mut run = stand.command(&[named, &["run", &suite, "--no-progress"]].concat());
        let ended = crate::common::ended(run.env_remove("STEND_STORE"));
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        let told = ended.err.lines().find_map(|line| line.strip_prefix("show all of this one: ")).unwrap();
        let mut typed = std::process::Command::new("sh");
        let typed = crate::common::ended(typed.args(["-c", told]).env_remove("STEND_STORE").env("HOME", stand.path()));
        assert!(typed.status == Some(0) && typed.out.contains("suite test"), "{told}\n{}{}", typed.out, typed.err);
    }
}

#[test]
fn an_option_of_another_command_is_said_to_be_that_commands() {
    let stand = Stand::new();
    for (arguments, says) in [
        (
            &["report", "last", "--fail-on", "worse"][..],
            "unexpected argument '--fail-on' found; `stend compare` takes it;",
        ),
        (&["history", "x", "--fail-on", "worse"], "'--fail-on' found; `stend compare` takes it;"),
        (&["compare", "last", "-o", "x.md"], "'-o' found; `stend profile`, `stend history`, `stend report`,"),
        (&["report", "--json"], "'--json' found; --help tells more"),
        (&["report", "--undo"], "'--undo' found; --help tells more"),
        (&["compare", "a", "b", "--fial-on", "worse"], "tip: a similar argument exists: '--fail-on';"),
    ] {
        let ended = stand.run(arguments);
        assert!(
            ended.status == Some(2)
                && ended.err.lines().count() == 1
                && ended.err.contains(says)
                && !ended.err.contains("'-- "),
            "{arguments:?}: {}",
            ended.err
        );
    }
}

#[test]
fn on_a_terminal_one_line_says_what_is_done_and_how_long_it_will_take() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 6", &[("small", "steady.sh 20")]);
    let shown = stand.on_a_terminal(&["run", &suite]);
    assert!(shown.contains("/7 ") && shown.contains(" s left · small"), "{shown}");
    assert!(!shown.contains("[2/7]"), "lines of repeats are for those that keep them: {shown}");
}

/// What valid repeats lack has no figure; why, they say themselves.
#[test]
fn why_valid_repeats_lack_a_figure_is_told_where_it_would_stand() {
    let stand = Stand::new();
    let whys = ["the clock is locked away", "nobody looked in time"];
    // One is named as it is observed, one by the quantity that metrics have.
    let calls =
        [format!("lacking.sh latency_p99_ns {}", whys[0]), format!("lacking.sh controllers_cpu_ns {}", whys[1])];
    let more = "better = \"higher\" }, \
        { name = \"work\", value = \"bytes/controllers_cpu\", unit = \"B/CPU-s\", better = \"higher\", optional = true }, \
        { name = \"wait\", value = \"latency_p99_ns\", unit = \"ns\", better = \"lower\", optional = true }]";
    let head = "repeats = 2\nwarmup = 0\ntable = { column = \"metric\" }";
    let lacking = [("one", &*calls[0]), ("two", &*calls[1])];
    // A line stands for a column in which there is no figure; where there is one, the others' places are accounted for.
    for more_scenarios in [&[][..], &[("three", "lacking.sh")]] {
        let suite = stand.suite(head, &[&lacking, more_scenarios].concat());
        let text = std::fs::read_to_string(&suite).unwrap().replace("better = \"higher\" }]", more);
        std::fs::write(&suite, text).unwrap();
        let run = stand.fine(&["run", &suite, "--no-progress"]).out;
        for repeat in stand.json(&["show"])["run"]["repeats"].as_array().unwrap() {
            assert_eq!(repeat["outcome"], "valid", "{repeat:#}");
        }
        let mut told = vec![run, stand.fine(&["show"]).out];
        told.extend(["html", "md", "csv"].map(|format| stand.fine(&["report", "--format", format, "-o", "-"]).out));
        for text in told {
            assert!(whys.iter().all(|why| crate::common::runs::flat(&text).contains(why)), "{text}");
        }
    }
}

#[test]
fn what_is_written_lands_in_a_directory_that_is_there() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    stand.fine(&["run", &suite, "--quiet"]);
    for arguments in [
        &["report", "-o", "mistyped/page.html"][..],
        &["report", "-f", "svg", "-o", "mistyped/drawings"],
        &["history", "one", "-o", "mistyped/one.csv"],
        &["profile", "-o", "mistyped/one.txt"],
        &["export", "-o", "mistyped/one.gz"],
        &["pack", &suite, "-o", "mistyped/one.tar"],
        &["man", "mistyped/pages"],
    ] {
        let ended = stand.run(arguments);
        assert!(matches!(ended.status, Some(2 | 4)), "{arguments:?}: {}", ended.err);
        assert_eq!(ended.err.trim_end().lines().count(), 1, "{}", ended.err);
        assert!(!stand.path().join("mistyped").exists(), "{arguments:?}");
    }
    stand.fine(&["report", "-o", "page.html"]);
    stand.fine(&["report", "-f", "svg", "-o", "drawings"]);
}

#[test]
fn a_comparison_does_not_replace_the_report_of_a_run() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    for _ in 0..2 {
        stand.fine(&["run", &suite, "--quiet"]);
    }
    let path = |out: String| std::path::PathBuf::from(out.trim());
    let own = path(stand.fine(&["report", "last"]).out);
    let before = std::fs::read(&own).unwrap();
    let comparison = path(stand.fine(&["report", "last", "last~1"]).out);
    assert_ne!(own, comparison);
    assert!(std::fs::read_to_string(&comparison).unwrap().contains("<html"));
    assert_eq!(std::fs::read(&own).unwrap(), before);
    // Of so many that their names do not fit into one.
    (0..13).for_each(|_| drop(stand.fine(&["run", &suite, "--quiet"])));
    let runs: Vec<String> = (0..15).map(|back| format!("last~{back}")).collect();
    let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
    let many = path(stand.fine(&[&["report"][..], &runs].concat()).out);
    assert!(many.is_file());
    let names = std::fs::read_dir(own.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| name.to_str().unwrap().ends_with(".html")), "nothing half written is left");
}

#[test]
fn a_report_comes_as_a_table_too_and_is_what_compare_prints() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 2\nwarmup = 0", &[("one", "steady.sh 1")]);
    stand.fine(&["run", &suite, "--quiet"]);
    for (form, of_compare) in [("md", "markdown"), ("markdown", "markdown"), ("csv", "csv"), ("json", "json")] {
        let printed = stand.fine(&["report", "last", "--format", form, "-o", "-"]).out;
        assert_eq!(printed, stand.fine(&["compare", "last", "--format", of_compare]).out, "{form}");
        let file = stand.fine(&["report", "last", "--format", form]).out;
        assert_eq!(std::fs::read_to_string(file.trim()).unwrap(), printed, "{form}");
    }
    let page = stand.fine(&["report", "last", "-o", "-"]).out;
    assert!(
        page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"),
        "the page alone, without its place"
    );
    assert!(!stand.path().join("-").exists());
}

#[test]
fn drawings_are_files_of_their_own_with_an_index() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 3\nwarmup = 0", &[("a / <b>", "steady.sh 1"), ("two", "steady.sh 2")]);
    stand.fine(&["run", &suite, "--quiet"]);
    let place = stand.path().join("drawings");
    let told =
        stand.fine(&["report", "last", "--format", "svg", "--language", "ru", "-o", place.to_str().unwrap()]).out;
    assert_eq!(told.trim(), place.to_str().unwrap());
    let index = std::fs::read_to_string(place.join("index.md")).unwrap();
    let names: Vec<_> =
        std::fs::read_dir(&place).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    let drawings: Vec<_> = names.iter().filter(|name| name.ends_with(".svg")).collect();
    assert!(
        names.contains(&"a-b-repeats.svg".to_owned()) && names.contains(&"two-repeats.svg".to_owned()),
        "{names:?}"
    );
    assert_eq!(drawings.len() + 1, names.len(), "drawings and their index: {names:?}");
    for name in drawings {
        assert_eq!(index.matches(&format!("]({name})")).count(), 1, "{name}");
        let text = std::fs::read_to_string(place.join(name)).unwrap();
        let mut reader = quick_xml::Reader::from_str(&text);
        while !matches!(reader.read_event().unwrap(), quick_xml::events::Event::Eof) {}
    }
    let dots = std::fs::read_to_string(place.join("two-repeats.svg")).unwrap();
    assert!(dots.contains("xml:lang=\"ru\"") && dots.contains("Точка"), "{dots}");
    // Each metric's samples are many files, which nobody gets who did not ask.
    let of_samples = |names: &[String]| names.iter().any(|name| name.starts_with("two-cpu-time"));
    assert!(!of_samples(&names) && index.contains("Не запрошены: samples"), "{names:?}: {index}");
    let chosen = stand.path().join("chosen");
    let to = chosen.to_str().unwrap();
    stand.fine(&["report", "last", "--format", "svg", "--drawings", "samples,repeats", "-o", to]);
    let names: Vec<_> =
        std::fs::read_dir(&chosen).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.contains(&"two-repeats.svg".to_owned()) && !names.iter().any(|name| name.contains("histogram")));
    let ended = stand.run(&["report", "last", "--drawings", "repeats"]);
    assert!(ended.status == Some(2) && ended.err.contains("--format svg"), "{}", ended.err);
    let ended = stand.run(&["report", "last", "--format", "svg", "-o", "-"]);
    assert_eq!(ended.status, Some(2));
    assert!(ended.err.contains("name a directory") && ended.err.lines().count() == 1, "{}", ended.err);
}

#[test]
fn a_report_is_opened_with_what_the_desktop_has() {
    use std::os::unix::fs::PermissionsExt;
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    stand.fine(&["run", &suite, "--quiet"]);
    let tools = stand.path().join("tools");
    std::fs::create_dir(&tools).unwrap();
    let open = |arguments: &[&str]| {
        let mut command = stand.command(arguments);
        command.env("PATH", &tools).current_dir(stand.path());
        crate::common::ended(&mut command)
    };
    let ended = open(&["report", "last", "--open"]);
    assert_eq!(ended.status, Some(4), "{}", ended.err);
    assert!(ended.err.contains("xdg-open is not on the PATH") && ended.err.lines().count() == 1, "{}", ended.err);
    assert!(std::path::Path::new(ended.out.trim()).is_file(), "it is written all the same: {}", ended.out);
    let opener = tools.join("xdg-open");
    let script = |status: u32| format!("#!/bin/sh\necho \"$1\" >opened\nexit {status}\n");
    for (status, exit) in [(0, 0), (3, 4)] {
        std::fs::write(&opener, script(status)).unwrap();
        std::fs::set_permissions(&opener, PermissionsExt::from_mode(0o755)).unwrap();
        let ended = open(&["report", "last", "--open"]);
        assert_eq!(ended.status, Some(exit), "{}", ended.err);
        let opened = std::fs::read_to_string(stand.path().join("opened")).unwrap();
        assert_eq!(opened.trim(), ended.out.trim());
    }
    assert_eq!(open(&["report", "last", "--open", "-o", "-"]).status, Some(2));
}

#[test]
fn a_report_is_narrowed_and_turned_as_a_comparison_is() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1"), ("two", "steady.sh 1")]);
    for _ in 0..2 {
        stand.fine(&["run", &suite, "--quiet"]);
    }
    let ids = |arguments: &[&str]| -> Vec<String> {
        let out = stand.fine(&[arguments, &["last~1", "last", "--format", "csv", "-o", "-"][..]].concat()).out;
        out.lines().skip(1).map(str::to_owned).collect()
    };
    let (all, one) = (ids(&["report"]), ids(&["report", "--filter", "scenario:one"]));
    assert!(!one.is_empty() && one.len() < all.len(), "{one:?}");
    assert!(one.iter().all(|line| !line.contains("two")), "{one:?}");
    assert_ne!(ids(&["report", "--baseline", "last"]), all, "the other one is the base");
    let page = stand.fine(&["report", "last~1", "last", "--unit", "B/s", "--only", "unresolved", "-o", "-"]).out;
    assert!(page.contains("</html>"));
}

/// Whoever looks at a report finds a whole one, the old or the new.
#[test]
fn a_report_takes_the_place_of_the_old_one_at_once() {
    use std::os::unix::fs::symlink;
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    stand.fine(&["run", &suite, "--quiet"]);
    let shared = stand.path().join("page.html");
    symlink(stand.path().join("real.html"), &shared).unwrap();
    std::fs::write(stand.path().join("real.html"), "old").unwrap();
    let reader = std::fs::File::open(stand.path().join("real.html")).unwrap();
    stand.fine(&["report", "last", "-o", shared.to_str().unwrap()]);
    assert_eq!(std::io::read_to_string(reader).unwrap(), "old", "who has it open reads on in the old one");
    assert!(std::fs::read_to_string(stand.path().join("real.html")).unwrap().contains("<html"));
    assert!(shared.is_symlink());
    assert!(stand.fine(&["report", "last", "-o", "/dev/stdout"]).out.contains("</html>"));
}

/// What is open already belongs to somebody else, and so does what stands in it.
#[test]
fn a_report_goes_behind_what_an_open_file_holds() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    stand.fine(&["run", &suite, "--quiet"]);
    std::os::unix::fs::symlink("/dev/stdout", stand.path().join("link")).unwrap();
    // A name that leaves no room for a longer one beside it.
    let long = "x".repeat(255);
    let script = format!(
        r#"
        for name in all new long third; do echo before >$name; done
        "$STEND" report last -o /dev/stdout >>all || exit
        "$STEND" report last -o link >>all || exit
        "$STEND" report last -o /proc/self/fd/1 >new || exit
        "$STEND" report last -o /dev/fd/3 3>>third || exit
        echo old >{long}
        "$STEND" report last -o {long} || exit
        mv {long} long
        "#
    );
    let mut command = std::process::Command::new("sh");
    command.args(["-c", &script]).current_dir(stand.path());
    command.env("STEND", stand.command(&[]).get_program()).env("STEND_STORE", stand.store());
    let ended = crate::common::ended(&mut command);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let read = |name: &str| std::fs::read_to_string(stand.path().join(name)).unwrap();
    let pages = |text: &str| (text.matches("<!DOCTYPE html>").count(), text.matches("</html>").count());
    assert_eq!(pages(&read("all")), (2, 2));
    for name in ["all", "third"] {
        assert!(read(name).starts_with("before\n<!DOCTYPE html>"), "{name}");
    }
    for name in ["new", "long"] {
        let text = read(name);
        assert_eq!(pages(&text), (1, 1), "{name}");
        assert!(text.starts_with("<!DOCTYPE html>") && text.trim_end().ends_with("</html>"), "{name}");
    }
}

#[test]
fn what_a_command_leaves_running_is_said() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1"), ("two", "faulty.sh leaving")]);
    let ended = stand.fine(&["run", &suite, "--no-progress"]);
    let said = "left processes running; they were ended, and their work is in no figure: \"two\"";
    assert!(ended.out.split_whitespace().collect::<Vec<_>>().join(" ").contains(said), "{}", ended.out);
    let table = stand.json(&["show"])["run"]["table"].clone();
    let notes = table["notes"].as_array().unwrap();
    let note = notes.iter().find(|note| note["kind"] == "left_running").unwrap();
    assert_eq!(note["scenarios"], serde_json::json!(["two"]));
}

#[test]
fn every_sample_of_the_machine_is_kept() {
    let stand = Stand::new();
    let path = stand.suite("repeats = 2\nwarmup = 0", &[("one", "lasting.sh 0.5")]);
    let text = std::fs::read_to_string(&path).unwrap().replace("sample_hertz = 0", "sample_hertz = 100");
    std::fs::write(&path, text).unwrap();
    stand.fine(&["run", &path, "--quiet"]);
    let shown = stand.json(&["show"]);
    assert!(shown["run"]["samples"].as_u64().unwrap() > 100, "{}", shown["run"]["samples"]);
    let ended = stand.fine(&["show"]);
    assert!(ended.out.contains("samples"), "{}", ended.out);
}

/// What lies between two repeats belongs to neither.
#[test]
fn a_repeat_has_the_samples_of_its_own_time() {
    use std::io::Read as _;
    const HERTZ: i64 = 100;
    let stand = Stand::new();
    let path = stand.suite("repeats = 8\nwarmup = 0", &[("one", "lasting.sh 0.2")]);
    let text = std::fs::read_to_string(&path).unwrap().replace("sample_hertz = 0", &format!("sample_hertz = {HERTZ}"));
    std::fs::write(&path, text).unwrap();
    stand.fine(&["run", &path, "--quiet"]);
    let file = stand.path().join("run.gz");
    stand.fine(&["export", "last", "-o", file.to_str().unwrap()]);
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(&file).unwrap()).read_to_string(&mut text).unwrap();
    let (mut start, mut end, mut samples, mut nearest_to_end) = (0, 0, 0, i64::MAX);
    for line in text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
        if let Some(usage) = line["repeat"].get("usage") {
            start = usage["t_ns"].as_i64().unwrap();
            end = start + usage["wall_ns"].as_i64().unwrap();
        }
        let series = &line["series"]["series"];
        if series["metric"] == "cpu.user_ns_total" {
            let times: Vec<_> =
                series["times_ns"].as_array().unwrap().iter().map(|time| time.as_i64().unwrap()).collect();
            assert!(times.iter().all(|time| (start..=end).contains(time)), "{start} {end} {times:?}");
            nearest_to_end = nearest_to_end.min(times.last().map_or(i64::MAX, |last| end - last));
            samples += times.len();
        }
    }
    // A busy machine may leave samples out, and delay them, but not the last half a dozen of every repeat.
    assert!(samples > 8, "{samples}");
    assert!(nearest_to_end < 6 * 1_000_000_000 / HERTZ, "the last ones are there: {nearest_to_end} ns");
}

#[test]
fn the_same_seed_gives_the_same_order() {
    let order = |seed: &str| {
        let stand = Stand::new();
        let suite =
            stand.suite("repeats = 4\nwarmup = 0", &[("a", "steady.sh 1"), ("b", "steady.sh 1"), ("c", "steady.sh 1")]);
        stand.fine(&["run", &suite, "--quiet", "--seed", seed]);
        let shown = stand.json(&["show"]);
        let repeats = shown["run"]["repeats"].as_array().unwrap();
        repeats.iter().map(|repeat| repeat["scenario"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    let first = order("5");
    assert_eq!(first, order("5"));
    assert_ne!(first, order("6"));
}

#[test]
fn repeats_that_do_not_count_are_made_again_while_there_is_time() {
    let stand = Stand::new();
    let invalid = |head: &str, flags: &[&str]| {
        let suite = stand.suite(&format!("repeats = 3\nwarmup = 0\n{head}"), &[("one", "faulty.sh wrong")]);
        let ended = stand.run(&[&["run", &suite, "--no-progress"], flags].concat());
        assert_eq!(ended.status, Some(3), "{}\n{}", ended.out, ended.err);
        let runs = stand.json(&["list"]);
        let run = runs["runs"].as_array().unwrap().last().unwrap();
        (run["invalid"].as_u64().unwrap(), ended.err.contains("time budget"), ended.err)
    };
    let (made, said, err) = invalid("", &[]);
    assert_eq!((made, said), (6, false), "{err}");
    let (made, said, err) = invalid("time_budget = \"1ns\"", &[]);
    assert_eq!((made, said), (3, true), "what is planned is made all the same: {err}");
    let (made, said, err) = invalid("time_budget = \"1ns\"", &["--time-budget", "1h"]);
    assert_eq!((made, said), (6, false), "{err}");
}

#[test]
fn two_runs_are_compared_with_a_verdict() {
    let stand = measured();
    let suite = stand.path().join("suite.toml");
    stand.fine(&["run", suite.to_str().unwrap(), "--quiet"]);
    let table = stand.json(&["compare", "last~1", "last"]);
    let against = &table["table"]["rows"][0]["cells"][1]["against_base"];
    assert!(against["factor"].as_f64().unwrap() > 0.0);
    assert!(["better", "worse", "same", "unresolved"].contains(&against["verdict"].as_str().unwrap()));
    for format in ["markdown", "csv", "table"] {
        let out = stand.fine(&["compare", "last~1", "last", "--format", format]).out;
        assert!(out.contains("small") && out.contains("large"), "{format}: {out}");
    }
}

#[test]
fn another_run_of_the_same_id_is_told_apart_and_named_with_its_file() {
    let (stand, mould) = crate::common::with_mould();
    for (name, values) in [("one.gz", vec![1.0, 2.0]), ("other.gz", vec![1.0])] {
        mould.run("20260101-0000-000a", &[("x", values)]).write(&stand.path().join(name));
    }
    let whole = std::fs::read(stand.path().join("one.gz")).unwrap();
    std::fs::write(stand.path().join("half.gz"), &whole[..whole.len() / 2]).unwrap();
    stand.fine(&["import", "one.gz"]);
    for (name, parts) in [
        ("other.gz", ["run 20260101-0000-000a is here already", "it has 1 repeat, and the one here 2"]),
        ("half.gz", ["half.gz is cut off", "copy it again"]),
    ] {
        let ended = stand.run(&["import", name]);
        assert_eq!((ended.status, ended.err.trim_end().lines().count()), (Some(2), 1), "{}", ended.err);
        for part in parts.iter().chain([&name]) {
            assert!(ended.err.contains(part), "{}", ended.err);
        }
    }
}

#[test]
fn the_same_suite_kept_in_two_places_is_compared() {
    let stand = Stand::new();
    for place in ["here", "there"] {
        let directory = stand.path().join(place);
        std::fs::create_dir(&directory).unwrap();
        std::fs::copy(crate::common::instruments().join("steady.sh"), directory.join("steady.sh")).unwrap();
        let suite = stand.suite("repeats = 6\nwarmup = 0", &[("small", "steady.sh 1")]);
        let script = crate::common::instruments().join("steady.sh");
        let text = std::fs::read_to_string(suite).unwrap();
        let text = text.replace(script.to_str().unwrap(), "{suite_directory}/steady.sh");
        std::fs::write(directory.join("suite.toml"), text).unwrap();
        stand.fine(&["run", directory.join("suite.toml").to_str().unwrap(), "--quiet"]);
    }
    let table = stand.json(&["compare", "last~1", "last"]);
    assert!(table["table"]["rows"][0]["cells"][1]["against_base"]["verdict"].is_string(), "{table}");
    let out = stand.fine(&["compare", "last~1", "last"]).out;
    assert!(out.contains("the same work in another place"), "{out}");

    let script = stand.path().join("there/steady.sh");
    let text = std::fs::read_to_string(&script).unwrap() + "# edited\n";
    std::fs::write(script, text).unwrap();
    stand.fine(&["run", stand.path().join("there/suite.toml").to_str().unwrap(), "--quiet"]);
    let out = stand.fine(&["compare", "last~1", "last"]).out;
    assert!(out.contains("steady.sh has other contents"), "{out}");
}

#[test]
fn an_export_goes_round_byte_by_byte() {
    let (here, there) = (measured(), Stand::new());
    let first = here.path().join("first.gz");
    here.fine(&["export", "last", "-o", first.to_str().unwrap()]);
    there.fine(&["import", first.to_str().unwrap()]);
    there.fine(&["import", first.to_str().unwrap()]);
    let second = there.path().join("second.gz");
    there.fine(&["export", "last", "-o", second.to_str().unwrap()]);
    assert_eq!(std::fs::read(&first).unwrap(), std::fs::read(&second).unwrap());
    assert_eq!(here.json(&["show"])["run"]["repeats"], there.json(&["show"])["run"]["repeats"]);
}

#[test]
fn all_that_print_data_print_json() {
    let stand = measured();
    for arguments in [
        vec!["list"],
        vec!["show"],
        vec!["compare", "last"],
        vec!["probe"],
        vec!["suites"],
        vec!["suites", "quick"],
        vec!["references"],
        vec!["references", "on-the-way-to-the-summit"],
    ] {
        assert_eq!(stand.json(&arguments)["schema_version"], 1, "{arguments:?}");
    }
    for arguments in [["check", "--json"], ["doctor", "--json"]] {
        let ended = stand.run(&arguments);
        let json: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
        assert!(!json["findings"].as_array().unwrap().is_empty());
    }
}

#[test]
fn the_fingerprint_is_the_same_twice() {
    let stand = Stand::new();
    let (first, second) = (stand.json(&["probe"]), stand.json(&["probe"]));
    for part in ["hardware", "software"] {
        assert_eq!(first["machine"][part], second["machine"][part]);
    }
    assert!(stand.fine(&["probe"]).out.lines().count() >= 5);
}

#[test]
fn completions_and_manual_pages_come_from_the_same_definitions() {
    let stand = Stand::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(stand.fine(&["completions", shell]).out.contains("STEND_COMPLETE"), "{shell}");
    }
    assert!(stand.fine(&["man"]).out.contains(".TH stend"));
    stand.fine(&["man", "pages"]);
    assert!(stand.path().join("pages/stend-compare.1").is_file());
}

/// A real bash completes with what the program prints for it.
#[test]
fn a_shell_completes_what_is_there() {
    let runs = Runs::new();
    runs.add(&[runs.run(A, &[("x", 1.0)]).on("desk"), runs.run(B, &[("x", 1.0)])]);
    let stand = &runs.stand;
    runs.add(&[runs.run(C, &[("x", 1.0)]).on("de$(touch sk)")]);
    stand.fine(&["label", A, "before"]);
    stand.fine(&["hosts", "add", "board", "root@board"]);
    std::fs::write(stand.path().join("mine.toml"), "").unwrap();
    let program = stand.command(&[]).get_program().to_owned();
    let complete = |line: &str| {
        let script = format!(
            "source <(stend completions bash); COMP_WORDS=({line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMP_TYPE=9\n\
             _clap_complete_stend stend \"${{COMP_WORDS[COMP_CWORD]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let mut command = std::process::Command::new("bash");
        let directory = std::path::Path::new(&program).parent().unwrap().display().to_string();
        let path = format!("{directory}:{}", std::env::var("PATH").unwrap());
        command.args(["-c", &script]).env("PATH", path).env("STEND_STORE", stand.store()).current_dir(stand.path());
        let ended = crate::common::ended(&mut command);
        assert_eq!((ended.status, ended.err.as_str()), (Some(0), ""), "{line}");
        ended.out.lines().map(|word| word.trim().to_owned()).collect::<Vec<_>>()
    };
    for (line, wanted) in [
        ("stend sh", &["show"][..]),
        ("stend show ''", &["before", A, B]),
        ("stend rm --sto", &["--store"]),
        ("stend compare be", &["before"]),
        ("stend compare de", &["desk"]),
        ("stend compare on-the", &["on-the-way-to-the-summit"]),
        ("stend resume ''", &[]),
        ("stend run q", &["quick"]),
        ("stend run ./m", &["./mine.toml"]),
        ("stend run --on b", &["board"]),
        ("stend run --on local,b", &["local,board"]),
        ("stend run summit --only m", &["magma"]),
        ("stend run --only g", &["gzip"]),
        ("stend list --machine d", &["desk"]),
        ("stend --store nowhere show ''", &[]),
    ] {
        let found = complete(line);
        assert!(wanted.iter().all(|word| found.iter().any(|one| one == word)), "{line}: {found:?}");
        assert!(!found.iter().any(|word| word.contains('$')), "what is no plain word is not completed: {found:?}");
        assert!(
            !wanted.is_empty() || found.iter().all(|word| word.starts_with('-') || word.is_empty()),
            "{line}: {found:?}"
        );
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let stand = measured();
    let stend = stand.command(&["show", "--json"]);
    let program = stend.get_program().to_str().unwrap().to_owned();
    let script = format!("\"{program}\" show --json | head -c 10 >/dev/null; echo ${{PIPESTATUS[0]}}");
    let mut command = std::process::Command::new("bash");
    command.args(["-c", &script]).env("STEND_STORE", stand.store()).current_dir(stand.path());
    let ended = crate::common::ended(&mut command);
    assert_eq!((ended.out.trim(), ended.err.as_str()), ("0", ""));
}

#[test]
fn a_dry_run_says_what_would_be_done_and_does_nothing() {
    let stand = Stand::new();
    let ended = stand.fine(&["run", "summit", "--dry-run", "--scale", "0.01"]);
    assert!(ended.out.contains("cipher=kuznyechik"), "{}", ended.out);
    assert!(!stand.store().exists());
}

#[test]
fn scaled_parameters_are_said_in_the_table() {
    let stand = Stand::new();
    let path = stand.suite("repeats = 1\nwarmup = 0\nscale = { sizes = [\"unused\"] }", &[("one", "steady.sh 1")]);
    let ended = stand.fine(&["run", &path, "--scale", "0.5", "--no-progress"]);
    assert!(ended.out.contains("scaled by 0.5"), "{}", ended.out);
}

#[test]
fn runs_files_may_lie_in_the_store_itself() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    let ended = crate::common::ended(stand.command(&["run", &suite, "--quiet"]).env("STEND_WORK", stand.store()));
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert_eq!(crate::common::ended(stand.command(&["clean"]).env("STEND_WORK", stand.store())).status, Some(0));
    assert!(stand.fine(&["show"]).out.contains("finished"));
}

#[test]
fn clean_removes_what_a_killed_run_left_and_nothing_else() {
    let stand = Stand::new();
    let work = stand.path().join("work");
    for name in ["20261121-0555-3f9a/data", "precious"] {
        std::fs::create_dir_all(work.join(name)).unwrap();
    }
    stand.fine(&["clean"]);
    let left: Vec<_> = std::fs::read_dir(&work).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["precious"], "not even the file that is locked");
    assert!(!stand.path().join("machine.lock").exists());
    std::fs::remove_dir(work.join("precious")).unwrap();
    let said = stand.fine(&["clean"]).err;
    assert!(!work.exists() && said.contains(&format!("removed {}\n", work.display())), "{said}");
    assert_eq!(stand.fine(&["clean"]).err, "there is nothing to remove\n");
}

#[test]
fn clean_takes_the_cache_directory_that_a_run_made_and_none_in_which_something_is() {
    let stand = Stand::new();
    let cache = stand.path().join("home/.cache");
    let clean = || {
        std::fs::create_dir_all(cache.join("stend/20261121-0555-3f9a")).unwrap();
        let mut command = stand.command(&["clean"]);
        command.env_remove("STEND_WORK").env_remove("XDG_CACHE_HOME").env("HOME", stand.path().join("home"));
        let ended = crate::common::ended(&mut command);
        assert_eq!(ended.status, Some(0), "{}", ended.err);
        ended.err
    };
    assert!(clean().contains(&format!("removed {}, in", cache.display())) && !cache.exists());
    std::fs::create_dir_all(cache.join("other")).unwrap();
    assert!(!clean().contains("nothing was left") && cache.join("other").exists() && !cache.join("stend").exists());
}

#[test]
fn marks_are_stored_with_their_repeat_and_travel_with_it() {
    let (here, there) = (Stand::new(), Stand::new());
    let suite = here.suite("repeats = 1\nwarmup = 0", &[("two", "marked.sh 2"), ("too many", "marked.sh 1001")]);
    // Three failures in a row, and what is left of the run is kept.
    here.run(&["run", &suite, "--quiet"]);
    let shown = here.json(&["show"]);
    let repeats = shown["run"]["repeats"].as_array().unwrap();
    let of = |scenario: u64| repeats.iter().find(|repeat| repeat["scenario"] == scenario).unwrap();
    let mark = |number: u32| json!({"t_ns": number, "kind": "fault", "label": format!("disk {number} dies")});
    assert_eq!(of(0)["marks"], json!([mark(1), mark(2)]));
    assert_eq!(of(1)["outcome"]["failed"], json!({ "cause": "too_many_marks", "most": 1000 }));
    let file = here.path().join("run.stend.gz");
    let file = file.to_str().unwrap();
    here.fine(&["export", "last", "-o", file]);
    there.fine(&["import", file]);
    assert_eq!(there.json(&["show"])["run"]["repeats"], shown["run"]["repeats"]);
}
