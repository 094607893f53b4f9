"""Answers of a rater to one unit in the order of their times."""

import re
import warnings
from datetime import timedelta

import pandas as pd
import pytest
from cli_support import refusal, rows

import setagree as sa
from setagree.errors import DataError, OptionError
from setagree.large.opening import open_study
from setagree.study.preparation import read_times
from setagree.study.reading import Plan

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
    long = study.to_long()
    return {
        (u, r): {*x} for u, r, x in zip(long["unit"], long["rater"], long["labels"], strict=True)
    }


@pytest.mark.parametrize(("policy", "answer"), [("first", "early"), ("last", "late")])
def test_times_say_which_is_first(policy, answer):
    study = sa.read(TABLE, duplicates=policy, order_by="at")
    assert labels(study) == {(1, "ann"): {answer}, (2, "ann"): {answer}, (2, "ben"): {"x"}}


def test_repeats_stand_in_the_order_of_their_times():
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
    table = TABLE.assign(rater=["ann ", *TABLE["rater"][1:]])
    with pytest.warns(sa.SetagreeWarning) as caught:
        study = sa.read(table, duplicates="first", order_by="at")
    assert len(caught) == 1
    assert labels(study)[2, "ann"] == {"early"}


def test_units_and_raters_keep_their_places():
    study = sa.read(TABLE, duplicates="first", order_by="at")
    assert study.units.tolist() == [2, 1]
    assert study.raters.tolist() == ["ann", "ben"]


@pytest.mark.parametrize("times", [[9, 5, 1, 2, 7, 3], [9.5, "5", 1, "2.0", 7, 3]])
def test_numbers_are_compared_as_numbers(times):
    table = TABLE.assign(at=pd.Series(times, dtype=object))
    study = sa.read(table, duplicates="first", order_by="at")
    assert labels(study)[2, "ann"] == {"early"}
    assert labels(study)[1, "ann"] == {"early"}


@pytest.mark.parametrize("road", ["polars", "arrow", "duckdb", "csv"])
def test_every_road(road, tmp_path):
    data = TABLE
    if road == "polars":
        data = pytest.importorskip("polars").from_pandas(TABLE)
    elif road == "arrow":
        data = pytest.importorskip("pyarrow").Table.from_pandas(TABLE)
    elif road == "duckdb":
        data = pytest.importorskip("duckdb").from_df(TABLE)
    else:
        data = tmp_path / "table.csv"
        TABLE.to_csv(data, index=False)
    study = sa.read(data, duplicates="first", order_by="at")
    expected = labels(sa.read(TABLE, duplicates="first", order_by="at"))
    assert {(int(unit), who): given for (unit, who), given in labels(study).items()} == expected


ASCENDING = [
    ["-2", "-1", "0"],
    ["1.25", "1.5", "9", "10.0"],
    ["9e1", "1e2"],
    ["9007199254740992", "9007199254740993"],
    ["2025-12-31", "2026-01-01T09:30", "2026-01-01 10:00"],
    ["2026-01-01T10:00+02:00", "2026-01-01T09:00Z"],
    ["2025-11", "2025-12", "2026-01"],
    ["13.01.2026", "14.01.2026", "13.02.2026"],
    ["31 Jan 2026", "5 Feb 2026", "March 1, 2026"],
]
NAMES = [
    ["batch 2", "batch 9", "batch 10"],
    ["week -2", "week -1", "week 0"],
    ["2025-Q4", "2026-Q1"],
    ["v1.9", "v1.10"],
    ["-3 days", "-2 days", "-1 days"],
    ["−10 days", "−9 days", "0 days"],
    ["0.25 mm", "0.5 mm", "0.75 mm"],
    ["0,25 mm", "0,5 mm", "1 mm"],
    ["dose 0.25", "dose 0.5"],
    ["build 1.2.9", "build 1.2.10"],
    ["version 1.9", "version 1.10", "version 2.0"],
    ["batch 1.1", "batch 1.2"],
]
UNCLEAR = [
    ["2024.1", "2024.10"],
    ["2024.9", "2024.10"],
    ["batch 1.9", "batch 1.10"],
    ["batch 1.25", "batch 1.5"],
    ["1.9 mm", "1.10 mm"],
]
UNORDERED = [
    ["05.01.24", "06.01.24"],
    ["01.02.2026", "31.01.2026"],
    ["12:00 AM", "1:00 AM"],
    ["10:30", "9:30"],
    ["January", "February"],
    ["Mon", "Tue"],
    ["Q1 2026", "Q2 2025"],
    ["²", "1"],
    ["pilot", "1"],
    ["1", "2026-01-01"],
    ["2026-01-01T10:00+02:00", "2026-01-01T09:00"],
    ["True", "False"],
    ["15.01 run", "14.02 run"],
    ["run 05.01.24", "run 04.02.24"],
    ["batch 1.25", "batch 2.5"],
]


