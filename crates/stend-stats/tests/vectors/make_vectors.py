#!/usr/bin/env python3
"""Make the stored vectors that tests/it/against_scipy.rs checks against.

    python3 -m venv v && v/bin/pip install numpy scipy hdrhistogram && v/bin/pip install --no-deps apache-otava
    v/bin/python make_vectors.py [NAME...]

Writes *.json beside this script, all of them or those named. Seeds are fixed; the versions used are in versions.json.
"""
import importlib.metadata, json, math, os, platform, sys
import numpy as np, scipy
from scipy import optimize, stats

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
        cases.append(dict(x=floats(x), probs=probs, quantiles=floats(np.quantile(x, probs)),
                          mean=float(x.mean()), median=float(np.median(x)),
                          mad=float(stats.median_abs_deviation(x)), marks=marks,
                          slope=float(np.polyfit(range(5), x[-5:], 1)[0]) if n >= 5 else None))
    save("summaries", cases)


def false_discovery():
    cases = []
    for n in (1, 2, 5, 20, 100):
        p = np.round(rng.beta(0.4, 1.5, n), 3 if n == 20 else 12)
        cases.append(dict(p=floats(p), q=floats(stats.false_discovery_control(p))))
    save("false_discovery", cases)


def effects():
    """Student's and Welch's t with their intervals, and TREAT's p of a difference that is no more than ln(1 + delta)."""
    own, cases = np.random.default_rng(20261125), []
    for n, m in [(2, 2), (2, 7), (5, 5), (6, 9), (10, 10), (20, 31)]:
        for shift in (0.0, 0.02, 0.3):
            for spread in (0.01, 0.1):
                a, b = own.normal(shift, spread, n), own.normal(0, 3 * spread, m)
                pairs = own.normal(shift, spread, n)
                for sides, r in [([a, b], stats.ttest_ind(a, b, equal_var=False)), ([pairs], stats.ttest_1samp(pairs, 0))]:
                    difference = sides[0].mean() - (sides[1].mean() if len(sides) > 1 else 0)
                    error, interval = abs(difference / r.statistic), r.confidence_interval(0.95)
                    beyond = [float(sum(stats.t.sf((abs(difference) + sign * math.log1p(delta)) / error, r.df) for sign in (-1, 1)))
                              for delta in (0.0, 0.01, 0.1)]
                    cases.append(dict(sides=[floats(side) for side in sides], difference=float(difference), error=float(error), freedom=float(r.df),
                                      interval=[math.exp(interval.low), math.exp(interval.high)], deltas=[0.0, 0.01, 0.1], p=beyond))
    save("effects", cases)


def planning():
    """The true difference that nine of ten comparisons mark, and the fewest numbers that decide: solved from TREAT's p itself and the ends of
    the interval, with the power of a t-test by the central distribution."""
    own, cases = np.random.default_rng(20261130), []

    def visible(error, freedom, floor, level):
        p = lambda size: sum(stats.t.sf((size + sign * floor) / error, freedom) for sign in (-1, 1)) - level
        marked = max(optimize.brentq(p, floor, floor + 1e4 * error, xtol=1e-14), floor + stats.t.isf(0.025, freedom) * error)
        return marked + stats.t.isf(0.1, freedom) * error

    def decides(size, error, freedom, floor, level):
        if size > floor:
            return visible(error, freedom, floor, level) <= size
        return size + (stats.t.isf(0.025, freedom) + stats.t.isf(0.05, freedom)) * error <= floor

    for n in (5, 6, 10, 30):
        for sides in (1, 2):
            for cv in (0.003, 0.03, 0.2):
                for delta, level in ((0.0, 0.05), (0.0, 0.05 / 20), (0.01, 0.05), (0.01, 0.05 / 100), (0.1, 0.01)):
                    error, freedom, floor = cv * math.sqrt(2 / n), sides * (n - 1), math.log1p(delta)
                    size = abs(own.normal(0, 2 * cv))
                    of = lambda m: (cv * math.sqrt(2 / m), freedom * (m - 1) / (n - 1))
                    needed = next((m for m in range(n + 1, 2001) if decides(size, *of(m), floor, level)), None)
                    cases.append(dict(cv=cv, numbers=n, sides=sides, delta=delta, level=level, size=float(size),
                                      visible=math.expm1(visible(error, freedom, floor, level)), most=2000, needed=needed))
    save("planning", cases)


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


MAKERS = (median_interval, summaries, false_discovery, effects, planning, steady, change_points, latencies)

if __name__ == "__main__":
    for make in MAKERS:
        if len(sys.argv) == 1 or make.__name__ in sys.argv[1:]:
            make()
    versions = {name: importlib.metadata.version(name) for name in ("numpy", "scipy", "apache-otava", "hdrhistogram")}
    save("versions", dict(python=platform.python_version(), **versions))
