//! Numbers and words as every report writes them.

use jiff::Timestamp;
use stend_model::metric::{Better, Unit, three_digits};
use stend_stats::Reason;
use unicode_width::UnicodeWidthStr;

use super::doc::Value;
use super::phrase::Phrase;
pub(super) use super::standing::standings;
use crate::words;
use crate::words::Given;
use stend_compare::table::{AgainstBase, Cell, Column, ColumnOrigin, Counted, Grade, Row, Table, Verdict};

/// The mark of a verdict, which can be read without colour: solid for what was measured in turns, hollow for what was measured one after the other.
pub(super) const fn mark(verdict: Verdict, solid: bool) -> char {
    match (verdict, solid) {
        (Verdict::Better, true) => '▲',
        (Verdict::Better, false) => '△',
        (Verdict::Worse, true) => '▼',
        (Verdict::Worse, false) => '▽',
        (Verdict::Same, true) => '≈',
        (Verdict::Same, false) => '~',
        (Verdict::Unresolved, _) => '?',
    }
}

/// A verdict as machines read it.
pub(super) const fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Better => "better",
        Verdict::Worse => "worse",
        Verdict::Same => "same",
        Verdict::Unresolved => "unresolved",
    }
}

/// Which way is better, as machines read it.
pub(super) const fn direction(better: Better) -> &'static str {
    match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
    }
}

/// How many columns of a terminal the text takes.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// A signed share in percent: `+12.3 %`, `−0.41 %`. The sign is that of the number as it is shown.
pub(super) fn signed_percent(share: f64) -> String {
    let percent = share * 100.0;
    let magnitude = percent.abs();
    let digits = if magnitude >= 99.95 {
        format!("{magnitude:.0}")
    } else if magnitude >= 0.995 {
        format!("{magnitude:.1}")
    } else {
        format!("{magnitude:.2}")
    };
    let sign = match percent {
        _ if digits == "0.00" => "±",
        _ if percent < 0.0 => "−",
        _ => "+",
    };
    format!("{sign}{digits} %")
}

/// A share in percent, without a sign: `0.62 %`.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent >= 9.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// The spread of several values: `±0.6 %`, and `–` for a single one.
pub(super) fn spread(spread: Option<f64>) -> String {
    spread.map_or_else(|| "–".into(), |spread| format!("±{}", percent(spread)))
}

/// A ratio as a change: in percent up to a factor of two, as a factor beyond, where percent stop being readable.
pub(super) fn change(ratio: f64) -> String {
    if (0.5..2.0).contains(&ratio) { signed_percent(ratio - 1.0) } else { factor(ratio) }
}

/// A verdict's mark with the change, or alone where there is no ratio.
pub(super) fn marked_change(against: &AgainstBase) -> String {
    marked(against.verdict, against.is_solid(), against.factor)
}

/// The same of what is no comparison.
pub(super) fn marked(verdict: Verdict, solid: bool, ratio: Option<f64>) -> String {
    let mark = mark(verdict, solid);
    ratio.map_or_else(|| mark.to_string(), |ratio| format!("{mark} {}", change(ratio)))
}

/// About how many pairs, repeats or sessions on each side would settle a run's unresolved figure, or how many it takes at least.
pub(super) fn to_settle(row: &Row, column: usize) -> Option<Value> {
    let against = row.cells.get(column)?.against_base().filter(|against| against.verdict == Verdict::Unresolved)?;
    let at_least = against.reason == Reason::TooFew;
    against.needed.map(|numbers| Value::Needed { numbers, at_least })
}

/// What gave one number of a comparison, by its name.
pub(super) const fn counted(counted: Counted) -> &'static str {
    match counted {
        Counted::Pairs => "pairs",
        Counted::Sessions => "sessions",
        Counted::Repeats => "repeats",
    }
}

/// A factor: `× 2.35`.
pub(super) fn factor(factor: f64) -> String {
    let digits = match factor {
        _ if factor >= 99.95 => format!("{factor:.0}"),
        _ if factor >= 9.995 => format!("{factor:.1}"),
        _ if factor >= 0.0995 => format!("{factor:.2}"),
        // Two digits that count, and no powers of ten, which a page for people has nowhere else.
        _ if factor >= 1e-6 => format!("{factor:.*}", decimals_for(factor) + 1),
        _ => three_digits(factor),
    };
    format!("× {digits}")
}

