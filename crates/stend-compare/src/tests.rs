use stend_model::cause::Cause;
use stend_model::machine::Difference;
use stend_model::reference::Reference;
use stend_model::run::{Outcome, RunState, Skipped};
use stend_model::suite::{Ceiling, Changes, Instrument, Steady, Suite};
use stend_model::wire::Begin;

use super::filter::Filter;
use super::table::{Counted, Design, LeftOut, Only, Reason, Verdict};
use super::*;
use stend_testing::{record, suite};

const REFERENCE: &str = r#"
name = "r"
title = "t"
source = "s"
method = "m"
[[machine]]
id = "old"
name = "Old"
description = "an old one"
[[machine]]
id = "mute"
name = "Mute"
description = "without figures"
[[figure]]
machine = "old"
measures = "kuznyechik, independent blocks"
metric = "throughput"
value = 5e8
unit = "B/s"
"#;

/// In an order that neither rises nor falls.
fn steady(middle: f64) -> Vec<f64> {
    [-1.0, 3.0, -4.0, 1.0, 0.0, -3.0, 4.0, -2.0, 2.0, 0.0].iter().map(|step| middle * (1.0 + step / 1000.0)).collect()
}

fn against_base(table: &Table) -> impl Iterator<Item = &AgainstBase> {
    table.rows.iter().map(|row| match &row.cells[1] {
        Cell::Measured(measured) => measured.against_base.as_ref().unwrap(),
        other => panic!("{other:?}"),
    })
}

fn verdicts(table: &Table) -> Vec<Verdict> {
    against_base(table).map(|against| against.verdict).collect()
}

#[test]
fn better_and_worse_follow_each_metrics_own_direction() {
    let (base, half) = (record("a", &steady(2.0)), record("b", &steady(1.0)));
    // Half the time: twice the throughput and half the time, both better.
    let better = compare(&[&base, &half], &[]);
    assert_eq!(verdicts(&better), [Verdict::Better, Verdict::Better]);
    assert_eq!(verdicts(&compare(&[&half, &base], &[])), [Verdict::Worse, Verdict::Worse]);
    assert_eq!(verdicts(&compare(&[&base, &base], &[])), [Verdict::Same, Verdict::Same]);
    for against in against_base(&better) {
        let (factor, (low, high)) = (against.factor.unwrap(), against.interval.unwrap());
        assert!(1.9 < low && low < factor && factor < high && high < 2.1, "{low} < {factor} < {high}");
    }
}

/// A run with two sides of pairs: what each pair took on the first side and on the second, in milliseconds. In every other pair the second comes
/// first.
fn in_pairs(id: &str, times: &[(f64, f64)]) -> Record {
    let mut run = record(id, &[]);
    run.run.sides = vec!["".parse().unwrap(), "name=other;env.A=1".parse().unwrap()];
    for (number, &(a, b)) in times.iter().enumerate() {
        for scenario in 0..2 {
            let order = if number % 2 == 0 { [(0, a), (1, b)] } else { [(1, b), (0, a)] };
            for (side, time) in order {
                let repeat = stend_testing::repeat(run.repeats.len() as u32, scenario, number as u32, time);
                run.repeats.push(Repeat { side: Some(side), ..repeat });
            }
        }
    }
    run
}

fn sides_of(run: &Record) -> Vec<Record> {
    sides::views(run.clone())
}

#[test]
fn sides_are_compared_as_pairs_and_a_drift_hides_nothing() {
    // Each pair takes 5 % longer than the one before; the other side 3 % longer than the first.
    let times: Vec<_> = (0..12).map(|pair| 1.05_f64.powi(pair)).map(|time| (time, time * 1.03)).collect();
    let both = sides_of(&in_pairs("20261121-0555-3f9a", &times));
    let table = compare(&both.iter().collect::<Vec<_>>(), &[]);
    assert_eq!(verdicts(&table), [Verdict::Worse, Verdict::Worse]);
    let titles: Vec<_> = table.columns.iter().map(|column| column.title.as_str()).collect();
    assert_eq!(titles, ["as it is", "other"]);
    assert!(table.notes.iter().any(|note| matches!(note, Note::InPairs { .. })), "{:?}", table.notes);
    // The same figures as two runs decide nothing.
    let runs: Vec<_> = [0, 1]
        .map(|side| record(["a", "b"][side], &times.iter().map(|time| [time.0, time.1][side]).collect::<Vec<_>>()))
        .into();
    assert_eq!(verdicts(&compare(&runs.iter().collect::<Vec<_>>(), &[])), [Verdict::Unresolved, Verdict::Unresolved]);
}

