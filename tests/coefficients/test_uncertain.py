"""Sums, multiples and means of estimates with their deviations."""

import numpy as np
import pytest

import setagree as sa
from setagree.coefficients.uncertain import uncertain_number

STUDY = sa.simulate(40, 3, missing=0.2, rng=4)
DOCUMENT = {unit: k // 2 for k, unit in enumerate(STUDY.units)}
STRATUM = {unit: "ab"[k % 3 == 0] for k, unit in enumerate(STUDY.units)}
DESIGNS = {
    "alike": STUDY,
    "clusters": STUDY.sampled(cluster=DOCUMENT),
    "strata": STUDY.sampled(strata=STRATUM, population_size={"a": 60, "b": 30}),
}


def three(study):
    """Return three coefficients of a study as results and with their deviations."""
    results = [f(study) for f in (sa.krippendorff_alpha, sa.fleiss_kappa, sa.gwet_ac)]
    return results, [uncertain_number(one.sums) for one in results]


@pytest.mark.parametrize("design", DESIGNS)
class TestArithmetic:
    def test_one_estimate(self, design):
        for result, one in zip(*three(DESIGNS[design]), strict=True):
            assert one.value == result.estimate
            assert one.standard_error == pytest.approx(result.standard_error, rel=1e-12)
            assert one.degrees_of_freedom == pytest.approx(result.degrees_of_freedom)

    def test_difference(self, design):
        """A difference is that of `compare`, which pairs units; of a number and itself it is 0."""
        results, (alpha, kappa, _) = three(DESIGNS[design])
        found = sa.compare(*results[:2])
        assert (alpha - kappa).value == pytest.approx(found.difference, rel=1e-12)
        assert (alpha - kappa).standard_error == pytest.approx(found.standard_error, rel=1e-12)
        assert (kappa - kappa).standard_error == 0

    def test_identities(self, design):
        """Var(a + b) + Var(a - b) = 2 Var(a) + 2 Var(b), and Var(3 a) = 9 Var(a)."""
        _, (_, a, b) = three(DESIGNS[design])
        both = (a + b).variance + (a - b).variance
        assert both == pytest.approx(2 * a.variance + 2 * b.variance, rel=1e-12)
        assert (a * 3).variance == pytest.approx(9 * a.variance, rel=1e-12)
        mean = (a + b + a + b) * 0.25
        assert mean.value == pytest.approx((a.value + b.value) / 2, rel=1e-12)
        assert mean.variance == pytest.approx((a + b).variance / 4, rel=1e-12)


def test_a_mean_of_parts_without_common_units():
    halves = [STUDY.take(STUDY.unit_codes % 2 == h) for h in (0, 1)]
    results = [sa.fleiss_kappa(half) for half in halves]
    places = [np.arange(h, STUDY.n_units, 2) for h in (0, 1)]
    a, b = (uncertain_number(one.sums, at) for one, at in zip(results, places, strict=True))
    mean = (a + b) * 0.5
    expected = sum(one.standard_error**2 for one in results) / 4
    assert mean.variance == pytest.approx(expected, rel=1e-12)
    assert mean.degrees_of_freedom == STUDY.n_units - 1


@pytest.mark.filterwarnings("ignore::setagree.errors.UndefinedAgreementWarning")
def test_no_spread_of_nothing():
    study = sa.simulate(1, 3, n_labels=5, rng=8).sampled(sampling_weight={"u1": 1.7})
    alpha = sa.krippendorff_alpha(study)
    assert np.isnan(uncertain_number(alpha.sums).standard_error)
    assert sa.by_rater(study)["difference_standard_error"].isna().all()
