"""Groups of units drawn in clusters or with weights: each is the study that it would be alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from small_studies import annotations, random_rows, sets_of
from statsmodels.stats.oneway import anova_generic

import setagree as sa

# That the clusters are few is said, rightly; it is not what is asked here.
pytestmark = pytest.mark.filterwarnings("ignore::setagree.errors.SetagreeWarning")

DESIGNS = ("weights", "strata", "clusters", "clusters across groups")
COEFFICIENTS = ("krippendorff_alpha", "fleiss_kappa", "conger_kappa", "percent_agreement")


def sampled(seed, design, *, n_groups=3):
    """Return a study of 24 units that were drawn in a design, and the group of each unit.

    Units 3k, 3k + 1 and 3k + 2 are in one cluster of three groups, or a cluster is in one group.
    """
    rng = np.random.default_rng(seed)
    answers = sets_of("ab")
    rows = random_rows(rng, answers, units=24, raters=3, missing=0.15)
    # Most of the units are agreed on, so that estimates are not all near 0.
    rows = [
        [row[0] if x is not None else None for x in row] if k % 3 else row
        for k, row in enumerate(rows)
    ]
    study = annotations(
        [row if any(x is not None for x in row) else [answers[0]] * 3 for row in rows]
    )
    place = {unit: int(unit.removeprefix("u")) for unit in study.units}
    group = {unit: f"g{k // 3 % n_groups}" for unit, k in place.items()}
    weight = {unit: 1.0 + rng.integers(3) for unit in place}
    if design == "weights":
        return study.sampled(sampling_weight=weight), group
    if design == "strata":
        strata = {unit: f"s{k % 2}" for unit, k in place.items()}
        return study.sampled(sampling_weight=weight, strata=strata), group
    cluster = {unit: k // 3 for unit, k in place.items()}
    if design == "clusters across groups":
        group = {unit: f"g{k % n_groups}" for unit, k in place.items()}
    return study.sampled(cluster=cluster), group


def part(study, group, name, *, rest=False):
    """Return the study of the units of a group, or of all others; drawn as before."""
    chosen = np.array([(group[unit] == name) != rest for unit in study.units])
    return study.take(chosen[study.unit_codes])


def score(study, coefficient):
    """Return a coefficient of a study by the function of that name."""
    return getattr(sa, coefficient)(study, distance="masi")


class TestPlainCalls:
    """Every row is what plain calls give, study by study."""

    @pytest.mark.parametrize("coefficient", COEFFICIENTS)
    @pytest.mark.parametrize("design", DESIGNS)
    @settings(max_examples=8, deadline=None)
    @given(seed=st.integers(0, 999))
    def test_groups(self, coefficient, design, seed):
        """Counts, estimate, standard error and interval are those of the group's own study."""
        study, group = sampled(seed, design)
        frame = sa.by_group(study, group, coefficient=coefficient, distance="masi", level=0.9)
        assert sorted(frame["group"]) == ["g0", "g1", "g2"]
        for row in frame.itertuples():
            alone = score(part(study, group, row.group), coefficient)
            assert row.estimate == pytest.approx(alone.estimate, abs=1e-12, nan_ok=True)
            assert row.standard_error == pytest.approx(alone.standard_error, abs=1e-12, nan_ok=True)
            ends = alone.interval(0.9)
            assert (row.low, row.high) == pytest.approx(ends, abs=1e-12, nan_ok=True)
            assert (row.n_units, row.n_ratings) == (alone.n_units, alone.n_ratings)
            assert row.n_pairable_units == alone.n_pairable_units

    @pytest.mark.parametrize("coefficient", COEFFICIENTS)
    @pytest.mark.parametrize("design", DESIGNS)
    @settings(max_examples=8, deadline=None)
    @given(seed=st.integers(0, 999))
    def test_differences(self, coefficient, design, seed):
        """The difference from all others is that of two plain studies.

        Where no cluster is in both, their errors are independent, and p is that of Welch's t; else
        they are compared cluster by cluster.
        """
        study, group = sampled(seed, design)
        frame = sa.by_group(study, group, coefficient=coefficient, distance="masi")
        for row in frame.itertuples():
            sides = [score(part(study, group, row.group, rest=r), coefficient) for r in (0, 1)]
            across = design == "clusters across groups"
            gap = sa.compare(*sides, design="same_units" if across else "independent")
            assert row.difference == pytest.approx(gap.difference, abs=1e-12, nan_ok=True)
            error = gap.standard_error
            assert row.difference_standard_error == pytest.approx(error, abs=1e-12, nan_ok=True)
            if across or np.isnan(row.difference_standard_error):
                assert row.difference_p_value == pytest.approx(gap.p_value, abs=1e-9, nan_ok=True)
                continue
            each = [one.standard_error**4 / one.degrees_of_freedom for one in sides]
            p = 2 * stats.t.sf(abs(row.difference) / error, error**4 / sum(each))
            assert row.difference_p_value == pytest.approx(p, abs=1e-9)

    @pytest.mark.parametrize("design", DESIGNS)
    @settings(max_examples=8, deadline=None)
    @given(seed=st.integers(0, 999))
    def test_homogeneity(self, design, seed):
        """One common value is tested by Welch's analysis of variance of the plain estimates.

        There is no such test where a cluster has units in several groups: they are not independent.
        """
        study, group = sampled(seed, design)
        found = sa.by_group(study, group, distance="masi")["homogeneity_p_value"]
        assert found.nunique(dropna=False) == 1
        alone = [score(part(study, group, f"g{g}"), "krippendorff_alpha") for g in range(3)]
        alone = [one for one in alone if np.isfinite(one.estimate)]
        known = len(alone) > 1 and all(one.standard_error > 0 for one in alone)
        if design == "clusters across groups" or not known:
            assert found.isna().all()
            return
        n = np.array([one.degrees_of_freedom + 1 for one in alone])
        variances = n * np.array([one.standard_error for one in alone]) ** 2
        means = np.array([one.estimate for one in alone])
        expected = anova_generic(means, variances, n, use_var="unequal").pvalue
        assert found.iloc[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("design", ["weights", "clusters"])
def test_one_group(design):
    """One group is the whole study, with nothing beside it to differ from."""
    study, group = sampled(1, design, n_groups=1)
    frame = sa.by_group(study, group, distance="masi")
    whole = score(study, "krippendorff_alpha")
    assert frame["estimate"].tolist() == pytest.approx([whole.estimate], abs=1e-12)
    assert frame["standard_error"].tolist() == pytest.approx([whole.standard_error], abs=1e-12)
    beside = ["difference", "difference_standard_error", "difference_p_value"]
    assert frame[[*beside, "homogeneity_p_value"]].isna().all(axis=None)


def test_a_group_without_spread():
    """A group whose standard error is 0 has a difference, and no p of it."""
    rows = [["a", "a"]] * 5 + [["a", "b"], ["b", "b"]] * 3 + [["b", "a"]]
    study = annotations([[frozenset(x) for x in row] for row in rows])
    weight = {unit: 1 + k % 2 for k, unit in enumerate(study.units)}
    group = {unit: "xy"[int(unit.removeprefix("u")) >= 5] for unit in study.units}
    frame = sa.by_group(
        study.sampled(sampling_weight=weight), group, coefficient="percent_agreement"
    ).set_index("group")
    assert frame.loc["x", "standard_error"] == 0
    assert np.isfinite(frame["difference"]).all()
    assert frame[["difference_standard_error", "difference_p_value"]].isna().all(axis=None)
    assert frame["homogeneity_p_value"].isna().all()
