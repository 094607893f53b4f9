"""Large tables and tallies that gave another number than memory, or no sentence, and no longer do.

The expected values are those of the table in memory, or follow from the rule by hand.
"""

import json
import os
import warnings
from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import (
    DataError,
    FileError,
    MixedScaleWarning,
    OptionError,
    SetagreeWarning,
    SimilarLabelsWarning,
)
from setagree.large import steps as program
from setagree.study.keys import value_numbers

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
duckdb = pytest.importorskip("duckdb")
pq = pytest.importorskip("pyarrow.parquet")

ROUNDED = {"unit": [2.0**53, 2.0**53, 1.0, 1.0], "rater": ["a", "b"] * 2, "labels": [*"xyxx"]}


def parquet(columns):
    """Write a Parquet file in the current folder."""
    pq.write_table(pa.table(columns), "a.parquet")
    return "a.parquet"


ROADS = {
    "files": parquet,
    "duckdb": lambda columns: duckdb.connect().from_arrow(pa.table(columns)),
    "polars": pl.LazyFrame,
}


class TestRoundedIdentifiers:
    """2**53 and 2**53 + 1 are one as floats, so that no engine takes floats so large for names."""

    @pytest.mark.parametrize("role", ["unit", "rater"])
    @pytest.mark.parametrize("road", ROADS)
    @pytest.mark.parametrize("keep_raters", [False, True])
    def test_engines(self, road, role, keep_raters, tmp_path, monkeypatch):
        """Refused in an engine in the words of memory, be it units or raters."""
        monkeypatch.chdir(tmp_path)
        columns = (
            ROUNDED
            if role == "unit"
            else {**ROUNDED, "unit": [*"aabb"], "rater": [2.0**53, 1.0] * 2}
        )
        with pytest.raises(DataError) as memory:
            sa.Annotations.from_long(pd.DataFrame(columns))
        options = {"memory_limit": "500MB"} if road == "files" else {}
        with pytest.raises(DataError) as engine:
            sa.tally(ROADS[road](columns), keep_raters=keep_raters, **options)
        assert f"{role}s are floats of 2**53 and more" in str(engine.value)
        assert str(engine.value) == str(memory.value)

    def test_dask(self):
        """So on Dask, where the large one stands in the second partition."""
        dd = pytest.importorskip("dask.dataframe")
        frame = pd.DataFrame({**ROUNDED, "unit": [1.0, 1.0, -(2.0**53), -(2.0**53)]})
        with pytest.raises(DataError, match="units are floats of"):
            sa.tally(dd.from_pandas(frame, npartitions=2))

    @pytest.mark.parametrize("road", ROADS)
    def test_just_below(self, road, tmp_path, monkeypatch):
        """Below, no two whole numbers are one; a missing one is still said to be missing."""
        monkeypatch.chdir(tmp_path)
        options = {"memory_limit": "500MB"} if road == "files" else {}
        columns = {**ROUNDED, "unit": [2.0**53 - 1, 2.0**53 - 1, 1.0, 1.0]}
        assert sa.tally(ROADS[road](columns), **options).n_units == 2
        with pytest.raises(DataError, match="4 rows without a unit"):
            sa.tally(ROADS[road]({**columns, "unit": [float("nan")] * 4}), **options)


@pytest.mark.parametrize("road", [*ROADS, "dask"])
@pytest.mark.parametrize("n_raters", [9, 10])
def test_exchanged_columns(road, n_raters, tmp_path, monkeypatch):
    """Ten raters of two units with a rating each are asked about in the words of memory."""
    monkeypatch.chdir(tmp_path)
    places = range(n_raters)
    columns = {
        "unit": [k % 2 for k in places],
        "rater": [f"r{k}" for k in places],
        "labels": ["xy"[k % 3 == 0] for k in places],
    }
    frame = pd.DataFrame(columns)
    with warnings.catch_warnings(record=True) as memory:
        warnings.simplefilter("always", SetagreeWarning)
        sa.Annotations.from_long(frame)
    if road == "dask":
        columns = pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=2)
    table = ROADS.get(road, lambda same: same)(columns)
    with warnings.catch_warnings(record=True) as engine:
        warnings.simplefilter("always", SetagreeWarning)
        sa.tally(table, **({"memory_limit": "500MB"} if road == "files" else {}))
    said = [[str(one.message) for one in found] for found in (memory, engine)]
    assert said[0] == said[1]
    assert len(said[0]) == (n_raters == 10)


