"""What nulls in a column of answers mean: one rule, one number and one warning on every road."""

import json
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli_support import invoke
from reduction_support import quiet

import setagree as sa
from setagree.errors import BlankLabelsWarning, DataError, LabelError

duckdb = pytest.importorskip("duckdb", reason="the extra 'files' is not installed")
pa = pytest.importorskip("pyarrow", reason="the extra 'files' is not installed")
pq = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars", reason="Polars is not installed")
dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed")

UNITS = ["u1", "u1", "u2", "u2", "u3", "u3", "u4", "u4"]
RATERS = ["ann", "bob"] * 4
CASES = {
    "blank only": ["x", "x, y", "", "x", "y", "y", "", ""],
    "null only": ["x", "x, y", None, "x", "y", "y", None, None],
    # The blank text stands in another part of the table, partition and file than two of the nulls.
    "both": ["x", "x, y", None, "x", "y", "y", "", None],
    "all null": [None] * 8,
}
LIMIT = {"memory_limit": "500MB"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def arrow(cells):
    columns = {"unit": UNITS, "rater": RATERS, "labels": cells}
    return pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()})


def pandas(cells, dtype=object):
    return arrow(cells).to_pandas().astype({"labels": dtype})


def dictionaries(cells):
    table = arrow(cells)
    return table.set_column(2, "labels", table["labels"].dictionary_encode())


def parts(cells):
    """Write Parquet files of a unit each; return the pattern of their names."""
    for k in range(4):
        pq.write_table(arrow(cells)[2 * k : 2 * k + 2], f"part-{k}.parquet")
    return "part-*.parquet"


