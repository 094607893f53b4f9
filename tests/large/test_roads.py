"""One table on every road: the tally of memory with its warnings, or the refusal of memory."""

import json
import warnings

import pandas as pd
import pytest
from reduction_support import (
    HOSTILE,
    LISTS,
    columns,
    generated,
    ibis_table,
    patterns,
    quiet,
    relation,
    who_gave_what,
)

import setagree as sa
from setagree.files.tables import read_table
from setagree.study.codes import as_objects

pytest.importorskip("narwhals", reason="the extra 'frames' is not installed")
pa = pytest.importorskip("pyarrow", reason="the extra 'files' is not installed")
pq = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars", reason="Polars is not installed")
duckdb = pytest.importorskip("duckdb", reason="the extra 'files' is not installed")

TWELVE = {name: HOSTILE[name] for name in ("unit", "rater")}
WORDS = ["low", "low", "high", None, "low", "low ", "high", "high", "low", "low", "e\u0301", "é"]
PAIRS = {"unit": [1, 1, 2, 2, 3], "rater": [7, 10, 7, 10, 7]}
TAGS = {"doc": [1, 1, 2, 2], "who": [*"abab"], "tags": ["Joy; fear", "FEAR;joy", "joy", ""]}
NAMED = {"unit": "doc", "rater": "who", "labels": "tags"}
ONE_EACH = {"unit": [*"uvwx"], "rater": [*"aaaa"]}


def many(n_raters, *, again=0):
    """Return one unit with an answer of each rater, the last of whom gives more."""
    raters = [f"r{k:02}" for k in range(n_raters)]
    raters += raters[-1:] * again
    return {"unit": ["u"] * len(raters), "rater": raters, "labels": ["x"] * len(raters)}


def exchanged(n_raters):
    """Return answers to two units by as many raters, each of whom gives one."""
    places = range(n_raters)
    units, raters = [k % 2 for k in places], [f"r{k}" for k in places]
    return {"unit": units, "rater": raters, "labels": ["xy"[k % 3 == 0] for k in places]}


X = ["1.1", "1.10", "1", "01", "1e1", "10", "TRUE", "True"]
"""Texts that spell four things in two ways each."""
SPELLED = {
    "unit": [f"u{k}" for k in range(8)] * 2,
    "rater": [*"a" * 8, *"b" * 8],
    "labels": [f"l{k}" for k in range(8)] * 2,
    "x": X * 2,
}
WHERES = [
    'x in ["1.1", "01", "1e1", "TRUE"]',
    "x in [1.1, '01', 10, true]",
    'x == "1.10"',
    'x != "True"',
    "x == 1",
]

