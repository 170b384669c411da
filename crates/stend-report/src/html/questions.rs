//! The questions that a reader should ask of any benchmark, with their answers from the data.
//!
//! The list is Brendan Gregg's: "Evaluating the Evaluation: A Benchmarking Checklist", 2018-06-30.

use stend_model::metric::Unit;
use stend_model::plan::Phase;
use stend_model::run::{Outcome, Repeat};
use stend_model::wire::Check;

use super::{Input, RunData};
use crate::notes::joined;
use crate::numbers::{figure, in_language};
use crate::phrase::{Phrase, called};
use crate::text::{self, duration, grouped, percent};
use crate::texts::TEXTS;
use crate::words::{self, Given};
use stend_compare::notes::MOST_OF_LOADER;
use stend_compare::table::{AgainstBase, Column, ColumnOrigin, Measured, OfCeiling, Row, Verdict};

/// A load this busy kept its processors at work all the time.
const BUSY: f64 = 0.95;

/// A question and what the data say to it.
pub(super) struct QuestionView {
    pub(super) question: Phrase,
    /// Sentences.
    pub(super) answers: Vec<Phrase>,
}

pub(super) fn questions(input: &Input) -> Vec<QuestionView> {
    let Some(base) = input.runs.first() else { return Vec::new() };
    let rows: Vec<(&Row, &Measured)> =
        input.table.rows.iter().filter(|row| row.main).filter_map(|row| Some((row, row.measured(0)?))).collect();
    let view = |question: &Phrase, answers: Vec<Phrase>| QuestionView { question: question.clone(), answers };
    vec![
        view(&TEXTS.ask_double, why_not_double(base, &rows)),
        view(&TEXTS.ask_limits, limits(input, &rows)),
        view(&TEXTS.ask_errors, errors(input)),
        view(&TEXTS.ask_reproduce, reproduces(input, &rows)),
        view(&TEXTS.ask_matter, matters(input)),
        view(&TEXTS.ask_happened, happened(input)),
    ]
}

/// The first of several things, each with its figure.
fn named<T: Copy>(things: &[(T, String)], words: impl Fn(T, &str) -> String) -> Phrase {
    const SHOWN: usize = 3;
    let more = things.len().saturating_sub(SHOWN);
    Phrase::of(|language| {
        let list = things.iter().take(SHOWN).map(|(thing, shown)| words(*thing, &in_language(shown, language)));
        let list = list.collect::<Vec<_>>().join("; ");
        if more == 0 { list } else { format!("{list}; … +{more}") }
    })
}

/// The rows that stand beside ceilings, with each of these.
fn of_ceilings<'a>(rows: &'a [(&'a Row, &'a Measured)]) -> impl Iterator<Item = (&'a Row, &'a OfCeiling)> {
    rows.iter().flat_map(|(row, value)| value.of_ceilings.iter().map(move |of| (*row, of)))
}

fn beside_ceiling((row, of): (&Row, &OfCeiling), share: &str) -> String {
    format!("{}: {share} – {}", row.scenario, of.name())
}

fn counted<'a>(data: &'a RunData, place: usize) -> impl Iterator<Item = &'a Repeat> {
    data.repeats.iter().filter(move |repeat| repeat.scenario == place && repeat.counts())
}

