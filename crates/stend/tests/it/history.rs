//! `stend history`, over stores that hold many runs.

use crate::common::Stand;
use crate::common::histories::{Template, took};
use serde_json::{Value, json};

/// Small noise that is different in each run and each repeat, and always the same.
fn noise(run: usize, repeat: usize) -> f64 {
    1.0 + 0.002 * ((run * 7 + repeat * 3) % 5) as f64
}

/// A stand with `count` runs of "small" and "large"; from the `change`-th on everything takes half as long again, under another kernel.
fn stand(count: usize, change: usize) -> (Stand, Template) {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 6\nwarmup = 0", &[("small", "steady.sh 1"), ("large", "steady.sh 2")]);
    stand.fine(&["run", &suite, "--no-progress"]);
    let template = Template::of(&stand);
    // The really measured one would be the newest: it goes into another store.
    std::fs::remove_dir_all(stand.store()).unwrap();
    for run in 0..count {
        import(
            &stand,
            &template,
            run,
            |number| if run < change { 1e6 } else { 1.5e6 } * noise(run, number),
            |document| {
                document["machine"]["software"]["kernel"] = json!(if run < change { "6.1.0" } else { "6.5.0" });
            },
        );
    }
    (stand, template)
}

fn import(stand: &Stand, template: &Template, run: usize, time: impl Fn(usize) -> f64, change: impl Fn(&mut Value)) {
    let (day, id) = (1 + run, format!("202609{:02}-0600-{run:04x}", 1 + run));
    template.import(stand, &id, &format!("2026-09-{day:02}T06:00:00Z"), |document, repeats| {
        change(document);
        repeats.iter_mut().enumerate().for_each(|(number, repeat)| took(repeat, time(number)));
    });
}

#[test]
fn a_change_of_level_is_found_with_what_else_changed_then() {
    let (stand, _) = stand(16, 9);
    let history = &stand.json(&["history", "small"])["history"];
    assert_eq!(history["points"].as_array().unwrap().len(), 16);
    let changes = history["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{history}");
    let change = &changes[0];
    assert_eq!((&change["point"], &change["improved"]), (&json!(9), &json!(false)));
    assert_eq!(
        (&change["before_run"], &change["after_run"]),
        (&json!("20260909-0600-0008"), &json!("20260910-0600-0009"))
    );
    assert!((change["ratio"].as_f64().unwrap() - 1.0 / 1.5).abs() < 0.01 && change["p"].as_f64().unwrap() < 1e-9);
    assert_eq!(change["machine"], json!([{ "what": "kernel", "before": "6.1.0", "after": "6.5.0" }]));

    let text = stand.fine(&["history", "small:throughput"]).out;
    let lines: Vec<_> = text.lines().collect();
    let blocks = lines.iter().position(|line| line.contains('█')).expect(&text);
    let drawn: Vec<_> = lines[blocks].trim().chars().take(16).collect();
    assert!(drawn[..9].iter().all(|c| "▇█".contains(*c)) && drawn[9..].iter().all(|c| "▁▂".contains(*c)), "{text}");
    assert_eq!(
        lines[blocks + 1],
        format!("{}▼", " ".repeat(2 + 9)),
        "the mark stands under the first run after it: {text}"
    );
    assert!(
        text.contains("▼ −33.") && text.contains("2026-09-10 06:00 UTC") && text.contains("kernel 6.1.0 → 6.5.0"),
        "{text}"
    );
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("(p < 10⁻⁹)") && !text.contains('\x1b'), "{text}");
    assert!(stand.fine(&["history", "small", "--color", "always"]).out.contains("\x1b[38;2;230;159;0m▼"));
}

