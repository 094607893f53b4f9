"""One condition keeps the same rows of a table whatever holds it."""

import datetime as dt
import math
import os
import subprocess
import sys
import time
import warnings
from decimal import Decimal

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import setagree as sa
from setagree.errors import CostError, DataError, SetagreeWarning
from setagree.large.engines import DuckDB, Polars, wrapped
from setagree.large.filtering import kept_lazy, kept_part
from setagree.study.frames import as_pandas
from setagree.study.numbers import as_number
from setagree.study.row_filter import Where, kept_rows

nw = pytest.importorskip("narwhals", reason="the extra 'frames' is not installed")
duckdb = pytest.importorskip("duckdb", reason="the extra 'files' is not installed")
pa = pytest.importorskip("pyarrow", reason="the extra 'files' is not installed")
pq = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars", reason="Polars is not installed")

CONNECTION = duckdb.connect()
TEXTS = [
    "1e2",
    " 007",
    "7",
    "7.0",
    "100",
    "",
    "  ",
    "a",
    " a",
    "B",
    "\u00e9",
    "e\u0301",
    "True",
    "FALSE",
]
TEXTS += ["inf", "nan", "NA", "-0", "1_0", "1,5", "0x10", "9007199254740993", "9007199254740992.0"]
NUMBERS = [0, 1, 7, -1, 100, 2**53, 2**53 + 1, 2**63 - 1, -(2**63)]
FLOATS = [0.0, -0.0, 0.1, 7.0, 1e2, float("nan"), float("inf"), 2.0**53, 1e300, 0.5, 1.5]
DECIMALS = [Decimal("0.10"), Decimal("7.00"), Decimal("-1.50"), Decimal("0.50")]
TIMES = [dt.datetime(2024, 5, 1), dt.datetime(2024, 5, 1, 10, 30), dt.datetime(2023, 1, 1)]
TIMES.append(dt.datetime(2024, 5, 1, 10, 30, 0, 250_000))
# Two of these are 02:30 in Berlin.
ZONED = [dt.datetime(2024, 10, 27, hour, 30, tzinfo=dt.UTC) for hour in (0, 1, 22)]
ZONED.append(dt.datetime(2024, 5, 1, tzinfo=dt.UTC))
NANO = [1_714_559_400_123_456_000, 1_714_559_400_123_456_789, 1_714_521_600_000_000_000]

COLUMNS = {
    "text": (pa.string(), TEXTS),
    "whole": (pa.int64(), NUMBERS),
    "small": (pa.int8(), [0, 1, 7, -1, 127, -128]),
    "unsigned": (pa.uint64(), [0, 1, 7, 2**64 - 1, 2**53 + 1]),
    "float": (pa.float64(), FLOATS),
    "single": (pa.float32(), [0.0, 0.5, 7.0, 0.10000000149011612]),
    "flag": (pa.bool_(), [True, False]),
    "decimal": (pa.decimal128(10, 2), DECIMALS),
    "date": (pa.date32(), [dt.date(2024, 5, 1), dt.date(2023, 1, 1)]),
    "time": (pa.timestamp("us"), TIMES),
    "zoned": (pa.timestamp("us", "Europe/Berlin"), ZONED),
    "nano": (pa.timestamp("ns"), NANO),
    "zoned nano": (pa.timestamp("ns", "America/New_York"), NANO),
    "clock": (pa.time64("us"), [dt.time(10, 30), dt.time(10, 30, 0, 500_000), dt.time(9)]),
    "category": (pa.dictionary(pa.int32(), pa.string()), TEXTS),
}
VALUES = [
    *TEXTS,
    *map(str, NUMBERS),
    *map(repr, FLOATS),
    *map(str, DECIMALS),
    "0.10000000149011612",
]
VALUES += ["2024-05-01T10:30", "2024-05-01T10:30:00.250", "2024-05-01T00:00:00.000"]
VALUES += ["2024-10-27 01:30", "2024-10-27T02:30+02:00", "2024-10-28T00:30+0200", "10:30"]
VALUES += ["10:30:00.500", "2024-05-01 12:30:00.123456789+02", "2024-05-01 10:30:00.123456"]
VALUES += ["true", "2024-05-01", "2024-05-01 10:30:00", "1e400", "-1e400", "18446744073709551615"]
VALUES += ["0.10000000000000000001", "9007199254740993", "127.5", "-129", "256", "zz"]
VALUES = [value for value in VALUES if value.strip()]
QUOTED = [f'"{value}"' for value in VALUES]
# Numerals are not quoted after <; text with a space or a comma must be.
BARE = [
    one if as_number(value.strip()) is not None or value in {"true", "True", "FALSE"} else quoted
    for value, quoted in zip(VALUES, QUOTED, strict=True)
    for one in [value.strip()]
]


