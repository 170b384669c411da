#!/usr/bin/env python3
"""Writes the main metric's values of whole runs, in the order in which they were measured.

Usage: record-runs.py 'where and how' RUN... > recorded-runs.json
Each RUN is a name that `stend show` knows; all must be of one suite on one machine with nothing changed in between.
"""

import json
import subprocess
import sys


def value(expression, repeat):
    """The metric's value in base units: what `numerator/wall` means, for rates alone."""
    numerator, denominator = expression.split("/")
    assert denominator == "wall", expression
    return repeat["work"][numerator] / (repeat["wall_ns"] / 1e9)


def run(name):
    shown = subprocess.run(["stend", "show", name, "--json"], check=True, capture_output=True, text=True)
    shown = json.loads(shown.stdout)["run"]
    scenarios = shown["run"]["suite"]["scenarios"]
    values = {}
    for repeat in shown["repeats"]:
        if repeat["phase"] == "measured" and repeat["outcome"] == "valid":
            scenario = scenarios[repeat["scenario"]]
            one = value(scenario["metrics"][0]["value"], repeat["report"])
            values.setdefault(scenario["name"], []).append(float(f"{one:.6g}"))
    return values


print(json.dumps({"where": sys.argv[1], "runs": [run(name) for name in sys.argv[2:]]}, indent=1))