@pytest.mark.parametrize("road", ROADS)
def test_a_codebook_of_values(road, tmp_path, monkeypatch):
    """Single values have no labels, so that a codebook of them is refused, not passed over."""
    monkeypatch.chdir(tmp_path)
    columns = {"unit": [1, 1], "rater": ["a", "b"], "value": [1, 2]}
    options = {"memory_limit": "500MB"} if road == "files" else {}
    for ask in (sa.tally, sa.agreement):
        with pytest.raises(OptionError, match="codebook= lists the labels of label sets"):
            ask(ROADS[road](columns), codebook=["1"], **options)


def text_study(*answers):
    """Return the tally of one unit that two raters gave the answers, read from text."""
    rows = [
        (rater, unit, answer)
        for unit, pair in enumerate(answers)
        for rater, answer in enumerate(pair)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MixedScaleWarning)
        return sa.Tally.from_annotations(sa.Annotations.from_triples(rows, kind="value"))


class TestTimes:
    """Moments that are equal are one, in whatever zone and type they are told."""

    NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)

    def test_numbers_of_values(self):
        """Noon in Greenwich is 14 o'clock in the zone two hours to the east."""
        there = self.NOON.astimezone(timezone(timedelta(hours=2)))
        assert there == self.NOON
        assert len({*value_numbers([self.NOON, there, pd.Timestamp(there)]).tolist()}) == 1
        others = [self.NOON.replace(tzinfo=None), self.NOON.date(), self.NOON.replace(hour=14)]
        assert len({*value_numbers([self.NOON, *others]).tolist()}) == 4

    @pytest.mark.parametrize(
        "names",
        [
            [datetime(2024, 5, 1), datetime(2024, 5, 2, 3, 4, 5, 6)],
            [pd.Timestamp(1), pd.Timestamp(2)],
            [date(2024, 5, 1), date(2024, 5, 2)],
            [NOON, NOON.astimezone(timezone(timedelta(hours=2))).replace(hour=1)],
        ],
    )
    def test_raters_on_dask(self, names):
        """Raters that are times come home as such, and a seed draws what it draws in memory."""
        dd = pytest.importorskip("dask.dataframe")
        dask = pytest.importorskip("dask")
        rows = sa.simulate(30, 2, rng=1).to_long()
        rows["rater"] = pd.Series([names[who == "r2"] for who in rows["rater"]], dtype=object)
        rows["labels"] = [",".join(sorted(one)) or "none" for one in rows["labels"]]
        study = sa.Annotations.from_long(rows)
        with dask.config.set({"dataframe.convert-string": False}):
            tally = sa.tally(dd.from_pandas(rows, npartitions=3), keep_raters=True)
        assert {*tally.given.raters} == {*names}
        ours, theirs = (
            sa.bootstrap(sa.conger_kappa(one), n_resamples=20, rng=1).distribution
            for one in (tally, study)
        )
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)

    def test_one_moment_in_two_zones(self):
        """A unit that is named by one moment in two zones is one unit, on Dask as in memory."""
        dd = pytest.importorskip("dask.dataframe")
        dask = pytest.importorskip("dask")
        there = self.NOON.astimezone(timezone(timedelta(hours=2)))
        units = pd.Series([self.NOON, there], dtype=object)
        rows = pd.DataFrame({"unit": units, "rater": ["a", "b"], "labels": ["x", "y"]})
        with dask.config.set({"dataframe.convert-string": False}):
            tally = sa.tally(dd.from_pandas(rows, npartitions=2))
        assert tally.n_units == sa.Annotations.from_long(rows).n_units == 1