@st.composite
def questions(draw):
    """Draw a column of some type with nulls, and a condition on it."""
    kind, cells = COLUMNS[draw(st.sampled_from(sorted(COLUMNS)))]
    column = draw(st.lists(st.sampled_from([*cells, None]), min_size=1, max_size=12))
    sign = draw(st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in"]))
    if sign == "in":
        values = draw(st.lists(st.sampled_from([*QUOTED, *BARE]), min_size=1, max_size=3))
        value = f"[{', '.join(values)}]"
    else:
        value = draw(st.sampled_from([*QUOTED, *BARE] if sign in {"==", "!="} else BARE))
    others = draw(st.lists(OTHERS, min_size=len(column), max_size=len(column)))
    table = {"row": pa.array(range(len(column))), "a column": pa.array(column, kind)}
    table["n"] = pa.array(others, pa.int64())
    text = draw(st.sampled_from(["{}", "not {}", "{} and n > 0", "not (n == 1 or {})"]))
    return pa.table(table), Where.parse(text.format(f"`a column` {sign} {value}"))


LARGEST = pa.table({"row": [0], "a column": pa.array([2**64 - 1], pa.uint64()), "n": [1]})
OTHERS = st.sampled_from([None, 0, 1, 2])
JOINED = {
    "{}": lambda cell, other: cell,
    "not": lambda cell, other: NO_TO_YES[cell],
    "and": min,
    "or": lambda cell, other: NO_TO_YES[max(cell, other)],
}
NO_TO_YES = {-1: 1, 0: 0, 1: -1}


def plain_rows(table, where):
    """Return the rows that match, judged cell by cell in Python."""
    word = next((word for word in ("or", "and", "not") if f"{word} " in where.text), "{}")
    verdicts = {each.column: each.verdict for each in where.conditions}
    columns = table.to_pydict()
    judged = {
        name: [verdicts.get(name, lambda _: 0)(cell) for cell in columns[name]]
        for name in ("a column", "n")
    }
    pairs = zip(judged["a column"], judged["n"], strict=True)
    return [row for row, pair in enumerate(pairs) if JOINED[word](*pair) == 1]


def rows_of(function, *args):
    """Return the rows that are kept and what was told, or none where that is refused."""
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            kept = function(*args)
    except DataError as error:
        return [], str(error)
    kept = kept.collect() if isinstance(kept, nw.LazyFrame) else kept
    return sorted(kept["row"].to_list()), [str(one.message) for one in told]


ORDER = """
import polars as pl, setagree as sa
rows = [
    (f"u{i}", rater, "ab"[(i + j) % 3 == 0], f"doc{i}", f"2024-03-{i * j % 28 + 1:02}")
    for i in range(4000)
    for j, rater in enumerate("xyxy")
]
table = pl.DataFrame(rows, schema=["unit", "rater", "labels", "doc", "day"], orient="row")
options = {"where": "day != 2024-03-02", "duplicates": "first", "cluster": "doc"}
eager, *lazy = (sa.agreement(t, **options).to_frame() for t in (table, table.lazy(), table.lazy()))
assert all(eager.equals(one) for one in lazy), (eager, lazy)
"""


class TestParity:
    @example(question=(LARGEST, Where.parse(f"`a column` < {2**64 - 1}")))
    @given(question=questions())
    def test_lazy(self, question):
        """The rows and the warning of memory, in a lazy frame of Polars."""
        table, where = question
        frame = pl.from_arrow(table)
        rows, told = rows_of(kept_rows, as_pandas(table), where)
        assert rows == plain_rows(table, where)
        lazy = rows_of(kept_lazy, wrapped(frame.lazy()), Polars(), where, where.columns)
        assert lazy == (rows, told)

    @pytest.mark.slow
    def test_order_of_rows(self):
        """Repeats of a lazy table that is read into memory are taken in the order of its rows."""
        # Joins of Polars disorder rows if it has several threads, and the tests run with one.
        threads = {**os.environ, "POLARS_MAX_THREADS": "4"}
        subprocess.run([sys.executable, "-W", "ignore", "-c", ORDER], env=threads, check=True)

    @pytest.mark.slow
    @given(question=questions())
    def test_every_holder(self, question):
        table, where = question
        wanted = plain_rows(table, where)
        eager = [
            table.to_pandas(integer_object_nulls=True),
            table.to_pandas(types_mapper=pd.ArrowDtype),
            pl.from_arrow(table),
        ]
        cells = {name: pd.Series(cells, dtype=object) for name, cells in table.to_pydict().items()}
        eager.append(pd.DataFrame(cells))
        found = [rows_of(kept_rows, as_pandas(one), where) for one in eager]
        relation = wrapped(CONNECTION.from_arrow(table))
        found.append(rows_of(kept_lazy, relation, DuckDB(CONNECTION), where, where.columns))
        part, _ = kept_part(eager[0], where, where.columns, {"row": "row"})
        assert part["row"].tolist() == wanted
        assert [rows for rows, _ in found] == [wanted] * 5
        assert all(told == found[0][1] for _, told in found)


def test_too_many_distinct_cells(monkeypatch):
    monkeypatch.setattr("setagree.checks.MOST_BYTES", 500)
    table = pa.table({"unit": [*"uvw"], "rater": [*"aaa"], "labels": [*"xyz"]})
    with pytest.raises(CostError, match="on 3 distinct cells of column 'unit' would take"):
        sa.tally(CONNECTION.from_arrow(table), where="unit == u")


def test_collation():
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t (unit TEXT, rater TEXT, labels TEXT, r TEXT COLLATE NOCASE)"
        )
        rows = [(u, w, "a", r) for u, r in (("1", "x"), ("2", "X")) for w in "ab"]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
        with pytest.warns(SetagreeWarning, match="drops 2 of 4 rows"):
            assert sa.tally(connection.table("t"), where="r == x").n_units == 1


