//! The questions that a reader should ask of any benchmark, with their answers from the data.
//!
//! The list is Brendan Gregg's: "Evaluating the Evaluation: A Benchmarking Checklist", 2018-06-30.

use stend_model::metric::Unit;
use stend_model::plan::Phase;
use stend_model::run::{Outcome, Repeat};
use stend_model::wire::Check;

use super::{Input, RunData};
use crate::language::TEXTS;
use crate::notes::joined;
use crate::numbers::russian;
use crate::phrase::{Phrase, called};
use crate::text::{self, duration, grouped, percent};
use crate::words::language::russian_plural;
use stend_compare::notes::MOST_OF_LOADER;
use stend_compare::table::{AgainstBase, Cell, Column, ColumnOrigin, Measured, OfCeiling, Row, Verdict};
use stend_model::quantity::english_plural;

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
    let rows: Vec<(&Row, &Measured)> = input
        .table
        .rows
        .iter()
        .filter(|row| row.main)
        .filter_map(|row| match row.cells.first() {
            Some(Cell::Measured(value)) => Some((row, value)),
            _ => None,
        })
        .collect();
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
    let list = |figure: fn(&str) -> String| {
        let list = things.iter().take(SHOWN).map(|(thing, shown)| words(*thing, &figure(shown)));
        let list = list.collect::<Vec<_>>().join("; ");
        if more == 0 { list } else { format!("{list}; … +{more}") }
    };
    Phrase::new(list(str::to_owned), list(russian))
}

/// The rows that stand beside ceilings, with each of these.
fn of_ceilings<'a>(rows: &'a [(&'a Row, &'a Measured)]) -> impl Iterator<Item = (&'a Row, &'a OfCeiling)> {
    rows.iter().flat_map(|(row, value)| value.of_ceilings.iter().map(move |of| (*row, of)))
}

