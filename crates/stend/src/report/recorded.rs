//! Sentences that stend wrote into a run when it made it, in Russian too.
//!
//! A run keeps them in English, as they were said. Here stand their forms, with `{}` for what was filled in; what has no form
//! here stays as it is. It was said by an instrument, a tool or the system, and is quoted.

use super::checked::checked_in_russian;
use super::numbers::russian_if_figure;
use super::phrase::Phrase;
use crate::language::Language;
use crate::machine;

/// English and Russian forms; the first one that fits is taken. The Russian form takes what was filled in in the same order.
const FORMS: &[(&str, &str)] = &[
    // Why a repeat is invalid.
    ("the work was wrong", "работа сделана неверно"),
    (
        "the work was not verified; if it cannot be, say verification = \"none\"",
        "работа не проверена; если её нельзя проверить, укажите verification = \"none\"",
    ),
    (
        "the instrument did not report what the metric \"{}\" needs ({})",
        "инструмент не сообщил того, что нужно показателю «{}» ({})",
    ),
    ("the clock fell by {} while it ran, from {} to {} GHz", "за время работы частота упала на {}: с {} до {} ГГц"),
    ("the hypervisor took away {} of the machine's CPU time", "гипервизор отнял {} процессорного времени машины"),
    ("other programs used {} of the machine's CPU time", "чужие программы заняли {} процессорного времени машины"),
    ("{} pages were swapped", "страниц подкачано: {}"),
    ("{} times a CPU was throttled by heat", "троттлинг из-за нагрева, раз: {}"),
    // Why a repeat has failed.
    ("it printed more than {} MiB", "напечатано больше {} МиБ"),
    ("it printed more than {} lines", "напечатано больше {} строк"),
    ("it did not end within {} and was ended", "не завершился за {} и был остановлен"),
    ("it did not end within {} and could not be ended", "не завершился за {}, и остановить его не удалось"),
    ("the guard died", "программа-сторож погибла"),
    ("the link dropped, or the guard there died", "связь оборвалась, или программа-сторож там погибла"),
    ("it was started wrongly (status 2): {}", "запущен неверно (код 2): {}"),
    ("it was started wrongly (status 2)", "запущен неверно (код 2)"),
    ("it reported no repeat", "не сообщил о повторе"),
    ("it ended with status {}: {}", "завершился с кодом {}: {}"),
    ("it ended with status {}", "завершился с кодом {}"),
    ("it was killed by signal {}: {}", "убит сигналом {}: {}"),
    ("it was killed by signal {}", "убит сигналом {}"),
    ("nobody knows how it ended: {}", "чем завершился – неизвестно: {}"),
    ("nobody knows how it ended", "чем завершился – неизвестно"),
    ("it printed a line that is no event: {}", "напечатана строка, которая не является событием: {}"),
    ("it printed a second \"begin\"", "напечатано второе событие «begin»"),
    ("it printed no \"begin\"", "не напечатано событие «begin»"),
    ("it printed no \"repeat\"", "не напечатано событие «repeat»"),
    ("it printed no \"end\"", "не напечатано событие «end»"),
    (
        "it printed {} \"repeat\" events; stend wants one an invocation",
        "напечатано событий «repeat»: {}; stend нужно одно за запуск",
    ),
    ("{} exited with status {}", "{} завершился с кодом {}"),
    ("{} was ended by signal {}", "{} убит сигналом {}"),
    ("{} was stopped because its time was up{}", "{} остановлен: время вышло{}"),
    ("its files cannot be put there: {}", "не удалось положить его файлы: {}"),
    // The same, of tools behind adapters.
    ("fio's report is no complete JSON ({}): {}", "отчёт fio – не целый JSON ({}): {}"),
    ("fio's report is no complete JSON ({})", "отчёт fio – не целый JSON ({})"),
    ("fio's report is not as expected: {}", "отчёт fio не такой, как ожидалось: {}"),
    ("fio's report has {} groups of jobs instead of {}", "в отчёте fio групп заданий: {} вместо {}"),
    (
        "fio's job \"{}\" read other data than were written: {}",
        "задание fio «{}» прочло не те данные, что были записаны: {}",
    ),
    ("the load does not say when it began", "нагрузка не сообщила, когда началась"),
    (
        "{} was not read close enough to the beginning and the end of the load",
        "{}: отсчёты не доходят до начала и конца нагрузки",
    ),
    ("there are too few windows of the load before a fault", "перед отказом слишком мало окон нагрузки"),
    ("the load was not back before it ended", "нагрузка не восстановилась до своего конца"),
    ("the processor time of {} was not read", "процессорное время {} не читалось"),
    ("fio's job \"{}\" read other data than were written", "задание fio «{}» прочло не те данные, что были записаны"),
    (
        "the machine's clock was set by about {} s while fio ran",
        "пока работала fio, часы машины переведены примерно на {} с",
    ),
    ("fio wrote no report: {}", "fio не написал отчёта: {}"),
    ("fio wrote no report", "fio не написал отчёта"),
    (
        "fio's job \"{}\" failed with error {}, {} errors: {}",
        "задание fio «{}» не удалось: код ошибки {}, ошибок {}: {}",
    ),
    ("fio's job \"{}\" failed with error {}, {} errors", "задание fio «{}» не удалось: код ошибки {}, ошибок {}"),
    ("fio's job \"{}\" failed with error {}: {}", "задание fio «{}» не удалось: код ошибки {}: {}"),
    ("fio's job \"{}\" failed with error {}", "задание fio «{}» не удалось: код ошибки {}"),
    ("fio did no operation: {}", "fio не сделал ни одной операции: {}"),
    ("fio did no operation", "fio не сделал ни одной операции"),
    ("fio's {} log has the line {}", "в журнале {} программы fio есть строка {}"),
    ("openssl speed counted in {} processes instead of {}: {}", "openssl speed считал процессов: {} вместо {}: {}"),
    ("openssl speed counted in {} processes instead of {}", "openssl speed считал процессов: {} вместо {}"),
    (
        "openssl speed counted {} operations in {} s of {} s: {}",
        "openssl speed насчитал операций: {}, секунд: {} из {}: {}",
    ),
    ("openssl speed counted {} operations in {} s of {} s", "openssl speed насчитал операций: {}, секунд: {} из {}"),
    ("openssl speed printed {}", "openssl speed напечатал {}"),
    (
        "gzip took no time at all; the guard did not measure it",
        "gzip не занял никакого времени; программа-сторож его не измерила",
    ),
    (
        "expected the length and the last eight bytes of gzip's result, got {}",
        "ожидались длина и последние восемь байт результата gzip, а получено {}",
    ),
    (
        "its rate is a share of \"{}\", which has no repeat that counts",
        "темп задан долей от «{}», а там нет годных повторов",
    ),
    // What adapters checked.
    (
        "there is no known answer for {} that the openssl command can compute",
        "для {} нет известного ответа, который могла бы вычислить команда openssl",
    ),
    (
        "this OpenSSL computes {}; the operations of the timed loop are counted, their results not looked at",
        "этот OpenSSL верно вычисляет {}; операции измеряемого цикла сосчитаны, их результаты не проверяются",
    ),
    ("this OpenSSL's command line cannot compute {}", "командная строка этого OpenSSL не может вычислить {}"),
    ("{}: {} is right, this OpenSSL computes {}", "{}: верно {}, этот OpenSSL вычисляет {}"),
    (
        "gzip's trailer says CRC-32 {} and {} bytes; the pages have {} and {}",
        "по хвосту gzip CRC-32 {}, байт {}; у страниц {} и {}",
    ),
    // What became of a pool that failed.
    ("scrubbing disk {} found {} errors that could not be mended", "проверка диска {} нашла неисправимых ошибок: {}"),
    ("what is left of the pool cannot be read: {}", "не удалось прочесть то, что осталось от пула: {}"),
    // What a fault did, as its marks say it.
    ("disk {} dies", "диск {} отказывает"),
    ("disk {} replaced", "диск {} заменён"),
    ("disk {} rebuilt", "диск {} восстановлен"),
    ("disk {} rots", "на диске {} портятся данные"),
    ("disk {} is scrubbed", "диск {} проверяется"),
    ("disk {} scrubbed", "диск {} проверен"),
    ("disk {} slows down", "диск {} замедляется"),
    ("disk {} recovers", "диск {} снова быстрый"),
    ("disk {} is lost", "диск {} потерян"),
    ("the pool loses its power", "у пула пропадает питание"),
    ("controller {} killed", "контроллер {} убит"),
    ("controller {} back", "контроллер {} снова работает"),
    // Why a scenario was skipped.
    ("{} is not on the machine's PATH", "программы {} нет в PATH машины"),
    ("{} is too old: {}, and {} is needed", "{} слишком старой версии: {}, нужна {}"),
    ("{} does not say its version ({}), and {} is needed", "{} не сообщает версию ({}), нужна {}"),
    // Why a profile shows less than it might.
    ("perf is forbidden here: {}", "perf здесь запрещён: {}"),
    ("perf does not work here: {}", "perf здесь не работает: {}"),
    ("perf takes no samples here", "perf здесь не делает отсчётов"),
    ("perf took no samples of it", "perf не сделал ни одного отсчёта"),
    ("perf cannot read its samples: {}", "perf не может прочесть свои отсчёты: {}"),
    (
        "perf may not look into the kernel (kernel.perf_event_paranoid is {})",
        "perf не может заглянуть в ядро (kernel.perf_event_paranoid: {})",
    ),
    (
        "the kernel hides the names of its functions (kernel.kptr_restrict is {})",
        "ядро скрывает имена своих функций (kernel.kptr_restrict: {})",
    ),
    ("its samples cannot be folded: {}", "его отсчёты не удалось свернуть: {}"),
    ("strace is forbidden here: {}", "strace здесь запрещён: {}"),
    ("strace wrote no table", "strace не написал таблицы"),
    ("strace's table has a head that stend does not know: {}", "у таблицы strace незнакомый заголовок: {}"),
    ("strace's table has the line {}", "в таблице strace есть строка {}"),
    // What made the machine unfit.
    (
        "machine: {}; it must be within reach and have a POSIX shell",
        "машина: {}; она должна быть доступна, и на ней нужна оболочка POSIX",
    ),
    (
        "swap: none; the machine swaps: free memory, or repeats are invalid",
        "подкачка: места нет, но машина подкачивает: освободите память, иначе повторы негодны",
    ),
    (
        "foreign load: {} of the processors' time; end what runs beside: above {} % all repeats are invalid",
        "чужая нагрузка: {} процессорного времени; остановите посторонние программы: выше {} % негодны все повторы",
    ),
    (
        "steal: {} of the processors' time; the host gives this virtual machine's time to others: above {} % all repeats are invalid",
        "отнятое время: {} процессорного времени; хозяин отдаёт время этой виртуальной машины другим: выше {} % негодны все повторы",
    ),
    // As earlier versions said it.
    (
        "free space for the load: {} in {}; the files in {} need {}; make room, or have the files elsewhere (STEND_WORK, or directory= in the job file) or smaller (--set size=1GiB)",
        "место для нагрузки: {} в {}; файлам в {} нужно {}; освободите место, держите файлы в другом (STEND_WORK или directory= в файле заданий) или уменьшите их (--set size=1GiB)",
    ),
    (
        "foreign load: {} of the processors' time; end what runs beside: above {} % repeats are invalid",
        "чужая нагрузка: {} процессорного времени; остановите посторонние программы: выше {} % повторы негодны",
    ),
    (
        "steal: {} of the processors' time; the host gives this virtual machine's time to others: above {} % repeats are invalid",
        "отнятое время: {} процессорного времени; хозяин отдаёт время этой виртуальной машины другим: выше {} % повторы негодны",
    ),
    (
        "swap: {} of {} MiB used; the machine swaps: free memory, or repeats are invalid",
        "подкачка: занято {} из {} МиБ; машина подкачивает: освободите память, иначе повторы негодны",
    ),
    (
        "free space for results: {} cannot be written; keep results elsewhere: --store",
        "место для результатов: в {} нельзя писать; храните результаты в другом: --store",
    ),
    (
        "free space for the load: {} cannot be written; set STEND_WORK, or fio's \"directory\", to another directory",
        "место для нагрузки: в {} нельзя писать; укажите в STEND_WORK или в «directory» у fio другой каталог",
    ),
    (
        "free space for results: {} in {}; make room, or keep results elsewhere: --store",
        "место для результатов: {} в {}; освободите место или храните результаты в другом: --store",
    ),
    (
        "free space for the load: {} in {}; the files in {} need {}; make room, or have the files elsewhere (STEND_WORK, or fio's \"directory\") or smaller (--scale, --only)",
        "место для нагрузки: {} в {}; файлам в {} нужно {}; освободите место, держите файлы в другом (STEND_WORK или «directory» у fio) или уменьшите их (--scale, --only)",
    ),
    (
        "free space for the load: {} in {}; the files in {} need {}; make room, or have the files elsewhere (STEND_WORK, or directory= in the job file) or smaller (--set size=1GiB, of LUNs --set lun_size=1GiB)",
        "место для нагрузки: {} в {}; файлам в {} нужно {}; освободите место, держите файлы в другом (STEND_WORK или directory= в файле заданий) или уменьшите их (--set size=1GiB, LUN-ы — --set lun_size=1GiB)",
    ),
    ("it has {} MiB, and no more than {} MiB are kept", "в нём {} МиБ, а хранится не больше {} МиБ"),
    (
        "fio here has no engine \"{}\" (fio --enghelp lists those that it has)",
        "у здешнего fio нет движка «{}» (какие есть, скажет fio --enghelp)",
    ),
    (
        "free space for the load: {} in {}; make room, or set STEND_WORK to another directory",
        "место для нагрузки: {} в {}; освободите место или укажите в STEND_WORK другой каталог",
    ),
    (
        "throttling: {} event just now; it is too hot: cool it, or repeats are invalid",
        "троттлинг: только что событий: {}; слишком жарко: охладите машину, иначе повторы негодны",
    ),
    (
        "throttling: {} events just now; it is too hot: cool it, or repeats are invalid",
        "троттлинг: только что событий: {}; слишком жарко: охладите машину, иначе повторы негодны",
    ),
    // What could not be read.
    ("{} did not end within {} s and was killed", "{} не завершился за {} с и был убит"),
    ("cannot start {}: {}", "не запускается {}: {}"),
    ("the script that asks the machine ended early", "скрипт, который опрашивает машину, завершился раньше времени"),
    ("neither {} nor {} says it", "этого не говорят ни {}, ни {}"),
    ("{} has no name for it", "в {} нет названия"),
    ("none of {} is on the PATH", "ничего из {} нет в PATH"),
    ("{} printed nothing", "{} ничего не напечатал"),
    ("no window of {} ms in fio's logs", "в журналах fio нет ни одного окна в {} мс"),
    ("no thermal zone in {} and no temperature in {}", "нет ни термозон в {}, ни температур в {}"),
    ("no counter in {} and no sensor in {}", "нет ни счётчиков в {}, ни датчиков в {}"),
    ("no cpufreq in {}", "нет cpufreq в {}"),
    ("cannot read {}", "не читается {}"),
    ("{}: No such file or directory", "{}: нет такого файла или каталога"),
    ("{}: it says nothing", "{}: там ничего нет"),
    ("{} is not on the PATH", "программы {} нет в PATH"),
];

