"""Asking for a number, for a sentence and for a warning."""

from __future__ import annotations

import pandas as pd
import pytest

import setagree as sa
from setagree.errors import SetagreeError


def long_table(*rows):
    """Return a table of (unit, rater, labels) rows."""
    return pd.DataFrame(rows, columns=["unit", "rater", "labels"])


def alpha_of(*rows, distance="nominal", **options):
    """Return Krippendorff's alpha of (unit, rater, labels) rows."""
    study = sa.Annotations.from_long(long_table(*rows), **options)
    return sa.krippendorff_alpha(study, distance=distance)


def sentence(error, function, *arguments, **options):
    """Return the sentence with which a call is refused, by a SetagreeError of one kind."""
    with pytest.raises(error) as caught:
        function(*arguments, **options)
    assert isinstance(caught.value, SetagreeError)
    return str(caught.value)


def the_warning(category, function, *arguments, **options):
    """Return what a call gives and the words of the one warning it gives."""
    with pytest.warns(category) as caught:
        result = function(*arguments, **options)
    assert [one.category for one in caught] == [category]
    return result, str(caught[0].message)


SETS = sa.Annotations.from_triples(
    [("x", 1, "a"), ("y", 1, "a, b"), ("x", 2, "b"), ("y", 2, []), ("x", 3, "c"), ("y", 3, "c")]
)
"""Units (a, ab), (b, {}), (c, c)."""
