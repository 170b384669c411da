//! A comparison as a forest plot: a line a scenario with its change, the 95 % interval of that, and δ, all on one axis of equal ratios.

use super::phrase::Phrase;
use super::scale::Tick;
use super::scene::{Mark, Place, Role, Shape, level};
use super::standing;
use super::text::{change, change_interval, marked, word};
use crate::words::{self, Given};
use stend_compare::standing::{Standing, standings};
use stend_compare::table::{Table, Verdict};
use stend_stats::DEFAULT_FLOOR;

/// How another run stands to the base.
pub(super) struct Forest {
    /// What it and the base are called.
    pub(super) title: String,
    base: String,
    axis: Axis,
    /// The scenarios in the order of the table, then their mean.
    pub(super) lines: Vec<ForestLine>,
}

/// A scenario's, or the mean's.
pub(super) struct ForestLine {
    /// The scenario; none for the mean.
    pub(super) scenario: Option<String>,
    pub(super) label: Phrase,
    verdict: Verdict,
    solid: bool,
    factor: f64,
    interval: Option<(f64, f64)>,
    floor: f64,
}

/// An axis of factors, of which 1 is always there.
#[derive(Debug, Clone, Copy)]
struct Axis {
    /// Logarithms of its ends.
    low: f64,
    high: f64,
}

impl Forest {
    /// Of each other run that has one.
    pub(super) fn all(table: &Table) -> Vec<Self> {
        let standings = standings(table);
        let of_column = |column| Self::of(table, column, standings.iter().find(|found| found.column == column));
        (1..table.columns.len()).filter_map(of_column).collect()
    }

    /// The main metrics of the scenarios that the run in this column and the base have, and their mean; none where there are none.
    pub(super) fn of(table: &Table, column: usize, standing: Option<&Standing>) -> Option<Self> {
        let line = |row: &stend_compare::table::Row| {
            let value = row.measured(column)?;
            let against = value.against_base.as_ref()?;
            Some(ForestLine {
                scenario: Some(row.scenario.clone()),
                label: row.scenario.as_str().into(),
                verdict: against.verdict,
                solid: against.is_solid(),
                factor: against.factor?,
                interval: against.interval,
                floor: against.floor,
            })
        };
        let mut lines: Vec<_> =
            table.rows.iter().filter(|row| row.main && table.is_asked_for(row)).filter_map(line).collect();
        let axis = Axis::of(&lines)?;
        lines.extend(standing.and_then(|found| {
            let mean = found.mean_of_several()?;
            Some(ForestLine {
                scenario: None,
                label: standing::mean_label(mean),
                verdict: mean.verdict,
                solid: found.design.takes_turns(),
                factor: mean.factor,
                interval: mean.interval,
                floor: DEFAULT_FLOOR,
            })
        }));
        let title = |place: usize| table.columns[place].title.clone();
        Some(Self { title: title(column), base: title(0), axis, lines })
    }

    pub(super) fn heading(&self) -> Phrase {
        let [base, other] = [&self.base, &self.title].map(|title| standing::quoted(title));
        words::say("title-of-two", &[("base", Given::Said(&base)), ("other", Given::Said(&other))])
    }

    /// The figures of its axis.
    pub(super) fn ticks(&self) -> Vec<Tick> {
        self.axis.ticks()
    }

    /// A line on its place.
    pub(super) fn marks(&self, line: &ForestLine, place: Place) -> Vec<Mark> {
        let x = |factor: f64| place.left + self.axis.share(factor) * place.width;
        let middle = place.top + place.height / 2.0;
        let upright = |x: f64| Shape::Path(vec![vec![(x, place.top), (x, place.top + place.height)]]);
        let (left, right) = (x(1.0 / (1.0 + line.floor)), x(1.0 + line.floor));
        let band = Place { left, width: right - left, ..place };
        let class = word(line.verdict);
        let mut marks = vec![Mark::new(Role::Aside, Shape::Rectangle(band)), Mark::new(Role::Rule, upright(x(1.0)))];
        if let Some((low, high)) = line.interval {
            marks.push(Mark::new(Role::EffectInterval(class), level(x(low), x(high), middle)));
        }
        let dot = Role::Effect { verdict: class, hollow: !line.solid };
        marks.push(Mark::new(dot, Shape::Dot((x(line.factor), middle))));
        marks
    }