/// Published answers that tools are asked for, and where they stand.
const SOURCES: &[(&str, &str)] = &[
    ("the NIST SP 800-38A vector of this cipher", "тестовый вектор этого шифра из NIST SP 800-38A"),
    (
        "the NIST CAVP vector of this cipher without plain text (GMAC)",
        "тестовый вектор этого шифра из NIST CAVP, без открытого текста (GMAC)",
    ),
    ("the {} digest of abc", "дайджест строки abc из {}"),
];

/// What a form is filled with, in Russian.
fn filled_in(part: &str) -> String {
    fitted(SOURCES, part, str::to_owned).unwrap_or_else(|| russian_if_figure(part))
}

/// A sentence of a run in both languages.
pub(crate) fn recorded(sentence: &str) -> Phrase {
    let wrong = || {
        let evidence = sentence.strip_prefix("the work was wrong: ")?;
        Some(format!("работа сделана неверно: {}", checked(evidence).ru))
    };
    let russian = wrong().or_else(|| fitted(FORMS, sentence, filled_in));
    Phrase::new(sentence, russian.unwrap_or_else(|| sentence.to_owned()))
}

/// What an instrument says that it checked.
pub(super) fn checked(evidence: &str) -> Phrase {
    let russian = fitted(FORMS, evidence, filled_in).unwrap_or_else(|| checked_in_russian(evidence));
    Phrase::new(evidence, russian)
}

