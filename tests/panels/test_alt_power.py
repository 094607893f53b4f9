"""The power of the alternative annotator test, and how many units it takes."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import setagree as sa
from setagree.errors import OptionError, UndefinedAgreementWarning
from setagree.panels import alt_test as module
from setagree.panels.alt_test import AltTest


def one_test(n, seed, humans=3, skill=0.8, **options):
    study = sa.simulate(n, humans + 1, skill=skill, rng=seed)
    return sa.alt_test(study, model=f"r{humans + 1}", **options).rows[0]


def known(n_units, products, epsilon):
    """Return a test with given sums of products of d, whose humans share all units."""
    humans = pd.DataFrame({"n_units": np.full(len(products), n_units)})
    skipped = pd.Series(dtype=int)
    return AltTest("m", "masi", epsilon, 0.05, humans, skipped, n_units, products=products)


@pytest.mark.slow
class TestAgainstSimulation:
    @pytest.mark.parametrize(
        ("n", "power"), [(30, 0.06), (50, 0.10), (100, 0.21), (200, 0.46), (400, 0.79)]
    )
    def test_known_figures(self, n, power):
        """Three humans, epsilon 0.1, MASI: the share of 1,000 to 4,000 simulated studies that pass.

        The figures were simulated apart from this program, by another generator of studies; here
        the mean over ten studies of n units, whose own error is about 0.02.
        """
        found = np.mean([one_test(n, seed).power() for seed in range(10)])
        assert found == pytest.approx(power, abs=0.05)

    @pytest.mark.parametrize(("humans", "skill"), [(3, 0.9), (5, 0.7)])
    def test_share_that_passes(self, humans, skill):
        """Of 150 tests of 60 units as many pass as one large study says, to 0.08."""
        passed = [one_test(60, 100 + seed, humans, skill).passes for seed in range(150)]
        assert np.mean(passed) == pytest.approx(
            one_test(3000, 1, humans, skill).power(60), abs=0.08
        )


class TestFormula:
    @pytest.mark.parametrize("n", [20, 100, 400])
    def test_humans_who_are_all_alike(self, n):
        """Where all win and lose together, H equal p-values must be q / (1 + 1/2 + 1/3) or less.

        That is the power of one t-test (noncentral t), with the variance of d about 0.
        """
        test = known(200, np.full((3, 3), 80.0), 0.1)
        limit = stats.t.ppf(0.05 / (1 + 1 / 2 + 1 / 3), n - 1)
        expected = stats.nct.cdf(limit, n - 1, -0.1 * math.sqrt(n / 0.4))
        assert test.power(n) == pytest.approx(expected, abs=0.02)

    def test_always_tied(self):
        """Where all is a tie, a test is passed for sure, or never; beaten by epsilon, few are."""
        tied = known(50, np.zeros((3, 3)), 0.1)
        assert [tied.power(50, difference=gap) for gap in (0.0, 0.1, 0.2)] == [1, 0, 0]
        assert known(500, np.eye(3) * 200, 0.0).power() < 0.05

    def test_it_grows(self):
        test = one_test(100, 1)
        assert test.power() == test.power(100)
        powers = [test.power(n) for n in (30, 100, 300, 1000, 3000)]
        assert powers == sorted(powers)
        assert powers[-1] > 0.99
        assert test.power(difference=0.05) < test.power() < test.power(difference=-0.1)
        assert one_test(100, 1, epsilon=0.2).power() > test.power()

    @pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
    def test_units_that_reach_it(self, power):
        test = one_test(100, 2)
        n = test.units_for(power)
        assert test.power(n) >= power > test.power(int(0.98 * n))
        assert test.units_for(power, difference=0.1) is None
        assert one_test(100, 2, epsilon=0.0).units_for() is None

    def test_fewer_than_a_hundred_units_can_be_enough(self):
        test = one_test(100, 2, epsilon=0.3)
        n = test.units_for()
        assert n < 100
        assert test.power(n) >= 0.8 > test.power(n - 1)

    def test_products(self, monkeypatch):
        """The sums over units of the products of d of two humans, by hand; none for too many."""
        answers = {"a": "xxxx", "b": "yyxx", "c": "xxxx", "m": "xxyx"}
        triples = [(r, u, x) for r, cells in answers.items() for u, x in enumerate(cells)]
        study = sa.Annotations.from_triples(triples, kind="category")
        options = {"model": "m", "min_units": 2, "distance": "nominal"}
        # d of b is -1 on units 0 and 1, and 1 on unit 2; d of a and c is 0, 0 and 1.
        found = sa.alt_test(study, **options)["m"].products
        assert found.tolist() == [[1, 1, 1], [1, 3, 1], [1, 1, 1]]
        monkeypatch.setattr(module, "MOST_HUMANS", 2)
        test = sa.alt_test(study, **options)["m"]
        assert test.products is None
        assert math.isnan(test.power())


class TestSaid:
    def test_beside_the_verdict(self):
        table = sa.alt_test(sa.simulate(100, 5, rng=1), model=["r4", "r5"])
        frame = table.to_frame()
        for (_, row), test in zip(frame.iterrows(), table, strict=True):
            assert row["power"] == test.power()
            assert row["units_for_80"] == test.units_for()
            shown = " ".join(str(table).split())
            assert test.verdict in shown
            assert test.power_note in shown
            assert f"probability {test.power():.2f}; a power" in test.power_note
            assert f"about {test.units_for():,} units" in test.power_note

    def test_no_number_of_units(self):
        test = one_test(60, 1, epsilon=0.0)
        assert "at epsilon 0 no number of units gives a power of 0.80" in test.power_note

    def test_nobody_tested(self):
        with pytest.warns(UndefinedAgreementWarning):
            test = one_test(20, 1)
        assert math.isnan(test.power())
        assert test.units_for() is None
        assert test.power_note == ""

    def test_refusals(self):
        test = one_test(40, 1)
        with pytest.raises(OptionError, match="power=80 must lie between 0 and 1"):
            test.units_for(80)
        with pytest.raises(OptionError, match="n_units=1"):
            test.power(1)
