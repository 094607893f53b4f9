"""Alpha for multi-valued data: chance redraws labels and keeps the sizes of the sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from setagree.checks import MOST_STEPS, Floats, check_cost
from setagree.distances import Distance, NominalDistance, OverlapDistance
from setagree.distances.degrees import DegreeDistance
from setagree.errors import counted

SizeFunction: TypeAlias = Callable[[Any, Any, Any], Floats]

Scaled: TypeAlias = tuple[Floats, npt.NDArray[np.int32]]
"""Numbers as mantissas and powers of two, for what floating point alone does not span."""

_LOWEST = -(2**29)
"""The power of two of 0."""

_STEPS_A_CELL = 10
"""Elementary steps for each number that a label changes."""

_STEPS_A_CALL = 50_000
"""Elementary steps in the time that the smallest redrawing takes."""


def size_function(distance: Distance | None) -> SizeFunction:
    r"""Return the distance as a function of (\|A\|, \|B\|, \|A ∩ B\|), checked by the caller."""
    if isinstance(distance, DegreeDistance):
        distance = distance.of_sets
    if isinstance(distance, OverlapDistance):
        return distance.function
    if isinstance(distance, NominalDistance):
        return lambda a, b, i: np.where((a == i) & (b == i), 0.0, 1.0)
    raise TypeError(f"{distance!r} is not a function of set sizes")


def redrawn_disagreement(values: tuple[Any, ...], totals: Floats, distance: SizeFunction) -> float:
    """Return De for value totals of shape (K,).

    With W(p, q, i) the coefficient of x^p y^q z^i in prod_c (1 + n_c x + n_c y + n_c (n_c - 1) z),
    E_st = sum_i W(s - i, t - i, i) d(s, t, i) / sum_i W(s - i, t - i, i). By symmetry in x and y,
    W(p, q, i) = (p + q)! / (p! q!) V(p + q, i), with V from `label_ways`. Raise CostError for very
    large sets of very many labels.
    """
    used = np.flatnonzero(totals > 0)
    if not used.size:
        return 0.0
    sizes = np.array([len(values[k]) for k in used])
    shares = np.bincount(sizes, totals[used]) / totals[used].sum()
    n_of: dict[Any, float] = {}  # how many pairable sets contain each label
    for k in used:
        for label in values[k]:
            n_of[label] = n_of.get(label, 0.0) + float(totals[k])
    present, n = np.flatnonzero(shares), np.array([*n_of.values()])
    check_ways(len(n), int(present[-1]))
    ways = label_ways(n, int(present[-1]))
    factorials = _factorials(2 * int(present[-1]))
    out = 0.0
    for first, s in enumerate(present.tolist()):
        t = present[first:]
        both = np.where(t == s, 1, 2) * shares[s] * shares[t]
        out += float(both @ _mean_distances(ways, factorials, distance, s=s, t=t))
    return out


def _mean_distances(
    ways: Scaled, factorials: Scaled, distance: SizeFunction, *, s: int, t: npt.NDArray[Any]
) -> Floats:
    """Return E_st for one size s and larger sizes t; 0 if two such sets cannot be drawn."""
    i = np.arange(s + 1)[:, None]
    p, q = s - i, t - i
    of_union = np.minimum(p + q, len(ways[0]) - 1), np.minimum(i, ways[0].shape[1] - 1)
    possible = (of_union[0] == p + q) & (of_union[1] == i)
    (V, V_power), (f, f_power) = ways, factorials
    W = np.where(possible, V[of_union] * f[p + q] / (f[p] * f[q]), 0.0)
    power = V_power[of_union] + f_power[p + q] - f_power[p] - f_power[q]
    power = np.where(W > 0, power, _LOWEST)
    W = np.ldexp(W, power - power.max(axis=0))
    a, b, i = (np.ascontiguousarray(x).ravel() for x in np.broadcast_arrays(s, t, i))
    d = np.broadcast_to(distance(a, b, i), a.shape).reshape(W.shape)
    total = W.sum(axis=0)
    return np.asarray((W * d).sum(axis=0) / np.where(total > 0, total, 1.0))


def label_ways(n: Floats, top: int) -> Scaled:
    """Return V(m, i), the coefficient of x^m z^i in prod_c (1 + n_c x + n_c (n_c - 1) z).

    m goes to 2 `top`, i to `top`, neither beyond how many labels there are. Each number is kept as
    a mantissa and a power of two, for they span thousands of orders of magnitude; as all terms are
    positive, no digit is lost in the sums.
    """
    shape = min(2 * top, len(n)) + 2, min(top, len(n)) + 2
    # The first row and column are those of m = -1 and i = -1, with V = 0.
    V, power = np.zeros(shape), np.full(shape, _LOWEST, dtype=np.int32)
    V[1, 1], power[1, 1] = 1.0, 0
    for k, count in enumerate(n):
        m, i = min(k + 3, shape[0]), min(k + 3, shape[1])
        here = np.s_[1:m, 1:i]
        parts: list[tuple[float, Any]] = [(1.0, here), (count, np.s_[: m - 1, 1:i])]
        if count > 1:
            parts.append((count * (count - 1), np.s_[1:m, : i - 1]))
        highest = np.maximum.reduce([power[part] for _, part in parts])
        total = sum(np.ldexp(V[part] * factor, power[part] - highest) for factor, part in parts)
        V[here], further = np.frexp(total)
        power[here] = np.where(V[here] > 0, highest + further, _LOWEST)
    return V[1:, 1:], power[1:, 1:]


def check_ways(n_labels: int, top: int) -> None:
    """Raise an error on sets that would take minutes, with the permitted size."""
    if _steps(n_labels, top) <= MOST_STEPS:
        return
    passes = max((size for size in range(top) if _steps(n_labels, size) <= MOST_STEPS), default=0)
    check_cost(
        f"mv_alpha of sets of up to {top:,} of {n_labels:,} labels",
        n_steps=_steps(n_labels, top),
        instead=f"Sets of up to {counted(passes, 'label')} pass; or use krippendorff_alpha, whose "
        "chance redraws whole sets.",
    )


def redrawn_steps(values: tuple[Any, ...]) -> float:
    """Return about how many steps `redrawn_disagreement` takes for such values."""
    labels: set[Any] = set().union(*values)
    sizes = [len(value) for value in values]
    return _steps(len(labels), max(sizes, default=0)) + _STEPS_A_CELL * sum(sizes) + _STEPS_A_CALL


def _steps(n_labels: int, top: int) -> float:
    """Return the additions, shifts and products of `label_ways`."""
    k = np.arange(1.0, n_labels + 1)
    return _STEPS_A_CELL * float((np.minimum(k, 2 * top) * np.minimum(k, top)).sum())


def _factorials(top: int) -> Scaled:
    """Return 0!, 1!, ..., top! as mantissas and powers of two."""
    mantissas, powers = np.ones(top + 1), np.zeros(top + 1, dtype=np.int32)
    for k in range(1, top + 1):
        mantissas[k], further = np.frexp(mantissas[k - 1] * k)
        powers[k] = powers[k - 1] + further
    return mantissas, powers
