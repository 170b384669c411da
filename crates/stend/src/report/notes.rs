//! Notes on the table, and why a figure is missing, in both languages.

mod alike;

use stend_model::machine::Difference;
use stend_model::metric::Better;
use stend_model::quantity::Size;
use stend_model::side::AS_IT_IS;
use stend_model::target::{Disks, Manager, Medium, Storage, Target, TargetOfRun, Transport, Where};

use crate::compare::notes::MOST_OF_LOADER;
use crate::compare::pivot::{self, WithoutPlace};
use crate::compare::table::{Lack, LeftOut, Note, Only, Table};

use super::numbers::russian;
use super::phrase::Phrase;
use super::text::{moment, percent};
use crate::language::{Language, english_plural, russian_plural};
use crate::{machine, words};

pub(super) use alike::notes;

/// A note as a sentence, without a full stop.
pub(super) fn note(note: &Note) -> Phrase {
    match note {
        Note::Scaled { run, factor, target } => {
            let (en, ru) = if *target {
                ("durations, and sizes that are not the target's,", "длительности и размеры, кроме размеров цели,")
            } else {
                ("sizes and durations", "размеры и длительности")
            };
            Phrase::new(
                format!("{run}: {en} are scaled by {factor}; these are not the suite's own parameters"),
                format!(
                    "{run}: {ru} умножены на {}; это не собственные параметры набора",
                    russian(&factor.to_string())
                ),
            )
        }
        Note::Target { run, target } => {
            let Phrase { en, ru } = target_of_run(target);
            Phrase::new(format!("{run}: target: {en}"), format!("{run}: цель: {ru}"))
        }
        Note::Side { run, settings, compiler, tools } => {
            let one_line = |text: &str| text.lines().map(str::trim).collect::<Vec<_>>().join(" / ");
            let compiler = compiler.iter().map(|compiler| format!(" ({})", one_line(compiler)));
            let tools = tools.iter().map(|(name, version)| format!(" ({name}: {version})"));
            let found: String = compiler.chain(tools).collect();
            // A side without a name of its own is called by its settings.
            let label = run.split_once(':').map_or("", |(_, label)| label);
            let settings_or = |nothing: &str| match settings.join("; ") {
                settings if settings == label || settings.is_empty() && label == AS_IT_IS => String::new(),
                settings if settings.is_empty() => format!(": {nothing}"),
                settings => format!(": {settings}"),
            };
            Phrase::new(
                format!("{run}{}{found}", settings_or("the machine as it is")),
                format!("{run}{}{found}", settings_or("машина как она есть")),
            )
        }
        Note::Noise { run } => Phrase::new(
            format!(
                "{run} is a noise measurement (`stend noise`): the machine against itself, each scenario with twice the suite's repeats"
            ),
            format!(
                "{run} – измерение шума (`stend noise`): машина против себя самой, повторов в каждом сценарии вдвое больше, чем в наборе"
            ),
        ),
        Note::InPairs { run } => Phrase::new(
            format!(
                "{run}: the two sides were measured in turns and are compared as pairs of neighbours, which what drifts hits alike"
            ),
            format!(
                "{run}: две стороны измерялись по очереди и сравниваются парами соседей, на которых всякий дрейф действует одинаково"
            ),
        ),
        Note::FewRepeats { run, scenarios, least } => Phrase::new(
            format!(
                "{run}: {} fewer than {least} repeats, which gives no interval and no verdict",
                english_plural(*scenarios, "scenario asks for", "scenarios ask for")
            ),
            format!(
                "{run}: в {scenarios} {} задано меньше {least} повторов, поэтому нет ни интервала, ни вердикта",
                russian_plural(*scenarios, "сценарии", "сценариях", "сценариях")
            ),
        ),
        Note::Unverified { run, scenarios } => Phrase::new(
            format!("{run}: the work of {} cannot be verified", english_plural(*scenarios, "scenario", "scenarios")),
            format!(
                "{run}: работу {scenarios} {} нельзя проверить",
                russian_plural(*scenarios, "сценария", "сценариев", "сценариев")
            ),
        ),
        Note::Unfit { run, conditions } => {
            let Phrase { en, ru } = words::conditions(conditions);
            Phrase::new(
                format!("{run}: measured although the machine was unfit: {en}"),
                format!("{run}: измерено, хотя машина не годилась для измерений: {ru}"),
            )
        }
        Note::Lost { run, repeats, of, to } => words::lost(run, *repeats, *of, to),
        Note::LeftRunning { run, scenarios } => {
            let names = listed(scenarios);
            Phrase::new(
                format!("{run}: left processes running, which were ended and whose work is in no figure: {}", names.en),
                format!(
                    "{run}: оставлены работающие процессы; они остановлены, их работы в результатах нет: {}",
                    names.ru
                ),
            )
        }
        Note::Unprepared { run, scenarios } => {
            let names = listed(scenarios);
            Phrase::new(
                format!(
                    "{run}: failed to prepare what is measured after it, which was measured all the same: {}",
                    names.en
                ),
                format!("{run}: подготовка не удалась, и то, что за ней, измерено без неё: {}", names.ru),
            )
        }
        Note::NotSteady { run, scenarios } => {
            let names = listed(scenarios);
            Phrase::new(
                format!("{run}: never got steady, so these figures get no verdict: {}", names.en),
                format!("{run}: установившегося состояния не достигнуто, вердикта нет: {}", names.ru),
            )
        }
        Note::LoaderBound { run, scenarios } => {
            let (names, most) = (listed(scenarios), percent(MOST_OF_LOADER));
            Phrase::new(
                format!(
                    "{run}: the load generator took more than {most} of the machine's CPU time, so these figures may be its own limit: {}",
                    names.en
                ),
                format!(
                    "{run}: генератор нагрузки занял больше {} процессорного времени машины, и пределом может быть он сам: {}",
                    russian(&most),
                    names.ru
                ),
            )
        }
        Note::Emulated { run, emulator } => Phrase::new(
            format!(
                "{run}: emulated by {emulator}: not compared. Its checks tell that the code is right, its times tell of no machine"
            ),
            format!(
                "{run}: выполнен эмулятором {emulator}: не сравнивается. Проверки говорят, что код верен, а времена не говорят ни о какой машине"
            ),
        ),
        Note::Public { run } => Phrase::new(
            format!(
                "{run}: exported for publication: what may name its machine or its owner was left out, the kernel's command line in part, and is compared with no other run"
            ),
            format!(
                "{run}: выгружен для публикации: без всего, что может назвать машину или владельца, и без части командной строки ядра; опущенное ни с чем не сравнивается"
            ),
        ),
        Note::Unfinished { run, may_go_on: false } => {
            Phrase::new(format!("{run} is not finished"), format!("{run} не закончен"))
        }
        Note::Unfinished { run, may_go_on: true } => Phrase::new(
            format!("{run} is not finished; `stend resume {run}` goes on with it"),
            format!("{run} не закончен; продолжить: `stend resume {run}`"),
        ),
        Note::OtherVersion { run, version, base, base_version } => Phrase::new(
            format!("{run}: made by stend {version}, and {base} by {base_version}"),
            format!("{run}: измерено программой stend {version}, а {base} – {base_version}"),
        ),
        Note::OtherWork { run, base, scenarios, differences } => {
            let (names, differences) = (listed(scenarios), in_words(differences));
            let verb = if scenarios.len() == 1 { "does" } else { "do" };
            Phrase::new(
                format!(
                    "no verdict on {}, which {verb} other work in {run} than in {base}: {}",
                    names.en, differences.en
                ),
                format!("нет вердикта: {} – в {run} не та работа, что в {base}: {}", names.ru, differences.ru),
            )
        }
        Note::OtherPlace { run, base, scenarios, difference } => {
            let names = listed(scenarios);
            let words = in_words(std::slice::from_ref(difference));
            Phrase::new(
                format!("the same work in another place in {run} than in {base}: {}; this is {}", words.en, names.en),
                format!("та же работа, но в {run} в другом месте, чем в {base}: {}; это {}", words.ru, names.ru),
            )
        }
        Note::OtherFile { run, base, scenarios, file } => {
            let names = listed(scenarios);
            Phrase::new(
                format!("{file} has other contents in {run} than in {base}; it is part of {}", names.en),
                format!("{file} в {run} с другим содержимым, чем в {base}; это часть {}", names.ru),
            )
        }
        Note::OtherDirection { run, base, metric, better, scenarios } => {
            let names = listed(scenarios);
            let (en, ru) = match better {
                Better::Higher => (["higher", "lower"], ["больше", "меньше"]),
                Better::Lower => (["lower", "higher"], ["меньше", "больше"]),
            };
            Phrase::new(
                format!(
                    "{metric} is better {} in {base} and {} in {run}; verdicts take it as {base} does: {}",
                    en[0], en[1], names.en
                ),
                format!(
                    "{metric}: в {base} лучше, когда {}, в {run} – когда {}; вердикты следуют {base}: {}",
                    ru[0], ru[1], names.ru
                ),
            )
        }
        Note::OtherBuild { run, base, instruments, differences } => {
            let words = in_words(differences);
            let instruments = instruments.join(", ");
            Phrase::new(
                format!(
                    "{instruments}: another build in {run} than in {base}, and verdicts compare it too: {}",
                    words.en
                ),
                format!("{instruments}: в {run} не та сборка, что в {base}, и вердикты сравнивают и её: {}", words.ru),
            )
        }
        Note::SeveralBuilds { run, instruments } => {
            let instruments = instruments.join(", ");
            Phrase::new(
                format!(
                    "{run}: built anew in the middle of the run, so its repeats are not all of one build: {instruments}"
                ),
                format!("{run}: пересобрано посреди прогона, поэтому повторы не все одной сборки: {instruments}"),
            )
        }
        Note::OwnNoise { run, measured_at, floors, of, most } => {
            let (percent, at) = (format!("{:.1} %", most * 100.0), moment(*measured_at));
            let verb = if *floors == 1 { "is" } else { "are" };
            Phrase::new(
                format!(
                    "{floors} of {} δ {verb} the machine's own noise, up to {percent}: measured on {at} by `stend noise`, run {run}",
                    english_plural(*of, "floor", "floors")
                ),
                format!(
                    "{floors} {} δ из {of} – собственный шум машины, до {}: измерен {at} командой `stend noise`, прогон {run}",
                    russian_plural(*floors, "порог", "порога", "порогов"),
                    russian(&percent)
                ),
            )
        }
        Note::Pooled { run, runs } => {
            let ids = runs.join(", ");
            Phrase::new(
                format!("{run}: {} runs of one machine taken together as sessions of one: {ids}", runs.len()),
                format!("{run}: {} одной машины вместе, как сессии одного: {ids}", runs_in_russian(runs.len())),
            )
        }
        Note::Filtered { filter } => Phrase::new(
            format!("only what the filter `{filter}` takes; the correction for many comparisons is over these figures"),
            format!(
                "только то, что отбирает фильтр `{filter}`; поправка на множественные сравнения – по этим результатам"
            ),
        ),
        Note::OnlyRows { only, shown: 0, of } => {
            let (words, verdict) = (only_words(*only), verdict_words(*only));
            let none = if *of == 1 { "the one row is not".to_owned() } else { format!("none of {of} rows is") };
            Phrase::new(
                format!("no row is shown: {none} {}", words.en),
                format!("не показано ни одной строки: вердикта «{verdict}» нет ни у одной (всего строк {of})"),
            )
        }
        Note::OnlyRows { only, shown, of } => {
            let words = only_words(*only);
            let verb = if *shown == 1 { "is" } else { "are" };
            Phrase::new(
                format!("{shown} of {} {verb} shown: what is {}", english_plural(*of, "row", "rows"), words.en),
                format!(
                    "показано {shown} {} из {of}: только {}",
                    russian_plural(*shown, "строка", "строки", "строк"),
                    words.ru
                ),
            )
        }
        Note::NothingPublished { references } => {
            let names = references.join(", ");
            let verb = if references.len() == 1 { "has" } else { "have" };
            Phrase::new(
                format!("{names} {verb} no figure that is compared here, and no column"),
                format!("{names}: ни одного из сравниваемых здесь показателей нет, нет и столбца"),
            )
        }
        Note::NoRatio { run, base, figures } => {
            let names = listed(figures);
            Phrase::new(
                format!(
                    "no verdict in {run} beside {base} on {}: a value is zero or negative, and has no ratio",
                    names.en
                ),
                format!(
                    "нет вердикта: {} в {run} относительно {base} – значение нулевое или отрицательное, отношения нет",
                    names.ru
                ),
            )
        }
        Note::HangTogether { correlation } => Phrase::new(
            format!(
                "neighbouring repeats resemble each other (correlation {correlation:.1} over the table): they say less than as many \
                 independent ones, and intervals are widened by that before anything is called better or worse; something on the machine \
                 changes slowly, so run again at a quieter time, or in turns (`--ab`)"
            ),
            format!(
                "соседние повторы похожи друг на друга (корреляция {} по всей таблице): они говорят меньше, чем столько же независимых, и \
                 интервалы расширены на это, прежде чем что-либо названо лучше или хуже; что-то на машине меняется медленно: повторите в \
                 более спокойное время или по очереди (`--ab`)",
                format!("{correlation:.1}").replace('.', ",")
            ),
        ),
        Note::AssumedNoise { machines, suite } => {
            let names: Vec<_> = machines.iter().map(|name| Phrase::new(name.as_str(), name.as_str())).collect();
            let names = joined(&names);
            let (differ, there) =
                if machines.len() == 1 { ("differs from itself", "it") } else { ("differ from themselves", "them") };
            Phrase::new(
                format!(
                    "δ = 1 % is assumed: how much {} {differ} was not measured; `stend noise` with the suite {suite} on {there} does that",
                    names.en
                ),
                format!(
                    "δ = 1 % – допущение: собственный шум {} не измерен; его измерит там `stend noise` с набором {suite}",
                    names.ru
                ),
            )
        }
        Note::Resembling { differences, main } => {
            let many = significant_and_unresolved(*differences, *main);
            Phrase::new(
                format!(
                    "{}: neighbouring repeats of a run resemble each other, so they count for fewer than they are; make more repeats, or run \
                     both again at another time",
                    many.en
                ),
                format!(
                    "{}: соседние повторы прогона похожи друг на друга и считаются за меньшее их число; сделайте больше повторов или \
                     повторите оба прогона в другое время",
                    many.ru
                ),
            )
        }
        Note::WithinDrift { differences, main, least } => {
            let percent = format!("{:.1} %", least * 100.0);
            let many = significant_and_unresolved(*differences, *main);
            Phrase::new(
                format!(
                    "{}: within a run, the first half differs from the second by {percent} or \
                     more, so two runs may differ as much for no reason; run both again at another time",
                    many.en
                ),
                format!(
                    "{}: внутри прогона первая половина отличается от второй на {} и больше, \
                     поэтому и два прогона могут так отличаться без причины; повторите оба в другое время",
                    many.ru,
                    russian(&percent)
                ),
            )
        }
    }
}

