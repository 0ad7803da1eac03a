"""A table larger than memory: how long a fit takes beside the engine's bare group-bys, and the memory that it needs.

Run: python benchmarks/out_of_core.py [rows, by default 100 million] [draws, 0 for none]

The table is written to a temporary folder in pieces. Every measurement is a process of its own, so that its peak memory
is its own; the bare group-bys, in the engine's native language, run before and after the fit.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PIECE = 1_000_000
CATEGORIES = {"colour": 4, "shape": 6, "region": 8, "device": 10, "channel": 12, "product": 16}
NUMBERS = ("height", "weight", "age")
ENGINES = ("duckdb", "polars")


def write(path: Path, rows: int) -> None:
    """Ten columns and a label, a million rows at a time."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    with pq.ParquetWriter(path, _piece(rng, 1, np, pa).schema) as writer:
        for start in range(0, rows, PIECE):
            writer.write_table(_piece(rng, min(PIECE, rows - start), np, pa))


def _piece(rng, n, np, pa):
    y = rng.integers(0, 3, n, dtype=np.int8)
    columns = {"label": pa.DictionaryArray.from_arrays(y, ["a", "b", "c"]).cast("string")}
    for name, size in CATEGORIES.items():
        codes = ((rng.random(n, dtype=np.float32) ** (1 + y)) * size).astype(np.int8)
        columns[name] = pa.DictionaryArray.from_arrays(codes, [f"{name}_{level}" for level in range(size)]).cast(
            "string"
        )
    for place, name in enumerate(NUMBERS):
        columns[name] = rng.standard_normal(n, dtype=np.float32) * (place + 1) + y + 10 * place
    columns["visits"] = rng.poisson(2.0 + y).astype(np.int16)
    return pa.table(columns)


def bare(engine: str, path: str) -> None:
    """The group-bys alone: counts of every value, and count, mean and variance of the numbers."""
    counted = [*CATEGORIES, "visits"]
    if engine == "duckdb":
        import duckdb

        for name in counted:
            duckdb.read_parquet(path).aggregate(f"label, {name}, count(*)").fetchall()
        moments = ", ".join(f"count({name}), avg({name}), var_pop({name})" for name in NUMBERS)
        duckdb.read_parquet(path).aggregate(f"label, {moments}").fetchall()
        return
    import polars as pl

    table = pl.scan_parquet(path)
    for name in counted:
        table.group_by("label", name).len().collect(engine="streaming")
    moments = [
        expression.alias(f"{name}_{n}")
        for name in NUMBERS
        for n, expression in enumerate((pl.col(name).count(), pl.col(name).mean(), pl.col(name).var(ddof=0)))
    ]
    table.group_by("label").agg(moments).collect(engine="streaming")


def fit(engine: str, path: str):
    from bayesnb import NaiveBayes, Poisson

    if engine == "duckdb":
        import duckdb

        table = duckdb.read_parquet(path)
    else:
        import polars as pl

        table = pl.scan_parquet(path)
    return NaiveBayes({"visits": Poisson()}).fit(table, y="label")


def measure(work: str, engine: str, path: str, draws: str) -> None:
    """Print seconds and peak memory of one piece of work; runs in its own process."""
    if work == "fit":
        import bayesnb.naive_bayes  # noqa: F401 - imports are not what is timed
    __import__(engine)
    start = time.perf_counter()
    model = (fit if work == "fit" else bare)(engine, path)
    result = {"seconds": time.perf_counter() - start, "megabytes": peak()}
    if int(draws):
        start = time.perf_counter()
        model.sample(draws=int(draws), chains=4, random_seed=0)
        result["sampling"] = time.perf_counter() - start
    print(json.dumps(result))


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(work: str, engine: str, path: Path, draws: int = 0) -> dict[str, float]:
    command = [sys.executable, __file__, "measure", work, engine, str(path), str(draws)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own file
    return json.loads(done.stdout.splitlines()[-1])


def main(rows: int, draws: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, small = Path(folder) / "table.parquet", Path(folder) / "small.parquet"
        start = time.perf_counter()
        write(path, rows)
        write(small, 1000)
        size = path.stat().st_size / 1e9
        print(f"{rows:,} rows x 10 columns, {size:.2f} GB, written in {time.perf_counter() - start:.0f} s", flush=True)
        print(f"{'engine':8} {'group-bys':>10} {'fit':>8} {'ratio':>6} {'memory of the fit':>18}", flush=True)
        rates = {}
        for engine in ENGINES:
            before, ours, after = (measured(work, engine, path) for work in ("bare", "fit", "bare"))
            theirs = (before["seconds"] + after["seconds"]) / 2
            rates[engine] = rows / ours["seconds"]
            print(
                f"{engine:8} {theirs:8.1f} s {ours['seconds']:6.1f} s {ours['seconds'] / theirs:6.2f} "
                f"{ours['megabytes']:15.0f} MB",
                flush=True,
            )
        for engine, rate in rates.items():
            print(f"{engine}: {rate / 1e6:.1f} million rows/s, so {1e9 / rate / 60:.1f} minutes for a billion rows;")
            print(f"  {1e9 / rate / 16:.0f} s on 16 such machines, each a sixteenth of them, as statistics add")
        if draws:
            of_all, of_few = (measured("fit", ENGINES[0], p, draws)["sampling"] for p in (path, small))
            print(f"4 x {draws} PyMC draws: {of_all:.0f} s for {rows:,} rows, {of_few:.0f} s for 1,000 rows")


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(*sys.argv[2:])
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000_000, int(sys.argv[2]) if len(sys.argv) > 2 else 1000)
