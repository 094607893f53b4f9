"""Ordered categoricals give the distances ordinal, linear and quadratic their order."""

from __future__ import annotations

import warnings
from functools import cache

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import setagree as sa
from setagree.errors import DistanceError, SetagreeWarning

# By text the order would be high, low, mid, severe; nobody gave "severe", nor "none".
ORDER = ["none", "low", "mid", "severe", "high"]
RNG = np.random.default_rng(5)
CELLS = RNG.choice(["low", "mid", "high"], size=(40, 3), p=[0.5, 0.3, 0.2])
CELLS[:, 1] = np.where(RNG.random(40) < 0.6, CELLS[:, 0], CELLS[:, 1])
CELLS[:, 2] = np.where(RNG.random(40) < 0.5, CELLS[:, 0], CELLS[:, 2])
ORDERED = pd.CategoricalDtype(ORDER, ordered=True)
ROWS = pd.DataFrame(
    {
        "unit": np.repeat([f"u{k}" for k in range(40)], 3),
        "rater": np.tile(["ann", "ben", "cem"], 40),
        "value": pd.Series(CELLS.ravel()).astype(ORDERED),
    }
).drop(index=[4, 50])
RECODED = ROWS.assign(value=ROWS["value"].cat.codes + 1)
DISTANCES = ["ordinal", "linear", "quadratic", "ordinal_gwet"]
COEFFICIENTS = ["krippendorff_alpha", "fleiss_kappa", "percent_agreement"]


def frame(data, **options):
    """Return the estimates and standard errors of the coefficients with all four distances."""
    table = sa.agreement(data, coefficient=COEFFICIENTS, distance=DISTANCES, **options).to_frame()
    return table[["estimate", "standard_error", "observed_agreement", "expected_agreement"]]


@cache
def expected_frame():
    """Return what the codes of the ordered categories give as numbers."""
    return frame(RECODED, value="value")


def polars_rows():
    cells = ROWS["value"].astype(str).tolist()
    text = {"unit": ROWS["unit"].tolist(), "rater": ROWS["rater"].tolist()}
    return pl.DataFrame(text).with_columns(pl.Series("value", cells, dtype=pl.Enum(ORDER)))


def parquet(rows, path):
    rows.to_parquet(path)
    return path


def two_files(folder):
    """Return the paths of the rows in two Parquet files, the second one with text."""
    parquet(ROWS.iloc[:60], folder / "1.parquet")
    parquet(ROWS.iloc[60:].astype({"value": str}), folder / "2.parquet")
    return [folder / "1.parquet", folder / "2.parquet"]


def many_rows():
    """Return the rows 60 times, with other units: so many that Arrow codes the cells."""
    return pd.concat([ROWS.assign(unit=ROWS["unit"] + f"-{k}") for k in range(60)])


DATABASE = duckdb.connect()  # DuckDB 1.3 closes it with the last name, not with the last relation
DATABASE.execute(f"CREATE TYPE severity AS ENUM {tuple(ORDER)!r}")
DATABASE.register("rows", ROWS.astype({"value": str}))


def duckdb_rows():
    return DATABASE.sql("SELECT unit, rater, value::severity AS value FROM rows")


def dask_rows(_):
    """Return the rows as a frame of Dask in three partitions."""
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(ROWS, npartitions=3)