/// The interval of a change: `−0.8 … +2.0 %`.
pub(super) fn change_interval((low, high): (f64, f64)) -> String {
    let percents = [low, high].iter().all(|ratio| (0.5..2.0).contains(ratio));
    if percents {
        // The sign is that of the number as it is shown.
        let signed = |ratio: f64| match format!("{:+.1}", (ratio - 1.0) * 100.0).as_str() {
            "+0.0" | "-0.0" => "±0.0".to_owned(),
            shown => shown.replace('-', "−"),
        };
        format!("{} … {} %", signed(low), signed(high))
    } else {
        format!("{} … {}", factor(low), factor(high).trim_start_matches("× "))
    }
}

/// The interval of a ratio, with as many decimals as tell its ends apart: `0.0078 … 0.0083`.
pub(super) fn ratio_interval((low, high): (f64, f64)) -> String {
    let decimals = decimals_for((high - low).abs() / 10.0).max(decimals_for(high.abs() / 100.0));
    format!("{low:.decimals$} … {high:.decimals$}")
}

/// A probability behind its letter, without powers of ten: `= 0.030`, `< 0.001`.
pub(super) fn probability(probability: f64) -> String {
    // Not rounded onto the limit that it is held against.
    let decimals = (3..6).find(|decimals| probability >= 0.05 || format!("{probability:.decimals$}").as_str() < "0.05");
    if probability < 0.001 { "< 0.001".into() } else { format!("= {probability:.*}", decimals.unwrap_or(6)) }
}

/// A number for a script, or nothing.
pub(super) fn number_or_nothing(number: Option<f64>) -> String {
    number.map(|number| number.to_string()).unwrap_or_default()
}

/// The power of ten and the unit's text in which a value of this size is shown.
pub(super) fn scale_of(unit: Unit, value: f64) -> (f64, String) {
    let value = value.abs();
    let shown = unit.show(value);
    let (number, suffix) = shown.split_once(' ').unwrap_or((&shown, ""));
    let divisor = match number.parse::<f64>() {
        // Prefixes are powers of ten, so the shown three digits tell which one was used.
        Ok(number) if number != 0.0 && value != 0.0 => 10f64.powf((value / number).log10().round()),
        _ => 1.0,
    };
    (divisor, suffix.to_owned())
}

/// A number for people, with the minus sign of printed text.
fn number(value: f64, decimals: usize) -> String {
    format!("{value:.decimals$}").replace('-', "−")
}

/// Two values in one unit, with as many decimals as tell them apart: `409.2 … 414.8 MB/s`.
pub(super) fn interval(unit: Unit, low: f64, high: f64) -> String {
    let (divisor, suffix) = scale_of(unit, low.abs().max(high.abs()));
    let (low, high) = (low / divisor, high / divisor);
    let decimals = decimals_for((high - low).abs() / 10.0).max(decimals_for(high.abs() / 100.0));
    format!("{} … {} {suffix}", number(low, decimals), number(high, decimals)).trim_end().to_owned()
}

/// An interval as it stands beside or under its median: in the same unit, which is not said again.
pub(super) fn interval_beside(unit: Unit, median: f64, (low, high): (f64, f64)) -> String {
    let (divisor, _) = scale_of(unit, median);
    let (low, high) = (low / divisor, high / divisor);
    let decimals = decimals_for((high - low).abs() / 10.0).max(decimals_for(high.abs() / 100.0));
    format!("{} … {}", number(low, decimals), number(high, decimals))
}

/// Two levels in one unit, with as many decimals as tell them apart: `25.13`, and behind it `28.91 MB/s`.
pub(super) fn two_levels(unit: Unit, before: f64, after: f64) -> (String, String) {
    let (divisor, suffix) = scale_of(unit, before.abs().max(after.abs()));
    let (before, after) = (before / divisor, after / divisor);
    let decimals = decimals_for((after - before).abs() / 100.0).max(decimals_for(after.abs() / 100.0));
    (number(before, decimals), format!("{} {suffix}", number(after, decimals)).trim_end().to_owned())
}