def lines(cells):
    """Write JSON lines, in which every other null is a key that is absent."""
    rows = arrow(cells).to_pylist()
    for k, row in enumerate(rows):
        if row["labels"] is None and k % 4 == 2:
            del row["labels"]
    Path("study.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return "study.jsonl"


def records(cells):
    Path("study.json").write_text(json.dumps(arrow(cells).to_pylist()), encoding="utf-8")
    return "study.json"


def relation(cells):
    return duckdb.from_arrow(arrow(cells), connection=duckdb.connect())


ROADS = {
    "pandas": (pandas, {}),
    "pandas string": (lambda cells: pandas(cells, "string"), {}),
    "pandas categories": (lambda cells: pandas(cells, "category"), {}),
    "pandas Arrow": (lambda cells: pandas(cells, pd.ArrowDtype(pa.string())), {}),
    "pandas NaN": (lambda cells: pandas(cells).where(pandas(cells).notna(), np.nan), {}),
    "polars": (lambda cells: pl.from_arrow(arrow(cells)), {}),
    "polars categories": (
        lambda cells: pl.from_arrow(arrow(cells)).cast({"labels": pl.Categorical}),
        {},
    ),
    "polars lazy": (lambda cells: pl.from_arrow(arrow(cells)).lazy(), {}),
    "polars lazy categories": (
        lambda cells: pl.from_arrow(arrow(cells)).lazy().cast({"labels": pl.Categorical}),
        {},
    ),
    "arrow": (arrow, {}),
    "arrow dictionaries": (dictionaries, {}),
    "duckdb": (relation, {}),
    "dask": (lambda cells: dd.from_pandas(pandas(cells), npartitions=4), {}),
    "dask by unit": (
        lambda cells: dd.from_pandas(pandas(cells), npartitions=4),
        {"partitioned_by_unit": True},
    ),
    "parquet": (parts, {}),
    "parquet reduced": (parts, LIMIT),
    "parquet by unit": (parts, {"partitioned_by_unit": True}),
    "json": (records, {}),
    "json lines": (lines, {}),
    "json lines reduced": (lines, LIMIT),
}
POLICIES = [None, "missing", "empty", "error"]
every_policy = pytest.mark.parametrize("blank", POLICIES)


def outcome(road, cells, **options):
    """Return alpha, the counts and the warnings of a road; or the error."""
    made, more = ROADS[road]
    data = made(cells)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            table = sa.agreement(data, distance="nominal", **options, **more)
        except sa.SetagreeError as error:
            return error
    alpha = table["krippendorff_alpha", "nominal"]
    said = [str(w.message) for w in caught if w.category is BlankLabelsWarning]
    return alpha.estimate, alpha.n_units, alpha.n_ratings, table.n_missing, said


def by_the_rule(cells, blank):
    """Return the same by the rule in words; the warning as its beginning, or None."""
    n_null, n_blank = cells.count(None), cells.count("")
    of_blank = [] if blank == "empty" else None
    meaning = {"": of_blank, None: None if n_blank else of_blank}
    rows = zip(RATERS, UNITS, [meaning.get(cell, cell) for cell in cells], strict=True)
    triples = [row for row in rows if row[2] is not None]
    n_missing = len(cells) - len(triples)
    if n_null:
        s = "" if n_blank == 1 else "s"
        said = f"{n_null} nulls (None or NaN) and {n_blank} blank text{s} among the labels: "
    else:
        said = f"{n_blank} blank cells read as missing; use " if blank is None else None
    study = sa.Annotations.from_triples(triples)
    alpha = quiet(sa.krippendorff_alpha, study, distance="nominal")
    return alpha.estimate, alpha.n_units, alpha.n_ratings, n_missing, said


WHOLE = {"pandas", "polars lazy", "duckdb", "dask"}
PAIRS = [
    (road, case, blank)
    for r, road in enumerate(ROADS)
    for k, case in enumerate(CASES)
    for p, blank in enumerate(POLICIES)
    if road in WHOLE or (r + k + p) % 4 == 0
]
"""One holder of each engine with every pair; the others with a quarter: each case, each policy."""


@pytest.mark.slow
@pytest.mark.parametrize(("road", "case", "blank"), PAIRS)
def test_every_road(road, case, blank):
    cells = CASES[case]
    found = outcome(road, cells, blank=blank)
    if blank == "error":
        said = "is blank" if "" in cells else f"the cell is null.*{cells.count(None)} nulls"
        assert isinstance(found, LabelError)
        with pytest.raises(LabelError, match=f"^Unit 'u[1-4]', rater '(ann|bob)': .*{said}"):
            raise found
        return
    if case == "all null" and blank != "empty":
        assert isinstance(found, DataError)
        assert str(found).startswith("all 8 cells are missing")
        return
    *expected, said = by_the_rule(cells, blank)
    *numbers, warned = found
    assert numbers == pytest.approx(expected, nan_ok=True)
    assert len(warned) == (said is not None)
    assert all(one.startswith(said) for one in warned)


@every_policy
def test_csv(blank):
    """A file of text has no nulls: its blank cells are blank text, in memory and in DuckDB.

    DuckDB returns distinct answers, so that its error counts the other rows and does not list them.
    """
    cells = CASES["blank only"]
    pandas(cells).to_csv("study.csv", index=False)
    expected = outcome("pandas", cells, blank=blank)
    for options in ({}, LIMIT):
        ROADS["csv"] = (lambda _: "study.csv", options)
        found = outcome("csv", cells, blank=blank)
        assert re.sub(r" fail: .*", " fail.)", str(found)) == re.sub(
            r" fail: .*", " fail.)", str(expected)
        )
    del ROADS["csv"]


@pytest.mark.parametrize(("blank", "what"), [("missing", "missing"), ("empty", "the empty set")])
def test_a_frame_that_pandas_read(blank, what):
    pandas(CASES["blank only"]).to_csv("study.csv", index=False)
    frame = pd.read_csv("study.csv")
    with pytest.warns(BlankLabelsWarning) as caught:
        read = sa.agreement(frame, blank=blank)
    assert str(caught[0].message) == (
        f"3 nulls (None or NaN) and 0 blank texts among the labels: the nulls are read as {what} "
        f"(blank='{blank}'). Many readers convert blank cells to nulls, and pandas also texts such "
        "as NA or None: keep them as text (pandas: keep_default_na=False; Polars: "
        "missing_utf8_is_empty_string=True), or pass the path. If a null means no annotation, "
        "remove its row to silence this warning."
    )
    assert len(caught) == 1
    assert read.to_frame().equals(sa.agreement("study.csv", blank=blank).to_frame())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sa.agreement(frame.dropna(), blank=blank)


def test_by_default():
    with pytest.warns(BlankLabelsWarning, match="the nulls are read as missing; use blank='empty"):
        sa.agreement(pandas(CASES["null only"]))
    with pytest.warns(BlankLabelsWarning, match="both are read as missing; use blank='empty'"):
        sa.agreement(pandas(CASES["both"]))
    with pytest.warns(BlankLabelsWarning, match="nulls are .* missing, the blank texts as the emp"):
        sa.agreement(pandas(CASES["both"]), blank="empty")


@pytest.mark.parametrize("blank", ["missing", "empty"])
def test_markers(blank):
    cells = ["x", "NA", None, "x", "y", " NA", "y", "y"]
    for road in WHOLE:
        _, _, n_ratings, n_missing, said = outcome(road, cells, blank=blank, na_values=["NA"])
        assert (n_ratings, n_missing) == ((6, 2) if blank == "empty" else (5, 3))
        assert [one.partition(" (")[0] for one in said] == ["1 null"]


@pytest.mark.parametrize("cell", ["[]", "set()"])
def test_a_written_empty_set_is_not_blank(cell):
    with pytest.warns(BlankLabelsWarning, match="^1 null .* 0 blank texts"):
        study = sa.Annotations.from_long(
            pandas(["x", cell, None, "x", "y", "y", "y", "y"]), blank="empty"
        )
    assert (study.n_ratings, study.n_values) == (8, 3)


@pytest.mark.parametrize("cell", [" ", ",", '""'])
def test_all_that_is_blank(cell):
    with pytest.warns(BlankLabelsWarning, match="^1 null .* 1 blank text among"):
        study = sa.Annotations.from_long(
            pandas(["x", cell, None, "x", "y", "y", "y", "y"]), blank="empty"
        )
    assert (study.n_ratings, study.n_missing) == (7, 1)


class TestElsewhere:
    LISTS = (["x"], [], None, ["x", "y"], ["x"], ["x"])
    NUMBERS = (1.0, 2.0, None, 2.0, 1.0, 1.0)
    CATEGORIES = ("s", "m", None, "m", "s", "s")

    def columns(self, cells):
        """Return the columns of a table of three units."""
        return {"unit": [1, 1, 2, 2, 3, 3], "rater": ["ann", "bob"] * 3, "answer": cells}

    def said(self, build, *args, **options):
        with pytest.warns(BlankLabelsWarning) as caught:
            built = build(*args, **options)
        assert len(caught) == 1
        return built, str(caught[0].message)

    @pytest.mark.parametrize("blank", [None, "missing"])
    @pytest.mark.parametrize("cells", [LISTS, NUMBERS, CATEGORIES])
    def test_silent(self, cells, blank):
        name = "value" if cells is not self.LISTS else "labels"
        table = pd.DataFrame(self.columns(cells))
        read = sa.agreement(table, **{name: "answer"}, blank=blank, distance="nominal")
        assert read.n_missing == 1

    @pytest.mark.parametrize("cells", [LISTS, NUMBERS, CATEGORIES])
    def test_columns(self, cells):
        name = "value" if cells is not self.LISTS else "labels"
        options = {name: "answer", "blank": "empty", "distance": "nominal"}
        columns = self.columns(cells)
        frame = pd.DataFrame(columns)
        for table in (frame, pl.DataFrame(columns), pl.LazyFrame(columns)):
            read, words = self.said(sa.agreement, table, **options)
            assert read.n_missing == 1
            assert words.startswith("1 null (None or NaN) read as missing, because blank='empty' ")

    def test_layouts(self):
        wide = pd.DataFrame({"ann": ["x", None], "bob": ["x", ""]})
        triples = [("ann", 1, "x"), ("bob", 1, None), ("ann", 2, ""), ("bob", 2, "x")]
        ids = {"unit": [1, 1, 2, 2], "rater": ["ann", "bob"] * 2}
        flags = pd.DataFrame({**ids, "x": [1, 0, None, 1], "y": [0, 0, None, 1]})
        options = {"blank": "empty"}
        for build, data, more in (
            (sa.Annotations.from_wide, wide, {}),
            (sa.Annotations.from_triples, triples, {}),
            (sa.Annotations.from_long, flags, {"labels": ["x", "y"]}),
        ):
            study, words = self.said(build, data, **options, **more)
            assert (study.n_ratings, study.n_missing) == (3, 1)
            assert words.startswith("1 null (None or NaN) read as missing, because blank='empty' ")


class TestCommand:
    def test_text(self):
        name = lines(CASES["null only"])
        for more in ([], ["--memory-limit", "500MB"]):
            result = invoke("score", name, "--blank", "empty", "-f", "json", *more)
            assert result.exit_code == 0
            assert json.loads(result.stdout)[0]["n_ratings"] == 8
            assert result.stderr.count("3 nulls (None or NaN) and 0 blank texts") == 1

    def test_refused(self):
        result = invoke("score", lines(CASES["null only"]), "--blank", "error")
        assert result.exit_code == 2
        assert "Unit 'u2', rater 'ann': the cell is null" in result.stderr
        assert "3 nulls" in result.stderr


def test_exports_of_lists():
    rows = [{"unit": "u", "rater": r, "labels": c} for r, c in (("a", ["x"]), ("b", None))]
    Path("rows.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.warns(BlankLabelsWarning, match=r"^1 null .* read as missing, because") as caught:
        assert sa.read("rows.jsonl", blank="empty").n_ratings == 1
    assert len(caught) == 1
    assert sa.read("rows.jsonl").n_ratings == 1


@pytest.mark.parametrize("empty", ["[]", "set()"])
def test_blanks_beside_cells_that_spell_the_empty_set(empty):
    cells = [*CASES["blank only"][:-1], empty]
    such = "spell out the empty set, such as \\[\\]"
    sentence = f"^2 blank cells read as the empty set .* {such}"
    with pytest.warns(BlankLabelsWarning, match=sentence):
        sa.read(pandas(cells), blank="empty")
    arrow(cells).to_pandas().to_csv("study.csv", index=False)
    with pytest.warns(BlankLabelsWarning, match=sentence):
        sa.agreement("study.csv", blank="empty")
    with pytest.warns(BlankLabelsWarning, match=sentence):
        sa.agreement("study.csv", blank="empty", **LIMIT)
    with pytest.warns(BlankLabelsWarning, match=f"^2 nulls .* read as the empty set .* {such}"):
        sa.read(arrow([cell or None for cell in cells]), blank="empty")


@pytest.mark.parametrize("make", [pandas, lambda cells: pl.from_arrow(arrow(cells))])
def test_the_advice_fits_the_library(make):
    advice = r"pandas: keep_default_na=False; Polars: missing_utf8_is_empty_string=True"
    with pytest.warns(BlankLabelsWarning, match=advice):
        sa.agreement(make(CASES["null only"]), blank="empty")
