"""What the tests of diagnosis share: the walk-through and studies to draw."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

import setagree as sa

ROWS = (
    "ab a b / ab ab ab / a a a / c c . / c ac ac / d d d / b d e / ab a b / ab abc abci / "
    "a bd a / a a e"
)


def walkthrough():
    """Return the published walk-through: 11 units, 3 raters, letters as labels."""
    return sa.Annotations.from_triples(
        [
            (f"r{g}", f"u{i}", set(cell))
            for i, row in enumerate(ROWS.split(" / "), 1)
            for g, cell in enumerate(row.split(), 1)
            if cell != "."
        ]
    )


SETS = st.frozensets(st.sampled_from("abcd"), max_size=3)


STUDIES = st.lists(
    st.lists(st.one_of(st.none(), SETS), min_size=2, max_size=4), min_size=2, max_size=7
).filter(lambda rows: any(sum(cell is not None for cell in row) > 1 for row in rows))


def study_of(rows):
    """Return the study of a list of rows of sets, None for missing."""
    return sa.Annotations.from_triples(
        [
            (f"r{g}", f"u{i}", cell)
            for i, row in enumerate(rows)
            for g, cell in enumerate(row)
            if cell is not None
        ]
    )


def quietly(function, *args, **options):
    """Call without the warning of an undefined estimate."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.UndefinedAgreementWarning)
        return function(*args, **options)


def assert_same(one, two):
    """Assert that numbers agree to rounding, nan with nan."""
    assert one == pytest.approx(two, abs=1e-12, nan_ok=True)
