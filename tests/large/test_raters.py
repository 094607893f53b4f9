"""Reduction that keeps raters: who gave what comes home, pattern by pattern."""

import os
import shutil
import sys
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reduction_support import columns, generated, in_whole_units, quiet, relation, who_gave_what
from reduction_support import patterns as counts_of
from small_studies import annotations, row_lists, sets_of, text

import setagree as sa
from setagree.distances import get_distance
from setagree.errors import DataError
from setagree.large.clusters import reduced_batches
from setagree.large.patterns import PRIME, merge_all, tally_of_entries, unspelled
from setagree.large.steps import Roster
from setagree.scoring.coefficients import get_coefficient
from setagree.scoring.scorer import Scorer
from setagree.study.codes import as_objects
from setagree.study.tally import Given

nw = pytest.importorskip("narwhals", reason="the extra 'frames' is not installed")
pl = pytest.importorskip("polars", reason="Polars is not installed")
pa = pytest.importorskip("pyarrow", reason="the extra 'files' is not installed")
pq = pytest.importorskip("pyarrow.parquet")
duckdb = pytest.importorskip("duckdb", reason="the extra 'files' is not installed")

TIGHT = {"check_exact": False, "rtol": 0, "atol": 1e-12}


def study_table(n_units=400, n_raters=5, *, missing=0.25, seed=1, n_labels=4):
    """Return a table of generated annotations, its rows in random order."""
    study = sa.simulate(n_units, n_raters, n_labels=n_labels, missing=missing, rng=seed)
    table = study.to_long()
    table["labels"] = [sa.format_labels(value) for value in table["labels"]]
    return table.sample(frac=1, random_state=seed).reset_index(drop=True)


ENGINES = {"duckdb": relation, "polars": pl.LazyFrame}
every_engine = pytest.mark.parametrize("lazy", ENGINES.values(), ids=list(ENGINES))


def by_hand(study):
    """Return the same of a study in memory, unit by unit."""
    units = {}
    codes = zip(study.unit_codes, study.rater_codes, study.value_codes, strict=True)
    for u, g, v in codes:
        units.setdefault(u, set()).add((study.raters[g], study.values[v]))
    return Counter(map(frozenset, units.values()))


def nameless(tally):
    """Return the tally as it comes from an engine, without units."""
    return replace(tally, units=None, unit_patterns=None)


def check_same(frame, table, **options):
    """Check patterns, coefficients and standard errors against the table in memory."""
    study = quiet(sa.Annotations.from_long, table, blank="empty")
    tally = quiet(sa.tally, frame, blank="empty", keep_raters=True, **options)
    assert who_gave_what(tally) == by_hand(study)
    assert len(by_hand(study)) == tally.n_patterns
    assert sum(counts_of(tally).values()) == study.n_units
    assert counts_of(tally) == counts_of(sa.Tally.from_annotations(study))
    assert (tally.n_raters, tally.units) == (study.n_raters, None)
    assert set(tally.given.raters) == set(study.raters)
    names = ["conger_kappa", "krippendorff_alpha", "gwet_ac"]
    asked = {"coefficient": names, "distance": ["masi", "nominal"], "blank": "empty"}
    reduced = quiet(sa.agreement, frame, **asked, **options)
    assert reduced.rows[0].study is None
    expected = quiet(sa.agreement, table, **asked)
    pd.testing.assert_frame_equal(reduced.to_frame(), expected.to_frame(), **TIGHT)


