"""Workbooks of OpenDocument (.ods): cells, repeated rows and cells, sheets."""

import zipfile

import pytest

import setagree as sa
from setagree.errors import FileError
from setagree.files.tables import read_table

pytest.importorskip("python_calamine", reason="the extra 'files' is not installed")

NAMES = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
)
BLANK = (
    '<table:table-row table:number-rows-repeated="1048000"><table:table-cell/></table:table-row>'
)


def cell(value, times=1):
    again = f' table:number-columns-repeated="{times}"' if times > 1 else ""
    if isinstance(value, int | float):
        return (
            f'<table:table-cell office:value-type="float" office:value="{value}"{again}>'
            f"<text:p>{value}</text:p></table:table-cell>"
        )
    kind = ' office:value-type="string"' if value else ""
    inside = f"<text:p>{value}</text:p>" if value else ""
    return f"<table:table-cell{kind}{again}>{inside}</table:table-cell>"


def workbook(tmp_path, sheets, name="study.ods"):
    tables = "".join(
        f'<table:table table:name="{title}">'
        + "".join(f"<table:table-row>{''.join(row)}</table:table-row>" for row in rows)
        + f"{BLANK}</table:table>"
        for title, rows in sheets.items()
    )
    path = tmp_path / name
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<a/>")
        archive.writestr(
            "content.xml",
            f"<office:document-content {NAMES}><office:body><office:spreadsheet>{tables}"
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return path


ROWS = [
    [*map(cell, ("unit", "rater", "labels"))],
    [cell(1), cell("ann"), cell("joy, fear")],
    [cell(1), cell("bob"), cell("joy")],
    [cell(2.5), cell("joy", times=2)],
]


def test_cells(tmp_path):
    frame = read_table(workbook(tmp_path, {"s": ROWS, "empty": []}))
    assert frame.to_numpy().tolist() == [
        ["1", "ann", "joy, fear"],
        ["1", "bob", "joy"],
        ["2.5", "joy", "joy"],
    ]
    assert sa.read(workbook(tmp_path, {"s": ROWS[:3]})).n_ratings == 2


def test_kinds_of_cells(tmp_path):
    def kind(attributes, inside):
        named = " ".join(f"office:{each}" for each in attributes.split())
        return f"<table:table-cell {named}>{inside}</table:table-cell>"

    shown = "<text:p>as shown</text:p>"
    note = "<office:annotation><text:p>a note</text:p></office:annotation>"
    row = [
        kind('value-type="date" date-value="2024-05-01"', shown),
        kind('value-type="boolean" boolean-value="true"', shown),
        kind('value-type="percentage" value="0.5"', shown),
        kind('value-type="string"', f"{note}<text:p>one</text:p><text:p>two</text:p>"),
    ]
    frame = read_table(workbook(tmp_path, {"s": [[*map(cell, "abcd")], row]}))
    assert frame.to_numpy().tolist() == [["2024-05-01", "TRUE", "0.5", "one\ntwo"]]


def test_sheets(tmp_path):
    path = workbook(tmp_path, {"a": ROWS, "b": ROWS[:2]})
    with pytest.raises(
        FileError, match=r"has cells in 2 sheets \('a', 'b'\); choose one with sheet"
    ):
        read_table(path)
    legend = [[cell("code"), cell("meaning")], [cell("1"), cell("joy")]]
    with pytest.raises(FileError, match=r"choose one with sheet='coding'") as caught:
        read_table(workbook(tmp_path, {"legend": legend, "coding": ROWS}, "two.ods"))
    assert caught.value.remedy == {"sheet": "coding"}
    assert len(read_table(path, sheet="b")) == 1
    assert len(read_table(path, sheet=2)) == 1


def test_titles_above_the_header(tmp_path):
    path = workbook(tmp_path, {"s": [[cell("Round 2")], *ROWS]})
    assert list(read_table(path, header_row=2)) == ["unit", "rater", "labels"]


def test_odd_files(tmp_path):
    path = workbook(tmp_path, {"s": [[cell("x")]]})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("mimetype", "x")
        archive.writestr("content.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    with pytest.raises(FileError, match="is a damaged workbook"):
        read_table(path)
