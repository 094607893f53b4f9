"""Files that DuckDB would read otherwise than memory does: the same number, or a sentence."""

import json
from pathlib import Path

import pandas as pd
import pytest
from reduction_support import quiet

import setagree as sa
from setagree.errors import FileError, MixedScaleWarning, SimilarLabelsWarning
from setagree.large import steps as program
from setagree.large.clusters import _as_text

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

duckdb = pytest.importorskip("duckdb", reason="DuckDB reads the files")
pytest.importorskip("pyarrow", reason="pyarrow writes the files")

LIMIT = {"memory_limit": "500MB"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def table(units, answers, name="labels"):
    """Return two raters' answers, one row each."""
    return pd.DataFrame({"unit": units, "rater": ["a", "b"] * (len(units) // 2), name: answers})


def estimates(path, **options):
    return [row.estimate for row in sa.agreement(path, **options)]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_folders_that_look_like_columns(ending):
    for k, name in enumerate(["labels=q", "labels=r"]):
        Path(name).mkdir()
        frame = table([2 * k, 2 * k, 2 * k + 1, 2 * k + 1], ["a", "b", "a", "a"])
        path = f"{name}/x.{ending}"
        frame.to_csv(path, index=False) if ending == "csv" else frame.to_parquet(path)
    assert estimates(f"*/x.{ending}", **LIMIT) == pytest.approx(estimates(f"*/x.{ending}"))


@pytest.mark.parametrize(
    ("one", "two", "words"),
    [
        ([1, 2, 2, 3], [1.5, 2.5, 2.4, 2.0], "'value' as double, '.*0.parquet' as int64"),
        ([1, 2, 2, 3], ["1", "2", "2", "x"], "as string, "),
    ],
)
def test_types_that_differ_are_not_rounded(one, two, words):
    table([1, 1, 2, 2], one, "value").to_parquet("0.parquet")
    table([3, 3, 4, 4], two, "value").to_parquet("1.parquet")
    with pytest.raises(sa.SetagreeError, match=words):
        sa.agreement("*.parquet", value="value", **LIMIT)


def test_types_of_other_columns_may_differ():
    one, two = table([1, 1, 2, 2], list("abaa")), table([3, 3, 4, 4], list("bbab"))
    one.assign(note=1).astype({"labels": "category"}).to_parquet("0.parquet")
    two.assign(note="x").to_parquet("1.parquet")
    together = [row.estimate for row in sa.agreement(pd.concat([one, two], ignore_index=True))]
    assert estimates("*.parquet", **LIMIT) == pytest.approx(together)


def test_file_names_that_are_patterns():
    for name, answers in [("which?", "abaa"), ("which1", "bbbb")]:
        frame = table([1, 1, 2, 2], list(answers))
        frame.to_csv(f"{name}.csv", index=False)
        frame.to_parquet(f"{name}.parquet")
    assert estimates("which[?].csv", **LIMIT) == estimates("which[?].csv")
    with pytest.raises(sa.SetagreeError, match="a pattern to DuckDB; rename it"):
        sa.agreement("which[?].parquet", **LIMIT)


@pytest.mark.parametrize("odd", [1.0, "1", True, None, [1], {"a": 1}])
def test_identifiers_of_several_kinds_in_json(odd):
    rows = [(1, "a", "x"), (odd, "b", "x"), (2, "a", "y"), (2, "b", "x"), (1, "c", "y")]
    lines = [json.dumps(dict(zip(("unit", "rater", "labels"), row, strict=True))) for row in rows]
    Path("a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    if isinstance(odd, int | float | str):
        assert quiet(estimates, "a.jsonl", **LIMIT) == quiet(estimates, "a.jsonl")
        return
    for options in ({}, LIMIT):
        with pytest.raises(sa.SetagreeError, match=r"a unit is named by|without a unit"):
            sa.agreement("a.jsonl", unit="unit", rater="rater", labels="labels", **options)


def test_numbers_as_text_for_machines():
    texts = _as_text(pd.Series([1, 1.0, True, -0.0, 0, 1.5, "1", "\0#1"], dtype=object), "unit")
    one, same, true, minus, zero, half, text, odd = texts
    assert one == same == true
    assert minus == zero
    assert len({one, zero, half, text, odd}) == 5


def test_collations():
    connection = duckdb.connect()
    connection.execute(
        "create table t(unit varchar collate nocase, rater varchar, labels varchar collate nocase)"
    )
    rows = [("A", "a", "x"), ("A", "b", "X"), ("a", "c", "x"), ("a", "d", "y"), ("b", "a", "X")]
    connection.executemany("insert into t values (?, ?, ?)", [*rows, ("b", "b", "y")])
    memory = pd.DataFrame([*rows, ("b", "b", "y")], columns=["unit", "rater", "labels"])
    with pytest.warns(sa.SetagreeWarning, match="look alike"):
        expected = [row.estimate for row in sa.agreement(memory)]
    with pytest.warns(sa.SetagreeWarning, match="look alike"):
        found = [row.estimate for row in sa.agreement(connection.table("t"))]
    assert found == pytest.approx(expected)
    connection.execute("SET default_collation = 'NOCASE'")
    with pytest.raises(sa.SetagreeError, match="by the collation 'NOCASE'"):
        sa.agreement(connection.table("t"))


@pytest.mark.parametrize(
    "options",
    [
        {"memory_limit": "-1GB"},
        {"memory_limit": "much"},
        {"temp_directory": 5},
        {"temp_directory": "gone"},
    ],
)
def test_options(options):
    table([1, 1, 2, 2], list("abaa")).to_csv("a.csv", index=False)
    with pytest.raises(sa.SetagreeError, match=r"is not an amount of memory|is not a folder"):
        sa.agreement("a.csv", **options)


class TestKindsInFiles:
    @staticmethod
    def check(folder, *files):
        """Reduce files that hold one answer each of two raters."""
        for place, answers in enumerate(files):
            lines = [{"unit": place, "rater": k, "value": one} for k, one in enumerate(answers)]
            (folder / f"{place}.jsonl").write_text("\n".join(map(json.dumps, lines)))
        return sa.tally(folder / "*.jsonl", value="value", memory_limit="500MB")

    def test_later_files(self, tmp_path):
        with pytest.raises(
            FileError, match=r"the answer is text in .*1\.jsonl' and numbers in .*2\.js"
        ):
            self.check(tmp_path, [None, None], ["1", "2"], [1, 2])

    def test_nan_is_no_number(self, tmp_path):
        with pytest.raises(FileError, match=r"text in .*0\.jsonl' and numbers in .*1\.jsonl"):
            self.check(tmp_path, ["x", float("nan")], [0, 0])

    def test_both_in_one(self, tmp_path):
        with (
            pytest.warns(SimilarLabelsWarning, match="look alike"),
            pytest.warns(MixedScaleWarning),
        ):
            assert self.check(tmp_path, [1, "x"], ["1", "x"]).n_values == 3


class TestFilesThatChange:
    @pytest.mark.parametrize("change", ["written", "deleted"])
    def test_between_the_passes(self, change, tmp_path, monkeypatch):
        """Written anew after the search for repeats with as many of each answer, or deleted.

        Then the totals are the same, and only the file itself tells that it is another.
        """
        rows = {"unit": [*"aabb"], "rater": [*"xyxy"], "labels": [*"pqpp"]}
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table(rows), path)
        find_patterns = program.find_patterns

        def change_first(*given):
            found = find_patterns(*given)
            if change == "deleted":
                path.unlink()
            else:
                pq.write_table(pa.table({**rows, "rater": [*"xxyy"]}), path)
            return found

        monkeypatch.setattr(program, "find_patterns", change_first)
        with pytest.raises(FileError, match=r"a\.parquet' changed while it was read"):
            sa.tally(path, memory_limit="500MB")