#[test]
fn a_repeat_without_its_partner_does_not_count() {
    let times: Vec<_> = steady(1.0).into_iter().map(|time| (time, time * 0.9)).collect();
    let mut run = in_pairs("20261121-0555-3f9a", &times);
    // Of one pair the second side's is invalid, and of another a session lies between the two.
    let invalid =
        run.repeats.iter_mut().find(|repeat| repeat.number == 3 && repeat.side == Some(1) && repeat.scenario == 0);
    invalid.unwrap().outcome = Outcome::Invalid(vec![stend_testing::steal()]);
    let torn =
        run.repeats.iter_mut().find(|repeat| repeat.number == 5 && repeat.side == Some(1) && repeat.scenario == 0);
    torn.unwrap().session = 1;
    let both = sides_of(&run);
    let valid = |side: usize| values_by_session(&both[side], "alpha", &suite().scenarios[0].metrics[0]).concat().len();
    assert_eq!((valid(0), valid(1)), (8, 8));
    let table = compare(&both.iter().collect::<Vec<_>>(), &[]);
    assert_eq!(verdicts(&table), [Verdict::Better, Verdict::Better]);
    let Cell::Measured(measured) = &table.rows[0].cells[0] else { panic!() };
    assert_eq!((measured.valid, measured.invalid), (8, 2));
    assert!(sides::view(&run, "other").is_ok() && sides::view(&run, "a").is_ok());
    assert!(sides::view(&run, "c").unwrap_err().to_string().contains("\"as it is\" and \"other\""));
    assert!(sides::view(&record("a", &[]), "c").unwrap_err().to_string().contains("no sides"));
}

#[test]
fn a_parameter_of_a_side_is_other_work_for_other_runs_alone() {
    let times: Vec<_> = steady(1.0).into_iter().map(|time| (time, time)).collect();
    let mut run = in_pairs("20261121-0555-3f9a", &times);
    run.run.suite.scenarios.iter_mut().for_each(|scenario| {
        scenario.parameters.insert("size".into(), "1".into());
    });
    run.run.sides[1] = "name=other;set.size=2".parse().unwrap();
    let both = sides_of(&run);
    assert_eq!(verdicts(&compare(&both.iter().collect::<Vec<_>>(), &[])), [Verdict::Same, Verdict::Same]);
    let plain = Record {
        run: stend_model::run::Run { id: "p".into(), sides: Vec::new(), ..run.run.clone() },
        ..record("p", &steady(1.0))
    };
    assert_eq!(verdicts(&compare(&[&plain, &both[0]], &[])), [Verdict::Same, Verdict::Same]);
    let table = compare(&[&plain, &both[1]], &[]);
    assert!(matches!(&table.rows[0].cells[1], Cell::Measured(measured) if measured.against_base.is_none()));
    assert!(table.notes.iter().any(|note| matches!(note, Note::OtherWork { .. })));
}

#[test]
fn two_runs_of_one_machine_are_told_apart() {
    let (base, other) = (record("a", &steady(1.0)), record("b", &steady(1.0)));
    let titles = |table: &Table| table.columns.iter().map(|column| column.title.clone()).collect::<Vec<_>>();
    assert_eq!(titles(&compare(&[&base, &other], &[])), ["testbed a", "testbed b"]);
    assert_eq!(titles(&compare(&[&base], &[])), ["testbed"]);
}

