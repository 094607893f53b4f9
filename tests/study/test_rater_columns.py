"""Columns that say one thing of each rater: read, kept, and named afterwards."""

import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError, OptionError
from setagree.large.joining import with_models
from setagree.large.opening import open_study
from setagree.study.reading import Plan

TABLE = pd.DataFrame(
    {
        "unit": [1, 1, 1, 2, 2, 2],
        "rater": ["m1", "m2", "ann", "m1", "m2", "ann"],
        "model": ["gpt", "gpt", None, "gpt", None, None],
        "run": [1, 2, None, 1, 2, None],
        "labels": ["p", "q", "p", "p", "p", "p, q"],
    }
)
COLUMNS = ["model", "run"]


def test_read():
    frame = sa.read(TABLE, rater_columns=COLUMNS).raters_frame
    assert frame.index.tolist() == ["m1", "m2", "ann"]
    assert frame["model"].tolist() == ["gpt", "gpt", None]
    assert frame["run"].tolist() == [1, 2, None]
    assert sa.read(TABLE).raters_frame.columns.tolist() == []


def test_text_is_trimmed():
    table = TABLE.assign(model=["gpt", "gpt ", None, "gpt", None, None])
    with pytest.warns(sa.SetagreeWarning, match="1 group is spelled in two ways"):
        frame = sa.read(table, rater_columns=COLUMNS).raters_frame
    assert frame["model"].tolist() == ["gpt", "gpt", None]


def test_a_copy():
    study = sa.read(TABLE, rater_columns=COLUMNS)
    frame = study.raters_frame
    frame["run"] = 0
    assert study.raters_frame["run"].tolist() == [1, 2, None]


def test_they_survive():
    study = sa.read(TABLE, rater_columns=COLUMNS)
    assert study.exclude_raters(["m1"]).raters_frame["run"].tolist() == [2, None]
    assert study.take(study.rater_codes != 1).raters_frame["model"].tolist() == ["gpt", None]


@pytest.mark.parametrize("engine", ["polars", "lazy", "arrow", "duckdb", "csv", "long"])
def test_every_road(engine, tmp_path):
    table = TABLE.astype({"run": "string"})
    data = table
    if engine in {"polars", "lazy"}:
        data = pytest.importorskip("polars").from_pandas(table)
        data = data.lazy() if engine == "lazy" else data
    elif engine == "arrow":
        data = pytest.importorskip("pyarrow").Table.from_pandas(table)
    elif engine == "duckdb":
        data = pytest.importorskip("duckdb").from_df(table)
    elif engine == "csv":
        data = tmp_path / "table.csv"
        TABLE.to_csv(data, index=False)
    if engine == "long":
        study = sa.Annotations.from_long(table, labels="labels", rater_columns=COLUMNS)
    else:
        study = sa.read(data, rater_columns=COLUMNS)
    assert study.raters_frame["model"].tolist() == ["gpt", "gpt", None]
    assert [str(x).removesuffix(".0") for x in study.raters_frame["run"]] == ["1", "2", "None"]


def test_where():
    table = pd.concat([TABLE, TABLE.assign(model="other", unit=TABLE["unit"] + 2)])
    with pytest.warns(sa.SetagreeWarning, match="drops 6 of 12 rows"):
        study = sa.read(table, rater_columns=["model"], where="unit <= 2")
    assert study.raters_frame["model"].tolist() == ["gpt", "gpt", None]


def test_people_in_rows():
    table = pd.DataFrame({"who": ["m1", "ann"], "model": ["gpt", None], "u1": ["p", "q"]})
    table["u2"] = ["q", "q"]
    how = sa.Reading(raters_in_rows=True, rater="who", rater_columns=["model"])
    study = open_study(table, how)
    assert study.units.tolist() == ["u1", "u2"]
    assert study.raters_frame["model"].tolist() == ["gpt", None]


def test_raters_are_named_by_their_columns():
    runs = TABLE.dropna(subset="run").assign(model="gpt").drop(columns="rater")
    study = sa.read(runs, rater_columns=COLUMNS)
    assert study.raters.tolist() == ["gpt / 1", "gpt / 2"]
    assert study.raters_frame["run"].tolist() == [1, 2]
    # A column that is guessed to be the rater stays the rater.
    assert sa.read(TABLE, rater_columns=COLUMNS).raters.tolist() == ["m1", "m2", "ann"]


def test_long_numbers_of_runs_in_a_column_with_gaps_stay_apart():
    runs = {"unit": [1, 1, 1], "model": ["gpt", "gpt", "llama"], "run": [1234567, 1234568, None]}
    study = sa.read(pd.DataFrame(runs | {"labels": list("aba")}), rater_columns=["model", "run"])
    assert study.raters.tolist() == ["gpt / 1234567", "gpt / 1234568", "llama"]


def test_joined_with_a_model():
    people = TABLE[TABLE["rater"] == "ann"][["unit", "rater", "labels"]]
    runs = TABLE.dropna(subset="run").assign(model="gpt")
    joined, names = with_models(sa.read(people), runs, rater_columns=COLUMNS)
    assert names == ["m1", "m2"]
    assert joined.raters_frame["run"].tolist() == [None, 1, 2]
    both, _ = with_models(sa.read(TABLE.query("rater != 'm2'"), rater_columns=COLUMNS),
                          runs.query("rater == 'm2'"))  # fmt: skip
    assert both.raters_frame["run"].tolist() == [1, None, 2]


def test_mappings():
    study = sa.read(TABLE).with_raters({"site": pd.Series(["x"], index=["ann"]), "run": {"m1": 1}})
    assert study.raters_frame["site"].tolist() == [None, None, "x"]
    assert study.with_raters(study.raters_frame).raters_frame.equals(study.raters_frame)
    with pytest.raises(DataError, match="site: the raters 'ann' have several entries"):
        study.with_raters({"site": pd.Series(["x", "y"], index=["ann", "ann"])})


def test_what_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"'labels' has several values for rater 'm2': 'p', 'q'"):
        sa.read(TABLE.assign(tags=TABLE["labels"]), labels="tags", rater_columns=["labels"])
    with pytest.raises(DataError, match="there is no column 'nope'"):
        sa.read(TABLE, rater_columns=["nope"])
    with pytest.raises(OptionError, match="rater_columns= makes sense only without wide="):
        sa.Reading(wide=True, rater_columns=["model"])
    path = tmp_path / "table.csv"
    TABLE.to_csv(path, index=False)
    with pytest.raises(OptionError, match="is for files that are read into memory"):
        open_study(path, sa.Reading(rater_columns=["model"]), Plan(memory_limit="1GB"))
