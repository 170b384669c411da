//! What instruments of stend say that they checked, in Russian too.
//!
//! They say it in clauses with `; ` between them. What another instrument says has no form here and is quoted as it is.

use super::numbers::russian_if_figure;
use super::recorded::fitted;

/// English and Russian forms of a clause; the first one that fits is taken.
const CLAUSES: &[(&str, &str)] = &[
    // stend-probe, ciphers.
    ("RFC vector", "тестовый вектор из RFC"),
    (
        "{} against the backend {}, by a digest from an earlier repeat",
        "{}: сверено с реализацией {} по дайджесту прежнего повтора",
    ),
    ("{} against the backend {}", "{}: сверено с реализацией {}"),
    // Copies, pipes, switches, FizzBuzz.
    ("all {} bytes of the target against the source", "все байты копии ({}) сверены с исходными"),
    ("sum of the words of every pass over {} bytes", "сумма слов в каждом проходе, байт в проходе: {}"),
    ("all {} bytes against what the last pass stored", "все байты ({}) сверены с тем, что записал последний проход"),
    ("every one of {} bytes", "каждый байт, всего {}"),
    ("every byte of {}", "каждый байт, всего {}"),
    ("count of {} bytes, a word of each 4096", "счёт байтов ({}) и по слову из каждых 4096"),
    ("count of {} bytes, 4096 of each MiB", "счёт байтов ({}) и по 4096 из каждого МиБ"),
    ("count of {} bytes", "счёт байтов ({})"),
    ("{} bytes in full before", "до этого целиком проверено байт: {}"),
    ("before: corrupt: {} words of {}", "до этого испорчено слов: {} из {}"),
    ("before: {} bytes were sent and {} arrived", "до этого послано байт: {}, пришло: {}"),
    ("corrupt: {} words of {}", "испорчено слов: {} из {}"),
    ("{} bytes were sent and {} arrived", "послано байт: {}, пришло: {}"),
    ("{} counted here, {} counted there", "насчитано здесь {}, там {}"),
    ("woken out of turn", "разбужен не в свою очередь"),
    ("wrong from byte {} on, in line {}: {} instead of {}", "неверно с байта {}, в строке {}: {} вместо {}"),
    ("{} of {} bytes are", "неверных байт: {} из {}"),
    ("right, but {} bytes instead of {}", "верно, но байт {} вместо {}"),
    ("no byte came", "не пришло ни одного байта"),
    // fio.
    (
        "{}: {} operations of {} bytes, {} bytes counted (up to {} operations may have spanned the end of the ramp), {} short, {} dropped",
        "{}: операций {} по {} Б, сосчитано байт: {} (операций на границе разгона: до {}), неполных {}, потерянных {}",
    ),
    (
        "{}: {} operations of {} bytes, {} bytes counted, {} short, {} dropped",
        "{}: операций {} по {} Б, сосчитано байт: {}, неполных {}, потерянных {}",
    ),
    (
        "{}: {} operations, {} bytes counted, {} short, {} dropped",
        "{}: операций {}, сосчитано байт: {}, неполных {}, потерянных {}",
    ),
    (
        "{} of {} bytes written were read back with the marks of this repeat",
        "прочитано обратно с контрольными суммами байт: {} из {} записанных",
    ),
    (
        "data lost as expected: {} of {} bytes acknowledged ({})",
        "данные потеряны, как и ожидалось, байт: {} из {} подтверждённых ({})",
    ),
    (
        "of {} bytes acknowledged none is lost, although that was expected",
        "из подтверждённых байт ({}) не потеряно ничего, хотя потери ожидались",
    ),
    ("{} of {} bytes flushed are lost ({})", "потеряно байт: {} из {} сброшенных на диск ({})"),
    ("all of {} bytes flushed are there", "все байты, сброшенные на диск ({}), на месте"),
    (
        "{} of {} bytes acknowledged, but not flushed, are gone",
        "пропало байт: {} из {} подтверждённых, но не сброшенных на диск",
    ),
    ("the pool cannot be mounted any more ({})", "пул больше не монтируется ({})"),
    ("ran {} ms of {} ms", "работал {} мс из {} мс"),
    ("{} of {} bytes in {} loops", "байт {} из {}, проходов: {}"),
    (
        "{} operations/s of {} asked for: operations waited for others, so the load was not open",
        "операций в секунду {} из заданных {}: одни ждали других, так что нагрузка не была открытой",
    ),
    ("{} operations/s of {} asked for", "операций в секунду {} из заданных {}"),
    ("no error", "ошибок нет"),
    ("counts only, the data are not compared", "сверены только счётчики, сами данные не сверялись"),
];