/// So many differences are, of which so many of main metrics.
fn significant_and_unresolved(differences: usize, main: usize) -> Phrase {
    let many = english_plural(differences, "difference is", "differences are");
    let (of_en, of_ru) = match differences - main {
        0 => Default::default(),
        _ if main == 0 => (" (of metrics beside the main ones)".to_owned(), " (не по главным показателям)".to_owned()),
        others => (
            format!(" ({main} of main metrics, {others} of others)"),
            format!(" (по главным показателям {main}, по прочим {others})"),
        ),
    };
    let many_ru = russian_plural(differences, "отличие значимо", "отличия значимы", "отличий значимы");
    Phrase::new(
        format!("{many} significant and yet unresolved{of_en}"),
        format!("{differences} {many_ru}, но не решено{of_ru}"),
    )
}

fn runs_in_russian(count: usize) -> String {
    format!("{count} {}", russian_plural(count, "прогон", "прогона", "прогонов"))
}

/// A verdict as the Russian page calls it.
fn verdict_words(only: Only) -> &'static str {
    match only {
        Only::Better => "лучше",
        Only::Worse => "хуже",
        Only::Significant => "лучше» или «хуже",
        Only::Same => "одинаково",
        Only::Unresolved => "не решено",
    }
}

fn only_words(only: Only) -> Phrase {
    match only {
        Only::Better => Phrase::fixed("better", "лучшее"),
        Only::Worse => Phrase::fixed("worse", "худшее"),
        Only::Significant => Phrase::fixed("better or worse", "лучшее и худшее"),
        Only::Same => Phrase::fixed("the same", "одинаковое"),
        Only::Unresolved => Phrase::fixed("unresolved", "нерешённое"),
    }
}