#[test]
fn few_repeats_give_no_verdict() {
    let (base, other) = (record("a", &[1.0, 1.0, 1.0, 1.0]), record("b", &[9.0, 9.0, 9.0, 9.0]));
    let table = compare(&[&base, &other], &[]);
    assert_eq!(verdicts(&table), [Verdict::Unresolved, Verdict::Unresolved]);
    let Cell::Measured(measured) = &table.rows[0].cells[0] else { panic!() };
    assert_eq!(measured.interval, None);
}

#[test]
fn repeats_that_do_not_count_are_shown_and_not_counted() {
    let mut base = record("a", &steady(1.0));
    base.repeats[0].outcome = Outcome::Invalid(vec![stend_testing::steal()]);
    let table = compare(&[&base], &[]);
    let Cell::Measured(measured) = &table.rows[0].cells[0] else { panic!() };
    assert_eq!((measured.valid, measured.invalid), (9, 1));
}

#[test]
fn a_scenario_without_any_valid_repeat_says_why() {
    let mut base = record("a", &[1.0]);
    base.repeats[0].outcome = Outcome::Failed(stend_testing::killed());
    let (reason, remedy) = (Cause::ToolMissing { tool: "fio".into() }, Some("get fio".to_owned()));
    let skipped = Skipped { scenario: "beta".into(), reason: reason.clone(), remedy: remedy.clone() };
    base.run.skipped.push(skipped);
    let table = compare(&[&base], &[]);
    assert_eq!(table.rows[0].cells[0], Cell::Nothing { why: Lack::Failed { cause: stend_testing::killed() } });
    let why = Lack::Skipped { reason, remedy };
    assert_eq!(table.rows[1].cells[0], Cell::Nothing { why });
}

#[test]
fn other_parameters_are_another_thing() {
    let (base, mut other) = (record("a", &steady(1.0)), record("b", &steady(2.0)));
    other.run.suite.scenarios[0].parameters.insert("size".into(), "8k".into());
    let table = compare(&[&base, &other], &[]);
    let Cell::Measured(measured) = &table.rows[0].cells[1] else { panic!() };
    assert_eq!(measured.against_base, None);
    let expected = Note::OtherWork {
        run: "b".into(),
        base: "a".into(),
        scenarios: vec!["alpha".into()],
        differences: vec![difference("size", "", "8k")],
    };
    assert_eq!(table.notes, [expected]);
}

fn difference(what: &str, before: &str, after: &str) -> Difference {
    Difference { what: what.into(), before: before.into(), after: after.into() }
}

/// A run of one scenario, `alpha`, of a suite that lies in `directory`.
fn record_of(id: &str, directory: &str, instrument: &str) -> Record {
    let text = format!(
        "name = \"mine\"\ntitle = \"mine\"\n[[scenario]]\nname = \"alpha\"\n{instrument}\n\
         metrics = [{{ name = \"time\", value = \"wall\", unit = \"s\", better = \"lower\" }}]\n"
    );
    let mut record = record(id, &steady(1.0));
    record.run.suite = Suite::parse(&text, "mine.toml", std::path::Path::new(directory), &Changes::default()).unwrap();
    record.repeats.retain(|repeat| repeat.scenario == 0);
    record
}

#[test]
fn the_same_work_in_another_place_gets_its_verdict_and_a_note() {
    let command = "command = [\"sh\", \"{suite_directory}/count.sh\", \"64\"]";
    let (mine, yours) = (record_of("a", "/home/me", command), record_of("b", "/srv", command));
    let Instrument::Command(words) = &yours.run.suite.scenarios[0].instrument else { panic!() };
    assert_eq!(words[1], "/srv/count.sh", "what is run is where it is");
    let fio = |place| format!("instrument = \"fio\"\nparameters = {{ rw = \"randread\", directory = \"{place}\" }}");
    let (old, new) = (record_of("a", "/", &fio("/pool/old")), record_of("b", "/", &fio("/pool/new")));
    let (name, before, after) = ("{suite_directory}/count.sh", "/home/me/count.sh", "/srv/count.sh");
    for (base, other, difference) in [
        (&mine, &yours, difference(name, before, after)),
        (&old, &new, difference("directory", "/pool/old", "/pool/new")),
    ] {
        let table = compare(&[base, other], &[]);
        assert_eq!(verdicts(&table), [Verdict::Same]);
        let scenarios = vec!["alpha".into()];
        assert_eq!(table.notes, [Note::OtherPlace { run: "b".into(), base: "a".into(), scenarios, difference }]);
    }
    let other = record_of("b", "/home/me", &command.replace("count", "guess"));
    assert!(matches!(compare(&[&mine, &other], &[]).notes[..], [Note::OtherWork { .. }]));
}

