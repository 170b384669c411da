//! Tests of the page.

use std::time::Instant;

use super::*;
use crate::report::sample::{self, EVIL, SampleRun};

fn page(data: &SampleRun) -> String {
    let table = sample::table();
    let runs = [RunData { run: &data.run, sessions: &data.sessions, repeats: &data.repeats, series: &data.series }];
    let generated_at = "2026-11-21T07:00:00Z".parse().unwrap();
    render(&Input { table: &table, runs: &runs, fingerprint: sample::fingerprint(), generated_at }).unwrap()
}

#[test]
fn nothing_is_fetched() {
    let html = page(&sample::run(50));
    for fetched in ["http://", "https://", "src=", "@import", "url(", "<link", "<iframe", "<img"] {
        assert!(!html.contains(fetched), "{fetched}");
    }
    assert!(html.contains("default-src 'none'"));
}

#[test]
fn names_cannot_run_scripts() {
    let html = page(&sample::run(50));
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
    let html = page(&sample::run(0));
    let script = html.split_once("<script>").unwrap().1.split_once("</script>").unwrap().0;
    let digest = base64(&Sha256::digest(script.as_bytes()));
    assert!(html.contains(&format!("script-src 'sha256-{digest}'")));
    assert_eq!(base64(b"stend"), "c3RlbmQ=");
    assert_eq!(base64(b"sten"), "c3Rlbg==");
    assert_eq!(base64(b"ste"), "c3Rl");
}

#[test]
fn every_text_stands_in_both_languages() {
    let html = page(&sample::run(50));
    assert_eq!(html.matches("<span lang=\"en\">").count(), html.matches("<span lang=\"ru\">").count());
    assert!(html.contains("<html lang=\"en\">"), "without a script English shows");
    assert_eq!(html.matches("data-en=").count(), html.matches("data-ru=").count());
}

#[test]
fn it_has_its_parts() {
    let html = page(&sample::run(50));
    for part in [
        "8 scenarios measured on pc-7",
        "1 has no figure",
        "▲\u{a0}3 better",
        "class=\"verdict better\">▲ +8.1 %",
        "<span class=\"factor\">× 10.7</span>",
        "title=\"On the way to the summit, RusCrypto, 2021-06-17\"",
        "apt-get install -y fio",
        "stend-probe cipher --size 64KiB --label &#39;it&#39;\\&#39;&#39;s&#39;",
        "took away 4.1 %",
        "aria-sort=\"none\"",
        "round trip of 64 KiB",
        "power: no RAPL",
        "Enhanced IBRS",
    ] {
        assert!(html.contains(part), "{part}");
    }
    assert!(!html.contains("NaN") && !html.contains("inf\""));
    let published = html.matches("class=\"factor\"").count();
    assert!(published > 20 && !html.contains("verdict better\">× "));
}

#[test]
fn names_on_the_page_are_unique() {
    let html = page(&sample::run(50));
    let mut ids: Vec<&str> = html.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    for reference in html.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        assert!(ids.binary_search(&reference).is_ok(), "{reference}");
    }
}

#[test]
fn an_empty_report_says_so() {
    let table = Table { columns: vec![], rows: vec![], left_out: vec![], notes: vec![] };
    let input = Input { table: &table, runs: &[], fingerprint: vec![], generated_at: Timestamp::UNIX_EPOCH };
    assert!(render(&input).unwrap().contains("Nothing was measured."));
}

#[test]
#[ignore = "writes a page to be looked at: STEND_SAMPLE_REPORT=/tmp/x.html"]
fn look() {
    let file = std::env::var("STEND_SAMPLE_REPORT").expect("the file to write");
    std::fs::write(file, page(&sample::run(300))).unwrap();
}

#[test]
#[ignore = "measures; run it in release"]
fn a_million_samples_are_written_in_a_second_and_stay_small() {
    // 88 repeats × 15 series.
    let data = sample::run(1_000_000 / (88 * 15) + 1);
    let samples: usize = data.series.iter().map(|(_, series)| series.values.len()).sum();
    let start = Instant::now();
    let html = page(&data);
    let took = start.elapsed();
    println!("{samples} samples: {took:?}, {:.2} MB", html.len() as f64 / 1e6);
    assert!(samples >= 1_000_000 && took.as_secs_f64() < 1.0 && html.len() < 8_000_000);
}
