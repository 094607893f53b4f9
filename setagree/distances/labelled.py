"""Distances that know the labels: weights, a taxonomy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from setagree.distances.base import ClosureDistance, WeightedJaccardDistance
from setagree.distances.matrix import check_amount
from setagree.distances.sets import jaccard
from setagree.errors import DistanceError, check_mapping, check_type, shorten
from setagree.study.labels import is_missing
from setagree.wording.label_sets import Label, LabelSet

_ASSUMED = float("1")
"""The default weight, an object of its own: it tells who left it out from who said 1."""


def weighted_jaccard(
    label_weights: Mapping[Label, float],
    *,
    default: float | None = _ASSUMED,
    name: str = "weighted_jaccard",
) -> WeightedJaccardDistance:
    """Return 1 - weight(A ∩ B) / weight(A ∪ B); two sets without weight do not differ.

    Parameters
    ----------
    label_weights : mapping
        The weight of a label, 0 or more. A weight for a label that no rater uses is told when a
        study is scored.
    default : float or None
        The weight of the labels that are not listed; None makes such a label an error. Where it is
        left out they weigh 1, and a warning counts those that a study uses.

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
        check_amount(f"label {shorten(label)}", "weight", weight)
    if default is not None:
        check_amount("a label that is not listed", "weight", default)
    assumed = default is _ASSUMED
    return WeightedJaccardDistance(name, dict(label_weights), default, is_assumed=assumed)


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