#[test]
fn a_script_that_was_edited_in_between_is_said() {
    let command = "command = [\"sh\", \"{suite_directory}/count.sh\"]";
    let run = |id, digest: &str| {
        let mut record = record_of(id, "/home/me", command);
        record.run.suite.scenarios[0].files.insert("{suite_directory}/count.sh".into(), digest.into());
        record
    };
    let table = compare(&[&run("a", "1f"), &run("b", "2e")], &[]);
    assert_eq!(verdicts(&table), [Verdict::Same]);
    assert!(matches!(&table.notes[..], [Note::OtherFile { file, .. }] if file == "{suite_directory}/count.sh"));
    assert!(compare(&[&run("a", "1f"), &run("b", "1f")], &[]).notes.is_empty());
}

#[test]
fn a_metric_that_is_better_the_other_way_round_is_judged_as_the_base_has_it_and_said() {
    let command = "command = [\"true\"]";
    let (base, mut other) = (record_of("a", "/", command), record_of("b", "/", command));
    other.run.suite.scenarios[0].metrics[0].better = Better::Higher;
    let table = compare(&[&base, &other], &[]);
    assert_eq!(verdicts(&table), [Verdict::Same]);
    let expected = Note::OtherDirection {
        run: "b".into(),
        base: "a".into(),
        metric: "time".into(),
        better: Better::Lower,
        scenarios: vec!["alpha".into()],
    };
    assert_eq!(table.notes, [expected]);
}

/// `alpha` was measured by one instrument, `beta` by another, both built by the same compiler.
fn built_by(id: &str, milliseconds: f64, compiler: &str) -> Record {
    let mut record = record(id, &steady(milliseconds));
    for repeat in &mut record.repeats {
        let build = BTreeMap::from([("compiler".into(), compiler.into())]);
        repeat.begin = Some(Begin { build, ..stend_testing::begin(["cipher", "copy"][repeat.scenario]) });
    }
    record
}

#[test]
fn two_compilers_are_compared_and_their_difference_is_said_once() {
    let (base, other) = (built_by("a", 2.0, "gcc 12"), built_by("b", 1.0, "clang 14"));
    let table = compare(&[&base, &other], &[]);
    assert_eq!(verdicts(&table), [Verdict::Better, Verdict::Better]);
    let expected = Note::OtherBuild {
        run: "b".into(),
        base: "a".into(),
        instruments: vec!["cipher".into(), "copy".into()],
        differences: vec![difference("compiler", "gcc 12", "clang 14")],
    };
    assert_eq!(table.notes, [expected]);
}

#[test]
fn two_builds_of_one_instrument_in_a_run_are_told_apart_by_their_scenarios() {
    // `alpha` is measured by what one compiler built, `beta` by what the other one did.
    let run = |id: &str, compilers: [&str; 2]| {
        let mut record = built_by(id, 1.0, "");
        for repeat in &mut record.repeats {
            let begin = repeat.begin.as_mut().unwrap();
            begin.instrument = "cipher".into();
            begin.build.insert("compiler".into(), compilers[repeat.scenario].into());
        }
        record
    };
    let base = run("a", ["gcc 12", "clang 14"]);
    assert_eq!(compare(&[&base], &[]).notes, []);
    assert_eq!(compare(&[&base, &run("b", ["gcc 12", "clang 14"])], &[]).notes, []);
    let expected = Note::OtherBuild {
        run: "b".into(),
        base: "a".into(),
        instruments: vec!["cipher".into()],
        differences: vec![difference("compiler", "clang 14", "clang 15")],
    };
    assert_eq!(compare(&[&base, &run("b", ["gcc 12", "clang 15"])], &[]).notes, [expected]);
}

