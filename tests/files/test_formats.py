"""Files of every kind hold the same table: JSON, Parquet, Excel, packed, from standard input."""

import bz2
import datetime as dt
import gzip
import io
import json
import lzma
import os
import random
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pandas as pd
import pytest

import setagree as sa
from setagree.errors import (
    DataError,
    FileError,
    MissingDependencyError,
    SetagreeError,
    SetagreeWarning,
)
from setagree.files import binary, delimited, records, streams
from setagree.files import tables as files
from setagree.files.tables import read_table
from setagree.large import opening
from setagree.study.annotations import Annotations
from setagree.study.columns import guess_wide_unit

RECORDS = [
    {"doc": "u1", "who": "ana", "tags": "joy"},
    {"doc": "u1", "who": "ben", "tags": "joy, surprise"},
    {"doc": "u2", "who": "ana", "tags": ""},
    {"doc": "u2", "who": "ben", "tags": "anger"},
    {"doc": "ü3", "who": "ana", "tags": 'fear, "a, b"'},
    {"doc": "ü3", "who": "ben", "tags": "NA"},
]
FRAME = pd.DataFrame(RECORDS)
CSV = FRAME.to_csv(index=False)
LINES = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in RECORDS)
LISTS = [["joy"], ["joy", "surprise"], [], ["anger"], ["fear", "a, b"], None]


# It reads files once, so that all is loaded and all threads run, and again in limited memory.
LIMITED = r"""
import re, resource, sys
import setagree as sa
from setagree.files.tables import read_table
def study(path):
    return sa.read(path) if "tool" in path else sa.Annotations.from_long(read_table(path))
for path in sys.argv[1:]:
    study(path)
with open("/proc/self/status") as status:
    held = 1024 * int(re.search(r"VmSize:\s+(\d+)", status.read())[1])
resource.setrlimit(resource.RLIMIT_AS, (held + 700_000_000, resource.RLIM_INFINITY))
for path in sys.argv[1:]:
    print(study(path).n_ratings)
"""

# It is bounded before anything of Arrow or of SciPy's linear algebra has run.
BOUNDED = r"""
import re, resource, sys
import pandas, pyarrow
import setagree as sa
with open("/proc/self/status") as status:
    held = 1024 * int(re.search(r"VmSize:\s+(\d+)", status.read())[1])
most = held + int(sys.argv[2]) * 1_000_000
resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
study = sa.read(sys.argv[1])
sa.krippendorff_alpha(study).interval()
print(study.n_ratings)
"""


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file in a fresh folder and return its path."""

    def write_file(content, name):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write_file


def refusal(path, kind=FileError, **options):
    with pytest.raises(kind) as caught:
        read_table(path, **options)
    return str(caught.value)


def rows(frame):
    return frame.astype(object).to_dict("records")


def zstd(content):
    pa = pytest.importorskip("pyarrow")
    return pa.compress(content, codec="zstd", asbytes=True)


def zipped(members):
    """Return a zip archive of files by name."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return content.getvalue()


def parquet(frame):
    pytest.importorskip("pyarrow")
    content = io.BytesIO()
    frame.to_parquet(content)
    return content.getvalue()


def workbook(*sheets):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for number, sheet in enumerate(sheets, start=1):
        page = book.create_sheet(f"page {number}")
        for row in sheet:
            page.append(row)
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def excel(frame):
    return workbook([list(frame), *frame.to_numpy().tolist()])


