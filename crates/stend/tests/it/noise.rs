//! `stend noise`: measuring, reading it off a stored run, and what `stend compare` makes of it.

use crate::common::forge::{Forged, times};
use crate::common::histories::{Template, took};
use crate::common::runs::{A, B, C, Runs};
use crate::common::{Gate, Stand, environment, in_own_mounts};
use serde_json::{Value, json};

/// A text without its lines.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A noise measurement, really made.
fn measured() -> (Stand, Value) {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 6\nwarmup = 0", &[("small", "steady.sh 1"), ("large", "steady.sh 2")]);
    let found = stand.json(&["noise", &suite, "--no-progress"])["noise"].clone();
    (stand, found)
}

#[test]
fn a_suite_is_measured_twice_over_and_there_and_back() {
    let (stand, noise) = measured();
    assert_eq!((&noise["suite"], noise["scenarios"].as_array().map(Vec::len)), (&json!("test"), Some(2)));
    for scenario in noise["scenarios"].as_array().unwrap() {
        assert_eq!(scenario["valid"], json!(12), "{scenario}");
        assert!(
            scenario["floor"].as_f64().is_some_and(|floor| floor > 0.0) && scenario["drift"].is_number(),
            "{scenario}"
        );
    }
    let run = noise["run"].as_str().unwrap();
    let template = Template::of(&stand);
    let order: Vec<_> = template.repeats().map(|repeat| repeat["scenario"].as_u64().unwrap()).collect();
    assert_eq!(order, [0, 1, 1, 0].repeat(6), "neighbours are made one soon after the other");

    let text = words(&stand.fine(&["noise", "--show"]).out);
    assert!(
        text.contains(&format!("run {run}"))
            && text.contains("floor δ drift n went with")
            && text.contains("half differ from themselves by"),
        "{text}"
    );
    assert_eq!(stand.json(&["noise", &format!("--show={run}")])["noise"], noise);
}

/// An ordinary run of "small" and "large", and copies of it that are noise measurements.
fn stand() -> (Stand, Template) {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 20\nwarmup = 0", &[("small", "steady.sh 1"), ("large", "steady.sh 2")]);
    stand.fine(&["run", &suite, "--no-progress"]);
    let template = Template::of(&stand);
    (stand, template)
}

/// Times of a scenario's repeats, 1 ms more or less: neighbours differ by `noise`, in an order that says nothing.
fn time(number: usize, noise: f64) -> f64 {
    let up = [true, false, false, true, false, true, true, false, true, false][number / 2 % 10] ^ (number % 2 == 1);
    1e6 * if up { 1.0 + noise } else { 1.0 } * (1.0 + 0.0002 * ((number * 7) % 5) as f64)
}

fn import(
    stand: &Stand,
    template: &Template,
    id: &str,
    day: u32,
    noise: bool,
    change: impl Fn(usize, usize, &mut Value),
) {
    template.import(stand, id, &format!("2026-09-{day:02}T06:00:00Z"), |run, repeats| {
        run["noise"] = json!(noise);
        let mut numbers = [0; 2];
        for repeat in repeats.iter_mut() {
            let scenario = repeat["scenario"].as_u64().unwrap() as usize;
            change(scenario, numbers[scenario], repeat);
            numbers[scenario] += 1;
        }
    });
}

/// What the machine's counters say of a repeat of 10 s: so much was taken away by the hypervisor, and used by others.
fn counters(repeat: &mut Value, steal: f64, foreign: f64) {
    let usage = &mut repeat["usage"];
    let own = usage["user_ns"].as_u64().unwrap() + usage["system_ns"].as_u64().unwrap();
    usage["machine"] = json!({
        "busy_ns": own as f64 + foreign * 1e10, "idle_ns": 1e10 * (1.0 - steal - foreign), "steal_ns": steal * 1e10, "cpus": 2.0,
    });
}

