//! Exact Mann-Whitney U test.

use crate::normal;
use crate::sample::finite_sorted;

/// Up to this many values in both samples together the test is exact; counts then fit in `u128`.
pub const EXACT_TOTAL: usize = 120;

/// How a p-value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// The exact distribution; no ties between the samples' values.
    Exact,
    /// The exact conditional (permutation) distribution given the ties, or all sign flips.
    Permutation,
    /// Normal approximation, corrected for ties and continuity.
    NormalApproximation,
    /// Random draws from the permutation distribution, (hits + 1)/(draws + 1).
    MonteCarlo,
}

/// Result of a two-sided test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Test {
    /// Mann-Whitney: U of the first sample. Signed rank: W, the ranks of what is above zero. Sign flip: mean difference.
    pub statistic: f64,
    /// Two-sided p-value, 0 < p ≤ 1 (0 only where it is below 1e-300).
    pub p: f64,
    /// How p was found.
    pub method: Method,
}

/// Two-sided Mann-Whitney U test that a value of `a` is as often above as below one of `b`.
///
/// Statistic: U = #{aᵢ > bⱼ} + ½·#{aᵢ = bⱼ}. p is twice the smaller tail, at most 1. With n + m ≤ [`EXACT_TOTAL`]: exact, without ties from the
/// Gaussian binomial coefficient counting U, with ties by counting all subsets by their sum of mid-ranks. Beyond:
/// normal approximation with tie and continuity correction, good to some percent of p.
///
/// * Unit: none; units do not matter, nor does any change of scale that keeps the order.
/// * Assumes: under the null hypothesis all values are exchangeable, so repeats must be independent; nothing of the distribution.
/// * Refuses: `None` for an empty or non-finite sample.
/// * Source: Mann and Whitney, *Ann. Math. Statist.* 18 (1947); ties: Lehmann, *Nonparametrics*
///   (1975), 1.4; counting: Streitberg and Röhmel, *Statist. Software Newsletter* 12 (1986).
///
/// ```
/// use stend_stats::{Method, mann_whitney};
/// let test = mann_whitney(&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]).unwrap();
/// assert_eq!((test.statistic, test.method), (0.0, Method::Exact));
/// assert!((test.p - 2.0 / 70.0).abs() < 1e-15);
/// ```
#[must_use]
pub fn mann_whitney(a: &[f64], b: &[f64]) -> Option<Test> {
    let (sorted_a, sorted_b) = (finite_sorted(a)?, finite_sorted(b)?);
    let groups = tie_groups(&sorted_a, &sorted_b);
    let (n, m) = (a.len(), b.len());
    // Doubled, so that it is whole: 2U = Σ over groups of a·(2·b below + b).
    let mut below = 0_u128;
    let mut doubled_u = 0_u128;
    for group in &groups {
        doubled_u += group.from_a as u128 * (2 * below + group.from_b as u128);
        below += group.from_b as u128;
    }
    let tied = groups.iter().any(|g| g.from_a + g.from_b > 1);
    let (p, method) = if n + m > EXACT_TOTAL {
        (normal_p(&groups, n, m, doubled_u), Method::NormalApproximation)
    } else if tied {
        (tied_p(&groups, n, m), Method::Permutation)
    } else {
        (untied_p(n, m, (doubled_u / 2) as usize), Method::Exact)
    };
    Some(Test { statistic: doubled_u as f64 / 2.0, p, method })
}

/// Values that are equal, and how many of each sample they are.
struct Group {
    from_a: usize,
    from_b: usize,
}

fn tie_groups(a: &[f64], b: &[f64]) -> Vec<Group> {
    let mut groups = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    loop {
        let value = match (a.get(i), b.get(j)) {
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&x), None) | (None, Some(&x)) => x,
            (None, None) => return groups,
        };
        let from_a = a[i..].iter().take_while(|&&x| x == value).count();
        let from_b = b[j..].iter().take_while(|&&y| y == value).count();
        groups.push(Group { from_a, from_b });
        i += from_a;
        j += from_b;
    }
}

/// C(n, k) for n ≤ [`EXACT_TOTAL`].
pub(crate) fn choose(n: usize, k: usize) -> u128 {
    (1..=k.min(n - k)).fold(1, |c, i| c * (n - i + 1) as u128 / i as u128)
}

