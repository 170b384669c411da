//! Tests of the page.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;

use stend_model::cause::Cause;
use stend_model::condition::Condition;
use stend_model::suite::Instrument;
use stend_model::wire::{Begin, Event, parse_line};

use super::*;

use crate::example::{self, EVIL, SampleRun};
use stend_compare::compare;
use stend_compare::table::{Lack, Measured, Verdict};
use stend_model::record::Record;

fn page(data: &SampleRun) -> String {
    page_of(&[data.data()])
}

/// The page as it is written.
fn written(runs: &[RunData]) -> String {
    let table = example::table();
    let generated_at = "2026-11-21T07:00:00Z".parse().unwrap();
    render(&Input { table: &table, runs, command: "stend report", generated_at }).unwrap()
}

/// The page with all that its script unfolds.
fn page_of(runs: &[RunData]) -> String {
    example::in_english_and_russian(&fold::unfolded(&written(runs)))
}

#[test]
fn the_table_of_results_is_written_as_before() {
    let html = written(&[example::run(0).data()]);
    let table = html.split_once("<table id=\"results\"").unwrap().1.split_once("</table>").unwrap().0;
    insta::assert_snapshot!("results", table);
}

#[test]
fn nothing_is_fetched() {
    let html = page(&example::run(50));
    for fetched in ["http://", "https://", "src=", "@import", "url(", "<link", "<iframe", "<img"] {
        assert!(!html.contains(fetched), "{fetched}");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn names_cannot_run_scripts() {
    let html = page(&example::run(50));
    assert!(!html.contains(EVIL) && !html.contains("<script>alert"));
    assert_eq!(html.matches("<script").count(), 1, "only our own");
    assert!(html.contains("&#60;script&#62;alert") || html.contains("&lt;script&gt;alert"));
    // In attributes a quote would end the value.
    for attribute in html.split("data-key=\"").skip(1) {
        assert!(!attribute.split('"').next().unwrap().contains('<'));
    }
}

#[test]
fn only_our_own_script_may_run() {
    let html = page(&example::run(0));
    let script = html.split_once("<script>").unwrap().1.split_once("</script>").unwrap().0;
    let digest = BASE64.encode(Sha256::digest(script.as_bytes()));
    assert!(html.contains(&format!("script-src 'sha256-{digest}'")));
}

#[test]
fn every_text_stands_in_each_language() {
    let html = fold::unfolded(&written(&[example::run(50).data()]));
    assert!(html.contains("<html lang=\"en\">"), "without a script English shows");
    let count = |begin: &str, code: &str, end: &str| html.matches(&format!("{begin}{code}{end}")).count();
    for code in Language::ALL.iter().map(|language| language.code()) {
        for (begin, end) in [("<span lang=\"", "\">"), (" data-", "=\""), (" data-title-", "=\"")] {
            let of_english = count(begin, "en", end);
            assert!(of_english > 0 && count(begin, code, end) == of_english, "{begin}{code}");
        }
        assert_eq!(count("<button type=\"button\" data-switch=\"", code, "\" lang="), 1, "{code}");
        assert_eq!(count("span[lang=", code, "]"), 1, "the style sheet hides {code}");
        assert_eq!(count("{\"code\":\"", code, "\","), 1, "the script has what {code} needs");
    }
}

/// What a reader sees of the page in Russian: text, tooltips and the names that are read aloud.
fn seen_in_russian(html: &str) -> String {
    let body = html.split_once("<body>").unwrap().1.split_once("<script>").unwrap().0;
    let mut seen = String::new();
    let mut rest = body
        .replace("<code>", "")
        .replace("</code>", "")
        .replace("<span lang=\"en\">", "<en>")
        .replace("<button type=\"button\" data-switch=\"en\"", "<en");
    while let Some((before, after)) = rest.clone().split_once('<') {
        seen.push_str(before);
        let (tag, after) = after.split_once('>').unwrap();
        let value = |name: &str| {
            tag.split_once(&format!(" {name}=\"")).map(|(_, value)| value.split('"').next().unwrap().to_owned())
        };
        let title = value("data-title-ru").or_else(|| value("title"));
        let named = ["data-ru", "aria-label"].into_iter().filter_map(value);
        seen.extend(title.into_iter().chain(named).map(|text| format!(" {text} ")));
        // What the script shows in Russian from an attribute, and what is only there in English.
        let hidden = tag.starts_with("en") || tag.contains(" data-ru=");
        rest = if hidden { after.split_once("</").unwrap().1.split_once('>').unwrap().1.into() } else { after.into() };
        seen.push(' ');
    }
    seen
}

/// The words of all texts in a value, but for those that the page translates.
fn words_of(value: &serde_json::Value, words: &mut BTreeSet<String>) {
    const TRANSLATED: [&str; 11] = [
        "why",
        "notes",
        "outcome",
        "skipped",
        "conditions",
        "verdict",
        "kind",
        "check",
        "evidence",
        "missing",
        "lacks",
    ];
    match value {
        serde_json::Value::String(text) => words.extend(words_in(text)),
        serde_json::Value::Array(values) => values.iter().for_each(|value| words_of(value, words)),
        serde_json::Value::Object(fields) => {
            fields
                .iter()
                .filter(|(name, _)| !TRANSLATED.contains(&name.as_str()))
                .for_each(|(_, value)| words_of(value, words));
        }
        _ => {}
    }
}

fn words_in(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 1);
    words.filter(|word| word.chars().all(|c| c.is_ascii_alphabetic())).map(str::to_owned)
}

/// What stend-probe says before it measures, if built with these flags.
fn begin_of_probe(flags: &str) -> Begin {
    let line = format!(
        r#"{{"event":"begin","wire":1,"instrument":"cipher","version":"0.1.0","build":{{"architecture":"x86_64","flags":"{flags}","sources":"07ab"}}}}"#
    );
    match parse_line(&line) {
        Ok(Some(Event::Begin(begin))) => begin,
        other => panic!("{other:?}"),
    }
}

#[test]
fn on_the_russian_page_english_is_only_what_others_wrote() {
    let mut data = example::run(50);
    data.run.machine.missing = [("board".into(), Cause::NotThere { file: "/sys/class/dmi".into() })].into();
    data.sessions[0].missing_sensors =
        [("thermal".into(), Cause::Silent { sources: vec!["/sys".into()] }.into())].into();
    data.sessions[0].conditions = vec![Condition::ForeignLoad { share: 0.12, limit: Some(0.05), said: None }];
    data.repeats.iter_mut().for_each(|repeat| repeat.begin = Some(begin_of_probe("-O2")));
    let record = stend_model::record::Record {
        sessions: data.sessions.clone(),
        repeats: data.repeats.clone(),
        ..stend_model::record::Record::empty(data.run.clone())
    };
    let mut other = stend_model::record::Record {
        sessions: data.sessions.clone(),
        repeats: data.repeats.clone(),
        ..stend_model::record::Record::empty(data.run.clone())
    };
    other.run.id = "20261122-0801-77c2".into();
    other.repeats.iter_mut().for_each(|repeat| repeat.begin = Some(begin_of_probe("-O3")));
    other.run.suite.scenarios[0].metrics[0].name = "duration".into();
    other.run.suite.scenarios[1].name = "magma alone".into();
    let mut table = example::table();
    table.notes.extend(stend_compare::compare(&[&record, &other], &[]).notes);
    let runs = [data.data()];
    let html =
        render(&Input { table: &table, runs: &runs, command: "stend report", generated_at: Timestamp::UNIX_EPOCH })
            .unwrap();
    let html = example::in_english_and_russian(&fold::unfolded(&html));
    // The tooltips of a flame graph stand there in one language, with points; the page's script turns them.
    let mut parts = html.split("<svg class=\"flames\"");
    let without_flames: String = parts
        .next()
        .into_iter()
        .chain(parts.map(|part| part.split_once("</svg>").expect("a drawing ends").1))
        .collect();
    let text = seen_in_russian(&without_flames);
    for said in ["нет вердикта: «", "kernel 6.12: «", "флаги -O2 → -O3", "исходники: 07ab"]
    {
        assert!(text.contains(said), "{said}");
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let point = words.windows(2).position(|pair| {
        let unit = pair[1].trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '%');
        let number = pair[0].trim_start_matches(|c: char| !c.is_alphanumeric());
        number.parse::<f64>().is_ok()
            && number.contains('.')
            && (unit == "%" || Writing::of(Language::English).unit(unit).is_some())
    });
    let point = point.map(|place| words[place.saturating_sub(5)..place + 2].join(" "));
    assert_eq!(point, None, "a Russian figure has a decimal comma and a Russian unit");
    let seen: BTreeSet<String> = words_in(&text).collect();
    assert!(seen.contains("kuznyechik") && !seen.contains("Results"), "the test sees what a reader sees");

    let mut others = BTreeSet::new();
    words_of(&serde_json::to_value(&table).unwrap(), &mut others);
    words_of(&serde_json::to_value(&data.run).unwrap(), &mut others);
    words_of(&serde_json::to_value(&data.repeats).unwrap(), &mut others);
    words_of(&serde_json::to_value(&data.series).unwrap(), &mut others);
    words_of(&serde_json::to_value(&data.profiles).unwrap(), &mut others);
    let names = "stend report Evaluating Evaluation Benchmarking Checklist PATH UTC ab cpufreq sys class dmi fio apt get install clang compiler copy mode perf strace linux cgroup RFC table duration noise name value unit";
    let units = "MIOPS kIOPS lt gt amp quot";
    others.extend(words_in(names).chain(words_in(units)));
    others.extend(Language::ALL.iter().flat_map(|language| words_in(TEXTS.of_languages.say(*language))));
    let left_over: Vec<_> = seen.difference(&others).collect();
    assert!(left_over.is_empty(), "{left_over:?}");
}

#[test]
fn it_has_its_parts() {
    let html = page(&example::run(50));
    for part in [
        "8 scenarios measured on pc-7",
        "1 has no figure",
        "than pc-7 on 3 of 8 scenarios",
        "kernel 6.1.0-28-amd64 → 6.12.3; kernel command line: none → mitigations=off; mitigation spectre_v2: on → off",
        "ядро 6.1.0-28-amd64 → 6.12.3; командная строка ядра: нет → mitigations=off; защита от spectre_v2: включена → выключена",
        "<th scope=\"col\">pc-7</th><th scope=\"col\">pc-7, kernel 6.12</th>",
        "<span lang=\"en\">kernel command line</span><span lang=\"ru\">командная строка ядра</span></th><td><span lang=\"en\">none</span><span lang=\"ru\">нет</span></td>",
        " — Набор quick: всего понемногу</",
        "ваша ли это работа: Набор quick: всего понемногу.",
        "Better than the base: +8.1\u{a0}%",
        "Why is it not twice as fast?",
        "Verified and right: 87; wrong: 0;",
        "pipe write, 32 KiB: 62",
        "<rect class=\"count\"",
        "Taken by the hypervisor</span>",
        "<span class=\"limit\"><span lang=\"en\">≤ 1.0\u{a0}%</span><span lang=\"ru\">≤ 1,0\u{a0}%</span></span>",
        "data-verdict=\"worse\"",
        "class=\"verdict better\"><span class=\"unseen\"><span lang=\"en\">better</span><span lang=\"ru\">лучше</span> </span><span lang=\"en\">▲ +8.1\u{a0}%</span><span lang=\"ru\">▲ +8,1\u{a0}%</span>",
        "<td class=\"quiet\"><span lang=\"en\">× 10.7</span><span lang=\"ru\">× 10,7</span></td>",
        ": On the way to the summit, RusCrypto, 2021-06-17</h3>",
        "A t-test rejects that the difference is δ or less",
        "apt-get install -y fio",
        "stend-probe cipher --size 64KiB --label &#39;it&#39;\\&#39;&#39;s&#39;",
        "took away 4.1\u{a0}%",
        "aria-sort=\"none\"",
        "RFC vector; all 65536 bytes and 4 tags against the backend table",
        "тестовый вектор из RFC; все байты (65536) и имитовставки (4): сверено с реализацией table",
        "power: no RAPL",
        "62\u{a0}% of magma, parallel",
        "62\u{a0}% от «magma, parallel»",
        "<svg class=\"flames\" viewBox=\"0 ",
        "<title>_copy_to_iter · 600 · 60.00\u{a0}%</title>",
        "kernel: copying",
        "it was killed by signal 9",
        "apt-get install -y linux-perf",
        "<code>write</code>",
        "Enhanced IBRS",
    ] {
        assert!(html.contains(part), "{part}");
    }
    let readable = example::without_points(&html);
    assert!(!readable.contains("NaN") && !readable.contains("inf\""));
    let published = html.matches("class=\"whose\"").count();
    assert!(published > 20 && !html.contains("лучше</span> </span><span lang=\"en\">× "));
}

/// Why a scenario has no figure is long, and would be as long in every column that lacks it.
#[test]
fn why_there_is_no_figure_stands_once() {
    let html = page(&example::run(50));
    let results = html.split_once("<table id=\"results\"").unwrap().1.split_once("</table>").unwrap().0;
    let below = html.split_once("<h2 id=\"not-measured\"").unwrap().1.split_once("</section>").unwrap().0;
    for (word, reason) in [("skipped", "fio is not on the machine&#39;s PATH"), ("invalid", "took away 4.1\u{a0}%")] {
        let link = format!("href=\"#not-measured\">– <span lang=\"en\">{word}</span>");
        assert!(results.contains(&link) && !results.contains(reason), "{word}");
        assert_eq!(below.matches(reason).count(), 1, "{reason}: {below}");
    }
}

/// The page of a table alone.
fn page_of_table(table: &Table) -> String {
    let data = example::run(0);
    render(&Input { table, runs: &[data.data()], command: "stend report", generated_at: Timestamp::UNIX_EPOCH })
        .unwrap()
}

/// The table with the same verdict everywhere.
fn with_verdict_everywhere(verdict: Verdict) -> Table {
    let mut table = example::table();
    for cell in table.rows.iter_mut().flat_map(|row| &mut row.cells) {
        if let Cell::Measured(Measured { against_base: Some(against), .. }) = cell {
            against.verdict = verdict;
        }
    }
    table
}

#[test]
fn that_nothing_differs_is_said_only_where_all_is_the_same() {
    let said = |table: &Table| {
        let html = page_of_table(table);
        html.split_once("<p class=\"same-all\">").map(|(_, rest)| rest.split_once("</p>").unwrap().0.to_owned())
    };
    let begins = |table: &Table, en: &str, ru: &str| {
        let said = said(table).unwrap();
        assert!(
            said.starts_with(&format!("<span lang=\"en\">{en}")) && said.contains(&format!("<span lang=\"ru\">{ru}")),
            "{said}"
        );
    };
    begins(&with_verdict_everywhere(Verdict::Same), "Nothing differs", "Ничего не отличается");
    begins(&example::table_without_differences(), "No difference is certain", "Надёжных отличий нет");
    begins(&with_verdict_everywhere(Verdict::Unresolved), "All figures are unresolved", "Не решено ничего");
    assert_eq!(said(&example::table()), None);
}

/// The sample's run as an A/B run: its two sides are two columns of one table.
fn of_two_sides() -> [SampleRun; 2] {
    let mut whole = example::run(0);
    whole.run.sides = ["name=plain".parse().unwrap(), "name=huge pages;env.A=1".parse().unwrap()].into();
    [0, 1].map(|side| {
        let mut data = example::run(0);
        data.run = whole.run.of_side(side);
        data
    })
}

#[test]
fn the_page_of_an_ab_run_says_what_it_is_and_how_its_pairs_are_judged() {
    let sides = of_two_sides();
    let mut table = example::table_without_differences();
    for (column, side) in table.columns.iter_mut().zip(&sides) {
        column.title = side.run.sides[0].label.clone();
        column.origin = ColumnOrigin::Run { id: side.run.id.clone(), sessions: 1, boots: 1 };
    }
    let runs = [sides[0].data(), sides[1].data()];
    let html =
        render(&Input { table: &table, runs: &runs, command: "stend report", generated_at: Timestamp::UNIX_EPOCH })
            .unwrap();
    for said in [
        "<span lang=\"en\">A/B on pc-7: “huge pages” against “plain” – ",
        "<span lang=\"ru\">A/B на машине pc-7: «huge pages» против «plain» — ",
        "the same machine with two configurations, measured alternately",
        "the order within each pair drawn at random",
        "порядок внутри каждой пары случаен",
    ] {
        assert!(html.contains(said), "{said}");
    }
    for not_said in [
        "one machine at different times",
        "Runs made one after the other",
        "by which the runs differ from themselves",
        "the first and the second half",
    ] {
        assert!(!html.contains(not_said), "{not_said}");
    }
    let apart = page(&example::run(0));
    assert!(
        apart.contains("Runs made one after the other") && !apart.contains("the order within each pair"),
        "runs of their own are no pairs"
    );
}

#[test]
fn a_comparison_is_headed_by_both_runs_and_says_of_several_once_that_they_are_alike() {
    let table = example::table();
    let [base, other] = [0, 1].map(|column: usize| table.columns[column].title.clone());
    assert!(page_of_table(&table).contains(&format!("{other} against {base}")), "{other}, {base}");
    let machine = |title: &str| overview::MachineView {
        title: title.into(),
        other_side: false,
        differences: Vec::new(),
        in_short: Phrase::default(),
    };
    let [alike] = &overview::differs(&["b", "c"].map(machine))[..] else { panic!() };
    assert_eq!((alike.titles.english(), alike.titles.russian(), alike.in_full), ("b and c", "b и c", false));
}

#[test]
fn where_no_scenario_has_a_figure_the_first_lines_say_why() {
    let mut table = example::table();
    for (place, row) in table.rows.iter_mut().enumerate() {
        let causes = vec![Cause::ForeignCpu { share: 0.065 + place as f64 / 1000.0, limit: 0.05 }];
        row.cells[0] = Cell::Nothing { why: Lack::Invalid { causes } };
    }
    let html = page_of_table(&table).replace('\u{a0}', " ");
    for said in [
        "(most often invalid: other programs used 6.5 % of the machine&#39;s CPU time)",
        "(чаще всего негоден: посторонние программы заняли 6,5 % процессорного времени машины)",
    ] {
        assert!(html.contains(said), "{said}");
    }
}

#[test]
fn the_geometric_mean_stands_below_the_table_with_its_interval() {
    let mut table = example::table();
    let mean = |table: &Table| {
        let html = page_of_table(table);
        html.split_once("<p class=\"mean\">").map(|(_, rest)| rest.split_once("</p>").unwrap().0.to_owned())
    };
    let said = mean(&table).unwrap();
    let [standing] = &stend_compare::standing::standings(&table)[..] else { panic!() };
    let found = standing.mean.as_ref().unwrap();
    let [ratio, interval] = standing::mean_figures(found);
    assert!(!interval.is_empty(), "the sample has intervals");
    let said = said.replace('\u{a0}', " ");
    assert!(said.contains(&ratio) && said.contains(&interval), "{said}");
    assert!(said.contains("geometric mean over") && said.contains("среднее геометрическое"), "{said}");
    table.columns.truncate(1);
    table.rows.iter_mut().for_each(|row| row.cells.truncate(1));
    assert_eq!(mean(&table), None, "of one run there is none");
}

/// Rows of other metrics are hidden until the reader asks for them, but not where the table has no others, or they were asked for by name.
#[test]
fn a_table_of_other_metrics_alone_hides_nothing() {
    let hides = |table: &Table| page_of_table(table).contains("id=\"minor\"");
    assert!(hides(&example::table()));
    let mut better = with_verdict_everywhere(Verdict::Same);
    for row in better.rows.iter_mut().filter(|row| !row.main) {
        if let Cell::Measured(Measured { against_base: Some(against), .. }) = &mut row.cells[1] {
            against.verdict = Verdict::Better;
        }
    }
    assert!(hides(&better));
    better.show_only(stend_compare::table::Only::Better);
    assert!(!hides(&better) && page_of_table(&better).contains("<tr class=\"minor\""));
    assert!(!hides(&Table { by_metric: true, ..example::table() }));
}

#[test]
fn the_job_file_that_a_command_names_stands_beside_it() {
    let mut data = example::run(0);
    data.run.suite.scenarios[4].instrument = Instrument::Adapter("fio".into());
    data.run.suite.scenarios[4].parameters = [("rw".to_owned(), "read".to_owned())].into();
    for repeat in data.repeats.iter_mut().filter(|repeat| repeat.scenario == 4) {
        repeat.command = ["fio", "/var/tmp/stend/repeat/job.fio"].map(str::to_owned).into();
    }
    let html = page(&data);
    assert_eq!(html.matches("[lun0]\nioengine=libaio\ndirect=1\n").count(), 1, "once, for all repeats");
    assert!(!page(&example::run(0)).contains("ioengine="), "other instruments have none");
}

#[test]
fn names_on_the_page_are_unique() {
    let html = page(&example::run(50));
    let mut ids: Vec<&str> = html.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    for reference in html.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(ids.binary_search(&reference).is_ok(), "{reference}");
    }
}