#[test]
fn what_went_with_the_worse_repeats_is_named() {
    let (stand, template) = stand();
    import(&stand, &template, "20260901-0600-0001", 1, true, |_, number, repeat| {
        // The slower by 10 % the more steal; foreign CPU time comes and goes as it likes.
        let slow = (number * 7) % 20;
        took(repeat, 1e6 * (1.0 + 0.005 * slow as f64));
        counters(repeat, 0.0005 * slow as f64, 0.01 * ((number * 3) % 7) as f64);
    });
    let noise = &stand.json(&["noise", "--show"])["noise"];
    let first = &noise["sensors"][0];
    assert_eq!(first["sensor"], json!("steal"), "{noise}");
    assert!(
        first["correlation"].as_f64().unwrap() > 0.99 && (first["most"].as_f64().unwrap() - 0.0095).abs() < 1e-4,
        "{noise}"
    );
    assert!(
        noise["scenarios"].as_array().unwrap().iter().all(|one| one["cause"]["sensor"] == json!("steal")),
        "{noise}"
    );
    let text = words(&stand.fine(&["noise", "--show"]).out);
    assert!(
        text.contains("The worse repeats had more steal, up to 0.9 % of the CPU time: rank correlation")
            && text.contains("steal 1.00"),
        "{text}"
    );
    assert!(!text.contains("more foreign"), "{text}");

    // The slower by 8 % the lower the clock was, as the instrument itself found it.
    import(&stand, &template, "20260902-0600-0001", 2, true, |_, number, repeat| {
        let slow = 1.0 + 0.004 * ((number * 7) % 20) as f64;
        took(repeat, 1e6 * slow);
        counters(repeat, 0.0, 0.01 * ((number * 3) % 7) as f64);
        repeat["report"]["observed"] = json!({ "clock_hz_before": 4e9 / slow, "clock_hz_after": 4e9 / slow });
    });
    let text = words(&stand.fine(&["noise", "--show"]).out);
    assert!(text.contains("The worse repeats had a lower clock, by up to 7.1 %: rank correlation 1.00"), "{text}");

    import(&stand, &template, "20260903-0600-0002", 3, true, |_, number, repeat| {
        took(repeat, time(number, 0.02));
        counters(repeat, 0.0, 0.01 * ((number / 2 * 3) % 7) as f64);
    });
    let text = words(&stand.fine(&["noise", "--show"]).out);
    assert!(text.contains("No sensor explains it: the worse repeats had no more"), "{text}");
    assert!(text.contains("Sensors that are missing here, or never changed: steal"), "{text}");
}

/// Others use the processors during every second repeat, as a made /proc/stat has it.
#[test]
fn load_that_comes_and_goes_is_named_and_delta_of_it_is_used() {
    let stand = Stand::new();
    let stat = stand.path().join("stat");
    std::fs::write(&stat, "cpu 1000 0 100 9000 0 0 0 0 0 0\ncpu0 0 0 0 0\ncpu1 0 0 0 0\n").unwrap();
    let suite = stand.suite("repeats = 10\nwarmup = 0", &[("work", &format!("disturbed.sh {}", stat.display()))]);
    let script =
        r#"mount --bind "$DIRECTORY/stat" /proc/stat && exec "$STEND" noise "$SUITE" --even-if-unfit --quiet --json"#;
    let (gate, mut owned) = (Gate::new(), Vec::new());
    let Some(ended) = in_own_mounts(script, &environment(&stand, &gate, &suite, &mut owned)) else { return };
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    let noise = &serde_json::from_str::<Value>(&ended.out).unwrap()["noise"];
    let foreign = noise["sensors"].as_array().unwrap().iter().find(|one| one["sensor"] == "foreign_cpu").unwrap();
    assert!(foreign["correlation"].as_f64() > Some(0.8) && foreign["q"].as_f64() < Some(0.01), "{noise}");
    let floor = noise["scenarios"][0]["floor"].as_f64().unwrap();
    assert!(floor > 0.05, "{noise}");
    let text = words(&stand.fine(&["noise", "--show"]).out);
    assert!(text.contains("is noisy") && text.contains("The worse repeats had more foreign CPU time, up to"), "{text}");

    // What was measured of the machine is the floor of comparisons on it.
    let template = Template::of(&stand);
    for (id, day) in [("20260901-0600-0001", 1), ("20260902-0600-0002", 2)] {
        import(&stand, &template, id, day, false, |_, number, repeat| took(repeat, time(number, 0.001)));
    }
    let table = stand.json(&["compare", "20260901", "20260902"])["table"].clone();
    let against = &table["rows"][0]["cells"][1]["against_base"];
    assert_eq!(
        (&against["floor_source"]["kind"], &against["floor_source"]["run"], against["floor"].as_f64()),
        (&json!("noise"), &noise["run"], Some(floor)),
        "{table}"
    );
    let text = words(&stand.fine(&["compare", "20260901", "20260902"]).out);
    assert!(text.contains("by `stend noise`, run"), "{text}");
}