/// A sentence by the first of these forms that fits, with what was filled in as `filled_in` says it.
pub(super) fn fitted(forms: &[(&str, &str)], sentence: &str, filled_in: impl Fn(&str) -> String) -> Option<String> {
    forms.iter().find_map(|(en, ru)| {
        let parts: Vec<_> = parts(en, sentence)?.into_iter().map(&filled_in).collect();
        Some(filled(ru, &parts))
    })
}

/// Several sentences as one.
pub(super) fn recorded_all(sentences: &[String]) -> Phrase {
    let phrases: Vec<_> = sentences.iter().map(|sentence| recorded(sentence)).collect();
    let join = |of: fn(&Phrase) -> &str| phrases.iter().map(of).collect::<Vec<_>>().join("; ");
    Phrase::new(join(|phrase| &phrase.en), join(|phrase| &phrase.ru))
}

/// What may be missing, as the sampler and the scripts call it, in Russian. Parts of the fingerprint have names of their own; tools and
/// controls of groups are called as they are.
const NAMES: &[(&str, &str)] = &[
    ("energy", "энергия"),
    ("power", "мощность"),
    ("frequency", "частота"),
    ("thermal", "температура"),
    ("cpu", "процессорное время"),
    ("memory", "память"),
    ("swap", "подкачка"),
    ("load", "загрузка"),
    ("disk", "диски"),
    ("net", "сеть"),
    ("collection", "опрос машины"),
    ("tools", "программы"),
    ("mitigations", "защита от уязвимостей"),
    ("series", "ряды отсчётов"),
    ("report", "отчёт программы"),
];

