"""Numbers as answers keep their identity on every road: equal ones are one, others are not."""

import warnings
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from cli_support import invoke, rows
from reduction_support import patterns, quiet

import setagree as sa
from setagree.errors import DistanceError, SetagreeWarning, SimilarLabelsWarning
from setagree.files.tables import read_table
from setagree.study.keys import value_numbers
from setagree.study.numbers import as_number, exact, usual_spelling

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
    """Return the four in an Arrow column of decimals."""
    return pa.array([Decimal(n) for n in WHOLE]).cast(kind)


def table_of(cells):
    """Return an Arrow table of two raters who rated two units."""
    return pa.table({**IDS, "value": cells})


def tally_of(study):
    """Return patterns of values, for a study or a tally."""
    return patterns(study if isinstance(study, sa.Tally) else sa.Tally.from_annotations(study))


def in_memory(frame):
    """Return the study of a long table."""
    return sa.Annotations.from_long(frame, value="value")


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


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_frames(make):
    """Four answers that differ in their last digit are four, and nobody agrees."""
    study = in_memory(make())
    assert study.kind == "number"
    assert len({*study.values}) == 4
    assert sa.percent_agreement(study).estimate == 0


LAZY = {
    "DECIMAL(20, 0)": lambda: duckdb.sql("SELECT 1 u").query("r", relation_of("DECIMAL(20, 0)")),
    "DECIMAL(38, 4)": lambda: duckdb.sql("SELECT 1 u").query("r", relation_of("DECIMAL(38, 4)")),
    "HUGEINT": lambda: duckdb.sql("SELECT 1 u").query("r", relation_of("HUGEINT")),
    "UHUGEINT": lambda: duckdb.sql("SELECT 1 u").query("r", relation_of("UHUGEINT")),
    "Polars Decimal": lambda: FRAMES["polars"]().lazy(),
    "Polars Int128": lambda: FRAMES["polars 128"]().lazy(),
}


def relation_of(kind):
    """Return the query of a relation of DuckDB."""
    listed = zip(IDS["unit"], IDS["rater"], WHOLE, strict=True)
    cells = ", ".join(f"({unit}, '{rater}', {value}::{kind})" for unit, rater, value in listed)
    return f"SELECT * FROM (VALUES {cells}) AS t(unit, rater, value)"  # noqa: S608 - of this file


@pytest.mark.parametrize("make", LAZY.values(), ids=LAZY)
def test_engines(make):
    """So it is in the tables of engines, reduced and read into memory."""
    reduced = sa.tally(make(), value="value")
    assert set(reduced.values) == {*WHOLE}
    assert tally_of(reduced) == tally_of(in_memory(make()))


@pytest.mark.parametrize("kind", ["HUGEINT", "UHUGEINT"])
def test_the_longest_whole_numbers(kind):
    """Answers of 39 digits come from DuckDB as they are, with a gap beside them."""
    most = 2**127 - 1 if kind == "HUGEINT" else 2**128 - 1
    rows = f"(1, 'a', {most}::{kind}), (1, 'b', {most - 1}), (2, 'a', 3), (2, 'b', NULL)"
    query = f"SELECT * FROM (VALUES {rows}) AS t(unit, rater, value)"  # noqa: S608 - of this file
    study = in_memory(duckdb.sql(query))
    assert set(study.values) == {most, most - 1, 3}
    assert study.n_missing == 1
    assert tally_of(sa.tally(duckdb.sql(query), value="value")) == tally_of(study)
    fewer = query.replace(str(most - 1), str(2**53 + 1)).replace(str(most), str(2**53))
    assert set(in_memory(duckdb.sql(fewer)).values) == {2**53, 2**53 + 1, 3}


def test_marker_in_a_relation():
    """An answer that means none is left out of long whole numbers as in memory."""
    relation = LAZY["HUGEINT"]()
    found = sa.tally(relation, value="value", missing=[WHOLE[0]])
    assert set(found.values) == {*WHOLE[1:]}


@pytest.mark.parametrize(
    "kind", [pa.decimal128(20, 0), pa.decimal128(38, 10), pa.decimal256(30, 5)]
)
def test_parquet(tmp_path, kind):
    """So it is in Parquet files, in memory, with a limit and on the command line."""
    path = tmp_path / "study.parquet"
    pq.write_table(table_of(decimals(kind)), path)
    assert set(in_memory(read_table(path)).values) == {*WHOLE}
    reduced = sa.tally(path, value="value", **LIMIT)
    assert set(reduced.values) == {*WHOLE}
    for extra in ([], ["--memory-limit", "500MB"]):
        asked = ("--value", "value", "-d", "nominal", "-c", "percent_agreement")
        found = rows("score", path, *asked, *extra)
        assert {row["observed_agreement"] for row in found} == {0.0}


