//! Why the verdicts on one figure are what they are: the conditions of the rule one by one, and what each was held against.

use stend_model::metric::Unit;
use stend_stats::{LEAST_FLOOR, MIN_REPEATS, SIGNIFICANCE};

use super::doc::{self, Doc, Frame, Role, Value};
use super::reason::reason;
use super::text::{self, change_interval, decimals_for, interval, mark, moment, other_runs, percent, precise, word};
use stend_stats::IntervalMethod;

use stend_compare::evidence::{FloorSource, Test};
use stend_compare::table::{AgainstBase, Cell, Measured, Row, Table};

/// Of each run beside the base.
pub fn document(table: &Table, row: &Row) -> Doc {
    let mut doc = Doc::default();
    let direction = super::text::direction(row.better);
    doc.heading(format!("{} · {}, in {}, {direction} is better", row.scenario, row.metric, row.unit), "");
    let tests = table.rows.iter().flat_map(Row::against_base).filter(|against| against.evidence.p.is_some()).count();
    let base = &table.columns[0].title;
    for (place, column) in other_runs(table) {
        match (row.cells.first(), row.cells.get(place)) {
            (Some(Cell::Measured(of_base)), Some(Cell::Measured(value))) => match &value.against_base {
                Some(against) => {
                    let (sign, verdict) = (mark(against.verdict), word(against.verdict));
                    doc.heading(format!("{} against {base}: {sign} {verdict}", column.title), "");
                    doc.say(Role::Detail, [reason(against)]);
                    doc.say(Role::Detail, sides(row.unit, of_base, value, against));
                    doc.table(conditions(against, tests));
                    doc.say(Role::Detail, [source(&against.evidence.floor_source, against.floor)]);
                }
                None => doc.heading(
                    format!(
                        "{} against {base}: no verdict. The two did different work, or a figure has no ratio; the notes of the table give the reason.",
                        column.title
                    ),
                    "",
                ),
            },
            (_, Some(Cell::Nothing { why })) => {
                doc.heading(format!("{}: no figure: {}", column.title, super::notes::lack(why).english()), "");
            }
            (Some(Cell::Nothing { why }), _) => {
                doc.heading(format!("{base}: no figure: {}", super::notes::lack(why).english()), "");
            }
            _ => doc.heading(format!("{}: it has no such figure.", column.title), ""),
        }
    }
    doc
}

/// What was measured of both.
fn sides(unit: Unit, base: &Measured, value: &Measured, against: &AgainstBase) -> Vec<String> {
    let evidence = &against.evidence;
    let mut said = Vec::new();
    for (name, measured, repeats) in [("base", base, evidence.base), ("this", value, evidence.own)] {
        let spread = measured.spread.map(|spread| format!(" ±{}", percent(spread))).unwrap_or_default();
        let sessions =
            if repeats.sessions == 1 { "one session".to_owned() } else { format!("{} sessions", repeats.sessions) };
        // The estimate is rough: of ten independent repeats it often says eight. Of pairs nothing depends on it.
        let worth = if !evidence.of_pairs() && repeats.effective < 0.7 * repeats.count as f64 {
            format!(", equivalent to {:.1} independent ones", repeats.effective)
        } else {
            String::new()
        };
        let median = precise(unit, measured.median);
        said.push(format!("{name}: median {median}{spread}, n {}{worth}, {sessions}", repeats.count));
    }
    if let Some(shift) = evidence.shift {
        let signed = |value: f64| {
            let size = unit.show(value.abs());
            if value < 0.0 { format!("−{size}") } else { format!("+{size}") }
        };
        // Both ends in one unit, said once.
        let within = |(low, high)| format!(", 95 % interval {}", interval(unit, low, high));
        let within = shift.interval.map(within).unwrap_or_default();
        said.push(format!("difference: {}{within} (Hodges and Lehmann's shift)", signed(shift.value)));
    }
    if let Some(correlation) = evidence.neighbours.filter(|correlation| *correlation > 0.0) {
        said.push(format!("neighbouring repeats: correlation {correlation:.2}"));
    }
    said
}