KINDS = {
    "study.csv": lambda: CSV,
    "study.tsv": lambda: FRAME.to_csv(index=False, sep="\t"),
    "study.json": lambda: json.dumps(RECORDS),
    "pretty.json": lambda: json.dumps(RECORDS, indent=2),
    "lines.json": lambda: LINES,
    "study.jsonl": lambda: LINES,
    "study.ndjson": lambda: "\ufeff" + LINES.replace("\n", "\r\n\n"),
    "without_an_ending": lambda: LINES,
    "columns.json": lambda: json.dumps({n: FRAME[n].tolist() for n in FRAME}),
    "pandas.json": FRAME.to_json,
    "pandas_records": lambda: FRAME.to_json(orient="records"),
    "study.parquet": lambda: parquet(FRAME),
    "study": lambda: parquet(FRAME),
    "study.xlsx": lambda: excel(FRAME),
    "study.csv.gz": lambda: gzip.compress(CSV.encode()),
    "study.csv.bz2": lambda: bz2.compress(CSV.encode(), 5),
    "study.csv.xz": lambda: lzma.compress(CSV.encode()),
    "study.csv.zst": lambda: zstd(CSV.encode()),
    "study.csv.zip": lambda: zipped({"study.csv": CSV, "__MACOSX/._study.csv": "x", "a/": ""}),
    "study.jsonl.gz": lambda: gzip.compress(LINES.encode()),
    "study.json.xz": lambda: lzma.compress(json.dumps(RECORDS).encode()),
    "study.parquet.zip": lambda: zipped({"study.parquet": parquet(FRAME)}),
    "wrong ending.csv": lambda: bz2.compress(CSV.encode()),
}


class TestEveryKind:
    @pytest.mark.parametrize("name", KINDS)
    def test_same_table(self, write, name):
        assert rows(read_table(write(KINDS[name](), name))) == RECORDS

    @pytest.mark.filterwarnings("ignore::setagree.errors.MissingMarkerWarning")
    @pytest.mark.parametrize("name", KINDS)
    def test_agreement(self, write, name):
        expected = sa.agreement(FRAME, blank="empty").to_frame()
        path = write(KINDS[name](), name)
        table = sa.agreement(path, unit="doc", rater="who", labels="tags", blank="empty")
        pd.testing.assert_frame_equal(table.to_frame(), expected, rtol=0, atol=1e-12)

    def test_text_that_begins_as_bzip2_does(self, write):
        assert [*read_table(write("BZh,labels\nu1,a\n", "a.csv"))] == ["BZh", "labels"]

    def test_json_as_large_as_the_memory(self, write):
        path, most = write(LINES, "a.jsonl"), streams.BYTE_MEMORY * len(LINES.encode())
        assert rows(read_table(path, most=most)) == RECORDS
        with pytest.raises(streams.LargeError):
            read_table(path, most=most - 1)

    def test_the_names_of_classes(self, write):
        path = write('{"unit": "u", "labels": [0, 1]}\n{"unit": "v", "labels": [1]}\n', "a.jsonl")
        features = {"labels": {"feature": {"names": ["joy", "fear"], "_type": "ClassLabel"}}}
        write(json.dumps(features), "a.features.json")
        assert read_table(path)["labels"].tolist() == [["joy", "fear"], ["fear"]]
        for number in (-1, 2):
            write(f'{{"unit": "u", "labels": [{number}]}}\n', "a.jsonl")
            assert f"column 'labels': {number} is not the number of a class" in refusal(path)

    def test_a_python_without_xz(self, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "lzma", None)
        (tmp_path / "study.csv.xz").write_bytes(lzma.compress(CSV.encode()))
        with pytest.raises(FileError, match=r"study\.csv\.xz' cannot be unpacked: .*lzma"):
            read_table(tmp_path / "study.csv.xz")
        (tmp_path / "study.csv.gz").write_bytes(gzip.compress(CSV.encode()))
        assert len(read_table(tmp_path / "study.csv.gz")) == len(FRAME)

    @pytest.mark.filterwarnings("ignore::setagree.errors.MissingMarkerWarning")
    @pytest.mark.parametrize("name", ["study.tsv", "study.parquet", "study.xlsx", "study.csv.xz"])
    def test_columns_are_found(self, write, name):
        table = sa.agreement(write(KINDS[name](), name), blank="empty")
        assert table.to_frame().equals(sa.agreement(FRAME, blank="empty").to_frame())

    @pytest.mark.filterwarnings("ignore::setagree.errors.MissingMarkerWarning")
    def test_several(self, write):
        for name in ("study.csv", "study.json", "study.parquet", "study.xlsx"):
            path = write(KINDS[name](), name)
        frame = read_table(path.parent / "study.*")
        assert rows(frame) == RECORDS * 4
        with pytest.warns(SetagreeWarning, match="18 of 24 ratings dropped"):
            study = sa.Annotations.from_long(
                frame, unit="doc", rater="who", labels="tags", blank="empty", duplicates="first"
            )
        assert study.n_ratings == 6

    def test_lists(self, write):
        frame = FRAME.assign(tags=LISTS)
        expected = sa.Annotations.from_long(frame, unit="doc", rater="who", labels="tags")
        assert expected.n_missing == 1
        as_dicts = [{**row, "tags": tags} for row, tags in zip(RECORDS, LISTS, strict=True)]
        for name, content in {
            "a.json": json.dumps(as_dicts),
            "a.jsonl": "\n".join(map(json.dumps, as_dicts)),
            "a.parquet": parquet(frame),
        }.items():
            table = read_table(write(content, name))
            study = sa.Annotations.from_long(table, unit="doc", rater="who", labels="tags")
            assert study.to_triples() == expected.to_triples()
            assert study.n_missing == 1

    def test_numbers(self, write):
        scores = [2**60, 2**60 + 2**8, None, 3]
        frame = pd.DataFrame({"unit": [1, 1, 2, 2], "rater": list("abab")})
        in_parquet = frame.assign(score=pd.array(scores, dtype="Int64"))
        as_dicts = [
            {**row, "score": s} for row, s in zip(frame.to_dict("records"), scores, strict=True)
        ]
        for name, content in {
            "a.json": json.dumps(as_dicts),
            "a.parquet": parquet(in_parquet),
        }.items():
            table = read_table(write(content, name))
            study = sa.Annotations.from_long(table, value="score")
            assert study.values == (2**60, 2**60 + 2**8, 3)
            assert study.units.tolist() == [1, 2]

    def test_the_unit_of_a_wide_table(self, write):
        wide = [{"q": "x", "ann": ["a"], "bob": ["a", "b"]}, {"q": "y", "ann": [], "bob": ["a"]}]
        table = read_table(write(json.dumps(wide), "wide.json"))
        assert guess_wide_unit(table) == "q"
        scores = pd.DataFrame({"q": [11, 12, 13], "ann": [1, None, 2], "bob": [1, 1, None]})
        assert guess_wide_unit(read_table(write(parquet(scores), "wide.parquet"))) == "q"


