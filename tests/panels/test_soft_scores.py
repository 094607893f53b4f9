"""Soft scores: the formulas of Kurniawan et al. (2025) on tables that are worked out by hand."""

import math

import numpy as np
import pandas as pd
import pytest

import setagree as sa
from setagree.errors import DataError, OptionError

# Shares of ten people, and degrees of the model, of two labels on three units.
P = np.array([[0.2, 0.3], [0.1, 0.8], [0.9, 0.7]])
Q = np.array([[0.8, 0.1], [0.3, 0.4], [0.7, 0.4]])


def study(p=P, q=Q, n=10):
    """Return n people whose shares of labels are p, and a model with the degrees q."""
    rows = [
        (unit, f"h{g}", "ab"[label], float(g < round(n * p[unit, label])))
        for unit, label in np.ndindex(*p.shape)
        for g in range(n)
    ]
    rows += [(unit, "m", "ab"[label], q[unit, label]) for unit, label in np.ndindex(*p.shape)]
    frame = pd.DataFrame(rows, columns=["unit", "rater", "labels", "degree"])
    return sa.Annotations.from_long(frame, degree="degree")


def scores(*args, **options):
    return sa.soft_scores(study(*args), model="m", rng=1, **options).set_index("score")


def bits(x):
    return -sum(y * math.log2(y) for y in (x, 1 - x) if y)


def test_the_scores_of_a_small_table():
    found = scores()["estimate"]
    assert found["soft_micro_f1"] == pytest.approx(2 * 1.9 / 5.7)
    # a: min .2 .1 .7, sums 1.2 and 1.8; b: min .1 .4 .4, sums 1.8 and .9.
    assert found["soft_macro_f1"] == pytest.approx((2 * 1.0 / 3.0 + 2 * 0.9 / 2.7) / 2)
    divergence = [
        bits((p + q) / 2) - (bits(p) + bits(q)) / 2
        for p, q in zip(P.ravel(), Q.ravel(), strict=True)
    ]
    assert found["jensen_shannon_divergence"] == pytest.approx(np.mean(divergence))
    r = [
        np.corrcoef([*map(bits, P[:, label])], [*map(bits, Q[:, label])])[0, 1] for label in (0, 1)
    ]
    assert found["entropy_correlation"] == pytest.approx(np.mean(r))


def test_one_pair_of_degrees():
    """PO-JSD of 0.2 and 0.6 is 0.8754887502, as in the tests of train-eval-hlv."""
    p, q = np.full((20, 2), 0.2), np.full((20, 2), 0.6)
    found = scores(p, q)["estimate"]
    assert 1 - found["jensen_shannon_divergence"] == pytest.approx(0.8754887502, abs=5e-11)
    assert np.isnan(found["entropy_correlation"])


def test_a_model_that_gives_the_shares():
    found = scores(P, P)
    assert found["estimate"].tolist() == pytest.approx([0, 1, 1, 1], abs=1e-12)


@pytest.mark.slow
def test_intervals_are_those_of_the_jackknife():
    """Linearised and leave-one-out standard errors differ by the order of 1 / n."""
    rng = np.random.default_rng(3)
    p, q = rng.integers(1, 10, (80, 2)) / 10, rng.uniform(0.05, 0.95, (80, 2))
    whole = sa.soft_scores(study(p, q), model="m", n_splits=1, rng=1)
    parts = [
        sa.soft_scores(study(np.delete(p, k, 0), np.delete(q, k, 0)), model="m", n_splits=1, rng=1)
        for k in range(80)
    ]
    left_out = np.array([part["estimate"] for part in parts])
    jackknife = np.sqrt(79 / 80 * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    assert whole["standard_error"].to_numpy() == pytest.approx(jackknife, rel=0.05)


def test_the_ceiling_is_one_half_against_the_other():
    """Two people who differ on one of two units: the divergence of 0 and 1 is one bit."""
    rows = [("h0", 1, "a"), ("h1", 1, "a"), ("h0", 2, "a"), ("h1", 2, "b")]
    rows += [("m", 1, "a"), ("m", 2, "a")]
    found = sa.soft_scores(sa.Annotations.from_triples(rows), model="m").set_index("score")
    assert found.loc["jensen_shannon_divergence", "ceiling"] == pytest.approx(0.5)
    assert found.loc["soft_micro_f1", "ceiling"] == pytest.approx(0.5)
    one = sa.Annotations.from_triples([row for row in rows if row[0] != "h1"])
    assert sa.soft_scores(one, model="m")["ceiling"].isna().all()


def test_categories_are_one_distribution():
    """People are 1/2 a, 1/2 b; the model is all a: H(3/4) - 1/2."""
    rows = [(who, unit, x) for unit in (1, 2) for who, x in (("h0", "a"), ("h1", "b"), ("m", "a"))]
    answers = sa.Annotations.from_triples(rows, kind="category")
    found = sa.soft_scores(answers, model="m").set_index("score")["estimate"]
    assert found["jensen_shannon_divergence"] == pytest.approx(bits(0.75) - 0.5)
    assert found["soft_micro_f1"] == pytest.approx(0.5)


def test_intervals_end_at_the_least_score():
    """One of ten answers differs by one label: the divergence is 1/20 with t interval to -0.06."""
    rows = [(who, unit, "xy"[unit % 2]) for who in "hm" for unit in range(10)]
    rows = [row for row in rows if row != ("m", 3, "y")] + [("m", 3, "x, y")]
    found = sa.soft_scores(sa.Annotations.from_triples(rows), model="m").set_index("score")
    assert found.loc["jensen_shannon_divergence", ["estimate", "low"]].tolist() == [0.05, 0]


def test_refusals():
    with pytest.raises(OptionError, match="n_splits=0 must be a whole number of 1 or more"):
        scores(n_splits=0)
    with pytest.raises(DataError, match="a degree is above 1"):
        scores(P, 2 * Q)
    with pytest.raises(DataError, match="no unit has an answer of the model and of a human"):
        sa.soft_scores(sa.Annotations.from_triples([("h", 1, "a"), ("m", 2, "a")]), model="m")
    with pytest.raises(DataError, match="nobody gave a label"):
        sa.soft_scores(sa.Annotations.from_triples([("h", 1, set()), ("m", 1, set())]), model="m")