#[test]
fn a_history_can_be_drawn_in_both_languages() {
    let (stand, _) = stand(16, 9);
    let drawing = stand.fine(&["history", "small", "--format", "svg"]).out;
    assert_eq!(drawing.matches("<circle ").count(), 16, "{drawing}");
    for said in [">1  ▼ −33.", "with run 20260910-0600-0009", "kernel 6.1.0 → 6.5.0", ">2026-09-01<", "more is better"]
    {
        assert!(drawing.contains(said), "{said}: {drawing}");
    }
    let russian = stand.fine(&["history", "small", "--format", "svg", "--language", "ru"]).out;
    for said in [">1  ▼ −33,", "с прогона 20260910-0600-0009", "ядро 6.1.0 → 6.5.0", "больше — лучше"]
    {
        assert!(russian.contains(said), "{said}: {russian}");
    }
    let path = stand.path().join("small.html");
    let printed = stand.fine(&["history", "small", "-f", "html", "-o", path.to_str().unwrap()]).out;
    let page = std::fs::read_to_string(&path).unwrap();
    assert!(
        printed.is_empty()
            && page.contains("default-src 'none'")
            && !page.contains("http:")
            && !page.contains("https:"),
        "{printed}"
    );
    assert_eq!((page.matches("<g class=\"dot ").count(), page.matches("<path class=\"flag worse\"").count()), (16, 1));
    assert!(page.contains("<title data-en=\"small: ") && page.contains("больше — лучше\">small: "), "{page}");
    assert_eq!(page.matches("<span lang=\"en\">").count(), page.matches("<span lang=\"ru\">").count());
    let (before, footer) = page.split_once("<footer>").unwrap();
    let command = footer.split_once("<code>").unwrap().1.split_once("</code>").unwrap().0;
    let words: Vec<&str> = command.strip_prefix("stend ").unwrap().split(' ').collect();
    assert!(words.starts_with(&["history", "small:throughput", "--machine"]), "{command}");
    let again = stand.fine(&words).out;
    assert!(again.split_once("<footer>").unwrap().0 == before, "{command} makes another page");
    let table = stand.path().join("small.csv");
    stand.fine(&["history", "small", "--format", "csv", "-o", table.to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(&table).unwrap(), stand.fine(&["history", "small", "--format", "csv"]).out);
    let ended = stand.run(&["history", "throughput", "--format", "svg"]);
    assert_eq!(ended.status, Some(2));
    assert!(ended.err.contains("SCENARIO:throughput") && ended.err.contains("\"small\""), "{}", ended.err);
}

#[test]
fn a_change_without_a_cause_in_the_fingerprint_says_so() {
    let (stand, template) = stand(8, 99);
    for run in 8..12 {
        import(
            &stand,
            &template,
            run,
            |number| 0.9e6 * noise(run, number),
            |document| {
                document["machine"]["software"]["kernel"] = json!("6.1.0");
            },
        );
    }
    let text = stand.fine(&["history", "small"]).out;
    assert!(text.contains("▲ +11."), "{text}");
    assert!(
        text.contains("nothing of the fingerprint changed between 20260908-0600-0007 and 20260909-0600-0008"),
        "{text}"
    );
    let page = stand.fine(&["history", "small", "--format", "markdown"]).out;
    assert!(page.contains("| ---: |") && page.contains("  - nothing of the fingerprint changed"), "{page}");
    let table = stand.fine(&["history", "small", "--format", "csv"]).out;
    let rows: Vec<Vec<_>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 13);
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{table}");
    let ratio = rows[0].iter().position(|name| *name == "change_ratio").unwrap();
    assert_eq!(rows[1..].iter().filter(|row| !row[ratio].is_empty()).count(), 1);
    assert!(rows[9][ratio].starts_with("1.11"), "{table}");
}

/// What was measured may itself be what changed: the file that a command names, the build that an instrument says, `stend`.
#[test]
fn a_change_of_what_is_measured_is_told_too() {
    let (stand, template) = stand(0, 0);
    for run in 0..12 {
        let (day, id, later) = (1 + run, format!("202609{:02}-0600-{run:04x}", 1 + run), run >= 6);
        template.import(&stand, &id, &format!("2026-09-{day:02}T06:00:00Z"), |document, repeats| {
            document["stend_version"] = json!(if later { "0.2.0" } else { "0.1.0" });
            document["suite"]["scenarios"][0]["files"] =
                json!({ "count.sh": if later { "b" } else { "a" }.repeat(64) });
            for (number, repeat) in repeats.iter_mut().enumerate() {
                repeat["begin"]["build"] = json!({ "compiler": if later { "clang" } else { "gcc" } });
                took(repeat, if later { 2e6 } else { 1e6 } * noise(run, number));
            }
        });
    }
    let text = stand.fine(&["history", "small"]).out;
    assert!(text.contains("build, compiler gcc → clang") && text.contains("stend 0.1.0 → 0.2.0"), "{text}");
    assert!(text.contains("build, count.sh aaaaaaaaaaaa → bbbbbbbbbbbb"), "{text}");
    assert!(!text.contains("nothing of the fingerprint"), "{text}");
}

