//! Why the verdicts on one figure are what they are: the conditions of the rule one by one, and what each was held against.

use stend_model::metric::Unit;
use stend_stats::SIGNIFICANCE;

use super::doc::{self, Doc, Frame, Role, Value};
use super::reason::reason;
use super::text::{self, change_interval, counted, decimals_for, mark, other_runs, percent, precise, word};

use stend_compare::table::{AgainstBase, Cell, Counted, Design, Measured, Reason, Row, Table};

/// Of each run beside the base.
pub fn document(table: &Table, row: &Row) -> Doc {
    let mut doc = Doc::default();
    let direction = super::text::direction(row.better);
    doc.heading(format!("{} · {}, in {}, {direction} is better", row.scenario, row.metric, row.unit), "");
    let is_of_family = |other: &&Row| if row.main { other.main } else { !other.main && other.metric == row.metric };
    let family = table.rows.iter().filter(is_of_family).flat_map(Row::against_base);
    let tests = family.filter(|against| against.p.is_some()).count();
    let base = &table.columns[0].title;
    for (place, column) in other_runs(table) {
        match (row.cells.first(), row.cells.get(place)) {
            (Some(Cell::Measured(of_base)), Some(Cell::Measured(value))) => match &value.against_base {
                Some(against) => {
                    let (sign, verdict) = (mark(against.verdict, against.is_solid()), word(against.verdict));
                    doc.heading(format!("{} against {base}: {sign} {verdict}", column.title), "");
                    doc.say(Role::Detail, [reason(against)]);
                    doc.say(Role::Detail, sides(row.unit, of_base, value, against));
                    doc.table(conditions(against, tests));
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

/// What was measured of both, and how.
fn sides(unit: Unit, base: &Measured, value: &Measured, against: &AgainstBase) -> Vec<String> {
    let mut said = Vec::new();
    for (name, measured, count) in [("base", base, against.base_count), ("this", value, against.own_count)] {
        let spread = measured.spread.map(|spread| format!(" ±{}", percent(spread))).unwrap_or_default();
        let median = precise(unit, measured.median);
        let numbers = match against.counted {
            Counted::Repeats => String::new(),
            other => format!("; {count} {}", counted(other)),
        };
        said.push(format!("{name}: median {median}{spread}, {} repeats{numbers}", measured.valid));
    }
    said.push(
        match against.design {
            Design::InTurns => "measured in turns, so that what disturbs both sides alike is in no pair's ratio",
            Design::SessionsInTurns => "sessions in turns: each round has one of each side",
            Design::OneAfterTheOther => {
                "measured one after the other: what changed on the machine in between counts as a difference"
            }
        }
        .to_owned(),
    );
    said
}

/// The rule, condition by condition.
fn conditions(against: &AgainstBase, tests: usize) -> doc::Table {
    let mut table = doc::Table::new(&["holds"], [doc::words("condition")], Frame::Inset);
    let mut condition = |holds: Option<bool>, said: &str| {
        table.row(holds.map_or("–", |holds| if holds { "yes" } else { "no" }), [Value::from(said)]);
    };
    let [base, own] = [against.base_count, against.own_count];
    condition(
        Some(against.reason != Reason::TooFew),
        &format!("enough {} of each side: {base} and {own}", counted(against.counted)),
    );
    let floor = percent(against.floor);
    let found = match (against.q, against.p) {
        (Some(q), Some(p)) => format!("q {}, from p {}, one of {tests} tests", probability(q), probability(p)),
        _ => "no test was made".to_owned(),
    };
    condition(
        against.q.map(|q| q < SIGNIFICANCE),
        &format!("t-test: the difference is more than δ = {floor}, q < {SIGNIFICANCE}: {found}"),
    );
    let said = against.interval.map_or_else(|| "no interval".to_owned(), change_interval);
    let most = 1.0 + against.floor;
    let beyond = against.interval.map(|(low, high)| low > most || high < 1.0 / most);
    condition(beyond, &format!("the whole 95 % interval beyond δ: {said}"));
    // Beyond it the other way is not asked for.
    let within = against.interval.map(|(low, high)| low >= 1.0 / most && high <= most);
    condition(within.filter(|_| beyond != Some(true)), "or else the whole interval within δ, which is “the same”");
    table
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