    /// A line as characters: what its interval covers, where the change is, and where none would be.
    pub(super) fn characters(&self, line: &ForestLine, width: usize) -> String {
        let place = |factor: f64| ((self.axis.share(factor) * width as f64) as usize).min(width - 1);
        let mut drawn = vec![' '; width];
        drawn[place(1.0)] = '│';
        if let Some((low, high)) = line.interval {
            for (at, character) in drawn.iter_mut().enumerate().take(place(high) + 1).skip(place(low)) {
                *character = if at == place(1.0) { '┼' } else { '─' };
            }
        }
        drawn[place(line.factor)] = if line.solid { '●' } else { '○' };
        drawn.into_iter().collect()
    }

    /// The ends of its axis and no change, over such characters.
    pub(super) fn head(&self, width: usize) -> String {
        let (low, high) = (change(self.axis.low.exp()), change(self.axis.high.exp()));
        let zero = ((self.axis.share(1.0) * width as f64) as usize).min(width - 1);
        let mut head = vec![' '; width];
        let mut put = |text: &str, from: usize| {
            let count = text.chars().count();
            let is_free = from + count <= width
                && head[from.saturating_sub(1)..(from + count + 1).min(width)].iter().all(|c| *c == ' ');
            if is_free {
                text.chars().enumerate().for_each(|(at, character)| head[from + at] = character);
            }
        };
        put(self.axis.zero(), zero);
        put(&low, 0);
        put(&high, width.saturating_sub(high.chars().count()));
        // Where a head is broken its spaces would go.
        head.into_iter().map(|c| if c == ' ' { '\u{a0}' } else { c }).collect()
    }
}

impl ForestLine {
    /// The change with its mark.
    pub(super) fn change(&self) -> String {
        marked(self.verdict, self.solid, Some(self.factor))
    }

    pub(super) fn interval(&self) -> String {
        self.interval.map(change_interval).unwrap_or_default()
    }

    /// How much it says: the largest first.
    pub(super) fn size(&self) -> f64 {
        self.factor.ln().abs()
    }
}

impl Axis {
    /// One that has all changes, and most of what their intervals cover: a single wide one would hide the others.
    fn of(lines: &[ForestLine]) -> Option<Self> {
        let floor = lines.iter().map(|line| line.floor).reduce(f64::max)?;
        let end = |of: &dyn Fn(&ForestLine) -> f64, sign: f64| {
            let furthest = lines.iter().map(|line| line.factor.ln() * sign).fold(0.0, f64::max);
            let ends: Vec<f64> = lines.iter().map(|line| of(line).ln() * sign).filter(|end| end.is_finite()).collect();
            let usual = stend_stats::median(&ends).unwrap_or(0.0);
            let all = ends.iter().copied().fold(0.0, f64::max);
            let most = all.min(usual.max(furthest) * 2.0).max(furthest);
            (most * 1.1).max((1.0 + floor).ln() * 3.0)
        };
        let ends = |line: &ForestLine| line.interval.unwrap_or((line.factor, line.factor));
        Some(Self { low: -end(&|line| ends(line).0, -1.0), high: end(&|line| ends(line).1, 1.0) })
    }

