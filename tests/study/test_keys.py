"""A seed draws the same units on every road: rows in any order, units of any name, every engine."""

import datetime as dt
import math
import os
import subprocess
import sys
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inference_support import VALUES, as_drawn, estimates, rated_rows, score
from reduction_support import generated, in_whole_units
from small_studies import row_lists, text

import setagree as sa
from setagree.inference.resampling import draw_units
from setagree.scoring.coefficients import COEFFICIENTS
from setagree.study import tally
from setagree.study.identifiers import value_numbers
from setagree.study.tally import row_keys

ANY_RATERS = [name for name, one in COEFFICIENTS.items() if one.raters == "any"]
ASKS_WHO = ["conger_kappa", "krippendorff_alpha"]
TIGHT = {"rtol": 0, "atol": 1e-12}


def bootstrapped(data, *, names=ANY_RATERS, **options):
    """Return the bootstrap of a table of coefficients, of shape (coefficients, resamples)."""
    table = sa.agreement(data, coefficient=names, blank="empty", **options)
    return np.array([row.distribution for row in sa.bootstrap(table, n_resamples=60, rng=1).rows])


def renamed(table):
    """Return the table with its units renamed, so that they sort in another order."""
    return table.assign(unit=[f"{unit[::-1]}!" for unit in table["unit"]])


class TestNumbers:
    @pytest.mark.parametrize(
        "equal",
        [
            (1, 1.0, True, np.int64(1), np.float32(1), Decimal(1), Fraction(1), np.True_),
            (0, -0.0, False, np.float64(0)),
            (0.5, np.float64(0.5), Fraction(1, 2), Decimal("0.5")),
            ("a", np.str_("a")),
            (frozenset({1, "a"}), frozenset({"a", 1.0})),
            ((1, "a"), (True, "a")),
            (pd.Timestamp("2020-01-02"), dt.datetime(2020, 1, 2)),
        ],
    )
    def test_equal_values_have_one(self, equal):
        assert len(set(equal)) == 1
        assert len(set(value_numbers(equal).tolist())) == 1

    def test_unequal_values_have_their_own(self):
        values = [
            *("", "1", "#1", "a", "A", "a, b", "{", "\ud800", "x" * 10_000, "é", "e\u0301"),
            *(1, 2, -1, 1.5, 10**400, -(10**400), math.pi),
            *(frozenset(), frozenset({""}), frozenset({1}), frozenset({"1"}), frozenset("ab")),
            *(frozenset({"ab"}), frozenset({"a", "b1"}), frozenset({"a1", "b"}), ()),
            *(("a",), ("a", "b"), ("b", "a"), (frozenset(),), b"1", pd.Timestamp("2020-01-02")),
        ]
        assert len(set(values)) == len(values)
        assert len(set(value_numbers(values).tolist())) == len(values)

    def test_they_are_digests(self):
        """The number of a text is the first 8 bytes of a BLAKE2b digest, the least byte first."""
        expected = int.from_bytes(blake2b(b"'joy", digest_size=8).digest(), "little")
        assert value_numbers(["joy"]).tolist() == [expected]

    def test_none(self):
        assert value_numbers([]).shape == (0,)

    @pytest.mark.slow
    @pytest.mark.parametrize("seed", ["0", "1"])
    def test_every_process_has_the_same(self, seed):
        values = "[frozenset({'a', 'b', 'c'}), frozenset({'b', 1, 2.5}), 'joy']"
        imported = "from setagree.study.identifiers import value_numbers as n"
        code = f"{imported}; print(n({values}).tolist())"
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        here = value_numbers([frozenset("abc"), frozenset({"b", 1, 2.5}), "joy"])
        assert done.stdout.strip() == str(here.tolist())

    def test_rows(self):
        numbers = value_numbers("abc")
        counts = np.array([1.0, 2, 2, 1, 2, 1, 1, 1, 1])
        indices = np.array([0, 1, 1, 0, 0, 1, 0, 1, 2])
        keys = row_keys(numbers, counts, indices, np.array([0, 2, 4, 6, 9])).tolist()
        assert keys[0] == keys[1]
        assert len(set(keys)) == 3