class TestScott:
    @every_engine
    def test_as_in_memory(self, lazy):
        table = study_table(n_raters=2)
        options = {"coefficient": "scott_pi", "distance": ["masi", "jaccard"], "blank": "empty"}
        reduced = sa.agreement(lazy(columns(table)), **options)
        assert reduced.rows[0].tally.given is None
        assert reduced.rows[0].n_pairable_units < reduced.rows[0].n_units
        expected = sa.agreement(table, **options)
        pd.testing.assert_frame_equal(reduced.to_frame(), expected.to_frame(), **TIGHT)
        ours, theirs = (sa.jackknife(one.rows[0]) for one in (reduced, expected))
        assert ours.standard_error == pytest.approx(theirs.standard_error, abs=1e-12)

    def test_exact(self):
        """Units aa, ab, bb, b-: pi_a = 3/8, pi_b = 5/8; pe = 34/64, pa = 2/3, pi = 13/45."""
        study = annotations(text("a a / a b / b b / b ."))
        pi = sa.scott_pi(sa.Tally.from_annotations(study), distance="nominal")
        assert pi.observed_agreement == pytest.approx(2 / 3, abs=1e-15)
        assert pi.expected_agreement == pytest.approx(34 / 64, abs=1e-15)
        assert pi.estimate == pytest.approx(13 / 45, abs=1e-15)

    def test_more_raters(self):
        data = columns(study_table(n_raters=3))
        with pytest.raises(DataError, match=r"these are 3\. Use fleiss_kappa for more than two"):
            sa.agreement(pl.LazyFrame(data), coefficient="scott_pi", blank="empty")
        with pytest.raises(DataError, match=r"these are 3 \('r1', 'r2', 'r3'\)\. Use fleiss"):
            sa.scott_pi(sa.tally(pl.LazyFrame(data), blank="empty", keep_raters=True))

    def test_one_rater(self):
        data = {"unit": [1, 2], "rater": ["ann", "ann"], "labels": ["a", "b"]}
        with pytest.warns(sa.UndefinedAgreementWarning, match="there is only one rater"):
            table = sa.agreement(pl.LazyFrame(data), coefficient="scott_pi")
        assert np.isnan(table.rows[0].estimate)

    def test_unknown_number(self):
        tally = sa.Tally.from_counts(pd.DataFrame({"a": [2, 1], "b": [0, 1]}))
        with pytest.raises(DataError, match=r"scott_pi requires .* fleiss_kappa is the same"):
            sa.scott_pi(tally)

    def test_three_answers_of_two_raters(self):
        data = {"unit": [1, 1, 1, 2], "rater": ["a", "b", "b", "a"], "labels": [*"xxyx"]}
        with pytest.raises(DataError, match="a unit has 3 answers: one of them gave several"):
            sa.agreement(pl.LazyFrame(data), coefficient="scott_pi", assume_unique=True)