fn beside_ceiling((row, of): (&Row, &OfCeiling), share: &str) -> String {
    format!("{}: {share} – {}", row.scenario, of.scenario)
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
        answers.push(Phrase::new(
            format!(
                "On {busy} of {} the load kept at least one processor busy all the time: what that gets done, waiting for memory included, is the limit there.",
                english_plural(all, "scenario", "scenarios")
            ),
            format!(
                "В {busy} из {all} {} нагрузка всё время занимала хотя бы один процессор: предел там — сам процессор, считая ожидание памяти.",
                russian_plural(all, "сценария", "сценариев", "сценариев")
            ),
        ));
    }
    if !waiting.is_empty() {
        let Phrase { en, ru } = named(&waiting, |name, share| format!("{name} ({share})"));
        answers.push(if busy > 0 {
            Phrase::new(
                format!("Elsewhere it waited, or others had the processor, and it had less than one processor's time: {en}."),
                format!("В остальных она ждала, или процессор был занят другими, и времени ей досталось меньше, чем есть у одного процессора: {ru}."),
            )
        } else {
            Phrase::new(
                format!("On every scenario the load waited, or others had the processor, and it had less than one processor's time: {en}."),
                format!(
                    "В каждом сценарии нагрузка ждала, или процессор был занят другими, и времени ей досталось меньше, чем есть у одного процессора: {ru}."
                ),
            )
        });
    }
    let shares: Vec<_> = of_ceilings(rows).map(|(row, of)| ((row, of), percent(of.share))).collect();
    if !shares.is_empty() {
        let Phrase { en, ru } = named(&shares, beside_ceiling);
        answers.push(Phrase::new(
            format!("Beside what the suite names as their ceilings: {en}."),
            format!("Рядом с тем, что набор называет для них потолком: {ru}."),
        ));
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
            Phrase::new(
                format!(
                    "The load generator took at most {share} of the machine's CPU time ({name}); beyond {limit} a figure may be the generator's own limit, and the notes above the table say so."
                ),
                format!(
                    "Генератор нагрузки занял самое большее {} процессорного времени машины ({name}); если больше {}, пределом может быть он сам, и тогда об этом сказано над таблицей.",
                    russian(&share),
                    russian(&limit)
                ),
            )
        }
        None => TEXTS.no_loader.clone(),
    }];
    let beyond = of_ceilings(rows).filter(|(_, of)| of.share > 1.0);
    let beyond: Vec<_> = beyond.map(|(row, of)| ((row, of), percent(of.share))).collect();
    if !beyond.is_empty() {
        let Phrase { en, ru } = named(&beyond, beside_ceiling);
        answers.push(Phrase::new(
            format!("More than their ceiling, which should make you doubt one of the two: {en}."),
            format!("Больше своего потолка, так что стоит усомниться в одном из двух чисел: {ru}."),
        ));
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
    let mut answers = vec![Phrase::new(
        format!(
            "Repeats, warm-ups included: {all}. Verified and right: {passed}; wrong: {wrong}; could not be verified: {unchecked}; measured nothing: {failed}."
        ),
        format!(
            "Повторов, считая прогревы: {all}. Проверены и верны: {passed}; неверны: {wrong}; проверить нельзя: {unchecked}; ничего не измерено: {failed}."
        ),
    )];
    if invalid > 0 {
        answers.push(Phrase::new(
            format!(
                "{} not counted; each scenario says why.",
                english_plural(invalid, "invalid repeat", "invalid repeats")
            ),
            format!("Негодных повторов: {}; они не учтены, причины указаны в их сценариях.", grouped(invalid)),
        ));
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
        let said = Phrase::new(
            format!(
                "{many} {} of each scenario; {}.",
                if *most == 1 { "valid repeat" } else { "valid repeats" },
                sessions.en
            ),
            format!(
                "{many} {} каждого сценария; {}.",
                russian_plural(*most, "учтённый повтор", "учтённых повтора", "учтённых повторов"),
                sessions.ru
            ),
        );
        match alike.iter_mut().find(|(other, _)| *other == said) {
            Some((_, names)) => names.push(name),
            None => alike.push((said, vec![name])),
        }
    }
    let of_runs = |(said, names): &(Phrase, Vec<Phrase>)| {
        let names = joined(names);
        Phrase::new(format!("{}: {}", names.en, said.en), format!("{}: {}", names.ru, said.ru))
    };
    let mut answers: Vec<Phrase> = alike.iter().map(of_runs).collect();
    let mut spreads: Vec<(f64, &str)> =
        rows.iter().filter_map(|(row, value)| Some((value.spread?, row.scenario.as_str()))).collect();
    spreads.sort_by(|a, b| a.0.total_cmp(&b.0));
    if let (Some(middle), Some((most, name))) = (spreads.get(spreads.len() / 2), spreads.last()) {
        let (middle, most) = (text::spread(Some(middle.0)), text::spread(Some(*most)));
        answers.push(Phrase::new(
            format!("From repeat to repeat a typical figure of the base differs by {middle}, the most restless one by {most} ({name})."),
            format!("От повтора к повтору типичный результат базы меняется на {}, самый беспокойный — на {} ({name}).", russian(&middle), russian(&most)),
        ));
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
        answers.push(Phrase::new(
            format!("Only you know whether this is your work: {}.", suite.title),
            format!("Только вам известно, ваша ли это работа: {}.", suite.title_in_russian()),
        ));
    }
    // A filter may have left other metrics alone.
    let asked = if judged.is_empty() { &others } else { &judged };
    let floors = || asked.iter().map(|against| against.floor);
    if let (Some(least), Some(most)) = (floors().reduce(f64::min), floors().reduce(f64::max)) {
        let floor = if least == most { percent(least) } else { format!("{} … {}", percent(least), percent(most)) };
        answers.push(Phrase::new(
            format!("Differences below {floor} are taken for none."),
            format!("Отличия меньше {} за отличия не считаются.", russian(&floor)),
        ));
        let marked: Vec<f64> = judged.iter().filter(is_sure).filter_map(|against| against.ratio).collect();
        let size = |ratio: &f64| ratio.ln().abs();
        let smallest = marked.iter().copied().min_by(|a, b| size(a).total_cmp(&size(b)));
        let largest = marked.iter().copied().max_by(|a, b| size(a).total_cmp(&size(b)));
        if let (Some(smallest), Some(largest)) = (smallest, largest) {
            let (smallest, largest) = (text::change(smallest), text::change(largest));
            answers.push(Phrase::new(
                format!(
                    "Of the sure ones of main metrics, {} in number, the smallest is {smallest} and the largest {largest}.",
                    marked.len()
                ),
                format!(
                    "Надёжных отличий главных показателей: {}; наименьшее {}, наибольшее {}.",
                    marked.len(),
                    russian(&smallest),
                    russian(&largest)
                ),
            ));
        } else if !judged.is_empty() {
            answers.push(TEXTS.none_sure.clone());
        }
        let beside = others.iter().filter(is_sure).count();
        if beside > 0 {
            answers.push(Phrase::new(
                format!(
                    "Of other metrics {} sure; the table shows them all.",
                    english_plural(beside, "difference is", "differences are")
                ),
                format!("Надёжных отличий прочих показателей: {beside}; в таблице видны все."),
            ));
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
        done.push((bytes.clone(), russian(&bytes)));
    }
    if operations > 0.0 {
        let count = operations as usize;
        let (shown, in_russian) = (grouped(count), russian_plural(count, "операцию", "операции", "операций"));
        done.push((format!("{shown} operations"), format!("{shown}\u{a0}{in_russian}")));
    }
    let en: Vec<_> = done.iter().map(|(en, _)| en.as_str()).collect();
    let ru: Vec<_> = done.iter().map(|(_, ru)| ru.as_str()).collect();
    let mut answers = Vec::new();
    if !done.is_empty() {
        let time = duration(time);
        answers.push(Phrase::new(
            format!("The valid repeats did {} in {time}; each scenario shows how that was verified.", en.join(" and ")),
            format!(
                "Учтённые повторы сделали {} за {}; как это проверено, указано в каждом сценарии.",
                ru.join(" и "),
                russian(&time)
            ),
        ));
    }
    answers.push(if samples > 0 {
        Phrase::new(
            format!(
                "Beside them {} samples of the machine and the load were recorded; they are shown with their scenarios above.",
                grouped(samples)
            ),
            format!(
                "Кроме того, {} {} {} машины и нагрузки; они показаны выше, у своих сценариев.",
                russian_plural(samples, "записан", "записано", "записано"),
                grouped(samples),
                russian_plural(samples, "отсчёт", "отсчёта", "отсчётов")
            ),
        )
    } else {
        TEXTS.no_series.clone()
    });
    answers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, SampleRun};
    use stend_compare::table::Table;

    /// The English answers to a question, by its place in the list.
    fn answers(table: &Table, data: &SampleRun, place: usize) -> String {
        let runs = [data.data()];
        let input = Input { table, runs: &runs, command: "stend report", generated_at: jiff::Timestamp::UNIX_EPOCH };
        let view = questions(&input).swap_remove(place);
        view.answers.iter().map(|answer| answer.en.as_ref()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_load_that_waits_is_told_from_one_that_is_busy() {
        let (table, mut data) = (sample::table(), sample::run(0));
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
        let (mut table, mut data) = (sample::table(), sample::run(0));
        assert!(
            answers(&table, &data, 1).starts_with("No instrument of these runs")
                && answers(&table, &data, 1).ends_with("No figure is above its ceiling.")
        );
        for repeat in data.repeats.iter_mut().filter(|repeat| repeat.scenario == 4) {
            repeat.report.as_mut().unwrap().observed.insert("loader_cpu_share".into(), 0.81);
        }
        if let Cell::Measured(value) = &mut table.rows[0].cells[0] {
            value.of_ceilings = vec![OfCeiling { scenario: "copy in L1".into(), share: 1.3 }];
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
        let (table, data) = (sample::table(), sample::run(10));
        let runs = [data.data()];
        let input =
            Input { table: &table, runs: &runs, command: "stend report", generated_at: jiff::Timestamp::UNIX_EPOCH };
        let said: String = questions(&input)[3..5].iter().flat_map(|one| &one.answers).map(|one| &*one.ru).collect();
        assert!(said.contains("наименьшее −6,3") && said.contains("наибольшее × 2,41"), "{said}");
        assert!(said.contains("меньше 1,0") && !said.contains("1.0"), "{said}");
    }

    #[test]
    fn repeats_sessions_differences_and_work_are_counted() {
        let (table, data) = (sample::table(), sample::run(10));
        let errors = answers(&table, &data, 2);
        assert!(
            errors.contains("Repeats, warm-ups included: 88. Verified and right: 87;")
                && errors.contains("wrong: 0; could not be verified: 0; measured nothing: 1."),
            "{errors}"
        );
        assert!(errors.contains("1 invalid repeat not counted"), "{errors}");
        let again = answers(&table, &data, 3);
        assert!(
            again.contains("pc-7: 9–10 valid repeats of each scenario; one session.")
                && again.contains("Sessions of one boot cannot show"),
            "{again}"
        );
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
