use std::path::Path;

use jiff::Timestamp;
use stend_model::condition::Condition;
use stend_model::profile::Profile;
use stend_model::run::RunState;
use stend_model::wire::{Label, Mark, MarkKind};

use super::export::ExportError;
use super::*;
use stend_model::profile::{Observed, Stacks};
use stend_testing::{record, repeat, series};

fn filled(directory: &Path, id: &str) -> (Store, Record) {
    let mut store = Store::open(directory).unwrap();
    let mut record = record(id, &[1.0, 2.0, 3.0]);
    let mark = |t_ns, kind, label: &str| Mark { t_ns, kind, label: Label::Said(label.into()) };
    record.repeats[1].marks =
        vec![mark(1_300_000_000, MarkKind::Fault, "disk 3 \"dies\""), mark(1_200_000_000, MarkKind::Phase, "чтение")];
    let all: Vec<_> =
        record.repeats.iter().flat_map(|repeat| series().into_iter().map(|series| (repeat.sequence, series))).collect();
    assert!(store.import(&record, &all).unwrap());
    (store, record)
}

fn exported(store: &Store, id: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_export(&store.load(id).unwrap(), &store.series(id).unwrap(), &mut bytes).unwrap();
    bytes
}

#[test]
fn what_was_stored_comes_back() {
    let directory = tempfile::tempdir().unwrap();
    let (store, record) = filled(directory.path(), "20261121-0555-aaaa");
    drop(store);
    let store = Store::open_to_read(directory.path()).unwrap();
    assert_eq!(store.load("20261121-0555-aaaa").unwrap(), record);
    assert_eq!(store.count_samples("20261121-0555-aaaa").unwrap(), 6 * 20);
    let summary = &store.list().unwrap()[0];
    assert_eq!((summary.valid, summary.invalid, summary.state), (6, 0, Some(RunState::Finished)));
}

#[test]
fn both_of_a_pair_are_kept_and_neither_twice() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let mut run = record("20261121-0555-aaaa", &[]).run;
    (run.state, run.sides) = (RunState::Open, vec!["".parse().unwrap(), "env.A=1".parse().unwrap()]);
    store.add_run(&run).unwrap();
    let of = |sequence: u32, number: u32, side| Repeat { side: Some(side), ..repeat(sequence, 0, number, 1.0) };
    for (sequence, number, side) in [(0, 0, 1), (1, 0, 0), (2, 1, 0), (3, 1, 1)] {
        store.add_repeat(&run.id, &of(sequence, number, side), &[], None).unwrap();
    }
    assert!(store.add_repeat(&run.id, &of(4, 1, 0), &[], None).is_err(), "it is there already");
    let loaded = store.load(&run.id).unwrap();
    assert_eq!(loaded.run.sides, run.sides);
    assert_eq!(loaded.repeats.iter().map(|repeat| repeat.side).collect::<Vec<_>>(), [1, 0, 0, 1].map(Some));
    // A run without sides is written as it always was, so stores of before are read.
    let plain = record("20261121-0555-bbbb", &[1.0]);
    assert!(serde_json::to_value(&plain.run).unwrap().get("sides").is_none());
    assert!(serde_json::to_value(&plain.repeats[0]).unwrap().get("side").is_none());
}

#[test]
fn an_export_with_a_repeat_of_no_side_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (store, mut record) = filled(directory.path(), "20261121-0555-aaaa");
    let series = store.series(&record.run.id).unwrap();
    let refused = |record: &Record| {
        let mut bytes = Vec::new();
        write_export(record, &series, &mut bytes).unwrap();
        read_export(&bytes[..], "x").unwrap_err().to_string()
    };
    record.repeats[2].side = Some(0);
    assert!(refused(&record).contains("repeat 2 is of no side"), "{}", refused(&record));
    record.run.sides = vec!["".parse().unwrap()];
    assert!(refused(&record).contains("it has 1 sides"), "{}", refused(&record));
}

#[test]
fn a_finished_run_cannot_be_changed() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, record) = filled(directory.path(), "20261121-0555-aaaa");
    let id = &record.run.id;
    for error in [
        store.add_repeat(id, &repeat(99, 0, 99, 1.0), &[], None).unwrap_err(),
        store.add_session(id, &Session { number: 9, ..record.sessions[0].clone() }).unwrap_err(),
        store.update_session(id, &record.sessions[0]).unwrap_err(),
        store.close_run(id, Timestamp::now(), false).unwrap_err(),
    ] {
        assert!(error.to_string().contains("finished and cannot be changed"), "{error}");
    }
    for table in ["run", "session", "repeat", "series"] {
        let removed = store.connection.execute(&format!("DELETE FROM {table}"), []);
        assert!(removed.is_err(), "{table}");
    }
    let changes = ["suite = 'x'", "host = 'x'", "valid = 99", "document = json_set(document, '$.host', 'x')"];
    for change in changes {
        assert!(store.connection.execute(&format!("UPDATE run SET {change}"), []).is_err(), "{change}");
    }
    assert_eq!(store.load(id).unwrap(), record);
}