/// A target, and what its figures say nothing of.
fn target_of_run(of_run: &TargetOfRun) -> Phrase {
    let TargetOfRun { target, medium, name, .. } = of_run;
    let Phrase { en: mut said, ru: mut said_ru } = Phrase::new(target.to_string(), target_in_russian(target));
    let (en, ru) = match medium {
        Medium::Memory => (
            "its disks are files in memory, so this measures the software path, not flash".into(),
            "диски – файлы в памяти, поэтому измерен путь через программы, а не флеш-память".into(),
        ),
        Medium::Files(kind) => (
            format!(
                "its disks are files on {kind} and what caches lie below cannot be seen, so this measures the software path, not flash"
            ),
            format!(
                "диски – файлы на {kind}, и какие кэши лежат ниже, не видно, поэтому измерен путь через программы, а не флеш-память"
            ),
        ),
        Medium::Devices => (String::new(), String::new()),
    };
    let (mut more, mut more_ru) = (vec![en], vec![ru]);
    if target.manager() == Some(Manager::Zfs) {
        more.push("ZFS reads through its cache in memory, whatever \"direct\" says".into());
        more_ru.push("ZFS читает через свой кэш в памяти, что бы ни говорил «direct»".into());
    }
    if target.transport == Transport::Iscsi {
        more.push("tgtd reads and writes through the page cache, whatever \"direct\" says".into());
        more_ru.push("tgtd читает и пишет через страничный кэш, что бы ни говорил «direct»".into());
        if target.behind_nbd() {
            more.push(
                "between fio and tgtd stands qemu-storage-daemon, which speaks iSCSI: the whole chain is measured, and this part of it \
                 may be its bound; its CPU time is the load's, not the controllers'"
                    .into(),
            );
            more_ru.push(
                "между fio и tgtd стоит qemu-storage-daemon, который говорит на iSCSI: измерена вся цепочка, и предел может \
                 ставить он; его процессорное время – нагрузки, а не контроллеров"
                    .into(),
            );
        }
    }
    if target.transport == Transport::Nfs {
        more.push("the NFS server reads and writes through the page cache, whatever \"direct\" says".into());
        more_ru.push("сервер NFS читает и пишет через страничный кэш, что бы ни говорил «direct»".into());
    }
    if target.transport == Transport::Nbd {
        more.push("nbdkit reads and writes through the page cache, whatever \"direct\" says".into());
        more_ru.push("nbdkit читает и пишет через страничный кэш, что бы ни говорил «direct»".into());
    }
    if target.works_beside_the_load() {
        more.push("what the pool does is CPU time of others than the load, so the gate for foreign load is off".into());
        more_ru.push("работа пула – процессорное время не нагрузки, поэтому предел на чужую нагрузку отключён".into());
    }
    if let Some(name) = name {
        more.push(format!("it stood before the run, as {name}, so its LUNs hold what was written to them earlier"));
        more_ru.push(format!("она стояла до прогона, под именем {name}, и в её LUN то, что записано раньше"));
    }
    if !target.fill {
        more.push(
            "the LUNs were not written over first, and what was never written is read at the speed of memory".into(),
        );
        more_ru.push("LUN сначала не заполнены, а незаписанное читается со скоростью памяти".into());
    }
    for (text, more) in [(&mut said, more), (&mut said_ru, more_ru)] {
        for words in more.iter().filter(|words: &&String| !words.is_empty()) {
            let text = text.to_mut();
            text.push_str("; ");
            text.push_str(words);
        }
    }
    Phrase::new(said, said_ru)
}

