use std::collections::BTreeSet;
use std::time::Duration;

use fluent_bundle::FluentError;
use stend_model::quantity::Span;

use super::*;

/// The tags of causes and their fields, from the schema of the type.
fn causes() -> Vec<(String, BTreeSet<String>)> {
    let schema = serde_json::to_value(schemars::schema_for!(Cause)).unwrap();
    let one = |schema: &Value| {
        let fields = schema["properties"].as_object().unwrap();
        let tag = fields["cause"]["const"].as_str().unwrap().to_owned();
        (tag, fields.keys().filter(|name| *name != "cause").cloned().collect())
    };
    schema["oneOf"].as_array().unwrap().iter().map(one).collect()
}

#[test]
fn each_cause_is_said_in_each_language_and_nothing_else_is() {
    for (language, text) in [(Language::English, include_str!("en.ftl")), (Language::Russian, include_str!("ru.ftl"))] {
        let names: BTreeSet<_> = causes().iter().map(|(tag, _)| name("cause", tag)).collect();
        let there = text.lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name.to_owned());
        assert_eq!(there.filter(|name| name.starts_with("cause-")).collect::<BTreeSet<_>>(), names, "{language:?}");
    }
}

/// A message that names a field which a cause lacks would be said with a hole.
#[test]
fn a_message_is_filled_with_the_fields_of_its_cause_alone() {
    for bundle in [&*ENGLISH, &*RUSSIAN] {
        for (tag, fields) in causes() {
            for number in [0.0, 1.0, 2.0, 5.0] {
                let arguments = fields.iter().map(|name| (name.as_str(), FluentValue::from(number))).collect();
                let pattern = bundle.get_message(&name("cause", &tag)).unwrap().value().unwrap();
                let mut errors: Vec<FluentError> = Vec::new();
                let said = bundle.format_pattern(pattern, Some(&arguments), &mut errors);
                assert!(errors.is_empty(), "{tag}: {errors:?}");
                assert!(!said.is_empty() && !said.contains(['{', '}', '\n']), "{tag}: {said:?}");
            }
        }
    }
}

#[test]
fn causes_are_said_as_each_language_counts() {
    for (fact, english, russian) in [
        (
            Cause::Steal { share: 0.0217, limit: 0.01 },
            "the hypervisor took away 2.2 % of the machine's CPU time",
            "гипервизор отнял 2,2\u{a0}% процессорного времени машины",
        ),
        (
            Cause::ClockFell { share: 0.25, limit: 0.05, before_hz: 4e9, after_hz: 3e9 },
            "the clock fell by 25 % while it ran, from 4.00 to 3.00 GHz",
            "за время работы частота упала на 25\u{a0}%: с 4,00 до 3,00 ГГц",
        ),
        (Cause::Swapping { pages: 1.0, limit: 0.0 }, "1 page was swapped", "подкачка: 1 страница"),
        (Cause::Swapping { pages: 23.0, limit: 0.0 }, "23 pages were swapped", "подкачка: 23 страницы"),
        (
            Cause::Throttling { times: 3.0, limit: 0.0 },
            "3 times a CPU was throttled by heat",
            "троттлинг из-за нагрева: 3 раза",
        ),
        (
            Cause::TimedOut { limit: Span(Duration::from_secs(30)) },
            "it did not end within 30s and was ended",
            "не завершился за 30s и был остановлен",
        ),
        (Cause::Exited { status: 3, said: String::new() }, "it ended with status 3", "завершился с кодом 3"),
        (
            Cause::Exited { status: 3, said: "no disk".into() },
            "it ended with status 3: no disk",
            "завершился с кодом 3: no disk",
        ),
        (
            Cause::WorkWrong { evidence: "no error".into() },
            "the work was wrong: no error",
            "работа сделана неверно: ошибок нет",
        ),
        (
            Cause::FioJobFailed { job: "a".into(), error: 5, errors: 2.0, said: String::new() },
            "fio's job \"a\" failed with error 5, 2 errors",
            "задание fio «a» не удалось: код ошибки 5, ошибок: 2",
        ),
        (
            Cause::FioJobFailed { job: "a".into(), error: 5, errors: 0.0, said: "EIO".into() },
            "fio's job \"a\" failed with error 5: EIO",
            "задание fio «a» не удалось: код ошибки 5: EIO",
        ),
        (
            Cause::RemainsUnread { why: Box::new(Cause::PoolDown { said: "bad superblock".into() }) },
            "what is left of the pool cannot be read: the pool cannot be brought up again: bad superblock",
            "не удалось прочесть то, что осталось от пула: пул не удалось поднять снова: bad superblock",
        ),
    ] {
        assert_eq!(cause(&fact, Language::English), english);
        assert_eq!(cause(&fact, Language::Russian), russian);
        let written = serde_json::to_string(&fact).unwrap();
        assert_eq!(serde_json::from_str::<Cause>(&written).unwrap(), fact, "{written}");
    }
}

#[test]
fn what_repeats_were_lost_to_is_counted() {
    let phrase = lost("a", 3, 20, &[(Loss::Steal, 2), (Loss::Failure, 1)]);
    assert_eq!(phrase.en, "a: 3 of 20 measured repeats do not count: 2 for steal, 1 failed");
    assert_eq!(phrase.ru, "a: не засчитано измеренных повторов: 3 из 20 (отнятое время: 2, отказ инструмента: 1)");
    for loss in ["steal", "foreign-cpu", "clock-fell", "swapping", "throttling", "work", "failure", "other"] {
        for bundle in [&*ENGLISH, &*RUSSIAN] {
            assert!(bundle.has_message(&format!("lost-{loss}")), "{loss}");
        }
    }
}