/// A name and why there is nothing under it: `thermal: no thermal zone …`.
pub(super) fn recorded_under_name(line: &str) -> Phrase {
    let Some((name, reason)) = line.split_once(": ") else { return recorded(line) };
    let Phrase { en, ru } = recorded(reason);
    let [english, russian] =
        [Language::English, Language::Russian].map(|language| machine::part_called(name, language));
    let known = NAMES.iter().find(|(english, _)| *english == name);
    let russian = known.map_or(russian, |(_, russian)| (*russian).to_owned());
    Phrase::new(format!("{english}: {en}"), format!("{russian}: {ru}"))
}

/// What was filled into a form, if the sentence is of that form.
fn parts<'a>(form: &str, sentence: &'a str) -> Option<Vec<&'a str>> {
    let mut fixed = form.split("{}");
    let mut rest = sentence.strip_prefix(fixed.next()?)?;
    let mut parts = Vec::new();
    let mut fixed = fixed.peekable();
    while let Some(text) = fixed.next() {
        let at = if fixed.peek().is_some() { rest.find(text)? } else { rest.len().checked_sub(text.len())? };
        if rest.get(at..)?.get(..text.len())? != text {
            return None;
        }
        parts.push(&rest[..at]);
        rest = &rest[at + text.len()..];
    }
    rest.is_empty().then_some(parts)
}