#[test]
fn of_a_finished_run_that_was_carried_here_only_the_machines_name_can_be_changed() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let mut carried = record("20261121-0555-aaaa", &[1.0]);
    (carried.run.carried, carried.run.host) = (true, "wrong".into());
    carried.run.machine.call("wrong");
    store.import(&carried, &[]).unwrap();
    carried.run.host = "right".into();
    carried.run.machine.name = "right".into();
    assert_eq!(store.call_carried(&carried.run).unwrap().as_deref(), Some("wrong"));
    assert_eq!(store.call_carried(&carried.run).unwrap(), None);
    assert_eq!(store.load(&carried.run.id).unwrap(), carried);
    assert_eq!(store.list().unwrap()[0].machine, "right");
    let changes = [
        "suite = 'x'",
        "valid = 99",
        "state = 'open'",
        "document = json_set(document, '$.machine.hardware.cores', 99)",
    ];
    for change in changes {
        assert!(store.connection.execute(&format!("UPDATE run SET {change}"), []).is_err(), "{change}");
    }
}

#[test]
fn what_is_known_at_a_sessions_end_can_be_added() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let Record { run, sessions, .. } = record("r", &[]);
    store.add_run(&Run { state: RunState::Open, ..run }).unwrap();
    store.add_session("r", &sessions[0]).unwrap();
    let later = Session { noted: vec![Condition::ThrottlingUncounted], ..sessions[0].clone() };
    store.update_session("r", &later).unwrap();
    assert_eq!(store.load("r").unwrap().sessions, [later]);
}

/// All that is read of a run; why not, if not.
fn all_of(store: &Store, id: &str) -> Result<(Record, Vec<(u32, Series)>)> {
    Ok((store.load(id)?, store.series(id)?))
}

#[test]
fn a_byte_that_flips_in_the_file_is_an_error_or_changes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stend.db");
    let ids = ["20261121-0555-aaaa", "20261121-0601-bbbb"];
    let whole = {
        let (mut store, record) = filled(directory.path(), ids[0]);
        let series = store.series(ids[0]).unwrap();
        store.import(&Record { run: Run { id: ids[1].into(), ..record.run.clone() }, ..record }, &series).unwrap();
        // Else the newest pages are in the write-ahead log, whose own checksums see to them.
        store.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE;").unwrap();
        (ids.map(|id| all_of(&store, id).unwrap()), store.list().unwrap())
    };
    let sound = std::fs::read(&path).unwrap();
    let (mut named, mut other_readable, mut unchanged) = (0, 0, 0);
    // A step that is no divisor of a page's size, so that all places in pages come up.
    for (number, place) in (0..sound.len()).step_by(61).enumerate() {
        let mut flipped = sound.clone();
        flipped[place] ^= 1 << (number % 8);
        std::fs::write(&path, &flipped).unwrap();
        let Ok(store) = Store::open_to_read(directory.path()) else { continue };
        let read = ids.map(|id| all_of(&store, id));
        for (place_of_run, found) in read.iter().enumerate() {
            match found {
                Ok(found) => assert!(*found == whole.0[place_of_run], "byte {place} has changed {}", ids[place_of_run]),
                Err(StoreError::Damaged { run, .. }) => {
                    assert_eq!(run, ids[place_of_run]);
                    named += 1;
                    other_readable += usize::from(read[1 - place_of_run].is_ok());
                }
                Err(_) => {}
            }
        }
        unchanged += usize::from(read.iter().all(std::result::Result::is_ok));
        for summary in store.list().into_iter().flatten() {
            let same = whole.1.contains(&summary);
            assert!(same || summary.state.is_none(), "byte {place}: {summary:?}");
        }
    }
    assert!(named > 100 && other_readable * 2 > named && unchanged > 0, "{named}, {other_readable}, {unchanged}");
}

