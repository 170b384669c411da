use super::*;
use crate::example;
use stend_compare::table::{Counted, Verdict};

/// A standing with these counts. Of what is unresolved a difference of 3.4 % would have been seen.
fn standing(better: usize, worse: usize, same: usize, unresolved: usize) -> Standing {
    Standing {
        column: 1,
        design: Design::InTurns,
        better,
        worse,
        same,
        unresolved,
        speeds: true,
        visible: (unresolved > 0).then_some(0.034),
        needed: (unresolved == 1).then_some(43),
        at_least: false,
        to_ask: (unresolved == 1).then_some(50),
        counted: Counted::Pairs,
        mean: (better + worse + same + unresolved > 1).then(|| Mean {
            factor: 1.144,
            interval: Some((1.139, 1.149)),
            verdict: Verdict::Better,
            scenarios: better + worse + same + unresolved,
            missing: Vec::new(),
        }),
        parts: Vec::new(),
    }
}

#[test]
fn a_line_in_both_languages_for_each_instrument() {
    for (instrument, counts, en, ru) in [
        (
            "stend-probe cipher",
            [4, 0, 0, 0],
            "ciphers: faster on all 4; on average +14.4 % (+13.9 … +14.9 %)",
            "шифры: быстрее в каждом из 4 сценариев; в среднем +14,4\u{a0}% (+13,9 … +14,9\u{a0}%)",
        ),
        (
            "fio",
            [1, 3, 0, 1],
            "fio: slower on 3 of 5; faster on 1; on average +14.4 % (+13.9 … +14.9 %); 1 unresolved",
            "fio: медленнее в 3 из 5; быстрее в 1; в среднем +14,4\u{a0}% (+13,9 … +14,9\u{a0}%); не решено: 1",
        ),
        ("gzip", [1, 0, 0, 0], "gzip: faster", "gzip: быстрее"),
        ("stend-probe pipe", [0, 0, 1, 0], "pipes: the same", "каналы: одинаково"),
    ] {
        let [better, worse, same, unresolved] = counts;
        let said =
            part(&OfInstrument { instrument: instrument.into(), standing: standing(better, worse, same, unresolved) });
        assert_eq!((said.english(), said.russian()), (en, ru));
    }
}

#[test]
fn a_sentence_in_both_languages_for_every_outcome() {
    let mut table = example::table();
    table.columns[0].title = "A".into();
    table.columns[1].title = "B".into();
    let said = |counts: [usize; 4], speeds| {
        let [better, worse, same, unresolved] = counts;
        in_words(&table, &Said::of(&Standing { speeds, ..standing(better, worse, same, unresolved) }), &[1], false)
    };
    for (counts, en, ru) in [
        (
            [31, 3, 4, 2],
            "B is faster than A on 31 of 40 scenarios; slower on 3; on average +14.4 % (+13.9 … +14.9 %); the same on 4; 2 unresolved (a difference of 3.4 % would have been seen).",
            "B быстрее, чем A, в 31 сценарии из 40; медленнее в 3; в среднем +14,4\u{a0}% (+13,9 … +14,9\u{a0}%); одинаково в 4; не решено: 2 (разница в 3,4\u{a0}% была бы видна).",
        ),
        (
            [1, 2, 0, 0],
            "B is slower than A on 2 of 3 scenarios; faster on 1; on average +14.4 % (+13.9 … +14.9 %).",
            "B медленнее, чем A, в 2 сценариях из 3; быстрее в 1; в среднем +14,4\u{a0}% (+13,9 … +14,9\u{a0}%).",
        ),
        (
            [21, 0, 0, 0],
            "B is faster than A on all 21 scenarios; on average +14.4 % (+13.9 … +14.9 %).",
            "B быстрее, чем A, в каждом из 21 сценария; в среднем +14,4\u{a0}% (+13,9 … +14,9\u{a0}%).",
        ),
        ([1, 0, 0, 0], "B is faster than A.", "B быстрее, чем A."),
        ([0, 0, 2, 0], "B and A are the same on both scenarios.", "B и A одинаковы в обоих сценариях."),
        ([0, 0, 40, 0], "B and A are the same on all 40 scenarios.", "B и A одинаковы в каждом из 40 сценариев."),
        (
            [0, 0, 0, 11],
            "B against A: no difference is certain; 11 unresolved (a difference of 3.4 % would have been seen).",
            "B в сравнении с A: надёжных отличий нет; не решено: 11 (разница в 3,4\u{a0}% была бы видна).",
        ),
        (
            [0, 0, 5, 1],
            "B against A: the same on 5 of 6 scenarios; 1 unresolved (a difference of 3.4 % would have been seen); about 43 pairs would settle it (-r 50).",
            "B в сравнении с A: одинаково в 5 из 6 сценариев; не решено: 1 (разница в 3,4\u{a0}% была бы видна); чтобы решить, хватит примерно 43 пар (-r 50).",
        ),
    ] {
        let found = said(counts, true);
        assert_eq!((found.english(), found.russian()), (en, ru), "{counts:?}");
    }
    let neutral = said([2, 0, 1, 0], false);
    assert!(
        neutral.english().starts_with("B is better than A on 2 of 3")
            && neutral.russian().starts_with("B лучше, чем A, в 2 ")
    );
}