/// What holds the figures where they are: a processor that has no time left, or a ceiling of the suite.
fn why_not_double(base: &RunData, rows: &[(&Row, &Measured)]) -> Vec<Phrase> {
    let mut answers = Vec::new();
    let (mut busy, mut waiting) = (0, Vec::new());
    for (place, scenario) in base.run.suite.scenarios.iter().enumerate() {
        let processors: Vec<f64> = counted(base, place)
            .filter_map(|repeat| {
                let report = repeat.report.as_ref()?;
                Some(report.cpu_ns? as f64 / report.wall_ns as f64)
            })
            .collect();
        match stend_stats::median(&processors) {
            Some(used) if used >= BUSY => busy += 1,
            Some(used) => waiting.push((scenario.name.as_str(), percent(used))),
            None => {}
        }
    }
    let all = busy + waiting.len();
    if busy > 0 {
        answers.push(words::say("busy", &[("busy", Given::Count(busy)), ("all", Given::Count(all))]));
    }
    if !waiting.is_empty() {
        let scenarios = named(&waiting, |name, share| format!("{name} ({share})"));
        let message = if busy > 0 { "waiting-elsewhere" } else { "waiting" };
        answers.push(words::say(message, &[("scenarios", Given::Said(&scenarios))]));
    }
    let shares: Vec<_> = of_ceilings(rows).map(|(row, of)| ((row, of), percent(of.share))).collect();
    if !shares.is_empty() {
        answers.push(words::say("beside-ceilings", &[("shares", Given::Said(&named(&shares, beside_ceiling)))]));
    }
    answers.push(if base.profiles.is_empty() { TEXTS.no_profile.clone() } else { TEXTS.see_profiles.clone() });
    answers
}

/// Whether a figure is the load generator's own limit, or more than is possible.
fn limits(input: &Input, rows: &[(&Row, &Measured)]) -> Vec<Phrase> {
    let mut most: Option<(f64, &str)> = None;
    for data in input.runs {
        for (place, scenario) in data.run.suite.scenarios.iter().enumerate() {
            let shares: Vec<f64> = counted(data, place)
                .filter_map(|repeat| repeat.report.as_ref()?.observed.get("loader_cpu_share").copied())
                .collect();
            if let Some(share) = stend_stats::median(&shares)
                && most.is_none_or(|(before, _)| share > before)
            {
                most = Some((share, &scenario.name));
            }
        }
    }
    let mut answers = vec![match most {
        Some((share, name)) => {
            let (share, limit) = (percent(share), percent(MOST_OF_LOADER));
            let of = [("share", Given::Figure(&share)), ("limit", Given::Figure(&limit))];
            words::say("loader", &[of[0], of[1], ("scenario", Given::Text(name))])
        }
        None => TEXTS.no_loader.clone(),
    }];
    let beyond = of_ceilings(rows).filter(|(_, of)| of.share > 1.0);
    let beyond: Vec<_> = beyond.map(|(row, of)| ((row, of), percent(of.share))).collect();
    if !beyond.is_empty() {
        answers.push(words::say("beyond-ceilings", &[("shares", Given::Said(&named(&beyond, beside_ceiling)))]));
    } else if of_ceilings(rows).next().is_some() {
        answers.push(TEXTS.below_ceilings.clone());
    }
    answers
}

/// How many repeats did their work right, and what became of the others.
fn errors(input: &Input) -> Vec<Phrase> {
    let repeats = || input.runs.iter().flat_map(|data| data.repeats);
    let all = repeats().count();
    let checked =
        |wanted| repeats().filter(|one| one.report.as_ref().is_some_and(|report| report.check == wanted)).count();
    let (passed, wrong, unchecked) = (checked(Check::Passed), checked(Check::Failed), checked(Check::None));
    let failed = repeats().filter(|one| matches!(one.outcome, Outcome::Failed(_))).count();
    let invalid = repeats().filter(|one| matches!(one.outcome, Outcome::Invalid(_))).count();
    let [all, passed, wrong, unchecked, failed] = [all, passed, wrong, unchecked, failed].map(grouped);
    let given = [
        ("all", Given::Text(&all)),
        ("passed", Given::Text(&passed)),
        ("wrong", Given::Text(&wrong)),
        ("unchecked", Given::Text(&unchecked)),
        ("failed", Given::Text(&failed)),
    ];
    let mut answers = vec![words::say("repeats-checked", &given)];
    if invalid > 0 {
        let shown = grouped(invalid);
        answers
            .push(words::say("repeats-invalid", &[("invalid", Given::Count(invalid)), ("shown", Given::Text(&shown))]));
    }
    answers
}

