"""The power of the alternative annotator test, and how many units it takes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

import setagree as sa
from setagree.errors import OptionError, UndefinedAgreementWarning
from setagree.panels.alt_test import MOST_HUMANS, Outcomes, products_of


def one_test(n, seed, humans=3, skill=0.8, **options):
    """Return the test of a model that is as good as the humans."""
    study = sa.simulate(n, humans + 1, skill=skill, rng=seed)
    return sa.alt_test(study, model=f"r{humans + 1}", **options).rows[0]


class TestAgainstSimulation:
    """What it says comes true."""

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
    """Where the power is known without drawing."""

    @pytest.mark.parametrize("n", [20, 100, 400])
    def test_humans_who_are_all_alike(self, n):
        """Where all win and lose together, H equal p-values must be q / (1 + 1/2 + 1/3) or less.

        That is the power of one t-test (noncentral t), with the variance of d about 0.
        """
        outcomes = Outcomes(np.full(3, 200), 200, np.full((3, 3), 80.0))
        limit = stats.t.ppf(0.05 / (1 + 1 / 2 + 1 / 3), n - 1)
        expected = stats.nct.cdf(limit, n - 1, -0.1 * math.sqrt(n / 0.4))
        assert outcomes.power(n, 0.1, q=0.05) == pytest.approx(expected, abs=0.02)

    def test_always_tied(self):
        """Where all is a tie, a test is passed for sure, or never; beaten by epsilon, few are."""
        tied = Outcomes(np.full(3, 50), 50, np.zeros((3, 3)))
        assert [tied.power(50, lead, q=0.05) for lead in (0.1, 0.0, -0.1)] == [1, 0, 0]
        outcomes = Outcomes(np.full(3, 500), 500, np.eye(3) * 200)
        assert outcomes.power(500, 0.0, q=0.05) < 0.05

    def test_it_grows(self):
        """With units, with epsilon, and with a model that is better than the humans."""
        test = one_test(100, 1)
        assert test.power() == test.power(100)
        powers = [test.power(n) for n in (30, 100, 300, 1000, 3000)]
        assert powers == sorted(powers)
        assert powers[-1] > 0.99
        assert test.power(difference=0.05) < test.power() < test.power(difference=-0.1)
        assert one_test(100, 1, epsilon=0.2).power() > test.power()

    @pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
    def test_units_that_reach_it(self, power):
        """So many units have the power, 2% fewer have not; a lead of epsilon has no number."""
        test = one_test(100, 2)
        n = test.units_for(power)
        assert test.power(n) >= power > test.power(int(0.98 * n))
        assert test.units_for(power, difference=0.1) is None
        assert one_test(100, 2, epsilon=0.0).units_for() is None

    def test_products(self):
        """The sums over shared units of the products of d of two humans, by hand."""
        units, humans = np.array([0, 0, 1, 1, 2]), np.array([0, 2, 0, 2, 2])
        lost = np.array([1.0, -1.0, 1.0, 1.0, 1.0])
        found = products_of(units, humans, lost, np.array([0, 2]))
        assert found.tolist() == [[2, 0], [0, 3]]
        assert products_of(units, humans, lost, np.arange(MOST_HUMANS + 1)) is None


class TestSaid:
    """How it is said, and what is refused."""

    def test_beside_the_verdict(self):
        """The table says it after each verdict, and its frame has it."""
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
        """With epsilon 0 a model as good as the humans is not shown to be so by any number."""
        test = one_test(60, 1, epsilon=0.0)
        assert "at epsilon 0 no number of units gives a power of 0.80" in test.power_note

    def test_nobody_tested(self):
        """Without a human who shares enough units there is no power."""
        with pytest.warns(UndefinedAgreementWarning):
            test = one_test(20, 1)
        assert math.isnan(test.power())
        assert test.units_for() is None
        assert test.power_note == ""

    def test_refusals(self):
        """Numbers out of range are named."""
        test = one_test(40, 1)
        with pytest.raises(OptionError, match="power=80 must lie between 0 and 1"):
            test.units_for(80)
        with pytest.raises(OptionError, match="n_units=1"):
            test.power(1)