class TestUnits:
    @settings(max_examples=25)
    @given(rows=row_lists(VALUES, units=7, raters=3), data=st.data())
    def test_the_order_of_units(self, rows, data):
        rows = rated_rows(rows)
        shuffled = data.draw(st.permutations(rows))
        for name in ("krippendorff_alpha", "gwet_ac", "conger_kappa"):
            one, two = score(rows, name), score(shuffled, name)
            if one.reason is None:
                found = [sa.bootstrap(x, n_resamples=9, rng=1).distribution for x in (one, two)]
                np.testing.assert_allclose(*found, **TIGHT)

    @pytest.mark.parametrize("names", [ANY_RATERS, ASKS_WHO])
    def test_rows_and_names(self, names):
        table = generated(n_units=120)
        expected = bootstrapped(table, names=names)
        again = table.sample(frac=1, random_state=9)
        np.testing.assert_allclose(bootstrapped(again, names=names), expected, **TIGHT)
        np.testing.assert_allclose(bootstrapped(renamed(again), names=names), expected, **TIGHT)

    @pytest.mark.slow
    @pytest.mark.parametrize("by_unit", [False, True])
    @pytest.mark.parametrize("names", [ANY_RATERS, ASKS_WHO])
    def test_files(self, tmp_path, by_unit, names):
        pytest.importorskip("duckdb")
        pytest.importorskip("narwhals")
        table = generated(n_units=120)
        for k, part in enumerate(in_whole_units(table)):
            part.to_csv(tmp_path / f"{k}.csv", index=False)
        options = {"memory_limit": "1GB", "partitioned_by_unit": by_unit}
        found = bootstrapped(str(tmp_path / "*.csv"), names=names, **options)
        np.testing.assert_allclose(found, bootstrapped(table, names=names), **TIGHT)

    @pytest.mark.parametrize("names", [ANY_RATERS, ASKS_WHO])
    def test_polars(self, names):
        pl = pytest.importorskip("polars")
        pytest.importorskip("narwhals")
        table = generated(n_units=120)
        lazy = pl.LazyFrame({name: table[name].tolist() for name in table})
        expected = bootstrapped(table, names=names)
        np.testing.assert_allclose(bootstrapped(lazy, names=names), expected, **TIGHT)

    @pytest.mark.parametrize("names", [ANY_RATERS, ASKS_WHO])
    def test_dask(self, names):
        dask = pytest.importorskip("dask")
        dd = pytest.importorskip("dask.dataframe")
        table = generated(n_units=120)
        expected = bootstrapped(table, names=names)
        with dask.config.set(scheduler="synchronous"):
            found = bootstrapped(dd.from_pandas(table, npartitions=3), names=names)
        np.testing.assert_allclose(found, expected, **TIGHT)

    @pytest.mark.parametrize("names", [ANY_RATERS, ASKS_WHO])
    def test_merged(self, names):
        table = generated(n_units=120)
        who = {"keep_raters": names is ASKS_WHO}
        parts = [sa.tally(part, blank="empty", **who) for part in in_whole_units(table, 2)]
        expected = bootstrapped(table, names=names)
        for one, two in (parts, parts[::-1]):
            merged = sa.agreement(one.merge(two), coefficient=names)
            rows = sa.bootstrap(merged, n_resamples=60, rng=1).rows
            np.testing.assert_allclose([row.distribution for row in rows], expected, **TIGHT)

    @pytest.mark.parametrize("name", ["krippendorff_alpha", "conger_kappa"])
    def test_equal_keys_are_not_wrong(self, monkeypatch, name):
        monkeypatch.setattr(
            tally, "row_keys", lambda n, c, i, indptr: np.zeros(len(indptr) - 1, np.uint64)
        )
        rows = text("a a b / ab a . / b b b / a a b / {} c a / ab ab c")
        agreement = score(rows, name)
        ordered = as_drawn(rows, agreement)
        drawn = next(draw_units(len(rows), 9, np.random.default_rng(1)))
        by_hand = estimates([[ordered[i] for i in draw] for draw in drawn], name)
        found = sa.bootstrap(agreement, n_resamples=9, rng=1).distribution
        assert found.tolist() == pytest.approx(by_hand, abs=1e-12, nan_ok=True)