#[test]
fn a_repeat_that_was_changed_or_lost_is_named_with_its_run() {
    let damages = [
        ("UPDATE repeat SET document = replace(document, '\"passed\"', '\"failed\"') WHERE sequence = 3", "repeat 3 "),
        ("DELETE FROM repeat WHERE sequence = 5", "5 of 6"),
        ("UPDATE series SET samples = 9 WHERE sequence = 2 AND metric = 'load.1m'", "repeat 2 "),
        ("DELETE FROM series WHERE sequence = 4 AND metric = 'load.1m'", "repeat 4 "),
        ("DELETE FROM session", "session"),
        ("UPDATE run SET document = replace(document, 'E8C2', 'E8C3') WHERE id LIKE '%aaaa'", "description"),
        ("UPDATE run SET suite = 'other' WHERE id LIKE '%aaaa'", "description"),
    ];
    for (damage, part) in damages {
        let directory = tempfile::tempdir().unwrap();
        let (mut store, record) = filled(directory.path(), "20261121-0555-aaaa");
        let other = stend_testing::record("20261121-0601-bbbb", &[4.0]);
        store.import(&other, &[]).unwrap();
        let triggers =
            "SELECT group_concat('DROP TRIGGER ' || name || ';', ' ') FROM sqlite_schema WHERE type = 'trigger'";
        let triggers: String = store.connection.query_row(triggers, [], |row| row.get(0)).unwrap();
        store.connection.execute_batch(&triggers).unwrap();
        store
            .connection
            .execute_batch(
                &format!("{damage};")
                    .replace("DELETE FROM session;", "DELETE FROM session WHERE run LIKE '%aaaa';")
                    .replace("WHERE sequence", "WHERE run LIKE '%aaaa' AND sequence"),
            )
            .unwrap();
        let said = all_of(&store, &record.run.id).unwrap_err().to_string();
        assert!(
            said.contains(&record.run.id) && said.contains(part) && said.contains("is damaged"),
            "{damage}: {said}"
        );
        assert_eq!(store.load(&other.run.id).unwrap(), other, "{damage}");
    }
}

#[test]
fn an_import_that_fails_leaves_neither_a_run_nor_profiles() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let profile = |scenario: &str| Profile {
        scenario: scenario.into(),
        made_at: Timestamp::UNIX_EPOCH,
        command: Vec::new(),
        observed: Observed::Nothing,
        lacks: Vec::new(),
    };
    let good = Record { profiles: vec![profile("alpha")], ..record("20261121-0555-aaaa", &[1.0]) };
    let mut twice = good.clone();
    twice.repeats[1].scenario = 0;
    let stray = Record { profiles: vec![profile("alpha"), profile("gone")], ..good.clone() };
    for bad in [&twice, &stray] {
        store.import(bad, &[]).unwrap_err();
        assert!(!directory.path().join("profiles").join(&good.run.id).exists());
        assert!(store.list().unwrap().is_empty());
    }
    // Where profiles cannot be written, there is no run without them.
    std::fs::remove_dir_all(directory.path().join("profiles")).unwrap_or_default();
    std::fs::write(directory.path().join("profiles"), "in the way").unwrap();
    store.import(&good, &[]).unwrap_err();
    assert!(store.list().unwrap().is_empty());
    std::fs::remove_file(directory.path().join("profiles")).unwrap();
    // What a killed import left is no part of the run.
    store.add_profile(&good.run.id, 1, &profile("beta")).unwrap();
    assert!(store.import(&good, &[]).unwrap());
    assert_eq!(store.load(&good.run.id).unwrap(), good);
}

#[test]
fn a_store_of_an_older_format_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    drop(Store::open(directory.path()).unwrap());
    let path = directory.path().join("stend.db");
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 1).unwrap();
    for opened in [Store::open(directory.path()), Store::open_to_read(directory.path())] {
        let message = opened.unwrap_err().to_string();
        assert!(message.contains("older stend (format 1") && message.lines().count() == 1, "{message}");
    }
}

#[test]
fn a_repeat_can_be_stored_only_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let run = Run { state: RunState::Open, ..record("r", &[]).run };
    store.add_run(&run).unwrap();
    store.add_repeat("r", &repeat(0, 0, 0, 1.0), &[], None).unwrap();
    assert!(store.add_repeat("r", &repeat(1, 0, 0, 1.0), &[], None).is_err(), "the same repeat of the same scenario");
    store.add_repeat("r", &repeat(1, 0, 1, 1.0), &[], None).unwrap();
    assert_eq!(store.load("r").unwrap().repeats.len(), 2);
}

