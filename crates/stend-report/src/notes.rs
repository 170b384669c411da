//! Notes on the table, and why a figure is missing, in both languages.

mod alike;

use stend_model::quantity::Size;
use stend_model::target::{Disks, Manager, Medium, Storage, Target, TargetOfRun, Transport, Where};

use stend_compare::pivot::{self, WithoutPlace};
use stend_compare::table::{Lack, LeftOut, Note, Table};

use super::numbers::russian;
use super::phrase::Phrase;
use crate::words;
use crate::words::language::russian_plural;
use stend_model::quantity::english_plural;

pub(super) use alike::notes;

/// A note as a sentence, without a full stop.
pub(super) fn note(note: &Note) -> Phrase {
    Phrase::of(|language| words::note(note, language))
}

/// A target, and what its figures say nothing of.
pub fn target_of_run(of_run: &TargetOfRun) -> Phrase {
    let TargetOfRun { target, medium, name, .. } = of_run;
    let Phrase { en: mut said, ru: mut said_ru } = Phrase::new(target.to_string(), target_in_russian(target));
    let (en, ru) = match medium {
        Medium::Memory => (
            "its disks are files in memory, so this measures the software path, not flash".into(),
            "диски — файлы в памяти, поэтому измерен путь через программы, а не флеш-память".into(),
        ),
        Medium::Files(kind) => (
            format!(
                "its disks are files on {kind} and what caches lie below cannot be seen, so this measures the software path, not flash"
            ),
            format!(
                "диски — файлы на {kind}, и какие кэши лежат ниже, не видно, поэтому измерен путь через программы, а не флеш-память"
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
                 ставить он; его процессорное время — нагрузки, а не контроллеров"
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
        more.push(
            "what the pool does is CPU time of others than the load, so the gate for other programs' CPU time is off"
                .into(),
        );
        more_ru.push(
            "работа пула — процессорное время не нагрузки, поэтому порог для посторонних программ отключён".into(),
        );
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
pub fn without_place(table: &Table) -> Option<String> {
    let WithoutPlace { scenarios, of, axes } = pivot::without_place(table)?;
    let lacking = axes.iter().map(|axis| format!("\"{axis}\"")).collect::<Vec<_>>().join(" or ");
    let verb = if scenarios.len() == 1 { "has" } else { "have" };
    let (number, names) = (scenarios.len(), listed(&scenarios).en);
    let of = english_plural(of, "scenario", "scenarios");
    Some(format!("{number} of {of} {verb} no axis {lacking} and so no place in this table: {names}"))
}

/// Why there is no figure, in one line.
pub(super) fn lack(why: &Lack) -> Phrase {
    Phrase::of(|language| words::lack(why, language))
}

/// The same without the reason, which stands elsewhere.
pub(super) fn lack_in_a_word(why: &Lack) -> Phrase {
    Phrase::of(|language| words::lack_in_a_word(why, language))
}

/// Names as a sentence has them: `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`.
pub(super) fn joined(names: &[Phrase]) -> Phrase {
    Phrase::of(|language| words::joined(&names.iter().map(|name| name.say(language)).collect::<Vec<_>>(), language))
}

/// Names in quotes; of many the first ones.
pub(super) fn listed(names: &[String]) -> Phrase {
    Phrase::of(|language| words::listed(&names.iter().map(String::as_str).collect::<Vec<_>>(), language))
}

#[cfg(test)]
mod tests {
    use stend_model::metric::Better;

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
        assert_eq!(words.en, "latency is better lower in a and higher in b; verdicts follow a: \"read\"");
        assert_eq!(words.ru, "latency: в a лучше, когда меньше, в b — когда больше; вердикты следуют a: «read»");
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
