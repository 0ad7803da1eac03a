"""Exact leave-one-out in one pass against a refit without each row, on the table of votes: python benchmarks/loo.py

Both give the same numbers; the last line prints by how much they differ. Times are medians of interleaved pieces.
"""

import statistics
import time

import numpy as np
from tables import load

from bayesnb import NaiveBayes

RUNS = 5


def refits(X, y, rows):
    """The log predictive of the rows' labels, each by a model that was fitted without it."""
    values = []
    for row in rows:
        others = np.arange(len(y)) != row
        model = NaiveBayes().fit(X[others], y.iloc[others])
        values.append(model.predict_log_proba(X.iloc[[row]])[0, list(model.classes_).index(y.iloc[row])])
    return values


def timed(function):
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def main():
    X, y = load("vote")
    model = NaiveBayes().fit(X, y)
    model.loo(X, y)  # ArviZ is imported before the clock starts
    seconds = {"one pass": [], "refits": []}
    by_refits = []
    for rows in np.array_split(np.arange(len(y)), RUNS):
        time_of_pass, exact = timed(lambda: model.loo(X, y))
        time_of_refits, values = timed(lambda rows=rows: refits(X, y, rows))
        seconds["one pass"].append(time_of_pass)
        seconds["refits"].append(time_of_refits / len(rows))
        by_refits += values
    one_pass, one_refit = (statistics.median(of_way) for of_way in seconds.values())
    print(f"{len(y)} rows, {X.shape[1]} features")
    print(f"one pass {one_pass:8.3f} s")
    print(f"refits   {one_refit * len(y):8.3f} s, {one_refit * len(y) / one_pass:.0f} times as long")
    print(f"largest difference {np.abs(exact.elpd_i.values - by_refits).max():.1e} nats")


if __name__ == "__main__":
    main()