fn filled(form: &str, parts: &[String]) -> String {
    let mut fixed = form.split("{}");
    let first = fixed.next().unwrap_or_default().to_owned();
    fixed.zip(parts).fold(first, |text, (fixed, part)| text + part + fixed)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use stend_model::suite::Gates;
    use stend_model::wire::{Check, Event, parse_line};

    use super::*;
    use crate::run::gates;

    #[test]
    fn what_was_filled_in_stands_in_the_russian_sentence() {
        let russian = |text: &str| recorded(text).ru.into_owned();
        assert_eq!(
            russian("the clock fell by 4.0 % while it ran, from 3.00 to 2.88 GHz"),
            "за время работы частота упала на 4,0\u{a0}%: с 3,00 до 2,88 ГГц"
        );
        assert_eq!(russian("it ended with status 3: disk: full: really"), "завершился с кодом 3: disk: full: really");
        assert_eq!(russian("it ended with status 3"), "завершился с кодом 3");
        assert_eq!(
            russian("the work was wrong: corrupt: 2 words of 512; before: corrupt: 1 words of 8"),
            "работа сделана неверно: испорчено слов: 2 из 512; до этого испорчено слов: 1 из 8"
        );
        assert_eq!(
            checked("this OpenSSL's command line cannot compute the FIPS 180-4 digest of abc").ru,
            "командная строка этого OpenSSL не может вычислить дайджест строки abc из FIPS 180-4"
        );
        assert_eq!(russian("controller 0 back"), "контроллер 0 снова работает");
        assert_eq!(russian("{} is {}"), "{} is {}", "nobody's sentence is left alone");
        assert_eq!(recorded_under_name("frequency: no cpufreq in /sys").ru, "частота: нет cpufreq в /sys");
        assert_eq!(
            recorded_under_name("energy: no counter in /a and no sensor in /b").ru,
            "энергия: нет ни счётчиков в /a, ни датчиков в /b"
        );
    }

    #[test]
    fn every_reason_of_the_gates_has_a_russian_form() {
        let mut scenario = crate::testing::suite().scenarios.remove(0);
        scenario.gates = Gates::DEFAULT;
        let mut report = crate::testing::repeat(0, 0, 0, 1.0).report.unwrap();
        report.check = Check::Failed;
        report.observed =
            [("clock_hz_before", 3e9), ("clock_hz_after", 2e9)].map(|(name, hz)| (name.into(), hz)).into();
        report.work = BTreeMap::from([("operations".into(), 1.0)]);
        let machine = r#"{"busy_ns":9e9,"idle_ns":1e9,"steal_ns":5e9,"cpus":2,"swapped_pages":7,"throttles":3}"#;
        let usage = format!(
            r#"{{"event":"usage","wall_ns":9000000000,"user_ns":0,"system_ns":0,"exit":0,"machine":{machine}}}"#
        );
        let Ok(Some(Event::Usage(usage))) = parse_line(&usage) else { panic!("{usage}") };
        let mut closed = gates::reasons(&scenario, &report, Some(&usage), &[]);
        report.check = Check::None;
        closed.extend(gates::reasons(&scenario, &report, None, &[]));
        let russian: BTreeSet<_> = closed.iter().map(|reason| recorded(reason).ru.into_owned()).collect();
        assert_eq!(russian.len(), 8, "{closed:?}");
        for reason in russian {
            assert!(reason.chars().any(|c| ('а'..='я').contains(&c)), "{reason}");
        }
    }

    #[test]
    fn every_form_takes_as_much_in_both_languages() {
        for (en, ru) in FORMS {
            assert_eq!(en.matches("{}").count(), ru.matches("{}").count(), "{en}");
            assert!(ru.chars().any(|c| ('а'..='я').contains(&c)), "{en}");
            assert_ne!(recorded(&en.replace("{}", "7")).ru, en.replace("{}", "7"), "{en}");
        }
    }
}
