"""Tests of groups of units: the vectors of STATISTICS 10.3, their level, and permutations."""

import numpy as np
import pytest
from diagnosis_support import walkthrough
from inference_support import T2
from scipy import stats
from small_studies import annotations, text

import setagree as sa
from setagree.coefficients.parts import Parts
from setagree.diagnosis import by_group
from setagree.diagnosis.by_group import score_tests
from setagree.diagnosis.common import unit_sums

P = ["difference_p_value", "p_holm", "homogeneity_p_value"]


def labelled(answers):
    """Return a study of single labels, a word of them per unit."""
    return annotations([[frozenset(one) for one in unit] for unit in answers.split()])


SK = "aa aa aa aa aa aa ab bb aa aa bb aa"
NEG = "ab ba ab bc ca ab ba cb ac aa"
FULL = "aa aa aa bb bb bb cc cc cc dd"


def joined(*studies):
    """Return one study of several, and the study of each unit."""
    rows, group = [], {}
    for k, study in enumerate(studies):
        for row in study.to_long().itertuples(index=False):
            rows.append((row.rater, f"{k} {row.unit}", row.labels))
            group[f"{k} {row.unit}"] = f"s{k}"
    return sa.Annotations.from_triples(rows), group


def test_the_vectors_of_four_groups():
    studies = [walkthrough(), *map(labelled, (SK, NEG, FULL))]
    scores = [sa.krippendorff_alpha(one, distance="nominal").inference.score for one in studies]
    _, _, each, p = score_tests(scores)
    assert p == pytest.approx(0.001156920341, rel=1e-9)
    assert stats.chi2.isf(p, 3) == pytest.approx(15.95757913, abs=1e-8)
    assert each.tolist() == pytest.approx(
        [0.639053521, 0.3108410045, 0.001884816363, 0.002777876798], rel=1e-9
    )


def test_the_vector_of_two_groups():
    study, group = joined(walkthrough(), annotations(T2))
    frame = sa.by_group(study, group, distance="masi", rng=1)
    assert frame[P].to_numpy().ravel().tolist() == pytest.approx([0.6035507749] * 6, rel=1e-9)
    assert set(frame["tested_by"]) == {"score"}
    assert frame["no_test"].isna().all()
    assert frame["difference"].tolist() == pytest.approx([-0.137784153, 0.137784153], abs=1e-9)


def test_groups_with_few_rarer_answers_are_left_out():
    studies = [walkthrough(), *map(labelled, (SK, NEG, FULL))]
    study, group = joined(*studies)
    frame = sa.by_group(study, group, distance="nominal", rng=1).set_index("group")
    assert frame.loc["s1", ["difference", *P[:2]]].isna().all()
    said = "left out (undefined, without spread or with too few rarer answers): 's1'"
    assert set(frame["no_test"]) == {said}
    three = [studies[k] for k in (0, 2, 3)]
    scores = [sa.krippendorff_alpha(one, distance="nominal").inference.score for one in three]
    _, _, each, p = score_tests(scores)
    assert frame["homogeneity_p_value"].tolist() == pytest.approx([p] * 4, rel=1e-9)
    assert frame.loc[["s0", "s2", "s3"], P[0]].tolist() == pytest.approx(each.tolist(), rel=1e-9)
    two, of_two = joined(walkthrough(), labelled(SK))
    alone = sa.by_group(two, of_two, distance="nominal", rng=1)
    assert alone[P].isna().all(axis=None)
    assert set(alone["no_test"]) == {f"fewer than two groups can be tested; {said}"}