def batches(times, path):
    """Write 40 units for each time, the last time first, rated by two; return the path."""
    rows = [
        (f"u{40 * k + n}", who, "ab"[(n + (who == "ben") * (n % 5 == 0)) % 2], times[k])
        for k in reversed(range(len(times)))
        for n in range(40)
        for who in ("ann", "ben")
    ]
    frame = pd.DataFrame(rows, columns=["unit", "rater", "labels", "at"])
    frame.to_csv(path, index=False)
    return str(path)


def answers_at(times, path):
    """Write an answer of one rater at each time, the last first; return the path."""
    rows = [("u1", "ann", f"l{k}", times[k]) for k in reversed(range(len(times)))]
    rows += [(f"u{k}", "ben", "l0", times[0]) for k in range(9)]
    pd.DataFrame(rows, columns=["unit", "rater", "labels", "at"]).to_csv(path, index=False)
    return str(path)


@pytest.mark.parametrize("times", [*ASCENDING, *NAMES])
def test_one_order_for_every_function(times, tmp_path):
    path = batches(times, tmp_path / "batches.csv")
    assert sa.monitor(path, "at", threshold=0.667).frame["batch"].astype(str).tolist() == times
    repeats = answers_at(times, tmp_path / "repeats.csv")
    for policy, label in (("first", "l0"), ("last", f"l{len(times) - 1}")):
        study = sa.read(repeats, duplicates=policy, order_by="at")
        assert labels(study)["u1", "ann"] == {label}
    if times in NAMES:
        with pytest.raises(DataError, match=r"time='at': .* cannot be put in order"):
            sa.over_time(path, "at", window=1)


@pytest.mark.parametrize("times", ASCENDING[:3])
def test_windows_over_numbers_in_a_file(times, tmp_path):
    path = batches(times, tmp_path / "batches.csv")
    found = sa.over_time(path, "at", window=2)
    table = pd.read_csv(path)
    pd.testing.assert_frame_equal(found, sa.over_time(table, "at", window=2), check_dtype=False)
    assert found["start"].iloc[0] == float(times[0])
    assert found["n_units"].sum() == 40 * len(times)


@pytest.mark.parametrize("times", UNORDERED)
def test_what_has_no_known_order_is_refused(times, tmp_path, monkeypatch):
    path = batches(times, tmp_path / "batches.csv")
    said = ".* cannot be put in order.* Use numbers"
    with pytest.raises(DataError, match=f"^batch='at': {said}"):
        sa.monitor(path, "at", threshold=0.667)
    with pytest.raises(DataError, match=f"^order_by='at': {said}"):
        sa.read(path, duplicates="first", order_by="at")
    with pytest.raises(DataError, match=f"^time='at': {said}"):
        sa.over_time(path, "at", window=1)
    pytest.importorskip("typer", reason="the command needs the cli extra")
    monkeypatch.chdir(tmp_path)
    for option, words in (
        ("--batch", ("monitor", "batches.csv", "--batch", "at", "--threshold", "0.667")),
        ("--order-by", ("repeats", "batches.csv", "--order-by", "at")),
        ("--time", ("diagnose", "batches.csv", "--time", "at", "--window", "1")),
    ):
        assert f"{option} 'at': " in refusal(*words)


@pytest.mark.parametrize("times", UNCLEAR)
def test_numbers_that_may_be_decimals_or_versions_are_refused(times, tmp_path):
    path = batches(times, tmp_path / "batches.csv")
    said = "cannot be put in order, because .* as a decimal, but not as a version"
    with pytest.raises(DataError, match=f"^batch='at': .*{said}"):
        sa.monitor(path, "at", threshold=0.667)
    with pytest.raises(DataError, match=f"^order_by='at': .*{said}"):
        sa.read(path, duplicates="last", order_by="at")
    table = pd.read_csv(path, dtype=str)
    table["at"] = pd.Categorical(table["at"], categories=times, ordered=True)
    assert sa.monitor(table, "at", threshold=0.667).frame["batch"].tolist() == times


@pytest.mark.parametrize(
    "times", [["1", "1.0"], ["10", "1e1"], ["batch 1", "batch 01"], ["0.5 mm", "0,5 mm"]]
)
def test_equal_numbers_are_one_time_with_a_warning(times, tmp_path):
    path = batches(times, tmp_path / "batches.csv")
    message = (
        f"batch='at': '{times[1]}' (40 cells) and '{times[0]}' (40 cells) are equal as numbers"
    )
    with pytest.warns(sa.SetagreeWarning, match=re.escape(message)):
        found = sa.monitor(path, "at", threshold=0.667)
    assert found.frame["n_units"].tolist() == [80]