SOURCES = {
    "pandas": lambda _: ROWS,
    "pandas, Arrow's dictionary": lambda _: ROWS.assign(
        value=pd.arrays.ArrowExtensionArray(pa.chunked_array([pa.array(ROWS["value"].array)]))
    ),
    "Polars": lambda _: polars_rows(),
    "Polars, lazy": lambda _: polars_rows().lazy(),
    "Arrow": lambda _: pa.Table.from_pandas(ROWS),
    "DuckDB": lambda _: duckdb_rows(),
    "Dask": dask_rows,
    "Parquet": lambda folder: parquet(ROWS, folder / "rows.parquet"),
    "Parquet of Polars": lambda folder: (
        polars_rows().write_parquet(folder / "p.parquet"),
        folder / "p.parquet",
    )[1],
    "two files": two_files,
    "from the study": lambda _: sa.read(ROWS).to_long(),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.filterwarnings("ignore:Columns guessed")
def test_every_source_of_a_long_table(source, tmp_path):
    data = SOURCES[source](tmp_path)
    found = frame(data, value="value")
    pd.testing.assert_frame_equal(found, expected_frame(), rtol=0, atol=1e-12)


def test_categories_without_an_order():
    assert not np.isclose(expected_frame(), 0).all()
    with pytest.raises(DistanceError, match="make the column an ordered categorical"):
        frame(ROWS.astype({"value": str}), value="value")


@pytest.mark.parametrize("options", [{}, {"keep_raters": True}, {"memory_limit": "1GB"}])
@pytest.mark.parametrize("n_files", [1, 2])
def test_reduced_files(options, n_files, tmp_path):
    paths = [parquet(ROWS, tmp_path / "1.parquet")] if n_files == 1 else two_files(tmp_path)
    tally = sa.tally(paths, value="value", **options)
    assert tally.order == tuple(ORDER)
    pd.testing.assert_frame_equal(frame(tally), expected_frame(), rtol=0, atol=1e-12)


def test_other_layouts():
    expected = sa.krippendorff_alpha(sa.read(RECODED), distance="linear").estimate
    wide = pd.DataFrame(CELLS, columns=["ann", "ben", "cem"]).astype(ORDERED)
    wide.iloc[1, 1] = wide.iloc[16, 2] = None
    two = pd.crosstab(wide["ann"], wide["cem"], dropna=False).iloc[:5, :5]
    two.index = two.columns = pd.CategoricalIndex(two.index, dtype=ORDERED)
    counts = wide.apply(pd.Series.value_counts, axis=1).fillna(0)
    counts = counts.reindex(columns=pd.CategoricalIndex(ORDER, dtype=ORDERED))
    people = wide.T.reset_index(names="who")
    tables = [
        sa.Annotations.from_wide(wide, kind="value"),
        sa.Annotations.from_wide(sa.read(ROWS).to_wide(), kind="value"),
        sa.Tally.from_counts(counts, kind="value"),
    ]
    assert people.shape == (3, 41)
    for study in tables:
        found = sa.krippendorff_alpha(study, distance="linear").estimate
        assert found == pytest.approx(expected, abs=1e-12)
    study = sa.Annotations.from_contingency(two, kind="value")
    codes = wide[["ann", "cem"]].dropna().apply(lambda column: column.cat.codes)
    numbers = sa.Annotations.from_wide(codes, kind="value")
    found = sa.cohen_kappa(study, distance="quadratic").estimate
    assert found == pytest.approx(sa.cohen_kappa(numbers, distance="quadratic").estimate, abs=1e-12)


def test_parts_and_joined_studies():
    study, numbers = sa.read(ROWS), sa.read(RECODED)

    def alphas(*studies):
        return [sa.krippendorff_alpha(one, distance="linear").estimate for one in studies]

    first = study.unit_codes < 20
    tallies = [sa.Tally.from_annotations(each) for each in (study.take(first), study.take(~first))]
    found = alphas(study.take(first), study.exclude_raters(["cem"]), tallies[0].merge(tallies[1]))
    expected = alphas(numbers.take(first), numbers.exclude_raters(["cem"]), numbers)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    model = pd.DataFrame({"unit": study.units, "value": "low"})  # text, as most models answer
    with_model = {"margin": 0.2, "distance": "linear"}
    test = sa.noninferiority_test(study, model=model, **with_model).to_frame()
    recoded = sa.noninferiority_test(numbers, model=model.assign(value=2), **with_model).to_frame()
    pd.testing.assert_frame_equal(test, recoded, rtol=0, atol=1e-12)
    assert test["difference"].iloc[0] != 0
    many = many_rows()
    large = many.assign(value=many["value"].cat.codes + 1)
    found = alphas(sa.read(many), sa.read(large))
    assert found[0] == pytest.approx(found[1], abs=1e-12)


def test_other_orders_are_not_joined(tmp_path):
    other = pd.CategoricalDtype(["low", "high", "mid"], ordered=True)
    parquet(ROWS.iloc[:60], tmp_path / "1.parquet")
    parquet(ROWS.iloc[60:].astype({"value": other}), tmp_path / "2.parquet")
    paths = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    for read in (sa.read, lambda files, **how: sa.tally(files, memory_limit="1GB", **how)):
        with pytest.warns(SetagreeWarning, match="do not have the same ordered categories"):
            study = read(paths, value="value")
        with pytest.raises(DistanceError, match="categories, such as"):
            sa.krippendorff_alpha(study, distance="ordinal")
        assert sa.krippendorff_alpha(study, distance="nominal").n_values == 3
    extreme = ROWS.iloc[60:].astype({"value": str}).replace({"value": {"high": "extreme"}})
    parquet(extreme, tmp_path / "2.parquet")
    with pytest.warns(SetagreeWarning, match="'extreme' not among 'none', 'low', 'mid'"):
        sa.read(paths, value="value")


def test_numbers_are_of_their_size():
    numbers = pd.Series(RECODED["value"] ** 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for categories in ([1, 4, 9, 16, 25], [25, 16, 9, 4, 1]):
            ordered = numbers.astype(pd.CategoricalDtype(categories, ordered=True))
            found = frame(ROWS.assign(value=ordered), value="value")
            pd.testing.assert_frame_equal(found, frame(RECODED.assign(value=numbers)))
    text = numbers.astype(str).astype(pd.CategoricalDtype(["16", "25", "4", "9"], ordered=True))
    with pytest.warns(SetagreeWarning, match="of 'value' are numbers, and their size counts"):
        study = sa.read(ROWS.assign(value=text))
    assert study.kind == "number"


def test_spellings_and_markers():
    order = ["Low ", "MID", "n/a", "high"]
    cells = ROWS["value"].map({"low": "Low ", "mid": "MID", "high": "high"})
    cells = cells.astype(pd.CategoricalDtype(order, ordered=True))
    cells.iloc[:2] = "n/a"
    study = sa.read(ROWS.assign(value=cells), case="lower", na_values=["n/a"])
    assert study.order == ("low", "mid", "high")
    codes = cells.map({"Low ": 1, "MID": 2, "high": 3}).astype(float)
    expected = sa.krippendorff_alpha(sa.read(RECODED.assign(value=codes)), distance="linear")
    found = sa.krippendorff_alpha(study, distance="linear")
    assert found.estimate == pytest.approx(expected.estimate, abs=1e-12)


def test_what_has_no_order_is_refused():
    text = ROWS.astype({"value": str})
    unordered = ROWS.assign(value=ROWS["value"].cat.as_unordered())
    for table in (text, unordered):
        for distance in ("ordinal", "linear"):
            with pytest.raises(DistanceError, match=r"Replace .* numbers, or make .* ordered cat"):
                sa.krippendorff_alpha(sa.read(table, value="value"), distance=distance)
    with pytest.raises(DistanceError, match=r"ordered categories.*'ordinal', 'linear' and 'quadr"):
        sa.krippendorff_alpha(ROWS, distance="ratio")
    with pytest.raises(DistanceError, match=r"label sets\. If each answer is one value, use"):
        sa.krippendorff_alpha(sa.read(ROWS, labels="value"), distance="ordinal")


def test_the_default_distance_is_ordinal():
    (found,) = sa.agreement(ROWS, coefficient="krippendorff_alpha")
    assert found.distance == "ordinal"
    expected = sa.krippendorff_alpha(RECODED, value="value", distance="ordinal").estimate
    assert found.estimate == pytest.approx(expected, abs=1e-14)