/// Of a repeat of a twentieth of a second there is one sample, which says nothing of how long it was.
#[test]
fn the_axis_of_time_is_as_long_as_the_repeats_were() {
    let seconds = |begins: bool| {
        let mut data = example::run(1);
        for repeat in &mut data.repeats {
            let sampled = data.series.iter().find(|(sequence, _)| *sequence == repeat.sequence);
            let usage = repeat.usage.as_mut().unwrap();
            usage.wall_ns = 50_000_000;
            usage.t_ns = sampled.map(|(_, one)| one.times_ns[0] - 20_000_000).filter(|_| begins);
        }
        let html = page(&data);
        let lengths: Vec<f64> = html
            .split("data-seconds=\"")
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
            .collect();
        let scenarios: BTreeSet<usize> = data.repeats.iter().map(|repeat| repeat.scenario).collect();
        let of_scenario = |place: usize| data.repeats.iter().filter(|repeat| repeat.scenario == place).count();
        let wanted: Vec<f64> = scenarios.into_iter().map(|place| of_scenario(place) as f64 * 0.05).collect();
        (lengths, wanted)
    };
    for begins in [true, false] {
        let (mut lengths, mut wanted) = seconds(begins);
        lengths.sort_by(f64::total_cmp);
        wanted.sort_by(f64::total_cmp);
        assert_eq!(lengths.len(), wanted.len());
        assert!(lengths.iter().zip(&wanted).all(|(one, other)| (one - other).abs() < 1e-6), "{lengths:?} {wanted:?}");
    }
}