class TestJson:
    @pytest.mark.parametrize(
        "lines",
        [
            '{"a":"x","b":""}\n\n {"a" : "\u00e9 1", "b":"2020-01-01"}  \r\n',
            '{"a":"x","b":"y"}\n{"b":"x","a":"y"}',
            '{"a":"x","b":"y\\n"}\n{"a":"x","b":"\\u00e9"}\n',
            '{"a":"x","b":"y"}\n{"a":"x"}\n',
            '{"a":"x","b":"y"}\n{"a":"x","b":["y"]}\n',
            '{"a.":"x","b|":"{}"}\n{"a.":"]","b|":","}',
        ],
    )
    def test_lines_are_read_as_python_reads_each(self, tmp_path, lines):
        (tmp_path / "a.jsonl").write_text(lines, encoding="utf-8", newline="")
        rows = [json.loads(line) for line in lines.splitlines() if line.strip()]
        read = read_table(tmp_path / "a.jsonl").to_dict("records")
        assert [{k: v for k, v in row.items() if v is not None} for row in read] == rows

    @pytest.mark.parametrize(
        ("content", "name", "words"),
        [
            ("", "a.json", "is empty"),
            (" \n ", "a.jsonl", "is empty"),
            ("[]", "a.json", "has no rows"),
            ("[1, 2]", "a.json", "record 0 is 1; each must be an object"),
            ('{"a": 1}\n[2]\n', "a.jsonl", "line 2 is [2]; each must be an object"),
            ('{"a": 1}\n\n{"a": 2\n', "a.jsonl", "line 3, column 8: the JSON is cut off."),
            (
                '{"a": 1}\n{"a": x}\n',
                "a.jsonl",
                "line 2, column 7: this is not JSON (Exp",
            ),
            ('{"a": 1}, {"a": 2}\n', "a.jsonl", "line 1, column 9: this is not JSON (Extra data)"),
            ('[{"a": 1},\n {"a"', "a.json", "line 2, column 6: the JSON is cut off."),
            ('{"a": 1, "a": 2}', "a.json", "an object has the key 'a' twice"),
            ('{"a": 1}\n{"a": 1, "a": 2}', "a.jsonl", "line 2: an object has the key 'a' twice"),
            ('{"a": "x"}\n{"a": "x", "a": "y"}', "a.jsonl", "line 2: an object has the key 'a'"),
            (
                '{"a": "x"}\n{"a": "x"} {"a": "y"}\n',
                "a.jsonl",
                "line 2, column 12: this is not JSON",
            ),
            ('{"a": 1}', "a.json", "is one object of 1 key; write a list of objects"),
            ("{}", "a.json", "is one object of 0 keys"),
            ('{"a": [1, 2], "b": [1]}', "a.json", "columns of different lengths"),
            ('"text"', "a.json", "has 'text', not a list of objects"),
            ("[" * 100_000, "a.json", "recursion"),
            ("unit,rater\n", "a.json", "line 1, column 1: this is not JSON (Expecting value)"),
        ],
    )
    def test_refusals(self, write, content, name, words):
        path = write(content, name)
        sentence = refusal(path)
        assert sentence.startswith(repr(str(path)))
        assert words in sentence

    def test_one_line_of_lines(self, write):
        assert rows(read_table(write('{"a": "x", "b": ["y"]}\n', "a.jsonl"))) == [
            {"a": "x", "b": ["y"]}
        ]

    def test_a_list_in_a_file_of_lines(self, write):
        assert len(read_table(write(json.dumps(RECORDS), "a.jsonl"))) == 6

    def test_absent_keys(self, write):
        table = read_table(write('{"a": "x"}\n{"b": "y", "a": null}\n', "a.jsonl"))
        assert list(table) == ["a", "b"]
        assert table.isna().to_numpy().tolist() == [[False, True], [True, False]]

    def test_line_ends_inside_text(self, write):
        text = json.dumps({"a": "x\u2028y\x85z"}, ensure_ascii=False)
        table = read_table(write(f"{text}\n{text}\n", "a.jsonl"))
        assert table["a"].tolist() == ["x\u2028y\x85z"] * 2

    def test_encodings(self, write):
        path = write(LINES.encode("latin-1"), "a.jsonl")
        assert "byte 0xfc at offset" in refusal(path)
        assert "(line 5)" in refusal(path)
        assert rows(read_table(path, encoding="latin-1")) == RECORDS

    def test_place_behind_a_mark(self, write):
        start = b'\xef\xbb\xbf[{"unit": "u1", "rater": "ann", "labels": "caf'
        sentence = refusal(write(start + b'\xe9 x"}]', "a.json"))
        assert f"is not UTF-8: byte 0xe9 at offset {len(start)} (line 1)" in sentence

    def test_too_large(self, write, monkeypatch):
        monkeypatch.setattr(records, "_MAX_BYTES", 100)
        assert "is over 100 bytes of JSON" in refusal(write(LINES, "a.jsonl"))

    def test_a_header_that_looks_like_json(self, write):
        assert list(read_table(write('{"a",b\n1,2\n', "a.csv"))) == ['{"a"', "b"]

    def test_text_of_json_is_a_csv(self, write):
        frame = pd.DataFrame({"unit": ["u1"], "labels": ['["a", "b"]']})
        assert rows(read_table(write(frame.to_csv(index=False), "study"))) == frame.to_dict(
            "records"
        )


