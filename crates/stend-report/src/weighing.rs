//! The weighing in words: what each machine does for a watt, for its price and for a kilogram.

use stend_model::metric::{Better, three_digits};

use super::phrase::Phrase;
use super::text::factor;
use crate::words;
use crate::words::Given;
use stend_compare::table::Table;
use stend_compare::weighing::{Divisor, WeighedCell, WeighedRow, Weighing};

/// What stands under a weighing's heading, so that nobody takes its factors for verdicts.
pub(super) fn meaning() -> Phrase {
    words::say("weighing-meaning", &[])
}

/// What it is divided by.
pub(super) fn title(weighing: &Weighing) -> Phrase {
    let of = &weighing.of;
    match &weighing.by {
        Divisor::Watt => words::say("weighing-watt", &[("of", Given::Text(of))]),
        Divisor::Kilogram => words::say("weighing-kilogram", &[("of", Given::Text(of))]),
        Divisor::Money { currency } => {
            words::say("weighing-money", &[("currency", Given::Text(currency)), ("of", Given::Text(of))])
        }
    }
}

fn unit(weighing: &Weighing) -> &str {
    match &weighing.by {
        Divisor::Watt => "W",
        Divisor::Kilogram => "kg",
        Divisor::Money { currency } => currency,
    }
}

/// A figure: `45.1 MB/s / W`, `69.3 s · W`.
pub(super) fn figure(weighing: &Weighing, row: &WeighedRow, cell: &WeighedCell) -> String {
    let sign = match row.better {
        Better::Higher => '/',
        Better::Lower => '·',
    };
    format!("{} {sign} {}", row.unit.show(cell.value), unit(weighing))
}

/// The same for a program: the number in full, and of what the watts or the price are.
pub(super) fn plain(weighing: &Weighing, row: &WeighedRow, cell: &WeighedCell) -> String {
    let sign = match row.better {
        Better::Higher => '/',
        Better::Lower => '*',
    };
    format!("{} {} {sign} {}, {}", cell.value, row.unit, unit(weighing), weighing.of)
}

/// How it stands to the base, with the interval where there is one.
pub(super) fn standing(cell: &WeighedCell) -> String {
    let interval = cell.interval.map(|(low, high)| {
        format!(" ({} … {})", factor(low).trim_start_matches("× "), factor(high).trim_start_matches("× "))
    });
    cell.factor.map(|ratio| factor(ratio) + &interval.unwrap_or_default()).unwrap_or_default()
}

/// The columns that are weighed: place and title.
pub(super) fn columns<'a>(table: &'a Table, weighing: &Weighing) -> Vec<(usize, &'a str)> {
    let weighed = |place: &usize| weighing.rows.iter().any(|row| row.cells.get(*place).is_some_and(Option::is_some));
    let places = (0..table.columns.len()).filter(weighed);
    places.map(|place| (place, table.columns[place].title.as_str())).collect()
}

/// Who says what each machine draws or costs.
pub(super) fn sources(table: &Table, weighing: &Weighing) -> Vec<Phrase> {
    let source = |(place, title): (usize, &str)| {
        let side = weighing.sides.get(place)?.as_ref()?;
        if !side.measured.is_empty() {
            let least = side.measured.values().copied().fold(f64::INFINITY, f64::min);
            let most = side.measured.values().copied().fold(0.0, f64::max);
            return Some(words::say(
                "weighing-measured",
                &[
                    ("title", Given::Text(title)),
                    ("least", Given::Figure(&three_digits(least))),
                    ("most", Given::Figure(&three_digits(most))),
                    ("of", Given::Text(&weighing.of)),
                    ("scenarios", Given::Count(side.measured.len())),
                ],
            ));
        }
        Some(words::say(
            "weighing-given",
            &[
                ("title", Given::Text(title)),
                ("amount", Given::Figure(&format!("{} {}", side.amount, unit(weighing)))),
                ("of", Given::Text(&weighing.of)),
                ("source", Given::Text(&side.source)),
            ],
        ))
    };
    columns(table, weighing).into_iter().filter_map(source).collect()
}