#[test]
fn a_run_whose_instruments_were_built_anew_before_it_went_on_says_so() {
    let mut run = built_by("a", 1.0, "gcc 12");
    let later = built_by("a", 1.0, "clang 14");
    run.repeats.truncate(10);
    run.repeats.extend_from_slice(&later.repeats[10..]);
    let instruments = vec!["cipher".into(), "copy".into()];
    assert_eq!(compare(&[&run], &[]).notes, [Note::SeveralBuilds { run: "a".into(), instruments }]);
}

#[test]
fn figures_are_held_against_their_ceilings_in_the_metrics_direction() {
    let mut run = record("a", &steady(2.0));
    let mut fast = record("a", &steady(0.5));
    run.run.suite.scenarios[1].metrics = run.run.suite.scenarios[0].metrics.clone();
    run.repeats.retain(|repeat| repeat.scenario == 0);
    fast.repeats.retain(|repeat| repeat.scenario == 1);
    run.repeats.extend(fast.repeats);
    run.run.suite.scenarios[0].ceiling = vec![Ceiling::Of("beta".into())];
    let share = |run: &Record| {
        let Cell::Measured(measured) = compare(&[run], &[]).rows[0].cells[0].clone() else { panic!() };
        measured.of_ceilings.first().map(|ceiling| (ceiling.scenario.clone(), (ceiling.share * 1e6).round() / 1e6))
    };
    assert_eq!(share(&run), Some(("beta".into(), 0.25)), "four times as slow");
    // In a metric of which less is better the smaller figure is the ceiling.
    for scenario in &mut run.run.suite.scenarios {
        scenario.metrics = suite().scenarios[1].metrics.clone();
    }
    assert_eq!(share(&run), Some(("beta".into(), 0.25)));
    // Another metric of the ceiling's says nothing, and neither does a ceiling that was not measured.
    let mut other = run.clone();
    other.run.suite.scenarios[1].metrics[0].name = "other".into();
    assert_eq!(share(&other), None);
    run.repeats.retain(|repeat| repeat.scenario == 0);
    assert_eq!(share(&run), None);
}

#[test]
fn a_loader_that_takes_the_machine_is_said_to() {
    let with_share = |share: f64| {
        let mut run = record("a", &steady(1.0));
        for repeat in run.repeats.iter_mut().filter(|repeat| repeat.scenario == 1) {
            repeat.report.as_mut().unwrap().observed.insert("loader_cpu_share".into(), share);
        }
        compare(&[&run], &[]).notes
    };
    assert_eq!(with_share(0.69), []);
    assert_eq!(with_share(0.71), [Note::LoaderBound { run: "a".into(), scenarios: vec!["beta".into()] }]);
    let limit = format!("{:.0} %", notes::MOST_OF_LOADER * 100.0);
    for page in [include_str!("../../../docs/reference/suites.md"), include_str!("../../../docs/design/bias.md")] {
        assert!(page.contains(&format!("more than {limit} of")) || page.contains(&format!("above {limit} the load")));
    }
}

#[test]
fn what_never_got_steady_gets_no_verdict_and_what_only_prepares_no_row() {
    let with_rounds = |id: &str, rounds: &[f64]| {
        let mut run = record(id, &steady(1.0));
        run.run.suite.scenarios[0].steady = Some(Steady::default());
        for (number, time) in rounds.iter().enumerate() {
            let round = stend_testing::repeat(1000, 0, number as u32, *time);
            run.repeats.push(Repeat { phase: Phase::Warmup, ..round });
        }
        run
    };
    let judged = |table: &Table| match &table.rows[0].cells[1] {
        Cell::Measured(measured) => measured.against_base.is_some(),
        other => panic!("{other:?}"),
    };
    let (calm, falling) = (with_rounds("a", &[1.0; 5]), with_rounds("b", &[1.0, 2.0, 3.0, 4.0, 5.0]));
    let table = compare(&[&calm, &falling], &[]);
    assert_eq!(table.notes, [Note::NotSteady { run: "b".into(), scenarios: vec!["alpha".into()] }]);
    assert!(!judged(&table) && !judged(&compare(&[&falling, &calm], &[])));
    let table = compare(&[&calm, &with_rounds("c", &[9.0, 1.0, 1.0, 1.0, 1.0, 1.0])], &[]);
    assert!(judged(&table) && table.notes.is_empty(), "{:?}", table.notes);
    let mut prepared = calm;
    prepared.run.suite.scenarios[1].repeats = 0;
    let table = compare(&[&prepared], &[]);
    assert!(table.rows.iter().all(|row| row.scenario == "alpha") && table.notes.is_empty());
}

