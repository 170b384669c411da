use std::collections::BTreeSet;
use std::time::Duration;

use fluent_bundle::FluentError;
use stend_model::checked::{And, Checked, Stood, When};
use stend_model::condition::Topic;
use stend_model::quantity::Span;
use stend_model::wire::Deed;

use super::*;
use crate::statistics::STATISTICS;
use crate::texts::NAMES;
use stend_compare::table::Loss;
use stend_compare::table::Note;

/// The tags of facts of a kind and their fields, from the schema of the type.
fn facts<T: schemars::JsonSchema>(kind: &str) -> Vec<(String, BTreeSet<String>)> {
    let schema = serde_json::to_value(schemars::schema_for!(T)).unwrap();
    let one = |schema: &Value| {
        let fields = schema["properties"].as_object().unwrap();
        let tag = fields[kind]["const"].as_str().unwrap();
        (name(kind, tag), fields.keys().filter(|name| *name != kind).cloned().collect())
    };
    schema["oneOf"].as_array().unwrap().iter().map(one).collect()
}

/// The messages of all facts, with what each may be filled with.
fn messages() -> Vec<(String, BTreeSet<String>)> {
    let causes = facts::<Cause>("cause").into_iter().chain(facts::<Condition>("condition"));
    let deeds = causes.chain(facts::<Deed>("deed")).chain(facts::<Checked>("check"));
    deeds.chain(facts::<Stood>("stood")).collect()
}

#[test]
fn each_fact_is_said_in_each_language_and_nothing_else_is() {
    for language in Language::ALL {
        let heads = STATISTICS.iter().map(|one| one.name);
        let texts = NAMES.iter().copied().chain(heads).map(|text| name("text", text));
        let names: BTreeSet<_> = messages().into_iter().map(|(name, _)| name).chain(texts).collect();
        let there =
            language.messages().lines().filter_map(|line| line.split_once(" = ")).map(|(name, _)| name.to_owned());
        let there = there.filter(|name| {
            ["text-", "cause-", "condition-", "deed-", "check-", "stood-"].iter().any(|kind| name.starts_with(kind))
        });
        assert_eq!(there.collect::<BTreeSet<_>>(), names, "{language:?}");
    }
}

/// Notes, names and words that a sentence is made of too.
#[test]
fn each_language_has_the_same_messages() {
    let ids = |text: &str| -> BTreeSet<String> {
        let named = text.lines().filter(|line| !line.starts_with(['#', ' ', '}']));
        named.filter_map(|line| Some(line.split_once(" =")?.0.to_owned())).collect()
    };
    let english = ids(Language::English.messages());
    assert!(english.len() > 400 && english.contains("note-scaled"), "{english:?}");
    let units = |language: &Language| -> Vec<String> {
        let lists = ["units", "prefixes"].map(|name| plain(name, *language));
        lists.iter().flat_map(|list| crate::numbers::pairs(list)).map(|(name, _)| name.to_owned()).collect()
    };
    for language in Language::ALL {
        assert_eq!(english, ids(language.messages()), "{language:?}");
        assert_eq!(units(&Language::English), units(language), "{language:?}");
    }
}

/// A message that names a field which a fact lacks would be said with a hole.
#[test]
fn a_message_is_filled_with_the_fields_of_its_fact_alone() {
    for bundle in Language::ALL.iter().map(|language| bundle(*language)) {
        for (name, fields) in messages() {
            let message = bundle.get_message(&name).unwrap();
            let attributes: Vec<_> = message.attributes().map(|attribute| attribute.value()).collect();
            if name.starts_with("condition-") && name != "condition-unread" {
                assert!(message.get_attribute("value").is_some(), "{name}");
            }
            for number in [0.0, 0.3, 1.0, 2.0, 5.0] {
                let arguments = fields.iter().map(|name| (name.as_str(), FluentValue::from(number))).collect();
                for pattern in message.value().into_iter().chain(attributes.iter().copied()) {
                    let mut errors: Vec<FluentError> = Vec::new();
                    let said = bundle.format_pattern(pattern, Some(&arguments), &mut errors);
                    assert!(errors.is_empty(), "{name}: {errors:?}");
                    assert!(!said.is_empty() && !said.contains(['{', '}', '\n']), "{name}: {said:?}");
                }
            }
        }
    }
}

#[test]
fn each_text_is_in_the_language_of_its_file() {
    let russian = |text: &str| text.chars().any(|c| ('а'..='я').contains(&c) || c == '№');
    for text in NAMES {
        let said = super::text(text);
        assert!(!russian(said.english()) && russian(said.russian()), "{text}: {said:?}");
    }
}

