"""Seconds to build, compile and sample, and the smallest effective sample size, of the plain and the compact model.

Every line is a process of its own, cold (with empty caches of compiled code) or warm, and draws 4 × 1,000 on two cores.
Stages are in CPU seconds, of all threads: a busy machine changes them little, and on two idle cores compiling takes as
long on the clock, sampling half as long. Before and after stands a yardstick, a loop of 10^7 additions in Python, which
tells how fast the processor was at the time. A line that needs more than five minutes of CPU is given up.

    python benchmarks/sampling.py features      compact and plain: 10 categorical and 4 Gaussian features, 100 mixed,
                                                100 and 500 categorical, 60 Gaussian
    python benchmarks/sampling.py rows          10^3, 10^5 and 10^7 rows on statistics; 10^3 to 10^5 on rows
    python benchmarks/sampling.py samplers      nutpie, PyMC's own NUTS, and what else is installed

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
    start, total = time.process_time(), 0
    for number in range(10**7):
        total += number
    return time.process_time() - start


def measure(likelihood, form, sampler, kind, n_features, n_rows):
    """One line of the table, as JSON; statistics of 10^7 rows are those of 1,000 rows of weight 10^4."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))
    before, start = yardstick(), time.process_time()
    import arviz as az
    import nutpie
    import pymc as pm

    from bayesnb import NaiveBayes
    from bayesnb.sampling import batches_of, compact_model

    kept = n_rows if likelihood == "rows" else 1000
    X, y = table(kind, n_features, kept)
    model = NaiveBayes().fit(X, y, np.full(kept, n_rows / kept))
    marks = [time.process_time()]
    if form == "compact":
        built = compact_model(model._posterior, batches_of(model._posterior))  # noqa: SLF001
    else:
        built = model.to_pymc(*((X, y) if likelihood == "rows" else ()), likelihood=likelihood)
    marks.append(time.process_time())
    sample_compiled = nutpie.sample

    def marked(*arguments, **options):
        marks.append(time.process_time())
        return sample_compiled(*arguments, **options)

    nutpie.sample = marked
    options = {"draws": 1000, "tune": 1000, "chains": 4, "cores": 2, "random_seed": 1, "progressbar": False}
    sample = pm.sample if form == "plain" else model.sample
    known = {"model": built, "compute_convergence_checks": False} if form == "plain" else {}
    tree = sample(nuts_sampler=sampler, **known, **options)
    marks.append(time.process_time())
    ess = az.ess(tree["posterior"].dataset)
    smallest = min(float(values.min()) for values in ess.data_vars.values())
    print(json.dumps([*np.diff(marks), marks[-1] - start, smallest, before, yardstick()]))


def line(cache, *arguments):
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        if cache == "cold":
            environment |= {"NUMBA_CACHE_DIR": folder, "PYTENSOR_FLAGS": f"base_compiledir={folder}"}
        command = [sys.executable, __file__, "measure", *map(str, arguments)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)  # noqa: PLW1510, S603
    if done.returncode > 0:
        sys.exit(done.stderr)
    likelihood, form, sampler, kind, n_features, n_rows = arguments
    print(f"{likelihood:10} {form:7} {sampler:8} {cache:5} {kind:11} {n_features:>4} {n_rows:>9}", end=" ")
    if done.returncode < 0:
        print(f"not finished in {LIMIT} s", flush=True)
    else:
        print(*(f"{value:9.2f}" for value in json.loads(done.stdout.splitlines()[-1])), flush=True)


def main(what):
    print("likelihood form sampler cache features rows | build, compile, sample, all | smallest ESS | yardstick")
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
        for sampler in ("nutpie", "pymc", "numpyro", "blackjax"):
            line("cold", "statistics", "compact", sampler, "mixed", 14, 1000)


if __name__ == "__main__":
    if sys.argv[1] == "measure":
        measure(*sys.argv[2:6], *map(int, sys.argv[6:]))
    elif sys.argv[1] == "line":
        line(*sys.argv[2:])
    else:
        main(sys.argv[1])
