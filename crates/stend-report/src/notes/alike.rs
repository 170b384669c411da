//! Notes that hold of several runs alike, said once.

use std::collections::BTreeMap;

use stend_model::machine::Difference;

use super::{joined, note};
use crate::phrase::Phrase;
use stend_compare::table::{Column, ColumnOrigin, Note};

/// Stands in a note's sentence where its run's name goes.
const RUN: &str = "\u{fffc}";

/// What runs are called in notes: by the title of their column, where that is no longer than their id.
pub(crate) struct ColumnTitles<'t>(BTreeMap<&'t str, &'t str>);

impl<'t> ColumnTitles<'t> {
    pub(crate) fn of(columns: &'t [Column]) -> Self {
        let of_runs = columns.iter().filter_map(|column| match &column.origin {
            ColumnOrigin::Run { id, .. } => Some((id.as_str(), column.title.as_str())),
            ColumnOrigin::Published { .. } => None,
        });
        let titles: BTreeMap<_, _> = of_runs.collect();
        // The title of a single run is its machine's name, which says less than its id.
        let is_alone = titles.len() < 2;
        Self(titles.into_iter().filter(|(id, title)| !is_alone && !title.contains(id)).collect())
    }

    pub(crate) fn name<'n>(&self, id: &'n str) -> &'n str
    where
        't: 'n,
    {
        self.0.get(id).copied().unwrap_or(id)
    }
}

/// Notes as sentences, without full stops. What holds of several runs alike is said once.
pub(crate) fn notes<'a>(notes: impl IntoIterator<Item = &'a Note>, titles: &ColumnTitles) -> Vec<Phrase> {
    let mut alike: Vec<Note> = Vec::new();
    for note in notes {
        let mut note = note.clone();
        for run in runs_of(&mut note) {
            *run = titles.name(run).to_owned();
        }
        if let Note::OtherWork { run, base, scenarios, differences } = &mut note {
            *differences = differences.iter().map(differing_words).collect();
            let same = alike.iter_mut().find_map(|other| match other {
                Note::OtherWork { run: its_run, base: its_base, scenarios, differences: its }
                    if (&*its_run, &*its_base, &*its) == (&*run, &*base, &*differences) =>
                {
                    Some(scenarios)
                }
                _ => None,
            });
            if let Some(same) = same {
                same.append(scenarios);
                continue;
            }
        }
        alike.push(note);
    }
    let mut merged: Vec<(Note, Vec<String>)> = Vec::new();
    for mut note in alike {
        let run: Vec<String> =
            run_of(&mut note).map(|run| std::mem::replace(run, RUN.to_owned())).into_iter().collect();
        match merged.iter_mut().find(|(other, runs)| !runs.is_empty() && *other == note) {
            Some((_, runs)) => runs.extend(run),
            None => merged.push((note, run)),
        }
    }
    let in_words = |(of_runs, runs): &(Note, Vec<String>)| {
        let (said, names) = (note(of_runs), joined(&runs.iter().map(Phrase::from).collect::<Vec<_>>()));
        Phrase::of(|language| said.say(language).replace(RUN, names.say(language)))
    };
    merged.iter().map(in_words).collect()
}

/// The run of a note whose sentence may name several.
fn run_of(note: &mut Note) -> Option<&mut String> {
    match note {
        Note::Side { .. } | Note::Pooled { .. } => None,
        note => runs_of(note).into_iter().next(),
    }
}

/// The runs that a note names, the one that it is on first.
fn runs_of(note: &mut Note) -> Vec<&mut String> {
    match note {
        Note::Scaled { run, .. }
        | Note::OfSuite { run, .. }
        | Note::Loaded { run, .. }
        | Note::Target { run, .. }
        | Note::FewRepeats { run, .. }
        | Note::Unverified { run, .. }
        | Note::Unfit { run, .. }
        | Note::Lost { run, .. }
        | Note::LeftRunning { run, .. }
        | Note::Unprepared { run, .. }
        | Note::NotSteady { run, .. }
        | Note::LoaderBound { run, .. }
        | Note::Emulated { run, .. }
        | Note::Public { run }
        | Note::SeveralBuilds { run, .. }
        | Note::Side { run, .. }
        | Note::Pooled { run, .. } => vec![run],
        Note::OtherVersion { run, base, .. }
        | Note::OtherWork { run, base, .. }
        | Note::OtherPlace { run, base, .. }
        | Note::OtherFile { run, base, .. }
        | Note::OtherDirection { run, base, .. }
        | Note::OtherBuild { run, base, .. }
        | Note::NoRatio { run, base, .. } => vec![run, base],
        // The last of these says what to type, which takes the id.
        Note::InPairs { .. }
        | Note::Filtered { .. }
        | Note::OnlyRows { .. }
        | Note::NothingPublished { .. }
        | Note::Unfinished { .. } => Vec::new(),
    }
}

/// Of two commands the words that differ, with the one before them, which often is an option's name.
fn differing_words(difference: &Difference) -> Difference {
    if difference.what != "instrument" {
        return difference.clone();
    }
    let words = [&difference.before, &difference.after].map(|text| text.split_whitespace().collect::<Vec<_>>());
    let shorter = words[0].len().min(words[1].len());
    let [one, other] = &words;
    let first = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let from_end = one.iter().rev().zip(other.iter().rev());
    let last = from_end.take(shorter - first).take_while(|(a, b)| a == b).count();
    let from = first.saturating_sub(1);
    let cut = |words: &[&str]| {
        let differing = words[from..words.len() - last].join(" ");
        let (before, behind) = (if from > 0 { "… " } else { "" }, if last > 0 { " …" } else { "" });
        format!("{before}{differing}{behind}")
    };
    Difference { what: difference.what.clone(), before: cut(one), after: cut(other) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_of_several_runs_is_said_once() {
        let bound = |run: &str, scenario: &str| Note::LoaderBound { run: run.into(), scenarios: vec![scenario.into()] };
        let said = notes(
            &[bound("a", "x"), bound("b", "x"), bound("c", "y"), Note::Unfinished { run: "a".into(), may_go_on: true }],
            &ColumnTitles::of(&[]),
        );
        let starts = said.iter().map(|note| note.english().split(": ").next().unwrap()).collect::<Vec<_>>();
        assert_eq!(starts, ["a and b", "c", "a is not finished; resume it with `stend resume a`"]);
        assert!(said[0].russian().starts_with("a и b: генератор нагрузки"), "{}", said[0].russian());

        // Commands that differ in the same words, in all scenarios and both runs.
        let other_work = |run: &str, scenario: &str| Note::OtherWork {
            run: run.into(),
            base: "a".into(),
            scenarios: vec![scenario.into()],
            differences: vec![Difference {
                what: "instrument".into(),
                before: format!("tool --bs 4k {scenario} --end"),
                after: format!("tool --bs 8k {scenario} --end"),
            }],
        };
        let all = [other_work("b", "x"), other_work("b", "y"), other_work("c", "x"), other_work("c", "y")];
        let said = notes(&all, &ColumnTitles::of(&[]));
        assert_eq!(said.len(), 1, "{said:?}");
        assert_eq!(
            said[0].english(),
            "no verdict on \"x\", \"y\", which do other work in b and c than in a: instrument: … --bs 4k … → … --bs 8k …"
        );
    }
}