#[test]
fn conditions_are_said_with_what_to_do() {
    let said = |condition: &Condition| {
        [Language::English, Language::Russian].map(|language| super::condition(condition, language).with_advice())
    };
    for (condition, english, russian) in [
        (
            Condition::ForeignLoad { share: 0.4, limit: Some(0.02), said: Some("rustc, cc1".into()) },
            "other programs: 40 % of the CPU time, most of it by rustc, cc1; stop them: above 2.0 % no repeat counts",
            "посторонние программы: 40\u{a0}% процессорного времени, больше всего — rustc, cc1; остановите их: выше 2,0\u{a0}% ни один повтор не засчитывается",
        ),
        (
            Condition::Steal { share: 0.012, limit: None },
            "steal: 1.2 % of the CPU time; the host gives this virtual machine's time to other guests",
            "отнятое время: 1,2\u{a0}% процессорного времени; хост отдаёт время этой виртуальной машины другим",
        ),
        (
            Condition::Swap { used: 0, total: 0, pages: 3 },
            "swap: none; the machine is swapping: free memory, or repeats will be invalid",
            "подкачка: места нет; идёт подкачка: освободите память, иначе повторы будут негодными",
        ),
        (
            Condition::Throttling { times: 1, just_now: true },
            "throttling: 1 event just now; the machine is too hot: cool it, or repeats will be invalid",
            "троттлинг: только что, событий: 1; слишком жарко: охладите машину, иначе повторы будут негодными",
        ),
        (
            Condition::Unread { of: Topic::ForeignLoad, why: Cause::Uncounted { source: "/proc/stat".into() } },
            "other programs: /proc/stat does not count here; whether the machine is idle is unknown",
            "посторонние программы: /proc/stat здесь ничего не считает; свободна ли машина, неизвестно",
        ),
    ] {
        assert_eq!(said(&condition), [english, russian]);
    }
    let file = |path: &str| words_of_space(path, 40 << 30);
    assert!(
        file("/work")[0].contains(
            "the files in /work need 40 GiB; free some space, or place the files elsewhere (STEND_WORK, or fio"
        )
    );
    assert!(file("/work")[1].contains("файлам в /work нужно 40\u{a0}ГиБ"));
    assert!(words_of_space("/work", 0)[0].ends_with("free some space, or set STEND_WORK to another directory"));
}