class TestMerging:
    """Merged tallies say where they are not what one table would have been."""

    def test_numbers_and_text(self):
        """'1' is the number 1 beside '2', text beside 'x'; together they are two and it is said."""
        numbers, categories = text_study(("1", "2")), text_study(("1", "x"))
        assert (numbers.kind, categories.kind) == ("number", "category")
        for one, two in [(numbers, categories), (categories, numbers)]:
            with pytest.warns(
                SimilarLabelsWarning, match=r"kept apart that look alike: \(1, '1'\)"
            ):
                merged = one.merge(two)
            assert (merged.kind, merged.n_values) == ("category", 4)

    def test_numbers_and_other_text(self):
        """Nothing is said where no text looks like a number, or both are of one kind."""
        assert text_study(("1", "2")).merge(text_study(("x", "y"))).kind == "category"
        assert text_study(("1", "2")).merge(text_study(("1", "3"))).n_values == 3
        assert text_study(("1", "x")).merge(text_study(("1", "y"))).n_values == 3

    def test_units_of_one_name(self):
        """A unit of one name in both stays two units."""
        merged = text_study(("a", "b")).merge(text_study(("a", "b")))
        assert merged.units.tolist() == [0, 0]
        assert merged.n_units == 2


class TestPlans:
    """A plan of a tally counts the raters of a unit as that of the study does."""

    @pytest.mark.parametrize("missing", [0.0, 0.1, 0.4])
    @pytest.mark.parametrize("keep_raters", [False, True])
    def test_turns(self, missing, keep_raters):
        """Where raters take turns a plan is for ratings a unit, not for all who ever rated."""
        study = sa.simulate(200, 4, missing=missing, rng=1)
        tally = sa.Tally.from_annotations(study, keep_raters=keep_raters)
        ours, theirs = (
            sa.plan(sa.krippendorff_alpha(s), half_width=0.05).frame for s in (tally, study)
        )
        pd.testing.assert_frame_equal(ours, theirs, rtol=1e-12)
        counts = np.bincount(study.unit_codes)
        per_unit = counts[counts > 1].mean() if missing == 0.4 else 4
        assert ours["raters"][0] == pytest.approx(per_unit, abs=1e-12)

    def test_a_sparse_rater(self):
        """One who rated little makes it ratings a unit, too, where raters are kept."""
        study = sa.simulate(100, 3, rng=1)
        rows = [row for row in study.to_triples() if row[0] != "r3" or row[1] in study.units[:10]]
        study = sa.Annotations.from_triples(rows)
        tally = sa.Tally.from_annotations(study, keep_raters=True)
        ours, theirs = (
            sa.plan(sa.krippendorff_alpha(s), half_width=0.05).frame for s in (tally, study)
        )
        assert ours["raters"][0] == theirs["raters"][0] == pytest.approx(2.1, abs=1e-12)


class TestKindsInFiles:
    """Numbers in one file of JSON lines and text in another are refused, whichever they are."""

    @staticmethod
    def check(folder, *files):
        """Reduce files that hold one answer each of two raters."""
        for place, answers in enumerate(files):
            lines = [{"unit": place, "rater": k, "value": one} for k, one in enumerate(answers)]
            (folder / f"{place}.jsonl").write_text("\n".join(map(json.dumps, lines)))
        return sa.tally(folder / "*.jsonl", value="value", memory_limit="500MB")

    def test_later_files(self, tmp_path):
        """The second and the third differ, the first says nothing."""
        with pytest.raises(
            FileError, match=r"the answer is text in .*1\.jsonl' and numbers in .*2\.js"
        ):
            self.check(tmp_path, [None, None], ["1", "2"], [1, 2])

    def test_nan_is_no_number(self, tmp_path):
        """NaN beside text is a missing answer, so that the file is one of text."""
        with pytest.raises(FileError, match=r"text in .*0\.jsonl' and numbers in .*1\.jsonl"):
            self.check(tmp_path, ["x", float("nan")], [0, 0])

    def test_both_in_one(self, tmp_path):
        """A file that holds both differs from none."""
        with (
            pytest.warns(SimilarLabelsWarning, match="look alike"),
            pytest.warns(MixedScaleWarning),
        ):
            assert self.check(tmp_path, [1, "x"], ["1", "x"]).n_values == 3


