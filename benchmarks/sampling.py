"""Seconds to compile and sample, and the smallest effective sample size, of the plain and the compact model.

The direct form is the compact one without what ``bayesnb.nuts`` does: nutpie compiles it, by way of ``pymc.sample``.

Every line is a process of its own, cold (with empty caches of compiled code) or warm, and draws 4 × 1,000 on two cores.
Seconds are of the clock, so the machine has to be idle: to import PyMC and nutpie; to build the model and compile it;
to draw; to name the draws and look at their convergence; all of these; and a second call in the same process, of the
compact model. Only nutpie tells compiling from drawing. Before and after stands a yardstick, a loop of 10^7 additions
in Python, which tells how fast the processor was at the time. A line that needs more than five minutes of CPU is given
up.

    python benchmarks/sampling.py features      compact and plain: 10 categorical and 4 Gaussian features, 100 mixed,
                                                100 and 500 categorical, 60 Gaussian
    python benchmarks/sampling.py rows          10^3, 10^5 and 10^7 rows on statistics; 10^3 to 10^5 on rows
    python benchmarks/sampling.py samplers      nutpie, PyMC's own NUTS, and those of NumPyro and BlackJAX, for which
                                                JAX has to be installed

Or a single line, by what stands in its columns: ``line cold statistics compact nutpie mixed 14 1000``.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

LIMIT = 300  # seconds of CPU
CATEGORICAL = {"mixed": 5, "categorical": 7, "gaussian": 0}  # of every seven features; the rest are Gaussian


def table(kind, n_features, n_rows):
    """Three labels; categorical features have 2 to 5 levels."""
    import pandas as pd

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n_rows)
    columns = {}
    for j in range(n_features):
        if j % 7 < CATEGORICAL[kind]:
            prob = rng.dirichlet(np.ones(2 + j % 4), 3)
            columns[f"x{j}"] = (rng.random(n_rows)[:, None] > prob.cumsum(1)[y]).sum(1).astype(str)
        else:
            columns[f"x{j}"] = rng.normal(rng.normal(size=3)[y], 1)
    return pd.DataFrame(columns), y


def yardstick():
    start, total = time.perf_counter(), 0
    for number in range(10**7):
        total += number
    return time.perf_counter() - start


def measure(likelihood, form, sampler, kind, n_features, n_rows):
    """One line of the table, as JSON; statistics of 10^7 rows are those of 1,000 rows of weight 10^4."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    before = yardstick()
    from bayesnb import NaiveBayes
    from bayesnb.sampling import batches_of, compact_model

    kept = n_rows if likelihood == "rows" else 1000
    X, y = table(kind, n_features, kept)
    model = NaiveBayes().fit(X, y, np.full(kept, n_rows / kept))
    start = time.perf_counter()
    import nutpie
    import pymc as pm

    imported = time.perf_counter()
    marks = []
    draw_compiled = nutpie.sample

    def marked(*arguments, **options):
        marks.append(time.perf_counter())
        drawn = draw_compiled(*arguments, **options)
        marks.append(time.perf_counter())
        return drawn

    nutpie.sample = marked
    options = {"draws": 1000, "tune": 1000, "chains": 4, "cores": 2, "random_seed": 1, "progressbar": False}

    def sample():
        if form == "compact":
            return model.sample(nuts_sampler=sampler, **options)
        if form == "direct":
            built = compact_model(model._posterior, batches_of(model._posterior))  # noqa: SLF001
        else:
            built = model.to_pymc(*((X, y) if likelihood == "rows" else ()), likelihood=likelihood)
        return pm.sample(model=built, nuts_sampler=sampler, **options)

    tree = sample()
    first = time.perf_counter()
    compiled, drawn = marks or (np.nan, np.nan)
    stages = [imported - start, compiled - imported, drawn - compiled, first - drawn, first - start]
    if form != "plain":
        sample()
    again = time.perf_counter() - first if form != "plain" else np.nan
    import arviz as az

    ess = az.ess(tree["posterior"].dataset)
    smallest = min(float(values.min()) for values in ess.data_vars.values())
    print(json.dumps([*stages, again, smallest, before, yardstick()]))


def line(cache, *arguments):
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        if cache == "cold":
            environment |= {"NUMBA_CACHE_DIR": folder, "PYTENSOR_FLAGS": f"base_compiledir={folder}"}
        command = [sys.executable, __file__, "measure", *map(str, arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)  # noqa: PLW1510, S603
    likelihood, form, sampler, kind, n_features, n_rows = arguments
    print(f"{likelihood:10} {form:7} {sampler:8} {cache:5} {kind:11} {n_features:>4} {n_rows:>9}", end=" ")
    if done.returncode < 0:
        print(f"not finished in {LIMIT} s", flush=True)
    elif done.returncode > 0:
        print(done.stderr.splitlines()[-1], flush=True)
    else:
        print(*(f"{value:9.2f}" for value in json.loads(done.stdout.splitlines()[-1])), flush=True)


def main(what):
    print("likelihood form sampler cache features rows |", end=" ")
    print("import, build and compile, draw, name and check, all | again | smallest ESS | yardstick")
    if what == "features":
        for kind, n_features in (
            ("mixed", 14),
            ("mixed", 100),
            ("categorical", 100),
            ("categorical", 500),
            ("gaussian", 60),
        ):
            line("cold", "statistics", "compact", "nutpie", kind, n_features, 1000)
            line("warm", "statistics", "compact", "nutpie", kind, n_features, 1000)
            line("cold", "statistics", "plain", "nutpie", kind, n_features, 1000)
    elif what == "rows":
        for n_rows in (10**3, 10**5, 10**7):
            line("warm", "statistics", "compact", "nutpie", "mixed", 14, n_rows)
        for n_rows in (10**3, 10**4, 10**5):
            line("warm", "rows", "plain", "nutpie", "mixed", 14, n_rows)
    else:
        for n_features in (14, 100):
            for form, sampler in (
                ("compact", "nutpie"),
                ("direct", "nutpie"),
                ("compact", "pymc"),
                ("compact", "numpyro"),
                ("compact", "blackjax"),
            ):
                for cache in ("cold", "warm"):
                    line(cache, "statistics", form, sampler, "mixed", n_features, 1000)


if __name__ == "__main__":
    if sys.argv[1] == "measure":
        measure(*sys.argv[2:6], *map(int, sys.argv[6:]))
    elif sys.argv[1] == "line":
        line(*sys.argv[2:])
    else:
        main(sys.argv[1])
