//! Bootstrap distributions of medians: exact for one session, drawn for several.
//!
//! A resampled median can only be the midpoint of two order statistics, so its whole bootstrap
//! distribution is a short list of values with probabilities. For one session these are known in
//! closed form (the limit of infinitely many draws); for several they are tallied from draws.
//! The two sides are independent, so the distribution of a difference of log medians needs no
//! pairing of draws: it is evaluated over all pairs of list entries.

use crate::random::SplitMix64;
use crate::sample::sorted_median;
use crate::search::smallest_where;

/// Above this size the distribution for one session is drawn as well.
pub(crate) const EXACT_SIDE: usize = 1000;

/// Entries less probable than this are left out.
pub(crate) const NEGLIGIBLE: f64 = 1e-15;

/// A discrete distribution of log medians.
#[derive(Debug)]
pub(crate) struct Law {
    values: Vec<f64>,
    weights: Vec<f64>,
    /// `upper[i]` = Σ weights\[i..\]; one entry more than `values`.
    upper: Vec<f64>,
}

impl Law {
    /// From values and their weights.
    pub(crate) fn new(mut points: Vec<(f64, f64)>) -> Self {
        points.sort_unstable_by(|x, y| x.0.total_cmp(&y.0));
        points.dedup_by(|next, kept| {
            let equal = next.0 == kept.0;
            if equal {
                kept.1 += next.1;
            }
            equal
        });
        let total: f64 = points.iter().map(|p| p.1).sum();
        let weights: Vec<f64> = points.iter().map(|p| p.1 / total).collect();
        let mut upper = vec![0.0; weights.len() + 1];
        for i in (0..weights.len()).rev() {
            upper[i] = upper[i + 1] + weights[i];
        }
        Self { values: points.iter().map(|p| p.0).collect(), weights, upper }
    }

    /// The distribution of −X.
    pub(crate) fn negated(&self) -> Self {
        let points = self.values.iter().zip(&self.weights);
        Self::new(points.map(|(value, weight)| (-value, *weight)).collect())
    }

    /// All its mass at `value`.
    pub(crate) fn point(value: f64) -> Self {
        Self::new(vec![(value, 1.0)])
    }

    /// Exact bootstrap distribution of the log median of one sorted positive sample
    /// (Efron, *Ann. Statist.* 7 (1979), for odd n; Hutson and Ernst, *J. R. Statist. Soc. B* 62
    /// (2000), for two order statistics).
    pub(crate) fn of_median(sorted: &[f64]) -> Self {
        let n = sorted.len();
        if n % 2 == 1 {
            // P(X₍ₖ₎ ≤ xᵢ) = P(binomial(n, i/n) ≥ k)
            let reached = order_statistic(n, n / 2 + 1);
            let points = (1..=n).map(|i| (sorted[i - 1].ln(), reached[i] - reached[i - 1]));
            return Self::new(points.filter(|p| p.1 > NEGLIGIBLE).collect());
        }
        // With k = n/2: P(X₍ₖ₎ ≤ xᵢ, X₍ₖ₊₁₎ ≥ xⱼ) = C(n, k)·(i/n)ᵏ·((n − j + 1)/n)ᵏ for i < j;
        // its second difference in i and j factors.
        let k = n / 2;
        let reached = order_statistic(n, k);
        let half_log = ln_choose(n, k) / 2.0;
        let power = |i: usize| (half_log + k as f64 * (i as f64 / n as f64).ln()).exp();
        let step: Vec<f64> = (0..n).map(|i| power(i + 1) - power(i)).collect(); // Δ(i/n)ᵏ
        let mut points = Vec::new();
        for i in 0..n {
            let apart = step[i] * power(n - 1 - i); // the two middle values differ
            let together = reached[i + 1] - reached[i] - apart;
            if together > NEGLIGIBLE {
                points.push((sorted[i].ln(), together));
            }
            if apart <= NEGLIGIBLE {
                continue;
            }
            for j in i + 1..n {
                let weight = step[i] * step[n - 1 - j];
                if weight <= NEGLIGIBLE && step[i] * power(n - 1 - j) <= NEGLIGIBLE {
                    break;
                }
                points.push((f64::midpoint(sorted[i], sorted[j]).ln(), weight));
            }
        }
        Self::new(points)
    }

