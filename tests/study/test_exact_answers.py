"""Numbers as answers: equal ones are one; those with more digits than a double are refused."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from cli_support import invoke
from reduction_support import patterns, quiet

import setagree as sa
from setagree.errors import DataError, DistanceError, SimilarLabelsWarning
from setagree.files.tables import read_table
from setagree.study.identifiers import value_numbers
from setagree.study.numbers import as_number, exact, number_of_json, usual_spelling

pa = pytest.importorskip("pyarrow", reason="the extra 'files' is not installed")
pq = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars", reason="Polars is not installed")
duckdb = pytest.importorskip("duckdb", reason="the extra 'files' is not installed")
pytest.importorskip("narwhals", reason="the extra 'frames' is not installed")

WHOLE = [90071992547409931, 90071992547409932, 90071992547409933, 90071992547409934]
"""Four numbers of which floats make one."""

IDS = {"unit": [1, 1, 2, 2], "rater": [*"abab"]}
LIMIT = {"memory_limit": "500MB"}


def decimals(kind):
    return pa.array([Decimal(n) for n in WHOLE]).cast(kind)


def table_of(cells):
    """Return an Arrow table of two raters who rated two units."""
    return pa.table({**IDS, "value": cells})


def tally_of(study):
    return patterns(study if isinstance(study, sa.Tally) else sa.Tally.from_annotations(study))


def in_memory(frame):
    return sa.Annotations.from_long(frame, value="value")


REFUSED = r"has more digits than double precision holds.* use kind='category'; else round"


FRAMES = {
    "objects": lambda: pd.DataFrame({**IDS, "value": pd.Series(map(Decimal, WHOLE), dtype=object)}),
    "fractions": lambda: pd.DataFrame(
        {**IDS, "value": pd.Series(map(Fraction, WHOLE), dtype=object)}
    ),
    "int64": lambda: pd.DataFrame({**IDS, "value": WHOLE}),
    "uint64": lambda: pd.DataFrame({**IDS, "value": np.array(WHOLE, dtype=np.uint64)}),
    "text": lambda: pd.DataFrame({**IDS, "value": [f"{n}.0" for n in WHOLE]}),
    "power": lambda: pd.DataFrame({**IDS, "value": [f"{n}e-3" for n in WHOLE]}),
    "pandas arrow": lambda: pd.DataFrame(
        {**IDS, "value": pd.arrays.ArrowExtensionArray(decimals(pa.decimal128(20, 0)))}
    ),
    "arrow 128": lambda: table_of(decimals(pa.decimal128(20, 0))),
    "arrow 256": lambda: table_of(decimals(pa.decimal256(60, 2))),
    "polars": lambda: pl.from_arrow(table_of(decimals(pa.decimal128(20, 0)))),
    "polars 128": lambda: pl.DataFrame({**IDS, "value": pl.Series(WHOLE, dtype=pl.Int128)}),
    "categories": lambda: pd.DataFrame({**IDS, "value": pd.Categorical(map(Decimal, WHOLE))}),
}


def test_categories_beyond_double_precision_are_text():
    frame = FRAMES["objects"]()
    study = sa.Annotations.from_long(frame, value="value", kind="category")
    assert {*study.values} == {*map(str, WHOLE)}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_frames(make):
    with pytest.raises(DataError, match=f"^Unit 1, rater 'a': .*{REFUSED}"):
        in_memory(make())


LAZY = {
    "DECIMAL(20, 0)": lambda: duckdb.sql("SELECT 1 u").query("r", relation_of("DECIMAL(20, 0)")),
    "DECIMAL(38, 4)": lambda: duckdb.sql("SELECT 1 u").query("r", relation_of("DECIMAL(38, 4)")),
    "HUGEINT": lambda: duckdb.sql("SELECT 1 u").query("r", relation_of("HUGEINT")),
    "UHUGEINT": lambda: duckdb.sql("SELECT 1 u").query("r", relation_of("UHUGEINT")),
    "Polars Decimal": lambda: FRAMES["polars"]().lazy(),
    "Polars Int128": lambda: FRAMES["polars 128"]().lazy(),
}


def relation_of(kind):
    listed = zip(IDS["unit"], IDS["rater"], WHOLE, strict=True)
    cells = ", ".join(f"({unit}, '{rater}', {value}::{kind})" for unit, rater, value in listed)
    return f"SELECT * FROM (VALUES {cells}) AS t(unit, rater, value)"  # noqa: S608 - of this file


@pytest.mark.parametrize("make", LAZY.values(), ids=LAZY)
def test_engines(make):
    for read in (in_memory, lambda data: sa.tally(data, value="value")):
        with pytest.raises(DataError, match=REFUSED):
            read(make())


def test_doubles_of_engines():
    rows = f"(1, 'a', {2**120}::HUGEINT), (1, 'b', {2**53}), (2, 'a', 3), (2, 'b', NULL)"
    query = f"SELECT * FROM (VALUES {rows}) AS t(unit, rater, value)"  # noqa: S608 - of this file
    study = in_memory(duckdb.sql(query))
    assert set(study.values) == {2**120, 2**53, 3}
    assert study.n_missing == 1
    assert tally_of(sa.tally(duckdb.sql(query), value="value")) == tally_of(study)


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pa.decimal128(20, 0), pa.decimal128(38, 10), pa.decimal256(30, 5)]
)
def test_parquet(tmp_path, kind):
    path = tmp_path / "study.parquet"
    pq.write_table(table_of(decimals(kind)), path)
    with pytest.raises(DataError, match=REFUSED):
        in_memory(read_table(path))
    with pytest.raises(DataError, match=REFUSED):
        sa.tally(path, value="value", **LIMIT)
    for extra in ([], ["--memory-limit", "500MB"]):
        done = invoke("score", str(path), "--value", "value", *extra)
        assert done.exit_code == 2
        assert "use --kind 'category'" in " ".join(done.stderr.split())


def test_wide_decimals_of_parquet(tmp_path):
    path = tmp_path / "study.parquet"
    pq.write_table(table_of(decimals(pa.decimal256(50, 0))), path)
    with pytest.raises(sa.SetagreeError, match=r"as decimal256\(50, 0\), which DuckDB reads other"):
        sa.tally(path, value="value", **LIMIT)


TEXTS = {
    "csv": lambda cells: (
        "unit,rater,value\n"
        + "".join(f"{u},{r},{c}\n" for u, r, c in zip(*IDS.values(), cells, strict=True))
    ),
    "tsv": lambda cells: (
        "unit\trater\tvalue\n"
        + "".join(f"{u}\t{r}\t{c}\n" for u, r, c in zip(*IDS.values(), cells, strict=True))
    ),
    "jsonl": lambda cells: "".join(
        f'{{"unit": {u}, "rater": "{r}", "value": {c}}}\n'
        for u, r, c in zip(*IDS.values(), cells, strict=True)
    ),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:every answer is one number", "ignore:Labels that look alike")
@pytest.mark.parametrize("form", TEXTS)
@pytest.mark.parametrize(
    "cells",
    [
        ["9007199254740993.0", "9007199254740992.0", "9007199254740992", "9007199254740994"],
        ["1e400", "1e401", "2", "3"],
        ["1e-400", "2e-400", "0", "3"],
        ["0.10000000000000000001", "0.10000000000000000002", "0.1", "3e0"],
    ],
)
def test_text_files(tmp_path, form, cells):
    path = tmp_path / f"study.{form}"
    path.write_text(TEXTS[form](cells))
    with pytest.raises(DataError, match=REFUSED):
        in_memory(read_table(path))
    with pytest.raises(DataError, match=REFUSED):
        sa.tally(path, value="value", **LIMIT)
    if form != "jsonl":  # whose numbers are no text
        study = sa.Annotations.from_long(read_table(path), labels="value")
        assert {*study.values} == {frozenset([cell]) for cell in cells}
        assert tally_of(sa.tally(path, labels="value", **LIMIT)) == tally_of(study)


def test_other_forms():
    wide = pd.DataFrame({"unit": [1, 2], "a": WHOLE[::2], "b": [*map(Decimal, WHOLE[1::2])]})
    with pytest.raises(DataError, match=REFUSED):
        sa.Annotations.from_wide(wide, unit="unit", kind="value")
    given = [(rater, unit, n) for unit, rater, n in zip(*IDS.values(), WHOLE, strict=True)]
    with pytest.raises(DataError, match=REFUSED):
        sa.Annotations.from_triples(given, kind="value")
    assert len(sa.Annotations.from_triples([(r, u, [n]) for r, u, n in given]).values) == 4
    names = pd.Index([2**53 + 1, 2**53], dtype=object)
    counts = pd.DataFrame(np.eye(2, dtype=int) + 1, index=names, columns=names)
    for make in (sa.Annotations.from_contingency, sa.Tally.from_counts):
        with pytest.raises(DataError, match=REFUSED):
            make(counts, kind="value")


EQUAL = [
    (1, 1.0, True, np.int8(1), np.float32(1), Decimal("1.00"), Fraction(1), "1", "1.0", " +1. "),
    (0.1, Decimal("0.1"), Fraction(1, 10), "0.1", ".10e0"[:2], Decimal("0.10")),
    (2**60, 2.0**60, Decimal(2**60), f"{2**60}.00"),
    (Fraction(1, 2), 0.5, Decimal("0.50"), "0.5", ".5"),
]


@pytest.mark.parametrize("cells", EQUAL, ids=str)
def test_equal_numbers(cells):
    for some in permutations(cells, 2):
        given = [(str(rater), 1, cell) for rater, cell in enumerate(some)]
        study = sa.Annotations.from_triples(given, kind="value")
        assert len(study.values) == 1
        assert len({*value_numbers(study.values)}) == 1


def test_types():
    assert [as_number(x) for x in ("1e2", "0.1", 0.25)] == [100, 0.1, 0.25]
    kinds = {int: ["1e2", 1e300], float: ["0.1", Decimal("0.1"), Fraction(1, 10)]}
    for kind, cells in kinds.items():
        assert {type(as_number(cell)) for cell in cells} == {kind}
    rounded = ["0.10000000000000000001", "1e-400", "1e400", 10**400, 2**53 + 1, Fraction(1, 3)]
    rounded += [Fraction(10) ** 400, Decimal("1e400"), Decimal("1e-999999"), f"1e-{10**20}"]
    assert all(math.isnan(as_number(cell)) for cell in rounded)
    held = "0.1000000000000000055511151231257827021181583404541015625"
    assert {as_number(held), as_number(Fraction(held)), as_number(Fraction(0.1))} == {0.1}
    assert as_number("one") is None


class TestSpelling:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("cells", "pairs"),
        [
            (["1E2", "100", "1", "1.0"], r"1 number .*: '100' and '1E2'\. If these are codes"),
            (["007", "7", "07", "8"], r"1 number .*: '007' and '07' and '7'\. If"),
            (["1.1", "1.10", "007", "7"], r"2 numbers .*: '007' and '7', '1.1' and '1.10'\. If"),
        ],
    )
    def test_warning(self, tmp_path, cells, pairs):
        frame = pd.DataFrame({**IDS, "value": cells})
        path = tmp_path / "study.csv"
        frame.to_csv(path, index=False)
        for make in (
            lambda: in_memory(frame),
            lambda: in_memory(pl.DataFrame(frame)),
            lambda: sa.tally(path, value="value", **LIMIT),
            lambda: sa.tally(pl.LazyFrame(frame), value="value"),
            lambda: sa.tally(duckdb.from_df(frame), value="value"),
        ):
            with pytest.warns(SimilarLabelsWarning, match=pairs) as caught:
                make()
            assert len(caught) == 1
        done = invoke("score", str(path), "--value", "value", "-d", "nominal")
        assert done.stderr.count("spelled in several ways and read as one") == 1

    def test_counts(self):
        with pytest.warns(SimilarLabelsWarning, match="one: '007' and '7'"):
            tally = sa.Tally.from_counts(pd.DataFrame({"007": [2, 1], "7": [1, 2]}), kind="value")
        assert tally.values == (7,)

    def test_a_number_beside_text(self):
        sa.Annotations.from_triples([("a", 1, 100), ("b", 1, "100.0")], kind="value")
        with pytest.warns(SimilarLabelsWarning, match="one: '1E2' and 100"):
            sa.Annotations.from_triples([("a", 1, 100), ("b", 1, "1E2")], kind="value")

    @pytest.mark.parametrize(
        ("cells", "usual"),
        [
            (("1", "1.0", "+1", "1.", 1, 1.0, Decimal("1.00")), "1"),
            (("0", "-0", "0.0", ".0", 0, -0.0), "0"),
            ((".5", "0.5", "+.5", Decimal("0.50"), 0.5), "0.5"),
            (("0.00001", 1e-5), "0.00001"),
            (("007", "007.0"), "007"),
        ],
    )
    def test_usual_variants(self, cells, usual):
        assert {usual_spelling(cell) for cell in cells} == {usual}

    def test_labels_keep_their_text(self):
        study = quiet(sa.Annotations.from_triples, [("a", 1, "007"), ("b", 1, "7")])
        assert len(study.values) == 2


def nulls_in_dictionaries():
    """Return chunks with different dictionaries, each of which holds a null; five cells."""
    one = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["x", None, "y"]))
    two = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array([None, "x"]))
    return pa.chunked_array([one, two])


FIVE = {"unit": [1, 1, 2, 2, 2], "rater": [*"ababc"]}
PLAIN = ["x", None, "y", None, "x"]


# That nulls alone are what blank= says is tested with the other nulls.
@pytest.mark.filterwarnings("ignore:.*null:setagree.errors.BlankLabelsWarning")
class TestDictionaries:
    @pytest.mark.parametrize("role", ["labels", "value"])
    def test_answers(self, role):
        expected = sa.Annotations.from_long(pd.DataFrame({**FIVE, role: PLAIN}), **{role: role})
        table = pa.table({**FIVE, role: nulls_in_dictionaries()})
        arrow = pd.arrays.ArrowExtensionArray(nulls_in_dictionaries())
        frame = pd.DataFrame({**FIVE, role: arrow})
        for data in (table, frame):
            study = sa.Annotations.from_long(data, **{role: role})
            assert tally_of(study) == tally_of(expected)
            assert study.n_missing == 2
            assert tally_of(sa.tally(data, **{role: role})) == tally_of(expected)

    @pytest.mark.parametrize("role", ["unit", "rater"])
    def test_identifiers(self, role):
        cells = {**FIVE, "labels": [*"xyxyx"], role: nulls_in_dictionaries()}
        with pytest.raises(sa.SetagreeError, match=f"2 rows without a {role}"):
            sa.Annotations.from_long(pa.table(cells))

    def test_engines(self):
        expected = tally_of(sa.Annotations.from_long(pd.DataFrame({**FIVE, "labels": PLAIN})))
        table = pa.table({**FIVE, "labels": nulls_in_dictionaries()})
        for data in (duckdb.from_arrow(table), pl.from_arrow(table).lazy()):
            assert tally_of(sa.tally(data)) == expected
            assert tally_of(sa.Annotations.from_long(data)) == expected

    def test_dask(self):
        dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
        expected = sa.Annotations.from_long(pd.DataFrame({**FIVE, "labels": PLAIN}))
        arrow = pd.arrays.ArrowExtensionArray(nulls_in_dictionaries())
        frame = dd.from_pandas(pd.DataFrame({**FIVE, "labels": arrow}), npartitions=1)
        assert tally_of(sa.tally(frame)) == tally_of(expected)


def test_distances_by_hand():
    with pytest.raises(DistanceError, match="'interval' computes with floats: int too large"):
        sa.distances.interval(10**400, 1)


def test_axes_of_a_matrix():
    names = [Decimal("0.10"), Decimal(2**53), Fraction(1, 2)]
    matrix = sa.distance_matrix(pd.DataFrame(1 - np.eye(3), index=names, columns=names))
    given = [("a", 1, 0.1), ("b", 1, 2**53), ("a", 2, 0.5), ("b", 2, 0.5)]
    study = sa.Annotations.from_triples(given, kind="value")
    assert sa.percent_agreement(study, distance=matrix).estimate == 0.5


def test_listed_categories():
    given = [("a", 1, 0.1), ("b", 1, 0.1), ("a", 2, 3), ("b", 2, 0.1)]
    study = sa.Annotations.from_triples(given, kind="value")
    listed = [Decimal("0.1"), Fraction(3), 2**1000]
    found = sa.gwet_ac(study, distance="nominal", categories=listed)
    assert len(found.weights.values) == 3
    for odd in (10**400, 2**53 + 1, "3", Decimal("Infinity")):
        with pytest.raises(
            sa.SetagreeError, match="is not a finite number, and the values are num"
        ):
            sa.gwet_ac(study, distance="nominal", categories=[0.1, 3, odd])


def test_numbers_that_a_float_would_round():
    assert exact(0.1) == Fraction(1, 10)
    assert exact("9007199254740993") == 9007199254740993
    assert repr(number_of_json("1.0")) == "1.0"
    assert number_of_json("9007199254740993.0") == Decimal(9007199254740993)
