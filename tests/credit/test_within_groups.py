"""Distances from each answer to the answers of the same rater."""

import numpy as np
import pytest
from small_studies import annotations, random_rows, sets_of

from setagree.credit import within_groups
from setagree.credit.within_groups import distinct_keys, spread_within_groups
from setagree.distances import get_distance
from setagree.scoring.coefficients import get_coefficient
from setagree.scoring.scorer import Scorer

ROWS = random_rows(np.random.default_rng(6), sets_of("abcd"), units=30, raters=6, missing=0.3)


def by_loops(study, distance):
    """Return the mean distance of each rating to all ratings of the same rater."""
    out = []
    for g, v in zip(study.rater_codes, study.value_codes, strict=True):
        own = study.value_codes[study.rater_codes == g]
        out.append(np.mean([distance(study.values[v], study.values[w]) for w in own]))
    return out


@pytest.mark.parametrize("few", [0, 8, 128])
@pytest.mark.parametrize("entries", [1, 40, 4_000_000])
@pytest.mark.parametrize("name", ["masi", "hamming"])
def test_all_methods_equal_the_loops(monkeypatch, few, entries, name):
    monkeypatch.setattr(within_groups, "FEW_VALUES", few)
    monkeypatch.setattr(within_groups, "BLOCK_ENTRIES", entries)
    study, distance = annotations(ROWS), get_distance(name)
    used = [len(set(study.value_codes[study.rater_codes == g])) for g in range(6)]
    assert min(used) <= 10 < max(used)
    weights = Scorer(study).case(distance).weights
    actual = spread_within_groups(study.rater_codes, study.value_codes, n_groups=6, weights=weights)
    assert actual.tolist() == pytest.approx(by_loops(study, distance))


@pytest.mark.parametrize("n_keys", [9, 10**9])
def test_distinct_keys_ascend(n_keys):
    distinct, place = distinct_keys(np.array([7, 2, 7]), n_keys)
    assert (distinct.tolist(), place.tolist()) == ([2, 7], [1, 0, 1])


@pytest.mark.parametrize("few", [0, 10])
def test_conger_by_either_method(monkeypatch, few):
    study = annotations(ROWS)
    expected = Scorer(study).score(get_coefficient("conger_kappa"), get_distance("masi"))
    monkeypatch.setattr(within_groups, "FEW_VALUES", few)
    actual = Scorer(study).score(get_coefficient("conger_kappa"), get_distance("masi"))
    assert actual.estimate == pytest.approx(expected.estimate, rel=1e-12)
    assert actual.standard_error == pytest.approx(expected.standard_error, rel=1e-12)