/// Among noisy runs the place of a change is found to a run or two.
#[test]
fn what_changed_near_a_change_is_told_where_nothing_changed_at_it() {
    let (stand, template) = stand(0, 0);
    for run in 0..14 {
        import(
            &stand,
            &template,
            run,
            |number| if run < 7 { 1e6 } else { 1.5e6 } * noise(run, number),
            |document| {
                document["machine"]["software"]["kernel"] = json!(if run < 8 { "6.1.0" } else { "6.5.0" });
            },
        );
    }
    let change = &stand.json(&["history", "small"])["history"]["changes"][0];
    assert_eq!((&change["point"], &change["machine"]), (&json!(7), &json!([])), "{change}");
    assert_eq!(change["nearest"]["after_run"], json!("20260909-0600-0008"), "{change}");
    let words = stand.fine(&["history", "small"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = "nothing of the fingerprint changed between 20260907-0600-0006 and 20260908-0600-0007 \
                but near it, between 20260908-0600-0007 and 20260909-0600-0008: kernel 6.1.0 → 6.5.0";
    assert!(words.contains(told), "{words}");
}

#[test]
fn too_few_runs_say_how_many_more_are_needed() {
    let (stand, _) = stand(7, 3);
    let text = stand.fine(&["history", "small"]).out;
    assert!(text.contains("3 more runs are needed"), "{text}");
    let history = &stand.json(&["history", "small"])["history"];
    assert_eq!((&history["more_needed"], &history["changes"]), (&json!(3), &json!([])));
}

#[test]
fn other_machines_and_other_work_are_left_out_and_counted() {
    let (stand, template) = stand(10, 99);
    let usual = |run: usize| move |number: usize| 1e6 * noise(run, number);
    import(&stand, &template, 10, usual(10), |document| document["machine"]["hardware"]["processor"] = json!("E8C2"));
    import(&stand, &template, 11, usual(11), |document| {
        let command = &mut document["suite"]["scenarios"][0]["instrument"]["command"];
        command.as_array_mut().unwrap().push(json!("--otherwise"));
    });
    // The newest decides of which machine and which work it is.
    import(&stand, &template, 12, usual(12), |document| document["machine"]["name"] = json!("renamed"));
    let history = &stand.json(&["history", "small"])["history"];
    assert_eq!(history["points"].as_array().unwrap().len(), 11, "{history}");
    assert_eq!(
        history["left_out"],
        json!({ "other_machine": 1, "other_work": 1, "emulated": 0, "no_value": 0, "two_sides": 0 })
    );
    assert_eq!((&history["machine"], &history["changes"]), (&json!("renamed"), &json!([])));
    let text = stand.fine(&["history", "small"]).out;
    assert!(text.contains("Left out: 1 run of other hardware") && text.contains("did other work"), "{text}");
    assert!(text.contains("The level never changed."), "{text}");

    // By its name a machine is shown with all its hardware.
    let name = stand.json(&["probe"])["machine"]["name"].as_str().map(str::to_owned);
    let runs = stand.json(&["list"])["runs"].clone();
    let first = runs[0]["machine"].as_str().unwrap().to_owned();
    assert!(name.is_none_or(|name| name == first));
    let of_name = &stand.json(&["history", "small", "--machine", &first])["history"];
    assert_eq!(of_name["left_out"]["other_machine"], json!(0));
    // Also by the name that the user has for it, and by `local`.
    stand.fine(&["hosts", "add", "mine", "local"]);
    for name in ["mine", "local"] {
        let of_name = &stand.json(&["history", "small", "--machine", name])["history"];
        assert_eq!(of_name["left_out"]["other_machine"], json!(0), "{name}");
    }
    let hardware = runs[10]["hardware_id"].as_str().unwrap();
    let of_hardware = &stand.json(&["history", "small", "--machine", &hardware[..12]])["history"];
    assert_eq!(of_hardware["points"].as_array().unwrap().len(), 1);
}

#[test]
fn what_is_meant_may_be_said_in_several_ways() {
    let (stand, _) = stand(2, 99);
    for what in ["small", "small:throughput", "SMA", "sma:throughput"] {
        assert_eq!(stand.json(&["history", what])["history"]["scenario"], json!("small"), "{what}");
    }
    let text = stand.fine(&["history", "throughput", "--format", "csv"]).out;
    assert_eq!(text.lines().take(3).collect::<Vec<_>>(), ["scenario,runs", "large,2", "small,2"], "{text}");
    let scenarios = &stand.json(&["history", "throughput"])["scenarios"];
    assert_eq!(scenarios, &json!([{ "scenario": "large", "runs": 2 }, { "scenario": "small", "runs": 2 }]));
}

#[test]
fn runs_of_two_sides_are_left_out() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("small", "steady.sh 1")]);
    stand.fine(&["run", &suite, "--no-progress", "--ab", "name=one", "name=two"]);
    let id = stand.json(&["list"])["runs"][0]["id"].as_str().unwrap().to_owned();
    let ended = stand.run(&["history", "small"]);
    assert_eq!(ended.status, Some(2), "{}", ended.out);
    assert!(
        ended.err.lines().count() == 1
            && ended.err.contains("only measured in runs of two sides")
            && ended.err.contains(&id),
        "{}",
        ended.err
    );
    stand.fine(&["run", &suite, "--no-progress"]);
    let history = &stand.json(&["history", "small"])["history"];
    assert_eq!((history["points"].as_array().unwrap().len(), &history["left_out"]["two_sides"]), (1, &json!(1)));
    let text = stand.fine(&["history", "small"]).out;
    assert!(text.contains("Left out: 1 run of two sides"), "{text}");
}