class TestEngines:
    @every_engine
    def test_lazy(self, lazy):
        table = study_table()
        check_same(lazy(columns(table)), table)

    @pytest.mark.slow
    @every_engine
    def test_cohen(self, lazy):
        """Cohen's kappa beside what does not ask for raters."""
        table = study_table(n_raters=2)
        options = {
            "coefficient": ["cohen_kappa", "conger_kappa", "scott_pi", "fleiss_kappa", "mv_alpha"],
            "distance": ["jaccard", "nominal"],
            "blank": "empty",
        }
        reduced = sa.agreement(lazy(columns(table)), **options)
        expected = sa.agreement(table, **options)
        pd.testing.assert_frame_equal(reduced.to_frame(), expected.to_frame(), **TIGHT)
        assert str(reduced) == str(expected)

    @every_engine
    def test_cohen_of_five(self, lazy):
        with pytest.raises(DataError, match=r"cohen_kappa compares two raters; these are 5 \('r1"):
            sa.agreement(lazy(columns(study_table())), coefficient="cohen_kappa", blank="empty")

    @every_engine
    def test_exchanged(self, lazy):
        data = {"unit": [1, 1, 2, 2], "rater": [*"abab"], "labels": [*"xyyx"]}
        assert sa.tally(lazy(data)).n_patterns == 1
        tally = sa.tally(lazy(data), keep_raters=True)
        assert tally.n_patterns == 2
        assert repr(tally) == "<Tally: 2 units in 2 patterns of 2 values by 2 raters>"

    def test_engines_agree_on_order(self):
        data = columns(study_table())
        one, two = (
            sa.tally(lazy(data), blank="empty", keep_raters=True) for lazy in ENGINES.values()
        )
        for name in ("indptr", "indices", "counts", "multiplicity"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        for name in ("raters", "indptr", "rater_codes", "value_codes"):
            np.testing.assert_array_equal(getattr(one.given, name), getattr(two.given, name))

    def test_the_largest_products(self):
        """The largest two numbers below the prime multiply in 64 bits: (p - 1)² = 1 modulo p."""
        largest = PRIME - 1
        data = {"unit": [1] * 8, "a": [largest] * 8, "b": [largest] * 8}
        mixed = f"sum((a * b) % {PRIME})::BIGINT"
        assert relation(data).aggregate(mixed).fetchall() == [(8,)]
        sums = pl.LazyFrame(data).select(((pl.col("a") * pl.col("b")) % PRIME).sum()).collect()
        assert sums.item() == 8

    @pytest.mark.slow
    @pytest.mark.parametrize("by_unit", [False, True])
    def test_files(self, tmp_path, by_unit):
        table = study_table()
        table = table[(table["rater"] != "r3") | (table["unit"] < "u2")]
        for k, part in enumerate(in_whole_units(table)):
            pq.write_table(pa.table(columns(part)), tmp_path / f"{k}.parquet")
        path = str(tmp_path / "*.parquet")
        check_same(path, table, memory_limit="500MB", partitioned_by_unit=by_unit)

    def test_a_file_without_answers(self, tmp_path):
        for k, labels in enumerate([[None, None], ["x", "y"], [None, None]]):
            part = {"unit": [f"u{k}"] * 2, "rater": ["a", "b"], "labels": labels}
            schema = pa.schema([(name, pa.string()) for name in part])
            pq.write_table(pa.table(part, schema=schema), tmp_path / f"{k}.parquet")
        path = str(tmp_path / "*.parquet")
        tally = quiet(sa.tally, path, partitioned_by_unit=True, keep_raters=True)
        assert (tally.n_units, tally.n_raters, tally.n_ratings) == (1, 2, 2)
        assert tally.given.raters.tolist() == ["a", "b"]

    def test_unsteady(self):
        calls = []

        def unsteady(frame):
            calls.append(1)
            return frame if len(calls) < 3 else frame.with_columns(rater=pl.lit("r1"))

        table = pl.DataFrame(columns(study_table()))
        frame = table.unique("unit").lazy().map_batches(unsteady)
        with pytest.raises(DataError, match=r"raters differ\), so there is no result"):
            sa.tally(frame, blank="empty", keep_raters=True)

    def test_totals(self):
        tally = sa.Tally.from_annotations(annotations(text("a b / a a")), keep_raters=True)

        def roster(*times):
            table = pl.DataFrame({"rater": ["x", "y"], "times": times})
            return Roster(nw.from_native(table, eager_only=True))

        assert roster(2, 2).name(tally).given.raters.tolist() == ["x", "y"]
        with pytest.raises(DataError, match=r"hold 4 annotations and the rows 5 \(1 r"):
            roster(2, 3).name(tally)
        plain = sa.Tally.from_annotations(annotations(text("a b")))
        assert roster(1, 1).name(plain) is plain

    def test_entries(self):
        data = {
            "size": [2, 2, 1, 2],
            "one": [7, 7, 3, 7],
            "times": [4, 4, 1, 4],
            "code": [1, 0, 1, 1],
            "who": [1, 0, 0, 0],
            "count": [1, 1, 1, 1],
        }
        tally = tally_of_entries(pl.DataFrame(data), ("size", "one"))
        assert tally.indptr.tolist() == [0, 1, 3]
        assert (tally.indices.tolist(), tally.counts.tolist()) == ([1, 0, 1], [1, 1, 2])
        assert tally.multiplicity.tolist() == [1, 4]
        assert tally.given.indptr.tolist() == [0, 1, 4]
        assert tally.given.rater_codes.tolist() == [0, 0, 0, 1]
        assert tally.given.value_codes.tolist() == [1, 0, 1, 1]
        assert tally.given.has_repeats()
        assert tally_of_entries(pl.DataFrame(data)[:0], ("size", "one")).n_patterns == 0


class TestCoefficients:
    @pytest.mark.parametrize("distance", ["masi", "nominal", "hamming"])
    @pytest.mark.parametrize(("n_raters", "missing"), [(2, 0.0), (2, 0.3), (5, 0.0), (5, 0.5)])
    def test_as_in_memory(self, n_raters, missing, distance):
        study = sa.simulate(120, n_raters, n_labels=3, missing=missing, rng=4)
        tally = sa.Tally.from_annotations(study, keep_raters=True)
        assert tally.n_patterns < study.n_units
        whole = sa.conger_kappa(study, distance=distance)
        for one in (tally, nameless(tally)):
            ours = sa.conger_kappa(one, distance=distance)
            for name in ("estimate", "standard_error", "observed_agreement", "expected_agreement"):
                assert getattr(ours, name) == pytest.approx(getattr(whole, name), abs=1e-12)
            assert ours.degrees_of_freedom == whole.degrees_of_freedom
            left = sa.jackknife(ours)
            assert left.standard_error == pytest.approx(
                sa.jackknife(whole).standard_error, abs=1e-12
            )
            assert left.acceleration == pytest.approx(sa.jackknife(whole).acceleration, abs=1e-9)
        ours = sa.conger_kappa(tally, distance=distance)
        pd.testing.assert_series_equal(ours.influence, whole.influence, **TIGHT)
        values = [sa.jackknife(one).values for one in (ours, whole)]
        pd.testing.assert_series_equal(*values, **TIGHT)
        draws = [sa.bootstrap(one, n_resamples=50, rng=1).distribution for one in (ours, whole)]
        np.testing.assert_allclose(*draws, rtol=0, atol=1e-12)

    def test_exact(self):
        """Twice (a a), once (a b) and (b b): p_1 = (3/4, 1/4), p_2 = (1/2, 1/2).

        pa = 3/4 and pe = 3/8 + 1/8 = 1/2, so kappa = 1/2.
        """
        study = annotations(text("a a / a a / a b / b b"))
        tally = nameless(sa.Tally.from_annotations(study, keep_raters=True))
        assert tally.multiplicity.tolist() == [2, 1, 1]
        kappa = sa.cohen_kappa(tally, distance="nominal")
        assert kappa.expected_agreement == pytest.approx(1 / 2, abs=1e-15)
        assert kappa.estimate == pytest.approx(1 / 2, abs=1e-15)

    def test_influence_of_patterns(self):
        study = sa.simulate(80, 3, n_labels=2, rng=2)
        kappa = sa.conger_kappa(nameless(sa.Tally.from_annotations(study, keep_raters=True)))
        assert len(kappa.influence) == kappa.tally.n_patterns
        mean = kappa.tally.multiplicity @ kappa.influence.to_numpy() / kappa.n_units
        assert mean == pytest.approx(kappa.estimate, abs=1e-12)

    def test_lost_digits(self):
        study = annotations(text("a a / " * 30 + "a b / b b"))
        tally = nameless(sa.Tally.from_annotations(study, keep_raters=True))
        ours, whole = (sa.conger_kappa(one, distance="nominal") for one in (tally, study))
        values = [np.sort(sa.jackknife(one).values.to_numpy()) for one in (ours, whole)]
        np.testing.assert_allclose(*values, rtol=0, atol=1e-12)

    def test_one_rater_and_few_units(self):
        for rows in ("a . / b .", "a b", "a a / a a"):
            study = annotations(text(rows))
            tally = sa.Tally.from_annotations(study, keep_raters=True)
            reasons = []
            for one in (tally, study):
                with pytest.warns(sa.UndefinedAgreementWarning):
                    reasons.append(sa.conger_kappa(one).reason)
            assert reasons[0] == reasons[1]
        two = nameless(sa.Tally.from_annotations(annotations(text("a b / b b")), keep_raters=True))
        assert sa.jackknife(sa.conger_kappa(two, distance="nominal")).values.isna().all()

    def test_other_coefficients(self):
        study = sa.simulate(150, 4, n_labels=3, missing=0.2, rng=5)
        tally = sa.Tally.from_annotations(study, keep_raters=True)
        assert tally.n_patterns > sa.Tally.from_annotations(study).n_patterns
        names = ["krippendorff_alpha", "fleiss_kappa", "gwet_ac", "brennan_prediger", "mv_alpha"]
        tables = [
            sa.agreement(one, coefficient=names, distance=["jaccard", "nominal"])
            for one in (tally, study)
        ]
        pd.testing.assert_frame_equal(*(one.to_frame() for one in tables), **TIGHT)

    def test_compared(self):
        study = sa.simulate(150, 4, n_labels=3, missing=0.2, rng=5)
        scorer = Scorer(nameless(sa.Tally.from_annotations(study, keep_raters=True)))
        whole = Scorer(study)
        masi = get_distance("masi")
        ours, theirs = (
            sa.compare(
                *(
                    one.score(get_coefficient(name), masi)
                    for name in ("conger_kappa", "fleiss_kappa")
                ),
                design="same_units",
            )
            for one in (scorer, whole)
        )
        pd.testing.assert_frame_equal(ours.frame, theirs.frame, **TIGHT)

    @pytest.mark.parametrize("scheme", ["pooled", "within_rater"])
    def test_permuted(self, scheme):
        study = annotations(text("a a . / a b b / b . b / a a ."))
        tally = sa.Tally.from_annotations(study, keep_raters=True)
        tests = [
            sa.permutation_test(
                sa.conger_kappa(one, distance="nominal"), scheme=scheme, n_resamples=500, rng=1
            )
            for one in (nameless(tally), study)
        ]
        assert tests[0].exact
        assert tests[1].exact
        ours, theirs = (np.sort(one.distribution) for one in tests)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)

    def test_units(self):
        """`by_unit` with Conger's kappa lists what it lists of the study."""
        study = sa.simulate(40, 3, n_labels=3, rng=6)
        tally = sa.Tally.from_annotations(study, keep_raters=True)
        ours, theirs = (
            sa.by_unit(one, coefficient="conger_kappa").set_index("unit") for one in (tally, study)
        )
        kept = ["disagreement", "influence", "estimate_without"]
        pd.testing.assert_frame_equal(ours.loc[theirs.index, kept], theirs[kept], **TIGHT)


