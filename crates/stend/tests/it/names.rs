//! Machines by the names that the user gives them: the list beside the store, what runs keep of it, and comparing by name.

use std::fs;

use crate::common::sshd::{Sshd, parse};
use crate::common::{Ended, Stand, with_mould};
use serde_json::json;

fn says(ended: &Ended, status: i32, parts: &[&str]) {
    assert_eq!(ended.status, Some(status), "{}\n{}", ended.out, ended.err);
    for part in parts {
        assert!(ended.err.contains(part), "`{part}` is not in:\n{}", ended.err);
    }
}

#[test]
fn a_name_is_given_changed_shown_and_taken_away() {
    let stand = Stand::new();
    says(&stand.run(&["hosts"]), 0, &["no machine has a name yet", "stend hosts add NAME DESTINATION"]);
    let facts = ["--label", "rack=3", "--price", "1200 EUR", "--watts", "65", "--place", "the cellar", "--cc", "lcc"];
    stand.fine(&[&["hosts", "add", "elbrus", "root@e8c.lan"][..], &facts].concat());
    let listed = stand.json(&["hosts"]);
    let host = &listed["hosts"][0];
    assert_eq!(
        [&host["name"], &host["destination"], &host["labels"]["rack"], &host["place"], &host["cc"]],
        ["elbrus", "root@e8c.lan", "3", "the cellar", "lcc"]
    );
    assert_eq!((&host["price"]["amount"], &host["price"]["currency"]), (&json!(1200.0), &json!("EUR")));
    assert_eq!(host["power"]["loaded"], 65.0);
    let file = stand.store().join("hosts.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}\n# a person's own words\n")).unwrap();
    stand.fine(&["hosts", "set", "elbrus", "root@e16c.lan", "--label", "rack=", "--price", ""]);
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("a person's own words") && text.contains("e16c") && !text.contains("EUR"), "{text}");
    let shown = stand.fine(&["hosts", "show", "elbrus"]);
    assert!(shown.out.contains("root@e16c.lan") && shown.out.contains("run --on elbrus"), "{}", shown.out);
    // Two names of one machine are no mistake, but should be no accident.
    let twin = stand.fine(&["hosts", "add", "e16c", "root@e16c.lan"]);
    assert!(twin.err.contains("note: root@e16c.lan is named elbrus already"), "{}", twin.err);
    stand.fine(&["hosts", "remove", "e16c"]);
    // This machine has a name always.
    stand.fine(&["hosts", "set", "local", "--watts", "30"]);
    stand.fine(&["hosts", "remove", "elbrus"]);
    assert_eq!(stand.json(&["hosts"])["hosts"].as_array().unwrap().len(), 1);
    says(&stand.run(&["hosts", "remove", "elbrus"]), 2, &["no machine is named \"elbrus\"; there is local"]);
}

