"""Reduced where it is, a table gives the tally that it gives in memory, or both roads refuse it."""

import json
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from reduction_support import patterns, quiet

import setagree as sa
from setagree.errors import DataError, FileError, OptionError
from setagree.files.tables import read_table
from setagree.study.codes import as_objects

pytest.importorskip("narwhals", reason="the extra 'frames' is not installed")
duckdb = pytest.importorskip("duckdb", reason="the extra 'files' is not installed")
pa = pytest.importorskip("pyarrow", reason="the extra 'files' is not installed")
pq = pytest.importorskip("pyarrow.parquet")
pl = pytest.importorskip("polars", reason="Polars is not installed")

LIMIT = {"memory_limit": "500MB"}
PLAIN = "unit,rater,labels\n1,a,x\n1,b,y\n2,a,x\n2,b,x\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def outcome(function, *args, **options):
    """Return the kind and the patterns of a tally, or the error."""
    try:
        tally = quiet(function, *args, **options)
    except sa.SetagreeError as error:
        return error
    return tally.kind, tally.n_raters, patterns(tally)


def in_memory(table, **options):
    return sa.Tally.from_annotations(sa.Annotations.from_long(table, **options))


def of_files(path, *, encoding="utf-8", **options):
    memory = outcome(lambda: sa.tally(read_table(path, encoding=encoding), **options))
    return memory, outcome(sa.tally, path, encoding=encoding, **options, **LIMIT)


def check(path, **options):
    """Check that files are the same on both roads; return the error, if they are refused."""
    memory, reduced = of_files(path, **options)
    if isinstance(memory, sa.SetagreeError):
        assert isinstance(reduced, sa.SetagreeError), reduced
        return str(reduced)
    assert not isinstance(reduced, sa.SetagreeError), reduced
    assert reduced == memory
    return None


def write_json(name, *rows):
    """Write objects, or text that stands for them, one a line."""
    lines = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    Path(name).write_text("\n".join(lines), encoding="utf-8")


