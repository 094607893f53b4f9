"""Whole numbers keep all their digits on the way from files and frames to a study."""

import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError, FileError, SimilarLabelsWarning
from setagree.files.tables import read_table

BIG = 2**53
"""The last whole number up to which floats tell all apart: BIG + 1 as a float is BIG."""


def save(folder, name, content):
    """Write JSON, or text as it is, and return the path."""
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def rows(units):
    """Return records in which two raters answer each unit."""
    return [{"unit": unit, "rater": rater, "labels": ["a"]} for unit in units for rater in "xy"]


def test_wide_columns_of_two_types():
    ann = pd.Series([BIG, BIG + 1], dtype="int64")
    bob = pd.Series([BIG + 1, BIG], dtype="uint64")
    for other in (bob, [0.5, np.nan]):
        frame = pd.DataFrame({"unit": ["p", "q"], "ann": ann, "bob": other})
        with pytest.raises(DataError, match="9007199254740993 has more digits than double"):
            sa.Annotations.from_wide(frame, unit="unit", kind="value")


def test_small_numbers_stay_a_column_of_numbers():
    from setagree.study.frames import stacked

    joined = stacked([pd.Series([1, 2]), pd.Series([0.5])])
    assert joined.dtype == float
    assert joined.tolist() == [1, 2, 0.5]
    large = stacked([pd.Series([2.0**60]), pd.Series([0.5])])
    assert large.dtype == float


def test_a_pattern_of_json(tmp_path):
    signed, unsigned = [BIG + 1, BIG + 3], [BIG, 2**64 - 1]
    save(tmp_path, "k-1.json", rows(signed))
    save(tmp_path, "k-2.json", rows(unsigned))
    study = sa.Annotations.from_long(read_table(tmp_path / "k-*.json"))
    assert set(study.units) == {*signed, *unsigned}


def test_json_with_one_float(tmp_path):
    path = save(tmp_path, "mixed.json", rows([BIG, BIG + 1, 0.5]))
    assert set(sa.Annotations.from_long(read_table(path)).units) == {BIG, BIG + 1, 0.5}
    small = save(tmp_path, "small.json", rows([1, 0.5]))
    assert read_table(small)["unit"].dtype == float


@pytest.mark.parametrize("zone", [None, "Asia/Tokyo"])
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_nanoseconds(zone, library):
    """Times a nanosecond apart are two units, with or without a time zone."""
    pl = pytest.importorskip("polars")
    pytest.importorskip("narwhals")
    times = pl.Series([1, 1, 2, 2]).cast(pl.Datetime("ns", zone))
    frame = pl.DataFrame({"unit": times, "rater": [*"abab"], "labels": [["x"], ["y"]] * 2})
    study = sa.Annotations.from_long(frame if library == "polars" else frame.to_arrow())
    assert [pd.Timestamp(unit).nanosecond for unit in study.units] == [1, 2]
    assert {pd.Timestamp(unit).tz is None for unit in study.units} == {zone is None}


def test_json_columns_by_their_keys(tmp_path):
    columns = {
        "unit": {"0": "u1", "1": "u1", "2": "u2", "3": "u2"},
        "rater": {"0": "a", "1": "b", "2": "a", "3": "b"},
        "labels": {"3": "z", "2": "z", "1": "y", "0": "y"},
    }
    found = read_table(save(tmp_path, "columns.json", columns))
    assert found["labels"].tolist() == ["y", "y", "z", "z"]


@pytest.mark.parametrize("numbers", [[1, 2], [1, None]])
def test_text_and_numbers_in_one_pattern(tmp_path, numbers):
    save(tmp_path, "g-1.csv", "unit,rater,labels\n1,a,x\n2,a,y\n")
    save(tmp_path, "g-2.json", [{"unit": u, "rater": "b", "labels": "x"} for u in numbers])
    with pytest.raises(FileError, match=r"column 'unit' is text in .*g-1.* and numbers in .*g-2"):
        read_table(tmp_path / "g-*")


def test_text_of_two_kinds_of_file(tmp_path):
    pytest.importorskip("pyarrow")
    save(tmp_path, "g-1.csv", "unit,rater,labels\nu1,a,x\n")
    cells = {"unit": ["u1"], "rater": ["b"], "labels": ["x"]}
    pd.DataFrame(cells).to_parquet(tmp_path / "g-2.parquet")
    save(tmp_path, "g-3.json", [{"unit": "u1", "rater": "c", "labels": ["x"]}])
    found = read_table(tmp_path / "g-*")
    assert found["labels"].tolist() == ["x", "x", ["x"]]
    assert found["rater"].tolist() == ["a", "b", "c"]
    flags = pd.DataFrame({**cells, "sure": pd.Categorical(["yes"])})
    flags.to_parquet(tmp_path / "h-1.parquet")
    flags.to_parquet(tmp_path / "h-2.parquet")
    assert len(read_table(tmp_path / "h-*")) == 2


@pytest.mark.parametrize("role", ["unit", "rater"])
def test_a_number_and_its_text(tmp_path, role):
    odd = [{"unit": "u", "rater": "a", "labels": ["x"], role: name} for name in (1, "1", "other")]
    path = save(tmp_path, "ids.json", odd)
    with pytest.warns(SimilarLabelsWarning, match=r"look alike are kept apart: 1 and '1'\. If"):
        study = sa.Annotations.from_long(read_table(path))
    assert (study.n_units, study.n_raters)[role == "rater"] == 3


def test_nothing_in_every_spelling():
    zeros = [0, 0.0, -0.0, Decimal(0), Decimal("-0.00"), Decimal("0E+5"), "0", "-0.0", Fraction(0)]
    rows = [(f"r{k}", "u", one) for k, one in enumerate(zeros)]
    assert sa.Annotations.from_triples(rows, kind="value").values == (0,)
    with pytest.raises(sa.SetagreeError, match="is not a finite number"):
        sa.Annotations.from_triples([("a", 1, Decimal("-Infinity")), ("b", 1, 0)], kind="value")