#[test]
fn what_is_no_name_or_no_fact_is_refused_and_nothing_is_written() {
    let stand = Stand::new();
    for (arguments, part) in [
        (&["hosts", "add", "a b", "x"][..], "is no name; write 1 to 64 letters"),
        (&["hosts", "add", "last", "x"], "is how a run is named"),
        (&["hosts", "add", "20260101-0000-000a", "x"], "is how a run is named"),
        (&["hosts", "add", "arm-wrestling", "x"], "is a reference"),
        (&["hosts", "add", "a", "--", "-oProxyCommand=id"], "no destination for ssh; write user@host"),
        (&["hosts", "add", "a", "x", "--price", "much"], "write an amount and a currency, as in \"1200 EUR\""),
        (&["hosts", "add", "a", "x", "--watts", "0"], "write watts above 0"),
        (&["hosts", "add", "a", "x", "--label", "rack"], "write NAME=VALUE"),
        (&["hosts", "add", "a", "x", "--watts", "-3"], "write watts above 0"),
        (&["hosts", "add", "a", "x", "--cc", "./lcc"], "machine \"a\": cc: ./lcc: name a compiler as it is called"),
        (&["hosts", "add", "local", "x"], "\"local\" is this machine; give the other one another name"),
        (&["run", "--on", "board,"], "\"\" is no destination for ssh; write user@host"),
        (&["run", "--on", "a b"], "\"a b\" is no destination for ssh; write user@host"),
        (&["hosts", "set", "a", "--watts", "5"], "no machine is named \"a\""),
        (&["hosts", "set", "local"], "nothing to set of local: give its DESTINATION, --label, --price, --watts"),
        (&["hosts", "set", "local", "--source", "me"], "nothing to set of local"),
        (&["hosts", "set", "local", "root@board"], "\"local\" is this machine; give the other one another name"),
        (&["hosts", "add", "a", "x", "--label", "=3"], "write NAME=VALUE, for example rack=3"),
        (&["hosts", "remove", "local"], "local is this machine always, and nothing is kept of it"),
    ] {
        says(&stand.run(arguments), 2, &[part]);
    }
    assert!(!stand.store().join("hosts.toml").exists());
    let noted = stand.fine(&["hosts", "add", "quick", "x"]);
    assert!(noted.err.contains("quick is a suite too"), "{}", noted.err);
    says(&stand.run(&["hosts", "add", "quick", "y"]), 2, &["`stend hosts set quick`"]);
    // What a person writes wrongly is said with its place, by whatever needs the file.
    fs::write(stand.store().join("hosts.toml"), "[[machine]]\nname = \"a\"\ndestnation = \"x\"\n").unwrap();
    for arguments in [&["hosts"][..], &["run", "--on", "a"], &["probe", "--on", "a"], &["clean"]] {
        says(&stand.run(arguments), 2, &["hosts.toml:3:1: unknown field `destnation`"]);
    }
}