class TestOthers:
    def test_comparisons(self):
        table = generated(n_units=80)
        others = [table, renamed(table.sample(frac=1, random_state=4))]
        found = []
        for one in others:
            study = sa.Annotations.from_long(one, blank="empty")
            sides = sa.krippendorff_alpha(study), sa.conger_kappa(study, distance="nominal")
            found.append(sa.compare(*sides, method="bootstrap", n_resamples=50, rng=1))
        columns = ["standard_error", "low", "high", "p_value"]
        np.testing.assert_allclose(*(one.frame[columns] for one in found), **TIGHT)

    @pytest.mark.parametrize("design", ["same_units", "shared_units", "independent"])
    def test_comparisons_of_studies(self, design):
        table = generated(n_units=80)
        units = sorted(set(table["unit"]))
        parts = [table[table["unit"].isin(kept)] for kept in (units[:60], units[20:])]
        found = []
        for some in (parts, [renamed(part.sample(frac=1, random_state=4)) for part in parts]):
            studies = [sa.Annotations.from_long(part, blank="empty") for part in some]
            sides = map(sa.fleiss_kappa, studies)
            options = {"method": "bootstrap", "n_resamples": 50, "rng": 1}
            found.append(sa.compare(*sides, design=design, **options))
        columns = ["standard_error", "low", "high", "p_value"]
        np.testing.assert_allclose(*(one.frame[columns] for one in found), **TIGHT)

    def test_engines_compared(self):
        table = generated(n_units=80)
        found = []
        for one in (
            sa.tally(table, blank="empty"),
            sa.Annotations.from_long(table, blank="empty"),
        ):
            sides = sa.krippendorff_alpha(one), sa.mv_alpha(one)
            found.append(sa.compare(*sides, method="bootstrap", n_resamples=50, rng=1))
        columns = ["standard_error", "low", "high", "p_value"]
        np.testing.assert_allclose(*(one.frame[columns] for one in found), **TIGHT)

    def test_cross_replication(self):
        table = generated(n_units=80)
        raters = sorted(set(table["rater"]))
        found = []
        for one in (table, renamed(table.sample(frac=1, random_state=4))):
            study = sa.Annotations.from_long(one, blank="empty")
            result = sa.cross_replication(
                study, panels={"x": raters[:2], "y": raters[2:]}, n_resamples=50, rng=1
            )
            found.append([result.distribution, result.normalised_distribution])
        np.testing.assert_allclose(*found, **TIGHT)


class TestTimes:
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
        dd = pytest.importorskip("dask.dataframe")
        dask = pytest.importorskip("dask")
        rows = sa.simulate(30, 2, rng=1).to_long()
        rows["rater"] = pd.Series([names[who == "r2"] for who in rows["rater"]], dtype=object)
        rows["labels"] = [",".join(sorted(one)) or "other" for one in rows["labels"]]
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
        dd = pytest.importorskip("dask.dataframe")
        dask = pytest.importorskip("dask")
        there = self.NOON.astimezone(timezone(timedelta(hours=2)))
        units = pd.Series([self.NOON, there], dtype=object)
        rows = pd.DataFrame({"unit": units, "rater": ["a", "b"], "labels": ["x", "y"]})
        with dask.config.set({"dataframe.convert-string": False}):
            tally = sa.tally(dd.from_pandas(rows, npartitions=2))
        assert tally.n_units == sa.Annotations.from_long(rows).n_units == 1
