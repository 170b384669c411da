//! Bootstrap distribution of a median over few sessions, exactly.

use crate::law::{Law, NEGLIGIBLE};

/// About the multiplications up to which the distribution is computed and not drawn; 10,000 draws of twenty repeats take as long.
const MOST_WORK: usize = 1_000_000;

/// The distribution that [`Law::drawn`] draws from, or `None` where drawing is less work.
///
/// In a draw session s comes up cₛ times, which has the probability S!/(Πcₛ!·Sˢ) for S sessions. Then cₛ·nₛ repeats come from it, and of those the
/// number at or below x is binomial with Fₛ(x), the share of the session's repeats that are: so the number over all sessions is a sum of
/// binomials, and the two middle values have the joint distribution P(X₍ₖ₎ ≤ x, X₍ₖ₊₁₎ ≥ y) = the coefficient of zᵏ in Π (Fₛ(x)·z + Gₛ(y))^(cₛnₛ)
/// with Gₛ(y) the share at or above y.
pub(crate) fn law_of_sessions(sessions: &[Vec<f64>]) -> Option<Law> {
    let mut values = sessions.concat();
    values.sort_unstable_by(f64::total_cmp);
    values.dedup();
    let repeats: usize = sessions.iter().map(Vec::len).sum();
    let work = compositions(sessions.len())?.checked_mul(values.len().pow(2))?.checked_mul(repeats)?;
    if work > MOST_WORK {
        return None;
    }
    let strata: Vec<Stratum> = sessions.iter().map(|session| Stratum::new(session, &values, sessions.len())).collect();
    let mut points = Vec::new();
    let mut counts = vec![0; sessions.len()];
    let first = sessions.len() as f64;
    let all = (1..=sessions.len()).map(|i| i as f64 / first).product();
    each_composition(&mut counts, 0, sessions.len(), all, &mut |counts, probability| {
        let draw = Draw { strata: &strata, counts };
        draw.add_points(&values, probability, &mut points);
    });
    Some(Law::new(points))
}

/// C(2S − 1, S), the ways in which S draws fall to S sessions.
fn compositions(sessions: usize) -> Option<usize> {
    (1..=sessions).try_fold(1_usize, |ways, i| Some(ways.checked_mul(sessions - 1 + i)? / i))
}

/// Calls `take` with every composition of `left` over the sessions from `place` on, and its probability.
fn each_composition(
    counts: &mut Vec<usize>,
    place: usize,
    left: usize,
    probability: f64,
    take: &mut impl FnMut(&[usize], f64),
) {
    if place + 1 == counts.len() {
        counts[place] = left;
        let ways: f64 = (1..=left).map(|i| i as f64).product();
        take(counts, probability / ways);
        return;
    }
    let mut ways = 1.0;
    for count in 0..=left {
        ways *= count.max(1) as f64;
        counts[place] = count;
        each_composition(counts, place + 1, left - count, probability / ways, take);
    }
}

/// One session.
struct Stratum {
    size: usize,
    /// How many of its repeats are at or below the i-th value, i = 0 … all.
    up_to: Vec<usize>,
    /// `powers[l][e]` = (l/n)ᵉ.
    powers: Vec<Vec<f64>>,
    /// `choose[c][e]` = C(c·n, e).
    choose: Vec<Vec<f64>>,
}

impl Stratum {
    fn new(session: &[f64], values: &[f64], sessions: usize) -> Self {
        let size = session.len();
        let below = |value: &f64| session.iter().filter(|x| *x <= value).count();
        let up_to = std::iter::once(0).chain(values.iter().map(below)).collect();
        let powers = |level: usize| -> Vec<f64> {
            let share = level as f64 / size as f64;
            std::iter::successors(Some(1.0), |power| Some(power * share)).take(sessions * size + 1).collect()
        };
        let choose = |count: usize| -> Vec<f64> {
            let all = count * size;
            let next = |(e, ways): (usize, f64)| (e + 1, ways * (all - e) as f64 / (e + 1) as f64);
            std::iter::successors(Some((0, 1.0)), |last| Some(next(*last)))
                .take(all + 1)
                .map(|(_, ways)| ways)
                .collect()
        };
        Self { size, up_to, powers: (0..=size).map(powers).collect(), choose: (0..=sessions).map(choose).collect() }
    }
}

/// How often each session came up in a draw.
struct Draw<'a> {
    strata: &'a [Stratum],
    counts: &'a [usize],
}

impl Draw<'_> {
    /// P(so many of all repeats are ≤ the i-th value and all others ≥ the (j + 1)-th), for 0 … `most` of them; i ≤ j.
    fn split(&self, i: usize, j: usize, most: usize, product: &mut Vec<f64>) {
        product.clear();
        product.push(1.0);
        for (stratum, &count) in self.strata.iter().zip(self.counts).filter(|(_, count)| **count > 0) {
            let (all, choose) = (count * stratum.size, &stratum.choose[count]);
            let low = &stratum.powers[stratum.up_to[i]];
            let high = &stratum.powers[stratum.size - stratum.up_to[j]];
            let before = std::mem::take(product);
            product.resize((before.len() + all).min(most + 1), 0.0);
            for e in 0..=all.min(most) {
                let term = choose[e] * low[e] * high[all - e];
                if term > 0.0 {
                    product[e..].iter_mut().zip(&before).for_each(|(to, from)| *to += term * from);
                }
            }
        }
    }

    fn add_points(&self, values: &[f64], probability: f64, points: &mut Vec<(f64, f64)>) {
        let all: usize = self.strata.iter().zip(self.counts).map(|(stratum, count)| stratum.size * count).sum();
        let middle = all.div_ceil(2);
        let mut product = Vec::new();
        // P(X₍ₖ₎ ≤ the i-th value), k the lower middle.
        let mut reached = vec![0.0; values.len() + 1];
        for (i, reached) in reached.iter_mut().enumerate() {
            self.split(i, i, middle - 1, &mut product);
            *reached = 1.0 - product.iter().sum::<f64>();
        }
        let mut add = |value: f64, weight: f64| {
            if weight > NEGLIGIBLE {
                points.push((value.ln(), weight * probability));
            }
        };
        if all % 2 == 1 {
            (1..=values.len()).for_each(|i| add(values[i - 1], reached[i] - reached[i - 1]));
            return;
        }
        // P(X₍ₖ₎ ≤ the i-th, X₍ₖ₊₁₎ ≥ the (j + 1)-th value), row by row.
        let mut row = |i: usize| -> Vec<f64> {
            let mut row = vec![0.0; values.len() + 1];
            for (j, apart) in row.iter_mut().enumerate().take(values.len()).skip(i) {
                self.split(i, j, middle, &mut product);
                *apart = product.get(middle).copied().unwrap_or(0.0);
                if *apart <= NEGLIGIBLE {
                    break;
                }
            }
            row
        };
        let mut last = row(0);
        for i in 1..=values.len() {
            let next = row(i);
            add(values[i - 1], reached[i] - reached[i - 1] - (next[i] - last[i]));
            for j in i..values.len() {
                add(f64::midpoint(values[i - 1], values[j]), next[j] - last[j] - next[j + 1] + last[j + 1]);
            }
            last = next;
        }
    }
}