/// How many of the C(n + m, n) samples have U = 0, 1 … `most`, without ties; n + m ≤ [`EXACT_TOTAL`], `most` ≤ nm.
///
/// The count for u is the coefficient of qᵘ in Π (1 − q^(m+i)) / (1 − qⁱ), i = 1 … n. All counts stay below 2¹²⁸, so arithmetic
/// modulo 2¹²⁸ gives them exactly.
pub(crate) fn counts_of_u(n: usize, m: usize, most: usize) -> Vec<u128> {
    let (few, many) = (n.min(m), n.max(m));
    let mut counts = vec![0_u128; most + 1];
    counts[0] = 1;
    for i in 1..=few {
        for at in (many + i..=most).rev() {
            counts[at] = counts[at].wrapping_sub(counts[at - many - i]);
        }
        for at in i..=most {
            counts[at] = counts[at].wrapping_add(counts[at - i]);
        }
    }
    counts
}

fn untied_p(n: usize, m: usize, u: usize) -> f64 {
    let hits: u128 = counts_of_u(n, m, u.min(n * m - u)).iter().sum();
    (2.0 * hits as f64 / choose(n + m, n) as f64).min(1.0)
}

/// Exact p given the ties: counts the subsets of the smaller sample's size by sum of mid-ranks.
fn tied_p(groups: &[Group], n: usize, m: usize) -> f64 {
    let smaller_is_a = n <= m;
    let size = n.min(m);
    // Twice the mid-rank of a group is whole; counted from the least one.
    let mut items = Vec::with_capacity(groups.len()); // (value, ties, of the smaller sample)
    let mut start = 0;
    for group in groups {
        let ties = group.from_a + group.from_b;
        let chosen = if smaller_is_a { group.from_a } else { group.from_b };
        items.push((2 * start + ties - 1, ties, chosen));
        start += ties;
    }
    let from_the_nearer_end = from_the_nearer_end(&items, size);
    let observed: usize = from_the_nearer_end.iter().map(|(value, _, chosen)| value * chosen).sum();

    // ways[j][s]: subsets of j values with sum s, for sums in the lower tail only.
    let mut ways = vec![vec![0.0_f64; observed + 1]; size + 1];
    ways[0][0] = 1.0;
    for (value, ties, _) in from_the_nearer_end {
        for taken in (1..=size).rev() {
            let (before, rest) = ways.split_at_mut(taken);
            for count in 1..=ties.min(taken) {
                let shift = value * count;
                if shift > observed {
                    break;
                }
                let factor = choose(ties, count) as f64;
                let source = &before[taken - count];
                for (to, from) in rest[0][shift..].iter_mut().zip(source) {
                    *to += factor * from;
                }
            }
        }
    }
    let total = choose(n + m, n) as f64;
    let at_or_below: f64 = ways[size].iter().sum::<f64>() / total;
    let at_or_above = 1.0 - at_or_below + ways[size][observed] / total;
    (2.0 * at_or_below.min(at_or_above)).min(1.0)
}

/// The values as distances from the least or the greatest of them. The two tails are the same from either end; from the one that the sum of
/// the chosen is nearer to there are fewer sums below it.
fn from_the_nearer_end(items: &[(usize, usize, usize)], size: usize) -> Vec<(usize, usize, usize)> {
    let (least, greatest) = (items[0].0, items[items.len() - 1].0);
    let chosen: usize = items.iter().map(|(value, _, chosen)| (value - least) * chosen).sum();
    let (all, total) =
        items.iter().fold((0, 0), |(all, total), (value, ties, _)| (all + (value - least) * ties, total + ties));
    let is_above_the_mean = chosen * total > all * size;
    let distance = |value: usize| if is_above_the_mean { greatest - value } else { value - least };
    items.iter().map(|&(value, ties, chosen)| (distance(value), ties, chosen)).collect()
}

fn normal_p(groups: &[Group], n: usize, m: usize, doubled_u: u128) -> f64 {
    let (n, m) = (n as f64, m as f64);
    let total = n + m;
    let ties: f64 = groups.iter().map(|g| (g.from_a + g.from_b) as f64).map(|t| t * t * t - t).sum();
    let variance = n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let distance = ((doubled_u as f64 - n * m) / 2.0).abs() - 0.5;
    (2.0 * normal::cumulative(-distance / variance.sqrt())).min(1.0)
}
