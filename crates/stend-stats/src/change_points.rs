//! Change points of a history, by energy distance and t-test.

use statrs::function::beta::beta_reg;

use crate::sample::mean;

/// When a change in a history is told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeRule {
    /// Values that are looked at together, at least 2; windows overlap by half.
    pub window: usize,
    /// Histories with fewer values have no change points.
    pub least_values: usize,
    /// Changes whose sides are shorter than this are no changes but outliers, at least 1.
    pub least_segment: usize,
    /// p of the t-test has to lie below this. Candidates of the first pass may have ten times as much.
    pub significance: f64,
    /// The change, exp|ln(after/before)| − 1, has to be more than this; 0.02 is 2 %.
    pub least_change: f64,
}

impl Default for ChangeRule {
    /// Window 50, ten values, segments of two, p < 0.001, more than 2 %.
    fn default() -> Self {
        Self { window: 50, least_values: 10, least_segment: 2, significance: 0.001, least_change: 0.02 }
    }
}

/// A place where a history changes its level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangePoint {
    /// Index of the first value after the change.
    pub index: usize,
    /// Mean from the change before (or the beginning) up to this one, in the unit of the history.
    pub before: f64,
    /// Mean from this change to the next (or the end), in the unit of the history.
    pub after: f64,
    /// p of the two-sided t-test of these two segments. Raw: the place was chosen for its difference.
    pub p: f64,
}

impl ChangePoint {
    fn size(&self) -> f64 {
        (self.after / self.before).ln().abs().exp_m1()
    }
}

/// Where a history of positive values (one a run, oldest first) changes its level: E-divisive with a t-test in two passes.
///
/// 1. Each window is split where the energy statistic ([`energy_split`]) of all its segments is greatest, as long as the two-sided
///    t-test of both sides has p ≤ 10 × `significance`. Where the level comes back later that test may see no difference, so a split is also
///    made if the side behind it, up to where the split says, has a thousandth of that p. The next window begins half a window later, or at
///    the last change found if that is later.
/// 2. Of the changes of all windows the weakest is taken away, and its neighbours are judged anew by their longer segments,
///    until every change has sides of at least `least_segment` values, p < `significance`, and a size of more than `least_change`.
/// 3. With a least segment of more than one value each change is placed again between its neighbours, where the absolute deviations from the
///    medians of both sides are least, if it is significant there, and the second pass is made once more: in the first pass a single odd value
///    some places before a change draws it to itself.
///
/// Deterministic, unlike the permutation test of the original. O(values · window). An empty list for fewer than `least_values` values.
///
/// * Unit: places are indices; levels have the unit of the history; the scale does not matter.
/// * Assumes: within a segment values are independent and nearly normal. The place is chosen for its difference, so that p is smaller than its
///   name says: of steady histories of 50 values 2 to 4 % show a change, but 9 % where neighbours have the correlation 0.2 and 41 % where it is 0.5
///   (2,000 each, by the example `calibration`).
/// * Refuses: `None` for a value that is not positive and finite, or a rule with a
///   window below 2, no segment, a significance outside 0 < p ≤ 1 or a negative or non-finite least change.
/// * Source: Matteson and James, *J. Amer. Statist. Assoc.* 109 (2014), 334–345; Fleming and others, *Hunter*, ICPE 2023, for
///   t-test, windows and the second pass (Apache Otava). Changes that are undone and the third step are this project's own.
///
/// ```
/// use stend_stats::{ChangeRule, change_points};
/// let noise = |run: usize| 0.3 * ((run * 7 % 5) as f64 - 2.0);
/// let history: Vec<f64> = (0..30).map(|run| if run < 18 { 100.0 } else { 95.0 } + noise(run)).collect();
/// let found = change_points(&history, &ChangeRule::default()).unwrap();
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].index, 18);
/// ```
#[must_use]
pub fn change_points(history: &[f64], rule: &ChangeRule) -> Option<Vec<ChangePoint>> {
    let sound = rule.window >= 2
        && rule.least_segment >= 1
        && rule.significance > 0.0
        && rule.significance <= 1.0
        && rule.least_change >= 0.0
        && rule.least_change.is_finite();
    if !sound || history.iter().any(|value| !(value.is_finite() && *value > 0.0)) {
        return None;
    }
    if history.len() < rule.least_values {
        return Some(Vec::new());
    }
    let mut edges = candidates(history, rule.window, (10.0 * rule.significance).min(1.0))?;
    edges.insert(0, 0);
    edges.push(history.len());
    let found = keep_strong(history, &mut edges, rule)?;
    // With a least segment of one a single odd value is a change itself.
    if rule.least_segment > 1 && place_again(history, &mut edges, rule) {
        return keep_strong(history, &mut edges, rule);
    }
    Some(found)
}

