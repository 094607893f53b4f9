"""The test of labelled spans: raters are rotated along documents."""

import itertools

import numpy as np
import pandas as pd
import pytest
import spans_support as spans

import setagree as sa
from setagree.errors import DataError, OptionError

pytestmark = pytest.mark.filterwarnings("ignore::setagree.errors.FewClustersWarning")


def marked(n_documents, seed, *, shared):
    """Return two raters' spans in documents of 60 characters, of which some are shared."""
    rng, rows = np.random.default_rng(seed), []
    for d in range(n_documents):
        for start in rng.integers(0, 50, 3).tolist():
            other = start if rng.random() < shared else int(rng.integers(0, 50))
            rows += [(f"d{d}", "a", start, start + 8, "P"), (f"d{d}", "b", other, other + 8, "P")]
    frame = pd.DataFrame(rows, columns=["document", "rater", "start", "end", "label"])
    return sa.Annotations.from_spans(frame, length={f"d{d}": 60 for d in range(n_documents)})


@pytest.mark.parametrize(
    ("coefficient", "chance"),
    [
        ("krippendorff_alpha", "documents"),
        ("krippendorff_alpha", "characters"),
        ("gwet_ac", "documents"),
        ("conger_kappa", "characters"),
    ],
)
def test_reshuffles_are_studies_of_rotated_characters(coefficient, chance):
    """All 12 x 12 rotations of c and b against a, of characters one by one."""
    rows = spans.rows({"lengths": {}, **{rater: spans.V2[rater] for rater in "abc"}})
    rows = rows[rows["document"] == "x"]
    study = sa.Annotations.from_spans(rows, length={"x": 12}, chance=chance)
    score = getattr(sa, coefficient)
    test = sa.permutation_test(score(study), n_resamples=3000, rng=1)
    answers = {
        rater: [
            labels
            for unit, labels in study.to_wide()[rater].items()
            for _ in range(int(study.units_frame["length"][unit]))
        ]
        for rater in "abc"
    }
    possible = set()
    for b, c in itertools.product(range(12), repeat=2):
        moved = {"a": answers["a"], "b": answers["b"][-b:] + answers["b"][:-b]}
        moved["c"] = answers["c"][-c:] + answers["c"][:-c]
        triples = [(g, k, labels) for g, each in moved.items() for k, labels in enumerate(each)]
        one = sa.Annotations.from_triples(triples)
        one = one.sampled(
            cluster=dict.fromkeys(one.units, "x"), size=dict.fromkeys(one.units, 1), chance=chance
        )
        possible.add(round(score(one).estimate, 9))
    assert {*np.round(test.distribution, 9).tolist()} == possible


def test_random_spans_are_not_significant_and_shared_ones_are():
    found = [
        sa.permutation_test(
            sa.krippendorff_alpha(marked(10, 1, shared=share)), n_resamples=199, rng=1
        )
        for share in (0, 0.6)
    ]
    assert [test.scheme for test in found] == ["rotation"] * 2
    assert found[0].p_value > 0.05 > 0.01 >= found[1].p_value
    assert "each rater's answers along each document" in str(found[1])


def test_lengths_may_be_fractions():
    study = marked(4, 2, shared=0.5)
    halves = {unit: size / 3 for unit, size in study.units_frame["length"].items()}
    test = sa.permutation_test(study.sampled(size=halves), n_resamples=99, rng=1)
    assert np.isfinite(test.distribution).all()


def test_schemes_that_do_not_fit_are_refused():
    study = marked(4, 2, shared=0.5)
    with pytest.raises(OptionError, match="scheme='pooled' is not for units with sizes"):
        sa.permutation_test(study, scheme="pooled")
    with pytest.raises(OptionError, match="scheme='rotation' is not for units without sizes"):
        sa.permutation_test(sa.simulate(9, 3, rng=1), scheme="rotation")
    part = study.take(np.arange(study.n_ratings) != 0)
    with pytest.raises(DataError, match=r"rater 'a' annotated a part of document 'd0'"):
        sa.permutation_test(part)