#[test]
fn the_machines_own_noise_is_the_floor_of_comparisons() {
    let (stand, template) = stand();
    for (id, day, faster) in [("20260901-0600-0001", 1, 1.0), ("20260902-0600-0002", 2, 1.04)] {
        import(&stand, &template, id, day, false, |_, number, repeat| took(repeat, time(number, 0.001) / faster));
    }
    let compare = || stand.json(&["compare", "20260901", "20260902"])["table"].clone();
    let cell = |table: &Value, row: usize| table["rows"][row]["cells"][1]["against_base"].clone();
    let before = compare();
    let own =
        |table: &Value| table["notes"].as_array().unwrap().iter().find(|note| note["kind"] == "own_noise").cloned();
    assert_eq!(
        (cell(&before, 0)["verdict"].clone(), cell(&before, 0)["floor"].clone()),
        (json!("better"), json!(0.01)),
        "{before}"
    );
    assert_eq!(own(&before), None);

    // The machine differs from itself by far more in the one scenario, and by less than a hundredth in the other.
    import(&stand, &template, "20260903-0600-0003", 3, true, |scenario, number, repeat| {
        took(repeat, time(number, if scenario == 0 { 0.1 } else { 0.001 }));
    });
    let after = compare();
    let noisy = stand.json(&["noise", "--show"])["noise"]["scenarios"][0]["floor"].as_f64().unwrap();
    assert!(noisy > 0.05, "{noisy}");
    assert_eq!(
        (cell(&after, 0)["floor"].as_f64(), cell(&after, 0)["verdict"].clone()),
        (Some(noisy), json!("same")),
        "{after}"
    );
    assert_eq!(
        (cell(&after, 1)["floor"].clone(), cell(&after, 1)["verdict"].clone()),
        (json!(0.01), json!("better")),
        "{after}"
    );
    let note = own(&after).unwrap();
    assert_eq!(
        (&note["run"], &note["floors"], &note["measured_at"]),
        (&json!("20260903-0600-0003"), &json!(1), &json!("2026-09-03T06:00:00Z"))
    );
    let text = words(&stand.fine(&["compare", "20260901", "20260902"]).out);
    assert!(text.contains("measured on 2026-09-03 06:00 UTC by `stend noise`, run 20260903-0600-0003"), "{text}");

    // Another machine's noise says nothing of this one.
    template.import(&stand, "20260904-0600-0004", "2026-09-04T06:00:00Z", |run, repeats| {
        run["noise"] = json!(true);
        run["machine"]["hardware"]["processor"] = json!("E8C2");
        repeats.iter_mut().enumerate().for_each(|(number, repeat)| took(repeat, time(number / 2, 0.5)));
    });
    assert_eq!(cell(&compare(), 1)["floor"], json!(0.01));
}

#[test]
fn a_run_of_two_sides_has_one_verdict_wherever_it_is_shown() {
    let (stand, template) = stand();
    import(&stand, &template, "20260901-0600-0001", 1, true, |_, number, repeat| took(repeat, time(number, 0.1)));
    let suite = stand.path().join("suite.toml");
    let suite = suite.to_str().unwrap();
    let ran = stand.json(&["run", suite, "--ab", "name=one", "name=other", "--no-progress"])["table"].clone();
    let floor = ran["rows"][0]["cells"][1]["against_base"]["floor"].as_f64().unwrap();
    assert!(floor > 0.05, "{ran}");
    let shown = stand.json(&["show", "last"])["run"]["table"].clone();
    let compared = stand.json(&["compare", "last"])["table"].clone();
    for row in 0..2 {
        let of = |table: &Value| table["rows"][row]["cells"][1]["against_base"].clone();
        assert_eq!(of(&ran), of(&compared));
        assert_eq!(of(&shown), of(&compared));
    }
    let page = std::fs::read_dir(stand.store().join("reports")).unwrap().map(|entry| entry.unwrap().path());
    let page = page
        .filter(|path| path.extension().is_some_and(|end| end == "html"))
        .max_by_key(|path| path.metadata().unwrap().modified().unwrap());
    let page = std::fs::read_to_string(page.unwrap()).unwrap();
    assert!(page.contains("20260901-0600-0001"), "the page does not name the noise measurement");
}

