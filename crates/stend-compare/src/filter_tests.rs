use std::path::Path;

use proptest::prelude::*;
use stend_model::suite::{Changes, Suite};

use super::*;

/// Six scenarios of a matrix and one beside them, each with two metrics.
fn suite() -> Suite {
    let metrics = "metrics = [{ name = \"throughput\", value = \"bytes/wall\", unit = \"B/s\", better = \"higher\" },\n\
        { name = \"wall time\", value = \"wall\", unit = \"s\", better = \"lower\" }]\n";
    let text = format!(
        "name = \"t\"\ntitle = \"t\"\n[[scenario]]\nname = \"read {{depth}} × {{jobs}}\"\ncommand = [\"true\"]\n{metrics}\
         matrix = {{ depth = [1, 16, 160], jobs = [1, 2] }}\n\
         [[scenario]]\nname = \"copy (in L1), *fast*\"\ncommand = [\"true\"]\n{metrics}"
    );
    Suite::parse(&text, "t.toml", Path::new("."), &Changes::default()).unwrap()
}

/// What an expression takes, as `scenario·metric`.
fn taken(text: &str) -> Vec<String> {
    let (filter, suite) = (Filter::parse(text).unwrap_or_else(|error| panic!("{error}")), suite());
    filter.check(&suite.scenarios).unwrap_or_else(|error| panic!("{error}"));
    let figures =
        suite.scenarios.iter().flat_map(|scenario| scenario.metrics.iter().map(move |metric| (scenario, metric)));
    figures
        .filter(|(scenario, metric)| filter.takes(scenario, metric))
        .map(|(scenario, metric)| format!("{}·{}", scenario.name, metric.name))
        .collect()
}

#[test]
fn keys_globs_and_words_take_what_they_say() {
    for (text, wanted) in [
        ("*", 14),
        ("scenario:read*", 12),
        ("metric:throughput", 7),
        ("unit:B/s", 7),
        ("unit:s", 7),
        ("depth:16", 4),
        ("depth:16*", 8),
        ("depth:1?", 4),
        ("jobs:(1 OR 3)", 6),
        ("depth:(1 OR 160) jobs:2", 4),
        ("depth:1 AND jobs:2 AND unit:s", 1),
        ("depth:1 OR depth:16 jobs:2", 6),
        ("(depth:1 OR depth:16) jobs:2", 4),
        ("-depth:1", 10),
        ("-(depth:1 OR depth:16) metric:\"wall time\"", 3),
        ("--depth:1", 4),
        ("family:\"read DEPTH × JOBS\"", 12),
        ("scenario:\"copy (in L1), *fast*\"", 2),
        ("scenario:copy*", 2),
        ("scenario:copy\\ \\(in*", 2),
        ("scenario:\"copy (in L1)\"*", 2),
        ("scenario:\"copy*\"", 0),
        ("scenario:Read*", 0),
        ("scenario:\"\"", 0),
    ] {
        assert_eq!(taken(text).len(), wanted, "{text}: {:?}", taken(text));
    }
    assert_eq!(taken("depth:160 jobs:2 unit:s"), ["read 160 × 2·wall time"]);
}

#[test]
fn a_mistake_is_named_with_its_place() {
    for (text, place, part) in [
        ("", 1, "KEY:VALUE"),
        ("  ", 3, "KEY:VALUE"),
        ("read", 1, "KEY:VALUE"),
        ("scenario:", 10, "behind \"scenario:\" must be a value"),
        ("scenario: read", 10, "must be a value"),
        ("scenario:a)", 11, "closes nothing"),
        ("jobs:1 (scenario:a", 8, "not closed"),
        ("depth:(1 OR", 12, "must be a value"),
        ("depth:(1 2)", 10, "OR or \")\""),
        ("depth:(1", 7, "not closed"),
        ("scenario:\"a", 10, "quote is not closed"),
        ("scenario:a\\", 11, "backslash"),
        ("OR jobs:1", 1, "KEY:VALUE"),
        ("jobs:1 OR", 10, "KEY:VALUE"),
        ("jobs:1 AND AND jobs:2", 12, "KEY:VALUE"),
        ("сценарий:ф )", 12, "closes nothing"),
        (&"(".repeat(1000), 101, "too deeply"),
    ] {
        let said = Filter::parse(text).expect_err(text).to_string();
        assert!(said.contains(&format!(", character {place}: ")) && said.contains(part), "{text}: {said}");
    }
    let said = Filter::parse("jobs:1 OR -jbos:2").unwrap().check(&suite().scenarios).unwrap_err().to_string();
    assert!(said.contains("character 12: there is no key \"jbos\"") && said.ends_with("unit, depth, jobs"), "{said}");
}