    /// Distribution of the log median when sessions are drawn with replacement, then as many
    /// repeats with replacement from each drawn session as it has, all pooled.
    pub(crate) fn drawn(sessions: &[Vec<f64>], draws: usize, seed: u64) -> Self {
        let pool = Pool::new(sessions);
        let mut tally = Tally::new(&pool);
        let mut random = SplitMix64::new(seed);
        let width = pool.sorted.len();
        let mut found: Vec<usize> = Vec::with_capacity(draws);
        for _ in 0..draws {
            tally.clear();
            for _ in 0..pool.ranks.len() {
                let session = &pool.ranks[random.index(pool.ranks.len())];
                random.indices(session.len(), |repeat| tally.add(session[repeat]));
            }
            let (low, high) = tally.middle();
            found.push(low * width + high);
        }
        found.sort_unstable();
        let runs = found.chunk_by(|x, y| x == y).map(|run| {
            let (low, high) = (pool.sorted[run[0] / width], pool.sorted[run[0] % width]);
            (f64::midpoint(low, high).ln(), run.len() as f64)
        });
        Self::new(runs.collect())
    }

    /// Distribution of the pseudomedian ([`pseudomedian`](crate::pseudomedian)) of pairs' differences when sessions are drawn with replacement,
    /// then as many pairs with replacement from each drawn session as it has, all pooled. O(draws · n²); where that were more than
    /// [`MOST_STEPS`] there are fewer draws.
    pub(crate) fn drawn_pairs(sessions: &[Vec<f64>], draws: usize, seed: u64) -> Self {
        let pool = Pool::new(sessions);
        let mut tally = Tally::new(&pool);
        let mut random = SplitMix64::new(seed);
        let averages = pool.averages();
        let draws = draws.min((MOST_STEPS / averages.len()).max(1));
        let points = (0..draws).map(|_| {
            tally.clear();
            for _ in 0..pool.ranks.len() {
                let session = &pool.ranks[random.index(pool.ranks.len())];
                random.indices(session.len(), |pair| tally.add(session[pair]));
            }
            (tally.middle_average(&averages), 1.0)
        });
        Self::new(points.collect())
    }
}

/// Averages that all draws of pairs together look at, about.
const MOST_STEPS: usize = 1_000_000_000;

/// P(X₍ₖ₎ ≤ xᵢ) for i = 0 … n in a resample of n from n sorted values.
fn order_statistic(n: usize, k: usize) -> Vec<f64> {
    let ln_choose_k = ln_choose(n, k);
    let ln_choose_below = ln_choose(n, k - 1);
    let probability = |i: usize| {
        if i == 0 || i == n {
            return if i == 0 { 0.0 } else { 1.0 };
        }
        let p = i as f64 / n as f64;
        let (ln_p, ln_q) = (p.ln(), (-p).ln_1p());
        let start = |ln_choose: f64, j: usize| (ln_choose + j as f64 * ln_p + (n - j) as f64 * ln_q).exp();
        // Sum the tail that does not hold the mean, walking away from k.
        if k as f64 > p * n as f64 {
            let mut term = start(ln_choose_k, k);
            let mut sum = term;
            for j in k..n {
                term *= (n - j) as f64 / (j + 1) as f64 * p / (1.0 - p);
                sum += term;
            }
            sum.min(1.0)
        } else {
            let mut term = start(ln_choose_below, k - 1);
            let mut sum = term;
            for j in (1..k).rev() {
                term *= j as f64 / (n - j + 1) as f64 * (1.0 - p) / p;
                sum += term;
            }
            1.0 - sum.min(1.0)
        }
    };
    (0..=n).map(probability).collect()
}

fn ln_choose(n: usize, k: usize) -> f64 {
    (1..=k).map(|i| ((n - k + i) as f64 / i as f64).ln()).sum()
}

/// All values of one side, and where each session's values stand among them.
struct Pool {
    sorted: Vec<f64>,
    ranks: Vec<Vec<usize>>,
}