class TestText:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        "text",
        [
            "\n" + PLAIN,
            "  \n\n" + PLAIN + "\n \n",
            "\ufeff" + PLAIN,
            PLAIN.replace("\n", "\r\n"),
            PLAIN.replace("\n", "\r"),
            PLAIN + '3,a,"x, ""y"", z"\n3,b,"one\ntwo"\n3,c,"one\r\ntwo"\n',
            PLAIN + '3,a,5"" disk\n3,b,"5"""" disk"\n',
            PLAIN + ' "3",a,x\n3 ,b, "x"\n',
            PLAIN + '"3"4,a,x\n34,b,x\n',
            PLAIN + "3,a,\n3,b,\u2003\n",
            PLAIN + "3,a,NA\n3,b,null\n3,c,nan\n",
            PLAIN + "03,a,x\n3,b,x\n3.0,c,x\n",
            PLAIN + "3,a," + "x" * 300_000 + "\n",
            "unit,rater,labels,\n1,a,x,\n1,b,y,\n",
            "unit,rater,labels,Labels_2\n1,a,x,q\n1,b,y,q\n",
            "unit,Unit_,rater,labels\n1,9,a,x\n1,8,b,y\n",
            "unit,rater,labels,filename\n1,a,x,q\n1,b,y,q\n",
            "unit,rater,labels,note\n1,a,x,\n,,,\n1,b,y,q\n,,,q\n",
        ],
    )
    def test_read(self, text):
        Path("a.csv").write_text(text, encoding="utf-8", newline="")
        assert check("a.csv", unit="unit", rater="rater", labels="labels") is None
        if "3,a" in text:  # cells that are odd, too
            assert check("a.csv", unit="unit", rater="rater", value="labels") is None

    @pytest.mark.parametrize(
        ("row", "said"),
        [
            ("3,a,x,", "line 6 has 4 cells, the header 3"),
            ("3,a,x,y", "line 6 has 4 cells, the header 3"),
            ("3,a", "line 6 has 2 cells, the header 3"),
            ('3,a,"x', "a quote opens a cell"),
            ("3,a,\0", "line 6 has a NUL character"),
            ("unit,rater,labels", "repeats its header in row 5"),
            (" ,a,x", "1 row without a unit"),
        ],
    )
    def test_refused(self, row, said):
        Path("a.csv").write_text(f"{PLAIN}{row}\n", encoding="utf-8")
        assert said in check("a.csv")

    @pytest.mark.parametrize("title", ["Study of 2024\n", "Study of 2024,,\n,,\n"])
    def test_a_title(self, title):
        Path("a.csv").write_text(title + PLAIN, encoding="utf-8")
        assert check("a.csv") is None

    @pytest.mark.parametrize("text", ["", "\n\n", "unit,rater,labels\n", "unit,unit,labels\n1,2,3"])
    def test_no_table(self, text):
        Path("a.csv").write_text(text, encoding="utf-8")
        assert "'a.csv'" in check("a.csv")

    @pytest.mark.slow
    def test_columns_that_differ_in_case(self):
        text = (
            "unit,Unit,rater,labels,Labels\n1,1,a,x,y\n1,1,b,y,y\n2,1,c,x,z\n2,4,b,x,z\n3,4,c,z,z\n"
        )
        Path("a.csv").write_text(text, encoding="utf-8")
        for unit in ("unit", "Unit"):
            for labels in ("labels", "Labels"):
                assert check("a.csv", unit=unit, rater="rater", labels=labels) is None
        assert "could each be the unit" in check("a.csv")

    @pytest.mark.slow
    @pytest.mark.parametrize("pieces", [1, 2**24])
    @pytest.mark.parametrize("encoding", ["cp1252", "latin-1", "utf-16", "utf-16-le", "utf-32"])
    def test_encodings(self, encoding, pieces, monkeypatch):
        monkeypatch.setattr("setagree.files.delimited._PIECE", pieces)
        Path("a.csv").write_bytes((PLAIN + "3,a,é\n3,b,ü\n").encode(encoding))
        assert check("a.csv", encoding=encoding) is None
        if encoding in {"cp1252", "latin-1"}:
            assert "is not UTF-8" in check("a.csv")
        elif encoding == "utf-16":  # begins with its mark
            assert check("a.csv") is None

    @pytest.mark.parametrize("pieces", [48, 2**24])
    def test_pieces(self, pieces, monkeypatch):
        """Arrow reads pieces of 48 bytes up to a longer row, and pandas those from there on."""
        monkeypatch.setattr("setagree.files.delimited._PIECE", pieces)
        long = f"3,a,{'z' * 300}\n3,b,x\n"
        for text in (PLAIN, PLAIN + long, PLAIN + long + '4,a,"x, y"\n\n4,b,\n'):
            Path("a.csv").write_text(text, encoding="utf-8")
            assert check("a.csv") is None
        Path("a.csv").write_text(PLAIN + long + "4,a\n", encoding="utf-8")
        assert "line 8 has 2 cells, the header 3" in check("a.csv")
        Path("a.csv").write_text(PLAIN + "unit,rater,labels\n" + PLAIN, encoding="utf-8")
        assert "repeats its header" in check("a.csv")

    @pytest.mark.slow
    def test_several(self):
        Path("1.csv").write_text(PLAIN, encoding="utf-8")
        Path("2.csv").write_text('labels;unit;rater\nx;3;a\n"y";3;b\n', encoding="utf-8")
        Path("3.csv").write_text("rater\tlabels\tunit\t\na\tx\t4\t\n", encoding="utf-8")
        assert check("*.csv") is None
        Path("3.csv").write_text("rater\tlabels\tunit\t\na\tx\t4\tq\n", encoding="utf-8")
        assert "only one of them has 'column 4'" in check("*.csv")
        Path("3.csv").write_text("rater,tags,unit\na,x,4\n", encoding="utf-8")
        assert "have different columns" in check("*.csv")

    def test_columns_without_a_name(self):
        for cell in ("", "z"):
            text = f"unit,rater,\n1,a,{cell}\n1,b,{cell}\n"
            Path("a.csv").write_text(text, encoding="utf-8")
            said = check("a.csv", labels="column 3", blank="empty")
            assert (said is None) == bool(cell)

    @pytest.mark.slow
    def test_compressed(self, tmp_path):
        frame = pd.DataFrame({"unit": [1, 1], "rater": [*"ab"], "labels": [*"xy"]})
        for ending in ("csv.gz", "csv.bz2", "csv.xz", "csv.zip", "tsv.gz"):
            frame.to_csv(f"a.{ending}", index=False, sep="\t" if "tsv" in ending else ",")
            assert check(f"a.{ending}") is None
        Path("a.csv.gz").write_bytes(Path("a.csv.gz").read_bytes()[:-9])
        assert "is damaged or cut off" in check("a.csv.gz")
        pytest.importorskip("openpyxl", reason="openpyxl is not installed")
        frame.to_excel("a.xlsx", index=False)
        Path("a.xlsx").rename("a.csv")
        with pytest.raises(FileError, match="is read into memory as a whole"):
            sa.tally("a.csv", **LIMIT)


