"""Reduction on clusters: Dask with two worker processes, Spark with two local executors."""

import os
import shutil
import sys
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from reduction_support import (
    HOSTILE,
    LISTS,
    generated,
    in_whole_units,
    part_of_a_worker_that_dies,
    patterns,
    quiet,
    rows_of_an_executor_that_dies,
)

import setagree as sa
from setagree.errors import DataError, LabelError, OptionError
from setagree.large.clusters import (
    code_part,
    find_cell,
    merge_parts,
    merge_surveys,
    reduce_part,
    reduced_batches,
    survey_part,
)
from setagree.large.patterns import Held

TIGHT = {"check_exact": False, "rtol": 0, "atol": 1e-12}
HERE = str(Path(__file__).parents[1])


def check_same(frame, table, **options):
    study = quiet(sa.Annotations.from_long, table, blank="empty")
    tally = quiet(sa.tally, frame, blank="empty", **options)
    assert patterns(tally) == patterns(sa.Tally.from_annotations(study))
    assert (tally.n_raters, tally.units) == (study.n_raters, None)


def check_agreement(frame, table):
    reduced = quiet(sa.agreement, frame, blank="empty")
    expected = quiet(sa.agreement, table, blank="empty")
    assert next(iter(reduced)).study is None
    pd.testing.assert_frame_equal(reduced.to_frame(), expected.to_frame(), **TIGHT)


class TestParts:
    def reduced(self, table, **options):
        """Return a table as one part: surveyed, coded, reduced."""
        survey = merge_surveys([survey_part(table)])
        codes = {cell: place for place, cell in enumerate(survey.cells)}
        return survey, reduce_part(code_part(table, codes), **options)

    def test_mixed(self):
        table = pd.DataFrame(
            {"unit": [1, "1", "1 "], "rater": ["a", "a", "b"], "answer": ["x", ["x"], 5]}
        )
        survey, part = quiet(self.reduced, table.astype(object), assume_unique=False)
        cells = [cell.cell if isinstance(cell, Held) else cell for cell in survey.cells]
        assert sorted(map(repr, cells)) == ["'x'", "5", "['x']"]
        assert part.tallies[0].n_units == 2
        assert part.raters == {"a", "b"}
        assert part.repeats.n == 0

    def test_repeats(self):
        table = pd.DataFrame({"unit": [1, 1, 1], "rater": [*"aab"], "answer": [*"xyx"]})
        _, part = self.reduced(table, assume_unique=False)
        assert (part.repeats.n, part.repeats.few) == (1, [("1", "a", 2)])
        assert self.reduced(table, assume_unique=True)[1].repeats.n == 0

    def test_empty(self):
        for answers in ([], [None]):
            table = pd.DataFrame(
                {"unit": ["u"][: len(answers)], "rater": ["a"][: len(answers)], "answer": answers},
                dtype=object,
            )
            _, part = self.reduced(table, assume_unique=True)
            assert merge_parts([part, part]).tallies == []

    def test_places(self):
        table = pd.DataFrame({"unit": ["u", 2], "rater": [*"ab"], "answer": ["x", "y"]})
        assert find_cell(table, "y") == "Unit 2, rater 'b'"
        assert find_cell(table, "z") == ""

    def test_spark_batches(self):
        pa = pytest.importorskip("pyarrow", reason="the extra 'files' is not installed")
        pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
        data = {"unit": [*"uuvv"], "rater": [*"abab"], "code": [7, 8, 8, 7]}
        batch = pa.RecordBatch.from_pydict(data)
        (entries,) = reduced_batches(iter([batch[:3], batch[3:], batch[4:]]), assume_unique=False)
        assert entries.to_pylist() == [
            {"part": 0, "pattern": 0, "times": 2, "code": code, "count": 1} for code in (7, 8)
        ]
        (entries,) = reduced_batches(iter([batch, batch]), assume_unique=False)
        assert entries["code"].to_pylist() == [-1]
        assert list(reduced_batches(iter([batch[:0]]), assume_unique=False)) == []


