"""Differences between groups of units, tested by dealing the units to the groups anew.

Where a group is small, or nearly all of its answers are one, its standard error is too rough for
any t: with ten units and a label that has 80 % of the answers Welch's t rejects a true hypothesis
in a fifth of the studies. If the groups do not differ, the units may as well be dealt to them
anew, which needs no standard error to be right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from setagree.coefficients.chance import Case, Codes, Floats
from setagree.coefficients.chance_models import Fixed, Urn
from setagree.coefficients.parts import Estimates, Parts
from setagree.diagnosis.common import Row
from setagree.diagnosis.sampled_groups import BESIDE, homogeneity
from setagree.study.tally import take_rows

_FEW_UNITS = 100
"""Pairable units of a group, or of all others, below which units are dealt."""

_MOST_GROUPS = 20
_MOST_ROWS = 20_000_000
"""Units to be scored, in all, above which t has to do."""

_ROWS_AT_ONCE = 200_000

_TIE = 1e-9


def beside(own: Estimates, rests: Estimates) -> dict[str, Floats]:
    """Return the columns of the difference of each group from all others together, by Welch's t."""
    from scipy.special import stdtr

    difference = own.estimate - rests.estimate
    both = np.stack([own.standard_error, rests.standard_error])
    se = np.where((both > 0).all(axis=0), np.hypot(*both), np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = both**4 / (np.stack([own.counted, rests.counted]) - 1)
        p = 2 * stdtr(se**4 / terms.sum(axis=0), -np.abs(difference) / se)
    return dict(zip(BESIDE, (difference, se, p), strict=True))


def tested(
    parts: Parts,
    own: Estimates,
    rests: Estimates,
    n_resamples: int,
    generator: np.random.Generator,
) -> dict[str, Any]:
    """Return the differences of groups of units, and the test of all groups together.

    Welch's p decides by itself where all groups are large. Else it is what dealings are compared
    by: p is the share of them, the observed one included, whose Welch's p is as small.
    """
    found: dict[str, Any] = {**beside(own, rests), **_homogeneity(own)}
    few = np.minimum(own.counted, rests.counted) < _FEW_UNITS
    G, n = parts.n_parts, len(parts.of_row)
    is_known = isinstance(parts.model, Fixed | Urn) and 1 < G <= _MOST_GROUPS
    if not (is_known and few.any() and n * (G + 1) * n_resamples <= _MOST_ROWS):
        return {**found, "tested_by": "t"}
    together = "homogeneity_p_value"
    seen = np.append(found[BESIDE[2]], found[together])
    # A dealing without a p is left out, as the study would be.
    reached, dealt = np.ones(G + 1), np.ones(G + 1)
    for p in _dealings(parts, n_resamples, generator):
        reached += (p <= seen * (1 + _TIE)).sum(axis=0)
        dealt += np.isfinite(p).sum(axis=0)
    shares = np.where(np.isfinite(seen), reached / dealt, np.nan)
    found[BESIDE[2]] = np.where(few, shares[:G], seen[:G])
    found[together] = float(shares[G])
    return {**found, "tested_by": np.where(few, "dealing", "t")}


def _dealings(parts: Parts, n_resamples: int, generator: np.random.Generator) -> Iterator[Floats]:
    """Yield Welch's p of B dealings, (B, G + 1): of each group against the rest, and of all."""
    G, (order, groups) = parts.n_parts, _in_one_order(parts)
    at_once = max(1, _ROWS_AT_ONCE // len(order))
    for start in range(0, n_resamples, at_once):
        B = min(at_once, n_resamples - start)
        of_row = np.empty((B, len(order)), dtype=np.intp)
        of_row[:, order] = generator.permuted(np.tile(groups, (B, 1)), axis=1)
        copies = replace(parts, case=_copies(parts.case, B))
        own = _scored(copies, of_row, G)
        if G == 2:
            rests = _each(lambda x: x[:, ::-1], own)
        else:
            twos = [_scored(copies, (of_row != g).astype(np.intp), 2) for g in range(G)]
            rests = _each(lambda *x: np.stack([one[:, 1] for one in x], axis=1), *twos)
        together = [_homogeneity(_each(lambda x, b=b: x[b], own)) for b in range(B)]
        p_all = [one["homogeneity_p_value"] for one in together]
        yield np.column_stack([beside(own, rests)[BESIDE[2]], p_all])


def _in_one_order(parts: Parts) -> tuple[Codes, Codes]:
    """Return the units, and the groups to deal, in an order that their answers alone decide.

    A seed then deals alike, in whatever order a table has its units and groups.
    """
    keys = parts.case.tally.keys
    sums, sizes = np.zeros(parts.n_parts, dtype=np.uint64), np.bincount(parts.of_row)
    np.add.at(sums, parts.of_row, keys)
    groups = np.lexsort((sums, sizes))
    return np.argsort(keys, kind="stable"), np.repeat(groups, sizes[groups])


def _scored(copies: Parts, of_row: Codes, n_parts: int) -> Estimates:
    """Return the parts of each copy of the units, of shape (B, n_parts)."""
    B = len(of_row)
    places = (of_row + n_parts * np.arange(B)[:, None]).ravel()
    found = replace(copies, of_row=places, n_parts=n_parts * B).estimates()
    return _each(lambda x: x.reshape(B, n_parts), found)


def _each(change: Callable[..., Any], *estimates: Estimates) -> Estimates:
    """Return estimates all of whose columns are changed alike."""
    return Estimates._make(map(change, *estimates))


def _homogeneity(own: Estimates) -> Row:
    return homogeneity(own.estimate, own.standard_error, own.counted - 1)


def _copies(case: Case, B: int) -> Case:
    """Return units one after the other so many times."""
    rows = np.tile(np.arange(case.tally.n_patterns), B)
    tally = take_rows(case.tally, rows, np.ones(len(rows)), None)
    return Case(replace(tally, units=None), case.weights, case.distance)