@pytest.mark.parametrize(("where", "n_units"), [("x <= 7", 2), ("x > 7", 1), ("x >= 7", 2)])
def test_the_next_float_is_another(where, n_units):
    """A number that a float holds exactly is not equal to the float above it."""
    cells = [row for x in (6.0, 7.0, math.nextafter(7.0, 8.0)) for row in (x, x)]
    units = [f"u{k // 2}" for k in range(6)]
    table = pa.table({"unit": units, "rater": [*"ab"] * 3, "labels": [*"xyxxyy"], "x": cells})
    for data in (pl.from_arrow(table).lazy(), CONNECTION.from_arrow(table)):
        with pytest.warns(SetagreeWarning, match="drops"):
            assert sa.tally(data, where=where).n_units == n_units


TIMES_OF_UNITS = [dt.datetime(2024, 5, 1, hour, tzinfo=dt.UTC) for hour in (9, 11, 21, 23)]
KEPT_BEFORE = {
    "t < '2024-05-01 23:00'": 3,
    "t < '2024-05-01 23:00+02:00'": 2,
    "t < 2024-05-01T21:00Z": 2,
    "t == '2024-05-01 23:00+0200'": 1,
    "t >= '2024-05-02 06:00+09'": 2,
    "t >= 2024-05-02": None,
}


def timed(unit):
    """Return a study of four units, whose times have a zone."""
    times = [time for time in TIMES_OF_UNITS for _ in "ab"]
    units = [f"u{row // 2}" for row in range(8)]
    columns = {"unit": units, "rater": ["a", "b"] * 4, "labels": ["x", "x", "x", "y"] * 2}
    return pa.table({**columns, "t": pa.array(times, pa.timestamp(unit, "Europe/Berlin"))})


