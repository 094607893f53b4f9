"""JSON objects that are tables: rows keyed by their unit, or columns by name."""

import json
from time import process_time

import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError, FileError, SwappedColumnsWarning
from setagree.files.tables import read_table
from setagree.study.columns import guess_wide_unit

KEYED = {
    "long": {f"u{k}": {"rater": "ann", "labels": "joy"} for k in range(2)},
    "wide": {f"u{k}": {"ann": "joy", "bob": "fear, joy"} for k in range(3)},
    "optional": {"u0": {"rater": "ann", "labels": "a", "note": "x"}, "u1": {"rater": "b"}},
}


@pytest.mark.parametrize("name", KEYED)
def test_an_object_of_objects_is_a_table_of_rows(name, tmp_path):
    records = KEYED[name]
    path = tmp_path / "keyed.json"
    path.write_text(json.dumps(records))
    frame = read_table(path)
    first = next(iter(records.values()))
    assert [*frame] == ["unit", *first]
    rows = [[unit, *map(record.get, first)] for unit, record in records.items()]
    assert frame.to_numpy(dtype=object).tolist() == rows


def test_objects_that_name_their_units_keep_them(tmp_path):
    rows = {"r1": {"doc": "d1", "who": "ann", "tags": "a"}, "r2": {"doc": "d1", "who": "b"}}
    path = tmp_path / "keyed.json"
    path.write_text(json.dumps(rows))
    assert [*read_table(path)] == ["key", "doc", "who", "tags"]


def test_objects_of_columns_stay_columns(tmp_path):
    path = tmp_path / "columns.json"
    frame = pd.DataFrame({"unit": ["u1", "u2"], "rater": ["ann", "b"], "labels": ["a", "b"]})
    for table in (frame, frame.set_index(frame["unit"] + "x")):
        table.to_json(path)
        assert [*read_table(path)] == [*map(str, table)]
    path.write_text(json.dumps({"ann": {"u1": "a", "u2": "b", "u3": "a"}, "bob": {}}))
    with pytest.raises(FileError, match="columns of different lengths"):
        read_table(path)


def test_as_many_objects_as_keys_are_questionable(tmp_path):
    path = tmp_path / "square.json"
    path.write_text(json.dumps({"u1": {"a": "joy", "b": "joy"}, "u2": {"a": "fear", "b": "joy"}}))
    with pytest.warns(SwappedColumnsWarning, match="the names 'u1', 'u2' are read as columns"):
        assert [*read_table(path)] == ["u1", "u2"]


def test_many_keys_are_recognised_in_linear_time(tmp_path):
    n = 30_000
    path = tmp_path / "keyed.json"
    started = process_time()
    path.write_text(json.dumps({f"u{k}": {"ann": "ab"[k % 2], "bob": "a"} for k in range(n)}))
    with pytest.warns(sa.SetagreeWarning, match="Read as a wide table: unit = unit"):
        assert sa.agreement(path).rows[0].n_units == n
    path.write_text(json.dumps({f"u{k}": {"x": [k], "y": [2]} for k in range(n)}))
    with pytest.raises(DataError, match="have only numbers"):
        sa.agreement(path)
    assert process_time() - started < 9


def test_long_cells_are_compared_once(tmp_path):
    texts = [f"{k} " * 8000 for k in range(1600)]
    frame = pd.DataFrame({f"c{k}": texts[4 * k : 4 * k + 4] for k in range(400)})
    started = process_time()
    assert guess_wide_unit(frame) is None
    assert guess_wide_unit(frame.assign(x="a", y="a")) == "c0"
    assert process_time() - started < 2