#[test]
fn what_was_measured_unprepared_is_said() {
    let prepared = |outcomes: &[Outcome]| {
        let mut run = record("a", &steady(1.0));
        run.run.suite.scenarios[0].repeats = 0;
        run.repeats.retain(|repeat| repeat.scenario == 1);
        let rounds = outcomes.iter().zip(0..).map(|(outcome, number)| {
            let round = stend_testing::repeat(1000, 0, number, 1.0);
            Repeat { phase: Phase::Warmup, outcome: outcome.clone(), ..round }
        });
        run.repeats.splice(0..0, rounds.collect::<Vec<_>>());
        compare(&[&run], &[]).notes
    };
    let failed = || Outcome::Failed(stend_testing::killed());
    assert_eq!(prepared(&[Outcome::Valid]), []);
    assert_eq!(prepared(&[failed(), Outcome::Valid]), [], "it was prepared in the end");
    let said = [Note::Unprepared { run: "a".into(), scenarios: vec!["alpha".into()] }];
    assert_eq!(prepared(&[failed(), failed(), failed()]), said);
    assert_eq!(prepared(&[Outcome::Valid, failed(), failed(), failed()]), said, "all of it or nothing");
}

#[test]
fn a_single_value_has_no_spread() {
    let table = compare(&[&record("a", &[1.0])], &[]);
    let Cell::Measured(measured) = &table.rows[0].cells[0] else { panic!() };
    assert_eq!(measured.spread, None);
    let table = compare(&[&record("a", &[1.0, 1.0])], &[]);
    let Cell::Measured(measured) = &table.rows[0].cells[0] else { panic!() };
    assert_eq!(measured.spread, Some(0.0));
}

#[test]
fn published_figures_stand_beside_with_their_ratio_and_no_verdict() {
    let base = record("a", &steady(1.0));
    let table = compare(&[&base], &[Reference::parse(REFERENCE, "r.toml").unwrap()]);
    let titles: Vec<_> = table.columns.iter().map(|column| column.title.as_str()).collect();
    assert_eq!(titles, ["testbed", "Old"], "a machine without a figure takes no column");
    let Cell::Published(published) = &table.rows[0].cells[1] else { panic!() };
    // A megabyte in a millisecond is 1 GB/s, twice the published 500 MB/s.
    assert!((published.factor.unwrap() - 2.0).abs() < 1e-9);
    assert_eq!(table.rows[1].cells[1], Cell::Absent);
    assert_eq!(table.columns[1].grade, Some(Grade::Published));
}

#[test]
fn what_a_reader_must_know_is_said() {
    let (mut base, mut other) = (record("a", &steady(1.0)), record("b", &steady(1.0)));
    base.run.suite.scale = 0.01;
    other.run.state = RunState::Open;
    other.run.suite.scenarios.pop();
    other.repeats.retain(|repeat| repeat.scenario == 0);
    let table = compare(&[&base, &other], &[]);
    let scaled = Note::Scaled { run: "a".into(), factor: 0.01, target: false };
    assert_eq!(table.notes, [scaled, Note::Unfinished { run: "b".into(), may_go_on: true }]);
    assert_eq!(table.left_out, [LeftOut { scenarios: vec!["beta".into()], runs: vec!["b".into()] }]);
}

