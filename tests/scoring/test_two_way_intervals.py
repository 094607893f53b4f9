"""Intervals about raters like these: units and raters are both a sample."""

import numpy as np
import pytest
from inference_support import T1
from small_studies import annotations

import setagree as sa
from setagree.errors import OptionError
from setagree.scoring.coefficients import COEFFICIENTS


def test_walkthrough():
    """Figures of an independent program: SE of raters .0796158505, of both .1714659928."""
    alpha = sa.krippendorff_alpha(annotations(T1))
    found = alpha.two_way
    assert found.standard_error == pytest.approx(0.1714659928, abs=6e-11)
    of_raters = np.sqrt(found.standard_error**2 - alpha.standard_error**2)
    assert of_raters == pytest.approx(0.0796158505, abs=6e-11)
    assert found.degrees_of_freedom == 2
    low, high = alpha.interval(over="both")
    assert (low, high) == pytest.approx((alpha.estimate - 4.3026527297 * 0.1714659928, 1), abs=1e-8)


@pytest.mark.parametrize("name", sorted(COEFFICIENTS.keys() - {"scott_pi", "cohen_kappa"}))
def test_from_the_jackknife(name):
    row = getattr(sa, name)(sa.simulate(40, 5, missing=0.2, rng=2))
    values = sa.jackknife(row, over="raters").values.to_numpy()
    expected = row.standard_error**2 + 4 / 5 * ((values - values.mean()) ** 2).sum()
    if name == "mv_alpha":
        assert np.isnan(row.interval(over="both")).all()
    else:
        assert row.two_way.standard_error**2 == pytest.approx(expected, rel=1e-12)


def test_weighted():
    """With sampling weights each rater is left out anew; weights that are alike change nothing."""
    study = sa.simulate(40, 4, missing=0.2, rng=2)
    same = study.sampled(sampling_weight=dict.fromkeys(study.units, 2.0))
    one, two = (sa.krippendorff_alpha(x).two_way.standard_error for x in (study, same))
    assert one == pytest.approx(two, rel=1e-10)


def test_strata_of_known_size():
    """Their weights rest on the units that the remaining raters rated: each is left out anew."""
    study = sa.simulate(40, 4, missing=0.2, rng=2)
    strata = {unit: "xy"[k % 4 == 0] for k, unit in enumerate(study.units)}
    study = study.sampled(strata=strata, population_size={"x": 900, "y": 100})
    alpha = sa.krippendorff_alpha(study)
    values = [sa.krippendorff_alpha(study.exclude_raters([r])).estimate for r in study.raters]
    expected = alpha.standard_error**2 + 3 / 4 * 4 * np.var(values)
    assert alpha.two_way.standard_error**2 == pytest.approx(expected, rel=1e-12)


def test_two_raters():
    """Two raters cannot show how others would agree: nan, with the reason."""
    alpha = sa.krippendorff_alpha(sa.simulate(40, 2, rng=2))
    assert np.isnan(alpha.interval(over="both")).all()
    assert alpha.two_way.reason == "2 raters cannot show how other raters would agree; three could"


def test_a_tally():
    """A tally does not know who gave what."""
    alpha = sa.krippendorff_alpha(sa.Tally.from_annotations(sa.simulate(40, 3, rng=2)))
    assert "use the study, not a tally" in alpha.two_way.reason


def test_an_undefined_rest():
    rows = [
        ("a", 1, "x"),
        ("b", 1, "y"),
        ("a", 2, "y"),
        ("b", 2, "y"),
        ("c", 3, "x"),
        ("c", 4, "y"),
    ]
    alpha = sa.krippendorff_alpha(sa.Annotations.from_triples(rows))
    assert alpha.two_way.reason == "the coefficient is undefined without 2 raters of 3"


def test_refused():
    """The score interval is about these raters, and only units or both are a sample."""
    alpha = sa.krippendorff_alpha(annotations(T1))
    with pytest.raises(OptionError, match="about these raters"):
        alpha.interval(method="score", over="both")
    with pytest.raises(OptionError, match="over='raters'"):
        alpha.interval(over="raters")


@pytest.mark.slow
def test_coverage():
    """Of a population of raters the interval of both holds the truth, that of units hardly.

    150 studies of 100 units and 5 raters, who differ in skill; Monte Carlo error 0.018 at 0.95.
    """
    rng = np.random.default_rng(5)

    def study(n, skills):
        truth = rng.integers(4, size=n)
        knows = rng.random((len(skills), n)) < skills[:, None]
        given = np.where(knows, truth, rng.integers(4, size=(len(skills), n)))
        return sa.Annotations.from_triples(
            [(g, u, "abcd"[given[g, u]]) for g in range(len(skills)) for u in range(n)]
        )

    def skills(n):
        return rng.beta(6, 2, size=n)

    alpha = sa.krippendorff_alpha(study(4000, skills(150)), distance="nominal").estimate
    held = {"units": 0, "both": 0}
    for _ in range(150):
        row = sa.krippendorff_alpha(study(100, skills(5)), distance="nominal")
        for over in held:
            low, high = row.interval(over=over)
            held[over] += low <= alpha <= high
    assert 0.91 < held["both"] / 150 < 1
    assert held["units"] / 150 < 0.8