/// The rule, condition by condition.
fn conditions(against: &AgainstBase, tests: usize) -> doc::Table {
    let evidence = &against.evidence;
    let mut table = doc::Table::new(&["holds"], [doc::words("condition")], Frame::Inset);
    let mut condition = |holds: Option<bool>, said: &str| {
        table.row(holds.map_or("–", |holds| if holds { "yes" } else { "no" }), [Value::from(said)]);
    };
    let least = evidence.base.count.min(evidence.own.count);
    condition(
        Some(least >= MIN_REPEATS),
        &format!("{MIN_REPEATS} valid repeats or more per side: {} and {}", evidence.base.count, evidence.own.count),
    );
    let found = match (against.q, evidence.p, evidence.test) {
        (Some(q), Some(p), Some(test)) => {
            format!("q {}, from p {}, one of {tests} tests ({})", probability(q), probability(p), name_of_test(test))
        }
        _ => "no test was made".to_owned(),
    };
    condition(against.q.map(|q| q < SIGNIFICANCE), &format!("significant, q < {SIGNIFICANCE}: {found}"));
    let floor = percent(against.floor);
    let most = 1.0 + against.floor;
    let between = |interval| {
        let made = match evidence.interval_method {
            Some(IntervalMethod::Bca) => ", bootstrap, BCa",
            Some(IntervalMethod::Percentile) => ", bootstrap over sessions and repeats, percentiles",
            Some(IntervalMethod::SignedRank) => ", the shifts that the signed-rank test does not reject",
            None => "",
        };
        format!("95 % interval {}{made}", change_interval(interval))
    };
    let said = against.interval.map_or_else(|| "no interval".to_owned(), between);
    let beyond = |floor: f64| against.interval.map(|(low, high)| low > 1.0 + floor || high < 1.0 / (1.0 + floor));
    condition(beyond(against.floor), &format!("the whole interval beyond δ = {floor}: {said}"));
    match against.drift {
        Some(drift) if evidence.resembling => condition(
            beyond(drift),
            "the whole interval beyond δ, also when widened for the correlation of neighbouring repeats",
        ),
        Some(drift) => condition(
            beyond(drift),
            &format!("the whole interval beyond the drift of {} within the runs", percent(drift)),
        ),
        None if evidence.of_pairs() => {
            condition(None, "beyond the drift: not required of pairs, which drift together");
        }
        None => condition(None, "beyond the drift: too few repeats to determine it"),
    }
    condition(
        against.interval.map(|(low, high)| low >= 1.0 / most && high <= most),
        &format!("or else the whole interval within δ = {floor}, which is “the same”"),
    );
    table
}

/// Where δ comes from, in a sentence.
fn source(source: &FloorSource, floor: f64) -> String {
    let floor = percent(floor);
    match source {
        FloorSource::Assumed => format!(
            "δ = {floor} is assumed: the machine's own noise was not measured; `stend noise` with this suite measures it"
        ),
        FloorSource::Suite => format!("δ = {floor} is set by the suite for this metric"),
        FloorSource::Noise { run, measured_at } => format!(
            "δ = {floor} is the machine's own noise: measured on {} by `stend noise`, run {run}",
            moment(*measured_at)
        ),
        FloorSource::Least { run, share, .. } => format!(
            "δ = {} is the minimum; the machine's own noise is less, {} in run {run} of `stend noise`",
            percent(LEAST_FLOOR),
            percent(*share)
        ),
    }
}

const fn name_of_test(test: Test) -> &'static str {
    match test {
        Test::MannWhitneyExact => "Mann–Whitney, exact",
        Test::MannWhitneyPermutation => "Mann–Whitney, exact with ties",
        Test::MannWhitneyNormal => "Mann–Whitney, normal approximation",
        Test::SignedRankExact => "Wilcoxon's signed ranks of the pairs, exact",
        Test::SignedRankPermutation => "Wilcoxon's signed ranks of the pairs, exact with ties",
        Test::SignedRankNormal => "Wilcoxon's signed ranks of the pairs, normal approximation",
    }
}

/// With the digits that count: `= 0.00034`, `< 10⁻⁶`.
fn probability(p: f64) -> String {
    match p {
        0.0 => "= 0.000".into(),
        _ if p >= 0.001 => text::probability(p),
        _ if p >= 1e-6 => format!("= {p:.*}", decimals_for(p) + 1),
        _ => "< 10⁻⁶".into(),
    }
}
