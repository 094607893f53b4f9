"""Answers of a rater to one unit in the order of their times."""

import pandas as pd
import pytest
from cli_support import refusal, rows

import setagree as sa
from setagree.errors import DataError, OptionError
from setagree.large.opening import Plan, open_study

TABLE = pd.DataFrame(
    {
        "unit": [2, 1, 2, 1, 2, 2],
        "rater": ["ann", "ann", "ben", "ann", "ann", "ann"],
        "labels": ["late", "late", "x", "early", "middle", "early"],
        "at": ["2026-03-01", "2026-01-02 10:00", "2026-01-01", "2026-01-02T09:30", "2026-02-01",
               "2026-01-01"],
    }
)  # fmt: skip


def labels(study):
    """Return the answers by unit and rater."""
    long = study.to_long()
    return {
        (u, r): {*x} for u, r, x in zip(long["unit"], long["rater"], long["labels"], strict=True)
    }


@pytest.mark.parametrize(("policy", "answer"), [("first", "early"), ("last", "late")])
def test_times_say_which_is_first(policy, answer):
    """The first and the last answer are those by their times, whatever the order of the rows."""
    study = sa.read(TABLE, duplicates=policy, order_by="at")
    assert labels(study) == {(1, "ann"): {answer}, (2, "ann"): {answer}, (2, "ben"): {"x"}}


def test_repeats_stand_in_the_order_of_their_times():
    """Kept apart, the repeats of a unit are answers 1, 2, 3 by their times."""
    study = sa.Annotations.from_long(TABLE, labels="labels", duplicates="repeats", order_by="at")
    again = study.repeats
    found = {
        (again.units[u], again.raters[g]): {*again.values[v]}
        for u, g, v in zip(again.unit_codes, again.rater_codes, again.value_codes, strict=True)
    }
    assert found[(2, "ann"), "answer 1"] == {"early"}
    assert found[(2, "ann"), "answer 2"] == {"middle"}
    assert found[(2, "ann"), "answer 3"] == {"late"}
    assert labels(study)[2, "ann"] == {"early"}


def test_names_are_tidied_before():
    """A rater who is spelled in two ways is one, and it is said once."""
    table = TABLE.assign(rater=["ann ", *TABLE["rater"][1:]])
    with pytest.warns(sa.SetagreeWarning) as caught:
        study = sa.read(table, duplicates="first", order_by="at")
    assert len(caught) == 1
    assert labels(study)[2, "ann"] == {"early"}


def test_units_and_raters_keep_their_places():
    """Only the answers of one rater to one unit exchange rows."""
    study = sa.read(TABLE, duplicates="first", order_by="at")
    assert study.units.tolist() == [2, 1]
    assert study.raters.tolist() == ["ann", "ben"]


@pytest.mark.parametrize("times", [[9, 5, 1, 2, 7, 3], [9.5, "5", 1, "2.0", 7, 3]])
def test_numbers_are_compared_as_numbers(times):
    """Numbers, also where text spells them, are in the order of numbers: 9 before 10."""
    table = TABLE.assign(at=pd.Series(times, dtype=object))
    study = sa.read(table, duplicates="first", order_by="at")
    assert labels(study)[2, "ann"] == {"early"}
    assert labels(study)[1, "ann"] == {"early"}


@pytest.mark.parametrize("road", ["polars", "arrow", "duckdb", "csv"])
def test_every_road(road, tmp_path):
    """Tables of other libraries and files are ordered alike."""
    data = TABLE
    if road == "polars":
        data = pytest.importorskip("polars").from_pandas(TABLE)
    elif road == "arrow":
        data = pytest.importorskip("pyarrow").Table.from_pandas(TABLE)
    elif road == "duckdb":
        data = pytest.importorskip("duckdb").connect().from_df(TABLE)
    else:
        data = tmp_path / "table.csv"
        TABLE.to_csv(data, index=False)
    study = sa.read(data, duplicates="first", order_by="at")
    expected = labels(sa.read(TABLE, duplicates="first", order_by="at"))
    assert {(int(unit), who): given for (unit, who), given in labels(study).items()} == expected


def test_the_command(tmp_path, monkeypatch):
    """The command takes the same column."""
    pytest.importorskip("typer", reason="the command needs the cli extra")
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("table.csv", index=False)
    found = rows("repeats", "table.csv", "--order-by", "at")
    assert [row["n_units"] for row in found] == [2]
    assert "there is no column 'when'" in refusal("repeats", "table.csv", "--order-by", "when")


def test_what_is_refused():
    """A column that is absent, holds nothing, other dates, or both numbers and text."""
    with pytest.raises(DataError, match="there is no column 'when'"):
        sa.read(TABLE, duplicates="first", order_by="when")
    with pytest.raises(DataError, match="order_by='at': 2 rows of 6 have nothing in that column"):
        sa.read(TABLE.assign(at=[1, 2, None, 3, None, 4]), duplicates="first", order_by="at")
    for odd in (["1/2/2026"] * 6, [1, 2, 3, 4, 5, "2026-01-01"]):
        with pytest.raises(DataError, match="neither a number nor a time as in 2026-01-31"):
            sa.read(TABLE.assign(at=odd), duplicates="first", order_by="at")
    with pytest.raises(OptionError, match="order_by= makes sense only without wide="):
        sa.Reading(wide=True, order_by="at")


def test_no_engine_orders(tmp_path):
    """A file that is reduced is not ordered, and says so."""
    path = tmp_path / "table.csv"
    TABLE.to_csv(path, index=False)
    with pytest.raises(OptionError, match="order_by= is for files that are read into memory"):
        open_study(path, sa.Reading(order_by="at"), Plan(memory_limit="1GB"))