class TestParquet:
    def test_memory_that_runs_out(self, tmp_path, monkeypatch):
        pa = pytest.importorskip("pyarrow", reason="the extra 'files' is not installed")
        parquet = pytest.importorskip("pyarrow.parquet")

        def refuse(*_, **__):
            raise pa.ArrowMemoryError("malloc of size 9 failed")

        pd.DataFrame({"unit": ["u"], "rater": ["a"]}).to_parquet(tmp_path / "good.parquet")
        monkeypatch.setattr(parquet, "read_table", refuse)
        with pytest.raises(sa.SetagreeError, match="does not fit into the memory"):
            read_table(tmp_path / "good.parquet")

    @pytest.mark.slow
    @pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="it reads /proc")
    @pytest.mark.parametrize("more", [900, 1200, 1400])
    def test_bounded_address_space(self, write, monkeypatch, more):
        monkeypatch.delenv("OPENBLAS_NUM_THREADS")  # each thread reserves memory
        path = write(parquet(FRAME), "a.parquet")
        done = subprocess.run(
            [sys.executable, "-c", BOUNDED, str(path), str(more)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.stdout, done.returncode) == ("5\n", 0), done.stderr

    def test_threads_that_are_not_to_be_had(self, tmp_path, monkeypatch):
        pa = pytest.importorskip("pyarrow", reason="the extra 'files' is not installed")
        parquet = pytest.importorskip("pyarrow.parquet")

        def refuse(*_, **__):
            raise pa.ArrowException("Unknown error: Failed to launch worker thread: Resource")

        pd.DataFrame({"unit": ["u"], "rater": ["a"]}).to_parquet(tmp_path / "good.parquet")
        monkeypatch.setattr(parquet, "read_table", refuse)
        with pytest.raises(sa.SetagreeError, match="the process may not start more threads"):
            read_table(tmp_path / "good.parquet")

    def test_damaged(self, write):
        path = write(parquet(FRAME)[:-20], "a.parquet")
        assert "is a damaged Parquet file" in refusal(path)

    def test_no_rows(self, write):
        assert "has columns and no rows" in refusal(write(parquet(FRAME[:0]), "a.parquet"))

    def test_text_stays_in_arrow(self, write):
        table = read_table(write(parquet(FRAME.assign(lists=LISTS)), "a.parquet"))
        assert list(table) == ["doc", "who", "tags", "lists"]
        assert isinstance(table["who"].dtype, pd.ArrowDtype)
        assert isinstance(table["lists"].dtype, pd.ArrowDtype)

    def test_without_pyarrow(self, write, monkeypatch):
        parquet_file = write(parquet(FRAME), "a.parquet")
        zstd_file = write(zstd(CSV.encode()), "a.csv.zst")
        monkeypatch.setitem(sys.modules, "pyarrow", None)
        for path in (parquet_file, zstd_file):
            assert 'pip install "setagree[files]"' in refusal(path, MissingDependencyError)

    def test_a_column_that_begins_like_parquet(self, write):
        assert list(read_table(write("PAR1,labels\n1,a\n", "a.csv"))) == ["PAR1", "labels"]


class TestExcel:
    def test_cells_are_the_text_of_a_csv(self, write):
        path = write(
            workbook(
                [
                    ["doc", "n", "x", "flag", "day", "time", "tags"],
                    [1, 2.0, 0.1, True, dt.datetime(2024, 2, 3), dt.datetime(2024, 2, 3, 4), "a"],
                    [],
                    [10**15, -3, 2.5, False, dt.date(2024, 2, 3), dt.time(4, 5), None],
                ]
            ),
            "a.xlsx",
        )
        assert read_table(path).to_numpy().tolist() == [
            ["1", "2", "0.1", "TRUE", "2024-02-03", "2024-02-03 04:00:00", "a"],
            ["1000000000000000", "-3", "2.5", "FALSE", "2024-02-03", "04:05:00", ""],
        ]

    def test_whole_floats(self):
        assert [binary._as_text(x) for x in (2.0, 1e15, -0.5)] == ["2", "1000000000000000", "-0.5"]

    def test_several_sheets(self, write):
        page = [["unit", "labels"], ["u1", "a"]]
        assert "2 sheets ('page 1', 'page 2')" in refusal(write(workbook(page, page), "a.xlsx"))
        assert len(read_table(write(workbook([], page, []), "b.xlsx"))) == 1
        assert "has no cells" in refusal(write(workbook([], []), "c.xlsx"))

    def test_formulas(self, write):
        path = write(workbook([["unit", "labels"], ["u1", '="a"&"b"']]), "a.xlsx")
        assert "1 cell is a formula whose result is not stored ('B2');" in refusal(path)

    def test_stored_results(self, write):
        content = workbook([["unit", "labels"], ["u1", '="a"&"b"']])
        for stored, kind in (("a b", "str"), ("#N/A", "e")):
            path = write(with_result(content, stored, kind), "a.xlsx")
            if kind == "str":
                assert rows(read_table(path)) == [{"unit": "u1", "labels": "a b"}]
            else:
                assert "cell B2 is an error, #N/A" in refusal(path)

    def test_headers(self, write):
        twice = workbook([["a", "a"], ["x", "y"]])
        assert "several columns called 'a'" in refusal(write(twice, "a.xlsx"))
        assert "a header and no rows" in refusal(write(workbook([["a", "b"]]), "a.xlsx"))
        short = workbook([["a", "b"], ["x"]])
        assert rows(read_table(write(short, "a.xlsx"))) == [{"a": "x", "b": ""}]

    def test_damaged(self, write):
        content = excel(FRAME)
        assert "damaged or cut off" in refusal(write(content[:-30], "a.xlsx"))
        parts = {"xl/workbook.xml": "<workbook", "[Content_Types].xml": "<Types/>"}
        assert "is a damaged workbook" in refusal(write(zipped(parts), "a.xlsx"))

    def test_old_workbooks(self, write):
        assert "save it as .xlsx" in refusal(write(b"\xd0\xcf\x11\xe0" + b"\0" * 99, "a.xls"))

    def test_without_openpyxl(self, write, monkeypatch):
        path = write(excel(FRAME), "a.xlsx")
        monkeypatch.setitem(sys.modules, "openpyxl", None)
        assert 'pip install "setagree[files]"' in refusal(path, MissingDependencyError)


def with_result(content, stored, kind):
    """Return a workbook in which cell B2 has a stored result of a type."""
    changed = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in archive.namelist():
            changed[name] = archive.read(name)
    sheet = changed["xl/worksheets/sheet1.xml"].decode()
    assert "<v/>" in sheet or "<v />" in sheet
    sheet = sheet.replace("<v/>", f"<v>{stored}</v>").replace("<v />", f"<v>{stored}</v>")
    sheet = sheet.replace('<c r="B2">', f'<c r="B2" t="{kind}">')
    changed["xl/worksheets/sheet1.xml"] = sheet.encode()
    return zipped(changed)


class TestPacked:
    @pytest.mark.slow
    def test_a_cell_far_away(self, tmp_path):
        openpyxl = pytest.importorskip("openpyxl", reason="it writes workbooks")
        book = openpyxl.Workbook()
        for row in (["unit", "rater", "labels"], ["u1", "ann", "a"]):
            book.active.append(row)
        book.active["XFD1048576"] = "x"
        book.save(tmp_path / "far.xlsx")
        start = time.process_time()
        frame = read_table(tmp_path / "far.xlsx")
        assert time.process_time() - start < 20  # in 5 where nothing else runs; 35 before
        assert list(frame) == ["unit", "rater", "labels", "column 16384"]
        assert frame.iloc[-1].tolist() == ["", "", "", "x"]

    def test_a_workbook_of_blank_cells(self, tmp_path):
        openpyxl = pytest.importorskip("openpyxl", reason="it writes workbooks")
        book = openpyxl.Workbook()
        book.active.append([" "])
        book.save(tmp_path / "blank.xlsx")
        assert "has only blank cells" in refusal(tmp_path / "blank.xlsx")

    @pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd])
    def test_damaged(self, write, pack):
        content = pack(CSV.encode() + os.urandom(4000).hex().encode())
        assert refusal(write(content[: len(content) // 2], "a.csv.x"))

    def test_zip_of_none_or_several(self, write):
        assert "of 0 files; it must have exactly one" in refusal(write(zipped({"a/": ""}), "a.zip"))
        several = zipped({"a.csv": CSV, "b.csv": CSV})
        assert "of 2 files ('a.csv', 'b.csv'); it must have" in refusal(write(several, "a.zip"))

    def test_locked_zip(self, write):
        content = bytearray(zipped({"a.csv": CSV}))
        content[6] |= 1  # the flag in the header of the file ...
        content[content.index(b"PK\x01\x02") + 8] |= 1  # ... and in the directory
        assert "cannot be unpacked" in refusal(write(bytes(content), "a.zip"))

    def test_cut_zip(self, write):
        assert "damaged or cut off" in refusal(write(zipped({"a.csv": CSV})[:60], "a.zip"))

    def test_other_formats(self, write):
        assert "a PDF" in refusal(write(b"%PDF-1.7\n", "a.csv"))


class TestStandardInput:
    @pytest.mark.parametrize("name", ["study.csv", "study.jsonl", "study.csv.gz", "study.parquet"])
    def test_every_kind(self, monkeypatch, name):
        content = KINDS[name]()
        content = content if isinstance(content, bytes) else content.encode()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert rows(read_table("-")) == RECORDS

    def test_larger_than_memory(self, monkeypatch):
        monkeypatch.setattr(streams, "_IN_MEMORY", 10)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))
        assert rows(read_table("-")) == RECORDS

    def test_as_large_as_the_limit(self, monkeypatch):
        monkeypatch.setattr(streams, "_PIECE", 10)
        monkeypatch.setattr(streams, "MOST_BYTES", len(CSV.encode()))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CSV.encode())))
        assert rows(read_table("-")) == RECORDS
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CSV.encode() + b"\n")))
        assert "more than" in refusal("-")

    def test_errors_name_it(self, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"")))
        assert refusal("-") == "standard input is empty."
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1\n")))
        assert refusal("-").startswith("standard input, line 2 has 1 cell")

    def test_a_file_of_that_name(self, write, monkeypatch):
        monkeypatch.chdir(write(CSV, "-").parent)
        assert rows(read_table("./-")) == RECORDS

    @pytest.mark.slow
    def test_a_pipe(self):
        pytest.importorskip("typer")
        code = "import setagree as sa; print(len(sa.agreement('-', blank='empty').to_frame()))"
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            input=CSV.encode(),
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(Path(files.__file__).parents[2])},
        )
        assert done.stdout == b"2\n", done.stderr