/// What a clause is filled with.
const FILLED_IN: &[(&str, &str)] = &[
    ("read", "чтение"),
    ("write", "запись"),
    (
        "{} bytes from the start and {} blocks behind, the first and last of each message among them, and {} tags",
        TEXT_AND_TAGS,
    ),
    (
        "{} bytes from the start and {} blocks behind, the first and last of each message among them, and {} tag",
        TEXT_AND_TAGS,
    ),
    (
        "{} bytes from the start and {} blocks behind, the first and last of each message among them,",
        "байт с начала: {}, блоков дальше: {}, среди них первый и последний в каждом сообщении",
    ),
    ("all {} bytes and {} tags", "все байты ({}) и имитовставки ({})"),
    ("all {} bytes and {} tag", "все байты ({}) и имитовставки ({})"),
    ("all {} byte and {} tags", "все байты ({}) и имитовставки ({})"),
    ("all {} byte and {} tag", "все байты ({}) и имитовставки ({})"),
    ("all {} bytes", "все байты ({})"),
    ("all {} byte", "все байты ({})"),
    ("{} keys, the last of each message,", "последние ключи каждого сообщения ({})"),
    ("{} key, the last of each message,", "последние ключи каждого сообщения ({})"),
    ("{} tags", "имитовставки ({})"),
    ("{} tag", "имитовставки ({})"),
];
const TEXT_AND_TAGS: &str =
    "байт с начала: {}, блоков дальше: {}, среди них первый и последний в каждом сообщении, имитовставок: {}";

/// What was checked, in Russian as far as stend said it.
pub(super) fn checked_in_russian(evidence: &str) -> String {
    let filled_in = |part: &str| fitted(FILLED_IN, part, russian_if_figure).unwrap_or_else(|| russian_if_figure(part));
    let clause = |clause: &str| fitted(CLAUSES, clause, filled_in).unwrap_or_else(|| clause.to_owned());
    evidence.split("; ").map(clause).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_probe_and_fio_checked_is_said_in_russian() {
        for (english, russian) in [
            (
                "RFC vector; all 4096 bytes and 1 tag against the backend table",
                "тестовый вектор из RFC; все байты (4096) и имитовставки (1): сверено с реализацией table",
            ),
            (
                "RFC vector; 64 bytes from the start and 3 blocks behind, the first and last of each message among them, \
                 against the backend compact, by a digest from an earlier repeat",
                "тестовый вектор из RFC; байт с начала: 64, блоков дальше: 3, среди них первый и последний в каждом сообщении: \
                 сверено с реализацией compact по дайджесту прежнего повтора",
            ),
            (
                "count of 1048576 bytes, a word of each 4096; 65536 bytes in full before",
                "счёт байтов (1048576) и по слову из каждых 4096; до этого целиком проверено байт: 65536",
            ),
            (
                "read: 36329 operations of 4096 bytes, 148803584 bytes counted, 0 short, 0 dropped; no error; counts only, the data are not \
                 compared",
                "чтение: операций 36329 по 4096 Б, сосчитано байт: 148803584, неполных 0, потерянных 0; ошибок нет; сверены только \
                 счётчики, сами данные не сверялись",
            ),
            ("ran 899.5 ms of 1000 ms", "работал 899,5 мс из 1000 мс"),
            ("first block; round trip of 64 KiB", "first block; round trip of 64 KiB"),
        ] {
            assert_eq!(checked_in_russian(english), russian);
        }
    }

    #[test]
    fn every_form_takes_as_much_in_both_languages() {
        for (en, ru) in CLAUSES.iter().chain(FILLED_IN) {
            assert_eq!(en.matches("{}").count(), ru.matches("{}").count(), "{en}");
            assert!(ru.chars().any(|c| ('а'..='я').contains(&c)), "{en}");
        }
        for (en, ru) in CLAUSES {
            let (en, ru) = (en.replace("{}", "7"), ru.replace("{}", "7"));
            assert_eq!(checked_in_russian(&en), ru, "an earlier form takes it");
        }
    }
}