def test_one_batch_needs_no_order(tmp_path):
    path = batches(["²"], tmp_path / "batches.csv")
    assert sa.monitor(path, "at", threshold=0.667).frame["batch"].tolist() == ["²"]


def test_an_ordered_categorical_is_in_its_own_order():
    days = pd.Categorical(["Wed", "Mon", "Tue"], categories=["Mon", "Tue", "Wed"], ordered=True)
    table = pd.DataFrame({"unit": 1, "rater": "ann", "labels": ["c", "a", "b"], "day": days})
    table = pd.concat([table, table.assign(rater="ben")])
    with pytest.warns(sa.SetagreeWarning, match="4 of 6 ratings dropped"):
        study = sa.read(table, duplicates="first", order_by="day")
    assert labels(study) == {(1, "ann"): {"a"}, (1, "ben"): {"a"}}


def test_the_command(tmp_path, monkeypatch):
    pytest.importorskip("typer", reason="the command needs the cli extra")
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("table.csv", index=False)
    found = rows("repeats", "table.csv", "--order-by", "at")
    assert [row["n_units"] for row in found] == [2]
    assert "there is no column 'when'" in refusal("repeats", "table.csv", "--order-by", "when")


def test_what_is_refused():
    with pytest.raises(DataError, match="there is no column 'when'"):
        sa.read(TABLE, duplicates="first", order_by="when")
    with pytest.raises(DataError, match="order_by='at': 2 rows of 6 have nothing in that column"):
        sa.read(TABLE.assign(at=[1, 2, None, 3, None, 4]), duplicates="first", order_by="at")
    with pytest.raises(DataError, match="numbers only, or dates only"):
        sa.read(TABLE.assign(at=[1, 2, 3, 4, 5, "2026-01-01"]), duplicates="first", order_by="at")
    with pytest.raises(OptionError, match="order_by= makes sense only without wide="):
        sa.Reading(wide=True, order_by="at")


@pytest.mark.parametrize("policy", ["first", "last", "repeats", "union"])
@pytest.mark.parametrize("days", [(1, 1, 2), (2, 2, 1)])
@pytest.mark.parametrize(
    ("units", "raters", "answers"),
    [
        ([1, 1, 1], [*"aba"], [*"xxy"]),
        ([1, 1, 1], ["a", "b", "a "], [*"xxy"]),
        (["1", "1", " 1"], [*"aba"], [*"xxy"]),
        ([1, 1, 1], [*"aba"], ["x, y", "x", "y, x"]),  # equal, so the order does not matter
    ],
)
def test_repeats_in_another_order_than_their_times(units, raters, answers, days, policy):
    times = [f"2026-01-0{day}" for day in days]
    table = pd.DataFrame({"unit": units, "rater": raters, "labels": answers, "saved_at": times})
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        sa.read(table, duplicates=policy, where="saved_at > 2025-12-31")
    is_different = days[0] == 2 and policy != "union" and answers[2] == "y"
    remedies = [one.message.remedy for one in issued if one.message.remedy]
    assert remedies == [{"order_by": "saved_at"}] * is_different
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="1 (unit|rater) is spelled in two ways")
        sa.read(table, duplicates=policy, order_by="saved_at")


@pytest.mark.parametrize("times", [["2026-01-02", "2026-01-02", "2026-01-01"], [["x"]] * 3])
def test_columns_of_times_that_cannot_order(times):
    """Two columns of one name, and lists."""
    table = pd.DataFrame({"unit": 1, "rater": [*"aba"], "labels": [*"xxy"], "saved_at": times})
    for columns in ([0, 1, 2, 3], [0, 1, 2, 3, 3])[isinstance(times[0], str) :]:
        study = sa.read(table.iloc[:, columns], duplicates="last")
        assert labels(study) == {(1, "b"): {"x"}, (1, "a"): {"y"}}


def test_no_engine_orders(tmp_path):
    path = tmp_path / "table.csv"
    TABLE.to_csv(path, index=False)
    with pytest.raises(OptionError, match="order_by= is for files that are read into memory"):
        open_study(path, sa.Reading(order_by="at"), Plan(memory_limit="1GB"))


@pytest.mark.parametrize(
    ("second", "ranks", "hours"), [("11:00+02:00", [0, 1], 2), ("11:00+03:00", [0, 0], 0)]
)
def test_times_of_one_offset_keep_it(second, ranks, hours):
    """Times of several offsets are in UTC: 10:00+02:00 and 11:00+03:00 are 8 o'clock."""
    times = read_times(pd.Series(["2024-05-01T10:00+02:00", f"2024-05-01T{second}"]), "time")
    assert times.ranks.tolist() == ranks
    assert times.zone.utcoffset(None) == timedelta(hours=hours)