@pytest.mark.parametrize("name", ["study.csv", "study.json", "study.parquet", "study.xlsx"])
def test_nothing_is_left_open_or_changed(write, name):
    path = write(KINDS[name](), name)
    before = path.read_bytes()
    read_table(path)
    assert path.read_bytes() == before


def test_labels_that_are_numbers(write):
    frame = pd.DataFrame({"unit": [1, 1], "rater": ["a", "b"], "labels": [1, 2]})
    with pytest.raises(sa.SetagreeError, match="has int64 numbers instead of labels"):
        sa.agreement(write(parquet(frame), "a.parquet"))
    with pytest.raises(DataError, match="There is no column 'tags'"):
        sa.agreement(write(excel(frame), "a.xlsx"), labels="tags")
    table = read_table(write(excel(frame), "a.xlsx"))
    assert sa.Annotations.from_long(table).labels == ("1", "2")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", KINDS)
def test_damage_is_told_in_a_sentence(write, name):
    content = KINDS[name]()
    content = content if isinstance(content, bytes) else content.encode()
    rng = random.Random(name)
    for _ in range(40):
        damaged = bytearray(content)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        damaged = damaged[: rng.randrange(len(damaged))] if rng.random() < 0.4 else damaged
        path = write(bytes(damaged), name)
        try:
            read_table(path)
        except SetagreeError as error:
            assert str(path) in str(error)  # noqa: PT017 - most damage is not refused