class TestCopies:
    def test_no_column(self):
        Path("1.csv").write_text("unit,rater,\n1,a,x\n", encoding="utf-8")
        Path("2.csv").write_text("unit,rater\n1,b\n", encoding="utf-8")
        assert "'2.csv' has no column 'column 3'" in check("*.csv", labels="column 3")

    def test_no_room(self, monkeypatch):
        Path("a.csv").write_text(PLAIN, encoding="utf-8")

        def full(*_):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
        with pytest.raises(FileError, match=r"copy of 'a.csv' .*No space left.*name a folder"):
            sa.tally("a.csv", **LIMIT)

    def test_no_pyarrow(self, monkeypatch):
        Path("a.csv").write_text(PLAIN, encoding="utf-8")
        monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
        with pytest.raises(sa.SetagreeError, match=r"needs pyarrow.*setagree\[files\]"):
            sa.tally("a.csv", **LIMIT)

    def test_exports(self):
        rows = [{"text": "t", "_annotator_id": "d-ann", "_session_id": "d-ann", "answer": "accept"}]
        rows = [{**row, "_input_hash": 1, "_task_hash": 1, "accept": ["x"]} for row in rows]
        write_json("a.jsonl", *rows)
        with pytest.raises(FileError, match=r"the export of a tool, Prodigy.* omit memory_limit="):
            sa.tally("a.jsonl", **LIMIT)


