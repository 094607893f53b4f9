"""Groups of units tested by dealing the units anew: against loops, their level, where t remains."""

import numpy as np
import pytest
from small_studies import annotations, text

import setagree as sa
from setagree.coefficients.parts import Parts
from setagree.diagnosis import by_group
from setagree.diagnosis.common import unit_sums

P = ["difference_p_value", "homogeneity_p_value"]


def skewed(rng, n, n_raters=3):
    """Return units of single labels, of which one has 80% of the answers."""
    urn = [0.80, 0.12, 0.05, 0.03]
    truth = rng.choice(4, (n, 1), p=urn)
    knows = rng.random((n, n_raters)) < 0.7
    codes = np.where(knows, truth, rng.choice(4, (n, n_raters), p=urn))
    return annotations([[frozenset("abcd"[c]) for c in row] for row in codes])


@pytest.mark.parametrize("coefficient", ["krippendorff_alpha", "fleiss_kappa", "gwet_ac"])
@pytest.mark.parametrize("n_groups", [2, 3])
def test_equals_a_loop_over_dealings(monkeypatch, coefficient, n_groups):
    """P is the share of dealings whose p by Welch's t is as small, of those that have one."""
    study = sa.simulate(17, 3, n_labels=3, missing=0.1, rng=2)
    of_unit = np.arange(study.n_units) % n_groups
    how = {"coefficient": coefficient, "distance": "masi"}
    found = sa.by_group(
        study, dict(zip(study.units, of_unit, strict=True)), n_resamples=39, rng=5, **how
    )
    assert set(found["tested_by"]) == {"permutation"}
    monkeypatch.setattr(by_group, "_FEW_UNITS", 0)

    def by_t(groups):
        frame = sa.by_group(study, dict(zip(study.units, groups, strict=True)), **how)
        assert set(frame["tested_by"]) == {"t"}
        return frame.sort_values("group")[P].to_numpy(dtype=float)

    seen = by_t(of_unit)
    whole = sa.krippendorff_alpha(study, distance="masi")
    order, groups = by_group._in_one_order(Parts(unit_sums(whole), of_unit, n_groups))
    assert np.bincount(groups).tolist() == np.bincount(of_unit).tolist()
    dealt = np.random.default_rng(5).permuted(np.tile(groups, (39, 1)), axis=1)
    every = np.array([seen, *(by_t(one[np.argsort(order)]) for one in dealt)])
    defined = np.isfinite(every)
    reached = (every <= seen * (1 + 1e-9)) & defined
    np.testing.assert_allclose(
        found.sort_values("group")[P], reached.sum(axis=0) / defined.sum(axis=0)
    )


def test_they_hold_their_level_where_t_does_not():
    """Ten units beside forty, a label with 80%: of 200 studies without a difference few reject."""
    rng = np.random.default_rng(1)
    rejected = {"permutation": 0, "t": 0}
    for _ in range(200):
        study = skewed(rng, 50)
        by = {unit: int(k < 10) for k, unit in enumerate(study.units)}
        for way in rejected:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(by_group, "_FEW_UNITS", 100 if way == "permutation" else 0)
                p = sa.by_group(study, by, distance="nominal", n_resamples=99, rng=rng)[P[0]]
            rejected[way] += int(p.iloc[0] <= 0.05)
    # Of 200 at 5%, more than 19 are rejected once in a thousand times.
    assert rejected["permutation"] <= 19 < rejected["t"]


def test_order_does_not_matter():
    """A seed deals alike, in whatever order the units and the groups come."""
    study = sa.simulate(30, 3, rng=4)
    table = study.to_long().assign(batch=lambda t: t["unit"].str[-1].astype(int) % 3)
    one = sa.by_group(table, "batch", rng=1).set_index("group")
    two = sa.by_group(table.sample(frac=1, random_state=2), "batch", rng=1).set_index("group")
    np.testing.assert_allclose(two.loc[one.index, P], one[P], rtol=1e-12)


def test_a_difference_is_found():
    """Units by lot beside units that nearly all know: the smallest p that the dealings can give."""
    by_lot = "a b / b c / c a / a c / b a / c b / b c / a b / c a / c b"
    known = "a a / b b / c c / a a / b b / c c / a a / b b / c c / a b"
    study = annotations(text(f"{known} / {by_lot}"))
    by = {unit: k < 10 for k, unit in enumerate(study.units)}
    frame = sa.by_group(study, by, distance="nominal", n_resamples=199, rng=1)
    assert (frame[P] == 1 / 200).all(axis=None)


def test_t_remains_where_units_are_many(monkeypatch):
    """Groups of a hundred units, more than twenty groups, or too much work."""
    study = sa.simulate(210, 2, rng=1)
    large = {unit: k % 2 for k, unit in enumerate(study.units)}
    many = {unit: k % 21 for k, unit in enumerate(study.units)}
    few = {unit: k % 3 for k, unit in enumerate(study.units)}
    for by, way in ((large, "t"), (many, "t"), (few, "permutation")):
        assert set(sa.by_group(study, by, n_resamples=9, rng=1)["tested_by"]) == {way}
    uneven = {unit: "few" if k < 40 else k % 2 for k, unit in enumerate(study.units)}
    frame = sa.by_group(study, {u: str(g) for u, g in uneven.items()}, n_resamples=9, rng=1)
    assert set(frame["tested_by"]) == {"permutation"}  # two groups of 85, one of 40
    monkeypatch.setattr(by_group, "MAX_PERMUTED_UNITS", 1_000)
    assert set(sa.by_group(study, few, n_resamples=9, rng=1)["tested_by"]) == {"t"}
    who = sa.by_group(study, few, coefficient="conger_kappa", n_resamples=9, rng=1)
    assert set(who["tested_by"]) == {"t"}