impl Pool {
    fn new(sessions: &[Vec<f64>]) -> Self {
        let mut sorted = sessions.concat();
        sorted.sort_unstable_by(f64::total_cmp);
        let rank = |value: &f64| sorted.partition_point(|x| x < value);
        let ranks = sessions.iter().map(|s| s.iter().map(rank).collect()).collect();
        Self { sorted, ranks }
    }
}

/// The average of the values of two ranks.
struct Average {
    value: f64,
    ranks: (usize, usize),
}

impl Pool {
    /// The averages of all pairs of different values, and each value itself, in order.
    fn averages(&self) -> Vec<Average> {
        let first = |rank: &usize| *rank == 0 || self.sorted[rank - 1] != self.sorted[*rank];
        let ranks: Vec<usize> = (0..self.sorted.len()).filter(first).collect();
        let average =
            |i: usize, j: usize| Average { value: f64::midpoint(self.sorted[i], self.sorted[j]), ranks: (i, j) };
        let mut all = Vec::with_capacity(ranks.len() * (ranks.len() + 1) / 2);
        for (place, &i) in ranks.iter().enumerate() {
            all.extend(ranks[place..].iter().map(|&j| average(i, j)));
        }
        all.sort_unstable_by(|x, y| x.value.total_cmp(&y.value));
        all
    }
}

/// How often each rank was drawn; the median is found by counting, without sorting.
struct Tally {
    counts: Vec<u32>,
    total: usize,
}

impl Tally {
    fn new(pool: &Pool) -> Self {
        Self { counts: vec![0; pool.sorted.len()], total: 0 }
    }

    fn clear(&mut self) {
        self.counts.fill(0);
        self.total = 0;
    }

    fn add(&mut self, rank: usize) {
        self.counts[rank] += 1;
        self.total += 1;
    }

    /// Ranks of the two middle values (the same one for an odd total).
    fn middle(&self) -> (usize, usize) {
        let (first, second) = ((self.total - 1) / 2, self.total / 2);
        let (mut seen, mut rank) = (0, 0);
        let mut walk = |target: usize| {
            while seen + self.counts[rank] as usize <= target {
                seen += self.counts[rank] as usize;
                rank += 1;
            }
            rank
        };
        let low = walk(first);
        (low, walk(second))
    }

    /// The median of the averages of all drawn values, each with itself and every other once.
    fn middle_average(&self, averages: &[Average]) -> f64 {
        let all = self.total * (self.total + 1) / 2;
        let (mut seen, mut place) = (0, 0);
        let mut walk = |target: usize| loop {
            let (i, j) = averages[place].ranks;
            let (left, right) = (self.counts[i] as usize, self.counts[j] as usize);
            let next = seen + if i == j { left * (left + 1) / 2 } else { left * right };
            if next >= target {
                return averages[place].value;
            }
            (seen, place) = (next, place + 1);
        };
        let low = walk(all.div_ceil(2));
        f64::midpoint(low, walk(all / 2 + 1))
    }
}

/// Distribution of A − B for independent A and B.
pub(crate) struct Difference<'a> {
    pub(crate) a: &'a Law,
    pub(crate) b: &'a Law,
}

impl Difference<'_> {
    /// P(A − B ≤ t).
    pub(crate) fn up_to(&self, t: f64) -> f64 {
        let mut first = 0; // first b with a − b ≤ t; grows with a
        let mut sum = 0.0;
        for (value, weight) in self.a.values.iter().zip(&self.a.weights) {
            while first < self.b.values.len() && value - self.b.values[first] > t {
                first += 1;
            }
            sum += weight * self.b.upper[first];
        }
        sum
    }

    /// The least t with P(A − B ≤ t) ≥ p, one of the differences.
    pub(crate) fn quantile(&self, p: f64) -> f64 {
        let (a, b) = (&self.a.values, &self.b.values);
        if let [only] = b[..] {
            let at = self.a.upper[1..].partition_point(|above| 1.0 - above < p - 1e-12);
            return a[at.min(a.len() - 1)] - only;
        }
        let (low, high) = (a[0] - b[b.len() - 1], a[a.len() - 1] - b[0]);
        smallest_where(low, high, |t| self.up_to(t) >= p - 1e-12)
    }
}

/// Log median of sorted positive values.
pub(crate) fn log_median(sorted: &[f64]) -> f64 {
    sorted_median(sorted).ln()
}