#[test]
fn an_empty_report_says_so() {
    let table = Table::default();
    let input = Input { table: &table, runs: &[], command: "stend report", generated_at: Timestamp::UNIX_EPOCH };
    assert!(render(&input).unwrap().contains("Nothing was measured."));
}

/// What would set `ran`, wherever a page took it for more than text.
const HOSTILE: &str =
    "</script></style></title></textarea>--><script>ran=1</script>\"'><img src=x onerror=ran=1><svg onload=ran=1>";

/// The same with something hostile before each text that may be any text.
fn made_hostile<T: serde::Serialize + serde::de::DeserializeOwned>(one: &T) -> T {
    fn texts(value: &serde_json::Value, at: &str, found: &mut Vec<String>) {
        match value {
            serde_json::Value::String(_) => found.push(at.to_owned()),
            serde_json::Value::Array(list) => {
                list.iter().enumerate().for_each(|(place, one)| texts(one, &format!("{at}/{place}"), found));
            }
            serde_json::Value::Object(map) => {
                for (key, one) in map {
                    texts(one, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
                }
            }
            _ => {}
        }
    }
    let mut whole = serde_json::to_value(one).unwrap();
    let mut found = Vec::new();
    texts(&whole, "", &mut found);
    for place in found {
        let text = whole.pointer_mut(&place).unwrap();
        let before = text.take();
        *text = format!("{HOSTILE}{}", before.as_str().unwrap()).into();
        if serde_json::from_value::<T>(whole.clone()).is_err() {
            *whole.pointer_mut(&place).unwrap() = before;
        }
    }
    serde_json::from_value(whole).unwrap()
}

fn hostile(data: &SampleRun) -> SampleRun {
    let first = data.repeats.iter().filter(|repeat| repeat.number < 2);
    SampleRun {
        run: made_hostile(&data.run),
        sessions: made_hostile(&data.sessions),
        repeats: first.map(made_hostile).collect(),
        series: data.series.iter().map(|(sequence, one)| (*sequence, made_hostile(one))).collect(),
        profiles: data.profiles.iter().map(made_hostile).collect(),
    }
}

#[test]
#[ignore = "writes the pages that a browser is tested with: STEND_SAMPLE_REPORTS=directory"]
fn pages_to_be_looked_at() {
    let directory = PathBuf::from(std::env::var_os("STEND_SAMPLE_REPORTS").expect("the directory to write to"));
    let samples = std::env::var("STEND_SAMPLES").map_or(60, |samples| samples.parse().expect("a number of samples"));
    let (mut base, mut other) = (example::run(samples), example::other_run(samples));
    // Not all of the base's repeats, so that the axes of time are of different lengths.
    other.repeats.retain(|repeat| repeat.number < 8);
    let write = |name: &str, runs: &[RunData], table: &Table| {
        let generated_at = "2026-11-21T07:00:00Z".parse().unwrap();
        std::fs::write(
            directory.join(name),
            render(&Input { table, runs, command: "stend report", generated_at }).unwrap(),
        )
        .unwrap();
    };
    write("report.html", &[base.data(), other.data()], &example::weighed(&base));
    write("nothing-differs.html", &[base.data(), other.data()], &example::table_without_differences());
    let both = [hostile(&base), hostile(&other)];
    let records = both.each_ref().map(|data| Record {
        sessions: data.sessions.clone(),
        repeats: data.repeats.clone(),
        profiles: data.profiles.clone(),
        ..Record::empty(data.run.clone())
    });
    let table = compare(&records.iter().collect::<Vec<_>>(), &[]);
    write("hostile.html", &both.each_ref().map(SampleRun::data), &table);
    for scenario in &mut base.run.suite.scenarios {
        scenario.instrument = Instrument::Adapter("fio".into());
    }
    write("storage.html", &[base.data()], &example::table());
}

#[test]
#[ignore = "measures; run it in release"]
fn a_million_samples_are_written_in_a_second_and_stay_small() {
    // 88 repeats × 18 series.
    let data = example::run(1_000_000 / (88 * 18) + 1);
    let samples: usize = data.series.iter().map(|(_, series)| series.values.len()).sum();
    let start = Instant::now();
    let html = written(&[data.data()]);
    let took = start.elapsed();
    println!("{samples} samples: {took:?}, {:.2} MB", html.len() as f64 / 1e6);
    assert!(samples >= 1_000_000 && took.as_secs_f64() < 1.0 && html.len() < 8_000_000);
}
