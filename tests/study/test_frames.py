"""Frames of every library: the same table gives the same study, whoever holds it."""

import datetime as dt
import decimal
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setagree as sa
from setagree.errors import DataError, LabelError, MissingDependencyError, OptionError
from setagree.study import frames
from setagree.study.codes import distinct_cells

nw = pytest.importorskip("narwhals")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")

# What nulls are read as, and the warning that says so, is the subject of test_nulls.
pytestmark = pytest.mark.filterwarnings("ignore:.* nulls? .*:setagree.errors.BlankLabelsWarning")

LONG = {
    "doc": ["u1", "u1", "u1", "u2", "u2", "u3", "u3", "é", "é", "u5"],
    "who": ["ana", "ben", "eva", "ana", "eva", "eva", "ben", "ana", "ben", "ben"],
    "tags": [
        "joy",
        "joy, surprise",
        'joy, "a, b"',
        None,
        "anger",
        "",
        "😀, מילה",
        "x" * 10_000,
        "surprise,joy",
        "<script>",
    ],
    "seconds": [1.5, 2.5, None, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0],
}
LISTS = [
    ["joy"],
    ["joy", "surprise"],
    ["joy", "a, b"],
    None,
    ["anger"],
    [],
    ["😀", "מילה"],
    ["x" * 10_000],
    ["surprise", "joy", "joy"],
    ["<script>"],
]

CONNECTIONS = []


def reader(table):
    """Return a stream of record batches, which can be read once."""
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches())


def in_chunks(table):
    """Return an Arrow table whose columns stand in several chunks, one of them empty."""
    return pa.concat_tables([table[:3], table[3:3], table[3:4], table[4:]])