@pytest.mark.parametrize("compare", ["by_group", "over_time"])
def test_a_coefficient_without_a_known_score_interval_has_no_test(compare):
    study = sa.simulate(60, 3, rng=1)
    place = {unit: k // 20 for k, unit in enumerate(study.units)}
    options = {"n_resamples": 19, "rng": 1} if compare == "by_group" else {"window": 1}
    frame = getattr(sa, compare)(study, place, coefficient="mv_alpha", **options)
    parts = [sa.mv_alpha(study.take(study.unit_codes // 20 == k)) for k in range(3)]
    assert frame["estimate"].tolist() == pytest.approx([one.estimate for one in parts], abs=1e-12)
    assert frame[["low", *P]].isna().all(axis=None)
    assert set(frame["no_test"]) == {"the score test was not simulated for mv_alpha"}


def test_windows_are_groups():
    study = sa.simulate(90, 3, rng=1)
    day = {unit: k // 3 for k, unit in enumerate(study.units)}
    frame = sa.over_time(study, day, window=10)
    groups = sa.by_group(study, {unit: when // 10 for unit, when in day.items()}, rng=1)
    columns = ["estimate", "low", "high", "difference", *P]
    np.testing.assert_allclose(frame[columns], groups[columns], rtol=1e-12)
    overlapping = sa.over_time(study, day, window=10, step=5)
    assert overlapping[P].isna().all(axis=None)
    assert set(overlapping["no_test"]) == {"the windows overlap"}


def test_many_groups():
    """More than 30 groups have one test, more than 200 none, with the reason."""
    study = sa.simulate(1_005, 3, n_labels=3, rng=1)
    most = sa.by_group(study, {u: k % 30 for k, u in enumerate(study.units)}, n_resamples=9, rng=1)
    assert most[P].notna().all(axis=None)
    some = sa.by_group(study, {u: k % 31 for k, u in enumerate(study.units)}, n_resamples=9, rng=1)
    assert some["homogeneity_p_value"].notna().all()
    assert some[P[:2]].isna().all(axis=None)
    many = sa.by_group(study, {u: k % 201 for k, u in enumerate(study.units)}, n_resamples=9, rng=1)
    assert many[P].isna().all(axis=None)
    assert set(many["no_test"]) == {"there are more than 200 groups"}


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(15, 60), (20, 30, 40, 80)])
def test_the_level_holds(sizes):
    """Groups of equal alpha (0.5) and other label mixes: p is at most 0.05 in 5% of 60 studies.

    `python -m tests.benchmarks.coverage` simulates the same in many more.
    """
    rng, found = np.random.default_rng(2), np.zeros(2)
    mixes = [np.array([0.8, 0.1, 0.1]), np.full(3, 1 / 3)]
    for _ in range(60):
        rows, group = [], {}
        for g, n in enumerate(sizes):
            share = mixes[g % 2]
            truth = rng.choice(3, (n, 1), p=share)
            # Two answers are both the truth with probability 0.5, which is alpha.
            known = rng.random((n, 2 + g)) < 0.5**0.5
            answers = np.where(known, truth, rng.choice(3, (n, 2 + g), p=share))
            rows += [(r, f"{g} {i}", f"l{v}") for (i, r), v in np.ndenumerate(answers)]
            group |= {f"{g} {i}": g for i in range(n)}
        study = sa.Annotations.from_triples(rows, kind="category")
        frame = sa.by_group(study, group, n_resamples=1, rng=1)
        found += [frame[name].min() <= 0.05 for name in P[1:]]
    for n in found.astype(int).tolist():
        assert stats.binomtest(n, 60).proportion_ci(0.95).low <= 0.07


@pytest.mark.parametrize(
    ("coefficient", "n_groups"),
    [("krippendorff_alpha", 2), ("fleiss_kappa", 3), ("gwet_ac", 2)],
)
def test_exchangeability_equals_a_loop(coefficient, n_groups):
    study = sa.simulate(17, 3, n_labels=3, missing=0.1, rng=2)
    of_unit = np.arange(study.n_units) % n_groups
    how = {"coefficient": coefficient, "distance": "masi", "rng": 5}

    def frame_of(groups, n_resamples):
        groups = dict(zip(study.units, groups, strict=True))
        return sa.by_group(study, groups, n_resamples=n_resamples, **how)

    def between(groups):
        frame = frame_of(groups, 1)
        n, k = frame["n_pairable_units"], frame["estimate"]
        return (n * (k - (n @ k) / n.sum()) ** 2).sum(skipna=False)

    seen = between(of_unit)
    whole = sa.krippendorff_alpha(study, distance="masi")
    order, groups = by_group._in_one_order(Parts(unit_sums(whole), of_unit, n_groups))
    dealt = np.random.default_rng(5).permuted(np.tile(groups, (39, 1)), axis=1)
    every = np.array([seen, *(between(one[np.argsort(order)]) for one in dealt)])
    p = (every >= seen * (1 - 1e-9)).sum() / np.isfinite(every).sum()
    found = frame_of(of_unit, 39)["exchangeability_p_value"].tolist()
    assert found == pytest.approx([p] * n_groups)


def test_order_does_not_matter():
    study = sa.simulate(30, 3, rng=4)
    table = study.to_long().assign(batch=lambda t: t["unit"].str[-1].astype(int) % 3)
    one = sa.by_group(table, "batch", rng=1).set_index("group")
    two = sa.by_group(table.sample(frac=1, random_state=2), "batch", rng=1).set_index("group")
    columns = [*P, "exchangeability_p_value"]
    np.testing.assert_allclose(two.loc[one.index, columns], one[columns], rtol=1e-7)


def test_a_difference_is_found():
    by_lot = "a b / b c / c a / a c / b a / c b / b c / a b / c a / c b"
    known = "a a / b b / c c / a a / b b / c c / a a / b b / c c / a b"
    study = annotations(text(f"{known} / {by_lot}"))
    by = {unit: k < 10 for k, unit in enumerate(study.units)}
    frame = sa.by_group(study, by, distance="nominal", n_resamples=199, rng=1)
    assert (frame["exchangeability_p_value"] == 1 / 200).all()
    assert (frame[P] < 0.01).all(axis=None)


def test_no_permutations(monkeypatch):
    study = sa.simulate(60, 2, rng=1)
    few = {unit: k % 3 for k, unit in enumerate(study.units)}
    who = sa.by_group(study, few, coefficient="conger_kappa", n_resamples=9, rng=1)
    monkeypatch.setattr(by_group, "MAX_PERMUTED_UNITS", 100)
    much = sa.by_group(study, few, n_resamples=9, rng=1)
    for frame in (who, much):
        assert frame["exchangeability_p_value"].isna().all()
        assert frame["homogeneity_p_value"].notna().all()