#[test]
fn this_machine_is_found_by_each_of_its_names() {
    let (stand, mould) = with_mould();
    let suite = stand.suite("repeats = 1\nwarmup = 0", &[("one", "steady.sh 1")]);
    let run = ["run", &suite, "--even-if-unfit", "--quiet"];
    let runs = |name: &str| {
        let shown = stand.json(&["hosts", "show", name]);
        shown["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["machine"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    says(
        &stand.run(&["compare", "local"]),
        2,
        &["the machine \"local\" has no run yet; `stend run --on local` makes one"],
    );
    // A name may begin like a run's id.
    let beginning = "20260101";
    let begins = |name: &str| {
        let ended = stand.fine(&["hosts", "add", name, "board"]);
        stand.fine(&["hosts", "remove", name]);
        ended.err
    };
    assert_eq!(begins(beginning), "");
    // Another desk's `local` is another machine.
    let file = stand.path().join("other.gz");
    mould.run("20260101-0000-000a", &[("one", vec![1.0])]).of_suite("test").on("another-desk").write(&file);
    stand.fine(&["import", "other.gz"]);
    assert!(runs("local").is_empty());
    let noted = begins(beginning);
    assert!(noted.contains("run 20260101-0000-000a") && noted.contains("once it has a run"), "{noted}");
    stand.fine(&run);
    let name = runs("local")[0].clone();
    stand.fine(&["hosts", "set", "local", "--watts", "30"]);
    stand.fine(&run);
    assert_eq!(runs("local"), [&*name, &name]);
    let noted = stand.fine(&["hosts", "add", "desk", "local", "--place", "the cellar"]);
    assert!(noted.err.contains("what is known of local is kept under desk from now on"), "{}", noted.err);
    // One machine, whichever name is used for it.
    stand.fine(&["hosts", "set", "local", "--label", "rack=3"]);
    let hosts = stand.json(&["hosts"])["hosts"].clone();
    assert_eq!(hosts.as_array().unwrap().len(), 1, "{hosts}");
    let desk = &hosts[0];
    assert_eq!(
        (&desk["name"], &desk["power"]["loaded"], &desk["place"], &desk["labels"]["rack"]),
        (&json!("desk"), &json!(30.0), &json!("the cellar"), &json!("3"))
    );
    stand.fine(&run);
    let list = stand.json(&["list"])["runs"].clone();
    let id = |place: usize| list[place]["id"].as_str().unwrap();
    let (first, last) = (id(1), id(3));
    for range in ["local:..", "desk:..", &format!("{name}:.."), &format!("{first}..{last}")] {
        let columns = stand.json(&["compare", range])["table"]["columns"].clone();
        assert_eq!(columns.as_array().unwrap().len(), 1, "{range}: {columns}");
        assert_eq!(columns[0]["origin"]["sessions"], 3, "{range}");
    }
    says(
        &stand.run(&["compare", &format!("{first}..{last}"), "--suite", "nosuch"]),
        2,
        &["is of runs of the suite \"", "and --suite is nosuch"],
    );
    for one in ["local", "desk"] {
        assert_eq!(runs(one), ["desk", &name, &name], "{one}");
        assert!(stand.fine(&["hosts", "show", one]).out.starts_with("desk: local\n"));
    }
    for one in ["local", "desk", &name] {
        let compared = stand.json(&["compare", one]);
        assert_eq!(compared["table"]["columns"][0]["origin"]["id"], last, "{one}");
    }
    says(&stand.run(&["hosts", "remove", "local"]), 2, &["its other name is desk: `stend hosts remove desk`"]);
    // A file that a person wrote may have both.
    let both = "[[machine]]\nname = \"local\"\nplace = \"x\"\n[[machine]]\nname = \"desk\"\ndestination = \"local\"\n";
    fs::write(stand.store().join("hosts.toml"), both).unwrap();
    stand.fine(&run);
    assert_eq!(runs("local"), ["desk", "desk", &name, &name]);
}

#[test]
fn a_run_keeps_the_name_and_what_was_known_then() {
    let (Some(desk), Some(twin)) = (Sshd::new(), Sshd::new()) else { return };
    desk.with_build();
    twin.with_build();
    desk.knows(&twin, "twin");
    let suite = desk.suite("0.05");
    let noted = desk.fine(&["hosts", "add", "elbrus", "stand", "--price", "100 EUR", "--label", "rack=3"]);
    assert!(!noted.err.contains("note"), "{}", noted.err);
    let noted = desk.fine(&["hosts", "add", "other-name", "twin", "--price", "50 EUR"]);
    assert!(noted.err.contains("ssh has a host other-name too (127.0.0.1)"), "{}", noted.err);
    // One of before it had the name.
    desk.fine(&["run", &suite, "--on", "twin", "--even-if-unfit", "--quiet"]);
    desk.fine(&["run", &suite, "--on", "elbrus,other-name", "--even-if-unfit", "--quiet"]);
    let listed = parse(&desk.fine(&["list", "--json"]).out);
    let machines: Vec<_> = listed["runs"].as_array().unwrap()[1..].iter().map(|run| run["machine"].clone()).collect();
    assert!(machines.contains(&json!("elbrus")) && machines.contains(&json!("other-name")), "{machines:?}");
    desk.fine(&["hosts", "set", "elbrus", "--price", "400 EUR"]);
    let compared = parse(&desk.fine(&["compare", "elbrus", "other-name", "--json"]).out);
    let columns = compared["table"]["columns"].as_array().unwrap();
    for (column, name) in columns.iter().zip(["elbrus", "other-name"]) {
        assert!(column["title"].as_str().unwrap().starts_with(name), "{column}");
    }
    let sides: Vec<_> = compared["table"]["weighings"][0]["sides"]
        .as_array()
        .unwrap()
        .iter()
        .map(|side| side["amount"].clone())
        .collect();
    assert_eq!(sides, [100.0, 50.0], "as it was known when they were made");
    let elbrus = listed["runs"].as_array().unwrap().iter().find(|run| run["machine"] == "elbrus").unwrap();
    let shown = parse(&desk.fine(&["show", elbrus["id"].as_str().unwrap(), "--json"]).out);
    let run = &shown["run"]["run"];
    assert_eq!([&run["host"], &run["known"]["labels"]["rack"]], ["stand", "3"]);
    assert_ne!(run["machine"]["network_name"], serde_json::Value::Null);
    // Runs of the machine before it had its name count as its own.
    let before = desk.fine(&["hosts", "show", "other-name"]);
    assert_eq!(before.out.matches("tiny  finished").count(), 2, "{}", before.out);
    says(&desk.run(&["run", &suite, "--on", "elbrus,stand"]), 2, &["are one machine, stand"]);
    desk.fine(&["clean", "--on", "elbrus"]);
    assert!(!desk.there().exists());
}