class TestJson:
    ONES = (1, 1.0, "1", "1.0", True)
    ROWS = (
        {"unit": 1, "rater": "a", "labels": ["x", "y"]},
        {"unit": 1, "rater": "b", "labels": "y,x"},
        {"unit": 2, "rater": "a", "labels": []},
        {"unit": 2, "rater": "b", "labels": None},
        {"unit": 2, "rater": "c"},
    )

    @pytest.mark.slow
    @pytest.mark.parametrize("pieces", [1, 2**22])
    @pytest.mark.parametrize(
        "rows",
        [
            ROWS,
            ("", *ROWS, "  "),
            [{**row, "unit": row["unit"] / 2} for row in ROWS],
            [{**row, "unit": f" u{row['unit']}\u3000"} for row in ROWS],
            [{**row, "unit": unit} for row, unit in zip(ROWS, ONES, strict=True)],
            [{**row, "unit": 2**70 + row["unit"]} for row in ROWS],
            [{**row, "unit": f"\0#{row['unit']}"} for row in ROWS],
            [{"rater": "a", "unit": 3, "note": 1}, *ROWS],
            [{**row, "": 5, "a.b": 1, "$": 2} for row in ROWS],
        ],
    )
    def test_read(self, rows, pieces, monkeypatch):
        monkeypatch.setattr("setagree.files.records._PIECE", pieces)
        write_json("a.jsonl", *rows)
        assert check("a.jsonl", blank="missing") is None

    @pytest.mark.slow
    @pytest.mark.parametrize(
        "cells",
        [
            [1, 2, 2.0, 1.5, None],
            [1, True, False, 0, 2],
            ["1", "2", "2.0", "x", ""],
            [1, "1", "x", 1.0, True],
            [2**60 + 256, 2**60, 2**60 + 256, 2**60, 1],
            [2**80, -(2**80), 1, 0.5, -0.0],
            [float("nan"), 1, 2, 1, 2],
        ],
    )
    def test_values(self, cells):
        write_json(
            "a.jsonl", *[{**row, "labels": c} for row, c in zip(self.ROWS, cells, strict=True)]
        )
        assert check("a.jsonl", value="labels") is None

    @pytest.mark.parametrize(
        ("row", "said"),
        [
            ('{"unit": 3, "unit": 4, "rater": "a", "labels": "x"}', "has the key 'unit' twice"),
            ('{"unit": {"a": 1}, "rater": "a", "labels": "x"}', "named by text or a number"),
            ('{"unit": 3, "rater": ["a"], "labels": "x"}', "named by text or a number"),
            ('{"unit": 3, "rater": null, "labels": "x"}', "1 row without a rater"),
            ('{"unit": 3, "labels": "x"}', "1 row without a rater"),
            ('{"unit": 3, "rater": " ", "labels": "x"}', "1 row without a rater"),
            ('{"unit": 3, "rater": "a", "labels": {"x": 1}}', "is a dict, not labels"),
            ('{"unit": 3, "rater": "a", "labels": [{"x": 1}]}', "a label is text or"),
            ('{"unit": 3, "rater": "a", "labels": [null]}', "a label inside a list is missing"),
            ('{"unit": 3, "rater": "a", "labels": 5}', "not labels"),
            ('{"unit": 3, "rater": "a", "labels": "x"', "line 6"),
            ('{"unit": 1.0, "rater": "a", "labels": "x"}', "annotated more than once"),
            ("[1]", "line 6"),
            ("nothing", "line 6"),
            (r'{"unit": 3, "rater": "a", "labels": "\ud83d"}', "holds half a character"),
            (r'{"unit": 3, "rater": "a\ud83d", "labels": "x"}', "holds half a character"),
            (r'{"unit": "\ud83d", "rater": "a", "labels": "x"}', "holds half a character"),
            ('{"unit": 3, "rater": "a", "labels": 1e999}', "not labels"),
        ],
    )
    def test_refused(self, row, said):
        write_json("a.jsonl", *self.ROWS, row)
        assert said in check("a.jsonl", unit="unit", rater="rater", labels="labels")

    @pytest.mark.slow
    def test_places(self):
        write_json("a.jsonl", *self.ROWS, {"unit": 7, "rater": "a", "labels": 'x"'})
        assert "Unit '7', rater 'a'" in check("a.jsonl")
        write_json("a.jsonl", *self.ROWS, self.ROWS[0])
        assert "unit '1', rater 'a': 2 times" in check("a.jsonl")

    def test_no_lines(self):
        write_json("a.jsonl", "", "")
        assert "is empty" in check("a.jsonl")

    @pytest.mark.slow
    @pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "cp1252"])
    def test_encodings(self, encoding):
        text = "\n".join(json.dumps(row | {"labels": "é"}, ensure_ascii=False) for row in self.ROWS)
        Path("a.jsonl").write_bytes(text.encode(encoding))
        assert check("a.jsonl", encoding="utf-8" if "utf-8" in encoding else encoding) is None
        Path("a.jsonl").write_bytes(text.encode("latin-1"))
        assert "name its encoding" in check("a.jsonl")

    @pytest.mark.slow
    def test_several(self):
        write_json("1.jsonl", *self.ROWS)
        write_json("2.jsonl", {"labels": "x", "rater": "a", "unit": 3})
        assert check("*.jsonl") is None
        write_json("2.jsonl", {"labels": "x", "rater": "a", "unit": "1"})
        assert "is text in" in check("*.jsonl")
        write_json("2.jsonl", {"labels": "x", "rater": "a", "unit": 1, "note": 1})
        assert "only one of them has 'note'" in check("*.jsonl")

    @pytest.mark.slow
    def test_keys_that_come_late(self):
        many = [{"unit": k, "rater": "a", "tag": "x"} for k in range(3)]
        write_json("a.jsonl", *many, {"unit": 9, "rater": "a", "tag": "x", "labels": "y"})
        assert check("a.jsonl") is None
        write_json("a.jsonl", {"note": 1, "rater": "a"}, *many)
        assert "without a unit" in check("a.jsonl")

    @pytest.mark.slow
    def test_the_first_piece_is_not_all(self, monkeypatch):
        monkeypatch.setattr("setagree.files.records._PIECE", 1)
        write_json("a.jsonl", {"unit": 1, "rater": "a"}, *self.ROWS[1:])
        assert check("a.jsonl") is None
        rows = [{"unit": k, "rater": "a", "tag": "x"} for k in range(3)]
        write_json("a.jsonl", *rows, {"unit": 9, "rater": "a", "tag": "x", "labels": "y"})
        assert check("a.jsonl") is None