def test_wide_decimals_of_parquet(tmp_path):
    """DuckDB makes floats of decimals of more than 38 digits, which is refused; memory is exact."""
    path = tmp_path / "study.parquet"
    pq.write_table(table_of(decimals(pa.decimal256(50, 0))), path)
    assert set(in_memory(read_table(path)).values) == {*WHOLE}
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
    """Numbers are what is written, also those that no float holds, in memory and reduced."""
    path = tmp_path / f"study.{form}"
    path.write_text(TEXTS[form](cells))
    study = in_memory(read_table(path))
    assert {exact(value) for value in study.values} == set(map(Fraction, cells))
    assert tally_of(sa.tally(path, value="value", **LIMIT)) == tally_of(study)


def test_wide_and_triples():
    """So it is in wide tables and triples, of whatever types the columns are."""
    wide = pd.DataFrame({"unit": [1, 2], "a": WHOLE[::2], "b": [*map(Decimal, WHOLE[1::2])]})
    assert set(sa.Annotations.from_wide(wide, unit="unit", kind="value").values) == {*WHOLE}
    arrow = pd.arrays.ArrowExtensionArray(pa.array([*map(Decimal, WHOLE[1::2])]))
    for other in (arrow, pd.Series([0.5, None]), pd.Series([7, None], dtype="Int64")):
        frame = wide.assign(b=other)
        study = sa.Annotations.from_wide(frame, unit="unit", kind="value")
        assert {*WHOLE[::2]} <= {*study.values}
    given = [(rater, unit, str(n)) for unit, rater, n in zip(*IDS.values(), WHOLE, strict=True)]
    assert set(sa.Annotations.from_triples(given, kind="value").values) == {*WHOLE}


def test_tables_of_counts():
    """So it is for the numbers on the axes of tables of counts."""
    names = [2**53 + 1, 2**53, 0.5]
    counts = pd.DataFrame(np.eye(3, dtype=int) + 1, index=names, columns=names, dtype=object)
    counts.index = pd.Index(names, dtype=object)
    counts.columns = pd.Index(names, dtype=object)
    assert set(sa.Annotations.from_contingency(counts, kind="value").values) == {*names}
    assert set(sa.Tally.from_counts(counts, kind="value").values) == {*names}


EQUAL = [
    (1, 1.0, True, np.int8(1), np.float32(1), Decimal("1.00"), Fraction(1), "1", "1.0", " +1. "),
    (0.1, Decimal("0.1"), Fraction(1, 10), "0.1", ".10e0"[:2], Decimal("0.10")),
    (2**60, 2.0**60, Decimal(2**60), f"{2**60}.00"),
    (10**400, Decimal("1e400"), Fraction(10**400), "1" + "0" * 400),
    (Fraction(1, 2), 0.5, Decimal("0.50"), "0.5", ".5"),
    (Decimal("1e-400"), Fraction(1, 10**400), f"0.{'0' * 399}1"),
    (Decimal("0.12345678901234567890"), Fraction("0.1234567890123456789"), "0.1234567890123456789"),
]


@pytest.mark.parametrize("cells", EQUAL, ids=str)
def test_equal_numbers(cells):
    """A number is one answer in every type, silently, however the rows are ordered."""
    for some in permutations(cells, 2):
        given = [(str(rater), 1, cell) for rater, cell in enumerate(some)]
        study = sa.Annotations.from_triples(given, kind="value")
        assert len(study.values) == 1
        assert len({*value_numbers(study.values)}) == 1


def test_types():
    """Whole numbers are int, those a float holds or is written as float, others stay exact."""
    assert [as_number(x) for x in ("1e2", "0.1", 0.25, Fraction(1, 3))] == [
        100,
        0.1,
        0.25,
        Fraction(1, 3),
    ]
    kinds = {int: ["1e2", 1e300, "1e400"], float: ["0.1", Decimal("0.1"), Fraction(1, 10)]}
    kinds |= {Decimal: ["0.10000000000000000001", "1e-400"], Fraction: [Fraction(1, 3)]}
    for kind, cells in kinds.items():
        assert {type(as_number(cell)) for cell in cells} == {kind}
    held = "0.1000000000000000055511151231257827021181583404541015625"
    assert {as_number(held), as_number(Fraction(held)), as_number(Fraction(0.1))} == {0.1}
    assert as_number("one") is None