class TestFilesThatChange:
    """The passes over a file must see the same rows, or there is no result."""

    @pytest.mark.parametrize("change", ["written", "deleted"])
    def test_between_the_passes(self, change, tmp_path, monkeypatch):
        """Written anew after the search for repeats with as many of each answer, or deleted.

        Then the totals are the same, and only the file itself tells that it is another.
        """
        rows = {"unit": [*"aabb"], "rater": [*"xyxy"], "labels": [*"pqpp"]}
        path = tmp_path / "a.parquet"
        pq.write_table(pa.table(rows), path)
        find_patterns = program.find_patterns

        def change_first(coded):
            found = find_patterns(coded)
            if change == "deleted":
                path.unlink()
            else:
                pq.write_table(pa.table({**rows, "rater": [*"xxyy"]}), path)
            return found

        monkeypatch.setattr(program, "find_patterns", change_first)
        with pytest.raises(FileError, match=r"a\.parquet' changed while it was read"):
            sa.tally(path, memory_limit="500MB")


class TestSentences:
    """What ended in an error of another library is said in a sentence."""

    def test_no_folder_can_be_made(self, tmp_path, monkeypatch):
        """A folder that takes no folder is no place for what does not fit."""
        (tmp_path / "a.csv").write_text("unit,rater,labels\n1,a,x\n1,b,x\n")

        def refuse(*_args, **_kwargs):
            raise PermissionError(13, os.strerror(13))

        monkeypatch.setattr("os.mkdir", refuse)
        with pytest.raises(OptionError, match=r"no folder can be made in .* \(Permission denied\)"):
            sa.tally(tmp_path / "a.csv", spill=tmp_path)

    def test_connection_without_python(self):
        """A connection of DuckDB that reads no tables of Python."""
        connection = duckdb.connect()
        connection.execute(
            "CREATE TABLE t AS SELECT 1 AS unit, range AS rater, 'x' AS labels FROM range(2)"
        )
        connection.execute("SET python_enable_replacements = false")
        with pytest.raises(
            DataError, match="DuckDB stopped, and there is no result: Catalog Error"
        ):
            sa.tally(connection.table("t"))

    @pytest.mark.parametrize("gone", ["table", "connection"])
    def test_relations_that_are_gone(self, gone):
        """A relation of DuckDB whose table was dropped, or whose connection was closed."""
        connection = duckdb.connect()
        connection.execute("CREATE TABLE t AS SELECT 1 AS unit, 2 AS rater, 'x' AS labels")
        relation = connection.table("t")
        if gone == "table":
            connection.execute("DROP TABLE t")
        else:
            connection.close()
        with pytest.raises(DataError):
            sa.tally(relation)

    def test_lazy_tables_that_are_none(self):
        """A query that cannot be planned."""
        frame = pl.LazyFrame(ROUNDED).with_columns(pl.col("gone"))
        for ask in (sa.tally, sa.agreement, sa.Annotations.from_long):
            with pytest.raises(DataError, match='cannot be computed: unable to find column "gone"'):
                ask(frame)

    def test_counts_beyond_all_bounds(self):
        """10^15 ratings are scored, but no resampling writes them out."""
        tally = sa.Tally.from_counts(pd.DataFrame({"a": [1e15, 2], "b": [1e15, 3]}))
        alpha = sa.krippendorff_alpha(tally)
        with pytest.raises(
            DataError, match=r"would move 2,000,000,000,000,005 answers; the limit is"
        ):
            sa.permutation_test(alpha, rng=1)
        with (
            pytest.warns(sa.SetagreeWarning, match="Krippendorff's bootstrap"),
            pytest.raises(DataError, match="pairs of ratings are too many to redraw"),
        ):
            sa.bootstrap(alpha, method="krippendorff", rng=1)