class TestParquet:
    def write(self, path, **columns):
        pq.write_table(pa.table({"unit": [1, 1, 2, 2], "rater": [*"abab"], **columns}), path)

    @pytest.mark.slow
    def test_columns_that_differ_in_case(self):
        self.write("a.parquet", Unit=[1, 2, 3, 4], labels=[*"xyxx"])
        _, reduced = of_files("a.parquet", unit="unit")
        assert "which are one to DuckDB; rename all but one, or omit memory_limit=" in str(reduced)
        self.write("a.parquet", Note=[1, 2, 3, 4], note=[1, 2, 3, 4], labels=[*"xyxx"])
        assert check("a.parquet") is None

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["filename", "file_row_number", "rowid", "unit.x", "*", '"'])
    def test_odd_columns(self, name):
        self.write("a.parquet", **{name: [*"xyxx"]})
        assert check("a.parquet", labels=name) is None

    @pytest.mark.parametrize("name", ["", "a\0b"])
    def test_no_names(self, name):
        self.write("a.parquet", **{name: [*"xyxx"]})
        with pytest.raises(
            FileError, match="which DuckDB does not accept as a name; rename it, or omit memory"
        ):
            sa.tally("a.parquet", labels=name, **LIMIT)


TYPES = [
    pa.array([[1], [2], [1], []], pa.list_(pa.int64())),
    pa.array([{"a": 1}, {"a": 2}, {"a": 1}, None]),
    pa.array([["x"], ["x", "y"], [], None]),
    pa.array([1, 2, 1, 2], pa.timestamp("ns")),
    pa.array([1, 2, 1, 2], pa.timestamp("us", "Europe/Oslo")),
    pa.array([1, 2, 1, 2], pa.duration("us")),
    pa.array([1, 2, 1, 2], pa.date32()),
    pa.array([1, 2, 1, 2], pa.decimal128(9, 2)),
    pa.array([1, 2, 1, 2], pa.float32()),
    pa.array([b"x", b"y", b"x", b"x"]),
    pa.array([True, False, None, True]),
    pa.array([2**64 - 1, 2**64 - 2, 1, 2], pa.uint64()),
    pa.array(["x", "y", "x", "x"]).dictionary_encode(),
    pa.array([None] * 4),
]
ENGINES_REFUSE = {
    "unit": {"duration[us]"},
    "rater": {"duration[us]"},
    "labels": set(),
    "value": {"duration[us]", "timestamp[ns]"},
}
"""Types that memory reads and engines do not."""


@pytest.mark.parametrize(
    ("role", "road"),
    [(role, "polars") for role in ("unit", "rater", "labels", "value")]
    + [pytest.param(role, "file", marks=pytest.mark.slow) for role in ("unit", "labels", "value")],
)
@pytest.mark.parametrize("cells", TYPES, ids=lambda cells: str(cells.type))
def test_types(cells, role, road):
    """The same on both roads, refused by both, or refused in a sentence with the way out."""
    columns = {"unit": [1, 2, 3, 4], "rater": [*"abcd"], "labels": [*"xyxx"], role: cells}
    table = pa.table(columns)
    options = {"value": "value"} if role == "value" else {"labels": "labels"}
    if road == "file":
        pq.write_table(table, "a.parquet")
        memory, reduced = of_files("a.parquet", **options)
    else:
        frame = pl.from_arrow(table)
        memory, reduced = (outcome(sa.tally, data, **options) for data in (frame, frame.lazy()))
    if isinstance(reduced, sa.SetagreeError) and not isinstance(memory, sa.SetagreeError):
        assert "text or numbers" in str(reduced)
        assert "memory_limit=" in str(reduced)
        assert str(cells.type) in ENGINES_REFUSE[role]
    else:
        assert isinstance(memory, sa.SetagreeError) == isinstance(reduced, sa.SetagreeError)
        assert isinstance(memory, sa.SetagreeError) or memory == reduced