@pytest.fixture(scope="class")
def cluster():
    """Give a cluster of two worker processes that can import the helpers of the tests."""
    distributed = pytest.importorskip("distributed", reason="dask[distributed] is not installed")
    dask = pytest.importorskip("dask", reason="Dask is not installed")
    pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
    path = os.pathsep.join([HERE, str(Path(HERE) / "support"), os.environ.get("PYTHONPATH", "")])
    environment = {"distributed.nanny.pre-spawn-environ": {"PYTHONPATH": path}}
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with (
        dask.config.set(environment),
        distributed.LocalCluster(processes=True, **options) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.mark.slow
class TestDask:
    def frame(self, parts):
        import dask.dataframe as dd
        from dask.delayed import delayed

        return dd.from_delayed([delayed(part) for part in parts], meta=parts[0].iloc[:0])

    def test_shuffled(self, cluster):
        table = generated()
        check_same(self.frame([table[k::5] for k in range(5)]), table)
        check_agreement(self.frame([table[k::5] for k in range(5)]), table)

    def test_partitioned_by_unit(self, cluster):
        table = generated()
        check_same(self.frame(in_whole_units(table)), table, partitioned_by_unit=True)

    def test_hostile(self, cluster):
        table = pd.DataFrame(HOSTILE)
        check_same(self.frame([table[:4], table[4:9], table[9:9], table[9:]]), table)
        lists = table.assign(labels=pd.Series(LISTS, dtype=object))
        check_same(self.frame([lists[:4], lists[4:]]), lists)

    def test_numbered_units(self, cluster):
        table = generated()
        table["unit"] = table["unit"].str.removeprefix("u").astype(int)
        check_same(self.frame([table[::2], table[1::2]]), table)

    def test_values(self, cluster):
        table = pd.DataFrame(
            {"unit": [1, 1, 2, 2, 3, 3], "rater": [*"ababab"], "score": [*"1122", "low", "1"]}
        )
        study = quiet(sa.Annotations.from_long, table, value="score")
        tally = quiet(sa.tally, self.frame([table[:4], table[4:]]), value="score")
        assert tally.kind == study.kind == "category"
        assert patterns(tally) == patterns(sa.Tally.from_annotations(study))

    @pytest.mark.parametrize("by_unit", [False, True])
    def test_repeats(self, cluster, by_unit):
        table = generated()
        pairs = table.sort_values(["unit", "rater"])[:5]
        parts = in_whole_units(pd.concat([table, pairs]))
        with pytest.raises(DataError, match="5 pairs of unit and rater annotated more than once"):
            sa.tally(self.frame(parts), blank="empty", partitioned_by_unit=by_unit)
        loose = sa.tally(self.frame(parts), blank="empty", assume_unique=True)
        assert loose.n_ratings == len(table) + 5

    def test_errors(self, cluster):
        table = pd.DataFrame(
            {"unit": [*"uvwx"], "rater": ["a"] * 4, "labels": ["x", 'y"', "x", 'y"']}
        )
        frame = self.frame([table[:2], table[2:]])
        with pytest.raises(LabelError, match=r"Unit '[vx]', rater 'a': .*1 more row fails"):
            sa.tally(frame)
        nameless = table.assign(unit=[None, "u", " ", None], labels="x")
        with pytest.raises(DataError, match="3 rows without a unit"):
            sa.tally(self.frame([nameless[:2], nameless[2:]]))
        with pytest.raises(DataError, match="There is no column 'tags'"):
            sa.tally(frame, labels="tags")
        with pytest.raises(OptionError, match=r"labels=.* is for tables that are read into memory"):
            sa.agreement(frame, labels=["x"])

    def dying(self, deaths, folder):
        """Return a frame whose workers are killed so many times while it is read."""
        import dask.dataframe as dd

        table = generated()
        parts = [part.to_dict("list") for part in in_whole_units(table)]
        read = partial(part_of_a_worker_that_dies, parts=parts, deaths=deaths, folder=str(folder))
        return dd.from_map(read, range(4), meta=table.iloc[:0]), table

    def test_killed_once(self, cluster, tmp_path):
        frame, table = self.dying(1, tmp_path)
        assert patterns(sa.tally(frame, blank="empty")) == patterns(
            sa.Tally.from_annotations(sa.Annotations.from_long(table, blank="empty"))
        )
        assert len(list(tmp_path.glob("death-*"))) == 1

    def test_killed_again_and_again(self, cluster, tmp_path, monkeypatch):
        monkeypatch.setattr(cluster.cluster.scheduler, "allowed_failures", 0)
        frame, _ = self.dying(100, tmp_path)
        with pytest.raises(DataError, match="Dask stopped, and there is no result"):
            sa.tally(frame, blank="empty")


@pytest.mark.slow
class TestDaskInThisProcess:
    # Dask's own use of pandas, as of pandas 3.
    @pytest.mark.filterwarnings("ignore:The inplace keyword")
    @pytest.mark.filterwarnings("ignore:The copy keyword")
    @pytest.mark.parametrize("by_unit", [False, True])
    def test_threads(self, by_unit):
        pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
        table = generated()
        frame = TestDask().frame(in_whole_units(table))
        dask = pytest.importorskip("dask")
        with dask.config.set(scheduler="threads"):
            check_same(frame, table, partitioned_by_unit=by_unit)


QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of Java for a process that ends before its code is worth optimising."""


@pytest.fixture(scope="module")
def spark():
    """Give a session of Spark with two local executors."""
    pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("setagree")
    path = os.pathsep.join([HERE, str(Path(HERE) / "support"), os.environ.get("PYTHONPATH", "")])
    settings = {
        "ui.enabled": "false",
        "sql.shuffle.partitions": "4",
        "driver.host": "127.0.0.1",
        "executor.memory": "512m",
        "executorEnv.PYTHONPATH": path,
        # Of small tables a plan takes longer to compile, in two ways, than to be interpreted.
        "sql.codegen.wholeStage": "false",
        "sql.codegen.factoryMode": "NO_CODEGEN",
        "sql.adaptive.enabled": "false",
        "driver.extraJavaOptions": QUICK,
        "executor.extraJavaOptions": QUICK,
        "task.maxFailures": "2",
    }
    for name, setting in settings.items():
        builder = builder.config(f"spark.{name}", setting)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


# PySpark's word on pandas 3, which the reduction does not use there.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
class TestSpark:
    def frame(self, spark, parts):
        schema = "unit string, rater string, labels string"
        if isinstance(next(iter(parts[0]["labels"])), list):
            schema = schema.removesuffix("string") + "array<string>"
        rows = [list(part[["unit", "rater", "labels"]].itertuples(index=False)) for part in parts]
        rows = [
            [tuple(c if isinstance(c, list) or c == c else None for c in r) for r in p]
            for p in rows
        ]
        spread = spark.sparkContext.parallelize(rows, len(rows)).flatMap(list)
        return spark.createDataFrame(spread, schema)

    def test_shuffled(self, spark):
        table = generated()
        check_same(self.frame(spark, [table[k::5] for k in range(5)]), table)
        check_agreement(self.frame(spark, [table[k::5] for k in range(5)]), table)

    def test_partitioned_by_unit(self, spark):
        table = generated()
        check_same(self.frame(spark, in_whole_units(table)), table, partitioned_by_unit=True)

    def test_hostile(self, spark):
        table = pd.DataFrame(HOSTILE)
        check_same(self.frame(spark, [table]), table)
        lists = table.assign(labels=pd.Series(LISTS, dtype=object))
        check_same(self.frame(spark, [lists]), lists)

    def test_repeats(self, spark):
        table = generated(50)
        pairs = table.sort_values(["unit", "rater"])[:5]
        frame = self.frame(spark, in_whole_units(pd.concat([table, pairs])))
        for by_unit in (False, True):
            with pytest.raises(DataError, match="5 pairs of unit and rater annotated more than"):
                sa.tally(frame, blank="empty", partitioned_by_unit=by_unit)

    def test_failing(self, spark):
        frame = self.frame(spark, [generated(5)])
        broken = frame.selectExpr("unit", "rater", "string(raise_error('gone')) as labels")
        with pytest.raises(DataError, match="Spark stopped, and there is no result: "):
            sa.tally(broken)

    def test_failing_worker(self, spark, monkeypatch):
        from setagree.large import clusters as room

        def failing(batches, *, assume_unique, keep_raters):
            raise OSError("the disk is gone")

        monkeypatch.setattr(room, "reduced_batches", failing)
        frame = self.frame(spark, [generated(5)])
        with pytest.raises(DataError, match="OSError: the disk is gone"):
            sa.tally(frame, blank="empty", partitioned_by_unit=True)

    def dying(self, spark, deaths, folder):
        """Return a frame whose executors are killed so many times while it is read."""
        if not Path("/proc/self/status").exists():
            pytest.skip("the executor of a worker is found in /proc, which this system has not")
        table = generated()
        columns = ["unit", "rater", "labels"]
        parts = [
            part[columns].astype(object).where(part[columns].notna(), None).to_dict("list")
            for part in in_whole_units(table)
        ]
        rows = partial(
            rows_of_an_executor_that_dies, parts=parts, deaths=deaths, folder=str(folder)
        )
        spread = spark.sparkContext.parallelize(range(len(parts)), len(parts)).mapPartitions(rows)
        return spark.createDataFrame(spread, "unit string, rater string, labels string"), table

    def test_killed_once(self, spark, tmp_path):
        frame, table = self.dying(spark, 1, tmp_path)
        assert patterns(sa.tally(frame, blank="empty")) == patterns(
            sa.Tally.from_annotations(sa.Annotations.from_long(table, blank="empty"))
        )
        assert len(list(tmp_path.glob("death-*"))) == 1

    def test_killed_again_and_again(self, spark, tmp_path):
        frame, _ = self.dying(spark, 100, tmp_path)
        with pytest.raises(DataError, match="Spark stopped, and there is no result"):
            sa.tally(frame, blank="empty")
