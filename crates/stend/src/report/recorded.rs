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
    // Why the load's own figures lack something.
    ("the load does not say when it began", "нагрузка не сообщила, когда началась"),
    (
        "{} was not read close enough to the beginning and the end of the load",
        "{}: отсчёты не доходят до начала и конца нагрузки",
    ),
    ("there are too few windows of the load before a fault", "перед отказом слишком мало окон нагрузки"),
    ("the load was not back before it ended", "нагрузка не восстановилась до своего конца"),
    ("the processor time of {} was not read", "процессорное время {} не читалось"),
    (
        "the machine's clock was set by about {} s while fio ran",
        "пока работала fio, часы машины переведены примерно на {} с",
    ),
    // What fio checked.
    (
        "fio's job \"{}\" read other data than were written: {}",
        "задание fio «{}» прочло не те данные, что были записаны: {}",
    ),
    ("fio's job \"{}\" read other data than were written", "задание fio «{}» прочло не те данные, что были записаны"),
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
    let russian = fitted(FORMS, sentence, filled_in);
    Phrase::new(sentence, russian.unwrap_or_else(|| sentence.to_owned()))
}

/// What an instrument says that it checked.
pub(crate) fn checked(evidence: &str) -> Phrase {
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
    use super::*;

    #[test]
    fn what_was_filled_in_stands_in_the_russian_sentence() {
        let russian = |text: &str| recorded(text).ru.into_owned();
        assert_eq!(russian("cannot start a: b: really"), "не запускается a: b: really");
        assert_eq!(
            checked("corrupt: 2 words of 512; before: corrupt: 1 words of 8").ru,
            "испорчено слов: 2 из 512; до этого испорчено слов: 1 из 8"
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
    fn every_form_takes_as_much_in_both_languages() {
        for (en, ru) in FORMS {
            assert_eq!(en.matches("{}").count(), ru.matches("{}").count(), "{en}");
            assert!(ru.chars().any(|c| ('а'..='я').contains(&c)), "{en}");
            assert_ne!(recorded(&en.replace("{}", "7")).ru, en.replace("{}", "7"), "{en}");
        }
    }
}