def in_files(table, folder):
    """Yield files of a table, those of text with offsets that differ."""
    pq.write_table(table, folder / "t.parquet")
    frame = table.to_pandas()
    frame["t"] = [
        time.tz_convert(zone).isoformat()
        for time, zone in zip(frame["t"], ["UTC", "Asia/Tokyo"] * 4, strict=True)
    ]
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_json(folder / "t.jsonl", orient="records", lines=True)
    for ending in ("parquet", "csv", "jsonl"):
        yield str(folder / f"t.{ending}")


@pytest.fixture
def local(monkeypatch):
    """Let the computer stand in New York, west of the zones of the times; give the zone."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        yield "America/New_York"
    time.tzset()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="this system has no time.tzset")
@pytest.mark.filterwarnings("ignore::setagree.errors.SetagreeWarning")
class TestZones:
    def check(self, data, conditions=KEPT_BEFORE, **limit):
        """Check how many units every condition keeps, and what is said where it keeps none."""
        for condition in conditions:
            n_units = KEPT_BEFORE[condition]
            if n_units is not None:
                assert sa.tally(data, where=condition, **limit).n_units == n_units
                continue
            with pytest.raises(DataError, match=r"none of 8 rows; column 't' holds '2024-05"):
                sa.tally(data, where=condition, **limit)

    @pytest.mark.slow
    @pytest.mark.parametrize("unit", ["us", "ns"])
    def test_frames(self, local, unit):
        table = timed(unit)
        frame = pl.from_arrow(table)
        arrow = table.to_pandas(types_mapper=pd.ArrowDtype)
        for data in (table, table.to_pandas(), arrow, frame)[:: 3 if unit == "ns" else 1]:
            self.check(data)
        self.check(frame.lazy())
        with duckdb.connect() as connection:
            connection.execute(f"SET TimeZone = '{local}'")
            self.check(connection.from_arrow(table))
            setting = connection.sql("SELECT current_setting('TimeZone')").fetchall()
            assert setting == [(local,)]

    @pytest.mark.slow
    def test_nanoseconds(self):
        """Times that differ by nanoseconds are two in lazy frames of Polars, too."""
        table = timed("us").set_column(3, "t", pa.array(NANO[:2] * 4, pa.timestamp("ns")))
        frame = pl.from_arrow(table)
        for data in (table, frame, frame.lazy(), CONNECTION.from_arrow(table)):
            assert sa.tally(data, where="t > 2024-05-01T10:30:00.123456").n_ratings == 4

    @pytest.mark.slow
    def test_files(self, local, tmp_path):
        assert time.tzname != ("UTC", "UTC"), local
        for path in in_files(timed("us"), tmp_path):
            # Text is compared by the code that reads a file into memory, which gets all conditions;
            # a Parquet file is a table of Arrow there.
            if not path.endswith("parquet"):
                self.check(path)
            self.check(path, [*KEPT_BEFORE][:2] + [*KEPT_BEFORE][-1:], memory_limit="500MB")

    @pytest.mark.slow
    def test_dask(self, local):
        dd = pytest.importorskip("dask.dataframe", reason="the extra 'dask' is not installed")
        assert time.tzname != ("UTC", "UTC"), local
        frame = dd.from_pandas(timed("us").to_pandas(), npartitions=3, sort=False)
        for condition, n_units in KEPT_BEFORE.items():
            if n_units is not None:
                assert sa.tally(frame, where=condition).n_units == n_units
        said = (
            "where='t >= 2024-05-02' keeps none of 8 rows; column 't' holds '2024-05-01 09:00:00', "
            "'2024-05-01 11:00:00', '2024-05-01 21:00:00', '2024-05-01 23:00:00'."
        )
        with pytest.raises(DataError) as caught:
            sa.tally(frame, where="t >= 2024-05-02")
        assert str(caught.value) == said


@pytest.mark.parametrize("options", [{}, {"wide": True}, {"wide": True, "raters": ["ann", "bob"]}])
@pytest.mark.filterwarnings("ignore")
def test_a_tested_column_may_be_the_unit_of_a_wide_table(options):
    table = pd.DataFrame({"doc": ["d1", "d2", "d3"], "ann": list("xyx"), "bob": list("xxy")})
    study = sa.read(table, where="doc != d2", **options)
    assert study.units.tolist() == ["d1", "d3"]
    assert study.raters.tolist() == ["ann", "bob"]
