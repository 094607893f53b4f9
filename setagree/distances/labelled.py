"""Distances that know the labels: weights, a taxonomy, a distance between labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from setagree.distances.base import (
    CallableDistance,
    ClosureDistance,
    Floats,
    WeightedJaccardDistance,
    as_label_set,
)
from setagree.distances.sets import jaccard
from setagree.errors import DistanceError, check_mapping, check_type, shorten
from setagree.study.labels import is_missing
from setagree.wording.label_sets import Label, LabelSet, sorted_labels


def weighted_jaccard(
    label_weights: Mapping[Label, float], *, name: str = "weighted_jaccard"
) -> WeightedJaccardDistance:
    """Return 1 - weight(A ∩ B) / weight(A ∪ B); two sets without weight do not differ.

    Parameters
    ----------
    label_weights : mapping
        The weight of each label, 0 or more; every label in use must be listed.

    Raises
    ------
    DistanceError
        A weight is negative, not finite or no number.

    Examples
    --------
    >>> d = weighted_jaccard({"rare": 3.0, "common": 1.0})
    >>> d({"rare"}, {"rare", "common"}), d({"common"}, {"rare", "common"}), d(set(), set())
    (0.25, 0.75, 0.0)
    """
    check_type("name", name, str, "text")
    check_mapping("label_weights", label_weights, "the weight of each label")
    for label, weight in label_weights.items():
        _check_amount(f"label {shorten(label)}", "weight", weight)
    return WeightedJaccardDistance(name, dict(label_weights))


def _check_amount(whose: str, noun: str, amount: object) -> None:
    if not isinstance(amount, int | float | np.number) or not 0 <= amount < math.inf:
        raise DistanceError(f"{whose} has {noun} {shorten(amount)}; a {noun} is finite and >= 0.")


def taxonomy(
    parents: Mapping[Label, Label | Iterable[Label] | None], *, name: str = "taxonomy"
) -> ClosureDistance:
    """Return the Jaccard distance between sets that also hold the ancestors of their labels.

    Parameters
    ----------
    parents : mapping
        The parent of a label, or several; a label without an entry or with a missing one is a root.

    Raises
    ------
    DistanceError
        A label is its own ancestor.

    Examples
    --------
    >>> d = taxonomy({"cat": "mammal", "dog": "mammal", "mammal": "animal"})
    >>> d({"cat"}, {"dog"}), d({"cat"}, {"mammal"}), d(set(), set())
    (0.5, 0.33333333333333337, 0.0)
    """
    check_type("name", name, str, "text")
    return ClosureDistance(name, jaccard, _ancestors(parents))


def transport(
    label_distance: Callable[[Any, Any], float] | Mapping[tuple[Label, Label], float],
    *,
    empty: float = 1.0,
    name: str = "transport",
) -> CallableDistance:
    """Return the 1-Wasserstein distance between the uniform measures on two sets.

    What it costs to carry one set's mass, spread evenly over its labels, to the other's
    (Rubner, Tomasi & Guibas 2000).

    Parameters
    ----------
    label_distance : callable or mapping
        The distance between two labels, or a table of it by unordered pair.
    empty : float
        The distance between the empty set and any other, which has no transport.

    Raises
    ------
    DistanceError
        A pair of labels is not in the mapping.

    Examples
    --------
    >>> d = transport({("calm", "happy"): 0.25, ("calm", "angry"): 1.0, ("angry", "happy"): 1.0})
    >>> d({"calm"}, {"happy"}), d({"calm", "angry"}, {"angry"}), d(set(), {"calm"})
    (0.25, 0.5, 1.0)
    """
    check_type("name", name, str, "text")
    _check_amount("the empty set", "distance", empty)
    if isinstance(label_distance, Mapping):
        for pair, d in label_distance.items():
            if not isinstance(pair, tuple | frozenset) or not 1 <= len(pair) <= 2:
                raise DistanceError(f"label_distance: {shorten(pair)} is no pair of labels.")
            _check_amount(f"the pair {shorten(pair)}", "distance", d)
        by_pair = {frozenset(pair): float(d) for pair, d in label_distance.items()}
        return CallableDistance(_Transport(_PairTable(by_pair), empty), name=name)
    check_type("label_distance", label_distance, Callable, "a function of two labels or a dict")
    return CallableDistance(_Transport(label_distance, empty), name=name)


@dataclass(frozen=True)
class _Transport:
    between: Callable[[Any, Any], float]
    empty: float

    def __call__(self, A: Iterable[Any], B: Iterable[Any]) -> float:
        A, B = as_label_set(A), as_label_set(B)
        if not A or not B:
            return 0.0 if A == B else self.empty
        # Sorted, so that the same two sets give the same last digit in every run.
        rows, columns = sorted_labels(A), sorted_labels(B)
        cost = [[0.0 if x == y else float(self.between(x, y)) for y in columns] for x in rows]
        if not np.isfinite(cost).all():
            raise DistanceError("the distances between labels must be finite numbers.")
        few = math.lcm(len(A), len(B)) <= _MOST_PARCELS
        return (_by_parcels if few else _by_shares)(np.array(cost))


@dataclass(frozen=True)
class _PairTable:
    by_pair: Mapping[LabelSet, float]

    def __call__(self, x: Label, y: Label) -> float:
        try:
            return self.by_pair[frozenset((x, y))]
        except KeyError:
            raise DistanceError(f"no distance is given for the labels {x!r}, {y!r}.") from None


_MOST_PARCELS = 400
"""Parcels beyond which the linear programme is the faster one: sets of 60 and of 59 have 3,540."""


def _by_parcels(cost: Floats) -> float:
    """Solve the transport of equal shares exactly, as an assignment of lcm(a, b) equal parcels."""
    from scipy.optimize import linear_sum_assignment

    a, b = cost.shape
    parcels = math.lcm(a, b)
    spread = np.repeat(np.repeat(cost, parcels // a, axis=0), parcels // b, axis=1)
    rows, columns = linear_sum_assignment(spread)
    return float(spread[rows, columns].sum() / parcels)


def _by_shares(cost: Floats) -> float:
    """Solve it as a linear programme: each of a labels sends b parts, each of b receives a."""
    from scipy import optimize, sparse

    a, b = cost.shape
    sent = sparse.kron(sparse.eye_array(a), np.ones((1, b)))
    received = sparse.kron(np.ones((1, a)), sparse.eye_array(b))
    sums: Any = sparse.vstack([sent, received])
    solved = optimize.linprog(cost.ravel(), A_eq=sums, b_eq=np.repeat([b, a], [a, b]))
    if not solved.success:
        raise DistanceError(f"the transport between the two sets was not found: {solved.message}")
    return float(solved.fun / (a * b))


def direct_parents(parents: Mapping[Label, Any]) -> dict[Label, LabelSet]:
    """Return the set of parents of each label that has an entry; empty for a root."""
    check_mapping("parents", parents, "the parent, or the parents, of each label")
    return {label: _as_labels(above) for label, above in parents.items()}


def _ancestors(parents: Mapping[Label, Any]) -> dict[Label, LabelSet]:
    direct = direct_parents(parents)
    found: dict[Label, LabelSet] = {}
    for label in direct:
        seen: set[Label] = set()
        waiting = list(direct[label])
        while waiting:
            above = waiting.pop()
            if above not in seen:
                seen.add(above)
                waiting.extend(direct.get(above, ()))
        if label in seen:
            raise DistanceError(f"label {shorten(label)} is its own ancestor in the taxonomy.")
        found[label] = frozenset(seen)
    return found


def _as_labels(above: Label | Iterable[Label] | None) -> LabelSet:
    if above is None or is_missing(above) or above == "":
        return frozenset()
    if isinstance(above, Iterable) and not isinstance(above, str):
        return frozenset(above)
    return frozenset([above])
