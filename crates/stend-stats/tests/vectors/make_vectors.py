#!/usr/bin/env python3
"""Make the stored vectors that tests/it/against_scipy.rs checks against.

    python3 -m venv v && v/bin/pip install numpy scipy hdrhistogram && v/bin/pip install --no-deps apache-otava
    v/bin/python make_vectors.py [NAME...]

Writes *.json beside this script, all of them or those named. Seeds are fixed; the versions used are in versions.json.
"""
import importlib.metadata, json, math, os, platform, sys
import numpy as np, scipy
from scipy import stats

HERE = os.path.dirname(os.path.abspath(__file__))
rng = np.random.default_rng(20261121)


def save(name, value):
    with open(os.path.join(HERE, name + ".json"), "w") as out:
        if isinstance(value, list):
            out.write("[\n" + ",\n".join(json.dumps(v) for v in value) + "\n]\n")
        else:
            out.write(json.dumps(value, indent=1) + "\n")


def floats(x):
    return [float(v) for v in x]


def mann_whitney():
    cases = []
    for n, m in [(1, 1), (1, 7), (3, 4), (5, 5), (6, 6), (6, 10), (10, 10), (15, 9), (20, 20), (33, 40), (60, 60)]:
        for shift in (0.0, 0.7, 3.0):
            a, b = rng.normal(shift, 1, n), rng.normal(0, 1, m)
            r = stats.mannwhitneyu(a, b, method="exact")
            cases.append(dict(a=floats(a), b=floats(b), u=float(r.statistic), p=float(r.pvalue), method="exact"))
    for n, m in [(61, 60), (80, 80), (200, 30)]:  # asymptotic, without and with ties
        for digits in (12, 0):
            a, b = np.round(rng.normal(50.8, 3, n), digits), np.round(rng.normal(50, 3, m), digits)
            r = stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=True)
            cases.append(dict(a=floats(a), b=floats(b), u=float(r.statistic), p=float(r.pvalue), method="normal"))

    def statistic(x, y):
        ranks = stats.rankdata(np.concatenate([x, y]))
        return ranks[: len(x)].sum() - len(x) * (len(x) + 1) / 2

    for n, m in [(3, 4), (5, 5), (6, 6), (4, 8), (7, 7), (8, 8), (9, 6)]:  # every permutation, ties
        for top in (2, 4, 9):
            a, b = rng.integers(0, top, n) + 0.5 * (top == 4), rng.integers(0, top, m)
            a = a + (top == 9)  # a shift, keeping ties
            r = stats.permutation_test((a.astype(float), b.astype(float)), statistic, n_resamples=np.inf,
                                       alternative="two-sided", vectorized=False)
            if len(set(a) | set(b)) < n + m:
                cases.append(dict(a=floats(a), b=floats(b), u=float(r.statistic), p=float(r.pvalue), method="permutation"))
    save("mann_whitney", cases)


def sign_flip():
    cases = []
    for n in (2, 3, 6, 9, 12):
        for shift in (0.0, 0.8):
            d = np.round(rng.normal(shift, 1, n), 1 if n == 9 else 9)
            r = stats.permutation_test((d,), np.mean, permutation_type="samples", n_resamples=np.inf)
            cases.append(dict(d=floats(d), mean=float(r.statistic), p=float(r.pvalue)))
    save("sign_flip", cases)


def signed_rank():
    """SciPy's exact distribution; with ties and zeros every sign pattern of the ranks that Pratt gives."""
    import itertools

    own, cases = np.random.default_rng(20261122), []
    for n in (1, 2, 5, 6, 10, 25, 50):
        for shift in (0.0, 0.4, 1.5):
            d = own.normal(shift, 1, n)
            r = stats.wilcoxon(d, method="exact")
            w = float(stats.rankdata(np.abs(d))[d > 0].sum())
            cases.append(dict(d=floats(d), w=w, p=float(r.pvalue), method="exact"))
    for n in (4, 6, 9, 12):
        for shift in (0, 1, 2):
            d = own.integers(-4, 5, n) + shift
            ranks = stats.rankdata(np.abs(d))
            zero = ranks[d == 0].sum() / 2
            sums = [zero + sum(r for r, up in zip(ranks[d != 0], signs) if up) for signs in itertools.product((0, 1), repeat=int((d != 0).sum()))]
            w = zero + ranks[d > 0].sum()
            least = min(w, ranks.sum() - w)
            p = min(1.0, 2 * float(np.mean(np.array(sums) <= least + 1e-9)))
            cases.append(dict(d=floats(d), w=float(w), p=p, method="permutation"))
    for digits in (12, 0):  # beyond what is counted, without and with ties; zeros count half
        d = np.round(own.normal(0.5, 2, 150), digits)
        r = stats.wilcoxon(d[d != 0] if digits else d, method="approx", correction=True, zero_method="pratt")
        ranks = stats.rankdata(np.abs(d))
        cases.append(dict(d=floats(d), w=float(ranks[d > 0].sum() + ranks[d == 0].sum() / 2), p=float(r.pvalue), method="normal"))
    save("signed_rank", cases)