def test_a_type_is_refused_by_the_name_of_the_column():
    columns = {"doc": [[1], [2]], "rater": [*"ab"], "labels": [*"xy"]}
    pq.write_table(pa.table(columns), "a.parquet")
    with pytest.raises(DataError, match=r"^column 'doc' holds List.*it cannot be the unit"):
        sa.tally("a.parquet", unit="doc", **LIMIT)


class TestRelations:
    @pytest.mark.parametrize(
        "kind",
        ["INTEGER[]", "STRUCT(a INTEGER)", "MAP(VARCHAR, INTEGER)", "INTERVAL", "HUGEINT"],
    )
    @pytest.mark.parametrize("role", ["unit", "rater", "labels"])
    def test_types_that_are_refused(self, kind, role):
        cell = {"INTEGER[]": "[1]", "STRUCT(a INTEGER)": "{'a': 1}", "INTERVAL": "'30 days'"}
        cell = cell.get(kind, "1" if kind == "HUGEINT" else "MAP {'a': 1}")
        cells = {"unit": "1", "rater": "'a'", "labels": "'x'", role: f"{cell}::{kind}"}
        picked = ", ".join(f"{text} AS {name}" for name, text in cells.items())
        relation = duckdb.sql(f"SELECT {picked}")
        if kind == "INTEGER[]" and role == "labels":
            assert outcome(sa.tally, relation) == outcome(
                in_memory, relation, **{role: role for role in cells}
            )
            return
        with pytest.raises(sa.SetagreeError, match=f"column '{role}' holds .*make it text or"):
            sa.tally(relation)

    @pytest.mark.slow
    def test_types_that_are_text(self):
        connection = duckdb.connect()
        connection.execute("CREATE TYPE mood AS ENUM ('low', 'high')")
        relation = connection.sql(
            "SELECT '12345678-1234-1234-1234-123456789012'::UUID AS unit, "
            "'low'::mood AS rater, 'high'::mood AS labels"
        )
        assert sa.tally(relation).values == (frozenset({"high"}),)


class TestOptions:
    @pytest.mark.parametrize("name", ["assume_unique", "partitioned_by_unit"])
    @pytest.mark.parametrize("given", ["no", 1, 0, None, np.True_])
    @pytest.mark.parametrize("function", [sa.tally, sa.agreement])
    def test_flags(self, name, given, function):
        Path("a.csv").write_text(PLAIN, encoding="utf-8")
        with pytest.raises(OptionError, match=f"{name}=.* must be True or False"):
            function("a.csv", **{name: given})

    @pytest.mark.parametrize("temp_directory", ["", 5, "gone", "a.csv", "~/gone"])
    def test_spill(self, temp_directory):
        Path("a.csv").write_text(PLAIN, encoding="utf-8")
        with pytest.raises(OptionError, match="is not a folder"):
            sa.tally("a.csv", temp_directory=temp_directory)

    def test_patterns(self):
        Path("a.csv").write_text(PLAIN, encoding="utf-8")
        Path("of [2024]").mkdir()
        with pytest.raises(
            OptionError, match="is a pattern to DuckDB; name another as temp_directory="
        ):
            sa.tally("a.csv", temp_directory="of [2024]")

    @pytest.mark.slow
    def test_home(self, monkeypatch):
        Path("a.csv").write_text(PLAIN, encoding="utf-8")
        Path("home").mkdir()
        monkeypatch.setenv("HOME", str(Path("home").absolute()))
        assert sa.tally("a.csv", temp_directory="~").n_units == 2

    @pytest.mark.parametrize(
        "limit", ["", "2", 2, "GB", "-1GB", "1e3GB", "much", "1PB", True, "٢GB"]
    )
    def test_memory_limit(self, limit):
        Path("a.csv").write_text(PLAIN, encoding="utf-8")
        with pytest.raises(OptionError, match="is not an amount of memory; write '2GB'"):
            sa.tally("a.csv", memory_limit=limit)