    /// Where a factor is, from the left end; what lies beyond is at the end.
    fn share(self, factor: f64) -> f64 {
        ((factor.ln() - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }

    /// No change, as its neighbours are written.
    fn zero(self) -> &'static str {
        if self.high > 2_f64.ln() || self.low < -2_f64.ln() { "× 1" } else { "0" }
    }

    /// Round changes that lie apart, the roundest first.
    fn ticks(self) -> Vec<Tick> {
        const APART: f64 = 0.13;
        const ROUND: [f64; 24] = [
            1.0, 10.0, 0.1, 100.0, 0.01, 2.0, 0.5, 5.0, 0.2, 1.5, 1.2, 0.8, 1.1, 0.9, 1.05, 0.95, 1.02, 0.98, 1.01,
            0.99, 20.0, 0.05, 1000.0, 0.001,
        ];
        let mut placed: Vec<(f64, f64)> = Vec::new();
        for factor in ROUND.into_iter().filter(|factor| (self.low..=self.high).contains(&factor.ln())) {
            let share = self.share(factor);
            if placed.iter().all(|(other, _)| (share - other).abs() >= APART) {
                placed.push((share, factor));
            }
        }
        placed.sort_by(|one, other| one.0.total_cmp(&other.0));
        let zero = self.zero();
        let label = |factor: f64| if factor == 1.0 { zero.into() } else { change(factor).replace(".0 %", " %") };
        placed.into_iter().map(|(share, factor)| Tick::at(share, label(factor))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    fn forest() -> Forest {
        Forest::all(&example::table()).remove(0)
    }

    #[test]
    fn each_scenario_that_both_have_is_a_line_and_so_is_their_mean() {
        let (table, forest) = (example::table(), forest());
        let judged = table.rows.iter().filter(|row| row.main && row.against_base().next().is_some()).count();
        let named = forest.lines.iter().filter(|line| line.scenario.is_some()).count();
        assert_eq!((named, forest.lines.len()), (judged, judged + 1));
        assert!(Forest::of(&example::table_without_differences(), 0, None).is_none(), "the base is none");
    }

    #[test]
    fn what_is_better_lies_to_the_right_and_an_interval_around_its_change() {
        let forest = forest();
        let place = Place { left: 100.0, top: 0.0, width: 400.0, height: 20.0 };
        for line in &forest.lines {
            let marks = forest.marks(line, place);
            let at =
                |wanted: fn(&Role) -> bool| marks.iter().find(|mark| wanted(&mark.role)).map(|mark| mark.shape.clone());
            let Some(Shape::Dot((x, _))) = at(|role| matches!(role, Role::Effect { .. })) else { panic!("no dot") };
            let Some(Shape::Path(zero)) = at(|role| *role == Role::Rule) else { panic!("no middle") };
            assert_eq!(x > zero[0][0].0, line.factor > 1.0, "{}", line.change());
            if let Some(Shape::Path(interval)) = at(|role| matches!(role, Role::EffectInterval(_))) {
                assert!(interval[0][0].0 <= x && x <= interval[0][1].0 && interval[0][1].0 <= 500.0);
            }
        }
    }

    #[test]
    fn one_wide_interval_does_not_hide_the_others() {
        let line = |factor: f64, wide: f64| ForestLine {
            scenario: Some("x".into()),
            label: "x".into(),
            verdict: Verdict::Unresolved,
            solid: false,
            factor,
            interval: Some((factor / wide, factor * wide)),
            floor: 0.01,
        };
        let mut lines: Vec<_> = (0..8).map(|number| line(1.0 + f64::from(number) / 100.0, 1.02)).collect();
        lines.push(line(1.01, 1000.0));
        let axis = Axis::of(&lines).unwrap();
        assert!(axis.high < 1.3_f64.ln() && axis.share(1.07) < 0.95 && axis.share(1000.0) == 1.0, "{axis:?}");
        // And a scenario that is 40 times as good is on it.
        lines.push(line(40.0, 1.01));
        assert!(Axis::of(&lines).unwrap().high > 40_f64.ln());
    }

    #[test]
    fn ticks_are_round_and_apart() {
        for (low, high) in [(0.97, 1.03), (0.5, 1.1), (0.03, 1.03), (0.97, 300.0), (0.999, 1.4)] {
            let ticks = Axis { low: f64::ln(low), high: f64::ln(high) }.ticks();
            assert!(
                ticks.len() >= 2 && ticks.iter().any(|tick| tick.label == "0" || tick.label == "× 1"),
                "{low} {high}: {ticks:?}"
            );
            assert!(ticks.windows(2).all(|two| two[1].percent - two[0].percent > 12.0), "{ticks:?}");
        }
    }

    #[test]
    fn in_characters_it_is_as_wide_as_its_head() {
        let forest = forest();
        for width in [9, 21, 30] {
            assert_eq!(forest.head(width).chars().count(), width);
            for line in &forest.lines {
                let drawn = forest.characters(line, width);
                assert_eq!(drawn.chars().count(), width);
                assert_eq!(drawn.matches(['●', '○']).count(), 1, "{drawn}");
            }
        }
    }
}
