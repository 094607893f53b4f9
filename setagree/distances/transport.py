"""The least cost of carrying one label set's mass to another's."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, permutations
from typing import Any, TypeAlias

import numpy as np

from setagree.checks import Floats
from setagree.distances.base import Distance, as_label_set
from setagree.distances.matrix import check_amount, check_entries, stated
from setagree.errors import DistanceError, check_type, listing
from setagree.lazy import pd
from setagree.progress import track
from setagree.study.identifiers import tidied
from setagree.wording.label_sets import Label, LabelSet, sorted_labels

_Table: TypeAlias = Mapping[Any, Any] | pd.DataFrame

_Problem: TypeAlias = tuple[int, int, int]
"""Labels as bits: those of the smaller set alone, those of both, those of the larger alone."""

_PAIR_BLOCK_SIZE = 200_000

_MOST_COMPARED = 1_000
"""Number of labels up to which costs are tested for being a metric, in L³ steps."""

_MOST_PARCELS = 400
"""Parcels beyond which the linear programme is the faster one: sets of 60 and of 59 have 3,540."""

_MOST_PERMUTED = 4
"""Labels up to which all assignments are tried at once."""


def transport(
    label_distance: Callable[[Any, Any], float] | _Table,
    *,
    empty: float = 1.0,
    name: str = "transport",
) -> TransportDistance:
    """Return the 1-Wasserstein distance between the uniform measures on two sets.

    What it costs to carry one set's mass, spread evenly over its labels, to the other's
    (Rubner, Tomasi & Guibas 2000).

    Parameters
    ----------
    label_distance : callable, mapping or DataFrame
        The distance between two labels: a function, a dict by unordered pair, a dict of dicts, or a
        square table whose rows and columns are named by labels, in any order.
    empty : float
        The distance between the empty set and any other, which has no transport.

    Raises
    ------
    DistanceError
        The table is not symmetric, not zero between equal labels, or not finite; or it lacks a pair
        of labels that are compared.

    Examples
    --------
    >>> d = transport({("calm", "happy"): 0.25, ("calm", "angry"): 1.0, ("angry", "happy"): 1.0})
    >>> d({"calm"}, {"happy"}), d({"calm", "angry"}, {"angry"}), d(set(), {"calm"})
    (0.25, 0.5, 1.0)
    """
    check_type("name", name, str, "text")
    check_amount("the empty set", "distance", empty)
    between: Any = label_distance
    if isinstance(label_distance, Mapping | pd.DataFrame):
        between = _LabelTable(stated(label_distance, tidied))
    wanted = "a function of two labels, a dict or a DataFrame of their distances"
    check_type("label_distance", between, Callable, wanted)
    return TransportDistance(name, between, float(empty))


@dataclass(frozen=True, repr=False)
class TransportDistance(Distance):
    """The transport between two sets, for distances between labels; made by `transport`."""

    between: Callable[[Any, Any], float] = field(repr=False)
    empty: float = 1.0
    bounded: bool = field(default=False, kw_only=True)
    formula: str | None = field(
        default="the least cost of moving the evenly spread mass of A to B",
        kw_only=True,
        compare=False,
    )

    def __call__(self, A: object, B: object) -> float:
        """Return the distance between two label sets."""
        A, B = as_label_set(A), as_label_set(B)
        return 0.0 if A == B else float(self.among([A, B])[0, 1])

    def among(self, values: Sequence[LabelSet]) -> Floats:
        """Return the distances between distinct label sets."""
        labels = sorted_labels(frozenset().union(*values))
        bit = {label: 1 << k for k, label in enumerate(labels)}
        masks = [sum(map(bit.__getitem__, value)) for value in values]
        filled = np.flatnonzero([mask > 0 for mask in masks])
        distances = np.full((len(masks), len(masks)), self.empty)
        np.fill_diagonal(distances, 0.0)
        solved = _transports([masks[k] for k in filled], self._costs(labels), self.name)
        distances[np.ix_(filled, filled)] = solved
        return distances

    def _costs(self, labels: Sequence[Label]) -> Floats:
        """Return the distances between labels, checked."""
        if isinstance(self.between, LabelDistances):
            return self.between.among(labels)
        try:
            rows = [[0.0 if x == y else self.between(x, y) for y in labels] for x in labels]
            costs = np.array(rows, dtype=float).reshape(len(labels), len(labels))
        except DistanceError:
            raise
        except Exception as error:
            raise DistanceError(f"the distance between labels raised {error!r}.") from error
        if not np.isfinite(costs).all():
            raise DistanceError("the distances between labels must be finite numbers.")
        return check_entries(costs, list(labels))


class LabelDistances(ABC):
    """Distances between labels that are checked, and known all at once."""

    @abstractmethod
    def among(self, labels: Sequence[Label]) -> Floats:
        """Return the distances between labels, of shape (L, L)."""

    def __call__(self, x: Label, y: Label) -> float:
        """Return the distance between two labels."""
        return float(self.among([x, y])[0, 1])


@dataclass(frozen=True)
class _LabelTable(LabelDistances):
    by_pair: Mapping[frozenset[Any], float]

    def among(self, labels: Sequence[Label]) -> Floats:
        """Return the distances between labels; raise `DistanceError` if one is missing."""
        get = self.by_pair.get
        rows = [[get(frozenset((x, y)), np.nan) for y in labels] for x in labels]
        costs = np.array(rows).reshape(len(labels), len(labels))
        np.fill_diagonal(costs, 0.0)
        if not np.isnan(costs).any():
            return costs
        k, l = np.argwhere(np.isnan(costs))[0]
        known = frozenset().union(*self.by_pair)
        unknown = [label for label in labels if label not in known]
        of_others = f"; it has no entry for {listing(unknown)}" if unknown else ""
        raise DistanceError(
            f"no distance is given for the labels {labels[k]!r}, {labels[l]!r} in the table of "
            f"label distances{of_others}."
        )


def _transports(masks: Sequence[int], costs: Floats, name: str) -> Floats:
    """Return the transports between non-empty sets; each problem is solved once."""
    n = len(masks)
    is_metric = len(costs) <= _MOST_COMPARED and _is_metric(costs)
    distances = np.zeros((n, n))
    size = max(1, _PAIR_BLOCK_SIZE // max(n, 1))
    starts = range(0, n, size)
    for start in track(starts, total=n, at_once=size, what=f"{name} distances"):
        problems: dict[_Problem, int] = {}
        shares, numbers = [], []
        for k in range(start, min(start + size, n)):
            for other in masks[k + 1 :]:
                share, problem = _reduced(masks[k], other, is_metric=is_metric)
                shares.append(share)
                numbers.append(problems.setdefault(problem, len(problems)))
        block = distances[start : start + size]
        upper = np.triu(np.ones(block.shape, dtype=bool), start + 1)
        block[upper] = np.array(shares) * _solved(list(problems), costs)[numbers]
    return distances + distances.T


def _is_metric(costs: Floats) -> bool:
    """Return whether the triangle inequality holds, within rounding."""
    slack = 1e-14 * float(costs.max(initial=0.0))
    return all((costs <= row[:, None] + row + slack).all() for row in costs)


def _reduced(A: int, B: int, *, is_metric: bool) -> tuple[float, _Problem]:
    """Return the share of the mass that moves, and the labels between which it moves.

    If the triangle inequality holds, min(1/a, 1/b) of the mass stays at each shared label (a <= b).
    Thus (b - i) / b moves, all of it to labels of B alone. It moves from labels of A alone if the
    sizes are equal, and evenly from all labels of A if A is a subset of B.
    """
    if (A.bit_count(), A) > (B.bit_count(), B):
        A, B = B, A
    if not is_metric:
        return float(A != B), (A, 0, B)
    alone, shared, target = A & ~B, A & B, B & ~A
    b = B.bit_count()
    share = target.bit_count() / b
    if not alone:
        alone, shared = shared, 0
    elif A.bit_count() == b:
        shared = 0
    if not shared and (target.bit_count(), target) < (alone.bit_count(), alone):
        alone, target = target, alone
    return share, (alone, shared, target)


def _solved(problems: Sequence[_Problem], costs: Floats) -> Floats:
    """Return the least mean cost of each problem; those of one shape are solved together."""
    shapes = defaultdict(list)
    for number, problem in enumerate(problems):
        shapes[tuple(part.bit_count() for part in problem)].append(number)
    places = {mask: _places(mask) for mask in {*chain.from_iterable(problems)}}
    least = np.zeros(len(problems))
    for (p, s, t), numbers in shapes.items():
        chosen = [problems[k] for k in numbers]
        sources = np.array([places[alone] + places[shared] for alone, shared, _ in chosen])
        sinks = np.array([places[target] for *_, target in chosen])
        # In whole parcels: 1/a and 1/b are b and a of them; a shared label keeps a of its b.
        supply = np.repeat([s + t, t - p], [p, s]) // math.gcd(p + s, t - p)
        cost = costs[sources[:, :, None], sinks[:, None, :]]
        least[numbers] = _least(cost, supply, int(supply.sum()) // t)
    return least


def _places(mask: int) -> list[int]:
    """Return the positions of the bits that are set."""
    return [k for k in range(mask.bit_length()) if mask >> k & 1]


def _least(cost: Floats, supply: Any, demand: int) -> Floats:
    """Return the least mean cost of problems of one shape, cost: (problems, sources, sinks).

    `supply` is what each source sends, `demand` what each sink receives, in whole parcels.
    """
    n, t = cost.shape[1:]
    total = demand * t
    if n == 1 or t == 1:
        return np.asarray(np.einsum("mnt,n->m", cost, supply) / (supply.sum() * t))
    if t == 2:
        return np.asarray(_two_ends(cost, supply, demand) / total)
    if n == 2:
        amounts = np.full(t, demand)
        return np.asarray(_two_ends(cost.transpose(0, 2, 1), amounts, int(supply[0])) / total)
    if n == t <= _MOST_PERMUTED and demand == supply.max():
        ways = np.array([*permutations(range(n))])
        return np.asarray(cost[:, np.arange(n), ways].sum(axis=2).min(axis=1) / n)
    if total <= _MOST_PARCELS:
        return _by_parcels(cost, supply, demand)
    return np.array([_by_shares(one, supply, demand) for one in cost])


def _two_ends(cost: Floats, amounts: Any, first: int) -> Floats:
    """Solve problems with two ends: fill the first in order of its relative cost."""
    order = np.argsort(cost[:, :, 0] - cost[:, :, 1], axis=1, kind="stable")
    amount = amounts[order]
    to_first = np.clip(first - (np.cumsum(amount, axis=1) - amount), 0, amount)
    ordered = np.take_along_axis(cost, order[:, :, None], axis=1)
    split = np.stack([to_first, amount - to_first], axis=2)
    return np.asarray((ordered * split).sum(axis=(1, 2)))


def _by_parcels(cost: Floats, supply: Any, demand: int) -> Floats:
    """Solve each exactly, as an assignment of equal parcels."""
    from scipy.optimize import linear_sum_assignment

    m, n, t = cost.shape
    rows, columns = np.repeat(np.arange(n), supply), np.repeat(np.arange(t), demand)
    grid = np.ix_(rows, columns)
    chosen = np.array([linear_sum_assignment(one[grid])[1] for one in cost])
    return np.asarray(cost[np.arange(m)[:, None], rows, columns[chosen]].mean(axis=1))


def _by_shares(cost: Floats, supply: Any, demand: int) -> float:
    """Solve one as a linear programme."""
    from scipy import optimize, sparse

    n, t = cost.shape
    sent = sparse.kron(sparse.eye_array(n), np.ones((1, t)))
    received = sparse.kron(np.ones((1, n)), sparse.eye_array(t))
    sums: Any = sparse.vstack([sent, received])
    amounts = np.append(supply, np.full(t, demand))
    # The solver stops at a gain of 1e-7 whatever the costs are, so it is given costs up to 1.
    largest = float(cost.max()) or 1.0
    solved: Any = optimize.linprog(cost.ravel() / largest, A_eq=sums, b_eq=amounts)
    if not solved.success:
        raise DistanceError(f"the transport between the two sets was not found: {solved.message}")
    return float(solved.fun * largest / (demand * t))