TIME = pd.Timestamp("2020-01-01")
OBJECTS = {
    "flags": [True, False, None, True],
    "flags and text": [True, "True", "x", False],
    "ones": [True, 1, "1", 1.0],
    "large": [2**60 + 1, 2**60, 0.5, 1],
    "lists": [["a"], ["b", "a"], [], None],
    "lists of numbers": [[1], [1, 2], [], [2]],
    "lists of flags": [[True, False], [True, True], [1, 0], [False, False]],
    "lists and text": ["a", ["a"], "a,b", ["n/a"]],
    "sets": [{"a"}, {"b", "a"}, set(), {"b"}],
    "arrays": [np.array(["a"]), np.array(["b"]), ["b"], "a"],
    "tuples": [("a",), ("a", 1), ("a", 1.0), ()],
    "decimals": [Decimal(1), Decimal("1.0"), Decimal("0.5"), 1],
    "fractions": [Fraction(1, 3), Fraction(1, 2), 0.5, 1],
    "objects": [{"a": 1}, "x", "y", "z"],
    "times": [TIME, TIME, None, TIME],
}


class TestDask:
    @pytest.fixture(autouse=True)
    def dask(self):
        dask = pytest.importorskip("dask", reason="Dask is not installed")
        pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
        with dask.config.set(scheduler="synchronous"):
            yield dask

    def frame(self, table, pieces=2):
        """Return a frame of Dask whose partitions share units."""
        import dask.dataframe as dd

        return dd.from_pandas(table, npartitions=pieces, sort=False)

    @pytest.mark.slow
    @pytest.mark.parametrize("convert", [True, False])
    @pytest.mark.parametrize("role", ["unit", "rater", "labels", "value"])
    @pytest.mark.parametrize("name", OBJECTS)
    def test_objects(self, dask, name, role, convert):
        cells = pd.Series(as_objects(OBJECTS[name]), dtype=object)
        columns = {"unit": [*"uuvv"], "rater": [*"abab"], "labels": [*"xyxx"]}
        columns |= {"rater": [*"abcd"]} if role == "unit" else {}
        columns |= {"unit": [*"uvwx"]} if role == "rater" else {}
        table = pd.DataFrame({**columns, role: cells})
        answer = {"value": "value"} if role == "value" else {"labels": "labels"}
        options = {"unit": "unit", "rater": "rater", "na_values": ["n/a"], **answer}
        memory = outcome(in_memory, table, **options)
        with dask.config.set({"dataframe.convert-string": convert}):
            reduced = outcome(sa.tally, self.frame(table), **options)
        if isinstance(memory, sa.SetagreeError):
            assert isinstance(reduced, sa.SetagreeError), reduced
        else:
            assert reduced == memory

    @pytest.mark.slow
    def test_what_was_made_text_before(self, dask):
        import dask.dataframe as dd

        table = pd.DataFrame({"unit": [1, 1], "rater": [*"ab"], "value": [True, None]})
        table = table.astype({"value": object})
        for frame in (self.frame(table), dd.from_delayed([dask.delayed(table)])):
            with pytest.raises(DataError, match=r"'value' holds boolean objects, .*convert-string"):
                sa.tally(frame[frame["rater"] != "c"], value="value")
            kept = frame[frame["rater"] != "c"]
            assert sa.tally(kept.assign(note=1)[["unit", "rater"]].assign(value=1)).n_units == 1

    def test_text(self):
        table = pd.DataFrame({"unit": [*"uuv"], "rater": [*"aba"], "labels": ["x", None, "y"]})
        frame = self.frame(table)
        assert outcome(sa.tally, frame[frame["unit"] != "w"]) == outcome(sa.tally, table)


def test_text_that_is_not_of_its_encoding(tmp_path):
    path = tmp_path / "study.csv"
    path.write_bytes(b"unit,rater,labels\n1,a,x\n1,b,y\n")
    for options in ({}, {"memory_limit": "300MB"}):
        with pytest.raises(FileError, match="UTF-16 stream does not start with BOM"):
            sa.agreement(str(path), encoding="utf-16", **options)
