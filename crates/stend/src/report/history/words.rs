//! What is said of a history, in both languages.

use stend_model::identity::short;
use stend_model::machine::Difference;
use stend_model::metric::{Better, three_digits};

use super::mark_and_size;
use crate::history::{Change, Differences, History, LeftOut, Nearest, Point};
use crate::language::{Language, english_plural, russian_plural};
use crate::machine;
use crate::report::numbers::russian;
use crate::report::phrase::Phrase;
use crate::report::text::two_levels;

pub(super) fn title(history: &History) -> Phrase {
    let History { scenario, metric, .. } = history;
    let (en, ru) = match history.better {
        Better::Higher => ("more is better", "больше — лучше"),
        Better::Lower => ("less is better", "меньше — лучше"),
    };
    Phrase::new(format!("{scenario}: {metric}, {en}"), format!("{scenario}: {metric}, {ru}"))
}

pub(super) fn subject(history: &History) -> Phrase {
    let day = |point: &Point| point.started_at.strftime("%Y-%m-%d").to_string();
    let ends = history.points.first().zip(history.points.last());
    let days = ends.map(|(first, last)| (day(first), day(last)));
    let when = match days {
        None => String::new(),
        Some((first, last)) if first == last => format!(", {first}"),
        Some((first, last)) => format!(", {first} … {last}"),
    };
    let (machine, hardware, count) = (&history.machine, short(&history.hardware_id), history.points.len());
    let runs = russian_plural(count, "прогон", "прогона", "прогонов");
    Phrase::new(
        format!("{machine} · hardware {hardware} · {}{when}", english_plural(count, "run", "runs")),
        format!("{machine} · аппаратура {hardware} · {count} {runs}{when}"),
    )
}

/// When it was, with which run, and from which level to which.
pub(super) fn headline(history: &History, change: &Change) -> Phrase {
    let at = history.points[change.point].started_at.strftime("%Y-%m-%d %H:%M UTC");
    let (before, after) = two_levels(history.unit, change.before, change.after);
    let (size, run, p) = (mark_and_size(change), &change.after_run, p(change.p));
    Phrase::new(
        format!("{size} from {at} on, with run {run}: from {before} to {after} (p {p})"),
        format!(
            "{} с {at}, с прогона {run}: с {} до {} (p {})",
            russian(&size),
            russian(&before),
            russian(&after),
            russian(&p)
        ),
    )
}

/// p as people read it: `= 0.0004`, `< 10⁻⁹`.
fn p(p: f64) -> String {
    if p < 1e-9 { "< 10⁻⁹".into() } else { format!("= {}", three_digits(p)) }
}

/// What else changed between the last run before and the first after, or near them.
pub(super) fn causes(change: &Change) -> Vec<Phrase> {
    if !change.with.is_empty() {
        return in_words(&change.with);
    }
    let (before, after) = (&change.before_run, &change.after_run);
    let mut words = vec![Phrase::new(
        format!("nothing of the fingerprint changed between {before} and {after}"),
        format!("между {before} и {after} в отпечатке ничего не изменилось"),
    )];
    if let Some(Nearest { before_run, after_run, with }) = &change.nearest {
        let with = in_words(with);
        let joined = |of: fn(&Phrase) -> &str| with.iter().map(of).collect::<Vec<_>>().join("; ");
        words.push(Phrase::new(
            format!("but near it, between {before_run} and {after_run}: {}", joined(|phrase| &phrase.en)),
            format!("но рядом, между {before_run} и {after_run}: {}", joined(|phrase| &phrase.ru)),
        ));
    }
    words
}

fn in_words(differences: &Differences) -> Vec<Phrase> {
    let one = |difference: &Difference| {
        let [en, ru] = [Language::English, Language::Russian]
            .map(|language| machine::words_of(difference, language).sentence(language));
        Phrase::new(en, ru)
    };
    let of_build = |difference: &Difference| match difference.what.as_str() {
        "stend" => one(difference),
        _ => {
            let Phrase { en, ru } = one(difference);
            Phrase::new(format!("build, {en}"), format!("сборка, {ru}"))
        }
    };
    differences.machine.iter().map(one).chain(differences.build.iter().map(of_build)).collect()
}

pub(super) fn notes(history: &History) -> Vec<Phrase> {
    let mut notes = Vec::new();
    if history.points.is_empty() {
        notes.push(Phrase::fixed("No run has a repeat that counts.", "Ни в одном прогоне нет годных повторов."));
    } else if history.more_needed > 0 {
        let more = history.more_needed;
        let runs = english_plural(more, "run more is", "runs more are");
        notes.push(Phrase::new(
            format!("Changes of level are looked for from ten runs on: {runs} needed."),
            format!("Перемены уровня ищутся, начиная с десяти прогонов: не хватает {more}."),
        ));
    } else if history.without_ratio {
        notes.push(Phrase::fixed(
            "Changes of level are not looked for: some value is not above zero.",
            "Перемены уровня не ищутся: какое-то значение не больше нуля.",
        ));
    } else if history.changes.is_empty() {
        notes.push(Phrase::fixed("The level never changed.", "Уровень ни разу не менялся."));
    } else {
        notes.push(Phrase::fixed(
            "▲ better, ▼ worse. A change lasts for two runs or more and has p < 0.001 and more than 2 %; its levels are the means of the medians on either side.",
            "▲ лучше, ▼ хуже. Перемена держится не меньше двух прогонов, p < 0,001 и больше 2 %; уровни — средние медиан по обе стороны.",
        ));
    }
    notes.extend(left_out(history.left_out));
    notes
}

fn left_out(left_out: LeftOut) -> impl Iterator<Item = Phrase> {
    let LeftOut { other_machine, other_work, emulated, no_value, two_sides } = left_out;
    let of = |count: usize, one: &str, many: &str, ru: &str| {
        (count > 0).then(|| {
            Phrase::new(
                format!("Left out: {}.", english_plural(count, one, many)),
                format!("Опущено прогонов {ru}: {count}."),
            )
        })
    };
    [
        of(
            other_machine,
            "run of other hardware (--machine NAME shows it)",
            "runs of other hardware (--machine NAME shows them)",
            "на другой аппаратуре (их покажет --machine NAME)",
        ),
        of(
            other_work,
            "run in which a scenario of this name did other work than in the newest",
            "runs in which a scenario of this name did other work than in the newest",
            "с другой работой под тем же именем сценария",
        ),
        of(emulated, "run that an emulator made", "runs that an emulator made", "под эмулятором"),
        of(
            two_sides,
            "run of two sides, which are different things on purpose",
            "runs of two sides, which are different things on purpose",
            "из двух сторон, которые нарочно разные",
        ),
        of(no_value, "run without a repeat that counts", "runs without a repeat that counts", "без годных повторов"),
    ]
    .into_iter()
    .flatten()
}
