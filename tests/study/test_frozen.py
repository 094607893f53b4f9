"""Arrays of studies and tallies are read-only, and those of the caller stay as they were."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
from small_studies import annotations, text

import setagree as sa

STUDY = annotations(text("a ab / b b / c . / a a"))
ARRAYS = ("units", "raters", "unit_codes", "rater_codes", "value_codes")
TALLIES = {
    "annotations": sa.Tally.from_annotations(STUDY),
    "raters kept": sa.Tally.from_annotations(STUDY, keep_raters=True),
    "counts": sa.Tally.from_counts(pd.DataFrame({"a": [2, 1], "b": [0, 1]})),
}
TALLIES["merged"] = TALLIES["raters kept"].merge(TALLIES["raters kept"])


def arrays_of(record):
    """Return the arrays of a record, those of who gave what as well."""
    inner = getattr(record, "given", None)
    values = [getattr(record, each.name) for each in fields(record)]
    own = [value for value in values if isinstance(value, np.ndarray)]
    return own + (arrays_of(inner) if inner is not None else [])


@pytest.mark.parametrize("name", ARRAYS)
def test_annotations(name):
    for study in (
        STUDY,
        STUDY.exclude_raters([STUDY.raters[1]]),
        copy.deepcopy(STUDY),
        pickle.loads(pickle.dumps(STUDY)),  # noqa: S301 - our own
    ):
        with pytest.raises(ValueError, match="read-only"):
            getattr(study, name)[0] = 0


@pytest.mark.parametrize("name", TALLIES)
def test_tallies(name):
    tally = TALLIES[name]
    reckoned = [tally.rows, tally.pattern_ratings, tally.pairable, tally.keys]
    found = [*arrays_of(tally), *reckoned]
    assert len(found) >= 8
    assert not any(array.flags.writeable for array in found)


def test_the_callers_array_stays_writeable():
    codes = np.array([0, 0, 1, 1])
    names = np.array(["u", "v"], dtype=object)
    study = sa.Annotations(
        "category", names, names.copy(), ("x", "y"), codes, np.array([0, 1, 0, 1]), codes.copy()
    )
    assert np.shares_memory(study.unit_codes, codes)
    codes[0] = 1
    names[0] = "w"
    assert codes.flags.writeable
    assert not study.unit_codes.flags.writeable
    indicators = np.array([[[1, 0], [0, 1]], [[1, 0], [1, 1]]])
    frame = pd.DataFrame({"unit": [1, 1], "rater": [1, 2], "value": [1.0, 2.0]})
    sa.Annotations.from_indicators(indicators)
    sa.Annotations.from_long(frame, value="value")
    assert indicators.flags.writeable
    frame.loc[0, "value"] = 3.0


def test_one_tally_stays_one():
    table = sa.agreement(STUDY, coefficient=["krippendorff_alpha", "gwet_ac"])
    one, two = table
    assert one.tally.indptr is two.tally.indptr
    listed = one.tally.with_values((*one.tally.values, frozenset("z")))
    assert listed.indptr is one.tally.indptr