def median_interval():
    cases = []
    for confidence in (0.8, 0.9, 0.95, 0.99):
        for n in list(range(1, 41)) + [100, 1001, 5000]:
            best = None
            for k in range(1, n // 2 + 1):  # widest first; the last that reaches it is the narrowest
                attained = 1 - 2 * stats.binom.cdf(k - 1, n, 0.5)
                if attained >= confidence:
                    best = dict(rank=k, attained=float(attained))
            cases.append(dict(n=n, confidence=confidence, interval=best))
    save("median_interval", cases)


def summaries():
    cases = []
    for n in (1, 2, 3, 5, 6, 10, 21, 50):
        x = rng.lognormal(1, 0.7, n)
        probs = [0.0, 0.05, 0.25, 0.5, 0.77, 0.95, 1.0]
        q1, q3 = np.quantile(x, [0.25, 0.75])
        marks = [int(v < q1 - 1.5 * (q3 - q1) or v > q3 + 1.5 * (q3 - q1)) +
                 int(v < q1 - 3 * (q3 - q1) or v > q3 + 3 * (q3 - q1)) for v in x]
        y = rng.lognormal(1.1, 0.7, n + 1)
        cases.append(dict(x=floats(x), y=floats(y), probs=probs, quantiles=floats(np.quantile(x, probs)),
                          mean=float(x.mean()), median=float(np.median(x)),
                          mad=float(stats.median_abs_deviation(x)), marks=marks,
                          hodges_lehmann=float(np.median(np.subtract.outer(x, y))),
                          gmean=float(stats.gmean(x)),
                          slope=float(np.polyfit(range(5), x[-5:], 1)[0]) if n >= 5 else None))
    save("summaries", cases)


def false_discovery():
    cases = []
    for n in (1, 2, 5, 20, 100):
        p = np.round(rng.beta(0.4, 1.5, n), 3 if n == 20 else 12)
        cases.append(dict(p=floats(p), q=floats(stats.false_discovery_control(p))))
    save("false_discovery", cases)


def bootstrap():
    def log_ratio(x, y, axis=-1):
        return np.log(np.median(x, axis=axis)) - np.log(np.median(y, axis=axis))

    cases = []
    for n, m in [(6, 6), (7, 9), (10, 10), (10, 20), (15, 15), (20, 20), (41, 30)]:
        for sigma in (0.01, 0.3):
            a, b = rng.lognormal(0.05, sigma, n), rng.lognormal(0, sigma, m)
            case = dict(a=floats(a), b=floats(b), ratio=float(np.median(a) / np.median(b)))
            for method in ("BCa",):
                r = stats.bootstrap((a, b), log_ratio, n_resamples=400_000, batch=50_000, method=method,
                                    confidence_level=0.95, rng=np.random.default_rng(7))
                ci = r.confidence_interval
                case[method] = [math.exp(ci.low), math.exp(ci.high)]
            cases.append(case)
    save("bootstrap", cases)


def bootstrap_exact():
    """BCa from every one of the n^n resamples of each side, so without Monte Carlo error."""
    import itertools
    from collections import Counter

    def law(x):
        n, x = len(x), np.sort(x)
        counts = Counter()
        for chosen in itertools.product(range(n), repeat=n):
            chosen = sorted(chosen)
            counts[chosen[(n - 1) // 2], chosen[n // 2]] += 1
        values = [(math.log((x[i] + x[j]) / 2), c / n**n) for (i, j), c in sorted(counts.items())]
        return np.array(values).T

    def jack(x):
        return np.array([math.log(np.median(np.delete(x, i))) for i in range(len(x))])

    cases = []
    for n, m in [(6, 6), (6, 7), (7, 7)]:
        for sigma in (0.01, 0.3):
            a, b = rng.lognormal(0.05, sigma, n), rng.lognormal(0, sigma, m)
            (va, wa), (vb, wb) = law(a), law(b)
            t, w = np.subtract.outer(va, vb).ravel(), np.multiply.outer(wa, wb).ravel()
            order = np.argsort(t)
            t, w = t[order], w[order]
            theta = math.log(np.median(a)) - math.log(np.median(b))
            below, equal = w[t < theta - 1e-12].sum(), w[abs(t - theta) <= 1e-12].sum()
            z0 = stats.norm.ppf(below + equal / 2)
            u = [(len(x) - 1) * (jack(x).mean() - jack(x)) * s for x, s in ((a, 1), (b, -1))]
            acc = sum((v**3).sum() / len(v)**3 for v in u) / 6 / sum((v**2).sum() / len(v)**2 for v in u)**1.5

            def level(z):
                return stats.norm.cdf(z0 + (z0 + z) / (1 - acc * (z0 + z)))

            z = stats.norm.ppf(0.025)
            low = t[np.searchsorted(np.cumsum(w), level(z) - 1e-12)]
            high = t[len(t) - 1 - np.searchsorted(np.cumsum(w[::-1]), 1 - level(-z) - 1e-12)]
            cases.append(dict(a=floats(a), b=floats(b), BCa=[math.exp(low), math.exp(high)]))
    save("bootstrap_exact", cases)


def power():
    """Share of 200,000 trials that the exact tests find at a level: normal noise with a CV of 2 %, side a times 1 + 0.02 * effect."""
    own, cases, trials = np.random.default_rng(20261123), [], 200_000

    def critical(counts, level):
        """The greatest statistic whose doubled tail lies below the level; -1 for none."""
        tail = 2 * np.cumsum(counts) / counts.sum()
        return int(np.searchsorted(tail, level)) - 1

    def sums(ranks):
        counts = np.ones(1)
        for rank in ranks:
            counts = np.convolve(counts, np.r_[1, np.zeros(rank - 1), 1])
        return counts

    for n in (6, 10, 15, 20):
        # Gaussian binomial coefficient for U, product of 1 + q^i for W.
        ways = np.array([1.0])
        for i in range(1, n + 1):
            ways = np.convolve(ways, np.r_[1, np.zeros(n + i - 1), -1])
        for i in range(1, n + 1):
            ways = np.array([ways[j::-i].sum() for j in range(len(ways))])
        ways = ways[: n * n + 1]
        for effect in (0.0, 1.0, 1.5, 2.0, 3.0):
            a, b = (1 + 0.02 * effect) * own.normal(100, 2, (trials, n)), own.normal(100, 2, (trials, n))
            u = sum((a[:, i, None] > b).sum(axis=1) for i in range(n))
            u = np.minimum(u, n * n - u)
            d = np.log(a / b)
            w = (stats.rankdata(np.abs(d), axis=1) * (d > 0)).sum(axis=1)
            w = np.minimum(w, n * (n + 1) / 2 - w)
            for level in (0.01, 0.05):
                cases.append(dict(n=n, effect=effect, level=level, sides=float((u <= critical(ways, level)).mean()),
                                  pairs=float((w <= critical(sums(range(1, n + 1)), level)).mean())))
    save("power", cases)


def sessions():
    """Two-level percentile bootstrap, drawn 400,000 times by NumPy."""
    draws, cases = 400_000, []

    def medians(side):  # sessions × repeats
        count, repeats = side.shape
        picked = rng.integers(0, count, (draws, count, 1))
        index = rng.integers(0, repeats, (draws, count, repeats))
        return np.median(side[picked, index].reshape(draws, -1), axis=1)

    for count, repeats in [(2, 5), (2, 10), (3, 4), (5, 5)]:
        a, b = (np.exp(rng.normal(0, 0.02, (count, 1)) + rng.normal(0, 0.02, (count, repeats))) for _ in "ab")
        ends = np.quantile(medians(a) / medians(b), [0.025, 0.975])
        cases.append(dict(a=[floats(s) for s in a], b=[floats(s) for s in b], percentile=floats(ends)))
    save("sessions", cases)


def steady():
    """Windows of rounds: numpy.polyfit's slope, numpy's max, min and mean, and SNIA's two limits with others beside."""
    own, cases = np.random.default_rng(20261121), []
    for n, most, slope in [(5, 0.20, 0.10)] * 12 + [(3, 0.05, 0.05)] * 6 + [(8, 0.30, 0.02)] * 6 + [(2, 0.1, 0.1)] * 4:
        trend = own.uniform(-0.04, 0.04)
        x = 1000 * np.exp(own.normal(0, 0.04, n) + trend * np.arange(n))
        before = own.uniform(100, 10_000, own.integers(0, 4))
        k = np.polyfit(np.arange(n), x, 1)[0]
        spread, drift = np.ptp(x) / x.mean(), k * (n - 1) / x.mean()
        cases.append(dict(x=floats([*before, *x]), rounds=n, most_range=most, most_drift=slope, mean=float(x.mean()),
                          range=float(spread), drift=float(drift), slope=float(k), steady=bool(spread <= most and abs(drift) <= slope)))
    save("steady", cases)


def change_points():
    """Apache Otava's first pass and its energy statistic for single splits. Two things differ from Otava 0.8: the t-test is SciPy's of the
    values themselves, since Otava's variance divides by n where n - 1 is due; and the second pass is written here, since Otava's
    leaves the figures of the change before the one taken away as they were. A change that is undone again, for which stend has a clause of its
    own, is in none of these histories."""
    from otava import analysis
    from otava.change_point_divisive.calculator import PairDistanceCalculator

    class Tester(analysis.TTestSignificanceTester):
        def compare(self, left, right):
            found = super().compare(left, right)
            if len(left) + len(right) > 2:
                found.pvalue = float(stats.ttest_ind(left, right).pvalue)
            return found

    analysis.TTestSignificanceTester = Tester

    def second_pass(x, places, p, least):
        while places:
            edges = [0, *places, len(x)]
            sides = [(x[i:j], x[j:k]) for i, j, k in zip(edges, edges[1:], edges[2:])]
            found = [dict(index=int(place), before=float(l.mean()), after=float(r.mean()), p=float(stats.ttest_ind(l, r).pvalue))
                     for place, (l, r) in zip(places, sides)]
            sizes = [abs(math.log(point["after"] / point["before"])) for point in found]
            weakest = max(range(len(found)), key=lambda i: found[i]["p"])
            if found[weakest]["p"] < p:
                weakest = min(range(len(found)), key=lambda i: sizes[i])
                if sizes[weakest] > math.log1p(least):
                    return found
            del places[weakest]
        return []
    own, cases = np.random.default_rng(20261121), []
    for n in (12, 30, 50, 80, 130, 300):
        for noise in (0.005, 0.02, 0.05):
            steps = own.choice(range(4, n - 4), size=max(1, n // 40), replace=False)
            level = np.cumsum(np.where(np.isin(np.arange(n), steps), own.normal(0, 0.06, n), 0))
            x = np.round(100 * np.exp(level + own.normal(0, noise, n)), 4)
            window, p, least = (50, 0.001, 0.02) if noise > 0.005 else (30, 0.01, 0.0)
            places = sorted({int(point.index) for point in analysis.split(x.tolist(), window, 10 * p)})
            points = second_pass(x, places, p, least)
            split = PairDistanceCalculator(x).get_candidate_change_point(slice(0, n))
            cases.append(dict(x=floats(x), window=window, significance=p, least_change=least, points=points,
                              split=int(split.index), statistic=float(split.qhat)))
    save("change_points", cases)


def latencies():
    """HdrHistogram's C implementation by its Python face: bucket ends of quantiles, of parts and of all merged."""
    from hdrh.histogram import HdrHistogram

    own, cases = np.random.default_rng(20261121), []
    for sizes in ([1000], [20_000, 3], [400, 5000, 10_000, 4600]):
        total, parts = HdrHistogram(1, 60_000_000_000, 3), []
        for size in sizes:
            part = HdrHistogram(1, 60_000_000_000, 3)
            # Whole multiples of 12,345 ns, many of them often: a short list that is a large histogram.
            values, counts = np.unique(12_345 * (1 + own.lognormal(3, 1.5, min(size, 300)).astype(int)), return_counts=True)
            counts = counts * max(1, size // 300)
            for value, count in zip(values, counts):
                part.record_value(int(value), int(count))
            parts.append([[int(v), int(c)] for v, c in zip(values, counts)])
            total.add(part)
        shares = [0.1, 0.5, 0.9, 0.99]
        cases.append(dict(parts=parts, count=int(total.get_total_count()), least=int(total.get_min_value()), most=int(total.get_max_value()),
                          shares=shares, values=[int(total.get_value_at_percentile(100 * s)) for s in shares],
                          text=total.encode().decode()))
    save("latencies", cases)


MAKERS = (mann_whitney, sign_flip, signed_rank, median_interval, summaries, false_discovery, bootstrap, bootstrap_exact, sessions, power, steady,
          change_points, latencies)

if __name__ == "__main__":
    for make in MAKERS:
        if len(sys.argv) == 1 or make.__name__ in sys.argv[1:]:
            make()
    versions = {name: importlib.metadata.version(name) for name in ("numpy", "scipy", "apache-otava", "hdrhistogram")}
    save("versions", dict(python=platform.python_version(), **versions))