class TestRefused:
    @pytest.mark.parametrize(
        "ask",
        [
            sa.by_rater,
            sa.by_pair,
            sa.what_if,
            lambda tally: sa.jackknife(sa.conger_kappa(tally), over="raters"),
            lambda tally: sa.bootstrap(sa.conger_kappa(tally), over="raters"),
            lambda tally: sa.permutation_test(sa.conger_kappa(tally), scheme="table"),
        ],
    )
    def test_in_memory(self, ask):
        study = sa.simulate(40, 3, n_labels=3, rng=6)
        tally = nameless(sa.Tally.from_annotations(study, keep_raters=True))
        with pytest.raises(
            DataError, match=r"the unit of each answer, .*in memory with Annotations.from_lo"
        ):
            ask(tally)

    def test_without_raters(self):
        tally = sa.tally(pl.LazyFrame(columns(study_table())), blank="empty")
        for function in (sa.conger_kappa, sa.cohen_kappa):
            with pytest.raises(DataError, match=r"tally\(\.\.\., keep_raters=True\)"):
                function(tally)
        alpha = sa.krippendorff_alpha(tally)
        with pytest.raises(DataError, match=r"unless it keeps raters: tally\(\.\.\., keep_rat"):
            sa.permutation_test(alpha, scheme="within_rater")


