"""What all coefficients share: disagreement inside units, shares, the standard error."""

import math
from dataclasses import replace
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import reference
from hypothesis import given
from small_studies import annotations, row_lists, sets_of, text

import setagree as sa
from setagree.coefficients.case import (
    Case,
    pattern_disagreement,
)
from setagree.coefficients.chance_models import Urn
from setagree.coefficients.sums import (
    Linearised,
    UnitSums,
    standard_error,
    undefined_reasons,
)


def case_of(rows, distance="masi"):
    study = annotations(rows)
    return Case(sa.Tally.from_annotations(study), sa.weights(study, distance))


@pytest.mark.parametrize("at_once", [1, 2, 5, 500_000])
@given(rows=row_lists(sets_of("abc"), units=7, raters=5))
def test_disagreement_of_units(at_once, rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("setagree.coefficients.case.PAIR_BLOCK_SIZE", at_once)
        case = case_of(rows)
        q = pattern_disagreement(case.tally, case.weights)[case.tally.unit_patterns]
    units = reference.rated(rows)
    expected = [sum(reference.masi(x, y) for x, y in permutations(u, 2)) for u in units]
    assert q.tolist() == pytest.approx([float(x) for x in expected], abs=1e-12)


def test_mean_disagreement():
    """x_i is the mean over pairs, as a share of d_max; 0 where there is none."""
    case = case_of(text("a b ab / a . . / ab ab a"), "hamming")
    # d: a-b 2, a-ab 1, b-ab 1; d_max 2
    mean = case.mean_disagreement[case.tally.unit_patterns]
    assert mean.tolist() == pytest.approx([(2 + 1 + 1) / 3 / 2, 0, (0 + 1 + 1) / 3 / 2])
    assert case.disagreement is case.disagreement


@given(rows=row_lists(sets_of("ab"), units=6, raters=4))
def test_shares(rows):
    """pi_k is the mean over rated units of the share of value k among a unit's ratings."""
    case = case_of(rows)
    units = reference.rated(rows)
    expected = [
        float(reference.mean([u.count(A) / len(u) for u in units])) for A in case.tally.values
    ]
    whole = UnitSums(case, Urn())
    shares = whole.urn / whole.totals.P
    assert shares.tolist() == pytest.approx(expected)
    assert shares.sum() == pytest.approx(1)


def sums_of(values, counted):
    """Return sums of which only the linearised values matter."""
    found = Linearised(np.array(values), np.array(counted), by_unit=False)
    return SimpleNamespace(linearised=found)


class TestStandardError:
    def test_by_hand(self):
        """Values 1, 2, 2, 5: mean 5/2, squares 9/4 + 1/4 + 1/4 + 25/4 = 9, so sqrt(9 / 12)."""
        expected = math.sqrt(9 / 12)
        assert standard_error(sums_of([1.0, 2, 2, 5], [1.0] * 4)) == pytest.approx(expected)
        assert standard_error(sums_of([1.0, 2, 5], [1.0, 2, 1])) == pytest.approx(expected)

    def test_uncounted_patterns_do_not_count(self):
        one = standard_error(sums_of([1.0, 3, 100], [1.0, 1, 0]))
        assert one == pytest.approx(math.sqrt(2 / 2))

    @pytest.mark.parametrize(
        "sums",
        [
            sums_of([1.0], [1.0]),
            sums_of([], []),
            UnitSums(case_of(text("a a / a a")), Urn()),
        ],
    )
    def test_none(self, sums):
        """One unit, no linearised values, or no estimate: no standard error."""
        assert math.isnan(standard_error(sums))


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ("a . / . b", "no pairable unit"),
        ("a a / a a", "one value"),
        ("a a", "one value"),
        ("a b", "one unit"),
    ],
)
def test_why_it_is_undefined(rows, why):
    sums = UnitSums(case_of(text(rows), "hamming"), Urn())
    assert sums.undefined == why
    assert math.isnan(sums.estimate)
    d_max = 1 if why == "one value" else 2
    pa, pe, *disagreements = sums.figures
    assert [pa, pe] == pytest.approx([1 - d / d_max for d in disagreements], nan_ok=True)
    assert sums.linearised.values.size == sums.linearised.counted.size == 0


def test_a_single_pairable_unit_is_not_the_reason_if_others_count():
    """Fleiss' kappa has two units in its urn, and a distance of 0 leaves no disagreement."""
    rows = [("a", 1, "x"), ("b", 1, "y"), ("a", 2, "x")]
    with pytest.warns(sa.UndefinedAgreementWarning, match="chance leaves no disagreement"):
        sa.fleiss_kappa(rows, distance=lambda _a, _b: 0.0)


def test_why_it_is_undefined_otherwise():
    assert undefined_reasons(2, 2, 2).item() == "no chance disagreement"


def test_a_case_without_raters():
    case = case_of(text("a b / a a"))
    with pytest.raises(TypeError, match="have no rater identities"):
        _ = case.rated


def test_one_slip_in_ten_million_is_no_rounding():
    """5 million units {a a} and one {a b}: De = 2 / N is small, and still there.

    Do = 2 / N and De = 2 (N - 1) / (N (N - 1)), so alpha is 0, not undefined.
    """
    slip = sa.Tally.from_counts(pd.DataFrame({"a": [2, 1], "b": [0, 1]}))
    many = replace(slip, multiplicity=np.array([5e6, 1.0]))
    alpha = sa.krippendorff_alpha(many, distance="nominal")
    assert alpha.expected_disagreement == pytest.approx(2 / 10_000_002, rel=1e-9)
    assert alpha.estimate == pytest.approx(0, abs=1e-6)
    assert alpha.reason is None