#[test]
fn runs_are_found_as_people_name_them() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, _) = filled(directory.path(), "20261121-0555-aaaa");
    let mut later = record("20261121-0601-abcd", &[1.0]);
    later.run.started_at = "2026-11-21T06:01:00Z".parse().unwrap();
    store.import(&later, &[]).unwrap();
    for (wanted, found) in [
        ("last", "20261121-0601-abcd"),
        ("last~1", "20261121-0555-aaaa"),
        ("20261121-06", "20261121-0601-abcd"),
        ("20261121-0555-aaaa", "20261121-0555-aaaa"),
    ] {
        assert_eq!(store.resolve(wanted).unwrap(), found);
    }
    assert!(matches!(store.resolve("2026"), Err(StoreError::Ambiguous(..))));
    assert!(matches!(store.resolve("last~2"), Err(StoreError::TooFarBack { runs: 2, .. })));
    for wanted in ["last~x", "laster", "nothing", "%"] {
        assert!(matches!(store.resolve(wanted), Err(StoreError::NoSuchRun(_))), "{wanted}");
    }
}

#[test]
fn an_export_imported_elsewhere_and_exported_again_is_the_same_file() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (store, record) = filled(here.path(), "20261121-0555-aaaa");
    let first = exported(&store, &record.run.id);
    let (read, read_series) = read_export(&first[..], "x.stend.gz").unwrap();
    let imported = Run { imported: Some(true), ..record.run.clone() };
    assert_eq!(read, Record { run: imported, ..record });
    let mut other = Store::open(there.path()).unwrap();
    assert!(other.import(&read, &read_series).unwrap());
    assert!(!other.import(&read, &read_series).unwrap(), "the second time it is there already");
    assert_eq!(exported(&other, &record.run.id), first);
}

#[test]
fn an_open_run_travels_too() {
    let directory = tempfile::tempdir().unwrap();
    let mut store = Store::open(directory.path()).unwrap();
    let run = Run { state: RunState::Open, finished_at: None, ..record("20261121-0555-0000", &[]).run };
    store.add_run(&run).unwrap();
    store.add_repeat("20261121-0555-0000", &repeat(0, 0, 0, 1.0), &series(), None).unwrap();
    let bytes = exported(&store, "20261121-0555-0000");
    let there = tempfile::tempdir().unwrap();
    let mut other = Store::open(there.path()).unwrap();
    let (read, read_series) = read_export(&bytes[..], "20261121-0555-0000").unwrap();
    other.import(&read, &read_series).unwrap();
    assert_eq!(exported(&other, "20261121-0555-0000"), bytes);
    assert_eq!(store.newest_open().unwrap().as_deref(), Some("20261121-0555-0000"));
    assert_eq!(other.newest_open().unwrap(), None, "it goes on where it began");
}

#[test]
fn a_damaged_export_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (store, record) = filled(directory.path(), "20261121-0555-aaaa");
    let whole = exported(&store, &record.run.id);
    let refused = |bytes: &[u8], why: &str| match read_export(bytes, "x.gz") {
        Err(error @ (StoreError::BadExport { .. } | StoreError::CutOff { .. })) => {
            assert!(error.to_string().starts_with(&format!("x.gz is {why}")), "{error}");
        }
        other => panic!("{other:?}"),
    };
    refused(b"this is no export at all", "no run exported");
    for length in [3, whole.len() / 2, whole.len() * 9 / 10] {
        refused(&whole[..length], "cut off");
    }
    // The same run with another figure, packed again: only the checksum can tell.
    use std::io::{Read as _, Write as _};
    let mut text = String::new();
    flate2::read::GzDecoder::new(&whole[..]).read_to_string(&mut text).unwrap();
    let mut forged = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    forged.write_all(text.replace("\"wall_ns\":1000000,", "\"wall_ns\":1000001,").as_bytes()).unwrap();
    match read_export(&forged.finish().unwrap()[..], "x.gz") {
        Err(StoreError::BadExport { why: ExportError::Checksum, .. }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_export_that_makes_no_sense_is_refused() {
    let good = record("20261121-0555-aaaa", &[1.0, 2.0]);
    let refused = |record: &Record, part: &str| {
        let mut bytes = Vec::new();
        write_export(record, &[], &mut bytes).unwrap();
        let message = read_export(&bytes[..], "x.gz").unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    };
    let mut bad = good.clone();
    bad.run.id = "../../home".into();
    refused(&bad, "no id of a run");
    let mut bad = good.clone();
    bad.repeats[1].scenario = 99;
    refused(&bad, "scenario 99");
    let mut bad = good.clone();
    bad.repeats.swap(0, 1);
    refused(&bad, "not in order");

    let profile = |scenario: &str, folded: &str| Profile {
        scenario: scenario.into(),
        made_at: Timestamp::UNIX_EPOCH,
        command: Vec::new(),
        observed: Observed::Stacks(Stacks {
            event: "cycles".into(),
            hertz: 99,
            measured_stretch: true,
            folded: folded.into(),
        }),
        lacks: Vec::new(),
    };
    for (profiles, part) in [
        (vec![profile("gamma", "a;b 1\n")], "\"gamma\", and no such scenario"),
        (vec![profile("beta", "a;b 1\n"), profile("alpha", "a;b 1\n")], "profiles are not in order"),
        (vec![profile("alpha", "a;b\n")], "\"alpha\" has no stacks"),
    ] {
        refused(&Record { profiles, ..good.clone() }, part);
    }
}

#[test]
fn another_run_of_the_same_name_is_not_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, record) = filled(directory.path(), "20261121-0555-aaaa");
    let other = stend_testing::record(&record.run.id, &[4.0]);
    assert!(matches!(store.import(&other, &[]), Err(StoreError::Different { .. })));
    assert_eq!(store.load(&record.run.id).unwrap(), record);
}