/// Moves each change to where its two segments have the least absolute deviation from their medians; the earliest of equal places. A single odd
/// value draws the energy statistic to itself, and a median not. A change stays where it would not be significant in its new place. Whether one
/// moved.
fn place_again(history: &[f64], edges: &mut [usize], rule: &ChangeRule) -> bool {
    let mut moved = false;
    for i in 1..edges.len() - 1 {
        let (from, to) = (edges[i - 1], edges[i + 1]);
        let [left, right] = [&history[from..to - 1], &history[from + 1..to]].map(|side| side.iter().copied());
        let before = deviations(left);
        let after: Vec<f64> = deviations(right.rev());
        let places = (from + 1..to).map(|place| (place, before[place - from - 1] + after[to - place - 1]));
        let best = places.reduce(|best, other| if other.1 < best.1 { other } else { best });
        let is_significant = |place: usize| {
            let p = t_test(&history[from..place], &history[place..to]);
            (place - from).min(to - place) >= rule.least_segment && p.is_some_and(|p| p < rule.significance)
        };
        if let Some((place, _)) = best.filter(|(place, _)| *place != edges[i] && is_significant(*place)) {
            edges[i] = place;
            moved = true;
        }
    }
    moved
}

/// For each beginning of a series the sum of absolute deviations from its median.
fn deviations(series: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = Vec::new();
    let sum = |side: &[f64], centre: f64| side.iter().map(|value| (value - centre).abs()).sum::<f64>();
    series
        .map(|value| {
            sorted.insert(sorted.partition_point(|other| *other < value), value);
            sum(&sorted, sorted[sorted.len() / 2])
        })
        .collect()
}

/// By so much surer a change has to be whose stretch was chosen for its difference. With a tenth of that bimodal noise shows a change in 4.8 % of steady
/// histories of 50 values instead of 3.5 %.
const UNDONE: f64 = 1000.0;