/// With too few for a verdict nobody can say how many would settle it.
#[test]
fn with_too_few_for_a_verdict_only_the_least_number_is_said() {
    let few = Standing { needed: Some(5), to_ask: Some(38), at_least: true, ..standing(0, 0, 0, 1) };
    let said = Phrase::joined(&with_difference(&[], &few, ["part-first", "part-on-all"]), "; ");
    assert!(said.english().ends_with("a verdict takes 5 pairs at least (-r 38)"), "{}", said.english());
    assert!(said.russian().ends_with("для вердикта нужно не меньше 5 пар (-r 38)"), "{}", said.russian());
}

#[test]
fn the_mean_says_what_is_not_in_it() {
    let mut table = example::table();
    let [with_missing] = &means(&table, true)[..] else { panic!() };
    assert!(
        with_missing.english().contains("geometric mean over 8 scenarios")
            && with_missing.english().contains("not in it: \"4k rand read\", \"gzip"),
        "{}",
        with_missing.english()
    );
    assert!(
        with_missing.russian().contains("по 8 сценариям") && with_missing.russian().contains("без «4k rand read»"),
        "{}",
        with_missing.russian()
    );
    table.left_out.clear();
    table.rows.retain(|row| row.scenario != "4k rand read");
    assert_eq!((means(&table, false).len(), means(&table, true).len()), (0, 1));
    let [whole] = &means(&table, true)[..] else { panic!() };
    assert!(!whole.english().contains("not in it"), "{}", whole.english());
}

#[test]
fn runs_between_which_nothing_is_judged_are_told_why() {
    let record = |id: &str| stend_testing::record(id, &[1.0, 1.01, 0.99, 1.0, 1.02, 0.98]);
    let (base, mut other) = (record("a"), record("b"));
    let said = |other: &stend_model::record::Record| {
        let said = standings(&stend_compare::compare(&[&base, other], &[]));
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(
            said[0].russian().starts_with("Между testbed b и testbed a ничего сказать нельзя: "),
            "{}",
            said[0].russian()
        );
        said[0].english().strip_prefix("Nothing can be said between testbed b and testbed a: ").unwrap().to_owned()
    };
    for scenario in &mut other.run.suite.scenarios {
        scenario.parameters.insert("size".into(), "8k".into());
    }
    assert_eq!(said(&other), "no scenario did the same work in both; the notes say in what it differs.");
    other.run.machine.software.emulator = Some("qemu-user".into());
    assert_eq!(said(&other), "an emulator's times are not a machine's speed.");
    other.repeats.clear();
    assert_eq!(said(&other), "no scenario has a figure in both.");
    other.run.suite.scenarios.iter_mut().for_each(|scenario| scenario.name.push_str(" of another kind"));
    assert_eq!(said(&other), "they have no scenario in common.");
    // Of several runs the same is said once.
    let runs = ["b", "c", "d"].map(&record);
    let of_all = standings(&stend_compare::compare(&[&base, &runs[0], &runs[1], &runs[2]], &[]));
    assert_eq!(of_all.len(), 1, "{of_all:?}");
    assert!(of_all[0].english().contains("testbed b, testbed c and testbed d"), "{}", of_all[0].english());
    // What is judged on some scenario has its sentence.
    let mut half = record("b");
    half.run.suite.scenarios[0].parameters.insert("size".into(), "8k".into());
    let table = stend_compare::compare(&[&base, &half], &[]);
    assert!(standings(&table)[0].english().contains("1 unresolved"), "{:?}", standings(&table));
}