/// A run's sessions, and over how many boots they go.
fn sessions_and_boots(input: &Input, data: &RunData) -> (u32, u32) {
    let of_column = |column: &Column| match &column.origin {
        ColumnOrigin::Run { id, sessions, boots } if *id == data.run.id => Some((*sessions, *boots)),
        _ => None,
    };
    input.table.columns.iter().find_map(of_column).unwrap_or((data.sessions.len() as u32, 1))
}

/// How often it was done, and how much that differed.
fn reproduces(input: &Input, rows: &[(&Row, &Measured)]) -> Vec<Phrase> {
    // What is said of a run, and the runs of which it holds.
    let mut alike: Vec<(Phrase, Vec<Phrase>)> = Vec::new();
    for data in input.runs {
        let counts: Vec<usize> = (0..data.run.suite.scenarios.len())
            .map(|place| counted(data, place).count())
            .filter(|count| *count > 0)
            .collect();
        let (Some(least), Some(most)) = (counts.iter().min(), counts.iter().max()) else { continue };
        let many = if least == most { least.to_string() } else { format!("{least}–{most}") };
        let (sessions, boots) = sessions_and_boots(input, data);
        let sessions = text::sessions_of(sessions, boots);
        let name = called(&super::scenario::title(input.table, data));
        let counts = [("most", Given::Count(*most)), ("many", Given::Text(&many))];
        let said = words::say("repeats-of-each", &[counts[0], counts[1], ("sessions", Given::Said(&sessions))]);
        match alike.iter_mut().find(|(other, _)| *other == said) {
            Some((_, names)) => names.push(name),
            None => alike.push((said, vec![name])),
        }
    }
    let of_runs = |(said, names): &(Phrase, Vec<Phrase>)| Phrase::joined(&[joined(names), said.clone()], ": ");
    let mut answers: Vec<Phrase> = alike.iter().map(of_runs).collect();
    let mut spreads: Vec<(f64, &str)> =
        rows.iter().filter_map(|(row, value)| Some((value.spread?, row.scenario.as_str()))).collect();
    spreads.sort_by(|a, b| a.0.total_cmp(&b.0));
    if let (Some(middle), Some((most, name))) = (spreads.get(spreads.len() / 2), spreads.last()) {
        let (middle, most) = (text::spread(Some(middle.0)), text::spread(Some(*most)));
        let spreads = [("middle", Given::Figure(&middle)), ("most", Given::Figure(&most))];
        answers.push(words::say("restless", &[spreads[0], spreads[1], ("scenario", Given::Text(name))]));
    }
    if input.runs.iter().any(|data| sessions_and_boots(input, data).1 < 2) {
        answers.push(TEXTS.one_boot.clone());
    }
    answers
}

