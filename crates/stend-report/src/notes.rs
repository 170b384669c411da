//! Notes on the table, and why a figure is missing.

mod alike;

use stend_model::target::{Disks, Manager, Medium, Storage, Target, TargetOfRun, Transport, Where};

use stend_compare::pivot::{self, WithoutPlace};
use stend_compare::table::{Lack, LeftOut, Note, Table};

use super::phrase::Phrase;
use crate::words::{self, Given};
use stend_model::quantity::english_plural;

pub(super) use alike::{ColumnTitles, notes};

/// A note as a sentence, without a full stop.
pub(super) fn note(note: &Note) -> Phrase {
    Phrase::of(|language| words::note(note, language))
}

/// A target, and what its figures say nothing of.
pub fn target_of_run(of_run: &TargetOfRun) -> Phrase {
    let TargetOfRun { target, medium, name, .. } = of_run;
    let of_kind = match medium {
        Medium::Files(kind) => kind.as_str(),
        Medium::Memory | Medium::Devices => "",
    };
    let given = [("kind", Given::Text(of_kind)), ("name", Given::Text(name.as_deref().unwrap_or_default()))];
    let said = [
        (*medium == Medium::Memory, "target-in-memory"),
        (!of_kind.is_empty(), "target-in-files"),
        (target.manager() == Some(Manager::Zfs), "target-zfs"),
        (target.transport == Transport::Iscsi, "target-iscsi"),
        (target.transport == Transport::Iscsi && target.behind_nbd(), "target-iscsi-by-nbd"),
        (target.transport == Transport::Nfs, "target-nfs"),
        (target.transport == Transport::Nbd, "target-nbd"),
        (target.works_beside_the_load(), "target-works"),
        (name.is_some(), "target-stood"),
        (!target.fill, "target-not-filled"),
    ];
    let said = said.into_iter().filter(|(holds, _)| *holds).map(|(_, message)| words::say(message, &given));
    Phrase::joined(&std::iter::once(described(target)).chain(said).collect::<Vec<_>>(), "; ")
}

/// A target in words.
fn described(target: &Target) -> Phrase {
    const OPTIONS: [&str; 5] = ["threads", "filters", "processors", "scheduler", "mount_options"];
    let (settings, devices) = (target.settings(), target.devices());
    let value = |key: &str| settings.get(key).map(String::as_str).unwrap_or_default();
    let place = match &target.storage {
        Storage::File { r#where: Where::Work }
        | Storage::Pool { disks: Disks::Files { r#where: Where::Work, .. }, .. } => words::say("target-work", &[]),
        _ if devices.is_empty() => value("where").into(),
        _ => devices.join(" ").into(),
    };
    let disks = if devices.is_empty() { value("disks").to_owned() } else { devices.len().to_string() };
    // Besides as who configures it writes it.
    let figure = |size: &str| match size.find(|c: char| c.is_ascii_alphabetic()) {
        Some(unit) => format!("{} {}", &size[..unit], &size[unit..]),
        None if size.is_empty() => String::new(),
        None => format!("{size} B"),
    };
    let (disk_size, lun_size) = (figure(value("disk_size")), figure(value("lun_size")));
    let given = [
        ("kind", Given::Text(value("kind"))),
        ("place", Given::Said(&place)),
        ("disks", Given::Number(&disks)),
        ("disk_size", Given::Text(value("disk_size"))),
        ("disk_figure", Given::Figure(&disk_size)),
        ("layout", Given::Text(value("layout"))),
        ("manager", Given::Text(value("manager"))),
        ("luns", Given::Number(value("luns"))),
        ("lun_size", Given::Text(value("lun_size"))),
        ("lun_figure", Given::Figure(&lun_size)),
        ("checksums", Given::Text(if target.checksums { "true" } else { "false" })),
        ("transport", Given::Text(value("transport"))),
        ("controllers", Given::Number(value("controllers"))),
    ];
    let option = |key: &&str| {
        let value = settings.get(*key)?;
        Some(words::say(&format!("target-{}", key.replace('_', "-")), &[("value", Given::Text(value))]))
    };
    let said = std::iter::once(words::say("target", &given)).chain(OPTIONS.iter().filter_map(option));
    Phrase::joined(&said.collect::<Vec<_>>(), ", ")
}

/// Scenarios that not all runs have.
pub(super) fn left_out(left_out: &LeftOut, titles: &ColumnTitles) -> Phrase {
    let runs = joined(&left_out.runs.iter().map(|run| Phrase::from(titles.name(run))).collect::<Vec<_>>());
    words::say("not-in-runs", &[("runs", Given::Said(&runs)), ("names", Given::Said(&listed(&left_out.scenarios)))])
}

/// Which scenarios a table that is laid out has no place for, as a sentence without a full stop. Tables are English.
pub fn without_place(table: &Table) -> Option<String> {
    let WithoutPlace { scenarios, of, axes } = pivot::without_place(table)?;
    let lacking = axes.iter().map(|axis| format!("\"{axis}\"")).collect::<Vec<_>>().join(" or ");
    let verb = if scenarios.len() == 1 { "has" } else { "have" };
    let (number, names) = (scenarios.len(), listed(&scenarios));
    let of = english_plural(of, "scenario", "scenarios");
    Some(format!("{number} of {of} {verb} no axis {lacking} and so no place in this table: {}", names.english()))
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
            .english()
            .to_owned()
        };
        assert_eq!(words("r:cc=clang", &["cc=clang"], Some("clang 14")), "r:cc=clang (clang 14)");
        assert_eq!(words("r:as it is", &[], Some("gcc 12")), "r:as it is (gcc 12)");
        assert_eq!(words("r:plain", &[], None), "r:plain: the machine as it is");
        assert_eq!(words("r:fast", &["cc=clang"], Some("clang 14")), "r:fast: cc=clang (clang 14)");
    }

    #[test]
    fn sizes_of_a_target_are_not_said_to_be_scaled() {
        let words = |target| note(&Note::Scaled { run: "a".into(), factor: 0.01, target });
        assert!(words(false).english().starts_with("a: sizes and durations are scaled by 0.01;"));
        assert!(
            words(true).english().starts_with("a: durations, and sizes that are not the target's, are scaled by 0.01;")
        );
        assert!(words(true).russian().starts_with("a: длительности и размеры, кроме размеров цели, умножены на 0,01;"));
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
        assert_eq!(words.english(), "latency is better lower in a and higher in b; verdicts follow a: \"read\"");
        assert_eq!(words.russian(), "latency: в a лучше, когда меньше, в b — когда больше; вердикты следуют a: «read»");
    }

    #[test]
    fn scenarios_are_named_as_a_sentence_names_them() {
        let scenarios = ["a, 1", "b", "c", "d", "e"].map(str::to_owned).to_vec();
        let words = left_out(&LeftOut { scenarios, runs: vec!["r".into()] }, &ColumnTitles::of(&[]));
        assert_eq!(words.english(), "not in r: \"a, 1\", \"b\", \"c\" and 2 more");
    }
}
