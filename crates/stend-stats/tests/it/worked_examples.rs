//! The worked examples of the method page: each sentence with figures is made here from recorded repeats, and must stand there word for word.

use std::collections::BTreeMap;

use stend_stats::{
    Cell, Reason, Verdict, coefficient_of_variation, compare_runs, compare_table, drift_floors, median,
    median_interval, serial_correlation,
};

type Run = BTreeMap<String, Vec<f64>>;

fn runs() -> Vec<Run> {
    let file: serde_json::Value = serde_json::from_str(include_str!("../data/recorded-runs.json")).expect("JSON");
    serde_json::from_value(file["runs"].clone()).expect("a list of runs")
}

/// All scenarios of one run against another, as the program compares them, by name.
fn table(a: &Run, b: &Run, delta: f64) -> (Vec<String>, Vec<Cell>) {
    let names: Vec<String> = a.keys().filter(|name| b.contains_key(*name)).cloned().collect();
    let cells =
        names.iter().map(|name| crate::common::cell(vec![a[name].clone()], vec![b[name].clone()], delta)).collect();
    (names, cells)
}

/// Fails unless the method page says this.
fn page_says(sentence: &str) {
    let page = include_str!("../../../../docs/design/method.md");
    assert!(page.contains(sentence), "docs/design/method.md ought to say:\n\n{sentence}\n");
}

fn place(names: &[String], name: &str) -> usize {
    names.iter().position(|one| one == name).expect(name)
}

#[test]
fn value_interval_and_spread_of_one_cell() {
    let run = &runs()[0]["gzip -6, 441 pages"];
    let interval = median_interval(run, 0.95).expect("ten");
    page_says(&format!(
        "The ten repeats of `gzip -6` in the first run have the median {:.1} MB/s; the second smallest is {:.1}, the second largest {:.1}, and an interval from order statistics covers the true median in {:.1} % of cases. Their spread is {:.1} %.",
        median(run).expect("ten") / 1e6,
        interval.low / 1e6,
        interval.high / 1e6,
        100.0 * interval.attained,
        100.0 * coefficient_of_variation(run).expect("ten"),
    ));
}

#[test]
fn many_cells_and_drift() {
    let runs = runs();
    let (names, cells) = table(&runs[1], &runs[0], 0.01);
    let (bare, whole) = (compare_table(&cells), compare_runs(&cells));
    let magma = bare[place(&names, "magma, sequential")];
    let interval = magma.interval.expect("ten");
    assert_eq!((magma.verdict, magma.reason), (Verdict::Unresolved, Reason::NotSignificant));
    page_says(&format!(
        "Magma in sequential mode is {:.1} % faster in the second run than in the first, p = {:.3}. Among the {} cells of that table, of which {} have p < 0.05, that is q = {:.2}: *unresolved*. The interval of the ratio, {:.3} … {:.3}, would not have allowed more either.",
        100.0 * (interval.ratio - 1.0),
        magma.test.expect("a test").p,
        bare.len(),
        bare.iter().filter(|result| result.test.expect("a test").p < 0.05).count(),
        magma.q.expect("a test"),
        interval.low,
        interval.high,
    ));
    let fio = place(&names, "fio, 4k random read");
    let interval = bare[fio].interval.expect("ten");
    assert_eq!((bare[fio].verdict, whole[fio].reason), (Verdict::Better, Reason::WithinDrift));
    page_says(&format!(
        "`fio`'s 4k random reads are {:.1} % faster, with an interval of {:.3} … {:.3} and q = {:.3}: by test and interval *better*. But the halves of the scenarios of these two runs lie {:.0} % apart or more in a quarter of the cells. So the machine differs from itself by more than the near end of the interval: *unresolved*.",
        100.0 * (interval.ratio - 1.0),
        interval.low,
        interval.high,
        bare[fio].q.expect("a test"),
        100.0 * drift_floors(&cells)[fio].expect("a drift"),
    ));
}

#[test]
fn same_needs_a_narrow_interval() {
    let runs = runs();
    let (names, cells) = table(&runs[4], &runs[3], 0.01);
    let sha = place(&names, "openssl, sha256");
    let result = compare_runs(&cells)[sha];
    let interval = result.interval.expect("ten");
    assert_eq!(result.verdict, Verdict::Unresolved);
    let wider = Cell { delta: 0.02, ..cells[sha].clone() };
    assert_eq!(compare_runs(&[wider])[0].verdict, Verdict::Same);
    page_says(&format!(
        "OpenSSL's SHA-256 in the fifth run against the fourth: ratio {:.4}, interval {:.4} … {:.4}. That is not *same* with δ = 1 %, since {:.4} lies beyond 1.01; about {} repeats would settle it. With a `floor` of 2 % it is *same*.",
        interval.ratio,
        interval.low,
        interval.high,
        interval.high,
        result.needed.expect("an estimate"),
    ));
}

#[test]
fn a_doubled_speed_is_found() {
    let runs = runs();
    let doubled: Run =
        runs[0].iter().map(|(name, values)| (name.clone(), values.iter().map(|value| 2.0 * value).collect())).collect();
    let results = compare_runs(&table(&doubled, &runs[1], 0.01).1);
    let better = results.iter().filter(|result| result.verdict == Verdict::Better).count();
    page_says(&format!(
        "If every repeat of the first run is doubled, {better} of the {} scenarios are *better* than in the second",
        results.len(),
    ));
}

/// Sixty repeats in a row, in which neighbours hang together, dealt in turns: as pairs, and as if they were two sides.
#[test]
fn pairs_of_a_wave() {
    let noise: serde_json::Value = serde_json::from_str(include_str!("../data/recorded-noise.json")).expect("JSON");
    let entry = noise.as_array().expect("a list").iter().find(|entry| entry["scenario"] == "gzip-6").expect("gzip-6");
    let values: Vec<f64> = serde_json::from_value(entry["values"].clone()).expect("values");
    let mut sides = [Vec::new(), Vec::new()];
    for (place, pair) in values.chunks_exact(2).enumerate() {
        sides[place % 2].push(pair[0]);
        sides[1 - place % 2].push(pair[1]);
    }
    let [a, b] = sides;
    let unpaired = crate::common::cell(vec![a.clone()], vec![b.clone()], 0.01);
    let paired = Cell { paired: true, ..unpaired.clone() };
    let [paired, unpaired] = [paired, unpaired].map(|cell| compare_table(&[cell])[0].interval.expect("thirty"));
    let found = serial_correlation([&values[..]]).expect("sixty");
    page_says(&format!(
        "The sixty runs of `gzip` in `recorded-noise.json`, of which neighbours have the correlation {:.2}, dealt in turns A B B A make thirty pairs of the same thing: the ratio is {:.3} with an interval of {:.3} … {:.3}. Taken for two sides without pairs it is {:.3} … {:.3}.",
        found.correlation, paired.ratio, paired.low, paired.high, unpaired.low, unpaired.high,
    ));
}

#[test]
fn recorded_sessions_are_correlated_a_little() {
    let runs = runs();
    let found = serial_correlation(runs.iter().flat_map(|run| run.values().map(Vec::as_slice))).expect("many");
    let sessions = runs.iter().flat_map(BTreeMap::values).filter(|values| values.len() >= 6).count();
    // The same doubt as in `compare_runs`.
    let doubted = (found.evidence + 3.0) / found.weight;
    page_says(&format!(
        "The {sessions} sessions of `recorded-runs.json` speak for ρ = {:.2}, {:.1} standard deviations above shuffled repeats.",
        doubted, found.z,
    ));
}