/// Which differences are worth a word.
fn matters(input: &Input) -> Vec<Phrase> {
    let of_rows = |main: bool| -> Vec<&AgainstBase> {
        input.table.rows.iter().filter(|row| row.main == main).flat_map(Row::against_base).collect()
    };
    let (judged, others) = (of_rows(true), of_rows(false));
    let is_sure = |against: &&&AgainstBase| matches!(against.verdict, Verdict::Better | Verdict::Worse);
    let mut answers = Vec::new();
    if let Some(suite) = input.runs.first().map(|data| &data.run.suite) {
        let title = Phrase::of(|language| suite.title_in(language.code()).to_owned());
        answers.push(words::say("your-work", &[("suite", Given::Said(&title))]));
    }
    // A filter may have left other metrics alone.
    let asked = if judged.is_empty() { &others } else { &judged };
    let floors = || asked.iter().map(|against| against.floor);
    if let (Some(least), Some(most)) = (floors().reduce(f64::min), floors().reduce(f64::max)) {
        let floor = if least == most { percent(least) } else { format!("{} … {}", percent(least), percent(most)) };
        answers.push(words::say("differences-below", &[("floor", Given::Figure(&floor))]));
        let marked: Vec<f64> = judged.iter().filter(is_sure).filter_map(|against| against.factor).collect();
        let size = |ratio: &f64| ratio.ln().abs();
        let smallest = marked.iter().copied().min_by(|a, b| size(a).total_cmp(&size(b)));
        let largest = marked.iter().copied().max_by(|a, b| size(a).total_cmp(&size(b)));
        if let (Some(smallest), Some(largest)) = (smallest, largest) {
            let (smallest, largest) = (text::change(smallest), text::change(largest));
            let ends = [("smallest", Given::Figure(&smallest)), ("largest", Given::Figure(&largest))];
            answers.push(words::say("differences-sure", &[("count", Given::Count(marked.len())), ends[0], ends[1]]));
        } else if !judged.is_empty() {
            answers.push(TEXTS.none_sure.clone());
        }
        let beside = others.iter().filter(is_sure).count();
        if beside > 0 {
            answers.push(words::say("differences-of-others", &[("count", Given::Count(beside))]));
        }
    } else {
        answers.push(TEXTS.not_compared.clone());
    }
    answers
}

