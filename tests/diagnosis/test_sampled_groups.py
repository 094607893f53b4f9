"""Groups of units drawn in clusters or with weights: each is the study that it would be alone.

Of a sample from strata a group is a domain: how many of its units are in the sample is chance.
"""

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from small_studies import annotations, random_rows, sets_of
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.oneway import anova_generic

import setagree as sa
from setagree import checks as limits
from setagree.diagnosis import by_group
from setagree.errors import CostError

# That the clusters are few is said, rightly; it is not what is asked here.
pytestmark = pytest.mark.filterwarnings("ignore::setagree.errors.SetagreeWarning")


@pytest.fixture(autouse=True)
def _small_groups(monkeypatch):
    """Test small groups, too: their arithmetic is asked here, not their level."""
    monkeypatch.setattr(by_group, "_FEWEST_DF", {"clusters": 0, "units": 0})


DESIGNS = ("weights", "strata", "sizes", "clusters", "clusters across groups")
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
    if design == "sizes":
        strata = {unit: f"s{k % 2}" for unit, k in place.items()}
        return study.sampled(strata=strata, population_size={"s0": 14, "s1": 40}), group
    cluster = {unit: k // 3 for unit, k in place.items()}
    if design == "clusters across groups":
        group = {unit: f"g{k % n_groups}" for unit, k in place.items()}
    return study.sampled(cluster=cluster), group


def part(study, group, name, *, rest=False):
    """Return the study of the units of a group, or of all others; drawn as before."""
    chosen = np.array([(group[unit] == name) != rest for unit in study.units])
    return study.take(chosen[study.unit_codes])


def domains(study, group, coefficient):
    """Return the covariance matrix of the groups, in order of their names, from its definition.

    u_i = w_i (x_i - mean) / sum w in a group, 0 for all other units that were drawn and count; the
    covariance of two totals of a stratified sample (Cochran 1977, 5A.14), and for the variances
    the factor (m - p) / (m - 1) of m units, the share p of those drawn of their strata.
    """
    how = study.sampling
    frame = study.units_frame.assign(group=[group[unit] for unit in study.units])
    frame = frame.loc[score(study, coefficient).influence.index]
    stratum = frame[how.strata] if how.strata else pd.Series("", frame.index)
    column = how.sampling_weight
    if column == "population per unit" and coefficient == "krippendorff_alpha":
        column = "population per pairable unit"  # alpha sums over pairable units alone
    weight = frame[column].astype(float)
    names = sorted(set(group.values()))
    u, factors = pd.DataFrame(0.0, frame.index, names), []
    for name in names:
        x = score(part(study, group, name), coefficient).influence
        w = weight.loc[x.index]
        u.loc[x.index, name] = w * (x - (w * x).sum() / w.sum()) / w.sum()
        p = len(x) / stratum.isin(stratum.loc[x.index]).sum()
        factors.append((len(x) - p) / (len(x) - 1) if len(x) > 1 else np.nan)
    total = np.zeros((len(names), len(names)))
    for name, rows in u.groupby(stratum):
        f = len(rows) / (how.population_size or {}).get(name, np.inf)
        total += (1 - f) * len(rows) * np.cov(rows.to_numpy().T)
    return total + np.diag(np.diag(total) * (np.array(factors) - 1))


def score(study, coefficient):
    return getattr(sa, coefficient)(study, distance="masi")


@pytest.mark.slow
class TestPlainCalls:
    @pytest.mark.parametrize("coefficient", COEFFICIENTS)
    @pytest.mark.parametrize("design", DESIGNS)
    @settings(max_examples=2)
    @given(seed=st.integers(0, 999))
    def test_groups(self, coefficient, design, seed):
        """Counts, estimate, standard error and interval are those of the group's own study.

        Of a sample from strata the standard error is that of a domain.
        """
        study, group = sampled(seed, design)
        frame = sa.by_group(study, group, coefficient=coefficient, distance="masi", level=0.9)
        assert sorted(frame["group"]) == ["g0", "g1", "g2"]
        for row in frame.itertuples():
            alone = score(part(study, group, row.group), coefficient)
            assert row.estimate == pytest.approx(alone.estimate, abs=1e-12, nan_ok=True)
            error, ends = alone.standard_error, alone.interval(0.9)
            if study.sampling.strata and row.standard_error > 0:
                place = sorted(frame["group"]).index(row.group)
                error = domains(study, group, coefficient)[place, place] ** 0.5
                half = stats.t.ppf(0.95, alone.degrees_of_freedom) * error
                if np.isfinite(ends[0]):
                    ends = row.estimate - half, min(row.estimate + half, 1)
            assert row.standard_error == pytest.approx(error, abs=1e-12, nan_ok=True)
            assert (row.low, row.high) == pytest.approx(ends, abs=1e-12, nan_ok=True)
            assert (row.n_units, row.n_ratings) == (alone.n_units, alone.n_ratings)
            assert row.n_pairable_units == alone.n_pairable_units

    @pytest.mark.parametrize("coefficient", COEFFICIENTS)
    @pytest.mark.parametrize("design", DESIGNS)
    @settings(max_examples=2)
    @given(seed=st.integers(0, 999))
    def test_differences(self, coefficient, design, seed):
        """A group differs from the weighted mean of the others, and all by Welch's F.

        Their errors are those of plain studies, independent if no cluster or stratum is in two.
        """
        study, group = sampled(seed, design)
        frame = sa.by_group(study, group, coefficient=coefficient, distance="masi")
        frame = frame.sort_values("group")
        known = (frame["standard_error"] > 0).to_numpy()
        tests = ["difference_p_value", "p_holm", "homogeneity_p_value"]
        if known.sum() < 2:
            assert frame[tests].isna().all(axis=None)
            return
        found = frame[known]
        assert set(frame["tested_by"]) == {"Wald"}
        k, v = found["estimate"].to_numpy(), found["standard_error"].to_numpy() ** 2
        C = np.diag(v)
        if study.sampling.strata:
            C = domains(study, group, coefficient)[np.ix_(known, known)]
        alone = [score(part(study, group, name), coefficient) for name in found["group"]]
        f, G = np.array([one.degrees_of_freedom for one in alone]), len(k)
        for g, row in enumerate(found.itertuples()):
            L = -np.where(np.arange(G) == g, 0, 1 / v)
            L = L / -L.sum() + (np.arange(G) == g)
            assert row.difference == pytest.approx(L @ k, abs=1e-12)
            if design == "clusters across groups":
                continue
            assert row.difference_standard_error == pytest.approx((L @ C @ L) ** 0.5, rel=1e-9)
            df = (L**2 @ v) ** 2 / (L**4 * v**2 / f).sum()
            p = 2 * stats.t.sf(abs(L @ k) / (L @ C @ L) ** 0.5, df)
            assert row.difference_p_value == pytest.approx(p, abs=1e-9)
        holm = multipletests(found["difference_p_value"], method="holm")[1]
        expected = found["difference_p_value"] if G == 2 else holm
        assert found["p_holm"].tolist() == pytest.approx([*expected])
        if not study.sampling.strata and design != "clusters across groups":
            expected = anova_generic(k, v * (f + 1), f + 1, use_var="unequal").pvalue
            assert found["homogeneity_p_value"].iloc[0] == pytest.approx(expected, abs=1e-9)


def test_two_groups_are_compared_by_welchs_t():
    k, v, n = np.array([0.2, 0.5]), np.array([0.01, 0.02]), np.array([8, 12])
    gaps, errors, p, of_all = by_group.wald_tests(k, np.diag(v), n - 1.0)
    assert gaps == pytest.approx([-0.3, 0.3])
    assert errors == pytest.approx([0.03**0.5] * 2)
    mean_sd_n = zip(k, np.sqrt(v * n), n, strict=True)
    expected = stats.ttest_ind_from_stats(*itertools.chain(*mean_sd_n), equal_var=False).pvalue
    assert [*p, of_all] == pytest.approx([expected] * 3, rel=1e-12)


def test_three_groups_are_compared_with_the_others_and_by_welchs_f():
    """The mean of the second and third is (0.5 / 0.02 + 0.6 / 0.005) / 250 = 0.58, SE² 1 / 250."""
    k, v, n = np.array([0.2, 0.5, 0.6]), np.array([0.01, 0.02, 0.005]), np.array([8, 12, 20])
    gaps, errors, p, of_all = by_group.wald_tests(k, np.diag(v), n - 1.0)
    assert gaps[0] == pytest.approx(0.2 - 0.58)
    assert errors[0] ** 2 == pytest.approx(0.01 + 1 / 250)
    # terms L_g² v_g with weights 1, 50 / 250, 200 / 250
    terms = np.array([0.01, 0.2**2 * 0.02, 0.8**2 * 0.005])
    df = terms.sum() ** 2 / (terms**2 / (n - 1)).sum()
    assert p[0] == pytest.approx(2 * stats.t.sf(0.38 / 0.014**0.5, df), rel=1e-12)
    assert of_all == pytest.approx(anova_generic(k, v * n, n, use_var="unequal").pvalue, rel=1e-9)


@pytest.mark.parametrize("design", ["weights", "clusters"])
def test_one_group(design):
    study, group = sampled(1, design, n_groups=1)
    frame = sa.by_group(study, group, distance="masi")
    whole = score(study, "krippendorff_alpha")
    assert frame["estimate"].tolist() == pytest.approx([whole.estimate], abs=1e-12)
    assert frame["standard_error"].tolist() == pytest.approx([whole.standard_error], abs=1e-12)
    beside = ["difference", "difference_standard_error", "difference_p_value"]
    assert frame[[*beside, "homogeneity_p_value"]].isna().all(axis=None)
    assert frame["no_test"].tolist() == ["fewer than two groups can be tested"]


def test_a_group_without_spread():
    rows = [["a", "a"]] * 5 + [["a", "b"], ["b", "b"]] * 3 + [["b", "a"]]
    study = annotations([[frozenset(x) for x in row] for row in rows])
    weight = {unit: 1 + k % 2 for k, unit in enumerate(study.units)}
    group = {unit: "xy"[int(unit.removeprefix("u")) >= 5] for unit in study.units}
    frame = sa.by_group(
        study.sampled(sampling_weight=weight), group, coefficient="percent_agreement"
    ).set_index("group")
    assert frame.loc["x", "standard_error"] == 0
    tests = ["difference", "difference_standard_error", "difference_p_value"]
    assert frame[[*tests, "homogeneity_p_value"]].isna().all(axis=None)
    absent = "left out (undefined, without spread or with too few degrees of freedom): 'x'"
    assert set(frame["no_test"]) == {f"fewer than two groups can be tested; {absent}"}


def test_what_costs_too_much_names_the_design(monkeypatch):
    study = sa.simulate(24, 3, rng=1)
    part = {unit: "ab"[k % 2] for k, unit in enumerate(study.units)}
    sized = study.sampled(strata=part, population_size={"a": 100, "b": 40})
    monkeypatch.setattr(limits, "MOST_STEPS", 10)
    said = "Leaving out each unit of a study with strata of known size would take"
    with pytest.raises(CostError, match=said):
        sa.by_unit(sized, coefficient="conger_kappa")


class TestDomains:
    @pytest.mark.parametrize("coefficient", COEFFICIENTS)
    def test_the_fraction_of_the_whole(self, coefficient):
        study, group = sampled(3, "clusters")
        study = annotations_alone(study)
        n = len(score(study, coefficient).influence)
        frame = sa.by_group(study.sampled(population_size=36), group, coefficient=coefficient)
        plain = sa.by_group(study, group, coefficient=coefficient)
        expected = plain["standard_error"] * (1 - n / 36) ** 0.5
        assert frame["standard_error"].tolist() == pytest.approx(expected.tolist(), rel=1e-12)
        assert set(plain["tested_by"]) | set(frame["tested_by"]) == {"score", "Wald"}

    def test_windows(self):
        """A window takes the fraction of the whole sample, too; so do groups that are strata."""
        study, group = sampled(3, "clusters")
        study = annotations_alone(study)
        at = {unit: int(name[1]) for unit, name in group.items()}
        sizes = {f"g{k}": 12 * (k + 1) for k in range(3)}
        whole = sa.over_time(study.sampled(population_size=36), at, window=1)
        plain = sa.over_time(study, at, window=1)
        n = sa.krippendorff_alpha(study).n_pairable_units
        rate = whole["standard_error"] / plain["standard_error"]
        assert rate.tolist() == pytest.approx([(1 - n / 36) ** 0.5] * 3, rel=1e-12)
        strata = sa.over_time(study.sampled(strata=group, population_size=sizes), at, window=1)
        for k, error in enumerate(strata["standard_error"]):
            left = 1 - strata["n_pairable_units"][k] / (12 * (k + 1))
            assert error == pytest.approx(plain["standard_error"][k] * left**0.5, rel=1e-12)

    def test_a_census(self):
        study, group = sampled(3, "clusters")
        full = annotations_alone(study)
        full = full.take(np.isin(full.unit_codes, np.flatnonzero(np.bincount(full.unit_codes) > 1)))
        by = {unit: group[unit] for unit in full.units}
        frame = sa.by_group(full.sampled(population_size=full.n_units), by)
        assert frame["standard_error"].tolist() == [0, 0, 0]
        assert frame["reason"].str.startswith("All units of the population were rated").all()
        sizes = {name: list(by.values()).count(name) + 20 * (name == "g1") for name in by.values()}
        one = sa.by_group(full.sampled(strata=by, population_size=sizes), by).set_index("group")
        assert (one["standard_error"] > 0).to_dict() == {"g0": False, "g1": True, "g2": False}

    def test_exact_enumeration(self):
        """Over all samples of a small population the mean variance of a group is near its variance.

        The fraction of the population is that of the sample; that of the group is chance, which
        costs some bias. There is none for the samples with m units of the group, once 1 - m / M
        takes the place of 1 - n / N (Cochran 1977, 2.13).
        """
        found = []
        for units, study in all_samples([range(8)], 6):
            frame = sa.by_group(
                study.sampled(population_size=8),
                {u: u % 2 for u in units},
                coefficient="percent_agreement",
            ).set_index("group")
            found.append([*frame.loc[1, ["estimate", "standard_error"]], sum(u % 2 for u in units)])
        estimates, errors, m = np.array(found, dtype=float).T
        known = np.isfinite(errors)
        assert 0.8 < (errors[known] ** 2).mean() / estimates[known].var() < 1.25
        for k in (2, 3):
            variance = (errors[m == k] ** 2).mean() / (1 - 6 / 8) * (1 - k / 4)
            assert variance == pytest.approx(estimates[m == k].var(), rel=1e-10)

    @pytest.mark.slow
    def test_exact_enumeration_of_strata(self):
        where = {u: int(u >= 4) for u in range(8)}
        found = []
        for _, study in all_samples([range(4), range(4, 8)], 2):
            drawn = study.sampled(strata=where, population_size={0: 4, 1: 4})
            frame = sa.by_group(drawn, where, coefficient="percent_agreement").set_index("group")
            found.append(frame.loc[[0, 1], ["estimate", "standard_error"]].to_numpy())
        estimates, errors = np.moveaxis(np.array(found), 2, 0)
        expected = estimates.var(axis=0).tolist()
        assert (errors**2).mean(axis=0).tolist() == pytest.approx(expected, rel=1e-10)

    def test_homogeneity(self):
        """Groups of one stratum take units from each other; the test knows their covariances.

        By the generalised least squares of the definition; where groups are strata, they are
        independent and the test is Welch's.
        """
        study, group = sampled(7, "sizes")
        frame = sa.by_group(study, group, coefficient="percent_agreement").sort_values("group")
        C = domains(study, group, "percent_agreement")
        k, weights = frame["estimate"].to_numpy(), np.linalg.inv(C)
        ones, v = np.ones(3), np.diag(C)
        off = k - (ones @ weights @ k) / (ones @ weights @ ones)
        parts = [score(part(study, group, f"g{g}"), "percent_agreement") for g in range(3)]
        df = np.array([one.degrees_of_freedom for one in parts])
        L = ((1 - 1 / v / (1 / v).sum()) ** 2 / df).sum()
        F = off @ weights @ off / 2 / (1 + 2 * L / 8)
        p = frame["homogeneity_p_value"].iloc[0]
        assert p == pytest.approx(stats.f.sf(F, 2, 8 / (3 * L)), rel=1e-9)


def all_samples(strata, n):
    """Yield the units of every sample of n units a stratum, and its study by three raters."""
    rng = np.random.default_rng(5)
    answers = {u: rng.choice(["a", "a,b", "b", "a,b,c", "c"], 3) for us in strata for u in us}
    for picked in itertools.product(*(itertools.combinations(units, n) for units in strata)):
        units = [u for some in picked for u in some]
        rows = [(g, u, answers[u][g]) for u in units for g in range(3)]
        yield units, sa.Annotations.from_triples(rows)


def annotations_alone(study):
    """Return the same study as if nothing was said of how its units were drawn."""
    return sa.Annotations.from_triples(study.to_triples())