/// A value with five digits: single repeats differ where medians with three look alike.
pub(super) fn precise(unit: Unit, value: f64) -> String {
    let (divisor, suffix) = scale_of(unit, value);
    let value = value / divisor;
    let decimals = decimals_for(value.abs() / 1e4).min(4 + decimals_for(value.abs()));
    format!("{} {suffix}", number(value, decimals)).trim_end().to_owned()
}

/// How many decimals show a step of this size; at most six.
pub(super) fn decimals_for(step: f64) -> usize {
    if step > 0.0 && step.is_finite() { (-step.log10()).ceil().clamp(0.0, 6.0) as usize } else { 0 }
}

/// A moment to the minute, in UTC.
pub fn moment(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// A length of time: `12.3 s`, `850 ms`.
pub(super) fn duration(nanoseconds: f64) -> String {
    Unit::Nanoseconds.show(nanoseconds)
}

/// A whole number with its thousands set apart: `1 234 567`, with no-break spaces.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push('\u{a0}');
        }
        text.push(digit);
    }
    text
}

/// Valid repeats, `9/10` where some are invalid, and a star where a value lies far from the rest.
pub(super) fn count(valid: u32, invalid: u32, outliers: u32) -> String {
    let star = if outliers > 0 { "*" } else { "" };
    if invalid == 0 { format!("{valid}{star}") } else { format!("{valid}/{}{star}", valid + invalid) }
}

/// How many sessions there are, and over how many boots of the machine.
pub(super) fn sessions_of(sessions: u32, boots: u32) -> Phrase {
    words::say("sessions", &[("sessions", Given::Count(sessions as usize)), ("boots", Given::Count(boots as usize))])
}

/// How a column was measured beside the base.
pub(super) fn grade_in_a_word(grade: Grade) -> Phrase {
    words::say("grade", &[("grade", Given::Text(grade.name()))])
}

/// How a column was measured beside the base, and in how many sessions.
pub(super) fn grade(column: &Column) -> Phrase {
    if let Some(emulator) = &column.emulator {
        return words::say("grade-emulated", &[("emulator", Given::Text(emulator))]);
    }
    let sessions = match (&column.origin, column.grade) {
        (ColumnOrigin::Run { sessions: 1, .. }, Some(Grade::OneAfterTheOther)) => {
            return words::say("grade-one-session", &[]);
        }
        (ColumnOrigin::Run { sessions, boots, .. }, _) => Some(sessions_of(*sessions, *boots)),
        (ColumnOrigin::Published { .. }, _) => None,
    };
    let grade = column.grade.map(grade_in_a_word);
    Phrase::joined(&grade.into_iter().chain(sessions).collect::<Vec<_>>(), ", ")
}

/// Words of a command as a shell would read them.
pub fn shell_words(words: &[String]) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%^".contains(c);
    let quote = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    words.iter().map(quote).collect::<Vec<_>>().join(" ")
}

/// Columns, each with its place in the table.
pub(super) type Placed<'a> = Vec<(usize, &'a Column)>;

/// What the base is called beside figures of others: a run alone by its machine's name, among other runs the base.
pub(super) fn base_name(table: &Table) -> &str {
    match table.columns.first() {
        Some(base) if other_runs(table).is_empty() => &base.title,
        _ => "base",
    }
}

/// The runs that stand beside the base.
pub(super) fn other_runs(table: &Table) -> Placed<'_> {
    table.columns.iter().enumerate().skip(1).filter(|(_, column)| column.is_run()).collect()
}

/// References in the order in which they first appear, each with those of its machines that have a figure in `rows`.
pub(super) fn references<'a>(table: &'a Table, rows: &[&Row]) -> Vec<(&'a str, Placed<'a>)> {
    let mut groups: Vec<(&str, Placed)> = Vec::new();
    for (index, column) in table.columns.iter().enumerate().skip(1) {
        let Some(reference) = column.reference() else { continue };
        if !rows.iter().any(|row| has_figure(row, index)) {
            continue;
        }
        match groups.iter_mut().find(|(name, _)| *name == reference) {
            Some((_, columns)) => columns.push((index, column)),
            None => groups.push((reference, vec![(index, column)])),
        }
    }
    groups
}