#[test]
fn a_unit_narrows_what_is_taken() {
    let filter = Filter::parse("depth:1 OR depth:16").unwrap();
    assert!(!filter.names_metrics());
    let filter = filter.and_unit(Unit::Seconds);
    assert!(filter.names_metrics());
    let suite = suite();
    let count = suite.scenarios.iter().flat_map(|one| one.metrics.iter().filter(|metric| filter.takes(one, metric)));
    assert_eq!(count.count(), 4);
    assert_eq!(filter.to_string(), "depth:1 OR depth:16 unit:\"s\"");
}

/// An expression before it is written.
#[derive(Debug, Clone)]
enum Tree {
    Is(&'static str, String),
    Not(Box<Tree>),
    And(Vec<Tree>),
    Or(Vec<Tree>),
}

impl Tree {
    fn text(&self) -> String {
        let all = |trees: &[Self], word: &str| trees.iter().map(Self::text).collect::<Vec<_>>().join(word);
        match self {
            Self::Is(key, value) => format!("{key}:\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")),
            Self::Not(tree) => format!("-{}", tree.text()),
            Self::And(trees) => format!("({})", all(trees, " ")),
            Self::Or(trees) => format!("({})", all(trees, " OR ")),
        }
    }

    fn holds(&self, scenario: &Scenario, metric: &Metric) -> bool {
        match self {
            Self::Is("scenario", value) => scenario.name == *value,
            Self::Is("metric", value) => metric.name == *value,
            Self::Is(axis, value) => {
                scenario.family.as_ref().and_then(|family| family.point.get(*axis)).is_some_and(|own| own == value)
            }
            Self::Not(tree) => !tree.holds(scenario, metric),
            Self::And(trees) => trees.iter().all(|tree| tree.holds(scenario, metric)),
            Self::Or(trees) => trees.iter().any(|tree| tree.holds(scenario, metric)),
        }
    }
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        prop_oneof![Just("1"), Just("16"), Just("160"), Just("2")].prop_map(|value| Tree::Is("depth", value.into())),
        prop_oneof![Just("1"), Just("2")].prop_map(|value| Tree::Is("jobs", value.into())),
        prop_oneof![Just("throughput"), Just("wall time")].prop_map(|value| Tree::Is("metric", value.into())),
        prop_oneof![Just("copy (in L1), *fast*".to_owned()), Just("read 1 × 1".into()), any::<String>()]
            .prop_map(|value| Tree::Is("scenario", value)),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(|tree| Tree::Not(Box::new(tree))),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Tree::And),
            prop::collection::vec(inner, 1..4).prop_map(Tree::Or),
        ]
    })
}

/// The plain definition, which tries every way.
fn fits_slowly(pattern: &[Piece], text: &[char]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, _) => text.is_empty(),
        (Some((Piece::Any, rest)), _) => (0..=text.len()).any(|skip| fits_slowly(rest, &text[skip..])),
        (Some(_), None) => false,
        (Some((Piece::One, rest)), Some((_, behind))) => fits_slowly(rest, behind),
        (Some((Piece::Itself(own), rest)), Some((next, behind))) => own == next && fits_slowly(rest, behind),
    }
}

proptest! {
    #[test]
    fn what_is_written_is_what_is_read(tree in trees()) {
        let (filter, suite) = (Filter::parse(&tree.text()).unwrap(), suite());
        for scenario in &suite.scenarios {
            for metric in &scenario.metrics {
                prop_assert_eq!(filter.takes(scenario, metric), tree.holds(scenario, metric), "{}", tree.text());
            }
        }
    }

    #[test]
    fn a_pattern_fits_as_it_is_defined(
        pattern in prop::collection::vec(
            prop_oneof![Just(Piece::Any), Just(Piece::One), Just(Piece::Itself('a')), Just(Piece::Itself('b'))], 0..8),
        text in "[ab]{0,10}",
    ) {
        let characters: Vec<char> = text.chars().collect();
        prop_assert_eq!(fits(&pattern, &text), fits_slowly(&pattern, &characters));
    }

    #[test]
    fn any_text_is_an_expression_or_says_where_not(text in "[a:\"()\\\\ *?OR-]{0,20}|.{0,20}") {
        if let Err(error) = Filter::parse(&text) {
            prop_assert!(error.place <= text.len() && text.is_char_boundary(error.place));
            prop_assert_eq!(error.to_string().is_empty(), false);
        }
    }
}