ODD = [10**400, 2**53 + 1, 2**53, 0.5, Decimal("0.10000000000000000001"), 0.1, Fraction(1, 3)]


@pytest.fixture
def odd():
    """Return a study of numbers of every type."""
    given = [(rater, unit, x) for unit, x in enumerate(ODD) for rater in "ab"]
    return sa.Annotations.from_triples([*given, ("c", 0, 0.1)], kind="value")


def test_what_follows(odd):
    """Tables, agreement, consensus and diagnoses hold the numbers themselves."""
    assert set(odd.to_long()["value"]) == {*ODD}
    assert tally_of(sa.Annotations.from_long(odd.to_long(), value="value")) == tally_of(odd)
    again = sa.Annotations.from_wide(odd.to_wide(), kind="value")
    assert tally_of(again) == tally_of(odd)
    assert set(odd.to_wide()["a"]) == {*ODD}
    frame = sa.weights(odd, "nominal").to_frame()
    assert frame.index.tolist() == list(map(str, sorted(odd.values)))
    alpha = sa.krippendorff_alpha(odd, distance="ordinal")
    assert 0 < alpha.estimate < 1
    assert set(sa.consensus(odd).values) <= {*ODD}
    assert quiet(sa.by_unit, odd).shape[0] == len(ODD)
    with pytest.raises(DistanceError, match=r"the values go from 0.1 to 1.00000e\+400"):
        sa.krippendorff_alpha(odd, distance="interval")


def test_small_columns_beside_a_float():
    """A table of large whole numbers and a half is written without rounding one."""
    given = [("a", 1, 2**53 + 1), ("b", 1, 0.5)]
    study = sa.Annotations.from_triples(given, kind="value")
    assert study.to_long()["value"].tolist() == [2**53 + 1, 0.5]
    wide = sa.Annotations.from_triples([("a", 1, 2**53 + 1), ("a", 2, 0.5)], kind="value").to_wide()
    assert wide["a"].tolist() == [2**53 + 1, 0.5]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_convert(tmp_path, form):
    """The command writes and reads them without a digit lost."""
    cells = ["1e400", "0.10000000000000000001", "9007199254740993.0", "0.1"]
    path, out = tmp_path / "study.csv", tmp_path / f"out.{form}"
    path.write_text(TEXTS["csv"](cells))
    assert invoke("convert", str(path), "--value", "value", "-o", str(out)).exit_code == 0
    again = in_memory(read_table(out))
    assert {exact(value) for value in again.values} == set(map(Fraction, cells))


def test_report(tmp_path):
    """A report is made of them, too."""
    path, out = tmp_path / "study.csv", tmp_path / "report.html"
    path.write_text(TEXTS["csv"](["0.10000000000000000001", "9007199254740993.0", "0.1", "7"]))
    done = invoke("report", str(path), "--value", "value", "-d", "nominal", "-o", str(out))
    assert done.exit_code == 0, done.stderr
    assert "9007199254740993" in out.read_text()


def test_one_warning():
    """Where a distance computes, one warning names two numbers that are one to it."""
    cells = [5, *WHOLE[:2], 2]
    frame = pd.DataFrame({**IDS, "value": cells})
    with pytest.warns(SetagreeWarning) as caught:
        sa.agreement(frame, value="value", distance=["interval", "linear", "ratio", "nominal"])
    said = [str(w.message) for w in caught if "double precision" in str(w.message)]
    assert len(said) == 1
    assert said[0].startswith(f"{WHOLE[0]} and {WHOLE[1]} differ by less than double precision")
    study = sa.Annotations.from_long(frame, value="value")
    assert sa.percent_agreement(study).estimate == 0