class TestMerge:
    @given(st.lists(row_lists(sets_of("ab"), units=3), min_size=3, max_size=3))
    def test_associative_and_commutative(self, studies):
        kept = [annotations(rows) for rows in studies]
        a, b, c = (sa.Tally.from_annotations(one, keep_raters=True) for one in kept)
        expected = by_hand(kept[0]) + by_hand(kept[1]) + by_hand(kept[2])
        for merged in (
            a.merge(b).merge(c),
            a.merge(b.merge(c)),
            c.merge(a).merge(b),
            merge_all([a, b, c]),
            merge_all([c, a, b]),
        ):
            assert who_gave_what(merged) == expected
            assert merged.n_patterns == len(expected)
            assert merged.n_raters == len({rater for one in kept for rater in one.raters})
            assert merged.given.indptr.tolist() == [0, *np.cumsum(merged.pattern_ratings)]

    @pytest.mark.slow
    @given(st.lists(row_lists(sets_of("ab"), units=3), min_size=3, max_size=3))
    def test_forgetting(self, studies):
        kept = [sa.Tally.from_annotations(annotations(rows), keep_raters=True) for rows in studies]
        a, b = kept[:2]
        c = sa.Tally.from_annotations(annotations(studies[2]))
        plain = [sa.Tally.from_annotations(annotations(rows)) for rows in studies]
        expected = counts_of(merge_all(plain))
        for merged in (a.merge(b).merge(c), a.merge(b.merge(c)), c.merge(a).merge(b)):
            assert (merged.given, merged.n_raters) == (None, None)
            assert counts_of(merged) == expected
            assert merged.n_patterns == len(expected)

    def test_raters_of_one_name(self):
        one = annotations(text("a b / a a / b b"))
        rows = [("r1", "v1", "b"), ("r0", "v1", "a"), ("r1", "v2", "a"), ("r2", "v2", "b")]
        two = sa.Annotations.from_triples(rows)
        whole = sa.Annotations.from_triples([*one.to_triples(), *rows])
        merged = merge_all(
            [sa.Tally.from_annotations(part, keep_raters=True) for part in (one, two)]
        )
        assert merged.given.raters.tolist() == ["r0", "r1", "r2"]
        # v1 is as u1: r0 a, r1 b
        assert merged.multiplicity.tolist() == [2, 1, 1, 1]
        ours, theirs = (sa.conger_kappa(part, distance="nominal") for part in (merged, whole))
        assert ours.estimate == pytest.approx(theirs.estimate, abs=1e-12)
        assert ours.standard_error == pytest.approx(theirs.standard_error, abs=1e-12)
        assert merged.unit_patterns.tolist() == [0, 1, 2, 0, 3]

    def test_given(self):
        rows, who, what = np.array([1, 0, 1]), np.array([1, 0, 0]), np.array([4, 5, 6])
        made = Given.of_answers(as_objects(["x", (1, 2)]), rows, who, what)
        assert made.rater_codes.tolist() == [0, 0, 1]
        assert made.value_codes.tolist() == [5, 6, 4]
        again = made.take(np.array([1, 1, 0]))
        assert again.indptr.tolist() == [0, 2, 4, 5]
        assert again.value_codes.tolist() == [6, 4, 6, 4, 5]
        assert again.raters.tolist() == ["x", (1, 2)]
        assert not again.has_repeats()


