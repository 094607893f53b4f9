"""Construction of the credit operator of a distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from setagree.checks import Floats, cached_property
from setagree.credit.base import BLOCK, DenseWeights, Weights, dense_if_few
from setagree.credit.dense import (
    WeightedJaccardWeights,
    callable_weights,
    matrix_weights,
    transport_weights,
)
from setagree.credit.geometry import SetGeometry, zeroed
from setagree.credit.overlap import (
    AbsoluteWeights,
    NominalWeights,
    OverlapWeights,
    PointWeights,
    SquaredWeights,
    check_overlap_function,
)
from setagree.credit.semantic import BestMatchWeights, CentroidWeights, DegreeWeights
from setagree.credit.subsets import SizeTable
from setagree.distances.base import (
    CallableDistance,
    Distance,
    NominalDistance,
    OverlapDistance,
    ScaleDistance,
)
from setagree.distances.degrees import DegreeDistance
from setagree.distances.embeddings import CentroidDistance
from setagree.distances.labelled import (
    BestMatchDistance,
    ClosureDistance,
    LabelWeights,
    WeightedJaccardDistance,
    information,
)
from setagree.distances.matrix import MatrixDistance
from setagree.distances.sets import jaccard
from setagree.distances.transport import TransportDistance
from setagree.errors import (
    DistanceError,
    SetagreeWarning,
    counted,
    listing,
    option,
    python_or_command,
    shorten,
    warn,
)
from setagree.study.codes import Kind, have_degrees
from setagree.study.numbers import as_number
from setagree.wording.label_sets import LabelSet, sorted_labels

_FEW_SETS = 100
"""Number of sets up to which distances are faster per pair than by size and overlap."""

_FEW_NUMBERS = 16
"""Number of numbers up to which a matrix of distances is faster than the closed forms of scales."""

_TINY, _HUGE = 1e-150, 1e150
"""Differences that can be squared without becoming 0 or infinite."""


class WeightBuilder:
    """Builder of the weights of one study; arrays common to all distances are cached.

    `pairable`, of shape (K,), are the pairable ratings of each value, for the mid-ranks of
    `ordinal`. Distances that use ranks use the positions of values in `order`, if there is one.
    `checked` states that the distances were checked on the study that this one was derived from.
    """

    def __init__(
        self,
        values: tuple[Any, ...],
        kind: Kind,
        pairable: Floats,
        *,
        checked: bool = False,
        order: Sequence[Any] = (),
    ) -> None:
        self.checked = checked
        self.values = values
        self.kind = kind
        self.pairable = pairable
        self.order = order

    @cached_property
    def geometry(self) -> SetGeometry:
        """The label sets as arrays."""
        return SetGeometry(self.values)

    def build(self, distance: Distance) -> Weights:
        """Return the weights of one distance."""
        match distance:
            case NominalDistance():
                return NominalWeights(self.values)
            case MatrixDistance():
                return matrix_weights(self.values, distance)
            case CallableDistance():
                return callable_weights(self.values, distance)
            case TransportDistance():
                return transport_weights(self.values, self._sets, distance)
            case CentroidDistance():
                sets = self.geometry if self.kind == "labels" else SetGeometry(self._sets)
                return CentroidWeights(self.values, sets, distance)
            case ScaleDistance():
                return dense_if_few(self._scale(distance), relative=True, most=_FEW_NUMBERS)
        if self.kind != "labels":
            raise DistanceError(
                f"{distance.name!r} compares label sets; these values are one "
                f"{'number' if self.kind == 'number' else 'category'} each, such as "
                f"{shorten(self.values[0])}."
            )
        match distance:
            case OverlapDistance():
                return self._overlap(self.geometry, distance)
            case WeightedJaccardDistance():
                return self._weighted(distance, self.geometry)
            case ClosureDistance():
                closed = self._closed(distance)
                if distance.label_weights is None:
                    return self._overlap(closed, jaccard)
                return self._weighted(distance.weighted, closed, of_tree=True)
            case DegreeDistance() if have_degrees(self.values):
                weights = DegreeWeights(self.values, distance)
                return dense_if_few(weights, relative=not distance.bounded)
            case DegreeDistance():
                return self._overlap(self.geometry, distance.of_sets)
            case BestMatchDistance():
                stated = self._known(distance.information, self._closed(distance))
                near = distance.similarities(self.geometry.labels, stated)
                return dense_if_few(BestMatchWeights(self.values, self.geometry, near))
        raise DistanceError(f"{distance!r} has no weights; derive from a known kind of distance.")

    @property
    def _sets(self) -> Sequence[LabelSet]:
        """The values as label sets: one value is the set of one label."""
        return self.values if self.kind == "labels" else [frozenset([v]) for v in self.values]

    def _weighted(
        self, distance: WeightedJaccardDistance, sets: SetGeometry, *, of_tree: bool = False
    ) -> Weights:
        """Return the weights of sets with the stated label weights, or with those of the study."""
        stated = self._known(distance.label_weights, sets)
        if stated is not None:
            distance = replace(distance, label_weights=stated)
        elif not of_tree:
            self._warn_labels(distance)
        return WeightedJaccardWeights(self.values, sets, distance)

    def _known(self, weights: LabelWeights | None, sets: SetGeometry) -> dict[Any, float] | None:
        """Return label weights by share of the pairable ratings, or None if not requested."""
        if not isinstance(weights, str):
            return None
        held = np.append(sets.flags.T @ self.pairable, self.pairable.sum())
        return dict(zip(sets.labels, information(held).tolist(), strict=True))

    def _closed(self, distance: ClosureDistance | BestMatchDistance) -> SetGeometry:
        """Return the sets with all ancestors; warn if none of the labels is in the hierarchy."""
        tree, used = distance.hierarchy.parents, self.geometry.labels
        is_empty = not tree or not used or self.checked
        if not is_empty and not frozenset().union(tree, *tree.values()) & set(used):
            warn(
                f"no label of the study is in the hierarchy of {distance.name!r} (the study "
                f"has {listing(used)}; the hierarchy {listing(sorted_labels(tree))}); check how "
                "they are spelled.",
                SetagreeWarning,
            )
        return SetGeometry([distance.hierarchy.close(value) for value in self.values])

    def _warn_labels(self, distance: WeightedJaccardDistance) -> None:
        """Warn about weights of unused labels and about labels without a weight."""
        used = set(self.geometry.labels)
        unused = [label for label in distance.label_weights if label not in used]
        unlisted = [label for label in self.geometry.labels if label not in distance.label_weights]
        if unlisted and distance.is_assumed and not self.checked:
            warn(
                f"{distance.name!r} lists no weight for {counted(len(unlisted), 'label')} of the "
                f"study, which it counts as 1: {listing(unlisted)}.",
                SetagreeWarning,
            )
        if unused and not self.checked:
            warn(
                f"{distance.name!r} has a weight for {listing(unused)}, which no rater used; "
                "check how it is spelled.",
                SetagreeWarning,
            )

    def _overlap(self, sets: SetGeometry, distance: OverlapDistance) -> Weights:
        if not self.checked:
            _check_once(distance, tuple(sorted({*sets.sizes.tolist()})))
        if sets.n_values > BLOCK:
            return OverlapWeights(self.values, sets, distance)
        function = zeroed(distance)
        if sets.n_values < _FEW_SETS:
            distances = sets.distances(function)
        else:
            every = np.arange(sets.n_values)
            shared = sets.shared_block(every, every)
            distances = SizeTable(function, sets.sizes).across(every, every, shared)
        return DenseWeights(self.values, distances, relative=not distance.bounded)

    def _scale(self, distance: ScaleDistance) -> Weights:
        numbers = self._numbers(distance)
        match distance.position:
            case "mid_rank":
                positions = mid_ranks(numbers, self.pairable)
            case "rank":
                positions = np.argsort(np.argsort(numbers)).astype(float)
            case _:
                positions = numbers
        if distance.from_zero and (numbers < 0).any():
            raise DistanceError(
                f"{distance.name!r} needs amounts of zero or more; the smallest value is "
                f"{numbers.min():g}."
            )
        match distance.form:
            case "squared":
                return SquaredWeights(self.values, positions)
            case "absolute":
                return AbsoluteWeights(self.values, positions)
        return PointWeights(self.values, positions, distance)

    def _numbers(self, distance: ScaleDistance) -> Floats:
        if self.kind == "number":
            numbers = np.array([float(value) for value in self.values])
            if distance.position == "value":
                _check_range(numbers, distance)
            return numbers
        if self.order and distance.takes_order:
            return self._places()
        raise DistanceError(f"{distance.name!r} compares numbers; {self._no_numbers(distance)}")

    def _places(self) -> Floats:
        """Return the place of each value among all ordered categories."""
        place = {category: k for k, category in enumerate(self.order)}
        if odd := [value for value in self.values if value not in place]:
            raise DistanceError(
                f"{listing(odd)} not among the ordered categories {listing([*self.order])}; add "
                "them to the categories, in their place."
            )
        return np.array([place[value] for value in self.values], dtype=np.float64)

    def _no_numbers(self, distance: ScaleDistance) -> str:
        """Return a message on the values that a distance cannot compare, with the remedy."""
        if self.kind == "labels":
            return (
                "these values are label sets. If each answer is one value, use "
                f"{option('value')} for its column, or {option('kind', 'value')}."
            )
        first = next((v for v in self.values if as_number(v) is None), None)
        of_order = "; 'ordinal', 'linear' and 'quadratic' use their order" if self.order else ""
        ordered = python_or_command(
            "make the column an ordered categorical: pandas.Categorical(cells, "
            "categories=[...], ordered=True)",
            "save the table as Parquet with an ordered categorical column",
        )
        remedy = f", or {ordered}" if distance.takes_order else ""
        return (
            f"these values are {'ordered ' if self.order else ''}categories, such as "
            f"{shorten(first)}{of_order}. Replace them by numbers{remedy}."
        )


@lru_cache(maxsize=256)
def _check_once(distance: OverlapDistance, sizes: tuple[int, ...]) -> None:
    """Check a distance at the sizes of a study; the cache saves most of the time of small studies.

    A check that fails is not cached.
    """
    check_overlap_function(distance, np.array(sizes))


def _check_range(numbers: Floats, distance: Distance) -> None:
    """Raise an error if squared differences overflow or underflow double precision."""
    ordered = np.sort(numbers)
    with np.errstate(invalid="ignore"):  # inf - inf, which raises an error below
        gaps = np.diff(ordered)
    least = gaps.min(initial=np.inf, where=gaps > 0)
    if gaps.size and not (least > _TINY and ordered[-1] - ordered[0] < _HUGE):
        raise DistanceError(
            f"{distance.name!r} needs differences between {_TINY:g} and {_HUGE:g}; the values "
            f"go from {ordered[0]:g} to {ordered[-1]:g}. Scale them."
        )


def mid_ranks(numbers: Floats, counts: Floats) -> Floats:
    """Return the mid-rank of each value among the counted ratings.

    Krippendorff 2011, ordinal metric: the rank mass between two values, each counted half.
    """
    order = np.argsort(numbers)
    below = np.cumsum(counts[order]) - counts[order] / 2
    out = np.empty(len(numbers))
    out[order] = below
    return out