class TestBounds:
    def test_parquet(self, write, monkeypatch):
        pytest.importorskip("pyarrow")
        content = io.BytesIO()
        FRAME.to_parquet(content)
        monkeypatch.setattr(binary, "_MAX_UNPACKED", 100)
        assert len(read_table(write(content.getvalue(), "plain.parquet"))) == len(FRAME)
        bomb = write(gzip.compress(content.getvalue()), "bomb.parquet.gz")
        with pytest.raises(FileError, match=r"bomb.parquet.gz' unpacks to more than [\d,]+ bytes"):
            read_table(bomb)

    @pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
    @pytest.mark.parametrize("name", ["bomb.csv.packed", "bomb.tsv"])
    def test_packed_text(self, write, monkeypatch, pack, name):
        monkeypatch.setattr(delimited, "_MEMORY", 100)
        text = CSV + "u4,ana,joy\n" * 1000
        assert len(read_table(write(text, "plain.csv"))) == len(FRAME) + 1000
        sentence = refusal(write(pack(text.encode()), name))
        assert re.search(rf"{name}' needs more than [\d.]+ GB of memory\. ", sentence)
        assert "setagree.tally(path)" in sentence

    def test_packed_workbook(self, tmp_path, monkeypatch):
        pytest.importorskip("openpyxl", reason="it writes Excel")
        path = tmp_path / "study.xlsx"
        FRAME.to_excel(path, index=False)
        assert len(read_table(path)) == len(FRAME)
        monkeypatch.setattr(binary, "_MAX_XML", 100)
        assert "unpacks to more than 100 bytes of XML" in refusal(path)

    def test_packed_text_in_pieces(self, write, monkeypatch):
        pytest.importorskip("duckdb", reason="engines need the files extra")
        rows = [f"u{k},{who},{'ab'[k % 2]}\n" for k in range(99) for who in "xy"]
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packing:
            packing.writestr("a.csv", "".join(["unit,rater,labels\n", *rows]))
        lines = [
            json.dumps(dict(zip(["unit", "rater", "labels"], row.strip().split(","), strict=True)))
            for row in rows
        ]
        files = [
            write(archive.getvalue(), "a.zip"),
            write(gzip.compress("\n".join(lines).encode()), "a.jsonl.gz"),
        ]
        # Two halves, each of which is small enough.
        halves = [
            write(gzip.compress("".join(["unit,rater,labels\n", *half]).encode()), f"{k}.csv.gz")
            for k, half in enumerate([rows[:100], rows[100:]])
        ]
        monkeypatch.setattr(delimited, "_MEMORY", 20_000)
        monkeypatch.setattr(opening, "LARGE", 20_000)
        for path in [*files, halves]:
            assert next(iter(sa.agreement(path))).study is None
        assert next(iter(sa.agreement(halves[0]))).study is not None
        assert sa.read(halves).n_units == 99
        with pytest.raises(FileError, match=r"needs more than 0\.0 GB of memory\."):
            sa.read(files[0])
        assert sa.tally(files[0], memory_limit="1GB").n_units == 99

    @pytest.mark.slow
    @pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit addresses")
    def test_limited_memory(self, tmp_path):
        pytest.importorskip("pyarrow", reason="it reads Parquet")
        frame = pd.DataFrame({"unit": ["u", "u"], "rater": ["x", "y"], "labels": ["a", "b"]})
        frame.to_parquet(tmp_path / "a.parquet")
        frame.to_json(tmp_path / "a.json", orient="records")
        frame.to_json(tmp_path / "a.jsonl", orient="records", lines=True)
        frame.to_csv(tmp_path / "a.csv.gz", index=False)
        choice = {"from_name": "q", "type": "choices", "value": {"choices": ["a"]}}
        answers = [{"completed_by": who, "result": [choice]} for who in (1, 2)]
        task = {"id": 1, "data": {"text": "t"}, "annotations": answers}
        (tmp_path / "tool.json").write_text(json.dumps([task]))
        names = ["a.parquet", "a.json", "a.jsonl", "tool.json", "a.csv.gz"]
        done = subprocess.run(
            [sys.executable, "-c", LIMITED, *(tmp_path / name for name in names)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.stdout, done.returncode) == ("2\n" * 5, 0), done.stderr

    def test_memory(self, write, monkeypatch):
        def full(*_):
            raise MemoryError

        monkeypatch.setattr(files, "read_json", full)
        with pytest.raises(FileError, match=r"does not fit into the memory of this computer"):
            read_table(write(b"[]", "large.json"))

    @pytest.mark.parametrize("read", [sa.read, sa.agreement])
    def test_memory_of_the_study(self, write, monkeypatch, read):
        def full(*_):
            raise MemoryError

        monkeypatch.setattr(Annotations, "from_reading", full)
        path = write(CSV, "large.csv")
        sentence = r"large.csv' does not fit into the memory of this computer\. .* setagree\.tally"
        with pytest.raises(FileError, match=sentence):
            read(path)
