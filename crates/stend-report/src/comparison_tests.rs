//! Tests of a comparison at a terminal and on a page.

use super::*;
use crate::example;
use stend_compare::table::Column;

fn shown(width: usize, colour: bool, all_metrics: bool) -> String {
    document(&example::table(), &example::fingerprint(), all_metrics).terminal(width, colour)
}

/// The same comparison as each writer writes it.
#[test]
fn each_format_is_written_as_before() {
    let table = example::table();
    insta::assert_snapshot!("terminal", shown(100, false, false));
    insta::assert_snapshot!("markdown", document(&table, &example::fingerprint(), false).markdown());
    insta::assert_snapshot!("csv", crate::csv::render(&table));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for limit in [80, 90, 100, 120, 200] {
        for all_metrics in [false, true] {
            for line in shown(limit, false, all_metrics).lines() {
                assert!(width(line) <= limit, "{} > {limit}: {line}", width(line));
                assert_eq!(line, line.trim_end());
            }
        }
    }
}

#[test]
fn the_share_of_a_ceiling_stands_under_the_figure() {
    let text = shown(100, false, false);
    let mut lines = text.lines().skip_while(|line| !line.starts_with("pipe write, 32 KiB"));
    assert!(lines.next().unwrap().contains("16.2 GB/s") && lines.next() == Some("  62 % of magma, parallel"), "{text}");
}

#[test]
fn without_colour_there_is_no_escape_and_with_it_the_text_is_the_same() {
    let plain = shown(100, false, false);
    assert!(!plain.contains('\u{1b}'));
    let coloured = shown(100, true, false);
    let mut stripped = String::new();
    let mut rest = coloured.as_str();
    while let Some((before, after)) = rest.split_once('\u{1b}') {
        stripped.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    stripped.push_str(rest);
    assert_eq!(stripped, plain);
}

#[test]
fn published_figures_are_never_coloured() {
    let coloured = shown(100, true, false);
    let published = &coloured[coloured.find("Published").unwrap()..];
    assert!(!published.contains("38;2;"), "{published}");
    assert!(published.contains("× 10.7"), "1243 MB/s here against 116 there: {published}");
    assert!(coloured.contains("\u{1b}[38;2;0;158;115m▲ +8.1 %"));
    assert!(coloured.contains("\u{1b}[38;2;230;159;0m▼ −6.3 %"));
}

#[test]
fn latencies_here_are_better_where_they_are_shorter() {
    let text = shown(100, false, false);
    let line = text.lines().skip_while(|line| !line.contains("Vostok, 4.19")).find(|line| line.contains("base 412 µs"));
    assert!(line.unwrap().contains("× 19.4"), "412 µs of the base against 8 ms there: {line:?}");
}

#[test]
fn the_base_is_called_by_its_name_wherever_it_stands() {
    let mut table = example::table();
    let beside = document(&table, &[], false).terminal(100, false);
    assert!(
        beside.contains("pc-7 (base)  5 sessions") && beside.contains("figure: the base is twice as good"),
        "{beside}"
    );
    table.columns.remove(1);
    table.rows.iter_mut().for_each(|row| drop(row.cells.remove(1)));
    let alone = document(&table, &[], false).terminal(100, false);
    assert!(alone.contains("  pc-7 412 MB/s ") && alone.contains("figure: pc-7 is twice as good"), "{alone}");
    for text in [beside, alone] {
        assert!(!text.contains("this machine") && !text.contains("  here "), "it may be any machine: {text}");
    }
}

#[test]
fn rows_stand_in_the_suites_order_under_what_they_belong_to() {
    let text = shown(100, false, false);
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("no {part} in {text}"));
    assert!(place("AMD Ryzen") < place("magma, parallel"));
    assert!(place("magma, parallel") < place("kuznyechik, sequential"));
    assert!(place("kuznyechik, sequential") < place("Published: summit"));
    assert!(place("Published: summit") < place("Published: vostok"));
    assert!(text.contains("skipped: fio is not on the machine's PATH; fix it with: apt-get install -y fio"));
    assert!(text.contains("invalid: the hypervisor took away 4.1 %"));
    assert!(text.contains("9/10") && text.contains("10*") && text.contains("under six repeats"));
    let unresolved = text.lines().find(|line| line.contains("? +1.3 %")).unwrap();
    assert!(unresolved.contains("≈ 24"), "{unresolved}");
    assert!(text.contains("pc-7, kernel 6.12 is faster than pc-7 on 3 of 8 scenarios"), "{text}");
    assert!(!text.contains("cycles/B") && shown(100, false, true).contains("cycles/B"));
    assert!(!text.contains("NaN") && !text.contains("inf"));
}

#[test]
fn an_empty_table_says_so() {
    let table = table::Table::default();
    assert_eq!(
        document(&table, &["a machine".into()], false).terminal(80, false),
        "a machine\n\nNothing was measured.\n"
    );
}

#[test]
fn several_runs_stand_side_by_side() {
    let mut table = example::table();
    let third = Column { title: "pc-8".into(), ..table.columns[1].clone() };
    table.columns.insert(2, third);
    for row in &mut table.rows {
        let cell = row.cells[1].clone();
        row.cells.insert(2, cell);
    }
    let text = document(&table, &[], false).terminal(80, false);
    assert!(text.contains("Other runs") && text.contains("pc-8"), "{text}");
    let line = text.lines().find(|line| line.contains("base 412 MB/s")).unwrap();
    assert_eq!(line.matches("▲ × 2.41").count(), 2, "{line}");
}

#[test]
fn every_line_of_a_table_on_a_page_has_as_many_cells_as_its_head() {
    let text = document(&example::table(), &example::fingerprint(), true).markdown();
    let mut bars = None;
    for line in text.lines() {
        let count = line.replace("\\|", "").matches('|').count();
        match (line.starts_with('|'), bars) {
            (true, Some(bars)) => assert_eq!(count, bars, "{line}"),
            (true, None) => bars = Some(count),
            (false, _) => bars = None,
        }
    }
    for part in [
        "| ▲ +8.1 % |",
        "| +7.0 … +9.2 % |",
        "\n- memory: ",
        "| of its ceiling |",
        "| 62 % of magma, parallel |",
        "Published: summit",
        "with a published figure",
        "n to settle: ",
        "× ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("\n\n\n"), "{text}");
}

#[test]
#[ignore = "prints the table to be looked at"]
fn look() {
    println!("{}\n\n{}", shown(100, true, false), shown(80, false, true));
}