/// Whether a row has something to show in a column.
pub(super) fn has_figure(row: &Row, column: usize) -> bool {
    row.cells.get(column).is_some_and(|cell| *cell != Cell::Absent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_percent_up_to_two_and_factors_beyond() {
        for (ratio, text) in [
            (1.123, "+12.3 %"),
            (0.959, "−4.1 %"),
            (1.0, "±0.00 %"),
            (0.996, "−0.40 %"),
            (1.0999, "+10.0 %"),
            (2.35, "× 2.35"),
            (0.3, "× 0.30"),
            (0.0568, "× 0.057"),
            (0.0123, "× 0.012"),
            (0.002, "× 0.0020"),
            (0.000_267, "× 0.00027"),
            (314.0, "× 314"),
        ] {
            assert_eq!(change(ratio), text);
        }
    }

    #[test]
    fn an_end_of_an_interval_that_is_shown_as_nothing_has_no_sign() {
        assert_eq!(change_interval((0.969, 0.9997)), "−3.1 … ±0.0 %");
        assert_eq!(change_interval((1.0, 1.0004)), "±0.0 … ±0.0 %");
        assert_eq!(change_interval((0.9, 1.001)), "−10.0 … +0.1 %");
    }

    #[test]
    fn ends_of_a_ratio_differ_where_they_do_and_no_probability_has_a_power_of_ten() {
        assert_eq!(ratio_interval((0.0078, 0.0083)), "0.00780 … 0.00830");
        assert_eq!(ratio_interval((0.931, 1.052)), "0.93 … 1.05");
        assert_eq!(ratio_interval((1.0012, 1.0034)), "1.0012 … 1.0034");
        assert_eq!(ratio_interval((310.2, 402.7)), "310 … 403");
        let shown = [0.3, 0.0482, 0.001, 3.32e-4, 0.0].map(probability);
        assert_eq!(shown, ["= 0.300", "= 0.048", "= 0.001", "< 0.001", "< 0.001"]);
        let at_the_limit = [0.0501, 0.05, 0.0496, 0.04997].map(probability);
        assert_eq!(at_the_limit, ["= 0.050", "= 0.050", "= 0.0496", "= 0.04997"], "below 0.05 it looks so");
    }

    #[test]
    fn a_single_value_has_no_spread_and_equal_ones_have_none_of_any_size() {
        assert_eq!([spread(None), spread(Some(0.0)), spread(Some(0.123))], ["–", "±0.0 %", "±12 %"]);
    }

    #[test]
    fn an_interval_has_one_unit_and_decimals_that_tell_its_ends_apart() {
        assert_eq!(interval(Unit::BytesPerSecond, 409.2e6, 414.8e6), "409.2 … 414.8 MB/s");
        assert_eq!(interval(Unit::BytesPerSecond, 998.2e6, 1.01e9), "0.998 … 1.010 GB/s");
        assert_eq!(interval_beside(Unit::BytesPerSecond, 999e6, (998.2e6, 1.01e9)), "998 … 1010");
        assert_eq!(interval(Unit::Nanoseconds, 1.5e6, 1.5e6), "1.50 … 1.50 ms");
        assert_eq!(interval(Unit::CyclesPerByte, 0.0, 0.0), "0 … 0 cycles/B");
        assert_eq!(interval(Unit::Seconds, 0.00002, 0.00003), "20.0 … 30.0 µs");
        assert_eq!(precise(Unit::BytesPerSecond, 16.18342e9), "16.183 GB/s");
        assert_eq!(precise(Unit::Nanoseconds, 412_345.6), "412.35 µs");
        assert_eq!(precise(Unit::CyclesPerByte, 0.0), "0 cycles/B");
        assert_eq!(interval(Unit::Celsius, -5.25, -4.75), "−5.25 … −4.75 °C");
        assert_eq!(interval_beside(Unit::BytesPerSecond, -2e6, (-3e6, 1e6)), "−3.00 … 1.00");
        assert_eq!(precise(Unit::BytesPerSecond, -16.18342e9), "−16.183 GB/s");
    }

    #[test]
    fn widths_are_those_of_a_terminal() {
        assert_eq!(width("Эльбрус-8СВ × ▲ ≈ …"), 19);
        assert_eq!(width("漢字"), 4);
    }

    #[test]
    fn commands_can_be_pasted_into_a_shell() {
        let words = ["printf".to_owned(), "it's $HOME".into(), String::new()];
        assert_eq!(shell_words(&words), r"printf 'it'\''s $HOME' ''");
        assert_eq!(grouped(1_234_567), "1\u{a0}234\u{a0}567");
    }
}
