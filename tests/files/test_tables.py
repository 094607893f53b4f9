"""CSV and TSV files: every cell is text, and what is no table is refused in a sentence."""

import codecs
import csv
import gzip
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setagree as sa
from setagree.errors import FileError, OptionError, SetagreeError
from setagree.files import delimited
from setagree.files import tables as files
from setagree.files.tables import read_table
from setagree.study.codes import TextFrame

TABLE = 'unit,rater,labels\nu1,ann,"joy, fear"\nu1,bob,joy\nu2,ann,\nu2,bob,None\n'
ROWS = [["u1", "ann", "joy, fear"], ["u1", "bob", "joy"], ["u2", "ann", ""], ["u2", "bob", "None"]]
LIMIT = 16 * 2**20


@pytest.fixture
def write(tmp_path):
    """Write text or bytes to a file in a fresh folder and return its path."""

    def write_file(content, name="study.csv", encoding="utf-8"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write_file


def refusal(path, **options):
    with pytest.raises(FileError) as caught:
        read_table(path, **options)
    return str(caught.value)


PIECES = [
    "a",
    "é",
    " ",
    ",",
    ",",
    ";",
    "\t",
    '"',
    '""',
    '5"',
    '"p, q"',
    '"two\nlines"',
    " \n",
    ",,\n",
]
PIECES += ["\n", "\n", "\n\n", "\r\n", "\r", "\ufeff", "u1,ann,joy\n", 'u2,bob,"joy, fear"\n']


@given(text=st.lists(st.sampled_from(PIECES), max_size=20).map("".join))
def test_all_readers_read_the_same(text):
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patched:
        path = Path(folder, "study.csv")
        path.write_text(f"unit,rater,labels\n{text}", encoding="utf-8", newline="")
        found = outcome(path)
        patched.setattr(delimited, "_plain_table", lambda *_: None)  # then Arrow reads
        assert outcome(path) == found
        patched.setattr(delimited, "is_bounded", lambda: True)  # then Arrow does not read
        assert outcome(path) == found


def outcome(path):
    """Return the names and the cells of a file, or the sentence with which it is refused."""
    try:
        table = read_table(path)
    except FileError as error:
        return str(error)
    return [list(table), table.to_numpy().tolist()]


class TestTextFrame:
    def test_its_columns_have_the_attributes_of_pandas(self, write):
        path = write(TABLE)
        table, frame = read_table(path, may_be_text=True), read_table(path)
        assert isinstance(table, TextFrame)
        pd.testing.assert_frame_equal(table.to_pandas(), frame)
        assert len(table) == len(frame)
        assert [*table] == table.columns == [*frame]
        pd.testing.assert_frame_equal(table.iloc[1:], frame.iloc[1:])
        pd.testing.assert_series_equal(table["rater"].iloc[1:], frame["rater"].iloc[1:])

    @pytest.mark.parametrize("text", ["unit,rater\n" + "u1,ann\n" * 10_000, "one\ntwo\n"])
    def test_other_tables_are_frames_of_pandas(self, write, text):
        assert isinstance(read_table(write(text), may_be_text=True), pd.DataFrame)


class TestCells:
    def test_every_cell_is_the_text_that_stands_there(self, write):
        text = "a,b,c\nNA,None,nan\nnull,N/A,\n007,1.0,TRUE\n"
        frame = read_table(write(text))
        assert frame.to_numpy().tolist() == [
            ["NA", "None", "nan"],
            ["null", "N/A", ""],
            ["007", "1.0", "TRUE"],
        ]
        assert all(isinstance(cell, str) for cell in frame.to_numpy().ravel())

    @pytest.mark.parametrize(
        "cell", ["=cmd()", "<script>", "%s", "{x}", "x" * 10_000, "🙂", "\u202eabc", "a\\b", "'"]
    )
    def test_odd_labels_are_labels(self, write, cell):
        assert read_table(write(f"unit,labels\nu1,{cell}\n"))["labels"].tolist() == [cell]

    def test_quoted_cells(self, write):
        text = 'unit,labels\nu1,"a, ""b"""\nu2,"joy\nfear"\nu3,"x"\n'
        assert read_table(write(text))["labels"].tolist() == ['a, "b"', "joy\nfear", "x"]

    def test_spaces_stay_in_cells_and_go_from_names(self, write):
        frame = read_table(write(" unit , labels\nu1, joy \n"))
        assert list(frame.columns) == ["unit", "labels"]
        assert frame["labels"].tolist() == [" joy "]

    def test_rows_are_numbered_from_zero(self, write):
        assert read_table(write(TABLE)).index.tolist() == [0, 1, 2, 3]

    def test_the_file_is_not_changed(self, write):
        path = write(TABLE)
        before = path.read_bytes(), path.stat().st_mtime_ns
        read_table(path)
        assert (path.read_bytes(), path.stat().st_mtime_ns) == before


class TestForms:
    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("last", [True, False])
    def test_line_ends(self, write, end, last):
        text = TABLE if last else TABLE.rstrip("\n")
        assert read_table(write(text.replace("\n", end))).to_numpy().tolist() == ROWS

    @pytest.mark.parametrize(
        ("encoding", "option"),
        [
            ("utf-8", "utf-8"),
            ("utf-8-sig", "utf-8"),
            ("utf-8-sig", "utf-8-sig"),
            ("utf-8", "UTF8"),
            ("utf-16", "utf-16"),
            ("utf-16-le", "utf-16-le"),
            ("latin-1", "latin-1"),
            ("cp1252", "cp1252"),
        ],
    )
    def test_encodings(self, write, encoding, option):
        path = write("unit,labels\nu1,é\n", encoding=encoding)
        frame = read_table(path, encoding=option)
        assert (list(frame.columns), frame["labels"].tolist()) == (["unit", "labels"], ["é"])

    def test_byte_order_mark_of_a_named_byte_order(self, write):
        path = write(codecs.BOM_UTF16_LE + "unit,labels\nu1,é\n".encode("utf-16-le"))
        assert list(read_table(path, encoding="utf-16-le").columns) == ["unit", "labels"]

    def test_characters_across_blocks(self, write, monkeypatch):
        monkeypatch.setattr(delimited, "_BLOCK", 3)
        text = 'unit;labels\r\n"né";"é, 🙂"\r\nn2;\r\n'
        assert read_table(write(text)).to_numpy().tolist() == [["né", "é, 🙂"], ["n2", ""]]

    @pytest.mark.parametrize("name", ["study.csv.gz", "study.tsv.gz", "study"])
    def test_gzip(self, write, name):
        assert read_table(write(gzip.compress(TABLE.encode()), name)).to_numpy().tolist() == ROWS

    def test_blank_lines_are_no_rows(self, write):
        text = "\n" + TABLE.replace("u2,ann", "\n   \nu2,ann", 1) + "\n\n"
        assert read_table(write(text)).to_numpy().tolist() == ROWS

    def test_path_may_be_text_or_path(self, write):
        path = write(TABLE)
        assert read_table(str(path)).equals(read_table(path))

    def test_home_is_expanded(self, write, monkeypatch):
        monkeypatch.setenv("HOME", str(write(TABLE).parent))
        assert len(read_table("~/study.csv")) == 4


class TestDelimiter:
    @pytest.mark.parametrize("mark", files.DELIMITERS)
    def test_each_is_found(self, write, mark):
        text = f"unit{mark}rater{mark}labels\nu1{mark}ann{mark}joy\n"
        assert read_table(write(text)).to_numpy().tolist() == [["u1", "ann", "joy"]]

    @pytest.mark.parametrize("mark", files.DELIMITERS)
    @pytest.mark.parametrize("label_sep", [*files.DELIMITERS, "#", " "])
    def test_the_separator_of_labels_is_not_taken_for_it(self, tmp_path, mark, label_sep):
        path = tmp_path / "study.csv"
        rows = [
            ["u1", "ann", label_sep.join("abcdef")],
            ["u2", "bob", label_sep.join("ab")],
            ["u3", "cy", ""],
        ]
        with path.open("w", newline="") as file:
            csv.writer(file, delimiter=mark).writerows([["unit", "rater", "labels"], *rows])
        assert read_table(path).to_numpy().tolist() == rows

    def test_unquoted_labels_with_commas(self, write):
        frame = read_table(write("unit;ann;Smith, J.\nu1;a, b;c\nu2;a;b, c, d\n"))
        assert frame.to_numpy().tolist() == [["u1", "a, b", "c"], ["u2", "a", "b, c, d"]]

    def test_tsv_by_ending(self, write):
        path = write("unit, id\tlabels, all\nu1, x\ta, b\n", "study.TSV")
        assert list(read_table(path).columns) == ["unit, id", "labels, all"]

    def test_tsv_that_is_a_csv(self, write):
        assert read_table(write(TABLE, "study.tsv")).to_numpy().tolist() == ROWS

    def test_it_can_be_given(self, write):
        assert list(read_table(write("a^b;c\n1^2;3\n"), delimiter="^").columns) == ["a", "b;c"]

    def test_one_column(self, write):
        assert read_table(write("labels\na b\nc\n")).shape == (2, 1)

    @pytest.mark.parametrize("label_sep", ["", ", ", '"', "\n"])
    def test_it_is_one_character(self, write, label_sep):
        with pytest.raises(OptionError, match="must be one character"):
            read_table(write(TABLE), delimiter=label_sep)

    def test_a_long_sample_is_cut_at_a_line(self, write):
        text = "unit;labels\n" + "u1;a,b\n" * 20_000
        assert read_table(write(text)).shape == (20_000, 2)


class TestHeader:
    def test_columns_without_a_name(self, write):
        assert list(read_table(write(",ann,\n0,a,x\n1,b,\n")).columns) == [
            "column 1",
            "ann",
            "column 3",
        ]

    def test_blank_columns_go(self, write):
        assert list(read_table(write("unit,ann,\nu1,a,\nu2,b,\n")).columns) == ["unit", "ann"]

    def test_named_blank_columns_stay(self, write):
        assert list(read_table(write("unit,ann,bob\nu1,a,\nu2,b,\n"))) == ["unit", "ann", "bob"]

    @pytest.mark.parametrize("header", ["unit,labels,labels", "labels,unit,labels ", "a,a,a"])
    def test_repeated_names(self, write, header):
        assert "several columns called" in refusal(write(f"{header}\n1,2,3\n"))


BELOW = "id,ann,bob,cem\nu1,a,b,a\nu2,b,,b\nu3,a,a,c\n"


class TestTitle:
    @pytest.mark.parametrize(
        ("above", "mark", "n"),
        [
            ("Round 1\n", ",", 2),
            ("Round 1,,,\n,,,\n", ",", 3),
            ("\ufeffRound 1\n\n\n", ";", 4),
            ('"Round 1,\nof two"\n', "\t", 3),
        ],
    )
    def test_seen_and_left_out(self, write, above, mark, n):
        path = write(above.replace(",,", mark * 2) + BELOW.replace(",", mark))
        clean = read_table(write(BELOW, "clean.csv"))
        words = rf"line {n} is read as the names of the columns; .* \(header_row={n}\)"
        with pytest.warns(sa.SetagreeWarning, match=words):
            pd.testing.assert_frame_equal(read_table(path), clean)
        odd = write(path.read_text(encoding="utf-8").replace("id", "x1"))
        words = rf"line 1 has text in 1 cell, 'Round 1.*, and line {n} in 4\. If line {n} has the"
        with pytest.raises(FileError, match=rf"{words} .* use header_row={n}, or delete the lines"):
            read_table(odd)
        path.write_text(odd.read_text(encoding="utf-8").replace("x1", "id"), encoding="utf-8")
        pd.testing.assert_frame_equal(read_table(path, header_row=n), clean)
        study = sa.read(path, header_row=n, wide=True, blank="missing")
        assert (study.units.tolist(), study.n_ratings) == (["u1", "u2", "u3"], 8)

    @pytest.mark.parametrize(("names", "n"), [("x1,ann,bob,notes", 2), ("id,ann,ann,notes", 3)])
    def test_columns_of_raters_are_guessed_below_the_first_wide_line(self, write, names, n):
        path = write(f"Round 1\n{names}\nu1,joy,fear,x\nu2,joy,joy,\nu3,fear,fear,\n")
        with pytest.raises(FileError, match=f"If line {n} has the names") as caught:
            sa.agreement(path)
        is_layout = "Then: Columns 'ann', 'bob' have answers in common" in str(caught.value)
        assert is_layout == (n == 2)
        assert set(caught.value.remedy) >= {"header_row"} | (
            {"wide", "raters"} if n == 2 else set()
        )

    def test_lines_are_those_of_the_file(self, write):
        path = write("Round 1\n\n" + BELOW + "u4,a\n")
        assert "line 7 has 2 cells, the header 4" in refusal(path, header_row=3)
        assert "nothing else from line 9 on" in refusal(path, header_row=9)

    @pytest.mark.parametrize(
        "text",
        [
            "unit,rater,labels\nu1,ann,a|b|c\nu2,bob,b|c|d\n",  # signs between labels
            ",ann,,\nu1,a,b,c\nu2,d,e,f\n".replace(",ann,,", "id,ann,,"),
            "id,,,\n1,2,3,4\n5,6,7,8\n",
            "id\nu1\nu2\n",
        ],
    )
    def test_no_title(self, write, text):
        assert len(read_table(write(text))) == 2

    def test_the_first_row_may_be_the_header(self, write):
        frame = read_table(write("id,,,\nx,y,z,w\nu1,a,b,c\n"), header_row=1)
        assert list(frame) == ["id", "column 2", "column 3", "column 4"]

    def test_in_a_workbook(self, tmp_path):
        openpyxl = pytest.importorskip("openpyxl", reason="the extra 'files' is not installed")
        book = openpyxl.Workbook()
        rows = [line.split(",") for line in BELOW.splitlines()]
        for row in [["Round 1"], [], *rows]:
            book.active.append(row)
        book.save(path := tmp_path / "round.xlsx")
        with pytest.warns(sa.SetagreeWarning, match=r"row 3 is read as .* \(header_row=3\)"):
            assert read_table(path).to_numpy().tolist() == [*rows[1:]]
        assert read_table(path, header_row=3).to_numpy().tolist() == [*rows[1:]]

    @pytest.mark.parametrize("row", [0, -1, True, 1.5, "2"])
    def test_no_row(self, row):
        with pytest.raises(OptionError, match=r"header_row=.* must be a whole number from 1"):
            sa.Reading(header_row=row)

    def test_other_files(self, write):
        path = write('[{"unit": "u1", "rater": "ann", "labels": "a"}]', "study.json")
        with pytest.raises(OptionError, match="header_row=2 is for CSV files and Excel workbooks"):
            sa.read(path, header_row=2)
        with pytest.raises(OptionError, match="header_row= is for tables"):
            sa.read(path, header_row=2, tool="label_studio_json")


class TestNoTable:
    @pytest.mark.parametrize("content", ["", "\ufeff", "\n\n", "  \n"])
    def test_nothing_in_it(self, write, content):
        sentence = refusal(write(content))
        assert "is empty" in sentence or "nothing else" in sentence or "no rows" in sentence

    @pytest.mark.parametrize("content", ["unit,rater,labels\n", "unit,rater,labels", "unit\n\n"])
    def test_header_only(self, write, content):
        assert "has a header and no rows" in refusal(write(content))

    @pytest.mark.parametrize(
        ("row", "found"), [("u3,ann,a,b", "4 cells"), ("u3,ann,a,b,", "5 cells")]
    )
    @pytest.mark.parametrize("before", [0, 1, 3])
    def test_more_cells_than_the_header(self, write, row, found, before):
        lines = ["unit,rater,labels", *["u1,ann,a"] * before, row, "u4,bob,a"]
        sentence = refusal(write("\n".join(lines) + "\n"))
        assert f"line {before + 2} has {found}, the header 3" in sentence
        assert "double quotes" in sentence

    def test_every_row_longer_than_the_header(self, write):
        assert "line 2 has 3 cells, the header 2" in refusal(write("unit,labels\n1,2,3\n4,5,6\n"))

    @pytest.mark.parametrize("row", ["u3,ann", "u3"])
    @pytest.mark.parametrize("after", ["", "\n", "\nu4,bob,\n"])
    def test_fewer_cells_than_the_header(self, write, row, after):
        sentence = refusal(write(f'{TABLE}u2,cy,""\n{row}{after}'))
        assert "line 7 has" in sentence
        assert "cut off" in sentence

    def test_line_numbers_count_lines(self, write):
        text = 'unit,labels\nu1,"a\nb\nc"\n\nu2,a\nu3,a,b\n'
        assert "line 7 has 3 cells" in refusal(write(text))

    @pytest.mark.parametrize(
        "text",
        [
            'unit,rater,labels\nu1,ann,a\nu2,ann,"joy\nu3,bob,fear\n',
            'unit,rater,labels\nu1,ann,a\nu2,ann,"joy\nu2,bob,"fear"\nu3,bob,a\n',
            'unit,rater,labels\nu1,ann,a\nu2,ann,"joy',
            'unit,rater,labels\nu1,ann,a\nu2,ann,"joy\n',
        ],
    )
    def test_forgotten_quotes(self, write, text):
        """A quote that is not closed would swallow rows; it is refused where it opens."""
        for encoding in ("utf-8", "utf-16"):
            path = write(text, encoding=encoding)
            assert "line 3: a quote opens a cell" in refusal(path, encoding=encoding)

    def test_a_quote_inside_an_unquoted_cell_is_text(self, write):
        frame = read_table(write('unit,labels\nu1,5" wide\nu2,a\n\n'))
        assert frame["labels"].tolist() == ['5" wide', "a"]

    def test_nul(self, write):
        assert "line 3 has a NUL" in refusal(write(b"unit,labels\nu1,a\nu2,\0b\n"))

    @pytest.mark.parametrize("pad", [0, 5_000_000])
    def test_not_utf8(self, write, pad):
        start = b"unit,labels\n" + b"u,a\n" * (pad // 4)
        sentence = refusal(write(start + b"u1,caf\xe9\n"))
        assert f"byte 0xe9 at offset {len(start) + 6:,}" in sentence
        assert f"(line {pad // 4 + 2:,})" in sentence
        assert "encoding='cp1252'" in sentence

    def test_offset_of_a_character_cut_by_a_block(self, write, monkeypatch):
        monkeypatch.setattr(delimited, "_BLOCK", 16)
        content = b"unit,labels\nu1,\xe2\x82a\n"
        assert content.index(b"\xe2") == 15
        assert "byte 0xe2 at offset 15 (line 2)" in refusal(write(content))

    def test_a_character_cut_by_the_end(self, write):
        assert "byte 0xe2 at offset 15" in refusal(write(b"unit,labels\nu1,\xe2\x82"))

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
    @pytest.mark.parametrize("pack", [bytes, gzip.compress])
    def test_utf16_is_read_if_it_begins_with_its_mark(self, write, encoding, pack):
        mark = "" if encoding == "utf-16" else "\ufeff"
        text = f"{mark}Einheit;Antwort\r\nu1;Ärger\r\nu2;😀\r\n".encode(encoding)
        table = read_table(write(pack(text)))
        assert table.to_dict("list") == {"Einheit": ["u1", "u2"], "Antwort": ["Ärger", "😀"]}

    def test_utf16_that_is_cut_off(self, write):
        content = "unit,labels\nu1,a\n".encode("utf-16")
        assert "begins with the mark of UTF-16" in refusal(write(content[:-1]))
        assert "is not UTF-8" in refusal(write("unit,labels\nu1,a\n".encode("utf-32")))

    def test_another_encoding_that_does_not_fit(self, write):
        assert "is not ascii" in refusal(write("unit,labels\nu1,é\n"), encoding="ascii")

    @pytest.mark.parametrize("name", ["utf8x", "no-such", "hex", "", "rot13", "a\0b"])
    def test_unknown_encoding(self, write, name):
        with pytest.raises(OptionError, match="is not a text encoding"):
            read_table(write(TABLE), encoding=name)

    def test_near_encoding(self, write):
        with pytest.raises(OptionError, match="Did you mean 'latin-1'"):
            read_table(write(TABLE), encoding="latin_11")


class TestNoFile:
    def test_missing(self, write):
        path = write(TABLE, "ratings_2024.csv")
        sentence = refusal(path.with_name("rating_2024.csv"))
        assert "There is no file" in sentence
        assert "Did you mean 'ratings_2024.csv'?" in sentence

    @pytest.mark.parametrize("name", ["gone/study.csv", "study.csv\0", "x" * 400, "study.csv/x"])
    def test_paths_that_cannot_be(self, write, name):
        assert refusal(write(TABLE).parent / name)

    def test_folder(self, tmp_path):
        assert "*.csv" in refusal(tmp_path)

    def test_fifo(self, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        start = time.monotonic()
        assert "is a pipe or a device" in refusal(tmp_path / "pipe")
        assert time.monotonic() - start < 10

    @pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
    def test_device(self, device):
        """A device, the endless one too, is refused."""
        assert "is a pipe or a device" in refusal(device)

    def test_socket(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("socket")
            assert "is a pipe or a device" in refusal("socket")

    def test_dangling_link(self, tmp_path):
        (tmp_path / "link.csv").symlink_to(tmp_path / "gone.csv")
        assert "There is no file" in refusal(tmp_path / "link.csv")

    @pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
    def test_forbidden(self, write):
        path = write(TABLE)
        path.chmod(0)
        assert "Permission denied" in refusal(path)

    def test_zip(self, tmp_path):
        with zipfile.ZipFile(tmp_path / "study.csv", "w") as archive:
            archive.writestr("one.csv", TABLE)
            archive.writestr("two.csv", TABLE)
        assert "a zip archive of 2 files ('one.csv', 'two.csv')" in refusal(tmp_path / "study.csv")

    def test_a_column_that_begins_like_a_zip(self, write):
        assert list(read_table(write("PK,labels\n1,a\n")).columns) == ["PK", "labels"]

    @pytest.mark.parametrize("keep", [12, 40])
    def test_damaged_gzip(self, write, keep):
        content = gzip.compress(TABLE.encode() + os.urandom(500).hex().encode())[:keep]
        assert "damaged or cut off" in refusal(write(content, "study.csv.gz"))

    def test_corrupt_gzip(self, write):
        content = bytearray(gzip.compress(TABLE.encode() * 100))
        content[20:30] = b"\xff" * 10
        assert "damaged or cut off" in refusal(write(bytes(content), "study.csv.gz"))


class TestSeveral:
    def test_pattern(self, write):
        for number in (2, 1, 3):
            path = write(f"unit,labels\nu{number},a\n", f"round-{number}.csv")
        frame = read_table(path.with_name("round-*.csv"))
        assert frame["unit"].tolist() == ["u1", "u2", "u3"]
        assert frame.index.tolist() == [0, 1, 2]

    def test_columns_are_aligned_by_name(self, write):
        write("unit,labels\nu1,a\n", "1.csv")
        path = write("labels;unit\nb;u2\n", "2.csv")
        frame = read_table(path.with_name("[12].csv"))
        assert frame.to_numpy().tolist() == [["u1", "a"], ["u2", "b"]]

    def test_different_columns(self, write):
        write("unit,labels\nu1,a\n", "1.csv")
        path = write("unit,tags\nu2,b\n", "2.csv")
        sentence = refusal(path.with_name("*.csv"))
        assert "2.csv" in sentence
        assert "'labels', 'tags'" in sentence

    def test_a_bad_one_is_named(self, write):
        write(TABLE, "1.csv")
        assert "2.csv" in refusal(write("", "2.csv").with_name("*.csv"))

    def test_no_match(self, write):
        assert "No file matches" in refusal(write(TABLE).with_name("round-*.csv"))

    def test_folders_do_not_match(self, write):
        path = write(TABLE)
        path.with_name("folder.csv").mkdir()
        assert len(read_table(path.with_name("*.csv"))) == 4

    def test_brackets_in_a_name(self, write):
        assert len(read_table(write(TABLE, "study[1].csv"))) == 4


class TestSize:
    def test_longest_line(self, write):
        path = write(b"unit,labels\nu1," + b"a" * (LIMIT + 2**20) + b"\n")
        assert f"line 2 is longer than {LIMIT:,} characters" in refusal(path)

    def test_a_long_line_is_no_problem(self, write):
        text = f'unit,labels\nu1,"{"a" * 10**6}\n{"b" * 10**6}"\n'
        assert len(read_table(write(text))["labels"][0]) == 2 * 10**6 + 1

    @pytest.mark.slow
    @pytest.mark.parametrize("compressed", [False, True])
    def test_endless_line_in_bounded_memory(self, tmp_path, compressed):
        path = tmp_path / "long.csv"
        if compressed:
            with gzip.open(path, "wb", compresslevel=1) as file:
                file.write(b"unit,labels\nu1,")
                for _ in range(64):
                    file.write(b"a" * 2**20)
        else:
            with path.open("wb") as file:
                file.write(b"unit,labels\nu1,")
                file.seek(2**31)  # the file has a hole, so that it takes no space
                file.write(b"a\n")
        peak = _peak_of_refusal(path, "longer than")
        small = tmp_path / "small.csv"
        small.write_bytes(b"unit,labels\nu1,\0\n")
        assert peak - _peak_of_refusal(small, "NUL") < 150 * 2**20

    @pytest.mark.slow
    def test_endless_line_of_text(self, tmp_path):
        path = tmp_path / "long.csv"
        with path.open("wb") as file:
            file.write(b"unit,labels\nu1,")
            for _ in range(200):
                file.write(b"a" * 2**20)
        small = tmp_path / "small.csv"
        small.write_bytes(b"unit,labels\nu1,\0\n")
        assert _peak_of_refusal(path, "longer than") - _peak_of_refusal(small, "NUL") < 150 * 2**20

    def test_the_limit_of_the_csv_module_is_restored(self, write):
        before = csv.field_size_limit()
        refusal(write("unit,labels\nu1\n"))
        assert csv.field_size_limit() == before


def _peak_of_refusal(path, word):
    """Return the peak memory in bytes of a process that refuses a file with a word."""
    code = (
        "import resource, sys; from setagree.files.tables import read_table\n"
        "try: read_table(sys.argv[1])\n"
        "except ValueError as error: assert sys.argv[2] in str(error), error\n"
        "else: raise SystemExit('read')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    start = [sys.executable, "-c", code, path, word]
    env = {**os.environ, "PYTHONPATH": str(Path(files.__file__).parents[2])}
    run = subprocess.run(start, capture_output=True, text=True, env=env)
    assert run.returncode == 0, run.stderr
    return int(run.stdout) * (1 if sys.platform == "darwin" else 1024)


@pytest.mark.slow
def test_random_tables_come_back(tmp_path):
    rng = random.Random(7)
    alphabet = "ab,;|\t\"\n é🙂'#"
    for trial in range(150):
        width, mark = rng.randint(2, 5), rng.choice(files.DELIMITERS)
        cells = [
            ["".join(rng.choices(alphabet, k=rng.randint(0, 6))) for _ in range(width)]
            for _ in range(rng.randint(1, 8))
        ]
        path = tmp_path / f"{trial}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            header = [f"c{k}" for k in range(width)]
            csv.writer(file, delimiter=mark).writerows([header, *cells])
        assert read_table(path, delimiter=mark).to_numpy().tolist() == cells


def test_every_refusal_is_a_setagree_error(tmp_path):
    assert issubclass(FileError, SetagreeError)
    with pytest.raises(SetagreeError):
        read_table(tmp_path / "gone.csv")


def test_same_cells_as_pandas(write):
    path = write(TABLE)
    expected = pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False)
    pd.testing.assert_frame_equal(read_table(path), expected)


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz"])
def test_a_file_is_opened_once(tmp_path, monkeypatch, ending):
    path = tmp_path / f"ratings.csv{ending}"
    table = pd.DataFrame({"unit": ["u1", "u2"], "rater": ["ann", "ann"], "labels": ["a;b", ""]})
    table.to_csv(path, index=False, sep="\t", compression="infer")
    opened, right = [], Path.open

    def counting(self, *args, **kwargs):
        opened.append(self)
        return right(self, *args, **kwargs)

    monkeypatch.setattr(Path, "open", counting)
    pd.testing.assert_frame_equal(read_table(path), table, check_dtype=False)
    assert opened == [path]


def test_header_in_the_middle(tmp_path):
    path = tmp_path / "both.csv"
    part = "unit,rater,labels\nu1,ann,a\nu1,bob,a\n"
    path.write_text(part + part)
    with pytest.raises(sa.SetagreeError, match="repeats its header in row 3"):
        sa.agreement(path)