class TestDask:
    # Dask's own use of pandas, as of pandas 3.
    @pytest.mark.filterwarnings("ignore:The inplace keyword")
    @pytest.mark.filterwarnings("ignore:The copy keyword")
    @pytest.mark.parametrize("by_unit", [False, True])
    def test_threads(self, by_unit):
        pytest.importorskip("dask.dataframe", reason="dask[dataframe] is not installed")
        import dask
        import dask.dataframe as dd
        from dask.delayed import delayed

        table = study_table()
        parts = in_whole_units(table) if by_unit else [table[k::4] for k in range(4)]
        frame = dd.from_delayed([delayed(part) for part in parts], meta=table.iloc[:0])
        with dask.config.set(scheduler="threads"):
            check_same(frame, table, partitioned_by_unit=by_unit)
            again = dd.from_pandas(pd.concat([table, table[:2]]), npartitions=2)
            with pytest.raises(DataError, match="2 pairs of unit and rater annotated more than"):
                sa.tally(again, blank="empty", keep_raters=True, assume_unique=True)

    @pytest.mark.parametrize(
        ("spelled", "name"),
        [("ann", "ann"), ("\0#5", 5), ("\0#1.5", 1.5), ("\0'\0x", "\0x"), ("\0#(1, 2)", "(1, 2)")],
    )
    def test_names(self, spelled, name):
        assert unspelled(spelled) == name
        assert type(unspelled(spelled)) is type(name)


@pytest.fixture(scope="module")
def spark():
    """Give a session of Spark with two local executors."""
    pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, which is not installed")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("setagree")
    settings = {"ui.enabled": "false", "sql.shuffle.partitions": "4", "driver.host": "127.0.0.1"}
    for name, setting in settings.items():
        builder = builder.config(f"spark.{name}", setting)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


# PySpark's word on pandas 3, which the reduction does not use there.
@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
class TestSpark:
    def frame(self, spark, parts):
        rows = [list(part[["unit", "rater", "labels"]].itertuples(index=False)) for part in parts]
        rows = [[tuple(None if c is None else c for c in r) for r in part] for part in rows]
        spread = spark.sparkContext.parallelize(rows, len(rows)).flatMap(list)
        return spark.createDataFrame(spread, "unit string, rater string, labels string")

    @pytest.mark.parametrize("by_unit", [False, True])
    def test_as_in_memory(self, spark, by_unit):
        table = study_table(200)
        parts = in_whole_units(table) if by_unit else [table[k::4] for k in range(4)]
        check_same(self.frame(spark, parts), table, partitioned_by_unit=by_unit)

    def test_batches(self):
        pytest.importorskip("pyspark", reason="the extra 'spark' is not installed")
        data = {"unit": [*"uuvv"], "rater": [3, 9, 3, 9], "code": [7, 8, 8, 7]}
        batch = pa.RecordBatch.from_pydict(data)
        options = {"assume_unique": True, "keep_raters": True}
        (entries,) = reduced_batches(iter([batch]), **options)
        assert entries.to_pylist() == [
            {"part": 0, "pattern": u, "times": 1, "code": code, "count": 1, "who": who}
            for u, code, who in [(0, 7, 3), (0, 8, 9), (1, 8, 3), (1, 7, 9)]
        ]
        (entries,) = reduced_batches(iter([batch, batch]), **options)
        assert entries["code"].to_pylist() == [-1]

    @pytest.mark.parametrize("by_unit", [False, True])
    def test_repeats(self, spark, by_unit):
        table = generated(30)
        again = pd.concat([table, table.sort_values(["unit", "rater"])[:2]])
        frame = self.frame(spark, in_whole_units(again))
        options = {"keep_raters": True, "assume_unique": True, "partitioned_by_unit": by_unit}
        with pytest.raises(DataError, match="2 pairs of unit and rater annotated more than once"):
            sa.tally(frame, blank="empty", **options)
