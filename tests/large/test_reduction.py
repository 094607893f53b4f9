"""Reduction in engines: the same patterns as in memory, whoever holds the table."""

import gzip
import io
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reduction_support import HOSTILE, columns, generated, ibis_table, patterns, quiet, relation
from small_studies import annotations, row_lists, sets_of

import setagree as sa
from setagree.errors import (
    BlankLabelsWarning,
    DataError,
    FileError,
    OptionError,
    RepeatsError,
)
from setagree.large import opening
from setagree.large.patterns import CodedCells, Repeats, merge_all, with_answers

pytest.importorskip("narwhals", reason="the extra 'frames' is not installed")
pl = pytest.importorskip("polars", reason="Polars is not installed")
pa = pytest.importorskip("pyarrow", reason="the extra 'files' is not installed")
pq = pytest.importorskip("pyarrow.parquet")
duckdb = pytest.importorskip("duckdb", reason="the extra 'files' is not installed")

TIGHT = {"rtol": 0, "atol": 1e-12}


ENGINES = {"duckdb": relation, "polars": pl.LazyFrame, "ibis": ibis_table}
every_engine = pytest.mark.parametrize("lazy", ENGINES.values(), ids=list(ENGINES))


def write(folder, kind, data, pieces=1):
    """Write a table as files of a kind, a few rows each; return their pattern."""
    table = pa.table(data)
    size = -(-len(table) // pieces)
    for piece in range(pieces):
        part = table[piece * size : (piece + 1) * size]
        path = folder / f"part-{piece}.{kind}"
        frame = part.to_pandas()
        if kind == "parquet":
            pq.write_table(part, path)
        elif kind == "jsonl":
            frame.to_json(path, orient="records", lines=True, force_ascii=False)
        else:
            text = frame.to_csv(index=False, sep="\t" if kind == "tsv" else ",")
            data = gzip.compress(text.encode()) if kind.endswith("gz") else text.encode()
            path.write_bytes(data)
    return str(folder / f"*.{kind}")


every_kind = pytest.mark.parametrize("kind", ["parquet", "csv", "tsv", "csv.gz", "jsonl"])


class TestSameAsInMemory:
    def test_categories(self):
        frame = pl.LazyFrame(HOSTILE).with_columns(pl.all().cast(pl.Categorical))
        assert patterns(quiet(sa.tally, frame)) == patterns(quiet(sa.tally, pl.LazyFrame(HOSTILE)))

    def test_an_enum_is_ordered(self):
        size = pl.Enum(["small", "large", "huge"])
        frame = pl.LazyFrame({"unit": [1, 1], "rater": ["a", "b"], "value": ["large", "small"]})
        tally = sa.tally(frame.with_columns(pl.col("value").cast(size)), value="value")
        assert tally.order == ("small", "large", "huge")

    @pytest.mark.slow
    @every_kind
    def test_several_files(self, tmp_path, kind):
        table = generated()
        path = write(tmp_path, kind, columns(table), 3)
        tally = sa.tally(path, blank="empty", memory_limit="500MB", temp_directory=tmp_path)
        expected = sa.Tally.from_annotations(sa.Annotations.from_long(table, blank="empty"))
        assert patterns(tally) == patterns(expected)
        assert sorted(tmp_path.glob("setagree-*")) == []

    def test_memory(self):
        table = generated()
        tally = sa.tally(table, blank="empty")
        study = sa.Annotations.from_long(table, blank="empty")
        assert patterns(tally) == patterns(sa.Tally.from_annotations(study))
        assert (tally.units, tally.given) == (None, None)

    @pytest.mark.slow
    def test_engines_agree_on_order(self):
        data = columns(generated())
        one, two = (sa.tally(lazy(data), blank="empty") for lazy in (relation, pl.LazyFrame))
        assert one.values == two.values
        for name in ("indptr", "indices", "counts", "multiplicity"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.slow
class TestIbis:
    """A table of Ibis is never read into memory unasked, and what Ibis lacks is refused."""

    def test_raters_and_conditions(self):
        table = generated()
        how = {"blank": "empty", "where": "rater != r1 and unit != u3"}
        for name in ("conger_kappa", "krippendorff_alpha"):
            (found,) = quiet(sa.agreement, ibis_table(columns(table)), coefficient=name, **how)
            (expected,) = quiet(sa.agreement, table, coefficient=name, **how)
            assert found.estimate == pytest.approx(expected.estimate, abs=1e-12)
            assert found.study is None

    @pytest.mark.parametrize(
        ("option", "value"),
        [("wide", True), ("duplicates", "first"), ("cluster", "unit"), ("degree", "d")],
    )
    def test_options(self, option, value):
        words = f"^{option}=.* is for tables that are read into memory; omit it, or call setagree.r"
        with pytest.raises(OptionError, match=words):
            sa.krippendorff_alpha(ibis_table(HOSTILE), reading=sa.Reading(**{option: value}))

    def test_read_on_request(self):
        study = sa.read(ibis_table(columns(generated())), blank="empty")
        expected = sa.Annotations.from_long(generated(), blank="empty")
        assert study.n_ratings == expected.n_ratings

    def test_lists(self):
        rows = {"unit": [1, 1], "rater": ["a", "b"]}
        with pytest.raises(DataError, match=r"lists in a table of Ibis must hold text; read"):
            sa.tally(ibis_table({**rows, "labels": [[1], [2]]}))
        for odd in (["x\x1fy"], ["x", None]):
            with pytest.raises(DataError, match=r"is missing, or holds the character U\+001F"):
                sa.tally(ibis_table({**rows, "labels": [odd, ["x"]]}))


class TestAgreement:
    @pytest.mark.slow
    @every_engine
    def test_lazy(self, lazy):
        table = generated()
        data = columns(table)
        names = ["krippendorff_alpha", "fleiss_kappa", "gwet_ac", "percent_agreement", "mv_alpha"]
        options = {"coefficient": names, "distance": ["jaccard", "nominal"], "blank": "missing"}
        reduced = sa.agreement(lazy(data), **options)
        expected = sa.agreement(table, **options)
        assert next(iter(reduced)).study is None
        pd.testing.assert_frame_equal(
            reduced.to_frame(), expected.to_frame(), check_exact=False, **TIGHT
        )
        lines = str(expected).splitlines()
        # Distinct patterns have no names of units.
        unnamed = [line for line in lines if "units that nobody rated" not in line]
        assert len(unnamed) == len(lines) - 1
        assert str(reduced).splitlines() == unnamed

    @pytest.mark.slow
    @every_kind
    def test_options_reduce(self, tmp_path, kind):
        table = generated()
        path = write(tmp_path, kind, columns(table), 2)
        reduced = sa.agreement(path, blank="empty", memory_limit="500MB")
        assert next(iter(reduced)).study is None
        read = sa.agreement(path, blank="empty")
        assert next(iter(read)).study is not None
        pd.testing.assert_frame_equal(
            reduced.to_frame(), read.to_frame(), check_exact=False, **TIGHT
        )

    @pytest.mark.slow
    def test_large_files(self, tmp_path, monkeypatch):
        table = generated()
        path = write(tmp_path, "csv", columns(table))
        monkeypatch.setattr(opening, "LARGE", 100)
        assert next(iter(sa.agreement(path, blank="empty"))).study is None
        table.to_json(tmp_path / "study.json", orient="records")
        assert next(iter(sa.agreement(tmp_path / "study.json", blank="empty"))).study is not None
        flags = pd.DataFrame({"unit": [1, 1], "rater": ["a", "b"], "x": [1, 0], "y": [1, 1]})
        flags.to_csv(tmp_path / "flags.csv", index=False)
        read = sa.agreement(
            tmp_path / "flags.csv", labels=["x", "y"], coefficient="percent_agreement"
        )
        assert next(iter(read)).study is not None

    @pytest.mark.slow
    def test_what_follows(self):
        table = generated()
        study = sa.Annotations.from_long(table, blank="empty")
        tally = sa.tally(pl.LazyFrame(columns(table)), blank="empty")
        assert sa.mv_alpha(tally).estimate == pytest.approx(sa.mv_alpha(study).estimate, abs=1e-12)
        ours, theirs = (
            sa.bootstrap(sa.krippendorff_alpha(one), n_resamples=4000, rng=1)
            for one in (tally, study)
        )
        assert ours.standard_error == pytest.approx(theirs.standard_error, rel=0.08)

    def test_built(self):
        study = sa.simulate(10, 3, rng=1)
        with pytest.raises(OptionError, match="already built; omit memory_limit="):
            sa.agreement(study, memory_limit="1GB")


class TestParts:
    @pytest.mark.slow
    @every_kind
    def test_files(self, tmp_path, kind):
        table = generated().sort_values("unit", kind="stable")
        table["unit"] = table["unit"].astype("category").cat.codes // 1
        halves = [table[table["unit"] < 150], table[table["unit"] >= 150]]
        for place, half in enumerate(halves):
            (tmp_path / str(place)).mkdir()
            write(tmp_path / str(place), kind, columns(half.astype({"unit": str})))
        path = str(tmp_path / "*" / f"*.{kind}")
        whole = sa.tally(path, blank="empty")
        parts = sa.tally(path, blank="empty", partitioned_by_unit=True)
        assert patterns(parts) == patterns(whole)
        assert parts.n_raters == whole.n_raters == 4

    @pytest.mark.slow
    @pytest.mark.parametrize("by_part", [False, True])
    def test_space_in_one_file(self, tmp_path, by_part):
        files = {"u": ["a", "\u00e9"], " v": ["a ", "e\u0301"]}
        for place, (unit, raters) in enumerate(files.items()):
            data = {"unit": [unit, unit], "rater": raters, "labels": ["x", "y"]}
            pq.write_table(pa.table(data), tmp_path / f"{place}.parquet")
        tally = quiet(sa.tally, tmp_path / "*.parquet", partitioned_by_unit=by_part)
        assert (tally.n_units, tally.n_raters, tally.n_patterns) == (2, 2, 1)

    @pytest.mark.slow
    def test_split_units(self, tmp_path):
        units = [*"abcdefghiu", *"uklmnopqrs"]
        data = {"unit": units, "rater": ["a"] * 10 + ["b"] * 10, "labels": ["x"] * 20}
        path = write(tmp_path, "csv", data, 2)
        assert sa.tally(path).n_units == 19
        assert sa.tally(path, partitioned_by_unit=True).n_units == 20
        data["unit"] = [*"abcdefghij"] * 2
        path = write(tmp_path, "csv", data, 2)
        with pytest.raises(DataError, match=r"have 20 units and together about 10\. Omit it"):
            sa.tally(path, partitioned_by_unit=True)

    @every_engine
    def test_no_parts(self, lazy):
        with pytest.raises(OptionError, match="partitioned_by_unit= is for files and frames of"):
            sa.tally(lazy(HOSTILE), partitioned_by_unit=True)

    @pytest.mark.slow
    @given(st.lists(row_lists(sets_of("ab"), units=3), min_size=3, max_size=3))
    def test_merging(self, studies):
        a, b, c = (sa.Tally.from_annotations(annotations(rows)) for rows in studies)
        expected = patterns(a) + patterns(b) + patterns(c)
        for merged in (
            a.merge(b).merge(c),
            a.merge(b.merge(c)),
            c.merge(a).merge(b),
            merge_all([a, b, c]),
            merge_all([c, a, b]),
        ):
            assert patterns(merged) == expected
            assert merged.n_patterns == len(expected)


class TestErrors:
    @pytest.mark.slow
    @every_engine
    def test_unique_is_assumed(self, lazy):
        data = {"unit": ["u"] * 5 + ["v"], "rater": [*"aabbb", "a"], "labels": [*"xyxxx", None]}
        assert quiet(sa.tally, lazy(data), assume_unique=True).n_ratings == 5

    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=12))
    def test_only_repeats(self, pairs):
        units, raters = ([f"{name}" for name in names] for names in zip(*pairs, strict=True))
        frame = pl.LazyFrame({"unit": units, "rater": raters, "labels": ["x"] * len(pairs)})
        if len(set(pairs)) == len(pairs):
            assert quiet(sa.tally, frame).n_ratings == len(pairs)
        else:
            n = sum(pairs.count(pair) > 1 for pair in set(pairs))
            with pytest.raises(RepeatsError, match=f"^{n} pair"):
                quiet(sa.tally, frame)

    def test_changed(self):
        tally = sa.Tally.from_counts(pd.DataFrame({"a": [2, 1], "b": [0, 1]}))
        answers = type("Answers", (), {"values": tally.values, "kind": "labels"})
        coded = CodedCells(answers, np.array([3, 2]), 0)
        by_code = sa.Tally(
            "category",
            (0, 1),
            *(getattr(tally, n) for n in ("indptr", "indices", "counts")),
            tally.multiplicity,
        )
        with pytest.raises(DataError, match=r"hold 4 annotations and the rows 5 \(1 value differ"):
            with_answers(by_code, coded, n_raters=2)

    def test_unsteady(self):
        calls = []

        def unsteady(frame):
            calls.append(1)
            return frame if len(calls) < 2 else frame[:-3]

        frame = pl.DataFrame(columns(generated())).lazy().map_batches(unsteady)
        with pytest.raises(DataError, match="did the table change while it was read"):
            sa.tally(frame, blank="empty", assume_unique=True)

    @every_engine
    def test_failing(self, lazy):
        frame = lazy({**HOSTILE, "labels": ["no number"] * 12})
        if lazy is relation:
            frame = frame.select("unit, rater, cast(labels as int) as labels")
        elif lazy is ibis_table:
            frame = frame.mutate(labels=frame.labels.cast("int64"))
        else:
            frame = frame.with_columns(pl.col("labels").cast(pl.Int64))
        with pytest.raises(DataError, match="stopped, and there is no result: "):
            sa.tally(frame, value="labels")

    @every_engine
    def test_options_of_files(self, lazy):
        with pytest.raises(OptionError, match="memory_limit= and temp_directory= is for files"):
            sa.tally(lazy(HOSTILE), memory_limit="1GB", temp_directory=".")

    def test_no_table(self):
        with pytest.raises(DataError, match="Expected a table, got an int"):
            sa.tally(5)
        with pytest.raises(OptionError, match="is for files and lazy tables"):
            sa.tally(generated(), partitioned_by_unit=True)

    def test_repeats_add_up(self):
        one = Repeats(2, [("u", "a", 2), ("v", "a", 2)])
        assert one + one == Repeats(4, [*one.few, one.few[0]])


