"""Tables of cells: where a row stands, what is missing, and how bytes spell text."""

import gzip

import pytest
from exports.csv_writers import read

from setagree.errors import FileError
from setagree.exports import FORMATS
from setagree.exports.detection import format_of_name
from setagree.exports.format import Request


def test_lines_are_those_of_the_file(save):
    text = '_unit_id,_worker_id,g,g_gold,"ti\ntle"\n1,kim,"a\nb",,x\n1,lee,c,,"y\nz"\n1,max,d,,x\n'
    answers = format_of_name("appen", FORMATS).read(save(text), Request())
    assert answers.places == ["line 3", "line 5", "line 7"]
    assert [text.split("\n")[line - 1][:3] for line in (3, 5, 7)] == ["1,k", "1,l", "1,m"]


def test_rows_are_counted_where_lines_would_be_wrong(save):
    text = "Document,Created by,Codes\nu1,kim,a\n\nu1,lee,a\n"
    plain = format_of_name("atlasti", FORMATS)
    assert plain.read(save(text), Request()).places == ["row 1", "row 2"]
    assert plain.read(save(text.replace("\n\n", "\n")), Request()).places == ["line 2", "line 3"]
    assert plain.read(save(text.replace("\n\n", "\n").strip()), Request()).places[1] == "line 3"
    assert plain.read(save(text.strip()), Request()).places[1] == "row 2"
    path = save("", "x.csv.gz")
    path.write_bytes(gzip.compress(text.encode()))
    assert plain.read(path, Request()).places[1] == "row 2"


def test_tables_of_numbers_are_no_exports(save):
    path = save('[{"unit": 1, "rater": "kim", "labels": ["a"]}]', "x.json")
    with pytest.raises(FileError, match=r"x\.json is not a table of text, .*'unit'"):
        read(path, tool="plain_row_per_label")


def test_missing_columns_are_named(save):
    with pytest.raises(
        FileError, match=r"no column 'Created by'; the columns are 'Document', 'Codes'"
    ):
        read(save("Document,Codes\nd,a\n"), tool="atlasti")
    with pytest.raises(FileError, match=r"no column 'Document'; .* Did you mean 'Documents'"):
        read(save("Documents,Codes,Reference,Created by\nd,a,1,kim\n"), tool="atlasti")


def test_blank_names_are_left_for_the_assembly(save):
    assert list(read(save("HITId,WorkerId,Answer.g\nh1, ,a\n"))) == [("h1", None)]


def test_encodings(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("Document,Created by,Codes\nu1,kim,é\n".encode("latin-1"))
    found = format_of_name("atlasti", FORMATS).read(path, Request(encoding="latin-1"))
    assert found.labels == [{"é"}]


def test_many_rows_are_quick(save):
    n = 100_000
    rows = [f"h{k // 3},w{k % 3},{'a|b' if k % 2 else 'a'}" for k in range(n)]
    path = save("HITId,WorkerId,Answer.g\n" + "\n".join(rows) + "\n")
    answers = format_of_name("mturk_pipe", FORMATS).read(path, Request())
    assert len({id(labels) for labels in answers.labels}) == 2
    assert len(answers.labels) == n
