"""Tables as text: aligned lines and Markdown; CSV is read back in tests/study."""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd

from setagree.wording.number_format import DASH
from setagree.wording.result_base import Result, bracketed, described
from setagree.wording.tables import (
    Column,
    TextTable,
    aligned,
    html_table,
    json_text,
    latex_text,
    markdown_text,
    with_intervals,
)


def test_aligned_by_columns_of_type():
    columns = [["label", "多标", "e\u0301"], ["n", "1", "20"]]
    assert aligned(columns, left=[True, False]) == ["label   n", "多标    1", "e\u0301      20"]


def test_one_space_where_two_do_not_fit():
    columns = [["a" * 5], ["b" * 5]]
    assert aligned(columns, left=[True, True], terminal=12) == ["aaaaa  bbbbb"]
    assert aligned(columns, left=[True, True], terminal=11) == ["aaaaa bbbbb"]


def test_columns_beyond_a_narrow_terminal_follow_below():
    columns = [["name", "a"], ["kind", "b"], ["one", "0.1"], ["two", "0.2"], ["three", "0.3"]]
    lines = aligned(columns, left=[True, True, False, False, False], terminal=18)
    assert lines[:2] == ["name kind one two", "a    b    0.1 0.2"]
    assert lines[2:] == ["", "name  kind  three", "a     b       0.3"]
    assert aligned(columns[:3], left=[True, True, True], terminal=9)[3] == "name  one"
    assert aligned(columns[:4], left=[True, True, False, False], terminal=13)[3] == "name kind two"
    wide = [["a" * 50], ["b" * 50], ["c"]]
    assert len(aligned(wide, left=[True] * 3, terminal=79)) == 3
    assert len(aligned(wide, left=[True] * 3, terminal=80)) == 1


def test_markdown():
    """Numbers have four decimals and stand to the right; text is escaped, all gaps are dashes."""
    frame = pd.DataFrame(
        {"label": ["a|b", None], "estimate": [-0.00001, np.nan], "p_value": [0.00002, 0.25]}
    )
    assert markdown_text(frame) == (
        "| label | estimate | p_value |\n"
        "| :--- | ---: | ---: |\n"
        "| a\\|b | 0.0000 | <0.0001 |\n"
        "| - | - | 0.2500 |\n"
    )


def test_other_forms():
    frame = pd.DataFrame({"rater": ["a_<b>"], "p_value": [1e-9]})
    assert (
        latex_text(frame).splitlines()[4] == r"a\_\textless{}b\textgreater{} & \textless{}0.0001 \\"
    )
    assert html_table(frame).count("<td") == 2
    assert "a_&lt;b&gt;" in html_table(frame)
    assert json_text(frame.assign(p_value=np.nan)) == (
        '[\n  {\n    "rater": "a_<b>",\n    "p_value": null\n  }\n]\n'
    )


def test_html_of_long_and_wide_tables():
    cells = re.findall("<td[^>]*>([^<]*)</td>", html_table(pd.DataFrame({"n": range(30)})))
    assert cells == [*map(str, range(10)), "…", *map(str, range(20, 30))]
    for n_rows, n_columns, n_heads in ((1, 8, 8), (1, 9, 0), (2, 9, 9)):
        frame = pd.DataFrame(np.zeros((n_rows, n_columns)))
        assert html_table(frame).count("<th ") == n_heads


def test_keys_of_sorting():
    assert [Column("x").sort_key(x) for x in (0.25, np.nan)] == ["0.25", ""]
    assert Column("unit", "name").sort_key("a") == ""


def test_cells_of_a_report():
    assert Column("label", "text").sentence(None) == (DASH,)
    assert Column("label", "text").sentence("joy") == ("joy",)
    triples = Column(("x", "low", "high"), "estimate")
    assert triples.sentence((0.25, 0.1, 0.4)) == ("0.250",)
    assert triples.interval((0.25, 0.1, 0.4)) == "0.100 to 0.400"
    assert triples.interval((0.25, np.nan, np.nan)) == Column("x").interval(0.25) == ""
    table = TextTable.of(
        pd.DataFrame({"a": ["-", "x"], "b": ["-", "-"]}),
        [Column("a", "text"), Column("b", "text")],
        0.95,
    )
    assert [table.has("a"), table.has("b")] == [True, False]
    assert json_text(pd.DataFrame({"x": [0.5, np.inf, pd.NaT, None, "a"]})).split() == [
        *("[", "{", '"x":', "0.5", "},", "{", '"x":', "null", "},", "{", '"x":', "null", "},"),
        *("{", '"x":', "null", "},", "{", '"x":', '"a"', "}", "]"),
    ]
    assert bracketed("line") == "<line>"
    assert bracketed("line", "the interval is rough.") == "<line. The interval is rough>"


class Rows(Result):
    columns, max_rows = (Column("n", "count"),), 2

    def __init__(self, n):
        self.frame = pd.DataFrame({"n": range(n)})


def test_rows_that_are_left_out():
    shown = [str(Rows(n)).removeprefix("n\n0\n1").strip() for n in (2, 3, 4)]
    where = "to_frame() returns all."
    assert shown == ["", f"1 more row; {where}", f"2 more rows; {where}"]


def test_the_basis_of_intervals_is_joined():
    frame = pd.DataFrame({"estimate": [0.5]})
    basis = SimpleNamespace(rests_on={"estimate": 9, "basis": "units"})
    assert described(frame, [basis]).to_dict("list") == {"estimate": [0.5], "basis": ["units"]}
    assert described(frame, [object()]) is frame


def test_a_number_and_its_interval_are_one_cell():
    columns = [Column("unit", "name"), Column("x"), Column(("low", "high"), "interval")]
    assert [column.source for column in with_intervals(columns)] == ["unit", ("x", "low", "high")]
    assert with_intervals(columns)[1].sentence((0.25, 0.1, 0.4)) == ("0.250",)