class TestFiles:
    def test_kinds(self, tmp_path):
        path = tmp_path / "study.json"
        table = generated()
        table.to_json(path, orient="records")
        assert sa.tally(path, blank="empty").n_units == table["unit"].nunique()
        with pytest.raises(FileError, match=r"into memory as a whole; .* Omit memory_limit= or"):
            sa.tally(path, memory_limit="1GB")

    def test_absent(self, tmp_path):
        with pytest.raises(FileError, match="There is no file"):
            sa.tally(tmp_path / "none.csv")
        with pytest.raises(FileError, match="No file matches"):
            sa.tally(str(tmp_path / "*.csv"))

    @pytest.mark.parametrize("kind", ["parquet", "csv"])
    def test_different_columns(self, tmp_path, kind):
        write(tmp_path, kind, HOSTILE)
        renamed = {("who" if n == "rater" else n): c for n, c in HOSTILE.items()}
        (tmp_path / f"part-0.{kind}").rename(tmp_path / f"zz.{kind}")
        write(tmp_path, kind, renamed)
        with pytest.raises(FileError, match="have different columns"):
            sa.tally(str(tmp_path / f"*.{kind}"), memory_limit="100MB")

    def test_limits(self, tmp_path):
        path = write(tmp_path, "csv", HOSTILE)
        with pytest.raises(OptionError, match="memory_limit='much' is not an amount of memory"):
            sa.tally(path, memory_limit="much")
        with pytest.raises(OptionError, match="is not a folder"):
            sa.tally(path, temp_directory=tmp_path / "none")

    @pytest.mark.slow
    def test_too_little(self, tmp_path):
        path = write(tmp_path, "parquet", columns(generated(20_000)))
        with pytest.raises(DataError, match=r"DuckDB stopped.*Raise memory_limit="):
            sa.tally(path, blank="empty", memory_limit="1MB")

    def test_damaged(self, tmp_path):
        path = tmp_path / "study.csv"
        path.write_text("unit,rater,labels\nu,a,x\nu,b,x,y,z\n")
        with pytest.raises(FileError, match="line 3 has 5 cells, the header 3"):
            sa.tally(path)
        lines = tmp_path / "study.jsonl"
        lines.write_text("nothing\n")
        with pytest.raises(FileError, match="line 1, column 1: this is not JSON"):
            sa.tally(lines)
        lines.write_text("[1]\n")
        with pytest.raises(FileError, match=r"is one JSON list, .* omit memory_limit="):
            sa.tally(lines, unit="unit")
        lines.write_text('{"unit":1}\n1\n')
        with pytest.raises(FileError, match="line 2 is 1; each must be an object"):
            sa.tally(lines)

    @pytest.mark.parametrize(
        ("name", "text", "said"),
        [
            ("a.csv", "unit,unit,rater,labels\nu,v,a,b\n", "several columns called 'unit'"),
            ("a.csv", "", "is empty"),
            ("a.jsonl", "", "is empty"),
            ("a.parquet", "PAR1 and no more", "is a damaged Parquet file"),
            ("a.csv", "unit,rater,labels\nu,a,c\nunit,rater,labels\nu,b,c\n", "in row 2 below the"),
        ],
    )
    def test_odd_files(self, tmp_path, name, text, said):
        (tmp_path / name).write_text(text)
        with pytest.raises(FileError, match=said):
            sa.tally(tmp_path / name, memory_limit="100MB")

    @pytest.mark.slow
    def test_header_words(self, tmp_path):
        path = tmp_path / "study.csv"
        path.write_text(",unit,rater,labels\n0,u,a,labels\n1,u,b,labels\n")
        assert sa.tally(path).values == (frozenset({"labels"}),)

    @pytest.mark.slow
    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    def test_bytes(self, tmp_path, encoding, end):
        path = tmp_path / "study.csv"
        text = 'unit,rater,labels\nu,a,"x, y"\nu,b,é\nv,a,"a ""q"""\nv,b,"one\ntwo"\n'
        path.write_bytes(text.replace("\n", end).encode(encoding))
        plain = "utf-8" if encoding == "utf-8-sig" else encoding
        values = {label for value in sa.tally(path, encoding=plain).values for label in value}
        assert values == {"x", "y", "é", 'a "q"', f"one{end}two"}

    @pytest.mark.slow
    def test_objects(self, tmp_path):
        path = tmp_path / "study.jsonl"
        rows = ['"labels":"x, y"', '"labels":["x, y"]', '"note":1', '"labels":null', '"labels":""']
        lines = [f'{{"unit":1,"rater":{k},{row}}}' for k, row in enumerate(rows)]
        path.write_text("\n".join(lines))
        with pytest.warns(BlankLabelsWarning, match="^2 nulls .* read as missing, because"):
            tally = sa.tally(path, blank="empty")
        assert set(tally.values) == {frozenset("xy"), frozenset({"x, y"}), frozenset()}

    def test_standard_input(self, monkeypatch):
        stream = type("Input", (), {"buffer": io.BytesIO(b"unit,rater,labels\nu,a,x\nu,b,x\n")})
        monkeypatch.setattr(sys, "stdin", stream)
        assert next(iter(sa.agreement("-", coefficient="percent_agreement"))).estimate == 1

    @pytest.mark.slow
    def test_odd_names(self, tmp_path):
        folder = tmp_path / "it's"
        folder.mkdir()
        names = dict(zip(HOSTILE, ["u\"n'it", "r'", 'l"\\'], strict=True))
        data = {names[name]: cells for name, cells in HOSTILE.items()}
        for kind in ("parquet", "csv", "jsonl"):
            path = write(folder, kind, data)
            tally = quiet(
                sa.tally, path, unit=names["unit"], rater=names["rater"], labels=names["labels"]
            )
            assert tally.n_units == 6

    @pytest.mark.slow
    def test_a_unit_with_very_many_ratings(self):
        """Sums of numbers of 40 bits would run over 64 bits: 17e6 x 2^39 > 2^63."""
        pl = pytest.importorskip("polars", reason="Polars is not installed")
        n = pl.int_range(17_000_000)
        many = pl.select(n, unit=1, rater=n % 40, labels=n % 3).lazy()
        few = many.head(17_000)
        for table in (few, duckdb.from_arrow(few.collect().to_arrow())):
            with pytest.raises(RepeatsError, match=r"^40 pairs of unit and rater .* 425 times"):
                quiet(sa.tally, table, value="labels")
        tally = quiet(sa.tally, many, value="labels", assume_unique=True)
        assert sorted(tally.counts) == [5_666_666, 5_666_667, 5_666_667]

    @pytest.mark.slow
    def test_missing_packages(self, tmp_path):
        path = write(tmp_path, "csv", HOSTILE)
        code = (
            "import sys; sys.modules['duckdb'] = None\n"
            "import setagree as sa\n"
            f"try: sa.tally({path!r})\n"
            "except sa.SetagreeError as error: print(type(error).__name__, error)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "MissingDependencyError" in done.stdout
        assert 'pip install "setagree[files]"' in done.stdout


ROUNDED = {"unit": [2.0**53, 2.0**53, 1.0, 1.0], "rater": ["a", "b"] * 2, "labels": [*"xyxx"]}


class TestSentences:
    def test_no_folder_can_be_made(self, tmp_path, monkeypatch):
        (tmp_path / "a.csv").write_text("unit,rater,labels\n1,a,x\n1,b,x\n")

        def refuse(*_args, **_kwargs):
            raise PermissionError(13, os.strerror(13))

        monkeypatch.setattr("os.mkdir", refuse)
        with pytest.raises(OptionError, match=r"no folder can be made in .* \(Permission denied\)"):
            sa.tally(tmp_path / "a.csv", temp_directory=tmp_path)

    def test_connection_without_python(self):
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
        frame = pl.LazyFrame(ROUNDED).with_columns(pl.col("gone"))
        for ask in (sa.tally, sa.agreement, sa.Annotations.from_long):
            with pytest.raises(DataError, match='cannot be computed: unable to find column "gone"'):
                ask(frame)

    def test_counts_beyond_all_bounds(self):
        tally = sa.Tally.from_counts(pd.DataFrame({"a": [1e15, 2], "b": [1e15, 3]}))
        alpha = sa.krippendorff_alpha(tally)
        with pytest.raises(
            DataError, match=r"would move 2,000,000,000,000,005 answers; the limit is"
        ):
            sa.permutation_test(alpha, rng=1)