/// The first pass: places of weak changes, in order.
fn candidates(history: &[f64], length: usize, significance: f64) -> Option<Vec<usize>> {
    let (mut start, mut found) = (0, Vec::new());
    while start < history.len() {
        let window = &history[start..history.len().min(start + length)];
        let places = split_window(window, significance)?;
        found.extend(places.iter().map(|place| place + start));
        start = (start + length / 2).max(places.last().map_or(0, |place| place + start));
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

fn split_window(window: &[f64], significance: f64) -> Option<Vec<usize>> {
    let mut edges = vec![0, window.len()];
    loop {
        let splits = edges.windows(2).enumerate().filter_map(|(segment, edge)| {
            let split = energy_split(&window[edge[0]..edge[1]])?;
            Some((segment, edge[0], split))
        });
        let best = splits.reduce(|best, other| if other.2.statistic > best.2.statistic { other } else { best });
        let Some((segment, start, split)) = best else { break };
        let (place, until) = (start + split.index, start + split.until);
        let left = &window[edges[segment]..place];
        // What comes after a change that is undone again would hide it. A stretch that was chosen for its difference has to be surer.
        let p = t_test(left, &window[place..edges[segment + 1]])?;
        if p > significance && t_test(left, &window[place..until])? > significance / UNDONE {
            break;
        }
        edges.insert(segment + 1, place);
    }
    Some(edges[1..edges.len() - 1].to_vec())
}

/// The second pass, over the changes between the first edge, which is 0, and the last, the length of the history.
fn keep_strong(history: &[f64], edges: &mut Vec<usize>, rule: &ChangeRule) -> Option<Vec<ChangePoint>> {
    let change = |edge: &[usize]| {
        let (left, right) = (&history[edge[0]..edge[1]], &history[edge[1]..edge[2]]);
        Some(ChangePoint { index: edge[1], before: mean(left)?, after: mean(right)?, p: t_test(left, right)? })
    };
    loop {
        let changes: Vec<ChangePoint> = edges.windows(3).map(change).collect::<Option<_>>()?;
        let all = || 0..changes.len();
        let short = |i: &usize| {
            edges[i + 1] - edges[*i] < rule.least_segment || edges[i + 2] - edges[i + 1] < rule.least_segment
        };
        let p = |i: &usize| changes[*i].p;
        let size = |i: &usize| changes[*i].size();
        let weakest = all().filter(short).max_by(|i, j| p(i).total_cmp(&p(j)));
        let weakest =
            weakest.or_else(|| all().filter(|i| p(i) >= rule.significance).max_by(|i, j| p(i).total_cmp(&p(j))));
        let weakest = weakest
            .or_else(|| all().filter(|i| size(i) <= rule.least_change).min_by(|i, j| size(i).total_cmp(&size(j))));
        match weakest {
            Some(weakest) => _ = edges.remove(weakest + 1),
            None => return Some(changes),
        };
    }
}

/// The split of a series at which the energy statistic is greatest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EnergySplit {
    /// Index of the first value after the split.
    pub index: usize,
    /// Index of the first value after the stretch behind the split that is most unlike what lies before it; the length of the series where that
    /// stretch has no end.
    pub until: usize,
    /// The statistic there, in the unit of the series; around the mean absolute difference of its values where nothing changes.
    pub statistic: f64,
}

/// The most conspicuous split of a series by energy distance with α = 1:
/// the τ (`index`) and the κ (`until`) for which Q(τ, κ) is greatest, with X the n values before τ, Y the m values from τ up to κ, and
///
/// Q = 2/(n + m)·ΣΣ|xᵢ − yⱼ| − 2m/((n + m)(n − 1))·Σ|xᵢ − xₖ| − 2n/((n + m)(m − 1))·Σ|yⱼ − yₖ|,
///
/// which is nm/(n + m) times the estimated energy distance of X and Y; the sums within a side of one value are 0. κ lets a change be found that is
/// undone later. Of equal splits the first, of equal κ the last. Not a test: a greatest split there always is. O(n²) time, O(n) memory.
///
/// * Unit: the statistic has that of the series.
/// * Assumes: values independent within each side, of any distribution with a mean.
/// * Refuses: `None` with fewer than two values, a non-finite value, or overflow.
/// * Source: Matteson and James, *J. Amer. Statist. Assoc.* 109 (2014), equations 5 and 7.
///
/// ```
/// let split = stend_stats::energy_split(&[1.0, 1.0, 1.0, 3.0, 3.0]).unwrap();
/// assert_eq!((split.index, split.until), (3, 5));
/// assert!((split.statistic - 4.8).abs() < 1e-12);
/// ```
#[must_use]
pub fn energy_split(series: &[f64]) -> Option<EnergySplit> {
    if series.len() < 2 || series.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let length = series.len();
    let mut within_left = vec![0.0; length + 1]; // of the first τ values
    let mut within_right = vec![0.0; length]; // of τ … κ
    let mut across = vec![0.0; length];
    let mut best = vec![(f64::NEG_INFINITY, 0); length];
    for (last, value) in series.iter().enumerate() {
        // Distances of `value` to the first τ values, summed.
        let mut near = vec![0.0; last + 1];
        for (i, other) in series[..last].iter().enumerate() {
            near[i + 1] = near[i] + (value - other).abs();
        }
        within_left[last + 1] = within_left[last] + near[last];
        for place in 1..=last {
            across[place] += near[place];
            within_right[place] += near[last] - near[place];
            let (n, m) = (place as f64, (last + 1 - place) as f64);
            let left = if place > 1 { m / (n - 1.0) * within_left[place] } else { 0.0 };
            let right = if last > place { n / (m - 1.0) * within_right[place] } else { 0.0 };
            let statistic = 2.0 / (n + m) * (across[place] - left - right);
            if statistic >= best[place].0 {
                best[place] = (statistic, last + 1);
            }
        }
    }
    let places = best.iter().copied().enumerate().skip(1);
    let (index, (statistic, until)) = places.reduce(|best, other| if other.1.0 > best.1.0 { other } else { best })?;
    statistic.is_finite().then_some(EnergySplit { index, until, statistic })
}

/// p of Student's two-sided t-test with pooled variance; 1 with no degree of freedom, and for two equal constant sides.
fn t_test(left: &[f64], right: &[f64]) -> Option<f64> {
    let (n, m) = (left.len() as f64, right.len() as f64);
    let freedom = n + m - 2.0;
    let (mean_left, mean_right) = (mean(left)?, mean(right)?);
    let squares = |side: &[f64], centre: f64| side.iter().map(|value| (value - centre).powi(2)).sum::<f64>();
    let variance = squares(left, mean_left) + squares(right, mean_right);
    let distance = (mean_left - mean_right).powi(2);
    if freedom < 1.0 || distance == 0.0 {
        return Some(1.0);
    }
    // p = I(ν/(ν + t²); ν/2, ½) with t² = (x̄ − ȳ)²·ν / (Σ squares · (1/n + 1/m)).
    let noise = variance * (1.0 / n + 1.0 / m);
    let share = noise / (noise + distance);
    share.is_finite().then(|| beta_reg(freedom / 2.0, 0.5, share))
}
