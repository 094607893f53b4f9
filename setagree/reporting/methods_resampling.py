"""What the methods paragraph says of a bootstrap and of a permutation test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from setagree.errors import DataError, a_type, counted, listing, option
from setagree.inference.bootstrap import Bootstrap
from setagree.inference.permutation import PermutationTest
from setagree.scoring.intervals import ABOUT
from setagree.scoring.names import coefficient_name, distance_name
from setagree.scoring.results import Agreement
from setagree.wording.numbers import interval, level_text, p_phrase

Cite: TypeAlias = Callable[[str | None], str]
"""From the key of a source to what stands in brackets."""

_SIDES = {"greater": "one-sided", "less": "one-sided, for less", "two-sided": "two-sided"}
_SCHEMES = {
    "pooled": "over all raters and units",
    "within_rater": "within each rater",
    "table": "over all cells of the table of units by raters",
    "within_cluster": "within each cluster",
}


def check_reported(rows: Sequence[Agreement], made: object, name: str) -> None:
    """Raise `DataError` unless what was resampled is one of the agreements that are reported."""
    if not isinstance(made, Bootstrap | PermutationTest):
        raise DataError(f"{option(name)} is {a_type(made)}; pass what belongs to one coefficient.")
    one = made.agreement
    if not any(_is_same(row, one) for row in rows):
        said = listing(list(rows))
        raise DataError(f"{option(name)} is of {one!r}, which is not what is reported: {said}.")


def _is_same(one: Agreement, two: Agreement) -> bool:
    """Say whether two agreements are the same coefficient of the same study, as far as is seen."""
    names = [(row.coefficient, row.distance, row.n_units, row.n_ratings) for row in (one, two)]
    close = np.isclose(one.estimate, two.estimate, rtol=1e-9, atol=1e-12, equal_nan=True)
    return names[0] == names[1] and bool(close)


def bootstrapped(
    bootstrap: Bootstrap, rows: Sequence[Agreement], *, level: float, seed: int | None, cite: Cite
) -> str:
    """Return the interval of a bootstrap and what it is called; nothing where it is undefined."""
    method = bootstrap.default_method
    low, high = bootstrap.interval(level, method=method)
    if np.isnan(low) and method == "BCa":
        method = "percentile"
        low, high = bootstrap.interval(level, method=method)
    if np.isnan(low):
        return ""
    source = cite("Efron 1987" if method == "BCa" else "Efron & Tibshirani 1993")
    return (
        f"The {level_text(level, gap='')} {method} interval{_which(bootstrap.agreement, rows)} of "
        f"{_resamples(bootstrap)} is {interval(low, high)}{source}{_seeded(seed)}; it is "
        f"about {ABOUT[bootstrap.over]}."
    )


def _resamples(bootstrap: Bootstrap) -> str:
    """Return how many resamples of what there are, and how many of them are undefined."""
    n = counted(len(bootstrap.distribution), "bootstrap resample")
    what = {"both": "units and raters"}.get(bootstrap.drawn, bootstrap.drawn)
    drawn = f"{n} of the {what}"
    if bootstrap.method == "krippendorff":
        drawn = f"{n} of pairs of ratings (Krippendorff's algorithm of 2006)"
    missed = bootstrap.n_undefined
    return f"{drawn}, {missed:,} of them undefined and left out," if missed else drawn


def tested(
    test: PermutationTest, rows: Sequence[Agreement], *, seed: int | None, cite: Cite
) -> str:
    """Return what a permutation test found; nothing where its p is undefined."""
    if np.isnan(test.p_value):
        return ""
    often = f"all {len(test.distribution):,} arrangements of the answers"
    if not test.exact:
        often = f"{len(test.distribution):,} random reshuffles of the answers"
    source = "" if test.exact else cite("Phipson & Smyth 2010")
    return (
        f"A permutation test against chance compared the estimate{_which(test.agreement, rows)} "
        f"with {often} {_SCHEMES[test.scheme]}{test.over}: {p_phrase(test.p_value)}, "
        f"{_SIDES[test.alternative]}{source}{'' if test.exact else _seeded(seed)}."
    )


def _which(one: Agreement, rows: Sequence[Agreement]) -> str:
    """Return which of several agreements is meant."""
    if len(rows) == 1:
        return ""
    name = coefficient_name(one.definition, [one.distance])
    return f" of {name} with {distance_name(one.distance)}"


def _seeded(seed: int | None) -> str:
    return "" if seed is None else f", seed {seed}"