#[test]
fn what_is_no_noise_measurement_is_refused() {
    let stand = Stand::new();
    let refused = |arguments: &[&str], says: &str| {
        let ended = stand.run(arguments);
        assert!(ended.status == Some(2) && ended.err.lines().count() == 1 && ended.err.contains(says), "{}", ended.err);
    };
    refused(&["noise", "--show"], "there is no noise measurement yet");
    refused(&["noise", "--show=20990101"], "no run matches \"20990101\"");
    refused(&["noise", "no-such-suite"], "no-such-suite");
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    refused(&["noise", &suite, "--ab", "", "name=other"], "nothing may change between the sides; leave --ab out");
    refused(&["noise", &suite, "--profile"], "leave --profile out");
    stand.fine(&["run", &suite, "--no-progress"]);
    refused(&["noise", "--show=last"], "is not a noise measurement");
    // Nothing could be said of so few.
    refused(&["noise", &suite], "requires 6 repeats of a scenario or more, each made twice");
    refused(&["noise", &suite, "-r", "5"], "no scenario of the suite \"test\" has so many here; -r 6 sets them");
    refused(&["noise", &suite, "-r", "5", "--dry-run"], "-r 6 sets them");
    assert_eq!(stand.json(&["list"])["runs"].as_array().map(Vec::len), Some(1), "nothing was measured");
    // One that was cut short by its time budget, or made by an older version.
    let template = Template::of(&stand);
    import(&stand, &template, "20260901-0600-0001", 1, true, |_, _, _| {});
    assert_eq!(stand.json(&["noise", "--show"])["noise"]["scenarios"][0]["floor"], Value::Null);
    assert!(stand.fine(&["noise", "--show"]).out.contains("cannot be determined"), "one repeat is too few");
}