def dictionaries(table):
    """Return an Arrow table whose texts are dictionaries, another one in each chunk."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            column = in_chunks(table).column(place)
            encoded = pa.chunked_array([chunk.dictionary_encode() for chunk in column.chunks])
            table = table.set_column(place, field.name, encoded)
    return table


def categories(frame):
    return frame.with_columns(pl.col(pl.String).cast(pl.Categorical))


def as_duckdb(table):
    CONNECTIONS.append(duckdb.connect())
    return duckdb.from_arrow(table, connection=CONNECTIONS[-1])


OF_COLUMNS = {
    "pandas": pd.DataFrame,
    "pandas object": lambda data: pd.DataFrame(data, dtype=object),
    "pandas Arrow": lambda data: pl.DataFrame(data).to_pandas(use_pyarrow_extension_array=True),
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "polars categories": lambda data: categories(pl.DataFrame(data)),
    "arrow": pa.table,
    "arrow large": lambda data: pl.DataFrame(data).to_arrow(),
    "arrow chunks": lambda data: in_chunks(pa.table(data)),
    "arrow dictionaries": lambda data: dictionaries(pa.table(data)),
    "arrow batch": pa.RecordBatch.from_pydict,
    "arrow reader": lambda data: reader(pa.table(data)),
    "duckdb": lambda data: as_duckdb(pa.table(data)),
    "narwhals": lambda data: nw.from_native(pl.DataFrame(data)),
    "narwhals lazy": lambda data: nw.from_native(pl.LazyFrame(data)),
}
every_frame = pytest.mark.parametrize("kind", OF_COLUMNS)


def same(study, other):
    """Say whether two studies have the same codes, names and values."""
    arrays = ("unit_codes", "rater_codes", "value_codes")
    return (
        study.kind == other.kind
        and study.values == other.values
        and study.n_missing == other.n_missing
        and study.units.tolist() == other.units.tolist()
        and study.raters.tolist() == other.raters.tolist()
        and all(np.array_equal(getattr(study, a), getattr(other, a)) for a in arrays)
    )


def long(data, **options):
    """Read a long table by the names above."""
    options = {"labels": "tags", **options} if "value" not in options else options
    return sa.Annotations.from_long(data, unit="doc", rater="who", **options)


class TestEveryFrame:
    @every_frame
    def test_text(self, kind):
        expected = long(pd.DataFrame(LONG), blank="empty")
        assert same(long(OF_COLUMNS[kind](LONG), blank="empty"), expected)
        assert expected.n_missing == 1
        assert expected.n_ratings == 9

    @every_frame
    def test_lists(self, kind):
        data = {**LONG, "tags": LISTS}
        study = long(OF_COLUMNS[kind](data))
        assert same(study, long(pd.DataFrame(LONG), blank="empty"))
        assert frozenset() in study.values

    @every_frame
    def test_agreement(self, kind):
        expected = sa.agreement(pd.DataFrame(LONG), blank="empty", distance=["masi", "jaccard"])
        table = sa.agreement(OF_COLUMNS[kind](LONG), blank="empty", distance=["masi", "jaccard"])
        pd.testing.assert_frame_equal(
            table.to_frame(), expected.to_frame(), check_exact=False, rtol=0, atol=1e-12
        )

    @every_frame
    @pytest.mark.parametrize(
        "cells",
        [
            [1, 2, 3, 1, 1, 2, 2, 3, 3, 1],
            [1, 2, 3, None, 1, 2, 2, 3, 3, 1],
            [1.5, 2.0, 3.0, None, 1.0, 2.0, 2.0, 3.0, 3.0, 1.0],
            ["1", "2", " 3", None, "1", "2", "2", "3", "3", "1.5"],
            [True, False, None, None, True, True, True, False, False, True],
            ["low", "low", "high", None, "low", "low", "high", "high", "low", "low"],
        ],
    )
    def test_values(self, kind, cells):
        data = {**LONG, "tags": cells}
        study = long(OF_COLUMNS[kind](data), value="tags")
        assert same(study, long(pd.DataFrame(data), value="tags"))

    @every_frame
    def test_flags(self, kind):
        flags = {"joy": [1, 1, 0, 1, 0, 1, 1, 0, 1, 0], "fear": [1, 0, 0, 0, 0, 1, 0, 0, 1, 1]}
        data = {"doc": LONG["doc"], "who": LONG["who"], **flags}
        sets = [[n for n in flags if flags[n][row]] for row in range(len(data["doc"]))]
        expected = long(pd.DataFrame({**LONG, "tags": sets}))
        assert same(long(OF_COLUMNS[kind](data), labels=["joy", "fear"]), expected)
        as_bool = {n: [bool(f) for f in column] for n, column in flags.items()}
        read = sa.agreement(OF_COLUMNS[kind]({**data, **as_bool}), labels=["joy", "fear"])
        assert read.to_frame().equals(sa.agreement(expected).to_frame())

    @every_frame
    def test_wide(self, kind):
        for columns, options in (
            ({"ann": ["a, b", "a", None], "bob": ["a", "", "b"]}, {"blank": "empty"}),
            ({"ann": [["a", "b"], ["a"], None], "bob": [["a"], [], ["b"]]}, {}),
            ({"ann": [1, 2, None], "bob": [1, 1, 3]}, {"kind": "value"}),
        ):
            data = {"doc": ["u1", "u2", "u3"], **columns}
            expected = sa.Annotations.from_wide(pd.DataFrame(data), unit="doc", **options)
            given = OF_COLUMNS[kind]
            assert same(sa.Annotations.from_wide(given(data), unit="doc", **options), expected)
            named = {"unit": "doc", "raters": ["ann", "bob"], **options}
            assert same(
                sa.Annotations.from_wide(given({**data, "note": [1, 2, 3]}), **named), expected
            )
            numbered = sa.Annotations.from_wide(given(columns), **options)
            assert numbered.units.tolist() == [0, 1, 2]

    @every_frame
    def test_ids(self, kind):
        for ids in (
            [2**60 + k // 2 for k in range(10)],
            [dt.date(2024, 2, 1 + k // 2) for k in range(10)],
            [dt.datetime(2024, 2, 1 + k // 2, 12) for k in range(10)],
            [decimal.Decimal(k // 2) / 4 for k in range(10)],
        ):
            data = {"doc": ids, "who": ["ana", "ben"] * 5, "tags": LONG["tags"]}
            study = long(OF_COLUMNS[kind](data), blank="empty")
            whole = sa.Annotations.from_triples(
                zip(data["who"], ids, data["tags"], strict=True), blank="empty"
            )
            assert same(study, whole)

    @every_frame
    @pytest.mark.parametrize("column", ["doc", "who"])
    @pytest.mark.parametrize("cells", [["a", None, "b"], [1, None, 2], [1.5, None, float("nan")]])
    def test_rows_without_a_name(self, kind, column, cells):
        data = {"doc": ["u1", "u2", "u3"], "who": ["a", "b", "c"], "tags": ["x", "y", "z"]}
        role = {"doc": "unit", "who": "rater"}[column]
        with pytest.raises(DataError, match=rf"rows? without a {role} \(first: rows? 2"):
            long(OF_COLUMNS[kind]({**data, column: cells}))

    @every_frame
    def test_an_absent_column(self, kind):
        with pytest.raises(DataError, match=r"no column 'tag'; the columns are 'doc', .*'tags'\?"):
            long(OF_COLUMNS[kind](LONG), labels="tag")
        with pytest.raises(DataError, match="There is no column 'tag' for the labels"):
            sa.agreement(OF_COLUMNS[kind](LONG), labels="tag")

    @every_frame
    def test_numbers_are_no_labels(self, kind):
        cells = ([1, 2, None, 4, 5, 6, 7, 8, 9, 1], [True, None] * 5, [{"a": 1}] * 10)
        for column in cells:
            with pytest.raises(LabelError, match=r"value=|is a dict"):
                long(OF_COLUMNS[kind]({**LONG, "tags": column}))

    @every_frame
    def test_lists_are_no_values(self, kind):
        with pytest.raises(DataError, match=r"Unit 'u1', rater 'ana': .*not one value; use l"):
            long(OF_COLUMNS[kind]({**LONG, "tags": LISTS}), value="tags")

    @every_frame
    def test_a_missing_label(self, kind):
        lists = [["a"], ["a", "b"], ["b", None], *[["a"]] * 7]
        with pytest.raises(LabelError, match="Unit 'u1', rater 'eva': a label inside a list is mi"):
            long(OF_COLUMNS[kind]({**LONG, "tags": lists}))

    @every_frame
    def test_no_rows(self, kind):
        schema = {"doc": pa.string(), "who": pa.string(), "tags": pa.list_(pa.string())}
        empty = pa.schema(schema.items()).empty_table().to_pydict()
        if kind.startswith(("duckdb", "arrow")):
            with pytest.raises(DataError, match="the table has 0 rows"):
                long(pa.schema(schema.items()).empty_table())
        with pytest.raises(DataError, match="the table has 0 rows"):
            long(OF_COLUMNS[kind](empty))


class TestListCells:
    def test_many_labels(self):
        """Sets too long for one machine word of code are told apart as well.

        Twenty labels of a thousand are 1001 ** 20 > 2 ** 62 possible lists.
        """
        rng = np.random.default_rng(1)
        names = [f"l{k}" for k in range(1000)]
        lists = [sorted(rng.choice(names, 20, replace=False).tolist()) for _ in range(40)]
        lists += [lists[0], lists[1][::-1], names[:3], []]
        data = {
            "doc": [k // 2 for k in range(44)],
            "who": ["ana", "ben"] * 22,
            "tags": lists,
        }
        expected = long(pd.DataFrame(data))
        assert expected.n_values == 42
        for kind in ("polars", "arrow"):
            assert same(long(OF_COLUMNS[kind](data)), expected)

    @pytest.mark.parametrize("kind", ["polars", "arrow", "duckdb"])
    @pytest.mark.parametrize(
        "lists",
        [
            [[1, 7], [7], [], None, [1, 7, 9], [7], [1], [9], [9], [9]],
            [[True, False], [False, True], *[[True, True]] * 8],
        ],
    )
    def test_other_items(self, kind, lists):
        data = {**LONG, "tags": lists}
        assert same(long(OF_COLUMNS[kind](data)), long(pd.DataFrame(data)))

    def test_lists_of_zeros_and_ones(self):
        data = {**LONG, "tags": [[0, 1], [1, 1]] * 5}
        for kind in OF_COLUMNS:
            with pytest.raises(LabelError, match="list of 2 zeros and ones"):
                long(OF_COLUMNS[kind](data))

    def test_fixed_width_and_objects(self):
        expected = long(pd.DataFrame({**LONG, "tags": [["a", "b"], ["b", "c"]] * 5}))
        frame = pl.DataFrame({**LONG, "tags": [["a", "b"], ["b", "c"]] * 5})
        assert same(long(frame.cast({"tags": pl.Array(pl.String, 2)})), expected)
        sets = pl.Series("tags", [frozenset("ab"), frozenset("bc")] * 5, dtype=pl.Object)
        assert same(long(frame.with_columns(sets)), expected)

    def test_only_missing(self):
        for dtype in (pl.List(pl.String), pl.String, pl.Null, pl.Boolean, pl.List(pl.Null)):
            column = pl.Series("tags", [None] * 10, dtype=dtype)
            for frame in (pl.DataFrame({**LONG, "tags": column}).to_arrow(), LONG):
                frame = pl.DataFrame({**LONG, "tags": column}) if frame is LONG else frame
                with pytest.raises(DataError, match="all 10 cells are missing"):
                    long(frame)


WHO = {"doc": [1, 1, 2, 2], "who": ["ann", "bob"] * 2}


class TestFlagColumns:
    def test_missing(self):
        flags = {"a": [1, None, 0, 1], "b": [0, None, 0, 1]}
        for make in (pd.DataFrame, pl.DataFrame):
            study = long(make({**WHO, **flags}), labels=["a", "b"])
            assert study.n_missing == 1
            assert study.values == (frozenset("a"), frozenset(), frozenset("ab"))

    def test_partly_missing(self):
        flags = {"a": [1, 0, None, 1], "b": [0, 1, 0, 1]}
        with pytest.raises(DataError, match=r"1 row with a flag for some .*first: row 3"):
            long(pd.DataFrame({**WHO, **flags}), labels=["a", "b"])

    def test_no_flags(self):
        with pytest.raises(DataError, match="column 'a': 1 entry neither 0 nor 1"):
            long(pd.DataFrame({**WHO, "a": [1, 0, 2, 1]}), labels=["a"])
        with pytest.raises(DataError, match="column 'a' must be flags"):
            long(pd.DataFrame({**WHO, "a": ["x", "y", "x", ""]}), labels=["a"])

    def test_names(self):
        frame = pd.DataFrame({**WHO, "a": [1, 0, 0, 1]})
        with pytest.raises(OptionError, match="names no column of flags"):
            long(frame, labels=[])
        with pytest.raises(DataError, match="as many different names"):
            long(frame, labels=["a", "a"])
        with pytest.raises(DataError, match="no column 'b'"):
            long(frame, labels=["a", "b"])
        with pytest.raises(DataError, match="no column 'b'"):
            sa.agreement(frame, labels=["b"])
        with pytest.raises(OptionError, match="not both"):
            long(frame, labels=["a"], value="a")
        for table in (frame, pl.from_pandas(frame)):
            with pytest.raises(DataError, match=r"no column \{'a'\}"):
                long(table, labels={"a"})

    def test_columns_of_several_levels(self):
        frame = pd.DataFrame(list(zip(*WHO.values(), "xyxx", strict=True)))
        frame.columns = pd.MultiIndex.from_tuples([("id", "doc"), ("id", "who"), ("say", "tags")])
        study = sa.Annotations.from_long(
            frame, unit=("id", "doc"), rater=("id", "who"), labels=("say", "tags")
        )
        assert study.n_ratings == 4

    def test_many_labels(self):
        rng = np.random.default_rng(2)
        flags = rng.random((60, 21)) < 0.3
        names = [f"l{k}" for k in range(21)]
        who = {"doc": [k // 2 for k in range(60)], "who": ["ann", "bob"] * 30}
        lists = [[n for n, f in zip(names, row, strict=True) if f] for row in flags]
        frame = pd.DataFrame(flags, columns=names).assign(**who)
        assert same(long(frame, labels=names), long(pd.DataFrame({**who, "tags": lists})))


@pytest.mark.slow
class TestEconomy:
    @pytest.mark.parametrize("kind", ["polars", "polars categories", "arrow", "duckdb"])
    def test_text_and_lists_stay_in_arrow(self, kind):
        data = {"doc": ["u1", "u2", None] * 1000, "tags": [["a", "b"], ["b", "a"], []] * 1000}
        frame = frames.as_pandas(OF_COLUMNS[kind](data))
        assert all(isinstance(dtype, pd.ArrowDtype) for dtype in frame.dtypes)
        codes, cells = distinct_cells(frame["tags"])
        assert codes.tolist() == [0, 0, 1] * 1000
        assert cells == [["a", "b"], []]

    def test_a_pandas_frame_is_itself(self):
        frame = pd.DataFrame(LONG)
        assert frames.as_pandas(frame) is frame
        assert frames.open_frame(frame) is frame

    def test_other_columns_are_not_computed(self):
        def fail(_):
            raise AssertionError("this column was computed")

        lazy = pl.LazyFrame(LONG).with_columns(
            pl.col("doc").map_batches(fail, return_dtype=pl.String).alias("bomb")
        )
        assert long(lazy, blank="empty").n_ratings == 9
        assert sa.agreement(lazy, blank="empty")["fleiss_kappa", "masi"].n_ratings == 9

    def test_pandas_imports_no_other_library(self):
        code = (
            "import sys, pandas as pd, setagree as sa;"
            "sa.agreement(pd.DataFrame({'unit': [1, 1, 2, 2], 'rater': list('abab'),"
            " 'labels': list('xxyx')}));"
            "print(sorted({'narwhals', 'polars', 'duckdb'} & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.stdout == "[]\n", done.stderr

    def test_without_narwhals(self, monkeypatch):
        others = [pl.DataFrame(LONG), reader(pa.table(LONG))]
        monkeypatch.setitem(sys.modules, "narwhals", None)
        assert long(pd.DataFrame(LONG), blank="empty").n_ratings == 9
        for frame in others:
            with pytest.raises(MissingDependencyError, match=r'pip install "setagree\[frames\]"'):
                long(frame)
        with pytest.raises(DataError, match="Expected a table, got a list"):
            long([1, 2])

    def test_without_pyarrow(self, monkeypatch):
        relation = as_duckdb(pa.table(LONG))
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        assert long(pl.DataFrame(LONG), blank="empty").n_ratings == 9
        with pytest.raises(MissingDependencyError, match=r'pyarrow.*"setagree\[files\]"'):
            long(relation)


def test_numbers_of_hundreds_of_digits(tmp_path):
    large = 10**400
    for value in (3, large):
        rows = [(large, "ann", value), (large, "ben", 2), (1, "ann", 2), (1, "ben", 2)]
        frame = {
            name: pd.Series(list(cells), dtype=object)
            for name, cells in zip(("unit", "rater", "value"), zip(*rows, strict=True), strict=True)
        }
        path = tmp_path / "a.json"
        path.write_text(json.dumps([dict(zip(frame, row, strict=True)) for row in rows]))
        for source in (pd.DataFrame(frame), path):
            if value == large:
                with pytest.raises(DataError, match="has more digits than double precision holds"):
                    sa.read(source, value="value")
            else:
                study = sa.read(source, value="value")
                assert (set(study.units), set(study.values)) == ({large, 1}, {3, 2})


class TestOddFrames:
    def test_repeated_names(self):
        columns = [pa.array(["a"])] * 4
        table = pa.table(columns, names=["doc", "who", "tags", "tags"])
        with pytest.raises(DataError, match="tags"):
            long(table)
        with pytest.raises(DataError, match="tags"):
            sa.agreement(table)

    @pytest.mark.parametrize("data", [pl.Series([1]), pa.array([1]), pa.chunked_array([[1]])])
    def test_one_column(self, data):
        with pytest.raises(DataError, match="Expected a table, got a"):
            long(data)
        with pytest.raises(DataError, match="Annotations, Tally or path"):
            sa.agreement(data)

    def test_a_query_that_fails(self):
        lazy = pl.LazyFrame(LONG).with_columns(pl.col("tags").cast(pl.Int64))
        relation = as_duckdb(pa.table(LONG)).select("doc, who, cast(tags as int) as tags")
        for frame in (lazy, relation):
            with pytest.raises(DataError, match="the lazy table cannot be computed: ") as caught:
                long(frame)
            assert caught.value.__cause__ is not None

    def test_no_columns(self):
        with pytest.raises(DataError, match="the table has no columns"):
            long(pl.DataFrame())
        with pytest.raises(DataError, match="no answers"):
            sa.Annotations.from_wide(pl.DataFrame())

    def test_enumerations(self):
        frame = pl.DataFrame(LONG).with_columns(
            pl.col("who").cast(pl.Enum(["eva", "nobody", "ben", "ana"]))
        )
        assert same(long(frame, blank="empty"), long(pd.DataFrame(LONG), blank="empty"))

    def test_pandas_categories(self):
        frame = pd.DataFrame(LONG)
        kind = pd.CategoricalDtype(["eva", "nobody", "ben", "ana"], ordered=True)
        assert same(
            long(frame.astype({"who": kind, "doc": "category"}), blank="empty"),
            long(frame, blank="empty"),
        )

    def test_dictionary_of_numbers(self):
        scores = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0]), pa.array([5, 7, 9]))
        data = pa.table({"doc": [1, 1, 2, 2], "who": ["a", "b"] * 2, "score": scores})
        study = long(data, value="score")
        assert study.values == (5, 7)
        assert study.kind == "number"

    def test_wide_integers(self):
        ids = [2**63 + 1, 2**63 + 1, 2**63 + 3, 2**63 + 3]
        data = {"doc": ids, "who": ["a", "b"] * 2, "tags": ["x"] * 4}
        for kind in (pl.UInt64, pl.Int128):
            frame = pl.DataFrame(data, schema_overrides={"doc": kind})
            assert long(frame).units.tolist() == ids[::2]

    def test_large_numbers_with_gaps(self):
        data = {"doc": [1, 1, 2, 2], "who": ["a", "b"] * 2, "n": [2**60, 2**60 + 2**8, None, 3]}
        for kind in ("polars", "arrow", "duckdb"):
            study = long(OF_COLUMNS[kind](data), value="n")
            assert study.values == (2**60, 2**60 + 2**8, 3)
            odd = OF_COLUMNS[kind]({**data, "n": [2**60, 2**60 + 1, None, 3]})
            with pytest.raises(DataError, match="1152921504606846977 has more digits than double"):
                long(odd, value="n")

    @pytest.mark.filterwarnings("ignore:Dask support is moving:FutureWarning")
    def test_dask(self):
        dask = pytest.importorskip("dask.dataframe")
        frame = dask.from_pandas(pd.DataFrame(LONG), npartitions=3)
        assert same(long(frame, blank="empty"), long(pd.DataFrame(LONG), blank="empty"))


CELLS = st.one_of(st.none(), st.lists(st.sampled_from(["a", "b", "é", "c d", "1"]), max_size=4))


@pytest.mark.slow
@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 5), CELLS), min_size=1, max_size=30))
def test_round_trip(rows):
    of_unit = dict.fromkeys(range(6), 0)
    triples = [("r0", 0, ["a"]), ("r0", 1, ["b"]), ("r1", 0, ["a"]), ("r1", 1, ["a", "b"])]
    for unit, labels in rows:
        of_unit[unit] += 1
        triples.append((f"s{of_unit[unit]}", unit, labels))
    study = sa.Annotations.from_triples(triples)
    columns = study.to_long().assign(labels=lambda d: d["labels"].map(sorted)).to_dict("list")
    expected = sa.krippendorff_alpha(study)
    for kind in ("polars", "polars lazy", "arrow", "duckdb"):
        again = sa.Annotations.from_long(OF_COLUMNS[kind](columns))
        assert same(again, sa.Annotations.from_long(pd.DataFrame(columns)))
        alpha = sa.krippendorff_alpha(again)
        assert alpha.estimate == pytest.approx(expected.estimate, abs=1e-12)
        assert alpha.standard_error == pytest.approx(expected.standard_error, abs=1e-12)


REAL = ["ambient_linguists", "hs_brexit", "varierr_nli"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::setagree.errors.SetagreeWarning")
@pytest.mark.parametrize("name", REAL)
def test_real_data(name):
    if "SETAGREE_DATA" not in os.environ:
        pytest.skip("the real data is found through SETAGREE_DATA")
    path = Path(os.environ["SETAGREE_DATA"], f"{name}.csv")
    text = pd.read_csv(path, dtype=str, keep_default_na=False)[["unit", "rater", "labels"]]
    options = {"blank": "empty", "duplicates": "first"}
    study = sa.Annotations.from_long(text, **options)
    expected = sa.agreement(study, distance=["masi", "jaccard"]).to_frame()
    lists = text.assign(labels=[sorted(sa.parse_labels(c, blank="empty")) for c in text["labels"]])
    for kind in set(OF_COLUMNS) - {"pandas object"}:
        for table in (text, lists):
            again = sa.Annotations.from_long(OF_COLUMNS[kind](table.to_dict("list")), **options)
            assert again.units.tolist() == study.units.tolist()
            found = sa.agreement(again, distance=["masi", "jaccard"]).to_frame()
            pd.testing.assert_frame_equal(found, expected, rtol=0, atol=1e-12)