/// What was done while it was measured.
fn happened(input: &Input) -> Vec<Phrase> {
    let counted = || {
        let repeats =
            input.runs.iter().flat_map(|data| data.repeats).filter(|one| one.phase == Phase::Measured && one.counts());
        repeats.filter_map(|repeat| repeat.report.as_ref())
    };
    let work = |name: &str| counted().filter_map(|report| report.work.get(name)).sum::<f64>();
    let (bytes, operations) = (work("bytes"), work("operations"));
    let time: f64 = counted().map(|report| report.wall_ns as f64).sum();
    let samples: usize = input.runs.iter().flat_map(|data| data.series).map(|(_, series)| series.values.len()).sum();
    let mut done = Vec::new();
    if bytes > 0.0 {
        let bytes = Unit::Bytes.show(bytes);
        done.push(figure(&bytes));
    }
    if operations > 0.0 {
        let count = operations as usize;
        let shown = grouped(count);
        done.push(words::say("operations", &[("count", Given::Count(count)), ("shown", Given::Text(&shown))]));
    }
    let mut answers = Vec::new();
    if !done.is_empty() {
        let (done, time) = (joined(&done), duration(time));
        answers.push(words::say("work-done", &[("done", Given::Said(&done)), ("time", Given::Figure(&time))]));
    }
    answers.push(if samples > 0 {
        let shown = grouped(samples);
        words::say("samples-recorded", &[("count", Given::Count(samples)), ("shown", Given::Text(&shown))])
    } else {
        TEXTS.no_series.clone()
    });
    answers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::{self, SampleRun};
    use stend_compare::table::Cell;
    use stend_compare::table::Table;

    /// The English answers to a question, by its place in the list.
    fn answers(table: &Table, data: &SampleRun, place: usize) -> String {
        let runs = [data.data()];
        let input = Input { table, runs: &runs, command: "stend report", generated_at: jiff::Timestamp::UNIX_EPOCH };
        let view = questions(&input).swap_remove(place);
        view.answers.iter().map(|answer| answer.english()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_load_that_waits_is_told_from_one_that_is_busy() {
        let (table, mut data) = (example::table(), example::run(0));
        assert!(answers(&table, &data, 0).starts_with("On 8 of 8 scenarios the load kept at least one processor busy"));
        for repeat in data.repeats.iter_mut().filter(|repeat| repeat.scenario == 2) {
            let report = repeat.report.as_mut().unwrap();
            report.cpu_ns = Some(report.wall_ns / 4);
        }
        let said = answers(&table, &data, 0);
        assert!(
            said.starts_with("On 7 of 8")
                && said.contains("less than one processor's time: kuznyechik, parallel (25 %)"),
            "{said}"
        );
        for report in data.repeats.iter_mut().filter_map(|repeat| repeat.report.as_mut()) {
            report.cpu_ns = Some(report.wall_ns / 4);
        }
        let waits = answers(&table, &data, 0);
        assert!(waits.starts_with("On every scenario the load waited") && !waits.contains("On 0 of"), "{waits}");
    }

    #[test]
    fn the_load_generators_share_and_impossible_figures_are_named() {
        let (mut table, mut data) = (example::table(), example::run(0));
        assert!(
            answers(&table, &data, 1).starts_with("No instrument of these runs")
                && answers(&table, &data, 1).ends_with("No figure is above its ceiling.")
        );
        for repeat in data.repeats.iter_mut().filter(|repeat| repeat.scenario == 4) {
            repeat.report.as_mut().unwrap().observed.insert("loader_cpu_share".into(), 0.81);
        }
        if let Cell::Measured(value) = &mut table.rows[0].cells[0] {
            value.of_ceilings = vec![OfCeiling { scenario: "copy in L1".into(), times: 1, share: 1.3 }];
        }
        let said = answers(&table, &data, 1);
        assert!(
            said.starts_with("The load generator took at most 81 % of the machine's CPU time (4k seq read)"),
            "{said}"
        );
        assert!(said.contains("doubt one of the two: magma, parallel: 130 % – copy in L1"), "{said}");
    }

    /// Figures in Russian have a comma.
    #[test]
    fn russian_answers_have_russian_figures() {
        let (table, data) = (example::table(), example::run(10));
        let runs = [data.data()];
        let input =
            Input { table: &table, runs: &runs, command: "stend report", generated_at: jiff::Timestamp::UNIX_EPOCH };
        let said: String =
            questions(&input)[3..5].iter().flat_map(|one| &one.answers).map(|one| one.russian()).collect();
        assert!(said.contains("наименьшее −6,3") && said.contains("наибольшее × 2,41"), "{said}");
        assert!(said.contains("меньше 1,0") && !said.contains("1.0"), "{said}");
    }

    #[test]
    fn repeats_sessions_differences_and_work_are_counted() {
        let (table, data) = (example::table(), example::run(10));
        let errors = answers(&table, &data, 2);
        assert!(
            errors.contains("Repeats, warm-ups included: 88. Verified and right: 87;")
                && errors.contains("wrong: 0; could not be verified: 0; measured nothing: 1."),
            "{errors}"
        );
        assert!(errors.contains("1 invalid repeat not counted"), "{errors}");
        let again = answers(&table, &data, 3);
        assert!(again.contains("pc-7: 9–10 valid repeats of each scenario; 5 sessions over 5 boots."), "{again}");
        let matter = answers(&table, &data, 4);
        assert!(
            matter.contains(
                "Of the sure ones of main metrics, 4 in number, the smallest is −6.3 % and the largest × 2.41."
            ),
            "{matter}"
        );
        assert!(matter.ends_with("Of other metrics 2 differences are sure; the table shows them all."), "{matter}");
        let happened = answers(&table, &data, 5);
        assert!(happened.contains(&format!("{} samples", grouped(88 * 18 * 10))), "{happened}");
        let mut minor_alone = table.clone();
        minor_alone.rows.retain(|row| !row.main || row.scenario == "magma, parallel");
        let matter = answers(&minor_alone, &data, 4);
        assert!(
            matter.contains("No difference of a main metric is certain. Of other metrics 2 differences are sure"),
            "{matter}"
        );
        let mut alone = table;
        alone.columns.truncate(1);
        alone.rows.iter_mut().for_each(|row| row.cells.truncate(1));
        assert!(answers(&alone, &data, 4).ends_with("No other run is compared here, so there are no verdicts."));
    }
}