TABLES = {
    "hostile text": (HOSTILE, {"blank": "missing"}),
    "hostile text, blank is empty": (HOSTILE, {"blank": "empty"}),
    "lists": ({**TWELVE, "labels": LISTS}, {}),
    "whole numbers": (
        {**TWELVE, "score": [1, 2, 3, 1, 1, 2, 2, 3, 3, 1, 5, 4]},
        {"value": "score"},
    ),
    "large numbers": (
        {**TWELVE, "score": [1, 2, 3, None, 1, 2, 2, 3, 3, 1, None, 2**60 + 256]},
        {"value": "score"},
    ),
    "floats": (
        {**TWELVE, "score": [1.5, 2.0, 3.0, None, 1.0, 2.0, None, 3.0, 3.0, 1.0, 0.0, -0.0]},
        {"value": "score"},
    ),
    "numbers as text": (
        {**TWELVE, "score": ["1", "2", " 3", None, "1", "2", "2", "3", "3", "1.5", "", "2.0"]},
        {"value": "score"},
    ),
    "flags": ({**TWELVE, "score": [True, False, None] * 4}, {"value": "score"}),
    "words": ({**TWELVE, "score": WORDS}, {"value": "score"}),
    "numbered units": ({**HOSTILE, "unit": [k // 3 for k in range(12)], "rater": [*"abc"] * 4}, {}),
    "halves as units": (
        {**HOSTILE, "unit": [k // 3 / 2 for k in range(12)], "rater": [*"abc"] * 4},
        {},
    ),
    "numbers of raters": ({**PAIRS, "score": [1, 2, 2, 2, 3]}, {"value": "score"}),
    "options of cells": (
        TAGS,
        {**NAMED, "label_sep": ";", "case": "lower", "blank": "empty", "codebook": ["joy", "fear"]},
    ),
    "several separators": (
        {**ONE_EACH, "labels": ["a/b, c", 'c;"a/b"', "a;b", "c,b / a"]},
        {"label_sep": [",", "/", ";"]},
    ),
    "markers": (
        {**ONE_EACH, "labels": ["NA", "none", "a", "b"]},
        {"na_values": ["NA"], "empty": ["none"]},
    ),
    "nulls": ({**ONE_EACH, "labels": [None, "a", "a", "b"]}, {"blank": "empty"}),
    "nulls beside blanks": ({**ONE_EACH, "labels": [None, "", "a", "b"]}, {"blank": "empty"}),
    "likely markers": ({**ONE_EACH, "labels": ["n/a", "n/a", " ", "b"]}, {}),
    "raters that look alike": (
        {"unit": [1, 1, 1, 2, 2, 3, 3], "rater": ["Ann", "ann", "b", "ann", " b", "Ann", "ANN"]}
        | {"labels": [*"xyxxxyy"]},
        {},
    ),
    "exchanged answers": ({"unit": [1, 1, 2, 2], "rater": [*"abab"], "labels": [*"xyyx"]}, {}),
    "one unit of 41 raters": (many(41), {}),
    "generated": (columns(generated(60)), {"blank": "empty"}),
    "a condition": (
        {**HOSTILE, "round": [1, 2, 3, None] * 3},
        {"where": "round < 3 and not (rater == cy or unit == u2)", "blank": "missing"},
    ),
    "a missing repeat": ({"unit": [*"uuv"], "rater": [*"aaa"], "labels": ["x", None, "y"]}, {}),
    "nine raters of two units": (exchanged(9), {}),
    "ten raters of two units": (exchanged(10), {}),
    "floats just below 2**53": (
        {**ONE_EACH, "unit": [2.0**53 - 1, 1.0, 2.0, 3.0], "labels": [*"xyxx"]},
        {},
    ),
    **{where: (SPELLED, {"where": where}) for where in WHERES},
}
SOME = r"unit and rater annotated more than once \(unit"
REFUSED = {
    "no rows are kept": (
        {**HOSTILE, "round": [1, 2] * 6},
        {"where": "round > 2"},
        r"where='round > 2' keeps none of 12 rows; column 'round' holds '?1'?, '?2",
    ),
    "no column of the condition": (
        {**HOSTILE, "repeat": [0] * 12},
        {"where": "Repeat == 0"},
        r"no column 'Repeat'; .* Did you mean 'repeat'",
    ),
    "repeats": (
        {"unit": [*"uuuuuv"], "rater": [*"aabbba"], "labels": [*"xyxxx", None]},
        {"blank": "missing"},
        r"2 pairs of unit and rater .* \((?=.*rater 'a': 2 times)(?=.*rater 'b': 3 times)unit 'u'",
    ),
    "repeats by space": (
        {"unit": [1, 1, 2], "rater": ["ann", "ann ", "bob"], "labels": [*"xyx"]},
        {},
        rf"1 pair of {SOME} '?1'?, rater 'ann': 2 times\)",
    ),
    "repeats among 40": (many(40, again=1), {}, rf"1 pair of {SOME} 'u', rater 'r39': 2 times"),
    "repeats among 41": (many(41, again=2), {}, rf"1 pair of {SOME} 'u', rater 'r40': 3 times"),
    "no unit": (
        {**ONE_EACH, "unit": [None, " ", "w", None], "labels": [*"xyx", None]},
        {},
        "3 rows without a unit",
    ),
    "no rater": (
        {**ONE_EACH, "rater": [None, " ", "a", None], "labels": [*"xyx", None]},
        {},
        "3 rows without a rater",
    ),
    "no number": (
        {**ONE_EACH, "unit": [1.0, 2.0, None, 3.0], "labels": [*"xyxx"]},
        {},
        "1 row without a unit",
    ),
    "all missing": (
        {**ONE_EACH, "labels": ["", None, "", None]},
        {"blank": "missing"},
        "all 4 cells are missing",
    ),
    "blank is an error": (
        {**ONE_EACH, "labels": ["a", "", "b", "a"]},
        {"blank": "error"},
        "Unit 'v', rater 'a': '' is blank",
    ),
    "null is an error": (
        {**ONE_EACH, "labels": ["a", None, "b", "a"]},
        {"blank": "error"},
        "Unit 'v', rater 'a': (the cell is null|'' is blank)",
    ),
    "an open quote": (
        {**ONE_EACH, "labels": ['x"', "y", 'x"', "y"]},
        {},
        r"Unit '[uw]', rater 'a': .*unbalanced quote.*1 more row fails",
    ),
    "unknown labels": (
        {**ONE_EACH, "labels": [*"xyzz"]},
        {"codebook": ["x"]},
        r"2 labels are not in the codebook: 'z' \(2 answers\), 'y' \(1 answer\)",
    ),
    "no column": (HOSTILE, {"labels": "tags"}, "There is no column 'tags'"),
}
OF_TYPES = {
    "numbers as labels": ({**ONE_EACH, "labels": [1, 2, 3, 1]}, {}, "not labels.* use value="),
    "lists in a condition": (
        {**HOSTILE, "tags": [["a"]] * 12},
        {"where": "tags == a"},
        "column 'tags' holds",
    ),
    "rounded units": (
        {**ONE_EACH, "unit": [2.0**53, 1.0, 2.0, 3.0], "labels": [*"xyxx"]},
        {},
        r"units are floats of 2\*\*53 and more",
    ),
    "rounded raters": (
        {**ONE_EACH, "rater": [1.0, 2.0, 3.0, -(2.0**53)], "labels": [*"xyxx"]},
        {},
        r"raters are floats of 2\*\*53 and more",
    ),
}
"""Refused where cells have types, which text and JSON have not, or not all."""


def frame_of(data):
    """Return a table in which whole numbers beside a gap stay whole."""
    frame = pd.DataFrame(
        {n: pd.Series(as_objects(cells), dtype=object) for n, cells in data.items()}
    )
    gaps = [name for name in frame if frame[name].isna().any()]
    return frame.drop(columns=gaps).infer_objects().join(frame[gaps])[[*data]]


def partitions(data, _):
    """Return a frame of Dask whose partitions share units."""
    dd = pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
    return dd.from_pandas(frame_of(data), npartitions=2, sort=False)


def parquet(data, folder):
    pq.write_table(pa.table(data), folder / "a.parquet")
    return folder / "a.parquet"


def text(data, folder):
    frame_of(data).to_csv(folder / "a.csv", index=False)
    return folder / "a.csv"


def lines(data, folder):
    rows = [dict(zip(data, cells, strict=True)) for cells in zip(*data.values(), strict=True)]
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder / "a.jsonl"


ENGINES = {"polars": lambda data, _: pl.LazyFrame(data, strict=False), "dask": partitions}
DATABASES = {
    "duckdb": lambda data, _: relation(data),
    "ibis": lambda data, _: ibis_table(data),
    "parquet": parquet,
    "csv": text,
    "lines": lines,
}
UNSEEN = ("spelled in two ways", "Raters that look alike", "Units that look alike")
"""Warnings on names, which are not fetched from an engine."""
SHARES = {"csv": (4, 0), "lines": (4, 2), "parquet": (4, 1), "ibis": (4, 3)}
FAST = {"hostile text", "lists", "a condition", "x == 1", "repeats", "repeats among 41", "no unit"}


def outcome(source, **options):
    """Return all that a tally says, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", sa.SetagreeWarning)
        tally = sa.tally(source, keep_raters=True, **options)
    said = [str(x.message) for x in caught if issubclass(x.category, sa.SetagreeWarning)]
    said = {one for one in said if not any(words in one for words in UNSEEN)}
    counts = (tally.kind, tally.n_raters, tally.n_missing, tally.n_units, tally.order)
    return counts, said, patterns(tally), who_gave_what(tally)


def cases(tables, roads):
    """Give each table on each road: those that take a tenth of a second or more are slow.

    DuckDB, which has all of them, reads files and answers Ibis: each of these has every fourth.
    """
    for road in roads:
        n, first = SHARES.get(road, (1, 0))
        fast = {"lists"} if road == "ibis" else FAST
        for place, name in enumerate(tables):
            if place % n != first and name not in fast:
                continue
            is_fast = road in ENGINES or name in fast
            yield pytest.param(road, name, marks=() if is_fast else pytest.mark.slow)


# Dask's own use of pandas, as of pandas 3.
pytestmark = pytest.mark.filterwarnings("ignore:The (inplace|copy) keyword")
ROADS = {**ENGINES, **DATABASES}
FILES = {"parquet", "csv", "lines"}
LIMIT = {"memory_limit": "500MB"}
TYPED = [*ENGINES, "duckdb", "ibis", "parquet"]


@pytest.mark.parametrize(("road", "name"), [*cases(TABLES, ROADS)])
def test_as_in_memory(road, name, tmp_path):
    data, options = TABLES[name]
    source = ROADS[road](data, tmp_path)
    if road in FILES:
        assert outcome(source, **LIMIT, **options) == outcome(read_table(source), **options)
    else:
        assert outcome(source, **options) == outcome(frame_of(data), **options)


@pytest.mark.parametrize(("road", "name"), [*cases(REFUSED, ROADS), *cases(OF_TYPES, TYPED)])
def test_refused_as_in_memory(road, name, tmp_path):
    data, options, words = {**REFUSED, **OF_TYPES}[name]
    source = ROADS[road](data, tmp_path)
    in_memory = read_table(source) if road in FILES else frame_of(data)
    with pytest.raises(sa.SetagreeError) as expected:
        quiet(sa.tally, in_memory, **options)
    limit = LIMIT if road in FILES else {}
    with pytest.raises(type(expected.value), match=words):
        quiet(sa.tally, source, keep_raters=True, **limit, **options)
