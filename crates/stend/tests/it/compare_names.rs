//! What can be named for `stend compare` and `stend report`: runs, machines, ranges of history, references; and which runs these names mean.

use crate::common::forge::{Forged, times};
use crate::common::runs::{A, B, C, D, Runs, flat, verdicts};
use serde_json::{Value, json};

#[test]
fn machines_are_named_for_their_newest_run_of_the_suite() {
    let runs = Runs::new();
    runs.add(&[
        runs.run(A, &[("x", 1.0)]).on("old"),
        runs.run(B, &[("x", 1.0)]).on("old"),
        runs.run(C, &[("x", 1.0)]).on("new"),
        runs.run(D, &[("y", 1.0)]).on("new").of_suite("other"),
    ]);
    let titles = |what: &[&str]| runs.titles(what);
    // The only suite that both have runs of.
    assert_eq!(titles(&["old", "new"]), [format!("old {B}"), format!("new {C}")]);
    // The suite of the run that is named.
    assert_eq!(titles(&[A, "new"]), [format!("old {A}"), format!("new {C}")]);
    assert_eq!(titles(&["new", "old", "--baseline", "old"]), [format!("old {B}"), format!("new {C}")]);
    assert_eq!(titles(&["old", "new", "--baseline", "last~1"]), [format!("new {C}"), format!("old {B}")]);
    runs.refused(&["old", "new", C], &["is named twice"]);
    assert_eq!(titles(&["new", "--suite", "other"]), ["new"]);
    // The newest suite that it has finished runs of, which is said.
    let ended = runs.compare(&["new"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("suite other, the newest that new has finished runs of; --suite takes another: test"));
    assert_eq!(runs.table(&["new"])["columns"][0]["origin"]["id"], D);
    assert_eq!(runs.table(&["new", "--suite", "test"])["columns"][0]["origin"]["id"], C);
    assert_eq!(runs.table(&["new:.."])["columns"][0]["origin"]["id"], D);
    assert_eq!(runs.table(&["2026-03-01..2026-12-31"])["columns"][0]["origin"]["id"], D);
    runs.refused(&["old", "--suite", "other"], &["\"old\" has no run of the suite \"other\"", "runs of test"]);
    runs.refused(&["nwe"], &["\"nwe\" is neither a run", "did you mean \"new\"?"]);
    runs.refused(&["last~99"], &["\"last~99\" goes back too far: there are 4 runs", "stend list"]);
    runs.refused(&["2026"], &["\"2026\" matches several runs", A, D, "give more of the id"]);
    for (word, machine) in [("old:", "old"), ("new:x", "new")] {
        let says = format!("\"{word}\": {machine} is a machine; its runs from one to another are {machine}:FROM..TO");
        runs.refused(&[word, C], &[&says, "a side is one of a run"]);
    }
    runs.refused(&["last:one"], &["\"last\": there is no run of two sides yet"]);
    runs.refused(&[A, B, "--suite", "nosuch"], &["--suite nosuch", "neither is named here; leave it out"]);
    runs.refused(&["older"], &["\"older\" is neither a run", "a machine (new, old)", "a reference (arm-wrestling"]);
    runs.refused(&["old", "new", "--baseline", A], &["not among what is compared", B, C]);
    runs.refused(&["old", "arm-wrestling", "--baseline", "arm-wrestling"], &["cannot be the base", "no samples"]);
    let mut twin = runs.run("20260501-0000-000e", &[("x", 1.0)]).on("old");
    twin.run["machine"]["hardware"]["cores"] = json!(1024);
    runs.add(&[twin]);
    runs.refused(&["old", "--suite", "test"], &["\"old\" is the name of 2 machines", B, "000e", "name a run"]);
    runs.add(&[runs.run("20260601-0000-000f", &[("x", 1.0)]).on("arm-wrestling")]);
    runs.refused(&[A, "arm-wrestling"], &["both a machine and a reference"]);
}

#[test]
fn machines_are_known_by_the_names_that_the_user_gave_them() {
    let runs = Runs::new();
    let mut by_address = runs.run(A, &[("x", 1.0)]).on("e8c.lan");
    by_address.run["host"] = json!("root@e8c");
    let mut by_name = runs.run(B, &[("x", 1.0)]).on("elbrus");
    // More memory since then: it is still what the user calls so.
    by_name.run["machine"]["hardware"]["memory_bytes"] = json!(1_u64 << 40);
    runs.add(&[by_address, by_name, runs.run(C, &[("x", 1.0)]).on("xeon")]);
    runs.stand.fine(&["hosts", "add", "elbrus", "root@e8c"]);
    runs.stand.fine(&["hosts", "add", "idle", "root@idle"]);
    assert_eq!(runs.titles(&["elbrus", "xeon"]), [format!("elbrus {B}"), format!("xeon {C}")]);
    runs.refused(&["idle", "xeon"], &["the machine \"idle\" has no run yet; `stend run --on idle`"]);
    runs.add(&[
        runs.run(D, &[("y", 1.0)]).on("elbrus").of_suite("other"),
        runs.run("20260501-0000-000e", &[("y", 1.0)]).on("xeon").of_suite("other"),
        runs.run("20260601-0000-000f", &[("x", 1.0)]).on("xeon"),
    ]);
    // Of "test" elbrus' newest is of February, of "other" the older of both is of April.
    let ended = runs.compare(&["elbrus", "xeon"]);
    assert_eq!(ended.status, Some(0), "{}", ended.err);
    assert!(ended.err.contains("suite other, the newest that all have finished runs of; --suite takes another: test"));
    assert_eq!(
        runs.titles(&["elbrus", "xeon", "--suite", "test"]),
        [format!("elbrus {B}"), "xeon 20260601-0000-000f".to_owned()]
    );
}

#[test]
fn sessions_that_differ_widen_intervals_and_are_compared_as_wholes() {
    let runs = Runs::new();
    runs.add(&[
        runs.run(A, &[("x", 1.0)]).on("old"),
        runs.run(B, &[("x", 1.01)]).on("old"),
        runs.run(C, &[("x", 1.0)]).on("new"),
        runs.run(D, &[("x", 1.2)]).on("new"),
    ]);
    let table = runs.table(&["old:..", "new:.."]);
    let cells = &table["rows"][0]["cells"];
    let interval = |cell: &Value| {
        let ends: [f64; 2] = serde_json::from_value(cell["interval"].clone()).unwrap();
        ends[1] / ends[0]
    };
    // From one session's level to the other's, and not what twenty repeats of one session would have.
    assert!(interval(&cells[0]) > 1.009 && interval(&cells[1]) > 1.19, "{cells}");
    let against = &cells[1]["against_base"];
    assert_eq!(
        (&against["verdict"], &against["counted"], &against["own_count"]),
        (&json!("unresolved"), &json!("sessions"), &json!(2)),
        "{against}"
    );
}

#[test]
fn what_too_few_repeats_would_take_is_said_as_the_least_of_it() {
    let runs = Runs::new();
    runs.add(&[runs.run(A, &[("x", 1.0)]), runs.mould.run(B, &[("x", times(1.02, 0.05, 4))])]);
    let out = runs.stand.fine(&["compare", A, B]).out;
    assert!(out.contains("≥ 5") && !out.contains("≈ 5"), "{out}");
    let why = flat(&runs.stand.fine(&["compare", A, B, "--why", "x"]).out);
    assert!(
        why.contains("A verdict requires five pairs, or five repeats on each side.") && !why.contains("about 5"),
        "{why}"
    );
    assert_eq!(runs.table(&[A, B])["rows"][0]["cells"][1]["against_base"]["needed"], 5);
}

#[test]
fn a_range_is_one_column_as_long_as_nothing_changes() {
    let runs = Runs::new();
    let mut newer = runs.run(C, &[("x", 0.5)]).on("pc");
    newer.run["machine"]["software"]["kernel"] = json!("99.1");
    runs.add(&[
        runs.run(A, &[("x", 1.0)]).on("pc"),
        runs.run(B, &[("x", 1.001)]).on("pc"),
        newer,
        runs.run(D, &[("x", 1.0)]).on("other pc"),
    ]);
    let (ab, pooled) = (format!("{A}..{B}"), format!("pc {A}..{B}"));
    assert_eq!(runs.titles(&[&format!("{A}..{C}")]), [pooled.clone(), format!("pc {C}")]);
    assert_eq!(runs.titles(&["pc:.."]), [pooled.clone(), format!("pc {C}")]);
    assert_eq!(runs.titles(&["2026-01-01..2026-02-01", C]), [pooled.clone(), format!("pc {C}")]);
    assert_eq!(runs.titles(&["pc:2026-02-01..2026-12-31"]), [format!("pc {B}"), format!("pc {C}")]);
    assert_eq!(runs.titles(&[C, &ab, "--baseline", B]), [pooled.clone(), format!("pc {C}")]);
    let out = flat(&runs.stand.fine(&["compare", &ab, C]).out);
    assert!(out.contains(&format!("{ab}: 2 runs of one machine taken together as sessions of one: {A}, {B}")), "{out}");
    assert!(out.contains("→ 99.1"), "{out}");
    let table = runs.table(&[&ab, C]);
    let origin = &table["columns"][0]["origin"];
    assert_eq!((&origin["sessions"], &origin["boots"]), (&json!(2), &json!(1)), "{origin}");
    assert_eq!(table["rows"][0]["cells"][0]["valid"], 20);
    assert!(out.contains(&format!("{pooled} 2 sessions, no boot seen in between")), "{out}");
    assert!(out.contains(&format!("against {pooled} one session each: a difference may come from the hour")), "{out}");
    assert_eq!(verdicts(&table), ["better"]);
    runs.refused(
        &["2026-01-01..2026-12-31"],
        &["holds runs of several machines: other pc, pc", "as in pc:2026-01-01..2026-12-31"],
    );
    runs.refused(&[&format!("{B}..{A}")], &["holds no finished ordinary run", "earlier end first"]);
    runs.refused(&["pc:2025-01-01..2025-12-31"], &["holds no finished ordinary run"]);
    runs.refused(&[&format!("{A}..{D}")], &["one of two machines to the other"]);
    runs.refused(&["nobody:.."], &["names the machine \"nobody\", which has no run here"]);
    runs.refused(&["pc:soon..later"], &["\"soon\" is neither a run", "a day such as 2026-11-21"]);
}

/// A run of two sides, made of an ordinary one: its repeats are those of the one and the other in turns.
fn of_two_sides(mut run: Forged) -> Forged {
    run.run["sides"] = json!([{ "label": "one" }, { "label": "other" }]);
    for (place, repeat) in run.repeats.iter_mut().enumerate() {
        (repeat["side"], repeat["number"]) = (json!(place % 2), json!(place / 2));
    }
    run
}

const E: &str = "20260501-0000-000e";

/// Two ordinary runs, then one of two sides.
fn of_every_kind() -> Runs {
    let runs = Runs::new();
    runs.add(&[
        runs.run(A, &[("x", 1.0)]).on("pc"),
        runs.run(B, &[("x", 1.0)]).on("pc"),
        of_two_sides(runs.mould.run(C, &[("x", [1.0, 0.5].repeat(10))]).on("pc")),
    ]);
    runs
}

#[test]
fn the_list_says_what_a_run_was_made_for() {
    let runs = of_every_kind();
    let kinds = |listed: &Value| -> Vec<String> {
        listed["runs"].as_array().unwrap().iter().map(|run| run["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(kinds(&runs.stand.json(&["list"])), ["run", "run", "ab"]);
    let text = runs.stand.fine(&["list"]).out;
    let line = |id: &str| text.lines().find(|line| line.starts_with(id)).unwrap().to_owned();
    assert!(text.lines().next().unwrap().contains(" kind "), "{text}");
    assert!(line(B).contains(" run ") && line(C).contains(" A/B "), "{text}");
    // Where all are ordinary runs there is nothing to tell apart.
    let ordinary = Runs::new();
    ordinary.add(&[ordinary.run(A, &[("x", 1.0)])]);
    assert!(!ordinary.stand.fine(&["list"]).out.contains("kind"));
}

#[test]
fn machines_ranges_and_last_beside_others_are_ordinary_runs() {
    let runs = of_every_kind();
    assert_eq!(runs.table(&["pc"])["columns"][0]["origin"]["id"], B);
    assert_eq!(runs.titles(&["pc:.."]), ["pc"]);
    assert_eq!(runs.table(&["pc:.."])["columns"][0]["origin"]["id"], format!("{A}..{B}"));
    assert_eq!(runs.titles(&["last~1", "last"]), [format!("pc {A}"), format!("pc {B}")]);
    let ended = runs.compare(&["last~1", "last"]);
    assert!(ended.err.contains(&format!("last: {B}, beside others runs of two sides are not")), "{}", ended.err);
    assert_eq!(runs.titles(&["last:one", "last"]), [format!("pc {C}:one"), format!("pc {B}")]);
    runs.refused(&["last~2", "last"], &["\"last~2\" goes back too far: there are 2 ordinary runs"]);
    // By itself it is the newest of all, whatever it is.
    assert_eq!(runs.titles(&["last"]), ["one", "other"]);
    assert_eq!(runs.stand.json(&["show", "last"])["run"]["run"]["id"], C);
    runs.add(&[of_two_sides(runs.mould.run(E, &[("x", [1.0, 0.5].repeat(10))]).on("quiet"))]);
    runs.refused(&["quiet", "pc"], &["the machine \"quiet\" has no ordinary run yet", E]);
}

/// What holds of a run holds of both of its sides.
#[test]
fn what_is_said_of_both_sides_is_said_once() {
    let runs = Runs::new();
    let mut run = of_two_sides(runs.mould.run(A, &[("x", [1.0, 0.5].repeat(10))]));
    run.run["suite"]["scale"] = json!(0.5);
    run.sessions[0]["conditions"] = json!([{ "condition": "power", "battery": true }]);
    runs.add(&[run]);
    let table = runs.table(&[A]);
    let of = |kind: &str| -> Vec<String> {
        let notes = table["notes"].as_array().unwrap().iter().filter(|note| note["kind"] == kind);
        notes.map(|note| note["run"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!([of("scaled"), of("unfit")], [[A], [A]], "{table}");
    assert_eq!(of("side"), [format!("{A}:one"), format!("{A}:other")]);
    // Beside another run a side is a run of its own.
    runs.add(&[runs.run(B, &[("x", 1.0)])]);
    let table = runs.table(&[B, &format!("{A}:one")]);
    let scaled = table["notes"].as_array().unwrap().iter().find(|note| note["kind"] == "scaled").unwrap();
    assert_eq!(scaled["run"], format!("{A}:one"));
}

#[test]
fn a_report_takes_what_a_comparison_takes() {
    let runs = Runs::new();
    let mut other = runs.run(C, &[("x", 0.5), ("y", 1.0)]).on("new");
    other.run["machine"]["software"]["kernel"] = json!("99.1");
    runs.add(&[
        runs.mould.with_series(runs.run(A, &[("x", 1.0), ("y", 1.0)]).on("old")),
        runs.mould.with_series(runs.run(B, &[("x", 1.001), ("y", 1.0)]).on("old")),
        other,
    ]);
    let same = |arguments: &[&str]| {
        let report = |format: &str| runs.stand.fine(&[&["report", "-o", "-", "-f", format], arguments].concat()).out;
        let compare = |format: &str| runs.stand.fine(&[&["compare", "--format", format], arguments].concat()).out;
        for format in ["md", "csv", "json"] {
            assert_eq!(report(format), compare(format), "{arguments:?} as {format}");
        }
        report("csv")
    };
    let reference = "vostok-2021";
    runs.refused(&[A, reference], &["nothing to compare"]);
    let ended = runs.stand.run(&["report", A, reference, "-o", "-"]);
    assert!(ended.status == Some(2) && ended.err.contains("nothing to compare"), "{}", ended.err);
    assert!(same(&["old:..", "new"]).contains(&format!("{A}..{B}")));
    same(&["old", "new", "--suite", "test", "--only", "better"]);
    same(&["old", "new", "--baseline", "new", "--all-metrics"]);
    let laid_out = same(&["old", "new", "--row", "metric"]);
    assert!(laid_out.starts_with("metric,column,origin,"), "{laid_out}");
    let file = runs.stand.path().join("machines.toml");
    let machine = |name: &str, watts: u32| {
        format!(
            "[[machine]]\nname = \"{name}\"\npower = {{ loaded = {watts}, of = \"the whole\", source = \"wattmeter\" }}\n"
        )
    };
    std::fs::write(&file, machine("old", 40) + &machine("new", 10)).unwrap();
    let weighed = same(&["old", "new", "--machines", file.to_str().unwrap()]);
    assert!(weighed.contains("B/s / W, the whole"), "{weighed}");
    let page = runs.stand.fine(&["report", "old:..", "new", "-o", "-"]).out;
    for words in ["2 sessions, no boot seen in between", "2 сессии, перезагрузок между ними не видно"]
    {
        assert!(page.contains(words), "the page lacks: {words}");
    }
    let ended = runs.stand.run(&["report", "old", "new", "--row", "metric", "-o", "-"]);
    assert!(
        ended.status == Some(2) && ended.err.contains("--row and --column lay out tables: give --format md"),
        "{}",
        ended.err
    );
    for (arguments, says) in [
        (&["report", "od"][..], "\"od\" is neither a run or a label (see `stend list`) nor a machine (new, old)"),
        (&["report", reference, "-o", "-"], "references cannot be compared with one another"),
    ] {
        let ended = runs.stand.run(arguments);
        assert_eq!((ended.status, ended.err.trim().lines().count()), (Some(2), 1), "{}", ended.err);
        assert!(ended.err.contains(says), "{}", ended.err);
    }
}

/// A page says by what command it was written, and that command writes the same page whatever was measured meanwhile.
#[test]
fn the_command_that_a_page_names_writes_it_again() {
    let runs = Runs::new();
    let run =
        |id: &str, machine: &str, factor: f64| runs.run(id, &[("x", factor), ("it's y", 1.0), ("z", 2.0)]).on(machine);
    runs.add(&[run(A, "old", 1.0), run(B, "old", 1.001), run(C, "new", 0.5)]);
    let file = runs.stand.path().join("machines.toml");
    let machine = "[[machine]]\nname = \"old\"\npower = { loaded = 40, of = \"the whole\", source = \"wattmeter\" }\n";
    std::fs::write(&file, machine).unwrap();
    let page_of = |arguments: &[&str]| runs.stand.fine(&[arguments, &["-o", "-"]].concat()).out;
    let parts = |page: &str| {
        let (before, footer) = page.split_once("<footer>").unwrap();
        let (_, command) = footer.split_once("<code>").unwrap();
        (before.to_owned(), command.split_once("</code>").unwrap().0.replace("&#39;", "'").replace("&#34;", "\""))
    };
    let cases: [(&[&str], &str); 4] = [
        (&["last"], &format!("stend report {C}")),
        (&["old:..", "new", "vostok-2021"], &format!("stend report {A}..{B} {C} vostok-2021")),
        (
            &["old", "new", "--baseline", "last", "--filter", "scenario:\"it's y\" OR scenario:x", "--unit", "B/s"],
            &format!("stend report {B} {C} --baseline {C} --filter 'scenario:\"it'\\''s y\" OR scenario:x' --unit B/s"),
        ),
        (
            &["old", "new", "--only", "better", "--machines", file.to_str().unwrap()],
            &format!("stend report {B} {C} --only better --machines {}", file.display()),
        ),
    ];
    let mut written = Vec::new();
    for (arguments, expected) in &cases {
        let (page, command) = parts(&page_of(&[&["report"], *arguments].concat()));
        assert_eq!(command, *expected);
        written.push((page, command));
    }
    runs.add(&[run(D, "new", 0.7)]);
    for (page, command) in written {
        let mut typed = std::process::Command::new("sh");
        let stend = runs.stand.command(&[]);
        let script = format!("stend() {{ \"$STEND\" \"$@\"; }}; {command} -o -");
        typed.args(["-c", &script]).env("STEND", stend.get_program());
        typed.envs(stend.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let typed = crate::common::ended(&mut typed);
        assert_eq!(typed.status, Some(0), "{command}: {}", typed.err);
        assert!(parts(&typed.out) == (page, command.clone()), "another page by {command}");
    }
    let drawings = runs.stand.path().join("drawings");
    runs.stand.fine(&["report", "old", "new", "--filter", "scenario:x", "-f", "svg", "-o", drawings.to_str().unwrap()]);
    let index = std::fs::read_to_string(drawings.join("index.md")).unwrap();
    assert!(index.contains(&format!("`stend report {B} {D} --filter scenario:x --format svg`")), "{index}");
}