#[test]
fn a_store_of_a_newer_version_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    drop(Store::open(directory.path()).unwrap());
    let path = directory.path().join("stend.db");
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    for opened in [Store::open(directory.path()), Store::open_to_read(directory.path())] {
        let message = opened.unwrap_err().to_string();
        assert!(message.contains("newer stend") && message.contains("99"), "{message}");
    }
}

#[test]
fn a_file_that_is_no_store_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("stend.db");
    std::fs::write(&path, "this is a shopping list, and it is longer than a hundred bytes, so that SQLite looks at it as a file of its own\n").unwrap();
    assert!(matches!(Store::open(directory.path()), Err(StoreError::NotAStore { .. })));
    std::fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE shopping (item TEXT)").unwrap();
    assert!(matches!(Store::open(directory.path()), Err(StoreError::NotAStore { .. })));
}

#[test]
fn reading_what_is_not_there_makes_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let nowhere = directory.path().join("a/b");
    assert!(Store::open_to_read(&nowhere).unwrap().list().unwrap().is_empty());
    assert!(!nowhere.exists());
}

#[test]
fn a_store_that_is_just_being_made_is_an_empty_one() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("stend.db"), "").unwrap();
    assert!(Store::open_to_read(directory.path()).unwrap().list().unwrap().is_empty());
}

#[test]
fn only_one_measures_a_machine_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let take = |host| MeasuringLock::take(directory.path(), host);
    let lock = take(Some("root@board")).unwrap();
    let message = take(Some("root@board")).unwrap_err().to_string();
    assert!(message.contains(&std::process::id().to_string()) && message.contains("root@board"), "{message}");
    let _others = [take(None).unwrap(), take(Some("root@another")).unwrap()];
    drop(lock);
    take(Some("root@board")).unwrap();
}

#[test]
fn a_new_store_is_opened_by_several_at_once() {
    for _ in 0..20 {
        let directory = tempfile::tempdir().unwrap();
        let start = std::sync::Barrier::new(6);
        std::thread::scope(|scope| {
            for number in 0..6 {
                let (directory, start) = (directory.path(), &start);
                scope.spawn(move || {
                    start.wait();
                    if number % 3 == 0 {
                        Store::open_to_read(directory).unwrap().list().unwrap();
                    } else {
                        let run = record(&format!("r{number}"), &[]).run;
                        Store::open(directory).unwrap().add_run(&Run { state: RunState::Open, ..run }).unwrap();
                    }
                });
            }
        });
        let store = Store::open_to_read(directory.path()).unwrap();
        assert_eq!(store.list().unwrap().len(), 4);
        let mode: String = store.connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
        assert_eq!(mode, "wal");
    }
}

#[test]
fn several_runs_grow_at_once_in_one_store() {
    let directory = tempfile::tempdir().unwrap();
    let ids = ["r0", "r1", "r2"];
    let whole = ids.map(|id| record(id, &vec![1.0; 40]));
    drop(Store::open(directory.path()).unwrap());
    std::thread::scope(|scope| {
        for whole in &whole {
            let mut store = Store::open(directory.path()).unwrap();
            scope.spawn(move || {
                store.add_run(&Run { state: RunState::Open, ..whole.run.clone() }).unwrap();
                whole.sessions.iter().for_each(|session| store.add_session(&whole.run.id, session).unwrap());
                for repeat in &whole.repeats {
                    store.add_repeat(&whole.run.id, repeat, &[], None).unwrap();
                    store.close_run(&whole.run.id, whole.run.started_at, false).unwrap();
                }
            });
        }
    });
    let store = Store::open_to_read(directory.path()).unwrap();
    for whole in &whole {
        assert_eq!(store.load(&whole.run.id).unwrap().repeats, whole.repeats);
    }
}
