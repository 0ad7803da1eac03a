"""Every engine gives the statistics of the same rows in memory: counts exactly, moments to 1e-10."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from bayesnb import Bernoulli, Categorical, Gaussian, Multinomial, NaiveBayes, Poisson, engines

duckdb = pytest.importorskip("duckdb")

N = 2000
FAMILIES = {
    ("integer", "integer_with_gaps"): Categorical(),
    "declared": Categorical(levels=["d", "c", "b", "a"]),
    "zero_one": Bernoulli(),
    ("events", "events_with_gaps"): Poisson(),
    ("term_a", "term_b", "term_c"): Multinomial(),
}


def table() -> pl.DataFrame:
    rng = np.random.default_rng(20)

    def with_gaps(values):
        return pl.Series([None if gap else v for v, gap in zip(values.tolist(), rng.random(N) < 0.1, strict=True)])

    return pl.DataFrame(
        {
            "species": rng.choice(["u", "v", "w"], N),
            "repeats": rng.integers(0, 4, N) / 2,
            "text": with_gaps(rng.choice(list("pqrs"), N)),
            "integer": rng.integers(-3, 5, N),
            "integer_with_gaps": with_gaps(rng.integers(0, 5, N)),
            "declared": rng.choice(list("abc"), N),
            "boolean": with_gaps(rng.random(N) < 0.3),
            "zero_one": rng.integers(0, 2, N),
            "number": with_gaps(rng.normal(5, 2, N)),
            "far": 1e8 + rng.normal(0, 3, N),
            "with_nan": np.where(rng.random(N) < 0.1, np.nan, rng.normal(0, 1, N)),
            "constant": np.full(N, 0.1),
            "events": rng.poisson(3, N),
            "events_with_gaps": with_gaps(rng.poisson(90, N)),
            "term_a": rng.poisson(1, N),
            "term_b": with_gaps(rng.poisson(2, N)),
            "term_c": rng.poisson(1, N),
        }
    )


TABLE = table()


def assert_same(model, expected):
    """The two models hold the same labels, columns, levels (also in type) and statistics."""
    ours, theirs = model.statistics_, expected.statistics_
    assert ours.classes == theirs.classes
    assert ours.blocks == theirs.blocks
    assert [[*map(type, b.family.levels)] for b in ours.blocks if isinstance(b.family, Categorical)] == [
        [*map(type, b.family.levels)] for b in theirs.blocks if isinstance(b.family, Categorical)
    ]
    np.testing.assert_array_equal(ours.label_counts, theirs.label_counts)
    for block, mine, other in zip(ours.blocks, ours.statistics, theirs.statistics, strict=True):
        if isinstance(block.family, Gaussian):
            np.testing.assert_array_equal(mine.count, other.count)
            np.testing.assert_allclose(mine.mean, other.mean, rtol=1e-10)
            varies = [name != "constant" for name in block.names]
            np.testing.assert_allclose(
                mine.squares_about_mean[:, varies], other.squares_about_mean[:, varies], rtol=1e-10
            )
            continue
        for name, array in vars(mine).items():
            exact = 1e-12 if name.startswith("log_") else 0
            np.testing.assert_allclose(array, getattr(other, name), rtol=exact)


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    path = tmp_path_factory.mktemp("engines") / "table.parquet"
    TABLE.write_parquet(path, row_group_size=500)
    return str(path)


@pytest.fixture(scope="module", params=[None, "repeats"], ids=["plain", "weighted"])
def weight(request):
    return request.param


def fit(frame, weight):
    """A model of the frame; the constant column is known to say nothing."""
    with pytest.warns(UserWarning, match="'constant' do not vary"):
        return NaiveBayes(FAMILIES).fit(frame, "species", weight)


@pytest.fixture(scope="module")
def expected(weight):
    return fit(TABLE, weight)


def test_names_of_columns_stand_for_them(weight, expected):
    frame = TABLE.drop("species" if weight is None else ["species", weight])
    with pytest.warns(UserWarning, match="do not vary"):
        model = NaiveBayes(FAMILIES).fit(frame, TABLE["species"], None if weight is None else TABLE[weight])
    assert_same(model, expected)


def test_polars(parquet, weight, expected):
    assert_same(fit(TABLE.lazy(), weight), expected)
    assert_same(fit(pl.scan_parquet(parquet), weight), expected)


def test_duckdb(parquet, weight, expected):
    assert_same(fit(duckdb.sql(f"from '{parquet}'"), weight), expected)


def test_a_parquet_file(parquet, weight, expected):
    assert_same(fit(parquet, weight), expected)


def test_a_csv_file(tmp_path):
    path = tmp_path / "table.csv"
    frame = TABLE.select("species", "text", "integer", "events")
    frame.write_csv(path)
    assert_same(NaiveBayes().fit(path, "species"), NaiveBayes().fit(frame, "species"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # Ibis calls a name that DuckDB 2 has given up
def test_ibis(tmp_path, weight):
    ibis = pytest.importorskip("ibis")
    table = TABLE.drop("with_nan")  # through Ibis, DuckDB 2.0 takes the NaN of a Parquet file for a number
    table.write_parquet(tmp_path / "table.parquet")
    frame, expected = ibis.duckdb.connect().read_parquet(tmp_path / "table.parquet"), fit(table, weight)
    assert_same(fit(frame, weight), expected)
    in_polars = ibis.polars.connect({"rows": table}).table("rows")  # Ibis 12 can't yet read DuckDB 2 in pieces
    np.testing.assert_array_equal(expected.predict(in_polars), expected.predict(table))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Dask support is moving:FutureWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_dask(parquet, weight, expected):
    dask, distributed = pytest.importorskip("dask"), pytest.importorskip("distributed")
    dask_frame = pytest.importorskip("dask.dataframe")
    with (
        dask.config.set({"dataframe.shuffle.method": "tasks"}),  # the default, p2p, fails with pandas 3
        distributed.LocalCluster(2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        frame = dask_frame.read_parquet(parquet, split_row_groups=True)
        frame = frame.astype({"boolean": "boolean", "integer_with_gaps": "Int64"})  # pandas has other types for gaps
        assert frame.npartitions > 1
        assert_same(fit(frame, weight), expected)
        np.testing.assert_array_equal(expected.predict(frame), expected.predict(TABLE))


@pytest.fixture(scope="module")
def spark():
    session = pytest.importorskip("pyspark.sql").SparkSession
    options = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
    }
    started = session.builder.master("local[2]").config(map=options).getOrCreate()
    yield started
    started.stop()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:PySpark does not yet:FutureWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_spark(spark, parquet, weight, expected):
    frame = spark.read.parquet(parquet)
    assert_same(fit(frame, weight), expected)
    np.testing.assert_array_equal(np.sort(expected.predict(frame)), np.sort(expected.predict(TABLE)))


def test_levels_that_the_engine_declares_count():
    as_enum = duckdb.sql("select y, x::enum('g', 'r') as x from (values ('a', 'r'), ('b', 'r')) as t(y, x)")
    block = NaiveBayes().fit(as_enum, "y").statistics_.blocks[0]
    assert block.family.levels == ("g", "r")
    assert block.is_closed


def test_a_large_offset_costs_no_digits():
    rng = np.random.default_rng(21)
    x = rng.integers(-1000, 1000, 4000)
    frame = pl.DataFrame({"y": np.tile(["a", "b"], 2000), "x": 1e12 + x})
    (statistics,) = NaiveBayes().fit(frame.lazy(), "y").statistics_.statistics
    exact = [x[i::2].astype(float).var() for i in range(2)]  # of small integers, before the offset
    np.testing.assert_allclose(statistics.squares_about_mean[:, 0] / 2000, exact, rtol=1e-10)


def test_batches_from_different_places_add_up(expected, weight):
    model = fit(TABLE[:700].lazy(), weight)
    for batch in (TABLE[700:1500], TABLE[1500:].lazy()):
        model.partial_fit(batch, "species", sample_weight=weight)
    assert_same(model, expected)


LAZY = pl.LazyFrame({"y": ["a", "a", "b"], "n": [0, 2, 2], "x": [1.0, np.inf, 2.0], "w": [1.0, -1.0, 2.0]})


@pytest.mark.parametrize(
    ("families", "y", "weight", "error", "words"),
    [
        ({"n": Bernoulli()}, "y", None, ValueError, r"column 'n' has the value 2.* in the rows with the label '[ab]'"),
        (None, "y", None, ValueError, "column 'x' has an infinite value.*label 'a'"),
        (None, "z", None, ValueError, "no column 'z'; it has 'y', 'n', 'x', 'w'"),
        (None, "y", "w", ValueError, "not -1.0 as in column 'w'"),
        (None, ["a", "b"], None, TypeError, 'by name: y="species"'),
        ({"n": Gaussian(), "y": Gaussian()}, "w", None, ValueError, "Gaussian needs numbers, but column 'y'"),
    ],
)
def test_faults_name_the_column_the_value_and_the_label(families, y, weight, error, words):
    with pytest.raises(error, match=words):
        NaiveBayes(families).fit(LAZY, y, weight)


def test_a_missing_label_is_a_fault():
    with pytest.raises(ValueError, match="missing in 2 rows"):
        NaiveBayes().fit(pl.LazyFrame({"y": ["a", None, None], "x": [1, 2, 3]}), "y")


def test_a_path_of_another_kind_is_a_fault():
    with pytest.raises(ValueError, match=r"ends in \.parquet or \.csv"):
        NaiveBayes().fit("table.xlsx", "y")


def test_predictions_come_in_batches(parquet, monkeypatch):
    monkeypatch.setattr(engines, "BATCH_ROWS", 300)
    model = fit(TABLE, "repeats")
    expected = model.predict_proba(TABLE)
    for frame in (TABLE.lazy(), pl.scan_parquet(parquet), parquet, duckdb.read_parquet(parquet)):
        np.testing.assert_allclose(model.predict_proba(frame), expected, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(parquet, plug_in="mean"), model.predict(TABLE, plug_in="mean"))
    assert len(list(engines.batches(duckdb.read_parquet(parquet), model.statistics_.names))) > 1


def test_a_table_without_rows_has_no_predictions(parquet):
    model = fit(TABLE, None)
    for frame in (TABLE.lazy().head(0), duckdb.read_parquet(parquet).filter("false"), TABLE.head(0)):
        assert model.predict_proba(frame).shape == (0, 3)


@pytest.fixture
def three_batches(monkeypatch):
    monkeypatch.setattr(engines, "BATCH_ROWS", 700)


@pytest.mark.usefixtures("three_batches")
def test_predictions_are_written_in_batches(parquet, tmp_path):
    model, path = fit(TABLE, None), tmp_path / "out.parquet"
    for frame in (TABLE.lazy(), parquet, duckdb.read_parquet(parquet)):
        model.predict_to_parquet(frame, path, keep=["far", "text"])
        written = pl.read_parquet(path)
        assert written.columns == ["far", "text", "label", "u", "v", "w"]
        assert written.select("far", "text").equals(TABLE.select("far", "text"))
        assert written["label"].to_list() == model.predict(TABLE).tolist()
        np.testing.assert_allclose(written.select("u", "v", "w"), model.predict_proba(TABLE), rtol=1e-12)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("three_batches")
def test_a_fault_in_a_later_batch_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "out.parquet"
    model = NaiveBayes().fit(TABLE.select("species", "text"), "species")
    model.predict_to_parquet(TABLE.lazy(), path)
    before = path.read_bytes()
    strange = TABLE.lazy().with_columns(
        text=pl.when(pl.int_range(pl.len()) == N - 1).then(pl.lit("z")).otherwise("text")
    )
    with pytest.raises(ValueError, match="has the value 'z'"):
        model.predict_to_parquet(strange, path)
    assert path.read_bytes() == before


def test_what_can_not_be_written_is_named(tmp_path):
    model = NaiveBayes().fit(TABLE.select("species", "text"), "species")
    with pytest.raises(TypeError, match="X is in memory"):
        model.predict_to_parquet(TABLE, tmp_path / "out.parquet")
    with pytest.raises(ValueError, match="two columns of one name among 'label', 'label', 'u'"):
        model.predict_to_parquet(TABLE.lazy().with_columns(label=1), tmp_path / "out.parquet", keep=["label"])
    with pytest.raises(ValueError, match="no column 'id'"):
        model.predict_to_parquet(TABLE.lazy(), tmp_path / "out.parquet", keep=["id"])