#[test]
fn a_bad_reference_says_where() {
    let broken = REFERENCE.replace("machine = \"old\"", "machine = \"odl\"");
    assert!(Reference::parse(&broken, "r.toml").unwrap_err().to_string().contains("no [[machine]]"));
    let broken = REFERENCE.replace("unit = \"B/s\"\n", "");
    assert!(Reference::parse(&broken, "r.toml").unwrap_err().to_string().contains("\"unit\""));
    let broken = REFERENCE.replace("method = \"m\"", "method = 1");
    assert!(Reference::parse(&broken, "r.toml").unwrap_err().to_string().starts_with("r.toml:5:10"));
}

#[test]
fn the_family_of_tests_is_what_the_filter_takes() {
    let (base, other) = (record("a", &steady(1.0)), record("b", &steady(1.011)));
    let q = |filter: &str| {
        let filter = if filter.is_empty() { Filter::default() } else { Filter::parse(filter).unwrap() };
        let table = compare_what(&[&base, &other], &[], &filter);
        let of = |row: &Row| row.against_base().next().and_then(|against| against.q).unwrap();
        (table.rows.len(), of(table.rows.iter().find(|row| row.scenario == "alpha").unwrap()))
    };
    // beta's times are alpha's, and its p the same: alone alpha is not corrected at all, with both the larger p is halved over two.
    let ((all, with_both), (one, alone)) = (q(""), q("scenario:alpha"));
    assert_eq!((all, one), (2, 1));
    assert!((with_both - alone).abs() < 1e-12, "equal p stay as they are: {with_both} {alone}");
    let mut same = other.clone();
    for (place, repeat) in same.repeats.iter_mut().enumerate().filter(|(_, repeat)| repeat.scenario == 1) {
        repeat.report.as_mut().unwrap().wall_ns = base.repeats[place].report.as_ref().unwrap().wall_ns;
    }
    let q = |filter: Filter| {
        let table = compare_what(&[&base, &same], &[], &filter);
        table.rows[0].against_base().next().unwrap().q.unwrap()
    };
    let (with_both, alone) = (q(Filter::default()), q(Filter::parse("scenario:alpha").unwrap()));
    assert!(
        (with_both - 2.0 * alone).abs() < 1e-12,
        "beside one that says nothing it counts for half: {with_both} {alone}"
    );
}

/// Other metrics are families of their own: however many there are, they change no main verdict.
#[test]
fn hidden_metrics_change_no_main_verdict() {
    let (base, other) = (record("a", &steady(1.0)), record("b", &steady(1.004)));
    let with_metrics = |of: &Record, count: usize| {
        let mut run = of.clone();
        let metric = run.run.suite.scenarios[1].metrics[0].clone();
        let more = (0..count).map(|place| Metric { name: format!("time {place}"), ..metric.clone() });
        run.run.suite.scenarios[1].metrics.extend(more);
        run
    };
    let q = |count: usize| {
        let table = compare(&[&with_metrics(&base, count), &with_metrics(&other, count)], &[]);
        table.rows.iter().flat_map(|row| row.against_base().map(|against| against.q)).collect::<Vec<_>>()
    };
    let (few, many) = (q(0), q(40));
    assert_eq!((few.len(), many.len()), (2, 42));
    assert_eq!(few[..], many[..2]);
    assert!(many[2..].iter().all(|q| *q == many[2]), "each is corrected for itself alone: {many:?}");
}

/// A run in sessions: each has its start, in minutes, and its repeats their times.
fn in_sessions(id: &str, sessions: &[(i64, f64)]) -> Record {
    let mut run = record(id, &[]);
    let first = run.sessions[0].clone();
    run.sessions.clear();
    for (number, (minute, level)) in sessions.iter().enumerate() {
        let started_at = first.started_at + jiff::Span::new().minutes(*minute);
        run.sessions.push(Session { number: number as u32, started_at, ..first.clone() });
        for (place, time) in steady(*level).into_iter().take(3).enumerate() {
            for scenario in 0..2 {
                let number_of_repeat = (3 * number + place) as u32;
                let repeat = stend_testing::repeat(run.repeats.len() as u32, scenario, number_of_repeat, time);
                run.repeats.push(Repeat { session: number as u32, ..repeat });
            }
        }
    }
    run
}

