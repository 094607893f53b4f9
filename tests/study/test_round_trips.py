"""What setagree writes is read back as it was, and odd text is read in time."""

import time

import pandas as pd
import pytest

import setagree as sa
from setagree.files.tables import read_table
from setagree.wording.tables import csv_text


@pytest.mark.parametrize("odd", ["a\rb", "a\r\nb", "a\nb", 'a"b', "a,b", "plain"])
def test_csv_keeps_every_cell(tmp_path, odd):
    frame = pd.DataFrame({"unit": ["u1", "u2"], "labels": [odd, "x"], "n": [1.5, None]})
    path = tmp_path / "out.csv"
    path.write_text(csv_text(frame), encoding="utf-8", newline="")
    assert read_table(path).values.tolist() == [["u1", odd, "1.5"], ["u2", "x", ""]]


@pytest.mark.parametrize("text", ["set(", "frozenset(", "set([", "("])
def test_a_long_cell_takes_no_long_time(text):
    cell = text + " " * 100_000 + "!"
    start = time.perf_counter()
    assert sa.parse_labels(cell) == {cell}
    assert time.perf_counter() - start < 1