#[test]
fn the_whole_name_of_a_metric_goes_before_parts_of_scenarios_names() {
    let (stand, template) = stand(0, 0);
    let rename = |document: &mut Value| {
        let scenarios = document["suite"]["scenarios"].as_array_mut().unwrap();
        scenarios.iter_mut().zip(["throughput, small", "throughput, large"]).for_each(|(scenario, name)| {
            scenario["name"] = json!(name);
        });
    };
    import(&stand, &template, 0, |_| 1e6, rename);
    let listed = &stand.json(&["history", "throughput"])["scenarios"];
    let names: Vec<_> = listed.as_array().unwrap().iter().map(|one| one["scenario"].clone()).collect();
    assert_eq!(names, [json!("throughput, large"), json!("throughput, small")]);
    let part = stand.run(&["history", "throughpu"]);
    assert_eq!(part.status, Some(2), "a part is still one of several names");
}

#[test]
fn bad_input_gets_one_line() {
    let (stand, _) = stand(1, 99);
    let refused = |arguments: &[&str], says: &[&str]| {
        let ended = stand.run(arguments);
        assert_eq!(ended.status, Some(2), "{arguments:?} {}", ended.out);
        assert!(ended.err.lines().count() == 1 && says.iter().all(|part| ended.err.contains(part)), "{}", ended.err);
    };
    refused(&["history", "troughput"], &["\"troughput\" (did you mean \"throughput\"?)"]);
    refused(&["history", "tiny"], &["\"tiny\"", "\"large\", \"small\""]);
    refused(&["history", "small:latency"], &["small", "\"latency\"", "it has \"throughput\""]);
    refused(&["history", "l"], &["several scenarios", "\"large\", \"small\""]);
    refused(&["history", "small", "--machine", "nowhere"], &["\"nowhere\"", "there are runs of"]);
    refused(&["history", ""], &["\"\"", "\"large\", \"small\""]);
    let empty = Stand::new();
    let ended = empty.run(&["history", "small"]);
    assert!(ended.status == Some(2) && ended.err.contains("there are no runs yet"), "{}", ended.err);
}

/// The runs have 80 MB of text together, five times what the command may have of its own: its program, which grows, is not counted.
#[test]
fn a_history_of_many_runs_does_not_take_the_memory_of_many() {
    let runs = crate::common::runs::Runs::new();
    let text = "words ".repeat(1 << 18);
    let of = |number: usize| {
        let id = format!("202601{:02}-{:02}00-000a", 1 + number / 24, number % 24);
        let mut run = runs.mould.run(&id, &[("one", vec![10.0 + (number % 3) as f64; 2])]);
        run.run["machine"]["raw"]["/etc/words"] = json!(text);
        run.repeats.iter_mut().for_each(|repeat| repeat["output"] = json!(text[..1 << 18]));
        run
    };
    const MANY: usize = 40;
    for first in (0..MANY).step_by(20) {
        runs.add(&(first..first + 20).map(of).collect::<Vec<_>>());
    }
    let command = runs.stand.command(&["history", "one", "--json"]);
    let mut bounded = std::process::Command::new("sh");
    bounded.args(["-c", "ulimit -d 16000 && exec \"$0\" \"$@\""]).arg(command.get_program()).args(command.get_args());
    bounded.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ended = crate::common::ended(&mut bounded);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let history: serde_json::Value = serde_json::from_str(&ended.out).unwrap();
    assert_eq!(history["history"]["points"].as_array().unwrap().len(), MANY);
}