#[test]
fn sessions_that_took_turns_are_compared_round_by_round() {
    // Each round is a tenth slower than the one before, for both; b takes 3 % longer, and a begins every other round.
    let level = |round: i64| 1.1_f64.powi(round as i32);
    let rounds = |count: i64| {
        let a: Vec<_> = (0..count).map(|round| (4 * round + 2 * (round % 2), level(round))).collect();
        let b: Vec<_> = (0..count).map(|round| (4 * round + 2 * (1 - round % 2), 1.03 * level(round))).collect();
        [in_sessions("a", &a), in_sessions("b", &b)]
    };
    let against = |[a, b]: &[Record; 2]| {
        let table = compare(&[a, b], &[]);
        let of = table.rows[1].against_base().next().unwrap().clone();
        (table.columns[1].grade.unwrap(), of.design, of.counted, of.own_count, of.verdict, of.is_solid())
    };
    let five = rounds(5);
    assert_eq!(
        against(&five),
        (Grade::SessionsInTurns, Design::SessionsInTurns, Counted::Sessions, 5, Verdict::Worse, true)
    );
    let (grade, design, counted, ..) = against(&rounds(4));
    assert_eq!((grade, design, counted), (Grade::OneAfterTheOther, Design::OneAfterTheOther, Counted::Sessions));
    // The same sessions, but all of one side first: whole sessions are compared, and what changed in between is not taken away.
    let mut apart = five;
    for session in &mut apart[1].sessions {
        session.started_at += jiff::Span::new().hours(24);
    }
    let (grade, _, counted, count, verdict, solid) = against(&apart);
    assert_eq!(
        (grade, counted, count, verdict, solid),
        (Grade::OneAfterTheOther, Counted::Sessions, 5, Verdict::Unresolved, false)
    );
}

#[test]
fn fewer_than_five_repeats_of_a_side_have_no_verdict_but_a_factor() {
    let (base, other) = (record("a", &steady(1.0)[..4]), record("b", &steady(2.0)));
    let table = compare(&[&base, &other], &[]);
    let against = table.rows[1].against_base().next().unwrap();
    assert_eq!((against.verdict, against.reason, against.needed), (Verdict::Unresolved, Reason::TooFew, Some(5)));
    assert!(against.interval.is_some() && (against.factor.unwrap() - 0.5).abs() < 0.01, "twice the time");
}

#[test]
fn rows_of_a_verdict_are_shown_and_all_are_counted() {
    let base = record("a", &steady(1.0));
    let mut other = record("b", &steady(1.0));
    for repeat in other.repeats.iter_mut().filter(|repeat| repeat.scenario == 1) {
        repeat.report.as_mut().unwrap().wall_ns *= 2;
    }
    let mut table = compare(&[&base, &other], &[]);
    let shown = |table: &Table| table.shown(false).iter().map(|row| row.scenario.clone()).collect::<Vec<_>>();
    for (only, wanted) in [
        (Only::Worse, vec!["beta"]),
        (Only::Significant, vec!["beta"]),
        (Only::Same, vec!["alpha"]),
        (Only::Better, vec![]),
        (Only::Unresolved, vec![]),
    ] {
        table.only = Some(only);
        assert_eq!(shown(&table), wanted, "{only:?}");
        let [standing] = &standing::standings(&table)[..] else { panic!() };
        assert_eq!(standing.judged(), 2);
    }
}

#[test]
fn values_without_a_ratio_are_named() {
    let base = record("a", &steady(1.0));
    for bytes in [0.0, -1e6] {
        let mut other = record("b", &steady(1.0));
        for repeat in other.repeats.iter_mut().filter(|repeat| repeat.scenario == 0).take(1) {
            repeat.report.as_mut().unwrap().work.insert("bytes".into(), bytes);
        }
        let table = compare(&[&base, &other], &[]);
        let figures = vec!["alpha".into()];
        assert_eq!(table.notes, [Note::NoRatio { run: "b".into(), base: "a".into(), figures }]);
        assert_eq!(verdicts(&table), [Verdict::Unresolved, Verdict::Same]);
    }
}