#[test]
fn scenarios_with_too_few_repeats_are_said_to_have_no_floor() {
    let stand = Stand::new();
    let suite = stand.suite("repeats = 6\nwarmup = 0", &[("one", "steady.sh 1"), ("two", "steady.sh 1")]);
    let few = std::fs::read_to_string(&suite).unwrap().replacen("name = \"one\"\n", "name = \"one\"\nrepeats = 2\n", 1);
    std::fs::write(&suite, few).unwrap();
    let ended = stand.run(&["noise", &suite, "--no-progress"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("1 scenario has fewer than 6 repeats and will have no floor"), "{}", ended.err);
    assert!(words(&ended.out).contains("1 scenario has too few valid repeats for a floor."), "{}", ended.out);
    assert!(words(&ended.out).contains("“two” differs from itself by"), "{}", ended.out);
}

/// A noise measurement of these scenarios, of twenty repeats each; one that is called "zero" moved nothing in its fourth.
fn forged(runs: &Runs, id: &str, suite: &str, scenarios: &[&str]) -> Forged {
    let scenarios: Vec<_> = scenarios.iter().map(|name| (*name, times(1.0, 0.004, 20))).collect();
    let mut run = runs.mould.run(id, &scenarios).of_suite(suite);
    run.run["noise"] = json!(true);
    let zero = scenarios.iter().position(|(name, _)| *name == "zero");
    let of_zero = |repeat: &&mut Value| repeat["scenario"].as_u64().map(|place| place as usize) == zero;
    if let Some(repeat) = run.repeats.iter_mut().filter(of_zero).nth(3) {
        repeat["report"]["work"]["bytes"] = json!(0.0);
    }
    run
}

#[test]
fn why_there_is_no_floor_and_what_was_wrong_with_the_machine_are_said() {
    let runs = Runs::new();
    let mut unfit = forged(&runs, A, "test", &["x", "zero"]);
    let busy = json!([{ "condition": "foreign_load", "share": 0.4, "limit": null }]);
    unfit.sessions[0]["conditions"] = busy.clone();
    runs.add(&[unfit, forged(&runs, B, "other", &["zero"])]);
    let shown = runs.stand.json(&["noise", &format!("--show={A}")])["noise"].clone();
    let of = |key: &str| [0, 1].map(|place| shown["scenarios"][place][key].clone());
    assert!(of("floor")[0].is_number(), "{shown}");
    assert_eq!(of("no_floor"), [Value::Null, json!("not_positive")], "{shown}");
    assert_eq!(shown["conditions"], busy);
    let text = words(&runs.stand.fine(&["noise", &format!("--show={A}")]).out);
    assert!(
        text.contains("1 scenario has values of zero or less, which have no ratio and so no floor.")
            && !text.contains("too few")
            && text.contains(&format!("Note: {A}: measured although the machine was unfit: other programs: 40 %")),
        "{text}"
    );
    let text = words(&runs.stand.fine(&["noise", "--show"]).out);
    assert!(
        text.contains("cannot be determined: no scenario has a floor. 1 scenario has values of zero or less"),
        "{text}"
    );
    assert!(!text.contains("unfit"), "{text}");
}

#[test]
fn what_is_shown_is_of_the_suite_that_was_named() {
    let runs = Runs::new();
    runs.add(&[forged(&runs, A, "test", &["x"]), forged(&runs, B, "test", &["x"]), forged(&runs, C, "other", &["x"])]);
    let shown = |arguments: &[&str]| runs.stand.json(&[&["noise"], arguments].concat())["noise"]["run"].clone();
    assert_eq!(shown(&["--show"]), C);
    assert_eq!(shown(&["test", "--show"]), B);
    let file = runs.stand.suite("repeats = 6\nwarmup = 0", &[("x", "steady.sh 1")]);
    assert_eq!(shown(&[&file, "--show"]), B, "a file is of the suite that it describes");
    assert_eq!(shown(&["test", &format!("--show={A}")]), A);
    let refused = |arguments: &[&str], says: &[&str]| {
        let ended = runs.stand.run(&[&["noise"], arguments].concat());
        assert!(
            ended.status == Some(2) && ended.err.lines().count() == 1,
            "{arguments:?}: {}\n{}",
            ended.out,
            ended.err
        );
        assert!(says.iter().all(|part| ended.err.contains(part)), "{arguments:?}: {}", ended.err);
    };
    refused(&["quick", "--show"], &["no noise measurement of the suite \"quick\" yet", "only of other, test"]);
    refused(&["other", &format!("--show={A}")], &[A, "is of the suite \"test\""]);
    for measuring in [
        &["--only", "x"][..],
        &["-r", "20"],
        &["--dry-run"],
        &["--even-if-unfit"],
        &["--on", "elbrus"],
        &["--cc", "gcc"],
        &["--target", "file"],
    ] {
        refused(&[&["--show"], measuring].concat(), &["--show", measuring[0], "cannot be used with"]);
    }
}

#[test]
fn the_floors_of_all_metrics_are_shown_where_they_are_asked_for() {
    let runs = Runs::new();
    let mut run = forged(&runs, A, "test", &["x", "zero"]);
    for scenario in run.run["suite"]["scenarios"].as_array_mut().unwrap() {
        let metrics = scenario["metrics"].as_array_mut().unwrap();
        let mut time = metrics[0].clone();
        (time["name"], time["value"]) = (json!("time"), json!("wall"));
        (time["unit"], time["better"]) = (json!("ns"), json!("lower"));
        let mut work = metrics[0].clone();
        (work["name"], work["value"], work["unit"]) = (json!("work"), json!("bytes"), json!("B"));
        metrics.extend([time, work]);
    }
    runs.add(&[run]);
    let shown = runs.stand.json(&["noise", "--show"])["noise"].clone();
    let others = |scenario: usize| shown["scenarios"][scenario]["other_metrics"].clone();
    let floor = |one: &Value| one["floor"].as_f64().unwrap();
    assert!(
        others(0)[0]["metric"] == "time"
            && (floor(&others(0)[0]) / floor(&shown["scenarios"][0]) - 1.0).abs() < 1e-6
            && floor(&others(0)[0]) > 0.0,
        "throughput is one amount of work over that time: {shown}"
    );
    assert!(others(0)[1]["floor"] == json!(0.0) && others(1)[1]["no_floor"] == "not_positive", "{shown}");

    let text = words(&runs.stand.fine(&["noise", "--show"]).out);
    let says =
        format!("3 further metrics have floors of their own: `stend noise --show={A} --all-metrics` shows them.");
    assert!(text.contains(&says) && !text.contains("· time"), "{text}");
    let text = words(&runs.stand.fine(&["noise", &format!("--show={A}"), "--all-metrics"]).out);
    assert!(text.contains("x · throughput") && text.contains("· time") && text.contains("zero · throughput"), "{text}");
    assert!(
        text.contains("1 further metric has values of zero or less") && !text.contains("--all-metrics"),
        "what is shown is no longer pointed at: {text}"
    );
}