class TestSpelling:
    """Numbers that are spelled in several ways."""

    @pytest.mark.parametrize(
        ("cells", "pairs"),
        [
            (["1E2", "100", "1", "1.0"], r"1 number .*: '100' and '1E2'\. If these are codes"),
            (["007", "7", "07", "8"], r"1 number .*: '007' and '07' and '7'\. If"),
            (["1.1", "1.10", "007", "7"], r"2 numbers .*: '007' and '7', '1.1' and '1.10'\. If"),
        ],
    )
    def test_warning(self, tmp_path, cells, pairs):
        """They are one number, and one warning names them, on every road alike."""
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
        assert done.stderr.count("spelled in several ways and taken as one") == 1

    def test_counts(self):
        """Columns of counts that are one number are said to be, before they are added up."""
        with pytest.warns(SimilarLabelsWarning, match="one: '007' and '7'"):
            tally = sa.Tally.from_counts(pd.DataFrame({"007": [2, 1], "7": [1, 2]}), kind="value")
        assert tally.values == (7,)

    def test_a_number_beside_text(self):
        """A number and its own digits are one way; other text is another."""
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
        """What programs write for one number is no second way."""
        assert {usual_spelling(cell) for cell in cells} == {usual}

    def test_labels_keep_their_text(self):
        """Read as labels, codes such as 007 and 7 are two."""
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
    """Arrow dictionaries that hold a null."""

    @pytest.mark.parametrize("role", ["labels", "value"])
    def test_answers(self, role):
        """A null in the dictionary is a missing answer, as any other null is."""
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
        """As an identifier it is none, which is refused."""
        cells = {**FIVE, "labels": [*"xyxyx"], role: nulls_in_dictionaries()}
        with pytest.raises(sa.SetagreeError, match=f"2 rows without a {role}"):
            sa.Annotations.from_long(pa.table(cells))

    def test_engines(self):
        """Engines that take such a table read it so, too."""
        expected = tally_of(sa.Annotations.from_long(pd.DataFrame({**FIVE, "labels": PLAIN})))
        table = pa.table({**FIVE, "labels": nulls_in_dictionaries()})
        for data in (duckdb.from_arrow(table), pl.from_arrow(table).lazy()):
            assert tally_of(sa.tally(data)) == expected
            assert tally_of(sa.Annotations.from_long(data)) == expected

    def test_dask(self):
        """So do the partitions of Dask."""
        dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed")
        expected = sa.Annotations.from_long(pd.DataFrame({**FIVE, "labels": PLAIN}))
        arrow = pd.arrays.ArrowExtensionArray(nulls_in_dictionaries())
        frame = dd.from_pandas(pd.DataFrame({**FIVE, "labels": arrow}), npartitions=1)
        assert tally_of(sa.tally(frame)) == tally_of(expected)


def test_distances_by_hand():
    """A number that no float holds is refused where a distance is called on it, in a sentence."""
    with pytest.raises(DistanceError, match="'interval' computes with floats: int too large"):
        sa.distances.interval(10**400, 1)


@pytest.mark.parametrize(("name", "distance"), [("interval", 4.0), ("linear", 2.0)])
@pytest.mark.parametrize("kind", [int, Decimal, Fraction, str])
def test_distances_by_hand_take_the_difference_first(name, distance, kind):
    """Two large numbers that are one as floats are 2 apart where a distance is called on them."""
    one, two = kind(2**60 + 2), kind(2**60)
    assert float(one) == float(two)
    assert getattr(sa.distances, name)(one, two) == distance


def test_numbers_beyond_floats_are_refused_and_no_more():
    """Answers that no float holds are refused in one sentence; numpy says nothing beside it."""
    rows = [("a", 1, "1e400"), ("b", 1, "1e401"), ("a", 2, "1"), ("b", 2, "2")]
    study = sa.Annotations.from_triples(rows, kind="value")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DistanceError, match=r"the values go from 1 to 1\.00000e\+401"):
            sa.agreement(study, distance="interval")


def test_axes_of_a_matrix():
    """A distance matrix finds a number whatever type names it on the axes."""
    names = [Decimal("0.10"), Decimal(2**53 + 1), Fraction(1, 2)]
    matrix = sa.distance_matrix(pd.DataFrame(1 - np.eye(3), index=names, columns=names))
    given = [("a", 1, 0.1), ("b", 1, 2**53 + 1), ("a", 2, 0.5), ("b", 2, 0.5)]
    study = sa.Annotations.from_triples(given, kind="value")
    assert sa.percent_agreement(study, distance=matrix).estimate == 0.5


def test_listed_categories():
    """Categories may be listed as numbers of any type; one of thousands of digits is refused."""
    given = [("a", 1, 0.1), ("b", 1, 0.1), ("a", 2, 3), ("b", 2, 0.1)]
    study = sa.Annotations.from_triples(given, kind="value")
    listed = [Decimal("0.1"), Fraction(3), 10**400]
    found = sa.gwet_ac(study, distance="nominal", categories=listed)
    assert len(found.weights.values) == 3
    for odd in (10**5000, "3", Decimal("Infinity")):
        with pytest.raises(
            sa.SetagreeError, match="is not a finite number, and the values are num"
        ):
            sa.gwet_ac(study, distance="nominal", categories=[0.1, 3, odd])