fn words_of_space(directory: &str, needed: u64) -> [String; 2] {
    let (mount, directory) = ("/".to_owned(), directory.to_owned());
    let space = Condition::LoadSpace { available: 1 << 30, mount, directory, needed, job_file: false };
    [Language::English, Language::Russian].map(|language| condition(&space, language).with_advice())
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
            Cause::WorkWrong { evidence: vec![Checked::NothingCame, Checked::OutOfTurn].into() },
            "the work was wrong: no byte came; woken out of turn",
            "работа сделана неверно: не пришло ни одного байта; разбужен не в свою очередь",
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
            Cause::ServerEnded { server: "nginx".into(), said: "out of memory".into() },
            "server nginx ended meanwhile: out of memory",
            "сервер nginx тем временем завершился: out of memory",
        ),
        (
            Cause::ServerNotMade { server: "nginx".into(), said: "no certificate".into() },
            "server nginx could not be set up: no certificate",
            "сервер nginx не удалось подготовить и запустить: no certificate",
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
fn what_was_checked_is_said() {
    let backend = |bytes, blocks, keys, tags| Checked::Backend { backend: "table".into(), bytes, blocks, keys, tags };
    let places = vec![Checked::LostIn { lun: 0, bytes: 4096, first: 0, end: 4096 }, Checked::MoreLost];
    for (checked, english, russian) in [
        (
            vec![Checked::RfcVector, backend(4096, 0, 0, 1)],
            "RFC vector; all 4096 bytes and 1 tag against the backend table",
            "тестовый вектор из RFC; все байты (4096) и имитовставки (1): сверено с реализацией table",
        ),
        (
            vec![backend(64, 3, 0, 0), Checked::ByDigest],
            "64 bytes from the start and 3 blocks behind, the first and last of each message among them, against the backend table; \
             by a digest from an earlier repeat",
            "байт с начала: 64, блоков дальше: 3, среди них первый и последний в каждом сообщении: сверено с реализацией table; \
             по дайджесту прежнего повтора",
        ),
        (
            vec![backend(0, 0, 2, 0)],
            "2 keys, the last of each message, against the backend table",
            "последние ключи каждого сообщения (2): сверено с реализацией table",
        ),
        (
            vec![backend(0, 0, 0, 2)],
            "2 tags against the backend table",
            "имитовставки (2): сверено с реализацией table",
        ),
        (
            vec![Checked::Count { bytes: 1 << 20, and: And::Words }, Checked::FullBefore { bytes: 65536 }],
            "count of 1048576 bytes, a word of each 4096; 65536 bytes in full before",
            "счёт байтов (1048576) и по слову из каждых 4096; до этого целиком проверено байт: 65536",
        ),
        (
            vec![
                Checked::Corrupt { wrong: 2, words: 512, when: When::Measured },
                Checked::Corrupt { wrong: 1, words: 8, when: When::Before },
            ],
            "corrupt: 2 words of 512; before: corrupt: 1 words of 8",
            "испорчено слов: 2 из 512; до этого испорчено слов: 1 из 8",
        ),
        (
            vec![
                Checked::FioCounts {
                    direction: "read".into(),
                    operations: 36329.0,
                    bytes: 148_803_584.0,
                    block: Some(4096),
                    short: 0.0,
                    dropped: 0.0,
                },
                Checked::CountsOnly,
            ],
            "read: 36329 operations of 4096 bytes, 148803584 bytes counted, 0 short, 0 dropped; no error; counts only, the data \
             are not compared",
            "чтение: операций 36329 по 4096 Б, сосчитано байт: 148803584, неполных 0, потерянных 0; ошибок нет; сверены только \
             счётчики, сами данные не сверялись",
        ),
        (
            vec![Checked::TooShort { ms: 899.5, wanted_ms: 1000.0 }],
            "ran 899.5 ms of 1000 ms",
            "работал 899,5 мс из 1000 мс",
        ),
        (
            vec![Checked::AnswerImpossible { vector: "FIPS 180-4".into() }],
            "this OpenSSL's command line cannot compute the FIPS 180-4 digest of abc",
            "командная строка этого OpenSSL не может вычислить дайджест строки abc из FIPS 180-4",
        ),
        (
            vec![
                Checked::FlushedLost { bytes: 4096, flushed: 8192, places },
                Checked::PoolUnmountable { said: "bad superblock".into() },
                Checked::Stands { file: "lun0".into(), offset: 512, what: Stood::Zeros },
            ],
            "4096 of 8192 bytes flushed are lost (lun0 4096 between offsets 0 and 4096, and so on); the pool cannot be mounted any \
             more: bad superblock; at offset 512 of lun0: zeros",
            "потеряно байт: 4096 из 8192 сброшенных на диск (lun0: 4096 между смещениями 0 и 4096, и так далее); пул больше не \
             монтируется: bad superblock; по смещению 512 в lun0: нули",
        ),
    ] {
        let checks = Checks::from(checked);
        let said = super::checks(&checks);
        assert_eq!((said.english(), said.russian()), (english, russian));
        let written = serde_json::to_string(&checks).unwrap();
        assert_eq!(serde_json::from_str::<Checks>(&written).unwrap(), checks, "{written}");
    }
    let own = Checks::Said("first block; round trip of 64 KiB".into());
    assert_eq!(super::checks(&own).russian(), "first block; round trip of 64 KiB", "others are quoted");
}

#[test]
fn what_repeats_were_lost_to_is_counted() {
    let to = vec![(Loss::Steal, 2), (Loss::Failure, 1)];
    let phrase =
        Phrase::of(|language| note(&Note::Lost { run: "a".into(), repeats: 3, of: 20, to: to.clone() }, language));
    assert_eq!(phrase.english(), "a: 3 of 20 measured repeats do not count: 2 for steal, 1 failed");
    assert_eq!(
        phrase.russian(),
        "a: не засчитано измеренных повторов: 3 из 20 (отнятое время: 2, отказ инструмента: 1)"
    );
    for loss in ["steal", "foreign-cpu", "clock-fell", "swapping", "throttling", "work", "failure", "other"] {
        for bundle in Language::ALL.iter().map(|language| bundle(*language)) {
            assert!(bundle.has_message(&format!("lost-{loss}")), "{loss}");
        }
    }
}

#[test]
fn a_side_that_has_only_a_name_is_the_machine_as_it_is() {
    let side = |run: &str, settings: &[&str]| {
        let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
        let note = Note::Side { run: run.into(), settings, compiler: None, tools: Vec::new() };
        notes::note(&note, Language::English)
    };
    assert_eq!(side("heuristic", &[]), "heuristic: the machine as it is");
    assert_eq!(side("20261127-0412-3f9a:heuristic", &[]), "20261127-0412-3f9a:heuristic: the machine as it is");
    assert_eq!(side("always", &["sysctl.vm.overcommit_memory=1"]), "always: sysctl.vm.overcommit_memory=1");
}