fn target_in_russian(target: &Target) -> String {
    let place = |place: &Where| match place {
        Where::Work => "каталог для файлов прогонов".to_owned(),
        Where::Directory(path) => path.clone(),
        Where::Tmpfs => "tmpfs".to_owned(),
    };
    let of_size = |size: Size| {
        let text = size.to_string();
        let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
        russian(&format!("{number} {}", if unit.is_empty() { "B" } else { unit }))
    };
    let disks = |count: usize| format!("{count} {}", russian_plural(count, "диск", "диска", "дисков"));
    let storage = match &target.storage {
        Storage::File { r#where } => format!("файлы ({})", place(r#where)),
        Storage::Device { devices } => devices.join(" "),
        Storage::Pool { disks: of_pool, layout, manager } => {
            let of_pool = match of_pool {
                Disks::Files { count, size, r#where } => {
                    format!("{} по {} ({})", disks(*count as usize), of_size(*size), place(r#where))
                }
                Disks::Devices(devices) => format!("{} ({})", disks(devices.len()), devices.join(" ")),
            };
            let manager = manager.map(|manager| format!("{manager} ")).unwrap_or_default();
            format!("{of_pool}, {manager}{layout}")
        }
    };
    let size = target.lun_size.map(|size| format!(" по {}", of_size(size))).unwrap_or_default();
    let controllers = match target.controllers as usize {
        0 => String::new(),
        many => format!(", {many} {}", russian_plural(many, "контроллер", "контроллера", "контроллеров")),
    };
    let settings = target.settings();
    let options: String = [
        ("threads", "потоков"),
        ("filters", "фильтры"),
        ("processors", "процессоры"),
        ("scheduler", "планировщик"),
        ("mount_options", "опции монтирования"),
    ]
    .iter()
    .filter_map(|(key, name)| Some(format!(", {name} {}", settings.get(key)?)))
    .collect();
    format!("{storage}, {} LUN{size}, {}{controllers}{options}", target.luns, target.transport)
}

/// Scenarios that not all runs have.
pub(super) fn left_out(left_out: &LeftOut) -> Phrase {
    let runs: Vec<_> = left_out.runs.iter().map(|run| Phrase::new(run.as_str(), run.as_str())).collect();
    let (names, runs) = (listed(&left_out.scenarios), joined(&runs));
    Phrase::new(format!("not in {}: {}", runs.en, names.en), format!("нет в {}: {}", runs.ru, names.ru))
}

/// Which scenarios a table that is laid out has no place for, as a sentence without a full stop. Tables are English.
pub(crate) fn without_place(table: &Table) -> Option<String> {
    let WithoutPlace { scenarios, of, axes } = pivot::without_place(table)?;
    let lacking = axes.iter().map(|axis| format!("\"{axis}\"")).collect::<Vec<_>>().join(" or ");
    let verb = if scenarios.len() == 1 { "has" } else { "have" };
    let (number, names) = (scenarios.len(), listed(&scenarios).en);
    let of = english_plural(of, "scenario", "scenarios");
    Some(format!("{number} of {of} {verb} no axis {lacking} and so no place in this table: {names}"))
}

/// Why there is no figure, in one line.
pub(super) fn lack(why: &Lack) -> Phrase {
    let word = lack_in_a_word(why);
    let reason = match why {
        Lack::Skipped { reason, remedy } => {
            let reason = words::causes(std::slice::from_ref(reason));
            let remedy = |words: &str| remedy.as_ref().map(|remedy| format!("; {words} {remedy}")).unwrap_or_default();
            let (en, ru) = (remedy("mend it with:"), remedy("поможет:"));
            Phrase::new(format!("{}{en}", reason.en), format!("{}{ru}", reason.ru))
        }
        Lack::Invalid { causes } => words::causes(causes),
        Lack::Failed { cause } => words::causes(std::slice::from_ref(cause)),
        Lack::NotReported { reason: Some(reason), .. } => return words::reason(reason),
        Lack::NotReported { value, reason: None } => return not_reported(value),
        Lack::NotYet => return word,
    };
    Phrase::new(format!("{}: {}", word.en, reason.en), format!("{}: {}", word.ru, reason.ru))
}

/// Why a metric has no figure where repeats count.
fn not_reported(value: &str) -> Phrase {
    if value.contains("controllers_cpu") {
        return Phrase::fixed(
            "no controllers whose processor time could be read stand between the load and the storage",
            "между нагрузкой и хранилищем нет контроллеров, процессорное время которых можно прочитать",
        );
    }
    Phrase::new(
        format!("the instrument did not report all of {value}"),
        format!("инструмент сообщил не всё, что нужно: {value}"),
    )
}

/// The same without the reason, which stands elsewhere.
pub(super) fn lack_in_a_word(why: &Lack) -> Phrase {
    match why {
        Lack::Skipped { .. } => Phrase::fixed("skipped", "пропущен"),
        Lack::Invalid { .. } => Phrase::fixed("invalid", "негоден"),
        Lack::Failed { .. } => Phrase::fixed("failed", "не удался"),
        Lack::NotReported { .. } => Phrase::fixed("not reported", "нет данных"),
        Lack::NotYet => Phrase::fixed("not measured yet", "ещё не измерен"),
    }
}

/// Names as a sentence has them: `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`.
pub(super) fn joined(names: &[Phrase]) -> Phrase {
    const SHOWN: usize = 3;
    let with = |of: fn(&Phrase) -> &str, and: &str, more: &dyn Fn(usize) -> String| {
        let names: Vec<&str> = names.iter().map(of).collect();
        match &names[..] {
            [] => String::new(),
            [one] => (*one).to_owned(),
            _ if names.len() > SHOWN + 1 => format!("{} {}", names[..SHOWN].join(", "), more(names.len() - SHOWN)),
            [before @ .., last] => format!("{} {and} {last}", before.join(", ")),
        }
    };
    Phrase::new(
        with(|name| &name.en, "and", &|more| format!("and {more} more")),
        with(|name| &name.ru, "и", &|more| format!("и ещё {more}")),
    )
}

/// Names in quotes; of many the first ones.
pub(super) fn listed(names: &[String]) -> Phrase {
    const SHOWN: usize = 3;
    let quoted = |open: &str, close: &str| {
        names.iter().take(SHOWN).map(|name| format!("{open}{name}{close}")).collect::<Vec<_>>().join(", ")
    };
    let (more_en, more_ru) = match names.len().saturating_sub(SHOWN) {
        0 => Default::default(),
        more => (format!(" and {more} more"), format!(" и ещё {more}")),
    };
    Phrase::new(format!("{}{more_en}", quoted("\"", "\"")), format!("{}{more_ru}", quoted("«", "»")))
}

/// Differences between machines or builds, one after the other.
pub(super) fn in_words(differences: &[Difference]) -> Phrase {
    let one = |difference: &Difference, (none, language): (&str, Language)| {
        let or_none = |text: &str| if text.is_empty() { none.to_owned() } else { text.replace('\n', "; ") };
        let (before, after) = (or_none(&difference.before), or_none(&difference.after));
        // A value with spaces would run into its name.
        let colon = if before.contains(' ') || after.contains(' ') { ":" } else { "" };
        let what = match language {
            Language::English => difference.what.clone(),
            Language::Russian => machine::part_called(&difference.what, language),
        };
        format!("{what}{colon} {before} → {after}")
    };
    let all = |of| differences.iter().map(|difference| one(difference, of)).collect::<Vec<_>>().join(", ");
    Phrase::new(all(("none", Language::English)), all(("нет", Language::Russian)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_side_that_is_called_by_its_settings_says_them_once() {
        let words = |run: &str, settings: &[&str], compiler: Option<&str>| {
            let settings = settings.iter().map(|&setting| setting.to_owned()).collect();
            note(&Note::Side {
                run: run.into(),
                settings,
                compiler: compiler.map(str::to_owned),
                tools: Default::default(),
            })
            .en
            .into_owned()
        };
        assert_eq!(words("r:cc=clang", &["cc=clang"], Some("clang 14")), "r:cc=clang (clang 14)");
        assert_eq!(words("r:as it is", &[], Some("gcc 12")), "r:as it is (gcc 12)");
        assert_eq!(words("r:plain", &[], None), "r:plain: the machine as it is");
        assert_eq!(words("r:fast", &["cc=clang"], Some("clang 14")), "r:fast: cc=clang (clang 14)");
    }

    #[test]
    fn sizes_of_a_target_are_not_said_to_be_scaled() {
        let words = |target| note(&Note::Scaled { run: "a".into(), factor: 0.01, target });
        assert!(words(false).en.starts_with("a: sizes and durations are scaled by 0.01;"));
        assert!(words(true).en.starts_with("a: durations, and sizes that are not the target's, are scaled by 0.01;"));
        assert!(words(true).ru.starts_with("a: длительности и размеры, кроме размеров цели, умножены на 0,01;"));
    }

    #[test]
    fn which_way_is_better_is_said_as_either_run_has_it() {
        let words = note(&Note::OtherDirection {
            run: "b".into(),
            base: "a".into(),
            metric: "latency".into(),
            better: Better::Lower,
            scenarios: vec!["read".into()],
        });
        assert_eq!(words.en, "latency is better lower in a and higher in b; verdicts take it as a does: \"read\"");
        assert_eq!(words.ru, "latency: в a лучше, когда меньше, в b – когда больше; вердикты следуют a: «read»");
    }

    #[test]
    fn machines_and_scenarios_are_named_as_a_sentence_names_them() {
        let machines = vec!["desk".to_owned(), "vm".to_owned()];
        let words = note(&Note::AssumedNoise { machines, suite: "quick".into() });
        assert!(words.en.contains("how much desk and vm differ from themselves"), "{}", words.en);
        assert!(
            words.ru.ends_with("собственный шум desk и vm не измерен; его измерит там `stend noise` с набором quick")
        );
        let scenarios = ["a, 1", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        let words = left_out(&LeftOut { scenarios, runs: vec!["r".into()] });
        assert_eq!(words.en, "not in r: \"a, 1\", \"b\", \"c\" and 2 more");
    }
}
